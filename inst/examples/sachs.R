# PC on the protein signalling data of Sachs et al. (2005), against the network
# that biologists had agreed on.
#
#   Rscript sachs.R [FOLDER]          (the picture goes to FOLDER; default: here)
#   source(system.file("examples", "sachs.R", package = "pcgpu"))

library(pcgpu)

argument <- if (interactive()) character() else commandArgs(trailingOnly = TRUE)
folder <- if (length(argument)) argument[1] else "."
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

cells <- read.csv(system.file("extdata", "sachs.csv", package = "pcgpu"))
consensus <- read.csv(system.file("extdata", "sachs-consensus.csv", package = "pcgpu"))

# Fluorescence intensities are positive and skewed far to the right (skewness 2
# to 27); their logarithms are much nearer to the normal distribution on which
# the test of partial correlations rests. alpha = 0.01 is the usual choice.
alpha <- 0.01
cat(sprintf("%d cells, %d molecules, alpha = %g\n\n", nrow(cells), ncol(cells), alpha))
learn <- function() pc(suff_gauss(log(cells)), gaussCItest, alpha = alpha, labels = names(cells))
first <- system.time(fit <- learn())[["elapsed"]]
again <- replicate(5, system.time(learn())[["elapsed"]])

summary(fit)

# estimate[a, b] is TRUE where the CPDAG has a -> b or a - b.
estimate <- as(fit@graph, "matrix") != 0
truth <- matrix(FALSE, ncol(cells), ncol(cells), dimnames = list(names(cells), names(cells)))
truth[as.matrix(consensus)] <- TRUE

found <- which((estimate | t(estimate)) & upper.tri(estimate), arr.ind = TRUE)
verdict <- apply(found, 1, function(pair) {
  a <- names(cells)[pair[1]]
  b <- names(cells)[pair[2]]
  if (estimate[a, b] && estimate[b, a]) {
    learned <- paste(a, "-", b)
  } else {
    if (estimate[b, a]) { swap <- a; a <- b; b <- swap }
    learned <- paste(a, "->", b)
  }
  known <- c(if (truth[a, b]) paste(a, "->", b), if (truth[b, a]) paste(b, "->", a))
  agreement <- if (is.null(known)) "not in the consensus"
    else if (!grepl(">", learned)) "agrees, direction left open"
    else if (truth[a, b]) "agrees, direction too"
    else "agrees, direction reversed"
  c(learned = learned, consensus = if (is.null(known)) "" else known[1], verdict = agreement)
})

cat("\nEdges found, against the consensus network of", nrow(consensus), "arrows:\n")
print(as.data.frame(t(verdict)), row.names = FALSE, right = FALSE)

pairs <- (truth | t(truth)) & upper.tri(truth)
hit <- sum(pairs & (estimate | t(estimate)))
cat(sprintf(
  "\n%d of the %d pairs of the consensus found, %d missed, %d found that it does not have.\n",
  hit, sum(pairs), sum(pairs) - hit, nrow(found) - hit
))
cat(sprintf(
  "Directions: %d agree, %d reversed, %d left open.\n",
  sum(verdict["verdict", ] == "agrees, direction too"),
  sum(verdict["verdict", ] == "agrees, direction reversed"),
  sum(verdict["verdict", ] == "agrees, direction left open")
))
cat("Much of the consensus shows only when the cells are perturbed; these cells were not.\n")

picture <- file.path(folder, "sachs-cpdag.png")
grDevices::png(picture, width = 1200, height = 1000, res = 150)
plot_cpdag(fit, main = "Sachs et al. (2005), unperturbed cells: CPDAG")
invisible(grDevices::dev.off())

cat(sprintf("\npc() took %.3f s (median of 5 calls; the first one, which loads what it needs, %.3f s).\n",
            stats::median(again), first))
cat("The picture is in", normalizePath(picture), "\n")

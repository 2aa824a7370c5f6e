# PC on the protein signalling data of Sachs et al. (2005), against the network
# that biologists had agreed on.
#
#   Rscript sachs.R [FOLDER]          (pictures go to FOLDER; default: here)
#   source(system.file("examples", "sachs.R", package = "pcgpu"))

library(pcgpu)

argument <- if (interactive()) character() else commandArgs(trailingOnly = TRUE)
folder <- if (length(argument)) argument[1] else "."
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

cells <- read.csv(system.file("extdata", "sachs.csv", package = "pcgpu"))
arrows <- read.csv(system.file("extdata", "sachs-consensus.csv", package = "pcgpu"))

# Fluorescence intensities are positive and skewed far to the right (skewness 2
# to 27); their logarithms are much nearer to the normal distribution on which
# the test of partial correlations rests. alpha = 0.01 is the usual choice.
data <- log(cells)
first <- system.time(fit <- pc(data, alpha = 0.01))[["elapsed"]]
again <- replicate(5, system.time(suppressMessages(pc(data, alpha = 0.01)))[["elapsed"]])

summary(fit)

cat("\nHow strong the edges are (see ?edge_table):\n")
print(edge_table(fit, data), row.names = FALSE, digits = 2)

consensus <- matrix(0, ncol(cells), ncol(cells), dimnames = list(names(cells), names(cells)))
consensus[as.matrix(arrows)] <- 1
compared <- compare_graphs(fit, consensus, cpdag = FALSE)

cat("\nAgainst the consensus network of", nrow(arrows), "arrows:\n")
print(compared)
print(edge_table(compared), row.names = FALSE)
cat("Much of the consensus shows only when the cells are perturbed; these cells were not.\n")

picture <- file.path(folder, "sachs-cpdag.png")
grDevices::png(picture, width = 1200, height = 900, res = 150)
plot(fit, main = "Sachs et al. (2005), unperturbed cells")
invisible(grDevices::dev.off())

against <- file.path(folder, "sachs-consensus.png")
grDevices::png(against, width = 1200, height = 900, res = 150)
plot(compared, main = "Found, and in the consensus network")
invisible(grDevices::dev.off())

page <- file.path(folder, "sachs.html")
plot(fit, interactive = TRUE, file = page)

cat(sprintf("\npc() took %.3f s (median of 5 calls; the first one, which loads what it needs, %.3f s).\n",
            stats::median(again), first))
cat("Pictures:", normalizePath(c(picture, against)), "and a page to click:", normalizePath(page), sep = "\n  ")
cat("\n")

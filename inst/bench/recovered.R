# Compares the structure that pc() recovers from samples of Bayesian networks with causal-learn's recorded answers
# on the same samples, and with the networks themselves, and prints a Markdown table.
#
#   Rscript recovered.R FOLDER [NETWORK ...] [--threads=2] [--alpha=0.05]
#
# FOLDER holds data/NETWORK.txt.gz (level codes from 1), truth_dag_graph/ and benchmark_returned_results/, as the test data of
# causal-learn (py-why/causal-learn, tests/TestData/bnlearn_discrete_10000).
#
# causal-learn's "chisq" takes Pearson's statistic with the degrees of freedom of the levels that occur, as chi2CItest with
# adaptDF = TRUE, but has no rule for few samples; with p = 1 where no degree is left. `by_causal_learn` is that definition, run
# by pc() as any R function: where its skeleton is the recorded one, what differs from chi2CItest differs by that rule alone.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressPackageStartupMessages({
  library(methods)
  library(graph)
  library(pcgpu)
})
named <- operands()
if (!length(named)) stop("give the folder of the samples", call. = FALSE)
folder <- named[1]
networks <- if (length(named) > 1) named[-1] else sub("\\.txt\\.gz$", "", list.files(file.path(folder, "data")))
threads <- as.integer(option("threads", "2"))
alpha <- as.double(option("alpha", "0.05"))

by_causal_learn <- function(x, y, S, suffStat) {
  dm <- suffStat$dm
  lx <- suffStat$nlev[x]
  ly <- suffStat$nlev[y]
  stratum <- rep(0L, nrow(dm))
  for (s in S) {
    key <- stratum * suffStat$nlev[s] + dm[, s]
    stratum <- match(key, unique(key)) - 1L
  }
  N <- array(tabulate((stratum * ly + dm[, y]) * lx + dm[, x] + 1L, lx * ly * (max(stratum) + 1L)), c(lx, ly, max(stratum) + 1L))
  of_x <- apply(N, c(1, 3), sum)
  of_y <- apply(N, c(2, 3), sum)
  n <- colSums(of_x)
  E <- array(vapply(seq_along(n), function(s) outer(of_x[, s], of_y[, s]) / n[s], matrix(0, lx, ly)), dim(N))
  df <- sum((colSums(of_x > 0) - 1) * (colSums(of_y > 0) - 1))
  if (df == 0) 1 else stats::pchisq(sum(((N - E)^2 / E)[E > 0]), df, lower.tail = FALSE)
}

skeleton_of <- function(marks) (marks != 0) | t(marks != 0)
edges_of <- function(adjacent) sum(adjacent) / 2
matrix_of <- function(fit) unname(as(fit@graph, "matrix") != 0)
true_skeleton <- function(file, p) {
  text <- grep("-->", readLines(file), value = TRUE)
  ends <- regmatches(text, gregexpr("X[0-9]+", text))
  adjacent <- matrix(FALSE, p, p)
  for (e in ends) {
    at <- as.integer(sub("X", "", e))
    adjacent[at[1], at[2]] <- adjacent[at[2], at[1]] <- TRUE
  }
  adjacent
}

cat("| network | variables | true edges | causal-learn: edges (true) | chi2CItest, adaptDF = TRUE: edges (true) | chi2CItest: edges (true) |",
    "disCItest: edges (true) | edges in causal-learn's skeleton or in adaptDF = TRUE's, not in both | skeleton by its definition |\n")
cat("|", paste(rep("---", 9), collapse = " | "), "|\n")
for (network in networks) {
  x <- as.matrix(utils::read.table(gzfile(file.path(folder, "data", paste0(network, ".txt.gz"))), header = TRUE)) - 1L
  storage.mode(x) <- "integer"
  p <- ncol(x)
  # Levels as they occur, so that all have the same.
  x <- apply(x, 2, function(codes) match(codes, sort(unique(codes))) - 1L)
  nlev <- apply(x, 2, max) + 1L
  truth <- true_skeleton(file.path(folder, "truth_dag_graph", paste0(network, ".graph.txt")), p)
  recorded <- list.files(file.path(folder, "benchmark_returned_results"), paste0("^", network, "_pc_chisq"), full.names = TRUE)
  recorded <- skeleton_of(unname(as.matrix(utils::read.table(recorded[1]))))
  run <- function(test, adapt, nlev_least = 1L) {
    stat <- list(dm = x, nlev = pmax(nlev, nlev_least), adaptDF = adapt)
    matrix_of(suppressWarnings(skeleton(stat, test, alpha, p = p, numCores = threads, progress = FALSE)))
  }
  found <- list(recorded, run(chi2CItest, TRUE), run(chi2CItest, FALSE), run(disCItest, FALSE, 2L))
  by_definition <- matrix_of(skeleton(list(dm = x, nlev = nlev), by_causal_learn, alpha, p = p, progress = FALSE))
  cells <- vapply(found, function(adjacent) sprintf("%g (%g)", edges_of(adjacent), edges_of(adjacent & truth)), "")
  same <- if (identical(by_definition, recorded)) "the recorded one" else paste(edges_of(by_definition != recorded), "edges differ")
  cat("|", paste(c(network, p, edges_of(truth), cells, edges_of(found[[2]] != recorded), same), collapse = " | "), "|\n")
}

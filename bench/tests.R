# Size and power of the tests of this package and of others, on linear and curved dependence.
#
#   Rscript tests.R [--runs=200] [--peer-runs=60] [--n=50,200,500,2000] [--library=FOLDER] [--python=PROGRAM] [--only=TEST]
#     [--csv=FILE]
#
# x = f(s) + e and y = f(s) + e', where s is the sum of the given variables with variance 1, and f is scaled to variance
# 1: the size is the share of p <= 0.05. For power, y has 0.4 f(e) in addition. Without given variables, f(s) is left
# out. Curves f: s, tanh(2 s), s^2, sin(2 s). --library has the R package RCIT, --python has causal-learn and tigramite.
# These answer --peer-runs samples of 200 and of 500 rows; tigramite, which takes seconds, samples of 500 rows with three
# given variables only. --only: the tests whose name matches this pattern. --csv gets a row for each test, curve, number
# of given variables, n and effect: share, runs, and milliseconds of a test on one thread. The package's copy of that
# file is inst/extdata/test-power.csv.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})
settings(runs = 200L, peer_runs = 60L)
sizes <- as.integer(strsplit(option("n", "50,200,500,2000"), ",", fixed = TRUE)[[1L]])
library <- option("library", "")
python <- option("python", "")
options(pcgpu.threads = 1)

curves <- list(linear = identity, tanh = function(s) tanh(2 * s), square = function(s) s^2, sine = function(s) {
  sin(2 * s)
})
# Mean and standard deviation of each curve of a normal variable.
moments <- lapply(curves, function(f) {
  points <- stats::qnorm(stats::ppoints(1e5))
  c(mean(f(points)), stats::sd(f(points)))
})

simulate <- function(n, curve, given, effect, seed) {
  set.seed(seed)
  f <- function(s) (curves[[curve]](s) - moments[[curve]][1]) / moments[[curve]][2]
  z <- matrix(rnorm(n * given), n, given)
  common <- if (given) f(rowSums(z) / sqrt(given)) else 0
  own <- rnorm(n)
  cbind(x = common + own, y = common + rnorm(n) + effect * f(own), z)
}

kernel <- function(x) suppressMessages(suff_kernel(x, seed = 1))
ours <- list(
  gaussCItest = function(x, S) gaussCItest(1, 2, S, suff_gauss(x)),
  disCItest = function(x, S) {
    thirds <- lapply(as.data.frame(x), function(v) factor(cut(rank(v), 3, labels = FALSE)))
    disCItest(1, 2, S, suff_discrete(as.data.frame(thirds)))
  },
  cmiKnnCItest = function(x, S) cmiKnnCItest(1, 2, S, suff_knn(x, seed = 1)),
  rcotCItest = function(x, S) rcotCItest(1, 2, S, kernel(x)),
  rcitCItest = function(x, S) rcitCItest(1, 2, S, kernel(x)),
  kciCItest = function(x, S) kciCItest(1, 2, S, kernel(x))
)
theirs <- list()
if (nzchar(library)) {
  .libPaths(c(library, .libPaths()))
  # RCIT calls functions of momentchi2 without importing them.
  suppressPackageStartupMessages(attachNamespace("momentchi2"))
  theirs[["RCoT (R)"]] <- function(x, S) RCIT::RCoT(x[, 1], x[, 2], x[, S], seed = 1)$p
  theirs[["RCIT (R)"]] <- function(x, S) RCIT::RCIT(x[, 1], x[, 2], x[, S], seed = 1)$p
}

# Returns p-values of samples and the milliseconds of one.
by_function <- function(test, samples, S) {
  seconds <- system.time(p <- vapply(samples, function(x) as.numeric(suppressWarnings(test(x, S))), 0))[[3L]]
  list(p = p, ms = 1000 * seconds / length(samples))
}

by_python <- function(kind, samples) {
  file <- tempfile()
  on.exit(unlink(file))
  utils::write.table(do.call(rbind, samples), file, sep = ",", row.names = FALSE, col.names = FALSE)
  call <- paste(shQuote(c(python, file.path(here, "tests-peer.py"), file, length(samples), kind)), collapse = " ")
  # On one thread, as the others.
  answer <- as.numeric(system(paste("OMP_NUM_THREADS=1", call, "2>/dev/null"), intern = TRUE))
  if (length(answer) != 1L + length(samples)) {
    stop("the Python program has no answer: ", call)
  }
  list(p = answer[-1L], ms = answer[1L])
}

columns <- c("date", "commit", "machine", "test", "curve", "given", "n", "effect", "share", "runs", "ms")
machine <- machine_here()
wanted <- function(tests) grep(option("only", ""), tests, value = TRUE)
enter <- function(test, cell, found) {
  p <- found$p[!is.na(found$p)]
  append_row(
    columns,
    c(
      list(machine = machine, test = test),
      cell,
      list(share = signif(mean(p <= 0.05), 3), runs = length(p), ms = signif(found$ms, 3))
    )
  )
}

cells <- expand.grid(
  n = sizes,
  curve = names(curves),
  given = c(0, 1, 3, 5),
  effect = c(0, 0.4),
  stringsAsFactors = FALSE
)
for (at in seq_len(nrow(cells))) {
  cell <- as.list(cells[at, ])
  S <- if (cell$given) 2 + seq_len(cell$given)
  count <- if (cell$n > 500) max(1L, runs %/% 2L) else runs
  samples <- lapply(seq_len(count), function(seed) simulate(cell$n, cell$curve, cell$given, cell$effect, seed))
  for (test in wanted(names(ours))) {
    enter(test, cell, by_function(ours[[test]], samples, S))
  }
  if (cell$n %in% c(200, 500) && cell$given) {
    few <- utils::head(samples, peer_runs)
    for (test in wanted(names(theirs))) {
      enter(test, cell, by_function(theirs[[test]], few, S))
    }
    in_python <- c(
      "KCI (causal-learn)",
      "RCIT (causal-learn)",
      if (cell$n == 200 || cell$given == 3) "CMIknn (tigramite)"
    )
    for (test in wanted(if (nzchar(python)) in_python)) {
      enter(test, cell, by_python(sub(" .*", "", test), few))
    }
  }
  cat(sprintf("%d of %d: %s\n", at, nrow(cells), toString(cell)))
}

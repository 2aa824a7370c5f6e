# Size and power of the tests of this package in the settings of a public benchmark, pgmpy/causalbench.
#
#   Rscript tests-public.R [--runs=150] [--slow-runs=75] [--published=FILE] [--n=20,40,80,160,320,640] [--only=TEST]
#     [--out=FILE] [--means=FILE]
#
# The settings are those of benchmarks/ci_benchmark.py in https://github.com/pgmpy/causalbench at commit 3b7fec6 (MIT
# licence): five mechanisms, 20 to 640 rows, 1 to 7 given variables, effects 0 to 1. kciCItest and cmiKnnCItest answer
# --slow-runs samples. --published is a copy of that commit's results/ci_benchmark_summaries.csv, whose shares are those
# of 10 samples. --only: the tests whose name matches this pattern. --out gets the columns of that file, and two more:
# `source`, and `independent`, which is TRUE if x and y are independent given z. --means gets the shares of p < 0.05, as
# means over the numbers of given variables. The program ends with a table of them.
#
# As there, type1_error is the share at effect 0, and power the share at other effects. But two mechanisms have no
# dependence at any effect: in nonlinear_gaussian the effect scales the curves of z, and discrete_categorical ignores
# it. There the "power" is a size. The published rows of the discrete tests (chi_square, g_sq, log_likelihood) compare
# the statistic, not p, with the level; they are left out.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressPackageStartupMessages(library(pcgpu))
settings(runs = 150L, slow_runs = 75L)
sizes <- as.integer(strsplit(option("n", "20,40,80,160,320,640"), ",", fixed = TRUE)[[1L]])
published <- option("published", "")
out <- option("out", "")
options(pcgpu.threads = 1)

normals <- function(n, given) matrix(rnorm(n * given), n)
levels_of <- function(n, given, count) matrix(sample.int(count, n * given, replace = TRUE) - 1, n)
weighted <- function(z) as.vector(z %*% runif(ncol(z)))
factors <- function(x) as.data.frame(lapply(as.data.frame(x), factor))

# Each returns x, y and the given variables.
mechanisms <- list(
  linear_gaussian = function(n, given, effect) {
    z <- normals(n, given)
    x <- weighted(z) + rnorm(n)
    data.frame(x, y = weighted(z) + effect * x + rnorm(n), z)
  },
  nonlinear_gaussian = function(n, given, effect) {
    z <- normals(n, given)
    s <- effect * rowSums(z)
    data.frame(x = sin(s) + rnorm(n), y = exp(s / 5) + rnorm(n), z)
  },
  non_gaussian_continuous = function(n, given, effect) {
    z <- matrix(runif(n * given, -2, 2), n)
    x <- abs(weighted(z)) + rexp(n)
    data.frame(x, y = weighted(z)^2 + effect * x + rexp(n), z)
  },
  mixed_data = function(n, given, effect) {
    z <- levels_of(n, given, 2)
    x <- weighted(z) + rnorm(n)
    data.frame(x, y = weighted(z) + effect * x + rnorm(n), factors(z))
  },
  # x and y are the same sum, each with its own 5 % of random values.
  discrete_categorical = function(n, given, effect) {
    z <- levels_of(n, given, 3)
    observed <- function() ifelse(runif(n) < 0.05, levels_of(n, 1, 3 * given), rowSums(z))
    factors(cbind(x = observed(), y = observed(), z))
  }
)
depends <- c("linear_gaussian", "non_gaussian_continuous", "mixed_data")

kernel <- function(test) function(x, S) test(1, 2, S, suppressMessages(suff_kernel(x, seed = 1)))
tests <- list(
  gaussCItest = function(x, S) gaussCItest(1, 2, S, suff_gauss(data.matrix(x))),
  mixCItest = function(x, S) mixCItest(1, 2, S, x),
  disCItest = function(x, S) disCItest(1, 2, S, suff_discrete(x)),
  cmiKnnCItest = function(x, S) cmiKnnCItest(1, 2, S, suff_knn(x, seed = 1)),
  rcotCItest = kernel(rcotCItest),
  rcitCItest = kernel(rcitCItest),
  kciCItest = kernel(kciCItest)
)
fitting <- function(mechanism) {
  unfit <- switch(
    mechanism,
    discrete_categorical = c("gaussCItest", "mixCItest", "cmiKnnCItest"),
    mixed_data = c("disCItest", "cmiKnnCItest"),
    c("mixCItest", "disCItest")
  )
  grep(option("only", ""), setdiff(names(tests), unfit), value = TRUE)
}

# Returns the rows of one test at one setting: one for each level.
rows_of <- function(cell, test, p) {
  level <- c(0.001, 0.01, 0.05, 0.1)
  share <- vapply(level, function(level) round(mean(!is.na(p) & p < level), 4), 0)
  null <- cell$effect_size == 0
  data.frame(
    cell,
    ci_test = test,
    significance_level = level,
    type1_error = if (null) share else NA,
    type2_error = if (null) NA else 1 - share,
    power = if (null) NA else share,
    N_null = if (null) length(p) else 0L,
    N_alt = if (null) 0L else length(p)
  )
}

cells <- expand.grid(
  effect_size = seq(0, 1, 0.2),
  sample_size = sizes,
  n_cond_vars = c(1, 3, 5, 7),
  dgm = names(mechanisms),
  stringsAsFactors = FALSE
)[c("dgm", "sample_size", "n_cond_vars", "effect_size")]
# Leaves out repeats of the same samples.
once <- function(x) x[x$dgm != "discrete_categorical" | x$effect_size == 0, ]
cells <- once(cells)
rows <- lapply(seq_len(nrow(cells)), function(at) {
  cell <- as.list(cells[at, ])
  samples <- lapply(seq_len(runs), function(seed) {
    set.seed(seed)
    mechanisms[[cell$dgm]](cell$sample_size, cell$n_cond_vars, cell$effect_size)
  })
  S <- 2 + seq_len(cell$n_cond_vars)
  cat(sprintf("%d of %d: %s\n", at, nrow(cells), toString(cell)))
  do.call(
    rbind,
    lapply(fitting(cell$dgm), function(test) {
      few <- if (test %in% c("kciCItest", "cmiKnnCItest")) utils::head(samples, slow_runs) else samples
      rows_of(cell, test, vapply(few, function(x) as.numeric(suppressWarnings(tests[[test]](x, S))), 0))
    })
  )
})
all <- cbind(source = "pcgpu", do.call(rbind, rows))
if (nzchar(published)) {
  theirs <- utils::read.csv(published)
  theirs <- theirs[theirs$N_null + theirs$N_alt > 0 & theirs$sample_size %in% sizes, ]
  theirs <- theirs[!theirs$ci_test %in% c("chi_square", "g_sq", "log_likelihood"), ]
  theirs$effect_size <- round(theirs$effect_size, 1)
  all <- rbind(all, cbind(source = "pgmpy", once(theirs)))
}
all$independent <- all$effect_size == 0 | !all$dgm %in% depends
if (nzchar(out)) {
  utils::write.csv(all, out, row.names = FALSE, quote = FALSE, na = "")
}

all$share <- ifelse(all$effect_size == 0, all$type1_error, all$power)
all$runs <- all$N_null + all$N_alt
by <- c("source", "dgm", "ci_test", "sample_size", "effect_size", "independent")
all <- all[all$significance_level == 0.05, ]
means <- merge(stats::aggregate(all["share"], all[by], mean), stats::aggregate(all["runs"], all[by], sum))
means$share <- round(means$share, 3)
if (nzchar(option("means", ""))) {
  origin <- "# Rows of pgmpy: means of github.com/pgmpy/causalbench at 3b7fec6, MIT licence, copyright 2025 pgmpy"
  table <- utils::capture.output(utils::write.csv(means, row.names = FALSE, quote = FALSE))
  writeLines(c(origin, table), option("means", ""))
}
means$test <- paste(means$source, means$ci_test)
for (mechanism in unique(cells$dgm)) {
  some <- means[means$dgm == mechanism & means$effect_size %in% c(0, 0.2, 0.4, 1), ]
  cat("\n", mechanism, if (!mechanism %in% depends) " (no dependence at any effect)", "\n", sep = "")
  shares <- tapply(some$share, some[c("effect_size", "test", "sample_size")], mean)
  print(stats::ftable(round(shares, 2), row.vars = 1:2))
}

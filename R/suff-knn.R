#' Sufficient statistic for the nearest-neighbour tests
#'
#' Checks continuous or mixed data and collects them in a list with the settings of [cmiKnnCItest()] and
#' [mixedCItest()].
#'
#' Numbers are continuous; factors, logicals and characters are discrete. Equal levels have distance 0. Different levels
#' all have the same distance, which depends on the transform. Convert numbers that are codes to factors: columns of
#' whole numbers with at most 10 different values are treated as continuous, and a message of class
#' `pcgpu_message_codes` names them.
#'
#' # Transforms
#'
#' Transforms apply to continuous columns. For mixed data they also determine how much a different level counts compared
#' with a difference of numbers.
#' - `"uniform"` (the default): ranks divided by n, so that increasing transformations of a variable change nothing. Two
#'   levels are as far apart as the smallest and the largest value. mCMIkNN has an option of this name, which spreads
#'   the codes of levels over that range.
#' - `"ranks"`: 0, 1, ... For data without discrete columns, the results equal those of `"uniform"`. Two levels are only
#'   as far apart as two neighbouring ranks, so tests between a number and a discrete variable have **no power**.
#' - `"standardize"`: mean 0, standard deviation 1. Two levels are one standard deviation apart. It is the default of
#'   tigramite's `CMIknnMixed` (that of `CMIknn` is `"ranks"`).
#' - `"none"`: the numbers unchanged. Two levels are 1 apart, as in Mesner and Shalizi (2021).
#'
#' Simulations compared their power (`bench/knn.R` in the repository, part `transforms`). They used 200 observations, a
#' discrete variable with three levels, a number with an effect of 0.4 standard deviations, and tests at 0.05. The
#' dependence was found in 88 % of the data sets with `"uniform"`, in 82 % with `"standardize"`, and never with
#' `"ranks"`.
#'
#' The estimator `"frenzel-pompe"` assumes that the values of a continuous column are all different. Before ranking, it
#' puts ties in a random order that depends on the seed (CMIknn adds noise instead). The other estimators, for mixed
#' data, keep ties.
#'
#' # Number of neighbours
#'
#' A small `k` makes the estimate noisy. A large `k` misses dependence that is not monotone, and dependence within small
#' groups: the number of observations that share the levels of all discrete variables of a test should be larger than
#' `k`.
#'
#' For numbers alone, Runge (2018) recommends 0.1 to 0.2 n, and tigramite's `CMIknn` uses 0.2 n. mCMIkNN has the square
#' root of n as an option for mixed data. The table shows simulations by `bench/knn.R` of the repository, with tests at
#' 0.05 of linear effects:
#'
#' | simulation (part of `bench/knn.R`) | `k = 7` | square root of n | 0.1 n | 0.2 n |
#' |:--|--:|--:|--:|--:|
#' | dependence of two numbers given a third, 100 data sets of 300 rows (`neighbours`): found in | 25 % | 59 % | 70 % | 68 % |
#' | dependence of a number and a discrete variable given two others, of three levels, 60 data sets of 300 rows (`neighbours-mixed`): found in | | 15 % | 2 % | |
#' | 30 graphs of seven numeric variables (`neighbours-graphs`): mean number of wrong edges | 2.27 | 1.63 | 1.57 | 2.1 |
#' | the same if half of the variables are discrete: mean number of wrong edges | 1.9 | 1.63 | 2.1 | 3.67 |
#'
#' @param data Observations in rows, variables in columns. One of:
#'   - a data frame or matrix of numbers (also bit64's `integer64`), factors, logicals or characters;
#'   - a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose samples are the observations;
#'   - a sparse matrix, a `DelayedMatrix`, a `big.matrix` or a [pcgpu_file()], which is read into an ordinary matrix.
#'
#'   Missing values are an error.
#' @param k Number of nearest neighbours for the estimate: a whole number from 1 to n - 1, or a fraction of n below 1.
#'   `NULL` means 0.1 n for numbers alone. With discrete columns it means the square root of n, or less if levels are
#'   small: half of the rows of a level (the median over the levels of a column) plus one. The default is rounded and at
#'   least 3; see below.
#' @param k_perm Number of nearest neighbours in S, including the observation itself, from which it can take its value
#'   of x in a permutation: a whole number from 1 to n - 1.
#' @param permutations Number of permutations. With the default form of p, 1 / permutations is the smallest p above 0.
#' @param estimator The estimator of the conditional mutual information, see [mixedCItest()]. `"auto"` depends on the
#'   test: `"frenzel-pompe"` for `cmiKnnCItest`, `"mesner-shalizi"` for `mixedCItest`.
#' @param transform The transformation of continuous columns, see below.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a
#'   run reproducible. All tests given the same S draw the same permutations, which depend on the seed and S only.
#' @param add_one Compute p as (1 + count) / (1 + permutations), which is never 0, instead of count / permutations?
#' @param early_stop `NULL` to draw all permutations, or `c(alpha = , error = )` to end a test early. A test ends as
#'   soon as another decision at this `alpha` after all permutations has a probability of at most `error`
#'   (beta-binomial, from a uniform prior on p). With `error = 0` no decision changes; only p does, because it is based
#'   on the permutations drawn.
#' @return A list of
#' \describe{
#'   \item{`data`}{a matrix of doubles of the shape of `data`, with codes 1, 2, ... for levels;}
#'   \item{`discrete`}{for each column, whether it is discrete;}
#'   \item{`levels`}{a list of the levels of the discrete columns, by column;}
#'   \item{...}{`k` (a whole number) and the other arguments.}
#' }
#' A constant column gives a warning of class `pcgpu_warning_constant`: it is independent of everything, with p = 1.
#'
#' Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a data file is at fault.
#' @references
#' J. Huegle, C. Hagedorn and R. Schlosser (2023). A kNN-based non-parametric conditional independence test for mixed
#' data and application in causal discovery. *Proceedings of ECML PKDD* (mCMIkNN).
#'
#' O. C. Mesner and C. R. Shalizi (2021) and J. Runge (2018): see [mixedCItest()] and [cmiKnnCItest()].
#' @seealso [cmiKnnCItest()] and [mixedCItest()], the tests that use it; [suff_gauss()], [suff_discrete()]; [pc()].
#' @examples
#' set.seed(1)
#' suff <- suff_knn(iris)
#' suff$discrete
#' suff$k
#' mixedCItest("Petal.Length", "Species", "Petal.Width", suff)
#' @export
suff_knn <- function(
  data,
  k = NULL,
  k_perm = 5,
  permutations = 100,
  estimator = c("auto", "frenzel-pompe", "mesner-shalizi", "gao"),
  transform = c("uniform", "ranks", "standardize", "none"),
  seed = NULL,
  add_one = FALSE,
  early_stop = NULL
) {
  data <- read_data(data, "data")
  if (!is.data.frame(data) && !(is.matrix(data) && is_value(data))) {
    abort_argument("data", data, "use a data frame or matrix with observations in rows.")
  }
  tell_if_turned(data, "data")
  if (is.matrix(data)) {
    data <- as.data.frame(data, optional = is.null(colnames(data)), stringsAsFactors = TRUE)
    names(data) <- if (all(nzchar(names(data)))) names(data)
  }
  if (ncol(data) < 2L || nrow(data) < 3L) {
    abort_argument("data", data, "it must have at least three rows and two columns.")
  }
  discrete <- !unname(numeric_columns(data))
  warn_text(data)
  tell_if_codes(data, discrete)
  missing <- vapply(data, function(column) anyNA(column) || is.numeric(column) && !all(is.finite(column)), NA)
  if (any(missing)) {
    abort_argument(
      "data",
      data,
      "drop these rows, or replace the values.",
      has = paste("missing or infinite values in", column_names(data, missing))
    )
  }
  factors <- lapply(data, function(column) {
    if (is.factor(column)) {
      droplevels(column)
    } else if (!is.numeric(column)) {
      factor(column)
    }
  })
  values <- Map(function(column, levels) as.double(if (is.null(levels)) column else levels), data, factors)
  matrix <- matrix(unlist(values, use.names = FALSE), nrow(data))
  colnames(matrix) <- names(data)
  warn_constant(constant_columns(matrix), data)
  suff <- list(
    data = matrix,
    discrete = discrete,
    levels = lapply(factors, levels),
    k = if (is.null(k)) default_neighbours(nrow(data), factors[discrete]) else check_neighbours(k, nrow(data)),
    k_perm = if (missing(k_perm)) min(5, nrow(data) - 1) else check_whole(k_perm, "k_perm", 1, nrow(data) - 1),
    permutations = check_whole(permutations, "permutations", 1, 1e6),
    estimator = check_choice(estimator, knn_estimators, "estimator"),
    transform = check_choice(transform, knn_transforms, "transform"),
    seed = check_seed(seed),
    add_one = check_flag(add_one, "add_one"),
    early_stop = check_early_stop(early_stop)
  )
  if (suff$estimator == "frenzel-pompe" && any(discrete)) {
    abort_argument(
      "estimator",
      "frenzel-pompe",
      "use \"mesner-shalizi\" or \"gao\", which are for mixed data.",
      is = sprintf(
        "\"frenzel-pompe\", which is for continuous variables only, but the data are discrete in %s",
        column_names(data, discrete)
      )
    )
  }
  suff
}

# The sufficient statistic of the nearest-neighbour tests, in the form that Rust reads.

# name: the R function. estimator: the meaning of "auto".
knn_tests <- list(
  cmi = list(name = "cmiKnnCItest", estimator = "frenzel-pompe"),
  mixed = list(name = "mixedCItest", estimator = "mesner-shalizi")
)

knn_estimators <- c("auto", "frenzel-pompe", "mesner-shalizi", "gao")

# "uniform" is the default. It equals "ranks" if all columns are numeric, and with "ranks" tests between numbers and
# levels have no power (bench/knn.R transforms).
knn_transforms <- c("uniform", "ranks", "standardize", "none")

# Returns the default of k. Between numbers, power is best at 0.1 n (Runge 2018: 0.1 to 0.2 n; tigramite uses 0.2 n).
# With levels, 0.1 n loses all power if k exceeds the observations of a cell. The square root of n, mCMIkNN's rule, does
# not (bench/knn.R neighbours, neighbours-mixed, neighbours-graphs). `smallest`: for the column with the smallest
# levels, half of the rows of its median level, plus one. With 20 levels of 5 rows, the root of n finds no dependence,
# and k = 3 finds all.
default_neighbours <- function(n, levels) {
  if (!length(levels)) {
    return(min(n - 1, max(3, round(0.1 * n))))
  }
  smallest <- min(vapply(levels, function(column) stats::median(tabulate(column)), 0)) %/% 2 + 1
  min(n - 1, max(3, min(round(sqrt(n)), smallest)))
}

# Returns k, which may be a fraction of n as in tigramite.
check_neighbours <- function(k, n, argument = "k") {
  if (is_number(k) && k > 0 && k < 1) {
    return(max(1, trunc(k * n)))
  }
  hint <- sprintf(
    "with %d observations, use a whole number from 1 to %d, or a fraction of the observations below 1.",
    n,
    n - 1L
  )
  check_number(k, argument, hint, 1, n - 1, whole = TRUE)
}

check_early_stop <- function(early_stop) {
  if (is.null(early_stop)) {
    return(NULL)
  }
  want <- "use NULL or c(alpha = , error = ), with 0 < alpha < 1 and 0 <= error < 0.5."
  values <- tryCatch(unlist(early_stop), error = function(e) NULL)
  if (
    !is.numeric(values) ||
      length(values) != 2L ||
      !setequal(names(values), c("alpha", "error")) ||
      anyNA(values) ||
      values[["alpha"]] <= 0 ||
      values[["alpha"]] >= 1 ||
      values[["error"]] < 0 ||
      values[["error"]] >= 0.5
  ) {
    abort_argument("early_stop", early_stop, want)
  }
  values[c("alpha", "error")]
}

# alpha: that of the search, which must equal that of the statistic's early stop.
check_suff_knn <- function(suffStat, labels, test, alpha = NULL) {
  data <- check_knn_data(suffStat, test)
  check_columns(data, labels, "suffStat$data")
  early <- check_early_stop(suffStat$early_stop)
  if (!is.null(alpha) && !is.null(early) && early[["alpha"]] != alpha) {
    abort_argument(
      "alpha",
      alpha,
      "use the same number in both.",
      is = sprintf(
        "%s, but suffStat$early_stop has alpha = %s",
        format(alpha, digits = 15L),
        format(early[["alpha"]], digits = 15L)
      )
    )
  }
  knn_for_rust(suffStat, data, seq_along(labels), test)
}

# Returns the statistic for the columns `at`, in ascending order.
knn_for_rust <- function(suffStat, data, at, test) {
  n <- nrow(data)
  discrete <- suffStat$discrete
  if (!is.logical(discrete) || length(discrete) != ncol(data) || anyNA(discrete)) {
    abort_argument("suffStat$discrete", discrete, "make the list with suff_knn(<data frame>).")
  }
  estimator <- check_choice(suffStat$estimator, knn_estimators, "suffStat$estimator")
  if (estimator == "auto") {
    estimator <- test$estimator
  }
  if (estimator == "frenzel-pompe" && any(discrete)) {
    abort_argument(
      "suffStat",
      suffStat,
      paste("use indepTest = mixedCItest, or suff_knn(estimator = \"mesner-shalizi\")."),
      is = paste0(
        "mixed data (discrete: ",
        column_names(data, discrete),
        "), but the estimator of cmiKnnCItest is for continuous data"
      )
    )
  }
  early <- check_early_stop(suffStat$early_stop)
  whole <- length(at) == ncol(data)
  list(
    kind = "knn",
    data = if (whole) data else data[, at, drop = FALSE],
    p = length(at),
    discrete = discrete[at],
    names = at,
    k = check_neighbours(suffStat$k, n, "suffStat$k"),
    k_perm = check_whole(suffStat$k_perm, "suffStat$k_perm", 1, n - 1),
    permutations = check_whole(suffStat$permutations, "suffStat$permutations", 1, 1e6),
    estimator = estimator,
    transform = check_choice(suffStat$transform, knn_transforms, "suffStat$transform"),
    add_one = check_flag(suffStat$add_one %||% FALSE, "suffStat$add_one"),
    seed = check_whole(suffStat$seed, "suffStat$seed", 0, .Machine$integer.max),
    alpha = if (!is.null(early)) early[["alpha"]],
    error = if (!is.null(early)) early[["error"]]
  )
}

check_knn_data <- function(suffStat, test) {
  want <- sprintf("%s needs suff_knn(x), where x is a data frame or matrix.", test$name)
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$data)) {
    abort_argument("suffStat", suffStat, want)
  }
  data <- plain_integer64(suffStat$data, "suffStat$data")
  if (!is.matrix(data) || !is.double(data) || ncol(data) < 2L || nrow(data) < 3L) {
    abort_argument("suffStat$data", data, want)
  }
  if (!all(is.finite(data))) {
    abort_argument(
      "suffStat$data",
      data,
      "drop these rows, or replace the values.",
      has = paste("missing or infinite values in", column_names(data, colSums(!is.finite(data)) > 0))
    )
  }
  data
}

# Runs one test.
knn_p_value <- function(x, y, S, suffStat, test) {
  data <- check_knn_data(suffStat, test)
  at <- check_question(x, y, S, data)
  all <- sort(unique(unlist(at)))
  found <- rust_knn_test(
    knn_for_rust(suffStat, data, all, test),
    match(at$x, all),
    match(at$y, all),
    engine_list(new_device("cpu"), resolve_threads())
  )
  check_rust(found)$p
}

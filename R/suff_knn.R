#' Sufficient statistic for the nearest-neighbour tests
#'
#' Checks continuous or mixed data and collects them in a list with the settings of [cmiKnnCItest()] and [mixedCItest()].
#'
#' Numbers are continuous; factors, logicals and characters are discrete, with a distance of 0 between equal levels and 1
#' between different ones. Convert numbers that are codes to factors: a message of class `pcgpu_message_codes` names columns of whole
#' numbers with at most 10 different values, which are treated as continuous.
#'
#' # Transforms
#'
#' Transforms apply to continuous columns.
#' - `"ranks"`: 0, 1, ..., so that increasing transformations of a variable change nothing. Two levels of a
#'   discrete variable are then only as far apart as two neighbouring ranks, so discrete variables have little weight.
#' - `"uniform"`: ranks over n. Two levels are then as far apart as the smallest and the largest value.
#' - `"standardize"`: mean 0, standard deviation 1.
#' - `"none"`.
#'
#' The estimator `"frenzel-pompe"` assumes that the values of a continuous column are all different. Before ranking, it puts ties in a
#' random order that depends on the seed (CMIknn adds noise instead). The other estimators, for mixed data, keep ties.
#'
#' @param data A data frame or matrix, observations in rows, variables in columns: numbers (also bit64's `integer64`), factors,
#'   logicals, characters; or a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose samples are the observations; or data that R does not hold,
#'   as for [suff_gauss()] (a function is read into a matrix). No missing values.
#' @param k Number of nearest neighbours of the estimate: a whole number from 1 to n - 1, or a share of n below 1.
#' @param k_perm Number of nearest neighbours given S, including itself, from which an observation can take its value of x in a permutation:
#'   a whole number from 1 to n - 1.
#' @param permutations Number of permutations. With the default form of p, 1 / permutations is the smallest p above 0.
#' @param estimator Of the conditional mutual information, see [mixedCItest()]. `"auto"` is that of the test:
#'   `"frenzel-pompe"` for `cmiKnnCItest`, `"mesner-shalizi"` for `mixedCItest`.
#' @param transform How to transform continuous columns first, see below.
#' @param seed A whole number from 0 to 2147483647 that determines the permutations, or `NULL` to draw one from R's random
#'   numbers, so that `set.seed()` makes a run reproducible.
#' @param add_one Compute p as (1 + count) / (1 + permutations), which is never 0, instead of count / permutations?
#' @param early_stop `NULL` to draw all permutations, or `c(alpha = , error = )` to end a test as soon as the probability that all permutations would lead to
#'   a different decision at this `alpha` is at most `error` (beta-binomial, from a uniform prior
#'   on p). With `error = 0` no decision changes; only p does, as it is based on the permutations drawn.
#' @return A list of
#' \describe{
#'   \item{`data`}{a matrix of doubles of the shape of `data`, with codes 1, 2, ... for levels;}
#'   \item{`discrete`}{for each column, whether it is discrete;}
#'   \item{`levels`}{a list of the levels of the discrete columns, by column;}
#'   \item{...}{`k` (a whole number) and the other arguments.}
#' }
#' A constant column gets a warning of class `pcgpu_warning_constant`: it is independent of everything, with p = 1.
#'
#' Errors have the class `pcgpu_error_argument`, those of a data file `pcgpu_error_file`.
#' @seealso [cmiKnnCItest()] and [mixedCItest()], which take it; [suff_gauss()], [suff_discrete()]; [pc()].
#' @examples
#' set.seed(1)
#' suff <- suff_knn(iris, k = 10, transform = "standardize")
#' suff$discrete
#' mixedCItest("Petal.Length", "Species", "Petal.Width", suff)
#' @export
suff_knn <- function(data, k = 7, k_perm = 5, permutations = 100,
                     estimator = c("auto", "frenzel-pompe", "mesner-shalizi", "gao"),
                     transform = c("ranks", "standardize", "uniform", "none"),
                     seed = NULL, add_one = FALSE, early_stop = NULL) {
  data <- read_data(data, "data")
  if (!is.data.frame(data) && !(is.matrix(data) && is_value(data))) {
    abort_argument("data", data, "give a data frame or matrix, observations in rows.")
  }
  tell_if_turned(data, "data")
  if (is.matrix(data)) {
    data <- as.data.frame(data, optional = is.null(colnames(data)), stringsAsFactors = TRUE)
    names(data) <- if (all(nzchar(names(data)))) names(data)
  }
  if (ncol(data) < 2L || nrow(data) < 3L) {
    abort_argument("data", data, "give at least three rows and two columns.")
  }
  discrete <- vapply(data, is_level_column, NA, USE.NAMES = FALSE)
  warn_text(data)
  tell_if_codes(data, discrete)
  missing <- vapply(data, function(column) anyNA(column) || is.numeric(column) && !all(is.finite(column)), NA)
  if (any(missing)) {
    abort_argument("data", data, "drop the rows or fill the values in.",
      has = paste("missing or infinite values in", column_names(data, missing))
    )
  }
  factors <- lapply(data, function(column) if (is.factor(column)) droplevels(column) else if (!is.numeric(column)) factor(column))
  values <- Map(function(column, levels) as.double(if (is.null(levels)) column else levels), data, factors)
  matrix <- matrix(unlist(values, use.names = FALSE), nrow(data))
  colnames(matrix) <- names(data)
  warn_constant(constant_columns(matrix), data)
  suff <- list(
    data = matrix, discrete = discrete, levels = lapply(factors, levels),
    k = check_neighbours(k, nrow(data)), k_perm = check_whole(k_perm, "k_perm", 1, nrow(data) - 1),
    permutations = check_whole(permutations, "permutations", 1, 1e6),
    estimator = check_choice(estimator, c("auto", "frenzel-pompe", "mesner-shalizi", "gao"), "estimator"),
    transform = check_choice(transform, c("ranks", "standardize", "uniform", "none"), "transform"),
    seed = if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else check_whole(seed, "seed", 0, .Machine$integer.max),
    add_one = check_flag(add_one, "add_one"), early_stop = check_early_stop(early_stop)
  )
  if (suff$estimator == "frenzel-pompe" && any(discrete)) {
    abort_argument("estimator", "frenzel-pompe", "give \"mesner-shalizi\" or \"gao\", which are for mixed data.",
      is = paste0("\"frenzel-pompe\", which is for continuous variables; discrete: ", column_names(data, discrete))
    )
  }
  suff
}

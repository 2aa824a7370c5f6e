#' Tests of data with missing values: multiple imputation
#'
#' The missing values have been imputed M times. Each test runs on all M data sets and pools the results.
#' `gaussMItest()` is for numbers, `disMItest()` for levels, `mixMItest()` for both. They have the same names and give
#' the same p-values as micd's functions. [pc()] and [skeleton()] recognise either version and run it natively.
#' `pc(imputed, alpha = 0.01)` chooses the right one.
#'
#' - `gaussMItest()`: let z be the mean, over the data sets, of Fisher's z of the partial correlation, without the root of n. Let B be its
#'   variance, and W = 1 / (n - |S| - 3). The statistic \eqn{z / \sqrt{W + (1 + 1/M) B}}{z / sqrt(W + (1 + 1/M) B)} has a t distribution with
#'   \eqn{(M - 1) (1 + W M / (B (M + 1)))^2}{(M - 1) (1 + W M / (B (M + 1)))^2} degrees of freedom (Rubin's rules).
#' - `disMItest()`: let d be the likelihood ratio \eqn{G^2}{G^2} at counts averaged over the data sets, with k degrees of freedom (from the levels
#'   that factors declare). Let D be the mean of the likelihood ratios at each data set's own counts, and
#'   \eqn{r = (M + 1) (D - d) / (k (M - 1))}{r = (M + 1) (D - d) / (k (M - 1))}. The statistic \eqn{d / (k (1 + r))}{d / (k (1 + r))} has an F
#'   distribution (Meng and Rubin 1992). A combination of levels of S without a row in one of the data sets is left out of d.
#' - `mixMItest()`: the same with the likelihood ratio of [mixCItest()]. Here d is the likelihood ratio at parameters
#'   averaged over the data sets (for the proportions of cells, the logarithms are averaged).
#'
#' A pooled p-value is not a function of a single correlation: sample size, degrees of freedom and the uncertainty from
#' missing values differ between tests.
#'
#' # Assumptions
#'
#' Values are missing at random: missingness depends on observed values only. The imputation model includes the
#' dependences of interest. Imputations that omit variables, or assume linear relations if there are others, hide edges
#' or create them. More data sets reduce the noise: with M = 2 the variance between them is poorly estimated.
#'
#' # Where the answer is not micd's
#'
#' - If a combination of levels has no row in some of the data sets, micd's `mixMItest()` counts its mean there as 0.
#'   Its answer therefore depends on the origin of the numbers. Ours uses the mean of the variable instead of 0, and the
#'   origin does not matter.
#' - For `mixMItest()` with numbers that determine one another, see [mixCItest()].
#' - A single data set is an error; micd answers `NA` to every test, so that [pc()] removes every edge.
#' - A constant column counts as uncorrelated given any S; micd stops if S has two or more variables.
#'
#' @inheritParams gaussCItwd
#' @param suffStat The completed data sets. One of:
#'   - a list of at least two data frames of the same shape that differ only in the imputed values;
#'   - the result of `mice()` of the package mice;
#'   - for `gaussMItest()`, a list of M correlation matrices and, as its last element, the number of observations, such
#'     as from micd's `getSuff()`.
#' @return The p-value, one number between 0 and 1, or `NA`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' X.-L. Meng and D. B. Rubin (1992). Performing likelihood ratio tests with multiply-imputed data sets. *Biometrika*
#' 79(1), 103-111.
#'
#' D. B. Rubin (1987). *Multiple Imputation for Nonresponse in Surveys*. Wiley.
#'
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with
#' incomplete cohort data. *Statistics in Medicine* 41(23), 4716-4743.
#' @seealso [gaussCItwd()] for test-wise deletion, and for when each of the two is right.
#' @examples
#' # Five completed data sets, here by draws from a regression on the other columns
#' # (mice() does this better).
#' set.seed(1)
#' air <- airquality[1:4]
#' model <- lm(Ozone ~ Wind + Temp, air)
#' holes <- is.na(air$Ozone)
#' air$Solar.R[is.na(air$Solar.R)] <- median(air$Solar.R, na.rm = TRUE)
#'
#' completed <- lapply(1:5, function(i) {
#'   air$Ozone[holes] <- predict(model, air)[holes] + rnorm(sum(holes), sd = sigma(model))
#'   air
#' })
#'
#' gaussMItest("Ozone", "Wind", "Temp", completed)
#' pc(completed, alpha = 0.05, numCores = 2)
#' @export
gaussMItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$gaussMItest)
}

#' @rdname gaussMItest
#' @export
disMItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$disMItest)
}

#' @rdname gaussMItest
#' @export
mixMItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$mixMItest)
}

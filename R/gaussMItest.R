#' Tests of data with missing values: multiple imputation
#'
#' The missing values have been imputed M times. Each test is run on all M data sets, and its results are pooled: `gaussMItest()` of numbers, `disMItest()` of levels, `mixMItest()` of
#' both. They have the names of micd's functions and give their p-values. [pc()] and [skeleton()] recognise either and run them natively; `pc(imputed, alpha = 0.01)` chooses among them.
#'
#' - `gaussMItest()`: z is the mean of Fisher's z of the partial correlations, without the root of n; W = 1 / (n - |S| - 3) and B, their variance, make the statistic
#'   \eqn{z / \sqrt{W + (1 + 1/M) B}}{z / sqrt(W + (1 + 1/M) B)}, which has a t distribution with \eqn{(M - 1) (1 + W M / (B (M + 1)))^2}{(M - 1) (1 + W M / (B (M + 1)))^2} degrees of freedom (Rubin's rules).
#' - `disMItest()`: the likelihood ratio \eqn{G^2}{G^2} of k degrees of freedom (of the levels that factors declare) at counts averaged over the data sets, d, beside the mean of those at each data set's own counts, D: with
#'   \eqn{r = (M + 1) (D - d) / (k (M - 1))}{r = (M + 1) (D - d) / (k (M - 1))} the statistic \eqn{d / (k (1 + r))}{d / (k (1 + r))} has an F distribution (Meng and Rubin 1992). A combination of
#'   levels of S that has no row in one of the data sets is left out of d.
#' - `mixMItest()`: likewise of the likelihood ratio of [mixCItest()], d being that at parameters averaged over the data sets (of the shares of cells, the logarithms are averaged).
#'
#' A pooled p-value is not a function of a single correlation: sample size, degrees of freedom and the uncertainty from missing values differ between tests.
#'
#' # What it assumes
#'
#' Values are missing at random, that is, missingness depends on observed values only; and the imputation model includes the dependences of interest. Imputations
#' that omit variables, or assume linear relations where there are others, hide edges or create them. More data sets reduce the noise: with M = 2 the variance between them is poorly estimated.
#'
#' # Where the answer is not micd's
#'
#' - `mixMItest()`, a combination of levels that has no row in some of the data sets: micd averages its mean over the data sets with 0 for those, so that its answer depends on where the numbers have their origin. Here
#'   the mean of the variable takes the place of 0, and the origin does not matter.
#' - `mixMItest()`, numbers that determine one another: see [mixCItest()].
#' - One data set alone is refused; micd answers `NA` to every test, by which [pc()] removes every edge. A constant column counts as uncorrelated given any S; micd stops with two and more in S.
#'
#' @inheritParams gaussCItwd
#' @param suffStat The completed data sets: a list of at least two data frames of one shape that differ in the imputed values alone, or what `mice()` of the package mice returns. For `gaussMItest()` also a list of
#'   M correlation matrices and, as its last element, the number of observations, as micd's `getSuff()` makes it.
#' @return The p-value, one number between 0 and 1, or `NA`.
#' @references
#' X.-L. Meng and D. B. Rubin (1992). Performing likelihood ratio tests with multiply-imputed data sets. *Biometrika* 79(1), 103-111.
#'
#' D. B. Rubin (1987). *Multiple Imputation for Nonresponse in Surveys*. Wiley.
#'
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with incomplete cohort data. *Statistics in
#' Medicine* 41(23), 4716-4743.
#' @seealso [gaussCItwd()] for test-wise deletion, and when which of them is right.
#' @examples
#' # Five completed data sets: here by draws from a regression on the other columns, for which
#' # mice() is the better tool
#' set.seed(1)
#' air <- airquality[1:4]
#' model <- lm(Ozone ~ Wind + Temp, air)
#' holes <- is.na(air$Ozone)
#' air$Solar.R[is.na(air$Solar.R)] <- median(air$Solar.R, na.rm = TRUE)
#' completed <- lapply(1:5, function(i) {
#'   air$Ozone[holes] <- predict(model, air)[holes] + rnorm(sum(holes), sd = sigma(model))
#'   air
#' })
#' gaussMItest("Ozone", "Wind", "Temp", completed)
#' pc(completed, alpha = 0.05, numCores = 2)
#' @export
gaussMItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$gaussMItest)
}

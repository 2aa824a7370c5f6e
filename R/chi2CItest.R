#' Pearson's chi-squared test of conditional independence of discrete variables
#'
#' Returns the p-value of the test that two discrete variables are independent given others, by Pearson's
#' \eqn{\chi^2}{chi-squared}, like bnlearn's `ci.test(test = "x2")`. [pc()] and [skeleton()] run it natively.
#'
#' Let N(a, b, s) be the number of observations with level a of x, level b of y and the combination s of levels of S.
#' Let E = N(a, s) N(b, s) / N(s). Then
#' \deqn{\chi^2 = \sum_{a,b,s} \frac{(N(a,b,s) - E)^2}{E},}{X2 = sum (N(a,b,s) - E)^2 / E,}
#' where the sum is over the cells with E > 0. p is the upper tail of the chi-squared distribution.
#'
#' - `adaptDF = FALSE` (bnlearn's `"x2"`): the degrees of freedom are
#'   \eqn{(L_x - 1)(L_y - 1) \prod_{v \in S} L_v}{(L(x) - 1)(L(y) - 1) prod L(v in S)}.
#'   L are the numbers of levels in `nlev`, whether they occur or not. Unlike [disCItest()], the test has no rule for small samples.
#' - `adaptDF = TRUE` (bnlearn's `"x2-adf"`): the degrees of freedom are
#'   \eqn{\sum_s (a_s - 1)(b_s - 1)}{sum over s of (a - 1)(b - 1)}. Here a and b are the numbers of levels of x and y that occur in the
#'   stratum s. p is 1 with fewer than \eqn{5 L_x L_y \prod L_v}{5 L(x) L(y) prod L(v)} observations. A warning of [pc()] and [skeleton()] (class
#'   `pcgpu_warning_too_few`) gives the number of edges removed for this reason.
#'
#' bnlearn removes an edge if p > alpha, [pc()] if p >= alpha, as pcalg does. bnlearn also counts tests differently, so
#' compare graphs.
#'
#' @inheritParams disCItest
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' K. Pearson (1900). On the criterion that a given system of deviations from the probable in the case of a correlated
#' system of variables is such that it can be reasonably supposed to have arisen from random sampling. *Philosophical
#' Magazine*, Series 5, 50, 157-175.
#'
#' M. Scutari (2010). Learning Bayesian networks with the bnlearn R package. *Journal of Statistical Software* 35(3).
#' @seealso [disCItest()], [suff_discrete()]
#' @examples
#' suff <- suff_discrete(warpbreaks[c("wool", "tension")])
#' chi2CItest("wool", "tension", NULL, suff)
#'
#' cars <- data.frame(lapply(mtcars[c("cyl", "vs", "am", "gear")], factor))
#' suff <- suff_discrete(cars, adaptDF = TRUE)
#' chi2CItest("am", "gear", "cyl", suff)
#' @export
chi2CItest <- function(x, y, S, suffStat) {
  discrete_p_value(x, y, S, suffStat, discrete_tests$chi2)
}

#' G-squared test of conditional independence of binary variables
#'
#' [disCItest()] for variables with the values 0 and 1: the same statistic, but every variable has two levels, even if
#' only one value occurs. The function has the same name and gives the same p-values as pcalg's. [pc()] and [skeleton()]
#' recognise either function and run it natively.
#'
#' @inheritParams disCItest
#' @param suffStat `list(dm = , adaptDF = )`. `dm` is a matrix (or data frame) of 0 and 1, or of `FALSE` and `TRUE`, with observations in
#'   rows. `adaptDF` determines whether empty cells reduce the degrees of freedom, see [disCItest()]. If all variables have two levels,
#'   [suff_discrete()] makes this list.
#' @return The p-value, one number between 0 and 1. It is 1, with a warning, if there are fewer than 10 times \eqn{2^{|S|}}{2^|S|}
#'   observations.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @inherit disCItest references
#' @seealso [disCItest()] for variables with more levels, [suff_discrete()] to make `suffStat` from data, [chi2CItest()], [pc()].
#' @examples
#' set.seed(1)
#' x <- rbinom(500, 1, 0.5)
#' y <- ifelse(runif(500) < 0.2, 1 - x, x)
#' z <- ifelse(runif(500) < 0.2, 1 - y, y)
#'
#' suff <- list(dm = cbind(x, y, z), adaptDF = FALSE)
#' binCItest(1, 3, NULL, suff) # dependent
#' binCItest(1, 3, 2, suff)    # independent given y
#' @export
binCItest <- function(x, y, S, suffStat) {
  discrete_p_value(x, y, S, suffStat, discrete_tests$bin)
}

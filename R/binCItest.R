#' G-squared test of conditional independence of binary variables
#'
#' [disCItest()] for variables with the values 0 and 1: the same statistic, and every variable has two levels, even where
#' only one value occurs. It has the name of pcalg's function and gives its p-values. [pc()] and [skeleton()]
#' recognise either and run it natively.
#'
#' @inheritParams disCItest
#' @param suffStat `list(dm = , adaptDF = )`: a matrix (or data frame) of 0 and 1, or of `FALSE` and `TRUE`, with observations in
#'   rows, and whether empty cells lower the degrees of freedom, see [disCItest()]. Where all variables have two levels
#'   [suff_discrete()] makes it.
#' @return The p-value, one number between 0 and 1; 1, with a warning, when there are fewer than 10 times \eqn{2^{|S|}}{2^|S|}
#'   observations.
#' @inherit disCItest references
#' @seealso [disCItest()] for variables of more levels; [suff_discrete()] makes `suffStat` from data; [chi2CItest()]; [pc()].
#' @examples
#' set.seed(1)
#' x <- rbinom(500, 1, 0.5)
#' y <- ifelse(runif(500) < 0.2, 1 - x, x)
#' z <- ifelse(runif(500) < 0.2, 1 - y, y)
#' suff <- list(dm = cbind(x, y, z), adaptDF = FALSE)
#' binCItest(1, 3, NULL, suff) # dependent
#' binCItest(1, 3, 2, suff)    # independent given y
#' @export
binCItest <- function(x, y, S, suffStat) {
  discrete_p_value(x, y, S, suffStat, discrete_tests$bin)
}

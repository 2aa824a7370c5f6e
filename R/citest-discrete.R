#' G-squared test of conditional independence of discrete variables
#'
#' Returns the p-value of the test that two discrete variables are independent given others, by the likelihood ratio
#' statistic
#' \eqn{G^2}{G^2}. The function has the same name and gives the same p-values as pcalg's, except where pcalg is wrong (see below).
#' [pc()] and [skeleton()] recognise either function and run it natively.
#'
#' Let N(a, b, s) be the number of observations with level a of x, level b of y and the combination s of levels of S.
#' Then
#' \deqn{G^2 = 2 \sum_{a,b,s} N(a,b,s) \log\frac{N(a,b,s) N(s)}{N(a,s) N(b,s)},}{
#' G^2 = 2 sum N(a,b,s) log(N(a,b,s) N(s) / (N(a,s) N(b,s))),}
#' where the sum is over the cells with an observation. p is the upper tail of the chi-squared distribution with
#' \eqn{df = (L_x - 1)(L_y - 1) \prod_{v \in S} L_v}{df = (L(x) - 1)(L(y) - 1) prod L(v in S)} degrees of freedom. L are
#' the numbers of levels in `nlev`, whether they occur or not.
#'
#' - With fewer than 10 df observations, the test is not carried out: p is 1, with a warning. [pc()] and [skeleton()]
#'   give a single warning (class `pcgpu_warning_too_few`) with the number of edges that were removed for this reason.
#' - `adaptDF = TRUE` reduces the df, if S is not empty, by the number of empty cells plus
#'   \eqn{4 (2^{|S|} - \prod L_v)}{4 (2^|S| - prod L(v))}, but not below 1. This is pcalg's formula.
#'
#' # Where the answer is not pcalg's
#'
#' - With five or more conditioning variables, pcalg's `disCItest()` conditions on x instead of S: its p is always 1,
#'   and every edge is removed. Here the test conditions on S, and `adaptDF` follows the formula above for sets of every
#'   size. pcalg's own `binCItest()` agrees with this.
#' - If a column has as many different codes as `nlev` says, they are its levels in ascending order, with or without
#'   gaps: 0, 2, 5 with `nlev = 3` are three levels. Without `nlev`, a column has as many levels as different codes.
#'   Otherwise, a code that is not below `nlev` is an error; pcalg leaves such observations out of some sums.
#'
#' @param x,y Numbers of the two variables (columns of `suffStat$dm`), or their names if `dm` has column names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat `list(dm = , nlev = , adaptDF = )`, preferably from [suff_discrete()]:
#'   - `dm`: a matrix (or data frame) with observations in rows, whose columns contain the codes 0, 1, ... of the
#'     levels;
#'   - `nlev`: the numbers of levels, up to 65,535 each, or `NULL` to count them;
#'   - `adaptDF`: whether empty cells reduce the degrees of freedom;
#'   - `na` (optional): with `"pairwise"`, codes may be `NA`, and each test omits the observations that lack one of its
#'     variables.
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' R. E. Neapolitan (2004). *Learning Bayesian Networks*. Prentice Hall. Section 10.3.1.
#' @seealso [chi2CItest()] for Pearson's statistic, [binCItest()] for variables with two levels.
#' @examples
#' passengers <- as.data.frame(Titanic)
#' passengers <- passengers[rep(seq_len(nrow(passengers)), passengers$Freq), 1:4]
#' suff <- suff_discrete(passengers)
#' disCItest("Class", "Survived", NULL, suff)
#' disCItest("Class", "Survived", c("Sex", "Age"), suff)
#'
#' # From a data frame of factors to a CPDAG
#' fit <- pc(suff, indepTest = disCItest, alpha = 0.01, labels = names(passengers), numCores = 2)
#' plot_cpdag(fit)
#' @export
disCItest <- function(x, y, S, suffStat) {
  discrete_p_value(x, y, S, suffStat, discrete_tests$dis)
}

#' G-squared test of conditional independence of binary variables
#'
#' [disCItest()] for variables with the values 0 and 1: the same statistic, but every variable has two levels, even if
#' only one value occurs. The function has the same name and gives the same p-values as pcalg's. [pc()] and [skeleton()]
#' recognise either function and run it natively.
#'
#' @inheritParams disCItest
#' @param suffStat `list(dm = , adaptDF = )`. `dm` is a matrix (or data frame) of 0 and 1, or of `FALSE` and `TRUE`,
#'   with observations in rows. `adaptDF` determines whether empty cells reduce the degrees of freedom, see
#'   [disCItest()]. If all variables have two levels, [suff_discrete()] makes this list.
#' @return The p-value, one number between 0 and 1. It is 1, with a warning, if there are fewer than 10 times \eqn{2^{|S|}}{2^|S|}
#'   observations.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @inherit disCItest references
#' @seealso [disCItest()] for variables with more levels, [suff_discrete()] to make `suffStat` from data,
#'   [chi2CItest()], [pc()].
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

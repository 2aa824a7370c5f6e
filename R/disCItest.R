#' G-squared test of conditional independence of discrete variables
#'
#' Returns the p-value of the test that two discrete variables are independent given others, by the likelihood ratio statistic
#' \eqn{G^2}{G^2}. The function has the same name and gives the same p-values as pcalg's, except where pcalg is wrong (see below).
#' [pc()] and [skeleton()] recognise either function and run it natively.
#'
#' Let N(a, b, s) be the number of observations with level a of x, level b of y and the combination s of levels of S. Then
#' \deqn{G^2 = 2 \sum_{a,b,s} N(a,b,s) \log\frac{N(a,b,s) N(s)}{N(a,s) N(b,s)},}{
#' G^2 = 2 sum N(a,b,s) log(N(a,b,s) N(s) / (N(a,s) N(b,s))),}
#' where the sum is over the cells with an observation. p is the upper tail of the chi-squared distribution with
#' \eqn{df = (L_x - 1)(L_y - 1) \prod_{v \in S} L_v}{df = (L(x) - 1)(L(y) - 1) prod L(v in S)} degrees of freedom. L are
#' the numbers of levels in `nlev`, whether they occur or not.
#'
#' - With fewer than 10 df observations, the test is not carried out: p is 1, with a warning. [pc()] and [skeleton()] give a single
#'   warning (class `pcgpu_warning_too_few`) with the number of edges that were removed for this reason.
#' - `adaptDF = TRUE` reduces the df, if S is not empty, by the number of empty cells plus
#'   \eqn{4 (2^{|S|} - \prod L_v)}{4 (2^|S| - prod L(v))}, but not below 1. This is pcalg's formula.
#'
#' # Where the answer is not pcalg's
#'
#' - With five or more conditioning variables, pcalg's `disCItest()` conditions on x instead of S: its p is always 1, and
#'   every edge is removed. Here the test conditions on S, and `adaptDF` follows the formula above for sets of every size. pcalg's own
#'   `binCItest()` agrees with this.
#' - If a column has as many different codes as `nlev` says, they are its levels in ascending order, with or without gaps: 0, 2, 5 with
#'   `nlev = 3` are three levels. Without `nlev`, a column has as many levels as different codes. Otherwise, a code that is not below
#'   `nlev` is an error; pcalg leaves such observations out of some sums.
#'
#' @param x,y Numbers of the two variables (columns of `suffStat$dm`), or their names if `dm` has column names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat `list(dm = , nlev = , adaptDF = )`, preferably from [suff_discrete()]:
#'   - `dm`: a matrix (or data frame) with observations in rows, whose columns contain the codes 0, 1, ... of the levels;
#'   - `nlev`: the numbers of levels, up to 65,535 each, or `NULL` to count them;
#'   - `adaptDF`: whether empty cells reduce the degrees of freedom;
#'   - `na` (optional): with `"pairwise"`, codes may be `NA`, and each test omits the observations that lack one of its variables.
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

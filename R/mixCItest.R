#' Likelihood ratio test of conditional independence of numbers and levels
#'
#' The p-value of the test that two variables are independent given others, each of them numbers or levels, by conditional Gaussian distributions: numbers are
#' normal within each combination of levels, with a mean and a covariance of its own. It has the name of micd's function and gives its p-values. [pc()] and
#' [skeleton()] recognise both and run it natively. It takes microseconds, where the nearest-neighbour test [mixedCItest()] takes milliseconds, and detects differences in means, variances or
#' correlations; the other detects any dependence.
#'
#' With L(V) the largest log likelihood of the variables V, p is the upper tail of the chi-squared distribution at
#' \deqn{2 (L(x, y, S) - L(y, S) - L(x, S) + L(S)).}{2 (L(x, y, S) - L(y, S) - L(x, S) + L(S)).}
#' With N rows in all, L is the sum over the combinations of levels, of a rows each, of \eqn{a \log(a / N)}{a log(a / N)} and the normal log likelihood of their
#' numbers, k of them, with their own mean and, where a > k + 5, their own covariance (denominator a); else the covariance of all rows. L(V) has
#' \eqn{f (k (k + 1) / 2 + k) + f}{f (k (k + 1) / 2 + k) + f} parameters, f being the product of the numbers of levels that the factors declare; for an empty S it is 0, with one parameter. The degrees of freedom are those
#' of the four parts, at least 1.
#'
#' Where all of x, y and S are numbers, the test is [gaussCItest()] on their correlations; where all are levels, [disCItest()] with `adaptDF = TRUE`, of the levels that occur.
#'
#' # Where the answer is not micd's
#'
#' - Numbers in S that are determined by other numbers in S are left out, also from the degrees of freedom. If S determines x or y, p is 1; if x and S determine y, p is 0. micd's answers in these cases depend
#'   on rounding errors in a determinant.
#' - Where a number is constant within a combination of levels, or others determine it there, its variance is taken as 1e-12 of that over all rows: what it has of the likelihood then cancels, as it should, where it is the same in
#'   two of the four parts. In micd it is infinite, and p 1 or what rounding makes of it.
#' - Where a factor that is tested among factors is constant, there is no answer (`NA`; a constant member of S is left out). micd stops there.
#'
#' @param x,y Numbers of the two variables (columns of `suffStat`), or their names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat The data: a data frame, observations in rows, without missing values. Columns are numbers, or levels: factors, logicals, characters. With
#'   missing values see [mixCItwd()] and [mixMItest()].
#' @return The p-value, one number between 0 and 1, or `NA`.
#' @references
#' B. Andrews, J. Ramsey and G. F. Cooper (2018). Scoring Bayesian networks of mixed variables. *International Journal of Data Science and Analytics* 6, 3-18.
#'
#' S. L. Lauritzen and N. Wermuth (1989). Graphical models for associations between variables, some of which are qualitative and some quantitative. *Annals of
#' Statistics* 17(1), 31-57.
#'
#' R. Foraita, J. Witte and V. Didelez (2024). micd: Multiple imputation in causal graph discovery. R package.
#' @seealso [mixedCItest()], the nearest-neighbour test.
#' @examples
#' mixCItest("Sepal.Length", "Species", NULL, iris)
#' mixCItest("Sepal.Length", "Species", "Petal.Length", iris)
#' pc(iris, indepTest = mixCItest, alpha = 0.01, numCores = 2)
#' @export
mixCItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$mixCItest)
}

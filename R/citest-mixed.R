#' Likelihood ratio test of conditional independence of numbers and levels
#'
#' Returns the p-value of the test that two variables are independent given others, where each variable may be numeric
#' or discrete. The test uses conditional Gaussian distributions: within each combination of levels, numbers are normal
#' with their own mean and covariance. The function has the same name and gives the same p-values as micd's. [pc()] and
#' [skeleton()] recognise both functions and run them natively.
#'
#' A test takes microseconds and detects differences in means, variances or correlations. The nearest-neighbour test
#' [mixedCItest()] takes milliseconds and detects any dependence.
#'
#' Let L(V) be the largest log likelihood of the variables V. p is the upper tail of the chi-squared distribution at
#' \deqn{2 (L(x, y, S) - L(y, S) - L(x, S) + L(S)).}{2 (L(x, y, S) - L(y, S) - L(x, S) + L(S)).}
#'
#' With N rows in total, L is a sum over the combinations of levels. A combination with a rows contributes \eqn{a \log(a / N)}{a log(a / N)} and the
#' normal log likelihood of its k numbers, with their own mean. If a > k + 5, they also have their own covariance (denominator a); otherwise the
#' covariance of all rows is used.
#'
#' Let f be the product of the numbers of levels that the factors declare. The number of parameters of L(V) is
#' \eqn{f (k (k + 1) / 2 + k) + f}{f (k (k + 1) / 2 + k) + f}. For an empty S, L is 0, with one parameter. The degrees of freedom combine the numbers of parameters in the same way, and are
#' at least 1.
#'
#' If x, y and S are all numeric, the test is [gaussCItest()] on their correlations. If all are discrete, it is
#' [disCItest()] with `adaptDF = TRUE` and the levels that occur. A search warns (`pcgpu_warning_too_few`) about edges
#' that were removed because there are fewer than ten rows for each degree of freedom.
#'
#' # Where the answer is not micd's
#'
#' - Numbers in S that are determined by other numbers in S are left out, also from the degrees of freedom. If S
#'   determines x or y, p is 1; if x and S determine y, p is 0. micd's answers in these cases depend on rounding errors
#'   in a determinant.
#' - If a number is constant within a combination of levels, or determined by others there, its variance is taken as
#'   1e-12 of that over all rows. Its contribution to the likelihood then cancels, as it should, if it is the same in
#'   two of the four parts. In micd it is infinite, and p is 1 or depends on rounding errors.
#' - If all variables are factors and x or y is constant, the answer is `NA` (a constant member of S is left out). micd
#'   stops in this case.
#'
#' @param x,y Numbers of the two variables (columns of `suffStat`), or their names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat The data: a data frame with observations in rows, without missing values. Columns are numeric or
#'   discrete (factors, logicals, characters). For missing values see [mixCItwd()] and [mixMItest()].
#' @return The p-value, one number between 0 and 1, or `NA`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' B. Andrews, J. Ramsey and G. F. Cooper (2018). Scoring Bayesian networks of mixed variables. *International Journal
#' of Data Science and Analytics* 6, 3-18.
#'
#' S. L. Lauritzen and N. Wermuth (1989). Graphical models for associations between variables, some of which are
#' qualitative and some quantitative. *Annals of Statistics* 17(1), 31-57.
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

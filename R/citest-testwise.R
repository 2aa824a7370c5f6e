#' Tests of data with missing values: test-wise deletion
#'
#' Each test uses the rows that are complete for its own variables x, y and S. `gaussCItwd()` is for numbers,
#' `disCItwd()` for levels, `mixCItwd()` for both. They have the same names and give the same p-values as micd's
#' functions, except where micd is wrong (see below). [pc()] and [skeleton()] recognise both versions and run them
#' natively. `pc(data, alpha = 0.01, na = "testwise")` chooses the right one.
#'
#' - `gaussCItwd()`: [gaussCItest()] on the correlations of these rows. `NA` if a variable is constant in them.
#' - `disCItwd()`: \eqn{G^2}{G^2} as in [disCItest()], with the levels that occur in these rows, and without a minimum number of rows. `NA` if x or y
#'   is constant in them; a constant member of S is left out.
#' - `mixCItwd()`: [mixCItest()] on these rows.
#'
#' With fewer than two such rows the answer is `NA`, which [pc()] treats according to `NAdelete`. Two warnings count
#' edges that were removed without evidence:
#' - `pcgpu_warning_too_few`: the edges removed on fewer than |S| + 4 rows;
#' - `pcgpu_warning_no_answer`: the edges removed on more rows because the answer was `NA`.
#'
#' # Assumptions
#'
#' Test-wise deletion is right in two cases:
#' - values are missing completely at random;
#' - given S, missingness of the values of a test depends on x alone or on y alone (directly or through its causes).
#'   Then x and y are independent given S among the remaining rows if they are so among all rows (Witte et al. 2022).
#'
#' It is wrong if, given S, missingness depends on both x and y, because a common effect of the two then selects the
#' rows. If values are missing at random given variables outside the test, multiple imputation ([gaussMItest()]) is
#' right, provided that the imputation model is.
#'
#' With many variables, few rows are complete in *all* of them. A matrix of *pairwise* correlations (`cor(use =
#' "pairwise.complete.obs")`) uses different rows for each entry. It need not be positive definite, has no single n, and
#' its partial correlations describe no set of rows. The tests here determine n, levels and degrees of freedom
#' separately for each test.
#'
#' # Where the answer is not micd's
#'
#' - If only one row is left, micd's `gaussCItwd()` stops with an error; here the answer is `NA`.
#' - micd's `disCItwd()` looks for constants in columns 1 and 2 of the data, whatever x and y are: if column 1 is
#'   constant, all its tests give `NA`. It stops if x, y or a member of S is constant in the remaining rows, or if no
#'   code is 0. If a middle level is lost, it leaves out rows with higher levels. Ours looks for constants in x and y,
#'   and its levels are those that occur.
#' - For `mixCItwd()` see [mixCItest()].
#'
#' @param x,y Numbers of the two variables (columns of the data), or their names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat The data, with observations in rows and `NA` for missing values:
#'   - for `gaussCItwd()` a matrix or data frame of numbers;
#'   - for `disCItwd()` a data frame of factors, logicals or characters, or `list(dm = , adaptDF = )`: a matrix of
#'     codes, and whether empty cells reduce the degrees of freedom (see [disCItest()]; `FALSE` by default);
#'   - for `mixCItwd()` a data frame of numbers and levels.
#' @return The p-value, one number between 0 and 1, or `NA`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with
#' incomplete cohort data. *Statistics in Medicine* 41(23), 4716-4743.
#'
#' R. Foraita, J. Friemel, K. Günther, T. Behrens, J. Bullerdiek, R. Nimzyk, W. Ahrens and V. Didelez (2020). Causal
#' discovery of gene regulation with incomplete data. *Journal of the Royal Statistical Society A* 183(4), 1747-1775.
#' @seealso [gaussMItest()] for multiple imputation.
#' @examples
#' air <- airquality[1:4] # Ozone and Solar.R have missing values
#' gaussCItwd("Ozone", "Wind", "Temp", air)
#' pc(air, alpha = 0.05, na = "testwise", numCores = 2)
#' @export
gaussCItwd <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$gaussCItwd)
}

#' @rdname gaussCItwd
#' @export
disCItwd <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$disCItwd)
}

#' @rdname gaussCItwd
#' @export
mixCItwd <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$mixCItwd)
}

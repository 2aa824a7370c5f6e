#' Test of zero partial correlation by Fisher's z
#'
#' Returns the p-value of the two-sided test that the partial correlation of two Gaussian variables given others is
#' zero. It is defined as in `pcalg::gaussCItest()`. [pc()] and [skeleton()] recognise either function and run it
#' natively.
#'
#' The partial correlation \eqn{r} is computed from `C` by recursion for up to one conditioning variable, and by a
#' pseudo-inverse from two on. It is limited to \eqn{\pm 0.9999999}{+-0.9999999}. The p-value is that of
#' \eqn{\sqrt{n - |S| - 3}\; \mathrm{atanh}(r)}{sqrt(n - |S| - 3) atanh(r)} as a standard normal variable. It is 1 when
#' \eqn{r} is not a number, as with `NA` in `C`, and when \eqn{n - |S| - 3 \le 0}{n - |S| - 3 <= 0}.
#'
#' With `"stable.fast"`, a search follows pcalg's C++ code, which transforms \eqn{|r|}; the R function transforms \eqn{r}. For
#' negative correlations the p-values therefore differ in the last digits. If `alpha` equals one of the p-values, the search may
#' keep an edge that it removes with an R function as the test, such as
#' `function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)`. With the other methods, the two agree to the last digit.
#'
#' @param x,y Numbers of the two variables (rows of `suffStat$C`), or their names if `C` has dimnames.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat `list(C = , n = )`: a correlation matrix and the number of observations; or any other result of
#'   [suff_gauss()]. `n` may also be a p x p matrix with the number of observations behind each correlation, as in
#'   summary statistics of several studies. A test then has the mean of the numbers of all pairs of its variables,
#'   without those that are `NaN`; it is `NA` if all are. Such searches run on the CPU, and only here, not in pcalg.
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' M. Kalisch and P. Buehlmann (2007). Estimating high-dimensional directed acyclic graphs with the PC-algorithm.
#' *Journal of Machine Learning Research* 8, 613-636.
#' @seealso [suff_gauss()] to make `suffStat` from data, [gaussCItwd()] and [gaussMItest()] for missing values,
#'   [cmiKnnCItest()] for other forms of dependence, [pc()].
#' @examples
#' set.seed(1)
#' x <- rnorm(100)
#' y <- x + rnorm(100)
#' z <- y + rnorm(100)
#'
#' suff <- suff_gauss(cbind(x, y, z))
#' gaussCItest(1, 3, NULL, suff) # dependent
#' gaussCItest(1, 3, 2, suff)    # independent given y
#' @export
gaussCItest <- function(x, y, S, suffStat) {
  if (missing(suffStat)) {
    check_given(
      list(suffStat = TRUE),
      list(suffStat = "pass list(C = cor(x), n = nrow(x)), or the result of suff_gauss().")
    )
  }
  if (!is.list(suffStat)) {
    check_suff_list(suffStat)
  }
  C <- suffStat$C
  n <- plain_integer64(suffStat$n, "suffStat$n")
  if (!is.matrix(C) || !is.double(C) || is.object(C) || nrow(C) != ncol(C)) {
    check_suff_list(suffStat)
    C <- check_cor_matrix(C, NROW(C))
  }
  if (is.matrix(n)) {
    at <- c(check_position(x, C, "x", 1L), check_position(y, C, "y", 1L), check_position(S, C, "S"))
    n <- check_sizes(n, ncol(C))[at, at]
    n <- mean(n[upper.tri(n)], na.rm = TRUE)
    if (is.nan(n)) {
      return(NA_real_)
    }
  }
  if (!is_number(n)) {
    abort_argument("suffStat$n", n, "use one number, the number of observations behind C.")
  }
  check_rust(rust_gauss_p_value(
    check_position(x, C, "x", 1L),
    check_position(y, C, "y", 1L),
    check_position(S, C, "S"),
    C,
    as.double(n)
  ))
}

# Refuses a test of a variable with itself. x and y are column numbers, and `given` is y as the user wrote it.
check_two <- function(x, y, given) {
  if (x == y) {
    abort_argument("y", given, "give two different variables.", is = paste0(describe(given), ", and so is `x`"))
  }
}

# Returns the variables of a test as column numbers of `data`: list(x, y, S). All must be different; `distinct`: also the
# members of S.
check_question <- function(x, y, S, data, distinct = FALSE) {
  given <- y
  x <- check_position(x, data, "x", 1L)
  y <- check_position(y, data, "y", 1L)
  S <- check_position(S, data, "S")
  check_two(x, y, given)
  if (x %in% S || y %in% S || distinct && anyDuplicated(S)) {
    abort_argument(
      "S",
      S,
      "`x`, `y` and the members of `S` must be different variables.",
      is = sprintf("%s, with x = %d and y = %d", describe(S), x, y)
    )
  }
  list(x = x, y = y, S = S)
}

# Returns variables as column numbers of a matrix; looks up names.
check_position <- function(at, C, argument, size = length(at)) {
  number <- if (is.character(at)) {
    match(at, colnames(C))
  } else if (is.null(at)) {
    integer()
  } else if (is.numeric(at)) {
    at
  }
  if (
    is.null(number) ||
      length(number) != size ||
      anyNA(number) ||
      any(number < 1 | number > ncol(C) | number != floor(number))
  ) {
    what <- if (argument == "S") {
      "names of conditioning variables, or numbers"
    } else {
      "the name of one variable, or a number"
    }
    hint <- sprintf("use %s from 1 to %d.", what, ncol(C))
    if (is.character(at) && length(at) == size && !is.null(colnames(C))) {
      abort_unknown(argument, at, unique(at[is.na(number)]), colnames(C), hint)
    }
    abort_argument(argument, at, hint)
  }
  as.integer(number)
}

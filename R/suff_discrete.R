#' Sufficient statistic for discrete data
#'
#' Codes the levels of discrete variables as 0, 1, ... for [disCItest()], [binCItest()] and [chi2CItest()], with checks of
#' the data first.
#'
#' A factor has the levels that it declares, whether they occur or not: a level that does not raises the degrees of
#' freedom, in pcalg and in bnlearn too. Use [droplevels()] first if that is not meant. Logical, character and whole-numbered
#' columns have the values that occur, in ascending order. `NA` and `NaN` are missing values.
#'
#' @param x Observations in rows, variables in columns: a data frame or matrix of factors, logicals, characters or whole
#'   numbers (also bit64's `integer64`). Cut other numbers into classes first, see [cut()]. Or a contingency table of at least
#'   two dimensions, as [table()] and [xtabs()] make them: its counts stand for that many observations, and its dimensions are
#'   the variables. A Bioconductor `ExpressionSet` or `SummarizedExperiment` is read with its samples as rows.
#' @param na What to do about missing values: `"error"` (the default), or `"pairwise"`: every test leaves out the
#'   observations that lack one of its own variables. NaN is missing, in factors of numbers and in tables, too; a level that [addNA()]
#'   has made is a level.
#' @param adaptDF Are empty cells to lower the degrees of freedom? See [disCItest()] and [chi2CItest()].
#' @return A list of
#' \describe{
#'   \item{`dm`}{the codes, an integer matrix of the shape of `x` with its column names;}
#'   \item{`nlev`}{the numbers of levels of the columns, at least 2;}
#'   \item{`adaptDF`}{the argument;}
#'   \item{`levels`}{a list with the names of the levels by column: code k stands for `levels[[column]][k + 1]`;}
#'   \item{`na`}{the argument.}
#' }
#' A column that is constant gets a warning of class `pcgpu_warning_constant`: it is independent of everything.
#' @examples
#' suff <- suff_discrete(Titanic) # a contingency table: 2,201 people, four variables
#' suff$nlev
#' fit <- pc(suff, indepTest = chi2CItest, alpha = 0.01, labels = colnames(suff$dm), numCores = 2)
#' plot_cpdag(fit)
#'
#' # Missing values
#' answers <- data.frame(a = c(TRUE, NA, FALSE, TRUE), b = factor(c("x", "y", "x", NA)))
#' suff_discrete(answers, na = "pairwise")$dm
#' @export
suff_discrete <- function(x, na = c("error", "pairwise"), adaptDF = FALSE) {
  na <- check_choice(na, c("error", "pairwise"), "na")
  adaptDF <- check_flag(adaptDF, "adaptDF")
  x <- read_data(x, "x", counts = TRUE)
  if (!is.data.frame(x) && !(is.matrix(x) && is.atomic(x))) {
    abort_argument("x", x, "give a data frame or matrix, observations in rows, or a contingency table.")
  }
  tell_if_turned(x, "x")
  if (is.matrix(x)) {
    x <- as.data.frame(x, optional = is.null(colnames(x)))
    names(x) <- if (all(nzchar(names(x)))) names(x)
  }
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("x", x, "give at least one row and two columns.")
  }
  discrete <- vapply(x, is_discrete, NA)
  if (!all(discrete)) {
    abort_argument("x", x, "make factors of them, for instance by cut(), or drop them.",
      is = paste("neither factor, logical, character nor whole numbers in", column_names(x, !discrete))
    )
  }
  missing <- vapply(x, anyNA, NA)
  if (na == "error" && any(missing)) {
    abort_argument("x", x, paste(
      "drop the rows or fill the values in, or give na = \"pairwise\"",
      "(each test leaves out the rows that lack one of its variables)."
    ), has = paste("missing values in", column_names(x, missing)))
  }
  factors <- lapply(x, exact_factor)
  levels <- lapply(factors, levels)
  many <- lengths(levels) > 65535L
  if (any(many)) {
    abort_argument("x", x, "group levels, or drop these columns.",
      has = paste("more than 65535 levels in", column_names(x, many))
    )
  }
  codes <- vapply(factors, function(column) as.integer(column) - 1L, integer(nrow(x)))
  dm <- matrix(codes, nrow(x), dimnames = list(NULL, names(x)))
  warn_constant(dm, x)
  # A constant has one level; two keep the degrees of freedom above 0.
  list(dm = dm, nlev = pmax(unname(lengths(levels)), 2L), adaptDF = adaptDF, levels = levels, na = na)
}

is_discrete <- function(column) {
  if (!is.null(dim(column))) {
    return(FALSE)
  }
  if (is.factor(column) || is.logical(column) || is.character(column) || is.integer(column)) {
    return(TRUE)
  }
  is.numeric(column) && is.null(attr(column, "class")) && all(is.na(column) | (is.finite(column) & column == trunc(column)))
}

warn_constant <- function(dm, x) {
  # Of no value at all the least is Inf and the largest -Inf.
  constant <- suppressWarnings(vapply(seq_len(ncol(dm)), function(j) {
    min(dm[, j], na.rm = TRUE) >= max(dm[, j], na.rm = TRUE)
  }, NA))
  if (any(constant)) {
    warn("constant", paste0(
      "constant in ", column_names(x, constant), ": a constant is independent of everything and has no edge"
    ), columns = unname(which(constant)))
  }
}

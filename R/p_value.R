#' The p-value of two variables
#'
#' Returns the largest p-value of the tests of a pair of variables, as in the slot `pMax` of pcalg's class. For a pair that is not adjacent, this is the
#' p-value of the test that separated it. For an edge, it is the p-value of the test that came closest to separating it.
#'
#' A result of class [pcCompact][pcCompact-class] does not store the p-values of pairs that level 0 removed, which are nearly all pairs. Give `suffStat` to
#' repeat their tests.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()] or [rfci()] (`fciPlus()` stores no p-values). Tests of the
#'   possible-d-sep phase count. As in pcalg, tests that `rfci()` makes after the skeleton do not.
#' @param a,b Two variables, by name or number; or several for `a` and the same number for `b`.
#' @param suffStat The sufficient statistic of the search. Needed only for a `pcCompact` and pairs that level 0 removed.
#' @param indepTest The test of the search. Needed only with `suffStat`, if the test was an R function.
#' @return A number for each pair; `-Inf` (`-1` with `"stable.fast"`) if it was not tested. If the p-value is not known and
#'   `suffStat` is not given, the call ends with an error of class `pcgpu_error_level0`.
#' @seealso [sepset()] for the separating set of a pair, [edge_table()] for the table of all edges, [q_values()].
#' @examples
#' x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
#' suff <- suff_gauss(x)
#' fit <- pc(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1)
#' p_value(fit, "a", c("b", "c"))
#' compact <- pc(
#'   suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, result = "compact"
#' )
#' p_value(compact, "a", c("b", "c"), suffStat = suff)
#' @export
methods::setGeneric("p_value", function(x, a, b, suffStat = NULL, indepTest = NULL) standardGeneric("p_value"))

#' @rdname p_value
methods::setMethod("p_value", "ANY", function(x, a, b, suffStat = NULL, indepTest = NULL) {
  at <- pairs_at(a, b, labels_of_kept(x))
  if (is_fci(x)) {
    return(p_of_pag(x, at$a, at$b))
  }
  # "stable.fast" fills only the upper triangle.
  attr(x, "pMax")[cbind(pmin(at$a, at$b), pmax(at$a, at$b))]
})

#' @rdname p_value
methods::setMethod("p_value", "pcCompact", function(x, a, b, suffStat = NULL, indepTest = NULL) {
  check_object(x)
  at <- pairs_at(a, b, x@labels)
  low <- pmin(at$a, at$b)
  high <- pmax(at$a, at$b)
  value <- p_at(x@edges, entry_of(x@edges, low, high))
  # The p-value of a gap may be NaN.
  known <- !is.na(value)
  for (rows in list(list(x@sets, low, high), list(x@sets, high, low), list(x@gaps, low, high))) {
    entry <- do.call(entry_of, rows)
    found <- !known & !is.na(entry)
    value[found] <- p_at(rows[[1L]], entry[found])
    known <- known | found & (is.nan(value) | !is.na(value))
  }
  if (!all(known)) {
    first <- which(!known)[1L]
    if (is.null(suffStat)) {
      abort("level0", sprintf(
        "the p-value of %s and %s is not stored, because level 0 removed the pair: give `suffStat`, the sufficient statistic of the search.",
        x@labels[low[first]], x@labels[high[first]]
      ), a = low[first], b = high[first])
    }
    value[!known] <- at_level0(x, low[!known], high[!known], suffStat, indepTest)
  }
  value
})

# Returns the test that made the result: its own, or the one given.
test_of <- function(x, indepTest) {
  if (is.null(indepTest) && !nzchar(x@test)) {
    abort_argument("indepTest", NULL, "give the test of the search, an R function that the result does not store.", is = "missing")
  }
  indepTest %||% get(x@test)
}

# Returns the p-values of pairs that level 0 removed. A test without an answer removes its pair, as p = 1 does.
at_level0 <- function(x, low, high, suffStat, indepTest) {
  test <- test_of(x, indepTest)
  check_stat_of_result(suffStat, x@labels)
  if (is_gauss_test(test)) {
    kept <- is_kept(suffStat)
    # Only the correlations of these variables are computed.
    columns <- if (kept) sort(unique(c(low, high))) else seq_along(x@labels)
    C <- if (kept) correlations_of_kept(suffStat, columns) else suffStat$C
    r <- C[cbind(match(low, columns), match(high, columns))]
    # pcalg's C++ uses absolute values, which changes the last digits.
    if (x@method == "stable.fast") r <- abs(r)
    ask <- function(r) test(1L, 2L, integer(0), list(C = matrix(c(1, r, r, 1), 2L), n = suffStat$n))
    value <- vapply(r, function(r) test_value(ask(r)), 0)
  } else {
    value <- vapply(seq_along(low), function(i) test_value(test(low[i], high[i], integer(0), suffStat)), 0)
  }
  ifelse(is.na(value), 1, value)
}

# Refuses a sufficient statistic with another number of variables than the result, or with its variables in another order.
check_stat_of_result <- function(suffStat, labels) {
  p <- length(labels)
  check_against(data_names(suffStat, p), labels, "suffStat", "x", tell = FALSE)
  if (is_kept(suffStat)) {
    return(check_kept_data(suffStat$data, p))
  }
  table <- if (is.list(suffStat)) suffStat$C %||% suffStat$dm %||% suffStat$data
  if (length(dim(table)) == 2L && ncol(table) != p) {
    abort_argument("suffStat", suffStat, sprintf("give the sufficient statistic of the search, which has %d variables.", p),
      is = sprintf("for %d variables", ncol(table))
    )
  }
}

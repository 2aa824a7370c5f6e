#' The p-value of two variables
#'
#' The largest p-value of the tests of a pair of variables, as in the slot `pMax` of pcalg's class. For a pair that is not adjacent, it is
#' the p-value of the test that separated it; for an edge, that of the test that came closest to separating it.
#'
#' A result of class [pcCompact][pcCompact-class] does not hold the p-values of pairs that level 0 removed, which are nearly all pairs:
#' give `suffStat`, and the test is made again.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()] or [rfci()] (`fciPlus()` keeps no p-values). Tests of the possible-d-sep phase count; those that `rfci()` makes after the
#'   skeleton do not, as in pcalg.
#' @param a,b Two variables, by name or number; or as many for `a` as for `b`.
#' @param suffStat The sufficient statistic of the search. Only needed for a `pcCompact`, and pairs that level 0 removed.
#' @param indepTest The test of the search; only needed with `suffStat` where that was an R function.
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
  # "stable.fast" fills the upper triangle alone.
  attr(x, "pMax")[cbind(pmin(at$a, at$b), pmax(at$a, at$b))]
})

#' @rdname p_value
methods::setMethod("p_value", "pcCompact", function(x, a, b, suffStat = NULL, indepTest = NULL) {
  check_object(x)
  at <- pairs_at(a, b, x@labels)
  low <- pmin(at$a, at$b)
  high <- pmax(at$a, at$b)
  value <- p_at(x@edges, entry_of(x@edges, low, high))
  # A gap may have the p-value NaN.
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
        "the p-value of %s and %s is not kept, as level 0 removed the pair: give `suffStat`, the sufficient statistic of the search.",
        x@labels[low[first]], x@labels[high[first]]
      ), a = low[first], b = high[first])
    }
    value[!known] <- at_level0(x, low[!known], high[!known], suffStat, indepTest)
  }
  value
})

# The test that made the result: its own, or the one that is given.
test_of <- function(x, indepTest) {
  if (is.null(indepTest) && !nzchar(x@test)) {
    abort_argument("indepTest", NULL, "give the test, too: that of the search was an R function, which is not kept.", is = "missing")
  }
  indepTest %||% get(x@test)
}

# The p-values of pairs that level 0 removed. One without an answer removes its pair as p = 1 does.
at_level0 <- function(x, low, high, suffStat, indepTest) {
  test <- test_of(x, indepTest)
  check_stat_of_result(suffStat, x@labels)
  if (is_gauss_test(test)) {
    kept <- is_kept(suffStat)
    # The correlations of these variables alone.
    columns <- if (kept) sort(unique(c(low, high))) else seq_along(x@labels)
    C <- if (kept) correlations_of_kept(suffStat, columns) else suffStat$C
    r <- C[cbind(match(low, columns), match(high, columns))]
    # pcalg's C++ takes their size alone, which changes the last digits.
    if (x@method == "stable.fast") r <- abs(r)
    ask <- function(r) test(1L, 2L, integer(0), list(C = matrix(c(1, r, r, 1), 2L), n = suffStat$n))
    value <- vapply(r, function(r) test_value(ask(r)), 0)
  } else {
    value <- vapply(seq_along(low), function(i) test_value(test(low[i], high[i], integer(0), suffStat)), 0)
  }
  ifelse(is.na(value), 1, value)
}

# Refuses a sufficient statistic that is of another number of variables than the result, or has them in another order.
check_stat_of_result <- function(suffStat, labels) {
  p <- length(labels)
  check_against(data_names(suffStat, p), labels, "suffStat", "x", tell = FALSE)
  if (is_kept(suffStat)) {
    return(check_kept_data(suffStat$data, p))
  }
  table <- if (is.list(suffStat)) suffStat$C %||% suffStat$dm %||% suffStat$data
  if (length(dim(table)) == 2L && ncol(table) != p) {
    abort_argument("suffStat", suffStat, sprintf("give that of the search, whose result has %d variables.", p),
      is = sprintf("for %d variables", ncol(table))
    )
  }
}

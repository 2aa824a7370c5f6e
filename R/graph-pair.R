#' The separating set of two variables
#'
#' Returns the separating set of two variables without an edge: the variables given which a test found them independent.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()] or [rfci()] (`fciPlus()`
#'   stores no sets).
#' @param a,b Two variables, by name or number.
#' @return The names of the variables in the set: `character(0)` if `a` and `b` are independent given nothing, `NULL` if
#'   there is no such set, because the two are adjacent or were never tested. If the conservative or the majority rule
#'   left two sets, the one in `sepset[[a]][[b]]` of pcalg's class.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [p_value()] of the pair, [edge_table()], [neighbours()]
#' @examples
#' x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1)
#' sepset(fit, "a", "b")
#' sepset(fit, "a", "c")
#' @export
methods::setGeneric("sepset", function(x, a, b) standardGeneric("sepset"))

# For a result of one of pcalg's classes, which may not be defined here.
#' @rdname sepset
methods::setMethod("sepset", "ANY", function(x, a, b) {
  labels <- labels_of_kept(x)
  at <- one_pair(a, b, labels)
  sets <- attr(x, "sepset")
  broken <- !is.list(sets) ||
    length(sets) != length(labels) ||
    !all(vapply(sets[at], function(row) is.list(row) && length(row) == length(labels), NA))
  if (broken) {
    check_object(x, only = "sepset")
  }
  set <- sets[[at[1L]]][[at[2L]]] %||% sets[[at[2L]]][[at[1L]]]
  if (!is.null(set) && !is_whole(set, 1, length(labels))) {
    abort_argument(
      "x",
      x,
      "give the result of pc() or skeleton() unchanged.",
      has = sprintf("an invalid separating set of %s and %s (%s)", labels[at[1L]], labels[at[2L]], describe(set))
    )
  }
  if (!is.null(set)) labels[set]
})

#' @rdname sepset
methods::setMethod("sepset", "pcCompact", function(x, a, b) {
  check_object(x)
  at <- one_pair(a, b, x@labels)
  entry <- entry_of(x@sets, at, rev(at))
  entry <- entry[!is.na(entry)][1L]
  if (is.na(entry)) {
    # If the pair is neither adjacent nor a gap, level 0 removed it.
    other <- c(entry_of(x@edges, min(at), max(at)), entry_of(x@gaps, min(at), max(at)))
    return(if (all(is.na(other))) character(0))
  }
  x@labels[set_at(x, entry)]
})

# Returns the variables of a result that has separating sets and p-values.
labels_of_kept <- function(x) {
  if (!is_fci(x)) {
    check_result(x, only = c("pMax", "nodes"))
    return(attr(x, "graph")@nodes)
  }
  check_object(x, only = c("square", "pMax"))
  if (!length(attr(x, "sepset"))) {
    abort_argument(
      "x",
      x,
      "give a result of fci() or rfci().",
      is = "a result of fciPlus(), which stores neither separating sets nor p-values"
    )
  }
  labels_of_pag(attr(x, "amat"))
}

# Returns the numbers of two different variables.
one_pair <- function(a, b, labels) {
  at <- pairs_at(a, b, labels)
  if (length(at$a) != 1L) {
    argument <- if (length(a) == 1L) "b" else "a"
    abort_argument(argument, if (argument == "a") a else b, "give one variable.")
  }
  c(at$a, at$b)
}

# Returns the numbers of pairs of different variables.
pairs_at <- function(a, b, labels) {
  at <- list(a = variables_at(a, labels, "a"), b = variables_at(b, labels, "b"))
  size <- max(lengths(at))
  if (any(lengths(at) != 1L & lengths(at) != size)) {
    abort_argument(
      "b",
      b,
      "give one variable, or one for each of `a`.",
      needs = sprintf("1 or %d variables, as many as `a`, not %d", length(at$a), length(at$b))
    )
  }
  at <- lapply(at, rep_len, size)
  if (any(at$a == at$b)) {
    abort_argument("b", b, "give a variable other than `a`.")
  }
  at
}

#' The p-value of two variables
#'
#' Returns the largest p-value of the tests of a pair of variables, as in the slot `pMax` of pcalg's class. For a pair
#' that is not adjacent, this is the p-value of the test that separated it. For an edge, it is the p-value of the test
#' that came closest to separating it.
#'
#' A result of class [pcCompact][pcCompact-class] does not store the p-values of pairs that level 0 removed, which are
#' nearly all pairs. Give `suffStat` to repeat their tests.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()] or [rfci()] (`fciPlus()`
#'   stores no p-values). Tests of the possible-d-sep phase count. As in pcalg, tests that `rfci()` makes after the
#'   skeleton do not.
#' @param a,b Two variables, by name or number; or several for `a` and the same number for `b`.
#' @param suffStat The sufficient statistic of the search. Needed only for a `pcCompact` and pairs that level 0 removed.
#' @param indepTest The test of the search. Needed only with `suffStat`, if the test was an R function.
#' @return A number for each pair; `-Inf` (`-1` with `"stable.fast"`) if it was not tested. If the p-value is not known
#'   and `suffStat` is not given, the call ends with an error of class `pcgpu_error_level0`.
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
      abort(
        "level0",
        sprintf(
          paste(
            "The p-value of %s and %s is not stored, because level 0 removed the pair: give `suffStat`, the sufficient",
            "statistic of the search."
          ),
          x@labels[low[first]],
          x@labels[high[first]]
        ),
        a = low[first],
        b = high[first]
      )
    }
    value[!known] <- at_level0(x, low[!known], high[!known], suffStat, indepTest)
  }
  value
})

# Returns the test that made the result: its own, or the one given.
test_of <- function(x, indepTest) {
  if (is.null(indepTest) && !nzchar(x@test)) {
    abort_argument(
      "indepTest",
      NULL,
      "give the test of the search, an R function that the result does not store.",
      is = "missing"
    )
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
    if (x@method == "stable.fast") {
      r <- abs(r)
    }
    ask <- function(r) test(1L, 2L, integer(0), list(C = matrix(c(1, r, r, 1), 2L), n = suffStat$n))
    value <- vapply(r, function(r) test_value(ask(r)), 0)
  } else {
    value <- vapply(seq_along(low), function(i) test_value(test(low[i], high[i], integer(0), suffStat)), 0)
  }
  ifelse(is.na(value), 1, value)
}

# Refuses a sufficient statistic with another number of variables than the result, or with its variables in another
# order.
check_stat_of_result <- function(suffStat, labels) {
  p <- length(labels)
  check_against(data_names(suffStat, p), labels, "suffStat", "x", tell = FALSE)
  if (is_kept(suffStat)) {
    return(check_kept_data(suffStat$data, p))
  }
  table <- if (is.list(suffStat)) suffStat$C %||% suffStat$dm %||% suffStat$data
  if (length(dim(table)) == 2L && ncol(table) != p) {
    abort_argument(
      "suffStat",
      suffStat,
      sprintf("give the sufficient statistic of the search, which has %d variables.", p),
      is = sprintf("for %d variables", ncol(table))
    )
  }
}

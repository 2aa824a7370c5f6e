#' The separating set of two variables
#'
#' Returns the separating set of two variables without an edge: the variables given which a test found them independent.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()] or [rfci()] (`fciPlus()` stores no sets).
#' @param a,b Two variables, by name or number.
#' @return The names of the variables in the set: `character(0)` if `a` and `b` are independent given nothing, `NULL` if there is no such set, because the two
#'   are adjacent or were never tested. If the conservative or the majority rule left two sets, the one in `sepset[[a]][[b]]` of pcalg's class.
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
  broken <- !is.list(sets) || length(sets) != length(labels) || !all(vapply(sets[at], function(row) is.list(row) && length(row) == length(labels), NA))
  if (broken) check_object(x, only = "sepset")
  set <- sets[[at[1L]]][[at[2L]]] %||% sets[[at[2L]]][[at[1L]]]
  if (!is.null(set) && !is_whole(set, 1, length(labels))) {
    abort_argument("x", x, "give the result of pc() or skeleton() unchanged.", has = sprintf("an invalid separating set of %s and %s (%s)", labels[at[1L]], labels[at[2L]], describe(set)))
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
    abort_argument("x", x, "give a result of fci() or rfci().", is = "a result of fciPlus(), which stores neither separating sets nor p-values")
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
    abort_argument("b", b, "give one variable, or one for each of `a`.", needs = sprintf("1 or %d variables, as many as `a`, not %d", length(at$a), length(at$b)))
  }
  at <- lapply(at, rep_len, size)
  if (any(at$a == at$b)) {
    abort_argument("b", b, "give a variable other than `a`.")
  }
  at
}

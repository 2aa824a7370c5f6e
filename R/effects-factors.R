# Factors in the data of causal_effects() and cstar(): which columns have numbers for their levels, and which have none.

# Returns a data frame whose columns of two levels are 0 and 1, and whose ordered factors are ranks from 1; a message
# says so. unread: columns whose values nobody reads, where levels without an order do no harm. hint: the remedy for
# other columns.
levels_as_numbers <- function(data, unread, hint = other_columns) {
  if (is.matrix(data) && is.logical(data)) {
    data <- as.data.frame(data, optional = is.null(colnames(data)))
  }
  if (!is.data.frame(data)) {
    return(data)
  }
  is_coded <- !vapply(data, is_number_column, NA)
  if (!any(is_coded)) {
    return(data)
  }
  factors <- lapply(data[is_coded], function(column) droplevels(if (is.factor(column)) column else factor(column)))
  two <- vapply(factors, nlevels, 1L) <= 2L
  ordered <- vapply(factors, is.ordered, NA) & !two
  bad <- replace(is_coded, which(is_coded), !two & !ordered) & !unread
  if (any(bad)) {
    refuse_levels(data, bad, hint)
  }
  data[is_coded] <- Map(function(column, two) as.integer(column) - two, factors, two)
  tell_coded(factors[vapply(factors, nlevels, 1L) == 2L], "Columns with two levels are 0 and 1", 0L)
  tell_coded(factors[ordered], "Ordered factors are ranks", 1L)
  data
}

tell_coded <- function(factors, what, first) {
  if (!length(factors)) {
    return(invisible())
  }
  codes <- function(column) enumerate(paste(levels(column), "=", seq_len(nlevels(column)) - 1L + first), most = 10L)
  said <- sprintf("%s (%s)", names(factors) %||% seq_along(factors), vapply(factors, codes, ""))
  tell("coded", sprintf("%s: %s.", what, enumerate(said)), levels = lapply(factors, levels))
}

other_columns <- paste(
  "merge the levels to two, or put them into order with ordered(). Or name `x` and `y`, so that the column is none of",
  "them and no neighbour of `x`."
)

refuse_levels <- function(data, bad, hint) {
  has <- sprintf("more than two levels without an order, which have no single effect, in %s", column_names(data, bad))
  abort_argument("data", data, hint, has = has)
}

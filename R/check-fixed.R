# Checks `fixedGaps` or `fixedEdges`, symmetric logical matrices. A pair may be in both; as in pcalg it is then a gap.
# `others`: further names of the variables, by the argument that has them.
check_pairs <- function(pairs, argument, labels, others) {
  p <- length(labels)
  if (is.null(pairs)) {
    return(NULL)
  }
  want <- sprintf("use a symmetric %d x %d logical matrix, or NULL.", p, p)
  if (isS4(pairs) && methods::is(pairs, "Matrix")) {
    pairs <- as.matrix(pairs)
  }
  if (!identical(dim(pairs), c(p, p))) {
    abort_argument(argument, pairs, want, pcalg = sprintf("Dimensions of the dataset and %s do not agree.", argument))
  }
  if (!is.matrix(pairs) || !(is.logical(pairs) || is.numeric(pairs))) {
    abort_argument(argument, pairs, want)
  }
  if (anyNA(pairs)) {
    abort_argument(argument, pairs, want, has = sprintf("NA in %s", counted(sum(is.na(pairs)), "entry", "entries")))
  }
  check_matrix_names(pairs, labels, argument)
  for (by in names(others)) {
    check_against(own_names(pairs, p), others[[by]], argument, by, are_numbers(labels))
  }
  # Numbers other than 0 are TRUE, as in pcalg.
  pairs <- matrix(as.logical(pairs), p, p)
  if (!identical(pairs, t(pairs))) {
    abort_argument(
      argument,
      pairs,
      "make it symmetric, for instance with `m | t(m)`.",
      is = sprintf("not symmetric for %s", counted(sum(pairs != t(pairs)) / 2L, "pair")),
      pcalg = paste(argument, "must be symmetric")
    )
  }
  pairs
}

# Background knowledge: `fixedGaps` and `fixedEdges`, symmetric logical matrices. A pair may be in both; as in pcalg
# it is then a gap. `others`: further names of the variables, by the argument that has them.
check_pairs <- function(pairs, argument, labels, others) {
  p <- length(labels)
  if (is.null(pairs)) {
    return(NULL)
  }
  want <- sprintf("give NULL or a symmetric %d x %d logical matrix.", p, p)
  if (isS4(pairs) && methods::is(pairs, "Matrix")) {
    pairs <- as.matrix(pairs)
  }
  if (!identical(dim(pairs), c(p, p))) {
    abort_argument(argument, pairs, want,
      pcalg = sprintf("Dimensions of the dataset and %s do not agree.", argument)
    )
  }
  if (!is.matrix(pairs) || !(is.logical(pairs) || is.numeric(pairs))) {
    abort_argument(argument, pairs, want)
  }
  if (anyNA(pairs)) {
    abort_argument(argument, pairs, want, has = sprintf("NA at %d places", sum(is.na(pairs))))
  }
  check_matrix_names(pairs, labels, argument)
  for (by in names(others)) check_against(own_names(pairs, p), others[[by]], argument, by, are_numbers(labels))
  # Numbers other than 0 are TRUE, as in pcalg.
  pairs <- matrix(as.logical(pairs), p, p)
  if (!identical(pairs, t(pairs))) {
    abort_argument(argument, pairs, "mark each pair on both sides, for instance by `m | t(m)`.",
      is = sprintf("not symmetric at %d pairs", sum(pairs != t(pairs)) / 2L),
      pcalg = paste(argument, "must be symmetric")
    )
  }
  pairs
}

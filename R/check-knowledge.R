# Background knowledge: `fixedGaps` and `fixedEdges`, symmetric logical matrices. A pair may be in both; as in pcalg
# it is then a gap.
check_pairs <- function(pairs, argument, p) {
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
    abort_argument(argument, pairs, want, shown = sprintf("NA at %d places", sum(is.na(pairs))))
  }
  # 0 and 1 for FALSE and TRUE work in pcalg, so they work here; other numbers are most likely a mistake.
  if (is.numeric(pairs) && !all(pairs == 0 | pairs == 1)) {
    abort_argument(argument, pairs, want)
  }
  pairs <- matrix(as.logical(pairs), p, p)
  if (!identical(pairs, t(pairs))) {
    abort_argument(argument, pairs, "mark each pair on both sides, for instance by `m | t(m)`.",
      shown = sprintf("not symmetric at %d pairs", sum(pairs != t(pairs)) / 2L),
      pcalg = paste(argument, "must be symmetric")
    )
  }
  pairs
}

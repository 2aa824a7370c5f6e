# Compares answers of searches. Parts that are identical are not compared element by element, which takes seconds from
# 2,000 variables. Parts of another package may hold the same by other types.

same_sepsets <- function(a, b) {
  flat <- function(sepset) unlist(sepset, recursive = FALSE, use.names = FALSE)
  a <- flat(a)
  b <- flat(b)
  # No set and the empty set are two things.
  identical(vapply(a, is.null, NA), vapply(b, is.null, NA)) &&
    identical(lengths(a), lengths(b)) &&
    identical(as.integer(unlist(a)), as.integer(unlist(b)))
}

same_p_values <- function(a, b, tolerance = 1e-9) {
  finite <- is.finite(a) & is.finite(b)
  identical(is.finite(a), is.finite(b)) &&
    all(a[!finite] == b[!finite] | (is.na(a[!finite]) & is.na(b[!finite]))) &&
    all(abs(a[finite] - b[finite]) <= tolerance * pmax(abs(a[finite]), abs(b[finite])))
}

# Returns arrows as "from to mark", in an order that does not depend on the edge lists.
arrows <- function(graph) {
  amat <- unname(methods::as(graph, "matrix"))
  at <- which(amat != 0)
  cbind(at, amat[at])
}

# Returns whether a field of two answers, a slot of their class, is the same. Counts are exact.
same_field <- function(name, ours, theirs) {
  identical(ours, theirs) ||
    switch(
      name,
      graph = identical(arrows(ours), arrows(theirs)),
      sepset = same_sepsets(ours, theirs),
      n.edgetests = ,
      max.ord = identical(as.double(ours), as.double(theirs)),
      pMax = same_p_values(ours, theirs),
      isTRUE(all.equal(ours, theirs, tolerance = 1e-9, check.attributes = FALSE))
    )
}

# Returns which of some fields differ, as text.
differences <- function(ours, theirs, fields = c("graph", "sepset", "n.edgetests", "max.ord", "pMax")) {
  same <- vapply(fields, function(name) same_field(name, methods::slot(ours, name), methods::slot(theirs, name)), NA)
  paste(fields[!same], collapse = ", ")
}

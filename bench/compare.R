# Compares two pcAlgo objects. Returns "" or what differs. Parts that are identical are not compared element by element,
# which takes seconds from 2,000 variables. Parts of another package may hold the same by other types.

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

differences <- function(ours, theirs) {
  same <- c(
    "graph" = identical(ours@graph, theirs@graph) || identical(arrows(ours@graph), arrows(theirs@graph)),
    "sepset" = identical(ours@sepset, theirs@sepset) || same_sepsets(ours@sepset, theirs@sepset),
    "n.edgetests" = identical(as.double(ours@n.edgetests), as.double(theirs@n.edgetests)),
    "max.ord" = ours@max.ord == theirs@max.ord,
    "pMax" = identical(ours@pMax, theirs@pMax) || same_p_values(ours@pMax, theirs@pMax)
  )
  paste(names(same)[!same], collapse = ", ")
}

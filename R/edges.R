# Labels, neighbour lists and weights of whatever stands for a graph here.
edges_of <- function(x) {
  if (is_result(x)) {
    return(edges_of(attr(x, "graph")))
  }
  if (methods::is(x, "graph")) {
    listed <- edges_of_graph(x)
    if (anyNA(unlist(listed$weights, use.names = FALSE))) {
      abort_argument("x", x, "give every edge a weight.", is = "a graph with missing weights (NA)")
    }
    return(listed)
  }
  if (is.matrix(x) && nrow(x) == ncol(x) && (is.numeric(x) || is.logical(x))) {
    return(edges_of_matrix(x))
  }
  abort_argument("x", x, "give a result of pc() or skeleton(), a graph, or an adjacency matrix.")
}

# An adjacency matrix as as(graph, "matrix") has it, [i, j] != 0 for i -> j, or as pcalg's "amat" codes a CPDAG, which
# is the transpose and says so in an attribute.
edges_of_matrix <- function(m) {
  type <- attr(m, "type") %||% ""
  if (type %in% c("pag", "amat.pag")) {
    abort_argument("x", m, "give the adjacency matrix of a CPDAG.", is = "the adjacency matrix of a PAG")
  }
  if (anyNA(m)) {
    missing <- which(is.na(m), arr.ind = TRUE)
    abort_argument("x", m, "give 0 where there is no edge.", is = sprintf(
      "%s with %d missing values, the first at [%d, %d]", describe(m), nrow(missing), missing[1L, 1L], missing[1L, 2L]
    ))
  }
  labels <- colnames(m) %||% rownames(m) %||% as.character(seq_len(ncol(m)))
  m <- matrix(as.double(m), nrow(m))
  if (!type %in% c("cpdag", "amat.cpdag")) {
    m <- t(m)
  }
  # Columns are now the heads of pcalg's coding: m[j, i] != 0 for i -> j.
  edges <- lapply(seq_len(ncol(m)), function(i) setdiff(which(m[, i] != 0), i))
  list(labels = labels, edges = edges, weights = lapply(seq_along(edges), function(i) m[edges[[i]], i]))
}

#' Convert a result to igraph
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], or a [graph::graphNEL-class].
#' @return A directed igraph graph. Vertices have the labels as `name`. An undirected edge becomes two arcs, one each
#'   way. The edge attribute `mark` is 1, or 2 for an orientation in conflict (`solve.confl = TRUE`).
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' as_igraph(pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2))
#' @export
as_igraph <- function(x) {
  listed <- if (is_compact(x)) c(list(labels = x@labels), compact_arcs(x)) else edges_of(x)
  need_package("igraph", "as_igraph() makes a graph of the package igraph")
  graph <- igraph::make_empty_graph(length(listed$labels), directed = TRUE)
  graph <- igraph::set_vertex_attr(graph, "name", value = listed$labels)
  if (!is_compact(x)) {
    listed$from <- rep.int(seq_along(listed$edges), lengths(listed$edges))
    listed$to <- as.integer(unlist(listed$edges, use.names = FALSE))
    listed$mark <- if (is.null(listed$weights)) rep.int(1, length(listed$to)) else unlist(listed$weights)
  }
  igraph::add_edges(graph, rbind(listed$from, listed$to), attr = list(mark = listed$mark))
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcCompact <- function(x, ...) as_igraph(x)

#' @exportS3Method igraph::as.igraph
as.igraph.pcAlgo <- function(x, ...) as_igraph(x)

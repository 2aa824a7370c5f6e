#' Convert a result to igraph and tidygraph
#'
#' `igraph::as.igraph()` and `tidygraph::as_tbl_graph()` of a result give the same graph; ggraph draws either.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()]; of [fci()], [rfci()] or [fciPlus()]; a graph of [random_dag()] or [cpdag_of()]; a result of [stability()] (its averaged graph); or a [graph::graphNEL-class] or an
#'   adjacency matrix.
#' @return A directed igraph graph. Vertices have the labels as `name`. An undirected edge becomes two arcs, one each
#'   way. Edge attributes are `mark`, which is 1, or 2 for an orientation in conflict (`solve.confl = TRUE`); `kind`, which is
#'   `"-->"`, `"---"` or `"<->"`; and the numbers that [edges()][edges,pcCompact-method] has: `p`, or `weight`, or `strength` and `direction` (from the first vertex to the second). To draw each edge once, drop the second arc of
#'   those without a direction: `igraph::delete_edges(g, which(E(g)$kind != "-->" & tail_of(g, E(g)) > head_of(g, E(g))))`.
#'
#'   A PAG has the attribute `type`, which is `"PAG"`, its edges the kinds of [fci()], and `mark` is pcalg's at the head of an arc: 1 circle, 2 arrowhead, 3 tail. `-->`, `o->` and `o--` are one arc.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` where igraph is not installed.
#' @seealso [as_bn()], [as_dagitty()], [caugi_of()], [write_network()]
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' as_igraph(pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2))
#' @export
as_igraph <- function(x) {
  network <- network_of(x)
  need_package("igraph", "as_igraph() makes a graph of the package igraph")
  pag <- isTRUE(network$pag)
  arcs <- if (pag) arcs_of_pag(network$edges) else arcs_of(network$edges)
  graph <- igraph::make_empty_graph(length(network$labels), directed = TRUE)
  if (pag) graph <- igraph::set_graph_attr(graph, "type", "PAG")
  graph <- igraph::set_vertex_attr(graph, "name", value = network$labels)
  igraph::add_edges(graph, rbind(arcs$from, arcs$to), attr = as.list(arcs[setdiff(names(arcs), c("from", "to"))]))
}

# Every edge as one arc, or as two where it has no direction, by tail, then head.
arcs_of <- function(edges) arcs_with(edges, edges$kind != "-->", function(kind) ifelse(kind == "<->", 2, 1))

arcs_of_pag <- function(edges) {
  arcs_with(edges, edges$kind %in% c("<->", "o-o", "---"), function(kind) c(o = 1, ">" = 2, "-" = 3)[substr(kind, 3L, 3L)])
}

# `both`: which edges become two arcs. mark: makes the mark of an arc of its kind.
arcs_with <- function(edges, both, mark) {
  both <- which(both)
  back <- edges[both, ]
  back[c("from", "to")] <- edges[both, c("to", "from")]
  if (!is.null(back$direction)) back$direction <- 1 - back$direction
  arcs <- rbind(edges, back)
  arcs$mark <- unname(mark(arcs$kind))
  arcs <- arcs[order(arcs$from, arcs$to), ]
  list2DF(as.list(arcs[c("from", "to", "mark", setdiff(names(arcs), c("from", "to", "mark")))]))
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcCompact <- function(x, ...) as_igraph(x)

#' @exportS3Method igraph::as.igraph
as.igraph.pcAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.fciAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_graph <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_stability <- as.igraph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcCompact <- function(x, ...) tidygraph::as_tbl_graph(as_igraph(x))

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.fciAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_graph <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_stability <- as_tbl_graph.pcCompact

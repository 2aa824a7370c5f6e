#' Convert a result to igraph and tidygraph
#'
#' Returns a result as an igraph graph. `igraph::as.igraph()` and `tidygraph::as_tbl_graph()` of a result return the same graph, and also have the argument
#' `undirected`. ggraph draws either.
#'
#' @param x One of:
#'   - a result of [pc()], [skeleton()] or [orient()];
#'   - a result of [fci()], [rfci()] or [fciPlus()];
#'   - a graph of [random_dag()] or [cpdag_of()];
#'   - a result of [stability()], for its averaged graph;
#'   - a [graph::graphNEL-class] or an adjacency matrix.
#' @param undirected How many arcs an edge without a direction becomes: `"once"`, one arc, with `from` and `to` as in [edge_table()]; or `"both"`, one arc in
#'   each direction. See *Edges without a direction*.
#' @return A directed igraph graph. Vertices have the labels as `name`. Edges have these attributes:
#'   - `kind`: `"-->"`, `"---"` or `"<->"`;
#'   - `mark`: 1, or 2 for an orientation in conflict (`solve.confl = TRUE`);
#'   - `arrow.mode`, which igraph's `plot()` uses to draw arrowheads: 0 none, 2 at the end, 3 at both ends;
#'   - the numbers in [edge_table()]: `p`; or `strength` and `direction` (from the first vertex to the second); or `coefficient`, which [edge_table()] calls
#'     `weight` (igraph would interpret an attribute `weight` as the length of an edge).
#'
#'   The graph of a PAG has the attribute `type`, which is `"PAG"`. Its edges have the kinds of [fci()], and `mark` is pcalg's mark at the head of an arc:
#'   1 circle, 2 arrowhead, 3 tail. `-->`, `o->` and `o--` become one arc.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if igraph is not installed.
#' @section Edges without a direction:
#' A graph of igraph is directed or undirected as a whole, but a CPDAG and a PAG have edges of both sorts. By default each edge becomes one arc, so `ecount()`
#' is the number of edges, and `degree()` the number of neighbours of a variable. The arc of an edge without a direction then has an arbitrary direction. Make
#' functions that follow arcs ignore directions, as in `betweenness(g, directed = FALSE)`, `distances(g)` or `components(g)`, which treat edges of all kinds
#' alike.
#'
#' With `undirected = "both"`, functions that follow arcs can pass an edge without a direction either way, as in `betweenness(g)`, or in
#' `subcomponent(g, v, mode = "out")` for possible descendants. `ecount()` and `degree()` then count such an edge twice.
#' @seealso [as_bn()], [as_dagitty()], [caugi_of()], [write_network()]
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' g <- as_igraph(pc(x, alpha = 0.01, numCores = 2))
#' igraph::degree(g)
#' igraph::betweenness(g, directed = FALSE)
#' @export
as_igraph <- function(x, undirected = c("once", "both")) {
  undirected <- check_choice(undirected, c("once", "both"), "undirected")
  network <- network_of(x)
  need_package("igraph", "as_igraph() needs the package igraph")
  pag <- isTRUE(network$pag)
  arcs <- (if (pag) arcs_of_pag else arcs_of)(network$edges, undirected == "both")
  graph <- igraph::make_empty_graph(length(network$labels), directed = TRUE)
  if (pag) graph <- igraph::set_graph_attr(graph, "type", "PAG")
  graph <- igraph::set_vertex_attr(graph, "name", value = network$labels)
  igraph::add_edges(graph, rbind(arcs$from, arcs$to), attr = as.list(arcs[setdiff(names(arcs), c("from", "to"))]))
}

# Returns every edge as one arc, or, if `both`, as two arcs if it has no direction, by tail, then head.
arcs_of <- function(edges, both) arcs_with(edges, both & edges$kind != "-->", function(kind) ifelse(kind == "<->", 2, 1))

arcs_of_pag <- function(edges, both) {
  arcs_with(edges, both & edges$kind %in% c("<->", "o-o", "---"), function(kind) c(o = 1, ">" = 2, "-" = 3)[substr(kind, 3L, 3L)])
}

# `both`: which edges become two arcs. `mark`: a function that returns the marks of arcs of these kinds.
arcs_with <- function(edges, both, mark) {
  both <- which(both)
  back <- edges[both, ]
  back[c("from", "to")] <- edges[both, c("to", "from")]
  if (!is.null(back$direction)) back$direction <- 1 - back$direction
  arcs <- rbind(edges, back)
  arcs$mark <- unname(mark(arcs$kind))
  arcs$arrow.mode <- ifelse(!endsWith(arcs$kind, ">"), 0, ifelse(startsWith(arcs$kind, "<"), 3, 2))
  names(arcs)[names(arcs) == "weight"] <- "coefficient"
  arcs <- arcs[order(arcs$from, arcs$to), ]
  first <- c("from", "to", "mark")
  list2DF(as.list(arcs[c(first, setdiff(names(arcs), first))]))
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcCompact <- function(x, undirected = c("once", "both"), ...) {
  check_dots(list(...), character(), "as.igraph.pcCompact")
  as_igraph(x, undirected)
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.fciAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_graph <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_stability <- as.igraph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcCompact <- function(x, undirected = c("once", "both"), ...) {
  check_dots(list(...), character(), "as_tbl_graph.pcCompact")
  tidygraph::as_tbl_graph(as_igraph(x, undirected))
}

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.fciAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_graph <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_stability <- as_tbl_graph.pcCompact

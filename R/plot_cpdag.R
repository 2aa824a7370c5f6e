#' Draw a CPDAG
#'
#' Draws the graph of a result: arrows for directed edges, plain lines for undirected ones, dashed red lines with two
#' heads for orientations in conflict (`solve.confl = TRUE`). It works with whatever is installed, and for graphs
#' without edges too.
#'
#' The layout of the engines `"igraph"` and `"base"` is this package's own (stress majorisation of each connected
#' component); it is the same every time, and draws no random number.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of pcalg's class or ours; or a [graph::graphNEL-class]; or
#'   an adjacency matrix, as `as(x@graph, "matrix")` has it (`[i, j]` not zero for an edge from i to j) or as
#'   `as(x, "amat")` has it.
#' @param engine `"auto"` takes Rgraphviz if it is installed, else igraph, else base graphics. An engine asked for by
#'   name must be installed.
#' @param main Title; `NULL` for none.
#' @param labels Labels of the nodes, if others than their names.
#' @param ... Passed on to the engine: to the `plot()` of Rgraphviz or of igraph. For `"base"`: `cex`, `node_fill`,
#'   `node_border` and `edge_colour`.
#' @return `x`, invisibly.
#' @references
#' E. R. Gansner, Y. Koren and S. North (2004). Graph drawing by stress majorization. *Graph Drawing 2004*, LNCS 3383,
#' 239-250.
#'
#' U. Brandes and C. Pich (2006). Eigensolver methods for progressive multidimensional scaling of large data. *Graph
#' Drawing 2006*, LNCS 4372, 42-53.
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(5000), 500, 10, dimnames = list(NULL, paste0("gene", 1:10)))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(500)
#' x[, 5] <- x[, 3] + x[, 4] + rnorm(500)
#' x[, 7] <- x[, 6] + rnorm(500)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' plot_cpdag(fit, engine = "base", main = "Ten genes")
#' @export
plot_cpdag <- function(x, engine = c("auto", "Rgraphviz", "igraph", "base"), main = NULL, labels = NULL, ...) {
  engine <- check_choice(engine, c("auto", "Rgraphviz", "igraph", "base"), "engine")
  listed <- edges_of(x)
  if (!is.null(labels)) {
    if (length(labels) != length(listed$labels)) {
      abort_argument("labels", labels, sprintf("give %d labels, one a node.", length(listed$labels)),
        shown = sprintf("of length %d", length(labels))
      )
    }
    listed$labels <- as.character(labels)
  }
  if (engine == "auto") {
    there <- vapply(c("Rgraphviz", "igraph"), requireNamespace, NA, quietly = TRUE)
    engine <- c(c("Rgraphviz", "igraph")[there], "base")[1L]
  }
  switch(engine,
    Rgraphviz = draw_rgraphviz(x, listed, main, ...),
    igraph = draw_igraph(listed, main, ...),
    base = draw_base(listed, main, ...)
  )
  invisible(x)
}

draw_rgraphviz <- function(x, listed, main, ...) {
  need_package("Rgraphviz", "engine = \"Rgraphviz\" draws by the package Rgraphviz")
  graph <- if (is_result(x)) attr(x, "graph") else x
  if (!methods::is(graph, "graph")) {
    graph <- graph_from_edges(listed$labels, listed$edges, listed$weights, one = 1)
  }
  names(listed$labels) <- graph::nodes(graph)
  Rgraphviz::plot(graph,
    nodeAttrs = list(label = listed$labels), attrs = list(node = list(shape = "ellipse", fixedsize = FALSE)),
    main = main %||% "", ...
  )
}

draw_igraph <- function(listed, main, ...) {
  need_package("igraph", "engine = \"igraph\" draws by the package igraph")
  old <- new_page(main)
  on.exit(graphics::par(old))
  place <- place_on_page(listed)
  edges <- place$edges
  look <- edge_look()[match(edges$kind, edge_look()$kind), ]
  graph <- igraph::make_empty_graph(length(listed$labels), directed = TRUE)
  graph <- igraph::add_edges(graph, rbind(edges$from, edges$to))
  # igraph's sizes are hundredths of the unit of the axes, here the inch.
  settings <- list(
    x = graph, main = main %||% "", layout = place$xy, rescale = FALSE, asp = 0, margin = 0,
    xlim = c(0, place$page[1L]), ylim = c(0, place$page[2L]),
    vertex.shape = igraph_box(), vertex.size = 100 * place$size[, 1L], vertex.size2 = 100 * place$size[, 2L],
    vertex.color = node_look$fill, vertex.frame.color = node_look$border,
    vertex.label = listed$labels, vertex.label.family = "", vertex.label.color = "black", vertex.label.cex = place$cex,
    edge.color = look$colour, edge.lty = look$lty, edge.arrow.mode = look$heads,
    edge.arrow.size = 0.6 * max(min(place$cex, 1), 0.35)
  )
  given <- list(...)
  settings[names(given)] <- given
  graphics::par(new = TRUE)
  do.call(igraph::plot.igraph, settings)
  if (place$legend) {
    draw_legend(edge_look()[edge_look()$kind %in% edges$kind, ])
  }
}

# Our rounded boxes as a shape of igraph's, whose own rectangles hide an arrowhead that arrives at a corner. igraph
# keeps shapes by name for the session; adding it again changes nothing.
igraph_box <- function() {
  name <- "pcgpu_box"
  size_of <- function(params, nodes = NULL) {
    size <- cbind(params("vertex", "size"), params("vertex", "size2")) / 100
    if (is.null(nodes)) size else size[if (nrow(size) == 1L) rep(1L, length(nodes)) else nodes, , drop = FALSE]
  }
  clip <- function(coords, el, params, end = c("both", "from", "to")) {
    end <- match.arg(end)
    start <- coords[, 1:2, drop = FALSE]
    stop <- coords[, 3:4, drop = FALSE]
    unit <- (stop - start) / pmax(sqrt(rowSums((stop - start)^2)), 1e-9)
    start <- start + unit * box_reach(unit, size_of(params, el[, 1L]))
    stop <- stop - unit * box_reach(unit, size_of(params, el[, 2L]))
    switch(end, both = cbind(start, stop), from = start, to = stop)
  }
  plot <- function(coords, v = NULL, params) {
    size <- size_of(params)
    fill <- params("vertex", "color")
    border <- params("vertex", "frame.color")
    draw_nodes(coords, size, "", 1, fill[1L], border[1L])
  }
  igraph::add_shape(name, clip = clip, plot = plot)
  name
}

#' Draw a CPDAG
#'
#' Draws the graph of a result: arrows for directed edges, plain lines for undirected ones, dashed red lines with two
#' heads for orientations in conflict (`solve.confl = TRUE`). It works with whatever is installed, and for graphs
#' without edges too.
#'
#' The layout of the engines `"igraph"` and `"base"` is this package's own (stress majorisation of each connected
#' component); it is the same every time, and draws no random number.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of pcalg's class or one of ours; or a [graph::graphNEL-class]; or
#'   an adjacency matrix, as `as(x@graph, "matrix")` has it (`[i, j]` not zero for an edge from i to j) or as
#'   `as(x, "amat")` has it.
#' @param engine `"auto"` takes Rgraphviz if it is installed, else igraph, else base graphics. An engine asked for by
#'   name must be installed.
#' @param main Title; `NULL` for none. A result of a search that its `time_limit` ended says so there, in a line of its own.
#' @param labels Labels of the nodes, if others than their names.
#' @param ... Passed on to the engine: to the `plot()` of Rgraphviz or of igraph, which takes `vertex.color` and the
#'   like, one value or one a node (`vertex.color`, `vertex.frame.color` and `vertex.label.cex` do for `"base"`, too). For `"base"` and `"igraph"`: `node_fill` and `node_border`, one colour or one a node;
#'   `edge_colour`, one colour or three, of directed edges, undirected ones and conflicts; and `cex`, the size of the labels, which is made smaller only where a label would not fit on the page; by default it is
#'   the largest up to 1.2 with which no two nodes overlap.
#' @param y Not used.
#' @return `x`, invisibly.
#' @details `plot()` of a graph, as `plot(fit@graph)`, draws it by `plot_cpdag()` too. Where Rgraphviz is installed and
#'   it or the package graph is attached, Rgraphviz's own method comes first.
#' @references
#' E. R. Gansner, Y. Koren and S. North (2004). Graph drawing by stress majorization. *Graph Drawing 2004*, LNCS 3383,
#' 239-250.
#'
#' U. Brandes and C. Pich (2006). Eigensolver methods for progressive multidimensional scaling of large data. *Graph
#' Drawing 2006*, LNCS 4372, 42-53.
#'
#' M. Ortmann, M. Klimenta and U. Brandes (2017). A sparse stress model. *Journal of Graph Algorithms and Applications*,
#' 21(5), 791-821.
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
        is = sprintf("of length %d", length(labels))
      )
    }
    listed$labels <- as.character(labels)
  }
  if (engine == "auto") {
    there <- vapply(c("Rgraphviz", "igraph"), requireNamespace, NA, quietly = TRUE)
    engine <- c(c("Rgraphviz", "igraph")[there], "base")[1L]
  }
  note <- NULL
  if (is_result(x) || is_compact(x)) {
    note <- validity_note(x)
    ended <- ended_note(x)
    if (!is.null(ended)) main <- paste(c(main, ended), collapse = "\n")
  }
  if (engine == "Rgraphviz" && !is.null(note)) tell("cpdag", note)
  switch(engine,
    Rgraphviz = draw_rgraphviz(x, listed, main, ...),
    igraph = draw_igraph(listed, main, note, ...),
    base = draw_base(listed, main, note, ...)
  )
  invisible(x)
}

# For sessions in which no package with an S4 method of plot() is attached: see plot_without_rgraphviz() for the others.
#' @rdname plot_cpdag
#' @exportS3Method plot graphNEL
plot.graphNEL <- function(x, y, ...) {
  plot_cpdag(x, ...)
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

# What igraph calls otherwise, as vertex.color, comes before our own names.
draw_igraph <- function(listed, main, note, ..., node_fill = NULL, node_border = NULL, edge_colour = NULL) {
  need_package("igraph", "engine = \"igraph\" draws by the package igraph")
  given <- list(...)
  n <- length(listed$labels)
  fill <- one_a_node(node_fill %||% node_look$fill, n, "node_fill")
  border <- one_a_node(node_border %||% node_look$border, n, "node_border")
  kinds <- edge_look(edge_colour)
  if (n == 0L) {
    # igraph warns of a graph without nodes.
    return(draw_base(listed, main, note))
  }
  labels <- given[["vertex.label"]] %||% listed$labels
  argument <- if (is.null(given[["vertex.label.cex"]])) "cex" else "vertex.label.cex"
  cex <- given[[argument]]
  if (argument == "vertex.label.cex") {
    cex <- rep_len(cex, n)
  }
  check_cex(cex, n, argument)
  old <- page_settings()
  on.exit(graphics::par(old))
  new_page(main, note)
  # What igraph leaves out as NA takes no room.
  listed$labels <- ifelse(is.na(rep_len(labels, n)), "", as.character(rep_len(labels, n)))
  place <- place_on_page(listed, cex, given[["vertex.label.font"]], given[["vertex.label.family"]])
  edges <- place$edges
  look <- kinds[match(edges$kind, kinds$kind), ]
  graph <- igraph::make_empty_graph(n, directed = TRUE)
  graph <- igraph::add_edges(graph, rbind(edges$from, edges$to))
  # igraph's sizes are hundredths of the unit of the axes, here the inch.
  settings <- list(
    x = graph, main = "", layout = place$xy, rescale = FALSE, asp = 0, margin = 0,
    xlim = c(0, place$page[1L]), ylim = c(0, place$page[2L]),
    vertex.shape = igraph_box(place), vertex.size = 100 * place$size[, 1L], vertex.size2 = 100 * place$size[, 2L],
    vertex.color = fill, vertex.frame.color = border,
    vertex.label = labels, vertex.label.family = "", vertex.label.color = "black",
    edge.color = look$colour, edge.lty = look$lty, edge.width = 1.4 * place$line, edge.arrow.mode = look$heads,
    edge.arrow.size = 5.5 * place$head
  )
  settings[names(given)] <- given
  settings$cex <- NULL
  settings$vertex.label.cex <- place$cex
  graphics::par(new = TRUE)
  do.call(igraph::plot.igraph, settings)
  draw_legend(place$legend, kinds)
  draw_title(main)
  draw_note(note)
}

# Our rounded boxes as a shape of igraph's, whose own rectangles hide an arrowhead that arrives at a corner. igraph
# keeps shapes by name for the session; the next plot replaces this one.
igraph_box <- function(place) {
  name <- "pcgpu_box"
  # igraph hands over what the user gave, one value or many, and repeats it over the nodes.
  of_nodes <- function(values, nodes) values[(nodes - 1L) %% length(values) + 1L]
  size_of <- function(params, nodes) {
    cbind(of_nodes(params("vertex", "size"), nodes), of_nodes(params("vertex", "size2"), nodes)) / 100
  }
  clip <- function(coords, el, params, end = c("both", "from", "to")) {
    end <- match.arg(end)
    start <- coords[, 1:2, drop = FALSE]
    stop <- coords[, 3:4, drop = FALSE]
    unit <- (stop - start) / pmax(sqrt(rowSums((stop - start)^2)), 1e-9)
    start <- start + unit * box_reach(unit, size_of(params, el[, 1L]), place$radius)
    stop <- stop - unit * box_reach(unit, size_of(params, el[, 2L]), place$radius)
    switch(end, both = cbind(start, stop), from = start, to = stop)
  }
  plot <- function(coords, v = NULL, params) {
    nodes <- v %||% seq_len(nrow(coords))
    fill <- of_nodes(params("vertex", "color"), nodes)
    border <- of_nodes(params("vertex", "frame.color"), nodes)
    draw_nodes(coords, size_of(params, nodes), place$radius, fill, border, place$line)
  }
  igraph::add_shape(name, clip = clip, plot = plot)
  name
}

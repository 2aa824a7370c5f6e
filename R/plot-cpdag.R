#' Draw a CPDAG or a PAG
#'
#' Draws the graph of a result: arrows for directed edges, plain lines for undirected edges, and dashed red lines with
#' two heads for orientations in conflict (`solve.confl = TRUE`). It works with whichever packages are installed, and
#' also draws graphs without edges.
#'
#' In a PAG ([fci()], [rfci()], [fciPlus()]) each end of an edge shows its mark: a circle, an arrowhead or, for a tail,
#' nothing. Each kind of edge has its own colour, and the legend gives its meaning in a few words. [fci()] explains them
#' in full.
#'
#' | edge | legend |
#' |:--|:--|
#' | `-->` | *cause* |
#' | `o->` | *cause or common cause* |
#' | `<->` (red) | *common cause* |
#' | `o-o` | *unknown* |
#' | `o--` (only with `selectionBias = TRUE`) | *cause or selection* |
#' | `---` (only with `selectionBias = TRUE`) | *selection* |
#'
#' By default every node is a box around its label if there is room. Otherwise nodes are dots, larger for hubs. Hubs
#' have their labels next to the dots; for up to 800 nodes, other nodes do too if there is room. If more than 30 nodes
#' have no edge, they are left out, and a line below the picture gives their number. Components are packed around the
#' largest one.
#'
#' All layouts are this package's own, except those that you compute. They are the same every time, and use no random
#' numbers:
#' - `"stress"`: distances on the page follow distances in the graph (stress majorisation of each connected component);
#' - `"tiers"`: the tiers of the search from left to right, every second one on a grey ground;
#' - `"layered"`: causes above their effects. An undirected edge leads away from the node of its component with most
#'   undirected edges;
#' - `"tree"`: layers by distance from the nodes of `around`, or from the node with most neighbours;
#' - `"circle"`: nodes on a circle, component by component.
#'
#' @param x One of:
#'   - a result of [pc()], [skeleton()] or [orient()], of pcalg's class or ours;
#'   - a result of [fci()], [rfci()] or [fciPlus()];
#'   - a graph of [random_dag()], [cpdag_of()] or [averaged_cpdag()], or a result of [stability()];
#'   - a [graph::graphNEL-class];
#'   - an adjacency matrix of a CPDAG or a PAG: that of `as(x@graph, "matrix")`, with `[i, j]` not zero for an edge from
#'     i to j, or that of `as(x, "amat")`.
#' @param engine `"auto"` uses base graphics, which can draw everything below. It uses igraph or Rgraphviz only if `...`
#'   has arguments that only that engine knows. Such an engine must be installed, and so must an engine that you name.
#'   `"Rgraphviz"` has its own layout, for graphs with some dozens of nodes. It supports neither PAGs nor `colour`, `size`,
#'   `layout`, `edge_colour`, `edge_width` and `edge_label`.
#' @param main Title; `NULL` for none. If `time_limit` ended a search, a second line below the title says so.
#' @param labels Labels of the nodes, if they differ from their names, in the order of the nodes or with their names; or
#'   - `TRUE`: all names, however small;
#'   - `FALSE`: no names;
#'   - `"hubs"`: only the names of the nodes with most neighbours (or of the largest `size`), as many as fit on the
#'     page, at most 40.
#' @param ... Arguments of the engine:
#'   - Rgraphviz: `nodeAttrs`, `edgeAttrs` and other arguments of its `plot()`.
#'   - igraph: `vertex.color` and other arguments in `?igraph.plotting`, with one value, or one for each node, in the
#'     order of the nodes or with their names. `vertex.color`, `vertex.frame.color` and `vertex.label.cex` also work for
#'     `"base"`.
#'   - `"base"` and `"igraph"`: `node_fill` and `node_border`, one colour, or one for each node; `cex`, the size of the
#'     labels, by default the largest size up to 1.9 at which no two nodes overlap. Your `cex` is reduced only if a
#'     label would not fit on the page.
#'
#'   Any other name is an error that suggests a similar one.
#' @param around Names (or numbers) of nodes. Only these, with a bold border, and the nodes near them are drawn.
#' @param order With `around`: the largest number of steps along edges, in either direction, from those nodes.
#' @param isolated Whether to draw nodes without an edge. `NULL`: only if there are at most 30 of them.
#' @param components Number of components to draw, the largest first; or, as `c(least = 5)`, the components with at
#'   least this number of nodes. Nodes without an edge do not count as components.
#' @param colour A value for each node, in the order of the nodes or with their names:
#'   - numbers: from light to dark; if there are negative and positive numbers, blue and red with white at 0;
#'   - a factor, logical values or words, which the legend explains;
#'   - colours, which are used as they are.
#'
#'   `list(age = values)` gives the legend a title. Grey stands for `NA`.
#' @param size A number of at least 0 for each node, in the same form, which determines the area of its dot; or
#'   `"degree"`. The dot for 0 is a ninth of the largest. `NA` counts as 0.
#' @param layout `"stress"`, `"tiers"`, `"layered"`, `"tree"` or `"circle"`, see *Details*; or a matrix with a row of x and
#'   y for each node, in the order of the nodes or with their names; or a function that computes such a matrix from an
#'   igraph graph, such as `igraph::layout_with_fr`. `NULL` is `"tiers"` for up to 80 nodes of a search with tiers, and
#'   `"stress"` for others.
#' @param edge_colour,edge_width,edge_label What the edges show: the name of a column of [edge_table()], such as `"p"`,
#'   `"weight"` of [random_dag()] or `"strength"` of [stability()]; or a value for each row of that table. The legend
#'   explains them, and `list(title = values)` gives it a title.
#'   - `edge_colour`: numbers become a scale, from blue over grey to red if they have both signs; levels become colours.
#'     It can also be colours: one, or three for directed edges, undirected edges and conflicts (for a PAG six, in
#'     the order of the table in *Details*); any other number of colours is one for each edge.
#'   - `edge_width`: widths grow with absolute values. For `"p"`, colours and widths show -log10 p.
#'   - `edge_label`: numbers have two digits.
#' @param interactive Whether to make an interactive page: one HTML file of some dozens of kB (400 kB for 5,000 nodes),
#'   which needs neither a network nor further packages. Nodes are boxes, or dots from 61 nodes on; the labels of hubs
#'   come first, others appear as you zoom in. Click a node for its parents, children and neighbours; click a second
#'   node for the separating set of the two and its p-value (up to 200 nodes); click an edge for its kind and numbers.
#'   Sliders hide edges by `p`, `strength` or coefficient. The page opens at once, because it contains the positions.
#' @param file With `interactive = TRUE`: a file in which to save the page.
#' @param y Not used.
#' @return `x`, invisibly. With `interactive = TRUE`, the page: an object of class `pcgpu_page`, which opens in RStudio's
#'   viewer or in the browser when it is printed, and appears in a report of knitr.
#'
#'   Errors have the class `pcgpu_error_argument`; `pcgpu_error_package` if `engine` needs a package that is not
#'   installed; or `pcgpu_error_file_unwritable` if `file` cannot be written.
#' @details `plot()` of a graph, as in `plot(fit@graph)`, also calls `plot_cpdag()`. If Rgraphviz is installed and it or
#' the package graph is attached, Rgraphviz's own method takes precedence.
#' @seealso [as_igraph()] and [edge_table()] for other programs.
#' @references
#' E. R. Gansner, Y. Koren and S. North (2004). Graph drawing by stress majorization. *Graph Drawing 2004*, LNCS 3383,
#' 239-250.
#'
#' U. Brandes and C. Pich (2006). Eigensolver methods for progressive multidimensional scaling of large data. *Graph
#' Drawing 2006*, LNCS 4372, 42-53.
#'
#' K. Freivalds, U. Dogrusoz and P. Kikusts (2002). Disconnected graph layout and the polyomino packing approach. *Graph
#' Drawing 2001*, LNCS 2265, 378-391.
#'
#' M. Ortmann, M. Klimenta and U. Brandes (2017). A sparse stress model. *Journal of Graph Algorithms and Applications*,
#' 21(5), 791-821.
#'
#' K. Sugiyama, S. Tagawa and M. Toda (1981). Methods for visual understanding of hierarchical system structures. *IEEE
#' Transactions on Systems, Man, and Cybernetics* 11(2), 109-125.
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(5000), 500, 10, dimnames = list(NULL, paste0("gene", 1:10)))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(500)
#' x[, 5] <- x[, 3] + x[, 4] + rnorm(500)
#' x[, 7] <- x[, 6] + rnorm(500)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' plot_cpdag(fit, main = "Ten genes")
#' plot(fit, around = "gene3", colour = list("fold change" = seq(-2, 2.5, 0.5)), size = "degree")
#' plot(fit, layout = "layered", edge_width = list("-log10 p" = -log10(edge_table(fit)$p)))
#'
#' # A thousand nodes: the three largest components.
#' plot(random_dag(1000, 1.5, seed = 1), components = 3, labels = "hubs")
#'
#' page <- plot(fit, interactive = TRUE, file = tempfile(fileext = ".html"))
#' @export
plot_cpdag <- function(
  x,
  engine = c("auto", "Rgraphviz", "igraph", "base"),
  main = NULL,
  labels = NULL,
  ...,
  around = NULL,
  order = 1,
  isolated = NULL,
  components = NULL,
  colour = NULL,
  size = NULL,
  layout = NULL,
  edge_colour = NULL,
  edge_width = NULL,
  edge_label = NULL,
  interactive = FALSE,
  file = NULL
) {
  if (!is.null(taught <- taught_call(unlist(engine_takes)))) {
    return(eval(taught, parent.frame()))
  }
  engine <- check_choice(engine, c("auto", "Rgraphviz", "igraph", "base"), "engine")
  interactive <- check_flag(interactive, "interactive")
  engine <- choose_engine(if (interactive) "interactive" else engine, list(...))
  wish <- list(
    around = around,
    order = order,
    isolated = isolated,
    components = components,
    colour = colour,
    size = size,
    layout = layout,
    edge_colour = edge_colour,
    edge_width = edge_width,
    edge_label = edge_label
  )
  asked <- asked_graph(drawn_edges_of(x), labels, wish, x)
  if (!is.null(file) && !interactive) {
    abort_argument("file", file, "open a device such as pdf() to save a picture.", is = "only for interactive = TRUE")
  }
  note <- if (is_result(x) || is_compact(x)) {
    validity_note(x)
  } else if (inherits(x, "pcgpu_stability") && !x$average$valid) {
    average_note(x)
  }
  ended <- if (is_result(x) || is_compact(x) || is_fci(x)) ended_note(x)
  given <- c(of_drawn_nodes(list(...), asked), if (!is.null(asked$kind_colours)) list(edge_colour = asked$kind_colours))
  if (interactive) {
    page <- plot_interactive(x, asked, main, c(ended, note, asked$left), file, given)
    return(if (is.null(file)) page else invisible(page))
  }
  if (!is.null(ended)) {
    main <- paste(c(main, ended), collapse = "\n")
  }
  if (engine == "Rgraphviz") {
    if (!is.null(note)) {
      tell("cpdag", paste(note, collapse = " "))
    }
    refuse_in_rgraphviz(wish, asked)
  }
  draw <- switch(engine, Rgraphviz = draw_rgraphviz, igraph = draw_igraph, base = draw_base)
  if (engine == "Rgraphviz") {
    do.call(draw, c(list(x, asked, main), given), quote = TRUE)
  } else {
    do.call(
      draw,
      c(list(asked$listed, main, note), given, list(wish = asked$wish, remark = asked$remark)),
      quote = TRUE
    )
  }
  invisible(x)
}

# Returns the parts of a picture: list(listed, nodes, all, names, labelled, wish, said, left, remark). listed: the graph of the nodes
# that are drawn. nodes: their numbers in `listed` as given. all, names: number and names of all nodes. labelled:
# whether the user gave labels. wish: how nodes are drawn, as draw_base() expects it. said: texts of the values behind
# colours. left: a line about what is left out. remark: lines below the picture.
# x: what stands for the graph, if edges have values or nodes have tiers.
asked_graph <- function(listed, labels, wish, x = NULL) {
  tiers <- tiers_of_search(x)
  names <- listed$labels
  shown <- "auto"
  labelled <- FALSE
  if (is.logical(labels) && length(labels) == 1L && !is.na(labels)) {
    shown <- if (!labels) {
      "none"
    } else if (is.null(wish$size)) {
      "boxes"
    } else {
      "all"
    }
  } else if (identical(labels, "hubs") && length(names) != 1L) {
    shown <- "hubs"
  } else if (!is.null(labels)) {
    if (length(labels) != length(names)) {
      abort_argument(
        "labels",
        labels,
        "give the labels in the order of the nodes, or TRUE, FALSE or \"hubs\".",
        needs = sprintf("a label for each node (%d), not %d", length(names), length(labels))
      )
    }
    labels <- in_order_of_nodes(labels, names, "labels")
    shown <- if (is.null(wish$size)) "boxes" else "all"
    labelled <- TRUE
  }
  degree <- NULL
  if (identical(wish$size, "degree")) {
    degree <- lengths(neighbour_lists(length(names), table_of(listed)))
  }
  colours <- node_colours(wish$colour, names)
  sizes <- node_sizes(wish$size, names, degree)
  check_layout(wish$layout, names, tiers)
  chosen <- chosen_nodes(listed, wish$around, wish$order, wish$isolated, wish$components)
  nodes <- chosen$nodes
  wish$layout <- wish$layout %||% default_layout(tiers[nodes])
  drawn <- graph_of_nodes(listed, nodes)
  of_edges <- wish[c("edge_colour", "edge_width", "edge_label")]
  plain <- !is.null(of_edges$edge_colour) &&
    are_kind_colours(of_edges$edge_colour, named_edges(network_of(x)), nrow(edge_look(pag = isTRUE(drawn$pag))))
  lines <- drawn_edges(if (plain) of_edges[-1L] else of_edges, x, table_of(drawn), nodes)
  layout <- given_layout(wish$layout, drawn, nodes, names, tiers, chosen$focus)
  if (labelled) {
    drawn$labels <- as.character(labels)[nodes]
  }
  left <- if (length(chosen$left)) paste(chosen$left, collapse = "; ")
  list(
    listed = drawn,
    nodes = nodes,
    all = length(names),
    names = names,
    labelled = labelled,
    kind_colours = if (plain) of_edges$edge_colour,
    wish = list(
      edges = lines,
      shown = shown,
      fill = colours$fill[nodes],
      size = sizes$size[nodes],
      values = sizes$values[nodes],
      keys = list(colours$key, sizes$key),
      focus = chosen$focus,
      layout = layout,
      tiers = if (identical(wish$layout, "tiers")) tiers[nodes],
      heads = if (identical(wish$layout, "tiers")) attr(tiers, "levels")
    ),
    said = said_of_colour(wish$colour, colours, names)[nodes],
    left = left,
    remark = c(left, if (is_crowded(drawn)) too_crowded)
  )
}

too_crowded <- "Too many edges to read: draw a part with `around` or `components`, or a page with interactive = TRUE"

# Returns whether a picture has more edges than an eye can follow: a large component.
is_crowded <- function(drawn) {
  edges <- table_of(drawn)
  nrow(edges) > 1000L && max(tabulate(components(length(drawn$labels), edges))) > 1000L
}

# Returns the values behind colours as text, for tooltips; NULL for plain colours.
said_of_colour <- function(given, colours, names) {
  if (is.null(colours$key)) {
    return(NULL)
  }
  column <- values_of_nodes(given, names, "colour")
  words <- if (is.numeric(column$values) && !is.factor(column$values)) {
    format(column$values, digits = 4L, trim = TRUE)
  } else {
    as.character(column$values)
  }
  words[is.na(column$values)] <- "no value"
  paste0(if (!is.null(column$title)) paste0(column$title, ": "), words)
}

# Returns the tier of each variable that a search had, with the tiers' names as the attribute `levels`; or NULL.
tiers_of_search <- function(x) {
  details <- if (is_result(x) || is_compact(x) || is_fci(x)) attr(attr(x, "call"), "pcgpu")
  if (is.null(details$tier_names)) details$tiers else structure(details$tiers, levels = details$tier_names)
}

own_layouts <- c("stress", "tiers", "layered", "tree", "circle")

# In a larger graph the edges between tiers hide everything else.
most_in_tiers <- 80L

# Returns the layout for nodes with these tiers if the user asks for none.
default_layout <- function(tiers) {
  if (length(unique(tiers)) > 1L && length(tiers) <= most_in_tiers) "tiers" else "stress"
}

# Checks the layout before anything else is done, so that the error comes at once. Returns it.
check_layout <- function(layout, names, tiers) {
  hint <- sprintf(
    "give %s, a matrix with %d rows and 2 columns, or a function that computes one from an igraph graph.",
    enumerate(dQuote(own_layouts, FALSE)),
    length(names)
  )
  if (is.null(layout)) {
    return(NULL)
  }
  if (is.function(layout)) {
    need_package("igraph", "a function as `layout` needs the package igraph")
    return(layout)
  }
  if (is.character(layout) && length(layout) == 1L && layout %in% own_layouts) {
    if (layout == "tiers" && is.null(tiers)) {
      abort_argument(
        "layout",
        layout,
        "give the search `tiers`, or use layout = \"layered\".",
        is = "\"tiers\", but the graph has none"
      )
    }
    return(layout)
  }
  if (!is.matrix(layout) || !is.numeric(layout) || ncol(layout) != 2L) {
    abort_argument("layout", layout, hint)
  }
  named <- !is.null(rownames(layout)) && any(rownames(layout) %in% names)
  if (!named && nrow(layout) != length(names)) {
    abort_argument("layout", layout, hint)
  }
  if (!named) {
    warn_other_names(rownames(layout), names, "layout")
  }
  layout
}

# Returns the positions of the nodes that are drawn; NULL for the default; or, for another layout of ours, a function in
# the form of layout_graph().
given_layout <- function(layout, drawn, nodes, names, tiers, focus) {
  if (is.character(layout)) {
    return(if (layout != "stress") own_layout(layout, match(tiers[nodes], sort(unique(tiers[nodes]))), focus))
  }
  if (is.function(layout)) {
    edges <- table_of(drawn)
    graph <- igraph::make_empty_graph(length(nodes), directed = TRUE)
    graph <- igraph::set_vertex_attr(
      igraph::add_edges(graph, rbind(edges$from, edges$to)),
      "name",
      value = drawn$labels
    )
    xy <- layout(graph)
    # layout_with_sugiyama() returns a list.
    if (is.list(xy) && is.matrix(xy$layout)) {
      xy <- xy$layout
    }
    if (!is.matrix(xy) || !is.numeric(xy) || !identical(dim(xy), c(length(nodes), 2L)) || !all(is.finite(xy))) {
      abort_argument(
        "layout",
        xy,
        sprintf(
          "it must return a matrix with a row for each node (%d) and 2 columns of finite numbers.",
          length(nodes)
        ),
        is = paste("a function that returned", describe(xy))
      )
    }
    return(unname(xy))
  }
  at <- if (!is.null(rownames(layout)) && any(rownames(layout) %in% names)) {
    match(names[nodes], rownames(layout))
  } else {
    nodes
  }
  xy <- unname(layout[at, , drop = FALSE])
  if (!all(is.finite(xy))) {
    bad <- which(!is.finite(xy[, 1L]) | !is.finite(xy[, 2L]))
    abort_argument(
      "layout",
      layout,
      "give two finite numbers for each node that is drawn.",
      has = paste("no finite numbers for", enumerate(dQuote(names[nodes[bad]], FALSE)))
    )
  }
  xy
}

# Reduces arguments with one value for each node of x to the nodes that are drawn.
of_drawn_nodes <- function(given, asked) {
  each <- c(
    "node_fill",
    "node_border",
    "cex",
    "vertex.color",
    "vertex.frame.color",
    "vertex.label.cex",
    "vertex.label",
    "vertex.shape"
  )
  some <- names(given) %in% each & lengths(given) == asked$all & lengths(given) > 1L
  given[some] <- Map(
    function(values, argument) in_order_of_nodes(values, asked$names, argument)[asked$nodes],
    given[some],
    names(given)[some]
  )
  given
}

# For sessions in which no package with an S4 method of plot() is attached. See plot_without_rgraphviz() for other
# sessions.
#' @rdname plot_cpdag
#' @exportS3Method plot graphNEL
plot.graphNEL <- function(x, y, ...) plot.pcAlgo(x, y, ...)

#' @rdname plot_cpdag
#' @exportS3Method plot pcgpu_graph
plot.pcgpu_graph <- function(x, y, ...) plot.pcAlgo(x, y, ...)

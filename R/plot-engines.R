# Arguments in `...` by engine. Those of igraph are the ones in its help, see ?igraph.plotting.
# fmt: skip
engine_takes <- list(
  base = base_takes,
  igraph = c(
    "node_fill", "node_border", "cex",
    paste0("vertex.", c(
      "color", "size", "size2", "shape", "frame.color", "frame.width", "label", "label.family", "label.font",
      "label.cex", "label.dist", "label.degree", "label.angle",
      "label.color", "pie", "pie.color", "pie.border", "pie.angle", "pie.density", "pie.lty", "raster"
    )),
    paste0("edge.", c(
      "color", "width", "lty", "label", "label.family", "label.font", "label.cex", "label.color", "label.x", "label.y",
      "arrow.size", "arrow.width", "arrow.mode",
      "curved", "loop.angle", "loop.angle2"
    )),
    "axes", "add", "xlim", "ylim", "mark.groups", "mark.shape", "mark.col", "mark.border", "mark.expand", "mark.lwd",
    "loop.size", "palette", "margin", "rescale", "asp", "frame",
    "sub", "xlab", "ylab"
  ),
  Rgraphviz = c(
    "nodeAttrs", "edgeAttrs", "attrs", "subGList", "recipEdges", "name", "sub", "xlab", "ylab", "xlim", "ylim",
    "col.main", "cex.main", "col.sub", "cex.sub", "drawNode", "mai"
  ),
  interactive = c("node_fill", "node_border", "vertex.color", "vertex.frame.color")
)

# Returns the engine. Base graphics can draw all our arguments, give the same picture on every machine, and are as fast
# as any. If `...` has arguments that only another engine knows, that engine draws. An unknown name is an error, and so
# is a name that the requested engine does not know.
choose_engine <- function(engine, given) {
  check_dots(given, unlist(engine_takes), "plot_cpdag")
  others <- function(engine) setdiff(names(given), engine_takes[[engine]])
  knows <- function(name) {
    names(Filter(function(takes) name %in% takes, engine_takes[names(engine_takes) != "interactive"]))
  }
  if (engine != "auto") {
    foreign <- utils::head(others(engine), 1L)
    if (length(foreign)) {
      by <- if (engine == "interactive") "interactive = TRUE" else sprintf("engine = \"%s\"", engine)
      abort_argument(
        foreign,
        given[[foreign]],
        sprintf("leave it out, or use engine = %s.", paste0("\"", knows(foreign), "\"", collapse = " or ")),
        is = paste("not supported by", by)
      )
    }
    return(engine)
  }
  fits <- Filter(function(engine) !length(others(engine)), c("base", "igraph", "Rgraphviz"))
  if (!length(fits)) {
    foreign <- others("igraph")[1L]
    abort_argument(
      foreign,
      given[[foreign]],
      "give arguments of only one engine.",
      is = "an argument of Rgraphviz, but others are of igraph"
    )
  }
  fits[1L]
}

refuse_in_rgraphviz <- function(wish, asked) {
  if (isTRUE(asked$listed$pag)) {
    abort_argument(
      "engine",
      "Rgraphviz",
      "use \"base\" or \"igraph\".",
      is = "\"Rgraphviz\", which does not draw the marks of a PAG"
    )
  }
  asks <- c(
    colour = !is.null(wish$colour),
    size = !is.null(wish$size),
    layout = !is.null(wish$layout),
    edge_colour = !is.null(wish$edge_colour),
    edge_width = !is.null(wish$edge_width),
    edge_label = !is.null(wish$edge_label),
    labels = asked$wish$shown %in% c("hubs", "none")
  )
  for (argument in names(asks)[asks]) {
    abort_argument(
      argument,
      wish[[argument]],
      "leave it out, or use engine = \"base\" or \"igraph\".",
      is = "not supported by engine = \"Rgraphviz\""
    )
  }
}

draw_rgraphviz <- function(x, asked, main, ...) {
  need_package("Rgraphviz", "engine = \"Rgraphviz\" needs the package Rgraphviz")
  listed <- asked$listed
  graph <- if (is_result(x)) attr(x, "graph") else x
  if (!methods::is(graph, "graph") || length(asked$nodes) < asked$all) {
    graph <- graph_from_edges(listed$labels, listed$edges, listed$weights, one = 1)
  }
  names(listed$labels) <- graph::nodes(graph)
  Rgraphviz::plot(
    graph,
    nodeAttrs = list(label = listed$labels),
    attrs = list(node = list(shape = "ellipse", fixedsize = FALSE)),
    main = main %||% "",
    ...
  )
}

# Draws with igraph. Arguments in igraph's own words, such as vertex.color, take precedence over ours.
draw_igraph <- function(
  listed,
  main,
  note,
  ...,
  node_fill = NULL,
  node_border = NULL,
  edge_colour = NULL,
  wish = plain_wish,
  remark = NULL
) {
  need_package("igraph", "engine = \"igraph\" needs the package igraph")
  given <- list(...)
  n <- length(listed$labels)
  node_fill <- wish$fill %||% node_fill
  fill <- one_a_node(node_fill %||% node_look$fill, n, "node_fill")
  border <- one_a_node(node_border %||% node_look$border, n, "node_border")
  kinds <- edge_look(edge_colour, isTRUE(listed$pag))
  if (n == 0L) {
    # igraph warns about a graph without nodes.
    return(draw_base(listed, main, note, remark = remark))
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
  new_page(main, c(note, remark))
  if (!is.null(given[["vertex.label"]]) && wish$shown == "auto") {
    wish$shown <- "boxes"
  }
  # igraph draws no label for NA, so it needs no room.
  listed$labels <- ifelse(is.na(rep_len(labels, n)), "", as.character(rep_len(labels, n)))
  place <- place_on_page(listed, cex, given[["vertex.label.font"]], given[["vertex.label.family"]], wish)
  edges <- place$edges
  look <- kinds[match(edges$kind, kinds$kind), ]
  look$colour <- thinned(wish$edges$colour %||% look$colour, place)
  if (place$dots && is.null(node_fill)) {
    fill <- rep(dot_look$fill, n)
  }
  graph <- igraph::make_empty_graph(n, directed = TRUE)
  graph <- igraph::add_edges(graph, rbind(edges$from, edges$to))
  # igraph's sizes are hundredths of the unit of the axes, which is the inch here.
  settings <- list(
    x = graph,
    main = "",
    layout = place$xy,
    rescale = FALSE,
    asp = 0,
    margin = 0,
    xlim = c(0, place$page[1L]),
    ylim = c(0, place$page[2L]),
    vertex.shape = igraph_box(place),
    vertex.size = 100 * place$size[, 1L],
    vertex.size2 = 100 * place$size[, 2L],
    vertex.color = fill,
    vertex.frame.color = border,
    vertex.label = if (place$dots) NA else labels,
    vertex.label.family = "",
    vertex.label.color = if (place$dots) "black" else label_colours(fill),
    edge.color = look$colour,
    edge.lty = look$lty,
    edge.width = 1.4 * place$line * (wish$edges$width %||% 1),
    edge.arrow.mode = heads_of_igraph(look),
    edge.arrow.size = 5.5 * place$head
  )
  settings[names(given)] <- given
  settings$cex <- NULL
  settings$vertex.label.cex <- if (!place$dots) place$cex
  if (place$dots) {
    settings$vertex.label <- NA
  }
  graphics::par(new = TRUE)
  do.call(igraph::plot.igraph, settings)
  draw_circles_of_edges(place, look)
  draw_focus(place, fill, border, wish$focus)
  if (place$dots) {
    draw_tags(place$tags, listed$labels)
  } else if (length(wish$focus)) {
    at <- wish$focus
    draw_labels(place$xy[at, , drop = FALSE], listed$labels[at], place$cex[at], label_colours(fill[at]))
  }
  draw_edge_labels(place, wish$edges$label %||% character())
  draw_legend(place$legend, kinds, wish$edges$colour)
  draw_keys(place$keys, place$keys_at, place$unit)
  draw_title(main)
  draw_notes(c(note, remark))
}

# Returns igraph's codes: 0 none, 2 at the end, 3 at both ends.
heads_of_igraph <- function(look) ifelse(look$at_to != "arrow", 0, ifelse(look$at_from == "arrow", 3, 2))

# Draws the circles at the ends of edges, which igraph does not have.
draw_circles_of_edges <- function(place, look) {
  if (!any(c(look$at_from, look$at_to) == "circle")) {
    return(invisible())
  }
  ends <- edge_ends(place)
  draw_circles(ends$last, ends$unit, look$colour, ends$head, 1.4 * place$line, look$at_to == "circle")
  draw_circles(ends$first, -ends$unit, look$colour, ends$head, 1.4 * place$line, look$at_from == "circle")
}

# Registers our rounded boxes as a shape of igraph, because igraph's rectangles hide an arrowhead at a corner. igraph
# keeps shapes by name for the session; the next plot replaces this one.
igraph_box <- function(place) {
  name <- "pcgpu_box"
  # igraph passes the values that the user gave, one or many, and recycles them over the nodes.
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

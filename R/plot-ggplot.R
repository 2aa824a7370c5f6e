#' Graphs and results as ggplot2 objects
#'
#' Methods of `ggplot2::autoplot()`. They return an object to which scales, themes and labels can be added, as in
#' `autoplot(fit) + labs(title = "Network") + theme(legend.position = "bottom")`. The positions of nodes are those of
#' `plot()`, see [plot_cpdag()].
#'
#' @param object A result of [pc()], [skeleton()] or [orient()], of either class; of [fci()], [rfci()] or [fciPlus()];
#'   of [stability()], [causal_effects()], [compare_graphs()] or [compare_groups()]; or a graph of [random_dag()] or
#'   [cpdag_of()].
#' @param labels,around,order,isolated,components,layout As in [plot_cpdag()]. Labels are in boxes for up to 40 nodes
#'   or with `labels = TRUE`. Otherwise they are above dots, and labels that would overlap those of nodes with more
#'   edges are left out.
#' @param colour A value for each node, as in [plot_cpdag()], but always a value to be scaled: `fill` in ggplot2.
#' @param edge_colour,edge_width The name of a column of [edge_table()], or a value for each of its rows: `colour` and
#'   `linewidth` in ggplot2.
#' @param which For [stability()]: `"strength"` for pairs by strength, or `"graph"` for the averaged graph, which takes
#'   the arguments above.
#' @param n For [causal_effects()]: the largest number of pairs.
#' @param ... For the graph of [stability()] and of [compare_graphs()]: the arguments above that concern graphs. A
#'   comparison does not take `edge_colour`, which shows in which graphs an edge is. Otherwise it must be empty.
#' @return An object of class `ggplot`. The data of a graph are those of its nodes: `name`, `x`, `y`, `degree` and, with
#'   `colour`, `value`. The data of its first layer are the edges: the columns of [edge_table()], `x`, `y`, `xend` and
#'   `yend`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [plot_cpdag()] for plots without ggplot2; [as_igraph()] for ggraph
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' x <- random_data(random_dag(8, seed = 1), 200, seed = 1, numCores = 2)
#' fit <- pc(x, gaussCItest, alpha = 0.01, numCores = 2)
#' ggplot2::autoplot(fit) + ggplot2::labs(title = "Eight variables")
#' ggplot2::autoplot(fci(x, gaussCItest, alpha = 0.01, numCores = 2))
#' @name autoplot.pcCompact
#' @aliases autoplot.pcAlgo autoplot.fciAlgo autoplot.pcgpu_graph autoplot.pcgpu_pag_stability
#'   autoplot.pcgpu_joint_effects
#' @exportS3Method ggplot2::autoplot
autoplot.pcCompact <- function(
  object,
  labels = NULL,
  around = NULL,
  order = 1,
  isolated = NULL,
  components = NULL,
  colour = NULL,
  layout = NULL,
  edge_colour = NULL,
  edge_width = NULL,
  ...
) {
  check_dots(list(...), character(), "autoplot.pcCompact")
  wish <- list(around = around, order = order, isolated = isolated, components = components, layout = layout)
  asked <- asked_graph(drawn_edges_of(object), labels, wish, object)
  labels <- asked$listed$labels
  n <- length(labels)
  drawn <- table_of(asked$listed)
  boxes <- asked$wish$shown == "boxes" || asked$wish$shown == "auto" && n <= 40L
  # Inches for text of 10 points, which becomes smaller if the layout is larger than a page.
  size <- cbind(if (boxes) 0.085 * nchar(labels, "width") + 0.2 else rep.int(0.3, n), rep.int(0.3, n))
  xy <- if (n) start_layout(n, drawn, size, 1.4, asked$wish$layout) else size
  own <- boxes && n && !is.matrix(asked$wish$layout)
  text <- 3.5 * if (own) max(0.4, min(1, c(6.5, 4.6) / apply(xy + size / 2, 2L, max))) else 1
  # Dots of large graphs are smaller, and so are their arrows.
  dot <- max(0.5, 3 * min(1, sqrt(if (boxes) 1 else 80 / n)))
  nodes <- data.frame(name = labels, x = xy[, 1L], y = xy[, 2L], degree = tabulate(c(drawn$from, drawn$to), n))
  values <- if (!is.null(colour)) values_of_nodes(colour, asked$names, "colour")
  nodes$value <- values$values[asked$nodes]

  # The rows of the table of edges, and what the layer needs.
  network <- network_of(object)
  table <- named_edges(network)
  at <- match(pair_key(asked$nodes[drawn$from], asked$nodes[drawn$to]), pair_key(network$edges$from, network$edges$to))
  box <- if (boxes) labels else character(n)
  looks <- list(edge_colour = edge_colour, edge_width = edge_width)
  looks <- Map(column_of_edges, Filter(Negate(is.null), looks), list(table), names(Filter(Negate(is.null), looks)))
  kinds <- edge_look(pag = isTRUE(asked$listed$pag))
  edges <- list2DF(c(
    as.list(table[at, ]),
    lapply(looks, function(column) column$values[at]),
    list(x = xy[drawn$from, 1L], y = xy[drawn$from, 2L], xend = xy[drawn$to, 1L], yend = xy[drawn$to, 2L]),
    list(box_from = box[drawn$from], box_to = box[drawn$to]),
    as.list(kinds[match(drawn$kind, kinds$kind), c("said", "lty", "at_from", "at_to")])
  ))
  shown <- kinds[kinds$kind %in% drawn$kind, ]
  notes <- c(if (is_result(object) || is_compact(object)) validity_note(object), asked$remark)

  ggplot2::ggplot(nodes[order(-nodes$degree), ], aes_of(x = "x", y = "y", label = "name")) +
    edge_layer(edges, names(looks), text, dot) +
    node_layers(boxes, asked$wish$shown != "none", text, dot, !is.null(values)) +
    (if (is.null(edge_colour)) {
      ggplot2::scale_colour_manual(
        NULL,
        values = stats::setNames(shown$colour, shown$said),
        breaks = shown$said,
        guide = if (nrow(shown) > 1L) ggplot2::guide_legend(override.aes = list(linetype = shown$lty)) else "none"
      )
    }) +
    ggplot2::scale_linetype_identity() +
    (if (!is.null(edge_width)) ggplot2::scale_linewidth(looks$edge_width$title, range = c(0.2, 1.6))) +
    ggplot2::labs(caption = if (length(notes)) paste(notes, collapse = "\n"), fill = values$title) +
    (if (!is.null(edge_colour)) ggplot2::labs(colour = looks$edge_colour$title)) +
    # Room for the boxes of the outer nodes, whose size has the unit of our layouts.
    (if (own) ggplot2::expand_limits(x = range(xy[, 1L] + size[, 1L] / 2, xy[, 1L] - size[, 1L] / 2))) +
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::theme_void() +
    ggplot2::theme(plot.margin = ggplot2::margin(12, 24, 12, 24))
}

#' @exportS3Method ggplot2::autoplot
autoplot.pcAlgo <- autoplot.pcCompact

#' @exportS3Method ggplot2::autoplot
autoplot.fciAlgo <- autoplot.pcCompact

#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_graph <- autoplot.pcCompact

# Returns a mapping of aesthetics to columns, without names that R CMD check would look for.
aes_of <- function(...) do.call(ggplot2::aes, lapply(c(...), as.name))

node_layers <- function(boxes, text_shown, text, dot, filled) {
  mapping <- if (filled) aes_of(fill = "value")
  fill <- function(plain) if (!filled) list(fill = plain)
  if (boxes) {
    return(do.call(ggplot2::geom_label, c(list(mapping, size = text, colour = "black"), fill(node_look$fill))))
  }
  list(
    do.call(
      ggplot2::geom_point,
      c(list(mapping, shape = 21, size = dot, colour = node_look$border), fill(dot_look$fill))
    ),
    if (text_shown) ggplot2::geom_text(size = 2.5, vjust = -1, check_overlap = TRUE)
  )
}

# Returns a layer of edges that end at the borders of nodes. Its geom is made here, because ggplot2 may not be installed.
edge_layer <- function(edges, looks, text, dot) {
  ends <- c("x", "y", "xend", "yend", "at_from", "at_to", "box_from", "box_to")
  geom <- ggplot2::ggproto(
    "GeomPcgpuEdge",
    ggplot2::Geom,
    required_aes = ends,
    default_aes = do.call(ggplot2::aes, list(colour = "#333333", linewidth = dot / 6, linetype = 1, alpha = NA)),
    draw_key = ggplot2::draw_key_path,
    draw_panel = function(data, panel_params, coord, text, dot) {
      if (nrow(data)) {
        grid::gTree(edges = coord$transform(data, panel_params), text = text, dot = dot, cl = "pcgpu_edges")
      }
    },
    extra_params = c("na.rm", "text", "dot")
  )
  ggplot2::layer(
    geom = geom,
    stat = "identity",
    position = "identity",
    data = edges,
    mapping = aes_of(
      stats::setNames(ends, ends),
      linetype = "lty",
      colour = if ("edge_colour" %in% looks) "edge_colour" else "said",
      linewidth = if ("edge_width" %in% looks) "edge_width"
    ),
    params = list(text = text, dot = dot, na.rm = TRUE),
    inherit.aes = FALSE
  )
}

# Draws the edges in millimetres, which are known only on the page: from border to border, with the marks at both ends.
#' @exportS3Method grid::makeContent
makeContent.pcgpu_edges <- function(x) {
  edges <- x$edges
  on_page <- function(at, convert) convert(grid::unit(at, "npc"), "mm", valueOnly = TRUE)
  first <- cbind(on_page(edges$x, grid::convertX), on_page(edges$y, grid::convertY))
  last <- cbind(on_page(edges$xend, grid::convertX), on_page(edges$yend, grid::convertY))
  long <- pmax(sqrt(rowSums((last - first)^2)), 1e-6)
  ahead <- (last - first) / long
  # The distance from the middle of a node to its border. geom_label() adds a quarter of a line on each side.
  border <- function(label) {
    if (!all(nzchar(label))) {
      return(rep.int(0.5 * x$dot + 0.4, nrow(edges)))
    }
    grob <- function(of) grid::textGrob(of, gp = grid::gpar(fontsize = x$text * ggplot2::.pt))
    line <- 0.25 * 11 / ggplot2::.pt * 1.2
    wide <- vapply(label, function(of) grid::convertWidth(grid::grobWidth(grob(of)), "mm", TRUE), 0) / 2 + line
    high <- vapply(label, function(of) grid::convertHeight(grid::grobHeight(grob(of)), "mm", TRUE), 0) / 2 + line
    pmin(wide / pmax(abs(ahead[, 1L]), 1e-6), high / pmax(abs(ahead[, 2L]), 1e-6)) + 0.5
  }
  circle <- 0.8
  from <- pmin(border(edges$box_from), long / 2)
  to <- pmin(border(edges$box_to), long / 2)
  start <- first + ahead * (from + 2 * circle * (edges$at_from == "circle"))
  end <- last - ahead * (to + 2 * circle * (edges$at_to == "circle"))
  colour <- ggplot2::alpha(edges$colour, edges$alpha)
  width <- ifelse(is.na(edges$linewidth), x$dot / 6, edges$linewidth) * ggplot2::.pt
  heads <- paste(edges$at_from == "arrow", edges$at_to == "arrow")
  lines <- lapply(split(seq_along(heads), heads), function(of) {
    ends <- c("TRUE TRUE" = "both", "FALSE TRUE" = "last", "TRUE FALSE" = "first")[heads[of[1L]]]
    grid::segmentsGrob(
      start[of, 1L],
      start[of, 2L],
      end[of, 1L],
      end[of, 2L],
      "mm",
      arrow = if (!is.na(ends)) grid::arrow(20, grid::unit(max(0.8, 0.8 * x$dot), "mm"), ends, "closed"),
      gp = grid::gpar(col = colour[of], fill = colour[of], lwd = width[of], lty = edges$linetype[of])
    )
  })
  circles <- function(at, which) {
    if (any(which)) {
      gp <- grid::gpar(col = colour[which], fill = "white")
      list(grid::circleGrob(at[which, 1L], at[which, 2L], circle, "mm", gp = gp))
    }
  }
  grid::setChildren(
    x,
    do.call(
      grid::gList,
      c(
        unname(lines),
        circles(first + ahead * (from + circle), edges$at_from == "circle"),
        circles(last - ahead * (to + circle), edges$at_to == "circle")
      )
    )
  )
}

#' @rdname autoplot.pcCompact
#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_comparison <- function(object, ...) {
  takes <- setdiff(names(formals(autoplot.pcCompact)), c("object", "edge_colour", "..."))
  check_dots(list(...), takes, "autoplot.pcgpu_comparison")
  picture <- picture_of_comparison(object)
  autoplot.pcCompact(picture$graph, ..., edge_colour = list(picture$difference))
}

#' @rdname autoplot.pcCompact
#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_stability <- function(object, which = c("strength", "graph"), ...) {
  which <- check_choice(which, c("strength", "graph"), "which")
  if (which == "graph") {
    return(autoplot.pcCompact(object, ...))
  }
  check_dots(list(...), character(), "autoplot.pcgpu_stability")
  frame <- as.data.frame(object)
  frame$rank <- seq_len(nrow(frame))
  frame$in_fit <- frame$fit != ""
  ggplot2::ggplot(frame, aes_of(x = "rank", y = "strength", colour = "kept", shape = "in_fit")) +
    ggplot2::geom_hline(yintercept = object$threshold$value, linetype = 2) +
    ggplot2::geom_point() +
    ggplot2::scale_colour_manual(values = c("FALSE" = "#A9B4BF", "TRUE" = node_look$border)) +
    ggplot2::scale_shape_manual(values = c("FALSE" = 1, "TRUE" = 19)) +
    ggplot2::expand_limits(y = c(0, 1)) +
    # Most of many pairs are adjacent in few samples only.
    (if (nrow(frame) > 200L) ggplot2::scale_x_log10()) +
    ggplot2::labs(
      x = "Pairs by strength",
      y = sprintf("Share of %s samples", in_words(object$replicates)),
      shape = "in the graph of all rows"
    )
}

#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_pag_stability <- autoplot.pcgpu_stability

#' @rdname autoplot.pcCompact
#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_effects <- function(object, n = 20L, ...) {
  check_dots(list(...), character(), "autoplot.pcgpu_effects")
  check_rows_shown(n)
  shown <- utils::head(as.data.frame(object), n)
  shown <- shown[!is.na(shown$smallest), ]
  known <- function(x, y) {
    values <- if (is.null(object$smallest)) object[match(x, object$labels), match(y, object$labels)] else NULL
    values[is.finite(values)]
  }
  values <- if (is.null(object$smallest)) Map(known, shown$x, shown$y) else as.list(shown$smallest)
  pair <- if (length(object$y) > 1L) paste(shown$x, shown$y, sep = " on ") else shown$x
  times <- lengths(values)
  frame <- data.frame(
    pair = rep(pair, times),
    effect = as.double(unlist(values)),
    bound = ifelse(
      unlist(lapply(values, function(of) seq_along(of) == which.min(abs(of)))),
      "nearest to 0, the bound",
      "other possible effects"
    )
  )
  ggplot2::ggplot(frame, aes_of(x = "effect", y = "pair")) +
    ggplot2::scale_y_discrete(limits = rev(unique(pair))) +
    ggplot2::geom_vline(xintercept = 0, linetype = 2) +
    ggplot2::geom_line(aes_of(group = "pair"), frame[rep(times > 1L, times), ], colour = node_look$border) +
    ggplot2::geom_point(aes_of(fill = "bound"), shape = 21, colour = node_look$border) +
    ggplot2::scale_fill_manual(
      NULL,
      values = c("nearest to 0, the bound" = node_look$border, "other possible effects" = "white")
    ) +
    ggplot2::labs(
      x = if (length(object$y) == 1L) paste("Possible effects on", object$y) else "Possible effects",
      y = NULL
    )
}

#' @exportS3Method ggplot2::autoplot
autoplot.pcgpu_joint_effects <- autoplot.pcgpu_effects

# Draws graphs in base graphics. The unit is the inch on the page, so boxes, text and arrowheads keep their proportions.

node_look <- list(fill = "#E8F0F8", border = "#2F5D8A")

# Dots without a label inside are darker, so that they stand out.
dot_look <- list(fill = "#8DB8DE")

# How nodes are drawn by default; see plot_cpdag() for the options.
plain_wish <- list(shown = "boxes")

# edge_colour: colours of the kinds of edges, see edge_look(). wish: how to draw the graph, a list of
# - `edges`: see drawn_edges();
# - `shown`: "auto", "boxes", or, for dots, which labels: "all", "hubs" or "none";
# - `fill`, `size`, `values` (of `size`), `keys`, `focus`, and `layout`, a matrix.
draw_base <- function(
  listed,
  main,
  note = NULL,
  cex = NULL,
  node_fill = NULL,
  node_border = NULL,
  edge_colour = NULL,
  ...,
  wish = plain_wish,
  remark = NULL
) {
  # igraph's names of arguments also work, so a script can use either engine.
  given <- list(...)
  node_fill <- wish$fill %||% node_fill %||% given[["vertex.color"]]
  node_border <- node_border %||% given[["vertex.frame.color"]] %||% node_look$border
  cex <- cex %||% given[["vertex.label.cex"]]
  n <- length(listed$labels)
  check_cex(cex, n, "cex")
  fill <- one_a_node(node_fill %||% node_look$fill, n, "node_fill")
  border <- one_a_node(node_border, n, "node_border")
  kinds <- edge_look(edge_colour, isTRUE(listed$pag))
  old <- page_settings()
  on.exit(graphics::par(old))
  new_page(main, c(note, remark))
  place <- place_on_page(listed, cex, wish = wish)
  place$width <- wish$edges$width %||% 1
  if (place$dots && is.null(node_fill)) {
    fill <- rep(dot_look$fill, n)
  }
  graphics::par(usr = c(0, place$page[1L], 0, place$page[2L]))
  draw_tiers(place, wish$tiers, wish$heads)
  draw_edges(place, kinds, wish$edges$colour)
  draw_edge_labels(place, wish$edges$label %||% character())
  draw_nodes(place$xy, place$size, place$radius, fill, border, place$line * if (place$dots) 0.5 else 1)
  draw_focus(place, fill, border, wish$focus)
  if (place$dots) {
    draw_tags(place$tags, listed$labels)
  } else {
    draw_labels(place$xy, listed$labels, place$cex, label_colours(fill))
  }
  draw_legend(place$legend, kinds, wish$edges$colour)
  draw_keys(place$keys, place$keys_at, place$unit)
  draw_title(main)
  draw_notes(c(note, remark))
}

base_takes <- c("vertex.color", "vertex.frame.color", "vertex.label.cex", "node_fill", "node_border", "cex")

# Draws a bold border around the nodes that `around` named.
draw_focus <- function(place, fill, border, focus) {
  if (length(focus)) {
    draw_nodes(
      place$xy[focus, , drop = FALSE],
      place$size[focus, , drop = FALSE],
      place$radius,
      fill[focus],
      border[focus],
      2.5
    )
  }
}

# Returns colours for n nodes from one colour, or from one for each node.
one_a_node <- function(colours, n, argument) {
  check_colours(colours, n, argument, "one for each node")
  rep_len(colours, n)
}

# Checks that there is one colour, or n; `which` says what the n are for.
check_colours <- function(colours, n, argument, which) {
  hint <- sprintf("give one colour, or %d, %s.", n, which)
  if (!length(colours) %in% c(1L, n) || is.list(colours)) {
    abort_argument(argument, colours, hint, is = sprintf("of length %d", length(colours)))
  }
  different <- unique(colours)
  known <- vapply(
    different,
    function(colour) !inherits(try(grDevices::col2rgb(colour), silent = TRUE), "try-error"),
    NA
  )
  if (!all(known)) {
    abort_argument(
      argument,
      colours,
      paste(hint, "Colours are names in colors(), numbers, or codes such as \"#2F5D8A\"."),
      has = paste("an unknown colour,", enumerate(dQuote(different[!known], FALSE)))
    )
  }
}

check_cex <- function(cex, n, argument) {
  if (is.null(cex)) {
    return(invisible())
  }
  if (!is.numeric(cex) || !length(cex) %in% c(1L, n) || !all(is.finite(cex)) || any(cex <= 0)) {
    abort_argument(argument, cex, sprintf("give a number above 0, or %d of them, one for each node.", n))
  }
}

# Returns the settings that new_page() changes, so that they can be restored.
page_settings <- function() graphics::par("mai", "xpd", "xaxs", "yaxs")

# Starts a new page with very small margins. The size of a figure is known only once the page has begun. R stops if
# margins leave no room for a plot. Margins are therefore set after the page has begun.
new_page <- function(main, notes = NULL) {
  graphics::par(mai = c(0, 0, 0, 0), xpd = NA, xaxs = "i", yaxs = "i")
  graphics::plot.new()
  figure <- graphics::par("fin")
  line <- graphics::par("csi") * graphics::par("mex")
  side <- min(0.5 * line, 0.05 * min(figure))
  top <- if (is.null(main)) side else min(2.5 * line, 0.2 * figure[2L])
  bottom <- if (is.null(notes)) side else min(side + length(notes) * line, (0.1 + 0.05 * length(notes)) * figure[2L])
  graphics::par(mai = c(bottom, side, top, side))
}

# Draws the title in the middle of the upper margin.
draw_title <- function(main) {
  if (!is.null(main)) {
    text_in_margin(main, 3L, graphics::par("cex.main"), graphics::par("font.main"), graphics::par("col.main"))
  }
}

# Draws lines in the middle of the lower margin: notes on the graph, and what is not drawn.
draw_notes <- function(lines) {
  for (k in seq_along(lines)) {
    text_in_margin(lines[k], 1L, 0.8, 3L, "#5A5A5A", c(k, length(lines)))
  }
}

# Draws text in the middle of margin 1 (below) or 3 (above), reduced if it would not fit. part: the number of this line
# from the top, and the number of lines.
text_in_margin <- function(text, side, cex, font, colour, part = c(1, 1)) {
  margin <- graphics::par("mai")[side]
  space <- c(graphics::par("pin")[1L], 0.9 * margin / part[2L])
  measure <- function(cex) {
    c(
      max(graphics::strwidth(text, units = "inches", cex = cex, font = font)),
      max(graphics::strheight(text, units = "inches", cex = cex, font = font)) + 0.1 * cex
    )
  }
  cex <- fitting_cex(cex, function(cex) all(measure(cex) <= space))
  usr <- graphics::par("usr")
  inch <- (usr[4L] - usr[3L]) / graphics::par("pin")[2L]
  away <- inch * margin * (part[1L] - 0.5) / part[2L]
  at <- if (side == 3L) usr[4L] + away else usr[3L] - away
  graphics::text((usr[1L] + usr[2L]) / 2, at, text, cex = cex, font = font, col = colour)
}

# Returns the largest factor, from `start` down, at which text fits. Devices round the size of text, so factors are
# tried, not computed.
fitting_cex <- function(start, fits) {
  for (factor in start * 0.96^(0:150)) {
    if (fits(factor)) {
      break
    }
  }
  factor
}

# Returns the layout in inches of the page's plot region: list(xy, size, radius, cex, line, head, edges, page, legend,
# keys, dots). Every node lies on the page and above the legend. See place_in_boxes() and place_in_dots().
place_on_page <- function(listed, cex = NULL, font = NULL, family = NULL, wish = plain_wish) {
  edges <- table_of(listed)
  page <- graphics::par("pin")
  look <- edge_look(pag = isTRUE(listed$pag))
  legend <- place_legend(look[look$kind %in% edges$kind, ], page)
  keys <- place_keys(c(wish$keys, wish$edges$keys), page, legend$width %||% 0)
  low <- legend$y %||% (if (is.null(keys)) 0 else keys$high / 2 + 0.02)
  more <- if (is.null(keys)) 0 else (keys$rows - 1) * keys$high
  below <- c(0, max(legend$height %||% 0, if (is.null(keys)) 0 else low + keys$high / 2 + 0.03) + more)
  # The entry of the edges stands in the top row.
  if (!is.null(legend)) {
    legend$y <- low + more
  }
  # The names of tiers stand above them.
  space <- page - below - c(0, if (is.null(wish$heads)) 0 else 0.24)
  n <- length(listed$labels)
  shown <- wish$shown
  # Decided without measuring labels: there is no room for boxes of three letters.
  if (shown == "auto" && (!is.null(wish$size) || (is.null(cex) && n > 30L && prod(space) / n < 0.1))) {
    shown <- "dots"
  }
  # Lazy, because it may not be needed; evaluated once, because both boxes and dots may need it.
  delayedAssign("shapes", component_shapes(n, edges))
  place <- if (shown %in% c("auto", "boxes")) {
    place_in_boxes(listed, edges, space, below, cex, font, family, wish$layout, shapes)
  }
  if (shown == "auto" && is.null(cex) && n > 30L && min(place$cex) < least_box_cex) {
    place <- NULL
  }
  dots <- is.null(place)
  if (dots) {
    place <- place_in_dots(listed, edges, space, below, cex, font, family, wish, shapes)
  }
  place$bends <- bends_on_page(attr(place$start, "bends"), place$start, place$xy)
  c(place, list(edges = edges, page = page, low = below[2L], legend = legend, keys = keys, keys_at = low, dots = dots))
}

# Returns the places of bends in a layout, a matrix.
bends_of <- function(xy) {
  bends <- attr(xy, "bends")
  if (is.null(bends)) matrix(0, 0L, 2L) else unname(as.matrix(bends[c("x", "y")]))
}

# Returns the bends of edges moved as the nodes were from `start` to `xy`, by one factor and shift for each axis.
bends_on_page <- function(bends, start, xy) {
  if (is.null(bends) || !nrow(bends)) {
    return(NULL)
  }
  moved <- lapply(1:2, function(axis) {
    ends <- c(which.min(start[, axis]), which.max(start[, axis]))
    wide <- diff(start[ends, axis])
    factor <- if (wide > 0) diff(xy[ends, axis]) / wide else 1
    xy[ends[1L], axis] + factor * (bends[[axis + 1L]] - start[ends[1L], axis])
  })
  data.frame(edge = bends$edge, x = moved[[1L]], y = moved[[2L]])
}

unplaced <- function() {
  list(xy = matrix(0, 0L, 2L), size = matrix(0, 0L, 2L), radius = 0, cex = numeric(), line = 1, head = 0.1, unit = 0)
}

# Returns the positions of nodes before scaling, from 0 up. given: a layout, see given_layout().
start_layout <- function(n, edges, size, aspect, given, shapes = component_shapes(n, edges)) {
  if (is.null(given)) {
    return(layout_graph(n, edges, size, aspect, shapes))
  }
  if (is.function(given)) {
    return(given(n, edges, size, aspect))
  }
  sweep(given, 2L, apply(given, 2L, min))
}

# Places a box around each label, measured on this device at the cex at which it is drawn. cex: NULL for the largest up
# to 1.9 at which no two boxes overlap; or the user's, for all nodes or one for each node, which is reduced only if a
# box would not fit on the page.
place_in_boxes <- function(listed, edges, space, below, cex, font, family, layout, shapes) {
  n <- length(listed$labels)
  if (n == 0L) {
    return(unplaced())
  }
  asked <- rep_len(cex %||% 1, n)
  boxes <- function(factor) label_boxes(listed$labels, factor * asked, font, family)
  size <- boxes(1)
  xy <- start_layout(n, edges, size, space[1L] / space[2L], layout, shapes)
  is_own <- !is.matrix(layout)
  # Edges that bend must stay on the page, too.
  bends <- bends_of(xy)
  ends <- rbind(xy, bends)
  with_none <- function(size) rbind(size, matrix(0, nrow(bends), 2L))
  scale <- if (is_own) min(space / apply(ends + with_none(size) / 2, 2L, max)) else 1
  # Positions fill the page, but a small graph is not enlarged much, and no axis is stretched to twice the other.
  most <- if (is_own) {
    (if (is.function(layout)) 1.7 else 1.15) * min(scale, 1.9)
  } else {
    2 * max(space) / max(xy, 1e-9)
  }
  factors <- function(size) {
    found <- widest_stretch(ends, with_none(size), space, most)
    if (is_own) found else rep(min(found), 2L)
  }
  inside <- function(size) all(apply(size, 2L, max) <= space)
  fits <- function(factor) {
    size <- boxes(factor)
    if (!inside(size)) {
      return(FALSE)
    }
    # The user's positions may be too close to each other for any text.
    if (!is_own && factor < 0.5) {
      return(TRUE)
    }
    xy <- sweep(xy, 2L, factors(size), `*`)
    apart <- length(near_pairs(xy, size, 0.25 * mean(size[, 2L]), most = 0)$a) == 0L
    # Larger text must not hide edges.
    apart && (factor <= scale || shortest_edge(xy, size, edges) >= 0.5 * mean(size[, 2L]))
  }
  factor <- if (is.null(cex)) {
    fitting_cex(min(1.25 * scale, 1.9), fits)
  } else {
    fitting_cex(1, function(factor) inside(boxes(factor)))
  }
  size <- boxes(factor)
  # Heads and lines become finer with the text, but not as fine as the text of a large graph.
  cex <- factor * asked
  least <- min(cex, 1)
  stretch <- factors(size)
  list(
    start = xy,
    xy = in_the_middle(sweep(xy, 2L, stretch, `*`), size, space, below, sweep(bends, 2L, stretch, `*`)),
    size = size,
    radius = line_height(min(cex)) / 2,
    cex = cex,
    line = sqrt(max(least, 0.15)),
    head = 0.11 * max(least, 0.35),
    unit = 0.1
  )
}

# Returns the shortest distance between the boxes of two adjacent nodes.
shortest_edge <- function(xy, size, edges) {
  away <- abs(xy[edges$from, , drop = FALSE] - xy[edges$to, , drop = FALSE])
  gap <- away - (size[edges$from, , drop = FALSE] + size[edges$to, , drop = FALSE]) / 2
  min(pmax(gap[, 1L], gap[, 2L]), Inf)
}

# Returns the largest factors for the two axes, up to `most`, with which all boxes fit into the space. The extent grows
# with the factor, so bisection finds the factor.
widest_stretch <- function(xy, size, space, most) {
  vapply(
    1:2,
    function(axis) {
      at <- xy[, axis]
      half <- size[, axis] / 2
      fits <- function(factor) max(factor * at + half) - min(factor * at - half) <= space[axis]
      low <- 0
      high <- most
      middle <- most
      for (round in 1:30) {
        if (fits(middle)) {
          low <- middle
        } else {
          high <- middle
        }
        middle <- (low + high) / 2
      }
      low
    },
    0
  )
}

# Returns width and height in inches of the boxes around labels of these sizes.
label_boxes <- function(labels, cex, font = NULL, family = NULL) {
  size <- matrix(0, length(labels), 2L)
  for (value in unique(cex)) {
    these <- cex == value
    text <- labels[these]
    one <- line_height(value)
    wide <- graphics::strwidth(text, units = "inches", cex = value, font = font, family = family)
    high <- graphics::strheight(text, units = "inches", cex = value, font = font, family = family)
    # Two thirds of a line of extra width keep the text out of the half circles at the ends.
    size[these, 1L] <- pmax(wide + 2 / 3 * one, 1.1 * one)
    size[these, 2L] <- pmax(high + 0.55 * one, one)
  }
  size
}

# Returns the height of the box around one line of text.
line_height <- function(cex) 2.4 * cex * graphics::strheight("M", units = "inches", cex = 1)

# Draws all boxes in one call: polygon() accepts shapes separated by NA, and a colour for each.
draw_nodes <- function(xy, size, radius, fill, border, line = 1) {
  if (nrow(xy) == 0L) {
    return(invisible())
  }
  angle <- rep(seq(0, pi / 2, length.out = 8L), 4L) + rep(0:3, each = 8L) * pi / 2
  sx <- rep(c(1, -1, -1, 1), each = 8L)
  sy <- rep(c(1, 1, -1, -1), each = 8L)
  radius <- pmin(radius, size[, 1L] / 2, size[, 2L] / 2)
  x <- xy[, 1L] + outer(size[, 1L] / 2 - radius, sx) + outer(radius, cos(angle))
  y <- xy[, 2L] + outer(size[, 2L] / 2 - radius, sy) + outer(radius, sin(angle))
  graphics::polygon(t(cbind(x, NA)), t(cbind(y, NA)), col = fill, border = border, lwd = 1.2 * line)
}

draw_labels <- function(xy, labels, cex, colours = "black") {
  if (nrow(xy)) {
    # Baselines, not middles, lie at one height: "age" and "relapse" have parts below and above.
    one_line <- !grepl("\n", labels, fixed = TRUE)
    low <- xy[, 2L] - 0.43 * graphics::strheight("M", units = "inches", cex = 1) * cex
    draw <- function(which, y, adj) {
      if (any(which)) {
        graphics::text(
          xy[which, 1L],
          y[which],
          labels[which],
          cex = rep_len(cex, nrow(xy))[which],
          col = rep_len(colours, nrow(xy))[which],
          adj = adj
        )
      }
    }
    draw(one_line, low, c(0.5, 0))
    draw(!one_line, xy[, 2L], c(0.5, 0.5))
  }
}

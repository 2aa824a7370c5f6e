# Draws nodes as dots, if there is no room for a box around every label. Labels stand next to the dots of hubs, and of
# other nodes if there is room.

# Text in boxes below this size cannot be read on paper.
least_box_cex <- 0.42

# In graphs with more nodes only hubs are labelled: other labels have no room, and looking for it takes time.
most_tags <- 800L

# Returns the layout in inches, like place_in_boxes(), and `tags`, the labels: a data frame of node, x, y, cex, wide and
# high.
place_in_dots <- function(listed, edges, space, below, cex, font, family, wish, shapes) {
  n <- length(listed$labels)
  degree <- tabulate(c(edges$from, edges$to), n)
  # Hubs are larger, but less so than with sizes that the user gave.
  ratio <- wish$size %||% (1 + 0.8 * sqrt(degree / max(degree, 1)))
  if (n == 0L) {
    return(c(unplaced(), list(tags = NULL)))
  }
  start <- start_layout(n, edges, cbind(ratio, ratio), space[1L] / space[2L], wish$layout, shapes)
  unit <- largest_dot(start, ratio, space)
  size <- cbind(ratio, ratio) * unit
  bends <- bends_of(start)
  ends <- rbind(start, bends)
  room <- rbind(size, matrix(0, nrow(bends), 2L))
  # Layers fill the page.
  most <- if (is.matrix(wish$layout)) {
    2 * max(space) / max(start, 1e-9)
  } else if (is.function(wish$layout)) {
    100
  } else {
    1.6 * min(space / apply(start + ratio / 2, 2L, max), 0.4)
  }
  stretch <- widest_stretch(ends, room, space, most)
  if (is.matrix(wish$layout)) {
    stretch <- rep(min(stretch), 2L)
  }
  xy <- in_the_middle(sweep(start, 2L, stretch, `*`), size, space, below, sweep(bends, 2L, stretch, `*`))
  page <- rbind(below, space + below)
  tags <- place_tags(xy, size[, 1L], listed$labels, page, neighbour_lists(n, edges), cex, font, family, wish)
  list(
    start = start,
    xy = xy,
    size = size,
    radius = max(size) / 2,
    cex = NULL,
    line = min(1, max(0.35, sqrt(unit / 0.12))),
    head = min(0.1, max(0.025, 0.8 * stats::median(size))),
    unit = unit,
    tags = tags
  )
}

# Returns the diameter of the smallest dots, in inches: two thirds of what fits, so that edges between neighbours are
# visible. The user's positions need not keep dots apart.
largest_dot <- function(xy, ratio, space) {
  most <- 0.29 / max(ratio, 1.8)
  extent <- apply(xy, 2L, max)
  given <- min(space / pmax(extent + if (max(extent) > 0) 0 else 1, 1e-9))
  fits <- function(unit) {
    size <- cbind(ratio, ratio) * 1.5 * unit
    at <- xy * given * 0.95
    length(near_pairs(at, size, 0, most = 0)$a) == 0L
  }
  # A dot stays visible as long as it is larger than the lines.
  max(fitting_cex(most, function(unit) unit <= 0.004 || fits(unit)), 0.004)
}

in_the_middle <- function(xy, size, space, below, bends = matrix(0, 0L, 2L)) {
  low <- apply(rbind(xy - size / 2, bends), 2L, min)
  high <- apply(rbind(xy + size / 2, bends), 2L, max)
  sweep(xy, 2L, (space - high - low) / 2 + below, `+`)
}

# Finds a position for a node's label to the right of it, to the left, above or below. The label lies on the page, over
# no other label and, except for hubs, over no dot.
place_tags <- function(xy, diameter, labels, page, near, cex, font, family, wish) {
  degree <- lengths(near)
  shown <- wish$shown
  n <- length(labels)
  if (shown == "none") {
    return(NULL)
  }
  values <- wish$values %||% degree
  rank <- order(!seq_len(n) %in% wish$focus, -values, -degree, na.last = TRUE)
  hubs <- if (shown == "all") rank else utils::head(rank, max(5, min(40, floor(prod(page[2L, ] - page[1L, ]) / 1.2))))
  # Without edges and without values, there are no hubs.
  if (shown != "all" && is.null(wish$values)) {
    hubs <- hubs[degree[hubs] > 1L | hubs %in% wish$focus]
  }
  others <- if (shown == "auto" && n <= most_tags) setdiff(rank, hubs)
  of_hubs <- 0.75
  of_others <- if (n <= 120L) 0.6 else 0.5
  if (length(hubs) > 40L) {
    of_hubs <- max(0.4, 0.75 * sqrt(40 / length(hubs)))
  }
  asked <- if (!is.null(cex)) rep_len(cex, n)
  found <- new_tags(n)
  for (node in c(hubs, others)) {
    must <- node %in% hubs
    size <- if (!is.null(asked)) {
      asked[node]
    } else if (must) {
      of_hubs
    } else {
      min(of_hubs, of_others)
    }
    found <- place_tag(
      found,
      node,
      labels[node],
      size,
      must,
      shown == "all",
      xy,
      diameter,
      near[[node]],
      page,
      font,
      family
    )
  }
  found <- found$tags
  if (length(found)) data.frame(do.call(rbind, found)) else NULL
}

new_tags <- function(n) list(tags = list(), low = matrix(0, 0L, 2L), high = matrix(0, 0L, 2L))

# `must`: the label of a hub may cover dots, as few as possible. `always`: a label may cover another one. `near`: the
# neighbours, whose edges the label avoids if possible.
place_tag <- function(found, node, label, cex, must, always, xy, diameter, near, page, font, family) {
  extent <- c(
    graphics::strwidth(label, units = "inches", cex = cex, font = font, family = family),
    max(graphics::strheight(label, units = "inches", cex = cex, font = font, family = family), 0.5 * line_height(cex))
  ) +
    0.02
  away <- diameter[node] / 2 + 0.01
  centres <- cbind(
    xy[node, 1L] + c(1, -1, 0, 0) * (away + extent[1L] / 2),
    xy[node, 2L] + c(0, 0, 1, -1) * (away + extent[2L] / 2)
  )
  towards <- xy[near, , drop = FALSE] - rep(xy[node, ], each = length(near))
  towards <- towards / pmax(sqrt(rowSums(towards^2)), 1e-9)
  on_edges <- c(
    sum(towards[, 1L] > 0.85),
    sum(towards[, 1L] < -0.85),
    sum(towards[, 2L] > 0.6),
    sum(towards[, 2L] < -0.6)
  )
  best <- NULL
  for (k in 1:4) {
    low <- centres[k, ] - extent / 2
    high <- centres[k, ] + extent / 2
    if (any(low < page[1L, ] | high > page[2L, ])) {
      next
    }
    on_tags <- sum(
      found$low[, 1L] < high[1L] & found$high[, 1L] > low[1L] & found$low[, 2L] < high[2L] & found$high[, 2L] > low[2L]
    )
    if (on_tags && !always) {
      next
    }
    half <- diameter / 2
    on_dots <- sum(
      abs(xy[, 1L] - centres[k, 1L]) < half + extent[1L] / 2 & abs(xy[, 2L] - centres[k, 2L]) < half + extent[2L] / 2
    )
    if (on_dots && !must) {
      next
    }
    cost <- 1000 * on_tags + 2 * on_dots + on_edges[k]
    if (is.null(best) || cost < best$cost) {
      best <- list(cost = cost, k = k)
    }
    if (cost == 0) break
  }
  if (is.null(best) && always) {
    # The page is smaller than the label.
    best <- list(k = 1L)
  }
  if (!is.null(best)) {
    at <- centres[best$k, ]
    found$tags[[length(found$tags) + 1L]] <- c(
      node = node,
      x = at[1L],
      y = at[2L],
      cex = cex,
      wide = extent[1L],
      high = extent[2L]
    )
    found$low <- rbind(found$low, at - extent / 2)
    found$high <- rbind(found$high, at + extent / 2)
  }
  found
}

# Draws labels on a translucent white ground, so that they are legible over edges.
draw_tags <- function(tags, labels) {
  if (is.null(tags)) {
    return(invisible())
  }
  paper <- if (isTRUE(grDevices::dev.capabilities("semiTransparency")[[1L]])) "#FFFFFFB8" else NA
  graphics::rect(
    tags$x - tags$wide / 2,
    tags$y - tags$high / 2,
    tags$x + tags$wide / 2,
    tags$y + tags$high / 2,
    col = paper,
    border = NA
  )
  graphics::text(tags$x, tags$y, labels[tags$node], cex = tags$cex)
}

# Returns colours of lines. If lines would blacken the page, they become transparent, the more so the more ink is on the
# page.
thinned <- function(colour, place) {
  edges <- place$edges
  if (!place$dots || !nrow(edges) || !isTRUE(grDevices::dev.capabilities("semiTransparency")[[1L]])) {
    return(colour)
  }
  away <- place$xy[edges$from, , drop = FALSE] - place$xy[edges$to, , drop = FALSE]
  # A line with width 1 is 1/96 inch wide.
  ink <- sum(sqrt(rowSums(away^2))) * place$line * 1.4 / 96 / prod(place$page)
  if (ink < 0.15) colour else grDevices::adjustcolor(colour, max(0.12, (0.15 / ink)^0.7))
}

# Draws the legend of the colours and sizes of nodes: rows above the row of the edges, or to its right if there is room.

most_levels <- 12L

# Returns the pieces of an entry: what is drawn, its colour or size, and its text.
key_pieces <- function(key) {
  text <- function(words) list(draw = "text", text = words)
  mark <- if (isTRUE(key$line)) "line" else "swatch"
  swatch <- function(colour, words) list(draw = mark, colour = colour, text = words)
  title <- if (!is.null(key$title) && nzchar(key$title)) list(text(paste0(key$title, ":")))
  shown <- switch(
    key$kind,
    levels = {
      k <- min(length(key$labels), most_levels)
      left <- length(key$labels) - k
      c(
        Map(swatch, key$colours[seq_len(k)], key$labels[seq_len(k)], USE.NAMES = FALSE),
        if (left > 0L) list(text(sprintf("... and %s more", in_words(left))))
      )
    },
    range = if (diff(key$ends) > 0) {
      ends <- format_ends(key$ends)
      list(text(ends[1L]), list(draw = "bar", colours = key$colours, text = ends[2L]))
    } else {
      list(swatch(key$colours, format_ends(key$ends[1L])))
    },
    size = Map(
      function(diameter, end) list(draw = "dot", diameter = diameter, text = end),
      key$diameters,
      format_ends(key$ends),
      USE.NAMES = FALSE
    ),
    width = Map(
      function(width, end) list(draw = "line", colour = "#555555", width = width, text = end),
      key$widths,
      format_ends(key$ends),
      USE.NAMES = FALSE
    )
  )
  c(title, shown, if (isTRUE(key$missing)) list(swatch(no_value, "no value")))
}

# Formats each end separately: with common digits, 0.002 would turn 4.1 into 4.100.
format_ends <- function(ends) vapply(signif(ends, 3L), format, "", big.mark = thousands_mark(), digits = 3L)

mark_width <- c(text = 0, swatch = 0.16, bar = 1.25, dot = 0.32, line = 0.3)

# Returns the positions of the pieces: list(left, row, right, rows, pieces, cex, scale, high). `start`: the width
# already used in the lowest row.
place_keys <- function(keys, page, start = 0) {
  keys <- keys[!vapply(keys, is.null, NA)]
  pieces <- unlist(lapply(keys, key_pieces), recursive = FALSE)
  if (!length(pieces)) {
    return(NULL)
  }
  of_key <- rep(seq_along(keys), lengths(lapply(keys, key_pieces)))
  marks <- mark_width[vapply(pieces, `[[`, "", "draw")]
  words <- vapply(pieces, `[[`, "", "text")
  widths <- function(scale) {
    marks * scale + graphics::strwidth(words, units = "inches", cex = 0.75 * scale) + 0.12 * scale
  }
  flow <- function(scale) {
    wide <- widths(scale)
    left <- row <- numeric(length(pieces))
    at <- start + if (start > 0) 0.2 * scale else 0.05 * scale
    now <- 0
    for (k in seq_along(pieces)) {
      # An entry begins a new row if the rest of this one is too short for it.
      rest <- if (k == 1L || of_key[k] != of_key[k - 1L]) sum(wide[of_key == of_key[k]]) else wide[k]
      if (
        at + rest > page[1L] && at > 0.06 * scale && (at + wide[k] > page[1L] || k == 1L || of_key[k] != of_key[k - 1L])
      ) {
        now <- now + 1
        at <- 0.05 * scale
      }
      left[k] <- at
      row[k] <- now
      at <- at + wide[k]
      if (k < length(pieces) && of_key[k + 1L] != of_key[k]) at <- at + 0.15 * scale
    }
    list(left = left, row = row, right = max(left + wide), rows = now + 1)
  }
  high <- if ("dot" %in% names(marks)) 0.36 else 0.26
  scale <- fitting_cex(1, function(scale) {
    found <- flow(scale)
    found$right <= page[1L] && found$rows * high * scale <= 0.3 * page[2L]
  })
  c(flow(scale), list(pieces = pieces, cex = 0.75 * scale, scale = scale, high = high * scale))
}

# `bottom`: the middle of the lowest row. `unit`: the size in inches of a dot with diameter 1.
draw_keys <- function(keys, bottom, unit) {
  dots <- unlist(lapply(keys$pieces, `[[`, "diameter")) * unit
  # All dots shrink if the largest would not fit into its row.
  unit <- unit * min(1, 0.85 * keys$high / max(dots, 1e-9))
  for (k in seq_along(keys$pieces)) {
    piece <- keys$pieces[[k]]
    x <- keys$left[k]
    # The first row is at the top.
    y <- bottom + (keys$rows - 1 - keys$row[k]) * keys$high
    mark <- mark_width[[piece$draw]] * keys$scale
    if (piece$draw == "bar") {
      wide <- mark - 0.06 * keys$scale
      edges <- x + wide * (0:length(piece$colours)) / length(piece$colours)
      half <- 0.05 * keys$scale
      graphics::rect(edges[-length(edges)], y - half, edges[-1L], y + half, col = piece$colours, border = NA)
      graphics::rect(x, y - half, x + wide, y + half, border = "#7A7A7A", lwd = 0.5)
    } else if (piece$draw == "line") {
      wide <- mark - 0.06 * keys$scale
      graphics::segments(x, y, x + wide, y, col = piece$colour, lwd = 1.4 * (piece$width %||% 1.5), lend = "butt")
    } else if (piece$draw != "text") {
      diameter <- if (piece$draw == "dot") piece$diameter * unit else 0.11 * keys$scale
      fill <- piece$colour %||% dot_look$fill
      draw_nodes(
        cbind(x + mark / 2 - 0.02 * keys$scale, y),
        cbind(diameter, diameter),
        diameter,
        fill,
        node_look$border,
        0.6
      )
    }
    graphics::text(x + mark, y, piece$text, cex = keys$cex, adj = c(0, 0.5))
  }
}

# Helpers for plots of numbers, in which graphical arguments of the user take precedence over ours.

# Calls `draw` with our arguments, except those that the user names, then with the user's. Unnamed arguments stay
# unnamed.
draw_with <- function(draw, ours, given) {
  named <- names(given) %||% rep("", length(given))
  do.call(draw, c(ours[!names(ours) %in% named[nzchar(named)]], given), quote = TRUE)
}

# Draws a legend above the plot, in which label_margins() leaves room for one row. It shrinks if it is too wide.
legend_above <- function(legend, ..., rows = 1L) {
  usr <- graphics::par("usr")
  left <- if (graphics::par("xlog")) 10^usr[1L] else usr[1L]
  draw <- function(cex, plot) {
    graphics::legend(
      left,
      usr[4L],
      # Room for the line of the next entry.
      paste0(legend, "   "),
      ...,
      bty = "n",
      cex = cex,
      ncol = ceiling(length(legend) / rows),
      yjust = 0,
      x.intersp = 0.8,
      seg.len = 1.4,
      xpd = NA,
      plot = plot
    )
  }
  draw(fitting_cex(0.8, function(cex) draw(cex, FALSE)$rect$w <= usr[2L] - usr[1L]), TRUE)
}

# Sets margins, in lines, for row labels on the left. They take at most 45 % of the page. The caller restores them.
label_margins <- function(labels, main, cex = 0.8, least = 2) {
  inches <- if (length(labels)) max(graphics::strwidth(labels, units = "inches", cex = cex)) else 0
  lines <- inches / graphics::par("csi") / graphics::par("mex") + 1.5
  most <- 0.45 * graphics::par("fin")[1L] / (graphics::par("csi") * graphics::par("mex"))
  graphics::par(mar = c(4.5, min(max(lines, least), most), if (is.null(main)) 2.2 else 4.2, 1))
}

# Draws a page that says why it is empty.
draw_nothing <- function(main, why) {
  graphics::plot.new()
  graphics::title(main = main %||% "")
  graphics::text(0.5, 0.5, why)
  invisible()
}

# Draws edges: lines between boxes, straight or bent, with the marks at their ends.

# colour: NULL for the colours of the kinds, or a colour for each edge.
draw_edges <- function(place, kinds, colour = NULL) {
  edges <- place$edges
  if (nrow(edges) == 0L) {
    return(invisible())
  }
  look <- kinds[match(edges$kind, kinds$kind), ]
  look$colour <- thinned(colour %||% look$colour, place)
  ends <- edge_ends(place)
  width <- 1.4 * place$line * place$width
  draw_lines(ends$first, ends$last, ends$unit, look, ends$head, width, ends$unit_first, ends$paths)
}

# Returns where the lines of edges begin and end, at the boxes of their nodes; their directions there; the lengths of
# their heads; and the paths of bent ones, a list by edge.
edge_ends <- function(place) {
  edges <- place$edges
  start <- place$xy[edges$from, , drop = FALSE]
  end <- place$xy[edges$to, , drop = FALSE]
  after <- end
  before <- start
  bends <- place$bends
  if (!is.null(bends)) {
    begins <- !duplicated(bends$edge)
    ends <- !duplicated(bends$edge, fromLast = TRUE)
    after[bends$edge[begins], ] <- as.matrix(bends[begins, 2:3])
    before[bends$edge[ends], ] <- as.matrix(bends[ends, 2:3])
  }
  towards <- function(away) away / pmax(sqrt(rowSums(away^2)), 1e-9)
  unit_first <- towards(after - start)
  unit <- towards(end - before)
  first <- start + unit_first * box_reach(unit_first, place$size[edges$from, , drop = FALSE], place$radius)
  last <- end - unit * box_reach(unit, place$size[edges$to, , drop = FALSE], place$radius)
  # A head takes at most half of a short edge.
  head <- pmin(place$head * sqrt(pmax(place$width %||% 1, 1)), 0.5 * pmax(rowSums((last - first) * unit), 0))
  bent <- if (!is.null(bends)) split(seq_len(nrow(bends)), bends$edge)
  head[as.integer(names(bent))] <- (place$head *
    sqrt(pmax(rep_len(place$width %||% 1, nrow(edges)), 1)))[as.integer(names(bent))]
  list(
    first = first,
    last = last,
    unit = unit,
    unit_first = unit_first,
    head = head,
    paths = lapply(bent, function(rows) as.matrix(bends[rows, 2:3]))
  )
}

# Returns points of a smooth line through all rows of `at` (Catmull and Rom's spline).
smooth_path <- function(at) {
  n <- nrow(at)
  around <- rbind(2 * at[1L, ] - at[2L, ], at, 2 * at[n, ] - at[n - 1L, ])
  t <- seq(0, 1, length.out = 9L)[-1L]
  rest <- lapply(seq_len(n - 1L), function(k) {
    p <- around[k:(k + 3L), , drop = FALSE]
    cbind(-t + 2 * t^2 - t^3, 2 - 5 * t^2 + 3 * t^3, t + 4 * t^2 - 3 * t^3, -t^2 + t^3) %*% p / 2
  })
  rbind(at[1L, ], do.call(rbind, rest))
}

# Draws lines with their marks, from `first` to `last`. unit, unit_first: the directions there. paths: the points between,
# by the number of a line.
draw_lines <- function(first, last, unit, look, head, width, unit_first = unit, paths = list()) {
  # Lines stop inside the heads, because the tips would otherwise be blunt, and at circles.
  short <- c(tail = 0, arrow = 0.8, circle = circle_size)
  line_first <- first + unit_first * short[look$at_from] * head
  line_last <- last - unit * short[look$at_to] * head
  bent <- seq_len(nrow(first)) %in% as.integer(names(paths))
  width <- rep_len(width, nrow(first))
  graphics::segments(
    line_first[!bent, 1L],
    line_first[!bent, 2L],
    line_last[!bent, 1L],
    line_last[!bent, 2L],
    col = look$colour[!bent],
    lty = look$lty[!bent],
    lwd = width[!bent]
  )
  for (at in which(bent)) {
    path <- smooth_path(rbind(line_first[at, ], paths[[as.character(at)]], line_last[at, ]))
    graphics::lines(path, col = look$colour[at], lty = look$lty[at], lwd = width[at])
  }
  draw_heads(last, unit, look$colour, head, look$at_to == "arrow")
  draw_heads(first, -unit_first, look$colour, head, look$at_from == "arrow")
  draw_circles(last, unit, look$colour, head, width, look$at_to == "circle")
  draw_circles(first, -unit_first, look$colour, head, width, look$at_from == "circle")
}

# The diameter of the circle at the end of a line, relative to the length of an arrowhead.
circle_size <- 0.75

draw_circles <- function(tip, unit, colour, head, width, wanted) {
  if (!any(wanted)) {
    return(invisible())
  }
  size <- circle_size * rep_len(head, length(wanted))[wanted]
  centre <- tip[wanted, , drop = FALSE] - unit[wanted, , drop = FALSE] * size / 2
  draw_nodes(centre, cbind(size, size), max(size), "white", colour[wanted], width[1L] / 1.2)
}

# Returns the distance from the centre of a box with rounded corners to its border in the direction `unit`.
box_reach <- function(unit, size, radius) {
  half <- size / 2
  radius <- pmin(radius, half[, 1L], half[, 2L])
  along <- pmax(abs(unit), 1e-9)
  inner <- half - radius
  top <- half[, 2L] / along[, 2L]
  side <- half[, 1L] / along[, 1L]
  # The far intersection with the circle around the corner's centre.
  towards <- rowSums(inner * along)
  corner <- towards + sqrt(pmax(radius^2 - rowSums(inner^2) + towards^2, 0))
  reach <- ifelse(top * along[, 1L] <= inner[, 1L], top, ifelse(side * along[, 2L] <= inner[, 2L], side, corner))
  reach + 0.01
}

draw_heads <- function(tip, unit, colour, head, wanted) {
  if (!any(wanted)) {
    return(invisible())
  }
  head <- rep_len(head, length(wanted))[wanted]
  tip <- tip[wanted, , drop = FALSE]
  unit <- unit[wanted, , drop = FALSE]
  base <- tip - unit * head
  side <- 0.4 * head * cbind(-unit[, 2L], unit[, 1L])
  graphics::polygon(
    rbind(tip[, 1L], base[, 1L] + side[, 1L], base[, 1L] - side[, 1L], NA),
    rbind(tip[, 2L], base[, 2L] + side[, 2L], base[, 2L] - side[, 2L], NA),
    col = colour[wanted],
    border = NA
  )
}

# Drawing in base graphics. The unit is the inch on paper, so that boxes, text and arrowheads keep their proportions.

node_look <- list(fill = "#E8F0F8", border = "#2F5D8A")

# How each kind of edge looks; heads as igraph counts them: 0 none, 2 at the end, 3 at both ends.
edge_look <- function() {
  data.frame(
    kind = c("directed", "undirected", "conflict"),
    colour = c("#333333", "#7A7A7A", "#C0392B"),
    lty = c(1, 1, 2),
    heads = c(2, 0, 3),
    stringsAsFactors = FALSE
  )
}

draw_base <- function(listed, main, cex = NULL, node_fill = node_look$fill, node_border = node_look$border,
                      edge_colour = NULL) {
  old <- new_page(main)
  on.exit(graphics::par(old))
  kinds <- edge_look()
  if (!is.null(edge_colour)) {
    kinds$colour <- rep_len(edge_colour, nrow(kinds))
  }
  place <- place_on_page(listed, cex)
  graphics::par(usr = c(0, place$page[1L], 0, place$page[2L]))
  draw_edges(place$xy, place$size, place$edges, kinds, head = 0.11 * max(min(place$cex, 1), 0.35))
  draw_nodes(place$xy, place$size, listed$labels, place$cex, node_fill, node_border)
  if (place$legend) {
    draw_legend(kinds[kinds$kind %in% place$edges$kind, ])
  }
  if (!is.null(main)) {
    graphics::title(main = main)
  }
}

# A new page with next to no margin; returns the settings to go back to.
new_page <- function(main) {
  old <- graphics::par(mar = c(0.5, 0.5, if (is.null(main)) 0.5 else 2.5, 0.5), xpd = NA, xaxs = "i", yaxs = "i")
  graphics::plot.new()
  old
}

# The layout in inches of the page's plot region: list(xy, size, cex, edges, page, legend).
place_on_page <- function(listed, cex = NULL) {
  edges <- edge_table(listed$edges, listed$weights)
  legend <- length(unique(edges$kind)) > 1L
  below <- if (legend) 0.3 else 0
  # A device smaller than its margins has no plot region to speak of; half an inch keeps the arithmetic alive.
  page <- pmax(graphics::par("pin"), 0.5)
  space <- pmax(page - c(0, below), 0.3)
  size <- label_boxes(listed$labels)
  xy <- layout_graph(length(listed$labels), edges, size, space[1L] / space[2L])
  extent <- apply(xy + size / 2, 2L, max)
  scale <- min(space / extent)
  cex <- cex %||% min(scale, 1.2)
  size <- size * cex
  # Positions fill the page, but a small graph is not blown up, and no axis is stretched to twice the other.
  widest <- min(scale, 2.5)
  stretch <- pmin((space - apply(size, 2L, max)) / pmax(extent - apply(size, 2L, max) / cex, 1e-9), 1.6 * widest)
  stretch <- pmax(stretch, 0)
  xy <- sweep(xy, 2L, stretch, `*`)
  low <- apply(xy - size / 2, 2L, min)
  high <- apply(xy + size / 2, 2L, max)
  xy <- sweep(xy, 2L, (space - high - low) / 2 + c(0, below), `+`)
  list(xy = xy, size = size, cex = cex, edges = edges, page = page, legend = legend)
}

# Width and height in inches of the boxes around labels at cex 1.
label_boxes <- function(labels) {
  high <- graphics::strheight("M", units = "inches")
  wide <- pmax(graphics::strwidth(labels, units = "inches"), high)
  cbind(wide + 1.6 * high, rep(2.4 * high, length(labels)))
}

draw_nodes <- function(xy, size, labels, cex, fill, border) {
  for (i in seq_len(nrow(xy))) {
    graphics::polygon(rounded_box(xy[i, ], size[i, ]), col = fill, border = border, lwd = 1.2)
  }
  if (nrow(xy)) {
    graphics::text(xy[, 1L], xy[, 2L], labels, cex = cex)
  }
}

rounded_box <- function(centre, size) {
  radius <- 0.5 * min(size)
  angle <- seq(0, pi / 2, length.out = 8L)
  corner <- rep(1:4, each = length(angle))
  sx <- c(1, -1, -1, 1)[corner]
  sy <- c(1, 1, -1, -1)[corner]
  turn <- c(angle, angle + pi / 2, angle + pi, angle + 3 * pi / 2)
  list(
    x = centre[1L] + sx * (size[1L] / 2 - radius) + radius * cos(turn),
    y = centre[2L] + sy * (size[2L] / 2 - radius) + radius * sin(turn)
  )
}

draw_edges <- function(xy, size, edges, kinds, head) {
  if (nrow(edges) == 0L) {
    return(invisible())
  }
  look <- kinds[match(edges$kind, kinds$kind), ]
  start <- xy[edges$from, , drop = FALSE]
  end <- xy[edges$to, , drop = FALSE]
  away <- end - start
  long <- pmax(sqrt(rowSums(away^2)), 1e-9)
  unit <- away / long
  first <- start + unit * box_reach(unit, size[edges$from, , drop = FALSE])
  last <- end - unit * box_reach(unit, size[edges$to, , drop = FALSE])
  # Lines stop inside the heads, whose tips would otherwise be blunt.
  line_first <- first + unit * ifelse(look$heads == 3, 0.8 * head, 0)
  line_last <- last - unit * ifelse(look$heads >= 2, 0.8 * head, 0)
  graphics::segments(line_first[, 1L], line_first[, 2L], line_last[, 1L], line_last[, 2L],
    col = look$colour, lty = look$lty, lwd = 1.4
  )
  draw_heads(last, unit, look$colour, head, look$heads >= 2)
  draw_heads(first, -unit, look$colour, head, look$heads == 3)
}

# How far from its centre a box ends in the direction `unit`. Its ends are half circles.
box_reach <- function(unit, size) {
  radius <- size[, 2L] / 2
  straight <- pmax(size[, 1L] / 2 - radius, 0)
  ux <- abs(unit[, 1L])
  top <- radius / pmax(abs(unit[, 2L]), 1e-9)
  round <- straight * ux + sqrt(pmax(radius^2 - straight^2 * (1 - ux^2), 0))
  ifelse(top * ux <= straight, top, round) + 0.01
}

draw_heads <- function(tip, unit, colour, head, wanted) {
  for (i in which(wanted)) {
    base <- tip[i, ] - unit[i, ] * head
    side <- 0.4 * head * c(-unit[i, 2L], unit[i, 1L])
    graphics::polygon(
      c(tip[i, 1L], base[1L] + side[1L], base[1L] - side[1L]), c(tip[i, 2L], base[2L] + side[2L], base[2L] - side[2L]),
      col = colour[i], border = NA
    )
  }
}

draw_legend <- function(kinds) {
  cex <- 0.75
  line <- 0.35
  wide <- graphics::strwidth(kinds$kind, cex = cex) + line + 0.25
  left <- cumsum(c(0.05, wide))[seq_along(wide)]
  y <- 0.12
  graphics::segments(left, y, left + line, y, col = kinds$colour, lty = kinds$lty, lwd = 1.4)
  draw_heads(cbind(left + line, y), cbind(rep(1, nrow(kinds)), 0), kinds$colour, 0.09, kinds$heads >= 2)
  draw_heads(cbind(left, y), cbind(rep(-1, nrow(kinds)), 0), kinds$colour, 0.09, kinds$heads == 3)
  graphics::text(left + line + 0.06, y, kinds$kind, cex = cex, adj = c(0, 0.5))
}

# Returns the legend in the lower left corner of the page: list(kinds, said, cex, scale, left, y, width, height); NULL
# if all edges of a CPDAG are of one kind, whose marks need no explanation. `look`: the rows of edge_look() that are drawn. The
# legend is smaller on a page that it would fill.
place_legend <- function(look, page) {
  if (nrow(look) < 2L && !all(look$kind %in% kinds_of_pag) || !nrow(look)) {
    return(NULL)
  }
  widths <- function(scale) {
    graphics::strwidth(look$said, units = "inches", cex = 0.75 * scale) + scale * (0.35 + 0.06 + 0.19)
  }
  scale <- fitting_cex(1, function(scale) {
    0.05 * scale + sum(widths(scale)) <= page[1L] && 0.3 * scale <= 0.2 * page[2L]
  })
  wide <- widths(scale)
  list(
    kinds = look$kind,
    said = look$said,
    cex = 0.75 * scale,
    scale = scale,
    left = cumsum(c(0.05 * scale, wide))[seq_along(wide)],
    y = 0.12 * scale,
    width = 0.05 * scale + sum(wide),
    height = 0.3 * scale
  )
}

# colours: those of edges by a column; the marks of the kinds are then grey.
draw_legend <- function(legend, kinds, colours = NULL) {
  if (is.null(legend)) {
    return(invisible())
  }
  look <- kinds[match(legend$kinds, kinds$kind), ]
  if (!is.null(colours)) {
    look$colour <- "#555555"
  }
  line <- 0.35 * legend$scale
  left <- legend$left
  y <- legend$y
  draw_lines(
    cbind(left, y),
    cbind(left + line, y),
    cbind(rep(1, nrow(look)), 0),
    look,
    0.09 * legend$scale,
    1.4 * legend$scale^0.5
  )
  graphics::text(left + line + 0.06 * legend$scale, y, legend$said, cex = legend$cex, adj = c(0, 0.5))
}

# Helpers for plots of numbers, in which graphical arguments of the user take precedence over ours.

# Calls `draw` with our arguments, except those that the user names, then with the user's. Unnamed arguments stay unnamed.
draw_with <- function(draw, ours, given) {
  named <- names(given) %||% rep("", length(given))
  do.call(draw, c(ours[!names(ours) %in% named[nzchar(named)]], given), quote = TRUE)
}

# Sets margins, in lines, for row labels on the left. They take at most 45 % of the page. The caller restores them.
label_margins <- function(labels, main, cex = 0.8, least = 2) {
  inches <- if (length(labels)) max(graphics::strwidth(labels, units = "inches", cex = cex)) else 0
  lines <- inches / graphics::par("csi") / graphics::par("mex") + 1.5
  most <- 0.45 * graphics::par("fin")[1L] / (graphics::par("csi") * graphics::par("mex"))
  graphics::par(mar = c(4.5, min(max(lines, least), most), if (is.null(main)) 1 else 3, 1))
}

# Draws a page that says why it is empty.
draw_nothing <- function(main, why) {
  graphics::plot.new()
  graphics::title(main = main %||% "")
  graphics::text(0.5, 0.5, why)
  invisible()
}

# What plots of numbers share: graphical arguments of the user come before ours.

# Calls `draw` with ours, then the user's by name; what is given without a name stays without one.
draw_with <- function(draw, ours, given) {
  named <- names(given) %||% rep("", length(given))
  do.call(draw, c(ours[!names(ours) %in% named[nzchar(named)]], given), quote = TRUE)
}

# Margins, in lines, for labels of rows at the left; restored by the caller. They take at most 45 % of the page.
label_margins <- function(labels, main, cex = 0.8, least = 2) {
  inches <- if (length(labels)) max(graphics::strwidth(labels, units = "inches", cex = cex)) else 0
  lines <- inches / graphics::par("csi") / graphics::par("mex") + 1.5
  most <- 0.45 * graphics::par("fin")[1L] / (graphics::par("csi") * graphics::par("mex"))
  graphics::par(mar = c(4.5, min(max(lines, least), most), if (is.null(main)) 1 else 3, 1))
}

# A page that says why there is nothing on it.
draw_nothing <- function(main, why) {
  graphics::plot.new()
  graphics::title(main = main %||% "")
  graphics::text(0.5, 0.5, why)
  invisible()
}

# print(), as.data.frame() and plot() for the results of select_features().

#' @exportS3Method print pcgpu_selection
print.pcgpu_selection <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_selection")
  check_object(x)
  say_lines(sprintf(
    "%s of %s features by %s (%s observations, %s classes)",
    in_words(length(x$index)),
    in_words(x$features),
    enumerate(x$criterion),
    in_words(x$observations),
    in_words(x$classes)
  ))
  if (length(x$left_out)) {
    say_lines(paste(counted(length(x$left_out), "row"), "with missing values left out"))
  }
  if (!is.null(x$ensemble)) {
    say_lines(ensemble_text(x$ensemble, x$observations))
  }
  shown <- utils::head(as.data.frame(x), n)
  print_frame(shown, given, 4L)
  left <- length(x$index) - nrow(shown)
  if (left > 0L) {
    say_lines(sprintf("... and %s more", in_words(left)))
  }
  invisible(x)
}

#' @exportS3Method as.data.frame pcgpu_selection
as.data.frame.pcgpu_selection <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_selection")
  check_object(x)
  frame <- data.frame(
    index = x$index,
    name = x$names,
    score = x$score,
    relevance = x$relevance,
    levels = x$levels,
    stringsAsFactors = FALSE
  )
  if (is.null(x$ensemble)) frame else cbind(frame[1:2], frequency = x$frequency, rank = x$rank, frame[3:5])
}

#' @exportS3Method plot pcgpu_selection
plot.pcgpu_selection <- function(x, main = NULL, ...) {
  given <- check_dots(list(...), graphical_takes, "plot.pcgpu_selection")
  check_object(x)
  k <- length(x$index)
  few <- k <= 40L
  old <- graphics::par("mar")
  on.exit(graphics::par(mar = old))
  graphics::plot.new()
  high <- if (few) {
    min(
      max(4.5, max(0, graphics::strwidth(x$names, units = "inches", cex = 0.8)) / graphics::par("csi") + 1.5),
      0.4 * graphics::par("fin")[2L] / graphics::par("csi")
    )
  } else {
    4.5
  }
  graphics::par(mar = c(high, 4.5, if (is.null(main)) 2.2 else 4.2, 1))
  graphics::par(new = TRUE)
  unit <- if (is_one_of(x$criterion, c("DISR", "FCBF"))) "" else " (bits)"
  single <- is.null(x$ensemble)
  height <- if (single) x$score else x$frequency
  limits <- if (single) range(0, height, x$relevance) else c(0, 1)
  draw_with(
    graphics::plot,
    list(
      x = seq_len(k),
      y = height,
      type = "h",
      lwd = if (few) 4 else 1,
      col = node_look$border,
      ylim = limits,
      las = 1,
      xaxt = if (few) "n" else "s",
      xlab = if (few) {
        ""
      } else if (single) {
        "Order of selection"
      } else {
        "Order"
      },
      ylab = if (single) paste0(x$criterion, unit) else sprintf("Share of %d selections", ncol(x$ensemble$index)),
      main = main %||% ""
    ),
    list(...)
  )
  if (single) {
    graphics::points(seq_len(k), x$relevance, pch = 21, bg = "white", col = "#C0392B", cex = if (few) 1 else 0.6)
  }
  graphics::abline(h = 0, col = "#7A7A7A")
  if (few) {
    graphics::axis(1, at = seq_len(k), labels = x$names, las = 2, cex.axis = 0.8)
  }
  if (single) {
    legend_above(
      legend = c("score when selected", "relevance, I(f; y)"),
      lty = c(1, NA),
      lwd = c(4, NA),
      pch = c(NA, 21),
      col = c(node_look$border, "#C0392B")
    )
  }
  invisible(x)
}

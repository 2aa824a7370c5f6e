#' Plot possible causal effects
#'
#' Draws the pairs with the strongest effects, ranked as in `as.data.frame()`, by the smallest absolute value of the possible effects. Each pair has a dot for
#' each possible effect and a line from the smallest to the largest. The filled dot is the effect nearest to 0, which is the bound. If the line crosses 0, the
#' graph does not even determine the sign.
#'
#' @param x A result of [causal_effects()].
#' @param n The largest number of pairs.
#' @param main Title; `NULL` for none.
#' @param ... Graphical arguments of [plot.default()].
#' @return `x`, invisibly.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @details A result of `keep = "smallest"` contains only the bounds, which are drawn without a sign.
#' @seealso [causal_effects()], [plot_cpdag()] for the graph; `plot()` of a result of [cstar()] for how stable the ranking is.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(2000), 200, 10, dimnames = list(NULL, paste0("gene", 1:10)))
#' x[, 3] <- x[, 1] + 0.5 * x[, 2] + rnorm(200)
#' x[, 5] <- 0.8 * x[, 3] - x[, 4] + rnorm(200)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' plot(causal_effects(fit, x, y = "gene5", numCores = 2))
#' @name plot_effects
#' @aliases plot.pcgpu_effects plot.pcgpu_joint_effects
#' @exportS3Method plot pcgpu_effects
plot.pcgpu_effects <- function(x, n = 20L, main = NULL, ...) {
  check_dots(list(...), graphical_takes, "plot.pcgpu_effects")
  check_rows_shown(n)
  shown <- as.data.frame(x, n = n)
  shown <- shown[!is.na(shown$smallest), ]
  values <- if (is.null(x$smallest)) {
    Map(function(from, to) x[from, to], match(shown$x, x$labels), match(shown$y, x$labels))
  } else {
    as.list(shown$smallest)
  }
  draw_effects(x, shown, values, length(x$y) > 1L, main, ..., signed = is.null(x$smallest))
}

#' @rdname plot_effects
#' @exportS3Method plot pcgpu_joint_effects
plot.pcgpu_joint_effects <- function(x, n = 20L, main = NULL, ...) {
  check_dots(list(...), graphical_takes, "plot.pcgpu_joint_effects")
  check_rows_shown(n)
  shown <- utils::head(as.data.frame(x), n)
  shown <- shown[!is.na(shown$smallest), ]
  values <- Map(function(from, to) x[from, to], match(shown$x, x$labels), match(shown$y, x$labels))
  draw_effects(x, shown, values, length(x$y) > 1L, main, ...)
}

draw_effects <- function(x, shown, values, several, main, ..., signed = TRUE) {
  if (!nrow(shown)) {
    draw_nothing(main, "No pair has a known effect")
    return(invisible(x))
  }
  names <- if (several) paste(shown$x, shown$y, sep = " on ") else shown$x
  old <- graphics::par("mar")
  on.exit(graphics::par(mar = old))
  graphics::plot.new()
  label_margins(names, main)
  graphics::par(new = TRUE)
  rows <- seq_along(values)
  # NA among several effects: some sets of parents have no answer.
  values <- lapply(values, function(of) of[is.finite(of)])
  low <- vapply(values, min, 0)
  high <- vapply(values, max, 0)
  draw_with(graphics::plot, list(
    x = 0, y = 0, type = "n", xlim = range(0, low, high), ylim = c(length(rows) + 0.5, 0.5), yaxt = "n", ylab = "", main = main %||% "",
    xlab = sprintf("%s%s", if (signed) "Possible effects" else "Smallest absolute effect", if (several) "" else paste(" on", shown$y[1L]))
  ), list(...))
  graphics::abline(h = rows, col = "#EDEDED")
  graphics::abline(v = 0, lty = 2, col = "#C0392B")
  graphics::segments(low, rows, high, rows, col = node_look$border, lwd = 2)
  graphics::points(unlist(values), rep(rows, lengths(values)), pch = 21, bg = "white", col = node_look$border, cex = 0.8)
  nearest <- vapply(values, function(of) of[which.min(abs(of))], 0)
  graphics::points(nearest, rows, pch = 21, bg = node_look$border, col = node_look$border)
  graphics::axis(2, at = rows, labels = names, las = 1, cex.axis = 0.8, tick = FALSE)
  invisible(x)
}

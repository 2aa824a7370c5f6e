#' Plot what a search did, level by level
#'
#' Draws the tests of each level as bars, on a scale of powers of ten. For [fci()], it also draws the tests of the
#' possible-d-sep phase by size of the sets. If several machines worked together, further bars show the seconds of each
#' level by machine.
#'
#' @param x A result of [run_details()].
#' @param main Title; `NULL` for none.
#' @param ... Graphical arguments of [barplot()], used for all plots.
#' @return `x`, invisibly.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [run_details()], [pcgpu_info()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(5000), 500, 10)
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(500)
#' plot(run_details(pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 10, numCores = 2)))
#' @exportS3Method plot pcgpu_details
plot.pcgpu_details <- function(x, main = NULL, ...) {
  given <- check_dots(list(...), bar_takes, "plot.pcgpu_details")
  check_object(x)
  tests <- x$n.edgetests
  later <- if (sum(x$phase$tests) > 0) x$phase$tests
  seconds <- if (!is.null(x$team)) x$team[!is.na(x$team$level), ]
  if (is.null(tests) && is.null(seconds)) {
    abort_argument(
      "x",
      x,
      "give run_details() of a result of pc() or skeleton().",
      has = "neither numbers of tests nor times of levels"
    )
  }
  old <- graphics::par("mfrow", "mar")
  on.exit(graphics::par(old))
  graphics::par(mfrow = c(1L, sum(!is.null(tests), !is.null(later), !is.null(seconds))))
  graphics::par(mar = c(4.5, 5, if (is.null(main)) 1 else 3, 1))
  if (!is.null(tests)) {
    draw_tests(tests, main, given)
  }
  if (!is.null(later)) {
    draw_tests(later, main, given, "Sets of the possible-d-sep phase")
  }
  if (!is.null(seconds)) {
    draw_seconds(seconds, main, given)
  }
  invisible(x)
}

# Draws the tests of each level. The height 0.5 stands for no test, because a logarithmic scale has no 0.
draw_tests <- function(tests, main, given, of = "Level") {
  high <- pmax(tests, 0.5)
  powers <- 10^(0:ceiling(log10(max(high))))
  # The axis title stands outside the axis labels, however wide they are.
  wide <- max(graphics::strwidth(in_words(powers), units = "inches", cex = 0.75)) /
    (graphics::par("csi") * graphics::par("mex"))
  margins <- graphics::par("mar")
  graphics::par(mar = replace(margins, 2L, wide + 3))
  at <- draw_with(
    graphics::barplot,
    list(
      height = high,
      names.arg = seq_along(tests) - 1L,
      log = "y",
      col = dot_look$fill,
      border = node_look$border,
      xlab = of,
      main = main %||% "",
      yaxt = "n",
      ylim = c(0.5, 10 * max(high))
    ),
    replace(given, "ylab", "")
  )
  graphics::axis(2, at = powers, labels = in_words(powers), las = 1, cex.axis = 0.75)
  of_titles <- given[intersect(names(given), c("cex.lab", "col.lab", "font.lab"))]
  do.call(graphics::title, c(list(ylab = given$ylab %||% "Tests", line = wide + 1.6), of_titles))
  graphics::text(at, high, in_words(tests), pos = 3, cex = 0.75)
  graphics::par(mar = margins)
}

# Draws busy times. A level takes as long as its slowest machine, so bars of elapsed time side by side would hide that
# machines worked at the same time.
draw_seconds <- function(team, main, given) {
  devices <- unique(team$device)
  team <- team[order(is_of_phase(team), team$level), ]
  levels <- unique(level_names(team))
  busy <- matrix(0, length(devices), length(levels), dimnames = list(devices, levels))
  busy[cbind(match(team$device, devices), match(level_names(team), levels))] <- team$seconds * team$busy
  colours <- level_colours(length(devices))
  draw_with(
    graphics::barplot,
    list(
      height = busy,
      beside = TRUE,
      col = colours,
      border = NA,
      xlab = "Level",
      ylab = "Seconds at work",
      main = main %||% "",
      las = 1,
      ylim = c(0, 1.3 * max(busy, 1e-9))
    ),
    given
  )
  graphics::legend("topright", legend = devices, fill = colours, border = NA, bty = "n", cex = 0.8)
}

#' Plot possible causal effects
#'
#' Draws the pairs with the strongest effects, ranked as in `as.data.frame()`, by the smallest absolute value of the
#' possible effects. Each pair has a dot for each possible effect and a line from the smallest to the largest. The
#' filled dot is the effect nearest to 0, which is the bound. If the line crosses 0, the graph does not even determine
#' the sign.
#'
#' @param x A result of [causal_effects()].
#' @param n The largest number of pairs.
#' @param main Title; `NULL` for none.
#' @param ... Graphical arguments of [plot.default()].
#' @return `x`, invisibly.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @details A result of `keep = "smallest"` contains only the bounds, which are drawn without a sign.
#' @seealso [causal_effects()], [plot_cpdag()] for the graph; `plot()` of a result of [cstar()] for how stable the
#'   ranking is.
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
  draw_with(
    graphics::plot,
    list(
      x = 0,
      y = 0,
      type = "n",
      xlim = range(0, low, high),
      ylim = c(length(rows) + 0.5, 0.5),
      yaxt = "n",
      ylab = "",
      main = main %||% "",
      xlab = sprintf(
        "%s%s",
        if (signed) "Possible effects" else "Smallest absolute effect",
        if (several) "" else paste(" on", shown$y[1L])
      )
    ),
    list(...)
  )
  graphics::abline(h = rows, col = "#EDEDED")
  graphics::abline(v = 0, lty = 2, col = "#C0392B")
  graphics::segments(low, rows, high, rows, col = node_look$border, lwd = 2)
  graphics::points(
    unlist(values),
    rep(rows, lengths(values)),
    pch = 21,
    bg = "white",
    col = node_look$border,
    cex = 0.8
  )
  nearest <- vapply(values, function(of) of[which.min(abs(of))], 0)
  graphics::points(nearest, rows, pch = 21, bg = node_look$border, col = node_look$border)
  graphics::axis(2, at = rows, labels = names, las = 1, cex.axis = 0.8, tick = FALSE)
  others <- any(lengths(values) > 1L)
  legend_above(
    legend = c("possible effect nearest to 0, the bound", if (others) "other possible effects"),
    pch = 21,
    pt.bg = c(node_look$border, if (others) "white"),
    col = node_look$border,
    lty = if (others) c(NA, 1)
  )
  invisible(x)
}

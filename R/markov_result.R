# Returns the table of a check: by what the graph implies, the numbers of tests, the share below alpha, and two tests of
# whether the p-values of implied independences are uniform.
summary_of_markov <- function(asked, alpha) {
  rows <- lapply(asked, function(of) {
    p <- of$p[!is.na(of$p)]
    data.frame(tests = length(of$p), answered = length(p), below = if (length(p)) mean(p < alpha) else NA_real_)
  })
  table <- data.frame(implied = names(asked), do.call(rbind, rows), row.names = NULL, stringsAsFactors = FALSE)
  p <- asked$independence$p
  table$ks <- c(ks_uniform(p[!is.na(p)]), NA)
  table$ad <- c(ad_uniform(p[!is.na(p)]), NA)
  table
}

# Returns the p-value of the Kolmogorov-Smirnov test. Ties are expected, because some tests have few distinct p-values;
# so warnings are suppressed.
ks_uniform <- function(p) {
  if (length(p)) suppressWarnings(stats::ks.test(p, "punif")$p.value) else NA_real_
}

# Returns the p-value of the Anderson-Darling test, by the approximation of Marsaglia and Marsaglia (2004), with an
# error of about 1e-6.
ad_uniform <- function(p) {
  n <- length(p)
  if (n == 0L) {
    return(NA_real_)
  }
  # A p-value of 0 or 1 would dominate the statistic.
  p <- sort(pmin(pmax(p, 1e-300), 1 - 1e-16))
  i <- seq_len(n)
  z <- -n - sum((2 * i - 1) / n * (log(p) + log1p(-rev(p))))
  max(0, min(1, 1 - ad_cdf(z, n)))
}

ad_cdf <- function(z, n) {
  if (z <= 0) {
    return(0)
  }
  polynomial <- function(x, coefficients) Reduce(function(sum, coefficient) sum * x + coefficient, rev(coefficients))
  limit <- if (z < 2) {
    exp(-1.2337141 / z) / sqrt(z) * polynomial(z, c(2.00012, 0.247105, -0.0649821, 0.0347962, -0.0116720, 0.00168691))
  } else {
    exp(-exp(polynomial(z, c(1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146))))
  }
  crossing <- 0.01265 + 0.1757 / n
  error <- if (limit > 0.8) {
    polynomial(limit, c(-130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844)) / n
  } else if (limit < crossing) {
    t <- limit / crossing
    sqrt(t) * (1 - t) * (49 * t - 102) * (0.0037 / n^3 + 0.00078 / n^2 + 0.00006 / n)
  } else {
    t <- (limit - crossing) / (0.8 - crossing)
    polynomial(t, c(-0.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864)) * (0.04213 / n + 0.01365 / n^2)
  }
  limit + error
}

#' @exportS3Method as.data.frame pcgpu_markov
as.data.frame.pcgpu_markov <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_markov")
  check_object(x)
  rows <- lapply(names(x$questions), function(implied) {
    of <- x$questions[[implied]]
    sets <- split(x$labels[of$members], factor(rep.int(seq_along(of$x), diff(of$start)), seq_along(of$x)))
    data.frame(
      x = x$labels[of$x],
      y = x$labels[of$y],
      given = vapply(unname(sets), paste, "", collapse = ", "),
      implied = rep.int(implied, length(of$x)),
      p = of$p,
      stringsAsFactors = FALSE
    )
  })
  do.call(rbind, rows)
}

#' @rdname markov_check
#' @param object An object of class `pcgpu_markov`.
#' @exportS3Method summary pcgpu_markov
summary.pcgpu_markov <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_markov")
  check_object(object)$summary
}

#' @rdname markov_check
#' @exportS3Method print pcgpu_markov
print.pcgpu_markov <- function(x, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_markov")
  check_object(x)
  say_lines(sprintf(
    "Tests that independences given the %s hold, and that each edge is needed given the other parents.",
    if (x$given == "parents") "parents" else "Markov blankets"
  ))
  if (x$replicates > 0) {
    size <- if (x$size <= 1) paste(format(100 * x$size), "% of the rows") else paste(in_words(x$size), "rows")
    say_lines(sprintf("On %s random samples of %s.", in_words(x$replicates), size))
  }
  if (isTRUE(x$constants > 0)) {
    say_lines(sprintf("%s had constant columns, whose tests are NA there.", counted(x$constants, "sample")))
  }
  if (x$extension != "none") {
    say_lines(paste(extension_words[[x$extension]], "was checked."))
  }
  shown <- data.frame(
    implied = c("independence", "dependence"),
    available = in_words(x$available),
    tests = in_words(x$summary$tests),
    answered = in_words(x$summary$answered),
    below = format(x$summary$below, digits = 3L),
    ks = format.pval(x$summary$ks, 3L, 1e-16),
    ad = format.pval(x$summary$ad, 3L, 1e-7),
    stringsAsFactors = FALSE
  )
  shown[2L, c("ks", "ad")] <- ""
  names(shown)[5:7] <- c(sprintf("p < %s", format(x$alpha)), "KS p", "AD p")
  print_frame(shown, given, row.names = FALSE)
  invisible(x)
}

#' @rdname markov_check
#' @exportS3Method plot pcgpu_markov
plot.pcgpu_markov <- function(x, ..., breaks = seq(0, 1, 0.05), main = NULL) {
  given <- check_dots(list(...), histogram_takes, "plot.pcgpu_markov")
  check_object(x)
  p <- x$questions$independence$p
  p <- sort(p[!is.na(p)])
  if (!length(p)) {
    abort_argument("x", x, "there is nothing to draw.", has = "no p-value of an independence")
  }
  given <- given[!names(given) %in% c("freq", "xlim")]
  old <- graphics::par(mfrow = c(1L, 2L))
  on.exit(graphics::par(old))
  # Bins of one width from 0 to 1, so that the line of uniform p-values is at 1.
  if (is_number(breaks) && breaks >= 1 && breaks == floor(breaks)) {
    breaks <- seq(0, 1, length.out = breaks + 1)
  }
  histogram <- tryCatch(graphics::hist(p, breaks = breaks, plot = FALSE), error = function(e) {
    abort_argument("breaks", breaks, "give the number of bins, or their limits from 0 to 1.")
  })
  draw_with(
    graphics::plot,
    list(
      x = histogram,
      freq = FALSE,
      xlim = c(0, 1),
      ylim = c(0, max(histogram$density, 1)),
      main = main %||% "Implied independences",
      xlab = "p",
      col = node_look$fill,
      border = node_look$border,
      las = 1
    ),
    given
  )
  graphics::abline(h = 1, lty = 2L, col = "#C0392B")
  # Drawing all of many points would only enlarge the file.
  at <- unique(round(seq(1, length(p), length.out = min(length(p), 2000L))))
  draw_with(
    graphics::plot,
    list(
      x = ((seq_along(p) - 0.5) / length(p))[at],
      y = p[at],
      xlim = c(0, 1),
      ylim = c(0, 1),
      pch = 20L,
      cex = 0.6,
      xlab = "uniform",
      ylab = "p",
      main = "Q-Q",
      col = node_look$border,
      las = 1
    ),
    given[!names(given) %in% c("xlab", "ylab", "ylim", "border")]
  )
  graphics::abline(0, 1, lty = 2L, col = "#C0392B")
  invisible(x)
}

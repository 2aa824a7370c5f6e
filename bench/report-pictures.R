# Draws the four pictures of RESULTS.md from results.csv, which report.R has read: report.R sources this file.

# Colours of Okabe and Ito, which the colour-blind tell apart.
blue <- "#0072B2"
orange <- "#D55E00"
palette_of <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")

open_picture <- function(name, width, height) {
  grDevices::png(
    file.path(here, paste0(name, ".png")),
    width = width,
    height = height,
    res = 150,
    pointsize = 11,
    type = "cairo"
  )
}

draw_speed <- function() {
  open_picture("speed", 1350, 1020)
  on.exit(grDevices::dev.off())
  labels <- c(
    "headline/nci60" = "pc(), NCI-60: pcalg",
    "headline/mcc" = "pc(), MCC: pcalg",
    "headline/dream5" = "pc(), DREAM5 surrogate: pcalg",
    "pc/saureus, pc()" = "pc(), S. aureus: pcalg",
    "discrete/alarm, chi2" = "discrete, alarm: bnlearn",
    "discrete/andes, chi2" = "discrete, andes: bnlearn",
    "discrete/andes, dis, 2 threads" = "discrete, andes: ramBLe",
    "knn/one test, n 1000, 1 in S, k 7" = "nearest neighbours, n 1,000: tigramite",
    "missing/mixCItest, 12 x 500" = "mixed data: micd",
    "missing/gaussCItwd, 12 x 500" = "missing values: micd",
    "select/leukemia, 50 features" = "feature selection, leukemia: scikit-feature",
    "fci/rfci, p = 200" = "rfci(), 200 variables: pcalg",
    "effects/idaFast(), every x" = "causal effects: pcalg",
    "stability/alarm, beside bnlearn" = "stability, alarm: bnlearn",
    "knowledge/tiers, p = 200" = "tiers, 200 variables: tpc",
    "search/nci60 (0.05)" = "GPU, NCI-60: cuPC-S",
    "search/link" = "GPU, discrete, link: gpucsl"
  )
  rows <- newest(results[results$peer != "", ])
  at <- match(names(labels), paste(rows$suite, rows$case, sep = "/"))
  labels <- labels[!is.na(at)]
  rows <- rows[at[!is.na(at)], ]
  times <- ratio_of(rows)
  on_gpu <- rows$device == "cuda"
  graphics::par(mar = c(4, 17.5, 2, 2.5), las = 1, mgp = c(2.4, 0.6, 0))
  y <- rev(seq_along(times))
  plot(
    NULL,
    log = "x",
    xlim = c(1, 10000),
    ylim = c(0.5, length(y) + 0.5),
    axes = FALSE,
    xlab = "times faster than the program named (log scale)",
    ylab = ""
  )
  ticks <- 10^(0:4)
  graphics::abline(v = ticks, col = "grey88")
  graphics::axis(1, ticks, format(ticks, big.mark = ",", trim = TRUE, scientific = FALSE), lwd = 0, lwd.ticks = 1)
  graphics::axis(2, y, labels, lwd = 0, cex.axis = 0.9)
  colour <- ifelse(on_gpu, orange, blue)
  graphics::segments(1, y, times, y, col = colour, lwd = 7, lend = 1)
  graphics::text(times, y, paste0("  ", text(times)), adj = 0, cex = 0.85, xpd = NA)
  graphics::legend(
    "bottomright",
    c("CPU, 2 threads", "both on one GPU"),
    fill = c(blue, orange),
    border = NA,
    bty = "n",
    cex = 0.9
  )
  graphics::title("pcgpu and other programs, same data and machine", adj = 0, font.main = 1, cex.main = 1.1)
}

draw_growth <- function() {
  open_picture("growth", 1650, 600)
  on.exit(grDevices::dev.off())
  graphics::par(
    mfrow = c(1, 3),
    mar = c(4.4, 5.4, 3, 1),
    oma = c(1.2, 0, 0, 0),
    las = 1,
    mgp = c(3.9, 0.7, 0),
    cex = 0.95
  )
  # Points of one run: the commit with the most of them.
  of_one_run <- function(rows) {
    counts <- sort(table(rows$commit), decreasing = TRUE)
    rows[rows$commit == names(counts)[1L], ]
  }
  ticks <- function(x) {
    at <- 10^seq(floor(log10(min(x))), ceiling(log10(max(x))))
    at[at >= min(x) / 1.5 & at <= max(x) * 1.5]
  }
  frame <- function(x, y, xlab, title, at, is_log = FALSE) {
    of_y <- if (is_log) ticks(y) else pretty(c(0, y))
    plot(
      NULL,
      log = if (is_log) "xy" else "x",
      xlim = range(x),
      ylim = if (is_log) range(y) * c(0.8, 1.3) else range(of_y),
      axes = FALSE,
      xlab = "",
      ylab = "skeleton(), seconds"
    )
    graphics::title(xlab = xlab, line = 2.6)
    graphics::abline(h = of_y, col = "grey88")
    graphics::axis(
      1,
      at,
      format(at, big.mark = ",", trim = TRUE, scientific = FALSE, drop0trailing = TRUE),
      lwd = 0,
      lwd.ticks = 1
    )
    graphics::axis(2, of_y, format(of_y, trim = TRUE, drop0trailing = TRUE), lwd = 0, lwd.ticks = 1)
    graphics::title(title, adj = 0, font.main = 1, cex.main = 1.05)
  }
  cross <- of_one_run(results[results$suite == "crossing" & grepl("^p [0-9]+$", results$case), ])
  more <- of_one_run(results[
    results$suite == "growth" &
      grepl(", 1.5 parents, skeleton", results$case) &
      results$device == "cuda" &
      results$n == "500",
  ])
  frame(
    c(value(cross$p), value(more$p)),
    c(cross$least, more$least),
    "variables",
    "by variables, 1.5 parents each\n(logarithmic)",
    c(100, 1000, 10000),
    TRUE
  )
  line <- function(x, y, colour, pch = 19) {
    at <- order(x)
    graphics::lines(x[at], y[at], type = "o", pch = pch, lwd = 2, col = colour)
  }
  for (where in c("cpu", "cuda")) {
    rows <- cross[cross$device == where, ]
    line(value(rows$p), rows$least, if (where == "cpu") blue else orange)
  }
  line(value(more$p), more$least, orange, 17)
  graphics::legend(
    "topleft",
    c("CPU, 16 threads, n 100", "GPU, n 100", "GPU, n 500"),
    col = c(blue, orange, orange),
    pch = c(19, 19, 17),
    lwd = 2,
    bty = "n"
  )
  rows <- of_one_run(results[results$suite == "growth" & grepl("^1000 x .* skeleton", results$case), ])
  by_n <- rows[grepl(", 1.5 parents", rows$case), ]
  frame(
    value(by_n$n),
    rows$least,
    "observations",
    "by observations: 1,000 variables,\n1.5 parents each, GPU",
    sort(value(by_n$n))
  )
  line(value(by_n$n), by_n$least, orange)
  by_parents <- rows[rows$n == "500", ]
  parents <- value(sub(" parents.*", "", sub("^.*, ", "", sub(", skeleton.*", "", by_parents$case))))
  frame(
    parents,
    rows$least,
    "parents of a variable, mean",
    "by density: 1,000 variables,\n500 observations, GPU",
    sort(parents)
  )
  line(parents, by_parents$least, orange)
  graphics::mtext(
    paste0(cross$machine[1L], ", commit ", paste(unique(c(cross$commit, more$commit, rows$commit)), collapse = ", ")),
    1,
    outer = TRUE,
    adj = 0.99,
    cex = 0.7,
    col = "grey40"
  )
}

# Places labels at the ends of lines, no two nearer than `gap`.
end_labels <- function(x, y, labels, colours, gap) {
  at <- order(y)
  placed <- y[at]
  for (round in 1:100) {
    for (i in seq_along(placed)[-1L]) {
      lacks <- gap - (placed[i] - placed[i - 1L])
      if (lacks > 0) placed[c(i - 1L, i)] <- placed[c(i - 1L, i)] + c(-lacks, lacks) / 2
    }
  }
  right <- graphics::par("usr")[2L]
  graphics::segments(x[at], y[at], right, placed, col = "grey75", lty = 3, xpd = NA)
  graphics::text(right, placed, paste0(" ", labels[at]), col = colours[at], adj = c(0, 0.5), cex = 0.85, xpd = NA)
}

draw_gpus <- function() {
  rows <- newest_runs(results[results$suite == "gpus" & results$device == "cuda", ])
  rows <- rows[rows$machine %in% rows$machine[rows$gpus == "4"], ]
  wanted <- c(
    "shape of TCGA 55572 x 3189, levels 0 and 1, search alone" = "TCGA's shape, 55,572 variables, search",
    "dense 20000 x 2000, levels 0 and 1, search alone" = "dense, 20,000 x 2,000, search",
    "nearest neighbours 300 x 1000" = "nearest neighbours, 300 x 1,000, from R",
    "dense 20000 x 500, levels 0 and 1, search alone" = "dense, 20,000 x 500, search",
    "dense 20000 x 500, levels 0 and 1" = "dense, 20,000 x 500, from R",
    "selection of 3072 x 531131 x 200" = "selection, 3,072 x 531,131, from R"
  )
  open_picture("gpus", 1350, 750)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(4, 4, 2.4, 17.5), las = 1, mgp = c(2.4, 0.6, 0))
  plot(
    NULL,
    xlim = c(1, 4),
    ylim = c(1, 4),
    axes = FALSE,
    xlab = paste0("GPUs (", rows$machine[1L], ")"),
    ylab = "times as fast as one"
  )
  graphics::abline(h = 1:4, col = "grey88")
  graphics::axis(1, 1:4, lwd = 0, lwd.ticks = 1)
  graphics::axis(2, 1:4, lwd = 0, lwd.ticks = 1)
  graphics::lines(c(1, 4), c(1, 4), lty = 3, col = "grey40")
  graphics::text(3.3, 3.45, "as many times as GPUs", srt = 36, cex = 0.8, col = "grey40")
  ends <- double()
  colours <- palette_of[seq_along(wanted)]
  for (i in seq_along(wanted)) {
    one <- rows[rows$case == names(wanted)[i], ]
    one <- one[order(one$gpus), ]
    gain <- one$least[one$gpus == "1"] / one$least
    graphics::lines(value(one$gpus), gain, type = "o", pch = 14 + i, lwd = 2, col = colours[i])
    ends[i] <- gain[length(gain)]
  }
  end_labels(rep(4, length(ends)), ends, wanted, colours, 0.17)
  graphics::title(
    paste0("Several GPUs (commit ", paste(unique(rows$commit[rows$case %in% names(wanted)]), collapse = ", "), ")"),
    adj = 0,
    font.main = 1,
    cex.main = 1.1
  )
}

draw_memory <- function() {
  wanted <- c(
    "dense 20000 x 100, levels 0 and 1, search alone" = "dense, 20,000 x 100, search",
    "sparse 40000 x 200, search alone" = "sparse, 40,000 x 200, search",
    "sparse 3000 x 200, all levels" = "sparse, 3,000 x 200, from R",
    "discrete 2000 x 20000, 3 levels of sets" = "discrete, 2,000 x 20,000, from R",
    "nearest neighbours 300 x 1000" = "neighbours, 300 x 1,000, from R",
    "dense 20000 x 500, levels 0 and 1, search alone" = "dense, 20,000 x 500, search"
  )
  rows <- newest_runs(results[
    results$suite == "memory" &
      results$device == "cuda" &
      results$memory %in% c("", shares) &
      results$case %in% names(wanted),
  ])
  rows <- rows[
    rows$id %in% tapply(rows$id[order(rows$date)], rows$case[order(rows$date)], function(ids) ids[length(ids)]),
  ]
  open_picture("memory", 1350, 750)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(4, 4.4, 2.4, 19.5), las = 1, mgp = c(2.6, 0.6, 0))
  first <- rows[rows$memory == "", ]
  times <- rows$least / first$least[match(rows$case, first$case)]
  place <- match(rows$memory, c("", shares))
  plot(
    NULL,
    xlim = c(1, 5),
    ylim = c(0.8, max(times) * 1.05),
    axes = FALSE,
    xlab = "share of the memory that the whole search takes (one GPU)",
    ylab = "times as long as with all memory"
  )
  graphics::abline(h = seq(1, ceiling(max(times)), 0.5), col = "grey88")
  graphics::axis(1, 1:5, c("all", shares), lwd = 0, lwd.ticks = 1)
  graphics::axis(2, seq(1, ceiling(max(times)), 0.5), lwd = 0, lwd.ticks = 1)
  cases <- intersect(names(wanted), rows$case)
  colours <- palette_of[seq_along(cases)]
  ends <- lapply(seq_along(cases), function(i) {
    at <- which(rows$case == cases[i])
    at <- at[order(place[at])]
    graphics::lines(place[at], times[at], type = "o", pch = 14 + i, lwd = 2, col = colours[i])
    c(place[at[length(at)]], times[at[length(at)]])
  })
  ends <- do.call(rbind, ends)
  labels <- paste0(wanted[cases], " (", first$commit[match(cases, first$case)], ")")
  end_labels(ends[, 1L], ends[, 2L], labels, colours, 0.15)
  graphics::title("Less memory (commits in brackets)", adj = 0, font.main = 1, cex.main = 1.1)
}

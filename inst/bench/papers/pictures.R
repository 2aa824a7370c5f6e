# Draws what run.sh wrote as the papers draw it, in one style, into PNG files: table.R sources it.

# Published, theirs on our card, ours: everywhere the same colour and sign.
colours <- c(published = "#8a8a8a", theirs = "#c0722a", second = "#7a5aa0", third = "#3a8a5a", ours = "#24507a")
signs <- c(published = 1, theirs = 17, second = 15, third = 18, ours = 19)

# Opens a page of panels, draws, and makes the file a palette one.
page <- function(file, panels, draw, height = 480, columns = panels) {
  rows <- ceiling(panels / columns)
  grDevices::png(file, width = c(640, 980, 1350)[columns], height = height * rows, res = 130, pointsize = 10, type = "cairo", antialias = "gray")
  graphics::par(mfrow = c(rows, columns), mar = c(4.2, 4.6, 3, 0.8), mgp = c(2.8, 0.7, 0), las = 1, cex = 1, cex.main = 1, font.main = 1)
  tryCatch(draw(), finally = grDevices::dev.off())
  shrink(file)
}

# Few colours make a file a quarter as large.
shrink <- function(file) {
  if (nzchar(Sys.which("pngquant"))) {
    system2("pngquant", c("--force", "--strip", "--speed", "1", "--nofs", "--output", shQuote(file), "32", shQuote(file)))
  } else if (nzchar(Sys.which("convert"))) {
    system2("convert", c(shQuote(file), "-strip", "+dither", "-colors", "32", shQuote(paste0("PNG8:", file))))
  }
}

# Curves on logarithmic axes: `curves` is a list of data frames x, y, by name of `colours`.
growth <- function(curves, xlab, main, labels, ylab = "seconds", log = "xy", at = sort(unique(unlist(lapply(curves, `[[`, "x"))))) {
  curves <- lapply(curves, function(curve) curve[!is.na(curve$y), , drop = FALSE])
  curves <- curves[vapply(curves, nrow, 0L) > 0L]
  if (!length(curves)) return(nothing(main))
  all <- do.call(rbind, curves)
  # What is published is dashed.
  dashes <- ifelse(grepl("published", labels[names(curves)]), 2L, 1L)
  names(dashes) <- names(curves)
  # The legend has the top.
  room <- 0.065 * length(curves) + 0.06
  graphics::plot(range(all$x), range(all$y) * c(1, max(3, (max(all$y) / min(all$y))^(room / (1 - room)))), type = "n", log = log, xlab = xlab, ylab = "", main = main, xaxt = "n", yaxt = "n")
  graphics::axis(1L, at, format(at, big.mark = ",", trim = TRUE, drop0trailing = TRUE, scientific = FALSE))
  ticks <- graphics::axTicks(2L)
  ticks <- ticks[ticks <= 2 * max(all$y)]
  graphics::axis(2L, ticks, format(ticks, big.mark = ",", trim = TRUE, drop0trailing = TRUE, scientific = FALSE))
  graphics::mtext(ylab, 3L, 0.1, adj = 0, at = graphics::par("usr")[1L] |> (\(x) if (graphics::par("xlog")) 10^x else x)(), cex = 0.8)
  for (name in names(curves)) {
    curve <- curves[[name]][order(curves[[name]]$x), ]
    graphics::lines(curve$x, curve$y, type = "b", pch = signs[[name]], col = colours[[name]], lty = dashes[[name]], lwd = 1.5)
  }
  graphics::legend("topleft", labels[names(curves)], col = colours[names(curves)], pch = signs[names(curves)], lty = dashes, bty = "n", cex = 0.72)
}

nothing <- function(main) {
  graphics::plot.new()
  graphics::title(main)
  graphics::text(0.5, 0.5, "not measured")
}

# Bars by group on a logarithmic axis, from `least`.
bars <- function(heights, main, labels, ylab = "seconds", legend_at = "topright") {
  if (all(is.na(heights))) return(nothing(main))
  least <- 10^floor(log10(min(heights, na.rm = TRUE) / 1.5))
  most <- 10^(log10(max(heights, na.rm = TRUE)) + 0.35 * log10(max(heights, na.rm = TRUE) / least))
  at <- graphics::barplot(heights, beside = TRUE, log = "y", ylim = c(least, most), col = colours[rownames(heights)], border = NA, main = main, ylab = "", yaxt = "n",
                          cex.names = 0.8)
  ticks <- graphics::axTicks(2L)
  graphics::axis(2L, ticks, format(ticks, big.mark = ",", trim = TRUE, drop0trailing = TRUE, scientific = FALSE))
  graphics::mtext(ylab, 3L, 0.1, adj = 0, at = graphics::par("usr")[1L], cex = 0.8)
  empty <- which(is.na(heights))
  if (length(empty)) graphics::text(at[empty], least * 1.1, "not run", srt = 90, adj = 0, cex = 0.6, col = "#8a8a8a")
  graphics::legend(legend_at, labels[rownames(heights)], fill = colours[rownames(heights)], border = NA, bty = "n", cex = 0.8, ncol = 2L)
}

# A heat map of a table: green is quicker than the configuration with 1.
heat <- function(table, main, xlab, ylab) {
  if (all(is.na(table))) return(nothing(main))
  scale <- grDevices::colorRampPalette(c("#b5402a", "#f5f0e0", "#2f7a4a"))(21L)
  place <- pmin(21L, pmax(1L, 11L + round(10 * log(table) / log(3))))
  graphics::image(seq_len(ncol(table)), seq_len(nrow(table)), t(matrix(place, nrow(table))), zlim = c(1, 21), col = scale, axes = FALSE, xlab = xlab, ylab = ylab, main = main)
  graphics::axis(1L, seq_len(ncol(table)), colnames(table), tick = FALSE, cex.axis = 0.8)
  graphics::axis(2L, seq_len(nrow(table)), rownames(table), tick = FALSE, cex.axis = 0.8)
  graphics::text(col(table), row(table), ifelse(is.na(table), "", sprintf("%.1f", table)), cex = 0.7)
}

# `out`: the folder of logs.
draw_all <- function(runs, published, out, folder) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  of <- function(key) {
    found <- runs$median[match(key, runs$key)]
    ifelse(nzchar(key), found, NA_real_)
  }
  # Rows of published.csv of an item, in this order.
  rows <- function(paper, item, what = NULL) {
    found <- published[published$paper == paper & startsWith(published$item, item), ]
    if (is.null(what)) found else found[found$what == what, ]
  }
  value <- function(rows) suppressWarnings(as.double(rows$value))
  file <- function(name) file.path(folder, paste0(name, ".png"))
  curve <- function(x, y) data.frame(x = x, y = y)

  cupc_data <- c("nci60", "mcc", "saureus")
  table_2 <- function(what) {
    part <- rows("cupc", "table 2", what)
    part <- part[match(cupc_data, part$data), ]
    heights <- rbind(published = value(part), theirs = of(part$theirs), ours = of(part$ours))
    colnames(heights) <- c("NCI-60", "MCC", "S. aureus")
    bars(heights, what, c(published = "published, GTX 1080", theirs = "its mapping, here", ours = "pcgpu"))
  }
  page(file("cupc-table-2"), 2L, function() for (what in c("cuPC-E", "cuPC-S")) table_2(what))

  # Figure 10: problems are N_samples_density.
  tenth <- runs[runs$paper == "cupc" & runs$item == "figure-10", ]
  page(file("cupc-figure-10"), 3L, function() {
    shape <- matrix(as.double(unlist(strsplit(tenth$problem, "_", fixed = TRUE))), ncol = 3L, byrow = TRUE)
    ways <- c(theirs = "edge:2:32", second = "set:64:2", third = "gpucsl:64", ours = "shared")
    base <- c(1000, 10000, 0.1)
    for (axis in 1:3) {
      same <- apply(shape[, -axis, drop = FALSE], 1L, function(row) all(row == base[-axis]))
      curves <- lapply(ways, function(way) {
        of_way <- same & tenth$way == way
        curve(shape[of_way, axis], tenth$median[of_way])
      })
      if (axis == 1L && any(same)) curves <- c(curves, list(published = curve(1000, 20.3)))
      growth(curves, c("variables", "samples", "density")[axis], c("1: 10,000 samples, density 0.1", "2: 1,000 variables, density 0.1", "3: 1,000 variables, 10,000 samples")[axis],
             c(published = "cuPC-E, published", theirs = "cuPC-E, here", second = "cuPC-S, here", third = "the thesis's, here", ours = "pcgpu"), at = sort(unique(shape[same, axis])))
    }
  })

  # Figures 7 and 8: a configuration's way is edge:BETA:GAMMA or set:THETA:DELTA.
  configurations <- function(item, problem, selected) {
    part <- runs[runs$paper == "cupc" & runs$item == item & runs$problem == problem & grepl("^(edge|set):", runs$way), ]
    if (!nrow(part)) return(matrix(NA_real_, 1L, 1L))
    numbers <- matrix(as.integer(unlist(strsplit(sub("^[a-z]+:", "", part$way), ":", fixed = TRUE))), ncol = 2L, byrow = TRUE)
    faster <- part$median[match(selected, part$way)] / part$median
    tapply(faster, list(numbers[, 1L], numbers[, 2L]), identity)
  }
  page(file("cupc-figures-7-8"), 4L, function() {
    for (name in c("nci60", "mcc")) heat(configurations("figure-7", name, "edge:2:32"), paste("cuPC-E,", c(nci60 = "NCI-60", mcc = "MCC")[[name]]), "gamma", "beta")
    for (name in c("nci60", "mcc")) heat(configurations("figure-8", name, "set:64:2"), paste("cuPC-S,", c(nci60 = "NCI-60", mcc = "MCC")[[name]]), "delta", "theta")
  }, columns = 2L)

  # Figure 6: shares of levels.
  page(file("cupc-figure-6"), 3L, function() {
    ways <- c("cuPC-E, here" = "edge:2:32", "cuPC-S, here" = "set:64:2", pcgpu = "shared")
    for (i in seq_along(ways)) {
      keys <- paste0("cupc/table-2--", c(cupc_data, "dream5"), "#", ways[i])
      began <- runs$began[match(keys, runs$key)]
      shares <- vapply(began, function(began) {
        if (is.na(began)) return(rep(NA_real_, 4L))
        c(share_of_levels(began, 0L, 0L), share_of_levels(began, 1L, 1L), share_of_levels(began, 2L, 2L), share_of_levels(began, 3L, 99L))
      }, double(4L), USE.NAMES = FALSE)
      graphics::barplot(100 * shares, names.arg = c("NCI-60", "MCC", "S. aureus", "DREAM5*"), col = c("#d0d0d0", colours[c("ours", "theirs", "second")]), border = NA,
                        main = names(ways)[i], ylab = "% of the time", ylim = c(0, 130), yaxt = "n", cex.names = 0.75)
      graphics::axis(2L, seq(0, 100, 25))
      graphics::legend("top", paste("level", c("0", "1", "2", "3 and on")), fill = c("#d0d0d0", colours[c("ours", "theirs", "second")]), border = NA, bty = "n", ncol = 2L, cex = 0.8)
    }
  })

  # Figure 9: sets of two that several rows have at level 2, by tens of rows; the last bar has all above.
  page(file("cupc-figure-9"), 4L, function() {
    for (name in c("dream5", cupc_data)) {
      main <- c(dream5 = "DREAM5*", nci60 = "NCI-60", mcc = "MCC", saureus = "S. aureus")[[name]]
      sets <- read_sets(out, name)
      if (!is.null(sets)) sets <- sets[sets$rows > 1L, ]
      if (is.null(sets) || !nrow(sets)) {
        nothing(main)
        next
      }
      bin <- factor(pmin(sets$rows %/% 10L, 10L), 0:10)
      share <- 100 * tapply(sets$sets, bin, sum, default = 0) / sum(sets$sets)
      graphics::barplot(share, names.arg = seq(0, 100, 10), col = colours[["ours"]], border = NA, main = main, xlab = "rows, from", ylab = "% of the sets",
                        ylim = c(0, 100), cex.names = 0.6)
    }
  }, height = 400, columns = 2L)

  page(file("gpupc-table-2"), 4L, function() {
    part <- rows("gpupc", "table 2")
    names <- c(N = "variables", `max|V|` = "levels of a variable", n = "samples", `T` = "tests of an edge")
    for (name in names(names)) {
      axis <- part[startsWith(part$data, paste0(name, " ")), ]
      x <- as.double(sub(".* ", "", axis$data))
      base <- of(axis$base)
      growth(list(published = curve(x, ifelse(is.finite(value(axis)), value(axis), NA)), theirs = curve(x, base / of(axis$theirs)), ours = curve(x, base / of(axis$ours))),
             names[[name]], paste("by", names[[name]]), c(published = "gpuPC, published", theirs = "gpuPC's mapping, here", ours = "pcgpu"), "times as fast as disc-cupc's mapping")
    }
  }, columns = 2L)

  page(file("gpupc-table-3"), 2L, function() {
    for (what in c("disc-cupc", "gpuPC")) {
      part <- rows("gpupc", "table 3", what)
      heights <- rbind(published = value(part), theirs = of(part$theirs), ours = of(part$ours))
      colnames(heights) <- sub("-.*", "", part$data)
      bars(heights, what, c(published = "published, V100", theirs = "its mapping, here", ours = "pcgpu"))
    }
  })

  labels <- c(published = "CMIknn, published (a core)", second = "GPU_CMIknn, published (A40)", theirs = "its kernel, here", third = "pcgpu, one test", ours = "pcgpu, in a batch")
  tests <- function(item, pattern, xlab, main, log = "xy") {
    gpu <- rows("cmiknn", item, "GPU_CMIknn")
    gpu <- gpu[grepl(pattern, gpu$data), ]
    cpu <- rows("cmiknn", item, "CMIknn")
    cpu <- cpu[grepl(pattern, cpu$data), ]
    # The number that varies: the one that the pattern leaves.
    x <- function(part) as.double(gsub("[^0-9.]", "", sub(pattern, "", part$data)))
    growth(list(published = curve(x(cpu), value(cpu)), second = curve(x(gpu), value(gpu)), theirs = curve(x(gpu), of(gpu$theirs)), third = curve(x(gpu), of(gpu$ours)),
                ours = curve(x(gpu), of(sub("alone$", "shared", gpu$ours)))), xlab, main, labels, "seconds a test", log)
  }
  page(file("cmiknn-tests"), 4L, function() {
    tests("table 1", "^k ", "k", "1: by k (1,000 samples, 100 permutations)")
    tests("table 2", "^k 200,", "permutations", "2: by permutations (k = 200)")
    tests("table 3", "^k 200,", "members of S", "3: by size of S (k = 200)", "y")
    tests("table 4", ", k 0.2 n$", "samples", "4: by samples (k = 0.2 n)")
  }, height = 560, columns = 2L)

  page(file("cmiknn-searches"), 3L, function() {
    fifth <- runs[runs$paper == "cmiknn" & runs$item == "table-5", ]
    cells <- cells_of(fifth$way, 4L)
    of_way <- function(k, way) {
      these <- cells[, 2L] == k & cells[, 4L] == way
      curve(as.double(cells[these, 1L]), fifth$median[these])
    }
    own <- c(theirs = "GPU_CMIknn-Parallel's, here", second = "GPU_CMIknn-Single's, here", third = "pcgpu, 16 CPU cores", ours = "pcgpu")
    for (k in c("7", "20")) {
      growth(list(theirs = of_way(k, "parallel"), second = of_way(k, "single"), third = of_way(k, "cpu"), ours = of_way(k, "shared")), "variables",
             paste("denser graphs, k =", k), own, log = "y")
    }
    tenth <- rows("cmiknn", "table 10")
    tenth <- tenth[startsWith(tenth$data, "N "), ]
    x <- function(what) as.double(sub("N ", "", tenth$data[tenth$what == what]))
    growth(list(published = curve(x("CPU-8"), value(tenth[tenth$what == "CPU-8", ])), second = curve(x("Parallel"), value(tenth[tenth$what == "Parallel", ])),
                theirs = curve(x("Parallel"), of(tenth$theirs[tenth$what == "Parallel"])), ours = curve(x("Parallel"), of(tenth$ours[tenth$what == "Parallel"]))),
           "variables", "sparse graphs, k = 7", c(published = "8 cores, published", second = "Parallel, published (A40)", theirs = "Parallel's kernel, here", ours = "pcgpu"))
  }, height = 520)

  distance <- distances_of(runs)
  if (!is.null(distance)) page(file("cmiknn-figure-1"), 1L, function() {
    less <- distance - distance[, "7"]
    k <- as.integer(colnames(less))
    shown <- sapply(list(min, stats::median, mean, max), function(f) apply(less, 2L, f))
    graphics::matplot(k, shown, type = "b", pch = c(25, 19, 4, 24), lty = c(3, 1, 2, 3), col = colours[c("published", "ours", "theirs", "published")], log = "x", xlab = "k",
                      ylab = "distance less that of k = 7", main = sprintf("%d graphs of 20 variables", nrow(less)), ylim = range(shown) * c(1, 1.5))
    graphics::abline(h = 0, col = "#c0c0c0")
    graphics::legend("topleft", c("least", "median", "mean", "most"), pch = c(25, 19, 4, 24), lty = c(3, 1, 2, 3), col = colours[c("published", "ours", "theirs", "published")],
                     bty = "n", ncol = 2L, cex = 0.8)
  })

  page(file("mixed-table-6.16"), 1L, function() {
    sixth <- runs[runs$paper == "cmiknn" & runs$item == "table-6.16", ]
    cells <- cells_of(sixth$way, 4L)
    of_way <- function(way) curve(as.double(cells[cells[, 4L] == way, 3L]), sixth$median[cells[, 4L] == way])
    growth(list(theirs = of_way("parallel"), second = of_way("single"), third = of_way("cpu"), ours = of_way("shared")), "share of discrete variables",
           "20 variables, k = 7", c(theirs = "Parallel's kernel, here", second = "Single's kernel, here", third = "pcgpu, 16 CPU cores", ours = "pcgpu"), log = "y")
  })

  # Figures 6.2 to 6.4: seconds of one level, of when levels began.
  seconds_of_level <- function(began, level) {
    vapply(strsplit(began, " ", fixed = TRUE), function(at) {
      at <- as.double(at)
      if (length(at) < level + 2L) NA_real_ else (at[level + 2L] - at[level + 1L]) / 1000
    }, 0)
  }
  own <- c(theirs = "the thesis's, here", ours = "pcgpu")
  page(file("dissertation-figure-6.2"), 2L, function() {
    for (level in 0:1) {
      part <- runs[runs$paper == "dissertation" & runs$item == "figure-6.2" & endsWith(runs$problem, paste0(" ", level)), ]
      way <- function(way) {
        of_way <- part[part$way == way, ]
        curve(as.double(sub(" .*", "", of_way$problem)), seconds_of_level(of_way$began, level))
      }
      growth(list(theirs = way("gpucsl:64"), ours = way("shared")), "variables", paste0("level ", level, ", all pairs stay"), own)
    }
  })
  page(file("dissertation-figures-6.3-6.4"), 3L, function() {
    sets <- c("nci60", "mcc", "br51", "saureus", "scerevisiae")
    keys <- lapply(c(theirs = "gpucsl:64", ours = "shared"), function(way) paste0("dissertation/figure-6.3--", sets, "#", way))
    draw <- function(main, f) {
      heights <- do.call(rbind, lapply(keys, f))
      colnames(heights) <- c("NCI-60", "MCC", "BR51*", "S. aur.", "S. cer.*")
      bars(heights, main, own, legend_at = "topleft")
    }
    draw("6.3: levels 0 and 1", of)
    for (level in 0:1) {
      draw(sprintf("6.4%s: level %d", c("a", "b")[level + 1L], level), function(keys) {
        began <- runs$began[match(keys, runs$key)]
        seconds_of_level(ifelse(is.na(began), "", began), level)
      })
    }
  })

  page(file("blocks-table-6.17"), 2L, function() {
    for (level in 0:1) {
      way <- function(way, problem = "^[0-9]+$") {
        # A run to one level alone, which is level 0, does not name it.
        ways <- c(paste(way, level), if (level == 0L) way)
        part <- runs[runs$paper == "dissertation" & runs$item == "table-6.17" & grepl(problem, runs$problem) & runs$way %in% ways, ]
        curve(as.double(sub(" .*", "", part$problem)), part$median)
      }
      growth(list(second = way("managed"), theirs = way("rows=2048"), third = way("shared", " cards$"), ours = way("shared")), "variables",
             paste("pcgpu,", c("level 0", "levels 0 and 1")[level + 1L]),
             c(second = "managed memory", theirs = "blocks of 2,048 rows", third = "the matrix as a whole, on two cards", ours = "the matrix as a whole"),
             at = c(5000, 10000, 20000, 40000, 80000))
    }
  })

  page(file("cuda-jmi-table-5"), 1L, function() {
    jmi <- c("breastcancer", "ecml", "rcv1train", "news20", "svhn")
    part <- rows("cuda-jmi", "table 5", "mutual information, one GPU")
    four <- rows("cuda-jmi", "table 5", "mutual information")
    four <- four[four$hardware == "4 M60 GPUs", ]
    heights <- rbind(published = value(part)[match(jmi, part$data)], second = value(four)[match(jmi, four$data)], theirs = of(part$theirs)[match(jmi, part$data)],
                     ours = of(part$ours)[match(jmi, part$data)])
    colnames(heights) <- c("Breast C.", "ECML", "rcv1", "news20", "SVHN")
    bars(heights, "200 features by JMI", c(published = "published, one M60 GPU", second = "published, four", theirs = "its scheme, here", ours = "pcgpu"), legend_at = "topleft")
  }, height = 520)
}

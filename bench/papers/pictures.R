# Draws what the papers draw, in one style, into PNG files: table.R sources it.

# Colours with one meaning in all pictures: published, and published for another machine or program; the papers'
# mappings on our GPU, up to three; ours, and ours in another way (one test instead of a batch, on the CPU, on two GPUs,
# on four). Levels and ways to keep a matrix have colours of their own.
colours <- c(
  published = "#8a8a8a",
  published_other = "#bfbfbf",
  theirs = "#c0722a",
  theirs_other = "#e3ad5b",
  theirs_third = "#8a4a1a",
  ours = "#24507a",
  ours_other = "#7fa8cc",
  ours_third = "#2a9fd8",
  managed = "#3a8a5a",
  blocks = "#9bbf5a",
  blocks_other = "#c8dba0",
  level_0 = "#d9d4e3",
  level_1 = "#a99bc4",
  level_2 = "#7a63a5",
  level_3 = "#4a3478"
)
signs <- c(
  published = 1,
  published_other = 0,
  theirs = 17,
  theirs_other = 15,
  theirs_third = 18,
  ours = 19,
  ours_other = 21,
  ours_third = 23,
  managed = 15,
  blocks = 17,
  blocks_other = 2
)

# Opens a page of panels, draws, and gives the file a palette. `labels`: the page's legend, by name of `colours`, above
# the panels; of bars, or of curves, whose lines are dashed if they are published.
page_of <- function(file, panels, draw, labels = NULL, bars = FALSE, height = 440, columns = panels) {
  rows <- ceiling(panels / columns)
  width <- c(640, 980, 1350)[columns]
  # A letter takes a good sixteenth of an inch.
  across <- max(1L, min(length(labels), floor(width / 130 / (0.078 * max(0L, nchar(labels)) + 0.65))))
  lines <- ceiling(length(labels) / across)
  grDevices::png(
    file,
    width = width,
    height = height * rows + 22 * lines,
    res = 130,
    pointsize = 10,
    type = "cairo",
    antialias = "gray"
  )
  graphics::par(
    mfrow = c(rows, columns),
    mar = c(3.6, 4.6, 2.4, 0.8),
    mgp = c(3.1, 0.7, 0),
    oma = c(0, 0, 1.25 * lines, 0),
    las = 1,
    cex = 1,
    cex.main = 1,
    font.main = 1,
    cex.lab = 0.9,
    family = "sans"
  )
  tryCatch(
    {
      draw()
      if (length(labels)) {
        graphics::par(fig = c(0, 1, 0, 1), oma = rep(0, 4L), mar = rep(0, 4L), new = TRUE)
        graphics::plot.new()
        own <- names(labels)
        style <- if (bars) {
          list(fill = colours[own], border = NA)
        } else {
          list(col = colours[own], pch = signs[own], lty = dashes_of(own), pt.bg = "white")
        }
        do.call(
          graphics::legend,
          c(list("topleft", paste0(labels, "   "), bty = "n", cex = 0.8, ncol = across, inset = c(0.01, 0)), style)
        )
      }
    },
    finally = grDevices::dev.off()
  )
  shrink(file)
}
dashes_of <- function(names) ifelse(startsWith(names, "published"), 2L, 1L)

# Reduces the colours of a file, which makes it a quarter as large.
shrink <- function(file) {
  if (nzchar(Sys.which("pngquant"))) {
    system2(
      "pngquant",
      c("--force", "--strip", "--speed", "1", "--nofs", "--output", shQuote(file), "32", shQuote(file))
    )
  } else if (nzchar(Sys.which("convert"))) {
    system2(
      "convert",
      c(shQuote(file), "-strip", "+dither", "-colors", "32", shQuote(paste0("PNG8:", file))),
      stdout = FALSE,
      stderr = FALSE
    )
  }
}

# Formats the numbers at ticks, all of them.
tick_labels <- function(at) format(at, big.mark = ",", trim = TRUE, drop0trailing = TRUE, scientific = FALSE)
# Returns whether the labels lack room next to each other on a panel's horizontal axis, so that they stand upright.
are_crowded <- function(at, is_log) {
  place <- if (is_log) log10(at) else at
  inches <- graphics::par("din")[1L] / graphics::par("mfrow")[2L] - 0.85
  width <- 0.07 * nchar(tick_labels(at)) + 0.06
  length(at) > 1L && any(diff(place) / diff(range(place)) * 0.93 * inches < (width[-1L] + width[-length(width)]) / 2)
}
ticks <- function(side, at, upright = FALSE) {
  graphics::axis(side, at, tick_labels(at), las = if (upright) 2L else 1L, cex.axis = 0.8, gap.axis = -1)
}
# Returns powers of ten and, if there are few, numbers between them; for a short range, other round numbers.
nice <- function(range) {
  at <- as.double(outer(c(1, 2, 5), 10^(floor(log10(range[1L])):ceiling(log10(range[2L])))))
  inside <- function(at) at[at >= range[1L] & at <= range[2L]]
  if (length(inside(at)) > 7L) {
    at <- at[seq(1L, length(at), 3L)]
  }
  if (length(inside(at)) < 2L) {
    at <- pretty(range)
  }
  sort(inside(at))
}
# Draws curves on logarithmic axes: `curves` is a list of data frames x, y, by name of `colours`. A point that has `few`
# tests shows their number. A curve is broken if a point between others was not run.
growth <- function(curves, xlab, main, ylab = "seconds", log = "xy", at = sort(unique(all$x))) {
  curves <- curves[vapply(curves, function(curve) !all(is.na(curve$y)), NA)]
  if (!length(curves)) {
    return(nothing(main))
  }
  all <- do.call(rbind, lapply(curves, `[`, c("x", "y")))
  all <- all[!is.na(all$y), ]
  upright <- are_crowded(at, grepl("x", log))
  graphics::par(mar = replace(graphics::par("mar"), 1L, if (upright) 5.4 else 3.6))
  graphics::plot(
    range(all$x),
    range(all$y),
    type = "n",
    log = log,
    xlab = "",
    ylab = ylab,
    main = main,
    xaxt = "n",
    yaxt = "n"
  )
  graphics::title(xlab = xlab, line = if (upright) 4.2 else 2.3)
  ticks(1L, at, upright)
  ticks(2L, nice(10^graphics::par("usr")[3:4]))
  for (name in names(curves)) {
    curve <- curves[[name]][order(curves[[name]]$x), ]
    graphics::lines(
      curve$x,
      curve$y,
      type = "b",
      pch = signs[[name]],
      col = colours[[name]],
      bg = "white",
      lty = dashes_of(name),
      lwd = 1.5
    )
    few <- which(as.logical(curve$few))
    if (length(few)) {
      graphics::text(
        curve$x[few],
        curve$y[few],
        sprintf("%.0f", curve$count[few]),
        pos = ifelse(few == 1L, 4L, 1L),
        offset = 0.4,
        cex = 0.65,
        col = colours[[name]]
      )
    }
  }
}

nothing <- function(main) {
  graphics::plot.new()
  graphics::title(main)
  graphics::text(0.5, 0.5, "not measured")
}

# Draws bars by group on a logarithmic axis, from `least` to a round number above all of them.
bars <- function(heights, main, ylab = "seconds") {
  if (all(is.na(heights))) {
    return(nothing(main))
  }
  least <- 10^floor(log10(min(heights, na.rm = TRUE) / 1.5))
  most <- max(heights, na.rm = TRUE)
  round_ones <- c(1, 2, 5, 10) * 10^floor(log10(most))
  limits <- c(least, round_ones[round_ones >= most][1L])
  at <- graphics::barplot(
    heights,
    beside = TRUE,
    log = "y",
    ylim = limits,
    col = colours[rownames(heights)],
    border = NA,
    ylab = ylab,
    yaxt = "n",
    main = main,
    cex.names = 0.8
  )
  ticks(2L, union(nice(limits), limits[2L]))
  empty <- which(is.na(heights))
  if (length(empty)) graphics::text(at[empty], least * 1.1, "not run", srt = 90, adj = 0, cex = 0.6, col = "#8a8a8a")
}

# Draws a heat map of a table: green is quicker than the configuration with 1.
heat <- function(table, main, xlab, ylab) {
  if (all(is.na(table))) {
    return(nothing(main))
  }
  scale <- grDevices::colorRampPalette(c("#b5402a", "#f5f0e0", "#2f7a4a"))(21L)
  place <- pmin(21L, pmax(1L, 11L + round(10 * log(table) / log(3))))
  graphics::image(
    seq_len(ncol(table)),
    seq_len(nrow(table)),
    t(matrix(place, nrow(table))),
    zlim = c(1, 21),
    col = scale,
    axes = FALSE,
    xlab = "",
    ylab = ylab,
    main = main
  )
  graphics::title(xlab = xlab, line = 2.3)
  graphics::axis(1L, seq_len(ncol(table)), colnames(table), tick = FALSE, cex.axis = 0.8, gap.axis = -1)
  graphics::axis(2L, seq_len(nrow(table)), rownames(table), tick = FALSE, cex.axis = 0.8, gap.axis = -1)
  graphics::text(col(table), row(table), ifelse(is.na(table), "", sprintf("%.1f", table)), cex = 0.7)
}

# Returns a text that distinguishes a picture from one that was drawn of other numbers, or in another way.
fingerprint <- function(...) {
  file <- tempfile()
  on.exit(unlink(file))
  lines <- unlist(lapply(list(...), function(part) {
    if (is.data.frame(part)) do.call(paste, c(part, sep = ",")) else part
  }))
  writeLines(enc2utf8(as.character(lines)), file, useBytes = TRUE)
  unname(tools::md5sum(file))
}

# Draws the pictures whose runs are complete, and leaves others unchanged. `seconds`: the runs that there are, by key;
# `times_of(rows, side, base)`: how many times as fast the runs of rows are; `distances`: the table of figure 1. A
# picture is also unchanged if figures/drawn.csv has the same fingerprint, because another machine has other letters.
draw_all <- function(seconds, published, times_of, distances, folder) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  drawn_file <- file.path(folder, "drawn.csv")
  drawn <- if (file.exists(drawn_file)) {
    utils::read.csv(drawn_file, colClasses = "character")
  } else {
    data.frame(picture = character(), of = character())
  }
  code <- readLines(file.path(dirname(folder), "pictures.R"), encoding = "UTF-8")
  names_of_logs <- unique(sub("#.*", "", seconds$key))
  of <- function(keys, column = "median") {
    found <- seconds[[column]][match(keys, seconds$key)]
    ifelse(nzchar(keys), found, NA)
  }
  # `needs`: keys of runs, and logs of which any run suffices; `also`: those that are drawn as far as there are any;
  # `there`: whether there is all else, `more`: that.
  picture <- function(name, needs, draw, panels = 1L, also = character(), there = TRUE, more = NULL, ...) {
    needs <- needs[nzchar(needs)]
    is_there <- ifelse(
      grepl("#", needs),
      needs %in% seconds$key[!is.na(seconds$median) | nzchar(seconds$rows)],
      needs %in% names_of_logs
    )
    if (all(is_there) && there) {
      file <- file.path(folder, paste0(name, ".png"))
      of_logs <- seconds[sub("#.*", "", seconds$key) %in% sub("#.*", "", c(needs, also)), ]
      own <- fingerprint(
        code,
        of_logs[order(of_logs$key, method = "radix"), ],
        published[published$paper == sub("-(table|figure|tests|searches).*", "", name), c("data", "what", "value")],
        more
      )
      if (file.exists(file) && own %in% drawn$of[drawn$picture == name]) {
        return()
      }
      page_of(file, panels, draw, ...)
      drawn <<- rbind(drawn[drawn$picture != name, ], data.frame(picture = name, of = own))
      return()
    }
    lacks <- needs[!is_there]
    message(
      name,
      ".png is left as it is",
      if (length(lacks)) {
        sprintf(
          ": no run of %s%s",
          lacks[1L],
          if (length(lacks) > 1L) sprintf(" and %d others", length(lacks) - 1L) else ""
        )
      }
    )
  }
  # Returns whether it is known when the levels of these runs began.
  has_levels <- function(keys) {
    began <- of(keys, "began")
    all(!is.na(began) & nzchar(began))
  }
  # Returns rows of published.csv of an item, in this order.
  rows <- function(paper, item, what = NULL) {
    found <- published[published$paper == paper & startsWith(published$item, item), ]
    if (is.null(what)) found else found[found$what == what, ]
  }
  value <- function(rows) suppressWarnings(as.double(rows$value))
  curve <- function(x, y) data.frame(x = x, y = y)

  cupc_data <- c("nci60", "mcc", "saureus")
  cupc_names <- c(
    nci60 = "NCI-60",
    mcc = "MCC",
    saureus = "S. aureus",
    dream5 = "DREAM5*",
    br51 = "BR51*",
    scerevisiae = "S. cerevisiae*"
  )
  table_2 <- function(what) {
    part <- rows("cupc", "table 2", what)
    part[match(cupc_data, part$data), ]
  }
  both <- rbind(table_2("cuPC-E"), table_2("cuPC-S"))
  own <- c(published = "published", theirs = "its mapping, here", ours = "pcgpu")
  picture(
    "cupc-table-2",
    c(both$theirs, both$ours),
    panels = 2L,
    labels = replace(own, "published", "published, GTX 1080"),
    bars = TRUE,
    draw = function() {
      for (what in c("cuPC-E", "cuPC-S")) {
        part <- table_2(what)
        heights <- rbind(published = value(part), theirs = of(part$theirs), ours = of(part$ours))
        colnames(heights) <- cupc_names[cupc_data]
        bars(heights, what)
      }
    }
  )

  # Figure 10: problems are N_samples_density.
  axes <- list(c(1000, 2000, 3000, 4000), c(2000, 4000, 6000, 8000, 10000), c(0.1, 0.2, 0.3, 0.4, 0.5))
  base <- c(1000, 10000, 0.1)
  ways <- c(theirs = "edge:2:32", theirs_other = "set:64:2", theirs_third = "gpucsl:64", ours = "shared")
  keys_of <- function(axis, way) {
    shapes <- vapply(
      axes[[axis]],
      function(x) paste(vapply(replace(base, axis, x), format, "", scientific = FALSE), collapse = "_"),
      ""
    )
    paste0("cupc/figure-10--", shapes, "#", way)
  }
  labels <- c(
    published = "cuPC-E, published",
    theirs = "cuPC-E, here",
    theirs_other = "cuPC-S, here",
    theirs_third = "the thesis's, here",
    ours = "pcgpu"
  )
  picture(
    "cupc-figure-10",
    unlist(lapply(1:3, function(axis) lapply(ways, keys_of, axis = axis))),
    panels = 3L,
    labels = labels,
    draw = function() {
      for (axis in 1:3) {
        curves <- lapply(ways, function(way) curve(axes[[axis]], of(keys_of(axis, way))))
        if (axis == 1L) {
          curves <- c(curves, list(published = curve(1000, 20.3)))
        }
        growth(
          curves,
          c("variables", "samples", "density")[axis],
          c("1: 10,000 samples, density 0.1", "2: 1,000 variables, density 0.1", "3: 1,000 variables, 10,000 samples")[
            axis
          ],
          at = axes[[axis]],
          log = if (axis == 1L) "xy" else "y"
        )
      }
    }
  )

  # Figures 7 and 8: a configuration's way is edge:BETA:GAMMA or set:THETA:DELTA.
  selected <- c("figure-7" = "edge:2:32", "figure-8" = "set:64:2")
  configurations <- function(item, problem) {
    prefix <- paste0("cupc/", item, "--", problem, "#")
    part <- seconds[startsWith(seconds$key, paste0(prefix, sub(":.*", ":", selected[[item]]))), ]
    numbers <- matrix(
      as.integer(unlist(strsplit(sub("^.*#[a-z]+:", "", part$key), ":", fixed = TRUE))),
      ncol = 2L,
      byrow = TRUE
    )
    tapply(of(paste0(prefix, selected[[item]])) / part$median, list(numbers[, 1L], numbers[, 2L]), identity)
  }
  heads <- unlist(lapply(names(selected), function(item) paste0("cupc/", item, "--", cupc_data, "#", selected[[item]])))
  picture("cupc-figures-7-8", heads, panels = 6L, columns = 3L, draw = function() {
    for (name in cupc_data) {
      heat(configurations("figure-7", name), paste("cuPC-E,", cupc_names[[name]]), "gamma", "beta")
    }
    for (name in cupc_data) {
      heat(configurations("figure-8", name), paste("cuPC-S,", cupc_names[[name]]), "delta", "theta")
    }
  })

  # Figure 6: shares of levels.
  shown <- c(cupc_data, "dream5")
  keys <- lapply(c("cuPC-E, here" = "edge:2:32", "cuPC-S, here" = "set:64:2", pcgpu = "shared"), function(way) {
    paste0("cupc/table-2--", shown, "#", way)
  })
  levels <- c(level_0 = "level 0", level_1 = "level 1", level_2 = "level 2", level_3 = "level 3 and on")
  picture(
    "cupc-figure-6",
    unlist(keys),
    panels = 3L,
    there = has_levels(unlist(keys)),
    labels = levels,
    bars = TRUE,
    draw = function() {
      for (name in names(keys)) {
        shares <- vapply(
          of(keys[[name]], "began"),
          function(began) {
            c(
              share_of_levels(began, 0L, 0L),
              share_of_levels(began, 1L, 1L),
              share_of_levels(began, 2L, 2L),
              share_of_levels(began, 3L, 99L)
            )
          },
          double(4L),
          USE.NAMES = FALSE
        )
        graphics::barplot(
          100 * shares,
          names.arg = cupc_names[shown],
          col = colours[names(levels)],
          border = NA,
          main = name,
          ylab = "% of the time",
          ylim = c(0, 100),
          cex.names = 0.75,
          cex.axis = 0.8
        )
      }
    }
  )

  # Figure 9: sets of two that several rows have at level 2: 2 to 9, by tens, 100 and more.
  keys <- paste0("cupc/figure-9--", shown, "#redundant")
  picture("cupc-figure-9", keys, panels = 4L, height = 400, columns = 2L, draw = function() {
    for (i in seq_along(keys)) {
      sets <- as.double(strsplit(of(keys[i], "rows"), " ", fixed = TRUE)[[1L]])[-1L]
      graphics::par(mar = replace(graphics::par("mar"), 1L, 4.6))
      graphics::barplot(
        100 * sets / sum(sets),
        names.arg = c("2", seq(10, 90, 10), "100"),
        col = colours[["ours"]],
        border = NA,
        main = cupc_names[[shown[i]]],
        xlab = "",
        ylab = "% of the sets in several rows",
        ylim = c(0, 100),
        cex.names = 0.75,
        cex.axis = 0.8,
        las = 2L
      )
      graphics::title(xlab = "rows, from", line = 3.2)
    }
  })

  part <- rows("gpupc", "table 2")
  part <- part[nzchar(part$theirs), ]
  both <- cbind(part, by_theirs = times_of(part, "theirs", "base"), by_ours = times_of(part, "ours", "ours_base"))
  labels <- c(published = "gpuPC, published", theirs = "gpuPC's mapping, here", ours = "pcgpu")
  picture(
    "gpupc-table-2",
    character(),
    panels = 4L,
    columns = 2L,
    labels = labels,
    there = !anyNA(both[c("by_theirs", "by_ours")]),
    more = both[c("data", "by_theirs", "by_ours")],
    draw = function() {
      names <- c(N = "variables", `max|V|` = "levels of a variable", n = "samples", `T` = "tests of an edge")
      for (name in names(names)) {
        axis <- both[startsWith(both$data, paste0(name, " ")), ]
        x <- as.double(sub(".* ", "", axis$data))
        growth(
          list(
            published = curve(x, ifelse(is.finite(value(axis)), value(axis), NA)),
            theirs = curve(x, axis$by_theirs),
            ours = curve(x, axis$by_ours)
          ),
          names[[name]],
          paste("by", names[[name]]),
          "times as fast as disc-cupc's mapping"
        )
      }
    }
  )

  part <- rows("gpupc", "table 3")
  part <- part[part$what %in% c("disc-cupc", "gpuPC"), ]
  picture(
    "gpupc-table-3",
    c(part$theirs, part$ours),
    panels = 2L,
    labels = replace(own, "published", "published, V100"),
    bars = TRUE,
    draw = function() {
      for (what in c("disc-cupc", "gpuPC")) {
        of_what <- part[part$what == what, ]
        heights <- rbind(published = value(of_what), theirs = of(of_what$theirs), ours = of(of_what$ours))
        colnames(heights) <- sub("-.*", "", of_what$data)
        bars(heights, what)
      }
    }
  )

  labels <- c(
    published = "CMIknn, published (a core)",
    published_other = "GPU_CMIknn, published (A40)",
    theirs = "its kernel, here",
    ours_other = "pcgpu, one test",
    ours = "pcgpu, in a batch (few tests: number)"
  )
  batch <- function(keys) sub("alone$", "shared", keys)
  tests <- function(item, pattern, xlab, main, log = "xy") {
    gpu <- rows("cmiknn", item, "GPU_CMIknn")
    gpu <- gpu[grepl(pattern, gpu$data), ]
    cpu <- rows("cmiknn", item, "CMIknn")
    cpu <- cpu[grepl(pattern, cpu$data), ]
    # The number that varies: the one that the pattern leaves.
    x <- function(part) as.double(gsub("[^0-9.]", "", sub(pattern, "", part$data)))
    count <- of(batch(gpu$ours), "count")
    in_batch <- data.frame(x = x(gpu), y = of(batch(gpu$ours)), few = !is.na(count) & count < 32, count = count)
    growth(
      list(
        published = curve(x(cpu), value(cpu)),
        published_other = curve(x(gpu), value(gpu)),
        theirs = curve(x(gpu), of(gpu$theirs)),
        ours_other = curve(x(gpu), of(gpu$ours)),
        ours = in_batch
      ),
      xlab,
      main,
      "seconds a test",
      log
    )
  }
  part <- rbind(
    rows("cmiknn", "table 1 ", "GPU_CMIknn"),
    rows("cmiknn", "table 2 ", "GPU_CMIknn"),
    rows("cmiknn", "table 3 ", "GPU_CMIknn"),
    rows("cmiknn", "table 4 ", "GPU_CMIknn")
  )
  picture(
    "cmiknn-tests",
    c(part$ours, batch(part$ours)),
    also = part$theirs,
    panels = 4L,
    height = 480,
    columns = 2L,
    labels = labels,
    draw = function() {
      tests("table 1 ", "^k ", "k", "1: by k (1,000 samples, 100 permutations)")
      tests("table 2 ", "^k 200,", "permutations", "2: by permutations (k = 200)")
      tests("table 3 ", "^k 200,", "members of S", "3: by size of S (k = 200)", "y")
      tests("table 4 ", ", k 0.2 n$", "samples", "4: by samples (k = 0.2 n)")
    }
  )

  # Returns a curve of a table's ways, by what varies.
  of_ways <- function(log, x, way) curve(x, of(paste0("cmiknn/", log, "#", way)))
  cores <- "pcgpu, on the CPU"
  labels <- c(
    published = "published, 8 cores",
    published_other = "Parallel, published (A40)",
    theirs = "Parallel's kernel, here",
    theirs_other = "Single's kernel, here",
    ours_other = cores,
    ours = "pcgpu"
  )
  tenth <- rows("cmiknn", "table 10")
  tenth <- tenth[startsWith(tenth$data, "N "), ]
  parallel <- tenth[tenth$what == "Parallel", ]
  picture(
    "cmiknn-searches",
    c("cmiknn/table-5", parallel$ours),
    also = c("cmiknn/table-5--cpu-7", "cmiknn/table-5--cpu-20", parallel$theirs),
    panels = 3L,
    labels = labels,
    draw = function() {
      p <- seq(10, 50, 10)
      for (k in c("7", "20")) {
        of_way <- function(way, log = "table-5") of_ways(log, p, paste(p, k, 0, way, sep = ":"))
        growth(
          list(
            theirs = of_way("parallel"),
            theirs_other = of_way("single"),
            ours_other = of_way("cpu", paste0("table-5--cpu-", k)),
            ours = of_way("shared")
          ),
          "variables",
          paste("denser graphs, k =", k),
          log = "y"
        )
      }
      x <- function(what) as.double(sub("N ", "", tenth$data[tenth$what == what]))
      growth(
        list(
          published = curve(x("CPU-8"), value(tenth[tenth$what == "CPU-8", ])),
          published_other = curve(x("Parallel"), value(parallel)),
          theirs = curve(x("Parallel"), of(parallel$theirs)),
          ours = curve(x("Parallel"), of(parallel$ours))
        ),
        "variables",
        "sparse graphs, k = 7"
      )
    }
  )

  picture("cmiknn-figure-1", character(), there = nrow(distances) > 0L, more = distances, draw = function() {
    k <- as.integer(distances$k)
    shown <- vapply(distances[c("least difference", "median", "mean", "most")], as.double, double(nrow(distances)))
    style <- colours[c("ours_other", "ours", "level_1", "ours_other")]
    pch <- c(25, 19, 4, 24)
    main <- sprintf("pcgpu, %s graphs of 20 variables", distances$graphs[1L])
    graphics::matplot(
      k,
      shown,
      type = "b",
      pch = pch,
      lty = c(3, 1, 2, 3),
      col = style,
      log = "x",
      xlab = "",
      ylab = "distance less that of k = 7",
      main = main,
      xaxt = "n",
      yaxt = "n",
      ylim = range(shown) + c(0, 4)
    )
    graphics::title(xlab = "k", line = 2.3)
    ticks(1L, k)
    ticks(2L, pretty(shown))
    graphics::abline(h = 0, col = "#c0c0c0")
    graphics::legend(
      "top",
      c("least", "median", "mean", "most"),
      pch = pch,
      lty = c(3, 1, 2, 3),
      col = style,
      bty = "n",
      cex = 0.8,
      horiz = TRUE
    )
  })

  labels <- c(
    theirs = "Parallel's kernel, here",
    theirs_other = "Single's kernel, here",
    ours_other = cores,
    ours = "pcgpu"
  )
  shares <- c("0", "0.2", "0.4", "0.6", "0.8", "1")
  on_cpu <- paste0("table-6.16--cpu-", shares)
  picture(
    "mixed-table-6.16",
    "cmiknn/table-6.16",
    also = paste0("cmiknn/", on_cpu),
    labels = labels,
    draw = function() {
      of_way <- function(way, log = "table-6.16") of_ways(log, as.double(shares), paste("20:7", shares, way, sep = ":"))
      growth(
        list(
          theirs = of_way("parallel"),
          theirs_other = of_way("single"),
          ours_other = of_way("cpu", on_cpu),
          ours = of_way("shared")
        ),
        "share of discrete variables",
        "20 variables, k = 7",
        log = "y"
      )
    }
  )

  # Seconds of one level, of when levels began.
  seconds_of_level <- function(began, level) {
    ms <- vapply(began, ms_of_levels, 0, from = level, to = level, USE.NAMES = FALSE)
    ifelse(ms > 0, ms / 1000, NA)
  }
  own <- c(theirs = "the thesis's, here", ours = "pcgpu")
  sizes <- list(c(100, 1000, 3000, 10000, 25000), c(100, 300, 1000, 3000))
  keys_of_size <- function(level, way) {
    paste0(
      "dissertation/figure-6.2--",
      vapply(sizes[[level + 1L]], format, "", scientific = FALSE),
      "--",
      level,
      "#",
      way
    )
  }
  keys <- unlist(lapply(0:1, function(level) lapply(c("gpucsl:64", "shared"), keys_of_size, level = level)))
  picture("dissertation-figure-6.2", keys, panels = 2L, there = has_levels(keys), labels = own, draw = function() {
    for (level in 0:1) {
      these <- grep(paste0("^dissertation/figure-6.2--[0-9]+--", level, "#"), seconds$key, value = TRUE)
      of_way <- function(way) {
        keys <- these[endsWith(these, paste0("#", way))]
        curve(as.double(sub("^.*--([0-9]+)--.*", "\\1", keys)), seconds_of_level(of(keys, "began"), level))
      }
      growth(
        list(theirs = of_way("gpucsl:64"), ours = of_way("shared")),
        "variables",
        paste0("level ", level, ", all pairs stay")
      )
    }
  })
  sets <- c("nci60", "mcc", "br51", "saureus", "scerevisiae")
  keys <- lapply(c(theirs = "gpucsl:64", ours = "shared"), function(way) {
    paste0("dissertation/figure-6.3--", sets, "#", way)
  })
  picture(
    "dissertation-figures-6.3-6.4",
    unlist(keys),
    panels = 3L,
    there = has_levels(unlist(keys)),
    labels = own,
    bars = TRUE,
    draw = function() {
      draw <- function(main, f) {
        heights <- do.call(rbind, lapply(keys, f))
        colnames(heights) <- c("NCI-60", "MCC", "BR51*", "S. aur.", "S. cer.*")
        bars(heights, main)
      }
      draw("6.3: levels 0 and 1", of)
      for (level in 0:1) {
        draw(sprintf("6.4%s: level %d", c("a", "b")[level + 1L], level), function(keys) {
          seconds_of_level(of(keys, "began"), level)
        })
      }
    }
  )

  sizes <- c(5000, 10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000)
  keys_of_way <- function(way, cards = 1L) {
    several <- cards > 1L
    log <- paste0("dissertation/table-6.17--", sprintf("%.0f", sizes), if (several) sprintf("--%d-cards", cards))
    paste0(log, "#", if (several) paste(cards, "cards "), way)
  }
  shown <- list(
    managed = keys_of_way("managed"),
    blocks = keys_of_way("rows=2048"),
    ours = keys_of_way("shared"),
    blocks_other = keys_of_way("rows=2048", 2L),
    ours_other = keys_of_way("shared", 2L)
  )
  labels <- c(
    managed = "managed memory, one card",
    blocks = "blocks of 2,048 rows, one card",
    ours = "the matrix as a whole, one card",
    blocks_other = "blocks of 2,048 rows, two cards",
    ours_other = "the matrix as a whole, two cards"
  )
  needed <- unlist(shown[c("managed", "blocks", "ours")])
  also <- unlist(shown[c("blocks_other", "ours_other")])
  picture("blocks-table-6.17", needed, panels = 2L, also = also, labels = labels, height = 560, draw = function() {
    for (level in 0:1) {
      seconds <- lapply(shown, function(keys) curve(sizes, seconds_of_level(of(keys, "began"), level)))
      growth(seconds, "variables", sprintf("pcgpu, level %d", level))
    }
  })

  one <- rows("cuda-jmi", "table 5", "mutual information, one GPU")
  four <- rows("cuda-jmi", "table 5", "mutual information")
  four <- four[four$hardware == "4 M60 GPUs", ]
  labels <- c(
    published = "published, one M60 GPU",
    published_other = "published, four",
    theirs = "its scheme, here",
    ours = "pcgpu, one card",
    ours_other = "pcgpu, four cards"
  )
  picture(
    "cuda-jmi-table-5",
    c(one$theirs, one$ours),
    also = four$ours,
    labels = labels,
    bars = TRUE,
    draw = function() {
      jmi <- c("breastcancer", "ecml", "rcv1train", "news20", "svhn")
      one <- one[match(jmi, one$data), ]
      four <- four[match(jmi, four$data), ]
      heights <- rbind(
        published = value(one),
        published_other = value(four),
        theirs = of(one$theirs),
        ours = of(one$ours),
        ours_other = of(four$ours)
      )
      colnames(heights) <- c("Breast C.", "ECML", "rcv1", "news20", "SVHN")
      bars(heights, "200 features by JMI")
    }
  )
  utils::write.csv(drawn[order(drawn$picture, method = "radix"), ], drawn_file, row.names = FALSE, quote = FALSE)
}

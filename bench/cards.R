# How the time grows with the number of GPUs and with less of their memory: measures, and draws what was measured.
#
#   Rscript cards.R run FOLDER [--parts=gpus,memory] [--gpus=1,2] [--shares=1,2,4,8,16] [--repeats=3] [--searches=...] [--dense=20000,500]
#                   [--sparse=20000,200] [--discrete=4000,200000] [--knn=300,1000] [--selection=3072,531131,200] [--network=200000] [--seconds=1500]
#                   [--csv=FILE]
#   Rscript cards.R draw FOLDER/cards.csv OUT.png|OUT.svg
#
# run    writes a Markdown table and FOLDER/cards.csv. The part "gpus" takes the dense Gaussian data (levels 0 and 1), discrete (3 levels of sets),
#        nearest-neighbour data and the selection, on the first 1, 2, ... GPUs; numbers of GPUs that there are not are left out. The
#        part "memory" takes one GPU and 1/2, 1/4, ... of the memory that the search plans with all of it; a share that is too little is
#        "refused". --searches=dense,sparse,discrete,knn,selection,network names those to run; network, samples of munin (whose file is in
#        $PCGPU_BENCH_DATA), runs where it is named. Numbers are variables and observations (and features to
#        select). What is not begun when --seconds are over is left out.
# draw   needs no GPU.
#
# Seconds are the call's, from R's objects to R's result (compact), the least and the median of the repeats after a first call. "same": the answer,
# p-values included, is that of one GPU with all memory to the last bit.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
words <- operands()
if (length(words) < 2L || !words[1L] %in% c("run", "draw")) stop("say run FOLDER, or draw FOLDER/cards.csv OUT.png", call. = FALSE)

numbers <- function(name, default) as.double(strsplit(option(name, default), ",")[[1]])

# A list of columns of codes, each of `pool` columns begun at another row: quick to make, and as good as independent.
turned <- function(pool, p) {
  n <- length(pool[[1L]])
  function(column) {
    from <- sample.int(n, 1L)
    pool[[sample.int(length(pool), 1L)]][c(from:n, seq_len(from - 1L))]
  }
}

# The searches: by name what is said of one, and a function that makes its data and returns the call on a device.
searches <- list(
  dense = list(
    size = numbers("dense", "20000,500"), label = "Gaussian, dense, levels 0-1", case = "dense %s, levels 0 and 1",
    begin = function(size) {
      s <- suff_gauss(expression_like(size[1], size[2], 0.3))
      function(device) skeleton(s, gaussCItest, 0.01, p = size[1], method = "stable.fast", m.max = 1, device = device, result = "compact")
    }
  ),
  sparse = list(
    size = numbers("sparse", "20000,200"), label = "Gaussian, sparse, all levels", case = "sparse %s, all levels",
    begin = function(size) {
      s <- suff_gauss(simulate(size[1], size[2], 1))
      function(device) skeleton(s, gaussCItest, 1e-4, p = size[1], device = device, result = "compact")
    }
  ),
  discrete = list(
    size = numbers("discrete", "4000,200000"), label = "discrete, 3 levels of sets", case = "discrete %s, 3 levels of sets",
    begin = function(size) {
      set.seed(1)
      turn <- turned(lapply(1:64, function(i) sample.int(3L, size[2], TRUE) - 1L), size[1])
      dm <- matrix(0L, size[2], size[1])
      for (v in seq_len(size[1])) {
        own <- turn()
        # One in nine is that of a variable before it.
        if (v > 1L) {
          taken <- which(turn() + turn() == 0L)
          own[taken] <- dm[taken, v %/% 2L]
        }
        dm[, v] <- own
      }
      s <- list(dm = dm, nlev = rep(3, size[1]), adaptDF = FALSE)
      function(device) skeleton(s, chi2CItest, 0.01, p = size[1], m.max = 2, device = device, result = "compact")
    }
  ),
  knn = list(
    size = numbers("knn", "300,1000"), label = "nearest neighbours, all levels", case = "nearest neighbours %s",
    begin = function(size) {
      s <- suff_knn(simulate(size[1], size[2], 1), seed = 1)
      function(device) skeleton(s, cmiKnnCItest, 0.01, p = size[1], device = device, result = "compact")
    }
  ),
  network = list(
    size = c(1041, numbers("network", "200000")), label = "munin, all levels", case = "munin %s, all levels",
    begin = function(size) {
      s <- suff_discrete(sample_network(network_file("munin"), size[2]))
      function(device) skeleton(s, chi2CItest, 0.01, p = size[1], method = "stable", device = device, result = "compact")
    }
  ),
  selection = list(
    size = numbers("selection", "3072,531131,200"), label = "selection of features", case = "selection of %s",
    begin = function(size) {
      set.seed(1)
      y <- sample.int(10L, size[2], TRUE)
      turn <- turned(lapply(1:64, function(i) sample.int(10L, size[2], TRUE)), size[1])
      x <- matrix(0L, size[2], size[1])
      for (v in seq_len(size[1])) {
        own <- turn()
        if (v %% 3L == 0L) {
          taken <- which(turn() > 8L)
          own[taken] <- y[taken]
        }
        x[, v] <- own
      }
      function(device) select_features(x, factor(y), size[3], discretize = "none", device = device)
    }
  )
)

# What two answers have to share.
answer_of <- function(found) {
  if (is.list(found)) found[c("index", "score")] else list(found@edges, found@sets, found@n.edgetests, found@max.ord)
}

copied <- function(found) {
  details <- unclass(run_details(found))
  work <- if (is.null(details$team)) details$levels else details$team
  if (is.null(work)) 0 else sum(work$bytes_to, work$bytes_from)
}

run <- function(folder) {
  suppressPackageStartupMessages({
    library(methods)
    library(pcgpu)
  })
  source(file.path(here, "data.R"), local = environment(turned))
  dir.create(folder, FALSE, TRUE)
  ends <- proc.time()[["elapsed"]] + as.double(option("seconds", "1500"))
  there <- nrow(pcgpu_devices())
  if (there == 0L) stop("there is no GPU: ", attr(pcgpu_devices(), "reason"), call. = FALSE)
  repeats <- as.integer(option("repeats", "3"))
  parts <- strsplit(option("parts", "gpus,memory"), ",")[[1]]
  wanted <- strsplit(option("searches", paste(setdiff(names(searches), "network"), collapse = ",")), ",")[[1]]
  rows <- list()
  head <- c("search", "p x n", "GPUs", "of the memory", "s, least / median", "beside the first row", "MB copied", "same")
  print(pcgpu_devices())
  tell_origin("Rscript bench/cards.R")
  cat("\n", head_text(head), sep = "")
  for (name in wanted) {
    if (proc.time()[["elapsed"]] > ends) next
    search <- searches[[name]]
    gpus <- if ("gpus" %in% parts && name != "sparse") numbers("gpus", "1,2") else 1
    # A selection has no plan to take a share of.
    shares <- if ("memory" %in% parts && name != "selection") numbers("shares", "1,2,4,8,16") else 1
    ways <- unique(rbind(data.frame(gpus = gpus[gpus <= there], share = 1), data.frame(gpus = 1, share = shares)))
    call <- search$begin(search$size)
    first <- NULL
    for (i in seq_len(nrow(ways))) {
      if (proc.time()[["elapsed"]] > ends) next
      way <- ways[i, ]
      device <- paste0("cuda:", seq_len(way$gpus) - 1L)
      if (way$share > 1) device <- cuda_device(device, memory = sum(run_details(first$value)$memory) / way$share)
      found <- tryCatch(timed(function() call(device), repeats), pcgpu_error_device_out_of_memory = function(e) NULL)
      if (is.null(first)) first <- found
      same <- !is.null(found) && identical(answer_of(found$value), answer_of(first$value))
      row <- data.frame(
        search = name, label = search$label, size = paste(number(search$size), collapse = " x "), gpus = way$gpus, share = way$share,
        seconds = if (is.null(found)) NA else min(found$seconds), median = if (is.null(found)) NA else stats::median(found$seconds),
        bytes = if (is.null(found)) NA else copied(found$value), same = same
      )
      rows[[length(rows) + 1L]] <- row
      of <- c(if (way$share == 1 && "gpus" %in% parts && name != "sparse") "gpus", if (way$gpus == 1 && "memory" %in% parts && name != "selection") "memory")
      for (suite in if (!is.null(found)) of) {
        record(
          suite, sprintf(search$case, paste(search$size, collapse = " x ")), found$seconds, p = search$size[1], n = search$size[2],
          device = "cuda", gpus = way$gpus, memory = if (way$share > 1) paste0("1/", way$share), same = if (same) "yes" else "no"
        )
      }
      cat(row_text(
        search$label, row$size, way$gpus, if (way$share > 1) paste0("1/", way$share) else "all",
        if (is.null(found)) "refused" else spread(found$seconds),
        if (is.null(found)) "" else number(row$seconds / min(first$seconds)),
        if (is.null(found)) "" else number(row$bytes / 1e6), if (is.null(found)) "" else if (same) "yes" else "NO"
      ))
      utils::write.csv(do.call(rbind, rows), file.path(folder, "cards.csv"), row.names = FALSE)
    }
    rm(call, first, found)
    gc(FALSE)
  }
  if (!all(vapply(rows, function(row) row$same || is.na(row$seconds), NA))) stop("answers differ", call. = FALSE)
}

# Heights of labels, each as near to its own as may be and no two nearer than `gap`.
apart <- function(y, gap) {
  order <- order(y)
  at <- y[order]
  for (round in 1:200) {
    for (i in seq_along(at)[-1L]) {
      lacks <- gap - (at[i] - at[i - 1L])
      if (lacks > 0) at[c(i - 1L, i)] <- at[c(i - 1L, i)] + c(-lacks, lacks) / 2
    }
  }
  y[order] <- at
  y
}

# Lines by search, each with its name at its end, on logarithmic axes; `ideal`: a line of what would be best.
panel <- function(part, x, y, xlab, ylab, title, ticks, ideal = NULL) {
  colours <- c(dense = "#0072B2", sparse = "#56B4E9", discrete = "#D55E00", knn = "#009E73", selection = "#CC79A7",
    network = "#E69F00")
  part <- part[!is.na(part[[y]]), ]
  ylim <- range(part[[y]], if (!is.null(ideal)) ideal)
  ylim <- exp(log(ylim) + c(-1, 1) * max(0.08 * diff(log(ylim)), 0.1))
  plot(NULL, log = "xy", xlim = ticks[c(1L, length(ticks))], ylim = ylim, axes = FALSE, xlab = xlab, ylab = ylab, xaxs = "r")
  grid(nx = NA, ny = NULL, col = "grey88", lty = 1)
  axis(1, ticks, ifelse(ticks < 1, paste0("1/", round(1 / ticks)), ticks), lwd = 0, lwd.ticks = 1, col = "grey60")
  axis(2, lwd = 0, lwd.ticks = 1, col = "grey60")
  title(title, adj = 0, font.main = 1, cex.main = 1.05)
  if (!is.null(ideal)) lines(ticks, ideal, lty = 3, col = "grey40")
  ends <- list()
  for (name in unique(part$search)) {
    one <- part[part$search == name, ]
    one <- one[order(one[[x]]), ]
    lines(one[[x]], one[[y]], type = "o", pch = 19, lwd = 2, cex = 0.9, col = colours[[name]])
    # Where a line ends: the least share that was not refused, or the most GPUs.
    at <- if (x == "share") which.min(one[[x]]) else which.max(one[[x]])
    ends[[name]] <- data.frame(name = name, x = one[[x]][at], y = one[[y]][at], text = paste0(one$label[at], "\n", one$size[at]))
  }
  ends <- do.call(rbind, ends)
  gap <- 1.3 * strheight("M\nM", cex = 0.75, units = "inches") / par("pin")[2] * diff(par("usr")[3:4])
  heights <- 10^apart(log10(ends$y), gap)
  start <- 10^(par("usr")[2] + 0.02 * diff(par("usr")[1:2]))
  segments(ends$x, ends$y, start, heights, col = "grey70", lty = 3, xpd = NA)
  text(start, heights, ends$text, col = colours[ends$name], adj = c(0, 0.5), cex = 0.75, xpd = NA)
}

draw <- function(file, out) {
  found <- utils::read.csv(file)
  by_gpus <- found[found$share == 1 & found$search %in% found$search[found$gpus > 1], ]
  by_share <- found[found$gpus == 1 & found$search %in% found$search[found$share > 1], ]
  by_share$relative <- by_share$seconds / by_share$seconds[match(paste(by_share$search, 1), paste(by_share$search, by_share$share))]
  by_share$share <- 1 / by_share$share
  panels <- (nrow(by_gpus) > 0L) + (nrow(by_share) > 0L)
  if (panels == 0L) stop("nothing to draw: neither several GPUs nor several shares of memory in ", file, call. = FALSE)
  if (grepl("\\.svg$", out)) {
    grDevices::svg(out, width = 6.4 * panels, height = 4.4, pointsize = 11)
  } else {
    grDevices::png(out, width = 960 * panels, height = 660, res = 150, pointsize = 11, type = "cairo")
  }
  par(mfrow = c(1, panels), mar = c(4.2, 4.4, 2.4, 11.5), las = 1, mgp = c(3, 0.7, 0))
  if (nrow(by_gpus)) {
    panel(by_gpus, "gpus", "seconds", "GPUs", "seconds", "Time by number of GPUs", sort(unique(by_gpus$gpus)))
  }
  if (nrow(by_share)) {
    ticks <- sort(unique(by_share$share), decreasing = TRUE)
    panel(by_share, "share", "relative", "share of the memory that the whole search takes", "times as long as with all memory", "Time within less memory", ticks)
  }
  invisible(grDevices::dev.off())
}

if (words[1L] == "run") run(words[2L]) else draw(words[2L], words[3L])

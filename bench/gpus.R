# Times searches by the number of GPUs and by the share of their memory.
#
#   Rscript gpus.R run FOLDER [--parts=gpus,memory] [--gpus=1,2] [--shares=1,2,4,8,16] [--repeats=3] [--searches=...] [--dense=20000,500]
#                   [--sparse=20000,200] [--discrete=4000,200000] [--knn=300,1000] [--selection=3072,531131,200] [--network=200000] [--seconds=1500]
#                   [--csv=FILE]
#
# run    writes a Markdown table and FOLDER/gpus.csv. The part "gpus" takes the dense Gaussian data (levels 0 and 1), discrete (3 levels of sets),
#        nearest-neighbour data and the selection, on the first 1, 2, ... GPUs; numbers of GPUs that there are not are left out. The
#        part "memory" takes one GPU and 1/2, 1/4, ... of the memory that the search plans with all of it; a share that is too little is
#        "refused". --searches=dense,sparse,discrete,knn,selection,network names those to run; network, samples of munin (whose file is in
#        $PCGPU_BENCH_DATA), runs where it is named. Numbers are variables and observations (and features to
#        select). What is not begun when --seconds are over is left out.
#
# Seconds are the call's, from R's objects to R's result (compact), the least and the median of the repeats after a
# first call. "same": the answer, p-values included, is that of one GPU with all memory to the last bit.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
words <- operands()
if (length(words) != 2L || words[1L] != "run") {
  stop("say run FOLDER", call. = FALSE)
}

numbers <- function(name, default) as.double(strsplit(option(name, default), ",")[[1]])

# Returns a list of columns of codes, each of `pool` columns begun at another row: quick to make, and as good as
# independent.
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
    size = numbers("dense", "20000,500"),
    label = "Gaussian, dense, levels 0-1",
    case = "dense %s, levels 0 and 1",
    begin = function(size) {
      s <- suff_gauss(expression_like(size[1], size[2], 0.3))
      function(device) {
        skeleton(
          s,
          gaussCItest,
          0.01,
          p = size[1],
          method = "stable.fast",
          m.max = 1,
          device = device,
          result = "compact"
        )
      }
    }
  ),
  sparse = list(
    size = numbers("sparse", "20000,200"),
    label = "Gaussian, sparse, all levels",
    case = "sparse %s, all levels",
    begin = function(size) {
      s <- suff_gauss(simulate(size[1], size[2], 1))
      function(device) skeleton(s, gaussCItest, 1e-4, p = size[1], device = device, result = "compact")
    }
  ),
  discrete = list(
    size = numbers("discrete", "4000,200000"),
    label = "discrete, 3 levels of sets",
    case = "discrete %s, 3 levels of sets",
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
    size = numbers("knn", "300,1000"),
    label = "nearest neighbours, all levels",
    case = "nearest neighbours %s",
    begin = function(size) {
      s <- suff_knn(simulate(size[1], size[2], 1), seed = 1)
      function(device) skeleton(s, cmiKnnCItest, 0.01, p = size[1], device = device, result = "compact")
    }
  ),
  network = list(
    size = c(1041, numbers("network", "200000")),
    label = "munin, all levels",
    case = "munin %s, all levels",
    begin = function(size) {
      s <- suff_discrete(sample_network(network_file("munin"), size[2]))
      function(device) {
        skeleton(s, chi2CItest, 0.01, p = size[1], method = "stable", device = device, result = "compact")
      }
    }
  ),
  selection = list(
    size = numbers("selection", "3072,531131,200"),
    label = "selection of features",
    case = "selection of %s",
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

# Returns the parts of an answer that two runs must share.
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
  if (there == 0L) {
    stop("there is no GPU: ", attr(pcgpu_devices(), "reason"), call. = FALSE)
  }
  repeats <- as.integer(option("repeats", "3"))
  parts <- strsplit(option("parts", "gpus,memory"), ",")[[1]]
  wanted <- strsplit(option("searches", paste(setdiff(names(searches), "network"), collapse = ",")), ",")[[1]]
  rows <- list()
  head <- c("search", "p x n", "GPUs", "of the memory", "s, least / median", "times the first row", "MB copied", "same")
  print(pcgpu_devices())
  tell_origin("Rscript bench/gpus.R")
  cat("\n", head_text(head), sep = "")
  for (name in wanted) {
    if (proc.time()[["elapsed"]] > ends) {
      next
    }
    search <- searches[[name]]
    gpus <- if ("gpus" %in% parts && name != "sparse") numbers("gpus", "1,2") else 1
    # A selection has no plan to take a share of.
    shares <- if ("memory" %in% parts && name != "selection") numbers("shares", "1,2,4,8,16") else 1
    ways <- unique(rbind(data.frame(gpus = gpus[gpus <= there], share = 1), data.frame(gpus = 1, share = shares)))
    call <- search$begin(search$size)
    first <- NULL
    for (i in seq_len(nrow(ways))) {
      if (proc.time()[["elapsed"]] > ends) {
        next
      }
      way <- ways[i, ]
      device <- paste0("cuda:", seq_len(way$gpus) - 1L)
      if (way$share > 1) {
        device <- cuda_device(device, memory = sum(run_details(first$value)$memory) / way$share)
      }
      found <- tryCatch(timed(function() call(device), repeats), pcgpu_error_device_out_of_memory = function(e) NULL)
      if (is.null(first)) {
        first <- found
      }
      same <- !is.null(found) && identical(answer_of(found$value), answer_of(first$value))
      row <- data.frame(
        search = name,
        label = search$label,
        size = paste(number(search$size), collapse = " x "),
        gpus = way$gpus,
        share = way$share,
        seconds = if (is.null(found)) NA else min(found$seconds),
        median = if (is.null(found)) NA else stats::median(found$seconds),
        bytes = if (is.null(found)) NA else copied(found$value),
        same = same
      )
      rows[[length(rows) + 1L]] <- row
      of <- c(
        if (way$share == 1 && "gpus" %in% parts && name != "sparse") "gpus",
        if (way$gpus == 1 && "memory" %in% parts && name != "selection") "memory"
      )
      for (suite in if (!is.null(found)) of) {
        record(
          suite,
          sprintf(search$case, paste(search$size, collapse = " x ")),
          found$seconds,
          p = search$size[1],
          n = search$size[2],
          device = "cuda",
          gpus = way$gpus,
          memory = if (way$share > 1) paste0("1/", way$share),
          same = if (same) "yes" else "no"
        )
      }
      cat(row_text(
        search$label,
        row$size,
        way$gpus,
        if (way$share > 1) paste0("1/", way$share) else "all",
        if (is.null(found)) "refused" else spread(found$seconds),
        if (is.null(found)) "" else number(row$seconds / min(first$seconds)),
        if (is.null(found)) "" else number(row$bytes / 1e6),
        if (is.null(found)) {
          ""
        } else if (same) {
          "yes"
        } else {
          "NO"
        }
      ))
      utils::write.csv(do.call(rbind, rows), file.path(folder, "gpus.csv"), row.names = FALSE)
    }
    rm(call, first, found)
    gc(FALSE)
  }
  if (!all(vapply(rows, function(row) row$same || is.na(row$seconds), NA))) stop("answers differ", call. = FALSE)
}

run(words[2L])

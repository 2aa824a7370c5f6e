# Times workers of other processes: what they gain and what they cost. Rscript bench/cluster.R functions [TESTS [MS]] an
#   R function of MS milliseconds, asleep and busy, on one and two workers. Rscript bench/cluster.R levels [P ...] what
#   a level costs beyond its tests: bytes and milliseconds by worker. Rscript bench/cluster.R shapes [SHAPE ...] the
#   same of real shapes: nci60, dense:P, knn:P (P of NCI-60's variables). Rscript bench/cluster.R select [N,P,LEVELS,K
#   ...] one feature selection on two workers of a thread each, and on one thread. Rscript bench/cluster.R data
#   [P,WORKERS ...] a search of level 0 whose correlations reach workers by a file, and by their connections. Rscript
#   bench/cluster.R kept [P [N [BYTES]]] bytes to each of two workers that make correlations of sparse data themselves,
#   in so much memory each. Rscript bench/cluster.R gpus [P [N [ROUNDS]]] dense data, levels 0 and 1: two workers of
#   this machine with a GPU each, and one, in turn. Rscript bench/cluster.R all [MS] each function that takes workers:
#   one process of a thread and two workers, least of three.
#
# Where more workers stop paying, by `levels` and `shapes`: a level takes w workers about max(S / w, u) + L + w G / B
# seconds. S are the seconds of its tests on one thread, u those of its largest unit, and L those beyond the tests on
# one worker. G are the bytes to one worker, and B those that the driver sends in a second (1.25e9). By this, twice as
# many workers save less than a tenth from 3 workers on for NCI-60 (Gaussian). For 20,000 sparse and dense variables
# that is so from 10 and 12 workers on, for the nearest neighbours of NCI-60 from 440 (worked out on 2026-11-23, commit
# 2d7f91a).
#
# --csv=FILE appends the rows to a file in the format of results.csv.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressMessages(library(pcgpu))
arguments <- operands()
numbers <- as.numeric(arguments[-1])
options(pcgpu.progress = FALSE)

# Returns data of a random linear Gaussian DAG: each variable has about `degree` neighbours.
simulate <- function(p, n, degree) {
  set.seed(1)
  x <- matrix(rnorm(n * p), n)
  for (j in 2:p) {
    parents <- sample.int(j - 1, min(j - 1, rpois(1, degree / 2)))
    if (length(parents)) x[, j] <- x[, j] + x[, parents, drop = FALSE] %*% runif(length(parents), 0.4, 1)
  }
  x
}

with_workers <- function(count, code) {
  cluster <- parallel::makePSOCKcluster(count)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterEvalQ(cluster, library(pcgpu))
  code(cluster)
}

# Returns a test that sleeps for so many milliseconds.
asleep_for <- function(ms) {
  force(ms)
  function(x, y, S, suffStat) {
    Sys.sleep(ms / 1000)
    gaussCItest(x, y, S, suffStat)
  }
}

seconds <- function(code) system.time(code)[["elapsed"]]

# Adds a row of results.csv: the time of workers, and what it is compared with.
keep <- function(case, took, ..., device = "cpu") record("cluster", case, took, device = device, ...)

if (arguments[1] == "functions") {
  tests <- if (is.na(numbers[1])) 5000 else numbers[1]
  ms <- if (is.na(numbers[2])) 10 else numbers[2]
  p <- 2
  repeat {
    stat <- suff_gauss(simulate(p, 500, 4))
    made <- sum(pc(stat, gaussCItest, 0.01, p = p)@n.edgetests)
    if (made >= tests) {
      break
    }
    p <- p + 1
  }
  asleep <- asleep_for(ms)
  busy <- function(x, y, S, suffStat) {
    began <- sum(proc.time()[1:2])
    # Its own processor's time: on a machine that others use it takes longer, not less work.
    while (sum(proc.time()[1:2]) - began < ms / 1000) {
      NULL
    }
    gaussCItest(x, y, S, suffStat)
  }
  cat(sprintf(
    "p %d, %d tests of %g ms\n| test | one worker s | two workers s | ratio | busy, by worker |\n|---|---|---|---|---|\n",
    p,
    made,
    ms
  ))
  for (name in c("asleep", "busy")) {
    test <- get(name)
    one <- with_workers(1, function(cluster) seconds(wanted <<- skeleton(stat, test, 0.01, p = p, cluster = cluster)))
    two <- with_workers(2, function(cluster) seconds(found <<- skeleton(stat, test, 0.01, p = p, cluster = cluster)))
    team <- run_details(found)$team
    worked <- tapply(team$busy * team$seconds, team$device, sum) / two
    found@call <- wanted@call
    stopifnot(identical(found, wanted))
    keep(
      sprintf("functions of %g ms, %s, 2 workers", ms, name),
      two,
      p = p,
      threads = 2,
      tests = made,
      peer = "1 worker",
      peer_seconds = one,
      same = "yes"
    )
    cat(sprintf(
      "| %s | %.2f | %.2f | %.3f | %s |\n",
      name,
      one,
      two,
      one / two,
      paste(sprintf("%.1f %%", 100 * worked), collapse = ", ")
    ))
  }
} else if (arguments[1] == "shapes") {
  source(file.path(here, "data.R"))
  cat(
    "| shape | level | s of tests on one thread | bytes to the worker | bytes from it | ms beyond its work |\n|---|---|---|---|---|---|\n"
  )
  for (shape in if (length(arguments) > 1) arguments[-1] else c("nci60", "dense:2000", "dense:4000", "knn:200")) {
    p <- if (grepl(":", shape)) as.numeric(sub(".*:", "", shape))
    search <- if (startsWith(shape, "dense")) {
      stat <- suff_gauss(expression_like(p = p, n = 500, global = 0.3))
      function(cluster) {
        skeleton(
          stat,
          gaussCItest,
          0.01,
          p = p,
          m.max = 1,
          method = "stable.fast",
          result = "compact",
          cluster = cluster,
          numCores = 1,
          device = "cpu"
        )
      }
    } else if (startsWith(shape, "knn")) {
      stat <- suff_knn(load_data("nci60")[, seq_len(p)], permutations = 100)
      function(cluster) skeleton(stat, cmiKnnCItest, 0.01, p = p, cluster = cluster, numCores = 1, device = "cpu")
    } else {
      stat <- suff_gauss(load_data(shape))
      p <- ncol(stat$C)
      function(cluster) {
        skeleton(
          stat,
          gaussCItest,
          0.01,
          p = p,
          method = "stable.fast",
          result = "compact",
          cluster = cluster,
          numCores = 1,
          device = "cpu"
        )
      }
    }
    team <- with_workers(1, function(cluster) run_details(search(cluster))$team)
    for (i in which(!is.na(team$level))) {
      row <- team[i, ]
      keep(
        sprintf("shapes: %s, level %d, tests of one thread", shape, row$level),
        row$seconds * row$busy,
        alpha = 0.01,
        threads = 1,
        note = sprintf("%.0f ms beyond its work", 1000 * row$seconds * (1 - row$busy))
      )
      cat(sprintf(
        "| %s | %d | %.3f | %s | %s | %.0f |\n",
        shape,
        row$level,
        row$seconds * row$busy,
        format(row$bytes_to, big.mark = ","),
        format(row$bytes_from, big.mark = ","),
        1000 * row$seconds * (1 - row$busy)
      ))
    }
  }
} else if (arguments[1] == "select") {
  shapes <- if (length(arguments) > 1) {
    arguments[-1]
  } else {
    c("200,50,3,20", "1000,2000,3,50", "1000,10000,3,100", "1000,10000,10,100", "2000,40000,10,150")
  }
  utils::assignInNamespace("sharing_pays", function(...) TRUE, "pcgpu")
  cat(
    "| n x p | levels | k | one thread s | two workers s | ratio | bytes to a worker | bytes from it | ms a choice beyond its work |\n|---|---|---|---|---|---|---|---|---|\n"
  )
  for (shape in lapply(strsplit(shapes, ","), as.numeric)) {
    set.seed(1)
    x <- matrix(as.double(sample.int(shape[3], shape[1] * shape[2], TRUE)), shape[1])
    y <- sample.int(2, shape[1], TRUE)
    select <- function(...) select_features(x, y, shape[4], discretize = "none", numCores = 1, device = "cpu", ...)
    one <- seconds(wanted <- select())
    two <- with_workers(2, function(cluster) seconds(found <<- select(cluster = cluster)))
    parts <- c("index", "score", "relevance", "levels")
    stopifnot(identical(found[parts], wanted[parts]))
    team <- run_details(found)$team
    keep(
      sprintf("select: %g of %g x %g, %g levels, 2 workers", shape[4], shape[2], shape[1], shape[3]),
      two,
      p = shape[2],
      n = shape[1],
      method = "JMI",
      threads = 2,
      peer = "1 process",
      peer_seconds = one,
      same = "yes"
    )
    cat(sprintf(
      "| %g x %s | %g | %g | %.3f | %.3f | %.2f | %s | %s | %.1f |\n",
      shape[1],
      format(shape[2], big.mark = ","),
      shape[3],
      shape[4],
      one,
      two,
      one / two,
      format(team$bytes_to[1], big.mark = ","),
      format(team$bytes_from[1], big.mark = ","),
      1000 * team$seconds[1] * (1 - mean(team$busy)) / shape[4]
    ))
  }
} else if (arguments[1] == "data") {
  # Returns the most memory in MB that processes have together, by the pages that each has, shared ones in parts.
  with_memory <- function(pids, code) {
    file <- tempfile()
    system(sprintf(
      "sh -c 'most=0; while [ -d %s ] && [ ! -e %s.stop ]; do now=$(cat %s 2>/dev/null | awk \"/^Pss:/ { kb += \\$2 } END { print kb + 0 }\"); [ $now -gt $most ] && most=$now; echo $most >%s; sleep 0.05; done' &",
      dirname(file),
      file,
      paste0("/proc/", pids, "/smaps_rollup", collapse = " "),
      file
    ))
    on.exit(file.create(paste0(file, ".stop")))
    force(code)
    as.numeric(readLines(file)) / 1000
  }
  shapes <- if (length(arguments) > 1) arguments[-1] else c("1000,2", "2000,2", "10000,2", "10000,4")
  least <- pcgpu:::least_by_file
  cat(
    "| p | workers | by file s | by connection s | ratio | MB of all workers by file | by connection |\n|---|---|---|---|---|---|---|\n"
  )
  for (shape in lapply(strsplit(shapes, ","), as.numeric)) {
    stat <- suff_gauss(simulate(shape[1], 200, 2))
    run <- function(cluster, limit) {
      utils::assignInNamespace("least_by_file", limit, "pcgpu")
      seconds(
        found <<- skeleton(
          stat,
          gaussCItest,
          1e-4,
          p = shape[1],
          m.max = 0,
          method = "stable.fast",
          result = "compact",
          cluster = cluster,
          numCores = 1,
          device = "cpu"
        )
      )
    }
    found <- list()
    once <- function(limit) {
      with_workers(shape[2], function(cluster) {
        pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))
        times <- numeric()
        memory <- with_memory(pids, times <- replicate(5, run(cluster, limit)))
        c(stats::median(times), memory)
      })
    }
    file <- once(least)
    by_file <- found
    sent <- once(Inf)
    by_file@call <- found@call
    stopifnot(identical(by_file, found))
    keep(
      sprintf("data: p %g by file, %g workers", shape[1], shape[2]),
      NULL,
      median = file[1],
      p = shape[1],
      n = 200,
      alpha = 1e-4,
      method = "stable.fast",
      threads = shape[2],
      peer = "by connection",
      peer_median = sent[1],
      same = "yes"
    )
    cat(sprintf(
      "| %s | %g | %.3f | %.3f | %.2f | %.0f | %.0f |\n",
      format(shape[1], big.mark = ","),
      shape[2],
      file[1],
      sent[1],
      sent[1] / file[1],
      file[2],
      sent[2]
    ))
  }
  utils::assignInNamespace("least_by_file", least, "pcgpu")
} else if (arguments[1] == "kept") {
  p <- if (is.na(numbers[1])) 55572 else numbers[1]
  n <- if (is.na(numbers[2])) 100 else numbers[2]
  device <- if (is.na(numbers[3])) "cpu" else cpu_device(memory = numbers[3])
  stat <- suff_gauss(simulate(p, n, 2), keep = "data")
  sent <- numeric(2)
  sender <- pcgpu:::node_sender
  utils::assignInNamespace(
    "node_sender",
    function(cluster) {
      send <- sender(cluster)
      function(i, name, arguments, tag) {
        if (name == "rank_open") {
          sent[i] <<- sent[i] + length(serialize(arguments, NULL))
        }
        send(i, name, arguments, tag)
      }
    },
    "pcgpu"
  )
  took <- seconds(
    found <- with_workers(2, function(cluster) {
      skeleton(
        stat,
        gaussCItest,
        1e-6,
        p = p,
        m.max = 2,
        method = "stable.fast",
        result = "compact",
        cluster = cluster,
        numCores = 1,
        device = device
      )
    })
  )
  keep(sprintf("kept: %g x %g, 2 workers", p, n), took, p = p, n = n, alpha = 1e-6, method = "stable.fast", threads = 2)
  cat(sprintf(
    "p %s, n %g, %.1f MB of data, which workers read in a file: %.0f and %.0f bytes to them before level 0; %.1f s, %.0f edges\n",
    format(p, big.mark = ","),
    n,
    as.numeric(utils::object.size(stat$data)) / 1e6,
    sent[1],
    sent[2],
    took,
    nrow(edge_table(found))
  ))
  team <- run_details(found)$team
  cat("| level | worker | bytes to it | bytes from it | s | busy |\n|---|---|---|---|---|---|\n")
  for (i in which(!is.na(team$level))) {
    row <- team[i, ]
    cat(sprintf(
      "| %d | %s | %s | %s | %.2f | %.2f |\n",
      row$level,
      row$device,
      format(row$bytes_to, big.mark = ","),
      format(row$bytes_from, big.mark = ","),
      row$seconds,
      row$busy
    ))
  }
} else if (arguments[1] == "gpus") {
  source(file.path(here, "data.R"))
  p <- if (is.na(numbers[1])) 20000 else numbers[1]
  n <- if (is.na(numbers[2])) 500 else numbers[2]
  rounds <- if (is.na(numbers[3])) 5 else numbers[3]
  x <- expression_like(p, n, 0.3)
  print(data.frame(unclass(pcgpu_devices())[c("device", "name")]))
  stats <- list("data" = suff_gauss(x, keep = "data"), "correlations, by a file" = suff_gauss(x))
  cat(
    "| what goes to workers | workers | s, least | median | busy by worker, levels 0 and 1 |\n|---|---|---|---|---|\n"
  )
  for (what in names(stats)) {
    search <- function(cluster = NULL) {
      skeleton(
        stats[[what]],
        gaussCItest,
        0.01,
        p = p,
        m.max = 1,
        method = "stable.fast",
        result = "compact",
        cluster = cluster,
        device = "cuda"
      )
    }
    with_workers(2, function(two) {
      one <- two[1]
      once <- function(cluster) seconds(found[[length(cluster)]] <<- search(cluster))
      found <- list()
      # GPUs are opened and data are read for the first time.
      for (cluster in list(one, two)) {
        once(cluster)
      }
      times <- replicate(rounds, c(once(one), once(two)))
      # (What ran where is kept with the call.)
      teams <- lapply(found, function(fit) run_details(fit)$team)
      found[[2]]@call <- found[[1]]@call
      stopifnot(identical(found[[1]], found[[2]]))
      for (count in 1:2) {
        team <- teams[[count]]
        team <- team[!is.na(team$level), ]
        keep(
          sprintf("gpus: dense %g x %g, %s, %d worker%s", p, n, what, count, if (count == 1) "" else "s"),
          times[count, ],
          p = p,
          n = n,
          alpha = 0.01,
          method = "stable.fast",
          device = "cuda",
          gpus = count
        )
        cat(sprintf(
          "| %s | %d | %.3f | %.3f | %s |\n",
          what,
          count,
          min(times[count, ]),
          stats::median(times[count, ]),
          paste(
            sprintf(
              "%d: %s %.3f s x %.2f, %.0f MB to it, %.0f MB from it",
              team$level,
              team$device,
              team$seconds,
              team$busy,
              team$bytes_to / 1e6,
              team$bytes_from / 1e6
            ),
            collapse = "; "
          )
        ))
      }
      cat(sprintf(
        "| %s | ratio | %.2f | %.2f | |\n",
        what,
        min(times[1, ]) / min(times[2, ]),
        stats::median(times[1, ] / times[2, ])
      ))
    })
    alone <- replicate(rounds, seconds(search()))
    keep(
      sprintf("gpus: dense %g x %g, %s, no workers", p, n, what),
      alone,
      p = p,
      n = n,
      alpha = 0.01,
      method = "stable.fast",
      device = "cuda",
      gpus = 1
    )
    cat(sprintf("| %s | none, one card | %.3f | %.3f | |\n", what, min(alone), stats::median(alone)))
  }
} else if (arguments[1] == "all") {
  ms <- if (is.na(numbers[1])) 5 else numbers[1]
  asleep <- asleep_for(ms)
  small <- suff_gauss(simulate(12, 300, 4))
  skel <- skeleton(small, gaussCItest, 0.05, p = 12)
  near <- suff_knn(simulate(12, 300, 3), permutations = 200, seed = 1)
  data <- as.data.frame(simulate(60, 400, 3))
  dag <- random_dag(60, 3, seed = 1)
  of_dag <- random_data(dag, 500, seed = 1)
  set.seed(1)
  features <- matrix(as.double(sample.int(10, 2e7, TRUE)), 1000)
  classes <- sample.int(2, 1000, TRUE)
  one_thread <- list(numCores = 1, device = "cpu")
  calls <- list(
    "skeleton(), an R function" = function(...) skeleton(small, asleep, 0.05, p = 12, ...),
    "skeleton(), nearest neighbours" = function(...) {
      do.call(skeleton, c(list(near, cmiKnnCItest, 0.3, p = 12, m.max = 2, ...), one_thread))
    },
    "orient(conservative), an R function" = function(...) {
      orient(skel, suffStat = small, indepTest = asleep, alpha = 0.05, conservative = TRUE, ...)
    },
    "orient(maj.rule), an R function" = function(...) {
      orient(skel, suffStat = small, indepTest = asleep, alpha = 0.05, maj.rule = TRUE, ...)
    },
    "fci(), an R function" = function(...) suppressMessages(fci(small, asleep, 0.05, p = 12, m.max = 2, ...)),
    "rfci(), an R function" = function(...) rfci(small, asleep, 0.05, p = 12, ...),
    "fciPlus(), an R function" = function(...) fciPlus(small, asleep, 0.05, p = 12, ...),
    "stability(), 2,000 samples of 60 variables" = function(...) {
      do.call(stability, c(list(data, gaussCItest, 0.05, replicates = 2000, seed = 1, ...), one_thread))
    },
    "cstar(), 500 samples of 60 variables" = function(...) {
      do.call(cstar, c(list(data, 0.05, y = 60, replicates = 500, seed = 1, ...), one_thread))
    },
    "markov_check(), 60 variables" = function(...) {
      do.call(markov_check, c(list(dag, of_dag, gaussCItest, seed = 1, ...), one_thread))
    },
    "select_features(), 1000 x 20,000 of 10 levels, k 100" = function(...) {
      list(do.call(select_features, c(list(features, classes, 100, discretize = "none", ...), one_thread)))
    }
  )
  # Returns the parts of an answer that do not depend on what made it.
  answer <- function(found) {
    if (isS4(found)) {
      found@call <- quote(f())
      return(found)
    }
    lapply(unclass(found), function(part) {
      if (isS4(part)) {
        answer(part)
      } else if (is.list(part) && !is.null(part$index)) {
        part[c("index", "score")]
      } else {
        part
      }
    })[setdiff(names(found) %||% seq_along(found), c("call", "device"))]
  }
  `%||%` <- function(a, b) if (is.null(a)) b else a
  cat("| call | one process s | two workers s | ratio |\n|---|---|---|---|\n")
  with_workers(2, function(cluster) {
    for (name in names(calls)) {
      one <- two <- Inf
      for (repeat_ in 1:3) {
        one <- min(one, seconds(wanted <- calls[[name]]()))
        two <- min(two, seconds(found <- calls[[name]](cluster = cluster)))
      }
      stopifnot(identical(answer(found), answer(wanted)))
      keep(sprintf("all: %s, 2 workers", name), two, threads = 2, peer = "1 process", peer_seconds = one, same = "yes")
      cat(sprintf("| %s | %.2f | %.2f | %.2f |\n", name, one, two, one / two))
    }
  })
} else {
  cat(
    "| p | level | workers | s | busy | bytes to a worker | bytes from it | ms beyond its work |\n|---|---|---|---|---|---|---|---|\n"
  )
  for (p in if (length(numbers)) numbers else c(2000, 20000)) {
    stat <- suff_gauss(simulate(p, 200, 2), keep = if (p > 5000) "data" else "correlations")
    for (count in 1:2) {
      team <- with_workers(count, function(cluster) {
        run_details(skeleton(
          stat,
          gaussCItest,
          1e-4,
          p = p,
          cluster = cluster,
          result = "compact",
          device = "cpu",
          numCores = 1
        ))$team
      })
      for (level in unique(team$level[!is.na(team$level)])) {
        rows <- team[team$level %in% level, ]
        keep(
          sprintf("levels: p %g, level %d, %d worker%s", p, level, count, if (count == 1) "" else "s"),
          rows$seconds[1],
          p = p,
          n = 200,
          alpha = 1e-4,
          threads = count,
          note = sprintf("%.0f ms beyond its work", 1000 * rows$seconds[1] * (1 - mean(rows$busy)))
        )
        cat(sprintf(
          "| %s | %d | %d | %.3f | %s | %s | %s | %.0f |\n",
          format(p, big.mark = ","),
          level,
          count,
          rows$seconds[1],
          paste(sprintf("%.0f %%", 100 * rows$busy), collapse = ", "),
          paste(format(rows$bytes_to, big.mark = ",", trim = TRUE), collapse = "; "),
          paste(format(rows$bytes_from, big.mark = ",", trim = TRUE), collapse = "; "),
          1000 * rows$seconds[1] * (1 - mean(rows$busy))
        ))
      }
    }
  }
}

# Times stability() on 100 samples from the data to the object, and peers in the same run, and prints a Markdown table.
#
#   Rscript stability.R [alarm] [gauss100] [gauss10] [gauss1000] [gauss5000] [mixed50] [mixed300] [--peer=none|bnlearn|pcalg] [--threads=2] [--repeats=5]
#                       [--replicates=100] [--peer-replicates=100] [--alpha=0.01] [--csv=FILE]
#
# alarm: 5,000 samples of the network (sample_network() in data.R), chi2CItest. gaussP: data of a random DAG of P
# variables with three neighbours each on average, weights from 0.3 to 1; 500 rows, but 30 of 10 variables and 100 of
# 1,000. mixedP: random_data(kind = "mixed") of such a DAG, 500 rows, mixCItest. bnlearn: boot.strength(algorithm =
# "pc.stable", cpdag = TRUE) with "x2" or "cor" on a cluster of as many processes as there are threads, made before the
# clock runs. pcalg: pc() on rows of our samples, one after the other on one core; so many of them as --peer-replicates
# says, and strengths are compared. The floor: as many searches of all rows by one thread each, from codes or
# correlations to the skeleton. For numbers come the multiply-adds of as many correlation matrices at the rate of
# suff_gauss() on 2,000 x 1,000 by one thread; divided by the threads. Beyond it are drawing rows, coding them,
# orientation, counting, and R.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))
library(pcgpu)
settings(
  threads = 2L,
  repeats = 5L,
  replicates = 100L,
  peer_replicates = 100L,
  alpha = 0.01,
  peer = c("none", "bnlearn", "pcalg"),
  all = c("alarm", "gauss100", "gauss10", "gauss1000")
)

sparse <- function(p, n) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("V", seq_len(p))))
  for (j in 2:p) {
    parents <- sample.int(j - 1L, min(j - 1L, stats::rbinom(1, j - 1L, 3 / (p - 1))))
    for (i in parents) {
      x[, j] <- x[, j] + stats::runif(1, 0.3, 1) * x[, i]
    }
  }
  as.data.frame(x)
}

floor_of <- function(data, test, is_alarm, is_mixed) {
  p <- ncol(data)
  suff <- if (is_alarm) {
    suff_discrete(data)
  } else if (is_mixed) {
    data
  } else {
    suff_gauss(data)
  }
  searches <- min(vapply(
    seq_len(repeats + 1L),
    function(i) {
      skeleton(suff, test, alpha, labels = names(data), numCores = 1, device = "cpu", result = "compact")
      # The same test on bootstrap samples asks about as much.
      getFromNamespace("session", "pcgpu")$search_seconds
    },
    0
  ))
  options(pcgpu.threads = 1)
  on.exit(options(pcgpu.threads = NULL))
  a <- matrix(stats::rnorm(2000 * 1000), 2000)
  product <- if (is_alarm || is_mixed) {
    0
  } else {
    min(vapply(1:5, function(i) seconds_of(function() suff_gauss(a, device = "cpu"))$seconds, 0)) /
      (2000 * 1000 * 999 / 2)
  }
  replicates * (searches + product * nrow(data) * p * (p - 1) / 2) / threads
}

bnlearn_seconds <- function(data, test) {
  need <- requireNamespace("bnlearn", quietly = TRUE)
  if (!need) {
    stop("bnlearn is not installed", call. = FALSE)
  }
  workers <- parallel::makeCluster(threads)
  on.exit(parallel::stopCluster(workers))
  parallel::clusterEvalQ(workers, library(bnlearn))
  found <- seconds_of(function() {
    bnlearn::boot.strength(
      data,
      cluster = workers,
      R = peer_replicates,
      algorithm = "pc.stable",
      algorithm.args = list(test = test, alpha = alpha),
      cpdag = TRUE
    )
  })
  list(seconds = found$seconds, strength = function(from, to) {
    found$value$strength[match(paste(from, to), paste(found$value$from, found$value$to))]
  })
}

pcalg_seconds <- function(suff_of, test, ours) {
  p <- length(ours$labels)
  counts <- matrix(0, p, p, dimnames = list(ours$labels, ours$labels))
  found <- seconds_of(function() {
    for (b in seq_len(peer_replicates)) {
      fit <- pcalg::pc(suff_of(stability_rows(ours, b)), test, alpha, labels = ours$labels, skel.method = "stable")
      m <- methods::as(fit@graph, "matrix") != 0
      counts <<- counts + (m | t(m))
    }
  })
  list(seconds = found$seconds, strength = function(from, to) counts[cbind(from, to)] / peer_replicates)
}

row_of <- function(part) {
  is_alarm <- part == "alarm"
  is_mixed <- startsWith(part, "mixed")
  p <- if (is_alarm) 37L else as.integer(sub("gauss|mixed", "", part))
  data <- if (is_alarm) {
    data.frame(lapply(as.data.frame(sample_network(network_file("alarm"), 5000)), factor))
  } else if (is_mixed) {
    as.data.frame(random_data(random_dag(p, 3, seed = 1), 500, "mixed", seed = 1))
  } else {
    sparse(
      p,
      if (p == 10L) {
        30L
      } else if (p == 1000L) {
        100L
      } else {
        500L
      }
    )
  }
  test <- if (is_alarm) {
    chi2CItest
  } else if (is_mixed) {
    mixCItest
  } else {
    gaussCItest
  }
  run <- function(of = threads) {
    stability(data, test, alpha, replicates = replicates, seed = 1, numCores = of, device = "cpu")
  }
  ours <- timed(run, repeats)
  alone <- timed(function() run(1L), repeats)
  found <- ours$value
  cells <- c(
    part,
    sprintf("%d x %d", p, nrow(data)),
    format(sum(found$counts[3:6]) / replicates, digits = 3),
    sum(found$average$kept),
    spread(ours$seconds),
    spread(alone$seconds),
    number(floor_of(data, test, is_alarm, is_mixed))
  )
  keep <- function(case, seconds, of = threads, ...) {
    record(
      "stability",
      paste0(part, case),
      seconds,
      p = p,
      n = nrow(data),
      alpha = alpha,
      device = "cpu",
      threads = of,
      ...
    )
  }
  if (peer == "none") {
    keep("", ours$seconds)
    keep(", 1 thread", alone$seconds, 1)
    return(cells)
  }
  if (is_mixed) {
    stop("these peers have no such test: leave mixed data out", call. = FALSE)
  }
  theirs <- if (peer == "bnlearn") {
    bnlearn_seconds(data, if (is_alarm) "x2" else "cor")
  } else if (is_alarm) {
    stop("pcalg has no chi-squared test: leave alarm out", call. = FALSE)
  } else {
    pcalg_seconds(
      function(rows) list(C = stats::cor(data[rows, ]), n = length(rows)),
      pcalg::gaussCItest,
      if (replicates == peer_replicates) found else run(threads)
    )
  }
  table <- as.data.frame(found)
  apart <- if (replicates == peer_replicates) max(abs(theirs$strength(table$from, table$to) - table$strength)) else NA
  seconds <- theirs$seconds * replicates / peer_replicates
  keep(
    paste(", beside", peer),
    ours$seconds,
    peer = peer,
    peer_seconds = theirs$seconds,
    note = if (replicates != peer_replicates) sprintf("peer: %d of %d samples", peer_replicates, replicates)
  )
  c(
    cells,
    sprintf("%s (%d of %d samples, 1 run)", number(theirs$seconds), peer_replicates, replicates),
    number(seconds / min(ours$seconds)),
    number(seconds / stats::median(ours$seconds)),
    format(apart, digits = 2)
  )
}

columns <- c(
  "data",
  "p x n",
  "edges a sample",
  "edges kept",
  sprintf("stability() s, %d threads, min / median", threads),
  "1 thread, min / median",
  "floor s"
)
if (peer != "none") {
  columns <- c(
    columns,
    paste(peer, "s"),
    "times faster for as many samples (by min)",
    "(by median)",
    "largest difference of strengths"
  )
}
cat(head_text(columns))
for (part in parts) {
  cat(row_text(row_of(part)))
}
tell_origin("stability.R")

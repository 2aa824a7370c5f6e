# Searches of data with missing values, and of numbers and levels, compared with micd if it is installed, and with the
# tests of complete data.
#
#   Rscript bench/missing.R peer       # small ones, micd's functions in pcalg::skeleton() in the same run
#   Rscript bench/missing.R sizes      # ours alone, by shape
#   Rscript bench/missing.R crossing   # on a GPU machine: a GPU and all cores, by shape; only where it is named
#   Rscript bench/missing.R crossing-large   # the same of mixCItest alone: many tests, many variables, many rows
#
# --csv=FILE appends the rows to a file in the format of results.csv. Data: about 1.5 parents a variable; of mixed data
# every second variable has three levels; 2 % of the values are missing at random; 5 completed data sets.
suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
parts <- operands()
if (!length(parts)) {
  parts <- c("peer", "sizes")
}

numbers_of <- function(n, p) {
  x <- matrix(rnorm(n * p), n)
  for (j in 2:p) {
    for (k in sample(j - 1, min(j - 1, rpois(1, 1.5)))) {
      x[, j] <- x[, j] + 0.4 * x[, k]
    }
  }
  colnames(x) <- paste0("v", seq_len(p))
  as.data.frame(x)
}

with_levels <- function(x, at) {
  x[at] <- lapply(x[at], function(column) {
    factor(cut(column, stats::quantile(column, 0:3 / 3), include.lowest = TRUE, labels = FALSE))
  })
  x
}

with_holes <- function(x, share = 0.02) {
  x[] <- lapply(x, function(column) {
    column[runif(length(column)) < share] <- NA
    column
  })
  x
}

completed <- function(x, m = 5) {
  lapply(seq_len(m), function(i) {
    x[] <- lapply(x, function(column) {
      holes <- is.na(column)
      column[holes] <- sample(column[!holes], sum(holes), TRUE)
      column
    })
    x
  })
}

seconds <- function(code) system.time(code)[["elapsed"]]

# Adds a row of results.csv.
keep <- function(prefix, test, n, p, m.max, took, tests, device = "cpu", ...) {
  record(
    "missing",
    sprintf("%s%s, %d x %d%s", prefix, test, p, n, if (is.null(m.max)) "" else paste(", m.max", m.max)),
    took,
    p = p,
    n = n,
    alpha = 0.01,
    device = device,
    gpus = if (device == "cuda") 1,
    threads = getOption("pcgpu.threads", parallel::detectCores()),
    tests = tests,
    ...
  )
}

# Returns a test's data of a shape.
data_for <- function(test, n, p) {
  x <- numbers_of(n, p)
  if (grepl("^mix", test)) {
    x <- with_levels(x, seq(1, p, 2))
  }
  if (grepl("^dis", test)) {
    x <- with_levels(x, seq_len(p))
  }
  if (grepl("twd$", test)) {
    x <- with_holes(x)
  }
  if (grepl("MItest$", test)) {
    x <- completed(with_holes(x))
  }
  x
}

tests <- c("gaussCItwd", "disCItwd", "mixCItest", "mixCItwd", "gaussMItest", "disMItest", "mixMItest")

if ("peer" %in% parts && requireNamespace("micd", quietly = TRUE)) {
  cat("| test | n | p | tests | micd s | ours s | ratio | same graph |\n|---|---|---|---|---|---|---|---|\n")
  for (test in tests) {
    set.seed(1)
    n <- 500
    p <- 12
    x <- data_for(test, n, p)
    labels <- names(if (is.data.frame(x)) x else x[[1]])
    theirs <- switch(
      test,
      gaussMItest = micd::getSuff(x, test = "gaussMItest"),
      disCItwd = list(dm = sapply(x, as.integer) - 1L, adaptDF = FALSE),
      x
    )
    ours <- if (test == "disCItwd") theirs else x
    run <- function() skeleton(ours, get(test), 0.01, labels = labels, m.max = 2)
    run()
    all <- replicate(5, seconds(found <<- run()))
    own <- stats::median(all)
    peer <- seconds(
      wanted <- pcalg::skeleton(
        theirs,
        getExportedValue("micd", test),
        0.01,
        labels = labels,
        m.max = 2,
        method = "stable"
      )
    )
    same <- identical(unname(as(wanted@graph, "matrix")), unname(as(found@graph, "matrix")))
    keep(
      "",
      test,
      n,
      p,
      NULL,
      all,
      sum(found@n.edgetests),
      method = "stable",
      peer = "micd",
      peer_seconds = peer,
      same = if (same) "yes" else "no"
    )
    cat(sprintf(
      "| %s | %d | %d | %.0f | %.2f | %.4f | %.0f | %s |\n",
      test,
      n,
      p,
      sum(found@n.edgetests),
      peer,
      own,
      peer / own,
      same
    ))
  }
}

if ("sizes" %in% parts) {
  cat("\n| test | n | p | tests | s | million tests a second |\n|---|---|---|---|---|---|\n")
  for (shape in list(c(30, 10), c(1000, 100), c(500, 1000), c(200, 3000), c(100000, 20), c(1000000, 10))) {
    for (test in c("gaussCItest", tests)) {
      set.seed(1)
      x <- data_for(test, shape[1], shape[2])
      labels <- names(if (is.data.frame(x)) x else x[[1]])
      s <- seconds(
        found <- skeleton(if (test == "gaussCItest") suff_gauss(x) else x, get(test), 0.01, labels = labels, m.max = 3)
      )
      count <- sum(found@n.edgetests)
      keep("", test, shape[1], shape[2], 3, s, count)
      cat(sprintf("| %s | %d | %d | %.0f | %.3f | %.3f |\n", test, shape[1], shape[2], count, s, count / s / 1e6))
    }
  }
}

# Prints a row of a table: a test on all cores and on a GPU, each twice in turn, of which the quicker counts.
cross <- function(test, n, p, m.max) {
  set.seed(1)
  x <- data_for(test, n, p)
  labels <- names(if (is.data.frame(x)) x else x[[1]])
  sets <- if (is.data.frame(x)) 1 else length(x)
  run <- function(device) skeleton(x, get(test), 0.01, labels = labels, m.max = m.max, device = device)
  took <- c(cpu = Inf, cuda = Inf)
  found <- list()
  for (turn in 1:2) {
    for (device in names(took)) {
      took[[device]] <- min(took[[device]], seconds(found[[device]] <- run(device)))
    }
  }
  slots <- c("graph", "sepset", "pMax", "n.edgetests")
  same <- all(vapply(slots, function(slot) identical(slot(found$cpu, slot), slot(found$cuda, slot)), NA))
  for (device in names(took)) {
    keep(
      "crossing: ",
      test,
      n,
      p,
      m.max,
      took[[device]],
      sum(found$cpu@n.edgetests),
      device,
      same = if (same) "yes" else "no"
    )
  }
  cat(sprintf(
    "| %s | %d | %d | %.0f | %.1g | %.3f | %.3f | %.2f | %s |\n",
    test,
    n,
    p,
    sum(found$cpu@n.edgetests),
    n * sets * p * (p - 1) / 2,
    took[["cpu"]],
    took[["cuda"]],
    took[["cpu"]] / took[["cuda"]],
    same
  ))
}

crossing_head <- function() {
  cat(sprintf(
    "\nCPU: %d threads. A GPU's first use: %.2f s.\n",
    getOption("pcgpu.threads", parallel::detectCores()),
    seconds({
      suppressMessages(skeleton(iris, mixCItest, 0.01, labels = names(iris), device = "cuda"))
    })
  ))
  cat(
    "\n| test | n | p | tests | values of level 0 | CPU s | GPU s | ratio | same |\n|---|---|---|---|---|---|---|---|---|\n"
  )
}

if ("crossing" %in% parts) {
  crossing_head()
  for (shape in list(c(30, 10), c(500, 300), c(500, 1000), c(5000, 100), c(5000, 300), c(100000, 60), c(1000000, 10))) {
    for (test in setdiff(tests, "gaussMItest")) {
      cross(test, shape[1], shape[2], m.max = 2)
    }
  }
}

if ("crossing-large" %in% parts) {
  crossing_head()
  cross("mixCItest", 5000, 300, m.max = 2)
  cross("mixCItest", 2000, 3000, m.max = 1)
  cross("mixCItest", 1000000, 10, m.max = 8)
}

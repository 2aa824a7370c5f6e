# What workers of other processes gain and cost.
#   Rscript inst/bench/cluster.R functions [TESTS [MS]]    an R function of MS milliseconds, asleep and busy, on one and two workers
#   Rscript inst/bench/cluster.R levels [P ...]            what a level costs beyond its tests: bytes and milliseconds by worker
#   Rscript inst/bench/cluster.R shapes [SHAPE ...]        the same of real shapes: nci60, dense:P, knn:P (P of NCI-60's variables)
#   Rscript inst/bench/cluster.R select [N,P,LEVELS,K ...] one feature selection on two workers of a thread each, beside one thread
suppressMessages(library(pcgpu))
arguments <- commandArgs(trailingOnly = TRUE)
numbers <- as.numeric(arguments[-1])
options(pcgpu.progress = FALSE)

# A random linear Gaussian DAG's data: each variable has `degree` neighbours, about.
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

seconds <- function(code) system.time(code)[["elapsed"]]

if (arguments[1] == "functions") {
  tests <- if (is.na(numbers[1])) 5000 else numbers[1]
  ms <- if (is.na(numbers[2])) 10 else numbers[2]
  p <- 2
  repeat {
    stat <- suff_gauss(simulate(p, 500, 4))
    made <- sum(pc(stat, gaussCItest, 0.01, p = p)@n.edgetests)
    if (made >= tests) break
    p <- p + 1
  }
  asleep <- function(x, y, S, suffStat) {
    Sys.sleep(ms / 1000)
    gaussCItest(x, y, S, suffStat)
  }
  busy <- function(x, y, S, suffStat) {
    began <- sum(proc.time()[1:2])
    # Its own processor's time: on a machine that others use it takes longer, not less work.
    while (sum(proc.time()[1:2]) - began < ms / 1000) NULL
    gaussCItest(x, y, S, suffStat)
  }
  cat(sprintf("p %d, %d tests of %g ms\n| test | one worker s | two workers s | ratio | busy, by worker |\n|---|---|---|---|---|\n", p, made, ms))
  for (name in c("asleep", "busy")) {
    test <- get(name)
    one <- with_workers(1, function(cluster) seconds(wanted <<- skeleton(stat, test, 0.01, p = p, cluster = cluster)))
    two <- with_workers(2, function(cluster) seconds(found <<- skeleton(stat, test, 0.01, p = p, cluster = cluster)))
    team <- run_details(found)$team
    worked <- tapply(team$busy * team$seconds, team$device, sum) / two
    found@call <- wanted@call
    stopifnot(identical(found, wanted))
    cat(sprintf("| %s | %.2f | %.2f | %.3f | %s |\n", name, one, two, one / two, paste(sprintf("%.1f %%", 100 * worked), collapse = ", ")))
  }
} else if (arguments[1] == "shapes") {
  source("inst/bench/data.R")
  cat("| shape | level | s of tests on one thread | bytes to the worker | bytes from it | ms beyond its work |\n|---|---|---|---|---|---|\n")
  for (shape in if (length(arguments) > 1) arguments[-1] else c("nci60", "dense:2000", "dense:4000", "knn:200")) {
    p <- if (grepl(":", shape)) as.numeric(sub(".*:", "", shape))
    search <- if (startsWith(shape, "dense")) {
      stat <- suff_gauss(expression_like(p = p, n = 500, global = 0.3))
      function(cluster) skeleton(stat, gaussCItest, 0.01, p = p, m.max = 1, method = "stable.fast", result = "compact", cluster = cluster, numCores = 1, device = "cpu")
    } else if (startsWith(shape, "knn")) {
      stat <- suff_knn(load_data("nci60")[, seq_len(p)], permutations = 100)
      function(cluster) skeleton(stat, cmiKnnCItest, 0.01, p = p, cluster = cluster, numCores = 1, device = "cpu")
    } else {
      stat <- suff_gauss(load_data(shape))
      p <- ncol(stat$C)
      function(cluster) skeleton(stat, gaussCItest, 0.01, p = p, method = "stable.fast", result = "compact", cluster = cluster, numCores = 1, device = "cpu")
    }
    team <- with_workers(1, function(cluster) run_details(search(cluster))$team)
    for (i in which(!is.na(team$level))) {
      row <- team[i, ]
      cat(sprintf("| %s | %d | %.3f | %s | %s | %.0f |\n", shape, row$level, row$seconds * row$busy, format(row$bytes_to, big.mark = ","),
        format(row$bytes_from, big.mark = ","), 1000 * row$seconds * (1 - row$busy)
      ))
    }
  }
} else if (arguments[1] == "select") {
  shapes <- if (length(arguments) > 1) arguments[-1] else c("200,50,3,20", "1000,2000,3,50", "1000,10000,3,100", "1000,10000,10,100", "2000,40000,10,150")
  utils::assignInNamespace("sharing_pays", function(...) TRUE, "pcgpu")
  cat("| n x p | levels | k | one thread s | two workers s | ratio | bytes to a worker | bytes from it | ms a choice beyond its work |\n|---|---|---|---|---|---|---|---|---|\n")
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
    cat(sprintf("| %g x %s | %g | %g | %.3f | %.3f | %.2f | %s | %s | %.1f |\n", shape[1], format(shape[2], big.mark = ","), shape[3], shape[4], one, two, one / two,
      format(team$bytes_to[1], big.mark = ","), format(team$bytes_from[1], big.mark = ","), 1000 * team$seconds[1] * (1 - mean(team$busy)) / shape[4]
    ))
  }
} else {
  cat("| p | level | workers | s | busy | bytes to a worker | bytes from it | ms beyond its work |\n|---|---|---|---|---|---|---|---|\n")
  for (p in if (length(numbers)) numbers else c(2000, 20000)) {
    stat <- suff_gauss(simulate(p, 200, 2), keep = if (p > 5000) "data" else "correlations")
    for (count in 1:2) {
      team <- with_workers(count, function(cluster) {
        run_details(skeleton(stat, gaussCItest, 1e-4, p = p, cluster = cluster, result = "compact", device = "cpu", numCores = 1))$team
      })
      for (level in unique(team$level[!is.na(team$level)])) {
        rows <- team[team$level %in% level, ]
        cat(sprintf("| %s | %d | %d | %.3f | %s | %s | %s | %.0f |\n", format(p, big.mark = ","), level, count, rows$seconds[1],
          paste(sprintf("%.0f %%", 100 * rows$busy), collapse = ", "), paste(format(rows$bytes_to, big.mark = ",", trim = TRUE), collapse = "; "),
          paste(format(rows$bytes_from, big.mark = ",", trim = TRUE), collapse = "; "), 1000 * rows$seconds[1] * (1 - mean(rows$busy))
        ))
      }
    }
  }
}

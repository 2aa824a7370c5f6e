# What workers of other processes gain and cost.
#   Rscript inst/bench/cluster.R functions [TESTS [MS]]    an R function of MS milliseconds, asleep and busy, on one and two workers
#   Rscript inst/bench/cluster.R levels [P ...]            what a level costs beyond its tests: bytes and milliseconds by worker
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

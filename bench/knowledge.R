# Searches with tiers, compared with tpc::tpc() if it is installed, and with the search without tiers.
#
#   Rscript bench/knowledge.R [p ...] [--csv=FILE]
#
# Writes a row a problem: seconds of tpc's sequential form (one core, as it has no other), of ours on all threads,
# whether the graphs are the same, and ours without tiers. Data: Gaussian, n = 1,000, about three neighbours a variable,
# five tiers along the order of the causes.
suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
sizes <- as.numeric(operands())
if (!length(sizes)) {
  sizes <- c(10, 50, 200, 1000, 5000)
}

simulated <- function(p, n = 1000, degree = 3) {
  x <- matrix(rnorm(n * p), n, p)
  for (j in 2:p) {
    parents <- which(runif(j - 1) < degree / (p - 1))
    if (length(parents)) x[, j] <- x[, j] + x[, parents, drop = FALSE] %*% runif(length(parents), 0.3, 1)
  }
  colnames(x) <- paste0("v", seq_len(p))
  x
}

seconds <- function(code) system.time(code)[["elapsed"]]
has_tpc <- requireNamespace("tpc", quietly = TRUE)
cat("| p | tpc s | ours s | ratio | same graph | without tiers s |\n|---|---|---|---|---|---|\n")
for (p in sizes) {
  set.seed(p)
  s <- suff_gauss(simulated(p))
  tiers <- ceiling(seq_len(p) * 5 / p)
  labels <- colnames(s$C)
  run <- function(...) {
    suppressMessages(pc(s, gaussCItest, 0.01, labels = labels, maj.rule = TRUE, solve.confl = TRUE, ...))
  }
  run(tiers = tiers)
  ours <- seconds(found <- run(tiers = tiers))
  plain <- seconds(run())
  peer <- NA
  same <- NA
  if (has_tpc && p <= 200) {
    peer <- seconds(wanted <- tpc::tpc(s, pcalg::gaussCItest, 0.01, labels = labels, tiers = tiers, maj.rule = TRUE))
    same <- identical(as(wanted@graph, "matrix"), as(found@graph, "matrix"))
  }
  keep <- function(case, took, ...) {
    record("knowledge", paste0(case, ", p = ", p), took, p = p, n = 1000, alpha = 0.01, device = "cpu", ...)
  }
  keep(
    "tiers",
    ours,
    peer = if (!is.na(peer)) "tpc",
    peer_seconds = if (!is.na(peer)) peer,
    same = if (!is.na(same)) {
      if (same) "yes" else "no"
    }
  )
  keep("without tiers", plain)
  cat(sprintf("| %d | %.3f | %.3f | %.0f | %s | %.3f |\n", p, peer, ours, peer / ours, same, plain))
}

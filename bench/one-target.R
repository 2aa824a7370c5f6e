# Times pcSelect() and pcalg's, in one run, and searches around one variable of many. Prints a Markdown table.
#
#   Rscript one-target.R [peer] [bed] [local] [--p=20000] [--n=200] [--threads=2] [--repeats=5] [--csv=FILE]
#
# peer: p columns of a random DAG; pcalg runs once, as it computes p x p correlations, and the answers are compared.
# bed: a response and 1,000,000 random genotypes of 1,000 samples, one in a hundred missing. local: local_pc() of one of
# 100,000 variables, 500 samples.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
settings(threads = 2L, repeats = 5L, p = 20000L, n = 200L, all = c("peer", "bed", "local"))
options(pcgpu.threads = threads)

say <- function(case, seconds, theirs = "", same = "") cat(row_text(case, spread(seconds), theirs, same))

peer <- function() {
  x <- random_data(random_dag(p + 1L, neighbours = 2, seed = 1), n, seed = 1)
  at <- p %/% 2L
  y <- x[, at]
  dm <- x[, -at]
  mine <- timed(function() pcSelect(y, dm, 0.001), repeats)
  theirs <- timed(function() pcalg::pcSelect(y, dm, 0.001), 1L)
  is_same <- identical(theirs$value$G, mine$value$G) && isTRUE(all.equal(theirs$value$zMin, mine$value$zMin, 1e-9))
  same <- if (is_same) "yes" else "no"
  case <- sprintf("pcSelect(), %d columns of %d rows", p, n)
  say(case, mine$seconds, number(theirs$seconds), same)
  record(
    "one-target",
    case,
    mine$seconds,
    p = p,
    n = n,
    alpha = 0.001,
    device = "cpu",
    threads = threads,
    peer = "pcalg",
    peer_seconds = theirs$seconds,
    same = same
  )
}

# Writes random genotypes in PLINK's format.
write_genotypes <- function(path, n, p) {
  file <- file(paste0(path, ".bed"), "wb")
  on.exit(close(file))
  writeBin(as.raw(c(0x6c, 0x1b, 0x01)), file)
  for (part in seq_len(p / 1e4)) {
    codes <- sample(c(0L, 2L, 3L, 1L), n * 1e4, TRUE, c(0.15, 0.4, 0.44, 0.01))
    writeBin(as.raw(colSums(matrix(codes, 4L) * c(1L, 4L, 16L, 64L))), file)
  }
  writeLines(paste("f", paste0("s", seq_len(n)), "0 0 0 -9"), paste0(path, ".fam"))
  writeLines(paste(1, paste0("rs", seq_len(p)), 0, seq_len(p), "A", "G", sep = "\t"), paste0(path, ".bim"))
}

bed <- function() {
  path <- tempfile()
  set.seed(1)
  write_genotypes(path, 1000L, 1e6)
  x <- plink_bed(paste0(path, ".bed"))
  y <- stats::rnorm(1000)
  case <- "pcSelect(), 1,000,000 genotypes of 1,000 samples, .bed"
  mine <- timed(function() pcSelect(y, x, 1e-6), repeats)
  say(case, mine$seconds)
  record("one-target", case, mine$seconds, p = 1e6, n = 1000, alpha = 1e-6, device = "cpu", threads = threads)
}

local <- function() {
  x <- random_data(random_dag(1e5L, neighbours = 2, seed = 1), 500, seed = 1)
  for (alpha in c(1e-6, 1e-3)) {
    case <- sprintf("local_pc(), 100,000 variables of 500 rows, alpha %s", format(alpha))
    mine <- timed(function() local_pc(x, "x50000", alpha), repeats)
    scanned <- length(run_details(mine$value)$local$scanned)
    say(case, mine$seconds, "", sprintf("%d scanned", scanned))
    record(
      "one-target",
      case,
      mine$seconds,
      p = 1e5,
      n = 500,
      alpha = alpha,
      device = "cpu",
      threads = threads,
      note = sprintf("%d scanned", scanned)
    )
  }
}

cat(head_text("case", "seconds, min / median", "pcalg, 1 run", "same answer"))
for (part in parts) {
  get(part, globalenv())()
}

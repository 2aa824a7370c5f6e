# Times suff_gauss() on data that R does not hold, the dense matrix and R's cor(), and prints Markdown tables.
#
#   Rscript large-data.R [moments] [sparse] [pass] [--shapes=1000000x50,...] [--density=0.05] [--threads=2] [--repeats=5] [--peer=yes|no]
#                        [--csv=FILE]
#
# Shapes are observations x variables. cor() and the dense matrix run once where they take more than 10 s; of a sparse
# matrix they are left out where the dense one would take more than 4 GB. "pass", which is made where it is named, reads
# more rows than R holds in one pass: a block of 320 MB again and again.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
parts <- operands()
if (!length(parts)) {
  parts <- c("moments", "sparse")
}
shapes <- strsplit(option("shapes", ""), ",")[[1]]
density <- as.double(option("density", "0.05"))
repeats <- as.integer(option("repeats", "5"))
with_peer <- match.arg(option("peer", "yes"), c("yes", "no")) == "yes"
options(pcgpu.threads = as.integer(option("threads", "2")))

shape_of <- function(text) as.double(strsplit(text, "x")[[1]])
apart <- function(a, b) format(max(abs(a - b)), digits = 2)
times <- function(call) timed(call, repeats, enough = 20)
keep <- function(case, n, p, seconds, peer = NULL, ...) {
  record(
    "large-data",
    case,
    seconds,
    p = p,
    n = n,
    device = "cpu",
    threads = getOption("pcgpu.threads"),
    peer = if (!is.null(peer)) "R cor()",
    peer_version = if (!is.null(peer)) as.character(getRversion()),
    peer_seconds = peer$seconds,
    ...
  )
}

moments <- function() {
  cat(
    "\n",
    head_text(
      "n x p",
      "suff_gauss() s, min / median",
      "of blocks that are there s",
      "of a function's blocks s",
      "its own seconds",
      "file written s",
      "opened and checked s",
      "suff_gauss() of the file s",
      if (with_peer) "cor() s",
      "largest difference"
    ),
    sep = ""
  )
  for (shape in if (length(shapes)) shapes else c("1000000x50", "100000x400")) {
    n <- shape_of(shape)[1]
    p <- shape_of(shape)[2]
    set.seed(1)
    x <- matrix(stats::rnorm(n * p), n)
    height <- floor(1e8 / 8 / p)
    firsts <- seq(1, n, height)
    rows_from <- function(first) x[first:min(n, first + height - 1), , drop = FALSE]
    of_function <- function() {
      at <- 0
      function() if (at < length(firsts)) rows_from(firsts[at <<- at + 1])
    }
    blocks <- lapply(firsts, rows_from)
    given <- function() {
      at <- 0
      function() if (at < length(blocks)) blocks[[at <<- at + 1]]
    }
    dense <- times(function() suff_gauss(x, device = "cpu"))
    there <- times(function() suff_gauss(given()))
    cut <- times(function() suff_gauss(of_function()))
    own <- times(function() {
      following <- of_function()
      while (!is.null(following())) {
        NULL
      }
    })
    rm(blocks)
    path <- tempfile(fileext = ".pcgpu")
    written <- times(function() write_pcgpu_file(x, path, overwrite = TRUE))
    opened <- times(function() pcgpu_file(path))
    file <- times(function() suff_gauss(opened$value, device = "cpu"))
    stopifnot(identical(file$value, dense$value), identical(cut$value, there$value))
    unlink(path, force = TRUE)
    peer <- if (with_peer) seconds_of(function() stats::cor(x))
    of <- sprintf("suff_gauss(), %g x %g, ", n, p)
    keep(paste0(of, "matrix"), n, p, dense$seconds, peer)
    keep(paste0(of, "blocks that are there"), n, p, there$seconds)
    keep(paste0(of, "a function's blocks"), n, p, cut$seconds)
    keep(paste0(of, "pcgpu file"), n, p, file$seconds)
    cat(row_text(
      shape_text(n, p),
      spread(dense$seconds),
      spread(there$seconds),
      spread(cut$seconds),
      spread(own$seconds),
      spread(written$seconds),
      spread(opened$seconds),
      spread(file$seconds),
      if (with_peer) number(peer$seconds),
      apart(cut$value$C, if (with_peer) peer$value else dense$value$C)
    ))
  }
}

sparse <- function() {
  cat(
    "\n",
    head_text(
      "n x p",
      "entries",
      "multiply-adds of them",
      "suff_gauss() s, min / median",
      "a second, in 1e9",
      "of the dense matrix s",
      if (with_peer) "cor() s",
      "largest difference",
      "peak GiB before / after"
    ),
    sep = ""
  )
  for (shape in if (length(shapes)) shapes else c("2000x5000", "20000x5000")) {
    n <- shape_of(shape)[1]
    p <- shape_of(shape)[2]
    set.seed(1)
    x <- Matrix::rsparsematrix(n, p, density, rand.x = function(n) stats::rpois(n, 2) + 1)
    of_rows <- as.double(tabulate(x@i + 1L, n))
    work <- sum(of_rows * (of_rows + 1) / 2)
    before <- peak()
    made <- times(function() suff_gauss(x))
    after <- peak()
    fits <- 8 * n * p < 4e9
    dense <- if (fits) as.matrix(x)
    beside <- if (fits) times(function() suff_gauss(dense, device = "cpu"))
    peer <- if (fits && with_peer) seconds_of(function() stats::cor(dense))
    keep(sprintf("suff_gauss(), sparse %g x %g", n, p), n, p, made$seconds, peer)
    cat(row_text(
      shape_text(n, p),
      format(length(x@x), big.mark = ","),
      format(work, digits = 3),
      spread(made$seconds),
      number(work / min(made$seconds) / 1e9),
      if (fits) spread(beside$seconds) else "",
      if (with_peer) {
        if (fits) number(peer$seconds) else ""
      },
      if (fits) apart(made$value$C, if (with_peer) peer$value else beside$value$C) else "",
      paste(number(before), "/", number(after))
    ))
  }
}

pass <- function() {
  cat(
    "\n",
    head_text(
      "n x p",
      "gauss_moments() s, one run",
      "blocks",
      "largest difference from cor() of the block",
      "largest process GiB"
    ),
    sep = ""
  )
  for (shape in if (length(shapes)) shapes else "20000000x400") {
    n <- shape_of(shape)[1]
    p <- shape_of(shape)[2]
    height <- floor(3.2e8 / 8 / p)
    left <- count <- ceiling(n / height)
    set.seed(1)
    x <- matrix(stats::rnorm(height * p), height)
    # Means that are large compared with deviations, and neighbours that are correlated.
    x <- x + x[, c(2:p, 1)] * 0.5 + 100
    following <- function() {
      if (left > 0) {
        left <<- left - 1
        x
      }
    }
    took <- seconds_of(function() gauss_moments(following, progress = FALSE))
    most <- peak()
    keep(sprintf("gauss_moments(), %g x %g", n, p), n, p, took$seconds, gb = signif(most * 1.073741824, 3))
    cat(row_text(
      shape_text(took$value$n, p),
      number(took$seconds),
      count,
      apart(suff_gauss(took$value)$C, stats::cor(x)),
      number(most)
    ))
  }
}

known <- list(moments = moments, sparse = sparse, pass = pass)
for (part in parts) {
  known[[match.arg(part, names(known))]]()
}
tell_origin("large-data.R")

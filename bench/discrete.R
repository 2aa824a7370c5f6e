# Times the discrete tests of pcgpu from a matrix of codes to a pcAlgo object. Compares bnlearn's or pcalg's answers
# where they are asked for, and prints a Markdown table.
#
#   Rscript discrete.R FILE.csv[.gz] [...] [--alpha=0.01] [--threads=2] [--repeats=7] [--m.max=Inf] [--test=chi2|dis]
#                   [--peer=none|bnlearn|pcalg] [--peer-repeats=1] [--rows=N] [--csv=FILE]
#
# FILE: a header, then a row of level codes 0, 1, ... for each sample. (Those of results.csv were drawn from the
# networks of bnlearn's repository, as by sample_network() of data.R.) --test=chi2 is compared with bnlearn's
# pc.stable(test = "x2", undirected = TRUE): edges alone, as it counts other tests. --test=dis is compared with pcalg's
# skeleton(indepTest = disCItest, method = "stable"): every field.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "compare.R"))
suppressPackageStartupMessages({
  library(methods)
  library(graph)
})
files <- operands()
if (!length(files)) {
  stop("give at least one file of codes", call. = FALSE)
}
settings(
  alpha = 0.01,
  threads = 2L,
  repeats = 7L,
  peer_repeats = 1L,
  m.max = Inf,
  rows = Inf,
  peer = c("none", "bnlearn", "pcalg"),
  test = c("chi2", "dis")
)
test <- switch(test, chi2 = pcgpu::chi2CItest, dis = pcgpu::disCItest)

seconds <- function(call, repeats) {
  vapply(
    seq_len(repeats),
    function(i) {
      gc(FALSE)
      system.time(call())[["elapsed"]]
    },
    0
  )
}

# Compares bnlearn's edges or pcalg's object with ours: "yes" or what differs.
with_bnlearn <- function(x, nlev, fit) {
  data <- as.data.frame(x)
  data[] <- Map(function(column, levels) factor(column, seq_len(levels) - 1), data, nlev)
  found <- NULL
  took <- seconds(
    function() {
      found <<- bnlearn::pc.stable(
        data,
        test = "x2",
        alpha = alpha,
        undirected = TRUE,
        max.sx = if (is.finite(m.max)) m.max
      )
    },
    peer_repeats
  )
  theirs <- bnlearn::amat(found) > 0
  same <- identical(unname(theirs), unname(as(fit@graph, "matrix") > 0))
  list(seconds = took, same = if (same) "edges" else "NO: edges", program = "bnlearn")
}
with_pcalg <- function(stat, fit, labels) {
  found <- NULL
  took <- seconds(
    function() {
      found <<- suppressWarnings(pcalg::skeleton(
        stat,
        pcalg::disCItest,
        alpha,
        labels = labels,
        m.max = m.max,
        method = "stable"
      ))
    },
    peer_repeats
  )
  differs <- differences(fit, found)
  list(seconds = took, same = if (differs == "") "all" else paste("NO:", differs), program = "pcalg")
}

row_of <- function(file) {
  x <- as.matrix(utils::read.csv(file, nrows = if (is.finite(rows)) rows else -1))
  storage.mode(x) <- "integer"
  nlev <- pmax(apply(x, 2, max) + 1L, 2L)
  stat <- list(dm = x, nlev = nlev, adaptDF = FALSE)
  fit <- NULL
  mine <- seconds(
    function() {
      fit <<- suppressWarnings(pcgpu::skeleton(
        stat,
        test,
        alpha,
        labels = colnames(x),
        m.max = m.max,
        numCores = threads,
        progress = FALSE
      ))
    },
    repeats
  )
  theirs <- switch(peer, none = NULL, bnlearn = with_bnlearn(x, nlev, fit), pcalg = with_pcalg(stat, fit, colnames(x)))
  record(
    "discrete",
    paste0(
      sub("[.].*", "", basename(file)),
      ", ",
      option("test", "chi2"),
      if (is.finite(m.max)) paste(", m.max", m.max)
    ),
    mine,
    p = ncol(x),
    n = nrow(x),
    alpha = alpha,
    method = "stable",
    device = "cpu",
    threads = threads,
    tests = sum(fit@n.edgetests),
    peer = theirs$program,
    peer_seconds = theirs$seconds,
    same = if (!is.null(theirs)) {
      if (startsWith(theirs$same, "NO")) "no" else "yes"
    },
    note = if (peer == "bnlearn") "edges compared"
  )
  cells <- c(
    basename(file),
    sprintf("%d x %d", ncol(x), nrow(x)),
    format(sum(fit@n.edgetests), scientific = FALSE),
    fit@max.ord,
    format(edge_count(fit)),
    paste(number(min(mine)), "/", number(stats::median(mine)))
  )
  if (!is.null(theirs)) {
    cells <- c(
      cells,
      sprintf("%s (%d run%s)", number(min(theirs$seconds)), peer_repeats, if (peer_repeats == 1) "" else "s"),
      number(min(theirs$seconds) / min(mine)),
      number(min(theirs$seconds) / stats::median(mine)),
      theirs$same
    )
  }
  cells
}

tell_origin("discrete.R")
cat("\n")
columns <- c(
  "data",
  "p x n",
  "CI tests",
  "max.ord",
  "edges",
  "skeleton() s, min / median",
  if (peer != "none") c(paste(peer, "s"), "times faster (by min)", "(by median)", "same answer")
)
cat(head_text(columns))
for (file in files) {
  cat(row_text(row_of(file)))
}

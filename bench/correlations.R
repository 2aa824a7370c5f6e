# Times the correlations of suff_gauss(), and measures how much of n their tests have. Prints Markdown tables.
#
#   Rscript correlations.R [times] [sizes] [--n=500] [--p=1000] [--threads=2] [--repeats=5] [--peer=yes|no] [--csv=FILE]
#
# times: each kind of correlation, next to cor(), pcalg's mcor(), and psych's and lavaan's polychoric correlations, if they are
# installed. Peers run once, on fewer columns if they would take minutes; their time is per pair, times the number of pairs.
# sizes: 1 / (variance of Fisher's z times n) of pairs without dependence, and of pairs that are independent given a strong
# common cause.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
settings(n = 500L, p = 1000L, threads = 2L, repeats = 5L, peer = c("yes", "no"), all = c("times", "sizes"))
options(pcgpu.threads = threads)
kinds <- c("pearson", "spearman", "npn", "kendall", "Qn", "QnStable", "ogkScaleTau2", "ogkQn", "shrink", "polychoric")

codes <- function(x) as.data.frame(lapply(as.data.frame(x), function(v) ordered(findInterval(v, c(-1, -0.3, 0.4, 1)))))

# The peer of a kind: its name, package, the number of columns that it can do in seconds, and the function.
peers <- list(
  pearson = list("R cor()", "stats", 1000, function(x) stats::cor(x)),
  spearman = list("R cor()", "stats", 1000, function(x) stats::cor(x, method = "spearman")),
  kendall = list("R cor()", "stats", 60, function(x) stats::cor(x, method = "kendall")),
  Qn = list("pcalg", "pcalg", 40, function(x) pcalg::mcor(x, "Qn")),
  QnStable = list("pcalg", "pcalg", 40, function(x) pcalg::mcor(x, "QnStable")),
  ogkScaleTau2 = list("pcalg", "pcalg", 100, function(x) pcalg::mcor(x, "ogkScaleTau2")),
  ogkQn = list("pcalg", "pcalg", 60, function(x) pcalg::mcor(x, "ogkQn")),
  polychoric = list("lavaan", "lavaan", 30, function(x) lavaan::lavCor(x, ordered = names(x)))
)

times <- function() {
  cat(
    "\n",
    head_text("kind", "seconds, min / median", "repeats", "peer", "columns", "s", "s for all pairs", "times faster"),
    sep = ""
  )
  set.seed(1)
  x <- matrix(stats::rnorm(n * p), n) + stats::rnorm(n) * 0.3
  for (kind in kinds) {
    data <- if (kind == "polychoric") codes(x) else x
    made <- timed(function() suppressWarnings(suff_gauss(data, correlation = kind)), repeats, enough = 60)
    theirs <- if (peer == "yes") peers[[kind]]
    seconds <- NULL
    if (!is.null(theirs) && requireNamespace(theirs[[2L]], quietly = TRUE)) {
      m <- min(theirs[[3L]], p)
      part <- if (is.data.frame(data)) data[seq_len(m)] else data[, seq_len(m)]
      seconds <- timed(function() theirs[[4L]](part), 1L)$seconds
      all <- seconds * (p * (p - 1)) / (m * (m - 1))
    }
    cat(row_text(c(
      kind,
      spread(made$seconds),
      length(made$seconds),
      if (is.null(seconds)) {
        rep("", 5)
      } else {
        c(theirs[[1L]], m, number(seconds), number(all), number(all / min(made$seconds)))
      }
    )))
    record(
      "correlations",
      sprintf("suff_gauss(), %g x %g, %s", n, p, kind),
      made$seconds,
      p = p,
      n = n,
      device = "cpu",
      threads = threads,
      peer = if (!is.null(seconds)) theirs[[1L]],
      peer_version = if (!is.null(seconds)) as.character(utils::packageVersion(theirs[[2L]])),
      peer_seconds = if (!is.null(seconds)) all
    )
  }
}

# Returns 1 / (variance of z times n) of pairs without dependence, and given a common cause of correlation 0.7.
part_of_n <- function(kind, n) {
  of <- function(x) suppressWarnings(suff_gauss(if (kind == "polychoric") codes(x) else x, correlation = kind))$C
  C <- of(matrix(stats::rnorm(n * 300), n))
  marginal <- atanh(C[upper.tri(C)])
  given <- unlist(lapply(1:60, function(round) {
    x <- do.call(
      cbind,
      lapply(1:40, function(i) {
        z <- stats::rnorm(n)
        cbind(z, z + stats::rnorm(n), z + stats::rnorm(n))
      })
    )
    C <- of(x)
    first <- seq(1, 120, 3)
    a <- C[cbind(first, first + 1)]
    b <- C[cbind(first, first + 2)]
    atanh((C[cbind(first + 1, first + 2)] - a * b) / sqrt((1 - a^2) * (1 - b^2)))
  }))
  1 / c(stats::var(marginal), stats::var(given)) / n
}

sizes <- function() {
  cat("\n", head_text("kind", "n", "part of n, independent", "given a common cause"), sep = "")
  set.seed(2)
  for (kind in setdiff(kinds, c("shrink", "ogkScaleTau2", "ogkQn"))) {
    for (n in c(100, 500)) {
      cat(row_text(c(kind, n, sprintf("%.2f", part_of_n(kind, n)))))
    }
  }
}

for (part in parts) {
  get(part)()
}

# Times suff_gauss(), R's cor() and suff_discrete() on random data by shape and prints Markdown tables.
#
#   Rscript suff.R [gauss] [discrete] [--shapes=30x10,...] [--device=cpu] [--threads=2] [--repeats=5] [--peer=yes|no]
#                  [--csv=FILE]
#
# Shapes are observations x variables. cor() runs once (for 3,189 x 2,000 it takes 20 s). Pairwise ranks are left out
# where they take minutes. A case is repeated less often once it has taken a minute; the table says how often.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
parts <- operands()
if (!length(parts)) {
  parts <- c("gauss", "discrete")
}
shapes <- strsplit(option("shapes", ""), ",")[[1]]
device <- option("device", "cpu")
threads <- as.integer(option("threads", "2"))
repeats <- as.integer(option("repeats", "5"))
with_peer <- match.arg(option("peer", "yes"), c("yes", "no")) == "yes"
options(pcgpu.threads = threads)

# Returns the shapes to be timed, as c(n, p).
wanted <- function(known) {
  if (length(shapes)) {
    known <- intersect(known, shapes)
  }
  lapply(strsplit(known, "x"), as.double)
}
cells <- function(seconds) c(spread(seconds), length(seconds))

gauss <- function() {
  cat(
    "\n",
    head_text(
      "n x p",
      "what",
      "suff_gauss() s, min / median",
      "repeats",
      if (with_peer) {
        c("cor() s (1 run)", "times faster (by min)", "(by median)", "largest difference")
      }
    ),
    sep = ""
  )
  for (shape in wanted(c("30x10", "3189x2000", "2000000x60", "100x4000"))) {
    set.seed(1)
    n <- shape[1]
    p <- shape[2]
    x <- matrix(stats::rnorm(n * p), n)
    for (what in c("complete", "rows left out", "pairwise")) {
      # A value in a tenth of the rows; one in a hundred of all values.
      if (what == "rows left out") {
        x[cbind(seq.int(1, n, 10), seq_len(p)[(seq.int(0, n - 1, 10) / 10) %% p + 1])] <- NA
      }
      if (what == "pairwise") {
        x[sample.int(n * p, n * p / 100)] <- NA
      }
      use <- switch(
        what,
        "complete" = "everything",
        "rows left out" = "complete.obs",
        "pairwise" = "pairwise.complete.obs"
      )
      for (method in c("pearson", "spearman")) {
        ranked_pairs <- what == "pairwise" && method == "spearman"
        if (ranked_pairs && n * p^2 > 2e9) {
          next
        }
        # A GPU makes no others.
        where <- if (method == "pearson" && what != "pairwise") device else "cpu"
        made <- timed(
          function() suppressWarnings(suff_gauss(x, use = use, correlation = method, device = where)),
          repeats,
          enough = 60
        )
        peer <- NULL
        beside <- if (with_peer) {
          if (ranked_pairs && n * p^2 > 1e6) {
            rep("", 4)
          } else {
            peer <- timed(function() stats::cor(x, use = use, method = method), 1L)
            c(
              number(peer$seconds),
              number(peer$seconds / min(made$seconds)),
              number(peer$seconds / stats::median(made$seconds)),
              # Ours are those of the normal variables behind the ranks.
              format(
                max(abs(peer$value - if (method == "spearman") 6 / pi * asin(made$value$C / 2) else made$value$C)),
                digits = 2
              )
            )
          }
        }
        record(
          "suff",
          sprintf("suff_gauss(), %g x %g, %s, %s", n, p, method, what),
          made$seconds,
          p = p,
          n = n,
          device = where,
          threads = threads,
          peer = if (!is.null(peer)) "R cor()",
          peer_version = if (!is.null(peer)) as.character(getRversion()),
          peer_seconds = peer$seconds
        )
        cat(row_text(shape_text(n, p), paste0(method, ", ", what), cells(made$seconds), beside))
      }
    }
  }
}

discrete <- function() {
  cat("\n", head_text("n x p", "what", "suff_discrete() s, min / median", "repeats"), sep = "")
  for (shape in wanted(c("200x10", "20000x200", "1000000x40"))) {
    set.seed(1)
    n <- shape[1]
    p <- shape[2]
    codes <- matrix(sample.int(4L, n * p, TRUE), n)
    kinds <- list(
      "integer matrix" = codes,
      "integer matrix, a hundredth missing" = replace(codes, sample.int(n * p, n * p / 100), NA),
      "data frame of doubles" = as.data.frame(codes + 0),
      "data frame of factors" = as.data.frame(lapply(
        as.data.frame(codes),
        factor,
        levels = 1:4,
        labels = c("a", "b", "c", "d")
      ))
    )
    for (kind in names(kinds)) {
      made <- timed(function() suff_discrete(kinds[[kind]], na = "pairwise"), repeats, enough = 60)
      record(
        "suff",
        sprintf("suff_discrete(), %g x %g, %s", n, p, kind),
        made$seconds,
        p = p,
        n = n,
        device = "cpu",
        threads = threads
      )
      cat(row_text(shape_text(n, p), kind, cells(made$seconds)))
    }
  }
}

tell_origin("suff.R")
for (part in parts) {
  switch(part, gauss = gauss(), discrete = discrete(), stop("there is no part ", part, call. = FALSE))
}

# Times fci(), rfci() and fciPlus() and pcalg's in one run, and by shape. Prints Markdown tables.
#
#   Rscript fci.R [peer] [nci60] [shapes] [--threads=2] [--repeats=5] [--limit=90] [--n=1000] [--neighbours=3] [--csv=FILE]
#
# `peer`: samples of random linear DAGs, of whose variables a tenth is hidden, alpha 0.01; pcalg is timed once, on one
# core, and given up after --limit seconds; answers are compared. `nci60`: NCI-60 (see data.R), alpha 0.01, rfci() and
# fci() with bounds, and pcalg's rfci() within --limit. `shapes`: the smallest and the largest shapes.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))
library(pcgpu)
settings(threads = 2L, repeats = 5L, limit = 90, n = 1000L, neighbours = 3, all = c("peer", "nci60", "shapes"))
options(pcgpu.threads = threads)

has_pcalg <- requireNamespace("pcalg", quietly = TRUE)

# Returns the correlations of a sample of p observed variables.
sample_of <- function(p, n, neighbours, seed = 1L) {
  all <- ceiling(p / 0.9)
  dag <- random_dag(all, neighbours = neighbours, seed = seed)
  x <- random_data(dag, n, seed = seed, standardise = TRUE)
  set.seed(seed)
  suff_gauss(x[, sort(sample(all, p))])
}

silently <- function(code) {
  suppressMessages({
    utils::capture.output(value <- code)
    value
  })
}

# Returns the seconds of pcalg, or NA if it did not end in time.
within_limit <- function(call) {
  if (!has_pcalg) {
    return(list(seconds = NA_real_, ended = FALSE))
  }
  setTimeLimit(elapsed = limit, transient = TRUE)
  on.exit(setTimeLimit())
  tryCatch(c(seconds_of(function() silently(call())), ended = TRUE), error = function(e) {
    if (!grepl("time limit", conditionMessage(e), fixed = TRUE)) {
      stop(e)
    }
    list(seconds = NA_real_, ended = FALSE)
  })
}

same <- function(ours, theirs) {
  bare <- function(sets) lapply(sets, function(row) lapply(row, function(set) if (!is.null(set)) as.integer(set)))
  identical(unname(ours@amat), unname(theirs@amat)) &&
    identical(bare(ours@sepset), bare(theirs@sepset)) &&
    isTRUE(all.equal(ours@n.edgetests, theirs@n.edgetests)) &&
    identical(ours@n.edgetestsPDSEP, theirs@n.edgetestsPDSEP)
}

# Prints a row: `search` by name, with further arguments.
compare <- function(what, stat, search, ..., alpha = 0.01) {
  p <- ncol(stat$C)
  ours <- timed(
    function() silently(getExportedValue("pcgpu", search)(stat, pcgpu::gaussCItest, alpha, p = p, ...)),
    repeats,
    enough = 60
  )
  theirs <- within_limit(function() {
    getExportedValue("pcalg", search)(list(C = stat$C, n = stat$n), pcalg::gaussCItest, alpha, p = p, ...)
  })
  details <- run_details(ours$value)
  record(
    "fci",
    what,
    ours$seconds,
    p = p,
    n = stat$n,
    alpha = alpha,
    device = "cpu",
    threads = threads,
    tests = sum(ours$value@n.edgetests),
    peer = if (has_pcalg) "pcalg",
    peer_seconds = if (theirs$ended) theirs$seconds,
    same = if (theirs$ended) {
      if (same(ours$value, theirs$value)) "yes" else "no"
    },
    note = if (has_pcalg && !theirs$ended) sprintf("peer: not in %g s", limit)
  )
  cat(row_text(
    what,
    if (is.na(theirs$seconds)) {
      if (has_pcalg) paste("not in", limit) else ""
    } else {
      number(theirs$seconds)
    },
    spread(ours$seconds),
    if (is.na(theirs$seconds)) {
      paste("over", number(limit / min(ours$seconds)))
    } else {
      number(theirs$seconds / min(ours$seconds))
    },
    number(sum(ours$value@n.edgetests)),
    number(sum(details$phase$tests)),
    sum(ours$value@amat > 0) / 2,
    if (theirs$ended) {
      if (same(ours$value, theirs$value)) "the same" else "DIFFERENT"
    } else {
      ""
    }
  ))
}

columns <- function() {
  cat(head_text(
    "search",
    "pcalg s (1 run)",
    "pcgpu s, min / median",
    "times faster (by min)",
    "tests of the skeleton",
    "of the phase",
    "edges",
    "answer"
  ))
}

peer <- function() {
  cat(sprintf(
    "\nRandom DAGs, n = %s, %s neighbours, a tenth of the variables hidden, alpha 0.01\n\n",
    number(n),
    number(neighbours)
  ))
  columns()
  for (p in c(40, 100, 200)) {
    compare(sprintf("rfci, p = %d", p), sample_of(p, n, neighbours), "rfci")
  }
  for (p in c(40, 100)) {
    compare(sprintf("fci, m.max = 2, p = %d", p), sample_of(p, n, neighbours), "fci", m.max = 2)
  }
  for (p in c(40, 100)) {
    compare(sprintf("fciPlus, p = %d", p), sample_of(p, n, neighbours), "fciPlus")
  }
  for (p in c(15, 25, 40)) {
    compare(sprintf("fci, p = %d", p), sample_of(p, n, neighbours), "fci")
  }
}

nci60 <- function() {
  x <- load_data("nci60")
  stat <- suff_gauss(x)
  cat(sprintf("\nNCI-60, %d variables, %d rows, alpha 0.01\n\n", ncol(x), nrow(x)))
  columns()
  compare("NCI-60, rfci", stat, "rfci")
  compare("NCI-60, fci, doPdsep = FALSE", stat, "fci", doPdsep = FALSE)
  for (most in c(10, 15)) {
    compare(sprintf("NCI-60, fci, pdsep.max = %d", most), stat, "fci", pdsep.max = most)
  }
  compare("NCI-60, fci, m.max = 1", stat, "fci", m.max = 1)
}

shapes <- function() {
  cat("\nShapes, alpha 0.01\n\n")
  cat(head_text("p", "n", "neighbours", "search", "s, min / median", "edges"))
  row <- function(p, n, neighbours, search, ...) {
    stat <- sample_of(p, n, neighbours)
    given <- list(...)
    found <- timed(
      function() silently(getExportedValue("pcgpu", search)(stat, gaussCItest, 0.01, p = p, ...)),
      repeats,
      enough = 60
    )
    shown <- paste(c(search, if (length(given)) paste(names(given), given, sep = " = ")), collapse = ", ")
    record(
      "fci",
      sprintf("%s, %g x %g, %g neighbours", shown, p, n, neighbours),
      found$seconds,
      p = p,
      n = n,
      alpha = 0.01,
      device = "cpu",
      threads = threads
    )
    cat(row_text(number(p), number(n), number(neighbours), shown, spread(found$seconds), sum(found$value@amat > 0) / 2))
  }
  for (search in c("fci", "rfci", "fciPlus")) {
    row(10, 30, 2, search)
  }
  for (search in c("rfci", "fciPlus")) {
    for (p in c(1000, 5000)) {
      row(p, 1000, 2, search)
    }
  }
  row(1000, 1000, 2, "fci", m.max = 2)
  row(5000, 1000, 1, "fci", m.max = 2)
  row(30, 1e6, 2, "fci", m.max = 3)
}

for (part in parts) {
  get(part, mode = "function")()
}
tell_origin("Rscript bench/fci.R")

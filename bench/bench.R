# Times pcgpu from a correlation matrix to a pcAlgo object, side by side with pcalg if that is installed. Compares every
# field of the two answers, and prints a Markdown table.
#
#   Rscript bench.R [DATA ...] [--alpha=0.01] [--method=stable.fast] [--threads=2]
#                   [--repeats=5] [--peer=auto|yes|no] [--peer-threads=1]
#                   [--m-max=Inf] [--cache=FOLDER] [--headline] [--peer-seconds=60] [--csv=FILE]
#
# DATA: names from data.R; without any, all but the dense ones. pcalg needs minutes on some of them (nci60 half a
# minute, mcc three, dream5 five, saureus twenty). --cache keeps its answers and times in a folder outside the project
# and uses them again; the table says so. --headline prints the table at the top of README.md instead: pc() of both
# packages, end to end, medians of the repeats, on nci60, mcc, dream5 and saureus unless DATA says otherwise. pcalg's
# calls on a data set end with the first after --peer-seconds; the table has their number. A GPU has a column of its own
# where there is one. PCGPU_BENCH_DATA names the folder of the real data (default ../shared/data).
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))
source(file.path(here, "compare.R"))
suppressPackageStartupMessages({
  library(methods)
  library(graph)
})

known <- c("alpha", "method", "threads", "repeats", "peer", "peer-threads", "m-max", "cache", "peer-seconds", "csv")
headline <- "--headline" %in% args
unknown <- grep(
  sprintf("^--(%s)=", paste(known, collapse = "|")),
  grep("^-", setdiff(args, "--headline"), value = TRUE),
  value = TRUE,
  invert = TRUE
)
chosen <- operands()
if (length(unknown)) {
  stop("unknown option ", unknown[1], call. = FALSE)
}
if (!length(chosen) && headline) {
  chosen <- c("nci60", "mcc", "dream5", "saureus")
}
if (!length(chosen)) {
  chosen <- grep("dense", names(bench_data), value = TRUE, invert = TRUE)
}
if (!all(chosen %in% names(bench_data))) {
  stop("DATA must be among: ", paste(names(bench_data), collapse = ", "), call. = FALSE)
}

run <- list(
  alpha = as.double(option("alpha", "0.01")),
  method = option("method", "stable.fast"),
  threads = as.integer(option("threads", "2")),
  repeats = as.integer(option("repeats", "5")),
  peer_threads = as.integer(option("peer-threads", "1")),
  m_max = as.double(option("m-max", "Inf")),
  peer_seconds = as.double(option("peer-seconds", "60"))
)
cache <- option("cache", "")
has_pcalg <- nzchar(system.file(package = "pcalg"))
with_peer <- switch(
  option("peer", "auto"),
  auto = has_pcalg,
  yes = TRUE,
  no = FALSE,
  stop("--peer must be auto, yes or no", call. = FALSE)
)
if (with_peer && !has_pcalg) {
  stop("--peer=yes, but pcalg is not installed", call. = FALSE)
}

work <- tempfile("bench")
dir.create(work)
saveRDS(run, file.path(work, "options.rds"))

# Runs worker.R and returns its answer, or NULL if it failed.
worker <- function(program, data) {
  answer <- tempfile(tmpdir = work)
  status <- system2(
    file.path(R.home("bin"), "Rscript"),
    c(shQuote(file.path(here, "worker.R")), program, data, shQuote(file.path(work, "options.rds")), shQuote(answer))
  )
  if (status == 0) readRDS(answer) else NULL
}

ask_peer <- function(data) {
  if (!nzchar(cache)) {
    return(worker("peer", data))
  }
  dir.create(cache, showWarnings = FALSE, recursive = TRUE)
  key <- sprintf(
    "%s-%s-%g-%g-t%d-pcalg%s.rds",
    data,
    run$method,
    run$alpha,
    run$m_max,
    run$peer_threads,
    utils::packageVersion("pcalg")
  )
  file <- file.path(cache, key)
  if (file.exists(file)) {
    answer <- readRDS(file)
    answer$cached <- TRUE
    return(answer)
  }
  answer <- worker("peer", data)
  if (!is.null(answer)) {
    saveRDS(answer, file)
  }
  answer
}

# Returns a row of results.csv.
record_of <- function(data, what, found, seconds, suite, device, peer_seconds = NULL, ...) {
  record(
    suite,
    paste0(data, what),
    seconds,
    p = found$p,
    n = found$n,
    alpha = run$alpha,
    method = run$method,
    device = device,
    gpus = if (device == "cuda") 1,
    threads = run$threads,
    peer = if (length(peer_seconds)) "pcalg",
    peer_seconds = peer_seconds,
    note = if (is.finite(run$m_max)) paste("m.max", run$m_max),
    ...
  )
}

row_of <- function(data) {
  mine <- worker("ours", data)
  if (is.null(mine)) {
    return(c(data, "pcgpu failed", rep("", length(columns) - 2)))
  }
  theirs <- if (with_peer) ask_peer(data)
  tests <- sum(mine$skel@n.edgetests)
  agree <- if (!is.null(theirs)) {
    if (differences(mine$skel, theirs$skel) == "" && differences(mine$fit, theirs$fit) == "") "yes" else "no"
  }
  for (step in c("pc", "skeleton", "orient")) {
    record_of(
      data,
      paste0(", ", step, "()"),
      mine,
      mine[[step]],
      "pc",
      "cpu",
      peer_seconds = theirs[[step]],
      tests = if (step != "orient") tests,
      same = agree
    )
  }
  peer_cells <- if (is.null(theirs)) {
    rep("", 5)
  } else {
    skel_differs <- differences(mine$skel, theirs$skel)
    fit_differs <- differences(mine$fit, theirs$fit)
    c(
      paste0(
        number(min(theirs$skeleton)),
        " + ",
        number(min(theirs$orient)),
        if (isTRUE(theirs$cached)) {
          format(theirs$when, " (of %Y-%m-%d)")
        } else {
          sprintf(" (%d run%s)", length(theirs$skeleton), if (length(theirs$skeleton) == 1) "" else "s")
        }
      ),
      number(theirs$pc / min(mine$pc)),
      number(theirs$pc / stats::median(mine$pc)),
      number(min(theirs$orient) / min(mine$orient)),
      if (skel_differs == "" && fit_differs == "") {
        "yes"
      } else {
        paste0("NO: skeleton (", skel_differs, ") cpdag (", fit_differs, ")")
      }
    )
  }
  c(
    data,
    sprintf("%d x %d", mine$p, mine$n),
    format(tests, big.mark = ",", trim = TRUE),
    format(edge_count(mine$skel)),
    spread(mine$pc),
    spread(mine$skeleton),
    spread(mine$orient),
    number(tests / min(mine$skeleton) / run$threads / 1e6),
    sprintf("%.2f", mine$memory),
    peer_cells
  )
}

of_runs <- function(seconds) {
  sprintf("%s s (%d run%s)", number(stats::median(seconds)), length(seconds), if (length(seconds) == 1L) "" else "s")
}

# Returns a row of README's table.
headline_row <- function(data) {
  cpu <- worker("cpu", data)
  gpu <- if (has_gpu) worker("cuda", data)
  theirs <- if (with_peer) worker("pcalg", data)
  if (is.null(cpu) || has_gpu && is.null(gpu) || with_peer && is.null(theirs)) {
    return(c(data, "failed"))
  }
  found <- c(if (has_gpu) differences(gpu$fit, cpu$fit), if (with_peer) differences(theirs$fit, cpu$fit))
  same <- if (length(found)) {
    if (all(found == "")) "yes" else "no"
  }
  record_of(
    data,
    "",
    cpu,
    cpu$pc,
    "headline",
    "cpu",
    peer_seconds = theirs$pc,
    tests = sum(cpu$fit@n.edgetests),
    same = same
  )
  if (has_gpu) {
    record_of(data, "", gpu, gpu$pc, "headline", "cuda", tests = sum(cpu$fit@n.edgetests), same = same)
  }
  c(
    data,
    sprintf("%d x %d", cpu$p, cpu$n),
    format(sum(cpu$fit@n.edgetests), big.mark = ",", trim = TRUE),
    of_runs(cpu$pc),
    if (has_gpu) of_runs(gpu$pc),
    if (with_peer) c(of_runs(theirs$pc), number(stats::median(theirs$pc) / stats::median(cpu$pc))),
    if (has_gpu && with_peer) number(stats::median(theirs$pc) / stats::median(gpu$pc)),
    if (all(found == "")) "yes" else paste0("NO: ", paste(found[found != ""], collapse = "; "))
  )
}

columns <- c(
  "data",
  "p x n",
  "CI tests",
  "edges",
  "pc() s, min / median",
  "skeleton s",
  "orientation s",
  "M tests/s/thread (skeleton)",
  "peak GiB",
  "pcalg s (skeleton + orientation)",
  "times faster (by min)",
  "(by median)",
  "orientation times faster",
  "same answer"
)
if (!with_peer) {
  columns <- columns[1:9]
}
if (headline) {
  cards <- pcgpu::pcgpu_devices()
  has_gpu <- nrow(cards) > 0L
  columns <- c(
    "data",
    "variables x samples",
    "tests",
    sprintf("pcgpu, %d threads", run$threads),
    if (has_gpu) paste("pcgpu,", cards$name[1L]),
    if (with_peer) c(sprintf("pcalg, %d thread%s", run$peer_threads, if (run$peer_threads == 1) "" else "s"), "ratio"),
    if (has_gpu && with_peer) "ratio, GPU",
    "same answer"
  )
}

tell_origin("bench.R")
cat(sprintf(
  "- alpha %g, %s, m.max %g, %d thread%s, %d repeats; pcalg: %s\n\n",
  run$alpha,
  run$method,
  run$m_max,
  run$threads,
  if (run$threads == 1) "" else "s",
  run$repeats,
  if (with_peer) {
    sprintf("%s, %d thread%s", utils::packageVersion("pcalg"), run$peer_threads, if (run$peer_threads == 1) "" else "s")
  } else {
    "not run"
  }
))
cat(head_text(columns))
wrong <- FALSE
for (data in chosen) {
  if (!is_available(data)) {
    message("skipped ", data, ": its file is not in ", bench_folder())
    next
  }
  cells <- if (headline) headline_row(data) else row_of(data)[seq_along(columns)]
  cat(row_text(cells))
  wrong <- wrong || any(grepl("^NO:|failed", cells))
}
if (wrong) {
  quit(status = 1)
}

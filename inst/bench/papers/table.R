# Makes inst/bench/PAPERS.md of what run.sh wrote: Rscript table.R OUT > PAPERS.md. A row for each published number; theirs on our card is their mapping of tests to
# threads in pcgpu's kernels (`strategy` of cuda_device()). What was not measured stays empty.
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(dirname(here), "program.R"))
out <- args[1L]

# Why a published row has no measurement here.
missing_data <- c(
  br51 = "its data cannot be had", scerevisiae = "its data cannot be had",
  dream5 = "on a surrogate: its data cannot be had (`dream5_surrogate.csv.gz`, 805 samples)"
)

# Seconds of a run's repeats after the first, from its log: all of them for discrete_cuda, minimum and median for search_times. NULL: it did not end.
seconds_in <- function(paper, name) {
  file <- file.path(out, paper, paste0(gsub("[:,]", "_", name), ".log"))
  if (!file.exists(file)) return(NULL)
  lines <- readLines(file, warn = FALSE)
  search <- grep("^pcgpu,", lines, value = TRUE)
  if (length(search)) {
    found <- as.double(rev(strsplit(search[1L], ",")[[1L]])[c(3L, 2L)])
    return(c(minimum = found[1L], median = found[2L]))
  }
  times <- grep("ms, levels began at", lines, value = TRUE)
  seconds <- as.double(sub("^ *([0-9.]+) ms.*", "\\1", times))[-1L] / 1000
  if (!length(seconds)) return(NULL)
  c(minimum = min(seconds), median = stats::median(seconds))
}
shown <- function(seconds) if (is.null(seconds)) "" else paste(number(seconds[["minimum"]]), "/", number(seconds[["median"]]))
times <- function(a, b) if (is.null(a) || is.null(b)) "" else number(a[["median"]] / b[["median"]])

cat("# The papers' experiments\n\n")
cat("Seconds, minimum / median of the repeats after a first run. Theirs here: their mapping of tests to threads on our card, by pcgpu's kernels. Memory bandwidth of the papers'\n",
    "cards: GTX 1080 320 GB/s, V100 900 GB/s, A40 696 GB/s; ratios beside published numbers are across cards.\n\n",
    "What these ratios are not: theirs here is no run of the authors' programs. Our kernels of their mappings answer with pcalg's separating sets and counts, of both sides of a pair, which theirs\n",
    "need not, and where a row says \"slower here than published\" this, or our making of it, costs more than a newer card gains: there the published number is the fairer one. It was not looked into.\n",
    "Runs compare times; that all strategies give one answer is what tests/core/papers_cuda.rs and its like are for.\n\n", sep = "")
for (file in c("machine", "version")) cat("- ", file, ": ", paste(readLines(file.path(out, file)), collapse = "; "), "\n", sep = "")
cat("- command: `run.sh` of `make papers`\n")

published <- utils::read.csv(file.path(here, "published.csv"), colClasses = c(seconds = "double"))
for (paper in unique(published$paper)) {
  for (item in unique(published$item[published$paper == paper])) {
    cat(sprintf("\n## %s, %s\n\n", paper, item))
    cat(head_text("data", "program", "published, s (card)", "theirs here, s", "ours, s", "published / ours", "theirs here / ours", "remark"))
    rows <- published[published$paper == paper & published$item == item, ]
    for (i in seq_len(nrow(rows))) {
      row <- rows[i, ]
      # `runs` names the paper and the item whose runs these are: some papers repeat another's.
      of <- strsplit(row$runs, "/", fixed = TRUE)[[1L]]
      measured <- function(strategy) seconds_in(of[1L], paste(of[2L], row$data, strategy, sep = "--"))
      theirs <- measured(row$strategy)
      ours <- measured("shared")
      remark <- if (row$data %in% names(missing_data)) {
        missing_data[[row$data]]
      } else if (is.null(theirs)) {
        "not measured"
      } else if (theirs[["median"]] > row$seconds) {
        "slower here than published"
      } else {
        ""
      }
      comparable <- !is.null(ours) && !row$data %in% names(missing_data)
      cat(row_text(
        row$data, row$what, sprintf("%s (%s)", format(row$seconds, big.mark = ","), row$hardware), shown(theirs), shown(ours),
        if (comparable) number(row$seconds / ours[["median"]]) else "", times(theirs, ours), remark
      ))
    }
  }
}

# Sweeps, whose numbers the papers show in figures or as ratios: a row a run, beside ours of the same problem and item.
sweeps <- list.files(file.path(out, c("cupc", "gpupc", "dissertation")), "--.*[.]log$", full.names = TRUE)
taken <- paste(published$runs, published$strategy)
cat("\n## Sweeps\n\n")
cat(head_text("paper, table or figure", "problem", "strategy", "s", "s / ours"))
for (file in sweeps) {
  paper <- basename(dirname(file))
  parts <- strsplit(sub("[.]log$", "", gsub("_", ":", basename(file), fixed = TRUE)), "--", fixed = TRUE)[[1L]]
  run <- paste(paper, parts[1L], sep = "/")
  if (length(parts) != 3L || paste(run, parts[3L]) %in% taken || (parts[3L] == "shared" && run %in% published$runs)) next
  found <- seconds_in(paper, paste(parts, collapse = "--"))
  if (is.null(found)) next
  ours <- seconds_in(paper, paste(parts[1L], parts[2L], "shared", sep = "--"))
  cat(row_text(paste(paper, parts[1L]), parts[2L], parts[3L], shown(found), times(found, ours)))
}

for (paper in c("cmiknn", "cuda-jmi")) {
  logs <- list.files(file.path(out, paper), "[.]log$", full.names = TRUE)
  if (!length(logs)) next
  cat(sprintf("\n## %s, as its program prints it\n\n```\n", paper))
  for (file in logs) writeLines(readLines(file, warn = FALSE))
  cat("```\n")
}
if (file.exists(file.path(out, "left-out"))) {
  cat("\n## Left out\n\nRuns that were not begun, or did not end, in the time that was given: number by paper and item.\n\n")
  left <- table(sub("^([^/]*)/(.*?)--.*$", "\\1, \\2", readLines(file.path(out, "left-out")), perl = TRUE))
  writeLines(sprintf("- %s: %d", names(left), left))
}

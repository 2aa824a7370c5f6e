# Runs tests/testthat against the installed package, one file at a time in each of several processes. There is one
# process more than cores, as some tests wait for others, but at most four. Files whose tests use a GPU run one after
# the other in one process, as each fills the GPU. Prints the line that tools/test reads; a test is one test_that()
# block.
#
#   Rscript tools/run-testthat.R [--only=FILE,...] [FILE ...]
#
# FILE: the name of a test file, such as plot_cpdag. --only: the files to run; others are left out. Names without it are
# those of files to leave out.
arguments <- commandArgs(trailingOnly = TRUE)
is_only <- startsWith(arguments, "--only=")
only <- unlist(strsplit(sub("--only=", "", arguments[is_only], fixed = TRUE), ","))
left_out <- arguments[!is_only]
Sys.setenv(NOT_CRAN = "true")
began <- Sys.time()

# The longest files go first, or the others would wait for them at the end.
long <- c(
  "compact",
  "memory",
  "class",
  "cluster",
  "cluster-lost",
  "own-p-values",
  "checkpoint",
  "fci-limits",
  "plot_cpdag",
  "causal_effects"
)
files <- sub("^test-(.*)\\.R$", "\\1", list.files("tests/testthat", "^test-.*\\.R$"))
unknown <- setdiff(c(only, left_out), files)
if (length(unknown)) {
  stop("no such test file: ", toString(unknown), call. = FALSE)
}
if (any(is_only)) {
  files <- intersect(files, only)
}
files <- setdiff(c(intersect(long, files), setdiff(files, long)), left_out)

# Returns the results of one file, and what the reporter wrote about anything that did not pass.
run <- function(file) {
  options(cli.num_colors = 1L)
  report <- tempfile()
  on.exit(unlink(report))
  result <- as.data.frame(testthat::test_dir(
    "tests/testthat",
    package = "pcgpu",
    load_package = "installed",
    filter = paste0("^", file, "$"),
    reporter = testthat::SummaryReporter$new(file = report, show_praise = FALSE, omit_dots = TRUE, max_reports = 100L),
    stop_on_failure = FALSE
  ))
  cat(sprintf("%s: %.1f s\n", file, sum(result$real)))
  list(result = result[c("file", "test", "nb", "failed", "skipped", "error", "real")], report = readLines(report))
}

uses_gpu <- function(file) {
  any(grepl("skip_without_gpu()", readLines(sprintf("tests/testthat/test-%s.R", file)), fixed = TRUE))
}
together <- if (identical(Sys.getenv("PCGPU_TEST_CUDA"), "1")) Filter(uses_gpu, files) else character()
turns <- c(if (length(together)) list(together), as.list(setdiff(files, together)))
processes <- min(4L, parallel::detectCores() + 1L)
cluster <- parallel::makePSOCKcluster(processes, outfile = "")
parallel::clusterCall(cluster, setwd, getwd())
all <- unlist(parallel::clusterApplyLB(cluster, turns, lapply, run), recursive = FALSE)
parallel::stopCluster(cluster)
are_shown <- vapply(
  all,
  function(one) any(one$result$failed > 0, one$result$skipped, one$result$error) || length(one$report) > 4L,
  NA
)
for (one in all[are_shown]) {
  writeLines(one$report)
}
result <- do.call(rbind, lapply(all, `[[`, "result"))
failed <- result$failed > 0 | result$error
skipped <- !failed & result$skipped
cat(sprintf(
  "\n%d passed, %d failed, %d skipped, by %d processes in %.0f s\n",
  sum(!failed & !skipped),
  sum(failed),
  sum(skipped),
  processes,
  as.numeric(Sys.time() - began, units = "secs")
))
slow <- utils::head(result[order(-result$real), c("file", "test", "real")], 5)
cat("slowest:", sprintf("  %5.1f s  %s: %s", slow$real, slow$file, slow$test), sep = "\n")
if (any(failed)) {
  # tools/test repeats these lines at its end.
  cat(sprintf("failed test: %s: %s", result$file, result$test)[failed], sep = "\n")
  quit(status = 1)
}

# Runs tests/testthat against the installed package. Ends with the line that
# tools/test reads; a test is one test_that() block. An argument is the name of
# a test file to leave out: plot_cpdag.
left_out <- commandArgs(trailingOnly = TRUE)
options(cli.num_colors = 1L)
Sys.setenv(NOT_CRAN = "true")
result <- as.data.frame(testthat::test_dir(
  "tests/testthat",
  package = "pcgpu", load_package = "installed",
  filter = if (length(left_out)) paste0("^(", paste(left_out, collapse = "|"), ")$"), invert = length(left_out) > 0L,
  reporter = testthat::SummaryReporter$new(max_reports = 100L),
  stop_on_failure = FALSE
))
failed <- result$failed > 0 | result$error
skipped <- !failed & result$skipped
cat(sprintf("\n%d passed, %d failed, %d skipped\n",
            sum(!failed & !skipped), sum(failed), sum(skipped)))
slow <- utils::head(result[order(-result$real), c("file", "test", "real")], 5)
cat("slowest:", sprintf("  %5.1f s  %s: %s", slow$real, slow$file, slow$test), sep = "\n")
if (any(failed)) quit(status = 1)

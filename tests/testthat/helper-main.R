# Runs the command line in this process: list(code, out, err).
ran <- function(...) {
  err <- utils::capture.output(out <- utils::capture.output(code <- main(c(...))), type = "message")
  list(code = code, out = out, err = paste(err, collapse = "\n"))
}

# Expects that a command line succeeds and writes nothing to stdout.
expect_ran <- function(...) {
  result <- ran(...)
  expect_identical(result$code, 0L, info = result$err)
  expect_identical(result$out, character())
  invisible(result)
}

expect_refused <- function(said, ..., code = 2L) {
  result <- ran(...)
  expect_identical(result[c("code", "out")], list(code = code, out = character()), info = result$err)
  expect_match(result$err, said, fixed = TRUE)
}

sachs <- system.file("extdata", "sachs.csv", package = "pcgpu")
patients <- system.file("extdata", "acc-patients.csv", package = "pcgpu")

# Returns the path of a new file, after writing these lines to it.
lines_in <- function(lines, end = ".csv") {
  file <- tempfile(fileext = end)
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
  file
}

quiet <- function(code) suppressMessages(suppressWarnings(code))
fit_of_sachs <- function(...) quiet(pc(utils::read.csv(sachs), alpha = 0.01, numCores = 2, ...))

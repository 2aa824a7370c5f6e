# Runs lines of R in a process of its own, with these library paths; returns what it writes.
in_new_session <- function(lines, library_paths = .libPaths()) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(library_paths), collapse = "")), lines), file)
  environment <- c(paste0("R_LIBS=", paste(library_paths, collapse = .Platform$path.sep)), "R_TESTS=")
  suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"),
    c("--vanilla", shQuote(file)),
    stdout = TRUE,
    stderr = TRUE,
    env = environment
  ))
}

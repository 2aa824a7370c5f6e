# Skips unless PCGPU_TEST_CUDA is 1. If it is 1, a machine without a GPU fails the test.
skip_without_gpu <- function() {
  if (!identical(Sys.getenv("PCGPU_TEST_CUDA"), "1")) {
    skip("PCGPU_TEST_CUDA is not 1: no test on a GPU")
  }
  devices <- pcgpu_devices()
  if (nrow(devices) == 0L) {
    stop("PCGPU_TEST_CUDA is 1, and there is no GPU: ", attr(devices, "reason"), call. = FALSE)
  }
}

skip_with_gpu <- function() {
  if (nrow(pcgpu_devices()) > 0L) {
    skip("this machine has a GPU")
  }
}

# Expects that two results of one call on two devices are identical, except pMax, which agrees to 1e-9.
expect_same_answer <- function(ours, theirs, info = NULL) {
  expect_identical(ours@graph, theirs@graph, info = info)
  expect_identical(ours@sepset, theirs@sepset, info = info)
  expect_identical(ours@n.edgetests, theirs@n.edgetests, info = info)
  expect_identical(ours@max.ord, theirs@max.ord, info = info)
  expect_equal(ours@pMax, theirs@pMax, tolerance = 1e-9, info = info)
}

# Runs R code, given as text, in a fresh R process. Returns at once; `result()` waits for what it printed.
in_fresh_r <- function(code) {
  script <- tempfile(fileext = ".R")
  printed <- tempfile()
  writeLines(code, script)
  file.create(printed)
  system2(
    file.path(R.home("bin"), "Rscript"),
    c("--vanilla", shQuote(script)),
    stdout = printed,
    stderr = printed,
    wait = FALSE,
    env = paste0("R_LIBS=", shQuote(paste(.libPaths(), collapse = .Platform$path.sep)))
  )
  list(result = function(seconds = 60) {
    for (i in seq_len(seconds * 10)) {
      lines <- readLines(printed, warn = FALSE)
      if (any(grepl("^(done|Error|Execution halted)", lines))) {
        break
      }
      Sys.sleep(0.1)
    }
    lines
  })
}

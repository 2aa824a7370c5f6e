# Compares recorded calls of these kinds, of all three functions, and returns how many were compared. The core's tests
# (fci_golden.rs) make all of them; here it is every third, and those that end in an error.
expect_recorded_calls <- function(kinds, ...) {
  compared <- 0
  turn <- 0
  for (name in fci_names(kinds)) {
    golden <- read_golden(name)
    test <- fci_arguments(golden)
    for (of in c("fci", "rfci", "fciPlus")) {
      for (variant in names(golden[[of]])) {
        turn <- turn + 1
        if (turn %% 3 != 0 && !startsWith(variant, "err_")) {
          next
        }
        answer <- golden[[of]][[variant]]
        info <- paste(name, of, variant)
        run <- function() run_recorded(golden, of, answer, ..., test = test)
        if (is.null(answer$error)) {
          expect_identical(fci_differences(run(), golden, answer), character(), info = info)
        } else {
          e <- expect_error(run(), class = "pcgpu_error", info = info)
          if (startsWith(variant, "err_")) expect_match(conditionMessage(e), answer$error, fixed = TRUE, info = info)
        }
        compared <- compared + 1
      }
    }
  }
  compared
}

test_that("Gaussian searches have pcalg's recorded answers", {
  expect_gt(expect_recorded_calls(c("gauss", "pop"), numCores = 2), 200)
})

test_that("discrete searches have pcalg's recorded answers", {
  expect_gt(expect_recorded_calls("dis", numCores = 2), 23)
})

test_that("searches by an R function have pcalg's recorded answers", {
  expect_gt(expect_recorded_calls("dsep"), 133)
})

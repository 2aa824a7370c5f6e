with_settings <- function(code, option = NULL, variable = NA, limit = NA) {
  old_option <- options(pcgpu.threads = option)
  names <- c("PCGPU_NUM_THREADS", "_R_CHECK_LIMIT_CORES_")
  old <- Sys.getenv(names, unset = NA)
  restore <- function(values) {
    for (name in names) {
      value <- values[[name]]
      if (is.na(value)) Sys.unsetenv(name) else do.call(Sys.setenv, stats::setNames(list(value), name))
    }
  }
  on.exit({
    options(old_option)
    restore(old)
  })
  restore(stats::setNames(c(variable, limit), names))
  code
}

test_that("the argument comes before the option, the option before the variable, and that before all cores", {
  cores <- pcgpu:::rust_info()$cores
  threads <- pcgpu:::resolve_threads
  expect_identical(with_settings(threads(3), option = 5, variable = "7"), 3L)
  expect_identical(with_settings(threads(), option = 5, variable = "7"), 5L)
  expect_identical(with_settings(threads(), variable = "7"), 7L)
  expect_identical(with_settings(threads()), as.integer(cores))
  expect_identical(with_settings(threads(), limit = "TRUE"), min(as.integer(cores), 2L))
  expect_identical(with_settings(threads(), limit = "false"), as.integer(cores))
  expect_identical(threads(2.7), 2L)
  expect_identical(threads(0.5), 1L)
})

test_that("settings that make no sense are errors that name them", {
  threads <- pcgpu:::resolve_threads
  e <- expect_error(with_settings(threads(), option = "many"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "options(pcgpu.threads)")
  for (variable in c("many", "0", "-1")) {
    e <- expect_error(with_settings(threads(), variable = variable), class = "pcgpu_error_argument")
    expect_identical(e$argument, "PCGPU_NUM_THREADS")
  }
})

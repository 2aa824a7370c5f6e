# Rust returns list(error = list(class = "interrupt")) when Ctrl-C was pressed.
test_that("an interrupt can be caught, by its class and as a calling condition", {
  stopped <- list(error = list(class = "interrupt", message = ""))
  expect_identical(tryCatch(pcgpu:::check_rust(stopped), interrupt = function(i) "stopped"), "stopped")
})

test_that("Ctrl-C stops a native search within half a second, and the next call works", {
  skip_on_os("windows")
  s <- endless_data()
  for (method in c("stable", "stable.fast", "original")) {
    stopped <- press_in_time(function() endless(s, method))
    expect_identical(stopped$outcome, "stopped", info = method)
    expect_lt(stopped$took, 0.5)
    expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8), "pcAlgo")
  }
})

test_that("Ctrl-C stops the orientation of a dense graph", {
  skip_on_os("windows")
  # Nearly all pairs are edges, and Meek's rules have something to say about each.
  set.seed(1)
  s <- suff_gauss(matrix(rnorm(50 * 3000), 50) + rnorm(50), device = "cpu")
  skel <- skeleton(s, gaussCItest, 0.01, p = 3000, m.max = 0, result = "compact", device = "cpu")
  stopped <- press_in_time(function() orient(skel), delay = 0.1)
  expect_identical(stopped$outcome, "stopped")
  expect_lt(stopped$took, 0.5)
})

test_that("Ctrl-C stops a selection, and a search around one variable", {
  skip_on_os("windows")
  # Nearly all columns are related given any others.
  set.seed(1)
  x <- matrix(rnorm(60 * 3000), 60) + rnorm(60)
  for (work in list(
    function() pcSelect(x[, 1], x[, -1], 0.9),
    function() pcSelect(x[, 1], x[, -1], 0.9, stable = TRUE),
    function() local_pc(x, 1, 0.9)
  )) {
    stopped <- press_in_time(work)
    expect_identical(stopped$outcome, "stopped")
    expect_lt(stopped$took, 0.5)
  }
})

test_that("Ctrl-C stops a long kernel test", {
  skip_on_os("windows")
  s <- suff_kernel(random_data(random_dag(6, 2, seed = 1), 20000, kind = "nonlinear", seed = 1), seed = 1)
  stopped <- press(function() kciCItest(1, 2, 3:5, s), 0.5)
  expect_identical(stopped$outcome, "stopped")
})

test_that("Ctrl-C in a test that is an R function stops too", {
  skip_on_os("windows")
  napping <- function(x, y, S, suffStat) {
    Sys.sleep(0.02)
    0
  }
  stopped <- press_in_time(function() pc(NULL, napping, 0.05, p = 20))
  expect_identical(stopped$outcome, "stopped")
  expect_lt(stopped$took, 0.5)
})

test_that("a time limit is R's own error, and the next call works", {
  s <- endless_data()
  said <- tryCatch(
    {
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      endless(s)
    },
    error = conditionMessage,
    finally = setTimeLimit()
  )
  expect_match(said, "time limit")
  expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8), "pcAlgo")
})

test_that("a late stop counts by processor time on a busy machine, and by the clock if nothing runs", {
  expect_identical(seconds_of_work(0.3, 0.6), 0.3)
  # The process got a fifth of the time.
  expect_identical(seconds_of_work(2, 0.4), 0.2)
  # Two threads continued, or slept.
  expect_identical(seconds_of_work(2, 4), 2)
  expect_identical(seconds_of_work(20, 0), 1)
  expect_identical(seconds_of_work(2, NA), 2)
})

# Rust returns list(error = list(class = "interrupt")) when Ctrl-C was pressed.
test_that("an interrupt can be caught, by its class and as a calling condition", {
  stopped <- list(error = list(class = "interrupt", message = ""))
  expect_identical(tryCatch(pcgpu:::check_rust(stopped), interrupt = function(i) "stopped"), "stopped")
})

test_that("Ctrl-C stops a native search within half a second, and the next call works", {
  skip_on_os("windows")
  s <- suff(p = 60, n = 100000, degree = 45)
  slow <- function() pc(s, gaussCItest, 0.9, p = 60, numCores = 2)
  # The child process presses Ctrl-C half a second into the search.
  started <- Sys.time()
  me <- Sys.getpid()
  system(sprintf("sh -c 'sleep 0.5; kill -INT %d' &", me))
  outcome <- tryCatch(
    {
      slow()
      "finished"
    },
    interrupt = function(i) "stopped"
  )
  took <- as.numeric(difftime(Sys.time(), started, units = "secs"))
  expect_identical(outcome, "stopped")
  expect_lt(took, 1.5)
  expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8), "pcAlgo")
})

test_that("Ctrl-C in a test that is an R function stops too", {
  skip_on_os("windows")
  napping <- function(x, y, S, suffStat) {
    Sys.sleep(0.02)
    0
  }
  system(sprintf("sh -c 'sleep 0.5; kill -INT %d' &", Sys.getpid()))
  expect_identical(
    tryCatch(pc(NULL, napping, 0.05, p = 20), interrupt = function(i) "stopped"), "stopped"
  )
})

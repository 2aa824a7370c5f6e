test_that("pcgpu's and pcalg's gaussCItest are native, other functions are not", {
  s <- suff()
  expect_identical(pcgpu:::ci_test(gaussCItest, s, as.character(1:8))$kind, "gauss")
  wrapped <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  expect_identical(pcgpu:::ci_test(wrapped, s, as.character(1:8))$kind, "function")
})

test_that("pcalg's gaussCItest is native", {
  skip_without_pcalgs_class()
  expect_identical(pcgpu:::ci_test(pcalg::gaussCItest, suff(), as.character(1:8))$kind, "gauss")
})

test_that("the discrete tests are native, pcgpu's and pcalg's", {
  s <- list(dm = cbind(c(0, 1, 1), c(0, 1, 0)))
  kind <- function(test) pcgpu:::ci_test(test, s, c("1", "2"))[c("kind", "statistic", "rule")]
  expect_identical(kind(disCItest), list(kind = "discrete", statistic = "G2", rule = "pcalg"))
  expect_identical(kind(binCItest), kind(disCItest))
  expect_identical(kind(chi2CItest), list(kind = "discrete", statistic = "X2", rule = "bnlearn"))
  expect_identical(pcgpu:::ci_test(function(x, y, S, suffStat) 1, s, c("1", "2"))$kind, "function")
  skip_without_pcalgs_class()
  expect_identical(kind(pcalg::disCItest), kind(disCItest))
  expect_identical(kind(pcalg::binCItest), kind(binCItest))
})

test_that("the nearest-neighbour tests are native", {
  s <- suff_knn(cbind(c(0.1, 1, 3), c(0, 1, 0.5)), k = 1, k_perm = 1)
  kind <- function(test) pcgpu:::ci_test(test, s, c("1", "2"))[c("kind", "estimator")]
  expect_identical(kind(cmiKnnCItest), list(kind = "knn", estimator = "frenzel-pompe"))
  expect_identical(kind(mixedCItest), list(kind = "knn", estimator = "mesner-shalizi"))
})

failing_at <- function(fail) {
  function(x, y, S, suffStat) {
    if (x == 3 && y == 5 && length(S) == 1) {
      fail()
    }
    0
  }
}

test_that("an error in the test names the test, and keeps the original", {
  e <- expect_error(pc(NULL, failing_at(function() stop("100 % wrong")), 0.05, p = 5), class = "pcgpu_error_test")
  expect_identical(c(e$x, e$y, e$S), c(3L, 5L, 1L))
  expect_match(conditionMessage(e), "indepTest(x = 3, y = 5, S = {1}) failed: 100 % wrong", fixed = TRUE)
  expect_identical(conditionMessage(e$parent), "100 % wrong")
  expect_s3_class(e, "pcgpu_error")
  expect_identical(as.list(conditionCall(e))[[1]], quote(pc))
})

test_that("the original's class and fields can still be caught", {
  condition <- structure(class = c("my_error", "error", "condition"), list(message = "m", call = NULL, k = 7))
  own <- function() stop(condition)
  e <- tryCatch(pc(NULL, failing_at(own), 0.05, p = 5), my_error = function(e) e)
  expect_identical(e$k, 7)
  expect_identical(e$x, 3L)
})

test_that("the next call works after an error", {
  s <- suff()
  before <- pc(s, gaussCItest, 0.05, p = 8)
  expect_error(pc(NULL, failing_at(function() stop("no")), 0.05, p = 5))
  expect_identical(pc(s, gaussCItest, 0.05, p = 8), before)
})

test_that("a value that is no p-value is an error, NA is not", {
  returning <- function(value) function(x, y, S, suffStat) value
  for (value in list("a", c(0.1, 0.2), numeric(0), NULL, list(1))) {
    expect_error(pc(NULL, returning(value), 0.05, p = 3), "must return one number", class = "pcgpu_error_test")
  }
  expect_equal(sum(amat(skeleton(NULL, returning(NA), 0.05, p = 3))), 0)
  expect_equal(sum(amat(skeleton(NULL, returning(NA), 0.05, p = 3, NAdelete = FALSE))), 6)
  expect_equal(sum(amat(skeleton(NULL, returning(TRUE), 0.05, p = 3))), 0)
})

test_that("warnings and messages of the test come through", {
  warning_test <- function(x, y, S, suffStat) {
    warning("few rows")
    1
  }
  expect_identical(unique(capture_warnings(skeleton(NULL, warning_test, 0.05, p = 3))), "few rows")
  talking <- function(x, y, S, suffStat) {
    message("hello")
    1
  }
  expect_message(skeleton(NULL, talking, 0.05, p = 2), "hello")
})

test_that("a jump out of the test reaches its target", {
  caught <- tryCatch(skeleton(NULL, function(x, y, S, suffStat) warning("out"), 0.05, p = 3), warning = function(w) {
    conditionMessage(w)
  })
  expect_identical(caught, "out")
  expect_identical(
    withRestarts(skeleton(NULL, function(x, y, S, suffStat) invokeRestart("away", 5), 0.05, p = 3), away = identity),
    5
  )
})

test_that("the test gets whole numbers and pcalg's arguments", {
  seen <- NULL
  test <- function(x, y, S, suffStat) {
    seen <<- list(x, y, S, suffStat)
    0
  }
  skeleton("anything", test, 0.05, p = 3, method = "stable")
  expect_identical(seen, list(3L, 2L, 1L, "anything"))
})

test_that("a function whose values are no p-values gives one message", {
  statistic <- function(value) function(x, y, S, suffStat) value
  for (value in list(-3, 1.01, 17L, -Inf, as.difftime(2, units = "secs"))) {
    said <- 0
    withCallingHandlers(skeleton(NULL, statistic(value), 0.05, p = 4), pcgpu_warning_p_value = function(w) {
      said <<- said + 1
      expect_identical(c(w$x, w$y, w$S), 1:2)
      expect_identical(w$value, as.double(value))
      tryInvokeRestart("muffleWarning")
    })
    expect_identical(said, 1)
  }
  for (value in list(0, 1, TRUE, 1 + 1e-12, "0.5")) {
    expect_no_warning(skeleton(NULL, statistic(value), 0.05, p = 4))
  }
  # Of many searches, too.
  x <- random_data(random_dag(4, 2, seed = 1), 50, seed = 1)
  said <- 0
  count <- function(call) {
    said <<- 0
    withCallingHandlers(call, pcgpu_warning_p_value = function(w) {
      said <<- said + 1
      tryInvokeRestart("muffleWarning")
    })
    said
  }
  expect_identical(count(stability(x, statistic(-1), 0.05, replicates = 5)), 1)
  expect_identical(count(markov_check(random_dag(4, 2, seed = 1), x, statistic(-1), suffStat = identity)), 1)
})

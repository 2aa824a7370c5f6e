test_that("the skeleton, separating sets, counts and pMax are pcalg's on every recorded Gaussian case", {
  for (name in golden_names("gauss")) {
    golden <- read_golden(name)
    arguments <- golden_arguments(golden)
    for (method in names(golden$skeleton)) {
      if (!is.null(golden$skeleton[[method]]$error)) {
        expect_error(do.call(skeleton, c(arguments, method = method)), class = "pcgpu_error_numeric", info = name)
        next
      }
      for (threads in c(1, 2, 4)) {
        fit <- do.call(skeleton, c(arguments, method = method, numCores = threads))
        expect_skeleton(fit, golden, method, paste(name, method, "on", threads, "threads"))
      }
    }
  }
})

test_that("an oracle written in R gives pcalg's skeleton, tests in pcalg's order and number", {
  for (name in golden_names("dsep")) {
    golden <- read_golden(name)
    for (method in names(golden$skeleton)) {
      for (threads in c(1, 2, 4)) {
        fit <- do.call(skeleton, c(golden_arguments(golden), method = method, numCores = threads))
        expect_skeleton(fit, golden, method, paste(name, method))
      }
    }
  }
})

test_that("the native test and the same test as an R function agree, one call a counted test", {
  s <- suff(p = 10, n = 100, degree = 4)
  for (method in c("stable", "stable.fast", "original")) {
    calls <- 0
    counted <- function(x, y, S, suffStat) {
      calls <<- calls + 1
      gaussCItest(x, y, S, suffStat)
    }
    native <- skeleton(s, gaussCItest, 0.05, p = 10, method = method)
    as_function <- skeleton(s, counted, 0.05, p = 10, method = method)
    expect_equal(calls, sum(native@n.edgetests), info = method)
    expect_identical(as_function@graph, native@graph, info = method)
    expect_identical(as_function@sepset, native@sepset, info = method)
    expect_equal(as_function@pMax, native@pMax, tolerance = 1e-9, info = method)
  }
})

test_that("permuted columns give the permuted skeleton", {
  s <- suff(p = 20, n = 150, degree = 3)
  set.seed(3)
  order <- sample(20)
  shuffled <- list(C = s$C[order, order], n = s$n)
  plain <- amat(skeleton(s, gaussCItest, 0.05, p = 20))
  expect_identical(amat(skeleton(shuffled, gaussCItest, 0.05, p = 20)), plain[order, order])
  expect_gt(sum(plain), 0)
})

test_that("the result has pcalg's slots, and the user's call", {
  s <- suff()
  fit <- skeleton(s, gaussCItest, alpha = 0.05, p = 8, m.max = 1)
  expect_true(validObject(fit))
  expect_identical(
    sort(slotNames(fit)), sort(c("graph", "zMin", "call", "n", "max.ord", "n.edgetests", "sepset", "pMax"))
  )
  expect_identical(fit@call, quote(skeleton(suffStat = s, indepTest = gaussCItest, alpha = 0.05, p = 8, m.max = 1)))
  expect_identical(fit@n, integer(0))
  expect_identical(fit@zMin, matrix(NA, 1, 1))
  expect_identical(fit@max.ord, 1L)
  expect_identical(graph::nodes(fit@graph), as.character(1:8))
})

test_that("a negative m.max makes no test, as in pcalg's R code", {
  fit <- skeleton(suff(), gaussCItest, alpha = 0.05, p = 8, m.max = -1)
  expect_identical(fit@max.ord, -1L)
  expect_equal(fit@n.edgetests, 0)
  expect_equal(sum(amat(fit)), 56)
})

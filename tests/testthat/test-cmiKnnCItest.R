test_that("one p-value: alone, in a search, by name, either way round, on any number of threads", {
  set.seed(1)
  x <- simulate_nonlinear(120, size = 2)
  colnames(x) <- letters[1:4]
  s <- suff_knn(x, permutations = 60)
  p <- cmiKnnCItest(1, 2, c(3, 4), s)
  expect_identical(cmiKnnCItest("b", "a", c("d", "c"), s), p)
  withr_threads <- options(pcgpu.threads = 1)
  on.exit(options(withr_threads))
  expect_identical(cmiKnnCItest(1, 2, c(4, 3), s), p)
  by_hand <- function(x, y, S, suffStat) cmiKnnCItest(x, y, S, suffStat)
  for (method in c("stable", "stable.fast", "original")) {
    native <- skeleton(s, cmiKnnCItest, 0.2, labels = letters[1:4], method = method, numCores = 2)
    asked <- skeleton(s, by_hand, 0.2, labels = letters[1:4], method = method)
    expect_identical(native@pMax, asked@pMax, info = method)
    expect_identical(native@sepset, asked@sepset, info = method)
    expect_identical(native@n.edgetests, asked@n.edgetests, info = method)
  }
})

test_that("set.seed() repeats a run", {
  x <- simulate_nonlinear(80)
  run <- function(seed) {
    set.seed(seed)
    pc(suff_knn(x, permutations = 50), cmiKnnCItest, 0.1, p = 3, numCores = 2)@pMax
  }
  expect_identical(run(1), run(1))
  expect_false(identical(run(1), run(2)))
})

test_that("both forms of p, and the early stop", {
  set.seed(2)
  x <- simulate_nonlinear(60, link = 2)
  p <- function(...) cmiKnnCItest(1, 2, 3, suff_knn(x, permutations = 99, seed = 1, ...))
  expect_identical(p(), 0)
  expect_identical(p(add_one = TRUE), 0.01)
  independent <- simulate_nonlinear(60)
  stop_at <- c(alpha = 0.05, error = 0)
  for (seed in 1:5) {
    full <- cmiKnnCItest(1, 2, 3, suff_knn(independent, seed = seed))
    early <- cmiKnnCItest(1, 2, 3, suff_knn(independent, seed = seed, early_stop = stop_at))
    expect_identical(early >= 0.05, full >= 0.05)
  }
  expect_identical(p(early_stop = stop_at), 0)
  s <- suff_knn(x, early_stop = stop_at)
  expect_s4_class(skeleton(s, cmiKnnCItest, 0.05, p = 3), "pcAlgo")
  e <- expect_error(skeleton(s, cmiKnnCItest, 0.01, p = 3), class = "pcgpu_error_argument")
  expect_identical(e$argument, "alpha")
})

# Under independence given S, p is uniform except for its steps; bench/knn.R makes a Kolmogorov-Smirnov test of 1,000
# runs.
test_that("p is about uniform under independence and small under dependence", {
  set.seed(11)
  p <- vapply(
    1:60,
    function(i) {
      cmiKnnCItest(1, 2, 3, suff_knn(simulate_nonlinear(100), k = 10, permutations = 99, add_one = TRUE))
    },
    0
  )
  expect_gt(suppressWarnings(ks.test(p, "punif"))$p.value, 0.001)
  dependent <- vapply(
    1:10,
    function(i) {
      cmiKnnCItest(1, 2, 3, suff_knn(simulate_nonlinear(100, link = 1), k = 10))
    },
    0
  )
  expect_gte(sum(dependent < 0.05), 9)
})

test_that("constant variables are independent, and no error", {
  x <- cbind(rnorm(30), 2, rnorm(30))
  s <- suppressWarnings(suff_knn(x))
  expect_identical(cmiKnnCItest(1, 2, NULL, s), 1)
  expect_identical(cmiKnnCItest(2, 3, 1, s), 1)
  expect_true(is.finite(cmiKnnCItest(1, 3, 2, s)))
  flat <- suppressWarnings(suff_knn(matrix(1, 20, 3)))
  fit <- skeleton(flat, cmiKnnCItest, 0.05, p = 3)
  expect_identical(sum(lengths(graph::edges(fit@graph))), 0L)
})

test_that("invalid arguments are refused", {
  s <- suff_knn(matrix(rnorm(60), 20))
  for (bad in list(
    list(1, 1, NULL),
    list(1, 2, 2),
    list(0, 1, NULL),
    list(1, 4, NULL),
    list("a", 1, NULL),
    list(1, 2, NA)
  )) {
    expect_error(do.call(cmiKnnCItest, c(bad, list(suffStat = s))), class = "pcgpu_error_argument")
  }
  mixed <- suff_knn(simulate_mixed(30))
  e <- expect_error(cmiKnnCItest(1, 2, NULL, mixed), class = "pcgpu_error_argument")
  expect_match(conditionMessage(e), "mixedCItest")
})

test_that("Ctrl-C stops a single test and a search, and the next call works", {
  skip_on_os("windows")
  big <- suff_knn(matrix(rnorm(4 * 6000), ncol = 4), k = 0.2, permutations = 1e5, seed = 1)
  for (work in list(function() cmiKnnCItest(1, 2, 3, big), function() {
    skeleton(big, cmiKnnCItest, 0.05, p = 4, numCores = 2)
  })) {
    stopped <- press_in_time(work)
    expect_identical(stopped$outcome, "stopped")
    expect_lt(stopped$took, 0.5)
  }
  expect_true(is.finite(cmiKnnCItest(1, 2, NULL, suff_knn(matrix(rnorm(60), 20)))))
})

test_that("a chain of mixed variables is found", {
  set.seed(4)
  s <- suff_knn(simulate_mixed(400), k = 20, permutations = 100, transform = "standardize")
  for (estimator in c("auto", "mesner-shalizi", "gao")) {
    s$estimator <- estimator
    expect_lt(mixedCItest("a", "b", NULL, s), 0.02)
    expect_lt(mixedCItest("c", "d", "b", s), 0.02)
    expect_gt(mixedCItest("a", "c", "b", s), 0.02)
  }
  fit <- skeleton(suff_knn(simulate_mixed(400), k = 20, transform = "standardize", seed = 2), mixedCItest, 0.01,
    labels = letters[1:4], numCores = 2
  )
  expect_identical(unname(as(fit@graph, "matrix")), rbind(c(0, 1, 0, 0), c(1, 0, 1, 0), c(0, 1, 0, 1), c(0, 0, 1, 0)))
})

test_that("names of levels do not matter", {
  set.seed(6)
  x <- simulate_mixed(80)
  y <- x
  y$a <- factor(c(low = "z", mid = "a", high = "m")[as.character(x$a)])
  p <- function(x) mixedCItest(1, 3, 2, suff_knn(x, seed = 1))
  expect_identical(p(x), p(y))
})

test_that("it is the test of cmiKnnCItest where the estimator is named", {
  s <- suff_knn(simulate_nonlinear(60), estimator = "frenzel-pompe", seed = 1)
  expect_identical(mixedCItest(1, 2, 3, s), cmiKnnCItest(1, 2, 3, s))
})

dag <- function(p = 30) random_dag(p, 2, seed = 8)

test_that("Gaussian data have the covariances of the model", {
  d <- dag(8)
  x <- random_data(d, 50000, seed = 1, numCores = 2)
  B <- matrix(0, 8, 8)
  B[cbind(d$to, d$from)] <- d$weight
  A <- solve(diag(8) - B)
  expect_lt(max(abs(cov(x) - A %*% t(A))), 0.1)
  expect_identical(colnames(x), d$labels)
  expect_identical(random_data(d, 100, seed = 1, numCores = 1), random_data(d, 100, seed = 1, numCores = 2))
  expect_equal(random_data(as(d, "graphNEL"), 100, seed = 1), random_data(d, 100, seed = 1))
  scaled <- random_data(d, 100, seed = 1, standardise = TRUE)
  expect_equal(unname(colMeans(scaled^2)), rep(1, 8))
})

test_that("each kind is accepted by a search of that kind", {
  d <- dag()
  nonlinear <- random_data(d, 200, "nonlinear", seed = 2)
  expect_true(is.matrix(nonlinear) && all(is.finite(nonlinear)))
  discrete <- random_data(d, 5000, "discrete", levels = c(2, 3), strength = 2, seed = 2)
  expect_true(all(vapply(discrete, is.factor, NA)) && all(vapply(discrete, nlevels, 1L) %in% 2:3))
  fit <- pc(suff_discrete(discrete), disCItest, alpha = 0.01, labels = names(discrete), numCores = 2)
  expect_gt(compare_graphs(fit, d)$adj_f1, 0.7)
  mixed <- random_data(d, 200, "mixed", seed = 2)
  levelled <- vapply(mixed, is.factor, NA)
  expect_true(any(levelled) && !all(levelled))
  expect_true(all(vapply(mixed[!levelled], is.double, NA)))
})

test_that("missing values have their share", {
  d <- dag()
  for (kind in c("gaussian", "mixed")) {
    full <- random_data(d, 2000, kind, seed = 3)
    gone <- is.na(random_data(d, 2000, kind, missing = 0.1, seed = 3))
    expect_true(all(abs(colMeans(gone) - 0.1) < 0.03))
    partly <- random_data(d, 2000, kind, missing = 0.1, mechanism = "MAR", seed = 3)
    shares <- colMeans(is.na(partly))
    expect_identical(sum(shares == 0), 15L)
    expect_true(all(abs(shares[shares > 0] - 0.1) < 0.03))
    j <- which(shares > 0)[1]
    expect_equal(partly[!is.na(partly[, j]), j], full[!is.na(partly[, j]), j])
  }
})

test_that("arguments are checked", {
  d <- dag(3)
  bad <- function(argument, ...) {
    expect_identical(expect_error(random_data(...), class = "pcgpu_error_argument")$argument, argument)
  }
  bad("dag")
  bad("n", d)
  bad("n", d, 0)
  bad("dag", "a", 5)
  bad("dag", matrix(1, 3, 3), 5)
  bad("dag", rbind(c(0, 1, 0), c(0, 0, 1), c(1, 0, 0)), 5)
  bad("dag", cpdag_of(rbind(0:1, 0)), 5)
  bad("kind", d, 5, "text")
  bad("levels", d, 5, levels = 1)
  bad("levels", d, 5, levels = c(4, 2))
  bad("discrete", d, 5, discrete = 2)
  bad("strength", d, 5, strength = NA)
  bad("standardise", d, 5, standardise = NA)
  bad("missing", d, 5, missing = 1)
  bad("mechanism", d, 5, mechanism = "MNAR")
  bad("seed", d, 5, seed = 0.5)
})

test_that("weights too large for numbers are refused", {
  d <- random_dag(5, 2, seed = 1)
  error <- expect_error(
    random_data(d, 10, strength = 1e300, seed = 1),
    "`strength` is 1e\\+300.*x3",
    class = "pcgpu_error_argument"
  )
  expect_identical(error$argument, "strength")
  expect_true(all(is.finite(random_data(d, 10, strength = 1e300, standardise = TRUE, seed = 1))))
})

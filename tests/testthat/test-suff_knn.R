test_that("columns keep their kind", {
  x <- data.frame(
    number = c(1.5, 2, 7),
    whole = 3:1,
    group = factor(c("b", "a", "b"), levels = c("a", "b", "unused")),
    flag = c(TRUE, FALSE, TRUE),
    word = c("u", "v", "u")
  )
  s <- suff_knn(x, k = 2, k_perm = 1, permutations = 5, seed = 3)
  expect_identical(s$discrete, c(FALSE, FALSE, TRUE, TRUE, TRUE))
  expect_identical(unname(s$data[, "group"]), c(2, 1, 2))
  expect_identical(s$levels$group, c("a", "b"))
  expect_identical(colnames(s$data), names(x))
  expect_identical(
    s[c("k", "k_perm", "permutations", "seed", "estimator", "transform")],
    list(k = 2, k_perm = 1, permutations = 5, seed = 3, estimator = "auto", transform = "uniform")
  )
  m <- matrix(rnorm(20), 10)
  expect_identical(suff_knn(m)$data, m)
  expect_identical(suff_knn(matrix(c("p", "q"), 12, 2))$discrete, c(TRUE, TRUE))
})

test_that("the seed comes from R's random numbers unless it is given", {
  x <- matrix(rnorm(60), 20)
  draw <- function() suff_knn(x)$seed
  set.seed(5)
  first <- draw()
  second <- draw()
  set.seed(5)
  expect_identical(c(draw(), draw()), c(first, second))
  expect_false(first == second)
  before <- .Random.seed
  expect_identical(suff_knn(x, seed = 17)$seed, 17)
  expect_identical(.Random.seed, before)
})

test_that("k depends on the observations and on whether there are levels, and may be a share of the observations", {
  x <- matrix(rnorm(60), 30)
  expect_identical(suff_knn(x)$k, 3)
  expect_identical(suff_knn(x[1:3, ], k_perm = 2)$k, 2)
  expect_identical(suff_knn(matrix(rnorm(2000), 1000))$k, 100)
  expect_identical(suff_knn(data.frame(a = rnorm(1000), b = gl(2, 500)))$k, 32)
  expect_identical(suff_knn(x, k = 0.2)$k, 6)
  expect_identical(suff_knn(x, k = 0.01)$k, 1)
  expect_identical(suff_knn(x, k = 29)$k, 29)
})

test_that("invalid arguments are refused by name", {
  x <- matrix(rnorm(30), 10)
  refused <- function(argument, ...) {
    e <- expect_error(suff_knn(...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused("data", 1:10)
  refused("data", x[1:2, ])
  refused("data", x[, 1, drop = FALSE])
  refused("data", list(x))
  refused("data", data.frame(a = 1:5, b = I(as.list(1:5))))
  refused("data", replace(x, 3, NA))
  refused("data", replace(x, 3, Inf))
  for (k in list(0, 10, -1, 2.5, NA, "a", 1:2)) {
    refused("k", x, k = k)
  }
  for (k in list(0, 10, 0.5, NA, "a")) {
    refused("k_perm", x, k_perm = k)
  }
  for (b in list(0, 1.5, 1e7, NA, Inf)) {
    refused("permutations", x, permutations = b)
  }
  for (s in list(-1, 2^31, 0.5, NA, "a")) {
    refused("seed", x, seed = s)
  }
  refused("estimator", x, estimator = "kernel")
  refused("transform", x, transform = "log")
  refused("add_one", x, add_one = NA)
  for (e in list(0.05, c(alpha = 0, error = 0), c(alpha = 0.05, error = 0.5), c(alpha = 0.05, err = 0), TRUE, "a")) {
    refused("early_stop", x, early_stop = e)
  }
  refused("estimator", data.frame(a = 1:10, b = gl(2, 5)), estimator = "frenzel-pompe")
})

test_that("a constant column gets a warning", {
  expect_warning(suff_knn(cbind(1:10, 4)), class = "pcgpu_warning_constant")
  expect_warning(suff_knn(data.frame(a = 1:10, b = "x")), class = "pcgpu_warning_constant")
})

test_that("a message names columns of whole numbers that may be codes", {
  x <- data.frame(
    mpg = mtcars$mpg,
    cyl = as.integer(mtcars$cyl),
    gear = mtcars$gear,
    am = factor(mtcars$am),
    hp = mtcars$hp
  )
  m <- expect_message(
    s <- suff_knn(x, seed = 1),
    "continuous: columns \"cyl\", \"gear\" .whole",
    class = "pcgpu_message_codes"
  )
  expect_identical(m$columns, 2:3)
  expect_identical(s$discrete, c(FALSE, FALSE, FALSE, TRUE, FALSE))
  expect_silent(suff_knn(x[c("mpg", "am", "hp")], seed = 1))
  x$cyl <- factor(x$cyl)
  x$gear <- factor(x$gear)
  expect_silent(suff_knn(x, seed = 1))
  expect_message(suff_knn(cbind(1:12, rep(1:3, 4)), seed = 1), "column 2 ", class = "pcgpu_message_codes")
})

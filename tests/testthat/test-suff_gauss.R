test_that("C is cor(x), names and all, and n the number of rows", {
  x <- simulate(5, 40)
  s <- suff_gauss(x)
  expect_identical(s$C, cor(x))
  expect_identical(s$n, 40L)
  expect_identical(suff_gauss(as.data.frame(x)), s)
  expect_identical(suff_gauss(x, method = "spearman")$C, cor(x, method = "spearman"))
  expect_null(dimnames(suff_gauss(unname(x))$C))
})

test_that("columns that have no correlation are named", {
  x <- simulate(5, 40)
  x[, 2] <- 7
  expect_error(suff_gauss(x), "constant in column \"v2\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(unname(x)), "constant in column 2", class = "pcgpu_error_argument")
  expect_error(suff_gauss(iris), "not numeric in column \"Species\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(matrix("a", 5, 2)), "not numeric", class = "pcgpu_error_argument")
  x[3, 4] <- Inf
  expect_error(suff_gauss(x), "infinite in column \"v4\"", class = "pcgpu_error_argument")
})

test_that("what is no table of at least two columns and four rows is refused", {
  expect_error(suff_gauss(1:10), class = "pcgpu_error_argument")
  expect_error(suff_gauss(matrix(1:5, 5, 1)), "two columns", class = "pcgpu_error_argument")
  expect_error(suff_gauss(simulate(3, 3)), "at least 4", class = "pcgpu_error_argument")
})

test_that("missing values are refused, or treated as asked", {
  x <- simulate(4, 60)
  x[1:5, 2] <- NA
  x[4:9, 3] <- NA
  for (use in c("everything", "all.obs")) {
    expect_error(suff_gauss(x, use = use), "missing values in columns \"v2\", \"v3\"", class = "pcgpu_error_argument")
  }
  for (use in c("complete.obs", "na.or.complete")) {
    s <- suff_gauss(x, use = use)
    expect_identical(s$n, 51L)
    expect_identical(s$C, cor(x, use = use))
  }
  s <- suff_gauss(x, use = "pairwise.complete.obs")
  expect_identical(s$C, cor(x, use = "pairwise.complete.obs"))
  expect_identical(s$n, 51L)
  expect_error(suff_gauss(x, use = "some"), class = "pcgpu_error_argument")
  x[4:60, 2] <- NA
  expect_error(suff_gauss(x, use = "complete.obs"), "usable rows", class = "pcgpu_error_argument")
})

test_that("pairwise correlations that do not fit together give a warning", {
  x <- matrix(NA, 30, 3)
  z <- sin(1:10 * 5)
  x[1:10, 1:2] <- z
  x[11:20, 2:3] <- z
  x[21:30, 1] <- z
  x[21:30, 3] <- -z
  expect_warning(s <- suff_gauss(x, use = "pairwise.complete.obs"), "not positive semi-definite")
  expect_identical(s$n, 10L)
})

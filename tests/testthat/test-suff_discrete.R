test_that("levels are coded from 0 and keep their names", {
  x <- data.frame(
    size = factor(c("s", "l", "m", "s"), levels = c("s", "m", "l", "xl")),
    sick = c(TRUE, FALSE, FALSE, TRUE),
    sex = c("f", "m", "f", "f"),
    count = c(10L, 3L, 3L, 7L),
    grade = c(1, 2, 1, 1)
  )
  s <- suff_discrete(x)
  expect_identical(unname(s$dm), cbind(c(0L, 2L, 1L, 0L), c(1L, 0L, 0L, 1L), c(0L, 1L, 0L, 0L), c(2L, 0L, 0L, 1L), c(0L, 1L, 0L, 0L)))
  expect_identical(colnames(s$dm), names(x))
  expect_identical(s$nlev, c(4L, 2L, 2L, 3L, 2L))
  expect_identical(s$levels$size, c("s", "m", "l", "xl"))
  expect_identical(s$levels$count, c("3", "7", "10"))
  expect_identical(s[c("adaptDF", "na")], list(adaptDF = FALSE, na = "error"))
  expect_true(suff_discrete(x, adaptDF = TRUE)$adaptDF)
})

test_that("a matrix is read as its columns", {
  dm <- simulate_codes(4, 50)$dm
  expect_identical(suff_discrete(dm)$dm, suff_discrete(as.data.frame(dm))$dm)
  expect_null(colnames(suff_discrete(unname(dm))$dm))
  expect_identical(unname(suff_discrete(matrix(c("b", "a", "a", "b"), 2))$dm), matrix(c(1L, 0L, 0L, 1L), 2))
})

test_that("the columns of a data frame go through to a graph", {
  s <- simulate_codes(6, 800)
  x <- as.data.frame(lapply(as.data.frame(s$dm), function(v) factor(letters[v + 1])))
  ours <- suff_discrete(x)
  for (test in list(disCItest, chi2CItest)) {
    a <- suppressWarnings(pc(ours, test, 0.05, labels = names(x)))
    b <- suppressWarnings(pc(s, test, 0.05, labels = names(x)))
    expect_identical(a@graph, b@graph)
    expect_gt(sum(amat(a)), 0)
  }
})

test_that("missing values are named, or kept", {
  x <- data.frame(a = c(1, NA, 2), b = c("x", "y", NA), c = c(TRUE, FALSE, TRUE))
  expect_error(suff_discrete(x), "missing values in columns \"a\", \"b\"", class = "pcgpu_error_argument")
  s <- suff_discrete(x, na = "pairwise")
  expect_identical(is.na(s$dm), is.na(as.matrix(x)))
  expect_identical(s$na, "pairwise")
  expect_identical(s$nlev, c(2L, 2L, 2L))
})

test_that("constant columns are reported and have two levels", {
  x <- data.frame(a = c(1, 2, 1), b = 5, c = factor(c("u", "u", "u"), levels = c("u", "v", "w")))
  w <- expect_warning(s <- suff_discrete(x), "constant in columns \"b\", \"c\"", class = "pcgpu_warning_constant")
  expect_identical(w$columns, 2:3)
  expect_identical(s$nlev, c(2L, 2L, 3L))
  fit <- suppressWarnings(skeleton(s, disCItest, 0.05, labels = names(x)))
  expect_equal(sum(amat(fit)), 0)
})

test_that("what is not discrete is refused by column", {
  expect_error(suff_discrete(iris), "column.*\"Sepal.Length\".*\"Petal.Width\"", class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1:2, b = as.Date(1:2, origin = "2020-01-01"))), "\"b\"", class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1:2, b = c(1, Inf))), "\"b\"", class = "pcgpu_error_argument")
  expect_error(suff_discrete(1:5), class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1:5)), "two columns", class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1, b = 2), na = "drop"), class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = rep(1:2, 33000), b = seq_len(66000))), "65535", class = "pcgpu_error_argument")
})

test_that("levels are coded from 0 and keep their names", {
  x <- data.frame(
    size = factor(c("s", "l", "m", "s"), levels = c("s", "m", "l", "xl")),
    sick = c(TRUE, FALSE, FALSE, TRUE),
    sex = c("f", "m", "f", "f"),
    count = c(10L, 3L, 3L, 7L),
    grade = c(1, 2, 1, 1)
  )
  s <- suff_discrete(x)
  expect_identical(
    unname(s$dm),
    cbind(c(0L, 2L, 1L, 0L), c(1L, 0L, 0L, 1L), c(0L, 1L, 0L, 0L), c(2L, 0L, 0L, 1L), c(0L, 1L, 0L, 0L))
  )
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

test_that("data without names stay without, and a nameless column of a matrix gets a number", {
  whole <- matrix(c(3L, 1L, 1L, 3L, 2L, 2L, 5L, 7L, 7L, 7L, 5L, 5L), 4)
  factors <- as.data.frame(lapply(as.data.frame(whole), factor))
  numbers <- as.data.frame(whole)
  names(factors) <- names(numbers) <- NULL
  storage <- function(type) `storage.mode<-`(whole, type)
  for (x in list(
    whole,
    storage("double"),
    storage("character"),
    whole == 1L | whole == 2L | whole == 5L,
    factors,
    numbers
  )) {
    s <- suff_discrete(x)
    expect_null(colnames(s$dm))
    expect_null(names(s$levels))
    expect_null(names(s$nlev))
  }
  for (type in c("integer", "double", "character")) {
    s <- suff_discrete(`colnames<-`(storage(type), c("a", "", NA)))
    expect_identical(colnames(s$dm), c("a", "V2", NA))
    expect_identical(names(s$levels), c("a", "V2", NA))
    expect_error(
      suff_discrete(replace(storage(type), 2, NA)),
      "missing values in column 1",
      class = "pcgpu_error_argument"
    )
  }
  for (x in list(numbers, factors)) {
    s <- suff_discrete(stats::setNames(x, c("a", "", "c")))
    expect_identical(colnames(s$dm), c("a", "", "c"))
    expect_identical(names(s$levels), c("a", "", "c"))
  }
})

test_that("whole numbers are coded like their factors, whatever their type and range", {
  set.seed(4)
  columns <- list(
    a = sample(c(-7L, 0L, 12L, NA), 500, TRUE),
    b = sample(c(3, 1e5, 1e5 + 1, NaN), 500, TRUE),
    c = rep(5, 500),
    d = sample(c(-32768, 32767), 500, TRUE)
  )
  wide <- c(columns, list(e = sample(c(0, 1e9, 2^60), 500, TRUE), f = sample(c("u", "v"), 500, TRUE)))
  for (x in list(
    as.data.frame(columns),
    do.call(cbind, columns),
    as.data.frame(columns[c(1, 1, 1)]),
    as.data.frame(wide)
  )) {
    s <- suppressWarnings(suff_discrete(x, na = "pairwise"))
    factors <- lapply(seq_len(ncol(x)), function(j) pcgpu:::exact_factor(x[, j]))
    expect_identical(unname(s$dm), vapply(factors, function(f) as.integer(f) - 1L, integer(500)))
    expect_identical(unname(s$levels), lapply(factors, levels))
    expect_identical(names(s$levels), colnames(s$dm))
    expect_identical(s$nlev, pmax(lengths(lapply(factors, levels)), 2L))
    if (ncol(x) == 4) {
      expect_warning(suff_discrete(x, na = "pairwise"), "Constant in column \"c\"", class = "pcgpu_warning_constant")
    }
    expect_error(suff_discrete(x), "missing values in column", class = "pcgpu_error_argument")
  }
})

test_that("factors keep levels that do not occur, next to numbers, too", {
  set.seed(5)
  x <- data.frame(
    a = factor(sample(c("u", "v", NA), 300, TRUE), levels = c("w", "u", "x", "v")),
    b = addNA(factor(sample(c("p", NA), 300, TRUE))),
    c = ordered(sample(3, 300, TRUE), levels = 5:1),
    d = sample(c(2L, 9L), 300, TRUE),
    e = factor(rep(NA, 300), levels = "none")
  )
  for (columns in list(1:5, c(1, 2, 3), c(4, 1))) {
    part <- x[columns]
    s <- suppressWarnings(suff_discrete(part, na = "pairwise"))
    factors <- lapply(part, pcgpu:::exact_factor)
    expect_identical(s$dm, vapply(factors, function(f) as.integer(f) - 1L, integer(300)))
    expect_identical(s$levels, lapply(factors, levels))
    expect_error(suff_discrete(part), "missing values in column", class = "pcgpu_error_argument")
  }
  w <- expect_warning(suff_discrete(x, na = "pairwise"), class = "pcgpu_warning_constant")
  expect_identical(w$columns, 5L)
})

test_that("the columns of a data frame lead to a graph", {
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
  w <- expect_warning(s <- suff_discrete(x), "Constant in columns \"b\", \"c\"", class = "pcgpu_warning_constant")
  expect_identical(w$columns, 2:3)
  expect_identical(s$nlev, c(2L, 2L, 3L))
  fit <- suppressWarnings(skeleton(s, disCItest, 0.05, labels = names(x)))
  expect_equal(sum(amat(fit)), 0)
})

test_that("columns that are not discrete are refused by name", {
  expect_error(suff_discrete(iris), "column.*\"Sepal.Length\".*\"Petal.Width\"", class = "pcgpu_error_argument")
  expect_error(
    suff_discrete(data.frame(a = 1:2, b = I(list(1, 2)))),
    "text, b",
    fixed = TRUE,
    class = "pcgpu_error_argument"
  )
  expect_error(suff_discrete(data.frame(a = 1:2, b = c(1, Inf))), "\"b\"", class = "pcgpu_error_argument")
  expect_error(suff_discrete(1:5), class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1:5)), "two columns", class = "pcgpu_error_argument")
  expect_error(suff_discrete(data.frame(a = 1, b = 2), na = "drop"), class = "pcgpu_error_argument")
  expect_error(
    suff_discrete(data.frame(a = rep(1:2, 33000), b = seq_len(66000))),
    "65535",
    class = "pcgpu_error_argument"
  )
})

test_that("NaN is missing, in data frames and matrices", {
  x <- data.frame(a = c(0, NaN, 1, 0, 1, NA), b = c(1, 0, 1, 0, 1, 0))
  expect_error(suff_discrete(x), "missing values in column \"a\"", class = "pcgpu_error_argument")
  for (data in list(x, as.matrix(x))) {
    s <- suff_discrete(data, na = "pairwise")
    expect_identical(s$levels$a, c("0", "1"))
    expect_identical(s$nlev, c(2L, 2L))
    expect_identical(unname(s$dm[, "a"]), c(0L, NA, 1L, 0L, 1L, NA))
  }
  large <- data.frame(a = rep(c(0, NaN, 1, 0, 1, 1), 2), b = rep(c(0, 1, 1), 4), c = rep(0:1, 6))
  holed <- large
  holed$a[is.nan(holed$a)] <- NA
  expect_identical(
    chi2CItest(1, 2, 3, suff_discrete(large, na = "pairwise")),
    chi2CItest(1, 2, 3, suff_discrete(holed, na = "pairwise"))
  )
})

test_that("numbers that print alike are different levels", {
  a <- 1e15 + c(0, 1, 2, 1, 0)
  s <- suff_discrete(data.frame(a = a, b = c(0, 1, 0, 1, 1)))
  expect_identical(unname(s$dm[, "a"]), c(0L, 1L, 2L, 1L, 0L))
  expect_identical(s$levels$a, c("1000000000000000", "1000000000000001", "1000000000000002"))
  expect_identical(suff_discrete(data.frame(a = c(-2^60, 2^60, 0), b = 0:2))$levels$a, as.character(c(-2^60, 0, 2^60)))
})

test_that("a contingency table stands for the observations that it counts", {
  titanic <- as.data.frame(Titanic)
  people <- titanic[rep(seq_len(nrow(titanic)), titanic$Freq), 1:4]
  for (table in list(Titanic, xtabs(~ Class + Sex + Age + Survived, people))) {
    s <- suff_discrete(table)
    expect_identical(s$levels, lapply(people, levels))
    expect_identical(nrow(s$dm), 2201L)
    expect_identical(
      chi2CItest("Class", "Survived", "Sex", s),
      chi2CItest("Class", "Survived", "Sex", suff_discrete(people))
    )
  }
  # Two-way, with zeros and without names.
  s <- suff_discrete(as.table(unname(matrix(c(3, 0, 1, 2), 2))))
  expect_identical(unname(s$dm), cbind(c(0L, 0L, 0L, 0L, 1L, 1L), c(0L, 0L, 0L, 1L, 1L, 1L)))
  expect_identical(colnames(s$dm), c("Var1", "Var2"))
  expect_error(suff_discrete(table(1:3)), "one variable", class = "pcgpu_error_argument")
  expect_error(suff_discrete(prop.table(Titanic)), "does not hold counts", class = "pcgpu_error_argument")
  expect_error(suff_discrete(as.table(matrix(0, 2, 2))), "without observations", class = "pcgpu_error_argument")
  expect_error(suff_discrete(as.table(matrix(1e9, 2, 2))), "4000000000 observations", class = "pcgpu_error_argument")
})

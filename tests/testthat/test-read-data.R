# Every function that takes data, on data that depend on y.
takers <- list(
  suff_gauss = function(x) suff_gauss(x)$C,
  suff_discrete = function(x) suff_discrete(x)[c("dm", "nlev")],
  suff_knn = function(x) suppressMessages(suff_knn(x, seed = 1, k = 3))$data,
  select_features = function(x) select_features(x, rep(0:1, 10), 2)[c("index", "score", "names")]
)

whole <- function() {
  set.seed(5)
  matrix(rbinom(60, 4, 0.5), 20, 3, dimnames = list(NULL, c("a", "b", "c")))
}

test_that("numbers of bit64 are read with their values", {
  skip_if_not_installed("bit64")
  m <- whole()
  plain <- as.data.frame(m)
  frame <- as.data.frame(lapply(plain, bit64::as.integer64))
  matrix64 <- structure(bit64::as.integer64(m), dim = dim(m), dimnames = dimnames(m))
  for (name in names(takers)) {
    want <- takers[[name]](plain)
    expect_identical(takers[[name]](frame), want, info = name)
    expect_identical(takers[[name]](matrix64), want, info = name)
    mixed <- plain
    mixed$b <- frame$b
    expect_identical(takers[[name]](mixed), want, info = name)
  }
  y <- bit64::as.integer64(rep(1:2, 10))
  expect_identical(select_features(plain, y, 2)$index, select_features(plain, rep(1:2, 10), 2)$index)
  large <- frame
  large$a[3] <- bit64::as.integer64("9007199254740993")
  for (name in names(takers)) {
    expect_error(takers[[name]](large), "of 2\\^53 or more", class = "pcgpu_error_argument", info = name)
  }
  holed <- frame
  holed$a[2] <- NA
  expect_error(suff_gauss(holed), "missing values in column \"a\"", class = "pcgpu_error_argument")
})

test_that("a contingency table is not read as a matrix of observations", {
  for (name in setdiff(names(takers), "suff_discrete")) {
    for (table in list(Titanic, as.table(whole()), table(1:3, 1:3))) {
      expect_error(takers[[name]](table), "a contingency table", class = "pcgpu_error_argument", info = name)
    }
  }
})

test_that("Bioconductor's containers are read with their samples as rows", {
  m <- whole()
  if (requireNamespace("Biobase", quietly = TRUE)) {
    set <- Biobase::ExpressionSet(t(m))
    for (name in names(takers)) {
      expect_equal(takers[[name]](set), takers[[name]](m), ignore_attr = TRUE, info = name)
    }
    expect_identical(colnames(suff_gauss(set)$C), c("a", "b", "c"))
  }
  skip_if_not_installed("SummarizedExperiment")
  set <- SummarizedExperiment::SummarizedExperiment(list(counts = t(m), logcounts = log1p(t(m))))
  expect_message(
    s <- suff_gauss(set),
    "assays \"counts\", \"logcounts\"; using the first",
    class = "pcgpu_message_assay"
  )
  expect_identical(s, suff_gauss(m))
  for (taker in takers) {
    expect_error(taker(SummarizedExperiment::SummarizedExperiment()), "without assays", class = "pcgpu_error_argument")
  }
  expect_silent(suff_gauss(SummarizedExperiment::SummarizedExperiment(list(t(m)))))
})

test_that("a matrix with its genes in rows gets a message", {
  genes <- matrix(sin(1:12000), 1200, 10, dimnames = list(paste0("g", 1:1200), NULL))
  expect_message(
    suff_gauss(genes),
    "1200 samples \\(rows\\) of 10 variables \\(columns\\), with rows named \"g1\".*pass t\\(x\\)",
    class = "pcgpu_message_rows"
  )
  expect_silent(suff_gauss(unname(genes)))
  expect_silent(suff_gauss(t(genes)[, 1:30]))
  expect_message(suff_gauss(as.data.frame(genes)), class = "pcgpu_message_rows")
  # A data frame numbers the rows that are taken twice.
  twice <- as.data.frame(unname(genes))[rep(1:1200, 2), ]
  expect_silent(suff_gauss(twice))
})

test_that("a factor of numbers has their values for levels", {
  f <- pcgpu:::exact_factor(c(3, NaN, -1, 3, NA, 0.1 + 0.2, 0.3))
  expect_identical(as.integer(f), c(4L, NA, 1L, 4L, NA, 3L, 2L))
  expect_identical(as.double(levels(f)), c(-1, 0.3, 0.1 + 0.2, 3))
  expect_identical(levels(pcgpu:::exact_factor(c(2, 1, 10))), c("1", "2", "10"))
  expect_identical(
    pcgpu:::exact_factor(factor(c("b", "a"), levels = c("b", "a"))),
    factor(c("b", "a"), levels = c("b", "a"))
  )
})

test_that("flat tables are tables", {
  expect_identical(suff_discrete(ftable(Titanic)), suff_discrete(as.table(ftable(Titanic))))
  expect_identical(nrow(suff_discrete(ftable(Titanic))$dm), 2201L)
  for (make in list(suff_gauss, suff_knn, function(x) select_features(x, rep(1:2, 8), 1))) {
    expect_error(make(ftable(Titanic)), "contingency table", class = "pcgpu_error_argument")
  }
})

test_that("NaN is missing in factors and tables, too", {
  numbers <- c(0, NaN, 1, 0, 1, 1)
  other <- c(0, 1, 1, 0, 0, 1)
  of_numbers <- suff_discrete(data.frame(a = numbers, b = other), na = "pairwise")
  expect_identical(suff_discrete(data.frame(a = factor(numbers), b = other), na = "pairwise"), of_numbers)
  expect_error(
    suff_discrete(data.frame(a = factor(numbers), b = other)),
    "missing values in",
    class = "pcgpu_error_argument"
  )
  # A word.
  words <- factor(c("NaN", "yes", "no", "NaN", "no", "yes"))
  expect_identical(suff_discrete(data.frame(a = words, b = other))$nlev, c(3L, 2L))
  counted <- suff_discrete(table(a = c(1, NA, 2, 1), b = c(1, 2, 2, NA), useNA = "always"), na = "pairwise")
  expect_identical(counted$nlev, c(2L, 2L))
  expect_identical(sum(is.na(counted$dm)), 2L)
  frame <- data.frame(a = numbers, b = other)
  counted <- suff_discrete(table(frame, useNA = "ifany"), na = "pairwise")
  expect_identical(counted$levels$a, c("0", "1"))
  expect_equal(chi2CItest(1, 2, NULL, counted), chi2CItest(1, 2, NULL, suff_discrete(frame, na = "pairwise")))
  expect_error(suff_discrete(table(frame, useNA = "ifany")), "missing values in", class = "pcgpu_error_argument")
})

test_that("data frames with named rows may have their genes in rows", {
  x <- as.data.frame(matrix(rnorm(40000), 2000))
  expect_no_message(suff_gauss(x))
  rownames(x) <- paste0("gene", 1:2000)
  expect_message(suff_gauss(x), "pass t\\(x\\)", class = "pcgpu_message_rows")
})

test_that("integer64 in a statistic made by hand is converted", {
  skip_if_not_installed("bit64")
  set.seed(4)
  plain <- list(dm = matrix(sample(0:1, 300, TRUE), 100), nlev = c(2, 2, 2), adaptDF = FALSE)
  to64 <- function(x) structure(bit64::as.integer64(x), dim = dim(x))
  frame <- as.data.frame(lapply(as.data.frame(plain$dm), bit64::as.integer64))
  run <- function(dm, nlev) skeleton(list(dm = dm, nlev = nlev, adaptDF = FALSE), disCItest, 0.05, p = 3)@pMax
  want <- run(plain$dm, plain$nlev)
  expect_identical(run(to64(plain$dm), to64(plain$nlev)), want)
  expect_identical(run(frame, plain$nlev), want)
  expect_identical(
    disCItest(1, 2, 3, list(dm = to64(plain$dm), nlev = to64(plain$nlev), adaptDF = FALSE)),
    disCItest(1, 2, 3, plain)
  )
  C <- diag(3)
  expect_identical(
    skeleton(list(C = to64(C), n = bit64::as.integer64(50)), gaussCItest, 0.05, p = 3)@pMax,
    skeleton(list(C = C, n = 50), gaussCItest, 0.05, p = 3)@pMax
  )
  expect_identical(gaussCItest(1, 2, NULL, list(C = to64(C), n = bit64::as.integer64(50))), 1)
  expect_identical(
    skeleton(
      list(C = as.data.frame(lapply(as.data.frame(C), bit64::as.integer64)), n = 50),
      gaussCItest,
      0.05,
      p = 3
    )@pMax,
    skeleton(list(C = C, n = 50), gaussCItest, 0.05, p = 3)@pMax
  )
  near <- suff_knn(matrix(round(rnorm(90) * 100), 30), permutations = 20, seed = 1)
  wide <- near
  wide$data <- structure(bit64::as.integer64(near$data), dim = dim(near$data), dimnames = dimnames(near$data))
  expect_identical(cmiKnnCItest(1, 2, 3, wide), cmiKnnCItest(1, 2, 3, near))
  # Elsewhere it is refused, and its bits are not read.
  expect_error(
    skeleton(list(C = C, n = 50), gaussCItest, bit64::as.integer64(1), p = 3),
    "`alpha` is 1 \\(integer64",
    class = "pcgpu_error_argument"
  )
  expect_error(
    skeleton(list(C = C, n = 50), gaussCItest, 0.05, p = bit64::as.integer64(3)),
    "`p` is",
    class = "pcgpu_error_argument"
  )
})

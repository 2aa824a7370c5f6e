ordinal <- function() {
  recorded <- recorded_correlations("polychoric")
  codes <- as.data.frame(lapply(list(a = "a", b = "b", c = "c", e = "e"), function(name) {
    vapply(recorded$data, function(row) as.double(row[[name]]), 0)
  }))
  list(
    data = data.frame(a = ordered(codes$a), b = ordered(codes$b), c = codes$c, e = factor(codes$e)),
    lavaan = matrix(unlist(recorded$lavaan), 3),
    polycor = matrix(unlist(recorded$polycor), 4)
  )
}

test_that("polychoric and polyserial correlations are those of lavaan and polycor", {
  known <- ordinal()
  s <- suff_gauss(known$data, correlation = "polychoric")
  expect_lte(max(abs(s$C[c(1, 2, 4), c(1, 2, 4)] - known$lavaan)), 1e-6)
  # polycor's optimize() stops early.
  expect_lte(max(abs(s$C - known$polycor)), 2e-5)
  expect_identical(dimnames(s$C), list(names(known$data), names(known$data)))
  logical <- transform(known$data, e = e == "1")
  expect_identical(suff_gauss(logical, correlation = "polychoric"), s)
})

test_that("levels determine how much a sample counts", {
  data <- ordinal()$data
  kept <- function(column) {
    share <- as.vector(table(column)) / length(column)
    density <- c(0, dnorm(qnorm(cumsum(share)[-length(share)])), 0)
    sum(diff(density)^2 / share)
  }
  parts <- c(kept(data$a), kept(data$b), 1, kept(data$e))
  each <- suff_gauss(data, correlation = "polychoric", sizes = "each")
  pairs <- upper.tri(each$n)
  expect_equal(each$n[pairs], (300 * outer(parts, parts))[pairs])
  expect_equal(suff_gauss(data, correlation = "polychoric")$n, mean(each$n[pairs]))
  holed <- data
  holed$a[1:20] <- NA
  holed$c[11:40] <- NA
  counts <- crossprod(!is.na(holed))
  by_pair <- suff_gauss(holed, use = "pairwise.complete.obs", correlation = "polychoric", sizes = "each")
  kept_of <- c(kept(holed$a[-(1:20)]), parts[2:4])
  expect_equal(by_pair$n[pairs], (counts * outer(kept_of, kept_of))[pairs])
  one <- suff_gauss(holed[-(1:20), c(1, 2, 4)], correlation = "polychoric")$C
  expect_equal(by_pair$C[c("a"), c("b", "e")], one["a", c("b", "e")], tolerance = 1e-8)
})

test_that("tests of Fisher's z keep their level with the sizes of other correlations", {
  set.seed(3)
  n <- 200
  x <- matrix(rnorm(n * 120), n)
  for (kind in c("spearman", "kendall", "npn", "Qn", "polychoric")) {
    data <- if (kind == "polychoric") {
      as.data.frame(lapply(as.data.frame(x), function(column) ordered(findInterval(column, c(-1, 0, 0.5)))))
    } else {
      x
    }
    s <- suppressWarnings(suff_gauss(data, correlation = kind))
    z <- sqrt(s$n - 3) * atanh(s$C[upper.tri(s$C)])
    rejected <- mean(abs(z) > qnorm(0.975))
    expect_gt(rejected, 0.035)
    expect_lt(rejected, 0.07)
  }
})

test_that("a matrix that is not positive semi-definite is reported, and repaired only when asked", {
  set.seed(4)
  x <- matrix(rnorm(20 * 30), 20)
  expect_warning(s <- suff_gauss(x, correlation = "kendall"), "least eigenvalue", class = "pcgpu_warning_indefinite")
  least <- min(eigen(s$C, symmetric = TRUE, only.values = TRUE)$values)
  expect_equal(s$least_eigenvalue, least, tolerance = 1e-8)
  expect_named(s, c("C", "n", "least_eigenvalue"))
  skip_if_not_installed("Matrix")
  expect_silent(near <- suff_gauss(x, correlation = "kendall", nearest = TRUE))
  expect_match(near$repaired, "nearest")
  expect_equal(near$least_eigenvalue, least, tolerance = 1e-8)
  expect_gte(min(eigen(near$C, symmetric = TRUE, only.values = TRUE)$values), -1e-8)
  expect_identical(diag(near$C), rep(1, 30))
  expect_lt(max(abs(near$C - s$C)), 0.5)
  expect_named(suff_gauss(x[, 1:3], correlation = "kendall", nearest = TRUE), c("C", "n"))
  # A large matrix: Lanczos' method.
  y <- matrix(rnorm(100 * 400), 100)
  s <- suppressWarnings(suff_gauss(y, correlation = "spearman"))
  expect_equal(s$least_eigenvalue, min(eigen(s$C, TRUE, TRUE)$values), tolerance = 1e-2)
})

test_that("pc() takes polychoric correlations for ordered factors, and says so", {
  data <- ordinal()$data
  expect_message(fit <- pc(data, alpha = 0.01), "polychoric", class = "pcgpu_message_data")
  s <- suff_gauss(data, correlation = "polychoric")
  same <- pc(s, gaussCItest, 0.01, labels = names(data), maj.rule = TRUE)
  expect_same_answer(fit, same)
  expect_same_answer(suppressMessages(pc(data, gaussCItest, 0.01, maj.rule = TRUE)), same)
  unordered <- as.data.frame(lapply(data, function(column) {
    if (is.ordered(column)) factor(column, ordered = FALSE) else column
  }))
  expect_message(pc(unordered, alpha = 0.01), "mixCItest", class = "pcgpu_message_data")
  found <- suppressMessages(stability(data, alpha = 0.01, replicates = 3, numCores = 1, seed = 1))
  expect_identical(dim(found$adjacent %||% matrix(0, 4, 4)), c(4L, 4L))
  copy <- cbind(data, again = data$a)
  expect_warning(suff_gauss(copy, correlation = "polychoric"), "bound of 0.9999", class = "pcgpu_warning_bound")
  for (bad in list(iris, iris[1:4])) {
    expect_error(suff_gauss(bad, correlation = "polychoric"), "order", class = "pcgpu_error_argument")
  }
})

test_that("each test has the mean size of its pairs", {
  x <- simulate(6, 200)
  set.seed(2)
  sizes <- matrix(sample(50:200, 36, TRUE), 6)
  sizes[lower.tri(sizes)] <- t(sizes)[lower.tri(sizes)]
  sizes[2, 5] <- sizes[5, 2] <- NaN
  C <- cor(x)
  mean_test <- function(x, y, S, suffStat) {
    n <- suffStat$n[c(x, y, S), c(x, y, S)]
    n <- mean(n[upper.tri(n)], na.rm = TRUE)
    if (is.nan(n)) NA_real_ else gaussCItest(x, y, S, list(C = suffStat$C, n = n))
  }
  for (method in c("stable", "original")) {
    fit <- suppressWarnings(pc(list(C = C, n = sizes), gaussCItest, 0.01, p = 6, skel.method = method, numCores = 2))
    theirs <- suppressWarnings(pc(list(C = C, n = sizes), mean_test, 0.01, p = 6, skel.method = method))
    expect_same_answer(fit, theirs)
    expect_equal(fit@pMax, theirs@pMax, tolerance = 1e-9)
  }
  expect_identical(gaussCItest(1, 3, c(2, 4), list(C = C, n = sizes)), mean_test(1, 3, c(2, 4), list(C = C, n = sizes)))
  # Equal sizes are one size.
  same <- pc(list(C = C, n = matrix(200, 6, 6)), gaussCItest, 0.01, p = 6)
  expect_same_answer(same, pc(list(C = C, n = 200), gaussCItest, 0.01, p = 6))
  refused <- function(n, says) {
    expect_error(pc(list(C = C, n = n), gaussCItest, 0.01, p = 6), says, class = "pcgpu_error_argument")
  }
  refused(sizes[1:5, 1:5], "6 x 6")
  refused(replace(sizes, 2, 0), "symmetric")
  refused(replace(sizes, c(2, 7), 0), "0 for a pair")
  expect_error(
    pc(list(C = C, n = sizes), gaussCItest, 0.01, p = 6, device = "cuda"),
    "CPU",
    class = "pcgpu_error_argument"
  )
})

test_that("recommend_test() names the test that pc() takes for ordered factors", {
  data <- ordinal()$data
  found <- recommend_test(data)
  expect_identical(found$test[1L], "gaussCItest")
  expect_match(found$reason[1L], "polychoric")
  expect_match(recommend_test(data[1:2])$reason[1L], "polychoric")
  data$a[3] <- NA
  expect_identical(recommend_test(data)$test[1L], "mixCItwd")
})

test_that("missing answers have a remedy that works", {
  data <- ordinal()$data
  data$a[1:5] <- NA
  expect_error(pc(data, alpha = 0.01), "pairwise.complete.obs", class = "pcgpu_error_argument")
  s <- suff_gauss(data, correlation = "polychoric", use = "pairwise.complete.obs")
  expect_s4_class(pc(s, gaussCItest, 0.01, labels = names(data)), "pcAlgo")
})

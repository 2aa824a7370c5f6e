heavy <- function(n, p, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n, p) + rnorm(n)
  x[sample(length(x), length(x) / 50)] <- rcauchy(ceiling(length(x) / 50), scale = 30)[seq_len(length(x) / 50)]
  colnames(x) <- paste0("v", seq_len(p))
  x
}

qn <- function(x) {
  half <- length(x) %/% 2 + 1
  sort(stats::dist(x))[half * (half - 1) / 2]
}

test_that("Qn correlations are their definition", {
  for (n in c(4, 11, 60, 61)) {
    x <- heavy(n, 5, n)
    scale <- apply(x, 2, qn)
    of <- function(x, y) (qn(x + y)^2 - qn(x - y)^2)
    C <- stable <- diag(5)
    for (i in 1:5) {
      for (j in setdiff(1:5, i)) {
        C[i, j] <- max(-1, min(1, of(x[, i], x[, j]) / (4 * scale[i] * scale[j])))
        y <- x[, c(i, j)] / rep(scale[c(i, j)], each = n)
        stable[i, j] <- of(y[, 1], y[, 2]) / (qn(y[, 1] + y[, 2])^2 + qn(y[, 1] - y[, 2])^2)
      }
    }
    expect_equal(mcor(x, "Qn"), C, tolerance = 1e-12)
    expect_equal(mcor(x, "QnStable"), stable, tolerance = 1e-12)
  }
})

test_that("all methods give pcalg's matrices", {
  skip_if_not_installed("pcalg")
  skip_if_not_installed("robustbase")
  for (size in list(c(60, 6), c(200, 12), c(31, 2))) {
    x <- heavy(size[1], size[2], size[1])
    for (method in c("standard", "Qn", "QnStable", "ogkScaleTau2", "ogkQn", "shrink")) {
      wanted <- pcalg::mcor(x, method)
      found <- mcor(x, method)
      # The Qn of robustbase is off by up to 1e-7 of its value in some samples.
      expect_lte(max(abs(found - wanted)), if (grepl("Qn", method)) 1e-4 else 1e-11)
      expect_identical(dimnames(found), dimnames(wanted))
    }
  }
})

test_that("recorded matrices of pcalg are met", {
  recorded <- recorded_correlations("mcor")
  x <- heavy(40, 5, 7)
  for (method in names(recorded)) {
    wanted <- matrix(unlist(recorded[[method]]), 5)
    expect_lte(max(abs(mcor(x, method) - wanted)), if (grepl("Qn", method)) 1e-5 else 1e-9)
  }
})

test_that("mcor() refuses what it cannot use by name", {
  x <- heavy(30, 3)
  expect_error(mcor(x, "tau"), "`method`", class = "pcgpu_error_argument")
  holed <- x
  holed[2, 2] <- NA
  e <- expect_error(mcor(holed), "missing values in column \"v2\"", class = "pcgpu_error_argument")
  expect_match(conditionMessage(e), "`dm`")
  expect_error(mcor(cbind(x, 1)), "constant", class = "pcgpu_error_argument")
  expect_error(mcor("a"), "`dm`", class = "pcgpu_error_argument")
  expect_error(mcor(x[, 1, drop = FALSE]), "two columns", class = "pcgpu_error_argument")
  mostly <- cbind(x, c(1, 2, rep(0, 28)))
  expect_error(mcor(mostly, "ogkQn"), "robust scale is 0", class = "pcgpu_error_argument")
  expect_identical(mcor(as.data.frame(x)), mcor(x))
})

# Computes the definition, by a general inverse.
by_definition <- function(x, y, S, C, n) {
  P <- solve(C[c(x, y, S), c(x, y, S)])
  r <- -P[1, 2] / sqrt(P[1, 1] * P[2, 2])
  2 * stats::pnorm(sqrt(n - length(S) - 3) * abs(atanh(r)), lower.tail = FALSE)
}

test_that("the p-value is that of Fisher's z, for sets of all sizes", {
  s <- suff(p = 9, n = 120, degree = 3)
  for (S in list(integer(0), 3, c(4, 7), c(3, 5, 8), 3:9)) {
    expect_equal(gaussCItest(1, 2, S, s), by_definition(1, 2, S, s$C, s$n), tolerance = 1e-9)
    expect_equal(gaussCItest(2, 1, S, s), by_definition(1, 2, S, s$C, s$n), tolerance = 1e-9)
  }
})

test_that("small p-values follow pnorm() down to 1e-300", {
  for (z in seq(1, 37, by = 1.5)) {
    n <- 403
    r <- tanh(z / 20)
    if (r >= 0.9999999) {
      next
    }
    s <- list(C = matrix(c(1, r, r, 1), 2), n = n)
    want <- 2 * stats::pnorm(20 * atanh(r), lower.tail = FALSE)
    expect_lte(abs(gaussCItest(1, 2, NULL, s) / want - 1), 1e-9)
  }
})

test_that("the p-value is 1 if there is nothing to test", {
  s <- suff(p = 5, n = 50)
  expect_identical(gaussCItest(1, 2, 3:5, list(C = s$C, n = 6)), 1)
  C <- s$C
  C[1, 2] <- C[2, 1] <- NA
  expect_identical(gaussCItest(1, 2, NULL, list(C = C, n = 50)), 1)
})

test_that("a correlation of 1 is cut, not infinite", {
  s <- list(C = matrix(1, 2, 2), n = 20)
  want <- 2 * stats::pnorm(sqrt(17) * atanh(0.9999999), lower.tail = FALSE)
  expect_equal(gaussCItest(1, 2, NULL, s), want, tolerance = 1e-7)
})

test_that("variables are given by number or by name, and must exist", {
  s <- suff()
  expect_identical(gaussCItest("v1", "v2", "v3", s), gaussCItest(1, 2, 3, s))
  expect_error(gaussCItest(1, 99, NULL, s), class = "pcgpu_error_argument")
  expect_error(gaussCItest("v1", "no", NULL, s), class = "pcgpu_error_argument")
  expect_error(gaussCItest(1:2, 3, NULL, s), class = "pcgpu_error_argument")
  expect_error(gaussCItest(1, 2, 0, s), class = "pcgpu_error_argument")
  expect_error(gaussCItest(1, 2, NULL, list(C = s$C)), "n", class = "pcgpu_error_argument")
})

test_that("values are pcalg's", {
  skip_without_pcalg()
  s <- suff(p = 9, n = 40, degree = 4)
  for (S in list(NULL, 3, c(4, 7), c(3, 5, 8), 3:9)) {
    expect_equal(gaussCItest(1, 2, S, s), pcalg::gaussCItest(1, 2, S, s), tolerance = 1e-9)
  }
})

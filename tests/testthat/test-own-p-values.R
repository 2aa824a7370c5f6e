# A search and its own p-values must agree: p >= alpha removes a pair, at alpha = p too.

# Returns the pairs of a fit that contradict their p-values; alpha may be one of them.
contradictions <- function(fit, alpha) {
  upper <- upper.tri(fit@pMax)
  sum((amat(fit)[upper] != 0) != (fit@pMax[upper] < alpha))
}

test_that("with two variables a search keeps the edge exactly if the test's own p is below alpha", {
  set.seed(11)
  for (i in 1:40) {
    levels <- sample(2:5, 2, replace = TRUE)
    dm <- cbind(sample(levels[1], 60, TRUE), sample(levels[2], 60, TRUE)) - 1L
    dm[1:2, ] <- 0:1
    for (test in list(disCItest, chi2CItest)) {
      for (adapt in c(FALSE, TRUE)) {
        s <- list(dm = dm, nlev = levels, adaptDF = adapt)
        p <- suppressWarnings(test(1, 2, NULL, s))
        expect_identical(suppressWarnings(test(2, 1, NULL, s)), p)
        if (p == 0 || p == 1) {
          next
        }
        for (method in c("stable", "stable.fast")) {
          at <- suppressWarnings(skeleton(s, test, p, p = 2, method = method))
          expect_identical(at@pMax[1, 2], p)
          expect_equal(sum(amat(at)), 0)
          above <- suppressWarnings(skeleton(s, test, p * (1 + 1e-15), p = 2, method = method))
          expect_equal(sum(amat(above)), 2)
        }
      }
    }
  }
})

test_that("a search at alpha = one of its p-values agrees with all of them", {
  cases <- list(list(suff(p = 8, n = 60), gaussCItest))
  codes <- simulate_codes(7, 300, levels = 3)
  for (test in list(disCItest, chi2CItest)) {
    cases <- c(cases, list(list(codes, test)))
  }
  for (case in cases) {
    p <- if (is.null(case[[1L]]$C)) 7 else 8
    for (method in c("stable", "stable.fast", "original")) {
      fit <- suppressWarnings(skeleton(case[[1L]], case[[2L]], 0.05, p = p, method = method))
      for (alpha in setdiff(unique(fit@pMax[upper.tri(fit@pMax)]), c(0, 1))) {
        at <- suppressWarnings(skeleton(case[[1L]], case[[2L]], alpha, p = p, method = method))
        expect_identical(contradictions(at, alpha), 0L)
        # And with the same test as an R function; for "stable.fast" the native Gaussian test is pcalg's C++, another
        # formula.
        if (!(method == "stable.fast" && identical(case[[2L]], gaussCItest))) {
          wrapped <- function(x, y, S, suffStat) case[[2L]](x, y, S, suffStat)
          plain <- suppressWarnings(skeleton(case[[1L]], wrapped, alpha, p = p, method = method))
          expect_same_result(at, plain, info = paste(method, alpha))
        }
      }
    }
  }
})

test_that("with \"stable.fast\" pcalg's native test and its R function differ in last digits, and so do ours", {
  skip_without_pcalg()
  s <- suff(p = 8, n = 60)
  wrapped <- function(x, y, S, suffStat) pcalg::gaussCItest(x, y, S, suffStat)
  native <- pcalg::skeleton(s, pcalg::gaussCItest, 0.05, p = 8, method = "stable.fast")
  asked <- pcalg::skeleton(s, wrapped, 0.05, p = 8, method = "stable.fast")
  expect_false(identical(native@pMax, asked@pMax))
  expect_equal(native@pMax, asked@pMax, tolerance = 1e-9)
})

test_that("given nothing it is chisq.test() without continuity correction", {
  s <- simulate_codes(p = 3, n = 700)
  want <- stats::chisq.test(table(s$dm[, 1], s$dm[, 2]), correct = FALSE)
  expect_equal(chi2CItest(1, 2, NULL, s), want$p.value, tolerance = 1e-10)
})

test_that("p-values are bnlearn's, with both kinds of degrees of freedom", {
  for (name in golden_names("bnlearn")) {
    golden <- read_golden(name)
    s <- golden_discrete(golden)
    for (adapt in c(FALSE, TRUE)) {
      s$adaptDF <- adapt
      p <- vapply(golden$single_tests, function(single) chi2CItest(single$x, single$y, numbers(single$S), s), 0)
      want <- vapply(
        golden$single_tests,
        function(single) {
          as.double((if (adapt) single[["x2-adf"]] else single$x2)$p)
        },
        0
      )
      expect_length(p, 60)
      expect_lte(max(abs(p - want) / pmax(want, 1e-290)), 1e-9, label = paste("relative error in", name))
    }
  }
})

test_that("it is the definition, also with missing values and deep sets", {
  s <- simulate_codes(p = 9, n = 3000, levels = 2:5)
  for (S in list(NULL, 3, 3:4, 3:6, 3:8)) {
    found <- statistic_by_definition(1, 2, S, s, "X2")
    expect_equal(chi2CItest(1, 2, S, s), stats::pchisq(found$statistic, found$df, lower.tail = FALSE), tolerance = 1e-9)
  }
  s$dm[sample(length(s$dm), 2000)] <- NA
  s$na <- "pairwise"
  for (S in list(NULL, 3, 3:5)) {
    found <- statistic_by_definition(1, 2, S, s, "X2")
    expect_lt(found$n, 3000)
    expect_equal(chi2CItest(1, 2, S, s), stats::pchisq(found$statistic, found$df, lower.tail = FALSE), tolerance = 1e-9)
  }
})

test_that("a constant variable is independent of all", {
  s <- simulate_codes(p = 3, n = 200)
  s$dm[, 2] <- 0L
  expect_identical(chi2CItest(1, 2, NULL, s), 1)
  s$adaptDF <- TRUE
  expect_identical(chi2CItest(1, 2, 3, s), 1)
  s$nlev[2] <- 1
  expect_identical(chi2CItest(1, 2, 3, s), 1)
  expect_error(disCItest(1, 2, 3, s), "must have at least two different values", class = "pcgpu_error_argument")
})

refused <- function(suffStat, message, test = disCItest, labels = paste0("v", 1:3)) {
  e <- expect_error(skeleton(suffStat, test, 0.05, labels = labels), message, class = "pcgpu_error_argument")
  expect_true(is.character(e$hint) && nzchar(e$hint))
}

test_that("a sufficient statistic of another shape is refused with a hint", {
  s <- simulate_codes(3, 50)
  refused(list(nlev = 2), "disCItest needs list")
  refused(list(dm = as.data.frame(lapply(as.data.frame(s$dm), factor))), "not numeric in columns \"v1\"")
  refused(list(dm = "a"), "needs list")
  refused(list(dm = s$dm[, 1:2]), "for each of the 3 variables, not 2")
  refused(list(dm = s$dm[0, ]), "at least one row")
  refused(s, "\"v2\" at position 1, where", labels = c("v2", "v1", "v3"))
})

test_that("codes and levels out of range are named", {
  s <- simulate_codes(3, 50, levels = 3)
  low <- high <- half <- huge <- s
  low$dm[7, 2] <- -1L
  high$dm[8, 3] <- 3L
  half$dm <- half$dm + 0
  half$dm[5, 1] <- 0.5
  huge$dm <- huge$dm + 0
  huge$dm[5, 1] <- 1e12
  refused(low, "-1 in row 7, column 2")
  refused(high, "3 in row 8, column 3: the codes of this column must be from 0 to 2")
  refused(half, "0.5 in row 5, column 1")
  refused(huge, "in row 5, column 1")
  for (nlev in list(c(3, 3), c(3, NA, 3), "three", c(3, 2.5, 3), c(3, 1e6, 3), c(3, -1, 3))) {
    s$nlev <- nlev
    refused(s, "nlev", test = chi2CItest)
  }
})

test_that("adaptDF and missing values are checked", {
  s <- simulate_codes(3, 50)
  s$adaptDF <- NA
  refused(s, "adaptDF")
  s$adaptDF <- FALSE
  s$dm[3, 2] <- NA
  refused(s, "missing values in column \"v2\"")
  s$dm <- s$dm + 0
  s$dm[3, 2] <- NaN
  refused(s, "missing values in column \"v2\"")
  s$na <- "pairwise"
  expect_s4_class(skeleton(s, chi2CItest, 0.05, labels = paste0("v", 1:3)), "pcAlgo")
})

test_that("the next call works after an error", {
  s <- simulate_codes(4, 300)
  before <- pc(s, chi2CItest, 0.05, p = 4)
  bad <- s
  bad$nlev <- bad$nlev - 1
  expect_error(pc(bad, chi2CItest, 0.05, p = 4), class = "pcgpu_error_argument")
  expect_identical(pc(s, chi2CItest, 0.05, p = 4), before)
})

test_that("a hundred levels and more work, alone and in a search", {
  set.seed(2)
  dm <- cbind(sample(0:299, 4000, TRUE), 0L, sample(0:1, 4000, TRUE))
  dm[, 2] <- (dm[, 1] + dm[, 3]) %% 300L
  s <- list(dm = dm, nlev = c(300, 300, 2), adaptDF = TRUE)
  found <- statistic_by_definition(1, 3, 2, s, "X2")
  # bnlearn's rule: fewer observations than five times the cells make no test.
  expect_identical(chi2CItest(1, 3, 2, s), 1)
  s$adaptDF <- FALSE
  expect_equal(chi2CItest(1, 3, 2, s), stats::pchisq(found$statistic, found$df, lower.tail = FALSE), tolerance = 1e-8)
  expect_s4_class(skeleton(s, chi2CItest, 0.05, p = 3), "pcAlgo")
})

test_that("codes from 1 on are refused, in pcalg's words and with the hint", {
  dm <- data.matrix(data.frame(lapply(mtcars[c("cyl", "vs", "am")], factor)))
  words <- "'dm' must have values in {0,1,..} with at least one '0' value"
  for (suff in list(
    list(dm = dm),
    list(dm = dm, nlev = c(3, 2, 2)),
    list(dm = dm + 0, adaptDF = TRUE),
    list(dm = as.data.frame(dm))
  )) {
    for (test in list(disCItest, chi2CItest)) {
      e <- expect_error(skeleton(suff, test, 0.05, p = 3), class = "pcgpu_error_argument")
      expect_match(conditionMessage(e), words, fixed = TRUE)
      expect_match(e$hint, "suff_discrete\\(\\)")
      e <- expect_error(test(1, 2, NULL, suff), class = "pcgpu_error_argument")
      expect_match(conditionMessage(e), words, fixed = TRUE)
    }
  }
  # Declared levels that do not occur are another matter, and so are gaps.
  expect_identical(
    chi2CItest(1, 2, 3, list(dm = dm, nlev = c(4, 3, 3))),
    chi2CItest(1, 2, 3, list(dm = dm - 1, nlev = c(4, 3, 3)))
  )
  skip_without_pcalg()
  expect_error(pcalg::disCItest(1, 2, NULL, list(dm = dm, adaptDF = FALSE)), words, fixed = TRUE)
})

test_that("codes with gaps stand for levels in their order, with and without nlev", {
  s <- simulate_codes(4, 400, levels = 3)
  gaps <- s
  gaps$dm[] <- c(0L, 2L, 5L)[s$dm + 1L]
  one <- s
  one$dm[, 2] <- one$dm[, 2] + 1L
  for (test in list(disCItest, chi2CItest)) {
    want <- suppressWarnings(skeleton(s, test, 0.05, p = 4))
    for (given in list(gaps, one, gaps["dm"], one["dm"])) {
      given$adaptDF <- FALSE
      expect_same_result(suppressWarnings(skeleton(given, test, 0.05, p = 4)), want)
      for (S in list(NULL, 3, 3:4)) {
        expect_identical(suppressWarnings(test(1, 2, S, given)), suppressWarnings(test(1, 2, S, s)))
        # The columns at hand have no 0, another one has.
        expect_identical(suppressWarnings(test(2, 2 %/% 2 + 2, NULL, given)), suppressWarnings(test(2, 3, NULL, s)))
      }
    }
  }
  more <- gaps
  more$dm[1, 1] <- 7L
  expect_error(
    skeleton(more, disCItest, 0.05, p = 4),
    "codes of this column must be from 0 to 2",
    class = "pcgpu_error_argument"
  )
})

test_that("a sufficient statistic may be an environment", {
  s <- simulate_codes(4, 300)
  expect_same_result(
    suppressWarnings(skeleton(list2env(s), disCItest, 0.05, p = 4)),
    suppressWarnings(skeleton(s, disCItest, 0.05, p = 4))
  )
  expect_identical(disCItest(1, 2, 3, list2env(s)), disCItest(1, 2, 3, s))
  g <- suff()
  expect_same_result(pc(list2env(g), gaussCItest, 0.05, p = 8), pc(g, gaussCItest, 0.05, p = 8))
  expect_identical(gaussCItest(1, 2, 3, list2env(g)), gaussCItest(1, 2, 3, g))
  k <- suff_knn(simulate(3, 40), permutations = 20, seed = 1)
  expect_same_result(skeleton(list2env(k), cmiKnnCItest, 0.05, p = 3), skeleton(k, cmiKnnCItest, 0.05, p = 3))
  expect_identical(cmiKnnCItest(1, 2, NULL, list2env(k)), cmiKnnCItest(1, 2, NULL, k))
})

test_that("many codes are checked by threads, with the same errors", {
  s <- simulate_codes(3, 50000)
  s$dm[] <- s$dm %% 2
  s$nlev <- rep(2, 3)
  for (type in c("integer", "double", "logical")) {
    storage.mode(s$dm) <- type
    expect_identical(look_at_codes(s$dm, TRUE, 2L), list(missing = FALSE, are_binary = TRUE))
    holed <- s
    holed$dm[50000, 3] <- NA
    expect_identical(look_at_codes(holed$dm, TRUE, 2L), list(missing = TRUE, are_binary = TRUE))
    refused(holed, "missing values in column \"v3\"")
    if (type == "logical") {
      next
    }
    other <- s
    other$dm[49999, 2] <- 2
    storage.mode(other$dm) <- type
    expect_identical(look_at_codes(other$dm, TRUE, 2L), list(missing = FALSE, are_binary = FALSE))
    refused(other, "not binary in column \"v2\"", test = binCItest)
  }
  s$dm <- s$dm + 0
  s$dm[7, 1] <- 0.5
  refused(s, "not binary in column \"v1\"", test = binCItest)
  s$dm[7, 1] <- NaN
  expect_identical(look_at_codes(s$dm, TRUE, 2L), list(missing = TRUE, are_binary = TRUE))
})

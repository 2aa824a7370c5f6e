refused <- function(suffStat, message, test = disCItest, labels = paste0("v", 1:3)) {
  e <- expect_error(skeleton(suffStat, test, 0.05, labels = labels), message, class = "pcgpu_error_argument")
  expect_true(is.character(e$mend) && nzchar(e$mend))
}

test_that("a sufficient statistic of another shape is refused with what to give", {
  s <- simulate_codes(3, 50)
  refused(s$dm, "for instance suff_discrete")
  refused(list(nlev = 2), "disCItest needs list")
  refused(list(dm = as.data.frame(lapply(as.data.frame(s$dm), factor))), "not numbers in columns \"v1\"")
  refused(list(dm = "a"), "needs list")
  refused(list(dm = s$dm[, 1:2]), "there are 3")
  refused(list(dm = s$dm[0, ]), "at least one row")
  refused(s, "\"x\" at place 1 where the columns", labels = c("x", "v2", "v3"))
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
  refused(high, "3 in row 8, column 3: codes there go from 0 to 2")
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

bad <- function(argument, message, ...) {
  e <- expect_error(skeleton(suff(), gaussCItest, 0.05, ...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
  expect_match(conditionMessage(e), e$mend, fixed = TRUE)
}

test_that("labels or p are needed, and must agree, in pcalg's words", {
  bad("labels", "need to specify 'labels' or 'p'")
  bad("p", "'p' is not needed when 'labels' is specified, and must match length(labels)",
    labels = paste0("v", 1:8), p = 7
  )
})

test_that("p is a number from 2", {
  for (p in list(1, 0, -3, NA, "8", c(8, 8), NULL, Inf)) bad("p", "p >= 2", p = p)
})

test_that("labels are distinct names", {
  bad("labels", "character vector", labels = 1:8)
  bad("labels", "character vector", labels = NULL)
  bad("labels", "at least two", labels = "a")
  bad("labels", "NA at 1 of 8 places", labels = c(paste0("v", 1:7), NA))
  bad("labels", "repeated are \"v1\"", labels = c("v1", "v1", paste0("v", 3:8)))
  bad("labels", "\"a|b\"", labels = c("a|b", paste0("v", 2:8)))
  bad("labels", "not empty", labels = c("", paste0("v", 2:8)))
})

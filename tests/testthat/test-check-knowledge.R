fit <- function(...) skeleton(suff(), gaussCItest, 0.05, p = 8, ...)

bad <- function(argument, message, ...) {
  e <- expect_error(fit(...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
  expect_match(conditionMessage(e), e$mend, fixed = TRUE)
}

none <- matrix(FALSE, 8, 8)

test_that("gaps and edges have the size of the data and are symmetric, in pcalg's words", {
  bad("fixedGaps", "Dimensions of the dataset and fixedGaps do not agree.", fixedGaps = none[, 1:7])
  bad("fixedEdges", "Dimensions of the dataset and fixedEdges do not agree.", fixedEdges = none[1:7, 1:7])
  bad("fixedGaps", "Dimensions of the dataset and fixedGaps do not agree.", fixedGaps = TRUE)
  one_sided <- none
  one_sided[1, 2] <- TRUE
  bad("fixedGaps", "fixedGaps must be symmetric", fixedGaps = one_sided)
  bad("fixedEdges", "fixedEdges must be symmetric", fixedEdges = one_sided)
})

test_that("gaps and edges are logical", {
  bad("fixedGaps", "logical", fixedGaps = matrix("a", 8, 8))
  bad("fixedEdges", "logical", fixedEdges = matrix(2, 8, 8))
  missing <- none
  missing[1, 2] <- missing[2, 1] <- NA
  bad("fixedGaps", "NA at 2 places", fixedGaps = missing)
  expect_identical(fit(fixedGaps = none + 0)@graph, fit()@graph)
})

test_that("gaps stay gaps, edges stay edges, and a gap is stronger", {
  pair <- none
  pair[1, 8] <- pair[8, 1] <- TRUE
  expect_equal(amat(fit(fixedEdges = pair))[1, 8], 1)
  expect_equal(amat(fit(fixedGaps = pair))[1, 8], 0)
  expect_equal(amat(fit(fixedGaps = pair, fixedEdges = pair))[1, 8], 0)
  expect_equal(sum(amat(fit(fixedEdges = !diag(8)))), 56)
  expect_equal(sum(amat(fit(fixedGaps = !diag(8)))), 0)
})

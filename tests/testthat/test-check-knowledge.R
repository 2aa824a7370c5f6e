fit <- function(...) skeleton(suff(), gaussCItest, 0.05, p = 8, ...)

bad <- function(argument, message, ...) {
  e <- expect_error(fit(...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
  expect_match(conditionMessage(e), e$hint, fixed = TRUE)
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
  missing <- none
  missing[1, 2] <- missing[2, 1] <- NA
  bad("fixedGaps", "NA in 2 entries", fixedGaps = missing)
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

test_that("numbers other than 0 are TRUE, as in pcalg", {
  pair <- none
  pair[1, 8] <- pair[8, 1] <- TRUE
  for (factor in c(2, -0.5, 1e-300)) {
    expect_identical(fit(fixedGaps = pair * factor)@graph, fit(fixedGaps = pair)@graph)
    expect_identical(fit(fixedEdges = pair * factor)@graph, fit(fixedEdges = pair)@graph)
  }
  skip_without_pcalg()
  expect_same_result(
    fit(fixedGaps = pair * 7),
    pcalg::skeleton(suff(), pcalg::gaussCItest, 0.05, p = 8, fixedGaps = pair * 7)
  )
  expect_same_result(
    fit(fixedEdges = pair * 7),
    pcalg::skeleton(suff(), pcalg::gaussCItest, 0.05, p = 8, fixedEdges = pair * 7)
  )
})

test_that("names of gaps and edges are the labels in their order; others go by position, with a warning", {
  labels <- paste0("v", 1:8)
  pair <- none
  pair[1, 8] <- pair[8, 1] <- TRUE
  with_names <- function(names) structure(pair, dimnames = list(names, names))
  run <- function(...) skeleton(suff(), gaussCItest, 0.05, labels = labels, ...)
  for (argument in c("fixedGaps", "fixedEdges")) {
    given <- function(matrix) do.call(run, stats::setNames(list(matrix), argument))
    want <- given(pair)@graph
    expect_no_warning(same <- given(with_names(labels)))
    expect_identical(same@graph, want)
    e <- expect_error(given(with_names(labels[c(8, 1:7)])), "in a different order", class = "pcgpu_error_argument")
    expect_identical(e$argument, "labels")
    w <- expect_warning(other <- given(with_names(LETTERS[1:8])), "by position", class = "pcgpu_warning_names")
    expect_identical(w$argument, argument)
    expect_identical(other@graph, want)
    expect_error(
      given(structure(pair, dimnames = list(labels, labels[8:1]))),
      "different orders",
      class = "pcgpu_error_argument"
    )
  }
})

test_that("names of gaps and edges are compared with those of the data if there are no labels", {
  s <- suff()
  names <- paste0("v", 1:8)
  dimnames(s$C) <- list(names, names)
  pair <- none
  pair[1, 8] <- pair[8, 1] <- TRUE
  with_names <- function(names) structure(pair, dimnames = list(names, names))
  environment_of <- list2env(s)
  codes <- simulate_codes(8, 300)
  colnames(codes$dm) <- names
  for (argument in c("fixedGaps", "fixedEdges")) {
    given <- function(matrix, s, test = gaussCItest) {
      suppressWarnings(
        do.call(skeleton, c(list(s, test, 0.05, p = 8), stats::setNames(list(matrix), argument))),
        classes = "pcgpu_warning_too_few"
      )
    }
    want <- given(pair, s)@graph
    expect_no_warning(same <- given(with_names(names), s))
    expect_identical(same@graph, want)
    for (stat in list(s, environment_of)) {
      e <- expect_error(
        given(with_names(names[c(8, 1:7)]), stat),
        "in a different order",
        class = "pcgpu_error_argument"
      )
      expect_identical(e$argument, argument)
      expect_match(
        conditionMessage(e),
        sprintf("`%s` has the name \"v8\" at position 1, where `suffStat` has \"v1\"", argument),
        fixed = TRUE
      )
    }
    expect_error(
      given(with_names(names[c(8, 1:7)]), codes, disCItest),
      "in a different order",
      class = "pcgpu_error_argument"
    )
    expect_warning(other <- given(with_names(LETTERS[1:8]), s), "matched by position", class = "pcgpu_warning_names")
    expect_identical(other@graph, want)
    # Numbers that count backwards are an order, too; data without names have none.
    plain <- lapply(s, unname)
    expect_error(
      given(with_names(paste(8:1)), plain),
      sprintf("`%s` has the numbers of the variables as names, .*\"8\" at position 1", argument),
      class = "pcgpu_error_argument"
    )
    rows <- s
    colnames(rows$C) <- NULL
    expect_error(given(with_names(rev(names)), rows), "in a different order", class = "pcgpu_error_argument")
    # Labels of the user's own do not hide it.
    hidden <- c(
      list(s, gaussCItest, 0.05, labels = LETTERS[1:8]),
      stats::setNames(list(with_names(rev(names))), argument)
    )
    expect_error(
      suppressWarnings(do.call(skeleton, hidden)),
      "names of `suffStat` in a different order",
      class = "pcgpu_error_argument"
    )
    expect_no_warning(given(with_names(LETTERS[1:8]), plain))
  }
  s <- suff()
  dimnames(s$C) <- list(8:1, 8:1)
  expect_error(skeleton(s, gaussCItest, 0.05, p = 8), "in a different order", class = "pcgpu_error_argument")
})

test_that("names of gaps and of edges contradict each other", {
  plain <- lapply(suff(), unname)
  pair <- none
  pair[1, 8] <- pair[8, 1] <- TRUE
  gaps <- structure(pair, dimnames = list(letters[1:8], letters[1:8]))
  expect_silent(skeleton(plain, gaussCItest, 0.05, p = 8, fixedGaps = gaps, fixedEdges = gaps))
  expect_error(
    skeleton(plain, gaussCItest, 0.05, p = 8, fixedGaps = gaps[8:1, 8:1], fixedEdges = gaps),
    "names of `fixedGaps` in a different order",
    class = "pcgpu_error_argument"
  )
})

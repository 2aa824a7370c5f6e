# pc(data, alpha = ) decides v-structures by the majority rule where that takes few tests; a call that names its test is
# pcalg's.

few_rows <- function(seed, p = 10, n = 60) {
  x <- simulate(p, n, degree = 3, seed = seed)
  colnames(x) <- paste0("v", seq_len(p))
  x
}
by_data <- function(...) suppressMessages(pc(..., alpha = 0.1, numCores = 2))

test_that("data alone are searched with the majority rule, and with pcalg's rule if the test is named", {
  differ <- 0
  for (seed in 1:8) {
    x <- few_rows(seed)
    majority <- pc(suff_gauss(x), gaussCItest, 0.1, maj.rule = TRUE)
    standard <- pc(suff_gauss(x), gaussCItest, 0.1)
    expect_identical_answer(by_data(x), majority)
    expect_identical_answer(by_data(x, maj.rule = FALSE), standard)
    expect_identical_answer(
      by_data(x, result = "compact"),
      pc(suff_gauss(x), gaussCItest, 0.1, maj.rule = TRUE, result = "compact")
    )
    differ <- differ + !identical(majority@graph, standard@graph)
    # An explicit rule is used.
    expect_identical_answer(by_data(x, conservative = TRUE), pc(suff_gauss(x), gaussCItest, 0.1, conservative = TRUE))
    set.seed(1)
    retried <- pc(suff_gauss(x), gaussCItest, 0.1, u2pd = "retry")
    set.seed(1)
    expect_identical_answer(by_data(x, u2pd = "retry"), retried)
    # What the note on an invalid graph advises.
    expect_identical_answer(
      by_data(x, u2pd = "valid"),
      pc(suff_gauss(x), gaussCItest, 0.1, maj.rule = TRUE, u2pd = "valid")
    )
    expect_identical_answer(
      by_data(x, solve.confl = TRUE),
      pc(suff_gauss(x), gaussCItest, 0.1, maj.rule = TRUE, solve.confl = TRUE)
    )
  }
  expect_gt(differ, 3)
  # Levels, and both.
  x <- as.data.frame(few_rows(1, n = 300))
  x[1:3] <- lapply(x[1:3], function(v) cut(v, 3))
  expect_identical_answer(by_data(x), pc(x, mixCItest, 0.1, maj.rule = TRUE))
  x[] <- lapply(x, function(v) if (is.factor(v)) v else cut(v, 2))
  expect_identical_answer(
    suppressWarnings(by_data(x)),
    suppressWarnings(pc(suff_discrete(x), disCItest, 0.1, maj.rule = TRUE))
  )
})

test_that("the rule is reported if the user did not choose it", {
  x <- few_rows(2)
  fit <- by_data(x)
  expect_identical(run_details(fit)$default_rule, "majority")
  expect_match(
    capture.output(print(fit)),
    "^V-structures decided by the majority rule, the default for data",
    all = FALSE
  )
  expect_output(print(run_details(fit)), "V-structures decided by the majority rule")
  for (other in list(by_data(x, maj.rule = TRUE), by_data(x, maj.rule = FALSE), pc(suff_gauss(x), gaussCItest, 0.1))) {
    expect_null(run_details(other)$default_rule)
    expect_no_match(capture.output(print(other)), "default for data")
  }
})

test_that("pcalg's rule decides if the majority rule would take too many tests", {
  # 70 variables around one, of which two ends have a common neighbour: 2^70 sets.
  set.seed(1)
  hub <- rnorm(5000)
  x <- cbind(hub, matrix(rnorm(5000 * 70), 5000) + hub, deparse.level = 0)
  x <- cbind(x, x[, 2] + rnorm(5000))
  colnames(x) <- paste0("v", seq_len(ncol(x)))
  fit <- by_data(x, m.max = 1)
  expect_identical(run_details(fit)$default_rule, "standard")
  expect_identical_answer(fit, pc(suff_gauss(x), gaussCItest, 0.1, m.max = 1))
  expect_match(gsub("\\s+", " ", paste(capture.output(print(fit)), collapse = " ")), "would take too many tests")
  expect_error(by_data(x, m.max = 1, maj.rule = TRUE), class = "pcgpu_error_argument")
})

test_that("samples of data are searched as the data", {
  x <- few_rows(3)
  run <- function(...) suppressMessages(stability(x, ..., alpha = 0.1, replicates = 20, seed = 1, numCores = 2))
  expect_identical(run()$counts, run(gaussCItest, maj.rule = TRUE)$counts)
  expect_identical(run(maj.rule = FALSE)$counts, run(gaussCItest)$counts)
  expect_false(identical(run()$counts, run(gaussCItest)$counts))
  expect_identical(run_details(run()$fit)$default_rule, "majority")
  expect_identical(run(u2pd = "valid")$valid, 20L)
  expect_identical(run(u2pd = "retry")$counts, run(gaussCItest, u2pd = "retry")$counts)
})

test_that("a question without an answer has no vote, while the rule that the user chose stops", {
  x <- as.data.frame(few_rows(4, n = 40))
  x$v1[1:34] <- NA
  x$v2[7:40] <- NA
  run <- function(...) suppressWarnings(suppressMessages(pc(x, alpha = 0.3, na = "testwise", numCores = 2, ...)))
  expect_identical(run_details(run())$default_rule, "majority")
})

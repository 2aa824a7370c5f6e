test_that("verbose prints pcalg's line for each level", {
  s <- suff()
  lines <- capture.output(fit <- skeleton(s, gaussCItest, 0.05, p = 8, verbose = TRUE))
  expect_length(lines, length(fit@n.edgetests))
  expect_identical(lines[1], "Order=0; remaining edges:56")
  lines <- capture.output(fit <- skeleton(s, gaussCItest, 0.05, p = 8, method = "stable.fast", verbose = TRUE))
  expect_true(all(grepl("^Order = [0-9]+; remaining edges: [0-9]+$", lines)))
  expect_identical(substr(lines[1], 1, 9), "Order = 1")
})

test_that("tests that are R functions are printed one by one", {
  test <- function(x, y, S, suffStat) 0.5
  expect_identical(capture.output(s <- skeleton(NULL, test, 0.05, p = 2, verbose = TRUE)), c(
    "Order=0; remaining edges:2", "x= 1  y= 2  S=  : pval = 0.5 "
  ))
  lines <- capture.output(s <- skeleton(NULL, test, 0.05, p = 2, method = "stable.fast", verbose = TRUE))
  expect_identical(lines[1], "  x = 0, y = 1, S = () : pval = 0.5")
})

test_that("the lines are pcalg's", {
  skip_without_pcalg()
  s <- suff()
  for (method in c("stable", "original")) {
    ours <- capture.output(fit <- skeleton(s, gaussCItest, 0.05, p = 8, method = method, verbose = TRUE))
    theirs <- capture.output(
      fit <- pcalg::skeleton(s, pcalg::gaussCItest, 0.05, p = 8, method = method, verbose = TRUE)
    )
    expect_identical(ours, grep("^Order", theirs, value = TRUE))
    wrapped <- function(x, y, S, suffStat) round(gaussCItest(x, y, S, suffStat), 6)
    ours <- capture.output(fit <- skeleton(s, wrapped, 0.05, p = 8, method = method, verbose = TRUE))
    theirs <- capture.output(fit <- pcalg::skeleton(s, wrapped, 0.05, p = 8, method = method, verbose = TRUE))
    expect_identical(ours, grep("^\\|i=", theirs, value = TRUE, invert = TRUE))
  }
  ours <- capture.output(fit <- skeleton(s, gaussCItest, 0.05, p = 8, method = "stable.fast", verbose = TRUE))
  theirs <- capture.output(
    fit <- pcalg::skeleton(s, pcalg::gaussCItest, 0.05, p = 8, method = "stable.fast", verbose = TRUE)
  )
  expect_identical(ours, grep("^Order", theirs, value = TRUE))
})

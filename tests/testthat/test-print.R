test_that("show() and summary() keep pcalg's format", {
  fit <- small_fit()
  fit@call <- quote(pc(s))
  expect_identical(
    capture.output(fit),
    c(
      "Object of class 'pcAlgo', from Call:",
      "pc(s)",
      "Number of undirected edges:  0 ",
      "Number of directed edges:    3 ",
      "Total number of edges:       3 "
    )
  )
  expect_identical(capture.output(print(fit)), capture.output(fit))
  expect_identical(
    capture.output(invisible(summary(fit))),
    c(
      "Object of class 'pcAlgo', from Call:",
      "pc(s)",
      "",
      "Nmb. edgetests during skeleton estimation:",
      "===========================================",
      paste("Max. order of algorithm: ", fit@max.ord, ""),
      paste("Number of edgetests from m = 0 up to m =", fit@max.ord, ": ", paste(fit@n.edgetests, collapse = " ")),
      "",
      "Graphical properties of skeleton:",
      "=================================",
      "Max. number of neighbours:  1 at node(s) 1 2 3 ",
      "Avg. number of neighbours:  0.75 ",
      "",
      "Adjacency Matrix G:",
      "  a b c d",
      "a . . 1 .",
      "b . . 1 .",
      "c . . . 1",
      "d . . . ."
    )
  )
})

test_that("print(amat = TRUE) shows the matrix", {
  skip_with_pcalg()
  expect_match(capture.output(print(small_fit(), amat = TRUE)), "Adjacency Matrix G:", all = FALSE)
})

test_that("our methods and pcalg's print the same", {
  skip_without_pcalg()
  # Except for the lines on what is no CPDAG.
  old <- options(width = 200)
  on.exit(options(old))
  printed <- function(code) grep("^(Not|For) a valid CPDAG", capture.output(code), invert = TRUE, value = TRUE)
  for (seed in 1:4) {
    fit <- pc(suff(p = 9, n = 60, degree = 3, seed = seed), gaussCItest, 0.1, p = 9, solve.confl = TRUE)
    theirs <- methods::selectMethod("show", class(fit))
    expect_identical(printed(pcgpu:::print_result(fit)), printed(theirs(fit)))
    expect_identical(
      printed(pcgpu:::print_result(fit, amat = TRUE)),
      capture.output(getFromNamespace("print.pcAlgo", "pcalg")(fit, amat = TRUE))
    )
    theirs <- methods::selectMethod(getExportedValue("pcalg", "summary"), class(fit))
    for (amat in c(TRUE, FALSE)) {
      expect_identical(
        printed(invisible(pcgpu:::summary.pcAlgo(fit, amat = amat))),
        printed(invisible(theirs(fit, amat = amat)))
      )
    }
    amat <- as(fit, "amat")
    expect_identical(
      capture.output(pcgpu:::print_amat(amat)),
      capture.output(getFromNamespace("print.amat", "pcalg")(amat))
    )
  }
})

test_that("graphs without edges print and summarise", {
  fit <- pc(list(C = diag(3), n = 30), gaussCItest, 0.01, p = 3)
  expect_match(capture.output(fit), "Total number of edges:       0", all = FALSE)
  expect_match(capture.output(invisible(summary(fit))), "Avg. number of neighbours:  0", all = FALSE)
})

test_that("a call of do.call() is printed without its data", {
  fit <- suppressMessages(do.call(pc, list(mtcars, alpha = 0.01)))
  expect_output(print(fit), "FUN(suffStat = <data.frame>, alpha = 0.01)", fixed = TRUE)
  fit <- suppressMessages(do.call("pc", list(as.matrix(mtcars), alpha = 0.01, u2pd = "relaxed")))
  expect_output(summary(fit), "pc(suffStat = <matrix>, alpha = 0.01, u2pd = \"relaxed\")", fixed = TRUE)
})

summary_lines <- function(fit, ...) {
  fit@call <- structure(quote(pc(s)), pcgpu = attr(fit@call, "pcgpu"))
  said <- if (is(fit, "pcCompact") || !requireNamespace("pcalg", quietly = TRUE)) {
    capture.output(invisible(summary(fit, ...)))
  } else {
    capture.output(invisible(methods::selectMethod(getExportedValue("pcalg", "summary"), class(fit))(fit, ...)))
  }
  # How long it took is another number each time.
  sub(", [0-9.e-]+ seconds$", "", sub("pcCompact", "pcAlgo", said))
}

test_that("a summary of many variables fits on a screen, the same for either class", {
  x <- simulate(120, 100, degree = 2, seed = 1)
  fits <- lapply(c("pcAlgo", "compact"), function(result) {
    pc(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x), solve.confl = TRUE, numCores = 2, result = result)
  })
  said <- summary_lines(fits[[1]])
  expect_identical(said, summary_lines(fits[[2]]))
  expect_lt(length(said), 24)
  expect_true(all(nchar(said) <= getOption("width")))
  table <- edges(fits[[1]])
  degree <- sort(table(factor(c(table$from, table$to), colnames(x))), decreasing = TRUE)
  expect_match(
    said,
    sprintf("^120 variables, %d edges: %d directed", nrow(table), sum(table$kind == "-->")),
    all = FALSE
  )
  expect_match(said, "gaussCItest, alpha = 0.01, 100 samples, on cpu", all = FALSE, fixed = TRUE)
  expect_match(
    said,
    sprintf("by level: 0: %s, 1: ", format(fits[[1]]@n.edgetests[1], big.mark = ",")),
    all = FALSE,
    fixed = TRUE
  )
  expect_match(said, sprintf("maximum %d", degree[[1]]), all = FALSE)
  expect_match(
    said,
    sprintf(
      "Most neighbours: %s (%d)",
      colnames(x)[match(names(degree)[degree == degree[[1]]][1], colnames(x))],
      degree[[1]]
    ),
    all = FALSE,
    fixed = TRUE
  )
  expect_match(
    gsub(" +", " ", paste(said, collapse = " ")),
    sprintf("and %d variables without an edge", sum(degree == 0))
  )
})

test_that("up to 50 variables it is pcalg's", {
  for (p in 50:51) {
    fit <- skeleton(list(C = diag(p), n = 30), gaussCItest, 0.01, p = p, result = "compact")
    expect_identical(any(grepl("Nmb. edgetests", summary_lines(fit))), p == 50)
  }
})

test_that("amat = TRUE is pcalg's format of many variables, too", {
  fit <- skeleton(list(C = diag(60), n = 30), gaussCItest, 0.01, p = 60)
  expect_match(summary_lines(fit, amat = TRUE), "Adjacency Matrix G", all = FALSE)
  expect_false(any(grepl("Adjacency", summary_lines(fit))))
  expect_match(summary_lines(fit), "60 variables without an edge", all = FALSE)
})

test_that("components are counted", {
  count <- function(p, from, to) sort(tabulate(pcgpu:::components(p, list(from = from, to = to))))
  expect_identical(count(3L, integer(), integer()), c(1L, 1L, 1L))
  expect_identical(count(5L, c(1L, 5L), c(2L, 2L)), c(1L, 1L, 3L))
  # A path whose numbers go up and down.
  path <- c(7L, 1L, 9L, 2L, 10L, 3L, 8L, 4L, 6L, 5L)
  expect_identical(count(10L, path[-10], path[-1]), 10L)
  set.seed(1)
  for (round in 1:20) {
    from <- sample.int(40L, 25, TRUE)
    to <- sample.int(40L, 25, TRUE)
    near <- diag(40) > 0
    near[cbind(c(from, to), c(to, from))] <- TRUE
    for (k in 1:6) {
      near <- near %*% near > 0
    }
    expect_identical(count(40L, from, to), sort(tabulate(max.col(near, "first"))[unique(max.col(near, "first"))]))
  }
})

test_that("50,000 variables and 200,000 edges are summarised", {
  big <- compact_of(cpdag_of(random_dag(50000, neighbours = 8, seed = 1)), conflicts = 1000)
  said <- capture.output(invisible(summary(big)))
  expect_match(said, "50,000 variables, .* 1,000 in", all = FALSE)
})

# Returns 100 rows in which k has another value in the first alone, which a and d lack.
lonely <- function() {
  set.seed(1)
  a <- rnorm(100)
  b <- a + rnorm(100)
  d <- rnorm(100)
  x <- data.frame(a, b, d, k = c(1, rep(0, 99)) + 0.5)
  x[1L, c("a", "d")] <- NA
  x
}

# Returns the warnings of this class, in order.
warned <- function(code, class) {
  found <- list()
  withCallingHandlers(suppressMessages(code), pcgpu_warning = function(w) {
    if (inherits(w, class)) {
      found <<- c(found, list(w))
    }
    tryInvokeRestart("muffleWarning")
  })
  found
}

test_that("edges that tests without an answer remove or keep are counted", {
  x <- lonely()
  for (method in c("stable", "original", "stable.fast")) {
    said <- warned(pc(x, alpha = 0.01, na = "testwise", skel.method = method), "pcgpu_warning_no_answer")
    expect_length(said, 1L)
    expect_identical(said[[1L]]$count, 2, info = method)
    expect_match(conditionMessage(said[[1L]]), "^2 edges were removed")
  }
  # a - k, d - k, and a - b, whose test given k has none.
  said <- warned(fit <- pc(x, alpha = 0.01, na = "testwise", NAdelete = FALSE), "pcgpu_warning_no_answer")
  expect_match(conditionMessage(said[[1L]]), "^3 edges were kept .*NAdelete = FALSE")
  expect_true(all(c("a", "d") %in% c(edges(fit)$from[edges(fit)$to == "k"], edges(fit)$to[edges(fit)$from == "k"])))
  # Not those that are kept whatever tests say.
  fixed <- matrix(FALSE, 4, 4)
  fixed[1, 4] <- fixed[4, 1] <- TRUE
  said <- warned(pc(x, alpha = 0.01, na = "testwise", NAdelete = FALSE, fixedEdges = fixed), "pcgpu_warning_no_answer")
  expect_identical(said[[1L]]$count, 2)
  said <- warned(fci(x, alpha = 0.01, na = "testwise"), "pcgpu_warning_no_answer")
  expect_identical(said[[1L]]$count, 2)
  # Of the graph of all rows; some samples have none of the holes.
  said <- warned(stability(x, alpha = 0.01, na = "testwise", replicates = 20, seed = 1), "pcgpu_warning_no_answer")
  expect_length(said, 1L)
  # Nothing is said of data whose tests have answers.
  x[1L, c("a", "d")] <- 0
  expect_length(warned(pc(x, alpha = 0.01), "pcgpu_warning"), 0L)
})

test_that("levels and mixed data report the same", {
  x <- lonely()
  x$k <- factor(x$k)
  expect_identical(warned(pc(x, alpha = 0.01, na = "testwise"), "pcgpu_warning_too_few"), list())
  x[1:3] <- lapply(x[1:3], function(column) factor(column > 0))
  said <- warned(pc(x, alpha = 0.01, na = "testwise"), "pcgpu_warning_no_answer")
  expect_identical(said[[1L]]$count, 2)
})

test_that("an edge is counted if it is kept because a test given one variable has no answer", {
  set.seed(2)
  a <- rnorm(200)
  b <- a + rnorm(200)
  d <- b + rnorm(200)
  x <- data.frame(a, b, d)
  # b is never seen with both others.
  x$b[1:100] <- NA
  x$a[101:200] <- NA
  said <- warned(pc(x, alpha = 0.01, na = "testwise", NAdelete = FALSE), "pcgpu_warning_no_answer")
  expect_gte(said[[1L]]$count, 1)
})

test_that("tests of levels that need more rows are counted if there are numbers, too", {
  set.seed(3)
  x <- data.frame(a = factor(sample(1:6, 100, TRUE)), b = factor(sample(1:6, 100, TRUE)), z = rnorm(100))
  said <- warned(pc(x, alpha = 0.01), "pcgpu_warning_too_few")
  expect_identical(said[[1L]]$count, 1)
  expect_match(conditionMessage(said[[1L]]), "n = 100 is too small .*10 rows per degree")
})

test_that("R functions and missing correlations give warnings, too", {
  set.seed(4)
  x <- matrix(rnorm(400), 100)
  suff <- list(C = cor(x), n = 100)
  none <- function(x, y, S, suffStat) if (x == 1 && y == 2) NA else gaussCItest(x, y, S, suffStat)
  said <- warned(pc(suff, none, 0.01, p = 4), "pcgpu_warning_no_answer")
  expect_match(conditionMessage(said[[1L]]), "returned NA in 1 test, .*independence")
  said <- warned(skeleton(suff, none, 0.01, p = 4, NAdelete = FALSE), "pcgpu_warning_no_answer")
  expect_match(conditionMessage(said[[1L]]), "dependence \\(NAdelete = FALSE\\)")
  suff$C[1, 2] <- suff$C[2, 1] <- suff$C[3, 4] <- suff$C[4, 3] <- NA
  said <- warned(pc(suff, gaussCItest, 0.01, p = 4), "pcgpu_warning_no_answer")
  expect_match(conditionMessage(said[[1L]]), "suffStat\\$C` has 2 NAs: gaussCItest\\(\\) treats NA as 0")
  said <- warned(
    pc(suff, gaussCItest, 0.01, p = 4, skel.method = "stable.fast", NAdelete = FALSE),
    "pcgpu_warning_no_answer"
  )
  expect_match(conditionMessage(said[[1L]]), "treated as dependence")
})

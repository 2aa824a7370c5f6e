run <- function(suffStat, labels = paste0("v", 1:8)) pc(suffStat, gaussCItest, 0.05, labels = labels)

# Expects that the condition names the argument, the value and the hint, in its fields and in its message.
bad <- function(suffStat, argument, message, ...) {
  e <- expect_error(run(suffStat, ...), class = "pcgpu_error_argument")
  expect_match(conditionMessage(e), message, fixed = TRUE)
  expect_identical(e$argument, argument)
  expect_true("value" %in% names(e))
  expect_match(conditionMessage(e), e$hint, fixed = TRUE)
  expect_match(conditionMessage(e), paste0("`", argument, "`"), fixed = TRUE)
}

test_that("data in place of correlations are refused", {
  x <- simulate(8, 100)
  hint <- "list(C = cor(x), n = nrow(x))"
  bad(list(C = x, n = 100), "suffStat$C", hint)
  bad(list(x), "suffStat", hint)
  bad("C", "suffStat", hint)
  bad(cor(x), "suffStat", "list(C = <this matrix>")
})

test_that("C must be a square numeric matrix of the right size", {
  s <- suff()
  bad(list(C = s$C[, 1:7], n = 10), "suffStat$C", "8 x 7")
  bad(list(C = matrix("a", 8, 8), n = 10), "suffStat$C", "character matrix")
  bad(list(C = s$C[1:7, 1:7], n = 10), "suffStat$C", "for each of the 8 variables, not 7")
  bad(list(C = 1:64, n = 10), "suffStat$C", "8 x 8")
})

test_that("C must be symmetric up to rounding", {
  s <- suff()
  s$C[2, 5] <- s$C[2, 5] + 1e-6
  bad(s, "suffStat$C", "not symmetric: [5, 2]")
  s <- suff()
  want <- run(s)@graph
  s$C[2, 5] <- s$C[2, 5] + 1e-14
  expect_identical(run(s)@graph, want)
  s$C[2, 5] <- NA
  bad(s, "suffStat$C", "not symmetric")
})

test_that("C must be a correlation matrix, and a covariance matrix is named as one", {
  s <- suff()
  x <- simulate(8, 200)
  bad(list(C = cov(x) * 4, n = 200), "suffStat$C", "cov2cor")
  s$C[3, 4] <- s$C[4, 3] <- -1.01
  bad(s, "suffStat$C", "-1.01 at [")
  s$C[3, 4] <- s$C[4, 3] <- Inf
  bad(s, "suffStat$C", "Inf at [")
  s$C[3, 4] <- s$C[4, 3] <- 1 + 1e-12
  expect_s4_class(run(s), "pcAlgo")
})

# Expects that the search checks the matrix if there are many variables, see matrix_checked().
expect_checked_on <- function(device) {
  p <- pcgpu:::most_checked_first + 1L
  fine <- suff(p = p, n = 100, degree = 1)
  changed <- function(i, j, one, other = one) {
    s <- fine
    s$C[i, j] <- one
    s$C[j, i] <- other
    s
  }
  searches <- list(
    function(s) {
      skeleton(s, gaussCItest, 0.001, p = p, method = "stable.fast", m.max = 1, device = device, result = "compact")
    },
    function(s) pc(s, gaussCItest, 0.001, p = p, m.max = 1, device = device, result = "compact"),
    function(s) skeleton(s, gaussCItest, 0.001, p = p, m.max = 0, device = device)
  )
  wrong <- list(
    "not symmetric: [700, 3] is 0.5 and [3, 700] is 0.25" = changed(3, 700, 0.25, 0.5),
    "not symmetric: [700, 3] is NA and [3, 700] is 0.25" = changed(3, 700, 0.25, NA),
    "-1.01 at [" = changed(3, 700, -1.01),
    "Inf at [" = changed(3, 700, Inf),
    "cov2cor" = list(C = 2 * fine$C, n = 100)
  )
  for (what in names(wrong)) {
    # As the check by itself says it.
    wanted <- expect_error(
      pcgpu:::check_cor_values(wrong[[what]]$C, 2L),
      what,
      fixed = TRUE,
      class = "pcgpu_error_argument"
    )
    for (search in searches) {
      e <- expect_error(search(wrong[[what]]), class = "pcgpu_error_argument")
      expect_identical(e[c("message", "argument", "value", "hint")], wanted[c("message", "argument", "value", "hint")])
    }
  }
  holes <- changed(3, 700, NA)
  holes$C[5, 9] <- holes$C[9, 5] <- NA
  for (search in searches) {
    expect_warning(found <- search(holes), "`suffStat$C` has 2 NAs", fixed = TRUE, class = "pcgpu_warning_no_answer")
    expect_warning(search(fine), NA)
    expect_true(is(found, "pcCompact") || is(found, "pcAlgo"))
  }
}

test_that("many variables get the errors and warnings of few", {
  expect_checked_on("cpu")
})

test_that("many variables get the errors and warnings of few on a GPU, which searches meanwhile", {
  skip_without_gpu()
  expect_checked_on("cuda")
})

test_that("names on C must agree with the labels", {
  s <- suff()
  bad(s, "labels", "in a different order", labels = paste0("v", 8:1))
  rownames(s$C) <- rev(colnames(s$C))
  bad(s, "suffStat$C", "in different orders")
  rownames(s$C) <- paste0("w", 1:8)
  expect_silent(run(s, labels = colnames(s$C)))
  dimnames(s$C) <- NULL
  expect_identical(graph::nodes(run(s, labels = LETTERS[1:8])@graph), LETTERS[1:8])
  expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8), "pcAlgo")
})

test_that("n must be a number from 1", {
  C <- suff()$C
  bad(list(C = C), "suffStat$n", "missing")
  for (n in list(0, -5, NA, NA_real_, "100", c(1, 2), Inf)) {
    bad(list(C = C, n = n), "suffStat$n", "of at least 1")
  }
})

test_that("NA in C is treated as NAdelete says, as in pcalg", {
  s <- suff()
  s$C[1, 2] <- s$C[2, 1] <- NA
  expect_warning(fit <- skeleton(s, gaussCItest, 0.05, p = 8), "has 1 NA:", class = "pcgpu_warning_no_answer")
  expect_equal(amat(fit)[1, 2], 0)
  all_missing <- list(C = matrix(NA_real_, 3, 3), n = 10)
  expect_warning(
    fit <- skeleton(all_missing, gaussCItest, 0.05, p = 3),
    "has 3 NAs:",
    class = "pcgpu_warning_no_answer"
  )
  expect_equal(sum(amat(fit)), 0)
})

test_that("integer matrices, data frames and Matrix objects of correlations are accepted", {
  s <- suff()
  want <- run(s)@graph
  expect_identical(run(list(C = as.data.frame(s$C), n = s$n))@graph, want)
  expect_equal(sum(amat(pc(list(C = diag(3L), n = 10L), gaussCItest, 0.05, p = 3))), 0)
  skip_if_not_installed("Matrix")
  expect_identical(run(list(C = Matrix::Matrix(s$C), n = s$n))@graph, want)
})

test_that("a correlation just beyond 1 is shown with its digits", {
  s <- suff()
  s$C[3, 4] <- s$C[4, 3] <- 1 + 1e-7
  bad(s, "suffStat$C", "1.0000001 at [4, 3]")
})

test_that("numbers close to the limits are shown with enough digits", {
  C <- matrix(c(1 + 1e-7, 0.5, 0.5, 1), 2)
  expect_error(
    pc(list(C = C, n = 50), gaussCItest, 0.05, p = 2),
    "a matrix with 1.0000001 instead of 1 on its diagonal",
    class = "pcgpu_error_argument"
  )
  expect_warning(
    pc(list(C = diag(2), n = 50), gaussCItest, 1 + 1e-9, p = 2),
    "`alpha` is 1.000000001",
    class = "pcgpu_warning_alpha"
  )
})

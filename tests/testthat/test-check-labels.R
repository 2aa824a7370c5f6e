bad <- function(argument, message, ...) {
  e <- expect_error(skeleton(suff(), gaussCItest, 0.05, ...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
  expect_match(conditionMessage(e), e$hint, fixed = TRUE)
}

test_that("labels or p are needed, and must agree, in pcalg's words", {
  # Where nothing says how many variables there are.
  e <- expect_error(
    skeleton(list(), function(x, y, S, suffStat) 1, 0.05),
    "need to specify 'labels' or 'p'",
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "labels")
  bad(
    "p",
    "'p' is not needed when 'labels' is specified, and must match length(labels)",
    labels = paste0("v", 1:8),
    p = 7
  )
})

test_that("p is a number from 2", {
  for (p in list(1, 0, -3, NA, "8", c(8, 8), NULL, Inf, 8.5)) {
    bad("p", "p >= 2", p = p)
  }
})

test_that("labels are distinct names", {
  bad("labels", "character vector", labels = 1:8)
  bad("labels", "character vector", labels = NULL)
  bad("labels", "at least two", labels = "a")
  bad("labels", "NA for 1 of 8 variables", labels = c(paste0("v", 1:7), NA))
  bad("labels", "duplicated names, \"v1\"", labels = c("v1", "v1", paste0("v", 3:8)))
  bad("labels", "\"a|b\"", labels = c("a|b", paste0("v", 2:8)))
  bad("labels", "non-empty", labels = c("", paste0("v", 2:8)))
})

test_that("labels of a class of their own are names like any others", {
  plain <- paste0("v", 1:8)
  for (odd in list(structure(plain, class = "glue"), structure(plain, class = c("noquote")), I(plain))) {
    expect_identical(
      skeleton(suff(), gaussCItest, 0.05, labels = odd)@graph,
      skeleton(suff(), gaussCItest, 0.05, labels = plain)@graph
    )
  }
})

# Returns the statistics that have names, with the argument that has them.
named <- function() {
  codes <- simulate_codes(5, 300)
  colnames(codes$dm) <- letters[1:5]
  x <- simulate(5, 60)
  colnames(x) <- letters[1:5]
  list(
    list(suff_gauss(x), gaussCItest, "suffStat$C"),
    list(suff_gauss(x, keep = "data"), gaussCItest, "suffStat$data"),
    list(codes, disCItest, "suffStat$dm"),
    list(suff_knn(x, permutations = 20, seed = 1), cmiKnnCItest, "suffStat$data")
  )
}

test_that("labels that differ from the names of the data go by position, with a warning", {
  for (case in named()) {
    run <- function(...) {
      suppressWarnings(skeleton(case[[1L]], case[[2L]], 0.05, ...), classes = "pcgpu_warning_too_few")
    }
    expect_no_warning(run(labels = letters[1:5]))
    expect_no_warning(run(p = 5))
    w <- expect_warning(fit <- run(labels = LETTERS[1:5]), "by position", class = "pcgpu_warning_names")
    expect_match(
      conditionMessage(w),
      sprintf("\"A\" at position 1, where `%s` has the name \"a\"", case[[3L]]),
      fixed = TRUE
    )
    expect_identical(fit@graph@nodes, LETTERS[1:5])
    expect_identical(unname(amat(fit)), unname(amat(run(p = 5))))
    # Some the same, some not; one that is no name.
    expect_warning(run(labels = c("a", "b", "d", "c", "x")), "\"d\" at position 3", class = "pcgpu_warning_names")
  }
  s <- suff_gauss(simulate(3, 60))
  colnames(s$C)[2] <- NA
  rownames(s$C) <- NULL
  expect_warning(
    skeleton(s, gaussCItest, 0.05, labels = c("v1", "NA", "v3")),
    "\"NA\" at position 2.*the name NA",
    class = "pcgpu_warning_names"
  )
})

test_that("labels that are the names in another order are refused", {
  for (case in named()) {
    e <- expect_error(
      skeleton(case[[1L]], case[[2L]], 0.05, labels = letters[c(2, 1, 3:5)]),
      class = "pcgpu_error_argument"
    )
    expect_identical(e$argument, "labels")
    expect_match(conditionMessage(e), sprintf("names of `%s` in a different order", case[[3L]]), fixed = TRUE)
  }
})

test_that("names in another order are refused whenever both sides have names", {
  x <- as.data.frame(random_data(random_dag(3, 2, seed = 1), 100, seed = 1))
  labels <- names(x)
  turned <- rev(labels)
  refused <- function(argument, value) {
    expect_error(
      value,
      sprintf("`%s`.* in a different order", gsub("$", "[$]", argument, fixed = TRUE)),
      class = "pcgpu_error_argument"
    )
  }
  compact <- skeleton(suff_gauss(x), gaussCItest, 1e-30, labels = labels, result = "compact")
  refused("suffStat", p_value(compact, "x1", "x2", suff_gauss(x[turned])))
  refused("suffStat", p_value(compact, "x1", "x2", suff_gauss(x[turned], keep = "data")))
  expect_identical(p_value(compact, "x1", "x2", suff_gauss(x)), gaussCItest(1, 2, NULL, suff_gauss(x)))
  # A test that is a function of the user.
  half <- function(x, y, S, suffStat) 0.5
  for (suff in list(x, as.matrix(x), suff_gauss(x), list(dm = as.matrix(x)))) {
    refused("suffStat", skeleton(suff, half, 0.05, labels = turned))
    expect_no_warning(skeleton(suff, half, 0.05, labels = c("a", "b", "d")))
    expect_no_warning(skeleton(suff, half, 0.05, labels = labels))
  }
  discrete <- suff_discrete(data.frame(lapply(x, function(column) factor(column > 0))))
  names(discrete$nlev) <- turned
  refused("suffStat$nlev", skeleton(discrete, disCItest, 0.05, labels = labels))
  C <- suff_gauss(x)$C
  refused("suffStat", skeleton(list(C, C[turned, turned], 100), gaussMItest, 0.05, labels = labels))
  skeleton <- skeleton(suff_gauss(x), gaussCItest, 0.05, labels = labels)
  p <- skeleton@pMax
  dimnames(p) <- list(turned, turned)
  refused("pMax", pdsep(skeleton@graph, suff_gauss(x), gaussCItest, sepset = skeleton@sepset, alpha = 0.05, pMax = p))
})

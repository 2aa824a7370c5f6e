narrow <- function(width, code) {
  old <- options(width = width)
  on.exit(options(old))
  utils::capture.output(code)
}

test_that("lines fit the console, and continued lines are indented", {
  said <- narrow(30, say_lines("one two three four five six seven eight", NULL, c("nine", "ten")))
  expect_identical(said, c("one two three four five six", "  seven eight", "nine", "ten"))
})

test_that("print() of results is no wider than the console", {
  dag <- random_dag(6, 3, seed = 1)
  x <- random_data(dag, 200, seed = 1)
  suff <- suff_gauss(x)
  invalid <- pc(suff, gaussCItest, 0.05, labels = colnames(x))
  attr(invalid@call, "pcgpu")[c("valid_cpdag", "advice")] <- list(FALSE, c("maj.rule = TRUE", "solve.confl = TRUE"))
  half <- stability(x, gaussCItest, 0.05, how = "subsample", replicates = 5, seed = 1)
  results <- list(
    half,
    summary(half),
    cstar(x, 0.05, replicates = 3, seed = 1),
    run_details(invalid),
    dag,
    summary(dag),
    suff_gauss(x, keep = "data"),
    gauss_moments(x),
    causal_effects(dag, x),
    summary(causal_effects(dag, x)),
    compare_graphs(dag, dag),
    markov_check(dag, x, gaussCItest, seed = 1),
    select_features(x[, -1], x[, 1], 2, ensemble = selection_ensemble(5, seed = 1)),
    fci(suff, gaussCItest, 0.05, labels = colnames(x))
  )
  for (width in c(40, 60)) {
    for (result in results) {
      lines <- narrow(width, print(result))
      # The call of a result is R's own text.
      lines <- lines[!grepl("^(Object of class|fci|    )", lines)]
      expect_lte(max(nchar(lines)), width)
    }
  }
  lines <- narrow(40, print(invalid))
  expect_lte(max(nchar(utils::tail(lines, 3))), 40)
  expect_match(paste(lines, collapse = " "), "Not a valid CPDAG")
})

test_that("a comma as the decimal mark does not separate thousands", {
  old <- options(OutDec = ",")
  on.exit(options(old))
  expect_no_warning(said <- c(in_words(c(1234567, 12)), counted(1500, "row")))
  expect_identical(said, c("1.234.567", "12", "1.500 rows"))
  set.seed(1)
  x <- matrix(rnorm(6000), 1500)
  fit <- pc(suff_gauss(x), gaussCItest, 0.05, p = 4)
  expect_no_warning(utils::capture.output(
    print(select_features(x[, -1], x[, 1] > 0, 2)),
    print(run_details(fit)),
    print(causal_effects(fit, x)),
    print(suff_gauss(x, keep = "data")),
    print(stability(x, gaussCItest, 0.05, replicates = 3)),
    print(random_dag(1200, 2, seed = 1)),
    print(gauss_moments(x))
  ))
  options(old)
  expect_identical(in_words(1234567), "1,234,567")
})

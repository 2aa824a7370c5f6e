numbers_of <- function() {
  set.seed(3)
  x <- data.frame(a = rnorm(200), b = rnorm(200))
  x$c <- x$a + x$b + rnorm(200)
  x
}

levels_of <- function() {
  set.seed(3)
  a <- sample(c("u", "v"), 500, TRUE)
  data.frame(a = factor(a), b = ifelse(runif(500) < 0.8, a, "w"), c = runif(500) < 0.5)
}

test_that("data are tested by their columns, and a message names the test", {
  x <- numbers_of()
  wanted <- pc(suff_gauss(x), gaussCItest, 0.01, labels = names(x), maj.rule = TRUE)
  for (data in list(x, as.matrix(x))) {
    m <- expect_message(
      found <- pc(data, alpha = 0.01),
      "200 samples (rows), 3 variables (columns), all numeric: using gaussCItest",
      fixed = TRUE,
      class = "pcgpu_message_data"
    )
    expect_identical_answer(found, wanted)
  }
  y <- levels_of()
  expect_message(
    found <- pc(y, alpha = 0.01),
    "500 samples (rows), 3 variables (columns), all discrete: using disCItest",
    fixed = TRUE,
    class = "pcgpu_message_data"
  )
  expect_identical_answer(found, pc(suff_discrete(y), disCItest, 0.01, labels = names(y), maj.rule = TRUE))
  expect_identical_answer(suppressMessages(pc(as.matrix(y), alpha = 0.01)), found)
  expect_identical(
    suppressMessages(skeleton(x, alpha = 0.01))@graph,
    skeleton(suff_gauss(x), gaussCItest, 0.01, p = 3, labels = names(x))@graph
  )
  expect_s4_class(suppressMessages(pc(Titanic, alpha = 0.01)), "pcAlgo")
})

test_that("genes are in rows of Bioconductor's containers", {
  skip_if_not_installed("SummarizedExperiment")
  x <- as.matrix(numbers_of())
  se <- SummarizedExperiment::SummarizedExperiment(list(counts = t(x)))
  expect_identical_answer(suppressMessages(pc(se, alpha = 0.01)), suppressMessages(pc(x, alpha = 0.01)))
})

test_that("data with missing values or too few columns are refused with a remedy", {
  bad <- function(x, message) {
    e <- expect_error(pc(x, alpha = 0.01), class = "pcgpu_error_argument")
    expect_identical(e$argument, "suffStat")
    expect_match(conditionMessage(e), message, fixed = TRUE)
  }
  x <- numbers_of()
  bad(x[1], "at least two variables")
  bad(x[0, ], "at least two variables")
  x$a[7] <- NA
  bad(x, "missing values")
  expect_error(pc(list(), alpha = 0.01, p = 3), "indepTest", class = "pcgpu_error_argument")
})

test_that("labels are those of the sufficient statistic, or numbers", {
  x <- numbers_of()
  s <- suff_gauss(x)
  expect_identical(pc(s, gaussCItest, 0.01)@graph, pc(s, gaussCItest, 0.01, labels = names(x))@graph)
  expect_identical(graph::nodes(pc(list(C = unname(s$C), n = s$n), gaussCItest, 0.01)@graph), c("1", "2", "3"))
  d <- suff_discrete(levels_of())
  expect_identical(graph::nodes(pc(d, disCItest, 0.01)@graph), c("a", "b", "c"))
  kept <- suff_gauss(x, keep = "data")
  expect_identical(pc(kept, gaussCItest, 0.01)@graph, pc(s, gaussCItest, 0.01)@graph)
})

test_that("objects that are no data are refused, and columns without names are numbered with a warning", {
  for (bad in list("file.csv", 1:10, NULL, list(1, 2))) {
    expect_error(pc(bad, alpha = 0.05), "`suffStat`.*use a data frame or matrix", class = "pcgpu_error_argument")
  }
  set.seed(2)
  x <- data.frame(a = rnorm(50), b = rnorm(50), c = rnorm(50))
  names(x)[2L] <- "a"
  expect_warning(
    fit <- suppressMessages(pc(x, alpha = 0.05)),
    "the name of column 2 is \"a\", like that of an earlier column",
    class = "pcgpu_warning_names"
  )
  expect_identical(fit@graph@nodes, as.character(1:3))
  names(x)[2L] <- NA
  expect_warning(suppressMessages(pc(x, alpha = 0.05)), "column 2 is NA", class = "pcgpu_warning_names")
  expect_error(mixCItest(1, 2), "`suffStat` is missing", class = "pcgpu_error_argument")
  expect_error(gaussCItest(1, 2), "`suffStat` is missing", class = "pcgpu_error_argument")
  expect_error(disCItest(1, 2), "`suffStat` is missing", class = "pcgpu_error_argument")
})

test_that("errors about data mention the data", {
  x <- data.frame(a = rnorm(30), b = 1)
  expect_error(
    suppressMessages(pc(x, alpha = 0.05)),
    "^The data are constant in column \"b\"",
    class = "pcgpu_error_argument"
  )
  expect_error(add_knowledge(1), "^`fit` is 1", class = "pcgpu_error_argument")
  expect_error(add_knowledge(), "`fit` is missing", class = "pcgpu_error_argument")
})

test_that("a level in the place of the test gives an error with a hint", {
  error <- expect_error(pc(iris[1:4], 0.05), "`indepTest` is 0.05.*alpha = 0.05", class = "pcgpu_error_argument")
  expect_identical(error$argument, "indepTest")
  expect_error(skeleton(iris[1:4], 0.05), "alpha = 0.05", class = "pcgpu_error_argument")
})

test_that("genes are in rows of Bioconductor's containers", {
  x <- as.matrix(iris[1:4])
  wanted <- edges(suppressMessages(pc(x, alpha = 0.01)))
  read <- function(container) expect_identical(edges(suppressMessages(pc(container, alpha = 0.01))), wanted)
  samples <- matrix(t(x), 4, dimnames = list(colnames(x), paste0("s", seq_len(nrow(x)))))
  skip_if_not_installed("Biobase")
  read(Biobase::ExpressionSet(samples))
  skip_if_not_installed("SummarizedExperiment")
  read(SummarizedExperiment::SummarizedExperiment(list(counts = samples)))
  skip_if_not_installed("SingleCellExperiment")
  read(SingleCellExperiment::SingleCellExperiment(list(logcounts = samples)))
})

test_that("columns with another possible meaning give a message", {
  set.seed(1)
  x <- data.frame(
    a = rnorm(50),
    b = rnorm(50),
    day = format(as.Date("2024-01-01") + 0:49, "%d.%m.%Y"),
    text = c("n/a", as.character(rnorm(49))),
    code = rep(0:1, 25)
  )
  said <- character()
  withCallingHandlers(
    pc(x, alpha = 0.01),
    pcgpu_warning_levels = function(w) {
      said <<- c(said, conditionMessage(w))
      tryInvokeRestart("muffleWarning")
    },
    pcgpu_warning_too_few = function(w) tryInvokeRestart("muffleWarning"),
    pcgpu_message_codes = function(m) {
      said <<- c(said, conditionMessage(m))
      tryInvokeRestart("muffleMessage")
    },
    message = function(m) tryInvokeRestart("muffleMessage")
  )
  expect_length(said, 3L)
  expect_match(said, "whole numbers.*codes to factors", all = FALSE)
  expect_match(said, "looks like numbers.*\"text\"", all = FALSE)
  expect_match(said, "more levels than half of the rows in column \"day\"", all = FALSE)
  x$when <- as.Date("2024-01-01") + 0:49
  expect_message(
    suppressWarnings(pc(x[c("a", "b", "when")], alpha = 0.01)),
    "numbers \\(days.*\"when\"",
    class = "pcgpu_message_dates"
  )
  expect_silent(suppressMessages(pc(data.frame(a = factor(rep(1:20, 10)), b = rnorm(200)), alpha = 0.01)))
})

test_that("a constant column gives a warning, whatever the test", {
  set.seed(1)
  x <- data.frame(a = rnorm(60), b = factor(rep(1:2, 30)), k = factor("k"), c = 1)
  # A second warning reports the effect on the edges.
  of_constants <- function(call) suppressWarnings(suppressMessages(call), classes = "pcgpu_warning_no_answer")
  expect_warning(of_constants(pc(x, alpha = 0.01)), "columns \"k\", \"c\"", class = "pcgpu_warning_constant")
  x$a[1] <- NA
  expect_warning(
    of_constants(pc(x[c("a", "c")], alpha = 0.01, na = "testwise")),
    "column \"c\".*NAdelete",
    class = "pcgpu_warning_constant"
  )
})

test_that("containers with missing values are tested on the rows that have all values of a test", {
  x <- as.matrix(iris[1:4])
  x[3, 2] <- NA
  wanted <- edges(suppressMessages(pc(x, alpha = 0.01, na = "testwise")))
  samples <- t(x)
  skip_if_not_installed("SummarizedExperiment")
  container <- SummarizedExperiment::SummarizedExperiment(list(counts = samples))
  expect_error(suppressMessages(pc(container, alpha = 0.01)), "na = \"testwise\"", class = "pcgpu_error_argument")
  expect_identical(edges(suppressMessages(pc(container, alpha = 0.01, na = "testwise"))), wanted)
  skip_if_not_installed("Biobase")
  colnames(samples) <- paste0("s", 1:150)
  expect_identical(edges(suppressMessages(pc(Biobase::ExpressionSet(samples), alpha = 0.01, na = "testwise"))), wanted)
})

test_that("with many variables, data are kept instead of their correlations", {
  x <- random_data(random_dag(5100, 1, seed = 1), 40, seed = 1)
  # A GPU makes correlations of data with other last digits.
  found <- suppressMessages(pc(x, alpha = 1e-5, result = "compact", device = "cpu"))
  wanted <- pc(
    suff_gauss(x),
    gaussCItest,
    1e-5,
    labels = colnames(x),
    maj.rule = TRUE,
    result = "compact",
    device = "cpu"
  )
  expect_identical(found@edges, wanted@edges)
})

test_that("a list of columns is no data frame, and the error says so", {
  columns <- list(a = 1:9 + 0, b = rev(1:9) + 0, d = rep(1:3, 3))
  for (call in list(
    quote(pc(columns, alpha = 0.05)),
    quote(skeleton(columns, alpha = 0.05)),
    quote(fci(columns, alpha = 0.05)),
    quote(stability(columns, alpha = 0.05)),
    quote(markov_check(random_dag(3, 1), columns))
  )) {
    expect_error(
      eval(call),
      "is a list of a, b, d: convert the list to a data frame: as.data.frame\\(",
      class = "pcgpu_error_argument",
      info = deparse(call)
    )
  }
})

test_that("columns whose names are empty or repeated are named by their numbers", {
  x <- cbind(random_data(random_dag(3, 2, seed = 1), 50, seed = 1), 0, 0)
  refused <- function(x, pattern) expect_error(suff_gauss(x), pattern, class = "pcgpu_error_argument")
  refused(x, "constant in columns 4, 5:")
  refused(structure(x, dimnames = list(NULL, c("a", "b", "d", "k", "k"))), "constant in columns 4, 5:")
  refused(structure(x, dimnames = list(NULL, c("a", "b", "d", "a", "k"))), "constant in columns 4, 5:")
  refused(structure(x, dimnames = list(NULL, c("a", "b", NA, "k", "l"))), "constant in columns \"k\", \"l\":")
  refused(unname(x)[, 1:4], "constant in column 4:")
  expect_warning(
    fit <- pc(structure(x[, 1:3], dimnames = list(NULL, c("a", "", "d"))), alpha = 0.05),
    "column 2 is \"\"\\.",
    class = "pcgpu_warning_names"
  )
  expect_identical(fit@graph@nodes, c("1", "2", "3"))
})

test_that("\"|\" in the names of columns becomes \"_\" with a message, and names still match", {
  x <- as.data.frame(random_data(random_dag(3, 2, seed = 1), 200, seed = 1))
  names(x) <- c("A1BG|1", "A2M|2", "A2M_2")
  for (search in list(pc, skeleton, fci)) {
    expect_warning(
      fit <- suppressMessages(search(x, alpha = 0.05)),
      "\"A1BG_1\" for \"A1BG\\|1\"",
      class = "pcgpu_warning_names"
    )
    expect_identical(labels_of_result(fit), c("A1BG_1", "A2M_2", "A2M_2.1"))
  }
  fit <- suppressWarnings(suppressMessages(pc(x, alpha = 0.05)))
  expect_no_warning(effects <- causal_effects(fit, x))
  expect_identical(effects$values, causal_effects(fit, unname(x))$values)
  expect_no_warning(suppressMessages(markov_check(fit, x, seed = 1)))
  expect_no_warning(pc(suff_gauss(x), gaussCItest, 0.05, labels = labels_of_result(fit)))
  expect_warning(
    found <- suppressMessages(stability(x, alpha = 0.05, replicates = 3)),
    "A1BG_1",
    class = "pcgpu_warning_names"
  )
  expect_identical(found$labels, c("A1BG_1", "A2M_2", "A2M_2.1"))
})

test_that("a test that is NULL is not a test that is left out", {
  set.seed(1)
  x <- data.frame(a = rnorm(40), b = rnorm(40), c = rnorm(40))
  for (search in list(pc, skeleton, fci, rfci, fciPlus)) {
    expect_error(search(x, NULL, 0.1), "`indepTest` is NULL", class = "pcgpu_error_argument")
  }
})

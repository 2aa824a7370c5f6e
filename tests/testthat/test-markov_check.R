check <- function(...) markov_check(..., numCores = 2)

test_that("the questions are those that the graph implies", {
  for (seed in 1:4) {
    dag <- random_dag(12, 3, seed = seed)
    m <- as.matrix(dag)
    oracle <- function(x, y, S, suffStat) dsep_oracle(x, y, S, m)
    for (graph in list(dag, cpdag_of(dag))) {
      for (given in c("parents", "blanket")) {
        found <- check(graph, suffStat = list(), indepTest = oracle, given = given, seed = 1)
        table <- as.data.frame(found)
        expect_identical(table$p, ifelse(table$implied == "independence", 1, 0), info = given)
        if (given == "parents") expect_identical(sum(table$implied == "independence"), 66L - length(dag$from))
      }
    }
  }
})

test_that("p-values are those of the test, on all rows or on samples", {
  dag <- random_dag(10, 2, seed = 5)
  x <- random_data(dag, 300, seed = 5)
  suff <- suff_gauss(x)
  found <- check(dag, suffStat = suff, indepTest = gaussCItest, seed = 2)
  table <- as.data.frame(found)
  sets <- strsplit(table$given, ", ", fixed = TRUE)
  want <- mapply(
    function(a, b, S) gaussCItest(match(a, colnames(x)), match(b, colnames(x)), match(S, colnames(x)), suff),
    table$x,
    table$y,
    sets
  )
  expect_equal(table$p, unname(want), tolerance = 1e-9)
  expect_identical(as.data.frame(check(dag, x, gaussCItest, resamples = 0, seed = 2))$p, table$p)
  expect_identical(
    check(dag, x, gaussCItest, seed = 2)$summary,
    check(dag, x, gaussCItest, suff_gauss, seed = 2)$summary
  )
  expect_false(identical(as.data.frame(check(dag, x, gaussCItest, seed = 2))$p, table$p))
  expect_equal(found$summary$below[1], mean(table$p[table$implied == "independence"] < 0.05))
  expect_identical(as.data.frame(check(dag, x[, 10:1], gaussCItest, resamples = 0, seed = 2))$p, table$p)
})

test_that("the true graph passes, and a graph without some of its edges does not", {
  dag <- random_dag(60, 3, seed = 6)
  x <- random_data(dag, 2000, seed = 6)
  true <- check(cpdag_of(dag), x, gaussCItest, resamples = 20, seed = 1)
  expect_lt(abs(true$summary$below[1] - 0.05), 0.02)
  expect_true(true$summary$ks[1] > 1e-3 && true$summary$ad[1] > 1e-3)
  expect_gt(true$summary$below[2], 0.9)
  m <- as.matrix(dag)
  m[which(m > 0)[seq(1, sum(m), 4)]] <- 0
  less <- check(m, x, gaussCItest, resamples = 20, seed = 1)
  expect_true(less$summary$ks[1] < 1e-6 && less$summary$ad[1] < 1e-5)
  # The share of dependences falls where there are edges too many.
  more <- as.matrix(random_dag(60, 3, seed = 7))
  expect_lt(check(more, x, gaussCItest, seed = 1)$summary$below[2], 0.5)
  some <- check(dag, x, gaussCItest, tests = 50, seed = 1)
  expect_identical(some$summary$tests, c(50L, 50L))
  expect_output(print(some), "On 10 random samples of 50 % of the rows")
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file)
  plot(some)
  # Bins by number or limits, and graphical arguments of either part.
  expect_true(all(
    c("P", "Mine") %in% drawn(plot(some, breaks = 5, xlab = "P", main = "Mine", col = "gold"))$texts$label
  ))
  plot(some, breaks = c(0, 0.1, 1))
  expect_error(plot(some, breaks = "many bins"), "`breaks`", class = "pcgpu_error_argument")
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
})

test_that("tests of levels, of R, and named by the data run, too", {
  dag <- random_dag(8, 2, seed = 9)
  discrete <- random_data(dag, 2000, "discrete", levels = 2, seed = 9)
  named <- check(dag, discrete, disCItest, seed = 1)
  expect_message(guessed <- check(dag, discrete, seed = 1), class = "pcgpu_message_data")
  expect_identical(named$summary, guessed$summary)
  in_r <- check(dag, discrete, function(x, y, S, suffStat) disCItest(x, y, S, suffStat), suff_discrete, seed = 1)
  expect_equal(in_r$summary, named$summary)
})

test_that("graphs without a DAG give a message, and arguments are checked", {
  square <- matrix(0, 4, 4)
  square[cbind(c(1, 2, 3, 4, 2, 3, 4, 1), c(2, 3, 4, 1, 1, 2, 3, 4))] <- 1
  x <- matrix(rnorm(200), 50)
  expect_message(found <- check(square, x, gaussCItest), class = "pcgpu_message_graph")
  expect_output(print(found), "No DAG extends")
  bad <- function(argument, ...) {
    expect_identical(expect_error(check(...), class = "pcgpu_error_argument")$argument, argument)
  }
  bad("fit")
  bad("data", square)
  bad("data", square, 1:4, gaussCItest)
  bad("data", square, x[, 1:3], gaussCItest)
  bad("indepTest", square, suffStat = list())
  bad("indepTest", square, x, suffStat = suff_gauss)
  bad("suffStat", square, x, gaussCItest, suffStat = list())
  bad("suffStat", square, x, function(x, y, S, suffStat) 1)
  bad("given", square, x, gaussCItest, given = "all")
  bad("tests", square, x, gaussCItest, tests = 0)
  bad("replicates", square, x, gaussCItest, replicates = -1)
  bad("size", square, x, gaussCItest, size = 0)
  bad("size", square, x, gaussCItest, size = nrow(x) + 1)
  bad("alpha", square, x, gaussCItest, alpha = "a")
})

test_that("Anderson and Darling's distribution has its known points", {
  # Marsaglia and Marsaglia (2004); D'Agostino and Stephens (1986), table 4.2.
  for (point in list(c(1.933, 0.9), c(2.492, 0.95), c(3.857, 0.99))) {
    expect_equal(ad_cdf(point[1], 1e6), point[2], tolerance = 1e-3)
  }
  set.seed(3)
  p <- replicate(400, ad_uniform(runif(30)))
  expect_gt(stats::ks.test(p, "punif")$p.value, 1e-3)
})

test_that("completed data sets are passed to the argument that takes them", {
  sets <- list(iris[1:4], iris[1:4])
  fit <- suppressMessages(pc(iris[1:4], alpha = 0.01))
  expect_error(markov_check(fit, sets), "`data`.*as `suffStat`", class = "pcgpu_error_argument")
})

test_that("errors of a user's function name the argument", {
  dag <- random_dag(4, 0, labels = names(iris)[1:4])
  expect_error(
    markov_check(dag, iris[1:4], gaussCItest, suffStat = function(rows) stop("oh")),
    "^`suffStat` failed with an error: oh",
    class = "pcgpu_error_argument"
  )
  expect_error(
    stability(iris[1:4], gaussCItest, alpha = 0.01, make = function(rows) stop("oh")),
    "^`make` failed with an error: oh",
    class = "pcgpu_error_argument"
  )
  found <- markov_check(dag, iris[1:4], gaussCItest, seed = 1)
  expect_identical(summary(found), found$summary)
})

test_that("workers of a cluster give the same answer", {
  dag <- random_dag(10, 2, seed = 1)
  x <- random_data(dag, 200, seed = 1)
  shift <- 1e-3
  noisy <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat) + shift * stats::runif(1)
  assign("shift", shift, envir = globalenv())
  environment(noisy) <- globalenv()
  on.exit(rm("shift", envir = globalenv()))
  plain <- function(...) {
    found <- markov_check(dag, ..., seed = 1)
    found$call <- NULL
    found
  }
  cluster <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(cluster), add = TRUE)
  for (arguments in list(
    list(x, gaussCItest),
    list(x, gaussCItest, resamples = 0),
    list(indepTest = noisy, suffStat = suff_gauss(x)),
    list(x, noisy, suff_gauss),
    list(x[1:40, ], cmiKnnCItest, tests = 10)
  )) {
    expect_identical(do.call(plain, c(arguments, list(cluster = cluster))), do.call(plain, arguments))
  }
  expect_error(
    markov_check(dag, x, function(x, y, S, suffStat) stop("no"), suff_gauss, cluster = cluster),
    "no",
    class = "pcgpu_error_test"
  )
})

test_that("only the correlations that questions need are made, and they are those of all", {
  dag <- random_dag(400, 2, seed = 1)
  x <- random_data(dag, 60, seed = 1)
  some <- function(suffStat) as.data.frame(markov_check(dag, x, gaussCItest, suffStat, tests = 50, seed = 1))
  expect_identical(some(NULL), some(function(rows) suff_gauss(rows)))
})

test_that("arrows on cycles count as undirected", {
  names <- letters[1:5]
  cycle <- matrix(0, 5, 5, dimnames = list(names, names))
  cycle["a", "b"] <- cycle["b", "c"] <- cycle["c", "a"] <- cycle["c", "d"] <- cycle["d", "e"] <- 1
  set.seed(1)
  x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, names))
  expect_message(
    found <- markov_check(cycle, x, gaussCItest, seed = 1),
    "has directed cycles",
    class = "pcgpu_message_graph"
  )
  expect_identical(found$extension, "cycles")
  expect_output(print(found), "The graph has directed cycles")
  asked <- as.data.frame(found)
  expect_identical(sum(asked$implied == "dependence"), 5L)
  expect_true(any(asked$given == "d" & asked$implied == "independence" & (asked$x == "e" | asked$y == "e")))
})

test_that("a sample that is too small gives an error about the data", {
  dag <- random_dag(5, 2, seed = 1)
  x <- random_data(dag, 60, seed = 1)
  error <- expect_error(
    markov_check(dag, x, gaussCItest, share = 0.05, seed = 1),
    "`data` is unsuitable in a sample of 3 rows \\(it has.*at least 4 observations.*`size`",
    class = "pcgpu_error_argument"
  )
  expect_identical(error$argument, "data")
  for (alpha in list(0, 1, 5, NA, "a")) {
    expect_error(markov_check(dag, x, gaussCItest, alpha = alpha), "`alpha`", class = "pcgpu_error_argument")
  }
})

test_that("columns that are constant in a sample have no answer there, with a message", {
  set.seed(28)
  n <- 200
  x <- data.frame(a = rnorm(n))
  x$b <- x$a + rnorm(n)
  x$rare <- replace(numeric(n), 1:3, 1)
  graph <- matrix(0, 3, 3, dimnames = list(names(x), names(x)))
  graph["a", "b"] <- graph["a", "rare"] <- 1
  count <- function(said) sum(vapply(said, inherits, NA, "pcgpu_message_constant"))
  for (kind in list(
    list(x, NULL),
    list(x, gaussCItest),
    list(data.frame(x[1:2], rare = factor(x$rare)), NULL),
    list(x, cmiKnnCItest),
    list(x, gaussCItwd),
    list(data.frame(lapply(x, function(column) factor(column > 0))), disCItest)
  )) {
    said <- list()
    withCallingHandlers(
      expect_no_warning(found <- markov_check(graph, kind[[1]], kind[[2]], seed = 1, resamples = 20)),
      message = function(m) {
        said <<- c(said, list(m))
        invokeRestart("muffleMessage")
      }
    )
    expect_identical(count(said), 1L)
    lost <- found$constants
    rows <- vapply(
      1:20,
      function(number) {
        sum(check_rust(rust_ensemble_rows(n, list(size = n / 2, seed = 1, replace = FALSE), number, 0)) <= 3)
      },
      0
    )
    expect_identical(lost, sum(rows == 0))
    expect_output(print(found), sprintf("%d samples had constant columns", lost))
  }
  # Which questions these are.
  one <- suppressMessages(markov_check(graph, x, gaussCItest, seed = 1, resamples = 20))
  table <- as.data.frame(one)
  samples <- function(implied) rows[(seq_len(sum(table$implied == implied)) - 1) %% 20 + 1] == 0
  for (implied in c("independence", "dependence")) {
    of <- table[table$implied == implied, ]
    expect_identical(is.na(of$p), samples(implied) & (of$x == "rare" | of$y == "rare"))
  }
  expect_message(
    markov_check(graph, transform(x, b = factor(b > 0), rare = factor(1)), resamples = 0),
    "The data had constant columns \\(\"rare\"\\)",
    class = "pcgpu_message_constant"
  )
  for (resamples in c(0, 5)) {
    expect_error(
      markov_check(graph, transform(x, rare = 1), gaussCItest, resamples = resamples),
      "`data` is constant in column \"rare\": drop",
      class = "pcgpu_error_argument"
    )
  }
})

test_that("a constant conditioning variable takes a degree of freedom, and changes nothing else", {
  set.seed(1)
  x <- matrix(rnorm(240), 60, dimnames = list(NULL, c("a", "b", "d", "e")))
  suff <- suff_with_constants(replace(x, 121:180, 7), 3L)
  C <- stats::cor(x[, -3])
  whole <- diag(4)
  whole[-3, -3] <- C
  expect_equal(unname(suff$C), whole, tolerance = 1e-14)
  graph <- matrix(0, 4, 4, dimnames = list(colnames(x), colnames(x)))
  graph["d", c("a", "b")] <- 1
  found <- as.data.frame(markov_check(graph, indepTest = gaussCItest, suffStat = suff))
  r <- C["a", "b"]
  expect_equal(
    found$p[found$given == "d" & found$x != "e" & found$y != "e"],
    2 * stats::pnorm(-sqrt(60 - 1 - 3) * abs(atanh(r))),
    tolerance = 1e-9
  )
  expect_identical(unname(suff_with_constants(replace(x[, 1:3], 61:180, 0), 2:3)$C), diag(3))
})

test_that("missing values are treated as in the search, or an error names what works", {
  x <- random_data(random_dag(4, 2, seed = 1), 200, seed = 1)
  graph <- random_dag(4, 2, seed = 1)
  holes <- replace(x, c(5, 250), NA)
  fit <- suppressMessages(pc(holes, alpha = 0.05, na = "testwise", u2pd = "retry"))
  expect_message(found <- markov_check(fit, holes, seed = 1), "gaussCItwd", class = "pcgpu_message_data")
  expect_identical(found$summary, suppressMessages(markov_check(fit, holes, seed = 1, na = "testwise"))$summary)
  expect_identical(found$summary, markov_check(fit, holes, gaussCItwd, seed = 1)$summary)
  compact <- suppressMessages(pc(holes, alpha = 0.05, na = "testwise", result = "compact"))
  expect_message(markov_check(compact, holes, seed = 1), "gaussCItwd", class = "pcgpu_message_data")
  refused <- function(pattern, ...) expect_error(markov_check(...), pattern, class = "pcgpu_error_argument")
  refused("`data` has missing values \\(0.25 % of the values\\): use na = \"testwise\"", graph, holes)
  refused("use na = \"testwise\"", fit, holes, na = "error")
  refused("leave `indepTest` out, and use na = \"testwise\"", graph, holes, gaussCItest)
  refused("leave `indepTest` out, and use na = \"testwise\"", graph, as.data.frame(holes), gaussCItest, resamples = 0)
  sets <- list(as.data.frame(x), as.data.frame(x + 0.01))
  completed <- suppressMessages(pc(sets, alpha = 0.05))
  refused("imputed data sets of the search as `suffStat`, with indepTest = gaussMItest", completed, holes)
  # What is advised works.
  expect_s3_class(suppressMessages(markov_check(graph, holes, na = "testwise")), "pcgpu_markov")
  expect_s3_class(markov_check(completed, suffStat = sets, indepTest = gaussMItest), "pcgpu_markov")
  expect_s3_class(
    markov_check(graph, holes, gaussCItest, function(rows) suff_gauss(rows, use = "complete.obs")),
    "pcgpu_markov"
  )
})

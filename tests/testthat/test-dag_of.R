test_that("it is a DAG of the class", {
  for (seed in 1:30) {
    set.seed(seed)
    dag <- random_dag(12, neighbours = stats::runif(1, 0.5, 6), seed = seed)
    cpdag <- cpdag_of(dag)
    one <- dag_of(cpdag)
    expect_s3_class(one, "pcgpu_graph")
    expect_true(all(one$directed))
    expect_identical(cpdag_of(one), cpdag)
    expect_identical(dag_of(cpdag), one)
    expect_identical(dag_of(dag)[c("labels", "from", "to")], dag[c("labels", "from", "to")])
  }
})

test_that("results of both classes, and all forms of a graph, give one DAG", {
  dag <- random_dag(20, neighbours = 2, seed = 4)
  x <- random_data(dag, 500, seed = 4, numCores = 1)
  suff <- suff_gauss(x)
  search <- function(...) pc(suff, gaussCItest, 0.01, labels = colnames(x), u2pd = "valid", numCores = 1, ...)
  fit <- search()
  one <- dag_of(fit)
  expect_identical(cpdag_of(one)$directed, edge_table(cpdag_of(one))$kind == "-->")
  expect_identical(compare_graphs(one, fit)$shd, 0)
  expect_identical(dag_of(search(result = "compact")), one)
  expect_identical(dag_of(fit@graph), one)
  expect_identical(dag_of(methods::as(fit, "amat")), one)
  expect_output(print(one), "A DAG with 20 variables")
  expect_identical(dim(random_data(one, 5, seed = 1)), c(5L, 20L))
})

test_that("knowledge holds in the DAG", {
  dag <- random_dag(20, neighbours = 3, seed = 2)
  x <- random_data(dag, 400, seed = 2, numCores = 1)
  tiers <- stats::setNames(rep(3:1, c(7, 7, 6)), colnames(x))
  fit <- suppressMessages(pc(x, gaussCItest, 0.01, tiers = tiers, numCores = 1))
  skip_if_not(run_details(fit)$valid_cpdag)
  arrows <- edge_table(dag_of(fit))
  expect_true(all(tiers[arrows$from] <= tiers[arrows$to]))
  known <- edge_table(fit)
  known <- known[known$kind == "-->", ]
  expect_true(all(paste(known$from, known$to) %in% paste(arrows$from, arrows$to)))
})

test_that("a graph without a DAG is refused with the reason and the remedy", {
  refused <- function(message, x) expect_error(dag_of(x), message, class = "pcgpu_error_argument")
  # Each of the four is not adjacent to the one across: either way is a v-structure.
  ring <- matrix(0, 4, 4)
  ring[cbind(c(1, 2, 3, 4, 2, 3, 4, 1), c(2, 3, 4, 1, 1, 2, 3, 4))] <- 1
  refused("`x` has no DAG: every way .* u2pd = \"valid\"", ring)
  cycle <- matrix(c(0, 0, 1, 1, 0, 0, 0, 1, 0), 3)
  refused("`x` has arrows that form a cycle", cycle)
  conflict <- ring
  conflict[1, 2] <- conflict[2, 1] <- 2
  refused("edges in conflict", conflict)
  x <- matrix(stats::rnorm(600), 100, dimnames = list(NULL, letters[1:6]))
  refused("is a PAG", fci(suff_gauss(x), gaussCItest, 0.5, labels = letters[1:6], m.max = 0))
  refused("is a skeleton.*orient\\(\\)", skeleton(suff_gauss(x), gaussCItest, 0.1, labels = letters[1:6]))
  refused("local_pc\\(\\)", local_pc(x, "a", 0.1))
  refused("`x` is missing")
  # The remedy is that of the search itself.
  for (seed in 1:60) {
    y <- random_data(random_dag(12, neighbours = 4, seed = seed), 100, seed = seed, numCores = 1)
    fit <- pc(suff_gauss(y), gaussCItest, 0.1, labels = colnames(y), numCores = 1)
    if (is.null(tryCatch(dag_of(fit), pcgpu_error_argument = function(e) NULL))) {
      break
    }
  }
  refused("search with maj.rule = TRUE, u2pd = \"valid\"", fit)
  expect_s3_class(
    dag_of(pc(suff_gauss(y), gaussCItest, 0.1, labels = colnames(y), u2pd = "valid", numCores = 1)),
    "pcgpu_graph"
  )
})

test_that("two variables, none of them joined, and the averaged graph of samples are no error", {
  expect_identical(length(dag_of(random_dag(2, neighbours = 0))$from), 0L)
  x <- random_data(random_dag(5, neighbours = 1, seed = 1), 200, seed = 1, numCores = 1)
  found <- stability(x, gaussCItest, 0.01, replicates = 10, seed = 1)
  expect_identical(nrow(edge_table(dag_of(found))), nrow(edge_table(found)))
  found$counts <- data.frame(x = c(1L, 2L, 3L, 1L), y = c(2L, 3L, 4L, 4L), forward = 0L, backward = 0L)
  found$counts[c("undirected", "bidirected")] <- list(10L, 0L)
  found <- pcgpu:::with_average(found, list(threshold = 0.5))
  expect_error(dag_of(found), "use another threshold", class = "pcgpu_error_argument")
})

test_that("a graph has the requested edges, no cycle, and follows the seed", {
  for (model in c("er", "power", "layers")) {
    dag <- random_dag(200, 3, model, seed = 5)
    expect_s3_class(dag, "pcgpu_graph")
    expect_lt(abs(2 * length(dag$from) / 200 - 3), 0.5)
    expect_true(all(dag$directed) && all(abs(dag$weight) >= 0.3 & abs(dag$weight) <= 1) && any(dag$weight < 0))
    # Powers of the adjacency matrix of a DAG end.
    m <- as.matrix(dag)
    power <- m
    for (step in 1:9) {
      power <- (power %*% power > 0) + 0
    }
    expect_identical(sum(power), 0)
    expect_identical(dag, random_dag(200, 3, model, seed = 5))
    expect_false(identical(dag, random_dag(200, 3, model, seed = 6)))
  }
  set.seed(1)
  one <- random_dag(20)
  set.seed(1)
  expect_identical(random_dag(20), one)
  expect_identical(length(random_dag(6, prob = 1, seed = 1)$from), 15L)
  expect_identical(length(random_dag(1, 0)$from), 0L)
})

test_that("a random DAG is converted", {
  dag <- random_dag(12, 3, labels = letters[1:12], seed = 3)
  table <- as.data.frame(dag)
  expect_identical(nrow(table), length(dag$from))
  m <- as.matrix(dag)
  expect_true(all(m[cbind(table$from, table$to)] == 1) && sum(m) == nrow(table))
  graph <- as(dag, "graphNEL")
  expect_identical(as(graph, "matrix") != 0, m != 0)
  expect_equal(as(graph, "matrix")[cbind(table$from, table$to)], table$weight)
  cpdag <- cpdag_of(dag)
  expect_identical(as(as(cpdag, "graphNEL"), "matrix"), as.matrix(cpdag))
  expect_true(all((as.matrix(cpdag) + t(as.matrix(cpdag)) > 0) == (m + t(m) > 0)))
  expect_output(print(dag), "A DAG with 12 variables")
  expect_output(print(cpdag), "A CPDAG with 12 variables")
  expect_identical(cpdag_of(m), cpdag)
})

test_that("arguments are checked", {
  bad <- function(argument, ...) {
    expect_identical(expect_error(random_dag(...), class = "pcgpu_error_argument")$argument, argument)
  }
  bad("p")
  bad("p", 0)
  bad("neighbours", 5, 5)
  bad("model", 5, model = "tree")
  bad("prob", 5, prob = 2)
  bad("layers", 5, model = "layers", layers = 6)
  bad("weights", 5, weights = c(1, 0.5))
  bad("labels", 5, labels = letters[1:4])
  bad("seed", 5, seed = -1)
  expect_identical(expect_error(cpdag_of(matrix(1, 2, 2)), class = "pcgpu_error_argument")$argument, "dag")
})

test_that("few variables have the neighbours that exist", {
  expect_identical(random_dag(1)$labels, "x1")
  expect_identical(length(random_dag(2, seed = 1)$from), 1L)
})

test_that("a summary has degrees", {
  dag <- random_dag(30, 3, seed = 2)
  summarised <- summary(dag)
  expect_identical(sum(summarised$degree), 2L * length(dag$from))
  expect_identical(sum(summarised$parents), summarised$directed)
  expect_output(
    print(summarised),
    sprintf("30 variables, %d directed edges, 0 undirected.*Most neighbours: x", length(dag$from))
  )
  expect_output(print(summary(random_dag(1))), "1 variable, 0 directed edges.*maximum 0; 1 variable without neighbours")
  both <- summary(cpdag_of(dag))
  expect_identical(both$directed + both$undirected, summarised$directed)
})

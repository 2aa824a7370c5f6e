# Returns the blanket of a DAG by its definition.
plain_blanket <- function(dag, target) {
  at <- match(target, dag$labels)
  parents <- dag$from[dag$to == at]
  children <- dag$to[dag$from == at]
  spouses <- setdiff(dag$from[dag$to %in% children], c(at, parents, children))
  list(parents = parents, children = children, spouses = spouses)
}

test_that("parents, children and spouses of a DAG are those of its definition", {
  for (seed in 1:10) {
    dag <- random_dag(15, neighbours = 3, seed = seed)
    for (target in dag$labels) {
      found <- markov_blanket(dag, target)
      expected <- plain_blanket(dag, target)
      of <- function(role) match(found$name[found$role == role], dag$labels)
      expect_setequal(of("parent"), expected$parents)
      expect_setequal(of("child"), expected$children)
      expect_setequal(of("spouse"), expected$spouses)
      expect_identical(order(match(found$name, dag$labels)), seq_len(nrow(found)))
      expect_identical(is.na(found$via), found$role != "spouse")
      # The CPDAG has the same blanket.
      expect_identical(markov_blanket(cpdag_of(dag), target)$name, found$name)
    }
  }
})

test_that("results of either class and data give one blanket", {
  dag <- random_dag(20, neighbours = 2, seed = 4)
  x <- random_data(dag, 500, seed = 4, numCores = 1)
  suff <- suff_gauss(x)
  fit <- pc(suff, gaussCItest, 0.01, labels = colnames(x), numCores = 1)
  compact <- pc(suff, gaussCItest, 0.01, labels = colnames(x), numCores = 1, result = "compact")
  for (target in c("x3", "x12")) {
    expect_identical(markov_blanket(fit, target), markov_blanket(compact, target))
    local <- local_pc(x, target, 0.01, numCores = 1)
    expect_identical(markov_blanket(x, target, 0.01, numCores = 1), markov_blanket(local, target))
    expect_identical(markov_blanket(suff, target, 0.01), markov_blanket(local, target))
  }
  expect_true(all(markov_blanket(skeleton(suff, gaussCItest, 0.01, labels = colnames(x)), "x3")$role == "undirected"))
})

test_that("mistakes are named", {
  dag <- random_dag(20, neighbours = 2, seed = 4)
  x <- random_data(dag, 500, seed = 4, numCores = 1)
  refused <- function(message, ...) expect_error(markov_blanket(...), message, class = "pcgpu_error_argument")
  refused("`x` is missing", target = "a")
  refused("`target` is missing", dag)
  refused("unknown variable, \"y\"", dag, "y")
  refused("use one variable", dag, c("x1", "x2"))
  refused("`alpha` is missing", as.data.frame(x), "x1")
  refused("`alpha` is missing", suff_gauss(x), "x1")
  refused("PAG|fci", fci(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x)), "x1")
  fit <- local_pc(x, "x3", 0.01)
  near <- neighbours(fit, "x3")$name[1]
  refused("may lack its spouses", fit, near)
  expect_silent(markov_blanket(local_pc(x, "x3", 0.01, order = 2), near))
})

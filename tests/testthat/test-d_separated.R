# Returns the answers to random questions about a graph, and those of the moral graph of the DAG `arrows`, whose
# variables `seen` the graph has.
random_questions <- function(graphs, arrows, seen, count) {
  answers <- lapply(seq_len(count), function(question) {
    v <- sample(length(seen))
    S <- v[-(1:2)][seq_len(sample(0:(length(seen) - 2), 1))]
    given <- vapply(graphs, d_separated, NA, v[1], v[2], S)
    c(given, dsep_oracle(seen[v[1]], seen[v[2]], seen[S], arrows) == 1)
  })
  do.call(rbind, answers)
}

test_that("a DAG and its CPDAG have the separations of the moral graph", {
  answers <- lapply(1:25, function(seed) {
    set.seed(seed)
    dag <- random_dag(7, neighbours = stats::runif(1, 0.5, 4), seed = seed)
    random_questions(list(dag, cpdag_of(dag)), as.matrix(dag), 1:7, 15)
  })
  answers <- do.call(rbind, answers)
  expect_identical(answers[, 1], answers[, 3])
  expect_identical(answers[, 2], answers[, 3])
  expect_gt(min(table(answers[, 3])), 50)
})

test_that("sets are separated if each pair is", {
  for (seed in 1:20) {
    dag <- random_dag(8, neighbours = 2, seed = seed)
    each <- outer(1:2, 3:4, Vectorize(function(a, b) d_separated(dag, a, b, 5:6)))
    expect_identical(d_separated(dag, 1:2, 3:4, 5:6), all(each))
  }
})

test_that("a PAG has the separations of the DAG with hidden variables", {
  skip_on_cran()
  kinds <- character()
  answers <- lapply(1:25, function(seed) {
    dag <- random_dag(8, neighbours = 2.5, seed = seed)
    set.seed(seed)
    seen <- sort(sample(8, 6))
    oracle <- function(x, y, S, suffStat) dsep_oracle(seen[x], seen[y], seen[S], as.matrix(dag))
    pag <- fci(list(), oracle, 0.5, labels = dag$labels[seen], selectionBias = FALSE, numCores = 1)
    kinds <<- union(kinds, edge_table(pag)$kind)
    random_questions(list(pag), as.matrix(dag), seen, 15)
  })
  answers <- do.call(rbind, answers)
  expect_identical(answers[, 1], answers[, 2])
  expect_gt(min(table(answers[, 2])), 50)
  expect_setequal(kinds, c("-->", "o->", "<->", "o-o"))
})

test_that("it agrees with pcalg, and a search with the truth as its test", {
  dag <- random_dag(10, neighbours = 2, seed = 3, signs = FALSE)
  arrows <- as.matrix(dag)
  fit <- pc(list(), function(x, y, S, suffStat) dsep_oracle(x, y, S, arrows), 0.5, labels = dag$labels)
  separated <- unlist(lapply(utils::combn(dag$labels, 2, simplify = FALSE), function(pair) {
    set <- sepset(fit, pair[1], pair[2])
    if (!is.null(set)) d_separated(fit, pair[1], pair[2], set)
  }))
  expect_gt(length(separated), 20)
  expect_true(all(separated))
  skip_if_not_installed("pcalg")
  graph <- methods::as(dag, "graphNEL")
  set.seed(1)
  for (round in 1:50) {
    v <- sample(dag$labels)
    S <- v[-(1:2)][seq_len(sample(0:6, 1))]
    expect_identical(d_separated(dag, v[1], v[2], S), suppressWarnings(pcalg::dsep(v[1], v[2], S, graph)))
  }
})

test_that("thousands of variables take no time, and few variables are no error", {
  large <- random_dag(5000, neighbours = 4, seed = 1)
  expect_lt(system.time(d_separated(cpdag_of(large), 1, 2, 100:400))[["elapsed"]], 5)
  two <- random_dag(2, neighbours = 1, seed = 1)
  expect_false(d_separated(two, 1, 2))
  expect_true(d_separated(random_dag(2, neighbours = 0), 1, 2))
  expect_true(d_separated(random_dag(3, neighbours = 0), 1, 2, "x3"))
  # a -> b <- c: open if b, or what follows from it, is given.
  collider <- matrix(0, 4, 4, dimnames = list(letters[1:4], letters[1:4]))
  collider[cbind(c(1, 3, 2), c(2, 2, 4))] <- 1
  expect_true(d_separated(collider, "a", "c", character(0)))
  expect_false(d_separated(collider, "a", "c", "b"))
  expect_false(d_separated(collider, "a", "c", "d"))
  expect_true(d_separated(collider, "a", "d", "b"))
})

test_that("mistakes, and graphs without an answer, are named", {
  dag <- random_dag(6, neighbours = 2, seed = 1)
  refused <- function(message, ...) expect_error(d_separated(...), message, class = "pcgpu_error_argument")
  refused("`x` is missing", a = 1, b = 2)
  refused("`b` is missing", dag, 1)
  refused("unknown variable, \"y\"", dag, "y", "x1")
  refused("`b` has variables that another argument has, too: \"x1\"", dag, "x1", c("x2", "x1"))
  refused("`given` has variables that another argument has, too: \"x2\"", dag, "x1", "x2", c("x2", "x3"))
  cycle <- matrix(c(0, 0, 1, 1, 0, 0, 0, 1, 0), 3)
  refused("a cycle", cycle, 1, 2)
  marks <- matrix(c(0, 3, 0, 3, 0, 1, 0, 3, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
  attr(marks, "type") <- "amat.pag"
  refused("selectionBias = FALSE", marks, "a", "c")
  # Four circles in a ring: every way to direct them makes a v-structure.
  ring <- matrix(0, 4, 4, dimnames = list(letters[1:4], letters[1:4]))
  ring[cbind(c(1, 2, 3, 4, 2, 3, 4, 1), c(2, 3, 4, 1, 1, 2, 3, 4))] <- 1
  attr(ring, "type") <- "amat.pag"
  refused("no MAG", ring, "a", "c")
})

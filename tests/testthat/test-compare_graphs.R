graph_of <- function(arcs, p) {
  m <- matrix(0, p, p)
  for (arc in arcs) {
    m[arc[[1]], arc[[2]]] <- 1
  }
  m
}

test_that("counts are those that pcalg and causal-learn gave", {
  golden <- read_golden("compare-graphs")
  expect_gt(length(golden$cases), 5)
  for (case in golden$cases) {
    found <- compare_graphs(graph_of(case$estimated, case$p), graph_of(case$true, case$p), cpdag = FALSE)
    for (peer in c("pcalg", "causal_learn")) {
      want <- case[[peer]]
      want <- vapply(want, function(value) if (is.null(value)) NA_real_ else as.numeric(value), 0)
      expect_equal(unlist(as.data.frame(unclass(found))[names(want)]), want, info = peer)
    }
  }
})

test_that("counts are pcalg's, if it is installed", {
  skip_without_pcalg()
  for (seed in 1:8) {
    dags <- list(random_dag(12, 1 + seed %% 4, seed = seed), random_dag(12, 3, seed = 100 + seed))
    theirs <- lapply(dags, function(dag) pcalg::dag2cpdag(as(dag, "graphNEL")))
    for (at in 1:2) {
      expect_equal(unname(as(theirs[[at]], "matrix") != 0), unname(as.matrix(cpdag_of(dags[[at]])) != 0))
    }
    found <- compare_graphs(dags[[1]], dags[[2]])
    expect_identical(found, compare_graphs(theirs[[1]], theirs[[2]]))
    expect_equal(found$shd, pcalg::shd(theirs[[1]], theirs[[2]]))
    expect_equal(
      c(found$adj_recall, found$adj_fpr, found$adj_precision),
      unname(pcalg::compareGraphs(theirs[[1]], theirs[[2]]))
    )
    as_they_are <- compare_graphs(dags[[1]], dags[[2]], cpdag = FALSE)
    expect_equal(as_they_are$shd, pcalg::shd(as(dags[[1]], "graphNEL"), as(dags[[2]], "graphNEL")))
  }
})

test_that("graphs of all kinds are accepted, by name", {
  dag <- random_dag(15, 3, seed = 2)
  x <- random_data(dag, 400, seed = 2, numCores = 1)
  estimate <- function(...) pc(suff_gauss(x), gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, ...)
  fit <- estimate()
  want <- compare_graphs(fit, dag)
  turned <- sample(15)
  m <- as(fit@graph, "matrix")
  same <- list(
    compact = estimate(result = "compact"),
    nel = fit@graph,
    matrix = m,
    amat = structure(t(m), type = "amat.cpdag"),
    turned = m[turned, turned],
    bn = structure(
      list(
        nodes = stats::setNames(vector("list", 15), colnames(m)),
        arcs = cbind(rownames(m)[row(m)[m != 0]], colnames(m)[col(m)[m != 0]])
      ),
      class = "bn"
    )
  )
  if (requireNamespace("igraph", quietly = TRUE)) {
    same$igraph <- as_igraph(fit)
  }
  found <- compare_graphs(same, dag)
  expect_identical(found$graph, names(same))
  expect_equal(unclass(found)[-1], lapply(unclass(want)[-1], rep, length(same)), ignore_attr = TRUE)
  expect_equal(compare_graphs(unname(m), dag)$shd, want$shd)
  expect_identical(compare_graphs(cpdag_of(dag), dag)$shd, 0)
  expect_output(print(found), "15 variables, .* edges in the true graph \\(DAGs compared as CPDAGs\\)")
  expect_output(print(found[, c("graph", "shd")]), "compact")
})

test_that("an edge in conflict has two arrowheads and counts as undirected in the distance", {
  m <- matrix(0, 2, 2)
  both <- replace(m, 2:3, 2)
  one <- replace(m, 3, 1)
  found <- compare_graphs(list(conflict = both, undirected = (both > 0) + 0, reversed = t(one)), one, cpdag = FALSE)
  expect_equal(found$shd, c(1, 1, 1))
  expect_equal(found$arrow_tp, c(1, 0, 0))
  expect_equal(found$arrow_fp, c(1, 0, 1))
  expect_equal(found$reversed, c(0, 0, 1))
  expect_equal(found$arrow_precision, c(0.5, NA, 0))
})

test_that("objects that are no graph, or have other variables, are refused", {
  bad <- function(argument, ...) {
    expect_identical(expect_error(compare_graphs(...), class = "pcgpu_error_argument")$argument, argument)
  }
  bad("true", diag(2))
  bad("estimated", "a", diag(2))
  bad("true", diag(2), "a")
  bad("estimated", diag(2), diag(3))
  bad("estimated", list(), diag(3))
  bad(
    "estimated",
    structure(diag(2), dimnames = list(NULL, c("a", "b"))),
    structure(diag(2), dimnames = list(NULL, c("a", "c")))
  )
  bad("cpdag", diag(2), diag(2), cpdag = NA)
})

test_that("numbers in another order are names, and rows and columns must agree", {
  arrow <- function(names, from, to) {
    m <- matrix(0, 3, 3, dimnames = list(names, names))
    m[from, to] <- 1
    m
  }
  true <- arrow(c("1", "2", "3"), "1", "2")
  expect_identical(compare_graphs(arrow(c("2", "3", "1"), "1", "2"), true, cpdag = FALSE)$shd, 0)
  expect_identical(compare_graphs(arrow(c("2", "3", "1"), "2", "3"), true, cpdag = FALSE)$shd, 2)
  # In their order they are no names.
  expect_identical(compare_graphs(arrow(c("a", "b", "c"), "a", "b"), true, cpdag = FALSE)$shd, 0)
  apart <- true
  rownames(apart) <- c("2", "3", "1")
  for (call in list(
    quote(compare_graphs(apart, true)),
    quote(compare_graphs(true, apart)),
    quote(causal_effects(apart, mcov = diag(3))),
    quote(add_knowledge(apart)),
    quote(as_igraph(apart)),
    quote(plot_cpdag(apart)),
    quote(udag2pag(apart, list())),
    quote(compare_graphs(structure(apart + t(apart), type = "pag"), structure(apart + t(apart), type = "pag")))
  )) {
    expect_error(eval(call), "same names in different orders", class = "pcgpu_error_argument", info = deparse(call))
  }
})

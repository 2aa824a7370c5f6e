test_that("edges by name become a graph, a CPDAG with conflicts or a PAG", {
  read <- function(kind, pag, from = c("a", "b"), to = c("b", "c")) {
    pcgpu:::graph_of_arcs("x", c("a", "b", "c"), from, to, kind, pag)
  }
  expect_identical(edge_table(read(c("-->", "---"), FALSE))$kind, c("-->", "---"))
  expect_identical(edge_table(read(c("<->", "-->"), FALSE))$kind, c("<->", "-->"))
  pag <- read(c("o->", "o--"), TRUE)
  expect_identical(edge_table(pag)$kind, c("o->", "o--"))
  expect_true(pcgpu:::is_pag(pag))
  error <- expect_error(read(c("-->", "==>"), FALSE), "an edge \"==>\"", class = "pcgpu_error_argument")
  expect_identical(error$argument, "x")
  expect_error(read(c("-->", "-->"), FALSE, to = c("b", "a")), "several edges between b and a")
})

test_that("graphs of dagitty are read back", {
  skip_if_not_installed("dagitty")
  for (graph in list(small_fit(), odd_graph(), random_dag(20, seed = 1), cpdag_of(random_dag(20, seed = 1)))) {
    found <- as_dagitty(graph)
    expect_identical(sorted_edges(edge_table(found)), sorted_edges(edge_table(graph)))
    expect_identical(compare_graphs(found, graph)$shd, 0)
  }
  pag <- fci(simulate(8, 200, seed = 4), gaussCItest, 0.05, numCores = 2)
  expect_identical(compare_graphs(as_dagitty(pag), pag)$shd, 0)
  expect_identical(sort(edge_table(as_dagitty(pag))$kind), sort(edge_table(pag)$kind))
  read <- function(text) edge_table(dagitty::dagitty(text))
  expect_identical(read("pag { a @-> b; c --@ b }")$kind, c("o->", "o--"))
  expect_identical(read("pag { a @-> b; c --@ b }")$to, c("b", "c"))
  # A hidden common cause, which is no conflict.
  expect_true(pcgpu:::is_pag(dagitty::dagitty("dag { a -> b; b <-> c }")))
  expect_false(pcgpu:::is_pag(dagitty::dagitty("pdag { a -> b; b <-> c }")))
  expect_identical(nrow(read("dag { }")), 0L)
  expect_identical(nrow(read("dag { a b }")), 0L)
  error <- expect_error(
    compare_graphs(small_fit(), dagitty::dagitty("dag { a -> b; a <-> b }")),
    "`true` has several edges between a and b",
    class = "pcgpu_error_argument"
  )
  expect_identical(error$argument, "true")
  expect_true(d_separated(dagitty::dagitty("dag { a -> b -> c }"), "a", "c", "b"))
})

test_that("graphs of caugi are read back", {
  skip_if_not_installed("caugi")
  pag <- fci(simulate(8, 200, seed = 4), gaussCItest, 0.05, numCores = 2)
  for (graph in list(small_fit(), odd_graph(), random_dag(20, seed = 1), cpdag_of(random_dag(20, seed = 1)), pag)) {
    found <- caugi_of(graph)
    expect_identical(sorted_edges(edge_table(found)), sorted_edges(edge_table(graph)))
    expect_identical(compare_graphs(found, graph)$shd, 0)
  }
  expect_identical(nrow(edge_table(caugi_of(pc(list(C = diag(2), n = 30), gaussCItest, 0.01, p = 2)))), 0L)
  read <- function(...) edge_table(caugi::caugi(..., class = "UNKNOWN"))
  expect_identical(read(from = "a", edge = "--o", to = "b")[1:2], data.frame(from = "b", to = "a"))
  hidden <- caugi::caugi(from = c("a", "b"), edge = c("-->", "<->"), to = c("b", "c"), class = "ADMG")
  expect_true(pcgpu:::is_pag(hidden))
  # causalDisco knows which graph of caugi is a PAG.
  plain <- caugi::caugi(from = c("a", "c"), edge = c("-->", "<->"), to = c("b", "b"), class = "UNKNOWN")
  expect_false(pcgpu:::is_pag(plain))
  expect_true(pcgpu:::is_pag(structure(list(caugi = plain, graph_type = "PAG"), class = "Disco")))
})

test_that("graphs of tidygraph are read back", {
  skip_if_not_installed("tidygraph")
  for (graph in c(unname(mixed_fits()), list(random_dag(20, seed = 1)))) {
    found <- tidygraph::as_tbl_graph(graph)
    expect_identical(sorted_edges(edge_table(found)), sorted_edges(edge_table(graph)))
  }
})

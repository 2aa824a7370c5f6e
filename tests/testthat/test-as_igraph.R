test_that("igraph gets the labels, the arcs and the marks", {
  skip_if_not_installed("igraph")
  fit <- pc(suff(p = 9, n = 60, degree = 3), gaussCItest, 0.2, p = 9, solve.confl = TRUE)
  graph <- as_igraph(fit)
  expect_true(igraph::is_directed(graph))
  expect_identical(igraph::V(graph)$name, as.character(1:9))
  m <- as.matrix(igraph::as_adjacency_matrix(graph, attr = "mark", sparse = FALSE))
  expect_equal(m, as(fit@graph, "matrix"))
  expect_true(2 %in% m)
})

test_that("skeletons and graphs without edges become igraph graphs", {
  skip_if_not_installed("igraph")
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  expect_equal(igraph::ecount(as_igraph(skel)), sum(amat(skel)))
  none <- pc(list(C = diag(4), n = 30), gaussCItest, 0.01, p = 4)
  expect_equal(igraph::ecount(as_igraph(none)), 0)
  expect_equal(igraph::vcount(as_igraph(none@graph)), 4)
  expect_error(as_igraph("graph"), class = "pcgpu_error_argument")
})

test_that("a graph of one node, and one of none, become igraph graphs", {
  skip_if_not_installed("igraph")
  for (m in list(matrix(0, 1, 1), matrix(1, 1, 1), matrix(FALSE, 1, 1))) {
    graph <- as_igraph(m)
    expect_identical(igraph::V(graph)$name, "1")
    expect_equal(igraph::ecount(graph), 0)
  }
  expect_equal(igraph::vcount(as_igraph(matrix(0, 0, 0))), 0)
})

test_that("a matrix with missing entries is refused", {
  m <- matrix(c(0, 1, NA, 0), 2)
  error <- expect_error(as_igraph(m), "first at [1, 2]", fixed = TRUE, class = "pcgpu_error_argument")
  expect_identical(error$argument, "x")
  expect_error(as_igraph(m == 1), class = "pcgpu_error_argument")
})

test_that("igraph and tidygraph get the kinds and the p-values", {
  skip_if_not_installed("igraph")
  for (fit in mixed_fits()) {
    graph <- as_igraph(fit)
    table <- edges(fit)
    found <- igraph::as_data_frame(graph)
    at <- match(paste(table$from, table$to), paste(found$from, found$to))
    expect_identical(found$kind[at], table$kind)
    expect_identical(found$p[at], table$p)
    expect_identical(found$mark[at], ifelse(table$kind == "<->", 2, 1))
    expect_equal(nrow(found), nrow(table) + sum(table$kind != "-->"))
    expect_identical(igraph::as_data_frame(igraph::as.igraph(fit)), found)
    expect_identical(sorted_edges(as.data.frame(compare_graphs(graph, fit))[0, ]), sorted_edges(edges(fit)[0, ]))
    expect_identical(compare_graphs(graph, fit)$shd, 0)
    expect_identical(pcgpu:::edges_of(graph)$weights, lapply(pcgpu:::edges_of(fit)$weights, as.double))
    skip_if_not_installed("tidygraph")
    tidied <- tidygraph::as_tbl_graph(fit)
    expect_s3_class(tidied, "tbl_graph")
    expect_identical(igraph::as_data_frame(tidied), found)
  }
})

test_that("graphs, and strengths of stability(), become igraph graphs", {
  skip_if_not_installed("igraph")
  dag <- random_dag(10, seed = 1)
  expect_setequal(igraph::edge_attr(igraph::as.igraph(dag), "weight"), dag$weight)
  x <- simulate(6, 100, degree = 3, seed = 2)
  found <- stability(x, gaussCItest, alpha = 0.1, replicates = 20, seed = 1, numCores = 2, threshold = 0.3)
  table <- edges(found)
  arcs <- igraph::as_data_frame(igraph::as.igraph(found))
  at <- match(paste(table$from, table$to), paste(arcs$from, arcs$to))
  expect_identical(arcs$direction[at], table$direction)
  back <- match(paste(table$to, table$from), paste(arcs$from, arcs$to))
  loose <- table$kind != "-->"
  expect_gt(sum(loose), 0)
  expect_equal(arcs$direction[back[loose]], 1 - table$direction[loose])
  expect_identical(is.na(back), !loose)
})

test_that("an igraph graph with kinds, each edge once, is read with them", {
  skip_if_not_installed("igraph")
  once <- igraph::graph_from_data_frame(odd_edges(), vertices = data.frame(name = odd_names))
  expect_identical(as.data.frame(compare_graphs(once, odd_graph())[c("adj_fp", "adj_fn", "shd")]), data.frame(adj_fp = 0, adj_fn = 0, shd = 0))
  expect_identical(sorted_edges(pcgpu:::named_edges(pcgpu:::network_of(once))), sorted_edges(odd_edges()))
})

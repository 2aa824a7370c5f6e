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

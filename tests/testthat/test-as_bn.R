test_that("an undirected edge is two arcs", {
  edges <- list2DF(list(from = c(1L, 3L), to = c(2L, 2L), kind = c("---", "-->")))
  found <- pcgpu:::arcs_of_bn(edges, c("a", "b", "c"))
  expect_identical(found, cbind(from = c("a", "b", "c"), to = c("b", "a", "b")))
})

test_that("bnlearn has the same arcs, and gives the graph back", {
  skip_if_not_installed("bnlearn")
  for (fit in mixed_fits()) {
    labels <- pcgpu:::network_of(fit)$labels
    table <- edges(fit)
    error <- expect_error(as_bn(fit), "in conflict", class = "pcgpu_error_argument")
    expect_identical(error$argument, "x")
    for (conflicts in c("undirected", "drop")) {
      graph <- as_bn(fit, conflicts, check = FALSE)
      expect_s3_class(graph, "bn")
      expect_identical(bnlearn::nodes(graph), labels)
      want <- if (conflicts == "drop") {
        table[table$kind != "<->", ]
      } else {
        transform(table, kind = ifelse(kind == "<->", "---", kind))
      }
      back <- pcgpu:::named_edges(pcgpu:::network_of(graph))
      expect_identical(sorted_edges(back), sorted_edges(want))
      expect_equal(nrow(bnlearn::undirected.arcs(graph)), 2 * sum(want$kind == "---"))
      expect_equal(nrow(bnlearn::directed.arcs(graph)), sum(want$kind == "-->"))
    }
  }
})

test_that("DAGs, odd names, graphs without edges and of two variables", {
  skip_if_not_installed("bnlearn")
  dag <- random_dag(20, neighbours = 3, seed = 1)
  graph <- as_bn(dag)
  expect_true(bnlearn::directed(graph))
  expect_identical(compare_graphs(graph, dag)$shd, 0)
  expect_identical(compare_graphs(as_bn(cpdag_of(dag)), cpdag_of(dag))$shd, 0)
  expect_identical(bnlearn::nodes(as_bn(odd_graph(), "drop")), odd_names)
  none <- as_bn(pc(list(C = diag(2), n = 30), gaussCItest, 0.01, p = 2))
  expect_identical(bnlearn::narcs(none), 0L)
  cycle <- matrix(0, 3, 3, dimnames = list(letters[1:3], letters[1:3]))
  cycle[cbind(1:3, c(2, 3, 1))] <- 1
  expect_identical(expect_error(as_bn(cycle), "bnlearn refuses", class = "pcgpu_error_argument")$argument, "x")
  expect_identical(expect_error(as_bn(matrix(0, 0, 0)), class = "pcgpu_error_argument")$argument, "x")
})

test_that("arguments are checked, and bnlearn is required", {
  expect_identical(expect_error(as_bn(1), class = "pcgpu_error_argument")$argument, "x")
  expect_identical(expect_error(as_bn(small_fit(), "keep"), class = "pcgpu_error_argument")$argument, "conflicts")
  expect_identical(expect_error(as_bn(small_fit(), check = NA), class = "pcgpu_error_argument")$argument, "check")
  skip_if(requireNamespace("bnlearn", quietly = TRUE), "bnlearn is installed")
  expect_identical(expect_error(as_bn(small_fit()), class = "pcgpu_error_package")$package, "bnlearn")
})

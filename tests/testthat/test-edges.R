test_that("edges() and as.data.frame() are one table, of either class", {
  for (fit in mixed_fits()) {
    found <- edges(fit)
    expect_named(found, c("from", "to", "kind", "p"))
    expect_identical(as.data.frame(fit), found)
    a <- as(fit, "matrix")
    # pcalg's coding: [i, j] is the mark at i of the edge from j to i.
    expect_equal(nrow(found), sum((a != 0 | t(a) != 0)[upper.tri(a)]))
    want <- ifelse(
      a[cbind(found$to, found$from)] == 2,
      "<->",
      ifelse(a[cbind(found$from, found$to)] != 0, "---", "-->")
    )
    expect_identical(found$kind, want)
    expect_true(all(a[cbind(found$to, found$from)] != 0))
    expect_equal(found$p, p_value(fit, found$from, found$to))
  }
  expect_identical(edges(mixed_fits()$full), edges(mixed_fits()$compact))
})

test_that("two variables, and no edges", {
  for (result in c("pcAlgo", "compact")) {
    one <- pc(
      list(C = matrix(c(1, 0.9, 0.9, 1), 2), n = 50),
      gaussCItest,
      0.05,
      labels = c("a", "b c"),
      result = result
    )
    expect_identical(edges(one)[1:3], data.frame(from = "a", to = "b c", kind = "---"))
    none <- pc(list(C = diag(2), n = 50), gaussCItest, 0.05, p = 2, result = result)
    expect_identical(dim(edges(none)), c(0L, 4L))
    expect_identical(
      vapply(edges(none), typeof, ""),
      c(from = "character", to = "character", kind = "character", p = "double")
    )
    expect_identical(as.data.frame(none), edges(none))
  }
})

test_that("graphs of random_dag() and cpdag_of() have edges", {
  dag <- random_dag(30, neighbours = 3, seed = 1)
  found <- edges(dag)
  expect_identical(found, as.data.frame(dag))
  expect_identical(found$from, dag$labels[dag$from])
  expect_identical(found$weight, dag$weight)
  cpdag <- cpdag_of(dag)
  expect_identical(edges(cpdag)$kind, ifelse(cpdag$directed, "-->", "---"))
  expect_identical(sorted_edges(edges(cpdag)), sorted_edges(edges(compact_of(cpdag))))
  empty <- edges(random_dag(3, neighbours = 0, seed = 1))
  expect_identical(dim(empty), c(0L, 4L))
})

test_that("stability() and its averaged graph have strengths and directions by one rule", {
  x <- simulate(8, 100, degree = 3, seed = 2)
  found <- stability(
    x,
    gaussCItest,
    alpha = 0.1,
    replicates = 40,
    seed = 1,
    numCores = 2,
    solve.confl = TRUE,
    threshold = 0.3
  )
  all <- as.data.frame(found)
  kept <- all[all$kept, c("from", "to", "strength", "direction")]
  rownames(kept) <- NULL
  expect_gt(nrow(kept), 4)
  expect_identical(edges(found)[c("from", "to", "strength", "direction")], kept)
  graph <- averaged_cpdag(found)
  of_graph <- as.data.frame(graph)
  key <- function(edges) ifelse(edges$from < edges$to, paste(edges$from, edges$to), paste(edges$to, edges$from))
  expect_setequal(key(of_graph), key(kept))
  expect_identical(of_graph$strength, kept$strength[match(key(of_graph), key(kept))])
  expect_identical(sorted_edges(edges(found)), sorted_edges(of_graph))
  # The one direction that both know.
  directed <- of_graph[of_graph$kind == "-->", ]
  expect_gt(nrow(directed), 0)
  expect_identical(
    directed$direction,
    kept$direction[match(paste(directed$from, directed$to), paste(kept$from, kept$to))]
  )
  # Of an edge without a direction, as from the vertex that it is listed from.
  loose <- of_graph[of_graph$kind != "-->", ]
  at <- match(key(loose), key(kept))
  expect_equal(loose$direction, ifelse(loose$from == kept$from[at], kept$direction[at], 1 - kept$direction[at]))
  # An edge that someone takes out is not there, and the others keep what they have.
  less <- graph::removeEdge(directed$from[1], directed$to[1], graph)
  left <- as.data.frame(less)
  expect_identical(nrow(left), nrow(of_graph) - 1L)
  expect_false(anyNA(left$strength))
  # Another threshold has the edges of that one.
  expect_lt(nrow(as.data.frame(averaged_cpdag(found, threshold = 0.99))), nrow(of_graph))
})

test_that("other graphs are tables, too", {
  expect_identical(
    sorted_edges(as.data.frame(pcgpu:::graph_from_edges(letters[1:3], list(2L, integer(), 2L))))$to,
    c("b", "b")
  )
  expect_identical(as.data.frame(small_fit()@graph), edges(small_fit())[1:3])
})

test_that("edge_table() is edges(), and reads other graphs, too", {
  x <- simulate(6, 100, degree = 3, seed = 2)
  graphs <- c(
    mixed_fits(),
    list(
      dag = random_dag(5, seed = 1),
      pag = fci(suff_gauss(x), gaussCItest, 0.1, labels = colnames(x), numCores = 1),
      averaged = stability(x, gaussCItest, alpha = 0.1, replicates = 5, seed = 1, numCores = 1)
    )
  )
  for (name in names(graphs)) {
    expect_identical(edge_table(graphs[[name]]), edges(graphs[[name]]), info = name)
  }
  expect_identical(edge_table(small_fit()@graph), edges(small_fit())[1:3])
  expect_identical(edge_table(as(small_fit(), "amat")), edges(small_fit())[1:3])
  e <- expect_error(edge_table("a"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "x")
  expect_error(edge_table(), "missing", class = "pcgpu_error_argument")
})

test_that("objects without edges name the function that returns their table", {
  for (class in c("pcgpu_cstar", "pcgpu_effects", "pcgpu_joint_effects", "pcgpu_markov", "pcgpu_selection")) {
    e <- expect_error(
      edges(structure(list(), class = class)),
      "as.data.frame() returns its table",
      fixed = TRUE,
      class = "pcgpu_error_argument"
    )
    expect_identical(e$argument, "object")
    e <- expect_error(
      edge_table(structure(list(), class = class)),
      "as.data.frame() returns its table",
      fixed = TRUE,
      class = "pcgpu_error_argument"
    )
    expect_identical(e$argument, "x")
  }
})

test_that("adjacency matrices have edges, in both codings", {
  m <- matrix(0, 3, 3, dimnames = list(c("a", "b", "d"), c("a", "b", "d")))
  m["a", "b"] <- m["b", "d"] <- m["d", "b"] <- 1
  expect_identical(as.list(edges(m)), list(from = c("a", "b"), to = c("b", "d"), kind = c("-->", "---")))
  expect_identical(edges(structure(t(m), type = "amat.cpdag")), edges(m))
  expect_identical(edges(m != 0), edges(m))
  expect_identical(edges(structure(2 * (m + t(m) > 0), type = "amat.pag"))$kind, c("<->", "<->"))
  expect_error(edges(m[1:2, ]), "give a result of pc", class = "pcgpu_error_argument")
})

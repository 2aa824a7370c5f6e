graph_of_edges <- function(edges, labels) {
  m <- matrix(0, length(labels), length(labels), dimnames = list(labels, labels))
  for (edge in edges) m[edge[[1]], edge[[2]]] <- m[edge[[2]], edge[[1]]] <- 1
  as(m, "graphNEL")
}

test_that("recorded skeletons have pcalg's recorded answers", {
  compared <- 0
  for (name in fci_names(c("gauss", "dis", "dsep"))) {
    golden <- read_golden(name)
    if (is.null(golden$steps$pdsep)) next
    p <- golden$p
    labels <- if (is.null(golden$labels)) as.character(seq_len(p)) else unlist(golden$labels)
    steps <- golden$steps
    test <- fci_arguments(golden)
    skeleton <- graph_of_edges(steps$skeleton$edges, labels)
    sets <- recorded_sets(pooled(golden, "sepset", steps$skeleton$sepset), p)
    p_max <- matrix_of(pooled(golden, "pMax", steps$skeleton$pMax))
    want <- steps$pdsep
    found <- pdsep(skeleton, test$suffStat, test$indepTest, p, sets, golden$alpha, p_max,
      m.max = if (is.null(want$m.max)) Inf else want$m.max, NAdelete = golden$NAdelete, fixedEdges = pairs_of(golden$fixedEdges, p), numCores = 2
    )
    expect_named(found, c("G", "sepset", "pMax", "allPdsep", "max.ord", "n.edgetests"))
    expect_identical(found$G, as(graph_of_edges(want$edges, labels), "matrix") != 0, info = name)
    expect_identical(found$sepset, recorded_sets(pooled(golden, "sepset", want$sepset), p), info = name)
    expect_true(same_pmax(found$pMax, matrix_of(pooled(golden, "pMax", want$pMax))), info = name)
    expect_identical(sorted_sets(found$allPdsep), recorded_possible(pooled(golden, "allPdsep", want$allPdsep)), info = name)
    expect_identical(found$max.ord, as.integer(want$max_ord), info = name)
    expect_identical(found$n.edgetests, numbers(want$n_edgetests), info = name)
    compared <- compared + 1
  }
  expect_gt(compared, 30)
})

graph_of_edges <- function(edges, labels) {
  m <- matrix(0, length(labels), length(labels), dimnames = list(labels, labels))
  for (edge in edges) {
    m[edge[[1]], edge[[2]]] <- m[edge[[2]], edge[[1]]] <- 1
  }
  as(m, "graphNEL")
}

test_that("recorded skeletons have pcalg's recorded answers", {
  compared <- 0
  for (name in fci_names(c("gauss", "dis", "dsep"))) {
    golden <- read_golden(name)
    if (is.null(golden$steps$pdsep)) {
      next
    }
    p <- golden$p
    labels <- if (is.null(golden$labels)) as.character(seq_len(p)) else unlist(golden$labels)
    steps <- golden$steps
    test <- fci_arguments(golden)
    skeleton <- graph_of_edges(steps$skeleton$edges, labels)
    sets <- recorded_sets(pooled(golden, "sepset", steps$skeleton$sepset), p)
    p_max <- matrix_of(pooled(golden, "pMax", steps$skeleton$pMax))
    want <- steps$pdsep
    found <- pdsep(
      skeleton,
      test$suffStat,
      test$indepTest,
      p,
      sets,
      golden$alpha,
      p_max,
      m.max = if (is.null(want$m.max)) Inf else want$m.max,
      NAdelete = golden$NAdelete,
      fixedEdges = pairs_of(golden$fixedEdges, p),
      numCores = 2
    )
    expect_named(found, c("G", "sepset", "pMax", "allPdsep", "max.ord", "n.edgetests"))
    expect_identical(found$G, as(graph_of_edges(want$edges, labels), "matrix") != 0, info = name)
    expect_identical(found$sepset, recorded_sets(pooled(golden, "sepset", want$sepset), p), info = name)
    expect_true(same_pmax(found$pMax, matrix_of(pooled(golden, "pMax", want$pMax))), info = name)
    expect_identical(
      sorted_sets(found$allPdsep),
      recorded_possible(pooled(golden, "allPdsep", want$allPdsep)),
      info = name
    )
    expect_identical(found$max.ord, as.integer(want$max_ord), info = name)
    expect_identical(found$n.edgetests, numbers(want$n_edgetests), info = name)
    compared <- compared + 1
  }
  expect_gt(compared, 30)
})

test_that("skeletons are accepted as graphs and as results, and wrong arguments are named", {
  s <- suff(p = 6, n = 200)
  skel <- skeleton(s, gaussCItest, 0.1, p = 6)
  run <- function(...) {
    given <- list(
      skel = skel@graph,
      suffStat = s,
      indepTest = gaussCItest,
      p = 6,
      sepset = skel@sepset,
      alpha = 0.1,
      pMax = skel@pMax
    )
    other <- list(...)
    do.call(pdsep, c(given[setdiff(names(given), names(other))], other))
  }
  want <- run()
  for (graph in list(skel, as(skel@graph, "matrix"), skeleton(s, gaussCItest, 0.1, p = 6, result = "compact"))) {
    expect_identical(run(skel = graph), want)
  }
  expect_identical(pdsep(skel, s, gaussCItest, sepset = skel@sepset, alpha = 0.1, pMax = skel@pMax), want)
  expect_argument <- function(code, argument) {
    e <- expect_error(code, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  expect_argument(pdsep(), "skel")
  expect_argument(pdsep(skel, s, gaussCItest, 6, alpha = 0.1), "sepset")
  expect_argument(run(skel = 1), "skel")
  expect_argument(run(p = 5), "p")
  expect_argument(run(pMax = diag(3)), "pMax")
  for (wrong in list(1, list(), rep(list(rep(list(9L), 6)), 6))) {
    expect_argument(run(sepset = wrong), "sepset")
  }
  for (argument in c("alpha", "m.max", "pdsep.max", "NAdelete", "biCC", "verbose")) {
    expect_argument(do.call(run, stats::setNames(list(NA), argument)), argument)
  }
  expect_argument(run(unfVect = "a"), "unfVect")
  expect_argument(run(fixedEdges = diag(3)), "fixedEdges")
})

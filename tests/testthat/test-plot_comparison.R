test_that("the picture of a comparison has every edge, coloured by the graphs that have it", {
  a <- random_dag(12, 3, seed = 1)
  b <- random_dag(12, 3, seed = 2)
  for (compared in list(
    compare_graphs(a, b, cpdag = FALSE),
    compare_graphs(cpdag_of(a), cpdag_of(b)),
    compare_graphs(list(a = a, b = b, c = cpdag_of(a)))
  )) {
    found <- pcgpu:::picture_of_comparison(compared)
    rows <- edge_table(compared)
    drawn <- edge_table(found$graph)
    key <- function(table) paste(pmin(table$from, table$to), pmax(table$from, table$to))
    expect_setequal(key(drawn), key(rows))
    expect_identical(found$at, match(key(drawn), key(rows)))
    expect_identical(as.character(found$difference), rows$difference[found$at])
    # "both" is dark grey whether other levels have edges or not.
    expect_identical(nlevels(found$difference), if ("graphs" %in% names(rows)) 6L else 4L)
  }
})

test_that("comparisons of PAGs, with conflicts, and without edges are drawn", {
  x <- random_data(random_dag(10, 3, seed = 1), 200, seed = 1)[, 3:10]
  stat <- suff_gauss(x)
  pags <- list(
    strict = fci(stat, gaussCItest, 0.001, labels = colnames(x)),
    loose = fci(stat, gaussCItest, 0.2, labels = colnames(x))
  )
  conflict <- matrix(c(0, 2, 0, 2, 0, 1, 0, 0, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
  none <- matrix(0, 3, 3, dimnames = dimnames(conflict))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (compared in list(compare_graphs(pags), compare_graphs(conflict, none), compare_graphs(none, none))) {
    expect_identical(plot(compared, main = "A title", edge_width = seq_len(nrow(edge_table(compared)))), compared)
  }
  of_conflict <- pcgpu:::picture_of_comparison(compare_graphs(conflict, none))$graph
  expect_identical(edge_table(of_conflict)$kind, edge_table(conflict)$kind)
  marks <- pcgpu:::picture_of_comparison(compare_graphs(pags["strict"], pags$strict))$graph
  expect_identical(edge_table(marks)[1:3], edge_table(pags$strict)[1:3])
  expect_error(plot(compare_graphs(none, none), layuot = "tree"), "layout", class = "pcgpu_error_argument")
})

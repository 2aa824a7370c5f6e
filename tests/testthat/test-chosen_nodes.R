# Returns a graph 1 - 2 - 3 - 4, 5 -> 6, with 7 and 8 isolated.
small <- function() {
  m <- matrix(0, 8, 8, dimnames = list(letters[1:8], letters[1:8]))
  m[cbind(c(1, 2, 2, 3, 3, 4, 5), c(2, 1, 3, 2, 4, 3, 6))] <- 1
  m
}

chosen <- function(..., around = NULL, order = 1, isolated = NULL, components = NULL, x = small()) {
  pcgpu:::chosen_nodes(pcgpu:::edges_of(x), around, order, isolated, components)
}

test_that("around accepts names, numbers, several and duplicates, and takes as many steps as requested", {
  expect_identical(chosen(around = "a")$nodes, 1:2)
  expect_identical(chosen(around = "a", order = 2)$nodes, 1:3)
  expect_identical(
    chosen(around = c(1, 6, 1), order = 1)[c("nodes", "focus")],
    list(nodes = c(1L, 2L, 5L, 6L), focus = c(1L, 4L))
  )
  expect_identical(chosen(around = factor("f"), order = Inf)$nodes, 5:6)
  expect_identical(chosen(around = "g", order = 3)$nodes, 7L)
  expect_identical(chosen(around = "b", order = 0)$nodes, 2L)
  expect_error(chosen(around = c("a", "nobody")), "nobody", class = "pcgpu_error_argument")
  for (bad in list(0, 9, 1.5, NA, character(), TRUE, list("a"))) {
    expect_error(chosen(around = bad), "`around`", class = "pcgpu_error_argument")
  }
  for (bad in list(-1, 1.5, NA, "1", 1:2)) {
    expect_error(chosen(around = "a", order = bad), "`order`", class = "pcgpu_error_argument")
  }
})

test_that("nodes without an edge are left out if they are many or unwanted, and a line reports this", {
  expect_identical(chosen()[c("nodes", "left")], list(nodes = 1:8, left = NULL))
  expect_identical(
    chosen(isolated = FALSE)[c("nodes", "left")],
    list(nodes = 1:6, left = "2 variables without an edge not drawn")
  )
  many <- matrix(0, 40, 40)
  expect_length(chosen(x = many)$nodes, 40)
  expect_length(chosen(x = many, isolated = FALSE)$nodes, 0)
  many[1, 2] <- 1
  expect_identical(chosen(x = many)$nodes, 1:2)
  expect_length(chosen(x = many, isolated = TRUE)$nodes, 40)
  expect_error(chosen(isolated = NA), "`isolated`", class = "pcgpu_error_argument")
})

test_that("components are the largest, or those of a size", {
  expect_identical(chosen(components = 1)$nodes, 1:4)
  expect_identical(
    chosen(components = 1)$left,
    c("2 variables in smaller components not drawn", "2 variables without an edge not drawn")
  )
  expect_identical(chosen(components = 9)$nodes, 1:6)
  expect_identical(chosen(components = c(least = 3))$nodes, 1:4)
  expect_identical(chosen(components = c(least = 5))$nodes, integer())
  expect_identical(chosen(components = 1, isolated = TRUE)$nodes, c(1:4, 7:8))
  for (bad in list(0, 1.5, NA_real_, "1", 1:2, c(size = 2))) {
    expect_error(chosen(components = bad), "`components`", class = "pcgpu_error_argument")
  }
})

test_that("the graph of some nodes has their edges and no others, marks included", {
  listed <- pcgpu:::edges_of(pc(suff(p = 9, n = 60, degree = 3), gaussCItest, 0.2, p = 9, solve.confl = TRUE))
  nodes <- c(2L, 3L, 5L, 8L, 9L)
  all <- pcgpu:::table_of_lists(listed$edges, listed$weights)
  part <- pcgpu:::graph_of_nodes(listed, nodes)
  found <- pcgpu:::table_of_lists(part$edges, part$weights)
  want <- all[all$from %in% nodes & all$to %in% nodes, ]
  expect_gt(nrow(want), 0)
  expect_identical(paste(nodes[found$from], nodes[found$to], found$kind), paste(want$from, want$to, want$kind))
  expect_identical(part$labels, listed$labels[nodes])
})

test_that("a picture around a node shows that part of the graph, of either class of results", {
  set.seed(1)
  x <- matrix(stats::rnorm(3000), 300, 10, dimnames = list(NULL, paste0("v", 1:10)))
  x[, 3] <- x[, 1] + x[, 2] + stats::rnorm(300)
  x[, 5] <- x[, 3] + stats::rnorm(300)
  x[, 8] <- x[, 7] + stats::rnorm(300)
  for (result in c("pcAlgo", "compact")) {
    fit <- pc(suff_gauss(x), gaussCItest, 0.001, labels = colnames(x), numCores = 1, result = result)
    for (engine in c("base", if (requireNamespace("igraph", quietly = TRUE)) "igraph")) {
      picture <- drawn(plot_cpdag(fit, engine = engine, around = c("v3", "v3")))
      expect_setequal(setdiff(picture$texts$label, c("directed", "undirected")), c("v1", "v2", "v3", "v5"))
      picture <- drawn(plot_cpdag(fit, engine = engine, isolated = FALSE))
      expect_setequal(
        setdiff(picture$texts$label, c("directed", "undirected")),
        c("v1", "v2", "v3", "v5", "v7", "v8", "4 variables without an edge not drawn")
      )
    }
  }
})

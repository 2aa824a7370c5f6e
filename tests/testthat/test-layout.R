edges_of_random <- function(p, share) {
  set.seed(p)
  pairs <- which(upper.tri(diag(p)), arr.ind = TRUE)
  pairs <- pairs[stats::runif(nrow(pairs)) < share, , drop = FALSE]
  data.frame(from = pairs[, 1], to = pairs[, 2], kind = rep_len(c("directed", "undirected"), nrow(pairs)))
}

boxes <- function(p) cbind(rep_len(c(2, 3, 5), p), rep(1, p))

test_that("no two boxes overlap, and none is below zero", {
  for (p in c(1, 2, 3, 7, 20, 60, 300)) {
    for (share in c(0, 0.05, 0.2)) {
      size <- boxes(p)
      xy <- pcgpu:::layout_graph(p, edges_of_random(p, share), size, aspect = 1.3)
      expect_true(all(is.finite(xy)))
      expect_true(all(xy - size / 2 > -1e-9))
      dx <- abs(outer(xy[, 1], xy[, 1], `-`)) - outer(size[, 1], size[, 1], `+`) / 2
      dy <- abs(outer(xy[, 2], xy[, 2], `-`)) - outer(size[, 2], size[, 2], `+`) / 2
      over <- pmax(dx, dy)[upper.tri(dx)]
      expect_gte(min(over, Inf), 0)
    }
  }
})

test_that("a layout is the same every time", {
  edges <- edges_of_random(25, 0.1)
  expect_identical(pcgpu:::layout_graph(25, edges, boxes(25), 1), pcgpu:::layout_graph(25, edges, boxes(25), 1))
})

test_that("adjacent nodes lie nearer than others", {
  # A path: its ends must be the two nodes that lie farthest from each other.
  edges <- data.frame(from = 1:9, to = 2:10, kind = "undirected")
  xy <- pcgpu:::layout_graph(10, edges, boxes(10), 1)
  apart <- as.matrix(stats::dist(xy))
  expect_equal(sort(as.vector(which(apart == max(apart), arr.ind = TRUE)[1, ])), c(1, 10))
})

test_that("arrows point downwards on the whole", {
  edges <- data.frame(from = c(1, 1, 2, 3), to = c(2, 3, 4, 4), kind = "directed")
  xy <- pcgpu:::layout_graph(4, edges, boxes(4), 1)
  expect_gt(xy[1, 2], xy[4, 2])
})

test_that("components are found", {
  expect_identical(pcgpu:::components(5L, list(from = c(1L, 4L), to = c(3L, 5L))), c(1L, 2L, 1L, 3L, 3L))
  expect_identical(pcgpu:::components(4L, list(from = 4L, to = 2L)), c(1L, 2L, 3L, 2L))
  expect_identical(pcgpu:::components(0L, list(from = integer(), to = integer())), integer())
})

test_that("boxes on one spot are moved apart", {
  for (n in c(2, 10, 100)) {
    size <- boxes(n)
    xy <- pcgpu:::push_apart(matrix(0, n, 2), size)
    expect_length(pcgpu:::near_pairs(xy, size, 0)$a, 0)
  }
})

test_that("near_pairs() finds the pairs that a comparison of all finds", {
  set.seed(1)
  xy <- matrix(stats::runif(200, 0, 20), 100)
  size <- cbind(stats::runif(100, 0.5, 3), stats::runif(100, 0.5, 1.5))
  dx <- abs(outer(xy[, 1], xy[, 1], `-`)) - outer(size[, 1], size[, 1], `+`) / 2
  dy <- abs(outer(xy[, 2], xy[, 2], `-`)) - outer(size[, 2], size[, 2], `+`) / 2
  want <- which(lower.tri(dx) & dx < 0.3 & dy < 0.3, arr.ind = TRUE)
  found <- pcgpu:::near_pairs(xy, size, 0.3)
  expect_setequal(paste(found$a, found$b), paste(want[, 1], want[, 2]))
  expect_gt(length(pcgpu:::near_pairs(xy, size, 0.3, most = 5)$a), 5)
  # Sums over groups.
  values <- stats::runif(length(found$a))
  expect_equal(pcgpu:::sum_by(values, found$by_a), as.vector(tapply(values, factor(found$a, 1:100), sum, default = 0)))
})

test_that("the steps between nodes are counted", {
  # A ring of six.
  near <- pcgpu:::neighbour_lists(6, data.frame(from = 1:6, to = c(2:6, 1)))
  expect_equal(pcgpu:::steps_from(near, c(1, 3)), cbind(c(0, 1, 2, 3, 2, 1), c(2, 1, 0, 1, 2, 3)))
})

# Measures how far distances on paper are from distances in the graph, at the best scale.
stress <- function(xy, steps) {
  ratio <- (as.matrix(stats::dist(xy)) / steps)[upper.tri(steps)]
  mean((1 - ratio * sum(ratio) / sum(ratio^2))^2)
}

test_that("in a large component few distances represent all", {
  trees <- list(
    binary = data.frame(from = 2:400 %/% 2, to = 2:400),
    chain = data.frame(from = 1:399, to = 2:400),
    grid = data.frame(from = c(1:380, which(1:400 %% 20 != 0)), to = c(21:400, which(1:400 %% 20 != 0) + 1))
  )
  for (edges in trees) {
    near <- pcgpu:::neighbour_lists(400, edges)
    steps <- pcgpu:::steps_from(near, 1:400)
    full <- pcgpu:::majorise(pcgpu:::pivot_mds(steps) + 1e-3 * cbind(sin(1:400), cos(1:400)), steps)
    sparse <- pcgpu:::layout_component(near, 1:400)
    expect_lt(stress(sparse, steps), 1.15 * stress(full, steps) + 0.01)
  }
})

test_that("components and nodes without an edge are close to each other, and none covers another", {
  size <- boxes(40)
  edges <- data.frame(from = c(1:9, 11, 13, 15), to = c(2:10, 12, 14, 16), kind = "directed")
  for (aspect in c(0.2, 1, 5)) {
    xy <- pcgpu:::layout_graph(40, edges, size, aspect)
    expect_length(pcgpu:::near_pairs(xy, size, 0)$a, 0)
    # Every node without an edge has another one within two boxes.
    expect_true(all(17:40 %in% unlist(pcgpu:::near_pairs(xy, 3 * size, 0)[c("a", "b")])))
  }
  extent <- function(aspect) apply(pcgpu:::layout_graph(40, edges[0, ], size, aspect), 2, max)
  expect_gt(extent(5)[1], extent(0.2)[1])
  expect_lt(extent(5)[2], extent(0.2)[2])
})

test_that("a component of a thousand nodes is laid out without overlaps", {
  edges <- data.frame(from = 2:1000, to = 1:999 %/% 2 + 1, kind = "directed")
  xy <- pcgpu:::layout_graph(1000, edges, boxes(1000), 1)
  expect_true(all(is.finite(xy)))
  expect_length(pcgpu:::near_pairs(xy, boxes(1000), 0)$a, 0)
})

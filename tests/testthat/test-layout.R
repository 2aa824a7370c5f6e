edges_of_random <- function(p, share) {
  set.seed(p)
  pairs <- t(utils::combn(p, 2))
  pairs <- pairs[stats::runif(nrow(pairs)) < share, , drop = FALSE]
  data.frame(from = pairs[, 1], to = pairs[, 2], kind = rep_len(c("directed", "undirected"), nrow(pairs)))
}

boxes <- function(p) cbind(rep_len(c(2, 3, 5), p), rep(1, p))

test_that("no two boxes overlap, and all lie in the page", {
  for (p in c(2, 3, 7, 20, 60)) {
    for (share in c(0, 0.05, 0.2)) {
      size <- boxes(p)
      xy <- pcgpu:::layout_graph(p, edges_of_random(p, share), size, aspect = 1.3)
      expect_true(all(is.finite(xy)))
      expect_true(all(xy - size / 2 > -1e-9))
      dx <- abs(outer(xy[, 1], xy[, 1], `-`)) - outer(size[, 1], size[, 1], `+`) / 2
      dy <- abs(outer(xy[, 2], xy[, 2], `-`)) - outer(size[, 2], size[, 2], `+`) / 2
      over <- pmax(dx, dy)[upper.tri(dx)]
      expect_gt(min(over), -0.1)
    }
  }
})

test_that("a layout is the same every time", {
  edges <- edges_of_random(25, 0.1)
  expect_identical(pcgpu:::layout_graph(25, edges, boxes(25), 1), pcgpu:::layout_graph(25, edges, boxes(25), 1))
})

test_that("neighbours lie nearer than strangers", {
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
  near <- pcgpu:::neighbour_lists(5, data.frame(from = c(1, 4), to = c(3, 5)))
  expect_identical(pcgpu:::components(near), c(1L, 2L, 1L, 3L, 3L))
})

test_that("a component of a thousand nodes is laid out in seconds", {
  edges <- data.frame(from = 2:1000, to = 1:999 %/% 2 + 1, kind = "directed")
  took <- system.time(xy <- pcgpu:::layout_graph(1000, edges, boxes(1000), 1))[["elapsed"]]
  expect_true(all(is.finite(xy)))
  expect_lt(took, 20)
})

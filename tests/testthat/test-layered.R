drawing <- function(frame = parent.frame()) {
  grDevices::pdf(NULL)
  do.call(on.exit, list(quote(grDevices::dev.off()), add = TRUE), envir = frame)
}
boxes <- function(n) cbind(rep(1, n), rep(0.4, n))
placed_in <- function(name, n, edges, ...) {
  xy <- pcgpu:::own_layout(name, ...)(n, edges, boxes(n), 1.4)
  expect_identical(dim(xy), c(as.integer(n), 2L))
  expect_length(pcgpu:::near_pairs(xy, boxes(n), 0)$a, 0)
  expect_identical(pcgpu:::own_layout(name, ...)(n, edges, boxes(n), 1.4), xy)
  xy
}
of_graph <- function(graph) pcgpu:::table_of(pcgpu:::edges_of(graph))

test_that("causes stand above their effects", {
  for (seed in 1:8) {
    edges <- of_graph(random_dag(25, 2 + seed / 3, seed = seed))
    xy <- placed_in("layered", 25, edges)
    expect_true(all(xy[edges$from, 2] > xy[edges$to, 2]))
  }
  # Undirected edges lead away from the middle of their component.
  star <- data.frame(from = rep(3, 4), to = c(1, 2, 4, 5), kind = "undirected")
  xy <- placed_in("layered", 5, star)
  expect_true(all(xy[3, 2] > xy[-3, 2]))
  expect_equal(xy[3, 1], mean(xy[-3, 1]))
})

test_that("a graph with cycles, or without edges, has layers, too", {
  cycle <- data.frame(from = 1:4, to = c(2:4, 1), kind = "directed")
  xy <- placed_in("layered", 4, cycle)
  expect_identical(sum(xy[cycle$from, 2] > xy[cycle$to, 2]), 3L)
  for (name in c("layered", "tree", "circle")) {
    placed_in(name, 3, cycle[0, ])
    placed_in(name, 1, cycle[0, ])
  }
  placed_in("tiers", 3, cycle[0, ], tier = c(1, 2, 2))
})

test_that("later tiers stand to the right of earlier ones", {
  set.seed(4)
  for (seed in 1:6) {
    edges <- of_graph(cpdag_of(random_dag(30, 3, seed = seed)))
    tier <- sample(1:4, 30, TRUE)
    xy <- placed_in("tiers", 30, edges, tier = tier)
    for (at in 1:3) {
      expect_lt(max(xy[tier == at, 1]), min(xy[tier == at + 1, 1]))
    }
    inside <- edges$kind == "directed" & tier[edges$from] == tier[edges$to]
    expect_gte(mean(xy[edges$to, 1][inside] > xy[edges$from, 1][inside]), 0.9)
  }
  # Nodes without an edge share the columns.
  xy <- placed_in("tiers", 40, edges[0, ], tier = rep(1:2, c(1, 39)))
  expect_gt(length(unique(round(xy[-1, 1], 6))), 3)
})

test_that("straight edges keep their way free of boxes", {
  # 1 -> 5 passes the layers of 2, 3 and 4.
  edges <- data.frame(from = c(1, 2, 3, 4, 1), to = c(2, 3, 4, 5, 5), kind = "directed")
  xy <- placed_in("layered", 5, edges)
  for (node in 2:4) {
    part <- (xy[1, 2] - xy[node, 2]) / (xy[1, 2] - xy[5, 2])
    on_line <- xy[1, 1] + part * (xy[5, 1] - xy[1, 1])
    expect_gt(abs(on_line - xy[node, 1]), 0.5)
  }
})

test_that("the nearest increasing values are those of isotonic regression", {
  set.seed(1)
  for (round in 1:20) {
    x <- rnorm(15)
    expect_equal(pcgpu:::increasing(x, rep(1, 15)), stats::isoreg(x)$yf)
  }
  # With weights: as often as the weights say.
  weight <- sample(1:4, 15, TRUE)
  expect_equal(rep(pcgpu:::increasing(x, weight), weight), stats::isoreg(rep(x, weight))$yf)
})

test_that("the picture of a search with tiers shows them, unless another layout is asked for", {
  x <- simulate(6, 300, degree = 3)
  tiers <- c(1, 1, 2, 2, 3, 3)
  fit <- pc(suff_gauss(x), gaussCItest, 0.05, p = 6, tiers = tiers)
  expect_identical(run_details(fit)$tiers, tiers)
  drawn <- function(...) pcgpu:::asked_graph(pcgpu:::drawn_edges_of(fit), NULL, list(order = 1, ...), fit)$wish
  expect_identical(drawn()$tiers, tiers)
  expect_true(is.function(drawn()$layout))
  expect_null(drawn(layout = "stress")$layout)
  expect_null(drawn(layout = "stress")$tiers)
  expect_identical(drawn(around = 5, isolated = FALSE)$tiers[drawn(around = 5, isolated = FALSE)$focus], 3)
  skel <- skeleton(suff_gauss(x), gaussCItest, 0.05, p = 6)
  expect_null(run_details(orient(skel))$tiers)
  expect_identical(run_details(orient(skel, tiers = tiers))$tiers, tiers)
  expect_identical(run_details(fci(suff_gauss(x), gaussCItest, 0.05, p = 6, tiers = tiers))$tiers, tiers)
  expect_error(plot_cpdag(skel, layout = "tiers"), "has none", class = "pcgpu_error_argument")
  drawing()
  for (layout in pcgpu:::own_layouts) {
    expect_identical(plot(fit, layout = layout), fit)
  }
})

test_that("edges bend around boxes, and named tiers have headings", {
  # 1 -> 5 passes three layers.
  edges <- data.frame(from = c(1, 2, 3, 4, 5), to = c(2, 3, 4, 5, 1), kind = "directed")
  edges <- edges[c(1:4, 5), ]
  edges[5, 1:2] <- c(1, 5)
  for (name in c("layered", "tree")) {
    bends <- attr(pcgpu:::own_layout(name)(5, edges, boxes(5), 1.4), "bends")
    expect_identical(nrow(bends) > 0, name == "layered")
  }
  bends <- attr(pcgpu:::own_layout("layered")(5, edges, boxes(5), 1.4), "bends")
  expect_identical(bends$edge, rep(5L, 3))
  expect_false(is.unsorted(-bends$y))
  # The same edge from its other end has the bends in the other order.
  turned <- edges
  turned[5, ] <- list(5, 1, "undirected")
  back <- attr(pcgpu:::own_layout("tiers", c(1, 2, 3, 4, 5))(5, turned, boxes(5), 1.4), "bends")
  expect_false(is.unsorted(-back$x))
  # In a tree, an edge within a layer that would run through a box is an arc.
  fan <- data.frame(from = c(1, 1, 1, 2), to = c(2, 3, 4, 4), kind = "undirected")
  xy <- pcgpu:::own_layout("tree")(4, fan, boxes(4), 1.4)
  hidden <- abs(order(xy[2:4, 1])[1] - 2) < 2 &&
    sum(xy[2:4, 1] > min(xy[c(2, 4), 1]) & xy[2:4, 1] < max(xy[c(2, 4), 1])) == 1
  expect_identical(nrow(attr(xy, "bends")), if (hidden) 1L else 0L)
  x <- simulate(4, 200, degree = 3)
  named <- list(before = 1:2, after = 3:4)
  fit <- pc(suff_gauss(x), gaussCItest, 0.2, p = 4, tiers = named)
  words <- drawn(plot(fit))$texts$label
  expect_true(all(c("before", "after") %in% words))
  plain <- pc(suff_gauss(x), gaussCItest, 0.2, p = 4, tiers = unname(named))
  expect_false(any(c("before", "after") %in% drawn(plot(plain))$texts$label))
})

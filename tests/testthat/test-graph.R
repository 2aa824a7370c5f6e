# Returns a random matrix. Graphs must be identical() to what as(<matrix>, "graphNEL") makes.
random_matrix <- function(p, directed) {
  m <- matrix(stats::runif(p * p) < 0.3, p, p)
  diag(m) <- FALSE
  m <- if (directed) m else m | t(m)
  dimnames(m) <- rep(list(paste0("n", sample(p))), 2)
  m
}

edges_in <- function(m) lapply(seq_len(ncol(m)), function(i) unname(which(m[i, ] != 0)))

test_that("a skeleton's graph is identical to the one from a logical matrix", {
  set.seed(1)
  for (p in c(2, 3, 10, 30)) {
    for (k in 1:5) {
      m <- random_matrix(p, FALSE)
      if (!any(m)) {
        next
      }
      expect_identical(pcgpu:::graph_from_edges(colnames(m), edges_in(m)), as(m, "graphNEL"))
    }
  }
})

test_that("a CPDAG's graph is identical to the one from a numeric matrix, marks included", {
  set.seed(2)
  for (p in c(2, 3, 10, 30)) {
    for (k in 1:5) {
      m <- random_matrix(p, TRUE) + 0
      m[m == 1 & t(m) == 1] <- k %% 2 + 1
      if (!any(m > 0)) {
        next
      }
      weights <- lapply(seq_len(p), function(i) unname(m[i, m[i, ] != 0]))
      expect_identical(pcgpu:::graph_from_edges(colnames(m), edges_in(m), weights, one = 1), as(m, "graphNEL"))
    }
  }
})

test_that("a graph without edges is identical to new(\"graphNEL\")", {
  none <- rep(list(integer(0)), 3)
  expect_identical(pcgpu:::graph_from_edges(c("a", "b", "c"), none), new("graphNEL", nodes = c("a", "b", "c")))
})

test_that("lists are restored from a graph", {
  set.seed(3)
  m <- random_matrix(12, TRUE) + 0
  m[m == 1 & t(m) == 1] <- 2
  listed <- pcgpu:::edges_of_graph(as(m, "graphNEL"))
  expect_identical(listed$edges, edges_in(m))
  expect_identical(unlist(listed$weights), unlist(lapply(1:12, function(i) unname(m[i, m[i, ] != 0]))))
  expect_identical(listed$labels, colnames(m))
})

test_that("pairs are counted once, by their kind", {
  m <- matrix(0, 4, 4)
  m[1, 2] <- 1
  m[2, 3] <- m[3, 2] <- 1
  m[3, 4] <- m[4, 3] <- 2
  listed <- pcgpu:::edges_of_graph(as(m, "graphNEL"))
  expect_identical(
    unname(as.list(pcgpu:::table_of_lists(listed$edges, listed$weights))),
    list(1:3, 2:4, c("directed", "undirected", "conflict"))
  )
})

test_that("a graph of 50,000 nodes has its edges in the right places", {
  p <- 50000
  edges <- lapply(seq_len(p), function(i) setdiff(c(i - 1L, i + 1L), c(0L, p + 1L)))
  g <- pcgpu:::graph_from_edges(as.character(seq_len(p)), edges)
  expect_identical(graph::numNodes(g), as.integer(p))
  expect_identical(graph::edges(g, c("1", "777", "50000")), list(`1` = "2", `777` = c("776", "778"), `50000` = "49999"))
})

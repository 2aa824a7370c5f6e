# Finds neighbours by names, one step after the other.
plain_neighbours <- function(edges, labels, a, order, follow) {
  steps <- rbind(
    data.frame(
      from = edges$from,
      to = edges$to,
      kind = c("-->" = "child", "---" = "undirected", "<->" = "conflict")[edges$kind]
    ),
    data.frame(
      from = edges$to,
      to = edges$from,
      kind = c("-->" = "parent", "---" = "undirected", "<->" = "conflict")[edges$kind]
    )
  )
  wanted <- list(
    all = c("child", "parent", "undirected", "conflict"),
    parents = "parent",
    children = "child",
    undirected = "undirected"
  )[[follow]]
  steps <- steps[steps$kind %in% wanted, ]
  at <- stats::setNames(rep(NA_integer_, length(labels)), labels)
  at[a] <- 0L
  rows <- NULL
  for (distance in seq_len(min(order, length(labels)))) {
    before <- labels[at %in% (distance - 1L)]
    for (to in labels[is.na(at)]) {
      via <- before[before %in% steps$from[steps$to == to]]
      if (length(via)) {
        rows <- rbind(
          rows,
          data.frame(
            name = to,
            distance = distance,
            via = via[1L],
            kind = steps$kind[steps$from == via[1L] & steps$to == to]
          )
        )
        at[[to]] <- -distance
      }
    }
    at[at %in% -distance] <- distance
  }
  rows
}

test_that("neighbours are those of a search by hand", {
  for (fit in c(
    mixed_fits(),
    list(random_dag(12, neighbours = 2, seed = 5), cpdag_of(random_dag(12, neighbours = 2, seed = 6)))
  )) {
    labels <- pcgpu:::network_of(fit)$labels
    table <- edges(fit)
    for (follow in c("all", "parents", "children", "undirected")) {
      for (order in c(1, 2, Inf)) {
        for (a in c(1L, 4L, 9L)) {
          found <- neighbours(fit, labels[a], order, follow)
          want <- plain_neighbours(table, labels, labels[a], order, follow)
          info <- paste(follow, order, a)
          if (is.null(want)) {
            expect_identical(nrow(found), 0L, info = info)
          } else {
            expect_equal(found, want, ignore_attr = TRUE, info = info)
          }
          expect_identical(neighbours(fit, a, order, follow), found, info = info)
        }
      }
    }
  }
})

test_that("several variables count from the nearest, and are left out", {
  chain <- matrix(0, 5, 5, dimnames = list(letters[1:5], letters[1:5]))
  chain[cbind(1:4, 2:5)] <- 1
  found <- neighbours(chain, c("a", "e", "a"), order = 2)
  expect_identical(
    found,
    data.frame(
      name = c("b", "d", "c"),
      distance = c(1L, 1L, 2L),
      via = c("a", "e", "b"),
      kind = c("child", "parent", "child")
    )
  )
})

test_that("no neighbours, and names that are no variable", {
  fit <- pc(list(C = diag(2), n = 30), gaussCItest, 0.01, p = 2)
  expect_identical(
    vapply(neighbours(fit, 1), typeof, ""),
    c(name = "character", distance = "integer", via = "character", kind = "character")
  )
  expect_identical(nrow(neighbours(fit, 1, Inf)), 0L)
  expect_identical(expect_error(neighbours(fit, "c"), class = "pcgpu_error_argument")$argument, "a")
  expect_identical(expect_error(neighbours(fit, 3), class = "pcgpu_error_argument")$argument, "a")
  expect_identical(expect_error(neighbours(fit, 1, 0), class = "pcgpu_error_argument")$argument, "order")
  expect_identical(expect_error(neighbours(fit, 1, 1.5), class = "pcgpu_error_argument")$argument, "order")
  expect_identical(expect_error(neighbours(fit, 1, follow = "up"), class = "pcgpu_error_argument")$argument, "follow")
  expect_identical(expect_error(neighbours(fit), class = "pcgpu_error_argument")$argument, "a")
  expect_identical(expect_error(neighbours("fit", 1), class = "pcgpu_error_argument")$argument, "x")
})

test_that("a path of 50,000 variables is followed to its end", {
  p <- 50000L
  path <- structure(
    list(
      labels = paste0("x", seq_len(p)),
      from = seq_len(p - 1L),
      to = 2:p,
      directed = rep(TRUE, p - 1L),
      weight = NULL
    ),
    class = "pcgpu_graph"
  )
  # A second or two; all edges at every step would take many minutes.
  expect_identical(neighbours(path, "x1", Inf)$distance, seq_len(p - 1L))
})

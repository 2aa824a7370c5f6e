test_that("counts of numbers and levels, and of data with missing values, are those of pc() on each sample's rows", {
  x <- stability_data()
  x$b <- cut(x$b, c(-Inf, -0.5, 0.5, 2, Inf))
  x$f <- x$f > 0
  of <- function(data) function(rows) data[rows, ]
  mixed <- stability(x, alpha = 0.05, replicates = 15, seed = 4, maj.rule = FALSE, numCores = 2)
  expect_identical(mixed$test, "mixCItest")
  expect_equal(mixed$counts, counts_by_hand(mixed, of(x), mixCItest))
  for (j in seq_along(x)) {
    x[[j]][seq(j, 120, 17)] <- NA
  }
  holes <- stability(x, alpha = 0.05, replicates = 15, seed = 4, na = "testwise", maj.rule = FALSE, numCores = 2)
  expect_identical(holes$test, "mixCItwd")
  expect_equal(holes$counts, counts_by_hand(holes, of(x), mixCItwd))
  numbers <- x[c("a", "d", "e", "g")]
  gauss <- stability(numbers, gaussCItwd, 0.05, replicates = 15, seed = 4, how = "subsample", numCores = 1)
  expect_equal(gauss$counts, counts_by_hand(gauss, of(numbers), gaussCItwd))
  fill <- function(column) replace(column, is.na(column), column[!is.na(column)][seq_len(sum(is.na(column)))])
  sets <- list(as.data.frame(lapply(x, fill)), as.data.frame(lapply(x, function(column) rev(fill(rev(column))))))
  pooled <- suppressMessages(stability(sets, alpha = 0.05, replicates = 10, seed = 4, maj.rule = FALSE))
  expect_equal(pooled$counts, counts_by_hand(pooled, function(rows) lapply(sets, function(set) set[rows, ]), mixMItest))
  expect_error(
    stability(c(lapply(sets, function(set) cor(set[c("a", "d", "e")])), 120), gaussMItest, 0.05),
    class = "pcgpu_error_argument"
  )
})

test_that("samples without any missing value are searched as samples with some", {
  set.seed(1)
  x <- data.frame(a = rnorm(60), b = rnorm(60))
  x$d <- x$a + x$b + rnorm(60)
  x[1L, ] <- NA
  found <- suppressMessages(stability(x, alpha = 0.05, na = "testwise", replicates = 30, seed = 1, numCores = 1))
  graphs <- lapply(1:30, function(b) {
    rows <- x[stability_rows(found, b), ]
    suppressMessages(pc(
      if (anyNA(rows)) rows else data.frame(as.matrix(rows), row.names = NULL),
      alpha = 0.05,
      na = "testwise"
    ))
  })
  expect_true(any(vapply(1:30, function(b) !1 %in% stability_rows(found, b), NA)))
  has <- function(fit, from, to) {
    any(fit@graph@nodes == from) && to %in% graph::edges(fit@graph)[[from]] || from %in% graph::edges(fit@graph)[[to]]
  }
  for (pair in list(c("a", "b"), c("a", "d"), c("b", "d"))) {
    count <- sum(found$counts[
      match(pair[1L], found$labels) == found$counts$x & match(pair[2L], found$labels) == found$counts$y,
      c("forward", "backward", "undirected", "bidirected")
    ])
    expect_identical(
      as.integer(count),
      sum(vapply(graphs, has, NA, from = pair[1L], to = pair[2L])),
      info = paste(pair, collapse = " ")
    )
  }
})

test_that("samples are weighted, adjusted and ranked by themselves", {
  set.seed(5)
  n <- 120
  data <- as.data.frame(simulate(5, n, 5))
  data$batch <- factor(rep_len(c("a", "b", "c"), n))
  data$w <- runif(n)
  kinds <- paste0("v", 1:5)
  asked <- list(
    list(correlation = "kendall"),
    list(correlation = "npn", adjust = ~batch),
    list(weights = "w", adjust = "batch")
  )
  for (of in asked) {
    arguments <- c(list(data[c(kinds, unlist(of[c("weights")]), if (!is.null(of$adjust)) "batch")]), of)
    found <- suppressMessages(do.call(stability, c(arguments, list(alpha = 0.05, replicates = 4, seed = 3))))
    edges <- 0
    for (replicate in 1:4) {
      rows <- stability_rows(found, replicate)
      stat <- do.call(suff_gauss, c(list(arguments[[1L]][rows, ]), of))
      edges <- edges + nrow(edge_table(pc(stat, gaussCItest, 0.05, labels = kinds)))
    }
    expect_identical(sum(found$counts[3:6]), as.integer(edges))
    expect_identical(found$unit, "rows")
  }
  # With groups, these are drawn.
  data$patient <- rep_len(1:40, n)
  of <- data[c(kinds, "patient")]
  found <- stability(of, "gauss", alpha = 0.05, id = "patient", replicates = 3, seed = 4, numCores = 2)
  expect_identical(c(found$unit, found$n, found$size), c("groups", "40", "40"))
  expect_output(print(found), "each 40 of 40 groups")
  edges <- 0
  for (replicate in 1:3) {
    drawn <- stability_rows(found, replicate)
    rows <- lapply(drawn, function(group) which(of$patient == group))
    stat <- suff_gauss(of[unlist(rows), kinds], id = rep(seq_along(rows), lengths(rows)))
    edges <- edges + nrow(edge_table(pc(stat, gaussCItest, 0.05, labels = kinds)))
  }
  expect_identical(sum(found$counts[3:6]), as.integer(edges))
  # A column that the covariates determine in a sample has no edges there.
  data$v6 <- as.integer(data$batch == "a") + (seq_len(n) == 7)
  found <- stability(data[c(kinds, "batch", "v6")], "gauss", 0.05, adjust = ~batch, replicates = 6, seed = 1)
  expect_gt(nrow(found$counts), 3)
  expect_error(
    stability(suff_gauss(data[kinds], keep = "data"), "gauss", 0.05, weights = data$w),
    "weights",
    class = "pcgpu_error_argument"
  )
  expect_error(
    stability(data[kinds], "gauss", 0.05, weights = data$w, make = suff_gauss),
    "with `make`",
    class = "pcgpu_error_argument"
  )
})

test_that("a chain of mixed variables is found", {
  set.seed(4)
  s <- suff_knn(simulate_mixed(400), k = 20, permutations = 100, transform = "standardize")
  for (estimator in c("auto", "mesner-shalizi", "gao")) {
    s$estimator <- estimator
    expect_lt(mixedCItest("a", "b", NULL, s), 0.02)
    expect_lt(mixedCItest("c", "d", "b", s), 0.02)
    expect_gt(mixedCItest("a", "c", "b", s), 0.02)
  }
  fit <- skeleton(
    suff_knn(simulate_mixed(400), k = 20, transform = "standardize", seed = 2),
    mixedCItest,
    0.01,
    labels = letters[1:4],
    numCores = 2
  )
  expect_identical(unname(as(fit@graph, "matrix")), rbind(c(0, 1, 0, 0), c(1, 0, 1, 0), c(0, 1, 0, 1), c(0, 0, 1, 0)))
})

test_that("names of levels do not matter", {
  set.seed(6)
  x <- simulate_mixed(80)
  y <- x
  y$a <- factor(c(low = "z", mid = "a", high = "m")[as.character(x$a)])
  p <- function(x) mixedCItest(1, 3, 2, suff_knn(x, seed = 1))
  expect_identical(p(x), p(y))
})

test_that("the value is that of cmiKnnCItest if the estimator is named", {
  s <- suff_knn(simulate_nonlinear(60), estimator = "frenzel-pompe", seed = 1)
  expect_identical(mixedCItest(1, 2, 3, s), cmiKnnCItest(1, 2, 3, s))
})

# Shares of data sets that are found dependent at 0.05, by the defaults; y depends on x with 0.8 standard deviations of
# its noise.
test_that("by default numbers and levels have power for each other, alone and given numbers and levels", {
  # The lowest power is 0.79 in 1,600 samples: a number and a level given a level.
  set.seed(10)
  n <- 200
  as_kind <- function(value, kind) {
    if (kind == "number") value else factor(findInterval(value, quantile(value, c(1, 2) / 3)))
  }
  score <- function(value) drop(scale(as.numeric(value)))
  found <- function(kinds, shift) {
    mean(vapply(
      1:25,
      function(i) {
        S <- lapply(kinds[-(1:2)], function(kind) as_kind(rnorm(n), kind))
        both <- if (length(S)) score(S[[1L]]) else 0
        x <- as_kind(both + rnorm(n), kinds[1L])
        y <- as_kind(both + shift * score(x) + rnorm(n), kinds[2L])
        suff <- suff_knn(
          as.data.frame(c(list(x, y), S), col.names = seq_along(kinds)),
          add_one = TRUE,
          early_stop = c(alpha = 0.05, error = 0)
        )
        mixedCItest(1, 2, seq_along(S) + 2L, suff) <= 0.05
      },
      NA
    ))
  }
  for (S in list(NULL, "number", "level")) {
    for (pair in list(c("number", "number"), c("number", "level"), c("level", "level"))) {
      kinds <- c(pair, S)
      expect_gte(found(kinds, 0.8), 0.8, label = toString(kinds))
      # More than 5 of 25 have a probability of 1 in 1,000 at a size of 0.05.
      expect_lte(found(kinds, 0), 0.2, label = toString(kinds))
    }
  }
})

test_that("a shift of four standard deviations is an edge by default", {
  set.seed(2)
  shifted <- data.frame(group = gl(2, 50))
  shifted$value <- 4 * (shifted$group == 2) + rnorm(100)
  expect_identical(mixedCItest("group", "value", NULL, suff_knn(shifted, seed = 1)), 0)
  expect_equal(nrow(edges(pc(suff_knn(shifted, seed = 1), mixedCItest, 0.01, labels = names(shifted)))), 1)
  expect_gt(mixedCItest("group", "value", NULL, suff_knn(shifted, transform = "ranks", seed = 1)), 0.9)
})

test_that("of numbers alone the default transform is the same as ranks", {
  set.seed(3)
  x <- simulate_nonlinear(90, size = 2)
  for (test in c(cmiKnnCItest, mixedCItest)) {
    p_max <- function(...) skeleton(suff_knn(x, k = 7, seed = 1, permutations = 60, ...), test, 0.2, p = 4)@pMax
    expect_identical(p_max(), p_max(transform = "ranks"))
  }
})

test_that("many levels of few rows have power by default", {
  set.seed(1)
  level <- factor(rep(1:20, each = 5))
  found <- vapply(
    1:10,
    function(seed) {
      set.seed(seed)
      mixedCItest(
        1,
        2,
        NULL,
        suff_knn(data.frame(level, q = stats::rnorm(100) + 2 * stats::rnorm(20)[level]), seed = seed)
      ) <=
        0.05
    },
    NA
  )
  expect_gte(mean(found), 0.8)
})

test_that("few rows have defaults that fit", {
  expect_identical(suff_knn(data.frame(a = c(1, 3, 2, 5), b = c(2, 1, 4, 3)))$k_perm, 3)
})

searched <- function(alpha = 0.2, method = "stable", ...) {
  x <- random_data(random_dag(25, 2, seed = 1), 150, seed = 1, numCores = 1)
  pc(suff_gauss(x), gaussCItest, alpha = alpha, labels = colnames(x), skel.method = method, numCores = 1, ...)
}
adjusted <- function(fit, method, found) {
  p <- fit@pMax[upper.tri(fit@pMax)]
  p <- p[p >= 0]
  stats::p.adjust(p, method)[match(found$p, p)]
}

test_that("q-values are p.adjust()'s over all pairs", {
  for (method in c("stable", "stable.fast", "original")) {
    fit <- searched(method = method)
    for (correction in c("BH", "BY")) {
      found <- q_values(fit, correction)
      expect_equal(found$q, adjusted(fit, correction, found), info = paste(method, correction))
      expect_identical(attr(found, "tests"), 300)
      expect_false(is.unsorted(found$q))
    }
    expect_setequal(paste(found$from, found$to, found$kind), with(edges(fit), paste(from, to, kind)))
  }
})

test_that("a compact result has the same up to alpha, and upper bounds beyond", {
  beyond <- 0
  for (alpha in c(0.01, 0.2)) {
    want <- q_values(searched(alpha))
    found <- q_values(searched(alpha, result = "compact"))
    found <- found[match(paste(want$from, want$to), paste(found$from, found$to)), ]
    small <- want$q < alpha
    expect_equal(found$q[small], want$q[small])
    expect_true(all(found$q >= want$q - 1e-12))
    beyond <- beyond + sum(!small)
    expect_identical(attr(q_values(searched(alpha, result = "compact")), "tests"), 300)
  }
  expect_gt(beyond, 0)
})

test_that("pairs that were not tested do not count as tests", {
  gaps <- fixed <- matrix(FALSE, 25, 25)
  gaps[1, 2:4] <- gaps[2:4, 1] <- TRUE
  fixed[5, 6] <- fixed[6, 5] <- TRUE
  for (method in c("stable", "stable.fast")) {
    for (result in c("pcAlgo", "compact")) {
      found <- q_values(searched(0.05, method, fixedGaps = gaps, fixedEdges = fixed, result = result))
      expect_identical(attr(found, "tests"), 296, info = paste(method, result))
      expect_identical(found$q[found$p < 0], NA_real_)
    }
  }
})

test_that("the false discovery rate is kept, and arguments are checked", {
  wrong <- found <- 0
  for (seed in 1:20) {
    dag <- random_dag(30, 2, seed = seed)
    x <- random_data(dag, 500, seed = seed, numCores = 1)
    q <- q_values(pc(suff_gauss(x), gaussCItest, alpha = 0.1, labels = colnames(x), numCores = 1))
    kept <- q[q$q <= 0.1, ]
    m <- as.matrix(dag)
    true <- m[cbind(kept$from, kept$to)] + m[cbind(kept$to, kept$from)] > 0
    wrong <- wrong + sum(!true)
    found <- found + length(true)
  }
  expect_gt(found, 300)
  expect_lt(wrong / found, 0.1)
  expect_identical(expect_error(q_values(1), class = "pcgpu_error_argument")$argument, "fit")
  expect_identical(expect_error(q_values(), class = "pcgpu_error_argument")$argument, "fit")
  expect_identical(expect_error(q_values(searched(), "BB"), class = "pcgpu_error_argument")$argument, "method")
})

test_that("a result without edges has a table without rows, and an edge without a test no p", {
  set.seed(3)
  x <- matrix(rnorm(300), 100)
  for (result in c("pcAlgo", "compact")) {
    none <- suppressWarnings(pc(suff_gauss(x), gaussCItest, 1e-12, p = 3, result = result))
    expect_identical(nrow(q_values(none)), 0L)
    fixed <- matrix(c(FALSE, TRUE, FALSE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE), 3)
    found <- q_values(skeleton(suff_gauss(x), gaussCItest, 1e-12, p = 3, fixedEdges = fixed, result = result))
    expect_identical(c(found$p, found$q), c(NA_real_, NA_real_))
  }
})

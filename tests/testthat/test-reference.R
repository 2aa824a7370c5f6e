test_that("200 random problems have the answer of the plain loop", {
  stopped <- 0
  for (k in 1:200) {
    set.seed(k)
    p <- sample(3:8, 1)
    s <- suff(p = p, n = sample(c(8, 20, 60, 300), 1), degree = sample(1:5, 1), seed = k)
    alpha <- sample(c(0.01, 0.05, 0.2, 0.5), 1)
    symmetric <- function(share) {
      m <- matrix(stats::runif(p * p) < share, p, p)
      m & t(m)
    }
    gaps <- symmetric(0.3)
    edges <- symmetric(0.3)
    m.max <- sample(c(0:2, Inf), 1)
    if (k %% 5 == 0) s$C[1, 2] <- s$C[2, 1] <- NA
    keep <- k %% 2 == 0
    info <- paste("problem", k)
    ours <- function() {
      skeleton(s, gaussCItest, alpha, p = p, m.max = m.max, fixedGaps = gaps, fixedEdges = edges, NAdelete = keep,
        numCores = k %% 3 + 1
      )
    }
    want <- tryCatch(
      reference_skeleton(function(x, y, S) gaussCItest(x, y, S, s), p, alpha, m.max, gaps, edges, keep),
      pcgpu_error_numeric = function(e) NULL
    )
    if (is.null(want)) {
      # A set with NA in it has no inverse: pcalg stops too.
      expect_error(ours(), class = "pcgpu_error_numeric", info = info)
      stopped <- stopped + 1
      next
    }
    fit <- ours()
    expect_identical(amat(fit), want$adjacent + 0, info = info)
    expect_identical(fit@sepset, want$sepset, info = info)
    expect_equal(fit@n.edgetests, want$counts, info = info)
    expect_equal(fit@max.ord, want$max_ord, info = info)
    expect_equal(fit@pMax, want$pMax, tolerance = 1e-9, info = info)
  }
  expect_lt(stopped, 40)
})

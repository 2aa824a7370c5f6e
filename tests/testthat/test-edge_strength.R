# The weakest partial correlation of each edge, by a plain loop over all sets.
weakest_by_loop <- function(fit, C, n, most) {
  table <- edge_table(fit)
  labels <- colnames(C)
  near <- function(v) union(table$to[table$from == v], table$from[table$to == v])
  partial <- function(x, y, S) {
    P <- solve(C[c(x, y, S), c(x, y, S)])
    -P[1, 2] / sqrt(P[1, 1] * P[2, 2])
  }
  rows <- lapply(seq_len(nrow(table)), function(at) {
    x <- table$from[at]
    y <- table$to[at]
    best <- NULL
    for (others in list(setdiff(near(x), y), setdiff(near(y), x))) {
      for (size in 0:min(most, length(others))) {
        for (S in utils::combn(length(others), size, function(at) others[at], FALSE)) {
          r <- partial(x, y, S)
          z <- sqrt(n - size - 3) * abs(atanh(r))
          if (is.null(best) || z < best$z - 1e-12) best <- list(r = r, z = z, given = sort(S))
        }
      }
    }
    best
  })
  list(
    estimate = vapply(rows, `[[`, 0, "r"),
    log10_p = vapply(rows, function(of) (log(2) + pnorm(-of$z, log.p = TRUE)) / log(10), 0),
    given = lapply(rows, `[[`, "given")
  )
}

test_that("the strength of an edge is that of its weakest test given neighbours", {
  for (seed in 1:4) {
    x <- simulate(9, 200, seed, degree = 4)
    stat <- suff_gauss(x)
    fit <- pc(stat, gaussCItest, 0.05, labels = colnames(x))
    for (most in c(0, 1, 3)) {
      found <- edge_table(fit, x, m.max = most, numCores = 2)
      wanted <- weakest_by_loop(fit, stat$C, 200, most)
      expect_equal(found$estimate, wanted$estimate, tolerance = 1e-9)
      expect_equal(found$log10_p, wanted$log10_p, tolerance = 1e-9)
      expect_identical(lapply(strsplit(found$given, ", "), sort), wanted$given)
      expect_identical(found[1:4], edge_table(fit)[1:4])
    }
    # The same from a statistic, kept data and a compact result, on any threads.
    all <- edge_table(fit, stat)
    kept <- suff_gauss(x, keep = "data")
    expect_equal(edge_table(fit, kept, numCores = 1), all, tolerance = 1e-9)
    compact <- pc(stat, gaussCItest, 0.05, labels = colnames(x), result = "compact")
    expect_identical(edge_table(compact, stat)[c("from", "to", "estimate")], all[c("from", "to", "estimate")])
    # The search made these tests, too, so its p-value is at least as large.
    expect_true(all(all$p >= 10^all$log10_p - 1e-12))
  }
})

test_that("edges whose p is 0 differ in log10_p, and signs are those of the dependence", {
  set.seed(3)
  a <- rnorm(5000)
  x <- data.frame(a, b = a + 0.3 * rnorm(5000), c = -a + 0.2 * rnorm(5000), d = rnorm(5000))
  fit <- suppressMessages(pc(x, alpha = 0.01))
  found <- edge_table(fit, x)
  expect_identical(found$p, c(0, 0))
  expect_identical(sign(found$estimate), c(1, -1))
  expect_lt(found$log10_p[2], found$log10_p[1])
  expect_lt(found$log10_p[1], -100)
})

test_that("other tests have log10_p, and graphs without a search get all sets", {
  set.seed(1)
  a <- rbinom(500, 1, 0.5)
  x <- data.frame(a = factor(a), b = factor(rbinom(500, 1, 0.2 + 0.6 * a)), c = factor(rbinom(500, 1, 0.5)))
  fit <- suppressMessages(pc(x, alpha = 0.01))
  found <- edge_table(fit, x)
  share <- table(x$a, x$b) / 500
  expect_equal(found$estimate, sum(share * log(share / outer(rowSums(share), colSums(share)))))
  expect_equal(10^found$log10_p, disCItest(1, 2, NULL, suff_discrete(x)))
  expect_equal(edge_table(fit, suff_discrete(x))$log10_p, found$log10_p)
  y <- simulate(6, 200, degree = 3)
  skel <- skeleton(suff_gauss(y), gaussCItest, 0.05, labels = colnames(y))
  of_graph <- edge_table(skel@graph, y)
  of_fit <- edge_table(skel, y, m.max = Inf)
  expect_identical(suppressMessages(of_graph)$estimate, of_fit$estimate)
  pag <- fci(suff_gauss(y), gaussCItest, 0.05, labels = colnames(y))
  expect_true(all(abs(edge_table(pag, y)$estimate) < 1))
  none <- skeleton(suff_gauss(y), gaussCItest, 1e-300, labels = colnames(y))
  expect_identical(names(edge_table(none, y)), c("from", "to", "kind", "p", "q", "estimate", "log10_p", "given"))
})

test_that("what cannot be used is named", {
  y <- simulate(5, 100, degree = 3)
  fit <- pc(suff_gauss(y), gaussCItest, 0.05, labels = colnames(y))
  refused <- function(...) expect_error(edge_table(...), class = "pcgpu_error_argument")$argument
  expect_identical(refused(fit, m.max = 1), "m.max")
  expect_identical(refused(fit, y, m.max = -1), "m.max")
  expect_identical(refused(fit, y[, 1:3]), "data")
  expect_identical(refused(fit@graph, suff_gauss(y)), "indepTest")
  expect_identical(refused(fit, 7), "suffStat")
  adjusted <- suppressMessages(pc(y, alpha = 0.05, adjust = rnorm(100)))
  expect_identical(refused(adjusted, y), "data")
  many <- matrix(1, 40, 40) - diag(40)
  dimnames(many) <- list(paste0("v", 1:40), paste0("v", 1:40))
  e <- expect_error(
    edge_table(many, suff_gauss(simulate(40, 100)), indepTest = gaussCItest),
    class = "pcgpu_error_argument"
  )
  expect_match(conditionMessage(e), "m.max")
})

test_that("a table for a paper has q-values and the strengths of stability()", {
  x <- simulate(8, 150, degree = 3)
  fit <- suppressMessages(pc(x, alpha = 0.05))
  samples <- suppressMessages(stability(x, alpha = 0.05, replicates = 20, seed = 1))
  found <- edge_table(fit, x, samples)
  q <- q_values(fit)
  expect_identical(found$q, q$q[match(paste(found$from, found$to), paste(q$from, q$to))])
  all <- as.data.frame(samples)
  for (at in seq_len(nrow(found))) {
    pair <- all[all$from %in% found[at, 1:2] & all$to %in% found[at, 1:2], ]
    expect_identical(found$strength[at], pair$strength)
    expect_equal(found$direction[at], if (pair$from == found$from[at]) pair$direction else 1 - pair$direction)
  }
  # The averaged graph has only the edges that are kept, and a pair may be in no sample.
  expect_true(all(edge_table(samples, stability = samples)$strength > 0.5))
  rare <- matrix(0, 8, 8, dimnames = list(colnames(x), colnames(x)))
  absent <- setdiff(
    apply(utils::combn(colnames(x), 2), 2, paste, collapse = " "),
    c(paste(all$from, all$to), paste(all$to, all$from))
  )
  pair <- strsplit(absent[1], " ")[[1]]
  rare[pair[1], pair[2]] <- 1
  none <- edge_table(rare, stability = samples)
  expect_identical(c(none$strength, none$direction), c(0, NA))
  pag <- suppressMessages(stability(x, alpha = 0.05, method = "fci", replicates = 5, seed = 1))
  expect_identical(setdiff(names(edge_table(fit, stability = pag)), names(edge_table(fit))), "strength")
  expect_error(edge_table(fit, stability = 3), "stability", class = "pcgpu_error_argument")
  other <- suppressMessages(stability(unname(x), alpha = 0.05, replicates = 2))
  expect_error(edge_table(fit, stability = other), "stability", class = "pcgpu_error_argument")
})

test_that("no variable of a later tier is given, as in the search", {
  x <- simulate(8, 200, degree = 4)
  tiers <- rep(1:2, each = 4)
  fit <- pc(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), tiers = tiers)
  found <- edge_table(fit, x)
  expect_true(all(found$log10_p <= log10(0.05)))
  of_tier <- stats::setNames(tiers, colnames(x))
  for (at in seq_len(nrow(found))) {
    given <- strsplit(found$given[at], ", ")[[1]]
    expect_lte(max(0, of_tier[given]), max(of_tier[unlist(found[at, 1:2])]))
  }
  # Without the tiers some edges look weaker than any test of the search.
  bare <- edge_table(fit@graph, x, m.max = fit@max.ord)
  expect_true(any(bare$log10_p > log10(0.05)))
  # The same for other tests.
  levels <- as.data.frame(lapply(as.data.frame(x), function(v) cut(v, 2)))
  fit <- pc(suff_discrete(levels), disCItest, 0.1, labels = names(levels), tiers = tiers)
  expect_true(all(edge_table(fit, levels)$log10_p <= -1))
})

test_that("tests of levels, and of rows without holes, have a measure, and p that a number cannot hold", {
  set.seed(2)
  n <- 20000
  a <- rbinom(n, 2, 0.5)
  b <- rbinom(n, 1, (a + 0.2) / 2.4)
  x <- data.frame(a = factor(a), b = factor(b), c = factor(rbinom(n, 1, 0.3 + 0.2 * b)), d = factor(rbinom(n, 2, 0.5)))
  fit <- pc(suff_discrete(x), disCItest, 0.01, labels = names(x))
  found <- edge_table(fit, x)
  counts <- table(x$a, x$b)
  expected <- outer(rowSums(counts), colSums(counts)) / n
  information <- sum(counts * log(counts / expected)) / n
  at <- which(found$from == "a" & found$to == "b" | found$from == "b" & found$to == "a")
  if (found$given[at] == "") {
    expect_equal(found$estimate[at], information)
    expect_equal(found$log10_p[at], pchisq(2 * n * information, 2, lower.tail = FALSE, log.p = TRUE) / log(10))
  }
  expect_true(all(is.finite(found$log10_p)) && min(found$log10_p) < -320)
  measure <- pcgpu:::measure_of("disCItest", suff_discrete(x))
  for (set in list(integer(), 3L, 3:4)) {
    of <- measure(1L, 2L, set)
    expect_equal(exp(of$log_p), disCItest(1, 2, set, suff_discrete(x)), tolerance = 1e-8)
  }
  small <- measure(1L, 4L, 2L)
  expect_equal(exp(small$log_p), disCItest(1, 4, 2, suff_discrete(x)), tolerance = 1e-8)
  y <- simulate(5, 300, degree = 3)
  y[cbind(1:10, 1:5)] <- NA
  fit <- pc(y, gaussCItwd, 0.05, labels = colnames(y))
  found <- edge_table(fit, y)
  whole <- pcgpu:::measure_of("gaussCItwd", y)(1L, 2L, 3L)
  expect_equal(exp(whole$log_p), gaussCItwd(1, 2, 3, y), tolerance = 1e-8)
  expect_true(all(abs(found$estimate) < 1) && !anyNA(found$estimate))
})

test_that("other correlations, holes and comparisons are refused with a remedy that works", {
  x <- simulate(5, 100, degree = 3)
  fit <- suppressMessages(pc(x, alpha = 0.05, correlation = "spearman"))
  expect_error(edge_table(fit, x), "without `correlation`", class = "pcgpu_error_argument")
  expect_true(all(edge_table(fit, suff_gauss(x, correlation = "spearman"))$log10_p <= log10(0.05)))
  plain <- suppressMessages(pc(x, alpha = 0.05))
  x[1, 1] <- NA
  expect_error(edge_table(plain, x), "missing values", class = "pcgpu_error_argument")
  expect_error(edge_table(compare_graphs(plain, fit), x), "one of its graphs", class = "pcgpu_error_argument")
})

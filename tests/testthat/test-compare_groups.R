# Two groups with the same graph, or with independent columns `broken` in the second.
two_groups <- function(n, broken = character(), seed = 1) {
  dag <- random_dag(8, 2, seed = 4)
  x <- random_data(dag, 2 * n, seed = seed, standardise = TRUE, numCores = 1)
  set.seed(seed)
  for (column in broken) {
    x[n + seq_len(n), column] <- sample(x[n + seq_len(n), column])
  }
  list(x = x, group = rep(c("a", "b"), each = n))
}

quick <- function(..., replicates = 19, seed = 1) {
  suppressMessages(compare_groups(..., alpha = 0.01, replicates = replicates, seed = seed, numCores = 1))
}

test_that("the result is that of compare_graphs() and of a plain permutation test", {
  made <- two_groups(150, c("x3", "x5"))
  x <- made$x
  group <- made$group
  found <- quick(x, group, gaussCItest, samples = 5, standardise = FALSE, replicates = 59)
  expect_s3_class(found, "pcgpu_comparison")
  a <- pc(x[group == "a", ], gaussCItest, alpha = 0.01, numCores = 1)
  b <- pc(x[group == "b", ], gaussCItest, alpha = 0.01, numCores = 1)
  want <- compare_graphs(list(a = a, b = b))
  expect_identical(unlist(found[names(want)]), unlist(want))
  table <- edge_table(found)
  expect_identical(table[1:5], edge_table(want))
  expect_identical(names(table)[6:9], c("strength_a", "strength_b", "p", "q"))

  # The same shuffles and samples, by stability().
  strengths <- function(rows) {
    counts <- stability(x[rows, ], gaussCItest, 0.01, replicates = 5, seed = 1, numCores = 1)$counts
    m <- matrix(0, 8, 8, dimnames = list(colnames(x), colnames(x)))
    m[cbind(counts$x, counts$y)] <- rowSums(counts[3:6]) / 5
    m + t(m)
  }
  differences <- function(rows) strengths(rows[1:150]) - strengths(rows[151:300])
  own <- differences(1:300)
  shuffles <- pcgpu:::with_seed(1, function() lapply(1:59, function(i) sample.int(300)))
  others <- lapply(shuffles, differences)
  total <- function(d) round(sum(d^2) / 2, 9)
  expect_identical(found$p, (1 + sum(vapply(others, total, 0) >= total(own))) / 60)
  of_pairs <- matrix(1, 8, 8)
  for (other in others) {
    of_pairs <- of_pairs + (round(abs(other), 9) >= round(abs(own), 9))
  }
  of_pairs <- of_pairs / 60
  dimnames(of_pairs) <- dimnames(own)
  ends <- cbind(table$from, table$to)
  expect_equal(table$strength_a, strengths(1:150)[ends])
  expect_equal(table$strength_b, strengths(151:300)[ends])
  expect_equal(table$p, of_pairs[ends])
  q <- matrix(0, 8, 8, dimnames = dimnames(own))
  q[upper.tri(q)] <- p.adjust(of_pairs[upper.tri(q)], "BH")
  expect_equal(table$q, pmax(q, t(q))[ends])
  expect_lt(min(table$q), 1)
})

test_that("a difference is found, and the same graph gives none", {
  different <- two_groups(300, c("x3", "x5"))
  found <- quick(different$x, different$group)
  expect_identical(found$p, 0.05)
  expect_true(any(edge_table(found)$p == 0.05))
  same <- two_groups(300)
  expect_gt(quick(same$x, same$group)$p, 0.05)
  expect_output(print(found), "Groups: a (300 rows), b (300 rows); strengths from 20 samples, seed 1", fixed = TRUE)
  expect_output(print(found), "p = 0.05")
})

test_that("the answer depends on the seed alone, and R's random numbers stay as they are", {
  made <- two_groups(60, "x3")
  set.seed(5)
  before <- .Random.seed
  found <- quick(made$x, made$group)
  expect_identical(.Random.seed, before)
  expect_identical(found, suppressMessages(compare_groups(made$x, made$group, alpha = 0.01, replicates = 19, seed = 1)))
  expect_false(identical(attr(found, "groups")$shuffled, attr(quick(made$x, made$group, seed = 2), "groups")$shuffled))
})

test_that("other means and units are no difference between graphs", {
  made <- two_groups(60)
  plain <- quick(made$x, made$group)
  moved <- made$x
  moved[61:120, ] <- sweep(sweep(moved[61:120, ], 2, 2^(-3:4), "*"), 2, 1:8 * 10, "+")
  found <- quick(moved, made$group)
  expect_equal(found$p, plain$p)
  expect_equal(edge_table(found), edge_table(plain))
  expect_false(identical(
    attr(quick(moved, made$group, standardise = FALSE), "groups")$shuffled,
    attr(found, "groups")$shuffled
  ))
})

test_that("data and groups of all kinds are read", {
  made <- two_groups(60, "x3")
  want <- quick(made$x, made$group)
  frame <- data.frame(made$x, arm = made$group)
  expect_equal(quick(frame, "arm"), want)
  expect_equal(quick(frame[-9], factor(made$group, c("a", "b", "unused"))), want)
  expect_equal(unlist(quick(made$x, made$group == "b")[-(1:2)]), unlist(want[-(1:2)]))
  expect_identical(quick(made$x, rep(2:1, each = 60))$graph, "1")
  expect_equal(quick(made$x, made$group, maj.rule = TRUE), want)
  unnamed <- edge_table(quick(unname(made$x), made$group))
  expect_identical(paste0("x", unnamed$from), edge_table(want)$from)

  discrete <- as.data.frame(lapply(as.data.frame(made$x), function(column) factor(column > 0)))
  expect_identical(quick(discrete, made$group)$graph, "a")
  mixed <- data.frame(made$x[, 1:4], discrete[5:8])
  expect_identical(quick(mixed, made$group, replicates = 3, samples = 3)$graph, "a")
  for (test in list("rcot", "cmiKnn", "spearman", function(x, y, S, suffStat) {
    gaussCItest(x, y, S, list(C = cor(suffStat), n = nrow(suffStat)))
  })) {
    found <- if (identical(test, "spearman")) {
      quick(made$x[, 1:3], made$group, correlation = "spearman", replicates = 3, samples = 3)
    } else {
      quick(made$x[, 1:3], made$group, test, replicates = 3, samples = 3)
    }
    expect_true(found$p %in% (1:4 / 4))
  }
  holes <- replace(made$x, 5, NA)
  expect_true(quick(holes, made$group, na = "testwise", replicates = 3, samples = 3)$p %in% (1:4 / 4))
  tiers <- quick(made$x, made$group, tiers = rep(1:2, 4))
  expect_false(any(unlist(edge_table(tiers)[3:4]) == "<->"))

  # No edges at all.
  set.seed(1)
  none <- quick(matrix(rnorm(200), 100, dimnames = list(NULL, c("a", "b"))), made$group[11:110], samples = 1)
  expect_identical(dim(edge_table(none)), c(0L, 9L))
})

test_that("groups that are not two, and other arguments, are refused", {
  made <- two_groups(20)
  x <- made$x
  bad <- function(argument, said, ...) {
    e <- expect_error(suppressMessages(compare_groups(...)), said, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  bad("data", "missing")
  bad("group", "missing", x)
  bad("alpha", "missing", x, made$group)
  bad("group", "a value for each of the 40 rows", x, made$group[-1], alpha = 0.01)
  bad("group", "a value for each of the 40 rows", x, NULL, alpha = 0.01)
  bad("group", "a value for each of the 40 rows", x, as.list(made$group), alpha = 0.01)
  bad("group", "did you mean \"x1\"", x, "x11", alpha = 0.01)
  bad("group", "1 missing value", x, replace(made$group, 3, NA), alpha = 0.01)
  bad("group", "1 different value", x, rep("a", 40), alpha = 0.01)
  bad("group", "3 different values .a, b, c", x, replace(made$group, 3, "c"), alpha = 0.01)
  bad("group", "only 3 rows of \"b\"", x, rep(c("a", "b"), c(37, 3)), alpha = 0.01)
  constant <- x
  constant[1:20, 2] <- 1
  bad("data", "\"x2\", that is constant in the group \"a\"", constant, made$group, alpha = 0.01)
  bad("data", "observations in rows", list(C = diag(3), n = 10), made$group, alpha = 0.01)
  bad("alpha", "level between 0 and 1", x, made$group, alpha = 5)
  bad("replicates", "whole number", x, made$group, alpha = 0.01, replicates = 0)
  bad("samples", "whole number", x, made$group, alpha = 0.01, samples = NA)
  bad("standardise", "TRUE or FALSE", x, made$group, alpha = 0.01, standardise = "no")
  bad("replicate", "did you mean `replicates`", x, made$group, alpha = 0.01, replicate = 5)
})

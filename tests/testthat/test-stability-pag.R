# Returns data with a hidden common cause of a and b: u -> a <- h -> b <- v, b -> e.
hidden_data <- function(n = 150, seed = 1) {
  set.seed(seed)
  h <- rnorm(n)
  x <- data.frame(u = rnorm(n), v = rnorm(n))
  x$a <- x$u + h + rnorm(n)
  x$b <- x$v + h + rnorm(n)
  x$e <- 0.4 * x$b + rnorm(n)
  x$w <- rnorm(n)
  x
}

kinds <- c("o-o", "o->", "o--", "<-o", "<->", "<--", "--o", "-->", "---")

# Counts the results of a search on each sample's rows by the plainest means.
marks_by_hand <- function(found, suff_of, search, test, ...) {
  p <- length(found$labels)
  counts <- array(0L, c(p, p, 9), list(NULL, NULL, kinds))
  for (b in seq_len(found$replicates)) {
    suff <- suff_of(stability_rows(found, b))
    m <- quietly(search(suff, test, found$alpha, labels = found$labels, numCores = 1, ...))@amat
    for (y in 2:p) {
      for (x in seq_len(y - 1)) {
        if (m[x, y] != 0) {
          kind <- paste0(c("o", "<", "-")[m[y, x]], "-", c("o", ">", "-")[m[x, y]])
          counts[x, y, kind] <- counts[x, y, kind] + 1L
        }
      }
    }
  }
  seen <- which(apply(counts, 1:2, sum) > 0, arr.ind = TRUE)
  seen <- unname(seen[order(seen[, 1], seen[, 2]), , drop = FALSE])
  of <- vapply(1:9, function(kind) counts[cbind(seen, kind)], integer(nrow(seen)))
  colnames(of) <- kinds
  data.frame(x = seen[, 1], y = seen[, 2], of, check.names = FALSE)
}

test_that("counts are those of each search on each sample's rows", {
  x <- hidden_data()
  for (method in c("fci", "rfci", "fciPlus")) {
    found <- stability(x, gaussCItest, 0.05, method = method, replicates = 20, seed = 4, numCores = 2)
    expect_equal(found$counts, marks_by_hand(found, function(rows) suff_gauss(x[rows, ]), get(method), gaussCItest))
    expect_gt(nrow(found$counts), 5)
    expect_identical(found$method, method)
  }
  half <- stability(
    x,
    gaussCItest,
    0.05,
    method = "fci",
    replicates = 20,
    how = "subsample",
    seed = 4,
    maj.rule = TRUE,
    selectionBias = FALSE,
    doPdsep = FALSE
  )
  by_hand <- marks_by_hand(
    half,
    function(rows) suff_gauss(x[rows, ]),
    fci,
    gaussCItest,
    maj.rule = TRUE,
    selectionBias = FALSE,
    doPdsep = FALSE
  )
  expect_equal(half$counts, by_hand)
  expect_identical(half$size, 75L)
  expect_identical(half$threshold$value, 0.75)
})

test_that("the data of every test are drawn by their rows", {
  x <- hidden_data()
  same <- function(data, test, rows_of, ...) {
    found <- quietly(stability(data, test, 0.1, method = "fci", replicates = 3, seed = 2, ...))
    expect_equal(found$counts, marks_by_hand(found, rows_of, fci, test), info = found$test)
    expect_gt(nrow(found$counts), 1)
  }
  levels <- as.data.frame(lapply(x[1:4], cut, c(-Inf, -0.7, 0.7, Inf)))
  discrete <- suff_discrete(levels)
  same(levels, disCItest, function(rows) {
    discrete$dm <- discrete$dm[rows, ]
    discrete
  })
  few <- suff_knn(x[1:40, 1:4], k = 3, k_perm = 3, permutations = 20, seed = 1)
  knn_rows <- function(rows) {
    few$data <- few$data[rows, ]
    few
  }
  same(few, cmiKnnCItest, knn_rows, how = "subsample")
  kernel <- quietly(suff_kernel(x[1:4], seed = 1))
  same(kernel, rcotCItest, function(rows) {
    kernel$data <- kernel$data[rows, ]
    kernel
  })
  mixed <- transform(x[1:4], u = factor(u > 0))
  same(mixed, mixCItest, function(rows) mixed[rows, ])
  holes <- transform(x, a = replace(a, 1:9, NA))
  same(holes, gaussCItwd, function(rows) holes[rows, ])
  completed <- list(x, transform(x, a = a + 0.1), x)
  same(completed, gaussMItest, function(rows) lapply(completed, function(set) set[rows, ]))
})

test_that("a kept file, an R function and `make` give the counts of data", {
  x <- hidden_data()
  of <- function(data, test = gaussCItest, ...) {
    stability(data, test, 0.05, method = "fci", replicates = 5, seed = 4, ...)$counts
  }
  counts <- of(x)
  test <- function(x, y, S, suffStat) gaussCItest(x, y, S, list(C = stats::cor(suffStat), n = nrow(suffStat)))
  expect_identical(of(x, test), counts)
  expect_identical(of(x, make = suff_gauss), counts)
  expect_identical(of(suff_gauss(x, keep = "data")), counts)
  file <- tempfile()
  on.exit(unlink(file))
  expect_identical(of(suff_gauss(x, keep = "data", file = file)), counts)
  expect_identical(of(x, numCores = 1), counts)

  # A test that draws random numbers has a stream of its own, and leaves the session's alone.
  noisy <- function(x, y, S, suffStat) min(1, test(x, y, S, suffStat) + stats::runif(1) / 10)
  set.seed(1)
  before <- .Random.seed
  first <- of(x, noisy)
  expect_identical(.Random.seed, before)
  expect_identical(of(x, noisy), first)
})

test_that("knowledge holds in every sample, and columns that are constant in a sample have no edges", {
  x <- hidden_data(60)
  x$w <- c(1, rep(0, 59))
  found <- stability(
    x,
    gaussCItest,
    0.1,
    method = "fci",
    replicates = 15,
    seed = 4,
    tiers = c(u = 1, v = 1, a = 2, b = 3, e = 4, w = 4)
  )
  table <- as.data.frame(found)
  later <- table$to %in% c("b", "e", "w") & table$from %in% c("u", "v", "a")
  expect_gt(sum(later), 2)
  # The later variable is no ancestor of the earlier one.
  expect_identical((table$to.circle + table$to.tail)[later], integer(sum(later)))
  constant <- sum(!vapply(1:15, function(b) 1 %in% stability_rows(found, b), NA))
  expect_gt(constant, 0)
  expect_true(all(table$strength[table$from == "w" | table$to == "w"] <= (15 - constant) / 15))
})

test_that("the averaged PAG has the most frequent kind of each edge, and circles where kinds tie", {
  found <- stability(hidden_data(), gaussCItest, 0.05, method = "fci", replicates = 10, seed = 4)
  rows <- rbind(
    c(1L, 2L, 0L, 1L, 0L, 0L, 0L, 0L, 0L, 6L, 0L), # o-> 1, --> 6
    c(1L, 3L, 0L, 0L, 0L, 5L, 0L, 2L, 0L, 0L, 0L), # <-o 5, <-- 2
    c(2L, 3L, 0L, 3L, 0L, 0L, 0L, 0L, 0L, 3L, 0L), # o-> 3, --> 3
    c(2L, 4L, 0L, 0L, 0L, 0L, 4L, 0L, 0L, 4L, 0L), # <-> 4, --> 4
    c(3L, 4L, 0L, 0L, 0L, 0L, 0L, 5L, 0L, 5L, 0L), # <-- 5, --> 5
    c(4L, 5L, 2L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L) # o-o 2
  )
  found$counts <- stats::setNames(as.data.frame(rows), c("x", "y", kinds))
  found <- pcgpu:::with_average_pag(found, list(threshold = 0.5))
  expect_identical(found$kept, c(TRUE, TRUE, TRUE, TRUE, TRUE, FALSE))
  table <- as.data.frame(found)
  expect_identical(table$from, c("a", "v", "u", "a", "v", "b"))
  expect_identical(table$to, c("b", "b", "v", "u", "a", "e"))
  expect_identical(table$kind, c("o-o", "o->", "-->", "o->", "o->", "o-o"))
  expect_equal(table$strength, c(1, 0.8, 0.7, 0.7, 0.6, 0.2))
  expect_equal(table$share, c(5 / 10, 4 / 8, 6 / 7, 5 / 7, 3 / 6, 1))
  # Kinds are seen from `from`: a o-> u is u <-o a.
  turned <- unlist(table[table$from == "a" & table$to == "u", kinds])
  expect_identical(unname(turned), c(0L, 5L, 0L, 0L, 0L, 0L, 0L, 2L, 0L))
  marks <- c("from.circle", "from.arrow", "from.tail", "to.circle", "to.arrow", "to.tail")
  expect_identical(unname(unlist(table[table$from == "a" & table$to == "u", marks])), c(5L, 0L, 2L, 0L, 7L, 0L))
  expect_identical(as.data.frame(found, n = 2), table[1:2, ])

  edges <- edge_table(found)
  expect_identical(names(edges), c("from", "to", "kind", "strength", "share"))
  expect_identical(edges, table[1:5, c("from", "to", "kind", "strength", "share")])
  expect_identical(edges(found), edges)
  pag <- averaged_pag(found)
  expect_s4_class(pag, "fciAlgo")
  by_pair <- function(edges) edges[order(edges$from, edges$to), c("from", "to", "kind")]
  expect_equal(by_pair(edge_table(pag)), by_pair(edges), ignore_attr = "row.names")
  expect_identical(nrow(edge_table(averaged_pag(found, threshold = 0.75))), 2L)
  expect_identical(compare_graphs(found, pag)$shd, 0)
  expect_identical(neighbours(found, "e")$name, character())
})

test_that("the table says how the PAG of all rows has the edge, as seen from `from`", {
  found <- stability(hidden_data(), gaussCItest, 0.05, method = "fci", replicates = 10, seed = 4)
  table <- as.data.frame(found)
  m <- found$fit@amat
  kind <- function(from, to) {
    if (m[from, to] == 0) "" else paste0(c("o", "<", "-")[m[to, from]], "-", c("o", ">", "-")[m[from, to]])
  }
  expect_identical(table$fit, mapply(kind, table$from, table$to, USE.NAMES = FALSE))
  expect_true(any(table$fit == "") && any(table$fit != ""))
})

test_that("it prints, summarises and draws", {
  found <- stability(hidden_data(), gaussCItest, 0.05, method = "fci", replicates = 10, seed = 4)
  said <- capture.output(print(found))
  expect_match(said[1], "Stability of edges of fci\\(\\): 10 bootstrap samples")
  expect_match(said, "Kinds of these edges: .*o-> ", all = FALSE)
  expect_match(said, "from to strength kind share +fit +kept", all = FALSE)
  expect_output(print(summary(found)), "seed 4")
  expect_output(print(averaged_pag(found)), "Edges: ")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found))
  expect_silent(plot(found, "graph"))
  expect_error(plot(found, around = "a"), "add which = \"graph\"", class = "pcgpu_error_argument")
  set.seed(1)
  pair <- data.frame(a = rnorm(30), b = rnorm(30))
  none <- stability(pair, gaussCItest, 1e-9, method = "fci", replicates = 3)
  expect_identical(nrow(as.data.frame(none)), 0L)
  expect_identical(nrow(edge_table(averaged_pag(none))), 0L)
  expect_output(print(none), "0 of 1 pairs")
  plot(none)
  plot(none, "graph")
})

test_that("what other searches have is refused by name", {
  x <- hidden_data()
  refused <- function(message, ..., method = "fci") {
    expect_error(
      stability(x, gaussCItest, 0.05, method = method, replicates = 2, ...),
      message,
      class = "pcgpu_error_argument"
    )
  }
  refused("`cluster` is not available with method = \"fci\"", cluster = 2)
  refused("`cluster` is not available", control = pc_control(cluster = 2))
  refused("`false_edges` is not available", false_edges = 1, how = "subsample")
  refused("`u2pd` is not available", u2pd = "valid")
  refused("`context.all` is not available", context.all = "u")
  refused("`pdsep.max` is not available with method = \"rfci\"", pdsep.max = 3, method = "rfci")
  refused("`jci` is not available with method = \"pc\"", jci = "1", method = "pc")
  refused("did you mean `pdsep.max`", pdsepmax = 3)
  refused("`method` is \"ges\"", method = "ges")
  refused("`threshold` is 2", threshold = 2)
  pag <- stability(x, gaussCItest, 0.05, method = "fci", replicates = 2)
  expect_error(averaged_cpdag(pag), "averaged_pag\\(\\)", class = "pcgpu_error_argument")
  expect_error(causal_effects(pag, x), "is a PAG", class = "pcgpu_error_argument")
  cpdag <- stability(x, gaussCItest, 0.05, replicates = 2)
  expect_error(averaged_pag(cpdag), "averaged_cpdag\\(\\)", class = "pcgpu_error_argument")
  expect_error(averaged_pag(x), "stability\\(\\)", class = "pcgpu_error_argument")
})

test_that("errors in a sample end the call, and messages of samples are not shown", {
  x <- hidden_data()
  fails <- function(x, y, S, suffStat) if (anyDuplicated(suffStat$w)) stop("repeated rows") else 0.5
  expect_error(stability(x, fails, 0.05, method = "fci", replicates = 3), "repeated rows", class = "pcgpu_error_test")
  expect_silent(stability(x[1:20, ], gaussCItest, 0.5, method = "fci", replicates = 2, seed = 1, m.max = 1))
})

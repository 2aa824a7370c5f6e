test_that("counts are those of pc() on each sample's rows, for each test", {
  x <- stability_data()
  gauss <- stability(x, gaussCItest, 0.05, replicates = 25, seed = 4, numCores = 2)
  expect_equal(gauss$counts, counts_by_hand(gauss, function(rows) suff_gauss(x[rows, ]), gaussCItest))
  expect_gt(nrow(gauss$counts), 5)
  half <- stability(
    x,
    gaussCItest,
    0.05,
    replicates = 25,
    how = "subsample",
    seed = 4,
    maj.rule = TRUE,
    solve.confl = TRUE
  )
  by_hand <- counts_by_hand(
    half,
    function(rows) suff_gauss(x[rows, ]),
    gaussCItest,
    maj.rule = TRUE,
    solve.confl = TRUE
  )
  expect_equal(half$counts, by_hand)
  expect_identical(length(stability_rows(half, 3)), 60L)
  expect_false(anyDuplicated(stability_rows(half, 3)) > 0)

  # A level that few rows have is lost in many samples, and counts all the same.
  levels <- as.data.frame(lapply(x, cut, c(-Inf, -0.7, 0.7, 3, Inf)))
  suff <- suff_discrete(levels)
  discrete <- stability(levels, chi2CItest, 0.1, replicates = 25, seed = 4, skel.method = "stable.fast")
  of_rows <- function(rows) {
    suff$dm <- suff$dm[rows, ]
    suff
  }
  expect_equal(discrete$counts, counts_by_hand(discrete, of_rows, chi2CItest, skel.method = "stable.fast"))
  expect_gt(nrow(discrete$counts), 3)
  expect_identical(stability(suff, chi2CItest, 0.1, replicates = 25, seed = 4)$counts, discrete$counts)

  few <- suff_knn(x[1:40, 1:4], k = 3, k_perm = 3, permutations = 30, seed = 1)
  knn <- stability(few, cmiKnnCItest, 0.2, replicates = 5, how = "subsample", seed = 4)
  of_rows <- function(rows) {
    few$data <- few$data[rows, ]
    few
  }
  expect_equal(knn$counts, counts_by_hand(knn, of_rows, cmiKnnCItest))
})

test_that("background knowledge and fixed pairs hold in every sample", {
  x <- stability_data()
  tiers <- c(a = 1, b = 1, d = 2, e = 2, f = 2, g = 3)
  gaps <- matrix(FALSE, 6, 6, dimnames = list(names(x), names(x)))
  gaps[1, 3] <- gaps[3, 1] <- TRUE
  kept <- matrix(FALSE, 6, 6, dimnames = list(names(x), names(x)))
  kept[5, 6] <- kept[6, 5] <- TRUE
  found <- stability(
    x,
    gaussCItest,
    0.05,
    replicates = 20,
    seed = 4,
    tiers = tiers,
    fixedGaps = gaps,
    fixedEdges = kept
  )
  by_hand <- counts_by_hand(
    found,
    function(rows) suff_gauss(x[rows, ]),
    gaussCItest,
    tiers = tiers,
    fixedGaps = gaps,
    fixedEdges = kept
  )
  expect_equal(found$counts, by_hand)
  table <- as.data.frame(found)
  fixed <- table[table$from == "f" & table$to == "g", ]
  expect_identical(c(fixed$strength, fixed$direction), c(1, 1))
  expect_false(any(table$from == "a" & table$to == "d"))
  # The bound is on the pairs that are tested.
  expect_identical(found$tested, 13)
  expect_equal(found$q, sum(found$counts[3:6]) / 20 - 1)
})

test_that("the answer depends on the seed alone", {
  x <- stability_data()
  one <- stability(x, gaussCItest, 0.05, replicates = 20, seed = 4, numCores = 1)
  for (threads in c(2, 4)) {
    expect_identical(stability(x, gaussCItest, 0.05, replicates = 20, seed = 4, numCores = threads)$counts, one$counts)
  }
  expect_false(identical(stability(x, gaussCItest, 0.05, replicates = 20, seed = 5)$counts, one$counts))
  set.seed(9)
  drawn <- stability(x, gaussCItest, 0.05, replicates = 20)
  set.seed(9)
  expect_identical(stability(x, gaussCItest, 0.05, replicates = 20)$counts, drawn$counts)
  rand <- stability(x, gaussCItest, 0.05, replicates = 20, seed = 4, u2pd = "retry", numCores = 2)
  expect_identical(
    stability(x, gaussCItest, 0.05, replicates = 20, seed = 4, u2pd = "retry", numCores = 1)$counts,
    rand$counts
  )
})

test_that("the seed determines features and permutations, too", {
  x <- stability_data()[1:60, 1:4]
  for (test in list(rcotCItest, cmiKnnCItest)) {
    largest <- function(seed) {
      quietly(stability(x, test, 0.05, replicates = 2, how = "subsample", seed = seed, m.max = 1))$fit@pMax
    }
    set.seed(1)
    drawn <- runif(1)
    set.seed(1)
    one <- largest(4)
    expect_identical(runif(1), drawn)
    expect_identical(largest(4), one)
    expect_false(identical(largest(5), one))
  }
})

test_that("R functions give the same counts, here and on a cluster", {
  x <- stability_data()
  native <- stability(x, gaussCItest, 0.05, replicates = 8, seed = 4)
  test <- function(x, y, S, suffStat) gaussCItest(x, y, S, list(C = stats::cor(suffStat), n = nrow(suffStat)))
  expect_identical(stability(x, test, 0.05, replicates = 8, seed = 4)$counts, native$counts)
  listed <- list(data = x, n = nrow(x))
  in_list <- function(x, y, S, suffStat) gaussCItest(x, y, S, list(C = stats::cor(suffStat$data), n = suffStat$n))
  expect_identical(stability(listed, in_list, 0.05, replicates = 8, seed = 4, labels = names(x))$counts, native$counts)
  made <- stability(x, gaussCItest, 0.05, replicates = 8, seed = 4, make = suff_gauss)
  expect_identical(made$counts, native$counts)

  # One that draws random numbers has a stream of its own, and leaves the session's alone.
  noisy <- function(x, y, S, suffStat) min(1, test(x, y, S, suffStat) + stats::runif(1) / 10)
  set.seed(1)
  before <- .Random.seed
  first <- stability(x, noisy, 0.05, replicates = 8, seed = 4)
  expect_identical(.Random.seed, before)
  expect_identical(stability(x, noisy, 0.05, replicates = 8, seed = 4)$counts, first$counts)
  expect_error(stability(x, function(x, y, S, suffStat) stop("no"), 0.05, replicates = 8), class = "pcgpu_error_test")

  skip_on_cran()
  expect_identical(stability(x, gaussCItest, 0.05, replicates = 8, seed = 4, cluster = 2)$counts, native$counts)
  expect_identical(stability(x, noisy, 0.05, replicates = 8, seed = 4, cluster = 2)$counts, first$counts)
  fails <- function(x, y, S, suffStat) if (nrow(unique(suffStat)) < nrow(suffStat)) stop("repeated rows") else 0.5
  expect_error(stability(x, fails, 0.05, replicates = 8, cluster = 2), "repeated rows", class = "pcgpu_error_test")
})

test_that("the effects of resampling on data are no error", {
  x <- stability_data(30)
  # Constant in most samples.
  x$g <- c(1, rep(0, 29))
  # Two columns that are one, and more variables than different rows.
  x$h <- x$a
  wide <- cbind(x, matrix(with_seed(2, rnorm(30 * 40)), 30, dimnames = list(NULL, paste0("v", 1:40))))
  found <- stability(wide, gaussCItest, 0.3, replicates = 20, seed = 4)
  expect_gt(found$constants, 0)
  expect_lt(found$constants, 20)
  with_g <- which(names(wide) == "g")
  expect_lt(
    max(0, rowSums(found$counts[found$counts$x == with_g | found$counts$y == with_g, 3:6])),
    21 - found$constants
  )
  for (method in c("stable.fast", "original")) {
    expect_identical(stability(wide, gaussCItest, 0.1, replicates = 5, seed = 4, skel.method = method)$replicates, 5L)
  }
  expect_output(print(found), "constant columns")
})

test_that("strength and direction count as bnlearn's boot.strength() does", {
  x <- stability_data()
  found <- stability(x, gaussCItest, 0.05, replicates = 25, seed = 4, solve.confl = TRUE)
  table <- as.data.frame(found)
  expect_identical(nrow(table), nrow(found$counts))
  expect_equal(table$strength, rowSums(table[c("forward", "backward", "undirected", "bidirected")]) / 25)
  expect_equal(table$direction, (table$forward + (table$undirected + table$bidirected) / 2) / (25 * table$strength))
  expect_true(all(table$direction >= 0.5) && !is.unsorted(-table$strength))
  expect_identical(as.data.frame(found, n = 2), table[1:2, ])
  m <- methods::as(found$fit@graph, "matrix")
  mark <- function(from, to) {
    if (m[from, to] == 2) "<->" else c("", "-->", "<--", "---")[1 + (m[from, to] != 0) + 2 * (m[to, from] != 0)]
  }
  expect_identical(table$fit, mapply(mark, table$from, table$to, USE.NAMES = FALSE))
})

test_that("the threshold is that of Scutari and Nagarajan", {
  # The example of their section 3, of 4 variables.
  found <- stability(stability_data()[1:4], gaussCItest, 0.05, replicates = 10, seed = 1)
  shares <- c(0.0460, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439)
  of <- found
  of$counts <- data.frame(
    x = c(1L, 1L, 1L, 2L, 2L, 3L),
    y = c(2L, 3L, 4L, 3L, 4L, 4L),
    forward = as.integer(1e4 * shares),
    backward = 0L,
    undirected = 0L,
    bidirected = 0L
  )
  of$replicates <- 10000L
  of <- with_average_of(of, list())
  expect_equal(of$threshold$value, 0.3921)
  expect_identical(of$average$kept, shares > 0.3921)
  # Their definition, for strengths of any kind: the t that is nearest in L1, by search.
  norm <- function(t, strength) {
    knots <- sort(unique(c(0, strength, 1)))
    sum(diff(knots) * abs(stats::ecdf(strength)(utils::head(knots, -1)) - t))
  }
  for (seed in 1:20) {
    strength <- with_seed(seed, sample(0:20, 15, TRUE) / 20)
    values <- stats::ecdf(strength)(sort(unique(c(0, strength))))
    norms <- vapply(values, norm, 0, strength = strength)
    # Where strengths are one half, several are nearest: the largest.
    best <- max(values[norms < min(norms) + 1e-9])
    threshold <- unname(stats::quantile(strength, best, type = 1))
    of$counts <- data.frame(
      x = rep(1:5, 5:1),
      y = unlist(lapply(2:6, seq, 6)),
      forward = as.integer(20 * strength),
      backward = 0L,
      undirected = 0L,
      bidirected = 0L
    )
    of$replicates <- 20L
    of$labels <- letters[1:6]
    expect_identical(with_average_of(of, list())$average$kept, strength > threshold, info = seed)
  }
})

test_that("the averaged graph has the marks of most samples, and its validity is reported", {
  found <- stability(stability_data(), gaussCItest, 0.05, replicates = 25, seed = 4)
  graph <- averaged_cpdag(found)
  expect_s4_class(graph, "graphNEL")
  table <- as.data.frame(found)
  kept <- table[table$kept, ]
  m <- methods::as(graph, "matrix")
  expect_identical(sum(m | t(m)) / 2, as.double(nrow(kept)))
  expect_true(all(kept$strength > found$threshold$value) && !any(table$strength[!table$kept] > found$threshold$value))
  arrows <- kept[kept$forward > pmax(kept$backward, kept$undirected), ]
  expect_true(all(m[cbind(arrows$from, arrows$to)] == 1 & m[cbind(arrows$to, arrows$from)] == 0))
  # A share that is no number of bits: 7 of 10 reach 0.7.
  of <- found
  of$counts <- data.frame(
    x = 1:2,
    y = 2:3,
    forward = c(7L, 6L),
    backward = c(0L, 0L),
    undirected = c(0L, 1L),
    bidirected = 0L
  )
  of$replicates <- 10L
  expect_identical(with_average_of(of, list(threshold = 0.7))$average$kept, c(TRUE, TRUE))
  expect_identical(with_average_of(of, list(threshold = 0.71))$average$kept, c(FALSE, FALSE))
  # a -> b -> d is no CPDAG, a -> b <- d is one.
  expect_false(with_average_of(of, list(threshold = 0.5))$average$valid)
  of$counts$backward[2] <- 6L
  of$counts$forward[2] <- 0L
  expect_true(with_average_of(of, list(threshold = 0.5))$average$valid)
  expect_output(print(with_average_of(found, list(threshold = 0.001))), "not a valid CPDAG|Strength of at least 0.001")
  expect_identical(
    averaged_cpdag(found, threshold = 1)@graphData$valid,
    with_average_of(found, list(threshold = 1))$average$valid
  )
  expect_identical(averaged_cpdag(found, threshold = 0.9)@nodes, names(stability_data()))
})

test_that("the averaged graph prints its edges, and remains a graphNEL for other packages", {
  found <- stability(stability_data(), gaussCItest, 0.05, replicates = 25, seed = 4)
  graph <- averaged_cpdag(found)
  said <- capture.output(print(graph))
  count <- nrow(edge_table(found))
  expect_match(paste(said, collapse = " "), sprintf("with 6 variables and %d edges", count))
  expect_match(said, "from to kind strength direction", all = FALSE)
  expect_identical(capture.output(graph), said)
  plain <- methods::as(graph, "graphNEL")
  expect_identical(class(plain)[1], "graphNEL")
  expect_identical(graph::edges(graph), graph::edges(plain))
  expect_identical(graph::subGraph(c("a", "d"), graph)@nodes, c("a", "d"))
  expect_identical(methods::as(graph, "matrix"), methods::as(plain, "matrix"))
  expect_identical(edge_table(graph), edge_table(plain))
  expect_output(print(averaged_cpdag(found, threshold = 1)), "averaged graph of samples")
})

test_that("stability selection has the bound of Meinshausen and Buehlmann", {
  x <- stability_data(200)
  found <- stability(x, gaussCItest, 0.05, replicates = 40, how = "subsample", seed = 4)
  expect_identical(found$threshold$value, 0.75)
  expect_equal(found$average$false_edges, found$q^2 / (0.5 * 15))
  strict <- stability(x, gaussCItest, 0.05, replicates = 40, how = "subsample", seed = 4, false_edges = 2)
  expect_equal(strict$average$false_edges, 2)
  expect_equal(strict$threshold$value, (found$q^2 / (2 * 15) + 1) / 2)
  expect_identical(averaged_cpdag(found, false_edges = 2), averaged_cpdag(strict))
  expect_output(print(strict), "at most\\s+2 \\(Meinshausen\\s+and\\s+Buehlmann\\s+2010")
  expect_warning(
    none <- stability(x, gaussCItest, 0.05, replicates = 10, how = "subsample", false_edges = 0.01),
    "No edge is kept.*at least",
    class = "pcgpu_warning_false_edges"
  )
  expect_false(any(none$average$kept))
  expect_true(is.na(none$average$false_edges))
  expect_match(capture.output(print(none)), "No threshold reaches the requested bound", all = FALSE)
  expect_error(averaged_cpdag(none, false_edges = 0.01), "at least", class = "pcgpu_error_argument")
  expect_error(as.data.frame(none, n = -1), "`n` is -1", class = "pcgpu_error_argument")
  # No bound for bootstrap samples, or for other sizes.
  expect_true(is.na(stability(x, gaussCItest, 0.05, replicates = 10, seed = 4)$average$false_edges))
  expect_true(is.na(
    stability(
      x,
      gaussCItest,
      0.05,
      replicates = 10,
      how = "subsample",
      size = 50,
      threshold = 0.9,
      seed = 4
    )$average$false_edges
  ))
  bound <- stability_bound(q = 10, pairs = 4950, threshold = 0.9)
  expect_equal(bound$false_edges, 100 / (0.8 * 4950))
  expect_equal(stability_bound(pairs = 4950, threshold = 0.9, false_edges = bound$false_edges)$q, 10)
  expect_equal(stability_bound(q = 10, pairs = 4950, false_edges = bound$false_edges)$threshold, 0.9)
})

test_that("data are accepted as pc() accepts them", {
  x <- stability_data()
  named <- stability(x, gaussCItest, 0.05, replicates = 5, seed = 4)
  expect_message(found <- stability(x, alpha = 0.05, replicates = 5, seed = 4), class = "pcgpu_message_data")
  expect_identical(found$counts, stability(x, gaussCItest, 0.05, replicates = 5, seed = 4, maj.rule = TRUE)$counts)
  expect_identical(stability(as.matrix(x), gaussCItest, 0.05, replicates = 5, seed = 4)$counts, named$counts)
  expect_identical(
    stability(suff_gauss(x, keep = "data"), gaussCItest, 0.05, replicates = 5, seed = 4)$counts,
    named$counts
  )
  levels <- as.data.frame(lapply(x, cut, 2))
  expect_message(found <- stability(levels, alpha = 0.05, replicates = 5, seed = 4), class = "pcgpu_message_data")
  expect_identical(found$test, "disCItest")
  expect_identical(
    stability(unname(as.matrix(x)), gaussCItest, 0.05, replicates = 5, labels = toupper(names(x)))$labels,
    toupper(names(x))
  )
})

test_that("broken input is refused by argument, value and hint", {
  x <- stability_data()
  refused <- function(argument, ...) {
    given <- list(...)
    default <- list(data = x, indepTest = gaussCItest, alpha = 0.05, replicates = 5)
    given <- c(given, default[setdiff(names(default), names(given))])
    error <- tryCatch(do.call(stability, given), pcgpu_error_argument = function(e) e)
    expect_s3_class(error, "pcgpu_error_argument")
    expect_identical(error$argument, argument, info = conditionMessage(error))
  }
  refused("data", data = suff_gauss(x))
  refused("data", data = list(C = diag(3), n = 10), indepTest = function(x, y, S, suffStat) 0.5)
  refused("data", data = 1:10)
  refused("data", data = transform(x, a = replace(a, 3, NA)))
  refused("replicates", replicates = 0)
  refused("replicates", replicates = 2.5)
  refused("how", how = "jackknife")
  refused("how", data = x[1:30, 1:3], indepTest = cmiKnnCItest)
  refused("size", size = 1.5)
  refused("size", how = "subsample", size = 1)
  refused("size", size = 1000)
  refused("size", how = "subsample", size = 120)
  refused("seed", seed = -1)
  refused("threshold", threshold = 1.5)
  refused("threshold", threshold = 0)
  refused("false_edges", false_edges = 1)
  refused("false_edges", false_edges = -1, how = "subsample")
  refused("false_edges", false_edges = 1, threshold = 0.9, how = "subsample")
  refused("make", make = 3)
  refused("verbose", verbose = TRUE)
  refused("checkpoint", checkpoint = tempfile())
  refused("control", control = pc_control(checkpoint = tempfile()))
  refused("tiers", tiers = 1:3, control = pc_control(tiers = 1:3))
  refused("device", device = "abacus")
  refused("cluster", cluster = "many")
  expect_error(stability(), class = "pcgpu_error_argument")
  expect_error(stability(x), class = "pcgpu_error_argument")
  expect_error(stability(x, "gaus", 0.05), class = "pcgpu_error_argument")
  found <- stability(x, gaussCItest, 0.05, replicates = 5)
  expect_error(stability_rows(found, 6), class = "pcgpu_error_argument")
  expect_error(stability_rows(x, 1), class = "pcgpu_error_argument")
  expect_error(averaged_cpdag(x), class = "pcgpu_error_argument")
  expect_error(averaged_cpdag(found, threshold = 2), class = "pcgpu_error_argument")
  expect_error(stability_bound(q = 1, pairs = 10), class = "pcgpu_error_argument")
  expect_error(stability_bound(1, 10, 0.9, 1), class = "pcgpu_error_argument")
  expect_error(stability_bound(1, 10, threshold = 0.5), class = "pcgpu_error_argument")
  expect_error(stability_bound(20, 10, threshold = 0.9), class = "pcgpu_error_argument")
  expect_error(stability_bound(9, 10, false_edges = 1), class = "pcgpu_error_argument")
})

test_that("results are printed, summarised and drawn, also if they are empty", {
  x <- stability_data()
  found <- stability(x, gaussCItest, 0.05, replicates = 25, seed = 4)
  expect_output(
    print(found),
    "25 bootstrap samples \\(each 120 of 120 rows\\), 6 variables,\\s+gaussCItest, alpha = 0.05"
  )
  expect_output(print(found), "Scutari and Nagarajan")
  expect_output(print(summary(found)), "Pairs by strength")
  counted <- summary(found)
  expect_identical(counted$fit[["both"]] + counted$fit[["average"]], sum(found$average$kept))
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit(unlink(file))
  expect_silent(plot(found))
  expect_silent(plot(found, "graph", main = "Average"))
  none <- stability(x[c("a", "f")], gaussCItest, 1e-9, replicates = 5, seed = 4)
  expect_identical(nrow(none$counts), 0L)
  expect_output(print(none), "0 of 1 pairs")
  expect_identical(nrow(as.data.frame(none)), 0L)
  expect_true(none$average$valid)
  expect_output(print(summary(none)), "Pairs by strength")
  plot(none)
  plot(none, "graph")
  grDevices::dev.off()
  expect_error(plot(found, "table"), class = "pcgpu_error_argument")
})

test_that("a progress bar changes nothing, and Ctrl-C stops within half a second", {
  x <- stability_data()
  capture.output(with <- stability(x, gaussCItest, 0.05, replicates = 25, seed = 4, progress = TRUE), type = "message")
  expect_identical(with$counts, stability(x, gaussCItest, 0.05, replicates = 25, seed = 4, progress = FALSE)$counts)
  skip_on_cran()
  skip_on_os("windows")
  stopped <- press_in_time(function() stability(x, gaussCItest, 0.05, replicates = 1e5, seed = 4, numCores = 2))
  expect_identical(stopped$outcome, "stopped")
  expect_lt(stopped$took, 0.5)
})

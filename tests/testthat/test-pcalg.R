# Against pcalg itself, where it is installed.

methods_of_pcalg <- c("stable", "original", "stable.fast")

test_that("results are pcalg's, slot for slot, in every way to search and to orient", {
  skip_without_pcalg()
  ways <- list(
    list(),
    list(solve.confl = TRUE),
    list(conservative = TRUE),
    list(maj.rule = TRUE),
    list(conservative = TRUE, solve.confl = TRUE),
    list(maj.rule = TRUE, solve.confl = TRUE),
    list(u2pd = "rand"),
    list(u2pd = "retry")
  )
  for (seed in 1:12) {
    p <- c(4, 8, 12)[seed %% 3 + 1]
    s <- suff(p = p, n = c(30, 60, 500)[seed %% 3 + 1], degree = 3, seed = seed)
    for (method in methods_of_pcalg) {
      for (way in ways) {
        arguments <- c(list(suffStat = s, alpha = 0.1, labels = colnames(s$C), skel.method = method), way)
        set.seed(seed)
        theirs <- do.call(pcalg::pc, c(arguments, indepTest = pcalg::gaussCItest))
        set.seed(seed)
        ours <- do.call(pc, c(arguments, indepTest = pcalg::gaussCItest))
        expect_same_result(ours, theirs, paste(seed, method, names(way)))
      }
    }
  }
})

test_that("skeletons with background knowledge are pcalg's", {
  skip_without_pcalg()
  for (seed in 1:6) {
    s <- suff(p = 10, n = 80, degree = 3, seed = seed)
    set.seed(seed)
    gaps <- matrix(runif(100) < 0.3, 10, 10)
    gaps <- gaps & t(gaps)
    edges <- matrix(runif(100) < 0.3, 10, 10)
    edges <- edges & t(edges)
    for (method in methods_of_pcalg) {
      arguments <- list(s, alpha = 0.05, p = 10, method = method, fixedGaps = gaps, fixedEdges = edges, m.max = 2)
      expect_same_result(
        do.call(skeleton, c(arguments, indepTest = gaussCItest)),
        do.call(pcalg::skeleton, c(arguments, indepTest = pcalg::gaussCItest)),
        paste(seed, method)
      )
    }
  }
})

test_that("singular data (sum scores, copies) have pcalg's answer", {
  skip_without_pcalg()
  for (k in 1:40) {
    set.seed(2000 + k)
    p <- 7
    x <- matrix(stats::rnorm(150 * p), 150, p, dimnames = list(NULL, letters[seq_len(p)]))
    for (j in 2:5) {
      x[, j] <- x[, j] + x[, sample.int(j - 1, 1)]
    }
    x[, 6] <- x[, 1] + x[, 2]
    x[, 7] <- if (k %% 2) x[, 3] else x[, 3] + x[, 5]
    s <- list(C = stats::cor(x), n = 150)
    for (method in methods_of_pcalg) {
      arguments <- list(s, alpha = 0.05, labels = letters[seq_len(p)], skel.method = method)
      ours <- do.call(pc, c(arguments, indepTest = gaussCItest))
      theirs <- do.call(pcalg::pc, c(arguments, indepTest = pcalg::gaussCItest))
      info <- paste(k, method)
      expect_identical(ours@graph, theirs@graph, info = info)
      expect_identical(ours@sepset, theirs@sepset, info = info)
      expect_identical(ours@n.edgetests, theirs@n.edgetests, info = info)
    }
  }
})

test_that("labels with names keep them, as in pcalg", {
  skip_without_pcalg()
  s <- suff(p = 4)
  labels <- c(x = "a", y = "b", z = "c", w = "d")
  dimnames(s$C) <- NULL
  ours <- pc(s, gaussCItest, 0.05, labels = labels)
  expect_identical(ours@graph, pcalg::pc(s, pcalg::gaussCItest, 0.05, labels = labels)@graph)
})

test_that("an R function is called as pcalg calls it: same tests, same order, same values", {
  skip_without_pcalg()
  s <- suff(p = 8, n = 60, degree = 3)
  record <- function(search, method) {
    seen <- list()
    test <- function(x, y, S, suffStat) {
      seen[[length(seen) + 1]] <<- list(as.integer(x), as.integer(y), as.integer(S))
      gaussCItest(x, y, S, suffStat)
    }
    search(s, test, 0.1, p = 8, method = method)
    seen
  }
  for (method in methods_of_pcalg) {
    expect_identical(record(skeleton, method), record(pcalg::skeleton, method), info = method)
  }
})

test_that("pcalg's disCItest and binCItest run", {
  skip_without_pcalg()
  set.seed(8)
  a <- rbinom(400, 1, 0.5)
  b <- rbinom(400, 1, 0.2 + 0.6 * a)
  d <- rbinom(400, 1, 0.2 + 0.6 * b)
  dm <- cbind(a, b, d)
  for (case in list(
    list(list(dm = dm, adaptDF = FALSE), pcalg::binCItest),
    list(list(dm = dm, nlev = c(2, 2, 2), adaptDF = FALSE), pcalg::disCItest)
  )) {
    expect_same_result(pc(case[[1]], case[[2]], 0.05, p = 3), pcalg::pc(case[[1]], case[[2]], 0.05, p = 3))
  }
})

test_that("a skeleton of pcalg can be oriented here, and one of ours there", {
  skip_without_pcalg()
  for (seed in 1:6) {
    s <- suff(p = 10, n = 60, degree = 3, seed = seed)
    theirs <- pcalg::skeleton(s, pcalg::gaussCItest, 0.1, p = 10)
    ours <- skeleton(s, gaussCItest, 0.1, p = 10)
    expect_identical(orient(theirs)@graph, pcalg::udag2pdagRelaxed(theirs)@graph)
    expect_identical(pcalg::udag2pdagRelaxed(ours)@graph, orient(theirs)@graph)
    set.seed(seed)
    here <- orient(theirs, u2pd = "rand")
    set.seed(seed)
    expect_identical(pcalg::udag2pdag(ours)@graph, here@graph)
    set.seed(seed)
    here <- orient(theirs, u2pd = "retry")
    set.seed(seed)
    expect_identical(pcalg::udag2pdagSpecial(ours)$pcObj@graph, here@graph)
  }
})

test_that("pcalg's functions work on our results", {
  skip_without_pcalg()
  s <- suff(p = 8, n = 500)
  ours <- pc(s, gaussCItest, 0.01, p = 8)
  theirs <- pcalg::pc(s, pcalg::gaussCItest, 0.01, p = 8)
  expect_identical(pcalg::getGraph(ours), pcalg::getGraph(theirs))
  expect_equal(pcalg::shd(ours, theirs), 0)
  expect_identical(pcalg::compareGraphs(pcalg::getGraph(ours), pcalg::getGraph(theirs)), c(tpr = 1, fpr = 0, tdr = 1))
  expect_equal(pcalg::ida(1, 3, s$C, ours@graph), pcalg::ida(1, 3, s$C, theirs@graph))
  expect_identical(as(ours, "amat"), as(theirs, "amat"))
  expect_identical(as(ours, "matrix"), as(theirs, "matrix"))
  expect_identical(pcalg::isValidGraph(as(ours, "amat"), "cpdag"), pcalg::isValidGraph(as(theirs, "amat"), "cpdag"))
})

test_that("pcalg's plot draws our results", {
  skip_without_pcalg()
  skip_if_not_installed("Rgraphviz")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot <- getExportedValue("pcalg", "plot")
  expect_no_error(plot(small_fit()))
})

test_that("arguments, their order and defaults are pcalg's, ours come after", {
  skip_without_pcalg()
  for (name in c("pc", "skeleton")) {
    theirs <- formals(getExportedValue("pcalg", name))
    ours <- formals(get(name, asNamespace("pcgpu")))
    expect_identical(names(ours), c(names(theirs), "device", "progress", "...", pcgpu:::control_arguments(), "control"))
    same <- setdiff(names(theirs), c("numCores", "u2pd"))
    expect_identical(as.list(ours)[same], as.list(theirs)[same])
    # pcalg has no "valid".
    expect_identical(eval(ours$u2pd), if (!is.null(theirs$u2pd)) c(eval(theirs$u2pd), "valid"))
  }
})

test_that("messages of errors are in ours word for word", {
  skip_without_pcalg()
  s <- suff()
  none <- matrix(FALSE, 7, 7)
  lopsided <- matrix(FALSE, 8, 8)
  lopsided[1, 2] <- TRUE
  calls <- list(
    list(p = 8, labels = letters[1:3]),
    list(p = 8, u2pd = "foo"),
    list(p = 8, skel.method = "foo"),
    list(p = 8, fixedGaps = none),
    list(p = 8, fixedEdges = none),
    list(p = 8, fixedGaps = lopsided),
    list(p = 8, fixedEdges = lopsided),
    list(p = 8, conservative = TRUE, maj.rule = TRUE),
    list(p = 8, u2pd = "rand", conservative = TRUE),
    list(p = 8, u2pd = "retry", solve.confl = TRUE)
  )
  for (call in calls) {
    error_of <- function(f) tryCatch(do.call(f, c(list(s, pcalg::gaussCItest, 0.05), call)), error = conditionMessage)
    expect_match(error_of(pc), error_of(pcalg::pc), fixed = TRUE)
  }
})

test_that("if the v-structures fit no DAG, the graph is pcalg's, which then has no weights", {
  skip_without_pcalg()
  without_weights <- 0
  for (seed in 1:60) {
    s <- suff(p = 12, n = 60, degree = 4, seed = seed)
    set.seed(seed)
    ours <- pc(s, gaussCItest, 0.1, p = 12, u2pd = "rand")
    if (length(ours@graph@edgeData@data)) {
      next
    }
    without_weights <- without_weights + 1
    set.seed(seed)
    theirs <- pcalg::pc(s, pcalg::gaussCItest, 0.1, p = 12, u2pd = "rand")
    expect_identical(ours@graph, theirs@graph, info = paste("seed", seed))
  }
  expect_gt(without_weights, 0)
})

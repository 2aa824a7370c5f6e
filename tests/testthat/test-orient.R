test_that("orienting a skeleton equals pc(), in every way", {
  ways <- list(
    list(),
    list(solve.confl = TRUE),
    list(conservative = TRUE),
    list(maj.rule = TRUE),
    list(maj.rule = TRUE, solve.confl = TRUE),
    list(u2pd = "rand"),
    list(u2pd = "retry"),
    list(u2pd = "valid"),
    list(u2pd = "valid", maj.rule = TRUE)
  )
  for (seed in 1:5) {
    s <- suff(p = 12, n = 60, degree = 3, seed = seed)
    skel <- skeleton(s, gaussCItest, 0.1, p = 12)
    for (way in ways) {
      set.seed(9)
      whole <- do.call(pc, c(list(s, gaussCItest, 0.1, p = 12), way))
      set.seed(9)
      half <- do.call(orient, c(list(skel), way, list(suffStat = s, indepTest = gaussCItest, alpha = 0.1)))
      expect_identical(half@graph, whole@graph, info = paste(seed, names(way)))
      expect_identical(half@sepset, whole@sepset, info = paste(seed, names(way)))
      expect_true(all.equal(half@call, skel@call))
      expect_identical(run_details(half)$valid_cpdag, run_details(whole)$valid_cpdag)
    }
  }
})

test_that("the rules that test need a test", {
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  expect_error(orient(skel, conservative = TRUE), "suffStat", class = "pcgpu_error_argument")
  expect_error(
    orient(skel, maj.rule = TRUE, suffStat = suff(), indepTest = gaussCItest),
    class = "pcgpu_error_argument"
  )
})

test_that("an R function serves the majority rule too", {
  s <- suff(p = 12, n = 60, degree = 3)
  skel <- skeleton(s, gaussCItest, 0.1, p = 12)
  wrapped <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  native <- orient(skel, maj.rule = TRUE, suffStat = s, indepTest = gaussCItest, alpha = 0.1)
  expect_identical(orient(skel, maj.rule = TRUE, suffStat = s, indepTest = wrapped, alpha = 0.1), native)
  failing <- function(x, y, S, suffStat) stop("no luck")
  expect_error(
    orient(skel, maj.rule = TRUE, suffStat = s, indepTest = failing, alpha = 0.1),
    "no luck",
    class = "pcgpu_error_test"
  )
})

test_that("only a skeleton is accepted", {
  expect_error(orient(list()), class = "pcgpu_error_argument")
  expect_error(orient(small_fit()), "edges have no direction", class = "pcgpu_error_argument")
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  skel@sepset <- skel@sepset[1:3]
  expect_error(orient(skel), "sepset", class = "pcgpu_error_argument")
})

test_that("a skeleton without edges stays as it is", {
  skel <- skeleton(list(C = diag(3), n = 50), gaussCItest, 0.01, p = 3)
  expect_identical(orient(skel), skel)
})

test_that("the random ways follow set.seed() and the others draw nothing", {
  s <- suff(p = 14, n = 50, degree = 4)
  set.seed(5)
  first <- pc(s, gaussCItest, 0.2, p = 14, u2pd = "rand")
  set.seed(5)
  expect_identical(pc(s, gaussCItest, 0.2, p = 14, u2pd = "rand"), first)
  set.seed(5)
  before <- .Random.seed
  pc(s, gaussCItest, 0.2, p = 14)
  expect_identical(.Random.seed, before)
})

test_that("a message reports a GPU that fails in orient() or suff_gauss(), and its replacement", {
  lost <- list(machine = "cuda:1", reason = "it fell out", failed = TRUE)
  own <- mget(c("rust_orient", "rust_orient_compact", "rust_correlation"), asNamespace("pcgpu"))
  put <- function(functions) {
    Map(function(name, value) utils::assignInNamespace(name, value, "pcgpu"), names(functions), functions)
  }
  on.exit(put(own))
  put(lapply(own, function(run) function(...) utils::modifyList(run(...), list(lost = lost))))
  s <- suff()
  for (result in c("pcAlgo", "compact")) {
    skel <- skeleton(s, gaussCItest, 0.05, p = 8, result = result)
    expect_message(
      orient(skel, conservative = TRUE, suffStat = s, indepTest = gaussCItest, alpha = 0.05),
      "cuda:1 failed.*it fell out",
      class = "pcgpu_message_lost"
    )
  }
  expect_message(suff_gauss(simulate(5, 30)), "cuda:1 failed.*it fell out", class = "pcgpu_message_lost")
})

# Decides by the definition, without pcalg: some DAG has the graph's arrows and v-structures, and the graph is that
# DAG's CPDAG.
is_cpdag_by_definition <- function(m) {
  directed <- m == 1 & t(m) == 0
  open <- m == 1 & t(m) == 1
  adjacent <- m != 0 | t(m) != 0
  left <- seq_len(nrow(m))
  dag <- directed
  while (length(left) > 1L) {
    is_sink <- function(x) {
      near <- left[open[x, left]]
      around <- left[adjacent[x, left]]
      !any(directed[x, left]) && all(vapply(near, function(y) all(adjacent[y, setdiff(around, y)]), NA))
    }
    x <- Find(is_sink, left)
    if (is.null(x)) {
      return(FALSE)
    }
    dag[left[open[x, left]], x] <- TRUE
    dag[x, left] <- FALSE
    left <- setdiff(left, x)
  }
  class <- cpdag_of(1 * dag)
  wanted <- matrix(0, nrow(m), ncol(m))
  listed <- edges(class)
  at <- cbind(match(listed$from, colnames(m)), match(listed$to, colnames(m)))
  wanted[at] <- 1
  wanted[at[listed$kind == "---", 2:1, drop = FALSE]] <- 1
  identical(unname(1 * (m != 0)), wanted)
}

test_that("u2pd = \"valid\" always gives a CPDAG of the same skeleton, and leaves valid graphs alone", {
  repaired <- 0
  for (seed in 1:20) {
    s <- suff(p = 10, n = 40, degree = 3, seed = seed)
    skel <- skeleton(s, gaussCItest, 0.2, p = 10)
    for (rule in list(list(), list(maj.rule = TRUE), list(conservative = TRUE))) {
      run <- function(...) {
        do.call(orient, c(list(skel, ...), rule, list(suffStat = s, indepTest = gaussCItest, alpha = 0.2)))
      }
      set.seed(3)
      before <- .Random.seed
      found <- run(u2pd = "valid")
      expect_identical(.Random.seed, before)
      m <- as(found@graph, "matrix")
      skeleton_matrix <- as(skel@graph, "matrix")
      expect_identical(unname(m != 0 | t(m) != 0), unname(skeleton_matrix != 0))
      expect_true(run_details(found)$valid_cpdag)
      expect_true(is_cpdag_by_definition(m), info = paste(seed, names(rule)))
      relaxed <- run()
      if (run_details(relaxed)$valid_cpdag) {
        expect_identical(found@graph, relaxed@graph)
        expect_null(run_details(found)$overruled)
      } else {
        repaired <- repaired + 1
      }
      compact <- do.call(pc, c(list(s, gaussCItest, 0.2, p = 10, u2pd = "valid", result = "compact"), rule))
      expect_identical(edges(compact)[1:3], edges(found)[1:3])
      expect_identical(run_details(compact)$overruled, run_details(found)$overruled)
    }
  }
  expect_gt(repaired, 20)
})

test_that("u2pd = \"valid\" keeps the knowledge", {
  invalid <- kept <- 0
  for (seed in 1:20) {
    s <- suff(p = 14, n = 200, degree = 6, seed = seed)
    tiers <- rep(1:2, c(2, 12))
    run <- function(...) suppressMessages(pc(s, gaussCItest, 0.1, p = 14, tiers = tiers, ...))
    invalid <- invalid + !run_details(run())$valid_cpdag
    found <- run(u2pd = "valid")
    expect_true(run_details(found)$valid_cpdag)
    m <- as(found@graph, "matrix")
    expect_true(all(m[tiers == 2, tiers == 1] == 0))
    kept <- kept + sum(m[tiers == 1, tiers == 2])
  }
  expect_gt(invalid, 3)
  expect_gt(kept, 20)
})

test_that("edges in conflict are no part of a valid graph", {
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, u2pd = "valid", solve.confl = TRUE),
    "`u2pd`.*a valid CPDAG has no conflicting edges",
    class = "pcgpu_error_argument"
  )
})

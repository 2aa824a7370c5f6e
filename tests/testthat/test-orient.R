test_that("orienting a skeleton is what pc() does, in every way", {
  ways <- list(
    list(), list(solve.confl = TRUE), list(conservative = TRUE), list(maj.rule = TRUE),
    list(maj.rule = TRUE, solve.confl = TRUE), list(u2pd = "rand"), list(u2pd = "retry")
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
  expect_error(orient(skel, maj.rule = TRUE, suffStat = suff(), indepTest = gaussCItest),
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
    orient(skel, maj.rule = TRUE, suffStat = s, indepTest = failing, alpha = 0.1), "no luck",
    class = "pcgpu_error_test"
  )
})

test_that("anything but a skeleton is refused", {
  expect_error(orient(list()), class = "pcgpu_error_argument")
  expect_error(orient(small_fit()), "no direction yet", class = "pcgpu_error_argument")
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

test_that("a GPU that fails in orient() or suff_gauss(), and that another stands in for, is told", {
  lost <- list(machine = "cuda:1", reason = "it fell out")
  own <- mget(c("rust_orient", "rust_orient_compact", "rust_correlation"), asNamespace("pcgpu"))
  put <- function(functions) Map(function(name, value) utils::assignInNamespace(name, value, "pcgpu"), names(functions), functions)
  on.exit(put(own))
  put(lapply(own, function(run) function(...) utils::modifyList(run(...), list(lost = lost))))
  s <- suff()
  for (result in c("pcAlgo", "compact")) {
    skel <- skeleton(s, gaussCItest, 0.05, p = 8, result = result)
    expect_message(
      orient(skel, conservative = TRUE, suffStat = s, indepTest = gaussCItest, alpha = 0.05), "cuda:1 failed.*it fell out",
      class = "pcgpu_message_lost"
    )
  }
  expect_message(suff_gauss(simulate(5, 30)), "cuda:1 failed.*it fell out", class = "pcgpu_message_lost")
})

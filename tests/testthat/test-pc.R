variants <- list(
  relaxed = list(),
  relaxed_solve.confl = list(solve.confl = TRUE),
  conservative = list(conservative = TRUE),
  conservative_solve.confl = list(conservative = TRUE, solve.confl = TRUE),
  maj.rule = list(maj.rule = TRUE),
  maj.rule_solve.confl = list(maj.rule = TRUE, solve.confl = TRUE),
  rand = list(u2pd = "rand"),
  retry = list(u2pd = "retry")
)

expect_variants <- function(golden, threads) {
  skipped <- setdiff(names(golden$pc_from_stable), names(variants))
  expect_length(skipped, 0)
  for (variant in names(golden$pc_from_stable)) {
    want <- golden$pc_from_stable[[variant]]
    info <- paste(golden$name, variant, "on", threads, "threads")
    arguments <- c(golden_arguments(golden), variants[[variant]], numCores = threads)
    set.seed(42)
    if (!is.null(want$error)) {
      expect_error(do.call(pc, arguments), class = "pcgpu_error", info = info)
      next
    }
    fit <- do.call(pc, arguments)
    rows <- if (is.null(want$amat)) want else want$amat
    expect_identical(amat(fit), amat_of(rows, golden$p), info = info)
    if (!is.null(want$sepset)) {
      expect_identical(fit@sepset, sepset_of(want$sepset, golden$p), info = info)
    }
  }
}

test_that("the CPDAG is pcalg's on every recorded Gaussian case, in every way to orient", {
  for (case in with_threads(golden_names("gauss"))) {
    golden <- read_golden(case$name)
    for (threads in case$threads) {
      expect_variants(golden, threads)
    }
  }
})

test_that("the CPDAG is pcalg's on every recorded discrete case", {
  for (case in with_threads(c(golden_names("dis"), golden_names("bin")))) {
    golden <- read_golden(case$name)
    for (threads in case$threads) {
      suppressWarnings(expect_variants(golden, threads), classes = "pcgpu_warning_too_few")
    }
  }
})

test_that("the CPDAG of an oracle is that of the true DAG", {
  for (name in golden_names("dsep")) {
    golden <- read_golden(name)
    expect_variants(golden, 2)
    fit <- do.call(pc, golden_arguments(golden))
    expect_identical(amat(fit), amat_of(golden$cpdag_of_true_dag, golden$p), info = name)
  }
})

test_that("the user's call is in the result", {
  s <- suff()
  fit <- pc(s, indepTest = gaussCItest, alpha = 0.05, p = 8)
  expect_equal(ignore_attr = TRUE, fit@call, quote(pc(suffStat = s, indepTest = gaussCItest, alpha = 0.05, p = 8)))
})

test_that("labels go with the nodes, and p with labels gives pcalg's message", {
  s <- suff()
  expect_message(
    fit <- pc(s, gaussCItest, 0.05, labels = colnames(s$C), p = 8),
    "No need to specify 'p', when 'labels' is given"
  )
  expect_identical(graph::nodes(fit@graph), colnames(s$C))
  expect_silent(pc(s, gaussCItest, 0.05, labels = colnames(s$C)))
})

test_that("numCores > 1 gives no warning and changes nothing", {
  s <- suff(p = 15, n = 100, degree = 4)
  for (method in c("stable", "original", "stable.fast")) {
    expect_silent(one <- pc(s, gaussCItest, 0.05, p = 15, skel.method = method, numCores = 1))
    expect_silent(four <- pc(s, gaussCItest, 0.05, p = 15, skel.method = method, numCores = 4))
    four@call <- one@call
    expect_identical(four, one)
  }
})

test_that("arguments match partially if pcalg's do", {
  s <- suff()
  expect_identical(pc(s, gaussCItest, 0.05, p = 8, u2pd = "relax")@graph, pc(s, gaussCItest, 0.05, p = 8)@graph)
})

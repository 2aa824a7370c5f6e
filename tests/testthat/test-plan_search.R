test_that("a search that ends is reported completely", {
  s <- suff()
  plan <- plan_search(s, gaussCItest, 0.05, p = 8, numCores = 1, seconds = 60)
  fit <- skeleton(s, gaussCItest, 0.05, p = 8)
  expect_true(plan$ended)
  expect_identical(plan$levels$tests, fit@n.edgetests)
  expect_identical(plan$levels$level, seq_along(fit@n.edgetests) - 1L)
  expect_true(all(plan$levels$done == 1) && all(plan$levels$seconds >= 0))
  expect_identical(plan$levels$edges[1], 28)
  expect_identical(as.data.frame(plan), plan$levels)
  expect_identical(plan$memory[["pcAlgo"]] >= 16 * 64, TRUE)
  expect_output(
    print(plan),
    "Search of 8 variables, gaussCItest, alpha = 0.05, on cpu.*The whole search took .* s[.].*Memory: data"
  )
})

# Returns a test that is fast at level 0 and slow from `level` on.
slow_from <- function(level, seconds = 0.02) {
  function(x, y, S, suffStat) {
    if (length(S) >= level) {
      Sys.sleep(seconds)
    }
    0
  }
}

test_that("for a level that was begun, its bound and its time are reported", {
  # A busy machine may need more time for level 0.
  for (seconds in 2^(-1:2)) {
    plan <- plan_search(NULL, slow_from(1), 0.05, p = 10, seconds = seconds, m.max = 3)
    if (nrow(plan$levels) == 2L && plan$levels$done[2] > 0) break
  }
  expect_false(plan$ended)
  expect_identical(plan$levels$level, 0:1)
  expect_identical(plan$levels$edges, c(45, 45))
  # No edge falls: 10 x 9 ordered pairs, 8 sets of one each.
  expect_identical(plan$levels$tests, c(45, 720) * c(2, 1))
  # 14.4 s of sleep in all.
  expect_lt(plan$levels$done[2], seconds / 10)
  # 720 tests of 0.02 s and more are 14.4 s and more; a busy machine takes longer.
  expect_gt(plan$levels$seconds[2], 10)
  expect_identical(plan$max_level, 3L)
  expect_output(print(plan), "at most 720 +about .*Up to level 1: about .*; further levels are possible, up to 3")
})

test_that("for a level 0 that does not end, too", {
  plan <- plan_search(NULL, slow_from(0), 0.05, p = 10, seconds = 0.3)
  expect_false(plan$ended)
  expect_identical(unlist(plan$levels[c("level", "edges", "tests")], use.names = FALSE), c(0, 45, 45))
  expect_true(is.na(plan$max_level))
  expect_output(print(plan), "Up to level 0: about .*; later levels cannot be predicted yet[.]|increase `seconds`")
})

test_that("without any test the plan is unknown", {
  plan <- plan_search(NULL, slow_from(0, 0.5), 0.05, p = 4, seconds = 0.05)
  plan$levels$done <- 0
  plan$levels$seconds <- NA_real_
  expect_output(print(plan), "not known.*increase `seconds`")
})

test_that("arguments of pc() are accepted, and those that make no difference are not used", {
  s <- suff()
  file <- tempfile()
  plan <- plan_search(
    s,
    gaussCItest,
    0.05,
    labels = paste0("v", 1:8),
    skel.method = "original",
    conservative = TRUE,
    checkpoint = file,
    time_limit = 1e-9,
    result = "pcAlgo",
    verbose = TRUE,
    tiers = rep(1:2, 4),
    seconds = 60
  )
  expect_false(file.exists(file))
  control <- pc_control(checkpoint = file, time_limit = 1e-9, tiers = rep(1:2, 4))
  expect_identical(
    plan_search(s, gaussCItest, 0.05, p = 8, skel.method = "original", control = control, seconds = 60)$levels$tests,
    plan$levels$tests
  )
  expect_false(file.exists(file))
  expect_identical(
    plan$levels$tests,
    skeleton(s, gaussCItest, 0.05, labels = paste0("v", 1:8), method = "original", tiers = rep(1:2, 4))@n.edgetests
  )
  data <- random_data(random_dag(6, seed = 1), 100, seed = 1)
  expect_message(plan <- plan_search(data, alpha = 0.05), class = "pcgpu_message_data")
  expect_identical(plan$variables, 6L)
  expect_error(plan_search(s, gaussCItest, p = 8), class = "pcgpu_error_argument")
  expect_error(plan_search(s, gaussCItest, 0.05, p = 8, seconds = 0), class = "pcgpu_error_argument")
  expect_error(
    plan_search(s, gaussCItest, 0.05, p = 8, wrong = 1),
    "`wrong` is not an argument of plan_search",
    class = "pcgpu_error_argument"
  )
})

test_that("the plan of kept data counts the correlations", {
  x <- matrix(sin(seq_len(50 * 20)^1.5), 50)
  plan <- plan_search(suff_gauss(x, keep = "data"), gaussCItest, 0.01, p = 20)
  expect_identical(plan$memory[["correlations"]], 8 * 400)
})

test_that("bounds and times of any size are shown", {
  expect_identical(pcgpu:::time_said(c(0.04, 119, 120, 7300, 1e6)), c("0.04 s", "120 s", "2 min", "2 h", "12 days"))
  expect_identical(pcgpu:::format_large(c(1, 12345, 1e20)), c("1", "12,345", "1e+20"))
})

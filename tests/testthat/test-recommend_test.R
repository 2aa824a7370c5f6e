curved_data <- function(n = 300) {
  set.seed(1)
  cause <- rnorm(n)
  data.frame(a = cause, b = cause^2 + rnorm(n) / 2, c = cause^2 + rnorm(n) / 2, d = rnorm(n))
}

test_that("curved numbers call for kernels, straight ones for partial correlations", {
  found <- recommend_test(curved_data())
  expect_identical(found$test, c("kciCItest", "gaussCItest", "rcotCItest", "cmiKnnCItest"))
  expect_identical(found$recommended, c(TRUE, FALSE, FALSE, FALSE))
  # Of many rows, the quick one.
  expect_identical(recommend_test(curved_data(600))$test[1], "rcotCItest")
  expect_false("kciCItest" %in% recommend_test(curved_data(2100))$test)
  expect_match(found$reason[1], "curved, such as a and [bc]")
  expect_true(all(is.na(found$seconds)))
  about <- attr(found, "about")
  expect_identical(
    about[c("samples", "variables", "numeric", "missing")],
    list(samples = 300L, variables = 4L, numeric = 4L, missing = 0)
  )
  expect_identical(about$curved$x[1], "a")
  expect_lt(about$curved$p[1], 1e-6)
  expect_false("d" %in% unlist(about$curved[c("x", "y")]))
  # A monotone curve is straight on the scale of normal scores.
  straight <- with(curved_data(), data.frame(a, b = exp(a + d), d))
  expect_identical(recommend_test(straight)$test[1], "gaussCItest")
  expect_identical(recommend_test(as.matrix(straight))$test[1], "gaussCItest")
  expect_match(recommend_test(curved_data(40))$reason[1], "too few rows")
})

test_that("straight data are called curved no more often than stated", {
  set.seed(2)
  curved <- replicate(200, {
    x <- matrix(rnorm(100 * 6), 100)
    x[, 2] <- x[, 1] + x[, 2]
    nrow(curved_pairs(x, 1:6)) > 0
  })
  # 0.01 each: more than 8 of 200 come about once in 2000 runs.
  expect_lte(sum(curved), 8L)
})

test_that("kinds and missing values decide", {
  both <- transform(curved_data(), b = cut(b, 3), c = NULL)
  expect_identical(recommend_test(both)$test, c("mixCItest", "kciCItest", "rcotCItest", "mixedCItest"))
  levels <- data.frame(a = gl(2, 50), b = gl(2, 1, 100))
  expect_identical(recommend_test(levels)$test, c("disCItest", "chi2CItest", "binCItest"))
  levels$b[3] <- NA
  expect_identical(recommend_test(levels)$test, "disCItwd")
  holes <- curved_data()
  holes$d[1:3] <- NA
  expect_identical(recommend_test(holes)$test, c("kciCItest", "gaussCItwd", "rcotCItest"))
  expect_match(recommend_test(holes)$reason[1], "omits the rows")
})

test_that("seconds are those of the plan, and the table prints", {
  found <- recommend_test(curved_data(), seconds = 1, numCores = 2)
  expect_true(all(found$seconds >= 0))
  printed <- capture.output(print(found))
  expect_match(printed[1], "300 samples.*4 variables.*4 of them numeric")
  expect_match(printed[2], "^\\* kciCItest +\\(about")
  columns <- found[c("test", "seconds")]
  expect_identical(capture.output(print(columns)), capture.output(print.data.frame(columns)))
})

test_that("many columns take no longer than few", {
  x <- matrix(rnorm(60 * 20000), 60)
  expect_lt(system.time(found <- curved_pairs(x, seq_len(20000)))[["elapsed"]], 1)
  expect_identical(nrow(found), 0L)
})

test_that("a search takes a test by its name, and its message names curves", {
  x <- curved_data()
  set.seed(3)
  named <- skeleton(x, "rcot", alpha = 0.01, labels = names(x))
  set.seed(3)
  given <- skeleton(x, rcotCItest, alpha = 0.01, labels = names(x))
  expect_identical(named@graph, given@graph)
  expect_identical(named@pMax, given@pMax)
  expect_message(
    pc(x, alpha = 0.01),
    "curved, such as a and [bc]: consider indepTest = \"kci\"",
    class = "pcgpu_message_data"
  )
  s <- suff_gauss(x)
  fit <- skeleton(s, "gauss", 0.01, labels = names(x))
  expect_identical(
    orient(fit, suffStat = s, indepTest = "gauss", alpha = 0.01, conservative = TRUE)@graph,
    orient(fit, suffStat = s, indepTest = gaussCItest, alpha = 0.01, conservative = TRUE)@graph
  )
  checked <- function(test) markov_check(pc(s, gaussCItest, 0.01, labels = names(x)), x, test, seed = 1)$questions
  expect_identical(checked("gauss"), checked(gaussCItest))
  of <- function(test) suppressMessages(stability(x, test, 0.01, replicates = 3, seed = 1))
  expect_identical(of("gauss")[c("counts", "test")], of(gaussCItest)[c("counts", "test")])
  expect_error(pc(x, "rcott", 0.01), "`indepTest` is \"rcott\".*gaussCItest", class = "pcgpu_error_argument")
  expect_error(recommend_test(1:3), "`data`", class = "pcgpu_error_argument")
  expect_error(recommend_test(x, seconds = -1), "`seconds`", class = "pcgpu_error_argument")
})

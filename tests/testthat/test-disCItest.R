p_of <- function(found, df = found$df) stats::pchisq(found$statistic, df, lower.tail = FALSE)

test_that("the p-value is that of the definition, for sets up to six", {
  sets <- list(NULL, 3, c(4, 7), c(3, 5, 8), c(3, 4, 5, 6), 3:7, 3:8)
  tested <- lower <- 0
  for (noise in c(0.02, 0.4)) {
    s <- simulate_codes(p = 9, n = 8000, levels = c(2, 2, 2, 3), noise = noise)
    for (S in sets) {
      found <- statistic_by_definition(1, 2, S, s, "G2")
      few <- found$n < 10 * found$df
      expect_equal(suppressWarnings(disCItest(1, 2, S, s)), if (few) 1 else p_of(found), tolerance = 1e-9)
      adapted <- s
      adapted$adaptDF <- TRUE
      df <- if (length(S)) max(1, found$df - found$zeros - 4 * (2^length(S) - found$domain)) else found$df
      expect_equal(suppressWarnings(disCItest(1, 2, S, adapted)), if (few) 1 else p_of(found, df), tolerance = 1e-9)
      tested <- tested + !few
      lower <- lower + (!few && df < found$df)
    }
  }
  expect_gt(tested, 10)
  expect_gt(lower, 2)
})

test_that("sets of five and more are conditioned on", {
  # y copies x where the sum of the six others is odd: dependent given any of them, and by far.
  set.seed(4)
  dm <- matrix(stats::rbinom(8 * 3000, 1, 0.5), ncol = 8)
  odd <- rowSums(dm[, 3:8]) %% 2 == 1
  dm[odd, 2] <- dm[odd, 1]
  s <- list(dm = dm, nlev = rep(2, 8), adaptDF = FALSE)
  for (S in list(3:7, 3:8)) {
    found <- statistic_by_definition(1, 2, S, s, "G2")
    expect_equal(disCItest(1, 2, S, s), p_of(found), tolerance = 1e-9)
    expect_lt(disCItest(1, 2, S, s), 1e-20)
    expect_equal(binCItest(1, 2, S, s), p_of(found), tolerance = 1e-9)
  }
  skip_without_pcalg()
  # What pcalg's disCItest() says of the same; its binCItest() has it right.
  expect_identical(pcalg::disCItest(1, 2, 3:7, s), 1)
  expect_equal(binCItest(1, 2, 3:7, s), pcalg::binCItest(1, 2, 3:7, s), tolerance = 1e-9)
  expect_equal(binCItest(1, 2, 3:8, s), pcalg::binCItest(1, 2, 3:8, s), tolerance = 1e-9)
})

test_that("single tests are pcalg's on every recorded case", {
  for (name in c(golden_names("dis"), golden_names("bin"))) {
    golden <- read_golden(name)
    s <- golden_discrete(golden)
    test <- if (golden$kind == "dis") disCItest else binCItest
    p <- vapply(
      golden$single_tests,
      function(single) {
        suppressWarnings(test(single$x, single$y, numbers(single$S), s), classes = "pcgpu_warning_too_few")
      },
      0
    )
    want <- vapply(golden$single_tests, function(single) as.double(single$p), 0)
    expect_length(p, 60)
    expect_lte(max(abs(p - want) / pmax(want, 1e-290)), 1e-9, label = paste("relative error in", name))
  }
})

test_that("values are pcalg's, warning included", {
  skip_without_pcalg()
  s <- simulate_codes(p = 6, n = 200)
  for (S in list(NULL, 3, c(4, 5), c(3, 4, 5))) {
    ours <- theirs <- NULL
    p <- withCallingHandlers(disCItest(1, 2, S, s), warning = function(w) {
      ours <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
    q <- withCallingHandlers(pcalg::disCItest(1, 2, S, s), warning = function(w) {
      theirs <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
    expect_equal(p, q, tolerance = 1e-9)
    expect_identical(ours, theirs)
  }
  expect_false(is.null(ours))
})

test_that("too few observations give 1 and a warning", {
  s <- simulate_codes(p = 5, n = 30, levels = 3)
  expect_warning(
    p <- disCItest(1, 2, 3, s),
    "n=30 is too small (n < n.min = 120 )",
    fixed = TRUE,
    class = "pcgpu_warning_too_few"
  )
  expect_identical(p, 1)
})

test_that("logicals, doubles, data frames and counted levels are read alike", {
  s <- simulate_codes(p = 4, n = 400, levels = 2)
  want <- disCItest(1, 2, 3, s)
  expect_identical(disCItest(1, 2, 3, list(dm = s$dm)), want)
  expect_identical(disCItest(1, 2, 3, list(dm = s$dm + 0, nlev = s$nlev + 0)), want)
  expect_identical(disCItest(1, 2, 3, list(dm = s$dm == 1, adaptDF = FALSE)), want)
  expect_identical(disCItest(1, 2, 3, list(dm = as.data.frame(s$dm))), want)
  expect_identical(disCItest("v1", "v2", "v3", s), want)
  expect_identical(binCItest(1, 2, 3, s), want)
})

test_that("a declared level that does not occur counts in the degrees of freedom", {
  s <- simulate_codes(p = 3, n = 2000, levels = 2)
  wide <- s
  wide$nlev <- c(4, 2, 3)
  found <- statistic_by_definition(1, 2, 3, wide, "G2")
  expect_identical(found$df, 9)
  expect_equal(disCItest(1, 2, 3, wide), p_of(found), tolerance = 1e-9)
})

test_that("variables must be there", {
  s <- simulate_codes(p = 4, n = 100)
  expect_error(disCItest(1, 9, NULL, s), "from 1 to 4", class = "pcgpu_error_argument")
  expect_error(disCItest("v1", "no", NULL, s), class = "pcgpu_error_argument")
  expect_error(chi2CItest(1, 2, 0, s), class = "pcgpu_error_argument")
  expect_error(binCItest(1, 2, NULL, list(dm = s$dm * 3)), "'dm' must be binary", class = "pcgpu_error_argument")
})

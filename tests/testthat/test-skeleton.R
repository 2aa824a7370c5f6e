test_that("the skeleton, separating sets, counts and pMax are pcalg's on every recorded Gaussian case", {
  for (case in with_threads(golden_names("gauss"))) {
    name <- case$name
    golden <- read_golden(name)
    arguments <- golden_arguments(golden)
    for (method in names(golden$skeleton)) {
      if (!is.null(golden$skeleton[[method]]$error)) {
        expect_error(do.call(skeleton, c(arguments, method = method)), class = "pcgpu_error_numeric", info = name)
        next
      }
      for (threads in case$threads) {
        fit <- suppressWarnings(
          do.call(skeleton, c(arguments, method = method, numCores = threads)),
          classes = "pcgpu_warning_no_answer"
        )
        expect_skeleton(fit, golden, method, paste(name, method, "on", threads, "threads"))
      }
    }
  }
})

test_that("the skeleton, separating sets, counts and pMax are pcalg's on every recorded discrete case", {
  for (case in with_threads(c(golden_names("dis"), golden_names("bin")))) {
    name <- case$name
    golden <- read_golden(name)
    arguments <- golden_arguments(golden)
    for (method in names(golden$skeleton)) {
      for (threads in case$threads) {
        fit <- suppressWarnings(
          do.call(skeleton, c(arguments, method = method, numCores = threads)),
          classes = "pcgpu_warning_too_few"
        )
        expect_skeleton(fit, golden, method, paste(name, method, "on", threads, "threads"))
      }
    }
  }
})

test_that("the skeletons of Pearson's test are bnlearn's, and the separating sets", {
  for (case in with_threads(golden_names("bnlearn"))) {
    name <- case$name
    golden <- read_golden(name)
    s <- golden_discrete(golden)
    for (recorded in golden$skeleton) {
      if (recorded$test != "x2") {
        next
      }
      for (threads in case$threads) {
        fit <- skeleton(s, chi2CItest, recorded$alpha, p = golden$p, numCores = threads)
        info <- paste(name, recorded$alpha, "on", threads, "threads")
        expect_identical(amat(fit), pairs_of(recorded$edges, golden$p) + 0, info = info)
        sets <- lapply(recorded$sepset, function(entry) {
          ours <- fit@sepset[[entry$x]][[entry$y]]
          if (is.null(ours)) fit@sepset[[entry$y]][[entry$x]] else ours
        })
        expect_identical(sets, lapply(recorded$sepset, function(entry) as.integer(numbers(entry$S))), info = info)
      }
    }
  }
})

test_that("the native discrete tests and the same tests as R functions agree", {
  s <- simulate_codes(p = 7, n = 1500)
  for (test in list(disCItest, chi2CItest)) {
    for (method in c("stable", "stable.fast", "original")) {
      native <- skeleton(s, test, 0.05, p = 7, method = method)
      as_function <- skeleton(s, function(x, y, S, suffStat) test(x, y, S, suffStat), 0.05, p = 7, method = method)
      expect_identical(as_function@graph, native@graph, info = method)
      expect_identical(as_function@sepset, native@sepset, info = method)
      expect_identical(as_function@n.edgetests, native@n.edgetests, info = method)
      expect_equal(as_function@pMax, native@pMax, tolerance = 1e-9, info = method)
    }
  }
})

test_that("too few samples give one warning, with the number of edges removed for this reason", {
  golden <- read_golden("dis-p10-n200-smallsample")
  messages <- list()
  s <- golden_discrete(golden)
  fit <- withCallingHandlers(skeleton(s, disCItest, golden$alpha, p = 10), pcgpu_warning_too_few = function(w) {
    messages[[length(messages) + 1L]] <<- w
    invokeRestart("muffleWarning")
  })
  expect_length(messages, 1)
  fell <- 0
  for (x in 1:10) {
    for (y in seq_len(10)) {
      S <- fit@sepset[[x]][[y]]
      if (!is.null(S)) fell <- fell + (200 < 10 * (s$nlev[x] - 1) * (s$nlev[y] - 1) * prod(s$nlev[S]))
    }
  }
  expect_gt(fell, 0)
  expect_equal(messages[[1]]$count, fell)
  expect_match(conditionMessage(messages[[1]]), paste0("^", fell, " edges .*n = 200"))
  expect_identical(as.list(conditionCall(messages[[1]]))[[1]], quote(skeleton))
})

test_that("missing values are left out test by test", {
  s <- simulate_codes(p = 6, n = 900, noise = 0.3)
  s$dm[sample(length(s$dm), 200)] <- NA
  expect_error(skeleton(s, disCItest, 0.01, p = 6), "missing values in columns", class = "pcgpu_error_argument")
  s$na <- "pairwise"
  native <- skeleton(s, chi2CItest, 0.01, p = 6)
  by_hand <- reference_skeleton(
    function(x, y, S) {
      found <- statistic_by_definition(x, y, S, s, "X2")
      stats::pchisq(found$statistic, found$df, lower.tail = FALSE)
    },
    6,
    0.01
  )
  expect_identical(amat(native) > 0, by_hand$adjacent)
  expect_equal(native@pMax, by_hand$pMax, tolerance = 1e-9)
})

test_that("an oracle written in R gives pcalg's skeleton, tests in pcalg's order and number", {
  for (case in with_threads(golden_names("dsep"))) {
    name <- case$name
    golden <- read_golden(name)
    for (method in names(golden$skeleton)) {
      for (threads in case$threads) {
        fit <- do.call(skeleton, c(golden_arguments(golden), method = method, numCores = threads))
        expect_skeleton(fit, golden, method, paste(name, method))
      }
    }
  }
})

test_that("the native test and the same test as an R function agree, with one call per counted test", {
  s <- suff(p = 10, n = 100, degree = 4)
  for (method in c("stable", "stable.fast", "original")) {
    calls <- 0
    counted <- function(x, y, S, suffStat) {
      calls <<- calls + 1
      gaussCItest(x, y, S, suffStat)
    }
    native <- skeleton(s, gaussCItest, 0.05, p = 10, method = method)
    as_function <- skeleton(s, counted, 0.05, p = 10, method = method)
    expect_equal(calls, sum(native@n.edgetests), info = method)
    expect_identical(as_function@graph, native@graph, info = method)
    expect_identical(as_function@sepset, native@sepset, info = method)
    expect_equal(as_function@pMax, native@pMax, tolerance = 1e-9, info = method)
  }
})

test_that("permuted columns give the permuted skeleton", {
  s <- suff(p = 20, n = 150, degree = 3)
  set.seed(3)
  order <- sample(20)
  shuffled <- list(C = s$C[order, order], n = s$n)
  plain <- amat(skeleton(s, gaussCItest, 0.05, p = 20))
  expect_identical(amat(skeleton(shuffled, gaussCItest, 0.05, p = 20)), plain[order, order])
  expect_gt(sum(plain), 0)
})

test_that("the result has pcalg's slots, and the user's call", {
  s <- suff()
  fit <- skeleton(s, gaussCItest, alpha = 0.05, p = 8, m.max = 1)
  expect_true(validObject(fit))
  expect_identical(
    sort(slotNames(fit)),
    sort(c("graph", "zMin", "call", "n", "max.ord", "n.edgetests", "sepset", "pMax"))
  )
  expect_equal(
    ignore_attr = TRUE,
    fit@call,
    quote(skeleton(suffStat = s, indepTest = gaussCItest, alpha = 0.05, p = 8, m.max = 1))
  )
  expect_identical(fit@n, integer(0))
  expect_identical(fit@zMin, matrix(NA, 1, 1))
  expect_identical(fit@max.ord, 1L)
  expect_identical(graph::nodes(fit@graph), as.character(1:8))
})

test_that("a negative m.max makes no test, as in pcalg's R code", {
  fit <- skeleton(suff(), gaussCItest, alpha = 0.05, p = 8, m.max = -1)
  expect_identical(fit@max.ord, -1L)
  expect_equal(fit@n.edgetests, 0)
  expect_equal(sum(amat(fit)), 56)
})

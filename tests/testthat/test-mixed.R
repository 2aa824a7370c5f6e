# p-values are those of micd 1.1.1 with Rfast 2.1.5.1; the core's tests (mixed_golden.rs) hold 28 recorded data sets.

some_data <- function() {
  set.seed(11)
  n <- 300
  x <- data.frame(a = rnorm(n), f = factor(sample(c("u", "v", "w"), n, TRUE), levels = c("u", "v", "w", "never")))
  x$b <- x$a + (x$f == "u") + rnorm(n)
  x$g <- x$b + rnorm(n) > 0
  x$c <- rnorm(n)
  x$h <- ifelse(runif(n) < 0.7, as.character(x$f), "w")
  x
}

with_holes <- function(x, share = 0.05) {
  set.seed(12)
  for (j in seq_along(x)[-1L]) {
    x[[j]][sample(nrow(x), share * nrow(x))] <- NA
  }
  x
}

completed <- function(x, m = 3L) {
  set.seed(13)
  fill <- function(column) {
    holes <- is.na(column)
    column[holes] <- sample(column[!holes], sum(holes), TRUE)
    column
  }
  lapply(seq_len(m), function(i) {
    x[] <- lapply(x, fill)
    x
  })
}

# Computes the formula, by lm() and so on: x is a number, y has levels, S is a number.
by_hand <- function(x, y, s) {
  normal <- function(z, sigma) -nrow(z) / 2 * (ncol(z) * log(2 * pi) + log(det(sigma)) + ncol(z))
  ml <- function(z) stats::cov(z) * (nrow(z) - 1) / nrow(z)
  L <- function(numbers, by) {
    if (is.null(by)) {
      return(normal(numbers, ml(numbers)))
    }
    sum(vapply(
      split.data.frame(numbers, by, drop = TRUE),
      function(z) nrow(z) * log(nrow(z) / nrow(numbers)) + normal(z, ml(z)),
      0
    ))
  }
  xs <- cbind(x, s)
  ratio <- 2 * (L(xs, y) - L(cbind(s), y) - L(xs, NULL) + L(cbind(s), NULL))
  parameters <- function(k, f) f * (k * (k + 1) / 2 + k) + f
  f <- nlevels(y)
  pchisq(ratio, parameters(2, f) - parameters(1, f) - parameters(2, 1) + parameters(1, 1), lower.tail = FALSE)
}

test_that("mixCItest is the likelihood ratio of its help", {
  x <- some_data()
  expect_equal(mixCItest("c", "f", "a", x), by_hand(x$c, x$f, x$a), tolerance = 1e-9)
  expect_equal(mixCItest("b", "f", "a", x), by_hand(x$b, x$f, x$a), tolerance = 1e-9)
  # Numbers alone, levels alone.
  expect_equal(mixCItest(1, 5, 3, x), gaussCItest(1, 3, 2, list(C = cor(x[c(1, 3, 5)]), n = 300)), tolerance = 1e-9)
  suff <- list(
    dm = data.matrix(data.frame(f = droplevels(x$f), g = x$g, h = factor(x$h))) -
      c(rep(1, 300), rep(0, 300), rep(1, 300)),
    adaptDF = TRUE
  )
  expect_equal(mixCItest("f", "g", "h", x), disCItest(1, 2, 3, suff), tolerance = 1e-9)
  expect_identical(mixCItest("f", "b", c("a", "g"), x), mixCItest("b", "f", c("a", "g"), x))
})

test_that("test-wise deletion is the test on the rows that are complete", {
  x <- with_holes(some_data())
  rows <- function(...) x[stats::complete.cases(x[c(...)]), ]
  expect_equal(mixCItwd("b", "f", "a", x), mixCItest("b", "f", "a", rows("a", "b", "f")), tolerance = 1e-12)
  z <- rows("a", "b", "c")
  expect_equal(
    gaussCItwd(1, 2, 3, x[c("a", "c", "b")]),
    gaussCItest(1, 2, 3, list(C = cor(z[c("a", "c", "b")]), n = nrow(z))),
    tolerance = 1e-12
  )
  z <- droplevels(rows("f", "g"))
  codes <- cbind(as.integer(z$f) - 1L, as.integer(z$g))
  expect_equal(disCItwd("f", "g", NULL, x[c("f", "g")]), disCItest(1, 2, NULL, list(dm = codes)), tolerance = 1e-12)
  # One row, or none, is left.
  y <- data.frame(a = c(1, NA, 3, NA), b = c(NA, 2, 3, NA))
  expect_identical(gaussCItwd(1, 2, NULL, y), NA_real_)
  expect_identical(mixCItwd(1, 2, NULL, y), NA_real_)
})

gaussian_partial <- function(C) {
  P <- solve(C)
  -P[1, 3] / sqrt(P[1, 1] * P[3, 3])
}

test_that("pooled tests follow Rubin's rules", {
  sets <- completed(with_holes(some_data()), 4L)
  numbers <- lapply(sets, `[`, c("a", "b", "c"))
  z <- vapply(numbers, function(d) atanh(gaussian_partial(cor(d))), 0)
  W <- 1 / (300 - 1 - 3)
  B <- stats::var(z)
  df <- 3 * (1 + W / B * 4 / 5)^2
  wanted <- 2 * pt(-abs(mean(z)) / sqrt(W + 1.25 * B), df)
  expect_equal(gaussMItest("a", "c", "b", numbers), wanted, tolerance = 1e-9)
  expect_equal(mixMItest("a", "c", "b", sets), wanted, tolerance = 1e-9)
  # As micd's getSuff() has it.
  known <- c(lapply(numbers, cor), 300)
  expect_equal(gaussMItest("a", "c", "b", known), wanted, tolerance = 1e-9)
  expect_true(mixMItest("b", "f", "a", sets) < 1e-4 && mixMItest("c", "f", "a", sets) > 0.01)
  expect_true(disMItest("f", "h", NULL, lapply(sets, `[`, c("f", "h"))) < 1e-10)
})

test_that("searches of data frames choose the test, and use the answers of its function", {
  x <- some_data()
  y <- with_holes(x)
  sets <- completed(y)
  cases <- list(
    list(x, "error", mixCItest, "3 numeric and 3 discrete: using mixCItest"),
    list(y, "testwise", mixCItwd, "mixCItwd"),
    list(y[c("a", "b", "c")], "testwise", gaussCItwd, "gaussCItwd"),
    list(y[c("f", "g", "h")], "testwise", disCItwd, "disCItwd"),
    list(sets, "error", mixMItest, "3 completed data sets"),
    list(lapply(sets, `[`, c("a", "b", "c")), "error", gaussMItest, "gaussMItest"),
    list(lapply(sets, `[`, c("f", "g", "h")), "error", disMItest, "disMItest")
  )
  for (case in cases) {
    expect_message(
      found <- pc(case[[1]], alpha = 0.05, na = case[[2]], maj.rule = FALSE, numCores = 2),
      case[[4]],
      class = "pcgpu_message_data"
    )
    labels <- names(if (is.data.frame(case[[1]])) case[[1]] else case[[1]][[1]])
    expect_identical(graph::nodes(found@graph), labels)
    native <- pc(case[[1]], case[[3]], 0.05, labels = labels, numCores = 1)
    expect_identical_answer(found, native)
    as_function <- pc(case[[1]], function(x, y, S, suffStat) case[[3]](x, y, S, suffStat), 0.05, labels = labels)
    expect_identical(native@graph, as_function@graph)
    expect_identical(native@n.edgetests, as_function@n.edgetests)
    expect_equal(native@pMax, as_function@pMax, tolerance = 1e-9)
    expect_identical(native@sepset, as_function@sepset)
    expect_match(run_details(native)$test %||% "mix", ".")
  }
})

test_that("rules of colliders, methods, tiers and other processes work as for any test", {
  y <- with_holes(some_data())
  f <- function(...) pc(y, mixCItwd, 0.05, numCores = 2, ...)
  g <- function(...) pc(y, function(x, y, S, suffStat) mixCItwd(x, y, S, suffStat), 0.05, ...)
  for (more in list(
    list(maj.rule = TRUE),
    list(conservative = TRUE),
    list(skel.method = "original"),
    list(tiers = c(1, 1, 2, 3, 2, 1))
  )) {
    expect_identical(do.call(f, more)@graph, do.call(g, more)@graph)
  }
  skip_on_cran()
  expect_identical_answer(suppressMessages(pc(y, mixCItwd, 0.05, cluster = 2)), f())
})

test_that("numbers that are constant within levels lose no edge", {
  set.seed(2)
  g <- rep(c("untreated", "treated"), each = 200)
  v <- sample(-20:20, 200, TRUE)
  for (shift in c(0, 0.37, 100)) {
    d <- data.frame(dose = c(rep(0, 200), v) + shift, g = factor(g))
    d$y <- d$dose / 2 + rnorm(400)
    d$z <- rnorm(400)
    expect_lt(mixCItest("dose", "y", "g", d), 1e-100)
    expect_gt(mixCItest("dose", "z", "g", d), 1e-4)
    expect_lt(mixCItest("dose", "g", NULL, d), 1e-100)
    moved <- d
    moved$y[3] <- moved$y[3] + 0.1
    expect_lt(mixMItest("dose", "y", "g", list(d, moved)), 1e-100)
  }
})

test_that("functions give the answers of searches, also if numbers determine one another", {
  set.seed(1)
  n <- 5000
  x <- data.frame(a = rnorm(n), b = rnorm(n))
  x$c <- x$a + x$b
  x <- transform(x, e = a - 3 * b, y = a + rnorm(n), z = c + rnorm(n))
  wanted <- skeleton(suff_gauss(x), gaussCItest, 0.01)
  holes <- x
  holes$y[7] <- NA
  for (case in list(list(x, mixCItest), list(holes, gaussCItwd), list(list(x, x), gaussMItest))) {
    native <- skeleton(case[[1]], case[[2]], 0.01, labels = names(x))
    asked <- skeleton(case[[1]], function(x, y, S, suffStat) case[[2]](x, y, S, suffStat), 0.01, labels = names(x))
    expect_identical(native@graph, asked@graph)
    expect_identical(native@n.edgetests, asked@n.edgetests)
    expect_identical(native@n.edgetests, wanted@n.edgetests)
  }
})

test_that("variables that S determines are left out", {
  x <- some_data()
  x$copy <- 2 * x$a
  expect_equal(mixCItest("c", "f", c("a", "copy"), x), mixCItest("c", "f", "a", x), tolerance = 1e-9)
  expect_identical(mixCItest("f", "copy", "a", x), 1)
  expect_identical(mixCItest("copy", "a", "f", x), 0)
  x$one <- 1
  expect_identical(mixCItest("one", "f", NULL, x), 1)
  expect_equal(mixCItest("c", "f", c("a", "one"), x), mixCItest("c", "f", "a", x), tolerance = 1e-9)
})

test_that("sizes of numbers do not matter", {
  x <- some_data()
  wanted <- pc(x, mixCItest, 0.05)
  for (scale in c(1e-200, 1e200)) {
    y <- x
    for (j in c("a", "b", "c")) {
      y[[j]] <- y[[j]] * scale
    }
    expect_equal(pc(y, mixCItest, 0.05)@pMax, wanted@pMax, tolerance = 1e-6)
  }
  y <- transform(x, a = a + 1e9, b = b + 1e9)
  expect_equal(pc(y, mixCItest, 0.05)@pMax, wanted@pMax, tolerance = 1e-4)
})

test_that("arguments that do not fit are refused by name", {
  x <- some_data()
  y <- with_holes(x)
  bad <- function(expr, message, argument = "suffStat") {
    e <- expect_error(expr, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    expect_match(conditionMessage(e), message, fixed = TRUE)
  }
  bad(pc(y, alpha = 0.05), "na = \"testwise\"")
  bad(pc(y, mixCItest, 0.05), "missing values in columns")
  bad(pc(y, gaussCItwd, 0.05), "columns that are not numeric (f, g, h)")
  bad(pc(lapply(1:2, function(i) y), alpha = 0.05), "still have missing values in columns")
  bad(pc(list(x), alpha = 0.05), "at least two completed data sets")
  bad(pc(list(x, x[-1, ]), alpha = 0.05), "different shapes")
  bad(pc(list(x, x), gaussMItest, 0.05), "not numeric")
  bad(pc(list(x, transform(x, a = as.character(a))), alpha = 0.05), "differ in the class of column \"a\"")
  bad(pc(list(x, x), alpha = 0.05, na = "testwise"), "leave it out", "na")
  C <- cov(x[c("a", "b", "c")])
  bad(gaussMItest(1, 2, NULL, list(5 * C, C, 100)), "cov2cor", "suffStat$C")
  bad(pc(list(cor(x$a, x$b) + diag(2), diag(2), 100), gaussMItest, 0.05), "diagonal", "suffStat$C")
  bad(pc(transform(x, a = Inf), alpha = 0.05), "infinite values in column \"a\"")
  bad(pc(x, mixCItest, 0.05, na = "testwise"), "leave out `indepTest`", "na")
  bad(pc(x, alpha = 0.05, na = "pairwise"), "testwise", "na")
  bad(mixCItest(1, 1, NULL, x), "different variables", "y")
  bad(mixCItest(1, 9, NULL, x), "name of one variable", "y")
  bad(mixCItest(1.5, 2, NULL, x), "the name of one variable, or a number from 1 to", "x")
  bad(
    disCItwd(1, 2, NULL, x[c("a", "f")]),
    "which are not levels, in column \"a\": use gaussCItwd or mixCItwd",
    "suffStat"
  )
  bad(disMItest(1, 2, NULL, completed(with_holes(x[c("b", "f")]))), "use gaussMItest or mixMItest", "suffStat")
  bad(mixCItest(1, 2, NULL, x["a"]), "needs a data frame")
  z <- x
  z$list <- as.list(seq_len(300))
  bad(pc(z, mixCItest, 0.05), "not numbers, factors, logicals or text, list (list)")
  skip_if_not_installed("mice")
  y$h <- factor(y$h)
  imputed <- suppressWarnings(mice::mice(y, m = 2, maxit = 1, printFlag = FALSE, seed = 1, method = "sample"))
  expect_message(fit <- pc(imputed, alpha = 0.05), "2 completed data sets", class = "pcgpu_message_data")
  expect_identical(graph::nodes(fit@graph), names(y))
})

test_that("a GPU has the CPU's answer to the last bit", {
  skip_without_gpu()
  x <- some_data()
  calls <- list(
    both = list(x),
    testwise = list(with_holes(x), na = "testwise"),
    completed = list(completed(with_holes(x))),
    numbers = list(with_holes(x[c("a", "b", "c")]), na = "testwise"),
    levels = list(with_holes(x[c("f", "g", "h")]), na = "testwise"),
    tiers = list(x, tiers = c(1, 1, 2, 2, 3, 3))
  )
  for (name in names(calls)) {
    run <- function(device, f = pc) suppressMessages(do.call(f, c(calls[[name]], alpha = 0.05, device = list(device))))
    wanted <- run("cpu")
    for (device in list("cuda", c("cpu", "cuda"), cuda_device(memory = "200 kB"))) {
      found <- run(device)
      info <- paste(name, pcgpu:::device_name(pcgpu:::check_device(device)))
      expect_identical(found@graph, wanted@graph, info = info)
      expect_identical(found@sepset, wanted@sepset, info = info)
      expect_identical(found@pMax, wanted@pMax, info = info)
      expect_identical(run_details(found)$device, c(if ("cpu" %in% device) "cpu", "cuda:0"), info = info)
    }
  }
  # Cells came from the GPU.
  expect_gt(sum(run_details(suppressMessages(pc(x, alpha = 0.05, device = "cuda")))$levels$bytes_from), 1000)
  one <- function(device) suppressMessages(stability(x, alpha = 0.05, replicates = 5, device = device))$edges
  expect_identical(one("cuda"), one("cpu"))
  expect_identical(
    suppressMessages(stability(x, alpha = 0.05, replicates = 2, device = c("cpu", "cuda")))$device,
    c("cpu", "cuda:0")
  )
  expect_error(
    suppressMessages(pc(completed(with_holes(x[c("a", "b", "c")])), alpha = 0.05, device = "cuda")),
    "tests of imputed numeric data",
    class = "pcgpu_error_argument"
  )
  expect_error(
    suppressMessages(pc(x, alpha = 0.05, device = cuda_device(strategy = "edge"))),
    "`strategy`",
    class = "pcgpu_error_argument"
  )
})

test_that("levels that never occur give a message", {
  x <- some_data()
  expect_message(pc(x, alpha = 0.05), "never occur.*\"f\".*droplevels", class = "pcgpu_message_data")
  expect_message(pc(with_holes(x), alpha = 0.05, na = "testwise"), "never occur", class = "pcgpu_message_data")
  expect_no_match(capture_messages(pc(droplevels(x), alpha = 0.05)), "never occur")
})

test_that("edges that are removed for lack of rows are counted", {
  set.seed(3)
  x <- data.frame(matrix(rnorm(60 * 5), 60))
  x$X2 <- x$X1 + rnorm(60) / 4
  x$X3 <- NA_real_
  for (method in c("stable", "original", "stable.fast")) {
    for (result in c("pcAlgo", "compact")) {
      said <- expect_warning(
        suppressMessages(pc(x, alpha = 0.01, na = "testwise", skel.method = method, result = result)),
        "^4 edges.*column 3.*0 of 60",
        class = "pcgpu_warning_too_few"
      )
      expect_identical(said$count, 4)
    }
  }
  # Three rows of X3 with X1, four with the others.
  x$X3[1:4] <- rnorm(4)
  x$X1[4] <- NA
  expect_warning(
    suppressMessages(pc(x, alpha = 0.01, na = "testwise", m.max = 0)),
    "^1 edge ",
    class = "pcgpu_warning_too_few"
  )
  x$X3 <- rnorm(60)
  expect_no_warning(suppressMessages(pc(x, alpha = 0.01, na = "testwise")))
  # Pairs that were not tested are not counted.
  few <- data.frame(a = c(1.5, 2, 3.1), b = factor(c("u", "v", "u")), c = c(3, 1, 2.5))
  expect_warning(suppressMessages(pc(few, alpha = 0.01)), "^3 edges.*n = 3\\)", class = "pcgpu_warning_too_few")
  gaps <- matrix(c(FALSE, TRUE, FALSE, TRUE, FALSE, FALSE, FALSE, FALSE, FALSE), 3)
  for (method in c("stable", "stable.fast")) {
    expect_warning(
      suppressMessages(pc(few, alpha = 0.01, fixedGaps = gaps, skel.method = method)),
      "^2 edges ",
      class = "pcgpu_warning_too_few"
    )
  }
})

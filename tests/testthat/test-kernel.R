# Kernel tests by random features: suff_kernel(), rcotCItest(), rcitCItest() and ritCItest().

rcot_by_r <- function(x, y, S, suffStat) rcotCItest(x, y, S, suffStat)

test_that("random numbers of the twin have the known answers of Philox", {
  word <- function(high, low) high * 65536 + low
  expect_identical(
    unlist(philox(0, 0, 0, 0, c(0, 0))),
    c(word(0x6627, 0xe8d5), word(0xe169, 0xc58d), word(0xbc57, 0xac4c), word(0x9b00, 0xdbd8))
  )
  expect_identical(
    unlist(philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, c(0xa4093822, 0x299f31d0))),
    c(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1)
  )
})

test_that("p-values are those of the definition in R", {
  compared <- strict <- 0
  for (case in list(
    list(n = 60, features = c(5, 40), seed = 0, holes = 0),
    list(n = 60, features = c(3, 17), seed = 12345, holes = 9),
    list(n = 130, features = c(5, 40), seed = 7, holes = 30),
    list(n = 180, features = c(8, 4), seed = 99, holes = 20),
    list(n = 200, features = c(5, 6), seed = 1, holes = 0),
    list(n = 257, features = c(3, 17), seed = 2147483647, holes = 0),
    list(n = 300, features = c(1, 3), seed = 4, holes = 150),
    list(n = 300, features = c(5, 40), seed = 5, holes = 40)
  )) {
    suff <- quietly(suff_kernel(simulate_kinds(case$n, case$seed, case$holes), case$features, case$seed))
    for (question in kernel_questions) {
      for (form in c("rcot", "rcit")) {
        test <- if (form == "rcot") rcotCItest else rcitCItest
        p <- do.call(test, c(question, list(suff)))
        at <- lapply(question, match, names(suff$data))
        wanted <- twin_kernel(at[[1]], at[[2]], at[[3]], suff, form)
        expect_same_p(p, wanted, toString(c(form, case, unlist(question))))
        compared <- compared + 1
        strict <- strict + (attr(wanted, "tolerance") == 1e-9)
      }
    }
  }
  expect_identical(compared, 208)
  # Tolerances do not hide a wrong definition.
  expect_gt(strict, 110)
})

test_that("p-values of more rows than distances are taken of are those of the definition", {
  set.seed(1)
  z <- rnorm(5000)
  suff <- suff_kernel(cbind(z^2 + rnorm(5000) * 9, cos(z) + rnorm(5000), z), features = c(2, 5), seed = 3)
  for (S in list(NULL, 3)) {
    expect_same_p(rcotCItest(1, 2, S, suff), twin_kernel(1, 2, S, suff))
  }
})

test_that("p-values of degenerate data are those of the definition", {
  set.seed(2)
  n <- 40
  data <- data.frame(
    a = rnorm(n),
    constant = 1.1,
    copy = 0,
    level = factor("only"),
    each = factor(seq_len(n)),
    rare = c(TRUE, rep(FALSE, n - 1)),
    spike = c(rep(0, n - 1), 1e9),
    few = c(rnorm(12), rep(NA, n - 12)),
    b = rnorm(n)
  )
  data$copy <- data$a
  suff <- quietly(suppressWarnings(suff_kernel(data, features = c(4, 20), seed = 8)))
  for (x in 1:8) {
    for (S in list(NULL, 1, 5, 7, 8, c(4, 6), c(3, 2, 8))) {
      if (!x %in% S) {
        info <- toString(c(x, "|", S))
        expect_same_p(rcotCItest(x, 9, S, suff), twin_kernel(x, 9, S, suff), info)
        expect_same_p(rcitCItest(x, 9, S, suff), twin_kernel(x, 9, S, suff, "rcit"), info)
      }
    }
  }
})

test_that("without S the three tests are one", {
  suff <- quietly(suff_kernel(simulate_kinds(100, 3, 10), seed = 2))
  for (y in 2:10) {
    p <- rcotCItest(1, y, NULL, suff)
    expect_identical(rcitCItest(1, y, NULL, suff), p)
    expect_identical(ritCItest(1, y, NULL, suff), p)
    expect_identical(rcotCItest(1, y, integer(), suff), p)
  }
})

test_that("p does not depend on the order of x and y, of S, or of the rows, nor on names", {
  for (holes in c(0, 25)) {
    suff <- quietly(suff_kernel(simulate_kinds(150, 4, holes), seed = 6))
    mixed <- suff
    mixed$data <- suff$data[sample(150), ]
    for (question in kernel_questions) {
      x <- question[[1]]
      y <- question[[2]]
      S <- question[[3]]
      for (test in list(rcotCItest, rcitCItest)) {
        p <- test(x, y, S, suff)
        expect_identical(test(y, x, S, suff), p)
        expect_identical(test(x, y, rev(S), suff), p)
        expect_identical(
          test(match(x, names(suff$data)), match(y, names(suff$data)), match(S, names(suff$data)), suff),
          p
        )
        at <- lapply(question, match, names(suff$data))
        wanted <- structure(p, tolerance = attr(twin_kernel(at[[1]], at[[2]], at[[3]], suff), "tolerance"))
        expect_same_p(test(x, y, S, mixed), wanted, toString(unlist(question)))
      }
    }
  }
  x <- simulate_kinds(150, 4, 0)
  renamed <- x
  renamed$three <- factor(x$three, labels = c("z", "a", "m"))
  p <- function(data) rcotCItest("x", "y", c("three", "z"), quietly(suff_kernel(data, seed = 1)))
  expect_identical(p(renamed), p(x))
})

test_that("numbers may have any unit and offset", {
  set.seed(3)
  x <- matrix(rnorm(600), 150)
  p <- function(x) rcotCItest(1, 2, 3:4, quietly(suff_kernel(x, c(5, 8), seed = 1)))
  for (unit in c(1e-300, 1e-8, 1e15, 1e300)) {
    expect_equal(p(x * unit), p(x), tolerance = 1e-7)
  }
  expect_equal(p(x + 1000), p(x), tolerance = 1e-6)
})

test_that("p is the same alone and in a search, for any number of threads", {
  for (holes in c(0, 25)) {
    suff <- quietly(suff_kernel(simulate_kinds(200, 5, holes), seed = 6))
    labels <- names(suff$data)
    for (test in list(rcotCItest, rcitCItest, kciCItest)) {
      fit <- skeleton(suff, test, 0.3, labels = labels, numCores = 1)
      two <- skeleton(suff, test, 0.3, labels = labels, numCores = 2)
      expect_identical(two@pMax, fit@pMax)
      expect_identical(two@sepset, fit@sepset)
      expect_identical(two@graph, fit@graph)
      sizes <- 0
      for (y in 2:length(labels)) {
        for (x in seq_len(y - 1)) {
          S <- fit@sepset[[x]][[y]]
          if (!is.null(S)) {
            expect_identical(fit@pMax[x, y], test(x, y, S, suff))
            expect_identical(p_value(fit, labels[x], labels[y]), test(y, x, S, suff))
            sizes <- c(sizes, length(S))
          }
        }
      }
      expect_gte(max(sizes), 1)
    }
  }
})

test_that("p depends on the seed, which R's random numbers give by default", {
  x <- simulate_nonlinear(100)
  p <- function(seed = NULL) rcotCItest(1, 2, 3, quietly(suff_kernel(x, seed = seed)))
  expect_identical(p(1), p(1))
  expect_identical(length(unique(vapply(0:19, p, 0))), 20L)
  set.seed(4)
  first <- p()
  expect_false(p() == first)
  set.seed(4)
  expect_identical(p(), first)
  before <- .Random.seed
  p(3)
  expect_identical(.Random.seed, before)
  # The features of one variable have nothing to do with those of another.
  twice <- quietly(suff_kernel(cbind(x[, 1], x[, 2], x[, 2]), seed = 1))
  expect_false(rcotCItest(1, 2, NULL, twice) == rcotCItest(1, 3, NULL, twice))
})

# Returns x and y that depend on k standard normal variables by `link`, and those variables.
simulate_linked <- function(n, k, link) {
  z <- matrix(rnorm(n * k), n)
  both <- if (k > 0) link(rowSums(z) / sqrt(k)) else 0
  cbind(both + 0.7 * rnorm(n), both + 0.7 * rnorm(n), z)
}

links <- list(linear = identity, square = function(v) v^2, sine = function(v) sin(2 * v))

test_that("the size is the nominal one", {
  # Bounds of 3.5 standard errors around 0.05.
  expect_size <- function(test, k, link, n = 300) {
    set.seed(5)
    p <- vapply(
      1:400,
      function(seed) {
        test(1, 2, seq_len(k) + 2, list(data = simulate_linked(n, k, link), features = c(5, 60), seed = seed))
      },
      0
    )
    expect_lt(abs(mean(p < 0.05) - 0.05), 3.5 * sqrt(0.05 * 0.95 / 400))
  }
  expect_size(rcotCItest, 0, links$linear)
  for (link in links) {
    expect_size(rcotCItest, 1, link)
    expect_size(rcotCItest, 2, link)
    expect_size(rcitCItest, 2, link)
  }
  # Without the factor c, the size would be about 0.2 with so many features for so few rows.
  expect_size(rcotCItest, 5, links$linear, n = 100)
  expect_size(rcitCItest, 5, links$linear, n = 100)
})

test_that("dependence that is not linear is found, and not by gaussCItest()", {
  set.seed(6)
  p <- vapply(
    1:100,
    function(seed) {
      x <- runif(300, -2, 2)
      z <- rnorm(300)
      data <- cbind(x, y = x^2 + z + rnorm(300), z)
      suff <- list(data = data, features = c(5, 60), seed = seed)
      normal <- suff_gauss(data)
      c(
        ritCItest(1, 2, NULL, suff),
        rcotCItest(1, 2, 3, suff),
        rcitCItest(1, 2, 3, suff),
        gaussCItest(1, 2, NULL, normal),
        gaussCItest(1, 2, 3, normal)
      )
    },
    numeric(5)
  )
  found <- rowMeans(p < 0.05)
  expect_gt(min(found[1:3]), 0.9)
  expect_lt(max(found[4:5]), 0.2)
})

test_that("suff_kernel() has defaults that depend on the rows, and reports if these are few", {
  m <- expect_message(s <- suff_kernel(matrix(rnorm(300), 100), seed = 1), class = "pcgpu_message_features")
  expect_identical(m$features, 20)
  expect_identical(s$features, c(5, 20))
  expect_identical(names(s), c("data", "features", "seed", "approximation"))
  expect_silent(s <- suff_kernel(matrix(rnorm(1500), 500), seed = 1))
  expect_identical(s$features, c(5, 100))
  expect_identical(quietly(suff_kernel(matrix(rnorm(30), 10), seed = 1))$features, c(5, 5))
  expect_silent(s <- suff_kernel(matrix(rnorm(30), 10), c(8L, 8L), seed = 1))
  expect_identical(s$features, c(8, 8))
  expect_message(
    suff_kernel(data.frame(a = rnorm(600), b = 1:3), seed = 1),
    "column \"b\"",
    class = "pcgpu_message_codes"
  )
})

test_that("invalid arguments of suff_kernel() are refused by name", {
  x <- matrix(rnorm(40), 20)
  refused <- function(argument, ...) {
    e <- expect_error(suff_kernel(...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused("data", 1:20)
  refused("data", x[1:9, ])
  refused("data", x[, 1, drop = FALSE])
  refused("data", list(x))
  refused("data", data.frame(a = 1:20, b = I(as.list(1:20))))
  refused("data", replace(x, 3, Inf))
  for (features in list(5, c(0, 5), c(9, 5), c(5, 0), c(5, 19), c(2.5, 5), c(5, NA), c(5, Inf), "a", 1:3, list(5, 5))) {
    refused("features", x, features)
  }
  expect_identical(suff_kernel(x, c(8, 18), seed = 1)$features, c(8, 18))
  for (seed in list(-1, 2^31, 0.5, NA, "a", 1:2)) {
    refused("seed", x, c(5, 5), seed)
  }
})

test_that("invalid arguments of the tests are refused by name", {
  s <- suff_kernel(matrix(rnorm(2400), 600), seed = 1)
  refused <- function(argument, test, x, y, S, suffStat = s) {
    e <- expect_error(test(x, y, S, suffStat), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    e
  }
  for (test in list(rcotCItest, rcitCItest, ritCItest)) {
    refused("y", test, 1, 1, NULL)
    refused("x", test, 0, 1, NULL)
    refused("x", test, "a", 1, NULL)
    refused("x", test, 1:2, 3, NULL)
    refused("y", test, 1, 5, NULL)
    refused("S", test, 1, 2, 2)
    refused("S", test, 1, 2, 5)
    refused("S", test, 1, 2, NA)
    refused("S", test, 1, 2, 2.5)
    for (other in list(NULL, 1:3, s$data, list(C = diag(4), n = 600), suff_gauss(s$data))) {
      refused("suffStat", test, 1, 2, NULL, other)
    }
    refused("suffStat$features", test, 1, 2, NULL, suff_knn(s$data, seed = 1))
    refused("suffStat$features", test, 1, 2, NULL, replace(s, "features", list(c(5, 599))))
    refused("suffStat$seed", test, 1, 2, NULL, s[c("data", "features")])
    refused("suffStat$data", test, 1, 2, NULL, replace(s, "data", list(replace(s$data, 2, -Inf))))
  }
  expect_match(conditionMessage(refused("S", ritCItest, 1, 2, 3)), "rcotCItest")
})

test_that("searches refuse the statistic of another test, other labels, and ritCItest with sets", {
  s <- suff_kernel(matrix(rnorm(1800), 600, dimnames = list(NULL, c("a", "b", "c"))), seed = 1)
  refused <- function(argument, search, ...) {
    e <- expect_error(search(..., alpha = 0.05), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    e
  }
  refused("suffStat", skeleton, list(C = diag(3), n = 600), rcotCItest, p = 3)
  refused("suffStat", skeleton, list(dm = s$data), rcotCItest, p = 3)
  refused("suffStat$features", skeleton, suff_knn(s$data, seed = 1), rcotCItest, p = 3)
  refused("suffStat", skeleton, s, gaussCItest, p = 3)
  refused("suffStat$discrete", skeleton, s, cmiKnnCItest, p = 3)
  refused("suffStat$data", skeleton, s, rcotCItest, p = 4)
  refused("labels", skeleton, s, rcotCItest, labels = c("a", "c", "b"))
  for (search in list(skeleton, pc, fci, rfci, fciPlus)) {
    expect_match(conditionMessage(refused("m.max", search, s, ritCItest, p = 3)), "m.max = 0", fixed = TRUE)
  }
  refused("m.max", skeleton, s, ritCItest, p = 3, m.max = 1)
  refused("m.max", stability, s$data, ritCItest, replicates = 2)
  for (search in list(skeleton, pc)) {
    fit <- search(s, ritCItest, 0.05, p = 3, m.max = 0)
    expect_identical(fit@pMax[1, 3], ritCItest(1, 3, NULL, s))
  }
})

test_that("a GPU runs random features, and KCI is refused by name", {
  s <- suff_kernel(matrix(rnorm(1800), 600), seed = 1)
  for (search in list(skeleton, pc, fci)) {
    for (device in list("cuda", "cuda:0", cuda_device())) {
      e <- expect_error(search(s, kciCItest, 0.05, p = 3, device = device), class = "pcgpu_error_argument")
      expect_identical(e$argument, "device")
      expect_match(conditionMessage(e), "kciCItest() runs on the CPU only", fixed = TRUE)
    }
  }
  expect_identical(run_details(skeleton(s, rcotCItest, 0.05, p = 3))$device, "cpu")
  skip_without_gpu()
  for (test in list(rcotCItest, rcitCItest)) {
    one <- skeleton(s, test, 0.05, p = 3, device = "cuda")
    expect_identical(run_details(one)$device, "cuda:0")
    expect_identical(one@pMax, skeleton(s, test, 0.05, p = 3, device = "cpu")@pMax)
  }
})

test_that("constants are independent of everything, with a warning", {
  set.seed(7)
  x <- data.frame(a = rnorm(600), b = 1 / 3, c = rnorm(600), d = "same")
  w <- expect_warning(
    s <- suff_kernel(x[1:3], seed = 1),
    "column .*b|Constant in column 2",
    class = "pcgpu_warning_constant"
  )
  expect_s3_class(w, "pcgpu_warning")
  s <- suppressWarnings(suff_kernel(x, seed = 1))
  for (test in list(rcotCItest, rcitCItest)) {
    for (constant in c("b", "d")) {
      for (S in list(NULL, "c", setdiff(c("b", "c", "d"), constant))) {
        expect_identical(test("a", constant, S, s), 1)
      }
    }
    expect_identical(test("b", "d", "a", s), 1)
  }
  expect_equal(rcotCItest("a", "c", c("b", "d"), s), rcotCItest("a", "c", NULL, s), tolerance = 1e-6)
  flat <- suppressWarnings(suff_kernel(matrix(1, 600, 3), seed = 1))
  expect_identical(nrow(edges(skeleton(flat, rcotCItest, 0.05, p = 3))), 0L)
})

test_that("rows with a missing value are left out test by test, and a pair without rows has NA", {
  set.seed(8)
  x <- matrix(rnorm(2400), 600)
  x[1:300, 1] <- NA
  x[301:600, 2] <- NA
  s <- suff_kernel(x, seed = 1)
  for (test in list(rcotCItest, rcitCItest)) {
    expect_identical(test(1, 2, NULL, s), NA_real_)
    expect_identical(test(1, 2, 3:4, s), NA_real_)
    expect_identical(test(3, 4, 1:2, s), NA_real_)
    expect_true(is.finite(test(1, 3, 4, s)))
  }
  found <- function(...) {
    fit <- suppressWarnings(pc(s, rcotCItest, 0.01, p = 4, ...), classes = "pcgpu_warning_no_answer")
    as(fit@graph, "matrix")[1, 2]
  }
  expect_identical(found(), 0)
  expect_identical(found(NAdelete = FALSE), 1)
  # A test does not see the missing values of others.
  holes <- x
  holes[1:500, 4] <- NA
  whole <- replace(s, "data", list(x))
  expect_identical(rcotCItest(1, 3, NULL, replace(s, "data", list(holes))), rcotCItest(1, 3, NULL, whole))
})

test_that("skeleton() runs the test as it runs an R function", {
  x <- simulate_kinds(200, 9, 0)[1:8]
  for (data in list(x, replace(x, cbind(1:30, rep(c(1, 3, 6), 10)), NA))) {
    s <- quietly(suff_kernel(data, seed = 3))
    for (method in c("stable", "original", "stable.fast")) {
      run <- function(...) skeleton(s, ..., alpha = 0.05, labels = names(x), method = method)
      wanted <- run(rcot_by_r)
      expect_gt(wanted@max.ord, 1)
      expect_identical_answer(run(rcotCItest, numCores = 2), wanted, method)
    }
  }
})

test_that("all functions run the test as they run an R function, here and on a cluster", {
  # Rows with missing values leave nothing to share between tests.
  x <- simulate_kinds(200, 9, 0)[1:8]
  cluster <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(cluster))
  whole <- quietly(suff_kernel(x, seed = 3))
  wanted <- pc(whole, rcotCItest, 0.05, labels = names(x))
  expect_identical_answer(pc(whole, rcotCItest, 0.05, labels = names(x), cluster = cluster), wanted)

  s <- quietly(suff_kernel(replace(x, cbind(1:30, rep(c(1, 3, 6), 10)), NA), seed = 3))
  for (search in list(pc, fci, rfci, fciPlus)) {
    run <- function(...) search(s, ..., alpha = 0.05, labels = names(x))
    wanted <- run(rcot_by_r)
    expect_identical_answer(run(rcotCItest, numCores = 2), wanted)
    expect_identical_answer(run(rcotCItest, cluster = cluster), wanted)
  }
  ruled <- function(...) pc(s, ..., alpha = 0.05, labels = names(x), maj.rule = TRUE)
  expect_identical_answer(ruled(rcotCItest, numCores = 2), ruled(rcot_by_r))

  found <- function(...) stability(s, ..., alpha = 0.05, replicates = 3, seed = 4, labels = names(x))$counts
  wanted <- found(rcot_by_r)
  expect_gt(nrow(wanted), 3)
  expect_identical(found(rcotCItest, numCores = 2), wanted)
  expect_identical(found(rcotCItest, cluster = cluster), wanted)
  expect_identical(found(rcotCItest, how = "subsample"), found(rcot_by_r, how = "subsample"))
  kci_by_r <- function(x, y, S, suffStat) kciCItest(x, y, S, suffStat)
  expect_identical(found(kciCItest, cluster = cluster, m.max = 1), found(kci_by_r, m.max = 1))

  dag <- random_dag(8, 2, seed = 1, labels = names(x))
  checked <- function(...) as.data.frame(markov_check(dag, ..., suffStat = s, seed = 1))
  wanted <- checked(indepTest = rcot_by_r)
  expect_identical(checked(indepTest = rcotCItest, numCores = 2), wanted)
  expect_identical(checked(indepTest = rcotCItest, cluster = cluster), wanted)
})

test_that("stability() and markov_check() make the statistic of data by themselves", {
  x <- simulate_kinds(120, 9, 0)[1:5]
  set.seed(1)
  found <- quietly(stability(x, rcotCItest, 0.05, replicates = 3))
  set.seed(1)
  suff <- quietly(suff_kernel(x))
  expect_identical(stability(suff, rcotCItest, 0.05, replicates = 3)$counts, found$counts)
  dag <- random_dag(5, 2, seed = 1, labels = names(x))
  table <- quietly(as.data.frame(markov_check(dag, x, rcotCItest, resamples = 0, seed = 2)))
  expect_true(all(table$p >= 0 & table$p <= 1))
})

test_that("data and a named test are searched as the test's statistic", {
  set.seed(5)
  x <- matrix(rnorm(400), 100, 4, dimnames = list(NULL, letters[1:4]))
  x[, 2] <- x[, 1]^2 + rnorm(100) / 4
  set.seed(1)
  fit <- suppressMessages(pc(x, rcotCItest, 0.05))
  set.seed(1)
  suff <- suppressMessages(suff_kernel(x))
  expect_identical(fit@pMax, pc(suff, rcotCItest, 0.05, labels = colnames(x))@pMax)
  expect_equal(pc(x, gaussCItest, 0.05)@pMax, pc(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x))@pMax)
  levels <- as.data.frame(lapply(as.data.frame(x), function(column) factor(column > 0)))
  expect_identical(
    skeleton(levels, disCItest, 0.05)@pMax,
    skeleton(suff_discrete(levels), disCItest, 0.05, labels = colnames(x))@pMax
  )
  e <- expect_error(pc(cor(x), gaussCItest, 0.05), class = "pcgpu_error_argument")
  expect_identical(e$argument, "suffStat")
})

test_that("a column without values is refused", {
  x <- data.frame(a = rnorm(20), b = NA_real_, c = rnorm(20))
  expect_error(suff_kernel(x), "`data` has no value in .*b.*leave these columns out", class = "pcgpu_error_argument")
})

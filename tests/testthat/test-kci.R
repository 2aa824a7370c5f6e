# The kernel-based test itself: kciCItest().

test_that("p-values of KCI are those of whole kernel matrices", {
  compared <- 0
  for (case in list(
    list(n = 60, seed = 0, holes = 0, approximation = "gamma"),
    list(n = 61, seed = 12, holes = 9, approximation = "hbe"),
    list(n = 130, seed = 7, holes = 30, approximation = "hbe"),
    list(n = 203, seed = 5, holes = 0, approximation = "gamma"),
    list(n = 270, seed = 5, holes = 0, approximation = "hbe")
  )) {
    data <- simulate_kinds(case$n, case$seed, case$holes)
    suff <- quietly(suff_kernel(data, seed = 1, approximation = case$approximation))
    for (question in kernel_questions) {
      at <- lapply(question, match, names(data))
      p <- do.call(kciCItest, c(question, list(suff)))
      wanted <- twin_kci(at[[1]], at[[2]], at[[3]], suff)
      # The factors of the kernels have errors of 1e-6.
      expect_lt(abs(p - wanted), 0.01 * wanted + 1e-12, label = toString(c(case, unlist(question), p, wanted)))
      expect_identical(kciCItest(question[[2]], question[[1]], rev(question[[3]]), suff), p)
      compared <- compared + (wanted > 1e-12)
    }
  }
  expect_gt(compared, 40)
  # Many variables in S leave few degrees of freedom.
  set.seed(6)
  for (n in c(20, 50)) {
    data <- as.data.frame(matrix(rnorm(n * 10), n))
    data$V2 <- data$V1 + 0.3 * rnorm(n)
    data$V10 <- factor(sample(4, n, TRUE))
    few <- quietly(suff_kernel(data, seed = 1))
    wanted <- twin_kci(1, 2, 3:10, few)
    expect_equal(kciCItest(1, 2, 3:10, few), wanted, tolerance = 0.01)
    expect_lt(wanted, 0.5)
  }
  # The order of the rows and the units change little, the seed and the features nothing.
  mixed <- replace(suff, "data", list(suff$data[sample(nrow(suff$data)), ]))
  expect_equal(
    kciCItest("x", "heavy", c("w", "y", "z"), mixed),
    kciCItest("x", "heavy", c("w", "y", "z"), suff),
    tolerance = 0.01
  )
  expect_identical(
    kciCItest("x", "y", "z", replace(suff, c("seed", "features"), list(9, c(1, 2)))),
    kciCItest("x", "y", "z", suff)
  )
})

test_that("KCI is answered for degenerate data", {
  set.seed(2)
  n <- 40
  z <- rnorm(n)
  data <- data.frame(
    a = z,
    copy = z,
    constant = 1,
    rare = c(TRUE, rep(FALSE, n - 1)),
    spike = c(rep(0, n - 1), 1e9),
    each = factor(seq_len(n)),
    b = rnorm(n)
  )
  suff <- quietly(suppressWarnings(suff_kernel(data, seed = 8)))
  for (x in 1:6) {
    for (S in list(NULL, setdiff(1:2, x), setdiff(3:4, x), setdiff(c(2, 5, 6), x))) {
      p <- kciCItest(x, 7, S, suff)
      expect_true(p >= 0 && p <= 1, label = toString(c(x, "|", S, ":", p)))
    }
  }
  expect_identical(kciCItest("constant", "b", NULL, suff), 1)
  expect_identical(kciCItest("constant", "b", "a", suff), 1)
  # A copy of a member of S has nothing left.
  expect_gt(kciCItest("a", "b", "copy", suff), 0.05)
  expect_error(
    suff_kernel(suff$data[c("a", "b")], approximation = "normal"),
    "approximation",
    class = "pcgpu_error_argument"
  )
})

test_that("KCI has its size with several variables in S and few rows", {
  size <- mean(vapply(
    1:200,
    function(seed) {
      set.seed(seed)
      z <- matrix(rnorm(300), 100)
      s <- rowSums(z)
      x <- cbind(s + rnorm(100), s + rnorm(100), z)
      kciCItest(1, 2, 3:5, quietly(suff_kernel(x, seed = 1))) < 0.05
    },
    NA
  ))
  # 0.09 to 0.12 without the factor c; two standard errors are 0.03.
  expect_lt(size, 0.08)
})

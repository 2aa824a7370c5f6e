# Expects what suff_gauss() promises of C.
expect_cor <- function(C, wanted, tolerance = 1e-12) {
  expect_lte(max(abs(C - wanted)), tolerance)
  expect_identical(dimnames(C), dimnames(wanted))
  expect_identical(C, t(C))
  expect_true(all(diag(C) == 1) && all(abs(C) <= 1))
}

test_that("C is cor(x), names and all, and n the number of rows", {
  x <- simulate(5, 40)
  s <- suff_gauss(x)
  expect_cor(s$C, cor(x))
  expect_identical(s$n, 40L)
  expect_identical(suff_gauss(as.data.frame(x)), s)
  for (kind in c("spearman", "kendall", "npn")) {
    expect_cor(suff_gauss(x, correlation = kind)$C, cor_of(x, kind))
  }
  expect_null(dimnames(suff_gauss(unname(x))$C))
  frame <- data.frame(a = 1:40, b = x[, 1], c = rpois(40, 9))
  expect_cor(suff_gauss(frame)$C, cor(frame))
  frame$both <- x[, 2:3]
  expect_cor(suff_gauss(frame)$C, cor(as.matrix(frame)))
})

test_that("any shape has cor(), and any number of threads the same bits", {
  set.seed(12)
  for (size in list(c(4, 2), c(300, 70), c(4097, 3), c(9000, 64), c(20000, 7), c(5000, 270), c(50, 400))) {
    x <- matrix(rnorm(size[1] * size[2]), size[1], size[2])
    x[, 2] <- x[, 1] + x[, 2] * 1e-3 + 1e6
    found <- lapply(c(1, 2, 5), function(threads) {
      old <- options(pcgpu.threads = threads)
      on.exit(options(old))
      suff_gauss(x, device = "cpu")$C
    })
    expect_cor(found[[1]], cor(x))
    expect_identical(found[[2]], found[[1]])
    expect_identical(found[[3]], found[[1]])
  }
  x <- simulate(20, 5001)
  x <- cbind(x, x[, 3], -x[, 4], 2 * x[, 5])
  C <- suff_gauss(x, device = "cpu")$C
  expect_identical(unname(c(C[3, 21], C[4, 22], C[5, 23])), c(1, -1, 1))
})

test_that("pairwise correlations are those of cor(), of ranks too, with rows that hardly differ among them", {
  set.seed(13)
  for (size in list(c(30, 4), c(900, 40), c(2500, 300))) {
    x <- matrix(rnorm(size[1] * size[2]), size[1], size[2], dimnames = list(NULL, paste0("v", seq_len(size[2]))))
    x[, 2] <- round(2 * x[, 2]) + 100
    x[sample(length(x), length(x) / 10)] <- NA
    # Where the first column is there, the third is far from its mean.
    x[, 3] <- ifelse(is.na(x[, 1]), 1e5, 0) + x[, 3]
    for (kind in c("pearson", "spearman", "npn", "kendall")) {
      if (kind != "pearson" && size[2] > 100 || kind == "kendall" && size[2] > 10) {
        next
      }
      s <- suppressWarnings(suff_gauss(x, use = "pairwise.complete.obs", correlation = kind))
      # What is left of column 3 has lost five digits before anybody sees it.
      expect_cor(s$C, cor_of(x, kind, "pairwise.complete.obs"), 1e-10)
      expect_cor(s$C[-3, -3], cor_of(x[, -3], kind, "pairwise.complete.obs"))
      part <- if (kind %in% c("spearman", "kendall")) 9 / pi^2 else 1
      expect_equal(s$n, min(crossprod(!is.na(x))) * part, tolerance = 1e-12)
    }
  }
})

test_that("columns that have no correlation are named", {
  x <- simulate(5, 40)
  x[, 2] <- 7
  expect_error(suff_gauss(x), "constant in column \"v2\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(unname(x)), "constant in column 2", class = "pcgpu_error_argument")
  expect_error(suff_gauss(iris), "not numeric in column \"Species\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(matrix("a", 5, 2)), "not numeric", class = "pcgpu_error_argument")
  x[3, 4] <- Inf
  expect_error(suff_gauss(x), "infinite values in column \"v4\"", class = "pcgpu_error_argument")
})

test_that("data must have at least two columns and four rows", {
  expect_error(suff_gauss(1:10), class = "pcgpu_error_argument")
  expect_error(suff_gauss(matrix(1:5, 5, 1)), "two columns", class = "pcgpu_error_argument")
  expect_error(suff_gauss(simulate(3, 3)), "at least 4", class = "pcgpu_error_argument")
})

test_that("missing values are refused, or treated as requested", {
  x <- simulate(4, 60)
  x[1:5, 2] <- NA
  x[4:9, 3] <- NA
  for (use in c("everything", "all.obs")) {
    expect_error(suff_gauss(x, use = use), "missing values in columns \"v2\", \"v3\"", class = "pcgpu_error_argument")
  }
  for (use in c("complete.obs", "na.or.complete")) {
    s <- suff_gauss(x, use = use)
    expect_identical(s$n, 51L)
    expect_cor(s$C, cor(x, use = use))
    expect_cor(suff_gauss(x, use = use, correlation = "spearman")$C, cor_of(x[-(1:9), ], "spearman"))
  }
  s <- suff_gauss(x, use = "pairwise.complete.obs")
  expect_cor(s$C, cor(x, use = "pairwise.complete.obs"))
  expect_identical(s$n, 51L)
  expect_error(suff_gauss(x, use = "some"), class = "pcgpu_error_argument")
  x[4:60, 2] <- NA
  expect_error(suff_gauss(x, use = "complete.obs"), "usable rows", class = "pcgpu_error_argument")
})

test_that("values near the ends of the range, outliers next to a missing value, no rows and empty columns work", {
  x <- simulate(4, 60)
  for (scale in 10^c(75, 78, 90, 99, 101, -75, -82, -90, -99, -101)) {
    expect_cor(suff_gauss(x * scale)$C, cor(x))
  }
  for (outlier in 10^c(8, 12, 16, 30, 99)) {
    holed <- x
    holed[1, 1] <- outlier
    holed[1, 2:4] <- NA
    expect_cor(suff_gauss(holed, use = "pairwise.complete.obs")$C, cor(holed, use = "pairwise.complete.obs"))
  }
  for (none in list(x[0, ], as.data.frame(x)[0, ])) {
    expect_error(suff_gauss(none), "0 usable rows", class = "pcgpu_error_argument")
  }
  x[, 2] <- NA
  for (use in c("complete.obs", "pairwise.complete.obs")) {
    expect_error(suff_gauss(x, use = use), "0 usable rows", class = "pcgpu_error_argument")
  }
})

test_that("pairwise correlations that are not positive semi-definite give a warning", {
  x <- matrix(NA, 30, 3)
  z <- sin(1:10 * 5)
  x[1:10, 1:2] <- z
  x[11:20, 2:3] <- z
  x[21:30, 1] <- z
  x[21:30, 3] <- -z
  expect_warning(
    s <- suff_gauss(x, use = "pairwise.complete.obs"),
    "not positive semi-definite",
    class = "pcgpu_warning_indefinite"
  )
  expect_identical(s$n, 10L)
})

test_that("arguments that a GPU does not support are refused by name", {
  x <- simulate(5, 40)
  for (device in list("cuda", cuda_device("cuda:1"))) {
    e <- expect_error(suff_gauss(x, correlation = "spearman", device = device), "CPU", class = "pcgpu_error_argument")
    expect_identical(e$argument, "device")
    holed <- x
    holed[1, 1] <- NA
    e <- expect_error(
      suff_gauss(holed, use = "pairwise.complete.obs", device = device),
      "CPU",
      class = "pcgpu_error_argument"
    )
    expect_identical(e$argument, "device")
  }
  expect_error(suff_gauss(x, device = "gpu"), class = "pcgpu_error_argument")
})

test_that("without a GPU, large data have cor(), and \"cuda\" is an error of the device", {
  skip_with_gpu()
  x <- simulate(4, 40)
  expect_error(suff_gauss(x, device = "cuda"), class = "pcgpu_error_device")
  p <- 3000
  n <- ceiling(2 * pcgpu:::auto_products / (p * (p - 1)))
  x <- matrix(rep_len(sin(seq_len(99991)^1.5), n * p), n, p)
  expect_silent(s <- suff_gauss(x[, 1:40]))
  expect_cor(s$C, cor(x[, 1:40]))
  skip_on_cran()
  expect_silent(s <- suff_gauss(x))
  expect_cor(s$C[1:40, 1:40], cor(x[, 1:40]))
})

test_that("the GPU's correlations are those of cor() to 1e-12, symmetric, with ones on the diagonal", {
  skip_without_gpu()
  set.seed(3)
  for (size in list(c(4, 2), c(5, 3), c(47, 63), c(48, 64), c(49, 65), c(127, 130), c(500, 200), c(3001, 333))) {
    x <- matrix(rnorm(size[1] * size[2]), size[1], size[2], dimnames = list(NULL, paste0("v", seq_len(size[2]))))
    x[, 1] <- x[, 1] * 1e-150 + 1e-140
    x[, 2] <- 1e9 + x[, 2]
    s <- suff_gauss(x, device = "cuda")
    C <- suppressWarnings(cor(x))
    expect_lte(max(abs(s$C - C)[-1, -1]), 1e-12)
    expect_lte(max(abs(s$C - C)), 1e-6)
    expect_identical(dimnames(s$C), dimnames(C))
    expect_identical(s$C, t(s$C))
    expect_true(all(diag(s$C) == 1) && all(abs(s$C) <= 1))
    expect_identical(s$n, as.integer(size[1]))
  }
})

test_that("equal columns have correlation 1 on the GPU too, and rows with missing values are left out", {
  skip_without_gpu()
  x <- simulate(20, 77)
  x <- cbind(x, x[, 3], -x[, 4], 2 * x[, 5])
  C <- suff_gauss(x, device = "cuda")$C
  expect_identical(c(C[3, 21], C[4, 22], C[5, 23]), c(1, -1, 1))
  x[c(3, 9), 2] <- NA
  s <- suff_gauss(x, use = "complete.obs", device = "cuda")
  expect_lte(max(abs(s$C - cor(x, use = "complete.obs"))), 1e-12)
  expect_identical(s$n, 75L)
  expect_error(suff_gauss(x, device = "cuda"), "missing values", class = "pcgpu_error_argument")
  whole <- matrix(rpois(400, 20), 40)
  expect_lte(max(abs(suff_gauss(whole, device = "cuda")$C - cor(whole))), 1e-12)
})

test_that("too much data for the GPU is an error that names the bytes", {
  skip_without_gpu()
  e <- expect_error(
    suff_gauss(simulate(50, 60), device = cuda_device(memory = 10000)),
    class = "pcgpu_error_device_out_of_memory"
  )
  expect_match(conditionMessage(e), as.character(8 * (50 * 60 + 50 * 50 + 50)), fixed = TRUE)
})

test_that("values whose squares leave the range of doubles are scaled, which changes no digit", {
  x <- simulate(4, 40)
  C <- cor(x)
  scaled <- x
  for (scale in list(c(2^540, 2^-700, 2^-1060, 2^1000), c(1e160, 1e-200, -1e300, 1))) {
    for (v in 1:4) {
      scaled[, v] <- x[, v] * scale[v]
    }
    sign <- sign(scale)
    for (use in c("everything", "complete.obs", "pairwise.complete.obs")) {
      expect_equal(
        suff_gauss(scaled, use = use)$C,
        C * outer(sign, sign),
        tolerance = if (any(scale == 2^-1060)) 1e-3 else 1e-14
      )
    }
    holed <- scaled
    holed[1:3, 2] <- NA
    expect_equal(
      suff_gauss(holed, use = "complete.obs")$C,
      cor(x[-(1:3), ]) * outer(sign, sign),
      tolerance = if (any(scale == 2^-1060)) 1e-3 else 1e-14
    )
  }
  expect_identical(suff_gauss(x %*% diag(2^c(400, 340, -400, 1020)))$C, unname(suff_gauss(x)$C))
})

test_that("a column without a correlation is named, however missing values are treated", {
  x <- simulate(4, 40)
  # Not constant, but no double lies between its values and their mean.
  x[, 3] <- 1 + c(1, rep(0, 39)) * .Machine$double.eps
  for (use in c("everything", "complete.obs", "pairwise.complete.obs")) {
    C <- suppressWarnings(cor(x))
    if (anyNA(C)) {
      expect_error(
        expect_no_warning(suff_gauss(x, use = use)),
        "no correlation for column \"v3\"",
        class = "pcgpu_error_argument"
      )
    }
  }
  e <- expect_error(
    pcgpu:::check_correlations(matrix(c(1, NA, NA, 1), 2, dimnames = list(c("a", "b"), c("a", "b"))), TRUE),
    "no correlation of \"a\" and \"b\"",
    class = "pcgpu_error_argument"
  )
  C <- diag(3)
  C[3, 1:2] <- C[1:2, 3] <- NaN
  expect_error(pcgpu:::check_correlations(C), "no correlation for column 3:", class = "pcgpu_error_argument")
})

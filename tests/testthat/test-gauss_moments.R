test_that("rows that come in any blocks have cor(), and the same bits", {
  for (size in list(c(50, 4), c(3000, 6), c(2500, 70), c(2100, 600))) {
    x <- hard_table(size[1], size[2])
    whole <- suff_gauss(gauss_moments(x))
    # Values beyond 1e100 are no trap for cor(), but its squares are near the end of the range.
    expect_near_cor(whole, sweep(x, 2, c(1, 1e150, 1e-150, rep(1, size[2] - 3)), `*`))
    for (cut in list(size[1], c(7, 1, 400), 999)) {
      expect_identical(suff_gauss(following(x, cut)), whole)
      expect_identical(suff_gauss(gauss_moments(following(as.data.frame(x), cut))), whole)
    }
    old <- options(pcgpu.threads = 1)
    expect_identical(suff_gauss(following(x, 700)), whole)
    options(old)
  }
})

test_that("moments of parts are joined, saved and printed", {
  x <- hard_table(4000, 9)
  x[, 9] <- -x[, 5]
  parts <- split(seq_len(4000), rep(1:5, c(1, 1500, 2, 2400, 97)))
  moments <- lapply(parts, function(rows) gauss_moments(x[rows, , drop = FALSE]))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(moments[[4]], file)
  moments[[4]] <- readRDS(file)
  all <- do.call(c, moments)
  expect_s3_class(all, "pcgpu_moments")
  expect_identical(all$n, 4000)
  suff <- suff_gauss(all)
  expect_near_cor(suff, sweep(x, 2, c(1, 1e150, 1e-150, rep(1, 6)), `*`))
  expect_identical(suff$C[9, 5], -1)
  expect_near_cor(
    suff_gauss(c(c(moments[[2]], moments[[1]]), c(moments[[5]], moments[[4]], moments[[3]]))),
    sweep(x, 2, c(1, 1e150, 1e-150, rep(1, 6)), `*`)
  )
  expect_identical(suff_gauss(c(moments[[4]])), suff_gauss(moments[[4]]))
  expect_identical(gauss_moments(all), all)
  expect_output(print(all), "Moments of 4,000 observations of 9 variables", fixed = TRUE)
  printed <- in_new_session(c(
    sprintf("m <- readRDS(%s)", deparse(file)),
    "cat(format(pcgpu::suff_gauss(m)$C[1, 2], digits = 17))"
  ))
  expect_identical(printed[length(printed)], format(suff_gauss(moments[[4]])$C[1, 2], digits = 17))
  # Means and products are those of the data.
  m <- gauss_moments(x[, c(1, 5)])
  expect_equal(m$origin + m$mean, unname(colMeans(x[, c(1, 5)])), tolerance = 1e-14)
  expect_equal(m$products[c(1, 3)] / 3999, unname(apply(x[, c(1, 5)], 2, var)), tolerance = 1e-12)
})

test_that("missing values, infinite ones and constants are treated as by suff_gauss()", {
  x <- simulate(4, 300)
  holed <- x
  holed[c(3, 120, 299), 2] <- NA
  holed[150, 4] <- NaN
  for (use in c("everything", "all.obs")) {
    expect_error(
      suff_gauss(following(holed, 100), use = use),
      "missing values in column \"v2\"",
      class = "pcgpu_error_argument"
    )
  }
  expect_error(
    suff_gauss(following(holed, 100), use = "pairwise.complete.obs"),
    "write_pcgpu_file",
    class = "pcgpu_error_argument"
  )
  for (use in c("complete.obs", "na.or.complete")) {
    expect_near_cor(suff_gauss(following(holed, 70), use = use), holed, use = use, n = 296L)
    moments <- gauss_moments(holed, use)
    expect_identical(c(moments$left_out, moments$missing), c(4, 0, 3, 0, 1))
    expect_output(print(moments), "296 observations of 4 variables (4 incomplete rows left out)", fixed = TRUE)
  }
  whole <- suff_gauss(following(x, 70), use = "pairwise.complete.obs")
  expect_near_cor(whole, x)
  x[200, 3] <- -Inf
  expect_error(
    suff_gauss(following(x, 70), use = "complete.obs"),
    "infinite values in column \"v3\"",
    class = "pcgpu_error_argument"
  )
  x[, 3] <- 7
  expect_error(suff_gauss(following(x, 70)), "constant in column \"v3\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(following(unname(x), 70)), "constant in column 3", class = "pcgpu_error_argument")
  expect_error(suff_gauss(following(x[1:3, ], 2)), "3 usable rows", class = "pcgpu_error_argument")
  expect_error(suff_gauss(function() NULL), "0 usable rows", class = "pcgpu_error_argument")
  expect_error(gauss_moments(function() NULL), "0 usable rows", class = "pcgpu_error_argument")
  expect_error(suff_gauss(following(x[, 1, drop = FALSE], 9)), "two columns", class = "pcgpu_error_argument")
})

test_that("blocks that do not match, and operations that moments lack, are refused by name", {
  x <- simulate(4, 60)
  blocks <- list(x[1:30, ], x[31:60, 1:3])
  at <- 0
  expect_error(
    suff_gauss(function() if (at < 2) blocks[[at <<- at + 1]]),
    "block with 3 columns after one with 4",
    class = "pcgpu_error_argument"
  )
  blocks[[2]] <- x[31:60, 4:1]
  at <- 0
  expect_error(
    suff_gauss(function() if (at < 2) blocks[[at <<- at + 1]]),
    "and other names",
    class = "pcgpu_error_argument"
  )
  at <- 0
  expect_error(
    suff_gauss(function() if (at < 2) c("a", "b")[at <<- at + 1]),
    "numeric matrix",
    class = "pcgpu_error_argument"
  )
  expect_error(suff_gauss(function() iris), "not numeric in column \"Species\"", class = "pcgpu_error_argument")
  stopped <- tryCatch(suff_gauss(function() stop("the disk is gone")), error = identity)
  expect_identical(conditionMessage(stopped), "the disk is gone")
  m <- gauss_moments(x)
  refused <- function(..., argument) {
    e <- expect_error(suff_gauss(...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused(m, correlation = "spearman", argument = "correlation")
  refused(m, keep = "data", argument = "keep")
  refused(m, device = "cuda", argument = "device")
  refused(following(x, 9), correlation = "kendall", argument = "correlation")
  refused(following(x, 9), device = cuda_device("cuda:1"), argument = "device")
  refused(m, device = cpu_device(memory = 100), argument = "device")
  refused(following(x, 9), keep = "data", argument = "x")
  expect_error(c(m, gauss_moments(x[, 1:3])), "different variables", class = "pcgpu_error_argument")
  expect_error(c(m, gauss_moments(unname(x))), "different variables", class = "pcgpu_error_argument")
  expect_error(c(m, 1), "without changes", class = "pcgpu_error_argument")
  for (change in list(
    list(products = 1),
    list(mean = NULL),
    list(n = "a"),
    list(power = 1),
    list(least = NULL),
    list(n = -5),
    list(n = 1.5),
    list(left_out = -1),
    list(missing = c(-1, 0, 0, 0))
  )) {
    broken <- m
    broken[names(change)] <- change
    expect_error(suff_gauss(broken), "without changes", class = "pcgpu_error_argument")
  }
  expect_error(gauss_moments(x, use = "pairwise.complete.obs"), class = "pcgpu_error_argument")
})

test_that("Ctrl-C ends blocks, sparse matrices and files within half a second", {
  skip_on_cran()
  skip_on_os("windows")
  block <- matrix(stats::rnorm(4e6), 4000)
  path <- path_for_test()
  works <- list(
    function() suff_gauss(function() block),
    function() {
      repeat {
        write_pcgpu_file(block, path, overwrite = TRUE)
      }
    },
    function() {
      repeat {
        gauss_moments(block)
      }
    }
  )
  if (requireNamespace("Matrix", quietly = TRUE)) {
    sparse <- Matrix::rsparsematrix(20000, 3000, 0.04)
    works <- c(works, function() {
      repeat {
        suff_gauss(sparse)
      }
    })
  }
  for (work in works) {
    stopped <- press_in_time(work)
    expect_identical(stopped$outcome, "stopped")
    expect_lt(stopped$took, 0.5)
  }
  expect_identical(setdiff(list.files(dirname(path), all.files = TRUE, no.. = TRUE), basename(path)), character())
})

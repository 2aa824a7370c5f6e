test_that("a DelayedMatrix is read block by block, in files of HDF5 too", {
  skip_if_not_installed("DelayedArray")
  x <- hard_table(700, 12)
  scaled <- sweep(x, 2, c(1, 1e150, 1e-150, rep(1, 9)), `*`)
  whole <- suff_gauss(gauss_moments(x))
  old <- DelayedArray::getAutoBlockSize()
  on.exit(suppressMessages(DelayedArray::setAutoBlockSize(old)))
  delayed <- list(DelayedArray::DelayedArray(x), DelayedArray::t(DelayedArray::DelayedArray(t(x))))
  if (requireNamespace("HDF5Array", quietly = TRUE)) {
    of_file <- function(x, chunk) {
      HDF5Array::writeHDF5Array(x, tempfile(fileext = ".h5"), "x", chunkdim = chunk, with.dimnames = TRUE)
    }
    delayed <- c(delayed, of_file(x, c(100, 5)), DelayedArray::t(of_file(t(x), c(12, 7))))
  }
  for (bytes in c(1e8, 9000, 3000)) {
    suppressMessages(DelayedArray::setAutoBlockSize(bytes))
    for (d in delayed) {
      expect_identical(suff_gauss(d), whole)
      path <- path_for_test()
      file <- write_pcgpu_file(d, path)
      expect_identical(as.matrix(file), x)
    }
  }
  suppressMessages(DelayedArray::setAutoBlockSize(9000))
  path <- path_for_test()
  kept <- suff_gauss(delayed[[1]], keep = "data", file = path, correlation = "npn")
  expect_identical(kept$C, suff_gauss(x, correlation = "npn", device = "cpu")$C)
  expect_identical(suff_gauss(delayed[[2]], keep = "data")$data, suff_gauss(x, keep = "data")$data)
  expect_error(
    suff_gauss(DelayedArray::DelayedArray(matrix("a", 9, 9))),
    "of type character",
    class = "pcgpu_error_argument"
  )
  expect_error(
    suff_gauss(DelayedArray::DelayedArray(x[, 1, drop = FALSE])),
    "two columns",
    class = "pcgpu_error_argument"
  )
  expect_error(suff_gauss(delayed[[1]], correlation = "spearman"), "write_pcgpu_file", class = "pcgpu_error_argument")
  # Blocks exceed that by at most a row or column.
  sizes <- NULL
  suppressMessages(DelayedArray::setAutoBlockSize(9000))
  for (way in c("rows", "columns", "neither")) {
    pcgpu:::each_block(delayed[[1]], way, list(), function(block, row, column) {
      sizes <<- c(sizes, 8 * length(block))
      expect_identical(block, x[row + seq_len(nrow(block)), column + seq_len(ncol(block)), drop = FALSE])
    })
  }
  expect_true(max(sizes) <= 9000 && min(sizes) > 0)
})

test_that("a SummarizedExperiment of a DelayedMatrix, or a sparse matrix, has its samples as rows", {
  skip_if_not_installed("SummarizedExperiment")
  skip_if_not_installed("DelayedArray")
  skip_if_not_installed("Matrix")
  x <- simulate(5, 80)
  of <- function(assay) SummarizedExperiment::SummarizedExperiment(list(counts = assay))
  expect_near_cor(suff_gauss(of(DelayedArray::DelayedArray(t(x)))), x)
  expect_near_cor(suff_gauss(of(methods::as(t(x), "dgCMatrix"))), x)
  x <- round(x)
  want <- suff_discrete(x)
  expect_identical(suff_discrete(of(DelayedArray::DelayedArray(t(x)))), want)
  expect_identical(suff_discrete(of(methods::as(t(x), "dgCMatrix"))), want)
})

test_that("a big.matrix is read block by block", {
  skip_if_not_installed("bigmemory")
  x <- simulate(5, 300)
  for (type in c("double", "integer")) {
    if (type == "integer") {
      x <- round(10 * x)
      storage.mode(x) <- "integer"
    }
    big <- suppressWarnings(bigmemory::as.big.matrix(x, type = type))
    expect_identical(suff_gauss(big), suff_gauss(gauss_moments(x)))
    file <- write_pcgpu_file(big, path_for_test())
    expect_identical(as.matrix(file), x + 0)
  }
  expect_identical(suff_discrete(big), suff_discrete(x))
  expect_identical(select_features(big, x[, 1] + x[, 2], 2)[1:4], select_features(x, x[, 1] + x[, 2], 2)[1:4])
})

test_that("functions that need all of the data make a matrix of it", {
  skip_if_not_installed("DelayedArray")
  x <- simulate(4, 40)
  codes <- round(x)
  d <- DelayedArray::DelayedArray(x)
  expect_identical(suff_knn(d, seed = 1), suff_knn(x, seed = 1))
  expect_identical(
    select_features(d, codes[, 1] + codes[, 2], 2)[1:4],
    select_features(x, codes[, 1] + codes[, 2], 2)[1:4]
  )
  old <- DelayedArray::getAutoBlockSize()
  on.exit(suppressMessages(DelayedArray::setAutoBlockSize(old)))
  suppressMessages(DelayedArray::setAutoBlockSize(700))
  for (dm in list(codes, unname(codes), codes * 1e5)) {
    expect_identical(suff_discrete(DelayedArray::DelayedArray(dm)), suff_discrete(dm))
  }
  codes[3, 2] <- NA
  expect_identical(
    suff_discrete(DelayedArray::DelayedArray(codes), na = "pairwise"),
    suff_discrete(codes, na = "pairwise")
  )
  expect_error(
    suff_discrete(DelayedArray::DelayedArray(codes)),
    "missing values in column \"v2\"",
    class = "pcgpu_error_argument"
  )
  expect_error(suff_discrete(d), "values other than factors", class = "pcgpu_error_argument")
  for (take in list(suff_discrete, suff_knn)) {
    expect_error(take(function() NULL), "use the data themselves", class = "pcgpu_error_argument")
  }
})

# Counts as of single cells: more in some rows than in others, columns with nearly none and with nearly all.
counts <- function(n, p, seed = 1) {
  set.seed(seed)
  depth <- stats::runif(n)
  shares <- rep_len(c(0.01, 0.05, 0.3, 0.7, 1), p)
  x <- vapply(shares, function(share) stats::rpois(n, 3 * depth) * stats::rbinom(n, 1, share), double(n))
  x[cbind(seq_len(p) %% n + 1, seq_len(p))] <- 0
  x[cbind((seq_len(p) + 3) %% n + 1, seq_len(p))] <- 40
  colnames(x) <- paste0("gene", seq_len(p))
  x
}

test_that("a sparse matrix has the correlations of the dense one", {
  skip_if_not_installed("Matrix")
  for (size in list(c(60, 5), c(900, 40), c(70, 300))) {
    x <- counts(size[1], size[2])
    x[, 3] <- x[, 3] * 1e8
    x[, 4] <- ifelse(x[, 4] == 0, 0, 1e8 + x[, 4])
    # Without a zero, and with a mean far from them.
    x[, 5] <- 1e7 + x[, 5]
    sparse <- methods::as(x, "dgCMatrix")
    for (kind in c("pearson", "spearman", "npn", "kendall")) {
      suff <- suppressWarnings(suff_gauss(sparse, correlation = kind))
      expect_near_cor(suff, x, kind)
      if (kind == "kendall") {
        next
      }
      old <- options(pcgpu.threads = 1)
      expect_identical(suppressWarnings(suff_gauss(sparse, correlation = kind)), suff)
      options(old)
    }
    expect_near_cor(suff_gauss(gauss_moments(sparse)), x)
    expect_identical(suff_gauss(sparse, keep = "data")$data, suff_gauss(x, keep = "data")$data)
    file <- write_pcgpu_file(sparse, path_for_test())
    expect_identical(as.matrix(file), x)
  }
})

test_that("sparse matrices of other classes, missing values, infinite values and constants work as dense ones", {
  skip_if_not_installed("Matrix")
  x <- counts(200, 6)
  sparse <- methods::as(x, "dgCMatrix")
  want <- suff_gauss(sparse)
  for (class in c("TsparseMatrix", "RsparseMatrix")) {
    expect_identical(suff_gauss(methods::as(sparse, class)), want)
  }
  expect_near_cor(suff_gauss(methods::as(sparse > 1, "lMatrix")), (x > 1) + 0)
  square <- Matrix::crossprod(sparse[1:50, ])
  expect_s4_class(square, "dsCMatrix")
  expect_error(suff_gauss(square), "looks like covariances", class = "pcgpu_error_argument")
  holed <- sparse
  holed[c(4, 9), 2] <- NA
  holed[70, 5] <- NaN
  expect_error(suff_gauss(holed), "missing values in columns \"gene2\", \"gene5\"", class = "pcgpu_error_argument")
  for (kind in c("pearson", "spearman", "npn")) {
    for (use in c("complete.obs", "pairwise.complete.obs")) {
      s <- suff_gauss(holed, use = use, correlation = kind)
      expect_near_cor(s, as.matrix(holed), kind, use = use, n = 197)
    }
  }
  infinite <- sparse
  infinite[3, 4] <- Inf
  expect_error(suff_gauss(infinite), "infinite values in column \"gene4\"", class = "pcgpu_error_argument")
  constant <- sparse
  constant[, 3] <- 0
  expect_error(suff_gauss(constant), "constant in column \"gene3\"", class = "pcgpu_error_argument")
  expect_error(suff_gauss(sparse[1:3, ]), "3 usable rows", class = "pcgpu_error_argument")
  expect_error(suff_gauss(sparse[0, ]), "0 usable rows", class = "pcgpu_error_argument")
  expect_error(suff_gauss(sparse[, 1, drop = FALSE]), "two columns", class = "pcgpu_error_argument")
  broken <- sparse
  broken@i[1:2] <- c(5L, 100000L)
  expect_error(suff_gauss(broken), "slots", class = "pcgpu_error_argument")
  expect_error(suff_gauss(sparse, device = cpu_device(memory = 100)), class = "pcgpu_error_argument")
})

test_that("kept data can be in a file, and have the answers of data that R holds", {
  x <- simulate(9, 300)
  file <- write_pcgpu_file(x, path_for_test())
  frame <- as.data.frame(x)
  for (kind in c("pearson", "npn")) {
    want <- suff_gauss(x, correlation = kind, device = "cpu")
    for (data in list(x, frame, file)) {
      path <- path_for_test()
      kept <- suff_gauss(data, keep = "data", file = path, correlation = kind)
      expect_s3_class(kept$data, "pcgpu_file")
      expect_identical(kept$n, 300L)
      expect_output(print(kept), "in the file", fixed = TRUE)
      expect_identical(as.matrix(kept$data), suff_gauss(x, keep = "data", correlation = kind)$data)
      fit <- pc(kept, gaussCItest, 0.01, labels = colnames(x))
      theirs <- pc(want, gaussCItest, 0.01, labels = colnames(x))
      expect_same_answer(fit, theirs)
      expect_identical(fit@pMax, theirs@pMax)
      bounded <- pc(kept, gaussCItest, 0.01, labels = colnames(x), device = cpu_device(memory = 8 * 9 * 6))
      expect_identical(bounded@pMax, theirs@pMax)
      expect_identical(kept$C, want$C)
      # The file alone is enough.
      again <- suff_gauss(pcgpu_file(path), keep = "data")
      expect_identical(again$data, kept$data)
      expect_identical(suff_gauss(pcgpu_file(path), device = "cpu"), want)
    }
  }
  copied <- unserialize(serialize(kept, NULL))
  compact <- skeleton(copied, gaussCItest, 0.01, labels = colnames(x), result = "compact")
  expect_equal(
    p_value(compact, "v1", "v9", suffStat = copied),
    p_value(compact, "v1", "v9", suffStat = want),
    tolerance = 1e-9
  )
  holed <- x
  holed[c(2, 7), 3] <- NA
  kept <- suff_gauss(holed, use = "complete.obs", keep = "data", file = path_for_test())
  expect_identical(kept$C, suff_gauss(x[-c(2, 7), ], device = "cpu")$C)
})

test_that("failures leave no file of kept data", {
  x <- simulate(4, 50)
  path <- path_for_test()
  refused <- function(x, ..., says) {
    expect_error(suff_gauss(x, keep = "data", file = path, ...), says, class = "pcgpu_error_argument")
    expect_identical(list.files(dirname(path), pattern = "[.]part$|[.]pcgpu$"), character())
  }
  constant <- x
  constant[, 2] <- 1
  refused(constant, says = "constant in column \"v2\"")
  holed <- x
  holed[3, 3] <- NA
  refused(holed, says = "missing values in column \"v3\"")
  refused(holed, use = "pairwise.complete.obs", says = "pairwise correlations")
  refused(function() x, says = "write_pcgpu_file")
  refused(x, correlation = "kendall", says = "kept data")
  expect_error(suff_gauss(x, file = path), "keep = \"data\"", class = "pcgpu_error_argument")
  for (bad in list(1, NA_character_, c("a", "b"), file.path(path, "a"))) {
    expect_error(suff_gauss(x, keep = "data", file = bad), class = "pcgpu_error_argument")
  }
  kept <- suff_gauss(x, keep = "data", file = path)
  expect_error(suff_gauss(x, keep = "data", file = path), "which already exists", class = "pcgpu_error_argument")
  expect_error(suff_gauss(kept$data, correlation = "spearman"), class = "pcgpu_error_argument")
  expect_error(gauss_moments(kept$data), "centred columns", class = "pcgpu_error_argument")
  expect_error(suff_discrete(kept$data), "centred columns", class = "pcgpu_error_argument")
  # A file of values is no data that are kept.
  values <- write_pcgpu_file(x, path_for_test())
  broken <- unclass(kept)
  broken$data <- values
  expect_error(
    pc(structure(broken, class = class(kept)), gaussCItest, 0.05, p = 4),
    "again with suff_gauss",
    class = "pcgpu_error_argument"
  )
})

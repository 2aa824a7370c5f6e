test_that("a file has the data, and is read as a matrix is", {
  x <- simulate(5, 60)
  x[3, 2] <- NA
  path <- path_for_test()
  file <- write_pcgpu_file(x, path)
  expect_s3_class(file, "pcgpu_file")
  expect_identical(dim(file), dim(x))
  expect_identical(dimnames(file), dimnames(x))
  expect_identical(as.matrix(file), x)
  expect_identical(file[4:2, c("v5", "v1")], x[4:2, c("v5", "v1")])
  expect_identical(file[-(1:58), ], x[-(1:58), ])
  expect_identical(file[, 2], x[, 2])
  expect_identical(file[x[, 1] > 1, 2, drop = FALSE], x[x[, 1] > 1, 2, drop = FALSE])
  expect_identical(file[0, ], x[0, ])
  for (read in list(
    function() file[1],
    function() file[61, 1],
    function() file[1, "no"],
    function() file["a", 1],
    function() file[1, NA]
  )) {
    expect_error(read(), class = "pcgpu_error_argument")
  }
  expect_output(print(file), "60 observations of 5 variables (2.4 kB)", fixed = TRUE)
  expect_identical(pcgpu_file(path), file)
  expect_identical(pcgpu_file(file, verify = FALSE), file)
  bare <- write_pcgpu_file(unname(x), path_for_test())
  expect_null(dimnames(bare))
  expect_identical(as.matrix(bare), unname(x))
  reference <- pcgpu:::file_reference(unserialize(serialize(file, NULL)))
  expect_identical(names(reference), c("path", "digest"))
  expect_identical(pcgpu:::open_reference(reference), file)
})

test_that("all functions that read data read files, with the same answer", {
  set.seed(3)
  x <- matrix(rbinom(600, 3, 0.5), 100, dimnames = list(NULL, letters[1:6])) + 0
  file <- write_pcgpu_file(x, path_for_test())
  for (kind in c("pearson", "spearman", "npn", "kendall")) {
    expect_identical(suff_gauss(file, correlation = kind), suff_gauss(x, correlation = kind))
  }
  expect_identical(suff_gauss(file, keep = "data")$data, suff_gauss(x, keep = "data")$data)
  expect_identical(gauss_moments(file), gauss_moments(x))
  expect_identical(suff_discrete(file), suff_discrete(x))
  far <- write_pcgpu_file(x * 1e7, path_for_test())
  expect_identical(suff_discrete(far), suff_discrete(x * 1e7))
  expect_identical(suppressMessages(suff_knn(file, seed = 1)), suppressMessages(suff_knn(x, seed = 1)))
  for (discretize in c("equal-width", "none")) {
    ours <- select_features(file, x[, 1] + x[, 2], 3, discretize = discretize)
    expect_identical(ours[1:5], select_features(x, x[, 1] + x[, 2], 3, discretize = discretize)[1:5])
  }
  holed <- x
  holed[sample(600, 40)] <- NA
  file <- write_pcgpu_file(holed, path_for_test())
  for (use in c("complete.obs", "pairwise.complete.obs")) {
    expect_identical(suff_gauss(file, use = use), suff_gauss(holed, use = use))
  }
  expect_error(suff_gauss(file), "missing values", class = "pcgpu_error_argument")
  expect_identical(suff_discrete(file, na = "pairwise"), suff_discrete(holed, na = "pairwise"))
  constant <- write_pcgpu_file(cbind(a = 1, b = 1:9), path_for_test())
  expect_error(suff_gauss(constant), "constant in column \"a\"", class = "pcgpu_error_argument")
})

test_that("files that are damaged, cut off, of another version or not ours are refused by name", {
  x <- matrix(stats::rnorm(3e5), 1000)
  path <- path_for_test()
  file <- write_pcgpu_file(x, path)
  bytes <- readBin(path, "raw", file.size(path))
  other <- path_for_test()
  refused <- function(bytes, kind, says, open = pcgpu_file) {
    unlink(other, force = TRUE)
    writeBin(bytes, other)
    e <- expect_error(open(other), says, class = paste0("pcgpu_error_file_", kind))
    expect_true(inherits(e, "pcgpu_error_file") && inherits(e, "pcgpu_error"))
    expect_identical(e$path, other)
    expect_true(nzchar(e$what) && nzchar(e$hint))
  }
  changed <- function(at, by = 1) {
    bytes[at] <- xor(bytes[at], as.raw(by))
    bytes
  }
  refused(changed(9, 3), "version", "format version 2, but this version of pcgpu reads format version 1")
  refused(changed(1), "foreign", "not a data file of pcgpu")
  refused(changed(17), "damaged", "header")
  refused(changed(85), "damaged", "header")
  refused(changed(5000), "damaged", "columns 1 to 132")
  refused(changed(2e6), "damaged", "columns 132 to 263")
  refused(changed(length(bytes)), "damaged", "checksums")
  refused(bytes[1:1e6], "truncated", "has only 1000000 of")
  refused(bytes[1:100], "truncated", "no complete header")
  refused(c(bytes, as.raw(0)), "damaged", "after its end")
  refused(raw(), "foreign", "empty")
  refused(charToRaw("a,b\n1,2\n"), "foreign", "not a data file")
  expect_error(pcgpu_file(tempfile()), class = "pcgpu_error_file_unreadable")
  expect_error(pcgpu_file(tempdir()), class = "pcgpu_error_file_foreign")
  for (bad in list(1, NULL, NA_character_, c("a", "b"), "")) {
    expect_error(pcgpu_file(bad), class = "pcgpu_error_argument")
  }
  # Numbers are compared where it is asked for.
  unlink(other, force = TRUE)
  writeBin(changed(5000), other)
  expect_s3_class(pcgpu_file(other, verify = FALSE), "pcgpu_file")
  # A file that was written again is another file.
  write_pcgpu_file(x + 1, path, overwrite = TRUE)
  for (use in list(suff_gauss, as.matrix, function(x) x[1, 1], function(x) {
    pcgpu:::open_reference(pcgpu:::file_reference(x))
  })) {
    expect_error(use(file), "was replaced", class = "pcgpu_error_file_changed")
  }
  unlink(path, force = TRUE)
  expect_error(suff_gauss(file), class = "pcgpu_error_file_unreadable")
})

test_that("several processes read one file", {
  x <- simulate(4, 500)
  path <- path_for_test()
  file <- write_pcgpu_file(x, path)
  rds <- tempfile(fileext = ".rds")
  on.exit(unlink(rds), add = TRUE)
  saveRDS(file, rds)
  printed <- in_new_session(c(
    sprintf("file <- readRDS(%s)", deparse(rds)),
    "cat(format(pcgpu::suff_gauss(file)$C[1, 2], digits = 17))"
  ))
  expect_identical(printed[length(printed)], format(suff_gauss(x)$C[1, 2], digits = 17))
})

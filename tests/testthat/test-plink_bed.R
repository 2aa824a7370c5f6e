test_that("genotypes come back as they were written", {
  for (n in c(1L, 4L, 7L, 33L)) {
    g <- random_genotypes(n, 9L, n, 0.1)
    x <- plink_bed(write_bed(g))
    expect_identical(as.matrix(x), g)
    expect_identical(dim(x), dim(g))
    expect_identical(dimnames(x), dimnames(g))
    expect_identical(x[n, c("m2", "m9")], g[n, c("m2", "m9")])
    expect_identical(x[, 3, drop = FALSE], g[, 3, drop = FALSE])
    expect_identical(x[, -1], g[, -1])
  }
  expect_output(print(x), "33 samples of 9 markers")
  expect_identical(as.matrix(plink_bed(sub("\\.bed$", "", x$path))), g)
})

test_that("variables come before the markers", {
  g <- random_genotypes(10, 5, 1, 0.1)
  path <- write_bed(g)
  pheno <- data.frame(BMI = c(NA, 1:9), age = 10:1)
  x <- plink_bed(path, pheno)
  whole <- cbind(as.matrix(pheno), g) + 0
  rownames(whole) <- rownames(g)
  expect_identical(as.matrix(x), whole)
  expect_identical(x[2:3, c("m1", "BMI")], whole[2:3, c("m1", "BMI")])
  expect_output(print(x), "10 samples of 5 markers and 2 other variables")
  expect_error(plink_bed(path, pheno[1:9, ]), "needs a row for each of the 10 samples", class = "pcgpu_error_argument")
  named <- as.matrix(pheno)
  rownames(named) <- rev(rownames(g))
  expect_error(
    plink_bed(path, named),
    "the samples in another order .\"s10\" in row 1.",
    class = "pcgpu_error_argument"
  )
  expect_error(plink_bed(path, unname(named[10:1, ])), "without a name", class = "pcgpu_error_argument")
  expect_error(plink_bed(path, data.frame(a = letters[1:10])), "not numeric", class = "pcgpu_error_argument")
  expect_error(plink_bed(path, data.frame(a = c(Inf, 1:9))), "infinite", class = "pcgpu_error_argument")
})

test_that("other functions read genotypes by blocks", {
  g <- random_genotypes(60, 6, 2)
  x <- plink_bed(write_bed(g))
  expect_equal(suff_gauss(x)$C, cor(g), tolerance = 1e-12)
  expect_identical(as.matrix(write_pcgpu_file(x, tempfile())), structure(g + 0, dimnames = list(NULL, colnames(g))))
  holed <- plink_bed(write_bed(random_genotypes(60, 6, 2, 0.1)))
  expect_error(suff_gauss(holed), "missing values", class = "pcgpu_error_argument")
})

test_that("damaged files are refused, and a file of another data set", {
  g <- random_genotypes(9, 4, 3)
  path <- write_bed(g)
  base <- sub("\\.bed$", "", path)
  bytes <- readBin(path, "raw", 1000)
  refused <- function(bytes, message, class) {
    writeBin(bytes, path)
    expect_error(plink_bed(path), message, class = class)
  }
  refused(bytes[-length(bytes)], "has 14 bytes, not 15 as for 9 samples", "pcgpu_error_file_truncated")
  refused(c(bytes, as.raw(0)), "has 16 bytes, not 15", "pcgpu_error_file_damaged")
  refused(replace(bytes, 3, as.raw(0)), "older order", "pcgpu_error_file_version")
  refused(replace(bytes, 1, as.raw(1)), "not a .bed file", "pcgpu_error_file_foreign")
  refused(bytes[1], "too short", "pcgpu_error_file_foreign")
  writeBin(bytes, path)
  x <- plink_bed(path)
  lines <- readLines(paste0(base, ".fam"))
  writeLines(lines[1:5], paste0(base, ".fam"))
  expect_error(plink_bed(path), "for 5 samples", class = "pcgpu_error_file_damaged")
  writeLines(c(lines[-9], "f s9"), paste0(base, ".fam"))
  expect_error(plink_bed(path), "line 9 has 2 fields", class = "pcgpu_error_file_damaged")
  unlink(paste0(base, ".fam"))
  expect_error(plink_bed(path), "cannot be read", class = "pcgpu_error_file_unreadable")
  # The object refers to the file itself.
  writeBin(bytes[-15], path)
  expect_error(x[1, 1], "has 14 bytes", class = "pcgpu_error_file")
  expect_error(plink_bed(tempfile()), class = "pcgpu_error_file_unreadable")
  expect_error(plink_bed(1), "path of a file", class = "pcgpu_error_argument")
  expect_error(plink_bed(), "missing", class = "pcgpu_error_argument")
  x$n <- 8
  expect_error(dim(x), "was changed", class = "pcgpu_error_argument")
})

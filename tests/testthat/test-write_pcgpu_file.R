test_that("the layout is that of the help page", {
  x <- cbind(a = c(1.5, NA, 3), "g\u00e8ne" = 4:6)
  path <- path_for_test()
  file <- write_pcgpu_file(x, path)
  bytes <- readBin(path, "raw", file.size(path))
  number <- function(at, what = "integer", n = 1, size = 4) {
    readBin(bytes[at + seq_len(n * size)], what, n, size, endian = "little")
  }
  expect_identical(bytes[1:8], c(charToRaw("pcgpu"), as.raw(c(0, 13, 10))))
  expect_identical(number(8, n = 2), c(1L, 1L))
  names <- 4096 + 48 + 8
  whole <- names + 4 + 1 + 4 + 5
  expect_identical(number(16, n = 16)[c(TRUE, FALSE)], as.integer(c(3, 2, 4096, 1048576, 4096 + 48, names, 14, whole)))
  expect_identical(paste(bytes[81:96], collapse = ""), file$digest)
  expect_true(all(bytes[97:4096] == 0))
  expect_identical(number(4096, "double", 6, 8), c(1.5, NA, 3, 4, 5, 6))
  expect_identical(number(names), 1L)
  expect_identical(rawToChar(bytes[names + 9 + 1:5]), "g\xc3\xa8ne")
  expect_length(bytes, whole)
})

test_that("blocks of a function are written as they come", {
  x <- simulate(4, 100)
  path <- path_for_test()
  for (size in list(100, 7, c(1, 50))) {
    file <- write_pcgpu_file(following(x, size), path, overwrite = TRUE, nrow = 100)
    expect_identical(as.matrix(file), x)
  }
  integers <- round(10 * x)
  storage.mode(integers) <- "integer"
  integers[5, 2] <- NA
  expect_identical(
    as.matrix(write_pcgpu_file(following(integers, 9), path, overwrite = TRUE, nrow = 100)),
    integers + 0
  )
  expect_identical(as.matrix(write_pcgpu_file(as.data.frame(integers), path, overwrite = TRUE)), integers + 0)
  file <- write_pcgpu_file(integers, path, overwrite = TRUE)
  expect_identical(as.matrix(write_pcgpu_file(file, path_for_test())), as.matrix(file))
})

test_that("the umask decides who may read a file", {
  skip_on_os("windows")
  path <- tempfile()
  on.exit(unlink(path))
  before <- Sys.umask("077")
  on.exit(Sys.umask(before), add = TRUE)
  write_pcgpu_file(iris[1:4], path)
  expect_identical(format(file.mode(path)), "400")
  Sys.umask("027")
  write_pcgpu_file(iris[1:4], path, overwrite = TRUE)
  expect_identical(format(file.mode(path)), "440")
})

test_that("a file that cannot be written is refused, and leaves nothing", {
  x <- simulate(4, 100)
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE, force = TRUE))
  path <- file.path(folder, "a")
  refused <- function(..., argument) {
    e <- expect_error(write_pcgpu_file(...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), character())
  }
  for (nrow in list(99, 101, 0, NULL, NA, 1.5, "a", 1e10)) {
    refused(following(x, 9), path, nrow = nrow, argument = "nrow")
  }
  refused(function() NULL, path, nrow = 9, argument = "x")
  refused(iris, path, argument = "x")
  refused(x[0, ], path, argument = "x")
  refused(x[, 0], path, argument = "x")
  at <- 0
  refused(function() if ((at <<- at + 1) < 9) x[, 0], path, nrow = 100, argument = "x")
  refused(1:9, path, argument = "x")
  refused(x, file.path(folder, "no", "a"), argument = "file")
  refused(x, 5, argument = "file")
  refused(x, folder, overwrite = TRUE, argument = "file")
  calls <- 0
  stops <- function() if ((calls <<- calls + 1) > 1) stop("no more") else x[1:9, ]
  expect_error(write_pcgpu_file(stops, path, nrow = 100), "no more")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), character())
  write_pcgpu_file(x, path)
  expect_error(write_pcgpu_file(x, path), "overwrite = TRUE", class = "pcgpu_error_argument")
  expect_identical(list.files(folder), "a")
  # A process that has it open keeps the old contents.
  old <- pcgpu_file(path)
  write_pcgpu_file(x * 2, path, overwrite = TRUE)
  expect_identical(as.matrix(pcgpu_file(path)), x * 2)
  skip_if(Sys.info()[["user"]] == "root", "root may write anywhere")
  Sys.chmod(folder, "0500")
  expect_error(write_pcgpu_file(x, file.path(folder, "b")), class = "pcgpu_error_file_unwritable")
  Sys.chmod(folder, "0700")
})

test_that("an edited object works or is refused with an error of ours, in every use, and never ends R", {
  skip_on_os("windows")
  objects <- objects_in_use()
  found <- parallel::mclapply(objects, misuses, mc.cores = 2L, mc.preschedule = FALSE)
  # A process that died has no answer.
  expect_true(all(vapply(found, is.list, NA)), info = names(found)[!vapply(found, is.list, NA)])
  expect_gt(sum(vapply(found, function(of) of$count, 0)), 7000)
  expect_identical(as.character(unlist(lapply(found, function(of) utils::head(of$bad, 5L)))), character())
})

test_that("a class whose names do not go with its columns is refused, and R lives", {
  x <- matrix(stats::rnorm(200), 20, 10)
  local_names <- function(generic, class, method, env = parent.frame()) {
    registerS3method(generic, class, method, envir = baseenv())
  }
  local_names("dimnames", "pcgpu_test_matrix", function(x) list(NULL, "a"))
  local_names("names", "pcgpu_test_frame", function(x) "a")
  of_matrix <- structure(x, class = "pcgpu_test_matrix")
  of_frame <- structure(as.data.frame(x), class = c("pcgpu_test_frame", "data.frame"))
  levels <- structure(as.data.frame(matrix(sample(0:1, 200, TRUE), 20)), class = c("pcgpu_test_frame", "data.frame"))
  given <- FALSE
  blocks <- function() {
    if (!given) {
      given <<- TRUE
      of_matrix
    }
  }
  for (call in expression(suff_gauss(of_matrix), suff_gauss(blocks))) {
    expect_error(eval(call), "1 name for 10 columns", class = "pcgpu_error_argument")
  }
  # Columns of a data frame go by the names that it has, whatever names() of its class says.
  expect_identical(suff_gauss(of_frame), suff_gauss(as.data.frame(x)))
  expect_identical(suff_discrete(levels), suff_discrete(structure(levels, class = "data.frame")))
})

test_that("the error names the part that was changed, and a compact result's parts are checked together", {
  fit <- pc(list(C = toeplitz(0.5^(0:5)), n = 100), gaussCItest, alpha = 0.01, p = 6, result = "compact")
  expect_identical(check_object(fit), fit)
  broken <- fit
  broken@edges$to[1L] <- 7L
  expect_error(edges(broken), "`edges` was changed", class = "pcgpu_error_argument")
  broken <- fit
  broken@sets$start[7L] <- broken@sets$start[7L] + 1
  expect_error(sepset(broken, 1, 2), "`sets` was changed", class = "pcgpu_error_argument")
  whole <- as_pcalg(fit, list(C = toeplitz(0.5^(0:5)), n = 100))
  whole@sepset[[1L]][[3L]] <- 99L
  expect_error(sepset(whole, 1, 3), "separating set of 1 and 3 \\(99\\)", class = "pcgpu_error_argument")
})

test_that("a data file object is refused if its size differs from its file's", {
  path <- tempfile()
  on.exit(unlink(path))
  x <- write_pcgpu_file(matrix(stats::rnorm(60), 20), path)
  x$n <- 10
  expect_error(suff_gauss(x), "but its file has 20", class = "pcgpu_error_argument")
})

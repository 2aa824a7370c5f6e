test_that("a result has the class pcAlgo, of pcalg when that is installed", {
  fit <- small_fit()
  expect_s4_class(fit, "pcAlgo")
  home <- if (requireNamespace("pcalg", quietly = TRUE)) "pcalg" else "pcgpu"
  expect_identical(attr(class(fit), "package"), home)
  expect_true(is(fit, "gAlgo"))
  expect_true(validObject(fit))
})

test_that("as(, \"matrix\") and as(, \"amat\") have pcalg's coding", {
  fit <- small_fit()
  labels <- letters[1:4]
  # m[i, j] is the mark at i of the edge from j to i: the transpose of the graph's own matrix.
  m <- matrix(0, 4, 4, dimnames = list(labels, labels))
  m["c", c("a", "b")] <- 1
  m["d", "c"] <- 1
  expect_identical(as(fit, "matrix"), structure(m, type = "amat.cpdag"))
  expect_identical(as(fit, "amat"), structure(m, class = "amat", type = "cpdag"))
  expect_identical(as(fit@graph, "matrix"), t(m))
})

test_that("amat objects print as pcalg prints them", {
  expect_identical(capture.output(print(as(small_fit(), "amat"))), c(
    paste0("Adjacency Matrix 'amat' (4 x 4) of type ", sQuote("cpdag"), ":"),
    "  a b c d", "a . . . .", "b . . . .", "c 1 1 . .", "d . . 1 ."
  ))
})

test_that("a result survives saveRDS() and new sessions of the package", {
  fit <- small_fit()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(readRDS(file), fit)
})

# The class is chosen as the package loads, so each situation needs a process of its own.
in_new_session <- function(lines, library_paths) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(library_paths), collapse = "")), lines), file)
  environment <- c(paste0("R_LIBS=", paste(library_paths, collapse = .Platform$path.sep)), "R_TESTS=")
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)),
    stdout = TRUE, stderr = TRUE, env = environment
  ))
}

# The library paths without the one that has pcalg; skips where that one is needed for other things.
paths_without_pcalg <- function() {
  home <- dirname(system.file(package = "pcalg"))
  paths <- setdiff(.libPaths(), home)
  needed <- vapply(c("pcgpu", "graph"), function(package) nzchar(system.file(package = package, lib.loc = paths)), NA)
  if (!all(needed)) skip("pcalg cannot be left out of the library paths")
  paths
}

fit_lines <- c(
  "suppressMessages(library(pcgpu))",
  "x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)",
  "fit <- pc(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), numCores = 1)"
)

test_that("one installation works with and without pcalg, and results go from one to the other", {
  skip_without_pcalg()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  without <- in_new_session(c(
    fit_lines, "cat(attr(class(fit), 'package'), '\\n')", "fit", "summary(fit)", "print(as(fit, 'amat'))",
    "print(class(try(as_pcalg(fit), silent = TRUE)))", sprintf("saveRDS(fit, %s)", deparse(file))
  ), paths_without_pcalg())
  expect_identical(without[1], "pcgpu ")
  expect_match(without, "Total number of edges:       2", all = FALSE)
  expect_match(without, "try-error", all = FALSE)
  with <- in_new_session(c(
    "suppressMessages(library(pcgpu))", sprintf("old <- readRDS(%s)", deparse(file)), "old",
    "new <- as_pcalg(old)", "cat('class', attr(class(new), 'package'), '\\n')", "old", "new",
    "suppressMessages(library(pcalg))", "print(getGraph(new))", "cat(shd(new, new), '\\n')",
    "cat(identical(new@sepset, old@sepset), '\\n')"
  ), .libPaths())
  expect_equal(sum(grepl("Total number of edges:       2", with)), 3)
  expect_match(with, "class pcalg", all = FALSE)
  expect_match(with, "^TRUE", all = FALSE)
  expect_false(any(grepl("overwritten|more than one class|Error", with)))
})

test_that("pcalg may be loaded before or after pcgpu, without a word", {
  skip_without_pcalg()
  before <- in_new_session(c("suppressPackageStartupMessages(library(pcalg))", "library(pcgpu, warn.conflicts = FALSE)",
    fit_lines[-1], "fit", "print(isVirtualClass('gAlgo'))"), .libPaths())
  after <- in_new_session(c("library(pcgpu)", "suppressPackageStartupMessages(library(pcalg, warn.conflicts = FALSE))",
    sub("pc(", "pcgpu::pc(", fit_lines[-1], fixed = TRUE), "fit", "print(isVirtualClass('gAlgo'))"), .libPaths())
  for (output in list(before, after)) {
    expect_match(output, "Total number of edges:       2", all = FALSE)
    expect_match(output, "TRUE", all = FALSE)
    expect_false(any(grepl("overwritten|more than one class|Error", output)))
  }
})

test_that("plot() draws where Rgraphviz is missing, whichever package is attached first", {
  skip_without_pcalg()
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed: pcalg's own plot draws")
  for (order in list(c("pcalg", "pcgpu"), c("pcgpu", "pcalg"))) {
    output <- in_new_session(c(
      sprintf("suppressMessages(library(%s))", order),
      "fit <- pcgpu::pc(list(C = diag(3), n = 20), pcgpu::gaussCItest, 0.05, p = 3)",
      "grDevices::pdf(NULL)", "plot(fit)", "plot(1:3)", "cat('drawn\\n')"
    ), .libPaths())
    expect_match(output, "^drawn", all = FALSE, info = paste(order, collapse = ", "))
  }
})

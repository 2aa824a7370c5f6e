test_that("a result has the class pcAlgo, of pcalg if that is installed", {
  fit <- small_fit()
  expect_s4_class(fit, "pcAlgo")
  # Without pcalg the class names no package, so that it is pcalg's where pcalg reads it.
  home <- if (requireNamespace("pcalg", quietly = TRUE)) "pcalg"
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
  expect_identical(
    capture.output(print(as(small_fit(), "amat"))),
    c(
      paste0("Adjacency Matrix 'amat' (4 x 4) of type ", sQuote("cpdag"), ":"),
      "  a b c d",
      "a . . . .",
      "b . . . .",
      "c 1 1 . .",
      "d . . 1 ."
    )
  )
})

test_that("a result survives saveRDS() and new sessions of the package", {
  fit <- small_fit()
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(readRDS(file), fit)
})

# Returns the library paths without the one that has pcalg. Skips if that one is needed for other packages.
paths_without_pcalg <- function() {
  home <- dirname(system.file(package = "pcalg"))
  paths <- setdiff(.libPaths(), home)
  needed <- vapply(c("pcgpu", "graph"), function(package) nzchar(system.file(package = package, lib.loc = paths)), NA)
  if (!all(needed)) {
    skip("pcalg cannot be left out of the library paths")
  }
  paths
}

fit_lines <- c(
  "suppressMessages(library(pcgpu))",
  "x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)",
  "fit <- pc(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), numCores = 1)"
)

test_that("objects saved with or without pcalg are read with or without it", {
  skip_without_pcalgs_class()
  without <- paths_without_pcalg()
  files <- c(with = tempfile(fileext = ".rds"), without = tempfile(fileext = ".rds"))
  on.exit(unlink(files))
  made <- list()
  for (how in names(files)) {
    made[[how]] <- in_new_session(
      c(
        fit_lines,
        "fit",
        "summary(fit)",
        "print(as(fit, 'amat'))",
        "pdf(NULL)",
        "plot(fit)",
        "cat(validObject(fit), '\\n')",
        "fit@max.ord <- 9L",
        "cat(fit@max.ord, is(fit, 'gAlgo'), '\\n')",
        sprintf("saveRDS(fit, %s)", deparse(files[[how]]))
      ),
      if (how == "with") .libPaths() else without
    )
    expect_match(made[[how]], "^9 TRUE", all = FALSE, info = how)
  }
  # Both print the same, plot() included.
  expect_identical(made$with, made$without)
  for (how in names(files)) {
    file <- deparse(files[[how]])
    only_pcalg <- in_new_session(
      c(
        "suppressMessages(library(pcalg))",
        sprintf("fit <- readRDS(%s)", file),
        "fit",
        "summary(fit)",
        "print(as(fit, 'amat'))",
        "cat(validObject(fit), is(fit, 'gAlgo'), shd(fit, fit), fit@max.ord, '\\n')",
        "print(getGraph(fit))"
      ),
      .libPaths()
    )
    expect_match(only_pcalg, "Total number of edges:       2", all = FALSE, info = how)
    expect_match(only_pcalg, "^TRUE TRUE 0 9", all = FALSE, info = how)
    expect_match(only_pcalg, "Number of Edges = 2", all = FALSE, info = how)
    only_pcgpu <- in_new_session(
      c(
        "library(pcgpu)",
        sprintf("fit <- readRDS(%s)", file),
        "invisible(as_igraph(fit))",
        if (how == "with") "fit <- as_pcalg(fit)",
        "fit",
        "summary(fit)",
        "print(as(fit, 'amat'))",
        "cat(validObject(fit), is(fit, 'gAlgo'), fit@max.ord, '\\n')",
        "pdf(NULL)",
        "plot(fit)"
      ),
      without
    )
    expect_match(only_pcgpu, "Total number of edges:       2", all = FALSE, info = how)
    expect_match(only_pcgpu, "^TRUE TRUE 9", all = FALSE, info = how)
    both <- in_new_session(
      c(
        "suppressMessages(library(pcgpu))",
        sprintf("fit <- readRDS(%s)", file),
        "fit",
        "invisible(as_pcalg(fit))",
        "suppressMessages(library(pcalg))",
        "print(getGraph(fit))",
        "cat(shd(fit, as_pcalg(fit)), '\\n')"
      ),
      .libPaths()
    )
    expect_match(both, "Total number of edges:       2", all = FALSE, info = how)
    expect_match(both, "Number of Edges = 2", all = FALSE, info = how)
    # pcalg is installed, and what R does first with the result has to find its class.
    first <- lapply(
      c(
        "print(as(fit, 'amat'))",
        "validObject(fit)",
        "fit@max.ord <- 9L",
        "summary(fit)",
        "is(fit, 'gAlgo') || stop()",
        "isVirtualClass('gAlgo') || stop()",
        "str(fit)",
        "all.equal(fit, fit) || stop()"
      ),
      function(use) {
        in_new_session(
          c(
            "library(pcgpu)",
            sprintf("fit <- readRDS(%s)", file),
            use,
            "stopifnot(is(fit, 'gAlgo'))",
            "fit",
            "detach('package:pcgpu')",
            "library(pcgpu)",
            "print(as(fit, 'amat'))"
          ),
          .libPaths()
        )
      }
    )
    for (output in first) {
      expect_match(output, "^c 1 1 [.]", all = FALSE, info = paste(output, collapse = "\n"))
    }
    for (output in c(first, list(only_pcalg, only_pcgpu, both))) {
      expect_false(any(grepl("overwritten|more than one class|Error", output)), info = paste(output, collapse = "\n"))
    }
  }
})

test_that("a result is all.equal() to pcalg's", {
  skip_without_pcalg()
  for (method in c("stable", "stable.fast", "original")) {
    ours <- pc(suff(), gaussCItest, 0.05, p = 8, skel.method = method)
    theirs <- pcalg::pc(suff(), pcalg::gaussCItest, 0.05, p = 8, skel.method = method)
    # The package's name in the call is all that differs.
    theirs@call[[1L]] <- quote(pc)
    theirs@call$indepTest <- quote(gaussCItest)
    expect_true(all.equal(ours, theirs), info = method)
    expect_type(run_details(ours)$device, "character")
  }
})

test_that("pcalg may be loaded before or after pcgpu, without a message", {
  skip_without_pcalgs_class()
  before <- in_new_session(
    c(
      "suppressPackageStartupMessages(library(pcalg))",
      "library(pcgpu, warn.conflicts = FALSE)",
      fit_lines[-1],
      "fit",
      "print(isVirtualClass('gAlgo'))"
    ),
    .libPaths()
  )
  after <- in_new_session(
    c(
      "library(pcgpu)",
      "suppressPackageStartupMessages(library(pcalg, warn.conflicts = FALSE))",
      sub("pc(", "pcgpu::pc(", fit_lines[-1], fixed = TRUE),
      "fit",
      "print(isVirtualClass('gAlgo'))"
    ),
    .libPaths()
  )
  for (output in list(before, after)) {
    expect_match(output, "Total number of edges:       2", all = FALSE)
    expect_match(output, "TRUE", all = FALSE)
    expect_false(any(grepl("overwritten|more than one class|Error", output)))
  }
})

test_that("plot() draws if Rgraphviz is missing, whichever package is attached first", {
  skip_without_pcalgs_class()
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed: pcalg's own plot draws")
  for (order in list(c("pcalg", "pcgpu"), c("pcgpu", "pcalg"))) {
    output <- in_new_session(
      c(
        sprintf("suppressMessages(library(%s))", order),
        "fit <- pcgpu::pc(list(C = diag(3), n = 20), pcgpu::gaussCItest, 0.05, p = 3)",
        "grDevices::pdf(NULL)",
        "plot(fit)",
        "plot(1:3)",
        "cat('drawn\\n')"
      ),
      .libPaths()
    )
    expect_match(output, "^drawn", all = FALSE, info = paste(order, collapse = ", "))
  }
})

test_that("plot() of a graph draws next to pcalg", {
  skip_without_pcalgs_class()
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  fit <- small_fit()
  plot <- getExportedValue("pcalg", "plot")
  expect_graph_drawn(drawn(plot(fit@graph)), fit)
  expect_graph_drawn(drawn(plot(fit)), fit)
})

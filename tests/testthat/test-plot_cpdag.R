# Draws into a file; the file must not be empty.
drawn <- function(...) {
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  grDevices::png(file, 600, 500)
  shown <- tryCatch(withVisible(plot_cpdag(...)), finally = grDevices::dev.off())
  expect_false(shown$visible)
  file.size(file)
}

engines <- function() {
  c("auto", "base", Filter(function(package) requireNamespace(package, quietly = TRUE), c("igraph", "Rgraphviz")))
}

test_that("every engine draws every kind of graph", {
  conflicts <- pc(suff(p = 9, n = 60, degree = 3), gaussCItest, 0.2, p = 9, solve.confl = TRUE)
  expect_true("conflict" %in% do.call(pcgpu:::edge_table, pcgpu:::edges_of(conflicts)[c("edges", "weights")])$kind)
  graphs <- list(
    conflicts,
    small_fit(),
    skeleton(suff(), gaussCItest, 0.05, p = 8),
    pc(list(C = diag(5), n = 30), gaussCItest, 0.01, p = 5),
    pc(list(C = diag(2), n = 30), gaussCItest, 0.01, p = 2),
    pc(list(C = matrix(c(1, 0.9, 0.9, 1), 2), n = 30), gaussCItest, 0.01, p = 2)
  )
  for (engine in engines()) {
    for (graph in graphs) {
      expect_gt(drawn(graph, engine = engine, main = "A title"), 1000)
    }
  }
})

test_that("graphNEL objects and both kinds of adjacency matrix give the same edges", {
  fit <- small_fit()
  want <- pcgpu:::edges_of(fit)[c("labels", "edges")]
  for (other in list(fit@graph, as(fit@graph, "matrix"), as(fit, "amat"), as(fit, "matrix"))) {
    expect_identical(pcgpu:::edges_of(other)[c("labels", "edges")], want)
  }
  expect_gt(drawn(as(fit, "amat"), engine = "base", labels = LETTERS[1:4]), 1000)
})

test_that("plot() of a result draws", {
  skip_with_pcalg()
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  grDevices::png(file)
  expect_silent(plot(small_fit()))
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
})

test_that("what cannot be drawn is refused", {
  expect_error(plot_cpdag(1:3), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(small_fit(), labels = "a"), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(small_fit(), engine = "paint"), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(structure(matrix(0, 2, 2), type = "pag")), "PAG", class = "pcgpu_error_argument")
})

test_that("a missing engine that was asked for is an error that says so", {
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  expect_error(plot_cpdag(small_fit(), engine = "Rgraphviz"), "not installed", class = "pcgpu_error_package")
})

test_that("drawing draws no random number and leaves the settings of the device", {
  set.seed(1)
  before <- .Random.seed
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  settings <- graphics::par(no.readonly = TRUE)
  for (engine in setdiff(engines(), "Rgraphviz")) plot_cpdag(small_fit(), engine = engine)
  after <- graphics::par(no.readonly = TRUE)
  expect_identical(.Random.seed, before)
  for (setting in c("mar", "xpd", "xaxs", "yaxs")) expect_identical(after[[setting]], settings[[setting]])
})

# Returns the output of a fresh session that attaches pcgpu and other packages in this order.
attaching <- function(code) {
  in_new_session(c("options(width = 200)", code), .libPaths())
}

test_that("attaching igraph after pcgpu gives one message about edges()", {
  skip_if_not_installed("igraph")
  said <- attaching(c("library(pcgpu)", "library(igraph)", "detach('package:igraph')", "library(igraph)"))
  expect_identical(sum(said == "igraph now masks edges() of pcgpu: edge_table() returns the table of edges."), 1L)
  quiet <- attaching(c("library(pcgpu)", "suppressPackageStartupMessages(library(igraph))"))
  expect_identical(quiet, character())
  # pcgpu is loaded alone, and nothing of it is masked.
  loaded <- attaching(c("invisible(pcgpu::pcgpu_info())", "library(igraph)"))
  expect_no_match(loaded, "masks edges")
  # Behind pcgpu on the search path, igraph masks nothing.
  behind <- attaching(c("library(pcgpu)", "library(igraph, pos = 'package:base', warn.conflicts = FALSE)"))
  expect_identical(behind, character())
})

test_that("pcgpu reports what it masks when it is attached after igraph", {
  skip_if_not_installed("igraph")
  said <- attaching(c("library(igraph)", "library(pcgpu)"))
  expect_identical(
    sum(said == "pcgpu now masks edges() of igraph: write igraph::edges() to call the masked function."),
    1L
  )
  expect_identical(
    attaching(c("suppressMessages(library(igraph))", "suppressPackageStartupMessages(library(pcgpu))")),
    character()
  )
})

test_that("the hooks are removed with the package, and those of others stay", {
  said <- attaching(c(
    "setHook(packageEvent('igraph', 'attach'), function(...) cat('mine\\n'))",
    "library(pcgpu)",
    "detach('package:pcgpu', unload = TRUE)",
    "cat(length(getHook(packageEvent('igraph', 'attach'))), length(getHook(packageEvent('pcalg', 'attach'))), length(getHook(packageEvent('pcalg', 'onLoad'))), '\\n')"
  ))
  expect_identical(trimws(utils::tail(said, 1L)), "1 0 0")
})

test_that("the message names each function, and the remedy that fits", {
  expect_identical(
    pcgpu:::masked_text("igraph", "edges"),
    "igraph now masks edges() of pcgpu: edge_table() returns the table of edges."
  )
  expect_identical(
    pcgpu:::masked_text("S4Vectors", "pc"),
    "S4Vectors now masks pc() of pcgpu: write pcgpu::pc(), or attach pcgpu last."
  )
  expect_identical(
    pcgpu:::masked_text("dagitty", c("edges", "neighbours")),
    "dagitty now masks edges(), neighbours() of pcgpu: edge_table() returns the table of edges; write pcgpu::neighbours(), or attach pcgpu last."
  )
  # The name that is taught first is nobody's.
  for (package in c("igraph", "graph", "dplyr", "tidygraph", "Matrix", "bnlearn", "dagitty", "pcalg", "caugi")) {
    if (requireNamespace(package, quietly = TRUE)) {
      expect_false("edge_table" %in% getNamespaceExports(package), info = package)
    }
  }
})

test_that("a result of igraph's edges() is recognised", {
  skip_if_not_installed("igraph")
  made <- igraph::edges(small_fit())
  for (f in list(edge_table, as_igraph, function(x) neighbours(x, 1), function(x) plot_cpdag(x), function(x) {
    compare_graphs(x, small_fit())
  })) {
    expect_error(f(made), "igraph.*edge_table()", class = "pcgpu_error_argument")
  }
  expect_error(
    pc(simulate(3, 50), alpha = 0.1, required = made),
    "igraph.*edge_table()",
    class = "pcgpu_error_argument"
  )
})

test_that("caugi is given the edges with its own kinds, and a class that fits", {
  given <- function(x, ...) pcgpu:::caugi_arguments(x, pcgpu:::network_of(x), ...)
  found <- given(odd_graph())
  expect_identical(
    sorted_edges(data.frame(from = found$from, to = found$to, kind = found$edge)),
    sorted_edges(odd_edges())
  )
  expect_identical(found$nodes, odd_names)
  expect_identical(found$class, "UNKNOWN")
  expect_identical(given(random_dag(4, seed = 1))$class, "DAG")
  expect_identical(given(small_fit())$class, "PDAG")
  expect_identical(given(small_fit(), "MPDAG")$class, "MPDAG")
  fits <- mixed_fits()
  expect_identical(given(fits$full), given(fits$compact))
})

test_that("caugi makes the graph, if it is installed", {
  expect_identical(expect_error(caugi_of(small_fit(), 1), class = "pcgpu_error_argument")$argument, "class")
  expect_identical(expect_error(caugi_of("x"), class = "pcgpu_error_argument")$argument, "x")
  if (!requireNamespace("caugi", quietly = TRUE)) {
    expect_identical(expect_error(caugi_of(small_fit()), class = "pcgpu_error_package")$package, "caugi")
    skip("caugi is not installed")
  }
  found <- as.data.frame(caugi::edges(caugi_of(odd_graph())))
  expect_identical(
    sorted_edges(data.frame(from = found$from, to = found$to, kind = found$edge)),
    sorted_edges(odd_edges())
  )
})

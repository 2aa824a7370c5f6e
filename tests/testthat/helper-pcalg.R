skip_without_pcalg <- function() {
  if (!requireNamespace("pcalg", quietly = TRUE)) {
    skip("pcalg is not installed: not compared with it")
  }
}

skip_with_pcalg <- function() {
  if (requireNamespace("pcalg", quietly = TRUE)) {
    skip("pcalg is installed: its class is used, not ours")
  }
}

# Expects the slots of two results to be equal, the calls left out.
expect_same_result <- function(ours, theirs, info = NULL) {
  expect_identical(ours@graph, theirs@graph, info = info)
  expect_identical(ours@sepset, theirs@sepset, info = info)
  expect_identical(ours@n.edgetests, theirs@n.edgetests, info = info)
  expect_identical(ours@max.ord, theirs@max.ord, info = info)
  expect_equal(ours@pMax, theirs@pMax, tolerance = 1e-9, info = info)
  expect_identical(ours@zMin, theirs@zMin, info = info)
  expect_identical(ours@n, theirs@n, info = info)
}

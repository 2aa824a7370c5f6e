# Returns whether pcalg itself is installed. tests/stand-in has a package of the same name without pcalg's answers.
has_pcalg_itself <- function() {
  requireNamespace("pcalg", quietly = TRUE) &&
    is.na(utils::packageDescription("pcalg", fields = "Config/pcgpu/stand-in"))
}

# Skips tests that need pcalg's answers.
skip_without_pcalg <- function() {
  if (!has_pcalg_itself()) {
    skip("pcalg is not installed: not compared with it")
  }
}

# Skips tests that need pcalg's classes, generic functions and arguments, and none of its answers. The stand-in has
# these, too.
skip_without_pcalgs_class <- function() {
  if (!requireNamespace("pcalg", quietly = TRUE)) {
    skip("neither pcalg nor its stand-in is installed")
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

# The possible-d-sep phase of fci() on a GPU.

expect_same_pag <- function(ours, theirs) {
  expect_identical(ours@amat, theirs@amat)
  expect_identical(ours@sepset, theirs@sepset)
  expect_identical(list(ours@n.edgetests, ours@n.edgetestsPDSEP), list(theirs@n.edgetests, theirs@n.edgetestsPDSEP))
  expect_identical(ours@allPdsep, theirs@allPdsep)
  expect_equal(ours@pMax, theirs@pMax, tolerance = 1e-9)
}

test_that("fci(), rfci() and fciPlus() give the CPU's answer on a GPU", {
  skip_without_gpu()
  s <- suff(p = 16, n = 1000, degree = 4, seed = 3)
  for (search in list(fci, rfci, fciPlus)) {
    on <- function(device) search(s, gaussCItest, 0.1, p = 16, device = device)
    expect_same_pag(on("cuda"), on("cpu"))
  }
})

test_that("a long phase runs on the GPU by itself, whatever searched the skeleton", {
  skip_without_gpu()
  s <- suff(p = 16, n = 1000, degree = 4, seed = 3)
  on <- function(device) fci(s, gaussCItest, 0.1, p = 16, device = device)
  here <- on("auto")
  expect_identical(run_details(here)$device, "cpu")
  least <- pcgpu:::auto_phase_tests
  on.exit(utils::assignInNamespace("auto_phase_tests", least, "pcgpu"))
  utils::assignInNamespace("auto_phase_tests", 1e4, "pcgpu")
  there <- on("auto")
  expect_identical(run_details(there)$device, c("cpu", "cuda:0"))
  expect_same_pag(there, here)
})

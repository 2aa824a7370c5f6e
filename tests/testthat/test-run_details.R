test_that("the device and the number of exact tests are told", {
  told <- run_details(small_fit())
  expect_identical(told$device, "cpu")
  expect_identical(told$version, as.character(packageVersion("pcgpu")))
  expect_gte(told$exact_tests, 0)
  # The CPU needs no plan of its memory.
  expect_named(told, c("device", "exact_tests", "version"))
})

test_that("two equal columns make exact tests", {
  x <- simulate(6, 100)
  fit <- pc(suff_gauss(cbind(x, twin = x[, 1])), gaussCItest, 0.05, p = 7)
  expect_gt(run_details(fit)$exact_tests, 0)
})

test_that("details survive orient(), saveRDS() and validObject()", {
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  expect_identical(run_details(orient(skel)), run_details(skel))
  expect_true(validObject(skel))
  expect_error(run_details(3), class = "pcgpu_error_argument")
})

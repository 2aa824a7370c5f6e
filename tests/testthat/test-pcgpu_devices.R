columns <- c("device", "name", "memory_total", "memory_free", "compute_capability", "driver")

test_that("a machine without a GPU has none, and gives the reason", {
  skip_with_gpu()
  devices <- pcgpu_devices()
  expect_s3_class(devices, "data.frame")
  expect_identical(dim(devices), c(0L, 6L))
  expect_named(devices, columns)
  expect_true(nzchar(attr(devices, "reason")))
  expect_output(print(devices), attr(devices, "reason"), fixed = TRUE)
})

test_that("GPUs print with their memory in GiB", {
  devices <- structure(
    data.frame(
      device = "cuda:0", name = "Some Card", memory_total = 2^34, memory_free = 2^33,
      compute_capability = "9.0", driver = "12.4"
    ),
    class = c("pcgpu_devices", "data.frame")
  )
  shown <- capture.output(print(devices))
  expect_match(shown, "16.0 GiB +8.0 GiB", all = FALSE)
  expect_match(pcgpu:::device_lines(devices), "^GPU: +cuda:0, Some Card, compute capability 9.0, 8.0 GiB of 16.0 GiB free")
})

test_that("the GPUs of this machine are listed", {
  skip_without_gpu()
  devices <- pcgpu_devices()
  expect_named(devices, columns)
  expect_identical(devices$device[1], "cuda:0")
  expect_true(all(nzchar(devices$name)))
  expect_true(all(devices$memory_free <= devices$memory_total & devices$memory_total > 2^30))
  expect_match(devices$compute_capability, "^[0-9]+\\.[0-9]$")
  expect_match(devices$driver, "^[0-9]+\\.[0-9]$")
})

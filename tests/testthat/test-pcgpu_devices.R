columns <- c(
  "device",
  "name",
  "memory_total",
  "memory_free",
  "compute_capability",
  "driver",
  "multiprocessors",
  "unified",
  "peers",
  "ecc",
  "pci",
  "uuid"
)

test_that("a machine without a GPU has none, and gives the reason", {
  skip_with_gpu()
  devices <- pcgpu_devices()
  expect_s3_class(devices, "data.frame")
  expect_identical(dim(devices), c(0L, 12L))
  expect_named(devices, columns)
  expect_identical(pcgpu_devices(free = TRUE), devices)
  expect_true(nzchar(attr(devices, "reason")))
  expect_output(print(devices), attr(devices, "reason"), fixed = TRUE)
})

test_that("GPUs print with their memory in GiB", {
  devices <- structure(
    data.frame(
      device = "cuda:0",
      name = "Some GPU",
      memory_total = 2^34,
      memory_free = 2^33,
      compute_capability = "9.0",
      driver = "12.4"
    ),
    class = c("pcgpu_devices", "data.frame")
  )
  shown <- capture.output(print(devices))
  expect_match(shown, "16.0 GiB +8.0 GiB", all = FALSE)
  expect_match(
    pcgpu:::device_lines(devices),
    "^GPU: +cuda:0, Some GPU, compute capability 9.0, 8.0 GiB of 16.0 GiB free"
  )
  devices$memory_free <- NA_real_
  devices$uuid <- "0123"
  shown <- capture.output(print(devices))
  expect_match(shown, "16.0 GiB +<?NA", all = FALSE)
  expect_false(any(grepl("0123|uuid", shown)))
  expect_match(pcgpu:::device_lines(devices), "^GPU: +cuda:0, Some GPU, compute capability 9.0, 16.0 GiB, driver")
})

test_that("`free` is TRUE or FALSE", {
  for (free in list(NA, "yes", NULL, c(TRUE, TRUE))) {
    e <- expect_error(pcgpu_devices(free), class = "pcgpu_error_argument")
    expect_identical(e$argument, "free")
  }
})

test_that("the GPUs of this machine are listed", {
  skip_without_gpu()
  devices <- pcgpu_devices(free = TRUE)
  expect_named(devices, columns)
  expect_identical(devices$device[1], "cuda:0")
  expect_identical(anyDuplicated(devices$uuid), 0L)
  expect_match(devices$uuid, "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
  expect_match(devices$pci, "^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]$")
  expect_true(all(devices$multiprocessors > 0) && !anyNA(devices[c("unified", "ecc")]))
  others <- strsplit(devices$peers, " ")
  expect_true(all(unlist(others) %in% devices$device) && !any(mapply(`%in%`, devices$device, others)))
  expect_true(all(nzchar(devices$name)))
  expect_true(all(devices$memory_free <= devices$memory_total & devices$memory_total > 2^30))
  expect_match(devices$compute_capability, "^[0-9]+\\.[0-9]$")
  expect_match(devices$driver, "^[0-9]+\\.[0-9]$")
  # Only what this process uses says how much is free, where that would take time.
  skeleton(suff(), gaussCItest, 0.05, p = 8, device = "cuda")
  known <- !is.na(pcgpu_devices()$memory_free)
  expect_true(known[1])
  fresh <- in_fresh_r(c("library(pcgpu)", "pcgpu_devices()$memory_free", "cat('done')"))$result()
  expect_match(fresh, "^\\[1\\]( NA)+$", all = FALSE)
})

test_that("a GPU and how to use it are put together", {
  device <- cuda_device("cuda:1", strategy = "edge", beta = 4, gamma = 16, memory = 1e9)
  expect_s3_class(device, "pcgpu_device")
  expect_identical(device$ordinal, 1L)
  expect_identical(device$options, list(strategy = "edge", beta = 4L, gamma = 16L, memory = 1e9))
  expect_identical(cuda_device()$options, list(strategy = "shared"))
  expect_identical(
    pcgpu:::engine_list(cuda_device(strategy = "set", delta = 3), 2L),
    list(kind = "cuda", threads = 2L, threads_named = FALSE, ordinals = 0L, cpu = FALSE, strategy = "set", delta = 3L)
  )
})

test_that("the nearest-neighbour tests have strategies of their own", {
  expect_identical(cuda_device(strategy = "parallel", block = 500)$options, list(strategy = "parallel", block = 500L))
  expect_identical(cuda_device(strategy = "single")$options, list(strategy = "single"))
})

test_that("unified memory is asked for by name", {
  device <- cuda_device(c("cuda:0", "cuda:1"), memory = "unified")
  expect_identical(device$options, list(strategy = "shared", memory = "unified"))
  expect_identical(pcgpu:::engine_list(device, 1L)$memory, "unified")
  expect_output(print(device), "memory +unified")
})

test_that("gpucsl's mapping has its numbers", {
  device <- cuda_device(strategy = "gpucsl", beta = 2, gamma = 1, delta = 32)
  expect_identical(device$options, list(strategy = "gpucsl", beta = 2L, gamma = 1L, delta = 32L))
  expect_identical(cuda_device(strategy = "gpucsl")$options, list(strategy = "gpucsl"))
})

test_that("cuda_device() prints", {
  shown <- capture.output(print(cuda_device("cuda:1", strategy = "set", memory = 4e9)))
  expect_match(shown, "^pcgpu device: cuda:1", all = FALSE)
  expect_match(shown, "^ +strategy +set", all = FALSE)
  expect_match(shown, "^ +memory +4", all = FALSE)
})

test_that("invalid arguments are refused by name", {
  refused <- function(argument, ...) {
    e <- expect_error(cuda_device(...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  for (device in list("cpu", "auto", "gpu", NULL, cuda_device())) {
    refused("device", device)
  }
  refused("strategy", strategy = "fast")
  refused("beta", beta = 2)
  refused("theta", strategy = "edge", theta = 2)
  refused("gamma", strategy = "set", gamma = 2)
  refused("theta", strategy = "gpucsl", theta = 2)
  # A block has 256 threads at most.
  refused("beta", strategy = "edge", beta = 16)
  refused("gamma", strategy = "gpucsl", gamma = 9)
  refused("beta", strategy = "gpucsl", beta = 8, gamma = 8, delta = 64)
  expect_identical(cuda_device(strategy = "edge", beta = 256, gamma = 1)$options$beta, 256L)
  expect_identical(cuda_device(strategy = "gpucsl", delta = 256)$options$delta, 256L)
  expect_identical(cuda_device(strategy = "gpucsl", gamma = 8, delta = 32)$options$gamma, 8L)
  for (delta in list(0, 16, 100, 320, NA, "64")) {
    refused("delta", strategy = "gpucsl", delta = delta)
  }
  refused("block", strategy = "single", block = 2)
  for (block in list(0, 63, 2e6, NA, 64.5, "64")) {
    refused("block", block = block)
  }
  expect_identical(cuda_device(block = 2048)$options$block, 2048L)
  for (block in list(0, 1e6, NA, 1.5)) {
    refused("block", strategy = "parallel", block = block)
  }
  for (delta in list(0, -1, 1.5, NA, "2", c(1, 2), 5000)) {
    refused("delta", strategy = "set", delta = delta)
  }
  for (memory in list(0, -1, NA, "4 XB", c(1, 2), "Unified", c("unified", "unified"))) {
    refused("memory", memory = memory)
  }
  expect_error(cuda_device(memory = "device"), '"unified"', fixed = TRUE)
})

test_that("cuda_device() is accepted as `device`", {
  skip_with_gpu()
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, device = cuda_device(strategy = "edge")),
    class = "pcgpu_error_device"
  )
})

# Nearest-neighbour tests on a GPU: the same answers as on the CPU, to the last bit.

knn_devices <- list(
  shared = "cuda",
  single = cuda_device(strategy = "single"),
  parallel = cuda_device(strategy = "parallel"),
  blocked = cuda_device(strategy = "parallel", block = 5),
  "little memory" = cuda_device(memory = 8e6)
)

test_that("the CPU's answer is given by every strategy", {
  skip_without_gpu()
  set.seed(11)
  continuous <- do.call(cbind, lapply(1:3, function(i) simulate_nonlinear(120)))
  problems <- list(
    list(suff_knn(continuous, permutations = 60, seed = 1), cmiKnnCItest, 9),
    list(suff_knn(continuous, k = 0.2, early_stop = c(alpha = 0.1, error = 0.01), seed = 2), cmiKnnCItest, 9),
    list(suff_knn(simulate_mixed(150), k = 10, transform = "standardize", seed = 3), mixedCItest, 4),
    list(suff_knn(simulate_mixed(150), estimator = "gao", add_one = TRUE, seed = 4), mixedCItest, 4)
  )
  for (problem in problems) {
    for (method in c("stable", "stable.fast", "original")) {
      for (rule in list(list(), list(maj.rule = TRUE))) {
        run <- function(device) {
          do.call(
            pc,
            c(list(problem[[1]], problem[[2]], 0.1, p = problem[[3]], skel.method = method, device = device), rule)
          )
        }
        wanted <- run("cpu")
        for (name in names(knn_devices)) {
          found <- run(knn_devices[[name]])
          expect_same_answer(found, wanted, paste(name, method, names(rule)))
          expect_identical(found@pMax, wanted@pMax)
          expect_identical(run_details(found)$device, "cuda:0")
        }
      }
    }
  }
})

test_that("no more memory is used than planned", {
  skip_without_gpu()
  fit <- skeleton(suff_knn(simulate_mixed(300), seed = 1), mixedCItest, 0.1, p = 4, device = cuda_device(memory = 5e6))
  planned <- sum(unlist(run_details(fit)$memory))
  expect_gt(planned, 1e6)
  expect_lte(planned, 5e6)
})

test_that("strategies of other tests are refused", {
  skip_without_gpu()
  s <- suff_knn(simulate_mixed(50), seed = 1)
  run <- function(...) skeleton(s, mixedCItest, 0.1, p = 4, device = cuda_device(...))
  for (strategy in c("edge", "set", "gpucsl")) {
    expect_error(run(strategy = strategy), "strategy", class = "pcgpu_error_argument")
  }
  expect_error(
    skeleton(suff(), gaussCItest, 0.1, p = 8, device = cuda_device(strategy = "single")),
    "strategy",
    class = "pcgpu_error_argument"
  )
  many <- suff_knn(matrix(rnorm(4200), 2100), k = 2049, seed = 1)
  expect_error(
    skeleton(many, cmiKnnCItest, 0.1, p = 2, device = cuda_device(strategy = "parallel")),
    "2048",
    class = "pcgpu_error_argument"
  )
})

test_that("the automatic choice is the GPU for much work", {
  skip_without_gpu()
  s <- suff_knn(matrix(rnorm(500 * 45), 500), seed = 1)
  fit <- skeleton(s, cmiKnnCItest, 0.01, p = 45, m.max = 0)
  expect_identical(run_details(fit)$device, "cuda:0")
})

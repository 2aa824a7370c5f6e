# Several devices at once: the answer of one, and who did what.

devices <- function() {
  gpus <- nrow(pcgpu_devices())
  c(list(c("cpu", "cuda")), if (gpus > 1L) list("cuda:all", c("cuda:1", "cuda:0"), c("cpu", "cuda:all")))
}

test_that("several devices give the answer of the CPU, for every test", {
  skip_without_gpu()
  set.seed(3)
  gauss <- suff(p = 300, n = 150, degree = 4)
  codes <- suff_discrete(as.data.frame(lapply(1:12, function(v) factor(sample(3, 2000, TRUE)))))
  neighbours <- suff_knn(matrix(rnorm(60 * 7), 60), permutations = 40, seed = 1)
  for (device in devices()) {
    gpus <- setdiff(pcgpu:::device_names(pcgpu:::check_device(device)), "cpu")
    for (method in c("stable", "stable.fast", "original")) {
      label <- paste(toString(device), method)
      wanted <- pc(gauss, gaussCItest, 0.05, p = 300, skel.method = method, device = "cpu")
      found <- pc(gauss, gaussCItest, 0.05, p = 300, skel.method = method, device = device)
      expect_same_answer(found, wanted, label)
      expect_identical(run_details(found)$device, gpus, label = label)
      expect_same_answer(
        skeleton(codes, disCItest, 0.2, p = 12, method = method, device = device),
        skeleton(codes, disCItest, 0.2, p = 12, method = method, device = "cpu"),
        label
      )
      found <- skeleton(neighbours, cmiKnnCItest, 0.2, p = 7, method = method, device = device)
      expect_same_answer(found, skeleton(neighbours, cmiKnnCItest, 0.2, p = 7, method = method, device = "cpu"), label)
      expect_setequal(run_details(found)$device, pcgpu:::device_names(pcgpu:::check_device(device)))
    }
    compact <- pc(gauss, gaussCItest, 0.05, p = 300, device = device, result = "compact")
    expect_equal(edges(compact), edges(pc(gauss, gaussCItest, 0.05, p = 300, device = "cpu", result = "compact")))
    if (length(gpus) > 1L) {
      # The first GPU runs a short search alone, unless it is saved from level to level.
      expect_identical(unique(run_details(compact)$team$device), gpus[1L])
      saved <- pc(gauss, gaussCItest, 0.05, p = 300, device = device, result = "compact", checkpoint = tempfile())
      expect_equal(edges(saved), edges(compact))
      team <- run_details(saved)$team
      expect_setequal(team$device, gpus)
      expect_true(all(team$busy >= 0 & team$busy <= 1))
    }
    kept <- suff_gauss(scale(matrix(rnorm(40 * 60), 40)), keep = "data")
    expect_same_answer(
      skeleton(kept, gaussCItest, 0.05, p = 60, device = device),
      skeleton(kept, gaussCItest, 0.05, p = 60, device = "cpu"),
      toString(device)
    )
  }
})

test_that("several devices select the features that the CPU selects", {
  skip_without_gpu()
  set.seed(4)
  x <- matrix(rnorm(200 * 90), 200)
  y <- factor(x[, 3] + x[, 50] > 0)
  for (device in devices()) {
    found <- select_features(x, y, 8, device = device)
    wanted <- select_features(x, y, 8, device = "cpu")
    expect_identical(found[c("index", "score")], wanted[c("index", "score")])
    expect_setequal(found$device, pcgpu:::device_names(pcgpu:::check_device(device)))
    some <- function(device) select_features(x, y, 5, device = device, ensemble = selection_ensemble(6, seed = 1))
    expect_identical(some(device)[c("index", "frequency")], some("cpu")[c("index", "frequency")])
  }
})

test_that("a GPU that does not exist is an error, and so is a strategy of one GPU", {
  skip_without_gpu()
  s <- suff(p = 40)
  expect_error(
    pc(s, gaussCItest, 0.05, p = 40, device = c("cuda:0", "cuda:99")),
    "cuda:99",
    class = "pcgpu_error_argument"
  )
  if (nrow(pcgpu_devices()) > 1L) {
    both <- cuda_device("cuda:all", strategy = "set")
    expect_error(pc(s, gaussCItest, 0.05, p = 40, device = both), "one GPU", class = "pcgpu_error_argument")
  }
})

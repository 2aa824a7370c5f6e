# Tests of discrete data on a GPU: the same answers as on the CPU.

strategies <- list(
  shared = "cuda",
  edge = cuda_device(strategy = "edge"),
  "edge, other shape" = cuda_device(strategy = "edge", beta = 3, gamma = 9),
  gpucsl = cuda_device(strategy = "gpucsl"),
  "gpucsl, other shape" = cuda_device(strategy = "gpucsl", beta = 2, gamma = 1, delta = 96)
)
tests <- list(
  dis = list(disCItest, list(adaptDF = FALSE)),
  adapted = list(disCItest, list(adaptDF = TRUE)),
  chi2 = list(chi2CItest, list()),
  "chi2, adapted" = list(chi2CItest, list(adaptDF = TRUE))
)

test_that("pcalg's recorded answers are given, by every strategy", {
  skip_without_gpu()
  compared <- 0
  for (name in c(golden_names("dis"), golden_names("bin"))) {
    golden <- read_golden(name)
    for (method in names(golden$skeleton)) {
      for (strategy in if (method == "original") "shared" else names(strategies)) {
        fit <- suppressWarnings(do.call(
          skeleton,
          c(golden_arguments(golden), list(method = method, device = strategies[[strategy]]))
        ))
        expect_skeleton(fit, golden, method, paste(name, method, strategy))
        expect_identical(run_details(fit)$device, "cuda:0")
        compared <- compared + 1
      }
    }
  }
  expect_gte(compared, 30)
})

test_that("the CPU's answer is given, orientation, missing values and all", {
  skip_without_gpu()
  for (test in names(tests)) {
    for (na in c("fail", "pairwise")) {
      s <- modifyList(simulate_codes(p = 14, n = 4000), tests[[test]][[2]])
      if (na == "pairwise") {
        s$dm[cbind(1:300, rep_len(1:14, 300))] <- NA
        s$na <- na
      }
      for (rule in list(list(), list(maj.rule = TRUE))) {
        arguments <- c(list(s, tests[[test]][[1]], 0.01, labels = colnames(s$dm), u2pd = "relaxed"), rule)
        wanted <- suppressWarnings(do.call(pc, c(arguments, device = "cpu")))
        for (strategy in names(strategies)) {
          found <- suppressWarnings(do.call(pc, c(arguments, list(device = strategies[[strategy]]))))
          expect_same_answer(found, wanted, paste(test, na, strategy, names(rule)))
        }
      }
    }
  }
})

test_that("too few samples give the CPU's warning", {
  skip_without_gpu()
  s <- simulate_codes(p = 8, n = 60)
  warned <- function(device) {
    said <- character()
    withCallingHandlers(skeleton(s, disCItest, 0.05, p = 8, device = device), warning = function(w) {
      said <<- c(said, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    said
  }
  expect_length(warned("cuda"), 1L)
  expect_identical(warned("cuda"), warned("cpu"))
})

test_that("the automatic choice is the GPU for much data", {
  skip_without_gpu()
  p <- 60
  s <- list(dm = matrix(rep_len(0:1, 6e5 * p), ncol = p), nlev = rep(2, p), adaptDF = FALSE)
  fit <- skeleton(s, disCItest, 0.05, p = p, m.max = 0)
  expect_identical(run_details(fit)$device, "cuda:0")
})

test_that("the Gaussian test's strategy is refused", {
  skip_without_gpu()
  s <- simulate_codes(p = 4, n = 100)
  expect_error(
    skeleton(s, chi2CItest, 0.05, p = 4, device = cuda_device(strategy = "set")),
    "strategy",
    class = "pcgpu_error_argument"
  )
})

# On a GPU: the same answers as on the CPU, and what may go wrong there.

strategies <- list(
  shared = "cuda",
  edge = cuda_device(strategy = "edge"),
  set = cuda_device(strategy = "set"),
  "edge, other shape" = cuda_device(strategy = "edge", beta = 8, gamma = 8),
  "set, other shape" = cuda_device(strategy = "set", theta = 32, delta = 4),
  gpucsl = cuda_device(strategy = "gpucsl"),
  "gpucsl, other shape" = cuda_device(strategy = "gpucsl", delta = 128)
)

test_that("pcalg's recorded answers are given, by every strategy", {
  skip_without_gpu()
  for (name in golden_names("gauss")) {
    golden <- read_golden(name)
    for (method in names(golden$skeleton)) {
      for (strategy in if (method == "original") "shared" else names(strategies)) {
        fit <- do.call(skeleton, c(golden_arguments(golden), list(method = method, device = strategies[[strategy]])))
        expect_skeleton(fit, golden, method, paste(name, method, strategy))
        expect_identical(run_details(fit)$device, "cuda:0")
      }
    }
  }
})

test_that("the CPU's answer is given, time after time, on more variables than a block has threads", {
  skip_without_gpu()
  s <- suff(p = 700, n = 120, degree = 4)
  for (method in c("stable", "stable.fast")) {
    wanted <- pc(s, gaussCItest, 0.05, p = 700, skel.method = method, device = "cpu")
    for (strategy in names(strategies)) {
      for (time in 1:2) {
        found <- pc(s, gaussCItest, 0.05, p = 700, skel.method = method, device = strategies[[strategy]])
        expect_same_answer(found, wanted, paste(method, strategy, time))
      }
    }
  }
})

test_that("the conservative and the majority rule make their tests on the GPU", {
  skip_without_gpu()
  s <- suff(p = 80, n = 60, degree = 4)
  for (rule in list(list(conservative = TRUE), list(maj.rule = TRUE), list(maj.rule = TRUE, solve.confl = TRUE))) {
    arguments <- c(list(s, gaussCItest, 0.1, p = 80), rule)
    wanted <- do.call(pc, c(arguments, device = "cpu"))
    expect_same_answer(do.call(pc, c(arguments, device = "cuda")), wanted, names(rule))
    skel <- skeleton(s, gaussCItest, 0.1, p = 80)
    half <- do.call(orient, c(list(skel, suffStat = s, indepTest = gaussCItest, alpha = 0.1, device = "cuda"), rule))
    expect_identical(half@graph, wanted@graph)
    expect_identical(half@sepset, wanted@sepset)
  }
})

test_that("equal columns and missing correlations are treated as on the CPU", {
  skip_without_gpu()
  x <- simulate(30, 100)
  C <- cor(cbind(x, x[, 1:5], x[, 1] + x[, 2]))
  for (method in c("stable", "stable.fast")) {
    for (NAdelete in c(TRUE, FALSE)) {
      holed <- C
      holed[3, 9] <- holed[9, 3] <- NA
      arguments <- list(list(C = holed, n = 100), gaussCItest, 0.05, p = 36, method = method, NAdelete = NAdelete)
      wanted <- do.call(skeleton, c(arguments, device = "cpu"))
      found <- do.call(skeleton, c(arguments, device = "cuda"))
      expect_same_answer(found, wanted, paste(method, NAdelete))
      expect_identical(run_details(found)$exact_tests > 0, TRUE)
    }
  }
})

test_that("the automatic choice is the GPU for many variables", {
  skip_without_gpu()
  p <- pcgpu:::auto_variables
  s <- list(C = diag(p), n = 100)
  expect_silent(fit <- skeleton(s, gaussCItest, 0.05, p = p))
  expect_identical(run_details(fit)$device, "cuda:0")
  s <- list(C = diag(p - 1), n = 100)
  expect_identical(run_details(skeleton(s, gaussCItest, 0.05, p = p - 1))$device, "cpu")
})

test_that("Ctrl-C stops a search on the GPU within half a second, and the next call works", {
  skip_without_gpu()
  s <- endless_data()
  for (method in c("stable", "stable.fast")) {
    stopped <- press(function() endless(s, method, device = "cuda"), delay = 2)
    expect_identical(stopped$outcome, "stopped", info = method)
    expect_lt(stopped$took, 0.5)
    expect_same_answer(
      pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"),
      pc(suff(), gaussCItest, 0.05, p = 8, device = "cpu")
    )
  }
})

test_that("a time limit stops a search on the GPU", {
  skip_without_gpu()
  s <- endless_data()
  said <- tryCatch(
    {
      setTimeLimit(elapsed = 2, transient = TRUE)
      endless(s, device = "cuda")
    },
    error = conditionMessage,
    finally = setTimeLimit()
  )
  expect_match(said, "time limit")
  expect_identical(run_details(skeleton(suff(), gaussCItest, 0.05, p = 8, device = "cuda"))$device, "cuda:0")
})

test_that("the memory plan is reported, and no more is used", {
  skip_without_gpu()
  s <- suff(p = 300, n = 100, degree = 4)
  fit <- skeleton(s, gaussCItest, 0.05, p = 300, device = "cuda")
  plan <- run_details(fit)$memory
  expect_named(plan, c("data", "graphs", "p-values", "rows", "edges", "separating sets"))
  expect_identical(plan[["data"]], 8 * 300^2)
  within <- skeleton(s, gaussCItest, 0.05, p = 300, device = cuda_device(memory = sum(plan)))
  expect_same_answer(within, fit, "within the plan")
  expect_identical(untimed(run_details(within)), untimed(run_details(fit)))
  # With less, what one level leaves goes before the next takes its own; one level has to fit.
  less <- skeleton(s, gaussCItest, 0.05, p = 300, device = cuda_device(memory = sum(plan) - 1))
  expect_same_answer(less, fit, "less than the plan")
  expect_lt(sum(run_details(less)$memory), sum(plan))
  # With still less it goes by blocks: see test-cuda-blocks.R.
  expect_gt(
    run_details(skeleton(s, gaussCItest, 0.05, p = 300, device = cuda_device(memory = sum(plan[1:3]))))$levels$shards[
      1L
    ],
    1
  )
})

test_that("too little memory is an error that names the bytes, and the next call works", {
  skip_without_gpu()
  s <- suff(p = 200, n = 100)
  e <- expect_error(
    skeleton(s, gaussCItest, 0.05, p = 200, device = cuda_device(memory = 1000)),
    class = "pcgpu_error_device_out_of_memory"
  )
  expect_s3_class(e, "pcgpu_error_device")
  expect_match(conditionMessage(e), "device = \"cpu\"", fixed = TRUE)
  # What is needed, of which 64 rows of C alone have p doubles each, what is free, what of it stays with the driver, and
  # what is allowed.
  bytes <- regmatches(conditionMessage(e), gregexpr("[0-9]+ bytes", conditionMessage(e)))[[1]]
  expect_length(bytes, 4)
  expect_gte(as.numeric(sub(" bytes", "", bytes[1])), 8 * 64 * 200)
  expect_true("1000 bytes" %in% bytes)
  expect_same_answer(
    skeleton(s, gaussCItest, 0.05, p = 200, device = "cuda"),
    skeleton(s, gaussCItest, 0.05, p = 200, device = "cpu")
  )
})

test_that("a GPU that does not exist is refused by its number, and the next call works", {
  skip_without_gpu()
  e <- expect_error(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda:99"), "cuda:99", class = "pcgpu_error_argument")
  expect_identical(e$argument, "device")
  expect_s4_class(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"), "pcAlgo")
})

test_that("a forked process gets an error on the GPU, and device = \"auto\" falls back", {
  skip_without_gpu()
  skip_on_os("windows")
  here <- pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda")
  answers <- parallel::mclapply(
    1:2,
    function(i) {
      tryCatch(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"), error = identity)
    },
    mc.cores = 2
  )
  for (e in answers) {
    expect_s3_class(e, "pcgpu_error_device_forked")
    expect_match(conditionMessage(e), "makePSOCKcluster", fixed = TRUE)
  }
  p <- pcgpu:::auto_variables
  fell <- parallel::mclapply(
    1:2,
    function(i) {
      suppressMessages(skeleton(list(C = diag(p), n = 100), gaussCItest, 0.05, p = p, numCores = 1))
    },
    mc.cores = 2
  )
  for (fit in fell) {
    expect_identical(run_details(fit)$device, "cpu")
  }
  expect_identical(pc(suff(), gaussCItest, 0.05, p = 8, device = "cuda"), here)
})

test_that("two R processes use one GPU at once", {
  skip_without_gpu()
  code <- c(
    "library(pcgpu)",
    "set.seed(1)",
    "x <- matrix(rnorm(300 * 400), 300, 400)",
    "for (j in 2:400) x[, j] <- x[, j] + 0.6 * x[, sample.int(j - 1, 1)]",
    "s <- suff_gauss(x, device = 'cpu')",
    "fits <- replicate(20, skeleton(s, gaussCItest, 0.05, p = 400, device = 'cuda'))",
    "cpu <- skeleton(s, gaussCItest, 0.05, p = 400, device = 'cpu', numCores = 2)",
    "same <- vapply(fits, function(f) identical(f@graph, cpu@graph) && identical(f@sepset, cpu@sepset), NA)",
    "cat('done', sum(same), run_details(fits[[1]])$device, '\\n')"
  )
  both <- list(in_fresh_r(code), in_fresh_r(code))
  for (process in both) {
    expect_match(process$result(), "^done 20 cuda:0", all = FALSE)
  }
})

test_that("unloading frees the GPU, and the package can be loaded again", {
  skip_without_gpu()
  code <- c(
    "use <- function() {",
    "  s <- pcgpu::suff_gauss(iris[1:4])",
    "  pcgpu::run_details(pcgpu::pc(s, pcgpu::gaussCItest, 0.01, labels = colnames(s$C), device = 'cuda'))$device",
    "}",
    "first <- use()",
    "unloadNamespace('pcgpu')",
    "cat('done', first, use(), '\\n')"
  )
  expect_match(in_fresh_r(code)$result(), "^done cuda:0 cuda:0", all = FALSE)
})

test_that("select_features() on the GPU has the CPU's answer to the last bit", {
  skip_without_gpu()
  data <- simulate_features(n = 3000, p = 200)
  for (criterion in every_criterion) {
    run <- function(device) {
      found <- select_features(data$x, data$y, 30, criterion, discretize = "none", device = device)
      found[c("index", "score", "relevance", "levels", "classes")]
    }
    expect_identical(run("cuda"), run("cpu"), info = criterion)
    expect_identical(run(cuda_device(memory = 1e9)), run("cpu"), info = criterion)
  }
  expect_identical(select_features(data$x, data$y, 3, device = "cuda")$device, "cuda:0")
  expect_error(
    select_features(data$x, data$y, 3, device = cuda_device(memory = 1000)),
    class = "pcgpu_error_device_out_of_memory"
  )
})

test_that("unified memory changes no answer", {
  skip_without_gpu()
  skip_if_not(all(pcgpu_devices()$unified), "a GPU without unified memory")
  set.seed(5)
  x <- simulate(60, 80)
  stat <- suff_gauss(x)
  codes <- suff_discrete(as.data.frame(lapply(1:9, function(v) factor(sample(3, 500, TRUE)))))
  neighbours <- suff_knn(matrix(rnorm(50 * 6), 50), permutations = 20, seed = 1)
  y <- factor(x[, 3] > 0)
  for (name in list("cuda", "cuda:all")) {
    unified <- cuda_device(name, memory = "unified")
    expect_same_answer(
      pc(stat, gaussCItest, 0.05, p = 60, device = unified),
      pc(stat, gaussCItest, 0.05, p = 60, device = "cpu"),
      name
    )
    expect_same_answer(
      skeleton(codes, disCItest, 0.3, p = 9, device = unified),
      skeleton(codes, disCItest, 0.3, p = 9, device = "cpu"),
      name
    )
    expect_same_answer(
      skeleton(neighbours, cmiKnnCItest, 0.3, p = 6, device = unified),
      skeleton(neighbours, cmiKnnCItest, 0.3, p = 6, device = "cpu"),
      name
    )
    choose <- function(device) select_features(x, y, 5, device = device)[c("index", "score")]
    expect_identical(choose(unified), choose("cpu"))
  }
  expect_identical(suff_gauss(x, device = cuda_device(memory = "unified")), suff_gauss(x, device = "cuda"))
})

# A Gaussian search on a GPU that has a part of the correlations at a time: the answer of the CPU, and what is said of
# it.

# Enough variables for several panels of 64 rows, and levels of sets of two and more.
p <- 260L
x <- simulate(p, 60, degree = 2)

# Returns the most bytes, of those tried, with which `run(bytes)` works by blocks.
budget_for <- function(run, all) {
  for (bytes in all * 0.9^(1:20)) {
    fit <- run(bytes)
    if (run_details(fit)$levels$shards[1L] > 1) {
      return(bytes)
    }
  }
  stop("no budget led to blocks")
}

test_that("searches by blocks and within little memory give the CPU's answer", {
  skip_without_gpu()
  kinds <- list(matrix = suff_gauss(x, device = "cpu"), data = suff_gauss(x, keep = "data"))
  for (kind in names(kinds)) {
    s <- kinds[[kind]]
    for (result in c("pcAlgo", "compact")) {
      search <- function(device, of = skeleton, ...) {
        of(s, gaussCItest, 0.05, p = p, device = device, result = result, ...)
      }
      same <- function(found, wanted, label) {
        label <- paste(kind, result, label)
        if (result == "compact") {
          found <- as_pcalg(found, s, gaussCItest)
          wanted <- as_pcalg(wanted, s, gaussCItest)
        }
        expect_same_answer(found, wanted, label)
      }
      wanted <- search("cpu")
      all <- sum(run_details(search("cuda"))$memory)
      within <- function(bytes) search(cuda_device(memory = bytes))
      bytes <- budget_for(within, all)
      least <- sum(run_details(search(cuda_device(block = 64)))$memory)
      for (device in list(
        cuda_device(block = 64),
        cuda_device(memory = bytes),
        cuda_device(block = 64, memory = least)
      )) {
        found <- search(device)
        same(found, wanted, paste("skeleton", toString(device$options)))
        expect_lte(sum(run_details(found)$memory), min(device$options$memory, Inf))
      }
      for (rule in list(list(), list(conservative = TRUE), list(maj.rule = TRUE))) {
        device <- cuda_device(block = 64, memory = least)
        cpu <- do.call(search, c(list("cpu", pc), rule))
        same(do.call(search, c(list(device, pc), rule)), cpu, paste("pc", names(rule)))
        arguments <- c(list(wanted, suffStat = s, indepTest = gaussCItest, alpha = 0.05), rule)
        same(do.call(orient, c(arguments, device = list(device))), cpu, paste("orient", names(rule)))
      }
    }
  }
})

test_that("run_details() reports what was copied, and how a search by blocks was cut", {
  skip_without_gpu()
  s <- suff_gauss(x, device = "cpu")
  whole <- run_details(skeleton(s, gaussCItest, 0.05, p = p, device = "cuda"))
  expect_false(anyNA(whole$times$seconds))
  expect_null(whole$team)
  expect_identical(whole$levels$level[c(1:2, nrow(whole$levels))], c(0L, 1L, NA))
  expect_identical(whole$levels$shards, as.numeric(!is.na(whole$levels$level)))
  expect_true(all(is.na(whole$levels$variables)))
  # C, and in the end at least the graph as bits.
  expect_gte(whole$levels$bytes_to[1L], 8 * p^2)
  expect_gte(sum(whole$levels$bytes_from), p^2 / 8)
  again <- run_details(skeleton(s, gaussCItest, 0.05, p = p, device = "cuda"))
  expect_identical(untimed(again), untimed(whole))

  blocks <- run_details(skeleton(s, gaussCItest, 0.05, p = p, device = cuda_device(block = 64)))
  expect_identical(blocks$levels$shards[1:2], c(5, 5))
  expect_identical(blocks$levels$variables[1:2], c(64, 64))
  # Panels reach up to their own column.
  expect_lt(blocks$levels$bytes_to[1L], whole$levels$bytes_to[1L])
  later <- which(blocks$levels$level >= 2L)
  expect_true(length(later) > 0L && all(blocks$levels$shards[later] >= 1 & blocks$levels$bytes_to[later] > 0))
  said <- capture.output(print(blocks))
  expect_match(said, "^pcgpu .* on cuda:0$", all = FALSE)
  expect_match(said, "^ +0 +5 +64 +[0-9.]+ kB +[0-9.]+ kB$", all = FALSE)
  expect_false(anyNA(blocks$times$seconds))
})

test_that("run_details() reports the cost of parts of the data for other tests", {
  skip_without_gpu()
  codes <- simulate_codes(p = 40, n = 5000)
  search <- function(device) skeleton(codes, chi2CItest, 0.05, p = 40, device = device)
  whole <- run_details(search("cuda"))
  bytes <- budget_for(function(bytes) search(cuda_device(memory = bytes)), sum(whole$memory))
  part <- run_details(search(cuda_device(memory = bytes)))
  expect_identical(whole$levels$shards[1L], 1)
  expect_gt(part$levels$shards[1L], 1)
  expect_lte(part$levels$variables[1L], 40)
  expect_true(all(part$levels$bytes_to > 0))
  neighbours <- suff_knn(matrix(rnorm(60 * 7), 60), permutations = 20, seed = 1)
  found <- run_details(skeleton(neighbours, cmiKnnCItest, 0.2, p = 7, device = "cuda"))$levels
  expect_true(all(found$bytes_to > 0 & found$bytes_from > 0))
  expect_identical(found$level, seq_along(found$level) - 1L)
  y <- factor(x[, 3] > 0)
  selected <- select_features(x, y, 5, device = "cuda")
  details <- run_details(selected)
  expect_identical(details$device, "cuda:0")
  expect_identical(details$levels$level, 0L)
  # A byte a code, of variables that are cut into few bins.
  expect_gte(details$levels$bytes_to, length(x))
  expect_output(print(details), "to the GPU")
})

test_that("too little memory for blocks is refused, with the memory that they need", {
  skip_without_gpu()
  for (s in list(suff_gauss(x, device = "cpu"), suff_gauss(x, keep = "data"))) {
    little <- function(memory) skeleton(s, gaussCItest, 0.05, p = p, device = cuda_device(memory = memory))
    e <- expect_error(little(50000), "64 rows of correlations", class = "pcgpu_error_device_out_of_memory")
    # Enough for what the error names is enough for level 0.
    needed <- as.numeric(sub(".*\\(([0-9]+) bytes\\) of GPU memory;.*", "\\1", conditionMessage(e)))
    expect_error(little(needed - 1), "64 rows", class = "pcgpu_error_device_out_of_memory")
    fit <- skeleton(s, gaussCItest, 0.05, p = p, m.max = 0, device = cuda_device(memory = needed))
    expect_identical(run_details(fit)$levels$variables[1L], 64)
  }
})

test_that("a matrix that is symmetric up to rounding is refused by name, if the GPU does not hold it", {
  skip_without_gpu()
  C <- stats::cor(x)
  C[70, 3] <- C[70, 3] * (1 + 4 * .Machine$double.eps)
  odd <- list(C = C, n = nrow(x))
  expect_identical(
    skeleton(odd, gaussCItest, 0.05, p = p, device = "cuda")@max.ord,
    skeleton(odd, gaussCItest, 0.05, p = p, device = "cpu")@max.ord
  )
  expect_error(
    skeleton(odd, gaussCItest, 0.05, p = p, device = cuda_device(block = 64)),
    "`suffStat`.*C\\[(70, 3|3, 70)\\].*symmetric.*C \\+ t\\(C\\)",
    class = "pcgpu_error_argument"
  )
})

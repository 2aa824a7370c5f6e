# Returns data of p variables in which each depends on the one before, and on one common variable if `load` is not 0.
chained <- function(p, n = 60, load = 0) {
  x <- matrix(rnorm(n * p), n, p)
  for (j in 2:p) {
    x[, j] <- x[, j] + 0.6 * x[, j - 1]
  }
  x + load * rnorm(n)
}

# Returns a result without its call, which names the device.
answer <- function(fit) {
  fit@call <- quote(pc())
  fit
}

test_that("a bound of memory for the CPU is put together", {
  device <- cpu_device(memory = 1e6)
  expect_s3_class(device, "pcgpu_device")
  expect_identical(device$options, list(memory = 1e6))
  expect_identical(cpu_device(), pcgpu:::check_device("cpu"))
  expect_identical(pcgpu:::engine_list(device, 2L)$memory, 1e6)
  expect_match(capture.output(print(device)), "^pcgpu device: cpu", all = FALSE)
  expect_identical(pcgpu:::choose_device(device, list(kind = "gauss"), 1000), device)
})

test_that("memory is bytes or text", {
  bytes <- function(memory) cpu_device(memory)$options$memory
  expect_identical(bytes("4 GB"), 4e9)
  expect_identical(bytes("1.5GiB"), 1.5 * 2^30)
  expect_identical(bytes(" 16 kB "), 16000)
  expect_identical(bytes("2e6"), 2e6)
  expect_identical(bytes("1T"), 1e12)
})

test_that("values that are no number of bytes are refused by name", {
  for (memory in list(0, -1, NA, "4 XB", "GB", "unified", c(1, 2), TRUE)) {
    e <- expect_error(cpu_device(memory), class = "pcgpu_error_argument")
    expect_identical(e$argument, "memory")
  }
})

test_that("searches of data have one answer whatever the bound", {
  set.seed(1)
  for (x in list(chained(30), chained(70, load = 1))) {
    p <- ncol(x)
    suff <- suff_gauss(x, keep = "data")
    for (method in c("stable", "stable.fast", "original")) {
      for (result in c("pcAlgo", "compact")) {
        search <- function(device, threads = 2) {
          pc(
            suff,
            gaussCItest,
            0.05,
            p = p,
            skel.method = method,
            m.max = 2,
            device = device,
            numCores = threads,
            result = result
          )
        }
        whole <- search("cpu")
        expect_null(run_details(whole)$memory)
        for (share in c(1, 2, 8)) {
          bytes <- 16 * p^2 / share
          fit <- tryCatch(search(cpu_device(memory = bytes), share), pcgpu_error_argument = function(e) e)
          if (inherits(fit, "error")) {
            expect_identical(fit$argument, "memory")
            next
          }
          expect_identical(answer(fit), answer(whole))
          held <- run_details(fit)$memory
          if (share == 1) {
            expect_null(held)
          } else {
            expect_identical(names(held), c("bound", "level_0", "level_1", "further_levels"))
            expect_true(held[["bound"]] == bytes && all(held <= bytes))
          }
          expect_identical(run_details(fit)$device, "cpu")
        }
      }
    }
  }
})

test_that("the conservative and the majority rule test the data", {
  set.seed(2)
  x <- chained(25, 200)
  suff <- suff_gauss(x, keep = "data")
  small <- cpu_device(memory = 16 * 25^2 / 4)
  skel <- skeleton(suff, gaussCItest, 0.2, p = 25, numCores = 2, device = small)
  for (rule in list(c(TRUE, FALSE), c(FALSE, TRUE))) {
    oriented <- function(device, result = "pcAlgo") {
      answer(pc(
        suff,
        gaussCItest,
        0.2,
        p = 25,
        conservative = rule[1],
        maj.rule = rule[2],
        device = device,
        numCores = 2,
        result = result
      ))
    }
    expect_identical(oriented(small), oriented("cpu"))
    expect_identical(oriented(small, "compact"), oriented("cpu", "compact"))
    alone <- orient(
      skel,
      conservative = rule[1],
      maj.rule = rule[2],
      suffStat = suff,
      indepTest = gaussCItest,
      alpha = 0.2,
      numCores = 2,
      device = small
    )
    expect_identical(alone@graph, oriented("cpu")@graph)
  }
})

test_that("a bound that no row fits into is refused with numbers", {
  set.seed(3)
  suff <- suff_gauss(chained(40, load = 3), keep = "data")
  e <- expect_error(
    pc(suff, gaussCItest, 0.05, p = 40, device = cpu_device(memory = 639)),
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "memory")
  expect_match(conditionMessage(e), "640 bytes")
  e <- expect_error(
    pc(suff, gaussCItest, 0.05, p = 40, device = cpu_device(memory = 640)),
    "at level 2",
    class = "pcgpu_error_argument"
  )
  needed <- as.numeric(sub(".*need ([0-9]+) bytes.*", "\\1", conditionMessage(e)))
  expect_true(needed > 640 && needed <= 8 * 40^2)
})

test_that("the bound changes nothing if correlations are given or not needed", {
  set.seed(4)
  x <- chained(8)
  suff <- suff_gauss(x)
  small <- cpu_device(memory = 1)
  expect_identical(
    answer(pc(suff, gaussCItest, 0.05, p = 8, device = small)),
    answer(pc(suff, gaussCItest, 0.05, p = 8, device = "cpu"))
  )
  discrete <- suff_discrete(as.data.frame(lapply(as.data.frame(x > 0), factor)))
  found <- lapply(list(small, "cpu"), function(device) answer(pc(discrete, chi2CItest, 0.05, p = 8, device = device)))
  expect_identical(found[[1]], found[[2]])
  own <- function(x, y, S, suffStat) 0.5
  expect_identical(
    answer(pc(list(), own, 0.05, p = 3, device = small)),
    answer(pc(list(), own, 0.05, p = 3, device = "cpu"))
  )
})

test_that("correlations that are kept must fit", {
  x <- matrix(rnorm(100), 20, 5)
  expect_identical(suff_gauss(x, device = cpu_device(memory = 200)), suff_gauss(x, device = "cpu"))
  e <- expect_error(suff_gauss(x, device = cpu_device(memory = 199)), "200 bytes", class = "pcgpu_error_argument")
  expect_identical(e$argument, "device")
  expect_identical(suff_gauss(x, keep = "data", device = cpu_device(memory = 1))$n, 20L)
})

test_that("a search of many variables and few edges keeps no correlations", {
  skip_on_cran()
  set.seed(1)
  p <- 8200
  x <- matrix(rnorm(30 * p), 30)
  x[, 2] <- x[, 1] + 0.2 * x[, 3]
  x[, 4] <- x[, 2] + 0.2 * x[, 5]
  run <- function(suff, ..., skel.method = "stable.fast") {
    pc(suff, gaussCItest, 1e-5, p = p, skel.method = skel.method, device = "cpu", numCores = 2, result = "compact", ...)
  }
  given <- suff_gauss(x)
  kept <- suff_gauss(x, keep = "data")
  for (method in c("stable", "stable.fast")) {
    fit <- run(kept, skel.method = method)
    expect_identical(answer(fit), answer(run(given, skel.method = method)))
    held <- unlist(run_details(fit)$memory)
    expect_lt(held[["level_0"]], 8 * p^2 / 3)
    expect_lte(held[["bound"]], 16 * p^2)
  }
  expect_gt(run_details(run(kept, m.max = 0))$memory[["level_0"]], 0)
  # What asks for many, and all that depend on one, have all correlations made.
  fit <- run(kept, maj.rule = TRUE)
  expect_identical(answer(fit), answer(run(given, maj.rule = TRUE)))
  expect_null(run_details(fit)$memory)
  expect_null(run_details(run(suff_gauss(x + rnorm(30), keep = "data"), m.max = 1))$memory)
})

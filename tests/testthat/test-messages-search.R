# The most common errors, warnings, messages and printed results of searches, so that a diff shows their wording.

# Returns 200 observations of a -> b and a -> d <- c.
message_data <- function() {
  i <- 1:200
  a <- sin(i)
  c <- sin(i^2)
  data.frame(a = a, b = a + cos(3 * i), c = c, d = a + c + sin(7 * i + 1))
}

gpu <- function(...) structure(list(kind = "cuda", ordinal = 0L, options = list(), cpu = FALSE), class = "pcgpu_device")

test_that("arguments of a search", {
  s <- suff_gauss(message_data())
  search <- function(...) pc(s, gaussCItest, 0.05, numCores = 1, ...)
  expect_snapshot(error = TRUE, {
    search(time_limit = -1)
    search(checkpoint = list(every = 5))
    search(checkpoint = list(file = "state", every = "often"))
    search(control = 60)
    search(time_limit = 5, control = pc_control(time_limit = 6))
    search(device = "gpu")
    search(progress = "yes")
    pc(s, gaussCItest, 0.05, numCores = 0)
  })
})

test_that("orientation", {
  s <- suff_gauss(message_data())
  skel <- skeleton(s, gaussCItest, 0.05, numCores = 1)
  expect_snapshot(error = TRUE, {
    orient(skel, maj.rule = TRUE)
    orient(orient(skel))
    orient(skel, time_limit = 5)
  })
})

test_that("devices", {
  with_tests_of <- function(kind, ...) pcgpu:::choose_device(gpu(), list(kind = kind, ...), 10)
  expect_snapshot(error = TRUE, {
    with_tests_of("function")
    cuda_device(strategy = "set", beta = 4)
    cuda_device(strategy = "edge", beta = 300)
    cuda_device(strategy = "edge", beta = 100)
    cuda_device(strategy = "gpucsl", delta = 33)
    cuda_device(block = 10)
    cuda_device(memory = "much")
    cuda_device("cpu")
    cpu_device(memory = -1)
    print(cuda_device("cuda:1", strategy = "edge", beta = 4))
  })
  expect_snapshot({
    both <- gpu()
    both$cpu <- TRUE
    device <- pcgpu:::choose_device(both, list(kind = "gauss"), 10)
    pcgpu:::tell_lost(list(
      machine = c("cuda:1", "cuda:0"),
      reason = c("it is broken", "2 GB are needed"),
      failed = c(TRUE, FALSE)
    ))
  })
})

test_that("clusters", {
  s <- suff_gauss(message_data())
  own <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  expect_snapshot(
    error = TRUE,
    {
      pc(s, gaussCItest, 0.05, cluster = "all")
      pc(s, gaussCItest, 0.05, cluster = structure(list(), class = "cluster"))
      pc(s, own, 0.05, cluster = 2, skel.method = "original")
      pc(s, own, 0.05, cluster = 2, verbose = TRUE)
      pcgpu:::check_about(list(list(host = "node1", version = "0.0.1")), 2L)
      pcgpu:::check_about(list("there is no package called 'pcgpu'"), 1L)
    },
    transform = function(lines) gsub(as.character(utils::packageVersion("pcgpu")), "<version>", lines, fixed = TRUE)
  )
})

test_that("FCI", {
  s <- suff_gauss(message_data())
  search <- function(...) fci(s, gaussCItest, 0.05, numCores = 1, ...)
  skel <- skeleton(s, gaussCItest, 0.05, numCores = 1)
  expect_snapshot(error = TRUE, {
    search(type = "anytime")
    search(pdsep.max = "2")
    search(rules = TRUE)
    search(conservative = TRUE, maj.rule = TRUE)
    search(contextVars = "zebra")
    search(contextVars = "A")
    search(jci = "1", contextVars = "a")
    search(jci = "1", contextVars = "a", selectionBias = FALSE, required = c(from = "b", to = "a"))
    pdsep(skel@graph, s, gaussCItest, p = 3, sepset = skel@sepset, alpha = 0.05, pMax = skel@pMax)
    udag2pag(search(), list())
  })
  expect_snapshot({
    fit <- search(contextVars = "a", selectionBias = FALSE)
    pcgpu:::phase_teller("gauss")(176, 1e20)
    pcgpu:::tell_disputed(c(1, 2), names(message_data()))
    print(fit)
  })
})

test_that("background knowledge of a graph", {
  chain <- matrix(0, 3, 3, dimnames = list(letters[1:3], letters[1:3]))
  chain["a", "b"] <- chain["b", "c"] <- 1
  expect_snapshot(error = TRUE, {
    add_knowledge(chain, required = c("a", "c"))
    add_knowledge(chain, required = c("b", "a"))
    add_knowledge(chain, forbidden = rbind(c("a", "b"), c("b", "a")))
  })
})

test_that("resampling", {
  x <- message_data()
  search <- function(...) stability(x, gaussCItest, 0.05, replicates = 10, seed = 1, numCores = 1, ...)
  found <- search()
  half <- search(how = "subsample")
  expect_snapshot(error = TRUE, {
    search(size = 2)
    search(threshold = 2)
    search(threshold = 0.8, false_edges = 1)
    search(false_edges = 1)
    stability(list(C = diag(4), n = 200), gaussCItest, 0.05)
    stability(x, cmiKnnCItest, 0.05)
    cstar(list(x, x), 0.05)
    cstar(x, 0.05, x = "a", y = "a")
    averaged_cpdag(half, false_edges = 0.01)
    stability_bound(q = 3, pairs = 10)
    stability_bound(q = 3, pairs = 10, threshold = 0.4)
    stability_bound(q = 8, pairs = 10, false_edges = 0.1)
    stability_rows(5, 1)
    plot(found, around = "a")
  })
  expect_snapshot({
    print(half)
    print(summary(found))
    print(cstar(x, 0.05, y = "d", replicates = 10, seed = 1, numCores = 1))
  })
})

test_that("warnings about tests, and limits", {
  warned <- function(doubts, test, options = list(na_delete = TRUE, method = "stable")) {
    pcgpu:::warn_doubts(doubts, test, options)
  }
  expect_snapshot({
    warned(list(too_few = 9), list(kind = "discrete", rule = "pcalg", dm = matrix(0, 2000, 2)))
    warned(list(few_rows = 1), list(kind = "gauss", n = 5, matrix = matrix(c(1, NA, 1, 1, 1, 1), 3)))
    warned(list(removed = 1), list())
    warned(list(kept = 3), list())
    warned(list(tests = 2), list())
    warned(list(), list(undefined = 3))
    pcgpu:::warn_limits(list(ended = 3L), list(seconds = 60))
    pcgpu:::warn_limits(list(ended = 3L), list(seconds = 60, file = "state"))
    pcgpu:::warn_phase(list(ended = NULL, ended_phase = 2L), list(seconds = 60))
    pcgpu:::tell_resumed("state")(2, 0)
  })
})

test_that("printed results", {
  x <- message_data()
  of_search <- function(details) {
    details$seconds <- details$times <- NULL
    details$version <- "<version>"
    details
  }
  plan <- structure(
    class = "pcgpu_plan",
    list(
      levels = data.frame(level = 0:1, edges = c(6, 4), tests = c(6, 12), seconds = c(0.5, 40), done = c(1, 0.5)),
      max_level = 2L,
      ended = FALSE,
      memory = c(data = 800, pcAlgo = 256),
      variables = 4L,
      test = "gaussCItest",
      alpha = 0.05,
      device = "cpu"
    )
  )
  expect_snapshot({
    print(pc_control())
    print(pc_control(time_limit = 60, tiers = c(a = 1, b = 2), checkpoint = list(file = "/tmp/state", every = 10)))
    fit <- pc(x, alpha = 0.05, numCores = 1)
    print(fit)
    print(of_search(run_details(fit)))
    print(plan)
    print(pcgpu:::validity_note(local({
      attr(fit@call, "pcgpu")[c("valid_cpdag", "advice")] <- list(FALSE, "u2pd = \"valid\"")
      fit
    })))
  })
})

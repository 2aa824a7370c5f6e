searches <- list(fci = fci, rfci = rfci, fciPlus = fciPlus)

# The skeleton has sets of four members at most here, the possible-d-sep phase of seven.
s <- small()
slow_at <- function(size, seconds) {
  force(size)
  # Once, so that what comes after is quick.
  slept <- FALSE
  function(x, y, S, suffStat) {
    if (length(S) == size && !slept) {
      slept <<- TRUE
      Sys.sleep(seconds)
    }
    gaussCItest(x, y, S, suffStat)
  }
}

# A minute of native tests in the possible-d-sep phase, on two threads: 5e10 tests at most.
large <- suff(p = 36, n = 1000, degree = 4, seed = 3)
long_phase <- function(...) {
  suppressMessages(
    fci(large, gaussCItest, 0.1, p = 36, numCores = 2, device = "cpu", ...),
    classes = "pcgpu_message_pdsep"
  )
}

# Expects the result of a phase that ended after sets of `size`.
expect_phase_up_to <- function(fit, size, suffStat, test, alpha) {
  p <- nrow(fit@amat)
  skel <- skeleton(suffStat, test, alpha, p = p)
  phase <- pdsep(skel, suffStat, test, p, skel@sepset, alpha, skel@pMax, m.max = size)
  expect_identical(unname(fit@amat), unname(udag2pag(phase$G + 0, phase$sepset)))
  expect_identical(fit@sepset, phase$sepset)
  expect_identical(fit@pMax, phase$pMax)
  expect_identical(fit@n.edgetestsPDSEP, as.double(phase$n.edgetests))
  expect_identical(fit@n.edgetests, skel@n.edgetests)
}

expect_said_in_full <- function(fit, size) {
  line <- sprintf("The time limit stopped the possible-d-sep phase after sets of size %d.", size)
  # With pcalg its own methods, which the line follows.
  for (show in list(pcgpu:::print_fci, pcgpu:::summary.fciAlgo, print, methods::show, summary)) {
    expect_output(show(fit), line, fixed = TRUE)
  }
  expect_output(
    print(run_details(fit)),
    sprintf(
      "Possible-d-sep phase: .*;\\s+stopped\\s+by\\s+the\\s+time\\s+limit\\s+after\\s+sets\\s+of\\s+size\\s+%d$",
      size
    )
  )
  expect_true(line %in% drawn(plot_cpdag(fit, engine = "base"))$texts$label)
}

test_that("a possible-d-sep phase whose time is over ends with the size before", {
  over <- until_time_is_over(function(seconds) long_phase(time_limit = seconds), function(fit) {
    run_details(fit)$phase$ended > 2
  })
  fit <- over$fit
  size <- run_details(fit)$phase$ended
  expect_match(
    conditionMessage(over$warned),
    "the possible-d-sep phase stopped at sets of size [0-9]+, so the result uses its sets up to size"
  )
  expect_identical(list(over$warned$level, over$warned$seconds), list(size, over$seconds))
  expect_phase_up_to(fit, size, large, gaussCItest, 0.1)
  expect_said_in_full(fit, size)
  # Of an R function that is asked one test at a time, nothing of the phase is there.
  fit <- until_time_is_over(
    function(seconds) fci(s, slow_at(6, seconds), 0.2, p = 9, time_limit = seconds),
    function(fit) {
      identical(run_details(fit)$phase$ended, 0L)
    }
  )$fit
  expect_phase_up_to(fit, 0, s, gaussCItest_in_r, 0.2)
  expect_said_in_full(fit, 0)
})

test_that("a skeleton whose time is over is marked without more tests", {
  for (search in names(searches)) {
    over <- until_time_is_over(
      function(seconds) searches[[search]](s, slow_at(2, seconds), 0.2, p = 9, time_limit = seconds),
      ended_at(1L)
    )
    expect_match(conditionMessage(over$warned), "the search stopped in level")
    fit <- over$fit
    expect_identical(run_details(fit)$ended, "time limit")
    if (search == "fci") {
      expect_identical(parts(fit)[1:6], parts(fci(s, gaussCItest_in_r, 0.2, p = 9, m.max = 1, pdsep.max = -1))[1:6])
    } else if (search == "rfci") {
      expect_identical(parts(fit), parts(rfci(s, gaussCItest_in_r, 0.2, p = 9, m.max = 1)))
    }
    expect_error(searches[[search]](s, slowly(0.05), 0.2, p = 9, time_limit = 0.1), class = "pcgpu_error_time_limit")
  }
})

test_that("searches that come to their end leave no file", {
  for (search in searches) {
    for (method in if (identical(search, fciPlus)) "" else c("stable", "original", "stable.fast")) {
      file <- no_file()
      run <- function(...) {
        do.call(search, c(list(s, gaussCItest, 0.2, p = 9, ...), if (nzchar(method)) list(skel.method = method)))
      }
      expect_silent(kept <- run(checkpoint = list(file = file, every = 0)))
      expect_identical(parts(kept), parts(run()))
      expect_identical(list.files(dirname(file), basename(file)), character())
    }
  }
})

test_that("a search that is killed in any phase continues, and gives the same answer", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(20)
  small_one <- small(7)
  # Native tests, R functions, and workers of this machine.
  calls <- list(
    function(...) long_phase(m.max = 5, ...),
    function(...) fci(small_one, slowly(0.0005), 0.3, p = 7, maj.rule = TRUE, ...),
    function(...) {
      suppressMessages(fci(small_one, slowly(0.0005), 0.3, p = 7, parallel_tests = TRUE, numCores = 2, ...))
    },
    function(...) rfci(small_one, slowly(0.0005), 0.3, p = 7, conservative = TRUE, ...),
    function(...) fciPlus(small_one, slowly(0.0005), 0.3, p = 7, ...)
  )
  # What is written in the skeleton, in the possible-d-sep phase, and in the tests after these.
  phases <- list(c("", ".pdsep"), c(".pdsep", ".later"), c("", ".pdsep"), c("", ".later"), c("", ".later"))
  resumed <- 0
  for (i in seq_along(calls)) {
    call <- calls[[i]]
    wanted <- parts(call())
    for (phase in phases[[i]]) {
      file <- no_file()
      run <- function() call(checkpoint = list(file = file, every = 0.005))
      killed_after(stats::runif(1, 0, 0.05), paste0(file, phase), run)
      again <- while_resumed(run())
      expect_identical(parts(again$value), wanted)
      expect_false(any(file.exists(file, paste0(file, ".pdsep"))))
      resumed <- resumed + !is.null(again$resumed_from)
    }
  }
  # The others had come to their end.
  expect_gte(resumed, 4)
})

test_that("the phase continues from where it was", {
  file <- no_file()
  on.exit(unlink(c(file, paste0(file, ".pdsep"))))
  count <- 0
  on.exit(options(pcgpu_test_limit = NULL), add = TRUE)
  options(pcgpu_test_limit = Inf)
  test <- function(x, y, S, suffStat) {
    count <<- count + 1
    if (count == getOption("pcgpu_test_limit")) {
      stop("the machine is gone")
    }
    gaussCItest(x, y, S, suffStat)
  }
  run <- function(...) fci(s, test, 0.2, p = 9, checkpoint = file, ...)
  wanted <- parts(fci(s, test, 0.2, p = 9))
  all <- count
  skeletons <- sum(wanted[[4]])
  count <- 0
  options(pcgpu_test_limit = skeletons + round((all - skeletons) / 2))
  expect_error(run(), class = "pcgpu_error_test")
  expect_true(file.exists(paste0(file, ".pdsep")))
  # Other arguments of the phase, or other data, are another search.
  options(pcgpu_test_limit = Inf)
  for (other in list(list(pdsep.max = 5), list(biCC = TRUE))) {
    expect_error(do.call(run, other), class = "pcgpu_error_checkpoint")
  }
  count <- 0
  again <- while_resumed(run())
  expect_s3_class(again$resumed_from, "pcgpu_message_resumed")
  expect_lt(count, (all - skeletons) * 0.7)
  expect_identical(parts(again$value), wanted)
  expect_false(file.exists(paste0(file, ".pdsep")))
})

test_that("a search that the time limit ended continues with the same call", {
  file <- no_file()
  wanted <- parts(long_phase(m.max = 5))
  run <- function(...) long_phase(m.max = 5, checkpoint = file, ...)
  over <- until_time_is_over(
    function(seconds) {
      unlink(paste0(file, c("", ".pdsep")))
      run(time_limit = seconds)
    },
    function(fit) TRUE
  )
  expect_match(conditionMessage(over$warned), "Repeat the call to continue from the checkpoint")
  expect_true(file.exists(file))
  again <- while_resumed(run())
  expect_identical(parts(again$value), wanted)
  expect_identical(list.files(dirname(file), basename(file)), character())
})

test_that("a skeleton that the time limit ended continues to its end, and through the later phases", {
  on.exit(options(pcgpu_test_wait = NULL))
  test <- function(x, y, S, suffStat) {
    if (length(S) == 2) {
      Sys.sleep(getOption("pcgpu_test_wait"))
    }
    gaussCItest(x, y, S, suffStat)
  }
  for (search in searches) {
    file <- no_file()
    run <- function(...) search(s, test, 0.2, p = 9, ...)
    over <- until_time_is_over(
      function(seconds) {
        options(pcgpu_test_wait = seconds)
        unlink(file)
        run(checkpoint = file, time_limit = seconds)
      },
      ended_at(1L)
    )
    expect_match(conditionMessage(over$warned), "the search stopped in level")
    options(pcgpu_test_wait = 0)
    again <- while_resumed(run(checkpoint = file))
    expect_s3_class(again$resumed_from, "pcgpu_message_resumed")
    expect_identical(parts(again$value), parts(run()))
    expect_identical(list.files(dirname(file), basename(file)), character())
  }
})

test_that("workers give the answer of one process, in every phase", {
  pure <- function(x, y, S, suffStat) pcgpu::gaussCItest(x, y, S, suffStat)
  calls <- list(
    function(...) fci(s, ..., alpha = 0.2, p = 9),
    function(...) fci(s, ..., alpha = 0.2, p = 9, maj.rule = TRUE, skel.method = "stable.fast"),
    function(...) rfci(s, ..., alpha = 0.2, p = 9),
    function(...) fciPlus(s, ..., alpha = 0.2, p = 9)
  )
  workers <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(workers))
  for (call in calls) {
    wanted <- parts(call(gaussCItest))
    expect_identical(parts(call(gaussCItest, cluster = workers)), wanted)
    by_r <- parts(call(pure))
    expect_identical(parts(call(pure, cluster = workers)), by_r)
    expect_identical(parts(call(pure, parallel_tests = TRUE, numCores = 2)), by_r)
  }
  fit <- long_phase(m.max = 5, cluster = 2)
  alone <- long_phase(m.max = 5)
  # One process asks many sizes at once, in an order of its own.
  expect_equal(fit@pMax, alone@pMax, tolerance = 1e-9)
  fit@pMax <- alone@pMax
  expect_identical(parts(fit), parts(alone))
  expect_gte(nrow(as.data.frame(run_details(fit)$team)), 2)
})

test_that("Ctrl-C stops every phase within half a second, and the next call works", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(1)
  # Nearly all pairs are edges.
  alike <- function(p) suff_gauss(matrix(rnorm(50 * p), 50) + rnorm(50), device = "cpu")
  # Made once: of some data the rule is quick.
  few <- alike(24)
  dense <- alike(600)
  p <- 1200
  circles <- matrix(0, p, p)
  circles[upper.tri(circles)] <- rbinom(p * (p - 1) / 2, 1, 0.1)
  circles <- circles + t(circles)
  sets <- rep(list(vector("list", p)), p)
  pointed <- circles
  pointed[upper.tri(circles)] <- 2 * circles[upper.tri(circles)]
  of_rules <- function(marks, rule) function() udag2pag(marks, sets, rules = rules_of(rule), orientCollider = FALSE)
  napping <- function(x, y, S, suffStat) {
    Sys.sleep(0.02)
    0
  }
  complete <- matrix(1, 20, 20) - diag(20)
  complete[1:5, 16:20] <- complete[16:20, 1:5] <- 0
  endless <- endless_data()
  turns <- as(structure(complete, dimnames = list(1:20, 1:20)), "graphNEL")
  phases <- list(
    skeleton = function() fci(endless, gaussCItest, 0.9999, p = 60, device = "cpu"),
    pdsep = function() long_phase(),
    conservative = function() fci(few, gaussCItest, 0.01, p = 24, m.max = 0, doPdsep = FALSE, conservative = TRUE),
    reach = function() fci(dense, gaussCItest, 0.01, p = 600, m.max = 0),
    rfci = function() rfci(dense, gaussCItest, 0.01, p = 600, m.max = 0),
    rule5 = of_rules(circles, 5),
    rule9 = of_rules(pointed, 9),
    in_turn = function() pdsep(turns, NULL, napping, 20, rep(list(vector("list", 20)), 20), 0.05, diag(20)),
    function_plus = function() fciPlus(NULL, napping, 0.05, p = 20)
  )
  for (phase in names(phases)) {
    stopped <- press_in_time(phases[[phase]])
    expect_identical(stopped$outcome, "stopped", info = phase)
    expect_lt(stopped$took, 0.5)
  }
  expect_s4_class(fci(suff(), gaussCItest, 0.05, p = 8), "fciAlgo")
})

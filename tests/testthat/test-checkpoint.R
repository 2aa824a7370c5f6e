test_that("a call that comes to its end leaves no file, and gives its answer", {
  for (method in c("stable", "stable.fast", "original")) {
    for (result in c("pcAlgo", "compact")) {
      file <- no_file()
      run <- function(...) pc(small(), gaussCItest, 0.05, p = 9, skel.method = method, result = result, ...)
      expect_silent(kept <- run(checkpoint = list(file = file, every = 0)))
      expect_identical(parts(kept), parts(run()), info = paste(method, result))
      expect_false(file.exists(file))
      expect_identical(list.files(dirname(file), basename(file)), character())
      expect_named(run_details(kept), names(run_details(run())))
    }
  }
})

test_that("a search that is killed at any moment continues, and gives the same answer", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(20)
  s <- small()
  test <- slowly(0.001)
  by_function <- lapply(c("stable", "stable.fast", "original"), function(method) {
    function(...) skeleton(s, test, 0.2, p = 9, method = method, ...)
  })
  x <- matrix(stats::rnorm(60 * 8), 60)
  x[, 2:8] <- x[, 2:8] + x[, 1:7]^2
  knn <- suff_knn(x, permutations = 30, seed = 1)
  native <- lapply(c("stable", "stable.fast", "original"), function(method) {
    function(...) skeleton(knn, cmiKnnCItest, 0.3, p = 8, method = method, numCores = 1, device = "cpu", ...)
  })
  holes <- as.data.frame(x[rep(1:60, 200), ])
  holes[1:2] <- lapply(holes[1:2], function(column) factor(cut(column, 3, labels = FALSE)))
  holes[5, ] <- NA
  mixed <- function(...) skeleton(holes, mixCItwd, 1e-9, m.max = 2, numCores = 1, ...)
  each <- c(by_function, native, mixed)
  searches <- rep(each, 2)
  wanted <- lapply(each, function(search) parts(search()))
  resumed <- 0
  for (i in seq_along(searches)) {
    file <- no_file()
    search <- function() searches[[i]](checkpoint = list(file = file, every = 0.005))
    killed_after(stats::runif(1, 0, 0.1), file, search)
    said <- NULL
    found <- withCallingHandlers(search(), pcgpu_message_resumed = function(m) {
      said <<- m
      tryInvokeRestart("muffleMessage")
    })
    expect_identical(parts(found), wanted[[(i - 1) %% 7 + 1]], info = i)
    expect_false(file.exists(file))
    resumed <- resumed + !is.null(said)
  }
  # The others had come to their end.
  expect_gte(resumed, 5)
})

test_that("a message names the point from which the search continues", {
  file <- no_file()
  on.exit(unlink(file))
  s <- small()
  count <- 0
  failing <- function(x, y, S, suffStat) {
    count <<- count + 1
    if (count == getOption("pcgpu_test_limit")) {
      stop("the machine is gone")
    }
    gaussCItest(x, y, S, suffStat)
  }
  on.exit(options(pcgpu_test_limit = NULL), add = TRUE)
  options(pcgpu_test_limit = 3)
  run <- function(...) skeleton(s, failing, 0.2, p = 9, checkpoint = file, ...)
  expect_error(run(), class = "pcgpu_error_test")
  options(pcgpu_test_limit = 60)
  count <- 0
  first <- expect_message(
    expect_error(run(), class = "pcgpu_error_test"),
    "within level 0",
    class = "pcgpu_message_resumed"
  )
  options(pcgpu_test_limit = Inf)
  said <- tryCatch(run(), pcgpu_message_resumed = identity)
  expect_identical(said$file, file.path(normalizePath(dirname(file)), basename(file)))
  expect_identical(list(said$level, said$within), list(0L, TRUE))
  expect_true(file.exists(file))
  count <- 0
  found <- suppressMessages(run())
  expect_lt(count, sum(found@n.edgetests))
  expect_identical(parts(found), parts(skeleton(s, gaussCItest_in_r, 0.2, p = 9)))
})

test_that("when the time is over, the result is that of the last level", {
  s <- small()
  on.exit(options(pcgpu_test_wait = NULL))
  for (method in c("stable", "stable.fast", "original")) {
    for (result in c("pcAlgo", "compact")) {
      file <- no_file()
      # All time goes by at level 2.
      test <- function(x, y, S, suffStat) {
        if (length(S) == 2) {
          Sys.sleep(getOption("pcgpu_test_wait"))
        }
        gaussCItest(x, y, S, suffStat)
      }
      run <- function(...) pc(s, test, 0.2, p = 9, skel.method = method, result = result, ...)
      limited <- function(seconds) {
        options(pcgpu_test_wait = seconds)
        suppressMessages(run(checkpoint = file, time_limit = seconds))
      }
      ended <- until_time_is_over(
        function(seconds) {
          unlink(file)
          limited(seconds)
        },
        ended_at(1L)
      )
      again <- until_time_is_over(limited, ended_at(1L))
      options(pcgpu_test_wait = 0)
      for (over in list(ended, again)) {
        expect_identical(run_details(over$fit)$ended, "time limit")
        expect_identical(parts(over$fit), parts(run(m.max = 1)), info = paste(method, result))
      }
      expect_true(file.exists(file))
      whole <- suppressMessages(run(checkpoint = file))
      expect_identical(parts(whole), parts(run()), info = paste(method, result))
      expect_null(run_details(whole)$ended)
      expect_false(file.exists(file))
    }
  }
})

test_that("a result that ended early is marked wherever it is shown", {
  test <- function(x, y, S, suffStat) {
    if (length(S) == 1) {
      Sys.sleep(wait)
    }
    gaussCItest(x, y, S, suffStat)
  }
  wait <- 0
  ended <- function(search, ...) {
    until_time_is_over(
      function(seconds) {
        wait <<- seconds
        search(small(), test, 0.2, p = 9, time_limit = seconds, ...)
      },
      ended_at(0L)
    )
  }
  for (result in c("pcAlgo", "compact")) {
    over <- ended(pc, result = result)
    fit <- over$fit
    said <- sprintf("`time_limit` is %s: the search stopped in level 1.*m.max = 0.*more time", format(over$seconds))
    expect_match(conditionMessage(over$warned), said)
    expect_identical(list(over$warned$level, over$warned$seconds), list(0L, over$seconds))
    for (show in list(print, methods::show, summary)) {
      expect_output(
        show(fit),
        "Stopped by the time limit after level 0: the result is that of m.max = 0.",
        fixed = TRUE
      )
    }
    expect_output(print(run_details(fit)), "Stopped by the time limit after level 0", fixed = TRUE)
    texts <- drawn(plot_cpdag(fit, engine = "base", main = "mine"))$texts
    title <- texts$label %in% c("mine", "Stopped by the time limit after level 0: the result is that of m.max = 0.")
    expect_identical(c(sum(title), order(-texts$y[title])), c(2L, 1L, 2L))
    skel <- ended(skeleton, result = result)$fit
    expect_output(print(orient(skel)), "Stopped by the time limit after level 0", fixed = TRUE)
  }
  expect_output(
    print(as_pcalg(fit, suffStat = small(), indepTest = gaussCItest)),
    "Stopped by the time limit",
    fixed = TRUE
  )
  expect_no_match(capture.output(print(pc(small(), gaussCItest, 0.2, p = 9, time_limit = 100))), "time limit after")
})

test_that("without a whole level the time is an error", {
  e <- expect_error(pc(small(), slowly(0.05), 0.2, p = 9, time_limit = 0.1), class = "pcgpu_error_time_limit")
  expect_identical(e$seconds, 0.1)
})

test_that("Ctrl-C leaves the checkpoint", {
  skip_on_os("windows")
  file <- no_file()
  on.exit(unlink(file))
  s <- small()
  run <- function(test) skeleton(s, test, 0.2, p = 9, checkpoint = file)
  on.exit(options(pcgpu_test_seconds = NULL), add = TRUE)
  options(pcgpu_test_seconds = 0.05)
  test <- function(x, y, S, suffStat) {
    seconds <- getOption("pcgpu_test_seconds")
    if (seconds > 0) {
      Sys.sleep(seconds)
    }
    gaussCItest(x, y, S, suffStat)
  }
  stopped <- press_in_time(function() run(test))
  expect_identical(stopped$outcome, "stopped")
  expect_true(file.exists(file))
  options(pcgpu_test_seconds = 0)
  expect_message(found <- run(test), class = "pcgpu_message_resumed")
  expect_identical(parts(found), parts(skeleton(s, test, 0.2, p = 9)))
  # A native one, in the middle of a level.
  large <- endless_data()
  native <- function() skeleton(large, gaussCItest, 0.9999, p = 60, checkpoint = file, device = "cpu")
  expect_identical(press_in_time(native)$outcome, "stopped")
  said <- NULL
  press_in_time(function() {
    withCallingHandlers(native(), pcgpu_message_resumed = function(m) {
      said <<- m
      tryInvokeRestart("muffleMessage")
    })
  })
  expect_true(said$within)
})

test_that("a file that can no longer be written costs a warning, not the answer", {
  folder <- tempfile("gone")
  dir.create(folder)
  test <- function(x, y, S, suffStat) {
    if (length(S) == 1) {
      unlink(folder, recursive = TRUE)
    }
    gaussCItest(x, y, S, suffStat)
  }
  s <- small()
  run <- function(...) skeleton(s, test, 0.2, p = 9, ...)
  warned <- expect_warning(
    found <- run(checkpoint = file.path(folder, "a")),
    "cannot be written",
    class = "pcgpu_warning_checkpoint"
  )
  expect_identical(parts(found), parts(run()))
})

test_that("a file of another call is refused, and stays", {
  file <- no_file()
  on.exit(unlink(file))
  s <- small()
  base <- list(suffStat = s, indepTest = gaussCItest_in_r, alpha = 0.05, p = 9, checkpoint = file)
  run <- function(...) do.call(skeleton, utils::modifyList(base, list(...)))
  stopping <- function(x, y, S, suffStat) if (length(S) == 1) stop("now") else gaussCItest(x, y, S, suffStat)
  expect_error(run(indepTest = stopping), class = "pcgpu_error_test")
  bytes <- readBin(file, "raw", file.size(file))
  refused <- function(..., reason = "arguments", says) {
    e <- expect_error(run(...), class = "pcgpu_error_checkpoint")
    expect_identical(e$reason, reason)
    expect_match(conditionMessage(e), says)
    expect_identical(readBin(file, "raw", 1e6), bytes)
  }
  refused(says = "`indepTest` differs")
  refused(indepTest = stopping, alpha = 0.01, says = "`alpha` is 0.05 instead of 0.01")
  refused(indepTest = stopping, suffStat = small(seed = 5), says = "`suffStat` differs")
  refused(indepTest = gaussCItest, says = "`indepTest` differs, `suffStat` differs")
  refused(indepTest = stopping, method = "original", says = "`method` is stable instead of original")
  refused(indepTest = stopping, NAdelete = FALSE, says = "`NAdelete` is TRUE instead of FALSE")
  refused(indepTest = stopping, result = "compact", says = "`result` is pcAlgo instead of compact")
  gaps <- matrix(FALSE, 9, 9)
  gaps[1, 2] <- gaps[2, 1] <- TRUE
  refused(indepTest = stopping, fixedGaps = gaps, says = "`fixedGaps` differs")
  refused(indepTest = stopping, fixedEdges = gaps, says = "`fixedEdges` differs")
  refused(indepTest = stopping, m.max = 0, says = "contains level 1, but `m.max` is 0")
  # Not what the answer does not depend on.
  expect_error(
    suppressMessages(run(indepTest = stopping, numCores = 1, progress = FALSE, m.max = 5)),
    class = "pcgpu_error_test"
  )
  bytes <- bytes[-length(bytes)]
  writeBin(bytes, file)
  refused(indepTest = stopping, reason = "damaged", says = "is damaged")
  bytes <- charToRaw("my thesis")
  writeBin(bytes, file)
  refused(indepTest = stopping, reason = "other_file", says = "is not a checkpoint of pcgpu")
})

test_that("a function is recognised after R has compiled it, and data by their values", {
  test <- function(x, y, S, suffStat) suffStat$p(x, y)
  suff <- function(n) list(p = function(x, y) x / y, n = n)
  coded <- function(suffStat) pcgpu:::with_code(list(kind = "function"), list(file = "a"), test, suffStat)
  before <- coded(suff(1:3))
  for (i in 1:5) {
    test(1, 2, NULL, suff(1))
  }
  expect_identical(coded(suff(c(1L, 2L, 3L))), before)
  expect_false(identical(coded(suff(1:4)), before))
  expect_named(pcgpu:::with_code(list(kind = "function"), NULL, test, suff(1)), "kind")
})

test_that("lists of any class are recognised by their values", {
  coded <- function(suffStat) pcgpu:::with_code(list(kind = "function"), list(file = "a"), sin, suffStat)$stat
  time <- as.POSIXlt("2020-01-02", tz = "UTC")
  table <- structure(list(a = 1, f = list(sin)), class = "data.frame", row.names = 1L)
  strange <- structure(list(a = 1, f = sin), class = "nobody")
  expect_silent(known <- lapply(list(list(time), table, strange), coded))
  expect_identical(lapply(list(list(time), table, strange), coded), known)
  expect_false(identical(coded(list(time + 1)), known[[1]]))
  table$a <- 2
  strange$f <- cos
  expect_false(identical(coded(table), known[[2]]))
  expect_false(identical(coded(strange), known[[3]]))
})

test_that("a level that workers or this process have begun gives the same result the other way", {
  flag <- tempfile()
  file <- no_file()
  on.exit(unlink(c(flag, file)))
  workers <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(workers), add = TRUE)
  test <- function(x, y, S, suffStat) {
    if (length(S) > 0 && all(c(x, y) > 6) && file.exists(flag)) {
      stop("now")
    }
    gaussCItest(x, y, S, suffStat)
  }
  s <- small()
  within <- 0
  for (shape in list(c("stable", "compact"), c("stable.fast", "pcAlgo"))) {
    run <- function(...) suppressWarnings(skeleton(s, test, 0.2, p = 9, method = shape[1], result = shape[2], ...))
    wanted <- parts(run())
    for (cluster in list(NULL, workers)) {
      file.create(flag)
      expect_error(run(cluster = cluster, checkpoint = list(file = file, every = 0)), "now")
      unlink(flag)
      other <- if (is.null(cluster)) workers
      said <- expect_message(found <- run(cluster = other, checkpoint = file), class = "pcgpu_message_resumed")
      expect_identical(said$level, 1L)
      within <- within + said$within
      expect_identical(parts(found), wanted, info = shape)
    }
  }
  expect_gt(within, 2)
})

test_that("a matrix that the search checks itself is the same on workers, which also check it", {
  file <- no_file()
  p <- pcgpu:::most_checked_first + 1L
  s <- suff(p = p, n = 100, degree = 3)
  s$C[7, 5] <- s$C[5, 7] <- NA
  run <- function(...) {
    suppressWarnings(
      skeleton(s, gaussCItest, 0.01, p = p, method = "stable.fast", result = "compact", ...),
      classes = "pcgpu_warning_no_answer"
    )
  }
  # Workers of a cluster that use GPUs have other last digits of p-values.
  wanted <- parts(run(device = "cpu"))
  # Until one ends after a level and before the last.
  ends <- function(limit) {
    unlink(file)
    none <- function(e) FALSE
    tryCatch(
      is.null(run(checkpoint = file, time_limit = limit, device = "cpu")),
      pcgpu_warning_time_limit = function(w) TRUE,
      pcgpu_error_time_limit = none
    )
  }
  ended <- FALSE
  for (limit in 0.001 * 1.5^(0:15)) {
    ended <- ended || ends(limit)
  }
  skip_if_not(ended, "no search ended between two levels")
  workers <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(workers))
  expect_message(found <- run(checkpoint = file, cluster = workers, device = "cpu"), class = "pcgpu_message_resumed")
  expect_identical(parts(found), wanted)
})

test_that("wrong arguments are named", {
  run <- function(...) skeleton(small(), gaussCItest, 0.05, p = 9, ...)
  for (wrong in list(
    1,
    character(),
    NA_character_,
    "",
    list("a"),
    list(file = "a", evry = 1),
    list(file = "a", every = -1),
    list(file = "a", file = "b"),
    list(every = 1),
    tempdir()
  )) {
    e <- expect_error(run(checkpoint = wrong), class = "pcgpu_error_argument")
    expect_identical(e$argument, "checkpoint")
  }
  for (wrong in list(0, -1, NA, "a", c(1, 2))) {
    e <- expect_error(run(time_limit = wrong), class = "pcgpu_error_argument")
    expect_identical(e$argument, "time_limit")
  }
  expect_error(pc_control(time_limit = NULL), "`time_limit` is NULL", class = "pcgpu_error_argument")
  e <- expect_error(run(checkpoint = file.path(tempdir(), "none", "a")), class = "pcgpu_error_checkpoint")
  expect_identical(e$reason, "write")
})

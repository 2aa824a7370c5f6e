# Workers that are killed, hang or are gone: others do their work, or the call ends.

test_that("a selection goes on where a worker is killed, and ends where none is left", {
  skip_on_os("windows")
  share_always()
  set.seed(3)
  x <- matrix(rnorm(100 * 80), 100)
  y <- rep(0:1, 50)
  doomed <- doomed_workers(2)
  # Dies in the middle of its work.
  dies_at <- function(cluster, message) {
    parallel::clusterCall(cluster, eval, bquote({
      count <- 0
      answer <- utils::getFromNamespace("rank_answer", "pcgpu")
      utils::assignInNamespace("rank_answer", function(...) {
        count <<- count + 1
        if (count == .(message)) tools::pskill(Sys.getpid(), tools::SIGKILL)
        answer(...)
      }, "pcgpu")
    }))
  }
  dies_at(doomed$cluster[2], 9)
  expect_message(
    found <- select_features(x, y, 30, cluster = doomed$cluster), "^worker 2 .* failed", class = "pcgpu_message_lost"
  )
  parts <- c("index", "score", "relevance", "levels")
  expect_identical(found[parts], select_features(x, y, 30)[parts])
  dies_at(doomed$cluster[1], 5)
  expect_error(select_features(x, y, 30, cluster = doomed$cluster[1]), "no worker of the cluster is left", class = "pcgpu_error_cluster")
})

test_that("samples of a worker that hangs are done by others", {
  skip_on_os("windows")
  set.seed(3)
  x <- matrix(rnorm(60 * 20), 60)
  y <- rep(0:1, 30)
  be_quick(0.3)
  doomed <- doomed_workers(2)
  parallel::clusterCall(doomed$cluster[2], eval, quote({
    utils::assignInNamespace("rank_answer", function(...) tools::pskill(Sys.getpid(), tools::SIGSTOP), "pcgpu")
  }))
  select <- function(...) {
    set.seed(4)
    select_features(x, y, 3, ensemble = 30, ...)
  }
  expect_message(found <- select(cluster = doomed$cluster), "worker 2 .*closed", class = "pcgpu_message_cluster")
  parts <- c("index", "score", "frequency", "rank", "ensemble")
  expect_identical(found[parts], select()[parts])
})

test_that("the answer stays where a worker is killed, and a message names it", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  doomed <- doomed_workers(2)
  middle <- tempfile()
  found <- while_signalled(doomed$pids[1], "KILL", middle, pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster))
  expect_identical_answer(found$value, wanted)
  expect_length(found$lost, 1L)
  expect_match(found$lost[[1]]$device, "^worker 1 ")
})

test_that("workers of parallel_tests that die leave their work to others, and nothing behind", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  once <- tempfile()
  # Only one process can make the folder.
  deadly <- function(x, y, S, suffStat) {
    if (length(S) > 0 && dir.create(once, showWarnings = FALSE)) tools::pskill(Sys.getpid(), tools::SIGKILL)
    Sys.sleep(0.002)
    gaussCItest(x, y, S, suffStat)
  }
  before <- nrow(showConnections())
  expect_message(
    found <- pc(s, deadly, 0.05, p = 10, parallel_tests = TRUE, numCores = 2), "^worker [12] .* failed", class = "pcgpu_message_lost"
  )
  expect_true(dir.exists(once))
  expect_identical_answer(found, pc(s, slow_test, 0.05, p = 10))
  expect_identical(nrow(showConnections()), before)
})

test_that("a worker that hangs is overtaken, and told of", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  doomed <- doomed_workers(2)
  be_quick(0.5)
  middle <- tempfile()
  expect_message(
    found <- while_signalled(doomed$pids[2], "STOP", middle, pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster)),
    "Still at work on what they were given: worker 2 .*closed", class = "pcgpu_message_cluster"
  )
  expect_identical_answer(found$value, wanted)
  # Nobody gets its late answers.
  tools::pskill(doomed$pids[2], tools::SIGCONT)
  expect_error(parallel::clusterEvalQ(doomed$cluster, 42), "connection")
  expect_message(again <- pc(s, slow_test, 0.05, p = 10, cluster = doomed$cluster), "^worker 2 .* closed", class = "pcgpu_message_lost")
  expect_identical_answer(again, wanted)
})

test_that("a worker that hangs, or is gone, from the beginning is left out", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, gaussCItest, 0.05, p = 10)
  be_quick(0.3, "first_words")
  doomed <- doomed_workers(3)
  tools::pskill(doomed$pids[1], tools::SIGSTOP)
  tools::pskill(doomed$pids[2], tools::SIGKILL)
  lost <- list()
  found <- withCallingHandlers(pc(s, gaussCItest, 0.05, p = 10, cluster = doomed$cluster), pcgpu_message_lost = function(m) {
    lost[[length(lost) + 1L]] <<- m
    tryInvokeRestart("muffleMessage")
  })
  expect_identical_answer(found, wanted)
  expect_setequal(sub(" \\(.*", "", vapply(lost, function(m) m$device, "")), c("worker 1", "worker 2"))
  expect_match(conditionMessage(Filter(function(m) grepl("worker 1", m$device), lost)[[1]]), "has not answered within .* closed")
  closed <- parallel::makePSOCKcluster(1)
  parallel::stopCluster(closed)
  e <- expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = closed), class = "pcgpu_error_cluster")
  expect_match(conditionMessage(e), "no worker .* left: its connection is closed: start the cluster again")
})

test_that("a call ends with an error where no worker is left", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  doomed <- doomed_workers(2)
  middle <- tempfile()
  expect_error(
    while_signalled(doomed$pids, "KILL", middle, pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster)),
    "no worker of the cluster is left", class = "pcgpu_error_cluster"
  )
  expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = doomed$cluster), "no worker of the cluster is left", class = "pcgpu_error_cluster")
})

test_that("where all workers hang, the call ends after a time that users can set", {
  s <- suff(p = 10, n = 300, degree = 4)
  before <- options(pcgpu.cluster_silence = 1)
  on.exit(options(before))
  for (count in 1:2) {
    middle <- tempfile()
    doomed <- doomed_workers(count)
    error <- expect_error(
      while_signalled(doomed$pids, "STOP", middle, pc(s, telling_test(middle, 0.03), 0.05, p = 10, cluster = doomed$cluster)),
      "no worker of the cluster is left.*has not answered within 1 s.*pcgpu.cluster_silence", class = "pcgpu_error_cluster"
    )
    expect_match(error$mend, "checkpoint")
  }
  for (bad in list(0, "a", NA, 1:2)) {
    options(pcgpu.cluster_silence = bad)
    expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = 1), "pcgpu.cluster_silence", class = "pcgpu_error_argument")
  }
})

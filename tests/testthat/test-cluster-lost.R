# Workers that are killed, hang or are gone: others do their work, or the call ends.

test_that("a selection continues if a worker is killed, and ends if none is left", {
  skip_on_os("windows")
  share_always()
  set.seed(3)
  x <- matrix(rnorm(100 * 80), 100)
  y <- rep(0:1, 50)
  doomed <- doomed_workers(2)
  # Dies in the middle of its work.
  dies_at <- function(cluster, message) {
    parallel::clusterCall(
      cluster,
      eval,
      bquote({
        count <- 0
        answer <- utils::getFromNamespace("rank_answer", "pcgpu")
        utils::assignInNamespace(
          "rank_answer",
          function(...) {
            count <<- count + 1
            if (count == .(message)) {
              tools::pskill(Sys.getpid(), tools::SIGKILL)
            }
            answer(...)
          },
          "pcgpu"
        )
      })
    )
  }
  dies_at(doomed$cluster[2], 9)
  expect_message(
    found <- select_features(x, y, 30, cluster = doomed$cluster),
    "^worker 2 .* failed",
    class = "pcgpu_message_lost"
  )
  parts <- c("index", "score", "relevance", "levels")
  expect_identical(found[parts], select_features(x, y, 30)[parts])
  dies_at(doomed$cluster[1], 5)
  expect_error(
    select_features(x, y, 30, cluster = doomed$cluster[1]),
    "no worker of the cluster is left",
    class = "pcgpu_error_cluster"
  )
})

test_that("samples of a worker that hangs are done by others", {
  skip_on_os("windows")
  set.seed(3)
  x <- matrix(rnorm(60 * 20), 60)
  y <- rep(0:1, 30)
  be_quick(0.3)
  doomed <- doomed_workers(2)
  parallel::clusterCall(
    doomed$cluster[2],
    eval,
    quote({
      utils::assignInNamespace("rank_answer", function(...) tools::pskill(Sys.getpid(), tools::SIGSTOP), "pcgpu")
    })
  )
  select <- function(...) {
    set.seed(4)
    select_features(x, y, 3, ensemble = 30, ...)
  }
  expect_message(found <- select(cluster = doomed$cluster), "worker 2 .*closed", class = "pcgpu_message_cluster")
  parts <- c("index", "score", "frequency", "rank", "ensemble")
  expect_identical(found[parts], select()[parts])
})

test_that("the answer does not change if a worker is killed, and a message names it", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  doomed <- doomed_workers(2)
  middle <- tempfile()
  found <- while_signalled(
    doomed$pids[1],
    "KILL",
    middle,
    pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster)
  )
  expect_identical_answer(found$value, wanted)
  expect_length(found$lost, 1L)
  expect_match(found$lost[[1]]$device, "^worker 1 ")
})

test_that("workers of parallel_tests that die leave their work to others, and nothing behind", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  once <- tempfile()
  deadly <- deadly_test(once)
  before <- nrow(showConnections())
  expect_message(
    found <- pc(s, deadly, 0.05, p = 10, parallel_tests = TRUE, numCores = 2),
    "^worker [12] .* failed",
    class = "pcgpu_message_lost"
  )
  expect_true(dir.exists(once))
  expect_identical_answer(found, pc(s, slow_test, 0.05, p = 10))
  expect_identical(nrow(showConnections()), before)
})

test_that("a worker that hangs is overtaken, and a message names it", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  doomed <- doomed_workers(2)
  be_quick(0.5)
  middle <- tempfile()
  expect_message(
    found <- while_signalled(
      doomed$pids[2],
      "STOP",
      middle,
      pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster)
    ),
    "still busy: worker 2 .*closed",
    class = "pcgpu_message_cluster"
  )
  expect_identical_answer(found$value, wanted)
  # Nobody gets its late answers.
  tools::pskill(doomed$pids[2], tools::SIGCONT)
  expect_error(parallel::clusterEvalQ(doomed$cluster, 42), "connection")
  expect_message(
    again <- pc(s, slow_test, 0.05, p = 10, cluster = doomed$cluster),
    "^worker 2 .* closed",
    class = "pcgpu_message_lost"
  )
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
  found <- withCallingHandlers(
    pc(s, gaussCItest, 0.05, p = 10, cluster = doomed$cluster),
    pcgpu_message_lost = function(m) {
      lost[[length(lost) + 1L]] <<- m
      tryInvokeRestart("muffleMessage")
    }
  )
  expect_identical_answer(found, wanted)
  expect_setequal(sub(" \\(.*", "", vapply(lost, function(m) m$device, "")), c("worker 1", "worker 2"))
  expect_match(
    conditionMessage(Filter(function(m) grepl("worker 1", m$device), lost)[[1]]),
    "did not answer within .* closed"
  )
  closed <- parallel::makePSOCKcluster(1)
  parallel::stopCluster(closed)
  e <- expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = closed), class = "pcgpu_error_cluster")
  expect_match(conditionMessage(e), "no worker .* left [(]its connection is closed[)]: restart the cluster")
})

test_that("a call ends with an error if no worker is left", {
  skip_on_os("windows")
  s <- suff(p = 10, n = 300, degree = 4)
  doomed <- doomed_workers(2)
  middle <- tempfile()
  expect_error(
    while_signalled(doomed$pids, "KILL", middle, pc(s, telling_test(middle), 0.05, p = 10, cluster = doomed$cluster)),
    "no worker of the cluster is left",
    class = "pcgpu_error_cluster"
  )
  expect_error(
    pc(s, gaussCItest, 0.05, p = 10, cluster = doomed$cluster),
    "no worker of the cluster is left",
    class = "pcgpu_error_cluster"
  )
})

test_that("if all workers hang, the call ends after a time that users can set", {
  s <- suff(p = 10, n = 300, degree = 4)
  before <- options(pcgpu.cluster_silence = 1)
  on.exit(options(before))
  for (count in 1:2) {
    middle <- tempfile()
    doomed <- doomed_workers(count)
    error <- expect_error(
      while_signalled(
        doomed$pids,
        "STOP",
        middle,
        pc(s, telling_test(middle, 0.03), 0.05, p = 10, cluster = doomed$cluster)
      ),
      "no worker of the cluster is left.*did not answer within 1 s.*pcgpu.cluster_silence",
      class = "pcgpu_error_cluster"
    )
    expect_match(error$hint, "checkpoint")
  }
  for (bad in list(0, "a", NA, 1:2)) {
    options(pcgpu.cluster_silence = bad)
    expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = 1), "pcgpu.cluster_silence", class = "pcgpu_error_argument")
  }
})

# Has a worker answer everything of a task with the first bytes of a message, and nothing more.
half_messages <- function(cluster) {
  parallel::clusterCall(
    cluster,
    eval,
    quote({
      utils::assignInNamespace(
        "rank_answer",
        function(...) {
          open <- lapply(setdiff(getAllConnections(), 0:2), getConnection)
          con <- Filter(function(con) inherits(con, "sockconn"), open)[[1]]
          writeBin(serialize(list(type = "VALUE", value = raw(1e6)), NULL, xdr = FALSE)[1:5000], con)
          Sys.sleep(1e6)
        },
        "pcgpu"
      )
      NULL
    })
  )
}

test_that("half a message does not block the call longer than silence may last", {
  s <- suff(p = 10, n = 300, degree = 4)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  before <- options(pcgpu.cluster_silence = 1)
  on.exit(options(before))
  doomed <- doomed_workers(2)
  # The rest would come after 11 days.
  half_messages(doomed$cluster[1])
  expect_message(
    found <- pc(s, slow_test, 0.05, p = 10, cluster = doomed$cluster),
    "^worker 1 .* failed",
    class = "pcgpu_message_lost"
  )
  expect_identical_answer(found, wanted)
  # What was read in part is nobody's.
  expect_error(parallel::clusterCall(doomed$cluster[1], identity, 1))
  expect_identical(parallel::clusterCall(doomed$cluster[2], identity, 1), list(1))
})

test_that("Ctrl-C ends the wait for the rest of a message", {
  s <- suff()
  # As press_in_time(), but each time the connection is closed.
  for (attempt in 1:3) {
    doomed <- doomed_workers(1)
    half_messages(doomed$cluster)
    stopped <- press(function() pc(s, gaussCItest, 0.05, p = 8, cluster = doomed$cluster), delay = 3)
    expect_identical(stopped$outcome, "stopped")
    if (stopped$took < 0.5) break
  }
  expect_lt(stopped$took, 0.5)
})

# Has workers do this in place of a function of the package.
in_workers <- function(cluster, name, value) {
  parallel::clusterCall(
    cluster,
    function(name, value) {
      held <- new.env(parent = baseenv())
      held$value <- value
      space <- asNamespace("pcgpu")
      if (is.null(getOption("pcgpu.honest"))) {
        options(pcgpu.honest = mget(c("rank_about", "rank_open", "rank_answer"), space))
      }
      for (one in names(getOption("pcgpu.honest"))) {
        utils::assignInNamespace(one, getOption("pcgpu.honest")[[one]], "pcgpu")
      }
      utils::assignInNamespace(name, eval(quote(function(...) value), held), "pcgpu")
      NULL
    },
    name,
    value
  )
}

rubbish <- list(
  NULL,
  1L,
  "x",
  c("x", "y"),
  NA_character_,
  FALSE,
  TRUE,
  NA,
  raw(0),
  as.raw(1:100),
  list(),
  list(1, 2),
  quote(x),
  quote(stop()),
  expression(a),
  sum,
  new.env(),
  globalenv(),
  structure("x", class = "try-error"),
  simpleError("a"),
  structure(list(), class = "pcgpu_rank_condition"),
  structure(list(message = 1), class = "pcgpu_rank_condition"),
  structure(list(message = NULL, class = NULL), class = "pcgpu_rank_condition"),
  structure(list(message = "m", class = "foo", x = "a"), class = "pcgpu_rank_condition"),
  structure(list(message = "m", class = "pcgpu_error_test", x = 1, y = 2, S = "a"), class = "pcgpu_rank_condition"),
  structure(list(), class = "pcgpu_rank_failed"),
  structure(list(condition = simpleError("a")), class = "pcgpu_rank_failed"),
  structure(raw(0), said = "x"),
  structure(raw(0), said = list(conditions = "x")),
  structure(raw(0), said = list(conditions = list(list(condition = 1, count = "a")))),
  structure(raw(0), said = list(conditions = list(list(condition = simpleCondition("a"), count = "a"))))
)

# Returns the outcome of a call: "same", "other", or the class of the error.
outcome_of <- function(call, wanted) {
  tryCatch(
    if (identical(suppressMessages(call()), wanted)) "same" else "other",
    pcgpu_error = function(e) "classed",
    error = function(e) paste("unclassed:", conditionMessage(e))
  )
}

test_that("invalid bytes from a worker give an error of ours, or the worker is lost", {
  s <- suff(p = 10, n = 300, degree = 4)
  doomed <- doomed_workers(2)
  search <- function(...) pc(s, gaussCItest, 0.05, p = 10, ...)@graph
  wanted <- search()
  about <- c(
    rubbish,
    list(
      list(host = NULL),
      list(host = 1, version = 1),
      list(host = c("a", "b"), version = "0.1.0"),
      list(host = "h", version = c("0.1.0", "2")),
      list(host = NA_character_, version = "0.1.0")
    )
  )
  of <- list(rank_about = about, rank_open = rubbish, rank_answer = rubbish)
  for (name in names(of)) {
    for (value in of[[name]]) {
      in_workers(doomed$cluster[1], name, value)
      outcome <- outcome_of(function() search(cluster = doomed$cluster), wanted)
      # A worker that cannot be used says why in words, and that ends the call; as do first words that are damaged.
      ends <- name != "rank_answer" && is.character(value) || name == "rank_open" && is.raw(value)
      expect_identical(
        outcome,
        if (ends) "classed" else "same",
        info = paste(name, paste(deparse(value), collapse = ""))
      )
    }
  }
})

test_that("a worker whose answers R reads is lost if it sends invalid bytes", {
  doomed <- doomed_workers(2)
  data <- as.data.frame(simulate(8, 100, degree = 2))
  y <- data[[1]] > 0
  dag <- random_dag(6, 2, seed = 1)
  of_dag <- random_data(dag, 100, seed = 1)
  calls <- list(
    function(...) stability(data, gaussCItest, 0.05, replicates = 6, seed = 4, ...)$counts,
    function(...) cstar(data, 0.1, y = "v3", replicates = 6, seed = 4, ...)$pairs,
    function(...) markov_check(dag, of_dag, gaussCItest, seed = 1, ...)$questions,
    function(...) {
      set.seed(4)
      select_features(data[-1], y, 3, ensemble = 6, ...)[c("index", "score", "rank")]
    }
  )
  values <- c(
    rubbish,
    list(
      list(bounds = "a"),
      list(bounds = 1),
      list(x = 1L, y = 2L),
      list(index = 1L, score = 1, draw = 1L),
      list(list(independence = "a", dependence = 1))
    )
  )
  # Each call reads every second value and the last, whose forms are nearly its own; values of one kind are neighbours.
  nearly <- length(rubbish) < seq_along(values)
  for (i in seq_along(calls)) {
    wanted <- calls[[i]]()
    for (value in values[nearly | seq_along(values) %% 2 == i %% 2]) {
      in_workers(doomed$cluster[1], "rank_answer", value)
      outcome <- outcome_of(function() calls[[i]](cluster = doomed$cluster), wanted)
      expect_identical(outcome, "same", info = paste(i, paste(deparse(value), collapse = "")))
    }
  }
})

# Workers that are started for a call: nobody else can be one, and nothing of them is left.

# Lists what the process `pid` has open while code runs: inodes of its listening TCP sockets and of its sockets with a
# path.
doors_during <- function(code, pid = Sys.getpid()) {
  log <- tempfile()
  stop <- tempfile()
  script <- tempfile(fileext = ".sh")
  writeLines(
    c(
      sprintf("while [ ! -e %s ]; do", stop),
      "  awk '$4 == \"0A\" {print \"tcp\", $10}' /proc/net/tcp /proc/net/tcp6 2>/dev/null",
      "  awk 'NF >= 8 {print \"unix\", $7}' /proc/net/unix",
      sprintf("  ls -l /proc/%d/fd | sed -n 's/.*socket:\\[\\([0-9]*\\)\\].*/open \\1/p'", pid),
      "done"
    ),
    script
  )
  system(sprintf("sh %s >%s 2>/dev/null &", script, log))
  on.exit(file.create(stop))
  force(code)
  file.create(stop)
  Sys.sleep(0.2)
  seen <- unique(readLines(log))
  of <- function(kind) sub("^[a-z]+ ", "", grep(paste0("^", kind, " "), seen, value = TRUE))
  list(
    listening = intersect(of("tcp"), of("open")),
    with_path = intersect(of("unix"), of("open")),
    sockets = of("open")
  )
}

test_that("nothing listens while workers start, work and end", {
  skip_if_not(file.exists("/proc/net/tcp"))
  s <- suff(p = 10, n = 300, degree = 3)
  wanted <- pc(s, gaussCItest, 0.05, p = 10)
  # What is looked for is seen where it is: base R's sockets listen while they start.
  seen <- doors_during(parallel::stopCluster(parallel::makePSOCKcluster(1)))
  expect_gt(length(seen$listening), 0)
  calls <- list(function() expect_identical_answer(pc(s, gaussCItest, 0.05, p = 10, cluster = 2), wanted), function() {
    expect_identical_answer(
      pc(s, slow_test, 0.05, p = 10, parallel_tests = TRUE, numCores = 2),
      pc(s, slow_test, 0.05, p = 10)
    )
  })
  for (call in calls) {
    seen <- doors_during(call())
    expect_gt(length(seen$sockets), 1)
    expect_identical(seen$listening, character())
    expect_identical(seen$with_path, character())
  }
})

test_that("workers leave nothing behind: connections, descriptors, processes", {
  s <- suff(p = 10, n = 300, degree = 3)
  state <- function() {
    list(
      nrow(showConnections()),
      list.files("/proc/self/fd"),
      system(sprintf("ps -o args= --ppid %d | grep -v -e 'ps -o' -e 'sh -c'", Sys.getpid()), intern = TRUE)
    )
  }
  skip_if_not(file.exists("/proc/self/fd"))
  pc(s, gaussCItest, 0.05, p = 10, cluster = 2)
  before <- suppressWarnings(state())
  pc(s, gaussCItest, 0.05, p = 10, cluster = 2)
  pc(s, slow_test, 0.05, p = 10, parallel_tests = TRUE, numCores = 2)
  expect_error(pc(NULL, function(...) stop("no"), 0.05, p = 10, cluster = 2), class = "pcgpu_error_test")
  expect_error(
    pc(NULL, function(...) stop("no"), 0.05, p = 10, parallel_tests = TRUE, numCores = 2),
    class = "pcgpu_error_test"
  )
  # A fork's end is seen by R's handler.
  Sys.sleep(0.5)
  expect_identical(suppressWarnings(state()), before)
})

test_that("workers of our own give the answer of this process, also in forks, and if tests read and print", {
  s <- suff(p = 10, n = 300, degree = 3)
  chatty <- function(x, y, S, suffStat) {
    cat("x\n")
    readLines(file("stdin"), 1L)
    system("cat")
    gaussCItest(x, y, S, suffStat)
  }
  expect_identical_answer(
    pc(s, chatty, 0.05, p = 10, m.max = 0, cluster = 2),
    pc(s, slow_test, 0.05, p = 10, m.max = 0)
  )
  wanted <- pc(s, slow_test, 0.05, p = 10)
  # R's own forks of forks end the first.
  for (search in list(function() pc(s, slow_test, 0.05, p = 10, parallel_tests = TRUE, numCores = 2), function() {
    pc(s, slow_test, 0.05, p = 10, cluster = 2)
  })) {
    found <- parallel::mccollect(parallel::mcparallel(search()))[[1]]
    expect_identical_answer(found, wanted)
  }
})

test_that("long messages go through, however slowly they are read", {
  in_package(least_by_file = Inf)
  set.seed(1)
  x <- matrix(rnorm(50 * 1200), 50)
  kept <- suff_gauss(x)
  search <- function(...) skeleton(kept, gaussCItest, 1e-6, p = 1200, m.max = 1, device = "cpu", ...)
  expect_identical_answer(search(cluster = 2), search())
})

test_that("if a worker of our own dies, the other does its work, and without any the call is an error", {
  s <- suff(p = 10, n = 300, degree = 4)
  deadly <- deadly_test(tempfile())
  expect_message(
    found <- pc(s, deadly, 0.05, p = 10, cluster = 2),
    "^worker [12] .* failed.*signal: 9",
    class = "pcgpu_message_lost"
  )
  expect_identical_answer(found, pc(s, slow_test, 0.05, p = 10))
  ends <- function(x, y, S, suffStat) quit("no", 3)
  expect_error(
    pc(s, ends, 0.05, p = 10, cluster = 1),
    "no worker .* left.*exit status: 3",
    class = "pcgpu_error_cluster"
  )
  dies <- function(x, y, S, suffStat) tools::pskill(Sys.getpid(), tools::SIGKILL)
  expect_error(
    pc(s, dies, 0.05, p = 10, parallel_tests = TRUE, numCores = 2),
    "no worker .* left",
    class = "pcgpu_error_cluster"
  )
})

test_that("a worker of our own that hangs is overtaken, and ended with the call", {
  s <- suff(p = 10, n = 300, degree = 4)
  be_quick(0.5)
  pids <- tempfile()
  hangs <- function(x, y, S, suffStat) {
    if (length(S) > 0 && dir.create(pids, showWarnings = FALSE)) {
      file.create(file.path(pids, Sys.getpid()))
      tools::pskill(Sys.getpid(), tools::SIGSTOP)
    }
    Sys.sleep(0.002)
    gaussCItest(x, y, S, suffStat)
  }
  wanted <- pc(s, slow_test, 0.05, p = 10)
  for (search in list(function() pc(s, hangs, 0.05, p = 10, cluster = 2), function() {
    pc(s, hangs, 0.05, p = 10, parallel_tests = TRUE, numCores = 2)
  })) {
    expect_identical_answer(search(), wanted)
    stopped <- as.integer(list.files(pids))
    expect_length(stopped, 1L)
    Sys.sleep(0.2)
    expect_false(tools::pskill(stopped, 0))
    unlink(pids, recursive = TRUE)
  }
})

test_that("Ctrl-C ends the call and its workers within half a second", {
  napping <- function(x, y, S, suffStat) {
    Sys.sleep(5)
    0
  }
  for (search in list(function() pc(NULL, napping, 0.05, p = 20, cluster = 2), function() {
    pc(NULL, napping, 0.05, p = 20, parallel_tests = TRUE, numCores = 2)
  })) {
    # Workers of our own start meanwhile.
    stopped <- press_in_time(search, delay = 3)
    expect_identical(stopped$outcome, "stopped")
    expect_lt(stopped$took, 0.5)
  }
})

test_that("workers that cannot be started are a classed error", {
  own_workers <- check_rust(rust_workers())
  check_rust(rust_workers_add(own_workers))
  expect_error(
    check_rust(rust_workers_spawn(own_workers, file.path(tempfile(), "none"), character())),
    "could not be started",
    class = "pcgpu_error_cluster"
  )
  in_package(start_worker = function(own_workers) {
    check_rust(rust_workers_add(own_workers))
    check_rust(rust_workers_spawn(own_workers, "/bin/false", character()))
  })
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, cluster = 1),
    "no worker .* left.*exit status: 1",
    class = "pcgpu_error_cluster"
  )
})

test_that("workers on hosts that a param names are base R's, and end with the call", {
  in_package(own_workers = function(count, fork = FALSE) workers_on_hosts(rep("localhost", count)))
  s <- suff(p = 10, n = 300, degree = 3)
  before <- nrow(showConnections())
  fit <- pc(s, gaussCItest, 0.05, p = 10, cluster = 2)
  expect_match(run_details(fit)$device, "^worker [12] ")
  expect_identical_answer(fit, pc(s, gaussCItest, 0.05, p = 10))
  expect_identical(nrow(showConnections()), before)
})

# Searches on workers of other processes: what their answers are compared by, and how a worker is taken away.

# Compares two results to the last bit, except the call, which says who worked.
expect_identical_answer <- function(found, wanted, info = NULL) {
  found@call <- wanted@call <- quote(pc())
  expect_identical(found, wanted, info = info)
}

# Runs gaussCItest() after a pause.
slow_test <- function(x, y, S, suffStat) {
  Sys.sleep(0.002)
  gaussCItest(x, y, S, suffStat)
}

# Returns a test like slow_test() that reports in a file that the search is in its middle.
telling_test <- function(file, seconds = 0.005) {
  force(file)
  force(seconds)
  function(x, y, S, suffStat) {
    if (length(S) > 0 && !file.exists(file)) {
      file.create(file)
    }
    Sys.sleep(seconds)
    gaussCItest(x, y, S, suffStat)
  }
}

# Returns workers that a test may stop, and their processes. The processes end with the calling frame.
doomed_workers <- function(count, env = parent.frame()) {
  # R CMD check allows two.
  if (count > 2L && nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_"))) {
    testthat::skip("only two processes are allowed here")
  }
  cluster <- parallel::makePSOCKcluster(count)
  parallel::clusterCall(cluster, loadNamespace, "pcgpu")
  pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))
  end <- function() {
    for (node in cluster) {
      close(node$con)
    }
    tools::pskill(pids, tools::SIGKILL)
  }
  do.call(on.exit, list(bquote(.(end)()), add = TRUE), envir = env)
  list(cluster = cluster, pids = pids)
}

# Runs code, and sends processes a signal once this file exists. Returns the value and the reported losses.
while_signalled <- function(pids, signal, file, code) {
  system(sprintf(
    "sh -c 'for i in $(seq 1200); do if [ -e %s ]; then kill -%s %s; exit; fi; sleep 0.05; done' >/dev/null 2>&1 &",
    file,
    signal,
    paste(pids, collapse = " ")
  ))
  lost <- list()
  value <- withCallingHandlers(code, pcgpu_message_lost = function(m) {
    lost[[length(lost) + 1L]] <<- m
    tryInvokeRestart("muffleMessage")
  })
  list(value = value, lost = lost)
}

# Replaces objects of the package until the calling frame ends.
in_package <- function(..., env = parent.frame()) {
  values <- list(...)
  before <- mget(names(values), asNamespace("pcgpu"))
  enter <- function(values) {
    for (name in names(values)) {
      utils::assignInNamespace(name, values[[name]], "pcgpu")
    }
  }
  enter(values)
  # The last is taken back first.
  do.call(on.exit, list(bquote(.(enter)(.(before))), add = TRUE, after = FALSE), envir = env)
}

# Lets workers take selections of any size until the calling frame ends.
share_always <- function(env = parent.frame()) in_package(shared_cells = 0, shared_counts = 0, env = env)

# Shortens all waits for workers that do not answer until the calling frame ends.
be_quick <- function(seconds, constants = c("grace", "patience_of_pieces"), env = parent.frame()) {
  do.call(in_package, c(stats::setNames(rep(list(seconds), length(constants)), constants), env = env))
}

# Returns a test that kills one of the processes that run it: only one can create the folder `once`.
deadly_test <- function(once) {
  force(once)
  function(x, y, S, suffStat) {
    if (length(S) > 0 && dir.create(once, showWarnings = FALSE)) {
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }
    Sys.sleep(0.002)
    gaussCItest(x, y, S, suffStat)
  }
}

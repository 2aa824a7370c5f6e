with_settings <- function(code, option = NULL, variable = NA, limit = NA) {
  old_option <- options(pcgpu.threads = option)
  names <- c("PCGPU_NUM_THREADS", "_R_CHECK_LIMIT_CORES_")
  old <- Sys.getenv(names, unset = NA)
  restore <- function(values) {
    for (name in names) {
      value <- values[[name]]
      if (is.na(value)) Sys.unsetenv(name) else do.call(Sys.setenv, stats::setNames(list(value), name))
    }
  }
  on.exit({
    options(old_option)
    restore(old)
  })
  restore(stats::setNames(c(variable, limit), names))
  code
}

test_that("the argument comes before the option, the option before the variable, and that before all cores", {
  cores <- pcgpu:::rust_info()$cores
  threads <- function(...) as.integer(pcgpu:::resolve_threads(...))
  expect_identical(with_settings(threads(3), option = 5, variable = "7"), 3L)
  expect_identical(with_settings(threads(), option = 5, variable = "7"), 5L)
  expect_identical(with_settings(threads(), variable = "7"), 7L)
  expect_identical(with_settings(threads()), as.integer(cores))
  expect_identical(with_settings(threads(), limit = "TRUE"), min(as.integer(cores), 2L))
  expect_identical(with_settings(threads(), limit = "false"), as.integer(cores))
  expect_identical(threads(2.7), 2L)
  expect_identical(threads(0.5), 1L)
})

test_that("invalid settings are errors that name them", {
  threads <- pcgpu:::resolve_threads
  e <- expect_error(with_settings(threads(), option = "many"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "options(pcgpu.threads)")
  for (variable in c("many", "0", "-1")) {
    e <- expect_error(with_settings(threads(), variable = variable), class = "pcgpu_error_argument")
    expect_identical(e$argument, "PCGPU_NUM_THREADS")
  }
})

test_that("a default number of threads is marked: a call continues without threads that cannot be started", {
  named <- function(code) isTRUE(attr(code, "named"))
  threads <- pcgpu:::resolve_threads
  expect_true(with_settings(named(threads(3))))
  expect_true(with_settings(named(threads()), option = 5))
  expect_true(with_settings(named(threads()), variable = "7"))
  expect_false(with_settings(named(threads())))
  engine <- pcgpu:::engine_list(pcgpu:::new_device("cpu"), with_settings(threads()))
  expect_identical(engine[c("threads_named", "kind")], list(threads_named = FALSE, kind = "cpu"))
})

# Returns the names of the threads of this process.
threads_of_process <- function() {
  tasks <- Sys.glob("/proc/self/task/*/comm")
  vapply(tasks, function(task) tryCatch(readLines(task, warn = FALSE), error = function(e) ""), "", USE.NAMES = FALSE)
}

test_that("numCores is respected: no more threads than that exist while a search runs", {
  skip_if_not(dir.exists("/proc/self/task"), "no /proc")
  s <- suff(p = 60, n = 500, degree = 6)
  for (threads in c(1L, 2L)) {
    seen <- 0L
    pcgpu:::rust_search(
      list(kind = "gauss", C = s$C, n = s$n),
      list(
        p = 60L,
        method = "stable",
        alpha = 0.2,
        fixed_gaps = NULL,
        fixed_edges = NULL,
        na_delete = TRUE,
        m_max = 3,
        knowledge = NULL
      ),
      NULL,
      list(kind = "cpu", threads = threads, threads_named = TRUE),
      list(level = function(...) {
        # A thread has its name once it runs.
        Sys.sleep(0.05)
        seen <<- max(seen, sum(grepl("^pcgpu-", threads_of_process())))
      }),
      pcgpu:::empty_result()
    )
    expect_identical(seen, threads)
  }
  # They end after the call, which does not wait for them.
  left <- function() sum(grepl("^pcgpu-", threads_of_process()))
  for (attempt in 1:50) {
    if (left() > 0L) Sys.sleep(0.1)
  }
  expect_identical(left(), 0L)
})

test_that("a forked child takes one thread by default", {
  skip_on_os("windows")
  with_settings({
    expect_identical(
      parallel::mclapply(1:2, function(i) as.integer(pcgpu:::resolve_threads()), mc.cores = 2),
      list(1L, 1L)
    )
    expect_identical(
      parallel::mclapply(1:2, function(i) as.integer(pcgpu:::resolve_threads(2)), mc.cores = 2),
      list(2L, 2L)
    )
  })
  s <- suff()
  fits <- parallel::mclapply(1:2, function(i) pc(s, gaussCItest, 0.05, p = 8), mc.cores = 2)
  expect_identical(fits[[1L]]@graph, pc(s, gaussCItest, 0.05, p = 8)@graph)
})

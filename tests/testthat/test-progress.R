slow_test <- function(x, y, S, suffStat) {
  Sys.sleep(0.01)
  as.numeric(length(S) > 0)
}

# Returns what is written to stderr while `code` runs.
written <- function(code) {
  file <- tempfile()
  connection <- file(file, "w")
  sink(connection, type = "message")
  tryCatch(code, finally = {
    sink(type = "message")
    close(connection)
  })
  paste(readLines(file, warn = FALSE), collapse = "\n")
}

test_that("there is no bar in tests and reports unless the user sets it", {
  expect_false(pcgpu:::wants_progress(NULL))
  expect_true(pcgpu:::wants_progress(TRUE))
  old <- options(pcgpu.progress = TRUE)
  on.exit(options(old))
  expect_true(pcgpu:::wants_progress(NULL))
  expect_false(pcgpu:::wants_progress(FALSE))
})

test_that("the plain bar writes a line for each level", {
  bar <- pcgpu:::text_bar()
  output <- written({
    bar$report(0, 5, 10, "Level 0", 0.5)
    bar$report(0, 10, 10, "Level 0", 1)
    bar$report(1, 1, 4, "Level 1, 1,200 edges", 30)
    bar$report(1, 1, 400, "Level 1, 1,200 edges", 30)
    bar$close()
  })
  expect_match(output, "Level 0:  50%", fixed = TRUE)
  expect_no_match(output, "50%, ", fixed = TRUE)
  expect_match(output, "Level 0: 100%", fixed = TRUE)
  expect_match(output, "Level 1, 1,200 edges:  25%, 1:30 left", fixed = TRUE)
  expect_match(output, "Level 1, 1,200 edges:   0%, 3:19:30 left", fixed = TRUE)
})

test_that("the caller defines the text of a bar, with tests and their rate if they are counted", {
  said <- character()
  bar <- list(report = function(level, done, total, text, seconds) said <<- c(said, text), close = function() NULL)
  pcgpu:::progress_reporter(TRUE, function(level, edges) "Selecting 7 features", bar)$report(0, 1, 2, 0)
  report <- pcgpu:::progress_reporter(TRUE, draw = bar)$report
  report(1, 1, 4, 1200)
  report(2, 1, 4, 3, 1)
  Sys.sleep(0.25)
  report(2, 1, 4, 3, 12345)
  expect_identical(said[1:3], c("Selecting 7 features", "Level 1, 1,200 edges", "Level 2, 3 edges, 1 test"))
  expect_match(said[4], "^Level 2, 3 edges, 12,345 tests, [0-9,]+/s$")
})

# Returns what Rust reports: level, done, total, edges, tests, with a row for each report.
reported <- function(test, method, p, m_max = Inf, alpha = 0.05) {
  seen <- list()
  pcgpu:::rust_search(
    test,
    list(
      p = p,
      method = method,
      alpha = alpha,
      fixed_gaps = NULL,
      fixed_edges = NULL,
      na_delete = TRUE,
      m_max = m_max,
      knowledge = NULL
    ),
    NULL,
    list(kind = "cpu", threads = 2L, threads_named = TRUE),
    list(progress = function(...) seen[[length(seen) + 1]] <<- c(...)),
    pcgpu:::empty_result()
  )
  do.call(rbind, seen)
}

test_that("edges are counted once, and tests that are R functions are counted", {
  always <- list(kind = "function", fun = function(x, y, S) 0)
  never <- list(kind = "function", fun = function(x, y, S) as.numeric(length(S) > 0))
  for (method in c("stable", "stable.fast", "original")) {
    fast <- method == "stable.fast"
    for (test in list(always, never)) {
      seen <- reported(test, method, 6L, m_max = 1)
      expect_identical(unique(seen[, 4]), 15)
      ends <- seen[!duplicated(seen[, 1], fromLast = TRUE), , drop = FALSE]
      expect_identical(ends[, 2], ends[, 3])
      expect_identical(ends[, 3], c(if (fast) 15 else 30, 120))
      # stable.fast asks the first side alone, as all neighbours are common ones.
      if (identical(test, always)) {
        expect_identical(ends[, 5], c(if (fast) 15 else 30, if (fast) 60 else 120))
      }
    }
    s <- suff()
    gauss <- list(kind = "gauss", C = s$C, n = s$n)
    expect_identical(reported(gauss, method, 8L, m_max = 0, alpha = 0.999)[1L, 4:5], c(28, 0))
  }
})

test_that("a bar changes nothing in the answer", {
  s <- suff()
  without <- pc(s, gaussCItest, 0.05, p = 8)
  capture.output(with <- pc(s, gaussCItest, 0.05, p = 8, progress = TRUE), type = "message")
  with@call <- without@call
  expect_identical(with, without)
  capture.output(fit <- skeleton(NULL, slow_test, 0.05, p = 6, progress = TRUE), type = "message")
  expect_equal(sum(amat(fit)), 0)
})

test_that("cli's bar takes reports of several levels", {
  skip_if_not_installed("cli")
  bar <- pcgpu:::cli_bar()
  expect_silent({
    capture.output(type = "message", {
      bar$report(0, 5, 10, "Level 0", 0.1)
      bar$report(0, 10, 10, "Level 0", 0.2)
      bar$report(1, 1, 4, "Level 1", 0.1)
      bar$close()
    })
  })
})

test_that("Rust reports each level up to its end", {
  s <- suff()
  for (method in c("stable", "stable.fast", "original")) {
    seen <- reported(list(kind = "gauss", C = s$C, n = s$n), method, 8L)
    fit <- skeleton(s, gaussCItest, 0.05, p = 8, method = method)
    expect_identical(sort(unique(seen[, 1])), seq_along(fit@n.edgetests) - 1)
    ends <- seen[!duplicated(seen[, 1], fromLast = TRUE), , drop = FALSE]
    expect_true(all(ends[, 2] >= ends[, 3]))
  }
})

test_that("share and time left are visible on a line of 80 characters, whatever comes before them", {
  skip_if_not_installed("cli")
  code <- c(
    "options(cli.width = 80, cli.dynamic = TRUE, cli.progress_show_after = 0, cli.num_colors = 1)",
    "bar <- pcgpu:::cli_bar()",
    "for (done in 1:60) {",
    "  bar$report(1, done, 100, 'Level 12, 1,234,567 edges, 12,345,678 tests, 12,300/s', done / 30)",
    "  Sys.sleep(0.03)",
    "}",
    "bar$close()"
  )
  said <- unlist(strsplit(in_new_session(code), "\r", fixed = TRUE))
  shown <- grep("Level 12", said, value = TRUE)
  expect_gt(length(shown), 0L)
  expect_match(shown[length(shown)], "12,300/s +[0-9]+% +ETA: +[0-9]+s")
})

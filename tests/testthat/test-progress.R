slow_test <- function(x, y, S, suffStat) {
  Sys.sleep(0.01)
  as.numeric(length(S) > 0)
}

# What is written to stderr while `code` runs.
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

test_that("there is no bar in tests and reports unless it is asked for", {
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
    bar$report(0, 5, 10, 45)
    bar$report(0, 10, 10, 45)
    bar$report(1, 1, 4, 1200)
    bar$close()
  })
  expect_match(output, "Level 0, 45 edges:  50%", fixed = TRUE)
  expect_match(output, "Level 0, 45 edges: 100%", fixed = TRUE)
  expect_match(output, "Level 1, 1,200 edges:  25%", fixed = TRUE)
})

test_that("a bar can say something else than levels", {
  bar <- pcgpu:::text_bar(label = function(level, edges) "Selecting 7 features")
  output <- written({
    bar$report(0, 1, 2, 0)
    bar$close()
  })
  expect_match(output, "Selecting 7 features:  50%", fixed = TRUE)
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
      bar$report(0, 5, 10, 45)
      bar$report(0, 10, 10, 45)
      bar$report(1, 1, 4, 30)
      bar$close()
    })
  })
})

test_that("Rust reports each level up to its end", {
  seen <- list()
  s <- suff()
  found <- pcgpu:::rust_search(
    list(kind = "gauss", C = s$C, n = s$n),
    list(p = 8L, method = "stable", alpha = 0.05, fixed_gaps = NULL, fixed_edges = NULL, na_delete = TRUE, m_max = Inf),
    NULL,
    list(kind = "cpu", threads = 2L),
    list(progress = function(level, done, total, edges) seen[[length(seen) + 1]] <<- c(level, done, total, edges)),
    pcgpu:::empty_result()
  )
  seen <- do.call(rbind, seen)
  expect_identical(sort(unique(seen[, 1])), as.numeric(seq(0, found$max_ord)))
  ends <- seen[!duplicated(seen[, 1], fromLast = TRUE), , drop = FALSE]
  expect_true(all(ends[, 2] >= ends[, 3]))
})

test_that("seconds in the bits of NaN are restored to a microsecond, and identical() does not see them", {
  seconds <- c(0, 1e-6, 0.001234, 1.5, 12345.678901, 1e8, NA)
  hidden <- hide_seconds(seconds)
  expect_true(all(is.nan(hidden)))
  expect_equal(shown_seconds(hidden), seconds, tolerance = 1e-15)
  expect_true(identical(hidden, hide_seconds(rev(seconds))))
  expect_identical(shown_seconds(c(NaN, NA, 1, 0 / 0)), rep(NA_real_, 4))
  expect_identical(hide_seconds(numeric()), numeric())
  # Through copies and files.
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(list(hidden), file)
  expect_equal(shown_seconds(readRDS(file)[[1]][3:1]), seconds[3:1], tolerance = 1e-15)
  expect_equal(shown_seconds(hide_seconds(c(-1, 1e12))), c(0, (2^49 - 2) / 1e6), tolerance = 1e-15)
})

test_that("a clock notes the end of each level, and forwards reports", {
  heard <- NULL
  clock <- search_clock(function(level, done, total, edges, tests) heard <<- c(heard, level))
  session$fci_phase <- FALSE
  clock$report(-1, 1, 1, 0)
  Sys.sleep(0.02)
  clock$report(0, 1, 2, 9)
  clock$report(0, 2, 2, 9)
  clock$report(2, 5, 4, 9)
  session$fci_phase <- TRUE
  clock$report(1, 1, 1, 9)
  session$fci_phase <- FALSE
  expect_identical(heard, c(-1, 0, 0, 2, 1))
  found <- times_of(clock$read(list(n_edgetests = 1:3, all_tests_pdsep = 1:2)))
  expect_identical(as.double(found$times$level), c(0, 1, 2, 0, 1))
  expect_identical(found$times$phase, rep(c("skeleton", "possible-d-sep"), 3:2))
  expect_identical(is.na(found$times$seconds), c(FALSE, TRUE, FALSE, TRUE, FALSE))
  expect_gte(found$times$seconds[1], 0.019)
  expect_gte(found$seconds, sum(found$times$seconds, na.rm = TRUE) - 1e-5)
})

test_that("every search has its seconds, and two runs are identical", {
  x <- random_data(random_dag(12, 3, seed = 1), 300, seed = 1)
  suff <- suff_gauss(x)
  labels <- colnames(x)
  for (search in list(
    function() pc(suff, gaussCItest, 0.05, labels = labels),
    function() pc(suff, gaussCItest, 0.05, labels = labels, result = "compact"),
    function() skeleton(suff, gaussCItest, 0.05, labels = labels, method = "stable.fast"),
    function() fci(suff, gaussCItest, 0.05, labels = labels),
    function() rfci(suff, gaussCItest, 0.05, labels = labels),
    function() fciPlus(suff, gaussCItest, 0.05, labels = labels),
    function() orient(skeleton(suff, gaussCItest, 0.05, labels = labels)),
    function() skeleton(suff, function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat), 0.05, labels = labels)
  )) {
    took <- system.time(result <- search())[["elapsed"]]
    expect_true(identical(result, search()))
    details <- run_details(result)
    expect_gt(details$seconds, 0)
    expect_lte(details$seconds, took + 0.01)
    expect_gt(sum(details$times$seconds, na.rm = TRUE), 0)
    expect_lte(sum(details$times$seconds, na.rm = TRUE), details$seconds + 1e-5)
    of_skeleton <- if (is.null(details$times$phase)) {
      details$times
    } else {
      details$times[details$times$phase == "skeleton", ]
    }
    if (length(details$n.edgetests)) {
      expect_identical(nrow(of_skeleton), length(details$n.edgetests))
    }
    expect_false(anyNA(of_skeleton$seconds))
    expect_output(print(details), "Seconds: [0-9.]+; level 0: ")
    # What pcalg made has none.
    attr(attr(result, "call"), "pcgpu") <- NULL
    expect_null(run_details(result))
  }
  skip_if_not_installed("generics")
  fit <- pc(suff, gaussCItest, 0.05, labels = labels)
  expect_identical(generics::glance(fit)$seconds, run_details(fit)$seconds)
})

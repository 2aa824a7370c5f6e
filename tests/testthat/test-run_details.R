test_that("the device and the number of exact tests are reported", {
  details <- expect_visible(run_details(small_fit()))
  expect_identical(details$device, "cpu")
  expect_identical(details$version, as.character(packageVersion("pcgpu")))
  expect_gte(details$exact_tests, 0)
  # The CPU needs no plan of its memory.
  expect_named(
    details,
    c("device", "exact_tests", "test", "alpha", "samples", "valid_cpdag", "times", "version", "n.edgetests", "seconds")
  )
  expect_identical(
    unclass(details)[c("test", "alpha", "samples")],
    list(test = "gaussCItest", alpha = 0.01, samples = 1000)
  )
})

test_that("details print as a summary", {
  said <- capture.output(print(run_details(small_fit())))
  expect_match(said[3], "^Seconds: [0-9.]+; level 0: [0-9.]+; level 1: ")
  expect_identical(
    said[-3],
    c(
      paste("pcgpu", packageVersion("pcgpu"), "on cpu"),
      "Tests too close for the fast formula, decided by exact methods: 0",
      "Valid CPDAG: yes"
    )
  )
  fit <- small_fit()
  attr(fit@call, "pcgpu") <- pcgpu:::validity(
    list(valid_cpdag = FALSE),
    pcgpu:::check_orientation("relaxed", FALSE, TRUE, FALSE)
  )
  expect_output(print(run_details(fit)), "Valid CPDAG: no; for a valid one, use u2pd = \"valid\"", fixed = TRUE)
  judged <- list(valid_cpdag = TRUE, overruled = 3)
  attr(fit@call, "pcgpu") <- pcgpu:::validity(judged, pcgpu:::check_orientation("valid", FALSE, TRUE, FALSE))
  expect_output(print(run_details(fit)), "Valid CPDAG: yes; 3 decisions on v-structures overruled", fixed = TRUE)
  kept <- suff_gauss(simulate(60, 40), keep = "data")
  bounded <- skeleton(kept, gaussCItest, 0.05, p = 60, device = cpu_device(memory = 20000))
  expect_output(print(run_details(bounded)), "Correlations: .*level 0 [0-9.]+ kB")
})

test_that("a selection of features has details, too", {
  set.seed(1)
  x <- matrix(rnorm(400), 40)
  found <- select_features(x, factor(x[, 2] > 0), 3, device = "cpu")
  expect_s3_class(run_details(found), "pcgpu_details")
  expect_named(run_details(found), c("device", "version"))
  expect_identical(run_details(found)$device, "cpu")
})

test_that("two equal columns make exact tests", {
  x <- simulate(6, 100)
  fit <- pc(suff_gauss(cbind(x, twin = x[, 1])), gaussCItest, 0.05, p = 7)
  expect_gt(run_details(fit)$exact_tests, 0)
})

test_that("details survive orient(), saveRDS() and validObject()", {
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  details <- run_details(orient(skel))
  expect_identical(unclass(details)[names(run_details(skel))], unclass(run_details(skel)))
  expect_true(details$valid_cpdag)
  expect_true(validObject(orient(skel)))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(orient(skel), file)
  expect_identical(run_details(readRDS(file)), details)
  expect_error(run_details(3), class = "pcgpu_error_argument")
})

# Graphs of many searches, with few observations so that tests contradict each other.
test_that("whether the graph is a CPDAG agrees with pcalg", {
  skip_without_pcalg()
  seen <- logical()
  for (seed in 1:25) {
    s <- suff(p = 7, n = 40, degree = 3, seed = seed)
    for (way in list(
      list(),
      list(solve.confl = TRUE),
      list(maj.rule = TRUE),
      list(u2pd = "rand"),
      list(u2pd = "retry")
    )) {
      fit <- do.call(pc, c(list(s, gaussCItest, 0.2, p = 7), way))
      valid <- run_details(fit)$valid_cpdag
      m <- as(fit, "matrix")
      want <- !any(m == 2) && suppressMessages(pcalg::isValidGraph(m, type = "cpdag"))
      expect_identical(valid, want, info = paste(seed, deparse(way)))
      seen <- c(seen, valid)
    }
  }
  expect_gt(sum(seen), 30)
  expect_gt(sum(!seen), 30)
})

test_that("print, summary and plot report a graph that is no CPDAG", {
  invalid <- NULL
  for (seed in 1:50) {
    fit <- pc(suff(p = 9, n = 60, degree = 3, seed = seed), gaussCItest, 0.2, p = 9)
    if (!run_details(fit)$valid_cpdag) invalid <- fit
  }
  # Where pcalg is installed, its own methods print, and ours add the line.
  for (print in list(print, methods::show, summary, pcgpu:::print_result, pcgpu:::summary.pcAlgo)) {
    # Its lines are no wider than the console.
    said <- gsub("\\s+", " ", paste(capture.output(print(invalid)), collapse = " "))
    expect_match(
      said,
      "Not a valid CPDAG: the edges stand, .* For a valid CPDAG, use maj.rule = TRUE, u2pd = \"valid\""
    )
    expect_no_match(capture.output(print(small_fit())), "valid CPDAG")
    expect_no_match(capture.output(print(skeleton(suff(), gaussCItest, 0.05, p = 8))), "valid CPDAG")
  }
})

test_that("the note gives the meaning, then the remedy", {
  note <- function(u2pd = "relaxed", conservative = FALSE, maj.rule = FALSE, solve.confl = FALSE, known = NULL) {
    fit <- small_fit()
    orient <- pcgpu:::check_orientation(u2pd, conservative, maj.rule, solve.confl)
    orient["knowledge"] <- list(known)
    attr(fit@call, "pcgpu") <- pcgpu:::validity(list(valid_cpdag = FALSE), orient)
    pcgpu:::validity_note(fit)
  }
  meaning <- "Not a valid CPDAG: the edges stand, but the tests contradict each other on some arrows."
  expect_identical(note(), c(meaning, "For a valid CPDAG, use maj.rule = TRUE, u2pd = \"valid\" (see ?pc)."))
  expect_identical(note(u2pd = "retry")[2L], "For a valid CPDAG, use maj.rule = TRUE, u2pd = \"valid\" (see ?pc).")
  expect_identical(note(maj.rule = TRUE)[2L], "For a valid CPDAG, use u2pd = \"valid\" (see ?pc).")
  expect_identical(note(conservative = TRUE)[2L], "For a valid CPDAG, use u2pd = \"valid\" (see ?pc).")
  expect_identical(
    note(maj.rule = TRUE, solve.confl = TRUE)[2L],
    "For a valid CPDAG, use u2pd = \"valid\" in place of solve.confl = TRUE (see ?pc)."
  )
  expect_match(note(known = list())[1L], "MPDAG: .*each other or the background knowledge on some")
  # Knowledge that no direction of the edges can keep.
  expect_length(note(u2pd = "valid", known = list()), 1L)
  expect_null(pcgpu:::validity_note(small_fit()))
})

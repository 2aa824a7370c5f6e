searches <- list(fci = fci, rfci = rfci, fciPlus = fciPlus)

s <- suff(p = 8, n = 200, degree = 3)
labels <- colnames(s$C)

expect_argument_error <- function(code, argument, says = NULL) {
  e <- expect_error(code, class = "pcgpu_error_argument", info = argument)
  expect_identical(e$argument, argument)
  if (!is.null(says)) expect_match(conditionMessage(e), says, fixed = TRUE)
}

test_that("wrong arguments are named, with pcalg's sentence if it has one", {
  run <- function(...) fci(s, gaussCItest, 0.05, p = 8, ...)
  expect_argument_error(run(type = "slow"), "type")
  expect_argument_error(run(type = "anytime"), "m.max", "To use the Anytime FCI you must specify a finite 'm.max'.")
  expect_argument_error(
    run(type = "adaptive", m.max = 2),
    "m.max",
    "To use the Adaptive Anytime FCI you must not specify 'm.max'."
  )
  expect_argument_error(
    run(conservative = TRUE, maj.rule = TRUE),
    "maj.rule",
    "Choose either conservative FCI or majority rule FCI"
  )
  expect_argument_error(
    run(jci = "1", contextVars = 1),
    "selectionBias",
    "does not support selection bias (use selectionBias=FALSE instead)"
  )
  for (wrong in list(0, 9, 1.5, NA, "z", TRUE, list(1), c(1, NA))) {
    expect_argument_error(
      run(contextVars = wrong),
      "contextVars",
      "contextVars has to be a vector of integers in {1,2,..,p}, where p is the number of variables."
    )
  }
  for (wrong in list(TRUE, rep(NA, 10), 1:10, NULL)) {
    expect_argument_error(run(rules = wrong), "rules", "is.logical(rules) && length(rules) == 10 is not TRUE")
  }
  for (argument in c(
    "m.max",
    "pdsep.max",
    "doPdsep",
    "biCC",
    "conservative",
    "maj.rule",
    "selectionBias",
    "NAdelete",
    "verbose",
    "time_limit",
    "checkpoint",
    "jci",
    "paths",
    "skel.method"
  )) {
    expect_silent(expect_argument_error(do.call(run, stats::setNames(list(NA), argument)), argument))
  }
  for (argument in c("m.max", "pdsep.max")) {
    expect_silent(expect_argument_error(do.call(run, stats::setNames(list("a"), argument)), argument))
  }
  expect_argument_error(
    run(fixedGaps = diag(3) > 0),
    "fixedGaps",
    "Dimensions of the dataset and fixedGaps do not agree."
  )
  expect_argument_error(run(fixedEdges = upper.tri(diag(8))), "fixedEdges", "fixedEdges must be symmetric")
  expect_argument_error(
    rfci(s, gaussCItest, 0.05, p = 8, conservative = TRUE, maj.rule = TRUE),
    "maj.rule",
    "Can only choose one of conservative or majority rule RFCI"
  )
})

test_that("wrong data, tests and labels are named by all three", {
  for (search in searches) {
    expect_argument_error(search(), "labels", "need to specify 'labels' or 'p'")
    expect_argument_error(
      search(s["C"], p = 8, alpha = 0.05),
      "indepTest",
      "argument \"indepTest\" is missing, with no default"
    )
    expect_argument_error(search(s, gaussCItest, p = 8), "alpha")
    expect_argument_error(search(s, gaussCItest, NA, p = 8), "alpha")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 1), "p")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 7), "suffStat$C")
    expect_argument_error(
      search(s, gaussCItest, 0.05, labels = c(labels[-1], "v2")),
      "labels",
      "duplicated names, \"v2\""
    )
    expect_argument_error(search(s, gaussCItest, 0.05, labels = rev(labels)), "labels")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 8, foo = 1), "foo")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 8, result = "compact"), "result")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 8, control = pc_control(context.all = 1)), "control")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 8, numCores = 0), "numCores")
    expect_argument_error(search(s, gaussCItest, 0.05, p = 8, device = "gpu"), "device")
    expect_warning(search(s, gaussCItest, 0, p = 8), class = "pcgpu_warning_alpha")
    expect_message(
      search(s, gaussCItest, 0.05, labels = labels, p = 8),
      "No need to specify 'p', when 'labels' is given",
      fixed = TRUE
    )
    broken <- function(x, y, S, suffStat) if (length(S)) "a" else 0
    e <- expect_error(search(NULL, broken, 0.05, p = 4), "must return one number", class = "pcgpu_error_test")
    expect_length(e$S, 1)
  }
})

test_that("small, singular and degenerate data have pcalg's answers", {
  two <- function(r) list(C = matrix(c(1, r, r, 1), 2), n = 50)
  x <- simulate(8, 300)
  x[, 4] <- x[, 2]
  x[, 6] <- x[, 1] + x[, 5]
  hard <- list(alike = list(C = cor(x), n = 300), few = list(C = s$C, n = 5), none = list(C = s$C, n = 3), missing = s)
  hard$missing$C[2, 6] <- hard$missing$C[6, 2] <- NA
  for (search in names(searches)) {
    run <- searches[[search]]
    expect_identical(sum(run(two(0), gaussCItest, 0.05, p = 2)@amat), 0)
    expect_identical(run(two(0.9), gaussCItest, 0.05, p = 2)@amat["1", "2"], 1)
    for (name in names(hard)) {
      # NULL where a matrix with NA would have to be inverted.
      marks <- function(run, test) {
        searched <- function() {
          suppressWarnings(run(hard[[name]], test, 0.05, p = 8), classes = "pcgpu_warning_no_answer")
        }
        utils::capture.output(fit <- tryCatch(searched(), error = function(e) NULL))
        if (!is.null(fit)) fit@amat
      }
      ours <- marks(run, gaussCItest)
      expect_identical(
        ours,
        marks(run, function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)),
        info = paste(search, name)
      )
      if (has_pcalg_itself()) {
        expect_identical(
          ours,
          marks(getExportedValue("pcalg", search), pcalg::gaussCItest),
          info = paste(search, name, "pcalg")
        )
      }
    }
    expect_error(run(cbind(x, constant = 1), alpha = 0.05), "constant", class = "pcgpu_error_argument")
    expect_error(run(replace(x, 3, NA), alpha = 0.05), "missing values", class = "pcgpu_error_argument")
  }
})

test_that("data choose their test", {
  for (search in searches) {
    expect_message(mixed <- search(iris, alpha = 0.01), "mixCItest", class = "pcgpu_message_data")
    expect_identical(rownames(mixed@amat), names(iris))
  }
  x <- simulate(6, 300)
  expect_identical(
    suppressMessages(fci(x, alpha = 0.01))@amat,
    fci(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x))@amat
  )
})

test_that("threads, a bar and the way that a test is run change nothing", {
  known <- list(
    fci = list(),
    fci = list(maj.rule = TRUE),
    fci = list(type = "adaptive"),
    rfci = list(),
    fciPlus = list()
  )
  for (k in seq_along(known)) {
    run <- function(..., test = gaussCItest) {
      fit <- do.call(searches[[names(known)[k]]], c(list(s, test, 0.2, p = 8), known[[k]], list(...)))
      fit@call <- quote(fci())
      fit
    }
    one <- run(numCores = 1)
    expect_identical(run(numCores = 4), one)
    utils::capture.output(expect_identical(run(progress = TRUE), one), type = "message")
    utils::capture.output(expect_identical(run(verbose = TRUE), one))
    by_r <- run(test = function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat))
    by_r@pMax <- one@pMax
    expect_identical(by_r, one)
  }
})

test_that("the call is in the result, with details of the search", {
  fit <- fci(s, indepTest = gaussCItest, alpha = 0.2, p = 8, device = "cpu")
  expect_equal(
    fit@call,
    quote(fci(suffStat = s, indepTest = gaussCItest, alpha = 0.2, p = 8, device = "cpu")),
    ignore_attr = TRUE
  )
  details <- run_details(fit)
  expect_identical(details$test, "gaussCItest")
  expect_identical(details$phase$tests[seq_along(fit@n.edgetestsPDSEP)], fit@n.edgetestsPDSEP)
  expect_null(run_details(fci(s, gaussCItest, 0.2, p = 8, doPdsep = FALSE))$phase)
  expect_null(run_details(rfci(s, gaussCItest, 0.2, p = 8))$phase)
})

test_that("the possible-d-sep phase reports the possible number of its tests, if there are many", {
  large <- suff(p = 30, n = 500, degree = 4, seed = 3)
  said <- NULL
  search <- function(seconds) {
    withCallingHandlers(fci(large, gaussCItest, 0.1, p = 30, time_limit = seconds), pcgpu_message_pdsep = function(m) {
      said <<- m
      tryInvokeRestart("muffleMessage")
    })
  }
  fit <- until_time_is_over(search, function(fit) !is.null(said))$fit
  expect_match(conditionMessage(said), "may need up to [0-9,.e+]+ tests for [0-9]+ edges")
  expect_gt(said$tests, 1e7)
  expect_gte(said$edges, sum(fit@amat > 0) / 2)
  expect_no_message(fci(large, gaussCItest, 0.1, p = 30, m.max = 1), class = "pcgpu_message_pdsep")
})

test_that("components are found whatever variables are called", {
  removed <- 0
  for (seed in 1:5) {
    s <- suff(p = 9, n = 100, seed = seed)
    run <- function(...) fci(s, gaussCItest, 0.2, biCC = TRUE, m.max = 3, ...)
    named <- run(labels = colnames(s$C))
    numbered <- run(p = 9)
    expect_identical(unname(named@amat), unname(numbered@amat))
    expect_identical(named@n.edgetestsPDSEP, numbered@n.edgetestsPDSEP)
    removed <- removed + sum(named@n.edgetestsPDSEP)
  }
  expect_gt(removed, 0)
})

test_that("R4 orients the edges of its triangle, whatever pcalg's path leaves out", {
  # v -> q1 <-> q2 <-> b <-> c, q1 -> c, q2 -> c: the path that is found for b has lost its inner vertices.
  names <- c("v", "q1", "q2", "b", "c", "L1", "L2", "L3")
  arrows <- rbind(
    c("v", "q1"),
    c("L1", "q1"),
    c("L1", "q2"),
    c("L2", "q2"),
    c("L2", "b"),
    c("L3", "b"),
    c("L3", "c"),
    c("q1", "c"),
    c("q2", "c")
  )
  B <- matrix(0, 8, 8, dimnames = list(names, names))
  B[arrows] <- 1
  total <- solve(diag(8) - B)
  C <- stats::cov2cor(crossprod(total))[1:5, 1:5]
  for (search in list(fci, rfci)) {
    fit <- search(list(C = C, n = 1e9), gaussCItest, 0.9999, labels = names[1:5], rules = 1:10 != 2)
    expect_identical(c(fit@amat["q2", "b"], fit@amat["b", "q2"]), c(2, 2))
    if (has_pcalg_itself()) {
      theirs <- getExportedValue("pcalg", if (identical(search, fci)) "fci" else "rfci")
      expect_identical(
        fit@amat,
        theirs(list(C = C, n = 1e9), pcalg::gaussCItest, 0.9999, labels = names[1:5], rules = 1:10 != 2)@amat
      )
    }
  }
})

test_that("jci and contextVars, alone and against knowledge, give messages", {
  set.seed(1)
  x <- data.frame(a = rnorm(500), b = rnorm(500))
  x$c <- x$a + x$b + rnorm(500)
  s <- suff_gauss(x)
  run <- function(...) fci(s, gaussCItest, 0.01, labels = names(x), selectionBias = FALSE, ...)
  expect_message(run(contextVars = "a"), "`contextVars` has no effect without `jci`", class = "pcgpu_message_jci")
  expect_message(run(jci = "1"), "`jci` has no effect without `contextVars`", class = "pcgpu_message_jci")
  expect_error(
    run(jci = "1", contextVars = "a", required = data.frame(from = "c", to = "a")),
    "`required` has c -> a",
    fixed = TRUE,
    class = "pcgpu_error_argument"
  )
  expect_error(
    run(jci = "123", contextVars = c("a", "b"), required = data.frame(from = "a", to = "b")),
    "no context variable causes another",
    class = "pcgpu_error_argument"
  )
  m <- expect_message(
    fit <- run(jci = "12", contextVars = "a", forbidden = data.frame(from = "a", to = "c")),
    "contradict jci",
    class = "pcgpu_message_knowledge"
  )
  expect_identical(c(fit@amat["a", "c"], fit@amat["c", "a"]), c(2, 2))
  expect_no_message(run(jci = "12", contextVars = "a"), class = "pcgpu_message_knowledge")
})

test_that("the number of tests of a slow test's phase is reported, and one beyond doubles is finite in words", {
  s <- suff(p = 14, n = 500, degree = 4, seed = 3)
  expect_message(
    fci(s, function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat), 0.1, p = 14, m.max = 3),
    "may need up to [0-9,]+ tests",
    class = "pcgpu_message_pdsep"
  )
  said <- function(most) expect_message(pcgpu:::phase_teller("gauss")(10, most), class = "pcgpu_message_pdsep")
  expect_match(conditionMessage(said(Inf)), "more than 1e308 tests")
  expect_match(conditionMessage(said(1.234e60)), "1.23e+60 tests", fixed = TRUE)
})

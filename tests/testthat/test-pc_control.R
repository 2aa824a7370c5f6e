# Runs pc() without the warnings about knowledge that contradicts the data, which is not tested here.
pc <- function(...) suppressMessages(pcgpu::pc(...), classes = "pcgpu_message_knowledge")
orient <- function(...) suppressMessages(pcgpu::orient(...), classes = "pcgpu_message_knowledge")

test_that("arguments in the call and in control are the same search", {
  s <- suff()
  tiers <- rep(1:2, 4)
  wanted <- pc(s, gaussCItest, 0.05, p = 8, tiers = tiers, result = "compact")
  control <- pc_control(tiers = tiers, result = "compact")
  expect_identical_answer(pc(s, gaussCItest, 0.05, p = 8, control = control), wanted)
  expect_identical_answer(
    pc(s, gaussCItest, 0.05, p = 8, tiers = tiers, control = pc_control(result = "compact")),
    wanted
  )
  expect_identical_answer(pc(s, gaussCItest, 0.05, p = 8, control = list(tiers = tiers, result = "compact")), wanted)
  skel <- skeleton(s, gaussCItest, 0.05, p = 8, control = control)
  expect_identical_answer(skel, skeleton(s, gaussCItest, 0.05, p = 8, tiers = tiers, result = "compact"))
  expect_identical_answer(orient(skel, control = control), orient(skel, tiers = tiers))
  expect_identical_answer(orient(skel, control = control), wanted)
})

test_that("one control serves the search and the orientation", {
  file <- tempfile()
  control <- pc_control(tiers = rep(1:2, 4), checkpoint = file, time_limit = 60)
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8, control = control)
  expect_no_error(orient(skel, control = control))
  e <- expect_error(
    orient(skel, checkpoint = file),
    "not an argument of orient[(][)]: leave it out",
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "checkpoint")
})

test_that("the stored call is the user's", {
  known <- rep(1:2, 4)
  kept <- pc_control(time_limit = 60)
  fit <- suppressMessages(pcgpu::pc(suff(), gaussCItest, 0.05, p = 8, tiers = known, control = kept))
  expect_identical(as.list(fit@call)[c("tiers", "control")], list(tiers = quote(known), control = quote(kept)))
})

test_that("resampling uses the arguments that apply to it", {
  x <- suff_gauss(matrix(sin(seq_len(400)^1.3), 50), keep = "data")
  known <- rep(1:2, 4)
  wanted <- suppressMessages(stability(x, gaussCItest, 0.2, replicates = 5, seed = 1, tiers = known))
  with_control <- suppressMessages(stability(
    x,
    gaussCItest,
    0.2,
    replicates = 5,
    seed = 1,
    control = pc_control(tiers = known)
  ))
  expect_identical(with_control$counts, wanted$counts)
  expect_true(wanted$knowledge)
  ranked <- function(...) suppressMessages(cstar(x, 0.2, replicates = 5, seed = 1, ...))
  expect_identical(ranked(control = pc_control(tiers = known))$pairs, ranked(tiers = known)$pairs)
  refused <- expect_error(
    ranked(control = pc_control(na = "testwise")),
    "which cstar[(][)] does not use",
    class = "pcgpu_error_argument"
  )
  expect_identical(refused$argument, "control")
})

test_that("unknown arguments are refused, with a suggestion", {
  refused <- function(run, argument, says) {
    e <- expect_error(run, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    expect_match(conditionMessage(e), says, fixed = TRUE)
  }
  s <- suff()
  search <- function(...) pc(s, gaussCItest, 0.05, p = 8, ...)
  refused(search(time_limt = 3), "time_limt", "`time_limt` is not an argument of pc(): did you mean `time_limit`?")
  refused(search(skel.methd = "stable"), "skel.methd", "did you mean `skel.method`?")
  refused(skeleton(s, gaussCItest, 0.05, p = 8, skel.method = "stable"), "skel.method", "did you mean `method`?")
  refused(search(check = "f"), "check", "did you mean `checkpoint`?")
  refused(search(kernel = "f"), "kernel", "leave it out; see ?pc for the")
  refused(
    search(tiers = 1:8, control = pc_control(tiers = 8:1)),
    "tiers",
    "given twice, as an argument and in `control`"
  )
  refused(search(time_limit = 5, control = pc_control(time_limit = Inf)), "time_limit", "given twice")
  refused(
    pc(
      s,
      gaussCItest,
      0.05,
      letters[1:8],
      8,
      NULL,
      NULL,
      TRUE,
      Inf,
      "relaxed",
      "stable",
      FALSE,
      FALSE,
      FALSE,
      1,
      FALSE,
      "cpu",
      FALSE,
      "compact"
    ),
    "...",
    "an argument without a name: write name = value; see ?pc for the names."
  )
  refused(search(control = 60), "control", "give the result of pc_control()")
  refused(search(control = list(60)), "control", "give the result of pc_control()")
  refused(search(control = list(time_limt = 60)), "time_limt", "did you mean `time_limit`?")
  changed <- pc_control()
  changed$chekpoint <- "file"
  refused(search(control = changed), "chekpoint", "did you mean `checkpoint`?")
  refused(pc_control(60), "...", "without a name")
  refused(pc_control(time = 60), "time", "did you mean `time_limit`?")
})

test_that("values are checked, once and at once", {
  for (wrong in list(
    list(result = "table"),
    list(checkpoint = 3),
    list(time_limit = 0),
    list(cluster = "many"),
    list(parallel_tests = NA),
    list(na = "omit")
  )) {
    e <- expect_error(do.call(pc_control, wrong), class = "pcgpu_error_argument")
    expect_identical(e$argument, names(wrong))
    e <- expect_error(do.call(pc, c(list(suff(), gaussCItest, 0.05, p = 8), wrong)), class = "pcgpu_error_argument")
    expect_identical(e$argument, names(wrong))
  }
})

test_that("a list that was changed counts as it is", {
  control <- pc_control(tiers = rep(1:2, 4), time_limit = 60)
  control["tiers"] <- list(NULL)
  control$result <- "compact"
  fit <- pc(suff(), gaussCItest, 0.05, p = 8, control = control)
  expect_identical_answer(fit, pc(suff(), gaussCItest, 0.05, p = 8, result = "compact"))
  control$time_limit <- -1
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, control = control),
    "`time_limit` is -1",
    class = "pcgpu_error_argument"
  )
})

test_that("pc_control() prints what was given", {
  expect_output(print(pc_control()), "all defaults")
  expect_identical(
    capture.output(print(pc_control(
      checkpoint = list(file = "/tmp/search", every = 10),
      time_limit = 60,
      tiers = c(a = 1, b = 2),
      forbidden = data.frame(from = "a", to = "b")
    ))),
    c(
      "Search options (see ?pc_control):",
      "  checkpoint: file = \"/tmp/search\"; every = 10",
      "  time_limit: 60",
      "  tiers     : a = 1, b = 2",
      "  forbidden : a data frame with 1 row and 2 columns"
    )
  )
})

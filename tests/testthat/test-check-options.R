fit <- function(...) {
  arguments <- utils::modifyList(
    list(suffStat = suff(), indepTest = gaussCItest, alpha = 0.05, p = 8),
    list(...),
    keep.null = TRUE
  )
  do.call(pc, arguments)
}

bad <- function(argument, ..., message = NULL) {
  e <- expect_error(fit(...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), e$hint, fixed = TRUE)
  if (!is.null(message)) expect_match(conditionMessage(e), message, fixed = TRUE)
}

test_that("alpha is a number", {
  for (alpha in list(NA, NA_real_, NaN, "0.05", c(0.01, 0.05), NULL)) {
    bad("alpha", alpha = alpha)
  }
})

test_that("alpha outside (0, 1) gets a warning and the plain loop's answer", {
  dm <- simulate_codes(6, 400)
  s <- suff(p = 6)
  # A pair with p = 1 exactly.
  s$C[1, 2] <- s$C[2, 1] <- 0
  for (test in list(list(s, gaussCItest), list(dm, disCItest), list(dm, chi2CItest))) {
    wrapped <- function(x, y, S, suffStat) test[[2L]](x, y, S, suffStat)
    for (method in c("stable", "stable.fast", "original")) {
      for (alpha in c(-Inf, -0.1, 0, 1, 1.5, Inf)) {
        w <- expect_warning(
          ours <- skeleton(test[[1L]], test[[2L]], alpha, p = 6, method = method),
          "`alpha` is",
          class = "pcgpu_warning_alpha"
        )
        expect_identical(w$alpha, alpha)
        plain <- suppressWarnings(skeleton(test[[1L]], wrapped, alpha, p = 6, method = method))
        expect_same_result(ours, plain, info = paste(method, alpha))
        if (alpha <= 0) {
          expect_equal(sum(amat(ours)), 0)
        }
        if (alpha > 1) expect_equal(sum(amat(ours)), 30)
      }
    }
  }
})

test_that("alpha outside (0, 1) gets pcalg's answer", {
  skip_without_pcalg()
  s <- suff(p = 6)
  for (method in c("stable", "stable.fast", "original")) {
    for (alpha in c(-Inf, -0.1, 0, 1, 1.5, Inf)) {
      ours <- suppressWarnings(pc(s, gaussCItest, alpha, p = 6, skel.method = method))
      expect_same_result(
        ours,
        pcalg::pc(s, pcalg::gaussCItest, alpha, p = 6, skel.method = method),
        info = paste(method, alpha)
      )
    }
    fit <- pc(s, gaussCItest, 0.05, p = 6, skel.method = method)
    # The sweep that scripts do.
    sweep <- unique(fit@pMax[upper.tri(fit@pMax)])
    # The last digits of the C++'s p-values, by which "stable.fast" decides, are boost's.
    if (method == "stable.fast") {
      sweep <- sweep * (1 + 1e-9)
    }
    for (alpha in sweep) {
      ours <- suppressWarnings(pc(s, gaussCItest, alpha, p = 6, skel.method = method))
      expect_same_result(
        ours,
        pcalg::pc(s, pcalg::gaussCItest, alpha, p = 6, skel.method = method),
        info = paste(method, alpha)
      )
    }
  }
})

test_that("an argument without a default that is left out is named, in R's words", {
  for (argument in c("suffStat", "indepTest", "alpha")) {
    for (fun in list(pc, skeleton)) {
      # suff_gauss() would know its test.
      given <- list(suffStat = suff()["C"], indepTest = gaussCItest, alpha = 0.05, p = 8)
      e <- expect_error(do.call(fun, given[names(given) != argument]), class = "pcgpu_error_argument")
      expect_identical(e$argument, argument)
      expect_match(
        conditionMessage(e),
        sprintf("argument \"%s\" is missing, with no default\n`%s` is missing: give", argument, argument)
      )
    }
  }
})

test_that("m.max is a number", {
  for (m.max in list(NA, NA_real_, NaN, "2", 1:2, NULL)) {
    bad("m.max", m.max = m.max)
  }
})

test_that("flags are TRUE or FALSE", {
  for (flag in c("NAdelete", "conservative", "maj.rule", "solve.confl")) {
    for (value in list(NA, "yes", c(TRUE, FALSE), NULL)) {
      do.call(bad, c(flag, stats::setNames(list(value), flag)))
    }
  }
})

test_that("numCores is a positive number", {
  for (numCores in list(0, -1, NA, "2", 1:2)) {
    bad("numCores", numCores = numCores, message = "numCores > 0 is not TRUE")
  }
})

test_that("verbose is a flag or a number", {
  for (verbose in list(NA, "loud", 1:2, NULL)) {
    bad("verbose", verbose = verbose)
  }
  expect_identical(vapply(list(-Inf, FALSE, TRUE, 2, 1e10), pcgpu:::check_verbose, 0L), c(0L, 0L, 1L, 2L, 2L))
})

test_that("the error for a wrong setting names the place where it was set", {
  old <- options(pcgpu.progress = "often")
  on.exit(options(old))
  bad("options(pcgpu.progress)")
})

test_that("progress is NULL or a flag", {
  for (progress in list(NA, "bar", 1:2)) {
    bad("progress", progress = progress)
  }
})

test_that("u2pd and skel.method are chosen with match.arg()'s message", {
  bad("u2pd", u2pd = "random", message = "'arg' should be one of")
  bad("skel.method", skel.method = "fast", message = "'arg' should be one of")
  e <- expect_error(skeleton(suff(), gaussCItest, 0.05, p = 8, method = "fast"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "method")
})

test_that("pcalg's refusals of combinations keep its words", {
  bad(
    "u2pd",
    u2pd = "rand",
    conservative = TRUE,
    message = "Conservative PC and majority rule PC can only be run with 'u2pd = relaxed'"
  )
  bad(
    "u2pd",
    u2pd = "retry",
    maj.rule = TRUE,
    message = "Conservative PC and majority rule PC can only be run with 'u2pd = relaxed'"
  )
  bad(
    "u2pd",
    u2pd = "retry",
    solve.confl = TRUE,
    message = paste0(
      "Versions of PC using lists for the orientation rules (and possibly bi-directed edges)\n",
      " can only be run with 'u2pd = relaxed'"
    )
  )
  bad("maj.rule", conservative = TRUE, maj.rule = TRUE, message = "Choose either conservative PC or majority rule PC!")
})

test_that("device is the name of one", {
  expect_identical(fit(device = "cpu")@graph, fit(device = "auto")@graph)
  for (device in list("gpu", "cuda:", "cuda:-1", "cuda:x", "CUDA", NA, 1, c("cpu", "auto"), list("cpu"), NULL)) {
    bad("device", device = device, message = "pcgpu_devices()")
  }
})

test_that("indepTest is a function or the name of a test", {
  expect_identical(fit(indepTest = "gauss")@graph, fit(indepTest = gaussCItest)@graph)
  bad("indepTest", indepTest = "gausCItest", message = "gaussCItest")
  bad("indepTest", indepTest = c("gauss", "rcot"))
  bad("indepTest", indepTest = NULL)
})

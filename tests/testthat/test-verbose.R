test_that("verbose prints every test of a small search, and pcalg's line for each level of a large one", {
  s <- suff()
  lines <- capture.output(fit <- skeleton(s, gaussCItest, 0.05, p = 8, verbose = TRUE))
  expect_identical(lines[1:2], c("Order=0; remaining edges:56", "x= 1  y= 2  S=  : pval = 0.9761107 "))
  expect_identical(sum(grepl("^Order=", lines)), length(fit@n.edgetests))
  expect_identical(sum(grepl("^x=", lines)), as.integer(sum(fit@n.edgetests)))
  p <- pcgpu:::most_printed + 1L
  large <- suff(p = p)
  lines <- capture.output(fit <- skeleton(large, gaussCItest, 0.05, p = p, verbose = TRUE))
  expect_match(lines, "^Order=", all = TRUE)
  expect_length(lines, length(fit@n.edgetests))
  lines <- capture.output(fit <- skeleton(large, gaussCItest, 0.05, p = p, verbose = 2))
  expect_identical(sum(grepl("^x=", lines)), as.integer(sum(fit@n.edgetests)))
  expect_match(lines, sprintf("^\\|i= %d \\|iMax= %d $", p * (p - 1), p * (p - 1)), all = FALSE)
  lines <- capture.output(fit <- skeleton(large, gaussCItest, 0.05, p = p, method = "stable.fast", verbose = TRUE))
  expect_identical(lines[1:2], c("Casting arguments...", "Fitting skeleton to data..."))
  expect_match(lines[-(1:2)], "^Order = [1-9]; remaining edges: [0-9]+$", all = TRUE)
})

test_that("printing changes nothing in the answer", {
  s <- suff(p = 9, n = 60, degree = 3)
  for (arguments in list(list(), list(maj.rule = TRUE), list(solve.confl = TRUE), list(skel.method = "stable.fast"))) {
    run <- function(verbose) do.call(pc, c(list(s, gaussCItest, 0.1, p = 9, verbose = verbose), arguments))
    capture.output(printed <- run(2))
    silent <- run(FALSE)
    silent@call <- printed@call
    expect_identical(printed, silent)
  }
})

test_that("tests that are R functions are printed one by one", {
  test <- function(x, y, S, suffStat) 0.5
  expect_identical(
    capture.output(s <- skeleton(NULL, test, 0.05, p = 2, verbose = TRUE)),
    c("Order=0; remaining edges:2", "x= 1  y= 2  S=  : pval = 0.5 ")
  )
  lines <- capture.output(s <- skeleton(NULL, test, 0.05, p = 2, method = "stable.fast", verbose = TRUE))
  expect_identical(lines[2], "  x = 0, y = 1, S = () : pval = 0.5")
})

# Returns pcalg's lines without those about its own inner work with verbose = 2.
transcript <- function(code) capture.output(invisible(code))

test_that("the lines of a search are pcalg's, all of them", {
  skip_without_pcalg()
  s <- suff(p = 12, n = 100, degree = 3)
  missing <- s
  missing$C[2, 5] <- missing$C[5, 2] <- NA
  rounded <- function(x, y, S, suffStat) round(gaussCItest(x, y, S, suffStat), 6)
  gaps <- matrix(FALSE, 12, 12)
  gaps[1, 2] <- gaps[2, 1] <- gaps[3, 9] <- gaps[9, 3] <- TRUE
  for (method in c("stable", "original", "stable.fast")) {
    for (verbose in if (method == "stable.fast") 1 else 1:2) {
      for (test in list(list(gaussCItest, pcalg::gaussCItest), list(rounded, rounded))) {
        for (stat in list(s, missing)) {
          run <- function(skeleton, test) {
            transcript(skeleton(
              stat,
              test,
              0.05,
              p = 12,
              method = method,
              verbose = verbose,
              fixedGaps = gaps,
              fixedEdges = t(gaps)
            ))
          }
          expect_identical(run(pcgpu::skeleton, test[[1L]]), run(pcalg::skeleton, test[[2L]]))
        }
      }
    }
  }
})

test_that("the lines of an orientation are pcalg's, all of them", {
  skip_without_pcalg()
  spoken <- character()
  # 32 has a conflict in rule 1, 203 and 483 have rule 3.
  for (seed in c(1:12, 32, 203, 483)) {
    s <- suff(p = 9, n = 50, degree = 4, seed = seed)
    for (arguments in list(
      list(),
      list(solve.confl = TRUE),
      list(conservative = TRUE),
      list(maj.rule = TRUE),
      list(maj.rule = TRUE, solve.confl = TRUE),
      list(skel.method = "stable.fast"),
      list(u2pd = "rand"),
      list(u2pd = "retry")
    )) {
      run <- function(pc, test) transcript(do.call(pc, c(list(s, test, 0.2, p = 9, verbose = TRUE), arguments)))
      set.seed(seed)
      ours <- run(pcgpu::pc, gaussCItest)
      set.seed(seed)
      expect_identical(ours, run(pcalg::pc, pcalg::gaussCItest), info = paste(seed, deparse(arguments)))
      spoken <- unique(c(spoken, gsub("[0-9 ]+", " ", ours)))
    }
  }
  # Every kind of line was among them.
  for (kind in c(
    "Rule ': -> and -",
    "Rule ': -> <- but",
    "Rule : Chain -> -> : ->",
    "Rule ': faithful triple: ->",
    "Triple:",
    "a: S =",
    "c: S =",
    "Triple ambiguous"
  )) {
    expect_true(any(startsWith(spoken, kind)), info = kind)
  }
})

test_that("orient() prints the lines of pc() about the orientation", {
  s <- suff(p = 8, n = 60, degree = 3)
  skel <- skeleton(s, gaussCItest, 0.1, p = 8)
  lines <- capture.output(orient(
    skel,
    maj.rule = TRUE,
    suffStat = s,
    indepTest = gaussCItest,
    alpha = 0.1,
    verbose = TRUE
  ))
  whole <- capture.output(invisible(pc(s, gaussCItest, 0.1, p = 8, maj.rule = TRUE, verbose = TRUE)))
  oriented <- grep("^(Order|x=|\\|i=)", whole, invert = TRUE, value = TRUE)
  expect_identical(head(lines, length(oriented)), oriented)
  expect_match(lines, "^a: S =", all = FALSE)
})

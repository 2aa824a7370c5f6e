# Compares with pcalg itself.

# Returns the slots of ours that differ from pcalg's.
differing_slots <- function(ours, theirs) {
  bare <- function(sets) lapply(sets, function(set) if (is.list(set)) lapply(set, bare_set) else bare_set(set))
  bare_set <- function(set) if (!is.null(set)) as.integer(set)
  same <- list(
    amat = identical(ours@amat, theirs@amat),
    sepset = identical(bare(ours@sepset), bare(theirs@sepset)),
    max.ord = identical(ours@max.ord, theirs@max.ord),
    max.ordPDSEP = identical(ours@max.ordPDSEP, theirs@max.ordPDSEP),
    n.edgetests = isTRUE(all.equal(ours@n.edgetests, theirs@n.edgetests)),
    n.edgetestsPDSEP = identical(ours@n.edgetestsPDSEP, theirs@n.edgetestsPDSEP),
    n = identical(ours@n, theirs@n),
    allPdsep = identical(sorted_sets(bare(ours@allPdsep)), sorted_sets(bare(theirs@allPdsep))),
    pMax = same_pmax(ours@pMax, replace(theirs@pMax, is.na(theirs@pMax), NA))
  )
  names(same)[!unlist(same)]
}

quietly <- function(code) {
  utils::capture.output(value <- tryCatch(code, error = function(e) NULL))
  value
}

test_that("random problems have pcalg's answers, in every slot", {
  skip_without_pcalg()
  set.seed(3)
  compared <- 0
  more <- list(
    fci = list(
      list(),
      list(conservative = TRUE),
      list(maj.rule = TRUE),
      list(biCC = TRUE),
      list(doPdsep = FALSE, maj.rule = TRUE),
      list(pdsep.max = 4),
      list(jci = "123", contextVars = c(1, 3), selectionBias = FALSE),
      list(selectionBias = FALSE),
      list(type = "adaptive")
    ),
    rfci = list(list(), list(conservative = TRUE), list(maj.rule = TRUE), list(rules = rep(c(TRUE, FALSE), 5))),
    fciPlus = list(list(), list(selectionBias = FALSE), list(jci = "12", contextVars = 2, selectionBias = FALSE))
  )
  for (search in names(more)) {
    for (k in seq_along(more[[search]])) {
      for (na in c(FALSE, if (search == "fci") TRUE)) {
        test <- hash_test(sample(1e5, 1), sample(0:2, 1), stats::runif(1, 0.3, 1), na)
        given <- more[[search]][[k]]
        if (search != "fciPlus") {
          given <- c(given, list(skel.method = sample(c("stable", "original", "stable.fast"), 1)))
        }
        if (search == "fci" && is.null(given$type)) {
          given$m.max <- sample(c(2, 3, Inf), 1)
        }
        # pcalg's biCC takes labels for numbers.
        arguments <- c(
          list(NULL, test, stats::runif(1, 0.6, 0.95)),
          if (is.null(given$biCC)) list(labels = letters[1:6]) else list(p = 6),
          given
        )
        setTimeLimit(elapsed = 20, transient = TRUE)
        theirs <- quietly(do.call(getExportedValue("pcalg", search), arguments))
        setTimeLimit()
        # Half of these tests have no answer now and then, and pcgpu says so.
        searched <- function() {
          suppressWarnings(do.call(getExportedValue("pcgpu", search), arguments), classes = "pcgpu_warning_no_answer")
        }
        ours <- tryCatch(searched(), error = function(e) NULL)
        info <- paste(search, k, deparse(given), collapse = " ")
        expect_identical(is.null(ours), is.null(theirs), info = info)
        if (!is.null(ours) && !is.null(theirs)) {
          expect_identical(differing_slots(ours, theirs), character(), info = info)
          compared <- compared + 1
        }
      }
    }
  }
  expect_gt(compared, 15)
})

# Returns pcalg's lines, except those that its searches for paths print.
lines_of_call <- function(code) {
  Filter(function(line) !startsWith(line, "    minUncov"), utils::capture.output(invisible(code)))
}

test_that("verbose prints pcalg's lines, except those of searches for paths", {
  skip_without_pcalg()
  for (seed in 1:2) {
    s <- suff(p = 9, n = 80, degree = 3, seed = seed)
    s$C <- s$C[-1, -1]
    calls <- list(
      fci = list(),
      fci = list(conservative = TRUE),
      fci = list(maj.rule = TRUE, skel.method = "stable.fast"),
      fci = list(biCC = TRUE, m.max = 2),
      fci = list(pdsep.max = 3),
      fci = list(doPdsep = FALSE, selectionBias = FALSE, jci = "123", contextVars = 1:2),
      rfci = list(),
      rfci = list(maj.rule = TRUE),
      fciPlus = list()
    )
    for (k in seq_along(calls)) {
      run <- function(package) {
        test <- getExportedValue(package, "gaussCItest")
        lines_of_call(do.call(
          getExportedValue(package, names(calls)[k]),
          c(list(s, test, 0.2, p = 8, verbose = TRUE), calls[[k]])
        ))
      }
      ours <- run("pcgpu")
      expect_gt(length(ours), 10)
      expect_identical(ours, run("pcalg"), info = paste(seed, names(calls)[k], deparse(calls[[k]])))
    }
    skel <- skeleton(s, gaussCItest, 0.2, p = 8)
    of_phase <- function(package) {
      phase <- getExportedValue(package, "pdsep")
      lines_of_call(phase(
        skel@graph,
        s,
        getExportedValue(package, "gaussCItest"),
        8,
        skel@sepset,
        0.2,
        skel@pMax,
        verbose = TRUE
      ))
    }
    expect_identical(of_phase("pcgpu"), of_phase("pcalg"))
    amat <- as(skel@graph, "matrix")
    of_marks <- function(package) {
      lines_of_call(getExportedValue(package, "udag2pag")(amat, skel@sepset, verbose = TRUE))
    }
    expect_identical(of_marks("pcgpu"), of_marks("pcalg"))
  }
})

test_that("udag2pag() keeps the attributes that pcalg's keeps, and warns as it does", {
  skip_without_pcalg()
  s <- suff(p = 8, n = 200, degree = 3)
  skel <- skeleton(s, gaussCItest, 0.1, labels = colnames(s$C))
  for (storage in c("double", "integer", "logical")) {
    pag <- as(skel@graph, "matrix")
    storage.mode(pag) <- storage
    expect_identical(udag2pag(pag, skel@sepset), pcalg::udag2pag(pag, skel@sepset), info = storage)
  }
  warned <- function(udag2pag) {
    tryCatch(udag2pag(pag, skel@sepset, jci = "1", contextVars = 1), warning = conditionMessage)
  }
  expect_identical(warned(pcgpu::udag2pag), warned(pcalg::udag2pag))
})

# What pcalg's functions make of our results of the recorded cases is what they made of its own.
test_that("pcalg's functions take our results", {
  skip_without_pcalg()
  compared <- 0
  for (name in c("gauss-p10-labels", "gauss-p8-n5000", "gauss-p12-n200", "dsep-p5-pdsep")) {
    golden <- read_golden(file.path("fci", name))
    p <- golden$p
    fit <- do.call(fci, c(fci_arguments(golden), selectionBias = FALSE, more_fci_arguments(golden)))
    steps <- golden$steps
    amat <- unname(fit@amat)
    expect_identical(amat, amat_of(steps$pag, p), info = name)
    expect_identical(unname(pcalg::pag2conf(as(fit, "matrix"))) + 0, matrix_of(steps$pag2conf), info = name)
    expect_identical(unname(pcalg::pag2anc(as(fit, "matrix"))) + 0, matrix_of(steps$pag2anc), info = name)
    expect_identical(unname(pcalg::pag2edge(as(fit, "matrix"))) + 0, matrix_of(steps$pag2edge), info = name)
    for (one in utils::head(steps$pag2magAM, 3)) {
      expect_identical(unname(pcalg::pag2magAM(fit@amat, one$x)), amat_of(one$amat, p), info = paste(name, one$x))
    }
    for (one in utils::head(steps$backdoor, 12)) {
      # A set, NULL for none, NA for none that is known.
      found <- tryCatch(
        suppressWarnings(pcalg::backdoor(as(fit, "matrix"), one$x, one$y, type = "pag")),
        error = function(e) "error"
      )
      info <- paste(name, one$x, one$y)
      if (identical(one$set, "not identifiable")) {
        expect_true(is.na(found), info = info)
      } else if (identical(one$set, "NULL")) {
        expect_null(found, info = info)
      } else {
        expect_equal(sort(as.integer(found)), as.integer(unlist(one$set)), info = info)
      }
      compared <- compared + 1
    }
    expect_true(is.list(pcalg::searchAM(fit@amat, 1, "sp")) || is.numeric(pcalg::searchAM(fit@amat, 1, "sp")))
    expect_true(is.numeric(pcalg::possibleDe(fit@amat, 1)))
    expect_s3_class(as(fit, "amat"), "amat")
    utils::capture.output(print(as(fit, "amat")))
    expect_s4_class(pcalg::getGraph(fit), "graphAM")
    expect_true(is.logical(pcalg::gac(fit@amat, 1, 2, NULL, type = "pag")$gac))
    # By dagitty.
    if (requireNamespace("dagitty", quietly = TRUE)) {
      expect_true(is.list(pcalg::adjustment(as(fit, "amat"), amat.type = "pag", x = 1, y = 2, set.type = "canonical")))
    }
  }
  expect_gt(compared, 30)
})

test_that("use_in_pcalg() replaces pcalg's functions, also when its dag2pag() calls udag2pag()", {
  skip_without_pcalg()
  on.exit(use_in_pcalg(FALSE))
  set.seed(44)
  graph <- pcalg::randomDAG(10, prob = 0.3)
  true <- stats::cov2cor(pcalg::trueCov(graph))
  of_dag <- function() pcalg::dag2pag(list(C = true, n = 1e9), pcalg::gaussCItest, graph, L = 3, alpha = 0.9999)
  theirs <- of_dag()
  s <- suff(p = 7)
  arguments <- list(s, gaussCItest, 0.1, p = 7)
  searches <- c("fci", "rfci", "fciPlus")
  before <- lapply(searches, function(search) quietly(do.call(getExportedValue("pcalg", search), arguments)))
  use_in_pcalg()
  for (name in c(searches, "pdsep", "udag2pag")) {
    expect_identical(getExportedValue("pcalg", name), getExportedValue("pcgpu", name))
  }
  after <- lapply(searches, function(search) do.call(getExportedValue("pcalg", search), arguments))
  for (k in seq_along(searches)) {
    expect_identical(differing_slots(after[[k]], before[[k]]), character(), info = searches[k])
  }
  expect_identical(of_dag()@amat, theirs@amat)
  hidden <- fci(list(C = true[-3, -3], n = 1e9), gaussCItest, 0.9999, p = 9)
  expect_identical(unname(hidden@amat), unname(theirs@amat))
  use_in_pcalg(FALSE)
  expect_identical(environmentName(environment(pcalg::udag2pag)), "pcalg")
})

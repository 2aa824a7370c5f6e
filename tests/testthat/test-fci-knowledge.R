# Expects that a search with a test that knows the truth finds no false mark and no false edge, except rfci(), which may
# keep too many edges.
expect_true_pag <- function(fit, problem, adjacent, info, all_edges = FALSE) {
  amat <- unname(fit@amat)
  expect_identical(false_marks(amat, problem), 0L, info = info)
  if (all_edges) {
    expect_false(any(adjacent & amat == 0), info = info)
  } else {
    expect_identical(amat != 0, adjacent, info = info)
  }
}

searches <- list(fci = fci, rfci = rfci, fciPlus = fciPlus)

# fci() with all its ways to find colliders, and the other two.
ways <- list(
  fci = list("fci"),
  no_selection = list("fci", selectionBias = FALSE),
  conservative = list("fci", conservative = TRUE),
  majority = list("fci", maj.rule = TRUE),
  by_component = list("fci", biCC = TRUE),
  original = list("fci", skel.method = "original"),
  rfci = list("rfci"),
  fciPlus = list("fciPlus")
)

test_that("marks and edges are those of the true DAG, with hidden variables and with selection", {
  marks <- 0
  for (seed in 1:10) {
    selection <- as.integer(seed %% 3 == 0)
    problem <- hidden_problem(5 + seed %% 2, 2 + seed %% 3, selection, degree = 2 + seed %% 3, seed = seed)
    adjacent <- inseparable(problem)
    for (paths in c("pcalg", "all")) {
      for (way in if (selection) setdiff(names(ways), "no_selection") else names(ways)) {
        asked <- ways[[way]]
        fit <- do.call(
          searches[[asked[[1]]]],
          c(list(NULL, problem$test, 0.5, p = problem$p, paths = paths), asked[-1])
        )
        expect_true_pag(fit, problem, adjacent, paste(seed, paths, way), all_edges = way == "rfci")
        marks <- marks + sum(fit@amat > 1)
      }
    }
  }
  expect_gt(marks, 300)
})

# Returns true knowledge of a problem: tiers along the order of causes, three arrows that are absent, one that is
# present.
known_of <- function(problem, adjacent) {
  ancestor <- problem$ancestor
  place <- order(order(colSums(ancestor)))
  none <- which(!ancestor, arr.ind = TRUE)
  sure <- which(adjacent & ancestor, arr.ind = TRUE)
  some <- function(pairs, count) {
    if (nrow(pairs)) unname(pairs[sample.int(nrow(pairs), min(count, nrow(pairs))), , drop = FALSE])
  }
  list(tiers = as.integer(cut(place, 3)), forbidden = some(none, 3), required = some(sure, 1))
}

test_that("knowledge is in the graph, adds no false mark and removes no true mark", {
  more <- 0
  for (seed in 1:10) {
    problem <- hidden_problem(5 + seed %% 2, 2 + seed %% 3, degree = 2 + seed %% 3, seed = seed)
    adjacent <- inseparable(problem)
    known <- known_of(problem, adjacent)
    for (search in names(searches)) {
      run <- function(...) searches[[search]](NULL, problem$test, 0.5, p = problem$p, paths = "all", ...)
      without <- unname(run()@amat)
      for (given in list("tiers", "forbidden", "required", names(known))) {
        info <- paste(seed, search, paste(given, collapse = " "))
        expect_no_message(fit <- do.call(run, known[given]))
        amat <- unname(fit@amat)
        expect_true_pag(fit, problem, adjacent, info, all_edges = search == "rfci")
        if (search != "rfci") {
          expect_identical(amat[without > 1], without[without > 1], info = info)
        }
        if ("tiers" %in% given) {
          expect_true(all(amat[outer(known$tiers, known$tiers, "<") & amat > 0] == 2), info = info)
        }
        forbidden <- known$forbidden
        if ("forbidden" %in% given) {
          expect_true(all(amat[forbidden[, 2:1, drop = FALSE]] %in% c(0, 2)), info = info)
        }
        required <- known$required
        if ("required" %in% given && !is.null(required)) {
          expect_identical(c(amat[required], amat[required[, 2:1, drop = FALSE]]), c(2, 3), info = info)
        }
        more <- more + sum(amat > 1) - sum(without > 1)
      }
    }
  }
  expect_gt(more, 100)
})

test_that("sets have no member of a later tier than the ends", {
  asked <- new.env()
  asked$wrong <- 0
  tiers <- c(2, 1, 3, 1, 2, 3, 2)
  test <- function(x, y, S, suffStat) {
    if (any(tiers[S] > max(tiers[c(x, y)]))) {
      asked$wrong <- asked$wrong + 1
    }
    hash_test(17)(x, y, S)
  }
  fci(NULL, test, 0.9, p = 7, tiers = tiers)
  expect_identical(asked$wrong, 0)
  fci(NULL, test, 0.9, p = 7)
  expect_gt(asked$wrong, 0)
})

test_that("names and numbers of variables are the same knowledge", {
  s <- suff(p = 8, n = 300, degree = 3)
  labels <- colnames(s$C)
  run <- function(...) {
    suppressMessages(fci(s, gaussCItest, 0.05, labels = labels, ...), classes = "pcgpu_message_knowledge")@amat
  }
  expect_identical(
    run(
      tiers = list(labels[5:8], labels[1:4]),
      forbidden = data.frame("v1", "v2"),
      required = matrix(c("v3", "v4"), 1)
    ),
    run(tiers = rep(2:1, each = 4), forbidden = matrix(1:2, 1), required = matrix(3:4, 1))
  )
})

test_that("data that contradict the knowledge give a message, and contradictory knowledge is refused", {
  set.seed(1)
  x <- matrix(rnorm(8000), 2000, dimnames = list(NULL, paste0("v", 1:4)))
  x[, 3] <- x[, 1] + x[, 2] + x[, 3]
  run <- function(...) fci(list(C = cor(x), n = 2000), gaussCItest, 0.01, labels = colnames(x), ...)
  expect_identical(run()@amat["v1", "v3"], 2)
  said <- expect_message(
    fit <- run(required = c(from = "v3", to = "v1")),
    "The data contradict what is known about the mark at \"v3\" on the edge to \"v1\"",
    class = "pcgpu_message_knowledge"
  )
  expect_identical(fit@amat["v1", "v3"], 3)
  e <- expect_error(
    run(tiers = c(v1 = 2, v2 = 1, v3 = 1, v4 = 1), required = data.frame("v1", "v3")),
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "required")
  for (wrong in c("context.all", "context.tier")) {
    e <- expect_error(do.call(run, stats::setNames(list("v1"), wrong)), class = "pcgpu_error_argument")
    expect_identical(e$argument, wrong)
  }
  expect_error(run(tiers = 1:4, skel.method = "stable.fast"), class = "pcgpu_error_argument")
})

test_that("context variables are given by number or by name", {
  s <- suff(p = 8, n = 300, degree = 3)
  labels <- colnames(s$C)
  for (search in searches[c("fci", "fciPlus")]) {
    for (jci in c("1", "12", "123")) {
      run <- function(contextVars) {
        search(s, gaussCItest, 0.05, labels = labels, selectionBias = FALSE, jci = jci, contextVars = contextVars)@amat
      }
      expect_identical(run(labels[c(2, 7)]), run(c(2, 7)))
      expect_identical(run(factor(labels[c(2, 7)])), run(c(2L, 7L)))
      expect_identical(run(character()), run(NULL))
    }
  }
})

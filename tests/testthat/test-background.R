suffs <- function() {
  s <- suff(p = 8, n = 500, degree = 3)
  dimnames(s$C) <- NULL
  s
}
fit <- function(...) {
  suppressMessages(pc(suffs(), gaussCItest, 0.05, labels = letters[1:8], ...), "pcgpu_message_knowledge")
}

bad <- function(argument, message, ...) {
  e <- expect_error(fit(...), class = "pcgpu_error_argument")
  expect_identical(e$argument, argument)
  expect_match(conditionMessage(e), message, fixed = TRUE)
}

kinds <- function(fit) {
  table <- edges(fit)
  stats::setNames(as.character(table$kind), paste(table$from, table$to))
}

test_that("tiers are named, listed, ordered or by position, and all the same", {
  tiers <- c(1, 1, 2, 2, 2, 3, 3, 3)
  found <- fit(tiers = tiers)
  same <- function(...) expect_identical_answer(fit(...), found)
  same(tiers = 10 * tiers - 100)
  same(tiers = rev(stats::setNames(tiers, letters[1:8])))
  same(tiers = list(c("b", "a"), letters[3:5], 6:8))
  same(tiers = factor(c("x", "x", "y", "y", "y", "z", "z", "z"), c("x", "y", "z"), ordered = TRUE))
  for (i in seq_len(nrow(edges(found)))) {
    edge <- edges(found)[i, ]
    tier <- tiers[match(c(edge$from, edge$to), letters)]
    if (tier[1] != tier[2]) expect_identical(c(as.character(edge$kind), tier[1] < tier[2]), c("-->", "TRUE"))
  }
  # No set has a member of a later tier than both ends.
  for (x in 1:8) {
    for (y in 1:8) {
      for (v in found@sepset[[x]][[y]]) {
        expect_lte(tiers[v], max(tiers[x], tiers[y]))
      }
    }
  }
  expect_false(identical(found@graph, fit()@graph))
})

test_that("one tier is no tier, and the parts of pc() are pc()", {
  expect_identical_answer(fit(tiers = rep(7, 8)), fit(tiers = list(letters[1:8])))
  expect_identical(fit(tiers = rep(7, 8))@sepset, fit()@sepset)
  known <- list(tiers = c(1, 1, 2, 2, 2, 3, 3, 3), required = c("a", "h"), forbidden = data.frame(from = "c", to = "d"))
  whole <- do.call(fit, known)
  skel <- do.call(skeleton, c(list(suffs(), gaussCItest, 0.05, labels = letters[1:8]), known))
  expect_identical(suppressMessages(do.call(orient, c(list(skel), known)))@graph, whole@graph)
  compact <- do.call(fit, c(known, result = "compact"))
  expect_identical(suppressWarnings(as_pcalg(compact))@graph, whole@graph)
})

test_that("threads, one test after the other, processes and methods have one answer", {
  tiers <- c(3, 1, 2, 2, 1, 3, 1, 2)
  for (method in c("stable", "original")) {
    found <- fit(tiers = tiers, skel.method = method, maj.rule = TRUE, solve.confl = TRUE)
    same <- function(...) {
      expect_identical_answer(fit(..., tiers = tiers, skel.method = method, maj.rule = TRUE, solve.confl = TRUE), found)
    }
    same(numCores = 1)
    same(result = "pcAlgo", device = cpu_device(memory = 3000))
  }
  function_of_ours <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  found <- fit(tiers = tiers)
  by_function <- pc(suffs(), function_of_ours, 0.05, labels = letters[1:8], tiers = tiers)
  expect_equal(by_function@pMax, found@pMax)
  expect_identical(by_function@graph, found@graph)
  forked <- pc(
    suffs(),
    function_of_ours,
    0.05,
    labels = letters[1:8],
    tiers = tiers,
    parallel_tests = TRUE,
    numCores = 2
  )
  expect_identical_answer(forked, by_function)
})

test_that("forbidden edges are absent, required edges are present", {
  all <- kinds(fit())
  expect_true("-->" %in% all || "---" %in% all)
  pair <- strsplit(names(all)[1], " ")[[1]]
  gap <- fit(forbidden = rbind(pair, rev(pair)))
  expect_false(any(c(paste(pair, collapse = " "), paste(rev(pair), collapse = " ")) %in% names(kinds(gap))))
  for (arrow in list(pair, rev(pair))) {
    found <- fit(forbidden = t(arrow))
    expect_identical(kinds(found)[[paste(rev(arrow), collapse = " ")]], "-->")
    expect_identical(
      kinds(fit(required = data.frame(f = arrow[2], t = arrow[1])))[[paste(rev(arrow), collapse = " ")]],
      "-->"
    )
  }
  m <- matrix(FALSE, 8, 8)
  m[match(pair[1], letters), match(pair[2], letters)] <- TRUE
  expect_identical(fit(forbidden = m)@graph, fit(forbidden = t(pair))@graph)
  expect_identical(fit(forbidden = m + 0)@graph, fit(forbidden = t(match(pair, letters)))@graph)
  skip_if_not_installed("Matrix")
  expect_identical(fit(forbidden = Matrix::Matrix(m))@graph, fit(forbidden = m)@graph)
})

test_that("variables of the context cause all others, or those of their tier", {
  tiers <- c(1, 1, 1, 2, 2, 2, 3, 3)
  found <- fit(tiers = tiers, context.all = "a", context.tier = c("d", "g"))
  m <- as(found@graph, "matrix")
  expect_true(all(m["a", c("b", "c", "e", "f", "h")] == 1) && all(m[, "a"] == 0))
  expect_true(all(m["a", c("d", "g")] == 0))
  expect_true(all(m["d", c("e", "f")] == 1) && sum(m["d", ]) == 2 && sum(m[, "d"]) == 0)
  expect_true(m["g", "h"] == 1 && sum(m["g", ]) == 1)
})

test_that("data that contradict the knowledge give a message", {
  set.seed(1)
  x <- rnorm(2000)
  y <- rnorm(2000)
  z <- x + y + rnorm(2000)
  s <- suff_gauss(cbind(x, y, z))
  run <- function(...) pc(s, gaussCItest, 0.01, labels = c("x", "y", "z"), ...)
  e <- expect_message(
    found <- run(forbidden = c("x", "z")),
    "x -> z <- y",
    class = "pcgpu_message_knowledge",
    fixed = TRUE
  )
  expect_identical(kinds(found)[["z x"]], "-->")
  expect_no_message(run(tiers = c(1, 1, 2)), class = "pcgpu_message_knowledge")
  expect_true(run_details(run(tiers = c(1, 1, 2)))$valid_cpdag)
})

test_that("contradictory knowledge is refused by name", {
  bad("required", "a -> b, and the reverse", required = rbind(c("a", "b"), c("b", "a")))
  bad("required", "a -> b, which `forbidden` has too", required = c("a", "b"), forbidden = c("a", "b"))
  bad("required", "a cycle, a -> b -> c -> a", required = rbind(c("a", "b"), c("b", "c"), c("c", "a")))
  bad("required", "h -> a, from a later tier", required = c("h", "a"), tiers = 1:8)
  bad("required", "b -> a, but variables of the context", required = c("b", "a"), context.all = "a")
  gaps <- matrix(FALSE, 8, 8)
  gaps[1, 2] <- gaps[2, 1] <- TRUE
  bad("required", "a -> b, which `fixedGaps` excludes", required = c("a", "b"), fixedGaps = gaps)
  bad("context.all", "variables that are not in the first tier (\"h\")", context.all = "h", tiers = 1:8)
  bad("context.tier", "variables that `context.all` has too", context.all = "a", context.tier = "a")
})

test_that("wrong arguments are named with their hint", {
  bad("tiers", "needs a value for each of the 8 variables, not 3", tiers = 1:3)
  bad("tiers", "NA for 1 variable:", tiers = c(1:7, NA))
  bad("tiers", "no tier for \"h\"", tiers = list(letters[1:4], letters[5:7]))
  bad("tiers", "duplicated names, \"a\"", tiers = list(letters[1:8], "a"))
  bad("tiers", "an unknown variable, \"z\"", tiers = list(letters[1:8], "z"))
  bad("tiers", "use a number for each variable", tiers = letters[1:8])
  bad("tiers", "given with method \"stable.fast\"", tiers = 1:8, skel.method = "stable.fast")
  bad("u2pd", "leave out `tiers`", tiers = 1:8, u2pd = "retry")
  bad("forbidden", "two columns", forbidden = "a")
  bad("forbidden", "two columns", forbidden = matrix(1:9, 3))
  bad("forbidden", "an unknown variable, \"z\"", forbidden = c("a", "z"))
  bad("required", "has an arrow from \"a\" to itself", required = c("a", "a"))
  bad("required", "two columns", required = cbind(1, 9))
  bad("context.all", "numbers from 1 to 8", context.all = 9)
})

test_that("a saved search knows the tiers that it had", {
  file <- tempfile()
  expect_error(fit(tiers = 1:8, checkpoint = file, time_limit = 1e-9), class = "pcgpu_error_time_limit")
  skip_if(!file.exists(file))
  expect_error(fit(tiers = 8:1, checkpoint = file), "`tiers` differs", class = "pcgpu_error_checkpoint")
})

test_that("knowledge can be added afterwards, to results of every kind", {
  chain <- matrix(0, 3, 3, dimnames = list(letters[1:3], letters[1:3]))
  chain["a", "b"] <- chain["b", "a"] <- chain["b", "c"] <- chain["c", "b"] <- 1
  found <- add_knowledge(chain, required = c("a", "b"))
  expect_identical(which(found == 1), which(row(chain) == 1 & col(chain) == 2 | row(chain) == 2 & col(chain) == 3))
  expect_identical(add_knowledge(chain, tiers = c(a = 1, b = 2, c = 2)), found)
  expect_identical(add_knowledge(chain, forbidden = c("b", "a")), found)
  expect_identical(add_knowledge(chain, context.all = "a"), found)
  expect_identical(
    add_knowledge(structure(chain, type = "amat.cpdag"), required = c("a", "b")),
    structure(t(found), type = "amat.cpdag")
  )
  graph <- as(chain, "graphNEL")
  expect_identical(as(add_knowledge(graph, required = c("a", "b")), "matrix"), found)
  whole <- pc(suffs(), gaussCItest, 0.001, labels = letters[1:8])
  compact <- pc(suffs(), gaussCItest, 0.001, labels = letters[1:8], result = "compact")
  open <- edges(whole)[edges(whole)$kind == "---", ]
  skip_if(!nrow(open))
  arrow <- c(open$to[1], open$from[1])
  added <- add_knowledge(whole, required = arrow)
  expect_identical(kinds(added)[[paste(arrow, collapse = " ")]], "-->")
  expect_identical(kinds(add_knowledge(compact, required = arrow)), kinds(added))
  skip_without_pcalg()
  expect_identical(
    as(added@graph, "matrix"),
    as(pcalg::addBgKnowledge(whole@graph, arrow[1], arrow[2], checkInput = TRUE), "matrix")
  )
})

test_that("knowledge that the graph cannot have is refused by name", {
  chain <- matrix(0, 3, 3, dimnames = list(letters[1:3], letters[1:3]))
  chain["a", "b"] <- chain["b", "c"] <- 1
  refused <- function(reason, message, ...) {
    e <- expect_error(add_knowledge(chain, ...), class = "pcgpu_error_knowledge")
    expect_identical(e$reason, reason)
    expect_match(conditionMessage(e), message, fixed = TRUE)
  }
  refused("no_edge", "`required` has a -> c", required = c("a", "c"))
  refused("reversed", "b -> a cannot", required = c("b", "a"))
  refused("reversed", "b -> a cannot", forbidden = c("a", "b"))
  refused("forbidden", "an edge a - b", forbidden = rbind(c("a", "b"), c("b", "a")))
  chain["c", "a"] <- 1
  refused("invalid", "represents no DAG")
  chain["c", "a"] <- 0
  chain["c", "b"] <- 1
  refused("not_maximal", "direct b -> c")
  expect_identical(sum(add_knowledge(chain, check = FALSE)), 2)
})

test_that("effects know that a graph has background knowledge", {
  known <- fit(tiers = c(1, 1, 2, 2, 2, 3, 3, 3))
  compact <- fit(tiers = c(1, 1, 2, 2, 2, 3, 3, 3), result = "compact")
  effects <- function(fit, ...) suppressMessages(causal_effects(fit, mcov = suffs()$C, ...))
  expect_identical(effects(known)$type, "pdag")
  expect_identical(effects(compact)$type, "pdag")
  expect_identical(effects(known, type = "cpdag")$type, "cpdag")
  expect_identical(effects(fit())$type, "cpdag")
})

test_that("one arrow is a pair, and several a list of pairs", {
  set.seed(1)
  x <- data.frame(a = rnorm(50), b = rnorm(50), c = rnorm(50))
  fit <- function(required) {
    edges(pc(suff_gauss(x), gaussCItest, 0.01, labels = names(x), required = required))[c("from", "to", "kind")]
  }
  wanted <- fit(data.frame(from = c("a", "b"), to = c("c", "c")))
  expect_identical(fit(list(c("a", "c"), c("b", "c"))), wanted)
  expect_identical(fit(list(c(1, 3), c(2, 3))), wanted)
  expect_identical(fit(c(1, 3)), fit(c("a", "c")))
  expect_error(
    pc(suff_gauss(x), gaussCItest, 0.01, labels = names(x), required = list("a", "c")),
    "`required`",
    class = "pcgpu_error_argument"
  )
})

test_that("a table without arrows is none", {
  set.seed(1)
  x <- data.frame(a = rnorm(50), b = rnorm(50))
  x$d <- x$a + x$b + rnorm(50)
  search <- function(...) suppressMessages(edges(pc(x, alpha = 0.05, ...)))
  for (none in list(
    data.frame(),
    list(),
    data.frame(from = character(), to = character()),
    matrix(character(), 0, 2)
  )) {
    expect_identical(search(forbidden = none), search())
    expect_identical(search(required = none), search())
  }
})

# x - y - z, with x and z known to be apart: `chain` as data, and an R function that is asked in place of a native test.
chain <- local({
  set.seed(6)
  x <- rnorm(2000)
  y <- x + rnorm(2000)
  data.frame(x, y, z = y + rnorm(2000))
})
collider <- local({
  set.seed(7)
  x <- rnorm(2000)
  z <- rnorm(2000)
  data.frame(x, y = x + z + rnorm(2000), z)
})
apart <- data.frame(from = c("x", "z"), to = c("z", "x"))
gap <- matrix(c(FALSE, FALSE, TRUE, FALSE, FALSE, FALSE, TRUE, FALSE, FALSE), 3)
asked_function <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
oriented <- function(data, ...) pc(suff_gauss(data), gaussCItest, 0.01, labels = names(data), ...)

test_that("a pair that knowledge excludes makes a v-structure only if its tests say so", {
  open <- c("x y" = "---", "y z" = "---")
  into <- c("x y" = "-->", "z y" = "-->")
  expect_no_message(expect_identical(kinds(oriented(chain, forbidden = apart)), open), class = "pcgpu_message_untested")
  expect_identical(kinds(oriented(collider, forbidden = apart)), into)
  expect_null(oriented(chain, forbidden = apart)@sepset[[1]][[3]])
  # One direction by tiers; the other arrow then follows.
  found <- oriented(chain, tiers = c(x = 1, y = 2, z = 2), forbidden = apart[1, ])
  expect_identical(kinds(found), c("x y" = "-->", "y z" = "-->"))
  # `fixedGaps` with any knowledge, and whatever runs the tests.
  expect_identical(kinds(oriented(chain, fixedGaps = gap, tiers = c(1, 1, 1))), open)
  for (method in c("stable", "original", "stable.fast")) {
    for (result in c("pcAlgo", "compact")) {
      expect_identical(kinds(oriented(chain, forbidden = apart, skel.method = method, result = result)), open)
      expect_identical(kinds(oriented(collider, forbidden = apart, skel.method = method, result = result)), into)
    }
  }
  by_function <- function(data, ...) {
    pc(suff_gauss(data), asked_function, 0.01, labels = names(data), forbidden = apart, ...)
  }
  for (data in list(chain, collider)) {
    found <- oriented(data, forbidden = apart)
    expect_identical(kinds(by_function(data)), kinds(found))
    expect_identical(kinds(by_function(data, parallel_tests = TRUE, numCores = 2)), kinds(found))
    samples <- stability(data, gaussCItest, 0.01, forbidden = apart, replicates = 20, seed = 1)
    # Of 20 samples with two edges each.
    is_open <- sum(samples$counts$undirected)
    if (identical(data, chain)) expect_gt(is_open, 30) else expect_lt(is_open, 10)
  }
})

test_that("a test without an answer leaves such a triple open", {
  none <- function(x, y, S, suffStat) if (all(c(x, y) %in% c(1, 3))) NA_real_ else gaussCItest(x, y, S, suffStat)
  for (data in list(chain, collider)) {
    found <- pc(suff_gauss(data), none, 0.01, labels = names(data), forbidden = apart)
    expect_identical(unname(kinds(found)), c("---", "---"))
  }
})

test_that("orient() uses the given test, and leaves open what the test cannot answer", {
  for (data in list(chain, collider)) {
    suff <- suff_gauss(data)
    for (result in c("pcAlgo", "compact")) {
      skel <- skeleton(suff, gaussCItest, 0.01, labels = names(data), forbidden = apart, result = result)
      e <- expect_message(
        without <- orient(skel, forbidden = apart),
        "1 triple was left without",
        class = "pcgpu_message_untested"
      )
      expect_identical(e$count, 1)
      expect_identical(kinds(without), c("x y" = "---", "y z" = "---"))
      expect_no_message(
        with <- orient(skel, forbidden = apart, suffStat = suff, indepTest = gaussCItest, alpha = 0.01),
        class = "pcgpu_message_untested"
      )
      expect_identical(kinds(with), kinds(oriented(data, forbidden = apart)))
    }
  }
})

test_that("fixedGaps alone is pcalg's, with one message", {
  for (result in c("pcAlgo", "compact")) {
    e <- expect_message(
      found <- oriented(chain, fixedGaps = gap, result = result),
      "fixedGaps.*`maj.rule = TRUE`",
      class = "pcgpu_message_untested"
    )
    expect_identical(e$count, 1)
    expect_identical(kinds(found), c("x y" = "-->", "z y" = "-->"))
    skel <- skeleton(suff_gauss(chain), gaussCItest, 0.01, labels = names(chain), fixedGaps = gap, result = result)
    e <- expect_message(found <- orient(skel), class = "pcgpu_message_untested")
    expect_identical(e$count, 1)
  }
  expect_no_message(found <- oriented(chain, fixedGaps = gap, maj.rule = TRUE), class = "pcgpu_message_untested")
  expect_identical(kinds(found), c("x y" = "---", "y z" = "---"))
  expect_no_message(oriented(chain), class = "pcgpu_message_untested")
  fci_of <- function(...) fci(suff_gauss(chain), gaussCItest, 0.01, labels = names(chain), fixedGaps = gap, ...)
  expect_message(found <- fci_of(), "1 v-structure", class = "pcgpu_message_untested")
  expect_identical(unname(kinds(found)), c("o->", "o->"))
  expect_no_message(found <- fci_of(maj.rule = TRUE), class = "pcgpu_message_untested")
  expect_identical(unname(kinds(found)), c("o-o", "o-o"))
  # In both with "stable.fast", a pair has its edge.
  expect_no_message(
    oriented(chain, fixedGaps = gap, fixedEdges = gap, skel.method = "stable.fast"),
    class = "pcgpu_message_untested"
  )
})

test_that("right knowledge of pairs without an edge does not make arrows wrong", {
  wrong <- vapply(
    1:10,
    function(seed) {
      dag <- random_dag(15, neighbours = 2, seed = seed)
      data <- random_data(dag, 4000, seed = seed)
      truth <- as.matrix(dag) != 0
      free <- which(upper.tri(truth) & !truth & !t(truth), arr.ind = TRUE)
      set.seed(seed)
      pick <- free[sample(nrow(free), nrow(free) / 3), ]
      known <- rbind(pick, pick[, 2:1])
      vapply(
        list(NULL, known),
        function(forbidden) {
          table <- edges(suppressMessages(pc(
            suff_gauss(data),
            gaussCItest,
            0.001,
            labels = colnames(data),
            forbidden = forbidden
          )))
          table <- table[table$kind == "-->", ]
          sum(!truth[cbind(match(table$from, colnames(data)), match(table$to, colnames(data)))])
        },
        0
      )
    },
    numeric(2)
  )
  expect_lte(sum(wrong[2, ]), sum(wrong[1, ]))
})

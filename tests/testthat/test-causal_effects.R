golden_graph <- function(golden, which) {
  p <- golden$p
  m <- matrix(0, p, p)
  for (pair in golden$graphs[[which]]) {
    m[pair[[1]], pair[[2]]] <- 1
  }
  m
}

# Converts recorded values: null is NA, and rounding errors of pcalg around 0 have no digits.
recorded <- function(values) vapply(values, function(value) if (is.null(value)) NA_real_ else as.numeric(value), 0)
# Expects equality up to rounding in hundreds of cases; reports less than expect_equal() does.
expect_close <- function(found, want, info) expect_true(isTRUE(all.equal(found, want, tolerance = 1e-10)), info = info)
same_effects <- function(found, want) {
  found <- sort(found, na.last = TRUE)
  want <- sort(want, na.last = TRUE)
  identical(is.na(found), is.na(want)) && all(abs(found - want) <= 1e-10 * abs(want) + 1e-14, na.rm = TRUE)
}
quietly <- function(expr) withCallingHandlers(expr, pcgpu_message_graph = function(m) tryInvokeRestart("muffleMessage"))

chain <- function(n = 300) {
  set.seed(3)
  a <- rnorm(n)
  b <- 0.8 * a + rnorm(n)
  d <- rnorm(n)
  e <- 0.7 * b + 0.6 * d + rnorm(n)
  cbind(a, b, d, e, f = 0.9 * e + 3 * rnorm(n))
}
# Returns the graph a - b -> e <- d, e -> f.
chain_graph <- function() {
  m <- matrix(0, 5, 5, dimnames = list(c("a", "b", "d", "e", "f"), c("a", "b", "d", "e", "f")))
  m[cbind(c(1, 2, 2, 3, 4), c(2, 1, 4, 4, 5))] <- 1
  m
}

test_that("effects are those that pcalg's ida() gave", {
  for (name in golden_names("ida")) {
    golden <- read_golden(name)
    mcov <- matrix_of(golden$mcov)
    for (case in golden$ida) {
      found <- quietly(causal_effects(
        golden_graph(golden, case$graph),
        mcov = mcov,
        method = case$method,
        type = case$type,
        y.notparent = case$y.notparent
      ))
      info <- paste(name, case$graph, case$method, case$type)
      if (case$graph == case$type) {
        expect_identical(found$valid, golden$valid[[case$graph]], info = info)
      }
      same <- vapply(case$effects, function(row) same_effects(found[row[[1]], row[[2]]], recorded(row[-(1:2)])), NA)
      expect_true(length(same) > 0 && all(same), info = info)
    }
  }
})

test_that("the matrix of one x is that of idaFast(), and joint effects those of jointIda()", {
  columns <- function(m) m[, do.call(order, as.data.frame(round(t(m), 9))), drop = FALSE]
  for (name in golden_names("ida")) {
    golden <- read_golden(name)
    mcov <- matrix_of(golden$mcov)
    for (case in golden$idaFast) {
      y <- recorded(case$y)
      found <- quietly(causal_effects(golden_graph(golden, "cpdag"), mcov = mcov, x = case$x, y = y))
      expect_close(unname(found[case$x, ]), do.call(rbind, lapply(case$effects, recorded)), name)
    }
    for (case in golden$jointIda) {
      found <- quietly(causal_effects(
        golden_graph(golden, case$graph),
        mcov = mcov,
        x = recorded(case$x),
        y = recorded(case$y),
        type = case$type,
        joint = TRUE,
        technique = case$technique
      ))
      ours <- lapply(case$y, function(y) columns(unname(found[, y])))
      theirs <- lapply(case$effects, function(effects) columns(do.call(rbind, lapply(effects, recorded))))
      expect_close(ours, theirs, name)
    }
  }
})

test_that("effects are those of pcalg as it is installed", {
  skip_without_pcalg()
  x <- chain()
  # pcalg's optimal method wants numbers as labels.
  graph <- as(unname(chain_graph()), "graphNEL")
  for (method in c("local", "optimal", "global")) {
    found <- causal_effects(graph, x, method = method)
    for (from in 1:5) {
      for (to in setdiff(1:5, from)) {
        want <- pcalg::ida(from, to, cov(x), graph, method = method)
        expect_true(same_effects(found[from, to], unlist(want)), info = paste(method, from, to))
      }
    }
  }
  joint <- causal_effects(graph, x, x = c(1, 3), y = 5, joint = TRUE, method = "optimal")
  expect_equal(unname(joint[, 5]), unname(pcalg::ida(c(1, 3), 5, cov(x), graph, method = "optimal")))
})

test_that("a single effect is a regression on x and its parents", {
  x <- chain()
  found <- causal_effects(chain_graph(), x)
  data <- as.data.frame(x)
  expect_equal(found["e", "f"], unname(coef(lm(f ~ e + b + d, data))["e"]))
  expect_equal(found["a", "f"], unname(c(coef(lm(f ~ a, data))["a"], coef(lm(f ~ a + b, data))["a"])))
  expect_identical(found["e", "b"], 0)
  expect_identical(found["a", "b"][2], 0)
  expect_equal(found["a", ]["f", ], found["a", "f"])
})

test_that("fits of all classes, adjacency matrices and all forms of data give the same", {
  x <- chain()
  fit <- pc(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x))
  whole <- causal_effects(fit, x)
  parts <- setdiff(names(whole), "call")
  same <- function(other) expect_equal(unclass(other)[parts], unclass(whole)[parts])
  same(causal_effects(fit@graph, x))
  same(causal_effects(pc(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x), result = "compact"), x))
  same(causal_effects(as(fit, "amat"), x))
  same(causal_effects(fit, as.data.frame(x)))
  same(causal_effects(fit, mcov = cov(x)))
  # By name, with columns besides.
  same(causal_effects(fit, cbind(more = 1:300, x[, 5:1])))
  same(causal_effects(fit, mcov = cov(x[, 5:1])))
  same(causal_effects(fit, x, numCores = 1))
  scaled <- causal_effects(fit, suff_gauss(x))
  expect_equal(scaled["b", "e"], whole["b", "e"] * sd(x[, "b"]) / sd(x[, "e"]))
  expect_equal(causal_effects(fit, suff_gauss(x, keep = "data"))["b", "e"], scaled["b", "e"])
})

test_that("the table ranks pairs by their smallest absolute effect", {
  x <- chain()
  found <- causal_effects(chain_graph(), x)
  table <- as.data.frame(found)
  expect_identical(nrow(table), 20L)
  expect_false(any(table$x == table$y))
  expect_false(is.unsorted(-table$smallest))
  for (row in seq_len(20)) {
    effects <- found[table$x[row], table$y[row]]
    expect_identical(table$number[row], length(effects))
    expect_equal(c(table$smallest[row], table$median[row]), c(min(abs(effects)), median(effects)))
    expect_equal(c(table$min[row], table$max[row]), range(effects))
  }
  expect_identical(as.data.frame(found, n = 7), utils::head(table, 7))
  expect_identical(nrow(as.data.frame(found, n = 0)), 0L)
  small <- causal_effects(chain_graph(), x, keep = "smallest")
  expect_equal(as.data.frame(small), table[1:3])
  expect_error(small["a", "b"], class = "pcgpu_error_argument")
  some <- causal_effects(chain_graph(), x, x = c("b", "a"), y = c("f", "b"))
  expect_identical(nrow(as.data.frame(some)), 3L)
  expect_equal(some["a", "f"], found["a", "f"])
})

test_that("the table has the least and the largest effect, also of many sets and of pairs stored apart", {
  # A complete graph: 2^5 sets of each x, more than there are y.
  set.seed(4)
  x <- matrix(rnorm(600), 100, 6, dimnames = list(NULL, letters[1:6]))
  x <- x + 0.7 * rnorm(100)
  complete <- 1 - diag(6)
  check <- function(...) {
    found <- causal_effects(complete, unname(x), ...)
    table <- as.data.frame(found)
    for (row in seq_len(nrow(table))) {
      effects <- found[as.integer(table$x[row]), as.integer(table$y[row])]
      expect_equal(c(table$min[row], table$max[row]), range(effects))
      expect_equal(table$smallest[row], min(abs(effects)))
    }
    expect_identical(as.data.frame(found, n = 4), utils::head(table, 4))
    table
  }
  expect_gt(max(check()$number), 10)
  check(x = 2, y = 1:2)
  check(x = c(2, 5), y = c(4, 3, 1), y.notparent = TRUE)
  joint <- causal_effects(chain_graph(), chain(), x = c("a", "d"), joint = TRUE)
  table <- as.data.frame(joint)
  for (row in seq_len(nrow(table))) {
    expect_equal(c(table$min[row], table$max[row]), range(joint[table$x[row], table$y[row]]))
  }
})

test_that("a negative effect prints with its sign, and the bound without", {
  set.seed(1)
  a <- rnorm(200)
  x <- cbind(a = a, b = -0.5 * a + rnorm(200))
  dag <- matrix(c(0, 0, 1, 0), 2, dimnames = list(c("a", "b"), c("a", "b")))
  found <- causal_effects(dag, x, x = "a", y = "b")
  effect <- found["a", "b"]
  expect_lt(effect, 0)
  table <- as.data.frame(found)
  expect_identical(names(table), c("x", "y", "smallest", "min", "median", "max", "number"))
  expect_identical(unlist(table[3:6], use.names = FALSE), c(-effect, effect, effect, effect))
  expect_match(capture.output(print(found)), "x y \\|smallest\\| +min +median +max number", all = FALSE)
})

test_that("columns of two levels and ordered factors have effects, and a message names their numbers", {
  set.seed(2)
  n <- 400
  sex <- factor(sample(c("m", "f"), n, TRUE), levels = c("m", "f"))
  dose <- factor(sample(c("low", "mid", "high"), n, TRUE), levels = c("low", "mid", "high"), ordered = TRUE)
  bp <- 2 * (sex == "f") + 0.5 * as.integer(dose) + rnorm(n)
  data <- data.frame(sex, dose, bp, ill = bp + rnorm(n) > 2)
  dag <- matrix(0, 4, 4, dimnames = list(names(data), names(data)))
  dag[cbind(c(1, 2, 3), c(3, 3, 4))] <- 1
  said <- character()
  found <- withCallingHandlers(causal_effects(dag, data), pcgpu_message_coded = function(m) {
    said <<- c(said, conditionMessage(m))
    tryInvokeRestart("muffleMessage")
  })
  expect_match(said[1], "Columns with two levels are 0 and 1: sex \\(m = 0, f = 1\\), ill \\(FALSE = 0, TRUE = 1\\)")
  expect_match(said[2], "Ordered factors are ranks: dose \\(low = 1, mid = 2, high = 3\\)")
  numbers <- transform(data, sex = as.integer(sex == "f"), dose = as.integer(dose), ill = as.integer(ill))
  expect_equal(found$values, causal_effects(dag, numbers)$values)
  # With one cause and no parents it is the difference of the means.
  expect_equal(found["sex", "bp"], mean(bp[sex == "f"]) - mean(bp[sex == "m"]))
  expect_equal(found["sex", "ill"], mean(data$ill[sex == "f"]) - mean(data$ill[sex == "m"]))
  text <- transform(data, sex = as.character(sex))
  expect_message(causal_effects(dag, text), "sex (f = 0, m = 1)", fixed = TRUE, class = "pcgpu_message_coded")
  # Levels that do not occur do not count.
  more <- transform(data, sex = factor(sex, levels = c("x", "m", "f")))
  expect_equal(suppressMessages(causal_effects(dag, more))["sex", "bp"], found["sex", "bp"])
  expect_silent(causal_effects(dag, numbers))
})

test_that("levels without an order are refused where an effect needs them, and only there", {
  set.seed(3)
  n <- 300
  site <- factor(sample(c("x", "y", "z"), n, TRUE))
  a <- rnorm(n)
  b <- a + rnorm(n)
  data <- data.frame(site, a, b, d = b + (site == "x") + rnorm(n))
  dag <- matrix(0, 4, 4, dimnames = list(names(data), names(data)))
  dag[cbind(c(2, 3, 1), c(3, 4, 4))] <- 1
  refused <- function(...) {
    expect_error(
      causal_effects(dag, data, ...),
      "`data` has more than two levels without an order.*\"site\": merge",
      class = "pcgpu_error_argument"
    )
  }
  refused()
  refused(x = "site", y = "d")
  refused(x = "a", y = "site")
  # site is a parent of d.
  refused(x = "d", y = "b")
  refused(x = "a", y = "d", method = "optimal")
  refused(x = c("a", "b"), y = "d", joint = TRUE)
  without <- causal_effects(dag[-1, -1], data[-1], x = c("a", "b"), y = "d")
  for (method in c("local", "global")) {
    found <- causal_effects(dag, data, x = c("a", "b"), y = "d", method = method)
    expect_equal(found["a", "d"], without["a", "d"])
    expect_equal(found["b", "d"], without["b", "d"])
  }
})

test_that("it prints and summarises", {
  x <- chain()
  found <- causal_effects(chain_graph(), x)
  expect_output(print(found, n = 3), "Possible effects of 5 variables on 5 variables.*and 17 more pairs")
  expect_output(print(summary(found)), "20 pairs, .* effects in total; pairs with several effects")
  joint <- causal_effects(chain_graph(), x, x = c("a", "d"), joint = TRUE)
  expect_output(print(joint), "Joint effects of a, d, 2 joint sets of parents, RRC")
  expect_identical(dim(joint[, "f"]), c(2L, 2L))
  expect_identical(joint["d", "f"], unname(joint[, "f"]["d", ]))
})

test_that("invalid graphs give a message, and NA if nothing is allowed", {
  # 3 -> 1 - 2 <- 4: either way is a new v-structure.
  m <- matrix(0, 4, 4)
  m[cbind(c(1, 2, 3, 4), c(2, 1, 1, 2))] <- 1
  mcov <- diag(4) + 0.3
  expect_message(found <- causal_effects(m, mcov = mcov), class = "pcgpu_message_graph")
  expect_false(found$valid)
  expect_identical(found[1, 4], NA_real_)
  expect_identical(found[1, 3], 0)
  expect_true(anyNA(as.data.frame(found)$smallest))
  expect_identical(quietly(causal_effects(m, mcov = mcov, type = "pdag"))[1, 4], NA_real_)
  expect_error(causal_effects(m, mcov = mcov, method = "optimal"), class = "pcgpu_error_argument")
  expect_error(causal_effects(m, mcov = mcov, method = "global"), "cannot be extended to a DAG")
  expect_error(causal_effects(m, mcov = mcov, x = 1:2, type = "pdag", joint = TRUE), class = "pcgpu_error_argument")
})

test_that("singular and missing covariances give NA if they matter", {
  x <- chain()
  mcov <- cov(cbind(x[, 1:3], e = x[, "b"], f = x[, "f"]))
  found <- causal_effects(chain_graph(), mcov = mcov)
  expect_identical(found["e", "f"], NA_real_)
  expect_false(anyNA(found["b", "f"]))
  holes <- cov(x)
  holes["d", "f"] <- holes["f", "d"] <- NA
  found <- causal_effects(chain_graph(), mcov = holes)
  expect_identical(found["d", "f"], NA_real_)
  expect_false(anyNA(found["a", "f"]))
})

test_that("wrong arguments are named", {
  x <- chain()
  m <- chain_graph()
  refused <- function(argument, ...) {
    error <- expect_error(causal_effects(...), class = "pcgpu_error_argument")
    expect_identical(error$argument, argument)
  }
  refused("fit")
  refused("fit", "graph", x)
  refused("fit", matrix(1, 2, 3), x)
  refused("data", m)
  refused("data", m, x, mcov = cov(x))
  refused("data", m, x[, 1:3])
  refused("data", m, cov(x))
  refused("data", m, replace(x, 3, NA))
  refused("mcov", m, mcov = x)
  refused("mcov", m, mcov = cov(x) * upper.tri(cov(x), TRUE))
  refused("mcov", m, mcov = cov(x)[1:3, 1:3])
  refused("mcov", m, mcov = cov(x) * 0)
  refused("x", m, x, x = "z")
  refused("x", m, x, x = 6)
  refused("x", m, x, x = c(1, 1))
  refused("y", m, x, y = character())
  refused("y", m, x, y = 1.5)
  refused("method", m, x, method = "best")
  refused("type", m, x, type = "dag")
  refused("keep", m, x, keep = "none")
  refused("y.notparent", m, x, y.notparent = TRUE, method = "optimal")
  refused("method", m, x, joint = TRUE, method = "global")
  refused("keep", m, x, joint = TRUE, keep = "smallest")
  refused("joint", m, x, joint = NA)
  refused("fit", structure(m, type = "pag"), x)
  found <- causal_effects(m, x, y = c("e", "f"))
  expect_error(found["a", "b"], class = "pcgpu_error_argument")
  expect_error(found[, "e"], class = "pcgpu_error_argument")
  expect_error(as.data.frame(found, n = -1), class = "pcgpu_error_argument")
})

test_that("a DAG is one with all its arrows known", {
  dag <- random_dag(6, 3, seed = 2)
  x <- random_data(dag, 300, seed = 2)
  expect_no_message(found <- causal_effects(dag, x))
  expect_identical(found$type, "pdag")
  as_cpdag <- suppressMessages(causal_effects(dag, x, type = "cpdag"))
  expect_identical(found$values, as_cpdag$values)
  expect_message(causal_effects(dag, x, type = "cpdag"), class = "pcgpu_message_graph")
})

test_that("more sets of parents than the limit are refused", {
  # The core's own tests have the limit for all variables together, which takes seconds to reach.
  p <- 22
  complete <- 1 - diag(p)
  dimnames(complete) <- list(paste0("x", 1:p), paste0("x", 1:p))
  expect_error(
    causal_effects(complete, mcov = diag(p) + 0.5, x = 1),
    "more than 1048576 sets.*leave this variable out",
    class = "pcgpu_error_argument"
  )
  few <- complete[1:17, 1:17]
  expect_length(causal_effects(few, mcov = diag(17) + 0.5, x = 1, y = 2)["x1", "x2"], 2^16)
})

test_that("completed data sets are refused by name, and graphs of too many DAGs with a remedy", {
  set.seed(1)
  x <- as.data.frame(matrix(rnorm(400), 40, dimnames = list(NULL, letters[1:10])))
  complete <- matrix(1, 10, 10, dimnames = list(names(x), names(x))) - diag(10)
  expect_error(causal_effects(complete, list(x, x)), "imputed data sets.*one at a time", class = "pcgpu_error_argument")
  expect_error(cstar(list(x, x), alpha = 0.05), "imputed data sets.*one of them", class = "pcgpu_error_argument")
  expect_error(
    causal_effects(complete, x, method = "global"),
    "more than 100000 DAGs.*\"local\"",
    class = "pcgpu_error_argument"
  )
  # Joint sets of parents are those of all DAGs, unless type = "pdag" says once each.
  expect_error(
    causal_effects(complete, x, x = 1:2, joint = TRUE),
    "more than 100000 DAGs.*type = \"pdag\"",
    class = "pcgpu_error_argument"
  )
  joint <- causal_effects(complete, x, x = 1:2, joint = TRUE, type = "pdag")
  expect_identical(dim(joint$effects), c(2L, 13122L, 10L))
})

test_that("data and covariances go by the names that they have, on whichever side", {
  dag <- random_dag(6, 3, seed = 2)
  x <- random_data(dag, 300, seed = 2)
  turned <- c(3, 1, 6, 2, 5, 4)
  right <- causal_effects(dag, x)$values
  expect_identical(causal_effects(dag, x[, turned])$values, right)
  expect_identical(causal_effects(dag, cbind(more = 1:300, x[, turned]))$values, right)
  C <- stats::cov(x)[turned, turned]
  for (side in 1:2) {
    named <- C
    dimnames(named)[side] <- list(NULL)
    expect_equal(causal_effects(dag, mcov = named)$values, right, tolerance = 1e-12)
  }
  rownames(C) <- colnames(x)
  expect_error(causal_effects(dag, mcov = C), "different row names and column names", class = "pcgpu_error_argument")
  expect_error(
    causal_effects(dag, cbind(x, x1 = 0)),
    "several columns with the same name: \"x1\"",
    class = "pcgpu_error_argument"
  )
})

test_that("tables of every class give the same effects", {
  x <- as.data.frame(random_data(random_dag(4, 2, seed = 3), 200, seed = 3))
  dag <- random_dag(4, 2, seed = 3)
  right <- causal_effects(dag, x)$values
  ranked <- cstar(x, alpha = 0.05, replicates = 3, seed = 1)$pairs
  checked <- markov_check(dag, x, gaussCItest, seed = 1)$summary
  same <- function(table) {
    expect_identical(causal_effects(dag, table)$values, right)
    expect_identical(causal_effects(dag, table[c(2, 1, 4, 3)])$values, right)
    expect_identical(cstar(table, alpha = 0.05, replicates = 3, seed = 1)$pairs, ranked)
    expect_identical(markov_check(dag, table, gaussCItest, seed = 1)$summary, checked)
  }
  same(x)
  skip_if_not_installed("tibble")
  same(tibble::as_tibble(x))
  skip_if_not_installed("dplyr")
  same(dplyr::rowwise(x))
  same(dplyr::group_by(tibble::as_tibble(x), x1))
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(x)
  expect_identical(causal_effects(dag, table)$values, right)
  expect_identical(cstar(table, alpha = 0.05, replicates = 3, seed = 1)$pairs, ranked)
  expect_identical(markov_check(dag, table, gaussCItest, seed = 1)$summary, checked)
})

graph_of <- function(arcs, p) {
  m <- matrix(0, p, p)
  for (arc in arcs) {
    m[arc[[1]], arc[[2]]] <- 1
  }
  m
}

test_that("counts are those that pcalg and causal-learn gave", {
  golden <- read_golden("compare-graphs")
  expect_gt(length(golden$cases), 5)
  for (case in golden$cases) {
    found <- compare_graphs(graph_of(case$estimated, case$p), graph_of(case$true, case$p), cpdag = FALSE)
    for (peer in c("pcalg", "causal_learn")) {
      want <- case[[peer]]
      want <- vapply(want, function(value) if (is.null(value)) NA_real_ else as.numeric(value), 0)
      expect_equal(unlist(as.data.frame(unclass(found))[names(want)]), want, info = peer)
    }
  }
})

test_that("counts are pcalg's, if it is installed", {
  skip_without_pcalg()
  for (seed in 1:8) {
    dags <- list(random_dag(12, 1 + seed %% 4, seed = seed), random_dag(12, 3, seed = 100 + seed))
    theirs <- lapply(dags, function(dag) pcalg::dag2cpdag(as(dag, "graphNEL")))
    for (at in 1:2) {
      expect_equal(unname(as(theirs[[at]], "matrix") != 0), unname(as.matrix(cpdag_of(dags[[at]])) != 0))
    }
    found <- compare_graphs(dags[[1]], dags[[2]])
    expect_identical(found, compare_graphs(theirs[[1]], theirs[[2]]))
    expect_equal(found$shd, pcalg::shd(theirs[[1]], theirs[[2]]))
    expect_equal(
      c(found$adj_recall, found$adj_fpr, found$adj_precision),
      unname(pcalg::compareGraphs(theirs[[1]], theirs[[2]]))
    )
    as_they_are <- compare_graphs(dags[[1]], dags[[2]], cpdag = FALSE)
    expect_equal(as_they_are$shd, pcalg::shd(as(dags[[1]], "graphNEL"), as(dags[[2]], "graphNEL")))
  }
})

test_that("graphs of all kinds are accepted, by name", {
  dag <- random_dag(15, 3, seed = 2)
  x <- random_data(dag, 400, seed = 2, numCores = 1)
  estimate <- function(...) pc(suff_gauss(x), gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, ...)
  fit <- estimate()
  want <- compare_graphs(fit, dag)
  turned <- sample(15)
  m <- as(fit@graph, "matrix")
  same <- list(
    compact = estimate(result = "compact"),
    nel = fit@graph,
    matrix = m,
    amat = structure(t(m), type = "amat.cpdag"),
    turned = m[turned, turned],
    bn = structure(
      list(
        nodes = stats::setNames(vector("list", 15), colnames(m)),
        arcs = cbind(rownames(m)[row(m)[m != 0]], colnames(m)[col(m)[m != 0]])
      ),
      class = "bn"
    )
  )
  if (requireNamespace("igraph", quietly = TRUE)) {
    same$igraph <- as_igraph(fit)
  }
  found <- compare_graphs(same, dag)
  expect_identical(found$graph, names(same))
  expect_equal(unclass(found)[-1], lapply(unclass(want)[-1], rep, length(same)), ignore_attr = TRUE)
  expect_equal(compare_graphs(unname(m), dag)$shd, want$shd)
  expect_identical(compare_graphs(cpdag_of(dag), dag)$shd, 0)
  expect_output(print(found), "15 variables, .* edges in dag \\(DAGs compared as CPDAGs\\)")
  expect_output(print(found[, c("graph", "shd")]), "compact")
})

test_that("an edge in conflict has two arrowheads and counts as undirected in the distance", {
  m <- matrix(0, 2, 2)
  both <- replace(m, 2:3, 2)
  one <- replace(m, 3, 1)
  found <- compare_graphs(list(conflict = both, undirected = (both > 0) + 0, reversed = t(one)), one, cpdag = FALSE)
  expect_equal(found$shd, c(1, 1, 1))
  expect_equal(found$arrow_tp, c(1, 0, 0))
  expect_equal(found$arrow_fp, c(1, 0, 1))
  expect_equal(found$reversed, c(0, 0, 1))
  expect_equal(found$arrow_precision, c(0.5, NA, 0))
})

test_that("objects that are no graph, or have other variables, are refused", {
  bad <- function(argument, ...) {
    expect_identical(expect_error(compare_graphs(...), class = "pcgpu_error_argument")$argument, argument)
  }
  bad("true", diag(2))
  bad("estimated", "a", diag(2))
  bad("true", diag(2), "a")
  bad("estimated", diag(2), diag(3))
  bad("estimated", list(), diag(3))
  bad(
    "estimated",
    structure(diag(2), dimnames = list(NULL, c("a", "b"))),
    structure(diag(2), dimnames = list(NULL, c("a", "c")))
  )
  bad("cpdag", diag(2), diag(2), cpdag = NA)
})

test_that("numbers in another order are names, and rows and columns must agree", {
  arrow <- function(names, from, to) {
    m <- matrix(0, 3, 3, dimnames = list(names, names))
    m[from, to] <- 1
    m
  }
  true <- arrow(c("1", "2", "3"), "1", "2")
  expect_identical(compare_graphs(arrow(c("2", "3", "1"), "1", "2"), true, cpdag = FALSE)$shd, 0)
  expect_identical(compare_graphs(arrow(c("2", "3", "1"), "2", "3"), true, cpdag = FALSE)$shd, 2)
  # In their order they are no names.
  expect_identical(compare_graphs(arrow(c("a", "b", "c"), "a", "b"), true, cpdag = FALSE)$shd, 0)
  apart <- true
  rownames(apart) <- c("2", "3", "1")
  for (call in list(
    quote(compare_graphs(apart, true)),
    quote(compare_graphs(true, apart)),
    quote(causal_effects(apart, mcov = diag(3))),
    quote(add_knowledge(apart)),
    quote(as_igraph(apart)),
    quote(plot_cpdag(apart)),
    quote(udag2pag(apart, list())),
    quote(compare_graphs(structure(apart + t(apart), type = "pag"), structure(apart + t(apart), type = "pag")))
  )) {
    expect_error(eval(call), "same names in different orders", class = "pcgpu_error_argument", info = deparse(call))
  }
})

# The table of edges, pair by pair, from matrices of marks at both ends: [i, j] is the mark at j of the edge i - j, 0
# no edge, 1 circle, 2 arrowhead, 3 tail.
plain_table <- function(marks, labels) {
  sign_of <- function(m, i, j) {
    if (m[i, j] == 0) "" else paste0(c("o", "<", "-")[m[j, i]], "-", c("o", ">", "-")[m[i, j]])
  }
  rows <- NULL
  for (i in seq_along(labels)) {
    for (j in seq_along(labels)) {
      if (i >= j || !any(vapply(marks, function(m) m[i, j] > 0, NA))) {
        next
      }
      kinds <- vapply(marks, sign_of, "", i, j)
      has <- kinds != ""
      ends <- c(labels[i], labels[j])
      if (kinds[has][1] %in% c("<--", "<-o", "--o")) {
        kinds <- vapply(marks, sign_of, "", j, i)
        ends <- rev(ends)
      }
      difference <- if (sum(has) == 1) {
        paste("only", names(marks)[has])
      } else if (length(unique(kinds[has])) > 1) {
        "turned"
      } else if (!all(has)) {
        "some"
      } else {
        if (length(marks) == 2) "both" else "all"
      }
      rows <- rbind(rows, c(ends, kinds, if (length(marks) > 2) sum(has), difference))
    }
  }
  rows
}

# Marks of a graph of as.matrix(), in which [i, j] = 1 for i -> j and both for i - j.
marks_at_ends <- function(m) {
  marks <- matrix(0, nrow(m), ncol(m))
  marks[m != 0 & t(m) != 0] <- 3
  marks[m != 0 & t(m) == 0] <- 2
  marks[m == 0 & t(m) != 0] <- 3
  marks[m == 2 & t(m) == 2] <- 2
  marks
}

test_that("edges of random graphs are those of a plain loop", {
  for (seed in 1:6) {
    dags <- list(
      a = random_dag(9, 1 + seed %% 3, seed = seed),
      b = random_dag(9, 2, seed = 100 + seed),
      c = random_dag(9, 3, seed = 200 + seed)
    )
    labels <- as.data.frame(summary(dags$a)$degree)
    labels <- rownames(labels)
    for (count in 2:3) {
      for (cpdag in c(TRUE, FALSE)) {
        some <- dags[seq_len(count)]
        marks <- lapply(some, function(dag) marks_at_ends(as.matrix(if (cpdag) cpdag_of(dag) else dag)))
        table <- edge_table(compare_graphs(some, cpdag = cpdag))
        expect_identical(names(table), c("from", "to", names(some), if (count > 2) "graphs", "difference"))
        expect_identical(unname(as.matrix(table)), unname(plain_table(marks, labels)))
      }
    }
  }
})

test_that("the table of edges agrees with the counts", {
  a <- random_dag(30, 3, seed = 1)
  b <- random_dag(30, 3, seed = 2)
  found <- compare_graphs(a, b)
  table <- edge_table(found)
  expect_identical(names(table), c("from", "to", "a", "b", "difference"))
  expect_equal(sum(table$difference %in% c("both", "turned")), found$adj_tp)
  expect_equal(sum(table$difference == "only a"), found$adj_fp)
  expect_equal(sum(table$difference == "only b"), found$adj_fn)
  expect_equal(sum(table$difference != "both"), found$shd)
  expect_identical(edges(found), table)
  expect_identical(unique(edge_table(compare_graphs(a, a))$difference), "both")
})

test_that("one edge of each kind, in literal words", {
  m <- function(...) {
    m <- matrix(0, 5, 5, dimnames = list(letters[1:5], letters[1:5]))
    for (arc in list(...)) {
      m[arc[1], arc[2]] <- if (length(arc) > 2) 2 else 1
    }
    m
  }
  women <- m(c("a", "b"), c("c", "b"), c("c", "d"), c("d", "c"), c("d", "e"), c("e", "a", "!"), c("a", "e", "!"))
  men <- m(c("a", "b"), c("b", "c"), c("d", "c"), c("b", "e"), c("e", "a"), c("a", "e"))
  table <- edge_table(compare_graphs(women, men, cpdag = FALSE))
  expect_identical(table$from, c("a", "a", "c", "b", "c", "d"))
  expect_identical(table$to, c("b", "e", "b", "e", "d", "e"))
  expect_identical(table$women, c("-->", "<->", "-->", "", "---", "-->"))
  expect_identical(table$men, c("-->", "---", "<--", "-->", "<--", ""))
  expect_identical(table$difference, c("both", "turned", "turned", "only men", "turned", "only women"))
  expect_output(
    print(compare_graphs(women, men, cpdag = FALSE)),
    "5 variables, 5 edges in men\n.*Edges: 4 in both [(]3 with other marks[)], 1 only in women, 1 only in men;"
  )
})

test_that("graphs have the names that the user gave", {
  dag <- random_dag(6, 2, seed = 1)
  other <- cpdag_of(random_dag(6, 2, seed = 2))
  fit <- pc(random_data(dag, 200, seed = 1, numCores = 1), gaussCItest, alpha = 0.05, numCores = 1)
  names_of <- function(found) setdiff(names(edge_table(found)), c("from", "to", "graphs", "difference"))
  expect_identical(names_of(compare_graphs(dag, other)), c("dag", "other"))
  expect_identical(compare_graphs(dag, other)$graph, "dag")
  expect_null(compare_graphs(dag, other)[["other"]])
  expect_identical(names_of(compare_graphs(cpdag_of(dag), identity(other))), c("estimated", "true"))
  expect_output(print(compare_graphs(dag, identity(other))), "edges in the true graph (", fixed = TRUE)
  # A result of a search is not the truth.
  expect_identical(names_of(compare_graphs(identity(dag), identity(fit))), c("first", "second"))
  found <- compare_graphs(dag, fit)
  expect_identical(found$other, "fit")
  expect_output(print(found), "only graph")
  said <- utils::capture.output(print(compare_graphs(fit, identity(fit))))
  expect_false(any(grepl("true", said)))
  # In lists: names, else numbers; never twice the same, nor that of another column.
  expect_identical(names_of(compare_graphs(list(x = dag, other), fit)), c("x", "2", "fit"))
  expect_identical(names_of(compare_graphs(list(dag, other))), c("1", "2"))
  expect_identical(names_of(compare_graphs(dag, dag)), c("dag", "dag.1"))
  expect_identical(names_of(compare_graphs(list(from = dag, x = other, x = fit), dag)), c("from.1", "x", "x.1", "dag"))
  expect_identical(names_of(compare_graphs(stats::setNames(list(dag, other), c(NA, "b")))), c("1", "b"))
  expect_identical(names_of(dag |> compare_graphs(other)), c("dag", "other"))
  expect_identical(names_of(do.call(compare_graphs, list(dag, other))), c("estimated", "true"))
})

test_that("without a second graph, all pairs of a list are compared", {
  graphs <- lapply(stats::setNames(1:4, letters[1:4]), function(seed) random_dag(10, 2, seed = seed))
  # Variables are matched by name.
  m <- as.matrix(graphs$c)
  turned <- c(3, 1, 2, 10:4)
  graphs$c <- m[turned, turned]
  all <- compare_graphs(graphs)
  expect_identical(all$graph, c("a", "a", "a", "b", "b", "c"))
  expect_identical(all$other, c("b", "c", "d", "c", "d", "d"))
  for (row in 1:6) {
    one <- compare_graphs(graphs[[all$graph[row]]], graphs[[all$other[row]]])
    expect_equal(unlist(all[row, -(1:2)]), unlist(one[-1]))
  }
  expect_identical(dim(edge_table(all)), c(nrow(edge_table(all)), 8L))
  expect_identical(edge_table(all)$graphs, unname(as.integer(rowSums(edge_table(all)[names(graphs)] != ""))))
  expect_output(print(all), "10 variables \\(DAGs .*edges in any of the 4 graphs, [0-9]+ in all of them")
  # Several graphs and a truth: the truth is the last column.
  expect_identical(names(edge_table(compare_graphs(graphs[1:2], graphs$d)))[3:6], c("a", "b", "true", "graphs"))
  e <- expect_error(compare_graphs(graphs[1]), "a list of several graphs", class = "pcgpu_error_argument")
  expect_identical(e$argument, "true")
  expect_error(compare_graphs(graphs$a), "`true` is missing", class = "pcgpu_error_argument")
  e <- expect_error(
    compare_graphs(list(graphs$a, random_dag(3, seed = 1))),
    "3 variables, but its first graph has 10",
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "estimated")
})

test_that("graphs without edges, and tables without their graphs", {
  none <- matrix(0, 3, 3)
  found <- compare_graphs(list(a = none, b = none))
  expect_identical(
    edge_table(found),
    list2DF(list(from = character(), to = character(), a = character(), b = character(), difference = character()))
  )
  expect_output(print(found), "Edges: 0 in both;", fixed = TRUE)
  expect_identical(found$shd, 0)
  expect_identical(nrow(edge_table(compare_graphs(matrix(0, 1, 1), matrix(0, 1, 1)))), 0L)
  expect_error(edge_table(found[c("graph", "shd")]), "unchanged", class = "pcgpu_error_argument")
  expect_error(edges(found[c("graph", "shd")]), "`object`", class = "pcgpu_error_argument")
  expect_output(print(found[names(found)]), "graph other")
})

test_that("thousands of nodes take a moment", {
  dags <- list(a = random_dag(5000, 8, seed = 1), b = random_dag(5000, 8, seed = 2))
  expect_gt(length(dags$a$from), 19000)
  time <- system.time(table <- edge_table(found <- compare_graphs(dags)))
  expect_lt(time[["elapsed"]], 30)
  expect_equal(sum(table$difference != "both"), found$shd)
})

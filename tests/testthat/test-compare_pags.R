marked <- function(...) {
  m <- matrix(0, 4, 4, dimnames = list(letters[1:4], letters[1:4]))
  for (edge in list(...)) {
    m[edge[1], edge[2]] <- as.numeric(edge[4])
    m[edge[2], edge[1]] <- as.numeric(edge[3])
  }
  structure(m, type = "amat.pag")
}

test_that("adjacencies and marks are counted", {
  # a o-> b <-> c, c --> d
  true <- marked(c("a", "b", 1, 2), c("b", "c", 2, 2), c("c", "d", 3, 2))
  # a o-o b, b <-> c, a --> d
  found <- marked(c("a", "b", 1, 1), c("b", "c", 2, 2), c("a", "d", 3, 2))
  row <- compare_graphs(found, true)
  expect_s3_class(row, "pcgpu_comparison")
  expect_identical(
    unlist(row[c("edges", "true_edges", "adj_tp", "adj_fp", "adj_fn")]),
    c(edges = 3, true_edges = 3, adj_tp = 2, adj_fp = 1, adj_fn = 1)
  )
  # Arrowheads: of a - b none, of b - c both, of a --> d one that is wrong; true are four.
  expect_identical(unlist(row[c("arrow_tp", "arrow_fp", "arrow_fn")]), c(arrow_tp = 2, arrow_fp = 1, arrow_fn = 2))
  expect_identical(unlist(row[c("tail_tp", "tail_fp", "tail_fn")]), c(tail_tp = 0, tail_fp = 1, tail_fn = 1))
  expect_identical(
    unlist(row[c("circle_tp", "circle_fp", "circle_fn")]),
    c(circle_tp = 1, circle_fp = 1, circle_fn = 0)
  )
  expect_equal(row$arrow_precision, 2 / 3)
  expect_equal(row$arrow_recall, 1 / 2)
  expect_equal(row$arrow_precision_common, 1)
  expect_equal(row$arrow_recall_common, 2 / 3)
  expect_equal(row$marks_agree, 3 / 4)
  # a - b is marked otherwise, a - d and c - d are in one of the two.
  expect_identical(row$shd, 3)
  same <- compare_graphs(true, true)
  expect_identical(
    unlist(same[c("shd", "marks_agree", "adj_f1", "arrow_f1", "tail_f1", "circle_f1")], use.names = FALSE),
    c(0, rep(1, 5))
  )
  none <- compare_graphs(marked(), true)
  expect_identical(c(none$shd, none$adj_recall, none$adj_precision, none$marks_agree), c(3, 0, NA, NA))
})

test_that("graphs of all kinds are accepted, with variables in any order, and counts are those of a plain loop", {
  problem <- hidden_problem(7, 3, degree = 3, seed = 5)
  labels <- paste0("v", 1:7)
  true <- fci(NULL, problem$test, 0.5, labels = labels)
  fits <- pag_fits()
  other <- fci(NULL, hash_test(4), 0.9, labels = labels)
  order <- c(3, 1, 7, 2, 6, 5, 4)
  turned <- structure(other@amat[order, order], type = "amat.pag")
  table <- compare_graphs(
    list(one = other, two = turned, same = as(true, "amat"), unnamed = structure(unname(other@amat), type = "pag")),
    true
  )
  expect_identical(table$graph, c("one", "two", "same", "unnamed"))
  expect_identical(unlist(table[1, -1]), unlist(table[2, -1]))
  expect_identical(unlist(table[1, -1]), unlist(table[4, -1]))
  expect_identical(table$shd[3], 0)
  a <- other@amat
  b <- true@amat
  expect_equal(table$adj_tp[1], sum(a > 0 & b > 0) / 2)
  for (mark in names(pcgpu:::mark_names)) {
    number <- pcgpu:::mark_names[[mark]]
    expect_equal(table[[paste0(mark, "_tp")]][1], sum(a == number & b == number))
    expect_equal(table[[paste0(mark, "_fn")]][1], sum(b == number & a != number))
  }
  differs <- a != b
  expect_equal(table$shd[1], sum((differs | t(differs))[upper.tri(a)]))
  expect_output(print(table), "7 variables, [0-9]+ edges in the true PAG")
  expect_output(print(table), "tail prec.", fixed = TRUE)
  e <- expect_error(compare_graphs(random_dag(7, seed = 1), true), "dag2pag", class = "pcgpu_error_argument")
  expect_identical(e$argument, "estimated")
  e <- expect_error(compare_graphs(other, random_dag(7, seed = 1)), class = "pcgpu_error_argument")
  expect_identical(e$argument, "true")
  expect_error(compare_graphs(fits$fci, true), "8 variables, but `true` has 7", class = "pcgpu_error_argument")
  wrong <- structure(matrix(c(0, 1, 0, 0), 2), type = "pag")
  expect_error(compare_graphs(wrong, true), "a mark at one end only", class = "pcgpu_error_argument")
})

test_that("graphs of thousands of variables are compared at once", {
  p <- 4000
  set.seed(1)
  sparse <- function() {
    m <- matrix(0, p, p)
    at <- cbind(sample(p, 3 * p, TRUE), sample(p, 3 * p, TRUE))
    at <- at[at[, 1] < at[, 2], ]
    m[at] <- sample(3, nrow(at), TRUE)
    m[at[, 2:1]] <- sample(3, nrow(at), TRUE)
    structure(m, type = "pag")
  }
  one <- sparse()
  row <- compare_graphs(one, one)
  expect_identical(c(row$shd, row$edges), c(0, sum(one > 0) / 2))
})

test_that("edges of PAGs are listed with the marks of each", {
  one <- marked(c("a", "b", 1, 2), c("b", "c", 2, 2), c("c", "d", 3, 2), c("a", "d", 1, 3))
  two <- marked(c("a", "b", 1, 1), c("b", "c", 2, 2), c("d", "c", 1, 2), c("b", "d", 1, 3))
  found <- compare_graphs(one, two)
  table <- edge_table(found)
  expect_identical(table$from, c("a", "a", "b", "b", "c"))
  expect_identical(table$to, c("b", "d", "c", "d", "d"))
  expect_identical(table$one, c("o->", "o--", "<->", "", "-->"))
  expect_identical(table$two, c("o-o", "", "<->", "o--", "<-o"))
  expect_identical(table$difference, c("turned", "only one", "both", "only two", "turned"))
  expect_equal(sum(table$difference != "both"), found$shd)
  pairs <- compare_graphs(list(x = one, y = two, z = one))
  expect_identical(pairs$shd, c(found$shd, 0, found$shd))
  expect_output(print(pairs), "marks agree")
  set.seed(3)
  random <- function() {
    m <- matrix(0, 8, 8)
    there <- upper.tri(m) & runif(64) < 0.3
    m[there] <- sample(3, sum(there), TRUE)
    m <- t(m)
    m[there] <- sample(3, sum(there), TRUE)
    structure(m, type = "pag")
  }
  for (round in 1:10) {
    a <- random()
    b <- random()
    table <- edge_table(compare_graphs(a, b))
    from <- as.integer(table$from)
    to <- as.integer(table$to)
    expect_identical(nrow(table), sum((a > 0 | b > 0)[upper.tri(a)]))
    for (row in seq_along(from)) {
      for (name in c("a", "b")) {
        m <- get(name)
        i <- from[row]
        j <- to[row]
        kind <- if (m[i, j] == 0) "" else paste0(c("o", "<", "-")[m[j, i]], "-", c("o", ">", "-")[m[i, j]])
        expect_identical(table[[name]][row], kind)
      }
    }
  }
})

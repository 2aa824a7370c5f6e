# Converts rows (i, j, mark) to a matrix, and edges to a skeleton.
marks_of <- function(rows, p) amat_of(rows, p)

edges_both_ways <- function(edges, p) {
  m <- matrix(0, p, p)
  for (edge in edges) {
    m[edge[[1]], edge[[2]]] <- m[edge[[2]], edge[[1]]] <- 1
  }
  m
}

test_that("graphs with marks get pcalg's recorded marks", {
  calls <- read_golden("fci/marks-random")$calls
  expect_gt(length(calls), 150)
  for (k in seq_along(calls)) {
    call <- calls[[k]]
    p <- call$p
    found <- udag2pag(
      marks_of(call$input, p),
      recorded_sets(call$sepset, p),
      rules = rules_of(call$rules),
      unfVect = unlist(call$unfVect),
      orientCollider = call$orientCollider
    )
    expect_identical(found, marks_of(call$amat, p), info = k)
  }
})

test_that("skeletons get pcalg's recorded marks", {
  compared <- 0
  for (name in fci_names(c("gauss", "gaussNA", "dis", "dsep", "hash"))) {
    golden <- read_golden(name)
    p <- golden$p
    skeleton <- golden$steps$skeleton
    sets <- recorded_sets(pooled(golden, "sepset", skeleton$sepset), p)
    for (call in golden$steps$udag2pag) {
      found <- udag2pag(
        edges_both_ways(skeleton$edges, p),
        sets,
        rules = rules_of(call$rules),
        unfVect = unlist(call$unfVect)
      )
      expect_identical(found, marks_of(call$amat, p), info = paste(name, length(call$rules)))
      compared <- compared + 1
    }
  }
  expect_gt(compared, 100)
})

test_that("wrong arguments are named", {
  pag <- 1 - diag(3)
  sets <- rep(list(vector("list", 3)), 3)
  expect_argument <- function(code, argument) {
    e <- expect_error(code, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  expect_argument(udag2pag(), "pag")
  expect_argument(udag2pag(pag), "sepset")
  expect_argument(udag2pag(small_fit(), sets), "pag")
  for (wrong in list(
    pag[1:2, ],
    4 * pag,
    replace(pag, 2, 0),
    replace(pag, 1, 1),
    replace(pag, 2, NA),
    matrix(0, 0, 0)
  )) {
    expect_argument(udag2pag(wrong, sets), "pag")
  }
  for (wrong in list(list(), 1, sets[1:2], rep(list(rep(list(9L), 3)), 3), rep(list(rep(list("a"), 3)), 3))) {
    expect_argument(udag2pag(pag, wrong), "sepset")
  }
  expect_argument(udag2pag(pag, sets, rules = 1), "rules")
  for (wrong in list("a", 0.5, 1e9)) {
    expect_argument(udag2pag(pag, sets, unfVect = wrong), "unfVect")
  }
  expect_argument(udag2pag(pag, sets, jci = "1", contextVars = 4), "contextVars")
  expect_argument(udag2pag(pag, sets, orientCollider = NA), "orientCollider")
  expect_argument(udag2pag(pag, sets, verbose = NA), "verbose")
  expect_warning(
    udag2pag(pag, sets, jci = "1", contextVars = 1),
    "FCI orientation rules 5-7 should be disabled",
    class = "pcgpu_warning_rules"
  )
  # Nobody asks for sets where there are no edges.
  expect_identical(udag2pag(0 * pag, list()), 0 * pag)
})

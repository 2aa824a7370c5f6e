# Rows (i, j, mark) as a matrix, and edges as a skeleton.
marks_of <- function(rows, p) amat_of(rows, p)

edges_both_ways <- function(edges, p) {
  m <- matrix(0, p, p)
  for (edge in edges) m[edge[[1]], edge[[2]]] <- m[edge[[2]], edge[[1]]] <- 1
  m
}

test_that("graphs that have marks get pcalg's recorded ones", {
  calls <- read_golden("fci/marks-random")$calls
  expect_gt(length(calls), 150)
  for (k in seq_along(calls)) {
    call <- calls[[k]]
    p <- call$p
    found <- udag2pag(marks_of(call$input, p), recorded_sets(call$sepset, p),
      rules = rules_of(call$rules), unfVect = unlist(call$unfVect), orientCollider = call$orientCollider
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
      found <- udag2pag(edges_both_ways(skeleton$edges, p), sets, rules = rules_of(call$rules), unfVect = unlist(call$unfVect))
      expect_identical(found, marks_of(call$amat, p), info = paste(name, length(call$rules)))
      compared <- compared + 1
    }
  }
  expect_gt(compared, 100)
})

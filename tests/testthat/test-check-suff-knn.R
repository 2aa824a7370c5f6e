test_that("a statistic that was not made by suff_knn() is refused by name", {
  s <- suff_knn(matrix(rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c"))), seed = 1)
  refused <- function(argument, suffStat, labels = c("a", "b", "c")) {
    e <- expect_error(skeleton(suffStat, cmiKnnCItest, 0.05, labels = labels), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused("suffStat", list(C = diag(3), n = 20))
  refused("suffStat$data", s, labels = c("a", "b"))
  refused("labels", s, labels = c("a", "c", "b"))
  with <- function(name, value) {
    s[[name]] <- value
    s
  }
  refused("suffStat$data", with("data", replace(s$data, 4, NA)))
  refused("suffStat$data", with("data", s$data[1:2, ]))
  refused("suffStat$data", with("data", matrix("a", 20, 3)))
  refused("suffStat$discrete", with("discrete", c(TRUE, FALSE)))
  refused("suffStat$k", with("k", 20))
  refused("suffStat$k_perm", with("k_perm", 20))
  refused("suffStat$permutations", with("permutations", 0))
  refused("suffStat$seed", with("seed", NULL))
  refused("suffStat$estimator", with("estimator", "other"))
  refused("suffStat$transform", with("transform", 3))
  refused("suffStat$add_one", with("add_one", "yes"))
  refused("early_stop", with("early_stop", 0.05))
  expect_s4_class(skeleton(s, cmiKnnCItest, 0.05, labels = c("a", "b", "c")), "pcAlgo")
  expect_s4_class(skeleton(s, cmiKnnCItest, 0.05, p = 3), "pcAlgo")
})

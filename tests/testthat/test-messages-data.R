# Prose of errors, warnings, messages and print methods about data, for review in a diff.

small <- function() {
  data.frame(
    age = c(31, 44, 52, 28, 39, 61, 47, 55, 36, 42, 58, 33),
    sbp = c(118, 131, 140, 115, 122, 150, 133, 146, 121, 127, 149, 119),
    weight = c(70.5, 81.2, 77.9, 64.1, 90.3, 85.5, 72.2, 79.8, 68.4, 88.7, 75.6, 66.9)
  )
}

test_that("labels and knowledge", {
  suff <- suff_gauss(small())
  search <- function(...) skeleton(suff, gaussCItest, 0.05, ...)
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    search(p = 1)
    search(labels = c("age", "sbp", "sbp"))
    search(labels = c("age", "s|p", ""))
    search(labels = c("age", NA, "weight"))
    search(labels = c("sbp", "age", "weight"))
    search(p = 4)
    search(p = 3, fixedGaps = matrix(TRUE, 2, 2))
    search(p = 3, fixedGaps = upper.tri(diag(3)))
    search(p = 3, tiers = 1:2)
    search(labels = names(small()), tiers = list("age", c("spb", "weight")))
    search(labels = names(small()), tiers = list("age", "wieght", "sbp"))
    search(labels = names(small()), tiers = list("age", "weight"))
    search(labels = names(small()), forbidden = c("weight", "weight"))
    search(labels = names(small()), required = rbind(c("age", "sbp"), c("sbp", "age")))
    search(p = 3, forbidden = 1:3)
  })
  expect_snapshot(invisible(search(labels = c("a", "sbp", "weight"))), cnd_class = TRUE)
})

test_that("options", {
  suff <- suff_gauss(small())
  search <- function(alpha = 0.05, ...) pc(suff, gaussCItest, alpha, p = 3, ...)
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    search("5%")
    search(m.max = NA)
    search(u2pd = "retry", conservative = TRUE)
    search(verbose = "yes")
    search(time_limt = 5)
    search(tiers = 1:3, tiers = 1:3)
    pc(suff, "gausCItest", 0.05, p = 3)
  })
  expect_snapshot(invisible(search(1.5)), cnd_class = TRUE)
})

test_that("data for pc()", {
  x <- small()
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    pc("data.csv", alpha = 0.05)
    pc(x, alpha = 5)
    pc(transform(x, age = replace(age, 2, NA)), alpha = 0.05)
    pc(transform(x, weight = 1), alpha = 0.05)
    pc(cor(x), alpha = 0.05)
    pc(as.matrix(x[1:2, 1:2]), gaussCItest, 0.05)
    pc(list(C = cov(x), n = 12), gaussCItest, 0.05)
    pc(list(C = cor(x)), gaussCItest, 0.05)
    pc(x["age"], alpha = 0.05)
  })
  expect_snapshot(cnd_class = TRUE, {
    fit <- pc(transform(x, sex = factor(rep(c("f", "m"), 6))), alpha = 0.05)
    fit <- pc(transform(x, age = replace(age, 2, NA)), alpha = 0.05, na = "testwise")
    fit <- pc(transform(x, id = sprintf("patient %d", 1:12)), alpha = 0.05)
    fit <- pc(transform(x, total = age + weight), alpha = 0.05)
    fit <- pc(transform(x, day = as.Date("2024-01-01") + c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)), alpha = 0.05)
  })
})

test_that("sufficient statistics and tests", {
  x <- small()
  suff <- suff_gauss(x)
  levels <- data.frame(
    a = factor(rep(c("u", "v"), 6)),
    b = factor(rep(c("u", "u", "v"), 4)),
    text = sprintf("%d,5", 1:12)
  )
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    suff_gauss(transform(x, sex = "f"))
    suff_gauss(x[1:3, ])
    suff_gauss(x, keep = "data", correlation = "kendall")
    suff_discrete(x)
    suff_discrete(data.frame(a = c(1, NA, 2), b = 1:3))
    suff_knn(x, k = 12)
    gaussCItest("age", "spb", NULL, suff)
    gaussCItest(1, 4, NULL, suff)
    disCItest(1, 2, NULL, suff)
    c(gauss_moments(x), gauss_moments(x[1:2]))
    pcgpu_file("a", verify = "no")
    write_pcgpu_file(x, "no folder/file.pcgpu")
    mixCItest("age", "age", NULL, x)
  })
  expect_snapshot(cnd_class = TRUE, {
    invisible(suff_discrete(levels))
    invisible(suff_knn(transform(x, stage = rep(1:3, 4)), k = 3, seed = 1))
    suff_gauss(x, keep = "data")
    gauss_moments(rbind(x, NA), use = "complete.obs")
  })
})

test_that("selection of features and random data", {
  x <- small()
  expect_snapshot(error = TRUE, cnd_class = TRUE, {
    select_features(x, 1:3, 2)
    select_features(x, rep(1:2, 6), 4)
    select_features(x, x$age, 2)
    select_features(x, rep(1:2, 6), 2, ensemble = 0)
    select_features(x, rep(1:2, 6), 2, bins = 1)
    random_dag(5, neighbours = 9)
    random_data(random_dag(3, 2, seed = 1), 10, missing = 1)
  })
  expect_snapshot(select_features(x, rep(1:2, 6), 2, bins = 2, numCores = 1))
})

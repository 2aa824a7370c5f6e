test_that("the tests of each level are drawn", {
  fit <- pc(suff(), gaussCItest, 0.05, p = 8)
  details <- run_details(fit)
  expect_identical(details$n.edgetests, fit@n.edgetests)
  picture <- drawn(expect_identical(plot(details, main = "Search"), details))
  expect_true(all(c(format(details$n.edgetests, trim = TRUE), "Level", "Tests", "Search") %in% picture$texts$label))
  expect_error(
    plot(run_details(select_features(matrix(rep(0:1, 40), 20), rep(0:1, 10), 2))),
    "`x`",
    class = "pcgpu_error_argument"
  )
})

test_that("the title of the axis of counts is left of the widest of them", {
  details <- run_details(pc(suff(), gaussCItest, 0.05, p = 8))
  details$n.edgetests <- c(3e9, 4e8, 5)
  texts <- drawn(plot(details))$texts
  # It is turned, so that its y is where it begins and its x where its letters stand.
  expect_lt(texts$x[texts$label == "Tests"], min(texts$x[texts$label == "10,000,000,000"]))
  expect_gt(texts$x[texts$label == "Tests"], 0.1)
})

test_that("seconds are drawn next to them if several machines worked", {
  details <- run_details(pc(suff(), gaussCItest, 0.05, p = 8))
  details$team <- data.frame(
    level = c(0L, 0L, 1L, 1L, NA),
    device = c("cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0"),
    shards = 1,
    bytes_to = 0,
    bytes_from = 0,
    seconds = c(2, 2, 3, 3, 0),
    busy = c(1, 0.5, 0.9, 0.9, 0)
  )
  picture <- drawn(plot(details, ylab = "mine"))
  expect_true(all(c("cuda:0", "cuda:1") %in% picture$texts$label))
  expect_equal(sum(picture$texts$label == "mine"), 2)
})

fitted_effects <- function(...) {
  set.seed(1)
  x <- matrix(stats::rnorm(2000), 200, 10, dimnames = list(NULL, paste0("gene", 1:10)))
  x[, 3] <- x[, 1] + 0.5 * x[, 2] + stats::rnorm(200)
  x[, 5] <- 0.8 * x[, 3] - x[, 4] + stats::rnorm(200)
  x[, 7] <- x[, 6] + stats::rnorm(200)
  fit <- pc(suff_gauss(x), gaussCItest, 0.01, labels = colnames(x), numCores = 1)
  suppressMessages(causal_effects(fit, x, numCores = 1, ...))
}

test_that("the strongest pairs are drawn, in their order, with every possible effect", {
  effects <- fitted_effects(y = "gene7")
  picture <- drawn(expect_identical(plot(effects, n = 4, main = "E"), effects))
  shown <- as.data.frame(effects, n = 4)
  texts <- picture$texts
  at <- match(shown$x, texts$label)
  expect_false(anyNA(at))
  # From the top down.
  expect_true(all(diff(texts$y[at]) < 0))
  expect_true("Possible effects on gene7" %in% texts$label)
  # gene6 - gene7 has no direction: the effect of one on the other may be 0.
  expect_length(effects["gene6", "gene7"], 2)
  several <- drawn(plot(fitted_effects(), n = 5))
  expect_true(any(grepl(" on ", several$texts$label)))
})

test_that("bounds alone, joint effects, no effect at all and graphical arguments are drawn", {
  for (effects in list(
    fitted_effects(keep = "smallest"),
    fitted_effects(x = 1:2, y = c("gene3", "gene5"), joint = TRUE)
  )) {
    expect_silent(drawn(plot(effects, xlab = "mine", xlim = c(-3, 3), las = 1)))
    expect_true("mine" %in% drawn(plot(effects, xlab = "mine"))$texts$label)
  }
  none <- drawn(plot(fitted_effects(y = "gene7"), n = 0))
  expect_identical(none$texts$label, "No pair has a known effect")
  expect_error(plot(fitted_effects(), n = -1), "`n`", class = "pcgpu_error_argument")
})

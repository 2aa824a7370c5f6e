cstar_data <- function(n = 80) {
  set.seed(1)
  x <- matrix(rnorm(n * 8), n, dimnames = list(NULL, paste0("g", 1:8)))
  x[, 2] <- x[, 2] * 10
  cbind(x, growth = x[, 3] - 0.08 * x[, 2] + rnorm(n))
}

# Computes the lower bounds of each sample by pc() and causal_effects(), with a row for each pair.
bounds_by_hand <- function(found, x, y, data, scale) {
  vapply(
    seq_len(found$replicates),
    function(b) {
      rows <- data[stability_rows(found, b), ]
      fit <- pc(suff_gauss(rows), gaussCItest, found$alpha, labels = colnames(rows), numCores = 1)
      use <- if (scale) suff_gauss(rows) else rows
      as.vector(suppressMessages(causal_effects(fit, use, x = x, y = y, keep = "smallest", numCores = 1))$smallest)
    },
    numeric(length(x) * length(y))
  )
}

test_that("lower bounds, shares, ranks and error bounds are those of each sample by hand", {
  data <- cstar_data()
  for (scale in c(FALSE, TRUE)) {
    found <- cstar(
      data,
      0.1,
      y = c("growth", "g3"),
      replicates = 20,
      seed = 4,
      q = c(1, 3),
      standardize = scale,
      numCores = 2
    )
    bounds <- bounds_by_hand(found, 1:9, c(9, 3), data, scale)
    kept <- rep(1:9, each = 2) != rep(c(9, 3), 9)
    bounds <- bounds[kept, ]
    pairs <- found$pairs
    expect_identical(nrow(pairs), 16L)
    expect_equal(pairs$effect, apply(bounds, 1, median))
    share <- function(q) {
      rowMeans(apply(bounds, 2, function(column) column > 0 & rank(-column, ties.method = "first") <= q))
    }
    shares <- cbind(share(1), share(3))
    expect_equal(found$frequency, shares)
    expect_equal(pairs$rank, rowMeans(cbind(rank(-shares[, 1]), rank(-shares[, 2]))))
    pcer <- pmax(
      ifelse(shares[, 1] > 0.5, pmin(1, 1 / ((2 * shares[, 1] - 1) * 16^2)), 1),
      ifelse(shares[, 2] > 0.5, pmin(1, 9 / ((2 * shares[, 2] - 1) * 16^2)), 1)
    )
    expect_equal(pairs$pcer, pcer)
    fit <- pc(suff_gauss(data), gaussCItest, 0.1, labels = colnames(data), numCores = 1)
    all_rows <- suppressMessages(causal_effects(
      fit,
      if (scale) suff_gauss(data) else data,
      x = 1:9,
      y = c(9, 3),
      keep = "smallest"
    ))
    expect_equal(pairs$all_rows, as.vector(all_rows$smallest)[kept])
  }
  expect_identical(as.data.frame(found)$x[1], "g3")
})

test_that("the ranking depends on the seed alone, and data of all forms are accepted", {
  data <- cstar_data()
  one <- cstar(data, 0.1, y = "growth", replicates = 12, seed = 4, numCores = 1)
  same <- c("pairs", "frequency", "q")
  expect_identical(cstar(data, 0.1, y = 9, replicates = 12, seed = 4, numCores = 4)[same], one[same])
  expect_identical(cstar(as.data.frame(data), 0.1, y = "growth", replicates = 12, seed = 4)[same], one[same])
  expect_equal(cstar(suff_gauss(data, keep = "data"), 0.1, y = "growth", replicates = 12, seed = 4)[same], one[same])
  skip_on_cran()
  expect_identical(cstar(data, 0.1, y = "growth", replicates = 12, seed = 4, cluster = 2)[same], one[same])
})

test_that("two levels count as 0 and 1, and other levels are refused", {
  set.seed(5)
  n <- 120
  x <- data.frame(sex = factor(sample(c("f", "m"), n, TRUE)), a = rnorm(n))
  x$b <- (x$sex == "m") + x$a + rnorm(n)
  x$ill <- x$b > 0.5
  numbers <- transform(x, sex = as.integer(sex == "m"), ill = as.integer(ill))
  ranked <- function(data) cstar(data, 0.1, y = c("b", "ill"), replicates = 6, seed = 2)$pairs
  expect_message(found <- ranked(x), "sex (f = 0, m = 1), ill (FALSE = 0, TRUE = 1)", fixed = TRUE)
  expect_equal(found, ranked(numbers))
  x$site <- factor(sample(c("x", "y", "z"), n, TRUE))
  expect_error(ranked(x), "\"site\": merge the levels to two", class = "pcgpu_error_argument")
})

test_that("knowledge, constant columns and other sizes are no error", {
  data <- cstar_data(40)
  data[, 1] <- c(1, rep(0, 39))
  tiers <- stats::setNames(c(rep(1, 8), 2), colnames(data))
  found <- suppressMessages(cstar(
    data,
    0.1,
    x = c("g1", "g3", "growth"),
    y = c("growth", "g3"),
    replicates = 10,
    seed = 4,
    tiers = tiers,
    q = 2
  ))
  pairs <- as.data.frame(found)
  expect_identical(pairs$effect[pairs$x == "growth"], 0)
  # In half of the samples it is constant, and has no effect there.
  expect_true(all(is.finite(pairs$effect)) && all(found$frequency[found$pairs$x == 1, ] < 1))
  expect_true(all(is.na(cstar(data, 0.1, y = "growth", replicates = 5, size = 30)$pairs$pcer)))
})

test_that("broken input is refused, and results are printed and drawn", {
  data <- cstar_data()
  refused <- function(argument, ...) {
    given <- list(...)
    default <- list(data = data, alpha = 0.1, replicates = 5)
    error <- tryCatch(
      do.call(cstar, c(given, default[setdiff(names(default), names(given))])),
      pcgpu_error_argument = function(e) e
    )
    expect_s3_class(error, "pcgpu_error_argument")
    expect_identical(error$argument, argument, info = conditionMessage(error))
  }
  refused("data", data = suff_gauss(data))
  refused("x", x = "nobody")
  refused("y", y = 10)
  refused("y", x = 1, y = 1)
  refused("q", q = 0)
  refused("q", q = c(1, 1))
  refused("q", q = 73)
  refused("standardize", standardize = NA)
  refused("replicates", replicates = -1)
  refused("size", size = 2)
  refused("indepTest", indepTest = gaussCItest)
  expect_error(cstar(), class = "pcgpu_error_argument")
  found <- cstar(data, 0.1, replicates = 10, seed = 4)
  expect_identical(nrow(found$pairs), 72L)
  expect_output(print(found), "Causal stability ranking of 72 pairs: 10 samples \\(each 40 of 80 rows\\)")
  expect_identical(nrow(as.data.frame(found, n = 3)), 3L)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(found))
  expect_identical(length(stability_rows(found, 2)), 40L)
})

test_that("a summary counts the pairs that are stable", {
  set.seed(1)
  data <- matrix(rnorm(400), 80, dimnames = list(NULL, letters[1:5]))
  data[, 2] <- data[, 1] + rnorm(80) / 10
  found <- cstar(data, 0.1, replicates = 20, seed = 4, q = c(1, 20))
  summarised <- summary(found)
  expect_identical(summarised$q, c(1, 20))
  expect_identical(summarised$above_half, c(sum(found$frequency[, 1] > 0.5), sum(found$frequency[, 2] > 0.5)) + 0)
  expect_true(
    all(summarised$above_half >= summarised$always & summarised$never + summarised$always <= 20) &&
      summarised$always[2] >= 1
  )
})

same_parts <- c(
  "index",
  "names",
  "score",
  "relevance",
  "levels",
  "frequency",
  "rank",
  "ensemble",
  "classes",
  "features",
  "observations"
)

# Returns the codes of the columns. A selection from some of the rows must not recompute them.
codes_of <- function(x, bins) {
  apply(x, 2, function(v) pmin(floor((v - min(v)) / (max(v) - min(v)) * bins), bins - 1))
}

test_that("each selection is that from its rows, without discretising the columns again", {
  set.seed(3)
  x <- matrix(rnorm(90 * 15), 90, dimnames = list(NULL, paste0("f", 1:15)))
  # A column that is constant in many bootstrap samples.
  x[, 4] <- replace(rep(0, 90), 7, 1)
  y <- cut(x[, 2] + x[, 5] + rnorm(90), 3, labels = FALSE)
  codes <- codes_of(x, 5)
  for (ensemble in list(
    selection_ensemble(6, seed = 11),
    selection_ensemble(5, replace = FALSE, seed = 2),
    selection_ensemble(4, 0.3, seed = 0)
  )) {
    for (criterion in c("JMI", "MIM", "CMI")) {
      found <- select_features(x, y, 6, criterion, bins = 5, numCores = 2, ensemble = ensemble)
      of <- found$ensemble
      expect_identical(dim(of$index), c(6L, ensemble$replicates))
      scores <- rep(0, 15)
      for (b in seq_len(ensemble$replicates)) {
        rows <- ensemble_rows(found, b)
        expect_length(rows, of$size)
        once <- suppressWarnings(select_features(codes[rows, ], y[rows], 6, criterion, discretize = "none"))
        expect_identical(of$index[, b], once$index, info = paste(criterion, b))
        scores[once$index] <- scores[once$index] + once$score
      }
      count <- tabulate(of$index, 15)
      expect_equal(found$score, (scores / count)[found$index])
      expect_identical(found$frequency, count[found$index] / ensemble$replicates)
      expect_identical(of$frequency, count / ensemble$replicates)
      expect_false(is.unsorted(-found$frequency))
      whole <- select_features(codes, y, 15, criterion, discretize = "none")
      expect_identical(found$relevance, whole$relevance[match(found$index, whole$index)])
      expect_identical(found$levels, whole$levels[match(found$index, whole$index)])
    }
  }
})

# Returns the same ensemble, with the seed that it drew.
once_again <- function(x) {
  do.call(selection_ensemble, x$ensemble[c("replicates", "size", "replace", "aggregate", "seed")])
}

test_that("an ensemble depends on its seed, not on threads", {
  data <- simulate_features(n = 200, p = 300)
  run <- function(threads, ...) {
    select_features(data$x, data$y, 10, numCores = threads, ensemble = selection_ensemble(7, ...))[same_parts]
  }
  want <- run(1, seed = 5)
  for (threads in 2:4) {
    expect_identical(run(threads, seed = 5), want)
  }
  expect_false(identical(run(2, seed = 6)$ensemble$index, want$ensemble$index))
  # Without a seed it is R's random numbers that decide.
  set.seed(8)
  once <- select_features(data$x, data$y, 10, ensemble = 7)
  other <- select_features(data$x, data$y, 10, ensemble = 7)
  set.seed(8)
  expect_identical(select_features(data$x, data$y, 10, ensemble = 7)[same_parts], once[same_parts])
  expect_false(identical(other$ensemble$seed, once$ensemble$seed))
  # The other ways to give the data.
  expect_identical(
    select_features(as.data.frame(data$x), data$y, 10, ensemble = once_again(once))$ensemble$index,
    once$ensemble$index
  )
  skip_if_not_installed("Matrix")
  sparse <- data$x * (matrix(runif(length(data$x)), nrow(data$x)) < 0.05)
  expect_identical(
    select_features(Matrix::Matrix(sparse, sparse = TRUE), data$y, 10, ensemble = once_again(once))[same_parts],
    select_features(sparse, data$y, 10, ensemble = once_again(once))[same_parts]
  )
})

test_that("several criteria are combined, in all rows or in each sample", {
  data <- simulate_features(n = 120, p = 40)
  select <- function(...) select_features(data$x, data$y, 6, ..., numCores = 2)
  every <- lapply(every_criterion, select)
  index <- vapply(every, function(one) one$index, integer(6))
  found <- select(every_criterion)
  expect_identical(unname(found$ensemble$index), index)
  expect_identical(colnames(found$ensemble$index), every_criterion)
  together <- aggregate_selections(index, index, 40, "frequency")
  expect_identical(found[c("index", "frequency", "rank")], together[c("index", "frequency", "rank")])
  expect_identical(found$score, rep(NA_real_, 6))
  expect_equal(found$relevance, unname(apply(data$x[, found$index], 2, information, data$y)))
  expect_equal(found$ensemble$stability[["estimate"]], selection_stability(index, 40)[["estimate"]])
  expect_true(all(is.na(found$ensemble$stability[c("lower", "upper")])))
  expect_output(print(found), "ensemble of 12 criteria; stability 0\\.[0-9]{2}\n")
  expect_identical(ensemble_rows(found, 1), 1:120)
  # One sample after the other, and in each all criteria.
  three <- c("mRMR", "CMI", "DISR")
  ensemble <- selection_ensemble(5, aggregate = "mean-rank", seed = 3)
  want <- lapply(three, function(criterion) select(criterion, ensemble = ensemble)$ensemble$index)
  want <- do.call(cbind, want)[, c(matrix(1:15, 3, byrow = TRUE))]
  for (threads in 1:3) {
    found <- select_features(data$x, data$y, 6, three, ensemble = ensemble, numCores = threads)
    expect_identical(unname(found$ensemble$index), want)
  }
  expect_identical(found$index, aggregate_selections(want, want, 40, "mean-rank")$index)
  expect_identical(found$criterion, three)
  expect_output(print(found), "5 bootstrap samples of 120 rows and 3 criteria")
  # A criterion counts once, and one alone is no ensemble.
  expect_identical(select(c(three, "CMI"))$criterion, three)
  expect_null(select(c("JMI", "JMI"))$ensemble)
  expect_identical(select(c("MIFS", "JMI"), beta = 0.5)$beta, 0.5)
})

test_that("features are put in order by frequency or by mean rank", {
  index <- cbind(c(1, 2, 3), c(2, 1, 4), c(2, 3, 5), c(5, 2, 1))
  score <- matrix(seq_along(index) / 2, 3)
  found <- aggregate_selections(index, score, 6, "frequency")
  # 2 in all; 1 and then 3 and 5: of 3 and 5 in two of four samples, 3 at 3 and 2, 5 at 3 and 1.
  expect_identical(found$index, c(2L, 1L, 5L))
  expect_equal(found$frequency, c(1, 0.75, 0.5))
  expect_equal(found$rank, c((2 + 1 + 1 + 2) / 4, (1 + 2 + 3) / 3, 2))
  expect_equal(found$all, c(3, 4, 2, 1, 2, 0) / 4)
  expect_equal(found$score[1], mean(score[index == 2]))
  # Means of places, 4 where it is not selected.
  ranks <- vapply(1:6, function(f) mean(apply(index, 2, function(one) match(f, one, nomatch = 4))), 0)
  expect_identical(aggregate_selections(index, score, 6, "mean-rank")$index, order(ranks)[1:3])
  # Often, and late; seldom, and first.
  index <- cbind(c(9, 7, 8, 1), c(9, 7, 8, 1), c(9, 7, 6, 8), c(6, 7, 9, 8), c(6, 9, 8, 7))
  expect_identical(aggregate_selections(index, index, 9, "frequency")$index[4], 6L)
  expect_identical(aggregate_selections(index, index, 9, "mean-rank")$index, c(9L, 7L, 6L, 8L))
  data <- simulate_features(n = 100, p = 40)
  by <- lapply(c("frequency", "mean-rank"), function(how) {
    select_features(data$x, data$y, 8, ensemble = selection_ensemble(9, aggregate = how, seed = 1))
  })
  expect_identical(by[[1]]$ensemble$index, by[[2]]$ensemble$index)
})

test_that("stability is Kuncheva's index, with the interval of Nogueira and others", {
  set.seed(5)
  p <- 12
  k <- 4
  index <- replicate(9, c(1, sample(2:p, k - 1)))
  found <- selection_stability(index, p)
  pairs <- utils::combn(9, 2, function(pair) length(intersect(index[, pair[1]], index[, pair[2]])))
  expect_equal(found[["estimate"]], mean((pairs - k^2 / p) / (k - k^2 / p)))
  # The paper's phi_i in full.
  z <- apply(index, 2, function(one) seq_len(p) %in% one)
  share <- rowMeans(z)
  phi <- found[["estimate"]]
  of_each <- apply(z, 2, function(one) {
    (sum(one * share) / p - sum(one) * k / p^2 + phi / 2 * (2 * k * sum(one) / p^2 - sum(one) / p - k / p + 1)) /
      (k / p * (1 - k / p))
  })
  error <- sqrt(4 / 9^2 * sum((of_each - mean(of_each))^2))
  expect_equal(found[["upper"]], min(1, phi + stats::qnorm(0.975) * error))
  expect_equal(found[["lower"]], phi - stats::qnorm(0.975) * error)
  expect_equal(unname(selection_stability(matrix(rep(1:3, 6), 3), 10)), c(1, 1, 1))
  expect_true(all(is.na(selection_stability(index[, 1, drop = FALSE], p))))
  expect_true(all(is.na(selection_stability(replicate(3, sample(p)), p))))
  # By chance it is about 0.
  chance <- selection_stability(replicate(400, sample(100, 10)), 100)
  expect_lt(abs(chance[["estimate"]]), 0.01)
  expect_true(chance[["lower"]] <= 0 && chance[["upper"]] >= 0)
})

test_that("one replicate, all columns, rare classes", {
  data <- simulate_features()
  one <- select_features(data$x, data$y, 3, ensemble = 1)
  expect_identical(one$index, one$ensemble$index[, 1])
  expect_identical(one$frequency, c(1, 1, 1))
  expect_identical(one$rank, c(1, 2, 3))
  expect_true(is.na(one$ensemble$stability[["estimate"]]))
  expect_no_match(capture.output(print(one)), "stability")
  expect_setequal(select_features(data$x, data$y, 12, ensemble = 3)$index, 1:12)
  # Two rows of a second class: samples without them are drawn again.
  y <- rep(c("rare", "usual"), c(2, 58))
  found <- select_features(data$x, y, 3, ensemble = selection_ensemble(40, seed = 3))
  expect_true(any(found$ensemble$draw > 0))
  for (b in seq_len(40)) {
    expect_length(unique(y[ensemble_rows(found, b)]), 2)
  }
  # Of three classes one may be missing.
  y <- rep(c("rare", "a", "b"), c(1, 30, 29))
  found <- select_features(data$x, y, 3, ensemble = selection_ensemble(40, seed = 3))
  expect_true(all(found$ensemble$draw == 0))
  expect_true(any(vapply(seq_len(40), function(b) !1 %in% ensemble_rows(found, b), NA)))
})

test_that("without an ensemble the result has none of its parts", {
  data <- simulate_features()
  found <- select_features(data$x, data$y, 3)
  expect_named(
    found,
    c(
      "index",
      "names",
      "score",
      "relevance",
      "levels",
      "criterion",
      "bins",
      "discretize",
      "features",
      "observations",
      "classes",
      "device",
      "call"
    )
  )
  expect_named(as.data.frame(found), c("index", "name", "score", "relevance", "levels"))
})

test_that("an ensemble prints, plots, is saved and becomes a data frame", {
  data <- simulate_features(n = 100)
  found <- select_features(data$x, data$y, 5, ensemble = selection_ensemble(20, seed = 4))
  expect_output(print(found), "5 of 12 features by JMI (100 observations, 3 classes)", fixed = TRUE)
  expect_output(
    print(found),
    "ensemble of 20 bootstrap samples of 100 rows; stability 0\\.[0-9]{2} \\(95% interval [0-9.]+\\s+to [0-9.]+\\)"
  )
  expect_named(as.data.frame(found), c("index", "name", "frequency", "rank", "score", "relevance", "levels"))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(found, file)
  expect_identical(ensemble_rows(readRDS(file), 20), ensemble_rows(found, 20))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off(), add = TRUE)
  expect_identical(plot(found), found)
  half <- select_features(data$x, data$y, 5, ensemble = selection_ensemble(3, replace = FALSE))
  expect_output(print(half), "ensemble of 3 samples without replacement of 50 rows", fixed = TRUE)
})

test_that("bad ensembles are named, with their values and the hint", {
  data <- simulate_features()
  refuse <- function(pattern, code) expect_error(code, pattern, class = "pcgpu_error_argument")
  for (bad in list(0, -1, 1.5, NA, "50", 1:2, 1e6, TRUE, list(50))) {
    refuse("`ensemble` is .*selection_ensemble\\(\\)", select_features(data$x, data$y, 3, ensemble = bad))
  }
  for (bad in list(0, 2.5, NA, "a")) {
    refuse("`replicates` is", selection_ensemble(bad))
  }
  for (bad in list(0, -1, 1.5, NA, "a")) {
    refuse("`size` is", selection_ensemble(5, bad))
  }
  refuse("`size` is 1: .*below 1", selection_ensemble(5, 1, replace = FALSE))
  refuse("`how` is NA", selection_ensemble(5, replace = NA))
  refuse("`aggregate` is", selection_ensemble(5, aggregate = "median"))
  refuse("`seed` is", selection_ensemble(5, seed = -1))
  refuse(
    "`ensemble` has size = 0.01, which selects 1 row of 60",
    select_features(data$x, data$y, 3, ensemble = selection_ensemble(5, 0.01))
  )
  few <- selection_ensemble(5, 2 / 60, replace = FALSE)
  rare <- rep(1:2, c(1, 59))
  found <- tryCatch(select_features(data$x, rare, 3, ensemble = few), pcgpu_error_argument = conditionMessage)
  expect_true(inherits(found, "pcgpu_selection") || grepl("`ensemble`.*`size`", found))
  found <- select_features(data$x, data$y, 3, ensemble = 4)
  for (bad in list(0, 5, NA, "a")) {
    refuse("`replicate` is", ensemble_rows(found, bad))
  }
  refuse("`x` is a selection without an ensemble", ensemble_rows(select_features(data$x, data$y, 3), 1))
  refuse("`x` is 3", ensemble_rows(3, 1))
  refuse("`replicate` is missing", ensemble_rows(found))
})

test_that("Ctrl-C stops an ensemble within half a second, and the next call works", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(sample.int(60L, 4000 * 1500, TRUE), 4000)
  y <- sample(0:9, 4000, TRUE)
  for (threads in 1:2) {
    stopped <- press_in_time(
      function() {
        select_features(x, y, 300, discretize = "none", numCores = threads, ensemble = 50)
      },
      delay = 1
    )
    expect_identical(stopped$outcome, "stopped")
    expect_lt(stopped$took, 0.5)
  }
  expect_s3_class(select_features(x[1:50, 1:5], y[1:50], 2, ensemble = 3), "pcgpu_selection")
})

test_that("a progress bar changes nothing in the answer", {
  data <- simulate_features(n = 1000, p = 200)
  ensemble <- selection_ensemble(10, seed = 1)
  capture.output(with <- select_features(data$x, data$y, 20, progress = TRUE, ensemble = ensemble), type = "message")
  expect_identical(with[same_parts], select_features(data$x, data$y, 20, ensemble = ensemble)[same_parts])
})

test_that("an ensemble on a GPU is that of the CPU", {
  skip_without_gpu()
  data <- simulate_features(n = 300, p = 200)
  for (ensemble in list(selection_ensemble(5, seed = 1), selection_ensemble(4, replace = FALSE, seed = 2))) {
    on <- lapply(c("cpu", "cuda"), function(device) {
      select_features(data$x, data$y, 10, device = device, ensemble = ensemble)
    })
    expect_identical(on[[2]]$device, "cuda:0")
    expect_identical(on[[2]][same_parts], on[[1]][same_parts])
  }
})

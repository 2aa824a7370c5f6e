test_that("scikit-feature's recorded selections are found, up to a tie", {
  for (name in golden_names("jmi")) {
    golden <- read_golden(name)
    x <- matrix_of(golden$X)
    y <- as.character(numbers(golden$class_codes))
    # One has the class itself among its features: the core's own tests hold its recorded answers, too.
    if (any(apply(x, 2L, function(column) identical(match(column, column), match(y, y))))) {
      expect_error(
        select_features(x, y, golden$k, discretize = "none"),
        "`y` itself, or a recoding of it, in column 7:",
        class = "pcgpu_error_argument"
      )
      next
    }
    found <- suppressWarnings(select_features(x, y, golden$k, discretize = "none", numCores = 2))
    for (step in seq_along(golden$steps)) {
      want <- golden$steps[[step]]
      expect_true((found$index[step] - 1) %in% unlist(want$tied_within_1e_12), info = paste(name, step))
      expect_equal(found$score[step], want$score, tolerance = 1e-11, info = paste(name, step))
      # From a tie on the peer may be on another path.
      if (found$index[step] - 1 != want$index) break
    }
  }
})

test_that("scores are those of the definitions, whatever the criterion", {
  data <- simulate_features()
  for (criterion in every_criterion) {
    found <- select_features(data$x, data$y, 6, criterion = criterion, discretize = "none", numCores = 2)
    expect_identical(found$criterion, criterion)
    for (step in 1:6) {
      before <- found$index[seq_len(step - 1)]
      scores <- scores_by_definition(data$x, data$y, before, criterion)
      scores[before] <- -Inf
      expect_equal(found$score[step], max(scores), tolerance = 1e-10, info = paste(criterion, step))
      expect_equal(scores[found$index[step]], max(scores), tolerance = 1e-10, info = paste(criterion, step))
      expect_equal(found$relevance[step], information(data$x[, found$index[step]], data$y), tolerance = 1e-10)
    }
  }
})

test_that("beta and gamma are the weights of MIFS and of the linear criteria", {
  for (seed in 1:3) {
    data <- simulate_features(seed = seed)
    x <- data$x
    y <- data$y
    select <- function(criterion, ...) select_features(x, y, 6, criterion, discretize = "none", ...)
    for (weights in list(c(0.7, 0.2), c(0, 3), c(1.25, 0), c(1, 1), c(100, 1 / 3))) {
      found <- select("Betagamma", beta = weights[1], gamma = weights[2])
      expect_identical(found[c("beta", "gamma")], list(beta = weights[1], gamma = weights[2]))
      for (step in 1:6) {
        before <- found$index[seq_len(step - 1)]
        scores <- scores_by_definition(x, y, before, "Betagamma", weights[1], weights[2])
        scores[before] <- -Inf
        # Weights are multiples of 2^-32.
        expect_equal(found$score[step], max(scores), tolerance = 1e-8)
        expect_equal(scores[found$index[step]], max(scores), tolerance = 1e-8)
      }
    }
    same <- function(a, b) expect_identical(a[c("index", "score")], b[c("index", "score")])
    same(select("MIFS", beta = 0.7), select("Betagamma", beta = 0.7, gamma = 0))
    same(select("CIFE"), select("Betagamma"))
    same(select("CONDRED"), select("Betagamma", beta = 0))
    same(select("MIM"), select("MIFS", beta = 0))
  }
  expect_identical(select("MIFS")$beta, 1)
  expect_null(select("MIFS")$gamma)
  refuse <- function(pattern, ...) expect_error(select(...), pattern, class = "pcgpu_error_argument")
  refuse("`beta` has no place in the criterion \"JMI\": leave it out, or use criterion = \"MIFS\"", "JMI", beta = 1)
  refuse("`gamma` has no place in the criterion \"MIFS\": .*\"Betagamma\"", "MIFS", gamma = 1)
  for (bad in list(-0.1, 101, NA, "1", 1:2, NULL, Inf)) {
    refuse("`beta` is .*from 0 to 100", "MIFS", beta = bad)
    refuse("`gamma` is .*from 0 to 100", "Betagamma", gamma = bad)
  }
})

test_that("FEAST's recorded selections are found", {
  for (name in golden_names("feast")) {
    golden <- read_golden(name)
    x <- matrix_of(golden$X)
    for (run in golden$runs) {
      select <- function(...) select_features(x, numbers(golden$class_codes), golden$k, ..., discretize = "none")
      found <- select("Betagamma", beta = run$beta, gamma = run$gamma)
      expect_equal(found$index, numbers(run$index) + 1)
      expect_equal(found$score, numbers(run$score), tolerance = 1e-8)
    }
    expect_identical(length(golden$runs), 6L)
  }
})

test_that("FCBF selects the predominant features of the paper, and then the others", {
  for (seed in 1:5) {
    data <- simulate_features(n = 80, p = 15, seed = seed)
    with_y <- apply(data$x, 2, uncertainty, data$y)
    # Yu and Liu (2004), figure 3.
    list <- order(-with_y)
    kept <- integer()
    while (length(list)) {
      first <- list[1]
      kept <- c(kept, first)
      redundant <- vapply(list, function(f) uncertainty(data$x[, first], data$x[, f]) >= with_y[f] - 1e-13, NA)
      list <- list[!redundant]
    }
    found <- select_features(data$x, data$y, 15, "FCBF", discretize = "none")
    expect_identical(found$index[found$score >= 0], unname(kept))
    expect_equal(found$score, unname((with_y - !seq_along(with_y) %in% kept)[found$index]))
    expect_false(is.unsorted(-found$score))
  }
  # A copy of a feature that determines y is left out.
  y <- rep(0:1, 40)
  x <- cbind(a = replace(y, 1, 1), b = replace(y, 1, 1), c = rep(0:3, 20) %/% 2)
  expect_identical(select_features(x, y, 3, "FCBF")$score < 0, c(FALSE, TRUE, TRUE))
})

test_that("the result does not depend on the number of threads", {
  data <- simulate_features(n = 300, p = 400)
  for (criterion in c("JMI", "CMIM", "CMI", "Betagamma", "FCBF")) {
    results <- lapply(c(1, 2, 4), function(threads) {
      found <- select_features(data$x, data$y, 40, criterion, discretize = "none", numCores = threads)
      found$call <- NULL
      found
    })
    expect_identical(results[[2]], results[[1]])
    expect_identical(results[[3]], results[[1]])
  }
})

test_that("numbers are cut by width or by frequency", {
  set.seed(2)
  x <- matrix(rexp(200 * 5), 200)
  y <- as.integer(x[, 2] > 0.7)
  width <- apply(x, 2, function(v) pmin(floor((v - min(v)) / (max(v) - min(v)) * 8), 7))
  frequency <- apply(x, 2, function(v) floor(8 * (rank(v, ties.method = "min") - 1) / 200))
  same <- function(a, b) {
    expect_identical(a[c("index", "score", "relevance", "levels")], b[c("index", "score", "relevance", "levels")])
  }
  same(select_features(x, y, 5, bins = 8), select_features(width, y, 5, discretize = "none"))
  same(
    select_features(x, y, 5, bins = 8, discretize = "equal-frequency"),
    select_features(frequency, y, 5, discretize = "none")
  )
  # A y of many values is cut as well.
  target <- x[, 3] + rexp(200)
  classes <- pmin(floor((target - min(target)) / (max(target) - min(target)) * 8), 7)
  found <- select_features(x, target, 5, bins = 8)
  same(found, select_features(width, classes, 5, discretize = "none"))
  expect_identical(found$index[1], 3L)
})

test_that("matrices, data frames and sparse matrices of the same values have the same answer", {
  data <- simulate_features(n = 80, p = 10)
  x <- data$x
  want <- select_features(x, data$y, 10, bins = 64)
  same <- function(x, y = data$y, ...) {
    found <- select_features(x, y, 10, bins = 64, ...)
    expect_identical(
      found[c("index", "score", "relevance", "levels", "classes")],
      want[c("index", "score", "relevance", "levels", "classes")]
    )
  }
  same(as.data.frame(x))
  same(x + 0.25)
  same(matrix(letters[x + 1], nrow(x)))
  same(as.data.frame(lapply(as.data.frame(x), function(v) factor(letters[v + 1], levels = rev(letters)))))
  same(as.data.frame(lapply(as.data.frame(x), function(v) letters[v + 1])))
  same(x, factor(data$y))
  same(x, letters[data$y + 1])
  same(unname(x), discretize = "none")
  logical <- x > 1
  expect_identical(select_features(logical, data$y, 10)$score, select_features(logical + 0, data$y, 10)$score)
  skip_if_not_installed("Matrix")
  for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix", "denseMatrix")) {
    same(methods::as(x + 0, class))
  }
  same(methods::as(x + 0, "CsparseMatrix"), discretize = "none")
})

test_that("constant columns come last, and copies in their order", {
  data <- simulate_features()
  x <- cbind(constant = 1, data$x[, 3], renamed = 9 - data$x[, 3], other = data$x[, 1])
  found <- select_features(x, data$y, 4, discretize = "none")
  expect_identical(found$index[1], 2L)
  expect_identical(found$relevance[found$index == 1], 0)
  expect_identical(found$relevance[found$index == 2], found$relevance[found$index == 3])
})

test_that("a selected column with a different level in every row gets a warning", {
  data <- simulate_features()
  x <- data.frame(data$x, id = sprintf("row%d", 1:60))
  expect_warning(found <- select_features(x, data$y, 3, discretize = "none"), "\"id\"", class = "pcgpu_warning_unique")
  expect_identical(found$names[1], "id")
  expect_no_warning(select_features(data$x, data$y, 3))
})

test_that("bad arguments are named, with their values and the hint", {
  data <- simulate_features()
  x <- data$x
  y <- data$y
  refuse <- function(pattern, ...) expect_error(select_features(...), pattern, class = "pcgpu_error_argument")
  for (k in list(0, 13, -1, 1.5, NA, "3", NULL, 1:2)) {
    refuse("`k` is", x, y, k)
  }
  for (bins in list(1, 0, 65536, 2.5, NA, "8")) {
    refuse("`bins` is", x, y, 3, bins = bins)
  }
  for (bad in list("jmi2", c("JMI", "jmi2"), c("JMI", NA), character(), 3, list("JMI", 3))) {
    refuse("`criterion` is", x, y, 3, criterion = bad)
  }
  refuse("`na` is", x, y, 3, na = "pairwise")
  refuse("`discretize` is", x, y, 3, discretize = "some")
  for (bad in list(NULL, 1:10, list(1), "a", sum)) {
    refuse("`x` is", bad, y, 3)
  }
  refuse("`x` has 60 rows and 0 columns", x[, 0], y, 1)
  refuse("`x` has 1 row and 12 columns", x[1, , drop = FALSE], 1, 1)
  refuse("`y` needs a value for each of the 60 rows of `x`, not 59", x, y[-1], 3)
  for (bad in list(NULL, list(1), x, Sys.Date() + 1:60)) {
    refuse("`y` is", x, bad, 3)
  }
  refuse("`y` has NA at position 7", x, replace(y, 7, NA), 3)
  refuse("`y` has only one class", x, rep("a", 60), 3)
  refuse("`y` has 60 classes", x, paste(1:60), 3)
  refuse("a different value in every row.*use `bins` below 60", x, 1:60 / 60, 3, bins = 5000)
  refuse("a different value in every row.*cut\\(\\)", round(x), 1:60 / 60, 3, discretize = "none")
  refuse("`y` has an infinite value at position 3", x, replace(1:60, 3, Inf), 3)
  refuse("`y` has 60 classes", x, factor(1:60), 3)
  broken <- replace(x + 0, 65, NA)
  refuse("`x` has NA in row 5, column 2.*na = \"complete\"", broken, y, 3)
  refuse("`x` has NA in row 5, column 2", as.data.frame(broken), y, 3)
  refuse("`x` has an infinite value in row 5, column 2", replace(x + 0, 65, -Inf), y, 3)
  refuse("0.5 in row 1, column 1", replace(x + 0, 1, 0.5), y, 3, discretize = "none")
  frame <- as.data.frame(x)
  frame$list <- as.list(1:60)
  refuse("not numbers, factors, logicals or text, list \\(list\\)", frame, y, 3)
  refuse("`numCores` is", x, y, 3, numCores = 0)
  refuse("`device` is", x, y, 3, device = "tpu")
})

test_that("NaN is missing in a factor of numbers as y", {
  expect_error(
    select_features(data.frame(b = c(1, 0, 1, 0, 1, 1)), factor(c(0, NaN, 1, 0, 1, NaN)), 1),
    "`y` has NA at position 2",
    class = "pcgpu_error_argument"
  )
})

test_that("a selection prints, plots and becomes a data frame", {
  data <- simulate_features()
  found <- select_features(data$x, data$y, 12, numCores = 1)
  expect_output(print(found), "12 of 12 features by JMI (60 observations, 3 classes)", fixed = TRUE)
  expect_output(print(found), "... and 2 more", fixed = TRUE)
  frame <- as.data.frame(found)
  expect_identical(frame$name, colnames(data$x)[found$index])
  expect_identical(select_features(unname(data$x), data$y, 2)$names, as.character(found$index[1:2]))
  # What is drawn is recorded, page by page.
  grDevices::pdf(NULL)
  grDevices::dev.control("enable")
  for (selection in list(
    found,
    select_features(data$x, data$y, 2, "DISR"),
    select_features(data$x, data$y, 2, c("JMI", "FCBF"))
  )) {
    expect_identical(plot(selection), selection)
  }
  plot(select_features(matrix(sample(0:3, 6000, TRUE), 60), data$y, 50), main = "Many")
  drawn <- grDevices::recordPlot()
  grDevices::dev.off()
  expect_true("Many" %in% unlist(lapply(drawn[[1]], function(call) Filter(is.character, as.list(call[[2]])))))
})

test_that("a selection is passed on to pc()", {
  set.seed(4)
  x <- matrix(rnorm(400 * 100), 400, dimnames = list(NULL, paste0("g", 1:100)))
  y <- x[, 7] - x[, 50] + rnorm(400)
  found <- select_features(x, y, 8, bins = 4, discretize = "equal-frequency")
  expect_true(all(c("g7", "g50") %in% found$names[1:2]))
  around <- cbind(y, x[, found$index])
  fit <- pc(suff_gauss(around), gaussCItest, 0.01, labels = colnames(around))
  expect_true(all(c("g7", "g50") %in% colnames(around)[amat(fit)["y" == colnames(around), ] + amat(fit)[, 1] > 0]))
})

test_that("a progress bar changes nothing in the answer", {
  data <- simulate_features(n = 2000, p = 300)
  capture.output(with <- select_features(data$x, data$y, 100, progress = TRUE), type = "message")
  without <- select_features(data$x, data$y, 100)
  expect_identical(with$index, without$index)
  expect_identical(with$score, without$score)
})

test_that("Ctrl-C stops a selection within half a second, and the next call works", {
  skip_on_os("windows")
  set.seed(1)
  x <- matrix(sample.int(60L, 4000 * 1500, TRUE), 4000)
  y <- sample(0:9, 4000, TRUE)
  stopped <- press_in_time(function() select_features(x, y, 1500, "CMI", discretize = "none", numCores = 2), delay = 1)
  expect_identical(stopped$outcome, "stopped")
  expect_lt(stopped$took, 0.5)
  expect_s3_class(select_features(x[1:50, 1:5], y[1:50], 2), "pcgpu_selection")
})

test_that("a GPU is used if it is named or pays", {
  data <- simulate_features()
  choose <- function(device, counts) {
    pcgpu:::device_name(pcgpu:::choose_selection_device(pcgpu:::check_device(device), counts))
  }
  expect_identical(choose("auto", 1e6), "cpu")
  expect_identical(choose("auto", 1e12), "cuda:0")
  expect_identical(choose("cpu", 1e12), "cpu")
  expect_identical(choose("cuda:1", 1), "cuda:1")
  expect_identical(select_features(data$x, data$y, 3)$device, "cpu")
  expect_error(
    select_features(data$x, data$y, 3, device = cuda_device(strategy = "edge")),
    "strategies",
    class = "pcgpu_error_argument"
  )
  skip_with_gpu()
  expect_error(select_features(data$x, data$y, 3, device = "cuda"), class = "pcgpu_error_device")
})

test_that("the number of intervals follows the number of observations", {
  bins <- function(n, classes = NULL) pcgpu:::default_bins(n, classes)
  # Five observations a cell of bins x bins x classes.
  expect_identical(c(bins(40, 2), bins(89, 2), bins(90, 2), bins(1000, 2), bins(1e6, 2)), c(2L, 2L, 3L, 10L, 64L))
  expect_identical(c(bins(47), bins(134), bins(135), bins(5000), bins(1e7)), c(2L, 2L, 3L, 10L, 64L))
  for (n in c(12, 47, 500, 3000)) {
    for (classes in c(2, 5)) {
      b <- bins(n, classes)
      expect_true(b == 2L || b^2 * classes * 5 <= n)
      expect_gt((b + 1)^2 * classes * 5, n)
    }
  }
  set.seed(3)
  x <- matrix(rnorm(400 * 30), 400)
  class <- x[, 7] + x[, 9] > 0
  found <- select_features(x, class, 2)
  expect_identical(found$bins, 6L)
  expect_setequal(found$index, c(7L, 9L))
  expect_identical(select_features(x, class, 2, bins = 6)$score, found$score)
  # Whole numbers of few values are classes, others are cut.
  expect_identical(select_features(x, rep(1:9, length.out = 400), 2)$classes, 9L)
  expect_identical(select_features(x, rep(1:64, length.out = 400), 2)$classes, 64L)
  expect_identical(select_features(x, rep(1:65, length.out = 400), 2)$classes, 4L)
  expect_identical(select_features(x, x[, 7] + x[, 9], 2)$classes, 4L)
  # Few samples: the features that depend on y come first, not the first columns.
  for (seed in 1:5) {
    set.seed(seed)
    x <- matrix(rnorm(47 * 200), 47)
    y <- x[, 150] + 0.2 * rnorm(47)
    expect_identical(select_features(x, y, 1)$index, 150L)
    expect_warning(
      select_features(x, y > 0, 3, bins = 64),
      "47 observations for tables of .* largely random.*\\(the default here is 2",
      class = "pcgpu_warning_sparse"
    )
  }
})

test_that("codes keep their values if the number of bins is left to us", {
  set.seed(4)
  # Two bins on 60 samples would make 0 and 1 of the genotypes one level, and lose what they say of y.
  genotype <- sample(0:2, 60, TRUE)
  x <- cbind(genotype = genotype, matrix(rnorm(60 * 20), 60))
  y <- genotype == 1
  found <- select_features(x, y, 1)
  expect_identical(found[c("names", "levels", "bins")], list(names = "genotype", levels = 3L, bins = 2L))
  expect_equal(found$score, information(genotype, y))
  expect_identical(select_features(x, y, 1, discretize = "equal-frequency")$levels, 3L)
  expect_identical(select_features(as.data.frame(x), y, 1)$score, found$score)
  expect_identical(select_features(x, y, 21, bins = 2)$levels, rep(2L, 21))
  # On few rows a cell of each value would hold next to nothing: counts on 12 rows are numbers.
  counts <- matrix(stats::rpois(12 * 300, 3), 12)
  group <- factor(rep(c("case", "control"), 6))
  counts[, 250] <- stats::rpois(12, 3) + ifelse(group == "case", 0, 40)
  found <- select_features(counts, group, 1)
  expect_identical(c(found$index, found$levels), c(250L, 2L))
  # Ages are no classes.
  ages <- c(23, 45, 31, 52, 38, 27, 60, 41, 23, 45, 71, 19)
  expect_identical(select_features(counts, ages, 1)$classes, 2L)
  expect_identical(select_features(counts[1:8, ], ages[1:8], 1)$classes, 2L)
  expect_identical(select_features(counts, rep(1:3, 4), 1)$classes, 3L)
  # Eleven values are numbers, and so are fractions.
  many <- cbind(rep(0:10, length.out = 60), rep(c(0, 0.5, 1), 20))
  expect_identical(select_features(many, y, 2)$levels, c(2L, 2L))
  six <- cbind(rep(0:5, 10), rep(0:6, length.out = 60))
  expect_setequal(select_features(six, y, 2)$levels, c(6L, 2L))
  skip_if_not_installed("Matrix")
  expect_identical(select_features(Matrix::Matrix(x, sparse = TRUE), y, 1)$score, select_features(x, y, 1)$score)
})

test_that("advice on levels names what can be changed", {
  set.seed(5)
  y <- rep(c(TRUE, FALSE), 20)
  text_of <- function(x, ...) {
    tryCatch(
      select_features(x, y, 1, ...),
      pcgpu_warning_unique = conditionMessage,
      pcgpu_warning_sparse = conditionMessage
    )
  }
  expect_match(text_of(data.frame(id = sprintf("row %d", 1:40))), "leave them out, or merge their levels$")
  expect_match(text_of(cbind(1:40), bins = 5000), "or use fewer `bins`$")
  expect_error(
    select_features(cbind(1:2, 2:1), c(2, 5), 1, bins = 3),
    "more rows, or a factor",
    class = "pcgpu_error_argument"
  )
  expect_match(text_of(cbind(1:40), discretize = "none"), "or merge their levels$")
  many <- data.frame(a = factor(rep(1:20, 2)), b = factor(rep(1:20, 2)))
  expect_match(text_of(many), "largely random: merge levels or classes$")
  expect_match(text_of(cbind(rep(1:20, 2)), bins = 50), "largely random: use fewer `bins` \\(the default here is 2\\)")
})

test_that("numbers that print alike are different classes and levels", {
  y <- 1e15 + rep(0:2, 20)
  # The second column has the classes of y, except in the last row.
  x <- cbind(rep(c(0, 1, 1), 20), 1e15 + rep(c(2, 0, 1), 20), rep(0:1, 30))
  x[60, 2] <- 1e15
  expect_identical(select_features(x, y, 1)$classes, 3L)
  found <- select_features(x, y, 1, discretize = "none")
  expect_identical(c(found$index, found$levels, found$classes), c(2L, 3L, 3L))
  expect_equal(found$score, information(x[, 2] - 1e15, y - 1e15))
})

test_that("criteria have any case", {
  x <- data.frame(a = rep(1:2, 20), b = rep(1:4, 10), y = rep(1:2, each = 20))
  expect_identical(select_features(x, "y", 1, "mrmr")$criterion, "mRMR")
  expect_error(select_features(x, "y", 1, "mrmrs"), "criterion", class = "pcgpu_error_argument")
})

# Returns data in which two genes decide the status.
patients <- function(n = 120) {
  set.seed(1)
  x <- matrix(rnorm(n * 30), n, dimnames = list(sprintf("patient%03d", seq_len(n)), paste0("gene", 1:30)))
  list(x = x, status = stats::setNames(ifelse(x[, 7] + x[, 12] > 0, "case", "control"), rownames(x)))
}

refused <- function(pattern, ...) expect_error(select_features(...), pattern, class = "pcgpu_error_argument")

test_that("a target with the names of the rows is matched by them, in any order", {
  of <- patients()
  sorted <- of$status[order(of$status, names(of$status))]
  right <- select_features(of$x, unname(of$status), k = 2)
  expect_identical(right$names, c("gene7", "gene12"))
  same <- function(...) expect_identical(select_features(...)[c("names", "score")], right[c("names", "score")])
  same(of$x, of$status, k = 2)
  for (x in list(of$x, as.data.frame(of$x))) {
    same(x, sorted, k = 2)
    same(x, factor(sorted), k = 2)
    same(x, sorted == "case", k = 2)
  }
  ensemble <- selection_ensemble(5, seed = 1)
  expect_identical(
    select_features(of$x, sorted, k = 2, ensemble = ensemble)$names,
    select_features(of$x, unname(of$status), k = 2, ensemble = ensemble)$names
  )
  skip_if_not_installed("Matrix")
  same(Matrix::Matrix(of$x, sparse = TRUE), sorted, k = 2)
})

test_that("names of the target that are those of other rows are refused, and other names give a message", {
  of <- patients()
  rows <- rownames(of$x)
  status <- of$status
  refused(
    "patient002\" at position 1, where the rows of `x` have \"patient001",
    of$x,
    stats::setNames(status, c(rows[-1], "z")),
    2
  )
  twice <- of$x
  rownames(twice)[2] <- rows[1]
  refused("in any order", twice, stats::setNames(status, rev(rownames(twice))), 2)
  expect_no_warning(select_features(twice, stats::setNames(status, rownames(twice)), 2))
  expect_warning(
    select_features(of$x, stats::setNames(status, paste0("p", rows)), 2),
    "\"ppatient001\" at position 1.*by position",
    class = "pcgpu_warning_names"
  )
  # Numbers of rows, of which every data frame has some.
  unnamed <- as.data.frame(unname(of$x))
  numbered <- stats::setNames(status, seq_along(status))
  expect_no_warning(select_features(unnamed, numbered, 2))
  for (x in list(unnamed, unname(of$x))) {
    refused("row numbers as names, but in a different order", x, rev(numbered), 2)
  }
  expect_no_warning(select_features(unnamed, status, 2))
})

test_that("levels that never occur change nothing", {
  right <- select_features(iris[1:100, -5], as.character(iris$Species[1:100]), k = 2)
  expect_identical(right$bins, 3L)
  unused <- factor(iris$Species[1:100], levels = c(levels(iris$Species), paste0("other", 1:60)))
  for (y in list(iris$Species[1:100], unused)) {
    found <- select_features(iris[1:100, -5], y, k = 2)
    expect_identical(found[names(found) != "call"], right[names(right) != "call"])
  }
  # Among the features, too.
  x <- data.frame(iris[1:100, -5], half = factor(rep(1:2, 50)))
  more <- x
  levels(more$half) <- c("1", "2", paste0("other", 1:60))
  found <- select_features(more, unused, k = 5)
  same <- select_features(x, unused, k = 5)
  expect_identical(found[names(found) != "call"], same[names(same) != "call"])
})

test_that("the target among the features is refused, whatever its words or numbers", {
  said <- function(x, y, column) {
    refused(sprintf("`x` has `y` itself, or a recoding of it, in column.* %s: remove", column), x, y, 3)
  }
  species <- iris$Species
  said(iris, species, "\"Species\"")
  said(iris, as.integer(species), "\"Species\"")
  said(transform(iris[-5], code = 4 - as.integer(species)), species, "\"code\"")
  said(transform(iris[-5], code = c("b", "c", "a")[species]), species, "\"code\"")
  said(as.matrix(transform(iris[-5], code = as.integer(species))), species, "\"code\"")
  said(unname(as.matrix(transform(iris[-5], code = as.integer(species)))), species, "5")
  said(cbind(a = species == "setosa", b = TRUE), species == "setosa", "\"a\"")
  # Numbers that are cut: in their order, or the reverse.
  length <- iris$Sepal.Length
  said(iris[-5], length, "\"Sepal.Length\"")
  said(transform(iris[2:4], other = -log(length)), length, "\"other\"")
  said(as.matrix(transform(iris[2:4], other = rank(length))), length, "\"other\"")
  file <- write_pcgpu_file(as.matrix(iris[-5]), tempfile(fileext = ".pcgpu"))
  on.exit(unlink(file$path))
  said(file, length, "\"Sepal.Length\"")
  skip_if_not_installed("Matrix")
  said(Matrix::Matrix(as.matrix(transform(iris[-5], code = as.integer(species))), sparse = TRUE), species, "\"code\"")
})

test_that("a feature that determines the target, or agrees with it by chance, is a feature like any other", {
  fine <- function(x, y) expect_s3_class(suppressWarnings(select_features(x, y, 1)), "pcgpu_selection")
  species <- iris$Species
  fine(data.frame(sub = factor(rep(1:6, each = 25)), other = rnorm(150)), species)
  fine(data.frame(near = replace(as.integer(species), 150, 1L), other = rnorm(150)), species)
  fine(data.frame(shuffled = rev(sort(iris$Sepal.Length)), other = iris$Sepal.Width), iris$Sepal.Length)
  fine(data.frame(a = c(0, 0, 1, 1), b = c(1, 0, 1, 0)), c("x", "x", "y", "y"))
})

test_that("a target with a class has the values of its as.numeric()", {
  set.seed(11)
  x <- matrix(rnorm(400), 100)
  y <- sample(1:3, 100, TRUE)
  wanted <- select_features(x, y, 2)
  for (classed in list(
    I(y),
    structure(y, class = c("labelled", "integer")),
    structure(as.double(y), class = c("haven_labelled", "vctrs_vctr", "double")),
    scale(y, FALSE, FALSE),
    array(y)
  )) {
    expect_identical(
      select_features(x, classed, 2)[c("index", "score", "classes")],
      wanted[c("index", "score", "classes")]
    )
  }
})

selected_parts <- c("index", "names", "score", "relevance", "levels", "classes", "observations")

test_that("y may name or number a column, which is then no feature", {
  data <- simulate_features()
  for (at in c(1, 5, 13)) {
    x <- cbind(data$x[, seq_len(at - 1)], target = data$y, data$x[, seq_len(13 - at) + at - 1])
    place <- append(1:12, NA, at - 1)
    want <- select_features(data$x, data$y, 6)
    want$index <- match(want$index, place)
    frame <- as.data.frame(x)
    frames <- list(x, frame, if (requireNamespace("Matrix", quietly = TRUE)) Matrix::Matrix(x, sparse = TRUE))
    for (given in Filter(Negate(is.null), frames)) {
      for (y in list("target", at, as.integer(at))) {
        found <- select_features(given, y, 6)
        expect_identical(found[selected_parts], want[selected_parts])
        expect_identical(c(found$features, found$target), c(12L, as.integer(at)))
      }
    }
    # Without names, columns keep their numbers.
    found <- select_features(unname(x), at, 6)
    expect_identical(found$names, as.character(want$index))
    expect_output(print(found), "6 of 12 features by JMI")
    ensemble <- selection_ensemble(5, seed = 2)
    once <- select_features(data$x, data$y, 6, ensemble = ensemble)
    found <- select_features(frame, "target", 6, ensemble = ensemble)
    expect_identical(found$ensemble$index, matrix(match(once$ensemble$index, place), 6))
    expect_identical(found$ensemble$frequency, once$ensemble$frequency[place])
    expect_identical(found$index, match(once$index, place))
  }
  expect_identical(select_features(iris, "Species", 4)$index, select_features(iris[-5], iris$Species, 4)$index)
  # Classes may be numbers that are cut, text or a factor.
  expect_identical(
    select_features(iris, "Sepal.Width", 2)[c("score", "classes")],
    select_features(iris[-2], iris$Sepal.Width, 2)[c("score", "classes")]
  )
  refuse <- function(pattern, ...) expect_error(select_features(...), pattern, class = "pcgpu_error_argument")
  refuse("`y` has an unknown variable, \"Speces\": did you mean \"Species\"", iris, "Speces", 2)
  refuse("`y` has an unknown variable, 6: .*from 1 to 5", iris, 6, 2)
  refuse("`y` has an unknown variable, 0", iris, 0, 2)
  refuse("`y` has an unknown variable", iris, NA_character_, 2)
  refuse("`y` has an unknown variable, \"a\"", unname(as.matrix(iris[-5])), "a", 2)
  refuse("`y` needs a value for each of the 150 rows", iris, TRUE, 2)
  refuse("`y` needs a value for each of the 150 rows", iris, c("Species", "Sepal.Width"), 2)
  refuse("`k` is 5: use a whole number from 1 to 4, the number of features", iris, "Species", 5)
  refuse("`x` has 150 rows and 0 columns", iris["Species"], "Species", 1)
  refuse("`x` has `y` itself, or a recoding of it, in column \"twin\"", cbind(iris, twin = iris$Species), "Species", 1)
  refuse("`x` has NA in row 3, column 4", transform(iris, Petal.Width = replace(Petal.Width, 3, NA)), 2, 1)
  file <- write_pcgpu_file(as.matrix(iris[-5]), tempfile(fileext = ".pcgpu"))
  on.exit(unlink(file$path))
  refuse("`y` is a column of a data file: pass the values", file, "Sepal.Width", 1)
})

# Returns data with missing values, of several kinds.
with_holes <- function(n = 90) {
  set.seed(12)
  y <- sample(c("a", "b", "c"), n, TRUE)
  x <- data.frame(
    number = rnorm(n) + (y == "a"),
    whole = sample(0:3, n, TRUE),
    text = ifelse(runif(n) < 0.6, y, "d"),
    flag = runif(n) < 0.5,
    code = factor(ifelse(runif(n) < 0.4, y, "b"))
  )
  for (column in names(x)) {
    x[sample(n, 6), column] <- NA
  }
  list(x = x, y = y)
}

test_that("rows with missing values can be left out", {
  data <- with_holes()
  x <- data$x
  y <- replace(data$y, c(4, 50), NA)
  whole <- stats::complete.cases(x) & !is.na(y)
  want <- select_features(x[whole, ], y[whole], 5)
  found <- select_features(x, y, 5, na = "complete")
  expect_identical(found[selected_parts], want[selected_parts])
  expect_identical(found$left_out, which(!whole))
  expect_output(print(found), sprintf("%d rows with missing values left out", sum(!whole)))
  expect_identical(select_features(cbind(x, y), "y", 5, na = "complete")[selected_parts], want[selected_parts])
  # The rows of samples are those of the data.
  found <- select_features(x, y, 3, na = "complete", ensemble = selection_ensemble(3, seed = 1))
  expect_true(all(ensemble_rows(found, 2) %in% which(whole)))
  expect_identical(
    ensemble_rows(found, 2),
    which(whole)[ensemble_rows(select_features(x[whole, ], y[whole], 3, ensemble = selection_ensemble(3, seed = 1)), 2)]
  )
  # Matrices, and nothing to leave out.
  numbers <- as.matrix(x[c("number", "whole")])
  some <- stats::complete.cases(numbers)
  want <- select_features(numbers[some, ], data$y[some], 2)[selected_parts]
  expect_identical(select_features(numbers, data$y, 2, na = "complete")[selected_parts], want)
  expect_null(select_features(iris, "Species", 2, na = "complete")$left_out)
  refuse <- function(pattern, ...) expect_error(select_features(...), pattern, class = "pcgpu_error_argument")
  x$empty <- NA_real_
  refuse("`na` is \"complete\", which leaves 0 of 90 rows: use na = \"level\"", x, data$y, 2, na = "complete")
  # Errors name the rows of the data.
  bad <- numbers[some, ]
  bad <- rbind(c(NA, 1), bad)
  bad[5, 1] <- Inf
  refuse("`x` has an infinite value in row 5, column 1", bad, c("a", data$y[some]), 2, na = "complete")
  refuse("`x` has NA in row", x, data$y, 2)
  file <- write_pcgpu_file(numbers, tempfile(fileext = ".pcgpu"))
  on.exit(unlink(file$path))
  refuse("`na` is \"complete\": .*a data file keeps all its rows", file, data$y, 2, na = "complete")
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(numbers, sparse = TRUE)
  expect_identical(select_features(sparse, data$y, 2, na = "complete")[selected_parts], want)
})

test_that("missing values can be a level", {
  data <- with_holes()
  # Codes in ascending order, then missing values; numbers are cut by those that are known.
  codes <- function(column, cut) {
    known <- column[!is.na(column)]
    if (is.double(column)) {
      column <- cut(column, known)
    }
    code <- match(column, sort(unique(column)))
    ifelse(is.na(code), max(code, na.rm = TRUE) + 1, code)
  }
  width <- function(v, known) pmin(floor((v - min(known)) / diff(range(known)) * 4), 3)
  frequency <- function(v, known) floor(4 * vapply(v, function(w) sum(known < w), 0) / length(known))
  for (how in c("equal-width", "equal-frequency")) {
    coded <- vapply(data$x, codes, numeric(90), if (how == "equal-width") width else frequency)
    want <- select_features(coded, data$y, 5, discretize = "none")
    found <- select_features(data$x, data$y, 5, bins = 4, discretize = how, na = "level")
    expect_identical(found[selected_parts], want[selected_parts])
    scores <- scores_by_definition(coded, data$y, found$index[1:2], "JMI")
    expect_equal(found$score[3], scores[found$index[3]])
    expect_null(found$left_out)
  }
  # A row without a class is left out.
  y <- replace(data$y, 7, NA)
  found <- select_features(data$x, y, 5, na = "level")
  expect_identical(found$left_out, 7L)
  expect_identical(found[selected_parts], select_features(data$x[-7, ], y[-7], 5, na = "level")[selected_parts])
  expect_identical(select_features(data$x, addNA(factor(y)), 5, na = "level")$classes, 4L)
  # A factor is as with addNA(), and other kinds of data are as a data frame.
  expect_identical(
    select_features(data$x["code"], data$y, 1, na = "level")$score,
    select_features(data.frame(code = addNA(data$x$code)), data$y, 1)$score
  )
  numbers <- as.matrix(data$x[c("number", "whole")])
  want <- select_features(data$x[c("number", "whole")], data$y, 2, na = "level")[selected_parts]
  same <- function(x, ...) expect_identical(select_features(x, data$y, 2, na = "level", ...)[selected_parts], want)
  same(numbers)
  file <- write_pcgpu_file(numbers, tempfile(fileext = ".pcgpu"))
  on.exit(unlink(file$path))
  same(file)
  # A column without any value is constant.
  empty <- select_features(cbind(numbers, empty = NA), data$y, 3, na = "level")
  expect_identical(empty$levels[3], 1L)
  expect_error(
    select_features(file, replace(data$y, 3, NA), 2, na = "level"),
    "`y` has NA at position 3",
    class = "pcgpu_error_argument"
  )
  skip_if_not_installed("Matrix")
  same(Matrix::Matrix(numbers, sparse = TRUE))
  few <- matrix(0, 90, 3)
  few[cbind(c(3, 9, 30), 1:3)] <- NA
  few[cbind(c(4, 10, 31), 1:3)] <- 2
  expect_identical(
    select_features(Matrix::Matrix(few, sparse = TRUE), data$y, 3, na = "level")[selected_parts],
    select_features(few, data$y, 3, na = "level")[selected_parts]
  )
})

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

# The features and the target of select_features(), in the form that Rust reads, with their names and classes checked.

# Returns the features in the form that Rust's boundary reads (Features::from_list), without copying numbers if
# possible.
selection_features <- function(x) {
  if (inherits(x, "Matrix")) {
    need_package("Matrix", "`x` is a sparse matrix and needs the package Matrix")
    refuse_shape(x)
    x <- methods::as(methods::as(methods::as(x, "CsparseMatrix"), "generalMatrix"), "dMatrix")
    return(list(kind = "sparse", p = x@p, i = x@i, x = x@x))
  }
  if (is_file(x)) {
    check_content(x)
    refuse_shape(x)
    return(list(kind = "file", x = x))
  }
  if (is.data.frame(x)) {
    refuse_shape(x)
    return(list(kind = "columns", x = feature_columns(x)))
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x) || is.character(x))) {
    abort_argument(
      "x",
      x,
      "use a matrix, data frame or sparse matrix with observations in rows and features in columns."
    )
  }
  refuse_shape(x)
  if (is.character(x)) {
    return(list(kind = "columns", x = lapply(seq_len(ncol(x)), function(j) factor(x[, j]))))
  }
  if (is.logical(x)) {
    storage.mode(x) <- "integer"
  }
  list(kind = "matrix", x = x)
}

refuse_shape <- function(x) {
  if (nrow(x) < 2L || ncol(x) < 1L) {
    abort_argument(
      "x",
      x,
      "it must have at least two rows and one column.",
      has = paste(counted(nrow(x), "row"), "and", counted(ncol(x), "column"))
    )
  }
}

feature_columns <- function(x) {
  lapply(unname(as.list(x)), function(column) {
    if (is.character(column) || is.logical(column)) factor(column) else column
  })
}

# Returns row names that the user set, or NULL for the numbers that every data frame has.
row_names <- function(x) {
  if (!is.data.frame(x)) {
    rownames(x)
  } else if (.row_names_info(x) > 0L) {
    row.names(x)
  }
}

# Returns y in the order of the rows of x if both have names. If the names of y are not those of the rows, y stays as it
# is.
by_rows <- function(y, x) {
  own <- names(y)
  rows <- row_names(x)
  if (is.null(own) || length(y) != nrow(x)) {
    return(y)
  }
  if (is.null(rows)) {
    if (is_permuted(own, as.character(seq_along(own)))) {
      abort_argument(
        "y",
        y,
        "sort it with y[order(as.integer(names(y)))], or remove the names with unname().",
        has = "the row numbers as names, but in a different order"
      )
    }
    return(y)
  }
  if (!anyDuplicated(rows) && is_permuted(own, rows)) {
    return(y[rows])
  }
  check_row_names(own, rows)
  y
}

# Compares names of y that differ from those of the rows. If some are names of other rows, no order is right for all,
# which is an error.
check_row_names <- function(own, rows) {
  own <- as.character(own)
  at <- which(is.na(own) | own != rows)[1L]
  if (is.na(at)) {
    return(invisible())
  }
  place <- sprintf(
    "the name %s at position %d, where the rows of `x` have %s",
    dQuote(own[at], FALSE),
    at,
    dQuote(rows[at], FALSE)
  )
  moved <- match(own, rows)
  if (any(moved != seq_along(own), na.rm = TRUE)) {
    abort_argument("y", own, "use the row names of `x`, in any order, or remove the names with unname().", has = place)
  }
  warn("names", sprintf("`y` has %s: values are matched to rows by position.", place), argument = "y")
}

# Returns the features and the target, with its position among the columns of x if y names or numbers one.
split_target <- function(x, y) {
  is_column <- length(dim(x)) == 2L && nrow(x) > 1L && length(y) == 1L && !is.object(y) && is.null(dim(y))
  if (!is_column || !(is.character(y) || is.numeric(y))) {
    return(list(x = x, y = target_values(by_rows(y, x), nrow(x))))
  }
  if (is_file(x)) {
    abort_argument(
      "y",
      y,
      "pass the values of the target, with a file of the features.",
      is = "a column of a data file"
    )
  }
  at <- variables_at(y, colnames(x) %||% as.character(seq_len(ncol(x))), "y")
  target <- unname(column_of(x, at))
  if (is.null(colnames(x))) {
    colnames(x) <- seq_len(ncol(x))
  }
  x <- if (is.data.frame(x)) x[-at] else x[, -at, drop = FALSE]
  list(x = x, y = target_values(target, nrow(x)), target = at)
}

# Leaves out the rows that `na` says, and adds them as `left_out`.
leave_out_rows <- function(data, na) {
  x <- data$x
  if (na == "error" || na == "level" && is_file(x)) {
    return(data)
  }
  missing <- is.na(data$y)
  if (na == "complete") {
    if (is_file(x)) {
      abort_argument("na", na, "use na = \"level\", or write a file of complete rows: a data file keeps all its rows.")
    }
    missing <- missing | if (is_sparse(x)) Matrix::rowSums(is.na(x)) > 0 else !stats::complete.cases(x)
  }
  if (!any(missing)) {
    return(data)
  }
  if (sum(!missing) < 2L) {
    abort_argument(
      "na",
      na,
      if (na == "complete") "use na = \"level\", or drop columns." else "use a `y` with more values.",
      is = sprintf("\"%s\", which leaves %d of %d rows", na, sum(!missing), length(missing))
    )
  }
  data$x <- x[!missing, , drop = FALSE]
  data$y <- data$y[!missing]
  data$left_out <- which(missing)
  data
}

# Evaluates `value`, and puts the rows and columns of the user's data into errors about a part of them.
about_part <- function(data, value) {
  if (is.null(c(data$target, data$left_out))) {
    return(value)
  }
  part <- function(all, without) if (length(without)) all[-without] else all
  n <- nrow(data$x) + length(data$left_out)
  rows <- part(seq_len(n), data$left_out)
  columns <- part(seq_len(ncol(data$x) + length(data$target)), data$target)
  renumber <- function(said, what, numbers) {
    found <- regexpr(sprintf("(?<=\\b%s )[0-9]+", what), said, perl = TRUE)
    if (found > 0L) {
      regmatches(said, found) <- numbers[as.integer(regmatches(said, found))]
    }
    said
  }
  about("x", value, again = function(said) renumber(renumber(said, "row", rows), "column", columns))
}

# Puts the position of the target back among the columns of the user's data.
of_data <- function(found, target) {
  if (is.null(target)) {
    return(found)
  }
  found$index <- found$index + (found$index >= target)
  if (!is.null(found$ensemble)) {
    index <- found$ensemble$index
    found$ensemble$index <- index + (index >= target)
    found$ensemble$frequency <- append(found$ensemble$frequency, NA, target - 1L)
  }
  found
}

# Returns y as a vector of n values.
target_values <- function(y, n) {
  if (is.data.frame(y) && length(y) == 1L) {
    y <- y[[1L]]
  }
  if (is.character(y) && meaning_of_text(y) == "numbers") {
    warn(
      "levels",
      sprintf(
        "`y` is text that looks like numbers (such as %s) and is treated as classes: convert it with as.numeric()",
        dQuote(example_of_text(y), FALSE)
      ),
      columns = integer()
    )
  }
  if (!is_date(y) && (is.object(y) || !is.null(dim(y)))) {
    y <- plain_column(y, "y") %||% y
  }
  y <- nan_to_na(y)
  vector <- is.null(dim(y)) && (is.factor(y) || is.logical(y) || is.character(y) || (is.numeric(y) && !is.object(y)))
  if (!vector) {
    abort_argument("y", y, "use a vector, such as a factor or numbers, with a value for each row of `x`.")
  }
  if (length(y) != n) {
    abort_argument(
      "y",
      y,
      "use the same observations in both.",
      needs = sprintf("a value for each of the %d rows of `x`, not %d", n, length(y))
    )
  }
  y
}

# Returns y in the form that Rust reads: a factor, or numbers to be cut.
selection_classes <- function(y, n, bins, discretize) {
  if (anyNA(y)) {
    abort_argument(
      "y",
      y,
      "use na = \"complete\", or drop these rows from `y` and `x`.",
      has = sprintf("NA at position %d", which(is.na(y))[1L])
    )
  }
  if (!is.numeric(y) || is.factor(y)) {
    # Unused levels are not classes; counting them would reduce the default of `bins`.
    return(if (is.factor(y)) droplevels(y) else factor(y))
  }
  if (!all(is.finite(y))) {
    abort_argument(
      "y",
      y,
      "drop these rows from `y` and `x`.",
      has = sprintf("an infinite value at position %d", which(!is.finite(y))[1L])
    )
  }
  different <- length(unique(y))
  as_they_are <- if (is.null(bins)) {
    all(y == trunc(y)) && different <= max(2, min(10, n / 2), min(64, n / 5))
  } else {
    different <= bins
  }
  if (!as_they_are && discretize != "none") {
    return(y)
  }
  if (different == n) {
    abort_argument(
      "y",
      y,
      if (discretize == "none") {
        "cut() the numbers into classes, or use another `discretize`, which cuts them."
      } else {
        sprintf(
          "use %s a factor.",
          if (n > 2L) {
            sprintf("`bins` below %d, so that the numbers are cut, or leave it out, or use", n)
          } else {
            "more rows, or"
          }
        )
      },
      has = "a different value in every row, which would make each row a class"
    )
  }
  exact_factor(y)
}

# Stops if a column is the target or a recoding of it. It would be selected first and leave the others nothing to add.
# With few rows a column may agree by chance, so that is no error.
refuse_target <- function(x, features, y) {
  p <- ncol(x)
  tied <- tabulate(match(y, y))
  by_chance <- log(p) +
    sum(lfactorial(tied)) -
    lfactorial(length(y)) +
    if (is.factor(y)) lfactorial(sum(tied > 0L)) else log(2)
  if (by_chance > log(0.001)) {
    return(invisible())
  }
  column <- if (features$kind == "columns") function(j) features$x[[j]] else function(j) x[, j, drop = TRUE]
  few_rows <- function(rows) {
    if (features$kind != "columns") {
      return(unname(as.matrix(x[rows, , drop = FALSE])))
    }
    matrix(unlist(lapply(features$x, function(column) as.double(column[rows])), use.names = FALSE), length(rows))
  }
  candidates <- may_be_target(few_rows, y)
  same <- candidates[vapply(candidates, function(j) is_recoding(column(j), y), NA)]
  if (length(same)) {
    abort_argument(
      "x",
      x,
      sprintf(
        "remove %s from `x`, because no other column can add information about `y`.",
        if (length(same) == 1L) "it" else "them"
      ),
      has = paste("`y` itself, or a recoding of it, in", column_names(x, seq_len(p) %in% same))
    )
  }
}

# Returns whether a column has the classes of y under other names or, if y is numbers to be cut, their order or its
# reverse.
is_recoding <- function(column, y) {
  if (is.factor(y)) {
    return(identical(match(column, column), match(y, y)))
  }
  if (!is.numeric(column) || isTRUE(column[1L] == column[2L]) != (y[1L] == y[2L])) {
    return(FALSE)
  }
  ranks <- rank(column, ties.method = "min")
  identical(ranks, rank(y, ties.method = "min")) || identical(ranks, rank(-y, ties.method = "min"))
}

# Returns the columns that a few rows do not distinguish from y. few_rows(rows): a matrix of these rows.
may_be_target <- function(few_rows, y) {
  # In a file, the first rows are close together.
  few <- seq_len(min(length(y), 256L))
  if (!is.factor(y)) {
    few <- utils::head(few[!duplicated(y[few])], 16L)
    rows <- few_rows(few[order(y[few])])
    steps <- rows[-1L, , drop = FALSE] - rows[-length(few), , drop = FALSE]
    return(which(colSums(steps > 0) %in% nrow(steps) | colSums(steps < 0) %in% nrow(steps)))
  }
  first <- match(y, y)
  like <- utils::head(which(first[few] < few), 24L)
  n <- length(like)
  rows <- few_rows(c(like, first[like], utils::head(unique(first), 2L)))
  alike <- colSums(rows[seq_len(n), , drop = FALSE] == rows[n + seq_len(n), , drop = FALSE])
  which(alike %in% n & rows[2L * n + 1L, ] != rows[2L * n + 2L, ])
}

# fewer_bins: whether fewer bins are a remedy.
warn_unique <- function(names, fewer_bins) {
  if (length(names)) {
    warn(
      "unique",
      paste0(
        "Selected features with a different level in every row: ",
        enumerate(dQuote(names, FALSE)),
        ". They identify the rows and predict nothing about `y` in other data: leave them out",
        if (fewer_bins) ", or use fewer `bins`" else ", or merge their levels"
      ),
      columns = names
    )
  }
}

# Warns if more than nine cells in ten of a table of two features and the class must be empty, because the choice is
# then largely random. `levels`: numbers of levels of the selected features, `cut`: whether these are numbers that were
# cut.
warn_sparse <- function(levels, classes, n, cut) {
  cells <- as.double(stats::median(levels))^2 * classes
  if (n < cells / 10) {
    default <- default_bins(n, classes)
    warn(
      "sparse",
      sprintf(
        paste(
          "%d observations for tables of %.0f cells (two features with %g levels each, %d classes), so the selection",
          "is largely random: %s"
        ),
        n,
        cells,
        stats::median(levels),
        classes,
        if (any(cut & levels > default)) {
          sprintf("use fewer `bins` (the default here is %d), or merge levels or classes", default)
        } else {
          "merge levels or classes"
        }
      ),
      cells = cells
    )
  }
}

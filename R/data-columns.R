# The columns of a table: what their classes mean, and columns that may mean something else than they seem to.

# Returns a column of a matrix or data frame.
column_of <- function(x, j) if (is.data.frame(x)) x[[j]] else x[, j]

# Returns a data frame whose columns are bare numbers, logicals, text or factors. The methods of a column's class for
# is.na() and as.numeric() determine its values. A matrix inside a column becomes one column for each of its own.
plain_columns <- function(x, argument) {
  attributes(x) <- list(names = attr(x, "names"), row.names = .row_names_info(x, 0L), class = "data.frame")
  is_plain <- function(column) is_value(column) && is.null(dim(column)) && (!is.object(column) || is.factor(column))
  written <- vapply(x, is_written_dates, NA)
  x[written] <- lapply(x[written], as.Date, format = iso_date)
  odd <- !vapply(x, is_plain, NA)
  if (any(odd)) {
    dates <- vapply(x, is_date, NA)
    bare <- lapply(x[odd], plain_column, argument)
    refused <- vapply(bare, is.null, NA)
    if (any(refused)) {
      classes <- vapply(x[odd][refused], function(column) class(column)[1L], "")
      abort_argument(
        argument,
        x,
        "convert them to numbers or factors, or drop them.",
        has = paste(
          "columns that are not numbers, factors, logicals or text,",
          enumerate(sprintf("%s (%s)", names(x)[odd][refused], classes), 3L)
        )
      )
    }
    x[odd] <- bare
    if (any(dates)) {
      tell(
        "dates",
        paste0(
          sprintf(
            "Dates and times are converted to numbers (days, or seconds for times of day) in %s.",
            column_names(x, dates)
          ),
          if (any(written)) " For text as levels, use factor()."
        ),
        columns = unname(which(dates))
      )
    }
    wide <- vapply(x, function(column) !is.null(dim(column)), NA)
    if (any(wide)) x <- spread_matrices(x, wide)
  }
  factors <- vapply(x, is.factor, NA)
  x[factors] <- lapply(x[factors], nan_to_na)
  x
}

is_value <- function(column) is.numeric(column) || is.factor(column) || is.logical(column) || is.character(column)

iso_date <- "%Y-%m-%d"

# Returns whether a column is text, and all of it ISO dates, such as "2020-01-31", or missing.
is_written_dates <- function(column) {
  # Most text differs from a date in the first rows.
  is_iso <- function(text) all(grepl("^[0-9]{4}-[0-9]{2}-[0-9]{2}$", text))
  if (!is.character(column) || is.object(column) || !is.null(dim(column)) || !is_iso(stats::na.omit(column[1:10]))) {
    return(FALSE)
  }
  days <- unique(column[!is.na(column)])
  length(days) > 0L && is_iso(days) && !anyNA(as.Date(days, format = iso_date))
}

is_date <- function(column) inherits(column, c("Date", "POSIXt", "yearmon", "yearqtr", "ITime", "hms", "chron"))

# Packages for classes that R's own as.numeric() and is.na() would read wrongly. An S4 class names its package.
packages_of_classes <- c(integer64 = "bit64", haven_labelled_spss = "haven")

# Returns a column, or the values of a matrix, without its class: the result of as.numeric(), as.logical() or
# as.character(), and NA where is.na() is TRUE. Returns NULL for anything else.
plain_column <- function(column, argument) {
  if (inherits(column, "AsIs")) {
    class(column) <- setdiff(class(column), "AsIs")
  }
  # Labelled values are read as those values, with or without the package haven.
  if (inherits(column, "haven_labelled") && !inherits(column, "haven_labelled_spss")) {
    column <- as.vector(unclass(column))
  }
  if (is.factor(column)) {
    return(column)
  }
  if (inherits(column, "POSIXlt")) {
    column <- as.POSIXct(column)
  }
  if (inherits(column, "POSIXct")) {
    return(as.numeric(column) / 86400)
  }
  package <- c(packages_of_classes[class(column)], attr(class(column), "package"))
  for (needed in package[!is.na(package)]) {
    need_package(
      needed,
      sprintf("`%s` has values of the class %s of the package %s", argument, class(column)[1L], needed)
    )
  }
  if (inherits(column, "integer64")) {
    return(plain_integer64(column, argument))
  }
  if (is.matrix(column) && ncol(column) != 1L) {
    return(if (is_value(column) && !is.object(column)) column)
  }
  of <- unclass(column)
  as <- if (!is.atomic(column)) {
    NULL
  } else if (is.character(of)) {
    as.character
  } else if (is.logical(of)) {
    as.logical
  } else if (is.numeric(of) || isS4(column)) {
    as.numeric
  }
  if (is.null(as)) {
    return(NULL)
  }
  tryCatch(
    {
      bare <- as.vector(as(column))
      missing <- as.vector(is.na(column))
      if (length(bare) == NROW(column) && length(missing) == length(bare)) replace(bare, missing, NA)
    },
    error = function(e) NULL
  )
}

# Turns the columns of matrices into separate columns, with the names that as.matrix() would give them.
spread_matrices <- function(x, wide) {
  parts <- lapply(seq_along(x), function(j) {
    column <- x[[j]]
    if (!wide[j]) {
      return(stats::setNames(list(column), names(x)[j]))
    }
    of <- if (ncol(column)) lapply(seq_len(ncol(column)), function(k) as.vector(column[, k])) else list()
    stats::setNames(
      of,
      paste(rep(names(x)[j], length(of)), colnames(column) %||% seq_along(of), sep = ".", recycle0 = TRUE)
    )
  })
  structure(do.call(c, parts), row.names = attr(x, "row.names"), class = "data.frame")
}

# Makes NaN missing in a factor; factor() makes a level of it. A level "NaN" among levels that are not numbers is a word
# and stays.
nan_to_na <- function(column) {
  if (is.factor(column) && "NaN" %in% levels(column)) {
    others <- setdiff(levels(column), c("NaN", NA))
    if (!anyNA(suppressWarnings(as.numeric(others)))) {
      levels(column)[levels(column) %in% "NaN"] <- NA
    }
  }
  column
}

# Converts integer64 to doubles. The package bit64 stores 64-bit integers in the bits of doubles, which R would read as
# other numbers.
plain_integer64 <- function(column, argument) {
  if (is.data.frame(column)) {
    long <- vapply(column, inherits, NA, "integer64")
    column[long] <- lapply(column[long], plain_integer64, argument)
    return(column)
  }
  if (!inherits(column, "integer64")) {
    return(column)
  }
  need_package("bit64", sprintf("`%s` has numbers of the class integer64 and needs the package bit64", argument))
  numbers <- suppressWarnings(bit64::as.double.integer64(column))
  if (any(abs(numbers) >= 2^53, na.rm = TRUE)) {
    abort_argument(
      argument,
      column,
      "subtract a constant from them, or convert them to text with as.character().",
      has = "integer64 numbers of 2^53 or more, where R's numbers lose digits"
    )
  }
  dim(numbers) <- dim(column)
  dimnames(numbers) <- dimnames(column)
  numbers
}

# Text with at most this many different values counts as levels without a warning.
most_levels_unasked <- 10L

# A number as people write it: with decimal commas, thousands separators, a comparison or currency sign before it, or a
# unit after it.
written_number <- paste0(
  "^\\s*[^[:alnum:]\\s.+-]{0,2}\\s*[-+]?([0-9][0-9.,' ]*|[.,][0-9]+)",
  "([eE][-+]?[0-9]+)?\\s*([^0-9]{0,12})$"
)

written_date <- "^\\s*[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"

# Guesses what text or a factor means: "" (levels), "numbers", "many" (too many levels for any test), or "identifier".
meaning_of_text <- function(column) {
  occurring <- function(column) {
    values <- if (is.factor(column)) levels(column)[tabulate(column, nlevels(column)) > 0L] else unique(column)
    values[!is.na(values)]
  }
  # The first rows show whether the levels are few.
  few <- occurring(utils::head(column, 10000L))
  if (length(few) <= most_levels_unasked) {
    numbers <- grepl("^\\s*[-+]?[0-9]+([.,][0-9]+)?\\s*$", few)
    # Some numbers and a word, such as "unknown" among whole numbers.
    return(if (is.character(column) && sum(numbers) >= 3L && !all(numbers) && sum(!numbers) <= 2L) "numbers" else "")
  }
  values <- occurring(column)
  n <- length(column)
  if (is_written_as_numbers(values, is.factor(column))) {
    return("numbers")
  }
  if (length(values) == n && !any(grepl(written_date, values))) {
    return("identifier")
  }
  if (length(values) > n / 2) "many" else ""
}

# Returns whether nine values in ten are numbers with the same unit. A factor of only whole numbers holds codes instead.
is_written_as_numbers <- function(values, is_factor) {
  values <- utils::head(values, 10000L)
  numbers <- grepl(written_number, values, perl = TRUE) & !grepl(written_date, values)
  if (mean(numbers) < 0.9) {
    return(FALSE)
  }
  units <- trimws(sub(written_number, "\\3", values[numbers], perl = TRUE))
  if (max(tabulate(match(units, units))) < 0.9 * length(units)) {
    return(FALSE)
  }
  !is_factor || !all(grepl("^[0-9]+$", values))
}

# Warns of text columns, by name, that may not be meant as levels.
warn_text <- function(x) {
  if (is.character(x)) {
    x <- as.data.frame(x)
  }
  if (!is.data.frame(x)) {
    return(invisible())
  }
  text <- vapply(x, function(column) is.character(column) || is.factor(column), NA)
  if (!any(text)) {
    return(invisible())
  }
  found <- rep("", length(x))
  found[text] <- vapply(x[text], meaning_of_text, "")
  for (why in intersect(c("numbers", "many", "identifier"), found)) {
    which <- found == why
    warn(
      "levels",
      switch(
        why,
        numbers = paste0(
          "Text that looks like numbers is treated as levels in ",
          column_names(x, which),
          " (such as ",
          dQuote(example_of_text(x[[base::which(which)[1L]]]), FALSE),
          paste(
            "): remove units, commas and words and convert it with as.numeric(), or set `dec` and `na.strings` when",
            "you read the file"
          )
        ),
        many = paste0(
          "more levels than half of the rows in ",
          column_names(x, which),
          ": tests have no power for such a column; drop it, merge levels, or convert dates with as.Date()"
        ),
        identifier = paste0(
          "text that differs in every row in ",
          column_names(x, which),
          ": it identifies the rows and tests have no power for it; drop it"
        )
      ),
      columns = base::which(which)
    )
  }
}

# Returns a value that as.numeric() cannot read, if there is one.
example_of_text <- function(column) {
  values <- unique(as.character(column[!is.na(column)]))
  values <- values[nzchar(trimws(values))]
  odd <- values[is.na(suppressWarnings(as.numeric(values)))]
  utils::head(c(odd, values), 1L)
}

# Reports numeric columns of few different whole numbers, which are codes as often as counts. `discrete`: the columns
# that have levels.
tell_if_codes <- function(data, discrete) {
  is_code <- function(values) {
    values <- values[!is.na(values)]
    (is.integer(values) || all(is.finite(values) & values == trunc(values))) && length(unique(values)) <= 10L
  }
  few <- !discrete
  # The first rows show for most columns that they are not codes.
  for (rows in unique(c(min(100L, nrow(data)), nrow(data)))) {
    column <- function(j) if (is.matrix(data)) data[seq_len(rows), j] else utils::head(data[[j]], rows)
    few[few] <- vapply(which(few), function(j) is_code(column(j)), NA)
  }
  few[few] <- vapply(
    which(few),
    function(j) {
      column <- column_of(data, j)
      any(column != column[1L], na.rm = TRUE)
    },
    NA
  )
  if (any(few)) {
    tell(
      "codes",
      paste0(
        "Treated as continuous: ",
        column_names(data, few),
        " (whole numbers with at most 10 different values); ",
        "convert columns that are codes to factors."
      ),
      columns = unname(which(few))
    )
  }
}

# Returns a sentence about factors with unused levels, or "". The tests of micd and pcalg count such levels, and ours
# give the same p-values.
unused_levels <- function(x) {
  unused <- if (is.data.frame(x)) {
    vapply(x, function(column) is.factor(column) && any(tabulate(column, nlevels(column)) == 0L), NA)
  }
  if (!any(unused)) {
    return("")
  }
  sprintf(" Levels that never occur cost degrees of freedom in %s; droplevels() removes them.", column_names(x, unused))
}

# Returns for each column whether it is numeric.
numeric_columns <- function(x) {
  if (inherits(x, "table")) {
    FALSE
  } else if (is.data.frame(x)) {
    vapply(x, is_number_column, NA)
  } else if (is_sparse(x)) {
    !(methods::is(x, "lMatrix") || methods::is(x, "nMatrix"))
  } else {
    !is.matrix(x) || is.numeric(x)
  }
}

is_number_column <- function(column) is.numeric(column) && !is.factor(column)

# With more columns, the decomposition would take a good part of the search's time: 1 ms of 10 at 200 columns, 25 of 60
# at 500 (two cores).
most_columns_for_dependence <- 300L

# Warns of columns, by name, that are linear combinations of others. C: their correlations, from n rows; `columns`:
# their numbers. A pivoted Cholesky decomposition stops at the rank of C. With n <= p every column is such a
# combination.
warn_dependent <- function(C, n, columns = seq_len(ncol(C))) {
  p <- ncol(C)
  if (p > most_columns_for_dependence || n <= p) {
    return(invisible())
  }
  root <- suppressWarnings(chol(C, pivot = TRUE, tol = 1e-10))
  rank <- attr(root, "rank")
  if (rank == p) {
    return(invisible())
  }
  pivot <- attr(root, "pivot")
  free <- seq_len(rank)
  sets <- lapply((rank + 1L):p, function(j) {
    weights <- backsolve(root[free, free, drop = FALSE], root[free, j])
    sort(pivot[c(free[abs(weights) > 1e-6], j)])
  })
  groups <- joined(sets)
  said <- vapply(
    groups,
    function(group) {
      spare <- sum(vapply(sets, function(set) all(set %in% group), NA))
      sprintf("(%s; %d redundant)", enumerate(vapply(group, function(j) column_label(C, j), "")), spare)
    },
    ""
  )
  warn(
    "dependent",
    sprintf(
      "Linearly dependent columns: %s. Tests cannot distinguish such columns: drop the redundant ones",
      enumerate(said, 3L)
    ),
    columns = lapply(groups, function(group) columns[group])
  )
}

# Merges sets that have a common member.
joined <- function(sets) {
  groups <- list()
  for (set in sets) {
    touches <- vapply(groups, function(group) any(set %in% group), NA)
    groups <- c(groups[!touches], list(sort(unique(c(set, unlist(groups[touches]))))))
  }
  groups[order(vapply(groups, `[`, 0L, 1L))]
}

# Warns in the same way of numeric columns among others, using the rows without missing values. Columns without
# correlations are reported elsewhere.
warn_dependent_numbers <- function(x, numeric) {
  if (sum(numeric) < 2L || sum(numeric) > most_columns_for_dependence) {
    return(invisible())
  }
  numbers <- x[, numeric, drop = FALSE]
  suff <- tryCatch(
    suppressMessages(suff_gauss(numbers, use = "complete.obs", device = "cpu")),
    pcgpu_error_argument = function(e) NULL
  )
  if (!is.null(suff)) warn_dependent(suff$C, suff$n, unname(which(numeric)))
}

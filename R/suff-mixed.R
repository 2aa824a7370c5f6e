# Data for the tests of mixed data and of data with missing values, in the form that Rust reads.

# holes: the treatment of missing values, see the core's `Holes`. kinds: the kinds of columns that the test accepts. The
# rest: the core's `Rules`.
mixed_tests <- list(
  gaussCItwd = list(
    name = "gaussCItwd",
    holes = "testwise",
    kinds = "numbers",
    adapt = FALSE,
    ask_for_rows = FALSE,
    constant_is_missing = TRUE
  ),
  disCItwd = list(
    name = "disCItwd",
    holes = "testwise",
    kinds = "levels",
    adapt = FALSE,
    ask_for_rows = FALSE,
    constant_is_missing = TRUE
  ),
  mixCItwd = list(
    name = "mixCItwd",
    holes = "testwise",
    kinds = "any",
    adapt = TRUE,
    ask_for_rows = TRUE,
    constant_is_missing = FALSE
  ),
  mixCItest = list(
    name = "mixCItest",
    holes = "none",
    kinds = "any",
    adapt = TRUE,
    ask_for_rows = TRUE,
    constant_is_missing = FALSE
  ),
  gaussMItest = list(
    name = "gaussMItest",
    holes = "imputed",
    kinds = "numbers",
    adapt = FALSE,
    ask_for_rows = FALSE,
    constant_is_missing = FALSE
  ),
  disMItest = list(
    name = "disMItest",
    holes = "imputed",
    kinds = "levels",
    adapt = FALSE,
    ask_for_rows = FALSE,
    constant_is_missing = FALSE
  ),
  mixMItest = list(
    name = "mixMItest",
    holes = "imputed",
    kinds = "any",
    adapt = FALSE,
    ask_for_rows = FALSE,
    constant_is_missing = FALSE
  )
)

check_suff_mixed <- function(suffStat, labels, test) {
  data <- checked_sets(mixed_sets(suffStat, test), suffStat, test)
  if (data$p != length(labels)) {
    abort_argument(
      "suffStat",
      suffStat,
      "use the data of exactly these variables.",
      needs = column_for_each(length(labels), data$p)
    )
  }
  check_own_names(data$names, labels, "suffStat")
  if (is.null(data$correlations)) {
    first <- data$sets[[1L]]
    warn_text(first)
    warn_constant(
      constant_in(first),
      first,
      if (test$constant_is_missing) "tests of a constant return NA, so it has no edges unless `NAdelete` is FALSE"
    )
  }
  mixed_for_rust(data, test)
}

# Returns the contents of a test's suffStat: list(adapt, sets), where sets are data frames or matrices, or list(n,
# correlations), matrices.
mixed_sets <- function(suffStat, test) {
  if (test$holes == "imputed") {
    known <- if (test$kinds == "numbers") known_correlations(suffStat)
    if (!is.null(known)) {
      check_enough_sets(length(known$correlations), suffStat)
      return(known)
    }
    return(list(adapt = test$adapt, sets = completed_sets(suffStat, test)))
  }
  adapt <- test$adapt
  if (test$name == "disCItwd" && is.list(suffStat) && !is.data.frame(suffStat) && !is.null(suffStat$dm)) {
    adapt <- if (is.null(suffStat$adaptDF)) FALSE else check_flag(suffStat$adaptDF, "suffStat$adaptDF")
    suffStat <- suffStat$dm
  }
  suffStat <- read_data(suffStat, "suffStat")
  if (
    !is.data.frame(suffStat) &&
      !(is.matrix(suffStat) && is.atomic(suffStat)) ||
      NCOL(suffStat) < 2L ||
      NROW(suffStat) < 1L
  ) {
    abort_argument(
      "suffStat",
      suffStat,
      sprintf(
        "%s needs a data frame%s with observations in rows and at least two columns.",
        test$name,
        if (test$kinds == "any") "" else " or matrix"
      )
    )
  }
  list(adapt = adapt, sets = list(suffStat))
}

# Checks the values and returns the same list with p, n and names. All sets have the same shape; each is a data frame or
# a matrix of doubles.
checked_sets <- function(data, suffStat, test) {
  if (!is.null(data$correlations)) {
    first <- data$correlations[[1L]]
    for (C in data$correlations) {
      check_sides(C, "suffStat")
      check_against(colnames(C), colnames(first), "suffStat", "suffStat[[1]]", tell = FALSE)
      check_cor_values(C, resolve_threads())
    }
    holes <- vapply(data$correlations, anyNA, NA)
    if (any(holes)) {
      abort_argument(
        "suffStat",
        suffStat,
        "compute the correlations from completed data.",
        has = sprintf("missing values in matrix %d", which(holes)[1L])
      )
    }
    return(c(data, list(p = ncol(first), names = colnames(first))))
  }
  data$sets <- lapply(data$sets, check_set, test)
  first <- data$sets[[1L]]
  alike <- function(set) identical(dim(set), dim(first)) && identical(colnames(set), colnames(first))
  if (!all(vapply(data$sets, alike, NA))) {
    abort_argument(
      "suffStat",
      suffStat,
      "completed data sets may differ only in the imputed values.",
      has = "data sets with different shapes or column names"
    )
  }
  kinds <- lapply(data$sets, kinds_of_columns)
  if (length(unique(kinds)) > 1L) {
    apart <- Reduce(`|`, lapply(kinds[-1L], function(kind) kind != kinds[[1L]]))
    abort_argument(
      "suffStat",
      suffStat,
      "use the same classes in all completed data sets.",
      has = sprintf("data sets that differ in the class of %s", column_names(first, apart))
    )
  }
  c(data, list(p = ncol(first), n = nrow(first), names = colnames(first)))
}

# Returns which columns have a single value. Columns without any value do not count; tests without rows report those. In
# most columns, the first and the last value already differ.
constant_in <- function(x) {
  n <- nrow(x)
  vapply(
    seq_len(ncol(x)),
    function(j) {
      column <- column_of(x, j)
      if (isTRUE(column[1L] != column[n])) {
        return(FALSE)
      }
      known <- column[!is.na(column)]
      length(known) > 0L && all(known == known[1L])
    },
    NA
  )
}

kinds_of_columns <- function(x) {
  kind <- function(column) {
    if (is.factor(column)) {
      "factor"
    } else if (is.numeric(column)) {
      "number"
    } else {
      class(column)[1L]
    }
  }
  if (is.matrix(x)) rep("number", ncol(x)) else unname(vapply(x, kind, ""))
}

# Returns list(n, correlations) for list(C_1, ..., C_M, n), such as from micd's getSuff(), or NULL for anything else.
known_correlations <- function(suffStat) {
  m <- length(suffStat) - 1L
  if (!is.list(suffStat) || is.data.frame(suffStat) || m < 1L || !is_number(suffStat[[m + 1L]])) {
    return(NULL)
  }
  matrices <- unname(suffStat[seq_len(m)])
  first <- matrices[[1L]]
  fits <- function(C) is.matrix(C) && is.numeric(C) && nrow(C) == ncol(C) && identical(dim(C), dim(first))
  if (!all(vapply(matrices, fits, NA)) || ncol(first) < 2L) {
    return(NULL)
  }
  n <- suffStat[[m + 1L]]
  if (n < 1) {
    abort_argument("suffStat[[M + 1]]", n, "use the number of observations, at least 1.")
  }
  matrices <- lapply(matrices, function(C) {
    storage.mode(C) <- "double"
    C
  })
  list(n = n, correlations = matrices)
}

is_completed <- function(x) {
  inherits(x, "mids") ||
    is.list(x) &&
      !is.data.frame(x) &&
      length(x) > 0L &&
      !any(c("C", "dm", "data") %in% names(x)) &&
      all(vapply(x, function(set) is.data.frame(set) || is.matrix(set), NA))
}

# Returns a list of data sets.
completed_sets <- function(suffStat, test) {
  # micd's gaussCItestMI() expects the data sets in `data`.
  inner <- if (is.list(suffStat) && !is.data.frame(suffStat) && !inherits(suffStat, "mids")) suffStat$data
  if (is.list(inner) && is_completed(inner)) {
    suffStat <- inner
  }
  if (inherits(suffStat, "mids")) {
    need_package("mice", "`suffStat` has the class mids and needs the package mice")
    suffStat <- mice::complete(suffStat, action = "all")
  }
  if (!is_completed(suffStat)) {
    abort_argument(
      "suffStat",
      suffStat,
      sprintf(
        "%s needs completed data sets: a list of data frames%s, or the result of mice().",
        test$name,
        if (test$kinds == "numbers") " or matrices" else ""
      )
    )
  }
  check_enough_sets(length(suffStat), suffStat)
  unname(unclass(suffStat))
}

# Refuses a single completed data set, which does not show the uncertainty from missing values.
check_enough_sets <- function(m, suffStat) {
  if (m < 2L) {
    abort_argument(
      "suffStat",
      suffStat,
      "use at least two completed data sets; five to twenty are common.",
      is = "a single data set"
    )
  }
}

# Returns a data set as a data frame or, if it is a numeric matrix, a matrix of doubles.
check_set <- function(x, test) {
  x <- read_data(x, "suffStat")
  refuse_continuous(x, test)
  if (is.matrix(x)) {
    if (test$kinds == "levels") {
      return(as.data.frame(x, stringsAsFactors = TRUE))
    }
    if (!is.numeric(x) && !is.logical(x)) {
      abort_argument("suffStat", x, "use a numeric matrix or a data frame.")
    }
    storage.mode(x) <- "double"
    refuse_infinite(x, colSums(is.infinite(x)) > 0)
    refuse_missing(x, if (test$holes != "testwise") colSums(is.na(x)) > 0, test)
    return(x)
  }
  check_kinds(x, test)
  refuse_infinite(x, vapply(x, function(column) is.numeric(column) && any(is.infinite(column)), NA))
  refuse_missing(x, if (test$holes != "testwise") vapply(x, anyNA, NA), test)
  x
}

# Checks that all columns are numeric if the test accepts no others.
check_kinds <- function(x, test) {
  numbers <- vapply(x, is_number_column, NA)
  if (test$kinds == "numbers" && !all(numbers)) {
    abort_argument(
      "suffStat",
      x,
      sprintf("use %s.", if (test$holes == "imputed") "mixMItest" else "mixCItwd"),
      has = sprintf("columns that are not numeric (%s)", enumerate(names(x)[!numbers], 3L))
    )
  }
}

# Stops if a test of levels gets fractional numbers; whole numbers are codes.
refuse_continuous <- function(x, test) {
  if (test$kinds != "levels") {
    return(invisible())
  }
  is_continuous <- function(of) is.double(of) && any(of != floor(of), na.rm = TRUE)
  continuous <- vapply(seq_len(ncol(x)), function(j) is_continuous(column_of(x, j)), NA)
  if (any(continuous)) {
    others <- if (test$holes == "imputed") c("gaussMItest", "mixMItest") else c("gaussCItwd", "mixCItwd")
    abort_argument(
      "suffStat",
      x,
      sprintf("use %s or %s, or cut() the numbers into levels.", others[1L], others[2L]),
      has = paste("fractional numbers, which are not levels, in", column_names(x, continuous))
    )
  }
}

refuse_infinite <- function(x, infinite) {
  if (any(infinite)) {
    abort_argument(
      "suffStat",
      x,
      "drop these rows, or replace the values.",
      has = paste("infinite values in", column_names(x, infinite))
    )
  }
}

refuse_missing <- function(x, missing, test) {
  if (any(missing)) {
    if (test$holes == "imputed") {
      abort_argument(
        "suffStat",
        x,
        "impute all of them.",
        has = paste("completed data sets that still have missing values in", column_names(x, missing))
      )
    }
    testwise <- switch(test$kinds, numbers = "gaussCItwd", levels = "disCItwd", "mixCItwd")
    abort_argument(
      "suffStat",
      x,
      sprintf("use complete data, or %s, which omits the rows that lack a variable of the test.", testwise),
      has = paste("missing values in", column_names(x, missing))
    )
  }
}

mixed_for_rust <- function(data, test) {
  base <- list(kind = "mixed", p = data$p, n = data$n)
  if (!is.null(data$correlations)) {
    return(c(base, data["correlations"]))
  }
  base <- c(
    base,
    test[c("holes", "ask_for_rows", "constant_is_missing")],
    list(adapt = data$adapt, sets = length(data$sets))
  )
  first <- data$sets[[1L]]
  if (is.matrix(first) && length(data$sets) == 1L) {
    return(c(base, list(matrix = first)))
  }
  column <- function(j) {
    versions <- lapply(data$sets, column_of, j)
    # A column without missing values is the same in all data sets, and is stored once.
    if (all(vapply(versions[-1L], identical, NA, versions[[1L]]))) {
      versions <- versions[1L]
    }
    if (test$kinds != "levels" && all(vapply(versions, is_number_column, NA))) {
      list(levels = 0L, versions = lapply(versions, plain_numbers))
    } else {
      level_codes(versions, j)
    }
  }
  c(base, list(columns = lapply(seq_len(data$p), column)))
}

plain_numbers <- function(column) {
  if (is.integer(column)) as.integer(column) else as.double(column)
}

# Returns levels as codes 1, 2, ... The levels of factors are those that they declare, of other columns those that occur
# in any version.
level_codes <- function(versions, j) {
  versions <- lapply(versions, nan_to_na)
  levels <- if (all(vapply(versions, is.factor, NA))) {
    Reduce(union, lapply(versions, levels))
  } else {
    sort(unique(unlist(lapply(versions, unique))))
  }
  if (length(levels) > 65535L) {
    abort_argument(
      "suffStat",
      versions[[1L]],
      "merge levels, or drop the column.",
      has = sprintf("%d levels in column %d; the limit is 65535", length(levels), j)
    )
  }
  codes <- function(column) {
    if (is.factor(column) && identical(levels(column), levels)) {
      as.integer(column)
    } else {
      match(as.character(column), as.character(levels))
    }
  }
  list(levels = max(length(levels), 1L), versions = lapply(versions, codes))
}

# Runs one test, and checks only its own columns.
mixed_p_value <- function(x, y, S, suffStat, test) {
  if (missing(suffStat)) {
    check_given(list(suffStat = TRUE), list(suffStat = "pass the data."))
  }
  data <- mixed_sets(suffStat, test)
  first <- (data$correlations %||% data$sets)[[1L]]
  at <- check_question(x, y, S, first, distinct = TRUE)
  # A search tests (x, y) with x < y.
  at <- c(min(at$x, at$y), max(at$x, at$y), at$S)
  if (is.null(data$correlations)) {
    data$sets <- lapply(data$sets, function(set) if (ncol(set) >= max(at)) set[, at, drop = FALSE] else set)
  } else {
    data$correlations <- lapply(data$correlations, function(C) C[at, at, drop = FALSE])
  }
  p <- check_rust(rust_mixed_test(mixed_for_rust(checked_sets(data, suffStat, test), test)))
  if (is.nan(p)) NA_real_ else p
}

# Data in place of a sufficient statistic, where no test is named: pc(data, alpha = 0.01).

# Of a call of pc() or skeleton(), whose frame this is: the arguments that are missing and follow from the data.
fill_in_from_data <- function(frame, na, no_suff, no_test, no_labels) {
  if (no_suff) {
    return(invisible())
  }
  if (no_test) {
    found <- test_of_data(frame$suffStat, na)
    if (is.null(found) && !is.environment(frame$suffStat) && (!is.list(frame$suffStat) || is.null(names(frame$suffStat)))) {
      abort_argument("suffStat", frame$suffStat, "give data, a data frame or matrix with observations in rows, or a sufficient statistic with its `indepTest`.")
    }
    list2env(as.list(found), frame)
  } else if (is_number(frame$indepTest)) {
    abort_argument("indepTest", frame$indepTest, sprintf(
      "give a test, such as gaussCItest; or name the significance level: alpha = %s.", format(frame$indepTest)
    ))
  } else if (na != "error") {
    abort_argument("na", na, "leave it out, or leave `indepTest` out: na = chooses the test of data; gaussCItwd, disCItwd and mixCItwd leave rows out test by test.")
  }
  own <- if (no_labels) labels_of_suff(frame$suffStat)
  if (!is.null(own)) frame$labels <- own
}

# Of more variables the data are kept, and their correlations made where they are searched: R would hold a copy.
most_correlations <- 5000L

# list(suffStat, indepTest) for data, the test by the kinds of their columns, which a message names; NULL for what is no data. keep_data: are data of numbers
# to be kept, in place of their correlations?
test_of_data <- function(x, na = "error", keep_data = (is.data.frame(x) || is.matrix(x)) && ncol(x) > most_correlations) {
  if (is_completed(x)) {
    if (na != "error") abort_argument("na", na, "leave it out: completed data sets have no holes.")
    return(test_of_completed(x))
  }
  if (methods::is(x, "ExpressionSet") || methods::is(x, "SummarizedExperiment")) x <- read_table(x, "suffStat", FALSE)
  is_matrix <- is.matrix(x) && is.atomic(x)
  if (!is.data.frame(x) && !is_matrix && !inherits(x, "table") && !is_container(x)) {
    return(NULL)
  }
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("suffStat", x, "give observations in rows and at least two variables in columns.")
  }
  numeric <- numeric_columns(x)
  look_at_columns(x, numeric)
  share <- if (is.data.frame(x) || is_matrix) share_missing(x) else 0
  if (share > 0 && na == "testwise") {
    return(test_with_holes(x, numeric, share))
  }
  mend <- paste(
    "give na = \"testwise\" (each test leaves out the rows that lack one of its variables), or fill them in several times and give the list of",
    "completed data sets, or what mice() returns; see ?gaussCItwd for what each assumes."
  )
  if (share > 0) {
    abort_argument("suffStat", x, mend, is = sprintf("data with missing values (%s)", percent(share)))
  }
  if (any(numeric) && !all(numeric)) {
    check_classes(x, mixed_tests$mixCItest)
    tell("data", paste0(sprintf("%s: mixCItest(), conditional Gaussian likelihood ratio.", kinds_of(numeric, ncol(x))), unused_levels(x)), indepTest = "mixCItest")
    return(list(suffStat = x, indepTest = mixCItest))
  }
  if (all(numeric)) {
    suff <- about("suffStat", if (keep_data) suff_gauss(x, keep = "data", progress = FALSE) else suff_gauss(x))
    tell("data", sprintf("%s: gaussCItest(), partial correlations.", kinds_of(numeric, ncol(x))), indepTest = "gaussCItest")
    return(list(suffStat = suff, indepTest = gaussCItest))
  }
  suff <- about("suffStat", suff_discrete(x))
  tell("data", sprintf("%s: disCItest(), G-squared.", kinds_of(numeric, ncol(suff$dm))), indepTest = "disCItest")
  list(suffStat = suff, indepTest = disCItest)
}

# What is said of a data frame's columns that may be meant otherwise.
look_at_columns <- function(x, numeric) {
  if (!is.data.frame(x)) {
    return(invisible())
  }
  tell_if_codes(x, !numeric)
  warn_many_levels(x, !numeric)
}

# Names, dates and numbers that a file has as text become factors of many levels, of which nothing can be found.
warn_many_levels <- function(x, discrete) {
  n <- nrow(x)
  of <- function(column) {
    if (!is.character(column) && !is.factor(column)) {
      return("")
    }
    values <- unique(as.character(column[!is.na(column)]))
    if (length(values) <= 10L) {
      return("")
    }
    numbers <- suppressWarnings(as.numeric(values))
    if (mean(!is.na(numbers)) >= 0.9 && any(numbers != trunc(numbers), na.rm = TRUE)) "numbers" else if (length(values) > n / 2) "many" else ""
  }
  found <- vapply(x, of, "")
  for (why in intersect(c("numbers", "many"), found)) {
    which <- found == why
    warn("levels", sprintf(if (why == "numbers") {
      "text that is mostly numbers is taken as levels, in %s: make numbers of it by as.numeric(), and see whether what read the file has `na.strings`"
    } else {
      "more levels than half of the rows, in %s: nothing can be found of such a column; drop it, merge levels or, if they are dates, make numbers of them by as.numeric(as.Date())"
    }, column_names(x, which)), columns = unname(which(which)))
  }
}

# A warning to those whose factors declare levels that none of the rows has: micd's tests, whose p-values ours are, count them.
unused_levels <- function(x) {
  unused <- if (is.data.frame(x)) vapply(x, function(column) is.factor(column) && nlevels(column) > length(unique(as.integer(column[!is.na(column)]))), NA)
  if (!any(unused)) {
    return("")
  }
  sprintf(" Levels that never occur cost degrees of freedom, in %s: droplevels() drops them.", column_names(x, unused))
}

# By column: is it one of numbers?
numeric_columns <- function(x) {
  if (inherits(x, "table")) {
    FALSE
  } else if (is.data.frame(x)) {
    vapply(x, function(column) is_number_column(column) || inherits(column, "integer64"), NA)
  } else {
    !is.matrix(x) || is.numeric(x)
  }
}

# The share of the cells of a data frame or a matrix that are missing. Most data lack none, which one pass without a copy says.
share_missing <- function(x) {
  if (!anyNA(x)) {
    return(0)
  }
  mean(vapply(seq_len(ncol(x)), function(j) mean(is.na(if (is.matrix(x)) x[, j] else x[[j]])), 0))
}

percent <- function(share) sprintf("%s %% of the values", format(100 * share, digits = 2L))

test_with_holes <- function(x, numeric, share) {
  name <- name_by_kinds(numeric, "gaussCItwd", "disCItwd", "mixCItwd")
  if (is.data.frame(x)) check_classes(x, mixed_tests[[name]])
  tell("data", sprintf(
    "%s, and %s are missing: %s(), on the rows that have all values of a test.%s", kinds_of(numeric, ncol(x)), percent(share), name,
    if (name == "mixCItwd") unused_levels(x) else ""
  ), indepTest = name)
  list(suffStat = x, indepTest = get(name))
}

test_of_completed <- function(x) {
  sets <- completed_sets(x, mixed_tests$mixMItest)
  numeric <- numeric_columns(sets[[1L]])
  name <- name_by_kinds(numeric, "gaussMItest", "disMItest", "mixMItest")
  tell("data", sprintf(
    "%d completed data sets. %s: %s(), pooled over them.%s", length(sets), kinds_of(numeric, ncol(sets[[1L]])), name,
    if (name == "gaussMItest") "" else unused_levels(sets[[1L]])
  ), indepTest = name)
  list(suffStat = sets, indepTest = get(name))
}

name_by_kinds <- function(numeric, numbers, levels, both) if (all(numeric)) numbers else if (!any(numeric)) levels else both

kinds_of <- function(numeric, p) {
  if (all(numeric)) {
    sprintf("All %d columns are numbers", p)
  } else if (!any(numeric)) {
    sprintf("All %d columns have levels", p)
  } else {
    sprintf("Numbers in %d of the %d columns, levels in %d", sum(numeric), p, sum(!numeric))
  }
}

# Bioconductor's containers, sparse and file-backed matrices: numbers, whose kind is not looked at.
is_container <- function(x) {
  methods::is(x, "ExpressionSet") || methods::is(x, "SummarizedExperiment") || is_sparse(x) || is_delayed(x) || is_file(x) ||
    inherits(x, "big.matrix")
}

# Columns by number, where their names are no names.
numbered_names <- function(x) {
  own <- colnames(x)
  if (!is.null(own)) {
    odd <- is.na(own) | duplicated(own)
    warn("names", sprintf("the names of columns are numbers in the result, as column %d is named %s%s.", which(odd)[1L],
      if (is.na(own[odd][1L])) "NA" else dQuote(own[odd][1L], FALSE), if (is.na(own[odd][1L])) "" else ", as one before it"
    ))
  }
  as.character(seq_len(ncol(x)))
}

# The names of the variables of a sufficient statistic, or their numbers; NULL where it does not say how many there are.
labels_of_suff <- function(suffStat) {
  if (inherits(suffStat, "mids")) suffStat <- suffStat$data
  if (is.list(suffStat) && !is.data.frame(suffStat) && !is_kept(suffStat) && (is_completed(suffStat) || length(suffStat) > 2L && !is.null(known_correlations(suffStat)))) {
    suffStat <- suffStat[[1L]]
  }
  if (is.data.frame(suffStat) || is.matrix(suffStat)) {
    return(if (ncol(suffStat) >= 2L) own_names(suffStat, ncol(suffStat)) %||% numbered_names(suffStat))
  }
  if (!is.list(suffStat)) {
    return(NULL)
  }
  for (field in if (is_kept(suffStat)) "data" else c("C", "dm", "data")) {
    part <- suffStat[[field]]
    if (length(dim(part)) == 2L && ncol(part) >= 2L) {
      return(own_names(part, ncol(part)) %||% numbered_names(part))
    }
  }
  NULL
}

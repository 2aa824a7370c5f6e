# Data in place of a sufficient statistic, where no test is named: pc(data, alpha = 0.01).

# Of a call of pc() or skeleton(), whose frame this is: the arguments that are missing and follow from the data.
fill_in_from_data <- function(frame, na, no_suff, no_test, no_labels) {
  if (no_suff) {
    return(invisible())
  }
  if (no_test) {
    if (!identical(frame$alpha, quote(expr = ))) check_level(frame$alpha)
    refuse_columns(frame$suffStat, "suffStat")
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
  own <- if (no_labels) told_names(labels_of_suff(frame$suffStat))
  if (!is.null(own)) frame$labels <- own
}

# pcalg takes any number as `alpha`, and from 1 on keeps all edges, whose tests never end. Nobody who gives data means that.
check_level <- function(alpha) {
  if (is_number(alpha) && (alpha >= 1 || alpha <= 0)) {
    abort_argument("alpha", alpha, sprintf("give a level between 0 and 1, for instance alpha = %s.", if (alpha >= 1 && alpha < 100) format(alpha / 100) else "0.01"))
  }
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
  if (!is.function(x)) x <- read_table(x, "suffStat", counts = TRUE)
  is_matrix <- is.matrix(x) && is.atomic(x)
  if (!is.data.frame(x) && !is_matrix && !is_container(x)) {
    return(NULL)
  }
  if (is.data.frame(x)) x <- without_identifiers(x)
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("suffStat", x, "give observations in rows and at least two variables in columns.")
  }
  numeric <- rep_len(numeric_columns(x), ncol(x))
  if (is.data.frame(x) || is_matrix) tell_if_codes(x, !numeric)
  share <- if (is.data.frame(x) || is_matrix) share_missing(x) else if (is_sparse(x)) sum(is.na(x)) / prod(dim(x)) else 0
  if (share > 0 && na == "testwise") {
    return(test_with_holes(if (is_sparse(x)) as.matrix(x) else x, numeric, share))
  }
  hint <- paste(
    "give na = \"testwise\" (each test leaves out the rows that lack one of its variables), or fill them in several times and give the list of",
    "completed data sets, or what mice() returns; see ?gaussCItwd for what each assumes."
  )
  if (share > 0) {
    abort_argument("suffStat", x, hint, is = sprintf("data with missing values (%s)", percent(share)))
  }
  if (any(numeric) && !all(numeric)) {
    tell_if_turned(x, "suffStat")
    tell("data", paste0(sprintf("%s: mixCItest(), conditional Gaussian likelihood ratio.", kinds_of(numeric, nrow(x))), unused_levels(x)), indepTest = "mixCItest")
    warn_dependent_numbers(x, numeric)
    return(list(suffStat = x, indepTest = mixCItest))
  }
  if (all(numeric)) {
    suff <- about("suffStat", if (keep_data) suff_gauss(x, keep = "data", progress = FALSE) else suff_gauss(x))
    tell("data", sprintf("%s: gaussCItest(), partial correlations.", kinds_of(numeric, nrow(x))), indepTest = "gaussCItest")
    if (!keep_data) warn_dependent(suff$C, suff$n)
    return(list(suffStat = suff, indepTest = gaussCItest))
  }
  suff <- about("suffStat", suff_discrete(x))
  tell("data", paste0(sprintf("%s: disCItest(), G-squared.", kinds_of(numeric, nrow(x))), unused_levels(x)), indepTest = "disCItest")
  list(suffStat = suff, indepTest = disCItest)
}

# Text that differs in every row names the rows: a table whose first column has the names of genes, or of patients. What is left keeps them as names.
without_identifiers <- function(x) {
  text <- vapply(x, function(column) is.character(column) || is.factor(column), NA)
  found <- text
  found[text] <- vapply(x[text], meaning_of_text, "") == "identifier"
  if (!any(found) || sum(!found) < 2L) {
    return(x)
  }
  tell("identifier", sprintf("left out: %s, text that differs in every row.", column_names(x, found)), columns = unname(which(found)))
  ids <- as.character(x[[which(found)[1L]]])
  x <- x[!found]
  attr(x, "row.names") <- ids
  refuse_square(x, "suffStat")
  attr(x, "pcgpu_read") <- TRUE
  x
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
  tell_if_turned(x, "suffStat")
  tell("data", sprintf(
    "%s, and %s are missing: %s(), on the rows that have all values of a test.%s", kinds_of(numeric, nrow(x)), percent(share), name,
    if (name == "gaussCItwd") "" else unused_levels(x)
  ), indepTest = name)
  warn_dependent_numbers(x, numeric)
  list(suffStat = x, indepTest = get(name))
}

test_of_completed <- function(x) {
  sets <- completed_sets(x, mixed_tests$mixMItest)
  first <- read_table(sets[[1L]], "suffStat", FALSE)
  numeric <- rep_len(numeric_columns(first), ncol(first))
  name <- name_by_kinds(numeric, "gaussMItest", "disMItest", "mixMItest")
  tell("data", sprintf(
    "%d completed data sets, each of %s: %s(), pooled over them.%s", length(sets), kinds_of(numeric, nrow(first)), name,
    if (name == "gaussMItest") "" else unused_levels(first)
  ), indepTest = name)
  list(suffStat = sets, indepTest = get(name))
}

name_by_kinds <- function(numeric, numbers, levels, both) if (all(numeric)) numbers else if (!any(numeric)) levels else both

# The shape of the data, and what their columns are.
kinds_of <- function(numeric, n) {
  sprintf("%s (rows), %s (columns), %s", counted(n, "sample"), counted(length(numeric), "variable"), if (all(numeric)) {
    "all numbers"
  } else if (!any(numeric)) {
    "all with levels"
  } else {
    sprintf("%s of numbers and %s with levels", in_words(sum(numeric)), in_words(sum(!numeric)))
  })
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
    odd <- is.na(own) | !nzchar(own) | duplicated(own)
    first <- own[odd][1L]
    warn("names", sprintf("the names of columns are numbers in the result, as column %d is named %s%s.", which(odd)[1L],
      if (is.na(first)) "NA" else dQuote(first, FALSE), if (is.na(first) || !nzchar(first)) "" else ", as one before it"
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

# What users give as data, as a data frame or matrix with observations in rows: the first thing that suff_gauss(),
# suff_discrete(), suff_knn() and select_features() do.

# counts: may a contingency table stand for the observations that it counts? all: is what R does not hold (see blocks.R) to be read as a whole?
read_data <- function(x, argument, counts = FALSE, all = TRUE) {
  x <- read_table(x, argument, counts)
  if (all && (is_read_by_blocks(x) || is_sparse(x) || is_file(x))) {
    check_reader(x, argument)
    return(in_memory(x, argument))
  }
  x
}

read_table <- function(x, argument, counts) {
  if (inherits(x, "ftable")) {
    x <- as.table(x)
  }
  if (inherits(x, "table")) {
    return(if (counts) expand_table(x, argument) else refuse_table(x, argument))
  }
  if (methods::is(x, "ExpressionSet")) {
    need_package("Biobase", sprintf("`%s` is an ExpressionSet, which the package Biobase reads", argument))
    return(t(Biobase::exprs(x)))
  }
  if (methods::is(x, "SummarizedExperiment")) {
    need_package("SummarizedExperiment", sprintf("`%s` is read by the package SummarizedExperiment", argument))
    assay <- first_assay(x, argument)
    return(if (is_delayed(assay)) DelayedArray::t(assay) else if (is_sparse(assay)) Matrix::t(assay) else t(as.matrix(assay)))
  }
  x <- plain_integer64(x, argument)
  if (is.data.frame(x)) nan_to_na_in_columns(x) else x
}

nan_to_na_in_columns <- function(x) {
  factors <- vapply(x, is.factor, NA)
  x[factors] <- lapply(x[factors], nan_to_na)
  x
}

# factor() makes a level of NaN, which is missing all the same. A level "NaN" among others that are no numbers is a word.
nan_to_na <- function(column) {
  if (is.factor(column) && "NaN" %in% levels(column)) {
    others <- setdiff(levels(column), c("NaN", NA))
    if (!anyNA(suppressWarnings(as.numeric(others)))) {
      levels(column)[levels(column) %in% "NaN"] <- NA
    }
  }
  column
}

# Genes are in rows there, samples in columns.
first_assay <- function(x, argument) {
  if (length(SummarizedExperiment::assays(x)) == 0L) {
    abort_argument(argument, x, "give one with an assay, or the matrix of observations itself.", is = "a SummarizedExperiment without assays")
  }
  names <- SummarizedExperiment::assayNames(x)
  if (length(names) > 1L) {
    tell("assay", sprintf(
      "`%s` has the assays %s: the first is taken; give t(assay(x, \"%s\")) for another.", argument,
      enumerate(dQuote(names, FALSE)), names[2L]
    ))
  }
  SummarizedExperiment::assay(x, 1L)
}

# The package bit64 keeps whole numbers of 64 bits in the bits of doubles, which are other numbers. Of a data frame, its columns.
plain_integer64 <- function(column, argument) {
  if (is.data.frame(column)) {
    long <- vapply(column, inherits, NA, "integer64")
    column[long] <- lapply(column[long], plain_integer64, argument)
    return(column)
  }
  if (!inherits(column, "integer64")) {
    return(column)
  }
  need_package("bit64", sprintf("`%s` has numbers of the class integer64, which the package bit64 reads", argument))
  numbers <- suppressWarnings(bit64::as.double.integer64(column))
  if (any(abs(numbers) >= 2^53, na.rm = TRUE)) {
    abort_argument(argument, column, "subtract a constant from the numbers, or make factors of them by as.character().",
      has = "numbers of the class integer64 from 2^53 on, where R's numbers lose digits"
    )
  }
  dim(numbers) <- dim(column)
  dimnames(numbers) <- dimnames(column)
  numbers
}

refuse_table <- function(x, argument) {
  abort_argument(argument, x, paste(
    "give the observations themselves, a row each: a data frame or matrix;",
    "unclass() it if it is a matrix of observations after all."
  ), is = "a contingency table")
}

# More rows than this would fill the memory of most machines.
most_observations <- 1e8

# The observations that a contingency table counts, one variable a dimension.
expand_table <- function(x, argument) {
  counts <- as.vector(unclass(x))
  if (length(dim(x)) < 2L) {
    abort_argument(argument, x, "give at least two variables.", is = "a contingency table of one variable")
  }
  if (!is.numeric(counts) || anyNA(counts) || any(counts < 0 | counts != trunc(counts))) {
    abort_argument(argument, x, "give counts, whole numbers from 0.", is = "a table that does not hold counts")
  }
  if (sum(counts) > most_observations) {
    abort_argument(argument, x, sprintf("a table of at most %.0f observations can be taken.", most_observations),
      is = sprintf("a contingency table of %.0f observations", sum(counts))
    )
  }
  if (sum(counts) == 0) {
    abort_argument(argument, x, "give at least one observation.", is = "a contingency table without observations")
  }
  cells <- expand.grid(lapply(dim(x), seq_len))
  levels <- lapply(seq_along(dim(x)), function(d) dimnames(x)[[d]] %||% as.character(seq_len(dim(x)[d])))
  # table(useNA = ) counts missing values, too, which have no level.
  data <- Map(function(level, names) {
    known <- which(!is.na(names))
    nan_to_na(structure(match(rep.int(level, counts), known), levels = names[known], class = "factor"))
  }, cells, levels)
  names <- names(dimnames(x)) %||% rep("", length(dim(x)))
  unnamed <- !nzchar(names)
  names[unnamed] <- paste0("Var", seq_along(names))[unnamed]
  structure(data, names = make.unique(names), row.names = .set_row_names(sum(counts)), class = "data.frame")
}

# A factor whose levels are exactly the different values, in ascending order. factor() prints numbers with 15 digits and
# merges those that print alike, and makes a level of NaN.
exact_factor <- function(column) {
  if (is.factor(column)) {
    return(column)
  }
  if (!is.numeric(column)) {
    return(factor(column))
  }
  values <- sort(unique(column[!is.na(column)]))
  names <- as.character(values)
  if (anyDuplicated(names)) {
    names <- format(values, digits = 17L, trim = TRUE)
  }
  structure(match(column, values, incomparables = NaN), levels = names, class = "factor")
}

# Data with row names and far more rows than columns may have their genes in rows. Rows of a data frame are named by numbers
# unless somebody has named them.
tell_if_turned <- function(x, argument) {
  names <- attr(x, "row.names") %||% rownames(x)
  named <- if (is.data.frame(x)) is.character(names) && all(grepl("[[:alpha:]]", utils::head(names, 100L))) else !is.null(names)
  if (named && nrow(x) >= 1000L && nrow(x) >= 10 * ncol(x)) {
    tell("rows", sprintf(
      "`%s` is taken as %d observations (rows) of %d variables (columns): give t(%s) if its rows are the variables.",
      argument, nrow(x), ncol(x), argument
    ))
  }
}

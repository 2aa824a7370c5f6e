# Reads the data of users into a data frame or matrix with observations in rows. suff_gauss(), suff_discrete(),
# suff_knn() and select_features() do this first.

# Reads data. counts: whether a contingency table may represent the observations that it counts. all: whether to read
# data by blocks (see data-blocks.R) as a whole.
read_data <- function(x, argument, counts = FALSE, all = TRUE) {
  x <- check_count_of_names(read_table(check_object(x, argument), argument, counts), argument)
  if (all && !is.null(row_source(x))) {
    check_reader(x, argument)
    return(in_memory(x, argument))
  }
  x
}

# Checks the number of column names. A class may have its own method for names, which may not agree with its data.
check_count_of_names <- function(x, argument) {
  names <- if (length(dim(x)) == 2L) colnames(x)
  if (!is.null(names) && length(names) != ncol(x)) {
    abort_argument(
      argument,
      x,
      "use a matrix or data frame with one name for each column, or without names.",
      has = sprintf("%s for %s", counted(length(names), "name"), counted(ncol(x), "column"))
    )
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
    need_package("Biobase", sprintf("`%s` is an ExpressionSet and needs the package Biobase", argument))
    return(t(Biobase::exprs(x)))
  }
  if (methods::is(x, "SummarizedExperiment")) {
    need_package("SummarizedExperiment", sprintf("`%s` needs the package SummarizedExperiment", argument))
    assay <- first_assay(x, argument)
    return(
      if (is_delayed(assay)) {
        DelayedArray::t(assay)
      } else if (is_sparse(assay)) {
        Matrix::t(assay)
      } else {
        t(as.matrix(assay))
      }
    )
  }
  if (inherits(x, "dist")) {
    abort_argument(argument, x, "use the observations themselves, one per row.", is = "a distance matrix")
  }
  covariances <- if (is.list(x) && !is.object(x) && is.null(x$C)) x$cov
  if (is.matrix(covariances) && nrow(covariances) == ncol(covariances)) {
    abort_argument(
      argument,
      x,
      "use list(C = cov2cor(x$cov), n = x$n.obs) with indepTest = gaussCItest.",
      is = "a list with covariances"
    )
  }
  if (isS4(x) && methods::is(x, "Matrix") && !is_sparse(x)) {
    x <- as.matrix(x)
  }
  if (is.data.frame(x)) {
    # A table that was read before needs no second check or warning.
    if (isTRUE(attr(x, "pcgpu_read"))) {
      return(x)
    }
    x <- plain_columns(x, argument)
    attr(x, "pcgpu_read") <- TRUE
  } else if (is.matrix(x) && is.object(x) && !isS4(x)) {
    bare <- plain_column(structure(x, dim = NULL, dimnames = NULL), argument)
    if (is.null(bare)) {
      abort_argument(
        argument,
        x,
        "use a matrix of numbers or text, or a data frame.",
        is = sprintf("a matrix of class %s", class(x)[1L])
      )
    }
    names <- colnames(x)
    if (!is.null(names) && length(names) != ncol(x)) {
      abort_argument(
        argument,
        x,
        "use a plain matrix, as returned by unclass().",
        has = sprintf("%s for %s", counted(length(names), "name"), counted(ncol(x), "column"))
      )
    }
    x <- structure(bare, dim = dim(x), dimnames = if (!is.null(dimnames(x))) list(rownames(x), names))
  }
  refuse_square(x, argument)
  x
}

# Stops for a symmetric matrix, which cannot be data with observations in rows.
refuse_square <- function(x, argument) {
  if (length(dim(x)) != 2L || nrow(x) != ncol(x) || nrow(x) < 3L || is_read_by_blocks(x) || is_file(x)) {
    return(invisible())
  }
  if (is.data.frame(x)) {
    x <- if (all(vapply(x, function(column) is.numeric(column) || is.logical(column), NA))) as.matrix(x)
  }
  if (is_sparse(x)) {
    if (!isTRUE(Matrix::isSymmetric(x, checkDN = FALSE))) {
      return(invisible())
    }
  } else if (!(is.numeric(x) || is.logical(x)) || !isTRUE(all.equal(unname(x), t(unname(x)), tolerance = 1e-8))) {
    return(invisible())
  }
  diagonal <- diag(as.matrix(x))
  ones <- isTRUE(all.equal(unname(as.double(diagonal)), rep(1, nrow(x))))
  what <- if (ones) {
    "correlations"
  } else if (all(diagonal > 0, na.rm = TRUE)) {
    "covariances"
  } else {
    "distances or the edges of a graph"
  }
  abort_argument(
    argument,
    x,
    if (what == "distances or the edges of a graph") {
      "use the observations themselves, one per row."
    } else {
      sprintf(
        paste(
          "use the observations, one per row. If you only have this matrix, pc(list(C = %s, n = <number of",
          "observations>), gaussCItest, alpha) accepts correlations,",
          "and causal_effects(mcov = ) covariances."
        ),
        if (ones) "x" else "cov2cor(x)"
      )
    },
    is = sprintf("a symmetric %d x %d matrix, which looks like %s", nrow(x), ncol(x), what)
  )
}

# Returns the first assay, with genes in rows and samples in columns.
first_assay <- function(x, argument) {
  if (length(SummarizedExperiment::assays(x)) == 0L) {
    abort_argument(
      argument,
      x,
      "use one with an assay, or the matrix of observations itself.",
      is = "a SummarizedExperiment without assays"
    )
  }
  names <- SummarizedExperiment::assayNames(x)
  if (length(names) > 1L) {
    tell(
      "assay",
      sprintf(
        "`%s` has the assays %s; using the first. Pass t(assay(x, \"%s\")) for another.",
        argument,
        enumerate(dQuote(names, FALSE)),
        names[2L]
      )
    )
  }
  SummarizedExperiment::assay(x, 1L)
}

refuse_table <- function(x, argument) {
  abort_argument(
    argument,
    x,
    paste("use a data frame or matrix with one observation per row.", "If this is such a matrix, unclass() it."),
    is = "a contingency table"
  )
}

# More observations than this would fill the memory of most machines.
most_observations <- 1e8

# Returns the observations that a contingency table counts, with one variable for each dimension.
expand_table <- function(x, argument) {
  counts <- as.vector(unclass(x))
  if (length(dim(x)) < 2L) {
    abort_argument(argument, x, "use at least two variables.", is = "a contingency table of one variable")
  }
  if (!is.numeric(counts) || anyNA(counts) || any(counts < 0 | counts != trunc(counts))) {
    abort_argument(argument, x, "counts must be whole numbers of at least 0.", is = "a table that does not hold counts")
  }
  if (sum(counts) > most_observations) {
    abort_argument(
      argument,
      x,
      sprintf("the limit is %.0f observations.", most_observations),
      is = sprintf("a contingency table of %.0f observations", sum(counts))
    )
  }
  if (sum(counts) == 0) {
    abort_argument(argument, x, "use at least one observation.", is = "a contingency table without observations")
  }
  cells <- expand.grid(lapply(dim(x), seq_len))
  levels <- lapply(seq_along(dim(x)), function(d) dimnames(x)[[d]] %||% as.character(seq_len(dim(x)[d])))
  # table(useNA = ) also counts missing values, which have no level.
  data <- Map(
    function(level, names) {
      known <- which(!is.na(names))
      nan_to_na(structure(match(rep.int(level, counts), known), levels = names[known], class = "factor"))
    },
    cells,
    levels
  )
  names <- names(dimnames(x)) %||% rep("", length(dim(x)))
  unnamed <- !nzchar(names)
  names[unnamed] <- paste0("Var", seq_along(names))[unnamed]
  structure(data, names = make.unique(names), row.names = .set_row_names(sum(counts)), class = "data.frame")
}

# Returns a factor whose levels are exactly the different values, in ascending order. factor() formats numbers with 15
# digits, merges those that look the same, and makes a level of NaN.
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

# Reports data whose rows seem to be the variables: either rows have names of genes or columns have names of samples,
# and there are more than twice as many rows as columns; or there are very many named rows. Numbers do not count as row
# names of a data frame.
tell_if_turned <- function(x, argument) {
  names <- utils::head(if (is.data.frame(x)) attr(x, "row.names") else rownames(x), 100L)
  named <- if (is.data.frame(x)) is.character(names) && all(grepl("[[:alpha:]]", names)) else !is.null(names)
  columns <- utils::head(colnames(x), 100L)
  if (
    named &&
      (nrow(x) >= 1000L &&
        nrow(x) >= 10 * ncol(x) ||
        nrow(x) > 2 * ncol(x) && (are_genes(names) || are_samples(columns)))
  ) {
    tell(
      "rows",
      sprintf(
        paste(
          "%s read as %d samples (rows) of %d variables (columns), with rows named %s. If the rows are the variables,",
          "pass t(%s)."
        ),
        if (argument == "suffStat") "The data are" else sprintf("`%s` is", argument),
        nrow(x),
        ncol(x),
        enumerate(dQuote(names, FALSE), 2L),
        if (argument == "suffStat") "data" else argument
      )
    )
  }
}

# Returns whether names are accessions, or gene symbols with many different stems. Names of patients, such as P01 and
# P02, have few stems.
are_genes <- function(names) {
  accession <- paste0(
    "^(ENS[A-Z]*[0-9]{6,}.*|.*[0-9]_at|(hsa|mmu|rno)-(mir|miR|let)-.*|",
    "rs[0-9]+|cg[0-9]{6,}|[NX][MRP]_[0-9]+.*)$"
  )
  symbol <- "^([A-Z][A-Z0-9]+|[A-Z][a-z0-9]+)(-[A-Za-z0-9]+)*$"
  stems <- unique(sub("[0-9].*$", "", names))
  length(names) >= 3L &&
    (mean(grepl(accession, names)) >= 0.8 ||
      mean(grepl(symbol, names)) >= 0.8 && mean(grepl("[0-9]", names)) >= 0.3 && length(stems) >= length(names) / 2)
}

are_samples <- function(names) {
  length(names) >= 3L &&
    mean(grepl(
      paste0(
        "^((GSM|SRR|ERR|DRR)[0-9]+|TCGA-.*|",
        "(sample|patient|subject|donor|control|ctrl|case|tumou?r|normal|mouse|rat|cell)[._ -]?[0-9]+.*)$"
      ),
      names,
      ignore.case = TRUE
    )) >=
      0.8
}

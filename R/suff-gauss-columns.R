# The columns of Gaussian data: how they are checked, correlated and named in errors. suff-gauss.R has suff_gauss().

# Refuses fewer than 4 usable rows, because the test has n - |S| - 3 in its formula.
check_usable <- function(x, n, least = 4) {
  if (n < least) {
    hint <- sprintf("a test of correlation needs at least %d observations.", least)
    abort_argument("x", x, hint, has = counted(n, "usable row"))
  }
}

# Refuses a sample size that weights, groups and covariates leave too small.
check_size <- function(n, x) {
  if (!is.matrix(n) && n < 4) {
    abort_argument(
      "x",
      x,
      "a test needs at least 4; use fewer groups, covariates or levels, or more even weights.",
      has = sprintf("rows that are worth %s independent observations", format(n, digits = 3L))
    )
  }
  n
}

check_infinite <- function(found, x) {
  infinite <- (found$least == -Inf | found$largest == Inf) & found$least <= found$largest
  if (any(infinite)) {
    abort_argument(
      "x",
      x,
      "drop these rows or columns, or transform the data differently.",
      has = paste("infinite values in", column_names(x, infinite))
    )
  }
}

check_missing <- function(
  found,
  x,
  hint = paste(
    "drop or impute them, or call suff_gauss() with use = \"complete.obs\" (the rows without missing values)",
    "or use = \"pairwise.complete.obs\" (for each pair, the rows with both values)."
  )
) {
  if (any(found$missing > 0)) {
    abort_argument("x", x, hint, has = paste("missing values in", column_names(x, found$missing > 0)))
  }
}

check_constant <- function(found, x) {
  constant <- found$least >= found$largest
  if (any(constant)) {
    abort_argument(
      "x",
      x,
      sprintf("drop %s, because a constant has no correlations.", it_or_them(constant)),
      is = paste("constant in", column_names(x, constant))
    )
  }
}

# Returns a summary of the columns: `least`, `largest`, `missing`, the number of rows `n`, and `size`, the number of
# independent rows that these are worth. C is in it, or centred data with keep = "data", unless a column has no
# correlations. design: see split_design(). levels: for polychoric correlations.
correlate <- function(
  x,
  rows,
  kind,
  device,
  threads,
  keep = "correlations",
  bar = list(),
  design = NULL,
  levels = NULL
) {
  # Other correlations than of columns are adjusted afterwards.
  after <- length(design$covariates) && (!kind %in% product_kinds || rows == "pairwise")
  options <- rows_asked(x, rows, kind, design, levels)
  options$keep <- keep
  columns <- as_columns(x)
  if (after) {
    columns <- c(if (is.list(columns)) columns else as_columns(as.data.frame(as.matrix(x))), design$covariates)
    options["names"] <- options["covariates"] <- list(NULL)
  }
  found <- check_rust(on_device(device, threads, function(engine) {
    correlation <- if (is_sparse(x)) rust_sparse_correlation else rust_correlation
    correlation(columns, as.double(nrow(x)), options, engine, list(progress = bar$report))
  }))
  tell_lost(found$lost)
  found <- without_covariates(found, x)
  if (after && !is.null(found$C)) adjusted(found, x) else found
}

# Returns what Rust needs to know of the columns.
rows_asked <- function(x, rows, kind, design, levels = NULL) {
  list(
    kind = kind,
    rows = rows,
    names = colnames(x),
    weights = design$weights,
    groups = design$groups,
    levels = levels,
    covariates = if (length(design$covariates)) lapply(design$covariates, as.double)
  )
}

# Moves the summaries of covariates to `covariates`: whether any of them has missing values, and which are constant.
without_covariates <- function(found, x) {
  own <- seq_len(ncol(x))
  if (length(found$missing) > ncol(x)) {
    found$covariates <- list(
      missing = any(found$missing[-own] > 0),
      constant = found$least[-own] >= found$largest[-own]
    )
    summary <- c("least", "largest", "missing")
    found[summary] <- lapply(found[summary], `[`, own)
  }
  found
}

# Returns a matrix, the columns of a data frame, or the parts of a sparse matrix, in the form that Rust reads.
as_columns <- function(x) {
  if (is_sparse(x)) {
    sparse_columns(x)
  } else if (is.data.frame(x)) {
    unclass(x)
  } else {
    x
  }
}

# Returns the device that was named, or for "auto" a GPU if the computation is large enough.
correlation_device <- function(device, x, correlation) {
  if (device$kind != "auto") {
    return(device)
  }
  pays <- correlation %in% product_kinds && !is_sparse(x) && nrow(x) * ncol(x) * (ncol(x) - 1) / 2 >= auto_products
  # Without a GPU, the data must not be copied for one.
  if (pays && rust_may_have_gpu()) automatic_gpu() else new_device("cpu")
}

# Checks that the correlations fit into the memory of a cpu_device().
check_room <- function(device, p) {
  memory <- if (device$kind == "cpu") device$options$memory
  if (!is.null(memory) && 8 * p^2 > memory) {
    abort_argument(
      "device",
      device,
      sprintf("the correlations of %d variables take %.0f bytes; allow that much, or use keep = \"data\".", p, 8 * p^2),
      has = sprintf("memory = %.0f", memory)
    )
  }
}

# Returns the CPU, or stops if the user named a GPU. A GPU computes only Pearson's correlations of one set of rows.
instead_of_gpu <- function(device) {
  if (isTRUE(device$automatic)) {
    return(new_device("cpu"))
  }
  abort_argument(
    "device",
    device_name(device),
    paste(
      "rank correlations, and pairwise correlations of data with missing values, run on the CPU;",
      "use device = \"cpu\" or \"auto\"."
    )
  )
}

# Returns checked data: a matrix, a data frame, or data that are read by blocks (see data-blocks.R).
check_data <- function(x) check_numeric_data(read_data(x, "x", all = FALSE))

check_numeric_data <- function(x) {
  if (!is.null(row_source(x))) {
    check_reader(x, "x")
    if (is_delayed(x) && !DelayedArray::type(x) %in% c("double", "integer")) {
      abort_argument(
        "x",
        x,
        "use one that holds numbers.",
        is = sprintf("a DelayedMatrix of type %s", DelayedArray::type(x))
      )
    }
  } else {
    x <- check_table(x, "x")
  }
  check_several(x)
  tell_if_turned(x, "x")
  x
}

# Checks that read_data() has returned a matrix or data frame of numbers.
check_table <- function(x, argument) {
  if (!is.data.frame(x) && !is.matrix(x)) {
    abort_argument(argument, x, "use a numeric matrix or data frame with observations in rows.")
  }
  numeric <- if (is.data.frame(x)) vapply(x, is.numeric, NA) else rep(is.numeric(x), ncol(x))
  if (!all(numeric)) {
    abort_argument(
      argument,
      x,
      sprintf("drop %1$s, or convert %1$s to numbers.", it_or_them(!numeric)),
      is = paste("not numeric in", column_names(x, !numeric))
    )
  }
  x
}

check_several <- function(x) {
  if (ncol(x) < 2L) {
    abort_argument("x", x, "it must have at least two columns.")
  }
}

without_correlation <- function(x, which, design = NULL, correlation = "pearson") {
  if (correlation %in% c("Qn", "QnStable")) {
    check_scales(!which, x, x)
  }
  if (length(design$covariates) || !is.null(design$groups)) {
    abort_determined(x, which)
  }
  abort_argument(
    "x",
    x,
    "drop these columns, or subtract their means first, because they are constant to double precision.",
    has = paste("no correlation for", column_names(x, which))
  )
}

# Checks that every correlation is a number.
check_correlations <- function(C, pairwise = FALSE, design = NULL, correlation = "pearson") {
  if (!anyNA(C)) {
    return(invisible())
  }
  bad <- is.na(C)
  # Columns without any correlation are the cause; the others lack theirs because of them.
  alone <- rowSums(!bad) <= 1L
  if (!pairwise) {
    alone <- if (any(alone)) alone else rowSums(bad) > 0
    without_correlation(C, alone, design, correlation)
  }
  pair <- which(bad, arr.ind = TRUE)[1L, ]
  abort_argument(
    "x",
    C,
    "drop one of the two, or use other rows.",
    has = sprintf(
      "no correlation of %s and %s in the rows that have both",
      column_label(C, pair[2L]),
      column_label(C, pair[1L])
    )
  )
}

# Returns a column's name, or its number if the name is missing or not unique.
column_label <- function(x, at) {
  if (is.null(named_columns(x, at))) paste("column", at) else dQuote(colnames(x)[at], FALSE)
}

# Returns the names of these columns, or NULL if they do not distinguish them from all other columns.
named_columns <- function(x, at) {
  names <- colnames(x)
  if (
    !is.null(names) &&
      all(nzchar(names[at], keepNA = FALSE) & !is.na(names[at])) &&
      !any(names[at] %in% names[duplicated(names)])
  ) {
    names[at]
  }
}

column_names <- function(x, which) {
  which <- base::which(which)
  names <- named_columns(x, which)
  paste(
    if (length(which) == 1L) "column" else "columns",
    enumerate(if (is.null(names)) as.character(which) else dQuote(names, FALSE))
  )
}

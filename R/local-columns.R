# The columns that a search around one variable reads: all of them in one pass for the correlations with a target, and
# then those of candidates. An object of new_columns() has the parts
# - `n`, `p`, `names`: rows, columns and the columns' names (or NULL);
# - `rust`: what Rust reads, list(n, numbers, bed) or list(C); NULL if R reads the data by blocks;
# - `x`: the data; `holes`: whether values may be missing.

# Reads data. C: a checked correlation matrix instead of data.
new_columns <- function(x, argument, C = NULL) {
  if (!is.null(C)) {
    return(list(p = ncol(C), names = colnames(C), rust = list(C = C), holes = FALSE))
  }
  if (is_plink(x)) {
    check_object(x, argument)
    bed <- unclass(x)[c("path", "n", "p")]
    rust <- list(n = x$n, numbers = x$variables, bed = bed)
    return(list(n = nrow(x), p = ncol(x), names = colnames(x), rust = rust, x = x, holes = TRUE))
  }
  if (is.atomic(x) && is.null(dim(x))) {
    abort_argument(argument, x, "use a matrix or data frame with observations in rows.")
  }
  x <- read_data(x, argument, all = FALSE)
  rust <- NULL
  if (is.function(x)) {
    in_memory(x, argument)
  } else if (is_read_by_blocks(x) || is_sparse(x)) {
    check_reader(x, argument)
  } else {
    x <- if (is_file(x)) check_object(x, argument) else check_table(x, argument)
    rust <- list(n = as.double(nrow(x)), numbers = as_columns(x))
  }
  if (ncol(x) < 1L) {
    abort_argument(argument, x, "it must have at least one column.")
  }
  list(n = nrow(x), p = ncol(x), names = colnames(x), rust = rust, x = x, holes = FALSE)
}

# Stops if there are too few rows for a test.
check_rows <- function(columns, argument) {
  if (columns$n < 4) {
    abort_argument(
      argument,
      columns$x,
      "a test of correlation needs at least 4 observations.",
      has = counted(columns$n, "row")
    )
  }
}

# Returns some columns as an ordinary matrix.
values_of <- function(columns, which) {
  x <- columns$x
  if (is.data.frame(x)) as.matrix(x[which]) else read_part(x, NULL, which)
}

# Correlates targets, the columns of a matrix, with all columns. Returns list(near, constant, missing, infinite): for
# each target list(with, r), the columns with |r| of at least `least`; and columns of three kinds. bar: shows the share
# that is done.
scan_columns <- function(columns, targets, least, engine, bar) {
  if (!is.null(columns$rust)) {
    return(check_rust(rust_scan(columns$rust, targets, least, engine, list(progress = bar$report))))
  }
  all <- NULL
  shift <- function(part, by) {
    part$near <- lapply(part$near, function(near) list(with = near$with + by, r = near$r))
    of <- c("constant", "missing", "infinite")
    part[of] <- lapply(part[of], function(which) which + by)
    part
  }
  each_block(columns$x, "columns", bar, function(block, row, column) {
    part <- list(n = as.double(columns$n), numbers = as_columns(block))
    part <- shift(check_rust(rust_scan(part, targets, least, engine, list())), as.integer(column))
    all <<- if (is.null(all)) {
      part
    } else {
      join <- function(a, b) Map(c, a, b)
      c(list(near = Map(join, all$near, part$near)), join(all[-1L], part[-1L]))
    }
  })
  all
}

# Stops if columns have infinite or, unless that is allowed, missing values. Warns of columns without a variance, which
# have no correlations. found: from scan_columns().
check_scanned <- function(columns, found, argument) {
  x <- if (is.null(columns$x)) matrix(0, 0L, columns$p) else columns$x
  names <- function(which) column_names(x, replace(logical(columns$p), which, TRUE))
  if (length(found$infinite)) {
    abort_argument(
      argument,
      x,
      "drop these rows or columns, or transform the data differently.",
      has = paste("infinite values in", names(found$infinite))
    )
  }
  if (columns$holes) {
    return(invisible())
  }
  if (length(found$missing)) {
    abort_argument(
      argument,
      x,
      "drop or impute them; only genotypes of plink_bed() may be missing.",
      has = paste("missing values in", names(found$missing))
    )
  }
  if (length(found$constant)) {
    warn(
      "constant",
      sprintf("`%s` is constant in %s: a constant has no correlations.", argument, names(found$constant)),
      columns = found$constant
    )
  }
}

# Returns list(rust, candidates) for Rust. Without direct access it gets only the columns of candidates. candidates:
# list(with, r) for each target.
for_rust <- function(columns, candidates) {
  if (!is.null(columns$rust)) {
    return(list(rust = columns$rust, candidates = candidates, all = NULL))
  }
  all <- sort(unique(unlist(lapply(candidates, `[[`, "with"))))
  part <- values_of(columns, all)
  if (!is.double(part) && !is.integer(part)) {
    storage.mode(part) <- "double"
  }
  candidates <- lapply(candidates, function(of) list(with = match(of$with, all), r = of$r))
  list(rust = list(n = as.double(columns$n), numbers = part), candidates = candidates, all = all)
}

# Returns Fisher's z of correlations given no variables, as pcalg's zStat(): 0 if it has no value. n: number of
# observations.
fisher_z <- function(r, n) {
  r <- pmin(pmax(replace(r, is.na(r), 0), -0.9999999), 0.9999999)
  sqrt(max(n - 3, 0)) * 0.5 * log1p(2 * r / (1 - r))
}

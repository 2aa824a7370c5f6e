# suff_gauss() for moments (suff-gauss-moments.R), for sparse matrices, and with a file for the data.

# Checks arguments for data that are read once, in blocks: they support only Pearson correlations.
check_for_moments <- function(use, correlation, keep, device, design = list()) {
  if (keep == "data") {
    abort_argument("keep", keep, "moments do not contain the data; use keep = \"correlations\", or pass the data.")
  }
  if (correlation != "pearson") {
    abort_argument(
      "correlation",
      correlation,
      paste(
        "these correlations need whole columns; use correlation = \"pearson\",",
        "or write the data to a file with write_pcgpu_file() and pass the file."
      )
    )
  }
  asked <- names(design)[!vapply(design, is.null, NA)]
  if (length(asked)) {
    abort_argument(
      c(weights = "weights", adjust = "adjust", id = "id", covariates = "adjust", groups = "id")[[asked[1L]]],
      NULL,
      "write the data to a file with write_pcgpu_file() and pass the file.",
      is = "given with data that are read in blocks"
    )
  }
  if (device$kind == "cuda") {
    abort_argument(
      "device",
      device_name(device),
      "data that are read in blocks are processed on the CPU; use device = \"cpu\" or \"auto\"."
    )
  }
}

# Returns the hint about missing values for data that are read in blocks: pairwise correlations need all rows at once.
hint_of_blocks <- function(use) {
  if (use == "pairwise.complete.obs") {
    paste(
      "for pairwise correlations, write the data to a file with write_pcgpu_file() and pass the file;",
      "or set use = \"complete.obs\" (the rows without missing values)."
    )
  } else {
    "drop or impute them, or set use = \"complete.obs\" (the rows without missing values)."
  }
}

# Returns list(C, n). moments: those accumulated in Rust, or a list of objects of class pcgpu_moments.
suff_of_moments <- function(moments, names) {
  if (is.list(moments)) {
    check_moments(moments, "x")
  }
  found <- check_rust(rust_moments_correlations(moments, names, engine_list(new_device("cpu"), resolve_threads())))
  x <- matrix(0, 0L, length(found$least), dimnames = if (!is.null(names)) list(NULL, names))
  check_usable(x, found$n)
  check_constant(found, x)
  check_correlations(found$C)
  list(C = found$C, n = whole_number(found$n))
}

# Returns an integer if R's integers can hold the number.
whole_number <- function(n) if (n <= .Machine$integer.max) as.integer(n) else n

# Does what correlate(keep = "data") does, but writes the data to a file and returns `file` instead of `data`.
write_centred <- function(x, rows, kind, threads, bar, path, design) {
  options <- rows_asked(x, rows, kind, design)
  options$path <- path
  engine <- engine_list(new_device("cpu"), threads)
  found <- rust_centred_file(as_columns(x), as.double(nrow(x)), options, engine, list(progress = bar$report))
  without_covariates(check_rust(found), x)
}

# Checks the path of a new file for the data, which must not exist yet.
check_kept_file <- function(file, keep) {
  if (is.null(file)) {
    return(NULL)
  }
  if (keep != "data") {
    abort_argument("file", file, "set keep = \"data\" too, because the file holds the data.")
  }
  check_new_path(file, "file", overwrite = NULL)
}

refuse_function <- function(x) {
  if (is.function(x)) {
    abort_argument("x", x, "write the rows to a file first, with write_pcgpu_file(nrow = ), and pass the file.")
  }
  x
}

# Returns the statistic of a file with centred columns. Such a file is what keep = "data" needs, whether it holds values
# or ranks.
suff_of_centred <- function(x, correlation, keep, device, bar, design) {
  asked <- c(if (correlation != "pearson") "correlation", names(design)[!vapply(design, is.null, NA)])
  if (length(asked)) {
    abort_argument(
      asked[1L],
      if (asked[1L] == "correlation") correlation else design[[asked[1L]]],
      "leave it out, because the file holds centred values or scores, not the values themselves."
    )
  }
  kept <- new_kept(x, nrow(x))
  check_usable(x, nrow(x))
  if (keep == "data") {
    return(kept)
  }
  check_room(device, ncol(x))
  C <- correlations_of_kept(kept, bar = bar)
  check_correlations(C)
  list(C = C, n = nrow(x))
}

# The result of suff_gauss(keep = "data"): a list of `data`, an n x p matrix of centred columns or a file of it, and
# `n`. `x$C` computes the correlations at its first use and keeps them in the environment `made`, which copies of the
# object share.

new_kept <- function(data, n) {
  structure(list(data = data, n = n, made = new.env(parent = emptyenv())), class = "pcgpu_gauss_data")
}

is_kept <- function(suffStat) inherits(suffStat, "pcgpu_gauss_data")

# Returns the correlations of some or all variables. Those of all variables equal suff_gauss(device = "cpu")$C to the
# last bit.
correlations_of_kept <- function(x, columns = NULL, progress = FALSE, bar = progress_reporter(progress)) {
  check_object(x)
  on.exit(bar$close())
  data <- check_kept_data(x$data)
  if (!is.null(columns)) {
    data <- data[, columns, drop = FALSE]
  }
  correlate(data, "all", "centred", new_device("cpu"), resolve_threads(), bar = bar)$C
}

check_kept_data <- function(data, p = NCOL(data)) {
  in_file <- is_file(data) && data$content == "centred"
  if (!in_file && (!is.matrix(data) || !is.double(data) || is.object(data) || nrow(data) < 1L)) {
    abort_argument("suffStat$data", data, "make the sufficient statistic again with suff_gauss(keep = \"data\").")
  }
  if (ncol(data) != p) {
    abort_argument(
      "suffStat$data",
      data,
      "use the data of exactly these variables.",
      needs = column_for_each(p, ncol(data))
    )
  }
  data
}

#' @exportS3Method "[[" pcgpu_gauss_data
`[[.pcgpu_gauss_data` <- function(x, i, ...) {
  check_dots(list(...), "exact", "[[.pcgpu_gauss_data")
  if (!identical(i, "C")) {
    return(.subset2(x, i))
  }
  check_object(x, "suffStat")
  made <- .subset2(x, "made")
  if (is.null(made$C)) {
    made$C <- correlations_of_kept(x, progress = NULL)
  }
  made$C
}

#' @exportS3Method "$" pcgpu_gauss_data
`$.pcgpu_gauss_data` <- function(x, name) x[[name]]

# Replaces n. Other parts must stay, because correlations may have been computed from the data.
#' @exportS3Method "[[<-" pcgpu_gauss_data
`[[<-.pcgpu_gauss_data` <- function(x, i, value) {
  if (!identical(i, "n")) {
    abort_argument(
      "suffStat",
      x,
      "make it again with suff_gauss(), or use list(C = , n = ).",
      is = sprintf("an object that holds data, so its `%s` cannot be replaced", i)
    )
  }
  NextMethod()
}

# Returns a list of the requested parts, and computes `C` if it is one of them.
#' @exportS3Method "[" pcgpu_gauss_data
`[.pcgpu_gauss_data` <- function(x, i) {
  if (missing(i)) {
    return(x)
  }
  part <- unclass(x)[i]
  for (at in which(i == "C")) {
    part[[at]] <- x[["C"]]
    names(part)[at] <- "C"
  }
  part
}

#' @exportS3Method "[<-" pcgpu_gauss_data
`[<-.pcgpu_gauss_data` <- function(x, i, value) {
  for (at in seq_along(i)) {
    x[[i[[at]]]] <- value[[at]]
  }
  x
}

#' @exportS3Method "$<-" pcgpu_gauss_data
`$<-.pcgpu_gauss_data` <- function(x, name, value) {
  x[[name]] <- value
  x
}

#' @exportS3Method print pcgpu_gauss_data
print.pcgpu_gauss_data <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_gauss_data")
  check_object(x)
  say_lines(sprintf(
    "Gaussian data: %s observations of %s variables, centred (%s)",
    in_words(x$n),
    in_words(ncol(x$data)),
    format(structure(8 * prod(dim(x$data)), class = "object_size"), units = "auto", standard = "SI")
  ))
  if (is_file(x$data)) {
    cat(sprintf("in the file %s\n", x$data$path))
  }
  say_lines("pc() computes the correlations on its device; $C computes them here.")
  invisible(x)
}

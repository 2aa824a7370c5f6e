# suff_gauss() for moments (gauss_moments.R), for sparse matrices, and with a file for the data.

# Data that are read once, in blocks, support only Pearson correlations.
check_for_moments <- function(use, method, keep, device) {
  if (keep == "data") {
    abort_argument("keep", keep, "moments do not contain the data; use keep = \"correlations\", or pass the data.")
  }
  if (method != "pearson") {
    abort_argument("method", method, paste(
      "rank correlations need whole columns; use method = \"pearson\",",
      "or write the data to a file with write_pcgpu_file() and pass the file."
    ))
  }
  if (device$kind == "cuda") {
    abort_argument("device", device_name(device), "data that are read in blocks are processed on the CPU; use device = \"cpu\" or \"auto\".")
  }
}

# The hint about missing values for data that are read in blocks: pairwise correlations need all rows at once.
mend_of_blocks <- function(use) {
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
  if (is.list(moments)) check_moments(moments, "x")
  found <- check_rust(rust_moments_correlations(moments, names, engine_list(new_device("cpu"), resolve_threads())))
  x <- matrix(0, 0L, length(found$least), dimnames = if (!is.null(names)) list(NULL, names))
  check_usable(x, found$n)
  check_constant(found, x)
  check_correlations(found$C, FALSE)
  list(C = found$C, n = whole_number(found$n))
}

# Returns an integer if R's integers can hold the number.
whole_number <- function(n) if (n <= .Machine$integer.max) as.integer(n) else n

# Does what correlate() does, for a sparse matrix.
correlate_sparse <- function(x, rows, method, threads, bar) {
  options <- list(kind = method, rows = rows, names = colnames(x))
  engine <- engine_list(new_device("cpu"), threads)
  check_rust(rust_sparse_correlation(sparse_columns(x), as.double(nrow(x)), options, engine, list(progress = bar$report)))
}

# Does what correlate(keep = "data") does, but writes the data to a file and returns `file` instead of `data`.
write_centred <- function(x, rows, method, threads, bar, path) {
  options <- list(kind = method, rows = rows, names = colnames(x), path = path)
  engine <- engine_list(new_device("cpu"), threads)
  check_rust(rust_centred_file(as_columns(x), as.double(nrow(x)), options, engine, list(progress = bar$report)))
}

# Checks the path of a new file for the data, which must not exist yet.
check_kept_file <- function(file, keep) {
  if (is.null(file)) {
    return(NULL)
  }
  if (keep != "data") {
    abort_argument("file", file, "set keep = \"data\" too, because the file holds the data.")
  }
  check_new_path(file, "file", overwrite = FALSE)
}

refuse_function <- function(x) {
  if (is.function(x)) {
    abort_argument("x", x, "write the rows to a file first, with write_pcgpu_file(nrow = ), and pass the file.")
  }
  x
}

# Returns the statistic of a file with centred columns. Such a file is what keep = "data" needs, whether it holds values or ranks.
suff_of_centred <- function(x, method, keep, device, bar) {
  if (method != "pearson") {
    abort_argument("method", method, "leave it out, because the file holds centred values or ranks, not the values themselves.")
  }
  kept <- new_kept(x, nrow(x))
  check_usable(x, nrow(x))
  if (keep == "data") {
    return(kept)
  }
  check_room(device, ncol(x))
  C <- correlations_of_kept(kept, bar = bar)
  check_correlations(C, FALSE)
  list(C = C, n = nrow(x))
}

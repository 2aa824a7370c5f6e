#' Write data to a file that processes share
#'
#' Writes a table of numbers, block by block, to a file that processes map into memory (see [pcgpu_file()] for its layout). If the data are not an R
#' matrix, R holds only one block of 100 MB at a time. The file appears under its name when it is complete. It is read-only, for the users whom the
#' umask allows to read it.
#'
#' @param x Data with observations in rows. One of:
#'   - a numeric matrix or data frame;
#'   - a sparse matrix of the package Matrix;
#'   - a `DelayedMatrix` (also HDF5Array's), whose blocks have `DelayedArray::getAutoBlockSize()` bytes;
#'   - bigmemory's `big.matrix`;
#'   - a `SummarizedExperiment` or `ExpressionSet`, whose samples are the observations;
#'   - a [pcgpu_file()];
#'   - a function without arguments that returns the next rows, a matrix or data frame, at each call, and `NULL` at the end.
#' @param path The file's path.
#' @param overwrite Replace an existing file? Processes that have the old one open keep it.
#' @param nrow For a function, the number of rows of all its blocks. The file stores columns, so this number must be known in advance.
#' @param progress Show a progress bar? As in [pc()].
#' @return The file, as an object of [pcgpu_file()].
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if the file cannot be written.
#' @seealso [pcgpu_file()] to open a file, [suff_gauss()] and [select_features()], which read them.
#' @examples
#' path <- tempfile(fileext = ".pcgpu")
#' x <- write_pcgpu_file(iris[1:4], path)
#' identical(as.matrix(x), as.matrix(iris[1:4]))
#'
#' # Rows in parts
#' parts <- split(iris[1:4], iris$Species)
#'
#' following <- local({
#'   at <- 0
#'   function() if (at < 3) parts[[at <<- at + 1]]
#' })
#'
#' x <- write_pcgpu_file(following, path, overwrite = TRUE, nrow = 150)
#' dim(x)
#' unlink(path)
#' @export
write_pcgpu_file <- function(x, path, overwrite = FALSE, nrow = NULL, progress = NULL) {
  path <- check_new_path(path, "path", check_flag(overwrite, "overwrite"))
  bar <- progress_reporter(progress, label = function(level, edges) "Writing")
  on.exit(bar$close())
  x <- if (is.function(x)) x else check_data(x)
  write_file(x, path, nrow, bar)
}

# Checks that a path is in an existing folder and, unless `overwrite`, does not exist yet.
check_new_path <- function(path, argument, overwrite) {
  check_path(path, argument)
  path <- path.expand(enc2utf8(path))
  if (!dir.exists(dirname(path))) {
    abort_argument(argument, path, "use a path in an existing folder.", is = sprintf("%s, in a folder that does not exist", dQuote(path, FALSE)))
  }
  if (file.exists(path) && (!overwrite || dir.exists(path))) {
    # suff_gauss(file = ) has no argument `overwrite`, and a folder is never replaced.
    hint <- if (argument == "path" && !dir.exists(path)) "use another path, or overwrite = TRUE." else "use another path."
    abort_argument(argument, path, hint, is = sprintf("%s, which already exists", dQuote(path, FALSE)))
  }
  path
}

# Writes data to a file and opens it. x: the result of check_data(), or a function. bar: shows the proportion written.
write_file <- function(x, path, nrow, bar) {
  file <- NULL
  on.exit(if (!is.null(file)) rust_file_give_up(file))
  written <- 0
  create <- function(n, p, names) {
    if (n < 1 || p < 1) abort_argument("x", x, "it must have at least one of each.", has = sprintf("%.0f rows and %.0f columns", n, p))
    file <<- check_rust(rust_file_create(path, as.double(n), as.double(p), names))
  }
  put <- function(block, row, column) {
    if (is.data.frame(block)) block <- as.matrix(block)
    if (!is.double(block)) storage.mode(block) <- "double"
    check_rust(rust_file_write(file, block, row, column, as.double(base::nrow(block))))
    written <<- max(written, row + base::nrow(block))
  }
  if (is.function(x)) {
    n <- check_rows_to_come(nrow)
    each_block(x, "rows", NULL, function(block, row, column) {
      if (is.null(file)) create(n, ncol(block), colnames(block))
      if (row + base::nrow(block) > n) refuse_rows(nrow, "more")
      put(block, row, column)
      tell_share(bar, (row + base::nrow(block)) / n)
    })
    if (is.null(file)) check_usable(matrix(0, 0L, 1L), 0L)
    if (written < n) refuse_rows(nrow, sprintf("%.0f", written))
  } else {
    create(base::nrow(x), ncol(x), colnames(x))
    each_block(x, "neither", bar, put)
  }
  engine <- engine_list(new_device("cpu"), resolve_threads())
  digest <- check_rust(rust_file_finish(file, engine))
  open_file(path, digest, verify = FALSE)
}

check_rows_to_come <- function(nrow) {
  if (!is_number(nrow) || nrow < 1 || nrow != trunc(nrow) || nrow > .Machine$integer.max) {
    abort_argument("nrow", nrow, "for a function, pass the number of rows that it returns in total.")
  }
  as.double(nrow)
}

refuse_rows <- function(nrow, rows) {
  abort_argument("nrow", nrow, "use the total number of rows of all blocks.", is = sprintf("%.0f, but the function returned %s rows", nrow, rows))
}

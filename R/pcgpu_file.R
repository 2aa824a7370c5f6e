#' Data in a file that processes share
#'
#' Opens a file written by [write_pcgpu_file()] or [suff_gauss()]. The data are not loaded into R: processes map the file into their memory, and
#' processes on one machine share it there. [suff_gauss()], [suff_discrete()], [gauss_moments()], [select_features()] and searches with kept data read it
#' in this way. `[` and `as.matrix()` return ordinary matrices of a part or all of it.
#'
#' The object contains the file's path and digest. You can save it, or send it to other processes that see the file under the same path. Readers
#' compare the digest with that of the file, so a file that was replaced is an error of class `pcgpu_error_file_changed`.
#' Do not change or truncate the file while a process uses it: as with any mapped file, this can end the process.
#'
#' # Layout of the file
#'
#' All numbers are little-endian. The file has four parts:
#' 1. a page of 4,096 bytes, the header;
#' 2. n x p doubles by column;
#' 3. for each block of 1,048,576 bytes of doubles (the last may be shorter), a checksum of 8 bytes (XXH3, 64 bits);
#' 4. if columns have names: for each column the number of bytes of its name (4 bytes), and the name in UTF-8.
#'
#' The header has, in order of bytes:
#'
#' | at | bytes | |
#' |--:|--:|:--|
#' | 0 | 8 | `pcgpu`, and bytes 0, 13, 10 |
#' | 8 | 4 | version of the layout: 1 |
#' | 12 | 4 | content: 1, the original values, `NaN` for a missing one; 2, Gaussian data with centred columns |
#' | 16 | 8 | n |
#' | 24 | 8 | p |
#' | 32 | 8 | offset of the doubles: 4,096 |
#' | 40 | 8 | bytes of a block: 1,048,576 |
#' | 48 | 8 | offset of the checksums |
#' | 56 | 8 | offset of the names |
#' | 64 | 8 | bytes of the names; 0 if there are none |
#' | 72 | 8 | bytes of the file |
#' | 80 | 16 | digest: of bytes 0 to 79, the checksums and the names (XXH3, 128 bits, its low half first) |
#' | 96 | 4,000 | zeros |
#'
#' Checksums and digest detect damage, not deliberate changes: they are not cryptographic.
#'
#' @param path The file's path.
#' @param verify Read all numbers and compare them with their checksums? Header, names and checksums are checked in any case.
#' @param x A `pcgpu_file`.
#' @param i,j Rows and columns, as for a matrix; columns also by name.
#' @param drop As for a matrix.
#' @param ... Not used.
#' @return An object of class `pcgpu_file`, which has `dim()`, `colnames()`, `[`, `as.matrix()` and `print()`. A file that cannot be used is an error
#'   of class `pcgpu_error_file`, see [pcgpu-package].
#' @seealso [write_pcgpu_file()]
#' @examples
#' path <- tempfile(fileext = ".pcgpu")
#' write_pcgpu_file(iris[1:4], path)
#' x <- pcgpu_file(path)
#' x
#' x[1:3, "Sepal.Length"]
#' suff <- suff_gauss(x)
#' unlink(path)
#' @export
pcgpu_file <- function(path, verify = TRUE) {
  if (is_file(path)) path <- check_object(path, "path")$path
  check_path(path, "path")
  open_file(path, NULL, check_flag(verify, "verify"))
}

check_path <- function(path, argument) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    abort_argument(argument, path, "use one string, the path of a file.")
  }
}

# Opens a file. If a digest is given, it must be the file's.
open_file <- function(path, digest, verify) {
  path <- path.expand(enc2utf8(path))
  engine <- engine_list(new_device("cpu"), resolve_threads())
  found <- check_rust(rust_file_look(path, digest, verify, engine, list()))
  new_file(found, path)
}

new_file <- function(found, path) {
  found$path <- normalizePath(path)
  # Dimensions of R are integers.
  if (found$n > .Machine$integer.max || found$p > .Machine$integer.max) {
    abort_argument("path", path, "R's matrices have at most 2^31 - 1 rows and columns.", has = sprintf("%.0f x %.0f numbers", found$n, found$p))
  }
  structure(found, class = "pcgpu_file")
}

# Returns list(path, digest), from which another process opens the file with open_reference().
file_reference <- function(x) unclass(x)[c("path", "digest")]

open_reference <- function(reference, verify = FALSE) open_file(reference$path, reference$digest, verify)

#' @exportS3Method dim pcgpu_file
dim.pcgpu_file <- function(x) {
  check_object(x)
  as.integer(c(.subset2(x, "n"), .subset2(x, "p")))
}

#' @exportS3Method dimnames pcgpu_file
dimnames.pcgpu_file <- function(x) {
  names <- .subset2(x, "names")
  if (!is.null(names)) list(NULL, names)
}

#' @rdname pcgpu_file
#' @exportS3Method "[" pcgpu_file
`[.pcgpu_file` <- function(x, i, j, ..., drop = TRUE) {
  check_object(x)
  if (nargs() - (if (missing(drop)) 0L else 1L) < 3L) {
    abort_argument("i", NULL, "index rows and columns, as in x[i, j].", is = "given without `j`")
  }
  rows <- if (!missing(i)) numbered(i, seq_len(nrow(x)), "i")
  all <- stats::setNames(seq_len(ncol(x)), colnames(x))
  columns <- unname(if (missing(j)) all else numbered(j, all, "j"))
  check_dots(list(...), character(), "[.pcgpu_file")
  part <- check_rust(rust_file_read(x, rows, columns))
  if (!is.null(colnames(x))) colnames(part) <- colnames(x)[columns]
  if (drop) drop(part) else part
}

# Returns positions as numbers from 1.
numbered <- function(at, all, argument) {
  places <- if (is.character(at) && is.null(names(all))) NA else unname(all[at])
  if (anyNA(places)) {
    abort_argument(argument, at, sprintf("use numbers from 1 to %d%s.", length(all), if (!is.null(names(all))) ", or names" else ""))
  }
  places
}

#' @exportS3Method as.matrix pcgpu_file
as.matrix.pcgpu_file <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcgpu_file")
  x[, , drop = FALSE]
}

#' @exportS3Method print pcgpu_file
print.pcgpu_file <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_file")
  check_object(x)
  size <- in_words(dim(x))
  bytes <- format(structure(8 * prod(dim(x)), class = "object_size"), units = "auto", standard = "SI")
  what <- switch(x$content, values = "", centred = ", centred")
  say_lines(sprintf("%s observations of %s variables%s (%s)", size[1L], size[2L], what, bytes))
  cat(sprintf("in the file %s\n", x$path))
  invisible(x)
}

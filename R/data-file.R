#' Data in a file that processes share
#'
#' Opens a file written by [write_pcgpu_file()] or [suff_gauss()]. The data are not loaded into R: processes map the
#' file into their memory, and processes on one machine share it there. [suff_gauss()], [suff_discrete()],
#' [gauss_moments()], [select_features()] and searches with kept data read it in this way. `[` and `as.matrix()` return
#' ordinary matrices of a part or all of it.
#'
#' The object contains the file's path and digest. You can save it, or send it to other processes that see the file
#' under the same path. Readers compare the digest with that of the file, so a file that was replaced is an error of
#' class `pcgpu_error_file_changed`. Do not change or truncate the file while a process uses it: as with any mapped
#' file, this can end the process.
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
#' @param file The file's path.
#' @param verify Read all numbers and compare them with their checksums? Header, names and checksums are checked in any
#'   case.
#' @param x A `pcgpu_file`.
#' @param i,j Rows and columns, as for a matrix; columns also by name.
#' @param drop As for a matrix.
#' @param ... Must be empty.
#' @return An object of class `pcgpu_file`, which has `dim()`, `colnames()`, `[`, `as.matrix()` and `print()`. A file
#'   that cannot be used is an error of class `pcgpu_error_file`, see [pcgpu-package].
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
pcgpu_file <- function(file, verify = TRUE, ...) {
  if (!is.null(taught <- taught_call(of = "pcgpu_file"))) {
    return(eval(taught, parent.frame()))
  }
  if (is_file(file)) {
    file <- check_object(file, "file")$path
  }
  check_path(file, "file")
  open_file(file, NULL, check_flag(verify, "verify"))
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
    abort_argument(
      "file",
      path,
      "R's matrices have at most 2^31 - 1 rows and columns.",
      has = sprintf("%.0f x %.0f numbers", found$n, found$p)
    )
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
  if (!is.null(colnames(x))) {
    colnames(part) <- colnames(x)[columns]
  }
  if (drop) drop(part) else part
}

# Returns positions as numbers from 1.
numbered <- function(at, all, argument) {
  places <- if (is.character(at) && is.null(names(all))) NA else unname(all[at])
  if (anyNA(places)) {
    abort_argument(
      argument,
      at,
      sprintf("use numbers from 1 to %d%s.", length(all), if (!is.null(names(all))) ", or names" else "")
    )
  }
  places
}

#' @exportS3Method as.matrix pcgpu_file
as.matrix.pcgpu_file <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcgpu_file")
  x[,, drop = FALSE]
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

#' Write data to a file that processes share
#'
#' Writes a table of numbers, block by block, to a file that processes map into memory (see [pcgpu_file()] for its
#' layout). If the data are not an R matrix, R holds only one block of 100 MB at a time. The file appears under its name
#' when it is complete. It is read-only, for the users whom the umask allows to read it.
#'
#' @param x Data with observations in rows. One of:
#'   - a numeric matrix or data frame;
#'   - a sparse matrix of the package Matrix;
#'   - a `DelayedMatrix` (also HDF5Array's), whose blocks have `DelayedArray::getAutoBlockSize()` bytes;
#'   - bigmemory's `big.matrix`;
#'   - a `SummarizedExperiment` or `ExpressionSet`, whose samples are the observations;
#'   - a [pcgpu_file()];
#'   - a function without arguments that returns the next rows, a matrix or data frame, at each call, and `NULL` at the
#'     end.
#' @param file The file's path.
#' @param overwrite Replace an existing file? Processes that have the old one open keep it.
#' @param nrow For a function, the number of rows of all its blocks. The file stores columns, so this number must be
#'   known in advance.
#' @param progress Show a progress bar? As in [pc()].
#' @param ... Must be empty; anything here is an error that suggests the intended name.
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
write_pcgpu_file <- function(x, file, overwrite = FALSE, nrow = NULL, progress = NULL, ...) {
  if (!is.null(taught <- taught_call(of = "write_pcgpu_file"))) {
    return(eval(taught, parent.frame()))
  }
  path <- check_new_path(file, "file", check_flag(overwrite, "overwrite"))
  bar <- progress_reporter(progress, label = function(level, edges) "Writing")
  on.exit(bar$close())
  x <- if (is.function(x)) x else check_data(x)
  write_file(x, path, nrow, bar)
}

# Checks that a path is in an existing folder and, unless `overwrite`, does not exist yet. overwrite: NULL if the caller
# has no such argument.
check_new_path <- function(path, argument, overwrite) {
  check_path(path, argument)
  path <- path.expand(enc2utf8(path))
  if (!dir.exists(dirname(path))) {
    abort_argument(
      argument,
      path,
      "use a path in an existing folder.",
      is = sprintf("%s, in a folder that does not exist", dQuote(path, FALSE))
    )
  }
  if (file.exists(path) && (!isTRUE(overwrite) || dir.exists(path))) {
    # A folder is never replaced.
    hint <- if (!is.null(overwrite) && !dir.exists(path)) {
      "use another path, or overwrite = TRUE."
    } else {
      "use another path."
    }
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
    if (n < 1 || p < 1) {
      abort_argument("x", x, "it must have at least one of each.", has = sprintf("%.0f rows and %.0f columns", n, p))
    }
    file <<- check_rust(rust_file_create(path, as.double(n), as.double(p), names))
  }
  put <- function(block, row, column) {
    if (is.data.frame(block)) {
      block <- as.matrix(block)
    }
    if (!is.double(block)) {
      storage.mode(block) <- "double"
    }
    check_rust(rust_file_write(file, block, row, column, as.double(base::nrow(block))))
    written <<- max(written, row + base::nrow(block))
  }
  if (is.function(x)) {
    n <- check_number(
      nrow,
      "nrow",
      "for a function, pass the number of rows that it returns in total.",
      1,
      .Machine$integer.max,
      whole = TRUE
    )
    each_block(x, "rows", NULL, function(block, row, column) {
      if (is.null(file)) {
        create(n, ncol(block), colnames(block))
      }
      if (row + base::nrow(block) > n) {
        refuse_rows(nrow, "more")
      }
      put(block, row, column)
      tell_share(bar, (row + base::nrow(block)) / n)
    })
    if (is.null(file)) {
      check_usable(matrix(0, 0L, 1L), 0L)
    }
    if (written < n) refuse_rows(nrow, sprintf("%.0f", written))
  } else {
    create(base::nrow(x), ncol(x), colnames(x))
    each_block(x, "neither", bar, put)
  }
  engine <- engine_list(new_device("cpu"), resolve_threads())
  digest <- check_rust(rust_file_finish(file, engine))
  open_file(path, digest, verify = FALSE)
}

refuse_rows <- function(nrow, rows) {
  abort_argument(
    "nrow",
    nrow,
    "use the total number of rows of all blocks.",
    is = sprintf("%.0f, but the function returned %s rows", nrow, rows)
  )
}

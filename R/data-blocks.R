# Data that are not an ordinary matrix in R: Bioconductor's DelayedMatrix (also HDF5Array's), bigmemory's big.matrix, sparse
# matrices of the package Matrix, a function that returns the next rows, and files (data-file.R). They are read one block at a time.

# Bytes of a block of doubles; for a DelayedMatrix, DelayedArray::setAutoBlockSize() sets the size.
block_bytes <- 1e8

is_delayed <- function(x) isS4(x) && methods::is(x, "DelayedMatrix")

is_big_matrix <- function(x) isS4(x) && methods::is(x, "big.matrix")

is_sparse <- function(x) isS4(x) && methods::is(x, "sparseMatrix")

is_file <- function(x) inherits(x, "pcgpu_file")

# Returns whether data are read by blocks, with R code of another package or the user.
is_read_by_blocks <- function(x) is.function(x) || is_delayed(x) || is_big_matrix(x)

# Reads data as an ordinary matrix, for code that needs all of it.
in_memory <- function(x, argument) {
  if (is.function(x)) {
    abort_argument(argument, x, "use the data themselves; only suff_gauss(), gauss_moments() and write_pcgpu_file() accept a function that returns rows.")
  }
  if (is_big_matrix(x)) {
    return(read_part(x, NULL, NULL))
  }
  as.matrix(x)
}

# Checks that the package that reads the data is installed.
check_reader <- function(x, argument) {
  if (is_delayed(x)) need_package("DelayedArray", sprintf("`%s` is a DelayedMatrix and needs the package DelayedArray", argument))
  if (is_big_matrix(x)) {
    need_package("bigmemory", sprintf("`%s` is a big.matrix and needs the package bigmemory", argument))
    # In a restored session, the address is no longer valid.
    if (inherits(try(bigmemory::is.nil(x@address), silent = TRUE), "try-error") || bigmemory::is.nil(x@address)) {
      abort_argument(argument, x, "attach it again with bigmemory::attach.big.matrix().", is = "a big.matrix that no longer exists")
    }
  }
}

# Returns the numbers of rows and columns of a block. whole: what a block has completely, "rows" (all columns of some rows), "columns", or "neither".
# Blocks have whole chunks of the storage if these are known and fit.
block_shape <- function(x, whole) {
  size <- as.double(dim(x))
  bytes <- if (is_delayed(x)) DelayedArray::getAutoBlockSize() else block_bytes
  chunk <- if (is_delayed(x)) DelayedArray::chunkdim(x)
  chunk <- pmin(as.double(chunk %||% c(1, 1)), size)
  fitting <- function(along, across) {
    count <- max(1, floor(bytes / (8 * across)))
    if (count > chunk[along]) count <- count - count %% chunk[along]
    min(count, size[along])
  }
  if (whole == "rows") {
    return(c(fitting(1L, size[2L]), size[2L]))
  }
  columns <- fitting(2L, size[1L])
  if (whole == "columns" || columns >= chunk[2L]) c(size[1L], columns) else c(fitting(1L, chunk[2L]), chunk[2L])
}

# Calls visit(block, row, column) for each block of a matrix, with the block as an ordinary matrix and its offsets. `bar` shows the proportion read.
# A function's blocks have all columns. logical: whether blocks may be logical matrices.
each_block <- function(x, whole, bar, visit, argument = "x", logical = FALSE) {
  if (is.function(x)) {
    return(each_block_of_function(x, visit, argument))
  }
  check_reader(x, argument)
  shape <- block_shape(x, whole)
  size <- dim(x)
  grid <- if (is_delayed(x)) DelayedArray::RegularArrayGrid(size, as.integer(shape))
  across <- ceiling(size / shape)
  for (number in seq_len(prod(across))) {
    first <- c((number - 1) %% across[1L], (number - 1) %/% across[1L]) * shape
    block <- if (is.null(grid)) {
      last <- pmin(first + shape, size)
      read_part(x, (first[1L] + 1):last[1L], (first[2L] + 1):last[2L])
    } else {
      DelayedArray::read_block(x, grid[[number]])
    }
    visit(plain_block(block, argument, logical), first[1L], first[2L])
    tell_share(bar, number / prod(across))
  }
}

# Returns some rows and columns, or all (NULL), as an ordinary matrix.
read_part <- function(x, rows, columns) {
  rows <- rows %||% seq_len(nrow(x))
  columns <- columns %||% seq_len(ncol(x))
  # The class's package has the methods of `[`, and is loaded.
  part <- if (length(rows) == nrow(x)) x[, columns, drop = FALSE] else if (length(columns) == ncol(x)) x[rows, , drop = FALSE] else {
    x[rows, columns, drop = FALSE]
  }
  as.matrix(part)
}

# Calls the function until it returns NULL.
each_block_of_function <- function(x, visit, argument) {
  row <- 0
  known <- NULL
  while (!is.null(block <- x())) {
    block <- plain_block(block, argument)
    if (is.null(known)) known <- list(p = ncol(block), names = colnames(block))
    if (ncol(block) != known$p || !identical(colnames(block), known$names)) {
      abort_argument(argument, x, "each block must have the same columns in the same order.", has = sprintf(
        "returned a block with %s%s after one with %d", counted(ncol(block), "column"),
        if (ncol(block) == known$p) " and other names" else "", known$p
      ))
    }
    if (nrow(block) > 0L) visit(block, row, 0)
    row <- row + nrow(block)
  }
}

# Returns a block as a numeric matrix or data frame.
plain_block <- function(block, argument, logical = FALSE) {
  if (isS4(block) && methods::is(block, "Matrix")) block <- as.matrix(block)
  block <- if (is.data.frame(block)) plain_columns(block, argument) else plain_integer64(block, argument)
  if (logical && is.matrix(block) && is.logical(block)) block else check_table(block, argument)
}

tell_share <- function(bar, share) {
  if (!is.null(bar$report)) bar$report(-1, share, 1, 0)
}

# Returns list(starts, rows, values) by column, as in a dgCMatrix. Matrix's own functions convert other classes.
sparse_columns <- function(x) {
  need_package("Matrix", "`x` is a sparse matrix and needs the package Matrix")
  x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  list(starts = x@p, rows = x@i, values = x@x)
}

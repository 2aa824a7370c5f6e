# Data that are not an ordinary matrix or data frame, by kind. They are read one block at a time. A new kind is an entry
# of `row_sources` and a line in the help page of suff_gauss(). Parts of an entry:
# - `is(x)`: returns whether data are of this kind;
# - `once`: whether R code of another package or of the user reads them. They are then read once, for moments;
# - `package`, `name`: the package that reads them, and what an error calls them;
# - `check(x, argument)`: stops if they cannot be read;
# - `whole(x, argument)`: returns all of them as an ordinary matrix, `as.matrix(x)` without this part;
# - `bytes()`, `chunk(x)`: the bytes of a block, `block_bytes` without this part, and the rows and columns of a chunk of
#   the storage;
# - `blocks(x, shape)`: returns a function of a block's number that reads it.
row_sources <- list(
  list(is = is.function, once = TRUE, whole = function(x, argument) {
    abort_argument(
      argument,
      x,
      paste(
        "use the data themselves; only suff_gauss(), gauss_moments() and write_pcgpu_file() accept a function that",
        "returns rows."
      )
    )
  }),
  # Bioconductor's, also HDF5Array's.
  list(
    is = function(x) is_delayed(x),
    once = TRUE,
    package = "DelayedArray",
    name = "DelayedMatrix",
    bytes = function() DelayedArray::getAutoBlockSize(),
    chunk = function(x) DelayedArray::chunkdim(x),
    blocks = function(x, shape) {
      grid <- DelayedArray::RegularArrayGrid(dim(x), as.integer(shape))
      function(number) DelayedArray::read_block(x, grid[[number]])
    }
  ),
  list(
    is = function(x) isS4(x) && methods::is(x, "big.matrix"),
    once = TRUE,
    package = "bigmemory",
    name = "big.matrix",
    check = function(x, argument) {
      # In a restored session, the address is no longer valid.
      if (inherits(try(bigmemory::is.nil(x@address), silent = TRUE), "try-error") || bigmemory::is.nil(x@address)) {
        abort_argument(
          argument,
          x,
          "attach it again with bigmemory::attach.big.matrix().",
          is = "a big.matrix that no longer exists"
        )
      }
    },
    whole = function(x, argument) read_part(x, NULL, NULL)
  ),
  list(is = function(x) is_plink(x), once = TRUE),
  list(is = function(x) is_sparse(x), once = FALSE),
  list(is = function(x) is_file(x), once = FALSE)
)

# Bytes of a block of doubles.
block_bytes <- 1e8

is_delayed <- function(x) isS4(x) && methods::is(x, "DelayedMatrix")

is_sparse <- function(x) isS4(x) && methods::is(x, "sparseMatrix")

is_file <- function(x) inherits(x, "pcgpu_file")

# Returns the entry of these data, or NULL for an ordinary matrix, a data frame and other objects.
row_source <- function(x) Find(function(source) source$is(x), row_sources)

is_read_by_blocks <- function(x) isTRUE(row_source(x)$once)

# Reads data as an ordinary matrix, for code that needs all of it.
in_memory <- function(x, argument) {
  whole <- row_source(x)$whole
  if (is.null(whole)) as.matrix(x) else whole(x, argument)
}

# Checks that the data can be read, and that the package for that is installed.
check_reader <- function(x, argument) {
  source <- row_source(x)
  if (!is.null(source$package)) {
    need_package(
      source$package,
      sprintf("`%s` is a %s and needs the package %s", argument, source$name, source$package)
    )
  }
  if (!is.null(source$check)) source$check(x, argument)
}

# Returns the numbers of rows and columns of a block. whole: what a block has completely, "rows" (all columns of some
# rows), "columns", or "neither". Blocks have whole chunks of the storage if these are known and fit.
block_shape <- function(x, whole) {
  size <- as.double(dim(x))
  source <- row_source(x)
  bytes <- if (is.null(source$bytes)) block_bytes else source$bytes()
  chunk <- if (!is.null(source$chunk)) source$chunk(x)
  chunk <- pmin(as.double(chunk %||% c(1, 1)), size)
  fitting <- function(along, across) {
    count <- max(1, floor(bytes / (8 * across)))
    if (count > chunk[along]) {
      count <- count - count %% chunk[along]
    }
    min(count, size[along])
  }
  if (whole == "rows") {
    return(c(fitting(1L, size[2L]), size[2L]))
  }
  columns <- fitting(2L, size[1L])
  if (whole == "columns" || columns >= chunk[2L]) c(size[1L], columns) else c(fitting(1L, chunk[2L]), chunk[2L])
}

# Calls visit(block, row, column) for each block of a matrix, with the block as an ordinary matrix and its offsets.
# `bar` shows the proportion read. A function's blocks have all columns. logical: whether blocks may be logical
# matrices.
each_block <- function(x, whole, bar, visit, argument = "x", logical = FALSE) {
  if (is.function(x)) {
    return(each_block_of_function(x, visit, argument))
  }
  check_reader(x, argument)
  shape <- block_shape(x, whole)
  size <- dim(x)
  across <- ceiling(size / shape)
  offset <- function(number) c((number - 1) %% across[1L], (number - 1) %/% across[1L]) * shape
  blocks <- row_source(x)$blocks %||%
    function(x, shape) {
      function(number) {
        first <- offset(number)
        last <- pmin(first + shape, size)
        read_part(x, (first[1L] + 1):last[1L], (first[2L] + 1):last[2L])
      }
    }
  read <- blocks(x, shape)
  for (number in seq_len(prod(across))) {
    visit(plain_block(read(number), argument, logical), offset(number)[1L], offset(number)[2L])
    tell_share(bar, number / prod(across))
  }
}

# Returns some rows and columns, or all (NULL), as an ordinary matrix.
read_part <- function(x, rows, columns) {
  rows <- rows %||% seq_len(nrow(x))
  columns <- columns %||% seq_len(ncol(x))
  # The class's package has the methods of `[`, and is loaded.
  part <- if (length(rows) == nrow(x)) {
    x[, columns, drop = FALSE]
  } else if (length(columns) == ncol(x)) {
    x[rows, , drop = FALSE]
  } else {
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
    if (is.null(known)) {
      known <- list(p = ncol(block), names = colnames(block))
    }
    if (ncol(block) != known$p || !identical(colnames(block), known$names)) {
      abort_argument(
        argument,
        x,
        "each block must have the same columns in the same order.",
        has = sprintf(
          "returned a block with %s%s after one with %d",
          counted(ncol(block), "column"),
          if (ncol(block) == known$p) " and other names" else "",
          known$p
        )
      )
    }
    if (nrow(block) > 0L) {
      visit(block, row, 0)
    }
    row <- row + nrow(block)
  }
}

# Returns a block as a numeric matrix or data frame.
plain_block <- function(block, argument, logical = FALSE) {
  if (isS4(block) && methods::is(block, "Matrix")) {
    block <- as.matrix(block)
  }
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

# Reads the files of the command line.

check_input_file <- function(file) {
  if (!file.exists(file) || dir.exists(file)) {
    abort_argument(
      "FILE",
      file,
      "give the path of a file.",
      is = sprintf("%s, which is not there", dQuote(file, FALSE))
    )
  }
}

extension_of <- function(file) {
  name <- sub("[.](gz|bz2|xz)$", "", tolower(basename(file)))
  if (grepl(".", name, fixed = TRUE)) sub(".*[.]", "", name) else ""
}

# Reads data: a data frame or matrix with observations in rows, or an object that stands for a file.
read_input <- function(file, given) {
  if (file == "-") {
    input <- base::file("stdin")
    file <- tempfile("stdin", fileext = ".txt")
    on.exit(unlink(file))
    writeLines(readLines(input), file)
    close(input)
  }
  extension <- extension_of(file)
  check_input_file(file)
  arrow <- function(reader) {
    need_package("arrow", sprintf("%s needs the package arrow", dQuote(basename(file), FALSE)))
    as.data.frame(getExportedValue("arrow", reader)(file))
  }
  data <- switch(
    extension,
    csv = ,
    tsv = ,
    tab = ,
    txt = read_delimited(file, given),
    rds = readRDS(file),
    pcgpu = pcgpu_file(file),
    bed = plink_bed(file),
    parquet = arrow("read_parquet"),
    arrow = ,
    feather = arrow("read_feather"),
    h5ad = ,
    loom = read_cells(file, extension, given$layer),
    abort_argument(
      "FILE",
      file,
      "use .csv, .tsv, .txt (also .gz), .rds, .pcgpu, .bed, .parquet, .feather, .h5ad or .loom.",
      is = sprintf("%s, whose extension stands for no format that is read", dQuote(file, FALSE))
    )
  )
  if (is_data(data)) shape_input(data, given) else data
}

# Reads a table of text. scan() takes a twentieth of the time of read.table() for thousands of columns, but needs their
# types, here those of the first row. If a later row has another type, read.table() reads the file.
read_delimited <- function(file, given) {
  check_input_file(file)
  missing <- given[["na-strings"]] %||% c("NA", "")
  dec <- given$dec %||% "."
  first <- readLines(file, 2L, warn = FALSE)
  if (length(first) < 2L) {
    abort_argument("FILE", file, "give a table with a header.", is = paste(dQuote(file, FALSE), "(no rows)"))
  }
  sep <- given$sep %||% separator_in(first[1L])
  sep <- if (identical(sep, "\\t")) "\t" else sep
  scanned <- function(what, missing, ...) {
    scan(file, what, sep = sep, quote = "\"", dec = dec, na.strings = missing, quiet = TRUE, encoding = "UTF-8", ...)
  }
  table <- tryCatch(
    {
      header <- sub("^\ufeff", "", scanned("", character(), nlines = 1L))
      row <- scanned("", missing, nlines = 1L, skip = 1L)
      is_text <- !is.na(row) & is.na(suppressWarnings(as.numeric(sub(dec, ".", row, fixed = TRUE))))
      what <- lapply(is_text, function(text) if (text) "" else 0)
      columns <- scanned(what, missing, skip = 1L, multi.line = FALSE)
      columns[is_text] <- lapply(columns[is_text], utils::type.convert, na.strings = missing, as.is = TRUE, dec = dec)
      # Tables of R may have no name for their column of row names.
      names <- if (length(header) == length(row) - 1L) c("", header) else header
      stopifnot(length(names) == length(columns))
      structure(columns, names = names, row.names = .set_row_names(length(columns[[1L]])), class = "data.frame")
    },
    error = function(e) NULL
  )
  table %||%
    tryCatch(
      utils::read.table(
        file,
        header = TRUE,
        sep = sep,
        dec = dec,
        quote = "\"",
        na.strings = missing,
        check.names = FALSE,
        comment.char = "",
        encoding = "UTF-8"
      ),
      error = function(e) {
        abort_argument(
          "FILE",
          file,
          "check `--sep` and the rows of the table.",
          is = sprintf("%s, which cannot be read (%s)", dQuote(file, FALSE), conditionMessage(e))
        )
      }
    )
}

separator_in <- function(line) {
  marks <- c("\t", ";", ",")
  counts <- vapply(marks, function(mark) lengths(regmatches(line, gregexpr(mark, line, fixed = TRUE))), 0L)
  if (max(counts) > 0L) marks[which.max(counts)] else ""
}

# Returns cells in rows and genes in columns, as a DelayedMatrix that reads blocks of the file.
read_cells <- function(file, extension, layer) {
  need_package("HDF5Array", sprintf("%s needs the package HDF5Array", dQuote(basename(file), FALSE)))
  if (extension == "h5ad") {
    return(DelayedArray::t(HDF5Array::H5ADMatrix(file, layer = layer)))
  }
  data <- HDF5Array::HDF5Array(file, if (is.null(layer)) "matrix" else paste0("layers/", layer))
  names_in <- function(names) {
    tryCatch(as.vector(HDF5Array::HDF5Array(file, names)), error = function(e) NULL)
  }
  dimnames(data) <- list(names_in("col_attrs/CellID"), names_in("row_attrs/Gene"))
  data
}

meant_column <- function(name, names) {
  closest <- closest_name(name, names)
  if (is.null(closest)) "use names of columns." else sprintf("did you mean %s?", dQuote(closest, FALSE))
}

# Turns, names and chooses rows and columns as the options say.
shape_input <- function(data, given) {
  if (!any(c("columns", "drop", "levels", "row-names", "genes-in-rows") %in% names(given)) && !is.data.frame(data)) {
    return(data)
  }
  if (is_assay(data)) {
    data <- read_table(data, "FILE", FALSE)
  }
  if (is.data.frame(data)) {
    data <- with_row_names(data, given)
  }
  known <- colnames(data)
  if (isTRUE(given[["genes-in-rows"]])) {
    data <- turned(data[, setdiff(colnames(data), given$drop), drop = FALSE])
    known <- c(known, colnames(data))
  }
  for (option in intersect(c("columns", "drop", "levels"), names(given))) {
    unknown <- setdiff(given[[option]], if (option == "drop") known else colnames(data))
    if (length(unknown)) {
      has <- paste("names that the data do not have,", enumerate(dQuote(unknown, FALSE)))
      abort_argument(paste0("--", option), unknown, meant_column(unknown[1L], known), has = has)
    }
  }
  if (length(c(given$columns, given$drop))) {
    kept <- setdiff(given$columns %||% colnames(data), given$drop)
    data <- data[, kept, drop = FALSE]
  }
  if (length(given$levels)) {
    data <- if (is.data.frame(data)) data else as.data.frame(as.matrix(data))
    levels <- intersect(given$levels, names(data))
    data[levels] <- lapply(data[levels], exact_factor)
  }
  data
}

# Makes row names of the column that --row-names names. Otherwise of the first column, if it has no name or is text that
# differs in every row, and not dates or badly written numbers.
with_row_names <- function(data, given) {
  name <- given[["row-names"]]
  if (!is.null(name) && !name %in% names(data)) {
    abort_argument("--row-names", name, meant_column(name, names(data)))
  }
  first <- if (length(data)) data[[1L]]
  is_name <- is.character(first) &&
    !names(data)[1L] %in% c(given$columns, given$levels) &&
    !is_written_dates(first) &&
    meaning_of_text(first) != "numbers"
  at <- if (!is.null(name)) {
    match(name, names(data))
  } else if (is_name || identical(names(data)[1L], "")) {
    1L
  }
  if (is.null(at)) {
    return(data)
  }
  twice <- unique(data[[at]][duplicated(data[[at]])])
  if (anyNA(data[[at]]) || length(twice)) {
    if (is.null(name) && !isTRUE(given[["genes-in-rows"]])) {
      return(data)
    }
    abort_argument(
      if (is.null(name)) "--genes-in-rows" else "--row-names",
      name,
      "give each row its own name, for instance by the mean of rows with the same one.",
      has = if (length(twice)) {
        sprintf("several rows with the same name: %s", enumerate(dQuote(twice, FALSE)))
      } else {
        "rows without a name"
      }
    )
  }
  # data[-at] would change names that occur twice.
  structure(unclass(data)[-at], names = names(data)[-at], row.names = as.character(data[[at]]), class = "data.frame")
}

turned <- function(data) {
  if (is.data.frame(data)) {
    text <- !vapply(data, is_number_column, NA)
    if (any(text)) {
      abort_argument(
        "--genes-in-rows",
        TRUE,
        "name the column of names by --row-names, and leave others out by --drop.",
        has = paste("columns that are not numbers,", enumerate(dQuote(names(data)[text], FALSE)))
      )
    }
  }
  if (is_delayed(data)) DelayedArray::t(data) else t(as.matrix(data))
}

#' Genotypes in PLINK's binary files
#'
#' Opens a `.bed` file of PLINK 1 with its tables of samples (`.fam`) and markers (`.bim`) in the same folder. The
#' genotypes are not loaded: [pcSelect()], [local_pc()] and [markov_blanket()] map the file into memory and read its two bits a
#' genotype. Other functions, such as [suff_gauss()], read one block at a time. `[` and `as.matrix()` return ordinary
#' matrices of a part or all of it.
#'
#' A genotype is the number of copies of the first allele of the `.bim` file (`A1`): 0, 1 or 2, or `NA`. These are calls:
#' the format holds no dosages and no probabilities.
#'
#' The three functions above leave a missing genotype out of the sums for its pairs only (pairwise), and use the number
#' of all samples in their tests. With many missing values these tests are too liberal.
#'
#' The object contains the path and the names, and you can save it. Do not change or truncate the file while a process
#' uses it: as with any mapped file, this can end the process.
#'
#' @param file The path of the `.bed` file, with or without its ending. The `.bim` and `.fam` files have the same path
#'   with their endings.
#' @param variables Variables to put before the markers, such as phenotypes and covariates: a numeric matrix or data
#'   frame with a row for each sample, in the order of the `.fam` file, and with column names. If it has row names that
#'   are names of samples, they must be in this order. Values may be missing.
#' @param x A `pcgpu_plink`.
#' @param i,j Rows and columns, as for a matrix; columns also by name.
#' @param drop As for a matrix.
#' @param ... Must be empty.
#' @return An object of class `pcgpu_plink`, which has `dim()`, `dimnames()` (the samples, and the `variables` and
#'   markers), `[`, `as.matrix()` and `print()`. Its matrices hold integers, or doubles if there are `variables`.
#'
#'   A file that cannot be used is an error of class `pcgpu_error_file`, see [pcgpu-package]; other errors have the class
#'   `pcgpu_error_argument`.
#' @references
#' C. C. Chang, C. C. Chow, L. C. A. M. Tellier, S. Vattikuti, S. M. Purcell and J. J. Lee (2015). Second-generation
#' PLINK: rising to the challenge of larger and richer datasets. *GigaScience* 4, 7.
#' @seealso [pcSelect()], [local_pc()]; [pcgpu_file()] for other numbers.
#' @examples
#' path <- system.file("extdata", "genotypes.bed", package = "pcgpu")
#' x <- plink_bed(path)
#' x
#' x[1:3, 1:5]
#' @export
plink_bed <- function(file, variables = NULL, ...) {
  if (!is.null(taught <- taught_call(of = "plink_bed"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(list(file = missing(file)), list(file = "give the path of a .bed file."))
  check_path(file, "file")
  base <- sub("\\.bed$", "", path.expand(enc2utf8(file)))
  files <- paste0(base, c(".bed", ".fam", ".bim"))
  found <- check_rust(rust_bed_open(files[1L], files[2L], files[3L]))
  if (found$n < 1 || found$p < 1) {
    abort_argument(
      "file",
      file,
      "it must have at least one of each.",
      has = sprintf("%.0f samples and %.0f markers", found$n, found$p)
    )
  }
  x <- structure(c(list(path = normalizePath(files[1L])), found, list(variables = NULL)), class = "pcgpu_plink")
  x["variables"] <- list(if (!is.null(variables)) check_variables_of(variables, x))
  x
}

is_plink <- function(x) inherits(x, "pcgpu_plink")

# Returns the variables before the markers as a matrix of doubles.
check_variables_of <- function(variables, x) {
  variables <- check_table(read_data(variables, "variables"), "variables")
  names <- rownames(if (is.data.frame(variables) && is.integer(attr(variables, "row.names"))) NULL else variables)
  variables <- as.matrix(variables)
  storage.mode(variables) <- "double"
  if (nrow(variables) != x$n) {
    abort_argument(
      "variables",
      variables,
      sprintf("it needs a row for each of the %.0f samples of the .fam file.", x$n),
      has = counted(nrow(variables), "row")
    )
  }
  if (!is.null(names) && all(names %in% x$samples) && any(names != x$samples)) {
    abort_argument(
      "variables",
      variables,
      "put them in the order of the .fam file, by match().",
      has = sprintf(
        "the samples in another order (%s in row %d)",
        dQuote(names[names != x$samples][1L], FALSE),
        which(names != x$samples)[1L]
      )
    )
  }
  own <- colnames(variables)
  if (is.null(own) || anyNA(own) || !all(nzchar(own)) || anyDuplicated(own)) {
    abort_argument(
      "variables",
      variables,
      "give each column a name of its own.",
      has = "columns without a name of their own"
    )
  }
  infinite <- colSums(is.infinite(variables)) > 0
  if (any(infinite)) {
    abort_argument(
      "variables",
      variables,
      "drop these columns, or set the values to NA.",
      has = paste("infinite values in", column_names(variables, infinite))
    )
  }
  dimnames(variables) <- list(NULL, own)
  variables
}

#' @exportS3Method dim pcgpu_plink
dim.pcgpu_plink <- function(x) {
  check_object(x)
  as.integer(c(.subset2(x, "n"), length(colnames(.subset2(x, "variables"))) + .subset2(x, "p")))
}

#' @exportS3Method dimnames pcgpu_plink
dimnames.pcgpu_plink <- function(x) {
  list(.subset2(x, "samples"), c(colnames(.subset2(x, "variables")), .subset2(x, "markers")))
}

#' @rdname plink_bed
#' @exportS3Method "[" pcgpu_plink
`[.pcgpu_plink` <- function(x, i, j, ..., drop = TRUE) {
  check_object(x)
  if (nargs() - (if (missing(drop)) 0L else 1L) < 3L) {
    abort_argument("i", NULL, "index rows and columns, as in x[i, j].", is = "given without `j`")
  }
  check_dots(list(...), character(), "[.pcgpu_plink")
  rows <- if (missing(i)) seq_len(nrow(x)) else numbered(i, stats::setNames(seq_len(nrow(x)), rownames(x)), "i")
  all <- seq_len(ncol(x))
  columns <- if (missing(j)) all else unname(numbered(j, stats::setNames(all, colnames(x)), "j"))
  variables <- .subset2(x, "variables")
  others <- length(colnames(variables))
  is_marker <- columns > others
  part <- check_rust(rust_bed_read(unclass(x)[c("path", "n", "p")], rows, columns[is_marker] - others))
  if (!all(is_marker)) {
    genotypes <- part
    part <- matrix(NA_real_, length(rows), length(columns))
    part[, is_marker] <- genotypes
    part[, !is_marker] <- variables[rows, columns[!is_marker]]
  }
  dimnames(part) <- list(rownames(x)[rows], colnames(x)[columns])
  if (drop) drop(part) else part
}

#' @exportS3Method as.matrix pcgpu_plink
as.matrix.pcgpu_plink <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcgpu_plink")
  x[,, drop = FALSE]
}

#' @exportS3Method print pcgpu_plink
print.pcgpu_plink <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_plink")
  check_object(x)
  others <- if (!is.null(x$variables)) paste(" and", counted(ncol(x$variables), "other variable"))
  bytes <- format(structure(ceiling(x$n / 4) * x$p, class = "object_size"), units = "auto", standard = "SI")
  say_lines(sprintf("%s of %s%s (%s)", counted(x$n, "sample"), counted(x$p, "marker"), others %||% "", bytes))
  cat(sprintf("in the file %s\n", x$path))
  invisible(x)
}

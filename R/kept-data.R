# The result of suff_gauss(keep = "data"): a list of `data`, an n x p matrix of centred columns or a file of it, and `n`. `x$C` computes the
# correlations at its first use and keeps them in the environment `made`, which copies of the object share.

new_kept <- function(data, n) {
  structure(list(data = data, n = n, made = new.env(parent = emptyenv())), class = "pcgpu_gauss_data")
}

is_kept <- function(suffStat) inherits(suffStat, "pcgpu_gauss_data")

# Returns the correlations of some or all variables. Those of all variables equal suff_gauss(device = "cpu")$C to the last bit.
correlations_of_kept <- function(x, columns = NULL, progress = FALSE, bar = progress_reporter(progress)) {
  check_object(x)
  on.exit(bar$close())
  data <- check_kept_data(x$data)
  if (!is.null(columns)) data <- data[, columns, drop = FALSE]
  correlate(data, "all", "centred", new_device("cpu"), resolve_threads(), bar = bar)$C
}

check_kept_data <- function(data, p = NCOL(data)) {
  in_file <- is_file(data) && data$content == "centred"
  if (!in_file && (!is.matrix(data) || !is.double(data) || is.object(data) || nrow(data) < 1L)) {
    abort_argument("suffStat$data", data, "make the sufficient statistic again with suff_gauss(keep = \"data\").")
  }
  if (ncol(data) != p) {
    abort_argument("suffStat$data", data, "use the data of exactly these variables.", needs = column_for_each(p, ncol(data)))
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
  if (is.null(made$C)) made$C <- correlations_of_kept(x, progress = NULL)
  made$C
}

#' @exportS3Method "$" pcgpu_gauss_data
`$.pcgpu_gauss_data` <- function(x, name) x[[name]]

# Replaces n. Other parts must stay, because correlations may have been computed from the data.
#' @exportS3Method "[[<-" pcgpu_gauss_data
`[[<-.pcgpu_gauss_data` <- function(x, i, value) {
  if (!identical(i, "n")) {
    abort_argument("suffStat", x, "make it again with suff_gauss(), or use list(C = , n = ).",
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
  for (at in seq_along(i)) x[[i[[at]]]] <- value[[at]]
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
    "Gaussian data: %s observations of %s variables, centred (%s)", in_words(x$n), in_words(ncol(x$data)),
    format(structure(8 * prod(dim(x$data)), class = "object_size"), units = "auto", standard = "SI")
  ))
  if (is_file(x$data)) cat(sprintf("in the file %s\n", x$data$path))
  say_lines("pc() computes the correlations on its device; $C computes them here.")
  invisible(x)
}

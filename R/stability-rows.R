#' Rows in a sample of resampled searches
#'
#' Returns the rows that one of the samples of [stability()] or [cstar()] has drawn. The search on these rows,
#' with the same arguments, returns the graph that was counted.
#'
#' @param x A result of [stability()] or [cstar()].
#' @param replicate Number of the sample.
#' @return Numbers of rows, in ascending order. A row that was drawn more than once is repeated.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [stability()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(300), 100, 3, dimnames = list(NULL, c("a", "b", "c")))
#' found <- stability(x, gaussCItest, alpha = 0.05, replicates = 10, numCores = 2)
#' table(stability_rows(found, 1))
#' @export
stability_rows <- function(x, replicate) {
  check_given(
    list(x = missing(x), replicate = missing(replicate)),
    list(x = "give a result of stability().", replicate = "give the number of a sample.")
  )
  if (!inherits(x, c("pcgpu_stability", "pcgpu_pag_stability", "pcgpu_cstar"))) {
    abort_argument("x", x, "give a result of stability() or cstar().")
  }
  check_object(x)
  replicate <- check_whole(replicate, "replicate", 1, x$replicates)
  resampled <- list(seed = x$seed, size = x$size, replace = x$how == "bootstrap")
  check_rust(rust_ensemble_rows(x$n, resampled, replicate, 0L))
}

#' Rows in a sample of an ensemble
#'
#' Returns the rows from which one of the selections of `select_features(ensemble = )` was made. `setdiff(seq_len(n),
#' rows)` are the rows that it left out; models of the selected features can be tested on them.
#'
#' @param x A result of `select_features(ensemble = )`.
#' @param replicate Number of the sample.
#' @return Numbers of rows of the data, in ascending order. A row that was drawn more than once is repeated.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [selection_ensemble()].
#' @examples
#' set.seed(1)
#' x <- matrix(sample(0:2, 3000, TRUE), 100)
#' y <- x[, 1] > 1
#' selected <- select_features(x, y, 3, ensemble = 10, numCores = 2)
#' table(ensemble_rows(selected, 1))
#' @export
ensemble_rows <- function(x, replicate) {
  check_given(
    list(x = missing(x), replicate = missing(replicate)),
    list(x = "give a result of select_features(ensemble = ).", replicate = "give the number of a sample.")
  )
  check_object(x)
  if (!inherits(x, "pcgpu_selection") || is.null(x$ensemble)) {
    abort_argument(
      "x",
      x,
      "give a result of select_features(ensemble = ).",
      is = if (inherits(x, "pcgpu_selection")) "a selection without an ensemble" else describe(x)
    )
  }
  replicate <- check_whole(replicate, "replicate", 1, x$ensemble$replicates)
  rows <- check_rust(rust_ensemble_rows(x$observations, x$ensemble, replicate, x$ensemble$draw[replicate]))
  setdiff(seq_len(x$observations + length(x$left_out)), x$left_out)[rows]
}

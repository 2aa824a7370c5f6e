#' Rows in a sample of resampled searches
#'
#' Returns the rows that one of the samples of [stability()] or [cstar()] has drawn. [pc()] on these rows, with the same arguments, returns the graph that
#' was counted.
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
  check_given(list(x = missing(x), replicate = missing(replicate)), list(
    x = "give a result of stability().", replicate = "give the number of a sample."
  ))
  if (!inherits(x, c("pcgpu_stability", "pcgpu_cstar"))) {
    abort_argument("x", x, "give a result of stability() or cstar().")
  }
  check_object(x)
  replicate <- check_whole(replicate, "replicate", 1, x$replicates)
  resampled <- list(seed = x$seed, size = x$size, replace = x$how == "bootstrap")
  check_rust(rust_ensemble_rows(x$n, resampled, replicate, 0L))
}

#' Make a result one of pcalg's
#'
#' Results are of pcalg's class wherever pcalg is installed. Where it is not, they are of a class of this package with the
#' same name and slots, which pcalg does not know as its own when such a result is saved and read elsewhere. `as_pcalg()`
#' makes one of pcalg's from it.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()].
#' @return An object of pcalg's class `pcAlgo` with the slots of `x`. Without pcalg an error of class
#'   `pcgpu_error_no_pcalg`.
#' @examplesIf requireNamespace("pcalg", quietly = TRUE)
#' x <- matrix(rnorm(500), 100, 5)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2)
#' file <- tempfile(fileext = ".rds")
#' saveRDS(fit, file)
#' pcalg::getGraph(as_pcalg(readRDS(file)))
#' @export
as_pcalg <- function(x) {
  check_result(x)
  if (!requireNamespace("pcalg", quietly = TRUE)) {
    abort("no_pcalg", paste(
      "as_pcalg() makes an object of pcalg's class, and pcalg is not installed:",
      "install it by BiocManager::install(\"pcalg\")."
    ))
  }
  slots <- c(names(algo_slots), names(own_slots))
  values <- attributes(x)[slots]
  class <- methods::getClass("pcAlgo", where = asNamespace("pcalg"))
  # Quoted, or the call in the slot `call` would be run.
  result <- do.call(methods::new, c(list(class), values), quote = TRUE)
  attr(result, "pcgpu") <- attr(x, "pcgpu")
  result
}

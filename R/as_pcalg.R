#' Make a saved result one of this session's
#'
#' Results are of pcalg's class `pcAlgo` where pcalg is installed, and of a class of this package with the same name and slots where
#' it is not. A result that was made without pcalg is pcalg's wherever it is read with pcalg. One that was made with pcalg asks R for
#' pcalg: where that is not installed, `as_pcalg()` makes it printable again. Where pcalg is installed it makes a result
#' one of pcalg's, as `new()` would: needed where neither package is attached, as R finds the class of a result that was made without
#' pcalg by `library(pcgpu)` or `library(pcalg)`.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of pcalg's class or ours.
#' @return The result with the slots of `x`, of the class that this session has: pcalg's where pcalg is installed.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2)
#' file <- tempfile(fileext = ".rds")
#' saveRDS(fit, file)
#' as_pcalg(readRDS(file))
#' @export
as_pcalg <- function(x) {
  check_result(x)
  slots <- c(names(algo_slots), names(own_slots))
  values <- attributes(x)[slots]
  # Quoted, or the call in the slot `call` would be run.
  result <- do.call(methods::new, c(list(result_class()), values), quote = TRUE)
  if (has_pcalg()) result else without_package(result)
}

#' Convert a saved or compact result to pcalg's class
#'
#' If pcalg is installed, results have pcalg's class `pcAlgo` (`fciAlgo` for [fci()] and its relatives). Otherwise they have a class of this package with the
#' same name and slots. Saved results move between sessions as follows:
#' - A result made without pcalg becomes pcalg's when it is read in a session with pcalg.
#' - A result made with pcalg makes R look for pcalg. If pcalg is not installed, `as_pcalg()` makes the result printable again.
#' - If pcalg is installed, `as_pcalg()` converts a result to pcalg's class, as `new()` would. This is needed only if neither package is attached, because
#'   after `library(pcgpu)` or `library(pcalg)` R finds the class.
#'
#' A result of class [pcCompact][pcCompact-class] gets its p x p parts, which take 16 bytes for each cell. It does not hold the p-values of pairs that level 0
#' removed. With `suffStat`, level 0 is repeated to compute them. Without it they are `NA` in `pMax`, with a warning of class `pcgpu_warning_level0`.
#' `as(x, "pcAlgo")` is the same as `as_pcalg(x)`.
#'
#' @param x A result of [pc()], [skeleton()], [orient()], [fci()], [rfci()] or [fciPlus()], of pcalg's class or ours.
#' @param suffStat,indepTest As in [p_value()].
#' @return The result with the slots of `x`, of the class that this session uses: pcalg's if pcalg is installed.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_memory` if the p x p parts do not fit into memory.
#' @seealso [pc()], whose argument `result` selects the class; [pcCompact][pcCompact-class]; [as_igraph()] and [as_bn()] for other packages.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2)
#' file <- tempfile(fileext = ".rds")
#' saveRDS(fit, file)
#' as_pcalg(readRDS(file))
#' @export
as_pcalg <- function(x, suffStat = NULL, indepTest = NULL) {
  check_object(x)
  if (is_compact(x)) {
    return(pcalg_of_compact(x, suffStat, indepTest))
  }
  class <- if (is_fci(x)) "fciAlgo" else "pcAlgo"
  if (class == "pcAlgo") check_result(x)
  slots <- c(names(algo_slots), names(if (class == "pcAlgo") own_slots else fci_slots))
  values <- attributes(x)[slots]
  # Quoted, or the call in the slot `call` would be run.
  result <- do.call(methods::new, c(list(result_class(class)), values), quote = TRUE)
  if (has_pcalg()) result else without_package(result, class)
}

pcalg_of_compact <- function(x, suffStat, indepTest) {
  p <- length(x@labels)
  held <- length(x@edges$to) + length(x@gaps$to) + count_p(x@sets)
  if (is.null(suffStat)) {
    if (held < p * (p - 1) / 2) {
      warn("level0", paste(
        "the p-values of pairs that level 0 removed are not stored, so they are NA in `pMax`:",
        "as_pcalg(x, suffStat = ) computes them."
      ))
    }
    return(expanded(x))
  }
  level0 <- skeleton(suffStat, test_of(x, indepTest),
    alpha = x@alpha, labels = x@labels, method = x@method, m.max = 0, progress = FALSE, result = "pcAlgo"
  )
  expanded(x, level0@pMax)
}

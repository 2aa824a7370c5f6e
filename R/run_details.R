# What pcalg's class has no slot for goes into an attribute of the object: the slots stay pcalg's, and validObject(),
# saveRDS() and pcalg's functions leave it alone. Nothing in it depends on the number of threads or on the clock, so
# that two runs of one call are identical().
set_details <- function(x, device, exact_tests, memory) {
  attr(x, "pcgpu") <- c(
    list(device = device, exact_tests = exact_tests),
    # On the CPU nothing is planned.
    if (length(memory)) list(memory = memory),
    list(version = as.character(utils::packageVersion("pcgpu")))
  )
  x
}

#' How a result was computed
#'
#' The class `pcAlgo` is pcalg's and has no place for the device that a search ran on. It is kept beside the slots, and
#' read here.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()].
#' @return A list, or `NULL` for a result of pcalg:
#'   - `device`: where the search ran, `"cpu"` or `"cuda:0"` and so on;
#'   - `exact_tests`: how many tests lay so near to the threshold, or had so nearly singular a matrix, that the quick form
#'     of the test has not all of their digits: pcalg's own formula decided them, or a bound of the error. Engines count
#'     pairs that are separated differently;
#'   - `memory`: on a GPU, what the search planned to use of the card's memory, in bytes by use; it never uses more. An error
#'     of class `pcgpu_error_device_out_of_memory` names these numbers where the card has less;
#'   - `version`: the version of this package.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' run_details(pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2))
#' @export
run_details <- function(x) {
  check_result(x)
  attr(x, "pcgpu")
}

#' The CPU and how much memory it may take
#'
#' `device = "cpu"` runs on the CPU; this function also limits the memory for correlations that a search computes from data. The answer is the
#' same, to the last bit.
#'
#' @details
#' A Gaussian search whose sufficient statistic holds data, see `keep` of [suff_gauss()], first computes the correlations of all variables: 8 bytes
#' for each cell of a p x p matrix, 80 GB for 100,000 variables, and as much again in single precision if level 1 is dense. If that exceeds
#' `memory`, it computes only the correlations it needs and then discards them: at level 0 some columns at a time; at level 1 those of some
#' rows with all variables, or of one row's pairs with its neighbours; at later levels those of each row among its neighbours. Some are
#' computed several times, which is the price of less memory: a limit does not make a search faster, so allow what there is.
#'
#' `memory` counts correlations, in both precisions, those of all threads together. It does not count the data, the result with the graph and the
#' p-values, the lists of a level's pairs, and working memory of the threads: some 5 MB each for making correlations, and up to some 50 MB for deciding rows
#' of hundreds of neighbours. The least that is accepted is two columns of correlations, 16 p bytes. From level 2 on it has to hold
#' the correlations of the row with the most neighbours, 8 (d + 1)^2 bytes of d neighbours; where it does not, the search ends before the level, in an error
#' of class `pcgpu_error_argument` that names the row and the bytes.
#'
#' Without `memory`, [skeleton()] and [pc()] of 8,192 variables or more first look at 64 of them (not with method `"original"`, a conservative or majority rule,
#' or, on a cluster, a method other than `"stable.fast"`). If it follows that little is left to compute after level 0, they also compute only the correlations they
#' need: of 50,000 variables with few edges that saves 20 GB, and the time to fill them. Any other search computes all correlations if there is memory for them, and
#' otherwise limits itself to half of the available memory.
#' `memory` has no effect if the correlations are given (`suffStat = list(C = , n = )`), or for
#' discrete tests, nearest-neighbour tests and R functions, which need only the data and the result.
#'
#' @param memory The largest amount of memory for correlations, in bytes or as text such as `"4 GB"`; `NULL` means what is available.
#' @return A list of class `pcgpu_device`, for the argument `device` of [pc()], [skeleton()], [orient()], [suff_gauss()] and [select_features()].
#' @seealso [cuda_device()] for GPUs; [run_details()], which says what was held.
#' @examples
#' x <- matrix(rnorm(20000), 100, 200)
#' suff <- suff_gauss(x, keep = "data")
#' fit <- pc(suff, gaussCItest, alpha = 0.01, p = 200, numCores = 2, device = cpu_device(memory = 1e5))
#' run_details(fit)$memory
#' @export
cpu_device <- function(memory = NULL) {
  memory <- check_memory(memory, unified = FALSE)
  new_device("cpu", options = if (is.null(memory)) list() else list(memory = memory))
}

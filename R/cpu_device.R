#' Run on the CPU with limited memory
#'
#' Selects the CPU, like `device = "cpu"`, and limits the memory for correlations that a search computes from data. The answer is the same, to the last
#' bit.
#'
#' @details
#' A Gaussian search whose sufficient statistic holds data (see `keep` of [suff_gauss()]) first computes the correlations of all variables. They take 8
#' bytes for each cell of a p x p matrix, 80 GB for 100,000 variables, and as much again in single precision if level 1 is dense. If that exceeds
#' `memory`, the search computes only the correlations that it needs and then discards them:
#' - at level 0, some columns at a time;
#' - at level 1, those of some rows with all variables, or of one row's pairs with its neighbours;
#' - at later levels, those of each row among its neighbours.
#'
#' Some correlations are then computed several times. A limit does not make a search faster, so allow all the memory that there is.
#'
#' `memory` counts correlations, in both precisions, of all threads together. It does not count:
#' - the data, the result with the graph and the p-values, and the lists of a level's pairs;
#' - the working memory of the threads: about 5 MB each to compute correlations, and up to about 50 MB to decide rows of hundreds of neighbours.
#'
#' The smallest value accepted is two columns of correlations, 16 p bytes. From level 2 on, `memory` must hold the correlations of the row with the most
#' neighbours: 8 (d + 1)^2 bytes for d neighbours. If it does not, the search ends before that level with an error of class `pcgpu_error_argument`
#' that names the row and the bytes.
#'
#' Without `memory`, [skeleton()] and [pc()] with 8,192 variables or more first look at 64 of them. (They do not with method `"original"`, with a
#' conservative or majority rule or, on a cluster, with a method other than `"stable.fast"`.) If little is left to compute after level 0, they also
#' compute only the correlations that they need. For 50,000 variables with few edges, that saves 20 GB, and the time to fill them. Any other search
#' computes all correlations if there is memory for them, and otherwise limits itself to half of the available memory.
#'
#' `memory` has no effect if the correlations are given (`suffStat = list(C = , n = )`). It has none for discrete tests, nearest-neighbour tests and R
#' functions either, which need only the data and the result.
#'
#' @param memory Largest amount of memory for correlations, in bytes or as text such as `"4 GB"`; `NULL` means what is available.
#' @return A list of class `pcgpu_device`, for the argument `device` of [pc()], [skeleton()], [orient()], [suff_gauss()] and [select_features()].
#' @seealso [cuda_device()] for GPUs; [run_details()], which shows the memory that was used.
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

#' Averaged graph of resampled searches
#'
#' Returns the graph of the edges whose strength reaches a threshold. Each edge has the mark that it has in most of the samples that contain it; see
#' [stability()].
#'
#' @param x A result of [stability()].
#' @param threshold,false_edges As in [stability()]; those of `x` by default.
#' @return A [graph::graphNEL-class] with the variables as nodes, like the slot `graph` of a result of [pc()]. [plot_cpdag()], [as_igraph()], `edges()` of
#'   the package graph and [causal_effects()] accept it. `averaged_cpdag(x)@graphData$valid` says whether it is a CPDAG (with background knowledge: whether
#'   it can be extended to a DAG without further v-structures). `as.data.frame()` returns a table of its edges with their strengths, as
#'   [edge_table()] of `x` does.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [stability()], [stability_bound()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(1000), 200, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(200)
#' found <- stability(x, gaussCItest, alpha = 0.05, replicates = 30, numCores = 2)
#' averaged_cpdag(found)
#' plot_cpdag(averaged_cpdag(found, threshold = 0.9))
#' @export
averaged_cpdag <- function(x, threshold = NULL, false_edges = NULL) {
  check_stability(x)
  if (!is.null(threshold) || !is.null(false_edges)) {
    x <- with_average(x, check_wanted(threshold, false_edges, list(halves = is_halves(x))))
  }
  listed <- averaged_lists(x)
  graph <- graph_from_edges(listed$labels, listed$edges, listed$weights, one = 1)
  graph@graphData$valid <- x$average$valid
  graph@graphData$shares <- averaged_edges(x)
  graph
}

check_stability <- function(x) {
  check_object(x)
  if (!inherits(x, "pcgpu_stability")) {
    abort_argument("x", x, "give a result of stability().")
  }
}

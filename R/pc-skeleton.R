#' Estimate the skeleton of a causal graph
#'
#' Runs the first half of the PC algorithm, which finds the pairs of variables that are joined by an edge, whatever its
#' direction. `skeleton()` takes the arguments of `pcalg::skeleton()` and returns the same answer.
#'
#' @inheritSection pc Differences from pcalg
#' @inheritSection pc Tests of conditional independence
#' @inheritParams pc
#' @param method As `skel.method` in [pc()].
#' @return An object of class `pcAlgo` or [pcCompact][pcCompact-class], as [pc()] returns it, with an undirected graph.
#' @inherit pc references
#' @seealso [orient()] to orient the edges; [pc()] to do both at once; [pc_control()] for checkpoints, clusters and
#'   background knowledge.
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(4000), 500, 8)
#' x[, 2] <- x[, 1] + rnorm(500)
#' x[, 3] <- x[, 2] + rnorm(500)
#' skel <- skeleton(suff_gauss(x), gaussCItest, alpha = 0.01, p = 8, numCores = 2)
#' skel
#' skel@n.edgetests
#' @export
skeleton <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  method = c("stable", "original", "stable.fast"),
  m.max = Inf,
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  numCores,
  verbose = FALSE,
  device = "auto",
  progress = NULL,
  ...,
  result = NULL,
  checkpoint = NULL,
  time_limit = NULL,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  na = NULL,
  correlation = NULL,
  weights = NULL,
  adjust = NULL,
  id = NULL,
  control = pc_control()
) {
  if (!is.null(taught <- taught_call())) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  control <- gather_control(control, list(...), "skeleton")
  given <- search_arguments(arguments_given(), control)
  request <- search_request(given, search_options(given, control, "method"), control, call, later = TRUE)
  run_search(request, orient = NULL, wants_compact(control$result, length(request$labels), parent.frame()))
}

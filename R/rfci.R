#' RFCI: a faster FCI
#'
#' Estimates a partial ancestral graph (PAG) without the possible-d-sep phase of [fci()]. Instead, it tests edges again before it orients an
#' unshielded triple as a collider, and when it finds a discriminating path (Colombo et al. 2012). The result has all edges of [fci()]'s result
#' and possibly more; the meaning of a mark is still correct. `rfci()` takes the arguments of `pcalg::rfci()` and returns the same answer.
#'
#' # Differences from pcalg
#'
#' The differences listed in [pc()] for tests, devices and messages also hold here, as does the section on background knowledge in [fci()].
#' - pcalg's search for discriminating paths drops the vertices between the ends, so it may test and "delete" a pair that has no edge. This function
#'   does the same. If such a deletion changes nothing, pcalg runs forever; this function skips that path. `paths = "all"` finds whole paths.
#' - `time_limit` limits the search for the skeleton; the tests after it are not counted.
#' - `fixedEdges` apply to the skeleton: the tests after it can remove such an edge, as in pcalg. An edge that is `required` stays.
#'
#' @inheritParams fci
#' @param m.max Largest size of a conditioning set of the skeleton; `Inf` for no limit.
#' @return An object of class `fciAlgo`, see [fci()], without possible-d-sep sets.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs with latent and selection variables. *Annals of Statistics* 40, 294-321.
#' @seealso [fci()], which explains PAGs; [fciPlus()].
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edge_table(rfci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
rfci <- function(suffStat, indepTest, alpha, labels, p,
                 skel.method = c("stable", "original", "stable.fast"),
                 fixedGaps = NULL, fixedEdges = NULL,
                 NAdelete = TRUE, m.max = Inf, rules = rep(TRUE, 10),
                 conservative = FALSE, maj.rule = FALSE,
                 numCores, verbose = FALSE, device = "auto", progress = NULL, paths = c("pcalg", "all"), ..., control = pc_control()) {
  call <- match.call()
  control <- gather_control(control, list(...), "rfci", fci_control)
  given <- search_arguments(arguments_given(), control, tell = TRUE)
  rule <- check_collider_rule(conservative, maj.rule, "Can only choose one of conservative or majority rule RFCI")
  asked <- c(list(algorithm = "rfci", rule = rule), check_marking(rules, TRUE, "0", NULL, paths, given$labels))
  run_fci(given, asked, control, call)
}

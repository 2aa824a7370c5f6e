#' RFCI: a quicker FCI
#'
#' Estimates a partial ancestral graph (PAG) without the possible-d-sep phase of [fci()]: before an unshielded triple is oriented as a collider, and where a discriminating path is
#' found, their edges are tested once more (Colombo et al. 2012). Its edges are a superset of those of [fci()], and what a mark says stays right. It takes the arguments of pcalg's `rfci()` and
#' gives its answer.
#'
#' # Differences from pcalg
#'
#' What [pc()] says of tests, devices and messages holds here, and what [fci()] says of background knowledge. pcalg's search for discriminating paths drops the vertices between the ends, so
#' that it may test, and "delete", a pair that is no edge; so does this function. Where such a deletion changes nothing, pcalg never ends; this function then leaves the path alone. `paths = "all"` finds whole paths.
#' `time_limit` bounds the search for the skeleton; the tests after it are not counted.
#' `fixedEdges` are for the skeleton: the tests after it can take such an edge away, as in pcalg. An edge that is `required` stays.
#'
#' @inheritParams fci
#' @param m.max Largest size of a conditioning set of the skeleton; `Inf` for no limit.
#' @return An object of class `fciAlgo`, see [fci()]; there are no possible-d-sep sets.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs with latent and selection variables. *Annals of Statistics* 40, 294-321.
#' @seealso [fci()], which says what a PAG is; [fciPlus()]
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edges(rfci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
rfci <- function(suffStat, indepTest, alpha, labels, p,
                 skel.method = c("stable", "original", "stable.fast"),
                 fixedGaps = NULL, fixedEdges = NULL,
                 NAdelete = TRUE, m.max = Inf, rules = rep(TRUE, 10),
                 conservative = FALSE, maj.rule = FALSE,
                 numCores, verbose = FALSE, device = "auto", progress = NULL, paths = c("pcalg", "all"), ..., control = pc_control()) {
  call <- match.call()
  control <- gather_control(control, list(...), "rfci", fci_control)
  fill_in_from_data(environment(), control$na, missing(suffStat), missing(indepTest), missing(labels) && missing(p))
  labels <- check_labels(labels, p, !missing(labels), !missing(p), tell = TRUE)
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  rule <- check_collider_rule(conservative, maj.rule, "Can only choose one of conservative or majority rule RFCI")
  asked <- c(list(algorithm = "rfci", rule = rule), check_marking(rules, TRUE, "0", NULL, paths, labels))
  run_fci(environment(), labels, asked, control, if (!missing(numCores)) numCores, call)
}

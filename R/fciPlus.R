#' FCI+: FCI whose tests do not grow exponentially
#'
#' Estimates a partial ancestral graph (PAG) as [fci()] does, without the possible-d-sep phase: edges that may have to go are known by a pattern of arrowheads, and tested given hierarchies of the separating sets that
#' were found (Claassen et al. 2013). On sparse graphs the number of its tests is polynomial in the number of variables. It takes the arguments of pcalg's `fciPlus()` and gives its answer: independence
#' is p > `alpha` here, and smallest sets are found at 0.01, whatever `alpha` is.
#'
#' # Differences from pcalg
#'
#' It prints nothing unless `verbose` says so; what [pc()] says of tests, devices and messages holds here, and what [fci()] says of background knowledge. The slots `sepset`, `pMax` and the counts are empty, as
#' in pcalg. `time_limit` bounds the search for the skeleton; the tests after it are not counted.
#'
#' @inheritParams fci
#' @return An object of class `fciAlgo`, see [fci()], of which the slots `amat` and `call` are filled.
#' @references
#' T. Claassen, J. M. Mooij and T. Heskes (2013). Learning sparse causal models is not NP-hard. *Proceedings of the Twenty-Ninth Conference on Uncertainty in Artificial Intelligence*, 172-181.
#' @seealso [fci()], which says what a PAG is; [rfci()]
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edges(fciPlus(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
fciPlus <- function(suffStat, indepTest, alpha, labels, p, verbose = FALSE, selectionBias = TRUE,
                    jci = c("0", "1", "12", "123"), contextVars = NULL,
                    numCores, device = "auto", progress = NULL, paths = c("pcalg", "all"), ..., control = pc_control()) {
  call <- match.call()
  control <- gather_control(control, list(...), "fciPlus", fci_control)
  fill_in_from_data(environment(), control$na, missing(suffStat), missing(indepTest), missing(labels) && missing(p))
  labels <- check_labels(labels, p, !missing(labels), !missing(p), tell = TRUE)
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  # pcalg's skeleton has defaults alone.
  skel.method <- "stable"
  fixedGaps <- fixedEdges <- NULL
  NAdelete <- TRUE
  m.max <- Inf
  marking <- check_marking(rep(TRUE, 10), selectionBias, jci, contextVars, paths, labels)
  asked <- c(list(algorithm = "fciPlus", rule = "standard"), marking)
  run_fci(environment(), labels, asked, control, if (!missing(numCores)) numCores, call)
}

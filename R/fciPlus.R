#' FCI+: FCI without exponential growth of the number of tests
#'
#' Estimates a partial ancestral graph (PAG) like [fci()], but without the possible-d-sep phase. A pattern of arrowheads identifies the edges that
#' may have to be removed. These are tested given hierarchies of the separating sets that were found (Claassen et al. 2013). On sparse graphs the
#' number of tests is polynomial in the number of variables. `fciPlus()` takes the arguments of `pcalg::fciPlus()` and returns the same answer. As
#' in pcalg, independence means p > `alpha` here, and smallest sets are found at level 0.01, whatever `alpha` is.
#'
#' # Differences from pcalg
#'
#' The differences listed in [pc()] for tests, devices and messages also hold here, as does the section on background knowledge in [fci()]. Nothing
#' is printed unless `verbose` is set. The slots `sepset`, `pMax` and the counts are empty, as in pcalg. `time_limit` limits the search for the
#' skeleton; the tests after it are not counted.
#'
#' @inheritParams fci
#' @return An object of class `fciAlgo`, see [fci()], in which only the slots `amat` and `call` are filled.
#' @references
#' T. Claassen, J. M. Mooij and T. Heskes (2013). Learning sparse causal models is not NP-hard. *Proceedings of the Twenty-Ninth Conference on Uncertainty in Artificial Intelligence*, 172-181.
#' @seealso [fci()], which explains PAGs; [rfci()].
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edge_table(fciPlus(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
fciPlus <- function(suffStat, indepTest, alpha, labels, p, verbose = FALSE, selectionBias = TRUE,
                    jci = c("0", "1", "12", "123"), contextVars = NULL,
                    numCores, device = "auto", progress = NULL, paths = c("pcalg", "all"), ..., control = pc_control()) {
  call <- match.call()
  control <- gather_control(control, list(...), "fciPlus", fci_control)
  given <- search_arguments(arguments_given(), control, tell = TRUE)
  # pcalg's fciPlus() runs skeleton() with its defaults.
  given <- c(given, list(skel.method = "stable", NAdelete = TRUE, m.max = Inf))
  marking <- check_marking(rep(TRUE, 10), selectionBias, jci, contextVars, paths, given$labels)
  asked <- c(list(algorithm = "fciPlus", rule = "standard"), marking)
  run_fci(given, asked, control, call)
}

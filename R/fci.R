#' FCI: estimate the PAG of a causal graph with hidden variables
#'
#' Estimates a partial ancestral graph (PAG) from observational data, where common causes of the variables may not have been measured, and samples
#' may have been selected: pcalg's `fci()`, with its arguments and its answer, hundreds of times sooner. A PAG says of each edge what all causal
#' graphs have in common that agree with the data: see *What a PAG says*.
#'
#' The search has three parts. The skeleton is that of [pc()]. The possible-d-sep phase tests each of its edges given subsets of the variables that may separate its ends although they
#' are no neighbours of them (Spirtes et al. 2000; Colombo et al. 2012). At last marks are put on what is left, by the rules R1 to R10 of Zhang (2008).
#'
#' # What a PAG says
#'
#' - `a --> b`: a is a cause of b (an ancestor), directly or by way of others.
#' - `a <-> b`: neither is a cause of the other; they have a hidden common cause.
#' - `a o-> b`: b is no cause of a; a may be a cause of b, or both have a hidden common cause, or both.
#' - `a o-o b`: nothing is known of the direction.
#' - `a --- b`, `a o-- b`: with `selectionBias = TRUE` alone: selection of the samples joins them.
#' - No edge: some set of variables separates the two, see [sepset()].
#'
#' [pc()] assumes that all common causes are measured. Where one is not, its arrows can be wrong: see the example.
#'
#' # The same as in pcalg
#'
#' Marks, separating sets, counts, maximal p-values and possible-d-sep sets are those of pcalg 2.7-12, with all that is odd in them: `max.ordPDSEP` is the size of the last
#' edge's sets, and `n.edgetestsPDSEP` ends there; paths for R5, R9 and R10 are looked for with one list of visited variables, so that some are missed. `paths = "all"` applies the
#' rules as they were published. `run_details(fit)$phase$tests` has the number of tests of the possible-d-sep phase at each size.
#'
#' # Differences from pcalg
#'
#' What [pc()] says of tests, devices and messages holds here, too. pcalg's `biCC = TRUE` takes the labels for numbers, and tests next to nothing where they are words; here components are those of the graph. `verbose` prints pcalg's lines but those
#' of its searches for paths (`minUncovPdPath: ...`). `contextVars` may be names. `jci` with `selectionBias = TRUE` is refused before any work, not after it. A message of class `pcgpu_message_pdsep` says before
#' the possible-d-sep phase how many tests it has at most, where these are more than ten million: with possible-d-sep sets of k variables an edge has some 2^k. `m.max` and
#' `pdsep.max` bound them, and `time_limit` ends the phase with what is done: the result is then that of smaller sets, with a warning of class `pcgpu_warning_time_limit`.
#' It bounds the skeleton and this phase; what follows them (`conservative`, `maj.rule`, the rules) is not counted. An R function that is asked without `cluster` and `parallel_tests` takes the sizes of an
#' edge one after the other, as pcalg does, so that nothing of a phase that is ended is kept. `checkpoint` keeps the phase in a second
#' file beside the first, with `.pdsep` at the end of its name. Where a worker answers (all native tests; R functions with `cluster` or `parallel_tests`), pairs are decided in parallel, by
#' the smallest rank in pcalg's order, so that the answer is the same.
#'
#' Of background knowledge `tiers`, `forbidden` and `required` are taken (see [pc_control()]), for context variables `jci`. In a PAG they mean:
#' - `tiers`: a variable of a later tier is no ancestor of one of an earlier tier: the edge between them has an arrowhead at the later one. In the skeleton, sets for a pair that is seen from x have no member of a tier
#'   later than that of x; in the possible-d-sep phase no member of a tier later than those of both ends.
#' - `forbidden`: from a to b: a is no ancestor of b, so that their edge has an arrowhead at a. It is tested all the same, and forbidden both ways leaves a hidden common cause: `a <-> b`. Use `fixedGaps` for no edge.
#' - `required`: from a to b: the edge `a --> b`, which is not tested.
#'
#' Rules leave these marks alone; where they speak against them, a message of class `pcgpu_message_knowledge` says where. With `selectionBias = TRUE` an arrowhead also says that the variable has no
#' part in the selection, which knowledge of time does not: give `selectionBias = FALSE`, or know it.
#'
#' @inheritParams pc
#' @param type `"normal"`; `"anytime"` (Spirtes 2001), which wants `m.max`: the search ends at sets of that size; or `"adaptive"` (Colombo et al. 2012): sets of the possible-d-sep phase are
#'   no larger than the largest ones of the skeleton.
#' @param m.max Largest size of a conditioning set, in the skeleton and in the possible-d-sep phase; `Inf` for no limit.
#' @param pdsep.max Largest size of a possible-d-sep set: edges with larger ones are not tested again.
#' @param rules Ten of `TRUE` and `FALSE`: which of the rules R1 to R10 are applied. Colliders are oriented in any case.
#' @param doPdsep `FALSE`: no possible-d-sep phase.
#' @param biCC Are possible-d-sep sets cut to the biconnected component of an edge?
#' @param conservative,maj.rule Decide colliders by all separating sets among the neighbours, which must agree, or of which more than half decide? Not both.
#' @param selectionBias May samples be selected by some of the variables? `FALSE` leaves the rules R5 to R7 out.
#' @param jci,contextVars Joint causal inference (Mooij et al. 2020): the context variables, by number (as in pcalg) or by name, and what is assumed of them: `"0"` nothing; `"1"` no other variable causes a context
#'   variable; `"12"` nor has one a common cause with a context variable; `"123"` context variables have common causes, and none causes another. With `selectionBias = FALSE`.
#' @param verbose Print what pcalg prints? See [pc()].
#' @param paths Which paths the rules R4, R5, R9 and R10 find: `"pcalg"`, those of pcalg, or `"all"`.
#' @param control,... Arguments of [pc_control()], but for `result`, `context.all` and `context.tier`.
#' @return An object of class `fciAlgo`, pcalg's where that is installed: slots `amat`, a p x p matrix of marks (`amat[i, j]` is the mark at j of the edge i - j: 0 no edge, 1 circle, 2 arrowhead,
#'   3 tail), `sepset`, `pMax`, `n.edgetests`, `max.ord`, `allPdsep`, `n.edgetestsPDSEP`, `max.ordPDSEP`, `call`. [edges()][edges,pcCompact-method] gives its edges as a table, `plot()` draws it.
#'
#'   Errors are of class `pcgpu_error`, see [pcgpu-package].
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs with latent and selection variables. *Annals of Statistics* 40, 294-321.
#'
#' J. M. Mooij, S. Magliacane and T. Claassen (2020). Joint causal inference from multiple contexts. *Journal of Machine Learning Research* 21(99), 1-108.
#'
#' P. Spirtes, C. Glymour and R. Scheines (2000). *Causation, Prediction, and Search*, second edition. MIT Press.
#'
#' P. Spirtes (2001). An anytime algorithm for causal inference. *Proceedings of the Eighth International Workshop on Artificial Intelligence and Statistics*.
#'
#' J. Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias. *Artificial
#' Intelligence* 172, 1873-1896.
#' @seealso [rfci()] and [fciPlus()], which are faster; [pdsep()] and [udag2pag()], the parts; [pc()] where nothing is hidden.
#' @examples
#' # a <- h -> b, and h is hidden; u causes a, v causes b.
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' fit <- fci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2)
#' edges(fit) # a <-> b
#' # pc() has an arrow too many:
#' edges(pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
fci <- function(suffStat, indepTest, alpha, labels, p,
                skel.method = c("stable", "original", "stable.fast"),
                type = c("normal", "anytime", "adaptive"),
                fixedGaps = NULL, fixedEdges = NULL, NAdelete = TRUE,
                m.max = Inf, pdsep.max = Inf, rules = rep(TRUE, 10),
                doPdsep = TRUE, biCC = FALSE, conservative = FALSE,
                maj.rule = FALSE, numCores, selectionBias = TRUE,
                jci = c("0", "1", "12", "123"), contextVars = NULL,
                verbose = FALSE, device = "auto", progress = NULL, paths = c("pcalg", "all"), ..., control = pc_control()) {
  call <- match.call()
  control <- gather_control(control, list(...), "fci", fci_control)
  fill_in_from_data(environment(), control$na, missing(suffStat), missing(indepTest), missing(labels) && missing(p))
  labels <- check_labels(labels, p, !missing(labels), !missing(p), tell = TRUE)
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  m.max <- check_m_max(m.max)
  adaptive <- check_fci_type(type, m.max) == "adaptive"
  rule <- check_collider_rule(conservative, maj.rule, "Choose either conservative FCI or majority rule FCI")
  marking <- check_marking(rules, selectionBias, jci, contextVars, paths, labels)
  phase <- if (check_flag(doPdsep, "doPdsep")) {
    list(m_max = m.max, most = check_pdsep_max(pdsep.max), by_component = check_flag(biCC, "biCC"), adaptive = adaptive)
  }
  asked <- c(list(algorithm = "fci", rule = rule), list(phase = phase), marking)
  run_fci(environment(), labels, asked, control, if (!missing(numCores)) numCores, call)
}

check_fci_type <- function(type, m.max) {
  type <- check_choice(type, c("normal", "anytime", "adaptive"), "type")
  if (type == "anytime" && m.max == Inf) {
    abort_argument("m.max", m.max, "give the largest size of a conditioning set.", pcalg = "To use the Anytime FCI you must specify a finite 'm.max'.")
  }
  if (type == "adaptive" && m.max != Inf) {
    abort_argument("m.max", m.max, "leave it out.", pcalg = "To use the Adaptive Anytime FCI you must not specify 'm.max'.")
  }
  type
}

check_pdsep_max <- function(pdsep.max) {
  if (!is_number(pdsep.max)) {
    abort_argument("pdsep.max", pdsep.max, "give the largest size of a possible-d-sep set as one number, or Inf for no limit.")
  }
  as.double(pdsep.max)
}

#' FCI: estimate the PAG of a causal graph with hidden variables
#'
#' Estimates a partial ancestral graph (PAG) from observational data if common causes of the variables may be unmeasured
#' and samples may have been selected. `fci()` takes the arguments of `pcalg::fci()` and returns the same answer,
#' hundreds of times faster. Each edge of a PAG states what all causal graphs that agree with the data have in common:
#' see *What a PAG says*.
#'
#' The search has three parts:
#' 1. The skeleton is that of [pc()].
#' 2. The possible-d-sep phase tests each of its edges given subsets of variables that may separate the ends of the edge
#'   without being their neighbours (Spirtes et al. 2000; Colombo et al. 2012).
#' 3. The rules R1 to R10 of Zhang (2008) put marks on the remaining edges.
#'
#' # What a PAG says
#'
#' - `a --> b`: a is a cause of b (an ancestor), directly or through other variables.
#' - `a <-> b`: neither is a cause of the other; they have a hidden common cause.
#' - `a o-> b`: b is not a cause of a; a may be a cause of b, or the two may have a hidden common cause, or both.
#' - `a o-o b`: nothing is known about the direction.
#' - `a --- b`, `a o-- b`: selection of the samples joins them (only with `selectionBias = TRUE`).
#' - No edge: some set of variables separates the two, see [sepset()].
#'
#' [pc()] assumes that all common causes are measured. If one is not, its arrows can be wrong: see the example.
#'
#' # The same as in pcalg
#'
#' Marks, separating sets, counts, maximal p-values and possible-d-sep sets are those of pcalg 2.7-12, including its
#' oddities:
#' - `max.ordPDSEP` is the size of the last edge's sets, and `n.edgetestsPDSEP` ends there.
#'   `run_details(fit)$phase$tests` has the number of tests of the possible-d-sep phase at each size.
#' - The search for the paths of R5, R9 and R10 uses a single list of visited variables, so it misses some paths. `paths
#'   = "all"` applies the rules as they were published.
#'
#' # Differences from pcalg
#'
#' The differences listed in [pc()] for tests, devices and messages also hold here. In addition:
#' - With `biCC = TRUE`, pcalg treats the labels as numbers, and tests next to nothing if they are words. Here the
#'   components are those of the graph.
#' - `verbose` prints pcalg's lines except those of its searches for paths (`minUncovPdPath: ...`).
#' - With `fixedGaps` and the standard rule, colliders over pairs that were not tested are pcalg's, also with background
#'   knowledge. A message of class `pcgpu_message_untested` counts them. On 40 random DAGs of 12 variables with a third
#'   of the absent edges as gaps, 201 of 549 arrowheads were wrong. With `maj.rule = TRUE`, 30 of 333 were wrong, and 88
#'   of 415 without gaps.
#' - `contextVars` may be names. `jci` with `selectionBias = TRUE` is refused before any work, not after it.
#' - The possible-d-sep phase can take long: with possible-d-sep sets of k variables, an edge has about 2^k tests. A
#'   message of class `pcgpu_message_pdsep` states the largest possible number beforehand if the phase may need more
#'   than some tenths of a second. That is ten million tests of `gaussCItest()`, or fewer of slower tests. `m.max` and
#'   `pdsep.max` limit the number.
#' - `time_limit` stops the phase. The result is then that of smaller sets, with a warning of class
#'   `pcgpu_warning_time_limit`. The limit covers the skeleton and this phase; the steps that follow (`conservative`,
#'   `maj.rule`, the rules) are not counted. An R function that is called without `cluster` and `parallel_tests` tests
#'   all sizes for one edge before the next edge, as in pcalg. If the phase is stopped, nothing of it is then kept.
#' - `checkpoint` saves the phase in a file of its own, with `.pdsep` at the end of its name, and the tests after it in
#'   another, with `.later`.
#' - Native tests, and R functions with `cluster` or `parallel_tests`, decide pairs in parallel. The separating set of a
#'   pair is the first one in pcalg's order, so the answer is the same.
#'
#' The available kinds of background knowledge are `tiers`, `forbidden` and `required` (see [pc_control()]). For context
#' variables use `jci`. In a PAG they mean:
#' - `tiers`: a variable of a later tier is not an ancestor of one of an earlier tier, so the edge between them has an
#'   arrowhead at the later one. In the skeleton, the sets for a pair that is seen from x contain no variable of a tier
#'   later than that of x. In the possible-d-sep phase they contain no variable of a tier later than those of both ends.
#' - `forbidden`: from a to b: a is not an ancestor of b, so their edge has an arrowhead at a. The pair is still tested.
#'   If both directions are forbidden, the edge means a hidden common cause: `a <-> b`. To exclude the edge, use
#'   `fixedGaps`.
#' - `required`: from a to b: the edge `a --> b`, which is not tested.
#'
#' The rules do not change these marks. If a rule contradicts one, a message of class `pcgpu_message_knowledge` names
#' the place. With `selectionBias = TRUE` an arrowhead also states that the variable plays no part in the selection,
#' which does not follow from knowledge of time. Use `selectionBias = FALSE`, unless you know that this is true of these
#' variables.
#'
#' @inheritParams pc
#' @param type `"normal"`; `"anytime"` (Spirtes 2001): the search ends at sets of size `m.max`, which is required; or
#'   `"adaptive"` (Colombo et al. 2012): the sets of the possible-d-sep phase are no larger than the largest sets of the
#'   skeleton.
#' @param m.max Largest size of a conditioning set, in the skeleton and in the possible-d-sep phase; `Inf` for no limit.
#' @param pdsep.max Largest size of a possible-d-sep set: edges with larger ones are not tested again.
#' @param rules A logical vector of length ten: which of the rules R1 to R10 are applied. Colliders are oriented in any
#'   case.
#' @param doPdsep Run the possible-d-sep phase?
#' @param biCC Restrict possible-d-sep sets to the biconnected component of an edge?
#' @param conservative,maj.rule Decide colliders by all separating sets among the neighbours? With `conservative` all
#'   must agree, with `maj.rule` more than half of them decide. Not both.
#' @param selectionBias Could some of the variables have influenced which samples were selected? `FALSE` omits the rules
#'   R5 to R7.
#' @param jci,contextVars Joint causal inference (Mooij et al. 2020), only with `selectionBias = FALSE`. `contextVars`
#'   are the context variables, by number (as in pcalg) or by name. `jci` states what is assumed about them:
#'   - `"0"`: nothing;
#'   - `"1"`: no other variable causes a context variable;
#'   - `"12"`: in addition, no other variable has a common cause with a context variable;
#'   - `"123"`: in addition, context variables have common causes, and none causes another.
#' @param verbose Print what pcalg prints? See [pc()].
#' @param paths Which paths the rules R4, R5, R9 and R10 find: `"pcalg"`, those that pcalg finds, or `"all"`.
#' @param checkpoint,time_limit,cluster,parallel_tests,tiers,forbidden,required,na,correlation,weights,adjust,id
#'   Arguments of [pc_control()]. `NULL` means that an argument is not given.
#' @return An object of class `fciAlgo` (pcalg's class if pcalg is installed). Its slot `amat` is a p x p matrix of
#'   marks: `amat[i, j]` is the mark at j of the edge i - j (0 no edge, 1 circle, 2 arrowhead, 3 tail). The other slots
#'   are `sepset`, `pMax`, `n.edgetests`, `max.ord`, `allPdsep`, `n.edgetestsPDSEP`, `max.ordPDSEP` and `call`.
#'   [edge_table()] returns its edges as a table, and `plot()` draws it.
#'
#'   Errors are of class `pcgpu_error`, see [pcgpu-package].
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs
#' with latent and selection variables. *Annals of Statistics* 40, 294-321.
#'
#' J. M. Mooij, S. Magliacane and T. Claassen (2020). Joint causal inference from multiple contexts. *Journal of Machine
#' Learning Research* 21(99), 1-108.
#'
#' P. Spirtes, C. Glymour and R. Scheines (2000). *Causation, Prediction, and Search*, second edition. MIT Press.
#'
#' P. Spirtes (2001). An anytime algorithm for causal inference. *Proceedings of the Eighth International Workshop on
#' Artificial Intelligence and Statistics*.
#'
#' J. Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders
#' and selection bias. *Artificial Intelligence* 172, 1873-1896.
#' @seealso [rfci()] and [fciPlus()], which are faster; [pdsep()] and [udag2pag()] for parts of the algorithm; [pc()] if
#'   nothing is hidden.
#' @examples
#' # a <- h -> b, and h is hidden; u causes a, v causes b.
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' fit <- fci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2)
#' edge_table(fit) # a <-> b
#' # pc() has an arrow too many:
#' edge_table(pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
fci <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  skel.method = c("stable", "original", "stable.fast"),
  type = c("normal", "anytime", "adaptive"),
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  pdsep.max = Inf,
  rules = rep(TRUE, 10),
  doPdsep = TRUE,
  biCC = FALSE,
  conservative = FALSE,
  maj.rule = FALSE,
  numCores,
  selectionBias = TRUE,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL,
  verbose = FALSE,
  device = "auto",
  progress = NULL,
  paths = c("pcalg", "all"),
  ...,
  checkpoint = NULL,
  time_limit = NULL,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
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
  control <- gather_control(control, list(...), "fci", fci_control)
  given <- search_arguments(arguments_given(), control, tell = TRUE)
  m.max <- check_m_max(m.max)
  adaptive <- check_fci_type(type, m.max) == "adaptive"
  rule <- check_collider_rule(conservative, maj.rule, "Choose either conservative FCI or majority rule FCI")
  marking <- check_marking(rules, selectionBias, jci, contextVars, paths, given$labels)
  phase <- if (check_flag(doPdsep, "doPdsep")) {
    list(m_max = m.max, most = check_pdsep_max(pdsep.max), by_component = check_flag(biCC, "biCC"), adaptive = adaptive)
  }
  asked <- c(list(algorithm = "fci", rule = rule), list(phase = phase), marking)
  run_fci(given, asked, control, call)
}

check_fci_type <- function(type, m.max) {
  type <- check_choice(type, c("normal", "anytime", "adaptive"), "type")
  if (type == "anytime" && m.max == Inf) {
    abort_argument(
      "m.max",
      m.max,
      "give the largest size of a conditioning set.",
      pcalg = "To use the Anytime FCI you must specify a finite 'm.max'."
    )
  }
  if (type == "adaptive" && m.max != Inf) {
    abort_argument(
      "m.max",
      m.max,
      "leave it out.",
      pcalg = "To use the Adaptive Anytime FCI you must not specify 'm.max'."
    )
  }
  type
}

check_pdsep_max <- function(pdsep.max) {
  check_number(
    pdsep.max,
    "pdsep.max",
    "give the largest size of a possible-d-sep set as one number, or Inf for no limit."
  )
}

#' RFCI: a faster FCI
#'
#' Estimates a partial ancestral graph (PAG) without the possible-d-sep phase of [fci()]. Instead, it tests edges again
#' before it orients an unshielded triple as a collider, and when it finds a discriminating path (Colombo et al. 2012).
#' The result has all edges of [fci()]'s result and possibly more; the meaning of a mark is still correct. `rfci()`
#' takes the arguments of `pcalg::rfci()` and returns the same answer.
#'
#' # Differences from pcalg
#'
#' The differences listed in [pc()] for tests, devices and messages also hold here, as does the section on background
#' knowledge in [fci()].
#' - pcalg's search for discriminating paths drops the vertices between the ends, so it may test and "delete" a pair
#'   that has no edge. This function does the same. If such a deletion changes nothing, pcalg runs forever; this
#'   function skips that path. `paths = "all"` finds whole paths.
#' - `time_limit` limits the search for the skeleton; the tests after it are not counted.
#' - `fixedEdges` apply to the skeleton: the tests after it can remove such an edge, as in pcalg. An edge that is
#'   `required` stays.
#'
#' @inheritParams fci
#' @param m.max Largest size of a conditioning set of the skeleton; `Inf` for no limit.
#' @return An object of class `fciAlgo`, see [fci()], without possible-d-sep sets.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs
#' with latent and selection variables. *Annals of Statistics* 40, 294-321.
#' @seealso [fci()], which explains PAGs; [fciPlus()].
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edge_table(rfci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
rfci <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  skel.method = c("stable", "original", "stable.fast"),
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  rules = rep(TRUE, 10),
  conservative = FALSE,
  maj.rule = FALSE,
  numCores,
  verbose = FALSE,
  device = "auto",
  progress = NULL,
  paths = c("pcalg", "all"),
  ...,
  checkpoint = NULL,
  time_limit = NULL,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
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
  control <- gather_control(control, list(...), "rfci", fci_control)
  given <- search_arguments(arguments_given(), control, tell = TRUE)
  rule <- check_collider_rule(conservative, maj.rule, "Can only choose one of conservative or majority rule RFCI")
  asked <- c(list(algorithm = "rfci", rule = rule), check_marking(rules, TRUE, "0", NULL, paths, given$labels))
  run_fci(given, asked, control, call)
}

#' FCI+: FCI without exponential growth of the number of tests
#'
#' Estimates a partial ancestral graph (PAG) like [fci()], but without the possible-d-sep phase. A pattern of arrowheads
#' identifies the edges that may have to be removed. These are tested given hierarchies of the separating sets that were
#' found (Claassen et al. 2013). On sparse graphs the number of tests is polynomial in the number of variables.
#' `fciPlus()` takes the arguments of `pcalg::fciPlus()` and returns the same answer. As in pcalg, independence means
#' p > `alpha` here, and smallest sets are found at level 0.01, whatever `alpha` is.
#'
#' # Differences from pcalg
#'
#' The differences listed in [pc()] for tests, devices and messages also hold here, as does the section on background
#' knowledge in [fci()]. Nothing is printed unless `verbose` is set. The slots `sepset`, `pMax` and the counts are
#' empty, as in pcalg. `time_limit` limits the search for the skeleton; the tests after it are not counted.
#'
#' @inheritParams fci
#' @return An object of class `fciAlgo`, see [fci()], in which only the slots `amat` and `call` are filled.
#' @references
#' T. Claassen, J. M. Mooij and T. Heskes (2013). Learning sparse causal models is not NP-hard. *Proceedings of the
#' Twenty-Ninth Conference on Uncertainty in Artificial Intelligence*, 172-181.
#' @seealso [fci()], which explains PAGs; [rfci()].
#' @examples
#' set.seed(1)
#' h <- rnorm(2000)
#' x <- data.frame(u = rnorm(2000), v = rnorm(2000))
#' x$a <- x$u + h + rnorm(2000)
#' x$b <- x$v + h + rnorm(2000)
#' edge_table(fciPlus(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2))
#' @export
fciPlus <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  verbose = FALSE,
  selectionBias = TRUE,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL,
  numCores,
  device = "auto",
  progress = NULL,
  paths = c("pcalg", "all"),
  ...,
  checkpoint = NULL,
  time_limit = NULL,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
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
  control <- gather_control(control, list(...), "fciPlus", fci_control)
  given <- search_arguments(arguments_given(), control, tell = TRUE)
  # pcalg's fciPlus() runs skeleton() with its defaults.
  given <- c(given, list(skel.method = "stable", NAdelete = TRUE, m.max = Inf))
  marking <- check_marking(rep(TRUE, 10), selectionBias, jci, contextVars, paths, given$labels)
  asked <- c(list(algorithm = "fciPlus", rule = "standard"), marking)
  run_fci(given, asked, control, call)
}

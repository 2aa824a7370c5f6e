#' The possible-d-sep phase of FCI
#'
#' Tests the edges of a skeleton given subsets of possible-d-sep sets, as the second part of [fci()] does. `pdsep()` takes the arguments of
#' `pcalg::pdsep()` and returns the same answer.
#'
#' @inheritParams fci
#' @param skel The skeleton: the result of [skeleton()], or a graph such as its slot `graph`.
#' @param p Number of variables; can be left out.
#' @param sepset pcalg's list of lists of separating sets, the slot `sepset` of a skeleton.
#' @param pMax The largest p-values so far: a p x p matrix, the slot `pMax` of a skeleton.
#' @param m.max Largest size of a conditioning set.
#' @param unfVect Triples that may or may not be colliders, as pcalg's `triple2numb()` numbers them, or `NULL`.
#' @return A list:
#'   - `G`: the remaining edges, a logical p x p matrix;
#'   - `sepset`, `pMax`: as given, updated;
#'   - `allPdsep`: a list with the possible-d-sep set of each variable (and the other end of its last edge);
#'   - `max.ord`: the size of the last edge's sets;
#'   - `n.edgetests`: the number of tests at each size from 0 to `max.ord`.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs with latent and selection variables. *Annals of Statistics* 40, 294-321.
#' @seealso [fci()], [udag2pag()].
#' @examples
#' set.seed(2)
#' x <- matrix(rnorm(2000), 400, 5)
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(400)
#' stat <- suff_gauss(x)
#' skel <- skeleton(stat, gaussCItest, alpha = 0.01, p = 5, numCores = 2)
#' found <- pdsep(
#'   skel@graph, stat, gaussCItest,
#'   p = 5, sepset = skel@sepset, alpha = 0.01, pMax = skel@pMax
#' )
#' found$G
#' @export
pdsep <- function(skel, suffStat, indepTest, p, sepset, alpha, pMax, m.max = Inf, pdsep.max = Inf, NAdelete = TRUE, unfVect = NULL,
                  biCC = FALSE, fixedEdges = NULL, verbose = FALSE, numCores, device = "auto", progress = NULL) {
  check_given(list(skel = missing(skel)), list(skel = "give the graph of a skeleton."))
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  check_given(list(sepset = missing(sepset), pMax = missing(pMax)), list(
    sepset = "give the slot `sepset` of the skeleton.", pMax = "give the slot `pMax` of the skeleton."
  ))
  listed <- about("skel", edges_of(skel))
  labels <- listed$labels
  if (!missing(p) && check_p(p) != length(labels)) abort_argument("p", p, "leave it out.", is = sprintf("%s, but `skel` has %s", describe(p), counted(length(labels), "variable")))
  check_square(pMax, length(labels), "pMax")
  check_sides(pMax, "pMax")
  check_against(colnames(pMax) %||% rownames(pMax), labels, "pMax", "skel", tell = FALSE)
  if (!is.list(sepset)) abort_argument("sepset", sepset, "give the slot `sepset` of the skeleton.")
  options <- check_search("stable", alpha, NULL, fixedEdges, NAdelete, m.max, labels, suffStat)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  verbose <- check_verbose(verbose)
  device <- check_device(device)
  test <- ci_test(indepTest, suffStat, labels, options$alpha, threads)
  on <- place_of_search(list(test = test, options = options, device = device, threads = threads))
  bar <- progress_reporter(progress, fci_level_text(session))
  on.exit(bar$close())
  storage.mode(pMax) <- "double"
  asked <- list(most = check_pdsep_max(pdsep.max), by_component = check_flag(biCC, "biCC"), unclear = triples_of(unfVect, length(labels)))
  if (verbose > 0L && any(lengths(listed$edges))) cat("\nCompute collider:\n")
  found <- on(function(engine) {
    prints <- if (verbose > 0L) list(test = test_printer("stable"), say = cat)
    session$fci_phase <- TRUE
    rust_pdsep(test, options, list(edges = listed$edges, sepset = sepset, pMax = pMax), asked, engine, c(list(progress = bar$report, phase = phase_teller(test$kind)), prints))
  })
  bar$close()
  found <- about("sepset", check_rust(found), "skel@sepset")
  tell_lost(found$lost)
  G <- matrix(FALSE, length(labels), length(labels), dimnames = list(labels, labels))
  for (x in seq_along(labels)) G[x, found$edges[[x]]] <- TRUE
  sets <- possible_sets(found$all_pdsep, length(labels))
  list(G = G, sepset = found$sepset, pMax = found$pMax, allPdsep = sets, max.ord = found$max_ord_pdsep, n.edgetests = found$n_edgetests_pdsep)
}

check_square <- function(x, p, argument) {
  if (!is.matrix(x) || !is.numeric(x) || !identical(dim(x), c(p, p))) {
    abort_argument(argument, x, sprintf("give a numeric %d x %d matrix.", p, p))
  }
}

# Converts pcalg's numbers of triples, k + p (j + p i), to numbers of variables, three for each triple.
triples_of <- function(unfVect, p) {
  wrong <- function() abort_argument("unfVect", unfVect, "give triple numbers from pcalg's triple2numb(), or NULL.")
  if (!is.null(unfVect) && !is.numeric(unfVect) && !all(is.na(unfVect))) wrong()
  numbers <- as.double(unfVect)
  numbers <- numbers[!is.na(numbers)]
  k <- (numbers - 1) %% p
  rest <- (numbers - 1 - k) / p
  j <- (rest - 1) %% p
  i <- (rest - 1 - j) / p - 1
  if (any(numbers != trunc(numbers)) || any(i < 0 | i >= p)) wrong()
  as.integer(rbind(i, j, k) + 1)
}

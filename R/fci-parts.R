#' The possible-d-sep phase of FCI
#'
#' Tests the edges of a skeleton given subsets of possible-d-sep sets, as the second part of [fci()] does. `pdsep()`
#' takes the arguments of `pcalg::pdsep()` and returns the same answer.
#'
#' @inheritParams fci
#' @param skel The skeleton: the result of [skeleton()], or a graph such as its slot `graph`.
#' @param p Number of variables; can be left out.
#' @param sepset pcalg's list of lists of separating sets, the slot `sepset` of a skeleton.
#' @param pMax The largest p-values so far: a p x p matrix, the slot `pMax` of a skeleton.
#' @param m.max Largest size of a conditioning set.
#' @param unfVect Triples that may or may not be colliders, as pcalg's `triple2numb()` numbers them, or `NULL`.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return A list:
#'   - `G`: the remaining edges, a logical p x p matrix;
#'   - `sepset`, `pMax`: as given, updated;
#'   - `allPdsep`: a list with the possible-d-sep set of each variable (and the other end of its last edge);
#'   - `max.ord`: the size of the last edge's sets;
#'   - `n.edgetests`: the number of tests at each size from 0 to `max.ord`.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs
#' with latent and selection variables. *Annals of Statistics* 40, 294-321.
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
pdsep <- function(
  skel,
  suffStat,
  indepTest,
  p,
  sepset,
  alpha,
  pMax,
  m.max = Inf,
  pdsep.max = Inf,
  NAdelete = TRUE,
  unfVect = NULL,
  biCC = FALSE,
  fixedEdges = NULL,
  verbose = FALSE,
  numCores,
  device = "auto",
  progress = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "pdsep"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(list(skel = missing(skel)), list(skel = "give the graph of a skeleton."))
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  check_given(
    list(sepset = missing(sepset), pMax = missing(pMax)),
    list(sepset = "give the slot `sepset` of the skeleton.", pMax = "give the slot `pMax` of the skeleton.")
  )
  listed <- about("skel", edges_of(skel))
  labels <- listed$labels
  if (!missing(p) && check_p(p) != length(labels)) {
    abort_argument(
      "p",
      p,
      "leave it out.",
      is = sprintf("%s, but `skel` has %s", describe(p), counted(length(labels), "variable"))
    )
  }
  check_square(pMax, length(labels), "pMax")
  check_sides(pMax, "pMax")
  check_against(colnames(pMax) %||% rownames(pMax), labels, "pMax", "skel", tell = FALSE)
  if (!is.list(sepset)) {
    abort_argument("sepset", sepset, "give the slot `sepset` of the skeleton.")
  }
  options <- check_search("stable", alpha, NULL, fixedEdges, NAdelete, m.max, labels, suffStat)
  request <- search_request(c(arguments_given(), list(labels = labels)), options, pc_control(), call = NULL)
  test <- request$test
  on <- place_of_search(request)
  bar <- progress_reporter(progress, fci_level_text(session))
  on.exit(bar$close())
  storage.mode(pMax) <- "double"
  asked <- list(
    most = check_pdsep_max(pdsep.max),
    by_component = check_flag(biCC, "biCC"),
    unclear = triples_of(unfVect, length(labels))
  )
  if (request$verbose > 0L && any(lengths(listed$edges))) {
    cat("\nCompute collider:\n")
  }
  found <- on(function(engine) {
    prints <- if (request$verbose > 0L) list(test = test_printer("stable"), say = cat)
    session$fci_phase <- TRUE
    rust_pdsep(
      test,
      options,
      list(edges = listed$edges, sepset = sepset, pMax = pMax),
      asked,
      engine,
      c(list(progress = bar$report, phase = phase_teller(test$kind)), prints)
    )
  })
  bar$close()
  found <- about("sepset", check_rust(found), "skel@sepset")
  tell_lost(found$lost)
  G <- matrix(FALSE, length(labels), length(labels), dimnames = list(labels, labels))
  for (x in seq_along(labels)) {
    G[x, found$edges[[x]]] <- TRUE
  }
  sets <- possible_sets(found$all_pdsep, length(labels))
  list(
    G = G,
    sepset = found$sepset,
    pMax = found$pMax,
    allPdsep = sets,
    max.ord = found$max_ord_pdsep,
    n.edgetests = found$n_edgetests_pdsep
  )
}

check_square <- function(x, p, argument) {
  if (!is.matrix(x) || !is.numeric(x) || !identical(dim(x), c(p, p))) {
    abort_argument(argument, x, sprintf("give a numeric %d x %d matrix.", p, p))
  }
}

# Converts pcalg's numbers of triples, k + p (j + p i), to numbers of variables, three for each triple.
triples_of <- function(unfVect, p) {
  wrong <- function() abort_argument("unfVect", unfVect, "give triple numbers from pcalg's triple2numb(), or NULL.")
  if (!is.null(unfVect) && !is.numeric(unfVect) && !all(is.na(unfVect))) {
    wrong()
  }
  numbers <- as.double(unfVect)
  numbers <- numbers[!is.na(numbers)]
  k <- (numbers - 1) %% p
  rest <- (numbers - 1 - k) / p
  j <- (rest - 1) %% p
  i <- (rest - 1 - j) / p - 1
  if (any(numbers != trunc(numbers)) || any(i < 0 | i >= p)) {
    wrong()
  }
  as.integer(rbind(i, j, k) + 1)
}

#' From a skeleton to a PAG
#'
#' Puts marks on the edges of a skeleton based on its separating sets, as the last part of [fci()] does: first
#' colliders, then the rules R1 to R10 of Zhang (2008). `udag2pag()` takes the arguments of `pcalg::udag2pag()` and
#' returns the same answer.
#'
#' R1 to R4 are applied until none of them changes anything, then R5 to R7, then R8 to R10. Each rule lists its edges
#' before it makes its first change, but reads the current marks when it comes to an edge. If the data contradict
#' themselves, the answer therefore depends on the order of the variables, as in pcalg.
#'
#' @inheritParams fci
#' @param pag The skeleton, a symmetric p x p matrix of 0 and 1. Or a graph that already has marks: `pag[i, j]` is the
#'   mark at j (0 no edge, 1 circle, 2 arrowhead, 3 tail).
#' @param sepset pcalg's list of lists of separating sets.
#' @param unfVect Triples that may or may not be colliders, as pcalg's `triple2numb()` numbers them, or `NULL`.
#' @param orientCollider Orient colliders first?
#' @return The matrix with the new marks.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders
#' and selection bias. *Artificial Intelligence* 172, 1873-1896.
#' @seealso [fci()], [pdsep()].
#' @examples
#' # a - b - c with nothing in the set that separates a and c: a o-> b <-o c.
#' skeleton <- matrix(c(0, 1, 0, 1, 0, 1, 0, 1, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
#' sets <- list(list(NULL, NULL, integer(0)), list(NULL, NULL, NULL), list(NULL, NULL, NULL))
#' udag2pag(skeleton, sets)
#' @export
udag2pag <- function(
  pag,
  sepset,
  rules = rep(TRUE, 10),
  unfVect = NULL,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL,
  verbose = FALSE,
  orientCollider = TRUE,
  paths = c("pcalg", "all")
) {
  check_given(
    list(pag = missing(pag), sepset = missing(sepset)),
    list(
      pag = "give the skeleton as a matrix, as(skel@graph, \"matrix\").",
      sepset = "give the slot `sepset` of the skeleton."
    )
  )
  if (is_fci(pag)) {
    abort_argument("pag", pag, "give its matrix of marks, as(x, \"matrix\").")
  }
  if (
    !is.matrix(pag) || nrow(pag) != ncol(pag) || nrow(pag) == 0L || !(is.numeric(pag) || is.logical(pag)) || anyNA(pag)
  ) {
    abort_argument(
      "pag",
      pag,
      paste(
        "give a square matrix of marks (0 no edge, 1 circle, 2 arrowhead, 3 tail), such as as(skel@graph, \"matrix\")",
        "for a skeleton."
      )
    )
  }
  check_sides(pag, "pag")
  if (!is.list(sepset)) {
    abort_argument("sepset", sepset, "give pcalg's list of lists of separating sets, the slot `sepset` of a skeleton.")
  }
  p <- nrow(pag)
  asked <- check_marking(
    rules,
    FALSE,
    jci,
    contextVars,
    paths,
    colnames(pag) %||% rownames(pag) %||% as.character(seq_len(p))
  )
  asked$rules <- rules
  if (asked$jci != "0" && any(rules[5:7])) {
    warn("rules", "FCI orientation rules 5-7 should be disabled if JCI functionality is used.")
  }
  asked <- c(asked, list(colliders = check_flag(orientCollider, "orientCollider"), unclear = triples_of(unfVect, p)))
  verbose <- check_verbose(verbose)
  if (is.logical(pag) || is.integer(pag)) {
    storage.mode(pag) <- "double"
  }
  # As in pcalg, the sets of a graph without edges are not checked.
  if (all(pag == 0)) {
    return(pag)
  }
  known <- pag
  engine <- engine_list(new_device("cpu"), resolve_threads(NULL))
  found <- about(
    "sepset",
    check_rust(rust_orient_pag(known, p, sepset, asked, engine, if (verbose > 0L) list(say = cat) else list())),
    "skel@sepset"
  )
  pag[] <- found$amat
  pag
}

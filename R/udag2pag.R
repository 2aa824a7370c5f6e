#' From a skeleton to a PAG
#'
#' Puts marks on the edges of a skeleton based on its separating sets, as the last part of [fci()] does: first colliders, then the rules R1 to R10
#' of Zhang (2008). `udag2pag()` takes the arguments of `pcalg::udag2pag()` and returns the same answer.
#'
#' R1 to R4 are applied until none of them changes anything, then R5 to R7, then R8 to R10. Each rule lists its edges before it makes its first
#' change, but reads the current marks when it comes to an edge. If the data contradict themselves, the answer therefore depends on the order of
#' the variables, as in pcalg.
#'
#' @inheritParams fci
#' @param pag The skeleton, a symmetric p x p matrix of 0 and 1. Or a graph that already has marks: `pag[i, j]` is the mark at j (0 no edge, 1 circle,
#'   2 arrowhead, 3 tail).
#' @param sepset pcalg's list of lists of separating sets.
#' @param unfVect Triples that may or may not be colliders, as pcalg's `triple2numb()` numbers them, or `NULL`.
#' @param orientCollider Orient colliders first?
#' @return The matrix with the new marks.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders and selection bias. *Artificial
#' Intelligence* 172, 1873-1896.
#' @seealso [fci()], [pdsep()].
#' @examples
#' # a - b - c with nothing in the set that separates a and c: a o-> b <-o c.
#' skeleton <- matrix(c(0, 1, 0, 1, 0, 1, 0, 1, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
#' sets <- list(list(NULL, NULL, integer(0)), list(NULL, NULL, NULL), list(NULL, NULL, NULL))
#' udag2pag(skeleton, sets)
#' @export
udag2pag <- function(pag, sepset, rules = rep(TRUE, 10), unfVect = NULL, jci = c("0", "1", "12", "123"), contextVars = NULL,
                     verbose = FALSE, orientCollider = TRUE, paths = c("pcalg", "all")) {
  check_given(list(pag = missing(pag), sepset = missing(sepset)), list(
    pag = "give the skeleton as a matrix, as(skel@graph, \"matrix\").", sepset = "give the slot `sepset` of the skeleton."
  ))
  if (is_fci(pag)) abort_argument("pag", pag, "give its matrix of marks, as(x, \"matrix\").")
  if (!is.matrix(pag) || nrow(pag) != ncol(pag) || nrow(pag) == 0L || !(is.numeric(pag) || is.logical(pag)) || anyNA(pag)) {
    abort_argument("pag", pag, "give a square matrix of marks (0 no edge, 1 circle, 2 arrowhead, 3 tail), such as as(skel@graph, \"matrix\") for a skeleton.")
  }
  check_sides(pag, "pag")
  if (!is.list(sepset)) abort_argument("sepset", sepset, "give pcalg's list of lists of separating sets, the slot `sepset` of a skeleton.")
  p <- nrow(pag)
  asked <- check_marking(rules, FALSE, jci, contextVars, paths, colnames(pag) %||% rownames(pag) %||% as.character(seq_len(p)))
  asked$rules <- rules
  if (asked$jci != "0" && any(rules[5:7])) {
    warn("rules", "FCI orientation rules 5-7 should be disabled if JCI functionality is used.")
  }
  asked <- c(asked, list(colliders = check_flag(orientCollider, "orientCollider"), unclear = triples_of(unfVect, p)))
  verbose <- check_verbose(verbose)
  if (is.logical(pag) || is.integer(pag)) storage.mode(pag) <- "double"
  # As in pcalg, the sets of a graph without edges are not checked.
  if (all(pag == 0)) {
    return(pag)
  }
  known <- pag
  engine <- engine_list(new_device("cpu"), resolve_threads(NULL))
  found <- about("sepset", check_rust(rust_orient_pag(known, p, sepset, asked, engine, if (verbose > 0L) list(say = cat) else list())), "skel@sepset")
  pag[] <- found$amat
  pag
}

#' Error bound of stability selection
#'
#' Computes one of three numbers from the other two: the mean number of edges in a sample, the threshold, and the bound on the expected number of false edges
#' (Meinshausen and Buehlmann 2010, theorem 1):
#' \deqn{E[V] \le \frac{q^2}{(2 \cdot threshold - 1) P}.}{E[V] <= q^2 / ((2 threshold - 1) P).}
#' The bound holds for samples of half of the rows without replacement, as drawn by `stability(how = "subsample")`.
#'
#' @param q Mean number of edges in a sample.
#' @param pairs Number P of pairs of variables that are tested: p (p - 1) / 2 for p variables, less those that are fixed.
#' @param threshold Smallest strength of an edge that is kept, above one half and at most 1.
#' @param false_edges Bound on the expected number of false edges among those that are kept.
#' @return A list of `q`, `pairs`, `threshold` and `false_edges`, including the one that was left out.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B* 72(4), 417-473.
#' @seealso [stability()], [averaged_cpdag()].
#' @examples
#' # How many edges may samples of 100 variables have, if one false edge is expected?
#' stability_bound(pairs = 100 * 99 / 2, threshold = 0.9, false_edges = 1)$q
#' stability_bound(q = 40, pairs = 100 * 99 / 2, false_edges = 1)$threshold
#' @export
stability_bound <- function(q = NULL, pairs, threshold = NULL, false_edges = NULL) {
  check_given(list(pairs = missing(pairs)), list(pairs = "give the number of pairs of variables that are tested."))
  check_positive(pairs, "pairs", "the number of pairs of variables that are tested")
  absent <- c("q", "threshold", "false_edges")[c(is.null(q), is.null(threshold), is.null(false_edges))]
  if (length(absent) != 1L) {
    abort_argument(
      if (length(absent)) absent[1L] else "false_edges", if (length(absent)) NULL else false_edges,
      "give exactly two of `q`, `threshold` and `false_edges`; the third follows.",
      is = if (length(absent)) "missing, and so is another of the three" else "given together with the two others"
    )
  }
  if (!is.null(q) && (!is_number(q) || q < 0 || q > pairs)) {
    abort_argument("q", q, "give the mean number of edges in a sample, a number from 0 to `pairs`.")
  }
  if (!is.null(threshold) && (!is_number(threshold) || threshold <= 0.5 || threshold > 1)) {
    abort_argument("threshold", threshold, "give a number above 0.5 and at most 1; other thresholds have no bound.")
  }
  if (!is.null(false_edges)) check_positive(false_edges, "false_edges", "the bound on the expected number of false edges")
  switch(absent,
    q = q <- min(pairs, sqrt(false_edges * (2 * threshold - 1) * pairs)),
    false_edges = false_edges <- q^2 / ((2 * threshold - 1) * pairs),
    threshold = {
      threshold <- (q^2 / (false_edges * pairs) + 1) / 2
      if (threshold > 1) {
        abort_argument("false_edges", false_edges, "give a larger `false_edges` or a smaller `q`.",
          is = sprintf("%s, but with these `q` and `pairs` the bound is at least %s", describe(false_edges), format(q^2 / pairs, digits = 3L))
        )
      }
    }
  )
  list(q = q, pairs = pairs, threshold = threshold, false_edges = false_edges)
}

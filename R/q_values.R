#' False discovery rates of edges
#'
#' Adjusts the p-values of the edges of a result for the number of pairs. The q-value of an edge is the smallest false
#' discovery rate at which the edge is kept. `alpha` of [pc()] limits the error of each single test, which says little
#' about how many of thousands of edges are wrong.
#'
#' The p-value of a pair is that of [p_value()]: the largest of all its tests for an edge, and the one of the separating
#' set for a pair without an edge. An edge x - y is false if x and y are independent given one of the tested sets. The
#' largest p-value is valid for that hypothesis, whichever set it is (a union of hypotheses; Strobl, Spirtes and
#' Visweswaran 2019, Li and Wang 2009). The adjustment covers the p-values of all pairs that were tested. These are
#' p (p - 1) / 2 pairs, except those of `fixedGaps` and `fixedEdges` and those decided by background knowledge.
#'
#' - `"BH"` (Benjamini and Hochberg 1995) controls the false discovery rate of independent or positively dependent
#'   p-values. The p-values of a search come from the same data, but the rate is kept in simulations (Li and Wang 2009).
#' - `"BY"` (Benjamini and Yekutieli 2001) controls it under any dependence, and is about `log(p (p - 1) / 2)` times as
#'   strict.
#'
#' # What is controlled, and what is not
#'
#' The controlled rate is the expected share of edges that are not in the true graph, among edges with q up to a bound.
#' This requires that
#' 1. p-values are right;
#' 2. every pair that is not adjacent in the true graph is separated by one of the sets tested. Then no true edge near
#'   it was lost before (no error of the second kind), there are no hidden common causes, and `m.max` did not end the
#'   search.
#'
#' The rate says nothing about missed edges, and nothing about directions.
#'
#' A search removes an edge as soon as p is `alpha` or more. To keep a rate of 5 %, search with an `alpha` that leaves
#' more edges than needed, such as 0.05 to 0.2, and keep the edges with q up to 0.05. A smaller `alpha` loses edges that
#' would pass, and tests given too few neighbours may then leave wrong ones.
#'
#' A result of class [pcCompact][pcCompact-class] does not store the p-values of pairs that were removed at level 0.
#' These p-values are at least `alpha`, and count as 1 here. So q-values below `alpha` are still exact, and larger ones
#' are upper bounds.
#'
#' For [fci()] the tests of the possible-d-sep phase also count, and hidden common causes are allowed: an edge is not in
#' the true graph if some set of variables separates its ends. [rfci()] and [fciPlus()] do not store the p-values of
#' tests that they make after the skeleton, so their results are refused.
#'
#' For [pcSelect()], the tests are those of all columns with the response, and `zMin` gives their p-values. `to` is then
#' `"y"`. For [local_pc()], they are the pairs with at least one complete variable. The other edges have `NA`. The
#' search has chosen the complete variables other than the target, so the rate is that among the pairs of these
#' variables.
#'
#' @param fit A result of [pc()], [skeleton()] or [fci()], of either class, or of pcalg; or of [pcSelect()] or
#'   [local_pc()].
#' @param method `"BH"` or `"BY"`.
#' @return A data frame with one row for each edge, by increasing q: `from`, `to`, `kind` as in [edge_table()], `p` and
#'   `q`. Both are `NA` for edges that were not tested (`fixedEdges`). The attribute `tests` is the number of pairs that
#'   were tested.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate: a practical and powerful approach to
#' multiple testing. *JRSS B* 57, 289-300.
#'
#' Y. Benjamini and D. Yekutieli (2001). The control of the false discovery rate in multiple testing under dependency.
#' *Annals of Statistics* 29, 1165-1188.
#'
#' J. Li and Z. J. Wang (2009). Controlling the false discovery rate of the association/causality structure learned with
#' the PC algorithm. *JMLR* 10, 475-514.
#'
#' E. V. Strobl, P. L. Spirtes and S. Visweswaran (2019). Estimating and controlling the false discovery rate of the PC
#' algorithm using edge-specific p-values. *ACM Transactions on Intelligent Systems and Technology* 10(5), 46.
#' @seealso [p_value()], [markov_check()]
#' @examples
#' dag <- random_dag(20, neighbours = 2, seed = 1)
#' x <- random_data(dag, 300, seed = 1, numCores = 2)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.1, labels = colnames(x), numCores = 2)
#' found <- q_values(fit)
#' found
#' subset(found, q <= 0.05)
#' @export
q_values <- function(fit, method = c("BH", "BY")) {
  check_given(list(fit = missing(fit)), list(fit = "give a result of pc() or pcSelect()."))
  if (is_selected(fit)) {
    return(q_of_selected(fit, check_choice(method, c("BH", "BY"), "method")))
  }
  compact <- is_compact(fit)
  if (is_fci(fit)) {
    check_all_kept(fit)
  } else if (!compact) {
    check_result(fit, "fit")
  }
  method <- check_choice(method, c("BH", "BY"), "method")
  found <- named_edges(network_of(fit))
  # A negative p-value means that no test was made. A test without an answer counts as p = 1.
  p <- as.double(found$p)
  p[is.na(p)] <- 1
  tested <- p >= 0
  found$p[!tested] <- NA_real_
  local <- if (is_result(fit)) run_details(fit)$local
  known <- if (!is.null(local)) {
    # Pairs of variables that are not complete are not among the tests.
    far <- local$distance[found$from] > local$order & local$distance[found$to] > local$order
    tested <- tested & !far
    found$p[far] <- NA_real_
    tests_of_local(fit, local)
  } else if (compact) {
    tests_of_compact(fit)
  } else if (is_fci(fit)) {
    tests_of_pag(fit)
  } else {
    tests_of_matrix(attr(fit, "pMax"))
  }
  adjusted <- check_rust(rust_q_values(p[tested], known$p, known$variables, known$count, method == "BY"))
  found$q <- rep.int(NA_real_, nrow(found))
  found$q[tested] <- adjusted$q
  new_q_values(found, adjusted$count, method)
}

new_q_values <- function(found, tests, method) {
  found <- found[order(found$q, found$p), ]
  rownames(found) <- NULL
  structure(found, class = c("pcgpu_q_values", "data.frame"), tests = tests, method = method)
}

# Returns whether x is a result of pcSelect(), a list like pcalg's.
is_selected <- function(x) {
  is.list(x) &&
    !is.object(x) &&
    identical(names(x), c("G", "zMin")) &&
    is.logical(x$G) &&
    is.double(x$zMin) &&
    length(x$G) == length(x$zMin) &&
    !anyNA(x$G) &&
    !anyNA(x$zMin)
}

# Returns the q-values of a result of pcSelect(). The tests are those of all columns with the response, each with its
# largest p-value.
q_of_selected <- function(fit, method) {
  p <- 2 * stats::pnorm(fit$zMin, lower.tail = FALSE)
  adjusted <- check_rust(rust_q_values(p[fit$G], p, 0, as.double(length(p)), method == "BY"))
  from <- names(fit$G) %||% as.character(seq_along(fit$G))
  count <- sum(fit$G)
  found <- data.frame(from = from[fit$G], to = rep("y", count), kind = rep("---", count), p = p[fit$G], q = adjusted$q)
  new_q_values(found, adjusted$count, method)
}

# Refuses results that lack p-values. A result of pcalg without details does not record its algorithm; rfci() leaves
# `max.ord` set, so it passes as fci().
check_all_kept <- function(fit) {
  algorithm <- run_details(fit)$algorithm %||% if (length(attr(fit, "max.ord"))) "fci" else "fciPlus"
  if (algorithm != "fci") {
    abort_argument(
      "fit",
      fit,
      "give a result of fci().",
      is = sprintf("a result of %s(), which does not store the p-values of all its tests", algorithm)
    )
  }
}

# Returns the tests behind the p-values of a PAG. fci() raises the p-value of a pair only on the side that was tested.
tests_of_pag <- function(fit) {
  p <- attr(fit, "pMax")
  tests_of_matrix(pmax(p, t(p)))
}

# Returns the p-values of a p x p matrix, whose upper triangle counts.
tests_of_matrix <- function(pMax) {
  if (!is.double(pMax)) {
    storage.mode(pMax) <- "double"
  }
  list(p = pMax, variables = ncol(pMax), count = 0)
}

# Returns the p-values that a compact result holds, each pair once, and the number of tested pairs.
tests_of_compact <- function(x) {
  p <- length(x@labels)
  from <- row_numbers(x@sets)
  key <- pmin(from, x@sets$to) * as.double(p) + pmax(from, x@sets$to)
  set_p <- p_at(x@sets)
  set_p <- set_p[!is.na(set_p) & !duplicated(key)]
  values <- c(p_at(x@edges), set_p, p_at(x@gaps))
  list(p = values, variables = 0, count = p * (p - 1) / 2 - sum(values < 0, na.rm = TRUE))
}

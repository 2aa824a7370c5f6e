#' Add knowledge to a graph that has been oriented
#'
#' Directs edges of a CPDAG according to background knowledge, and all edges whose directions follow from it by Meek's
#' rules 1 to 4. The result is the graph that `pcalg::addBgKnowledge()` returns. If you can, give the knowledge to
#' [pc()] itself: it is then also used in the search.
#'
#' @param fit A result of [pc()] or [orient()] of either class, a [graph::graphNEL-class], or an adjacency matrix. The
#'   matrix is that of `as(graph, "matrix")`, or has pcalg's `"amat"` coding of a CPDAG.
#' @param tiers,forbidden,required,context.all,context.tier As in [pc_control()], but they only direct edges that exist.
#'   `tiers` and context variables direct the edges between tiers and out of the context. `forbidden` directs an edge
#'   the other way. An arrow of `required` needs an edge. Without any of these arguments only the rules are applied.
#' @param check Refuse a graph that has a cycle, or no extension to a DAG without further v-structures?
#' @return `fit` with its edges directed; a matrix is returned as a matrix in the same coding.
#'
#'   The call ends with an error of class `pcgpu_error_knowledge`
#'   - if the graph cannot have an arrow. The error names the arrow: one of `required` without an edge, or one whose
#'     edge already has the other direction, because of the graph itself or of earlier arrows.
#'     (`pcalg::addBgKnowledge()` returns `NULL`);
#'   - if the graph does not represent any DAG;
#'   - if Meek's rules direct one of its edges before anything is added.
#' @references
#' C. Meek (1995). Causal inference and causal explanation with background knowledge. *Proceedings of the Eleventh
#' Conference on Uncertainty in Artificial Intelligence*, 403-410.
#'
#' E. Perkovic, M. Kalisch and M. H. Maathuis (2017). Interpreting and using CPDAGs with background knowledge.
#' *Proceedings of the Thirty-Third Conference on Uncertainty in Artificial Intelligence*.
#' @seealso [pc()], whose `tiers`, `forbidden` and `required` are used in the search.
#' @examples
#' chain <- matrix(0, 3, 3, dimnames = list(c("a", "b", "c"), c("a", "b", "c")))
#' chain["a", "b"] <- chain["b", "a"] <- chain["b", "c"] <- chain["c", "b"] <- 1 # a - b - c
#' add_knowledge(chain, required = c("a", "b")) # a -> b -> c
#' @export
add_knowledge <- function(
  fit,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  check = TRUE
) {
  check_given(list(fit = missing(fit)), list(fit = "give a result of pc(), or another graph."))
  listed <- about("fit", edges_of(fit, "give `tiers`, `forbidden` and `required` to fci() itself"))
  labels <- listed$labels
  p <- length(labels)
  check <- check_flag(check, "check")
  knowledge <- check_knowledge(
    list(
      tiers = tiers,
      forbidden = forbidden,
      required = required,
      context.all = context.all,
      context.tier = context.tier
    ),
    labels,
    NULL,
    "stable",
    "relaxed"
  )
  found <- check_rust(rust_add_knowledge(listed$edges, listed$weights, knowledge, check))
  if (!is.null(found$kind)) {
    refuse_knowledge(found, labels)
  }
  arcs <- list(from = rep.int(seq_len(p), lengths(found$edges)), to = unlist(found$edges, use.names = FALSE))
  if (is_compact(fit)) {
    fit@type <- "CPDAG"
    from <- rep.int(seq_len(p), diff(as.double(fit@edges$start)))
    has <- function(from, to) (as.double(from) * p + to) %in% (as.double(arcs$from) * p + arcs$to)
    up <- has(from, fit@edges$to)
    down <- has(fit@edges$to, from)
    fit@edges$mark <- as.raw(ifelse(up & down, 1L, ifelse(up, 2L, 3L)))
  } else if (is.matrix(fit)) {
    is_cpdag <- (attr(fit, "type") %||% "") %in% c("cpdag", "amat.cpdag")
    fit[] <- 0
    fit[if (is_cpdag) cbind(arcs$to, arcs$from) else cbind(arcs$from, arcs$to)] <- 1
    return(fit)
  } else {
    graph <- graph_from_edges(labels, found$edges, found$marks, one = 1, symmetric = found$counts$directed == 0)
    if (!is_result(fit)) {
      return(graph)
    }
    fit@graph <- graph
  }
  known <- utils::modifyList(
    attr(fit@call, "pcgpu") %||% list(version = package_version()),
    list(valid_cpdag = found$valid_cpdag, knowledge = TRUE)
  )
  attr(fit@call, "pcgpu") <- known
  fit
}

refuse_knowledge <- function(found, labels) {
  arrow <- if (length(found$arrow)) sprintf("%s -> %s", labels[found$arrow[1L]], labels[found$arrow[2L]])
  abort(
    "knowledge",
    switch(
      found$kind,
      invalid = paste(
        "`fit` represents no DAG, because it has a conflict, a cycle, or no extension without a further v-structure:",
        "give a CPDAG, or check = FALSE."
      ),
      not_maximal = sprintf(
        paste(
          "`fit` is not closed under Meek's rules, which direct %s: first call add_knowledge(fit, check = FALSE)",
          "without knowledge."
        ),
        arrow
      ),
      no_edge = sprintf(
        "`required` has %s, but `fit` has no such edge: leave it out, or give `required` to pc().",
        arrow
      ),
      reversed = sprintf(
        paste(
          "%s cannot be added, because `fit`, or knowledge added before it, has the opposite direction: leave it out,",
          "or give the knowledge to pc()."
        ),
        arrow
      ),
      forbidden = sprintf(
        "`fit` has an edge %s, but the knowledge forbids both directions: give the knowledge to pc().",
        sub("->", "-", arrow, fixed = TRUE)
      )
    ),
    reason = found$kind,
    arrow = labels[found$arrow]
  )
}

#' Convert a result to bnlearn
#'
#' Returns a graph of class `bn` for bnlearn's scores, fits and plots. It is made by bnlearn's own functions `empty.graph()` and `arcs<-`. An undirected edge
#' stays undirected in bnlearn.
#'
#' @param x As in [as_igraph()], except results of [fci()] and its relatives, because bnlearn cannot represent hidden common causes.
#' @param conflicts What to do with edges in conflict (`<->`, with `solve.confl = TRUE` only), because bnlearn has no edges with two heads: `"error"`,
#'   `"undirected"` to make them undirected, or `"drop"` to leave them out.
#' @param check If `TRUE`, bnlearn refuses directed cycles, which a graph that is not a valid CPDAG may contain.
#' @return A network of class `bn` of the package bnlearn, with the variables in the same order.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if bnlearn is not installed.
#' @references M. Scutari (2010). Learning Bayesian networks with the bnlearn R package. *Journal of Statistical Software* 35(3), 1-22.
#' @seealso [as_igraph()]; [compare_graphs()], which takes bnlearn's networks
#' @examplesIf requireNamespace("bnlearn", quietly = TRUE)
#' as_bn(cpdag_of(random_dag(6, seed = 1)))
#' @export
as_bn <- function(x, conflicts = c("error", "undirected", "drop"), check = TRUE) {
  network <- network_of(x)
  if (isTRUE(network$pag)) refuse_pag(x, instead = "bnlearn cannot represent a PAG, but as_dagitty() and caugi_of() can")
  conflicts <- check_choice(conflicts, c("error", "undirected", "drop"), "conflicts")
  check <- check_flag(check, "check")
  in_conflict <- network$edges$kind == "<->"
  if (any(in_conflict) && conflicts == "error") {
    abort_argument("x", x, "give conflicts = \"undirected\" or \"drop\".", has = sprintf("%s in conflict (<->), which bnlearn cannot represent", counted(sum(in_conflict), "edge")))
  }
  need_package("bnlearn", "as_bn() needs the package bnlearn")
  edges <- if (conflicts == "drop") network$edges[!in_conflict, ] else network$edges
  if (!length(network$labels)) {
    abort_argument("x", x, "give a graph with at least one variable.", has = "no variables, but bnlearn needs at least one")
  }
  graph <- bnlearn::empty.graph(network$labels)
  if (!nrow(edges)) {
    return(graph)
  }
  arcs <- arcs_of(edges)
  arcs <- cbind(from = network$labels[arcs$from], to = network$labels[arcs$to])
  tryCatch(bnlearn::`arcs<-`(graph, check.cycles = check, value = arcs), error = function(e) {
    abort_argument("x", x, "give a valid CPDAG (see run_details()), or check = FALSE.", is = sprintf("a graph that bnlearn refuses (%s)", conditionMessage(e)))
  })
}

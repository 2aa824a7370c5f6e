#' The CPDAG of a DAG
#'
#' Returns the graph of the Markov equivalence class of a DAG, with an arrow if all DAGs of the class have it, and an undirected edge otherwise (Chickering
#' 1995). This is what [pc()] finds from unlimited data. `pcalg::dag2cpdag()` returns the same, from p x p matrices.
#'
#' @param dag A DAG of [random_dag()], a [graph::graphNEL-class], an adjacency matrix, an igraph graph, or a DAG of bnlearn.
#' @return An object of class `pcgpu_graph`, see [random_dag()].
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' D. M. Chickering (1995). A transformational characterization of equivalent Bayesian network structures. *UAI*, 87-98.
#' @seealso [random_dag()], [compare_graphs()], [pc()].
#' @examples
#' cpdag_of(random_dag(10, seed = 1))
#' @export
cpdag_of <- function(dag) {
  check_given(list(dag = missing(dag)), list(dag = "give a DAG, such as that of random_dag()."))
  listed <- about("dag", edges_of(dag))
  found <- check_rust(rust_cpdag(listed$edges))
  if (is.null(found)) {
    abort_argument("dag", dag, "give a graph with only directed edges and without cycles.", is = "not a DAG")
  }
  new_graph(listed$labels, found$from, found$to, found$directed)
}

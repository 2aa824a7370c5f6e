#' Convert a result to caugi
#'
#' A graph of class `caugi`, made by that package's constructor, which has the same kinds of edges: `-->`, `---` and `<->`, and of PAGs `o->`, `o-o` and `--o` (our `o--`, from its other end). The name is not `as_caugi()`, which is caugi's own.
#'
#' @param x As in [as_igraph()].
#' @param class The class of graph that caugi is to check and to take it for, one of its own, such as `"PDAG"`, `"DAG"` or `"UNKNOWN"`. `NULL`: `"DAG"` for one of [random_dag()], `"PDAG"` for
#'   others, and `"UNKNOWN"`, which checks nothing, of a PAG, and where there are conflicts or the search says that its graph is no valid CPDAG.
#' @return A graph of class `caugi` of the package caugi, with the variables in the same order.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` where caugi is not installed; those of the constructor are caugi's own.
#' @references F. Fabricius-Bjerre, J. Larsson and M. Sachs. caugi: Causal Graph Interface. R package.
#' @seealso [as_igraph()], [as_dagitty()]
#' @examplesIf requireNamespace("caugi", quietly = TRUE)
#' caugi_of(cpdag_of(random_dag(6, seed = 1)))
#' @export
caugi_of <- function(x, class = NULL) {
  network <- network_of(x)
  if (!is.null(class) && !(is.character(class) && length(class) == 1L && !is.na(class))) {
    abort_argument("class", class, "give the name of one of caugi's classes of graphs, or NULL.")
  }
  need_package("caugi", "caugi_of() makes a graph of the package caugi")
  do.call(caugi::caugi, caugi_arguments(x, network, class))
}

# What the constructor is given.
caugi_arguments <- function(x, network, class = NULL) {
  edges <- network$edges
  turned <- edges$kind == "o--"
  edges[turned, c("from", "to")] <- edges[turned, c("to", "from")]
  edges$kind[turned] <- "--o"
  valid <- !isTRUE(network$pag) && !any(edges$kind == "<->") && !((is_compact(x) || is_result(x)) && isFALSE(run_details(x)$valid_cpdag))
  check_object(x)
  dag <- inherits(x, "pcgpu_graph") && all(x$directed)
  list(
    from = network$labels[edges$from], edge = edges$kind, to = network$labels[edges$to], nodes = network$labels,
    class = class %||% if (dag) "DAG" else if (valid) "PDAG" else "UNKNOWN"
  )
}

#' Convert a result to caugi
#'
#' Returns a graph of class `caugi`, made by that package's constructor. caugi has the same kinds of edges: `-->`, `---` and `<->`, and for PAGs `o->`, `o-o`
#' and `--o` (our `o--`, from its other end). The name is not `as_caugi()`, because caugi has a function of that name.
#'
#' @param x As in [as_igraph()].
#' @param class Graph class that is passed to caugi, which checks the graph against it, such as `"PDAG"`, `"DAG"` or `"UNKNOWN"`. `NULL` means
#'   - `"DAG"` for a graph of [random_dag()];
#'   - `"UNKNOWN"`, which checks nothing, for a PAG, for a graph with conflicts, and for a search whose graph is not a valid CPDAG;
#'   - `"PDAG"` for other graphs.
#' @return A graph of class `caugi` of the package caugi, with the variables in the same order.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if caugi is not installed. Errors of the constructor are caugi's own.
#' @references F. Fabricius-Bjerre, J. Larsson and M. Sachs. caugi: Causal Graph Interface. R package.
#' @seealso [as_igraph()], [as_dagitty()]
#' @examplesIf requireNamespace("caugi", quietly = TRUE)
#' caugi_of(cpdag_of(random_dag(6, seed = 1)))
#' @export
caugi_of <- function(x, class = NULL) {
  network <- network_of(x)
  if (!is.null(class) && !(is.character(class) && length(class) == 1L && !is.na(class))) {
    abort_argument("class", class, "give the name of one of caugi's graph classes, or NULL.")
  }
  need_package("caugi", "caugi_of() needs the package caugi")
  do.call(caugi::caugi, caugi_arguments(x, network, class))
}

# Returns the arguments of the constructor.
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

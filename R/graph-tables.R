# The class pcgpu_graph: a graph as a table of its edges, so memory grows with the number of edges. Edges are ordered by
# head, then tail, if all are directed.

methods::setOldClass("pcgpu_graph")
methods::setMethod("edges", "pcgpu_graph", edges_of_object)

new_graph <- function(labels, from, to, directed, weight = NULL) {
  structure(list(labels = labels, from = from, to = to, directed = directed, weight = weight), class = "pcgpu_graph")
}

# Returns labels, neighbour lists and weights, like edges_of().
edges_of_table <- function(labels, from, to, directed) {
  both <- which(!directed)
  tail <- c(from, to[both])
  head <- c(to, from[both])
  by <- order(tail, head, method = "radix")
  rows <- structure(as.integer(tail[by]), levels = as.character(seq_along(labels)), class = "factor")
  list(labels = labels, edges = unname(split(as.integer(head[by]), rows)), weights = NULL)
}

#' @exportS3Method as.data.frame pcgpu_graph
as.data.frame.pcgpu_graph <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_graph")
  named_edges(network_of(x))
}

#' @exportS3Method as.matrix pcgpu_graph
as.matrix.pcgpu_graph <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcgpu_graph")
  check_object(x)
  m <- matrix(0, length(x$labels), length(x$labels), dimnames = list(x$labels, x$labels))
  m[cbind(x$from, x$to)] <- 1
  both <- !x$directed
  m[cbind(x$to[both], x$from[both])] <- 1
  m
}

# Returns a graphNEL with the weights of a DAG, like pcalg's randomDAG().
graphnel_of_table <- function(x) {
  check_object(x)
  listed <- edges_of_table(x$labels, x$from, x$to, x$directed)
  weights <- NULL
  if (!is.null(x$weight)) {
    by <- order(x$from, x$to, method = "radix")
    weights <- unname(split(x$weight[by], factor(x$from[by], seq_along(x$labels))))
  }
  graph_from_edges(x$labels, listed$edges, weights, one = 1)
}

#' @exportS3Method print pcgpu_graph
print.pcgpu_graph <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_graph")
  check_object(x)
  edges <- length(x$from)
  say_lines(sprintf(
    "A %s with %s and %s%s",
    if (!is.null(x$weight) || all(x$directed)) "DAG" else "CPDAG",
    counted(length(x$labels), "variable"),
    counted(edges, "edge"),
    if (all(x$directed)) "" else sprintf(", %s of them directed", in_words(sum(x$directed)))
  ))
  shown <- seq_len(min(n, edges))
  part <- new_graph(x$labels, x$from[shown], x$to[shown], x$directed[shown], x$weight[shown])
  if (edges) {
    print_frame(as.data.frame(part), given, 3L, row.names = FALSE)
  }
  if (edges > n) {
    say_lines(sprintf("... and %s more", in_words(edges - n)))
  }
  invisible(x)
}

#' @exportS3Method summary pcgpu_graph
summary.pcgpu_graph <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_graph")
  check_object(object)
  p <- length(object$labels)
  degree <- tabulate(c(object$from, object$to), p)
  names(degree) <- object$labels
  structure(
    class = "summary.pcgpu_graph",
    list(
      variables = p,
      directed = sum(object$directed),
      undirected = sum(!object$directed),
      degree = degree,
      parents = tabulate(object$to[object$directed], p)
    )
  )
}

#' @exportS3Method print summary.pcgpu_graph
print.summary.pcgpu_graph <- function(x, ...) {
  check_dots(list(...), character(), "print.summary.pcgpu_graph")
  say_lines(sprintf(
    "%s, %s, %s undirected",
    counted(x$variables, "variable"),
    counted(x$directed, "directed edge"),
    in_words(x$undirected)
  ))
  say_lines(sprintf(
    "Neighbours per variable: mean %s, maximum %s; %s without neighbours",
    format(mean(x$degree), digits = 3L),
    in_words(max(x$degree)),
    counted(sum(x$degree == 0L), "variable")
  ))
  most <- utils::head(sort(x$degree, decreasing = TRUE), 5L)
  if (x$directed + x$undirected > 0) {
    say_lines(sprintf("Most neighbours: %s", paste(sprintf("%s (%s)", names(most), in_words(most)), collapse = ", ")))
  }
  invisible(x)
}

#' The CPDAG of a DAG
#'
#' Returns the graph of the Markov equivalence class of a DAG, with an arrow if all DAGs of the class have it, and an
#' undirected edge otherwise (Chickering 1995). This is what [pc()] finds from unlimited data. `pcalg::dag2cpdag()`
#' returns the same, from p x p matrices.
#'
#' @param dag A DAG of [random_dag()], a [graph::graphNEL-class], an adjacency matrix, an igraph graph, or a DAG of
#'   bnlearn.
#' @return An object of class `pcgpu_graph`, see [random_dag()].
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' D. M. Chickering (1995). A transformational characterization of equivalent Bayesian network structures. *UAI*, 87-98.
#' @seealso [dag_of()] for the way back, [random_dag()], [compare_graphs()], [pc()].
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

#' A DAG of a CPDAG
#'
#' Returns one of the DAGs for which a CPDAG stands: a DAG with the arrows and the v-structures of the graph, and no
#' other v-structures (Dor and Tarsi 1992). Data cannot distinguish it from the other DAGs of its class. Use it where a
#' program needs a DAG, for instance to fit parameters or to simulate. Its further arrows are not results.
#' If the search had background knowledge, the DAG respects it, because the graph has all arrows that follow from it.
#'
#' @param x A result of [pc()] or [orient()], of either class, a graph of [cpdag_of()] or [add_knowledge()], a result
#'   of [stability()] (its averaged graph), or another graph that [compare_graphs()] accepts, except a PAG. A DAG is
#'   returned as it is.
#' @return An object of class `pcgpu_graph`, see [random_dag()]. Two calls return the same DAG.
#'
#'   Errors have the class `pcgpu_error_argument`. It is an error if no such DAG exists. `pc(u2pd = "valid")` always gives a
#'   graph that has one, and `maj.rule = TRUE` does so more often than the default.
#' @references
#' D. Dor and M. Tarsi (1992). A simple algorithm to construct a consistent extension of a partially oriented graph.
#' Technical report R-185, Cognitive Systems Laboratory, UCLA.
#' @seealso [cpdag_of()], [d_separated()], [causal_effects()], which uses all DAGs of the class.
#' @examples
#' dag <- random_dag(10, seed = 1)
#' one <- dag_of(cpdag_of(dag))
#' one
#' compare_graphs(one, dag) # the same CPDAG
#' compare_graphs(one, dag, cpdag = FALSE)
#' @export
dag_of <- function(x) {
  check_given(list(x = missing(x)), list(x = "give a result of pc(), or a graph."))
  listed <- edges_of(x)
  arrows <- arrows_of_extension(x, listed)
  new_graph(listed$labels, arrows$from, arrows$to, rep.int(TRUE, length(arrows$from)))
}

# Returns the arrows of a DAG that extends a graph, by head, then tail: list(from, to). x: what the user gave, for the
# errors.
arrows_of_extension <- function(x, listed) {
  details <- if (is_compact(x) || is_result(x)) run_details(x)
  if (!is.null(details$local)) {
    abort_argument("x", x, "give a result of pc().", is = "a result of local_pc(), which lacks the graph farther away")
  }
  if (!is.null(details) && is.null(details$valid_cpdag)) {
    abort_argument("x", x, "give orient() of it.", is = "a skeleton, whose edges have no directions")
  }
  remedy <- if (inherits(x, c("pcgpu_stability", "pcgpuAverage"))) {
    "use another threshold, or the graph of all rows."
  } else {
    sprintf("search with %s (see ?pc).", details$advice %||% "u2pd = \"valid\"")
  }
  if (any(table_of_lists(listed$edges, listed$weights)$kind == "conflict")) {
    abort_argument("x", x, remedy, has = "edges in conflict (<->), which no DAG has")
  }
  # A dependence for each arrow of the DAG, with its head as x.
  found <- about("x", check_rust(rust_implied(listed$edges, NULL, list(what = "edges", most = 1e9, seed = 0))), "fit")
  if (found$extension != "none") {
    abort_argument(
      "x",
      x,
      remedy,
      has = switch(
        found$extension,
        cycles = "arrows that form a cycle, which no DAG has",
        colliders = "no DAG: every way to direct its undirected edges makes a cycle or a further v-structure"
      )
    )
  }
  list(from = found$y, to = found$x)
}

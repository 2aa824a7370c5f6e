#' The edges of a result as a table
#'
#' `edge_table()` returns one row for each edge. `as.data.frame()` of a search or of a [random_dag()] returns the same
#' table, and so does `tidy()` of the package broom (see [tidy.pcCompact()]).
#'
#' With `data`, the table also says how strong each edge is. Its columns are those of the weakest test of the edge: the
#' test with the smallest |z| or, for tests other than [gaussCItest()], the largest p-value. It is found among the tests
#' given sets of the neighbours that either variable has in the graph, of up to `m.max` variables, none of a later tier.
#' The search made these tests, too, and others given neighbours that it removed later, so `p` may be larger. The strength is that of the
#' conditional dependence, not of a causal effect, for which see [causal_effects()].
#'
#' `edges()` is another name for the table without `data`, a set of methods of the generic function of the package graph. Other packages have
#' an `edges()` of their own: after `library(igraph)`, `edges(fit)` is igraph's, which returns neither the table nor an
#' error. No other package is known to have an `edge_table()`, so use that name in scripts.
#'
#' @param x,object One of:
#'   - a result of [pc()], [skeleton()] or [orient()], of either class;
#'   - a result of [fci()], [rfci()] or [fciPlus()];
#'   - a graph of [random_dag()], [cpdag_of()] or [averaged_cpdag()];
#'   - a result of [stability()], for the edges of its averaged graph;
#'   - a result of [compare_graphs()] or [compare_groups()], for the edges of all its graphs;
#'   - for `edge_table()` only: another graph that [compare_graphs()] accepts, such as a [graph::graphNEL-class] or a
#'     graph of igraph, bnlearn, dagitty or caugi.
#' @param data `NULL`, or the data of the search, as [pc()] accepts them: observations in rows, or a sufficient statistic.
#'   For tests that draw random numbers, give the statistic of the search, which contains its seed.
#' @param stability `NULL`, or a result of [stability()], whose strengths the table then has.
#' @param indepTest The test; `NULL` for that of the search or, for other graphs, the one that suits the columns of the data.
#' @param m.max Size of the largest sets; `NULL` for the largest of the search, or all for other graphs. The error for
#'   too many tests, 2e9 tests of partial correlations or 1e6 others, says how many there are.
#' @param numCores As in [pc()].
#' @param which Not used.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return A data frame with one row for each edge: `from` and `to`, the names of the variables; `kind`, which is
#'   `"-->"` (directed), `"---"` (undirected) or `"<->"` (a conflict, `solve.confl = TRUE` only); and
#'   - for a search: `p`, the largest p-value of its tests (`-Inf` or `-1` if there were none, see `fixedEdges`; not for
#'     `fciPlus()`, which stores none). Rows are ordered by the smaller variable, then the larger;
#'   - for [fci()] and its relatives: `kind` is `"-->"`, `"o->"`, `"<->"` (a hidden common cause), `"o-o"`, `"o--"` or
#'     `"---"`: the mark at `from`, a dash, and the mark at `to`. See *What a PAG says* in [fci()];
#'   - for [random_dag()]: `weight`, the coefficient of the linear model;
#'   - for [stability()]: `strength`, the share of samples that have the edge, and `direction`, the share of those
#'     samples in which it points from `from` to `to`. An edge without a direction counts as half an arrow each way.
#'     These are the rows of `as.data.frame()` of the object whose `kept` is true, by strength. With `method = "fci"`
#'     or a relative, `kind` is that of a PAG, and `share`, the share of those samples that have this kind, replaces
#'     `direction`;
#'   - for [compare_graphs()]: a column for each graph instead of `kind`, and `difference`; see *The edges* there;
#'   - for [averaged_cpdag()]: also `strength` and `direction`. `edges()` of this graph, or of any other graph of the
#'     package graph, is that package's list of neighbours.
#'
#'   With `data`, the further columns are
#'   - `q`: the false discovery rate of [q_values()], for results that it accepts;
#'   - `estimate`: the measure of the weakest test. It is the partial correlation, with its sign, for [gaussCItest()] and
#'     [gaussCItwd()]; the conditional mutual information in nats for [disCItest()], [binCItest()], [chi2CItest()] and
#'     [disCItwd()]; and `NA` for others;
#'   - `log10_p`: the logarithm to base 10 of the p-value of that test. It distinguishes edges whose `p` is 0 (for
#'     [chi2CItest()], and tests whose `estimate` is `NA`, down to -300);
#'   - `given`: the variables given in that test, as text.
#'
#'   With `stability`, there is `strength`, the share of samples that have the edge. For samples of [pc()], `direction` is
#'   the share of those samples in which it points from `from` to `to`, or `NA` if no sample has the edge.
#'
#'   Anything that is not a graph is an error of class `pcgpu_error_argument`.
#' @seealso [neighbours()] of one variable, [sepset()] of a pair without an edge, [write_network()] for files,
#'   [as_igraph()], [q_values()]
#' @examples
#' x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
#' edge_table(pc(x, alpha = 0.05, numCores = 1))
#' edge_table(random_dag(5, seed = 1))
#'
#' # A table for a supplement
#' dag <- random_dag(20, neighbours = 2, seed = 1)
#' data <- random_data(dag, 500, seed = 1, numCores = 2)
#' fit <- pc(data, alpha = 0.01, numCores = 2)
#' file <- tempfile(fileext = ".csv")
#' samples <- stability(data, alpha = 0.01, replicates = 20, seed = 1, numCores = 2)
#' write.csv(edge_table(fit, data, samples, numCores = 2), file, row.names = FALSE)
#' @export
edge_table <- function(x, data = NULL, stability = NULL, indepTest = NULL, m.max = NULL, numCores, ...) {
  if (!is.null(taught <- taught_call(of = "edge_table"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(list(x = missing(x)), list(x = "give a result of pc(), or a graph."))
  asked <- c(indepTest = !is.null(indepTest), m.max = !is.null(m.max), numCores = !missing(numCores))
  if (is.null(data) && any(asked)) {
    abort_argument(names(asked)[asked][1L], NULL, "give `data`, too.", is = "only used for the strength of edges")
  }
  table <- listed_edges(x, "x")
  if (!is.null(data)) {
    table <- with_strength(table, x, data, indepTest, m.max, resolve_threads(if (!missing(numCores)) numCores))
  }
  if (is.null(stability)) table else with_stability(table, stability)
}

#' @rdname edge_table
#' @name edges
#' @aliases edges edges,pcCompact-method edges,matrix-method edges,pcAlgo-method edges,fciAlgo-method
#'   edges,pcgpu_graph-method edges,pcgpu_stability-method edges,pcgpu_pag_stability-method
#'   edges,pcgpu_comparison-method edges,pcgpu_cstar-method edges,pcgpu_effects-method edges,pcgpu_joint_effects-method
#'   edges,pcgpu_markov-method edges,pcgpu_selection-method
#' @usage edges(object, which, ...)
#' @importFrom graph edges
#' @export edges
#' @exportMethod edges
NULL

# Classes whose results are tables, but have no edges.
without_edges <- c(
  pcgpu_cstar = "cstar()",
  pcgpu_effects = "causal_effects()",
  pcgpu_joint_effects = "causal_effects()",
  pcgpu_markov = "markov_check()",
  pcgpu_selection = "select_features()"
)

listed_edges <- function(x, argument) {
  if (inherits(x, "pcgpu_comparison")) {
    return(named_edges(compared_network(x, argument)))
  }
  refuse_without_edges(x, argument)
  about(argument, named_edges(network_of(x)))
}

refuse_without_edges <- function(x, argument) {
  if (inherits(x, "pcgpu_comparison")) {
    abort_argument(argument, x, "give one of its graphs.", is = "a comparison of graphs, whose edges have no tests")
  }
  of <- without_edges[intersect(class(x), names(without_edges))]
  if (length(of)) {
    abort_argument(
      argument,
      x,
      "as.data.frame() returns its table.",
      is = sprintf("a result of %s, which has no edges", of[1L])
    )
  }
}

edges_of_object <- function(object, which) listed_edges(object, "object")

methods::setMethod("edges", "pcCompact", edges_of_object)

# Adjacency matrices, which all functions for graphs accept.
methods::setMethod("edges", "matrix", edges_of_object)

methods::setOldClass("pcgpu_comparison")
methods::setMethod("edges", "pcgpu_comparison", edges_of_object)

for (without in names(without_edges)) {
  methods::setOldClass(without)
  methods::setMethod("edges", without, edges_of_object)
}
rm(without)

# The notation of kinds of edges for users.
arrow_of <- c(directed = "-->", undirected = "---", conflict = "<->")

# Returns the graph that x stands for as a table: list(labels, edges). `edges` has one row for each edge: numbers of
# variables `from` and `to`, `kind` in the users' notation, and the numbers known about the edge. `pag` is added if the
# kinds are those of a PAG, in which "<->" is a hidden common cause, not a conflict. All tables of edges, conversions
# and files are made from this.
network_of <- function(x) {
  x <- known_graph(x)
  check_object(x)
  if (is_compact(x)) {
    return(new_network(x@labels, compact_edges(x)))
  }
  if (is_result(x)) {
    return(network_of_pcalg(x))
  }
  if (is_fci(x)) {
    return(network_of_fci(x))
  }
  if (inherits(x, "pcgpu_pag_stability")) {
    return(network_of_stability(x))
  }
  amat <- marks_of_pag(x)
  if (!is.null(amat)) {
    return(list(labels = labels_of_pag(amat), edges = list2DF(pag_table(amat)), pag = TRUE))
  }
  if (inherits(x, "pcgpu_graph")) {
    table <- list(from = x$from, to = x$to, kind = c("undirected", "directed")[x$directed + 1L])
    table$weight <- x$weight
    return(new_network(x$labels, table))
  }
  if (inherits(x, "pcgpu_stability")) {
    edges <- averaged_edges(x)
    return(new_network(x$labels, edges[order(-edges$strength), ]))
  }
  listed <- about("x", edges_of(x))
  table <- by_pair(table_of_lists(listed$edges, listed$weights))
  if (methods::is(x, "graph")) {
    table <- with_shares(table, x@graphData$shares, length(listed$labels))
  }
  new_network(listed$labels, table)
}

new_network <- function(labels, table) {
  table$kind <- unname(arrow_of[table$kind])
  list(labels = labels, edges = list2DF(as.list(table)))
}

# Returns a key of each pair of variables, whichever comes first.
pair_key <- function(from, to) paste(pmin(from, to), pmax(from, to))

# Sorts by the smaller variable, then the larger.
by_pair <- function(table) table[order(pmin(table$from, table$to), pmax(table$from, table$to)), ]

network_of_pcalg <- function(x) {
  listed <- edges_of(attr(x, "graph"))
  table <- by_pair(table_of_lists(listed$edges, listed$weights))
  table$p <- attr(x, "pMax")[cbind(pmin(table$from, table$to), pmax(table$from, table$to))]
  new_network(listed$labels, table)
}

network_of_fci <- function(x) {
  amat <- attr(x, "amat")
  table <- pag_table(amat)
  table$p <- p_of_pag(x, table$from, table$to)
  list(labels = labels_of_pag(amat), edges = list2DF(table), pag = TRUE)
}

# Returns the largest p-value of each edge's tests, from either end; NULL for a result of fciPlus(), which does not
# store them.
p_of_pag <- function(x, from, to) {
  p <- attr(x, "pMax")
  if (identical(dim(p), dim(attr(x, "amat")))) pmax(p[cbind(from, to)], p[cbind(to, from)])
}

# Adds the strength and the direction that averaged_cpdag() stored with its graph, for edges that still exist with the
# same kind.
with_shares <- function(table, shares, p) {
  if (is.null(shares)) {
    return(table)
  }
  key <- function(edges) paste(edges$kind, edges$from + edges$to * as.double(p))
  at <- match(key(table), key(shares))
  table$strength <- shares$strength[at]
  table$direction <- shares$direction[at]
  table
}

named_edges <- function(network) {
  edges <- network$edges
  edges$from <- network$labels[edges$from]
  edges$to <- network$labels[edges$to]
  edges
}

# Returns the same as edges_of(), and also accepts a PAG. Only for callers that understand the marks of a PAG, see
# table_of().
drawn_edges_of <- function(x) {
  amat <- marks_of_pag(x)
  if (is.null(amat)) edges_of(x) else lists_of_pag(amat)
}

# Returns whether x stands for a PAG.
is_pag <- function(x) {
  x <- known_graph(x)
  is_fci(x) || is_pag_matrix(x) || is_igraph_pag(x) || inherits(x, "pcgpu_pag_stability")
}

# Returns the matrix of marks of a PAG, NULL if x is not one.
marks_of_pag <- function(x) {
  x <- known_graph(x)
  check_object(x)
  if (is_fci(x)) {
    attr(x, "amat")
  } else if (is_pag_matrix(x)) {
    check_pag_matrix(x)
  } else if (is_igraph_pag(x)) {
    amat_of_igraph(x)
  } else if (inherits(x, "pcgpu_pag_stability")) {
    averaged_marks(x)
  }
}

# Returns labels, neighbour lists and weights of anything that stands for a graph, except PAGs. `instead`: what accepts
# PAGs, for the error message.
edges_of <- function(x, instead = NULL) {
  x <- known_graph(x)
  check_object(x)
  if (is_pag(x)) {
    refuse_pag(x, instead = instead)
  }
  if (is_compact(x)) {
    return(compact_lists(x))
  }
  if (is_result(x)) {
    return(edges_of(attr(x, "graph")))
  }
  if (inherits(x, "pcgpu_graph")) {
    return(edges_of_table(x$labels, x$from, x$to, x$directed))
  }
  if (inherits(x, "pcgpu_stability")) {
    return(averaged_lists(x))
  }
  if (inherits(x, "bn")) {
    return(edges_of_bnlearn(x))
  }
  if (inherits(x, "igraph")) {
    return(edges_of_igraph(x))
  }
  if (methods::is(x, "graph")) {
    listed <- edges_of_graph(x)
    if (anyNA(unlist(listed$weights, use.names = FALSE))) {
      abort_argument("x", x, "give each edge a weight.", is = "a graph with missing weights (NA)")
    }
    return(listed)
  }
  if (is.matrix(x) && nrow(x) == ncol(x) && (is.numeric(x) || is.logical(x))) {
    return(edges_of_matrix(x))
  }
  abort_argument("x", x, "give a result of pc() or skeleton(), a graph, or an adjacency matrix.")
}

# Raises the error of functions that cannot use a PAG, or need a CPDAG. `instead`: what else the user can do.
refuse_pag <- function(x, argument = "x", instead = NULL) {
  abort_argument(
    argument,
    x,
    paste0(paste(c("give a graph without hidden variables, such as a result of pc()", instead), collapse = "; "), "."),
    is = "a PAG, which allows for hidden variables"
  )
}

# Returns the edges of a graph of bnlearn, which stores an undirected edge as two arcs, one in each direction.
edges_of_bnlearn <- function(x) {
  labels <- names(x$nodes)
  from <- match(x$arcs[, 1L], labels)
  to <- match(x$arcs[, 2L], labels)
  edges_of_table(labels, from, to, rep.int(TRUE, length(from)))
}

# Reads a graph that as_igraph() made, or any other graph of igraph.
edges_of_igraph <- function(x) {
  need_package("igraph", "a graph of igraph needs the package igraph")
  arcs <- igraph::as_edgelist(x, names = FALSE)
  labels <- igraph::vertex_attr(x, "name") %||% as.character(seq_len(igraph::vcount(x)))
  kinds <- igraph::edge_attr(x, "kind")
  if (length(kinds) && all(kinds %in% arrow_of)) {
    return(edges_of_kinds(as.character(labels), as.integer(arcs[, 1L]), as.integer(arcs[, 2L]), kinds))
  }
  marks <- igraph::edge_attr(x, "mark")
  if (igraph::is_directed(x) && !is.null(marks) && any(marks == 2)) {
    by <- order(arcs[, 1L], arcs[, 2L])
    rows <- factor(arcs[by, 1L], seq_along(labels))
    return(list(
      labels = labels,
      edges = unname(split(as.integer(arcs[by, 2L]), rows)),
      weights = unname(split(as.double(marks[by]), rows))
    ))
  }
  edges_of_table(
    as.character(labels),
    as.integer(arcs[, 1L]),
    as.integer(arcs[, 2L]),
    rep.int(igraph::is_directed(x), nrow(arcs))
  )
}

# Returns whether x is a PAG that as_igraph() made.
is_igraph_pag <- function(x) {
  inherits(x, "igraph") && requireNamespace("igraph", quietly = TRUE) && identical(igraph::graph_attr(x, "type"), "PAG")
}

# Returns the matrix of marks of such a graph.
amat_of_igraph <- function(x) {
  labels <- as.character(igraph::vertex_attr(x, "name") %||% seq_len(igraph::vcount(x)))
  arcs <- igraph::as_edgelist(x, names = FALSE)
  kinds <- igraph::edge_attr(x, "kind")
  if (!is.character(kinds) || !all(kinds %in% kinds_of_pag)) {
    abort_argument(
      "x",
      x,
      sprintf("give each edge a `kind`, one of %s.", enumerate(dQuote(kinds_of_pag, FALSE))),
      is = "a PAG with edges whose kind is missing or unknown"
    )
  }
  marks_of_kinds(labels, arcs[, 1L], arcs[, 2L], kinds)
}

# Returns the matrix of marks of a PAG with edges of these kinds.
marks_of_kinds <- function(labels, from, to, kinds) {
  mark <- c(o = 1, "<" = 2, ">" = 2, "-" = 3)
  amat <- matrix(0, length(labels), length(labels), dimnames = list(labels, labels))
  amat[cbind(from, to)] <- mark[substr(kinds, 3L, 3L)]
  amat[cbind(to, from)] <- mark[substr(kinds, 1L, 1L)]
  amat
}

# Reads edges with their kinds. An edge without a direction may occur once, as in a file, or once in each direction.
edges_of_kinds <- function(labels, from, to, kinds) {
  both <- kinds != "-->"
  tail <- c(from, to[both])
  head <- c(to, from[both])
  weight <- ifelse(c(kinds, kinds[both]) == "<->", 2, 1)
  by <- order(tail, head)
  by <- by[!duplicated(data.frame(tail, head)[by, ])]
  by_tail <- function(values) unname(split(values[by], factor(tail[by], seq_along(labels))))
  list(labels = labels, edges = by_tail(head), weights = if (!all(weight == 1)) by_tail(weight))
}

# Reads an adjacency matrix in one of two codings. as(graph, "matrix") has [i, j] != 0 for i -> j. pcalg's "amat" of a
# CPDAG is the transpose, which its attribute shows.
edges_of_matrix <- function(m) {
  type <- attr(m, "type") %||% ""
  if (anyNA(m)) {
    missing <- which(is.na(m), arr.ind = TRUE)
    abort_argument(
      "x",
      m,
      "use 0 for pairs without an edge.",
      is = sprintf(
        "%s with %s, the first at [%d, %d]",
        describe(m),
        counted(nrow(missing), "missing value"),
        missing[1L, 1L],
        missing[1L, 2L]
      )
    )
  }
  check_sides(m, "x")
  labels <- colnames(m) %||% rownames(m) %||% as.character(seq_len(ncol(m)))
  m <- matrix(as.double(m), nrow(m))
  if (!type %in% c("cpdag", "amat.cpdag")) {
    m <- t(m)
  }
  # Columns are now the heads of pcalg's coding: m[j, i] != 0 for i -> j.
  edges <- lapply(seq_len(ncol(m)), function(i) setdiff(which(m[, i] != 0), i))
  list(labels = labels, edges = edges, weights = lapply(seq_along(edges), function(i) m[edges[[i]], i]))
}

#' The edges of a result as a table
#'
#' A method of the generic function `edges()` of the package graph.
#'
#' @param object A result of [pc()], [skeleton()] or [orient()], of either class.
#' @param which Not used.
#' @return A data frame with one row an edge: `from` and `to`, names of variables; `kind`, `"-->"` (directed), `"---"` or `"<->"` (a conflict,
#'   `solve.confl = TRUE` only); `p`, the largest p-value of its tests.
#' @examples
#' x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
#' edges(pc(suff_gauss(x), gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, result = "compact"))
#' @name edges
#' @aliases edges,pcCompact-method edges,pcAlgo-method
#' @importFrom graph edges
#' @export edges
#' @exportMethod edges
methods::setMethod("edges", "pcCompact", function(object, which) {
  named_edges(compact_edges(object), object@labels)
})

named_edges <- function(table, labels) {
  kind <- c(directed = "-->", undirected = "---", conflict = "<->")
  data.frame(
    from = labels[table$from], to = labels[table$to], kind = unname(kind[table$kind]), p = table$p, stringsAsFactors = FALSE
  )
}

# The same of an object of class pcAlgo, by the smaller variable, then the larger.
edges_of_pcalg <- function(x) {
  listed <- edges_of(x)
  table <- edge_table(listed$edges, listed$weights)
  low <- pmin(table$from, table$to)
  high <- pmax(table$from, table$to)
  table$p <- attr(x, "pMax")[cbind(low, high)]
  named_edges(table[order(low, high), ], listed$labels)
}

# Labels, neighbour lists and weights of whatever stands for a graph here.
edges_of <- function(x) {
  if (is_compact(x)) {
    return(compact_lists(x))
  }
  if (is_result(x)) {
    return(edges_of(attr(x, "graph")))
  }
  if (inherits(x, "pcgpu_graph")) {
    return(edges_of_table(x$labels, x$from, x$to, x$directed))
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
      abort_argument("x", x, "give every edge a weight.", is = "a graph with missing weights (NA)")
    }
    return(listed)
  }
  if (is.matrix(x) && nrow(x) == ncol(x) && (is.numeric(x) || is.logical(x))) {
    return(edges_of_matrix(x))
  }
  abort_argument("x", x, "give a result of pc() or skeleton(), a graph, or an adjacency matrix.")
}

# bnlearn has an arc each way of an undirected edge.
edges_of_bnlearn <- function(x) {
  labels <- names(x$nodes)
  from <- match(x$arcs[, 1L], labels)
  to <- match(x$arcs[, 2L], labels)
  edges_of_table(labels, from, to, rep.int(TRUE, length(from)))
}

# A graph as as_igraph() makes it, or any other.
edges_of_igraph <- function(x) {
  need_package("igraph", "the graph is one of the package igraph")
  arcs <- igraph::as_edgelist(x, names = FALSE)
  labels <- igraph::vertex_attr(x, "name") %||% as.character(seq_len(igraph::vcount(x)))
  marks <- igraph::edge_attr(x, "mark")
  if (igraph::is_directed(x) && !is.null(marks) && any(marks == 2)) {
    by <- order(arcs[, 1L], arcs[, 2L])
    rows <- factor(arcs[by, 1L], seq_along(labels))
    return(list(labels = labels, edges = unname(split(as.integer(arcs[by, 2L]), rows)), weights = unname(split(as.double(marks[by]), rows))))
  }
  edges_of_table(as.character(labels), as.integer(arcs[, 1L]), as.integer(arcs[, 2L]), rep.int(igraph::is_directed(x), nrow(arcs)))
}

# An adjacency matrix as as(graph, "matrix") has it, [i, j] != 0 for i -> j, or as pcalg's "amat" codes a CPDAG, which
# is the transpose and says so in an attribute.
edges_of_matrix <- function(m) {
  type <- attr(m, "type") %||% ""
  if (type %in% c("pag", "amat.pag")) {
    abort_argument("x", m, "give the adjacency matrix of a CPDAG.", is = "the adjacency matrix of a PAG")
  }
  if (anyNA(m)) {
    missing <- which(is.na(m), arr.ind = TRUE)
    abort_argument("x", m, "give 0 where there is no edge.", is = sprintf(
      "%s with %d missing values, the first at [%d, %d]", describe(m), nrow(missing), missing[1L, 1L], missing[1L, 2L]
    ))
  }
  labels <- colnames(m) %||% rownames(m) %||% as.character(seq_len(ncol(m)))
  m <- matrix(as.double(m), nrow(m))
  if (!type %in% c("cpdag", "amat.cpdag")) {
    m <- t(m)
  }
  # Columns are now the heads of pcalg's coding: m[j, i] != 0 for i -> j.
  edges <- lapply(seq_len(ncol(m)), function(i) setdiff(which(m[, i] != 0), i))
  list(labels = labels, edges = edges, weights = lapply(seq_along(edges), function(i) m[edges[[i]], i]))
}

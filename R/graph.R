# Converts between neighbour lists and graph::graphNEL without a p x p matrix in R code.
#
# pcalg makes its graphs with as(<matrix>, "graphNEL"), which takes 15 s at p = 5,361. The graphs made here are
# identical, including weights and order. A skeleton comes from a logical matrix (weight 1L), a CPDAG from a double
# matrix (1 or 2), and a graph without edges from new("graphNEL", nodes).

# Up to this many arcs, a graph lists the weight of each, like pcalg's graphs. Above it lists only weights that differ
# from the default, which all functions of graph and pcalg use for the rest. The names of the list, two labels each,
# would take longer than a search.
most_listed <- 200000L

# edges: a list of p sorted integer vectors, the j with i -> j. weights: NULL, or a list of vectors parallel to `edges`.
# symmetric: whether every edge exists in both directions, with one weight; NULL if that is not known.
graph_from_edges <- function(labels, edges, weights = NULL, one = 1L, symmetric = NULL, most = most_listed) {
  counts <- lengths(edges)
  if (sum(counts) == 0L) {
    return(methods::new("graphNEL", nodes = labels))
  }
  graph <- empty_graph()
  graph@nodes <- labels
  graph@edgeL <- structure(lapply(edges, function(to) list(edges = to)), names = unname(labels))
  graph@edgeData@defaults <- list(weight = one)
  if (is.null(weights) && sum(counts) > most && !is.null(symmetric)) {
    graph@graphData$edgemode <- if (symmetric) "undirected" else "directed"
    return(graph)
  }
  from <- rep.int(seq_along(edges), counts)
  to <- unlist(edges, use.names = FALSE)
  weight <- if (is.null(weights)) rep.int(one, length(to)) else unlist(weights, use.names = FALSE)
  graph@graphData$edgemode <- if (symmetric %||% is_symmetric(from, to, weight)) "undirected" else "directed"
  if (length(to) > most) {
    other <- which(weight != one)
    from <- from[other]
    to <- to[other]
    weight <- weight[other]
  }
  if (length(to)) {
    # Repeats a few distinct records, which R shares, so an edge costs one pointer.
    values <- unique(weight)
    records <- lapply(values, function(value) list(weight = value))
    graph@edgeData@data <- structure(records[match(weight, values)], names = paste(labels[from], labels[to], sep = "|"))
  }
  graph
}

# Returns a graph without nodes, made only once: R's checks of a new one take longer than the rest of the work for a
# graph with few edges.
empty_graph <- function() {
  if (is.null(session$empty_graph)) {
    session$empty_graph <- methods::new("graphNEL")
  }
  session$empty_graph
}

# Returns the graph of a search with `u2pd = "rand"` or "retry" whose v-structures fit no DAG. pcalg then leaves the
# graph directed and without weights.
graph_without_weights <- function(labels, edges) {
  graph <- methods::new("graphNEL", nodes = labels, edgemode = "directed")
  graph@edgeL <- structure(lapply(edges, function(to) list(edges = to)), names = unname(labels))
  graph
}

# Returns whether every edge exists in both directions, with one weight.
is_symmetric <- function(from, to, weight) {
  there <- order(from, to)
  back <- order(to, from)
  identical(from[there], to[back]) && identical(to[there], from[back]) && identical(weight[there], weight[back])
}

# Returns the neighbour lists of a graph: list(labels, edges, weights); weights are NULL if all are 1.
edges_of_graph <- function(graph) {
  if (!methods::is(graph, "graphNEL")) {
    graph <- methods::as(graph, "graphNEL")
  }
  labels <- graph@nodes
  edges <- lapply(unname(graph@edgeL), function(node) as.integer(node$edges))
  unsorted <- which(vapply(edges, is.unsorted, NA))
  edges[unsorted] <- lapply(edges[unsorted], sort)
  list(labels = labels, edges = edges, weights = weights_of_graph(graph, edges))
}

# Returns the weights of a graph's arcs, parallel to its neighbour lists `edges`; NULL if all are 1.
weights_of_graph <- function(graph, edges) {
  labels <- graph@nodes
  data <- graph@edgeData@data
  default <- as.double(graph@edgeData@defaults$weight %||% 1)
  listed <- vapply(unname(data), function(record) as.double(record$weight %||% default), 0)
  # Both listed weights and the default must be 1.
  if (length(data) == 0L || sum(lengths(edges)) == 0L || default %in% 1 && all(listed %in% 1)) {
    return(NULL)
  }
  from <- rep.int(seq_along(edges), lengths(edges))
  to <- unlist(edges, use.names = FALSE)
  at <- match(paste(labels[from], labels[to], sep = "|"), names(data))
  weight <- listed[at]
  weight[is.na(at)] <- default
  if (!all(weight %in% 1)) unname(split(weight, factor(from, seq_along(edges))))
}

# Returns the edges of a result of edges_of() or drawn_edges_of(): from, to and kind.
table_of <- function(listed) {
  if (!isTRUE(listed$pag)) {
    return(table_of_lists(listed$edges, listed$weights))
  }
  from <- rep.int(seq_along(listed$edges), lengths(listed$edges))
  to <- as.integer(unlist(listed$edges, use.names = FALSE))
  mark <- as.integer(unlist(listed$weights, use.names = FALSE))
  p <- as.double(length(listed$edges))
  once <- from < to
  back <- match(to * p + from, from * p + to)[once]
  list2DF(table_by_marks(from[once], to[once], mark[back], mark[once]))
}

# Returns one row for each pair of adjacent nodes: from, to and kind, which is "directed", "undirected" or "conflict"
# (pcalg's mark 2).
table_of_lists <- function(edges, weights = NULL) {
  from <- rep.int(seq_along(edges), lengths(edges))
  to <- as.integer(unlist(edges, use.names = FALSE))
  weight <- if (is.null(weights)) rep.int(1, length(to)) else unlist(weights, use.names = FALSE)
  p <- as.double(length(edges))
  back <- match(to * p + from, from * p + to)
  once <- is.na(back) | from < to
  kind <- ifelse(is.na(back), "directed", ifelse(weight == 2, "conflict", "undirected"))
  data.frame(from = from, to = to, kind = kind, stringsAsFactors = FALSE)[once, , drop = FALSE]
}

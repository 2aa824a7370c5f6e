# The edges of graphs that compare_graphs() compared, side by side.

# Kinds of edges as seen from the other end.
turned_kind <- c("-->" = "<--", "o->" = "<-o", "o--" = "--o", "---" = "---", "o-o" = "o-o", "<->" = "<->")
turned_kind <- c(turned_kind, stats::setNames(names(turned_kind)[1:3], turned_kind[1:3]))

# Names of columns that a table of compared edges has next to those of the graphs.
own_columns <- c("from", "to", "graphs", "difference", "p", "q")

# Returns names of graphs that can be columns of this table.
column_names_of <- function(names) make.unique(c(own_columns, names))[-seq_along(own_columns)]

# Returns the edges of a graph as list(from, to, kind), with from < to, in the order of these.
pairs_of_lists <- function(listed) {
  table <- table_of(listed)
  kind <- if (isTRUE(listed$pag)) table$kind else unname(arrow_of[table$kind])
  turned <- table$from > table$to
  kind[turned] <- turned_kind[kind[turned]]
  from <- pmin(table$from, table$to)
  to <- pmax(table$from, table$to)
  by <- order(from, to)
  list(from = from[by], to = to[by], kind = unname(kind[by]))
}

# Returns what a table and a picture of compared graphs need: list(labels, names, pag, edges). `names`: those of the
# graphs. `edges`: one row for each pair that is adjacent in any of them, with numbers of variables `from` and `to`; a
# column for each graph with the kind of its edge, "" if it has none; `graphs`, in how many it is, if there are more
# than two; and `difference`, see compare_graphs(). `from` and `to` are ordered so that the first graph with the edge
# has "-->" rather than "<--".
compared_network <- function(x, argument = "x") {
  graphs <- attr(x, "graphs")
  names <- names(graphs$edges)
  # Tables that were bound together have only the graphs of the first.
  if (is.null(graphs) || !all(c(x$graph, x$other) %in% names)) {
    abort_argument(argument, x, "give the result of compare_graphs() unchanged.", has = "lost its graphs")
  }
  p <- as.double(length(graphs$labels))
  keys <- lapply(graphs$edges, function(edges) edges$from * p + edges$to)
  all <- sort(unique(unlist(keys, use.names = FALSE)))
  kinds <- Map(function(edges, keys) edges$kind[match(all, keys)], graphs$edges, keys)
  there <- lapply(kinds, function(kind) !is.na(kind))
  count <- as.integer(Reduce(`+`, there))
  first <- character(length(all))
  at <- integer(length(all))
  for (graph in rev(seq_along(kinds))) {
    at[there[[graph]]] <- graph
    first[there[[graph]]] <- kinds[[graph]][there[[graph]]]
  }
  same <- Reduce(`&`, lapply(kinds, function(kind) is.na(kind) | kind == first))
  difference <- ifelse(
    count == 1L,
    paste("only", names[at]),
    ifelse(!same, "turned", ifelse(count < length(names), "some", if (length(names) == 2L) "both" else "all"))
  )
  turned <- first %in% c("<--", "<-o", "--o")
  from <- as.integer((all - 1) %/% p)
  to <- as.integer(all - from * p)
  kinds <- lapply(kinds, function(kind) {
    kind[turned] <- turned_kind[kind[turned]]
    kind[is.na(kind)] <- ""
    unname(kind)
  })
  edges <- c(
    list(from = ifelse(turned, to, from), to = ifelse(turned, from, to)),
    kinds,
    if (length(names) > 2L) list(graphs = count),
    list(difference = as.character(difference)),
    attr(x, "groups")$edges
  )
  list(labels = graphs$labels, names = names, pag = isTRUE(attr(x, "pag")), edges = list2DF(edges))
}

# Returns the line of print() that counts the edges of all graphs.
differences_text <- function(x, pairs) {
  names <- names(attr(x, "graphs")$edges)
  if (length(names) > 2L && !pairs) {
    return(NULL)
  }
  difference <- compared_network(x)$edges$difference
  if (length(names) > 2L) {
    return(sprintf(
      "%s in any of the %d graphs, %s in all of them with the same marks",
      counted(length(difference), "edge"),
      length(names),
      in_words(sum(difference == "all"))
    ))
  }
  counts <- tabulate(match(difference, c("both", "turned", paste("only", names))), 4L)
  counts <- c(counts[1L] + counts[2L], counts[3:4])
  turned <- sum(difference == "turned")
  said <- c(paste0("in both", if (turned) sprintf(" (%s with other marks)", in_words(turned))), paste("only in", names))
  there <- counts > 0L | seq_along(counts) == 1L
  paste0("Edges: ", paste(in_words(counts[there]), said[there], collapse = ", "), "; edge_table() lists them")
}

#' Draw the graphs of a comparison as one
#'
#' Draws every edge that is in any of the compared graphs, on one layout. Its colour says in which graphs it is, and its
#' marks are those in the first graph that has it. Edges that are turned have other marks in another graph.
#'
#' @param x A result of [compare_graphs()] or [compare_groups()].
#' @param ... Arguments of [plot_cpdag()], such as `main`, `layout`, `around` or `edge_width`. A column of
#'   `edge_table(x)` is given by its values, as in `edge_width = edge_table(x)$p`.
#' @return `x`, invisibly. Errors have the class `pcgpu_error_argument`.
#' @seealso [compare_graphs()] for the table of these edges.
#' @examples
#' dag <- random_dag(10, neighbours = 2, seed = 1)
#' fit <- pc(random_data(dag, 300, seed = 1, numCores = 2), alpha = 0.01, numCores = 2)
#' plot(compare_graphs(fit, dag))
#' @exportS3Method plot pcgpu_comparison
plot.pcgpu_comparison <- function(x, ...) {
  takes <- setdiff(names(formals(plot_cpdag)), c("x", "..."))
  given <- check_dots(list(...), c(takes, unlist(engine_takes)), "plot.pcgpu_comparison")
  picture <- picture_of_comparison(x)
  of_edges <- intersect(names(given), c("edge_width", "edge_label", "edge_colour"))
  given[of_edges] <- lapply(given[of_edges], function(of) {
    in_order <- function(values) if (length(values) == length(picture$at)) values[picture$at] else values
    if (is.list(of)) lapply(of, in_order) else in_order(of)
  })
  ours <- list(x = picture$graph, edge_colour = list(picture$difference))
  do.call(plot_cpdag, c(ours[!names(ours) %in% names(given)], given), quote = TRUE)
  invisible(x)
}

# Returns list(graph, at, difference): a graph with all edges; for each row of its table of edges, the row of the table of
# the comparison; and in which graphs the edge is.
picture_of_comparison <- function(x) {
  network <- compared_network(x)
  edges <- network$edges
  kinds <- as.matrix(edges[network$names])
  kind <- kinds[cbind(seq_len(nrow(kinds)), max.col(kinds != "", "first"))]
  graph <- graph_of_kinds(network$labels, as.integer(edges$from), as.integer(edges$to), kind, network$pag)
  drawn <- network_of(graph)$edges
  at <- match(pair_key(drawn$from, drawn$to), pair_key(edges$from, edges$to))
  several <- length(network$names) > 2L
  levels <- c(if (several) "all" else "both", "turned", paste("only", network$names), if (several) "some")
  list(graph = graph, at = at, difference = factor(edges$difference[at], levels))
}

# Returns a graph with edges of these kinds, in a form that plot_cpdag() draws.
graph_of_kinds <- function(labels, from, to, kind, pag) {
  if (!isTRUE(pag) && !any(kind == "<->")) {
    return(new_graph(labels, from, to, kind == "-->"))
  }
  if (isTRUE(pag)) {
    return(structure(marks_of_kinds(labels, from, to, kind), type = "amat.pag"))
  }
  marks <- matrix(0, length(labels), length(labels), dimnames = list(labels, labels))
  weight <- ifelse(kind == "<->", 2, 1)
  marks[cbind(from, to)] <- weight
  both <- kind != "-->"
  marks[cbind(to, from)[both, , drop = FALSE]] <- weight[both]
  marks
}

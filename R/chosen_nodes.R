# Selects the nodes of a graph that are drawn: those around some nodes, or those of the largest components, with or without nodes that have no edge.

# Up to this many nodes without an edge are drawn next to the others.
most_alone <- 30L

# Returns list(nodes, focus, left): the numbers of the nodes that are drawn, which of them `around` named, and lines about what is left out.
chosen_nodes <- function(listed, around, order, isolated, components) {
  labels <- listed$labels
  edges <- table_of(listed)
  focus <- if (!is.null(around)) unique(variables_at(around, labels, "around"))
  order <- check_order(order, 0L)
  if (!is.null(isolated)) isolated <- check_flag(isolated, "isolated")
  wanted <- check_components(components)
  nodes <- seq_along(labels)
  if (length(focus)) {
    nodes <- nodes_around(neighbour_lists(length(labels), edges), focus, order)
    edges <- edges[edges$from %in% nodes & edges$to %in% nodes, ]
  }
  left <- NULL
  degree <- tabulate(c(edges$from, edges$to), length(labels))
  alone <- setdiff(nodes[degree[nodes] == 0L], focus)
  if (!is.null(wanted)) {
    kept <- largest_components(components(length(labels), edges), setdiff(nodes, alone), wanted)
    small <- setdiff(nodes, c(kept, alone))
    if (length(small)) left <- sprintf("%s in smaller components not drawn", counted(length(small), "variable"))
    nodes <- sort(c(kept, alone))
  }
  # A picture with only nodes without an edge has room for them.
  many <- length(alone) > most_alone && length(alone) < length(nodes)
  if (!(isolated %||% (is.null(wanted) && !many)) && length(alone)) {
    left <- c(left, sprintf("%s without an edge not drawn", counted(length(alone), "variable")))
    nodes <- setdiff(nodes, alone)
  }
  list(nodes = nodes, focus = match(focus, nodes), left = left)
}

# Checks a number of steps along edges.
check_order <- function(order, least) {
  if (!is_number(order) || order < least || (is.finite(order) && order != floor(order))) {
    abort_argument("order", order, sprintf("give a whole number of edges from %d up, or Inf; 1 means the neighbours.", least))
  }
  order
}

# Returns list(most, least): how many components are drawn, and their minimum number of nodes.
check_components <- function(components) {
  if (is.null(components)) {
    return(NULL)
  }
  hint <- "give the number of the largest components, such as 3, or their minimum number of nodes, c(least = 5)."
  if (!is.numeric(components) || length(components) != 1L || anyNA(components) || components < 1 ||
    (is.finite(components) && components != floor(components)) || !(names(components) %||% "") %in% c("", "most", "least")) {
    abort_argument("components", components, hint)
  }
  if (identical(names(components), "least")) list(most = Inf, least = components[[1L]]) else list(most = components[[1L]], least = 1)
}

# Returns nodes at most `order` edges away from `focus`, in either direction.
nodes_around <- function(near, focus, order) {
  found <- front <- focus
  while (order > 0 && length(front)) {
    front <- setdiff(unlist(near[front], use.names = FALSE), found)
    found <- c(found, front)
    order <- order - 1
  }
  sort(found)
}

# Returns the nodes of the largest components. If sizes are equal, the first component comes first.
largest_components <- function(member, nodes, wanted) {
  member <- member[nodes]
  sizes <- tabulate(member)
  ranked <- order(-sizes)
  ranked <- utils::head(ranked[sizes[ranked] >= max(wanted$least, 1)], min(wanted$most, length(ranked)))
  nodes[member %in% ranked]
}

# Returns the subgraph of some nodes, in the form of edges_of().
graph_of_nodes <- function(listed, nodes) {
  if (length(nodes) == length(listed$labels)) {
    return(listed)
  }
  new <- integer(length(listed$labels))
  new[nodes] <- seq_along(nodes)
  edges <- listed$edges[nodes]
  inside <- lapply(edges, function(to) new[to] > 0L)
  list(
    pag = listed$pag, labels = listed$labels[nodes], edges = Map(function(to, inside) new[to[inside]], edges, inside, USE.NAMES = FALSE),
    weights = if (!is.null(listed$weights)) Map(`[`, listed$weights[nodes], inside, USE.NAMES = FALSE)
  )
}

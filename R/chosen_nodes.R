# Which nodes of a graph are drawn: those around some, those of the largest components, with or without those that have
# no edge.

# Up to so many nodes without an edge are drawn beside the others.
most_alone <- 30L

# list(nodes, focus, left): the numbers of the nodes that are drawn, which of them were asked for by `around`, and lines
# on what is left out.
chosen_nodes <- function(listed, around, order, isolated, components) {
  labels <- listed$labels
  edges <- edge_table(listed$edges, listed$weights)
  near <- neighbour_lists(length(labels), edges)
  focus <- check_around(around, labels)
  order <- check_order(order)
  if (!is.null(isolated)) isolated <- check_flag(isolated, "isolated")
  components <- check_components(components)
  nodes <- if (length(focus)) nodes_around(near, focus, order) else seq_along(labels)
  if (length(focus)) near <- neighbour_lists(length(labels), edges[edges$from %in% nodes & edges$to %in% nodes, ])
  left <- NULL
  degree <- lengths(near)
  alone <- setdiff(nodes[degree[nodes] == 0L], focus)
  if (!is.null(components)) {
    kept <- largest_components(near, setdiff(nodes, alone), components)
    small <- setdiff(nodes, c(kept, alone))
    if (length(small)) left <- sprintf("%s in smaller components not drawn", counted(length(small), "variable"))
    nodes <- sort(c(kept, alone))
  }
  # A picture of nothing but nodes without an edge has room for them.
  many <- length(alone) > most_alone && length(alone) < length(nodes)
  if (!(isolated %||% (is.null(components) && !many)) && length(alone)) {
    left <- c(left, sprintf("%s without an edge not drawn", counted(length(alone), "variable")))
    nodes <- setdiff(nodes, alone)
  }
  list(nodes = nodes, focus = match(focus, nodes), left = left)
}

check_around <- function(around, labels) {
  if (is.null(around)) {
    return(integer())
  }
  if (is.factor(around)) around <- as.character(around)
  if (is.character(around)) {
    at <- match(around, labels)
    if (anyNA(at)) {
      abort_argument("around", around, "give names of variables, as `labels` of the result has them.",
        has = sprintf("%s, which no variable is called", enumerate(dQuote(unique(around[is.na(at)]), FALSE)))
      )
    }
  } else {
    p <- length(labels)
    if (!is.numeric(around) || anyNA(around) || any(around < 1 | around > p | around != floor(around))) {
      abort_argument("around", around, sprintf("give names of variables, or numbers from 1 to %d.", p))
    }
    at <- as.integer(around)
  }
  if (!length(at)) abort_argument("around", around, "give at least one variable, or leave it out.")
  unique(at)
}

check_order <- function(order) {
  if (!is_number(order) || order < 0 || (is.finite(order) && order != floor(order))) {
    abort_argument("order", order, "give a whole number of steps, 1 for the neighbours, 2 for theirs too, or Inf.")
  }
  order
}

# list(most, least): how many components, of how many nodes at the least.
check_components <- function(components) {
  if (is.null(components)) {
    return(NULL)
  }
  mend <- "give how many of the largest, such as 3, or the least number of nodes, c(least = 5)."
  if (!is.numeric(components) || length(components) != 1L || anyNA(components) || components < 1 ||
    (is.finite(components) && components != floor(components)) || !(names(components) %||% "") %in% c("", "most", "least")) {
    abort_argument("components", components, mend)
  }
  if (identical(names(components), "least")) list(most = Inf, least = components[[1L]]) else list(most = components[[1L]], least = 1)
}

# Nodes at most `order` edges away from `focus`, whichever way the arrows point.
nodes_around <- function(near, focus, order) {
  found <- front <- focus
  while (order > 0 && length(front)) {
    front <- setdiff(unlist(near[front], use.names = FALSE), found)
    found <- c(found, front)
    order <- order - 1
  }
  sort(found)
}

# Of components of one size the first come first.
largest_components <- function(near, nodes, wanted) {
  member <- components(near)[nodes]
  sizes <- tabulate(member)
  ranked <- order(-sizes)
  ranked <- utils::head(ranked[sizes[ranked] >= max(wanted$least, 1)], min(wanted$most, length(ranked)))
  nodes[member %in% ranked]
}

# The graph of some nodes, as edges_of() has it.
graph_of_nodes <- function(listed, nodes) {
  if (length(nodes) == length(listed$labels)) {
    return(listed)
  }
  new <- integer(length(listed$labels))
  new[nodes] <- seq_along(nodes)
  edges <- listed$edges[nodes]
  inside <- lapply(edges, function(to) new[to] > 0L)
  list(
    labels = listed$labels[nodes], edges = Map(function(to, inside) new[to[inside]], edges, inside, USE.NAMES = FALSE),
    weights = if (!is.null(listed$weights)) Map(`[`, listed$weights[nodes], inside, USE.NAMES = FALSE)
  )
}

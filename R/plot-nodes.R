# Selects the nodes of a graph that are drawn: those around some nodes, or those of the largest components, with or
# without nodes that have no edge.

# Up to this many nodes without an edge are drawn next to the others.
most_alone <- 30L

# Returns list(nodes, focus, left): the numbers of the nodes that are drawn, which of them `around` named, and lines
# about what is left out.
chosen_nodes <- function(listed, around, order, isolated, components) {
  labels <- listed$labels
  edges <- table_of(listed)
  focus <- if (!is.null(around)) unique(variables_at(around, labels, "around"))
  order <- check_order(order, 0L)
  if (!is.null(isolated)) {
    isolated <- check_flag(isolated, "isolated")
  }
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
    if (length(small)) {
      left <- sprintf("%s in smaller components not drawn", counted(length(small), "variable"))
    }
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
  check_number(
    order,
    "order",
    sprintf("give a whole number of edges from %d up, or Inf; 1 means the neighbours.", least),
    least,
    whole = TRUE
  )
}

# Returns list(most, least): how many components are drawn, and their minimum number of nodes.
check_components <- function(components) {
  if (is.null(components)) {
    return(NULL)
  }
  hint <- "give the number of the largest components, such as 3, or their minimum number of nodes, c(least = 5)."
  if (
    !is.numeric(components) ||
      length(components) != 1L ||
      anyNA(components) ||
      components < 1 ||
      (is.finite(components) && components != floor(components)) ||
      !(names(components) %||% "") %in% c("", "most", "least")
  ) {
    abort_argument("components", components, hint)
  }
  if (identical(names(components), "least")) {
    list(most = Inf, least = components[[1L]])
  } else {
    list(most = components[[1L]], least = 1)
  }
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
    pag = listed$pag,
    labels = listed$labels[nodes],
    edges = Map(function(to, inside) new[to[inside]], edges, inside, USE.NAMES = FALSE),
    weights = if (!is.null(listed$weights)) Map(`[`, listed$weights[nodes], inside, USE.NAMES = FALSE)
  )
}

# Turns values of nodes into colours and sizes, with entries for the legend.

# Returns list(values, title) with a value for each node of `labels`. `given` is a vector in their order or with their
# names, or a list that contains one such vector; the name of the list's element is the title.
values_of_nodes <- function(given, labels, argument) {
  title <- NULL
  if (is.list(given)) {
    if (length(given) != 1L) {
      abort_argument(
        argument,
        given,
        "give one vector, or list(title = vector) for a legend with a title.",
        is = sprintf("a list of %d", length(given))
      )
    }
    title <- names(given)
    given <- given[[1L]]
  }
  if (!is.null(dim(given)) || !(is.atomic(given) || is.factor(given)) || is.null(given)) {
    abort_argument(argument, given, "give a vector with a value for each node.")
  }
  if (!is.null(names(given)) && any(names(given) %in% labels)) {
    return(list(values = unname(given[match(labels, names(given))]), title = title))
  }
  warn_other_names(names(given), labels, argument)
  if (length(given) != length(labels)) {
    abort_argument(
      argument,
      given,
      "give the values in the order of the nodes, or a vector with the names of nodes.",
      needs = sprintf("a value for each node (%d), not %d", length(labels), length(given))
    )
  }
  list(values = unname(given), title = title)
}

# Returns one value for each node, matched by name if the names are those of the nodes.
in_order_of_nodes <- function(values, labels, argument) {
  own <- names(values)
  if (is.null(own) || identical(own, labels)) {
    return(values)
  }
  if (is_permuted(own, labels)) {
    return(values[match(labels, own)])
  }
  if (any(own %in% labels)) {
    abort_argument(
      argument,
      own,
      "use only names of nodes, or remove the names with unname().",
      has = paste(
        "names that are not nodes, next to others that are:",
        enumerate(dQuote(setdiff(own, labels), FALSE), 3L)
      )
    )
  }
  warn_other_names(own, labels, argument)
  values
}

# Warns about values whose names match no node, which are assigned by position. Silent if the nodes have no names of
# their own.
warn_other_names <- function(own, labels, argument) {
  if (!is.null(own) && any(nzchar(own)) && !are_numbers(labels)) {
    warn(
      "names",
      sprintf(
        "The names of `%s`, such as %s, match no node: its values are assigned by position.",
        argument,
        dQuote(own[nzchar(own)][1L], FALSE)
      ),
      argument = argument
    )
  }
}

no_value <- "#D9D9D9"

# Returns list(fill, key) for the nodes: colours, and the entry of the legend; `key` is NULL for colours that the user
# gave.
node_colours <- function(given, labels) {
  if (is.null(given)) {
    return(NULL)
  }
  if (is.character(given) && length(given) == 1L && length(labels) != 1L && are_colours(given)) {
    return(list(fill = rep(given, length(labels))))
  }
  column <- values_of_nodes(given, labels, "colour")
  values <- column$values
  if (is.character(values) && !all(is.na(values)) && are_colours(values)) {
    return(list(fill = ifelse(is.na(values), no_value, values)))
  }
  values_as_colours(values, column$title)
}

# Returns list(fill, key) for numbers or levels. ramps: list(one, two, levels), the colours of scales for numbers of one sign
# and of both, and those of levels; or NULL for those of nodes.
values_as_colours <- function(values, title, ramps = NULL) {
  if (is.numeric(values) && !is.factor(values)) {
    return(numeric_colours(as.double(values), title, ramps))
  }
  values <- if (is.null(ramps)) droplevels(factor(values)) else factor(values, levels(values) %||% sort(unique(values)))
  n <- nlevels(values)
  colours <- if (n <= length(ramps$levels)) ramps$levels[seq_len(n)] else level_colours(n)
  fill <- colours[as.integer(values)]
  fill[is.na(values)] <- no_value
  # Levels without an edge keep their colours.
  there <- seq_len(n) %in% as.integer(values)
  key <- list(kind = "levels", title = title, labels = levels(values)[there], colours = colours[there])
  list(fill = fill, key = c(key, list(missing = anyNA(values))))
}

are_colours <- function(values) {
  values <- unique(values[!is.na(values)])
  # Numbers as text would be indices of the palette.
  !any(grepl("^[0-9]+$", values)) && !inherits(try(grDevices::col2rgb(values), silent = TRUE), "try-error")
}

level_colours <- function(n) {
  # The palette of Okabe and Ito, which colour-blind readers can distinguish. Light colours come first, because labels
  # are written on them.
  few <- c("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2")
  if (n <= length(few)) few[seq_len(n)] else grDevices::hcl.colors(n, "Dynamic")
}

# Uses a scale from blue over white (at 0) to red for values of both signs, and from light to dark otherwise.
numeric_colours <- function(values, title, ramps = NULL) {
  finite <- values[is.finite(values)]
  ends <- if (length(finite)) range(finite) else c(0, 0)
  diverging <- ends[1L] < 0 && ends[2L] > 0
  if (diverging) {
    ends <- c(-1, 1) * max(abs(ends))
  }
  scale <- if (is.null(ramps)) {
    grDevices::hcl.colors(101L, if (diverging) "Blue-Red 3" else "Viridis", rev = !diverging)
  } else {
    grDevices::colorRampPalette(if (diverging) ramps$two else ramps$one)(101L)
  }
  place <- if (diff(ends) > 0) {
    (pmin(pmax(values, ends[1L]), ends[2L]) - ends[1L]) / diff(ends)
  } else {
    ifelse(is.na(values), NA, 0.5)
  }
  fill <- scale[1L + round(100 * place)]
  fill[is.na(fill)] <- no_value
  key <- if (length(finite)) {
    list(
      kind = "range",
      title = title,
      ends = ends,
      colours = if (diff(ends) > 0) scale else scale[51L],
      missing = anyNA(values)
    )
  } else {
    list(kind = "levels", title = title, labels = character(), colours = character(), missing = TRUE)
  }
  list(fill = fill, key = key)
}

# Returns list(size, key): diameters of the nodes, from 1 to 3 in an arbitrary unit. Areas grow linearly with the
# values.
node_sizes <- function(given, labels, degree) {
  if (is.null(given)) {
    return(NULL)
  }
  if (is.character(given)) {
    if (!identical(given, "degree")) {
      abort_argument("size", given, "give a number for each node, or \"degree\" for the number of neighbours.")
    }
    given <- list(degree = degree)
  }
  column <- values_of_nodes(given, labels, "size")
  values <- column$values
  if (
    !(is.numeric(values) || is.logical(values)) ||
      is.factor(values) ||
      any(is.infinite(values)) ||
      any(values < 0, na.rm = TRUE)
  ) {
    abort_argument("size", values, "give a finite number of at least 0 for each node (NA draws the smallest dot).")
  }
  values <- as.double(values)
  most <- max(0, values, na.rm = TRUE)
  diameter <- function(value) sqrt(1 + 8 * value / max(most, 1e-300))
  size <- diameter(ifelse(is.na(values), 0, values))
  ends <- if (all(is.na(values))) numeric() else unique(range(values, na.rm = TRUE))
  list(
    size = size,
    values = values,
    key = if (length(ends)) {
      list(kind = "size", title = column$title, ends = ends, diameters = diameter(ends))
    }
  )
}

# Returns black or white, whichever is easier to read on a colour (relative luminance as defined by the W3C).
label_colours <- function(fill) {
  rgb <- grDevices::col2rgb(fill, alpha = TRUE) / 255
  linear <- ifelse(
    rgb[1:3, , drop = FALSE] <= 0.04045,
    rgb[1:3, , drop = FALSE] / 12.92,
    ((rgb[1:3, , drop = FALSE] + 0.055) / 1.055)^2.4
  )
  light <- colSums(linear * c(0.2126, 0.7152, 0.0722))
  # The page shows through a transparent colour.
  ifelse(light < 0.18 & rgb[4L, ] > 0.5, "white", "black")
}

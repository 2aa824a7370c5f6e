# How edges look: the marks of their kinds, and columns of the table of edges as colours, widths and labels, with entries
# for the legend.

# Returns the appearance of each kind of edge of a CPDAG or a PAG: the marks at both ends ("tail", "arrow" or "circle"),
# and `said`, its name in the legend.
edge_look <- function(colour = NULL, pag = FALSE) {
  look <- if (pag) pag_look() else cpdag_look()
  if (!is.null(colour)) {
    check_colours(
      colour,
      nrow(look),
      "edge_colour",
      if (pag) paste("in the order", enumerate(look$kind)) else "for directed edges, undirected edges and conflicts"
    )
    look$colour <- rep_len(colour, nrow(look))
  }
  look
}

cpdag_look <- function() {
  kind <- c("directed", "undirected", "conflict")
  data.frame(
    kind = kind,
    said = kind,
    colour = c("#333333", "#7A7A7A", "#C0392B"),
    lty = c(1, 1, 2),
    at_from = c("tail", "tail", "arrow"),
    at_to = c("arrow", "tail", "arrow"),
    stringsAsFactors = FALSE
  )
}

pag_look <- function() {
  data.frame(
    kind = kinds_of_pag,
    said = c("cause", "cause or common cause", "common cause", "unknown", "cause or selection", "selection"),
    colour = c("#333333", "#2F5D8A", "#C0392B", "#7A7A7A", "#B9770E", "#7D6608"),
    lty = 1,
    at_from = unname(mark_of_sign[substr(kinds_of_pag, 1L, 1L)]),
    at_to = unname(mark_of_sign[substr(kinds_of_pag, 3L, 3L)]),
    stringsAsFactors = FALSE
  )
}

mark_of_sign <- c("-" = "tail", "<" = "arrow", ">" = "arrow", "o" = "circle")

# Returns list(colour, width, label, keys) for the edges that are drawn, in their order; parts that were not asked for are
# NULL. wish: list(edge_colour, edge_width, edge_label). x: the graph. all: the network of x. drawn: the table of the drawn
# edges, with numbers of nodes; nodes: their numbers in x.
drawn_edges <- function(wish, x, drawn, nodes) {
  wish <- wish[!vapply(wish, is.null, NA)]
  if (!length(wish)) {
    return(NULL)
  }
  network <- network_of(x)
  table <- named_edges(network)
  at <- match(pair_key(nodes[drawn$from], nodes[drawn$to]), pair_key(network$edges$from, network$edges$to))
  found <- list()
  for (argument in names(wish)) {
    column <- column_of_edges(wish[[argument]], table, argument)
    made <- switch(
      argument,
      edge_colour = edge_colours(column),
      edge_width = edge_widths(column),
      edge_label = list(of = edge_texts(column))
    )
    found[[sub("edge_", "", argument)]] <- made$of[at]
    found$keys <- c(found$keys, if (!is.null(made$key)) list(made$key))
  }
  found
}

# Returns whether a value of `edge_colour` gives colours for the kinds of edges, as in edge_look().
# kinds: how many kinds there are.
are_kind_colours <- function(given, table, kinds) {
  if (is.list(given) || is_edge_column(given, table)) {
    return(FALSE)
  }
  # Another word may be meant as a column.
  if (is.character(given) && length(given) == 1L) {
    return(are_colours(given))
  }
  is.character(given) &&
    length(given) == kinds &&
    are_colours(given) ||
    length(given) != nrow(table) ||
    nrow(table) < 2L
}

is_edge_column <- function(given, table) {
  is.character(given) && length(given) == 1L && given %in% setdiff(names(table), c("from", "to"))
}

# Returns list(values, title) with a value for each row of the table of edges.
column_of_edges <- function(given, table, argument) {
  columns <- setdiff(names(table), c("from", "to"))
  hint <- sprintf(
    paste(
      "give the name of a column of edge_table() (%s), or a value for each of its %d rows, such as",
      "edge_table(fit, data)$estimate."
    ),
    enumerate(dQuote(columns, FALSE)),
    nrow(table)
  )
  title <- NULL
  if (is.list(given)) {
    if (length(given) != 1L) {
      abort_argument(argument, given, "give one column, or list(title = column) for a legend with a title.")
    }
    title <- names(given)
    given <- given[[1L]]
  }
  if (is_edge_column(given, table)) {
    values <- table[[given]]
    # Small p-values are strong edges.
    if (given == "p" && argument != "edge_label") {
      return(list(values = -log10(pmax(values, 1e-300)), title = title %||% "-log10 p"))
    }
    return(list(values = values, title = title %||% given))
  }
  if (!(is.atomic(given) || is.factor(given)) || !is.null(dim(given)) || length(given) != nrow(table)) {
    abort_argument(argument, given, hint)
  }
  list(values = unname(given), title = title)
}

# Returns list(of, key): a colour for each edge, and the entry of the legend.
edge_colours <- function(column) {
  values <- column$values
  if (is.character(values) && !all(is.na(values)) && are_colours(values)) {
    return(list(of = ifelse(is.na(values), no_value, values)))
  }
  made <- values_as_colours(values, column$title, line_ramps)
  list(of = made$fill, key = if (!is.null(made$key)) c(made$key, list(line = TRUE)))
}

# Colours of lines, which must stand out on a white page: a scale from grey, one with grey in the middle, and levels.
line_ramps <- list(
  one = c("#C9C9C9", "#7FA8CE", "#2F5D8A", "#12263F"),
  two = c("#2166AC", "#8FAFD0", "#C9C9C9", "#DE9A8C", "#B2182B"),
  # fmt: skip
  levels = c(
    "#333333", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A0177", "#8C510A", "#01665E",
    "#B2182B", "#7F7F7F"
  )
)

# Returns list(of, key): factors for the widths of lines, which grow with absolute values.
edge_widths <- function(column) {
  values <- column$values
  if (!(is.numeric(values) || is.logical(values)) || is.factor(values) || any(is.infinite(values))) {
    abort_argument("edge_width", values, "give a finite number for each edge.")
  }
  values <- abs(as.double(values))
  most <- max(0, values, na.rm = TRUE)
  width <- function(value) 0.4 + 2.4 * value / max(most, 1e-300)
  ends <- if (all(is.na(values))) numeric() else unique(range(values, na.rm = TRUE))
  list(
    of = width(ifelse(is.na(values), 0, values)),
    key = if (length(ends)) list(kind = "width", title = column$title, ends = ends, widths = width(ends))
  )
}

edge_texts <- function(column) {
  values <- column$values
  text <- if (is.numeric(values) && !is.factor(values)) {
    vapply(values, format, "", digits = 2L)
  } else {
    as.character(values)
  }
  ifelse(is.na(values), "", text)
}

# Draws labels in the middle of their edges, on a translucent white ground.
draw_edge_labels <- function(place, labels) {
  shown <- which(nzchar(labels))
  if (!length(shown)) {
    return(invisible())
  }
  ends <- edge_ends(place)
  at <- (ends$first + ends$last) / 2
  for (edge in names(ends$paths)) {
    path <- ends$paths[[edge]]
    at[as.integer(edge), ] <- path[(nrow(path) + 1L) %/% 2L, ]
  }
  at <- at[shown, , drop = FALSE]
  cex <- if (place$dots) 0.5 else max(0.45, min(0.9, 0.7 * min(place$cex)))
  wide <- graphics::strwidth(labels[shown], units = "inches", cex = cex) + 0.04
  high <- graphics::strheight(labels[shown], units = "inches", cex = cex) + 0.04
  draw_tags(data.frame(node = shown, x = at[, 1L], y = at[, 2L], cex = cex, wide = wide, high = high), labels)
}

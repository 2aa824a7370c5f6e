# Graphs of dagitty, caugi and causalDisco as input.

# Returns a graph of one of these packages in a form of ours, and anything else unchanged.
known_graph <- function(x) {
  # inherits() would load the package of an S4 class, which may not be installed.
  if (isS4(x)) {
    return(x)
  }
  pag <- FALSE
  if (inherits(x, "Disco")) {
    pag <- isTRUE(unclass(x)$graph_type %in% c("PAG", "RFCI-PAG"))
    x <- unclass(x)$caugi
  }
  if (inherits(x, "dagitty")) {
    graph_of_dagitty(x)
  } else if (inherits(x, "caugi::caugi")) {
    graph_of_caugi(x, pag)
  } else {
    x
  }
}

# A bidirected edge is a conflict only in a "pdag", which is what as_dagitty() calls a CPDAG.
graph_of_dagitty <- function(x) {
  need_package("dagitty", "a graph of dagitty needs the package dagitty")
  edges <- dagitty::edges(x)
  kind <- gsub("@", "o", as.character(edges$e), fixed = TRUE)
  kind[kind == "->"] <- "-->"
  kind[kind == "--"] <- "---"
  type <- dagitty::graphType(x)
  pag <- type %in% c("mag", "pag") || type == "dag" && any(kind == "<->")
  graph_of_arcs(x, as.character(unlist(names(x))), as.character(edges$v), as.character(edges$w), kind, pag)
}

# caugi has no class for PAGs: caugi_of() gives them, and CPDAGs with conflicts, the class "UNKNOWN".
graph_of_caugi <- function(x, pag = FALSE) {
  need_package("caugi", "a graph of caugi needs the package caugi")
  edges <- as.data.frame(caugi::edges(x))
  turned <- edges$edge == "--o"
  edges[turned, c("from", "to")] <- edges[turned, c("to", "from")]
  edges$edge[turned] <- "o--"
  pag <- pag || any(grepl("o", edges$edge, fixed = TRUE)) || S7::prop(x, "graph_class") %in% c("ADMG", "AG")
  graph_of_arcs(x, as.character(caugi::nodes(x)$name), edges$from, edges$to, edges$edge, pag)
}

# Returns a graph from names of variables.
graph_of_arcs <- function(x, labels, from, to, kind, pag) {
  unknown <- setdiff(kind, kinds_of_pag)
  if (length(unknown)) {
    abort_argument(
      "x",
      x,
      sprintf("give a graph whose edges are %s.", enumerate(dQuote(kinds_of_pag, FALSE))),
      has = paste("an edge", dQuote(unknown[1L], FALSE))
    )
  }
  twice <- anyDuplicated(data.frame(pmin(from, to), pmax(from, to)))
  if (twice) {
    abort_argument(
      "x",
      x,
      "keep one edge for each pair.",
      has = sprintf("several edges between %s and %s", from[twice], to[twice])
    )
  }
  graph_of_kinds(labels, match(from, labels), match(to, labels), kind, pag)
}

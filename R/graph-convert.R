#' Convert a result to igraph and tidygraph
#'
#' Returns a result as an igraph graph. `igraph::as.igraph()` and `tidygraph::as_tbl_graph()` of a result return the
#' same graph, and also have the argument `undirected`. ggraph draws either.
#'
#' @param x One of:
#'   - a result of [pc()], [skeleton()] or [orient()];
#'   - a result of [fci()], [rfci()] or [fciPlus()];
#'   - a graph of [random_dag()] or [cpdag_of()];
#'   - a result of [stability()], for its averaged graph;
#'   - a [graph::graphNEL-class] or an adjacency matrix.
#' @param undirected How many arcs an edge without a direction becomes: `"once"`, one arc, with `from` and `to` as in
#'   [edge_table()]; or `"both"`, one arc in each direction. See *Edges without a direction*.
#' @return A directed igraph graph. Vertices have the labels as `name`. Edges have these attributes:
#'   - `kind`: `"-->"`, `"---"` or `"<->"`;
#'   - `mark`: 1, or 2 for an orientation in conflict (`solve.confl = TRUE`);
#'   - `arrow.mode`, which igraph's `plot()` uses to draw arrowheads: 0 none, 2 at the end, 3 at both ends;
#'   - the numbers in [edge_table()]: `p`; or `strength` and `direction` (from the first vertex to the second); or
#'     `coefficient`, which [edge_table()] calls `weight` (igraph would interpret an attribute `weight` as the length of
#'     an edge).
#'
#'   The graph of a PAG has the attribute `type`, which is `"PAG"`. Its edges have the kinds of [fci()], and `mark` is
#'   pcalg's mark at the head of an arc: 1 circle, 2 arrowhead, 3 tail. `-->`, `o->` and `o--` become one arc.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if igraph is not installed.
#' @section Edges without a direction:
#' A graph of igraph is directed or undirected as a whole, but a CPDAG and a PAG have edges of both sorts. By default
#' each edge becomes one arc, so `ecount()` is the number of edges, and `degree()` the number of neighbours of a
#' variable. The arc of an edge without a direction then has an arbitrary direction. Make functions that follow arcs
#' ignore directions, as in `betweenness(g, directed = FALSE)`, `distances(g)` or `components(g)`, which treat edges of
#' all kinds alike.
#'
#' With `undirected = "both"`, functions that follow arcs can pass an edge without a direction either way, as in
#' `betweenness(g)`, or in `subcomponent(g, v, mode = "out")` for possible descendants. `ecount()` and `degree()` then
#' count such an edge twice.
#' @seealso [as_bn()], [as_dagitty()], [caugi_of()], [write_network()]
#' @examplesIf requireNamespace("igraph", quietly = TRUE)
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' g <- as_igraph(pc(x, alpha = 0.01, numCores = 2))
#' igraph::degree(g)
#' igraph::betweenness(g, directed = FALSE)
#' @export
as_igraph <- function(x, undirected = c("once", "both")) {
  undirected <- check_choice(undirected, c("once", "both"), "undirected")
  network <- network_of(x)
  need_package("igraph", "as_igraph() needs the package igraph")
  pag <- isTRUE(network$pag)
  arcs <- (if (pag) arcs_of_pag else arcs_of)(network$edges, undirected == "both")
  graph <- igraph::make_empty_graph(length(network$labels), directed = TRUE)
  if (pag) {
    graph <- igraph::set_graph_attr(graph, "type", "PAG")
  }
  graph <- igraph::set_vertex_attr(graph, "name", value = network$labels)
  igraph::add_edges(graph, rbind(arcs$from, arcs$to), attr = as.list(arcs[setdiff(names(arcs), c("from", "to"))]))
}

# Returns every edge as one arc, or, if `both`, as two arcs if it has no direction, by tail, then head.
arcs_of <- function(edges, both) {
  arcs_with(edges, both & edges$kind != "-->", function(kind) ifelse(kind == "<->", 2, 1))
}

arcs_of_pag <- function(edges, both) {
  arcs_with(edges, both & edges$kind %in% c("<->", "o-o", "---"), function(kind) {
    c(o = 1, ">" = 2, "-" = 3)[substr(kind, 3L, 3L)]
  })
}

# `both`: which edges become two arcs. `mark`: a function that returns the marks of arcs of these kinds.
arcs_with <- function(edges, both, mark) {
  both <- which(both)
  back <- edges[both, ]
  back[c("from", "to")] <- edges[both, c("to", "from")]
  if (!is.null(back$direction)) {
    back$direction <- 1 - back$direction
  }
  arcs <- rbind(edges, back)
  arcs$mark <- unname(mark(arcs$kind))
  arcs$arrow.mode <- ifelse(!endsWith(arcs$kind, ">"), 0, ifelse(startsWith(arcs$kind, "<"), 3, 2))
  names(arcs)[names(arcs) == "weight"] <- "coefficient"
  arcs <- arcs[order(arcs$from, arcs$to), ]
  first <- c("from", "to", "mark")
  list2DF(as.list(arcs[c(first, setdiff(names(arcs), first))]))
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcCompact <- function(x, undirected = c("once", "both"), ...) {
  check_dots(list(...), character(), "as.igraph.pcCompact")
  as_igraph(x, undirected)
}

#' @exportS3Method igraph::as.igraph
as.igraph.pcAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.fciAlgo <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_graph <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_stability <- as.igraph.pcCompact

#' @exportS3Method igraph::as.igraph
as.igraph.pcgpu_pag_stability <- as.igraph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcCompact <- function(x, undirected = c("once", "both"), ...) {
  check_dots(list(...), character(), "as_tbl_graph.pcCompact")
  tidygraph::as_tbl_graph(as_igraph(x, undirected))
}

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.fciAlgo <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_graph <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_stability <- as_tbl_graph.pcCompact

#' @exportS3Method tidygraph::as_tbl_graph
as_tbl_graph.pcgpu_pag_stability <- as_tbl_graph.pcCompact

#' Convert a result to bnlearn
#'
#' Returns a graph of class `bn` for bnlearn's scores, fits and plots. It is made by bnlearn's own functions
#' `empty.graph()` and `arcs<-`. An undirected edge stays undirected in bnlearn.
#'
#' @param x A result or graph of any kind that [as_igraph()] accepts, except results of [fci()] and its relatives,
#'   because bnlearn cannot represent hidden common causes.
#' @param conflicts What to do with edges in conflict (`<->`, with `solve.confl = TRUE` only), because bnlearn has no
#'   edges with two heads: `"error"`, `"undirected"` to make them undirected, or `"drop"` to leave them out.
#' @param check If `TRUE`, bnlearn refuses directed cycles, which a graph that is not a valid CPDAG may contain.
#' @return A network of class `bn` of the package bnlearn, with the variables in the same order.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if bnlearn is not installed.
#' @references M. Scutari (2010). Learning Bayesian networks with the bnlearn R package. *Journal of Statistical
#'   Software* 35(3), 1-22.
#' @seealso [as_igraph()]; [compare_graphs()], which takes bnlearn's networks
#' @examplesIf requireNamespace("bnlearn", quietly = TRUE)
#' as_bn(cpdag_of(random_dag(6, seed = 1)))
#' @export
as_bn <- function(x, conflicts = c("error", "undirected", "drop"), check = TRUE) {
  network <- network_of(x)
  if (isTRUE(network$pag)) {
    refuse_pag(x, instead = "bnlearn cannot represent a PAG, but as_dagitty() and caugi_of() can")
  }
  conflicts <- check_choice(conflicts, c("error", "undirected", "drop"), "conflicts")
  check <- check_flag(check, "check")
  in_conflict <- network$edges$kind == "<->"
  if (any(in_conflict) && conflicts == "error") {
    abort_argument(
      "x",
      x,
      "give conflicts = \"undirected\" or \"drop\".",
      has = sprintf("%s in conflict (<->), which bnlearn cannot represent", counted(sum(in_conflict), "edge"))
    )
  }
  need_package("bnlearn", "as_bn() needs the package bnlearn")
  edges <- if (conflicts == "drop") network$edges[!in_conflict, ] else network$edges
  if (!length(network$labels)) {
    abort_argument(
      "x",
      x,
      "give a graph with at least one variable.",
      has = "no variables, but bnlearn needs at least one"
    )
  }
  graph <- bnlearn::empty.graph(network$labels)
  if (!nrow(edges)) {
    return(graph)
  }
  arcs <- arcs_of_bn(edges, network$labels)
  tryCatch(bnlearn::`arcs<-`(graph, check.cycles = check, value = arcs), error = function(e) {
    abort_argument(
      "x",
      x,
      "give a valid CPDAG (see run_details()), or check = FALSE.",
      is = sprintf("a graph that bnlearn refuses (%s)", conditionMessage(e))
    )
  })
}

# Returns the arcs of a graph of bnlearn, in which an undirected edge is two arcs.
arcs_of_bn <- function(edges, labels) {
  arcs <- arcs_of(edges, both = TRUE)
  cbind(from = labels[arcs$from], to = labels[arcs$to])
}

#' Convert a result to dagitty
#'
#' Returns the graph in the language of DAGitty, for the R package, for <https://dagitty.net>, or for ggdag. dagitty's
#' functions for adjustment sets and implied independences accept it.
#'
#' @param x A result or graph of any kind that [as_igraph()] accepts.
#' @param text If `TRUE`, returns only the text, which does not need the package dagitty.
#' @return An object of class `dagitty` of the package dagitty, or one string. The string contains `"pdag {"`, one line
#'   for each variable, one line for each edge (`->`, `--`, or `<->` for a conflict), and `"}"`. It begins with `"dag
#'   {"` for a graph of [random_dag()], and with `"pag {"` for a result of [fci()] and its relatives, whose circles are
#'   written `@`, as in `@->` and `@-@`. Names are quoted if the language requires it. In dagitty `<->` stands for a
#'   hidden common cause, so check a CPDAG for conflicts before you use the graph there.
#'
#'   Errors have the class `pcgpu_error_argument` if a name has a character that the language does not allow (one that
#'   does not print, or a backslash at the end). They have the class `pcgpu_error_package` if dagitty is not installed.
#' @references
#' J. Textor, B. van der Zander, M. S. Gilthorpe, M. Liskiewicz and G. T. H. Ellison (2016). Robust causal inference
#' using directed acyclic graphs: the R package 'dagitty'. *International Journal of Epidemiology* 45(6), 1887-1894.
#' @seealso [as_igraph()], [causal_effects()]
#' @examples
#' cat(as_dagitty(cpdag_of(random_dag(6, seed = 1)), text = TRUE))
#' @export
as_dagitty <- function(x, text = FALSE) {
  network <- network_of(x)
  text <- check_flag(text, "text")
  if (!text) {
    need_package("dagitty", "as_dagitty(text = FALSE) needs the package dagitty")
  }
  name <- dagitty_names(network$labels)
  edges <- network$edges
  kind <- c("-->" = " -> ", "---" = " -- ", "<->" = " <-> ", "o->" = " @-> ", "o-o" = " @-@ ", "o--" = " @-- ")[
    edges$kind
  ]
  check_object(x)
  dag <- inherits(x, "pcgpu_graph") && all(x$directed)
  lines <- c(
    if (dag) {
      "dag {"
    } else if (isTRUE(network$pag)) {
      "pag {"
    } else {
      "pdag {"
    },
    name,
    paste0(name[edges$from], kind, name[edges$to], recycle0 = TRUE),
    "}"
  )
  written <- paste0(lines, "\n", collapse = "")
  if (text) written else dagitty::dagitty(written)
}

# Returns names in quotes, except plain words. In a string of the language \" is a quote, and any other backslash is
# literal.
dagitty_names <- function(labels) {
  labels <- enc2utf8(labels)
  bad <- grepl("[\\x01-\\x1f\\x7f]|\\\\$", labels, perl = TRUE) | !nzchar(labels)
  if (any(bad)) {
    abort_argument(
      "x",
      labels,
      "rename these variables.",
      has = paste("names that dagitty does not allow:", enumerate(encodeString(labels[bad], quote = "\"")))
    )
  }
  plain <- grepl("^[A-Za-z_][A-Za-z0-9_.]*$", labels)
  ifelse(plain, labels, paste0("\"", gsub("\"", "\\\"", labels, fixed = TRUE), "\""))
}

#' Convert a result to caugi
#'
#' Returns a graph of class `caugi`, made by that package's constructor. caugi has the same kinds of edges: `-->`, `---`
#' and `<->`, and for PAGs `o->`, `o-o` and `--o` (our `o--`, from its other end). The name is not `as_caugi()`, because
#' caugi has a function of that name.
#'
#' @param x A result or graph of any kind that [as_igraph()] accepts.
#' @param class Graph class that is passed to caugi, which checks the graph against it, such as `"PDAG"`, `"DAG"` or
#'   `"UNKNOWN"`. `NULL` means
#'   - `"DAG"` for a graph of [random_dag()];
#'   - `"UNKNOWN"`, which checks nothing, for a PAG, for a graph with conflicts, and for a search whose graph is not a
#'     valid CPDAG;
#'   - `"PDAG"` for other graphs.
#' @return A graph of class `caugi` of the package caugi, with the variables in the same order.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if caugi is not installed. Errors of the
#'   constructor are caugi's own.
#' @references F. Fabricius-Bjerre, J. Larsson and M. Sachs. caugi: Causal Graph Interface. R package.
#' @seealso [as_igraph()], [as_dagitty()]
#' @examplesIf requireNamespace("caugi", quietly = TRUE)
#' caugi_of(cpdag_of(random_dag(6, seed = 1)))
#' @export
caugi_of <- function(x, class = NULL) {
  network <- network_of(x)
  if (!is.null(class) && !(is.character(class) && length(class) == 1L && !is.na(class))) {
    abort_argument("class", class, "give the name of one of caugi's graph classes, or NULL.")
  }
  need_package("caugi", "caugi_of() needs the package caugi")
  do.call(caugi::caugi, caugi_arguments(x, network, class))
}

# Returns the arguments of the constructor.
caugi_arguments <- function(x, network, class = NULL) {
  edges <- network$edges
  turned <- edges$kind == "o--"
  edges[turned, c("from", "to")] <- edges[turned, c("to", "from")]
  edges$kind[turned] <- "--o"
  valid <- !isTRUE(network$pag) &&
    !any(edges$kind == "<->") &&
    !((is_compact(x) || is_result(x)) && isFALSE(run_details(x)$valid_cpdag))
  check_object(x)
  dag <- inherits(x, "pcgpu_graph") && all(x$directed)
  list(
    from = network$labels[edges$from],
    edge = edges$kind,
    to = network$labels[edges$to],
    nodes = network$labels,
    class = class %||%
      if (dag) {
        "DAG"
      } else if (valid) {
        "PDAG"
      } else {
        "UNKNOWN"
      }
  )
}

#' Compare graphs with each other, or with the true one
#'
#' Counts which edges and arrowheads of graphs are also in another graph, which may be the true one, and lists the edges
#' in which they differ. The result is a table with one row for each comparison; [edge_table()] of it has one row for
#' each edge. 20,000 variables take about a second, because graphs are stored as lists of edges.
#'
#' # Two graphs, or one and the truth
#'
#' The counts below call the second graph true: `adj_fn`, for instance, is the number of adjacencies in the second graph
#' only. This is meant for simulations, and for networks that are known. If both graphs come from data, such as those of
#' two groups of patients, neither is true. Then F1, `reversed`, `shd` and the table of edges still say how they differ.
#' Precision and recall are the shares of the edges of the first and of the second graph that are in both. `print()`
#' omits them if the second graph is an estimate: a result of [stability()], or of a search in data with a test of this
#' package.
#'
#' Graphs from data differ, even if their data have the same source. [compare_groups()] tests whether two groups differ
#' more than that.
#'
#' # The edges
#'
#' `edge_table(comparison)` has one row for each pair of variables that is adjacent in any of the graphs:
#' - `from`, `to`: the names of the variables;
#' - a column for each graph, with its name: the edge as seen from `from`, such as `"-->"`, `"<--"` or `"---"`; `""` if
#'   the graph does not have it. Graphs have the names in the list, or of the variables in the call. Otherwise they are
#'   `estimated` and `true`, or `first` and `second` if `true` is itself an estimate;
#' - `graphs`, for more than two graphs: the number of graphs that have the edge;
#' - `difference`: `"both"` (for more than two graphs, `"all"`) if the edge is in all graphs with the same marks;
#'   `"turned"` if graphs that have it differ in its marks; `"only "` and the name of the graph if one graph has it;
#'   `"some"` otherwise.
#'
#' With `cpdag = TRUE` these are the edges of the CPDAGs.
#'
#' # What is counted
#'
#' - *Adjacencies*: pairs of variables with an edge of any kind. Precision is the share of the estimated adjacencies
#'   that are true, recall the share of the true adjacencies that are found, F1 their harmonic mean. `adj_fpr` is the
#'   share of the pairs without a true edge that have an estimated one. `pcalg::compareGraphs()` calls recall `tpr` and
#'   precision `tdr`.
#' - *Arrowheads*: ends of edges to which an arrow points: x -> y has one, at y; x - y has none; an edge in conflict (x
#'   <-> y) has two. An estimated arrowhead is right if the true graph has an edge between the two variables with an
#'   arrowhead at that end. Tetrad and causal-learn (`ArrowConfusion`) count in the same way. `arrow_precision_common`
#'   and `arrow_recall_common` count only heads on pairs that are adjacent in both graphs, which leaves out the cost of
#'   wrong adjacencies.
#' - `reversed`: pairs that are x -> y in one graph and x <- y in the other.
#' - `shd`, the structural Hamming distance (Tsamardinos, Brown and Aliferis 2006): pairs whose edge is in only one
#'   graph, or has another direction. For CPDAGs it equals `pcalg::shd()`. An edge in conflict counts as undirected
#'   there (in the table of edges, an undirected edge and one in conflict differ).
#'
#' # Partial ancestral graphs
#'
#' If the graphs are PAGs (results of [fci()] and its relatives, of pcalg's `dag2pag()`, or their matrices of class
#' `"amat"`), each end of an edge has a mark. The table counts adjacencies, as above, and
#' - *marks*: arrowheads, tails and circles, each as arrowheads above: an estimated mark is right if the true graph has
#'   an edge between the two variables with the same mark at that end. Arrowheads and tails are claims (Tetrad counts in
#'   this way). A circle claims nothing; in the true graph it means that data cannot decide;
#' - `marks_agree`: the share of marks that agree, on pairs that are adjacent in both graphs (Colombo and others 2012);
#' - `shd`: pairs whose edge is in only one graph, or has another mark.
#'
#' A ratio with a denominator of 0 is `NA`. (`pcalg::compareGraphs()` has `tdr` 1 if no edge is estimated, `tpr` 0 if
#' none is true, and `fpr` 1 if all pairs have edges.)
#'
#' @param estimated A graph, or a list of graphs, whose names appear in the table. Graphs are results of
#'   [pc()], of [fci()] or of pcalg; [graph::graphNEL-class]; adjacency matrices, as `as(graph, "matrix")` returns them
#'   or as pcalg's `"amat"`; or graphs of [random_dag()] and [cpdag_of()], of [stability()] (the averaged graph), of
#'   igraph and tidygraph, of bnlearn, of dagitty, or of caugi and causalDisco. In dagitty and caugi, `<->` is a hidden
#'   common cause, which makes a graph a PAG. It is a conflict in a `"pdag"` of dagitty and in a graph of caugi of class
#'   `"UNKNOWN"` without circles, which is how [as_dagitty()] and [caugi_of()] write conflicts.
#' @param true The true graph, or any other, in one of these forms. If it is missing, all pairs of the list `estimated`
#'   are compared. Variables are matched by name, or by position if the names in one of the graphs are only numbers.
#' @param cpdag If `TRUE`, DAGs are converted to their CPDAG (see [cpdag_of()]) before comparison, because data cannot
#'   distinguish equivalent DAGs. A DAG is a graph whose edges are all directed, without a cycle; other graphs are
#'   compared as they are. If `FALSE`, all graphs are compared as they are. The argument is ignored for PAGs.
#' @return A data frame of class `pcgpu_comparison` with one row for each graph of `estimated`, or for each pair of them
#'   if `true` is missing, and the columns
#'   - `graph`, its name; `other`, the name of the second graph, if `true` is missing or an estimate;
#'   - `edges` and `true_edges`, the numbers of edges of the two;
#'   - `adj_tp`, `adj_fp`, `adj_fn`, `adj_precision`, `adj_recall`, `adj_f1`, `adj_fpr`;
#'   - `arrow_tp`, `arrow_fp`, `arrow_fn`, `arrow_precision`, `arrow_recall`, `arrow_f1`, `arrow_precision_common`,
#'     `arrow_recall_common`;
#'   - `reversed`; `shd`.
#'
#'   For PAGs there are also `tail_*` and `circle_*`, named like `arrow_*`, and `marks_agree` replaces `reversed`.
#'   `print()` shows the main columns and counts the edges. For two estimates, `both` is `adj_tp`, `only graph` is
#'   `adj_fp` and `only other` is `adj_fn`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' D. Colombo, M. H. Maathuis, M. Kalisch and T. S. Richardson (2012). Learning high-dimensional directed acyclic graphs
#' with latent and selection variables. *Annals of Statistics* 40, 294-321.
#'
#' I. Tsamardinos, L. E. Brown and C. F. Aliferis (2006). The max-min hill-climbing Bayesian network structure learning
#' algorithm. *Machine Learning* 65, 31-78.
#'
#' J. D. Ramsey and others (2018). TETRAD - a toolbox for causal discovery. *8th International Workshop on Climate
#' Informatics*.
#'
#' Y. Zheng and others (2024). Causal-learn: causal discovery in Python. *JMLR* 25(60), 1-8.
#' @seealso [compare_groups()] for two groups of rows; [random_dag()] and [cpdag_of()] for true graphs, [random_data()]
#'   for their data; [markov_check()] if there is no true graph.
#' @examples
#' dag <- random_dag(20, neighbours = 2, seed = 3)
#' x <- random_data(dag, 1000, seed = 3, numCores = 2)
#' strict <- pc(x, gaussCItest, alpha = 0.001, numCores = 2)
#' compare_graphs(strict, dag)
#'
#' # Two estimates, and the edges in which they differ
#' loose <- pc(x, gaussCItest, alpha = 0.2, numCores = 2)
#' compared <- compare_graphs(strict, loose)
#' compared
#' subset(edge_table(compared), difference != "both")
#'
#' # All pairs of a list
#' compare_graphs(list(strict = strict, loose = loose, dag = dag))
#' @export
compare_graphs <- function(estimated, true, cpdag = TRUE) {
  check_given(list(estimated = missing(estimated)), list(estimated = "give a graph, or a list of graphs."))
  cpdag <- check_flag(cpdag, "cpdag")
  alone <- missing(true)
  is_truth <- !alone && !is_estimate(true)
  said <- list(
    said_name(substitute(estimated), if (alone || is_truth) "estimated" else "first"),
    if (!alone) said_name(substitute(true), if (is_truth) "true" else "second")
  )
  several <- is.list(estimated) && !is.object(estimated)
  if (!several) {
    estimated <- list(estimated)
  }
  if (!length(estimated)) {
    abort_argument("estimated", estimated, "give at least one graph.")
  }
  check_given(
    list(true = alone && length(estimated) == 1L),
    list(true = "give the true graph or a second one, or a list of several graphs as `estimated`.")
  )
  names <- names(estimated) %||% rep.int("", length(estimated))
  unnamed <- is.na(names) | names == ""
  names[unnamed] <- if (several) as.character(seq_along(estimated))[unnamed] else said[[1L]]
  compare_listed(c(estimated, if (!alone) list(true)), column_names_of(c(names, said[[2L]])), cpdag, alone, is_truth)
}

# Compares graphs with the last of them or, if `pairs`, each with each. `names`: one for each graph.
compare_listed <- function(graphs, names, cpdag, pairs, is_truth) {
  count <- length(graphs)
  graphs <- lapply(seq_len(count), function(at) {
    about(if (pairs || at < count) "estimated" else "true", known_graph(graphs[[at]]))
  })
  pag <- any(vapply(graphs, is_pag, NA))
  read <- function(graph, argument) {
    if (pag) {
      return(pag_to_compare(graph, argument))
    }
    listed <- about(argument, edges_of(graph))
    if (cpdag) listed_cpdag(listed) else listed
  }
  # The order of the variables is that of the true graph, or of the first one.
  first <- if (pairs) 1L else count
  argument <- if (pairs) "estimated" else "true"
  reference <- read(graphs[[first]], argument)
  labels <- reference$labels
  of <- if (pairs) "its first graph" else "`true`"
  listed <- lapply(graphs[-first], function(graph) in_order_of_true(read(graph, "estimated"), labels, of))
  listed <- append(listed, list(reference), if (pairs) 0L else count - 1L)

  to <- if (pairs) seq_len(count)[-1L] else count
  counts <- lapply(to, function(to) counts_of(listed[seq_len(to - 1L)], listed[[to]], pag))
  rows <- data.frame(graph = sequence(to - 1L), other = rep.int(to, to - 1L))
  by <- order(rows$graph, rows$other)
  make <- if (pag) comparison_of_pags else comparison_table
  table <- make(
    names[rows$graph[by]],
    do.call(rbind, unlist(counts, recursive = FALSE))[by, , drop = FALSE],
    length(labels)
  )
  if (!is_truth) {
    table <- list2DF(append(table, list(other = names[rows$other[by]]), 1L))
  }
  structure(
    table,
    class = c("pcgpu_comparison", "data.frame"),
    variables = length(labels),
    cpdag = cpdag && !pag,
    pag = pag,
    graphs = list(labels = labels, edges = stats::setNames(lapply(listed, pairs_of_lists), names))
  )
}

# Returns the counts that compare each of several graphs with another one.
counts_of <- function(listed, other, pag) {
  if (pag) {
    lapply(listed, counts_of_pag, truth = ends_of_pag(other))
  } else {
    check_rust(rust_compare(listed, other, FALSE))
  }
}

# Returns the name under which the user passed a graph: its variable, or `otherwise` for any other expression.
said_name <- function(expression, otherwise) {
  name <- if (is.name(expression)) as.character(expression) else ""
  if (name %in% c("", ".")) otherwise else name
}

# Returns whether a graph is itself learnt from data. A search whose test is an R function can be one of d-separations
# in the true graph.
is_estimate <- function(x) {
  inherits(x, "pcgpu_stability") ||
    (is_result(x) || is_compact(x) || is_fci(x)) && isTRUE(about("true", run_details(x))$samples > 0)
}

# Returns the CPDAG if the graph is a DAG, and otherwise the graph itself.
listed_cpdag <- function(listed) {
  found <- check_rust(rust_cpdag(listed$edges))
  if (is.null(found)) listed else edges_of_table(listed$labels, found$from, found$to, found$directed)
}

# Turns Rust's counts into the table; columns are in Rust's order.
comparison_table <- function(names, counts, p) {
  of <- function(number) counts[, number]
  share <- function(some, all) ifelse(all > 0, some / all, NA_real_)
  tp <- of(3L)
  heads <- of(6L)
  data.frame(
    graph = names,
    edges = of(1L),
    true_edges = of(2L),
    adj_tp = tp,
    adj_fp = of(1L) - tp,
    adj_fn = of(2L) - tp,
    adj_precision = share(tp, of(1L)),
    adj_recall = share(tp, of(2L)),
    adj_f1 = share(2 * tp, of(1L) + of(2L)),
    adj_fpr = share(of(1L) - tp, p * (p - 1) / 2 - of(2L)),
    arrow_tp = heads,
    arrow_fp = of(4L) - heads,
    arrow_fn = of(5L) - heads,
    arrow_precision = share(heads, of(4L)),
    arrow_recall = share(heads, of(5L)),
    arrow_f1 = share(2 * heads, of(4L) + of(5L)),
    arrow_precision_common = share(heads, of(7L)),
    arrow_recall_common = share(heads, of(8L)),
    reversed = of(9L),
    shd = of(10L),
    stringsAsFactors = FALSE
  )
}

# Returns a graph with its variables in the order of the true graph. of: that graph, for messages.
in_order_of_true <- function(listed, labels, of = "`true`") {
  own <- listed$labels
  if (length(own) != length(labels)) {
    abort_argument(
      "estimated",
      own,
      "compare graphs with the same variables.",
      has = sprintf("%d variables, but %s has %d", length(own), of, length(labels))
    )
  }
  if (identical(own, labels)) {
    return(listed)
  }
  # Numbers in order are not names.
  if ((are_numbers(own) || are_numbers(labels)) && !is_permuted(own, labels)) {
    return(listed)
  }
  place <- match(own, labels)
  if (anyNA(place) || anyDuplicated(place)) {
    has <- if (anyNA(place)) {
      sprintf("variables that %s does not have: %s", of, enumerate(dQuote(own[is.na(place)], FALSE)))
    } else {
      sprintf("repeated names of variables: %s", enumerate(dQuote(unique(own[duplicated(own)]), FALSE)))
    }
    abort_argument("estimated", own, "use the same names in both graphs.", has = has)
  }
  moved <- lapply(listed$edges, function(to) place[to])
  by <- lapply(moved, order)
  back <- order(place)
  list(
    pag = listed$pag,
    labels = labels,
    edges = Map(function(to, by) to[by], moved, by)[back],
    weights = if (!is.null(listed$weights)) Map(function(weights, by) weights[by], listed$weights, by)[back]
  )
}

#' @exportS3Method print pcgpu_comparison
print.pcgpu_comparison <- function(x, digits = 3L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_comparison")
  pag <- isTRUE(attr(x, "pag"))
  names <- names(attr(x, "graphs")$edges)
  pairs <- "other" %in% names(x)
  main <- c(
    graph = "graph",
    if (pairs) {
      c(other = "other", adj_tp = "both", adj_fp = "only graph", adj_fn = "only other", adj_f1 = "F1")
    } else {
      c(
        edges = "edges",
        adj_precision = "adj. prec.",
        adj_recall = "rec.",
        adj_f1 = "F1",
        arrow_precision = "arrow prec.",
        arrow_recall = "rec."
      )
    },
    if (pag) {
      c(if (!pairs) c(tail_precision = "tail prec.", tail_recall = "rec."), marks_agree = "marks agree")
    } else {
      c(if (!pairs) c(arrow_f1 = "F1"), reversed = "reversed")
    },
    shd = "SHD",
    p = "p"
  )
  main <- main[names(main) != "p" | "p" %in% names(x)]
  if (!all(c(names(main), "true_edges") %in% names(x)) || !nrow(x) || is.null(names)) {
    return(invisible(NextMethod()))
  }
  kind <- if (pag) "PAG" else "graph"
  last <- names[length(names)]
  say_lines(paste0(
    counted(attr(x, "variables"), "variable"),
    if (!pairs) {
      sprintf(", %s in %s", counted(x$true_edges[1L], "edge"), if (last == "true") paste("the true", kind) else last)
    },
    if (isTRUE(attr(x, "cpdag"))) " (DAGs compared as CPDAGs)"
  ))
  shown <- as.data.frame(
    lapply(unclass(x)[names(main)], function(column) {
      if (is.character(column)) column else format(round(column, digits), drop0trailing = FALSE, trim = TRUE)
    }),
    stringsAsFactors = FALSE
  )
  names(shown) <- main
  print_frame(shown, given, row.names = FALSE)
  say_lines(differences_text(x, pairs), groups_text(x))
  invisible(x)
}

# Implements compare_graphs() for partial ancestral graphs: which edges, and which marks at their ends, are also in the
# true PAG.

mark_names <- c(circle = 1, arrow = 2, tail = 3)

pag_to_compare <- function(graph, argument) {
  amat <- about(argument, marks_of_pag(graph))
  if (is.null(amat)) {
    abort_argument(
      argument,
      graph,
      paste(
        "compare PAGs only with PAGs; pcalg's dag2pag() returns the PAG of a DAG with hidden variables, and so does",
        "fci() with a test that reads the DAG."
      ),
      is = "not a PAG, but another graph is one"
    )
  }
  lists_of_pag(amat)
}

# Returns every end of an edge: a key for the pair and the side, and the mark there.
ends_of_pag <- function(listed) {
  p <- as.double(length(listed$labels))
  from <- rep.int(seq_along(listed$edges), lengths(listed$edges))
  to <- unlist(listed$edges, use.names = FALSE)
  list(key = from * p + to, mark = unlist(listed$weights, use.names = FALSE))
}

# Counts edges and marks. Each edge has two ends, so the number of edges is half of theirs.
counts_of_pag <- function(listed, truth) {
  ends <- ends_of_pag(listed)
  at <- match(ends$key, truth$key)
  common <- !is.na(at)
  there <- truth$mark[at]
  p <- as.double(length(listed$labels))
  key <- ends$key[common]
  from <- (key - 1) %/% p
  to <- key - from * p
  same <- ends$mark[common] == there[common]
  # A pair is right if both of its ends are.
  pair <- pair_key(from, to)
  wrong <- length(unique(pair[!same]))
  counts <- c(
    edges = length(ends$key) / 2,
    true_edges = length(truth$key) / 2,
    common = sum(common) / 2,
    agree = sum(same),
    shd = length(ends$key) / 2 + length(truth$key) / 2 - sum(common) + wrong
  )
  for (name in names(mark_names)) {
    mark <- mark_names[[name]]
    counts[paste0(name, c("_tp", "_found", "_true", "_found_common", "_true_common"))] <- c(
      sum(ends$mark[common] == mark & there[common] == mark),
      sum(ends$mark == mark),
      sum(truth$mark == mark),
      sum(ends$mark[common] == mark),
      sum(there[common] == mark)
    )
  }
  counts
}

comparison_of_pags <- function(names, counts, p) {
  of <- function(name) unname(counts[, name])
  share <- function(some, all) ifelse(all > 0, some / all, NA_real_)
  tp <- of("common")
  table <- list(
    graph = names,
    edges = of("edges"),
    true_edges = of("true_edges"),
    adj_tp = tp,
    adj_fp = of("edges") - tp,
    adj_fn = of("true_edges") - tp,
    adj_precision = share(tp, of("edges")),
    adj_recall = share(tp, of("true_edges")),
    adj_f1 = share(2 * tp, of("edges") + of("true_edges")),
    adj_fpr = share(of("edges") - tp, p * (p - 1) / 2 - of("true_edges"))
  )
  for (name in c("arrow", "tail", "circle")) {
    some <- of(paste0(name, "_tp"))
    found <- of(paste0(name, "_found"))
    true <- of(paste0(name, "_true"))
    table[paste0(
      name,
      c("_tp", "_fp", "_fn", "_precision", "_recall", "_f1", "_precision_common", "_recall_common")
    )] <- list(
      some,
      found - some,
      true - some,
      share(some, found),
      share(some, true),
      share(2 * some, found + true),
      share(some, of(paste0(name, "_found_common"))),
      share(some, of(paste0(name, "_true_common")))
    )
  }
  table$marks_agree <- share(of("agree"), 2 * tp)
  table$shd <- of("shd")
  list2DF(table)
}

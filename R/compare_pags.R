# Implements compare_graphs() for partial ancestral graphs: which edges, and which marks at their ends, are also in the true PAG.

mark_names <- c(circle = 1, arrow = 2, tail = 3)

# `names`: the names of the rows.
compare_pags <- function(estimated, true, names) {
  truth <- pag_to_compare(true, "true")
  listed <- lapply(estimated, function(graph) in_order_of_true(pag_to_compare(graph, "estimated"), truth$labels))
  rows <- lapply(listed, counts_of_pag, truth = ends_of_pag(truth))
  structure(comparison_of_pags(names, do.call(rbind, rows), length(truth$labels)), class = c("pcgpu_comparison", "data.frame"), variables = length(truth$labels), pag = TRUE)
}

pag_to_compare <- function(graph, argument) {
  amat <- about(argument, marks_of_pag(graph))
  if (is.null(amat)) {
    abort_argument(argument, graph, paste(
      "compare PAGs only with PAGs; pcalg's dag2pag() returns the PAG of a DAG with hidden variables, and so does fci() with a test that reads the DAG."
    ), is = "not a PAG, but another graph is one")
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
  pair <- paste(pmin(from, to), pmax(from, to))
  wrong <- length(unique(pair[!same]))
  counts <- c(
    edges = length(ends$key) / 2, true_edges = length(truth$key) / 2, common = sum(common) / 2, agree = sum(same),
    shd = length(ends$key) / 2 + length(truth$key) / 2 - sum(common) + wrong
  )
  for (name in names(mark_names)) {
    mark <- mark_names[[name]]
    counts[paste0(name, c("_tp", "_found", "_true", "_found_common", "_true_common"))] <- c(
      sum(ends$mark[common] == mark & there[common] == mark), sum(ends$mark == mark), sum(truth$mark == mark),
      sum(ends$mark[common] == mark), sum(there[common] == mark)
    )
  }
  counts
}

comparison_of_pags <- function(names, counts, p) {
  of <- function(name) unname(counts[, name])
  share <- function(some, all) ifelse(all > 0, some / all, NA_real_)
  tp <- of("common")
  table <- list(
    graph = names, edges = of("edges"), true_edges = of("true_edges"), adj_tp = tp, adj_fp = of("edges") - tp, adj_fn = of("true_edges") - tp,
    adj_precision = share(tp, of("edges")), adj_recall = share(tp, of("true_edges")), adj_f1 = share(2 * tp, of("edges") + of("true_edges")),
    adj_fpr = share(of("edges") - tp, p * (p - 1) / 2 - of("true_edges"))
  )
  for (name in c("arrow", "tail", "circle")) {
    some <- of(paste0(name, "_tp"))
    found <- of(paste0(name, "_found"))
    true <- of(paste0(name, "_true"))
    table[paste0(name, c("_tp", "_fp", "_fn", "_precision", "_recall", "_f1", "_precision_common", "_recall_common"))] <- list(
      some, found - some, true - some, share(some, found), share(some, true), share(2 * some, found + true),
      share(some, of(paste0(name, "_found_common"))), share(some, of(paste0(name, "_true_common")))
    )
  }
  table$marks_agree <- share(of("agree"), 2 * tp)
  table$shd <- of("shd")
  list2DF(table)
}

# Methods for results of stability().

methods::setOldClass("pcgpu_stability")
methods::setMethod("edges", "pcgpu_stability", edges_of_object)

#' @exportS3Method as.data.frame pcgpu_stability
as.data.frame.pcgpu_stability <- function(x, row.names = NULL, optional = FALSE, ..., n = Inf) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_stability")
  check_object(x)
  check_rows_shown(n)
  counts <- x$counts
  pairs <- directed_pairs(x)
  turned <- pairs$turned
  by <- utils::head(order(-pairs$strength, counts$x, counts$y), n)
  pick <- function(usual, other) ifelse(turned, other, usual)[by]
  data.frame(
    from = x$labels[pairs$from[by]],
    to = x$labels[pairs$to[by]],
    strength = pairs$strength[by],
    direction = pairs$direction[by],
    forward = pick(counts$forward, counts$backward),
    backward = pick(counts$backward, counts$forward),
    undirected = counts$undirected[by],
    bidirected = counts$bidirected[by],
    fit = edges_in_fit(x, counts, turned)[by],
    kept = x$average$kept[by],
    stringsAsFactors = FALSE
  )
}

# Returns for each pair its edge in the graph of all rows, as seen from x, or from y if it is `turned`.
edges_in_fit <- function(x, counts, turned) {
  edges <- table_of_fit(x)
  at <- match(pair_key(counts$x, counts$y), pair_key(edges$from, edges$to))
  kind <- edges$kind[at]
  ahead <- (edges$from[at] == counts$x) != turned
  ifelse(
    is.na(at),
    "",
    ifelse(kind == "directed", ifelse(ahead, "-->", "<--"), ifelse(kind == "undirected", "---", "<->"))
  )
}

table_of_fit <- function(x) {
  if (is_compact(x$fit)) {
    return(compact_edges(x$fit))
  }
  listed <- edges_of(x$fit)
  table_of_lists(listed$edges, listed$weights)
}

#' @exportS3Method print pcgpu_stability
print.pcgpu_stability <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_stability")
  check_object(x)
  say_lines(stability_lines(x))
  print_pairs(x, as.data.frame(x, n = n), c("from", "to", "strength", "direction", "fit", "kept"), given)
  invisible(x)
}

# Prints these columns of the first pairs.
print_pairs <- function(x, shown, columns, given) {
  if (nrow(shown)) {
    print_frame(shown[columns], given, 3L, row.names = FALSE)
    left <- nrow(x$counts) - nrow(shown)
    if (left > 0L) say_lines(sprintf("... and %s", counted(left, "more pair")))
  }
}

# Returns the lines about the samples. in_fit: the number of edges of the graph of all rows.
stability_heads <- function(x, in_fit, title) {
  p <- length(x$labels)
  kind <- if (x$how == "bootstrap") {
    c("bootstrap sample", "bootstrap samples")
  } else {
    c("sample without replacement", "samples without replacement")
  }
  c(
    sprintf(
      "%s: %s (each %s of %s %s), %s variables%s, alpha = %s",
      title,
      counted(x$replicates, kind[1L], kind[2L]),
      in_words(x$size),
      in_words(x$n),
      x$unit,
      in_words(p),
      if (nzchar(x$test)) paste0(", ", x$test) else "",
      format(x$alpha)
    ),
    sprintf(
      paste(
        "%s of %s pairs are adjacent in at least one sample; samples have %s edges on average, the graph of all rows",
        "has %s"
      ),
      in_words(nrow(x$counts)),
      in_words(p * (p - 1) / 2),
      format(sum(x$counts[-(1:2)]) / x$replicates, digits = 3L),
      in_words(in_fit)
    )
  )
}

stability_lines <- function(x) {
  edges <- averaged_edges(x)
  c(
    stability_heads(x, nrow(table_of_fit(x)), "Stability of edges"),
    paste0(
      threshold_text(x),
      sprintf(
        ": %s kept, %s directed",
        counted(nrow(edges), "edge is", "edges are"),
        in_words(sum(edges$kind == "directed"))
      )
    ),
    bound_text(x),
    if (!x$average$valid) average_note(x),
    if (x$constants > 0) {
      sprintf("%s had constant columns, which have no edges in these samples", counted(x$constants, "sample"))
    }
  )
}

threshold_text <- function(x) {
  value <- format(x$threshold$value, digits = 3L)
  switch(
    x$threshold$rule,
    significance = sprintf("Strength above %s (significance threshold of Scutari and Nagarajan 2013)", value),
    halves = sprintf("Strength of at least %s (default of stability selection)", value),
    false_edges = if (x$threshold$value == Inf) {
      "No threshold reaches the requested bound on false edges"
    } else {
      sprintf("Strength of at least %s (for the bound on false edges)", value)
    },
    given = sprintf("Strength of at least %s", value)
  )
}

bound_text <- function(x) {
  if (!is.na(x$average$false_edges)) {
    sprintf(
      paste(
        "Expected number of false edges among the kept ones: at most %s (Meinshausen and Buehlmann 2010; q = %s of %s",
        "pairs)"
      ),
      format(x$average$false_edges, digits = 3L),
      format(x$q, digits = 3L),
      in_words(x$tested)
    )
  }
}

average_note <- function(x) {
  sprintf(
    "The averaged graph is not a valid %s, because the samples vote on each edge separately.",
    if (x$knowledge) "MPDAG" else "CPDAG"
  )
}

#' @exportS3Method summary pcgpu_stability
summary.pcgpu_stability <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_stability")
  check_object(object)
  in_fit <- edges_in_fit(object, object$counts, logical(nrow(object$counts))) != ""
  summary_of_strengths(
    object,
    stability_lines(object),
    in_fit,
    nrow(table_of_fit(object)),
    c(valid = object$valid, replicates = object$replicates)
  )
}

# lines: those of print(). in_fit: whether each pair is adjacent in the graph of all rows, which has `edges` edges.
# valid: how many samples have a valid graph; NULL if nobody checks.
summary_of_strengths <- function(x, lines, in_fit, edges, valid = NULL) {
  kept <- is_kept_edge(x)
  structure(
    class = "summary.pcgpu_stability",
    list(
      lines = lines,
      by_strength = table(cut(strengths(x), seq(0, 1, 0.1))),
      fit = c(both = sum(kept & in_fit), average = sum(kept & !in_fit), fit = edges - sum(kept & in_fit)),
      valid = valid,
      seed = x$seed
    )
  )
}

#' @exportS3Method print summary.pcgpu_stability
print.summary.pcgpu_stability <- function(x, ...) {
  check_dots(list(...), character(), "print.summary.pcgpu_stability")
  say_lines(x$lines)
  say_lines(sprintf(
    "Kept edges: %s also in the graph of all rows, %s not; %s only in that graph",
    counted(x$fit[["both"]], "is", "are"),
    counted(x$fit[["average"]], "is", "are"),
    counted(x$fit[["fit"]], "edge is", "edges are")
  ))
  valid <- if (!is.null(x$valid)) {
    sprintf("%s of %s samples have a valid graph", in_words(x$valid[["valid"]]), in_words(x$valid[["replicates"]]))
  }
  say_lines(paste(c(valid, sprintf("seed %.0f", x$seed)), collapse = "; "))
  cat("Pairs by strength:\n")
  print(x$by_strength)
  invisible(x)
}

#' @exportS3Method plot pcgpu_stability
plot.pcgpu_stability <- function(x, which = c("strength", "graph"), main = NULL, ...) {
  which <- check_choice(which, c("strength", "graph"), "which")
  of_graph <- setdiff(names(formals(plot_cpdag)), c("x", "main", "..."))
  takes <- if (which == "graph") c(of_graph, unlist(engine_takes)) else graphical_takes
  if (!is.null(taught <- taught_call(takes))) {
    return(eval(taught, parent.frame()))
  }
  if (which == "strength" && any(asked <- of_graph %in% names(list(...)))) {
    abort_argument(of_graph[asked][1L], NULL, "add which = \"graph\".", is = "only used to draw the graph")
  }
  check_dots(list(...), takes, "plot.pcgpu_stability")
  check_object(x)
  if (which == "graph") {
    given <- list(...)
    ours <- list(x = x, main = main, edge_width = "strength")
    return(do.call(plot_cpdag, c(ours[!names(ours) %in% names(given)], given), quote = TRUE))
  }
  plot_strength(x, main, ...)
  invisible(x)
}

plot_strength <- function(x, main, ...) {
  frame <- as.data.frame(x)
  if (!nrow(frame)) {
    return(draw_nothing(main, "No pair is adjacent in any sample"))
  }
  old <- graphics::par(mar = c(4.5, 4.5, if (is.null(main)) 3 else 5, 1))
  on.exit(graphics::par(old))
  rank <- seq_len(nrow(frame))
  colour <- ifelse(frame$kept, node_look$border, "#A9B4BF")
  # Most of many pairs are adjacent in few samples only. The ranks are on a log scale, so that the first pairs have
  # room.
  many <- nrow(frame) > 200L
  draw_with(
    graphics::plot,
    list(
      x = rank,
      y = frame$strength,
      type = "n",
      log = if (many) "x" else "",
      xlim = c(if (many) 1 else min(0.5, nrow(frame)), nrow(frame) + 0.5),
      ylim = c(0, 1),
      xlab = "Pairs by strength",
      ylab = sprintf("Share of %s samples", in_words(x$replicates)),
      las = 1
    ),
    list(...)
  )
  if (!is.null(main)) {
    graphics::title(main = main, line = 3.2)
  }
  graphics::abline(h = x$threshold$value, lty = 2, col = "#C0392B")
  in_fit <- frame$fit != ""
  graphics::points(rank, frame$strength, pch = ifelse(in_fit, 19, 1), cex = if (many) 0.5 else 0.8, col = colour)
  legend_above(
    legend = c(
      sprintf("kept (%s)", in_words(sum(frame$kept))),
      "not kept",
      "in the graph of all rows",
      "not in it",
      sprintf("%s %s", if (x$threshold$strict) "kept above" else "kept from", format(x$threshold$value, digits = 3L))
    ),
    rows = 2L,
    pch = c(15, 15, 19, 1, NA),
    lty = c(NA, NA, NA, NA, 2),
    col = c(node_look$border, "#A9B4BF", "#333333", "#333333", "#C0392B")
  )
}

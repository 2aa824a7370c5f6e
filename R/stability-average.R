# The edges of the averaged graph of a pcgpu_stability, and their marks.

# Checks the arguments that select the edges. Returns list(threshold) or list(false_edges); list() for the default.
check_wanted <- function(threshold, false_edges, of) {
  if (!is.null(threshold) && !is.null(false_edges)) {
    abort_argument(
      "false_edges",
      false_edges,
      "leave out one of the two, which follows from the other.",
      is = "given together with `threshold`"
    )
  }
  if (!is.null(threshold)) {
    hint <- "give the smallest strength of an edge to keep, a number above 0 and at most 1, or NULL."
    return(list(threshold = check_number(threshold, "threshold", hint, most = 1, above = 0)))
  }
  if (is.null(false_edges)) {
    return(list())
  }
  if (!of$halves) {
    abort_argument(
      "false_edges",
      false_edges,
      "give how = \"subsample\" and no `size`, or give `threshold` instead.",
      is = paste0(describe(false_edges), ", but the bound holds only for samples of half of the rows")
    )
  }
  list(false_edges = check_positive(false_edges, "false_edges", "the bound on the expected number of false edges"))
}

check_positive <- function(x, argument, what) {
  check_number(x, argument, sprintf("give %s, a number above 0.", what), above = 0, below = Inf)
}

is_halves <- function(x) x$how == "subsample" && x$size == x$n %/% 2L

# Returns the object with the requested threshold and its averaged graph. `refuse`: see with_threshold().
with_average <- function(x, wanted, refuse = TRUE) {
  x <- with_threshold(x, wanted, refuse)
  value <- x$threshold$value
  bound <- if (is_halves(x) && value > 0.5 && is.finite(value) && x$tested > 0) {
    stability_bound(x$q, x$tested, threshold = value)$false_edges
  } else {
    NA_real_
  }
  marks <- voted(x$counts)
  x$average <- list(kept = is_kept_edge(x), mark = marks, false_edges = bound)
  x$average$valid <- is_valid_average(x)
  x
}

# Returns the object with the requested threshold. `refuse`: a bound that no threshold has is an error. Otherwise it is
# a warning, and no edge is kept, so that the samples are not lost.
with_threshold <- function(x, wanted, refuse) {
  strength <- strengths(x)
  x$threshold <- if (!is.null(wanted$threshold)) {
    list(value = wanted$threshold, rule = "given", strict = FALSE)
  } else if (!is.null(wanted$false_edges)) {
    list(value = threshold_for(x, wanted$false_edges, refuse), rule = "false_edges", strict = FALSE)
  } else if (is_halves(x)) {
    list(value = 0.75, rule = "halves", strict = FALSE)
  } else {
    list(value = max(0, strength[strength <= 0.5]), rule = "significance", strict = TRUE)
  }
  x
}

# Returns for each pair whether its strength reaches the threshold. Compares counts with a tolerance, so that 7 of 10
# samples reach a share of 0.7.
is_kept_edge <- function(x) {
  strength <- strengths(x)
  least <- x$threshold$value * x$replicates
  if (x$threshold$strict) strength > x$threshold$value else strength * x$replicates >= least - 1e-9 * x$replicates
}

# The columns of counts after x and y are the kinds of edges.
strengths <- function(x) rowSums(x$counts[-(1:2)]) / x$replicates

# Returns the threshold for which the bound is this number of false edges.
threshold_for <- function(x, false_edges, refuse) {
  if (x$q <= 0 || x$tested <= 0) {
    return(1)
  }
  value <- (x$q^2 / (false_edges * x$tested) + 1) / 2
  if (value > 1) {
    is <- sprintf(
      "%s, but the bound is at least %s, because samples have %s edges on average (of %s)",
      describe(false_edges),
      format(x$q^2 / x$tested, digits = 3L),
      format(x$q, digits = 3L),
      counted(x$tested, "pair")
    )
    hint <- sprintf(
      "give a larger `false_edges`, or a smaller `alpha` for at most %s edges per sample.",
      format(floor(10 * sqrt(false_edges * x$tested)) / 10)
    )
    if (refuse) {
      abort_argument("false_edges", false_edges, hint, is = is)
    }
    warn(
      "false_edges",
      sprintf("No edge is kept. `false_edges` is %s: %s averaged_cpdag() can apply another bound.", is, hint)
    )
    return(Inf)
  }
  value
}

# Returns the mark that the edge has in most of the samples with it: 1 x -> y, 2 x <- y, 3 x - y, 4 x <-> y. Ties have
# no direction.
voted <- function(counts) {
  marks <- as.matrix(counts[3:6])
  if (!nrow(marks)) {
    return(integer())
  }
  most <- do.call(pmax, as.data.frame(marks))
  ties <- rowSums(marks == most) > 1L
  ifelse(ties, 3L, max.col(marks, "first"))
}

# Returns every pair with `from` and `to` ordered so that most arrows point from `from` to `to`; ties keep their order.
# `turned`: whether x and y are swapped. `direction`: the share of the samples with the edge in which it points from
# `from` to `to`; an edge without a direction is half an arrow each way.
directed_pairs <- function(x) {
  counts <- x$counts
  turned <- counts$backward > counts$forward
  half <- (counts$undirected + counts$bidirected) / 2
  list2DF(list(
    from = as.integer(ifelse(turned, counts$y, counts$x)),
    to = as.integer(ifelse(turned, counts$x, counts$y)),
    turned = turned,
    strength = strengths(x),
    direction = (pmax(counts$forward, counts$backward) + half) / rowSums(counts[3:6])
  ))
}

# Returns the kept edges: from, to, kind ("directed", "undirected" or "conflict"), strength and direction.
averaged_edges <- function(x) {
  kept <- which(x$average$kept)
  pairs <- directed_pairs(x)[kept, ]
  list2DF(list(
    from = pairs$from,
    to = pairs$to,
    kind = c("directed", "directed", "undirected", "conflict")[x$average$mark[kept]],
    strength = pairs$strength,
    direction = pairs$direction
  ))
}

is_valid_average <- function(x) {
  edges <- averaged_edges(x)
  arrows <- edges[edges$kind == "directed", ]
  !any(edges$kind == "conflict") &&
    check_rust(rust_is_valid_graph(length(x$labels), c(edges$from, edges$to), c(arrows$from, arrows$to), x$knowledge))
}

# Returns labels, neighbour lists and weights, in the form of edges_of().
averaged_lists <- function(x) {
  edges <- averaged_edges(x)
  both <- edges$kind != "directed"
  from <- c(edges$from, edges$to[both])
  to <- c(edges$to, edges$from[both])
  weight <- ifelse(c(edges$kind, edges$kind[both]) == "conflict", 2, 1)
  by <- order(from, to)
  by_tail <- function(values) unname(split(values[by], factor(from[by], seq_along(x$labels))))
  list(labels = x$labels, edges = by_tail(to), weights = if (!all(weight == 1)) by_tail(weight))
}

#' Averaged graph of resampled searches
#'
#' Returns the graph of the edges whose strength reaches a threshold. Each edge has the mark that it has in most of the
#' samples that contain it; see [stability()].
#'
#' @param x A result of [stability()]: for `averaged_pag()` one of [fci()], [rfci()] or [fciPlus()] (`method`), for
#'   `averaged_cpdag()` one of [pc()].
#' @param threshold,false_edges As in [stability()]; those of `x` by default.
#' @return `averaged_cpdag()` returns a [graph::graphNEL-class] with the variables as nodes, like the slot `graph` of a
#'   result of [pc()]. Its class, `pcgpuAverage`, only adds that it prints its edges. [plot_cpdag()], [as_igraph()], `edges()` of the package graph, [d_separated()] and [causal_effects()] accept it.
#'   `averaged_cpdag(x)@graphData$valid` says whether it is a CPDAG (with background knowledge: whether it can be
#'   extended to a DAG without further v-structures). `as.data.frame()` returns a table of its edges with their
#'   strengths, as [edge_table()] of `x` does.
#'
#'   `averaged_pag()` returns an object of class `fciAlgo`, as [fciPlus()] does, in which only the slots `amat` and `call`
#'   are filled. [edge_table()], [plot_cpdag()], [compare_graphs()] and all that take a PAG accept it.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [stability()], [stability_bound()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(1000), 200, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(200)
#' found <- stability(x, gaussCItest, alpha = 0.05, replicates = 30, numCores = 2)
#' averaged_cpdag(found)
#' plot_cpdag(averaged_cpdag(found, threshold = 0.9))
#'
#' pags <- stability(x, gaussCItest, 0.05, method = "rfci", replicates = 10, numCores = 2)
#' averaged_pag(pags)
#' @export
averaged_cpdag <- function(x, threshold = NULL, false_edges = NULL) {
  check_stability(x)
  if (!is.null(threshold) || !is.null(false_edges)) {
    x <- with_average(x, check_wanted(threshold, false_edges, list(halves = is_halves(x))))
  }
  listed <- averaged_lists(x)
  graph <- graph_from_edges(listed$labels, listed$edges, listed$weights, one = 1)
  graph@graphData$valid <- x$average$valid
  graph@graphData$shares <- averaged_edges(x)
  # new() would check the graph, which takes longer than to make it.
  class(graph) <- structure("pcgpuAverage", package = "pcgpu")
  graph
}

#' @rdname averaged_cpdag
#' @aliases pcgpuAverage-class
#' @exportClass pcgpuAverage
methods::setClass("pcgpuAverage", contains = "graphNEL")

methods::setMethod("show", "pcgpuAverage", function(object) print_average(object))

print_average <- function(x, n = 10L) {
  edges <- listed_edges(x, "x")
  directed <- sum(edges$kind == "-->")
  say_lines(sprintf(
    "The averaged graph of samples, with %s and %s, %s of them directed",
    counted(length(x@nodes), "variable"),
    counted(nrow(edges), "edge"),
    in_words(directed)
  ))
  if (nrow(edges)) {
    print_frame(utils::head(edges, n), list(), 3L, row.names = FALSE)
  }
  if (nrow(edges) > n) {
    say_lines(sprintf("... and %s more", in_words(nrow(edges) - n)))
  }
  invisible(x)
}

check_stability <- function(x) {
  check_object(x)
  if (!inherits(x, "pcgpu_stability")) {
    hint <- if (inherits(x, "pcgpu_pag_stability")) {
      "averaged_pag() returns its graph."
    } else {
      "give a result of stability()."
    }
    abort_argument("x", x, hint)
  }
}

#' Error bound of stability selection
#'
#' Computes one of three numbers from the other two: the mean number of edges in a sample, the threshold, and the bound
#' on the expected number of false edges (Meinshausen and Buehlmann 2010, theorem 1):
#' \deqn{E[V] \le \frac{q^2}{(2 \cdot threshold - 1) P}.}{E[V] <= q^2 / ((2 threshold - 1) P).}
#' The bound holds for samples of half of the rows without replacement, as drawn by `stability(how = "subsample")`.
#'
#' @param q Mean number of edges in a sample.
#' @param pairs Number P of pairs of variables that are tested: p (p - 1) / 2 for p variables, less those that are
#'   fixed.
#' @param threshold Smallest strength of an edge that is kept, above one half and at most 1.
#' @param false_edges Bound on the expected number of false edges among those that are kept.
#' @return A list of `q`, `pairs`, `threshold` and `false_edges`, including the one that was left out.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B*
#' 72(4), 417-473.
#' @seealso [stability()], [averaged_cpdag()].
#' @examples
#' # How many edges may samples of 100 variables have, if one false edge is expected?
#' stability_bound(pairs = 100 * 99 / 2, threshold = 0.9, false_edges = 1)$q
#' stability_bound(q = 40, pairs = 100 * 99 / 2, false_edges = 1)$threshold
#' @export
stability_bound <- function(q = NULL, pairs, threshold = NULL, false_edges = NULL) {
  check_given(list(pairs = missing(pairs)), list(pairs = "give the number of pairs of variables that are tested."))
  check_positive(pairs, "pairs", "the number of pairs of variables that are tested")
  absent <- c("q", "threshold", "false_edges")[c(is.null(q), is.null(threshold), is.null(false_edges))]
  if (length(absent) != 1L) {
    abort_argument(
      if (length(absent)) absent[1L] else "false_edges",
      if (length(absent)) NULL else false_edges,
      "give exactly two of `q`, `threshold` and `false_edges`; the third follows.",
      is = if (length(absent)) "missing, and so is another of the three" else "given together with the two others"
    )
  }
  if (!is.null(q)) {
    check_number(q, "q", "give the mean number of edges in a sample, a number from 0 to `pairs`.", 0, pairs)
  }
  if (!is.null(threshold)) {
    check_number(
      threshold,
      "threshold",
      "give a number above 0.5 and at most 1; other thresholds have no bound.",
      most = 1,
      above = 0.5
    )
  }
  if (!is.null(false_edges)) {
    check_positive(false_edges, "false_edges", "the bound on the expected number of false edges")
  }
  switch(
    absent,
    q = q <- min(pairs, sqrt(false_edges * (2 * threshold - 1) * pairs)),
    false_edges = false_edges <- q^2 / ((2 * threshold - 1) * pairs),
    threshold = {
      threshold <- (q^2 / (false_edges * pairs) + 1) / 2
      if (threshold > 1) {
        abort_argument(
          "false_edges",
          false_edges,
          "give a larger `false_edges` or a smaller `q`.",
          is = sprintf(
            "%s, but with these `q` and `pairs` the bound is at least %s",
            describe(false_edges),
            format(q^2 / pairs, digits = 3L)
          )
        )
      }
    }
  )
  list(q = q, pairs = pairs, threshold = threshold, false_edges = false_edges)
}

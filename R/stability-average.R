# The edges of the averaged graph of a pcgpu_stability, and their marks.

# Checks the arguments that select the edges. Returns list(threshold) or list(false_edges); list() for the default.
check_wanted <- function(threshold, false_edges, of) {
  if (!is.null(threshold) && !is.null(false_edges)) {
    abort_argument("false_edges", false_edges, "leave out one of the two, which follows from the other.", is = "given together with `threshold`")
  }
  if (!is.null(threshold)) {
    if (!is_number(threshold) || threshold <= 0 || threshold > 1) {
      abort_argument("threshold", threshold, "give the smallest strength of an edge to keep, a number above 0 and at most 1, or NULL.")
    }
    return(list(threshold = as.double(threshold)))
  }
  if (is.null(false_edges)) {
    return(list())
  }
  if (!of$halves) {
    abort_argument("false_edges", false_edges, "give how = \"subsample\" and no `size`, or give `threshold` instead.",
      is = paste0(describe(false_edges), ", but the bound holds only for samples of half of the rows")
    )
  }
  list(false_edges = check_positive(false_edges, "false_edges", "the bound on the expected number of false edges"))
}

check_positive <- function(x, argument, what) {
  if (!is_number(x) || !is.finite(x) || x <= 0) {
    abort_argument(argument, x, sprintf("give %s, a number above 0.", what))
  }
  as.double(x)
}

is_halves <- function(x) x$how == "subsample" && x$size == x$n %/% 2L

# Returns the object with the requested threshold and its averaged graph. `refuse`: a bound that no threshold has is an error. Otherwise it is a warning, and
# no edge is kept, so that the samples are not lost.
with_average <- function(x, wanted, refuse = TRUE) {
  strength <- strengths(x)
  halves <- is_halves(x)
  x$threshold <- if (!is.null(wanted$threshold)) {
    list(value = wanted$threshold, rule = "given", strict = FALSE)
  } else if (!is.null(wanted$false_edges)) {
    list(value = threshold_for(x, wanted$false_edges, refuse), rule = "false_edges", strict = FALSE)
  } else if (halves) {
    list(value = 0.75, rule = "halves", strict = FALSE)
  } else {
    list(value = max(0, strength[strength <= 0.5]), rule = "significance", strict = TRUE)
  }
  value <- x$threshold$value
  # Compares counts with a tolerance, so that 7 of 10 samples reach a share of 0.7.
  least <- value * x$replicates
  kept <- if (x$threshold$strict) strength > value else strength * x$replicates >= least - 1e-9 * x$replicates
  bound <- if (halves && value > 0.5 && is.finite(value) && x$tested > 0) stability_bound(x$q, x$tested, threshold = value)$false_edges else NA_real_
  marks <- voted(x$counts)
  x$average <- list(kept = kept, mark = marks, false_edges = bound)
  x$average$valid <- is_valid_average(x)
  x
}

strengths <- function(x) rowSums(x$counts[3:6]) / x$replicates

# Returns the threshold for which the bound is this number of false edges.
threshold_for <- function(x, false_edges, refuse) {
  if (x$q <= 0 || x$tested <= 0) {
    return(1)
  }
  value <- (x$q^2 / (false_edges * x$tested) + 1) / 2
  if (value > 1) {
    is <- sprintf(
      "%s, but the bound is at least %s, because samples have %s edges on average (of %s)", describe(false_edges),
      format(x$q^2 / x$tested, digits = 3L), format(x$q, digits = 3L), counted(x$tested, "pair")
    )
    hint <- sprintf(
      "give a larger `false_edges`, or a smaller `alpha` for at most %s edges per sample.", format(floor(10 * sqrt(false_edges * x$tested)) / 10)
    )
    if (refuse) abort_argument("false_edges", false_edges, hint, is = is)
    warn("false_edges", sprintf("no edge is kept. `false_edges` is %s: %s averaged_cpdag() can apply another bound.", is, hint))
    return(Inf)
  }
  value
}

# Returns the mark that the edge has in most of the samples with it: 1 x -> y, 2 x <- y, 3 x - y, 4 x <-> y. Ties have no direction.
voted <- function(counts) {
  marks <- as.matrix(counts[3:6])
  if (!nrow(marks)) {
    return(integer())
  }
  most <- do.call(pmax, as.data.frame(marks))
  ties <- rowSums(marks == most) > 1L
  ifelse(ties, 3L, max.col(marks, "first"))
}

# Returns every pair with `from` and `to` ordered so that most arrows point from `from` to `to`; ties keep their order. `turned`: whether x and y are swapped.
# `direction`: the share of the samples with the edge in which it points from `from` to `to`; an edge without a direction is half an arrow each way.
directed_pairs <- function(x) {
  counts <- x$counts
  turned <- counts$backward > counts$forward
  half <- (counts$undirected + counts$bidirected) / 2
  list2DF(list(
    from = as.integer(ifelse(turned, counts$y, counts$x)), to = as.integer(ifelse(turned, counts$x, counts$y)), turned = turned,
    strength = strengths(x), direction = (pmax(counts$forward, counts$backward) + half) / rowSums(counts[3:6])
  ))
}

# Returns the kept edges: from, to, kind ("directed", "undirected" or "conflict"), strength and direction.
averaged_edges <- function(x) {
  kept <- which(x$average$kept)
  pairs <- directed_pairs(x)[kept, ]
  list2DF(list(
    from = pairs$from, to = pairs$to, kind = c("directed", "directed", "undirected", "conflict")[x$average$mark[kept]],
    strength = pairs$strength, direction = pairs$direction
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

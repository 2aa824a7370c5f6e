# How strong edges are: the weakest test of each edge, given neighbours in the graph.

# More tests than these would take minutes: native ones of correlations, and others.
most_tests_of_edges <- c(gauss = 2e9, other = 1e6)

# Adds the columns `q`, `estimate`, `log10_p` and `given` to the table of edges of x.
with_strength <- function(table, x, data, indepTest, m.max, threads) {
  refuse_without_edges(x, "x")
  network <- network_of(x)
  labels <- network$labels
  edges <- network$edges
  stat <- statistic_of_edges(x, data, indepTest, labels)
  test <- ci_test(stat$indepTest, stat$suffStat, labels, 0.5, threads)
  near <- unname(lapply(neighbour_lists(length(labels), edges), sort))
  asked <- list(from = edges$from, to = edges$to, near = near, most = largest_given(x, m.max), threads = threads)
  found <- if (test$kind == "gauss") {
    weakest_correlations(test, stat$suffStat, asked)
  } else {
    largest_p(test, asked, length(labels))
  }
  given <- function(at) labels[found$members[seq_len(found$start[at + 1L] - found$start[at]) + found$start[at]]]
  if (is_result(x) || is_compact(x) || is_fci(x) && identical(run_details(x)$algorithm, "fci")) {
    q <- q_values(x)
    table$q <- q$q[match(paste(table$from, table$to, sep = "\n"), paste(q$from, q$to, sep = "\n"))]
  }
  table$estimate <- found$estimate
  table$log10_p <- found$log10_p
  table$given <- vapply(seq_len(nrow(table)), function(at) paste(given(at), collapse = ", "), "")
  table
}

# Adds the columns `strength` and, for samples of pc(), `direction` of a result of stability(). A pair that is adjacent in no
# sample has the strength 0.
with_stability <- function(table, stability) {
  is_pag <- inherits(stability, "pcgpu_pag_stability")
  if (!is_pag && !inherits(stability, "pcgpu_stability")) {
    abort_argument("stability", stability, "give a result of stability().")
  }
  check_object(stability)
  unknown <- setdiff(c(table$from, table$to), stability$labels)
  if (length(unknown)) {
    abort_unknown("stability", stability, unknown, stability$labels, "give the stability of the same variables.")
  }
  from <- match(table$from, stability$labels)
  to <- match(table$to, stability$labels)
  counts <- stability$counts
  at <- match(paste(pmin(from, to), pmax(from, to)), paste(counts$x, counts$y))
  or_none <- function(values) replace(values[at], is.na(at), 0)
  table$strength <- or_none(strengths(stability))
  if (!is_pag) {
    same <- ifelse(from < to, or_none(counts$forward), or_none(counts$backward))
    half <- or_none(counts$undirected + counts$bidirected) / 2
    table$direction <- (same + half) / or_none(rowSums(counts[3:6]))
  }
  table
}

# Returns list(indepTest, suffStat) from data or a statistic; the test is that of the search, unless the user chooses.
statistic_of_edges <- function(x, data, indepTest, labels) {
  indepTest <- as_test(indepTest)
  used <- test_of_fit(x)
  if (is.null(indepTest) && used %in% own_tests()) {
    indepTest <- as_test(used)
  }
  observed <- is.data.frame(data) || length(dim(data)) == 2L
  if (!observed) {
    if (is.null(indepTest)) {
      abort_argument("indepTest", NULL, "give the test that uses this statistic.", is = "missing")
    }
    return(list(indepTest = indepTest, suffStat = data))
  }
  refuse_treated(x, data, "give suff_gauss(data, %s = ).")
  if (!is.null(indepTest) && is.null(maker_of(test_name(indepTest)))) {
    abort_argument("data", data, "give the sufficient statistic of `indepTest`.", is = "a table of observations")
  }
  seed <- 0
  of <- statistics_of(data, indepTest, NULL, labels, 0L, 1, seed, NULL, used)$make(1L)
  of[c("indepTest", "suffStat")]
}

# Returns the size of the largest sets: that of the search, unless the user chooses.
largest_given <- function(x, m.max) {
  if (!is.null(m.max)) {
    return(check_number(
      m.max,
      "m.max",
      "give the size of the largest sets, a whole number from 0, or Inf.",
      0,
      whole = TRUE
    ))
  }
  own <- if (is_result(x) || is_compact(x) || is_fci(x)) attr(x, "max.ord")
  if (length(own)) as.double(own) else Inf
}

weakest_correlations <- function(test, suffStat, asked) {
  known <- if (is.null(test$C)) new_columns(suffStat$data, "data") else new_columns(C = unname(test$C))
  most <- min(asked$most, max(lengths(asked$near), 1L) - 1L)
  bound <- most_tests_of_edges[["gauss"]]
  found <- check_rust(rust_weakest(
    known$rust,
    asked$near,
    asked$from,
    asked$to,
    as.double(test$n),
    as.double(most),
    bound,
    engine_list(new_device("cpu"), asked$threads),
    list()
  ))
  if (is.numeric(found)) {
    refuse_tests_of_edges(found, most)
  }
  log_p <- pmin(log(2) + stats::pnorm(found$z, lower.tail = FALSE, log.p = TRUE), 0)
  list(estimate = found$r, log10_p = log_p / log(10), start = found$start, members = found$members)
}

refuse_tests_of_edges <- function(tests, most) {
  abort_argument(
    "m.max",
    most,
    sprintf("give a smaller number, such as %d.", min(2L, max(most - 1L, 0L))),
    is = sprintf("%d, with which the edges have %s tests", most, format(tests, digits = 2L))
  )
}

# Returns the largest p-value of each edge, as weakest_correlations() does: for tests of any kind, which have no common
# measure of strength.
largest_p <- function(test, asked, p) {
  most <- min(asked$most, max(lengths(asked$near), 1L) - 1L)
  degree <- lengths(asked$near)
  tests <- sum(vapply(degree, function(d) d * sum(choose(max(d - 1, 0), 0:most)), 0))
  if (tests > most_tests_of_edges[["other"]]) {
    refuse_tests_of_edges(tests, most)
  }
  sets_of <- function(others) {
    sizes <- 0:min(most, length(others))
    unlist(lapply(sizes, function(size) utils::combn(length(others), size, function(at) others[at], FALSE)), FALSE)
  }
  sides <- Map(
    function(x, y) c(sets_of(setdiff(asked$near[[x]], y)), sets_of(setdiff(asked$near[[y]], x))[-1L]),
    asked$from,
    asked$to
  )
  of <- rep(seq_along(sides), lengths(sides))
  sets <- unlist(sides, FALSE)
  questions <- list(
    x = asked$from[of],
    y = asked$to[of],
    start = c(0, cumsum(lengths(sets))),
    members = as.integer(unlist(sets))
  )
  values <- check_rust(on_device(new_device("cpu"), asked$threads, function(engine) {
    rust_p_values(test, p, questions, seq_along(of), 0.5, engine, list())
  }))
  # A test without an answer counts as p = 1, as in the search.
  values[is.na(values)] <- 1
  largest <- vapply(split(seq_along(of), of), function(at) at[which.max(values[at])], 0L)
  list(
    estimate = rep(NA_real_, length(sides)),
    log10_p = log10(values[largest]),
    start = c(0, cumsum(lengths(sets[largest]))),
    members = unlist(sets[largest])
  )
}

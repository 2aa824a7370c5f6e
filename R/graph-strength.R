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
  asked <- list(
    from = edges$from,
    to = edges$to,
    near = near,
    most = min(largest_given(x, m.max), max(lengths(near), 1L) - 1L),
    # No test of a search is given a variable of a later tier.
    tiers = tiers_of_search(x),
    threads = threads
  )
  found <- if (test$kind == "gauss") {
    weakest_correlations(test, stat$suffStat, asked)
  } else {
    largest_p(test, asked, length(labels), measure_of(test$name, stat$suffStat))
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
    abort_argument(
      "stability",
      stability,
      "give the result for the same data.",
      has = sprintf("no %s, which the graph has", enumerate(dQuote(unknown, FALSE)))
    )
  }
  from <- match(table$from, stability$labels)
  to <- match(table$to, stability$labels)
  counts <- stability$counts
  at <- match(pair_key(from, to), pair_key(counts$x, counts$y))
  or_none <- function(values) replace(values[at], is.na(at), 0)
  table$strength <- or_none(strengths(stability))
  if (!is_pag) {
    same <- ifelse(from < to, or_none(counts$forward), or_none(counts$backward))
    half <- or_none(counts$undirected + counts$bidirected) / 2
    direction <- (same + half) / or_none(rowSums(counts[3:6]))
    table$direction <- replace(direction, is.nan(direction), NA)
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
  refuse_treated(x, data, "give suff_gauss(data, %s = ).", c("weights", "adjust", "id", "correlation"))
  if (!is.null(indepTest) && is.null(maker_of(test_name(indepTest)))) {
    abort_argument("data", data, "give the sufficient statistic of `indepTest`.", is = "a table of observations")
  }
  testwise <- test_name(indepTest %||% "") %in% c("gaussCItwd", "disCItwd", "mixCItwd")
  if (!testwise && length(dim(data)) == 2L && anyNA(data)) {
    abort_argument("data", data, "drop these rows, or give the sufficient statistic.", has = "missing values")
  }
  if (nrow(data) < 4L) {
    abort_argument("data", data, "give the data of the search.", has = counted(nrow(data), "row"))
  }
  of <- statistics_of(data, indepTest, NULL, labels, 0L, 1, 0, NULL, used)$make(1L)
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
  found <- check_rust(rust_weakest(
    known$rust,
    asked$near,
    asked$from,
    asked$to,
    as.double(test$n),
    as.double(asked$most),
    asked$tiers,
    most_tests_of_edges[["gauss"]],
    engine_list(new_device("cpu"), asked$threads),
    list()
  ))
  if (is.numeric(found)) {
    refuse_tests_of_edges(found, asked$most)
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

# The least p-value whose logarithm is exact.
least_p <- 1e-300

# Returns the largest p-value of each edge, as weakest_correlations() does, for any test. measure: see measure_of().
largest_p <- function(test, asked, p, measure) {
  degree <- lengths(asked$near)
  tests <- sum(vapply(degree, function(d) d * sum(choose(max(d - 1, 0), 0:asked$most)), 0))
  if (tests > most_tests_of_edges[["other"]]) {
    refuse_tests_of_edges(tests, asked$most)
  }
  sets_at <- function(x, y) {
    others <- setdiff(asked$near[[x]], y)
    if (!is.null(asked$tiers)) {
      others <- others[asked$tiers[others] <= asked$tiers[x]]
    }
    sizes <- 0:min(asked$most, length(others))
    unlist(lapply(sizes, function(size) utils::combn(length(others), size, function(at) others[at], FALSE)), FALSE)
  }
  sides <- Map(function(x, y) c(sets_at(x, y), sets_at(y, x)[-1L]), asked$from, asked$to)
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
  log_p <- log(pmax(values, least_p))
  estimate <- rep(NA_real_, length(values))
  measured <- function(at) {
    for (one in at) {
      found <- measure(questions$x[one], questions$y[one], sets[[one]])
      estimate[one] <<- found$estimate
      if (values[one] < least_p) log_p[one] <<- found$log_p
    }
  }
  groups <- split(seq_along(of), of)
  if (!is.null(measure)) {
    # Logarithms tell apart p-values that a number cannot.
    measured(unlist(lapply(groups, function(at) if (max(values[at]) < least_p) at)))
  }
  largest <- vapply(groups, function(at) at[which.max(log_p[at])], 0L)
  if (!is.null(measure)) {
    measured(largest[is.na(estimate[largest])])
  }
  list(
    estimate = estimate[largest],
    log10_p = log_p[largest] / log(10),
    start = c(0, cumsum(lengths(sets[largest]))),
    members = unlist(sets[largest])
  )
}

# Returns a function of x, y and S that returns list(estimate, log_p), the measure of a test and the logarithm of its
# p-value: a partial correlation, or the conditional mutual information of levels in nats. NULL for tests without one.
measure_of <- function(name, suffStat) {
  if (name == "gaussCItwd") {
    x <- as.matrix(suffStat)
    return(function(a, b, S) {
      rows <- x[stats::complete.cases(x[, c(a, b, S)]), c(a, b, S), drop = FALSE]
      P <- solve(stats::cor(rows))
      r <- -P[1L, 2L] / sqrt(P[1L, 1L] * P[2L, 2L])
      z <- sqrt(max(nrow(rows) - length(S) - 3, 0)) * abs(atanh(r))
      list(estimate = r, log_p = log(2) + stats::pnorm(z, lower.tail = FALSE, log.p = TRUE))
    })
  }
  if (!name %in% c("disCItest", "binCItest", "chi2CItest", "disCItwd")) {
    return(NULL)
  }
  is_g <- name != "chi2CItest"
  levels <- as.data.frame(if (name == "disCItwd") suffStat else suffStat$dm)
  levels <- lapply(levels, function(column) as.integer(factor(column)))
  counts <- vapply(levels, max, 0L, na.rm = TRUE)
  function(a, b, S) {
    code <- function(of) Reduce(function(code, column) code * counts[column] + levels[[column]], of, 0)
    used <- stats::complete.cases(as.data.frame(levels[c(a, b, S)]))
    n_of <- function(of) {
      codes <- code(of)[used]
      codes <- match(codes, unique(codes))
      as.double(tabulate(codes))[codes]
    }
    n <- sum(used)
    # Each row of a cell adds the logarithm of the cell's ratio.
    given <- if (length(S)) n_of(S) else n
    information <- mean(log(n_of(c(a, b, S)) * given / (n_of(c(a, S)) * n_of(c(b, S)))))
    df <- prod(counts[c(a, b)] - 1, counts[S])
    list(
      estimate = max(information, 0),
      # Pearson's statistic is another one.
      log_p = if (is_g) stats::pchisq(2 * n * information, df, lower.tail = FALSE, log.p = TRUE) else log(least_p)
    )
  }
}

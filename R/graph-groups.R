#' Do two groups have the same graph?
#'
#' Learns a graph with [pc()] in each of two groups of rows, such as patients with and without a disease, compares the
#' two, and tests by permutation whether the groups differ more than two random groups of the same sizes do.
#'
#' Two graphs from data always differ, because each is an estimate. Also, a test finds more edges in the larger group.
#' So an edge that is in one graph only is not yet a difference between the groups.
#'
#' # The test
#'
#' The strength of an edge in a group is the share of bootstrap samples of the group whose graph has it, as in
#' [stability()]. The statistic is the sum, over all pairs of variables, of the squared difference of the two strengths.
#' The rows are then shuffled between the groups, whose sizes stay the same, and the statistic is computed again,
#' `replicates` times. The p-value is (1 + the number of shuffles with a statistic at least as large) / (1 +
#' `replicates`) (Phipson and Smyth 2010). Van Borkulo and others (2023) compare networks of partial correlations by such
#' a test.
#'
#' The number of edges in which the two graphs differ would be a simpler statistic. But it depends on edges that just
#' pass or just fail a test.
#'
#' The null hypothesis is that rows are exchangeable between the groups: all of them are independent draws from one
#' joint distribution. Rows that belong together, such as visits of one patient, break it. The test is sensitive to
#' differences in adjacencies only: not to effects of another size or sign, as long as the edges are found as often.
#' Directions are compared, but not tested, because they follow from the adjacencies nearby. A large p-value does not
#' show that the graphs are equal: with few rows, few differences are seen.
#'
#' Groups with different means are not exchangeable, although their graphs may be equal, and shuffled groups would have
#' edges that no group has. Therefore `standardise` gives all numeric columns the mean 0 and the standard deviation 1
#' within each group. This does not change the graphs of the groups with [gaussCItest()]. The test then holds
#' approximately, for large groups. Factors are not changed: if their shares differ between the groups, a small p-value
#' may be due to them.
#'
#' # Single edges
#'
#' The p-value of an edge compares the absolute difference of its strengths with that of the same pair in the shuffled
#' groups, in the same way. `q` adjusts the p-values of all p(p - 1)/2 pairs of the p variables, not only of those with
#' an edge (Benjamini and Hochberg 1995). No p-value is below 1 / (1 + `replicates`), so `q` cannot be small for many
#' variables and few replicates.
#'
#' Like the test of the whole graph, these p-values assume that the groups do not differ at all. If they differ, use
#' the p-values only to rank candidates.
#'
#' @param data A data frame or a matrix, with observations in rows.
#' @param group The group of each row: a vector with two different values, or the name of such a column of `data`.
#' @param indepTest,alpha As in [pc()]. Without `indepTest` the columns of all rows determine the test.
#' @param ... Further arguments, by name. Those of [pc()] are `labels`, `p`, `fixedGaps`, `fixedEdges`, `NAdelete`,
#'   `m.max`, `u2pd`, `skel.method`, `conservative`, `maj.rule`, `solve.confl`. Those of [pc_control()] are `tiers`,
#'   `forbidden`, `required`, `context.all`, `context.tier`, `na`, `correlation`.
#' @param replicates Number of shuffles, from 1 to 100,000.
#' @param samples Number of bootstrap samples for the strengths in each group and shuffle, from 1 to 100,000. Tests by
#'   nearest neighbours use halves of the rows instead, without replacement. With 20 variables, 1,000 shuffles with 20
#'   samples each take a few seconds.
#' @param standardise Whether to standardise numeric columns within each group, see below. Tests of classes alone need
#'   no such step.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a
#'   run reproducible.
#' @param device,numCores As in [pc()].
#' @param progress Show a progress bar? As in [pc()].
#' @return The result of [compare_graphs()] for the two graphs, in the order of the levels or the sorted values of
#'   `group`, with one more column: `p`, the p-value of the test. [edge_table()] of it has more columns, too:
#'   `strength_` and the name of each group, and `p` and `q` of each edge. `print()` shows the sizes of the groups and
#'   the statistics of the shuffles.
#'
#'   In all searches, a numeric column that is constant in the rows is uncorrelated with all others, as in
#'   [stability()].
#'
#'   Errors are those of [pc()], of class `pcgpu_error_argument` if `group` does not name two groups.
#' @references
#' Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate: a practical and powerful approach to
#' multiple testing. *Journal of the Royal Statistical Society, Series B* 57(1), 289-300.
#'
#' C. D. van Borkulo and others (2023). Comparing network structures on three aspects: a permutation test.
#' *Psychological Methods* 28(6), 1273-1285.
#'
#' B. Phipson and G. K. Smyth (2010). Permutation p-values should never be zero: calculating exact p-values when
#' permutations are randomly drawn. *Statistical Applications in Genetics and Molecular Biology* 9(1), article 39.
#' @seealso [compare_graphs()] for graphs that you have; [stability()] for the strengths of edges in one group; the
#'   vignette *Two groups*.
#' @examples
#' # One arrow less in the second group
#' dag <- random_dag(6, neighbours = 2, seed = 2)
#' x <- random_data(dag, 400, seed = 1, numCores = 2)
#' healthy <- rep(c(TRUE, FALSE), each = 200)
#' arrow <- edge_table(dag)[1, ]
#' x[!healthy, arrow$to] <- rnorm(200)
#' found <- compare_groups(
#'   x, ifelse(healthy, "healthy", "ill"), alpha = 0.01, replicates = 99, seed = 1, numCores = 2
#' )
#' found
#' edge_table(found)
#' @export
compare_groups <- function(
  data,
  group,
  indepTest,
  alpha,
  ...,
  replicates = 1000,
  samples = 20,
  standardise = TRUE,
  seed = NULL,
  device = "auto",
  numCores,
  progress = NULL
) {
  of_search <- c(arguments_of_search("pc"), knowledge_arguments, "na", "correlation")
  if (!is.null(taught <- taught_call(of_search))) {
    return(eval(taught, parent.frame()))
  }
  check_given(
    list(data = missing(data), group = missing(group), alpha = missing(alpha)),
    list(
      data = "give the observations, in rows.",
      group = "give the group of each row, or the name of a column.",
      alpha = "give the significance level, for instance alpha = 0.01."
    )
  )
  passed <- check_passed(list(...), pc_control(), "compare_groups", c(knowledge_arguments, "na", "correlation"))
  given <- passed$given
  replicates <- check_whole(replicates, "replicates", 1, 1e5)
  samples <- check_whole(samples, "samples", 1, 1e5)
  standardise <- check_flag(standardise, "standardise")
  seed <- check_seed(seed)
  if (missing(indepTest)) {
    check_level(alpha)
    given <- c(given, rule_of_data(names(given), given$u2pd %||% "relaxed"))
  }
  grouped <- grouped_data(data, group)
  named <- if (!missing(indepTest)) indepTest
  source <- source_of_groups(grouped, named, passed$control, standardise, seed)
  if (is.null(given$labels) && is.null(given$p)) {
    given$labels <- source$labels %||% labels_of_suff(source$suffStat)
  }
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  device <- check_device(device)
  bar <- progress_reporter(progress, label = function(level, edges) {
    sprintf("Searching %s shuffled groups", in_words(2 * replicates))
  })
  on.exit(bar$close())
  with_seed(seed, function() {
    of_groups <- lapply(split(seq_along(grouped$group), grouped$group), function(rows) {
      part <- source
      part$whole <- function() suff_of_sample(source, rows)
      fit_all_rows(part, alpha, given, passed$control, device, threads, seed)
    })
    compared <- compare_listed(of_groups, column_names_of(levels(grouped$group)), TRUE, TRUE, FALSE)
    problem <- resampling_problem(source, alpha, given, passed$control, of_groups[[1L]], threads)
    count <- counter_of_groups(source, problem, samples, seed, device, threads)
    with_test(compared, grouped$group, count, replicates, samples, seed, bar$report)
  })
}

# Returns list(data, group): a table without the column of the groups, and a factor with two levels.
grouped_data <- function(data, group) {
  data <- read_table(data, "data", FALSE)
  if (!is.data.frame(data) && !(is.matrix(data) && is.atomic(data))) {
    abort_argument("data", data, "give a data frame or a matrix, with observations in rows.")
  }
  if (is_column_name(group, data)) {
    at <- match(group, colnames(data))
    if (is.na(at)) {
      abort_unknown("group", group, group, colnames(data), "give the name of a column, or the group of each row.")
    }
    group <- if (is.data.frame(data)) data[[at]] else data[, at]
    data <- data[, -at, drop = FALSE]
  }
  if (!is.atomic(group) || is.null(group) || length(group) != nrow(data)) {
    abort_argument(
      "group",
      group,
      "give the group of each row, or the name of a column.",
      needs = sprintf("a value for each of the %d rows, not %s", nrow(data), describe(group))
    )
  }
  if (anyNA(group)) {
    abort_argument(
      "group",
      group,
      "leave out these rows of the data and of `group`.",
      has = counted(sum(is.na(group)), "missing value")
    )
  }
  group <- factor(group)
  if (nlevels(group) != 2L) {
    abort_argument(
      "group",
      group,
      "give two groups, for instance those of some of the rows.",
      has = sprintf("%s (%s)", counted(nlevels(group), "different value"), enumerate(levels(group)))
    )
  }
  few <- which(table(group) < 4L)[1L]
  if (!is.na(few)) {
    abort_argument(
      "group",
      group,
      "give at least 4 rows of each group.",
      has = sprintf(
        "only %s of %s",
        counted(sum(group == levels(group)[few]), "row"),
        dQuote(levels(group)[few], FALSE)
      )
    )
  }
  constant <- vapply(
    levels(group),
    function(level) {
      part <- data[group == level, , drop = FALSE]
      vapply(seq_len(ncol(data)), function(j) length(unique(column_of(part, j))) < 2L, NA)
    },
    logical(ncol(data))
  )
  dim(constant) <- c(ncol(data), 2L)
  if (any(constant)) {
    at <- which(constant, arr.ind = TRUE)[1L, ]
    abort_argument(
      "data",
      data,
      "leave it out, because a constant has no edges.",
      has = sprintf(
        "a column, %s, that is constant in the group %s",
        if (is.null(colnames(data))) at[1L] else dQuote(colnames(data)[at[1L]], FALSE),
        dQuote(levels(group)[at[2L]], FALSE)
      )
    )
  }
  list(data = data, group = group)
}

# Returns the source of resampling_source(), with a function `statistic` of rows. The tables decide on the test before
# they are standardised, because whole numbers can be classes.
source_of_groups <- function(grouped, indepTest, control, standardise, seed) {
  design <- design_in(control)
  source <- with_seed(seed, function() resampling_source(grouped$data, indepTest, NULL, control$na, design))
  if (standardise && is.null(discrete_test(source$indepTest))) {
    source <- suppressMessages(
      with_seed(seed, function() {
        scaled <- standardised(as_searched(grouped$data, list()), grouped$group)
        resampling_source(scaled, source$indepTest, NULL, "error", design)
      }),
      classes = "pcgpu_message"
    )
  }
  suff <- source$suffStat
  # For samples of some rows of the data in Rust.
  source$part <- if (!is.null(suff)) {
    function(rows) {
      if (is_kept(suff)) {
        new_kept(suff$data[rows, , drop = FALSE], length(rows))
      } else {
        resampled_suff(suff, rows, source$n)
      }
    }
  }
  source
}

# Returns a function of rows that counts each edge in bootstrap samples of these rows: list(key, count).
counter_of_groups <- function(source, problem, samples, seed, device, threads) {
  how <- if (is.null(knn_test(source$indepTest))) "bootstrap" else "subsample"
  p <- as.double(length(problem$labels))
  function(rows) {
    part <- list(
      indepTest = source$indepTest,
      n = length(rows),
      suffStat = if (!is.null(source$part)) source$part(rows),
      rows = function(drawn) source$rows(rows[drawn])
    )
    # The search of the whole group has already given its warnings.
    suppressMessages(
      suppressWarnings(
        problem$test <- replicate_test(part, problem$labels, problem$options$alpha, threads),
        classes = "pcgpu_warning"
      ),
      classes = "pcgpu_message"
    )
    found <- count_edges(problem, check_resampling(how, NULL, seed, part, samples), device, threads)
    list(key = found$x * p + found$y, count = Reduce(`+`, found[columns_of_counts]))
  }
}

# Returns a table whose numeric columns have the mean 0 and the standard deviation 1 in each group.
standardised <- function(data, group) {
  scale_column <- function(column) {
    for (rows in split(seq_along(group), group)) {
      values <- as.double(column[rows])
      column[rows] <- (values - mean(values, na.rm = TRUE)) / stats::sd(values, na.rm = TRUE)
    }
    column
  }
  numeric <- which(rep_len(numeric_columns(data), ncol(data)))
  if (is.data.frame(data)) {
    data[numeric] <- lapply(data[numeric], scale_column)
  } else if (length(numeric)) {
    storage.mode(data) <- "double"
    data[] <- apply(data, 2L, scale_column)
  }
  data
}

# Adds the permutation test to the comparison of the graphs of two groups. count: see counter_of_groups(). Counts rather
# than shares are compared, because equal ones are then equal to the last bit.
with_test <- function(compared, group, count, replicates, samples, seed, report) {
  p <- as.double(attr(compared, "variables"))
  first <- which(as.integer(group) == 1L)
  counts_of_rows <- function(rows) list(count(rows[first]), count(rows[-first]))
  at_keys <- function(counts, keys) {
    found <- counts$count[match(keys, counts$key)]
    replace(found, is.na(found), 0)
  }
  difference_at <- function(both, keys) at_keys(both[[1L]], keys) - at_keys(both[[2L]], keys)
  statistic <- function(both) sum(difference_at(both, unique(c(both[[1L]]$key, both[[2L]]$key)))^2)

  own <- counts_of_rows(seq_along(group))
  keys <- unique(c(own[[1L]]$key, own[[2L]]$key))
  difference <- abs(difference_at(own, keys))
  as_large <- integer(length(keys))
  shuffled <- double(replicates)
  for (replicate in seq_len(replicates)) {
    both <- counts_of_rows(sample.int(length(group)))
    shuffled[replicate] <- statistic(both)
    as_large <- as_large + (abs(difference_at(both, keys)) >= difference)
    if (!is.null(report) && (replicate %% ceiling(replicates / 100) == 0 || replicate == replicates)) {
      report(0, replicate, replicates, 0)
    }
  }
  of_pairs <- (1 + as_large) / (1 + replicates)
  q <- if (length(keys)) stats::p.adjust(of_pairs, "BH", n = p * (p - 1) / 2) else double()
  edges <- compared_network(compared)$edges
  of_edges <- pmin(edges$from, edges$to) * p + pmax(edges$from, edges$to)
  # A pair that is in no bootstrap sample does not differ.
  of_edge <- function(values) {
    found <- values[match(of_edges, keys)]
    replace(found, is.na(found), 1)
  }
  compared$p <- (1 + sum(shuffled >= statistic(own))) / (1 + replicates)
  strengths <- lapply(own, function(counts) at_keys(counts, of_edges) / samples)
  names(strengths) <- paste0("strength_", names(attr(compared, "graphs")$edges))
  attr(compared, "groups") <- list(
    sizes = as.vector(table(group)),
    statistic = statistic(own) / samples^2,
    shuffled = shuffled / samples^2,
    samples = samples,
    seed = seed,
    edges = c(strengths, list(p = of_edge(of_pairs), q = of_edge(q)))
  )
  compared
}

# Returns the lines of print() about the test of compare_groups(), none for other comparisons.
groups_text <- function(x) {
  groups <- attr(x, "groups")
  if (is.null(groups)) {
    return(NULL)
  }
  number <- function(value) format(value, digits = 3L)
  c(
    sprintf(
      "Groups: %s; strengths from %s, seed %.0f",
      paste0(names(attr(x, "graphs")$edges), " (", in_words(groups$sizes), " rows)", collapse = ", "),
      counted(groups$samples, "sample"),
      groups$seed
    ),
    sprintf(
      "Sum of squared differences of strengths: %s (%s: %s to %s, median %s); p = %s",
      number(groups$statistic),
      counted(length(groups$shuffled), "shuffle"),
      number(min(groups$shuffled)),
      number(max(groups$shuffled)),
      number(stats::median(groups$shuffled)),
      format(x$p[1L], digits = 2L)
    )
  )
}

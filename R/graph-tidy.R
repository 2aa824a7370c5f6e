#' Results as data frames
#'
#' Methods of the generic functions `tidy()` and `glance()` of the package generics, which broom attaches, and of R's
#' `as.data.frame()`. `tidy()` returns one row for each item of the result, `glance()` one row for the whole search.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class or of pcalg, or of [fci()], [rfci()] or
#'   [fciPlus()]. `tidy()` and `as.data.frame()` also accept a graph of [random_dag()] or [cpdag_of()], and a result of
#'   [stability()], [causal_effects()], [cstar()], [select_features()], [markov_check()], [q_values()] or
#'   [compare_graphs()]. `glance()` also accepts a result of [stability()] or [markov_check()]. `as.data.frame()` also
#'   accepts the graph of [averaged_cpdag()].
#' @param row.names,optional Not used.
#' @param ... For `tidy()`: arguments of `as.data.frame()` of `x`, such as `n` for the first rows of effects. For the
#'   others: must be empty.
#' @return `tidy()` returns a data frame. For a search, a graph or a result of [stability()], it is the [edge_table()]
#'   with `from`, `to`, `kind` and further columns. For other objects it is the result of `as.data.frame()`.
#'
#'   `glance()` returns a data frame with one row and the columns
#'   - `variables`, `samples` (`NA` if unknown, as with a test that is an R function);
#'   - `edges`, the number of edges, and the numbers of edges that are `directed`, `undirected` and in `conflict`;
#'   - `tests`, the number of tests at all levels, and `max_level`, the last level;
#'   - `test`, the name of the test, and `alpha`; `NA` if unknown;
#'   - `device`, where the search ran (several are joined by `" + "`); `seconds`, the duration of the search;
#'   - `valid_cpdag`, `NA` for a skeleton, and `ended_early`, whether a `time_limit` ended the search, see
#'     [run_details()].
#'
#'   For a result of [fci()] and its relatives, edges are counted under the names of Zhang (2008): `directed` (`-->`),
#'   `partially_directed` (`o->`), `bidirected` (`<->`), `nondirected` (`o-o`), `partially_undirected` (`o--`) and
#'   `undirected` (`---`). `tests_pdsep` and `max_size_pdsep` refer to the possible-d-sep phase, and there is no
#'   `valid_cpdag`.
#'
#'   For a result of [stability()], further columns are `replicates`, `threshold`, and `pairs`, the number of pairs that
#'   are adjacent in any sample. `edges` counts the edges that are kept. For a result of [markov_check()], the columns
#'   are `variables`, `alpha`, and the row of independences of its `summary`.
#'
#'   For a result of pcalg itself, anything that its class does not contain is `NA`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' D. Robinson, A. Hayes and S. Couch. broom: Convert Statistical Objects into Tidy Tibbles. R package.
#'
#' J. Zhang (2008). Causal reasoning with ancestral graphs. *Journal of Machine Learning Research* 9, 1437-1474.
#' @seealso [edge_table()], [run_details()]
#' @examples
#' x <- random_data(random_dag(10, seed = 1), 200, seed = 1, numCores = 2)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' as.data.frame(fit)
#' if (requireNamespace("generics", quietly = TRUE)) {
#'   generics::tidy(fit)
#'   generics::glance(fit)
#' }
#' @name tidy.pcCompact
#' @aliases tidy.pcAlgo tidy.fciAlgo glance.pcCompact glance.pcAlgo glance.fciAlgo
#' @exportS3Method generics::tidy
tidy.pcCompact <- function(x, ...) {
  check_dots(list(...), character(), "tidy.pcCompact")
  named_edges(network_of(x))
}

#' @exportS3Method generics::tidy
tidy.pcAlgo <- tidy.pcCompact

#' @exportS3Method generics::tidy
tidy.fciAlgo <- tidy.pcCompact

#' @exportS3Method generics::tidy
tidy.pcgpu_graph <- tidy.pcCompact

#' @exportS3Method generics::tidy
tidy.pcgpu_stability <- tidy.pcCompact

#' @exportS3Method generics::tidy
tidy.pcgpu_pag_stability <- tidy.pcCompact

#' @exportS3Method generics::tidy
tidy.pcgpu_effects <- function(x, ...) as.data.frame(x, ...)

#' @exportS3Method generics::tidy
tidy.pcgpu_joint_effects <- tidy.pcgpu_effects

#' @exportS3Method generics::tidy
tidy.pcgpu_cstar <- tidy.pcgpu_effects

#' @exportS3Method generics::tidy
tidy.pcgpu_selection <- tidy.pcgpu_effects

#' @exportS3Method generics::tidy
tidy.pcgpu_markov <- tidy.pcgpu_effects

# The object is a table already, but broom's method for data frames returns something else.
#' @exportS3Method generics::tidy
tidy.pcgpu_q_values <- function(x, ...) {
  check_dots(list(...), character(), "tidy.pcgpu_q_values")
  list2DF(lapply(x, identity))
}

#' @exportS3Method generics::tidy
tidy.pcgpu_comparison <- tidy.pcgpu_q_values

#' @rdname tidy.pcCompact
#' @exportS3Method as.data.frame pcCompact
as.data.frame.pcCompact <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcCompact")
  named_edges(network_of(x))
}

#' @exportS3Method as.data.frame pcAlgo
as.data.frame.pcAlgo <- as.data.frame.pcCompact

#' @exportS3Method as.data.frame fciAlgo
as.data.frame.fciAlgo <- as.data.frame.pcCompact

#' @exportS3Method as.data.frame graphNEL
as.data.frame.graphNEL <- as.data.frame.pcCompact

#' @exportS3Method generics::glance
glance.pcCompact <- function(x, ...) {
  check_dots(list(...), character(), "glance.pcCompact")
  facts <- overview(x)
  list2DF(list(
    variables = facts$variables,
    samples = facts$samples,
    edges = sum(facts$kinds),
    directed = facts$kinds[["-->"]],
    undirected = facts$kinds[["---"]],
    conflict = facts$kinds[["<->"]],
    tests = sum(facts$tests),
    max_level = facts$max_level,
    test = facts$test,
    alpha = facts$alpha,
    device = facts$device,
    seconds = facts$seconds,
    valid_cpdag = facts$valid_cpdag,
    ended_early = facts$ended_early
  ))
}

#' @exportS3Method generics::glance
glance.pcAlgo <- glance.pcCompact

#' @exportS3Method generics::glance
glance.fciAlgo <- function(x, ...) {
  check_dots(list(...), character(), "glance.fciAlgo")
  facts <- overview(x)
  phase <- run_details(x)$phase$tests %||% attr(x, "n.edgetestsPDSEP")
  counted <- length(facts$tests) > 0L
  list2DF(c(
    list(variables = facts$variables, samples = facts$samples, edges = sum(facts$kinds)),
    stats::setNames(as.list(facts$kinds[names(names_of_pag)]), names_of_pag),
    list(
      tests = if (counted) sum(facts$tests) else NA_real_,
      max_level = if (counted) facts$max_level else NA_integer_,
      tests_pdsep = if (counted) sum(phase) else NA_real_,
      max_size_pdsep = if (counted) max(0L, which(phase > 0) - 1L) else NA_integer_,
      test = facts$test,
      alpha = facts$alpha,
      device = facts$device,
      seconds = facts$seconds,
      ended_early = facts$ended_early
    )
  ))
}

#' @exportS3Method generics::glance
glance.pcgpu_stability <- function(x, ...) {
  check_dots(list(...), character(), "glance.pcgpu_stability")
  check_object(x)
  list2DF(list(
    variables = length(x$labels),
    samples = as.double(x$n),
    edges = sum(is_kept_edge(x)),
    pairs = nrow(x$counts),
    replicates = x$replicates,
    threshold = x$threshold$value,
    test = x$test %||% NA_character_,
    alpha = x$alpha,
    device = paste(x$device, collapse = " + ")
  ))
}

#' @exportS3Method generics::glance
glance.pcgpu_pag_stability <- glance.pcgpu_stability

#' @exportS3Method generics::glance
glance.pcgpu_markov <- function(x, ...) {
  check_dots(list(...), character(), "glance.pcgpu_markov")
  check_object(x)
  of_independences <- x$summary[x$summary$implied == "independence", c("tests", "answered", "below", "ks", "ad")]
  list2DF(c(list(variables = length(x$labels), alpha = x$alpha), lapply(of_independences, identity)))
}

# Names of the kinds of edges of a PAG (Zhang 2008).
names_of_pag <- c(
  "-->" = "directed",
  "o->" = "partially_directed",
  "<->" = "bidirected",
  "o-o" = "nondirected",
  "o--" = "partially_undirected",
  "---" = "undirected"
)

# Returns the known facts about a search, with NA for the rest. `network`: its edges.
overview <- function(x, network = network_of(x)) {
  check_object(x, only = c("test", "alpha", "max.ord"))
  details <- run_details(x)
  known <- function(value) if (length(value)) value else NA
  test <- if (is_compact(x)) x@test else details$test
  list(
    variables = length(network$labels),
    samples = as.double(known(details$samples)),
    kinds = counts_of_kinds(network$edges$kind, if (is_fci(x)) kinds_of_pag else unname(arrow_of)),
    tests = as.double(attr(x, "n.edgetests")),
    max_level = as.integer(attr(x, "max.ord")),
    test = if (isTRUE(nzchar(test))) test else NA_character_,
    alpha = as.double(known(if (is_compact(x)) x@alpha else details$alpha)),
    device = if (is.null(details$device)) NA_character_ else paste(details$device, collapse = " + "),
    seconds = as.double(known(details$seconds)),
    valid_cpdag = as.logical(known(details$valid_cpdag)),
    ended_early = if (is.null(details)) NA else !is.null(details$ended) || !is.null(details$phase$ended)
  )
}

counts_of_kinds <- function(kind, kinds) stats::setNames(tabulate(match(kind, kinds), length(kinds)), kinds)

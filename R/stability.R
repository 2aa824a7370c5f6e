#' Which edges to trust: PC and FCI on resampled data
#'
#' Runs [pc()], or [fci()] and its relatives, on many samples of the rows. Reports how often each pair of variables is
#' adjacent and in which direction the edge points. It also returns the averaged graph, and does stability selection with
#' its bound on false edges. All samples of `pc()` are one job: small searches run in parallel on all threads. No p x p
#' matrix is kept for any of them, and memory grows only with the number of pairs that are adjacent at least once.
#'
#' # What is counted
#'
#' - **Strength** of a pair: the share of samples whose graph has the edge, whatever its marks (Friedman, Goldszmidt and
#'   Wyner 1999).
#' - **Direction** of x -> y: among the samples with the edge, the share that has this arrow. An undirected edge counts
#'   one half in each direction, as in `boot.strength()` of the package bnlearn for CPDAGs (`cpdag = TRUE`). A conflict,
#'   x <-> y (`solve.confl = TRUE` only), counts in the same way. The two directions add up to 1.
#'
#' The table also has the counts of the four kinds of edge.
#'
#' # The averaged graph
#'
#' [averaged_cpdag()] returns the edges whose strength reaches a threshold. Each edge has the mark that it has in most
#' of the samples with this edge: an arrow, no direction, or a conflict (ties count as no direction). This majority
#' graph need not be a CPDAG. `print()` and `plot()` say if it is not (with background knowledge, if it cannot be
#' extended to a DAG without further v-structures).
#'
#' The default threshold is that of Scutari and Nagarajan (2013). Consider distributions of strengths that are all 0 or
#' 1, with a share t of zeros. Take the t whose distribution is closest (in L1) to that of the observed strengths. Edges
#' are kept if their strength is *above* the t-quantile of the strengths of all pairs. Since distribution functions
#' increase, this t is their value at one half. The threshold is therefore the largest strength that is at most one
#' half. If `threshold` is a number, edges are kept if their strength is at least that number.
#'
#' # FCI
#'
#' With `method = "fci"`, `"rfci"` or `"fciPlus"`, each sample gives a partial ancestral graph. The strength of a pair is
#' counted as above. Instead of a direction, the table has the most frequent kind of its edge, such as `o->` (see [fci()]),
#' and its share of the samples with the edge. It also has the number of samples with each kind,
#' and with each mark at each end. The averaged graph, [averaged_pag()], has the most frequent kind of each edge. Where
#' several kinds are the most frequent ones and have different marks at an end, that end has a circle. The averaged graph
#' need not be the PAG of any causal graph.
#'
#' The samples run one after the other, each on all threads. `cluster` and `false_edges` are only available for `pc()`.
#'
#' # Stability selection
#'
#' With `how = "subsample"` and without `size`, each sample has half of the rows. Meinshausen and Buehlmann (2010) then
#' bound the expected number of false edges among those with a strength of at least `threshold` by
#' \deqn{E[V] \le \frac{q^2}{(2 \cdot threshold - 1) P}.}{E[V] <= q^2 / ((2 threshold - 1) P).}
#' Here q is the mean number of edges in a sample, and P the number of pairs that are tested (excluding those you fixed). `threshold` is then 0.75 by default.
#' It can be a number above 0.5, or be derived from `false_edges`, the bound you want; [stability_bound()] solves for any of the three. The bound assumes that
#' the method is not worse than guessing and that all false edges are selected equally often. q decreases with `alpha`.
#'
#' # Samples
#'
#' The rows of a sample depend only on `seed` and the number of the sample, so `numCores`, `device` and `cluster` do not
#' change any count. [stability_rows()] returns them. The graph of a sample is that of `pc()` with the same arguments on
#' these rows, except that
#' - a numeric column that is constant in the rows is uncorrelated with all others (and thus has no edge), where
#'   [suff_gauss()] would refuse it;
#' - factors keep levels that do not occur in the rows, so degrees of freedom are those of all declared levels;
#' - `u2pd = "rand"` and `"retry"` draw from the sample's own random numbers (and for `fit` from numbers that depend on
#'   the seed).
#'
#' With `weights`, `adjust` or a `correlation` other than `"pearson"`, each sample is weighted, adjusted or ranked by
#' itself. With `id`, groups are drawn instead of rows: all rows of a group are in a sample or none, and a group that is
#' drawn twice counts as two groups. With few large groups, such as batches, use `adjust = ~ batch` instead, which has
#' the same tests and draws rows.
#'
#' A bootstrap sample contains about 63 % of the rows, some more than once. With repeated rows, sets of more variables
#' than distinct rows are singular; tests treat them as `pc()` does. Repeated rows also make tests more sensitive to
#' weak edges than the same number of distinct rows: the rate of false edges at the same `alpha` about doubles.
#' Subsamples do not have this effect. Nearest-neighbour tests, for which the distances of repeated rows would be 0,
#' accept subsamples only.
#'
#' Tests that are R functions run one after the other, or on the workers of a `cluster`. A test that draws random
#' numbers uses a stream determined by the seed, the sample, and the variables and set of the test.
#'
#' @param data Data as [pc()] accepts them instead of a `suffStat`: a data frame, matrix or table, an `ExpressionSet`,
#'   `SummarizedExperiment` or `SingleCellExperiment`, and so on. Or a sufficient statistic that contains the data: the
#'   result of `suff_gauss(keep = "data")`, [suff_discrete()] or [suff_knn()], or a list for an R function of your own.
#'   In such a list, all matrices and data frames with a common number of rows are taken as the data. `n` is taken, too,
#'   if it is that number.
#' @param indepTest,alpha As in [pc()]. Without `indepTest` the columns determine the test.
#' @param ... Further arguments of [pc()], by name: `labels`, `p`, `fixedGaps`, `fixedEdges`, `NAdelete`, `m.max`, `u2pd`,
#'   `skel.method`, `conservative`, `maj.rule`, `solve.confl`. With another `method`, those of the function of that name,
#'   such as `selectionBias` or `pdsep.max` of [fci()].
#' @param method The search: [pc()], [fci()], [rfci()] or [fciPlus()].
#' @param replicates Number of samples, from 1 to 100,000.
#' @param how `"bootstrap"` (rows drawn with replacement) or `"subsample"` (without replacement).
#' @param size Number of rows in a sample, or up to 1 their share of all rows (rounded down). `NULL` means all rows for
#'   bootstrap samples and half of them for subsamples. With `id`, of groups instead of rows.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a
#'   run reproducible.
#' @param threshold,false_edges Which edges the averaged graph has, see below: a smallest strength, or a bound on the
#'   expected number of false edges. Not both; [averaged_cpdag()] can apply others later. If no threshold has such a
#'   bound, no edge is kept, and a warning of class `pcgpu_warning_false_edges` gives the reason.
#' @param make `NULL`, or a function for tests that need something other than the data. It computes the sufficient
#'   statistic of a sample from its rows of `data`, such as `function(rows) list(C = cor(rows), n = nrow(rows))`.
#'   Samples then run one after the other (or on a `cluster`).
#' @param cluster Workers among which the samples are divided, as in [pc_control()].
#' @param tiers,forbidden,required,context.all,context.tier,na,correlation,weights,adjust,id Arguments of [pc_control()].
#' @param device,numCores As in [pc()]. A GPU runs one sample after the other.
#' @param progress Show a progress bar? As in [pc()].
#' @param control The result of [pc_control()] with some of these arguments.
#' @return An object of class `pcgpu_stability`. It has methods for
#'   - `print()` and `summary()`;
#'   - `plot()`: strengths by rank with the threshold; `plot(x, "graph")` shows the averaged graph with line widths that
#'     follow strength;
#'   - `as.data.frame(x, n = Inf)`: one row for each pair that is adjacent in at least one sample, or the first `n` of
#'     them, by decreasing strength, with these columns:
#'
#' \describe{
#'   \item{`from`, `to`}{names of the variables, ordered so that `direction` is at least one half;}
#'   \item{`strength`, `direction`}{see below; the direction is that of from -> to;}
#'   \item{`forward`, `backward`, `undirected`, `bidirected`}{number of samples with from -> to, from <- to, from - to
#'     and from <-> to;}
#'   \item{`fit`}{the edge in the graph of all rows: `"-->"`, `"<--"`, `"---"`, `"<->"`, or `""` for none;}
#'   \item{`kept`}{whether the edge is in the averaged graph.}
#' }
#' The object is a list. Its elements are:
#' - `counts`: a data frame of numbers of variables x < y and counts;
#' - `fit`: the result of `pc()` on all rows, of class [pcCompact][pcCompact-class] for more than 1,000 variables;
#' - `q`, `tested`: the mean number of edges among tested pairs, and the number P of these pairs;
#' - `valid`, `constants`: the number of samples whose graph is valid, and of samples with constant columns;
#' - `threshold`: the threshold;
#' - `average`: the edges kept, and whether their graph is valid;
#' - `unit`: what is drawn, `"rows"` or `"groups"`;
#' - `labels`, `replicates`, `how`, `size`, `n`, `seed`, `alpha`, `test`, `knowledge`, `device` and `call`.
#'
#' With another `method`, the object has the class `pcgpu_pag_stability`, and the same methods. Its table has these
#' columns:
#' \describe{
#'   \item{`from`, `to`, `strength`, `kept`}{as above, but ordered as the kind of the edge is written;}
#'   \item{`kind`, `share`}{the kind of the edge in the averaged graph, and the share of the samples with the edge that
#'     have the most frequent kind;}
#'   \item{`o-o`, `o->`, `o--`, `<-o`, `<->`, `<--`, `--o`, `-->`, `---`}{number of samples with an edge of this kind, as
#'     seen from `from`;}
#'   \item{`from.circle`, `from.arrow`, `from.tail`, `to.circle`, `to.arrow`, `to.tail`}{number of samples with this mark
#'     at `from`, and at `to`. An arrowhead at `to` says that `to` is not a cause of `from`;}
#'   \item{`fit`}{the edge in the PAG of all rows, as seen from `from`, or `""`.}
#' }
#' Its elements are `counts` (by kind, as seen from x), `fit`, `threshold`, `kept` (the pairs of the averaged graph),
#' `method`, `unit`, and those of the last line of the list above, except `knowledge`.
#'
#' Errors are those of [pc()], of class `pcgpu_error_argument` if the data cannot be resampled.
#' @seealso [averaged_cpdag()] and [averaged_pag()], [stability_bound()], [stability_rows()]; [cstar()] for causal
#'   effects; [select_features()] with `ensemble` for the selection of features.
#' @references
#' N. Friedman, M. Goldszmidt and A. Wyner (1999). Data analysis with Bayesian networks: a bootstrap approach.
#' *Proceedings of the Fifteenth Conference on Uncertainty in Artificial Intelligence*, 196-205.
#'
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B*
#' 72(4), 417-473.
#'
#' M. Scutari and R. Nagarajan (2013). Identifying significant edges in graphical models of molecular networks.
#' *Artificial Intelligence in Medicine* 57(3), 207-217.
#' @examples
#' set.seed(1)
#' n <- 200
#' a <- rnorm(n)
#' b <- rnorm(n)
#' d <- 0.5 * a + 0.5 * b + rnorm(n)
#' e <- 0.4 * d + rnorm(n)
#' f <- rnorm(n)
#' x <- data.frame(a, b, d, e, f)
#' found <- stability(x, gaussCItest, alpha = 0.01, replicates = 50, numCores = 2)
#' found
#' as.data.frame(found)
#' averaged_cpdag(found, threshold = 0.9)
#' plot(found)
#'
#' # Stability selection: at most one false edge is expected
#' half <- stability(
#'   x, gaussCItest, alpha = 0.01, how = "subsample", false_edges = 1, numCores = 2
#' )
#' half
#'
#' # If common causes may be hidden
#' pag <- stability(x, gaussCItest, alpha = 0.01, method = "fci", replicates = 20, numCores = 2)
#' pag
#' edge_table(pag)
#' @export
stability <- function(
  data,
  indepTest,
  alpha,
  ...,
  method = c("pc", "fci", "rfci", "fciPlus"),
  replicates = 100,
  how = c("bootstrap", "subsample"),
  size = NULL,
  seed = NULL,
  threshold = NULL,
  false_edges = NULL,
  make = NULL,
  cluster = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  na = NULL,
  correlation = NULL,
  weights = NULL,
  adjust = NULL,
  id = NULL,
  device = "auto",
  numCores,
  progress = NULL,
  control = pc_control()
) {
  if (!is.null(taught <- taught_call(unlist(lapply(searches, arguments_of_search))))) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  check_given(
    list(data = missing(data), alpha = missing(alpha)),
    list(data = "give the observations, in rows.", alpha = "give the significance level, for instance alpha = 0.01.")
  )
  method <- check_choice(method, searches, "method")
  of_pag <- method != "pc"
  named <- mget(knowledge_arguments, envir = environment())
  refuse_of_others(method, c(list(...), named), control, cluster, false_edges)
  controlled <- c("cluster", knowledge_arguments, "na", data_arguments)
  passed <- check_passed(list(...), control, "stability", controlled, method)
  given <- passed$given
  control <- passed$control
  replicates <- check_whole(replicates, "replicates", 1, 1e5)
  how <- check_how(how)
  if (missing(indepTest)) {
    check_level(alpha)
    given <- c(given, if (!of_pag) rule_of_data(names(given), given$u2pd %||% "relaxed"))
  }
  named <- if (!missing(indepTest)) indepTest
  # The statistic may draw a seed of its own, of features or permutations.
  source <- with_seed(seed, function() resampling_source(data, named, make, control$na, design_in(control)))
  if (is.null(given$labels) && is.null(given$p)) {
    given$labels <- source$labels
  }
  control <- with_tiers_of_lags(control, data, given, source)
  resampled <- check_resampling(how, size, seed, source, replicates)
  wanted <- check_wanted(threshold, false_edges, resampled)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  workers <- if (!is.null(control$cluster)) worker_source(control$cluster)
  if (is.null(workers)) {
    device <- check_device(device)
  }
  search <- function(device, given, ...) {
    fit_all_rows(source, alpha, given, control, device, threads, resampled$seed, method, ...)
  }
  fit <- with_seed(resampled$seed, function() search(if (is.null(workers)) device else "auto", given))
  bar <- progress_reporter(progress, label = function(level, edges) sprintf("Searching %.0f samples", replicates))
  on.exit(bar$close())
  common <- list(
    fit = fit,
    replicates = resampled$replicates,
    how = how,
    size = resampled$size,
    n = source$n,
    unit = source$unit %||% "rows",
    seed = resampled$seed,
    test = test_name(source$indepTest)
  )
  if (of_pag) {
    # The statistic of a sample need not have names.
    given <- c(given[setdiff(names(given), c("labels", "p"))], list(labels = labels_of_pag(attr(fit, "amat"))))
    counts <- count_marks(source, resampled, function(...) search(device, given, ...), bar$report)
    return(with_average_pag(new_pag_stability(counts, common, method, check_alpha(alpha), call), wanted))
  }
  problem <- resampling_problem(source, alpha, given, control, fit, threads)
  found <- if (is.null(workers)) {
    count_edges(problem, resampled, device, threads, bar$report)
  } else {
    opened <- workers()
    count_on_workers(opened, problem, resampled, device, threads, bar$report)
  }
  bar$close()
  tell_lost(found$lost)
  attr(call, "pcgpu") <- c(
    list(device = found$device),
    work_of(found$team, found$device),
    list(version = package_version())
  )
  counts <- data.frame(found[c("x", "y", "forward", "backward", "undirected", "bidirected")])
  result <- structure(
    class = "pcgpu_stability",
    c(
      list(counts = counts, labels = problem$labels),
      common,
      list(
        alpha = problem$options$alpha,
        q = sum(counts[3:6]) / replicates - found$kept,
        tested = found$tested,
        valid = found$valid,
        constants = found$constants,
        knowledge = !is.null(problem$options$knowledge),
        threshold = NULL,
        average = NULL,
        device = found$device,
        call = call
      )
    )
  )
  with_average(result, wanted, refuse = FALSE)
}

# For more variables than this, the graph of all rows is a compact result.
most_whole_fit <- 1000L

# Arguments of pc() that are arguments of stability() itself, or make no sense for many searches.
own_of_stability <- c("suffStat", "indepTest", "alpha", "numCores", "device", "progress", "verbose")

# Returns the names of the arguments of a search that stability() and cstar() accept in their `...`.
arguments_of_search <- function(search) setdiff(search_arguments_of(get(search)), own_of_stability)

# Checks the further arguments that stability() or a similar function `of` received: those of the search, and those of
# pc_control() named in `controlled`, in its `frame`. Returns list(given, control).
check_passed <- function(dots, control, of, controlled, search = "pc", frame = parent.frame()) {
  check_dots(dots, c(arguments_of_search(search), controlled), of)
  is_control <- names(dots) %in% controlled
  list(given = dots[!is_control], control = gather_control(control, dots[is_control], of, controlled, frame = frame))
}

# Returns how rows are drawn, as Rust reads it (resampling() in src/rust/src/selection.rs).
check_resampling <- function(how, size, seed, source, replicates) {
  replace <- how == "bootstrap"
  n <- source$n
  if (replace && !is.null(knn_test(source$indepTest))) {
    abort_argument(
      "how",
      how,
      "give how = \"subsample\".",
      is = paste0(
        dQuote(how, FALSE),
        ", but nearest-neighbour tests mistake repeated rows, whose distance is 0, for dependence"
      )
    )
  }
  size <- if (is.null(size)) {
    if (replace) n else n %/% 2L
  } else {
    check_whole(floor(rows_of_size(check_sample_size(size), n)), "size", 2, if (replace) n else n - 1)
  }
  if (size < 4 && is_gauss_test(source$indepTest)) {
    abort_argument(
      "size",
      size,
      "give a larger `size`, or data with more rows.",
      is = sprintf("%d of %d rows, but a test of correlation needs at least 4 observations", size, n)
    )
  }
  list(
    seed = as.double(check_seed(seed)),
    size = as.integer(size),
    replace = replace,
    n = n,
    first = 0L,
    replicates = as.integer(replicates),
    # Meinshausen and Buehlmann's bound holds only for such samples.
    halves = !replace && size == n %/% 2L
  )
}

# Runs pc(), or another search, on all rows, or on the statistic of a sample. A test that is an R function draws random
# numbers that depend on the seed. The call in the result does not contain the data.
fit_all_rows <- function(
  source,
  alpha,
  given,
  control,
  device,
  threads,
  seed,
  search = "pc",
  suffStat = source$whole(),
  replicate = 0
) {
  indepTest <- source$indepTest
  if (is.null(source$suffStat) && !nzchar(test_name(indepTest))) {
    indepTest <- function(x, y, S, suffStat) {
      stream_of(seed, replicate, x, y, S)
      source$indepTest(x, y, S, suffStat)
    }
  }
  # Arguments about where the samples run do not apply to this one search, and a p x p matrix of p-values is not needed.
  known <- c(
    control_given(control)[intersect(names(control_given(control)), knowledge_arguments)],
    if (search == "pc" && isTRUE(source$p > most_whole_fit)) list(result = "compact")
  )
  arguments <- c(
    list(suffStat = suffStat, indepTest = indepTest, alpha = alpha),
    given,
    list(device = device, progress = FALSE, control = known)
  )
  if (isTRUE(attr(threads, "named"))) {
    arguments$numCores <- as.integer(threads)
  }
  names <- stats::setNames(lapply(names(arguments), as.name), names(arguments))
  eval(as.call(c(list(as.name(search)), names)), list2env(arguments, parent = environment()))
}

# Returns the arguments of each sample's search as Rust expects them. pc() has already checked them and given its
# warnings, in fit_all_rows().
resampling_problem <- function(source, alpha, given, control, fit, threads) {
  labels <- if (is_compact(fit)) fit@labels else attr(fit, "graph")@nodes
  given$labels <- NULL
  given <- c(given, list(alpha = alpha, suffStat = source$whole(), labels = labels))
  defaults <- formals(pc)[setdiff(arguments_of_search("pc"), c(names(given), "p"))]
  given <- c(given, lapply(defaults, eval))
  suppressMessages(
    suppressWarnings(
      {
        asked <- pc_options(given, control)
        test <- replicate_test(source, labels, asked$options$alpha, threads)
      },
      classes = "pcgpu_warning"
    ),
    classes = "pcgpu_message"
  )
  asked$orient <- with_bound(asked$orient, test)
  c(asked, list(test = test, labels = labels, world = world_of(source$given)))
}

# Counts the edges of the samples from `resampled$first` on, on this machine. `gpu`: chooses the GPU of this process if
# there are several processes.
count_edges <- function(problem, resampled, device, threads, report = NULL, gpu = identity) {
  test <- problem$test
  each <- test$kind == "each"
  if (each) {
    restore <- random_state()
    on.exit(restore())
    test$make <- test$of(resampled)
    test$of <- NULL
  }
  # The test that R makes for each replicate may be of any kind.
  of <- if (each) list(kind = "function") else test
  p <- problem$options$p
  device <- choose_device(device, of, p, order_of_tests(of, problem$options), several = gpus_pay(of, p))
  check_rust(on_device(gpu(device), threads, function(engine) {
    rust_stability(test, problem$options, problem$orient, resampled, engine, list(progress = report))
  }))
}

#' Which edges to trust: PC on resampled data
#'
#' Runs [pc()] on many samples of the rows and says of each pair of variables how often it is adjacent, and how often which way the edge points; with
#' the averaged graph, and stability selection with its bound on false edges. All samples are one job: small searches run side by side on all threads, nothing of
#' size p x p is kept of any, and memory goes by the pairs that are adjacent at least once.
#'
#' # What is counted
#'
#' - **Strength** of a pair: the share of samples whose graph has the edge, whatever its marks (Friedman, Goldszmidt and Wyner 1999).
#' - **Direction** of x -> y: of the samples that have the edge, the share that has this arrow, where an undirected edge counts one half each way, as `boot.strength()` of
#'   the package bnlearn counts the edges of CPDAGs (`cpdag = TRUE`). A conflict, x <-> y (`solve.confl = TRUE` only), counts one half each way too. The two directions add up to 1.
#'
#' The table has the counts of the four marks as well.
#'
#' # The averaged graph
#'
#' [averaged_cpdag()] has the edges whose strength reaches a threshold, each with the mark that most of the samples that have it give it: an arrow, or no direction (conflicts count as such, and so do
#' ties). This graph of votes need not be a CPDAG: `print()` and `plot()` say whether it is one (with background knowledge: whether it can be extended to a DAG without further v-structures).
#'
#' The default threshold is that of Scutari and Nagarajan (2013): the share t for which a distribution of strengths that are all 0 or 1, a share t of them 0, is nearest (in L1) to that of the strengths. Edges
#' are kept whose strength is *above* the t-quantile of the strengths of all pairs. As distributions rise, that t is the value at one half, and the threshold the largest strength that is at most one half. With a number as `threshold`, edges are
#' kept whose strength is at least that.
#'
#' # Stability selection
#'
#' With `how = "subsample"` and `size` left out, half of the rows at a time, Meinshausen and Buehlmann (2010) bound the expected number of false edges among those whose strength is at least `threshold` by
#' \deqn{E[V] \le \frac{q^2}{(2 \cdot threshold - 1) P},}{E[V] <= q^2 / ((2 threshold - 1) P),}
#' q the mean number of edges of a sample and P the number of pairs that are tested (without those fixed by the user). `threshold` is then 0.75 by default, a number above 0.5, or follows from `false_edges`, the
#' bound that is wanted; [stability_bound()] solves for any of the three. They assume that a method is no worse than guessing, and that false edges are selected
#' equally often. q falls with `alpha`.
#'
#' # Samples
#'
#' Which rows a sample has depends on `seed` and its number alone, so that `numCores`, `device` and `cluster` change no count; [stability_rows()] says which. A sample's graph is that of `pc()` on these rows with
#' the same arguments, but that:
#' - a column of numbers that is constant in the rows is uncorrelated with all others (and so has no edge), where [suff_gauss()] would refuse it;
#' - factors keep levels that do not occur in the rows: degrees of freedom are those of all declared levels;
#' - `u2pd = "rand"` and `"retry"` draw random numbers of the sample's own (and `fit` some that depend on the seed).
#'
#' A bootstrap sample has about 63 % of the rows, some more than once. Repeated rows make sets of more variables than different rows singular, which tests take as `pc()` does. Tests find
#' more of weak edges in repeated rows than in as many different ones (about twice the rate of false edges at the same `alpha`): subsamples do not have that. Nearest-neighbour tests, whose distances would be 0, take subsamples alone.
#'
#' Tests that are R functions are asked one after the other, or on the workers of a `cluster`. A test that draws random numbers draws from a stream that depends on the seed, the sample
#' and the question.
#'
#' @param data What [pc()] takes in place of a `suffStat`: a data frame, a matrix, a table, an `ExpressionSet`, a `SummarizedExperiment` or a `SingleCellExperiment`, ...; or a sufficient statistic that holds the
#'   data: `suff_gauss(keep = "data")`, [suff_discrete()], [suff_knn()], or a list for an R function of your own, whose matrices and data frames of one number of rows (and `n`, if it is that number) are
#'   taken for the data.
#' @param indepTest,alpha As in [pc()]. Without `indepTest` the test follows from the columns.
#' @param ... Further arguments of [pc()], by name: `labels`, `p`, `fixedGaps`, `fixedEdges`, `NAdelete`, `m.max`, `u2pd`, `skel.method`, `conservative`, `maj.rule`, `solve.confl`; and of [pc_control()]: `tiers`,
#'   `forbidden`, `required`, `context.all`, `context.tier`, `na`.
#' @param control Those of [pc_control()], and `cluster`, gathered.
#' @param replicates Number of samples, from 1 to 100,000.
#' @param how `"bootstrap"` (rows drawn with replacement) or `"subsample"` (without).
#' @param size Number of rows of a sample; `NULL` means as many as there are, and half of them (rounded down) for subsamples.
#' @param seed A whole number from 0 to 2147483647 that the samples depend on, or `NULL` to draw one from R's random numbers: `set.seed()` makes a run repeatable.
#' @param threshold,false_edges Which edges the averaged graph has, see below: a strength, or a bound on the expected number of false edges. Not both; [averaged_cpdag()] takes others later.
#'   Where no threshold has such a bound, no edge is kept, and a warning of class `pcgpu_warning_false_edges` says why.
#' @param make `NULL`, or a function that makes the sufficient statistic of a sample from its rows of `data`, such as `function(rows) list(C = cor(rows), n = nrow(rows))`, for tests that need another than their data.
#'   Samples are then run one after the other (or on a `cluster`).
#' @param cluster Workers that share the samples out, as in [pc()].
#' @param device,numCores As in [pc()]. A GPU runs one sample after the other.
#' @param progress Show a progress bar? As in [pc()].
#' @return An object of class `pcgpu_stability`, with methods `print()`, `summary()`, `plot()` (strengths by rank with the threshold, and `plot(x, "graph")`, the averaged graph with edges as wide as they are strong) and
#' `as.data.frame()`, a row for each pair that is adjacent in at least one sample, or the first `n` of them, by decreasing strength:
#' \describe{
#'   \item{`from`, `to`}{names of the variables, so that `direction` is at least one half;}
#'   \item{`strength`, `direction`}{see below, direction of from -> to;}
#'   \item{`forward`, `backward`, `undirected`, `bidirected`}{number of samples with from -> to, from <- to, from - to and from <-> to;}
#'   \item{`fit`}{the edge in the graph of all rows: `"-->"`, `"<--"`, `"---"`, `"<->"`, or `""` for none;}
#'   \item{`kept`}{is it in the averaged graph?}
#' }
#' It is a list of `counts` (a data frame of numbers of variables x < y and counts), `fit` (the result of `pc()` on all rows; of more than 1,000 variables of class [pcCompact][pcCompact-class]), `labels`, `replicates`, `how`, `size`, `n`, `seed`, `q` (the mean number of edges that were tested), `tested` (P),
#' `valid` (how many samples' graphs are valid), `constants` (how many samples had constant columns), `threshold`, `average` (what is kept, and whether the graph is valid), `device`, `call`.
#' @seealso [averaged_cpdag()], [stability_bound()], [stability_rows()]; [select_features()] with `ensemble` for the selection of features.
#' @references
#' N. Friedman, M. Goldszmidt and A. Wyner (1999). Data analysis with Bayesian networks: a bootstrap approach. *Proceedings of the Fifteenth Conference on Uncertainty in Artificial Intelligence*, 196-205.
#'
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B* 72(4), 417-473.
#'
#' M. Scutari and R. Nagarajan (2013). Identifying significant edges in graphical models of molecular networks. *Artificial Intelligence in Medicine* 57(3), 207-217.
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
#' @export
stability <- function(data, indepTest, alpha, ..., replicates = 100, how = c("bootstrap", "subsample"), size = NULL, seed = NULL,
                      threshold = NULL, false_edges = NULL, make = NULL, cluster = NULL, device = "auto", numCores, progress = NULL,
                      control = pc_control()) {
  call <- match.call()
  check_given(list(data = missing(data), alpha = missing(alpha)), list(
    data = "give the observations, in rows.", alpha = "give the significance level, for instance alpha = 0.01."
  ))
  passed <- check_passed(c(list(...), cluster = list(cluster)[!is.null(cluster)]), control, "stability", c("cluster", knowledge_arguments, "na"))
  given <- passed$given
  control <- passed$control
  replicates <- check_whole(replicates, "replicates", 1, 1e5)
  how <- check_choice(how, c("bootstrap", "subsample"), "how")
  source <- resampling_source(data, if (!missing(indepTest)) indepTest, make, control$na)
  if (is.null(given$labels) && is.null(given$p)) given$labels <- source$labels
  resampled <- check_resampling(how, size, seed, source, replicates)
  wanted <- check_wanted(threshold, false_edges, resampled)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  workers <- if (!is.null(control$cluster)) worker_source(control$cluster)
  if (is.null(workers)) device <- check_device(device)
  fit <- fit_all_rows(source, alpha, given, control, if (is.null(workers)) device else "auto", threads, resampled$seed)
  problem <- resampling_problem(source, alpha, given, control, fit, threads)
  bar <- progress_reporter(progress, label = function(level, edges) sprintf("Searching %.0f samples", replicates))
  on.exit(bar$close())
  found <- if (is.null(workers)) {
    count_edges(problem, resampled, device, threads, bar$report)
  } else {
    opened <- workers()
    count_on_workers(opened, problem, resampled, device, threads, bar$report)
  }
  bar$close()
  tell_lost(found$lost)
  attr(call, "pcgpu") <- c(list(device = found$device), work_of(found$team, found$device), list(version = package_version()))
  counts <- data.frame(found[c("x", "y", "forward", "backward", "undirected", "bidirected")])
  result <- structure(class = "pcgpu_stability", list(
    counts = counts, fit = fit, labels = problem$labels, replicates = resampled$replicates, how = how, size = resampled$size, n = source$n,
    seed = resampled$seed, alpha = problem$options$alpha, test = test_name(source$indepTest), q = sum(counts[3:6]) / replicates - found$kept,
    tested = found$tested, valid = found$valid, constants = found$constants, knowledge = !is.null(problem$options$knowledge),
    threshold = NULL, average = NULL, device = found$device, call = call
  ))
  with_average(result, wanted, refuse = FALSE)
}

# Of more variables, the graph of all rows is a compact result.
most_whole_fit <- 1000L

# Arguments of pc() that are arguments of stability() itself, or have no sense for many searches.
own_of_stability <- c("suffStat", "indepTest", "alpha", "numCores", "device", "progress", "verbose", "...", "control")

# Further arguments of pc(), and those `controlled` of pc_control(), that stability() or another function `of` this sort was given: list(given, control).
check_passed <- function(dots, control, of, controlled) {
  check_dots(dots, c(setdiff(names(formals(pc)), own_of_stability), controlled), of)
  is_control <- names(dots) %in% controlled
  list(given = dots[!is_control], control = gather_control(control, dots[is_control], of, controlled))
}

# How rows are drawn: what Rust reads (resampling() in src/rust/src/selection.rs).
check_resampling <- function(how, size, seed, source, replicates) {
  replace <- how == "bootstrap"
  n <- source$n
  if (replace && !is.null(knn_test(source$indepTest))) {
    abort_argument("how", how, "give how = \"subsample\": rows that are drawn twice have distance 0 from each other, which nearest-neighbour tests take for dependence.")
  }
  size <- if (is.null(size)) {
    if (replace) n else n %/% 2L
  } else {
    check_whole(size, "size", 2, if (replace) n else n - 1)
  }
  if (size < 4 && is_gauss_test(source$indepTest)) {
    abort_argument("size", size, "a test of correlation takes at least 4 observations: give more, or more rows of data.", is = sprintf("%d of %d rows", size, n))
  }
  seed <- as.double(if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else check_whole(seed, "seed", 0, .Machine$integer.max))
  list(
    seed = seed, size = as.integer(size), replace = replace, n = n, first = 0L, replicates = as.integer(replicates),
    # As Meinshausen and Buehlmann's bound wants them.
    halves = !replace && size == n %/% 2L
  )
}

# pc() on all rows; random numbers that it draws depend on the seed, too. Its call names no data.
fit_all_rows <- function(source, alpha, given, control, device, threads, seed) {
  restore <- random_state()
  on.exit(restore())
  stream_of(seed, 0, 0L, 0L, integer())
  indepTest <- source$indepTest
  if (is.null(source$suffStat) && !nzchar(test_name(indepTest))) {
    indepTest <- function(x, y, S, suffStat) {
      stream_of(seed, 0, x, y, S)
      source$indepTest(x, y, S, suffStat)
    }
  }
  # Whatever says where the samples run, or has been used, is not for this one search; and p x p p-values are not what is asked for.
  known <- c(
    control_given(control)[intersect(names(control_given(control)), knowledge_arguments)],
    if (isTRUE(source$p > most_whole_fit)) list(result = "compact")
  )
  arguments <- c(list(suffStat = source$whole(), indepTest = indepTest, alpha = alpha), given, list(device = device, progress = FALSE, control = known))
  if (isTRUE(attr(threads, "named"))) arguments$numCores <- as.integer(threads)
  names <- stats::setNames(lapply(names(arguments), as.name), names(arguments))
  eval(as.call(c(list(quote(pc)), names)), list2env(arguments, parent = environment()))
}

# What each sample is searched with: the arguments as pc(), which has checked them and warned of what there is, hands them to Rust.
resampling_problem <- function(source, alpha, given, control, fit, threads) {
  labels <- if (is_compact(fit)) fit@labels else attr(fit, "graph")@nodes
  of_pc <- list2env(c(given, list(alpha = alpha, suffStat = source$whole())), parent = environment())
  # `labels` and `p` have no default; they are what `fit` has.
  for (name in setdiff(names(formals(pc)), c(names(of_pc), own_of_stability, "labels", "p"))) {
    assign(name, eval(formals(pc)[[name]]), of_pc)
  }
  suppressMessages(suppressWarnings(
    {
      asked <- check_pc(of_pc, control, labels)
      test <- replicate_test(source, labels, asked$options$alpha, threads)
    },
    classes = "pcgpu_warning"
  ), classes = "pcgpu_message")
  c(asked, list(test = test, labels = labels, world = world_of(source$given)))
}

# The counts of the samples from `resampled$first` on, on this machine. `card`: of several processes, which GPU this one takes.
count_edges <- function(problem, resampled, device, threads, report = NULL, card = identity) {
  test <- problem$test
  each <- test$kind == "each"
  if (each) {
    restore <- random_state()
    on.exit(restore())
    test$make <- test$of(resampled)
    test$of <- NULL
  }
  # What R makes for each replicate may be anything.
  of <- if (each) list(kind = "function") else test
  p <- problem$options$p
  device <- choose_device(device, of, p, order_of_tests(of, problem$options), several = gpus_pay(of, p))
  check_rust(on_device(card(device), threads, function(engine) {
    rust_stability(test, problem$options, problem$orient, resampled, engine, list(progress = report))
  }))
}

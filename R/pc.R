#' PC algorithm: estimate the CPDAG of a causal graph
#'
#' Estimates the equivalence class (CPDAG) of a directed acyclic graph from observational data with the
#' order-independent PC algorithm (PC-stable). `pc()` takes the arguments of `pcalg::pc()` and returns the same answer,
#' hundreds of times faster. In a script, replace `pcalg::pc` with `pcgpu::pc`.
#'
#' # What the data must be
#'
#' Rows must be independent observations of the same variables, all from one distribution. Tests count each row as one
#' observation. If rows depend on each other, p-values are too small and false edges appear. This excludes:
#' - the points of a time series as they are: [lagged()] puts the past of each variable next to its present. Its help
#'   says what a search can find then. PCMCI of the Python package tigramite is made for time series;
#' - repeated measures of one subject, or cells of the same patient as samples: use one row for each subject, such as a
#'   mean or a sum over cells; or compare rows within subjects, see `id` in [suff_gauss()].
#'
#' The graph has no cycles. For feedback, see the algorithm CCD of Tetrad, or the package backShift for data with
#' interventions. For score-based search, see `hc()` of bnlearn, `ges()` of pcalg, or the package BiDAG. If common
#' causes may be unmeasured, use [fci()].
#'
#' # The same as in pcalg
#'
#' The following are those of pcalg 2.7-12 with the same `skel.method`: the graph, the separating sets and the sides on
#' which they are stored, `n.edgetests`, `max.ord`, and `pMax` to a relative error of `1e-9`. They do not depend on
#' `numCores`.
#'
#' If a correlation matrix is close to singular, p-values are accurate to fewer digits, in pcalg as well. If it is
#' singular and not positive semi-definite (rounded, or from pairwise complete observations), a test may depend on
#' rounding errors alone, which differ between programs.
#'
#' `u2pd = "rand"` and `"retry"` draw the same random numbers as pcalg. A search without them draws none. Error messages
#' of pcalg are kept word for word, in front of ours.
#'
#' # Differences from pcalg
#'
#' Arguments:
#' - `device`, `progress` and the arguments of [pc_control()] are ours. They come after pcalg's arguments; those of
#'   `pc_control()` need their full names.
#' - An unknown argument name is an error of class `pcgpu_error_argument` that suggests the intended name.
#' - For more than 20,000 variables the result has another class, [pcCompact][pcCompact-class], unless `result =
#'   "pcAlgo"`.
#' - If `numCores` is left out, all cores are used (one in a forked process); pcalg uses one. It works with every
#'   `skel.method`, without pcalg's warning. `options(pcgpu.threads = )` and the environment variable
#'   `PCGPU_NUM_THREADS` change the default.
#' - Some arguments for which pcalg computes a result are errors here, raised before any work: a `suffStat$C` that is a
#'   covariance matrix, not symmetric, not square, with entries below -1 or above 1, or not of size p; `suffStat$n`
#'   below 1; labels that are the names of the data in another order; `alpha` given as text; a `p` that is not a whole
#'   number; level codes that are not below `nlev`.
#' - Other mistakes stop both programs, here with a condition of class `pcgpu_error_argument` that names the argument,
#'   its value and the remedy.
#' - Labels that differ from the names of the data other than in their order are matched by position, as in pcalg, with
#'   a warning of class `pcgpu_warning_names`. `alpha` outside (0, 1) is accepted as in pcalg, with a warning of class
#'   `pcgpu_warning_alpha`.
#' - Only here: `suffStat` may be data, also with `indepTest`. `indepTest` can be left out for data and for results of
#'   [suff_gauss()] and the like. `labels` and `p` can be left out if `suffStat` has a matrix with a column for each
#'   variable.
#' - Only here: `fixedGaps` and `fixedEdges` may have row names that differ from their column names, for instance names
#'   on one side only.
#' - Only here: the `suffStat` of a discrete test may lack `adaptDF` (it is then `FALSE`), or come from `na =
#'   "pairwise"`.
#' - Only here: `suffStat` may be the result of `suff_gauss(keep = "data")`, which pcalg's functions see as a list of C
#'   and n (see [suff_gauss()]).
#'
#' Tests:
#' - With five or more conditioning variables, pcalg's `disCItest()` conditions on x instead of on them. Ours does not,
#'   so results differ there, whichever of the two functions is given; see [disCItest()].
#' - If discrete tests have too few observations, a search gives one warning of class `pcgpu_warning_too_few`; pcalg
#'   warns at each test.
#' - There is no warning that NaNs were produced. A test without a p-value is treated as in pcalg, see `NAdelete`. One
#'   warning of class `pcgpu_warning_no_answer` states how often that happened (except at level 0 of a compact result,
#'   and for R functions on a `cluster`).
#' - If `indepTest` is an R function, `x`, `y` and `S` are integers without names. In pcalg, `x` and `y` have names with
#'   `"stable"` and `"original"`, and all three are doubles with `"stable.fast"`.
#' - If an R function returns a p-value as text, it is read as a number (pcalg compares it as text, or stops with
#'   `"stable.fast"`). Other text is an error.
#' - An error in an R function is raised as a condition of class `pcgpu_error_test`, see below.
#'
#' Output:
#' - `verbose = TRUE` prints pcalg's lines. With a native test and more than 50 variables it prints only those of the
#'   levels; `verbose = 2` prints all of them. With `"stable.fast"` it leaves out the lines of pcalg's C++ code about
#'   its own steps ("Casting ...", "v: ...; neighbors: ..."). Native tests that are printed are run a second time, one
#'   after the other.
#' - With `fixedGaps`, the standard rule makes a v-structure of every chain over a pair that was not tested, as in
#'   pcalg. A message of class `pcgpu_message_untested` counts them. `maj.rule = TRUE` decides them by tests of the
#'   pair. Pairs that `forbidden` or `tiers` exclude are tested for this purpose, see [pc_control()].
#' - If tests contradict each other, `u2pd = "relaxed"` can return a graph that is not a valid CPDAG, as in pcalg.
#'   [run_details()] reports this as `valid_cpdag`, and [plot_cpdag()], `print()` and `summary()` say so. Only here:
#'   `u2pd = "valid"`, see *Valid graphs*.
#' - The slot `call` has an attribute `"pcgpu"`, for [run_details()], so `identical()` is `FALSE` for a whole object and
#'   pcalg's. Compare slots instead.
#' - `plot()` works without Rgraphviz, see [plot_cpdag()].
#' - Ctrl-C stops a search at once, even within a level.
#'
#' # Data without a test
#'
#' pcalg has no call like `pc(data, alpha = 0.01)` or `pc(suff_gauss(x), alpha = 0.01)`, without `indepTest`.
#' V-structures are then decided by the majority rule (`maj.rule = TRUE`), because its arrows are right more often than
#' those of pcalg's default:
#'
#' | | majority rule | pcalg's default |
#' |:--|:--|:--|
#' | 120 samples from random DAGs of 20 variables (100 to 2,000 observations, alpha 0.01): right among the arrows found | 75 % | 55 % |
#' | the same samples: true arrows found | 49 % | 42 % |
#' | the same samples: valid graphs | 59 | 18 |
#' | 39 samples from 13 networks of bnlearn's repository (500 to 10,000 observations): right arrows | 269 | 331 |
#' | the same samples: wrong arrows | 23 | 109 |
#'
#' `maj.rule = FALSE` selects pcalg's default. So does any call with `suffStat` and `indepTest`, unless it requests
#' another rule.
#'
#' The majority rule tests all subsets of a variable's neighbours, `2^d` for d neighbours. pcalg's rule is used instead
#' if that takes too many tests: more than `2^22` and more than a twentieth of those of the skeleton (Gaussian tests),
#' or more than `2^14` and more than the skeleton (other tests). `maj.rule = TRUE` enforces the majority rule. `print()`
#' and [run_details()] state which rule was used. A test without an answer has no vote. [stability()] does the same for
#' data without a test. [fci()] and its relatives, [cstar()] and [orient()] have pcalg's defaults.
#'
#' # Valid graphs
#'
#' With few observations, tests often contradict each other: no DAG has all the v-structures that they suggest. The
#' edges stand, but a graph with these arrows is not a CPDAG, and functions such as [causal_effects()] may refuse it.
#'
#' `u2pd = "valid"` returns the graph of `"relaxed"` if that is a CPDAG. Otherwise, it returns the CPDAG of a DAG on the
#' same skeleton that contradicts few decisions on unshielded triples. Such a triple is x - y - z with x and z not
#' adjacent, and is a v-structure or not. To find the DAG, it removes one vertex after the other. Each time it chooses
#' the vertex that contradicts the fewest decisions as a vertex without children (Dor and Tarsi 1992 stop at a
#' contradiction). Ties go to the first in the order of the variables; nothing is drawn at random.
#'
#' `"valid"` can be combined with `conservative` and `maj.rule`; their undecided triples become v-structures only if
#' nothing else is possible. It keeps background knowledge. [run_details()] states how many decisions were overruled. On
#' the 120 samples above, all graphs of `maj.rule = TRUE, u2pd = "valid"` are valid; 74 % of their arrows are right, and
#' 47 of 100 true arrows are found.
#'
#' # Tests of conditional independence
#'
#' [gaussCItest()], [disCItest()] and [binCItest()], pcalg's or this package's, and the other tests of this package run
#' natively: [kciCItest()] on all threads, the others on all threads or on a GPU. Any other `function(x, y, S, suffStat)`
#' that returns a p-value, including a modified copy of one of these, is called as pcalg calls it: once for each test, in
#' pcalg's order, on one thread. If it stops with an error, `pc()` stops, too. The condition has the class
#' `pcgpu_error_test`, the classes of the original, and the fields `x`, `y`, `S` and `parent` (the original condition).
#'
#' # Data
#'
#' All functions of this package that take data read them in the same way. Rows are independent observations and columns
#' are variables.
#' - **A column with a class of its own** is converted by its methods `as.numeric()` and `is.na()`. Examples are
#'   `difftime`, `I()`, the result of `scale()`, bit64's `integer64`, and periods of the package lubridate. Survey
#'   columns of the packages haven and labelled are examples, too, with the missing values that they declare. Dates and
#'   times become numbers of days, and times of day numbers of seconds, with a message of class `pcgpu_message_dates`.
#'   So does text, if all of it is dates such as `"2020-01-31"`. Other columns, such as lists, are an error.
#' - **Text and factors** are levels. A warning of class `pcgpu_warning_levels` names text that looks like numbers (with
#'   decimal commas, units, or words among them). It also names text with more levels than half of the rows. `pc(data)`
#'   leaves out text that differs in every row, with a message of class `pcgpu_message_identifier`.
#' - **Whole numbers** of at most 10 different values are numbers; a message of class `pcgpu_message_codes` names them,
#'   as they may be codes.
#' - **Levels that never occur** cost degrees of freedom in tests of levels, as in pcalg. The message about the data
#'   names these columns.
#' - **A symmetric matrix** (correlations, covariances, distances, an adjacency matrix) is refused. [gaussCItest()]
#'   takes correlations as `list(C = , n = )`.
#' - **Genes in rows**: if rows have names like genes, or columns have names like samples, a message of class
#'   `pcgpu_message_rows` asks whether the rows are the variables.
#' - **Linear combinations**: if `indepTest` is left out, a warning of class `pcgpu_warning_dependent` names columns
#'   that are linear combinations of others, such as totals, copies, and all dummies of one factor. This check needs at
#'   most 300 numeric columns, and more rows than columns.
#'
#' @param suffStat The sufficient statistic for `indepTest`. For [gaussCItest()], `list(C = , n = )`: a p x p
#'   correlation matrix and the number of observations, as [suff_gauss()] computes them from data. `NA` in `C` is
#'   allowed, see `NAdelete`. For many variables, `suff_gauss(keep = "data")` needs less memory. For discrete tests see
#'   [disCItest()] and [suff_discrete()].
#'
#'   Without `indepTest`, the data: a data frame, matrix or table, an `ExpressionSet`, `SummarizedExperiment` or
#'   `SingleCellExperiment` (samples in columns), or anything else that [suff_gauss()] reads. The columns then determine
#'   the test: [gaussCItest()] for numbers, [disCItest()] for factors, logicals and text, [mixCItest()] for both. Ordered
#'   factors, alone or with numbers and columns of two levels, have [gaussCItest()] with polychoric correlations. A
#'   message of class `pcgpu_message_data` names the test. For missing values see `na` in [pc_control()]. A list of multiply
#'   imputed data sets, or the result of `mice()`, is tested by [gaussMItest()] or its discrete and mixed counterparts.
#'   The section "Data" describes how columns are read. With `indepTest`, data are passed to the function that computes
#'   its statistic, such as [suff_gauss()], except a square matrix.
#' @param indepTest A function `(x, y, S, suffStat)` that returns the p-value of the test that variables
#'   number `x` and `y` are independent given those with numbers `S`; or the name of a test of this package, with or
#'   without its last letters: `"gaussCItest"`, `"rcot"`; `"knn"` is [cmiKnnCItest()]. [recommend_test()] says which
#'   suits the data. Without it, the results of [suff_gauss()] and [suff_discrete()] are tested by [gaussCItest()] and
#'   [disCItest()]. Those of [suff_knn()] are tested by [cmiKnnCItest()], or [mixedCItest()] if there are levels. Those
#'   of [suff_kernel()] are tested by [kciCItest()] for up to 500 rows and 50 variables, and [rcotCItest()] for more.
#' @param alpha Significance level of each test, between 0 and 1. An edge is removed if p >= alpha. Values outside
#'   (0, 1) give a warning, and an error if `suffStat` is data.
#' @param labels Names of the variables: a character vector of length p, in the order of the data, without empty or
#'   duplicated names and without `"|"`. If both `labels` and `p` are left out, the names in the data or `suffStat`, or
#'   the numbers of the variables.
#' @param p Number of variables, instead of `labels`, which are then `"1"`, ..., `"p"`.
#' @param fixedGaps `NULL` or a symmetric logical p x p matrix: pairs that are `TRUE` have no edge and are not tested.
#'   The standard rule makes v-structures over them, see *Differences from pcalg*.
#' @param fixedEdges `NULL` or a symmetric logical p x p matrix: pairs that are `TRUE` keep their edge and are not
#'   tested. A pair marked in both matrices is a gap, but an edge with `"stable.fast"`, as in pcalg.
#' @param NAdelete If a p-value is `NA`, is the edge deleted (`TRUE`) or kept (`FALSE`)?
#' @param m.max Largest size of a conditioning set; `Inf` for no limit.
#' @param u2pd How to turn the skeleton into a CPDAG if v-structures contradict each other:
#'   - `"relaxed"` (the default): later v-structures overwrite earlier ones, so that the result may not be a CPDAG;
#'   - `"rand"`: draw a DAG and return its CPDAG; `"retry"`: draw other v-structures until a DAG has all of them. Both
#'     use R's random numbers, so set a seed. If no DAG is found, their result may not be a CPDAG either;
#'   - `"valid"`, which pcalg does not have: always a CPDAG with all edges of the skeleton. See *Valid graphs*.
#' @param skel.method `"stable"` (the default) or `"stable.fast"`, which do not depend on the order of the variables, or
#'   `"original"`, which does. The first two give the same graph unless p-values are `NaN`. Their separating
#'   sets, `pMax` and counts are those of pcalg's methods of these names. They are equally fast here.
#' @param conservative,maj.rule Orient v-structures by the conservative rule or by the majority rule (Colombo and
#'   Maathuis 2014)? Both rules consider all separating sets among the neighbours. Not both, and only with `u2pd =
#'   "relaxed"` or `"valid"`. If data are given without `indepTest`, the default is the majority rule, see *Data without
#'   a test*.
#' @param solve.confl Mark contradictory orientations with bidirected edges, so that the answer does not depend on the
#'   order of the variables? Only with `u2pd = "relaxed"`.
#' @param numCores Number of threads; all cores by default (see below).
#' @param verbose Print levels, tests and orientations like pcalg? `FALSE`, `TRUE` or 2 (everything, for any number of
#'   variables; see below).
#' @param device Where to run the search. The answer does not change.
#'   - `"auto"` (the default): the first GPU if there is one (see [pcgpu_devices()]) and it is likely to be faster, else
#'     the CPU. A GPU is faster for many variables, for discrete data with many observations, and for large mixed data
#'     with at least 2,000 observations. It is also faster for all but small searches with a nearest-neighbour test. For
#'     large data all GPUs are used. Tests that are R functions always run on the CPU. Method `"original"` runs on a GPU
#'     only if you name one; its levels from 1 on then run on the CPU for the Gaussian test, which is faster. If there
#'     is a GPU that cannot be used, a message of class `pcgpu_message_fallback` gives the reason, once per session for
#'     each reason.
#'   - `"cpu"`: the CPU; a [cpu_device()] limits the memory for correlations.
#'   - `"cuda"`, `"cuda:1"`, ...: the first, second, ... NVIDIA GPU. Only the driver is needed, for CUDA 12.0 or newer.
#'     Errors are of class `pcgpu_error_device`; see [pcgpu-package].
#'   - `c("cuda:0", "cuda:1")`, `"cuda:all"`: several GPUs of this machine together. The first one runs the search alone
#'     while each level takes less than about half a second, because sharing shorter levels costs more time than it
#'     saves. After that, each free GPU takes the next rows of a level. Each GPU holds the data that fit in its memory;
#'     the host holds the results. Additional tests of `conservative` and `maj.rule` are shared, too. If a GPU fails,
#'     the others do its work, with a message of class `pcgpu_message_lost`. [run_details()] lists which GPU did what.
#'   - `c("cpu", "cuda:all")` and the like: the CPU also does a part of nearest-neighbour tests and of tests of mixed
#'     data. It takes no part in Gaussian and discrete tests, because one launch on a GPU does what takes the CPU
#'     seconds. A message of class `pcgpu_message_cpu_idle` says so.
#'   - a [cuda_device()], which also sets how the search runs.
#' @param progress Show a progress bar for each level, and for computing correlations if that takes more than a second?
#'   The package cli draws it if it is installed. `NULL` means `getOption("pcgpu.progress")` or, if that is not set,
#'   `TRUE` in interactive sessions outside knitr and testthat.
#' @param ... Must be empty: the arguments after it need their full names.
#' @param result,checkpoint,time_limit,cluster,parallel_tests,tiers,forbidden,required,context.all,context.tier,na,correlation,weights,adjust,id
#'   Arguments that pcalg does not have, see [pc_control()]. `NULL` means that an argument is not given.
#'   - `result`: the class of the result, pcalg's `pcAlgo` or [pcCompact][pcCompact-class], whose size does not depend
#'     on the number of pairs;
#'   - `checkpoint`: a file from which the same call resumes after a crash or Ctrl-C; `time_limit`: seconds after which
#'     the search returns what it has;
#'   - `cluster`: other R processes, here or on other machines, that run the tests; `parallel_tests`: run R functions on
#'     `numCores` processes;
#'   - `tiers`, `forbidden`, `required`, `context.all`, `context.tier`: background knowledge about the graph;
#'   - `na`: how to treat missing values if `suffStat` is data;
#'   - `correlation`, `weights`, `adjust`, `id`: how [suff_gauss()] computes correlations of data.
#' @param control The result of [pc_control()], which collects these arguments for several calls.
#' @return With `result = "compact"`, or for more than 20,000 variables, an object of class
#'   [pcCompact][pcCompact-class]. Otherwise an object of pcalg's S4 class `pcAlgo` (if pcalg is not installed, of a
#'   class with the same name and slots), with slots
#'   - `graph`: a [graph::graphNEL-class] of p nodes. An edge i -> j alone is directed, edges in both directions are
#'     undirected, and both with weight 2 are a conflict (`solve.confl = TRUE` only).
#'   - `sepset`: a list of p lists of p; `sepset[[i]][[j]]` is the integer vector of the variables that separate
#'     i and j, stored on the same side as in pcalg, or `NULL`.
#'   - `pMax`: a p x p matrix of the largest p-value of the tests of each pair; `-Inf` (`-1` with `"stable.fast"`) if
#'     there were no tests.
#'   - `n.edgetests`: number of tests at each level, starting at level 0.
#'   - `max.ord`: the last level, that is, the size of its conditioning sets.
#'   - `call`: the call. The slots `n` and `zMin` are empty, as in pcalg.
#'
#'   From 500 variables on, `pMax` and `sepset` of `gaussCItest()` compute their cells when they are asked for; before
#'   R 4.3 only `pMax` does, from 4,000 variables on: see [as_pcalg()]. For more than 100,000 edges the graph stores only weights other than the
#'   default, 1. For both classes:
#'   - [edge_table()] returns a table of the edges;
#'   - [sepset()] and [p_value()] return the results for a pair;
#'   - `as(fit, "amat")` returns the adjacency matrix in pcalg's coding;
#'   - [run_details()] shows where it was computed;
#'   - [as_igraph()] converts it and [plot_cpdag()] draws it.
#'
#'   Errors and warnings are classed conditions, listed in [pcgpu-package].
#' @references
#' D. Colombo and M. H. Maathuis (2014). Order-independent constraint-based causal structure learning. *Journal of
#' Machine Learning Research* 15, 3921-3962.
#'
#' D. Dor and M. Tarsi (1992). A simple algorithm to construct a consistent extension of a partially oriented graph.
#' Technical report R-185, Cognitive Systems Laboratory, UCLA.
#'
#' M. Kalisch, M. Maechler, D. Colombo, M. H. Maathuis and P. Buehlmann (2012). Causal inference using graphical models
#' with the R package pcalg. *Journal of Statistical Software* 47(11), 1-26.
#'
#' P. Spirtes, C. Glymour and R. Scheines (2000). *Causation, Prediction, and Search*, 2nd edition. MIT Press.
#' @seealso [pc_control()] for checkpoints, clusters and background knowledge; [skeleton()] for the first half of the
#'   algorithm; [orient()] for the second.
#' @examples
#' # A chain and a v-structure: rain -> river <- melt, river -> flood
#' set.seed(42)
#' rain <- rnorm(1000)
#' melt <- rnorm(1000)
#' river <- rain + melt + rnorm(1000)
#' flood <- river + rnorm(1000)
#' x <- cbind(rain, melt, river, flood)
#'
#' fit <- pc(
#'   suffStat = list(C = cor(x), n = nrow(x)), indepTest = gaussCItest,
#'   alpha = 0.01, labels = colnames(x), numCores = 2
#' )
#' fit
#' as(fit@graph, "matrix") # [i, j] = 1: an edge from i to j
#' fit@sepset[[1]][[2]]    # rain and melt are independent given nothing: integer(0)
#' plot(fit)
#'
#' # With knowledge: it rains before the river rises, and the flood comes last
#' pc(
#'   suffStat = list(C = cor(x), n = nrow(x)), indepTest = gaussCItest,
#'   alpha = 0.01, labels = colnames(x), numCores = 2,
#'   tiers = list(c("rain", "melt"), "river", "flood"),
#'   forbidden = data.frame(from = "rain", to = "flood")
#' )
#' @export
pc <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  u2pd = c("relaxed", "rand", "retry", "valid"),
  skel.method = c("stable", "original", "stable.fast"),
  conservative = FALSE,
  maj.rule = FALSE,
  solve.confl = FALSE,
  numCores,
  verbose = FALSE,
  device = "auto",
  progress = NULL,
  ...,
  result = NULL,
  checkpoint = NULL,
  time_limit = NULL,
  cluster = NULL,
  parallel_tests = NULL,
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
  control = pc_control()
) {
  if (!is.null(taught <- taught_call())) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  control <- gather_control(control, list(...), "pc")
  given <- arguments_given()
  if (!"indepTest" %in% names(given)) {
    rule <- rule_of_data(names(call), given$u2pd)
    given[names(rule)] <- rule
  }
  given <- search_arguments(given, control, tell = TRUE)
  asked <- pc_options(given, control)
  request <- search_request(given, asked$options, control, call, later = TRUE)
  run_search(
    request,
    with_bound(asked$orient, request$test),
    wants_compact(control$result, length(request$labels), parent.frame())
  )
}

# Checks the arguments of pc() that say what is searched for, and `control`: list(options, orient), as Rust expects
# them.
pc_options <- function(given, control) {
  orient <- check_orientation(given$u2pd, given$conservative, given$maj.rule, given$solve.confl)
  options <- search_options(given, control, u2pd = orient$u2pd)
  orient["knowledge"] <- options["knowledge"]
  list(options = options, orient = orient)
}

# Chooses the rule that decides v-structures if data are given without a test, pc(data, alpha = ), a call that pcalg
# does not have.
#
# It is the majority rule: ?pc has the figures, `Rscript bench/recovered.R rules` makes them. Adding u2pd = "valid"
# would make all of these graphs valid. It would find 4 % fewer of the true arrows, and the same share of its arrows
# would be right. That is left to the user. The majority rule tests all subsets of a variable's neighbours, 2^degree
# tests. If these are too many, pcalg's rule decides.

# Returns a further argument for such a call, or none if the call chooses a rule, or a `u2pd` that requires pcalg's
# rule. `given`: the names of its arguments.
rule_of_data <- function(given, u2pd) {
  chooses <- any(c("conservative", "maj.rule") %in% given) ||
    !pmatch(u2pd[1L], c("relaxed", "rand", "retry", "valid"), 0L) %in% c(1L, 4L)
  if (chooses) list() else list(maj.rule = structure(TRUE, if_few = TRUE))
}

# Adds to `orient` the bound on the number of tests, if the user did not choose the rule: a number of tests, and a
# divisor of the skeleton's number of tests. A single Gaussian test takes about 50 times as long as one in a search,
# where neighbouring tests share their work. Other tests take as long as in a search.
with_bound <- function(orient, test) {
  if (isTRUE(orient$if_few)) {
    orient$bound <- if (test$kind == "gauss") c(2^22, 20) else c(2^14, 1)
  }
  orient
}

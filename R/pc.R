#' PC algorithm: estimate the CPDAG of a causal graph
#'
#' Estimates the equivalence class (CPDAG) of a directed acyclic graph from observational data, by the order-independent
#' PC algorithm (PC-stable). It takes the arguments of `pcalg::pc()` and gives its answer, hundreds of times sooner:
#' put `pcgpu::pc` where a script has `pcalg::pc`.
#'
#' # The same as in pcalg
#'
#' The graph, the separating sets and the sides on which they are stored, `n.edgetests`, `max.ord` and, to a relative
#' `1e-9`, `pMax` are those of pcalg 2.7-12 with the same `skel.method`. They do not depend on `numCores`. Where a
#' correlation matrix is close to singular, p-values are known to fewer digits, in pcalg too; and where it is singular
#' and not positive semi-definite (rounded, or from pairwise complete observations), a test may rest on rounding alone,
#' which is not the same in two programs. `u2pd = "rand"` and `"retry"` draw the random numbers that pcalg draws, and a search
#' without them draws none. Messages that pcalg raises for a wrong argument are kept word for word, in front of ours.
#'
#' # Differences from pcalg
#'
#' Arguments:
#' - `device`, `progress`, `result`, `checkpoint` and `time_limit` are ours. They come after pcalg's arguments.
#' - Of more than 20,000 variables the result is of another class, [pcCompact][pcCompact-class], unless `result = "pcAlgo"`.
#' - `numCores` left out means all cores (one in a forked process); in pcalg it means one. It works with every `skel.method`, without
#'   pcalg's warning. `options(pcgpu.threads = )` and the environment variable `PCGPU_NUM_THREADS` set another default.
#' - These are errors here, before any work, where pcalg computes something from them: a `suffStat$C` that is a covariance matrix,
#'   not symmetric, not square, with entries below -1 or above 1, or not of size p; `suffStat$n` below 1; labels that are the
#'   names of the data in another order; `alpha` as text; `p` that is not a whole number; codes of levels that are not
#'   below `nlev`.
#' - Other mistakes stop both programs, here with a condition of class `pcgpu_error_argument` that names the argument, its value and the
#'   mend.
#' - Labels that differ from the names of the data in another way than by order are taken by position, as in pcalg, with a warning of class
#'   `pcgpu_warning_names`. `alpha` outside (0, 1) is taken as in pcalg, with a warning of class `pcgpu_warning_alpha`.
#' - Left out here alone: `labels` and `p` where `suffStat` has a matrix with a column for each variable, and `indepTest` where `suffStat` is data.
#' - Accepted here alone: `fixedGaps` and `fixedEdges` whose row names are not their column names, such as with names on one
#'   side; `suffStat` of a discrete test without `adaptDF` (it is then `FALSE`), or with `na = "pairwise"`; what
#'   `suff_gauss(keep = "data")` gives (to pcalg's functions it is a list of C and n, see [suff_gauss()]).
#'
#' Tests:
#' - With five or more conditioning variables pcalg's `disCItest()` conditions on x in place of them. Ours does not, so that results
#'   differ there, whichever of the two functions is given: see [disCItest()].
#' - Discrete tests with too few observations: one warning of class `pcgpu_warning_too_few` for a search, where pcalg warns at each test.
#' - There is no warning that NaNs were produced. A test without a p-value counts as in pcalg, see `NAdelete`.
#' - With `indepTest` an R function: `x`, `y` and `S` are integers without names (in pcalg `x` and `y` are named with `"stable"` and
#'   `"original"`, and all three are doubles with `"stable.fast"`). A p-value as text is read as a number (pcalg compares it as
#'   text, or stops with `"stable.fast"`); text that is no number is an error. An error of the test arrives as a condition of class
#'   `pcgpu_error_test`, see below.
#'
#' Output:
#' - `verbose = TRUE` prints pcalg's lines. With a native test and more than 50 variables it prints those of the levels
#'   alone; `verbose = 2` prints all of them. With `"stable.fast"` it leaves out what pcalg's C++ code says of its own steps
#'   ("Casting ...", "v: ...; neighbors: ..."). Native tests that are printed are run a second time, one after the other.
#' - Where tests contradict each other, `u2pd = "relaxed"` can give a graph that is no valid CPDAG, here as in pcalg. [run_details()] reports it
#'   as `valid_cpdag`, [plot_cpdag()] writes it below the graph, and `print()` and `summary()` add a line that says so.
#' - The slot `call` has an attribute, `"pcgpu"`, for [run_details()], so that `identical()` of a whole object with pcalg's is `FALSE`.
#'   Compare slots.
#' - `plot()` works without Rgraphviz, see [plot_cpdag()].
#' - Ctrl-C stops a search at once, also in the middle of a level.
#'
#' # Tests of conditional independence
#'
#' [gaussCItest()], [disCItest()] and [binCItest()], pcalg's or this package's, and [chi2CItest()], [cmiKnnCItest()] and [mixedCItest()] run
#' natively: on all threads, or on a GPU. Any other `function(x, y, S, suffStat)` that returns a p-value, a changed copy of one of these too, is
#' called as pcalg calls it, once a test and in pcalg's order, on one thread. When it stops with an error, so does
#' `pc()`, with a condition of class `pcgpu_error_test` that has the fields `x`, `y`, `S` and `parent` (the original condition) and
#' inherits from the original's own classes.
#'
#' # Long searches
#'
#' With `checkpoint = "file"` the search writes what it knows to that file after each level, and every two minutes within one. The file is replaced as a
#' whole, so that whatever happens one is there: a process that is killed loses what it did since. The same call, on any device, with any
#' number of threads and with any `m.max` that allows the levels that have begun, goes on from it, with a message of class
#' `pcgpu_message_resumed`, and gives the answer of a search that ran in one go, to the last bit on the same device. A file of other data or arguments, of
#' another version of this package, or a damaged one is refused by an error of class `pcgpu_error_checkpoint` that says what differs. When the call has its answer
#' the file is removed. Give each search a file of its own: of two that run at once with the same one, each puts its own, whole, in the place of the other's.
#' A process that is killed while it writes leaves a file beside it, with `.part` at the end of its name, which is removed with the checkpoint if it is ten minutes old.
#'
#' Within a level, what is kept are the columns of level 0 that are done, and of further levels the pairs, or parts of their tests; of `"original"`, and of tests that
#' are R functions, the visits that are done. A GPU that takes a Gaussian or a discrete search as a whole hands over after each level, and
#' not within one; with a nearest-neighbour test it is given some rows of a level at a time (about 20 seconds of work), and hands over these. A level that is gone on with in
#' another way (a test that is an R function by workers, and before without, or the other way round; on a GPU that takes whole levels) begins again. An R function
#' is known by its code and `suffStat`, not by what its environment holds; a test that draws random numbers goes on with those of the
#' new session. A `pcAlgo` is kept with a p-value for each pair of variables (1.6 GB of 20,000), a compact result without those of level 0. With `verbose` and a native test, levels
#' alone are printed.
#'
#' With `time_limit` the result is that of the last level that was done, never of half of one: graph, separating sets, p-values
#' and counts are those with `m.max` at that level, and `pc()` orients that graph. A warning of class `pcgpu_warning_time_limit` says so, and so do
#' `print()`, `summary()`, `plot()` and [run_details()]. The search ends some tenths of a second later than asked for, where a test of one pair is slow after that test;
#' the orientation comes on top. Where not even level 0 is done by then, the call ends with an error of class `pcgpu_error_time_limit`. With `checkpoint` the
#' same call goes on, also within the level that was not done, as often as it is made.
#'
#' # On a cluster
#'
#' `cluster` takes
#' - a cluster object of the package parallel or snow: sockets (`parallel::makeCluster()`, also over ssh), forks (`makeForkCluster()`), MPI
#'   (`snow::makeMPIcluster()`, with Rmpi); it can be used for other things before and after;
#' - a `BiocParallelParam`: of a `SnowParam` or a `MulticoreParam` workers are started for the call and end with it; of a `BatchtoolsParam` they are jobs of
#'   its batch system (Slurm, SGE, LSF, Torque, OpenLava), with its template and resources;
#' - `"future"`: the current `future::plan()`, such as `multisession` or `future.batchtools::batchtools_slurm`; `options(pcgpu.cluster_workers = )` says how many
#'   workers where the plan has no number;
#' - a number: so many processes on this machine, for the call.
#'
#' Every worker needs the same version of pcgpu, or is refused by name. The data are sent to a worker once, then what levels change of the graph. Each
#' worker runs on its own machine's `device`; workers on one host share out its cores (`numCores`, where given, is of each worker) and take its GPUs in turn.
#' Pieces of a level are handed out as workers finish. Where a worker dies, its piece goes to others, with a message of class `pcgpu_message_lost`; one that
#' hangs is overtaken, and the call ends with an error of class `pcgpu_error_cluster` when none is left. `run_details(fit)$team` says who did what. One that is dead
#' or silent in the beginning is left out, with the same message.
#'
#' After Ctrl-C, workers that were started for the call end at once. Those of a cluster object finish what they have in hand, some tenths of a second unless single tests take longer;
#' the call waits for that, a minute at most, or until Ctrl-C is pressed again. A worker that is still at work then, or some seconds after a call that
#' did without it, would give its late answers to whoever uses the cluster next: its connection is closed, so that this is an error instead, and a message of class
#' `pcgpu_message_cluster` names it (MPI has no connection to close: leave such a cluster alone until it is done).
#'
#' Workers that are jobs (`BatchtoolsParam`, `"future"`) are started once a search and talk through files, with no port open, in a folder that is made in
#' `options(pcgpu.cluster_folder = )`, by default the working folder, and removed at the end. Driver and jobs must see it under the same path, and be allowed to
#' make, rename and remove files there (on NFS, attribute caches delay what one sees of the other). They wait for each other `options(pcgpu.cluster_wait = )` seconds, 600 by default; a search begins with those jobs that have
#' begun by then.
#'
#' An `indepTest` that is an R function runs on workers, too, each test once and wherever: it must be a pure function. With it go `suffStat`, the packages that are
#' attached here, and the objects of the workspace that it names. `parallel_tests = TRUE` does the same on `numCores` workers of this machine: forked where that
#' is possible, so that nothing is copied. Where such a test draws random numbers, each test has a stream of its own (L'Ecuyer's MRG32k3a), which depends on x, y, S and a
#' seed that is drawn from the session's, which go on only where a test drew: after `set.seed()` the answer is the same on any number of workers, though not that of one process without workers. Such tests are refused with
#' method `"original"`, where what is asked depends on the last answer, and with `verbose`. Warnings and messages of the test come at the end of the call, each that is
#' different once (50 at most), with how often it was given. In the end workers have the random numbers, objects and attached packages that they had.
#'
#' Where all workers hang, nobody is left to overtake them: a worker that has work and is silent for `options(pcgpu.cluster_silence = )` seconds counts as lost, 3600 by default. Give more where a single test takes longer.
#'
#' Sockets between the session and its workers are set to send small messages at once (`TCP_NODELAY`), those of a cluster of your own, too: some would otherwise take 40 ms. Windows has no such setting
#' for connections that are open: there, make the cluster after `options(socketOptions = "no-delay")`.
#'
#' # Background knowledge
#'
#' With any of `tiers`, `forbidden`, `required`, `context.all` and `context.tier` the result is the maximally oriented graph (MPDAG) that has what is known: it is used
#' in the search, for v-structures, and by the orientation rules 1 to 4 of Meek (1995). The rules are those of `tpc()` of the package tpc (Witte et al. 2022), whose graphs
#' `pc(solve.confl = TRUE)` gives with `maj.rule = TRUE` or `conservative = TRUE`.
#' - `tiers`: no arrow goes from a later tier to an earlier one, and sets for a pair that is seen from x have no member of a tier later than x's: what comes later
#'   separates nothing. A pair is seen from both of its ends, each with its own tier. In v-structures a -> b <- c the tier of b is the later one of those of a and c. Not with `"stable.fast"`. On a GPU Gaussian and
#'   discrete tests are then asked in batches, so that `device = "auto"` takes the CPU for them.
#' - `forbidden`: an arrow in both directions is a gap, and is not tested. One direction does not count in the search, and no v-structure has it. Where `tiers` or the context exclude the reverse,
#'   the pair is a gap, too (`tpc()` tests it, and deletes the edge in the end).
#' - `required`: the edge is there, is not tested, and has this direction.
#' - `context.all`: these have an arrow to every variable but each other, and are in the first tier; `context.tier`: to those of their own tier, and nothing to do with others. Their
#'   edges are not tested; they are in separating sets as any other variable.
#'
#' What contradicts itself is refused by name: a cycle of required arrows, one that is required and forbidden, or goes to an earlier tier. Where the data speak against what is known, that is where separating sets suggest
#' a v-structure that it excludes, knowledge wins and a message of class `pcgpu_message_knowledge` says where (with `maj.rule` and `conservative` such triples are not tested). `run_details(fit)$valid_cpdag` then says
#' whether the graph can be extended to a DAG without a cycle and without a further v-structure.
#'
#' @param suffStat The sufficient statistic for `indepTest`, or, without `indepTest`, data: a data frame, a matrix, a table, an `ExpressionSet`, a `SummarizedExperiment` or a
#'   `SingleCellExperiment` (samples in columns there), or what else [suff_gauss()] reads. All numbers are then tested by [gaussCItest()], all factors, logicals and characters by [disCItest()], both by
#'   [mixCItest()], as a message of class `pcgpu_message_data` says. For missing values see `na`; a list of data sets that were completed several times, or what `mice()` returns, is tested by [gaussMItest()] and its like. For [gaussCItest()] `list(C = , n = )`, a p x p
#'   correlation matrix and the number of observations, as [suff_gauss()] makes it from data. `NA` in `C` is allowed;
#'   see `NAdelete`. Of many variables, what `suff_gauss(keep = "data")` gives takes less memory. For the tests of discrete variables see [disCItest()] and [suff_discrete()].
#' @param indepTest A function `(x, y, S, suffStat)` that returns the p-value of the test whether the variables with
#'   numbers `x` and `y` are independent given those with numbers `S`.
#' @param alpha Significance level of each test, between 0 and 1. An edge falls when p >= alpha. Numbers outside (0, 1) get a warning.
#' @param labels Names of the variables; left out, with `p`, those of the data or of `suffStat`, or their numbers. A character vector of length p, in the order of the data: not empty, all different, without `"|"`.
#' @param p Number of variables; may take the place of `labels`, which are then `"1"`, ..., `"p"`.
#' @param fixedGaps `NULL` or a symmetric logical p x p matrix: where it is `TRUE` there is no edge, and no test.
#' @param fixedEdges `NULL` or a symmetric logical p x p matrix: where it is `TRUE` the edge stays, and is not tested. A
#'   pair marked in both matrices is a gap, but an edge with `"stable.fast"`, as in pcalg.
#' @param NAdelete If a p-value is `NA`, is the edge deleted (`TRUE`) or kept?
#' @param m.max Largest size of a conditioning set; `Inf` for no limit.
#' @param u2pd How the skeleton is turned into a CPDAG when v-structures contradict each other: `"relaxed"` (the
#'   default; the result need not be a CPDAG), `"rand"` (a DAG that is drawn, and its CPDAG) or `"retry"` (other v-structures are
#'   drawn until a DAG has them all). Both draw R's random numbers: set a seed. Where no DAG is found, what they return need not be a
#'   CPDAG either; [run_details()] says whether it is.
#' @param skel.method `"stable"` (the default) or `"stable.fast"`, both independent of the order of the variables, or
#'   `"original"`, which depends on it. The first two give the same graph but where p-values are `NaN`, and separating
#'   sets, `pMax` and counts as pcalg's methods of these names give them. Both are equally fast here.
#' @param conservative,maj.rule Orient v-structures by the conservative rule or by the majority rule (Colombo and
#'   Maathuis 2014): all separating sets among the neighbours are looked at. Not both, and only with
#'   `u2pd = "relaxed"`.
#' @param solve.confl Mark contradictory orientations by bidirected edges, so that the answer does not depend on the
#'   order of the variables? Only with `u2pd = "relaxed"`.
#' @param numCores Number of threads; left out, all cores (see below).
#' @param verbose Print levels, tests and orientations as pcalg does? `FALSE`, `TRUE` or 2 (all of them whatever the number of variables, see
#'   below).
#' @param device Where to run; the answer is the same.
#'   - `"auto"` (the default): on the first GPU where there is one (see [pcgpu_devices()]) and it pays, else on the CPU. It pays
#'     for many variables, for discrete data with many observations of them, for numbers and levels together from 2,000 of them on,
#'     and for all but small searches with a nearest-neighbour test. Tests that are R functions always run on the CPU; the
#'     method `"original"` runs on a GPU only if that is named (its tests are asked in batches; the CPU is quicker with the Gaussian test).
#'     When a GPU is there and cannot be used, a message of class `pcgpu_message_fallback` says why, once a session for
#'     each reason.
#'   - `"cpu"`: on the CPU; a [cpu_device()] bounds the memory for correlations there.
#'   - `c("cuda:0", "cuda:1")`, `"cuda:all"`: on several GPUs of this machine together. The rows of a level are shared out, dearest first, to
#'     whichever is free, so that GPUs of unequal speed end together; each holds the data and what was found, and if one fails, the others do its
#'     work and a message of class `pcgpu_message_lost` says so. It pays for searches of some tenths of a second and more on one. With `"cpu"`
#'     among them, as in `c("cpu", "cuda:all")`, the CPU takes its share of nearest-neighbour tests and of those of numbers and levels; of other tests a GPU does in a moment what the CPU
#'     takes seconds for, and the CPU does what it does in any case. `run_details()` says who did what. `"auto"` takes all GPUs for large data. The method `"original"`, and the questions
#'     of `conservative` and `maj.rule`, run on the first of them alone, but for those same tests, which all share; where it fails, the next answers such questions,
#'     and a search by `"original"` ends with the error;
#'   - `"cuda"`, `"cuda:1"`, ...: on the first, second, ... NVIDIA GPU. Errors are of class `pcgpu_error_device`; see
#'     [pcgpu-package]. Only the driver is needed, of CUDA 12.0 or newer.
#'   - a [cuda_device()], which also chooses how.
#' @param progress Show a progress bar for each level, and for correlations that are made of data in more than a second (by the package cli when it is installed)? `NULL` means
#'   `getOption("pcgpu.progress")` and, where that is not set, yes in interactive sessions outside knitr and testthat.
#' @param result The class of the result, see below: `"pcAlgo"`, pcalg's, with 16 bytes for each cell of a p x p matrix; `"compact"`,
#'   [pcCompact][pcCompact-class], which holds what was found; `"auto"` (the default), `"pcAlgo"` up to 20,000 variables and
#'   `"compact"` beyond, on any machine. Where memory does not suffice for a `pcAlgo`, the error, of class `pcgpu_error_memory`,
#'   says so.
#' @param checkpoint `NULL`, or the name of a file in which the search is kept, so that the same call goes on from it after a crash, a reboot or
#'   Ctrl-C, see below; or `list(file = , every = )`, where `every` is the number of seconds between two files in the middle of a level (120).
#' @param time_limit Seconds after which the search ends with what it knows, see below; `Inf` for no limit. [plan_search()] tells before how long it will take.
#' @param cluster `NULL`, or workers of other processes, here or on other machines, which make the tests; the answer is the same, see *On a cluster*.
#' @param tiers `NULL`, or which variables come before which: a number for each (a vector with the variables' names, or in their order; an ordered
#'   factor), or a list of their names, the first tier first. See *Background knowledge*.
#' @param forbidden,required `NULL`, or arrows that cannot be there, or are: a table of two columns, from and to, of names or numbers of
#'   variables (a data frame, or a matrix), one pair of these or a list of pairs, or a logical p x p matrix that is `TRUE` at `[from, to]`.
#' @param context.all,context.tier `NULL`, or names or numbers of variables that are known to cause all others, or the others of their own tier
#'   alone, and that nothing causes, such as a treatment that was drawn by lot.
#' @param na Without `indepTest`, of data with missing values: `"error"`, or `"testwise"`, by which each test takes the rows that have all its variables ([gaussCItwd()],
#'   [disCItwd()], [mixCItwd()]; see there for what that assumes).
#' @param parallel_tests With an `indepTest` that is an R function: run it on `numCores` workers of this machine? Say `TRUE` where it is a pure function, see
#'   *On a cluster*.
#' @return With `result = "compact"`, and of more than 20,000 variables, an object of class [pcCompact][pcCompact-class]. Else an object of pcalg's S4 class `pcAlgo` (of a class with that name and those slots when pcalg is not
#'   installed), with slots
#'   - `graph`: a [graph::graphNEL-class] of p nodes. An edge i -> j alone is directed, edges in both directions are
#'     undirected, and both with weight 2 are a conflict (`solve.confl = TRUE` only).
#'   - `sepset`: a list of p lists of p; `sepset[[i]][[j]]` is the integer vector of the variables that made the edge
#'     between i and j fall, stored on the side on which pcalg stores it, or `NULL`.
#'   - `pMax`: a p x p matrix, the largest p-value of the tests of each pair; `-Inf` (`-1` with `"stable.fast"`) where
#'     there was none.
#'   - `n.edgetests`: number of tests at each level, from level 0 on.
#'   - `max.ord`: the last level, the size of its conditioning sets.
#'   - `call`: the call. The slots `n` and `zMin` are empty, as in pcalg.
#'
#'   Of more than 100,000 edges the graph lists only weights that are not 1, the default. Of either class, [edges()][edges] is a table of
#'   the edges, [sepset()] and [p_value()] tell of a pair,
#'   `as(fit, "amat")` is its adjacency matrix in pcalg's coding, [run_details()] tells where it was computed,
#'   [as_igraph()] converts it, [plot_cpdag()] draws it.
#' @references
#' D. Colombo and M. H. Maathuis (2014). Order-independent constraint-based causal structure learning. *Journal of
#' Machine Learning Research* 15, 3921-3962.
#'
#' M. Kalisch, M. Maechler, D. Colombo, M. H. Maathuis and P. Buehlmann (2012). Causal inference using graphical models
#' with the R package pcalg. *Journal of Statistical Software* 47(11), 1-26.
#'
#' P. Spirtes, C. Glymour and R. Scheines (2000). *Causation, Prediction, and Search*, 2nd edition. MIT Press.
#' C. Meek (1995). Causal inference and causal explanation with background knowledge. *Proceedings of the Eleventh Conference on Uncertainty in Artificial
#' Intelligence*, 403-410.
#'
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with incomplete cohort data. *Statistics in
#' Medicine* 41(23), 4716-4743 (tiers).
#' @seealso [skeleton()] for the first half of the algorithm, [orient()] for the second.
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
#'   suffStat = list(C = cor(x), n = nrow(x)), indepTest = gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2,
#'   tiers = list(c("rain", "melt"), "river", "flood"), forbidden = data.frame(from = "rain", to = "flood")
#' )
#' @export
pc <- function(suffStat, indepTest, alpha, labels, p,
               fixedGaps = NULL, fixedEdges = NULL, NAdelete = TRUE, m.max = Inf,
               u2pd = c("relaxed", "rand", "retry"),
               skel.method = c("stable", "original", "stable.fast"),
               conservative = FALSE, maj.rule = FALSE, solve.confl = FALSE,
               numCores, verbose = FALSE, device = "auto", progress = NULL,
               result = c("auto", "pcAlgo", "compact"), checkpoint = NULL, time_limit = Inf,
               cluster = NULL, parallel_tests = FALSE,
               tiers = NULL, forbidden = NULL, required = NULL, context.all = NULL, context.tier = NULL,
               na = c("error", "testwise")) {
  call <- match.call()
  fill_in_from_data(environment(), missing(suffStat), missing(indepTest), missing(labels) && missing(p))
  labels <- check_labels(labels, p, !missing(labels), !missing(p), tell = TRUE)
  check_search_given(missing(suffStat), missing(indepTest), missing(alpha))
  asked <- check_pc(environment(), labels)
  options <- asked$options
  orient <- asked$orient
  method <- options$method
  options$limits <- check_limits(checkpoint, time_limit)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  verbose <- check_verbose(verbose)
  if (is.null(cluster)) device <- check_device(device)
  compact <- wants_compact(result, length(labels), parent.frame())
  test <- ci_test(indepTest, suffStat, labels, options$alpha, threads)
  test <- with_code(test, options$limits, indepTest, suffStat)
  workers <- choose_workers(cluster, parallel_tests, test, method, threads, verbose)
  run_search(test, labels, options, orient, threads, device, verbose, progress, call, compact, workers)
}

# The arguments of pc(), in its frame or one like it, as Rust wants them: list(options, orient).
check_pc <- function(frame, labels) {
  orient <- check_orientation(frame$u2pd, frame$conservative, frame$maj.rule, frame$solve.confl)
  method <- check_choice(frame$skel.method, c("stable", "original", "stable.fast"), "skel.method")
  options <- check_search(
    method, frame$alpha, frame$fixedGaps, frame$fixedEdges, frame$NAdelete, frame$m.max, labels, frame$suffStat
  )
  knowledge <- check_knowledge(
    frame$tiers, frame$forbidden, frame$required, frame$context.all, frame$context.tier, labels, options$fixed_gaps, method, orient$u2pd
  )
  options["knowledge"] <- orient["knowledge"] <- list(knowledge)
  list(options = options, orient = orient)
}

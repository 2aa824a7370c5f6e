#' Control a search: class of the result, checkpoints, workers, background knowledge
#'
#' The arguments of [pc()], [skeleton()] and [orient()] that pcalg does not have, but for `device` and `progress`. Give them by name in the call itself,
#' `pc(stat, gaussCItest, alpha = 0.01, time_limit = 60)`, or keep them together for several calls, `pc(stat, gaussCItest, alpha = 0.01, control = pc_control(time_limit = 60))`.
#'
#' Both ways can be used in one call, each for other arguments: one that is given twice is an error. Names are written in full. `orient()` uses `cluster`,
#' `parallel_tests` and what is known (`tiers`, `forbidden`, `required`, `context.all`, `context.tier`), and goes by the other arguments of a `control` that was made for the search as if they had not been given;
#' [stability()] and [cstar()] use `cluster`, `na` (`stability()` alone) and what is known, and refuse the others; [plan_search()] takes all.
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
#' Workers that are started for a call send small messages at once. For a cluster of sockets of your own say so when you make it, or some messages take 40 ms:
#' `parallel::makePSOCKcluster(4, rscript_args = c("-e", shQuote("options(socketOptions = 'no-delay')")))`, after `options(socketOptions = "no-delay")` here.
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
#' @param ... Nothing: it makes R match names in full. What is here is an error that names the argument that was probably meant.
#' @param result The class of the result, see below: `"pcAlgo"`, pcalg's, with 16 bytes for each cell of a p x p matrix; `"compact"`,
#'   [pcCompact][pcCompact-class], which holds what was found; `"auto"` (the default), `"pcAlgo"` up to 20,000 variables and
#'   `"compact"` beyond, on any machine. Where memory does not suffice for a `pcAlgo`, the error, of class `pcgpu_error_memory`,
#'   says so.
#' @param checkpoint `NULL`, or the name of a file in which the search is kept, so that the same call goes on from it after a crash, a reboot or
#'   Ctrl-C, see below; or `list(file = , every = )`, where `every` is the number of seconds between two files in the middle of a level (120).
#' @param time_limit Seconds after which the search ends with what it knows, see below; `Inf` for no limit. [plan_search()] tells before how long it will take.
#' @param cluster `NULL`, or workers of other processes, here or on other machines, which make the tests; the answer is the same, see *On a cluster*.
#' @param parallel_tests With an `indepTest` that is an R function: run it on `numCores` workers of this machine? Say `TRUE` where it is a pure function, see
#'   *On a cluster*.
#' @param tiers `NULL`, or which variables come before which: a number for each (a vector with the variables' names, or in their order; an ordered
#'   factor), or a list of their names, the first tier first. See *Background knowledge*.
#' @param forbidden,required `NULL`, or arrows that cannot be there, or are: a table of two columns, from and to, of names or numbers of
#'   variables (a data frame, or a matrix), or a logical p x p matrix that is `TRUE` at `[from, to]`.
#' @param context.all,context.tier `NULL`, or names or numbers of variables that are known to cause all others, or the others of their own tier
#'   alone, and that nothing causes, such as a treatment that was drawn by lot.
#' @param na Without `indepTest`, of data with missing values: `"error"`, or `"testwise"`, by which each test takes the rows that have all its variables ([gaussCItwd()],
#'   [disCItwd()], [mixCItwd()]; see there for what that assumes).
#' @return A list of class `pcgpu_control` with an element for each argument; it prints as a list of those that were given. Where an argument is wrong, an error of class
#'   `pcgpu_error_argument`; what depends on the variables (`tiers` and so on) is checked by the search. In place of such a list, `control` of [pc()] also takes a plain one, such as
#'   `list(time_limit = 60)`.
#' @references
#' C. Meek (1995). Causal inference and causal explanation with background knowledge. *Proceedings of the Eleventh Conference on Uncertainty in Artificial
#' Intelligence*, 403-410.
#'
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with incomplete cohort data. *Statistics in
#' Medicine* 41(23), 4716-4743 (tiers).
#' @seealso [pc()], [skeleton()], [orient()], [plan_search()].
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(1500), 500, 3, dimnames = list(NULL, c("age", "diet", "weight")))
#' x[, "weight"] <- x[, "age"] + x[, "diet"] + rnorm(500)
#' known <- pc_control(tiers = c(age = 1, diet = 2, weight = 3), time_limit = 60)
#' known
#' stat <- suff_gauss(x)
#' skel <- skeleton(
#'   stat, gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2, control = known
#' )
#' orient(skel, control = known)
#'
#' # The same in one call
#' pc(
#'   stat, gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2,
#'   tiers = c(age = 1, diet = 2, weight = 3), time_limit = 60
#' )
#' @export
pc_control <- function(..., result = c("auto", "pcAlgo", "compact"), checkpoint = NULL, time_limit = Inf,
                       cluster = NULL, parallel_tests = FALSE,
                       tiers = NULL, forbidden = NULL, required = NULL, context.all = NULL, context.tier = NULL,
                       na = c("error", "testwise")) {
  given <- names(match.call(expand.dots = FALSE))[-1L]
  check_dots(list(...), character(), "pc_control")
  # Stops for what is no cluster; workers are started by the search.
  if (!is.null(cluster)) worker_source(cluster)
  structure(class = "pcgpu_control", given = given, list(
    result = check_choice(result, c("auto", "pcAlgo", "compact"), "result"),
    checkpoint = check_checkpoint(checkpoint), time_limit = check_time_limit(time_limit),
    cluster = cluster, parallel_tests = check_flag(parallel_tests, "parallel_tests"),
    tiers = tiers, forbidden = forbidden, required = required, context.all = context.all, context.tier = context.tier,
    na = check_choice(na, c("error", "testwise"), "na")
  ))
}

control_arguments <- function() setdiff(names(formals(pc_control)), "...")

# Those of background knowledge, see check_knowledge().
knowledge_arguments <- c("tiers", "forbidden", "required", "context.all", "context.tier")

# Those that were given to pc_control(), or set in its list, as a plain list.
control_given <- function(control) {
  given <- attr(control, "given")
  values <- unclass(control)
  attr(values, "given") <- NULL
  if (!inherits(control, "pcgpu_control")) {
    return(values)
  }
  default <- unclass(pc_control())
  is_given <- vapply(names(values), function(name) {
    name %in% given || !name %in% names(default) || !identical(values[[name]], default[[name]])
  }, NA)
  values[is_given]
}

# What the function `of` was given of pc_control()'s arguments, in its `...` (`dots`, a list) and its `control`, as pc_control() returns it. `takes`: those
# that it uses. Others are an error; but in `control` those of `skips` may be there, as one control serves the search and what comes after it.
gather_control <- function(control, dots, of, takes = control_arguments(), skips = character()) {
  check_dots(dots, takes, of)
  if (!is.list(control) || length(control) && is.null(names(control))) {
    abort_argument("control", control, "give what pc_control() returns, such as pc_control(time_limit = 60).")
  }
  kept <- control_given(control)
  check_dots(kept, control_arguments(), "pc_control", what = "control")
  twice <- intersect(names(dots), names(kept))
  if (length(twice)) {
    abort_argument(twice[1L], NULL, "leave it out of one of the two.", is = "given twice, as an argument and in `control`")
  }
  kept <- kept[setdiff(names(kept), skips)]
  useless <- setdiff(names(kept), takes)
  if (length(useless)) {
    abort_argument("control", NULL, "leave it out.", has = sprintf("`%s`, which %s() does not use", useless[1L], of))
  }
  do.call(pc_control, c(kept, dots), quote = TRUE)
}

#' @exportS3Method print pcgpu_control
print.pcgpu_control <- function(x, ...) {
  given <- control_given(x)
  if (!length(given)) {
    cat("Control of a search, see ?pc_control: nothing but defaults\n")
    return(invisible(x))
  }
  cat("Control of a search, see ?pc_control:\n")
  cat(sprintf("  %s: %s\n", format(names(given)), vapply(given, control_said, "")), sep = "")
  invisible(x)
}

control_said <- function(value) {
  if (inherits(value, "cluster")) {
    counted(length(value), "worker")
  } else if (is.list(value) && !is.data.frame(value)) {
    paste(sprintf("%s%s", if (is.null(names(value))) "" else paste(names(value), "= "), vapply(value, describe, "")), collapse = "; ")
  } else if (is.atomic(value) && is.null(dim(value)) && !is.null(names(value))) {
    enumerate(paste(names(value), "=", format(value, trim = TRUE)))
  } else {
    describe(value)
  }
}

#' Options of a search: checkpoints, time limit, workers, background knowledge
#'
#' Describes the arguments of [pc()], [skeleton()] and [orient()] that pcalg's functions do not have, except `device` and
#' `progress`. They are arguments of these functions, as in `pc(data, alpha = 0.01, time_limit = 60)`. `pc_control()`
#' collects them for several calls, as in `pc(data, alpha = 0.01, control = pc_control(time_limit = 60))`.
#'
#' One call may use both forms for different arguments; giving the same argument twice is an error. `NULL` in a call
#' means that an argument is not given. Names must be written in full. Not every function uses every argument:
#' - `pc()`, `skeleton()` and [plan_search()] take all of them. [fci()], [rfci()] and [fciPlus()] take all except
#'   `result`, `context.all` and `context.tier`.
#' - `orient()` uses `cluster`, `parallel_tests` and the background knowledge (`tiers`, `forbidden`, `required`,
#'   `context.all`, `context.tier`). It ignores the others in `control`, so that the `control` of the skeleton can be
#'   used again.
#' - [stability()] and [cstar()] use `cluster` and the background knowledge; `stability()` also uses `na`,
#'   `correlation`, `weights`, `adjust` and `id`. The others are an error there.
#'
#' # Long searches
#'
#' With `checkpoint = "file"` the search saves its state to that file after each level, and every two minutes within a
#' level. The file is always replaced as a whole, so a valid one exists at any time. A process that is killed loses only
#' the work done since the last save. Repeating the call resumes the search, with a message of class
#' `pcgpu_message_resumed`. The device, the number of threads and `m.max` may differ, as long as `m.max` allows the
#' levels that have begun. The answer is that of an uninterrupted search, on the same device to the last bit. A file is
#' refused if it is damaged or comes from other data, arguments or version of pcgpu. The error's class is
#' `pcgpu_error_checkpoint`, and its message says what differs.
#'
#' The file is removed as the last step of the call, after all warnings and messages. If the call ends before that, the
#' file stays, and repeating the call reads the finished search from it. That happens, for example, if `options(warn =
#' 2)` turns a warning into an error.
#'
#' The tests of `conservative` and `maj.rule` are saved in a second file, whose name ends in `.later`, and so are the
#' tests of [rfci()] and [fciPlus()]. These tests come after the search, and are not repeated either. The possible-d-sep
#' phase of [fci()] has a file whose name ends in `.pdsep`. Both are removed together with the first.
#'
#' Use a separate file for each search: two searches that run at the same time with one file overwrite each other's
#' state. A process killed while it writes leaves a second file, whose name ends in `.part`. It is removed together with
#' the checkpoint once it is ten minutes old.
#'
#' How much of an unfinished level is saved depends on the search:
#' - Native tests save the finished columns at level 0. With more than 131,072 variables, level 0 is saved only at its
#'   end.
#' - At later levels, native tests on the CPU or on several machines save the finished pairs or parts of their tests. A
#'   single GPU works on some rows of a level at a time, about 20 seconds of work, and saves after each batch. So do all
#'   GPUs for nearest-neighbour tests and tests of mixed data.
#' - Level 1 of a Gaussian test on GPUs is saved only at its end if they decide all of its pairs at once.
#' - Method `"original"`, and tests that are R functions, save the finished visits.
#' - A level restarts if an R function is resumed with workers instead of without, or the reverse.
#'
#' A test that is an R function is identified by its code, by `suffStat`, and by the variables that it uses from its
#' environment. Their values are compared, also those in environments, reference classes, R6 objects, other functions
#' and formulas. Two kinds of variables are not compared: those that the function itself assigns with `<<-`, such as a
#' counter, and those in the workspace and in packages. Keep data that the test needs in `suffStat`. Data that R cannot
#' read, such as those behind an external pointer, are refused before the search begins, with an error of class
#' `pcgpu_error_checkpoint`.
#'
#' A test that draws random numbers continues with the random numbers of the new session. A `pcAlgo` result is saved
#' with a p-value for each pair of variables (1.6 GB for 20,000 variables), a compact result without those of level 0.
#' With `verbose` and a native test, only the levels are printed.
#'
#' With `time_limit` the result is that of the last completed level. Graph, separating sets, p-values and counts are
#' those of the same call with `m.max` set to that level, and `pc()` orients that graph. A warning of class
#' `pcgpu_warning_time_limit` says so, as do `print()`, `summary()`, `plot()` and [run_details()]. The search stops a
#' few tenths of a second after the limit, or after the current test if that takes longer. Orientation is not counted.
#' If not even level 0 is complete, the call ends with an error of class `pcgpu_error_time_limit`. With a `checkpoint`
#' as well, repeating the call continues the search, including the unfinished level, as often as needed.
#'
#' # On a cluster
#'
#' `cluster` can be
#' - a cluster object of the package parallel or snow: sockets (`parallel::makeCluster()`, also over ssh), forks
#'   (`makeForkCluster()`) or MPI (`snow::makeMPIcluster()`, with Rmpi). It remains yours and can be used before and
#'   afterwards. No worker may be in it twice;
#' - a cluster of the package mirai (`mirai::make_cluster()`), whose workers run as jobs, see below;
#' - a `BiocParallelParam`. For a `SnowParam` or `MulticoreParam`, pcgpu starts the workers for the call, as for a
#'   number, and stops them at its end. Only a `SnowParam` that names hosts has workers of
#'   `parallel::makePSOCKcluster()`. For a `BatchtoolsParam`, the workers are jobs of its batch system (Slurm, SGE, LSF,
#'   Torque, OpenLava), with its template and resources;
#' - `"future"`: the current `future::plan()`, such as `multisession` or `future.batchtools::batchtools_slurm`. If the
#'   plan has no number of workers, `options(pcgpu.cluster_workers = )` sets it;
#' - a number: that many processes on this machine, for this call.
#'
#' **Security.** Workers that pcgpu starts itself (a number, `parallel_tests`, a `SnowParam` without hosts, a
#' `MulticoreParam`) are joined to the session by pairs of connected sockets. No port is open, so no other user can read
#' the data or answer in a worker's place.
#'
#' The sockets of the packages parallel and snow are different: while `makeCluster()` or `makePSOCKcluster()` starts
#' workers, it listens on all network interfaces, without a password. The first process that connects counts as a
#' worker. It receives the data and the code of the test, and can send R objects, which the session reads. The
#' connections are not encrypted. Create such clusters only on a machine and network whose users you all trust, or with
#' a firewall that closes the ports 11000 to 11999 (or `port = `) to others. Over untrusted networks, use ssh tunnels
#' (`parallelly::makeClusterPSOCK()` makes reverse tunnels by default). BiocParallel's own calls with `SnowParam` and
#' `MulticoreParam` use such sockets, too. Jobs exchange files in a folder that only this user can read.
#'
#' **What workers do.** All workers must have the same version of pcgpu; the error names any that do not. Each worker
#' receives the data once, and after that only the changes of the graph. Each runs on its own machine's `device`.
#' Workers on one host divide its cores among them (`numCores`, if given, applies to each worker) and take its GPUs in
#' turn. With the Gaussian test, workers use their CPUs unless `device` names a GPU; a worker may have several, as in
#' `"cuda:all"`. A search on the GPUs of one machine is faster without a cluster (`device = "cuda:all"`).
#' `run_details(fit)$team` shows which worker did what.
#'
#' **Data.** Data of 8 MB or more are written once to a file, which the workers read. The file is in
#' `options(pcgpu.cluster_folder = )`, a folder that workers must see under the same path. Without this option, it is in
#' the session's temporary folder, which workers on the same machine see. Workers on one machine share the memory of a
#' correlation matrix there. A worker that cannot read the file receives the data through its connection. The files are
#' removed at the end of the call.
#'
#' **Failures.** Workers take work in pieces as they become free. If a worker dies, others redo its piece, with a
#' message of class `pcgpu_message_lost`. If one hangs, others overtake it. If none is left, the call ends with an error
#' of class `pcgpu_error_cluster`. A worker that does not answer at the start is left out, with the same message. A
#' worker counts as lost if its answer does not have the expected form. It is also lost if its connection is silent for
#' a minute in the middle of a message.
#'
#' **Interrupts.** After Ctrl-C, workers that were started for the call end at once. The workers of a cluster object
#' first finish their current piece, which takes some tenths of a second unless single tests take longer. A worker that
#' is in the middle of a message is cut off at once. The call waits for the others, at most a minute or until Ctrl-C is
#' pressed again. Some workers are still busy then, or some seconds after a call that finished without them. Such a
#' worker would send its late answers to the next user of the cluster. pcgpu therefore closes the connection to it, so
#' that using that worker is an error, and names it in a message of class `pcgpu_message_cluster`. MPI has no connection
#' to close: do not use such a cluster until the worker is done.
#'
#' **Jobs.** Workers that are jobs (`BatchtoolsParam`, `"future"`, mirai's) are started once per search. They
#' communicate through files, without open ports, in a temporary folder inside `options(pcgpu.cluster_folder = )`, by
#' default the working directory. The session and the jobs must see this folder under the same path and have permission
#' to create, rename and remove files there. On NFS, attribute caching delays when changes become visible. Session and
#' jobs wait up to `options(pcgpu.cluster_wait = )` seconds for each other (600 by default). A search uses the jobs that
#' have started by then. Only this user can read the folder (mode 0700). It is removed at the end of the call. If the
#' session was killed, the next call that uses the same place on the same host removes it.
#'
#' **R functions.** An `indepTest` that is an R function also runs on workers. Each test is run once, on any of them, so
#' the function must be pure. `suffStat`, the attached packages and the workspace objects that the function names are
#' sent along. `parallel_tests = TRUE` does the same on `numCores` processes of this machine, forked if possible, so
#' that nothing is copied. Such tests are refused with method `"original"`, in which each test depends on the last
#' answer, and with `verbose`. Warnings and messages of the test are repeated at the end of the call: each different one
#' once (50 at most), with its number of occurrences. Afterwards the workers have their previous random numbers, objects
#' and attached packages.
#'
#' **Random numbers.** If such a test draws random numbers, each test has its own stream (L'Ecuyer's MRG32k3a),
#' determined by x, y, S and a seed. The seed comes from the session's random numbers, which advance only if a test drew
#' any. After `set.seed()` the answer is therefore the same for any number of workers, but differs from that of a search
#' without workers.
#'
#' **Timeout.** If all workers hang, none is left to do their work. A worker that has work and is silent for
#' `options(pcgpu.cluster_silence = )` seconds (3600 by default) therefore counts as lost. Set more if a single test
#' takes longer.
#'
#' **Speed.** Sockets between the session and its workers are set to send small messages at once (`TCP_NODELAY`), also
#' those of a cluster of your own: otherwise some messages take 40 ms. Windows cannot set this for open connections:
#' there, create the cluster after `options(socketOptions = "no-delay")`.
#'
#' # Background knowledge
#'
#' With any of `tiers`, `forbidden`, `required`, `context.all` and `context.tier` the result is the maximally oriented
#' graph (MPDAG) with that knowledge. The knowledge is used in the search, for v-structures, and by the orientation
#' rules 1 to 4 of Meek (1995). The rules are those of `tpc()` of the package tpc (Witte et al. 2022), whose graphs are
#' those of `pc(solve.confl = TRUE)` with `maj.rule = TRUE` or `conservative = TRUE`.
#' - `tiers`: no arrow points from a later tier to an earlier one. Seen from x, a pair is only tested given sets without
#'   variables of tiers later than that of x, because the future separates nothing. A pair is seen from both of its
#'   ends, each with its own tier. In a v-structure a -> b <- c, the relevant tier is the later one of a and c. Tiers
#'   are not available with `"stable.fast"`. On a GPU, Gaussian and discrete tests then run in batches, so `device =
#'   "auto"` uses the CPU for them.
#' - `forbidden`: a pair that is forbidden in both directions is a gap and is not tested. A pair that is forbidden in
#'   one direction is searched as usual, but no v-structure uses that arrow. If `tiers` or the context exclude the
#'   reverse arrow, the pair is a gap, too (`tpc()` tests it, and deletes the edge at the end).
#' - `required`: the edge is present, is not tested, and has this direction.
#' - `context.all`: these variables have an arrow to every variable outside the context and belong to the first tier.
#'   `context.tier`: these have arrows to the variables of their own tier only, and no edges to others. The edges of
#'   both are not tested; the variables can be in separating sets like any other.
#'
#' The search does not test whether the common neighbours of an excluded pair separate it, so the standard rule has no
#' basis for a v-structure there. `pc()` therefore tests such a pair when it orients, given sets of its neighbours with
#' at most one member more than the largest set of the search. The majority of the sets that separate the pair decides
#' on each v-structure over it. Without such a set, or if a test has no answer, the triple is left open, like an
#' ambiguous one of `maj.rule`. [orient()] does the same if it is given the test; if not, it leaves all these triples
#' open. With any knowledge, this also holds for the pairs of `fixedGaps`. [fci()] and its relatives test such pairs in
#' the search.
#'
#' Contradictory knowledge is an error that names the contradiction: a cycle of required arrows, an arrow both required
#' and forbidden, or one to an earlier tier. If the separating sets suggest a v-structure that is excluded, knowledge
#' takes precedence. A message of class `pcgpu_message_knowledge` lists the places. (With `maj.rule` and `conservative`
#' such triples are not tested.) `run_details(fit)$valid_cpdag` then says whether the graph can be extended to a DAG
#' without cycles and further v-structures.
#'
#' @param ... Must be empty. It makes R match names in full; anything here is an error that suggests the intended name.
#' @param result The class of the result: `"pcAlgo"`, pcalg's, with 16 bytes for each cell of a p x p matrix;
#'   `"compact"`, [pcCompact][pcCompact-class], which stores only what was found; or `"auto"` (the default): `"pcAlgo"`
#'   for up to 20,000 variables and `"compact"` for more, on any machine. If there is not enough memory for a `pcAlgo`,
#'   the call ends with an error of class `pcgpu_error_memory`.
#' @param checkpoint `NULL`, or the name of a file that stores the state. Repeating the call then resumes the search
#'   after a crash or Ctrl-C. Or `list(file = , every = )`, where `every` is the number of seconds between saves within
#'   a level (default 120). See *Long searches*.
#' @param time_limit Seconds after which the search stops and returns what it has found, or `Inf` for no limit. See
#'   *Long searches*; [plan_search()] estimates the time beforehand.
#' @param cluster `NULL`, or other R processes, on this machine or others, that run the tests. The answer does not
#'   change. See *On a cluster*.
#' @param parallel_tests Run an `indepTest` that is an R function on `numCores` processes of this machine? Set to `TRUE`
#'   only for a pure function. See *On a cluster*.
#' @param tiers `NULL`, or the order of the variables in time. See *Background knowledge*.
#'   - a number for each variable: a vector, an ordered factor, a list or a table with one row, named or in the order of
#'     the variables;
#'   - a table with columns named `variable` and `tier`;
#'   - a list of the names in each tier, the first tier first.
#'
#'   An unnamed list of as many numbers as variables is refused, because the numbers may be tiers or variables. Data of
#'   [lagged()] have tiers of their own, which are used if this is `NULL`.
#' @param forbidden,required `NULL`, or arrows that are impossible or certain.
#'   - a data frame or matrix with columns named `from` and `to` (or `source` and `target`, `cause` and `effect`,
#'     `parent` and `child`), of names or numbers of variables. Column names decide, not the order of the columns.
#'     Further columns are ignored, except `kind`. Two columns with other names are taken as from and to.
#'   - one such pair, or a list of pairs, with or without these names.
#'   - rows of [edges()][edges,pcCompact-method] of a result. A row whose kind is `"---"` or `"<->"` is an arrow each
#'     way, which `required` refuses. A kind with a circle is refused.
#'   - an adjacency matrix, p x p, of logicals or of 0 and 1, which is `TRUE` at `[from, to]`. With pcalg's attribute
#'     `type = "amat.cpdag"` or `"cpdag"`, it is `TRUE` at `[to, from]`. A PAG is refused. If p is 2, a 2 x 2 matrix of
#'     0 and 1 is an adjacency matrix, unless its columns are named from and to.
#' @param context.all,context.tier `NULL`, or names or numbers of variables that nothing causes, such as a randomised
#'   treatment. Those of `context.all` are known to cause all others; those of `context.tier` all others of their own
#'   tier.
#' @param na How to treat missing values if data are given without `indepTest`: `"error"`, or `"testwise"`, with which
#'   each test uses the rows that are complete for its variables ([gaussCItwd()], [disCItwd()] and [mixCItwd()] state
#'   the assumptions).
#' @param correlation,weights,adjust,id Arguments of [suff_gauss()], for data with [gaussCItest()] or without `indepTest`:
#'   the kind of correlation, a weight for each row, covariates for which all variables are adjusted, and groups of rows
#'   within which values are compared. Columns that `weights`, `adjust` and `id` name are not variables of the graph.
#'   For a `SummarizedExperiment` or `ExpressionSet`, they can name columns of its table of samples.
#'   `correlation = NULL` is `"polychoric"` for data with ordered factors, and `"pearson"` for others.
#' @return A list of class `pcgpu_control` with one element for each argument. Printing it shows the arguments that were
#'   given. The argument `control` of [pc()] also accepts a plain list, such as `list(time_limit = 60)`.
#'
#'   An invalid argument is an error of class `pcgpu_error_argument`. Arguments that refer to variables (`tiers` and so
#'   on) are checked by the search.
#' @references
#' C. Meek (1995). Causal inference and causal explanation with background knowledge. *Proceedings of the Eleventh
#' Conference on Uncertainty in Artificial Intelligence*, 403-410.
#'
#' J. Witte, R. Foraita and V. Didelez (2022). Multiple imputation and test-wise deletion for causal discovery with
#' incomplete cohort data. *Statistics in Medicine* 41(23), 4716-4743 (tiers).
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
pc_control <- function(
  ...,
  result = c("auto", "pcAlgo", "compact"),
  checkpoint = NULL,
  time_limit = Inf,
  cluster = NULL,
  parallel_tests = FALSE,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  na = c("error", "testwise"),
  correlation = NULL,
  weights = NULL,
  adjust = NULL,
  id = NULL
) {
  given <- names(match.call(expand.dots = FALSE))[-1L]
  check_dots(list(...), character(), "pc_control")
  # Checks `cluster` only; the search starts the workers.
  if (!is.null(cluster)) {
    worker_source(cluster)
  }
  structure(
    class = "pcgpu_control",
    given = given,
    list(
      result = check_choice(result, c("auto", "pcAlgo", "compact"), "result"),
      checkpoint = check_checkpoint(checkpoint),
      time_limit = check_number(
        time_limit,
        "time_limit",
        "give a positive number of seconds, or Inf for no limit.",
        above = 0
      ),
      cluster = cluster,
      parallel_tests = check_flag(parallel_tests, "parallel_tests"),
      tiers = tiers,
      forbidden = forbidden,
      required = required,
      context.all = context.all,
      context.tier = context.tier,
      na = check_choice(na, c("error", "testwise"), "na"),
      correlation = if (!is.null(correlation)) check_choice(correlation, correlation_kinds, "correlation"),
      weights = weights,
      adjust = adjust,
      id = id
    )
  )
}

control_arguments <- function() setdiff(names(formals(pc_control)), "...")

# Returns the arguments of pc() or skeleton() except those of pc_control().
search_arguments_of <- function(fun) setdiff(names(formals(fun)), c("...", "control", control_arguments()))

# The arguments of background knowledge, see check_knowledge().
knowledge_arguments <- c("tiers", "forbidden", "required", "context.all", "context.tier")

# Returns the arguments that were given to pc_control(), or set in its list, as a plain list.
control_given <- function(control) {
  given <- attr(control, "given")
  values <- unclass(control)
  attr(values, "given") <- NULL
  if (!inherits(control, "pcgpu_control")) {
    return(values)
  }
  default <- unclass(pc_control())
  is_given <- vapply(
    names(values),
    function(name) {
      name %in% given || !name %in% names(default) || !identical(values[[name]], default[[name]])
    },
    NA
  )
  values[is_given]
}

# Merges the arguments of pc_control() that the function `of` received in its own arguments of these names (in `frame`;
# NULL means not given), in its `...` (`dots`, a list) and in its `control`. Returns them as pc_control() does. `takes`:
# the arguments that `of` uses. Others are an error, except those of `skips` in `control`: one control may serve the
# search and the steps after it.
gather_control <- function(
  control,
  dots,
  of,
  takes = control_arguments(),
  skips = character(),
  frame = parent.frame()
) {
  check_dots(dots, takes, of)
  own <- mget(intersect(takes, names(formals(get(of, topenv())))), envir = frame)
  dots <- c(dots, own[!vapply(own, is.null, NA)])
  if (!is.list(control) || length(control) && is.null(names(control))) {
    abort_argument("control", control, "give the result of pc_control(), such as pc_control(time_limit = 60).")
  }
  kept <- control_given(control)
  check_dots(kept, control_arguments(), "pc_control", what = "control")
  twice <- intersect(names(dots), names(kept))
  if (length(twice)) {
    abort_argument(twice[1L], NULL, "give it once.", is = "given twice, as an argument and in `control`")
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
  check_dots(list(...), character(), "print.pcgpu_control")
  given <- control_given(x)
  if (!length(given)) {
    cat("Search options (see ?pc_control): all defaults\n")
    return(invisible(x))
  }
  cat("Search options (see ?pc_control):\n")
  cat(sprintf("  %s: %s\n", format(names(given)), vapply(given, control_said, "")), sep = "")
  invisible(x)
}

control_said <- function(value) {
  if (inherits(value, "cluster")) {
    counted(length(value), "worker")
  } else if (is.list(value) && !is.data.frame(value)) {
    paste(
      sprintf("%s%s", if (is.null(names(value))) "" else paste(names(value), "= "), vapply(value, describe, "")),
      collapse = "; "
    )
  } else if (is.atomic(value) && is.null(dim(value)) && !is.null(names(value))) {
    enumerate(paste(names(value), "=", format(value, trim = TRUE)))
  } else {
    describe(value)
  }
}

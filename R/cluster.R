# Searches on the workers of a cluster: chooses and opens the workers, and gives Rust the connections to them
# (src/rust/src/ranks.rs).
# - cluster-own.R: workers that we start;
# - cluster-nodes.R: workers of a cluster object;
# - cluster-jobs.R: workers that are jobs, and communicate through files (mirai's workers, too);
# - cluster-data.R: the transfer of data;
# - cluster-worker.R: the code that workers run.

# Returns the workers that `cluster =` names: NULL, or the functions that open and close them, see node_workers() and
# job_workers().
resolve_cluster <- function(cluster) if (!is.null(cluster)) worker_source(cluster)()

# Checks `cluster`. Returns a function that makes the workers, and may start processes for them.
worker_source <- function(cluster) {
  # Two calls of one node would wait for each other's answers.
  if (inherits(cluster, "cluster") && (twice <- anyDuplicated(unclass(cluster)))) {
    abort_argument(
      "cluster",
      cluster,
      "give each worker once, or start more workers.",
      is = sprintf("a cluster that lists a worker twice (number %d)", twice)
    )
  }
  if (inherits(cluster, "miraiCluster")) {
    return(function() workers_of_mirai(cluster))
  }
  if (inherits(cluster, "cluster")) {
    return(function() node_workers(cluster))
  }
  if (methods::is(cluster, "BiocParallelParam")) {
    return(function() workers_of_param(cluster))
  }
  if (identical(cluster, "future")) {
    return(workers_of_plan)
  }
  if (is.numeric(cluster) && length(cluster) == 1L && is.finite(cluster) && cluster >= 1 && cluster == floor(cluster)) {
    return(function() own_workers(cluster))
  }
  abort_argument(
    "cluster",
    cluster,
    paste(
      "give a number of workers on this machine, a cluster object (parallel::makeCluster(), snow or mirai), a",
      "BiocParallelParam,",
      "or \"future\" (the current plan)."
    )
  )
}

# Starts workers on this machine for tests that are R functions. They are forked if that is safe, so that nothing is
# copied.
local_workers <- function(count) own_workers(count, fork = !nzchar(Sys.getenv("RSTUDIO")))

# Sends small messages at once, without waiting for more. The wait can take 40 ms, if the other end delays its
# confirmation. Set at both ends.
no_delay <- "options(socketOptions = 'no-delay')"

# Returns the seconds of silence after which a worker that has work counts as lost. No test takes that long; the limit
# ends a call if all workers hang.
worker_silence <- function() {
  hint <- "set it to a positive number of seconds, more than the longest test takes, or to Inf."
  check_number(getOption("pcgpu.cluster_silence", 3600), "options(pcgpu.cluster_silence = )", hint, above = 0)
}

silent_for <- function(seconds) sprintf("it did not answer within %g s (option pcgpu.cluster_silence)", seconds)

# Starts workers on these hosts, by ssh and base R's sockets. They end with the call.
workers_on_hosts <- function(hosts) {
  before <- options(socketOptions = "no-delay")
  on.exit(options(before))
  cluster <- tryCatch(
    with_own_libraries(parallel::makePSOCKcluster(hosts, rscript_args = c("-e", shQuote(no_delay)))),
    error = function(e) {
      abort_cluster(
        sprintf("workers cannot be started on %s (%s)", toString(unique(hosts)), conditionMessage(e)),
        "start the cluster yourself with parallel::makePSOCKcluster()"
      )
    }
  )
  workers <- node_workers(cluster, own = TRUE)
  workers$end <- function() {
    # Stops workers one by one, because stopping a dead one fails. A worker that is still busy ends when it finds its
    # connection closed.
    for (i in seq_along(cluster)) {
      tryCatch(
        if (i %in% workers$busy()) close(cluster[[i]]$con) else parallel::stopCluster(cluster[i]),
        error = function(e) NULL
      )
    }
  }
  workers
}

# Runs code that starts processes on this machine. They use the library paths of this process.
with_own_libraries <- function(start) {
  before <- Sys.getenv("R_LIBS", NA)
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  on.exit(if (is.na(before)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = before))
  start
}

# Returns the workers of a search: those of `cluster`, or as many own ones as threads for `parallel_tests`. NULL if the
# search runs in this process. Stops for arguments that workers do not support. `control`: the result of pc_control().
choose_workers <- function(control, test, method, threads, verbose) {
  cluster <- control$cluster
  is_function <- test$kind == "function"
  wanted <- !is.null(cluster) || control$parallel_tests && is_function && threads > 1L
  if (!wanted) {
    return(NULL)
  }
  argument <- if (is.null(cluster)) "parallel_tests" else "cluster"
  if (is_function && method == "original") {
    abort_argument(
      argument,
      NULL,
      "leave it out, or give method \"stable\".",
      is = paste(
        "given with method \"original\", in which each test depends on the last result, so that R functions cannot run",
        "in parallel"
      )
    )
  }
  if (is_function && verbose > 0) {
    abort_argument(
      "verbose",
      verbose,
      sprintf("give verbose = FALSE, or leave out `%s`.", argument),
      is = "given, but R functions that run on workers cannot print their tests"
    )
  }
  if (is.null(cluster)) local_workers(threads) else resolve_cluster(cluster)
}

# Calls `run(engine)`, which calls Rust with these workers. `device`: the user's argument, which each worker interprets
# itself. An idle CPU is reported here, once, and left out of the workers' device, so that they do not report it.
on_workers <- function(workers, test, options, device, threads, run) {
  is_function <- test$kind == "function"
  if (!is_function) {
    device <- without_idle_cpu(device, test)
  }
  setup <- list(
    what = "search",
    test = test,
    p = options$p,
    alpha = options$alpha,
    method = options$method,
    device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads),
    seed = if (is_function) next_seed(),
    world = if (is_function) world_of(test$given)
  )
  # Repeats conditions of the tests also after an error.
  listener <- new_listener()
  on.exit(listener$signal())
  with_workers(workers, setup, function(names, hellos) {
    run(engine_of_ranks(workers, names, hellos, threads, fast = options$method == "stable.fast", hear = listener$hear))
  })
}

# Returns a seed that depends on the session's random numbers, without advancing them. They advance later if a test has
# drawn any, see `new_listener()`.
next_seed <- function() {
  restore <- random_state()
  on.exit(restore())
  sample.int(.Machine$integer.max, 1L)
}

# Returns the list that Rust reads (Machine::from_list, Ranks::from_list): this process's threads, and the workers.
engine_of_ranks <- function(workers, names, hellos, threads, fast = FALSE, hear = function(said) NULL) {
  c(
    engine_list(new_device("cpu"), threads),
    list(
      cluster = list(
        names = names,
        hellos = hellos,
        fast = fast,
        send = function(rank, message) workers$send(rank, message),
        receive = function(seconds) attended(workers$receive(seconds), hear)
      )
    )
  )
}

# Processes received messages: collects the conditions of tests, and raises the error of a test that failed. Replaces
# unreadable messages by text, so that their worker counts as lost.
attended <- function(came, hear) {
  came$messages[!vapply(came$messages, is_answer, NA)] <- list(unreadable)
  for (message in came$messages) {
    hear(attr(message, "said"))
    if (inherits(message, "pcgpu_rank_condition")) raise_rank_condition(message)
  }
  came
}

# Opens the workers for a task, calls `run(names, hellos)`, and always closes the workers.
with_workers <- function(workers, setup, run) {
  on.exit(workers$end())
  finished <- FALSE
  on.exit(workers$close(finished), add = TRUE, after = FALSE)
  key <- new_key()
  about <- workers$start(key)
  places <- places_on_hosts(vapply(about, function(one) one$host, ""))
  hellos <- workers$open(key, setup, places)
  found <- run(names(hellos), hellos)
  # Rust also returns if it was interrupted.
  finished <- is.null(found$error)
  found
}

# Seconds that a worker may need for a piece beyond the expected time, before others do the piece, too.
patience_of_pieces <- 1

size_of <- function(range) range[2L] - range[1L] + 1L

# Distributes `count` replicates over the workers. A free worker takes the next ones; the pieces shrink as fewer are
# left. Other workers redo the piece of a worker that is lost, or that is far too slow when nothing else is left.
# `fits(range, found)` checks that a result has the form of replicates range[1] to range[2], and `take(range, found)`
# stores it. With `once`, no replicate is stored twice, so that results can be summed. Returns list(device, team, lost).
share_out <- function(workers, setup, count, fits, take, report = NULL, once = FALSE) {
  began <- proc.time()[["elapsed"]]
  with_workers(workers, setup, function(names, hellos) {
    now <- function() proc.time()[["elapsed"]]
    # For each worker: its current piece, its start, and whether it is too slow, so that others do the same piece.
    held <- vector("list", length(names))
    left <- late <- logical(length(names))
    since <- did <- busy <- numeric(length(names))
    lost <- list(machine = character(), reason = character())
    # For each replicate: whether it is done, and how many workers have it.
    have <- logical(count)
    hands <- integer(count)
    drop <- function(i) {
      at <- seq.int(held[[i]][1L], held[[i]][2L])
      if (!late[i]) hands[at] <<- hands[at] - 1L
    }
    # Returns the next piece for a free worker; NULL if workers have all that is left.
    next_range <- function() {
      open <- which(!have & hands == 0L)
      if (!length(open) && any(did > 0)) {
        expected <- sum(busy) / sum(did) * vapply(held, function(range) if (is.null(range)) Inf else size_of(range), 0)
        for (i in which(!late & !left & now() - since > patience_of_pieces + 3 * expected)) {
          drop(i)
          late[i] <<- TRUE
        }
        open <- which(!have & hands == 0L)
      }
      if (!length(open)) {
        return(NULL)
      }
      run <- open[open - open[1L] == seq_along(open) - 1L]
      c(run[1L], run[min(length(run), max(1L, length(open) %/% (3L * sum(!left & !late))))])
    }
    while (!all(have)) {
      for (i in which(lengths(held) == 0L & !left)) {
        range <- next_range()
        if (is.null(range)) {
          break
        }
        at <- seq.int(range[1L], range[2L])
        hands[at] <- hands[at] + 1L
        held[[i]] <- range
        since[i] <- now()
        workers$send(i, range)
      }
      if (all(left)) {
        abort_cluster(
          sprintf("no worker of the cluster is left (%s)", lost$reason[length(lost$reason)]),
          "restart the cluster"
        )
      }
      came <- workers$receive(0.1)
      for (at in seq_along(came$ranks)) {
        i <- came$ranks[at]
        found <- came$messages[[at]]
        if (is_failure(found)) {
          stop(found$condition)
        }
        # An answer without a question is invalid.
        if (!is_text(found) && (is.null(held[[i]]) || !fits(held[[i]], found))) {
          found <- unreadable
        }
        if (is_text(found)) {
          left[i] <- TRUE
          lost$machine <- c(lost$machine, names[i])
          lost$reason <- c(lost$reason, found)
        } else {
          these <- seq.int(held[[i]][1L], held[[i]][2L])
          # Others may have done a part of a slow worker's piece, and be busy with the rest.
          if (!once || !any(have[these])) {
            take(held[[i]], found)
            have[these] <- TRUE
          }
          busy[i] <- busy[i] + now() - since[i]
          did[i] <- did[i] + size_of(held[[i]])
        }
        if (!is.null(held[[i]])) {
          drop(i)
        }
        held[i] <- list(NULL)
        late[i] <- FALSE
      }
      if (!is.null(report)) report(0, sum(have), count, 0, 0)
    }
    elapsed <- proc.time()[["elapsed"]] - began
    zero <- numeric(length(names))
    team <- list(
      machine = names,
      level = rep(0L, length(names)),
      shards = did,
      to = zero,
      from = zero,
      rows = zero,
      busy = busy,
      elapsed = rep(elapsed, length(names))
    )
    list(device = names, team = team, lost = lost)
  })
}

# Returns what R functions need from this session and a worker lacks: the attached packages, and the objects of the
# workspace that they name, directly or through other functions. NULL if there is no function.
world_of <- function(funs) {
  if (!length(funs)) {
    return(NULL)
  }
  found <- list()
  seek <- function(fun) {
    if (!is.function(fun) || is.primitive(fun) || !identical(topenv(environment(fun)), globalenv())) {
      return()
    }
    for (name in setdiff(codetools::findGlobals(fun), names(found))) {
      if (exists(name, envir = globalenv(), inherits = FALSE)) {
        value <- get(name, envir = globalenv())
        found[name] <<- list(value)
        seek(value)
      }
    }
  }
  for (fun in if (is.function(funs)) list(funs) else funs) {
    seek(fun)
  }
  list(packages = rev(.packages()), objects = found)
}

# Returns a key that identifies a search on workers that have run others, or run one for another session at the same
# time.
new_key <- function() {
  session$searches <- (session$searches %||% 0L) + 1L
  paste(Sys.info()[["nodename"]], Sys.getpid(), session$searches, format(as.double(Sys.time()), digits = 16), sep = "-")
}

# Returns for each worker its number among those on its host, and how many these are.
places_on_hosts <- function(hosts) {
  lapply(seq_along(hosts), function(i) c(number = sum(hosts[seq_len(i)] == hosts[i]), of = sum(hosts == hosts[i])))
}

# "worker 2 (node07)".
worker_names <- function(hosts, numbers = seq_along(hosts)) sprintf("worker %d (%s)", numbers, hosts)

# Returns the names of workers with these numbers, from their answers to rank_about(). Stops if one has no pcgpu, or
# another version.
check_about <- function(about, numbers) {
  names <- worker_names(vapply(about, function(one) if (is.list(one)) one$host else "?", ""), numbers)
  for (i in seq_along(about)) {
    one <- about[[i]]
    if (!is.list(one)) {
      abort_cluster(sprintf("%s cannot be used (%s)", names[i], one), "install pcgpu in the worker's library")
    }
    ours <- as.character(utils::packageVersion("pcgpu"))
    if (one$version != ours) {
      abort_cluster(
        sprintf("%s runs pcgpu %s, but this session runs %s", names[i], one$version, ours),
        "install the same version everywhere"
      )
    }
  }
  names
}

abort_cluster <- function(what, hint) abort("cluster", paste0(what, ": ", hint, "."), what = what, hint = hint)

# Raises the error of a test that failed on a worker, as it would have been raised in this process.
raise_rank_condition <- function(condition) {
  stop(structure(
    class = condition$class,
    list(
      message = condition$message,
      call = user_call(),
      x = condition$x,
      y = condition$y,
      S = condition$S,
      parent = condition$parent
    )
  ))
}

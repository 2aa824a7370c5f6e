# Searches on the workers of a cluster: who they are, what they get first, and the connections that Rust is handed (src/rust/src/ranks.rs).
# cluster-own.R has workers that we start, cluster-nodes.R those of a cluster object, cluster-jobs.R those that are jobs and talk through files (mirai's are, too), cluster-data.R how data reach them;
# rank.R is what workers run.

# The workers that `cluster =` names: NULL, or what opens and closes them, see node_workers() and job_workers().
resolve_cluster <- function(cluster) if (!is.null(cluster)) worker_source(cluster)()

# What makes them, once it is called: processes may be started for them.
worker_source <- function(cluster) {
  # Two calls of one node would wait for each other's answers.
  if (inherits(cluster, "cluster") && (twice <- anyDuplicated(unclass(cluster)))) {
    abort_argument("cluster", cluster, "give each worker once, or start more workers.", is = sprintf("a cluster that lists a worker twice (number %d)", twice))
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
  abort_argument("cluster", cluster, paste(
    "give a number of workers on this machine, a cluster object (parallel::makeCluster(), snow or mirai), a BiocParallelParam,",
    "or \"future\" (the current plan)."
  ))
}

# Workers on this machine for tests that are R functions: forked, so that nothing is copied, where that is safe.
local_workers <- function(count) own_workers(count, fork = !nzchar(Sys.getenv("RSTUDIO")))

# Messages are small, and not to wait for more to be sent with them: 40 ms where the other end confirms them late. Set at both ends.
no_delay <- "options(socketOptions = 'no-delay')"

# Seconds without a word after which a worker that has work counts as lost, so that a call ends where all hang: no test takes so long.
worker_silence <- function() {
  seconds <- getOption("pcgpu.cluster_silence", 3600)
  if (!is_number(seconds) || seconds <= 0) {
    abort_argument("options(pcgpu.cluster_silence = )", seconds, "set it to a positive number of seconds, more than the longest test takes, or to Inf.")
  }
  seconds
}

silent_for <- function(seconds) sprintf("it did not answer within %g s (option pcgpu.cluster_silence)", seconds)

# Workers on these hosts, by ssh and base R's sockets, which end with the call.
workers_on_hosts <- function(hosts) {
  before <- options(socketOptions = "no-delay")
  on.exit(options(before))
  cluster <- tryCatch(with_own_libraries(parallel::makePSOCKcluster(hosts, rscript_args = c("-e", shQuote(no_delay)))), error = function(e) {
    abort_cluster(
      sprintf("workers cannot be started on %s (%s)", toString(unique(hosts)), conditionMessage(e)),
      "start the cluster yourself with parallel::makePSOCKcluster()"
    )
  })
  workers <- node_workers(cluster, own = TRUE)
  workers$end <- function() {
    # One by one, as one that has died cannot be told, and one that is still at work ends when it sees that nobody is there.
    for (i in seq_along(cluster)) tryCatch(if (i %in% workers$busy()) close(cluster[[i]]$con) else parallel::stopCluster(cluster[i]), error = function(e) NULL)
  }
  workers
}

# Processes of this machine that are started meanwhile look for packages where this one does.
with_own_libraries <- function(start) {
  before <- Sys.getenv("R_LIBS", NA)
  Sys.setenv(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  on.exit(if (is.na(before)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = before))
  start
}

# Whether a search goes to workers of other processes, and to which: those of `cluster`, or as many of its own as there are threads. Stops
# for what such a search cannot do. `control`: pc_control()'s.
choose_workers <- function(control, test, method, threads, verbose) {
  cluster <- control$cluster
  is_function <- test$kind == "function"
  wanted <- !is.null(cluster) || control$parallel_tests && is_function && threads > 1L
  if (!wanted) {
    return(NULL)
  }
  argument <- if (is.null(cluster)) "parallel_tests" else "cluster"
  if (is_function && method == "original") {
    abort_argument(argument, NULL, "leave it out, or give method \"stable\".",
      is = "given with method \"original\", in which each test depends on the last result, so that R functions cannot run in parallel"
    )
  }
  if (is_function && verbose > 0) {
    abort_argument("verbose", verbose, sprintf("give verbose = FALSE, or leave out `%s`.", argument),
      is = paste0(describe(verbose), ", but R functions that run on workers cannot print their tests")
    )
  }
  if (is.null(cluster)) local_workers(threads) else resolve_cluster(cluster)
}

# Calls `run(engine)`, which calls Rust, with the workers at its service. `device`: the user's own words, which each worker reads.
on_workers <- function(workers, test, options, device, threads, run) {
  is_function <- test$kind == "function"
  setup <- list(
    what = "search", test = test, p = options$p, alpha = options$alpha, method = options$method, device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads),
    seed = if (is_function) next_seed(),
    world = if (is_function) world_of(test$given)
  )
  # However it ends.
  ear <- new_ear()
  on.exit(ear$sound())
  with_workers(workers, setup, function(names, hellos) {
    run(engine_of_ranks(workers, names, hellos, threads, fast = options$method == "stable.fast", hear = ear$hear))
  })
}

# A seed that depends on the session's, which stays as it is: it goes on where a test has drawn, see new_ear().
next_seed <- function() {
  restore <- random_state()
  on.exit(restore())
  sample.int(.Machine$integer.max, 1L)
}

# The list that Rust's boundary reads (Machine::from_list, Ranks::from_list): this process's threads, and workers that answer it.
engine_of_ranks <- function(workers, names, hellos, threads, fast = FALSE, hear = function(said) NULL) {
  c(
    engine_list(new_device("cpu"), threads),
    list(cluster = list(
      names = names, hellos = hellos, fast = fast,
      send = function(rank, message) workers$send(rank, message), receive = function(seconds) attended(workers$receive(seconds), hear)
    ))
  )
}

# What came: what tests said is heard, and one that failed is raised. Text stands for what cannot be read, so that its worker is lost.
attended <- function(came, hear) {
  came$messages[!vapply(came$messages, is_answer, NA)] <- list(unreadable)
  for (message in came$messages) {
    hear(attr(message, "said"))
    if (inherits(message, "pcgpu_rank_condition")) raise_rank_condition(message)
  }
  came
}

# Opens the workers for a task, calls `run(names, hellos)`, and closes them, however it ends.
with_workers <- function(workers, setup, run) {
  on.exit(workers$end())
  finished <- FALSE
  on.exit(workers$close(finished), add = TRUE, after = FALSE)
  key <- new_key()
  about <- workers$start(key)
  places <- places_on_hosts(vapply(about, function(one) one$host, ""))
  hellos <- workers$open(key, setup, places)
  found <- run(names(hellos), hellos)
  # Rust returns where it was interrupted, too.
  finished <- is.null(found$error)
  found
}

# Seconds that a worker may have a piece longer than others would, before they do it, too.
patience_of_pieces <- 1

size_of <- function(range) range[2L] - range[1L] + 1L

# Shares `count` replicates out, some at a time: whoever is free takes the next, the fewer the fewer are left; what a worker had that is lost, or far too
# slow where nothing else is left to do, others do. `take(range, found)` enters what a worker found of range[1] to range[2], where `fits(range, found)` says that it
# has the form of these; with `once` no replicate comes twice, so that what is found can be summed up. Returns list(device, team, lost).
share_out <- function(workers, setup, count, fits, take, report = NULL, once = FALSE) {
  began <- proc.time()[["elapsed"]]
  with_workers(workers, setup, function(names, hellos) {
    now <- function() proc.time()[["elapsed"]]
    # By worker: what it has in hand, since when, and whether it has been given up, so that others do the same.
    held <- vector("list", length(names))
    left <- late <- logical(length(names))
    since <- did <- busy <- numeric(length(names))
    lost <- list(machine = character(), reason = character())
    # By replicate: whether it is there, and in how many hands.
    have <- logical(count)
    hands <- integer(count)
    drop <- function(i) {
      at <- seq.int(held[[i]][1L], held[[i]][2L])
      if (!late[i]) hands[at] <<- hands[at] - 1L
    }
    # The next for a worker that is free; NULL where all are in good hands.
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
        if (is.null(range)) break
        at <- seq.int(range[1L], range[2L])
        hands[at] <- hands[at] + 1L
        held[[i]] <- range
        since[i] <- now()
        workers$send(i, range)
      }
      if (all(left)) {
        abort_cluster(sprintf("no worker of the cluster is left (%s)", lost$reason[length(lost$reason)]), "restart the cluster")
      }
      came <- workers$receive(0.1)
      for (at in seq_along(came$ranks)) {
        i <- came$ranks[at]
        found <- came$messages[[at]]
        if (is_failure(found)) stop(found$condition)
        # Nobody answers what nobody asked.
        if (!is_text(found) && (is.null(held[[i]]) || !fits(held[[i]], found))) found <- unreadable
        if (is_text(found)) {
          left[i] <- TRUE
          lost$machine <- c(lost$machine, names[i])
          lost$reason <- c(lost$reason, found)
        } else {
          these <- seq.int(held[[i]][1L], held[[i]][2L])
          # Of one that was slow, others may have done a part, and are at the rest.
          if (!once || !any(have[these])) {
            take(held[[i]], found)
            have[these] <- TRUE
          }
          busy[i] <- busy[i] + now() - since[i]
          did[i] <- did[i] + size_of(held[[i]])
        }
        if (!is.null(held[[i]])) drop(i)
        held[i] <- list(NULL)
        late[i] <- FALSE
      }
      if (!is.null(report)) report(0, sum(have), count, 0, 0)
    }
    elapsed <- proc.time()[["elapsed"]] - began
    zero <- numeric(length(names))
    team <- list(machine = names, level = rep(0L, length(names)), shards = did, to = zero, from = zero, rows = zero, busy = busy, elapsed = rep(elapsed, length(names)))
    list(device = names, team = team, lost = lost)
  })
}

# What an R function finds where it was defined, and a worker lacks: the packages that are attached here, and what it names of the user's workspace, with
# what that names in turn. NULL where there is no function.
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
  for (fun in if (is.function(funs)) list(funs) else funs) seek(fun)
  list(packages = rev(.packages()), objects = found)
}

# Names a search on workers that have done others, or do so at the same time for another session.
new_key <- function() {
  session$searches <- (session$searches %||% 0L) + 1L
  paste(Sys.info()[["nodename"]], Sys.getpid(), session$searches, format(as.double(Sys.time()), digits = 16), sep = "-")
}

# By worker: which it is of those on its host, and how many these are.
places_on_hosts <- function(hosts) {
  lapply(seq_along(hosts), function(i) c(number = sum(hosts[seq_len(i)] == hosts[i]), of = sum(hosts == hosts[i])))
}

# "worker 2 (node07)".
worker_names <- function(hosts, numbers = seq_along(hosts)) sprintf("worker %d (%s)", numbers, hosts)

# The names of workers with these numbers, by what they said of themselves: stops where one has no pcgpu, or another.
check_about <- function(about, numbers) {
  names <- worker_names(vapply(about, function(one) if (is.list(one)) one$host else "?", ""), numbers)
  for (i in seq_along(about)) {
    one <- about[[i]]
    if (!is.list(one)) {
      abort_cluster(sprintf("%s cannot be used (%s)", names[i], one), "install pcgpu in the worker's library")
    }
    ours <- as.character(utils::packageVersion("pcgpu"))
    if (one$version != ours) {
      abort_cluster(sprintf("%s runs pcgpu %s, but this session runs %s", names[i], one$version, ours), "install the same version everywhere")
    }
  }
  names
}

abort_cluster <- function(what, hint) abort("cluster", paste0(what, ": ", hint, "."), what = what, hint = hint)

# A test that is an R function failed on a worker: raised here as it would have been.
raise_rank_condition <- function(condition) {
  stop(structure(
    class = condition$class,
    list(message = condition$message, call = user_call(), x = condition$x, y = condition$y, S = condition$S, parent = condition$parent)
  ))
}

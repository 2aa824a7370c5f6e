# Searches on the workers of a cluster: who they are, what they get first, and the connections that Rust is handed (src/rust/src/cluster.rs).
# cluster-nodes.R has workers of a cluster object, cluster-jobs.R those that are jobs and talk through files; rank.R is what workers run.

# The workers that `cluster =` names: NULL, or what opens and closes them, see node_workers() and job_workers().
resolve_cluster <- function(cluster) if (!is.null(cluster)) worker_source(cluster)()

# What makes them, once it is called: processes may be started for them.
worker_source <- function(cluster) {
  if (inherits(cluster, "cluster")) {
    return(function() node_workers(cluster))
  }
  if (methods::is(cluster, "BiocParallelParam")) {
    return(function() workers_of_param(cluster))
  }
  if (identical(cluster, "future")) {
    return(workers_of_plan)
  }
  if (is.numeric(cluster) && length(cluster) == 1L && !is.na(cluster) && cluster >= 1 && cluster == floor(cluster)) {
    return(function() new_workers(parallel::makePSOCKcluster, cluster))
  }
  abort_argument("cluster", cluster, paste(
    "give a cluster of the package parallel (makeCluster(), makePSOCKcluster(), snow, mirai), a BiocParallelParam,",
    "\"future\" (the current plan), or a number of workers on this machine."
  ))
}

# Workers on this machine for tests that are R functions: forked, so that nothing is copied, where that is safe.
local_workers <- function(count) {
  can_fork <- .Platform$OS.type == "unix" && !nzchar(Sys.getenv("RSTUDIO"))
  new_workers(if (can_fork) parallel::makeForkCluster else parallel::makePSOCKcluster, count)
}

# A cluster that is ours, and ends with the call. Messages are small, and not to wait for more to be sent with them.
new_workers <- function(make, ...) {
  before <- options(socketOptions = "no-delay")
  on.exit(options(before))
  cluster <- make(...)
  workers <- node_workers(cluster)
  workers$end <- function() {
    # One by one, as one that has died cannot be told.
    for (i in seq_along(cluster)) tryCatch(parallel::stopCluster(cluster[i]), error = function(e) close(cluster[[i]]$con))
  }
  workers
}

# Whether a search goes to workers of other processes, and to which: those of `cluster`, or as many of its own as there are threads. Stops
# for what such a search cannot do.
choose_workers <- function(cluster, parallel_tests, test, method, threads, verbose) {
  parallel_tests <- check_flag(parallel_tests, "parallel_tests")
  is_function <- test$kind == "function"
  wanted <- !is.null(cluster) || parallel_tests && is_function && threads > 1L
  if (!wanted) {
    return(NULL)
  }
  argument <- if (is.null(cluster)) "parallel_tests" else "cluster"
  if (is_function && method == "original") {
    abort_argument(argument, NULL, paste(
      "leave it out, or give method \"stable\": with \"original\" what is asked next depends on the last answer,",
      "so that a test that is an R function is asked here, one at a time."
    ), is = "given with method \"original\"")
  }
  if (is_function && verbose > 0) {
    abort_argument("verbose", verbose, sprintf("give verbose = FALSE, or leave `%s` out: tests are printed as they are asked here.", argument))
  }
  if (is.null(cluster)) local_workers(threads) else resolve_cluster(cluster)
}

# Calls `run(engine)`, which calls Rust, with the workers at its service. `device`: the user's own words, which each worker reads.
on_workers <- function(workers, test, options, device, threads, run) {
  setup <- list(
    what = "search", test = test, p = options$p, alpha = options$alpha, method = options$method, device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads),
    seed = if (test$kind == "function") sample.int(.Machine$integer.max, 1L),
    world = if (test$kind == "function") world_of(test$given)
  )
  with_workers(workers, setup, function(names, hellos) {
    run(engine_of_ranks(workers, names, hellos, threads, fast = options$method == "stable.fast"))
  })
}

# The list that Rust's boundary reads (Machine::from_list, Ranks::from_list): this process's threads, and workers that answer it.
engine_of_ranks <- function(workers, names, hellos, threads, fast = FALSE) {
  c(
    engine_list(new_device("cpu"), threads),
    list(cluster = list(
      names = names, hellos = hellos, fast = fast,
      send = function(rank, message) workers$send(rank, message), receive = function(seconds) workers$receive(seconds)
    ))
  )
}

# Opens the workers for a task, calls `run(names, hellos)`, and closes them, however it ends.
with_workers <- function(workers, setup, run) {
  on.exit(workers$end())
  key <- new_key()
  about <- workers$start(key)
  places <- places_on_hosts(vapply(about, function(one) one$host, ""))
  hellos <- workers$open(key, setup, places)
  on.exit(workers$close(key), add = TRUE, after = FALSE)
  run(names(about), hellos)
}

# Shares `count` replicates out, some at a time: whoever is free takes the next, the fewer the fewer are left; what a worker had that is lost, others
# do. `take(range, found)` enters what a worker found of range[1] to range[2]. Returns list(device, team, lost).
share_out <- function(workers, setup, count, take, report = NULL) {
  began <- proc.time()[["elapsed"]]
  with_workers(workers, setup, function(names, hellos) {
    free <- rep(TRUE, length(names))
    left <- rep(FALSE, length(names))
    held <- vector("list", length(names))
    since <- did <- busy <- numeric(length(names))
    lost <- list(machine = character(), reason = character())
    waiting <- list()
    nxt <- 1L
    done <- 0L
    while (done < count) {
      for (i in which(free & !left)) {
        range <- if (length(waiting)) {
          waiting[[1L]]
        } else if (nxt <= count) {
          c(nxt, min(count, nxt + max(1L, (count - nxt + 1L) %/% (3L * sum(!left))) - 1L))
        }
        if (is.null(range)) break
        if (length(waiting)) waiting <- waiting[-1L] else nxt <- range[2L] + 1L
        held[[i]] <- range
        free[i] <- FALSE
        since[i] <- proc.time()[["elapsed"]]
        workers$send(i, range)
      }
      if (all(left)) {
        abort_cluster(sprintf("no worker of the cluster is left: %s", lost$reason[length(lost$reason)]), "start the cluster again")
      }
      came <- workers$receive(0.1)
      for (at in seq_along(came$ranks)) {
        i <- came$ranks[at]
        found <- came$messages[[at]]
        if (is.character(found)) {
          left[i] <- TRUE
          lost$machine <- c(lost$machine, names[i])
          lost$reason <- c(lost$reason, found)
          if (!free[i]) waiting <- c(waiting, held[i])
        } else {
          take(held[[i]], found)
          busy[i] <- busy[i] + proc.time()[["elapsed"]] - since[i]
          did[i] <- did[i] + held[[i]][2L] - held[[i]][1L] + 1L
          done <- done + held[[i]][2L] - held[[i]][1L] + 1L
          free[i] <- TRUE
        }
      }
      if (!is.null(report)) report(0, done, count, 0, 0)
    }
    elapsed <- proc.time()[["elapsed"]] - began
    zero <- numeric(length(names))
    team <- list(machine = names, level = rep(0L, length(names)), shards = did, to = zero, from = zero, rows = zero, busy = busy, elapsed = rep(elapsed, length(names)))
    list(device = names, team = team, lost = lost)
  })
}

# What an R function finds where it was defined, and a worker lacks: the packages that are attached here, and what it names of the user's workspace, with
# what that names in turn.
world_of <- function(fun) {
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
  seek(fun)
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
worker_names <- function(hosts) sprintf("worker %d (%s)", seq_along(hosts), hosts)

# What workers said of themselves: stops where one has no pcgpu, or another.
check_about <- function(about) {
  hosts <- vapply(about, function(one) if (is.list(one)) one$host else "?", "")
  names(about) <- worker_names(hosts)
  for (name in names(about)) {
    one <- about[[name]]
    if (!is.list(one)) {
      abort_cluster(sprintf("%s cannot be used: %s", name, one), "install pcgpu where the worker looks for packages")
    }
    ours <- as.character(utils::packageVersion("pcgpu"))
    if (one$version != ours) {
      abort_cluster(sprintf("%s runs pcgpu %s, and this is %s", name, one$version, ours), "install the same version everywhere")
    }
  }
  about
}

abort_cluster <- function(what, mend) abort("cluster", paste0(what, ": ", mend, "."), what = what, mend = mend)

# A test that is an R function failed on a worker: raised here as it would have been.
raise_rank_condition <- function(condition) {
  stop(structure(
    class = condition$class,
    list(message = condition$message, call = user_call(), x = condition$x, y = condition$y, S = condition$S)
  ))
}

# Workers that this session starts: processes on this machine, or forks of it. Each holds one end of a pair of connected
# sockets (src/rust/src/processes.rs). No port is open, so no other process can take a worker's place, see the data, or
# send anything that R reads.

# Starts workers that end with the call, and returns them in the form of node_workers(). fork: whether workers are
# forks, which have all data of this process.
own_workers <- function(count, fork = FALSE) {
  own_workers <- check_rust(rust_workers())
  begin <- if (fork) fork_worker else start_worker
  pids <- integer()
  end <- function(at_work) {
    # Rust ends only the processes that it started, not forks.
    if (fork && length(at_work)) {
      tools::pskill(pids[at_work], tools::SIGKILL)
    }
    check_rust(rust_workers_end(own_workers, at_work))
  }
  is_begun <- FALSE
  on.exit(if (!is_begun) end(seq_along(pids)))
  with_own_libraries(
    for (i in seq_len(count)) {
      pids[i] <- begin(own_workers)
    }
  )
  cluster <- lapply(seq_len(count), function(i) {
    structure(list(host = "localhost", number = i, own_workers = own_workers), class = "pcgpu_node")
  })
  workers <- node_workers(cluster, own = TRUE)
  workers$end <- function() end(workers$busy())
  is_begun <- TRUE
  workers
}

is_own_node <- function(node) inherits(node, "pcgpu_node")

# Starts a worker with R's default packages, and returns its process id. The worker inherits its end of the sockets as a
# descriptor.
start_worker <- function(own_workers) {
  code <- sprintf("pcgpu:::serve(pcgpu:::rust_line(%d))", check_rust(rust_workers_add(own_workers)))
  packages <- "--default-packages=datasets,utils,grDevices,graphics,stats,methods"
  check_rust(rust_workers_spawn(own_workers, file.path(R.home("bin"), "Rscript"), c(packages, "-e", code)))
}

fork_worker <- function(own_workers) {
  check_rust(rust_workers_add(own_workers))
  # The fork kills itself, because R's own exit of a fork (mcexit()) would report the end of a fork of a fork to the
  # first process.
  serve_and_end <- function() {
    on.exit(tools::pskill(Sys.getpid(), tools::SIGKILL))
    serve(check_rust(rust_line_of_fork(own_workers)))
  }
  job <- tryCatch(
    parallel::mcparallel(serve_and_end(), mc.set.seed = FALSE, silent = TRUE, detached = TRUE),
    error = function(e) {
      abort_cluster(
        sprintf("a worker cannot be forked (%s)", conditionMessage(e)),
        "use fewer workers, or raise the limit on processes of this user (ulimit -u)"
      )
    }
  )
  check_rust(rust_workers_forked(own_workers))
  job$pid
}

# Runs in a worker: answers calls of our functions until the session ends.
serve <- function(line) {
  line <- check_rust(line)
  while (!is.null(message <- check_rust(rust_line_hear(line)))) {
    asked <- unserialize(message)
    value <- tryCatch(do.call(call_by_name, c(asked$name, asked$arguments), quote = TRUE), error = function(e) {
      structure(conditionMessage(e), class = "try-error")
    })
    if (!check_rust(rust_line_say(line, serialize(list(value = value, tag = asked$tag), NULL, xdr = FALSE)))) break
  }
}

# Sends a call to a worker that we started. This function and read_own() correspond to node_sender() and node_reader().
send_own <- function(node, name, arguments, tag) {
  check_rust(rust_workers_send(
    node$own_workers,
    node$number,
    serialize(list(name = name, arguments = arguments, tag = tag), NULL, xdr = FALSE)
  ))
}

read_own <- function(cluster, seconds, open) {
  came <- check_rust(rust_workers_receive(cluster[[1L]]$own_workers, which(open), seconds))
  Map(
    function(rank, message) {
      value <- if (is.raw(message)) {
        tryCatch(unserialize(message), error = function(e) gone_for(conditionMessage(e)))
      } else {
        gone_for(message)
      }
      list(rank = rank, value = value)
    },
    came$ranks,
    came$messages
  )
}

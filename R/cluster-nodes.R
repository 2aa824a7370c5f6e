# Workers of a cluster object: parallel's and snow's (sockets, forks, MPI), and whatever has their methods. Each message is a call that the worker
# evaluates, of a function of ours by name with bytes; its value is the answer.

# What workers are sent as the function: it finds ours by its name there, so that a worker without this package says so, and code does not
# travel with each message.
call_by_name <- function(name, ...) get(name, envir = asNamespace("pcgpu"), mode = "function")(...)
environment(call_by_name) <- baseenv()

# A function that sends a node a call without waiting for its value. Rmpi's own collects R's garbage after each message, which takes longer than most pieces'
# way.
node_sender <- function(cluster) {
  if (!inherits(cluster[[1L]], "MPInode")) {
    send <- node_function("sendCall", cluster)
    return(function(i, name, arguments, tag) send(cluster[[i]], call_by_name, c(name, arguments), tag = tag))
  }
  function(i, name, arguments, tag) {
    node <- cluster[[i]]
    data <- list(fun = call_by_name, args = c(name, arguments), return = TRUE, tag = tag)
    Rmpi::mpi.send(serialize(list(type = "EXEC", data = data, tag = NULL), NULL), 4L, node$rank, node$SENDTAG, node$comm)
  }
}

# parallel does not export what sends to one node without waiting; snow has its own for MPI.
node_function <- function(name, cluster) {
  home <- if (inherits(cluster[[1L]], "MPInode")) "snow" else "parallel"
  get(name, envir = asNamespace(home), mode = "function")
}

# list(start, open, send, receive, close, end): start(key) asks who they are; open(key, setup, places) hands the data over and returns their
# first words; send(rank, raw); receive(seconds) returns list(ranks, messages), where text says why a rank is gone; close(key) leaves the
# workers to others; end() ends them where they are ours.
node_workers <- function(cluster) {
  count <- length(cluster)
  send <- node_sender(cluster)
  reading <- node_reader(cluster)
  waiting <- integer(count)
  gone <- logical(count)
  key <- NULL

  call_node <- function(i, name, arguments) {
    if (gone[i]) {
      return()
    }
    waiting[i] <<- waiting[i] + 1L
    failed <- tryCatch({
      send(i, name, arguments, key)
      NULL
    }, error = function(e) conditionMessage(e))
    if (!is.null(failed)) lose(i, failed)
  }
  lost <- list()
  lose <- function(i, why) {
    if (!gone[i]) {
      gone[i] <<- TRUE
      waiting[i] <<- 0L
      lost[[length(lost) + 1L]] <<- list(rank = i, value = paste("the connection to it failed:", trimws(why)))
    }
  }
  # What has come, as list(rank, value); values that nobody waits for any more are dropped.
  arrived <- function(seconds) {
    came <- if (any(waiting > 0L)) reading(seconds, waiting > 0L & !gone) else list()
    for (one in came) {
      if (inherits(one$value, "pcgpu_gone")) {
        lose(one$rank, one$value$why)
      } else {
        waiting[one$rank] <<- waiting[one$rank] - 1L
      }
    }
    came <- Filter(function(one) !inherits(one$value, "pcgpu_gone") && identical(one$value$tag, key), came)
    came <- lapply(came, function(one) list(rank = one$rank, value = one$value$value))
    came <- c(lost, came)
    lost <<- list()
    came
  }
  # Calls all and waits for all: a value each, text where it failed.
  call_all <- function(name, arguments) {
    for (i in seq_len(count)) call_node(i, name, arguments(i))
    values <- vector("list", count)
    while (any(waiting > 0L)) {
      for (one in arrived(1)) values[[one$rank]] <- text_of(one$value) %||% one$value
    }
    for (one in arrived(0)) values[[one$rank]] <- one$value
    values
  }

  list(
    start = function(new_key) {
      key <<- new_key
      check_about(call_all("rank_about", function(i) list()))
    },
    open = function(key, setup, places) {
      hellos <- call_all("rank_open", function(i) list(key, setup, places[[i]]))
      for (i in which(!vapply(hellos, is.raw, NA))) {
        abort_cluster(sprintf("worker %d cannot begin: %s", i, hellos[[i]]), "mend it there, or leave this worker out")
      }
      hellos
    },
    send = function(rank, message) call_node(rank, "rank_answer", list(key, message)),
    receive = function(seconds) {
      # Whoever was lost while something was sent to it is told of now.
      came <- arrived(if (length(lost)) 0 else seconds)
      for (one in came) if (inherits(one$value, "pcgpu_rank_condition")) raise_rank_condition(one$value)
      came <- Filter(function(one) !is.null(one$value), came)
      list(
        ranks = vapply(came, function(one) as.integer(one$rank), 0L),
        messages = lapply(came, function(one) text_of(one$value) %||% one$value)
      )
    },
    close = function(key) {
      # Answers that are still to come would be taken for others' by whoever uses the cluster next.
      until <- Sys.time() + 10
      while (any(waiting > 0L) && Sys.time() < until) arrived(0.1)
      for (i in which(waiting == 0L)) call_node(i, "rank_close", list(key))
      until <- Sys.time() + 2
      while (any(waiting > 0L) && Sys.time() < until) arrived(0.1)
      late <- which(waiting > 0L & !gone)
      if (length(late)) {
        tell("cluster", sprintf(
          "%s of the cluster still works on what it was given: do not use the cluster before it is done, or start it again.",
          paste("worker", late, collapse = ", ")
        ), worker = late)
      }
    },
    end = function() NULL
  )
}

# The text of an error that a worker's call ended with.
text_of <- function(value) {
  if (inherits(value, "try-error")) {
    trimws(if (is.null(attr(value, "condition"))) value else conditionMessage(attr(value, "condition")))
  } else if (is.character(value)) {
    paste(value, collapse = " ")
  }
}

# A function that waits for answers of the nodes, no longer than some seconds where that can be had: list(list(rank, value), ...).
node_reader <- function(cluster) {
  receive <- node_function("recvData", cluster)
  from <- function(i) {
    list(rank = i, value = tryCatch(receive(cluster[[i]]), error = function(e) {
      structure(list(why = conditionMessage(e)), class = "pcgpu_gone")
    }))
  }
  if (all(vapply(cluster, inherits, NA, c("SOCKnode", "SOCK0node")))) {
    connections <- lapply(cluster, function(node) node$con)
    return(function(seconds, open) {
      open <- which(open)
      lapply(open[socketSelect(connections[open], FALSE, seconds)], from)
    })
  }
  if (inherits(cluster[[1L]], "MPInode")) {
    return(function(seconds, open) {
      until <- Sys.time() + seconds
      repeat {
        ready <- Filter(function(i) Rmpi::mpi.iprobe(cluster[[i]]$rank, 33L, cluster[[i]]$comm), which(open))
        if (length(ready) || Sys.time() >= until) {
          return(lapply(ready, from))
        }
        Sys.sleep(0.001)
      }
    })
  }
  receive_one <- node_function("recvOneData", cluster)
  function(seconds, open) {
    one <- receive_one(cluster)
    list(list(rank = one$node, value = one$value))
  }
}

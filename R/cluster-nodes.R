# Workers of a cluster object: those of parallel and snow (sockets, forks, MPI), and others with the same methods. Each
# message is a call of one of our functions, by its name, which the worker evaluates; the value is the answer.

# Calls our function of this name on a worker. A worker without this package therefore reports an error, and messages
# need not contain code. Ctrl-C in a terminal also reaches the workers of this machine. An interrupted worker reports
# that, because the driver would otherwise wait for its answer forever.
call_by_name <- function(name, ...) {
  tryCatch(get(name, envir = asNamespace("pcgpu"), mode = "function")(...), interrupt = function(e) {
    "it was interrupted"
  })
}
environment(call_by_name) <- baseenv()

# The last workers to answer at the start get at least this many seconds, or `slower` times as long as the others took.
first_words <- 30
slower <- 3
# At the end of a call, a worker that is still busy gets `grace` seconds, or twice as long as the slowest answer took.
# It gets `most_grace` seconds at most, and if the call ends early.
grace <- 5
most_grace <- 60

# The largest message to a worker, in bytes, that Ctrl-C does not interrupt.
most_whole <- 1e6

# Seconds that a connection may be silent in the middle of a message. A worker writes a whole message at once.
most_gap <- 60

# Returns a function that sends a call to a node without waiting for its value. Rmpi's own function collects R's garbage
# after each message, which takes longer than sending most messages.
node_sender <- function(cluster) {
  if (is_own_node(cluster[[1L]])) {
    return(function(i, name, arguments, tag) send_own(cluster[[i]], name, arguments, tag))
  }
  if (!inherits(cluster[[1L]], "MPInode")) {
    send <- node_function("sendCall", cluster)
    return(function(i, name, arguments, tag) send(cluster[[i]], call_by_name, c(name, arguments), tag = tag))
  }
  function(i, name, arguments, tag) {
    node <- cluster[[i]]
    data <- list(fun = call_by_name, args = c(name, arguments), return = TRUE, tag = tag)
    Rmpi::mpi.send(
      serialize(list(type = "EXEC", data = data, tag = NULL), NULL),
      4L,
      node$rank,
      node$SENDTAG,
      node$comm
    )
  }
}

# Returns an internal function of parallel, or of snow for MPI. parallel does not export the one that sends to a node
# without waiting.
node_function <- function(name, cluster) {
  home <- if (inherits(cluster[[1L]], "MPInode")) "snow" else "parallel"
  get(name, envir = asNamespace(home), mode = "function")
}

# Returns the functions that use the nodes of a cluster, list(start, open, send, receive, close, end, busy):
# - start(key) calls rank_about() on the nodes and returns the answers;
# - open(key, setup, places) sends the data and returns the first messages, by worker;
# - send(rank, raw) sends a message;
# - receive(seconds) returns list(ranks, messages), in which text says why a rank is gone;
# - close(finished) releases the workers for other uses;
# - end() ends them if they are ours.
# Ranks are the nodes that answered at the start. `own`: the workers end with the call, so that close() need not wait.
#
# Returns the workers of a cluster object. Each call has its own tag, and a node answers in order. An answer therefore
# settles all earlier calls to its node, also one whose answer never came. A message with an unknown tag answers another
# user of the cluster. Other users do not check tags, so a node that still owes an answer at the end is cut off.
node_workers <- function(cluster, own = FALSE) {
  now <- function() proc.time()[["elapsed"]]
  if (!length(cluster)) {
    abort_argument("cluster", cluster, "give a cluster with at least one worker.", is = "a cluster without workers")
  }
  count <- length(cluster)
  send <- node_sender(cluster)
  reading <- node_reader(cluster, function(i) {
    cut_off(i)
    lose(i, "only half of a message came from it")
  })
  silence <- worker_silence()
  owed <- owed_answers(count, now)
  lose <- owed$lose
  late <- owed$late
  there <- function() which(is.na(owed$why()))
  ranks <- integer()
  names <- worker_names(vapply(cluster, node_host, ""))
  key <- NULL
  hosts <- character(count)
  # Whether nothing arrived at the last look. Only then can a worker be late, because a look may take long if a node
  # sends half a message.
  is_quiet <- FALSE
  shared <- NULL

  failed <- function(text) paste("the connection to it failed:", trimws(text))
  call_node <- function(i, name, arguments) {
    if (!i %in% there()) {
      return()
    }
    tag <- new_tag()
    owed$call(i, tag)
    # A worker would take half a message for the beginning of the next. Sending a long message may block if a worker
    # does not read.
    is_sent <- FALSE
    on.exit(
      if (!is_sent && i %in% there()) {
        cut_off(i)
        lose(i, "only half of a message was sent to it")
      }
    )
    is_short <- utils::object.size(arguments) <= most_whole
    error <- tryCatch(
      {
        within_seconds(
          cluster[[i]],
          silence,
          if (is_short) suspendInterrupts(send(i, name, arguments, tag)) else send(i, name, arguments, tag)
        )
        NULL
      },
      error = conditionMessage
    )
    is_sent <- TRUE
    if (!is.null(error)) lose(i, failed(error))
  }
  # Returns the answers that have arrived, each as list(node, value).
  arrived <- function(seconds) {
    found <- list()
    news <- if (length(late())) reading(seconds, seq_len(count) %in% late())
    is_quiet <<- !length(news)
    for (one in news) {
      i <- one$rank
      if (inherits(one$value, "pcgpu_gone")) {
        # The rest of what is in the connection is not a message.
        cut_off(i)
        lose(i, failed(one$value$why))
        next
      }
      if (is.list(one$value) && owed$settle(i, one$value$tag)) {
        found[[length(found) + 1L]] <- list(node = i, value = one$value$value)
      }
    }
    found
  }
  # Closes the connections of nodes, so that the next user of the cluster gets an error instead of our answers. Returns
  # whether that is possible.
  cut_off <- function(nodes) {
    can <- all(vapply(cluster[nodes], function(node) is_socket_node(node) || is_own_node(node), NA))
    if (can) {
      for (node in cluster[nodes]) {
        if (is_own_node(node)) check_rust(rust_workers_cut(node$own_workers, node$number)) else retire(node$con)
      }
    }
    can
  }
  # Calls nodes and waits for their values. A value is text if the call failed on the node. A node that does not answer
  # in time is lost.
  call_all <- function(nodes, name, arguments) {
    for (i in nodes) {
      call_node(i, name, arguments(i))
    }
    values <- vector("list", count)
    began <- last <- now()
    while (length(late())) {
      for (one in arrived(0.2)) {
        values[one$node] <- list(text_of(one$value) %||% one$value)
        last <- now()
      }
      any_answered <- !all(vapply(values, is.null, NA))
      patience <- if (any_answered) min(job_patience(), max(first_words, slower * (last - began))) else job_patience()
      if (is_quiet && now() - began > patience) {
        for (i in late()) {
          closed <- cut_off(i)
          lose(
            i,
            sprintf(
              "it did not answer within %g s%s",
              round(patience, 1),
              if (closed) ", so its connection was closed" else ""
            )
          )
        }
      }
    }
    values
  }
  # Continues with the nodes that are left, and reports the lost ones.
  go_on <- function() {
    ranks <<- there()
    if (!length(ranks)) {
      abort_cluster(sprintf("no worker of the cluster is left (%s)", owed$why()[count]), "restart the cluster")
    }
    lost <- owed$take_lost()
    tell_lost(list(machine = names[lost], reason = owed$why()[lost]))
  }

  for (i in seq_len(count)) {
    if (!is_open(cluster[[i]])) lose(i, "its connection is closed")
  }
  if (!own) {
    no_delay_of(lapply(Filter(is_socket_node, cluster[there()]), function(node) node$con))
  }
  list(
    start = function(new_key) {
      key <<- new_key
      about <- call_all(there(), "rank_about", function(i) list())
      for (i in there()) {
        if (!is_about(about[[i]]) && !is_text(about[[i]])) lose(i, unreadable)
      }
      left <- there()
      names[left] <<- check_about(about[left], left)
      hosts[left] <<- vapply(about[left], function(one) one$host, "")
      go_on()
      stats::setNames(about[ranks], names[ranks])
    },
    open = function(key, setup, places) {
      open_all <- function(nodes, setup) {
        call_all(nodes, "rank_open", function(i) list(key, setup, places[[match(i, ranks)]]))
      }
      shared <<- setup_by_file(key, setup, hosts[ranks])
      hellos <- open_all(ranks[shared$whose], shared$setup)
      # Workers that cannot see the file get its contents in a message.
      blind <- Filter(function(i) i %in% there() && (is.null(hellos[[i]]) || isFALSE(hellos[[i]])), ranks)
      hellos[blind] <- open_all(blind, setup)[blind]
      for (i in there()) {
        if (is_text(hellos[[i]])) {
          abort_cluster(
            sprintf("%s cannot start (%s)", names[i], hellos[[i]]),
            "fix this on the worker, or leave the worker out"
          )
        }
        if (!is.raw(hellos[[i]])) lose(i, unreadable)
      }
      go_on()
      # Earlier answers included loading packages and reading the data.
      owed$forget_slowest()
      stats::setNames(hellos[ranks], names[ranks])
    },
    send = function(rank, message) call_node(ranks[rank], "rank_answer", list(key, message)),
    receive = function(seconds) {
      # Also returns the workers that were lost while a message was sent to them.
      came <- Filter(function(one) !is.null(one$value), arrived(if (owed$any_lost()) 0 else seconds))
      for (i in if (is_quiet) owed$overdue(silence)) {
        lose(i, paste0(silent_for(silence), if (cut_off(i)) ", so its connection was closed"))
      }
      came <- c(lapply(owed$take_lost(), function(i) list(node = i, value = owed$why()[i])), came)
      list(
        ranks = match(vapply(came, function(one) one$node, 0L), ranks),
        messages = lapply(came, function(one) text_of(one$value) %||% one$value)
      )
    },
    close = function(finished) {
      on.exit(if (!is.null(shared)) shared$end())
      if (own || is.null(key)) {
        return()
      }
      for (i in there()) {
        call_node(i, "rank_close", list(key))
      }
      began <- now()
      patience <- if (finished) min(most_grace, max(grace, 2 * owed$slowest())) else most_grace
      reported <- pressed <- FALSE
      tryCatch(
        while (length(late()) && now() - began < patience) {
          arrived(0.1)
          if (!reported && now() - began > 2 && length(late())) {
            reported <- TRUE
            tell(
              "cluster",
              sprintf(
                "Waiting up to %g s for workers to finish their last piece: %s. Press Ctrl-C to stop waiting.",
                ceiling(patience),
                toString(names[late()])
              ),
              worker = late()
            )
          }
        },
        interrupt = function(e) pressed <<- TRUE
      )
      if (length(slow <- late())) {
        tell(
          "cluster",
          sprintf(
            "Workers that are still busy: %s. %s",
            toString(names[slow]),
            if (cut_off(slow)) {
              "Their connections were closed, so that no other call receives their late answers. Restart these workers."
            } else {
              "Do not use the cluster until they are done, or restart it."
            }
          ),
          worker = slow
        )
      }
      if (pressed && finished) interrupt()
    },
    end = function() NULL,
    # The workers that still owe an answer.
    busy = late
  )
}

# Keeps the answers that workers owe, and why workers are gone. `now()`: the time in seconds. Returns
# - call(i, tag), which notes a call of worker i, and settle(i, tag), which notes its answer and returns whether it was
#   owed. An answer settles all earlier calls;
# - lose(i, reason), which notes that worker i is gone, with the first reason, and why(), the reasons, NA for workers
#   that are there;
# - any_lost(), whether a worker was lost since the last take_lost(), and take_lost(), these workers;
# - late(), the workers that owe an answer, and overdue(seconds), those that have been silent for longer than this since
#   they were called or last answered;
# - slowest(), the longest time that an answer took since forget_slowest().
owed_answers <- function(count, now) {
  owed <- vector("list", count)
  since <- numeric(count)
  slowest <- 0
  why <- rep(NA_character_, count)
  lost <- integer()
  late <- function() which(lengths(owed) > 0L)
  list(
    call = function(i, tag) {
      if (!length(owed[[i]])) {
        since[i] <<- now()
      }
      owed[[i]] <<- c(owed[[i]], tag)
    },
    settle = function(i, tag) {
      at <- if (is.character(tag)) match(tag[1L], owed[[i]]) else NA
      if (is.na(at)) {
        return(FALSE)
      }
      slowest <<- max(slowest, now() - since[i])
      since[i] <<- now()
      owed[i] <<- list(owed[[i]][-seq_len(at)])
      TRUE
    },
    lose = function(i, reason) {
      if (is.na(why[i])) {
        why[i] <<- reason
        owed[i] <<- list(NULL)
        lost <<- c(lost, i)
      }
    },
    why = function() why,
    any_lost = function() length(lost) > 0L,
    take_lost = function() {
      taken <- lost
      lost <<- integer()
      taken
    },
    late = late,
    overdue = function(seconds) Filter(function(i) now() - since[i] > seconds, late()),
    slowest = function() slowest,
    forget_slowest = function() slowest <<- 0
  )
}

# Makes sockets send small messages at once. Otherwise the system may hold them back until earlier ones are confirmed
# (Nagle 1984), which takes 40 ms. For a cluster that somebody else made, the ports of its connections identify the
# sockets. Other sockets with the same port are not harmed.
no_delay_of <- function(connections) {
  said <- vapply(connections, function(con) tryCatch(summary(con)$description, error = function(e) ""), "")
  ports <- suppressWarnings(as.integer(sub(".*:", "", said)))
  ports <- unique(ports[!is.na(ports)])
  if (length(ports)) {
    rust_no_delay(ports)
  }
  invisible()
}

# Does this for all socket connections of this session.
no_delay_of_all <- function() {
  # showConnections() would collect garbage first.
  numbers <- getAllConnections()
  open <- lapply(numbers[numbers > 2L], getConnection)
  no_delay_of(Filter(function(con) inherits(con, "sockconn"), open))
}

# Returns a tag that no other call of this session has.
new_tag <- function() {
  session$calls <- (session$calls %||% 0) + 1
  sprintf("pcgpu %.0f", session$calls)
}

is_socket_node <- function(node) inherits(node, c("SOCKnode", "SOCK0node"))

# Returns the host of a node, as the user wrote it.
node_host <- function(node) {
  host <- if (is.list(node) || is.environment(node)) node$host
  if (is.character(host) && length(host) == 1L) host else "?"
}

# Returns whether the connection of a node is open, and its number has not been reused.
is_open <- function(node) {
  if (!is_socket_node(node)) {
    return(TRUE)
  }
  found <- tryCatch(getConnection(as.integer(node$con)), error = function(e) NULL)
  !is.null(found) && identical(attr(found, "conn_id"), attr(node$con, "conn_id"))
}

# Closes a connection and blocks its number. R identifies connections by number and reuses the lowest free one, so a
# cluster that still has the closed connection would write to the next one opened.
retire <- function(con) {
  number <- as.integer(con)
  close(con)
  others <- list()
  repeat {
    one <- rawConnection(raw())
    if (as.integer(one) >= number) {
      break
    }
    others <- c(others, list(one))
  }
  for (other in others) {
    close(other)
  }
  session$retired <- c(session$retired, list(one))
}

# Returns the text of the error with which a worker's call ended.
text_of <- function(value) {
  if (inherits(value, "try-error")) {
    trimws(if (is.null(attr(value, "condition"))) value else conditionMessage(attr(value, "condition")))
  } else if (is.character(value)) {
    paste(value, collapse = " ")
  }
}

# Represents the answer of a node whose connection has failed.
gone_for <- function(why) structure(list(why = why), class = "pcgpu_gone")

# Runs code that reads from a node or writes to it, with an error if the connection is silent for this many seconds in
# the middle.
within_seconds <- function(node, seconds, code) {
  if (is_socket_node(node)) {
    before <- socketTimeout(node$con)
    socketTimeout(node$con, as.integer(min(before, max(1, ceiling(seconds)))))
    on.exit(if (is_open(node)) socketTimeout(node$con, before))
  }
  code
}

# Returns a function that waits for answers of the nodes, for a limited time if the cluster supports that:
# list(list(rank, value), ...). half(i) is called if Ctrl-C leaves half a message of node i unread, because its rest
# would be taken for the next message.
node_reader <- function(cluster, half) {
  if (is_own_node(cluster[[1L]])) {
    return(function(seconds, open) read_own(cluster, seconds, open))
  }
  receive <- node_function("recvData", cluster)
  gap <- min(worker_silence(), most_gap)
  from <- function(i) {
    is_whole <- FALSE
    on.exit(if (!is_whole) half(i))
    value <- tryCatch(within_seconds(cluster[[i]], gap, receive(cluster[[i]])), error = function(e) {
      gone_for(conditionMessage(e))
    })
    is_whole <- TRUE
    list(rank = i, value = value)
  }
  if (all(vapply(cluster, is_socket_node, NA))) {
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

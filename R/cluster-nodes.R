# Workers of a cluster object: parallel's and snow's (sockets, forks, MPI), and whatever has their methods. Each message is a call that the worker
# evaluates, of a function of ours by name with bytes; its value is the answer.

# What workers are sent as the function: it finds ours by its name there, so that a worker without this package says so, and code does not
# travel with each message. Ctrl-C in a terminal reaches the workers of this machine, too: one that is interrupted says so, as whoever waits for its answer
# would wait for ever.
call_by_name <- function(name, ...) {
  tryCatch(get(name, envir = asNamespace("pcgpu"), mode = "function")(...), interrupt = function(e) "it was interrupted")
}
environment(call_by_name) <- baseenv()

# Seconds. A worker that is the last to say its first words gets at least so long, or `slower` times as long as the others took.
first_words <- 30
slower <- 3
# One that has been overtaken gets so long at the end of a call, or twice as long as any answer took; and so long at the most, or where a call ends early.
grace <- 5
most_grace <- 60

# Bytes of a message to a worker that Ctrl-C waits for.
most_whole <- 1e6

# Seconds that a connection may say nothing in the middle of a message: what has begun to come was written at once.
most_gap <- 60

# A function that sends a node a call without waiting for its value. Rmpi's own collects R's garbage after each message, which takes longer than most pieces'
# way.
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
    Rmpi::mpi.send(serialize(list(type = "EXEC", data = data, tag = NULL), NULL), 4L, node$rank, node$SENDTAG, node$comm)
  }
}

# parallel does not export what sends to one node without waiting; snow has its own for MPI.
node_function <- function(name, cluster) {
  home <- if (inherits(cluster[[1L]], "MPInode")) "snow" else "parallel"
  get(name, envir = asNamespace(home), mode = "function")
}

# list(start, open, send, receive, close, end, busy): start(key) asks who they are; open(key, setup, places) hands the data over and returns their
# first words, by their names; send(rank, raw); receive(seconds) returns list(ranks, messages), where text says why a rank is gone; close(finished) leaves
# the workers to others; end() ends them where they are ours. Ranks are those nodes that were there in the beginning. `own`: they end with the call, so that nobody waits.
#
# Each call has a tag of its own, and a node answers in order: an answer settles all calls before it, also one whose answer never came, and what has another
# tag is an answer to somebody else. Nobody but us reads tags, though, so that a node that still owes an answer in the end is cut off.
node_workers <- function(cluster, own = FALSE) {
  if (!length(cluster)) abort_argument("cluster", cluster, "give a cluster with at least one worker.", is = "a cluster without workers")
  count <- length(cluster)
  send <- node_sender(cluster)
  reading <- node_reader(cluster, function(i) {
    cut_off(i)
    lose(i, "only half of a message came from it")
  })
  owed <- vector("list", count)
  since <- numeric(count)
  slowest <- 0
  silence <- worker_silence()
  why <- rep(NA_character_, count)
  untold <- ranks <- integer()
  names <- worker_names(vapply(cluster, node_host, ""))
  key <- NULL
  hosts <- character(count)
  # Whether nobody had anything to say at the last look. Only then is anyone late: a look may take long where one node sends half a message.
  is_quiet <- FALSE
  shared <- NULL

  now <- function() proc.time()[["elapsed"]]
  gone <- function() !is.na(why)
  late <- function() which(lengths(owed) > 0L & !gone())
  lose <- function(i, reason) {
    if (is.na(why[i])) {
      why[i] <<- reason
      owed[i] <<- list(NULL)
      untold <<- c(untold, i)
    }
  }
  failed <- function(text) paste("the connection to it failed:", trimws(text))
  call_node <- function(i, name, arguments) {
    if (!is.na(why[i])) {
      return()
    }
    tag <- new_tag()
    if (!length(owed[[i]])) since[i] <<- now()
    owed[[i]] <<- c(owed[[i]], tag)
    # Half a message would be taken for the beginning of the next. One that is long may wait for a worker that does not read.
    is_sent <- FALSE
    on.exit(if (!is_sent && is.na(why[i])) {
      cut_off(i)
      lose(i, "only half of a message was sent to it")
    })
    is_short <- utils::object.size(arguments) <= most_whole
    error <- tryCatch({
      within_seconds(cluster[[i]], silence, if (is_short) suspendInterrupts(send(i, name, arguments, tag)) else send(i, name, arguments, tag))
      NULL
    }, error = conditionMessage)
    is_sent <- TRUE
    if (!is.null(error)) lose(i, failed(error))
  }
  # What has come, as list(node, value).
  arrived <- function(seconds) {
    found <- list()
    news <- if (length(late())) reading(seconds, lengths(owed) > 0L & !gone())
    is_quiet <<- !length(news)
    for (one in news) {
      i <- one$rank
      if (inherits(one$value, "pcgpu_gone")) {
        # Whatever is left in it is no message.
        cut_off(i)
        lose(i, failed(one$value$why))
        next
      }
      tag <- if (is.list(one$value)) one$value$tag
      at <- if (is.character(tag)) match(tag[1L], owed[[i]]) else NA
      if (!is.na(at)) {
        slowest <<- max(slowest, now() - since[i])
        since[i] <<- now()
        owed[i] <<- list(owed[[i]][-seq_len(at)])
        found[[length(found) + 1L]] <- list(node = i, value = one$value$value)
      }
    }
    found
  }
  # Closes the connections of nodes: who uses the cluster next gets an error instead of answers to us. Whether that can be done.
  cut_off <- function(nodes) {
    can <- all(vapply(cluster[nodes], function(node) is_socket_node(node) || is_own_node(node), NA))
    if (can) for (node in cluster[nodes]) if (is_own_node(node)) check_rust(rust_workers_cut(node$own_workers, node$number)) else retire(node$con)
    can
  }
  # Calls nodes and waits for them: a value each, text where it failed there; one that does not answer in time is lost.
  call_all <- function(nodes, name, arguments) {
    for (i in nodes) call_node(i, name, arguments(i))
    values <- vector("list", count)
    began <- last <- now()
    while (length(late())) {
      for (one in arrived(0.2)) {
        values[one$node] <- list(text_of(one$value) %||% one$value)
        last <- now()
      }
      answered <- !vapply(values, is.null, NA)
      patience <- if (any(answered)) min(job_patience(), max(first_words, slower * (last - began))) else job_patience()
      if (is_quiet && now() - began > patience) {
        for (i in late()) {
          closed <- cut_off(i)
          lose(i, sprintf("it did not answer within %g s%s", round(patience, 1), if (closed) ", so its connection was closed" else ""))
        }
      }
    }
    values
  }
  # Goes on with those that are there, and says who is not.
  go_on <- function() {
    ranks <<- which(!gone())
    if (!length(ranks)) {
      abort_cluster(sprintf("no worker of the cluster is left (%s)", why[count]), "restart the cluster")
    }
    tell_lost(list(machine = names[untold], reason = why[untold]))
    untold <<- integer()
  }

  for (i in seq_len(count)) if (!is_open(cluster[[i]])) lose(i, "its connection is closed")
  if (!own) no_delay_of(lapply(Filter(is_socket_node, cluster[which(!gone())]), function(node) node$con))
  list(
    start = function(new_key) {
      key <<- new_key
      about <- call_all(which(!gone()), "rank_about", function(i) list())
      for (i in which(!gone())) if (!is_about(about[[i]]) && !is_text(about[[i]])) lose(i, unreadable)
      there <- which(!gone())
      names[there] <<- check_about(about[there], there)
      hosts[there] <<- vapply(about[there], function(one) one$host, "")
      go_on()
      stats::setNames(about[ranks], names[ranks])
    },
    open = function(key, setup, places) {
      open_all <- function(nodes, setup) call_all(nodes, "rank_open", function(i) list(key, setup, places[[match(i, ranks)]]))
      shared <<- setup_by_file(key, setup, hosts[ranks])
      hellos <- open_all(ranks[shared$whose], shared$setup)
      # Who sees no file is sent what it would have read.
      blind <- Filter(function(i) !gone()[i] && (is.null(hellos[[i]]) || isFALSE(hellos[[i]])), ranks)
      hellos[blind] <- open_all(blind, setup)[blind]
      for (i in which(!gone())) {
        if (is_text(hellos[[i]])) abort_cluster(sprintf("%s cannot start (%s)", names[i], hellos[[i]]), "fix this on the worker, or leave the worker out")
        if (!is.raw(hellos[[i]])) lose(i, unreadable)
      }
      go_on()
      # What came before loaded packages and read the data.
      slowest <<- 0
      stats::setNames(hellos[ranks], names[ranks])
    },
    send = function(rank, message) call_node(ranks[rank], "rank_answer", list(key, message)),
    receive = function(seconds) {
      # Whoever was lost while something was sent to it is told of now.
      came <- Filter(function(one) !is.null(one$value), arrived(if (length(untold)) 0 else seconds))
      for (i in if (is_quiet) late()) {
        if (now() - since[i] > silence) lose(i, paste0(silent_for(silence), if (cut_off(i)) ", so its connection was closed"))
      }
      came <- c(lapply(untold, function(i) list(node = i, value = why[i])), came)
      untold <<- integer()
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
      for (i in which(!gone())) call_node(i, "rank_close", list(key))
      began <- now()
      patience <- if (finished) min(most_grace, max(grace, 2 * slowest)) else most_grace
      told <- pressed <- FALSE
      tryCatch(
        while (length(late()) && now() - began < patience) {
          arrived(0.1)
          if (!told && now() - began > 2 && length(late())) {
            told <- TRUE
            tell("cluster", sprintf(
              "Waiting up to %g s for workers to finish their last piece: %s. Press Ctrl-C to stop waiting.", ceiling(patience), toString(names[late()])
            ), worker = late())
          }
        },
        interrupt = function(e) pressed <<- TRUE
      )
      if (length(slow <- late())) {
        tell("cluster", sprintf(
          "Workers that are still busy: %s. %s", toString(names[slow]),
          if (cut_off(slow)) {
            "Their connections were closed, so that no other call receives their late answers. Restart these workers."
          } else {
            "Do not use the cluster until they are done, or restart it."
          }
        ), worker = slow)
      }
      if (pressed && finished) interrupt()
    },
    end = function() NULL,
    # Those that are at work.
    busy = late
  )
}

# Small messages of sockets are not to wait until others are confirmed, which takes 40 ms: so the system may hold them back (Nagle 1984). Who makes a cluster
# can say so; of others the connections' ports tell which sockets they are. A socket of the same port that is none of them takes no harm.
no_delay_of <- function(connections) {
  said <- vapply(connections, function(con) tryCatch(summary(con)$description, error = function(e) ""), "")
  ports <- suppressWarnings(as.integer(sub(".*:", "", said)))
  ports <- unique(ports[!is.na(ports)])
  if (length(ports)) rust_no_delay(ports)
  invisible()
}

# The same for all socket connections of this session.
no_delay_of_all <- function() {
  # showConnections() would collect garbage first.
  numbers <- getAllConnections()
  open <- lapply(numbers[numbers > 2L], getConnection)
  no_delay_of(Filter(function(con) inherits(con, "sockconn"), open))
}

# No call of this session has the same.
new_tag <- function() {
  session$calls <- (session$calls %||% 0) + 1
  sprintf("pcgpu %.0f", session$calls)
}

is_socket_node <- function(node) inherits(node, c("SOCKnode", "SOCK0node"))

# Where a node was started, as whoever did wrote it.
node_host <- function(node) {
  host <- if (is.list(node) || is.environment(node)) node$host
  if (is.character(host) && length(host) == 1L) host else "?"
}

# Whether its connection is there, and not another that has its number now.
is_open <- function(node) {
  if (!is_socket_node(node)) {
    return(TRUE)
  }
  found <- tryCatch(getConnection(as.integer(node$con)), error = function(e) NULL)
  !is.null(found) && identical(attr(found, "conn_id"), attr(node$con, "conn_id"))
}

# Closes a connection. R knows connections by their numbers, and gives the lowest that is free: this one's is kept, or whoever has it in a cluster would
# write to what is opened next.
retire <- function(con) {
  number <- as.integer(con)
  close(con)
  others <- list()
  repeat {
    one <- rawConnection(raw())
    if (as.integer(one) >= number) break
    others <- c(others, list(one))
  }
  for (other in others) close(other)
  session$retired <- c(session$retired, list(one))
}

# The text of an error that a worker's call ended with.
text_of <- function(value) {
  if (inherits(value, "try-error")) {
    trimws(if (is.null(attr(value, "condition"))) value else conditionMessage(attr(value, "condition")))
  } else if (is.character(value)) {
    paste(value, collapse = " ")
  }
}

# What stands for the answer of a node whose connection has failed.
gone_for <- function(why) structure(list(why = why), class = "pcgpu_gone")

# Runs code that reads from a node, or writes to it: an error where its connection is still for so long in the middle.
within_seconds <- function(node, seconds, code) {
  if (is_socket_node(node)) {
    before <- socketTimeout(node$con)
    socketTimeout(node$con, as.integer(min(before, max(1, ceiling(seconds)))))
    on.exit(if (is_open(node)) socketTimeout(node$con, before))
  }
  code
}

# A function that waits for answers of the nodes, no longer than some seconds where that can be had: list(list(rank, value), ...). half(i): called where
# Ctrl-C leaves half a message of node i unread, whose rest would be taken for the next.
node_reader <- function(cluster, half) {
  if (is_own_node(cluster[[1L]])) {
    return(function(seconds, open) read_own(cluster, seconds, open))
  }
  receive <- node_function("recvData", cluster)
  gap <- min(worker_silence(), most_gap)
  from <- function(i) {
    is_whole <- FALSE
    on.exit(if (!is_whole) half(i))
    value <- tryCatch(within_seconds(cluster[[i]], gap, receive(cluster[[i]])), error = function(e) gone_for(conditionMessage(e)))
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

# Workers that are jobs of a batch system (batchtools), of the plan of the package future, or of mirai. Each is started
# once for a search. Driver and jobs communicate through files in a shared folder that no other user can read; no port
# is opened. A message is written under another name and then renamed, so that nobody reads half of it. A job runs
# `rank_serve()`.

# Returns the seconds that a driver waits for its jobs to start, and a job for a sign of its driver.
job_patience <- function() {
  check_number(
    getOption("pcgpu.cluster_wait", 600),
    "options(pcgpu.cluster_wait = )",
    "set it to a positive number of seconds.",
    above = 0
  )
}

# Creates the folder that driver and jobs share.
job_folder <- function(key, within = getOption("pcgpu.cluster_folder", getwd())) {
  hint <- "set it to an existing folder in which you can write and which the jobs can see."
  if (!is.character(within) || length(within) != 1L || is.na(within) || !dir.exists(within)) {
    abort_argument("options(pcgpu.cluster_folder = )", within, hint)
  }
  within <- normalizePath(within)
  remove_left(within)
  folder <- file.path(within, paste0("pcgpu-", key))
  if (!dir.create(folder, showWarnings = FALSE, mode = "0700")) {
    abort_cluster(
      sprintf("the folder %s cannot be created", folder),
      sub("it", "options(pcgpu.cluster_folder = )", sub("[.]$", "", hint), fixed = TRUE)
    )
  }
  # The file is locked before it gets its name, so that nobody finds it without its lock. Without support for locks on
  # the disk, there is no file.
  note <- file.path(folder, "driver")
  private(writeLines(this_host(), paste0(note, ".part")))
  session$locks[[folder]] <- check_rust(rust_lock(paste0(note, ".part")))
  if (!is.null(session$locks[[folder]])) {
    file.rename(paste0(note, ".part"), note)
  }
  folder
}

remove_folder <- function(folder) {
  unlink(folder, recursive = TRUE)
  session$locks[[folder]] <- NULL
}

this_host <- function() Sys.info()[["nodename"]]

# Removes the folders of killed drivers of this user: those made on this host whose lock nobody holds. A lock ends with
# its process.
remove_left <- function(within) {
  user <- Sys.info()[["effective_user"]]
  for (folder in list.files(within, "^pcgpu-.*-", full.names = TRUE)) {
    note <- file.path(folder, "driver")
    is_ours <- !nzchar(Sys.readlink(folder)) &&
      identical(file.info(folder)$uname, user) &&
      identical(file.info(note)$uname, user)
    if (is_ours && identical(tryCatch(readLines(note, 1L, warn = FALSE), error = function(e) NULL), this_host())) {
      # The lock is held until the folder is removed.
      lock <- check_rust(rust_lock(note))
      if (!is.null(lock)) unlink(folder, recursive = TRUE)
    }
  }
}

# Runs code whose files only this user may read.
private <- function(code) {
  before <- Sys.umask("077")
  on.exit(Sys.umask(before))
  code
}

# Seconds between checks that jobs still run, each a query to the batch system.
job_look <- 2

# Returns list(start, open, ...) in the form of node_workers(). launch(folder) starts jobs 1 to `count`, and returns a
# function that says whether given jobs still run. why(folder, jobs) returns what is known about why jobs ended. end()
# removes the jobs.
job_workers <- function(count, launch, end = function() NULL, why = function(folder, jobs) "") {
  folder <- NULL
  still_there <- function(jobs) logical(length(jobs))
  reported <- 0
  names <- character()
  ranks <- integer()
  mail <- NULL

  place <- function(rank, name) file.path(folder, ranks[rank], name)
  # Jobs end by themselves without a sign of the driver.
  say_alive <- function() {
    now <- as.double(Sys.time())
    if (now - reported > 5) {
      reported <<- now
      put(now, file.path(folder, "alive"))
      return(TRUE)
    }
    FALSE
  }
  wait_for <- function(files, jobs, what, partial = FALSE) {
    until <- Sys.time() + job_patience()
    look <- Sys.time() + job_look
    up <- TRUE
    repeat {
      there <- file.exists(files)
      if (all(there)) {
        return(there)
      }
      say_alive()
      if (Sys.time() > look) {
        up <- still_there(jobs)
        look <- Sys.time() + job_look
      }
      # Stops waiting if no further job can come, or if all jobs are required and one has ended.
      if (Sys.time() > until || all(there | !up) || !partial && any(!there & !up)) {
        if (partial && any(there)) {
          return(there)
        }
        if (Sys.time() <= until) {
          said <- why(folder, jobs[!there & !up])
          abort_cluster(
            sprintf(
              "%d of %d jobs ended before they had %s%s",
              sum(!there & !up),
              length(files),
              what,
              if (nzchar(said)) paste0(" (", said, ")") else ""
            ),
            "find out why they ended; pcgpu must be installed in the jobs' library"
          )
        }
        abort_cluster(
          sprintf("%d of %d jobs have not %s within %g s", sum(!there), length(files), what, job_patience()),
          paste(
            "check the batch system and whether the jobs see the folder",
            folder,
            "(option pcgpu.cluster_folder), or wait longer (option pcgpu.cluster_wait)"
          )
        )
      }
      Sys.sleep(0.05)
    }
  }

  # Continues with the ranks that are `sound`, and reports the others as lost. Returns `sound`.
  keep <- function(sound) {
    if (!any(sound)) {
      abort_cluster(sprintf("no worker of the cluster is left (%s)", unreadable), "start the jobs again")
    }
    tell_lost(list(machine = names[!sound], reason = rep(unreadable, sum(!sound))))
    ranks <<- ranks[sound]
    names <<- names[sound]
    sound
  }

  list(
    start = function(key) {
      job_patience()
      folder <<- job_folder(key)
      say_alive()
      for (i in seq_len(count)) {
        dir.create(file.path(folder, i), mode = "0700")
      }
      still_there <<- launch(folder)
      there <- wait_for(file.path(folder, seq_len(count), "about"), seq_len(count), "begun", partial = TRUE)
      if (!all(there)) {
        tell(
          "cluster",
          sprintf("%d of %d jobs have begun. pcgpu does not wait for the others.", sum(there), count),
          worker = which(!there)
        )
      }
      ranks <<- which(there)
      about <- lapply(file.path(folder, ranks, "about"), read_answer)
      names <<- worker_names(rep("?", length(ranks)), ranks)
      about <- about[keep(vapply(about, function(one) is_about(one) || is_text(one), NA))]
      names <<- check_about(about, ranks)
      stats::setNames(about, names)
    },
    open = function(key, setup, places) {
      # All jobs read the data from one file.
      put(
        list(key = key, setup = with_files(setup, folder), places = stats::setNames(places, ranks)),
        file.path(folder, "setup")
      )
      wait_for(place(seq_along(ranks), "hello"), ranks, "read the data")
      hellos <- lapply(place(seq_along(ranks), "hello"), read_answer)
      for (i in which(vapply(hellos, is_text, NA))) {
        abort_cluster(
          sprintf("%s cannot start (%s)", names[i], hellos[[i]]),
          "fix this on the worker, or leave the worker out"
        )
      }
      hellos <- hellos[keep(vapply(hellos, is.raw, NA))]
      mail <<- job_mail(length(ranks), place, worker_silence())
      stats::setNames(hellos, names)
    },
    send = function(rank, message) mail$send(rank, message),
    receive = function(seconds) {
      until <- Sys.time() + seconds
      repeat {
        found <- mail$take()
        if (say_alive()) {
          found <- c(found, mail$lost(function(rank) still_there(ranks[rank])))
        }
        if (length(found) || Sys.time() >= until) {
          break
        }
        Sys.sleep(0.002)
      }
      list(ranks = vapply(found, function(one) one$rank, 0L), messages = lapply(found, function(one) one$value))
    },
    close = function(finished) NULL,
    end = function() {
      if (is.null(folder) || !dir.exists(folder)) {
        return()
      }
      on.exit(remove_folder(folder))
      # An empty file fits even on a full disk. Jobs that see it end. The others end when the folder is removed.
      if (suppressWarnings(file.create(file.path(folder, "stop")))) {
        until <- Sys.time() + 10
        while (any(still_there(seq_len(count))) && Sys.time() < until) {
          Sys.sleep(0.1)
        }
      }
      end()
    }
  )
}

# Returns the messages between a driver and its jobs, whose numbers it keeps: list(send, take, lost). `place(rank,
# name)`: the path of a job's file. `silence`: the seconds after which a job that owes an answer is lost. `now()`: the
# time.
# - send(rank, message) writes the next message to a job;
# - take() returns the answers that have come, each as list(rank, value), in which text says why a job is gone;
# - lost(still_there) returns the same for jobs that are silent, or of which still_there(ranks) says that they ended.
job_mail <- function(count, place, silence, now = Sys.time) {
  sent <- read <- integer(count)
  # When each job was last sent a message, or answered.
  heard <- rep(now(), count)
  gone <- logical(count)
  has_come <- function(rank) file.exists(place(rank, paste0("from-", read[rank] + 1L)))
  # A job that waits owes no answer, unless its last message is still unread.
  owes <- function(rank) !file.exists(place(rank, "waiting")) || file.exists(place(rank, paste0("to-", sent[rank])))
  list(
    send = function(rank, message) {
      sent[rank] <<- sent[rank] + 1L
      heard[rank] <<- now()
      put(message, place(rank, paste0("to-", sent[rank])))
    },
    take = function() {
      lapply(Filter(has_come, which(!gone)), function(rank) {
        read[rank] <<- read[rank] + 1L
        heard[rank] <<- now()
        file <- place(rank, paste0("from-", read[rank]))
        value <- read_answer(file)
        unlink(file)
        if (is.character(value)) {
          gone[rank] <<- TRUE
        }
        list(rank = rank, value = value)
      })
    },
    lost = function(still_there) {
      silent <- Filter(owes, which(!gone & difftime(now(), heard, units = "secs") > silence))
      gone[silent] <<- TRUE
      open <- which(!gone)
      ended <- Filter(Negate(has_come), open[!still_there(open)])
      gone[ended] <<- TRUE
      c(
        lapply(silent, function(rank) list(rank = rank, value = silent_for(silence))),
        lapply(ended, function(rank) list(rank = rank, value = "its job has ended"))
      )
    }
  )
}

# Reads the answer of a job. Returns text if it cannot be read.
read_answer <- function(file) tryCatch(readRDS(file), error = function(e) paste0(unreadable, ": ", conditionMessage(e)))

# Writes an object to a file that others see complete or not at all.
put <- function(object, file) {
  beside <- paste0(file, ".part")
  failed <- function(why) {
    unlink(beside)
    abort_cluster(
      sprintf("%s cannot be written (%s)", file, why),
      "check free space and permissions, or set another folder with options(pcgpu.cluster_folder = )"
    )
  }
  # A full disk may only cause a warning, when the file is closed.
  tryCatch(
    private(saveRDS(object, beside, compress = FALSE)),
    error = function(e) failed(conditionMessage(e)),
    warning = function(w) failed(conditionMessage(w))
  )
  if (!suppressWarnings(file.rename(beside, file))) failed("it cannot be renamed")
}

# Runs in job `i`: answers messages until its driver has ended.
rank_serve <- function(folder, i) {
  own <- function(name) file.path(folder, i, name)
  heard <- list(at = NA, since = Sys.time())
  # Waits for a file. Returns FALSE if the driver has ended or is silent.
  wait_for <- function(file) {
    pause <- 0.001
    says_so <- FALSE
    on.exit(if (says_so) unlink(own("waiting")))
    repeat {
      if (file.exists(file)) {
        return(TRUE)
      }
      if (!says_so && pause >= 0.05) {
        says_so <- file.create(own("waiting"))
      }
      if (file.exists(file.path(folder, "stop")) || !dir.exists(folder)) {
        return(FALSE)
      }
      at <- file.mtime(file.path(folder, "alive"))
      if (!identical(at, heard$at)) {
        heard <<- list(at = at, since = Sys.time())
      }
      if (difftime(Sys.time(), heard$since, units = "secs") > job_patience()) {
        return(FALSE)
      }
      Sys.sleep(pause)
      pause <- min(2 * pause, 0.05)
    }
  }
  # The driver may have ended before the job has begun.
  if (!dir.exists(own("."))) {
    return(invisible())
  }
  put(rank_about(), own("about"))
  if (!wait_for(file.path(folder, "setup"))) {
    return(invisible())
  }
  begun <- readRDS(file.path(folder, "setup"))
  place <- begun$places[[as.character(i)]]
  if (is.null(place)) {
    return(invisible())
  }
  begin <- function() {
    check_files(begun$setup)
    rank_open(begun$key, begun$setup, place)
  }
  put(tryCatch(begin(), error = conditionMessage), own("hello"))
  read <- written <- 0L
  while (wait_for(own(paste0("to-", read + 1L)))) {
    read <- read + 1L
    file <- own(paste0("to-", read))
    answer <- tryCatch(rank_answer(begun$key, readRDS(file)), error = conditionMessage)
    unlink(file)
    if (!is.null(answer)) {
      written <- written + 1L
      put(answer, own(paste0("from-", written)))
    }
  }
  rank_close(begun$key)
}

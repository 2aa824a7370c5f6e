# Code that the workers of a cluster run. A worker has the data, and answers the driver's messages, which Rust reads.

# Returns a worker's description of itself.
rank_about <- function() {
  no_delay_of_all()
  list(version = as.character(utils::packageVersion("pcgpu")), host = Sys.info()[["nodename"]], cores = rust_cores())
}

# Begins a task. Returns the worker's first message, raw, or FALSE if it cannot read the file of the data. `place`: its
# number among the workers on its host, and how many these are.
rank_open <- function(key, setup, place) {
  leave_world()
  # FALSE asks for the data in a message.
  if (inherits(setup, "pcgpu_setup_file") && is.null(setup <- read_setup(setup))) {
    return(FALSE)
  }
  opened <- switch(
    setup$what,
    search = search_rank(setup, place),
    features = features_rank(setup, place),
    # These workers answer in R.
    selection = list(rank = selection_rank(setup, place), hello = raw()),
    markov = list(rank = markov_rank(setup, place), hello = raw()),
    stability = list(rank = stability_rank(setup, place), hello = raw())
  )
  # A worker has one task at a time: this removes the previous one.
  session$ranks <- stats::setNames(list(opened$rank), key)
  opened$hello
}

# Begins a search: list(rank, `hello`).
search_rank <- function(setup, place) {
  test <- setup$test
  if (test$kind == "function") {
    session$leave <- enter_world(setup$world)
    test$fun <- with_own_stream(test$fun, setup$seed)
  }
  device <- check_device(setup$device)
  device <- choose_device(device, test, setup$p, setup$method, test$kind != "gauss" && gpu_pays(test, setup$p))
  opened <- NULL
  on_device(rank_gpu(device, setup$device, place), rank_threads(setup, place), function(engine) {
    opened <<- rust_rank_open(test, setup$p, setup$alpha, setup$method, engine)
  })
  check_rust(opened)
}

# Begins a selection of features: list(rank, `hello`).
features_rank <- function(setup, place) {
  device <- rank_gpu(choose_selection_device(check_device(setup$device), setup$counts), setup$device, place)
  check_rust(rust_rank_of_features(isTRUE(device$automatic), engine_list(device, rank_threads(setup, place))))
}

# Returns the number of threads that the user gave, or a share of the host's cores.
rank_threads <- function(setup, place) {
  threads <- setup$threads %||% max(1L, rust_cores() %/% place[["of"]])
  structure(as.integer(threads), named = TRUE)
}

# Chooses the GPU of a worker: workers take the GPUs of their host in turn, unless the user named one.
rank_gpu <- function(device, wanted, place) {
  if (device$kind == "cuda" && place[["of"]] > 1L && (identical(wanted, "auto") || identical(wanted, "cuda"))) {
    gpus <- usable_gpus()
    if (length(gpus)) device$ordinal <- gpus[(place[["number"]] - 1L) %% length(gpus) + 1L]
  }
  device
}

# Attaches packages and puts objects into the workspace, as on the driver. A missing package is not an error here: the
# test that needs it will fail. Returns a function that restores everything, also the random numbers.
enter_world <- function(world) {
  back <- random_state()
  attached <- search()
  objects <- as.character(names(world$objects))
  had <- mget(objects[vapply(objects, exists, NA, envir = globalenv(), inherits = FALSE)], envir = globalenv())
  for (package in setdiff(world$packages, .packages())) {
    suppressWarnings(suppressPackageStartupMessages(require(package, character.only = TRUE, quietly = TRUE)))
  }
  for (name in objects) {
    assign(name, world$objects[[name]], envir = globalenv())
  }
  function() {
    rm(list = intersect(objects, ls(globalenv(), all.names = TRUE)), envir = globalenv())
    for (name in names(had)) {
      assign(name, had[[name]], envir = globalenv())
    }
    for (place in setdiff(grep("^package:", search(), value = TRUE), attached)) {
      try(detach(place, character.only = TRUE), silent = TRUE)
    }
    back()
  }
}

leave_world <- function() {
  leave <- session$leave
  session$leave <- session$said <- session$drew <- NULL
  if (!is.null(leave)) leave()
}

# Answers a message: raw, NULL if there is no answer, or the condition of a test that failed.
rank_answer <- function(key, message) {
  rank <- session$ranks[[key]]
  if (is.null(rank)) {
    stop("the worker does not know this search: it may have been restarted", call. = FALSE)
  }
  if (is.function(rank)) {
    return(rank(message))
  }
  with_said(tryCatch(check_rust(rust_rank_answer(rank, message)), pcgpu_error_test = function(e) {
    structure(
      list(message = conditionMessage(e), class = class(e), x = e$x, y = e$y, S = e$S, parent = e$parent),
      class = "pcgpu_rank_condition"
    )
  }))
}

rank_close <- function(key) {
  session$ranks[[key]] <- NULL
  leave_world()
  invisible()
}

# Returns a test that draws random numbers from its own stream, so that the answer depends on the seed alone, not on the
# worker or the time.
with_own_stream <- function(fun, seed) {
  force(fun)
  function(x, y, S) {
    # R's code of "L'Ecuyer-CMRG" with "Inversion" and "Rejection", the defaults.
    stream <- c(10407L, check_rust(rust_test_stream(seed, x, y, as.integer(S))))
    assign(".Random.seed", stream, envir = globalenv())
    p <- noting(fun(x, y, S))
    if (!identical(get0(".Random.seed", globalenv(), inherits = FALSE), stream)) {
      session$drew <- TRUE
    }
    p
  }
}

# Collects warnings and messages of tests that are R functions on workers, and whether these tests drew random numbers.
# They come as an attribute of the worker's next answer, and are repeated at the end of the call.

# The most different conditions that are kept, the number of R's own warnings.
most_said <- 50L

# Runs a test on a worker, and collects its conditions.
noting <- function(test) {
  withCallingHandlers(test, warning = note_condition, message = note_condition)
}

note_condition <- function(condition) {
  # Drops the further fields of other packages' conditions, which may be large.
  kept <- structure(
    class = class(condition),
    list(message = conditionMessage(condition), call = conditionCall(condition))
  )
  session$said <- add_said(session$said, list(list(condition = kept, count = 1)))
  tryInvokeRestart(if (inherits(condition, "message")) "muffleMessage" else "muffleWarning")
}

# Merges conditions and their counts by class and text.
add_said <- function(said, more) {
  for (one in more) {
    name <- paste(c(class(one$condition), conditionMessage(one$condition)), collapse = "\r")
    if (is.null(said[[name]])) said[[name]] <- one else said[[name]]$count <- said[[name]]$count + one$count
  }
  utils::head(said, most_said)
}

# Returns a worker's answer with the conditions that have not been sent yet.
with_said <- function(answer) {
  if (!is.null(answer) && (length(session$said) || isTRUE(session$drew))) {
    attr(answer, "said") <- list(conditions = unname(session$said), drew = isTRUE(session$drew))
    session$said <- session$drew <- NULL
  }
  answer
}

# Collects the conditions on the driver: list(hear, signal). signal() signals each once, and advances the session's
# random numbers if a test drew any.
new_listener <- function() {
  heard <- list()
  drew <- FALSE
  list(
    hear = function(said) {
      heard <<- add_said(heard, said$conditions)
      drew <<- drew || isTRUE(said$drew)
    },
    signal = function() {
      if (drew) {
        sample.int(.Machine$integer.max, 1L)
      }
      for (one in heard) {
        signal_again(one$condition, one$count)
      }
    }
  )
}

# Signals a condition of a test, with its own classes and ours.
signal_again <- function(condition, count) {
  is_message <- inherits(condition, "message")
  text <- sub("\n$", "", conditionMessage(condition))
  text <- sprintf("%s (`indepTest` on workers, %s)", text, if (count == 1) "once" else sprintf("%.0f times", count))
  ours <- if (is_message) c("pcgpu_message_test", "pcgpu_message") else c("pcgpu_warning_test", "pcgpu_warning")
  again <- structure(
    class = c(ours, class(condition)),
    list(message = if (is_message) paste0(text, "\n") else text, call = conditionCall(condition), count = count)
  )
  if (is_message) message(again) else warning(again)
}

# Returns a function that restores the current state of the session's random numbers.
random_state <- function() {
  kind <- RNGkind()
  seed <- get0(".Random.seed", globalenv(), inherits = FALSE)
  function() {
    if (!is.null(seed)) {
      assign(".Random.seed", seed, envir = globalenv())
    } else {
      suppressWarnings(do.call(RNGkind, as.list(kind)))
      if (exists(".Random.seed", globalenv(), inherits = FALSE)) rm(".Random.seed", envir = globalenv())
    }
  }
}

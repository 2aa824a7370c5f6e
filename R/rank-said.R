# Collects warnings and messages of tests that are R functions on workers, and whether these tests drew random numbers. They come as an attribute of the
# worker's next answer, and are repeated at the end of the call.

# The most different conditions that are kept, the number of R's own warnings.
most_said <- 50L

# Runs a test on a worker, and collects its conditions.
noting <- function(test) {
  withCallingHandlers(test, warning = note_condition, message = note_condition)
}

note_condition <- function(condition) {
  # Drops the further fields of other packages' conditions, which may be large.
  kept <- structure(class = class(condition), list(message = conditionMessage(condition), call = conditionCall(condition)))
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

# Collects the conditions on the driver: list(hear, sound). sound() signals each once, and advances the session's random numbers if a test drew any.
new_ear <- function() {
  heard <- list()
  drew <- FALSE
  list(
    hear = function(said) {
      heard <<- add_said(heard, said$conditions)
      drew <<- drew || isTRUE(said$drew)
    },
    sound = function() {
      if (drew) sample.int(.Machine$integer.max, 1L)
      for (one in heard) signal_again(one$condition, one$count)
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
    class = c(ours, class(condition)), list(message = if (is_message) paste0(text, "\n") else text, call = conditionCall(condition), count = count)
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

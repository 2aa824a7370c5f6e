# The arguments `checkpoint` and `time_limit` of pc_control(): checks, warnings and messages.

# Seconds between saves within a level.
checkpoint_seconds <- 120

# Returns both limits as Rust reads them (`limits()` in src/rust/src/limits.rs), NULL if neither is given.
search_limits <- function(control) {
  c(control$checkpoint, if (is.finite(control$time_limit)) list(seconds = control$time_limit))
}

check_checkpoint <- function(checkpoint) {
  hint <- "give the name of a file, or list(file = , every = ), where `every` is the number of seconds between saves."
  if (is.null(checkpoint)) {
    return(NULL)
  }
  given <- if (is.list(checkpoint)) checkpoint else list(file = checkpoint)
  unknown <- setdiff(names(given), c("file", "every"))
  if (is.list(checkpoint) && (is.null(names(given)) || length(unknown) || anyDuplicated(names(given)))) {
    abort_argument("checkpoint", checkpoint, hint)
  }
  file <- given$file
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    abort_argument("checkpoint", checkpoint, hint)
  }
  every <- given$every %||% checkpoint_seconds
  if (!is_number(every) || every < 0) {
    abort_argument("checkpoint", checkpoint, hint, is = paste0("list(every = ", describe(every), ")"))
  }
  file <- path.expand(file)
  if (dir.exists(file)) {
    abort_argument("checkpoint", file, "give the name of a file.", is = paste(dQuote(file, FALSE), "(a folder)"))
  }
  # A test that is an R function may change the working directory.
  list(
    file = enc2utf8(file.path(normalizePath(dirname(file), mustWork = FALSE), basename(file))),
    every = as.double(every)
  )
}

# Returns a function that reports where a search resumes. `levels`: how many levels had run.
tell_resumed <- function(file) {
  force(file)
  function(levels, within) {
    from <- if (within) paste("within level", levels) else paste("after level", levels - 1)
    tell(
      "resumed",
      sprintf("Resuming the search %s, from the checkpoint %s.", from, dQuote(file, FALSE)),
      file = file,
      level = as.integer(levels),
      within = within == 1
    )
  }
}

# Removes the files of a call with limits as its last step, once nothing can keep the result from the caller. The files
# stay if the time limit has stopped the search.
hand_over <- function(result, limits) {
  force(result)
  if (!is.null(limits$file) && is.null(ended_note(result))) {
    check_rust(rust_remove_checkpoint(limits$file))
  }
  result
}

# Returns the callbacks of a search with limits.
limit_callbacks <- function(limits) if (!is.null(limits$file)) list(resumed = tell_resumed(limits$file))

# Warns if the time limit stopped the search in level `ended`, and if the last checkpoint could not be written.
warn_limits <- function(found, limits) {
  if (!is.null(found$unkept)) {
    warn("checkpoint", paste0(found$unkept, "; the search continued without saving"), file = limits$file)
  }
  if (!is.null(found$ended)) {
    remedy <- if (is.null(limits$file)) {
      "Allow more time for further levels"
    } else {
      "Repeat the call to continue from the checkpoint"
    }
    warn(
      "time_limit",
      sprintf(
        "`time_limit` is %s: the search stopped in level %d, so the result is that of m.max = %d. %s.",
        format(limits$seconds, digits = 7L),
        found$ended,
        found$ended - 1L,
        remedy
      ),
      level = found$ended - 1L,
      seconds = limits$seconds
    )
  }
}

# Returns for run_details() that the time limit stopped the search, and the last completed level.
ended_details <- function(ended) if (!is.null(ended)) list(ended = "time limit", level = ended - 1L)

# Returns a line for print(), summary() and plot(), NULL for a search that was completed.
ended_note <- function(x) {
  details <- run_details(x)
  if (!is.null(details$ended)) {
    sprintf("Stopped by the time limit after level %d: the result is that of m.max = %d.", details$level, details$level)
  } else if (!is.null(details$phase$ended)) {
    sprintf("The time limit stopped the possible-d-sep phase after sets of size %d.", details$phase$ended)
  }
}

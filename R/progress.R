# Shows a progress bar for each level. Rust calls `report` on R's thread at most ten times a second, and once at each level's end.

# Returns list(report = NULL or function(level, done, total, edges, tests), close = function()). `label(level, edges)` is the text of the bar. `tests` is the
# number of tests of the level that ran one at a time: 0 in native searches, which are too fast to count them. A search_watch() is returned as it is.
progress_reporter <- function(progress, label = level_text, draw = bar()) {
  if (inherits(progress, "pcgpu_watch")) {
    return(progress)
  }
  if (!wants_progress(progress)) {
    return(list(report = NULL, close = function() invisible()))
  }
  # If a bar cannot be drawn, the search continues.
  draw$report <- local({
    report <- draw$report
    clock <- level_clock()
    function(level, done, total, edges, tests = 0) {
      # The total is an estimate that pruning and batches can overrun.
      done <- min(done, total)
      text <- paste0(label(level, edges), if (tests > 0) tests_text(tests, clock(level)))
      tryCatch(report(level, done, total, text, clock(level)), error = function(e) NULL)
      invisible()
    }
  })
  draw
}

bar <- function() if (requireNamespace("cli", quietly = TRUE)) cli_bar() else text_bar()

wants_progress <- function(progress) {
  argument <- "progress"
  if (is.null(progress)) {
    progress <- getOption("pcgpu.progress")
    argument <- "options(pcgpu.progress)"
  }
  if (is.null(progress)) {
    in_report <- isTRUE(getOption("knitr.in.progress"))
    in_tests <- identical(Sys.getenv("TESTTHAT"), "true")
    return(interactive() && !in_report && !in_tests)
  }
  check_flag(progress, argument)
}

# Returns a function that returns the seconds since the first report of a level.
level_clock <- function() {
  current <- NA
  began <- 0
  function(level) {
    now <- proc.time()[["elapsed"]]
    if (!identical(level, current)) {
      current <<- level
      began <<- now
    }
    now - began
  }
}

# Returns the number of finished tests and their rate.
tests_text <- function(tests, seconds) {
  count <- function(number) in_words(round(number))
  rate <- if (seconds >= 0.1) paste0(", ", format(signif(tests / seconds, 3L), big.mark = thousands_mark(), trim = TRUE), "/s") else ""
  paste0(", ", count(tests), if (tests == 1) " test" else " tests", rate)
}

# Formats seconds as "1:02:03", or "2:03" below an hour.
time_text <- function(seconds) {
  seconds <- ceiling(seconds)
  if (seconds >= 3600) {
    sprintf("%.0f:%02.0f:%02.0f", seconds %/% 3600, seconds %% 3600 %/% 60, seconds %% 60)
  } else {
    sprintf("%.0f:%02.0f", seconds %/% 60, seconds %% 60)
  }
}

# Level -1 is the computation of correlations from data, before the first level.
level_text <- function(level, edges) {
  if (level < 0) {
    return("Correlations")
  }
  sprintf("Level %d, %s edges", as.integer(level), in_words(edges))
}

cli_bar <- function() {
  frame <- new.env()
  id <- NULL
  shown <- NA
  close <- function() {
    if (!is.null(id)) {
      cli::cli_progress_done(id = id, .envir = frame)
      id <<- NULL
    }
  }
  report <- function(level, done, total, text, seconds) {
    if (!identical(level, shown)) {
      close()
      shown <<- level
      id <<- cli::cli_progress_bar(
        # The bar comes last: cli gives it the rest of the line.
        format = "{cli::pb_extra$label} {cli::pb_percent} {cli::pb_eta_str} {cli::pb_bar}",
        total = max(total, 1), extra = list(label = ""), .envir = frame, .auto_close = FALSE
      )
    }
    cli::cli_progress_update(
      set = done, total = max(total, 1), extra = list(label = text), id = id, .envir = frame
    )
  }
  list(report = report, close = close)
}

# Writes one line on stderr, and overwrites it until its level is done.
text_bar <- function() {
  open <- FALSE
  width <- 0L
  line <- function(text, end = "") {
    width <<- max(width, nchar(text))
    cat("\r", formatC(text, width = -width), end, sep = "", file = stderr())
    open <<- !nzchar(end)
  }
  report <- function(level, done, total, text, seconds) {
    share <- if (total > 0) min(1, done / total) else 1
    left <- if (share > 0 && share < 1 && seconds >= 1) {
      paste0(", ", time_text(seconds * (1 - share) / share), " left")
    }
    line(sprintf("%s: %3.0f%%%s", text, floor(100 * share), left %||% ""), if (done >= total) "\n" else "")
  }
  close <- function() {
    if (open) {
      cat("\n", file = stderr())
      open <<- FALSE
    }
  }
  list(report = report, close = close)
}

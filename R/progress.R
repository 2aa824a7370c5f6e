# A progress bar a level. Rust calls `report` on R's thread at most ten times a second, and once at each level's end.

# list(report = NULL or function(level, done, total, edges), close = function()). `label(level, edges)` is what the bar says.
progress_reporter <- function(progress, label = level_text) {
  if (!wants_progress(progress)) {
    return(list(report = NULL, close = function() invisible()))
  }
  draw <- if (requireNamespace("cli", quietly = TRUE)) cli_bar(label) else text_bar(label)
  # A bar that cannot be drawn is no reason to lose the search.
  draw$report <- local({
    report <- draw$report
    function(level, done, total, edges) {
      # The total is an estimate that pruning and batches can overrun.
      tryCatch(report(level, min(done, total), total, edges), error = function(e) NULL)
      invisible()
    }
  })
  draw
}

wants_progress <- function(progress) {
  if (is.null(progress)) {
    progress <- getOption("pcgpu.progress")
  }
  if (is.null(progress)) {
    in_report <- isTRUE(getOption("knitr.in.progress"))
    in_tests <- identical(Sys.getenv("TESTTHAT"), "true")
    return(interactive() && !in_report && !in_tests)
  }
  check_flag(progress, "progress")
}

level_text <- function(level, edges) {
  sprintf("Level %d, %s edges", as.integer(level), format(edges, big.mark = ",", trim = TRUE))
}

cli_bar <- function(label = level_text) {
  frame <- new.env()
  id <- NULL
  shown <- -1
  close <- function() {
    if (!is.null(id)) {
      cli::cli_progress_done(id = id, .envir = frame)
      id <<- NULL
    }
  }
  report <- function(level, done, total, edges) {
    if (level != shown) {
      close()
      shown <<- level
      id <<- cli::cli_progress_bar(
        format = "{cli::pb_extra$label} {cli::pb_bar} {cli::pb_percent} {cli::pb_eta_str}",
        total = max(total, 1), extra = list(label = ""), .envir = frame, .auto_close = FALSE
      )
    }
    cli::cli_progress_update(
      set = done, total = max(total, 1), extra = list(label = label(level, edges)), id = id, .envir = frame
    )
  }
  list(report = report, close = close)
}

# One line on stderr, written over until its level is done.
text_bar <- function(label = level_text) {
  open <- FALSE
  width <- 0L
  line <- function(text, end = "") {
    width <<- max(width, nchar(text))
    cat("\r", formatC(text, width = -width), end, sep = "", file = stderr())
    open <<- !nzchar(end)
  }
  report <- function(level, done, total, edges) {
    share <- if (total > 0) min(100, floor(100 * done / total)) else 100
    line(sprintf("%s: %3.0f%%", label(level, edges), share), if (done >= total) "\n" else "")
  }
  close <- function() {
    if (open) {
      cat("\n", file = stderr())
      open <<- FALSE
    }
  }
  list(report = report, close = close)
}

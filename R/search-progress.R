# Shows a progress bar for each level. Rust calls `report` on R's thread at most ten times a second, and once at each
# level's end.

# Returns list(report = NULL or function(level, done, total, edges, tests), close = function()). `label(level, edges)`
# is the text of the bar. `tests` is the number of tests of the level that ran one at a time: 0 in native searches,
# which are too fast to count them. A search_watch() is returned as it is.
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
  rate <- if (seconds >= 0.1) {
    paste0(", ", format(signif(tests / seconds, 3L), big.mark = thousands_mark(), trim = TRUE), "/s")
  } else {
    ""
  }
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

# Names a level. Level -1 is the computation of correlations from data, before the first level.
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
        total = max(total, 1),
        extra = list(label = ""),
        .envir = frame,
        .auto_close = FALSE
      )
    }
    cli::cli_progress_update(set = done, total = max(total, 1), extra = list(label = text), id = id, .envir = frame)
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

# Stores how long a search took where identical() of two results does not see it: in the bits of NaN, which identical()
# treats as equal (see its argument single.NA). The bits survive copies, saveRDS() and load(). serialize(), and hashes
# of its output, do see them.

# Encodes seconds as such NaN, to a microsecond. The bits are the sign and exponent of a quiet NaN, 19 and 30 bits of a
# number, and a last bit 1. NA and R's own NaN do not have this last bit.
quiet_nan <- 0x7ff80000
most_microseconds <- 2^49 - 1

hide_seconds <- function(seconds) {
  number <- round(1e6 * seconds)
  number[number < 0] <- 0
  number[number >= most_microseconds] <- most_microseconds - 1
  # The largest number stands for NA.
  number[is.na(number)] <- most_microseconds
  words <- rbind(2 * (number %% 2^30) + 1, quiet_nan + number %/% 2^30)
  readBin(writeBin(as.integer(words), raw(), endian = "little"), "double", length(seconds), endian = "little")
}

# Decodes the NaN of hide_seconds(). Returns NA for other values, such as a NaN that was written as text.
shown_seconds <- function(hidden) {
  words <- matrix(
    readBin(writeBin(as.double(hidden), raw(), endian = "little"), "integer", 2L * length(hidden), endian = "little"),
    2L
  )
  number <- (words[1L, ] - 1) / 2 + 2^30 * (words[2L, ] - quiet_nan)
  ifelse(is.nan(hidden) & words[1L, ] %% 2L == 1L & number < most_microseconds, number / 1e6, NA_real_)
}

# Measures the levels of a search by its progress reports, which it passes on to `report` unless that is NULL. A level
# ends when all of it is done. read(found) returns list(counts, seconds). `counts`: the number of levels of the
# skeleton, and of sizes of the possible-d-sep phase, that have tests. `seconds`: the hidden seconds of the whole
# search, then of each of these.
search_clock <- function(report) {
  now <- function() as.double(Sys.time())
  began <- ready <- now()
  ends <- list(skeleton = double(), phase = double())
  note <- function(level, done, total, edges, tests = 0) {
    if (level < 0) {
      ready <<- now()
    } else if (done >= total) {
      ends[[if (isTRUE(session$fci_phase)) "phase" else "skeleton"]][level + 1] <<- now()
    }
    if (!is.null(report)) {
      report(level, done, total, edges, tests)
    }
    invisible()
  }
  durations <- function(ends, count, start) {
    ends <- ends[seq_len(count)]
    known <- which(!is.na(ends))
    seconds <- rep.int(NA_real_, count)
    seconds[known] <- diff(c(start, ends[known]))
    seconds
  }
  read <- function(found) {
    later <- max(ready, ends$skeleton, na.rm = TRUE)
    counts <- c(skeleton = length(found$n_edgetests), "possible-d-sep" = length(found$all_tests_pdsep))
    list(
      counts = counts,
      seconds = hide_seconds(c(
        now() - began,
        durations(ends$skeleton, counts[[1L]], ready),
        durations(ends$phase, counts[[2L]], later)
      ))
    )
  }
  list(report = note, read = read)
}

# Returns list(seconds, times) from the result of read(), see run_details().
times_of <- function(hidden) {
  if (is.null(hidden)) {
    return(NULL)
  }
  shown <- shown_seconds(hidden$seconds)
  times <- data.frame(level = sequence(unname(hidden$counts)) - 1L)
  if (hidden$counts[[2L]] > 0L) {
    times$phase <- rep(names(hidden$counts), hidden$counts)
  }
  times$seconds <- shown[-1L]
  list(seconds = shown[1L], times = times)
}

# A shell starts what it runs in the background deaf to Ctrl-C (nohup R CMD check &), and R stays so: searches that wait for it would run for hours.
is_deaf_to_interrupts <- function() {
  said <- tryCatch(readLines("/proc/self/status"), error = function(e) character(), warning = function(w) character())
  ignored <- sub("^SigIgn:\\s*", "", grep("^SigIgn:", said, value = TRUE))
  # SIGINT is the second lowest bit.
  length(ignored) == 1L && bitwAnd(strtoi(substring(ignored, nchar(ignored)), 16L), 2L) != 0L
}

# Presses Ctrl-C after `delay` seconds while `work` runs. Returns the outcome and the seconds from the press to the end. What `work` is to
# work on is made before: R itself stops late while it makes it.
press <- function(work, delay = 0.5) {
  testthat::skip_if(is_deaf_to_interrupts(), "this process was started deaf to Ctrl-C")
  pressed <- tempfile()
  on.exit(unlink(pressed))
  system(sprintf("sh -c 'sleep %g; date +%%s.%%N > %s; kill -INT %d' &", delay, pressed, Sys.getpid()))
  outcome <- "stopped"
  tryCatch(
    {
      outcome <- tryCatch(
        {
          work()
          "finished"
        },
        error = conditionMessage
      )
      # If the work ended before the press, the press must not hit the next test.
      Sys.sleep(delay + 10)
    },
    interrupt = function(i) NULL
  )
  now <- as.numeric(Sys.time())
  list(outcome = outcome, took = now - as.numeric(readLines(pressed)))
}

# press() until the search stopped within half a second, six times at most: on a busy machine a late stop proves nothing, and a
# search that does not look is late every time. Any outcome other than "stopped" ends it at once.
press_in_time <- function(work, delay = 0.5) {
  for (attempt in 1:6) {
    stopped <- press(work, delay)
    if (!identical(stopped$outcome, "stopped") || stopped$took < 0.5) break
  }
  stopped
}

# A search that would take hours: nothing is removed, and every pair has 58 neighbours to choose from.
endless_data <- function() suff(p = 60, n = 100000, degree = 45)
endless <- function(s, method = "stable", device = "cpu") {
  skeleton(s, gaussCItest, 0.9999, p = 60, method = method, numCores = 2, device = device)
}

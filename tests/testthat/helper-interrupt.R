# Returns whether this process ignores Ctrl-C, as R does if a shell starts it in the background (nohup R CMD check &).
# Searches that wait for Ctrl-C would then run for hours.
is_deaf_to_interrupts <- function() {
  said <- tryCatch(readLines("/proc/self/status"), error = function(e) character(), warning = function(w) character())
  ignored <- sub("^SigIgn:\\s*", "", grep("^SigIgn:", said, value = TRUE))
  # SIGINT is the second lowest bit.
  length(ignored) == 1L && bitwAnd(strtoi(substring(ignored, nchar(ignored)), 16L), 2L) != 0L
}

# Returns how long work continued after a stop was requested, from the seconds of wall clock and of processor time. On a
# busy machine the wall clock runs while the process waits for a core. Then the processor time of two threads counts, as
# searches here have two, and waits count a twentieth.
seconds_of_work <- function(wall, processor) if (is.na(processor)) wall else min(wall, max(processor / 2, wall / 20))

# Presses Ctrl-C after `delay` seconds while `work` runs. Returns the outcome and the seconds from the press to the end,
# see above. What `work` is to work on is made before: R itself stops late while it makes it.
press <- function(work, delay = 0.5) {
  testthat::skip_if(is_deaf_to_interrupts(), "this process was started deaf to Ctrl-C")
  pressed <- tempfile()
  on.exit(unlink(pressed))
  # The time, and if the system reports it, the processor time of this process in hundredths of a second.
  system(sprintf(
    "sh -c 'sleep %g; (date +%%s.%%N; cut -d\" \" -f14,15 /proc/%d/stat 2>/dev/null) > %s; kill -INT %d' &",
    delay,
    Sys.getpid(),
    pressed,
    Sys.getpid()
  ))
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
  now <- c(as.numeric(Sys.time()), sum(proc.time()[1:2]))
  then <- scan(pressed, quiet = TRUE)
  processor <- if (length(then) == 3L) now[2L] - sum(then[2:3]) / 100 else NA
  list(outcome = outcome, took = seconds_of_work(now[1L] - then[1L], processor))
}

# Calls press() until the search stops within half a second, at most six times. A machine may be late now and then, but
# a search that does not look is late every time. Any outcome other than "stopped" ends it at once.
press_in_time <- function(work, delay = 0.5) {
  for (attempt in 1:6) {
    stopped <- press(work, delay)
    if (!identical(stopped$outcome, "stopped") || stopped$took < 0.5) break
  }
  stopped
}

# Returns data whose search would take hours: no edge is removed, and every pair has 58 neighbours to choose from.
endless_data <- function() suff(p = 60, n = 100000, degree = 45)
endless <- function(s, method = "stable", device = "cpu") {
  skeleton(s, gaussCItest, 0.9999, p = 60, method = method, numCores = 2, device = device)
}

# Presses Ctrl-C after `delay` seconds while `work` runs. Returns the outcome and the seconds from the press to the end.
press <- function(work, delay = 0.5) {
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
endless <- function(method = "stable", device = "cpu") {
  s <- suff(p = 60, n = 100000, degree = 45)
  skeleton(s, gaussCItest, 0.9999, p = 60, method = method, numCores = 2, device = device)
}

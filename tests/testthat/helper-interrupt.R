# Presses Ctrl-C after `delay` seconds while `work` runs. Returns what came of it and the seconds from the press to there.
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
      # Work that did not wait for the press must not leave it to whatever comes next.
      Sys.sleep(delay + 10)
    },
    interrupt = function(i) NULL
  )
  now <- as.numeric(Sys.time())
  list(outcome = outcome, took = now - as.numeric(readLines(pressed)))
}

# A search that would take hours: nothing is removed, and every pair has 58 neighbours to choose from.
endless <- function(method = "stable", device = "cpu") {
  s <- suff(p = 60, n = 100000, degree = 45)
  skeleton(s, gaussCItest, 0.9999, p = 60, method = method, numCores = 2, device = device)
}

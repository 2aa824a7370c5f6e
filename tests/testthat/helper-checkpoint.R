# Searches that are kept, ended and killed.

# A Gaussian test that takes its time, as an R function.
slowly <- function(seconds) {
  force(seconds)
  function(x, y, S, suffStat) {
    Sys.sleep(seconds)
    gaussCItest(x, y, S, suffStat)
  }
}

small <- function(p = 9, seed = 4) suff(p = p, n = 150, degree = 4, seed = seed)

# What a result says, without its call.
parts <- function(fit) {
  if (pcgpu:::is_compact(fit)) {
    return(list(fit@edges, fit@sets, fit@gaps, fit@n.edgetests, fit@max.ord))
  }
  if (pcgpu:::is_fci(fit)) {
    return(list(fit@amat, fit@sepset, fit@pMax, fit@n.edgetests, fit@max.ord, fit@allPdsep, fit@n.edgetestsPDSEP, fit@max.ordPDSEP))
  }
  list(as(fit@graph, "matrix"), fit@sepset, fit@pMax, fit@n.edgetests, fit@max.ord)
}

# The same test as an R function.
gaussCItest_in_r <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)

no_file <- function() tempfile("checkpoint", fileext = ".pcgpu")

# Runs `search(file)` in a process of its own, which is killed after so many seconds.
killed_after <- function(seconds, search) {
  child <- parallel::mcparallel(search(), silent = TRUE)
  Sys.sleep(seconds)
  tools::pskill(child$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(child))
}

# Returns the value of `code`, and its message about the checkpoint that it continues from; NULL if it starts from the beginning.
while_resumed <- function(code) {
  told <- NULL
  value <- withCallingHandlers(code, pcgpu_message_resumed = function(m) {
    told <<- m
    tryInvokeRestart("muffleMessage")
  })
  list(value = value, told = told)
}

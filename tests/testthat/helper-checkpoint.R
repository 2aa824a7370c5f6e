# Searches that are kept, ended and killed.

# Returns a Gaussian test that takes `seconds`, as an R function.
slowly <- function(seconds) {
  force(seconds)
  function(x, y, S, suffStat) {
    Sys.sleep(seconds)
    gaussCItest(x, y, S, suffStat)
  }
}

small <- function(p = 9, seed = 4) suff(p = p, n = 150, degree = 4, seed = seed)

# Returns the content of a result, without its call.
parts <- function(fit) {
  if (pcgpu:::is_compact(fit)) {
    return(list(fit@edges, fit@sets, fit@gaps, fit@n.edgetests, fit@max.ord))
  }
  if (pcgpu:::is_fci(fit)) {
    return(list(
      fit@amat,
      fit@sepset,
      fit@pMax,
      fit@n.edgetests,
      fit@max.ord,
      fit@allPdsep,
      fit@n.edgetestsPDSEP,
      fit@max.ordPDSEP
    ))
  }
  list(as(fit@graph, "matrix"), fit@sepset, fit@pMax, fit@n.edgetests, fit@max.ord)
}

# Computes the same test as an R function.
gaussCItest_in_r <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)

no_file <- function() tempfile("checkpoint", fileext = ".pcgpu")

# Runs `search()` in a process of its own, and kills it `seconds` after it has written `file`, if it runs that long.
killed_after <- function(seconds, file, search) {
  child <- parallel::mcparallel(search(), silent = TRUE)
  ended <- NULL
  while (is.null(ended) && !file.exists(file)) {
    ended <- parallel::mccollect(child, wait = FALSE, timeout = 0.002)
  }
  if (is.null(ended)) {
    Sys.sleep(seconds)
    tools::pskill(child$pid, tools::SIGKILL)
  }
  suppressWarnings(parallel::mccollect(child))
}

# Calls `run(seconds)`, with this time limit, until the search ends early and `here(fit)` holds. Returns list(fit,
# warned, seconds). The limit grows because the point where a search ends depends on the load of the machine.
until_time_is_over <- function(run, here) {
  for (seconds in 2^(-4:4)) {
    warned <- NULL
    fit <- tryCatch(
      withCallingHandlers(run(seconds), pcgpu_warning_time_limit = function(w) {
        warned <<- w
        tryInvokeRestart("muffleWarning")
      }),
      pcgpu_error_time_limit = function(e) NULL
    )
    if (!is.null(warned) && isTRUE(here(fit))) {
      return(list(fit = fit, warned = warned, seconds = seconds))
    }
  }
  stop("no time limit ended the search at this point")
}

ended_at <- function(level) function(fit) run_details(fit)$level == level

# Returns the value of `code`, and its message about the checkpoint that it continues from; NULL if it starts from the
# beginning.
while_resumed <- function(code) {
  resumed_from <- NULL
  value <- withCallingHandlers(code, pcgpu_message_resumed = function(m) {
    resumed_from <<- m
    tryInvokeRestart("muffleMessage")
  })
  list(value = value, resumed_from = resumed_from)
}

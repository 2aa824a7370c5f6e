#' Estimate how long a search will take
#'
#' Estimates the tests, time and memory that [pc()] or [skeleton()] will need with these arguments. The search runs for
#' a few seconds on the given device. Levels that finish in that time are exact. The level that was running is
#' extrapolated from the part that was done. Later levels depend on the edges that remain and cannot be predicted.
#'
#' @inheritParams pc
#' @param cluster,parallel_tests,tiers,forbidden,required,context.all,context.tier,na,correlation,weights,adjust,id
#'   Arguments of [pc_control()].
#' @param ... Other arguments of [pc()] or [skeleton()], and of [pc_control()], by name. Those that do not
#'   affect the search for the skeleton are accepted and ignored, such as `checkpoint`, `time_limit`, `result` and
#'   `verbose`. The tests of `conservative` and `maj.rule`, which follow the skeleton, are not counted.
#' @param seconds How long to search, in seconds, a number above 0. A search that finishes earlier is reported in full.
#' @return A list of class `pcgpu_plan`, which prints as a summary. `as.data.frame()` returns its element `levels`.
#'   - `levels`: a data frame with one row for each level that was started:
#'     - `level`: the level; -1 is the computation of correlations from data, if it takes more than a second;
#'     - `edges`: the edges at its start; at level 0 the number of pairs to be tested; `NA` for correlations;
#'     - `tests`: the number of tests for a finished level, otherwise the largest possible number. A pair x, y is tested
#'       given all sets of that size among the neighbours of x, and of y, until it is separated;
#'     - `seconds`: measured for a finished level, otherwise the estimated total; `NA` if nothing of it was done;
#'     - `done`: the share that was done, from 0 to 1.
#'   - `max_level`: an upper bound for the last level: the largest number of neighbours that a variable still has, less
#'     one, and at most `m.max`. `NA` if level 0 did not finish.
#'   - `ended`: whether the whole search finished in the time.
#'   - `memory`: bytes, by name: `data`, `suffStat` as it is in R; `correlations`, the p x p matrix if the search
#'     computes it; `pcAlgo`, a result of that class; `compact`, one of class [pcCompact][pcCompact-class], with the
#'     separating sets found so far; and the planned GPU memory, as in [run_details()].
#'   - `variables`, `test`, `alpha`, `device`.
#'
#'   Errors are those of [skeleton()].
#' @seealso `time_limit` and `checkpoint` in [pc_control()], which stop and resume a long search; `progress` of [pc()],
#'   which shows the remaining time of a level.
#' @examples
#' x <- random_data(random_dag(40, neighbours = 3, seed = 1), 500, seed = 1, numCores = 2)
#' plan_search(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' @export
plan_search <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  ...,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  na = NULL,
  correlation = NULL,
  weights = NULL,
  adjust = NULL,
  id = NULL,
  control = pc_control(),
  seconds = 10
) {
  of_search <- c(search_arguments_of(pc), search_arguments_of(skeleton))
  if (!is.null(taught <- taught_call(of_search))) {
    return(eval(taught, parent.frame()))
  }
  check_number(seconds, "seconds", "give a positive number of seconds.", above = 0)
  pilot <- match.call()
  asked <- list(...)
  check_dots(asked, c(of_search, control_arguments()), "plan_search")
  is_control <- names(asked) %in% control_arguments()
  control <- gather_control(control, asked[is_control], "plan_search")
  control[c("checkpoint", "time_limit", "result")] <- list(NULL, seconds, "compact")
  unused <- c("seconds", "u2pd", "conservative", "maj.rule", "solve.confl", "verbose", "progress", control_arguments())
  pilot[intersect(names(pilot), unused)] <- NULL
  names(pilot)[names(pilot) == "skel.method"] <- "method"
  watch <- search_watch(asked$progress)
  pilot[[1L]] <- skeleton
  pilot[c("progress", "control")] <- list(watch, control)
  # The search itself will repeat these warnings. Messages about the data and their test are shown now.
  fit <- tryCatch(
    withCallingHandlers(
      eval(pilot, parent.frame()),
      pcgpu_warning_time_limit = function(w) tryInvokeRestart("muffleWarning"),
      pcgpu_warning_too_few = function(w) tryInvokeRestart("muffleWarning"),
      pcgpu_warning_no_answer = function(w) tryInvokeRestart("muffleWarning")
    ),
    pcgpu_error_time_limit = function(e) if (is.null(watch$seen())) stop(e)
  )
  new_plan(watch$seen(), fit, if (!missing(suffStat)) suffStat, asked$m.max %||% Inf)
}

# Returns a progress reporter that records what it receives, for `progress` of skeleton(). `seen()` returns labels and
# test of the search. For each level it returns the edges, the share that was done, and the seconds since the end of the
# previous level. It returns NULL before the search has begun.
search_watch <- function(progress) {
  bar <- progress_reporter(progress)
  about <- NULL
  levels <- NULL
  last <- NULL
  begin <- function(labels, test) {
    about <<- list(labels = labels, test = test)
    last <<- proc.time()[["elapsed"]]
  }
  report <- function(level, done, total, edges, tests = 0) {
    now <- proc.time()[["elapsed"]]
    known <- nrow(levels) %||% 0L
    if (known == 0L || levels$level[known] != level) {
      if (known > 0L) {
        last <<- levels$end[known]
      }
      levels <<- rbind(levels, data.frame(level = level, edges = edges, done = 0, seconds = 0, end = now))
      known <- known + 1L
    }
    levels$done[known] <<- if (total > 0) min(1, done / total) else 1
    levels$seconds[known] <<- now - last
    levels$end[known] <<- now
    if (!is.null(bar$report)) {
      bar$report(level, done, total, edges, tests)
    }
    invisible()
  }
  structure(
    list(begin = begin, report = report, close = bar$close, seen = function() {
      if (!is.null(about)) c(about, list(levels = levels))
    }),
    class = "pcgpu_watch"
  )
}

# fit: the result of the pilot search, NULL if level 0 did not finish.
new_plan <- function(seen, fit, suffStat, m_max) {
  p <- length(seen$labels)
  details <- if (!is.null(fit)) run_details(fit)
  tests <- if (!is.null(fit)) fit@n.edgetests
  ended <- !is.null(fit) && is.null(details$ended)
  # Reports come ten times a second: a level that took no time may have none. Correlations that take time are level -1,
  # and may be all there is.
  begun <- seen$levels$level
  prepared <- sum(begun == -1)
  unprepared <- is.null(fit) && identical(begun, -1)
  levels <- c(-1L[prepared], if (!unprepared) seq_len(length(tests) + !ended) - 1L)
  at <- match(levels, begun)
  whole <- if (unprepared) FALSE else levels < length(tests)
  degree <- if (!is.null(fit)) tabulate(unlist(compact_edges(fit)[c("from", "to")]), p)
  ahead <- if (is.null(fit)) p * (p - 1) / 2 else sum(degree * choose(degree - 1, length(tests)))
  seconds <- seen$levels$seconds[at]
  seconds[is.na(at)] <- 0
  # A level that has not ended is never shown as done.
  share <- ifelse(whole, 1, pmin(seen$levels$done[at], 0.999))
  share[is.na(share)] <- 0
  table <- list2DF(list(
    level = levels,
    edges = ifelse(levels < 0L, NA, ifelse(is.na(at) & !whole & !is.null(fit), sum(degree) / 2, seen$levels$edges[at])),
    tests = c(NA_real_[prepared], as.double(tests), if (!ended && !unprepared) ahead),
    seconds = ifelse(share > 0, seconds / share, NA),
    done = share
  ))
  structure(
    class = "pcgpu_plan",
    list(
      levels = table,
      max_level = if (!is.null(fit)) as.integer(min(max(degree, 1L) - 1, m_max)) else NA_integer_,
      ended = ended,
      memory = plan_memory(p, seen$test, suffStat, fit, details$memory),
      variables = p,
      test = seen$test$name %||% NA_character_,
      alpha = details$alpha,
      device = details$device
    )
  )
}

plan_memory <- function(p, test, suffStat, fit, planned) {
  cells <- as.double(p)^2
  # A separating set of a pcAlgo is a vector of R's, of 56 bytes and more.
  sets <- if (!is.null(fit)) 56 * length(fit@sets$to) else 0
  c(
    data = as.double(utils::object.size(suffStat)),
    if (test$kind == "gauss" && is.null(test$C)) c(correlations = 8 * cells),
    pcAlgo = 16 * cells + sets,
    if (!is.null(fit)) c(compact = as.double(utils::object.size(list(fit@labels, fit@edges, fit@sets, fit@gaps)))),
    unlist(planned)
  )
}

#' @exportS3Method print pcgpu_plan
print.pcgpu_plan <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_plan")
  check_object(x)
  about <- c(
    if (x$test %in% c(NA, "")) NULL else x$test,
    if (length(x$alpha)) paste("alpha =", format(x$alpha, digits = 7L)),
    if (length(x$device)) paste("on", paste(x$device, collapse = " + "))
  )
  say_lines(paste(c(paste("Search of", counted(x$variables, "variable")), about), collapse = ", "))
  levels <- x$levels
  if (nrow(levels)) {
    made <- levels$done == 1
    print_table(list(
      Level = ifelse(levels$level < 0L, "correlations", as.character(levels$level)),
      Edges = ifelse(is.na(levels$edges), "", in_words(levels$edges)),
      Tests = ifelse(is.na(levels$tests), "", paste0(ifelse(made, "", "at most "), format_large(levels$tests))),
      Seconds = ifelse(
        is.na(levels$seconds),
        "not known",
        paste0(ifelse(made, "", "about "), format_seconds(levels$seconds))
      ),
      Done = sprintf("%.0f %%", floor(100 * levels$done))
    ))
  }
  cat(
    if (x$ended) {
      sprintf("The whole search took %s.\n", time_said(sum(levels$seconds, na.rm = TRUE)))
    } else if (anyNA(levels$seconds)) {
      "Too little of the last level was done to estimate its time: increase `seconds`.\n"
    } else {
      sprintf(
        "%s: about %s%s\n",
        if (max(levels$level) < 0L) "Correlations" else paste("Up to level", max(levels$level)),
        time_said(sum(levels$seconds)),
        if (is.na(x$max_level)) {
          "; later levels cannot be predicted yet."
        } else if (x$max_level > max(levels$level)) {
          sprintf("; further levels are possible, up to %d, and cannot be predicted yet.", x$max_level)
        } else {
          "; this is the last level."
        }
      )
    }
  )
  say_lines(paste0("Memory: ", paste(gsub("_", " ", names(x$memory)), in_bytes(x$memory), collapse = ", ")))
  if (x$variables >= least_with_size && "compact" %in% names(x$memory) && bytes_of_slots(x$variables, x$test) > 0) {
    say_lines(sprintf(
      "With result = \"compact\", the same edges take %s instead of %s.",
      in_bytes(x$memory[["compact"]]),
      in_bytes(x$memory[["pcAlgo"]])
    ))
  }
  invisible(x)
}

#' @exportS3Method as.data.frame pcgpu_plan
as.data.frame.pcgpu_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_plan")
  check_object(x)$levels
}

# Bounds on tests can be astronomically large: three digits then.
format_large <- function(count) {
  ifelse(count < 1e15, in_words(pmin(count, 1e15)), vapply(count, format, "", digits = 3L))
}

format_seconds <- function(seconds) {
  ifelse(
    is.na(seconds) | seconds >= 100,
    in_words(round(seconds)),
    vapply(signif(seconds, 2L), format, "", scientific = FALSE)
  )
}

# 12 s, 3 min, 5 h, 2 days.
time_said <- function(seconds) {
  size <- c(1, 60, 3600, 86400)
  unit <- findInterval(seconds, c(0, 120, 7200, 172800))
  number <- vapply(signif(seconds / size[unit], 2L), format, "", big.mark = thousands_mark(), scientific = FALSE)
  paste(number, c("s", "min", "h", "days")[unit])
}

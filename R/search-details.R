# Stores details for which pcalg's class has no slot in an attribute of the call in the slot `call`. The slots stay
# pcalg's, and all.equal() with a result of pcalg, validObject(), saveRDS() and pcalg's functions, which read the call
# as text, ignore the attribute. Two runs of one call are identical(). An exception is the work of several machines,
# which depends on the clock. `times`: from search_clock().
with_details <- function(
  call,
  device,
  exact_tests,
  memory,
  judged,
  orient,
  team,
  ended = NULL,
  asked = NULL,
  times = NULL
) {
  attr(call, "pcgpu") <- c(
    list(device = device, exact_tests = exact_tests),
    asked,
    ended_details(ended),
    # A skeleton is never a CPDAG.
    if (length(judged$valid_cpdag)) validity(judged, orient),
    # On the CPU memory is planned only if correlations have a bound.
    if (length(memory)) list(memory = memory),
    work_of(team, device),
    list(times = times),
    list(version = package_version())
  )
  call
}

# Returns the tiers of a search, for plot_cpdag().
tiers_in <- function(options) {
  tiers <- options$knowledge$tiers
  if (!is.null(tiers)) {
    c(list(tiers = tiers), Filter(Negate(is.null), options$knowledge["tier_names"]))
  }
}

# Returns which machine did what: for one GPU `levels`, with a row for each level; for several machines `team`, with a
# row for each level and machine.
work_of <- function(team, device) {
  if (length(team$machine) == 0L) {
    return(NULL)
  }
  level <- as.integer(team$level)
  # fci() follows the skeleton with a second search, its possible-d-sep phase.
  level <- data.frame(c(list(level = level), if (!is.null(team$phase)) list(phase = team$phase)))
  if (length(device) == 1L && !startsWith(device, "worker ")) {
    return(list(
      levels = data.frame(
        level,
        shards = team$shards,
        variables = ifelse(team$rows > 0, team$rows, NA_real_),
        bytes_to = team$to,
        bytes_from = team$from
      )
    ))
  }
  # Rows of the answer (level NA) come last, whatever the order of the reports.
  order <- order(is.na(level$level))
  list(
    team = data.frame(
      level,
      device = team$machine,
      shards = team$shards,
      bytes_to = team$to,
      bytes_from = team$from,
      seconds = team$elapsed,
      busy = ifelse(team$elapsed > 0, pmin(team$busy / team$elapsed, 1), 0)
    )[order, ]
  )
}

# Returns the facts about a graph that was oriented according to `orient` (see check_orientation()). `judged`: Rust's
# verdict on it.
validity <- function(judged, orient) {
  # The majority rule leaves fewer contradictions; u2pd = "valid" removes them.
  advice <- if (orient$u2pd != "valid") {
    paste0(
      if (orient$rule == "standard") "maj.rule = TRUE, ",
      "u2pd = \"valid\"",
      if (orient$solve_confl) " in place of solve.confl = TRUE"
    )
  }
  c(
    judged["valid_cpdag"],
    if (!judged$valid_cpdag && length(advice)) list(advice = advice),
    if (isTRUE(judged$overruled > 0)) judged["overruled"],
    if (isTRUE(orient$if_few)) list(default_rule = if (isTRUE(judged$standard_rule)) "standard" else "majority"),
    if (!is.null(orient$knowledge)) list(knowledge = TRUE)
  )
}

#' How a result was computed
#'
#' Returns where and how a search ran: device, memory, time, data copied and work done at each level, and whether the
#' graph is a valid CPDAG. pcalg's class `pcAlgo` has no slot for this, so it is stored with the call, in the slot
#' `call`.
#'
#' @param x A result of [pc()], [skeleton()], [orient()], [fci()], [rfci()], [fciPlus()] or [select_features()].
#' @return A list of class `pcgpu_details`, which prints as a summary, or `NULL` for a result of pcalg:
#'   - `device`: where the search ran, such as `"cpu"` or `"cuda:0"`. If several devices worked together, all their
#'     names; the workers of a `cluster` are called `"worker 1 (host)"` and so on;
#'   - `exact_tests`: the number of tests for which the fast formula was not accurate enough, because they were very
#'     close to the threshold or their matrix was nearly singular. pcalg's own formula or an error bound decided them.
#'     The CPU and a GPU count them differently;
#'   - `algorithm`: the name of the function, for [fci()], [rfci()] and [fciPlus()];
#'   - `test`: the name of the test, `""` for one that is not of this package; `alpha`: the significance level;
#'     `samples`: the number of observations, `NA` if the test is an R function;
#'   - `ended`: `"time limit"` if the search stopped early (see `time_limit` in [pc_control()]), and `level`, the last
#'     completed level; otherwise both are absent;
#'   - `valid_cpdag`: whether the graph is a valid CPDAG, the equivalence class of some DAG; a skeleton has no such
#'     entry. If tests contradict each other, the edges stand, but `u2pd = "relaxed"` may leave cycles, or arrows that
#'     no DAG has together. If the entry is `FALSE`, `advice` names the arguments that produce a valid graph;
#'   - `overruled`: with `u2pd = "valid"`, how many decisions of the tests on v-structures the graph contradicts; absent
#'     if none;
#'   - `default_rule`: if [pc()] was given data without a test, the rule that decided v-structures: `"majority"`, or
#'     `"standard"` if the majority rule would have taken too many tests;
#'   - `levels`: on one GPU, a data frame with a row for each level, and a last row, of level `NA`, for the transfer of
#'     the answer. Tests of [orient()], or of the orientation in [pc()], are not counted. Its columns are
#'     - `bytes_to`, `bytes_from`: bytes copied to the GPU and from it;
#'     - `shards`: the number of pieces in which the level ran for lack of memory, otherwise 1;
#'     - `variables`: if the level ran in pieces, how many variables the largest of them had on the GPU.
#'
#'     The pieces of a Gaussian search by blocks are panels of rows of the correlations at level 0, and slices of the
#'     conditioning variables at level 1. At further levels, and at level 1 if neighbours are few, they are batches of
#'     rows with their neighbours. The pieces of discrete and nearest-neighbour tests are groups of columns, those of
#'     [select_features()] are features that are counted together;
#'   - `team`: if several devices, or workers of a `cluster`, worked together, a data frame with a row for each level
#'     and device. Its columns are
#'     - `shards`: how many pieces of the level the device did;
#'     - `bytes_to`: bytes copied to it from the host or from other GPUs, or sent to a worker;
#'     - `bytes_from`: bytes copied from it to the host, or sent by a worker;
#'     - `seconds`: how long the level took;
#'     - `busy`: the share of that time in which the device worked;
#'   - `memory`: on a GPU, the memory that the search planned to use on each GPU, in bytes by use; it never uses more.
#'     If the GPU has less, the search uses only what its largest level needs, or ends with an error of class
#'     `pcgpu_error_device_out_of_memory` that states the numbers. On the CPU, only if a search did not keep all
#'     correlations (see [cpu_device()]): the `bound`, which the user or the available memory set, and the largest
#'     number of bytes of correlations at `level_0`, `level_1` and the `further_levels`;
#'   - `seconds`: how long the whole search took;
#'   - `times`: how long each level took, a data frame with the columns `level`, `seconds` and, for [fci()], `phase`, as
#'     in `levels`. A time is `NA` if an earlier call did the level and left a checkpoint. Two runs of one call are
#'     `identical()` all the same, because `identical()` does not see these numbers (they are in the bits of `NaN`). A
#'     hash of the result, or a file in which it is saved, differs from run to run;
#'   - `n.edgetests`: the number of tests at each level, starting at level 0: the slot of that name;
#'   - `tiers`: for a search with tiers, the tier of each variable, and `tier_names`, if they have names;
#'   - `local`: for [local_pc()], which part of the graph the result is, see there;
#'   - `phase`: for [fci()], a summary of its possible-d-sep phase: `tests`, the number of tests by size of their sets,
#'     starting at 0, and `ended`, the largest finished size if the time limit stopped it, else `NULL`. `levels` and
#'     `team` then have a column `phase`, `"skeleton"` or `"possible-d-sep"`, in which a level is the size of sets;
#'   - `version`: the version of this package.
#' @seealso [plot.pcgpu_details()] for a picture of tests by level, and seconds.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' run_details(pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2))
#' @export
run_details <- function(x) {
  check_object(x, only = if (!inherits(x, "pcgpu_selection")) c("call", "n.edgetests"))
  if (inherits(x, "pcgpu_selection")) {
    details <- attr(x$call, "pcgpu")
  } else {
    if (!is_compact(x) && !is_fci(x)) {
      check_result(x, only = "call")
    }
    details <- attr(attr(x, "call"), "pcgpu")
    # fciPlus() counts no tests.
    tests <- attr(x, "n.edgetests")
    if (!is.null(details) && length(tests)) {
      details$n.edgetests <- tests
    }
    times <- times_of(details$times)
    details[c("seconds", "times")] <- times[c("seconds", "times")]
  }
  if (is.null(details)) {
    return(NULL)
  }
  details <- structure(as.list(details), class = "pcgpu_details")
  check_object(details)
  details
}

#' @exportS3Method print pcgpu_details
print.pcgpu_details <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_details")
  check_object(x)
  say <- function(...) say_lines(paste0(...))
  say("pcgpu ", x$version, " on ", paste(x$device, collapse = " + "))
  if (!is.null(x$exact_tests)) {
    say("Tests too close for the fast formula, decided by exact methods: ", in_words(x$exact_tests))
  }
  if (!is.null(x$seconds)) {
    known <- x$times[!is.na(x$times$seconds), ]
    by_level <- paste0("; level ", level_names(known), ": ", format_seconds(known$seconds), recycle0 = TRUE)
    say("Seconds: ", format_seconds(x$seconds), paste(by_level, collapse = ""))
  }
  say_lines(local_note(x))
  if (!is.null(x$ended)) {
    say("Stopped by the ", x$ended, " after level ", x$level)
  }
  if (!is.null(x$phase)) {
    largest <- length(x$phase$tests) - 1L
    said <- if (largest > 0L) {
      sprintf("%s with sets of up to %s", counted(sum(x$phase$tests), "test"), counted(largest, "variable"))
    } else {
      "no tests"
    }
    say(
      "Possible-d-sep phase: ",
      said,
      if (!is.null(x$phase$ended)) sprintf("; stopped by the time limit after sets of size %d", x$phase$ended)
    )
  }
  if (!is.null(x$valid_cpdag)) {
    advice <- if (length(x$advice)) paste0("; for a valid one, use ", x$advice)
    overruled <- if (length(x$overruled)) sprintf("; %s on v-structures overruled", counted(x$overruled, "decision"))
    say("Valid ", kind_of_graph(x), ": ", if (x$valid_cpdag) "yes" else "no", overruled, advice)
    if (length(x$default_rule)) say("V-structures decided by the ", x$default_rule, " rule")
  }
  if (length(x$memory)) {
    parts <- sort(x$memory, decreasing = TRUE)
    on_gpu <- any(startsWith(x$device, "cuda"))
    parts <- paste(gsub("_", " ", names(parts)), in_bytes(parts), collapse = ", ")
    say(
      if (on_gpu) {
        paste0("Planned GPU memory: ", in_bytes(sum(x$memory)), " (", parts, ")")
      } else {
        paste0("Correlations: ", parts)
      }
    )
  }
  if (!is.null(x$levels)) {
    print_table(list(
      level = level_names(x$levels),
      pieces = format_count(x$levels$shards, is.na(x$levels$level)),
      variables = format_count(x$levels$variables, is.na(x$levels$variables)),
      "to the GPU" = in_bytes(x$levels$bytes_to),
      "from it" = in_bytes(x$levels$bytes_from)
    ))
  }
  if (!is.null(x$team)) {
    print_table(list(
      level = level_names(x$team),
      device = x$team$device,
      shards = format_count(x$team$shards, is.na(x$team$level)),
      "to it" = in_bytes(x$team$bytes_to),
      "from it" = in_bytes(x$team$bytes_from),
      seconds = ifelse(is.na(x$team$level), "", sprintf("%.3f", x$team$seconds)),
      busy = ifelse(is.na(x$team$level), "", sprintf("%.0f %%", 100 * x$team$busy))
    ))
  }
  invisible(x)
}

level_names <- function(table) {
  ifelse(is.na(table$level), "answer", paste0(ifelse(is_of_phase(table), "d-sep ", ""), table$level))
}

# Returns for each row whether it belongs to the possible-d-sep phase.
is_of_phase <- function(table) if (is.null(table$phase)) rep(FALSE, nrow(table)) else table$phase %in% "possible-d-sep"

format_count <- function(count, without) ifelse(without, "", in_words(count))

# 1234567 -> "1.23 MB".
in_bytes <- function(bytes) {
  power <- pmin(pmax(floor(log10(pmax(bytes, 1)) / 3), 0), 4)
  number <- ifelse(
    power == 0,
    sprintf("%.0f", bytes),
    formatC(bytes / 1000^power, digits = 3L, format = "g", flag = "#")
  )
  paste(sub("\\.$", "", number), c("B", "kB", "MB", "GB", "TB")[power + 1])
}

# Prints columns of text under their names, aligned to the right.
print_table <- function(columns) {
  columns <- Map(function(name, cells) format(c(name, cells), justify = "right"), names(columns), columns)
  writeLines(paste0("  ", do.call(paste, c(unname(columns), sep = "  "))))
}

# Returns the version of the package. packageVersion() would read a file, which takes a tenth of the time of a small
# call.
package_version <- function() getNamespaceVersion("pcgpu")[["version"]]

# Names the kind of a graph. With background knowledge more edges have a direction than in a CPDAG.
kind_of_graph <- function(details) if (isTRUE(details$knowledge)) "MPDAG" else "CPDAG"

# Returns lines for print(), summary() and plot() if the graph is not a valid CPDAG: what that means, then the remedy.
# NULL if it is valid or nothing is known.
validity_note <- function(x) {
  details <- run_details(x)
  if (!isFALSE(details$valid_cpdag)) {
    return(NULL)
  }
  kind <- kind_of_graph(details)
  c(
    sprintf(
      "Not a valid %s: the edges stand, but the tests contradict each other%s on some arrows.",
      kind,
      if (isTRUE(details$knowledge)) " or the background knowledge" else ""
    ),
    if (length(details$advice)) sprintf("For a valid %s, use %s (see ?pc).", kind, details$advice)
  )
}

# Returns lines for print() and summary(): the rule that decided v-structures if the caller left that open, and the
# decisions that a valid graph overruled.
decision_notes <- function(x) {
  details <- run_details(x)
  c(
    local_note(details),
    switch(
      details$default_rule %||% "none",
      majority = "V-structures decided by the majority rule, the default for data (see ?pc).",
      standard = paste(
        "V-structures decided by pcalg's rule: the majority rule, the default for data, would take too many tests (see",
        "?pc)."
      ),
      none = NULL
    ),
    if (length(details$overruled)) {
      sprintf(
        "The tests contradict each other: %s overruled to make the %s valid.",
        counted(details$overruled, "decision on v-structures was", "decisions on v-structures were"),
        kind_of_graph(details)
      )
    }
  )
}

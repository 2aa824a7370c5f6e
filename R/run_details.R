# What pcalg's class has no slot for goes into an attribute of the call in the slot `call`: the slots stay pcalg's, and
# all.equal() with a result of pcalg, validObject(), saveRDS() and pcalg's functions, which read the call as text, leave it
# alone. Nothing in it depends on the number of threads or, but where several machines work together, on the clock, so that two runs of
# one call are identical().
with_details <- function(call, device, exact_tests, memory, valid_cpdag, orient, team = NULL) {
  attr(call, "pcgpu") <- c(
    list(device = device, exact_tests = exact_tests),
    # A skeleton is no CPDAG to begin with.
    if (length(valid_cpdag)) validity(valid_cpdag, orient),
    # On the CPU nothing is planned, but where correlations have a bound.
    if (length(memory)) list(memory = memory),
    if (length(team$machine)) list(team = team_table(team)),
    list(version = package_version())
  )
  call
}

# Who did what, where several machines worked together: a row for each of them and each level.
team_table <- function(team) {
  data.frame(
    level = as.integer(team$level), device = team$machine, shards = team$shards, bytes = team$bytes,
    seconds = team$elapsed, busy = ifelse(team$elapsed > 0, pmin(team$busy / team$elapsed, 1), 0)
  )
}

# What is known of a graph that was oriented as `orient` says (see check_orientation()).
validity <- function(valid_cpdag, orient) {
  advice <- c(
    if (orient$rule == "standard") "maj.rule = TRUE",
    if (orient$rule == "conservative") "maj.rule = TRUE in place of conservative = TRUE",
    if (!orient$solve_confl) "solve.confl = TRUE",
    # The only one that goes with neither of the others, nor with the conservative rule.
    if (orient$rule == "standard" && !orient$solve_confl && orient$u2pd == "relaxed") "u2pd = \"retry\""
  )
  c(list(valid_cpdag = valid_cpdag), if (!valid_cpdag) list(advice = advice))
}

#' How a result was computed
#'
#' The class `pcAlgo` is pcalg's and has no place for the device that a search ran on. It is kept with the call, in the slot
#' `call`, and read here.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()].
#' @return A list, or `NULL` for a result of pcalg:
#'   - `device`: where the search ran, `"cpu"` or `"cuda:0"` and so on; several names where several worked together;
#'   - `exact_tests`: how many tests were so near to the threshold, or had so nearly singular a matrix, that the quick form
#'     of the test was not exact enough: pcalg's own formula decided them, or a bound of the error. The CPU and a GPU count them
#'     differently, and where a GPU of several fails, its tests may be counted twice;
#'   - `valid_cpdag`: whether the graph is a valid CPDAG, the equivalence class of some DAG; a skeleton has no such entry. Where
#'     tests contradict each other, `u2pd = "relaxed"` may leave cycles or edges that no DAG has. `maj.rule = TRUE` mends about half of
#'     such graphs, `u2pd = "retry"` some; `solve.confl = TRUE` marks the edges in conflict. Where the entry is `FALSE`, `advice` names
#'     those that were not tried;
#'   - `team`: where several machines worked together, a data frame with a row for each level and device: `shards`, how many pieces of the
#'     level it did, `bytes`, how many were copied to it from the others between steps, `seconds`, how long the level took, and `busy`, for
#'     which share of that time it worked;
#'   - `memory`: on a GPU, what the search planned to use of the card's (of each card's) memory, in bytes by use; it never uses more. Where the card
#'     has less, the search makes do with what its largest level needs, or ends with an error of class
#'     `pcgpu_error_device_out_of_memory` that names the numbers. On the CPU only where correlations had a bound, see [cpu_device()]: the `bound`, and
#'     the most bytes of correlations at `level_0`, `level_1` and the `further_levels`;
#'   - `version`: the version of this package.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' run_details(pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2))
#' @export
run_details <- function(x) {
  if (!is_compact(x)) check_result(x)
  attr(attr(x, "call"), "pcgpu")
}

# Not packageVersion(), which reads a file: a tenth of a small call.
package_version <- function() getNamespaceVersion("pcgpu")[["version"]]

# A line for print(), summary() and plot() where the graph is no CPDAG; NULL where all is well or nothing is known.
validity_note <- function(x) {
  details <- run_details(x)
  if (!isFALSE(details$valid_cpdag)) {
    return(NULL)
  }
  advice <- details$advice
  last <- length(advice)
  paste0("Not a valid CPDAG: tests contradict each other.", if (last) {
    paste0(" Try ", paste(c(paste(advice[-last], collapse = ", "), advice[last])[c(last > 1L, TRUE)], collapse = " or "), ".")
  })
}

#' pcgpu: the PC algorithm, exact and fast
#'
#' Learns causal structure from data by the PC algorithm, and answers exactly what the package pcalg answers, hundreds
#' of times sooner. Start with [pc()] and [suff_gauss()].
#'
#' # Options
#'
#' - `options(pcgpu.threads = )` and the environment variable `PCGPU_NUM_THREADS`: number of threads when `numCores` is
#'   left out. The argument comes first, then the option, then the variable, then all cores.
#' - `options(pcgpu.progress = )`: show a progress bar? Unset: in interactive sessions.
#'
#' # Errors
#'
#' Every error of the package has the class `pcgpu_error` and one more:
#' - `pcgpu_error_argument`: an argument is wrong; fields `argument`, `value` and `mend`.
#' - `pcgpu_error_test`: the user's `indepTest` stopped; fields `x`, `y`, `S` and `parent`.
#' - `pcgpu_error_overflow`: one pair has more than 2^63 tests at a level: make `m.max` smaller.
#' - `pcgpu_error_numeric`: a matrix that pcalg cannot invert either.
#' - `pcgpu_error_memory`: there is not enough memory; fields `bytes` (wanted), `available` (what this R process could get; `NULL` where that
#'   is not known), `what` and `mend`.
#' - `pcgpu_error_device`: the GPU that was asked for cannot be used. One more class says why:
#'   `pcgpu_error_device_no_driver`, `_no_device`, `_old_driver`, `_old_device`, `_busy`, `_out_of_memory`,
#'   `_failed` (the card did) and `_forked` (CUDA does not survive a fork, as by
#'   `parallel::mclapply()`: use `parallel::makePSOCKcluster()`). The message says what to do; the next call works.
#' - `pcgpu_error_no_pcalg`, `pcgpu_error_package`: something is not there.
#'
#' @keywords internal
#' @import methods
#' @importFrom graph graphNEL
#' @importClassesFrom graph graph graphNEL attrData renderInfo
#' @importMethodsFrom graph coerce
#' @useDynLib pcgpu, .registration = TRUE
"_PACKAGE"

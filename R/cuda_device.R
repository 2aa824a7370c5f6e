#' A GPU and how to use it
#'
#' `device = "cuda:1"` names a GPU; an object made here names it and says how to run on it. The answer is the same
#' whatever is chosen: the strategies serve the comparison with the papers they come from, and the limit of memory serves a
#' card that is shared.
#'
#' @param device `"cuda"` for the first GPU, `"cuda:1"` for the second, and so on: see [pcgpu_devices()]; several such as
#'   `c("cuda:0", "cuda:1")`, or `"cuda:all"`, work together, and `c("cpu", "cuda:all")` with the CPU. The strategies of the papers
#'   are those of one GPU.
#' @param strategy How the tests of a level are distributed over the GPU:
#'   - `"shared"` (the default): this package's own; tests that share a conditioning set share its work;
#'   - `"edge"`: cuPC-E of Zarebavani and others (2020), blocks of threads for some edges of a variable; for discrete
#'     variables disc-cupc, with which Hagedorn and Huegle (2021) compare gpuPC;
#'   - `"set"`: cuPC-S of the same paper, a thread for a conditioning set and all edges that it may separate. For the
#'     Gaussian test alone;
#'   - `"single"`, `"parallel"`: GPU_CMIknn of Hagedorn and others (2022), one nearest-neighbour test at a time, or many at
#'     once. For these tests alone, and with at most 512 neighbours.
#' @param beta,gamma For `strategy = "edge"`: the number of edges of a block, and the number of tests of an edge at a time.
#'   `NULL` means 2 and 32, the paper's choice.
#' @param theta,delta For `strategy = "set"`: the number of conditioning sets of a block, and the number of blocks for a
#'   variable. `NULL` means 64 and 2, the paper's choice.
#' @param block For `strategy = "parallel"`: the number of tests at a time, which is the paper's blocked version; `NULL` means
#'   as many as there is memory for. For `strategy = "shared"` and the Gaussian test: the number of rows of the correlation matrix, from
#'   64, that the card has at a time at levels 0 and 1, which then run by blocks whatever memory there is (the dissertation of C. Hagedorn
#'   (2023), chapter 5, takes 2048); `NULL` means by blocks where not all fits, as large as memory allows.
#' @param memory The most memory of each card that a call may take, in bytes or as text such as `"2 GB"` or `"500 MiB"`; `NULL` means all that is free, for a
#'   nearest-neighbour test 4 GiB of it beside the data, and more from some 20,000 observations on. What the driver keeps for a
#'   kernel is not counted (for `"single"` and `"parallel"` about 1 GB). Where not all fits, all tests, correlations and
#'   feature selection run with a part of the data on the card at a time, more slowly the smaller it is; the answer is the
#'   same. An error says how much is needed where even one test, or one feature, does not fit, or for the Gaussian test the graph (p^2 / 4
#'   bytes) with some rows of the correlations, or a variable with its neighbours. Several GPUs each take a Gaussian or discrete search as a whole; where it fits none, one of them runs it in parts, and a message says so. `"unified"`: memory that a card shares with the host, for problems a little larger than the card; see below.
#' @section Unified memory:
#' Where a call ends in an error of class `pcgpu_error_device_out_of_memory` and no larger card is there, `memory = "unified"` may let it
#' run: what does not fit the card lies in the host's memory, and pages of it come to the card when a kernel needs them, others leaving.
#' The answer is the same. What moves is slow, by a factor that depends on the data; use it for problems that exceed the card's
#' memory by little, on a machine of your own: a GPU whose memory is asked for several times over can slow down or hang a machine for
#' all who use it. What fits the card stays on it: there it costs the time to allocate. How much may
#' be taken is what is free on the card and available on the host, but 1 GiB. Each of several GPUs has memory of its own,
#' which belongs on it, and counts on its part of the host's: for a search each needs room for all, for a selection of features
#' for its part of them.
#'
#' The driver must let host and kernels use such memory at a time: on Linux most do, on Windows and in virtual machines few or none;
#' the column `unified` of [pcgpu_devices()] says so. Runs that exceed a card's memory were not measured by the authors.
#'
#' @section Memory between calls:
#' A GPU's memory is kept for the next call of the R process, as allocating takes long: up to 8 GiB, or a quarter of a card that has more than 32 GiB.
#' Calls that need it for something else get it; for other programs `unloadNamespace("pcgpu")` gives it back, with all else that the
#' process has on GPUs.
#' @return A list of class `pcgpu_device`, for the argument `device` of [pc()], [skeleton()], [orient()], [suff_gauss()] and,
#'   without a strategy, [select_features()].
#' @references
#' B. Zarebavani, F. Jafarinejad, M. Hashemi and S. Salehkaleybar (2020). cuPC: CUDA-based parallel PC algorithm for
#' causal structure learning on GPU. *IEEE Transactions on Parallel and Distributed Systems* 31(3), 530-542.
#'
#' C. Hagedorn and J. Huegle (2021). GPU-accelerated constraint-based causal structure learning for discrete data.
#' *Proceedings of the 2021 SIAM International Conference on Data Mining*.
#'
#' C. Hagedorn, C. Lange, J. Huegle and R. Schlosser (2022). GPU acceleration for information-theoretic constraint-based
#' causal discovery. *Proceedings of The KDD'22 Workshop on Causal Discovery*, PMLR 185, 30-60.
#' @seealso [pcgpu_devices()] for what there is.
#' @examples
#' cuda_device("cuda:1", strategy = "edge", beta = 4)
#'
#' if (nrow(pcgpu_devices()) > 0) {
#'   suff <- suff_gauss(iris[1:4])
#'   by_sets <- cuda_device(strategy = "set")
#'   pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$C), device = by_sets)
#' }
#' @export
cuda_device <- function(device = "cuda", strategy = c("shared", "edge", "set", "single", "parallel"), beta = NULL,
                        gamma = NULL, theta = NULL, delta = NULL, block = NULL, memory = NULL) {
  card <- check_device(device)
  if (card$kind != "cuda" || length(card$options)) {
    abort_argument("device", device, "give the name of a GPU, \"cuda\" or \"cuda:1\", or several.")
  }
  strategy <- check_choice(strategy, c("shared", "edge", "set", "single", "parallel"), "strategy")
  options <- list(
    strategy = strategy,
    beta = check_shape(beta, "beta", "edge", strategy), gamma = check_shape(gamma, "gamma", "edge", strategy),
    theta = check_shape(theta, "theta", "set", strategy), delta = check_shape(delta, "delta", "set", strategy),
    block = check_block(block, strategy), memory = check_memory(memory)
  )
  card$options <- options[lengths(options) > 0L]
  card
}

# A number of threads, blocks, tests or rows, which only some of the strategies have, `of`; `mend`: what else may be meant.
check_shape <- function(value, argument, of, strategy, least = 1, most = 256, mend = "") {
  if (is.null(value)) {
    return(NULL)
  }
  if (!strategy %in% of) {
    abort_argument(argument, value, sprintf(
      "leave it out, or give strategy = %s, which it belongs to.", paste(dQuote(of, FALSE), collapse = " or ")
    ))
  }
  if (!is_number(value) || value < least || value > most || value != floor(value)) {
    abort_argument(argument, value, sprintf("give a whole number from %.0f to %.0f%s.", least, most, mend))
  }
  as.integer(value)
}

# Rows of the correlations for "shared", tests at a time for "parallel".
check_block <- function(block, strategy) {
  rows <- strategy == "shared"
  check_shape(block, "block", c("shared", "parallel"), strategy,
    least = if (rows) 64 else 1, most = if (rows) 1e6 else 65535,
    mend = if (rows) ", of rows, or strategy = \"parallel\" for tests at a time" else ""
  )
}

# Bytes, as a number or as text such as "2 GB"; `unified`: whether "unified" may be given as well.
check_memory <- function(memory, unified = TRUE) {
  if (is.null(memory) || (unified && identical(memory, "unified"))) {
    return(memory)
  }
  bytes <- if (is.character(memory) && length(memory) == 1L) bytes_of(memory) else memory
  if (!is_number(bytes) || bytes < 1) {
    abort_argument("memory", memory, paste0(
      "give a number of bytes, for instance 4e9, or text such as \"4 GB\" or \"500 MiB\", ",
      if (unified) "\"unified\", ", "or NULL for all that is free."
    ))
  }
  as.double(bytes)
}

# "2 GB" -> 2e9; NA where the text is no such thing.
bytes_of <- function(text) {
  parts <- regmatches(text, regexec("^ *([0-9]+(?:\\.[0-9]+)?(?:[eE][0-9]+)?) *([kKMGT]i?)?[bB]? *$", text, perl = TRUE))[[1L]]
  if (length(parts) != 3L) {
    return(NA_real_)
  }
  base <- if (endsWith(parts[3L], "i")) 1024 else 1000
  as.double(parts[2L]) * base^(match(toupper(substr(parts[3L], 1L, 1L)), c("", "K", "M", "G", "T")) - 1L)
}

#' @exportS3Method print pcgpu_device
print.pcgpu_device <- function(x, ...) {
  cat("pcgpu device:", device_name(x), "\n")
  for (name in names(x$options)) {
    cat("  ", format(name, width = 8L), " ", format(x$options[[name]], digits = 12L), "\n", sep = "")
  }
  invisible(x)
}

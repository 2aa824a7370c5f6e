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
#'   as many as there is memory for.
#' @param memory The most memory of each card in bytes that a call may take; `NULL` means all that is free, for a
#'   nearest-neighbour test 4 GiB of it beside the data, and more from some 20,000 observations on. What the driver keeps for a
#'   kernel is not counted (for `"single"` and `"parallel"` about 1 GB). Where not all fits, tests of discrete variables and by nearest
#'   neighbours and feature selection run with a part of the data on the card at a time, more slowly the smaller it is; the answer is the
#'   same. An error says how much is needed where even one test, or one feature, does not fit. Several GPUs each take a discrete search as
#'   a whole, or refuse it.
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
#'   pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$C), device = cuda_device(strategy = "set"))
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
    block = check_shape(block, "block", "parallel", strategy, 65535), memory = check_memory(memory)
  )
  card$options <- options[lengths(options) > 0L]
  card
}

# A number of threads or blocks, which only one of the strategies has.
check_shape <- function(value, argument, of, strategy, most = 256) {
  if (is.null(value)) {
    return(NULL)
  }
  if (strategy != of) {
    abort_argument(argument, value, sprintf("leave it out, or give strategy = \"%s\", which it belongs to.", of))
  }
  if (!is_number(value) || value < 1 || value > most || value != floor(value)) {
    abort_argument(argument, value, sprintf("give a whole number from 1 to %.0f.", most))
  }
  as.integer(value)
}

check_memory <- function(memory) {
  if (is.null(memory)) {
    return(NULL)
  }
  if (!is_number(memory) || memory < 1) {
    abort_argument("memory", memory, "give a number of bytes, for instance 4e9, or NULL for all that is free.")
  }
  as.double(memory)
}

#' @exportS3Method print pcgpu_device
print.pcgpu_device <- function(x, ...) {
  cat("pcgpu device:", device_name(x), "\n")
  for (name in names(x$options)) {
    cat("  ", format(name, width = 8L), " ", format(x$options[[name]], digits = 12L), "\n", sep = "")
  }
  invisible(x)
}

#' Choose a GPU and how to use it
#'
#' Selects one or more GPUs, as `device = "cuda:1"` does, and sets how a search uses them. The answer does not depend on
#' these settings. The strategies allow comparisons with the papers from which they come; the memory limit is for shared
#' GPUs.
#'
#' @param device `"cuda"` for the first GPU, `"cuda:1"` for the second, and so on: see [pcgpu_devices()]. Several GPUs,
#'   such as `c("cuda:0", "cuda:1")`, or `"cuda:all"`, work together; `c("cpu", "cuda:all")` adds the CPU. The
#'   strategies of the papers run on one GPU only.
#' @param strategy How the tests of a level are distributed over the GPU:
#'   - `"shared"` (the default): this package's own strategy, in which tests with the same conditioning set share the
#'     work for it;
#'   - `"edge"`: cuPC-E of Zarebavani and others (2020), in which a block of threads runs some edges of a variable. For
#'     discrete variables, disc-cupc, with which Hagedorn and Huegle (2021) compare gpuPC;
#'   - `"set"`: cuPC-S of the same paper, in which a thread runs one conditioning set and all edges that it may
#'     separate. For the Gaussian test only;
#'   - `"gpucsl"`: the mapping of the dissertation of C. Hagedorn (2023, section 4.2) and of its program gpucsl. A block
#'     of threads runs one edge, and its threads share the edge's conditioning sets. For discrete variables, gpuPC of
#'     Hagedorn and Huegle (2021), in which some threads count one table together. Correlations must fit on the GPU;
#'     discrete data may be larger, and then level 0 runs as for `"shared"`;
#'   - `"single"`, `"parallel"`: GPU_CMIknn of Hagedorn and others (2022), one nearest-neighbour test at a time, or many
#'     at once. For these tests only, with at most 2,048 neighbours.
#' @param beta,gamma For `strategy = "edge"`: the number of edges in a block, and the number of tests of an edge at a
#'   time. `NULL` means 2 and 32, the paper's choice. The same for `strategy = "gpucsl"` and discrete variables; `NULL`
#'   then means 1 and 2.
#' @param theta,delta For `strategy = "set"`: the number of conditioning sets in a block, and the number of blocks for a
#'   variable. `NULL` means 64 and 2, the paper's choice. For `strategy = "gpucsl"`, `delta` is the number of threads
#'   that share an edge's sets, or a table of discrete variables, a multiple of 32; `NULL` means 64. `beta * gamma`, and
#'   for `"gpucsl"` `beta * gamma * delta`, may be at most 256.
#' @param block For `strategy = "parallel"`: the number of tests at a time, as in the paper's blocked version; `NULL`
#'   means as many as memory allows.
#'
#'   For `strategy = "shared"` and the Gaussian test: the number of rows of the correlation matrix, at least 64, that
#'   the GPU holds at a time at levels 0 and 1. These levels then run in blocks even if everything fits in memory.
#'   (Chapter 5 of the dissertation of C. Hagedorn (2023) uses 2048.) `NULL` means blocks only if not everything fits,
#'   as large as memory allows.
#' @param memory Largest amount of each GPU's memory that a call may use, in bytes or as text such as `"2 GB"` or `"500
#'   MiB"`.
#'   - `NULL` means all free memory. A nearest-neighbour test uses 4 GiB of it in addition to the data, and more from
#'     about 20,000 observations.
#'   - `"unified"` is memory that the GPU shares with the host, for problems slightly larger than the GPU; see below.
#'
#'   Memory that the driver reserves for a kernel is not counted. For `"single"` and `"parallel"` that is about 1 GB,
#'   and 4 GB for more than 512 neighbours.
#'
#'   If not everything fits, tests, correlations and feature selection keep only a part of the data on the GPU at a
#'   time. The smaller the part, the slower they are; the answer is the same. Several GPUs share a search that takes
#'   long, or that does not fit on each of them. An error states how much memory is needed if even one test or one
#'   feature does not fit. For the Gaussian test, the graph (p^2 / 4 bytes) must fit together with some rows of the
#'   correlations, or with a variable and its neighbours.
#' @section What the strategies of the papers leave out:
#' These strategies are kernels of this package that distribute the tests as the papers do; they are not the authors'
#' programs.
#' - `"edge"` and `"set"` test the first side of a pair to its end, because pcalg's separating set is the first. cuPC
#'   stops at any separating set. A level of much work takes several launches, short enough for Ctrl-C; cuPC uses one.
#' - In `"single"` and `"parallel"`, a thread runs an observation in both kernels, as in the paper. In GPU_CMIknn, the
#'   first thread that claims a neighbour has it, so that permutations differ from run to run. Here the seed and S
#'   determine an order of the observations, and the earlier one has the neighbour. So a test has the same p-value
#'   alone and in a search. Neighbours in S are found by a kernel of this package, once for all tests given S.
#' - `block` on several GPUs assigns some rows of pairs to each GPU, and all blocks pass through them. This is the
#'   dissertation's algorithm 17, with a queue of rows instead of its fixed division.
#'
#' @section Unified memory:
#' If a call ends with an error of class `pcgpu_error_device_out_of_memory` and there is no larger GPU, `memory =
#' "unified"` may make it run. Data that do not fit on the GPU stay in the host's memory, and their pages move to the
#' GPU and back as kernels need them. The answer is the same. Moving pages is slow, by a factor that depends on the
#' data. If everything fits on the GPU, only allocation takes longer.
#'
#' Use unified memory for problems that exceed the GPU's memory only slightly, and on a machine of your own. A GPU whose
#' memory is oversubscribed several times can slow down or hang the machine for everyone. The limit is the free memory
#' of the GPU plus the available memory of the host, less 1 GiB. Several GPUs divide the host's memory among them: for a
#' search each needs room for everything, for feature selection only for its own part.
#'
#' The driver must allow the host and kernels to use such memory at the same time. Most drivers do on Linux, few or none
#' on Windows and in virtual machines; see the column `unified` of [pcgpu_devices()]. The authors have not measured runs
#' that exceed a GPU's memory.
#'
#' @section Memory between calls:
#' Because allocation is slow, the R process keeps some of the GPU's memory for its next call: up to 8 GiB, or a quarter
#' of a GPU with more than 32 GiB. Later calls can use it for anything. To release it for other programs, with
#' everything else that the process has on GPUs, call `unloadNamespace("pcgpu")`.
#' @return A list of class `pcgpu_device`, for the argument `device` of [pc()], [skeleton()], [orient()], [suff_gauss()]
#'   and, without a strategy, [select_features()].
#' @references
#' C. Hagedorn (2023). *Parallel execution of causal structure learning on graphics processing units*. Dissertation,
#' University of Potsdam. \doi{10.25932/publishup-59758}.
#'
#' B. Zarebavani, F. Jafarinejad, M. Hashemi and S. Salehkaleybar (2020). cuPC: CUDA-based parallel PC algorithm for
#' causal structure learning on GPU. *IEEE Transactions on Parallel and Distributed Systems* 31(3), 530-542.
#'
#' C. Hagedorn and J. Huegle (2021). GPU-accelerated constraint-based causal structure learning for discrete data.
#' *Proceedings of the 2021 SIAM International Conference on Data Mining*.
#'
#' C. Hagedorn, C. Lange, J. Huegle and R. Schlosser (2022). GPU acceleration for information-theoretic constraint-based
#' causal discovery. *Proceedings of The KDD'22 Workshop on Causal Discovery*, PMLR 185, 30-60.
#' @seealso [pcgpu_devices()] for a list of the GPUs.
#' @examples
#' cuda_device("cuda:1", strategy = "edge", beta = 4)
#'
#' if (nrow(pcgpu_devices()) > 0) {
#'   suff <- suff_gauss(iris[1:4])
#'   by_sets <- cuda_device(strategy = "set")
#'   pc(suff, gaussCItest, alpha = 0.01, labels = colnames(suff$C), device = by_sets)
#' }
#' @export
cuda_device <- function(
  device = "cuda",
  strategy = c("shared", "edge", "set", "gpucsl", "single", "parallel"),
  beta = NULL,
  gamma = NULL,
  theta = NULL,
  delta = NULL,
  block = NULL,
  memory = NULL
) {
  gpu <- check_device(device)
  if (gpu$kind != "cuda" || length(gpu$options)) {
    abort_argument("device", device, "give the name of one or more GPUs, such as \"cuda\" or \"cuda:1\".")
  }
  strategy <- check_choice(strategy, c("shared", "edge", "set", "gpucsl", "single", "parallel"), "strategy")
  options <- list(
    strategy = strategy,
    beta = check_shape(beta, "beta", c("edge", "gpucsl"), strategy),
    gamma = check_shape(gamma, "gamma", c("edge", "gpucsl"), strategy),
    theta = check_shape(theta, "theta", "set", strategy),
    delta = check_delta(delta, strategy),
    block = check_block(block, strategy),
    memory = check_memory(memory)
  )
  gpu$options <- options[lengths(options) > 0L]
  check_threads(gpu$options)
  gpu
}

# Checks the number of threads in a block, with the paper's own numbers if none are given. For "gpucsl" they depend on
# the data, and the smallest are taken.
check_threads <- function(options) {
  usual <- switch(
    options$strategy,
    edge = list(beta = 2L, gamma = 32L),
    gpucsl = list(beta = 1L, gamma = 1L, delta = 32L),
    list()
  )
  given <- intersect(names(usual), names(options))
  numbers <- utils::modifyList(usual, options[given])
  threads <- prod(unlist(numbers))
  if (threads > 256) {
    abort_argument(
      given[1L],
      options[[given[1L]]],
      "give smaller numbers, whose product is at most 256.",
      is = sprintf(
        "%s, but %s = %s = %.0f threads do not fit in a block",
        describe(options[[given[1L]]]),
        paste(names(numbers), collapse = " * "),
        paste(numbers, collapse = " * "),
        threads
      )
    )
  }
}

# Checks a number of threads, blocks, tests or rows that only the strategies `of` use. `hint`: what else the user may
# mean.
check_shape <- function(value, argument, of, strategy, least = 1, most = 256, hint = "") {
  if (is.null(value)) {
    return(NULL)
  }
  if (!strategy %in% of) {
    abort_argument(
      argument,
      value,
      sprintf(
        "leave it out, or give strategy = %s; other strategies do not use it.",
        paste(dQuote(of, FALSE), collapse = " or ")
      )
    )
  }
  as.integer(check_number(
    value,
    argument,
    sprintf("give a whole number from %.0f to %.0f%s.", least, most, hint),
    least,
    most,
    whole = TRUE
  ))
}

# `delta` is a number of blocks for a variable for "set", and a number of threads for "gpucsl".
check_delta <- function(delta, strategy) {
  delta <- check_shape(delta, "delta", c("set", "gpucsl"), strategy)
  if (strategy == "gpucsl" && !is.null(delta) && delta %% 32L != 0L) {
    abort_argument("delta", delta, "give a multiple of 32, the number of threads in a warp.")
  }
  delta
}

# `block` is a number of rows of the correlations for "shared", and a number of tests at a time for "parallel".
check_block <- function(block, strategy) {
  rows <- strategy == "shared"
  check_shape(
    block,
    "block",
    c("shared", "parallel"),
    strategy,
    least = if (rows) 64 else 1,
    most = if (rows) 1e6 else 65535,
    hint = if (rows) " (rows), or strategy = \"parallel\" if you mean a number of tests" else ""
  )
}

# Returns bytes from a number or from text such as "2 GB". `unified`: whether "unified" is allowed, too.
check_memory <- function(memory, unified = TRUE) {
  if (is.null(memory) || (unified && identical(memory, "unified"))) {
    return(memory)
  }
  bytes <- if (is.character(memory) && length(memory) == 1L) bytes_of(memory) else memory
  if (!is_number(bytes) || bytes < 1) {
    abort_argument(
      "memory",
      memory,
      paste0(
        "give a number of bytes such as 4e9, text such as \"4 GB\" or \"500 MiB\", ",
        if (unified) "\"unified\", ",
        "or NULL for all free memory."
      )
    )
  }
  as.double(bytes)
}

# "2 GB" -> 2e9; NA for other text.
bytes_of <- function(text) {
  parts <- regmatches(
    text,
    regexec("^ *([0-9]+(?:\\.[0-9]+)?(?:[eE][0-9]+)?) *([kKMGT]i?)?[bB]? *$", text, perl = TRUE)
  )[[1L]]
  if (length(parts) != 3L) {
    return(NA_real_)
  }
  base <- if (endsWith(parts[3L], "i")) 1024 else 1000
  as.double(parts[2L]) * base^(match(toupper(substr(parts[3L], 1L, 1L)), c("", "K", "M", "G", "T")) - 1L)
}

#' @exportS3Method print pcgpu_device
print.pcgpu_device <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_device")
  check_object(x)
  cat("pcgpu device:", device_name(x), "\n")
  for (name in names(x$options)) {
    value <- x$options[[name]]
    cat(
      "  ",
      format(name, width = 8L),
      " ",
      if (name == "memory" && is.numeric(value)) in_bytes(value) else format(value),
      "\n",
      sep = ""
    )
  }
  invisible(x)
}

#' Run on the CPU with limited memory
#'
#' Selects the CPU, like `device = "cpu"`, and limits the memory for correlations that a search computes from data. The
#' answer is the same, to the last bit.
#'
#' @details
#' A Gaussian search whose sufficient statistic holds data (see `keep` of [suff_gauss()]) first computes the
#' correlations of all variables. They take 8 bytes for each cell of a p x p matrix, 80 GB for 100,000 variables, and as
#' much again in single precision if level 1 is dense. If that exceeds `memory`, the search computes only the
#' correlations that it needs and then discards them:
#' - at level 0, some columns at a time;
#' - at level 1, those of some rows with all variables, or of one row's pairs with its neighbours;
#' - at later levels, those of each row among its neighbours.
#'
#' Some correlations are then computed several times. A limit does not make a search faster, so allow all the memory
#' that there is.
#'
#' `memory` counts correlations, in both precisions, of all threads together. It does not count:
#' - the data, the result with the graph and the p-values, and the lists of a level's pairs;
#' - the working memory of the threads: about 5 MB each to compute correlations, and up to about 50 MB to decide rows of
#'   hundreds of neighbours.
#'
#' The smallest value accepted is two columns of correlations, 16 p bytes. From level 2 on, `memory` must hold the
#' correlations of the row with the most neighbours: 8 (d + 1)^2 bytes for d neighbours. If it does not, the search ends
#' before that level with an error of class `pcgpu_error_argument` that names the row and the bytes.
#'
#' Without `memory`, [skeleton()] and [pc()] with 8,192 variables or more first look at 64 of them. (They do not with
#' method `"original"`, with a conservative or majority rule or, on a cluster, with a method other than
#' `"stable.fast"`.) If little is left to compute after level 0, they also compute only the correlations that they need.
#' For 50,000 variables with few edges, that saves 20 GB, and the time to fill them. Any other search computes all
#' correlations if there is memory for them, and otherwise limits itself to half of the available memory.
#'
#' `memory` has no effect if the correlations are given (`suffStat = list(C = , n = )`). It has none for discrete tests,
#' nearest-neighbour tests and R functions either, which need only the data and the result.
#'
#' @param memory Largest amount of memory for correlations, in bytes or as text such as `"4 GB"`; `NULL` means what is
#'   available.
#' @return A list of class `pcgpu_device`, for the argument `device` of [pc()], [skeleton()], [orient()], [suff_gauss()]
#'   and [select_features()].
#' @seealso [cuda_device()] for GPUs; [run_details()], which shows the memory that was used.
#' @examples
#' x <- matrix(rnorm(20000), 100, 200)
#' suff <- suff_gauss(x, keep = "data")
#' fit <- pc(suff, gaussCItest, alpha = 0.01, p = 200, numCores = 2, device = cpu_device(memory = 1e5))
#' run_details(fit)$memory
#' @export
cpu_device <- function(memory = NULL) {
  memory <- check_memory(memory, unified = FALSE)
  new_device("cpu", options = if (is.null(memory)) list() else list(memory = memory))
}

# Where a call runs: what the user asked for (the argument `device`), what is made of it for this call, and what happens
# when the automatic choice does not work out.

# From how many variables on device = "auto" takes a GPU where there is one. Measured on an H200 beside 16 cores (the part
# "crossing" of inst/bench/gpu.R, see inst/bench/RESULTS.md): from 200 on in a process that has used the GPU before. The first
# use costs about 0.14 s, which small problems do not earn back, hence the margin.
auto_variables <- 500L

# The same for tests of discrete variables, in counted samples of level 0 (observations times pairs of variables), on which
# the work rests: the CPU then takes about as long as the GPU with its first use (0.25 s on 16 cores; see RESULTS.md).
auto_counts <- 1e9

# The same for the nearest-neighbour tests, in pairs of observations times estimates of level 0: 16 cores take 0.3 s for so
# many, and two cores 2 s (see RESULTS.md).
auto_neighbours <- 1e10

# The same for select_features(), in counts (rows times columns times k). Measured on an H200 beside 16 cores (the example `select`,
# see inst/bench/RESULTS.md): 1e9 take the cores 0.2 s, as long as the first use of a GPU by a process.
auto_selection_counts <- 1e9

# The same for suff_gauss(), in multiplications (observations times pairs of variables): cor() takes as long for so many as the
# GPU with its first use.
auto_products <- 1.5e8

# The argument `device`, checked: a list of class "pcgpu_device", see cuda_device().
check_device <- function(device) {
  if (inherits(device, "pcgpu_device")) {
    return(device)
  }
  if (is.character(device) && length(device) == 1L && !is.na(device)) {
    if (device %in% c("auto", "cpu")) {
      return(new_device(device))
    }
    if (grepl("^cuda(:[0-9]{1,4})?$", device)) {
      return(new_device("cuda", ordinal = card_number(device)))
    }
  }
  abort_argument("device", device, paste(
    "give \"auto\", \"cpu\", \"cuda\" (the first GPU), \"cuda:1\" (the second; pcgpu_devices() lists them)",
    "or a cuda_device()."
  ))
}

new_device <- function(kind, ordinal = NULL, options = list()) {
  structure(list(kind = kind, ordinal = ordinal, options = options), class = "pcgpu_device")
}

# "cuda:1" -> 1, "cuda" -> 0.
card_number <- function(device) as.integer(sub("^cuda:?$", "0", sub("^cuda:([0-9]+)$", "\\1", device)))

# Settles where a search or an orientation with a test of this kind runs: a device whose kind is "cpu" or "cuda". `automatic`
# says that "cuda" was not asked for by name, and may be given up. No GPU is touched here.
choose_device <- function(device, kind, method, pays) {
  if (device$kind == "cuda") {
    if (kind == "function") {
      abort_argument("device", device_name(device), paste(
        "a test that is an R function runs on the CPU:",
        "give device = \"cpu\" or \"auto\", or a test of this package."
      ))
    }
    if (method == "original") {
      abort_argument("device", device_name(device), paste(
        "the method \"original\" depends on the order of its tests and runs on the CPU:",
        "give device = \"cpu\" or \"auto\", or the method \"stable\"."
      ))
    }
    device$automatic <- FALSE
    return(device)
  }
  if (device$kind == "auto" && pays && method != "original") automatic_card() else new_device("cpu")
}

# Whether a GPU is worth its first use for a search among p variables with a native test.
gpu_pays <- function(test, p) {
  pairs <- p * (p - 1) / 2
  switch(test$kind,
    gauss = p >= auto_variables,
    discrete = length(test$dm) / test$p * pairs >= auto_counts,
    knn = (length(test$data) / test$p)^2 * (test$permutations + 1) * pairs >= auto_neighbours,
    FALSE
  )
}

automatic_card <- function() {
  device <- new_device("cuda", ordinal = 0L)
  device$automatic <- TRUE
  device
}

# What Rust's boundary reads (input::engine).
engine_list <- function(device, threads) {
  c(
    list(kind = device$kind, threads = as.integer(threads), threads_named = isTRUE(attr(threads, "named")), ordinal = device$ordinal),
    device$options
  )
}

# Calls `run(engine)`, which calls Rust. Where an automatic choice of a GPU ends in an error of the device, it is called
# once more for the CPU.
on_device <- function(device, threads, run) {
  answer <- run(engine_list(device, threads))
  failure <- if (is.list(answer)) answer$error
  if (isTRUE(device$automatic) && !is.null(failure) && is_device_failure(failure)) {
    tell_fallback(failure)
    answer <- run(engine_list(new_device("cpu"), threads))
  }
  answer
}

is_device_failure <- function(failure) startsWith(failure$class, "device_")

# Machines without a GPU are the rule: nothing is said there. A GPU that is there and cannot be used is worth a message,
# one for each reason in a session.
tell_fallback <- function(failure) {
  reason <- sub("^device_", "", failure$class)
  if (reason %in% c("no_driver", "no_device") || !is.null(session$told[[reason]])) {
    return(invisible())
  }
  session$told[[reason]] <- TRUE
  tell("fallback", paste0("pcgpu runs on the CPU, not on the GPU: ", failure$message, "."), reason = reason)
}

# What this session has said already, pcalg's own functions where use_in_pcalg() has put them aside, and the number of the process
# that loaded the package.
session <- new.env(parent = emptyenv())
session$told <- list()

device_name <- function(device) {
  if (device$kind == "cuda") paste0("cuda:", device$ordinal) else device$kind
}

# Where a call runs: the argument `device`, the choice that it leads to for this call, and what happens when an automatically
# chosen GPU fails.

# From how many variables on device = "auto" takes a GPU where there is one. Measured on an H200 beside 16 cores (the part
# "crossing" of bench/gpu.R, see bench/RESULTS.md): from 200 on in a process that has used the GPU before. The first
# use costs about 0.14 s, which small problems do not earn back, hence the margin.
auto_variables <- 500L

# The same for tests of discrete variables, in observations counted at level 0 (observations times pairs of variables), which
# is most of the work: at this size the CPU takes about as long as the GPU with its first use (0.25 s on 16 cores; see RESULTS.md).
auto_counts <- 1e9

# The same for the nearest-neighbour tests, in pairs of observations times estimates of level 0: 16 cores take 0.3 s for so
# many, and two cores 2 s (see RESULTS.md).
auto_neighbours <- 1e10

# The same for tests of both numbers and levels, in observations times pairs of variables (and data sets), of data with so many observations. Measured
# on an H100 beside 16 cores (the part "crossing" of bench/missing.R, see bench/RESULTS.md): from there on it saves more than its first use costs; with few
# observations the CPU's part, p of the cells, is most of a test. Tests of numbers alone and of levels alone are as quick on those cores, or quicker.
auto_cells <- 4e7
auto_cells_rows <- 2000L

# From how many tests at most on the possible-d-sep phase of fci() goes to a GPU, whatever searched the skeleton, for gaussCItest(). Measured on an H200 beside 16
# cores (the example `fci`, see RESULTS.md): 1e9 take the cores 1.3 s and the GPU 0.3 s, and its first use 0.2 to 0.4 s.
auto_phase_tests <- 1e9

# From where on device = "auto" takes all GPUs, where there are several: by the same measures. Measured on two H200 (see RESULTS.md): from
# here on the second saves about what its first use costs (0.4 s).
auto_team_variables <- 40000L
auto_team_counts <- 2e12
auto_team_neighbours <- 2e11
auto_team_cells <- 1e12

# The same for select_features(), in counts (rows times columns times k). Measured on an H200 beside 16 cores (the example `select`,
# see bench/RESULTS.md): 1e9 take the cores 0.2 s, as long as the first use of a GPU by a process.
auto_selection_counts <- 1e9

# From where on the workers of `cluster =` share a selection from all rows, in rows times columns, and these times k. Measured with two workers on the
# machine of the driver (bench/cluster.R, see RESULTS.md): below, one process is as soon done with a turn as its messages are.
shared_cells <- 1e7
shared_counts <- 3e8

# The same for suff_gauss(), in multiplications (observations times pairs of variables): for about so many, 16 cores take as long as
# an H200 to which the data have to travel.
auto_products <- 2e10

# The argument `device`, checked: a list of class "pcgpu_device", see cuda_device().
check_device <- function(device) {
  if (inherits(device, "pcgpu_device")) {
    return(check_object(device, "device"))
  }
  if (identical(device, "auto") || identical(device, "cpu")) {
    return(new_device(device))
  }
  if (is.character(device) && length(device) > 0L && !anyNA(device)) {
    cpu <- device == "cpu"
    if (all(cpu | grepl("^cuda(:[0-9]{1,4}|:all)?$", device)) && !all(cpu)) {
      ordinals <- unlist(lapply(device[!cpu], gpu_numbers))
      return(new_device("cuda", ordinal = unique(ordinals), cpu = any(cpu)))
    }
  }
  abort_argument("device", device, paste(
    "give \"auto\", \"cpu\", \"cuda\" (the first GPU), \"cuda:1\" (the second; pcgpu_devices() lists them), several names such as",
    "c(\"cuda:0\", \"cuda:1\"), \"cuda:all\" or c(\"cpu\", \"cuda:all\"), or the result of cuda_device() or cpu_device()."
  ))
}

# Of a GPU, or several: their numbers, from 0, and whether the CPU works with them.
new_device <- function(kind, ordinal = NULL, options = list(), cpu = FALSE) {
  structure(list(kind = kind, ordinal = ordinal, options = options, cpu = cpu), class = "pcgpu_device")
}

# The numbers of the GPUs that the kernels run on.
usable_gpus <- function(gpus = pcgpu_devices()) {
  which(numeric_version(gpus$compute_capability) >= "7.5") - 1L
}

# "cuda:1" -> 1, "cuda" -> 0, "cuda:all" -> all there are.
gpu_numbers <- function(device) {
  if (device != "cuda:all") {
    return(as.integer(sub("^cuda:?$", "0", sub("^cuda:([0-9]+)$", "\\1", device))))
  }
  gpus <- pcgpu_devices()
  if (nrow(gpus) == 0L) {
    abort_argument("device", device, "give device = \"cpu\" or \"auto\".",
      is = sprintf("%s, but there is no GPU (%s)", dQuote(device, FALSE), attr(gpus, "reason"))
    )
  }
  seq_len(nrow(gpus)) - 1L
}

# Where a search or an orientation with a test of p variables runs: a device whose kind is "cpu" or "cuda". `automatic` says
# that the user did not name the GPU, so that the CPU may take over. No GPU is touched here, but to count them where `several` of them pay.
choose_device <- function(device, test, p, method = "stable", pays = gpu_pays(test, p), several = FALSE) {
  if (device$kind == "cuda") {
    if (test$kind == "function") {
      abort_argument("device", device_name(device), "give device = \"cpu\" or \"auto\", or a test of this package.",
        is = sprintf("%s, but a test that is an R function runs on the CPU only", dQuote(device_name(device), FALSE))
      )
    }
    if (only_pools(test)) {
      abort_argument("device", device_name(device), "give device = \"cpu\" or \"auto\".",
        is = sprintf("%s, but tests of imputed numeric data only look up correlations, which a GPU cannot speed up", dQuote(device_name(device), FALSE))
      )
    }
    if (isTRUE(device$cpu) && !shares_with_cpu(test)) {
      tell("cpu_idle", paste(
        "`device` includes \"cpu\", but the CPU takes no part in this search: a GPU runs Gaussian and discrete tests faster alone.",
        "The CPU helps GPUs only with nearest-neighbour tests, tests of mixed data and select_features()."
      ), device = device_names(device))
      device$cpu <- FALSE
    }
    device$automatic <- FALSE
    return(device)
  }
  if (device$kind == "cpu") {
    return(device)
  }
  if (pays && method != "original") automatic_gpu(several) else automatic_cpu(test)
}

# Whether the CPU takes a part of a test's work where `device` names it along with GPUs, as Test::shares_with_cpu() in src/rust/src/test.rs.
shares_with_cpu <- function(test) test$kind %in% c("knn", "mixed")

# The order of tests that a choice of device goes by: where a GPU asks a level's tests in batches in any case, tiers change nothing for it; the
# kernels of the others know none, and they are asked as with "original".
order_of_tests <- function(test, options) {
  in_batches <- test$kind %in% c("knn", "mixed")
  if (is.null(options$knowledge$tiers) || in_batches) options$method else "original"
}

# Whether a GPU is worth its first use for a search among p variables with a native test.
gpu_pays <- function(test, p) has_work(test, p, auto_variables, auto_counts, auto_neighbours, auto_cells)

# Whether several GPUs are worth it, where there are several.
gpus_pay <- function(test, p) has_work(test, p, auto_team_variables, auto_team_counts, auto_team_neighbours, auto_team_cells)

# Whether a search has at least so much work, by the measure of its test.
has_work <- function(test, p, variables, counts, neighbours, cells) {
  pairs <- p * (p - 1) / 2
  switch(test$kind,
    gauss = p >= variables,
    discrete = length(test$dm) / test$p * pairs >= counts,
    knn = (length(test$data) / test$p)^2 * (test$permutations + 1) * pairs >= neighbours,
    mixed = has_both_kinds(test) && test$n >= auto_cells_rows && test$n * test$sets * pairs >= cells,
    FALSE
  )
}

# Whether a test is of numbers and of levels.
has_both_kinds <- function(test) {
  are_levels <- vapply(test$columns, `[[`, 0L, "levels") > 0L
  any(are_levels) && !all(are_levels)
}

# Whether a test pools correlations of completed data, and asks nothing of the data themselves.
only_pools <- function(test) {
  test$kind == "mixed" &&
    (!is.null(test$correlations) || test$holes == "imputed" && all(vapply(test$columns, `[[`, 0L, "levels") == 0L))
}

# The CPU, which a GPU may take over from, see auto_phase_tests.
automatic_cpu <- function(test) {
  device <- new_device("cpu")
  device$automatic <- TRUE
  if (test$kind == "gauss") device$later <- automatic_gpu()
  device
}

automatic_gpu <- function(several = FALSE) {
  ordinals <- if (several) usable_gpus() else 0L
  device <- new_device("cuda", ordinal = if (length(ordinals)) ordinals else 0L)
  device$automatic <- TRUE
  device
}

# The list that Rust's boundary reads (Machine::from_list in src/rust/src/machine.rs).
engine_list <- function(device, threads) {
  c(
    list(
      kind = device$kind, threads = as.integer(threads), threads_named = isTRUE(attr(threads, "named")),
      ordinals = device$ordinal, cpu = isTRUE(device$cpu)
    ),
    if (!is.null(device$later)) list(later = c(engine_list(device$later, threads), list(from = auto_phase_tests))),
    device$options
  )
}

# Calls `run(engine)`, which calls Rust. Where an automatically chosen GPU ends in an error of the device, calls it once more
# for the CPU.
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

# Most machines have no GPU, and get no message. A GPU that is there and cannot be used gets one message for each reason in a
# session.
tell_fallback <- function(failure) {
  reason <- sub("^device_", "", failure$class)
  if (reason %in% c("no_driver", "no_device") || !is.null(session$told[[reason]])) {
    return(invisible())
  }
  session$told[[reason]] <- TRUE
  tell("fallback", paste0("pcgpu uses the CPU instead of the GPU: ", failure$message, "."), reason = reason)
}

# State of this R session: the reasons of fallbacks already reported (`told`), pcalg's own functions while use_in_pcalg() replaces them
# (`pcalg`), the process id that loaded the package (`process`), and locks on folders of jobs (`locks`).
session <- new.env(parent = emptyenv())
session$told <- session$locks <- list()

# One line, for messages.
device_name <- function(device) paste(device_names(device), collapse = " + ")

device_names <- function(device) {
  if (device$kind == "cuda") c(if (isTRUE(device$cpu)) "cpu", paste0("cuda:", device$ordinal)) else device$kind
}

# Says which machines of a team left their work to others, if any did: `lost` has their names, the reasons, and whether each `failed`, which
# is so where nothing else is known. A GPU with too little memory did not fail.
tell_lost <- function(lost) {
  failed <- rep_len(lost$failed %||% TRUE, length(lost$machine))
  for (i in seq_along(lost$machine)) {
    said <- if (failed[i]) "failed, and others did its work" else "has too little memory and takes no further part"
    tell("lost", sprintf("%s %s: %s.", lost$machine[i], said, lost$reason[i]),
      device = lost$machine[i], reason = lost$reason[i], failed = failed[i]
    )
  }
}

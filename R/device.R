# Decides where a call runs: checks the argument `device`, chooses a device, and falls back to the CPU if an
# automatically chosen GPU fails.

# The number of variables from which device = "auto" chooses a GPU, if there is one. On an H200 compared with 16 cores
# (bench/results.csv, suite crossing), the GPU is faster from 200 variables on if the process has used it before. The
# first use costs about 0.14 s, which small problems do not earn back, hence the margin.
auto_variables <- 500L

# The threshold for tests of discrete variables, in observations counted at level 0 (observations times pairs of
# variables), which is most of the work. At this size the CPU takes about as long as the GPU with its first use (0.25 s
# on 16 cores; bench/results.csv, suite discrete, cases "crossing").
auto_counts <- 1e9

# The threshold for nearest-neighbour tests, in pairs of observations times estimates of level 0: 16 cores take 0.3 s
# for this many, and two cores 2 s (n 1,000, no member of S; 2026-11-21, commit 1122876).
auto_neighbours <- 1e10

# The threshold for tests of mixed data, in observations times pairs of variables (and data sets), and in observations.
# On an H100 compared with 16 cores (bench/results.csv, suite missing, cases "crossing"), a GPU then saves more than its
# first use costs. With few observations most of a test is the CPU's part, the p-value of the cells. Mixed tests of
# columns of one kind are at least as fast on those cores.
auto_cells <- 4e7
auto_cells_rows <- 2000L

# The largest possible number of tests from which the possible-d-sep phase of fci() runs on a GPU for gaussCItest(),
# even if the skeleton did not. On an H200 compared with 16 cores (bench/results.csv, suite fci, cases "phase"), 1e9
# tests take the cores 1.3 s and the GPU 0.3 s; its first use takes 0.2 to 0.4 s.
auto_phase_tests <- 1e9

# The threshold for tests by random features, in rows times pairs of variables. At 2.5e6 (100 x 500 with 8 neighbours,
# to level 3), 16 cores take 0.34 s, and an H200 takes 0.37 s at its first use and then 0.03 s. Fewer neighbours make
# fewer tests (bench/results.csv, suite features).
auto_features <- 2e6

# The same measures, from which device = "auto" uses all GPUs. On two H200 (bench/results.csv, suite gpus), the second
# GPU then saves about as much as its first use costs (0.4 s).
auto_team_variables <- 40000L
auto_team_counts <- 2e12
auto_team_neighbours <- 2e11
auto_team_cells <- 1e12
# Tests by random features were not measured on several GPUs: these are used if they are named.
auto_team_features <- Inf

# The threshold for select_features(), in counts (rows times columns times k). 1e9 counts take 16 cores 0.2 s, as long
# as the first use of a GPU by a process. Measured on an H200 (bench/results.csv, suite select, cases "crossing").
auto_selection_counts <- 1e9

# The sizes from which the workers of `cluster =` share a selection from all rows: rows times columns, and these times
# k. Measured with two workers on the driver's machine (bench/results.csv, suite cluster, cases "select"). Below these
# sizes, one process does a round in the time that its messages would take.
shared_cells <- 1e7
shared_counts <- 3e8

# The threshold for suff_gauss(), in multiplications (observations times pairs of variables). For about this many, 16
# cores take as long as an H200 including the transfer of the data.
auto_products <- 2e10

# Checks the argument `device`. Returns a list of class "pcgpu_device", see cuda_device().
check_device <- function(device) {
  if (inherits(device, "pcgpu_device")) {
    return(check_object(device, "device"))
  }
  if (identical(device, "auto") || identical(device, "cpu")) {
    return(new_device(device))
  }
  if (is.character(device) && length(device) > 0L && !anyNA(device)) {
    cpu <- device == "cpu"
    if (all(cpu | is_gpu_name(device)) && !all(cpu)) {
      ordinals <- unlist(lapply(device[!cpu], gpu_numbers))
      return(new_device("cuda", ordinal = unique(ordinals), cpu = any(cpu)))
    }
  }
  abort_argument(
    "device",
    device,
    paste(
      "give \"auto\", \"cpu\", \"cuda\" (the first GPU), \"cuda:1\" (the second; pcgpu_devices() lists them), several",
      "names such as",
      "c(\"cuda:0\", \"cuda:1\"), \"cuda:all\" or c(\"cpu\", \"cuda:all\"), or the result of cuda_device() or",
      "cpu_device()."
    )
  )
}

# Returns whether these are names of GPUs, such as "cuda:1".
is_gpu_name <- function(names) grepl("^cuda(:[0-9]{1,4}|:all)?$", names)

# Makes a device. ordinal: the numbers of its GPUs, starting at 0. cpu: whether the CPU works with them.
new_device <- function(kind, ordinal = NULL, options = list(), cpu = FALSE) {
  structure(list(kind = kind, ordinal = ordinal, options = options, cpu = cpu), class = "pcgpu_device")
}

# Returns the numbers of the GPUs that can run the kernels.
usable_gpus <- function(gpus = pcgpu_devices()) {
  which(numeric_version(gpus$compute_capability) >= "7.5") - 1L
}

# "cuda:1" -> 1, "cuda" -> 0, "cuda:all" -> all GPUs.
gpu_numbers <- function(device) {
  if (device != "cuda:all") {
    return(as.integer(sub("^cuda:?$", "0", sub("^cuda:([0-9]+)$", "\\1", device))))
  }
  gpus <- pcgpu_devices()
  if (nrow(gpus) == 0L) {
    abort_argument(
      "device",
      device,
      "give device = \"cpu\" or \"auto\".",
      is = sprintf("%s, but there is no GPU (%s)", dQuote(device, FALSE), attr(gpus, "reason"))
    )
  }
  seq_len(nrow(gpus)) - 1L
}

# Chooses the device of a search or an orientation with a test of p variables: its kind is "cpu" or "cuda". The element
# `automatic` says that the user did not name the GPU, so that the CPU may take over. GPUs are not used here, except to
# count them if `several` of them pay off.
choose_device <- function(device, test, p, method = "stable", pays = gpu_pays(test, p), several = FALSE) {
  if (device$kind == "cuda") {
    refuse_gpu(device, test)
    device <- without_idle_cpu(device, test)
    device$automatic <- FALSE
    return(device)
  }
  if (device$kind == "cpu") {
    return(device)
  }
  if (pays && method != "original") automatic_gpu(several) else automatic_cpu(test)
}

# Stops if a test runs on the CPU only.
refuse_gpu <- function(device, test) {
  why <- if (test$kind == "function") {
    "a test that is an R function runs on the CPU only"
  } else if (is_kci(test)) {
    "kciCItest() runs on the CPU only, as its work differs from set to set"
  } else if (!is.null(test$sizes)) {
    "tests with a sample size for each correlation run on the CPU only"
  } else if (only_pools(test)) {
    "tests of imputed numeric data only look up correlations, which a GPU cannot speed up"
  }
  if (!is.null(why)) {
    other <- if (test$kind == "function") ", or a test of this package"
    abort_argument(
      "device",
      device_name(device),
      paste0("give device = \"cpu\" or \"auto\"", other, "."),
      is = sprintf("%s, but %s", dQuote(device_name(device), FALSE), why)
    )
  }
}

# Returns `device`, as the user gave it or as check_device() returns it, without a CPU that would be idle next to GPUs.
# Reports such a CPU.
without_idle_cpu <- function(device, test) {
  names <- if (inherits(device, "pcgpu_device")) device_names(device) else device
  gpus <- if (is.character(names)) names[is_gpu_name(names)]
  if (shares_with_cpu(test) || !length(gpus) || !identical(unique(names[!names %in% gpus]), "cpu")) {
    return(device)
  }
  tell(
    "cpu_idle",
    paste(
      "`device` includes \"cpu\", but the CPU takes no part in this search.",
      "In Gaussian and discrete tests, one launch on a GPU does what takes the CPU seconds.",
      "The CPU helps GPUs only with nearest-neighbour tests, tests by random features, tests of mixed data and select_features()."
    ),
    device = names
  )
  if (is.character(device)) {
    return(gpus)
  }
  device$cpu <- FALSE
  device
}

# Returns whether the CPU does a part of a test's work if `device` names it together with GPUs, as
# Test::shares_with_cpu() in src/rust/src/test.rs.
shares_with_cpu <- function(test) test$kind %in% c("knn", "mixed", "features")

# Returns the method that the choice of a device depends on. Tiers change nothing for tests that a GPU always runs in
# batches. Other tests with tiers go to the CPU, as with "original": an H200 takes 0.16 s for 5,000 x 300 sparse data,
# and 32 cores take 0.14 (dense 3,000 x 100, levels 0 and 1: 0.18 and 0.10).
order_of_tests <- function(test, options) {
  if (is.null(options$knowledge$tiers) || shares_with_cpu(test)) options$method else "original"
}

# Returns whether a search among p variables with a native test saves more time on a GPU than its first use costs.
gpu_pays <- function(test, p) {
  has_work(test, p, auto_variables, auto_counts, auto_neighbours, auto_cells, auto_features)
}

# Returns whether several GPUs are worth their first use.
gpus_pay <- function(test, p) {
  has_work(test, p, auto_team_variables, auto_team_counts, auto_team_neighbours, auto_team_cells, auto_team_features)
}

# Returns whether a search has at least this much work, by the measure of its test.
has_work <- function(test, p, variables, counts, neighbours, cells, features) {
  pairs <- p * (p - 1) / 2
  switch(
    test$kind,
    gauss = p >= variables,
    discrete = length(test$dm) / test$p * pairs >= counts,
    knn = (length(test$data) / test$p)^2 * (test$permutations + 1) * pairs >= neighbours,
    features = !is_kci(test) && test$n * pairs >= features,
    mixed = has_both_kinds(test) && test$n >= auto_cells_rows && test$n * test$sets * pairs >= cells,
    FALSE
  )
}

# Returns whether a test has both numeric columns and columns of levels.
has_both_kinds <- function(test) {
  are_levels <- vapply(test$columns, `[[`, 0L, "levels") > 0L
  any(are_levels) && !all(are_levels)
}

# Returns whether a test is KCI, which has no random features.
is_kci <- function(test) test$kind == "features" && startsWith(test$form, "kci")

# Returns whether a test only looks up correlations, of imputed data or with sizes of their own.
only_pools <- function(test) {
  test$kind == "mixed" &&
    (!is.null(test$correlations) || test$holes == "imputed" && all(vapply(test$columns, `[[`, 0L, "levels") == 0L))
}

# Returns the CPU, from which a GPU may take over, see auto_phase_tests.
automatic_cpu <- function(test) {
  device <- new_device("cpu")
  device$automatic <- TRUE
  if (test$kind == "gauss") {
    device$later <- automatic_gpu()
  }
  device
}

automatic_gpu <- function(several = FALSE) {
  ordinals <- if (several) usable_gpus() else 0L
  device <- new_device("cuda", ordinal = if (length(ordinals)) ordinals else 0L)
  device$automatic <- TRUE
  device
}

# Returns the list that Rust reads (Machine::from_list in src/rust/src/machine.rs).
engine_list <- function(device, threads) {
  c(
    list(
      kind = device$kind,
      threads = as.integer(threads),
      threads_named = isTRUE(attr(threads, "named")),
      ordinals = device$ordinal,
      cpu = isTRUE(device$cpu)
    ),
    if (!is.null(device$later)) list(later = c(engine_list(device$later, threads), list(from = auto_phase_tests))),
    device$options
  )
}

# Calls `run(engine)`, which calls Rust. If an automatically chosen GPU fails, calls it again for the CPU.
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

# Reports why a GPU of this machine cannot be used, once per session for each reason. A machine without a GPU gets no
# message.
tell_fallback <- function(failure) {
  reason <- sub("^device_", "", failure$class)
  if (reason %in% c("no_driver", "no_device") || !is.null(session$reported[[reason]])) {
    return(invisible())
  }
  session$reported[[reason]] <- TRUE
  tell("fallback", paste0("pcgpu uses the CPU instead of the GPU: ", failure$message, "."), reason = reason)
}

# State of this R session. Its elements include:
# - `reported`: the reasons of fallbacks that have been reported;
# - `pcalg`: pcalg's own functions while use_in_pcalg() replaces them;
# - `process`: the id of the process that loaded the package;
# - `locks`: locks on folders of jobs.
session <- new.env(parent = emptyenv())
session$reported <- session$locks <- list()

# Returns the name of a device, for messages.
device_name <- function(device) paste(device_names(device), collapse = " + ")

device_names <- function(device) {
  if (device$kind == "cuda") c(if (isTRUE(device$cpu)) "cpu", paste0("cuda:", device$ordinal)) else device$kind
}

# Reports the machines of a team that left their work to others. `lost` has their names, the reasons, and whether each
# `failed`, TRUE by default. A GPU with too little memory did not fail.
tell_lost <- function(lost) {
  failed <- rep_len(lost$failed %||% TRUE, length(lost$machine))
  for (i in seq_along(lost$machine)) {
    said <- if (failed[i]) "failed, and others did its work" else "has too little memory and takes no further part"
    tell(
      "lost",
      sprintf("%s %s: %s.", lost$machine[i], said, lost$reason[i]),
      device = lost$machine[i],
      reason = lost$reason[i],
      failed = failed[i]
    )
  }
}

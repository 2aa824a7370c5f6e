# Sends data to the workers of a cluster, once. Large data are sent in a file if a worker sees the file's folder,
# otherwise in a message. Jobs share a folder with their driver anyway (cluster-jobs.R). Correlations have a data file
# of their own, so that workers of one host share its pages.

# The number of bytes from which data are sent in a file.
least_by_file <- 8e6

# Writes `setup` to a file. Returns list(setup, whose, end): what workers get instead of `setup`; for each worker,
# whether it gets that; and a function that removes the files. `hosts`: the hosts of the workers.
setup_by_file <- function(key, setup, hosts) {
  nowhere <- list(whose = logical(length(hosts)), end = function() NULL)
  if (bytes_of_setup(setup) < least_by_file) {
    return(nowhere)
  }
  named <- getOption("pcgpu.cluster_folder")
  # Without the option, only processes of this machine see the folder, which is in this session's temporary one.
  whose <- if (is.null(named)) hosts == Sys.info()[["nodename"]] else rep(TRUE, length(hosts))
  if (!any(whose)) {
    return(nowhere)
  }
  folder <- if (!is.null(named)) job_folder(key, named) else file.path(tempdir(), paste0("pcgpu-", key))
  end <- function() remove_folder(folder)
  place <- file.path(folder, "setup")
  written <- FALSE
  on.exit(if (!written) end())
  # If the disk is full, the data are sent in messages.
  written <- tryCatch(
    {
      dir.create(folder, showWarnings = FALSE, mode = "0700")
      put(list(key = key, setup = with_files(setup, folder)), place)
      TRUE
    },
    pcgpu_error = function(e) {
      tell(
        "cluster",
        sprintf("The data are sent to each worker, because they cannot be shared in a file: %s", conditionMessage(e))
      )
      FALSE
    }
  )
  if (!written) {
    return(nowhere)
  }
  list(setup = structure(list(key = key, path = place), class = "pcgpu_setup_file"), whose = whose, end = end)
}

# Returns about how many bytes a worker gets. A test that is an R function has its data in the environment in which it
# was made.
bytes_of_setup <- function(setup) {
  around <- if (is.function(setup$test$fun)) as.list(environment(setup$test$fun))
  as.double(utils::object.size(setup)) + as.double(utils::object.size(around))
}

# Returns the setup. If its correlations are large, they are replaced by a data file in this folder.
with_files <- function(setup, folder) {
  C <- setup$test$C
  if (is.double(C) && utils::object.size(C) >= least_by_file) {
    setup$test$C <- private(write_file(unname(C), file.path(folder, "correlations"), NULL, progress_reporter(FALSE)))
  }
  setup
}

# Reads the setup on a worker. Returns NULL if the worker cannot read it.
read_setup <- function(reference) {
  tryCatch(
    {
      found <- if (file.exists(reference$path)) readRDS(reference$path)
      # Another call's file has another key.
      if (identical(found$key, reference$key)) {
        check_files(found$setup)
        found$setup
      }
    },
    error = function(e) NULL
  )
}

# Stops if the numbers in a setup's data file are not those that were written.
check_files <- function(setup) {
  if (is_file(setup$test$C)) open_reference(file_reference(setup$test$C), verify = TRUE)
}

# Checks that an answer of a worker has the form that our own workers give it. A worker that sends anything else counts
# as lost, like one whose connection ends: another process may have taken its place, or its message may be damaged.
# (Rust checks raw messages by their checksums.)

unreadable <- "its answer cannot be read"

is_whole_number <- function(x) is_number(x) && x == floor(x)

# Checks an answer of rank_about().
is_about <- function(about) is.list(about) && is_text(about$host) && is_text(about$version)

# Checks an answer of rank_answer() in a task that Rust leads: raw, text if the worker is gone, or the condition of a
# test that failed.
is_answer <- function(answer) {
  if (inherits(answer, "pcgpu_rank_condition")) {
    is_place <- is_whole_number(answer$x) && is_whole_number(answer$y) && (is.null(answer$S) || is.numeric(answer$S))
    return(
      is_text(answer$message) &&
        "pcgpu_error_test" %in% answer$class &&
        is_place &&
        (is.null(answer$parent) || is_condition(answer$parent))
    )
  }
  is_text(answer) || is.raw(answer) && is_said(attr(answer, "said"))
}

# Checks the attribute that with_said() adds.
is_said <- function(said) {
  is.null(said) ||
    is.list(said) &&
      (is.null(said$conditions) || is.list(said$conditions)) &&
      all(vapply(
        said$conditions,
        function(one) {
          is.list(one) && is_condition(one$condition) && is_number(one$count)
        },
        NA
      ))
}

is_condition <- function(x) inherits(x, "condition") && is.list(x) && is_text(x$message)

# Checks whether a worker reports that its task ended with an error.
is_failure <- function(answer) {
  inherits(answer, "pcgpu_rank_failed") &&
    is.list(answer) &&
    inherits(answer$condition, "pcgpu_error") &&
    is_condition(answer$condition)
}

# Returns whether a list has these vectors, of these lengths, without missing values.
has_vectors <- function(x, lengths, is = is.numeric) {
  is.list(x) &&
    all(vapply(
      names(lengths),
      function(name) is(x[[name]]) && length(x[[name]]) == lengths[[name]] && !anyNA(x[[name]]),
      NA
    ))
}

# How data reach the workers of a cluster, once: by a file, where there are many and a worker sees the file's folder, else in a message. Jobs have a folder
# with their driver anyway (cluster-jobs.R). Correlations are a data file of their own: workers of one host share its pages.

# Bytes from which data go by a file.
least_by_file <- 8e6

# list(setup, whose, end): what workers are sent in place of `setup`; by host, who is; and what removes the files. `hosts`: where the workers run.
setup_by_file <- function(key, setup, hosts) {
  nowhere <- list(whose = logical(length(hosts)), end = function() NULL)
  if (bytes_of_setup(setup) < least_by_file) {
    return(nowhere)
  }
  named <- getOption("pcgpu.cluster_folder")
  # Without a folder of the user's, processes of this machine see that of this session.
  whose <- if (is.null(named)) hosts == Sys.info()[["nodename"]] else rep(TRUE, length(hosts))
  if (!any(whose)) {
    return(nowhere)
  }
  folder <- if (!is.null(named)) job_folder(key, named) else file.path(tempdir(), paste0("pcgpu-", key))
  end <- function() remove_folder(folder)
  place <- file.path(folder, "setup")
  written <- FALSE
  on.exit(if (!written) end())
  # A disk that is full is no reason to lose the call: the data can be sent.
  written <- tryCatch(
    {
      dir.create(folder, showWarnings = FALSE, mode = "0700")
      put(list(key = key, setup = with_files(setup, folder)), place)
      TRUE
    },
    pcgpu_error = function(e) {
      tell("cluster", sprintf("The data are sent to each worker, because they cannot be shared in a file: %s", conditionMessage(e)))
      FALSE
    }
  )
  if (!written) {
    return(nowhere)
  }
  list(setup = structure(list(key = key, path = place), class = "pcgpu_setup_file"), whose = whose, end = end)
}

# Bytes that a worker is sent, about. A test that is an R function has its data where it was made.
bytes_of_setup <- function(setup) {
  around <- if (is.function(setup$test$fun)) as.list(environment(setup$test$fun))
  as.double(utils::object.size(setup)) + as.double(utils::object.size(around))
}

# The setup with correlations, where they are many, as a data file in this folder.
with_files <- function(setup, folder) {
  C <- setup$test$C
  if (is.double(C) && utils::object.size(C) >= least_by_file) {
    setup$test$C <- private(write_file(unname(C), file.path(folder, "correlations"), NULL, progress_reporter(FALSE)))
  }
  setup
}

# On a worker: the setup as it was written; NULL where that cannot be read here.
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

# Stops where the numbers of a setup's data file are not those that were written.
check_files <- function(setup) {
  if (is_file(setup$test$C)) open_reference(file_reference(setup$test$C), verify = TRUE)
}

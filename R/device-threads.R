# Returns the number of threads: the argument `numCores`, else options(pcgpu.threads), else the environment variable
# PCGPU_NUM_THREADS. By default it is one in a forked process, whose siblings use the other cores, and all cores
# elsewhere. The answer of a search does not depend on it. The attribute "named" says that the user gave the number: it
# is then an error if threads cannot be started.
resolve_threads <- function(numCores = NULL) {
  if (!is.null(numCores)) {
    return(named_threads(check_number(
      numCores,
      "numCores",
      "give a positive number of threads, or leave it out to use all cores.",
      above = 0,
      pcalg = "(is.integer(numCores) || is.numeric(numCores)) && numCores > 0 is not TRUE"
    )))
  }
  option <- getOption("pcgpu.threads")
  if (!is.null(option)) {
    return(named_threads(check_number(
      option,
      "options(pcgpu.threads)",
      "set it to a number of threads of at least 1, or to NULL.",
      1
    )))
  }
  variable <- Sys.getenv("PCGPU_NUM_THREADS")
  if (nzchar(variable)) {
    number <- suppressWarnings(as.numeric(variable))
    if (is.na(number) || number < 1) {
      abort_argument(
        "PCGPU_NUM_THREADS",
        variable,
        "set this environment variable to a number of threads of at least 1, or unset it."
      )
    }
    return(named_threads(number))
  }
  if (!identical(session$process, Sys.getpid())) {
    return(1L)
  }
  cores <- rust_cores()
  # R CMD check allows a package two cores at a time, and sets this variable to say so.
  limit <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
  if (nzchar(limit) && limit != "false") min(cores, 2L) else cores
}

# Rounds a number of threads down, and limits it to 1 to 1024: far more threads than cores only cost memory.
named_threads <- function(number) structure(as.integer(max(1, min(floor(number), 1024))), named = TRUE)

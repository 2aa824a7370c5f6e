#' Describe this installation of pcgpu
#'
#' Returns versions, processor features and settings, in a form that can be pasted into a bug report.
#'
#' @return A list of class `pcgpu_info`:
#'   - `pcgpu`, `core`: versions of the R package and of its Rust core;
#'   - `simd`: the vector instructions in use;
#'   - `cores`, `threads`: the cores of this machine, and the threads used if `numCores` is left out;
#'   - `cuda`: whether this build has a CUDA engine;
#'   - `kernels`: the form to which its kernels are compiled;
#'   - `devices`: the GPUs, see [pcgpu_devices()];
#'   - `R`, `os`, `platform`: the R version, the operating system and R's platform;
#'   - `graph`, `pcalg`: versions of these packages, `NA` for one that is not installed.
#'
#'   An invalid default number of threads (`options(pcgpu.threads = )`) is an error of class `pcgpu_error_argument`.
#' @seealso [pcgpu_devices()] for the GPUs, [run_details()] for where a search ran.
#' @examples
#' pcgpu_info()
#' @export
pcgpu_info <- function() {
  rust <- rust_info()
  structure(list(
    pcgpu = as.character(utils::packageVersion("pcgpu")),
    core = rust$version,
    simd = rust$simd,
    cores = rust$cores,
    threads = as.integer(resolve_threads()),
    cuda = nzchar(rust$kernels),
    kernels = rust$kernels,
    devices = pcgpu_devices(free = TRUE),
    R = as.character(getRversion()),
    os = utils::osVersion,
    platform = R.version$platform,
    graph = installed_version("graph"),
    pcalg = installed_version("pcalg")
  ), class = "pcgpu_info")
}

installed_version <- function(package) {
  tryCatch(as.character(utils::packageVersion(package)), error = function(e) NA_character_)
}

#' @exportS3Method print pcgpu_info
print.pcgpu_info <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_info")
  check_object(x)
  there <- function(version) if (is.na(version)) "not installed" else version
  cat(
    "pcgpu ", x$pcgpu, " (Rust core ", x$core, ")\n",
    "engine:   CPU, ", x$simd, ", ", x$threads, " of ", x$cores, " cores by default\n",
    "CUDA:     ", if (x$cuda) x$kernels else "not in this build", "\n",
    device_lines(x$devices),
    "R:        ", x$R, " on ", x$platform, "\n",
    "system:   ", x$os, "\n",
    "graph:    ", there(x$graph), "\n",
    "pcalg:    ", there(x$pcalg), "\n",
    sep = ""
  )
  invisible(x)
}

device_lines <- function(devices) {
  if (nrow(devices) == 0L) {
    return(paste0("GPU:      none (", attr(devices, "reason"), ")\n"))
  }
  free <- ifelse(is.na(devices$memory_free), "", paste(gibibytes(devices$memory_free), "of "))
  paste0(sprintf(
    "GPU:      %s, %s, compute capability %s, %s%s%s, driver for CUDA %s\n", devices$device, devices$name,
    devices$compute_capability, free, gibibytes(devices$memory_total), ifelse(nzchar(free), " free", ""), devices$driver
  ), collapse = "")
}

#' List the GPUs of this machine
#'
#' Returns the NVIDIA GPUs of this machine with their memory and properties.
#'
#' @param free Query the free memory of all GPUs? The query must open each GPU, which takes 0.2 s and, briefly, 0.5 GB
#'   of its memory. If `FALSE`, the free memory is `NA` for GPUs that this R process has not used yet.
#' @return A data frame of class `pcgpu_devices` with a row for each GPU, and no rows if there is no usable GPU:
#'   - `device`: its name for the argument `device` of [pc()], such as `"cuda:0"`;
#'   - `name`: the name of the model;
#'   - `memory_total`, `memory_free`: memory in bytes; see `free`;
#'   - `compute_capability`: such as `"9.0"`;
#'   - `driver`: the newest CUDA version that the driver supports, such as `"12.4"`;
#'   - `multiprocessors`: the number of multiprocessors;
#'   - `unified`: whether `memory = "unified"` of [cuda_device()] works on it;
#'   - `peers`: the other GPUs whose memory it reads directly, such as `"cuda:1 cuda:2"`. Copies from other GPUs pass
#'     through the host, and make a search on several GPUs slower;
#'   - `ecc`: whether its memory corrects errors;
#'   - `pci`: its PCI address, as `lspci -D` shows it;
#'   - `uuid`: its unique identifier, as `nvidia-smi -L` shows it. It is not printed.
#'
#'   If there are no rows, the attribute `reason` says why; it is printed, too.
#'
#'   A machine without a GPU or a driver is not an error. Errors have the class `pcgpu_error_argument`.
#' @seealso [pcgpu_info()] for the rest of what a bug report needs.
#' @examples
#' pcgpu_devices()
#' @export
pcgpu_devices <- function(free = FALSE) {
  found <- rust_devices(check_flag(free, "free"))
  failure <- found$error
  if (!is.null(failure) && !is_device_failure(failure)) {
    check_rust(found)
  }
  gpus <- if (is.null(failure)) found else list()
  devices <- data.frame(
    device = sprintf("cuda:%d", as.integer(gpus$ordinal)),
    name = as.character(gpus$name),
    memory_total = as.double(gpus$memory_total),
    memory_free = as.double(gpus$memory_free),
    compute_capability = as.character(gpus$compute_capability),
    driver = as.character(gpus$driver),
    multiprocessors = as.integer(gpus$multiprocessors),
    unified = as.logical(gpus$unified),
    peers = as.character(gpus$peers),
    ecc = as.logical(gpus$ecc),
    pci = as.character(gpus$pci),
    uuid = as.character(gpus$uuid)
  )
  if (nrow(devices) == 0L) {
    attr(devices, "reason") <- failure$what %||% "the NVIDIA driver finds no GPU"
  }
  class(devices) <- c("pcgpu_devices", class(devices))
  devices
}

#' @exportS3Method print pcgpu_devices
print.pcgpu_devices <- function(x, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_devices")
  check_object(x)
  if (nrow(x) == 0L) {
    cat("No GPU: ", attr(x, "reason") %||% "none listed", ".\n", sep = "")
    return(invisible(x))
  }
  shown <- as.data.frame(unclass(x)[setdiff(names(x), "uuid")])
  for (column in intersect(c("memory_total", "memory_free"), names(shown))) {
    shown[[column]] <- gibibytes(shown[[column]])
  }
  print_frame(shown, given)
  invisible(x)
}

gibibytes <- function(bytes) ifelse(is.na(bytes), NA, sprintf("%.1f GiB", bytes / 2^30))

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
  structure(
    list(
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
    ),
    class = "pcgpu_info"
  )
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
    "pcgpu ",
    x$pcgpu,
    " (Rust core ",
    x$core,
    ")\n",
    "engine:   CPU, ",
    x$simd,
    ", ",
    x$threads,
    " of ",
    x$cores,
    " cores by default\n",
    "CUDA:     ",
    if (x$cuda) x$kernels else "not in this build",
    "\n",
    device_lines(x$devices),
    "R:        ",
    x$R,
    " on ",
    x$platform,
    "\n",
    "system:   ",
    x$os,
    "\n",
    "graph:    ",
    there(x$graph),
    "\n",
    "pcalg:    ",
    there(x$pcalg),
    "\n",
    sep = ""
  )
  invisible(x)
}

device_lines <- function(devices) {
  if (nrow(devices) == 0L) {
    return(paste0("GPU:      none (", attr(devices, "reason"), ")\n"))
  }
  free <- ifelse(is.na(devices$memory_free), "", paste(gibibytes(devices$memory_free), "of "))
  paste0(
    sprintf(
      "GPU:      %s, %s, compute capability %s, %s%s%s, driver for CUDA %s\n",
      devices$device,
      devices$name,
      devices$compute_capability,
      free,
      gibibytes(devices$memory_total),
      ifelse(nzchar(free), " free", ""),
      devices$driver
    ),
    collapse = ""
  )
}

#' The GPUs of this machine
#'
#' @param free Shall the free memory of all GPUs be asked for? Only a process that has opened a GPU can ask, which takes 0.2 s and
#'   0.5 GB of its memory for that moment. `FALSE`: it is `NA` for GPUs that this R process has not used yet.
#' @return A data frame of class `pcgpu_devices` with a row for each GPU, and none where there is no GPU that can be used:
#'   - `device`: its name for the argument `device` of [pc()], `"cuda:0"` and so on;
#'   - `name`: of the GPU;
#'   - `memory_total`, `memory_free`: in bytes; see `free`;
#'   - `compute_capability`: such as `"9.0"`;
#'   - `driver`: the newest CUDA version that the driver runs, such as `"12.4"`;
#'   - `multiprocessors`: how many it has;
#'   - `unified`: does `memory = "unified"` of [cuda_device()] work on it?
#'   - `peers`: the other GPUs whose memory it reads directly, such as `"cuda:1 cuda:2"`; copies from others go by way of the host, and a
#'     search on several GPUs is slower;
#'   - `ecc`: does its memory correct errors?
#'   - `pci`: its place in the machine, as `lspci -D` shows it;
#'   - `uuid`: what names it in any machine, as `nvidia-smi -L` shows it. It is not printed.
#'
#'   The attribute `reason` says why there is none; it is printed, too.
#'
#'   A machine without a GPU or a driver is no error: the table has no row. Errors have the class `pcgpu_error_argument`.
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
  for (column in intersect(c("memory_total", "memory_free"), names(shown))) shown[[column]] <- gibibytes(shown[[column]])
  print_frame(shown, given)
  invisible(x)
}

gibibytes <- function(bytes) ifelse(is.na(bytes), NA, sprintf("%.1f GiB", bytes / 2^30))

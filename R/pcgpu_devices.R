#' List the GPUs of this machine
#'
#' Returns the NVIDIA GPUs of this machine with their memory and properties.
#'
#' @param free Query the free memory of all GPUs? The query must open each GPU, which takes 0.2 s and, briefly, 0.5 GB of its memory. If `FALSE`, the free
#'   memory is `NA` for GPUs that this R process has not used yet.
#' @return A data frame of class `pcgpu_devices` with a row for each GPU, and no rows if there is no usable GPU:
#'   - `device`: its name for the argument `device` of [pc()], such as `"cuda:0"`;
#'   - `name`: the name of the model;
#'   - `memory_total`, `memory_free`: memory in bytes; see `free`;
#'   - `compute_capability`: such as `"9.0"`;
#'   - `driver`: the newest CUDA version that the driver supports, such as `"12.4"`;
#'   - `multiprocessors`: the number of multiprocessors;
#'   - `unified`: whether `memory = "unified"` of [cuda_device()] works on it;
#'   - `peers`: the other GPUs whose memory it reads directly, such as `"cuda:1 cuda:2"`. Copies from other GPUs pass through the host, and make a
#'     search on several GPUs slower;
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
  for (column in intersect(c("memory_total", "memory_free"), names(shown))) shown[[column]] <- gibibytes(shown[[column]])
  print_frame(shown, given)
  invisible(x)
}

gibibytes <- function(bytes) ifelse(is.na(bytes), NA, sprintf("%.1f GiB", bytes / 2^30))

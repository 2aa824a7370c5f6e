#' The GPUs of this machine
#'
#' @return A data frame of class `pcgpu_devices` with a row for each GPU, and none where there is no GPU that can be used:
#'   - `device`: its name for the argument `device` of [pc()], `"cuda:0"` and so on;
#'   - `name`: of the card;
#'   - `memory_total`, `memory_free`: in bytes;
#'   - `compute_capability`: such as `"9.0"`;
#'   - `driver`: the newest CUDA version that the driver runs, such as `"12.4"`.
#'
#'   The attribute `reason` says why there is none; it is printed, too.
#' @seealso [pcgpu_info()] for the rest of what a bug report needs.
#' @examples
#' pcgpu_devices()
#' @export
pcgpu_devices <- function() {
  found <- rust_devices()
  failure <- found$error
  if (!is.null(failure) && !is_device_failure(failure)) {
    check_rust(found)
  }
  cards <- if (is.null(failure)) found else list()
  devices <- data.frame(
    device = sprintf("cuda:%d", as.integer(cards$ordinal)),
    name = as.character(cards$name),
    memory_total = as.double(cards$memory_total),
    memory_free = as.double(cards$memory_free),
    compute_capability = as.character(cards$compute_capability),
    driver = as.character(cards$driver)
  )
  if (nrow(devices) == 0L) {
    attr(devices, "reason") <- failure$what %||% "the NVIDIA driver finds no GPU"
  }
  class(devices) <- c("pcgpu_devices", class(devices))
  devices
}

#' @exportS3Method print pcgpu_devices
print.pcgpu_devices <- function(x, ...) {
  if (nrow(x) == 0L) {
    cat("No GPU: ", attr(x, "reason") %||% "none listed", ".\n", sep = "")
    return(invisible(x))
  }
  shown <- as.data.frame(unclass(x)[names(x)])
  for (column in intersect(c("memory_total", "memory_free"), names(shown))) shown[[column]] <- gibibytes(shown[[column]])
  print(shown, ...)
  invisible(x)
}

gibibytes <- function(bytes) sprintf("%.1f GiB", bytes / 2^30)

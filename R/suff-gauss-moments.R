#' Moments of Gaussian data that are read in parts
#'
#' Reads data once, block by block, and keeps what correlations need: the number of rows, the means, and the central
#' sums of squares and products. `c()` combines the moments of several sets of rows, for instance from several files or
#' workers. [suff_gauss()] turns moments into a sufficient statistic.
#'
#' Blocks of 1,024 rows (2,048 with more than 512 variables) are centred by their own means and multiplied out. The
#' update of Chan, Golub and LeVeque (1983) adds them to the earlier rows. It loses no digits if means are large
#' compared with deviations: correlations equal those of [stats::cor()] to 1e-12. The blocks in which `x` returns its
#' rows, and the number of threads, change no bit. The parts that `c()` combines, and their order, may change the last
#' digits.
#'
#' @param x Data with observations in rows: a function without arguments that returns the next rows, a matrix or data
#'   frame, at each call, and `NULL` at the end; or any data that [suff_gauss()] accepts. Data that are not an R matrix
#'   are read one block at a time.
#' @param use How to treat missing values: `"everything"` and `"all.obs"` give an error if there are any;
#'   `"complete.obs"` and `"na.or.complete"` use the complete rows only.
#' @param progress Show a progress bar? As in [pc()].
#' @param ...,recursive Objects of class `pcgpu_moments` for the same variables. `recursive` is not used.
#' @return An object of class `pcgpu_moments`, a list that you can save and send to other processes:
#'   - `n`: the number of rows used;
#'   - `left_out`: the number of rows left out because a value is missing;
#'   - `least`, `largest`, `missing`: for each variable, the smallest and largest value and the number of missing
#'     values;
#'   - `power`, `origin`, `mean`, `products`: for values multiplied by two to the `power`, the means less `origin` and
#'     the central sums of products (the upper triangle by column).
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a data file is at fault.
#' @references
#' T. F. Chan, G. H. Golub and R. J. LeVeque (1983). Algorithms for computing the sample variance: analysis and
#' recommendations. *The American Statistician* 37, 242-247.
#' @seealso [suff_gauss()]
#' @examples
#' x <- as.matrix(iris[1:4])
#' first <- gauss_moments(x[1:100, ])
#' second <- gauss_moments(x[101:150, ])
#' suff <- suff_gauss(c(first, second))
#' all.equal(suff$C, cor(x), tolerance = 1e-12)
#'
#' # Reading a large text file, 100,000 lines at a time:
#' # lines <- file("large.csv", "r")
#' # names <- strsplit(readLines(lines, 1), ",")[[1]]
#' # following <- function() {
#' #   values <- scan(lines, sep = ",", nlines = 1e5, quiet = TRUE)
#' #   if (!length(values)) return(NULL)
#' #   matrix(values, ncol = length(names), byrow = TRUE, dimnames = list(NULL, names))
#' # }
#' # moments <- gauss_moments(following)
#' @export
gauss_moments <- function(x, use = c("everything", "all.obs", "complete.obs", "na.or.complete"), progress = NULL) {
  use <- check_choice(use, c("everything", "all.obs", "complete.obs", "na.or.complete"), "use")
  if (inherits(x, "pcgpu_moments")) {
    return(check_object(x))
  }
  bar <- progress_reporter(progress)
  on.exit(bar$close())
  x <- if (is.function(x)) x else check_data(x)
  come <- run_blocks(x, use, bar)
  engine <- engine_list(new_device("cpu"), resolve_threads())
  structure(c(check_rust(rust_moments_end(come$state, engine)), list(names = come$names)), class = "pcgpu_moments")
}

# Accumulates the moments of all blocks in Rust. Returns list(state, names).
run_blocks <- function(x, use, bar) {
  complete <- use %in% c("complete.obs", "na.or.complete")
  engine <- engine_list(new_device("cpu"), resolve_threads())
  state <- names <- NULL
  add <- function(block, row, column) {
    if (is.null(state)) {
      check_several(check_count_of_names(block, "x"))
      state <<- check_rust(rust_moments_begin(as.double(ncol(block)), complete))
      names <<- colnames(block)
    }
    check_content(block)
    found <- check_rust(rust_moments_add(state, as_columns(block), as.double(nrow(block)), engine))
    check_infinite(found, block)
    if (!complete) check_missing(found, block, hint_of_blocks(use))
  }
  if (is_read_by_blocks(x) || is_sparse(x)) {
    each_block(x, "rows", bar, add)
  } else if (nrow(x) > 0L) {
    add(x, 0, 0)
  }
  if (is.null(state)) {
    check_usable(x, 0L)
  }
  list(state = state, names = names)
}

# Stops for a file with centred columns, which lacks the means.
check_content <- function(x) {
  if (is_file(x) && x$content == "centred") {
    abort_argument("x", x, "use the file that holds the values.", is = "a file with centred columns")
  }
}

#' @rdname gauss_moments
#' @exportS3Method c pcgpu_moments
c.pcgpu_moments <- function(..., recursive = FALSE) {
  parts <- unname(list(...))
  check_moments(parts)
  engine <- engine_list(new_device("cpu"), resolve_threads())
  structure(c(check_rust(rust_moments_join(parts, engine)), parts[[1L]]["names"]), class = "pcgpu_moments")
}

# Checks that moments are unchanged and belong to the same variables.
check_moments <- function(parts, argument = "...") {
  for (part in parts) {
    if (!inherits(part, "pcgpu_moments")) {
      abort_argument(argument, part, "use the result of gauss_moments() without changes.")
    }
    check_object(part, argument)
    if (length(part$mean) != length(parts[[1L]]$mean) || !identical(part$names, parts[[1L]]$names)) {
      abort_argument(
        argument,
        part,
        "use moments of the same variables in the same order.",
        has = "moments of different variables"
      )
    }
  }
}

#' @exportS3Method print pcgpu_moments
print.pcgpu_moments <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_moments")
  check_object(x)
  left <- if (x$left_out > 0) sprintf(" (%s left out)", counted(x$left_out, "incomplete row"))
  say_lines(sprintf(
    "Moments of %s observations of %s variables%s",
    in_words(x$n),
    in_words(length(x$mean)),
    left %||% ""
  ))
  say_lines("Pass them to suff_gauss(); c() combines them with moments of other rows.")
  invisible(x)
}

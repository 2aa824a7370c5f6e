#' Moments of Gaussian data that come in parts
#'
#' Reads data once, block by block, and keeps what is needed for correlations: the number of rows, means, and central sums of squares and products. `c()` combines the moments of
#' several parts of the rows, for instance from several files or workers, and [suff_gauss()] turns them into a sufficient statistic.
#'
#' Each 1,024 rows (2,048 of more than 512 variables) are centred by their own means, multiplied out, and joined with those before by the update of Chan, Golub and
#' LeVeque (1983), which loses no digits where means are large beside deviations: correlations are those of [stats::cor()] to 1e-12. How rows are cut into
#' blocks changes no bit, and neither does the number of threads. Which parts are joined, and in which order, may change the last digits.
#'
#' @param x Data with observations in rows: a function without arguments that gives the next rows, a matrix or data frame, whenever it is called,
#'   and `NULL` at the end; or whatever [suff_gauss()] takes, which is read a block at a time where R does not hold it.
#' @param use How to treat missing values: `"everything"` and `"all.obs"` give an error if there are any; `"complete.obs"` and
#'   `"na.or.complete"` use the complete rows only.
#' @param progress Show a progress bar? As in [pc()].
#' @param ...,recursive Objects of class `pcgpu_moments`, of the same variables. `recursive` is not used.
#' @return An object of class `pcgpu_moments`, a list that may be saved and sent to other processes: `n`, the number of rows that count; `left_out`, that of
#'   rows that miss a value; by variable `least`, `largest` and `missing`; and `power`, `origin`, `mean` and `products`: the central sums of products of
#'   values times two to the `power`, the upper triangle by column, and their means less `origin`.
#'
#'   Errors have the class `pcgpu_error_argument`, those of a data file `pcgpu_error_file`.
#' @references
#' T. F. Chan, G. H. Golub and R. J. LeVeque (1983). Algorithms for computing the sample variance: analysis and recommendations.
#' *The American Statistician* 37, 242-247.
#' @seealso [suff_gauss()]
#' @examples
#' x <- as.matrix(iris[1:4])
#' first <- gauss_moments(x[1:100, ])
#' second <- gauss_moments(x[101:150, ])
#' suff <- suff_gauss(c(first, second))
#' all.equal(suff$C, cor(x), tolerance = 1e-12)
#'
#' # A large table of text, 100,000 lines at a time, would be read so:
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

# Moments of all blocks, in Rust: list(state, names).
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
    if (!complete) check_missing(found, block, mend_of_blocks(use))
  }
  if (is_read_by_blocks(x) || is_sparse(x)) {
    each_block(x, "rows", bar, add)
  } else if (nrow(x) > 0L) {
    add(x, 0, 0)
  }
  if (is.null(state)) check_usable(x, 0L)
  list(state = state, names = names)
}

# A file of columns less their means knows no other moments.
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

# Are they whole, and of the same variables?
check_moments <- function(parts, argument = "...") {
  for (part in parts) {
    if (!inherits(part, "pcgpu_moments")) {
      abort_argument(argument, part, "use the result of gauss_moments() without changes.")
    }
    check_object(part, argument)
    if (length(part$mean) != length(parts[[1L]]$mean) || !identical(part$names, parts[[1L]]$names)) {
      abort_argument(argument, part, "use moments of the same variables in the same order.", has = "moments of different variables")
    }
  }
}

#' @exportS3Method print pcgpu_moments
print.pcgpu_moments <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_moments")
  check_object(x)
  left <- if (x$left_out > 0) sprintf(" (%s left out)", counted(x$left_out, "incomplete row"))
  say_lines(sprintf("Moments of %s observations of %s variables%s", in_words(x$n), in_words(length(x$mean)), left %||% ""))
  say_lines("Pass them to suff_gauss(), or combine them with the moments of other observations by c().")
  invisible(x)
}

# testthat 3.1 writes conditions in snapshots in the format of later versions only with this option.
options("testthat:::rlang_dep" = TRUE)

# Calls testthat's expect_identical() only if the two differ. That function takes some milliseconds to find that they
# are identical, and there are tens of thousands of such comparisons.
expect_identical <- function(object, expected, info = NULL, label = NULL, ...) {
  if (identical(object, expected)) {
    testthat::succeed()
    return(invisible(object))
  }
  said <- function(code) paste(deparse(code, nlines = 1L), collapse = "")
  if (is.null(label)) {
    label <- said(substitute(object))
  }
  testthat::expect_identical(
    object,
    expected,
    info = info,
    label = label,
    expected.label = said(substitute(expected)),
    ...
  )
}

# Returns what run_details() says, without the times.
untimed <- function(details) details[setdiff(names(details), c("seconds", "times"))]

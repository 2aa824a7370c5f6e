# The sufficient statistic of gaussCItest(): list(C = <correlation matrix>, n = <sample size>) or kept data
# (suff-gauss-large.R). It is checked before any work, because most mistakes would otherwise show as a wrong graph
# instead of an error.

# With at most this many variables, the values of C are checked before a search begins.
most_checked_first <- 999L

# `later`: whether the search may check the values of C, see matrix_checked().
check_suff_gauss <- function(suffStat, labels, threads = 1L, later = FALSE) {
  if (is_kept(suffStat)) {
    of <- list(data = check_kept_data(suffStat$data, length(labels)))
    check_own_names(colnames(of$data), labels, "suffStat$data")
  } else {
    check_suff_list(suffStat)
    # The search checks them only where there is one size.
    later <- later && !is.matrix(suffStat$n)
    of <- list(C = check_cor_matrix(suffStat$C, length(labels)))
    check_matrix_names(of$C, labels, "suffStat$C")
    if (later && length(labels) > most_checked_first) {
      of$unchecked <- TRUE
    } else {
      of$undefined <- check_cor_values(of$C, threads)
    }
  }
  n <- plain_integer64(suffStat$n, "suffStat$n")
  if (is.matrix(n)) {
    return(c(of, list(n = check_sizes(n, length(labels)))))
  }
  # The names are no longer needed, but removing them from a shared matrix would copy it.
  c(of, n = check_observations(n))
}

check_observations <- function(n) {
  hint <- "use one number of at least 1, the number of observations behind C, for instance nrow(x)."
  check_number(plain_integer64(n, "suffStat$n"), "suffStat$n", hint, 1, below = Inf)
}

# Returns the numbers of observations behind the correlations as a matrix of doubles. NaN is a number that is not known.
check_sizes <- function(n, p) {
  want <- sprintf("use a symmetric %d x %d matrix with the number of observations behind each correlation.", p, p)
  if (!is.numeric(n) || !identical(dim(n), c(p, p))) {
    abort_argument("suffStat$n", n, want)
  }
  storage.mode(n) <- "double"
  pairs <- n[upper.tri(n)]
  if (all(is.na(pairs))) {
    abort_argument("suffStat$n", n, want, has = "no known number")
  }
  if (!identical(pairs, t(n)[upper.tri(n)]) || any(pairs < 1 | is.infinite(pairs), na.rm = TRUE)) {
    wrong <- pairs[!is.na(pairs) & (pairs < 1 | is.infinite(pairs))]
    abort_argument(
      "suffStat$n",
      n,
      want,
      is = if (length(wrong)) paste(format(wrong[1L]), "for a pair") else "not symmetric"
    )
  }
  n
}

# Returns the Gaussian test of correlations that have sizes of their own, in the form that Rust reads.
test_of_sizes <- function(found) {
  list(
    kind = "mixed",
    p = ncol(found$C),
    n = mean(found$n[upper.tri(found$n)], na.rm = TRUE),
    correlations = list(found$C),
    sizes = found$n
  )
}

check_suff_list <- function(suffStat) {
  if (is.data.frame(suffStat) || length(dim(suffStat)) == 2L) {
    square <- nrow(suffStat) == ncol(suffStat) && !is.data.frame(suffStat)
    abort_argument(
      "suffStat",
      suffStat,
      if (square) {
        "gaussCItest needs suffStat = list(C = <this matrix>, n = <number of observations>)."
      } else {
        paste(
          "gaussCItest needs correlations instead of data,",
          "such as suff_gauss(x) or list(C = cor(x), n = nrow(x))."
        )
      }
    )
  }
  # pcalg accepts an environment, too.
  if (!(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$C)) {
    abort_argument(
      "suffStat",
      suffStat,
      paste(
        "gaussCItest needs list(C = <correlation matrix>, n = <number of observations>),",
        "for instance suff_gauss(x) or list(C = cor(x), n = nrow(x))."
      )
    )
  }
  if (is.null(suffStat$n)) {
    abort_argument(
      "suffStat$n",
      NULL,
      "pass the number of observations behind C, for instance n = nrow(x).",
      is = "missing"
    )
  }
}

# Returns C as a plain double matrix with p rows and p columns.
check_cor_matrix <- function(C, p) {
  want <- sprintf("use the %d x %d correlation matrix of the variables, for instance cor(x).", p, p)
  C <- plain_integer64(C, "suffStat$C")
  if (is.data.frame(C) && all(vapply(C, is.numeric, NA)) || isS4(C) && methods::is(C, "Matrix")) {
    C <- as.matrix(C)
  }
  if (!is.matrix(C) || !is.numeric(C)) {
    abort_argument("suffStat$C", C, want)
  }
  if (nrow(C) != ncol(C)) {
    abort_argument(
      "suffStat$C",
      C,
      paste("it is not square and looks like data;", "use suff_gauss(x) or list(C = cor(x), n = nrow(x)).")
    )
  }
  if (nrow(C) != p) {
    abort_argument(
      "suffStat$C",
      C,
      "use the correlations of exactly these variables.",
      needs = column_for_each(p, ncol(C))
    )
  }
  if (!is.double(C)) {
    storage.mode(C) <- "double"
  }
  C
}

# Checks the values of C. Returns the number of pairs without a correlation, or NULL if there are none. NA is allowed,
# as in pcalg: its R function treats it as 0, and in its C++ code `NAdelete` decides.
check_cor_values <- function(C, threads) {
  # One pass over the matrix nearly always finds it correct; only otherwise do we look for the mistake.
  seen <- rust_is_correlation(C, nrow(C), as.integer(threads))
  if (seen > 0L) {
    return(if (seen == 2L) pairs_without(C))
  }
  d <- diag(C)
  off <- which(abs(d - 1) > 1e-8)
  if (length(off)) {
    abort_argument(
      "suffStat$C",
      C,
      "it looks like a covariance matrix; use cov2cor(C) or cor(x).",
      is = sprintf(
        "a matrix with %s instead of 1 on its diagonal, at [%d, %d]",
        format(d[off[1L]], digits = 15L),
        off[1L],
        off[1L]
      )
    )
  }
  # min() and max() without na.rm do not copy the matrix; range() always does.
  holes <- anyNA(C)
  reach <- suppressWarnings(c(min(C, na.rm = holes), max(C, na.rm = holes)))
  worst <- reach[which.max(abs(reach))]
  # If all values are NA, the range is Inf to -Inf.
  if (abs(worst) > 1 + 1e-8 && reach[1L] <= reach[2L]) {
    at <- which(C == worst, arr.ind = TRUE)[1L, ]
    abort_argument(
      "suffStat$C",
      C,
      "correlations lie between -1 and 1; use cor(x), or cov2cor() of a covariance matrix.",
      is = sprintf("a matrix with %s at [%d, %d]", format(worst, digits = 15L), at[1L], at[2L])
    )
  }
  check_symmetric(C)
  if (holes) pairs_without(C)
}

pairs_without <- function(C) (sum(is.na(C)) - sum(is.na(diag(C)))) / 2

check_symmetric <- function(C) {
  other <- t(C)
  if (identical(C, other)) {
    return(invisible())
  }
  apart <- abs(C - other) > 1e-10
  apart[is.na(apart)] <- FALSE
  apart <- apart | is.na(C) != is.na(other)
  if (any(apart)) {
    at <- which(apart, arr.ind = TRUE)[1L, ]
    abort_argument(
      "suffStat$C",
      C,
      "use a symmetric matrix, for instance cor(x), or (C + t(C)) / 2 if the difference is just rounding.",
      is = sprintf(
        "not symmetric: [%d, %d] is %s and [%d, %d] is %s",
        at[1L],
        at[2L],
        format(C[at[1L], at[2L]], digits = 15L),
        at[2L],
        at[1L],
        format(C[at[2L], at[1L]], digits = 15L)
      )
    )
  }
}

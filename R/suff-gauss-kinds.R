# The kinds of correlations of suff_gauss(), and what follows from them: how large the sample counts, whether the matrix is
# positive definite, and adjusted correlations.

correlation_kinds <- c(
  "pearson",
  "spearman",
  "kendall",
  "npn",
  "Qn",
  "QnStable",
  "ogkQn",
  "ogkScaleTau2",
  "shrink",
  "polychoric"
)

# Products of columns: these can be kept as columns, and run on a GPU.
product_kinds <- c("pearson", "npn")

# Orthogonalised estimates.
ogk_kinds <- c("ogkQn", "ogkScaleTau2")

# Those that do not estimate the correlations of normal variables where a column has few values.
kinds_of_many_values <- c("kendall", "Qn", "QnStable", ogk_kinds)

# pcalg's names of its estimators.
mcor_methods <- c("standard", "Qn", "QnStable", "ogkScaleTau2", "ogkQn", "shrink")

# The part of n that a test of a correlation near 0 has, compared with one of Pearson's correlation. 9 / pi^2 is the
# asymptotic efficiency of both rank correlations, 0.8227 that of Qn as a scale.
efficiency <- c(spearman = 9 / pi^2, kendall = 9 / pi^2, Qn = 0.8227, QnStable = 0.8227)

# Returns the name of correlations in a message.
kind_said <- function(correlation) {
  switch(
    correlation,
    spearman = "Spearman's",
    kendall = "Kendall's",
    polychoric = "polychoric",
    pearson = "Pearson's",
    paste0("\"", correlation, "\"")
  )
}

#' Correlation matrix, possibly by robust methods
#'
#' Computes the correlation matrix of data as `pcalg::mcor()` does, about ten times faster on each thread for the
#' robust methods. [suff_gauss()] with `correlation =` makes a sufficient statistic of the same correlations.
#'
#' @param dm A numeric matrix or data frame without missing values: n observations in rows, p variables in columns.
#' @param method The estimator:
#'   - `"standard"`: Pearson's correlations;
#'   - `"Qn"`, `"QnStable"`: each from the robust scale Qn of the sum and of the difference of two variables, as
#'     Gnanadesikan and Kettenring (1972) proposed. Qn is a quantile of the distances between values (Rousseeuw and
#'     Croux 1993). `"QnStable"` divides the variables by their scales first;
#'   - `"ogkQn"`, `"ogkScaleTau2"`: the orthogonalised estimator of Maronna and Zamar (2002) in two iterations, with Qn
#'     or the tau scale. It is positive definite;
#'   - `"shrink"`: Pearson's, with the correlations of the first variable shrunk towards 0. It is meant for a response in
#'     column 1.
#' @return A p x p matrix: pcalg's, to 1e-10, with the same dimnames. An exception are `"Qn"` and `"QnStable"`: ours are
#'   exact, while those of the package robustbase, which pcalg uses, sometimes differ by 1e-7.
#'
#'   Data that cannot be used are an error of class `pcgpu_error_argument`.
#' @references
#' R. Gnanadesikan and J. R. Kettenring (1972). Robust estimates, residuals, and outlier detection with multiresponse
#' data. *Biometrics* 28, 81-124.
#'
#' P. J. Rousseeuw and C. Croux (1993). Alternatives to the median absolute deviation. *Journal of the American
#' Statistical Association* 88, 1273-1283.
#'
#' R. A. Maronna and R. H. Zamar (2002). Robust estimates of location and dispersion of high-dimensional datasets.
#' *Technometrics* 44, 307-317.
#' @seealso [suff_gauss()]
#' @examples
#' set.seed(42)
#' x <- rnorm(100)
#' y <- 2 * x + rcauchy(100)
#' mcor(cbind(x, y))
#' mcor(cbind(x, y), method = "Qn")
#' @export
mcor <- function(dm, method = c("standard", "Qn", "QnStable", "ogkScaleTau2", "ogkQn", "shrink")) {
  method <- check_choice(method, mcor_methods, "method")
  dm <- about("dm", check_numeric_data(read_data(dm, "x")))
  kind <- if (method == "standard") "pearson" else method
  found <- about("dm", {
    check_usable(dm, nrow(dm), 2)
    found <- correlations_of(kind, dm, "all", new_device("cpu"), resolve_threads())
    check_infinite(found, dm)
    check_missing(found, dm, "drop or impute them.")
    check_constant(found, dm)
    found
  })
  names <- if (method %in% c("standard", "shrink") && !is.null(colnames(dm))) list(colnames(dm), colnames(dm))
  structure(found$C, dimnames = names)
}

# Returns what correlate() returns, for any kind.
correlations_of <- function(kind, x, rows, device, threads, ..., bar = list(), design = NULL) {
  if (kind %in% ogk_kinds) {
    return(ogk_correlations(kind, x, rows, threads, bar, design))
  }
  of <- if (kind == "shrink") "pearson" else kind
  found <- correlate(x, rows, of, device, threads, ..., bar = bar, design = design)
  if (kind == "shrink" && !is.null(found$C)) {
    found$C[1L, -1L] <- found$C[-1L, 1L] <- shrunk(found$C[1L, -1L], found$n)
  }
  found
}

# Shrinks correlations of one variable, as pcalg does: the factor is the signal's part of their sum of squares.
shrunk <- function(r, n) {
  squares <- r^2
  r * sum(squares) / (sum(squares) + sum((1 - squares)^2) / n)
}

# Returns the orthogonalised estimate of Maronna and Zamar: pairs give a matrix, whose eigenvectors give columns that
# hardly depend on each other. Twice that, and robust variances of the last columns.
ogk_correlations <- function(kind, x, rows, threads, bar, design) {
  x <- as.matrix(x)
  storage.mode(x) <- "double"
  found <- correlate(x, rows, "pearson", new_device("cpu"), threads, bar = bar, design = design)
  if (is.null(found$C)) {
    return(found)
  }
  all <- do.call(cbind, c(list(x), design$covariates))
  if (rows == "complete") {
    whole <- stats::complete.cases(all)
    x <- x[whole, , drop = FALSE]
    all <- all[whole, , drop = FALSE]
  }
  n <- nrow(all)
  scales <- function(z) matrix(check_rust(rust_centres_and_scales(z, as.double(n), kind)), 2L)[2L, ]
  z <- all
  basis <- diag(ncol(all))
  for (pass in 1:2) {
    own <- scales(z)
    check_scales(own, x, all)
    z <- z / rep(own, each = n)
    # As in pcalg, pairs are compared by the tau scale in both kinds.
    of_pairs <- correlate(z, "all", "ogk", new_device("cpu"), threads, bar = bar)$C
    vectors <- eigen(of_pairs, symmetric = TRUE)$vectors
    z <- z %*% vectors
    basis <- basis %*% (own * vectors)
  }
  C <- stats::cov2cor(tcrossprod(basis * rep(scales(z), each = ncol(all))))
  found$C <- structure(C, dimnames = if (!length(design$covariates)) dimnames(found$C))
  if (length(design$covariates)) adjusted(found, x) else found
}

check_scales <- function(scales, x, all) {
  zero <- !(scales > 0)
  if (any(zero[-seq_len(ncol(x))])) {
    refuse_indicators()
  }
  if (any(zero)) {
    abort_argument(
      "x",
      x,
      "use another correlation, such as \"npn\".",
      has = sprintf("more than half of its values equal in %s, whose robust scale is 0", column_names(all, zero))
    )
  }
}

# Returns `found` with the correlations of the first columns given the others: a Schur complement. A test of these with
# n minus the number of others is the test that has the others in every conditioning set. x: the data without the others.
adjusted <- function(found, x) {
  first <- seq_len(ncol(x))
  if (anyNA(found$C)) {
    if (any(rowSums(!is.na(found$C[-first, , drop = FALSE])) <= 1L)) {
      refuse_indicators()
    }
    found$C <- found$C[first, first, drop = FALSE]
    return(found)
  }
  own <- suppressWarnings(chol(found$C[-first, -first, drop = FALSE], pivot = TRUE, tol = 1e-9))
  rank <- seq_len(attr(own, "rank"))
  others <- setdiff(seq_len(ncol(found$C)), first)[attr(own, "pivot")[rank]]
  part <- backsolve(own[rank, rank, drop = FALSE], found$C[others, first, drop = FALSE], transpose = TRUE)
  C <- found$C[first, first, drop = FALSE] - crossprod(part)
  left <- diag(C)
  if (any(left < 1e-10)) {
    abort_determined(x, left < 1e-10)
  }
  C <- pmin(pmax(stats::cov2cor(C), -1), 1)
  dimnames(C) <- if (!is.null(colnames(x))) list(colnames(x), colnames(x))
  found$C <- C
  found$size <- found$size - length(rank)
  found$adjusted <- length(rank)
  found
}

refuse_indicators <- function() {
  abort_argument(
    "adjust",
    NULL,
    "use correlation = \"npn\" or \"pearson\".",
    has = "a covariate with few values, such as levels of a factor, which has no correlation of this kind"
  )
}

abort_determined <- function(x, which) {
  abort_argument(
    "x",
    x,
    sprintf("leave %s out, or adjust for less.", it_or_them(which)),
    has = sprintf("no variation that `adjust` or `id` leaves in %s", column_names(x, which))
  )
}

# Returns codes for ordered factors and factors with two levels, as list(x, levels): a data frame, and the number of
# levels of each column, 0 for numbers.
latent_columns <- function(x) {
  if (!is.data.frame(x)) {
    x <- as.data.frame(if (is.null(row_source(x))) x else in_memory(x, "x"))
  }
  discrete <- !vapply(x, is_number_column, NA)
  x[discrete] <- lapply(x[discrete], function(column) if (is.factor(column)) column else factor(column))
  bad <- discrete
  bad[discrete] <- vapply(x[discrete], function(column) !is.ordered(column) && nlevels(column) > 2L, NA)
  if (any(bad)) {
    abort_argument(
      "x",
      x,
      sprintf("put the levels into order with ordered(), or leave %s out.", it_or_them(bad)),
      has = sprintf("levels without an order in %s", column_names(x, bad))
    )
  }
  if (!any(discrete)) {
    abort_argument(
      "x",
      x,
      "make columns of codes ordered factors with ordered(), or use another correlation.",
      has = "no ordered factor"
    )
  }
  levels <- integer(ncol(x))
  levels[discrete] <- vapply(x[discrete], nlevels, 1L)
  x[discrete] <- lapply(x[discrete], as.integer)
  list(x = x, levels = levels)
}

# The largest absolute value of a correlation with levels.
most_latent <- 0.9999

warn_bound <- function(C) {
  at <- which(abs(C) > most_latent - 1e-6 & upper.tri(C), arr.ind = TRUE)
  if (!nrow(at)) {
    return(invisible())
  }
  warn(
    "bound",
    sprintf(
      "%s at the bound of %s, such as that of %s and %s: their table has empty cells, so merge rare levels.",
      counted(nrow(at), "polychoric correlation is", "polychoric correlations are"),
      format(most_latent),
      column_label(C, at[1L, 1L]),
      column_label(C, at[1L, 2L])
    )
  )
}

# Returns for each column the part of a normal variable's variance that its levels keep, 1 for numbers. Pairs of columns
# have the product of these parts as the efficiency of their polychoric correlation near 0.
kept_by_levels <- function(x, levels) {
  vapply(
    seq_along(levels),
    function(j) {
      if (!levels[j]) {
        return(1)
      }
      share <- tabulate(x[[j]], levels[j]) / sum(!is.na(x[[j]]))
      share <- share[share > 0]
      ends <- stats::dnorm(stats::qnorm(cumsum(share)[-length(share)]))
      sum(diff(c(0, ends, 0))^2 / share)
    },
    0
  )
}

# Returns the sample size of a test: one number, or with sizes = "each" one for each pair. pairs: the number of rows that
# a pair has, or NULL if all have the same. adjusted: the number of covariates for which pairs are adjusted.
sample_size <- function(n, correlation, sizes, pairs, kept, adjusted = 0) {
  part <- if (correlation %in% names(efficiency)) efficiency[[correlation]] else 1
  n <- n * part
  if (sizes == "each") {
    each <- if (is.null(pairs)) n else (pairs - adjusted) * part
    return(if (is.null(kept)) each else each * outer(kept, kept))
  }
  if (!is.null(kept)) {
    n <- n * (sum(kept)^2 - sum(kept^2)) / (length(kept) * (length(kept) - 1))
  }
  if (n == trunc(n)) whole_number(n) else n
}

# Returns the least eigenvalue of a symmetric matrix. For a large one, Lanczos' method: the least eigenvalue in the space
# of products with a vector, an upper bound that soon has some digits.
least_eigenvalue <- function(C) {
  p <- nrow(C)
  steps <- 100L
  if (p <= 2L * steps) {
    return(min(eigen(C, symmetric = TRUE, only.values = TRUE)$values))
  }
  basis <- matrix(0, p, steps)
  v <- sin(seq_len(p)^2)
  v <- v / sqrt(sum(v^2))
  diagonal <- beside <- numeric(steps)
  for (step in seq_len(steps)) {
    basis[, step] <- v
    w <- drop(C %*% v)
    diagonal[step] <- sum(w * v)
    for (again in 1:2) {
      w <- w - drop(basis %*% crossprod(basis, w))
    }
    beside[step] <- sqrt(sum(w^2))
    if (beside[step] < 1e-12) {
      break
    }
    v <- w / beside[step]
  }
  small <- diag(diagonal[seq_len(step)], step)
  for (at in seq_len(step - 1L)) {
    small[at, at + 1L] <- small[at + 1L, at] <- beside[at]
  }
  min(eigen(small, symmetric = TRUE, only.values = TRUE)$values)
}

# Reports a matrix that is not positive semi-definite, or replaces it. Returns list(C) with a note about it.
with_definite <- function(C, said, nearest) {
  least <- least_eigenvalue(C)
  if (least > -1e-8) {
    return(list(C = C))
  }
  if (!nearest) {
    warn(
      "indefinite",
      sprintf(
        paste(
          "The matrix of %s correlations is not positive semi-definite: its least eigenvalue is %s. Some partial",
          "correlations may be meaningless. Call suff_gauss() with nearest = TRUE, or use another correlation."
        ),
        said,
        format(least, digits = 3L)
      ),
      least = least
    )
    return(list(C = C, least_eigenvalue = least))
  }
  need_package("Matrix", "`nearest = TRUE` needs the package Matrix")
  near <- Matrix::nearPD(C, corr = TRUE, base.matrix = TRUE, maxit = 200L)$mat
  dimnames(near) <- dimnames(C)
  list(C = near, least_eigenvalue = least, repaired = "nearest positive definite matrix (Higham 2002)")
}

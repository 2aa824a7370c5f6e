#' Select the variables that are related to one variable
#'
#' Finds the columns of `dm` that are related to `y` whatever other columns are given (PC-simple). `pcSelect()` takes the
#' arguments of `pcalg::pcSelect()` and returns the same answer, without the correlations of all pairs. It therefore runs
#' on up to millions of columns, also in files. `pcSelect.presel()` selects twice: with `alphapre`, and among those
#' columns with `alpha`.
#'
#' The first pass keeps the columns whose correlation with `y` is significant. Further passes test each of them given
#' each set of 1, 2, ... others that are left. A column is removed if \eqn{|z|} is at most `qnorm(1 - alpha / 2)` for one
#' set; \eqn{z} is Fisher's \eqn{\sqrt{n - |S| - 3}\; \mathrm{atanh}(r)}{sqrt(n - |S| - 3) atanh(r)}, and \eqn{|r|} is
#' cut at 0.9999999.
#'
#' pcalg removes a column at once, so later columns are tested without it, and the answer may depend on the order of the
#' columns. With `stable = TRUE` a column stays in the sets until its pass ends. Then `G`, and `zMin` of the columns that
#' are kept, do not depend on the order.
#'
#' # Differences from pcalg
#'
#' - Missing values, infinite values and fewer than four rows are errors. pcalg drops such columns without a word.
#'   Genotypes of [plink_bed()], and then `y`, may have missing values: see there.
#' - If no column passes `alphapre`, `pcSelect.presel()` returns none, where pcalg stops.
#' - A column without a variance is removed as in pcalg, with a warning of class `pcgpu_warning_constant`.
#' - Correlations may differ from those of [stats::cor()] in the last digits.
#'
#' `verbose` prints pcalg's lines: `TRUE` those of each pass and each hundredth column, 2 also each test.
#'
#' @param y The response, a numeric vector with a value for each row of `dm`.
#' @param dm Data with observations in rows: a numeric matrix or data frame; a [pcgpu_file()], [plink_bed()], sparse
#'   matrix, `DelayedMatrix` or `big.matrix`, which are read in one pass.
#' @param alpha,alphapre Significance levels of each test, between 0 and 1. With a million columns, 0.01 leaves 10,000
#'   of unrelated ones after the first pass; choose a smaller level, or see [q_values()].
#' @param corMethod The estimator of correlations, as in `pcalg::mcor()`: `"standard"`; `"shrink"`, which shrinks the
#'   correlations with `y`; or one of the robust ones `"Qn"`, `"QnStable"`, `"ogkScaleTau2"` and `"ogkQn"`, which need
#'   the matrix of all correlations.
#' @param verbose `FALSE`, `TRUE` or 2.
#' @param directed Not used, as in pcalg.
#' @param stable Let the answer not depend on the order of the columns?
#' @param numCores Number of threads, all cores by default. The answer does not depend on it.
#' @param progress Show a progress bar? As in [pc()].
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return For `pcSelect()` a list:
#'   - `G`: for each column whether it is selected, with the names of the columns;
#'   - `zMin`: for each column the smallest \eqn{|z|} of its tests.
#'
#'   For `pcSelect.presel()` a list: `pcs`, as `G`; `Xnew`, the columns that `alphapre` selects; and `zMin`.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a file is at fault.
#' @references
#' P. Buehlmann, M. Kalisch and M. H. Maathuis (2010). Variable selection in high-dimensional linear models: partially
#' faithful distributions and the PC-simple algorithm. *Biometrika* 97(2), 261-278.
#' @seealso [q_values()] of the result, [local_pc()] for the graph around a variable, [select_features()] for selection
#'   by mutual information.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 50), 200, dimnames = list(NULL, paste0("x", 1:50)))
#' y <- x[, 1] + x[, 2] + rnorm(200)
#' found <- pcSelect(y, x, alpha = 0.01)
#' which(found$G)
#' q_values(found)
#' which(pcSelect(y, x, alpha = 0.01, stable = TRUE)$G)
#' @export
pcSelect <- function(
  y,
  dm,
  alpha,
  corMethod = "standard",
  verbose = FALSE,
  directed = FALSE,
  stable = FALSE,
  numCores,
  progress = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "pcSelect"))) {
    return(eval(taught, parent.frame()))
  }
  check_select_given(missing(y), missing(dm), missing(alpha))
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  bar <- progress_reporter(progress)
  on.exit(bar$close())
  cutoff <- select_level(alpha, "alpha")
  verbose <- check_verbose(verbose)
  stable <- check_flag(stable, "stable")
  of <- selection_of(y, dm, corMethod, threads, bar)
  select_among(of, seq_len(of$p), cutoff, verbose, stable)
}

#' @rdname pcSelect
#' @export
pcSelect.presel <- function(
  y,
  dm,
  alpha,
  alphapre,
  corMethod = "standard",
  verbose = 0,
  directed = FALSE,
  stable = FALSE,
  numCores,
  progress = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "pcSelect.presel"))) {
    return(eval(taught, parent.frame()))
  }
  check_select_given(missing(y), missing(dm), missing(alpha))
  check_given(
    list(alphapre = missing(alphapre)),
    list(alphapre = "give the level of the first selection, such as 0.1.")
  )
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  bar <- progress_reporter(progress)
  on.exit(bar$close())
  cutoff <- select_level(alpha, "alpha")
  before <- select_level(alphapre, "alphapre")
  verbose <- check_verbose(verbose)
  stable <- check_flag(stable, "stable")
  of <- selection_of(y, dm, corMethod, threads, bar)
  first <- select_among(of, seq_len(of$p), before, verbose, stable)
  found <- unname(which(first$G))
  chosen <- dm[, found, drop = FALSE]
  if (length(found)) {
    if (!is.null(of$C)) {
      # Some methods have other correlations among fewer columns.
      of <- selection_of(y, chosen, corMethod, threads, bar)
    }
    second <- select_among(of, if (is.null(of$C)) found else seq_along(found), cutoff, verbose, stable)
    first$G[found] <- second$G
    first$zMin[found] <- second$zMin
  }
  list(pcs = first$G, Xnew = chosen, zMin = first$zMin)
}

check_select_given <- function(y, dm, alpha) {
  check_given(
    list(y = y, dm = dm, alpha = alpha),
    list(
      y = "give the response, a numeric vector.",
      dm = "give the data, with observations in rows.",
      alpha = "give the significance level, for instance alpha = 0.01."
    )
  )
}

# Returns the |z| up to which a set separates.
select_level <- function(alpha, argument) {
  check_number(alpha, argument, "use one significance level between 0 and 1, for instance 0.01.", above = 0, below = 1)
  stats::qnorm(1 - alpha / 2)
}

# Returns what both passes need: the correlations `r` of y with all columns, and the columns or, for methods that need
# it, the matrix `C` of y and all columns.
selection_of <- function(y, dm, corMethod, threads, bar) {
  method <- check_choice(corMethod, mcor_methods, "corMethod")
  columns <- new_columns(dm, "dm")
  check_rows(columns, "dm")
  y <- check_response(y, columns)
  engine <- engine_list(new_device("cpu"), threads)
  of <- list(n = columns$n, p = columns$p, names = columns$names, columns = columns, engine = engine, bar = bar)
  of$shrink <- method == "shrink"
  if (!method %in% c("standard", "shrink")) {
    # The robust methods of mcor() need the matrix of all correlations.
    whole <- if (is.data.frame(columns$x)) as.matrix(columns$x) else in_memory(columns$x, "dm")
    C <- mcor(cbind(y, whole), method = method)
    of$C <- C
    of$columns <- new_columns(C = unname(C))
    of$r <- C[1L, -1L]
    return(of)
  }
  found <- scan_columns(columns, matrix(y), 0, engine, bar)
  check_scanned(columns, found, "dm")
  of$r <- found$near[[1L]]$r
  of
}

check_response <- function(y, columns) {
  if (!(is.numeric(y) || is.logical(y)) || is.factor(y) || length(y) != columns$n) {
    abort_argument("y", y, sprintf("use a numeric vector with a value for each of the %d rows of `dm`.", columns$n))
  }
  y <- as.double(plain_integer64(y, "y"))
  if (any(is.infinite(y))) {
    abort_argument("y", y, "drop these rows, or transform it differently.", has = "infinite values")
  }
  if (anyNA(y) && !columns$holes) {
    abort_argument("y", y, "drop these rows of `y` and `dm`.", has = counted(sum(is.na(y)), "missing value"))
  }
  if (length(unique(y[!is.na(y)])) < 2L) {
    abort_argument("y", y, "use a response that varies.", is = "constant")
  }
  y
}

# Selects among the columns `which`.
select_among <- function(of, which, cutoff, verbose, stable) {
  p <- length(which)
  r <- of$r[which]
  if (of$shrink) {
    r <- shrunk(r, of$n)
  }
  z <- fisher_z(r, of$n)
  names <- of$names[which]
  if (verbose > 0L) {
    print_first_pass(names, z, verbose)
  }
  z <- abs(z)
  G <- z > cutoff
  if (p > 1L && any(G)) {
    left <- base::which(G)
    # In a matrix, y comes first.
    candidates <- list(with = which[left] + !is.null(of$C), r = r[left])
    asked <- for_rust(of$columns, list(candidates))
    found <- if (stable) {
      callbacks <- list(progress = of$bar$report)
      found <- rust_neighbours(asked$rust, asked$candidates, of$n, cutoff, Inf, of$engine, callbacks)
      found <- check_rust(found)[[1L]]
      list(left = asked$candidates[[1L]]$with %in% found$left, z = found$z)
    } else {
      callbacks <- c(list(progress = of$bar$report), if (verbose > 0L) select_printers(names, p, left, verbose))
      check_rust(rust_pc_select(asked$rust, asked$candidates[[1L]], of$n, cutoff, of$engine, callbacks))
    }
    G[left] <- found$left
    z[left] <- found$z
  }
  list(G = stats::setNames(G, names), zMin = z)
}

# Returns callbacks that print pcalg's lines. left: the numbers of the columns that the callbacks count from 1.
select_printers <- function(names, p, left, verbose) {
  # pcalg prints this number for y.
  y <- round((p + 1) / 2)
  c(
    list(
      level = function(level, edges) cat("Order=", level, "; remaining edges:", edges, "\n", sep = ""),
      visit = visit_printer(verbose)
    ),
    if (verbose > 1L) {
      list(test = function(x, to, S, z) {
        cat(paste("x:", names[left[x]], "y:", y, "S:"), c(y, names)[left[S] + 1L], paste("z:", z, "\n"))
      })
    }
  )
}

# Prints pcalg's lines for the tests without a set. z: their values, with a sign.
print_first_pass <- function(names, z, verbose) {
  p <- length(z)
  tell <- select_printers(names, p, seq_len(p), verbose)
  tell$level(0, p)
  for (x in if (verbose > 1L) seq_len(p) else seq_len(p %/% 100) * 100) {
    tell$visit(x, p)
    if (verbose > 1L) tell$test(x, 0L, integer(), z[x])
  }
}

#' Sufficient statistic for discrete data
#'
#' Checks the data and codes the levels of discrete variables as 0, 1, ... for [disCItest()], [binCItest()] and
#' [chi2CItest()].
#'
#' A factor keeps all levels that it declares. Levels that do not occur increase the degrees of freedom, as in pcalg and
#' bnlearn; remove them with [droplevels()] if you do not want this. The levels of logical, character and whole-number
#' columns are the values that occur, in ascending order. `NA` and `NaN` are missing values.
#'
#' @param x Observations in rows, variables in columns. One of:
#'   - a data frame or matrix of factors, logicals, characters or whole numbers (also bit64's `integer64`); [cut()]
#'     other numbers into classes first;
#'   - a contingency table with at least two dimensions, such as from [table()] or [xtabs()]: its dimensions are the
#'     variables, and its cells count observations;
#'   - a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose samples are the observations;
#'   - a sparse matrix, a `DelayedMatrix` or a `big.matrix`, which is read one block of columns at a time, or a
#'     [pcgpu_file()]. The codes are an ordinary matrix in R.
#' @param na Treatment of missing values: `"error"` (the default), or `"pairwise"` (also `"testwise"`, as in [pc()]), where
#'   each test omits the observations that lack one of its variables. NaN is missing, also in factors of numbers and in tables. A level made
#'   by [addNA()] is an ordinary level.
#' @param adaptDF Should empty cells lower the degrees of freedom? See [disCItest()] and [chi2CItest()].
#' @return A list of
#' \describe{
#'   \item{`dm`}{the codes, an integer matrix of the shape of `x` with its column names;}
#'   \item{`nlev`}{the numbers of levels of the columns, at least 2;}
#'   \item{`adaptDF`}{the argument;}
#'   \item{`levels`}{a list with the names of the levels by column: code k stands for `levels[[column]][k + 1]`;}
#'   \item{`na`}{the argument.}
#' }
#' A constant column gives a warning of class `pcgpu_warning_constant`: it is independent of everything.
#'
#' Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a data file is at fault.
#' @seealso [disCItest()], [binCItest()] and [chi2CItest()], the tests that use it; [suff_gauss()], [suff_knn()];
#'   [pc()].
#' @examples
#' suff <- suff_discrete(Titanic) # a contingency table: 2,201 people, four variables
#' suff$nlev
#' fit <- pc(suff, indepTest = chi2CItest, alpha = 0.01, labels = colnames(suff$dm), numCores = 2)
#' plot_cpdag(fit)
#'
#' # Missing values
#' answers <- data.frame(a = c(TRUE, NA, FALSE, TRUE), b = factor(c("x", "y", "x", NA)))
#' suff_discrete(answers, na = "pairwise")$dm
#' @export
suff_discrete <- function(x, na = c("error", "pairwise"), adaptDF = FALSE) {
  # The word of pc().
  na <- check_choice(if (identical(na, "testwise")) "pairwise" else na, c("error", "pairwise"), "na")
  adaptDF <- check_flag(adaptDF, "adaptDF")
  is_table <- inherits(x, c("table", "ftable"))
  x <- read_data(x, "x", counts = TRUE, all = FALSE)
  if (is.function(x)) {
    x <- in_memory(x, "x")
  }
  by_blocks <- !is.null(row_source(x))
  if (!by_blocks && !is.data.frame(x) && !(is.matrix(x) && is.atomic(x))) {
    abort_argument("x", x, "use a data frame or matrix with observations in rows, or a contingency table.")
  }
  tell_if_turned(x, "x")
  if (!is_table) {
    warn_text(x)
  }
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("x", x, "it must have at least one row and two columns.")
  }
  coded <- if (by_blocks) code_blocks(x) else code_columns(x)
  missing <- coded$missing
  if (na == "error" && any(missing)) {
    abort_argument(
      "x",
      x,
      paste(
        "drop these rows, impute the values, or use na = \"pairwise\"",
        "(each test omits the rows that lack one of its variables)."
      ),
      has = paste("missing values in", column_names(coded$dm, missing))
    )
  }
  many <- lengths(coded$levels) > 65535L
  if (any(many)) {
    abort_argument(
      "x",
      x,
      sprintf("merge levels, or drop %s.", it_or_them(many)),
      has = paste("more than 65535 levels in", column_names(coded$dm, many))
    )
  }
  warn_constant(coded$constant, coded$dm)
  # A constant has one level; declaring two keeps the degrees of freedom above 0.
  list(dm = coded$dm, nlev = pmax(unname(lengths(coded$levels)), 2L), adaptDF = adaptDF, levels = coded$levels, na = na)
}

code_columns <- function(x) code_numbers(x) %||% code_factors(x)

# Returns the codes of data that are not an R matrix, read by one block of columns at a time.
code_blocks <- function(x) {
  if (is_file(x)) {
    check_content(x)
    # Rust reads the file itself.
    coded <- code_numbers(x)
    if (!is.null(coded)) {
      return(coded)
    }
  }
  names <- variable_names(x)
  dm <- matrix(0L, nrow(x), ncol(x), dimnames = if (!is.null(names)) list(NULL, names))
  levels <- list()
  missing <- constant <- logical()
  each_block(
    x,
    "columns",
    NULL,
    function(block, row, column) {
      coded <- code_columns(block)
      dm[, column + seq_len(ncol(block))] <<- coded$dm
      levels <<- c(levels, unname(coded$levels))
      missing <<- c(missing, unname(coded$missing))
      constant <<- c(constant, unname(coded$constant))
    },
    logical = TRUE
  )
  list(dm = dm, levels = stats::setNames(levels, names), missing = missing, constant = constant)
}

# Returns list(dm, levels, missing, constant) if all columns are factors or plain whole numbers that are not far apart,
# else NULL.
code_numbers <- function(x) {
  is_plain <- function(column) is.numeric(column) && !is.object(column) && is.null(dim(column))
  is_coded <- function(column) is.factor(column) && is.integer(unclass(column)) && is.null(dim(column))
  table <- is.data.frame(x)
  factors <- if (table) unname(vapply(x, is_coded, NA)) else rep(FALSE, ncol(x))
  if (!(if (table) all(factors | vapply(x, is_plain, NA)) else is_file(x) || is.numeric(x) && !is.object(x))) {
    return(NULL)
  }
  names <- if (any(factors)) names(x) else variable_names(x)
  found <- check_rust(rust_codes(
    as_columns(x),
    nrow(x),
    factors,
    names,
    engine_list(new_device("cpu"), resolve_threads())
  ))
  if (any(vapply(found$values, is.null, NA))) {
    return(NULL)
  }
  levels <- lapply(seq_along(factors), function(j) {
    column <- if (table) {
      .subset2(x, j)
    } else if (is.integer(x)) {
      0L
    } else {
      0
    }
    values <- found$values[[j]]
    levels(if (factors[j]) column else exact_factor(if (is.integer(column)) as.integer(values) else values))
  })
  names(levels) <- names
  list(dm = found$dm, levels = levels, missing = found$missing > 0, constant = lengths(found$values) < 2L)
}

# Returns the same list for columns of any kind.
code_factors <- function(x) {
  if (is.matrix(x)) {
    x <- stats::setNames(as.data.frame(x, optional = is.null(colnames(x))), variable_names(x))
  }
  discrete <- vapply(x, is_discrete, NA)
  if (!all(discrete)) {
    abort_argument(
      "x",
      x,
      sprintf("convert %1$s to factors, for instance with cut(), or drop %1$s.", it_or_them(!discrete)),
      has = paste("values other than factors, logicals, text and whole numbers in", column_names(x, !discrete))
    )
  }
  factors <- lapply(x, exact_factor)
  codes <- vapply(factors, function(column) as.integer(column) - 1L, integer(nrow(x)))
  dm <- matrix(codes, nrow(x), dimnames = list(NULL, names(x)))
  list(dm = dm, levels = lapply(factors, levels), missing = vapply(x, anyNA, NA), constant = constant_columns(dm))
}

# Returns the column names that as.data.frame() would give a matrix, NULL for a matrix without names. A data frame keeps
# its own.
variable_names <- function(x) {
  names <- colnames(x)
  if (is.null(names) || is.data.frame(x)) {
    return(names)
  }
  unnamed <- which(!nzchar(names))
  replace(names, unnamed, paste0("V", unnamed, recycle0 = TRUE))
}

# Returns whether a column that read_data() has read has levels or whole numbers.
is_discrete <- function(column) !is.double(column) || all(is.na(column) | (is.finite(column) & column == trunc(column)))

# Counts a column without any value as constant: its minimum is Inf and its maximum -Inf.
constant_columns <- function(m) {
  suppressWarnings(vapply(seq_len(ncol(m)), function(j) min(m[, j], na.rm = TRUE) >= max(m[, j], na.rm = TRUE), NA))
}

warn_constant <- function(constant, x, so = NULL) {
  if (any(constant)) {
    warn(
      "constant",
      paste0(
        "Constant in ",
        column_names(x, constant),
        ": ",
        so %||% "a constant is independent of everything and has no edges"
      ),
      columns = unname(which(constant))
    )
  }
}

# The sufficient statistic of the tests of discrete variables, list(dm = <codes>, nlev = , adaptDF = ), in the form that
# Rust reads. Rust checks, in the pass that reads them, that codes are whole, begin with 0 and do not exceed the number
# of levels.

# statistic: "G2" or "X2". rule: the package whose rules for few samples and empty cells apply, see the core's `Rule`.
discrete_tests <- list(
  dis = list(name = "disCItest", statistic = "G2", rule = "pcalg"),
  bin = list(name = "binCItest", statistic = "G2", rule = "pcalg"),
  chi2 = list(name = "chi2CItest", statistic = "X2", rule = "bnlearn")
)

check_suff_discrete <- function(suffStat, labels, test, threads = 1L) {
  dm <- check_dm(suffStat, test)
  check_columns(dm, labels, "suffStat$dm")
  check_against(names(suffStat$nlev), colnames(dm), "suffStat$nlev", "suffStat$dm", tell = FALSE)
  discrete_for_rust(suffStat, dm, seq_along(labels), test, threads)
}

# Returns the statistic for the columns `at`, and checks only these.
discrete_for_rust <- function(suffStat, dm, at, test, threads = 1L) {
  nlev <- check_nlev(suffStat$nlev, ncol(dm), test)
  adapt <- if (is.null(suffStat$adaptDF)) FALSE else check_flag(suffStat$adaptDF, "suffStat$adaptDF")
  zero_elsewhere <- FALSE
  if (!identical(at, seq_len(ncol(dm)))) {
    whole <- dm
    dm <- dm[, at, drop = FALSE]
    nlev <- nlev[at]
    # pcalg requires a code 0 anywhere in the data.
    zero_elsewhere <- !any(dm == 0, na.rm = TRUE) && any(whole == 0, na.rm = TRUE)
  }
  na <- identical(suffStat$na, "pairwise")
  codes <- look_at_codes(dm, test$name == "binCItest", threads)
  if (!na && codes$missing) {
    abort_argument(
      "suffStat$dm",
      dm,
      paste(
        "drop these rows, impute the values, or set suffStat$na = \"pairwise\"",
        "(each test omits the rows that lack one of its variables)."
      ),
      has = paste("missing values in", column_names(dm, colSums(is.na(dm)) > 0))
    )
  }
  if (test$name == "binCItest") {
    if (!codes$are_binary) {
      abort_argument(
        "suffStat$dm",
        dm,
        "code the values as 0 and 1, or use disCItest.",
        is = paste("not binary in", column_names(dm, colSums(!(dm == 0 | dm == 1), na.rm = TRUE) > 0)),
        pcalg = "'dm' must be binary, i.e. with values in {0,1}"
      )
    }
    nlev <- rep(2L, ncol(dm))
  }
  c(
    list(
      kind = "discrete",
      dm = dm,
      p = ncol(dm),
      nlev = nlev,
      zero_elsewhere = zero_elsewhere,
      adapt = adapt,
      na = na
    ),
    test[c("statistic", "rule")]
  )
}

# Returns whether values are missing, and whether all others are 0 or 1 (only if `binary`).
look_at_codes <- function(dm, binary, threads) {
  # For the few columns of a single test, R is faster than a call of Rust.
  if (length(dm) < 1e5) {
    list(missing = anyNA(dm), are_binary = !binary || all(dm == 0 | dm == 1, na.rm = TRUE))
  } else {
    check_rust(rust_look_at_codes(dm, as.integer(threads)))
  }
}

# Returns dm as a matrix of numbers or logicals.
check_dm <- function(suffStat, test) {
  want <- sprintf(
    "%s needs list(dm = <matrix of codes 0, 1, ...>, nlev = <numbers of levels>, adaptDF = FALSE)",
    test$name
  )
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$dm)) {
    abort_argument("suffStat", suffStat, paste0(want, ", which suff_discrete(x) makes from a data frame x."))
  }
  dm <- plain_integer64(suffStat$dm, "suffStat$dm")
  if (is.data.frame(dm)) {
    coded <- vapply(dm, function(column) (is.numeric(column) || is.logical(column)) && is.null(dim(column)), NA)
    if (!all(coded)) {
      abort_argument(
        "suffStat$dm",
        dm,
        "code the levels with suff_discrete(<this data frame>).",
        is = paste("not numeric in", column_names(dm, !coded))
      )
    }
    dm <- as.matrix(dm)
  }
  if (!is.matrix(dm) || !(is.numeric(dm) || is.logical(dm))) {
    abort_argument("suffStat$dm", dm, paste0(want, "."))
  }
  if (nrow(dm) < 1L || ncol(dm) < 2L) {
    abort_argument("suffStat$dm", dm, "it must have at least one row and two columns.")
  }
  dm
}

check_nlev <- function(nlev, p, test) {
  if (is.null(nlev)) {
    return(NULL)
  }
  nlev <- plain_integer64(nlev, "suffStat$nlev")
  if (!is.numeric(nlev) || length(nlev) != p || anyNA(nlev)) {
    abort_argument("suffStat$nlev", nlev, sprintf("use the numbers of levels of the %d columns of dm, or NULL.", p))
  }
  # binCItest ignores nlev.
  if (test$name == "disCItest" && any(nlev < 2)) {
    abort_argument(
      "suffStat$nlev",
      nlev,
      "drop the columns with one level, or set their number of levels to 2.",
      is = sprintf("%s for column %d", format(nlev[nlev < 2][1L]), which(nlev < 2)[1L]),
      pcalg = "Each variable, i.e., column of 'dm', must have at least two different values"
    )
  }
  nlev
}

# Runs one test. Gives pcalg's own warning if there are too few samples.
discrete_p_value <- function(x, y, S, suffStat, test) {
  if (missing(suffStat)) {
    check_given(list(suffStat = TRUE), list(suffStat = "pass the result of suff_discrete()."))
  }
  dm <- check_dm(suffStat, test)
  # Sorted by number, as in a search, because the order of summation shows in the last digit.
  at <- c(sort(c(check_position(x, dm, "x", 1L), check_position(y, dm, "y", 1L))), sort(check_position(S, dm, "S")))
  found <- check_rust(rust_discrete_test(discrete_for_rust(suffStat, dm, at, test)))
  if (found$too_few && test$rule == "pcalg") {
    warn(
      "too_few",
      sprintf(
        "n=%.0f is too small (n < n.min = %.0f ) for G^2 test (=> treated as independence)",
        found$n,
        10 * found$full_df
      ),
      count = 1
    )
  }
  found$p
}

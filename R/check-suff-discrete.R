# The sufficient statistic of the tests of discrete variables, list(dm = <codes>, nlev = , adaptDF = ), in the form that Rust reads.
# Rust checks, in the pass that reads them, that codes are whole, begin with 0 and do not exceed the number of levels.

# statistic: "G2" or "X2". rule: the package whose rules for few samples and empty cells apply, see the core's `Rule`.
discrete_tests <- list(
  dis = list(name = "disCItest", statistic = "G2", rule = "pcalg"),
  bin = list(name = "binCItest", statistic = "G2", rule = "pcalg"),
  chi2 = list(name = "chi2CItest", statistic = "X2", rule = "bnlearn")
)

check_suff_discrete <- function(suffStat, labels, test, threads = 1L) {
  dm <- check_dm(suffStat, test)
  if (ncol(dm) != length(labels)) {
    abort_argument("suffStat$dm", dm, "use the data of exactly these variables.", needs = column_for_each(length(labels), ncol(dm)))
  }
  check_own_names(colnames(dm), labels, "suffStat$dm")
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
    abort_argument("suffStat$dm", dm, paste(
      "drop these rows, impute the values, or set suffStat$na = \"pairwise\"",
      "(each test omits the rows that lack one of its variables)."
    ), has = paste("missing values in", column_names(dm, colSums(is.na(dm)) > 0)))
  }
  if (test$name == "binCItest") {
    if (!codes$are_binary) {
      abort_argument("suffStat$dm", dm, "code the values as 0 and 1, or use disCItest.",
        is = paste("not binary in", column_names(dm, colSums(!(dm == 0 | dm == 1), na.rm = TRUE) > 0)),
        pcalg = "'dm' must be binary, i.e. with values in {0,1}"
      )
    }
    nlev <- rep(2L, ncol(dm))
  }
  c(
    list(
      kind = "discrete", dm = dm, p = ncol(dm), nlev = nlev, zero_elsewhere = zero_elsewhere, adapt = adapt, na = na
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
    "%s needs list(dm = <matrix of codes 0, 1, ...>, nlev = <numbers of levels>, adaptDF = FALSE)", test$name
  )
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$dm)) {
    abort_argument("suffStat", suffStat, paste0(want, ", which suff_discrete(x) makes from a data frame x."))
  }
  dm <- plain_integer64(suffStat$dm, "suffStat$dm")
  if (is.data.frame(dm)) {
    coded <- vapply(dm, function(column) (is.numeric(column) || is.logical(column)) && is.null(dim(column)), NA)
    if (!all(coded)) {
      abort_argument("suffStat$dm", dm, "code the levels with suff_discrete(<this data frame>).",
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
    abort_argument("suffStat$nlev", nlev, "drop the columns with one level, or set their number of levels to 2.",
      is = sprintf("%s for column %d", format(nlev[nlev < 2][1L]), which(nlev < 2)[1L]),
      pcalg = "Each variable, i.e., column of 'dm', must have at least two different values"
    )
  }
  nlev
}

# Runs one test. Gives pcalg's own warning if there are too few samples.
discrete_p_value <- function(x, y, S, suffStat, test) {
  if (missing(suffStat)) check_given(list(suffStat = TRUE), list(suffStat = "pass the result of suff_discrete()."))
  dm <- check_dm(suffStat, test)
  # Sorted by number, as in a search, because the order of summation shows in the last digit.
  at <- c(sort(c(check_position(x, dm, "x", 1L), check_position(y, dm, "y", 1L))), sort(check_position(S, dm, "S")))
  found <- check_rust(rust_discrete_test(discrete_for_rust(suffStat, dm, at, test)))
  if (found$too_few && test$rule == "pcalg") {
    warn("too_few", sprintf(
      "n=%.0f is too small (n < n.min = %.0f ) for G^2 test (=> treated as independence)", found$n, 10 * found$full_df
    ), count = 1)
  }
  found$p
}

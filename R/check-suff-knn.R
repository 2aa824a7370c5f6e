# The sufficient statistic of the nearest-neighbour tests, in the form that Rust reads.

# name: the R function. estimator: the meaning of "auto".
knn_tests <- list(
  cmi = list(name = "cmiKnnCItest", estimator = "frenzel-pompe"),
  mixed = list(name = "mixedCItest", estimator = "mesner-shalizi")
)

knn_estimators <- c("auto", "frenzel-pompe", "mesner-shalizi", "gao")

# "uniform" is the default. It equals "ranks" if all columns are numeric, and with "ranks" tests between numbers and levels have no power
# (bench/knn.R transforms).
knn_transforms <- c("uniform", "ranks", "standardize", "none")

# Checks a whole number in a range.
check_whole <- function(x, argument, least, most) {
  if (!is_number(x) || x != trunc(x) || x < least || x > most) {
    abort_argument(argument, x, sprintf("use a whole number from %.0f to %.0f.", least, most))
  }
  as.double(x)
}

# Returns the default of k. Between numbers, power is best at 0.1 n (Runge 2018: 0.1 to 0.2 n; tigramite uses 0.2 n). With levels, 0.1 n loses all
# power if k exceeds the observations of a cell. The square root of n, mCMIkNN's rule, does not (bench/knn.R neighbours, neighbours-mixed,
# neighbours-graphs).
# `smallest`: for the column with the smallest levels, half of the rows of its median level, plus one. With 20 levels of 5 rows, the root of n finds
# no dependence, and k = 3 finds all.
default_neighbours <- function(n, levels) {
  if (!length(levels)) {
    return(min(n - 1, max(3, round(0.1 * n))))
  }
  smallest <- min(vapply(levels, function(column) stats::median(tabulate(column)), 0)) %/% 2 + 1
  min(n - 1, max(3, min(round(sqrt(n)), smallest)))
}

# Returns k, which may be a fraction of n as in tigramite.
check_neighbours <- function(k, n, argument = "k") {
  if (is_number(k) && k > 0 && k < 1) {
    return(max(1, trunc(k * n)))
  }
  if (!is_number(k) || k != trunc(k) || k < 1 || k > n - 1) {
    abort_argument(argument, k, sprintf(
      "with %d observations, use a whole number from 1 to %d, or a fraction of the observations below 1.", n, n - 1L
    ))
  }
  as.double(k)
}

check_early_stop <- function(early_stop) {
  if (is.null(early_stop)) {
    return(NULL)
  }
  want <- "use NULL or c(alpha = , error = ), with 0 < alpha < 1 and 0 <= error < 0.5."
  values <- tryCatch(unlist(early_stop), error = function(e) NULL)
  if (!is.numeric(values) || length(values) != 2L || !setequal(names(values), c("alpha", "error")) || anyNA(values) ||
    values[["alpha"]] <= 0 || values[["alpha"]] >= 1 || values[["error"]] < 0 || values[["error"]] >= 0.5) {
    abort_argument("early_stop", early_stop, want)
  }
  values[c("alpha", "error")]
}

# alpha: that of the search, which must equal that of the statistic's early stop.
check_suff_knn <- function(suffStat, labels, test, alpha = NULL) {
  data <- check_knn_data(suffStat, test)
  if (ncol(data) != length(labels)) {
    abort_argument("suffStat$data", data, "use the data of exactly these variables.", needs = column_for_each(length(labels), ncol(data)))
  }
  check_own_names(colnames(data), labels, "suffStat$data")
  early <- check_early_stop(suffStat$early_stop)
  if (!is.null(alpha) && !is.null(early) && early[["alpha"]] != alpha) {
    abort_argument("alpha", alpha, "use the same number in both.", is = sprintf(
      "%s, but suffStat$early_stop has alpha = %s", format(alpha, digits = 15L), format(early[["alpha"]], digits = 15L)
    ))
  }
  knn_for_rust(suffStat, data, seq_along(labels), test)
}

# Returns the statistic for the columns `at`, in ascending order.
knn_for_rust <- function(suffStat, data, at, test) {
  n <- nrow(data)
  discrete <- suffStat$discrete
  if (!is.logical(discrete) || length(discrete) != ncol(data) || anyNA(discrete)) {
    abort_argument("suffStat$discrete", discrete, "make the list with suff_knn(<data frame>).")
  }
  estimator <- check_choice(suffStat$estimator, knn_estimators, "suffStat$estimator")
  if (estimator == "auto") estimator <- test$estimator
  if (estimator == "frenzel-pompe" && any(discrete)) {
    abort_argument("suffStat", suffStat, paste(
      "use indepTest = mixedCItest, or suff_knn(estimator = \"mesner-shalizi\")."
    ), is = paste0("mixed data (discrete: ", column_names(data, discrete), "), but the estimator of cmiKnnCItest is for continuous data"))
  }
  early <- check_early_stop(suffStat$early_stop)
  whole <- length(at) == ncol(data)
  list(
    kind = "knn", data = if (whole) data else data[, at, drop = FALSE], p = length(at), discrete = discrete[at], names = at,
    k = check_neighbours(suffStat$k, n, "suffStat$k"), k_perm = check_whole(suffStat$k_perm, "suffStat$k_perm", 1, n - 1),
    permutations = check_whole(suffStat$permutations, "suffStat$permutations", 1, 1e6), estimator = estimator,
    transform = check_choice(suffStat$transform, knn_transforms, "suffStat$transform"),
    add_one = check_flag(suffStat$add_one %||% FALSE, "suffStat$add_one"),
    seed = check_whole(suffStat$seed, "suffStat$seed", 0, .Machine$integer.max),
    alpha = if (!is.null(early)) early[["alpha"]], error = if (!is.null(early)) early[["error"]]
  )
}

check_knn_data <- function(suffStat, test) {
  want <- sprintf("%s needs suff_knn(x), where x is a data frame or matrix.", test$name)
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$data)) {
    abort_argument("suffStat", suffStat, want)
  }
  data <- plain_integer64(suffStat$data, "suffStat$data")
  if (!is.matrix(data) || !is.double(data) || ncol(data) < 2L || nrow(data) < 3L) {
    abort_argument("suffStat$data", data, want)
  }
  if (!all(is.finite(data))) {
    abort_argument("suffStat$data", data, "drop these rows, or replace the values.", has = paste(
      "missing or infinite values in", column_names(data, colSums(!is.finite(data)) > 0)
    ))
  }
  data
}

# Runs one test.
knn_p_value <- function(x, y, S, suffStat, test) {
  data <- check_knn_data(suffStat, test)
  x <- check_position(x, data, "x", 1L)
  y <- check_position(y, data, "y", 1L)
  S <- check_position(S, data, "S")
  at <- sort(unique(c(x, y, S)))
  if (x == y || x %in% S || y %in% S) {
    abort_argument("S", S, "`x`, `y` and the members of `S` must be different variables.", is = sprintf("%s, with x = %d and y = %d", describe(S), x, y))
  }
  found <- rust_knn_test(knn_for_rust(suffStat, data, at, test), match(x, at), match(y, at), engine_list(new_device("cpu"), resolve_threads()))
  check_rust(found)$p
}

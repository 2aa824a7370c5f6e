#' Sufficient statistic for the kernel tests
#'
#' Checks numeric, discrete or mixed data and collects them in a list with the settings of [rcotCItest()],
#' [rcitCItest()], [ritCItest()] and [kciCItest()].
#'
#' Numbers are continuous; factors, logicals and characters are discrete. Convert numbers that are codes to factors:
#' columns of whole numbers with at most 10 different values are treated as continuous, and a message of class
#' `pcgpu_message_codes` names them.
#'
#' # Number of features
#'
#' Five features of x and of y are enough in most cases; more find dependence of finer structure, and cost power
#' otherwise. S needs enough features to describe how x and y depend on it: with too few, dependence on S remains in the
#' residuals, and independent variables look dependent. Each feature of S costs a degree of freedom, so the default is at
#' most a fifth of the rows. With fewer than 500 rows this is less than 100, and a message of class
#' `pcgpu_message_features` says so. [kciCItest()] has no features.
#'
#' @param data Observations in rows, variables in columns. One of:
#'   - a data frame or matrix of numbers (also bit64's `integer64`), factors, logicals or characters, which may have
#'     missing values;
#'   - a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose samples are the observations;
#'   - a sparse matrix, a `DelayedMatrix`, a `big.matrix` or a [pcgpu_file()], which is read into an ordinary matrix.
#' @param features Numbers of random features: of x and of y (1 to 8), and of S (at least 1). `NULL` means 5 for x and y,
#'   and for S 100 or a fifth of the rows, whichever is less, but at least 5. A GPU takes up to 200 features of S, or up
#'   to 850 if it has the memory for them in each of its processors, as an H200 has.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a run
#'   reproducible.
#' @param approximation How [kciCItest()] approximates the distribution of its statistic: `"gamma"`, the gamma
#'   distribution with the same mean and variance, or `"hbe"`, that of Hall, Buckley and Eagleson, which takes longer
#'   and rarely changes p by more than a few percent.
#' @return A list of `data` (a data frame, or a matrix of doubles), `features`, `seed` and `approximation`.
#'
#'   A constant column gives a warning of class `pcgpu_warning_constant`: it is independent of everything, with p = 1.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a data file is at fault.
#' @seealso [rcotCItest()], which uses it; [suff_gauss()], [suff_knn()], [suff_discrete()]; [pc()].
#' @examples
#' suff <- suff_kernel(iris, seed = 1)
#' suff$features
#' rcotCItest("Sepal.Length", "Species", "Petal.Length", suff)
#' @export
suff_kernel <- function(data, features = NULL, seed = NULL, approximation = c("gamma", "hbe")) {
  data <- kernel_data(data, "data", "use a data frame or matrix with observations in rows.")
  tell_if_turned(data, "data")
  if (ncol(data) < 2L || nrow(data) < 10L) {
    abort_argument("data", data, "it must have at least ten rows and two columns.")
  }
  table <- if (is.data.frame(data)) data else as.data.frame(data, optional = is.null(colnames(data)))
  empty <- vapply(table, function(column) all(is.na(column)), NA, USE.NAMES = FALSE)
  if (any(empty)) {
    abort_argument(
      "data",
      data,
      "leave these columns out.",
      has = sprintf("no value in %s", column_names(table, empty))
    )
  }
  tell_if_codes(table, !unname(numeric_columns(table)))
  warn_text(table)
  warn_constant(constant_in(data), data)
  list(
    data = data,
    features = if (is.null(features)) {
      default_features(nrow(data))
    } else {
      check_features(features, "features", nrow(data))
    },
    seed = check_seed(seed),
    approximation = check_choice(approximation, c("gamma", "hbe"), "approximation")
  )
}

# The sufficient statistic of the kernel tests, in the form that Rust reads.

# form: the core's `Form`. marginal: whether the test has no S.
kernel_tests <- list(
  rcotCItest = list(name = "rcotCItest", form = "rcot", marginal = FALSE),
  rcitCItest = list(name = "rcitCItest", form = "rcit", marginal = FALSE),
  ritCItest = list(name = "ritCItest", form = "rit", marginal = TRUE),
  kciCItest = list(name = "kciCItest", form = "kci", marginal = FALSE)
)

# How Rust reads the data: numbers and levels with missing values.
kernel_columns <- list(kinds = "any", holes = "testwise")

default_features <- function(n) {
  given <- min(100, max(5, n %/% 5))
  if (given < 100) {
    tell(
      "features",
      sprintf("%d rows allow %d features for S instead of 100; the tests are made for 500 rows or more.", n, given),
      features = given
    )
  }
  c(5, given)
}

check_features <- function(features, argument, n) {
  hint <- sprintf("give two whole numbers: 1 to 8 for x and y, and 1 to %d for S.", max(1L, n - 2L))
  whole <- is.numeric(features) &&
    length(features) == 2L &&
    all(is.finite(features)) &&
    all(features == floor(features))
  if (!whole || any(features < 1) || features[1L] > 8 || features[2L] > max(1L, n - 2L)) {
    abort_argument(argument, features, hint)
  }
  as.double(features)
}

# Returns data as a data frame, or a matrix of doubles.
kernel_data <- function(data, argument, want) {
  data <- read_data(data, argument)
  if (!is.data.frame(data) && !(is.matrix(data) && is.atomic(data))) {
    abort_argument(argument, data, want)
  }
  about(argument, check_set(data, kernel_columns), "suffStat")
}

check_kernel_data <- function(suffStat, test) {
  want <- sprintf("%s needs suff_kernel(x), where x is a data frame or matrix.", test$name)
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat)) || is.null(suffStat$data)) {
    abort_argument("suffStat", suffStat, want)
  }
  kernel_data(suffStat$data, "suffStat$data", want)
}

check_suff_kernel <- function(suffStat, labels, test) {
  data <- check_kernel_data(suffStat, test)
  check_columns(data, labels, "suffStat$data")
  kernel_for_rust(suffStat, data, seq_along(labels), test)
}

# Returns the statistic for the columns `at`, in ascending order.
kernel_for_rust <- function(suffStat, data, at, test) {
  features <- check_features(suffStat$features, "suffStat$features", nrow(data))
  columns <- if (length(at) == ncol(data)) data else data[, at, drop = FALSE]
  sets <- list(sets = list(columns), p = length(at), n = nrow(data))
  read <- mixed_for_rust(sets, kernel_columns)
  c(
    list(kind = "features"),
    read[c("p", "n", intersect(names(read), c("matrix", "columns")))],
    list(
      names = as.integer(at),
      form = if (test$form == "kci") paste0("kci.", kernel_approximation(suffStat)) else test$form,
      marginal = test$marginal,
      sides = features[1L],
      given = features[2L],
      seed = check_whole(suffStat$seed, "suffStat$seed", 0, .Machine$integer.max)
    )
  )
}

# Returns the approximation of a statistic, which older statistics do not have.
kernel_approximation <- function(suffStat) {
  check_choice(suffStat$approximation, c("gamma", "hbe"), "suffStat$approximation")
}

# Stops if a search would test given sets with a test that has none.
refuse_sets <- function(test, m_max) {
  if (isTRUE(test$marginal) && m_max > 0) {
    abort_argument(
      "m.max",
      m_max,
      "give m.max = 0, or indepTest = rcotCItest, because ritCItest tests without a set S."
    )
  }
}

# Runs one test.
kernel_p_value <- function(x, y, S, suffStat, test) {
  data <- check_kernel_data(suffStat, test)
  at <- check_question(x, y, S, data)
  if (test$marginal && length(at$S)) {
    abort_argument("S", at$S, "give NULL, or use rcotCItest, because ritCItest tests without a set S.")
  }
  all <- sort(unique(unlist(at)))
  p <- check_rust(rust_features_test(kernel_for_rust(suffStat, data, all, test), match(at$x, all), match(at$y, all)))
  if (is.nan(p)) NA_real_ else p
}

# Recognises conditional independence tests that run natively, and runs any other R function.

# Returns the test in the form that Rust reads, list(kind = "gauss", C or data, n) or list(kind = "function", fun), with
# its `name`. `alpha`: the significance level of the search. `threads`: the number of threads for checks. `later`:
# whether the search does some of the checks. `said`: remembers, for several statistics of one call, that a warning
# about the values of an R function was given.
ci_test <- function(indepTest, suffStat, labels, alpha = NULL, threads = 1L, later = FALSE, said = new.env()) {
  indepTest <- as_test(indepTest)
  test <- recognised_test(indepTest, suffStat, labels, alpha, threads, later, said)
  test$name <- test_name(indepTest)
  test
}

# Returns the name of a test of this package, or of the function of that name in pcalg or micd; "" for any other
# function.
test_name <- function(indepTest) {
  known <- own_tests()
  is_it <- vapply(
    known,
    function(name) {
      identical(indepTest, get(name)) ||
        name %in% replaced_in_pcalg && is_pcalgs(indepTest, name) ||
        name %in% names(mixed_tests) && is_micds(indepTest, name)
    },
    NA
  )
  c(known[is_it], "")[1L]
}

recognised_test <- function(indepTest, suffStat, labels, alpha, threads, later, said) {
  if (!is.function(indepTest)) {
    abort_argument(
      "indepTest",
      indepTest,
      paste(
        "use a function(x, y, S, suffStat) that returns a p-value,",
        "for instance gaussCItest, or the name of a test of this package."
      )
    )
  }
  if (is_gauss_test(indepTest)) {
    found <- check_suff_gauss(suffStat, labels, threads, later)
    return(if (is.matrix(found$n)) test_of_sizes(found) else c(kind = "gauss", found))
  }
  discrete <- discrete_test(indepTest)
  if (!is.null(discrete)) {
    return(check_suff_discrete(suffStat, labels, discrete, threads))
  }
  knn <- knn_test(indepTest)
  if (!is.null(knn)) {
    return(check_suff_knn(suffStat, labels, knn, alpha))
  }
  kernel <- kernel_test(indepTest)
  if (!is.null(kernel)) {
    return(check_suff_kernel(suffStat, labels, kernel))
  }
  mixed <- mixed_test(indepTest)
  if (!is.null(mixed)) {
    return(check_suff_mixed(suffStat, labels, mixed))
  }
  # The statistic of an R function may number variables in any way, but the names of the labels in another order are
  # surely a mistake.
  check_against(data_names(suffStat, length(labels)), labels, "suffStat", "labels", tell = FALSE)
  r_test(indepTest, suffStat, said)
}

# Returns the definition of a test for mixed data (see suff-mixed.R), or NULL for any other function.
mixed_test <- function(indepTest) {
  for (name in names(mixed_tests)) {
    if (identical(indepTest, get(name)) || is_micds(indepTest, name)) {
      return(mixed_tests[[name]])
    }
  }
  if (is_micds(indepTest, "gaussCItestMI")) mixed_tests$gaussMItest
}

# Returns whether this is the function of that name in the package micd.
is_micds <- function(fun, name) {
  isNamespaceLoaded("micd") &&
    exists(name, envir = asNamespace("micd"), inherits = FALSE) &&
    identical(fun, get(name, envir = asNamespace("micd"), inherits = FALSE))
}

# Returns the definition of a nearest-neighbour test (see suff-knn.R), or NULL for any other function.
knn_test <- function(indepTest) {
  if (identical(indepTest, cmiKnnCItest)) {
    knn_tests$cmi
  } else if (identical(indepTest, mixedCItest)) {
    knn_tests$mixed
  }
}

# Returns the definition of a kernel test (see suff-kernel.R), or NULL for any other function.
kernel_test <- function(indepTest) {
  for (name in names(kernel_tests)) {
    if (identical(indepTest, get(name))) {
      return(kernel_tests[[name]])
    }
  }
}

is_gauss_test <- function(indepTest) {
  identical(indepTest, gaussCItest) || is_pcalgs(indepTest, "gaussCItest")
}

# Returns the definition of a test of discrete variables (see suff-discrete.R), or NULL for any other function.
discrete_test <- function(indepTest) {
  if (identical(indepTest, chi2CItest)) {
    return(discrete_tests$chi2)
  }
  if (identical(indepTest, disCItest) || is_pcalgs(indepTest, "disCItest")) {
    return(discrete_tests$dis)
  }
  if (identical(indepTest, binCItest) || is_pcalgs(indepTest, "binCItest")) {
    return(discrete_tests$bin)
  }
  NULL
}

# Stops unless these are the data of exactly the variables with these labels.
check_columns <- function(data, labels, argument) {
  if (ncol(data) != length(labels)) {
    abort_argument(
      argument,
      data,
      "use the data of exactly these variables.",
      needs = column_for_each(length(labels), ncol(data))
    )
  }
  check_own_names(colnames(data), labels, argument)
}

# Makes a test from an R function. Its warnings, messages and interrupts take their usual course, because Rust lets R's
# jumps pass. An error is raised again with the test at fault.
r_test <- function(indepTest, suffStat, said) {
  # A worker of a cluster needs values instead of promises.
  force(indepTest)
  force(suffStat)
  force(said)
  fun <- function(x, y, S) {
    withCallingHandlers(
      {
        value <- test_value(indepTest(x, y, S, suffStat))
        if (!is.na(value) && (value < 0 || value > 1 + 1e-8) && is.null(said$range)) {
          said$range <- TRUE
          warn_range(value, x, y, S)
        }
        value
      },
      error = function(e) raise_test_error(e, x, y, S)
    )
  }
  list(kind = "function", fun = fun, given = indepTest)
}

# Warns of a value that is not a p-value. It is still compared with alpha, as in pcalg.
warn_range <- function(value, x, y, S) {
  warn(
    "p_value",
    sprintf(
      paste(
        "`indepTest` returned %s for x = %d, y = %d, S = {%s}, but p-values lie between 0 and 1: return the p-value",
        "itself, not a statistic or a logarithm."
      ),
      format(value, digits = 7L),
      x,
      y,
      paste(S, collapse = ", ")
    ),
    value = value,
    x = x,
    y = y,
    S = S
  )
}

# Returns the value of a test as a number. pcalg accepts anything that compares with alpha, including a difftime and a
# number as text.
test_value <- function(value) {
  number <- if (length(value) != 1L) {
    NULL
  } else if (is.numeric(value) || is.logical(value) || inherits(value, "difftime")) {
    as.double(value)
  } else if (is.character(value)) {
    parsed <- suppressWarnings(as.double(value))
    if (!is.na(parsed) || value %in% c(NA, "NA", "NaN")) parsed
  }
  if (is.null(number)) {
    stop("the test must return one number, the p-value, but returned ", describe(value), call. = FALSE)
  }
  number
}

# Raises the error of a test again. The condition keeps the classes and fields of the original, so that a handler for
# those still catches it, and has the original as `parent`.
raise_test_error <- function(parent, x, y, S) {
  where <- sprintf("indepTest(x = %d, y = %d, S = {%s})", x, y, paste(S, collapse = ", "))
  ours <- list(
    message = paste0(where, " failed: ", conditionMessage(parent)),
    call = user_call(),
    x = x,
    y = y,
    S = S,
    parent = parent
  )
  theirs <- unclass(parent)
  theirs <- theirs[setdiff(names(theirs), names(ours))]
  classes <- setdiff(class(parent), c("simpleError", "error", "condition"))
  stop(structure(class = c("pcgpu_error_test", "pcgpu_error", classes, "error", "condition"), c(ours, theirs)))
}

# Returns the names of this package's tests.
own_tests <- function() {
  c(
    "gaussCItest",
    "disCItest",
    "binCItest",
    "chi2CItest",
    "cmiKnnCItest",
    "mixedCItest",
    names(kernel_tests),
    names(mixed_tests)
  )
}

# Which conditional independence tests run natively, and how any other R function is run.

# The test as Rust wants it: list(kind = "gauss", C or data, n) or list(kind = "function", fun); and its `name`.
# `alpha` is the significance level of the search; `threads` may check the arguments, of which `later` leaves some to the search.
# `said`: what has been said of the values of a function as the test, for several statistics of one call.
ci_test <- function(indepTest, suffStat, labels, alpha = NULL, threads = 1L, later = FALSE, said = new.env()) {
  test <- recognised_test(indepTest, suffStat, labels, alpha, threads, later, said)
  test$name <- test_name(indepTest)
  test
}

# Of this package's tests, and pcalg's of the same name; "" for any other function.
test_name <- function(indepTest) {
  known <- c("gaussCItest", "disCItest", "binCItest", "chi2CItest", "cmiKnnCItest", "mixedCItest", names(mixed_tests))
  is_it <- vapply(known, function(name) {
    identical(indepTest, get(name)) || name %in% replaced_in_pcalg && is_pcalgs(indepTest, name) ||
      name %in% names(mixed_tests) && is_micds(indepTest, name)
  }, NA)
  c(known[is_it], "")[1L]
}

recognised_test <- function(indepTest, suffStat, labels, alpha, threads, later, said) {
  if (!is.function(indepTest)) {
    abort_argument("indepTest", indepTest, paste(
      "use a function(x, y, S, suffStat) that returns a p-value,",
      "for instance gaussCItest (the function itself, without quotes)."
    ))
  }
  if (is_gauss_test(indepTest)) {
    return(c(kind = "gauss", check_suff_gauss(suffStat, labels, threads, later)))
  }
  discrete <- discrete_test(indepTest)
  if (!is.null(discrete)) {
    return(check_suff_discrete(suffStat, labels, discrete, threads))
  }
  knn <- knn_test(indepTest)
  if (!is.null(knn)) {
    return(check_suff_knn(suffStat, labels, knn, alpha))
  }
  mixed <- mixed_test(indepTest)
  if (!is.null(mixed)) {
    return(check_suff_mixed(suffStat, labels, mixed))
  }
  # Which variables a function's numbers stand for is not known; names in another order than the labels surely are a mistake.
  check_against(data_names(suffStat, length(labels)), labels, "suffStat", "labels", tell = FALSE)
  r_test(indepTest, suffStat, said)
}

# The definition of a test of numbers and levels (see check-suff-mixed.R), or NULL for any other function.
mixed_test <- function(indepTest) {
  for (name in names(mixed_tests)) {
    if (identical(indepTest, get(name)) || is_micds(indepTest, name)) {
      return(mixed_tests[[name]])
    }
  }
  if (is_micds(indepTest, "gaussCItestMI")) mixed_tests$gaussMItest
}

# Is it the function of that name of the package micd?
is_micds <- function(fun, name) {
  isNamespaceLoaded("micd") && exists(name, envir = asNamespace("micd"), inherits = FALSE) &&
    identical(fun, get(name, envir = asNamespace("micd"), inherits = FALSE))
}

# The definition of a nearest-neighbour test (see check-suff-knn.R), or NULL for any other function.
knn_test <- function(indepTest) {
  if (identical(indepTest, cmiKnnCItest)) {
    knn_tests$cmi
  } else if (identical(indepTest, mixedCItest)) {
    knn_tests$mixed
  }
}

is_gauss_test <- function(indepTest) {
  identical(indepTest, gaussCItest) || is_pcalgs(indepTest, "gaussCItest")
}

# The definition of a test of discrete variables (see check-suff-discrete.R), or NULL for any other function.
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

# An R function as a test. What it signals (warnings, messages, interrupts) takes its usual course: Rust lets R's jumps
# pass. An error is raised again as one that says which test it was.
r_test <- function(indepTest, suffStat, said) {
  # A worker of a cluster gets values, and not how they are made.
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

# A value that is no p-value is compared with alpha all the same, as in pcalg.
warn_range <- function(value, x, y, S) {
  warn("p_value", sprintf(
    "`indepTest` returned %s for x = %d, y = %d, S = {%s}, but p-values lie between 0 and 1: return the p-value itself, not a statistic or a logarithm.",
    format(value, digits = 7L), x, y, paste(S, collapse = ", ")
  ), value = value, x = x, y = y, S = S)
}

# What a test returned, as a number. pcalg takes whatever compares with alpha, a difftime and a number as text among it.
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

# Raises what a test raised. The condition keeps the classes and fields of the original, so that a handler for those
# still catches it, and has the original as `parent`.
raise_test_error <- function(parent, x, y, S) {
  where <- sprintf("indepTest(x = %d, y = %d, S = {%s})", x, y, paste(S, collapse = ", "))
  ours <- list(
    message = paste0(where, " failed: ", conditionMessage(parent)), call = user_call(),
    x = x, y = y, S = S, parent = parent
  )
  theirs <- unclass(parent)
  theirs <- theirs[setdiff(names(theirs), names(ours))]
  classes <- setdiff(class(parent), c("simpleError", "error", "condition"))
  stop(structure(
    class = c("pcgpu_error_test", "pcgpu_error", classes, "error", "condition"),
    c(ours, theirs)
  ))
}

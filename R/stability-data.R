# The data from which stability() draws rows: data, or a sufficient statistic that contains them.

# Returns list(indepTest, n, p, labels, whole, suffStat, rows, given, unit). `whole()` returns the sufficient statistic of
# all rows. `n`: the number of rows, or of groups of rows if `unit` is "groups". `suffStat`: one from which Rust draws rows. Without it, `rows(which)` makes that of some rows, and `given` has
# the user's functions. `labels`: if pc() does not know them; `p`: if it does.
resampling_source <- function(data, indepTest, make, na = "error", design = list()) {
  if (!is.null(make)) {
    refuse_design(design, "with `make`")
    return(made_source(data, indepTest, make))
  }
  design <- with_samples_of(data, design)
  data <- read_table(data, "data", TRUE)
  is_data <- is.data.frame(data) || is.matrix(data) && is.atomic(data) || is_container(data) || is_completed(data)
  if (is.null(indepTest)) {
    refuse_columns(data, "data")
    found <- if (!is_data) test_of_suff(data)
    if (is.null(found) && !is_data) {
      abort_argument("indepTest", indepTest, "give the test, for instance gaussCItest.", is = "missing")
    }
    if (is.null(found)) {
      found <- about("data", about_suff(test_of_data(data, na, keep_data = TRUE, design = design)))
    }
    indepTest <- found$indepTest
    if (is_gauss_test(indepTest) && is_data && (length(design) || have_order(data))) {
      data <- suppressMessages(as_searched(data, design), classes = "pcgpu_message")
    } else {
      data <- found$suffStat
      is_data <- !is_gauss_test(indepTest) && is_data
    }
  }
  indepTest <- as_test(indepTest)
  if (!is.function(indepTest)) {
    abort_argument(
      "indepTest",
      indepTest,
      "give a function(x, y, S, suffStat) that returns a p-value, for instance gaussCItest, or the name of a test."
    )
  }
  if (is_gauss_test(indepTest) && is_data && (length(design) || have_order(data))) {
    return(about("data", treated_source(data, indepTest, design), "x"))
  }
  refuse_design(design, "without data for gaussCItest")
  if (is_gauss_test(indepTest)) {
    suff <- if (is_data) about("data", suff_gauss(data, keep = "data", progress = FALSE)) else data
    if (!is_kept(suff)) {
      refuse_without_data(data, "suff_gauss(data, keep = \"data\")")
    }
    return(native_source(indepTest, suff, nrow(suff$data)))
  }
  if (!is.null(discrete_test(indepTest))) {
    suff <- if (is_data && !is_kept_list(data, "dm")) about("data", suff_discrete(data)) else data
    if (!is_kept_list(suff, "dm")) {
      refuse_without_data(data, "suff_discrete(data)")
    }
    return(native_source(indepTest, suff, nrow(suff$dm)))
  }
  if (!is.null(knn_test(indepTest))) {
    suff <- if (is_data) suff_knn(data) else data
    if (!is_kept_list(suff, "data")) {
      refuse_without_data(data, "suff_knn(data)")
    }
    return(native_source(indepTest, suff, nrow(suff$data)))
  }
  if (!is.null(kernel_test(indepTest))) {
    suff <- if (is_data) about("data", suff_kernel(data)) else data
    if (!is_kept_list(suff, "data")) {
      refuse_without_data(data, "suff_kernel(data)")
    }
    return(native_source(indepTest, suff, nrow(suff$data)))
  }
  mixed <- mixed_test(indepTest)
  if (!is.null(mixed)) {
    sets <- about("data", about_suff(mixed_sets(data, mixed)))$sets
    if (is.null(sets)) {
      refuse_without_data(data, "the completed data sets")
    }
    return(list(
      indepTest = indepTest,
      n = nrow(sets[[1L]]),
      p = ncol(sets[[1L]]),
      labels = told_names(own_names(sets[[1L]], ncol(sets[[1L]]))),
      whole = function() data,
      suffStat = data
    ))
  }
  n <- rows_of_suff(data)
  if (is.null(n)) {
    refuse_without_data(data, "a list with the data")
  }
  list(
    indepTest = indepTest,
    n = n,
    labels = labels_of_table(data),
    whole = function() data,
    given = list(indepTest),
    rows = function(rows) resampled_suff(data, rows, n)
  )
}

native_source <- function(indepTest, suffStat, n) {
  p <- ncol(if (is.null(discrete_test(indepTest))) suffStat$data else suffStat$dm)
  list(indepTest = indepTest, n = n, p = p, whole = function() suffStat, suffStat = suffStat)
}

made_source <- function(data, indepTest, make) {
  if (!is.function(make)) {
    abort_argument("make", make, "give a function that computes a sufficient statistic from rows of `data`.")
  }
  if (!is.function(indepTest)) {
    abort_argument(
      "indepTest",
      indepTest,
      "`make` needs a named test: give one, for instance gaussCItest.",
      is = if (is.null(indepTest)) "missing" else describe(indepTest)
    )
  }
  n <- rows_of_suff(data)
  if (is.null(n)) {
    refuse_without_data(data, "a data frame or a matrix")
  }
  force(data)
  list(
    indepTest = indepTest,
    n = n,
    labels = labels_of_table(data),
    whole = function() of_function("make", make(data)),
    given = list(make, indepTest),
    rows = function(rows) of_function("make", make(resampled_suff(data, rows, n)))
  )
}

# Returns the source of samples whose correlations are not those of kept data: all kinds, with weights, covariates and
# groups. Groups are drawn as wholes; one that is drawn twice counts as two.
treated_source <- function(data, indepTest, design) {
  data <- read_data(data, "x")
  kind <- correlation_of(variables_of(data, design), design)
  all <- split_design(data, design$weights, design$adjust, design$id)
  x <- all$x
  levels <- NULL
  if (kind == "polychoric") {
    latent <- latent_columns(x)
    x <- latent$x
    levels <- latent$levels
  }
  members <- if (!is.null(all$groups)) unname(split(seq_len(nrow(x)), all$groups))
  list(
    indepTest = indepTest,
    n = if (is.null(members)) nrow(x) else length(members),
    unit = if (is.null(members)) "rows" else "groups",
    labels = labels_of_table(all$x),
    whole = function() gauss_of(data, "correlations", replace(design, "correlation", kind)),
    given = list(indepTest),
    rows = function(drawn) {
      rows <- if (is.null(members)) drawn else unlist(members[drawn])
      treated_of_sample(
        x[rows, , drop = FALSE],
        kind,
        levels,
        list(
          weights = all$weights[rows],
          covariates = lapply(all$covariates, `[`, rows),
          groups = if (!is.null(members)) rep(seq_along(drawn) - 1L, lengths(members[drawn]))
        )
      )
    }
  )
}

# Returns the statistic of a sample. A column that is constant in the sample, or that covariates and groups determine
# there, is uncorrelated with the others, as in samples of kept data.
treated_of_sample <- function(x, kind, levels, design) {
  design$covariates <- Filter(function(covariate) any(covariate != covariate[1L]), design$covariates)
  look_at <- function(which) {
    of <- c(levels[which], if (!is.null(levels)) integer(length(design$covariates)))
    part <- x[, which, drop = FALSE]
    correlations_of(kind, part, "all", new_device("cpu"), resolve_threads(), design = design, levels = of)
  }
  varies <- seq_len(ncol(x))
  found <- look_at(varies)
  if (is.null(found$C)) {
    varies <- which(found$least < found$largest)
    found <- if (length(varies) > 1L) look_at(varies)
  }
  C <- diag(ncol(x))
  if (!is.null(found$C)) {
    C[varies, varies] <- replace(found$C, is.na(found$C), 0)
    diag(C) <- 1
  }
  kept <- if (!is.null(levels) && length(varies) > 1L) kept_by_levels(x[varies], levels[varies])
  list(C = C, n = sample_size(found$size %||% nrow(x), kind, "one", NULL, kept))
}

is_kept_list <- function(suffStat, field) {
  is.list(suffStat) && !is.data.frame(suffStat) && length(dim(suffStat[[field]])) == 2L
}

# Stops if a plain list looks like the columns of a data frame.
refuse_columns <- function(x, argument) {
  if (is.list(x) && !is.object(x) && length(x) > 1L && !is.null(names(x)) && !any(c("C", "dm", "data") %in% names(x))) {
    plain <- vapply(x, function(column) (is.atomic(column) || is.factor(column)) && is.null(dim(column)), NA)
    if (all(plain) && length(x[[1L]]) > 1L && all(lengths(x) == length(x[[1L]]))) {
      abort_argument(argument, x, sprintf("convert the list to a data frame: as.data.frame(%s).", argument))
    }
  }
}

refuse_without_data <- function(data, instead) {
  found <- if (is.list(data) && !is.data.frame(data)) "a list without the observations" else describe(data)
  abort_argument(
    "data",
    data,
    sprintf("give the observations, or %s.", instead),
    is = paste0(found, ", but samples are drawn from the rows of the data")
  )
}

# Makes an error about `suffStat` one about `data`.
about_suff <- function(value) about("data", value, "suffStat")

labels_of_table <- function(data) {
  if (has_rows(data)) told_names(own_names(data, ncol(data))) %||% as.character(seq_len(ncol(data)))
}

has_rows <- function(x) length(dim(x)) == 2L

# Returns the number of rows of the data in a sufficient statistic: that of all its tables except `C`. NULL if there are
# no tables or their numbers differ.
rows_of_suff <- function(suffStat) {
  if (has_rows(suffStat)) {
    return(nrow(suffStat))
  }
  if (!is.list(suffStat)) {
    return(NULL)
  }
  tables <- suffStat[vapply(suffStat, has_rows, NA) & !names_or_none(suffStat) %in% "C"]
  rows <- unique(vapply(tables, nrow, 0L))
  if (length(rows) == 1L) rows
}

names_or_none <- function(x) names(x) %||% rep("", length(x))

# Returns a sufficient statistic with only these rows of its data.
resampled_suff <- function(suffStat, rows, n) {
  if (has_rows(suffStat)) {
    return(suffStat[rows, , drop = FALSE])
  }
  tables <- which(vapply(suffStat, has_rows, NA) & !names_or_none(suffStat) %in% "C")
  suffStat[tables] <- lapply(suffStat[tables], function(table) table[rows, , drop = FALSE])
  if (identical(as.double(suffStat[["n"]]), as.double(n))) {
    suffStat[["n"]] <- length(rows)
  }
  suffStat
}

# Returns the test as Rust expects it. If R makes the test of each sample, `of(resampled)` returns the function that
# does.
replicate_test <- function(source, labels, alpha, threads) {
  if (!is.null(source$suffStat)) {
    return(ci_test(source$indepTest, source$suffStat, labels, alpha, threads))
  }
  indepTest <- source$indepTest
  rows_of <- source$rows
  # The search of all rows has already warned of p-values outside their range.
  said <- list2env(list(range = TRUE))
  list(kind = "each", of = function(resampled) {
    function(replicate) {
      rows <- check_rust(rust_ensemble_rows(resampled$n, resampled, replicate, 0L))
      # The random numbers that `make` draws depend on the sample alone, too.
      stream_of(resampled$seed, replicate, 0L, 0L, integer())
      test <- ci_test(indepTest, rows_of(rows), labels, alpha, threads, said = said)
      if (test$kind == "function") {
        test$fun <- with_stream_of(test$fun, resampled$seed, replicate)
      }
      test
    }
  })
}

with_stream_of <- function(fun, seed, replicate) {
  force(fun)
  function(x, y, S) {
    stream_of(seed, replicate, x, y, S)
    fun(x, y, S)
  }
}

# Calls a function whose random numbers depend on `seed`, or are R's own if it is `NULL`.
with_seed <- function(seed, fun) {
  if (!is.null(seed)) {
    restore <- random_state()
    on.exit(restore())
    stream_of(check_seed(seed), 0, 0L, 0L, integer())
  }
  fun()
}

# Sets R's random numbers to the stream of this test: "L'Ecuyer-CMRG" with "Inversion" and "Rejection", the defaults.
stream_of <- function(seed, replicate, x, y, S) {
  of_sample <- (seed + 2654435 * replicate) %% .Machine$integer.max
  assign(".Random.seed", c(10407L, check_rust(rust_test_stream(of_sample, x, y, as.integer(S)))), envir = globalenv())
}

# Data instead of a sufficient statistic, with or without a named test: pc(data, alpha = 0.01).

# Returns the arguments of a search with those that are missing and follow from the data. `given`: see
# arguments_given(). control: see pc_control(), whose arguments about data are used here.
filled_from_data <- function(given, control) {
  na <- control$na
  design <- with_samples_of(given$suffStat, design_in(control))
  if (is.character(given$indepTest)) {
    given$indepTest <- as_test(given$indepTest)
  }
  found <- NULL
  if (!"indepTest" %in% names(given)) {
    if (!is.null(given$alpha)) {
      check_level(given$alpha)
    }
    refuse_columns(given$suffStat, "suffStat")
    found <- test_of_suff(given$suffStat)
    if (!is.null(found)) {
      if (na != "error") {
        abort_argument("na", na, "pass the data instead of a sufficient statistic.", is = "given without data")
      }
      refuse_design(design, "with a sufficient statistic")
    }
    found <- found %||% test_of_data(given$suffStat, na, design = design)
    if (
      is.null(found) && !is.environment(given$suffStat) && (!is.list(given$suffStat) || is.null(names(given$suffStat)))
    ) {
      abort_argument(
        "suffStat",
        given$suffStat,
        "use a data frame or matrix with observations in rows, or pass `indepTest` with a sufficient statistic."
      )
    }
    given[names(found)] <- found
  } else if (is_number(given$indepTest)) {
    abort_argument(
      "indepTest",
      given$indepTest,
      sprintf("pass a test, such as gaussCItest, or name the significance level: alpha = %s.", format(given$indepTest))
    )
  } else if (na != "error") {
    abort_argument(
      "na",
      na,
      "leave out `indepTest`, so that `na` chooses the test. gaussCItwd, disCItwd and mixCItwd need no `na`."
    )
  } else if (is.function(given$indepTest) && are_observations(given$suffStat)) {
    keeps <- is_container(given$suffStat) || ncol(given$suffStat) > most_correlations
    name <- test_name(given$indepTest)
    maker <- maker_of(name, if (keeps) "data" else "correlations", design)
    if (!is.null(maker)) {
      given$suffStat <- about_data(maker(given$suffStat))
      design <- if (name != "gaussCItest") design
    }
  }
  if ("indepTest" %in% names(given) && is.null(found) && length(design)) {
    abort_argument(
      names(design)[1L],
      design[[1L]],
      "pass data with gaussCItest, or leave out `indepTest`.",
      is = "given without data for gaussCItest"
    )
  }
  if (!any(c("labels", "p") %in% names(given))) {
    given$labels <- told_names(labels_of_suff(given$suffStat))
  }
  given
}

# Returns the test with this name, which may lack its last letters, CItest; anything that is no name as it is.
as_test <- function(name) {
  if (!is.character(name)) {
    return(name)
  }
  known <- own_tests()
  short <- c(known, "cmiKnnCItest")
  names(short) <- c(sub("CItest$", "", known), "knn")
  if (length(name) != 1L || !name %in% c(known, names(short))) {
    abort_argument("indepTest", name, sprintf("use a test, or the name of one: %s.", toString(known)))
  }
  get(if (name %in% known) name else short[[name]])
}

# Returns whether this is a table of observations. A square matrix may also be one of correlations.
are_observations <- function(x) {
  is.data.frame(x) || is.matrix(x) && is.atomic(x) && nrow(x) != ncol(x) || is_container(x)
}

# Returns the function that computes the statistic of the test with this name from data, or NULL. keep: what
# suff_gauss() keeps; with "data", only the correlations that a question needs are computed.
maker_of <- function(name, keep = "data", design = list()) {
  switch(
    name,
    gaussCItest = function(data) {
      kind <- correlation_of(if (is.data.frame(data)) variables_of(data, design), design)
      if (is.null(design$correlation) && kind == "polychoric") {
        tell("data", "Ordered factors: using polychoric correlations.", indepTest = "gaussCItest")
      }
      design$correlation <- kind
      gauss_of(data, keep, design)
    },
    disCItest = ,
    binCItest = ,
    chi2CItest = suff_discrete,
    cmiKnnCItest = ,
    mixedCItest = suff_knn,
    rcotCItest = ,
    rcitCItest = ,
    ritCItest = suff_kernel,
    # It has no features, whose number the message is about.
    kciCItest = function(data) suppressMessages(suff_kernel(data), classes = "pcgpu_message_features"),
    gaussCItwd = ,
    disCItwd = ,
    mixCItwd = ,
    mixCItest = identity
  )
}

# The arguments of pc_control() that suff_gauss() has, too.
data_arguments <- c("correlation", "weights", "adjust", "id")

# Returns those of them that were given.
design_in <- function(control) {
  design <- control_given(control)[data_arguments]
  design[!vapply(design, is.null, NA)]
}

# Returns suff_gauss() of data. design: these arguments, with the kind of correlation. keep: what it keeps, if these
# correlations can be computed from kept data.
gauss_of <- function(data, keep, design, progress = FALSE) {
  suff_gauss(
    data,
    correlation = design$correlation,
    keep = if (design$correlation %in% product_kinds) keep else "correlations",
    progress = progress,
    weights = design$weights,
    adjust = design$adjust,
    id = design$id
  )
}

# Returns the kind of correlation that is asked for, or that suits the variables.
correlation_of <- function(variables, design) {
  design$correlation %||% if (have_order(variables)) "polychoric" else "pearson"
}

# Returns whether these are ordered factors, alone or with numbers and columns of two levels.
have_order <- function(x) {
  is.data.frame(x) &&
    any(vapply(x, is.ordered, NA)) &&
    all(vapply(x, function(column) is.ordered(column) || is_number_column(column) || has_two_levels(column), NA))
}

has_two_levels <- function(column) length(levels(if (is.factor(column)) column else factor(column))) <= 2L

# Checks `alpha` for data. pcalg accepts any number; from 1 on it keeps all edges, and the search never ends.
check_level <- function(alpha) {
  if (is_number(alpha) && (alpha >= 1 || alpha <= 0)) {
    abort_argument(
      "alpha",
      alpha,
      sprintf(
        "use a level between 0 and 1, for instance alpha = %s.",
        if (alpha >= 1 && alpha < 100) format(alpha / 100) else "0.01"
      )
    )
  }
}

# Above this many variables, the data are kept and the search computes their correlations; a matrix in R would be a
# second copy.
most_correlations <- 5000L

# Returns data without columns that identify rows, unless `id` names such a column.
as_searched <- function(x, design) {
  if (is.data.frame(x) && !is_column_name(design$id, x)) without_identifiers(x) else x
}

# Returns list(suffStat, indepTest) for data, or NULL for anything else. The kinds of the columns determine the test,
# which a message names. keep_data: whether to keep numeric data instead of their correlations.
test_of_data <- function(
  x,
  na = "error",
  keep_data = (is.data.frame(x) || is.matrix(x)) && ncol(x) > most_correlations,
  design = list()
) {
  about_data(test_by_kinds(x, na, keep_data, design))
}

# Turns errors about `suffStat` or `x` into errors about "The data", because the user passed data. The argument is still
# `suffStat`.
about_data <- function(value) {
  about("suffStat", value, c("suffStat", "x"), function(said) {
    said <- sub("^`(suffStat|x)` is ", "The data are ", said)
    sub("^`(suffStat|x)` has ", "The data have ", sub("^`(suffStat|x)` needs ", "The data need ", said))
  })
}

test_by_kinds <- function(x, na, keep_data, design) {
  if (is_completed(x)) {
    if (na != "error") {
      abort_argument("na", na, "leave it out, because completed data sets have no missing values.")
    }
    refuse_design(design, "with completed data sets")
    return(test_of_completed(x))
  }
  if (!is.function(x)) {
    x <- read_table(x, "suffStat", counts = TRUE)
  }
  is_matrix <- is.matrix(x) && is.atomic(x)
  if (!is.data.frame(x) && !is_matrix && !is_container(x)) {
    return(NULL)
  }
  x <- as_searched(x, design)
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("suffStat", x, "use observations in rows and at least two variables in columns.")
  }
  data <- x
  x <- variables_of(x, design)
  numeric <- rep_len(numeric_columns(x), ncol(x))
  if (is.data.frame(x) || is_matrix) {
    tell_if_codes(x, !numeric)
  }
  kind <- correlation_of(x, design)
  latent <- kind == "polychoric"
  share <- if (is.data.frame(x) || is_matrix) {
    share_missing(x)
  } else if (is_sparse(x)) {
    sum(is.na(x)) / prod(dim(x))
  } else {
    0
  }
  if (share > 0 && na == "testwise") {
    refuse_design(design, "with na = \"testwise\"")
    return(test_with_holes(if (is_sparse(x)) as.matrix(x) else x, numeric, share))
  }
  hint <- paste(
    "use na = \"testwise\" (each test omits the rows that lack one of its variables), or impute them several times and",
    "pass the list of",
    "completed data sets or the result of mice(). See ?gaussCItwd for their assumptions."
  )
  if (latent) {
    hint <- paste(
      "call suff_gauss() with correlation = \"polychoric\" and use = \"pairwise.complete.obs\", and pass the result",
      "with gaussCItest; or impute them."
    )
  }
  if (share > 0) {
    abort_argument("suffStat", x, hint, has = sprintf("missing values (%s)", percent(share)))
  }
  gauss <- all(numeric) || latent || length(design)
  if (any(numeric) && !gauss) {
    tell_if_turned(x, "suffStat")
    tell(
      "data",
      paste0(
        sprintf("%s: using mixCItest(), conditional Gaussian likelihood ratio.", kinds_of(numeric, nrow(x))),
        unused_levels(x)
      ),
      indepTest = "mixCItest"
    )
    warn_dependent_numbers(x, numeric)
    return(list(suffStat = x, indepTest = mixCItest))
  }
  if (gauss) {
    of <- design
    of$correlation <- kind
    suff <- gauss_of(data, if (keep_data) "data" else "correlations", of, if (keep_data) FALSE)
    tell(
      "data",
      paste0(
        sprintf("%s: using gaussCItest(), %s.", kinds_of(numeric, nrow(x)), partial_said(of)),
        if (latent) " For classes without an order, use factor(ordered = FALSE).",
        if ((is.data.frame(x) || is_matrix) && all(numeric) && !length(design)) advice_on_curves(x)
      ),
      indepTest = "gaussCItest"
    )
    if (!is_kept(suff)) {
      warn_dependent(suff$C, suff$n)
    }
    return(list(suffStat = suff, indepTest = gaussCItest))
  }
  suff <- suff_discrete(x)
  tell(
    "data",
    paste0(sprintf("%s: using disCItest(), G-squared.", kinds_of(numeric, nrow(x))), unused_levels(x)),
    indepTest = "disCItest"
  )
  list(suffStat = suff, indepTest = disCItest)
}

refuse_design <- function(design, where) {
  if (length(design)) {
    abort_argument(names(design)[1L], design[[1L]], "leave it out.", is = paste("not available", where))
  }
}

# Describes the partial correlations of the message about data.
partial_said <- function(design) {
  parts <- c(weights = "weighted", adjust = "adjusted", id = "within the groups of `id`")[names(design)]
  parts <- parts[!is.na(parts)]
  paste0(
    "partial correlations",
    if (design$correlation != "pearson") sprintf(" (%s)", design$correlation),
    if (length(parts)) paste(",", enumerate(parts))
  )
}

# Drops columns of text that differs in every row, such as names of genes or patients. The first of them becomes the row
# names.
without_identifiers <- function(x) {
  text <- vapply(x, function(column) is.character(column) || is.factor(column), NA)
  found <- text
  found[text] <- vapply(x[text], meaning_of_text, "") == "identifier"
  if (!any(found) || sum(!found) < 2L) {
    return(x)
  }
  tell(
    "identifier",
    sprintf("Leaving out %s: text that differs in every row.", column_names(x, found)),
    columns = unname(which(found))
  )
  ids <- as.character(x[[which(found)[1L]]])
  x <- x[!found]
  attr(x, "row.names") <- ids
  refuse_square(x, "suffStat")
  attr(x, "pcgpu_read") <- TRUE
  x
}

# Returns the proportion of missing cells of a data frame or matrix. Most data have none; anyNA() finds that without a
# copy.
share_missing <- function(x) {
  if (!anyNA(x)) {
    return(0)
  }
  mean(vapply(seq_len(ncol(x)), function(j) mean(is.na(column_of(x, j))), 0))
}

percent <- function(share) sprintf("%s %% of the values", format(100 * share, digits = 2L))

test_with_holes <- function(x, numeric, share) {
  name <- name_by_kinds(numeric, "gaussCItwd", "disCItwd", "mixCItwd")
  tell_if_turned(x, "suffStat")
  tell(
    "data",
    sprintf(
      "%s, %s missing: using %s(), where each test omits the rows that lack one of its variables.%s",
      kinds_of(numeric, nrow(x)),
      percent(share),
      name,
      if (name == "gaussCItwd") "" else unused_levels(x)
    ),
    indepTest = name
  )
  warn_dependent_numbers(x, numeric)
  list(suffStat = x, indepTest = get(name))
}

test_of_completed <- function(x) {
  sets <- completed_sets(x, mixed_tests$mixMItest)
  first <- read_table(sets[[1L]], "suffStat", FALSE)
  numeric <- rep_len(numeric_columns(first), ncol(first))
  name <- name_by_kinds(numeric, "gaussMItest", "disMItest", "mixMItest")
  tell(
    "data",
    sprintf(
      "%d completed data sets, each with %s: using %s(), which pools over the data sets.%s",
      length(sets),
      kinds_of(numeric, nrow(first)),
      name,
      if (name == "gaussMItest") "" else unused_levels(first)
    ),
    indepTest = name
  )
  list(suffStat = sets, indepTest = get(name))
}

name_by_kinds <- function(numeric, numbers, levels, both) {
  if (all(numeric)) {
    numbers
  } else if (!any(numeric)) {
    levels
  } else {
    both
  }
}

# Describes the shape of the data and the kinds of their columns.
kinds_of <- function(numeric, n) {
  sprintf(
    "%s (rows), %s (columns), %s",
    counted(n, "sample"),
    counted(length(numeric), "variable"),
    if (all(numeric)) {
      "all numeric"
    } else if (!any(numeric)) {
      "all discrete"
    } else {
      sprintf("%s numeric and %s discrete", in_words(sum(numeric)), in_words(sum(!numeric)))
    }
  )
}

# Returns whether x is a Bioconductor container or a sparse or file-backed matrix, which count as numeric without a look
# at their values.
is_container <- function(x) {
  methods::is(x, "ExpressionSet") ||
    methods::is(x, "SummarizedExperiment") ||
    !is.function(x) && !is.null(row_source(x))
}

# Returns column numbers as labels. Warns if there are names that cannot serve as labels.
numbered_names <- function(x) {
  own <- colnames(x)
  if (!is.null(own)) {
    odd <- is.na(own) | !nzchar(own) | duplicated(own)
    first <- own[odd][1L]
    warn(
      "names",
      sprintf(
        "The result names variables by column number, because the name of column %d is %s%s.",
        which(odd)[1L],
        if (is.na(first)) "NA" else dQuote(first, FALSE),
        if (is.na(first) || !nzchar(first)) "" else ", like that of an earlier column"
      )
    )
  }
  as.character(seq_len(ncol(x)))
}

# Returns the names of the variables of a sufficient statistic, or their numbers, or NULL if it does not say how many
# there are.
labels_of_suff <- function(suffStat) {
  if (inherits(suffStat, "mids")) {
    suffStat <- suffStat$data
  }
  if (
    is.list(suffStat) &&
      !is.data.frame(suffStat) &&
      !is_kept(suffStat) &&
      (is_completed(suffStat) || length(suffStat) > 2L && !is.null(known_correlations(suffStat)))
  ) {
    suffStat <- suffStat[[1L]]
  }
  if (is.data.frame(suffStat) || is.matrix(suffStat)) {
    return(if (ncol(suffStat) >= 2L) own_names(suffStat, ncol(suffStat)) %||% numbered_names(suffStat))
  }
  if (!is.list(suffStat)) {
    return(NULL)
  }
  for (field in if (is_kept(suffStat)) "data" else c("C", "dm", "data")) {
    part <- suffStat[[field]]
    if (length(dim(part)) == 2L && ncol(part) >= 2L) {
      return(own_names(part, ncol(part)) %||% numbered_names(part))
    }
  }
  NULL
}

# Data in place of a sufficient statistic, where no test is named: pc(data, alpha = 0.01).

# Of a call of pc() or skeleton(), whose frame this is: the arguments that are missing and follow from the data.
fill_in_from_data <- function(frame, no_suff, no_test, no_labels) {
  if (no_suff) {
    return(invisible())
  }
  if (no_test) list2env(as.list(test_of_data(frame$suffStat)), frame)
  own <- if (no_labels) labels_of_suff(frame$suffStat)
  if (!is.null(own)) frame$labels <- own
}

# list(suffStat, indepTest) for data, the test by the kinds of their columns, which a message names; NULL for what is no data.
test_of_data <- function(x) {
  is_matrix <- is.matrix(x) && is.atomic(x)
  if (!is.data.frame(x) && !is_matrix && !inherits(x, "table") && !is_container(x)) {
    return(NULL)
  }
  if (ncol(x) < 2L || nrow(x) < 1L) {
    abort_argument("suffStat", x, "give observations in rows and at least two variables in columns.")
  }
  numeric <- if (inherits(x, "table")) {
    FALSE
  } else if (is.data.frame(x)) {
    vapply(x, function(column) is.numeric(column) || inherits(column, "integer64"), NA)
  } else {
    !is_matrix || is.numeric(x)
  }
  if (any(numeric) && !all(numeric)) {
    abort_argument("suffStat", x, paste(
      "name a test: indepTest = mixedCItest with suff_knn(data) for mixed columns, or cut() the numbers for chi2CItest."
    ), has = sprintf("numbers in %d columns (%s) and levels in %d (%s)", sum(numeric), enumerate(names(x)[numeric], 3L),
      sum(!numeric), enumerate(names(x)[!numeric], 3L)
    ))
  }
  mend <- paste(
    "fill them in, or say what to do about them yourself, such as suff_gauss(data, use = \"complete.obs\") as `suffStat`, with",
    "indepTest = gaussCItest, or suff_discrete(data, na = \"pairwise\") with disCItest."
  )
  if ((is.data.frame(x) || is_matrix) && anyNA(x)) {
    abort_argument("suffStat", x, mend, is = "data with missing values")
  }
  if (all(numeric)) {
    suff <- suff_gauss(x)
    if (anyNA(suff$C)) {
      abort_argument("suffStat", x, mend, is = "data with missing values, or with columns that are constant")
    }
    tell("data", sprintf("All %d columns are numbers: gaussCItest(), partial correlations.", ncol(suff$C)), indepTest = "gaussCItest")
    return(list(suffStat = suff, indepTest = gaussCItest))
  }
  suff <- suff_discrete(x)
  tell("data", sprintf("All %d columns have levels: disCItest(), G-squared.", ncol(suff$dm)), indepTest = "disCItest")
  list(suffStat = suff, indepTest = disCItest)
}

# Bioconductor's containers, sparse and file-backed matrices: numbers, whose kind is not looked at.
is_container <- function(x) {
  methods::is(x, "ExpressionSet") || methods::is(x, "SummarizedExperiment") || is_sparse(x) || is_delayed(x) || is_file(x) ||
    inherits(x, "big.matrix")
}

# The names of the variables of a sufficient statistic, or their numbers; NULL where it does not say how many there are.
labels_of_suff <- function(suffStat) {
  if (!is.list(suffStat) || is.data.frame(suffStat)) {
    return(NULL)
  }
  for (field in if (is_kept(suffStat)) "data" else c("C", "dm", "data")) {
    part <- suffStat[[field]]
    if (length(dim(part)) == 2L && ncol(part) >= 2L) {
      return(own_names(part, ncol(part)) %||% as.character(seq_len(ncol(part))))
    }
  }
  NULL
}

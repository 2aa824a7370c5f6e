# What the rows of Gaussian data are: how much each counts (`weights`), which belong together (`id`), and what all variables
# are adjusted for (`adjust`).

# Returns list(x, weights, groups, covariates): the data without the columns that these arguments name, a weight for each
# row, the group of each row from 0, and a list of numeric covariates. The last three are NULL if not asked for.
split_design <- function(x, weights, adjust, id) {
  asked <- list(weights = weights, adjust = adjust, id = id)
  asked <- asked[!vapply(asked, is.null, NA)]
  if (!length(asked)) {
    return(list(x = x))
  }
  if (is.function(x)) {
    abort_argument(
      names(asked)[1L],
      asked[[1L]],
      "write the rows to a file first, with write_pcgpu_file(nrow = ), and pass the file as `x`."
    )
  }
  list(
    weights = if (!is.null(weights)) check_weights(read_row_values(weights, x, "weights")),
    groups = if (!is.null(id)) check_groups(read_row_values(id, x, "id")),
    covariates = if (!is.null(adjust)) read_covariates(adjust, x),
    x = variables_of(x, asked)
  )
}

# Returns these arguments with values in place of names in the table of samples of a SummarizedExperiment or ExpressionSet.
# design: a list with some of `weights`, `adjust` and `id`.
with_samples_of <- function(x, design) {
  samples <- if (methods::is(x, "SummarizedExperiment")) {
    need_package("SummarizedExperiment", "a SummarizedExperiment needs the package SummarizedExperiment")
    as.data.frame(SummarizedExperiment::colData(x), optional = TRUE)
  } else if (methods::is(x, "ExpressionSet")) {
    need_package("Biobase", "an ExpressionSet needs the package Biobase")
    Biobase::pData(x)
  }
  if (is.null(samples) || !length(samples)) {
    return(design)
  }
  for (argument in intersect(c("weights", "id"), names(design))) {
    if (is_column_name(design[[argument]], samples) && design[[argument]] %in% names(samples)) {
      design[[argument]] <- samples[[design[[argument]]]]
    }
  }
  adjust <- design$adjust
  if (inherits(adjust, "formula")) {
    environment(design$adjust) <- list2env(samples, parent = environment(adjust))
  } else if (is.character(adjust) && all(adjust %in% names(samples))) {
    design$adjust <- samples[adjust]
  }
  design
}

# Arguments that may name columns of the data, which are then no variables.
row_arguments <- c("weights", "adjust", "id", "time")

# Returns the data without the columns that these arguments name. design: a list with some of them.
variables_of <- function(x, design) {
  used <- lapply(intersect(row_arguments, names(design)), function(argument) {
    value <- design[[argument]]
    named_in(
      if (argument == "adjust") {
        names_in_adjust(value, x)
      } else if (is_column_name(value, x)) {
        value
      },
      x,
      argument
    )
  })
  used <- unlist(used)
  if (length(used)) x[, setdiff(seq_len(ncol(x)), used), drop = FALSE] else x
}

is_column_name <- function(values, x) is.character(values) && length(values) == 1L && nrow(x) > 1L

# Returns the names of columns of x among the covariates.
names_in_adjust <- function(adjust, x) {
  if (inherits(adjust, "formula")) {
    # Not intersect(), which returns NULL for columns without names.
    Filter(function(name) name %in% colnames(x), all.vars(adjust))
  } else if (is.character(adjust) && is.null(dim(adjust)) && length(adjust) != nrow(x)) {
    adjust
  }
}

# Returns a value for each row.
read_row_values <- function(values, x, argument) {
  if (is_column_name(values, x)) {
    at <- named_in(values, x, argument)
    values <- unname(column_of(x, at))
    if (anyNA(values)) {
      abort_argument(
        "x",
        x,
        "drop or impute these rows.",
        has = sprintf("%s in %s", counted(sum(is.na(values)), "missing value"), column_names(x, seq_len(ncol(x)) == at))
      )
    }
    return(values)
  }
  if (!is.atomic(values) && !is.factor(values) || length(dim(values)) > 1L || length(values) != nrow(x)) {
    abort_argument(
      argument,
      values,
      sprintf("use one value for each of the %s rows, or the name of a column of the data.", in_words(nrow(x)))
    )
  }
  if (anyNA(values)) {
    abort_argument(argument, values, "use a value for each row.", has = counted(sum(is.na(values)), "missing value"))
  }
  values
}

# Returns the positions of columns by their names.
named_in <- function(names, x, argument) {
  if (!length(names)) {
    return(integer())
  }
  if (is.null(colnames(x))) {
    abort_argument(argument, names, "use values, because the columns of the data have no names.")
  }
  at <- variables_at(names, colnames(x), argument)
  if (!is.data.frame(x) && !is.matrix(x) && !is_sparse(x)) {
    abort_argument(argument, names, "use the values themselves: columns of such data stay variables.")
  }
  at
}

check_weights <- function(weights) {
  weights <- as.vector(plain_integer64(weights, "weights"))
  if (!is.numeric(weights) || any(!is.finite(weights) | weights < 0) || all(weights == 0)) {
    bad <- if (is.numeric(weights)) weights[!is.finite(weights) | weights < 0][1L]
    abort_argument(
      "weights",
      weights,
      "use a number of at least 0 for each row, and not only zeros.",
      has = if (is.numeric(weights) && !is.na(bad)) paste("the value", format(bad))
    )
  }
  # The largest weight is 1, so that squares stay in the range of numbers.
  as.double(weights) / max(weights)
}

check_groups <- function(id) {
  groups <- factor(id)
  if (nlevels(groups) == length(id)) {
    abort_argument("id", id, "leave it out, or use a value that several rows share.", is = "different in every row")
  }
  as.integer(groups) - 1L
}

# Returns numeric columns as a list: those of the formula's model matrix without its intercept, or of a table.
read_covariates <- function(adjust, x) {
  if (is.function(adjust) || is.complex(adjust) || !length(adjust)) {
    abort_argument(
      "adjust",
      adjust,
      "use a formula such as ~ batch + age, or a table with a row for each row of the data."
    )
  }
  formula <- ~.
  if (inherits(adjust, "formula")) {
    if (length(adjust) != 2L || "." %in% all.vars(adjust)) {
      abort_argument(
        "adjust",
        adjust,
        "use a formula such as ~ batch + age, without a left side or a dot.",
        is = deparse(adjust)[1L]
      )
    }
    formula <- adjust
  }
  named <- names_in_adjust(adjust, x)
  table <- if (!is.null(named)) {
    columns <- lapply(named_in(named, x, "adjust"), function(at) unname(column_of(x, at)))
    list2DF(stats::setNames(columns, named), if (length(named)) nrow(x) else 0L)
  } else if (is.data.frame(adjust) || is.matrix(adjust)) {
    as.data.frame(adjust)
  } else {
    data.frame(adjust = adjust)
  }
  frame <- tryCatch(
    stats::model.frame(formula, if (length(table)) table, na.action = stats::na.pass),
    error = function(e) {
      unknown <- setdiff(all.vars(formula), colnames(x))
      unknown <- unknown[!vapply(unknown, exists, NA, envir = environment(formula))]
      if (length(unknown)) {
        abort_unknown("adjust", adjust, unknown, colnames(x), "use names of columns of the data.")
      }
      abort_argument(
        "adjust",
        adjust,
        "use numbers or levels with a value for each row.",
        is = paste0("no table of covariates (", conditionMessage(e), ")")
      )
    }
  )
  if (nrow(frame) != nrow(x) || !ncol(frame)) {
    abort_argument(
      "adjust",
      adjust,
      sprintf("use covariates with a value for each of the %s rows.", in_words(nrow(x))),
      has = counted(nrow(frame), "row")
    )
  }
  one_level <- vapply(frame, function(column) !is.numeric(column) && length(unique(column[!is.na(column)])) < 2L, NA)
  # Missing values stay missing.
  frame[one_level] <- lapply(frame[one_level], function(column) ifelse(is.na(column), NA_real_, 0))
  matrix <- stats::model.matrix(stats::terms(frame), frame)
  matrix <- matrix[, attr(matrix, "assign") > 0L, drop = FALSE]
  if (nrow(matrix) != nrow(x) || any(is.infinite(matrix))) {
    abort_argument("adjust", adjust, "use covariates of finite numbers or levels.")
  }
  lapply(seq_len(ncol(matrix)), function(j) as.double(matrix[, j]))
}

# Returns the statistics: `count`, their number; `is_data`, whether they are computed from data; and make(number), which
# returns list(suffStat, indepTest, constant), where `constant` are the numbers of the columns that are constant in its
# rows. said: whether all messages about the columns have been shown. looked_at: whether constant columns have been
# searched for.
statistics_of <- function(data, indepTest, suffStat, labels, replicates, size, seed, na, fitted) {
  makes <- is.function(suffStat)
  indepTest <- as_test(indepTest)
  if (is.null(data)) {
    if (is.null(suffStat) || makes) {
      abort_argument("data", data, "give the data, or a sufficient statistic as `suffStat`.", is = "missing")
    }
    if (is.null(indepTest)) {
      abort_argument("indepTest", NULL, "give the test that uses `suffStat`.", is = "missing")
    }
    return(list(count = 1L, is_data = FALSE, said = FALSE, looked_at = FALSE, make = function(number) {
      list(suffStat = suffStat, indepTest = indepTest)
    }))
  }
  if (!is.null(suffStat) && !makes) {
    abort_argument(
      "suffStat",
      suffStat,
      "together with `data`, it must be a function that computes a statistic from rows, such as suff_gauss."
    )
  }
  if (makes && is.null(indepTest)) {
    abort_argument("indepTest", NULL, "give the test for the statistics that `suffStat` computes.", is = "missing")
  }
  refuse_columns(data, "data")
  if (length(dim(data)) != 2L) {
    abort_argument(
      "data",
      data,
      if (is_completed(data)) {
        paste(
          "imputed data sets cannot be resampled; give them as `suffStat`, with gaussMItest, disMItest or mixMItest as",
          "`indepTest`."
        )
      } else {
        "give observations in rows and variables in columns."
      }
    )
  }
  data <- in_columns_of(read_data(data, "data"), labels)
  if (!makes) {
    na <- check_holes(data, indepTest, na, fitted)
  }
  said <- is.null(indepTest)
  if (said) {
    indepTest <- test_of_table(data, na)
  }
  maker <- if (makes) function(rows) of_function("suffStat", suffStat(rows)) else statistic_maker(indepTest)
  is_gauss <- !makes && is_gauss_test(indepTest)
  constant <- if (is_gauss) constant_in(data) else FALSE
  if (any(constant)) {
    abort_argument(
      "data",
      data,
      "drop such columns from the data and from `fit`.",
      is = paste("constant in", column_names(data, constant))
    )
  }
  n <- nrow(data)
  size <- check_whole(max(1, floor(rows_of_size(size, n))), "size", 1, n)
  list(
    count = max(1L, as.integer(replicates)),
    is_data = TRUE,
    said = said,
    looked_at = !makes,
    make = function(number) {
      at <- if (replicates > 0) {
        check_rust(rust_ensemble_rows(n, list(size = size, seed = seed, replace = FALSE), number, 0))
      }
      rows <- if (is.null(at)) data else data[at, , drop = FALSE]
      if (makes) {
        return(list(suffStat = maker(rows), indepTest = indepTest))
      }
      lost <- which(constant_in(rows))
      suff <- tryCatch(
        about("data", if (is_gauss && length(lost)) suff_with_constants(rows, lost) else maker(rows)),
        pcgpu_error_argument = function(e) {
          if (is.null(at)) {
            stop(e)
          }
          abort_argument(
            "data",
            e$value,
            sub("[.]$", "; or use a larger `size`, or replicates = 0.", e$hint),
            is = sprintf(
              "unsuitable in a sample of %s (%s)",
              counted(length(at), "row"),
              sub("^`data` ", "it ", sub(":.*", "", conditionMessage(e)))
            )
          )
        }
      )
      list(suffStat = suff, indepTest = indepTest, constant = lost)
    }
  )
}

# Returns the test that the kinds of the columns require, as pc() chooses it.
test_of_table <- function(data, na) {
  found <- about("data", about_suff(test_of_data(data, na, keep_data = TRUE)))
  if (is.null(found)) {
    abort_argument(
      "data",
      data,
      "give a test as `indepTest`, and as `suffStat` a function that computes its sufficient statistic."
    )
  }
  found$indepTest
}

# Returns suff_gauss() of rows in which some columns are constant, and correlated with nothing, like stability(). Each
# constant column gets two rows of its own, 1 and -1, in which all other columns are 0. So its mean stays 0, and so do
# its products with other columns, from which correlations are computed.
suff_with_constants <- function(rows, lost) {
  n <- nrow(rows)
  centred <- matrix(0, n + 2L * length(lost), ncol(rows), dimnames = list(NULL, colnames(rows)))
  centred[cbind(n + seq_len(2L * length(lost)), rep(lost, each = 2L))] <- c(1, -1)
  kept <- setdiff(seq_len(ncol(rows)), lost)
  # A single column leaves nothing to test.
  if (length(kept) > 1L) {
    centred[seq_len(n), kept] <- suff_gauss(rows[, kept, drop = FALSE], keep = "data", progress = FALSE)$data
  } else {
    centred[1:2, kept] <- c(1, -1)
  }
  new_kept(centred, n)
}

# Returns the treatment of missing values, "error" or "testwise": that of the search, unless the user chooses. fitted:
# the name of the search's test.
check_holes <- function(data, indepTest, na, fitted) {
  testwise <- c("gaussCItwd", "disCItwd", "mixCItwd")
  if (!is.null(indepTest) && test_name(indepTest) %in% testwise || !anyNA(data)) {
    return(na %||% "error")
  }
  if (is.null(indepTest)) {
    if (is.null(na) && fitted %in% testwise) {
      na <- "testwise"
    }
    if (identical(na, "testwise")) {
      return(na)
    }
  }
  hint <- if (fitted %in% c("gaussMItest", "disMItest", "mixMItest")) {
    sprintf("give the imputed data sets of the search as `suffStat`, with indepTest = %s, instead of `data`.", fitted)
  } else {
    paste0(
      if (is.null(indepTest)) "use" else "leave `indepTest` out, and use",
      " na = \"testwise\", so that each test leaves out rows that lack one of its variables."
    )
  }
  abort_argument("data", data, hint, has = sprintf("missing values (%s)", percent(share_missing(data))))
}

# Returns the name of the test of the search that made a graph, "" if it is not known.
test_of_fit <- function(fit) {
  if (is_compact(fit)) {
    fit@test
  } else if (is_result(fit)) {
    run_details(fit)$test %||% ""
  } else {
    ""
  }
}

# Returns the function that computes the statistic of a test of this package from data.
statistic_maker <- function(indepTest) {
  made <- maker_of(if (is.function(indepTest)) test_name(indepTest) else "")
  if (is.null(made)) {
    abort_argument(
      "suffStat",
      NULL,
      "give a function that computes the sufficient statistic of `indepTest` from rows of `data`.",
      is = "missing"
    )
  }
  made
}

# Stops if the search had weights, covariates or groups of rows that the data alone do not have. hint: a remedy, with a
# place for the argument's name. arguments: those that the data do not have.
refuse_treated <- function(fit, data, hint, arguments = c("weights", "adjust", "id")) {
  call <- if (isVirtualClass(class(fit)[1L]) || !isS4(fit)) NULL else tryCatch(fit@call, error = function(e) NULL)
  used <- intersect(names(call), arguments)
  if (length(used)) {
    is <- sprintf("given without `%s`, which the search had", used[1L])
    abort_argument("data", data, sprintf(hint, used[1L]), is = is)
  }
}

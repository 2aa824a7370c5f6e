#' Lagged columns of a time series, with their tiers
#'
#' Puts the earlier values of each variable next to its present value, so that [pc()] can search for causes in the past.
#' The columns of a variable `x` are `x.lag2`, `x.lag1` and `x`: its value two steps ago, one step ago, and now. The
#' result has the tiers of these columns, and `pc(lagged(data), alpha = 0.01)` uses them: no arrow points back in time.
#'
#' # What the graph can and cannot say
#'
#' Read only the edges into the last tier: arrows from the past into the present, and edges within the present. Two
#' columns of the past share causes from before the first lag. Edges between them may come from these causes alone. The
#' example shows how to leave them out.
#'
#' The edges into the present are right under these assumptions, in addition to those of [pc()]:
#' - **The same causes at all times** (stationarity). A trend, a season or a change of regime in several series looks
#'   like an effect. Use differences, or add such a column to the result and adjust for it: `pc(x, alpha = 0.01,
#'   adjust = "season")`.
#' - **Equal steps.** The times are equidistant, and a step is short enough that causes come before effects.
#' - **Enough lags.** No cause acts later than after the largest lag. With too few lags, an omitted earlier value is a
#'   hidden common cause.
#' - **No unmeasured common causes.** If there may be some, use [fci()], which takes the same data and tiers.
#'
#' Effects that are quicker than a step are edges within the present. They have a direction only if v-structures and the
#' arrows from the past determine it, as in any CPDAG.
#'
#' Neighbouring rows share values, so that rows are not independent. A test is right if its conditioning set removes the
#' autocorrelation, as the variable's own lags do. Other tests of autocorrelated series count too many observations, so
#' that their p-values are too small. Edges into the present survive only if the right tests find them, too. Simulations
#' agree (`bench/lagged.R`): in 400 pairs of independent series (first order, coefficient 0.9, 300 times, `lags = 2`,
#' `alpha = 0.01`), 2 % of the graphs had a false edge into the present, and 42 % had one within the past. For series of
#' second order, 4 % had a false edge into the present with two lags, and 13 % with one. The method PCMCI+ (Runge 2020) of
#' the Python package tigramite conditions each test on the past of both variables, and is made for such series.
#' [stability()] draws single rows, not blocks of them, and does not correct p-values either.
#'
#' # Several series
#'
#' With `id`, no lag reaches from one series into another. The search takes all series as samples of one process. If
#' their levels differ for reasons that were not measured, pass the groups to `pc()`, too, which then compares values
#' within a series only: `pc(x, alpha = 0.01, id = data[row.names(x), "firm"])`. Such fixed
#' effects bias the dependence of a variable on its own lags downwards, in short series by much: about (1 +
#' autocorrelation) / length (Nickell 1981).
#'
#' @param data A data frame or matrix, such as an `mts`: a row for each time, in the order of time, and a column for
#'   each variable. Numbers, factors, logicals and text are possible, and missing values remain missing.
#' @param lags The largest lag, for all lags from 1 to this number. Or several lags, such as `c(1, 7)`, for these alone.
#' @param id `NULL`, or which series each row belongs to, such as a firm or a patient: a value for each row, or the name
#'   of a column, which then is no variable. The rows of a series need not be neighbours.
#' @param time `NULL`, or the time of each row: numbers, dates or times, or the name of a column, which then is no
#'   variable. Rows may then have any order. The smallest difference is one step, and all others must be multiples of
#'   it. Months are no equal numbers of days: number them. If times are missing in between, rows whose lags fall there
#'   are left out, with a message of class `pcgpu_message_gaps`. Without `time`, each row is one step after the previous
#'   row of its series.
#' @return A data frame with the columns of the largest lag first and the present last. Rows without all lags, such as
#'   the first ones of a series, are left out. The others keep their order and their row names. The class is
#'   `c("pcgpu_lagged", "data.frame")`. The attribute `tiers` has the number of the tier of each column, by name: 1 for
#'   the largest lag.
#'
#'   [pc()], [skeleton()], [fci()], [rfci()], [fciPlus()], [stability()] and [cstar()] use these tiers if `tiers` is not
#'   given, with a message of class `pcgpu_message_tiers`. Subsets of rows and columns keep the tiers. A sufficient
#'   statistic or a new data frame, such as the result of `cbind()`, does not have them: pass `tiers = attr(x, "tiers")`
#'   there, and to [orient()]. `as.data.frame()` returns the columns without tiers.
#'
#'   If `data` already has a column with one of the new names, such as `x.lag1` next to `x`, the call is an error. Errors have the
#'   class `pcgpu_error_argument`.
#' @references
#' S. Nickell (1981). Biases in dynamic models with fixed effects. *Econometrica* 49(6), 1417-1426.
#'
#' J. Runge (2020). Discovering contemporaneous and lagged causal relations in autocorrelated nonlinear time series
#' datasets. *Proceedings of the 36th Conference on Uncertainty in Artificial Intelligence*, PMLR 124, 1388-1397.
#' @seealso [pc_control()] for `tiers` and other knowledge, `adjust` and `id`.
#' @examples
#' # Rain raises the river a day later
#' set.seed(1)
#' n <- 1000
#' rain <- as.vector(arima.sim(list(ar = 0.6), n))
#' river <- numeric(n)
#' for (t in 2:n) river[t] <- 0.5 * river[t - 1] + 0.8 * rain[t - 1] + rnorm(1)
#' x <- lagged(data.frame(rain, river), lags = 2)
#' head(x, 3)
#' attr(x, "tiers")
#' fit <- pc(x, alpha = 0.01, numCores = 2)
#'
#' # Only the edges into the present
#' found <- edge_table(fit)
#' found[found$to %in% c("rain", "river"), ]
#'
#' # With a sufficient statistic
#' pc(suff_gauss(x), gaussCItest, 0.01, labels = names(x), tiers = attr(x, "tiers"), numCores = 2)
#' @export
lagged <- function(data, lags = 1, id = NULL, time = NULL) {
  if (!is.data.frame(data) && !(is.matrix(data) && is.atomic(data))) {
    abort_argument("data", data, "use a data frame or matrix, with a row for each time and a column for each variable.")
  }
  lags <- check_lags(lags, nrow(data))
  table <- read_data(variables_of(as.data.frame(data), list(id = id, time = time)), "data")
  id <- if (!is.null(id)) about("data", read_row_values(id, data, "id"))
  time <- if (!is.null(time)) about("data", read_row_values(time, data, "time"))
  names <- lagged_names(names(table), lags, data)
  series <- if (is.null(id)) rep.int(1, nrow(table)) else as.integer(factor(id))
  rows <- rows_of_lags(steps_in_time(time, series), series, lags)
  columns <- lapply(rows, function(at) lapply(unname(table), function(column) column[at]))
  structure(
    stats::setNames(do.call(c, columns), names),
    row.names = attr(table, "row.names")[rows[[length(rows)]]],
    class = c("pcgpu_lagged", "data.frame"),
    tiers = stats::setNames(rep(seq_along(rows), each = length(table)), names)
  )
}

# Returns the lags as increasing whole numbers. n: the number of rows.
check_lags <- function(lags, n) {
  if (!is.numeric(lags) || !length(lags) || any(!is.finite(lags) | lags < 1 | lags != floor(lags))) {
    abort_argument("lags", lags, "use the largest lag, such as 2, or several lags of at least 1, such as c(1, 7).")
  }
  if (anyDuplicated(lags)) {
    abort_argument("lags", lags, "give each lag once.")
  }
  if (max(lags) >= n) {
    abort_argument("lags", lags, sprintf("use lags smaller than the number of rows, %s.", in_words(n)))
  }
  if (length(lags) == 1L) seq_len(lags) else sort(as.integer(lags))
}

# Returns the names of all columns: those of the largest lag first, and the present last.
lagged_names <- function(own, lags, data) {
  bad <- is.na(own) | !nzchar(own) | duplicated(own)
  if (!length(own) || any(bad)) {
    abort_argument(
      "data",
      data,
      "use columns with different names.",
      has = if (length(own)) sprintf("no name of its own for column %d", which(bad)[1L]) else "no column of a variable"
    )
  }
  names <- c(paste0(rep(own, length(lags)), rep(paste0(".lag", rev(lags)), each = length(own))), own)
  twice <- names[duplicated(names)]
  if (length(twice)) {
    abort_argument(
      "data",
      data,
      "rename it, because that is the name of a lag.",
      has = paste("a column", dQuote(twice[1L], FALSE))
    )
  }
  names
}

# Returns the time of each row in steps, a whole number of at least 0. time: NULL for rows in order.
steps_in_time <- function(time, series) {
  if (is.null(time)) {
    return(stats::ave(series, series, FUN = seq_along) - 1)
  }
  numbers <- if (is.numeric(time) || is_date(time) || inherits(time, "difftime")) {
    as.numeric(plain_integer64(time, "time"))
  }
  if (is.null(numbers) || any(!is.finite(numbers))) {
    abort_argument("time", time, "use finite numbers, dates or times.")
  }
  order <- order(series, numbers)
  same <- diff(series[order]) == 0
  apart <- diff(numbers[order])
  if (any(same & apart == 0)) {
    at <- order[which(same & apart == 0)[1L]]
    abort_argument(
      "time",
      time,
      "give each series its own value of `id`, or keep one row for each time.",
      has = sprintf("the value %s twice in one series", format(time[at]))
    )
  }
  if (!any(same)) {
    return(numeric(length(numbers)))
  }
  step <- min(apart[same])
  steps <- apart / step
  uneven <- which(same & abs(steps - round(steps)) > 0.001)
  if (length(uneven)) {
    abort_argument(
      "time",
      time,
      "number the times, such as 1, 2, 4 for the first, second and fourth month.",
      has = sprintf("unequal steps, such as %s and %s", format(step), format(apart[uneven[1L]]))
    )
  }
  steps <- cumsum(c(0, round(steps) * same))
  # Each series begins at 0.
  steps <- steps - stats::ave(steps, series[order], FUN = min)
  steps[order(order)]
}

# Returns for each tier the rows of its values, those of the present last.
rows_of_lags <- function(steps, series, lags) {
  # No lag leads from one series to another, because numbers of different series are further apart than all lags.
  key <- steps + series * (max(steps) + max(lags) + 1)
  earlier <- lapply(rev(lags), function(lag) match(key - lag, key))
  whole <- Reduce(`&`, lapply(earlier, function(at) !is.na(at)))
  gaps <- sum(!whole & steps >= max(lags))
  if (!any(whole)) {
    abort_argument(
      "lags",
      lags,
      sprintf(
        "use smaller lags, because no row has all of them%s.",
        if (gaps) " before it without a gap in `time`" else " in its series"
      )
    )
  }
  if (gaps) {
    tell(
      "gaps",
      sprintf("Left out %s whose lags fall into gaps of `time`.", counted(gaps, "row")),
      rows = which(!whole & steps >= max(lags))
    )
  }
  lapply(c(earlier, list(seq_along(key))), function(at) at[whole])
}

# Returns rows and columns as for any data frame, with the tiers of these columns.
#' @export
`[.pcgpu_lagged` <- function(x, i, j, drop) {
  part <- NextMethod()
  if (!is.data.frame(part)) {
    return(part)
  }
  tiers <- attr(x, "tiers")
  attr(part, "tiers") <- tiers[names(tiers) %in% names(part)]
  part
}

# Returns the tiers of data of lagged(), in the order of the labels, with a message; NULL for other data. Labels that
# are not the names of the columns are taken in their order.
tiers_of_lags <- function(data, labels) {
  if (!inherits(data, "pcgpu_lagged")) {
    return(NULL)
  }
  at <- match(labels, names_for_graph(names(data)))
  if (anyNA(at) && length(labels) == length(data)) {
    at <- seq_along(data)
  }
  tiers <- as.numeric(attr(data, "tiers"))[match(names(data)[at], names(attr(data, "tiers")))]
  if (anyNA(tiers)) {
    abort_argument(
      "tiers",
      NULL,
      "give the tier of each variable, such as tiers = c(attr(x, \"tiers\"), season = 1).",
      needs = sprintf("a value for %s, a column that lagged() did not make", dQuote(labels[is.na(tiers)][1L], FALSE))
    )
  }
  tell(
    "tiers",
    sprintf("Using the %s of lagged(): no arrow points back in time.", counted(length(unique(tiers)), "tier")),
    tiers = stats::setNames(tiers, labels)
  )
  tiers
}

# Returns the control of a function that draws rows, with the tiers of its data. given: further arguments of pc();
# source: see resampling_source().
with_tiers_of_lags <- function(control, data, given, source) {
  if (is.null(control$tiers) && inherits(data, "pcgpu_lagged")) {
    labels <- if (is.null(given$p)) {
      given$labels %||% source$labels %||% labels_of_suff(source$whole())
    } else {
      check_labels(NULL, given$p, FALSE, TRUE)
    }
    control$tiers <- tiers_of_lags(data, labels)
  }
  control
}

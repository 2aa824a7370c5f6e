# Warnings, once a search, of edges that were removed or kept without an answer of a test. `doubts`: counts, see src/rust/core/src/search/doubts.rs.
warn_doubts <- function(doubts, test, options) {
  doubts$correlations <- test$undefined
  tell_of <- function(name, warn) if (isTRUE(doubts[[name]] > 0)) warn(doubts[[name]])
  tell_of("too_few", function(count) warn_too_few(count, test))
  tell_of("few_rows", function(count) warn_few_rows(count, test))
  tell_of("removed", function(count) {
    warn("no_answer", sprintf(paste(
      "%.0f of the edges %s removed by tests that have no answer (NA), as one of their variables has one value alone in the rows of the test",
      "=> treated as independence; NAdelete = FALSE keeps them"
    ), count, was_or_were(count)), count = count)
  })
  tell_of("kept", function(count) {
    warn("no_answer", sprintf(
      "%.0f of the edges %s kept although the test of their two variables, alone or given one other, has no answer (NA) => treated as dependence (NAdelete = FALSE)", count, was_or_were(count)
    ), count = count)
  })
  tell_of("tests", function(count) {
    warn("no_answer", sprintf(
      "%.0f of the tests had no answer (`indepTest` returned NA) => treated as %s", count, if (options$na_delete) "independence (NAdelete = TRUE)" else "dependence (NAdelete = FALSE)"
    ), count = count)
  })
  tell_of("correlations", function(count) {
    warn("no_answer", sprintf("%.0f of the correlations in `suffStat$C` are NA => %s", count, if (options$method == "stable.fast") {
      sprintf("treated as %s (see NAdelete)", if (options$na_delete) "independence" else "dependence")
    } else {
      "gaussCItest() takes them for 0, independence"
    }), count = count)
  })
}

was_or_were <- function(count) if (count == 1) "was" else "were"

warn_too_few <- function(count, test) {
  rule <- if (test$kind == "mixed" || test$rule == "pcalg") "n < 10 df, the degrees of freedom" else "n < 5 times the number of cells"
  warn("too_few", sprintf(
    "%.0f of the edges %s removed without a test, as n = %.0f is too small for it (%s) => treated as independence", count, was_or_were(count), samples_of(test), rule
  ), count = count)
}

# Of tests that take the rows which have all their values.
warn_few_rows <- function(count, test) {
  known <- if (is.null(test$matrix)) {
    vapply(test$columns, function(column) sum(!is.na(column$versions[[1L]])), 0)
  } else {
    colSums(!is.na(test$matrix))
  }
  fewest <- if (length(known) && min(known) < test$n) sprintf("; column %d has the fewest values, %.0f of %.0f", which.min(known), min(known), test$n) else ""
  warn("too_few", sprintf(
    "%.0f of the edges %s removed by tests of k + 2 variables on fewer than k + 4 rows, which cannot tell (n = %.0f%s) => treated as independence",
    count, was_or_were(count), test$n, fewest
  ), count = count)
}

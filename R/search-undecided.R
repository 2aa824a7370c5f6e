# Warns, once for each search, of edges that were removed or kept although a test had no answer. `doubts`: counts, see
# src/rust/core/src/search/doubts.rs.
warn_doubts <- function(doubts, test, options) {
  doubts$correlations <- test$undefined
  tell_of <- function(name, warn) if (isTRUE(doubts[[name]] > 0)) warn(doubts[[name]])
  tell_of("too_few", function(count) warn_too_few(count, test))
  tell_of("few_rows", function(count) warn_few_rows(count, test))
  tell_of("removed", function(count) {
    warn(
      "no_answer",
      sprintf(
        paste(
          "%s removed because a test returned NA: one of its variables is constant in the rows of the test. NAdelete =",
          "FALSE keeps such edges."
        ),
        edges_were(count)
      ),
      count = count
    )
  })
  tell_of("kept", function(count) {
    warn(
      "no_answer",
      sprintf(
        "%s kept because the test of two variables, alone or given one other, returned NA (NAdelete = FALSE).",
        edges_were(count)
      ),
      count = count
    )
  })
  tell_of("tests", function(count) {
    warn(
      "no_answer",
      sprintf(
        "`indepTest` returned NA in %s, treated as %s.",
        counted(count, "test"),
        if (options$na_delete) "independence (NAdelete = TRUE)" else "dependence (NAdelete = FALSE)"
      ),
      count = count
    )
  })
  tell_of("correlations", function(count) {
    warn(
      "no_answer",
      sprintf(
        "`suffStat$C` has %s: %s.",
        counted(count, "NA"),
        if (options$method == "stable.fast") {
          sprintf("treated as %s (see NAdelete)", if (options$na_delete) "independence" else "dependence")
        } else {
          "gaussCItest() treats NA as 0, that is, as independence"
        }
      ),
      count = count
    )
  })
}

edges_were <- function(count) counted(count, "edge was", "edges were")

warn_too_few <- function(count, test) {
  rule <- if (test$kind == "mixed" || test$rule == "pcalg") "10 rows per degree of freedom" else "5 rows per cell"
  warn(
    "too_few",
    sprintf(
      "%s removed without a test, because n = %.0f is too small (fewer than %s): treated as independence.",
      edges_were(count),
      samples_of(test),
      rule
    ),
    count = count
  )
}

# Warns of tests that had too few complete rows.
warn_few_rows <- function(count, test) {
  known <- if (is.null(test$matrix)) {
    vapply(test$columns, function(column) sum(!is.na(column$versions[[1L]])), 0)
  } else {
    colSums(!is.na(test$matrix))
  }
  fewest <- if (length(known) && min(known) < test$n) {
    sprintf("; column %d has the fewest values, %.0f of %.0f", which.min(known), min(known), test$n)
  } else {
    ""
  }
  warn(
    "too_few",
    sprintf(
      paste(
        "%s removed because a test of k + 2 variables had fewer than k + 4 complete rows (n = %.0f%s): treated as",
        "independence."
      ),
      edges_were(count),
      test$n,
      fewest
    ),
    count = count
  )
}

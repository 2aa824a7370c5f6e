# The meaning of a user's table of background knowledge: columns of arrows, and tiers. knowledge.R checks the result.

# Names of the two columns of arrows, in upper or lower case. If a pair of names occurs, the names decide instead of the
# order of columns.
end_names <- list(c("from", "to"), c("source", "target"), c("cause", "effect"), c("parent", "child"))

# Returns list(from, to, kind) for a table, a list of columns, one pair or a list of pairs. If two columns have other
# names, the first is `from`. `refuse`: raises the error for anything else.
arrow_columns <- function(arrows, refuse) {
  if (is.list(arrows) && !is.data.frame(arrows) && is.null(ends_named(names(arrows)))) {
    # A list of pairs, with or without names.
    is_pair <- function(x) (is.character(x) || is.numeric(x)) && is.null(dim(x))
    if (!all(vapply(arrows, is_pair, NA))) {
      refuse()
    }
    pairs <- lapply(unname(arrows), arrow_columns, refuse = refuse)
    column <- function(name) unlist(lapply(pairs, function(pair) pair[[name]] %||% NA_character_))
    return(list(from = column("from"), to = column("to"), kind = column("kind")))
  }
  if (!is.atomic(arrows) && !is.list(arrows) && length(dim(arrows)) != 2L) {
    refuse()
  }
  columns <- if (length(dim(arrows)) == 2L && !is.data.frame(arrows)) {
    stats::setNames(lapply(seq_len(ncol(arrows)), function(at) unname(arrows[, at])), colnames(arrows))
  } else {
    as.list(arrows)
  }
  at <- ends_named(names(columns), refuse)
  if (is.null(at)) {
    at <- if (length(columns) == 2L) 1:2 else refuse()
  }
  found <- stats::setNames(unname(columns)[at], c("from", "to"))
  if (length(found$from) != length(found$to)) {
    refuse()
  }
  lapply(c(found, list(kind = columns[["kind"]])), function(column) {
    if (is.factor(column)) as.character(column) else column
  })
}

# Returns the positions of the two columns that have one of the pairs of names, or NULL. One name of a pair without the
# other is an error, because by position it may mean the reverse.
ends_named <- function(given, refuse = NULL) {
  given <- tolower(given %||% character())
  for (pair in end_names) {
    count <- c(sum(given == pair[1L]), sum(given == pair[2L]))
    if (all(count == 1L)) {
      return(match(pair, given))
    }
    if (!is.null(refuse) && any(count > 0L)) refuse(sprintf("columns named %s", enumerate(dQuote(given, FALSE))))
  }
  NULL
}

# Turns rows of edges() into arrows. An edge without a single direction becomes an arrow each way, as in an adjacency
# matrix. Other values of a column `kind` are ignored.
arrows_of_kinds <- function(found, argument, arrows) {
  kind <- as.character(found$kind)
  row_said <- function(at) sprintf("a row %s %s %s", found$from[at], kind[at], found$to[at])
  hint <- "use rows of edges() whose kind is \"-->\", or only the columns from and to."
  unknown <- which(!is.na(kind) & grepl("^[<o-]", kind) & !kind %in% c(kinds_of_pag, "-->", "---", "<->"))
  if (length(unknown)) {
    abort_argument(
      argument,
      arrows,
      hint,
      has = paste(row_said(unknown[1L]), "a kind that edge_table() does not have", sep = ", ")
    )
  }
  circle <- which(kind %in% setdiff(kinds_of_pag[grepl("o", kinds_of_pag, fixed = TRUE)], arrow_of))
  if (length(circle)) {
    abort_argument(argument, arrows, hint, has = paste0(row_said(circle[1L]), ", whose direction a PAG leaves open"))
  }
  both <- which(kind %in% c("---", "<->"))
  if (length(both) && argument == "required") {
    abort_argument(argument, arrows, hint, has = paste0(row_said(both[1L]), ", an edge without a single direction"))
  }
  list(from = c(found$from, found$to[both]), to = c(found$to, found$from[both]))
}

# Returns `tiers` as a vector of numbers or a list of the members of each tier. Numbers for the variables may be a
# vector, a list, a table with one row or column, or a table with the columns variable and tier.
tiers_as_given <- function(tiers, labels, hint) {
  is_table <- length(dim(tiers)) == 2L
  if (is_table && !is.data.frame(tiers)) {
    tiers <- as.matrix(tiers)
    if (is.numeric(tiers) && any(dim(tiers) == 1L)) {
      return(stats::setNames(as.vector(tiers), dimnames(tiers)[[if (nrow(tiers) == 1L) 2L else 1L]]))
    }
    tiers <- as.data.frame(tiers)
  }
  by_variable <- tier_columns(tiers, is_table, hint)
  if (!is.null(by_variable)) {
    at <- which_variables(by_variable$variable, "tiers", labels, hint)
    return(stats::setNames(by_variable$tier, labels[at]))
  }
  if (!is.list(tiers)) {
    return(tiers)
  }
  if (is_table && ncol(tiers) == 1L && nrow(tiers) > 1L && is_tiers(tiers[[1L]])) {
    return(stats::setNames(tiers[[1L]], if (.row_names_info(tiers) > 0L) row.names(tiers)))
  }
  is_number <- vapply(tiers, is.numeric, NA)
  is_single <- length(tiers) > 0L && all(is_number & lengths(tiers) == 1L)
  if (any(is_number) && (is_table || any(names(tiers) %in% labels))) {
    if (!is_single) {
      abort_argument("tiers", tiers, hint, has = "elements that are not a single number")
    }
    return(vapply(tiers, as.double, 0))
  }
  if (is_single && is.null(names(tiers)) && length(tiers) == length(labels)) {
    abort_argument(
      "tiers",
      tiers,
      sprintf(
        "use a vector, such as c(%s), for the tier of each variable, or a list of the names in each tier.",
        enumerate(format(unlist(tiers), trim = TRUE))
      ),
      is = paste(
        "ambiguous, because an unnamed list of numbers could hold the tier of each variable or the variables in each",
        "tier"
      )
    )
  }
  as.list(tiers)
}

is_tiers <- function(x) is.numeric(x) || is.ordered(x)

# Returns list(variable, tier) for a table with these two columns, or NULL. In a table of two columns, the contents
# identify them if the names do not.
tier_columns <- function(tiers, is_table, hint) {
  if (!is.list(tiers)) {
    return(NULL)
  }
  given <- tolower(names(tiers))
  at <- match(c("variable", "tier"), given)
  if (anyNA(at) || anyDuplicated(given[given %in% given[at]])) {
    if (!is_table || length(tiers) != 2L) {
      return(NULL)
    }
    is_tier <- vapply(tiers, is_tiers, NA)
    if (sum(is_tier) != 1L) {
      return(NULL)
    }
    at <- c(which(!is_tier), which(is_tier))
  }
  variable <- tiers[[at[1L]]]
  tier <- tiers[[at[2L]]]
  # In a character matrix, tiers are text, too.
  numbers <- if (is.character(tier)) suppressWarnings(as.numeric(tier))
  if (!is.null(numbers) && identical(is.na(numbers), is.na(tier))) {
    tier <- numbers
  }
  if (is.ordered(tier)) {
    tier <- as.integer(tier)
  }
  if (!is.numeric(tier) || length(tier) != length(variable)) {
    abort_argument("tiers", tiers, hint, has = "a column of tiers that is not numeric")
  }
  list(variable = variable, tier = tier)
}

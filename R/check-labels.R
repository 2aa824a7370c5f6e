# Returns the names of the variables, from `labels` or `p`. One of the two may be missing.
check_labels <- function(labels, p, has_labels, has_p, tell = FALSE) {
  if (has_p) {
    p <- check_p(p)
  }
  if (!has_labels) {
    if (!has_p) {
      abort_argument(
        "labels",
        NULL,
        "pass `labels`, the names of the variables, or `p`, their number.",
        is = "missing, and so is `p`",
        pcalg = "need to specify 'labels' or 'p'"
      )
    }
    return(as.character(seq_len(p)))
  }
  check_names(labels)
  # A class could prevent the names from becoming node names.
  if (is.object(labels)) {
    labels <- as.vector(unclass(labels))
  }
  if (has_p) {
    if (p != length(labels)) {
      abort_argument(
        "p",
        p,
        sprintf("leave it out, because there are %d labels.", length(labels)),
        pcalg = "'p' is not needed when 'labels' is specified, and must match length(labels)"
      )
    }
    if (tell) {
      message("No need to specify 'p', when 'labels' is given")
    }
  }
  labels
}

check_p <- function(p) {
  as.integer(check_number(
    p,
    "p",
    "use the number of variables, a whole number of at least 2 (p >= 2).",
    2,
    .Machine$integer.max,
    whole = TRUE
  ))
}

# Checks names that become node names of a graph::graphNEL, which separates the two ends of an edge by "|".
check_names <- function(labels) {
  if (!is.character(labels)) {
    abort_argument(
      "labels",
      labels,
      paste(
        "use a character vector of variable names, for instance colnames(x),",
        "or pass `p`, the number of variables, instead."
      )
    )
  }
  if (length(labels) < 2L) {
    abort_argument("labels", labels, "name at least two variables (p >= 2).")
  }
  if (anyNA(labels)) {
    abort_argument(
      "labels",
      labels,
      sprintf("name every variable, starting with number %d.", which(is.na(labels))[1L]),
      has = sprintf("NA for %d of %d variables", sum(is.na(labels)), length(labels))
    )
  }
  repeated <- unique(labels[duplicated(labels)])
  if (length(repeated)) {
    abort_argument(
      "labels",
      labels,
      "make the names unique, for instance with make.unique(labels).",
      has = paste("duplicated names,", enumerate(dQuote(repeated, FALSE)))
    )
  }
  odd <- labels[!nzchar(labels) | grepl("|", labels, fixed = TRUE)]
  if (length(odd)) {
    abort_argument(
      "labels",
      labels,
      paste(
        "use non-empty names without \"|\", which the package graph reserves;",
        "chartr(\"|\", \"_\", labels) replaces it."
      ),
      has = paste("invalid names,", enumerate(dQuote(odd, FALSE)))
    )
  }
  invisible(labels)
}

# Returns whether the labels are just 1, 2, ..., as they are when they come from `p`.
are_numbers <- function(labels) identical(labels, as.character(seq_along(labels)))

# Returns the column or row names of a matrix of p variables, or NULL if they are not p different, non-empty names.
own_names <- function(m, p) {
  own <- colnames(m) %||% rownames(m)
  if (length(own) == p && !anyNA(own) && all(nzchar(own)) && !anyDuplicated(own)) own
}

# Returns names that a graph accepts: "|" (as in "A1BG|1", symbol and number of a gene) separates the ends of an edge
# there.
names_for_graph <- function(own) if (any(grepl("|", own, fixed = TRUE))) make.unique(chartr("|", "_", own)) else own

# Returns the same for the names in data that serve as labels, with a warning if a name changes.
told_names <- function(own) {
  names <- names_for_graph(own)
  at <- which(names != own)[1L]
  if (!is.na(at)) {
    warn(
      "names",
      sprintf(
        paste(
          "Column names have \"_\" instead of \"|\" in the result, such as %s for %s: the node names of a graph cannot",
          "contain \"|\"."
        ),
        dQuote(names[at], FALSE),
        dQuote(own[at], FALSE)
      )
    )
  }
  names
}

# Returns the names of the p variables that a sufficient statistic holds, or NULL.
data_names <- function(suffStat, p) {
  if (length(dim(suffStat)) == 2L) {
    return(own_names(suffStat, p))
  }
  if (is.list(suffStat) || is.environment(suffStat)) {
    # Kept data have no C yet; looking at it would compute it.
    for (field in if (is_kept(suffStat)) "data" else c("C", "dm", "data")) {
      own <- own_names(suffStat[[field]], p)
      if (!is.null(own)) {
        return(own)
      }
    }
  }
  NULL
}

is_permuted <- function(own, names) !anyNA(own) && !identical(own, names) && identical(sort(own), sort(names))

hint_permuted <- function(argument) {
  sprintf(
    "these are the names of `%s` in a different order; put both in the same order, or remove the names with unname().",
    argument
  )
}

# Compares the names that an argument carries with the labels. The same names in another order are surely a mistake:
# edges would join the wrong variables. Other names are accepted: variables are then matched by position, as in pcalg,
# with a warning unless the labels are just 1, 2, ...
check_own_names <- function(own, labels, argument) {
  if (is.null(own)) {
    return(invisible())
  }
  own <- names_for_graph(as.character(own))
  at <- which(is.na(own) | own != labels)[1L]
  if (is.na(at)) {
    return(invisible())
  }
  place <- sprintf(
    "%s at position %d, where `%s` has the name %s",
    dQuote(labels[at], FALSE),
    at,
    argument,
    if (is.na(own[at])) "NA" else dQuote(own[at], FALSE)
  )
  if (is_permuted(own, labels)) {
    if (are_numbers(labels)) {
      abort_argument(
        argument,
        own,
        "put its rows and columns in order, or remove the names with unname().",
        has = sprintf(
          "the numbers of the variables as names, but in a different order (%s at position %d)",
          dQuote(own[at], FALSE),
          at
        )
      )
    }
    abort_argument("labels", labels, hint_permuted(argument), has = place)
  }
  if (!are_numbers(labels)) {
    warn("names", sprintf("`labels` has %s: labels are matched to variables by position.", place), argument = argument)
  }
}

# Compares the names of a matrix about pairs with those of the data, or of another such matrix, `by`. With `tell`, other
# names give a warning; it is FALSE if the names have been compared with labels already.
check_against <- function(own, names, argument, by, tell) {
  own <- names_for_graph(own)
  names <- names_for_graph(names)
  if (is.null(own) || is.null(names) || identical(own, names)) {
    return(invisible())
  }
  at <- which(own != names)[1L]
  if (is_permuted(own, names)) {
    abort_argument(
      argument,
      own,
      hint_permuted(by),
      has = sprintf(
        "the name %s at position %d, where `%s` has %s",
        dQuote(own[at], FALSE),
        at,
        by,
        dQuote(names[at], FALSE)
      )
    )
  }
  if (tell) {
    warn(
      "names",
      sprintf(
        "`%s` has the name %s at position %d, where `%s` has %s: variables are matched by position.",
        argument,
        dQuote(own[at], FALSE),
        at,
        by,
        dQuote(names[at], FALSE)
      ),
      argument = argument
    )
  }
}

# Compares the names of a matrix that has a row and a column for each variable with the labels.
check_matrix_names <- function(m, labels, argument) {
  check_sides(m, argument)
  check_own_names(colnames(m) %||% rownames(m), labels, argument)
}

# Stops if rows and columns of a matrix have the same names in different orders.
check_sides <- function(m, argument) {
  rows <- rownames(m)
  columns <- colnames(m)
  if (!is.null(rows) && !is.null(columns) && is_permuted(rows, columns)) {
    abort_argument(
      argument,
      m,
      "use one order for both.",
      has = "the same names in different orders for rows and columns"
    )
  }
}

# Returns the numbers of variables that are given by name or number, at least one. If several variables share a name,
# takes the first. `pcalg`: pcalg's error message.
variables_at <- function(given, labels, argument, pcalg = NULL) {
  hint <- sprintf("use names of variables, or numbers from 1 to %d.", length(labels))
  if (is.factor(given)) {
    given <- as.character(given)
  }
  at <- if (is.character(given)) {
    match(given, labels)
  } else if (is.numeric(given)) {
    match(given, seq_along(labels))
  }
  if (length(at) == 0L) {
    abort_argument(argument, given, hint, pcalg = pcalg)
  }
  if (anyNA(at)) {
    unknown <- unique(given[is.na(at)])
    if (is.character(given)) {
      abort_unknown(argument, given, unknown, labels, hint, pcalg)
    }
    abort_argument(argument, given, hint, has = unknown_variables(unknown), pcalg = pcalg)
  }
  at
}

# Raises the error for names that no variable has. A variable with a similar name replaces the general hint.
abort_unknown <- function(argument, value, unknown, labels, hint, pcalg = NULL) {
  near <- near_name(unknown[1L], labels)
  hint <- if (is.null(near)) hint else sprintf("did you mean %s?", dQuote(near, FALSE))
  abort_argument(argument, value, hint, has = unknown_variables(dQuote(unknown, FALSE)), pcalg = pcalg)
}

unknown_variables <- function(unknown) {
  paste(if (length(unknown) == 1L) "an unknown variable," else "unknown variables,", enumerate(unknown))
}

# Returns the variable whose name is most like this one, or NULL.
near_name <- function(name, labels) {
  labels <- labels[!is.na(labels) & nzchar(labels)]
  if (is.na(name) || !nzchar(name) || are_numbers(labels)) {
    return(NULL)
  }
  found <- closest_name(name, labels)
  is_near <- function() {
    startsWith(tolower(found), tolower(name)) ||
      utils::adist(name, found, ignore.case = TRUE) <= max(1, nchar(name) %/% 3)
  }
  if (!is.null(found) && is_near()) {
    return(found)
  }
  # Transposed letters.
  letters_of <- function(words) {
    vapply(strsplit(tolower(words), ""), function(word) paste(sort(word), collapse = ""), "")
  }
  swapped <- labels[letters_of(labels) == letters_of(name)]
  if (length(swapped)) swapped[1L]
}

# The variables: their names and their number, from `labels` or `p`. Either may be missing, not both.
check_labels <- function(labels, p, has_labels, has_p, tell = FALSE) {
  if (has_p) {
    p <- check_p(p)
  }
  if (!has_labels) {
    if (!has_p) {
      abort_argument("labels", NULL, "give `labels`, the names of the variables, or `p`, their number.",
        is = "missing, and so is `p`", pcalg = "need to specify 'labels' or 'p'"
      )
    }
    return(as.character(seq_len(p)))
  }
  check_names(labels)
  # A class of its own would not pass as node names.
  if (is.object(labels)) labels <- as.vector(unclass(labels))
  if (has_p) {
    if (p != length(labels)) {
      abort_argument("p", p, sprintf("leave `p` out, there are %d labels.", length(labels)),
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
  if (!is_number(p) || p < 2 || p > .Machine$integer.max || p != trunc(p)) {
    abort_argument("p", p, "give the number of variables, one whole number from 2 (p >= 2).")
  }
  as.integer(p)
}

# Names become node names of a graph::graphNEL, which joins the two ends of an edge by "|".
check_names <- function(labels) {
  if (!is.character(labels)) {
    abort_argument("labels", labels, paste(
      "give the names of the variables as a character vector, for instance colnames(x);",
      "or give `p`, their number, in its place."
    ))
  }
  if (length(labels) < 2L) {
    abort_argument("labels", labels, "give the names of at least two variables (p >= 2).")
  }
  if (anyNA(labels)) {
    abort_argument("labels", labels, sprintf("give a name at every place, at place %d too.", which(is.na(labels))[1L]),
      has = sprintf("NA at %d of %d places", sum(is.na(labels)), length(labels))
    )
  }
  repeated <- unique(labels[duplicated(labels)])
  if (length(repeated)) {
    abort_argument("labels", labels, "give each variable a name of its own, for instance by make.unique(labels).",
      has = paste("repeated names,", enumerate(dQuote(repeated, FALSE)))
    )
  }
  odd <- labels[!nzchar(labels) | grepl("|", labels, fixed = TRUE)]
  if (length(odd)) {
    abort_argument("labels", labels, paste(
      "use names that are not empty and have no \"|\" in them,",
      "which the graph package reserves for itself, for instance by chartr(\"|\", \"_\", labels)."
    ), has = paste("names that the graph cannot have,", enumerate(dQuote(odd, FALSE))))
  }
  invisible(labels)
}

# Do the labels only count? They come from `p` then.
are_numbers <- function(labels) identical(labels, as.character(seq_along(labels)))

# The names of rows or columns of a matrix for p variables, where there are such.
own_names <- function(m, p) {
  own <- colnames(m) %||% rownames(m)
  if (length(own) == p && !anyNA(own) && all(nzchar(own)) && !anyDuplicated(own)) own
}

# Names as a graph can have them: "|" (as in "A1BG|1", symbol and number of a gene) joins the ends of an edge there.
names_for_graph <- function(own) if (any(grepl("|", own, fixed = TRUE))) make.unique(chartr("|", "_", own)) else own

# These, of data that bring the labels.
told_names <- function(own) {
  names <- names_for_graph(own)
  at <- which(names != own)[1L]
  if (!is.na(at)) {
    warn("names", sprintf("names of columns have \"_\" for \"|\" in the result, such as %s for %s: \"|\" cannot be in the names of a graph.",
      dQuote(names[at], FALSE), dQuote(own[at], FALSE)
    ))
  }
  names
}

# The names that the data give the p variables.
data_names <- function(suffStat, p) {
  if (length(dim(suffStat)) == 2L) {
    return(own_names(suffStat, p))
  }
  if (is.list(suffStat) || is.environment(suffStat)) {
    # Of data that are kept, C would have to be made.
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

mend_permuted <- function(argument) {
  sprintf("they are the names of `%s` in another order: give both in one order, or remove the names by unname().", argument)
}

# The names that an argument carries beside the labels: the same ones in another order are surely a mistake, and edges would be
# drawn between the wrong variables. Other names are fine: variables then go by position, as in pcalg, with a warning where there
# are labels that do more than count.
check_own_names <- function(own, labels, argument) {
  if (is.null(own)) {
    return(invisible())
  }
  own <- names_for_graph(as.character(own))
  at <- which(is.na(own) | own != labels)[1L]
  if (is.na(at)) {
    return(invisible())
  }
  place <- sprintf("%s at place %d, where the names of `%s` have %s", dQuote(labels[at], FALSE), at, argument,
    if (is.na(own[at])) "NA" else dQuote(own[at], FALSE)
  )
  if (is_permuted(own, labels)) {
    if (are_numbers(labels)) {
      abort_argument(argument, own, "put its rows and columns in order, or remove the names by unname().",
        has = sprintf("the name %s at place %d: the numbers of the variables in another order", dQuote(own[at], FALSE), at)
      )
    }
    abort_argument("labels", labels, mend_permuted(argument), has = place)
  }
  if (!are_numbers(labels)) {
    warn("names", sprintf("`labels` has %s: the labels are taken for the variables by their position.", place),
      argument = argument
    )
  }
}

# The names of a matrix about pairs beside those of the data, or of another such matrix, `by`. tell: are there no labels, with which
# names have been compared already?
check_against <- function(own, names, argument, by, tell) {
  own <- names_for_graph(own)
  names <- names_for_graph(names)
  if (is.null(own) || is.null(names) || identical(own, names)) {
    return(invisible())
  }
  at <- which(own != names)[1L]
  if (is_permuted(own, names)) {
    abort_argument(argument, own, mend_permuted(by),
      has = sprintf("the name %s at place %d, where `%s` has %s", dQuote(own[at], FALSE), at, by, dQuote(names[at], FALSE))
    )
  }
  if (tell) {
    warn("names", sprintf("`%s` has the name %s at place %d, where `%s` has %s: it goes by position.", argument,
      dQuote(own[at], FALSE), at, by, dQuote(names[at], FALSE)), argument = argument)
  }
}

# The same for a matrix with a row and a column a variable.
check_matrix_names <- function(m, labels, argument) {
  check_sides(m, argument)
  check_own_names(colnames(m) %||% rownames(m), labels, argument)
}

# Stops where rows and columns of a matrix have the same names in different orders.
check_sides <- function(m, argument) {
  rows <- rownames(m)
  columns <- colnames(m)
  if (!is.null(rows) && !is.null(columns) && is_permuted(rows, columns)) {
    abort_argument(argument, m, "give rows and columns the same names in the same order.",
      is = "a matrix whose rows and columns have the same names in different orders"
    )
  }
}

# Variables by name or number, at least one, as numbers. The first of several with one name.
variables_at <- function(given, labels, argument) {
  hint <- sprintf("give names of variables, or their numbers from 1 to %d.", length(labels))
  if (is.factor(given)) given <- as.character(given)
  at <- if (is.character(given)) match(given, labels) else if (is.numeric(given)) match(given, seq_along(labels))
  if (length(at) == 0L) abort_argument(argument, given, hint)
  if (anyNA(at)) {
    unknown <- unique(given[is.na(at)])
    abort_argument(argument, given, hint,
      has = sprintf("%s, which no variable %s", enumerate(if (is.character(given)) dQuote(unknown, FALSE) else unknown), if (is.character(given)) "is called" else "has as its number")
    )
  }
  at
}

# The variables: their names and their number, from `labels` or `p`. Either may be missing, not both.
check_labels <- function(labels, p, has_labels, has_p, tell = FALSE) {
  if (has_p) {
    p <- check_p(p)
  }
  if (!has_labels) {
    if (!has_p) {
      abort_argument("labels", NULL, "give `labels`, the names of the variables, or `p`, their number.",
        shown = "missing, and so is `p`", pcalg = "need to specify 'labels' or 'p'"
      )
    }
    return(as.character(seq_len(p)))
  }
  check_names(labels)
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
  if (!is_number(p) || p < 2 || p > .Machine$integer.max) {
    abort_argument("p", p, "give the number of variables, one whole number from 2 (p >= 2).")
  }
  as.integer(p)
}

# Names must do as node names of a graph::graphNEL, which joins the ends of an edge by "|".
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
      shown = sprintf("NA at %d of %d places", sum(is.na(labels)), length(labels))
    )
  }
  repeated <- unique(labels[duplicated(labels)])
  if (length(repeated)) {
    abort_argument("labels", labels, "give each variable a name of its own, for instance by make.unique(labels).",
      shown = paste("not unique, repeated are", enumerate(dQuote(repeated, FALSE)))
    )
  }
  odd <- labels[!nzchar(labels) | grepl("|", labels, fixed = TRUE)]
  if (length(odd)) {
    abort_argument("labels", labels, paste(
      "use names that are not empty and have no \"|\" in them,",
      "which the graph package keeps for itself, for instance by chartr(\"|\", \"_\", labels)."
    ), shown = paste("not fit for a graph at", enumerate(dQuote(odd, FALSE))))
  }
  invisible(labels)
}

# What is written into `...` where it stands for arguments of another function: R matches no names there, so that a slip of the pen would pass unseen.

# Stops for what the function `of` does not take: `takes` are the names that may be in `dots`, a list. `what`: the argument that holds it.
check_dots <- function(dots, takes, of, what = "...") {
  names <- names(dots) %||% rep("", length(dots))
  if (!all(nzchar(names))) {
    abort_argument(what, dots, sprintf("write name = value; ?%s has the names.", of), has = "an argument without a name")
  }
  twice <- names[duplicated(names)]
  if (length(twice)) abort_argument(twice[1L], NULL, "leave it out once.", is = "given twice")
  other <- setdiff(names, takes)
  if (length(other)) refuse_argument(other[1L], dots[[other[1L]]], takes, of)
  invisible(dots)
}

refuse_argument <- function(name, value, takes, of) {
  closest <- closest_name(name, unique(c(setdiff(names(formals(get(of, topenv()))), "..."), takes)))
  abort_argument(name, value, if (!is.null(closest)) {
    sprintf("did you mean `%s`? Names are written in full.", closest)
  } else if (name %in% c(names(formals(pc)), control_arguments())) {
    "leave it out."
  } else {
    sprintf("leave it out; ?%s has the names that there are.", of)
  }, is = sprintf("no argument of %s()", of))
}

# The name that was probably meant: one that begins so, or else differs by few letters; NULL for none.
closest_name <- function(name, names) {
  begins <- names[startsWith(tolower(names), tolower(name))]
  if (length(begins)) {
    return(begins[which.min(nchar(begins))])
  }
  away <- utils::adist(name, names, ignore.case = TRUE)
  if (min(away) <= max(1, nchar(name) %/% 2)) names[which.min(away)]
}

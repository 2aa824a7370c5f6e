# Checks `...` if it stands for arguments of another function, or for those of other methods of a generic function. R
# matches no names there, so a misspelt argument would have no effect and give no error.

# Stops for arguments that the function `of` does not accept, and returns `dots`. dots: a list. takes: the accepted
# names. what: the argument that holds `dots`.
check_dots <- function(dots, takes, of, what = "...") {
  names <- names(dots) %||% rep("", length(dots))
  if (!all(nzchar(names))) {
    abort_argument(
      what,
      dots,
      if (is_method(of)) {
        sprintf("leave it out; %s.", names_taken(takes, of))
      } else {
        sprintf("write name = value; see ?%s for the names.", of)
      },
      has = "an argument without a name"
    )
  }
  twice <- names[duplicated(names)]
  if (length(twice)) {
    abort_argument(twice[1L], NULL, "remove one of the two.", is = "given twice")
  }
  other <- setdiff(names, takes)
  if (length(other)) {
    refuse_argument(other[1L], dots[[other[1L]]], takes, of)
  }
  invisible(dots)
}

refuse_argument <- function(name, value, takes, of) {
  closest <- closest_name(name, unique(c(own_arguments(of), takes)))
  abort_argument(
    name,
    value,
    if (!is.null(closest)) {
      sprintf("did you mean `%s`? Names cannot be abbreviated.", closest)
    } else if (is_method(of)) {
      sprintf("leave it out; %s.", names_taken(takes, of))
    } else if (name %in% c(names(formals(pc)), control_arguments())) {
      "leave it out."
    } else {
      sprintf("leave it out; see ?%s for the arguments.", of)
    },
    is = sprintf("not an argument of %s()", generic_of(of))
  )
}

# Returns the arguments that a function names, without those that a method has only because its generic function has
# them.
own_arguments <- function(of) {
  setdiff(
    names(formals(get(of, topenv()))),
    c("...", if (is_method(of)) c("x", "y", "object", "row.names", "optional"))
  )
}

# Names of methods of our classes, and of functions that act as such.
of_class <- "[.](summary[.])?(pcAlgo|pcCompact|fciAlgo|graphNEL|pcgpu_[a-z_]+)$|_(result|fci|compact)$"
is_method <- function(of) grepl(of_class, of)
generic_of <- function(of) sub(of_class, "", of)

names_taken <- function(takes, of) {
  names <- unique(c(own_arguments(of), takes))
  if (!length(names)) {
    return(sprintf("%s() takes no other argument for this object", generic_of(of)))
  }
  sprintf("for this object, %s() takes %s", generic_of(of), enumerate(paste0("`", names, "`"), most = 12L))
}

# Argument names from other packages, and ours, for suggestions.
# fmt: skip
other_words <- c(
  title = "main", colour = "col", fill = "node_fill", label = "labels", na = "use", x = "suffStat", whitelist = "required",
  blacklist = "forbidden", test = "indepTest", cores = "numCores", ncores = "numCores", r = "replicates", reps = "replicates", cond = "given"
)

# Names that all functions accept in place of those that the help pages teach. American spelling is accepted as well.
synonyms <- c(threads = "numCores", path = "file", data = "suffStat")
# The same, for functions that resample.
resampling_synonyms <- c(resamples = "replicates", fraction = "size", share = "size", replace = "how")

# Converts American to British spelling.
british <- function(words) {
  gsub(
    "iz(e|a|ing)",
    "is\\1",
    gsub("neighbor", "neighbour", gsub("color", "colour", words, fixed = TRUE), fixed = TRUE)
  )
}

# Returns the one of `names` that this name stands for, or NULL.
taught_name <- function(name, names) {
  words <- c(synonyms, if ("replicates" %in% names) resampling_synonyms)
  found <- c(names[british(names) == british(name)], intersect(words[name], names))
  if (length(found)) found[1L]
}

# Returns the call of the calling function with the names that the help pages teach, or NULL if it has no others. The
# function then returns the value of that call, so that results store the taught names. takes: the names that it accepts
# in its `...`. of: its name, if nothing else checks its `...`.
taught_call <- function(takes = character(), of = NULL) {
  if (eval(quote(...length()), parent.frame()) == 0L) {
    return(NULL)
  }
  at <- sys.parent()
  fun <- sys.function(at)
  call <- match.call(fun, sys.call(at), envir = parent.frame(2L))
  names <- c(setdiff(names(formals(fun)), "..."), takes)
  has_changed <- FALSE
  for (other in setdiff(names(call), c("", names))) {
    taught <- taught_name(other, names)
    if (is.null(taught)) {
      next
    }
    if (taught %in% names(call)) {
      abort_argument(
        other,
        NULL,
        "give one of the two.",
        is = sprintf("another name of `%s`, which is also given", taught)
      )
    }
    names(call)[names(call) == other] <- taught
    has_changed <- TRUE
  }
  if (has_changed) {
    # A method may not be visible where its generic function was called.
    head <- call[[1L]]
    if (is.symbol(head) && !exists(as.character(head), parent.frame(2L), mode = "function")) {
      call[[1L]] <- fun
    }
    return(call)
  }
  if (!is.null(of)) {
    check_dots(eval(quote(list(...)), parent.frame()), takes, of)
  }
  NULL
}

# Returns the name that was probably meant, or NULL: the same in American or British spelling, one that begins in the
# same way, a synonym, or one that differs in few letters.
closest_name <- function(name, names) {
  same <- names[british(tolower(names)) == british(tolower(name))]
  begins <- names[startsWith(tolower(names), tolower(name))]
  word <- intersect(other_words[british(tolower(name))], names)
  found <- c(same, begins[order(nchar(begins))], word)
  if (length(found)) {
    return(found[1L])
  }
  if (!length(names)) {
    return(NULL)
  }
  away <- utils::adist(name, names, ignore.case = TRUE)
  if (min(away) <= max(1, nchar(name) %/% 2)) names[which.min(away)]
}

# Arguments of print() for data frames, which our methods pass to it.
frame_takes <- c("digits", "quote", "right", "row.names", "max")

# Arguments of print.table(), which methods that print a matrix of marks pass to it.
marks_takes <- c("digits", "quote", "na.print", "print.gap", "right", "justify", "max", "width")

# Prints a data frame with the arguments `given` of `frame_takes`; the others have our defaults. digits: NULL for
# columns that are text already.
print_frame <- function(frame, given, digits = NULL, row.names = TRUE) {
  digits <- given$digits %||% digits
  if (!is.null(digits)) {
    frame <- format(frame, digits = digits)
  }
  ours <- list(x = frame, right = TRUE, row.names = row.names)
  given$digits <- NULL
  do.call(print, c(ours[!names(ours) %in% names(given)], given), quote = TRUE)
}

# Graphical parameters (see ?par) that plot(), hist() and barplot() accept in addition to their own arguments.
# fmt: skip
graphical_takes <- c(
  "adj", "ann", "asp", "axes", "bg", "bty", "cex", "cex.axis", "cex.lab", "cex.main", "cex.sub", "col", "col.axis",
  "col.lab", "col.main", "col.sub", "crt",
  "err", "family", "fg", "font", "font.axis", "font.lab", "font.main", "font.sub", "frame.plot", "lab", "las", "lend",
  "ljoin", "lmitre", "log", "lty", "lwd",
  "main", "mgp", "mkh", "panel.first", "panel.last", "pch", "srt", "sub", "tck", "tcl", "type", "xaxp", "xaxs", "xaxt",
  "xlab", "xlim", "xpd", "yaxp", "yaxs", "yaxt",
  "ylab", "ylim"
)
# fmt: skip
bar_takes <- c(
  graphical_takes, "width", "space", "names.arg", "legend.text", "beside", "horiz", "density", "angle", "border", "xpd",
  "axisnames", "cex.names", "inside",
  "plot", "axis.lty", "offset", "add", "args.legend"
)
histogram_takes <- c(graphical_takes, "freq", "density", "angle", "border", "labels", "add")

# The error of other packages' functions, and of R's own operations, for a compact result. Without it some functions of
# pcalg would end with an error about something else, or would continue with a wrong graph. So S4 methods for this class
# in the generics of graph and pcalg, and S3 methods of R's operators, give one error. A hint in print() alone would not
# stop a script that passes the object on.

# Returns the number of the outermost frame that runs a function of pcalg, or NULL.
frame_of_pcalg <- function() {
  if (!isNamespaceLoaded("pcalg")) {
    return(NULL)
  }
  theirs <- asNamespace("pcalg")
  for (frame in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(frame)), theirs)) {
      return(frame)
    }
  }
  NULL
}

# Returns whether the caller is a function of pcalg, directly or through functions of R. Debuggers and similar tools,
# which inspect the call stack, get an answer.
is_asked_by_pcalg <- function() {
  if (!isNamespaceLoaded("pcalg")) {
    return(FALSE)
  }
  for (frame in rev(seq_len(sys.nframe()))) {
    home <- environmentName(topenv(environment(sys.function(frame))))
    if (!home %in% c("pcgpu", "base", "methods")) {
      return(home == "pcalg")
    }
  }
  FALSE
}

# Raises the error. Its call is that of pcalg's function if there is one.
refuse_compact <- function() {
  hint <- "pass as_pcalg(x), as(x, \"graphNEL\") or as(x, \"amat\"). A table in ?pcCompact says which."
  frame <- frame_of_pcalg()
  abort(
    "argument",
    paste("`x` is an object of class pcCompact, which this function does not accept:", hint),
    argument = "x",
    value = "pcCompact",
    hint = hint,
    call = if (!is.null(frame)) sys.call(frame) else user_call()
  )
}

# Covers generic functions of the package graph, which functions of pcalg also call first.
refuse_as_graph <- function() {
  for (name in c("ugraph", "nodes", "numNodes", "numEdges", "isDirected")) {
    refuse_in(name, "graph", "pcCompact")
  }
  refuse_in("subGraph", "graph", c("ANY", "pcCompact"))
}

# Covers pcalg's generic function for results.
refuse_after_pcalg <- function() refuse_in("getGraph", "pcalg", "pcCompact")

refuse_in <- function(name, package, signature) {
  home <- asNamespace(package)
  refuse <- methods::getGeneric(name, where = home)@.Data
  body(refuse) <- quote(refuse_compact())
  environment(refuse) <- topenv()
  # While this package loads, the class cannot be found by its name, and setMethod() would report that.
  suppressMessages(methods::setMethod(name, signature, refuse, where = new.env(parent = home)))
}

# R's operations on matrices, with which other functions of pcalg begin. These have no answer for a compact result:

#' @exportS3Method "[" pcCompact
`[.pcCompact` <- function(x, ...) refuse_compact()

#' @exportS3Method "[[" pcCompact
`[[.pcCompact` <- function(x, ...) refuse_compact()

#' @exportS3Method "$" pcCompact
`$.pcCompact` <- function(x, name) refuse_compact()

#' @exportS3Method Ops pcCompact
Ops.pcCompact <- function(e1, e2) refuse_compact()

#' @exportS3Method Summary pcCompact
Summary.pcCompact <- function(..., na.rm) refuse_compact()

#' @exportS3Method t pcCompact
t.pcCompact <- function(x) refuse_compact()

#' @exportS3Method as.vector pcCompact
as.vector.pcCompact <- function(x, mode) refuse_compact()

# These have an answer, and pcalg would continue with it.

#' @exportS3Method is.matrix pcCompact
is.matrix.pcCompact <- function(x) {
  if (is_asked_by_pcalg()) {
    refuse_compact()
  }
  FALSE
}

#' @exportS3Method is.numeric pcCompact
is.numeric.pcCompact <- is.matrix.pcCompact

#' @exportS3Method dim pcCompact
dim.pcCompact <- function(x) {
  if (is_asked_by_pcalg()) {
    refuse_compact()
  }
  NULL
}

#' @exportS3Method as.matrix pcCompact
as.matrix.pcCompact <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcCompact")
  methods::as(x, "matrix")
}

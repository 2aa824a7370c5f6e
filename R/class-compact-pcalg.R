# Errors of other packages' functions, and of R's own operations, for a compact result. They name the conversion that the function needs.

# For each of pcalg's functions: what it needs, and what to pass to it in place of a compact result.
wanted_by_pcalg <- list(
  list(
    wants = "a result of class pcAlgo", give = "as_pcalg(x)",
    functions = c("udag2pdag", "udag2pdagRelaxed", "udag2pdagSpecial", "pc.cons.intern", "showEdgeList", "beta.special", "beta.special.pcObj")
  ),
  list(
    wants = "a graph", give = "as(x, \"graphNEL\")",
    functions = c(
      "getGraph", "iplotPC", "showAmat", "ida", "idaFast", "jointIda", "optAdjSet", "causalEffect", "dsep", "dsepTest", "shd", "compareGraphs",
      "dag2cpdag", "dag2essgraph", "pdag2dag", "addBgKnowledge", "plotSG", "wgtMatrix", "trueCov", "rmvDAG", "opt.target", "dag2pag",
      "pdsep"
    )
  ),
  list(
    wants = "an adjacency matrix", give = "as(x, \"amat\")",
    functions = c(
      "gac", "adjustment", "possDe", "possAn", "isValidGraph", "pdag2allDags", "allDags", "amat2dag", "pcalg2dagitty", "find.unsh.triple"
    )
  ),
  # backdoor() calls as(amat, "graphNEL"), which does not exist for the class "amat".
  list(wants = "an adjacency matrix", give = "as(x, \"matrix\")", functions = "backdoor"),
  list(
    wants = "an adjacency matrix with the marks of a PAG", give = "as(x, \"matrix\")",
    functions = c(
      "searchAM", "possibleDe", "visibleEdge", "legal.path", "dreach", "qreach", "dsepAM", "dsepAMTest", "pag2anc", "pag2conf", "pag2edge",
      "pag2magAM", "plotAG", "udag2pag", "udag2apag", "rfci.vStruc"
    )
  )
)

# Functions of pcalg that read the class or the slots of a result directly, which no method can intercept, and their arguments that may be a result.
# use_in_pcalg() adds a check to them.
guarded_in_pcalg <- list(
  udag2pdag = "gInput", udag2pdagRelaxed = "gInput", udag2pdagSpecial = "gInput", pc.cons.intern = "sk", beta.special = c("myDAG", "pcObj"),
  beta.special.pcObj = "pcObj", shd = c("g1", "g2"), rmvDAG = "dag", opt.target = "essgraph", dsepTest = "suffStat$g",
  dsepAMTest = "suffStat$g"
)

# Returns pcalg's function of this name, with the check.
guarded <- function(name) {
  fun <- get(name, envir = asNamespace("pcalg"))
  checks <- lapply(guarded_in_pcalg[[name]], function(given) {
    given <- str2lang(given)
    bquote(if (!missing(.(as.name(all.vars(given))))) .(refuse_if_compact)(.(given)))
  })
  body(fun) <- as.call(c(as.name("{"), checks, body(fun)))
  fun
}

refuse_if_compact <- function(x) if (is_compact(x)) refuse_compact()

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

# Returns whether the caller is a function of pcalg, directly or through functions of R. Debuggers and similar tools, which inspect the call stack, get an
# answer.
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

# Returns the name of one of pcalg's functions, or NULL.
name_in_pcalg <- function(fun) {
  listed <- unlist(lapply(wanted_by_pcalg, `[[`, "functions"))
  Find(function(name) identical(fun, get0(name, envir = asNamespace("pcalg"))), listed)
}

# Raises the error. `by`: the calling function, if it is not one of pcalg's.
refuse_compact <- function(by = "this") {
  frame <- frame_of_pcalg()
  name <- if (!is.null(frame)) name_in_pcalg(sys.function(frame))
  if (!is.null(name)) {
    wanted <- Find(function(wanted) name %in% wanted$functions, wanted_by_pcalg)
    hint <- paste("give", wanted$give)
    said <- sprintf("%s() of pcalg needs %s: %s.", name, wanted$wants, hint)
  } else if (by == "this") {
    hint <- "give as_pcalg(x), as(x, \"graphNEL\") or as(x, \"amat\")"
    said <- sprintf("this operation needs a result of class pcAlgo, a graph or an adjacency matrix: %s.", hint)
  } else {
    hint <- "give as(x, \"graphNEL\")"
    said <- sprintf("%s needs a graph: %s.", by, hint)
  }
  abort("argument", paste("`x` is an object of class pcCompact, but", said),
    argument = "x", value = "pcCompact", hint = hint, call = if (!is.null(frame)) sys.call(frame) else user_call()
  )
}

# Covers generic functions of the package graph, which functions of pcalg also call first.
refuse_as_graph <- function() {
  for (name in c("ugraph", "nodes", "numNodes", "numEdges", "isDirected")) refuse_in(name, "graph", "pcCompact")
  refuse_in("subGraph", "graph", c("ANY", "pcCompact"))
}

# Covers pcalg's generic function for results.
refuse_after_pcalg <- function() refuse_in("getGraph", "pcalg", "pcCompact")

refuse_in <- function(name, package, signature) {
  home <- asNamespace(package)
  refuse <- methods::getGeneric(name, where = home)@.Data
  body(refuse) <- bquote(refuse_compact(.(sprintf("%s() of %s", name, package))))
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
  if (is_asked_by_pcalg()) refuse_compact()
  FALSE
}

#' @exportS3Method is.numeric pcCompact
is.numeric.pcCompact <- is.matrix.pcCompact

#' @exportS3Method dim pcCompact
dim.pcCompact <- function(x) {
  if (is_asked_by_pcalg()) refuse_compact()
  NULL
}

#' @exportS3Method as.matrix pcCompact
as.matrix.pcCompact <- function(x, ...) {
  check_dots(list(...), character(), "as.matrix.pcCompact")
  methods::as(x, "matrix")
}

# Methods of the classes. Those of "pcAlgo" print in the format that pcgpu's tests expect of both packages.

say_head <- function(x) {
  cat("Object of class '", class(x), "', from Call:\n", paste(deparse(x@call), collapse = "\n"), "\n", sep = "")
}

say_matrix <- function(amat, zero.print) {
  cat("\nAdjacency Matrix G:\n")
  print.table(amat, zero.print = zero.print)
}

print.pcAlgo <- function(x, amat = FALSE, zero.print = ".", ...) {
  say_head(x)
  there <- as(x@graph, "matrix") != 0
  if (amat) {
    say_matrix(as(x@graph, "matrix"), zero.print)
  }
  both <- sum(there & t(there)) / 2
  one <- sum(there & !t(there))
  cat(
    "Number of undirected edges: ",
    both,
    "\nNumber of directed edges:   ",
    one,
    "\nTotal number of edges:      ",
    both + one,
    "\n"
  )
  invisible(x)
}

print.fciAlgo <- function(x, amat = FALSE, zero.print = ".", ...) {
  say_head(x)
  if (amat) {
    say_matrix(x@amat, zero.print)
  }
  invisible(x)
}

print.amat <- function(x, zero.print = ".", ...) {
  cat("Adjacency Matrix 'amat' (", nrow(x), " x ", ncol(x), ") of type ", sQuote(attr(x, "type")), ":\n", sep = "")
  print.table(x, zero.print = zero.print)
  invisible(x)
}

setMethod("show", "pcAlgo", function(object) print.pcAlgo(object))
setMethod("show", "fciAlgo", function(object) print.fciAlgo(object))

say_tests <- function(object) {
  say_head(object)
  cat("\nNmb. edgetests during skeleton estimation:", strrep("=", 43), sep = "\n")
  cat(
    "Max. order of algorithm: ",
    object@max.ord,
    "\nNumber of edgetests from m = 0 up to m =",
    object@max.ord,
    ": ",
    object@n.edgetests
  )
}

setGeneric("summary")

setMethod("summary", "pcAlgo", function(object, amat = TRUE, zero.print = ".", ...) {
  say_tests(object)
  away <- rowSums(as(object@graph, "matrix") != 0)
  cat("\n\nGraphical properties of skeleton:", strrep("=", 33), sep = "\n")
  cat(
    "Max. number of neighbours: ",
    max(away),
    "at node(s)",
    which(away == max(away)),
    "\nAvg. number of neighbours: ",
    mean(away),
    "\n"
  )
  if (amat) {
    say_matrix(as(object@graph, "matrix"), zero.print)
  }
  invisible(object)
})

setMethod("summary", "fciAlgo", function(object, amat = TRUE, zero.print = ".", ...) {
  say_tests(object)
  cat("\n")
  if (amat) {
    say_matrix(object@amat, zero.print)
  }
  invisible(object)
})

no_picture <- function(x, y, ...) stop("the stand-in for pcalg draws nothing: Rgraphviz would have to be installed")
setMethod("plot", "pcAlgo", no_picture)
setMethod("plot", "fciAlgo", no_picture)

setAs("pcAlgo", "matrix", function(from) structure(wgtMatrix(from@graph), type = "amat.cpdag"))
setAs("pcAlgo", "amat", function(from) structure(wgtMatrix(from@graph), class = "amat", type = "cpdag"))
setAs("fciAlgo", "matrix", function(from) structure(from@amat, type = "amat.pag"))
setAs("fciAlgo", "amat", function(from) structure(from@amat, class = "amat", type = "pag"))

setGeneric("getGraph", function(x) standardGeneric("getGraph"))
setMethod("getGraph", "graph", function(x) x)
setMethod("getGraph", "pcAlgo", function(x) x@graph)
setMethod("getGraph", "fciAlgo", function(x) as(+(x@amat != 0), "graphNEL"))
setMethod("getGraph", "matrix", function(x) as(x, "graphNEL"))

# The class of fci()'s results: pcalg's "fciAlgo", or, without pcalg, one of the same name and slots that define_class() makes.

# Is x an fciAlgo, of whichever package? Reads no slot, see is_result().
is_fci <- function(x) isS4(x) && "fciAlgo" %in% class(x) && all(c(names(algo_slots), names(fci_slots)) %in% names(attributes(x)))

# In the namespace `ns`, which must not be sealed yet.
define_fci_methods <- function(ns) {
  methods::setMethod("show", "fciAlgo", function(object) print_fci(object), where = ns)
  methods::setAs("fciAlgo", "matrix", function(from) structure(from@amat, type = "amat.pag"), where = ns)
  methods::setAs("fciAlgo", "amat", function(from) structure(from@amat, class = "amat", type = "pag"), where = ns)
  registerS3method("print", "fciAlgo", print_fci, envir = ns)
}

# In pcalg's format.
print_fci <- function(x, amat = FALSE, zero.print = ".", ...) {
  print_head(x)
  cat("\n")
  if (amat) print_marks(attr(x, "amat"), zero.print, ...)
  print_kinds(x)
  print_note(x)
  invisible(x)
}

print_marks <- function(amat, zero.print = ".", ...) {
  cat("\nAdjacency Matrix G:", "G[i,j] = 1/2/3 if edge mark of edge i-j at j is circle/head/tail.", "", sep = "\n")
  print.table(amat, zero.print = zero.print, ...)
}

# How many edges of each kind.
print_kinds <- function(x) {
  kinds <- table(factor(pag_table(attr(x, "amat"))$kind, kinds_of_pag))
  kinds <- kinds[kinds > 0]
  said <- if (length(kinds)) paste(names(kinds), kinds, collapse = ", ") else "none"
  cat("Edges: ", said, "\n", sep = "")
}

# How kinds of edges are written: the mark at the first vertex, a dash, the mark at the second.
kinds_of_pag <- c("-->", "o->", "<->", "o-o", "o--", "---")

# A row an edge, of a matrix of marks: numbers of variables `from` and `to`, and `kind`. An arrow goes from `from` to `to`; where marks are alike, `from` is the smaller.
pag_table <- function(amat) {
  at <- which(amat != 0 & upper.tri(amat), arr.ind = TRUE)
  at <- at[order(at[, 1L], at[, 2L]), , drop = FALSE]
  from <- unname(at[, 1L])
  to <- unname(at[, 2L])
  # By mark: circle, arrowhead, tail.
  there <- amat[cbind(from, to)]
  here <- amat[cbind(to, from)]
  # "<-o", "<--" and "--o" are read from the other end.
  turned <- here == 2 & there != 2 | here == 3 & there == 1
  kind <- paste0(c("o", "<", "-")[ifelse(turned, there, here)], "-", c("o", ">", "-")[ifelse(turned, here, there)])
  list(from = ifelse(turned, to, from), to = ifelse(turned, from, to), kind = kind)
}

#' Results of FCI
#'
#' Methods for the results of [fci()], [rfci()] and [fciPlus()]. Where pcalg is attached, its own methods print them.
#'
#' @param object,x An object of class `fciAlgo`, of this package or of pcalg.
#' @param amat Print the matrix of marks, too? Left out: up to 50 variables.
#' @param zero.print How a zero is printed.
#' @param ... For `plot()`: passed on to [plot_cpdag()]. For `summary()`: not used.
#' @return `object` or `x`, invisibly.
#' @seealso [fci()]; [edges()][edges,pcCompact-method] for a table.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' fit <- fci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' summary(fit)
#' @name fciAlgo-methods
#' @exportS3Method summary fciAlgo
summary.fciAlgo <- function(object, amat = TRUE, zero.print = ".", ...) {
  print_head(object)
  of <- attributes(object)
  if (length(of$max.ord)) {
    cat("\n\nNmb. edgetests during skeleton estimation:\n===========================================\n")
    cat("Max. order of algorithm: ", of$max.ord, "\nNumber of edgetests from m = 0 up to m =", of$max.ord, ": ", of$n.edgetests)
  }
  if (length(of$max.ordPDSEP)) {
    cat("\n\nAdd. nmb. edgetests when using PDSEP:\n=====================================")
    cat("\nMax. order of algorithm: ", of$max.ordPDSEP, "\nNumber of edgetests from m = 0 up to m =", of$max.ordPDSEP, ": ", of$n.edgetestsPDSEP)
  }
  cat("\n\n")
  print_kinds(object)
  print_note(object)
  if (amat && (!missing(amat) || !is_large(rownames(of$amat)))) print_marks(of$amat, zero.print)
  invisible(object)
}

# The class of fci()'s results: pcalg's "fciAlgo" or, without pcalg, one with the same name and slots that
# define_class() makes.

# Returns whether x is an fciAlgo of either package. Reads no slot, see is_result().
is_fci <- function(x) {
  isS4(x) && "fciAlgo" %in% class(x) && all(c(names(algo_slots), names(fci_slots)) %in% names(attributes(x)))
}

# Defines methods in the namespace `ns`, which must not be sealed yet.
define_fci_methods <- function(ns) {
  methods::setMethod("show", "fciAlgo", function(object) print_fci(object), where = ns)
  methods::setAs("fciAlgo", "matrix", function(from) structure(from@amat, type = "amat.pag"), where = ns)
  methods::setAs("fciAlgo", "amat", function(from) structure(from@amat, class = "amat", type = "pag"), where = ns)
  registerS3method("print", "fciAlgo", print_fci, envir = ns)
}

# Prints in pcalg's format.
print_fci <- function(x, amat = FALSE, zero.print = ".", ...) {
  check_dots(list(...), marks_takes, "print_fci")
  check_object(x)
  print_head(x)
  cat("\n")
  if (amat) {
    print_marks(attr(x, "amat"), zero.print, ...)
  }
  print_kinds(x)
  print_note(x)
  invisible(x)
}

print_marks <- function(amat, zero.print = ".", ...) {
  cat("\nAdjacency Matrix G:", "G[i,j] = 1/2/3 if edge mark of edge i-j at j is circle/head/tail.", "", sep = "\n")
  print.table(amat, zero.print = zero.print, ...)
}

# Prints the number of edges of each kind.
print_kinds <- function(x) {
  kinds <- table(factor(pag_table(attr(x, "amat"))$kind, kinds_of_pag))
  kinds <- kinds[kinds > 0]
  said <- if (length(kinds)) paste(names(kinds), kinds, collapse = ", ") else "none"
  say_lines(paste0("Edges: ", said))
}

# The notation for kinds of edges: the mark at the first vertex, a dash, the mark at the second.
kinds_of_pag <- c("-->", "o->", "<->", "o-o", "o--", "---")

# Returns a table of the edges in a matrix of marks: numbers of variables `from` and `to`, and `kind`. An arrow points
# from `from` to `to`. If both marks are the same, `from` is the smaller number.
pag_table <- function(amat) {
  at <- which(amat != 0 & upper.tri(amat), arr.ind = TRUE)
  at <- at[order(at[, 1L], at[, 2L]), , drop = FALSE]
  from <- unname(at[, 1L])
  to <- unname(at[, 2L])
  table_by_marks(from, to, amat[cbind(to, from)], amat[cbind(from, to)])
}

# Returns the table of edges with these marks at their ends: 1 circle, 2 arrowhead, 3 tail.
table_by_marks <- function(from, to, at_from, at_to) {
  # "<-o", "<--" and "--o" are read from the other end.
  turned <- at_from == 2 & at_to != 2 | at_from == 3 & at_to == 1
  kind <- paste0(
    c("o", "<", "-")[ifelse(turned, at_to, at_from)],
    "-",
    c("o", ">", "-")[ifelse(turned, at_from, at_to)],
    recycle0 = TRUE
  )
  list(from = as.integer(ifelse(turned, to, from)), to = as.integer(ifelse(turned, from, to)), kind = kind)
}

# Returns a PAG in the form of edges_of(), with `pag`: each edge is listed at both ends, and its weight is the mark at
# the other end.
lists_of_pag <- function(amat) {
  at <- which(amat != 0, arr.ind = TRUE)
  at <- at[order(at[, 1L], at[, 2L]), , drop = FALSE]
  rows <- factor(at[, 1L], seq_len(nrow(amat)))
  list(
    labels = labels_of_pag(amat),
    edges = unname(split(unname(at[, 2L]), rows)),
    weights = unname(split(as.double(amat[at]), rows)),
    pag = TRUE
  )
}

labels_of_pag <- function(amat) rownames(amat) %||% colnames(amat) %||% as.character(seq_len(nrow(amat)))

# Returns whether x is a matrix whose type says that it has the marks of a PAG.
is_pag_matrix <- function(x) is.matrix(x) && (attr(x, "type") %||% "") %in% c("pag", "amat.pag")

check_pag_matrix <- function(amat, argument = "x") {
  hint <- "give a square matrix of marks at both ends of each edge: 0 no edge, 1 circle, 2 arrowhead, 3 tail."
  if (nrow(amat) != ncol(amat) || !is.numeric(amat) || anyNA(amat) || !all(amat %in% 0:3)) {
    abort_argument(argument, amat, hint)
  }
  check_sides(amat, argument)
  if (any((amat != 0) != (t(amat) != 0))) {
    abort_argument(argument, amat, hint, has = "an edge with a mark at one end only")
  }
  amat
}

#' Results of FCI
#'
#' Methods for the results of [fci()], [rfci()] and [fciPlus()]. If pcalg is installed, it is loaded as soon as there is
#' a result, and its own methods take precedence. Its `show()`, which also prints a result at the prompt, prints the
#' call. We add the number of edges of each kind, and a line if the time limit stopped the search. Its `plot()` needs
#' Rgraphviz; if that is not installed, [plot_cpdag()] is used instead, as without pcalg.
#'
#' @param object,x An object of class `fciAlgo`, of this package or of pcalg.
#' @param amat Also print the matrix of marks? By default, it is printed for up to 50 variables.
#' @param zero.print How a zero is printed.
#' @param y Not used.
#' @param ... For `plot()`: passed on to [plot_cpdag()]. For `summary()`: not used.
#' @return `object` or `x`, invisibly.
#' @details For up to 50 variables, `summary()` prints the same as pcalg's method:
#'   - the tests of the skeleton and of the possible-d-sep phase by size of their sets;
#'   - the number of separating and possible-d-sep sets of each size;
#'   - the matrix of marks.
#'
#'   For more variables it prints what fits on a screen; `summary(fit, amat = TRUE)` still prints pcalg's format.
#' @seealso [fci()], which explains the kinds of edges; [edge_table()] for a table; [run_details()].
#' @examples
#' set.seed(1)
#' h <- rnorm(1000)
#' x <- data.frame(u = rnorm(1000), v = rnorm(1000))
#' x$a <- x$u + h + rnorm(1000)
#' x$b <- x$v + h + rnorm(1000)
#' fit <- fci(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x), numCores = 2)
#' summary(fit)
#' plot(fit)
#' @name fciAlgo-methods
#' @exportS3Method summary fciAlgo
summary.fciAlgo <- function(object, amat = TRUE, zero.print = ".", ...) {
  check_dots(list(...), character(), "summary.fciAlgo")
  check_object(object)
  of <- attributes(object)
  if (is_large(labels_of_pag(of$amat)) && (missing(amat) || !amat)) {
    print_overview(object)
    return(invisible(object))
  }
  print_head(object)
  # fciPlus() has no counts.
  if (length(of$max.ord)) {
    cat("\n\nNmb. edgetests during skeleton estimation:\n===========================================\n")
    cat(
      "Max. order of algorithm: ",
      of$max.ord,
      "\nNumber of edgetests from m = 0 up to m =",
      of$max.ord,
      ": ",
      of$n.edgetests
    )
  }
  if (length(of$max.ordPDSEP)) {
    cat("\n\nAdd. nmb. edgetests when using PDSEP:\n=====================================")
    cat(
      "\nMax. order of algorithm: ",
      of$max.ordPDSEP,
      "\nNumber of edgetests from m = 0 up to m =",
      of$max.ordPDSEP,
      ": ",
      of$n.edgetestsPDSEP
    )
  }
  if (length(of$sepset)) {
    cat("\n\nSize distribution of SEPSET:")
    sets <- unlist(of$sepset, recursive = FALSE)
    sizes <- lengths(sets)
    sizes[vapply(sets, is.null, NA)] <- NA
    print(table(sizes, dnn = "", useNA = "always"))
  }
  if (length(of$allPdsep)) {
    cat("\nSize distribution of PDSEP:")
    print(table(lengths(of$allPdsep), dnn = ""))
  }
  cat("\n")
  print_kinds(object)
  print_note(object)
  if (amat) {
    print_marks(of$amat, zero.print)
  }
  invisible(object)
}

#' @rdname fciAlgo-methods
#' @exportS3Method plot fciAlgo
plot.fciAlgo <- function(x, y, ...) plot.pcAlgo(x, y, ...)

# Defines the class of results: pcalg's S4 class "pcAlgo".
#
# If pcalg is installed, results have pcalg's own class, so all pcalg functions for results accept ours. If it is not,
# zzz.R defines a class with the same name and slots when this package loads. It does so only then, because R cannot
# choose between two classes of one name in a session. A result made without pcalg names no package for its class, so R
# finds the class by name: ours here, pcalg's in a session with pcalg. A result made with pcalg names pcalg, and R then
# looks for that package. as_pcalg() removes the package name if pcalg is not installed.

# Slots of the virtual parent class and of the class itself, in pcalg's order.
algo_slots <- c(
  call = "call",
  n = "integer",
  max.ord = "integer",
  n.edgetests = "numeric",
  sepset = "list",
  pMax = "matrix"
)
own_slots <- c(graph = "graph", zMin = "matrix")
# Slots of "fciAlgo", see class-fcialgo.R.
fci_slots <- c(amat = "matrix", allPdsep = "list", n.edgetestsPDSEP = "numeric", max.ordPDSEP = "integer")

has_pcalg <- function() {
  isNamespaceLoaded("pcalg") || nzchar(system.file(package = "pcalg"))
}

# Returns the definition of "pcAlgo" or "fciAlgo", from which objects are created.
result_class <- function(class = "pcAlgo") {
  if (!has_pcalg()) {
    return(methods::getClass(class, where = asNamespace("pcgpu")))
  }
  home <- tryCatch(asNamespace("pcalg"), error = function(e) {
    abort(
      "package",
      paste0(
        "pcalg is installed but cannot be loaded (",
        conditionMessage(e),
        "): install the packages that it needs, or remove pcalg; ",
        "pcgpu works without it"
      ),
      package = "pcalg",
      parent = e
    )
  })
  methods::getClass(class, where = home)
}

# Defines the class and its methods in the namespace `ns`, which must not be sealed yet.
define_class <- function(ns) {
  methods::setClass("gAlgo", representation = c(as.list(algo_slots), "VIRTUAL"), where = ns)
  methods::setClass("pcAlgo", representation = as.list(own_slots), contains = "gAlgo", where = ns)
  methods::setClass("fciAlgo", representation = as.list(fci_slots), contains = "gAlgo", where = ns)
  methods::setOldClass("amat", where = ns)
  methods::setMethod("show", "pcAlgo", function(object) print_result(object), where = ns)
  methods::setAs(
    "pcAlgo",
    "matrix",
    function(from) {
      structure(adjacency_matrix(from), type = "amat.cpdag")
    },
    where = ns
  )
  methods::setAs(
    "pcAlgo",
    "amat",
    function(from) {
      structure(adjacency_matrix(from), class = "amat", type = "cpdag")
    },
    where = ns
  )
  define_fci_methods(ns)
  registerS3method("print", "pcAlgo", print_result, envir = ns)
  registerS3method("print", "amat", print_amat, envir = ns)
}

# Registers a method that prints results that were saved without pcalg. Loading pcalg takes a while, so that waits until
# there is a result to make; pcalg's own method replaces this one later. setMethod() would report in a message that the
# class is still undefined.
show_before_pcalg <- function(ns) {
  suppressMessages({
    methods::setMethod("show", "pcAlgo", function(object) print_result(object), where = ns)
    methods::setMethod("show", "fciAlgo", function(object) print_fci(object), where = ns)
  })
}

# Makes the class known by its name: as(), validObject() and `@<-` look it up so, because a result that was saved
# without pcalg names no package. R then searches the search path and finds a promise of the definition, which loads
# pcalg when it is forced. Afterwards R knows the class. `attached`: this package's environment on the search path, not
# locked yet.
class_on_demand <- function(attached) {
  for (class in c("pcAlgo", "fciAlgo")) {
    local({
      class <- class
      delayedAssign(
        methods::classMetaName(class),
        methods::getClass(class, where = asNamespace("pcalg")),
        assign.env = attached
      )
    })
  }
}

# Replaces pcalg's plot() by plot_cpdag() for this session if Rgraphviz is not installed, because pcalg's fails then.
# The method lives in an environment of its own, so no namespace is modified.
plot_after_pcalg <- function() {
  if (requireNamespace("Rgraphviz", quietly = TRUE)) {
    return(invisible())
  }
  hidden <- new.env(parent = asNamespace("pcalg"))
  for (class in c("pcAlgo", "fciAlgo")) {
    methods::setMethod("plot", class, plot.pcAlgo, where = hidden)
  }
}

# Adds notes to pcalg's own print() and summary() if a result of ours is a PAG, is not a valid CPDAG, or was ended by a
# time limit. A summary that would fill many screens is ours. Results made by pcalg print as before.
note_after_pcalg <- function() {
  theirs <- asNamespace("pcalg")
  hidden <- new.env(parent = theirs)
  for (class in c("pcAlgo", "fciAlgo")) {
    note_after(class, theirs, hidden)
  }
}

note_after <- function(class, theirs, hidden) {
  print_theirs <- get(paste0("print.", class), theirs)
  print_and_note <- function(x, ...) {
    check_dots(list(...), c("amat", "zero.print", marks_takes), "print_result")
    print_theirs(x, ...)
    print_kinds_of_ours(x)
    print_note(x)
    invisible(x)
  }
  registerS3method("print", class, print_and_note, envir = baseenv())
  methods::setMethod("show", class, function(object) print_and_note(object), where = hidden)
  summary_theirs <- methods::selectMethod("summary", class, fdef = methods::getGeneric("summary", where = theirs))
  methods::setMethod(
    "summary",
    class,
    function(object, ...) {
      check_dots(list(...), c("amat", "zero.print"), "summary.pcAlgo")
      if (is_large(labels_of_result(object)) && !is.null(run_details(object)) && !...length()) {
        print_overview(object)
        return(invisible(object))
      }
      summary_theirs(object, ...)
      print_kinds_of_ours(object)
      print_note(object)
      invisible(object)
    },
    where = hidden
  )
}

# Prints the number of edges of each kind of a PAG, which pcalg's methods do not count.
print_kinds_of_ours <- function(x) if (is_fci(x) && !is.null(run_details(x))) print_kinds(x)

labels_of_result <- function(x) if (is_fci(x)) labels_of_pag(attr(x, "amat")) else x@graph@nodes

after_pcalg <- function(...) {
  plot_after_pcalg()
  note_after_pcalg()
  refuse_after_pcalg()
}

# Replaces a method for graphs of class graphNEL by plot_cpdag() for the session if Rgraphviz is not installed. The
# package graph, which pcalg loads, has an S4 method of plot() for graphs that requires Rgraphviz. Any other method for
# graphs still comes first: the user's, or that of an Rgraphviz that is installed and loaded later.
plot_without_rgraphviz <- function() {
  if (nzchar(system.file(package = "Rgraphviz"))) {
    return(invisible())
  }
  home <- asNamespace("graph")
  methods::setMethod(
    "plot",
    "graphNEL",
    function(x, y, ...) {
      theirs <- methods::selectMethod("plot", "graph", fdef = methods::getGeneric("plot", where = home))
      if (isNamespaceLoaded("Rgraphviz") || !identical(topenv(environment(theirs)), home)) {
        return(theirs(x, y, ...))
      }
      plot_cpdag(x, ...)
    },
    where = new.env(parent = home)
  )
}

# Returns a result with empty slots.
empty_result <- function(class = "pcAlgo") {
  result <- methods::new(result_class(class))
  if (has_pcalg()) result else without_package(result, class)
}

# Reduces the class attribute to the name of the class, without its package.
without_package <- function(x, class = "pcAlgo") {
  attr(x, "class") <- class
  x
}

# Fills the slots of empty_result() in place, except `sepset`, which Rust has filled. Assignment in R would copy the
# object, or walk its p x p list. Nothing else may refer to the object yet.
fill_result <- function(result, graph, call, max_ord, n_edgetests, pMax) {
  check_rust(rust_fill_slots(
    result,
    list(
      graph = graph,
      call = call,
      n = integer(0),
      max.ord = as.integer(max_ord),
      n.edgetests = n_edgetests,
      pMax = pMax,
      zMin = matrix(NA, 1L, 1L)
    )
  ))
}

# Returns pcalg's adjacency matrix: m[i, j] is the mark at i of the edge from j to i, the transpose of as(graph,
# "matrix").
adjacency_matrix <- function(x) t(methods::as(x@graph, "matrix"))

# Returns whether x is a pcAlgo, from either package. It reads no slot, so objects whose class is not defined here pass
# too.
is_result <- function(x) {
  isS4(x) && "pcAlgo" %in% class(x) && all(c(names(algo_slots), names(own_slots)) %in% names(attributes(x)))
}

check_result <- function(x, argument = "x", instead = NULL, only = NULL) {
  if (!is_result(x)) {
    if (is_fci(x)) {
      refuse_pag(x, argument, instead)
    }
    abort_argument(argument, x, "give a result of pc() or skeleton(), an object of class \"pcAlgo\".")
  }
  check_object(x, argument, only)
}

#' Convert a saved or compact result to pcalg's class
#'
#' If pcalg is installed, results have pcalg's class `pcAlgo` (`fciAlgo` for [fci()] and its relatives). Otherwise they
#' have a class of this package with the same name and slots. Saved results move between sessions as follows:
#' - A result made without pcalg becomes pcalg's when it is read in a session with pcalg.
#' - A result made with pcalg makes R look for pcalg. If pcalg is not installed, `as_pcalg()` makes the result printable
#'   again.
#' - If pcalg is installed, `as_pcalg()` converts a result to pcalg's class, as `new()` would. This is needed only if
#'   neither package is attached, because after `library(pcgpu)` or `library(pcalg)` R finds the class.
#'
#' From 500 variables on, the slots `pMax` and `sepset` of a result of `gaussCItest()` compute their cells when they are
#' asked for. Before R 4.3 only `pMax` does so, from 4,000 variables on. Such slots take little memory, and are small in
#' files. An R without pcgpu cannot read them from a file, and an R before 4.3 cannot read the `sepset` that a newer R
#' wrote; `as_pcalg()` makes them ordinary vectors first.
#'
#' A result of class [pcCompact][pcCompact-class] gets its p x p parts, which take 16 bytes for each cell. It does not
#' hold the p-values of pairs that level 0 removed. With `suffStat`, level 0 is repeated to compute them. Without it
#' they are `NA` in `pMax`, with a warning of class `pcgpu_warning_level0`. `as(x, "pcAlgo")` is the same as
#' `as_pcalg(x)`.
#'
#' @param x A result of [pc()], [skeleton()], [orient()], [fci()], [rfci()] or [fciPlus()], of pcalg's class or ours.
#' @param suffStat,indepTest As in [p_value()].
#' @return The result with the slots of `x`, of the class that this session uses: pcalg's if pcalg is installed.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_memory` if the p x p parts do not fit into memory.
#' @seealso [pc()], whose argument `result` selects the class; [pcCompact][pcCompact-class]; [as_igraph()] and [as_bn()]
#'   for other packages.
#' @examples
#' x <- matrix(rnorm(500), 100, 5)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, p = 5, numCores = 2)
#' file <- tempfile(fileext = ".rds")
#' saveRDS(fit, file)
#' as_pcalg(readRDS(file))
#' @export
as_pcalg <- function(x, suffStat = NULL, indepTest = NULL) {
  check_object(x)
  if (is_compact(x)) {
    return(pcalg_of_compact(x, suffStat, indepTest))
  }
  class <- if (is_fci(x)) "fciAlgo" else "pcAlgo"
  if (class == "pcAlgo") {
    check_result(x)
  }
  slots <- c(names(algo_slots), names(if (class == "pcAlgo") own_slots else fci_slots))
  values <- attributes(x)[slots]
  values$pMax <- values$pMax + 0
  values$sepset <- lapply(values$sepset, function(row) if (is.list(row)) row[seq_along(row)] else row)
  # Quoted, or the call in the slot `call` would be run.
  result <- do.call(methods::new, c(list(result_class(class)), values), quote = TRUE)
  if (has_pcalg()) result else without_package(result, class)
}

pcalg_of_compact <- function(x, suffStat, indepTest) {
  p <- length(x@labels)
  held <- length(x@edges$to) + length(x@gaps$to) + count_p(x@sets)
  if (is.null(suffStat)) {
    if (held < p * (p - 1) / 2) {
      warn(
        "level0",
        paste(
          "The p-values of pairs that level 0 removed are not stored, so they are NA in `pMax`:",
          "as_pcalg(x, suffStat = ) computes them."
        )
      )
    }
    return(expanded(x))
  }
  level0 <- skeleton(
    suffStat,
    test_of(x, indepTest),
    alpha = x@alpha,
    labels = x@labels,
    method = x@method,
    m.max = 0,
    progress = FALSE,
    result = "pcAlgo"
  )
  expanded(x, level0@pMax)
}

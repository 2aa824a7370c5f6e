# The class of the results: pcalg's S4 class "pcAlgo".
#
# When pcalg is installed, results are of pcalg's own class, and so all that pcalg does with its results works on ours.
# When it is not, zzz.R defines a class of the same name and slots as this package loads. It does so only then: two
# classes of one name in a session make R guess which is meant. A result made without pcalg names no package for its class, so
# that R finds the class by its name: ours here, pcalg's where it is read with pcalg. A result made with pcalg names pcalg, which R
# then asks for; as_pcalg() takes the name off where there is none.

# Slots of the virtual class above, and of the class itself, in pcalg's order.
algo_slots <- c(
  call = "call", n = "integer", max.ord = "integer", n.edgetests = "numeric", sepset = "list", pMax = "matrix"
)
own_slots <- c(graph = "graph", zMin = "matrix")
# Those of "fciAlgo", see fci-class.R.
fci_slots <- c(amat = "matrix", allPdsep = "list", n.edgetestsPDSEP = "numeric", max.ordPDSEP = "integer")

has_pcalg <- function() {
  isNamespaceLoaded("pcalg") || nzchar(system.file(package = "pcalg"))
}

# The definition of "pcAlgo", or "fciAlgo", to make results of.
result_class <- function(class = "pcAlgo") {
  if (!has_pcalg()) {
    return(methods::getClass(class, where = asNamespace("pcgpu")))
  }
  home <- tryCatch(asNamespace("pcalg"), error = function(e) {
    abort("package", paste0(
      "the package pcalg is installed but cannot be loaded (", conditionMessage(e), "): install what it needs, or remove it; ",
      "without it pcgpu has a class of its own for results"
    ), package = "pcalg", parent = e)
  })
  methods::getClass(class, where = home)
}

# Defines the class and its methods in the namespace `ns`, which must not be sealed yet.
define_class <- function(ns) {
  methods::setClass("gAlgo",
    representation = c(as.list(algo_slots), "VIRTUAL"), where = ns
  )
  methods::setClass("pcAlgo",
    representation = as.list(own_slots), contains = "gAlgo", where = ns
  )
  methods::setClass("fciAlgo",
    representation = as.list(fci_slots), contains = "gAlgo", where = ns
  )
  methods::setOldClass("amat", where = ns)
  methods::setMethod("show", "pcAlgo", function(object) print_result(object), where = ns)
  methods::setAs("pcAlgo", "matrix", function(from) {
    structure(adjacency_matrix(from), type = "amat.cpdag")
  }, where = ns)
  methods::setAs("pcAlgo", "amat", function(from) {
    structure(adjacency_matrix(from), class = "amat", type = "cpdag")
  }, where = ns)
  define_fci_methods(ns)
  registerS3method("print", "pcAlgo", print_result, envir = ns)
  registerS3method("print", "amat", print_amat, envir = ns)
}

# pcalg is installed but takes a while to load, so that waits until there is a result to make. Until then this prints
# results that were saved without pcalg; pcalg's own method takes its place. The class is not known yet, and
# setMethod() would say so in a message.
show_before_pcalg <- function(ns) {
  suppressMessages({
    methods::setMethod("show", "pcAlgo", function(object) print_result(object), where = ns)
    methods::setMethod("show", "fciAlgo", function(object) print_fci(object), where = ns)
  })
}

# as(), validObject() and `@<-` ask for the class by its name, which a result that was saved without pcalg gives without a
# package. R then looks along the search path: there is a promise of the definition, which loads pcalg when it is asked for. From
# then on R knows the class. `attached`: the environment of this package on the search path, not locked yet.
class_on_demand <- function(attached) {
  for (class in c("pcAlgo", "fciAlgo")) local({
    class <- class
    delayedAssign(methods::classMetaName(class), methods::getClass(class, where = asNamespace("pcalg")), assign.env = attached)
  })
}

# pcalg's plot() stops where Rgraphviz is not installed. There, and only there, plot_cpdag() takes its place for this
# session: as a method in an environment of its own, so that nobody's namespace is changed.
plot_after_pcalg <- function() {
  if (requireNamespace("Rgraphviz", quietly = TRUE)) {
    return(invisible())
  }
  hidden <- new.env(parent = asNamespace("pcalg"))
  for (class in c("pcAlgo", "fciAlgo")) methods::setMethod("plot", class, plot.pcAlgo, where = hidden)
}

# pcalg's own print() and summary() do the work. Where a result of ours is a PAG, no valid CPDAG, or was ended by a time limit, they are followed by lines that say
# so; a summary that would fill many screens is ours. Results of pcalg print as ever.
note_after_pcalg <- function() {
  theirs <- asNamespace("pcalg")
  hidden <- new.env(parent = theirs)
  for (class in c("pcAlgo", "fciAlgo")) note_after(class, theirs, hidden)
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
  methods::setMethod("summary", class, function(object, ...) {
    check_dots(list(...), c("amat", "zero.print"), "summary.pcAlgo")
    if (is_large(labels_of_result(object)) && !is.null(run_details(object)) && !...length()) {
      print_overview(object)
      return(invisible(object))
    }
    summary_theirs(object, ...)
    print_kinds_of_ours(object)
    print_note(object)
    invisible(object)
  }, where = hidden)
}

# pcalg's methods do not count the edges of a PAG.
print_kinds_of_ours <- function(x) if (is_fci(x) && !is.null(run_details(x))) print_kinds(x)

labels_of_result <- function(x) if (is_fci(x)) labels_of_pag(attr(x, "amat")) else x@graph@nodes

after_pcalg <- function(...) {
  plot_after_pcalg()
  note_after_pcalg()
  refuse_after_pcalg()
}

# The package graph has an S4 method of plot() for graphs that asks for Rgraphviz, and pcalg brings it along. Where
# Rgraphviz is not installed, plot_cpdag() takes its place for this session, for graphs of the class of our results. Any
# other method for graphs, of a Rgraphviz that is installed and loaded later or of the user's, still comes first.
plot_without_rgraphviz <- function() {
  if (nzchar(system.file(package = "Rgraphviz"))) {
    return(invisible())
  }
  home <- asNamespace("graph")
  methods::setMethod("plot", "graphNEL", function(x, y, ...) {
    theirs <- methods::selectMethod("plot", "graph", fdef = methods::getGeneric("plot", where = home))
    if (isNamespaceLoaded("Rgraphviz") || !identical(topenv(environment(theirs)), home)) {
      return(theirs(x, y, ...))
    }
    plot_cpdag(x, ...)
  }, where = new.env(parent = home))
}

# A result with no slot filled yet.
empty_result <- function(class = "pcAlgo") {
  result <- methods::new(result_class(class))
  if (has_pcalg()) result else without_package(result, class)
}

# The class by its name alone.
without_package <- function(x, class = "pcAlgo") {
  attr(x, "class") <- class
  x
}

# Fills the slots of empty_result() in place but for `sepset`, which Rust has filled: R's own assignment would copy the
# object, or walk all of its p x p list. Nothing else may refer to the object yet.
fill_result <- function(result, graph, call, max_ord, n_edgetests, pMax) {
  check_rust(rust_fill_slots(result, list(
    graph = graph, call = call, n = integer(0), max.ord = as.integer(max_ord), n.edgetests = n_edgetests,
    pMax = pMax, zMin = matrix(NA, 1L, 1L)
  )))
}

# pcalg's adjacency matrix: m[i, j] is the mark at i of the edge from j to i, the transpose of as(graph, "matrix").
adjacency_matrix <- function(x) t(methods::as(x@graph, "matrix"))

# Is x a pcAlgo, of whichever package? Reads no slot, so that objects of a class that is not defined here pass too.
is_result <- function(x) {
  isS4(x) && "pcAlgo" %in% class(x) && all(c(names(algo_slots), names(own_slots)) %in% names(attributes(x)))
}

check_result <- function(x, argument = "x", instead = NULL, only = NULL) {
  if (!is_result(x)) {
    if (is_fci(x)) refuse_pag(x, argument, instead)
    abort_argument(argument, x, "give a result of pc() or skeleton(), an object of class \"pcAlgo\".")
  }
  check_object(x, argument, only)
}

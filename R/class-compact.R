#' Compact results that store only what was found
#'
#' pcalg's class `pcAlgo` has a p x p matrix of p-values and p x p lists of separating sets. At p = 20,000 they take 6.4
#' GB, whatever the search found. `result = "compact"` of [pc()] and [skeleton()] returns an object of class `pcCompact`
#' instead. It stores
#' - the edges with their marks,
#' - the separating sets of the pairs that were removed at level 1 or later,
#' - the p-values of both,
#' - the counts of tests.
#'
#' Level 0 removes nearly all pairs, and these take no memory: the empty set separates them, and their p-value is
#' computed again when it is needed (see [p_value()]).
#'
#' The following functions accept both classes: [edge_table()], [neighbours()], [sepset()], [p_value()], [orient()],
#' `summary()`, `as.data.frame()`, `tidy()` and `glance()` ([tidy.pcCompact()]), `plot()`, [plot_cpdag()],
#' [as_igraph()], [write_network()], [run_details()] and `saveRDS()`. pcalg's own functions need a `pcAlgo`.
#' [as_pcalg()] or `as(x, "pcAlgo")` creates one, if its p x p parts fit into memory.
#'
#' These conversions return only the graph:
#' - `as(x, "graphNEL")`: a graph of the package graph;
#' - `as(x, "matrix")` and `as(x, "amat")`: the p x p adjacency matrix in pcalg's coding (`[i, j]` is the mark at i of
#'   the edge from j to i);
#' - `as(x, "dgCMatrix")`, also `"sparseMatrix"` and `"Matrix"`: the same matrix as a sparse matrix of the package
#'   Matrix, which must be loaded.
#'
#' # What to pass to functions of other packages
#'
#' | function | pass |
#' |:--|:--|
#' | `show()`, `summary()`, `plot()`, `as.matrix()`, `graph::edges()`, `igraph::as.igraph()` | `x` |
#' | pcalg: `ida()`, `idaFast()`, `jointIda()`, `optAdjSet()`, `dsep()`, `dsepTest()`, `shd()`, `compareGraphs()`, `dag2cpdag()`, `dag2essgraph()`, `pdag2dag()`, `addBgKnowledge()`, `plotSG()`, `getGraph()`, `iplotPC()`, `showAmat()`, `wgtMatrix()`, `trueCov()`, `rmvDAG()`, `opt.target()`, `causalEffect()`, `dag2pag()`, `pdsep()` | `as(x, "graphNEL")` |
#' | pcalg: `gac()`, `adjustment()`, `possDe()`, `possAn()`, `pdag2allDags()`, `isValidGraph()`, `amat2dag()`, `pcalg2dagitty()`, `find.unsh.triple()` | `as(x, "amat")` |
#' | pcalg: `backdoor()`; functions for the marks of a PAG, which are the marks of a skeleton too: `udag2pag()`, `udag2apag()`, `visibleEdge()`, `possibleDe()`, `searchAM()`, `qreach()`, `pag2magAM()` and similar | `as(x, "matrix")` |
#' | pcalg: `showEdgeList()`, `udag2pdag()`, `udag2pdagRelaxed()`, `udag2pdagSpecial()`, `pc.cons.intern()`, slots such as `x@graph` | `as_pcalg(x)` |
#' | graph, RBGL, Rgraphviz, bnlearn's `as.bn()` | `as(x, "graphNEL")` |
#' | igraph, tidygraph, ggraph | [as_igraph()], `igraph::as.igraph()` or `tidygraph::as_tbl_graph()`, of `x` |
#' | bnlearn, dagitty, caugi | [as_bn()], [as_dagitty()], [caugi_of()] of `x` |
#' | Matrix | `as(x, "dgCMatrix")` |
#'
#' If you pass `x` itself to these functions of pcalg, they end with an error of class `pcgpu_error_argument` that names
#' the conversions. So do `nodes()`, `numNodes()`, `numEdges()`, `isDirected()`, `ugraph()` and `subGraph()` of the
#' package graph, and R's `[`, `[[`, `$`, `t()`, comparisons and arithmetic. Access to a slot that does not exist
#' (`x@graph`) gives R's own error, because R has no methods for that. `udag2pdag()`, `udag2pdagRelaxed()`,
#' `udag2pdagSpecial()`, `pc.cons.intern()` and `beta.special.pcObj()` begin with such an access. `shd()`, `rmvDAG()`,
#' `opt.target()`, `dsepTest()` and `dsepAMTest()` check the class and stop with their own errors. The deprecated
#' `beta.special()` ignores `x` and searches itself.
#'
#' @slot call The call, which also carries the information that [run_details()] reads.
#' @slot labels Names of the p variables.
#' @slot n.edgetests As in `pcAlgo`: the number of tests at each level.
#' @slot max.ord As in `pcAlgo`: the last level.
#' @slot type `"skeleton"` or `"CPDAG"`.
#' @slot method The variant of the search, `skel.method` of [pc()].
#' @slot alpha The significance level.
#' @slot test The name of the test, `""` if it is not from this package.
#' @slot extendable `FALSE` if `u2pd = "rand"` or `"retry"` found no DAG with the v-structures.
#' @slot edges The edges between x < y, ordered by x, then y: `list(start, to, mark, p)`. Elements `start[x] + 1` to
#'   `start[x + 1]` belong to x: `to` is y, and `p` is the largest p-value of the tests (`-Inf`, or `-1` with
#'   `"stable.fast"`, if there were none). `mark` is 1 for x - y, 2 for x -> y, 3 for x <- y, 4 for x <-> y. `p` is
#'   stored as the bytes of its n numbers: byte k (from 1, the lowest) of number i is at `(k - 1) * n + i`. This reduces
#'   the time of `saveRDS()` to a third.
#' @slot sets The separating sets `sepset[[x]][[y]]`, also ordered by x, then y, without the empty sets of level 0:
#'   `list(start, to, set, p, ends, members)`. `set` is the variable itself for a set of one, and 0 for an empty set.
#'   For the k-th of the larger sets it is p + k, and the set is `members[(ends[k] + 1):ends[k + 1]]`. `set` is stored
#'   as bits: bit k (from 0, the lowest) of all n numbers is in the bytes from `k * ceiling(n / 8) + 1` on. `p` is the
#'   largest p-value of the pair, `NA` if it was removed at level 0.
#' @slot gaps The pairs x < y that are not adjacent and have no separating set, `list(start, to, p)`. These are the
#'   pairs of `fixedGaps`, and the pairs that `"stable.fast"` removes at level 0 because their test has no p-value.
#' @seealso [pc()]
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(4000), 500, 8, dimnames = list(NULL, letters[1:8]))
#' x[, "b"] <- x[, "a"] + rnorm(500)
#' x[, "c"] <- x[, "b"] + x[, "d"] + rnorm(500)
#' suff <- suff_gauss(x)
#' fit <- pc(suff, gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2, result = "compact")
#' fit
#' edge_table(fit)
#' sepset(fit, "a", "c")
#' p_value(fit, "a", "c")
#' p_value(fit, "a", "d", suffStat = suff) # removed at level 0
#' as(fit, "pcAlgo")
#' @name pcCompact-class
#' @aliases pcCompact
#' @exportClass pcCompact
methods::setClass(
  "pcCompact",
  representation = list(
    call = "call",
    labels = "character",
    n.edgetests = "numeric",
    max.ord = "integer",
    type = "character",
    method = "character",
    alpha = "numeric",
    test = "character",
    extendable = "logical",
    edges = "list",
    sets = "list",
    gaps = "list"
  )
)

# Returns whether x is a compact result. is() would look for the class of an object whose package may not be installed.
is_compact <- function(x) isS4(x) && "pcCompact" %in% class(x)

# Makes a result of what Rust found.
compact_result <- function(labels, found, call, test, options, oriented) {
  methods::new(
    "pcCompact",
    call = call,
    labels = labels,
    n.edgetests = edge_tests(found$n_edgetests, options$method),
    max.ord = as.integer(found$max_ord),
    type = if (oriented) "CPDAG" else "skeleton",
    method = options$method,
    alpha = options$alpha,
    test = test$name,
    extendable = !isFALSE(found$extendable),
    edges = found$edges,
    sets = found$sets,
    gaps = found$gaps
  )
}

# Returns the parts that Rust reads.
flat_parts <- function(x) {
  list(p = length(x@labels), method = x@method, edges = x@edges, sets = x@sets, gaps = x@gaps)
}

# Returns the row of each entry of `rows`, one of the slots `edges`, `sets` and `gaps`.
row_numbers <- function(rows) rep.int(seq_len(length(rows$start) - 1L), diff(rows$start))

# Returns the number of the entry (x, y) for pairs of variable numbers, or NA.
entry_of <- function(rows, x, y) {
  find <- function(x, y) {
    row <- seq_len(rows$start[x + 1L] - rows$start[x]) + rows$start[x]
    row[match(y, rows$to[row])]
  }
  as.numeric(unlist(Map(find, x, y)))
}

# Returns the p-values of these entries, or of all entries; NA for an entry that is NA.
p_at <- function(rows, entry = NULL) {
  n <- length(rows$to)
  if (is.null(entry)) {
    return(readBin(c(t(matrix(rows$p, n, 8L))), "double", n, endian = "little"))
  }
  value <- rep.int(NA_real_, length(entry))
  there <- which(!is.na(entry))
  value[there] <- readBin(rows$p[rep(entry[there], each = 8L) + n * (0:7)], "double", length(there), endian = "little")
  value
}

# Returns the number of entries that have a p-value. No p-value has the highest byte of NA.
count_p <- function(rows) sum(utils::tail(rows$p, length(rows$to)) != as.raw(0x7f))

# Returns the members of an entry of the slot `sets`.
set_at <- function(x, entry) {
  sets <- x@sets
  each <- ceiling(length(sets$to) / 8)
  bytes <- as.integer(sets$set[seq.int((entry - 1) %/% 8 + 1, length(sets$set), each)])
  code <- sum(bitwAnd(bitwShiftR(bytes, (entry - 1) %% 8), 1L) * 2^(seq_along(bytes) - 1))
  large <- code - length(x@labels)
  if (large <= 0) code[code > 0] else sets$members[seq.int(sets$ends[large] + 1, sets$ends[large + 1])]
}

edge_kinds <- c("undirected", "directed", "directed", "conflict")

# Returns one row for each edge: from, to and kind as table_of_lists() returns them, and p.
compact_edges <- function(x) {
  from <- row_numbers(x@edges)
  mark <- as.integer(x@edges$mark)
  back <- which(mark == 3L)
  to <- x@edges$to
  to[back] <- from[back]
  from[back] <- x@edges$to[back]
  data.frame(from = from, to = to, kind = edge_kinds[mark], p = p_at(x@edges), stringsAsFactors = FALSE)
}

# Returns every edge as one arc, or as two if it has no direction, by tail, then head: from, to and pcalg's mark, 1 or
# 2.
compact_arcs <- function(x) {
  from <- row_numbers(x@edges)
  to <- x@edges$to
  mark <- as.integer(x@edges$mark)
  up <- mark != 3L
  down <- mark != 2L
  tail <- c(from[up], to[down])
  head <- c(to[up], from[down])
  weight <- rep.int(1, 4L)
  weight[4L] <- 2
  by <- order(tail, head, method = "radix")
  list(from = tail[by], to = head[by], mark = weight[c(mark[up], mark[down])[by]])
}

# Returns labels, neighbour lists and weights, like edges_of_graph().
compact_lists <- function(x) {
  arcs <- compact_arcs(x)
  by_tail <- function(values) unname(split(values, factor(arcs$from, seq_along(x@labels))))
  list(labels = x@labels, edges = by_tail(arcs$to), weights = if (!all(arcs$mark == 1)) by_tail(arcs$mark))
}

# Returns the graph as a pcAlgo stores it.
compact_graph <- function(x) {
  listed <- compact_lists(x)
  result_graph(
    x@labels,
    list(
      edges = listed$edges,
      marks = listed$weights,
      extendable = x@extendable,
      counts = list(directed = sum(x@edges$mark == 2L | x@edges$mark == 3L))
    ),
    oriented = x@type == "CPDAG"
  )
}

# Returns the p x p form. `level0`: a matrix of the p-values of level 0, or NULL.
expanded <- function(x, level0 = NULL) with_room_for_pcalgo(expand(x, level0))

expand <- function(x, level0) {
  result <- empty_result()
  pMax <- check_rust(rust_expand(flat_parts(x), level0, result))
  fill_result(
    result,
    graph = compact_graph(x),
    call = x@call,
    max_ord = x@max.ord,
    n_edgetests = x@n.edgetests,
    pMax = pMax
  )
}

# Returns pcalg's adjacency matrix, the transpose of as(graph, "matrix").
compact_matrix <- function(x) {
  arcs <- compact_arcs(x)
  m <- matrix(0, length(x@labels), length(x@labels), dimnames = list(x@labels, x@labels))
  m[cbind(arcs$to, arcs$from)] <- arcs$mark
  m
}

sparse_matrix <- function(x) {
  need_package("Matrix", "a sparse matrix needs the package Matrix")
  arcs <- compact_arcs(x)
  p <- length(x@labels)
  Matrix::sparseMatrix(
    i = arcs$to,
    j = arcs$from,
    x = arcs$mark,
    dims = c(p, p),
    dimnames = list(x@labels, x@labels),
    repr = "C"
  )
}

# Registers conversions of a compact result and of a table of edges, and edges() of the other class. pcalg and Matrix
# define some of these classes later, and R would report that in a message.
conversions <- function(ns) {
  set <- function(to, convert) suppressMessages(methods::setAs("pcCompact", to, convert, where = ns))
  suppressMessages({
    methods::setMethod("edges", "pcAlgo", edges_of_object, where = ns)
    methods::setMethod("edges", "fciAlgo", edges_of_object, where = ns)
  })
  suppressMessages(methods::setAs("pcgpu_graph", "graphNEL", function(from) graphnel_of_table(from), where = ns))
  set("pcAlgo", function(from) as_pcalg(from))
  set("matrix", function(from) {
    # Functions of pcalg would take it for the matrix of a graph, which is the transpose of the coding of results.
    if (is_asked_by_pcalg()) {
      refuse_compact()
    }
    structure(compact_matrix(check_object(from)), type = "amat.cpdag")
  })
  set("amat", function(from) structure(compact_matrix(check_object(from)), class = "amat", type = "cpdag"))
  set("graphNEL", function(from) compact_graph(check_object(from)))
  set("dgCMatrix", function(from) sparse_matrix(check_object(from)))
  set("CsparseMatrix", function(from) sparse_matrix(check_object(from)))
  set("sparseMatrix", function(from) sparse_matrix(check_object(from)))
  set("Matrix", function(from) sparse_matrix(check_object(from)))
}

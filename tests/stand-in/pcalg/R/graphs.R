# Functions that take a graph. What each asks the graph first differs, so that pcgpu answers every way to ask.

wgtMatrix <- function(g, transpose = TRUE) {
  weights <- as(g, "matrix")
  if (transpose) t(weights) else weights
}

iplotPC <- function(pc.fit, labels = NULL) invisible(getGraph(pc.fit))

showAmat <- function(object) as(getGraph(object), "matrix")

ida <- function(
  x.pos,
  y.pos,
  mcov,
  graphEst,
  method = c("local", "optimal", "global"),
  y.notparent = FALSE,
  verbose = FALSE,
  all.dags = NA,
  type = c("cpdag", "pdag")
) {
  mcov[x.pos, y.pos] * max(1, wgtMatrix(graphEst))
}

idaFast <- function(x.pos, y.pos.set, mcov, graphEst) graph::numNodes(graphEst) * mcov[x.pos, y.pos.set]

jointIda <- function(
  x.pos,
  y.pos,
  mcov,
  graphEst = NULL,
  all.pasets = NULL,
  technique = c("RRC", "MCD"),
  type = c("pdag", "cpdag", "dag")
) {
  length(graph::nodes(graphEst)) * mcov[x.pos, y.pos, drop = FALSE]
}

optAdjSet <- function(graphEst, x.pos, y.pos) setdiff(graph::nodes(graphEst), graph::nodes(graphEst)[c(x.pos, y.pos)])

causalEffect <- function(g, y, x) wgtMatrix(g)[y, x]

dsep <- function(a, b, S = NULL, g, john.pairs = NULL) {
  of <- graph::ugraph(g)
  !b %in% graph::adj(of, a)[[1L]]
}

dsepTest <- function(x, y, S = NULL, suffStat) as.numeric(wgtMatrix(suffStat$g)[x, y] == 0)

# Returns the number of pairs with different edges.
shd <- function(g1, g2) {
  edges_of <- function(g) as(getGraph(g), "matrix") != 0
  differs <- edges_of(g1) != edges_of(g2)
  as.numeric(sum((differs | t(differs))[upper.tri(differs)]))
}

compareGraphs <- function(gl, gt) {
  there <- list(wgtMatrix(graph::ugraph(gl)) != 0, wgtMatrix(graph::ugraph(gt)) != 0)
  c(tpr = mean(there[[1L]][there[[2L]]]), fpr = mean(there[[1L]][!there[[2L]]]), tdr = mean(there[[2L]][there[[1L]]]))
}

dag2cpdag <- function(g) if (graph::isDirected(g)) g

dag2essgraph <- function(dag, targets = list(integer(0))) if (graph::numEdges(dag) >= 0) dag

pdag2dag <- function(g, keepVstruct = TRUE) list(graph = g, success = graph::numNodes(g) > 0)

addBgKnowledge <- function(gInput, x = c(), y = c(), verbose = FALSE, checkInput = TRUE) {
  of <- if (is(gInput, "matrix")) gInput else t(as(gInput, "matrix"))
  as(of, "graphNEL")
}

plotSG <- function(graphObj, y, dist, amat = NA, directed = TRUE, plot = TRUE, main = "") {
  invisible(graph::subGraph(y, graphObj))
}

trueCov <- function(dag, back.compatible = FALSE) {
  crossprod(solve(diag(graph::numNodes(dag)) - wgtMatrix(dag, transpose = FALSE)))
}

rmvDAG <- function(
  n,
  dag,
  errDist = "normal",
  mix = 0.1,
  errMat = NULL,
  back.compatible = FALSE,
  use.node.names = FALSE
) {
  matrix(rnorm(n * graph::numNodes(dag)), n)
}

opt.target <- function(essgraph, max.size, use.node.names = TRUE) head(graph::nodes(essgraph), max.size)

dag2pag <- function(suffStat, indepTest, graph, L, alpha, rules = rep(TRUE, 10), verbose = FALSE) {
  udag2pag(as(graph, "matrix"), list())
}

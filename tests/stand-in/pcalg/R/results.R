# Functions that take a result, and read its slots.

showEdgeList <- function(object, labels = NULL) {
  # Not as the argument of another generic function, whose method would be looked for while this one is refused.
  g <- getGraph(object)
  print(graph::edgeNames(g))
}

udag2pdag <- function(gInput, verbose = FALSE) {
  gInput@graph <- gInput@graph
  gInput
}

udag2pdagRelaxed <- function(
  gInput,
  verbose = FALSE,
  unfVect = NULL,
  solve.confl = FALSE,
  orientCollider = TRUE,
  rules = rep(TRUE, 3)
) {
  stopifnot(is(gInput@graph, "graph"))
  gInput
}

udag2pdagSpecial <- function(gInput, verbose = FALSE, n.max = 100) {
  list(pcObj = gInput, evisit = wgtMatrix(gInput@graph), xtbl.orig = NA)
}

pc.cons.intern <- function(sk, suffStat, indepTest, alpha, version.unf = c(NA, NA), maj.rule = FALSE, verbose = FALSE) {
  list(unfTripl = numeric(), sk = sk, nodes = graph::nodes(sk@graph))
}

beta.special <- function(
  dat,
  x.pos,
  y.pos,
  verbose = 0,
  a = 0.01,
  myDAG = NA,
  myplot = FALSE,
  perfect = FALSE,
  method = "local",
  collTest = TRUE,
  pcObj = NA,
  all.dags = NA,
  u2pd = "rand"
) {
  wgtMatrix(pcObj@graph)[x.pos, y.pos] * cor(dat)[x.pos, y.pos]
}

beta.special.pcObj <- function(x.pos, y.pos, pcObj, mcov = NULL, amat = NULL, amatSkel = NULL, t.amat = NULL) {
  wgtMatrix(pcObj@graph)[x.pos, y.pos] * mcov[x.pos, y.pos]
}

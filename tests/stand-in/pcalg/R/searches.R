# Searches and tests. A search finds no edge, whatever the data. pcgpu takes the place of all these functions by
# use_in_pcalg().

no_edges <- function(labels) graph::graphNEL(labels, edgemode = "directed")

no_marks <- function(labels) matrix(0, length(labels), length(labels), dimnames = list(labels, labels))

pc <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  u2pd = c("relaxed", "rand", "retry"),
  skel.method = c("stable", "original", "stable.fast"),
  conservative = FALSE,
  maj.rule = FALSE,
  solve.confl = FALSE,
  numCores = 1,
  verbose = FALSE
) {
  new("pcAlgo", graph = no_edges(if (missing(labels)) as.character(seq_len(p)) else labels), call = match.call())
}

skeleton <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  method = c("stable", "original", "stable.fast"),
  m.max = Inf,
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  numCores = 1,
  verbose = FALSE
) {
  new("pcAlgo", graph = no_edges(if (missing(labels)) as.character(seq_len(p)) else labels), call = match.call())
}

fci <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  skel.method = c("stable", "original", "stable.fast"),
  type = c("normal", "anytime", "adaptive"),
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  pdsep.max = Inf,
  rules = rep(TRUE, 10),
  doPdsep = TRUE,
  biCC = FALSE,
  conservative = FALSE,
  maj.rule = FALSE,
  numCores = 1,
  selectionBias = TRUE,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL,
  verbose = FALSE
) {
  new("fciAlgo", amat = no_marks(if (missing(labels)) as.character(seq_len(p)) else labels), call = match.call())
}

rfci <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  skel.method = c("stable", "original", "stable.fast"),
  fixedGaps = NULL,
  fixedEdges = NULL,
  NAdelete = TRUE,
  m.max = Inf,
  rules = rep(TRUE, 10),
  conservative = FALSE,
  maj.rule = FALSE,
  numCores = 1,
  verbose = FALSE
) {
  new("fciAlgo", amat = no_marks(if (missing(labels)) as.character(seq_len(p)) else labels), call = match.call())
}

fciPlus <- function(
  suffStat,
  indepTest,
  alpha,
  labels,
  p,
  verbose = TRUE,
  selectionBias = TRUE,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL
) {
  new("fciAlgo", amat = no_marks(if (missing(labels)) as.character(seq_len(p)) else labels), call = match.call())
}

pdsep <- function(
  skel,
  suffStat,
  indepTest,
  p,
  sepset,
  alpha,
  pMax,
  m.max = Inf,
  pdsep.max = Inf,
  NAdelete = TRUE,
  unfVect = NULL,
  biCC = FALSE,
  fixedEdges = NULL,
  verbose = FALSE
) {
  list(G = as(skel, "matrix") != 0, sepset = sepset, pMax = pMax)
}

udag2pag <- function(
  pag,
  sepset,
  rules = rep(TRUE, 10),
  unfVect = NULL,
  jci = c("0", "1", "12", "123"),
  contextVars = NULL,
  verbose = FALSE,
  orientCollider = TRUE
) {
  pag[pag != 0] <- 1
  pag
}

pcSelect <- function(y, dm, alpha, corMethod = "standard", verbose = FALSE, directed = FALSE) {
  r <- as.vector(cor(y, dm))
  list(G = stats::setNames(abs(r) > 0.5, colnames(dm)), zMin = abs(r))
}

pcSelect.presel <- function(y, dm, alpha, alphapre, corMethod = "standard", verbose = 0, directed = FALSE) {
  found <- pcSelect(y, dm, alpha)
  list(pcs = found$G, Xnew = dm, zMin = found$zMin)
}

# Answers like a test. Each of these functions has its own body, because R treats functions with equal arguments and
# body as one.
gaussCItest <- function(x, y, S, suffStat) as.numeric(abs(suffStat$C[x, y]) < 0.1)

disCItest <- function(x, y, S, suffStat) as.numeric(abs(cor(suffStat$dm[, x], suffStat$dm[, y])) < 0.1)

binCItest <- function(x, y, S, suffStat) as.numeric(mean(suffStat$dm[, x] == suffStat$dm[, y]) < 0.6)

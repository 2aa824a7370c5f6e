# Functions that take a matrix. What each does with the matrix first differs, so that pcgpu answers every way to ask.

gac <- function(amat, x, y, z, type = "pag") list(gac = is.matrix(amat), res = logical(3L), f = integer())

adjustment <- function(amat, amat.type, x, y, set.type) list(seq_len(ncol(amat)))

possDe <- function(m, x, y = NULL, possible = TRUE, ds = TRUE, type = "pag") which(m[, x] != 0)

possAn <- function(m, x, y = NULL, possible = TRUE, ds = TRUE, type = "pag") which(m[x, ] != 0)

isValidGraph <- function(amat, type = c("pag", "cpdag", "dag"), verbose = FALSE) all(dim(amat) == rev(dim(amat)))

pdag2allDags <- function(gm, verbose = FALSE) list(dags = as.vector(t(gm)), nodeNms = colnames(gm))

allDags <- function(gm, a, tmp, verbose = FALSE) rbind(tmp, as.vector(gm))

amat2dag <- function(amat) (amat != 0) * 1

pcalg2dagitty <- function(amat, labels, type = "cpdag") {
  if (is.numeric(amat)) paste("dag {", paste(labels, collapse = " "), "}")
}

find.unsh.triple <- function(g, check = TRUE) {
  list(unshTripl = matrix(integer(), 3L), unshVect = integer(), found = g == 1)
}

backdoor <- function(amat, x, y, type = "pag", max.chordal = 10, verbose = FALSE) if (amat[x, y] == 0) NULL else NA

searchAM <- function(amat, x, type = c("an", "de", "ant", "sp", "nb", "pa", "ch")) which(amat[x, ] > 0)

possibleDe <- function(amat, x) which(amat[, x] > 0)

visibleEdge <- function(amat, x, z) amat[x, z] == 2

legal.path <- function(a, b, c, amat) any(amat[a, c] == 0, amat[a, b] == 1)

dreach <- function(x, y, amat, verbose = FALSE) seq_len(nrow(amat))[-c(x, y)]

qreach <- function(x, amat, verbose = FALSE) seq_len(ncol(amat))[-x]

dsepAM <- function(X, Y, S = NULL, amat, verbose = FALSE) sum(amat[X, Y]) == 0

dsepAMTest <- function(x, y, S = NULL, suffStat) as.numeric(suffStat$g[x, y] == 0)

pag2anc <- function(P, verbose = TRUE) P * 0

pag2conf <- function(P) 0 * P

pag2edge <- function(P) P - P

pag2magAM <- function(amat.pag, x, max.chordal = 10, verbose = FALSE) t(amat.pag)

plotAG <- function(amat) invisible(as.vector(amat))

udag2apag <- function(
  apag,
  suffStat,
  indepTest,
  alpha,
  sepset,
  rules = rep(TRUE, 10),
  unfVect = NULL,
  verbose = FALSE
) {
  list(graph = apag + 0, sepset = sepset)
}

rfci.vStruc <- function(
  suffStat,
  indepTest,
  alpha,
  sepset,
  g.amat,
  unshTripl,
  unshVect,
  conservative = FALSE,
  version.unf = c(2, 1),
  maj.rule = FALSE,
  verbose = FALSE
) {
  list(sepset = sepset, amat = any(g.amat), nmb = length(unshVect))
}

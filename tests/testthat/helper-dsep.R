# Returns 1 if x and y are d-separated by S in the DAG, else 0: the oracle as a conditional independence test. dag[i, j]
# is 1 for i -> j. Uses the moral graph of the ancestors of x, y and S (Lauritzen et al. 1990).
dsep_oracle <- function(x, y, S, dag) {
  kept <- unique(c(x, y, S))
  repeat {
    more <- union(kept, which(rowSums(dag[, kept, drop = FALSE]) > 0))
    if (length(more) == length(kept)) {
      break
    }
    kept <- more
  }
  among <- dag[kept, kept, drop = FALSE] > 0
  moral <- among | t(among) | tcrossprod(among) > 0
  open <- !kept %in% S
  reached <- kept == x
  repeat {
    further <- reached | (open & colSums(moral[reached, , drop = FALSE]) > 0)
    if (identical(further, reached)) {
      break
    }
    reached <- further
  }
  as.numeric(!reached[kept == y])
}

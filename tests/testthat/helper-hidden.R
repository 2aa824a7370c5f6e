# Problems with hidden variables whose truth is known.

# Draws a random DAG over p observed variables and some hidden ones, or some by which samples are selected: list(dag,
# observed, selection, ancestor), where ancestor[u, v] says that observed variable u is an ancestor of v, or of a
# selection variable if there are any.
hidden_problem <- function(p, hidden, selection = 0, degree = 2.5, seed = 1) {
  set.seed(seed)
  all <- p + hidden + selection
  by <- sample(all)
  dag <- matrix(0, all, all)
  dag[by, by][upper.tri(dag)] <- stats::rbinom(all * (all - 1) / 2, 1, min(1, degree / (all - 1)))
  observed <- sample(all, p)
  selected <- setdiff(seq_len(all), observed)[seq_len(selection)]
  reach <- diag(all) + dag
  for (i in seq_len(ceiling(log2(all)) + 1)) {
    reach <- (reach %*% reach > 0) + 0
  }
  ancestor <- reach[observed, observed] > 0
  if (selection) {
    ancestor <- ancestor | rowSums(reach[observed, selected, drop = FALSE]) > 0
  }
  list(
    p = p,
    dag = dag,
    observed = observed,
    selection = selected,
    ancestor = ancestor,
    test = msep_oracle(dag, observed, selected)
  )
}

# Returns the pairs that no set of observed variables separates.
inseparable <- function(problem) {
  p <- problem$p
  adjacent <- matrix(FALSE, p, p)
  for (pair in utils::combn(p, 2, simplify = FALSE)) {
    others <- setdiff(seq_len(p), pair)
    separated <- FALSE
    for (mask in seq_len(2^length(others)) - 1) {
      S <- others[bitwAnd(mask, 2^(seq_along(others) - 1)) > 0]
      if (problem$test(pair[1], pair[2], S, NULL) == 1) {
        separated <- TRUE
        break
      }
    }
    adjacent[pair[1], pair[2]] <- adjacent[pair[2], pair[1]] <- !separated
  }
  adjacent
}

# Counts the marks of a PAG that the DAG contradicts: an arrowhead at v says that v is no ancestor of u, a tail that it
# is.
false_marks <- function(amat, problem) sum(amat == 2 & t(problem$ancestor)) + sum(amat == 3 & !t(problem$ancestor))

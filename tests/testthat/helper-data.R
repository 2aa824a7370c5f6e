# Returns data of a random linear Gaussian DAG in the order of its columns, with about `degree` neighbours for each
# variable.
simulate <- function(p, n, degree = 2, seed = 1) {
  set.seed(seed)
  B <- matrix(0, p, p)
  B[upper.tri(B)] <- stats::rbinom(p * (p - 1) / 2, 1, min(1, degree / (p - 1))) * stats::runif(p * (p - 1) / 2, 0.4, 1)
  x <- matrix(stats::rnorm(n * p), n, p) %*% solve(diag(p) - B)
  colnames(x) <- paste0("v", seq_len(p))
  x
}

suff <- function(p = 8, n = 200, ...) {
  x <- simulate(p, n, ...)
  list(C = stats::cor(x), n = nrow(x))
}

# Returns the result of a chain and a v-structure, found with certainty in a sample of this size: a -> c <- b, c -> d.
small_fit <- function(...) {
  C <- diag(4)
  dimnames(C) <- list(letters[1:4], letters[1:4])
  C["a", "c"] <- C["c", "a"] <- C["b", "c"] <- C["c", "b"] <- 0.6
  C["c", "d"] <- C["d", "c"] <- 0.7
  C["a", "d"] <- C["d", "a"] <- C["b", "d"] <- C["d", "b"] <- 0.42
  pc(list(C = C, n = 1000), gaussCItest, alpha = 0.01, labels = letters[1:4], numCores = 2, ...)
}

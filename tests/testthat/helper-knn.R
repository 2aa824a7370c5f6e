# Returns x and y that depend on z alone, and not linearly; with `link`, y also depends on x.
simulate_nonlinear <- function(n, size = 1, link = 0) {
  z <- matrix(rnorm(n * max(size, 1)), n)
  both <- if (size > 0) tanh(rowMeans(z)) else 0
  x <- both + rnorm(n)
  y <- both^2 + link * x^2 + rnorm(n)
  cbind(x, y, if (size > 0) z)
}

# Returns a chain of mixed variables: a discrete one, and those that depend on the one before.
simulate_mixed <- function(n) {
  a <- sample(c("low", "mid", "high"), n, TRUE)
  b <- c(low = -1, mid = 0, high = 1.5)[a] + 0.7 * rnorm(n)
  c <- b^2 + 0.5 * rnorm(n)
  data.frame(a = factor(a), b = b, c = c, d = c + rnorm(n) > 1)
}

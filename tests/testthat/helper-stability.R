# Returns data in which a and b are causes of d, and d of e.
stability_data <- function(n = 120, seed = 1) {
  with_seed(seed, {
    a <- rnorm(n)
    b <- rnorm(n)
    d <- 0.5 * a + 0.5 * b + rnorm(n)
    e <- 0.5 * d + rnorm(n)
    data.frame(a = a, b = b, d = d, e = e, f = rnorm(n), g = 0.3 * e + rnorm(n))
  })
}

with_seed <- function(seed, code) {
  set.seed(seed)
  code
}

# Counts the results of pc() on each sample's rows by the plainest means: a row x, y, and the four counts for each pair.
counts_by_hand <- function(found, suff_of, test, ...) {
  p <- length(found$labels)
  counts <- array(0L, c(p, p, 4))
  for (b in seq_len(found$replicates)) {
    rows <- suff_of(stability_rows(found, b))
    fit <- suppressMessages(suppressWarnings(pc(rows, test, found$alpha, labels = found$labels, numCores = 1, ...)))
    m <- methods::as(fit@graph, "matrix")
    for (y in 2:p) {
      for (x in seq_len(y - 1)) {
        kind <- if (m[x, y] == 2) {
          4
        } else if (m[x, y] && m[y, x]) {
          3
        } else if (m[x, y]) {
          1
        } else if (m[y, x]) {
          2
        } else {
          0
        }
        if (kind) counts[x, y, kind] <- counts[x, y, kind] + 1L
      }
    }
  }
  seen <- which(apply(counts, 1:2, sum) > 0, arr.ind = TRUE)
  seen <- seen[order(seen[, 1], seen[, 2]), , drop = FALSE]
  data.frame(
    x = unname(seen[, 1]),
    y = unname(seen[, 2]),
    forward = counts[cbind(seen, 1)],
    backward = counts[cbind(seen, 2)],
    undirected = counts[cbind(seen, 3)],
    bidirected = counts[cbind(seen, 4)]
  )
}

# Calls the function of the package that takes a threshold, on counts that were made up.
with_average_of <- function(...) getFromNamespace("with_average", "pcgpu")(...)

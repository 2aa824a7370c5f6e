# Lays out one connected component by stress majorisation (Gansner, Koren and North 2004): distances on paper follow
# distances in the graph. The start is pivot MDS (Brandes and Pich 2006). In a large component the distances to some
# pivots stand for all others (Ortmann, Klimenta and Brandes 2017). So time and memory grow with the number of nodes,
# not with its square.

# Up to this many nodes all distances are used.
full_stress_limit <- 200L

# Returns coordinates of the nodes of `group`, in which neighbours lie about 1 apart.
layout_component <- function(near, group) {
  m <- length(group)
  near <- lapply(near[group], match, group)
  degree <- lengths(near)
  if (sum(degree) == 2L * (m - 1L) && max(degree) <= 2L) {
    # A path is straight.
    return(cbind(steps_from(near, which.min(degree)), 0))
  }
  pivots <- choose_pivots(near, min(m, max(50L, 60000L %/% m)))
  start <- pivot_mds(pivots$steps)
  # Nodes with the same steps would coincide; a spiral, the same each time, separates them.
  turn <- seq_len(m) * 2.399963
  spiral <- sqrt(seq_len(m) / m) * cbind(cos(turn), sin(turn))
  if (m > full_stress_limit) {
    return(majorise_sparse(start + spiral, near, pivots$nodes, pivots$steps))
  }
  # A start that is as wide as high untangles small graphs better.
  spread <- sqrt(colSums(start^2) / max(sum(start[, 1L]^2), 1e-12))
  start <- sweep(start, 2L, max(abs(start), 1e-12) * pmax(spread, 0.05), `/`)
  majorise((start + 0.15 * spiral) * sqrt(m) / 2, steps_from(near, seq_len(m)))
}

# Returns the number of steps to every node from each of `sources`: a matrix with one column for each source. All nodes
# must be reachable.
steps_from <- function(near, sources) {
  n <- length(near)
  targets <- unlist(near, use.names = FALSE)
  counts <- lengths(near)
  first <- cumsum(c(1L, counts))[seq_len(n)]
  steps <- matrix(-1, n, length(sources))
  node <- sources
  column <- seq_along(sources)
  steps[cbind(node, column)] <- 0
  now <- 0
  while (length(node)) {
    now <- now + 1
    column <- rep.int(column, counts[node])
    node <- targets[sequence(counts[node], first[node])]
    cell <- node + (column - 1L) * n
    new <- steps[cell] < 0 & !duplicated(cell)
    node <- node[new]
    column <- column[new]
    steps[cell[new]] <- now
  }
  steps
}

# Returns `wanted` nodes that lie far from each other, and the steps from them.
choose_pivots <- function(near, wanted) {
  m <- length(near)
  nodes <- integer()
  steps <- matrix(0, m, 0L)
  far <- rep(Inf, m)
  at <- 1L
  for (k in seq_len(wanted)) {
    nodes[k] <- at
    steps <- cbind(steps, steps_from(near, at))
    far <- pmin(far, steps[, k])
    at <- which.max(far)
  }
  list(nodes = nodes, steps = steps)
}

# Returns coordinates from the steps to the pivots, at the scale of the steps.
pivot_mds <- function(steps) {
  m <- nrow(steps)
  Q <- steps^2
  B <- -0.5 * (Q - outer(rowMeans(Q), colMeans(Q), `+`) + mean(Q))
  parts <- eigen(crossprod(B), symmetric = TRUE)
  # Singular values of B are proportional to squared lengths.
  spread <- pmax(parts$values[1:2], 1e-9)^0.25
  xy <- sweep(B %*% parts$vectors[, 1:2, drop = FALSE], 2L, spread, `/`)
  xy * (m / ncol(steps))^0.25
}

# Runs stress majorisation with weights 1 / distance^2, until the layout stops moving.
majorise <- function(xy, steps, rounds = 200L) {
  m <- nrow(xy)
  diag(steps) <- 1
  weight <- 1 / steps^2
  diag(weight) <- 0
  laplacian <- diag(rowSums(weight)) - weight
  # The Laplacian has the constant vector as its kernel; adding it makes the matrix invertible.
  inverse <- solve(laplacian + 1 / m)
  wanted <- -weight * steps
  for (round in seq_len(rounds)) {
    apart <- sqrt(outer(xy[, 1L], xy[, 1L], `-`)^2 + outer(xy[, 2L], xy[, 2L], `-`)^2)
    pull <- wanted / pmax(apart, 1e-6)
    diag(pull) <- -rowSums(pull)
    moved <- inverse %*% (pull %*% xy)
    change <- max(abs(moved - xy))
    xy <- moved
    if (change < 1e-3) {
      break
    }
  }
  xy
}

# Minimises the stress over neighbours and pivots only. A pivot stands for the nodes that are nearer to it than to other
# pivots. Its weight at node i is s / distance^2, where s counts the nodes of the pivot that are at most half as far
# from it as i.
majorise_sparse <- function(xy, near, pivots, steps, rounds = 50L) {
  m <- nrow(xy)
  region <- max.col(-steps, "first")
  weight <- 1 / pmax(steps, 1)^2
  for (k in seq_along(pivots)) {
    inside <- sort(steps[region == k, k])
    weight[, k] <- weight[, k] * pmax(findInterval(steps[, k] / 2, inside), 1)
  }
  # Neighbours have a term of their own; a pivot has none with itself.
  weight[steps <= 1] <- 0
  from <- rep.int(seq_len(m), lengths(near))
  to <- unlist(near, use.names = FALSE)
  by_from <- summing(from, m)
  total <- rowSums(weight) + lengths(near)
  wanted <- weight * steps
  to_pivots <- function(xy) {
    apart <- sqrt((xy[, 1L] - rep(xy[pivots, 1L], each = m))^2 + (xy[, 2L] - rep(xy[pivots, 2L], each = m))^2)
    apart[apart < 1e-6] <- 1e-6
    matrix(apart, m)
  }
  # Scales the start so that its stress is minimal.
  apart <- to_pivots(xy)
  xy <- xy * sum(wanted * apart) / sum(weight * apart^2)
  for (round in seq_len(rounds)) {
    at <- xy[pivots, , drop = FALSE]
    # The sum over pivots of pull times (xy - at), and of pull alone.
    pull <- (wanted / to_pivots(xy)) %*% cbind(1, at)
    ex <- xy[from, 1L] - xy[to, 1L]
    ey <- xy[from, 2L] - xy[to, 2L]
    long <- pmax(sqrt(ex^2 + ey^2), 1e-6)
    neighbours <- cbind(sum_by(xy[to, 1L] + ex / long, by_from), sum_by(xy[to, 2L] + ey / long, by_from))
    moved <- (weight %*% at + pull[, 1L] * xy - pull[, 2:3] + neighbours) / total
    change <- max(abs(moved - xy))
    xy <- moved
    if (change < 1e-2) {
      break
    }
  }
  xy
}

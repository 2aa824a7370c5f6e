# Where to put the nodes of a graph. Deterministic: no random number is drawn, so R's generator is left alone.
#
# Each connected component is laid out by stress majorisation (Gansner, Koren and North 2004): distances on paper
# follow distances in the graph. It starts from pivot MDS (Brandes and Pich 2006). Boxes that overlap are then pushed
# apart, the components are packed in rows, and the nodes without an edge stand in rows at the bottom.

# Above this many nodes in a component the start is good enough, and stress would take minutes.
stress_limit <- 600L

# edges: a data frame with from, to and kind, one row a pair. size: an n x 2 matrix, width and height of each box.
# aspect: width over height of the space there is. Returns an n x 2 matrix of centres, in the unit of `size`, from 0 up.
layout_graph <- function(n, edges, size, aspect) {
  near <- neighbour_lists(n, edges)
  member <- components(near)
  groups <- split(seq_len(n), member)
  alone <- unlist(groups[lengths(groups) == 1L], use.names = FALSE)
  groups <- groups[lengths(groups) > 1L]
  groups <- groups[order(-lengths(groups))]
  step <- 0.6 * mean(size[, 1L]) + 2.2 * mean(size[, 2L])
  xy <- matrix(0, n, 2L)
  for (group in groups) {
    place <- layout_component(near, group, step)
    place <- point_down(place, group, edges)
    xy[group, ] <- push_apart(place, size[group, , drop = FALSE])
  }
  pack(xy, size, groups, alone, aspect)
}

neighbour_lists <- function(n, edges) {
  node <- factor(c(edges$from, edges$to), levels = seq_len(n))
  near <- split(c(edges$to, edges$from), node)
  names(near) <- NULL
  near
}

components <- function(near) {
  member <- integer(length(near))
  label <- 0L
  for (start in seq_along(near)) {
    if (member[start] == 0L) {
      label <- label + 1L
      front <- start
      while (length(front)) {
        member[front] <- label
        front <- unique(unlist(near[front], use.names = FALSE))
        front <- front[member[front] == 0L]
      }
    }
  }
  member
}

# Number of steps from `source` to every node; 0 also for what cannot be reached, which callers do not read.
steps_from <- function(near, source) {
  steps <- rep.int(-1, length(near))
  front <- source
  now <- 0
  while (length(front)) {
    steps[front] <- now
    now <- now + 1
    front <- unique(unlist(near[front], use.names = FALSE))
    front <- front[steps[front] < 0]
  }
  pmax(steps, 0)
}

layout_component <- function(near, group, step) {
  m <- length(group)
  if (m == 2L) {
    return(rbind(c(0, step), c(0, 0)))
  }
  start <- pivot_mds(near, group)
  if (m > stress_limit) {
    return(start * step)
  }
  steps <- vapply(group, function(source) steps_from(near, source)[group], numeric(m))
  majorise(start, steps) * step
}

# Coordinates from the distances to at most 50 nodes that lie far from each other.
pivot_mds <- function(near, group) {
  m <- length(group)
  pivots <- min(m, 50L)
  D <- matrix(0, m, pivots)
  far <- rep(Inf, m)
  at <- 1L
  for (k in seq_len(pivots)) {
    D[, k] <- steps_from(near, group[at])[group]
    far <- pmin(far, D[, k])
    at <- which.max(far)
  }
  Q <- D^2
  B <- -0.5 * (Q - outer(rowMeans(Q), colMeans(Q), `+`) + mean(Q))
  axes <- eigen(crossprod(B), symmetric = TRUE)$vectors[, 1:2, drop = FALSE]
  xy <- B %*% axes
  scale <- sqrt(colSums(xy^2) / sum((xy[, 1L] - mean(xy[, 1L]))^2 + 1e-12)) + 1e-12
  xy <- sweep(xy, 2L, max(abs(xy)) * pmax(scale, 0.05), `/`)
  # Nodes with the same distances would lie on one spot; a spiral, the same each time, takes them apart.
  turn <- seq_len(m) * 2.399963
  xy <- xy + 0.15 * sqrt(seq_len(m) / m) * cbind(cos(turn), sin(turn))
  xy * sqrt(m) / 2
}

# Stress majorisation with weights 1 / distance^2, until the layout moves no more.
majorise <- function(xy, steps, rounds = 200L) {
  m <- nrow(xy)
  diag(steps) <- 1
  weight <- 1 / steps^2
  diag(weight) <- 0
  laplacian <- diag(rowSums(weight)) - weight
  # The Laplacian has the constant vector as its kernel; adding it makes the matrix invertible.
  inverse <- solve(laplacian + 1 / m)
  for (round in seq_len(rounds)) {
    apart <- pmax(as.matrix(stats::dist(xy)), 1e-6)
    pull <- -weight * steps / apart
    diag(pull) <- 0
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

# Turns the component so that arrows point downwards on the whole, or lays it wide when it has none.
point_down <- function(xy, group, edges) {
  arrows <- edges[edges$kind == "directed" & edges$from %in% group, , drop = FALSE]
  from <- match(arrows$from, group)
  to <- match(arrows$to, group)
  flow <- colSums(xy[to, , drop = FALSE] - xy[from, , drop = FALSE])
  if (sum(flow^2) > 1e-9 && nrow(xy) > 2L) {
    turn <- -pi / 2 - atan2(flow[2L], flow[1L])
    return(xy %*% rbind(c(cos(turn), sin(turn)), c(-sin(turn), cos(turn))))
  }
  if (flow[2L] > 0) xy * rep(c(1, -1), each = nrow(xy)) else xy
}

# Moves boxes that overlap apart, along the axis where less is needed, both by half.
push_apart <- function(xy, size, rounds = 300L) {
  if (nrow(xy) > stress_limit) {
    return(xy)
  }
  gap <- 0.6 * mean(size[, 2L])
  wide <- outer(size[, 1L], size[, 1L], `+`) / 2 + gap
  high <- outer(size[, 2L], size[, 2L], `+`) / 2 + gap
  order <- outer(seq_len(nrow(xy)), seq_len(nrow(xy)), `-`)
  for (round in seq_len(rounds)) {
    dx <- outer(xy[, 1L], xy[, 1L], `-`)
    dy <- outer(xy[, 2L], xy[, 2L], `-`)
    over_x <- wide - abs(dx)
    over_y <- high - abs(dy)
    hit <- over_x > 1e-9 & over_y > 1e-9
    diag(hit) <- FALSE
    if (!any(hit)) {
      break
    }
    sideways <- hit & over_x < over_y
    upright <- hit & !sideways
    # Where the centres coincide in a coordinate, the numbers of the nodes say which goes which way.
    sign_x <- sign(ifelse(dx == 0, order, dx))
    sign_y <- sign(ifelse(dy == 0, order, dy))
    xy[, 1L] <- xy[, 1L] + 0.3 * rowSums(sideways * sign_x * over_x)
    xy[, 2L] <- xy[, 2L] + 0.3 * rowSums(upright * sign_y * over_y)
  }
  xy
}

# Components side by side in rows that are as wide as `aspect` asks for; nodes without an edge below them.
pack <- function(xy, size, groups, alone, aspect) {
  gap <- 1.5 * mean(size[, 2L])
  blocks <- c(groups, as.list(alone))
  box <- vapply(blocks, function(group) {
    low <- apply(xy[group, , drop = FALSE] - size[group, , drop = FALSE] / 2, 2L, min)
    high <- apply(xy[group, , drop = FALSE] + size[group, , drop = FALSE] / 2, 2L, max)
    c(low, high - low + gap)
  }, numeric(4L))
  room <- max(box[3L, ], sqrt(sum(box[3L, ] * box[4L, ]) * aspect * 1.15))
  x <- 0
  y <- 0
  row_height <- 0
  for (k in seq_along(blocks)) {
    starts_alone <- k == length(groups) + 1L && k > 1L
    if (x > 0 && (x + box[3L, k] > room + 1e-9 || starts_alone)) {
      x <- 0
      y <- y - row_height
      row_height <- 0
    }
    group <- blocks[[k]]
    shift <- c(x - box[1L, k], y - box[4L, k] - box[2L, k])
    xy[group, ] <- sweep(xy[group, , drop = FALSE], 2L, shift, `+`)
    x <- x + box[3L, k]
    row_height <- max(row_height, box[4L, k])
  }
  low <- apply(xy - size / 2, 2L, min)
  sweep(xy, 2L, low)
}

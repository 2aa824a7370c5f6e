# Computes positions for the nodes of a graph. Deterministic: it draws no random number, so the state of R's generator
# does not change.
#
# Each connected component is laid out by stress majorisation (R/plot-stress.R). Overlapping boxes are then pushed
# apart, and the components are packed (R/plot-pack.R).

# Returns an n x 2 matrix of centres, in the unit of `size`, from 0 up. edges: a data frame with from, to and kind, one
# row for each pair. size: an n x 2 matrix, width and height of each box. aspect: width over height of the space.
# shapes: the slow part, which does not depend on `size`; a promise, for callers that try several sizes.
layout_graph <- function(n, edges, size, aspect, shapes = component_shapes(n, edges)) {
  # Long labels do not push neighbours far apart, because there is room above and below them.
  step <- min(0.6 * mean(size[, 1L]), 4 * mean(size[, 2L])) + 2.2 * mean(size[, 2L])
  xy <- matrix(0, n, 2L)
  member <- shapes$member
  by_member <- function(edges) split(edges, factor(member[edges$from], levels = seq_len(max(member, 0L))))
  lines <- by_member(edges[c("from", "to")])
  arrows <- by_member(edges[edges$kind == "directed", , drop = FALSE])
  for (k in seq_along(shapes$groups)) {
    group <- shapes$groups[[k]]
    place <- point_down(shapes$places[[k]], group, arrows[[member[group[1L]]]])
    inside <- if (length(group) <= most_boxes) lapply(lines[[member[group[1L]]]], match, group)
    xy[group, ] <- push_apart(place * step, size[group, , drop = FALSE], aspect, inside)
  }
  pack(xy, size, shapes$groups, shapes$alone, aspect, edges)
}

# Edges of components with more nodes than this may be shorter than their marks.
most_boxes <- 60L

# Returns the connected components: `member`, the number of each node's component; `groups`, the nodes of components
# with edges; `places`, their positions, in which neighbours are about 1 apart; and `alone`, the nodes without an edge.
component_shapes <- function(n, edges) {
  near <- neighbour_lists(n, edges)
  member <- components(n, edges)
  groups <- unname(split(seq_len(n), member))
  alone <- unlist(groups[lengths(groups) == 1L], use.names = FALSE)
  groups <- groups[lengths(groups) > 1L]
  list(member = member, groups = groups, alone = alone, places = lapply(groups, layout_component, near = near))
}

neighbour_lists <- function(n, edges) {
  node <- factor(c(edges$from, edges$to), levels = seq_len(n))
  near <- split(c(edges$to, edges$from), node)
  names(near) <- NULL
  near
}

# Returns the number of the connected component of each of n nodes, in the order of their first nodes. Every node takes
# the smallest number among its neighbours, then the number of that one, until nothing changes.
components <- function(n, edges) {
  member <- seq_len(n)
  from <- edges$from
  to <- edges$to
  repeat {
    a <- member[from]
    b <- member[to]
    apart <- a != b
    if (!any(apart)) {
      break
    }
    # If several values are assigned to one place, the last one counts: the smallest.
    low <- pmin(a[apart], b[apart])
    high <- pmax(a[apart], b[apart])
    by <- order(-low)
    member[high[by]] <- low[by]
    repeat {
      next_member <- member[member]
      if (identical(next_member, member)) {
        break
      }
      member <- next_member
    }
  }
  match(member, unique(member))
}

# Turns a component so that arrows point downwards on average, or, if it is long, to the right. Without arrows it is wide.
# A path of three is straight or a V.
point_down <- function(xy, group, arrows) {
  from <- match(arrows$from, group)
  to <- match(arrows$to, group)
  if (nrow(xy) == 3L && all(xy[, 2L] == 0)) {
    return(place_three(which(xy[, 1L] == 1), from, to))
  }
  flow <- colSums(xy[to, , drop = FALSE] - xy[from, , drop = FALSE])
  if (sum(flow^2) < 1e-9) {
    return(xy)
  }
  turn <- -pi / 2 - atan2(flow[2L], flow[1L])
  xy <- xy %*% rbind(c(cos(turn), sin(turn)), c(-sin(turn), cos(turn)))
  extent <- apply(xy, 2L, function(x) max(x) - min(x))
  if (nrow(xy) > 3L && extent[2L] > 3 * extent[1L]) cbind(-xy[, 2L], xy[, 1L]) else xy
}

# Returns positions of a path of three: a cause or an effect of both others stands above or below them, a chain of arrows
# points down, and others lie in a row.
place_three <- function(middle, from, to) {
  ends <- setdiff(1:3, middle)
  xy <- matrix(0, 3L, 2L)
  if (length(from) == 2L && length(unique(to)) == 1L) {
    xy[ends, ] <- c(-0.7, 0.7, 0.8, 0.8)
  } else if (length(from) == 2L && length(unique(from)) == 1L) {
    xy[ends, ] <- c(-0.7, 0.7, -0.8, -0.8)
  } else if (length(from) == 2L) {
    xy[setdiff(from, to), 2L] <- 1
    xy[setdiff(to, from), 2L] <- -1
  } else {
    xy[ends, 1L] <- c(-1, 1)
  }
  xy
}

# Moves overlapping boxes apart: each pair along the axis that needs less, both by the same amount. If boxes still
# overlap after all rounds, one sweep outwards from the middle separates them, which always succeeds. edges: list(from,
# to) of pairs that need room for the marks of their edge, or NULL.
push_apart <- function(xy, size, aspect = 1, edges = NULL, rounds = 60L) {
  gap <- 0.6 * mean(size[, 2L])
  for_marks <- if (is.null(edges)) gap else 1.5 * mean(size[, 2L])
  slack <- 2 * gap
  n <- nrow(xy)
  joined <- pmax(edges$from, edges$to) * n + pmin(edges$from, edges$to)
  xy <- make_room(xy, size, gap, aspect)
  while (rounds > 0L) {
    # Only these boxes can come near each other while none has moved by more than half of the slack.
    pairs <- near_pairs(xy, size, max(gap, for_marks) + slack)
    between <- ifelse((pairs$a * n + pairs$b) %in% joined, for_marks, gap)
    wide <- (size[pairs$a, 1L] + size[pairs$b, 1L]) / 2 + between
    high <- (size[pairs$a, 2L] + size[pairs$b, 2L]) / 2 + between
    was <- xy
    while (rounds > 0L && max(abs(xy - was)) <= slack / 2) {
      rounds <- rounds - 1L
      dx <- xy[pairs$a, 1L] - xy[pairs$b, 1L]
      dy <- xy[pairs$a, 2L] - xy[pairs$b, 2L]
      over_x <- wide - abs(dx)
      over_y <- high - abs(dy)
      hit <- over_x > 1e-9 & over_y > 1e-9
      if (!any(hit)) {
        return(xy)
      }
      sideways <- hit & over_x < over_y
      # If the centres coincide in a coordinate, the numbers of the nodes decide the directions.
      push_x <- 0.3 * over_x * sideways * ifelse(dx < 0, -1, 1)
      push_y <- 0.3 * over_y * (hit & !sideways) * ifelse(dy < 0, -1, 1)
      xy <- xy +
        cbind(
          sum_by(push_x, pairs$by_a) - sum_by(push_x, pairs$by_b),
          sum_by(push_y, pairs$by_a) - sum_by(push_y, pairs$by_b)
        )
    }
  }
  sweep_apart(xy, size, gap / 2)
}

# Evens out the layout if boxes have too little room, and enlarges it until the boxes fill half of the ellipse with its
# spread. It grows more along the axis in which the page has more room. Evening out moves coordinates towards their
# ranks. So left stays left, and the crowd in the middle of a large graph spreads over the page.
make_room <- function(xy, size, gap, aspect) {
  n <- nrow(xy)
  radius <- function(xy) 2 * apply(xy, 2L, stats::sd) + colMeans(size) / 2
  need <- function(xy) 2 * sum((size[, 1L] + gap) * (size[, 2L] + gap)) / (pi * prod(radius(xy)))
  before <- need(xy)
  if (before <= 1 || length(near_pairs(xy, size, gap, most = n / 2)$a) <= n / 2) {
    return(xy)
  }
  share <- 0.5 * (1 - 1 / before)
  xy <- apply(xy, 2L, function(x) {
    even <- min(x) + (rank(x, ties.method = "first") - 1) / (n - 1) * (max(x) - min(x))
    (1 - share) * x + share * even
  })
  wide <- radius(xy)[1L] / (radius(xy)[2L] * aspect)
  longer <- max(1, min(max(wide, 1 / wide), need(xy)))
  xy <- xy * rep(if (wide > 1) c(1, longer) else c(longer, 1), each = n)
  xy * sqrt(max(1, need(xy)))
}

# Moves each box as far above the boxes already passed as necessary, from the middle up; then from the middle down.
sweep_apart <- function(xy, size, gap) {
  middle <- mean(xy[, 2L])
  turn <- order(xy[, 2L])
  up <- turn[xy[turn, 2L] >= middle]
  down <- rev(turn[xy[turn, 2L] < middle])
  passed <- integer()
  for (node in c(up, down)) {
    beside <- abs(xy[passed, 1L] - xy[node, 1L]) < (size[passed, 1L] + size[node, 1L]) / 2 + gap
    others <- passed[beside]
    if (length(others)) {
      high <- (size[others, 2L] + size[node, 2L]) / 2 + gap
      xy[node, 2L] <- if (length(passed) < length(up)) {
        max(xy[node, 2L], xy[others, 2L] + high)
      } else {
        min(xy[node, 2L], xy[others, 2L] - high)
      }
    }
    passed <- c(passed, node)
  }
  xy
}

# Returns the pairs of boxes with less than `gap` between them, a > b, and indices to sum over them by a and by b. If
# there are more than `most` pairs, it returns more than `most`, but not all. Boxes are sorted by height and compared
# with the next one, the next but one, and so on while any can be near enough.
near_pairs <- function(xy, size, gap, most = Inf) {
  n <- nrow(xy)
  sorted <- order(xy[, 2L])
  x <- xy[sorted, 1L]
  y <- xy[sorted, 2L]
  wide <- size[sorted, 1L] / 2
  high <- size[sorted, 2L] / 2
  reach <- 2 * max(high) + gap
  found <- list()
  count <- 0
  first <- seq_len(n - 1L)
  for (ahead in seq_len(n - 1L)) {
    first <- first[first <= n - ahead]
    first <- first[y[first + ahead] - y[first] < reach]
    if (length(first) == 0L || count > most) {
      break
    }
    second <- first + ahead
    near <- abs(x[first] - x[second]) < wide[first] + wide[second] + gap &
      y[second] - y[first] < high[first] + high[second] + gap
    found[[ahead]] <- cbind(first[near], second[near])
    count <- count + sum(near)
  }
  found <- do.call(rbind, c(list(matrix(0L, 0L, 2L)), found))
  a <- pmax(sorted[found[, 1L]], sorted[found[, 2L]])
  b <- pmin(sorted[found[, 1L]], sorted[found[, 2L]])
  list(a = a, b = b, by_a = summing(a, n), by_b = summing(b, n))
}

# Prepares repeated sums of values by the same groups 1..n: sum_by(values, summing(group, n)).
summing <- function(group, n) {
  list(order = order(group), ends = cumsum(tabulate(group, n)))
}

sum_by <- function(values, by) {
  diff(c(0, c(0, cumsum(values[by$order]))[by$ends + 1L]))
}

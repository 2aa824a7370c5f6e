# Computes positions for the nodes of a graph. Deterministic: it draws no random number, so the state of R's generator
# does not change.
#
# Each connected component is laid out by stress majorisation (R/plot-stress.R). Overlapping boxes are then pushed
# apart, the components are packed in rows, and nodes without an edge stand in rows at the bottom.

# Returns an n x 2 matrix of centres, in the unit of `size`, from 0 up. edges: a data frame with from, to and kind, one
# row for each pair. size: an n x 2 matrix, width and height of each box. aspect: width over height of the space.
# shapes: the slow part, which does not depend on `size`; a promise, for callers that try several sizes.
layout_graph <- function(n, edges, size, aspect, shapes = component_shapes(n, edges)) {
  # Long labels do not push neighbours far apart, because there is room above and below them.
  step <- min(0.6 * mean(size[, 1L]), 4 * mean(size[, 2L])) + 2.2 * mean(size[, 2L])
  xy <- matrix(0, n, 2L)
  member <- shapes$member
  arrows <- edges[edges$kind == "directed", , drop = FALSE]
  arrows <- split(arrows, factor(member[arrows$from], levels = seq_len(max(member, 0L))))
  for (k in seq_along(shapes$groups)) {
    group <- shapes$groups[[k]]
    place <- point_down(shapes$places[[k]] * step, group, arrows[[member[group[1L]]]])
    xy[group, ] <- push_apart(place, size[group, , drop = FALSE], aspect)
  }
  pack(xy, size, shapes$groups, shapes$alone, aspect)
}

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

# Turns the component so that arrows point downwards on average, or makes it wide if it has no arrows.
point_down <- function(xy, group, arrows) {
  from <- match(arrows$from, group)
  to <- match(arrows$to, group)
  flow <- colSums(xy[to, , drop = FALSE] - xy[from, , drop = FALSE])
  if (sum(flow^2) > 1e-9 && nrow(xy) > 2L) {
    turn <- -pi / 2 - atan2(flow[2L], flow[1L])
    return(xy %*% rbind(c(cos(turn), sin(turn)), c(-sin(turn), cos(turn))))
  }
  if (flow[2L] > 0) xy * rep(c(1, -1), each = nrow(xy)) else xy
}

# Moves overlapping boxes apart: each pair along the axis that needs less, both by the same amount. If boxes still
# overlap after all rounds, one sweep outwards from the middle separates them, which always succeeds.
push_apart <- function(xy, size, aspect = 1, rounds = 60L) {
  gap <- 0.6 * mean(size[, 2L])
  slack <- 2 * gap
  xy <- make_room(xy, size, gap, aspect)
  while (rounds > 0L) {
    # Only these boxes can come near each other while none has moved by more than half of the slack.
    pairs <- near_pairs(xy, size, gap + slack)
    wide <- (size[pairs$a, 1L] + size[pairs$b, 1L]) / 2 + gap
    high <- (size[pairs$a, 2L] + size[pairs$b, 2L]) / 2 + gap
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

# Places components side by side, with nodes without an edge below them. The width makes the best use of a space with
# this aspect.
pack <- function(xy, size, groups, alone, aspect) {
  if (nrow(xy) == 0L) {
    return(xy)
  }
  gap <- 1.5 * mean(size[, 2L])
  low_high <- function(group) {
    low <- apply(xy[group, , drop = FALSE] - size[group, , drop = FALSE] / 2, 2L, min)
    high <- apply(xy[group, , drop = FALSE] + size[group, , drop = FALSE] / 2, 2L, max)
    c(low, high - low + gap)
  }
  groups <- groups[order(-lengths(groups))]
  box <- vapply(groups, low_high, numeric(4L))
  blocks <- t(box[3:4, , drop = FALSE])
  single <- size[alone, , drop = FALSE] + gap
  area <- sum(blocks[, 1L] * blocks[, 2L]) + sum(single[, 1L] * single[, 2L])
  rooms <- unique(pmax(max(blocks[, 1L], single[, 1L]), sqrt(area * aspect) * seq(0.9, 1.8, by = 0.1)))
  best <- NULL
  for (room in rooms) {
    above <- shelves(blocks, room)
    below <- shelves(single, room)
    extent <- pmax(above$extent, below$extent)
    extent[2L] <- above$extent[2L] + below$extent[2L]
    need <- max(extent[1L] / aspect, extent[2L])
    if (is.null(best) || need < 0.999 * best$need) {
      best <- list(need = need, above = above, below = below)
    }
  }
  # Rows are counted from the top down, coordinates from the bottom up.
  for (k in seq_along(groups)) {
    shift <- c(best$above$left[k] - box[1L, k], -best$above$top[k] - box[4L, k] - box[2L, k])
    xy[groups[[k]], ] <- sweep(xy[groups[[k]], , drop = FALSE], 2L, shift, `+`)
  }
  xy[alone, 1L] <- best$below$left + single[, 1L] / 2
  xy[alone, 2L] <- -best$above$extent[2L] - best$below$top - single[, 2L] / 2
  low <- apply(xy - size / 2, 2L, min)
  sweep(xy, 2L, low)
}

# Places blocks in rows at most `room` wide. If a block leaves room below it in its row, the next blocks stand there.
# Returns list(left, top, extent).
shelves <- function(blocks, room) {
  n <- nrow(blocks)
  left <- top <- numeric(n)
  row_top <- row_height <- 0
  column_left <- column_width <- column_height <- 0
  widest <- 0
  for (k in seq_len(n)) {
    wide <- blocks[k, 1L]
    high <- blocks[k, 2L]
    fits_below <- column_height > 0 && column_height + high <= row_height + 1e-9 && column_left + wide <= room + 1e-9
    if (!fits_below) {
      column_left <- column_left + column_width
      column_width <- column_height <- 0
      if (column_left > 0 && column_left + wide > room + 1e-9) {
        row_top <- row_top + row_height
        column_left <- row_height <- 0
      }
    }
    left[k] <- column_left
    top[k] <- row_top + column_height
    column_height <- column_height + high
    column_width <- max(column_width, wide)
    row_height <- max(row_height, column_height)
    widest <- max(widest, column_left + column_width)
  }
  list(left = left, top = top, extent = c(widest, row_top + row_height))
}

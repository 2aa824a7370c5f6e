# Layouts in layers: causes above their effects (Sugiyama, Tagawa and Toda 1981), tiers from left to right, and trees.
# Nodes get a layer; edges over several layers get a place in those between; each layer is ordered by the middles of the
# neighbours; and positions in a layer follow them, too, as near as the widths of the boxes allow.

# Edges with more places between their layers than this are not routed.
most_places <- 20000L

# Returns an n x 2 matrix of centres, from 0 up, with the attribute `bends`: a data frame of `edge`, x and y, the places
# through which edges run, in their order from the first end. tier: NULL, or a number for each node: layers of a later tier come later.
# across: whether layers stand side by side instead of below each other. layer: the layers, if they are known.
layout_layers <- function(n, edges, size, tier = NULL, across = FALSE, layer = NULL) {
  edges_from <- edges$from
  edges <- forwards(n, edges, tier)
  layer <- layer %||% layers_of(n, edges, tier)
  if (across) {
    size <- size[, 2:1, drop = FALSE]
  }
  high <- mean(size[, if (across) 1L else 2L])
  placed <- stack_components(n, edges, size[, 1L], layer, tier, high)
  tall <- tapply(size[, 2L], factor(placed$layer, seq_len(max(placed$layer))), max, default = 0)
  y <- cumsum(tall + (if (across) 2.5 else 1.8) * high) - tall / 2
  on_page <- function(x, layer) if (across) cbind(y[layer], -x) else cbind(x, -y[layer])
  xy <- on_page(placed$x, placed$layer)
  boxes <- if (across) size[, 2:1, drop = FALSE] else size
  at <- on_page(placed$bends$x, placed$bends$layer)
  turned <- placed$bends$from != edges_from[placed$bends$edge]
  bends <- data.frame(edge = placed$bends$edge, x = at[, 1L], y = at[, 2L])
  bends <- bends[order(bends$edge, ifelse(turned, -1, 1) * placed$bends$step), ]
  bends <- rbind(bends, arcs_in_layers(edges, placed, xy, tall, high, across))
  if (n <= most_in_tiers) {
    bends <- rbind(bends, bends_at_sides(edges, edges_from, placed$layer, xy, boxes, high, across, bends$edge))
  }
  low <- apply(rbind(xy - boxes / 2, as.matrix(bends[2:3])), 2L, min)
  bends[2:3] <- Map(`-`, bends[2:3], low)
  structure(sweep(xy, 2L, low), bends = bends)
}

# Returns bends of straight edges that would run behind a box: they leave and reach their boxes at the sides towards the
# other layer. bent: the edges that have bends.
bends_at_sides <- function(edges, edges_from, layer, xy, boxes, high, across, bent) {
  found <- list()
  axis <- if (across) 1L else 2L
  for (at in which(!edges$row %in% bent & layer[edges$from] != layer[edges$to])) {
    ends <- c(edges$from[at], edges$to[at])
    if (edges_from[edges$row[at]] != ends[1L]) {
      ends <- rev(ends)
    }
    others <- setdiff(seq_len(nrow(xy)), ends)
    if (
      any(are_crossed(xy[ends[1L], ], xy[ends[2L], ], xy[others, , drop = FALSE], 0.9 * boxes[others, , drop = FALSE]))
    ) {
      places <- xy[ends, ]
      ahead <- sign(places[2L, axis] - places[1L, axis])
      places[, axis] <- places[, axis] + c(1, -1) * ahead * (boxes[ends, axis] / 2 + 0.5 * high)
      found[[length(found) + 1L]] <- data.frame(edge = edges$row[at], x = places[, 1L], y = places[, 2L])
    }
  }
  do.call(rbind, found)
}

# Returns which boxes the straight line from `first` to `last` crosses.
are_crossed <- function(first, last, xy, boxes) {
  along <- last - first
  along[along == 0] <- 1e-12
  low <- high <- matrix(0, nrow(xy), 2L)
  for (axis in 1:2) {
    of <- (xy[, axis] + outer(boxes[, axis] / 2, c(-1, 1)) - first[axis]) / along[axis]
    low[, axis] <- pmin(of[, 1L], of[, 2L])
    high[, axis] <- pmax(of[, 1L], of[, 2L])
  }
  pmax(low[, 1L], low[, 2L], 0) < pmin(high[, 1L], high[, 2L], 1)
}

# Returns a bend for each edge within a layer that would run through a box, towards the layer before.
arcs_in_layers <- function(edges, placed, xy, tall, high, across) {
  level <- which(placed$layer[edges$from] == placed$layer[edges$to])
  is_hidden <- vapply(
    level,
    function(at) {
      ends <- range(placed$x[c(edges$from[at], edges$to[at])])
      any(placed$layer == placed$layer[edges$from[at]] & placed$x > ends[1L] & placed$x < ends[2L])
    },
    NA
  )
  level <- level[is_hidden]
  middle <- (xy[edges$from[level], , drop = FALSE] + xy[edges$to[level], , drop = FALSE]) / 2
  aside <- 0.75 * tall[placed$layer[edges$from[level]]] + 0.4 * high
  axis <- if (across) 1L else 2L
  middle[, axis] <- middle[, axis] + (if (across) -aside else aside)
  data.frame(edge = edges$row[level], x = middle[, 1L], y = middle[, 2L])
}

# Returns list(x, layer, bends): coordinates in the layers, and the places of edges: a data frame of `edge`, `step`, x, `layer`
# and the edge's ends. Components are stacked, the largest first, each as near to the ones
# before as its layers allow. Nodes without an edge go where their tier has most room, in further layers if it has little.
stack_components <- function(n, edges, wide, layer, tier, high) {
  gap <- 0.7 * high
  member <- components(n, edges)
  groups <- unname(split(seq_len(n), member))
  groups <- groups[order(-lengths(groups))]
  lines <- split(seq_along(edges$from), factor(member[edges$from], seq_len(max(member))))
  top <- numeric(max(layer))
  x <- numeric(n)
  bends <- list(data.frame(
    edge = integer(),
    step = integer(),
    x = numeric(),
    layer = integer(),
    from = integer(),
    to = integer()
  ))
  for (group in groups[lengths(groups) > 1L]) {
    own <- lines[[member[group[1L]]]]
    routed <- with_places(match(edges$from[own], group), match(edges$to[own], group), layer[group])
    # A place between layers is a narrow box.
    room <- c(wide[group], rep(0.3 * high, length(routed$layer) - length(group))) + gap
    at <- in_layers(order_layers(routed), routed, room, length(group))
    shift <- max(top[routed$layer] - (at - room / 2))
    x[group] <- at[seq_along(group)] + shift
    bends[[length(bends) + 1L]] <- data.frame(
      edge = edges$row[own[routed$line]],
      step = routed$step,
      x = (at + shift)[-seq_along(group)],
      layer = routed$layer[-seq_along(group)],
      from = group[routed$ends[, 1L]],
      to = group[routed$ends[, 2L]]
    )
    ends <- tapply(at + room / 2 + shift, routed$layer, max)
    top[as.integer(names(ends))] <- ends
  }
  alone <- unlist(groups[lengths(groups) == 1L])
  tier <- tier %||% rep(1, n)
  # Below all components, where no edge runs. The picture is about as wide as high.
  base <- max(top)
  most <- max(base + 3 * (mean(wide) + gap), ceiling(sqrt(1.6 * n)) * (mean(wide) + gap))
  first <- vapply(split(layer, tier), min, 0L)
  columns <- lapply(seq_along(first), function(k) {
    last <- if (k < length(first)) first[k + 1L] - 1L else max(layer)
    list(top = rep(base, last - first[k] + 1L), added = 0L)
  })
  place <- integer(n)
  for (node in alone) {
    k <- match(tier[node], as.numeric(names(first)))
    of <- columns[[k]]$top
    at <- which.min(of)
    if (of[at] + wide[node] + gap > most && of[at] > base) {
      at <- length(of) + 1L
      of[at] <- base
      columns[[k]]$added <- columns[[k]]$added + 1L
    }
    x[node] <- of[at] + (wide[node] + gap) / 2
    of[at] <- of[at] + wide[node] + gap
    columns[[k]]$top <- of
    place[node] <- at
  }
  before <- cumsum(c(0L, vapply(columns, `[[`, 0L, "added")))
  k <- match(tier, as.numeric(names(first)))
  new <- layer + before[k]
  new[alone] <- first[k[alone]] + before[k[alone]] + place[alone] - 1L
  bends <- do.call(rbind, bends)
  of_bends <- bends$layer + before[findInterval(bends$layer, first)]
  used <- sort(unique(c(new, of_bends)))
  bends$layer <- match(of_bends, used)
  list(x = x, layer = match(new, used), bends = bends)
}

# Returns list(from, to, row, sequence): the edges from earlier nodes to later ones, their rows, and the order of the nodes. Arrows keep their direction unless they are in a cycle or point to
# an earlier tier. Other edges lead away from the node with most neighbours of their kind.
forwards <- function(n, edges, tier) {
  is_arrow <- edges$kind %in% c("directed", "-->", "o->")
  lines <- edges[!is_arrow, ]
  depth <- depths(n, lines)
  turned <- depth[lines$from] > depth[lines$to]
  from <- c(edges$from[is_arrow], ifelse(turned, lines$to, lines$from))
  to <- c(edges$to[is_arrow], ifelse(turned, lines$from, lines$to))
  sequence <- order(tier %||% rep(1, n), topological(n, from, to))
  place <- order(sequence)
  back <- place[from] > place[to]
  list(
    from = ifelse(back, to, from),
    to = ifelse(back, from, to),
    row = c(which(is_arrow), which(!is_arrow)),
    sequence = sequence
  )
}

# Returns the number of steps along edges from a node with most neighbours in its component.
depths <- function(n, edges, roots = integer()) {
  near <- neighbour_lists(n, edges)
  depth <- rep(NA_real_, n)
  for (root in c(roots, order(-lengths(near)))) {
    if (is.na(depth[root])) {
      front <- root
      depth[root] <- 0
      while (length(front)) {
        after <- unique(unlist(near[front], use.names = FALSE))
        after <- after[is.na(depth[after])]
        depth[after] <- depth[front[1L]] + 1
        front <- after
      }
    }
  }
  depth
}

# Returns the place of each node in an order in which arrows point forwards. If a cycle is left, its node with the most
# arrows out of it in excess of those into it comes next.
topological <- function(n, from, to) {
  after <- split(to, factor(from, seq_len(n)))
  open <- tabulate(to, n)
  out <- lengths(after)
  place <- integer(n)
  ready <- which(open == 0L)
  done <- 0L
  while (done < n) {
    if (!length(ready)) {
      left <- which(place == 0L)
      ready <- left[which.max(out[left] - open[left])]
    }
    node <- ready[1L]
    ready <- ready[-1L]
    done <- done + 1L
    place[node] <- done
    next_ones <- after[[node]]
    open[next_ones] <- open[next_ones] - 1L
    ready <- c(ready, next_ones[open[next_ones] == 0L & place[next_ones] == 0L])
  }
  place
}

# Returns the layer of each node: the longest way to it. Nodes that nothing leads to stand just before what they lead to.
layers_of <- function(n, edges, tier) {
  layer <- integer(n)
  into <- split(edges$from, factor(edges$to, seq_len(n)))
  first <- 1L
  now <- tier[edges$sequence[1L]]
  # Edges come from earlier nodes, so one pass finds the longest ways.
  for (node in edges$sequence) {
    if (!is.null(tier) && tier[node] != now) {
      now <- tier[node]
      first <- max(layer) + 1L
    }
    layer[node] <- max(first, layer[into[[node]]] + 1L)
  }
  out <- split(edges$to, factor(edges$from, seq_len(n)))
  for (node in setdiff(edges$from, edges$to)) {
    others <- out[[node]]
    if (!is.null(tier)) {
      others <- others[tier[others] == tier[node]]
    }
    if (length(others)) layer[node] <- max(layer[node], min(layer[others]) - 1L)
  }
  layer
}

# Returns list(layer, from, to, line, step, ends, part) of nodes and of the places of edges, in the layers that an edge
# crosses between its ends. from, to: those of the parts of edges. line: the edge of a place; step: its number among the
# edge's places; ends: the edge's ends; part: how far it is from the first.
with_places <- function(from, to, layer) {
  n <- length(layer)
  span <- layer[to] - layer[from]
  turned <- span < 0
  first <- ifelse(turned, to, from)
  last <- ifelse(turned, from, to)
  span <- abs(span)
  more <- pmax(span - 1L, 0L)
  if (sum(more) > most_places) {
    more[] <- 0L
  }
  new <- n + seq_len(sum(more))
  line <- rep(seq_along(more), more)
  step <- sequence(more)
  short <- more == 0L & span > 0L
  end <- step == more[line]
  list(
    layer = c(layer, layer[first[line]] + step),
    from = c(first[short], ifelse(step == 1L, first[line], new - 1L), new[end]),
    to = c(last[short], new, last[line[end]]),
    line = line,
    step = step,
    ends = cbind(first[line], last[line]),
    part = step / span[line]
  )
}

# Returns the places in order of their layers, and within a layer in the order with few crossings.
order_layers <- function(routed) {
  count <- length(routed$layer)
  near <- neighbour_lists(count, data.frame(from = routed$from, to = routed$to))
  x <- as.double(order(order(routed$layer, depths(count, data.frame(from = routed$from, to = routed$to)))))
  best <- NULL
  for (round in 1:12) {
    down <- round %% 2L == 1L
    for (at in if (down) seq_len(max(routed$layer)) else rev(seq_len(max(routed$layer)))) {
      own <- which(routed$layer == at)
      middle <- vapply(
        own,
        function(node) {
          others <- near[[node]]
          others <- others[(routed$layer[others] < at) == down]
          if (length(others)) mean(x[others]) else x[node]
        },
        0
      )
      by <- own[order(middle, x[own])]
      # Places in a layer are counted from its middle.
      x[by] <- seq_along(by) - (length(by) + 1) / 2
    }
    crossed <- crossings(routed, x)
    if (is.null(best) || crossed < best$crossed) {
      best <- list(crossed = crossed, x = x)
    }
  }
  order(routed$layer, best$x)
}

# Returns the number of crossings of edges between the same two layers; of a sample of the edges if there are many.
crossings <- function(routed, x) {
  sum(vapply(
    split(seq_along(routed$from), pmin(routed$layer[routed$from], routed$layer[routed$to])),
    function(lines) {
      lines <- lines[unique(round(seq(1, length(lines), length.out = min(length(lines), 1000L))))]
      a <- x[routed$from[lines]]
      b <- x[routed$to[lines]]
      sum(outer(a, a, `<`) & outer(b, b, `>`))
    },
    0
  ))
}

# Returns coordinates within layers. Each node is near the middle of its neighbours. Each place is on the straight line of
# its edge, and boxes make room for it. `sorted`: the places by layer and order. The first n are nodes.
in_layers <- function(sorted, routed, wide, n) {
  rows <- unname(split(sorted, routed$layer[sorted]))
  room <- lapply(rows, function(row) cumsum(wide[row]) - wide[row] / 2)
  x <- numeric(length(wide))
  for (k in seq_along(rows)) {
    x[rows[[k]]] <- room[[k]] - mean(range(room[[k]]))
  }
  from <- c(routed$from, routed$to)
  to <- c(routed$to, routed$from)
  by_from <- summing(from, length(wide))
  degree <- tabulate(from, length(wide))
  places <- n + seq_along(routed$part)
  on_lines <- function(x) x[routed$ends[, 1L]] * (1 - routed$part) + x[routed$ends[, 2L]] * routed$part
  for (round in 1:60) {
    wanted <- ifelse(degree > 0, sum_by(x[to], by_from) / pmax(degree, 1L), x)
    wanted[places] <- on_lines(x)
    for (k in seq_along(rows)) {
      row <- rows[[k]]
      x[row] <- increasing(wanted[row] - room[[k]], ifelse(row > n, 8, 1)) + room[[k]]
    }
  }
  x
}

# Returns the increasing values nearest to x, by weighted squares (pool adjacent violators).
increasing <- function(x, weight) {
  if (!is.unsorted(x)) {
    return(x)
  }
  mean <- total <- count <- numeric(length(x))
  last <- 0L
  for (k in seq_along(x)) {
    last <- last + 1L
    mean[last] <- x[k]
    total[last] <- weight[k]
    count[last] <- 1
    while (last > 1L && mean[last - 1L] > mean[last]) {
      both <- total[last - 1L] + total[last]
      mean[last - 1L] <- (mean[last - 1L] * total[last - 1L] + mean[last] * total[last]) / both
      total[last - 1L] <- both
      count[last - 1L] <- count[last - 1L] + count[last]
      last <- last - 1L
    }
  }
  rep(mean[seq_len(last)], count[seq_len(last)])
}

# Returns positions on a circle, component by component, in the order of the angles of our own layout, so that neighbours
# are close.
layout_circle <- function(n, edges, size) {
  own <- layout_graph(n, edges, size, 1)
  member <- components(n, edges)
  away <- own - rowsum(own, member)[member, , drop = FALSE] / tabulate(member)[member]
  turn <- order(order(member, -atan2(away[, 2L], away[, 1L])))
  angle <- pi / 2 - 2 * pi * (turn - 1) / max(n, 1)
  at <- n * mean(size) * cbind(cos(angle), sin(angle))
  gap <- 0.3 * mean(size[, 2L])
  apart <- function(factor) length(near_pairs(factor * at, size, gap, most = 0)$a) > 0L
  xy <- at * fitting_cex(1, function(factor) apart(0.96 * factor))
  sweep(xy, 2L, apply(xy - size / 2, 2L, min))
}

# Returns the function that computes a layout of ours: of n, edges, size and aspect, as layout_graph(). tier: the tier of
# each node.
own_layout <- function(name, tier = NULL, focus = NULL) {
  switch(
    name,
    tiers = function(n, edges, size, aspect) layout_layers(n, edges, size, tier, across = TRUE),
    circle = function(n, edges, size, aspect) layout_circle(n, edges, size),
    layered = function(n, edges, size, aspect) {
      layout_parts(n, edges, size, aspect, function(n, edges, size, nodes) layout_layers(n, edges, size))
    },
    tree = function(n, edges, size, aspect) {
      layout_parts(n, edges, size, aspect, function(n, edges, size, nodes) {
        layout_layers(n, edges, size, layer = as.integer(depths(n, edges, which(nodes %in% focus))) + 1L)
      })
    }
  )
}

# Lays out each component with `layout`, and packs them with their bends.
layout_parts <- function(n, edges, size, aspect, layout) {
  member <- components(n, edges)
  groups <- unname(split(seq_len(n), member))
  lines <- split(seq_len(nrow(edges)), factor(member[edges$from], seq_along(groups)))
  xy <- matrix(0, n, 2L)
  bends <- list()
  several <- which(lengths(groups) > 1L)
  for (k in several) {
    group <- groups[[k]]
    own <- edges[lines[[k]], ]
    own[c("from", "to")] <- lapply(own[c("from", "to")], match, group)
    found <- layout(length(group), own, size[group, , drop = FALSE], group)
    xy[group, ] <- found
    of <- attr(found, "bends")
    of$edge <- lines[[k]][of$edge]
    bends[[length(bends) + 1L]] <- of
  }
  packed <- pack(xy, size, groups[several], unlist(groups[lengths(groups) == 1L]), aspect, edges)
  bends <- do.call(rbind, bends)
  moved <- (packed - xy)[edges$from[bends$edge], , drop = FALSE]
  bends$x <- bends$x + moved[, 1L]
  bends$y <- bends$y + moved[, 2L]
  structure(packed, bends = bends)
}

# Draws every second tier on a light ground, from left to right, and their names. heads: the names of tiers 1, 2, ..., or
# NULL.
draw_tiers <- function(place, tiers, heads) {
  if (is.null(tiers) || !length(tiers)) {
    return(invisible())
  }
  half <- place$size[, 1L] / 2
  first <- tapply(place$xy[, 1L] - half, tiers, min)
  last <- tapply(place$xy[, 1L] + half, tiers, max)
  between <- (first[-1L] + last[-length(last)]) / 2
  left <- c(min(first) - min(half), between)
  right <- c(between, max(last) + min(half))
  left <- pmax(left, 0)
  right <- pmin(right, place$page[1L])
  shaded <- seq_along(first) %% 2L == 0L
  graphics::rect(left[shaded], place$low, right[shaded], place$page[2L], col = "#F4F4F4", border = NA)
  if (!is.null(heads)) {
    words <- heads[as.integer(names(first))]
    fits <- function(cex) all(graphics::strwidth(words, units = "inches", cex = cex) <= right - left)
    graphics::text(
      (left + right) / 2,
      place$page[2L] - 0.1,
      words,
      cex = fitting_cex(0.85, fits),
      font = 3L,
      col = "#5A5A5A"
    )
  }
}

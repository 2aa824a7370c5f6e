# Packs the components of a graph close to each other, as polyominoes (Freivalds, Dogrusoz and Kikusts 2002): each covers
# cells of a grid, and is placed as near to the middle as its cells allow. So small components and nodes without an edge
# fill the space that the large ones leave.

# Cells of the grid for each component, and for all components together at least and at most.
cells_each <- 60L
least_cells <- 3000L
most_cells <- 30000L

# Returns positions from 0 up. groups: the nodes of components with edges; alone: nodes without an edge. aspect: width
# over height of the space.
pack <- function(xy, size, groups, alone, aspect, edges) {
  blocks <- c(groups, as.list(alone))
  if (length(blocks) > 1L) {
    # Two components must not look like one.
    gap <- rep(1.2 * mean(size[, 2L]), length(blocks))
    ends <- vapply(seq_along(blocks), function(k) extent_of(xy, size, blocks[[k]], gap[k]), numeric(4L))
    sides <- t(ends[3:4, , drop = FALSE] - ends[1:2, , drop = FALSE])
    count <- max(min(cells_each * length(blocks), most_cells), least_cells)
    cell <- (sum(sides) + sqrt(sum(sides)^2 + 4 * count * sum(sides[, 1L] * sides[, 2L]))) / (2 * count)
    member <- integer(nrow(xy))
    member[unlist(blocks)] <- rep(seq_along(blocks), lengths(blocks))
    lines <- split(seq_len(nrow(edges)), factor(member[edges$from], seq_along(blocks)))
    # Lone nodes of similar widths get equal places, in which they can be read in their order.
    lone <- sides[seq_along(blocks) > length(groups), , drop = FALSE]
    own <- sides
    if (nrow(lone) && max(lone[, 1L]) < 1.6 * mean(lone[, 1L])) {
      sides[seq_along(blocks) > length(groups), ] <- rep(apply(lone, 2L, max), each = nrow(lone))
    }
    shapes <- lapply(seq_along(blocks), function(k) {
      if (k > length(groups)) {
        sides_of <- pmax(ceiling(sides[k, ] / cell - 1e-9), 1)
        return(matrix(TRUE, sides_of[1L], sides_of[2L]))
      }
      cells_of(xy, size, blocks[[k]], edges[lines[[k]], , drop = FALSE], ends[1:2, k], gap[k] / 2, cell)
    })
    by <- order(-rowSums(sides), -lengths(blocks))
    places <- in_reading_order(place_shapes(shapes[by], aspect), shapes[by], by > length(groups))
    for (k in seq_along(blocks)) {
      shift <- places[match(k, by), ] * cell - ends[1:2, k] + (sides[k, ] - own[k, ]) / 2
      xy[blocks[[k]], ] <- xy[blocks[[k]], , drop = FALSE] + rep(shift, each = length(blocks[[k]]))
    }
  }
  if (nrow(xy)) sweep(xy, 2L, apply(xy - size / 2, 2L, min)) else xy
}

# Exchanges the places of nodes without an edge and with equal boxes, so that they are read in their order.
in_reading_order <- function(places, shapes, alone) {
  for (same in split(which(alone), vapply(shapes[alone], function(shape) paste(dim(shape), collapse = " "), ""))) {
    of <- places[same, , drop = FALSE]
    places[same, ] <- of[order(-of[, 2L], of[, 1L]), ]
  }
  places
}

# Returns the ends of the space that boxes need: left, bottom, right, top.
extent_of <- function(xy, size, nodes, gap) {
  at <- xy[nodes, , drop = FALSE]
  half <- size[nodes, , drop = FALSE] / 2
  c(apply(at - half, 2L, min), apply(at + half, 2L, max)) + gap / 2 * c(-1, -1, 1, 1)
}

# Returns the cells that a component covers, as a logical matrix by x and y: those of its boxes with `margin` around them
# and of its edges, and the holes between these. low: the component's lower left corner.
cells_of <- function(xy, size, nodes, edges, low, margin, cell) {
  at <- function(points) floor(sweep(points, 2L, low) / cell + 1e-9) + 1L
  first <- at(xy[nodes, , drop = FALSE] - size[nodes, , drop = FALSE] / 2 - margin)
  last <- at(xy[nodes, , drop = FALSE] + size[nodes, , drop = FALSE] / 2 + margin - 2e-9 * cell)
  wide <- last[, 1L] - first[, 1L] + 1L
  high <- last[, 2L] - first[, 2L] + 1L
  x <- sequence(wide, first[, 1L])
  columns <- rep(seq_along(nodes), wide)
  covered <- cbind(rep(x, high[columns]), sequence(high[columns], first[columns, 2L]))
  if (nrow(edges)) {
    from <- xy[edges$from, , drop = FALSE]
    along <- xy[edges$to, , drop = FALSE] - from
    steps <- pmax(ceiling(2 * sqrt(rowSums(along^2)) / cell), 1L)
    line <- rep(seq_along(steps), steps)
    part <- sequence(steps) / steps[line]
    covered <- rbind(covered, at(from[line, , drop = FALSE] + part * along[line, , drop = FALSE]))
  }
  cells <- matrix(FALSE, max(covered[, 1L]), max(covered[, 2L]))
  cells[covered] <- TRUE
  # A hole has cells on all four sides.
  between <- function(cells) {
    of <- function(line) cummax(line) & rev(cummax(rev(line)))
    matrix(apply(cells, 2L, of), nrow(cells)) == 1
  }
  between(cells) & t(between(t(cells)))
}

# Returns the lower left corner of each shape, in cells. Positions are tried from the middle outwards; rectangles with the
# space's aspect are equally far out. There are more than twice as many positions as cells, so each shape finds one.
place_shapes <- function(shapes, aspect) {
  sides <- t(vapply(shapes, dim, integer(2L)))
  most <- apply(sides, 2L, max)
  wide <- ceiling(sqrt(2.5 * sum(vapply(shapes, length, 0L)) * c(aspect, 1 / aspect))) + 2L * most
  taken <- matrix(FALSE, wide[1L] + 2L * most[1L], wide[2L] + 2L * most[2L])
  rows <- nrow(taken)
  x <- most[1L] + seq_len(wide[1L])
  y <- most[2L] + seq_len(wide[2L])
  out_x <- abs(x - mean(x)) / aspect
  out_y <- abs(y - mean(y))
  out <- outer(out_x, out_y, pmax)
  free <- as.vector(outer(x, (y - 1L) * rows, `+`))[order(out, outer(out_x, out_y, `+`))]
  corners <- matrix(0, length(shapes), 2L)
  away <- first <- NULL
  for (k in seq_along(shapes)) {
    cells <- which(shapes[[k]], arr.ind = TRUE)
    own <- cells[, 1L] + (cells[, 2L] - 1L) * rows
    # The shape's own cell nearest to its middle lies on the position, which must be free.
    middle <- which.min(abs(cells[, 1L] - (sides[k, 1L] + 1) / 2) + abs(cells[, 2L] - (sides[k, 2L] + 1) / 2))
    if (!identical(own - own[middle], away)) {
      away <- own - own[middle]
      free <- free[!taken[free]]
      first <- 1L
    }
    # An equal shape did not fit on the positions before.
    count <- max(1L, 1000L %/% length(away))
    repeat {
      tried <- free[first:min(first + count - 1L, length(free))]
      fits <- which(rowSums(matrix(taken[as.vector(outer(tried, away, `+`))], length(tried))) == 0)
      if (length(fits)) {
        break
      }
      first <- first + count
      count <- min(2L * count, max(1L, 50000L %/% length(away)))
    }
    first <- first + fits[1L] - 1L
    place <- tried[fits[1L]]
    taken[place + away] <- TRUE
    corners[k, ] <- c((place - 1L) %% rows + 1L, (place - 1L) %/% rows + 1L) - cells[middle, ]
  }
  corners
}

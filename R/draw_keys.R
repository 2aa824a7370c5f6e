# Draws the legend of the colours and sizes of nodes: rows above the row of the edges, or to its right if there is room.

most_levels <- 12L

# Returns the pieces of an entry: what is drawn, its colour or size, and its text.
key_pieces <- function(key) {
  text <- function(words) list(draw = "text", text = words)
  swatch <- function(colour, words) list(draw = "swatch", colour = colour, text = words)
  title <- if (!is.null(key$title) && nzchar(key$title)) list(text(paste0(key$title, ":")))
  shown <- switch(key$kind,
    levels = {
      k <- min(length(key$labels), most_levels)
      left <- length(key$labels) - k
      c(Map(swatch, key$colours[seq_len(k)], key$labels[seq_len(k)], USE.NAMES = FALSE), if (left > 0L) list(text(sprintf("... and %s more", in_words(left)))))
    },
    range = if (diff(key$ends) > 0) {
      ends <- format_ends(key$ends)
      list(text(ends[1L]), list(draw = "bar", colours = key$colours, text = ends[2L]))
    } else {
      list(swatch(key$colours, format_ends(key$ends[1L])))
    },
    size = Map(function(diameter, end) list(draw = "dot", diameter = diameter, text = end), key$diameters, format_ends(key$ends), USE.NAMES = FALSE)
  )
  c(title, shown, if (isTRUE(key$missing)) list(swatch(no_value, "no value")))
}

# Formats each end separately: with common digits, 0.002 would turn 4.1 into 4.100.
format_ends <- function(ends) vapply(signif(ends, 3L), format, "", big.mark = thousands_mark(), digits = 3L)

mark_width <- c(text = 0, swatch = 0.16, bar = 1.25, dot = 0.32)

# Returns the positions of the pieces: list(left, row, right, rows, pieces, cex, scale, high). `start`: the width already used in the lowest row.
place_keys <- function(keys, page, start = 0) {
  keys <- keys[!vapply(keys, is.null, NA)]
  pieces <- unlist(lapply(keys, key_pieces), recursive = FALSE)
  if (!length(pieces)) {
    return(NULL)
  }
  of_key <- rep(seq_along(keys), lengths(lapply(keys, key_pieces)))
  marks <- mark_width[vapply(pieces, `[[`, "", "draw")]
  words <- vapply(pieces, `[[`, "", "text")
  widths <- function(scale) marks * scale + graphics::strwidth(words, units = "inches", cex = 0.75 * scale) + 0.12 * scale
  flow <- function(scale) {
    wide <- widths(scale)
    left <- row <- numeric(length(pieces))
    at <- start + if (start > 0) 0.2 * scale else 0.05 * scale
    now <- 0
    for (k in seq_along(pieces)) {
      # An entry begins a new row if the rest of this one is too short for it.
      rest <- if (k == 1L || of_key[k] != of_key[k - 1L]) sum(wide[of_key == of_key[k]]) else wide[k]
      if (at + rest > page[1L] && at > 0.06 * scale && (at + wide[k] > page[1L] || k == 1L || of_key[k] != of_key[k - 1L])) {
        now <- now + 1
        at <- 0.05 * scale
      }
      left[k] <- at
      row[k] <- now
      at <- at + wide[k]
      if (k < length(pieces) && of_key[k + 1L] != of_key[k]) at <- at + 0.15 * scale
    }
    list(left = left, row = row, right = max(left + wide), rows = now + 1)
  }
  high <- if ("dot" %in% names(marks)) 0.36 else 0.26
  scale <- fitting_cex(1, function(scale) {
    found <- flow(scale)
    found$right <= page[1L] && found$rows * high * scale <= 0.3 * page[2L]
  })
  c(flow(scale), list(pieces = pieces, cex = 0.75 * scale, scale = scale, high = high * scale))
}

# `bottom`: the middle of the lowest row. `unit`: the size in inches of a dot with diameter 1.
draw_keys <- function(keys, bottom, unit) {
  dots <- unlist(lapply(keys$pieces, `[[`, "diameter")) * unit
  # All dots shrink if the largest would not fit into its row.
  unit <- unit * min(1, 0.85 * keys$high / max(dots, 1e-9))
  for (k in seq_along(keys$pieces)) {
    piece <- keys$pieces[[k]]
    x <- keys$left[k]
    # The first row is at the top.
    y <- bottom + (keys$rows - 1 - keys$row[k]) * keys$high
    mark <- mark_width[[piece$draw]] * keys$scale
    if (piece$draw == "bar") {
      wide <- mark - 0.06 * keys$scale
      edges <- x + wide * (0:length(piece$colours)) / length(piece$colours)
      half <- 0.05 * keys$scale
      graphics::rect(edges[-length(edges)], y - half, edges[-1L], y + half, col = piece$colours, border = NA)
      graphics::rect(x, y - half, x + wide, y + half, border = "#7A7A7A", lwd = 0.5)
    } else if (piece$draw != "text") {
      diameter <- if (piece$draw == "dot") piece$diameter * unit else 0.11 * keys$scale
      fill <- piece$colour %||% dot_look$fill
      draw_nodes(cbind(x + mark / 2 - 0.02 * keys$scale, y), cbind(diameter, diameter), diameter, fill, node_look$border, 0.6)
    }
    graphics::text(x + mark, y, piece$text, cex = keys$cex, adj = c(0, 0.5))
  }
}

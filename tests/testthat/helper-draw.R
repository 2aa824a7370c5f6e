# Returns what a plot draws, read from an uncompressed PDF file: list(texts, lines, shapes, page), in inches.
drawn <- function(code, width = 7, height = 6) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(
    file,
    width,
    height,
    compress = FALSE,
    useKerning = FALSE,
    useDingbats = FALSE,
    encoding = "ISOLatin1.enc"
  )
  tryCatch(force(code), finally = grDevices::dev.off())
  page <- readLines(file, warn = FALSE, encoding = "bytes")
  begins <- grep("^stream", page, useBytes = TRUE)[1L]
  ends <- grep("^endstream", page, useBytes = TRUE)[1L]
  c(read_page(page[seq(begins + 1L, ends - 1L)]), list(page = c(width, height)))
}

# Runs code that draws, of which nothing is looked at.
on_no_page <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  force(code)
}

read_page <- function(commands) {
  ends <- function(pattern) grepl(pattern, commands, useBytes = TRUE)
  kind <- ifelse(commands %in% c("h f", "h B"), "shape", "other")
  kind[ends(" l$")] <- "point"
  kind[ends(" m$")] <- "first"
  kind[ends(" m .* l +S$")] <- "line"
  kind[ends("Tj$")] <- "text"
  kind[ends(" scn$")] <- "fill"
  kind[ends(" SCN$")] <- "stroke"
  # The numbers of all lines at once, as a page may have tens of thousands of lines.
  bare <- ifelse(kind == "text", sub("Tm .*", "", commands, useBytes = TRUE), ifelse(kind == "other", "", commands))
  numbers <- lapply(regmatches(bare, gregexpr("-?[0-9]+\\.[0-9]+", bare, useBytes = TRUE)), as.numeric)
  colour <- function(at) do.call(grDevices::rgb, as.list(at))
  texts <- lines <- shapes <- points <- list()
  stroke <- fill <- NA_character_
  for (i in which(kind != "other")) {
    line <- commands[i]
    at <- numbers[[i]]
    switch(
      kind[i],
      stroke = stroke <- colour(at),
      fill = fill <- colour(at),
      text = {
        label <- sub(".*Tm \\((.*)\\) Tj$", "\\1", line, useBytes = TRUE)
        label <- iconv(gsub("\\\\(.)", "\\1", label, useBytes = TRUE), "latin1", "UTF-8")
        texts[[length(texts) + 1L]] <- list(
          label = label,
          size = at[length(at) - 5L],
          x = at[length(at) - 1L] / 72,
          y = at[length(at)] / 72
        )
      },
      line = lines[[length(lines) + 1L]] <- data.frame(t(at / 72), colour = stroke),
      first = points <- list(at),
      point = points[[length(points) + 1L]] <- at,
      shape = shapes[[length(shapes) + 1L]] <- list(
        points = do.call(rbind, points) / 72,
        fill = fill,
        border = if (line == "h B") stroke else NA_character_
      )
    )
  }
  lines <- do.call(rbind, lines)
  if (!is.null(lines)) {
    names(lines)[1:4] <- c("x0", "y0", "x1", "y1")
  }
  if (length(texts)) {
    texts <- data.frame(lapply(c(label = "label", size = "size", x = "x", y = "y"), function(part) {
      sapply(texts, `[[`, part)
    }))
  } else {
    texts <- NULL
  }
  list(texts = texts, lines = lines, shapes = shapes)
}

# Expects that `picture` shows the graph `x` and nothing else: a box around every label, all on the page; a line for
# every edge, between its two boxes; a head at every end that has one. `title`, a legend and a note on what is no CPDAG
# may be there too.
expect_graph_drawn <- function(picture, x, title = NULL, labels = NULL) {
  listed <- pcgpu:::edges_of(x)
  edges <- pcgpu:::table_of_lists(listed$edges, listed$weights)
  labels <- labels %||% listed$labels
  legend <- if (length(unique(edges$kind)) > 1L) intersect(pcgpu:::edge_look()$kind, edges$kind)
  note <- if (pcgpu:::is_result(x)) pcgpu:::validity_note(x)
  expect_identical(sort(picture$texts$label), sort(c(labels, legend, title, note)))

  # Boxes have many corners and a border; igraph's heads have a border in their own colour.
  is_box <- vapply(picture$shapes, function(shape) !is.na(shape$border) && shape$border != shape$fill, NA)
  boxes <- lapply(picture$shapes[is_box], function(shape) apply(shape$points, 2L, range))
  expect_length(boxes, length(labels))
  if (length(boxes) != length(labels)) {
    return(invisible())
  }
  low <- t(vapply(boxes, function(box) box[1L, ], c(0, 0)))
  high <- t(vapply(boxes, function(box) box[2L, ], c(0, 0)))
  expect_true(all(low > 0) && all(high[, 1L] < picture$page[1L]) && all(high[, 2L] < picture$page[2L]))
  # Boxes come in the order of the nodes, and each holds the beginning of its label.
  words <- picture$texts[match(labels, picture$texts$label), ]
  inside <- words$x > low[, 1L] & words$x < high[, 1L] & words$y > low[, 2L] & words$y < high[, 2L]
  expect_true(all(inside | duplicated(labels) | duplicated(labels, fromLast = TRUE)))

  # Of a line with two heads, igraph draws those at one end several times.
  heads <- unique(picture$shapes[!is_box])
  want_heads <- c(directed = 1, undirected = 0, conflict = 2)
  expect_length(heads, sum(want_heads[edges$kind]) + sum(want_heads[legend]))
  expect_equal(NROW(picture$lines), nrow(edges) + length(legend))
  centre <- (low + high) / 2
  for (k in seq_len(nrow(edges))) {
    ends <- edge_line(picture$lines, centre[edges$from[k], ], centre[edges$to[k], ])
    expect_length(ends, 1L)
    pair <- c(edges$from[k], edges$to[k])
    pointed <- vapply(
      pair,
      function(node) {
        any(vapply(heads, function(head) points_to(head$points, low[node, ], high[node, ], centre[pair, ]), NA))
      },
      NA
    )
    want <- list(directed = 2L, undirected = integer(), conflict = 1:2)[[edges$kind[k]]]
    expect_true(all(pointed[want]))
  }
}

# Returns the lines that run from near one point towards the other, along the line through both.
edge_line <- function(lines, from, to) {
  along <- (to - from) / sqrt(sum((to - from)^2))
  off <- function(x, y) abs((x - from[1L]) * along[2L] - (y - from[2L]) * along[1L])
  on <- function(x, y) {
    where <- (x - from[1L]) * along[1L] + (y - from[2L]) * along[2L]
    where > 0 & where < sqrt(sum((to - from)^2))
  }
  straight <- off(lines$x0, lines$y0) < 0.02 & off(lines$x1, lines$y1) < 0.02
  which(straight & on(lines$x0, lines$y0) & on(lines$x1, lines$y1))
}

# Returns whether this head is on the line between the two centres, with its tip at this box.
points_to <- function(points, low, high, centres) {
  along <- (centres[2L, ] - centres[1L, ]) / sqrt(sum((centres[2L, ] - centres[1L, ])^2))
  middle <- colMeans(points)
  where <- sum((middle - centres[1L, ]) * along)
  off <- abs(sum((middle - centres[1L, ]) * rev(along) * c(1, -1)))
  gap <- pmax(t(low - t(points)), t(t(points) - high), 0)
  where > 0 && where < sqrt(sum((centres[2L, ] - centres[1L, ])^2)) && off < 0.02 && min(sqrt(rowSums(gap^2))) < 0.06
}

# Returns the adjacency matrix of a connected graph with n nodes and about 1.5 n edges.
connected <- function(n) {
  set.seed(n)
  m <- matrix(0, n, n)
  m[cbind(vapply(2:n, function(i) sample.int(i - 1L, 1L), 1L), 2:n)] <- 1
  m[matrix(sample.int(n, 2 * (n %/% 2), replace = TRUE), ncol = 2)] <- 1
  diag(m) <- 0
  m
}

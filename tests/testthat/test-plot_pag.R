# Returns which mark is drawn at the end of the line from `centres[2, ]` at the box of `centres[1, ]`: "arrow", "circle"
# or "tail".
drawn_mark <- function(heads, circles, low, high, centres) {
  if (any(vapply(heads, function(head) points_to(head$points, low, high, centres[2:1, ]), NA))) {
    return("arrow")
  }
  if (any(vapply(circles, function(circle) points_to(circle$points, low, high, centres[2:1, ]), NA))) {
    "circle"
  } else {
    "tail"
  }
}

# Expects that `picture` shows the PAG `amat`: each mark at the right end of each edge, and nothing else.
expect_pag_drawn <- function(picture, amat, legend = TRUE) {
  labels <- rownames(amat)
  table <- pcgpu:::pag_table(amat)
  look <- pcgpu:::edge_look(pag = TRUE)
  kinds <- look[look$kind %in% table$kind, ]
  said <- if (nrow(kinds) > 1) kinds$said
  expect_identical(sort(picture$texts$label), sort(c(labels, said)))
  has_border <- vapply(picture$shapes, function(shape) !is.na(shape$border) && shape$border != shape$fill, NA)
  is_circle <- has_border & vapply(picture$shapes, function(shape) identical(shape$fill, "#FFFFFF"), NA)
  boxes <- lapply(picture$shapes[has_border & !is_circle], function(shape) apply(shape$points, 2L, range))
  expect_length(boxes, length(labels))
  low <- t(vapply(boxes, function(box) box[1L, ], c(0, 0)))
  high <- t(vapply(boxes, function(box) box[2L, ], c(0, 0)))
  centre <- (low + high) / 2
  # igraph draws the heads at one end of a line several times.
  heads <- unique(picture$shapes[!has_border])
  circles <- unique(picture$shapes[is_circle])
  count <- function(mark) {
    sum(amat == mark) + sum(c(kinds$at_from, kinds$at_to) == c("circle", "arrow")[mark]) * (nrow(kinds) > 1)
  }
  expect_length(circles, count(1))
  expect_length(heads, count(2))
  expect_equal(NROW(picture$lines), length(table$kind) + (nrow(kinds) > 1) * nrow(kinds))
  for (k in seq_along(table$kind)) {
    pair <- c(table$from[k], table$to[k])
    expect_length(edge_line(picture$lines, centre[pair[1], ], centre[pair[2], ]), 1L)
    for (end in 1:2) {
      node <- pair[end]
      other <- pair[3 - end]
      expect_identical(
        drawn_mark(heads, circles, low[node, ], high[node, ], centre[c(node, other), ]),
        c("circle", "arrow", "tail")[amat[other, node]],
        info = paste(labels[pair], collapse = " ")
      )
    }
  }
}

test_that("each mark is drawn at its end, of every kind of edge and at every size", {
  every <- odd_pag(letters[1:11])
  attr(every, "type") <- NULL
  marked <- function(seed) {
    set.seed(seed)
    m <- connected(seed)
    at <- which((m | t(m)) & upper.tri(m), arr.ind = TRUE)
    m[] <- 0
    m[at] <- sample(3, nrow(at), TRUE)
    m[at[, 2:1]] <- sample(3, nrow(at), TRUE)
    dimnames(m) <- list(paste0("n", seq_len(seed)), paste0("n", seq_len(seed)))
    m
  }
  for (engine in c("base", if (requireNamespace("igraph", quietly = TRUE)) "igraph")) {
    for (amat in list(every, marked(6), marked(13))) {
      expect_pag_drawn(drawn(plot_cpdag(structure(amat, type = "amat.pag"), engine = engine), 9, 8), amat)
    }
  }
  # As dots, of hundreds of nodes.
  large <- structure(marked(300), type = "pag")
  picture <- drawn(plot_cpdag(large, labels = FALSE), 14, 12)
  circles <- Filter(function(shape) identical(shape$fill, "#FFFFFF"), picture$shapes)
  expect_length(circles, sum(large == 1) + 4)
})

test_that("plot() of a result draws, with all arguments of pictures of CPDAGs", {
  fits <- pag_fits()
  for (fit in fits) {
    amat <- fit@amat
    expect_pag_drawn(drawn(plot(fit)), amat)
    expect_pag_drawn(drawn(plot_cpdag(as(fit, "amat"))), amat)
  }
  fit <- fits$fci
  labels <- rownames(fit@amat)
  expect_identical(
    drawn(plot(fit, main = "Mine"))$texts$label,
    c("Mine", drawn(plot(fit))$texts$label) |> (\(all) all[c(2:length(all), 1)])()
  )
  near <- c(labels[1], labels[fit@amat[1, ] > 0])
  shown <- drawn(plot(fit, around = labels[1]))$texts$label
  expect_setequal(intersect(shown, labels), near)
  picture <- drawn(plot(fit, colour = list(age = seq_along(labels)), size = "degree", components = 1))
  expect_true(all(c("age:", "degree:") %in% picture$texts$label))
  colours <- grDevices::hcl.colors(6)
  picture <- drawn(plot(fit, edge_colour = colours))
  expect_true(all(picture$lines$colour %in% grDevices::rgb(t(grDevices::col2rgb(colours)) / 255)))
  expect_error(
    plot(fit, edge_colour = c("red", "blue", "green")),
    "in the order -->, o->, <->, o-o, o--, ---",
    class = "pcgpu_error_argument"
  )
  e <- expect_error(plot(fit, engine = "Rgraphviz"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "engine")
  expect_identical(drawn(plot(fit)), drawn(plot_cpdag(fit)))
  empty <- fci(list(C = diag(3), n = 100), gaussCItest, 0.01, labels = c("a", "b", "c"))
  expect_pag_drawn(drawn(plot(empty)), empty@amat)
})

test_that("the interactive page has the marks, kinds and p-values", {
  fit <- pag_fits()$fci
  wish <- list(
    around = NULL,
    order = 1,
    isolated = NULL,
    components = NULL,
    colour = NULL,
    size = NULL,
    layout = "stress"
  )
  page <- pcgpu:::page_of_graph(fit, pcgpu:::asked_graph(pcgpu:::drawn_edges_of(fit), NULL, wish), list())
  table <- edges(fit)
  found <- page$edges
  expect_identical(page$nodes$name[found$from], table$from)
  expect_identical(found$kind, table$kind)
  look <- page$kinds[match(found$kind, page$kinds$kind), ]
  sign <- c(tail = "-", circle = "o", arrow = ">")
  expect_identical(paste0(sub(">", "<", sign[look$at_from]), "-", sign[look$at_to]), table$kind)
  expect_identical(page$values$p, table$p)
  expect_identical(unique(look$said[table$kind == "o->"]), "cause or common cause")
  legend <- pcgpu:::page_legend(page$kinds, list(), character())
  expect_match(legend, "\u25cb\u2192</b> cause or common cause", fixed = TRUE)
})

test_that("details are drawn, with a chart for the possible-d-sep phase", {
  fits <- pag_fits()
  texts <- drawn(plot(run_details(fits$fci)))$texts$label
  expect_true(all(c("Level", "Sets of the possible-d-sep phase") %in% texts))
  expect_true("Level" %in% drawn(plot(run_details(fits$rfci)))$texts$label)
  expect_error(plot(run_details(fits$fciPlus)), class = "pcgpu_error_argument")
  details <- run_details(fits$fci)
  details$team <- data.frame(
    level = c(0L, 0L, 1L, 1L),
    phase = rep(c("skeleton", "possible-d-sep"), each = 2),
    device = c("worker 1", "worker 2"),
    shards = 1,
    bytes_to = 0,
    bytes_from = 0,
    seconds = c(2, 2, 3, 3),
    busy = c(1, 0.5, 0.9, 0.9)
  )
  texts <- drawn(plot(details), 12, 5)$texts$label
  expect_true(all(c("d-sep 1", "worker 1", "Seconds at work") %in% texts))
})

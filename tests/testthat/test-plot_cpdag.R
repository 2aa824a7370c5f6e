# Returns the engines whose pictures can be read: both draw with base graphics.
ours <- function() c("base", if (requireNamespace("igraph", quietly = TRUE)) "igraph")

conflicts <- function() pc(suff(p = 9, n = 60, degree = 3), gaussCItest, 0.2, p = 9, solve.confl = TRUE)

test_that("every engine draws every node, every edge and every head of every kind of graph", {
  fit <- conflicts()
  listed <- pcgpu:::edges_of(fit)
  expect_setequal(pcgpu:::table_of_lists(listed$edges, listed$weights)$kind, c("directed", "undirected", "conflict"))
  graphs <- list(
    fit,
    small_fit(),
    skeleton(suff(), gaussCItest, 0.05, p = 8),
    pc(list(C = diag(5), n = 30), gaussCItest, 0.01, p = 5),
    pc(list(C = diag(2), n = 30), gaussCItest, 0.01, p = 2),
    pc(list(C = matrix(c(1, 0.9, 0.9, 1), 2), n = 30), gaussCItest, 0.01, p = 2),
    matrix(0, 1, 1),
    matrix(1, 1, 1, dimnames = list("loop", "loop"))
  )
  for (engine in ours()) {
    for (graph in graphs) {
      expect_graph_drawn(drawn(plot_cpdag(graph, engine = engine)), graph)
      expect_graph_drawn(drawn(plot_cpdag(graph, engine = engine, main = "A title")), graph, title = "A title")
    }
  }
})

test_that("the outermost nodes are whole on pages of any shape", {
  words <- c("Class", "Sex", "Age", "Survived")
  m <- matrix(0, 4, 4, dimnames = list(words, words))
  m[cbind(c(1, 1, 1, 2, 3, 2, 3, 4), c(2, 3, 4, 1, 1, 4, 4, 1))] <- 1
  for (engine in ours()) {
    for (page in list(c(5, 5), c(3, 3), c(7, 4), c(2, 6), c(1, 1))) {
      expect_graph_drawn(drawn(plot_cpdag(m, engine = engine), page[1], page[2]), m)
      expect_graph_drawn(drawn(plot_cpdag(m, engine = engine, main = "T", cex = 2), page[1], page[2]), m, title = "T")
    }
  }
})

test_that("the engine that is chosen, and Rgraphviz, draw all labels", {
  fit <- conflicts()
  for (engine in c("auto", if (requireNamespace("Rgraphviz", quietly = TRUE)) "Rgraphviz")) {
    picture <- drawn(shown <- withVisible(plot_cpdag(fit, engine = engine)))
    expect_false(shown$visible)
    expect_identical(shown$value, fit)
    expect_true(all(as.character(1:9) %in% picture$texts$label))
    expect_gte(NROW(picture$lines) + length(picture$shapes), 9)
  }
})

test_that("a graph without nodes is an empty page", {
  for (engine in ours()) {
    picture <- drawn(plot_cpdag(matrix(0, 0, 0), engine = engine, main = "None"))
    expect_identical(picture$texts$label, "None")
    expect_null(picture$lines)
  }
})

test_that("graphNEL objects and both kinds of adjacency matrix give the same edges", {
  fit <- small_fit()
  want <- pcgpu:::edges_of(fit)[c("labels", "edges")]
  for (other in list(fit@graph, as(fit@graph, "matrix"), as(fit, "amat"), as(fit, "matrix"))) {
    expect_identical(pcgpu:::edges_of(other)[c("labels", "edges")], want)
  }
})

test_that("labels replace names", {
  fit <- small_fit()
  words <- c("one", "two (2)", "a much longer label", "four")
  for (engine in ours()) {
    expect_graph_drawn(drawn(plot_cpdag(as(fit, "amat"), engine = engine, labels = words)), fit, labels = words)
  }
  skip_if_not(l10n_info()[["UTF-8"]] || l10n_info()[["Latin-1"]], "no locale for letters with dots")
  words[4] <- "\u00dcbergr\u00f6\u00dfe"
  for (engine in ours()) {
    expect_graph_drawn(drawn(plot_cpdag(fit, engine = engine, labels = words)), fit, labels = words)
  }
})

test_that("labels of several lines and long ones stay in their boxes", {
  fit <- small_fit()
  words <- c("a", "b\nbb\nbbb", strrep("long ", 12), "d")
  grDevices::pdf(NULL, 3, 3)
  on.exit(grDevices::dev.off())
  plot_cpdag(fit, engine = "base", labels = words)
  listed <- pcgpu:::edges_of(fit)
  listed$labels <- words
  pcgpu:::new_page(NULL)
  place <- pcgpu:::place_on_page(listed)
  wide <- graphics::strwidth(words, units = "inches", cex = place$cex[1])
  high <- graphics::strheight(words, units = "inches", cex = place$cex[1])
  expect_true(all(wide < place$size[, 1]) && all(high < place$size[, 2]))
})

test_that("colours are one for all nodes, or one per node", {
  fit <- small_fit()
  fills <- c("#FF0000", "#00FF00", "#0000FF", "#FFFF00")
  borders <- c("#111111", "#222222", "#333333", "#444444")
  look <- function(...) {
    picture <- drawn(plot_cpdag(fit, ...))
    expect_graph_drawn(picture, fit)
    boxes <- Filter(function(shape) !is.na(shape$border) && shape$border != shape$fill, picture$shapes)
    list(fill = vapply(boxes, `[[`, "", "fill"), border = vapply(boxes, `[[`, "", "border"))
  }
  expect_identical(
    look(engine = "base", node_fill = fills, node_border = borders),
    list(fill = fills, border = borders)
  )
  expect_identical(look(engine = "base", node_fill = "#FF0000")$fill, rep("#FF0000", 4))
  refused <- function(...) expect_error(plot_cpdag(fit, engine = "base", ...), class = "pcgpu_error_argument")
  expect_identical(refused(node_fill = fills[1:3])$argument, "node_fill")
  expect_identical(refused(node_border = character())$argument, "node_border")
  expect_identical(refused(edge_colour = c("red", "blue"))$argument, "edge_colour")
  expect_match(
    conditionMessage(refused(node_fill = c("red", "nocolour", "blue", "2"))),
    "`node_fill` has an unknown colour, \"nocolour\""
  )
  expect_identical(look(engine = "base", node_fill = 2)$fill, rep("#DF536B", 4))
  expect_identical(
    look(engine = "base", vertex.color = fills, vertex.frame.color = borders),
    list(fill = fills, border = borders)
  )
  expect_match(
    conditionMessage(refused(vertex.shape = "circle")),
    "`vertex.shape` is not supported by engine = \"base\".*\"igraph\""
  )

  skip_if_not_installed("igraph")
  expect_identical(
    look(engine = "igraph", vertex.color = fills, vertex.frame.color = borders),
    list(fill = fills, border = borders)
  )
  expect_identical(
    look(engine = "igraph", node_fill = fills, node_border = borders),
    list(fill = fills, border = borders)
  )
  expect_error(
    plot_cpdag(fit, engine = "igraph", node_fill = "nocolour"),
    "an unknown colour",
    class = "pcgpu_error_argument"
  )
  green <- drawn(plot_cpdag(fit, engine = "igraph", edge_colour = "#00AA00"))$lines
  expect_setequal(if (is.data.frame(green)) green$colour else vapply(green, `[[`, "", "colour"), "#00AA00")
  # igraph repeats what is too short.
  expect_identical(look(engine = "igraph", vertex.color = fills[1:2])$fill, fills[c(1, 2, 1, 2)])
  expect_identical(look(engine = "igraph", vertex.color = fills[1])$fill, rep(fills[1], 4))
  # With shapes of several kinds igraph draws node by node.
  shapes <- c("rectangle", "pcgpu_box", "pcgpu_box", "rectangle")
  picture <- drawn(plot_cpdag(fit, engine = "igraph", vertex.color = fills, vertex.shape = shapes))
  expect_true(all(fills[2:3] %in% vapply(picture$shapes, `[[`, "", "fill")))
})

test_that("plot() of a result draws", {
  skip_with_pcalg()
  fit <- small_fit()
  expect_graph_drawn(drawn(expect_silent(plot(fit))), fit)
})

test_that("plot() of a graph draws it", {
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  fit <- small_fit()
  expect_graph_drawn(drawn(plot(fit@graph)), fit)
  expect_graph_drawn(drawn(plot(fit@graph, main = "A title")), fit, title = "A title")
})

test_that("plot() of a graph draws, whichever packages are attached and in which order", {
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  pcalg <- requireNamespace("pcalg", quietly = TRUE)
  orders <- list("pcgpu", c("pcgpu", "graph"), c("graph", "pcgpu"))
  if (pcalg) {
    orders <- c(orders, list(c("pcgpu", "pcalg"), c("pcalg", "pcgpu"), c("graph", "pcgpu", "pcalg")))
  }
  for (order in orders) {
    output <- in_new_session(c(
      sprintf("suppressMessages(library(%s))", order),
      "graph <- methods::new(\"graphNEL\", nodes = c('a', 'b'))",
      "file <- tempfile()",
      "grDevices::pdf(file, compress = FALSE)",
      "plot(graph)",
      "grDevices::dev.off()",
      "cat(sum(grepl(' [(][ab][)] Tj', readLines(file, warn = FALSE), useBytes = TRUE)), 'labels')"
    ))
    expect_match(output, "^2 labels$", all = FALSE, info = paste(order, collapse = ", "))
  }
})

test_that("another S4 method for graphs has priority over ours, whenever it is loaded", {
  theirs <- c("setGeneric('plot')", "setMethod('plot', 'graph', function(x, y, ...) cat('theirs\\n'))")
  ours <- "suppressMessages(library(pcgpu))"
  graph <- c("graph <- methods::new(\"graphNEL\", nodes = c('a', 'b'))", "grDevices::pdf(NULL)")
  for (order in list(c(ours, graph, "plot(graph)", theirs), c("library(graph)", theirs, ours, graph))) {
    output <- in_new_session(c(order, "plot(graph)"))
    expect_equal(sum(output == "theirs"), 1, info = paste(output, collapse = "\n"))
    expect_false(any(grepl("Error", output)))
  }
})

test_that("objects that cannot be drawn are refused", {
  expect_error(plot_cpdag(1:3), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(small_fit(), labels = "a"), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(small_fit(), engine = "paint"), class = "pcgpu_error_argument")
  expect_error(plot_cpdag(structure(matrix(c(0, 4, 4, 0), 2), type = "pag")), "marks", class = "pcgpu_error_argument")
  expect_error(plot_cpdag(matrix(c(0, NA, 1, 0), 2)), "first at [2, 1]", fixed = TRUE, class = "pcgpu_error_argument")
  expect_error(plot_cpdag(matrix(NaN, 1, 1)), "`x`", class = "pcgpu_error_argument")
  for (engine in ours()) {
    for (cex in list(0, -1, NA_real_, Inf, "1", c(1, 2), numeric())) {
      expect_error(plot_cpdag(small_fit(), engine = engine, cex = cex), "`cex`", class = "pcgpu_error_argument")
    }
  }
})

test_that("a graph with missing weights is refused", {
  graph <- as(matrix(c(0, 0, 2, 0), 2, dimnames = list(c("a", "b"), c("a", "b"))), "graphNEL")
  graph@edgeData@data[["a|b"]]$weight <- NA_real_
  expect_error(plot_cpdag(graph), "missing weights", class = "pcgpu_error_argument")
})

test_that("a missing engine that was named gives an error", {
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  expect_error(plot_cpdag(small_fit(), engine = "Rgraphviz"), "not installed", class = "pcgpu_error_package")
})

test_that("drawing uses no random number and restores the settings of the device", {
  set.seed(1)
  before <- .Random.seed
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  settings <- graphics::par(no.readonly = TRUE)
  for (engine in ours()) {
    plot_cpdag(small_fit(), engine = engine, main = "A title")
  }
  after <- graphics::par(no.readonly = TRUE)
  expect_identical(.Random.seed, before)
  for (setting in c("mar", "mai", "xpd", "xaxs", "yaxs")) {
    expect_identical(after[[setting]], settings[[setting]])
  }
})

test_that("several plots share a page", {
  fit <- small_fit()
  for (engine in ours()) {
    picture <- drawn({
      graphics::par(mfrow = c(2, 2))
      for (k in 1:4) {
        plot_cpdag(fit, engine = engine, labels = paste0(letters[1:4], k))
      }
    })
    # Each in its own quarter.
    for (k in 1:4) {
      at <- picture$texts[picture$texts$label %in% paste0(letters[1:4], k), ]
      expect_equal(nrow(at), 4)
      expect_true(all((at$x > 3.5) == (k %in% c(2, 4))) && all((at$y > 3) == (k %in% 1:2)))
    }
  }
})

test_that("a large connected graph is drawn whole", {
  m <- connected(700)
  for (engine in ours()) {
    expect_gte(length(drawn(plot_cpdag(m, engine = engine))$shapes), 700)
  }
})

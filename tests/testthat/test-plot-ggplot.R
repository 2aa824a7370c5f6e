# Returns the grob of the edges of a plot, with its children.
edges_drawn <- function(plot) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  panel <- ggplot2::layer_grob(plot, 1L)[[1L]]
  grid::makeContent(panel)
}

test_that("a graph has a layer of its edges and one of its nodes", {
  skip_if_not_installed("ggplot2")
  for (fit in mixed_fits()) {
    plot <- ggplot2::autoplot(fit)
    expect_s3_class(plot, "ggplot")
    expect_setequal(plot$data$name, pcgpu:::network_of(fit)$labels)
    expect_identical(plot$data$degree, sort(plot$data$degree, decreasing = TRUE))
    edges <- plot$layers[[1]]$data
    expect_identical(sorted_edges(edges), sorted_edges(edge_table(fit)))
    expect_identical(edges$p[order(edges$p)], sort(edge_table(fit)$p))
    at <- function(name) plot$data[match(name, plot$data$name), c("x", "y")]
    ends <- ifelse(edges$kind == "-->", edges$x == at(edges$from)$x & edges$yend == at(edges$to)$y, TRUE)
    expect_true(all(ends))
    named <- plot + ggplot2::labs(title = "Mine") + ggplot2::theme(legend.position = "bottom")
    expect_identical(named$labels$title, "Mine")
    # One grob for lines with no head, one for one head, one for two.
    drawn <- edges_drawn(plot)
    expect_length(drawn$children, length(unique(edges$kind)))
  }
})

test_that("a PAG has circles at its ends", {
  skip_if_not_installed("ggplot2")
  pag <- fci(simulate(8, 200, seed = 4), gaussCItest, 0.05, numCores = 2)
  kinds <- edge_table(pag)$kind
  drawn <- edges_drawn(ggplot2::autoplot(pag))
  circles <- Filter(function(grob) inherits(grob, "circle"), drawn$children)
  expect_true("o->" %in% kinds)
  count <- sum(vapply(circles, function(grob) length(grob$x), 0L))
  expect_identical(count, sum(nchar(gsub("[^o]", "", kinds))))
})

test_that("columns of edges and values of nodes are scaled", {
  skip_if_not_installed("ggplot2")
  dag <- random_dag(6, seed = 1)
  values <- stats::setNames(6:1, rev(dag$labels))
  plot <- ggplot2::autoplot(dag, colour = list(age = values), edge_colour = "weight", edge_width = "weight")
  expect_identical(plot$data$value[match(dag$labels, plot$data$name)], 1:6)
  expect_identical(plot$labels[c("fill", "colour")], list(fill = "age", colour = "weight"))
  table <- edge_table(dag)
  edges <- plot$layers[[1]]$data
  expect_identical(edges$edge_colour[order(edges$edge_colour)], sort(table$weight))
  expect_s3_class(ggplot2::ggplot_build(plot), "ggplot_built")
})

test_that("small, large and partial graphs are drawn", {
  skip_if_not_installed("ggplot2")
  drawn <- function(plot) {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    ggplot2::ggplotGrob(plot)
    plot
  }
  expect_identical(nrow(drawn(ggplot2::autoplot(random_dag(1)))$data), 1L)
  none <- drawn(ggplot2::autoplot(pc(list(C = diag(4), n = 30), gaussCItest, 0.01, p = 4)))
  expect_identical(nrow(none$layers[[1]]$data), 0L)
  large <- random_dag(60, neighbours = 2, seed = 1)
  plot <- drawn(ggplot2::autoplot(large))
  expect_s3_class(plot$layers[[2]]$geom, "GeomPoint")
  expect_length(plot$layers, 3)
  expect_length(drawn(ggplot2::autoplot(large, labels = FALSE))$layers, 2)
  expect_s3_class(drawn(ggplot2::autoplot(large, labels = TRUE))$layers[[2]]$geom, "GeomLabel")
  around <- drawn(ggplot2::autoplot(large, around = "x1", layout = "layered"))
  expect_identical(nrow(around$data), nrow(neighbours(large, "x1")) + 1L)
})

test_that("stability, comparisons and effects are drawn", {
  skip_if_not_installed("ggplot2")
  x <- simulate(6, 200, seed = 4)
  fit <- pc(x, gaussCItest, 0.1, u2pd = "valid", numCores = 2)
  for (method in c("pc", "fci")) {
    found <- stability(x, gaussCItest, alpha = 0.1, replicates = 5, seed = 1, method = method, numCores = 2)
    plot <- ggplot2::autoplot(found)
    expect_identical(plot$data$strength, as.data.frame(found)$strength)
    expect_identical(plot$layers[[1]]$data$yintercept, found$threshold$value)
    plot <- ggplot2::autoplot(found, "graph", edge_width = "strength")
    expect_identical(nrow(plot$layers[[1]]$data), nrow(edges(found)))
  }
  loose <- pc(x, gaussCItest, 0.5, numCores = 2)
  plot <- ggplot2::autoplot(compare_graphs(fit, loose))
  expect_identical(nrow(plot$layers[[1]]$data), nrow(edge_table(compare_graphs(fit, loose))))
  effects <- causal_effects(fit, x, numCores = 2)
  plot <- ggplot2::autoplot(effects, n = 3)
  shown <- as.data.frame(effects, n = 3)
  expect_identical(unique(plot$data$pair), paste(shown$x, shown$y, sep = " on "))
  expect_equal(abs(plot$data$effect[plot$data$bound == "nearest to 0, the bound"]), shown$smallest)
  expect_identical(nrow(plot$data), sum(shown$number))
  least <- ggplot2::autoplot(causal_effects(fit, x, keep = "smallest", numCores = 2), n = 3)
  expect_equal(least$data$effect, shown$smallest)
})

test_that("arguments are checked", {
  skip_if_not_installed("ggplot2")
  dag <- random_dag(4, seed = 1)
  argument <- function(value) expect_error(value, class = "pcgpu_error_argument")$argument
  expect_identical(argument(ggplot2::autoplot(dag, edge_color = "weight")), "edge_color")
  expect_identical(argument(ggplot2::autoplot(dag, edge_width = "p")), "edge_width")
  expect_identical(argument(ggplot2::autoplot(dag, colour = 1:3)), "colour")
  expect_identical(argument(ggplot2::autoplot(dag, around = "x")), "around")
  expect_identical(argument(ggplot2::autoplot(compare_graphs(dag, dag), edge_colour = "weight")), "edge_colour")
})

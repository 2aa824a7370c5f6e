drawing <- function(frame = parent.frame()) {
  grDevices::pdf(NULL)
  do.call(on.exit, list(quote(grDevices::dev.off()), add = TRUE), envir = frame)
}
dag <- random_dag(8, 3, seed = 2)
asked <- function(x = dag, ...) pcgpu:::asked_graph(pcgpu:::drawn_edges_of(x), NULL, list(order = 1, ...), x)
lines_of <- function(...) asked(...)$wish$edges

test_that("a column of the table of edges gives colours, widths and labels", {
  table <- edge_table(dag)
  of <- lines_of(edge_colour = "weight", edge_width = "weight", edge_label = "weight")
  drawn <- pcgpu:::table_of(asked()$listed)
  at <- match(paste(drawn$from, drawn$to), paste(match(table$from, dag$labels), match(table$to, dag$labels)))
  expect_identical(of$label, vapply(table$weight[at], format, "", digits = 2L))
  expect_equal(of$width, 0.4 + 2.4 * abs(table$weight[at]) / max(abs(table$weight)))
  expect_identical(of$colour, pcgpu:::numeric_colours(table$weight, NULL, pcgpu:::line_ramps)$fill[at])
  expect_identical(vapply(of$keys, `[[`, "", "title"), c("weight", "weight"))
  # The same values in the order of the table, with a title.
  same <- lines_of(edge_width = list(size = table$weight))
  expect_identical(same$width, of$width)
  expect_identical(same$keys[[1]]$title, "size")
  expect_identical(same$keys[[1]]$ends, range(abs(table$weight)))
})

test_that("levels, colours and missing values are drawn, and parts of a graph keep their values", {
  table <- edge_table(dag)
  levels <- rep_len(c("both", "here", NA), nrow(table))
  of <- lines_of(edge_colour = levels)
  expect_identical(sort(unique(of$colour)), c("#333333", "#D55E00", "#D9D9D9"))
  expect_true(of$keys[[1]]$missing)
  expect_identical(
    lines_of(edge_label = c("x", rep(NA, nrow(table) - 1)))$label |> sort(),
    sort(c("x", rep("", nrow(table) - 1)))
  )
  colours <- rep_len(c("red", "blue", "#00FF00", "black", "gray"), nrow(table))
  expect_null(lines_of(edge_colour = colours)$keys)
  part <- asked(around = table$from[1], edge_label = paste(table$from, table$to), isolated = FALSE)
  drawn <- pcgpu:::table_of(part$listed)
  expect_identical(part$wish$edges$label, paste(part$listed$labels[drawn$from], part$listed$labels[drawn$to]))
})

test_that("colours of the kinds of edges stay, and bad columns are named", {
  expect_identical(asked(edge_colour = c("red", "blue", "green"))$kind_colours, c("red", "blue", "green"))
  expect_null(asked(edge_colour = "red")$wish$edges)
  refused <- function(...) expect_error(plot_cpdag(dag, ...), class = "pcgpu_error_argument")
  expect_match(conditionMessage(refused(edge_width = "strength")), "weight", fixed = TRUE)
  expect_identical(refused(edge_width = "kind")$argument, "edge_width")
  expect_identical(refused(edge_label = 1:2)$argument, "edge_label")
  expect_identical(refused(edge_width = list(1, 2))$argument, "edge_width")
  expect_identical(refused(edge_colour = "no colour")$argument, "edge_colour")
  expect_identical(refused(engine = "Rgraphviz", edge_width = "weight")$argument, "edge_width")
})

test_that("every engine and every kind of graph draws them", {
  drawing()
  for (engine in c("base", if (requireNamespace("igraph", quietly = TRUE)) "igraph")) {
    plot(dag, engine = engine, edge_colour = "weight", edge_width = "weight", edge_label = "weight")
  }
  x <- simulate(6, 300, degree = 3)
  found <- stability(x, gaussCItest, 0.05, replicates = 5, seed = 1)
  expect_identical(plot(found, "graph", edge_label = "direction"), found)
  pag <- fci(suff_gauss(x), gaussCItest, 0.05, p = 6)
  expect_identical(plot(pag, edge_width = list("-log10 p" = -log10(edge_table(pag)$p))), pag)
  many <- random_dag(100, 3, seed = 1)
  expect_identical(plot(many, edge_colour = "weight", labels = FALSE), many)
})

test_that("a PAG has a legend even if all its edges are of one kind", {
  drawing()
  legend <- function(kind, look) pcgpu:::place_legend(look[look$kind %in% kind, ], c(5, 5))
  graphics::plot.new()
  expect_identical(legend("o->", pcgpu:::pag_look())$kinds, "o->")
  expect_null(legend("directed", pcgpu:::cpdag_look()))
  expect_null(legend(character(), pcgpu:::pag_look()))
})

test_that("p-values are drawn as -log10 p, and colours of kinds do not depend on the number of edges", {
  x <- simulate(6, 300, degree = 3)
  fit <- pc(suff_gauss(x), gaussCItest, 0.05, p = 6)
  of <- lines_of(fit, edge_width = "p", edge_label = "p")
  p <- edge_table(fit)$p
  drawn <- pcgpu:::table_of(asked(fit)$listed)
  at <- match(paste(drawn$from, drawn$to), with(edge_table(fit), paste(from, to)))
  expect_equal(of$width, (0.4 + 2.4 * -log10(p) / max(-log10(p)))[at])
  expect_identical(of$keys[[1]]$title, "-log10 p")
  expect_identical(of$label, vapply(p[at], format, "", digits = 2L))
  three <- matrix(0, 4, 4, dimnames = list(letters[1:4], letters[1:4]))
  three[1, 2:4] <- 1
  expect_identical(asked(three, edge_colour = c("red", "gray", "blue"))$kind_colours, c("red", "gray", "blue"))
  expect_match(
    conditionMessage(expect_error(plot_cpdag(three, edge_colour = "estimate"), class = "pcgpu_error_argument")),
    "edge_table(fit, data)$estimate",
    fixed = TRUE
  )
})

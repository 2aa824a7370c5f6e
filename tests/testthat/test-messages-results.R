# Snapshots of the most common errors, warnings, messages and printed results of conversions, tables, plots, comparisons
# and effects, so that their prose can be reviewed in a diff.

x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)
suff <- suff_gauss(x)
fit <- pc(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, result = "compact")
dag <- matrix(c(0, 0, 0, 1, 0, 0, 1, 1, 0), 3, dimnames = list(letters[1:3], letters[1:3]))
pag <- structure(matrix(c(0, 2, 1, 0), 2, dimnames = list(c("a", "b"), c("a", "b"))), class = "amat", type = "pag")

test_that("results and their pairs of variables", {
  expect_snapshot(error = TRUE, {
    edge_table(1:3)
    edge_table(structure(list(), class = "pcgpu_cstar"))
    edge_table(matrix(NA, 2, 2))
    sepset(fit, "a", "a")
    sepset(fit, "a", c("b", "c"))
    p_value(fit, c("a", "b", "c"), c("a", "b"))
    p_value(fit, "a", "b")
    neighbours(fit, "a", order = 0.5)
  })
})

test_that("conversions", {
  expect_snapshot(error = TRUE, {
    fit[1, 2]
    graph::nodes(fit)
    as_bn(pag)
    as_dagitty(matrix(0, 1, 1, dimnames = list("a\n", "a\n")), text = TRUE)
    caugi_of(fit, class = 1)
    cpdag_of(matrix(1, 2, 2))
    plot(fit, 1)
  })
  expect_snapshot(as_pcalg(fit)@pMax[1, 2])
})

test_that("plots", {
  expect_snapshot(error = TRUE, {
    plot_cpdag(fit, labels = letters)
    plot_cpdag(fit, colour = 1:2)
    plot_cpdag(fit, size = -1:1)
    plot_cpdag(fit, size = "large")
    plot_cpdag(fit, node_fill = "nocolour")
    plot_cpdag(fit, edge_colour = c("red", "blue", "black", "green"))
    plot_cpdag(fit, cex = 0)
    plot_cpdag(fit, layout = "spiral")
    plot_cpdag(fit, order = -1)
    plot_cpdag(fit, components = 0)
    plot_cpdag(fit, engine = "base", vertex.shape = "circle")
    plot_cpdag(fit, engine = "Rgraphviz", size = "degree")
    plot_cpdag(fit, file = "net.pdf")
  })
  expect_snapshot(values_of_nodes(c(x = 1, y = 2), c("a", "b"), "colour")$values)
})

test_that("files of networks", {
  expect_snapshot(error = TRUE, {
    write_network(fit, "net.txt")
    write_network(fit, "net.sif", nodes = data.frame(name = "zz"))
    write_network(fit, "net.sif", nodes = data.frame(name = c("a", "a")))
    write_network(fit, "net.sif", nodes = data.frame(name = "a", when = Sys.Date()))
    write_network(matrix(0, 2, 2, dimnames = list(c("a", "a"), c("a", "a"))), "net.gv")
    write_network(matrix(0, 1, 1, dimnames = list("a\t", "a\t")), "net.sif")
  })
})

test_that("comparisons and checks", {
  expect_snapshot(error = TRUE, {
    compare_graphs(list(), dag)
    compare_graphs(dag[1:2, 1:2], dag)
    compare_graphs(structure(dag, dimnames = list(c("a", "b", "z"), c("a", "b", "z"))), dag)
    compare_graphs(pag, dag)
    markov_check(fit)
    markov_check(pag, x)
    markov_check(fit, x, size = 1.5)
    markov_check(fit, x, suffStat = suff)
    markov_check(fit, replace(x, 1, NA), gaussCItest)
  })
  expect_snapshot(tell_extension("cycles"))
  expect_snapshot(tell_extension("colliders"))
  expect_snapshot(tell_constant(list(2L, 2L, 1L), letters, 10))
  expect_snapshot(compare_graphs(list(own = dag, none = 0 * dag), dag))
})

test_that("effects", {
  effects <- function(...) causal_effects(..., numCores = 1)
  expect_snapshot(error = TRUE, {
    effects(dag)
    effects(dag, x, mcov = cov(x))
    effects(dag, x[, 1:2])
    effects(dag, list(x, x))
    effects(dag, x, x = c("a", "a"))
    effects(dag, x, joint = TRUE, method = "global")
    effects(dag, x, y.notparent = TRUE, method = "optimal")
    effects(dag, mcov = matrix(1:9, 3))
    effects(dag, mcov = diag(c(1, 1, -1)))
    effects(pag, x)
    effects(dag, x, keep = "smallest")["a", "c"]
    effects(dag, x, x = "a")["b", "c"]
  })
  expect_snapshot(tell_invalid("cpdag", "local"))
  found <- effects(dag, mcov = matrix(c(1, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 1), 3))
  expect_snapshot(print(found, n = 2))
  expect_snapshot(summary(found))
})

test_that("graphs and summaries", {
  expect_snapshot({
    fit
    cpdag_of(dag)
    summary(cpdag_of(dag))
    cat(overview_degrees(c(0, 1, 2, 3, 2)), overview_components(c(1, 3, 2)), sep = "\n")
  })
})

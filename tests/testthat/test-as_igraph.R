test_that("igraph gets the labels, the arcs and the marks", {
  skip_if_not_installed("igraph")
  fit <- pc(suff(p = 9, n = 60, degree = 3), gaussCItest, 0.2, p = 9, solve.confl = TRUE)
  graph <- as_igraph(fit, undirected = "both")
  expect_true(igraph::is_directed(graph))
  expect_identical(igraph::V(graph)$name, as.character(1:9))
  m <- as.matrix(igraph::as_adjacency_matrix(graph, attr = "mark", sparse = FALSE))
  expect_equal(m, as(fit@graph, "matrix"))
  expect_true(2 %in% m)
})

test_that("skeletons and graphs without edges become igraph graphs", {
  skip_if_not_installed("igraph")
  skel <- skeleton(suff(), gaussCItest, 0.05, p = 8)
  expect_equal(igraph::ecount(as_igraph(skel)), sum(amat(skel)) / 2)
  expect_equal(igraph::ecount(as_igraph(skel, "both")), sum(amat(skel)))
  none <- pc(list(C = diag(4), n = 30), gaussCItest, 0.01, p = 4)
  expect_equal(igraph::ecount(as_igraph(none)), 0)
  expect_equal(igraph::vcount(as_igraph(none@graph)), 4)
  expect_error(as_igraph("graph"), class = "pcgpu_error_argument")
})

test_that("a graph of one node, and one of none, become igraph graphs", {
  skip_if_not_installed("igraph")
  for (m in list(matrix(0, 1, 1), matrix(1, 1, 1), matrix(FALSE, 1, 1))) {
    graph <- as_igraph(m)
    expect_identical(igraph::V(graph)$name, "1")
    expect_equal(igraph::ecount(graph), 0)
  }
  expect_equal(igraph::vcount(as_igraph(matrix(0, 0, 0))), 0)
})

test_that("a matrix with missing entries is refused", {
  m <- matrix(c(0, 1, NA, 0), 2)
  error <- expect_error(as_igraph(m), "first at [1, 2]", fixed = TRUE, class = "pcgpu_error_argument")
  expect_identical(error$argument, "x")
  expect_error(as_igraph(m == 1), class = "pcgpu_error_argument")
})

test_that("igraph and tidygraph get the kinds and the p-values", {
  skip_if_not_installed("igraph")
  for (fit in mixed_fits()) {
    graph <- as_igraph(fit)
    table <- edges(fit)
    found <- igraph::as_data_frame(graph)
    at <- match(paste(table$from, table$to), paste(found$from, found$to))
    expect_identical(found$kind[at], table$kind)
    expect_identical(found$p[at], table$p)
    expect_identical(found$mark[at], ifelse(table$kind == "<->", 2, 1))
    expect_identical(nrow(found), nrow(table))
    expect_identical(found$arrow.mode[at], unname(c("-->" = 2, "---" = 0, "<->" = 3)[table$kind]))
    both <- as_igraph(fit, undirected = "both")
    expect_equal(igraph::ecount(both), nrow(table) + sum(table$kind != "-->"))
    expect_identical(compare_graphs(both, fit)$shd, 0)
    expect_equal(igraph::ecount(igraph::as.igraph(fit, undirected = "both")), igraph::ecount(both))
    expect_identical(igraph::as_data_frame(igraph::as.igraph(fit)), found)
    expect_identical(sorted_edges(as.data.frame(compare_graphs(graph, fit))[0, ]), sorted_edges(edges(fit)[0, ]))
    expect_identical(compare_graphs(graph, fit)$shd, 0)
    expect_identical(pcgpu:::edges_of(graph)$weights, lapply(pcgpu:::edges_of(fit)$weights, as.double))
    skip_if_not_installed("tidygraph")
    tidied <- tidygraph::as_tbl_graph(fit)
    expect_s3_class(tidied, "tbl_graph")
    expect_identical(igraph::as_data_frame(tidied), found)
    expect_equal(igraph::ecount(tidygraph::as_tbl_graph(fit, undirected = "both")), igraph::ecount(both))
  }
})

test_that("graphs, and strengths of stability(), become igraph graphs", {
  skip_if_not_installed("igraph")
  dag <- random_dag(10, seed = 1)
  of_dag <- igraph::as.igraph(dag)
  expect_setequal(igraph::edge_attr(of_dag, "coefficient"), dag$weight)
  # igraph would take an attribute `weight` for lengths.
  expect_false(igraph::is_weighted(of_dag))
  x <- simulate(6, 100, degree = 3, seed = 2)
  found <- stability(x, gaussCItest, alpha = 0.1, replicates = 20, seed = 1, numCores = 2, threshold = 0.3)
  table <- edges(found)
  once <- igraph::as_data_frame(as_igraph(found))
  expect_setequal(paste(once$from, once$to), paste(table$from, table$to))
  arcs <- igraph::as_data_frame(igraph::as.igraph(found, undirected = "both"))
  at <- match(paste(table$from, table$to), paste(arcs$from, arcs$to))
  expect_identical(arcs$direction[at], table$direction)
  back <- match(paste(table$to, table$from), paste(arcs$from, arcs$to))
  loose <- table$kind != "-->"
  expect_gt(sum(loose), 0)
  expect_equal(arcs$direction[back[loose]], 1 - table$direction[loose])
  expect_identical(is.na(back), !loose)
})

test_that("an igraph graph with kinds, each edge once, is read with them", {
  skip_if_not_installed("igraph")
  once <- igraph::graph_from_data_frame(odd_edges(), vertices = data.frame(name = odd_names))
  expect_identical(
    as.data.frame(compare_graphs(once, odd_graph())[c("adj_fp", "adj_fn", "shd")]),
    data.frame(adj_fp = 0, adj_fn = 0, shd = 0)
  )
  expect_identical(sorted_edges(pcgpu:::named_edges(pcgpu:::network_of(once))), sorted_edges(odd_edges()))
})

test_that("degree, number of edges and betweenness are those of the graph, for every class with edges", {
  skip_if_not_installed("igraph")
  graphs <- c(
    mixed_fits(),
    list(
      dag = random_dag(12, seed = 1),
      cpdag = cpdag_of(random_dag(12, seed = 1)),
      nel = mixed_fits()$full@graph,
      pag = fci(simulate(8, 200, degree = 3, seed = 2), alpha = 0.1, numCores = 2),
      averaged = stability(
        simulate(6, 100, degree = 3, seed = 2),
        gaussCItest,
        alpha = 0.1,
        replicates = 20,
        seed = 1,
        numCores = 2,
        threshold = 0.3
      )
    )
  )
  for (name in names(graphs)) {
    table <- edge_table(graphs[[name]])
    graph <- as_igraph(graphs[[name]])
    labels <- igraph::V(graph)$name
    expect_gt(nrow(table), 0)
    expect_equal(igraph::ecount(graph), nrow(table), info = name)
    degree <- table(factor(c(table$from, table$to), labels))
    expect_equal(unname(igraph::degree(graph)), as.vector(degree), info = name)
    plain <- igraph::graph_from_data_frame(
      table[c("from", "to")],
      directed = FALSE,
      vertices = data.frame(name = labels)
    )
    expect_equal(igraph::betweenness(graph, directed = FALSE), igraph::betweenness(plain), info = name)
    # It comes back as it was, whichever way it went.
    for (undirected in c("once", "both")) {
      expect_identical(
        sorted_edges(edge_table(as_igraph(graphs[[name]], undirected))),
        sorted_edges(table),
        info = paste(name, undirected)
      )
    }
    # With both arcs, possible descendants are those that arrows and edges without a direction lead to.
    both <- as_igraph(graphs[[name]], "both")
    if (all(table$kind %in% c("-->", "---"))) {
      a <- labels[which.max(degree)]
      steps <- rbind(
        table[c("from", "to")],
        stats::setNames(table[table$kind == "---", c("to", "from")], c("from", "to"))
      )
      led <- a
      while (length(more <- setdiff(steps$to[steps$from %in% led], led))) {
        led <- c(led, more)
      }
      expect_setequal(names(igraph::subcomponent(both, a, mode = "out")), led)
    }
  }
  expect_error(as_igraph(graphs$dag, "twice"), "once", class = "pcgpu_error_argument")
})

test_that("igraph draws a converted graph, and writes it", {
  skip_if_not_installed("igraph")
  graph <- as_igraph(mixed_fits()$full)
  on_no_page(expect_silent(plot(graph)))
  path <- tempfile(fileext = ".graphml")
  on.exit(unlink(path))
  write_network(graph, path)
  expect_identical(compare_graphs(igraph::read_graph(path, "graphml"), mixed_fits()$full)$shd, 0)
})

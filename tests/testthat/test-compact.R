ways <- list(
  skeleton = NULL,
  relaxed = list(),
  conflicts = list(solve.confl = TRUE),
  conservative = list(conservative = TRUE),
  majority = list(maj.rule = TRUE, solve.confl = TRUE),
  rand = list(u2pd = "rand"),
  retry = list(u2pd = "retry")
)

# Returns both results of one call.
both_results <- function(arguments, method, way) {
  call <- function(result) {
    set.seed(3)
    if (is.null(way)) {
      do.call(skeleton, c(arguments, list(method = method, numCores = 2, result = result)))
    } else {
      do.call(pc, c(arguments, list(skel.method = method, numCores = 2, result = result), way))
    }
  }
  # Both may stop at a set that has NA in it, and warn of too few observations.
  both <- function() {
    suppressWarnings(list(compact = call("compact"), full = call("pcAlgo")), classes = "pcgpu_warning_too_few")
  }
  tryCatch(both(), pcgpu_error_numeric = function(e) {
    expect_error(call("compact"), class = "pcgpu_error_numeric")
    expect_error(call("pcAlgo"), class = "pcgpu_error_numeric")
    NULL
  })
}

test_that("a compact result is the pcAlgo, field by field, for every recorded case, method and way to orient", {
  methods <- c("stable", "stable.fast", "original")
  number <- 0
  for (kind in c("gauss", "dis", "bin", "dsep")) {
    for (name in golden_names(kind)) {
      golden <- read_golden(name)
      if (golden$p > 60) {
        next
      }
      arguments <- golden_arguments(golden)
      number <- number + 1
      # Two methods of each case, each with another way; of every tenth case all of them, and all ways.
      for (k in if (number %% 10 == 1) seq_along(methods) else setdiff(seq_along(methods), number %% 3 + 1)) {
        for (way in if (number %% 10 == 1 && golden$p <= 20) {
          names(ways)
        } else {
          names(ways)[(number + 2 * k) %% length(ways) + 1]
        }) {
          both <- both_results(arguments, methods[k], ways[[way]])
          if (is.null(both)) {
            next
          }
          suppressWarnings(
            expect_same_as_pcalgo(
              both$compact,
              both$full,
              arguments$suffStat,
              arguments$indepTest,
              paste(name, methods[k], way),
              # Of three cases every way with one method, and one way with every method.
              shown = number %in% c(1, 11, 41) && (k == 1 || way == "majority")
            ),
            classes = "pcgpu_warning_too_few"
          )
        }
      }
    }
  }
})

test_that("orienting a compact skeleton equals pc(), in every way", {
  for (seed in 1:3) {
    s <- suff(p = 12, n = 60, degree = 3, seed = seed)
    for (method in c("stable", "stable.fast")) {
      skel <- skeleton(s, gaussCItest, 0.1, p = 12, method = method, result = "compact")
      for (way in ways[-1]) {
        set.seed(9)
        whole <- do.call(pc, c(list(s, gaussCItest, 0.1, p = 12, skel.method = method, result = "compact"), way))
        set.seed(9)
        half <- do.call(orient, c(list(skel), way, list(suffStat = s, indepTest = gaussCItest, alpha = 0.1)))
        half@call <- whole@call
        expect_identical(half, whole, info = paste(seed, method, names(way)))
      }
    }
  }
  expect_error(orient(half), "edges have no direction", class = "pcgpu_error_argument")
})

test_that("fixed pairs, missing correlations and limits on levels leave both results the same", {
  for (k in 1:30) {
    set.seed(k)
    p <- sample(2:8, 1)
    s <- suff(p = p, n = sample(c(8, 20, 60, 300), 1), degree = sample(1:5, 1), seed = k)
    symmetric <- function(share) {
      m <- matrix(stats::runif(p * p) < share, p, p)
      m & t(m)
    }
    if (k %% 5 == 0) {
      s$C[1, 2] <- s$C[2, 1] <- NA
    }
    arguments <- list(
      suffStat = s,
      indepTest = gaussCItest,
      alpha = sample(c(0.01, 0.05, 0.2, 0.5), 1),
      p = p,
      m.max = sample(c(-1, 0:2, Inf), 1),
      fixedGaps = symmetric(0.3),
      fixedEdges = symmetric(0.3),
      NAdelete = k %% 2 == 0
    )
    for (method in c("stable", "stable.fast", "original")) {
      both <- both_results(arguments, method, ways[[k %% 3 + 1]])
      if (is.null(both)) {
        next
      }
      expect_same_as_pcalgo(both$compact, both$full, s, gaussCItest, paste("problem", k, method), shown = k <= 6)
    }
  }
})

test_that("no edge, all edges, and an R function as the test", {
  none <- list(suffStat = list(C = diag(4), n = 30), indepTest = gaussCItest, alpha = 0.01, p = 4)
  C <- matrix(0.9, 4, 4)
  diag(C) <- 1
  all <- list(suffStat = list(C = C, n = 3000), indepTest = gaussCItest, alpha = 0.01, p = 4, m.max = 1)
  wrapped <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  by_r <- list(suffStat = suff(), indepTest = wrapped, alpha = 0.05, p = 8)
  for (arguments in list(none, all, by_r)) {
    for (method in c("stable", "stable.fast", "original")) {
      for (way in ways[c("skeleton", "relaxed", "conservative")]) {
        both <- both_results(arguments, method, way)
        expect_same_as_pcalgo(both$compact, both$full, arguments$suffStat, arguments$indepTest, method)
      }
    }
  }
  expect_identical(both_results(none, "stable", NULL)$compact@edges$to, integer(0))
  expect_identical(both_results(all, "stable", NULL)$compact@edges$to, c(2:4, 3:4, 4L))
  # The test of that search is not kept.
  fit <- both_results(by_r, "stable", list())$compact
  pair <- which(is.na(suppressWarnings(as(fit, "pcAlgo"))@pMax), arr.ind = TRUE)[1, ]
  expect_error(p_value(fit, pair[1], pair[2], suff()), "R function", class = "pcgpu_error_argument")
  expect_error(as_pcalg(fit, suff()), "R function", class = "pcgpu_error_argument")
})

test_that("nearest-neighbour tests and Pearson's test have compact results", {
  set.seed(4)
  s <- suff_knn(simulate_mixed(60), permutations = 19, seed = 1)
  arguments <- list(suffStat = s, indepTest = mixedCItest, alpha = 0.1, labels = letters[1:4])
  both <- both_results(arguments, "stable", list())
  expect_same_as_pcalgo(both$compact, both$full, s, mixedCItest, "mixed")
  golden <- read_golden(golden_names("dis")[1L])
  arguments <- golden_arguments(golden)
  arguments$indepTest <- chi2CItest
  both <- both_results(arguments, "stable", list())
  expect_same_as_pcalgo(both$compact, both$full, arguments$suffStat, chi2CItest, "chi2")
})

test_that("the p-value of a pair that level 0 removed gives an error without suffStat", {
  s <- suff()
  fit <- pc(s, gaussCItest, 0.01, p = 8, result = "compact")
  pair <- which(is.na(suppressWarnings(as(fit, "pcAlgo"))@pMax), arr.ind = TRUE)[1, ]
  error <- expect_error(
    p_value(fit, pair[1], pair[2]),
    "level 0 removed the pair: give `suffStat`",
    class = "pcgpu_error_level0"
  )
  expect_identical(sort(c(error$a, error$b)), unname(sort(pair)))
  warning <- expect_warning(as(fit, "pcAlgo"), "suffStat", class = "pcgpu_warning_level0")
  # Found by the name of the test, which is kept.
  full <- pc(s, gaussCItest, 0.01, p = 8)
  expect_equal(p_value(fit, pair[1], pair[2], suffStat = s), full@pMax[pair[1], pair[2]], tolerance = 1e-12)
  # As the method of the search has them, to the last bit, where r is negative, too.
  pairs <- which(upper.tri(diag(8)), arr.ind = TRUE)
  for (method in c("stable", "stable.fast")) {
    found <- lapply(c(full = "pcAlgo", compact = "compact"), function(result) {
      skeleton(s, gaussCItest, 0.01, p = 8, method = method, m.max = 0, result = result)
    })
    expect_identical(
      p_value(found$compact, pairs[, 1], pairs[, 2], suffStat = s),
      found$full@pMax[pairs],
      info = method
    )
  }
  other <- list(C = diag(9), n = 50)
  error <- expect_error(
    p_value(fit, pair[1], pair[2], suffStat = other),
    "for 9 variables",
    class = "pcgpu_error_argument"
  )
  expect_match(conditionMessage(error), "the search, which has 8 variables", fixed = TRUE)
})

test_that("pairs are given by name or number, and others are refused", {
  fits <- list(small_fit(), small_fit(result = "compact"))
  for (fit in fits) {
    expect_identical(sepset(fit, "d", "a"), sepset(fit, 1, 4))
    expect_identical(p_value(fit, "c", c("a", "d")), p_value(fit, 3, c(1, 4)))
    expect_error(sepset(fit, "a", "z"), class = "pcgpu_error_argument")
    expect_error(sepset(fit, "a", c("b", "c")), class = "pcgpu_error_argument")
    expect_error(sepset(fit, 0, 1), class = "pcgpu_error_argument")
    expect_error(p_value(fit, "a", "a"), "a variable other than", class = "pcgpu_error_argument")
    expect_error(p_value(fit, 1:3, 1:2), class = "pcgpu_error_argument")
  }
  expect_null(sepset(fits[[2]], "a", "c"))
  expect_error(sepset(1, "a", "b"), class = "pcgpu_error_argument")
  expect_error(p_value(1, "a", "b"), class = "pcgpu_error_argument")
})

test_that("\"auto\" depends only on the number of variables, and other values are refused", {
  expect_false(pcgpu:::wants_compact("auto", 20000))
  expect_true(pcgpu:::wants_compact("auto", 20001))
  expect_false(pcgpu:::wants_compact("pcAlgo", 1e6))
  expect_true(pcgpu:::wants_compact("compact", 2))
  expect_true(pcgpu:::wants_compact("auto", 20001, globalenv()))
  if (requireNamespace("pcalg", quietly = TRUE)) {
    expect_false(pcgpu:::wants_compact("auto", 20001, asNamespace("pcalg")))
  }
  expect_error(small_fit(result = "dense"), "result", class = "pcgpu_error_argument")
})

test_that("a compact result is saved and read, drawn and converted", {
  fit <- small_fit(result = "compact")
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_identical(readRDS(file), fit)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off(), add = TRUE)
  expect_identical(plot(fit), fit)
  skip_if_not_installed("igraph")
  graphs <- lapply(list(fit, small_fit()), as_igraph)
  expect_identical(igraph::as_data_frame(graphs[[1]], "both"), igraph::as_data_frame(graphs[[2]], "both"))
  for (fitted in list(fit, small_fit())) {
    expect_identical(
      igraph::as_data_frame(igraph::as.igraph(fitted), "both"),
      igraph::as_data_frame(graphs[[1]], "both")
    )
  }
  skip_if_not_installed("Matrix")
  sparse <- as(fit, "dgCMatrix")
  expect_s4_class(sparse, "dgCMatrix")
  expect_equal(as.matrix(sparse), `attr<-`(as(fit, "matrix"), "type", NULL))
  for (class in c("CsparseMatrix", "sparseMatrix", "Matrix")) {
    expect_identical(as(fit, class), sparse)
  }
})

test_that("a saved compact result is read without pcgpu's help, with and without pcalg", {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(small_fit(result = "compact"), file)
  read <- sprintf("fit <- readRDS(%s)", deparse(file))
  output <- in_new_session(
    c(read, "library(pcgpu)", "fit", "edges(fit)", "invisible(suppressWarnings(as(fit, 'pcAlgo')))"),
    .libPaths()
  )
  expect_match(output, "Number of directed edges:    3", all = FALSE)
  expect_false(any(grepl("Error", output)))
})

test_that("a graph of many edges, whose default weights are not listed, is the same to graph's and pcalg's functions", {
  set.seed(5)
  p <- 40
  m <- matrix(stats::rbinom(p * p, 1, 0.1), p, p, dimnames = rep(list(paste0("v", 1:p)), 2))
  diag(m) <- 0
  both <- m == 1 & t(m) == 1
  conflicts <- m
  conflicts[both] <- 2
  for (m in list(skeleton = pmax(m, t(m)), directed = m, conflicts = conflicts)) {
    edges <- lapply(seq_len(p), function(i) unname(which(m[i, ] != 0)))
    weights <- lapply(seq_len(p), function(i) unname(m[i, m[i, ] != 0]))
    whole <- pcgpu:::graph_from_edges(colnames(m), edges, weights, one = 1)
    expect_length(whole@edgeData@data, sum(m != 0))
    short <- pcgpu:::graph_from_edges(colnames(m), edges, weights, one = 1, most = 10L)
    if (all(m < 2)) {
      symmetric <- identical(m, t(m))
      expect_identical(pcgpu:::graph_from_edges(colnames(m), edges, one = 1, symmetric = symmetric, most = 10L), short)
    }
    expect_length(short@edgeData@data, sum(m == 2))
    same <- function(f) expect_identical(f(short), f(whole))
    same(function(g) as(g, "matrix"))
    same(graph::edgeWeights)
    same(function(g) graph::edgeData(g, attr = "weight"))
    same(function(g) graph::edgeMatrix(g))
    same(graph::edges)
    same(graph::numEdges)
    same(graph::isDirected)
    same(graph::degree)
    same(function(g) as(g, "graphAM")@adjMat)
    same(function(g) as(graph::ugraph(g), "matrix"))
    same(function(g) as(graph::subGraph(colnames(m)[1:20], g), "matrix"))
    same(pcgpu:::edges_of_graph)
    same(function(g) graph::eWV(g, graph::edgeMatrix(g)))
    same(function(g) as(graph::removeNode("v3", g), "matrix"))
    same(function(g) graph::edgeData(g, "v1", attr = "weight"))
    same(function(g) graph::isAdjacent(g, "v1", colnames(m)))
    same(function(g) graph::connComp(g))
    same(function(g) sort(graph::edgeNames(g)))
    expect_true(validObject(short))
    if (requireNamespace("RBGL", quietly = TRUE)) {
      same(function(g) RBGL::connectedComp(graph::ugraph(g)))
      same(function(g) RBGL::sp.between(g, "v1", colnames(m)[-1]))
      same(function(g) RBGL::dijkstra.sp(g, "v1"))
      same(function(g) RBGL::transitive.closure(g))
      same(function(g) RBGL::bfs(g, "v1"))
    }
    if (requireNamespace("igraph", quietly = TRUE)) {
      same(function(g) igraph::as_data_frame(as_igraph(g), "both"))
      same(function(g) igraph::as_data_frame(igraph::graph_from_graphnel(g), "both"))
    }
    if (has_pcalg_itself()) {
      same(function(g) pcalg::shd(g, whole))
      same(function(g) pcalg::wgtMatrix(g))
      same(function(g) pcalg::compareGraphs(g, graph::ugraph(whole)))
    }
    grDevices::pdf(NULL)
    expect_identical(plot_cpdag(short), short)
    grDevices::dev.off()
  }
})

test_that("if R itself cannot allocate a pcAlgo, the error names the compact result; other errors pass", {
  make <- list(function() numeric(1e15), function() stop("cannot allocate vector of size 3.2 Gb"), function() {
    stop("memory exhausted (limit reached?)")
  })
  for (f in make) {
    error <- expect_error(
      pcgpu:::with_room_for_pcalgo(f()),
      "result = \"compact\"",
      fixed = TRUE,
      class = "pcgpu_error_memory"
    )
    expect_match(error$hint, "compact")
  }
  expect_error(pcgpu:::with_room_for_pcalgo(stop("no such thing")), "no such thing", class = "simpleError")
  classed <- structure(
    class = c("own", "error", "condition"),
    list(message = "cannot allocate vector of size 1 Gb", call = NULL)
  )
  expect_error(pcgpu:::with_room_for_pcalgo(stop(classed)), class = "own")
  # The error of a test that is an R function is wrapped as always.
  failing <- function(x, y, S, suffStat) stop("no answer")
  expect_error(skeleton(suff(), failing, 0.05, p = 8), class = "pcgpu_error_test")
})

test_that("p-values and sets are restored from their bytes and bits", {
  s <- suff(p = 12, n = 60, degree = 4, seed = 2)
  fit <- pc(s, gaussCItest, 0.2, p = 12, result = "compact")
  full <- pc(s, gaussCItest, 0.2, p = 12)
  for (rows in list(fit@edges, fit@sets, fit@gaps)) {
    n <- length(rows$to)
    expect_length(rows$p, 8 * n)
    expect_identical(pcgpu:::p_at(rows, c(seq_len(n), NA)), c(pcgpu:::p_at(rows), NA))
  }
  expect_identical(pcgpu:::p_at(fit@edges), full@pMax[cbind(pcgpu:::row_numbers(fit@edges), fit@edges$to)])
  expect_identical(pcgpu:::count_p(fit@sets), sum(!is.na(pcgpu:::p_at(fit@sets))))
  sets <- lapply(seq_along(fit@sets$to), function(entry) as.integer(pcgpu:::set_at(fit, entry)))
  expect_gt(max(lengths(sets)), 1)
  expect_identical(sets, Map(function(x, y) full@sepset[[x]][[y]], pcgpu:::row_numbers(fit@sets), fit@sets$to))
})

test_that("pcalg's effects of a CPDAG do not depend on whether its graph lists weights of 1", {
  skip_without_pcalg()
  s <- suff()
  fit <- pc(s, gaussCItest, 0.05, p = 8)
  listed <- pcgpu:::edges_of_graph(fit@graph)
  short <- pcgpu:::graph_from_edges(listed$labels, listed$edges, one = 1, symmetric = FALSE, most = 2L)
  expect_length(short@edgeData@data, 0)
  for (effects in list(
    function(g) pcalg::ida(1, 5, s$C, g, method = "local"),
    function(g) pcalg::idaFast(2, 3:6, s$C, g),
    function(g) pcalg::jointIda(1:2, 7, s$C, g, technique = "RRC")
  )) {
    expect_identical(effects(short), effects(fit@graph))
  }
})

test_that("results have pcalg's class if it is installed, else ours with the same slots", {
  for (fit in pag_fits()) {
    expect_s4_class(fit, "fciAlgo")
    home <- if (requireNamespace("pcalg", quietly = TRUE)) "pcalg"
    expect_identical(attr(class(fit), "package"), home)
    expect_true(is(fit, "gAlgo"))
    expect_true(validObject(fit))
    types <- c(
      amat = "matrix",
      sepset = "list",
      pMax = "matrix",
      n.edgetests = "numeric",
      max.ord = "integer",
      allPdsep = "list",
      n.edgetestsPDSEP = "numeric",
      max.ordPDSEP = "integer",
      n = "integer"
    )
    for (slot in names(types)) {
      expect_true(is(methods::slot(fit, slot), types[[slot]]), info = slot)
    }
    labels <- rownames(fit@amat)
    expect_identical(as(fit, "matrix"), structure(fit@amat, type = "amat.pag"))
    expect_identical(as(fit, "amat"), structure(fit@amat, class = "amat", type = "pag"))
    file <- tempfile(fileext = ".rds")
    saveRDS(fit, file)
    expect_identical(readRDS(file), fit)
    expect_identical(as_pcalg(fit), fit)
    unlink(file)
  }
})

test_that("without pcalg they print as pcalg prints them, with the number of edges of each kind", {
  skip_with_pcalg()
  fits <- pag_fits()
  lines <- capture.output(print(fits$fci))
  expect_identical(lines[1], "Object of class 'fciAlgo', from Call:")
  expect_match(lines[length(lines)], "^Edges: (--> [0-9]+, )?(o-> [0-9]+)")
  lines <- capture.output(summary(fits$fci))
  for (line in c(
    "Nmb. edgetests during skeleton estimation:",
    "Add. nmb. edgetests when using PDSEP:",
    "Size distribution of SEPSET:",
    "Size distribution of PDSEP:"
  )) {
    expect_true(line %in% lines, info = line)
  }
  expect_true("G[i,j] = 1/2/3 if edge mark of edge i-j at j is circle/head/tail." %in% lines)
  expect_no_match(capture.output(summary(fits$fci, amat = FALSE)), "Adjacency Matrix")
  expect_no_match(capture.output(summary(fits$fciPlus)), "edgetests")
  expect_identical(capture.output(fits$rfci), capture.output(print(fits$rfci)))
})

test_that("a summary is pcalg's, line by line", {
  skip_without_pcalg()
  home <- dirname(system.file(package = "pcalg"))
  without <- setdiff(.libPaths(), home)
  needed <- vapply(c("pcgpu", "graph"), function(package) nzchar(system.file(package = package, lib.loc = without)), NA)
  skip_if_not(all(needed), "pcalg cannot be left out of the library paths")
  lines <- c(
    "set.seed(1)",
    "x <- matrix(rnorm(2100), 300, 7)",
    "x[, 3] <- x[, 1] + x[, 2] + x[, 3]",
    "x[, 5] <- x[, 3] + x[, 4] + x[, 5]",
    "for (search in list(pcgpu::fci, pcgpu::rfci, pcgpu::fciPlus)) { fit <- search(pcgpu::suff_gauss(x), pcgpu::gaussCItest, 0.2, p = 7); fit@call <- quote(f(x))",
    "summary(fit); summary(fit, amat = FALSE) }"
  )
  theirs <- in_new_session(c("suppressMessages({library(pcalg); library(pcgpu)})", lines))
  ours <- in_new_session(c("suppressMessages(library(pcgpu))", lines), without)
  expect_identical(sum(grepl("^Edges: ", ours)), 6L)
  # Except the line that counts edges by kind.
  said <- function(lines) Filter(nzchar, sub(" +$", "", lines[!startsWith(lines, "Edges: ")]))
  expect_identical(said(ours), said(theirs))
})

test_that("a summary of many variables fits on a screen", {
  x <- simulate(60, 200, degree = 3)
  fit <- fci(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), m.max = 2)
  lines <- capture.output(summary(fit))
  expect_lt(length(lines), 25)
  expect_match(lines, "^60 variables, [0-9]+ edges: ", all = FALSE)
  expect_match(lines, "^Possible-d-sep phase: [0-9,]+; by size of sets: 0: 0, 1: ", all = FALSE)
  expect_gt(length(capture.output(summary(fit, amat = TRUE))), 60)
  plus <- capture.output(summary(fciPlus(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x))))
  expect_no_match(plus, "Tests:")
})

test_that("objects saved with or without pcalg are read with or without it", {
  skip_without_pcalgs_class()
  home <- dirname(system.file(package = "pcalg"))
  without <- setdiff(.libPaths(), home)
  needed <- vapply(c("pcgpu", "graph"), function(package) nzchar(system.file(package = package, lib.loc = without)), NA)
  skip_if_not(all(needed), "pcalg cannot be left out of the library paths")
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  make <- c(
    "suppressMessages(library(pcgpu))",
    "x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)",
    "fit <- fci(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), numCores = 1)",
    sprintf("saveRDS(fit, %s)", deparse(file))
  )
  show <- c(
    sprintf("fit <- readRDS(%s)", deparse(file)),
    "print(as_pcalg(fit)); print(edges(as_pcalg(fit))); summary(as_pcalg(fit), amat = FALSE); cat('done\\n')",
    "pdf(NULL); invisible(plot(as_pcalg(fit))); cat(sepset(as_pcalg(fit), 'a', 'b'), 'set\\n')"
  )
  tables <- list()
  with <- .libPaths()
  for (how in list(
    list(make = with, read = without, attach = "library(pcgpu)"),
    list(make = without, read = with, attach = "library(pcgpu)"),
    list(make = without, read = with, attach = "library(pcgpu); library(pcalg)")
  )) {
    in_new_session(make, how$make)
    lines <- in_new_session(c(sprintf("suppressMessages({%s})", how$attach), show), how$read)
    expect_true("done" %in% lines, info = paste(c(how$attach, lines), collapse = "\n"))
    expect_identical(lines[length(lines)], " set", info = how$attach)
    tables <- c(tables, list(lines[grep("from to kind", lines) + 0:2]))
  }
  expect_identical(unique(tables), tables[1])
})

test_that("tables have the edges, their kinds and p-values", {
  for (fit in pag_fits()) {
    table <- edges(fit)
    amat <- fit@amat
    expect_identical(nrow(table), as.integer(sum(amat > 0) / 2))
    sign <- function(mark, arrow) c("o", arrow, "-")[mark]
    expect_identical(
      table$kind,
      paste0(sign(amat[cbind(table$to, table$from)], "<"), "-", sign(amat[cbind(table$from, table$to)], ">"))
    )
    expect_true(all(table$kind %in% c("-->", "o->", "<->", "o-o", "o--", "---")))
    expect_identical(as.data.frame(fit), table)
    if (length(fit@sepset)) {
      expect_identical(
        table$p,
        pmax(fit@pMax, t(fit@pMax))[cbind(match(table$from, rownames(amat)), match(table$to, rownames(amat)))]
      )
    } else {
      expect_null(table$p)
    }
    if (requireNamespace("generics", quietly = TRUE)) {
      expect_identical(generics::tidy(fit), table)
      row <- generics::glance(fit)
      expect_identical(nrow(row), 1L)
      expect_equal(row$edges, sum(unlist(row[pcgpu:::names_of_pag])))
      expect_equal(row$partially_directed, sum(table$kind == "o->"))
      expect_identical(row$alpha, 0.05)
      if (length(fit@sepset)) {
        expect_equal(c(row$tests, row$tests_pdsep), c(sum(fit@n.edgetests), sum(run_details(fit)$phase$tests)))
      } else {
        expect_true(is.na(row$tests))
      }
    }
  }
  expect_identical(odd_pag() |> pcgpu:::network_of() |> pcgpu:::named_edges(), odd_pag_edges())
})

test_that("sets, p-values and neighbours are found", {
  fits <- pag_fits()
  for (fit in fits[c("fci", "rfci")]) {
    labels <- rownames(fit@amat)
    for (pair in utils::combn(8, 2, simplify = FALSE)) {
      set <- fit@sepset[[pair[1]]][[pair[2]]]
      if (is.null(set)) {
        set <- fit@sepset[[pair[2]]][[pair[1]]]
      }
      expect_identical(sepset(fit, pair[1], pair[2]), if (!is.null(set)) labels[set])
    }
    expect_identical(p_value(fit, labels[1], labels[-1]), unname(pmax(fit@pMax[1, -1], fit@pMax[-1, 1])))
  }
  for (ask in list(sepset, p_value)) {
    expect_error(
      ask(fits$fciPlus, 1, 2),
      "fciPlus\\(\\), which stores neither separating sets",
      class = "pcgpu_error_argument"
    )
  }
  near <- neighbours(odd_pag(), odd_names[c(3, 6)])
  expect_identical(
    near$kind[match(odd_names[c(2, 4, 5, 7)], near$name)],
    c("possible parent", "spouse", "unknown", "undirected")
  )
  expect_identical(neighbours(odd_pag(), odd_names[1])$kind, c("child", "possible child"))
  expect_identical(neighbours(odd_pag(), odd_names[2], follow = "parents")$name, odd_names[1])
})

test_that("false discovery rates are of fci() alone", {
  fits <- pag_fits()
  found <- q_values(fits$fci)
  p <- pmax(fits$fci@pMax, t(fits$fci@pMax))
  all <- p[upper.tri(p)]
  want <- stats::p.adjust(all, "BH")[match(found$p, all)]
  expect_equal(found$q, want)
  expect_identical(attr(found, "tests"), 28)
  for (fit in fits[c("rfci", "fciPlus")]) {
    expect_error(q_values(fit), "does not store the p-values of all its tests", class = "pcgpu_error_argument")
  }
})

test_that("other packages' graphs have the kinds", {
  expect_identical(
    strsplit(as_dagitty(odd_pag(letters[1:11]), text = TRUE), "\n")[[1]][-(2:12)],
    c("pag {", "a -> b", "a @-> h", "b @-> c", "c <-> d", "d @-@ e", "f @-- e", "f -- g", "j -> i", "}")
  )
  arguments <- pcgpu:::caugi_arguments(odd_pag(), pcgpu:::network_of(odd_pag()))
  expect_identical(arguments$class, "UNKNOWN")
  expect_identical(arguments$edge, c("-->", "o->", "o->", "<->", "o-o", "--o", "---", "-->"))
  expect_identical(arguments$from[6], odd_names[5])
  expect_error(as_bn(odd_pag()), "as_dagitty", class = "pcgpu_error_argument")
  skip_if_not_installed("igraph")
  graph <- as_igraph(odd_pag())
  expect_identical(igraph::graph_attr(graph, "type"), "PAG")
  expect_identical(pcgpu:::named_edges(pcgpu:::network_of(graph)), odd_pag_edges())
  expect_identical(igraph::E(graph)$mark, unname(c(o = 1, ">" = 2, "-" = 3)[substr(igraph::E(graph)$kind, 3, 3)]))
  expect_error(cpdag_of(graph), "a PAG, which allows for hidden variables", class = "pcgpu_error_argument")
  fit <- pag_fits()$fci
  expect_identical(igraph::as_data_frame(igraph::as.igraph(fit)), igraph::as_data_frame(as_igraph(fit)))
})

test_that("dagitty reads the text", {
  skip_if_not_installed("dagitty")
  found <- dagitty::edges(as_dagitty(odd_pag(letters[1:11])))
  expect_identical(sort(as.character(found$e)), sort(c("->", "@->", "@->", "<->", "@-@", "@--", "--", "->")))
})

test_that("files have the kinds", {
  path <- tempfile(fileext = ".gv")
  on.exit(unlink(path))
  write_network(odd_pag(letters[1:11]), path)
  lines <- grep("->", readLines(path), value = TRUE, fixed = TRUE)
  expect_identical(
    lines,
    paste0(
      "  ",
      c(
        "\"a\" -> \"b\" [kind=\"-->\"];",
        "\"a\" -> \"h\" [kind=\"o->\" dir=both arrowtail=odot];",
        "\"b\" -> \"c\" [kind=\"o->\" dir=both arrowtail=odot];",
        "\"c\" -> \"d\" [kind=\"<->\" dir=both];",
        "\"d\" -> \"e\" [kind=\"o-o\" dir=both arrowtail=odot arrowhead=odot];",
        "\"f\" -> \"e\" [kind=\"o--\" dir=both arrowtail=odot arrowhead=none];",
        "\"f\" -> \"g\" [kind=\"---\" dir=none];",
        "\"j\" -> \"i\" [kind=\"-->\"];"
      )
    )
  )
  sif <- tempfile(fileext = ".sif")
  write_network(odd_pag(letters[1:11]), sif)
  expect_identical(readLines(sif)[c(2, 5, 9)], c("a\to->\th", "d\to-o\te", "k"))
  unlink(c(sif, sub("sif$", "edges.tsv", sif)))
  skip_if_not_installed("jsonlite")
  cx2 <- tempfile(fileext = ".cx2")
  write_network(odd_pag(), cx2)
  found <- jsonlite::fromJSON(cx2, simplifyVector = FALSE)
  part <- function(name) Find(function(part) !is.null(part[[name]]), found)[[name]]
  expect_identical(vapply(part("edges"), function(edge) edge$v$interaction, ""), odd_pag_edges()$kind)
  map <- part("visualProperties")[[1]]$edgeMapping$EDGE_SOURCE_ARROW_SHAPE$definition$map
  expect_identical(vapply(map, `[[`, "", "vp"), c("none", "circle", "triangle", "circle", "circle", "none"))
  unlink(cx2)
  skip_if_not_installed("igraph")
  graphml <- tempfile(fileext = ".graphml")
  write_network(odd_pag(), graphml)
  read <- igraph::read_graph(graphml, "graphml")
  expect_identical(pcgpu:::named_edges(pcgpu:::network_of(read)), odd_pag_edges())
  expect_identical(compare_graphs(read, odd_pag())$shd, 0)
  unlink(graphml)
})

test_that("every function that takes a graph takes a PAG, or names the function that does", {
  x <- simulate(8, 200)
  for (fit in pag_fits()) {
    refusals <- list(
      causal_effects(fit, x) |> quote(),
      add_knowledge(fit, tiers = 1:8) |> quote(),
      markov_check(fit, x) |> quote(),
      cpdag_of(fit) |> quote(),
      dag_of(fit) |> quote(),
      orient(fit) |> quote(),
      as_bn(fit) |> quote(),
      pdsep(fit, suff(), gaussCItest, 8, list(), 0.1, diag(8)) |> quote(),
      udag2pag(fit, list()) |> quote(),
      averaged_cpdag(fit) |> quote(),
      compare_graphs(fit, random_dag(8, seed = 1)) |> quote(),
      compare_graphs(list(small_fit(), fit), fit) |> quote()
    )
    for (call in refusals) {
      e <- expect_error(eval(call), class = "pcgpu_error_argument", info = deparse(call)[1])
      expect_match(conditionMessage(e), "PAG|matrix of marks|stability", info = deparse(call)[1])
    }
  }
  expect_error(causal_effects(fit, x), "backdoor", class = "pcgpu_error_argument")
  expect_error(add_knowledge(fit, tiers = 1:8), "to fci\\(\\) itself", class = "pcgpu_error_argument")
  expect_error(orient(fit), "udag2pag", class = "pcgpu_error_argument")
})

test_that("print() of a PAG counts its edges by kind, with pcalg's method and with ours", {
  set.seed(1)
  h <- rnorm(1000)
  x <- data.frame(u = rnorm(1000), v = rnorm(1000))
  x$a <- x$u + h + rnorm(1000)
  x$b <- x$v + h + rnorm(1000)
  for (search in list(fci, rfci, fciPlus)) {
    fit <- search(suff_gauss(x), gaussCItest, alpha = 0.01, labels = names(x))
    for (print in list(print, methods::show, print_fci, summary)) {
      said <- capture.output(print(fit))
      expect_identical(sum(grepl("^Edges: ", said)), 1L)
      expect_match(said, "^Edges: o-> 2, <-> 1$", all = FALSE)
    }
  }
})

test_that("plot() draws if Rgraphviz is missing, whichever package is attached first", {
  skip_without_pcalgs_class()
  skip_if(requireNamespace("Rgraphviz", quietly = TRUE), "Rgraphviz is installed")
  lines <- c(
    "x <- cbind(a = sin(1:50), b = cos(1:50 * 2), c = sin(1:50) + cos(1:50 * 2) + sin(1:50 * 7) / 5)",
    "fit <- pcgpu::fci(pcgpu::suff_gauss(x), pcgpu::gaussCItest, 0.05, labels = colnames(x), numCores = 1)",
    "pdf(NULL); plot(fit); cat('done\\n')"
  )
  for (attach in c("library(pcgpu)", "library(pcalg); library(pcgpu)", "library(pcgpu); library(pcalg)")) {
    expect_true("done" %in% in_new_session(c(sprintf("suppressMessages({%s})", attach), lines)), info = attach)
  }
})

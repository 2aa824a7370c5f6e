# Calls of pcalg's functions with x where they take a graph, a matrix or a result, by name and what they want. `graph`: another graph.
calls_of_pcalg <- function(graph) {
  gauss <- list(C = diag(4), n = 1000)
  test <- pcalg::gaussCItest
  of_result <- list(
    showEdgeList = function(x) pcalg::showEdgeList(x), udag2pdag = function(x) pcalg::udag2pdag(x),
    udag2pdagRelaxed = function(x) pcalg::udag2pdagRelaxed(x), udag2pdagSpecial = function(x) pcalg::udag2pdagSpecial(x),
    pc.cons.intern = function(x) pcalg::pc.cons.intern(x, gauss, test, 0.01),
    beta.special = function(x) pcalg::beta.special(matrix(sin(1:40), 10), 1, 2, pcObj = x),
    beta.special.pcObj = function(x) pcalg::beta.special.pcObj(1, 2, x, diag(4))
  )
  of_graph <- list(
    getGraph = function(x) pcalg::getGraph(x), iplotPC = function(x) pcalg::iplotPC(x), showAmat = function(x) pcalg::showAmat(x),
    ida = function(x) pcalg::ida(1, 2, diag(4), x), ida = function(x) pcalg::ida(1, 2, diag(4), x, method = "optimal"),
    ida = function(x) pcalg::ida(1, 2, diag(4), x, method = "global"), idaFast = function(x) pcalg::idaFast(1, 2:3, diag(4), x),
    jointIda = function(x) pcalg::jointIda(1, 2, diag(4), x), optAdjSet = function(x) pcalg::optAdjSet(x, 1, 3),
    causalEffect = function(x) pcalg::causalEffect(x, 3, 1), dsep = function(x) pcalg::dsep("a", "b", NULL, x),
    dsepTest = function(x) pcalg::dsepTest(1, 2, NULL, list(g = x)), shd = function(x) pcalg::shd(x, graph), shd = function(x) pcalg::shd(graph, x),
    compareGraphs = function(x) pcalg::compareGraphs(x, graph), compareGraphs = function(x) pcalg::compareGraphs(graph, x),
    dag2cpdag = function(x) pcalg::dag2cpdag(x), dag2essgraph = function(x) pcalg::dag2essgraph(x), pdag2dag = function(x) pcalg::pdag2dag(x),
    addBgKnowledge = function(x) pcalg::addBgKnowledge(x), addBgKnowledge = function(x) pcalg::addBgKnowledge(x, "a", "c", checkInput = FALSE),
    plotSG = function(x) pcalg::plotSG(x, "a", 1, plot = FALSE), wgtMatrix = function(x) pcalg::wgtMatrix(x), trueCov = function(x) pcalg::trueCov(x),
    rmvDAG = function(x) pcalg::rmvDAG(5, x), opt.target = function(x) pcalg::opt.target(x, 1),
    dag2pag = function(x) pcalg::dag2pag(gauss, test, x, NULL, 0.01), pdsep = function(x) pcalg::pdsep(x, gauss, test, 4, list(), 0.01, diag(4))
  )
  of_amat <- list(
    gac = function(x) pcalg::gac(x, 1, 4, 3, "cpdag"), adjustment = function(x) pcalg::adjustment(x, "cpdag", 1, 4, "all"),
    possDe = function(x) pcalg::possDe(x, 1, type = "cpdag"), possDe = function(x) pcalg::possDe(x, 1, type = "cpdag", ds = FALSE),
    possAn = function(x) pcalg::possAn(x, 1, type = "cpdag"), isValidGraph = function(x) pcalg::isValidGraph(x, "cpdag"),
    isValidGraph = function(x) pcalg::isValidGraph(x, "dag"), pdag2allDags = function(x) pcalg::pdag2allDags(x),
    allDags = function(x) pcalg::allDags(x, x, NULL), amat2dag = function(x) pcalg::amat2dag(x),
    pcalg2dagitty = function(x) pcalg::pcalg2dagitty(x, letters[1:4]), find.unsh.triple = function(x) pcalg::find.unsh.triple(x, check = FALSE)
  )
  of_matrix <- list(
    backdoor = function(x) pcalg::backdoor(x, 1, 4, "cpdag"), searchAM = function(x) pcalg::searchAM(x, 1, "an"),
    possibleDe = function(x) pcalg::possibleDe(x, 1), visibleEdge = function(x) pcalg::visibleEdge(x, 1, 3),
    legal.path = function(x) pcalg::legal.path(1, 3, 2, x), dreach = function(x) pcalg::dreach(1, 3, x), qreach = function(x) pcalg::qreach(1, x),
    dsepAM = function(x) pcalg::dsepAM(1, 2, NULL, x), dsepAMTest = function(x) pcalg::dsepAMTest(1, 2, NULL, list(g = x)),
    pag2anc = function(x) pcalg::pag2anc(x), pag2conf = function(x) pcalg::pag2conf(x), pag2edge = function(x) pcalg::pag2edge(x),
    pag2magAM = function(x) pcalg::pag2magAM(x, 1), plotAG = function(x) pcalg::plotAG(x), udag2pag = function(x) pcalg::udag2pag(x, list()),
    udag2apag = function(x) pcalg::udag2apag(x, gauss, test, 0.01, list()),
    rfci.vStruc = function(x) pcalg::rfci.vStruc(gauss, test, 0.01, list(), x, cbind(c(1, 3, 2)), 1)
  )
  list(
    "as_pcalg(x)" = of_result, "as(x, \"graphNEL\")" = of_graph, "as(x, \"amat\")" = of_amat, "as(x, \"matrix\")" = of_matrix
  )
}

# Each call ends in the error that names the conversion. `but`: functions that are left out.
expect_named_conversions <- function(fit, calls, but) {
  for (give in names(calls)) {
    for (at in which(!names(calls[[give]]) %in% but)) {
      name <- names(calls[[give]])[at]
      utils::capture.output(error <- tryCatch(suppressMessages(suppressWarnings(calls[[give]][[at]](fit))), error = identity))
      # Where a package that is loaded (Matrix, say) has S4 methods of `[<-`, R makes an error of its own of ours, with its words.
      if (!startsWith(conditionMessage(error), "error in evaluating the argument")) {
        expect_s3_class(error, "pcgpu_error_argument")
        expect_identical(error$hint, paste("give", give), info = name)
      }
      expect_match(conditionMessage(error), paste("give", give), fixed = TRUE, info = name)
      expect_match(conditionMessage(error), sprintf("class pcCompact, but %s() of pcalg needs", name), fixed = TRUE, info = name)
    }
  }
}

test_that("pcalg's functions name the conversion that they want", {
  skip_without_pcalgs_class()
  fit <- small_fit(result = "compact")
  calls <- calls_of_pcalg(as(fit, "graphNEL"))
  # This one asks for Rgraphviz before it looks at anything.
  absent <- if (!requireNamespace("Rgraphviz", quietly = TRUE)) "plotAG"
  expect_named_conversions(fit, calls, c(absent, names(pcgpu:::guarded_in_pcalg)))
  slots <- c("udag2pdag", "udag2pdagRelaxed", "udag2pdagSpecial", "pc.cons.intern", "beta.special.pcObj")
  for (name in slots) expect_error(calls[["as_pcalg(x)"]][[name]](fit), "no slot of name \"graph\".*pcCompact", info = name)
  use_in_pcalg()
  on.exit(use_in_pcalg(FALSE))
  # pdsep() and udag2pag() are pcgpu's now: one takes a compact result, the other refuses it in its own words.
  expect_named_conversions(fit, calls, c(absent, pcgpu:::replaced_in_pcalg))
  full <- small_fit()
  phase <- function(x) pcalg::pdsep(x, list(C = diag(4), n = 1000), gaussCItest, 4, full@sepset, 0.01, full@pMax)
  expect_identical(phase(fit), phase(full@graph))
  expect_error(calls[["as(x, \"matrix\")"]]$udag2pag(fit), "class pcCompact: give a square matrix", class = "pcgpu_error_argument")
  # The call is the user's.
  expect_identical(tryCatch(pcalg::shd(fit, fit), error = conditionCall), quote(pcalg::shd(fit, fit)))
})

test_that("each function of pcalg with a conversion is called above, and listed once", {
  skip_without_pcalgs_class()
  listed <- unlist(lapply(pcgpu:::wanted_by_pcalg, `[[`, "functions"))
  expect_setequal(unlist(lapply(calls_of_pcalg(small_fit()@graph), names)), listed)
  expect_false(anyDuplicated(listed) > 0)
  expect_true(all(names(pcgpu:::guarded_in_pcalg) %in% listed))
  # Two functions of the same arguments and body would be one to R.
  functions <- lapply(stats::setNames(nm = listed), getExportedValue, ns = "pcalg")
  for (name in listed) expect_identical(pcgpu:::name_in_pcalg(functions[[name]]), name)
})

test_that("no function of pcalg that takes a graph, a matrix or a result is forgotten, and each conversion is taken", {
  skip_without_pcalg()
  fit <- small_fit(result = "compact")
  graph <- as(fit, "graphNEL")
  calls <- calls_of_pcalg(graph)
  listed <- lapply(pcgpu:::wanted_by_pcalg, `[[`, "functions")
  takes <- c(
    "gInput", "sk", "skel", "object", "pc.fit", "pcObj", "myDAG", "g", "g1", "g2", "gl", "gt", "graph", "graphEst", "graphObj", "dag", "essgraph", "amat",
    "amat.pag", "m", "gm", "P", "pag", "apag", "g.amat"
  )
  exported <- Filter(function(name) is.function(getExportedValue("pcalg", name)), getNamespaceExports("pcalg"))
  exported <- exported[!grepl("^\\.__", exported)]
  taking <- Filter(function(name) any(takes %in% names(formals(args(getExportedValue("pcalg", name))))), exported)
  # Methods of classes of their own, and a simulated model.
  expect_identical(setdiff(taking, c(unlist(listed), "show", "summary", "rmvnorm.ivent")), character())
  # What is named is what these want: no error of a type or a class.
  converted <- list("as(x, \"graphNEL\")" = graph, "as(x, \"amat\")" = as(fit, "amat"), "as(x, \"matrix\")" = as(fit, "matrix"))
  converted[["as_pcalg(x)"]] <- suppressWarnings(as_pcalg(fit), classes = "pcgpu_warning_level0")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  # These want packages that may not be there, or nodes that are named by their numbers.
  other <- c("plotAG", "adjustment", "pcalg2dagitty", "backdoor", "plotSG")
  # A CPDAG with arrows is no skeleton, no DAG and no PAG: these say so, or find that nothing is to be done.
  unfit <- "pc.cons.intern|dreach|qreach|dsepAM|dsepAMTest|pdsep|udag2pag|rfci.vStruc|dag2pag|optAdjSet|find.unsh.triple"
  for (give in names(calls)) {
    for (name in setdiff(grep(unfit, names(calls[[give]]), invert = TRUE, value = TRUE), other)) {
      utils::capture.output(expect_error(suppressWarnings(calls[[give]][[name]](converted[[give]])), NA, info = name))
    }
  }
})

test_that("use_in_pcalg() leaves checked functions as they were else", {
  skip_without_pcalgs_class()
  fit <- small_fit()
  graph <- fit@graph
  asked <- function() {
    set.seed(1)
    failing <- tryCatch(pcalg::udag2pdag(), error = conditionMessage)
    list(
      pcalg::shd(fit, graph), pcalg::udag2pdag(fit)@graph, pcalg::udag2pdagRelaxed(fit)@graph, pcalg::rmvDAG(3, graph),
      pcalg::dsepTest(1, 2, NULL, list(g = graph)), pcalg::opt.target(graph, 1), failing
    )
  }
  plain <- asked()
  own <- mget(names(pcgpu:::guarded_in_pcalg), envir = asNamespace("pcalg"))
  use_in_pcalg()
  on.exit(use_in_pcalg(FALSE))
  expect_identical(asked(), plain)
  for (name in names(own)) expect_identical(formals(getExportedValue("pcalg", name)), formals(own[[name]]))
  use_in_pcalg(FALSE)
  expect_identical(mget(names(own), envir = asNamespace("pcalg")), own)
})

test_that("R's operations on matrices say what to convert to, and questions are answered", {
  fit <- small_fit(result = "compact")
  operations <- list(
    function(x) x[1, 2], function(x) x["a"], function(x) x[[1]], function(x) x$graph, function(x) x == 0, function(x) 0 != x, function(x) !x,
    function(x) x + 1, function(x) any(x), function(x) t(x), function(x) as.vector(x)
  )
  for (operation in operations) {
    expect_error(operation(fit), "as_pcalg\\(x\\), as\\(x, \"graphNEL\"\\) or as\\(x, \"amat\"\\)", class = "pcgpu_error_argument")
  }
  expect_false(is.matrix(fit))
  expect_false(is.numeric(fit))
  expect_null(dim(fit))
  expect_length(fit, 1)
  expect_identical(as.matrix(fit), as(fit, "matrix"))
  expect_true(all.equal(fit, fit))
  expect_output(utils::str(fit), "Formal class 'pcCompact'", fixed = TRUE)
  expect_error(fit@graph, "slot")
})

test_that("functions of the package graph want a graph, whoever calls them", {
  fit <- small_fit(result = "compact")
  for (name in c("nodes", "numNodes", "numEdges", "isDirected", "ugraph")) {
    error <- expect_error(getExportedValue("graph", name)(fit), class = "pcgpu_error_argument", info = name)
    expect_match(conditionMessage(error), sprintf("%s() of graph needs a graph: give as(x, \"graphNEL\")", name), fixed = TRUE)
  }
  expect_error(graph::subGraph("a", fit), "subGraph\\(\\) of graph needs a graph", class = "pcgpu_error_argument")
})

test_that("what pcalg asks a compact result for says how to convert", {
  skip_without_pcalgs_class()
  fit <- small_fit(result = "compact")
  graph <- as(fit, "graphNEL")
  covariances <- diag(4)
  wanted <- list(
    getGraph = function(x) pcalg::getGraph(x), iplotPC = function(x) pcalg::iplotPC(x), showEdgeList = function(x) pcalg::showEdgeList(x),
    ida = function(x) pcalg::ida(1, 2, covariances, x), idaFast = function(x) pcalg::idaFast(1, 2:3, covariances, x),
    jointIda = function(x) pcalg::jointIda(1, 2, covariances, x), compareGraphs = function(x) pcalg::compareGraphs(x, graph),
    dsep = function(x) pcalg::dsep("a", "b", NULL, x), pdag2dag = function(x) pcalg::pdag2dag(x),
    addBgKnowledge = function(x) pcalg::addBgKnowledge(x), plotSG = function(x) pcalg::plotSG(x, 1, 2)
  )
  for (name in names(wanted)) {
    give <- if (name == "showEdgeList") "as_pcalg\\(x\\)" else "as\\(x, \"graphNEL\"\\)"
    expect_error(wanted[[name]](fit), give, class = "pcgpu_error_argument", info = name)
  }
  for (name in c("ida", "idaFast", "jointIda", "dsep", "pdag2dag", "addBgKnowledge")) {
    expect_identical(wanted[[name]](graph), wanted[[name]](small_fit()@graph), info = name)
  }
  expect_identical(as(fit, "matrix"), as(small_fit(), "matrix"))
  expect_error(fit@graph, "slot")
  back <- as_pcalg(fit, list(C = diag(4), n = 1000))
  expect_identical(pcalg::shd(back, small_fit()), 0)
  expect_identical(pcalg::getGraph(back), pcalg::getGraph(small_fit()))
})

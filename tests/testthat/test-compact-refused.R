# Calls of pcalg's functions with x where they take a graph, a matrix or a result, by name and by what they want.
# `graph`: another graph.
calls_of_pcalg <- function(graph) {
  gauss <- list(C = diag(4), n = 1000)
  test <- pcalg::gaussCItest
  of_result <- list(
    showEdgeList = function(x) pcalg::showEdgeList(x),
    udag2pdag = function(x) pcalg::udag2pdag(x),
    udag2pdagRelaxed = function(x) pcalg::udag2pdagRelaxed(x),
    udag2pdagSpecial = function(x) pcalg::udag2pdagSpecial(x),
    pc.cons.intern = function(x) pcalg::pc.cons.intern(x, gauss, test, 0.01),
    beta.special = function(x) pcalg::beta.special(matrix(sin(1:40), 10), 1, 2, pcObj = x),
    beta.special.pcObj = function(x) pcalg::beta.special.pcObj(1, 2, x, diag(4))
  )
  of_graph <- list(
    getGraph = function(x) pcalg::getGraph(x),
    iplotPC = function(x) pcalg::iplotPC(x),
    showAmat = function(x) pcalg::showAmat(x),
    ida = function(x) pcalg::ida(1, 2, diag(4), x),
    ida = function(x) pcalg::ida(1, 2, diag(4), x, method = "optimal"),
    ida = function(x) pcalg::ida(1, 2, diag(4), x, method = "global"),
    idaFast = function(x) pcalg::idaFast(1, 2:3, diag(4), x),
    jointIda = function(x) pcalg::jointIda(1, 2, diag(4), x),
    optAdjSet = function(x) pcalg::optAdjSet(x, 1, 3),
    causalEffect = function(x) pcalg::causalEffect(x, 3, 1),
    dsep = function(x) pcalg::dsep("a", "b", NULL, x),
    dsepTest = function(x) pcalg::dsepTest(1, 2, NULL, list(g = x)),
    shd = function(x) pcalg::shd(x, graph),
    shd = function(x) pcalg::shd(graph, x),
    compareGraphs = function(x) pcalg::compareGraphs(x, graph),
    compareGraphs = function(x) pcalg::compareGraphs(graph, x),
    dag2cpdag = function(x) pcalg::dag2cpdag(x),
    dag2essgraph = function(x) pcalg::dag2essgraph(x),
    pdag2dag = function(x) pcalg::pdag2dag(x),
    addBgKnowledge = function(x) pcalg::addBgKnowledge(x),
    addBgKnowledge = function(x) pcalg::addBgKnowledge(x, "a", "c", checkInput = FALSE),
    plotSG = function(x) pcalg::plotSG(x, "a", 1, plot = FALSE),
    wgtMatrix = function(x) pcalg::wgtMatrix(x),
    trueCov = function(x) pcalg::trueCov(x),
    rmvDAG = function(x) pcalg::rmvDAG(5, x),
    opt.target = function(x) pcalg::opt.target(x, 1),
    dag2pag = function(x) pcalg::dag2pag(gauss, test, x, NULL, 0.01),
    pdsep = function(x) pcalg::pdsep(x, gauss, test, 4, list(), 0.01, diag(4))
  )
  of_amat <- list(
    gac = function(x) pcalg::gac(x, 1, 4, 3, "cpdag"),
    adjustment = function(x) pcalg::adjustment(x, "cpdag", 1, 4, "all"),
    possDe = function(x) pcalg::possDe(x, 1, type = "cpdag"),
    possDe = function(x) pcalg::possDe(x, 1, type = "cpdag", ds = FALSE),
    possAn = function(x) pcalg::possAn(x, 1, type = "cpdag"),
    isValidGraph = function(x) pcalg::isValidGraph(x, "cpdag"),
    isValidGraph = function(x) pcalg::isValidGraph(x, "dag"),
    pdag2allDags = function(x) pcalg::pdag2allDags(x),
    allDags = function(x) pcalg::allDags(x, x, NULL),
    amat2dag = function(x) pcalg::amat2dag(x),
    pcalg2dagitty = function(x) pcalg::pcalg2dagitty(x, letters[1:4]),
    find.unsh.triple = function(x) pcalg::find.unsh.triple(x, check = FALSE)
  )
  of_matrix <- list(
    backdoor = function(x) pcalg::backdoor(x, 1, 4, "cpdag"),
    searchAM = function(x) pcalg::searchAM(x, 1, "an"),
    possibleDe = function(x) pcalg::possibleDe(x, 1),
    visibleEdge = function(x) pcalg::visibleEdge(x, 1, 3),
    legal.path = function(x) pcalg::legal.path(1, 3, 2, x),
    dreach = function(x) pcalg::dreach(1, 3, x),
    qreach = function(x) pcalg::qreach(1, x),
    dsepAM = function(x) pcalg::dsepAM(1, 2, NULL, x),
    dsepAMTest = function(x) pcalg::dsepAMTest(1, 2, NULL, list(g = x)),
    pag2anc = function(x) pcalg::pag2anc(x),
    pag2conf = function(x) pcalg::pag2conf(x),
    pag2edge = function(x) pcalg::pag2edge(x),
    pag2magAM = function(x) pcalg::pag2magAM(x, 1),
    plotAG = function(x) pcalg::plotAG(x),
    udag2pag = function(x) pcalg::udag2pag(x, list()),
    udag2apag = function(x) pcalg::udag2apag(x, gauss, test, 0.01, list()),
    rfci.vStruc = function(x) pcalg::rfci.vStruc(gauss, test, 0.01, list(), x, cbind(c(1, 3, 2)), 1)
  )
  list(
    "as_pcalg(x)" = of_result,
    "as(x, \"graphNEL\")" = of_graph,
    "as(x, \"amat\")" = of_amat,
    "as(x, \"matrix\")" = of_matrix
  )
}

# Functions that read a slot or check the class of a result, which no method can intercept. They stop with errors of R
# or of pcalg.
reads_slots <- c("udag2pdag", "udag2pdagRelaxed", "udag2pdagSpecial", "pc.cons.intern", "beta.special.pcObj")
checks_class <- c("shd", "rmvDAG", "opt.target", "dsepTest", "dsepAMTest")

test_that("pcalg's functions stop for a compact result, and name the conversions", {
  skip_without_pcalgs_class()
  fit <- small_fit(result = "compact")
  # plotAG() asks for Rgraphviz before it looks at anything.
  absent <- if (!requireNamespace("Rgraphviz", quietly = TRUE)) "plotAG"
  calls <- do.call(c, unname(calls_of_pcalg(as(fit, "graphNEL"))))
  # pcalg's own beta.special() ignores a `pcObj` of another class.
  calls <- calls[!names(calls) %in% c(absent, "beta.special")]
  for (at in seq_along(calls)) {
    name <- names(calls)[at]
    utils::capture.output(error <- tryCatch(suppressMessages(suppressWarnings(calls[[at]](fit))), error = identity))
    if (name %in% reads_slots) {
      expect_match(conditionMessage(error), "no slot of name \"(graph|sepset|pMax)\".*pcCompact", info = name)
    } else if (name %in% checks_class) {
      expect_s3_class(error, "error")
    } else {
      # If a loaded package, such as Matrix, has S4 methods of `[<-`, R makes an error of its own from ours, with its
      # words.
      if (!startsWith(conditionMessage(error), "error in evaluating the argument")) {
        expect_s3_class(error, "pcgpu_error_argument")
      }
      expect_match(
        conditionMessage(error),
        "class pcCompact, which this function does not accept: pass as_pcalg(x)",
        fixed = TRUE,
        info = name
      )
    }
  }
  # The call is the user's.
  expect_identical(
    tryCatch(pcalg::ida(1, 2, diag(4), fit), error = conditionCall),
    quote(pcalg::ida(1, 2, diag(4), fit))
  )
})

test_that("under use_in_pcalg(), pdsep() accepts a compact result and udag2pag() names what it needs", {
  skip_without_pcalgs_class()
  fit <- small_fit(result = "compact")
  full <- small_fit()
  use_in_pcalg()
  on.exit(use_in_pcalg(FALSE))
  phase <- function(x) pcalg::pdsep(x, list(C = diag(4), n = 1000), gaussCItest, 4, full@sepset, 0.01, full@pMax)
  expect_identical(phase(fit), phase(full@graph))
  expect_error(pcalg::udag2pag(fit, list()), "class pcCompact: give a square matrix", class = "pcgpu_error_argument")
})

test_that("no function of pcalg that takes a graph, a matrix or a result is forgotten, and each conversion works", {
  skip_without_pcalg()
  fit <- small_fit(result = "compact")
  graph <- as(fit, "graphNEL")
  calls <- calls_of_pcalg(graph)
  listed <- lapply(calls, names)
  takes <- c(
    "gInput",
    "sk",
    "skel",
    "object",
    "pc.fit",
    "pcObj",
    "myDAG",
    "g",
    "g1",
    "g2",
    "gl",
    "gt",
    "graph",
    "graphEst",
    "graphObj",
    "dag",
    "essgraph",
    "amat",
    "amat.pag",
    "m",
    "gm",
    "P",
    "pag",
    "apag",
    "g.amat"
  )
  exported <- Filter(function(name) is.function(getExportedValue("pcalg", name)), getNamespaceExports("pcalg"))
  exported <- exported[!grepl("^\\.__", exported)]
  taking <- Filter(function(name) any(takes %in% names(formals(args(getExportedValue("pcalg", name))))), exported)
  # Methods of classes of their own, and a simulated model.
  expect_identical(setdiff(taking, c(unlist(listed), "show", "summary", "rmvnorm.ivent")), character())
  # What is named is what these want: no error of a type or a class.
  converted <- list(
    "as(x, \"graphNEL\")" = graph,
    "as(x, \"amat\")" = as(fit, "amat"),
    "as(x, \"matrix\")" = as(fit, "matrix")
  )
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

test_that("R's operations on matrices name the conversion, and questions are answered", {
  fit <- small_fit(result = "compact")
  operations <- list(
    function(x) x[1, 2],
    function(x) x["a"],
    function(x) x[[1]],
    function(x) x$graph,
    function(x) x == 0,
    function(x) 0 != x,
    function(x) !x,
    function(x) x + 1,
    function(x) any(x),
    function(x) t(x),
    function(x) as.vector(x)
  )
  for (operation in operations) {
    expect_error(
      operation(fit),
      "as_pcalg\\(x\\), as\\(x, \"graphNEL\"\\) or as\\(x, \"amat\"\\)",
      class = "pcgpu_error_argument"
    )
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

test_that("functions of the package graph need a graph, in any call", {
  fit <- small_fit(result = "compact")
  for (name in c("nodes", "numNodes", "numEdges", "isDirected", "ugraph")) {
    error <- expect_error(getExportedValue("graph", name)(fit), class = "pcgpu_error_argument", info = name)
    expect_match(conditionMessage(error), "as(x, \"graphNEL\")", fixed = TRUE)
  }
  expect_error(graph::subGraph("a", fit), "as\\(x, \"graphNEL\"\\)", class = "pcgpu_error_argument")
})

test_that("a compact result that was converted gives pcalg's answers", {
  skip_without_pcalgs_class()
  fit <- small_fit(result = "compact")
  full <- small_fit()
  calls <- calls_of_pcalg(full@graph)[["as(x, \"graphNEL\")"]]
  for (name in c("ida", "idaFast", "jointIda", "dsep", "pdag2dag", "addBgKnowledge")) {
    expect_identical(calls[[name]](as(fit, "graphNEL")), calls[[name]](full@graph), info = name)
  }
  expect_identical(as(fit, "matrix"), as(full, "matrix"))
  back <- as_pcalg(fit, list(C = diag(4), n = 1000))
  expect_identical(pcalg::shd(back, full), 0)
  expect_identical(pcalg::getGraph(back), pcalg::getGraph(full))
})

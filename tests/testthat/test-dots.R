# Returns every S3 method that is registered, with its function: a data frame and a list.
registered_methods <- function() {
  listed <- parseNamespaceFile("pcgpu", dirname(system.file(package = "pcgpu")))$S3methods
  listed <- data.frame(generic = sub(".*::", "", listed[, 1L]), class = listed[, 2L], stringsAsFactors = FALSE)
  listed$name <- paste(listed$generic, listed$class, sep = ".")
  listed$method <- lapply(listed$name, get, envir = asNamespace("pcgpu"))
  # Those that zzz.R registers, as the class is made there.
  made <- data.frame(
    generic = "print",
    class = c("pcAlgo", "fciAlgo"),
    name = c("print.pcAlgo", "print.fciAlgo"),
    stringsAsFactors = FALSE
  )
  made$method <- list(pcgpu:::print_result, pcgpu:::print_fci)
  # knitr passes the options of the chunk.
  listed <- rbind(listed[listed$generic != "knit_print", ], made)
  listed[vapply(listed$method, function(method) "..." %in% names(formals(method)), NA), ]
}

# Makes an object of a class. Its content does not matter, because methods check names of arguments first.
bare_object <- function(class) {
  switch(
    class,
    pcAlgo = mixed_fits()$full,
    pcCompact = mixed_fits()$compact,
    graphNEL = mixed_fits()$full@graph,
    fciAlgo = fci(simulate(4, 50), alpha = 0.1, numCores = 1),
    structure(list(), class = class)
  )
}

test_that("no method has an argument that it does not know", {
  path <- tempfile(fileext = ".pcgpu")
  on.exit(unlink(path))
  write_pcgpu_file(simulate(3, 20), path)
  methods <- registered_methods()
  handed_on <- paste0("tidy.pcgpu_", c("cstar", "effects", "joint_effects", "markov", "selection"))
  expect_gt(nrow(methods), 70)
  on_no_page(
    for (i in seq_len(nrow(methods))) {
      name <- methods$name[i]
      object <- switch(
        methods$class[i],
        pcgpu_file = pcgpu_file(path),
        pcgpu_plink = plink_bed(system.file("extdata", "genotypes.bed", package = "pcgpu")),
        bare_object(methods$class[i])
      )
      first <- switch(
        name,
        "[.pcgpu_file" = ,
        "[.pcgpu_plink" = list(object, 1, 1),
        "[[.pcgpu_gauss_data" = list(object, "n"),
        list(object)
      )
      e <- tryCatch(do.call(methods$method[[i]], c(first, list(colur = 1)), quote = TRUE), error = identity)
      expect_s3_class(e, "pcgpu_error_argument")
      # These refuse whatever they are given, or take objects there.
      if (
        methods$generic[i] %in% c("[", "[[", "Summary", "c") && methods$class[i] %in% c("pcCompact", "pcgpu_moments")
      ) {
        next
      }
      expect_identical(e$argument, "colur", info = name)
      shown <- if (methods$name[i] %in% handed_on) {
        "as.data.frame"
      } else if (
        methods$generic[i] == "plot" &&
          methods$class[i] %in% c("pcAlgo", "pcCompact", "fciAlgo", "graphNEL", "pcgpu_graph")
      ) {
        "plot_cpdag"
      } else {
        methods$generic[i]
      }
      expect_match(conditionMessage(e), sprintf("`colur` is not an argument of %s()", shown), fixed = TRUE, info = name)
    }
  )
})

test_that("S4 methods have no `...` that is not checked", {
  ns <- asNamespace("pcgpu")
  tables <- grep("^[.]__T__", ls(ns, all.names = TRUE), value = TRUE)
  expect_gt(length(tables), 1L)
  for (table in tables) {
    for (signature in ls(ns[[table]])) {
      expect_false(
        "..." %in% names(formals(methods::unRematchDefinition(ns[[table]][[signature]]))),
        info = paste(table, signature)
      )
    }
  }
  expect_error(
    on_no_page(plot(mixed_fits()$full@graph, colur = "red")),
    "did you mean `colour`",
    class = "pcgpu_error_argument"
  )
})

test_that("no exported function has an argument that it does not know", {
  x <- simulate(4, 50)
  calls <- list(
    pc = list(x, alpha = 0.1),
    skeleton = list(suff_gauss(x), gaussCItest, 0.1, p = 4),
    orient = list(mixed_fits()$full),
    fci = list(x, alpha = 0.1),
    rfci = list(x, alpha = 0.1),
    fciPlus = list(x, alpha = 0.1),
    pdsep = list(),
    disco_search = list(),
    pc_control = list(),
    plan_search = list(x, alpha = 0.1),
    recommend_test = list(x),
    stability = list(x, alpha = 0.1),
    compare_groups = list(x, rep(1:2, 25), alpha = 0.1),
    edge_table = list(mixed_fits()$full),
    cstar = list(x, alpha = 0.1),
    plot_cpdag = list(mixed_fits()$full),
    markov_blanket = list(mixed_fits()$full, 1),
    select_features = list(x, x[, 1]),
    selection_ensemble = list(),
    causal_effects = list(mixed_fits()$full),
    local_pc = list(x, 1, 0.1),
    markov_check = list(mixed_fits()$full),
    pcSelect = list(x[, 1], x[, -1], 0.1),
    pcSelect.presel = list(x[, 1], x[, -1], 0.1),
    random_dag = list(3),
    random_data = list(random_dag(3), 10),
    write_network = list(mixed_fits()$full, tempfile()),
    write_pcgpu_file = list(x, tempfile()),
    pcgpu_file = list(tempfile()),
    plink_bed = list(tempfile()),
    suff_gauss = list(x)
  )
  exports <- sort(grep("^[.]__", getNamespaceExports("pcgpu"), invert = TRUE, value = TRUE))
  # edges() is the generic function of the package graph: its methods are looked at above.
  exports <- setdiff(exports, "edges")
  with_dots <- Filter(function(name) "..." %in% names(formals(getExportedValue("pcgpu", name))), exports)
  expect_identical(setdiff(with_dots, names(calls)), character())
  for (name in with_dots) {
    e <- expect_error(suppressMessages(do.call(name, c(calls[[name]], list(tirs = 1)))), class = "pcgpu_error_argument")
    expect_identical(e$argument, "tirs", info = name)
  }
})

test_that("a misspelt argument of plot() is an error with a suggestion, and changes no engine", {
  fit <- mixed_fits()$full
  meant <- c(
    arond = "around",
    labls = "labels",
    colur = "colour",
    title = "main",
    edge_lable = "edge_label",
    Layout = "layout"
  )
  for (name in names(meant)) {
    e <- expect_error(
      do.call(plot_cpdag, c(list(fit), stats::setNames(list("a"), name))),
      sprintf("did you mean `%s`", meant[[name]]),
      fixed = TRUE,
      class = "pcgpu_error_argument"
    )
    expect_identical(e$argument, name)
  }
  found <- stability(simulate(5, 80, degree = 2), gaussCItest, alpha = 0.1, replicates = 3, seed = 1)
  expect_error(plot(found, color = "red"), "did you mean `col`", class = "pcgpu_error_argument")
  expect_error(plot(found, which = "graph", colur = "red"), "did you mean `colour`", class = "pcgpu_error_argument")
  expect_error(plot(found, around = "a"), "which = \"graph\"", class = "pcgpu_error_argument")
  expect_error(print(found, 3, 4), "without a name", class = "pcgpu_error_argument")
  expect_error(plot(fit, "a"), "`y`.*around", class = "pcgpu_error_argument")
  expect_error(
    plot_cpdag(fit, engine = "base", vertex.shape = "circle"),
    "use engine = \"igraph\"",
    class = "pcgpu_error_argument"
  )
  expect_error(
    plot_cpdag(fit, vertex.shape = "circle", nodeAttrs = list()),
    "Rgraphviz, but others are of igraph",
    class = "pcgpu_error_argument"
  )
  expect_identical(pcgpu:::choose_engine("auto", list(cex = 1)), "base")
  expect_identical(pcgpu:::choose_engine("auto", list(cex = 1, vertex.shape = "circle")), "igraph")
  expect_identical(pcgpu:::choose_engine("auto", list(nodeAttrs = list())), "Rgraphviz")
})

test_that("arguments of print() and of plots that R documents are taken", {
  found <- stability(simulate(5, 80, degree = 2), gaussCItest, alpha = 0.1, replicates = 3, seed = 1)
  expect_false(identical(capture.output(print(found, right = FALSE)), capture.output(print(found))))
  expect_false(identical(capture.output(print(found, row.names = TRUE)), capture.output(print(found))))
  expect_silent(on_no_page(plot(found, col.lab = "red", cex.axis = 0.7, las = 2)))
  # data.frame() and as_tibble() hand this on.
  expect_identical(nrow(data.frame(found)), nrow(as.data.frame(found)))
})

# With a line feed, where the format has one.
feed_names <- c("li\nne", odd_names[-1])

known_of <- data.frame(
  name = rev(odd_names),
  size = c(0.1, NA, 1 / 3, 1e-300, Inf, 2, 3, 4, 5, 6, 7),
  count = c(100000L, NA, 1:9),
  good = rep_len(c(TRUE, FALSE, NA), 11),
  "odd \"<&>" = rep_len(c("a\"b\\c <&>", "", NA, "\u00e9"), 11),
  check.names = FALSE
)

written <- function(x, end, ..., lines = FALSE) {
  path <- tempfile(fileext = paste0(".", end))
  paths <- write_network(x, path, ...)
  expect_identical(paths[1], path)
  # Nothing else is left in the folder.
  expect_identical(
    list.files(dirname(path), basename(sub("[.].*$", "", path)), all.files = TRUE),
    sort(basename(paths))
  )
  paths
}

# Expects attributes of nodes as they were given, by name.
expect_known <- function(found, column, names = odd_names) {
  want <- known_of[[column]][match(names, known_of$name)]
  expect_identical(found, want, info = column)
}

test_that("igraph reads all contents of GraphML", {
  skip_if_not_installed("igraph")
  path <- written(odd_graph(feed_names), "graphml")
  graph <- igraph::read_graph(path, "graphml")
  expect_identical(igraph::vertex_attr(graph, "name"), feed_names)
  expect_identical(sorted_edges(igraph::as_data_frame(graph)), sorted_edges(odd_edges(feed_names)))
  path <- written(odd_graph(), "graphml", nodes = known_of)
  graph <- igraph::read_graph(path, "graphml")
  expect_identical(
    compare_graphs(graph, odd_graph())[c("adj_fp", "adj_fn", "shd")],
    compare_graphs(odd_graph(), odd_graph())[c("adj_fp", "adj_fn", "shd")]
  )
  size <- igraph::vertex_attr(graph, "size")
  size[is.nan(size)] <- NA
  expect_known(size, "size")
  expect_equal(
    igraph::vertex_attr(graph, "count"),
    replace(as.double(known_of$count)[match(odd_names, known_of$name)], 10, NaN)
  )
  # igraph gives names of attributes their entities back in part.
  text <- igraph::vertex_attr(graph, grep("^odd", igraph::vertex_attr_names(graph), value = TRUE))
  expect_identical(text, ifelse(is.na(known_of[[5]]), "", known_of[[5]])[match(odd_names, known_of$name)])
  for (fit in mixed_fits()) {
    table <- edges(fit)
    found <- igraph::as_data_frame(igraph::read_graph(written(fit, "graphml"), "graphml"))
    expect_identical(found[c("from", "to", "kind", "p")], table[c("from", "to", "kind", "p")])
  }
})

test_that("GraphML is XML, with edges that have no direction marked as such", {
  skip_if_not_installed("xml2")
  path <- written(odd_graph(feed_names), "graphml")
  found <- xml2::read_xml(path)
  space <- c(g = "http://graphml.graphdrawing.org/xmlns")
  edges <- xml2::xml_find_all(found, "//g:edge", space)
  kind <- xml2::xml_text(xml2::xml_find_first(edges, "g:data[@key='e1']", space))
  expect_identical(xml2::xml_attr(edges, "directed"), ifelse(kind == "---", "false", NA))
  names <- xml2::xml_text(xml2::xml_find_all(found, "//g:node/g:data[@key='v1']", space))
  expect_identical(names, feed_names)
})

test_that("Graphviz reads all contents of DOT", {
  skip_if(!nzchar(Sys.which("dot")), "Graphviz is not installed")
  skip_if_not_installed("jsonlite")
  read <- function(path) {
    said <- suppressWarnings(system2("dot", c("-Tjson0", shQuote(path)), stdout = TRUE, stderr = FALSE))
    expect_null(attr(said, "status"))
    jsonlite::fromJSON(paste(said, collapse = "\n"))
  }
  for (names in list(odd_names, feed_names)) {
    found <- read(written(odd_graph(names), "gv"))
    # Doubled backslashes, as the help says.
    shown <- gsub("\\", "\\\\", names, fixed = TRUE)
    expect_setequal(found$objects$name, shown)
    edges <- data.frame(
      from = found$objects$name[match(found$edges$tail, found$objects$`_gvid`)],
      to = found$objects$name[match(found$edges$head, found$objects$`_gvid`)],
      kind = found$edges$kind
    )
    expect_identical(sorted_edges(edges), sorted_edges(odd_edges(shown)))
    expect_identical(
      found$edges$dir,
      c("-->" = NA, "---" = "none", "<->" = "both")[found$edges$kind],
      ignore_attr = TRUE
    )
  }
  found <- read(written(odd_graph(), "dot", nodes = known_of))
  at <- match(gsub("\\", "\\\\", odd_names, fixed = TRUE), found$objects$name)
  expect_known(as.numeric(found$objects$size[at]), "size")
  expect_known(as.integer(found$objects$count[at]), "count")
  expect_known(found$objects$good[at] == "true", "good")
  fit <- mixed_fits()$compact
  found <- read(written(fit, "gv"))
  key <- paste(
    found$objects$name[match(found$edges$tail, found$objects$`_gvid`)],
    found$objects$name[match(found$edges$head, found$objects$`_gvid`)]
  )
  table <- edges(fit)
  expect_identical(as.numeric(found$edges$p[match(paste(table$from, table$to), key)]), table$p)
})

test_that("Graphviz shows names as they are", {
  skip_if(!nzchar(Sys.which("dot")), "Graphviz is not installed")
  path <- written(odd_graph(), "gv")
  picture <- paste(
    suppressWarnings(system2("dot", c("-Tsvg", shQuote(path)), stdout = TRUE, stderr = FALSE)),
    collapse = "\n"
  )
  skip_if_not_installed("xml2")
  texts <- xml2::xml_text(xml2::xml_find_all(xml2::read_xml(picture), "//*[local-name()='text']"))
  expect_setequal(gsub("\u00a0", " ", texts), odd_names)
  plain <- suppressWarnings(system2("dot", c("-Tplain", shQuote(path)), stdout = TRUE, stderr = FALSE))
  expect_length(grep("^node ", plain), 11)
  expect_length(grep("^edge ", plain), 7)
})

test_that("SIF has a line for each edge and each isolated variable, with tables in other files", {
  paths <- written(odd_graph(), "sif", nodes = known_of)
  lines <- strsplit(readLines(paths[1], encoding = "UTF-8"), "\t", fixed = TRUE)
  expect_identical(lines[lengths(lines) == 1], list("a--b"))
  found <- do.call(rbind, lines[lengths(lines) == 3])
  expect_identical(
    sorted_edges(data.frame(from = found[, 1], to = found[, 3], kind = found[, 2])),
    sorted_edges(odd_edges())
  )
  expect_identical(basename(paths[-1]), paste0(sub("[.]sif$", "", basename(paths[1])), c(".edges.tsv", ".nodes.tsv")))
  read <- function(path) {
    read.delim(
      path,
      quote = "\"",
      encoding = "UTF-8",
      check.names = FALSE,
      na.strings = "",
      colClasses = c(name = "character")
    )
  }
  edges <- read(paths[2])
  expect_identical(edges$name, paste0(edges$from, " (", edges$interaction, ") ", edges$to))
  expect_identical(edges$from, found[, 1])
  nodes <- read(paths[3])
  expect_identical(nodes$name, odd_names)
  expect_known(nodes$size, "size")
  expect_known(nodes$count, "count")
  fit <- mixed_fits()$full
  paths <- written(fit, "sif")
  expect_length(paths, 2)
  expect_identical(read(paths[2])$p, edges(fit)$p)
})

test_that("CX2 follows its specification", {
  skip_if_not_installed("jsonlite")
  path <- written(odd_graph(feed_names), "cx2")
  read <- function(path) jsonlite::fromJSON(readLines(path, encoding = "UTF-8"), simplifyVector = FALSE)
  found <- read(path)
  expect_identical(found[[1]], list(CXVersion = "2.0", hasFragments = FALSE))
  expect_identical(found[[length(found)]], list(status = list(list(success = TRUE))))
  aspect <- function(found, name) unlist(lapply(found, `[[`, name), FALSE)
  for (entry in aspect(found, "metaData")) {
    expect_length(aspect(found, entry$name), entry$elementCount)
  }
  expect_identical(vapply(aspect(found, "nodes"), function(node) node$v$name, ""), feed_names)
  ids <- vapply(aspect(found, "nodes"), `[[`, 0L, "id")
  expect_false(anyDuplicated(ids) > 0)
  ends <- function(found, end) vapply(aspect(found, "edges"), `[[`, 0L, end)
  kinds <- function(found) vapply(aspect(found, "edges"), function(edge) edge$v$interaction, "")
  expect_identical(
    sorted_edges(data.frame(
      from = feed_names[match(ends(found, "s"), ids)],
      to = feed_names[match(ends(found, "t"), ids)],
      kind = kinds(found)
    )),
    sorted_edges(odd_edges(feed_names))
  )
  # Everything is of the type that is declared, and what is missing, or no number of JSON, is not there.
  found <- read(written(odd_graph(), "cx2", nodes = known_of))
  declared <- aspect(found, "attributeDeclarations")[[1]]
  expect_identical(
    vapply(declared$nodes, `[[`, "", "d"),
    c(name = "string", size = "double", count = "integer", good = "boolean", "odd \"<&>" = "string")
  )
  nodes <- aspect(found, "nodes")
  value <- function(name, none) vapply(nodes, function(node) node$v[[name]] %||% none, none)
  expect_known(value("good", NA), "good")
  expect_known(value("count", NA_integer_), "count")
  expect_known(value("odd \"<&>", NA_character_), "odd \"<&>")
  size <- vapply(nodes, function(node) as.double(node$v$size %||% NA), 0)
  expect_identical(size, replace(known_of$size, is.infinite(known_of$size), NA)[match(odd_names, known_of$name)])
  fit <- mixed_fits()$compact
  found <- read(written(fit, "cx2"))
  expect_identical(vapply(aspect(found, "edges"), function(edge) as.double(edge$v$p), 0), edges(fit)$p)
  # The style knows every kind.
  style <- aspect(found, "visualProperties")[[1]]$edgeMapping
  expect_setequal(vapply(style$EDGE_TARGET_ARROW_SHAPE$definition$map, `[[`, "", "v"), c("-->", "---", "<->"))
})

# Positions of a, b, c and d, with y upwards.
given_places <- cbind(c(0, 100.5, 50, 50), c(80, 80, 40, -20))

test_that("positions are in GraphML, CX2 and DOT", {
  write <- function(end, ...) readLines(written(small_fit(), end, ...))
  lines <- write("graphml", layout = given_places)
  expect_identical(
    lines[3:5],
    sprintf(
      "  <key id=\"v%d\" for=\"node\" attr.name=\"%s\" attr.type=\"%s\"/>",
      1:3,
      c("name", "x", "y"),
      c("string", "double", "double")
    )
  )
  expect_match(lines, "<data key=\"v1\">b</data><data key=\"v2\">100.5</data><data key=\"v3\">80</data>", all = FALSE)
  # Cytoscape counts y downwards.
  lines <- write("cx2", layout = given_places)
  expect_match(lines, "{\"id\":4,\"x\":50,\"y\":20,\"v\":{\"name\":\"d\"}}", fixed = TRUE, all = FALSE)
  lines <- write("gv", layout = given_places)
  expect_identical(
    lines[2:4],
    c("  graph [inputscale=72];", "  \"a\" [ pos=\"0,80!\"];", "  \"b\" [ pos=\"100.5,80!\"];")
  )
  for (end in c("graphml", "cx2", "gv")) {
    none <- write(end, layout = FALSE)
    expect_false(any(grepl("\"x\"|pos=|inputscale|\"v2\"", none)), info = end)
    expect_identical(write(end), write(end, layout = "stress"), info = end)
    # Names of rows give the variables.
    turned <- given_places[4:1, ]
    rownames(turned) <- letters[4:1]
    expect_identical(write(end, layout = turned), write(end, layout = given_places), info = end)
  }
})

test_that("our own positions are apart, in every format the same, and igraph reads them", {
  skip_if_not_installed("igraph")
  for (x in list(
    small_fit(),
    small_fit(result = "compact"),
    mixed_fits()$full,
    random_dag(30, 2, seed = 1),
    matrix(0, 2, 2)
  )) {
    graph <- igraph::read_graph(written(x, "graphml"), "graphml")
    xy <- cbind(igraph::vertex_attr(graph, "x"), igraph::vertex_attr(graph, "y"))
    # No two of Graphviz's ellipses overlap.
    near <- as.matrix(stats::dist(xy[, 1])) < 54 & as.matrix(stats::dist(xy[, 2])) < 36
    expect_identical(sum(near), nrow(xy))
    pos <- sub(".* pos=\"(.*)!\".*", "\\1", grep(" pos=", readLines(written(x, "gv")), value = TRUE))
    expect_equal(do.call(rbind, lapply(strsplit(pos, ","), as.double)), xy)
  }
  expect_identical(igraph::layout_nicely(graph), xy)
  # A function has its own unit, which becomes points.
  lines <- readLines(written(small_fit(), "gv", layout = function(graph) cbind(c(1, 2, 0, 0), c(0, 0, 0.5, 1))))
  expect_identical(lines[3:4], c("  \"a\" [ pos=\"90,0!\"];", "  \"b\" [ pos=\"180,0!\"];"))
})

test_that("neato places nodes where the file says", {
  skip_if(!nzchar(Sys.which("neato")), "Graphviz is not installed")
  path <- written(small_fit(), "gv", layout = given_places)
  for (how in list("-n", character())) {
    said <- system2("neato", c(how, "-Tplain", shQuote(path)), stdout = TRUE)
    found <- do.call(rbind, strsplit(grep("^node", said, value = TRUE), " "))[, 2:4]
    xy <- matrix(as.double(found[match(letters[1:4], found[, 1]), 2:3]), 4) * 72
    expect_equal(sweep(xy, 2, xy[1, ]), sweep(given_places, 2, given_places[1, ]), tolerance = 0.01)
  }
})

test_that("positions are left out where they take long, or where the user has columns for them", {
  has <- function(x, ...) any(grepl(" pos=", readLines(written(x, "gv", ...))))
  many <- random_dag(5001, 0.01, seed = 1)
  expect_false(has(many))
  expect_true(has(many, layout = "stress"))
  expect_true(has(random_dag(5000, 0.01, seed = 1)))
  mine <- data.frame(name = letters[1:4], x = 1:4)
  lines <- readLines(written(small_fit(), "graphml", nodes = mine))
  expect_length(grep("attr.name=\"x\"", lines), 1)
  expect_false(any(grepl("attr.name=\"y\"", lines)))
  refused <- function(argument, ..., end = "gv") {
    error <- expect_error(
      write_network(small_fit(), tempfile(fileext = paste0(".", end)), ...),
      class = "pcgpu_error_argument"
    )
    expect_identical(error$argument, argument)
  }
  refused("nodes", nodes = mine, layout = "stress")
  refused("layout", layout = "stress", end = "sif")
  refused("layout", layout = TRUE)
  refused("layout", layout = "tree?")
  refused("layout", layout = given_places[1:3, ])
  refused("layout", layout = replace(given_places, 3, NA))
  expect_length(written(small_fit(), "sif"), 2)
})

test_that("the same graph gives the same bytes, of either class and twice", {
  fits <- mixed_fits()
  for (end in c("graphml", "gv", "sif", "cx2")) {
    bytes <- lapply(list(fits$full, fits$compact, fits$full), function(fit) {
      lapply(written(fit, end), function(path) readBin(path, "raw", file.size(path)))
    })
    expect_identical(bytes[[1]], bytes[[2]], info = end)
    expect_identical(bytes[[1]], bytes[[3]], info = end)
    expect_false(as.raw(13) %in% bytes[[1]][[1]], info = end)
  }
})

test_that("graphs without edges, of two variables, and of none", {
  for (end in c("graphml", "gv", "sif", "cx2")) {
    for (result in c("pcAlgo", "compact")) {
      none <- pc(list(C = diag(2), n = 30), gaussCItest, 0.01, labels = c("a", "b"), result = result)
      lines <- readLines(written(none, end)[1])
      expect_match(lines, "\"?a\"?", all = FALSE)
      expect_false(any(grepl("kind\"?=|-->", lines) & grepl("^  \"|<edge|^a", lines)))
    }
    expect_gte(length(written(matrix(0, 0, 0), end)), 1)
  }
  skip_if_not_installed("jsonlite")
  found <- jsonlite::fromJSON(readLines(written(matrix(0, 0, 0), "cx2")), simplifyVector = FALSE)
  expect_length(found, 8)
  expect_identical(found[[5]], list(nodes = list()))
})

test_that("p-values that no test gave are left out, and strengths are written", {
  skip_if_not_installed("igraph")
  fixed <- matrix(TRUE, 3, 3)
  for (method in c("stable", "stable.fast")) {
    fit <- skeleton(
      list(C = diag(3), n = 30),
      gaussCItest,
      0.01,
      labels = letters[1:3],
      fixedEdges = fixed,
      method = method
    )
    expect_true(all(edges(fit)$p < 0))
    expect_false(any(grepl("\"e2\">", readLines(written(fit, "graphml")))))
  }
  x <- simulate(6, 100, degree = 3, seed = 2)
  found <- stability(x, gaussCItest, alpha = 0.1, replicates = 20, seed = 1, numCores = 2, threshold = 0.3)
  for (graph in list(found, averaged_cpdag(found))) {
    read <- igraph::as_data_frame(igraph::read_graph(written(graph, "graphml"), "graphml"))
    table <- as.data.frame(if (is.list(graph)) averaged_cpdag(found) else graph)
    key <- function(edges) paste(pmin(edges$from, edges$to), pmax(edges$from, edges$to))
    expect_identical(read$strength[match(key(table), key(read))], table$strength)
  }
})

test_that("wrong arguments are named", {
  fit <- small_fit()
  path <- tempfile(fileext = ".graphml")
  refused <- function(code, argument, text = NULL) {
    error <- expect_error(code, text, class = "pcgpu_error_argument")
    expect_identical(error$argument, argument)
  }
  refused(write_network(fit), "file")
  refused(write_network(1, path), "x")
  refused(write_network(fit, 1), "file")
  refused(write_network(fit, tempfile(fileext = ".txt")), "file", "graphml")
  refused(write_network(fit, tempfile()), "file")
  refused(write_network(fit, path, format = "gml"), "format")
  refused(write_network(fit, file.path(tempfile(), "net.gv")), "file")
  refused(write_network(fit, path, nodes = 1:4), "nodes")
  refused(write_network(fit, path, nodes = data.frame(name = c("a", "z"))), "nodes", "\"z\"")
  refused(write_network(fit, path, nodes = data.frame(name = c("a", "a"))), "nodes", "more than once")
  refused(write_network(fit, path, nodes = data.frame(name = "a", day = Sys.Date())), "nodes", "Date")
  refused(write_network(fit, path, nodes = data.frame(name = "a", v = I(list(1)))), "nodes")
  refused(write_network(fit, path, overwrite = NA), "overwrite")
  expect_false(file.exists(path))
  write_network(fit, path, format = "dot")
  expect_identical(readLines(path, 1), "digraph {")
  refused(write_network(fit, path, overwrite = FALSE), "file", "overwrite")
  write_network(fit, path)
  expect_match(readLines(path, 1), "xml")
  # A table that is in the way, before anything is written.
  sif <- tempfile(fileext = ".sif")
  writeLines("mine", sub("sif$", "edges.tsv", sif))
  refused(write_network(fit, sif, overwrite = FALSE), "file", "edges.tsv")
  expect_false(file.exists(sif))
})

test_that("characters that a format does not allow are refused", {
  one <- function(name) matrix(c(0, 0, 1, 0), 2, dimnames = list(c("a", name), c("a", name)))
  refused <- function(name, end) {
    expect_identical(
      expect_error(
        write_network(one(name), tempfile(fileext = end)),
        "does not allow",
        class = "pcgpu_error_argument"
      )$argument,
      "x"
    )
  }
  refused("bell\a", ".graphml")
  refused("\ufffe", ".graphml")
  refused("tab\t", ".sif")
  refused("line\n", ".sif")
  refused("bell\a", ".gv")
  skip_if_not_installed("jsonlite")
  found <- jsonlite::fromJSON(readLines(written(one("bell\a\x7f\t\\"), "cx2")), simplifyVector = FALSE)
  expect_identical(found[[5]]$nodes[[2]]$v$name, "bell\a\x7f\t\\")
  # No tabs say that spaces belong to names.
  expect_error(write_network(one("a b") * 0, tempfile(fileext = ".sif")), "spaces", class = "pcgpu_error_argument")
  bad <- expect_error(
    write_network(small_fit(), tempfile(fileext = ".gv"), nodes = data.frame(name = "a", v = "bell\a")),
    "does not allow",
    class = "pcgpu_error_argument"
  )
  expect_identical(bad$argument, "nodes")
})

test_that("row names give the variables, and NA gives nothing", {
  nodes <- data.frame(v = c(1.5, NA), row.names = c("d", "b"))
  lines <- readLines(written(small_fit(), "gv", nodes = nodes, layout = FALSE))
  expect_identical(lines[2:5], c("  \"a\";", "  \"b\";", "  \"c\";", "  \"d\" [ v=\"1.5\"];"))
})

test_that("objects that cannot be written are an error, and no file is left", {
  skip_on_os("windows")
  expect_error(
    pcgpu:::write_whole("x", file.path(tempdir(), "not there", "net.gv")),
    class = "pcgpu_error_file_unwritable"
  )
  error <- tryCatch(pcgpu:::write_whole("x", file.path(tempdir(), "not there", "net.gv")), error = identity)
  expect_s3_class(error, "pcgpu_error_file")
  expect_match(error$path, "net.gv", fixed = TRUE)
  # A folder of the file's name.
  folder <- tempfile(fileext = ".gv")
  dir.create(file.path(folder, "full"), recursive = TRUE)
  expect_error(pcgpu:::write_whole("x", folder), class = "pcgpu_error_file_unwritable")
  expect_length(list.files(dirname(folder), paste0("^[.]", basename(folder)), all.files = TRUE), 0)
})

test_that("numbers are read as they were written", {
  x <- c(0.1, 1 / 3, 1e-300, .Machine$double.xmin / 8, 1e5, 123456789, -0, NA, Inf, 5e-324)
  expect_identical(as.double(pcgpu:::digits_of(x)), x)
  expect_identical(pcgpu:::digits_of(0.05), "0.05")
  expect_identical(pcgpu:::digits_of(c(100000L, NA)), c("100000", NA))
})

test_that("200,000 edges are written", {
  big <- compact_of(cpdag_of(random_dag(50000, neighbours = 8, seed = 1)), conflicts = 1000)
  for (end in c("graphml", "gv", "sif", "cx2")) {
    path <- tempfile(fileext = paste0(".", end))
    write_network(big, path)
    expect_gt(file.size(path), 3e6)
    expect_false(any(grepl("e+05", readLines(path, 150000L), fixed = TRUE)), info = end)
    unlink(path)
  }
})

#' Write a network to a file for other programs
#'
#' GraphML for Cytoscape, Gephi, yEd, igraph and NetworkX; DOT for Graphviz; SIF and CX2 for Cytoscape. The file contains the kind of each edge and all that is known about it, so no information is
#' lost. The same graph always gives the same bytes, and the file appears under its name only when it is complete.
#'
#' # Formats
#'
#' - `"graphml"`: each edge once, with `directed = "false"` if it has no direction, and with its `kind`, `"-->"`, `"---"` or `"<->"`. Programs that allow only one sort of edge in a graph, such as igraph, treat all edges
#'   as directed: use `kind` there. [as_igraph()] and [compare_graphs()] do so for graphs that `igraph::read_graph(path, "graphml")` returns.
#' - `"dot"`: edges without a direction have `dir=none`, those in conflict have `dir=both` and are red; each has its `kind`. Backslashes in names are doubled where Graphviz shows the names of nodes (`dot -Tplain`), but not in the labels.
#' - `"sif"`: one line for each edge, *from*, kind, *to*, separated by tabs, and one line for each variable without an edge. Further information is in tab-separated tables beside the file, which Cytoscape
#'   imports as tables of edges and nodes by their column `name`: for `net.sif` they are `net.edges.tsv` and, with `nodes`, `net.nodes.tsv`.
#' - `"cx2"`: the current format of Cytoscape and NDEx, with the kind as `interaction` and a style that draws arrowheads according to it.
#'
#' In all formats a PAG of [fci()] and its relatives keeps its kinds, `"-->"`, `"o->"`, `"<->"`, `"o-o"`, `"o--"` and `"---"`: DOT draws the circles as `odot`, CX2 as circles, and in GraphML
#' edges with two equal ends (`"---"`, `"o-o"`) have `directed = "false"`.
#'
#' @param x As in [as_igraph()]. For a result of [stability()], or the graph of [averaged_cpdag()], the file also contains the strengths.
#' @param path The file. Its extension determines the format: `.graphml`, `.gv` or `.dot`, `.sif`, `.cx2`.
#' @param nodes A data frame with information about variables, which are named in its column `name` or, without such a column, in its row names. Numbers, whole numbers, logical values and text (factors) become
#'   attributes of nodes; `NA`, and variables without a row, have none.
#' @param format `"graphml"`, `"dot"`, `"sif"` or `"cx2"`, if the extension of `path` does not determine it.
#' @param overwrite Replace existing files? With `FALSE` one that is there is an error.
#' @return The paths of the files that were written, invisibly. They are in UTF-8. The attributes of edges are `kind` and, if known, `p`, `strength` and `direction`, and `weight`,
#'   as in [edge_table()], with as many digits as are needed to read the same number again. For an edge without a test, `p` is left out.
#'
#'   Errors have the class `pcgpu_error_file_unwritable`, or `pcgpu_error_argument`, also if a name has a character that the format does not allow (XML allows no non-printing characters except tab and line feed, SIF
#'   not even these).
#' @references
#' U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt and M. S. Marshall (2002). GraphML progress report. *Graph Drawing 2001*, LNCS 2265, 501-512.
#'
#' Cytoscape Exchange Format Specification (Version 2). <https://cytoscape.org/cx/cx2/>
#' @seealso [as_igraph()], [edge_table()] for `write.csv()`
#' @examples
#' x <- random_data(random_dag(10, seed = 1), 200, seed = 1, numCores = 2)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' path <- tempfile(fileext = ".graphml")
#' write_network(fit, path, nodes = data.frame(name = colnames(x), mean = colMeans(x)))
#' writeLines(head(readLines(path)))
#' unlink(path)
#' @export
write_network <- function(x, path, nodes = NULL, format = NULL, overwrite = TRUE) {
  check_given(list(x = missing(x), path = missing(path)), list(x = "give a result of pc(), or a graph.", path = "give the path of a file, such as \"net.graphml\"."))
  network <- network_of(x)
  overwrite <- check_flag(overwrite, "overwrite")
  check_path(path, "path")
  format <- network_format(path, format)
  path <- check_new_path(path, "path", overwrite)
  network$labels <- enc2utf8(network$labels)
  network$nodes <- node_table(nodes, network$labels)
  network$edges <- tested_edges(network$edges)
  files <- switch(format, graphml = graphml_lines(network), dot = dot_lines(network), sif = sif_files(network), cx2 = cx2_lines(network))
  if (is.character(files)) files <- list(files)
  paths <- c(path, if (length(files) > 1L) paste0(sub("[.]sif$", "", path, ignore.case = TRUE), ".", names(files)[-1L], ".tsv"))
  for (beside in paths[-1L]) check_new_path(beside, "path", overwrite)
  # The main file comes last: where it is, those beside it are, too.
  for (at in rev(seq_along(files))) write_whole(files[[at]], paths[at])
  invisible(paths)
}

format_of_end <- c(graphml = "graphml", xml = "graphml", gv = "dot", dot = "dot", sif = "sif", cx2 = "cx2")

network_format <- function(path, format) {
  if (!is.null(format)) {
    return(check_choice(format, c("graphml", "dot", "sif", "cx2"), "format"))
  }
  found <- format_of_end[tolower(sub(".*[.]", "", basename(path)))]
  if (is.na(found)) {
    abort_argument("path", path, "let it end with .graphml, .gv, .dot, .sif or .cx2, or give `format`.")
  }
  unname(found)
}

# The table of nodes in the order of the labels, a row each, without its names; NULL for none.
node_table <- function(nodes, labels) {
  if (is.null(nodes)) {
    return(NULL)
  }
  if (!is.data.frame(nodes)) {
    abort_argument("nodes", nodes, "give a data frame with a column `name`, or NULL.")
  }
  named <- "name" %in% names(nodes)
  of <- enc2utf8(as.character(if (named) nodes[["name"]] else row.names(nodes)))
  where <- if (named) "column `name`" else "row names"
  unknown <- unique(of[!of %in% labels])
  if (length(unknown)) {
    abort_argument("nodes", nodes, "give rows for variables of `x`.", has = sprintf("in its %s what is none of them: %s", where, enumerate(encodeString(unknown, quote = "\""))))
  }
  if (anyDuplicated(of)) {
    abort_argument("nodes", nodes, "give one row for each variable.", has = sprintf("in its %s %s more than once", where, encodeString(of[anyDuplicated(of)], quote = "\"")))
  }
  columns <- setdiff(names(nodes), "name")
  if (any(is.na(columns) | !nzchar(columns)) || anyDuplicated(columns)) {
    abort_argument("nodes", nodes, "give each column a name of its own.", has = "columns without a name, or of one name")
  }
  at <- match(labels, of)
  table <- lapply(stats::setNames(columns, columns), function(column) value_column(nodes[[column]], column)[at])
  names(table) <- enc2utf8(columns)
  table
}

value_column <- function(values, column) {
  if (is.factor(values)) values <- as.character(values)
  if (!is.null(dim(values)) || is.object(values) || !(is.logical(values) || is.numeric(values) || is.character(values))) {
    abort_argument("nodes", values, "give numbers, logical values or text: as.character() or as.numeric() of it.", has = sprintf("a column `%s` of class %s", column, enumerate(class(values))))
  }
  if (is.character(values)) enc2utf8(values) else values
}

# No p-value where no test was made.
tested_edges <- function(edges) {
  if (!is.null(edges$p)) edges$p[is.na(edges$p) | edges$p < 0] <- NA
  edges
}

# What a format writes of edges: the columns beside `from` and `to`, in their order.
edge_values <- function(edges) as.list(edges[setdiff(names(edges), c("from", "to"))])

# Numbers with the least digits that read as the same number, NA as NA.
digits_of <- function(x) {
  if (is.integer(x)) {
    return(ifelse(is.na(x), NA, whole_numbers(x)))
  }
  # Of equal ones each once: p-values of a column are often few, or all 0.
  values <- unique(x[!is.na(x)])
  text <- sprintf("%.15g", values)
  long <- which(as.double(text) != values)
  text[long] <- sprintf("%.17g", values[long])
  text[match(x, values)]
}

# The types of GraphML and of CX2 for a column: they agree on these names but for whole numbers.
type_of <- function(values, whole) if (is.logical(values)) "boolean" else if (is.integer(values)) whole else if (is.double(values)) "double" else "string"

# Values as text, before they are escaped.
value_text <- function(values) if (is.logical(values)) ifelse(values, "true", "false") else if (is.numeric(values)) digits_of(values) else values

# Names and values that a format cannot have.
refuse_characters <- function(network, pattern, format, hint) {
  check <- function(text, argument, what) {
    bad <- grepl(pattern, text, perl = TRUE) & !is.na(text) | !validUTF8(text)
    if (any(bad)) {
      abort_argument(argument, text, hint, has = sprintf("%s that %s cannot have: %s", what, format, enumerate(encodeString(text[bad], quote = "\""))))
    }
  }
  check(network$labels, "x", "names of variables")
  check(as.character(names(network$nodes)), "nodes", "names of columns")
  for (text in Filter(is.character, network$nodes)) check(text, "nodes", "text")
}

# Programs that know nodes by their names would take two for one.
refuse_same_names <- function(labels, format) {
  if (anyDuplicated(labels)) {
    abort_argument("x", labels, "give variables different names, or another format.", has = sprintf("variables of one name, which %s takes for one", format))
  }
}

# Under its name once it is whole. Bytes as they are, in UTF-8.
write_whole <- function(lines, path) {
  part <- tempfile(paste0(".", basename(path), "-"), dirname(path))
  on.exit(unlink(part))
  done <- tryCatch(
    {
      file <- suppressWarnings(file(part, "wb"))
      tryCatch(writeLines(lines, file, sep = "\n", useBytes = TRUE), finally = close(file))
      suppressWarnings(file.rename(part, path)) || stop("it cannot be given its name")
    },
    error = function(e) abort_unwritable(path, conditionMessage(e)),
    warning = function(e) abort_unwritable(path, conditionMessage(e))
  )
  invisible(done)
}

abort_unwritable <- function(path, what) {
  hint <- "give another path, or make room"
  abort(c("file_unwritable", "file"), sprintf("%s cannot be written (%s): %s.", dQuote(path, FALSE), what, hint), path = path, what = what, hint = hint)
}

#' Write a network to a file for other programs
#'
#' Writes GraphML for Cytoscape, Gephi, yEd, igraph and NetworkX; DOT for Graphviz; or SIF and CX2 for Cytoscape. The
#' file contains the kind of each edge and all that is known about it, so no information is lost. The same graph always
#' gives the same bytes. The file appears under its name only when it is complete.
#'
#' # Formats
#'
#' - `"graphml"`: each edge once, with `directed = "false"` if it has no direction, and with its `kind`, `"-->"`,
#'   `"---"` or `"<->"`. Programs that allow only one sort of edge in a graph, such as igraph, treat all edges as
#'   directed: use `kind` there. [as_igraph()] and [compare_graphs()] use it for graphs that `igraph::read_graph(path,
#'   "graphml")` returns.
#' - `"dot"`: edges without a direction have `dir=none`; edges in conflict have `dir=both` and are red; each has its
#'   `kind`. Backslashes in names are doubled if Graphviz shows the names of nodes (`dot -Tplain`), but not in the
#'   labels.
#' - `"sif"`: one line for each edge (*from*, kind, *to*, separated by tabs), and one line for each variable without an
#'   edge. Further information is in tab-separated tables next to the file, which Cytoscape imports as tables of edges
#'   and nodes by their column `name`. For `net.sif` they are `net.edges.tsv` and, with `nodes`, `net.nodes.tsv`.
#' - `"cx2"`: the current format of Cytoscape and NDEx, with the kind as `interaction` and a style that draws arrowheads
#'   according to it.
#'
#' The file contains a position for each variable (not SIF), so that other programs show the layout of [plot_cpdag()]. A
#' unit is a point (1/72 inch).
#' - GraphML: attributes `x` and `y` of nodes, y upwards. igraph and Gephi use them as the layout; in Cytoscape they are
#'   columns.
#' - CX2: `x` and `y` of nodes, y downwards, as Cytoscape expects.
#' - DOT: `pos`, which `neato` uses and `dot` ignores: `neato -Tpdf net.gv -o net.pdf`.
#'
#' A PAG of [fci()] and its relatives keeps its kinds in all formats: `"-->"`, `"o->"`, `"<->"`, `"o-o"`, `"o--"` and
#' `"---"`. DOT draws the circles as `odot`, CX2 as circles. In GraphML, edges with two equal ends (`"---"`, `"o-o"`)
#' have `directed = "false"`.
#'
#' @param x A result or graph of any kind that [as_igraph()] accepts. For a result of [stability()], or the graph of
#'   [averaged_cpdag()], the file also contains the strengths.
#' @param file The file. Its extension determines the format: `.graphml`, `.gv` or `.dot`, `.sif`, `.cx2`.
#' @param nodes A data frame with information about variables. Its column `name` contains their names; without such a
#'   column, its row names do. Numbers, whole numbers, logical values and text (factors) become attributes of nodes.
#'   `NA` values are left out; variables without a row have no attributes.
#' @param format `"graphml"`, `"dot"`, `"sif"` or `"cx2"`, if the extension of `file` does not determine it.
#' @param overwrite Whether to replace existing files. With `FALSE` an existing file is an error.
#' @param layout Positions of the variables:
#'   - `NULL`: the default of [plot_cpdag()] for up to 5,000 variables, if `nodes` has no column `x`, `y` or `pos`;
#'     otherwise none;
#'   - `FALSE`: none;
#'   - the name of a layout, a matrix or a function as in [plot_cpdag()]. The numbers of a matrix are written as they are;
#'     those of a function are scaled.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return The paths of the files that were written, invisibly. They are in UTF-8. The attributes of edges are `kind`
#'   and, if known, `p`, `strength` and `direction`, and `weight`, as in [edge_table()], with enough digits to read the
#'   same number again. For an edge without a test, `p` is left out.
#'
#'   Errors have the class `pcgpu_error_file_unwritable`, or `pcgpu_error_argument`. The latter includes names with a
#'   character that the format does not allow: XML allows no non-printing characters except tab, line feed and carriage
#'   return, and SIF not even these.
#' @references
#' U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt and M. S. Marshall (2002). GraphML progress report. *Graph Drawing
#' 2001*, LNCS 2265, 501-512.
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
write_network <- function(x, file, nodes = NULL, format = NULL, overwrite = TRUE, layout = NULL, ...) {
  if (!is.null(taught <- taught_call(of = "write_network"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(
    list(x = missing(x), file = missing(file)),
    list(x = "give a result of pc(), or a graph.", file = "give the path of a file, such as \"net.graphml\".")
  )
  network <- network_of(x)
  overwrite <- check_flag(overwrite, "overwrite")
  check_path(file, "file")
  format <- network_format(file, format)
  path <- check_new_path(file, "file", overwrite)
  network$labels <- enc2utf8(network$labels)
  network$nodes <- node_table(nodes, network$labels)
  network$edges <- tested_edges(network$edges)
  network$xy <- network_positions(x, network, layout, format)
  files <- switch(
    format,
    graphml = graphml_lines(network),
    dot = dot_lines(network),
    sif = sif_files(network),
    cx2 = cx2_lines(network)
  )
  if (is.character(files)) {
    files <- list(files)
  }
  paths <- c(
    path,
    if (length(files) > 1L) paste0(sub("[.]sif$", "", path, ignore.case = TRUE), ".", names(files)[-1L], ".tsv")
  )
  for (beside in paths[-1L]) {
    check_new_path(beside, "file", overwrite)
  }
  # The main file comes last: if it exists, so do its tables.
  for (at in rev(seq_along(files))) {
    write_whole(files[[at]], paths[at])
  }
  invisible(paths)
}

format_of_end <- c(graphml = "graphml", xml = "graphml", gv = "dot", dot = "dot", sif = "sif", cx2 = "cx2")

network_format <- function(path, format) {
  if (!is.null(format)) {
    return(check_choice(format, c("graphml", "dot", "sif", "cx2"), "format"))
  }
  found <- format_of_end[tolower(sub(".*[.]", "", basename(path)))]
  if (is.na(found)) {
    abort_argument("file", path, "use the extension .graphml, .gv, .dot, .sif or .cx2, or give `format`.")
  }
  unname(found)
}

# Returns the table of nodes with one row for each label, in their order and without their names; NULL if there is none.
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
    abort_argument(
      "nodes",
      nodes,
      "use only names of variables of `x`.",
      has = sprintf(
        "names in its %s that are not variables of `x`: %s",
        where,
        enumerate(encodeString(unknown, quote = "\""))
      )
    )
  }
  if (anyDuplicated(of)) {
    abort_argument(
      "nodes",
      nodes,
      "give one row for each variable.",
      has = sprintf("%s more than once in its %s", encodeString(of[anyDuplicated(of)], quote = "\""), where)
    )
  }
  columns <- setdiff(names(nodes), "name")
  if (any(is.na(columns) | !nzchar(columns)) || anyDuplicated(columns)) {
    abort_argument(
      "nodes",
      nodes,
      "give each column its own name.",
      has = "columns without a name, or with the same name"
    )
  }
  at <- match(labels, of)
  table <- lapply(stats::setNames(columns, columns), function(column) value_column(nodes[[column]], column)[at])
  names(table) <- enc2utf8(columns)
  table
}

value_column <- function(values, column) {
  if (is.factor(values)) {
    values <- as.character(values)
  }
  if (
    !is.null(dim(values)) || is.object(values) || !(is.logical(values) || is.numeric(values) || is.character(values))
  ) {
    abort_argument(
      "nodes",
      values,
      "convert it with as.numeric() or as.character().",
      has = sprintf("a column `%s` of class %s", column, enumerate(class(values)))
    )
  }
  if (is.character(values)) enc2utf8(values) else values
}

# Up to this many variables positions are written unless the user refuses them: the layout takes two seconds.
most_positions <- 5000L

# Returns the positions of the variables: list(x, y), in points, y upwards; NULL for none.
network_positions <- function(x, network, layout, format) {
  n <- length(network$labels)
  own <- intersect(c("x", "y", "pos"), names(network$nodes))
  if (is.null(layout)) {
    if (n > most_positions || format == "sif" || length(own)) {
      return(NULL)
    }
  }
  if (identical(layout, FALSE)) {
    return(NULL)
  }
  if (format == "sif") {
    abort_argument("layout", layout, "leave it out, or use another format.", is = "given, but SIF has no positions")
  }
  if (length(own)) {
    abort_argument(
      "nodes",
      own,
      "rename the column, or leave `layout` out.",
      has = sprintf("a column `%s`, which `layout` would fill", own[1L])
    )
  }
  tiers <- tiers_of_search(x)
  check_layout(layout, network$labels, tiers)
  layout <- layout %||% default_layout(tiers)
  if (n == 0L) {
    return(NULL)
  }
  listed <- drawn_edges_of(x)
  # Room for Graphviz's ellipses, the widest of the shapes that programs draw by default.
  size <- cbind(pmax(54, 9 * nchar(network$labels, "width") + 20), rep_len(36, n))
  xy <- given_layout(layout, listed, seq_len(n), network$labels, tiers, NULL)
  if (!is.matrix(layout)) {
    # Functions of igraph have their own units.
    xy <- if (!is.matrix(xy)) {
      start_layout(n, table_of(listed), size, 1.4, xy)
    } else {
      xy * 90 * sqrt(n) / max(abs(xy), 1e-9)
    }
    xy <- round(xy, 1L)
  }
  list(x = as.double(xy[, 1L]), y = as.double(xy[, 2L]))
}

# Removes the p-values of edges without a test.
tested_edges <- function(edges) {
  if (!is.null(edges$p)) {
    edges$p[is.na(edges$p) | edges$p < 0] <- NA
  }
  edges
}

# Returns what a format writes for edges: the columns except `from` and `to`, in their order.
edge_values <- function(edges) as.list(edges[setdiff(names(edges), c("from", "to"))])

# Formats numbers with the fewest digits that read as the same number; NA stays NA.
digits_of <- function(x) {
  if (is.integer(x)) {
    return(ifelse(is.na(x), NA, whole_numbers(x)))
  }
  # Formats equal numbers once: a column often has few distinct p-values, or only 0.
  values <- unique(x[!is.na(x)])
  text <- sprintf("%.15g", values)
  long <- which(as.double(text) != values)
  text[long] <- sprintf("%.17g", values[long])
  text[match(x, values)]
}

# Returns the type of a column in GraphML and CX2, whose names for types agree except for whole numbers.
type_of <- function(values, whole) {
  if (is.logical(values)) {
    "boolean"
  } else if (is.integer(values)) {
    whole
  } else if (is.double(values)) {
    "double"
  } else {
    "string"
  }
}

# Returns values as text, not yet escaped.
value_text <- function(values) {
  if (is.logical(values)) {
    ifelse(values, "true", "false")
  } else if (is.numeric(values)) {
    digits_of(values)
  } else {
    values
  }
}

# Refuses names and values that a format does not allow.
refuse_characters <- function(network, pattern, format, hint) {
  check <- function(text, argument, what) {
    bad <- grepl(pattern, text, perl = TRUE) & !is.na(text) | !validUTF8(text)
    if (any(bad)) {
      abort_argument(
        argument,
        text,
        hint,
        has = sprintf("%s that %s does not allow: %s", what, format, enumerate(encodeString(text[bad], quote = "\"")))
      )
    }
  }
  check(network$labels, "x", "names of variables")
  check(as.character(names(network$nodes)), "nodes", "names of columns")
  for (text in Filter(is.character, network$nodes)) {
    check(text, "nodes", "text")
  }
}

# Refuses equal names, because programs that identify nodes by name would merge them.
refuse_same_names <- function(labels, format) {
  if (anyDuplicated(labels)) {
    abort_argument(
      "x",
      labels,
      "give the variables different names, or use another format.",
      has = sprintf("several variables with the same name, which %s cannot distinguish", format)
    )
  }
}

# Writes a file that appears under its name when it is complete. The bytes are written as they are, in UTF-8.
write_whole <- function(lines, path) {
  part <- tempfile(paste0(".", basename(path), "-"), dirname(path))
  on.exit(unlink(part))
  done <- tryCatch(
    {
      file <- suppressWarnings(file(part, "wb"))
      tryCatch(writeLines(lines, file, sep = "\n", useBytes = TRUE), finally = close(file))
      suppressWarnings(file.rename(part, path)) || stop("the temporary file cannot be renamed")
    },
    error = function(e) abort_unwritable(path, conditionMessage(e)),
    warning = function(e) abort_unwritable(path, conditionMessage(e))
  )
  invisible(done)
}

abort_unwritable <- function(path, what) {
  hint <- "give another path, or free some space"
  abort(
    c("file_unwritable", "file"),
    sprintf("%s cannot be written (%s): %s.", dQuote(path, FALSE), what, hint),
    path = path,
    what = what,
    hint = hint
  )
}

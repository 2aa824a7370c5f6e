# A network as lines of GraphML, DOT, SIF and CX2, pasted in whole columns.

# Lines of pieces, pasted at once: of 200,000 lines R takes longer to keep the parts of each than for all the rest. A piece is a list of columns, or one string.
lines_of <- function(...) do.call(paste0, c(unname(unlist(list(...), recursive = FALSE)), list(recycle0 = TRUE)))

# A piece: `text` with `before` and `after` it, and nothing where it is NA.
piece <- function(text, before = "", after = "") {
  there <- !is.na(text)
  text[!there] <- ""
  list(c("", before)[there + 1L], text, c("", after)[there + 1L])
}

# A piece of values: `before` and `after` may depend on their place and name.
pieces <- function(values, make) unlist(lapply(seq_along(values), function(at) make(values[[at]], at, names(values)[at])), recursive = FALSE)

# One text by another after the other. Few values have any of them, and many values are equal.
replaced <- function(text, any_of, by) {
  different <- unique(text)
  changed <- different
  there <- grep(any_of, different, perl = TRUE)
  for (at in seq_along(by)) changed[there] <- gsub(names(by)[at], by[[at]], changed[there], fixed = TRUE)
  changed[match(text, different)]
}

# Not as.character(), which makes 1e+05 of 100000.
whole_numbers <- function(numbers) sprintf("%d", as.integer(numbers))

# GraphML ------------------------------------------------------------------------------------------------------------------------------------------------------------------

# In text and in attributes. A line feed in an attribute would be read as a space.
xml_escaped <- function(text) {
  replaced(text, "[&<>\"\t\n\r]", c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "\t" = "&#9;", "\n" = "&#10;", "\r" = "&#13;"))
}

graphml_lines <- function(network) {
  refuse_characters(network, "[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f]|\uFFFE|\uFFFF", "XML", "give others without characters that do not print.")
  node_values <- c(list(name = network$labels), network$nodes)
  edges <- network$edges
  keys <- function(values, of, prefix) {
    types <- vapply(values, type_of, "", whole = "int")
    sprintf("  <key id=\"%s%d\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>", prefix, seq_along(values), of, xml_escaped(names(values)), types)
  }
  elements <- function(values, prefix) {
    pieces(values, function(value, at, name) {
      text <- if (is.character(value)) xml_escaped(value) else replaced(value_text(value), "Inf", c("Inf" = "INF"))
      piece(text, paste0("<data key=\"", prefix, at, "\">"), "</data>")
    })
  }
  c(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    paste(
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
      "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">"
    ),
    keys(node_values, "node", "v"), keys(edge_values(edges), "edge", "e"),
    "  <graph id=\"G\" edgedefault=\"directed\">",
    lines_of("    <node id=\"n", list(whole_numbers(seq_along(network$labels))), "\">", elements(node_values, "v"), "</node>"),
    lines_of(
      "    <edge source=\"n", list(whole_numbers(edges$from)), "\" target=\"n", list(whole_numbers(edges$to)), "\"",
      list(c("", " directed=\"false\"")[(edges$kind == "---") + 1L]), ">", elements(edge_values(edges), "e"), "</edge>"
    ),
    "  </graph>", "</graphml>"
  )
}

# DOT ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

# Within a quoted string only \" is an escape, and \\ stays as it is: so that no name ends the string, backslashes are doubled.
dot_escaped <- function(text) replaced(text, "[\\\\\"]", c("\\" = "\\\\", "\"" = "\\\""))

dot_quoted <- function(text) paste0("\"", dot_escaped(text), "\"", recycle0 = TRUE)

# A label, in which \\ and \n are escapes, and &amp; is an ampersand.
dot_label <- function(text) gsub("\n", "\\n", dot_quoted(gsub("&", "&amp;", text, fixed = TRUE)), fixed = TRUE)

dot_lines <- function(network) {
  refuse_characters(network, "[\\x01-\\x09\\x0b-\\x1f]", "DOT", "give others without characters that do not print.")
  labels <- network$labels
  edges <- network$edges
  refuse_same_names(labels, "DOT")
  attributes <- function(values) {
    pieces(values, function(value, at, name) piece(dot_escaped(value_text(value)), paste0(" ", dot_name(name), "=\""), "\""))
  }
  name <- dot_quoted(labels)
  special <- ifelse(grepl("[\\\\\n&]", labels), dot_label(labels), NA)
  # Where a node has anything to say, its brackets.
  some <- Reduce(`|`, lapply(network$nodes, function(values) !is.na(values)), !is.na(special))
  look <- unname(c("-->" = NA, "---" = "dir=none", "<->" = "dir=both color=red")[edges$kind])
  c(
    "digraph {",
    lines_of("  ", list(name), list(c("", " [")[some + 1L]), piece(special, "label="), attributes(network$nodes), list(c(";", "];")[some + 1L])),
    lines_of("  ", list(name[edges$from]), " -> ", list(name[edges$to]), " [kind=\"", list(edges$kind), "\"", piece(look, " "), attributes(edge_values(edges)[-1L]), "];"),
    "}"
  )
}

dot_name <- function(name) {
  plain <- grepl("^[A-Za-z_][A-Za-z0-9_]*$", name) && !tolower(name) %in% c("node", "edge", "graph", "digraph", "subgraph", "strict")
  if (plain) name else dot_quoted(name)
}

# SIF ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

# list(sif, edges, nodes): lines of the file and of those beside it.
sif_files <- function(network) {
  refuse_characters(network, "[\\x01-\\x1f]", "SIF", "give others without tabs and line feeds, or another format.")
  labels <- network$labels
  edges <- network$edges
  refuse_same_names(labels, "SIF")
  if (!nrow(edges) && any(grepl(" ", labels, fixed = TRUE))) {
    abort_argument("x", labels, "give another format.", has = "no edges, so that a file in SIF has no tabs, and names with spaces would be taken for several")
  }
  alone <- setdiff(seq_along(labels), c(edges$from, edges$to))
  from <- labels[edges$from]
  to <- labels[edges$to]
  of_edges <- c(list(name = lines_of(list(from), " (", list(edges$kind), ") ", list(to)), from = from, to = to, interaction = edges$kind), edge_values(edges)[-1L])
  files <- list(sif = c(lines_of(list(from), "\t", list(edges$kind), "\t", list(to)), labels[alone]), edges = table_lines(of_edges))
  if (length(network$nodes)) files$nodes <- table_lines(c(list(name = labels), network$nodes))
  files
}

# A table with tabs, and quotes where a field has one.
table_lines <- function(columns) {
  field <- function(text) {
    text[is.na(text)] <- ""
    quoted <- grep("\"", text, fixed = TRUE)
    text[quoted] <- paste0("\"", gsub("\"", "\"\"", text[quoted], fixed = TRUE), "\"", recycle0 = TRUE)
    text
  }
  c(paste(field(names(columns)), collapse = "\t"), do.call(paste, c(lapply(unname(columns), function(values) field(value_text(values))), sep = "\t", recycle0 = TRUE)))
}

# CX2 ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

json_escaped <- function(text) {
  codes <- c(1:8, 11L, 12L, 14:31, 127L)
  others <- stats::setNames(sprintf("\\u%04x", codes), vapply(codes, intToUtf8, ""))
  replaced(text, "[\\x01-\\x1f\\x7f\"\\\\]", c("\\" = "\\\\", "\"" = "\\\"", "\n" = "\\n", "\r" = "\\r", "\t" = "\\t", others))
}

json_string <- function(text) paste0("\"", json_escaped(text), "\"", recycle0 = TRUE)

cx2_lines <- function(network) {
  refuse_characters(network, "(?!)", "JSON", "give others in UTF-8.")
  of_edges <- edge_values(network$edges)
  # Cytoscape's own word for it.
  names(of_edges)[names(of_edges) == "kind"] <- "interaction"
  of_nodes <- c(list(name = network$labels), network$nodes)
  declared <- function(values) {
    paste0(json_string(names(values)), ":{\"d\":\"", vapply(values, type_of, "", whole = "integer"), "\"}", collapse = ",")
  }
  # The first is always there. Numbers that JSON does not have are left out, as what is missing is.
  object <- function(values) {
    pieces(values, function(value, at, name) {
      if (is.numeric(value)) value[!is.finite(value)] <- NA
      before <- paste0(if (at > 1L) ",", json_string(name), ":")
      if (is.character(value)) piece(json_escaped(value), paste0(before, "\""), "\"") else piece(value_text(value), before)
    })
  }
  # One element a line; all but the last end with a comma.
  block <- function(name, elements) c(paste0("{\"", name, "\":["), elements, "]},")
  commas <- function(count) list(c("", ",")[(seq_len(count) < count) + 1L])
  n <- length(network$labels)
  m <- nrow(network$edges)
  counts <- c(attributeDeclarations = 1L, networkAttributes = 1L, nodes = n, edges = m, visualProperties = 1L)
  c(
    "[{\"CXVersion\":\"2.0\",\"hasFragments\":false},",
    block("metaData", lines_of("{\"name\":\"", list(names(counts)), "\",\"elementCount\":", list(whole_numbers(counts)), "}", commas(length(counts)))),
    block("attributeDeclarations", sprintf(
      "{\"networkAttributes\":{\"name\":{\"d\":\"string\"}},\"nodes\":{%s},\"edges\":{%s}}", declared(of_nodes), declared(of_edges)
    )),
    block("networkAttributes", "{\"name\":\"pcgpu\"}"),
    block("nodes", lines_of("{\"id\":", list(whole_numbers(seq_len(n))), ",\"v\":{", object(of_nodes), "}}", commas(n))),
    block("edges", lines_of(
      "{\"id\":", list(whole_numbers(seq_len(m))), ",\"s\":", list(whole_numbers(network$edges$from)), ",\"t\":", list(whole_numbers(network$edges$to)), ",\"v\":{",
      object(of_edges), "}}", commas(m)
    )),
    block("visualProperties", cx2_style()),
    "{\"status\":[{\"success\":true}]}]"
  )
}

# Heads by the kind of an edge, and the name as a label.
cx2_style <- function() {
  by_kind <- function(property, values) {
    map <- paste0("{\"v\":\"", arrow_of, "\",\"vp\":\"", values, "\"}", collapse = ",")
    sprintf("\"%s\":{\"type\":\"DISCRETE\",\"definition\":{\"attribute\":\"interaction\",\"type\":\"string\",\"map\":[%s]}}", property, map)
  }
  paste0(
    "{\"default\":{\"network\":{\"NETWORK_BACKGROUND_COLOR\":\"#FFFFFF\"},\"node\":{},\"edge\":{}},",
    "\"nodeMapping\":{\"NODE_LABEL\":{\"type\":\"PASSTHROUGH\",\"definition\":{\"attribute\":\"name\",\"type\":\"string\"}}},\"edgeMapping\":{",
    by_kind("EDGE_TARGET_ARROW_SHAPE", c("triangle", "none", "triangle")), ",", by_kind("EDGE_SOURCE_ARROW_SHAPE", c("none", "none", "triangle")), ",",
    by_kind("EDGE_LINE_COLOR", c("#404040", "#404040", "#C0392B")), "}}"
  )
}

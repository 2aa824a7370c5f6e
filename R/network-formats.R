# A network as lines of GraphML, DOT, SIF and CX2. All is pasted in whole columns, so that 200,000 edges take a second.

# Pastes the parts of each row that are there: `parts` is a list of columns, NA where a row has none.
paste_there <- function(parts, before = "") {
  columns <- lapply(parts, function(part) ifelse(is.na(part), "", paste0(before, part)))
  if (length(columns)) do.call(paste0, unname(columns)) else ""
}

# GraphML ------------------------------------------------------------------------------------------------------------------------------------------------------------------

# In text and in attributes. A line feed in an attribute would be read as a space.
xml_escaped <- function(text) {
  for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"), c("\"", "&quot;"), c("\t", "&#9;"), c("\n", "&#10;"), c("\r", "&#13;"))) {
    there <- grep(pair[1L], text, fixed = TRUE)
    text[there] <- gsub(pair[1L], pair[2L], text[there], fixed = TRUE)
  }
  text
}

graphml_lines <- function(network) {
  refuse_characters(network, "[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f]|\uFFFE|\uFFFF", "XML", "give others without characters that do not print.")
  edges <- edge_values(network$edges)
  node_values <- c(list(name = network$labels), network$nodes)
  keys <- function(values, of, prefix) {
    if (!length(values)) return(NULL)
    types <- vapply(values, type_of, "", whole = "int")
    sprintf("  <key id=\"%s%d\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>", prefix, seq_along(values), of, xml_escaped(names(values)), types)
  }
  data <- function(values, prefix) {
    paste_there(lapply(seq_along(values), function(at) {
      text <- value_text(values[[at]])
      if (is.double(values[[at]])) text <- sub("Inf", "INF", text, fixed = TRUE)
      ifelse(is.na(text), NA, paste0("<data key=\"", prefix, at, "\">", xml_escaped(text), "</data>"))
    }))
  }
  c(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    paste(
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
      "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">"
    ),
    keys(node_values, "node", "v"), keys(edges, "edge", "e"),
    "  <graph id=\"G\" edgedefault=\"directed\">",
    paste0("    <node id=\"n", whole_numbers(seq_along(network$labels)), "\">", data(node_values, "v"), "</node>", recycle0 = TRUE),
    paste0(
      "    <edge source=\"n", whole_numbers(network$edges$from), "\" target=\"n", whole_numbers(network$edges$to), "\"", ifelse(network$edges$kind == "---", " directed=\"false\"", ""), ">",
      data(edges, "e"), "</edge>",
      recycle0 = TRUE
    ),
    "  </graph>", "</graphml>"
  )
}

# DOT ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

# A quoted string. Only \" is an escape there, and \\ stays as it is: so that a name cannot end the string, its backslashes are doubled.
dot_quoted <- function(text) {
  paste0("\"", gsub("\"", "\\\"", gsub("\\", "\\\\", text, fixed = TRUE), fixed = TRUE), "\"", recycle0 = TRUE)
}

# A label, in which \\ and \n are escapes, and &amp; is an ampersand.
dot_label <- function(text) gsub("\n", "\\n", dot_quoted(gsub("&", "&amp;", text, fixed = TRUE)), fixed = TRUE)

dot_lines <- function(network) {
  refuse_characters(network, "[\\x01-\\x09\\x0b-\\x1f]", "DOT", "give others without characters that do not print.")
  labels <- network$labels
  if (anyDuplicated(labels)) {
    abort_argument("x", labels, "give variables different names, or another format.", has = "variables of one name, which DOT takes for one")
  }
  attributes <- function(values) {
    lapply(stats::setNames(names(values), names(values)), function(name) {
      text <- value_text(values[[name]])
      ifelse(is.na(text), NA, paste0(dot_name(name), "=", dot_quoted(text)))
    })
  }
  in_brackets <- function(parts) {
    text <- sub("^, ", "", paste_there(parts, ", "))
    ifelse(nzchar(text), paste0(" [", text, "]"), "")
  }
  name <- dot_quoted(labels)
  special <- grepl("[\\\\\n&]", labels)
  kind <- network$edges$kind
  look <- c("-->" = NA, "---" = "dir=none", "<->" = "dir=both, color=red")[kind]
  c(
    "digraph {",
    paste0("  ", name, in_brackets(c(list(ifelse(special, paste0("label=", dot_label(labels)), NA)), attributes(network$nodes))), ";", recycle0 = TRUE),
    paste0("  ", name[network$edges$from], " -> ", name[network$edges$to], in_brackets(c(list(look), attributes(edge_values(network$edges)))), ";", recycle0 = TRUE),
    "}"
  )
}

dot_name <- function(name) {
  plain <- grepl("^[A-Za-z_][A-Za-z0-9_]*$", name) && !tolower(name) %in% c("node", "edge", "graph", "digraph", "subgraph", "strict")
  if (plain) name else dot_quoted(name)
}

# SIF ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

sif_files <- function(network) {
  refuse_characters(network, "[\\x01-\\x1f]", "SIF", "give others without tabs and line feeds, or another format.")
  labels <- network$labels
  edges <- network$edges
  if (anyDuplicated(labels)) {
    abort_argument("x", labels, "give variables different names, or another format.", has = "variables of one name, which SIF takes for one")
  }
  if (!nrow(edges) && any(grepl(" ", labels, fixed = TRUE))) {
    abort_argument("x", labels, "give another format.", has = "no edges, so that a file in SIF has no tabs, and names with spaces would be taken for several")
  }
  alone <- setdiff(seq_along(labels), c(edges$from, edges$to))
  from <- labels[edges$from]
  to <- labels[edges$to]
  of_edges <- c(list(name = paste0(from, " (", edges$kind, ") ", to, recycle0 = TRUE), from = from, to = to, interaction = edges$kind), edge_values(edges)[-1L])
  files <- list(sif = c(paste(from, edges$kind, to, sep = "\t", recycle0 = TRUE), labels[alone]), edges = table_lines(of_edges))
  if (length(network$nodes)) files$nodes <- table_lines(c(list(name = labels), network$nodes))
  files
}

# A table with tabs, and quotes where a field has one.
table_lines <- function(columns) {
  field <- function(text) {
    text[is.na(text)] <- ""
    quoted <- grep("\"", text, fixed = TRUE)
    text[quoted] <- paste0("\"", gsub("\"", "\"\"", text[quoted], fixed = TRUE), "\"")
    text
  }
  c(paste(field(names(columns)), collapse = "\t"), do.call(paste, c(lapply(unname(columns), function(values) field(value_text(values))), sep = "\t", recycle0 = TRUE)))
}

# CX2 ----------------------------------------------------------------------------------------------------------------------------------------------------------------------

json_string <- function(text) {
  for (pair in list(c("\\", "\\\\"), c("\"", "\\\""), c("\n", "\\n"), c("\r", "\\r"), c("\t", "\\t"))) {
    there <- grep(pair[1L], text, fixed = TRUE)
    text[there] <- gsub(pair[1L], pair[2L], text[there], fixed = TRUE)
  }
  for (code in c(1:8, 11L, 12L, 14:31, 127L)) {
    there <- grep(intToUtf8(code), text, fixed = TRUE)
    text[there] <- gsub(intToUtf8(code), sprintf("\\u%04x", code), text[there], fixed = TRUE)
  }
  paste0("\"", text, "\"", recycle0 = TRUE)
}

cx2_lines <- function(network) {
  refuse_characters(network, "(?!)", "JSON", "give others in UTF-8.")
  edges <- edge_values(network$edges)
  names(edges)[names(edges) == "kind"] <- "interaction"
  node_values <- c(list(name = network$labels), network$nodes)
  declared <- function(values) {
    paste0(json_string(names(values)), ":{\"d\":\"", vapply(values, type_of, "", whole = "integer"), "\"}", collapse = ",")
  }
  # Numbers that JSON does not have are left out, as what is missing is.
  object <- function(values) {
    text <- paste_there(lapply(names(values), function(name) {
      column <- values[[name]]
      if (is.numeric(column)) column[!is.finite(column)] <- NA
      text <- if (is.character(column)) ifelse(is.na(column), NA, json_string(column)) else value_text(column)
      ifelse(is.na(text), NA, paste0(json_string(name), ":", text))
    }), ",")
    paste0("{", sub("^,", "", text), "}", recycle0 = TRUE)
  }
  # One element a line, with commas between them.
  block <- function(name, elements) {
    between <- rep.int(",", length(elements))
    between[length(elements)] <- ""
    c(paste0("{\"", name, "\":["), paste0(elements, between, recycle0 = TRUE), "]},")
  }
  n <- length(network$labels)
  m <- nrow(network$edges)
  counts <- c(attributeDeclarations = 1L, networkAttributes = 1L, nodes = n, edges = m, visualProperties = 1L)
  c(
    "[{\"CXVersion\":\"2.0\",\"hasFragments\":false},",
    block("metaData", sprintf("{\"name\":\"%s\",\"elementCount\":%d}", names(counts), counts)),
    block("attributeDeclarations", sprintf("{\"networkAttributes\":{\"name\":{\"d\":\"string\"}},\"nodes\":{%s},\"edges\":{%s}}", declared(node_values), declared(edges))),
    block("networkAttributes", "{\"name\":\"pcgpu\"}"),
    block("nodes", paste0("{\"id\":", whole_numbers(seq_len(n)), ",\"v\":", object(node_values), "}", recycle0 = TRUE)),
    block("edges", paste0(
      "{\"id\":", whole_numbers(seq_len(m)), ",\"s\":", whole_numbers(network$edges$from), ",\"t\":", whole_numbers(network$edges$to), ",\"v\":", object(edges), "}",
      recycle0 = TRUE
    )),
    block("visualProperties", cx2_style()),
    "{\"status\":[{\"success\":true}]}]"
  )
}

# Not as.character(), which makes 1e+05 of 100000.
whole_numbers <- function(numbers) sprintf("%d", as.integer(numbers))

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

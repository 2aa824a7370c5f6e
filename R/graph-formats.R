# Writes a network as lines of GraphML, DOT, SIF and CX2, pasted in whole columns.

# Pastes lines from pieces in one call, because for 200,000 lines R needs most of its time to keep the parts of each. A
# piece is a list of columns, or one string.
lines_of <- function(...) do.call(paste0, c(unname(unlist(list(...), recursive = FALSE)), list(recycle0 = TRUE)))

# Returns a piece: `text` between `before` and `after`, and nothing if it is NA.
piece <- function(text, before = "", after = "") {
  there <- !is.na(text)
  text[!there] <- ""
  list(c("", before)[there + 1L], text, c("", after)[there + 1L])
}

# Returns pieces made from values by `make`, a function of the value, its place and its name.
pieces <- function(values, make) {
  unlist(lapply(seq_along(values), function(at) make(values[[at]], at, names(values)[at])), recursive = FALSE)
}

# Replaces texts by others, one after the other. It works on distinct values, because few values contain any of the
# texts and many are equal.
replaced <- function(text, any_of, by) {
  different <- unique(text)
  changed <- different
  there <- grep(any_of, different, perl = TRUE)
  for (at in seq_along(by)) {
    changed[there] <- gsub(names(by)[at], by[[at]], changed[there], fixed = TRUE)
  }
  changed[match(text, different)]
}

# Formats whole numbers. as.character() would turn 100000 into 1e+05.
whole_numbers <- function(numbers) sprintf("%d", as.integer(numbers))

# GraphML
# ----------------------------------------------------------------------------------------------------------------------

# Escapes text and attributes. A line feed in an attribute would be read as a space.
xml_escaped <- function(text) {
  replaced(
    text,
    "[&<>\"\t\n\r]",
    c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;", "\t" = "&#9;", "\n" = "&#10;", "\r" = "&#13;")
  )
}

graphml_lines <- function(network) {
  refuse_characters(
    network,
    "[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f]|\uFFFE|\uFFFF",
    "XML",
    "use text without non-printing characters."
  )
  node_values <- c(list(name = network$labels), network$nodes, network$xy)
  edges <- network$edges
  # igraph, and therefore compare_graphs(), recognises a PAG by this attribute.
  pag <- isTRUE(network$pag)
  keys <- function(values, of, prefix) {
    types <- vapply(values, type_of, "", whole = "int")
    sprintf(
      "  <key id=\"%s%d\" for=\"%s\" attr.name=\"%s\" attr.type=\"%s\"/>",
      prefix,
      seq_along(values),
      of,
      xml_escaped(names(values)),
      types
    )
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
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"",
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
      "xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns",
      "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">"
    ),
    if (pag) "  <key id=\"g1\" for=\"graph\" attr.name=\"type\" attr.type=\"string\"/>",
    keys(node_values, "node", "v"),
    keys(edge_values(edges), "edge", "e"),
    "  <graph id=\"G\" edgedefault=\"directed\">",
    if (pag) "    <data key=\"g1\">PAG</data>",
    lines_of(
      "    <node id=\"n",
      list(whole_numbers(seq_along(network$labels))),
      "\">",
      elements(node_values, "v"),
      "</node>"
    ),
    lines_of(
      "    <edge source=\"n",
      list(whole_numbers(edges$from)),
      "\" target=\"n",
      list(whole_numbers(edges$to)),
      "\"",
      list(c("", " directed=\"false\"")[(edges$kind %in% c("---", "o-o")) + 1L]),
      ">",
      elements(edge_values(edges), "e"),
      "</edge>"
    ),
    "  </graph>",
    "</graphml>"
  )
}

# DOT
# ----------------------------------------------------------------------------------------------------------------------

# Escapes quoted strings. Graphviz reads \" as an escape there, but leaves \\ as it is; backslashes are doubled so that
# no name can end the string.
dot_escaped <- function(text) replaced(text, "[\\\\\"]", c("\\" = "\\\\", "\"" = "\\\""))

dot_quoted <- function(text) paste0("\"", dot_escaped(text), "\"", recycle0 = TRUE)

# Quotes a label, in which \\ and \n are escapes, and &amp; is an ampersand.
dot_label <- function(text) gsub("\n", "\\n", dot_quoted(gsub("&", "&amp;", text, fixed = TRUE)), fixed = TRUE)

dot_lines <- function(network) {
  refuse_characters(network, "[\\x01-\\x09\\x0b-\\x1f]", "DOT", "use text without non-printing characters.")
  labels <- network$labels
  edges <- network$edges
  refuse_same_names(labels, "DOT")
  attributes <- function(values) {
    pieces(values, function(value, at, name) {
      piece(dot_escaped(value_text(value)), paste0(" ", dot_name(name), "=\""), "\"")
    })
  }
  name <- dot_quoted(labels)
  special <- ifelse(grepl("[\\\\\n&]", labels), dot_label(labels), NA)
  at <- network$xy
  pos <- if (is.null(at)) rep_len(NA_character_, length(labels)) else paste(digits_of(at$x), digits_of(at$y), sep = ",")
  # Brackets are needed only for nodes with attributes.
  some <- Reduce(`|`, lapply(network$nodes, function(values) !is.na(values)), !is.na(special) | !is.na(pos))
  look <- unname((if (isTRUE(network$pag)) {
    dot_marks
  } else {
    c("-->" = NA, "---" = "dir=none", "<->" = "dir=both color=red")
  })[edges$kind])
  c(
    "digraph {",
    # Without it, neato would read positions as inches.
    if (!is.null(at)) "  graph [inputscale=72];",
    lines_of(
      "  ",
      list(name),
      list(c("", " [")[some + 1L]),
      piece(special, "label="),
      piece(pos, " pos=\"", "!\""),
      attributes(network$nodes),
      list(c(";", "];")[some + 1L])
    ),
    lines_of(
      "  ",
      list(name[edges$from]),
      " -> ",
      list(name[edges$to]),
      " [kind=\"",
      list(edges$kind),
      "\"",
      piece(look, " "),
      attributes(edge_values(edges)[-1L]),
      "];"
    ),
    "}"
  )
}

# The marks of a PAG. Circles are odot in Graphviz.
dot_marks <- c(
  "-->" = NA,
  "o->" = "dir=both arrowtail=odot",
  "<->" = "dir=both",
  "o-o" = "dir=both arrowtail=odot arrowhead=odot",
  "o--" = "dir=both arrowtail=odot arrowhead=none",
  "---" = "dir=none"
)

dot_name <- function(name) {
  plain <- grepl("^[A-Za-z_][A-Za-z0-9_]*$", name) &&
    !tolower(name) %in% c("node", "edge", "graph", "digraph", "subgraph", "strict")
  if (plain) name else dot_quoted(name)
}

# SIF
# ----------------------------------------------------------------------------------------------------------------------

# Returns list(sif, edges, nodes): lines of the main file and of the tables that accompany it.
sif_files <- function(network) {
  refuse_characters(network, "[\\x01-\\x1f]", "SIF", "use text without tabs and line feeds, or another format.")
  labels <- network$labels
  edges <- network$edges
  refuse_same_names(labels, "SIF")
  if (!nrow(edges) && any(grepl(" ", labels, fixed = TRUE))) {
    abort_argument(
      "x",
      labels,
      "use another format.",
      has = "names with spaces but no edges (in SIF without tabs, programs would split these names)"
    )
  }
  alone <- setdiff(seq_along(labels), c(edges$from, edges$to))
  from <- labels[edges$from]
  to <- labels[edges$to]
  of_edges <- c(
    list(
      name = lines_of(list(from), " (", list(edges$kind), ") ", list(to)),
      from = from,
      to = to,
      interaction = edges$kind
    ),
    edge_values(edges)[-1L]
  )
  files <- list(
    sif = c(lines_of(list(from), "\t", list(edges$kind), "\t", list(to)), labels[alone]),
    edges = table_lines(of_edges)
  )
  if (length(network$nodes)) {
    files$nodes <- table_lines(c(list(name = labels), network$nodes))
  }
  files
}

# Writes a table with tabs, and quotes around a field that contains one.
table_lines <- function(columns) {
  field <- function(text) {
    text[is.na(text)] <- ""
    quoted <- grep("\"", text, fixed = TRUE)
    text[quoted] <- paste0("\"", gsub("\"", "\"\"", text[quoted], fixed = TRUE), "\"", recycle0 = TRUE)
    text
  }
  c(
    paste(field(names(columns)), collapse = "\t"),
    do.call(paste, c(lapply(unname(columns), function(values) field(value_text(values))), sep = "\t", recycle0 = TRUE))
  )
}

# CX2
# ----------------------------------------------------------------------------------------------------------------------

json_escaped <- function(text) {
  codes <- c(1:8, 11L, 12L, 14:31, 127L)
  others <- stats::setNames(sprintf("\\u%04x", codes), vapply(codes, intToUtf8, ""))
  replaced(
    text,
    "[\\x01-\\x1f\\x7f\"\\\\]",
    c("\\" = "\\\\", "\"" = "\\\"", "\n" = "\\n", "\r" = "\\r", "\t" = "\\t", others)
  )
}

json_string <- function(text) paste0("\"", json_escaped(text), "\"", recycle0 = TRUE)

cx2_lines <- function(network) {
  refuse_characters(network, "(?!)", "JSON", "convert it to UTF-8.")
  of_edges <- edge_values(network$edges)
  # Cytoscape's own name for the kind.
  names(of_edges)[names(of_edges) == "kind"] <- "interaction"
  of_nodes <- c(list(name = network$labels), network$nodes)
  declared <- function(values) {
    paste0(
      json_string(names(values)),
      ":{\"d\":\"",
      vapply(values, type_of, "", whole = "integer"),
      "\"}",
      collapse = ","
    )
  }
  # The first value always exists. Numbers that JSON cannot represent are left out, like missing values.
  object <- function(values) {
    pieces(values, function(value, at, name) {
      if (is.numeric(value)) {
        value[!is.finite(value)] <- NA
      }
      before <- paste0(if (at > 1L) ",", json_string(name), ":")
      if (is.character(value)) {
        piece(json_escaped(value), paste0(before, "\""), "\"")
      } else {
        piece(value_text(value), before)
      }
    })
  }
  # Each element is a line; all lines except the last end with a comma.
  block <- function(name, elements) c(paste0("{\"", name, "\":["), elements, "]},")
  commas <- function(count) list(c("", ",")[(seq_len(count) < count) + 1L])
  n <- length(network$labels)
  m <- nrow(network$edges)
  at <- network$xy
  # Cytoscape counts y from the top down; 0 - y, because -y can be -0.
  place <- if (!is.null(at)) list(",\"x\":", digits_of(at$x), ",\"y\":", digits_of(0 - at$y))
  counts <- c(attributeDeclarations = 1L, networkAttributes = 1L, nodes = n, edges = m, visualProperties = 1L)
  c(
    "[{\"CXVersion\":\"2.0\",\"hasFragments\":false},",
    block(
      "metaData",
      lines_of(
        "{\"name\":\"",
        list(names(counts)),
        "\",\"elementCount\":",
        list(whole_numbers(counts)),
        "}",
        commas(length(counts))
      )
    ),
    block(
      "attributeDeclarations",
      sprintf(
        "{\"networkAttributes\":{\"name\":{\"d\":\"string\"}},\"nodes\":{%s},\"edges\":{%s}}",
        declared(of_nodes),
        declared(of_edges)
      )
    ),
    block("networkAttributes", "{\"name\":\"pcgpu\"}"),
    block(
      "nodes",
      lines_of("{\"id\":", list(whole_numbers(seq_len(n))), place, ",\"v\":{", object(of_nodes), "}}", commas(n))
    ),
    block(
      "edges",
      lines_of(
        "{\"id\":",
        list(whole_numbers(seq_len(m))),
        ",\"s\":",
        list(whole_numbers(network$edges$from)),
        ",\"t\":",
        list(whole_numbers(network$edges$to)),
        ",\"v\":{",
        object(of_edges),
        "}}",
        commas(m)
      )
    ),
    block("visualProperties", cx2_style(edge_look(pag = isTRUE(network$pag)))),
    "{\"status\":[{\"success\":true}]}]"
  )
}

# Returns a style with arrowheads by kind of edge, and names as labels. `look`: edge_look().
cx2_style <- function(look) {
  by_kind <- function(property, values) {
    map <- paste0(
      "{\"v\":\"",
      ifelse(look$kind %in% names(arrow_of), arrow_of[look$kind], look$kind),
      "\",\"vp\":\"",
      values,
      "\"}",
      collapse = ","
    )
    sprintf(
      "\"%s\":{\"type\":\"DISCRETE\",\"definition\":{\"attribute\":\"interaction\",\"type\":\"string\",\"map\":[%s]}}",
      property,
      map
    )
  }
  shape <- c(tail = "none", arrow = "triangle", circle = "circle")
  # Undirected and directed edges of a CPDAG have the same colour in Cytoscape.
  colour <- if ("conflict" %in% look$kind) c("#404040", "#404040", "#C0392B") else look$colour
  paste0(
    "{\"default\":{\"network\":{\"NETWORK_BACKGROUND_COLOR\":\"#FFFFFF\"},\"node\":{},\"edge\":{}},",
    "\"nodeMapping\":{\"NODE_LABEL\":{\"type\":\"PASSTHROUGH\",\"definition\":",
    "{\"attribute\":\"name\",\"type\":\"string\"}}},\"edgeMapping\":{",
    by_kind("EDGE_TARGET_ARROW_SHAPE", shape[look$at_to]),
    ",",
    by_kind("EDGE_SOURCE_ARROW_SHAPE", shape[look$at_from]),
    ",",
    by_kind("EDGE_LINE_COLOR", colour),
    "}}"
  )
}

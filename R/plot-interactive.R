# Draws an interactive page with the package visNetwork. Positions come from our own layout, because a browser would
# take minutes to compute one for thousands of nodes.

# Returns the data of the page: list(nodes, edges, kinds). `nodes` and `edges` are data frames in the form of
# visNetwork().
page_of_graph <- function(x, asked, given) {
  listed <- asked$listed
  wish <- asked$wish
  n <- length(listed$labels)
  table <- table_of(listed)
  kinds <- edge_look(given$edge_colour, isTRUE(listed$pag))
  look <- kinds[match(table$kind, kinds$kind), ]
  degree <- tabulate(c(table$from, table$to), n)
  ratio <- wish$size %||% (1 + 0.8 * sqrt(degree / max(degree, 1)))
  xy <- matrix(0, n, 2L)
  if (n) {
    xy <- start_layout(n, table, cbind(ratio, ratio), 1.4, wish$layout)
    # The user's positions may have any unit.
    if (is.matrix(wish$layout)) xy <- xy * 2 * sqrt(n) / max(xy, 1e-9)
  }
  fill <- wish$fill %||% given$node_fill %||% given[["vertex.color"]] %||% dot_look$fill
  border <- given$node_border %||% given[["vertex.frame.color"]] %||% node_look$border
  fill <- one_a_node(fill, n, "node_fill")
  border <- one_a_node(border, n, "node_border")
  value <- as.character(asked$said)
  label <- as_html(listed$labels)
  nodes <- data.frame(
    id = seq_len(n),
    label = if (wish$shown == "none") rep("", n) else listed$labels,
    title = sprintf(
      "<b>%s</b><br>%s%s",
      label,
      vapply(degree, counted, "", "neighbour"),
      if (length(value)) paste0("<br>", as_html(value)) else ""
    ),
    x = 40 * xy[, 1L],
    y = -40 * xy[, 2L],
    size = 15 * ratio,
    color.background = web_colour(fill),
    color.border = web_colour(border),
    # The width of borders on the screen does not shrink with the dots. Borders of many small dots would hide their
    # colours.
    borderWidth = ifelse(seq_len(n) %in% wish$focus, 4, if (n > 100L) 0.3 else 1),
    name = listed$labels,
    stringsAsFactors = FALSE
  )
  p <- p_of_edges(x, asked$nodes[table$from], asked$nodes[table$to])
  edges <- data.frame(
    id = seq_len(nrow(table)),
    from = table$from,
    to = table$to,
    page_marks(look),
    dashes = look$lty == 2,
    color = web_colour(look$colour),
    title = sprintf(
      "%s %s %s<br>%s%s",
      label[table$from],
      sign_of(table$kind),
      label[table$to],
      look$said,
      if (is.null(p)) "" else paste0("<br>p = ", format_p(p))
    ),
    stringsAsFactors = FALSE
  )
  list(nodes = nodes, edges = edges, kinds = kinds[kinds$kind %in% table$kind, ])
}

# Returns kinds of edges in the users' notation.
sign_of <- function(kind) as_html(ifelse(kind %in% names(arrow_of), arrow_of[kind], kind))

# Returns the marks at the ends of edges: one column if there are only arrowheads; if there are circles, the columns
# that vis.js has for each end.
page_marks <- function(look) {
  if (!any(c(look$at_from, look$at_to) == "circle")) {
    return(data.frame(
      arrows = ifelse(look$at_to != "arrow", "", ifelse(look$at_from == "arrow", "to;from", "to")),
      stringsAsFactors = FALSE
    ))
  }
  end <- function(mark) {
    list(mark != "tail", ifelse(mark == "circle", "circle", "arrow"), ifelse(mark == "circle", 0.6, 1))
  }
  stats::setNames(
    list2DF(c(end(look$at_to), end(look$at_from))),
    paste0("arrows.", rep(c("to", "from"), each = 3L), c(".enabled", ".type", ".scaleFactor"))
  )
}

format_p <- function(p) ifelse(is.na(p), "unknown", formatC(p, digits = 3L, format = "g"))

# Returns the largest p-value of each edge's tests; NULL if x has none.
p_of_edges <- function(x, from, to) {
  if (is_compact(x)) {
    all <- compact_edges(x)
    number <- function(from, to) pmin(from, to) * (length(x@labels) + 1) + pmax(from, to)
    return(all$p[match(number(from, to), number(all$from, all$to))])
  }
  if (is_result(x)) {
    return(attr(x, "pMax")[cbind(pmin(from, to), pmax(from, to))])
  }
  if (is_fci(x)) p_of_pag(x, from, to)
}

as_html <- function(text) {
  gsub(
    "\"",
    "&quot;",
    gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE),
    fixed = TRUE
  )
}

web_colour <- function(colours) {
  parts <- grDevices::col2rgb(colours, alpha = TRUE)
  sprintf("rgba(%d,%d,%d,%s)", parts[1L, ], parts[2L, ], parts[3L, ], format(round(parts[4L, ] / 255, 3L), trim = TRUE))
}

plot_interactive <- function(x, asked, main, notes, file, given) {
  need_package("visNetwork", "interactive = TRUE needs the package visNetwork")
  check_page(file)
  page <- page_of_graph(x, asked, given)
  widget <- visNetwork::visNetwork(
    page$nodes,
    page$edges,
    main = if (!is.null(main)) as_html(paste(main, collapse = " ")),
    width = "100%",
    height = "80vh",
    footer = list(
      text = page_legend(page$kinds, asked$wish$keys, notes),
      style = "font-family:sans-serif;font-size:13px;text-align:left;"
    )
  )
  widget <- visNetwork::visNodes(widget, shape = "dot", physics = FALSE, shadow = FALSE, font = list(size = 16))
  widget <- visNetwork::visEdges(widget, smooth = FALSE, shadow = FALSE)
  widget <- visNetwork::visPhysics(widget, enabled = FALSE)
  widget <- visNetwork::visInteraction(
    widget,
    hideEdgesOnDrag = nrow(page$edges) > 2000L,
    hideEdgesOnZoom = nrow(page$edges) > 2000L,
    tooltipDelay = 100,
    navigationButtons = TRUE
  )
  widget <- visNetwork::visOptions(
    widget,
    highlightNearest = list(enabled = TRUE, degree = 1, hover = FALSE),
    nodesIdSelection = list(enabled = TRUE)
  )
  widget <- htmlwidgets::onRender(widget, search_box)
  if (!is.null(file)) {
    save_page(widget, file, main[1L] %||% "Graph")
  }
  widget
}

# Saves the page. saveWidget() leaves its folder behind unless it works in the folder of the file.
save_page <- function(widget, file, title) {
  alone <- nzchar(Sys.which("pandoc"))
  folder <- if (alone) tempfile("page") else normalizePath(dirname(file))
  if (alone) {
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
  }
  made <- file.path(folder, basename(file))
  htmlwidgets::saveWidget(widget, made, selfcontained = alone, title = title)
  if (alone && !file.copy(made, file, overwrite = TRUE)) {
    abort_argument(
      "file",
      file,
      "give a file in a folder that you can write to.",
      is = paste0(describe(file), ", which cannot be written")
    )
  }
}

check_page <- function(file) {
  if (is.null(file)) {
    return(invisible())
  }
  if (!is.character(file) || length(file) != 1L || is.na(file) || !grepl("\\.html?$", file, ignore.case = TRUE)) {
    abort_argument("file", file, "give the name of one file that ends in .html.")
  }
  if (!dir.exists(dirname(file))) {
    abort_argument(
      "file",
      file,
      "create the folder first, or give another file.",
      is = paste0(describe(file), ", in a folder that does not exist")
    )
  }
}

# A search field replaces visNetwork's list of all nodes, which is useless for thousands of them, and sets its value.
search_box <- "function(el, x) {
  var list = document.getElementById('nodeSelect' + el.id);
  var data = document.createElement('datalist');
  data.id = 'names' + el.id;
  var find = document.createElement('input');
  find.id = 'search' + el.id;
  find.type = 'search';
  find.placeholder = 'Search for a node';
  find.setAttribute('list', data.id);
  find.setAttribute('style', 'width:220px;height:24px;margin:2px;');
  var ids = {};
  var names = x.nodes.name;
  names.forEach(function(name, k) {
    var option = document.createElement('option');
    option.value = name;
    data.appendChild(option);
    if (!(String(name).toLowerCase() in ids)) ids[String(name).toLowerCase()] = x.nodes.id[k];
  });
  find.onchange = function() {
    var typed = find.value.toLowerCase();
    var id = ids[typed];
    if (id === undefined && typed !== '') {
      var first = Object.keys(ids).filter(function(name) { return name.indexOf(typed) === 0; })[0];
      if (first !== undefined) id = ids[first];
    }
    list.value = id === undefined ? '' : id;
    list.onchange();
    find.style.backgroundColor = id === undefined && typed !== '' ? '#F8D7DA' : '';
    var chart = document.getElementById('graph' + el.id).chart;
    if (id !== undefined) chart.focus(id, {scale: Math.max(chart.getScale(), 0.8), animation: false});
    else if (typed === '') chart.fit();
  };
  list.style.display = 'none';
  list.parentNode.insertBefore(find, list);
  list.parentNode.insertBefore(data, list);
  var graph = document.getElementById('graph' + el.id);
  var over = el.scrollHeight - el.clientHeight;
  if (over > 0 && graph.clientHeight > 2 * over) {
    graph.style.height = (graph.clientHeight - over) + 'px';
    graph.chart.redraw();
    graph.chart.fit();
  }
}"

# Returns the legend, a line below the graph: the kinds of edges, the meaning of colours and sizes, and notes.
page_legend <- function(kinds, keys, notes) {
  sign <- c(directed = "&#10230;", undirected = "&#8213;", conflict = "&#10231;")
  shown <- ifelse(kinds$kind %in% names(sign), sign[kinds$kind], as_html(kinds$kind))
  parts <- sprintf("<span style=\"color:%s\">%s</span> %s", web_colour(kinds$colour), shown, kinds$said)
  for (key in keys) {
    parts <- c(parts, page_key(key))
  }
  paste(c(paste(parts, collapse = " &nbsp; "), sprintf("<i>%s</i>", as_html(notes))), collapse = "<br>")
}

page_key <- function(key) {
  if (is.null(key)) {
    return(NULL)
  }
  spot <- function(colour) {
    sprintf(
      "<span style=\"display:inline-block;width:10px;height:10px;border-radius:5px;background:%s\"></span>",
      web_colour(colour)
    )
  }
  shown <- switch(
    key$kind,
    levels = sprintf(
      "%s %s",
      spot(utils::head(key$colours, most_levels)),
      as_html(utils::head(key$labels, most_levels))
    ),
    range = if (diff(key$ends) > 0) {
      stops <- key$colours[seq(1, length(key$colours), length.out = 11L)]
      sprintf(
        paste0(
          "%s <span style=\"display:inline-block;width:110px;height:10px;",
          "background:linear-gradient(to right,%s)\"></span> %s"
        ),
        format_ends(key$ends[1L]),
        paste(web_colour(stops), collapse = ","),
        format_ends(key$ends[2L])
      )
    } else {
      sprintf("%s %s", spot(key$colours), format_ends(key$ends[1L]))
    },
    size = sprintf("size from %s to %s", format_ends(key$ends[1L]), format_ends(utils::tail(key$ends, 1L)))
  )
  left <- if (identical(key$kind, "levels")) length(key$labels) - most_levels else 0L
  paste(
    c(
      if (!is.null(key$title)) paste0(as_html(key$title), ":"),
      shown,
      if (left > 0L) sprintf("... and %s more", in_words(left)),
      if (isTRUE(key$missing)) paste(spot(no_value), "no value")
    ),
    collapse = " "
  )
}

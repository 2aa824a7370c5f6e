# Makes an interactive page: one HTML file with its data, style and program, which needs no other file and no package.
# Its parts are in inst/page. Positions come from our own layout, because a browser would take minutes to compute one
# for thousands of nodes.

# Up to this many nodes are boxes around their labels.
most_page_boxes <- 60L

# Up to this many nodes the page contains the separating sets of all pairs, about 10 bytes each.
most_page_sets <- 200L

# Returns the data of the page: list(nodes, edges, values, kinds, sets, boxes). `nodes` and `edges` are data frames with
# a row for each node and edge. values: a data frame of the numbers known about the edges. sets: JSON, see
# page_sets(). wide, tall: positions for a window of either shape.
page_of_graph <- function(x, asked, given) {
  listed <- asked$listed
  wish <- asked$wish
  n <- length(listed$labels)
  pag <- isTRUE(listed$pag)
  edges <- page_edges(x, asked)
  kinds <- edge_look(given$edge_colour, pag)
  degree <- tabulate(c(edges$from, edges$to), n)
  labels <- listed$labels
  boxes <- is.null(wish$size) && wish$shown %in% c("auto", "boxes") && n <= most_page_boxes
  ratio <- wish$size %||% (1 + 0.8 * sqrt(degree / max(degree, 1)))
  # The unit of boxes is the size of their letters, that of dots the diameter of the smallest.
  size <- if (boxes) cbind(0.6 * nchar(labels, "width") + 1, rep_len(1.8, n)) else cbind(ratio, ratio)
  shapes <- component_shapes(n, edges)
  place <- function(aspect) {
    if (n == 0L) {
      return(matrix(0, 0L, 2L))
    }
    xy <- start_layout(n, edges, size, aspect, wish$layout, shapes)
    # The user's positions may have any unit.
    if (is.matrix(wish$layout)) {
      xy <- xy * 2 * sqrt(n) * mean(size[, 1L]) / max(xy, 1e-9)
    }
    # Screens count from the top down.
    xy * rep(c(1, -1), each = n)
  }
  own_fill <- wish$fill %||% given$node_fill %||% given[["vertex.color"]]
  fill <- own_fill %||% (if (boxes) node_look else dot_look)$fill
  border <- given$node_border %||% given[["vertex.frame.color"]] %||% node_look$border
  fill <- one_a_node(fill, n, "node_fill")
  nodes <- data.frame(name = labels, size = ratio, stringsAsFactors = FALSE)
  nodes$fill <- web_colour(fill)
  nodes$border <- web_colour(one_a_node(border, n, "node_border"))
  nodes$text <- label_colours(fill)
  nodes$said <- asked$said
  known <- setdiff(names(edges), c("from", "to", "kind"))
  kinds <- kinds[kinds$kind %in% edges$kind, ]
  drawn <- table_of(listed)
  at <- match(pair_key(edges$from, edges$to), pair_key(drawn$from, drawn$to))
  edges$colour <- wish$edges$colour[at]
  edges$width <- wish$edges$width[at]
  list(
    nodes = nodes,
    edges = edges[intersect(c("from", "to", "kind", "colour", "width"), names(edges))],
    values = edges[known[vapply(edges[known], is.numeric, NA)]],
    kinds = kinds,
    boxes = boxes,
    # Boxes become dots in a small window.
    dot_fill = if (boxes && is.null(own_fill)) dot_look$fill,
    wide = place(1.6),
    tall = if (is.null(wish$layout)) place(0.62),
    sets = if (n <= most_page_sets) page_sets(x, asked$nodes, edges)
  )
}

# Returns the edges between the nodes that are drawn: their numbers among these, `kind` as in edge_look(), and the
# numbers of edge_table().
page_edges <- function(x, asked) {
  edges <- tested_edges(network_of(x)$edges)
  new <- integer(asked$all)
  new[asked$nodes] <- seq_along(asked$nodes)
  edges$from <- new[edges$from]
  edges$to <- new[edges$to]
  if (!isTRUE(asked$listed$pag)) {
    edges$kind <- names(arrow_of)[match(edges$kind, arrow_of)]
  }
  edges[edges$from > 0L & edges$to > 0L, , drop = FALSE]
}

# Returns the separating sets of the pairs of `nodes` without an edge as list(sets, others); NULL if x stores none.
# others: variables in the sets that are not among `nodes`. sets: a JSON array of the pairs by second, then first node.
# An element is null (no set), the p-value of an empty set, or an array of the p-value and the members, counted from 0
# through `nodes` and `others`. An unknown p-value is -1.
page_sets <- function(x, nodes, edges) {
  compact <- is_compact(x)
  if (length(nodes) < 2L || !compact && !is.list(attr(x, "sepset")) || !compact && !length(attr(x, "sepset"))) {
    return(NULL)
  }
  pair <- which(upper.tri(diag(length(nodes))), arr.ind = TRUE)
  a <- nodes[pair[, 1L]]
  b <- nodes[pair[, 2L]]
  found <- (if (compact) compact_page_sets else pcalg_page_sets)(x, a, b)
  inside <- matrix(FALSE, length(nodes), length(nodes))
  inside[cbind(pmin(edges$from, edges$to), pmax(edges$from, edges$to))] <- TRUE
  none <- vapply(found$sets, is.null, NA) | inside[pair]
  others <- setdiff(unlist(found$sets[!none], use.names = FALSE), nodes)
  order <- c(nodes, others)
  members <- vapply(found$sets, function(set) paste(match(set, order) - 1L, collapse = ","), "")
  p <- ifelse(is.na(found$p) | found$p < 0, "-1", sprintf("%.3g", found$p))
  text <- ifelse(none, "null", ifelse(nzchar(members), sprintf("[%s,%s]", p, members), p))
  list(sets = sprintf("[%s]", paste(text, collapse = ",")), others = others)
}

pcalg_page_sets <- function(x, a, b) {
  labels_of_kept(x)
  sets <- attr(x, "sepset")
  list(sets = Map(function(a, b) sets[[a]][[b]] %||% sets[[b]][[a]], a, b, USE.NAMES = FALSE), p = p_value(x, a, b))
}

# A compact result does not store the p-values of level 0.
compact_page_sets <- function(x, a, b) {
  entry <- entry_of(x@sets, a, b)
  back <- entry_of(x@sets, b, a)
  entry[is.na(entry)] <- back[is.na(entry)]
  low <- pmin(a, b)
  high <- pmax(a, b)
  level0 <- is.na(entry) & is.na(entry_of(x@edges, low, high)) & is.na(entry_of(x@gaps, low, high))
  list(
    sets = Map(
      function(entry, level0) {
        if (!is.na(entry)) {
          set_at(x, entry)
        } else if (level0) {
          integer()
        }
      },
      entry,
      level0,
      USE.NAMES = FALSE
    ),
    p = p_at(x@sets, entry)
  )
}

# The words of the page for kinds of edges. `roles`: what a neighbour is for a node at the end `to`, and at the end
# `from`.
page_kinds <- function(kinds) {
  known <- list(
    directed = list("\u2192", "Directed: {a} is a direct cause of {b}.", "Parents", "Children"),
    undirected = list(
      "\u2014",
      "Undirected: the two are neighbours; which one is the cause is not known.",
      "Neighbours, direction unknown"
    ),
    conflict = list("\u2194", "Conflict: rules for the direction contradict each other here.", "In conflict"),
    "-->" = list("\u2192", "{a} is a cause of {b}, directly or through other variables.", "Causes", "Effects"),
    "o->" = list(
      "\u25cb\u2192",
      "{a} is a cause of {b}, or the two have a hidden common cause, or both. {b} is not a cause of {a}.",
      "Causes, or with a common cause",
      "Effects, or with a common cause"
    ),
    "<->" = list(
      "\u2194",
      "Neither is a cause of the other: the two have a hidden common cause.",
      "With a hidden common cause"
    ),
    "o-o" = list("\u25cb\u2014\u25cb", "Nothing is known about the direction of this edge.", "Direction unknown"),
    "o--" = list("\u25cb\u2014", "A cause, or selection of the samples, joins the two.", "Cause or selection"),
    "---" = list("\u2014", "Selection of the samples joins the two.", "Selection")
  )[kinds]
  list(
    sign = vapply(known, `[[`, "", 1L),
    words = vapply(known, `[[`, "", 2L),
    to = vapply(known, `[[`, "", 3L),
    from = vapply(known, function(kind) kind[[length(kind)]], "")
  )
}

# The words of the page for numbers of edges, and how its filters use them: "most" hides larger numbers, "least" smaller
# ones, "size" smaller absolute values.
page_values <- list(
  p = list("p", "largest p-value of its tests", "most"),
  strength = list("strength", "share of the samples that have the edge", "least"),
  direction = list("direction", "share of these samples in which it points this way"),
  weight = list("coefficient", "of the linear model", "size"),
  estimate = list("estimate", "", "size")
)

# Returns the data as JSON.
page_json <- function(page, asked) {
  text <- function(values) json_string(iconv(enc2utf8(as.character(values)), "UTF-8", "UTF-8", sub = "?"))
  number <- function(values, digits = 6L) {
    ifelse(is.finite(values), sprintf("%.*g", digits, as.double(values)), "null")
  }
  array <- function(values) sprintf("[%s]", paste(values, collapse = ","))
  object <- function(...) {
    parts <- Filter(Negate(is.null), list(...))
    sprintf("{%s}", paste0(json_string(names(parts)), ":", parts, collapse = ","))
  }
  # One colour stands for all nodes.
  colours <- function(values) array(text(if (length(unique(values)) == 1L) values[1L] else values))
  nodes <- page$nodes
  kinds <- page$kinds
  said <- page_kinds(kinds$kind)
  values <- vapply(names(page$values), "", FUN = function(name) {
    about <- page_values[[name]] %||% list(name, "")
    object(
      name = text(name),
      says = text(about[[1L]]),
      hint = text(about[[2L]]),
      filter = if (length(about) > 2L) text(about[[3L]]),
      numbers = array(number(page$values[[name]]))
    )
  })
  flag <- function(value) if (value) "true" else "false"
  bends <- attr(page$wide, "bends")
  json <- object(
    names = array(text(nodes$name)),
    others = array(text(asked$names[page$sets$others])),
    x = array(number(page$wide[, 1L])),
    y = array(number(page$wide[, 2L])),
    tall_x = if (!is.null(page$tall)) array(number(page$tall[, 1L])),
    tall_y = if (!is.null(page$tall)) array(number(page$tall[, 2L])),
    stretch = flag(!is.matrix(asked$wish$layout)),
    bend_edge = if (NROW(bends)) array(bends$edge - 1L),
    bend_x = if (NROW(bends)) array(number(bends$x)),
    bend_y = if (NROW(bends)) array(number(-bends$y)),
    tier = if (!is.null(asked$wish$tiers)) array(asked$wish$tiers),
    heads = if (!is.null(asked$wish$heads)) array(text(asked$wish$heads)),
    boxes = flag(page$boxes),
    dot_fill = if (!is.null(page$dot_fill)) text(page$dot_fill),
    labels = text(if (asked$wish$shown == "boxes" && !asked$labelled) "all" else asked$wish$shown),
    size = array(number(nodes$size, 4L)),
    size_of = if (!is.null(asked$wish$values)) array(number(replace(asked$wish$values, is.na(asked$wish$values), 0))),
    fill = colours(nodes$fill),
    border = colours(nodes$border),
    text = colours(nodes$text),
    said = if (!is.null(nodes$said)) array(text(nodes$said)),
    focus = array(asked$wish$focus - 1L),
    from = array(page$edges$from - 1L),
    to = array(page$edges$to - 1L),
    kind = array(match(page$edges$kind, kinds$kind) - 1L),
    edge_colour = if (!is.null(page$edges$colour)) array(text(web_colour(page$edges$colour))),
    edge_width = if (!is.null(page$edges$width)) array(number(page$edges$width)),
    kinds = array(vapply(seq_len(nrow(kinds)), "", FUN = function(k) {
      object(
        sign = text(said$sign[k]),
        said = text(kinds$said[k]),
        words = text(said$words[k]),
        roles = array(text(c(said$to[k], said$from[k]))),
        colour = text(web_colour(kinds$colour[k])),
        dashed = flag(kinds$lty[k] == 2),
        tail = text(kinds$at_from[k]),
        head = text(kinds$at_to[k])
      )
    })),
    values = array(values),
    sets = page$sets$sets,
    no_sets = if (!is.null(page$no_sets)) text(page$no_sets)
  )
  # No name can end the script.
  gsub("<", "\\u003c", json, fixed = TRUE)
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
  ifelse(
    parts[4L, ] == 255,
    sprintf("#%02x%02x%02x", parts[1L, ], parts[2L, ], parts[3L, ]),
    sprintf("rgba(%d,%d,%d,%.3g)", parts[1L, ], parts[2L, ], parts[3L, ], parts[4L, ] / 255)
  )
}

# Returns the page, an object of class pcgpu_page, and saves it if `file` is given.
plot_interactive <- function(x, asked, main, notes, file, given) {
  check_page(file)
  page <- page_of_graph(x, asked, given)
  if (is.null(page$sets) && nrow(page$nodes) > most_page_sets && (is_compact(x) || length(attr(x, "sepset")))) {
    page$no_sets <- sprintf(
      "A page with more than %d nodes does not contain separating sets: sepset(fit, a, b) in R returns one.",
      most_page_sets
    )
  }
  title <- as_html(paste(main, collapse = " "))
  parts <- list(
    "<title>@TITLE@</title>" = sprintf("<title>%s</title>", if (nzchar(title)) title else "Graph"),
    "@HEADER@" = if (nzchar(title)) sprintf("<h1>%s</h1>", title),
    "@LEGEND@" = page_legend(page$kinds, c(asked$wish$keys, asked$wish$edges$keys), notes),
    "@DATA@" = page_json(page, asked),
    "@SCRIPT@" = c(page_file("draw.js"), page_file("panel.js"))
  )
  lines <- as.list(page_file("page.html"))
  lines[match(names(parts), lines)] <- unname(parts)
  html <- enc2utf8(unlist(lines))
  if (!is.null(file)) {
    write_whole(html, path.expand(file))
  }
  structure(list(html = html, nodes = nrow(page$nodes), edges = nrow(page$edges)), class = "pcgpu_page")
}

page_file <- function(name) readLines(system.file("page", name, package = "pcgpu"), encoding = "UTF-8")

# Opens the page in RStudio's viewer or in the browser.
#' @exportS3Method print pcgpu_page
print.pcgpu_page <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_page")
  if (interactive()) {
    # RStudio's viewer shows only files in R's temporary folder.
    file <- tempfile("page", fileext = ".html")
    write_whole(x$html, file)
    (getOption("viewer") %||% utils::browseURL)(file)
  } else {
    say_lines(sprintf(
      "An interactive page with %s and %s. `file = \"page.html\"` saves it.",
      counted(x$nodes, "node"),
      counted(x$edges, "edge")
    ))
  }
  invisible(x)
}

# Shows the page in reports of knitr.
#' @exportS3Method knitr::knit_print
knit_print.pcgpu_page <- function(x, ...) {
  source <- gsub("\n", "&#10;", as_html(paste(x$html, collapse = "\n")), fixed = TRUE)
  knitr::asis_output(sprintf(
    "<iframe srcdoc=\"%s\" style=\"width:100%%;height:500px;border:1px solid #ddd\"></iframe>",
    source
  ))
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

# Returns the legend, a line below the graph: the kinds of edges, the meaning of colours and sizes, and notes.
page_legend <- function(kinds, keys, notes) {
  entry <- function(shown) sprintf("<span class=\"entry\">%s</span>", shown)
  parts <- sprintf("<b style=\"color:%s\">%s</b> %s", web_colour(kinds$colour), page_kinds(kinds$kind)$sign, kinds$said)
  for (key in keys) {
    parts <- c(parts, page_key(key))
  }
  notes <- sprintf("<div class=\"faint\">%s</div>", as_html(notes))
  paste0(paste(entry(parts), collapse = " "), paste(notes, collapse = ""))
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
    width = sprintf("width from %s to %s", format_ends(key$ends[1L]), format_ends(utils::tail(key$ends, 1L))),
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

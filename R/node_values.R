# Turns values of nodes into colours and sizes, with entries for the legend.

# Returns list(values, title) with a value for each node of `labels`. `given` is a vector in their order or with their names, or a list that contains one such
# vector; the name of the list's element is the title.
values_of_nodes <- function(given, labels, argument) {
  title <- NULL
  if (is.list(given)) {
    if (length(given) != 1L) {
      abort_argument(argument, given, "give one vector, or list(title = vector) for a legend with a title.", is = sprintf("a list of %d", length(given)))
    }
    title <- names(given)
    given <- given[[1L]]
  }
  if (!is.null(dim(given)) || !(is.atomic(given) || is.factor(given)) || is.null(given)) {
    abort_argument(argument, given, "give a vector with a value for each node.")
  }
  if (!is.null(names(given)) && any(names(given) %in% labels)) {
    return(list(values = unname(given[match(labels, names(given))]), title = title))
  }
  warn_other_names(names(given), labels, argument)
  if (length(given) != length(labels)) {
    abort_argument(argument, given, "give the values in the order of the nodes, or a vector with the names of nodes.",
      needs = sprintf("a value for each node (%d), not %d", length(labels), length(given))
    )
  }
  list(values = unname(given), title = title)
}

# Returns one value for each node, matched by name if the names are those of the nodes.
in_order_of_nodes <- function(values, labels, argument) {
  own <- names(values)
  if (is.null(own) || identical(own, labels)) {
    return(values)
  }
  if (is_permuted(own, labels)) {
    return(values[match(labels, own)])
  }
  if (any(own %in% labels)) {
    abort_argument(argument, own, "use only names of nodes, or remove the names with unname().",
      has = paste("names that are not nodes, next to others that are:", enumerate(dQuote(setdiff(own, labels), FALSE), 3L))
    )
  }
  warn_other_names(own, labels, argument)
  values
}

# Warns about values whose names match no node, which are assigned by position. Silent if the nodes have no names of their own.
warn_other_names <- function(own, labels, argument) {
  if (!is.null(own) && any(nzchar(own)) && !are_numbers(labels)) {
    warn("names", sprintf("the names of `%s`, such as %s, match no node: its values are assigned by position.", argument, dQuote(own[nzchar(own)][1L], FALSE)), argument = argument)
  }
}

no_value <- "#D9D9D9"

# Returns list(fill, key) for the nodes: colours, and the entry of the legend; `key` is NULL for colours that the user gave.
node_colours <- function(given, labels) {
  if (is.null(given)) {
    return(NULL)
  }
  if (is.character(given) && length(given) == 1L && length(labels) != 1L && are_colours(given)) {
    return(list(fill = rep(given, length(labels))))
  }
  told <- values_of_nodes(given, labels, "colour")
  values <- told$values
  if (is.character(values) && !all(is.na(values)) && are_colours(values)) {
    return(list(fill = ifelse(is.na(values), no_value, values)))
  }
  if (is.numeric(values) && !is.factor(values)) {
    return(numeric_colours(as.double(values), told$title))
  }
  values <- droplevels(factor(values))
  colours <- level_colours(nlevels(values))
  fill <- colours[as.integer(values)]
  fill[is.na(values)] <- no_value
  list(fill = fill, key = list(
    kind = "levels", title = told$title, labels = levels(values), colours = colours, missing = anyNA(values)
  ))
}

are_colours <- function(values) {
  values <- unique(values[!is.na(values)])
  # Numbers as text would be indices of the palette.
  !any(grepl("^[0-9]+$", values)) && !inherits(try(grDevices::col2rgb(values), silent = TRUE), "try-error")
}

level_colours <- function(n) {
  # The palette of Okabe and Ito, which colour-blind readers can distinguish. Light colours come first, because labels are written on them.
  few <- c("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00", "#0072B2")
  if (n <= length(few)) few[seq_len(n)] else grDevices::hcl.colors(n, "Dynamic")
}

# Uses a scale from blue over white (at 0) to red for values of both signs, and from light to dark otherwise.
numeric_colours <- function(values, title) {
  finite <- values[is.finite(values)]
  ends <- if (length(finite)) range(finite) else c(0, 0)
  diverging <- ends[1L] < 0 && ends[2L] > 0
  if (diverging) ends <- c(-1, 1) * max(abs(ends))
  scale <- grDevices::hcl.colors(101L, if (diverging) "Blue-Red 3" else "Viridis", rev = !diverging)
  place <- if (diff(ends) > 0) (pmin(pmax(values, ends[1L]), ends[2L]) - ends[1L]) / diff(ends) else ifelse(is.na(values), NA, 0.5)
  fill <- scale[1L + round(100 * place)]
  fill[is.na(fill)] <- no_value
  key <- if (length(finite)) {
    list(kind = "range", title = title, ends = ends, colours = if (diff(ends) > 0) scale else scale[51L], missing = anyNA(values))
  } else {
    list(kind = "levels", title = title, labels = character(), colours = character(), missing = TRUE)
  }
  list(fill = fill, key = key)
}

# Returns list(size, key): diameters of the nodes, from 1 to 3 in an arbitrary unit. Areas grow linearly with the values.
node_sizes <- function(given, labels, degree) {
  if (is.null(given)) {
    return(NULL)
  }
  if (is.character(given)) {
    if (!identical(given, "degree")) {
      abort_argument("size", given, "give a number for each node, or \"degree\" for the number of neighbours.")
    }
    given <- list(degree = degree)
  }
  told <- values_of_nodes(given, labels, "size")
  values <- told$values
  if (!(is.numeric(values) || is.logical(values)) || is.factor(values) || any(is.infinite(values)) || any(values < 0, na.rm = TRUE)) {
    abort_argument("size", values, "give a finite number of at least 0 for each node (NA draws the smallest dot).")
  }
  values <- as.double(values)
  most <- max(0, values, na.rm = TRUE)
  diameter <- function(value) sqrt(1 + 8 * value / max(most, 1e-300))
  size <- diameter(ifelse(is.na(values), 0, values))
  ends <- if (all(is.na(values))) numeric() else unique(range(values, na.rm = TRUE))
  list(size = size, values = values, key = if (length(ends)) {
    list(kind = "size", title = told$title, ends = ends, diameters = diameter(ends))
  })
}

# Returns black or white, whichever is easier to read on a colour (relative luminance as defined by the W3C).
label_colours <- function(fill) {
  rgb <- grDevices::col2rgb(fill, alpha = TRUE) / 255
  linear <- ifelse(rgb[1:3, , drop = FALSE] <= 0.04045, rgb[1:3, , drop = FALSE] / 12.92, ((rgb[1:3, , drop = FALSE] + 0.055) / 1.055)^2.4)
  light <- colSums(linear * c(0.2126, 0.7152, 0.0722))
  # The page shows through a transparent colour.
  ifelse(light < 0.18 & rgb[4L, ] > 0.5, "white", "black")
}

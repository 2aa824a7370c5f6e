# print(), show() and summary() of a result, in pcalg's format, so that scripts that read the output still work.

print_head <- function(x) {
  cat("Object of class '", class(x), "', from Call:\n", paste(call_lines(x@call), collapse = "\n"), sep = "")
}

# Returns a call as text. A call of do.call() has values as arguments, and even the code of the function: long ones are
# named by their class.
call_lines <- function(call, ...) {
  parts <- as.list(call)
  long <- vapply(
    parts,
    function(part) is.function(part) || !is.language(part) && length(part) > 0L && utils::object.size(part) > 2000,
    NA
  )
  parts[long] <- lapply(parts[long], function(part) {
    as.name(if (is.function(part)) "FUN" else sprintf("<%s>", class(part)[1L]))
  })
  deparse(as.call(parts), backtick = FALSE, ...)
}

print_matrix <- function(x, zero.print = ".", ...) {
  cat("\nAdjacency Matrix G:\n")
  print.table(methods::as(x@graph, "matrix"), zero.print = zero.print, ...)
}

print_result <- function(x, amat = FALSE, zero.print = ".", ...) {
  check_dots(list(...), marks_takes, "print_result")
  check_object(x)
  print_head(x)
  cat("\n")
  if (amat) {
    print_matrix(x, zero.print = zero.print, ...)
  }
  listed <- edges_of_graph(x@graph)
  directed <- sum(table_of_lists(listed$edges, listed$weights)$kind == "directed")
  # pcalg counts a pair in conflict as undirected.
  print_edges((sum(lengths(listed$edges)) - directed) / 2, directed)
  print_note(x)
  invisible(x)
}

print_edges <- function(undirected, directed) {
  cat("Number of undirected edges: ", undirected, "\n")
  cat("Number of directed edges:   ", directed, "\n")
  cat("Total number of edges:      ", directed + undirected, "\n")
}

print_compact <- function(x) {
  check_object(x)
  print_head(x)
  cat("\n")
  directed <- sum(x@edges$mark == 2L | x@edges$mark == 3L)
  print_edges(length(x@edges$to) - directed, directed)
  print_note(x)
}

methods::setMethod("show", "pcCompact", function(object) print_compact(object))

print_note <- function(x) {
  say_lines(ended_note(x), decision_notes(x), validity_note(x), size_note(x))
}

# With fewer variables, a pcAlgo takes less than 144 MB.
least_with_size <- 3000L

# Returns the bytes of those p x p slots of a pcAlgo that R holds as a whole. `src/rust/src/lazy.rs` has the rule for the
# others. test: the name of the test.
bytes_of_slots <- function(p, test) {
  kept <- if (!identical(test, "gaussCItest")) {
    2
  } else if (getRversion() < "4.3") {
    if (p < 4000) 2 else 1
  } else {
    0
  }
  kept * 8 * as.double(p)^2
}

# Returns a line about the size of a large pcAlgo of this package, or NULL.
size_note <- function(x) {
  details <- if (is_result(x)) run_details(x)
  p <- if (!is.null(details)) length(labels_of_result(x)) else 0L
  bytes <- bytes_of_slots(p, details$test)
  if (p >= least_with_size && bytes > 0 && is.null(details$local)) {
    sprintf(
      "This object takes %s or more. With result = \"compact\", the same edges take much less memory (see ?pc).",
      in_bytes(bytes)
    )
  }
}

print_amat <- function(x, zero.print = ".", ...) {
  d <- dim(x)
  cat(sprintf("Adjacency Matrix 'amat' (%d x %d) of type %s:\n", d[1L], d[2L], sQuote(attr(x, "type"))))
  print.table(x, zero.print = zero.print, ...)
  invisible(x)
}

#' Summary and plot of a result
#'
#' Methods of the generic functions [summary()] and [plot()] for the results of [pc()] and [skeleton()]. If pcalg is
#' attached, its own methods come first: they print the same and draw with Rgraphviz. If Rgraphviz is not installed,
#' pcalg's `plot()` would stop, so [plot_cpdag()] replaces it.
#'
#' @param object,x An object of class `pcAlgo`, from this package or from pcalg, or of class
#'   [pcCompact][pcCompact-class]. R itself refuses to call a method for a `pcAlgo` that was made with pcalg and is read
#'   without pcalg. [plot_cpdag()] and [as_igraph()] accept such an object.
#' @param amat Whether to print the adjacency matrix; by default up to 50 variables. It is the matrix `as(x@graph,
#'   "matrix")`, whose entry `[i, j]` is not zero if there is an edge from `i` to `j`.
#' @param zero.print How to print a zero.
#' @param y Not used.
#' @param ... For `plot()`: arguments of [plot_cpdag()]. For `summary()`: not used.
#' @return `object` or `x`, invisibly.
#' @details For up to 50 variables, `summary()` prints the same as pcalg's. "Max." and "Avg. number of neighbours" then
#'   count the edges that leave a variable, as in pcalg: a directed edge counts only at its tail. [neighbours()] and the
#'   rows of [edge_table()] count both ends.
#'
#'   For more variables that would fill many screens, so `summary()` prints one screen: edges by kind, the test, tests
#'   by level, the distribution of the number of neighbours, connected components, and the five variables with the most
#'   neighbours. For a `pcAlgo`, `summary(fit, amat = TRUE)` still prints pcalg's format.
#'
#'   `glance()` and `as.data.frame()` of a result return such numbers as data (see [tidy.pcCompact()]).
#' @seealso [edge_table()], [neighbours()], [run_details()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(500), 100, 5, dimnames = list(NULL, letters[1:5]))
#' x[, 3] <- x[, 1] + x[, 2] + rnorm(100)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' fit
#' summary(fit)
#' plot(fit)
#' @name pcAlgo-methods
#' @exportS3Method summary pcAlgo
summary.pcAlgo <- function(object, amat = TRUE, zero.print = ".", ...) {
  check_dots(list(...), character(), "summary.pcAlgo")
  check_object(object)
  if (is_large(object@graph@nodes) && (missing(amat) || !amat)) {
    print_overview(object)
    return(invisible(object))
  }
  neighbours <- lengths(lapply(object@graph@edgeL, function(node) node$edges))
  print_summary(object, unname(neighbours))
  if (amat) {
    print_matrix(object, zero.print = zero.print)
  }
  invisible(object)
}

# Prints a summary. `neighbours`: for each node, the number of edges that leave it.
print_summary <- function(object, neighbours) {
  print_head(object)
  cat("\n\nNmb. edgetests during skeleton estimation:\n")
  cat("===========================================\n")
  cat(
    "Max. order of algorithm: ",
    object@max.ord,
    "\nNumber of edgetests from m = 0 up to m =",
    object@max.ord,
    ": ",
    object@n.edgetests
  )
  cat("\n\nGraphical properties of skeleton:\n")
  cat("=================================\n")
  cat(
    "Max. number of neighbours: ",
    max(neighbours),
    "at node(s)",
    which(neighbours == max(neighbours)),
    "\nAvg. number of neighbours: ",
    mean(neighbours),
    "\n"
  )
  print_note(object)
}

#' @rdname pcAlgo-methods
#' @exportS3Method summary pcCompact
summary.pcCompact <- function(object, ...) {
  # A script may pass a result of either class, so these arguments are accepted and ignored.
  check_dots(list(...), c("amat", "zero.print"), "summary.pcCompact")
  check_object(object)
  if (is_large(object@labels)) {
    print_overview(object)
    return(invisible(object))
  }
  mark <- as.integer(object@edges$mark)
  from <- row_numbers(object@edges)
  print_summary(object, tabulate(c(from[mark != 3L], object@edges$to[mark != 2L]), length(object@labels)))
  invisible(object)
}

#' @rdname pcAlgo-methods
#' @exportS3Method plot pcAlgo
plot.pcAlgo <- function(x, y, ...) {
  if (!missing(y)) {
    abort_argument("y", y, "leave it out; plot(x, around = ) draws some variables and their neighbourhood.")
  }
  plot_cpdag(x, ...)
}

#' @rdname pcAlgo-methods
#' @exportS3Method plot pcCompact
plot.pcCompact <- plot.pcAlgo

# summary() of a result with many variables, which fits on one screen.

# Up to this many variables summary() prints in pcalg's format, with the adjacency matrix.
most_in_matrix <- 50L

is_large <- function(labels) length(labels) > most_in_matrix

print_overview <- function(x) {
  network <- network_of(x)
  facts <- overview(x, network)
  # A tilde stands for a non-breaking space.
  say <- function(...) cat(chartr("~", " ", strwrap(paste0(...), getOption("width"), exdent = 2L)), sep = "\n")
  call <- call_lines(x@call, width.cutoff = 100L)
  cat(
    "Object of class '",
    class(x),
    "', from Call:\n",
    paste(shortened(utils::head(call, 3L), 100L), collapse = "\n"),
    if (length(call) > 3L) " ...",
    "\n\n",
    sep = ""
  )
  say(overview_edges(facts))
  search <- c(
    if (!is.na(facts$test)) facts$test,
    if (!is.na(facts$alpha)) paste("alpha =", format(facts$alpha, digits = 7L)),
    if (!is.na(facts$samples)) counted(facts$samples, "sample"),
    if (!is.na(facts$device)) paste("on", facts$device),
    if (!is.na(facts$seconds)) paste(format(facts$seconds, digits = 3L), "seconds")
  )
  if (length(search)) {
    say("Search: ", paste(search, collapse = ", "))
  }
  # fciPlus() counts no tests.
  if (length(facts$tests)) {
    say("Tests: ", tests_by_level(facts$tests))
  }
  phase <- run_details(x)$phase$tests
  if (sum(phase) > 0) {
    say("Possible-d-sep phase: ", tests_by_level(phase, "by size of sets"))
  }
  degree <- tabulate(c(network$edges$from, network$edges$to), facts$variables)
  say(overview_degrees(degree))
  say(overview_components(tabulate(components(facts$variables, network$edges))))
  hubs <- utils::head(order(-degree), 5L)
  hubs <- hubs[degree[hubs] > 0L]
  if (length(hubs)) {
    say(
      "Most neighbours: ",
      paste0(gsub("[ ~]", "_", shortened(network$labels[hubs], 30L)), "~(", degree[hubs], ")", collapse = ", ")
    )
  }
  print_note(x)
}

tests_by_level <- function(tests, by = "by level") {
  paste0(in_words(sum(tests)), "; ", by, ": ", paste0(seq_along(tests) - 1L, ":~", in_words(tests), collapse = ", "))
}

# Shortens names, because long ones would fill the screen.
shortened <- function(words, most) {
  ifelse(nchar(words, "width", allowNA = TRUE) %in% c(NA, 0:most), words, paste0(strtrim(words, most - 3L), "..."))
}

overview_edges <- function(facts) {
  if (identical(names(facts$kinds), kinds_of_pag)) {
    there <- facts$kinds[facts$kinds > 0L]
    shown <- if (length(there)) paste0(": ", paste0(names(there), "~", in_words(there), collapse = ", ")) else ""
    return(sprintf("%s, %s%s", counted(facts$variables, "variable"), counted(sum(facts$kinds), "edge"), shown))
  }
  parts <- c("-->" = "directed", "---" = "undirected", "<->" = "in conflict")
  parts <- paste(in_words(facts$kinds), parts[names(facts$kinds)])[facts$kinds > 0L | names(facts$kinds) != "<->"]
  sprintf(
    "%s, %s: %s",
    counted(facts$variables, "variable"),
    counted(sum(facts$kinds), "edge"),
    paste(parts, collapse = ", ")
  )
}

overview_degrees <- function(degree) {
  at <- stats::quantile(degree, c(0, 0.25, 0.5, 0.75, 0.95, 1), names = FALSE, type = 1L)
  sprintf(
    "Neighbours per variable: mean %s, minimum %s, quartiles %s, %s and %s, 95th percentile %s, maximum %s",
    format(mean(degree), digits = 3L),
    in_words(at[1L]),
    in_words(at[2L]),
    in_words(at[3L]),
    in_words(at[4L]),
    in_words(at[5L]),
    in_words(at[6L])
  )
}

overview_components <- function(sizes) {
  joined <- sort(sizes[sizes > 1L], decreasing = TRUE)
  alone <- sum(sizes == 1L)
  paste0(
    "Connected components: ",
    in_words(length(joined)),
    if (length(joined)) {
      sprintf(" (largest: %s variables)", paste(in_words(utils::head(joined, 3L)), collapse = ", "))
    },
    ", and ",
    counted(alone, "variable"),
    " without an edge"
  )
}

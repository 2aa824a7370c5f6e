#' Convert a result to dagitty
#'
#' Returns the graph in the language of DAGitty, for the R package, for <https://dagitty.net>, or for ggdag. dagitty's functions for adjustment sets and
#' implied independences accept it.
#'
#' @param x As in [as_igraph()].
#' @param text If `TRUE`, returns only the text, which does not need the package dagitty.
#' @return An object of class `dagitty` of the package dagitty, or one string. The string contains `"pdag {"`, one line for each variable, one line for each
#'   edge (`->`, `--`, or `<->` for a conflict), and `"}"`. It begins with `"dag {"` for a graph of [random_dag()], and with `"pag {"` for a result of [fci()]
#'   and its relatives, whose circles are written `@`, as in `@->` and `@-@`. Names are quoted if the language requires it. In dagitty `<->` stands for a
#'   hidden common cause, so check a CPDAG for conflicts before you use the graph there.
#'
#'   Errors have the class `pcgpu_error_argument` if a name has a character that the language does not allow (one that does not print, or a backslash at the
#'   end). They have the class `pcgpu_error_package` if dagitty is not installed.
#' @references
#' J. Textor, B. van der Zander, M. S. Gilthorpe, M. Liskiewicz and G. T. H. Ellison (2016). Robust causal inference using directed acyclic graphs: the R
#' package 'dagitty'. *International Journal of Epidemiology* 45(6), 1887-1894.
#' @seealso [as_igraph()], [causal_effects()]
#' @examples
#' cat(as_dagitty(cpdag_of(random_dag(6, seed = 1)), text = TRUE))
#' @export
as_dagitty <- function(x, text = FALSE) {
  network <- network_of(x)
  text <- check_flag(text, "text")
  if (!text) need_package("dagitty", "as_dagitty(text = FALSE) needs the package dagitty")
  name <- dagitty_names(network$labels)
  edges <- network$edges
  kind <- c("-->" = " -> ", "---" = " -- ", "<->" = " <-> ", "o->" = " @-> ", "o-o" = " @-@ ", "o--" = " @-- ")[edges$kind]
  check_object(x)
  dag <- inherits(x, "pcgpu_graph") && all(x$directed)
  lines <- c(if (dag) "dag {" else if (isTRUE(network$pag)) "pag {" else "pdag {", name, paste0(name[edges$from], kind, name[edges$to], recycle0 = TRUE), "}")
  written <- paste0(lines, "\n", collapse = "")
  if (text) written else dagitty::dagitty(written)
}

# Returns names in quotes, except plain words. In a string of the language \" is a quote, and any other backslash is literal.
dagitty_names <- function(labels) {
  labels <- enc2utf8(labels)
  bad <- grepl("[\\x01-\\x1f\\x7f]|\\\\$", labels, perl = TRUE) | !nzchar(labels)
  if (any(bad)) {
    abort_argument("x", labels, "rename these variables.", has = paste("names that dagitty does not allow:", enumerate(encodeString(labels[bad], quote = "\""))))
  }
  plain <- grepl("^[A-Za-z_][A-Za-z0-9_.]*$", labels)
  ifelse(plain, labels, paste0("\"", gsub("\"", "\\\"", labels, fixed = TRUE), "\""))
}

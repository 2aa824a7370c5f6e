# A graph with every kind of edge, an isolated variable, and names that formats of files have to escape.
odd_names <- c(
  "plain",
  "a b",
  "q\"uote",
  "<&> &amp;",
  "back\\slash",
  "\u00fcml\u00e4ut \u03b2",
  "semi;co,lon",
  "x->y",
  "-5",
  "1e5",
  "a--b"
)

odd_graph <- function(names = odd_names) {
  m <- matrix(0, length(names), length(names), dimnames = list(names, names))
  arrow <- function(a, b) m[a, b] <<- 1
  both <- function(a, b, mark) m[a, b] <<- m[b, a] <<- mark
  arrow(1, 2)
  arrow(4, 3)
  arrow(9, 10)
  both(2, 5, 1)
  both(6, 3, 1)
  both(7, 5, 2)
  both(8, 1, 2)
  m
}

# Returns its edges, in the form of edges().
odd_edges <- function(names = odd_names) {
  data.frame(
    from = names[c(1, 1, 2, 4, 3, 5, 9)],
    to = names[c(2, 8, 5, 3, 6, 7, 10)],
    kind = c("-->", "<->", "---", "-->", "---", "<->", "-->"),
    stringsAsFactors = FALSE
  )
}

# Sorts tables of edges, and the ends of undirected edges.
sorted_edges <- function(edges) {
  edges <- data.frame(
    from = as.character(edges$from),
    to = as.character(edges$to),
    kind = as.character(edges$kind),
    stringsAsFactors = FALSE
  )
  turn <- edges$kind != "-->" & edges$from > edges$to
  edges[turn, 1:2] <- edges[turn, 2:1]
  edges <- edges[order(edges$from, edges$to), ]
  rownames(edges) <- NULL
  edges
}

# Returns results of either class with edges in conflict, directed and undirected ones.
mixed_fits <- function() {
  x <- simulate(12, 150, degree = 3, seed = 3)
  fits <- lapply(c(full = "pcAlgo", compact = "compact"), function(result) {
    pc(
      list(C = cor(x), n = 150),
      gaussCItest,
      0.2,
      labels = colnames(x),
      solve.confl = TRUE,
      numCores = 2,
      result = result
    )
  })
  stopifnot(setequal(edges(fits$compact)$kind, c("-->", "---", "<->")))
  fits
}

# Returns a compact result of any size, without a search.
compact_of <- function(graph, conflicts = 0) {
  n <- length(graph$from)
  low <- pmin(graph$from, graph$to)
  high <- pmax(graph$from, graph$to)
  mark <- ifelse(!graph$directed, 1L, ifelse(graph$from < graph$to, 2L, 3L))
  mark[seq_len(conflicts)] <- 4L
  by <- order(low, high)
  fit <- small_fit(result = "compact")
  fit@labels <- graph$labels
  p <- seq_len(n) / (100 * n)
  fit@edges <- list(
    start = cumsum(c(0, tabulate(low, length(graph$labels)))),
    to = high[by],
    mark = as.raw(mark[by]),
    p = as.raw(t(matrix(as.integer(writeBin(p, raw(), endian = "little")), 8L)))
  )
  fit@gaps <- list(start = numeric(length(graph$labels) + 1L), to = integer(), p = raw())
  fit@sets <- c(fit@gaps, list(set = raw(), ends = 0, members = integer()))
  fit
}

#' d-separation in a graph
#'
#' Returns whether a graph implies that variables are independent given others: d-separation in a DAG or a CPDAG, and
#' m-separation in a PAG or a MAG.
#'
#' All DAGs of a CPDAG have the same separations, and so have all MAGs of a PAG. The answer for a CPDAG is therefore that
#' of [dag_of()]. In a PAG, `o->` becomes `-->`, and the edges `o-o` become arrows that make no v-structure among
#' themselves. The result is a MAG of the class (Zhang 2008).
#'
#' The algorithm follows the walks along which dependence can pass, each edge at most twice (Shachter 1998; algorithm
#' 3.1 of Koller and Friedman 2009), so its time is proportional to the number of edges.
#'
#' @param x A result of [pc()] or [orient()], of either class, or of [fci()], [rfci()] or [fciPlus()] with
#'   `selectionBias = FALSE`; a graph of [random_dag()], [cpdag_of()] or [dag_of()]; a result of [stability()] (its
#'   averaged graph); or another graph that [compare_graphs()] accepts.
#' @param a,b Variables, by name or number. Each variable in `a` must be separated from each in `b`.
#' @param given The variables that are given, by name or number; `NULL` or `character(0)` for none.
#' @return `TRUE` if `given` separates `a` from `b` in the graph, otherwise `FALSE`. The set with which a search
#'   separated a pair, `sepset(x, a, b)`, need not separate it in the graph: tests make errors.
#'
#'   Errors have the class `pcgpu_error_argument`: a variable that is named twice; a graph that stands for no DAG, see
#'   [dag_of()]; a PAG with edges due to selection (`---`, `o--`), or one that stands for no MAG.
#' @references
#' D. Koller and N. Friedman (2009). *Probabilistic Graphical Models: Principles and Techniques*. MIT Press.
#'
#' R. D. Shachter (1998). Bayes-ball: the rational pastime (for determining irrelevance and requisite information in
#' belief networks and influence diagrams). *UAI*, 480-487.
#'
#' J. Zhang (2008). On the completeness of orientation rules for causal discovery in the presence of latent confounders
#' and selection bias. *Artificial Intelligence* 172, 1873-1896.
#' @seealso [sepset()] for the set that a search found, [markov_check()], which tests what a graph implies,
#'   [markov_blanket()].
#' @examples
#' # a -> c <- b, and c -> e
#' dag <- matrix(0, 4, 4, dimnames = list(c("a", "b", "c", "e"), c("a", "b", "c", "e")))
#' dag["a", "c"] <- dag["b", "c"] <- dag["c", "e"] <- 1
#' d_separated(dag, "a", "b")
#' d_separated(dag, "a", "b", given = "e")
#' d_separated(dag, c("a", "b"), "e", given = "c")
#' # Its CPDAG implies the same:
#' d_separated(cpdag_of(dag), "a", "b", given = "e")
#' @export
d_separated <- function(x, a, b, given = NULL) {
  check_given(
    list(x = missing(x), a = missing(a), b = missing(b)),
    list(
      x = "give a result of pc(), or a graph.",
      a = "give a variable, by name or number.",
      b = "give a variable, by name or number."
    )
  )
  ends <- if (is_pag(x)) ends_of_mag(x) else ends_of_dag(x)
  labels <- ends$labels
  sides <- list(
    a = variables_at(a, labels, "a"),
    b = variables_at(b, labels, "b"),
    given = if (length(given)) variables_at(given, labels, "given") else integer()
  )
  twice <- unlist(lapply(sides, unique))
  twice <- unique(twice[duplicated(twice)])
  if (length(twice)) {
    of <- if (any(twice %in% sides$given)) "given" else "b"
    abort_argument(
      of,
      get(of),
      "name each variable in only one of `a`, `b` and `given`.",
      has = paste("variables that another argument has, too:", enumerate(dQuote(labels[twice], FALSE)))
    )
  }
  !any(reached_from(sides$a, sides$given, ends)[sides$b])
}

# Returns every arc of a DAG of the graph and its reverse: list(labels, from, to, head_from, head_to), the last two for
# whether there is an arrowhead at `from` and at `to`.
ends_of_dag <- function(x) {
  listed <- edges_of(x)
  arrows <- arrows_of_extension(x, listed)
  arcs_both_ways(listed$labels, arrows$from, arrows$to, FALSE)
}

arcs_both_ways <- function(labels, from, to, head_from) {
  head_from <- rep_len(head_from, length(from))
  list(
    labels = labels,
    from = c(from, to),
    to = c(to, from),
    head_from = c(head_from, rep.int(TRUE, length(from))),
    head_to = c(rep.int(TRUE, length(from)), head_from)
  )
}

# Returns the same for a MAG of a PAG.
ends_of_mag <- function(x) {
  network <- network_of(x)
  edges <- network$edges
  if (any(edges$kind %in% c("---", "o--"))) {
    abort_argument(
      "x",
      x,
      "search with fci(selectionBias = FALSE).",
      has = "edges due to selection (--- or o--), for which there is no answer"
    )
  }
  refuse <- function(has) {
    abort_argument("x", x, "give one whose marks agree; d_separated() has no answer here.", has = has)
  }
  open <- edges$kind == "o-o"
  circles <- edges_of_table(network$labels, edges$from[open], edges$to[open], rep.int(FALSE, sum(open)))
  found <- check_rust(rust_implied(circles$edges, NULL, list(what = "edges", most = 1e9, seed = 0)))
  if (found$extension != "none") {
    refuse("no MAG: every way to direct its edges o-o makes a cycle or a v-structure")
  }
  arcs_both_ways(
    network$labels,
    c(edges$from[!open], found$y),
    c(edges$to[!open], found$x),
    c(edges$kind[!open] == "<->", rep.int(FALSE, length(found$x)))
  )
}

# Returns for each variable whether dependence reaches it from one of `start`. A step passes a variable with two
# arrowheads at it if it is in `given` or an ancestor of one, and any other variable if it is not in `given`.
reached_from <- function(start, given, ends) {
  p <- length(ends$labels)
  by <- order(ends$from)
  from <- ends$from[by]
  to <- ends$to[by]
  head_from <- ends$head_from[by]
  head_to <- ends$head_to[by]
  count <- tabulate(from, p)
  first <- cumsum(c(1L, count))[seq_len(p)]
  arcs_of <- function(front) sequence(count[front], first[front])
  is_given <- is_ancestor <- logical(p)
  is_given[given] <- is_ancestor[given] <- TRUE
  front <- given
  while (length(front)) {
    at <- arcs_of(front)
    parents <- unique(to[at[head_from[at] & !head_to[at]]])
    front <- parents[!is_ancestor[parents]]
    is_ancestor[front] <- TRUE
  }
  # By variable, then whether the last step has an arrowhead there.
  seen <- matrix(FALSE, p, 2L)
  step <- arcs_of(start)
  while (length(step)) {
    v <- to[step]
    came <- head_to[step]
    key <- v + p * came
    new <- !seen[key] & !duplicated(key)
    v <- v[new]
    came <- came[new]
    seen[v + p * came] <- TRUE
    further <- arcs_of(v)
    came <- rep.int(came, count[v])
    through <- from[further]
    step <- further[ifelse(came & head_from[further], is_ancestor[through], !is_given[through])]
  }
  rowSums(seen) > 0
}

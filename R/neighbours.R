#' The neighbours of a variable
#'
#' Which variables are near others in a graph: those they share an edge with, those that share one with these, and so on.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()], [rfci()] or [fciPlus()]; a graph of [random_dag()] or [cpdag_of()]; a result of [stability()] (its averaged graph); or another graph
#'   that [compare_graphs()] takes.
#' @param a One variable or several, by name or number.
#' @param order How many edges away at the most, from 1 up; `Inf` for all that can be reached.
#' @param follow Which edges lead on: `"all"`; `"parents"`, against the arrows, so that `order = Inf` gives the ancestors; `"children"`, along them, for the descendants; or `"undirected"`, edges
#'   without a direction alone (`---`). An edge in conflict is neither of these, and `"all"` alone follows it; so it is with edges of a PAG but `-->` and `---`.
#' @return A data frame with a row for each variable that is found, `a` left out, by distance, then in the order of the variables: `name`; `distance`, in edges from the nearest of `a`; `via`, the
#'   first variable, one step nearer, that leads there (one of `a` at distance 1); and `kind`, what the variable is to that one: `"parent"`, `"child"`, `"undirected"` or `"conflict"`; in a PAG also `"possible parent"` and `"possible child"` (the two ends of `o->`), `"spouse"` (`<->`)
#'   or `"unknown"` (`o-o`, `o--`). An isolated variable has none, and no row.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [edge_table()], [sepset()]
#' @examples
#' dag <- random_dag(30, neighbours = 2, seed = 2)
#' neighbours(dag, "x5")
#' neighbours(dag, "x5", order = 2)
#' neighbours(dag, "x5", order = Inf, follow = "parents") # its ancestors
#' @export
neighbours <- function(x, a, order = 1, follow = c("all", "parents", "children", "undirected")) {
  check_given(list(x = missing(x), a = missing(a)), list(x = "give a result of pc(), or a graph.", a = "give a variable, by name or number."))
  network <- network_of(x)
  labels <- network$labels
  start <- variables_at(a, labels, "a")
  order <- check_order(order, 1L)
  follow <- check_choice(follow, c("all", "parents", "children", "undirected"), "follow")
  steps <- steps_of(network$edges, follow, isTRUE(network$pag))
  count <- tabulate(steps$from, length(labels))
  first <- cumsum(c(1L, count))[seq_along(labels)]
  distance <- rep.int(NA_integer_, length(labels))
  distance[start] <- 0L
  via <- kind <- integer(length(labels))
  front <- unique(start)
  done <- 0L
  while (done < order && length(front)) {
    done <- done + 1L
    # The steps that begin at the front, in the order of their ends, so that of several that lead to one variable the first counts.
    at <- sequence(count[front], first[front])
    at <- at[is.na(distance[steps$to[at]])]
    at <- at[order(steps$to[at], steps$from[at])]
    at <- at[!duplicated(steps$to[at])]
    front <- steps$to[at]
    distance[front] <- done
    via[front] <- steps$from[at]
    kind[front] <- steps$kind[at]
  }
  found <- which(distance > 0L)
  found <- found[order(distance[found], found)]
  list2DF(list(name = labels[found], distance = distance[found], via = labels[via[found]], kind = step_kinds[kind[found]]))
}

# What the end of a step is to its beginning.
step_kinds <- c("parent", "child", "undirected", "conflict", "possible parent", "possible child", "spouse", "unknown")

# By kind of edge: what its second end is to the first, and the first to the second.
steps_along <- rbind("-->" = c(2L, 1L), "---" = c(3L, 3L), "<->" = c(4L, 4L))
steps_along_pag <- rbind("-->" = c(2L, 1L), "o->" = c(6L, 5L), "<->" = c(7L, 7L), "o-o" = c(8L, 8L), "o--" = c(8L, 8L), "---" = c(3L, 3L))

# Every step along an edge that is to be followed, by the number of the variable that it begins at.
steps_of <- function(edges, follow, pag = FALSE) {
  along <- (if (pag) steps_along_pag else steps_along)[edges$kind, , drop = FALSE]
  steps <- list2DF(list(from = c(edges$from, edges$to), to = c(edges$to, edges$from), kind = unname(c(along[, 1L], along[, 2L]))))
  wanted <- list(all = seq_along(step_kinds), parents = 1L, children = 2L, undirected = 3L)[[follow]]
  steps <- steps[steps$kind %in% wanted, ]
  steps[order(steps$from), ]
}

#' The neighbours of a variable
#'
#' Returns the variables near one or several variables in a graph: those that share an edge with them, those that share
#' an edge with these, and so on.
#'
#' @param x A result of [pc()], [skeleton()] or [orient()], of either class, or of [fci()], [rfci()] or [fciPlus()]; a
#'   graph of [random_dag()] or [cpdag_of()]; a result of [stability()] (its averaged graph); or another graph that
#'   [compare_graphs()] accepts.
#' @param a One or several variables, by name or number.
#' @param order The largest distance in edges, from 1 up; `Inf` for all variables that can be reached.
#' @param follow Which edges to follow:
#'   - `"all"`;
#'   - `"parents"`: against the arrows; `order = Inf` then returns the ancestors;
#'   - `"children"`: along the arrows; `order = Inf` then returns the descendants;
#'   - `"undirected"`: only edges without a direction (`---`).
#'
#'   Only `"all"` follows an edge in conflict, and edges of a PAG other than `-->` and `---`.
#' @return A data frame with one row for each variable found, without `a`, by distance, then in the order of the
#'   variables:
#'   - `name`;
#'   - `distance`, in edges from the nearest of `a`;
#'   - `via`, the first variable one step nearer that leads there (one of `a` at distance 1);
#'   - `kind`, the role of the variable for `via`: `"parent"`, `"child"`, `"undirected"` or `"conflict"`; in a PAG also
#'     `"possible parent"` and `"possible child"` (the two ends of `o->`), `"spouse"` (`<->`) or `"unknown"` (`o-o`,
#'     `o--`).
#'
#'   An isolated variable has no neighbours, so the table has no rows.
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
  check_given(
    list(x = missing(x), a = missing(a)),
    list(x = "give a result of pc(), or a graph.", a = "give a variable, by name or number.")
  )
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
    # The steps that begin at the front, ordered by their ends: if several lead to one variable, the first counts.
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
  list2DF(list(
    name = labels[found],
    distance = distance[found],
    via = labels[via[found]],
    kind = step_kinds[kind[found]]
  ))
}

# Roles of the end of a step for its beginning.
step_kinds <- c("parent", "child", "undirected", "conflict", "possible parent", "possible child", "spouse", "unknown")

# By kind of edge: the role of its second end for the first, and of the first for the second.
steps_along <- rbind("-->" = c(2L, 1L), "---" = c(3L, 3L), "<->" = c(4L, 4L))
steps_along_pag <- rbind(
  "-->" = c(2L, 1L),
  "o->" = c(6L, 5L),
  "<->" = c(7L, 7L),
  "o-o" = c(8L, 8L),
  "o--" = c(8L, 8L),
  "---" = c(3L, 3L)
)

# Returns every step along an edge to be followed, by the number of the variable where it begins.
steps_of <- function(edges, follow, pag = FALSE) {
  along <- (if (pag) steps_along_pag else steps_along)[edges$kind, , drop = FALSE]
  steps <- list2DF(list(
    from = c(edges$from, edges$to),
    to = c(edges$to, edges$from),
    kind = unname(c(along[, 1L], along[, 2L]))
  ))
  wanted <- list(all = seq_along(step_kinds), parents = 1L, children = 2L, undirected = 3L)[[follow]]
  steps <- steps[steps$kind %in% wanted, ]
  steps[order(steps$from), ]
}

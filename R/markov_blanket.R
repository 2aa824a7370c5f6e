#' The Markov blanket of a variable
#'
#' Returns the parents and children of a variable, and its spouses, the other parents of its children. Given these, the
#' variable is independent of all others, so no other variable helps to predict it.
#'
#' In a CPDAG, an edge without a direction joins a parent or a child: the data do not say which. Such a neighbour is in
#' the blanket in either case. A spouse is a variable s without an edge to the target, with `s --> c <-- target`. In a
#' CPDAG all such v-structures have a direction, so the blanket of a CPDAG is that of each of its DAGs. In a skeleton
#' spouses cannot be seen, and only neighbours are returned, as `"undirected"`. An edge in conflict is a neighbour of the
#' role `"conflict"`, and makes no spouse.
#'
#' @param x A result of [local_pc()], [pc()] or [orient()], of either class, or another graph that [neighbours()]
#'   accepts, except a PAG; or data, as in [local_pc()], with `alpha`. [local_pc()] then learns the graph with `order =
#'   1`.
#' @param target The variable, by name or number. In a result of [local_pc()] it must be near the target of the search:
#'   at most `order - 1` edges away.
#' @param alpha For data: the significance level of each test.
#' @param ... For data: further arguments of [local_pc()].
#' @return A data frame with one row for each member, in the order of the variables:
#'   - `name`;
#'   - `role`: `"parent"`, `"child"`, `"undirected"`, `"conflict"` or `"spouse"`;
#'   - `via`: for a spouse, the first child that it shares with the target, otherwise `NA`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. Pearl (1988). *Probabilistic reasoning in intelligent systems*. Morgan Kaufmann.
#' @seealso [local_pc()], [neighbours()]
#' @examples
#' dag <- random_dag(30, neighbours = 3, seed = 1)
#' markov_blanket(cpdag_of(dag), "x12")
#' x <- random_data(dag, 1000, seed = 1, numCores = 2)
#' markov_blanket(x, "x12", alpha = 0.001, numCores = 2)
#' @export
markov_blanket <- function(x, target, alpha, ...) {
  if (!is.null(taught <- taught_call(c("m.max", "numCores", "progress")))) {
    return(eval(taught, parent.frame()))
  }
  check_given(
    list(x = missing(x), target = missing(target)),
    list(x = "give a result of pc() or local_pc(), or data.", target = "give a variable, by name or number.")
  )
  if (!missing(alpha)) {
    check_dots(list(...), c("m.max", "numCores", "progress"), "markov_blanket")
    x <- local_pc(x, target, alpha, ...)
    target <- run_details(x)$local$target
  } else {
    check_dots(list(...), character(), "markov_blanket")
    if (is_plink(x) || is.data.frame(x) && !inherits(x, "pcgpu_edges") || is.list(x) && !is.object(x)) {
      abort_argument("alpha", NULL, "give the significance level for data, for instance alpha = 0.001.", is = "missing")
    }
  }
  if (is_pag(x)) {
    refuse_pag(x, instead = "neighbours() returns those of a PAG")
  }
  network <- network_of(x)
  labels <- network$labels
  at <- variables_at(target, labels, "target")
  if (length(at) != 1L) {
    abort_argument("target", target, "use one variable, by name or number.")
  }
  check_blanket_complete(x, labels[at])
  steps <- steps_of(network$edges, "all")
  own <- steps[steps$from == at, ]
  role <- step_kinds[own$kind]
  of_children <- steps[steps$from %in% own$to[role == "child"] & step_kinds[steps$kind] == "parent", ]
  of_children <- of_children[!of_children$to %in% c(at, own$to), ]
  of_children <- of_children[!duplicated(of_children$to), ]
  found <- list2DF(list(
    name = c(own$to, of_children$to),
    role = c(role, rep("spouse", nrow(of_children))),
    via = c(rep(NA_character_, nrow(own)), labels[of_children$from])
  ))
  found <- found[order(found$name), ]
  found$name <- labels[found$name]
  rownames(found) <- NULL
  found
}

# Stops if a result of local_pc() may lack a spouse of the variable.
check_blanket_complete <- function(x, target) {
  of <- if (is_result(x)) run_details(x)$local
  if (is.null(of)) {
    return(invisible())
  }
  far <- of$distance[[target]]
  if (far + 1 > of$order) {
    abort_argument(
      "target",
      target,
      sprintf("search with local_pc(order = %.0f), or around this variable.", far + 1),
      is = sprintf(
        "%s, %s from the target of a search with order = %s, which may lack its spouses",
        dQuote(target, FALSE),
        counted(far, "edge"),
        format(of$order)
      )
    )
  }
}

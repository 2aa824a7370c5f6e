#' Random DAGs
#'
#' Draws a directed acyclic graph with a weight for each arrow, for testing a search. [random_data()] draws data from
#' it, [cpdag_of()] returns the graph that a search should find, and [compare_graphs()] measures how well it did. The
#' causal order is random, so the order of the variables reveals nothing about it. 50,000 variables take less than a
#' second, because the graph is stored as a table of edges.
#'
#' # Models
#'
#' - `"er"` (Erdos and Renyi 1959): each pair has an edge with the same probability, `neighbours / (p - 1)`.
#' - `"power"` (Barabasi and Albert 1999): each variable in turn gets edges to `neighbours / 2` earlier ones. These are
#'   drawn with a probability proportional to their number of edges plus one, so that a few variables have many
#'   neighbours. Arrows follow the causal order, which is independent of this.
#' - `"layers"`: the variables form `layers` layers of about the same size. Arrows lead from one layer to the next, each
#'   with the same probability. Two layers make a bipartite graph.
#'
#' @param p Number of variables.
#' @param neighbours Expected number of neighbours of a variable.
#' @param model The model, see below.
#' @param prob Alternative to `neighbours`: `neighbours / (p - 1)`; with `"er"`, the probability of an edge.
#' @param layers Number of layers.
#' @param weights The smallest and the largest absolute weight; absolute weights are uniform between them.
#' @param signs Draw the signs of weights at random?
#' @param labels Names of the variables; by default `"x1"`, `"x2"` and so on.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a
#'   run reproducible.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return An object of class `pcgpu_graph`: a list of `labels` and, for each edge, the numbers `from` and `to`, whether
#'   it is `directed`, and its `weight`. These functions accept it:
#'   - `summary()` returns the numbers of neighbours;
#'   - `as.data.frame()` and [edge_table()] return a table of its edges with names;
#'   - `as.matrix()` returns the adjacency matrix (`[i, j]` is 1 for i -> j, `[i, j]` and `[j, i]` for i - j);
#'   - `as(x, "graphNEL")` returns a graph of the package graph with weights;
#'   - [plot_cpdag()], [as_igraph()], [causal_effects()] and [add_knowledge()].
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' P. Erdos and A. Renyi (1959). On random graphs I. *Publicationes Mathematicae* 6, 290-297.
#'
#' A.-L. Barabasi and R. Albert (1999). Emergence of scaling in random networks. *Science* 286, 509-512.
#'
#' V. Batagelj and U. Brandes (2005). Efficient generation of large random networks. *Physical Review E* 71, 036113.
#' @seealso [random_data()]
#' @examples
#' dag <- random_dag(10, neighbours = 2, seed = 1)
#' dag
#' cpdag_of(dag)
#' random_dag(1000, model = "power", seed = 1)
#' @export
random_dag <- function(
  p,
  neighbours = min(2, p - 1),
  model = c("er", "power", "layers"),
  prob = NULL,
  layers = 2,
  weights = c(0.3, 1),
  signs = TRUE,
  labels = NULL,
  seed = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "random_dag"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(list(p = missing(p)), list(p = "pass the number of variables."))
  p <- check_whole(p, "p", 1, 1e7)
  model <- check_choice(model, c("er", "power", "layers"), "model")
  if (!is.null(prob)) {
    neighbours <- check_number(prob, "prob", "use a probability from 0 to 1, or pass `neighbours` instead.", 0, 1) *
      (p - 1)
  }
  neighbours <- check_number(neighbours, "neighbours", sprintf("use a number from 0 to %.0f.", p - 1), 0, p - 1)
  layers <- if (model == "layers") check_whole(layers, "layers", 2, max(p, 2)) else 2
  if (
    !is.numeric(weights) ||
      !length(weights) %in% 1:2 ||
      !all(is.finite(weights)) ||
      any(weights < 0) ||
      is.unsorted(weights)
  ) {
    abort_argument("weights", weights, "use the smallest and the largest size of a weight, such as c(0.3, 1).")
  }
  signs <- check_flag(signs, "signs")
  labels <- if (is.null(labels)) paste0("x", seq_len(p)) else check_names_of_graph(labels, p)
  shape <- list(
    p = p,
    model = model,
    layers = layers,
    neighbours = neighbours,
    weights = as.double(range(weights)),
    signs = signs
  )
  found <- check_rust(rust_random_dag(shape, check_seed(seed)))
  new_graph(labels, found$from, found$to, rep.int(TRUE, length(found$from)), found$weight)
}

check_names_of_graph <- function(labels, p) {
  if (!is.character(labels) || length(labels) != p || anyNA(labels) || anyDuplicated(labels)) {
    abort_argument("labels", labels, sprintf("use %.0f different names.", p))
  }
  labels
}

#' Random data from a DAG
#'
#' Draws observations from a DAG, each variable given its parents. Variables are numeric, discrete, or both, optionally
#' with missing values. The data depend only on the seed, not on the number of threads.
#'
#' # Models
#'
#' Let \eqn{w_{uv}}{w[u,v]} be the weight of the arrow u -> v times `strength`, \eqn{e_v}{e[v]} independent standard normal variables, and
#' \eqn{z_u}{z[u]} variable u standardised to mean 0 and standard deviation 1 in the sample:
#'
#' - `"gaussian"`: \eqn{x_v = \sum_u w_{uv} x_u + e_v}{x[v] = sum_u w[u,v] x[u] + e[v]}, the sum over the parents of v. This is the model of
#'   `pcalg::rmvDAG()`.
#' - `"nonlinear"`: \eqn{x_v = \sum_u w_{uv} f_{uv}(z_u) + e_v}{x[v] = sum_u w[u,v] f[u,v](z[u]) + e[v]}, where f is one of
#'   \eqn{\tanh(2z)}{tanh(2z)}, \eqn{\sin(2z)}{sin(2z)}, \eqn{(z^2 - 1) / \sqrt 2}{(z^2 - 1)/sqrt(2)} and \eqn{\exp(-z^2)}{exp(-z^2)}, drawn for each edge.
#' - `"discrete"`: levels by a multinomial logit,
#'   \eqn{P(x_v = k) \propto \exp(a_{vk} + \sum_u 2 w_{uv} b_{uv}(x_u, k))}{P(x[v] = k) proportional to exp(a[v,k] + sum_u 2 w[u,v] b[u,v](x[u], k))}, with
#'   \eqn{a_{vk}}{a[v,k]} normal with standard deviation 1/2 and b standard normal, drawn for each arrow and pair of levels.
#' - `"mixed"`: each variable is discrete with probability `discrete`.
#'   - To a numeric variable, a numeric parent adds \eqn{w_{uv} z_u}{w[u,v] z[u]}, and a discrete parent \eqn{w_{uv} b_{uv}(x_u)}{w[u,v] b[u,v](x[u])}.
#'   - To the logit of level k, a numeric parent adds \eqn{2 w_{uv} b_{uv}(k) z_u}{2 w[u,v] b[u,v](k) z[u]}, and a discrete parent the same as above.
#'
#' In the Gaussian model, variances grow along the causal order, which some methods exploit (Reisach, Seiler and
#' Weichwald 2021). With `standardise = TRUE`, each variable is scaled to mean 0 and standard deviation 1 before its
#' children are drawn.
#'
#' # Missing values
#'
#' - `"MCAR"`, missing completely at random: each cell is missing with probability `missing`.
#' - `"MAR"`, missing at random: a random half of the variables is complete. In the other variables, the log odds of a missing cell are a constant
#'   plus twice \eqn{z_u}{z[u]}. Here u is a complete neighbour in the graph, or some other complete variable if there is none (levels count as 1, 2,
#'   ...). The constant is chosen so that a proportion `missing` of the variable's cells is missing.
#'
#' @param dag A DAG from [random_dag()], a [graph::graphNEL-class], an adjacency matrix, an igraph graph, or a DAG of
#'   bnlearn. The weights of a graph of the package graph, or the numbers of a matrix, are the weights of the arrows.
#'   Without weights they are 1.
#' @param n Number of observations.
#' @param kind The model, see below.
#' @param levels The smallest and the largest number of levels of a variable, or one number for all. The number of each
#'   variable is drawn between them.
#' @param discrete With `kind = "mixed"`: the probability that a variable is discrete.
#' @param strength A factor for all weights.
#' @param standardise Scale each numeric variable to mean 0 and standard deviation 1 before its children are drawn?
#' @param missing The proportion of missing cells.
#' @param mechanism The mechanism of missingness, see below.
#' @param seed As in [random_dag()].
#' @param numCores Number of threads; all cores by default.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return A numeric matrix (`"gaussian"`, `"nonlinear"`), a data frame of factors (`"discrete"`), or a data frame of
#'   factors and numbers (`"mixed"`), with the names of the variables.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' A. G. Reisach, C. Seiler and S. Weichwald (2021). Beware of the simulated DAG! Causal discovery benchmarks may be
#' easy to game. *NeurIPS*.
#'
#' J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw (2011). Parallel random numbers: as easy as 1, 2, 3. *SC11*.
#' @seealso [random_dag()], [compare_graphs()]
#' @examples
#' dag <- random_dag(8, neighbours = 2, seed = 1)
#' x <- random_data(dag, 1000, seed = 1, numCores = 2)
#'
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' compare_graphs(fit, dag)
#'
#' summary(random_data(dag, 100, "mixed", missing = 0.1, mechanism = "MAR", seed = 1, numCores = 2))
#' @export
random_data <- function(
  dag,
  n,
  kind = c("gaussian", "nonlinear", "discrete", "mixed"),
  levels = c(2, 4),
  discrete = 0.5,
  strength = 1,
  standardise = FALSE,
  missing = 0,
  mechanism = c("MCAR", "MAR"),
  seed = NULL,
  numCores,
  ...
) {
  if (!is.null(taught <- taught_call(of = "random_data"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(
    list(dag = base::missing(dag), n = base::missing(n)),
    list(dag = "pass a DAG, such as random_dag(10).", n = "pass the number of observations.")
  )
  arrows <- arrows_of(dag)
  n <- check_whole(n, "n", 1, .Machine$integer.max)
  kind <- check_choice(kind, c("gaussian", "nonlinear", "discrete", "mixed"), "kind")
  if (
    !is.numeric(levels) ||
      !length(levels) %in% 1:2 ||
      anyNA(levels) ||
      any(levels != trunc(levels) | levels < 2 | levels > 1000) ||
      is.unsorted(levels)
  ) {
    abort_argument(
      "levels",
      levels,
      "use the smallest and the largest number of levels, whole numbers from 2 to 1000, such as c(2, 4)."
    )
  }
  share <- check_number(discrete, "discrete", "use the probability that a variable is discrete, from 0 to 1.", 0, 1)
  sample <- list(
    n = n,
    kind = kind,
    levels = as.double(range(levels)),
    share = share,
    strength = check_number(
      strength,
      "strength",
      "use a finite factor for the weights, such as 1.",
      above = -Inf,
      below = Inf
    ),
    standardise = check_flag(standardise, "standardise"),
    missing = check_number(missing, "missing", "use the proportion of missing cells, from 0 to 0.99.", 0, 0.99),
    mechanism = check_choice(mechanism, c("MCAR", "MAR"), "mechanism")
  )
  threads <- resolve_threads(if (!base::missing(numCores)) numCores)
  found <- check_rust(rust_random_data(arrows, sample, check_seed(seed), engine_list(new_device("cpu"), threads)))
  x <- found$x
  too_large <- which(!is.finite(x) & !is.na(x), arr.ind = TRUE)
  if (length(too_large)) {
    abort_argument(
      "strength",
      strength,
      sprintf(
        "the weights lead to numbers beyond 1.8e308 in %s; use a smaller factor, or standardise = TRUE.",
        arrows$labels[too_large[1L, 2L]]
      )
    )
  }
  if (kind %in% c("gaussian", "nonlinear")) {
    colnames(x) <- arrows$labels
    return(x)
  }
  columns <- lapply(seq_along(found$levels), function(j) {
    if (found$levels[j] == 0L) {
      return(x[, j])
    }
    structure(as.integer(x[, j]), levels = as.character(seq_len(found$levels[j])), class = "factor")
  })
  structure(columns, names = arrows$labels, row.names = .set_row_names(as.integer(n)), class = "data.frame")
}

# Returns the arrows of a DAG, sorted by head, with weights: list(p, labels, from, to, weight).
arrows_of <- function(dag) {
  check_object(dag, "dag")
  if (inherits(dag, "pcgpu_graph")) {
    table <- list(
      labels = dag$labels,
      from = dag$from,
      to = dag$to,
      weight = dag$weight %||% rep.int(1, length(dag$from))
    )
    is_dag <- all(dag$directed)
  } else {
    listed <- about("dag", edges_of(dag))
    table <- list(
      labels = listed$labels,
      from = rep.int(seq_along(listed$edges), lengths(listed$edges)),
      to = as.integer(unlist(listed$edges, use.names = FALSE))
    )
    table$weight <- if (is.null(listed$weights)) {
      rep.int(1, length(table$to))
    } else {
      as.double(unlist(listed$weights, use.names = FALSE))
    }
    p <- length(table$labels)
    is_dag <- !anyDuplicated(pmin(table$from, table$to) * as.double(p) + pmax(table$from, table$to))
  }
  if (!is_dag) {
    abort_argument("dag", dag, "use a graph whose edges all have a direction.", is = "not a DAG")
  }
  by <- order(table$to, table$from, method = "radix")
  list(
    p = length(table$labels),
    labels = table$labels,
    from = table$from[by],
    to = table$to[by],
    weight = as.double(table$weight[by])
  )
}

#' Random DAGs
#'
#' Draws a directed acyclic graph with a weight for each arrow, for testing a search. [random_data()] draws data from it, [cpdag_of()] returns the graph
#' that a search should find, and [compare_graphs()] measures how well it did. The causal order is random, so the order of the variables reveals nothing
#' about it. 50,000 variables take less than a second, because the graph is stored as a table of edges.
#'
#' # Models
#'
#' - `"er"` (Erdos and Renyi 1959): each pair has an edge with the same probability, `neighbours / (p - 1)`.
#' - `"power"` (Barabasi and Albert 1999): each variable in turn gets edges to `neighbours / 2` earlier ones. These are drawn with a probability
#'   proportional to their number of edges plus one, so that a few variables have many neighbours. Arrows follow the causal order, which is independent
#'   of this.
#' - `"layers"`: the variables form `layers` layers of about the same size. Arrows lead from one layer to the next, each with the same probability. Two
#'   layers make a bipartite graph.
#'
#' @param p Number of variables.
#' @param neighbours Expected number of neighbours of a variable.
#' @param model The model, see below.
#' @param prob Alternative to `neighbours`: `neighbours / (p - 1)`; with `"er"`, the probability of an edge.
#' @param layers Number of layers.
#' @param weights The smallest and the largest absolute weight; absolute weights are uniform between them.
#' @param signs Draw the signs of weights at random?
#' @param labels Names of the variables; by default `"x1"`, `"x2"` and so on.
#' @param seed A whole number from 0 to 2147483647 that determines the graph, or `NULL` to draw one from R's random numbers, so that `set.seed()` makes
#'   a run reproducible.
#' @return An object of class `pcgpu_graph`: a list of `labels` and, for each edge, the numbers `from` and `to`, whether it is `directed`, and its
#'   `weight`. These functions accept it:
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
random_dag <- function(p, neighbours = min(2, p - 1), model = c("er", "power", "layers"), prob = NULL, layers = 2, weights = c(0.3, 1), signs = TRUE,
                       labels = NULL, seed = NULL) {
  check_given(list(p = missing(p)), list(p = "pass the number of variables."))
  p <- check_whole(p, "p", 1, 1e7)
  model <- check_choice(model, c("er", "power", "layers"), "model")
  if (!is.null(prob)) {
    if (!is_number(prob) || prob < 0 || prob > 1) {
      abort_argument("prob", prob, "use a probability from 0 to 1, or pass `neighbours` instead.")
    }
    neighbours <- prob * (p - 1)
  }
  if (!is_number(neighbours) || neighbours < 0 || neighbours > max(p - 1, 0)) {
    abort_argument("neighbours", neighbours, sprintf("use a number from 0 to %.0f.", p - 1))
  }
  layers <- if (model == "layers") check_whole(layers, "layers", 2, max(p, 2)) else 2
  if (!is.numeric(weights) || !length(weights) %in% 1:2 || !all(is.finite(weights)) || any(weights < 0) || is.unsorted(weights)) {
    abort_argument("weights", weights, "use the smallest and the largest size of a weight, such as c(0.3, 1).")
  }
  signs <- check_flag(signs, "signs")
  labels <- if (is.null(labels)) paste0("x", seq_len(p)) else check_names_of_graph(labels, p)
  shape <- list(
    p = p, model = model, layers = layers, neighbours = as.double(neighbours), weights = as.double(range(weights)), signs = signs
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

check_seed <- function(seed) {
  if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else check_whole(seed, "seed", 0, .Machine$integer.max)
}

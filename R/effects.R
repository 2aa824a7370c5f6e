#' Causal effects that a CPDAG allows
#'
#' Estimates the total causal effect of each x on each y, for all pairs at once, from observational data and a graph
#' that [pc()] learnt. The method is IDA ("intervention calculus when the DAG is absent"; Maathuis, Kalisch and
#' Buehlmann 2009). A CPDAG stands for several DAGs, so a pair has several possible effects, one for each way to direct
#' the edges at x. Their smallest absolute value is a lower bound on the size of the effect, and ranks candidates for
#' experiments. The numbers are those of pcalg's `ida()`, `idaFast()` and `jointIda()`.
#'
#' The effect of x on y is the change in the mean of y if x is set to a value one unit larger. This assumes that
#' variables depend linearly on each other, that their errors are Gaussian and independent (no hidden common causes),
#' and that the graph is right. Let S be the parents of x. The effect is the coefficient of x in the regression of y on
#' x and S. If y is in S, it is 0.
#'
#' # Methods
#'
#' - `"local"`: one set S for each way to direct the undirected edges at x that makes no new v-structure (`type =
#'   "cpdag"`), or that background knowledge allows by Meek's rules (`type = "pdag"`; Perkovic, Kalisch and Maathuis
#'   2017).
#' - `"optimal"`: the same ways to direct the edges, but with the adjustment set that has the smallest asymptotic
#'   variance. This set depends on the whole graph and on y (Witte and others 2020, Henckel and others 2022). Effects on
#'   variables that do not come after x are exactly 0. Meek's rules must not add anything to the graph.
#' - `"global"`: the parents of x in each DAG, each set as often as it occurs. For small graphs, up to 100,000 DAGs.
#'
#' Time and memory grow with the number of sets. A variable can have millions of sets if many of its undirected edges
#' lead to neighbours that are adjacent to each other: 2^(p - 1) in a complete undirected graph of p variables. More
#' than 2^20 sets for one x, or 2^22 for all, are an error (complete graphs: up to p = 21 for one x, p = 18 for all).
#' `"optimal"` needs a search of the graph for each set and each y, `"local"` one regression for each set.
#'
#' With `joint = TRUE` all of `x` are set at once, and each effect is the effect of one variable while the others are
#' held fixed (Nandy, Maathuis and Richardson 2017). It is computed in one of these ways:
#' - by recursive regressions (`technique = "RRC"`) or modified Cholesky decompositions (`"MCD"`) over joint sets of
#'   parents;
#' - with `method = "optimal"`, by joint adjustment sets, which may not exist (`NA`).
#'
#' With `type = "cpdag"` a joint set of parents occurs once for each DAG of the undirected components of `x`, if these
#' have up to 12 variables. More than 100,000 DAGs are an error. With `"pdag"`, pcalg's default, each joint set occurs
#' once.
#'
#' # Factors
#'
#' Effects need numbers, so columns of a data frame that are not numbers get them, and a message of class
#' `pcgpu_message_coded` names these:
#' - Factors, text and logicals with two levels are 0 and 1. As x, the effect is that of the second level instead of the
#'   first. As y, it is the change in the probability of the second level, by a linear probability model. Such a y has
#'   no Gaussian errors; the effect is right if its probability depends linearly on x and S.
#' - Ordered factors are ranks 1, 2, ...: an effect is per level, or on the mean level. This assumes that levels are
#'   equally spaced.
#' - Factors of more levels without an order have no single effect. They are an error, unless no effect needs them: they
#'   are neither in `x` nor in `y`, no x has an edge to them, and the method is `"local"` or `"global"` with `joint =
#'   FALSE`. A search with such a factor can still be used: name `x` and `y`.
#'
#' # Invalid graphs
#'
#' Real data often give a graph that is not the CPDAG of any DAG. As in pcalg, a message reports this; its class is
#' `pcgpu_message_graph`.
#' - `"local"` with `type = "cpdag"` uses only the edges near x, and continues. Effects are `NA` if there is no way to
#'   direct the edges at x.
#' - `"local"` with `type = "pdag"` returns `NA` if x has undirected edges.
#' - `"optimal"`, and joint interventions with `type = "pdag"`, accept a graph that is a CPDAG with further arrows and
#'   use it as it is. Any other invalid graph is an error (pcalg's functions stop for most pairs).
#'
#' `pc(u2pd = "valid")` gives a valid graph. An edge in conflict (`solve.confl = TRUE`) counts as undirected.
#'
#' # Differences from pcalg
#'
#' - For several y, `ida()` ignores `y.notparent`; here it applies to all of them.
#' - With `method = "optimal"` each y has its own adjustment set; pcalg uses one for all y of a call, and its
#'   `"optimal"` may stop if the names of the variables are not numbers.
#' - pcalg's version of Meek's rule 4 does not check whether two of its vertices are adjacent; ours does.
#' - If covariances are singular, effects are `NA`; pcalg stops.
#' - Tables leave out pairs of a variable with itself.
#'
#' @param fit The graph: a result of [pc()] or of pcalg, a [graph::graphNEL-class], or an adjacency matrix, such as
#'   pcalg's `amat`.
#' @param data The data, one of:
#'   - a matrix or data frame with observations in rows, whose covariances are used; see *Factors* for columns that are
#'     not numbers;
#'   - a sufficient statistic `list(C, n)`, as [suff_gauss()] returns it, whose correlations are used. Effects are then
#'     in standard deviations.
#'
#'   Columns are matched with the variables of `fit` by name if they have the same names.
#' @param x,y Names or numbers of the variables that are set, and of those on which effects are wanted; all by default.
#' @param method,type,joint,technique See below. `type` states whether the graph is a CPDAG or also contains background
#'   knowledge. The default is what [pc()] recorded in `fit`. For other graphs it is `"pdag"` if all edges are directed,
#'   as in a DAG, and `"cpdag"` otherwise.
#' @param y.notparent As in pcalg's `ida()`: whether to assume that y is not a parent or neighbour of x. Only for
#'   `method = "local"`.
#' @param mcov Instead of `data`: the covariance or correlation matrix of the variables.
#' @param keep `"all"` effects, or `"smallest"`: only the smallest absolute value for each pair, which takes 8 bytes.
#'   Use it for many variables or many graphs.
#' @param numCores Number of threads; by default all cores. The answer does not depend on it.
#' @param progress Whether to show a progress bar, as in [pc()].
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return An object of class `pcgpu_effects`, with methods `print()`, `summary()` and
#' \describe{
#'   \item{`e[x, y]`}{the possible effects of one pair, as `ida(x, y)` returns them;}
#'   \item{`e[x, ]`}{a matrix with a row for each y and a column for each way to direct the edges at x, as `idaFast()`
#'     returns it;}
#'   \item{`as.data.frame(e, n = Inf)`}{one row for each pair, or for the first `n`, by decreasing `smallest`. Columns
#'     are the names `x` and `y`, `smallest` (the smallest absolute value of the effects, pcalg's bound), the signed
#'     `min`, `median` and `max` of the effects, and their `number`. `print()` writes `|smallest|`. If `min` and `max`
#'     have different signs, the graph does not even determine the direction of the effect.}
#' }
#' The object is a list with these parts:
#' - `x` and `y` (numbers of variables), `labels`, `method`, `type`, `valid` (whether the graph is what `type` states)
#'   and `call`;
#' - `values`, the matrices of `e[x, ]`, one after the other, and `columns`, the number of columns of each;
#' - `own`, the pairs whose effects differ from that row: those in which y is a certain parent of x, which have a single
#'   0, and those with `y.notparent`.
#'
#' With `keep = "smallest"`, `smallest` replaces `values`, `columns` and `own`. It is a matrix with a row for each y and
#' a column for each x.
#'
#' With `joint = TRUE`, the result is an object of class `pcgpu_joint_effects`. Its `effects` is an array whose
#' dimensions are the x, the joint sets and the y. `e[, y]` is the matrix of one y, as `jointIda()` returns it.
#'
#' Errors have the class `pcgpu_error_argument`, or `pcgpu_error_memory` if the effects do not fit into memory.
#' @references
#' M. H. Maathuis, M. Kalisch and P. Buehlmann (2009). Estimating high-dimensional intervention effects from
#' observational data. *Annals of Statistics* 37, 3133-3164.
#'
#' P. Nandy, M. H. Maathuis and T. S. Richardson (2017). Estimating the effect of joint interventions from observational
#' data in sparse high-dimensional settings. *Annals of Statistics* 45, 647-674.
#'
#' E. Perkovic, M. Kalisch and M. H. Maathuis (2017). Interpreting and using CPDAGs with background knowledge. *UAI*.
#'
#' J. Witte, L. Henckel, M. H. Maathuis and V. Didelez (2020). On efficient adjustment in causal graphs. *Journal of
#' Machine Learning Research* 21(246), 1-45.
#'
#' L. Henckel, E. Perkovic and M. H. Maathuis (2022). Graphical criteria for efficient total effect estimation via
#' adjustment in causal linear models. *Journal of the Royal Statistical Society B* 84, 579-599.
#' @seealso [pc()] for the graph, [cstar()] for effects ranked by how stable they are, [edge_table()].
#' @examples
#' set.seed(1)
#' n <- 500
#' a <- rnorm(n)
#' b <- 0.8 * a + rnorm(n)
#' d <- rnorm(n)
#' e <- 0.7 * b + 0.6 * d + rnorm(n)
#' f <- 0.9 * e + rnorm(n)
#' x <- cbind(a, b, d, e, f)
#' fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' effects <- causal_effects(fit, x, numCores = 2)
#' effects
#' effects["b", "f"]
#' effects["a", ]
#' head(as.data.frame(effects))
#'
#' causal_effects(fit, x, x = "b", y = "f", method = "optimal")["b", "f"]
#'
#' # What b and d do at once
#' causal_effects(fit, x, x = c("b", "d"), joint = TRUE)[, "f"]
#' @export
causal_effects <- function(
  fit,
  data = NULL,
  x = NULL,
  y = NULL,
  method = c("local", "optimal", "global"),
  type = c("cpdag", "pdag"),
  y.notparent = FALSE,
  joint = FALSE,
  technique = c("RRC", "MCD"),
  mcov = NULL,
  keep = c("all", "smallest"),
  numCores,
  progress = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "causal_effects"))) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  check_given(list(fit = missing(fit)), list(fit = "give a result of pc()."))
  method <- check_choice(method, c("local", "optimal", "global"), "method")
  type <- if (missing(type)) NULL else check_choice(type, c("cpdag", "pdag"), "type")
  technique <- check_choice(technique, c("RRC", "MCD"), "technique")
  keep <- check_choice(keep, c("all", "smallest"), "keep")
  y.notparent <- check_flag(y.notparent, "y.notparent")
  joint <- check_flag(joint, "joint")
  refuse_combination(method, y.notparent, joint, keep)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  graph <- about(
    "fit",
    edges_of(
      fit,
      "for a PAG, pcalg's backdoor(as(fit, \"matrix\"), x, y, type = \"pag\") and adjustment() find adjustment sets"
    )
  )
  labels <- graph$labels
  type <- type %||% type_of_graph(fit, graph)
  x <- check_variables(x, labels, "x")
  y <- check_variables(y, labels, "y")
  if (is.data.frame(data) || length(dim(data)) == 2L) {
    refuse_treated(
      fit,
      data,
      "give suff_gauss(data, %s = ), for effects of standardised variables, or the covariances of residuals as `mcov`."
    )
  }
  mcov <- effects_covariance(data, mcov, labels, is_unread(graph$edges, x, y, method == "optimal" || joint))
  bar <- progress_reporter(progress, label = function(level, edges) "Effects")
  on.exit(bar$close())
  asked <- list(
    method = method,
    type = type,
    x = x,
    y = y,
    y_notparent = y.notparent,
    smallest = keep == "smallest",
    technique = technique
  )
  run <- if (joint) rust_joint_effects else rust_effects
  found <- check_rust(run(
    graph$edges,
    asked,
    mcov,
    engine_list(new_device("cpu"), threads),
    list(progress = bar$report)
  ))
  if (!found$valid) {
    tell_invalid(type, method)
  }
  common <- list(x = x, y = y, labels = labels, method = method, type = type, valid = found$valid, call = call)
  if (joint) {
    effects <- array(found$values, c(length(x), found$columns, length(y)), list(labels[x], NULL, labels[y]))
    return(structure(
      c(list(effects = effects), common, list(technique = if (method == "local") technique)),
      class = "pcgpu_joint_effects"
    ))
  }
  structure(c(found[setdiff(names(found), "valid")], common), class = "pcgpu_effects")
}

# Returns the type of a graph. A DAG counts as a graph with background knowledge, because its arrows need not follow
# from its independences.
type_of_graph <- function(fit, graph) {
  knows <- (is_result(fit) || is_compact(fit)) && isTRUE(run_details(fit)$knowledge)
  if (
    knows || !(is_result(fit) || is_compact(fit)) && all(table_of_lists(graph$edges, graph$weights)$kind == "directed")
  ) {
    "pdag"
  } else {
    "cpdag"
  }
}

refuse_combination <- function(method, y.notparent, joint, keep) {
  if (y.notparent && (method != "local" || joint)) {
    abort_argument("y.notparent", y.notparent, "it needs method = \"local\" and joint = FALSE.")
  }
  if (joint && method == "global") {
    abort_argument("method", method, "joint interventions need \"local\" or \"optimal\".")
  }
  if (joint && keep == "smallest") {
    abort_argument("keep", keep, "leave it out, because joint interventions keep all effects.")
  }
}

tell_invalid <- function(type, method) {
  what <- if (type == "cpdag") "CPDAG" else "maximally oriented PDAG"
  so <- if (method == "local") "effects use only the edges near each x" else "it is used as it is"
  tell(
    "graph",
    sprintf("The graph is not a valid %s: %s (see \"Invalid graphs\" in ?causal_effects).", what, so),
    type = type
  )
}

# Returns names or numbers of variables as numbers.
check_variables <- function(chosen, labels, argument) {
  at <- if (is.null(chosen)) seq_along(labels) else variables_at(chosen, labels, argument)
  if (anyDuplicated(at)) {
    abort_argument(
      argument,
      chosen,
      "give each variable once.",
      has = sprintf("%s more than once", enumerate(dQuote(unique(labels[at[duplicated(at)]]), FALSE)))
    )
  }
  at
}

# Returns for each variable whether no effect needs its covariances: it is neither in x nor y, nor a neighbour of an x.
# all: whether adjustment sets can have other variables, too.
is_unread <- function(edges, x, y, all) {
  if (all) {
    return(logical(length(edges)))
  }
  from <- rep.int(seq_along(edges), lengths(edges))
  to <- as.integer(unlist(edges, use.names = FALSE))
  !seq_along(edges) %in% c(x, y, to[from %in% x], from[to %in% x])
}

# Returns the covariances of the variables, in the order of `labels`. unread: as is_unread()
# returns it; only evaluated if `data` has factors.
effects_covariance <- function(data, mcov, labels, unread) {
  if (is.null(data) == is.null(mcov)) {
    abort_argument(
      "data",
      data,
      "give the data, or their covariance matrix as `mcov`.",
      is = if (is.null(data)) "missing, and so is `mcov`" else "given together with `mcov`"
    )
  }
  if (!is.null(mcov)) {
    return(check_covariance(mcov, labels, "mcov"))
  }
  if (is_kept(data) || is.list(data) && !is.data.frame(data) && !is.null(data$C)) {
    return(check_covariance(data$C, labels, "data$C"))
  }
  if (is_completed(data)) {
    abort_argument(
      "data",
      data,
      "give one at a time, and compare or average the effects.",
      is = "a list of imputed data sets"
    )
  }
  data <- read_data(data, "data")
  data <- levels_as_numbers(in_columns_of(data, labels), unread)
  C <- about("data", suff_gauss(data))$C
  s <- vapply(seq_len(ncol(data)), function(j) stats::sd(if (is.data.frame(data)) data[[j]] else data[, j]), 0)
  unname(C) * s * rep(s, each = length(s))
}

# Returns the places of the variables among columns with these names. Columns are matched by name if the variables are
# among them. Otherwise the number of columns must be that of the variables, and columns are matched by position.
places_of_variables <- function(names, labels, argument, x) {
  if (length(dim(x)) != 2L) {
    abort_argument(argument, x, sprintf("give the %d variables of `fit` in columns.", length(labels)))
  }
  names <- names_for_graph(names)
  at <- if (!is.null(names)) match(labels, names)
  if (!is.null(at) && !anyNA(at)) {
    twice <- labels[labels %in% names[duplicated(names)]]
    if (length(twice)) {
      abort_argument(
        argument,
        x,
        "give each column its own name.",
        has = paste("several columns with the same name:", enumerate(dQuote(twice, FALSE)))
      )
    }
    return(at)
  }
  if (ncol(x) != length(labels)) {
    abort_argument(
      argument,
      x,
      "give data with exactly these variables.",
      needs = sprintf("a column for each of the %d variables of `fit`, not %d", length(labels), ncol(x))
    )
  }
  check_own_names(names, labels, argument)
  seq_along(labels)
}

# Returns data from read_data() with columns in the order of the variables.
in_columns_of <- function(data, labels) {
  at <- places_of_variables(colnames(data), labels, "data", data)
  if (identical(at, seq_len(ncol(data)))) data else data[, at, drop = FALSE]
}

check_covariance <- function(C, labels, argument) {
  p <- length(labels)
  if (!is.matrix(C) || !is.numeric(C) || nrow(C) != ncol(C)) {
    abort_argument(argument, C, sprintf("give the %d x %d covariance matrix of the variables of `fit`.", p, p))
  }
  if (!is.null(rownames(C)) && !is.null(colnames(C)) && !identical(rownames(C), colnames(C))) {
    abort_argument(
      argument,
      C,
      "give both the same names in the same order.",
      has = "different row names and column names"
    )
  }
  at <- places_of_variables(colnames(C) %||% rownames(C), labels, argument, C)
  C <- unname(C)
  if (!identical(at, seq_len(ncol(C)))) {
    C <- C[at, at]
  }
  storage.mode(C) <- "double"
  # identical() is nearly always enough, and fast.
  if (!identical(C, t(C)) && !isSymmetric(C, tol = 1e-10)) {
    abort_argument(argument, C, "give cov(data), or the data as `data`.", is = "not symmetric")
  }
  if (!all(diag(C) > 0 & is.finite(diag(C)))) {
    abort_argument(
      argument,
      C,
      "drop constant variables from the data and from `fit`.",
      has = sprintf(
        "a variance that is not a positive number, at place %d of its diagonal",
        which(!(diag(C) > 0 & is.finite(diag(C))))[1L]
      )
    )
  }
  C
}

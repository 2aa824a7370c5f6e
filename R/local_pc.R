#' The causal graph around one variable
#'
#' Learns the part of the graph of [pc()] that surrounds a target: its neighbours, their neighbours, and the directions
#' that the v-structures among them imply. It needs the correlations of all variables only with those that it scans, not
#' with each other. 100,000 variables take about a second.
#'
#' A scan of a variable passes over all columns, and keeps those whose correlation with it is significant. These
#' candidates are tested given sets of 1, 2, ... others, where a removed candidate stays in the sets until their size
#' grows. The scan begins at the target. Then the candidates of the target are scanned, then those of its neighbours, up
#' to distance `order + 1`. Two variables are joined by an edge if each is a candidate of the other. The sets that
#' separated pairs decide v-structures, and Meek's rules follow, as in [pc()] with `u2pd = "relaxed"`.
#'
#' # Which part of the graph this is
#'
#' The result has the variables up to distance `order + 1` from the target. Those up to distance `order` are complete:
#' all their edges in the whole graph are in the result. With `order = 1`, these are the target and its neighbours. The
#' result then includes the target's spouses, the other parents of its children, see [markov_blanket()]. `order = Inf`
#' learns the whole component of the target.
#'
#' If all tests are right, the result is the CPDAG of the part of the true DAG that its variables span. Tests are right in
#' large samples, if no effects cancel. The edges and v-structures of the result are then those of [pc()] among these
#' variables, and its arrows are arrows of [pc()]. An edge without a direction may have one in the whole graph, if an
#' arrow from further away implies it. A larger `order` shows more of these.
#'
#' In finite samples the edges may differ from those of [pc()]. A scan conditions on all candidates that are left for its
#' variable. [pc()] removes an edge as soon as one of its ends does, so it draws sets from fewer variables. Sets of equal
#' size are also tried in another order, the strongest candidates first. The result does not depend on the order of the
#' columns, except for v-structures that contradict each other, as in [pc()].
#'
#' @param data Data with observations in rows: a numeric matrix or data frame; a [pcgpu_file()], [plink_bed()], sparse
#'   matrix, `DelayedMatrix` or `big.matrix`, which are read once for each distance; or a sufficient statistic,
#'   `list(C, n)` or any other result of [suff_gauss()].
#' @param target The variable, by name or number.
#' @param alpha The significance level of each test, between 0 and 1. With many variables choose a small one, such as
#'   `0.01 / ncol(data)` to `0.1 / ncol(data)`; see [q_values()].
#' @param order The distance from the target, in edges, up to which the graph is complete: from 0, or `Inf`.
#' @param m.max Largest size of a conditioning set.
#' @param numCores Number of threads, all cores by default. The result does not depend on it.
#' @param progress Show a progress bar? As in [pc()].
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return An object of class `pcAlgo`, see [pc()], of the variables found, in the order of `data`. [edge_table()],
#'   [neighbours()], `plot()`, [as_igraph()] and [q_values()] accept it. Markers with one name get numbers behind
#'   it. [sepset()] returns those members of a set that
#'   are in the graph. [run_details()] has an entry `local`, a list:
#'   - `target`, its name; `order`, as given; `variables`, the number of all variables;
#'   - `distance`, for each variable of the graph its distance from the target in edges; those up to `order` are
#'     complete;
#'   - `scanned`, the names of all variables that were scanned.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_file` if a file is at fault.
#' @references
#' P. Buehlmann, M. Kalisch and M. H. Maathuis (2010). Variable selection in high-dimensional linear models: partially
#' faithful distributions and the PC-simple algorithm. *Biometrika* 97(2), 261-278.
#'
#' C. F. Aliferis, A. Statnikov, I. Tsamardinos, S. Mani and X. D. Koutsoukos (2010). Local causal and Markov blanket
#' induction for causal discovery and feature selection for classification, part I. *JMLR* 11, 171-234.
#' @seealso [markov_blanket()], [pcSelect()] for the neighbours alone, [pc()] for the whole graph.
#' @examples
#' dag <- random_dag(60, neighbours = 2, seed = 3)
#' x <- random_data(dag, 500, seed = 3, numCores = 2)
#' fit <- local_pc(x, target = "x30", alpha = 0.001, numCores = 2)
#' fit
#' edge_table(fit)
#' markov_blanket(fit, "x30")
#' @export
local_pc <- function(data, target, alpha, order = 1, m.max = Inf, numCores, progress = NULL, ...) {
  if (!is.null(taught <- taught_call(of = "local_pc"))) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  check_given(
    list(data = missing(data), target = missing(target), alpha = missing(alpha)),
    list(
      data = "give a matrix or data frame, or list(C, n).",
      target = "give a variable, by name or number.",
      alpha = "give the significance level, for instance alpha = 0.001."
    )
  )
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  alpha <- check_number(
    alpha,
    "alpha",
    "use a level between 0 and 1, for instance alpha = 0.001.",
    above = 0,
    below = 1
  )
  if (inherits(data, "pcgpu_lagged")) {
    abort_argument(
      "data",
      data,
      "use pc(), or as.data.frame(data) for a search without the order of time.",
      is = "the result of lagged(), whose tiers local_pc() does not use"
    )
  }
  order <- check_order(order, 0L)
  m_max <- check_m_max(m.max)
  bar <- progress_reporter(progress)
  on.exit(bar$close())
  columns <- local_columns(data, threads)
  labels <- local_labels(columns)
  target <- variables_at(target, labels, "target")
  if (length(target) != 1L) {
    abort_argument("target", labels[target], "use one variable, by name or number.")
  }
  scanner <- list(
    columns = columns,
    cutoff = stats::qnorm(alpha / 2, lower.tail = FALSE),
    m_max = max(0, floor(m_max)),
    engine = engine_list(new_device("cpu"), threads),
    bar = bar
  )
  found <- local_search(scanner, target, order)
  bar$close()
  about <- list(target = labels[target], order = order)
  with_room(
    local_result(found, scanner, labels, about, alpha, call, threads),
    "the result, with p x p matrices and lists of the variables found,",
    "use a smaller `order` or `alpha`"
  )
}

# Returns the columns of data or of a sufficient statistic, with the sample size `n`.
local_columns <- function(data, threads) {
  if (is_kept(data)) {
    check_object(data, "data")
    columns <- new_columns(check_kept_data(data$data), "data")
    columns$n_tests <- check_observations(data$n)
    return(columns)
  }
  if (is.list(data) && !is.data.frame(data) && !is.null(data$C)) {
    named <- c("suffStat", "suffStat$C", "suffStat$n")
    return(about("data", columns_of_matrix(data, threads), named, function(said) sub("`suffStat", "`data", said)))
  }
  columns <- new_columns(data, "data")
  check_rows(columns, "data")
  columns$n_tests <- columns$n
  columns
}

columns_of_matrix <- function(suffStat, threads) {
  check_suff_list(suffStat)
  C <- check_cor_matrix(suffStat$C, NROW(suffStat$C))
  if (!is.null(check_cor_values(C, threads))) {
    abort_argument("suffStat$C", C, "drop the variables without correlations.", has = "missing values")
  }
  columns <- new_columns(C = C)
  columns$n_tests <- check_observations(suffStat$n)
  columns
}

# Returns the names of the variables, or their numbers. Markers may have one name, such as ".": they get numbers behind
# it.
local_labels <- function(columns) {
  names <- if (is_plink(columns$x)) make.unique(columns$names) else columns$names
  named <- matrix(0, 0L, columns$p, dimnames = list(NULL, names))
  told_names(own_names(named, columns$p) %||% numbered_names(named))
}

# Scans variables. Returns for each of them the outcome of rust_neighbours(), with `with` and `r`, its candidates
# before tests given others.
scan_variables <- function(scanner, which, is_first) {
  columns <- scanner$columns
  n <- columns$n_tests
  near <- if (is.null(columns$rust$C)) {
    # A correlation that is certainly not significant is not listed.
    least <- min(max(tanh(scanner$cutoff / sqrt(max(n - 3, 0))) * (1 - 1e-9), 1e-300), 0.9999999)
    found <- scan_columns(columns, values_of(columns, which), least, scanner$engine, scanner$bar)
    if (is_first) {
      check_scanned(columns, found, "data")
      if (which %in% found$constant) {
        abort_argument("target", which, "use a variable that varies.", is = "constant")
      }
    }
    found$near
  } else {
    lapply(which, function(v) list(with = seq_len(columns$p), r = columns$rust$C[, v]))
  }
  near <- Map(
    function(of, v) {
      keep <- of$with != v & abs(fisher_z(of$r, n)) > scanner$cutoff
      list(with = of$with[keep], r = of$r[keep])
    },
    near,
    which
  )
  asked <- for_rust(columns, near)
  found <- check_rust(rust_neighbours(
    asked$rust,
    asked$candidates,
    n,
    scanner$cutoff,
    scanner$m_max,
    scanner$engine,
    list(progress = scanner$bar$report)
  ))
  in_all <- function(which) if (is.null(asked$all)) which else asked$all[which]
  Map(
    function(of, near) {
      of[c("left", "removed", "members")] <- lapply(of[c("left", "removed", "members")], in_all)
      c(near, of)
    },
    found,
    near
  )
}

# Scans the target, then variables further away. Returns `scans`, with the variables' numbers as names; `variables` of
# the graph, ascending; and their `distance` from the target.
local_search <- function(scanner, target, order) {
  scans <- list()
  left_of <- function(v) scans[[as.character(v)]]$left
  distance <- integer()
  front <- target
  at <- 0L
  repeat {
    new <- setdiff(front, as.integer(names(scans)))
    if (length(new)) {
      scans[as.character(new)] <- scan_variables(scanner, new, at == 0L)
    }
    # Those that are joined by an edge to a variable one step nearer.
    if (at > 0L) {
      before <- as.integer(names(distance)[distance == at - 1L])
      front <- Filter(function(u) any(before %in% left_of(u)), front)
      front <- setdiff(front, as.integer(names(distance)))
    }
    distance <- c(distance, stats::setNames(rep.int(at, length(front)), front))
    if (at > order || !length(front)) {
      break
    }
    at <- at + 1L
    # Candidates of those at the last distance; each of them must have the other as its candidate, too.
    front <- sort(unique(unlist(lapply(front, left_of))))
    front <- setdiff(front, as.integer(names(distance)))
    if (!length(front)) {
      break
    }
  }
  distance <- distance[base::order(as.integer(names(distance)))]
  list(scans = scans, variables = as.integer(names(distance)), distance = unname(distance))
}

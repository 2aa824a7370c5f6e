#' Orient the edges of a skeleton
#'
#' Runs the second half of the PC algorithm on a skeleton from any source: [skeleton()], `pcalg::skeleton()`, or a file.
#' `pc()` is `skeleton()` followed by `orient()`.
#'
#' @inheritParams pc
#' @param skel An object of class `pcAlgo` with an undirected graph and its separating sets, or a
#'   [pcCompact][pcCompact-class].
#' @param suffStat,indepTest,alpha As in [pc()], and the same as for the skeleton. They are required with `conservative`
#'   or `maj.rule`, which run further tests. With background knowledge that has excluded pairs, they are recommended:
#'   without them no v-structure is made over such a pair, and a message of class `pcgpu_message_untested` says so.
#' @param device As in [pc()]. Only further tests, such as those of `conservative` and `maj.rule`, can run on a GPU. Of
#'   several GPUs, nearest-neighbour tests use all. Other tests use the first and, if it fails, the next, with a message
#'   of class `pcgpu_message_lost`.
#' @param cluster,parallel_tests,tiers,forbidden,required,context.all,context.tier Arguments of [pc_control()]. Give the
#'   same background knowledge as for the skeleton.
#' @param control The result of [pc_control()]. It may be the one used for the skeleton: its other arguments are ignored.
#' @return `skel` with its `graph` oriented. With `conservative` or `maj.rule`, it also has the separating sets that the
#'   rule keeps. The slot `call` remains that of the skeleton.
#'
#'   If `skel` already has directed edges, or an argument is invalid, the call ends with an error of class
#'   `pcgpu_error_argument`.
#' @inherit pc references
#' @seealso [skeleton()], [pc()], [pc_control()]; [add_knowledge()] for a graph that is oriented already.
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(1500), 500, 3, dimnames = list(NULL, c("a", "b", "c")))
#' x[, "c"] <- x[, "a"] + x[, "b"] + rnorm(500)
#' suff <- suff_gauss(x)
#' skel <- skeleton(suff, gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' orient(skel)
#' orient(skel, maj.rule = TRUE, suffStat = suff, indepTest = gaussCItest, alpha = 0.01, numCores = 2)
#' @export
orient <- function(
  skel,
  u2pd = c("relaxed", "rand", "retry", "valid"),
  conservative = FALSE,
  maj.rule = FALSE,
  solve.confl = FALSE,
  suffStat,
  indepTest,
  alpha,
  numCores,
  verbose = FALSE,
  device = "auto",
  ...,
  cluster = NULL,
  parallel_tests = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  control = pc_control()
) {
  if (!is.null(taught <- taught_call())) {
    return(eval(taught, parent.frame()))
  }
  control <- gather_control(
    control,
    list(...),
    "orient",
    takes = c("cluster", "parallel_tests", knowledge_arguments),
    skips = c("result", "checkpoint", "time_limit", "na", data_arguments)
  )
  compact <- is_compact(skel)
  if (compact) {
    check_object(skel, "skel")
  } else {
    check_result(skel, "skel", "udag2pag() orients a skeleton as a PAG")
  }
  orient <- check_orientation(u2pd, conservative, maj.rule, solve.confl)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  verbose <- check_verbose(verbose)
  if (is.null(control$cluster)) {
    device <- check_device(device)
  }
  listed <- if (!compact) check_undirected(skel@graph)
  labels <- if (compact) compact_labels(skel) else listed$labels
  p <- length(labels)
  orient["knowledge"] <- list(check_knowledge(control, labels, NULL, "stable", orient$u2pd))
  if (length(skel@max.ord) == 1L) {
    orient$largest_set <- max(skel@max.ord + 1, 0)
  }
  test <- NULL
  level <- NULL
  given <- !(missing(suffStat) || missing(indepTest) || missing(alpha))
  if (orient$rule != "standard" || !is.null(orient$knowledge) && given) {
    if (!given) {
      abort_argument(
        "indepTest",
        NULL,
        paste(
          "give all three, as for the skeleton, because the conservative rule and the majority rule run further tests."
        ),
        is = "missing, or `suffStat` or `alpha` is missing"
      )
    }
    level <- check_alpha(alpha)
    test <- ci_test(indepTest, suffStat, labels, level, threads)
  }
  if (if (compact) length(skel@edges$to) == 0L else sum(lengths(listed$edges)) == 0L) {
    return(if (compact) as_oriented(skel) else skel)
  }
  callbacks <- c(
    list(permutation = function(k) sample.int(k)),
    printers(verbose, "stable", test$kind %||% "none", p)["event"]
  )
  sepset <- if (!compact) check_sepset(skel@sepset, p)
  # The standard rule runs tests, on a GPU or a cluster, only for pairs that knowledge has excluded.
  workers <- if (!is.null(test)) choose_workers(control, test, "stable", threads, verbose)
  on <- if (!is.null(workers)) {
    function(run) on_workers(workers, test, list(p = p, alpha = level, method = "stable"), device, threads, run)
  } else {
    device <- if (is.null(test)) new_device("cpu") else choose_device(device, test, p)
    function(run) on_device(device, threads, run)
  }
  found <- on(function(engine) {
    if (compact) {
      rust_orient_compact(flat_parts(skel), orient, test, level %||% 0.5, engine, callbacks)
    } else {
      skeleton <- list(p = p, edges = listed$edges, sepset = sepset)
      rust_orient(skeleton, orient, test, level %||% 0.5, engine, callbacks)
    }
  })
  found <- check_rust(found)
  tell_lost(found$lost)
  tell_against(found$against, labels)
  tell_undecided(found$undecided)
  tell_untested(found$untested)
  if (compact) {
    skel <- as_oriented(skel, found)
  } else {
    skel@graph <- result_graph(labels, found, oriented = TRUE)
    if (orient$rule != "standard") {
      skel@sepset <- found$sepset
    }
  }
  attr(skel@call, "pcgpu") <- utils::modifyList(
    attr(skel@call, "pcgpu") %||% list(version = package_version()),
    c(validity(found, orient), tiers_in(orient))
  )
  skel
}

# Returns the labels of a compact skeleton. Stops if it has directed edges.
compact_labels <- function(skel) {
  if (any(skel@edges$mark != 1L)) {
    abort_argument(
      "skel",
      skel,
      "give the result of skeleton(), whose edges have no direction.",
      is = "a graph with directed edges"
    )
  }
  skel@labels
}

# Returns a compact skeleton with the orientation that Rust found.
as_oriented <- function(skel, found = list()) {
  skel@type <- "CPDAG"
  skel@extendable <- !isFALSE(found$extendable)
  skel@edges$mark <- found$mark %||% skel@edges$mark
  skel@sets <- found$sets %||% skel@sets
  skel
}

check_undirected <- function(graph) {
  listed <- edges_of_graph(graph)
  if (any(table_of_lists(listed$edges, listed$weights)$kind != "undirected")) {
    abort_argument(
      "skel",
      graph,
      "give the result of skeleton(), whose edges have no direction.",
      is = "a graph with directed edges"
    )
  }
  listed
}

# Checks that `sepset` is pcalg's list of p lists of p. Rust checks the sets themselves: there may be millions.
check_sepset <- function(sepset, p) {
  if (length(sepset) != p || !all(lengths(sepset) == p)) {
    abort_argument(
      "skel@sepset",
      sepset,
      sprintf("give a list of %d lists of %d separating sets.", p, p),
      is = sprintf("a list of %d lists", length(sepset))
    )
  }
  sepset
}

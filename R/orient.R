#' Orient the edges of a skeleton
#'
#' The second half of the PC algorithm, for a skeleton from anywhere: of [skeleton()], of `pcalg::skeleton()`, or read
#' from a file. `pc()` is `skeleton()` followed by `orient()`.
#'
#' @inheritParams pc
#' @param skel An object of class `pcAlgo` with an undirected graph and its separating sets.
#' @param suffStat,indepTest,alpha As in [pc()]. Only needed with `conservative` or `maj.rule`, which make further
#'   tests: give what made the skeleton.
#' @param device As in [pc()]. Only the tests of `conservative` and `maj.rule` can run on a GPU.
#' @return `skel` with its `graph` oriented; with `conservative` or `maj.rule` also with the separating sets that the
#'   rule leaves. The slot `call` stays that of the skeleton.
#' @inherit pc references
#' @examples
#' set.seed(42)
#' x <- matrix(rnorm(1500), 500, 3, dimnames = list(NULL, c("a", "b", "c")))
#' x[, "c"] <- x[, "a"] + x[, "b"] + rnorm(500)
#' suff <- suff_gauss(x)
#' skel <- skeleton(suff, gaussCItest, alpha = 0.01, labels = colnames(x), numCores = 2)
#' orient(skel)
#' orient(skel, maj.rule = TRUE, suffStat = suff, indepTest = gaussCItest, alpha = 0.01, numCores = 2)
#' @export
orient <- function(skel, u2pd = c("relaxed", "rand", "retry"),
                   conservative = FALSE, maj.rule = FALSE, solve.confl = FALSE,
                   suffStat, indepTest, alpha, numCores, verbose = FALSE, device = "auto") {
  check_result(skel, "skel")
  orient <- check_orientation(u2pd, conservative, maj.rule, solve.confl)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  verbose <- check_verbose(verbose)
  device <- check_device(device)
  listed <- check_undirected(skel@graph)
  labels <- listed$labels
  p <- length(labels)
  test <- NULL
  level <- NULL
  if (orient$rule != "standard") {
    if (missing(suffStat) || missing(indepTest) || missing(alpha)) {
      abort_argument("indepTest", NULL, paste(
        "give `suffStat`, `indepTest` and `alpha`, those of the skeleton:",
        "the conservative and the majority rule make further tests."
      ), is = "missing, or `suffStat` or `alpha` is")
    }
    level <- check_alpha(alpha)
    test <- ci_test(indepTest, suffStat, labels, level)
  }
  if (sum(lengths(listed$edges)) == 0L) {
    return(skel)
  }
  callbacks <- c(
    list(permutation = function(k) sample.int(k)), printers(verbose, "stable", test$kind %||% "none", p)["event"]
  )
  sepset <- check_sepset(skel@sepset, p)
  # The standard rule makes no tests, and so has nothing for a GPU to do.
  device <- if (is.null(test)) new_device("cpu") else choose_device(device, test$kind, "stable", gpu_pays(test, p))
  found <- on_device(device, threads, function(engine) {
    skeleton <- list(p = p, edges = listed$edges, sepset = sepset)
    rust_orient(skeleton, orient, test, level %||% 0.5, engine, callbacks)
  })
  found <- check_rust(found)
  skel@graph <- result_graph(labels, found, oriented = TRUE)
  if (orient$rule != "standard") {
    skel@sepset <- found$sepset
  }
  attr(skel@call, "pcgpu") <- utils::modifyList(
    attr(skel@call, "pcgpu") %||% list(version = package_version()), validity(found$valid_cpdag, orient)
  )
  skel
}

check_undirected <- function(graph) {
  listed <- edges_of_graph(graph)
  if (any(edge_table(listed$edges, listed$weights)$kind != "undirected")) {
    abort_argument("skel", graph, "give the result of skeleton(), whose edges have no direction yet.",
      is = "a graph with directed edges"
    )
  }
  listed
}

# pcalg's list of p lists of p. What is in them is read, and refused, by Rust: there may be millions.
check_sepset <- function(sepset, p) {
  if (length(sepset) != p || !all(lengths(sepset) == p)) {
    abort_argument("skel@sepset", sepset, sprintf("give a list of %d lists of %d separating sets.", p, p),
      is = sprintf("a list of %d lists", length(sepset))
    )
  }
  sepset
}

#' Run pcgpu from causalDisco
#'
#' Returns a method for `causalDisco::disco()`, whose background knowledge pcgpu uses as `tiers`, `forbidden` and
#' `required`. causalDisco's own functions, such as `causalDisco::pc()`, name a fixed list of engines, so that this
#' function takes their place.
#'
#' While both packages are loaded, `"pcgpu"` is also an engine of `causalDisco::make_runner()`, for methods of your own.
#'
#' @param alg The algorithm: `"pc"` for [pc()], `"fci"` for [fci()] or `"rfci"` for [rfci()]. With tiers for all
#'   variables, `"pc"` is temporal PC, as `causalDisco::tpc()`, and `"fci"` is temporal FCI.
#' @param test The test of conditional independence:
#'   - causalDisco's name: `"fisher_z"`, `"g_square"` or `"conditional_gaussian"`, for [gaussCItest()], [disCItest()] and
#'     [mixCItest()]; with `_twd` for test-wise deletion of missing values, or `_mi` for a result of mice;
#'   - anything that `indepTest` of [pc()] can be;
#'   - `NULL` for the test that suits the columns of the data.
#' @param alpha Significance level of each test.
#' @param ... Further arguments of [pc()] or [fci()], such as `numCores`, `device` or `u2pd`.
#' @return A function of class `disco_method`. `causalDisco::disco()` returns its graph as an object of class `Disco`,
#'   which [compare_graphs()] and [edge_table()] accept.
#'
#'   Errors have the class `pcgpu_error_argument`, or `pcgpu_error_package` if causalDisco is not installed or has no
#'   `as_disco()`, which versions up to 1.1.0 lack.
#' @details If some variables have a tier and others do not, arrows from later to earlier tiers are forbidden. The tests
#'   then ignore the tiers.
#'
#' causalDisco's own engines compute `"g_square"` with `adaptDF = TRUE` and an approximation if all variables have two
#' levels. This one computes [disCItest()] with `adaptDF = FALSE`, pcalg's default.
#' @references B. Hautop Kristensen, F. Fabricius-Bjerre and A. Helby Petersen. causalDisco: Tools for Causal Discovery
#'   on Observational Data. R package.
#' @seealso [pc_control()] for background knowledge; [caugi_of()]
#' @examplesIf requireNamespace("causalDisco", quietly = TRUE) && "as_disco" %in% getNamespaceExports("causalDisco")
#' data("tpc_example", package = "causalDisco")
#' known <- causalDisco::knowledge(
#'   tpc_example,
#'   tier(
#'     child ~ child_x1 + child_x2,
#'     youth ~ youth_x3 + youth_x4,
#'     old ~ oldage_x5 + oldage_x6
#'   )
#' )
#' method <- disco_search("pc", test = "fisher_z", alpha = 0.05, numCores = 2)
#' causalDisco::disco(tpc_example, method, knowledge = known)
#' @export
disco_search <- function(alg = c("pc", "fci", "rfci"), test = NULL, alpha = 0.05, ...) {
  alg <- check_choice(alg, c("pc", "fci", "rfci"), "alg")
  check_dots(list(...), setdiff(names(formals(alg)), c(given_by_disco, "...")), "disco_search")
  need_disco()
  builder <- function(knowledge = NULL) disco_runner(alg, test, alpha, ...)
  causalDisco::new_disco_method(builder, alg, "pcgpu", c(pc = "PDAG", fci = "PAG", rfci = "RFCI-PAG")[[alg]])
}

# Arguments of a search that causalDisco's data, method and knowledge determine.
given_by_disco <- c("suffStat", "indepTest", "alpha", "labels", "p", "tiers", "forbidden", "required")

need_disco <- function() {
  need_package("causalDisco", "disco_search() needs the package causalDisco")
  if (!"as_disco" %in% getNamespaceExports("causalDisco")) {
    abort(
      "package",
      "disco_search() needs as_disco() of causalDisco, which 1.1.0 does not have: install a later version.",
      package = "causalDisco"
    )
  }
}

# The engine: returns list(set_knowledge, run), as causalDisco's make_runner() expects it from a registered function. It
# passes `score` and `directed_as_undirected_knowledge`, too, which have no meaning here.
disco_runner <- function(alg, test = NULL, alpha = 0.05, score = NULL, ..., directed_as_undirected_knowledge = FALSE) {
  alg <- check_choice(alg, c("pc", "fci", "rfci"), "alg")
  known <- causalDisco::knowledge()
  list(set_knowledge = function(knowledge) known <<- knowledge, run = function(data) {
    given <- c(list(quote(data)), disco_test(test), list(alpha = alpha), knowledge_of_disco(known), list(...))
    causalDisco::as_disco(caugi_of(do.call(alg, given)), known)
  })
}

disco_tests <- c(
  fisher_z = "gaussCItest",
  fisher_z_twd = "gaussCItwd",
  fisher_z_mi = "gaussMItest",
  g_square = "disCItest",
  g_square_twd = "disCItwd",
  g_square_mi = "disMItest",
  conditional_gaussian = "mixCItest",
  conditional_gaussian_twd = "mixCItwd",
  conditional_gaussian_mi = "mixMItest"
)

disco_test <- function(test) {
  known <- is.character(test) && length(test) == 1L && tolower(test) %in% names(disco_tests)
  if (!is.null(test)) list(indepTest = if (known) disco_tests[[tolower(test)]] else test)
}

# Returns the arguments of a search for a `Knowledge` of causalDisco.
knowledge_of_disco <- function(known) {
  tier <- match(known$vars$tier, known$tiers$label)
  if (anyNA(tier) && !all(is.na(tier))) {
    known <- causalDisco::convert_tiers_to_forbidden(known)
    tier[] <- NA
  }
  arrows <- function(status) {
    rows <- known$edges[known$edges$status == status, ]
    if (nrow(rows)) data.frame(from = rows$from, to = rows$to)
  }
  list(
    tiers = if (length(tier) && !anyNA(tier)) stats::setNames(tier, known$vars$var),
    forbidden = arrows("forbidden"),
    required = arrows("required")
  )
}

# Makes "pcgpu" an engine of causalDisco, in versions that have a registry.
after_disco <- function(...) {
  if ("register_engine" %in% getNamespaceExports("causalDisco")) {
    causalDisco::register_engine("pcgpu", disco_runner, pkgs = "pcgpu")
  }
}

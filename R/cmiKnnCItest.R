#' Nearest-neighbour test of conditional independence of continuous variables (CMIknn)
#'
#' Returns the p-value of the test that two continuous variables are independent given others, by Runge's CMIknn. The test detects dependence of
#' any form. The statistic is a nearest-neighbour estimate of the conditional mutual information. Its distribution under
#' independence comes from permutations of x among neighbours in S. [pc()] and [skeleton()] recognise the test and run it natively.
#'
#' Let \eqn{\rho_i}{rho(i)} be the Chebyshev distance (the largest coordinate distance) from observation i to its k-th nearest neighbour in
#' (x, y, S). Let \eqn{n_{xS,i}}{n(xS, i)} and so on be the numbers of observations nearer than that in the subspaces, including
#' i itself. The estimate in nats is
#' \deqn{\hat I(x; y | S) = \psi(k) - \frac 1 n \sum_i \psi(n_{xS,i}) + \psi(n_{yS,i}) - \psi(n_{S,i}),}{
#' I(x; y | S) = psi(k) - mean(psi(n(xS, i)) + psi(n(yS, i)) - psi(n(S, i))),}
#' where \eqn{\psi} is the digamma function; without S, \eqn{n_S = n}. This is the estimator of Frenzel and Pompe with
#' tigramite's conventions: distances that agree in nine digits are equal, and an equal distance is not nearer.
#'
#' A permutation visits the observations in random order. Each observation goes through its `k_perm` neighbours in S in random order and takes
#' the first x that is not taken yet, or else the x of the last neighbour. Without S, x is permuted at random. p is the proportion of
#' permutations with an estimate at least as large as that of the data. The variable with the smaller number, x or y, is
#' permuted, so exchanging x and y does not change p.
#'
#' A p-value depends only on the data, the arguments of [suff_knn()] (including the seed) and the numbers of the
#' variables. It is the same for any number of threads, on the CPU and on a GPU (`device = "cuda"` of [pc()] and [skeleton()]). It is also the
#' same for a single test and in a search.
#' A constant x or y is independent of everything, p = 1.
#'
#' [suff_knn()] explains how to choose `k`. Tigramite uses 0.2 n by default; Runge (2018) recommends 0.1 to 0.2 n for power.
#'
#' @param x,y Numbers of the two variables (columns of `suffStat$data`), or their names if it has column names.
#' @param S Vector of the numbers or names of the conditioning variables; may be empty or `NULL`.
#' @param suffStat The result of [suff_knn()].
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. Runge (2018). Conditional independence testing based on a nearest-neighbor estimator of conditional mutual
#' information. *Proceedings of AISTATS*, PMLR 84, 938-947.
#'
#' S. Frenzel and B. Pompe (2007). Partial mutual information for coupling analysis of multivariate time series. *Physical
#' Review Letters* 99, 204101.
#'
#' C. Hagedorn, C. Lange, J. Huegle and R. Schlosser (2022). GPU acceleration for information-theoretic constraint-based
#' causal discovery. *Proceedings of the KDD workshop on causal discovery*, PMLR 185, 30-60.
#' @seealso [mixedCItest()] for mixed data.
#' @examples
#' # x and y depend only on z, and not linearly
#' set.seed(7)
#' z <- rnorm(200)
#'
#' x <- cbind(x = z^2 + 0.3 * rnorm(200), y = cos(2 * z) + 0.3 * rnorm(200), z = z)
#'
#' suff <- suff_knn(x)
#' cmiKnnCItest("x", "y", NULL, suff)
#' cmiKnnCItest("x", "y", "z", suff)
#'
#' pc(suff, indepTest = cmiKnnCItest, alpha = 0.05, labels = colnames(x), numCores = 2)
#' @export
cmiKnnCItest <- function(x, y, S, suffStat) {
  knn_p_value(x, y, S, suffStat, knn_tests$cmi)
}

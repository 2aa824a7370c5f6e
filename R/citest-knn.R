#' Nearest-neighbour test of conditional independence of continuous variables (CMIknn)
#'
#' Returns the p-value of the test that two continuous variables are independent given others, by Runge's CMIknn. The
#' test detects dependence of any form. The statistic is a nearest-neighbour estimate of the conditional mutual
#' information. Its distribution under independence comes from permutations of x among neighbours in S. [pc()] and
#' [skeleton()] recognise the test and run it natively.
#'
#' Let \eqn{\rho_i}{rho(i)} be the Chebyshev distance (the largest coordinate distance) from observation i to its k-th nearest neighbour in
#' (x, y, S). Let \eqn{n_{xS,i}}{n(xS, i)} and so on be the numbers of observations nearer than that in the subspaces, including
#' i itself. The estimate in nats is
#' \deqn{\hat I(x; y | S) = \psi(k) - \frac 1 n \sum_i \psi(n_{xS,i}) + \psi(n_{yS,i}) - \psi(n_{S,i}),}{
#' I(x; y | S) = psi(k) - mean(psi(n(xS, i)) + psi(n(yS, i)) - psi(n(S, i))),}
#' where \eqn{\psi} is the digamma function; without S, \eqn{n_S = n}. This is the estimator of Frenzel and Pompe with
#' tigramite's conventions: distances that agree in nine digits are equal, and an equal distance is not nearer.
#'
#' A permutation visits the observations in random order. Each observation goes through its `k_perm` neighbours in S in
#' random order. It takes the first x that is not taken yet, or else the x of the last neighbour. Without S, x is
#' permuted at random. p is the proportion of permutations with an estimate at least as large as that of the data. The
#' variable with the smaller number, x or y, is permuted, so exchanging x and y does not change p.
#'
#' A p-value depends only on the data, the arguments of [suff_knn()] (including the seed) and the numbers of the
#' variables. It is the same for any number of threads, on the CPU and on a GPU (`device = "cuda"` of [pc()] and
#' [skeleton()]). It is also the same for a single test and in a search. A constant x or y is independent of everything,
#' p = 1.
#'
#' [suff_knn()] explains how to choose `k`. Tigramite uses 0.2 n by default; Runge (2018) recommends 0.1 to 0.2 n for
#' power.
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
#' S. Frenzel and B. Pompe (2007). Partial mutual information for coupling analysis of multivariate time series.
#' *Physical Review Letters* 99, 204101.
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

#' Nearest-neighbour test of conditional independence of discrete and continuous variables
#'
#' Returns the p-value of the test that two variables are independent given others. Each variable may be discrete,
#' continuous or a mixture of both, and the test detects dependence of any form. It is the permutation test of
#' [cmiKnnCItest()] with an estimator of the conditional mutual information that allows for equal distances. [pc()] and
#' [skeleton()] recognise the test and run it natively.
#'
#' Let \eqn{\rho_i}{rho(i)} be the Chebyshev distance from observation i to its k-th nearest neighbour in (x, y, S). All
#' estimators are means over the observations of
#' \deqn{\psi(\tilde k_i) - \psi(n_{xS,i}) - \psi(n_{yS,i}) + \psi(n_{S,i}),}{
#' psi(k~(i)) - psi(n(xS, i)) - psi(n(yS, i)) + psi(n(S, i)),}
#'
#' in nats. Here n are numbers of observations near i in the subspaces (without S, \eqn{n_S = n}).
#' - `"mesner-shalizi"` (the default here) counts the observations within \eqn{\rho_i}{rho(i)}, without i itself; \eqn{\tilde k_i}{k~(i)}
#'   is their number in (x, y, S), which is more than k if distances are equal.
#' - `"gao"` counts the observations nearer than \eqn{\rho_i}{rho(i)} (by 1e-15), including i itself. \eqn{\tilde k_i = k}{k~(i) = k} unless
#'   \eqn{\rho_i = 0}{rho(i) = 0}; then it is the number of observations at distance 0. Gao et al. define it for an empty
#'   S, with \eqn{\log n} instead of \eqn{\psi(n_S)}.
#' - `"frenzel-pompe"` is the estimator of [cmiKnnCItest()], for continuous variables.
#'
#' All estimators depend on the distance between two levels compared with that between two numbers: see the transforms
#' of [suff_knn()]. By default it is the whole range of a number's ranks, so that dependence between levels and numbers
#' is found as well as dependence between numbers.
#'
#' Among neighbours in S at the same distance, the choice is random: if S is discrete, values of x are exchanged within
#' its levels.
#'
#' @inheritParams cmiKnnCItest
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' O. C. Mesner and C. R. Shalizi (2021). Conditional mutual information estimation for mixed, discrete and continuous
#' data. *IEEE Transactions on Information Theory* 67(1), 464-484.
#'
#' W. Gao, S. Kannan, S. Oh and P. Viswanath (2017). Estimating mutual information for discrete-continuous mixtures.
#' *Advances in Neural Information Processing Systems* 30, 5988-5999.
#' @seealso [suff_knn()], which also explains the scale of discrete variables compared with continuous ones.
#' @examples
#' set.seed(3)
#' suff <- suff_knn(iris)
#' mixedCItest("Sepal.Length", "Species", NULL, suff)
#' mixedCItest("Sepal.Length", "Species", "Petal.Length", suff)
#' @export
mixedCItest <- function(x, y, S, suffStat) {
  knn_p_value(x, y, S, suffStat, knn_tests$mixed)
}

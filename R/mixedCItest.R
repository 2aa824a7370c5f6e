#' Nearest-neighbour test of conditional independence of discrete and continuous variables
#'
#' Returns the p-value of the test that two variables are independent given others. Each variable may be discrete, continuous or a
#' mixture of both, and the test detects dependence of any form. It is the permutation test of [cmiKnnCItest()] with an estimator of
#' the conditional mutual information that allows for equal distances. [pc()] and [skeleton()] recognise the test and run it
#' natively.
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
#' All estimators depend on the distance between two levels compared with that between two numbers: see the transforms of [suff_knn()]. By default it
#' is the whole range of a number's ranks, so that dependence between levels and numbers is found as well as dependence between numbers.
#'
#' Among neighbours in S at the same distance, the choice is random: if S is discrete, values of x are exchanged within its
#' levels.
#'
#' @inheritParams cmiKnnCItest
#' @return The p-value, one number between 0 and 1.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' O. C. Mesner and C. R. Shalizi (2021). Conditional mutual information estimation for mixed, discrete and continuous data.
#' *IEEE Transactions on Information Theory* 67(1), 464-484.
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

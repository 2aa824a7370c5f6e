#' Kernel tests of conditional independence (RCoT, RCIT, RIT, KCI)
#'
#' Return the p-value of the test that two variables are independent given others. The tests detect dependence of any
#' form between numbers, levels or both. [pc()] and [skeleton()] recognise them and run them natively.
#' - `rcotCItest`: the randomized conditional correlation test, RCoT. The test to start with if there are many rows: it
#'   takes a fraction of a millisecond.
#' - `rcitCItest`: the randomized conditional independence test, RCIT, in which one side is joined to S. It takes as
#'   long as RCoT, and misses more edges of random graphs (the vignette "Which test: size, power and time").
#' - `ritCItest`: the randomized independence test, RIT, which has no S. It is what both others are if `S` is empty. A
#'   search with it needs `m.max = 0`.
#' - `kciCItest`: the kernel-based test, KCI, which the others approximate. Nothing in it is random. It needs fewer rows
#'   to find a dependence. With up to three variables in S its time grows about with the square of the number of rows:
#'   some 10 milliseconds for 500 rows and 0.1 seconds for 2,000. With many variables in S it grows with the cube. A
#'   running test cannot be interrupted.
#'
#' # Random features
#'
#' These tests are those of Strobl, Zhang and Visweswaran (2019). x and y are mapped to a few random features (Rahimi and
#' Recht 2007), S to many. A regression with a small ridge removes the features of S from those of x and y. The
#' statistic is the sum of the squared covariances of the residuals of x with those of y, times n c (see below). Under
#' independence it is a weighted sum of chi-squared variables. Its upper tail is approximated from its first three
#' cumulants (Hall 1983; Buckley and Eagleson 1988).
#'
#' P-values are not those of the authors' package RCIT, for these reasons:
#' - The factor is n c instead of n. c is the sum of (1 - h)^2 over the rows divided by that of 1 - h, where h is a row's
#'   leverage in the regression. With 100 features for S and 500 rows, tests at 0.05 otherwise reject a true independence
#'   in 6 to 8 % of samples.
#' - The features of a variable depend on the seed and the variable's number only. So p does not depend on the order of x
#'   and y, of S, of the rows, or of the tests, nor on the threads.
#' - Numbers are scaled by the median distance of two rows, and the bandwidth for S follows from the number of its
#'   variables.
#'
#' A factor enters as indicators of its levels, or with a random number for each level and feature if it has more
#' levels than features.
#'
#' # KCI
#'
#' The test of Zhang, Peters, Janzing and Schölkopf (2011) compares the kernel matrices of x and of y with S after a ridge
#' regression on the kernel of S. Kernels are Gaussian, and their bandwidth is the median distance, as above. A factor
#' counts as a distance between different levels. The ridge is 0.001, as in the authors' program.
#'
#' P-values are not those of the authors' program for two reasons. Bandwidths differ. And the statistic has a factor
#' that takes out the correlation of the regression's residuals, without which several variables in S make too many tests
#' reject. Kernel matrices are given by their incomplete Cholesky factors, with errors below 1e-6. So p is exact to about a
#' hundredth of itself, very small p to less, and the order of the rows changes it by as much.
#'
#' # Both
#'
#' Each test leaves out rows in which x, y or a member of S is missing. The tests run on the CPU's threads, and those by
#' random features also on GPUs (`device`), with the same p-values to the last bit.
#'
#' If x and y are functions of factors in S except for a few random values, most residuals are 0, and the tests reject too
#' often. Use [disCItest()] for factors.
#'
#' @inheritParams cmiKnnCItest
#' @param suffStat The result of [suff_kernel()].
#' @return The p-value, one number between 0 and 1; `NA` if no row has values of all variables.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' E. V. Strobl, K. Zhang and S. Visweswaran (2019). Approximate kernel-based conditional independence tests for fast
#' non-parametric causal discovery. *Journal of Causal Inference* 7(1).
#'
#' K. Zhang, J. Peters, D. Janzing and B. Schölkopf (2011). Kernel-based conditional independence test and application in
#' causal discovery. *Proceedings of the 27th Conference on Uncertainty in Artificial Intelligence*, 804-813.
#'
#' A. Rahimi and B. Recht (2007). Random features for large-scale kernel machines. *Advances in Neural Information
#' Processing Systems* 20.
#'
#' P. Hall (1983). Chi squared approximations to the distribution of a sum of independent random variables. *The Annals
#' of Probability* 11(4), 1028-1036.
#'
#' M. J. Buckley and G. K. Eagleson (1988). An approximation to the distribution of quadratic forms in normal random
#' variables. *Australian Journal of Statistics* 30A, 150-159.
#' @seealso [gaussCItest()] for linear dependence, which is quicker and finds it in fewer rows; [cmiKnnCItest()] for
#'   dependence of any form by nearest neighbours, which is slower.
#' @examples
#' # x and y depend only on z, and not linearly
#' set.seed(7)
#' z <- rnorm(500)
#' x <- cbind(x = z^2 + 0.3 * rnorm(500), y = cos(2 * z) + 0.3 * rnorm(500), z = z)
#'
#' suff <- suff_kernel(x, seed = 1)
#' rcotCItest("x", "y", NULL, suff)
#' rcotCItest("x", "y", "z", suff)
#'
#' kciCItest("x", "y", "z", suff)
#'
#' pc(suff, indepTest = rcotCItest, alpha = 0.05, labels = colnames(x), numCores = 2)
#' @export
rcotCItest <- function(x, y, S, suffStat) {
  kernel_p_value(x, y, S, suffStat, kernel_tests$rcotCItest)
}

#' @rdname rcotCItest
#' @export
rcitCItest <- function(x, y, S, suffStat) {
  kernel_p_value(x, y, S, suffStat, kernel_tests$rcitCItest)
}

#' @rdname rcotCItest
#' @export
ritCItest <- function(x, y, S, suffStat) {
  kernel_p_value(x, y, S, suffStat, kernel_tests$ritCItest)
}

#' @rdname rcotCItest
#' @export
kciCItest <- function(x, y, S, suffStat) {
  kernel_p_value(x, y, S, suffStat, kernel_tests$kciCItest)
}

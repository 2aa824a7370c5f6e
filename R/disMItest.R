#' @rdname gaussMItest
#' @export
disMItest <- function(x, y, S = NULL, suffStat) {
  mixed_p_value(x, y, S, suffStat, mixed_tests$disMItest)
}

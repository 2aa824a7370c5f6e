# The test of a sufficient statistic without a named test: suff_gauss(x) |> pc(alpha = 0.01).

# Returns list(suffStat, indepTest) for the result of a suff_ function, or a list with its elements, and NULL for
# anything else. The elements say which tests read it. If several do, a message names the default one.
test_of_suff <- function(suffStat) {
  if (is.data.frame(suffStat) || !(is.list(suffStat) || is.environment(suffStat))) {
    return(NULL)
  }
  has <- function(...) all(c(...) %in% names(suffStat))
  if (is_kept(suffStat) || has("C", "n")) {
    return(list(suffStat = suffStat, indepTest = gaussCItest))
  }
  found <- if (has("dm")) {
    list("disCItest", "G-squared", suffStat$dm, FALSE)
  } else if (has("data", "k_perm", "discrete")) {
    if (any(suffStat$discrete)) {
      list("mixedCItest", "nearest neighbours of numbers and levels", suffStat$data, !suffStat$discrete)
    } else {
      list("cmiKnnCItest", "nearest neighbours", suffStat$data, TRUE)
    }
  } else if (has("data", "features")) {
    name <- test_of_curves(NROW(suffStat$data), NCOL(suffStat$data))
    list(name, "kernels", suffStat$data, numeric_columns(suffStat$data))
  }
  if (is.null(found) || length(dim(found[[3L]])) != 2L) {
    return(NULL)
  }
  data <- found[[3L]]
  tell(
    "data",
    sprintf("%s: using %s(), %s.", kinds_of(rep_len(found[[4L]], ncol(data)), nrow(data)), found[[1L]], found[[2L]]),
    indepTest = found[[1L]]
  )
  list(suffStat = suffStat, indepTest = get(found[[1L]]))
}

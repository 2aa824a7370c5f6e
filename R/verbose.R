# What `verbose` prints: the lines that pcalg prints for the method, once a level, and once a test where the test is an
# R function. Native tests are not printed one by one: there are millions of them a second.

level_printer <- function(method) {
  if (method != "stable.fast") {
    return(function(level, remaining) {
      cat("Order=", level, "; remaining edges:", remaining, "\n", sep = "")
    })
  }
  # pcalg's C++ says nothing of level 0.
  function(level, remaining) {
    if (level > 0) cat("Order = ", level, "; remaining edges: ", remaining, "\n", sep = "")
  }
}

test_printer <- function(method) {
  if (method != "stable.fast") {
    return(function(x, y, S, p) cat("x=", x, " y=", y, " S=", S, ": pval =", p, "\n"))
  }
  # pcalg's C++ counts variables from 0 and prints six digits.
  function(x, y, S, p) {
    set <- paste0("(", paste(S - 1L, collapse = ", "), ")")
    cat("  x = ", x - 1L, ", y = ", y - 1L, ", S = ", set, " : pval = ", format(p, digits = 6L), "\n", sep = "")
  }
}

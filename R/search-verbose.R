# Prints pcalg's lines for `verbose`, in pcalg's order.
#
# verbose = TRUE prints a line for each level. With up to `most_printed` variables, it also prints one for each visit,
# test and orientation. With more, there are millions of tests, and a native search runs them in its own order. verbose
# = 2 prints all lines for any number of variables. Native tests that are printed run again, one after the other.
most_printed <- 50L

# Returns the callbacks that print (see Listener in src/rust/src/call.rs). `again`: native tests may run a second time.
printers <- function(verbose, method, kind, p, again = TRUE) {
  if (verbose == 0L) {
    return(list())
  }
  whole <- kind == "function" || again && (verbose > 1L || p <= most_printed)
  c(
    list(level = level_printer(method)),
    if (whole) list(test = test_printer(method), event = print_event),
    if (whole && method != "stable.fast") list(visit = visit_printer(verbose))
  )
}

# Returns a function that prints a level as pcalg does. `edges` is the number of remaining pairs; pcalg's R code counts
# each from both ends.
level_printer <- function(method) {
  if (method != "stable.fast") {
    return(function(level, edges) {
      cat("Order=", level, "; remaining edges:", 2 * edges, "\n", sep = "")
    })
  }
  # pcalg's C++ code does not print the edges at level 0.
  function(level, edges) {
    if (level <= 1) {
      cat(if (level == 0) "Casting arguments...\n" else "Fitting skeleton to data...\n")
    }
    if (level > 0) cat("Order = ", level, "; remaining edges: ", edges, "\n", sep = "")
  }
}

visit_printer <- function(verbose) {
  function(number, visits) {
    if (verbose > 1L || number %% 100 == 0) cat("|i=", number, "|iMax=", visits, "\n")
  }
}

test_printer <- function(method) {
  if (method != "stable.fast") {
    return(function(x, y, S, p) cat("x=", x, " y=", y, " S=", S, ": pval =", p, "\n"))
  }
  # pcalg's C++ counts variables from 0 and prints six digits.
  function(x, y, S, p) {
    set <- paste0("(", paste(S - 1L, collapse = ", "), ")")
    cat(
      "  x = ",
      x - 1L,
      ", y = ",
      y - 1L,
      ", S = ",
      set,
      " : pval = ",
      if (is.nan(p)) "nan" else sprintf("%g", p),
      "\n",
      sep = ""
    )
  }
}

# Prints a line about the orientation. v: the numbers of its variables.
print_event <- function(kind, v, p) {
  switch(
    kind,
    `triple without` = cat("\nTriple:", v, "and sepset by skelet:", NULL, "\n"),
    triple = cat("\nTriple:", v[1L], v[2L], v[3L], "and sepset by skelet:", v[-(1:3)], "\n"),
    a = cat("a: S =", v, " - pval =", p, "\n"),
    c = cat("c: S =", v, " - pval =", p, "\n"),
    ambiguous = cat("Triple ambiguous\n"),
    rule1 = cat(
      "\nRule 1':",
      v[1L],
      "->",
      v[2L],
      " and ",
      v[2L],
      "-",
      v[3L],
      " where ",
      v[1L],
      " and ",
      v[3L],
      " not connected and ",
      v,
      " faithful triple: ",
      v[2L],
      "->",
      v[3L],
      "\n"
    ),
    `rule1 conflict` = cat(
      "\nRule 1':",
      v[1L],
      "->",
      v[2L],
      "<-",
      v[3L],
      " but ",
      v[2L],
      "->",
      v[3L],
      "also possible and",
      v,
      " faithful triple: ",
      v[1L],
      "->",
      v[2L],
      "<->",
      v[3L],
      "\n"
    ),
    rule2 = cat("\nRule 2: Chain ", v[1L], "->", v[2L], "->", v[3L], ":", v[1L], "->", v[3L], "\n"),
    `rule2 conflict` = cat("\nRule 2: Chain ", v[1L], "->", v[2L], "->", v[3L], ":", v[1L], "<->", v[3L], "\n"),
    rule3 = cat("\nRule 3':", v[1:3], "faithful triple: ", v[1L], "->", v[4L], "\n"),
    `rule3 conflict` = cat("\nRule 3':", v[1:3], "faithful triple: ", v[1L], "<->", v[4L], "\n")
  )
}

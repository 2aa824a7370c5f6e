# pcalg's recorded answers for FCI, RFCI and FCI+ in golden/fci, and how results are compared with them.

fci_names <- function(kinds) {
  found <- list.files(
    test_path("golden", "fci"),
    pattern = paste0("^(", paste(kinds, collapse = "|"), ")-.*\\.json\\.gz$")
  )
  file.path("fci", sub("\\.json\\.gz$", "", found))
}

# Returns the m-separation oracle as a conditional independence test: variable i is node observed[i] of `dag`, and nodes
# of `selection` are always conditioned on. It stores its answers, because a case runs many times.
msep_oracle <- function(dag, observed = seq_len(nrow(dag)), selection = integer()) {
  bit <- 2^(seq_along(observed) - 1)
  known <- matrix(NA_real_, 2^length(observed), length(observed)^2)
  function(x, y, S, suffStat) {
    set <- 1 + sum(bit[S])
    pair <- min(x, y) + length(observed) * (max(x, y) - 1)
    if (is.na(known[set, pair])) {
      known[set, pair] <<- dsep_oracle(observed[x], observed[y], c(observed[S], selection), dag)
    }
    known[set, pair]
  }
}

# Returns a test whose p-values are a hash of x, y and S, lower for small sets. `na`: one in seven is NA.
hash_test <- function(key, least = 1, shrink = 0.5, na = FALSE) {
  function(x, y, S, suffStat) {
    h <- key + 7919 * min(x, y) + 104729 * max(x, y)
    for (s in sort(S)) {
      h <- (h * 31 + s * 1299709) %% 1000003
    }
    p <- (h %% 1000) / 1000
    if (na && h %% 7 == 0) {
      NA
    } else if (length(S) < least) {
      p * shrink
    } else {
      p
    }
  }
}

# Returns the arguments of all calls of a recorded case, except those of fciPlus().
fci_arguments <- function(golden) {
  p <- golden$p
  test <- switch(
    golden$kind,
    gauss = list(suffStat = list(C = matrix_of(golden$C), n = golden$n), indepTest = gaussCItest),
    dis = list(suffStat = golden_discrete(golden), indepTest = disCItest),
    dsep = list(
      suffStat = NULL,
      indepTest = msep_oracle(
        amat_of(lapply(golden$true_dag, function(e) list(e[[1]], e[[2]], 1)), golden$p_all),
        as.integer(numbers(golden$observed)),
        as.integer(numbers(golden$selection))
      )
    )
  )
  named <- if (is.null(golden$labels)) list(p = p) else list(labels = unlist(golden$labels))
  c(test, list(alpha = golden$alpha), named)
}

more_fci_arguments <- function(golden) {
  p <- golden$p
  list(
    m.max = if (is.null(golden$m_max)) Inf else golden$m_max,
    NAdelete = golden$NAdelete,
    fixedGaps = pairs_of(golden$fixedGaps, p),
    fixedEdges = pairs_of(golden$fixedEdges, p)
  )
}

rules_of <- function(listed) seq_len(10) %in% unlist(listed)

# Runs a recorded call. `...`: further arguments.
run_recorded <- function(golden, of, answer, ..., test = fci_arguments(golden)) {
  own <- answer$args
  if (!is.null(own$rules)) {
    own$rules <- rules_of(own$rules)
  }
  if (!is.null(own$contextVars)) {
    own$contextVars <- as.integer(unlist(own$contextVars))
  }
  common <- if (of != "fciPlus") more_fci_arguments(golden)
  do.call(of, c(test, utils::modifyList(as.list(common), own, keep.null = TRUE), list(...)))
}

# Returns entry `which` of the pool of separating sets, p-values or possible-d-sep sets.
pooled <- function(golden, kind, which) golden$pool[[kind]][[which]]

recorded_sets <- function(rows, p) {
  sepset_of(lapply(rows, function(row) list(x = row[[1]], y = row[[2]], S = row[-(1:2)])), p)
}

recorded_possible <- function(sets) lapply(sets, function(set) if (!is.null(set)) as.integer(unlist(set)))

sorted_sets <- function(sets) lapply(sets, function(set) if (!is.null(set)) sort(set))

# Returns whether p-values are the recorded ones, to 1e-9 relative, or 1e-290 if digits run out. Marks like -Inf and -1
# are equal exactly.
same_pmax <- function(found, want) {
  # pcalg's tests answer NA, and NaN: JSON has one of them.
  found <- unname(found)
  found[is.na(found)] <- NA
  plain <- is.finite(want) & is.finite(found) & want > 0
  identical(found[!plain], want[!plain]) && all(abs(found - want)[plain] <= 1e-9 * pmax(want[plain], 1e-290))
}

# Returns the slots of a result that differ from a recorded answer.
fci_differences <- function(fit, golden, answer) {
  p <- golden$p
  labels <- if (is.null(golden$labels)) as.character(seq_len(p)) else unlist(golden$labels)
  same <- list(amat = identical(fit@amat, structure(amat_of(answer$amat, p), dimnames = list(labels, labels))))
  if (!is.null(answer$sepset)) {
    same <- c(
      same,
      list(
        max.ord = identical(fit@max.ord, as.integer(answer$max_ord)),
        max.ordPDSEP = identical(fit@max.ordPDSEP, as.integer(answer$max_ordPDSEP)),
        n.edgetests = identical(as.double(fit@n.edgetests), numbers(answer$n_edgetests)),
        n.edgetestsPDSEP = identical(fit@n.edgetestsPDSEP, numbers(answer$n_edgetestsPDSEP)),
        sepset = identical(fit@sepset, recorded_sets(pooled(golden, "sepset", answer$sepset), p)),
        allPdsep = identical(sorted_sets(fit@allPdsep), recorded_possible(pooled(golden, "allPdsep", answer$allPdsep))),
        pMax = same_pmax(fit@pMax, matrix_of(pooled(golden, "pMax", answer$pMax)))
      )
    )
  }
  names(same)[!unlist(same)]
}

# Returns a PAG, as pcalg's matrix of marks, with an edge of every kind, an isolated variable, and names that file
# formats must escape.
odd_pag <- function(names = odd_names) {
  m <- matrix(0, length(names), length(names), dimnames = list(names, names))
  join <- function(a, b, at_a, at_b) {
    m[a, b] <<- at_b
    m[b, a] <<- at_a
  }
  join(1, 2, 3, 2)
  join(2, 3, 1, 2)
  join(4, 3, 2, 2)
  join(4, 5, 1, 1)
  join(6, 5, 1, 3)
  join(7, 6, 3, 3)
  join(8, 1, 2, 1)
  join(9, 10, 2, 3)
  structure(m, type = "amat.pag")
}

odd_pag_edges <- function(names = odd_names) {
  data.frame(
    from = names[c(1, 1, 2, 3, 4, 6, 6, 10)],
    to = names[c(2, 8, 3, 4, 5, 5, 7, 9)],
    kind = c("-->", "o->", "o->", "<->", "o-o", "o--", "---", "-->"),
    stringsAsFactors = FALSE
  )
}

# Returns a result of each function, of one problem with marks of many kinds.
pag_fits <- function(...) {
  s <- suff(p = 10, n = 300, degree = 3, seed = 2)
  keep <- -c(2, 5)
  s$C <- s$C[keep, keep]
  run <- function(search) search(s, gaussCItest, 0.05, labels = colnames(s$C), numCores = 2, ...)
  list(fci = run(fci), rfci = run(rfci), fciPlus = run(fciPlus))
}

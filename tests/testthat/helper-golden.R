# pcalg's recorded answers in golden/, and how a result is compared with them.

golden_names <- function(kind) {
  sub("\\.json\\.gz$", "", list.files(test_path("golden"), pattern = paste0("^", kind, "-.*\\.json\\.gz$")))
}

# Returns cases with numbers of threads: list(name, threads) for each. One thread and three must agree on every third
# case, the others have two; the core's own tests compare threads on all of them.
with_threads <- function(names) {
  lapply(seq_along(names), function(i) list(name = names[i], threads = if (i %% 3 == 1) c(1, 3) else 2))
}

read_golden <- function(name) {
  skip_if_not_installed("jsonlite")
  golden <- jsonlite::fromJSON(gzfile(test_path("golden", paste0(name, ".json.gz"))), simplifyVector = FALSE)
  golden$name <- name
  golden
}

# Converts numbers of JSON, where "NaN", "Inf" and "-Inf" are strings, and NA is "NA" or null.
numbers <- function(x) {
  plain <- unlist(x, use.names = FALSE)
  if (is.numeric(plain) && length(plain) == length(x)) {
    return(as.numeric(plain))
  }
  vapply(x, function(value) if (is.null(value) || identical(value, "NA")) NA_real_ else as.numeric(value), 0)
}

matrix_of <- function(rows) do.call(rbind, lapply(rows, numbers))

# Converts pairs i < j to a symmetric logical matrix.
pairs_of <- function(pairs, p) {
  if (is.null(pairs)) {
    return(NULL)
  }
  m <- matrix(FALSE, p, p)
  for (pair in pairs) {
    m[pair[[1]], pair[[2]]] <- m[pair[[2]], pair[[1]]] <- TRUE
  }
  m
}

# Converts list(x, y, S) records to pcalg's list of lists.
sepset_of <- function(records, p) {
  sepset <- lapply(seq_len(p), function(i) vector("list", p))
  for (record in records) {
    sepset[[record$x]][[record$y]] <- as.integer(numbers(record$S))
  }
  sepset
}

# Converts (from, to, mark) rows to the adjacency matrix as(graph, "matrix").
amat_of <- function(rows, p) {
  m <- matrix(0, p, p)
  for (row in rows) {
    m[row[[1]], row[[2]]] <- row[[3]]
  }
  m
}

amat <- function(fit) unname(as(fit@graph, "matrix"))

# Returns the recorded codes as a sufficient statistic.
golden_discrete <- function(golden) {
  list(dm = matrix_of(golden$dm), nlev = numbers(golden$nlev), adaptDF = isTRUE(golden$adaptDF))
}

# Returns the arguments of a recorded case, for pc() and skeleton().
golden_arguments <- function(golden) {
  p <- golden$p
  common <- list(alpha = golden$alpha, p = p)
  if (golden$kind == "dsep") {
    return(c(
      list(
        suffStat = amat_of(lapply(golden$true_dag, function(e) list(e[[1]], e[[2]], 1)), p),
        indepTest = dsep_oracle
      ),
      common
    ))
  }
  if (golden$kind %in% c("dis", "bin")) {
    return(c(
      list(
        suffStat = golden_discrete(golden),
        indepTest = if (golden$kind == "dis") disCItest else binCItest,
        m.max = golden$m_max
      ),
      common
    ))
  }
  c(
    list(
      suffStat = list(C = matrix_of(golden$C), n = golden$n),
      indepTest = gaussCItest,
      m.max = if (is.null(golden$m_max)) Inf else golden$m_max,
      fixedGaps = pairs_of(golden$fixedGaps, p),
      fixedEdges = pairs_of(golden$fixedEdges, p),
      NAdelete = golden$NAdelete
    ),
    common
  )
}

# Expects that a matrix equals the recorded pMax (a matrix up to p = 40, else the upper triangle). The tolerance is 1e-9
# relative down to 1e-300, below which p-values run out of digits. Marks like -Inf and -1 must be equal exactly.
expect_pmax <- function(found, recorded, form, info) {
  if (form == "matrix") {
    want <- matrix_of(recorded)
  } else {
    want <- numbers(recorded)
    found <- found[upper.tri(found)]
  }
  plain <- is.finite(want) & want > 1e-300
  tiny <- !is.na(want) & want >= 0 & want <= 1e-300
  expect_true(all(found[tiny] >= 0 & found[tiny] <= 1e-300), info = info)
  expect_identical(found[!plain & !tiny], want[!plain & !tiny], info = info)
  expect_lte(max(0, abs(found[plain] / want[plain] - 1)), 1e-9, label = paste("relative error of pMax in", info))
}

expect_skeleton <- function(fit, golden, method, info) {
  want <- golden$skeleton[[method]]
  expect_identical(amat(fit), pairs_of(want$edges, golden$p) + 0, info = info)
  expect_identical(fit@max.ord, as.integer(want$max_ord), info = info)
  expect_equal(fit@n.edgetests, numbers(want$n_edgetests), tolerance = 0, info = info)
  expect_identical(fit@sepset, sepset_of(want$sepset, golden$p), info = info)
  expect_pmax(fit@pMax, want$pMax, want$pMax_form, info)
}

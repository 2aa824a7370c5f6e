# Compares correlations that suff_gauss() computes block by block with cor().
expect_near_cor <- function(suff, x, kind = "pearson", use = "everything", n = nrow(x)) {
  wanted <- cor_of(as.matrix(x), kind, use)
  expect_lte(max(abs(suff$C - wanted)), 1e-12)
  expect_identical(dimnames(suff$C), dimnames(wanted))
  expect_identical(suff$C, t(suff$C))
  expect_true(all(diag(suff$C) == 1) && all(abs(suff$C) <= 1))
  expect_equal(suff$n, n * part_of_n(kind), tolerance = 1e-12)
}

# Returns a function that gives rows of x, `size` at a time in turn, and NULL at the end.
following <- function(x, size) {
  from <- 0
  turn <- 0
  function() {
    if (from >= nrow(x)) {
      return(NULL)
    }
    turn <<- turn %% length(size) + 1
    rows <- seq_len(min(size[turn], nrow(x) - from)) + from
    from <<- max(rows, from)
    x[rows, , drop = FALSE]
  }
}

# Returns a path in a fresh folder, which is removed with the session.
path_for_test <- function() {
  folder <- tempfile("folder")
  dir.create(folder)
  file.path(folder, "data.pcgpu")
}

# Returns numbers as different as data can be: large means, small deviations, and values near the ends of the range.
hard_table <- function(n, p, seed = 1) {
  x <- simulate(p, n, seed = seed)
  x[, 1] <- 1e8 + x[, 1]
  x[, 2] <- x[, 2] * 1e-150
  x[, 3] <- x[, 3] * 1e150 + 1e152
  x[, 4] <- x[, 4] + seq_len(n)
  x
}

# pcalg's algorithm in a few lines of R, on the correlations of y (first) and all columns.
plain_select <- function(C, n, alpha, stable = FALSE) {
  p <- ncol(C) - 1L
  G <- rep(TRUE, p)
  zMin <- rep(Inf, p)
  cutoff <- qnorm(1 - alpha / 2)
  z_of <- function(x, S) {
    set <- c(x, 1L, S)
    r <- if (length(S) == 0L) {
      C[x, 1L]
    } else if (length(S) == 1L) {
      suppressWarnings((C[x, 1L] - C[x, S] * C[1L, S]) / sqrt((1 - C[1L, S]^2) * (1 - C[x, S]^2)))
    } else {
      inverse <- solve(C[set, set])
      suppressWarnings(-inverse[1L, 2L] / sqrt(inverse[1L, 1L] * inverse[2L, 2L]))
    }
    r <- min(0.9999999, max(-0.9999999, if (is.na(r)) 0 else r))
    z <- suppressWarnings(sqrt(n - length(S) - 3)) * 0.5 * log1p(2 * r / (1 - r))
    if (is.na(z)) 0 else abs(z)
  }
  size <- 0L
  while (sum(G) > size) {
    frozen <- G
    for (x in which(frozen)) {
      others <- setdiff(which(if (stable) frozen else G), x)
      if (stable) {
        others <- others[order(-abs(C[1L, others + 1L]), others)]
      }
      sets <- if (length(others) < size) list() else combn(length(others), size, simplify = FALSE)
      for (set in sets) {
        z <- z_of(x + 1L, others[set] + 1L)
        zMin[x] <- min(zMin[x], z)
        if (z <= cutoff) {
          G[x] <- FALSE
          break
        }
      }
    }
    size <- size + 1L
  }
  list(G = G, zMin = zMin)
}

# Returns data of a random DAG: y depends on some columns, directly or through others.
select_data <- function(n, p, seed, weight = 1) {
  x <- unname(random_data(random_dag(p + 1L, neighbours = min(3, p), seed = seed), n, seed = seed, numCores = 1))
  list(y = x[, (p + 1L) %/% 2L], dm = x[, -((p + 1L) %/% 2L), drop = FALSE])
}

test_that("the answer is the algorithm's, on random data and any threads", {
  for (seed in 1:12) {
    p <- c(1L, 2L, 5L, 12L)[seed %% 4L + 1L]
    data <- select_data(c(20, 200)[seed %% 2L + 1L], p, seed)
    C <- cor(cbind(data$y, data$dm))
    for (alpha in c(0.01, 0.3)) {
      for (stable in c(FALSE, TRUE)) {
        found <- pcSelect(data$y, data$dm, alpha, stable = stable, numCores = 1)
        expect_equal(found, plain_select(C, nrow(data$dm), alpha, stable), tolerance = 1e-9)
        expect_identical(pcSelect(data$y, data$dm, alpha, stable = stable, numCores = 3), found)
      }
    }
  }
})

test_that("the stable form does not depend on the order of the columns", {
  for (seed in 1:5) {
    data <- select_data(100, 30, seed)
    by <- sample(30)
    one <- pcSelect(data$y, data$dm, 0.2, stable = TRUE)
    other <- pcSelect(data$y, data$dm[, by], 0.2, stable = TRUE)
    expect_identical(other$G, one$G[by])
    expect_equal(other$zMin[other$G], one$zMin[by][other$G], tolerance = 1e-9)
  }
})

test_that("recorded answers of pcalg hold", {
  golden <- read_golden("pcselect")
  expect_gt(length(golden$cases), 10)
  for (case in golden$cases) {
    dm <- do.call(cbind, lapply(case$dm, numbers))
    if (!is.null(case$names)) {
      colnames(dm) <- unlist(case$names)
    }
    found <- suppressWarnings(pcSelect(numbers(case$y), dm, case$alpha, case$method))
    expect_identical(unname(found$G), unlist(case$G))
    expect_identical(names(found$G), unlist(case$names))
    expect_equal(found$zMin, numbers(case$zMin), tolerance = 1e-7)
  }
})

same_as_pcalg <- function(y, dm, alpha, ..., tolerance = 1e-7) {
  theirs <- suppressWarnings(pcalg::pcSelect(y, dm, alpha, ...))
  ours <- suppressWarnings(pcSelect(y, dm, alpha, ...))
  expect_identical(ours$G, theirs$G)
  expect_equal(ours$zMin, theirs$zMin, tolerance = tolerance)
}

test_that("pcalg says the same of random, dense, singular and few data", {
  skip_without_pcalg()
  for (seed in 1:20) {
    data <- select_data(c(8, 30, 500)[seed %% 3L + 1L], c(1, 2, 10, 25)[seed %% 4L + 1L], seed)
    for (alpha in c(0.001, 0.05, 0.5)) {
      same_as_pcalg(data$y, data$dm, alpha)
      if (ncol(data$dm) > 1L) same_as_pcalg(data$y, data$dm, alpha, corMethod = "shrink")
    }
  }
  # Dense: all columns share a factor.
  set.seed(1)
  factor <- rnorm(100)
  dense <- replicate(12, factor + rnorm(100))
  colnames(dense) <- letters[1:12]
  same_as_pcalg(factor + rnorm(100), dense, 0.05)
  same_as_pcalg(factor + rnorm(100), as.data.frame(dense), 0.05)
  # Singular: copies, opposites and sums of columns, a copy of y, and constants.
  for (seed in 1:10) {
    set.seed(seed)
    x <- matrix(rnorm(60 * 8), 60)
    y <- x[, 1] + x[, 2] + rnorm(60) / 2
    x[, 4] <- x[, 1]
    x[, 5] <- -x[, 2]
    x[, 6] <- x[, 1] + x[, 2]
    x[, 7] <- if (seed %% 2L) y else 3
    same_as_pcalg(y, x[, sample(8)], 0.05)
  }
  # n - |S| - 3 runs out.
  for (n in 4:7) {
    set.seed(n)
    same_as_pcalg(rnorm(n), matrix(rnorm(n * 6), n), 0.6)
  }
})

test_that("pcalg prints the same lines", {
  skip_without_pcalg()
  data <- select_data(100, 8, 3)
  colnames(data$dm) <- letters[1:8]
  lines <- function(run, ...) {
    # The last digits of z may differ.
    gsub("(z: -?[0-9]+\\.[0-9]{6})[0-9e-]*", "\\1", capture.output(run(data$y, data$dm, 0.1, ...)))
  }
  for (verbose in list(TRUE, 2)) {
    said <- lines(pcSelect, verbose = verbose)
    expect_identical(said[-length(said)], lines(pcalg::pcSelect, verbose = verbose)[seq_len(length(said) - 1L)])
  }
  data$dm <- matrix(rnorm(100 * 250), 100)
  expect_identical(lines(pcSelect, verbose = 1), lines(pcalg::pcSelect, verbose = 1))
})

test_that("a selection in two steps is pcalg's", {
  data <- select_data(80, 30, 4)
  colnames(data$dm) <- paste0("v", 1:30)
  for (method in c("standard", "shrink")) {
    found <- pcSelect.presel(data$y, data$dm, 0.01, 0.2, method)
    first <- pcSelect(data$y, data$dm, 0.2, method)
    second <- pcSelect(data$y, data$dm[, first$G], 0.01, method)
    expect_identical(names(which(found$pcs)), names(which(second$G)))
    expect_identical(found$Xnew, data$dm[, first$G])
    expect_equal(found$zMin[first$G], second$zMin)
    if (has_pcalg_itself()) {
      expect_equal(found, pcalg::pcSelect.presel(data$y, data$dm, 0.01, 0.2, method))
    }
  }
  set.seed(1)
  none <- pcSelect.presel(rnorm(50), matrix(rnorm(200), 50), 0.01, 1e-8)
  expect_identical(none$pcs, rep(FALSE, 4))
  expect_identical(dim(none$Xnew), c(50L, 0L))
})

test_that("columns in files, sparse matrices and blocks give one answer", {
  data <- select_data(60, 40, 5)
  dm <- round(data$dm)
  expected <- pcSelect(data$y, dm, 0.2)
  expect_equal(pcSelect(data$y, write_pcgpu_file(dm, tempfile()), 0.2), expected)
  integers <- dm
  storage.mode(integers) <- "integer"
  expect_equal(pcSelect(data$y, integers, 0.2), expected)
  expect_equal(unname(pcSelect(data$y, as.data.frame(dm), 0.2)$G), expected$G)
  if (requireNamespace("Matrix", quietly = TRUE)) {
    expect_equal(pcSelect(data$y, Matrix::Matrix(dm, sparse = TRUE), 0.2), expected)
  }
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    expect_equal(pcSelect(data$y, bigmemory::as.big.matrix(dm), 0.2), expected)
  }
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    old <- DelayedArray::getAutoBlockSize()
    suppressMessages(DelayedArray::setAutoBlockSize(8 * 60 * 7))
    expect_equal(pcSelect(data$y, DelayedArray::DelayedArray(dm), 0.2), expected)
    suppressMessages(DelayedArray::setAutoBlockSize(old))
  }
})

test_that("genotypes are numbers, and missing ones are left out of their pairs", {
  for (seed in 1:6) {
    n <- c(30, 101, 250)[seed %% 3L + 1L]
    g <- random_genotypes(n, 60, seed, c(0, 0.1)[seed %% 2L + 1L])
    y <- rowSums(g[, 1:4], na.rm = TRUE) + rnorm(n)
    if (seed > 3) {
      y[2:4] <- NA
    }
    bed <- plink_bed(write_bed(g))
    C <- suppressWarnings(cor(cbind(y, g), use = "pairwise.complete.obs"))
    expected <- plain_select(C, n, 0.2)
    found <- pcSelect(y, bed, 0.2)
    expect_identical(unname(found$G), expected$G)
    expect_equal(found$zMin, expected$zMin, tolerance = 1e-6)
    if (!anyNA(g) && !anyNA(y)) {
      expect_equal(suppressWarnings(pcSelect(y, g, 0.2)), found, tolerance = 1e-9)
    }
  }
  with <- plink_bed(bed$path, data.frame(age = rnorm(n), sex = rep(0:1, length.out = n)))
  expect_identical(names(pcSelect(y, with, 0.2)$G)[1:3], c("age", "sex", "m1"))
  expect_identical(ncol(pcSelect.presel(y, bed, 0.05, 0.3)$Xnew), sum(pcSelect(y, bed, 0.3)$G))
})

test_that("q-values are those of all columns", {
  data <- select_data(100, 200, 6)
  found <- pcSelect(data$y, data$dm, 0.05)
  q <- q_values(found)
  expect_equal(q$q, sort(p.adjust(2 * pnorm(-found$zMin), "BH")[found$G]))
  expect_identical(attr(q, "tests"), 200)
  expect_setequal(q$from, as.character(which(found$G)))
  expect_equal(q_values(found, "BY")$q, sort(p.adjust(2 * pnorm(-found$zMin), "BY")[found$G]))
  expect_identical(nrow(q_values(pcSelect(rnorm(20), matrix(rnorm(20)), 1e-9))), 0L)
})

test_that("mistakes are named", {
  x <- matrix(rnorm(40), 10)
  y <- rnorm(10)
  refused <- function(message, ...) expect_error(pcSelect(...), message, class = "pcgpu_error_argument")
  refused("`y` is missing", dm = x, alpha = 0.1)
  refused("`alpha` is missing", y, x)
  refused("`y` .*each of the 10 rows", 1:9, x, 0.1)
  refused("`y` .*each of the 10 rows", letters[1:10], x, 0.1)
  refused("`y` is constant", rep(1, 10), x, 0.1)
  refused("`y` has 1 missing value", replace(y, 2, NA), x, 0.1)
  refused("`y` has infinite values", replace(y, 2, Inf), x, 0.1)
  refused("`dm` has missing values in column 1", y, replace(x, 3, NA), 0.1)
  refused("`dm` has infinite values in column 1", y, replace(x, 3, Inf), 0.1)
  refused("`dm` has 3 rows", 1:3, x[1:3, ], 0.1)
  refused("`dm` .*matrix or data frame", y, 1:10, 0.1)
  refused("`dm` is not numeric", y, matrix("a", 10, 2), 0.1)
  refused("at least one column", y, x[, 0], 0.1)
  refused("`alpha` is 3", y, x, 3)
  refused("`alpha` is", y, x, NA)
  refused("`corMethod` is", y, x, 0.1, "best")
  refused("`stable` is", y, x, 0.1, stable = NA)
  refused("`numCores` is", y, x, 0.1, numCores = 0)
  expect_warning(
    found <- pcSelect(y, cbind(a = 1, b = y + x[, 1] / 9), 0.1),
    "constant in column \"a\"",
    class = "pcgpu_warning_constant"
  )
  expect_identical(found$G, c(a = FALSE, b = TRUE))
  expect_identical(found$zMin[1], 0)
})

test_that("robust correlations are those of mcor()", {
  skip_without_pcalg()
  data <- select_data(80, 8, 7)
  for (method in c("Qn", "QnStable", "ogkScaleTau2", "ogkQn")) {
    # The Qn of robustbase is sometimes off by 1e-7 of its value.
    within <- if (method == "ogkScaleTau2") 1e-7 else 1e-4
    same_as_pcalg(data$y, data$dm, 0.1, corMethod = method, tolerance = within)
    expect_equal(
      pcSelect.presel(data$y, data$dm, 0.05, 0.3, method),
      pcalg::pcSelect.presel(data$y, data$dm, 0.05, 0.3, method),
      tolerance = within
    )
  }
})

# The kernel tests in plain R, by the definition at the head of src/rust/core/src/ci/features/mod.rs, and their data.

# Returns the exclusive or of words. Words are doubles from 0 to 2^32 - 1: their halves fit into R's integers, and
# products of halves are exact.
xor_words <- function(a, b) {
  bitwXor(a %/% 65536, b %/% 65536) * 65536 + bitwXor(a %% 65536, b %% 65536)
}

# Returns the high and the low word of the products of words and a word.
times_words <- function(a, by) {
  high <- by %/% 65536
  low <- by %% 65536
  lowest <- (a %% 65536) * low
  middle <- (a %/% 65536) * low + (a %% 65536) * high + lowest %/% 65536
  list((a %/% 65536) * high + middle %/% 65536, (middle %% 65536) * 65536 + lowest %% 65536)
}

# Returns the four words of Philox4x32-10 for each counter. The words of counters are vectors of one length, or numbers.
philox <- function(a, b, c, d, key) {
  for (round in 1:10) {
    first <- times_words(a, 0xD2511F53)
    second <- times_words(c, 0xCD9E8D57)
    a <- xor_words(xor_words(second[[1]], b), key[1])
    c <- xor_words(xor_words(first[[1]], d), key[2])
    b <- second[[2]]
    d <- first[[2]]
    key <- (key + c(0x9E3779B9, 0xBB67AE85)) %% 2^32
  }
  list(a, b, c, d)
}

twin_roles <- c(side = 0, given = 1, joint = 2)

# Returns the key of a column, which is numbered from 0.
twin_key <- function(seed, column) {
  unlist(philox(column, 2^32 - 3, 0, 0, c(seed, 0))[1:2])
}

twin_uniform <- function(word) (word + 0.5) / 2^32

# Returns normal weights of the features 0, 1, ... for a level of a variable.
twin_normal <- function(seed, role, variable, level, count) {
  words <- philox(seq_len(count) - 1, level, twin_roles[[role]], 9, twin_key(seed, variable - 1))
  sqrt(-2 * log(twin_uniform(words[[1]]))) * cos(2 * pi * twin_uniform(words[[2]]))
}

# Returns the phases of features, in turns. Those of S do not depend on a variable.
twin_phase <- function(seed, role, variable, count) {
  key <- twin_key(seed, if (is.null(variable)) 2^32 - 4 else variable - 1)
  twin_uniform(philox(seq_len(count) - 1, 2^32 - 1, twin_roles[[role]], 9, key)[[3]])
}

twin_bandwidth <- function(count) sqrt(2 * count * (1 - 2 / (9 * count))^3)

# Returns numbers divided by the median distance of two, in units of that of normal numbers.
twin_scaled <- function(values) {
  some <- sort(values)
  if (length(some) > 4096) {
    some <- some[(0:4095 * (length(some) - 1)) %/% 4095 + 1]
  }
  distance <- if (length(some) > 1) twin_median_distance(some) / twin_bandwidth(1) else 0
  centred <- values - mean(values, na.rm = TRUE)
  if (distance == 0) {
    distance <- sqrt(mean(centred^2, na.rm = TRUE))
  }
  if (isTRUE(distance > 0)) centred / distance else 0 * values
}

# Returns the smallest distance that more than half of the pairs do not exceed.
twin_median_distance <- function(values) {
  distances <- as.vector(stats::dist(values))
  half <- length(distances) %/% 2 + 1
  sort(distances, partial = half)[half]
}

# Returns columns with mean 0 and mean square 1. Constants become 0.
twin_standardised <- function(columns) {
  columns <- sweep(columns, 2, colMeans(columns, na.rm = TRUE))
  square <- colMeans(columns^2, na.rm = TRUE)
  sweep(columns, 2, ifelse(square > 1e-20, 1 / sqrt(square), 0), `*`)
}

# Returns 1, 2, ... for the levels that occur.
twin_codes <- function(values) as.integer(droplevels(as.factor(values)))

# Returns the normal number of each row's level for each feature.
twin_of_levels <- function(codes, seed, role, variable, count) {
  levels <- seq_len(max(codes, na.rm = TRUE)) - 1
  weights <- vapply(levels, function(level) twin_normal(seed, role, variable, level, count), numeric(count))
  t(matrix(weights, count)[, codes, drop = FALSE])
}

# Returns what a member of a set adds to the argument of each feature, in the rows of the data.
twin_sums <- function(values, seed, role, variable, count) {
  if (is.numeric(values)) {
    return(outer(twin_scaled(values), twin_normal(seed, role, variable, 0, count)))
  }
  2 * twin_bandwidth(1) / sqrt(2) * twin_of_levels(twin_codes(values), seed, role, variable, count)
}

# Returns random features of a set of variables.
twin_features <- function(data, set, seed, role, count) {
  sums <- Reduce(`+`, lapply(sort(set), function(v) twin_sums(data[[v]], seed, role, v, count)))
  phases <- twin_phase(seed, role, if (role == "side") set, count)
  turns <- sweep(sums / (2 * pi * twin_bandwidth(length(set))), 2, phases, `+`)
  sqrt(2) * cos(2 * pi * turns)
}

# Returns the features of x or y.
twin_sides <- function(data, variable, seed, count) {
  values <- data[[variable]]
  if (is.numeric(values)) {
    return(twin_standardised(twin_features(data, variable, seed, "side", count)))
  }
  levels <- twin_codes(values)
  most <- max(levels, na.rm = TRUE)
  if (most - 1 <= count) {
    return(twin_standardised(outer(levels, seq_len(most)[-1], `==`) + 0))
  }
  twin_standardised(twin_of_levels(levels, seed, "side", variable, count))
}

# Returns p of (x, y) given S, which are numbers of columns, with the attribute `tolerance`. `form`: "rcot" or "rcit".
#
# The tolerance is 1e-9 if the regression on the features of S loses few digits. Features of few variables are nearly
# linearly dependent. Then the condition of the matrix is up to 1e12, as the ridge is 1e-10, and rounding changes p in
# the seventh digit: 2e-6 was the largest difference among 1,300 tests.
twin_kernel <- function(x, y, S, suffStat, form = "rcot") {
  data <- as.data.frame(suffStat$data)
  seed <- suffStat$seed
  joins <- form == "rcit" && length(S) > 0
  first <- twin_sides(data, min(x, y), seed, suffStat$features[1])
  rows <- stats::complete.cases(data[c(x, y, S)])
  first <- first[rows, , drop = FALSE]
  second <- if (joins) {
    joint <- twin_features(data, c(max(x, y), S), seed, "joint", suffStat$features[1])
    twin_standardised(joint[rows, , drop = FALSE])
  } else {
    twin_sides(data, max(x, y), seed, suffStat$features[1])[rows, , drop = FALSE]
  }
  n <- sum(rows)
  if (n == 0) {
    return(NA_real_)
  }
  given <- if (length(S)) twin_features(data, S, seed, "given", suffStat$features[2])[rows, , drop = FALSE]
  given <- cbind(given, rep(1, n))
  gram <- crossprod(given) / n + 1e-10 * diag(ncol(given))
  root <- chol(gram)
  tolerance <- if (rcond(gram) > 1e-8 || !length(S)) 1e-9 else 1e-5
  residuals <- function(sides) {
    sides - given %*% backsolve(root, backsolve(root, crossprod(given, sides) / n, transpose = TRUE))
  }
  first <- residuals(first)
  second <- residuals(second)
  if (sum(first^2) / n < 1e-8 || sum(second^2) / n < 1e-8) {
    return(structure(1, tolerance = tolerance))
  }
  left <- 1 - colSums(backsolve(root, t(given), transpose = TRUE)^2) / n
  statistic <- n * sum(left^2) / sum(left) * sum((crossprod(first, second) / n)^2)
  products <- first[, rep(seq_len(ncol(first)), ncol(second)), drop = FALSE] *
    second[, rep(seq_len(ncol(second)), each = ncol(first)), drop = FALSE]
  M <- crossprod(products) / n
  traces <- c(sum(diag(M)), sum(M^2), sum((M %*% M) * M))
  df <- traces[2]^3 / traces[3]^2
  p <- stats::pchisq((statistic - traces[1]) * sqrt(df / traces[2]) + df, df, lower.tail = FALSE)
  structure(p, tolerance = tolerance)
}

# Returns p of KCI by whole kernel matrices, by the definition at the head of src/rust/core/src/ci/features/kci.rs.
twin_kci <- function(x, y, S, suffStat) {
  data <- as.data.frame(suffStat$data)
  rows <- which(stats::complete.cases(data[c(x, y, S)]))
  n <- length(rows)
  centring <- diag(n) - 1 / n
  kernel <- function(set) {
    squares <- lapply(set, function(v) {
      if (is.numeric(data[[v]])) {
        return(outer(twin_scaled(data[[v]])[rows], twin_scaled(data[[v]])[rows], `-`)^2)
      }
      codes <- twin_codes(data[[v]])[rows]
      outer(codes, codes, `!=`) * (2 * twin_bandwidth(1))^2
    })
    centring %*% exp(-Reduce(`+`, squares) / (2 * twin_bandwidth(length(set))^2)) %*% centring
  }
  first <- kernel(min(x, y))
  second <- kernel(c(max(x, y), S))
  cubed <- function(M) sum((M %*% M) * M)
  if (length(S)) {
    R <- 1e-3 * solve(kernel(S) + 1e-3 * diag(n))
    first <- R %*% first %*% R
    second <- R %*% second %*% R
    square <- centring %*% R %*% R
    statistic <- sum(first * second) * sum(diag(square)^2) / sum(square^2)
    weights <- first * second
    traces <- c(sum(diag(weights)), sum(weights^2), cubed(weights))
  } else {
    statistic <- sum(first * second) * (1 - 1 / n)
    traces <- c(
      sum(diag(first)) * sum(diag(second)) / n,
      sum(first^2) * sum(second^2) / n^2,
      cubed(first) * cubed(second) / n^3
    )
  }
  if (suffStat$approximation == "gamma") {
    rate <- traces[1] / (2 * traces[2])
    return(stats::pgamma(statistic, rate * traces[1], rate, lower.tail = FALSE))
  }
  df <- traces[2]^3 / traces[3]^2
  stats::pchisq((statistic - traces[1]) * sqrt(df / traces[2]) + df, df, lower.tail = FALSE)
}

# Expects that p is that of twin_kernel(). P-values below 1e-12 may differ by as much.
expect_same_p <- function(p, twin, info = NULL) {
  tolerance <- attr(twin, "tolerance")
  off <- abs(p - twin) / max(twin, 1e-12)
  if (!isTRUE(off <= max(tolerance, 1e-12 / max(twin, 1e-12)))) {
    testthat::fail(sprintf("p is %.17g instead of %.17g, tolerance %g: %s", p, twin, tolerance, toString(info)))
  } else {
    testthat::succeed()
  }
}

# Returns eleven variables of different kinds, of which some depend on each other. `holes`: missing values in each of five.
simulate_kinds <- function(n, seed, holes) {
  set.seed(seed)
  z <- rnorm(n)
  w <- rexp(n)
  data <- data.frame(
    x = z^2 + 0.7 * rnorm(n),
    y = sin(2 * z) + w + 0.5 * rnorm(n),
    z = z,
    three = factor(findInterval(z + rnorm(n), c(-0.5, 0.5))),
    w = w,
    nine = factor(sample(letters[1:9], n, TRUE), levels = letters[1:11]),
    flag = (z + rnorm(n)) > 0,
    heavy = stats::rt(n, 3) + z,
    word = sample(paste0("L", 1:12), n, TRUE, prob = 12:1),
    count = as.double(stats::rpois(n, 1) + (w > 1)),
    zeros = ifelse(runif(n) < 0.8, 0, w)
  )
  for (v in c("x", "z", "nine", "flag", "word")) {
    data[sample(n, holes), v] <- NA
  }
  data
}

# Returns the value of code without messages about few rows or about codes.
quietly <- function(code) suppressMessages(code, classes = c("pcgpu_message_features", "pcgpu_message_codes"))

# Pairs and sets of simulate_kinds(): numbers, numbers with many zeros and ties, and levels on both sides and in S.
kernel_questions <- list(
  list("x", "y", NULL),
  list("flag", "three", NULL),
  list("zeros", "word", NULL),
  list("x", "y", "z"),
  list("y", "x", c("z", "w")),
  list("x", "heavy", c("w", "y", "z")),
  list("three", "nine", "z"),
  list("x", "nine", c("three", "z")),
  list("word", "y", c("nine", "z", "flag")),
  list("flag", "x", "word"),
  list("three", "flag", "nine"),
  list("zeros", "word", c("z", "count")),
  list("count", "z", "zeros")
)

# The data sets of the benchmark, each a data matrix with rows = samples.

# Returns the folder of real expression data, which may not be shipped.
bench_folder <- function() Sys.getenv("PCGPU_BENCH_DATA", file.path("..", "shared", "data"))

# Returns data of a linear Gaussian model on a random graph, scaled to unit noise: each variable has about `parents`
# parents among the `reach` before it.
simulate <- function(p, n, parents, reach = p, seed = 1) {
  RNGversion("4.0.0")
  set.seed(seed)
  x <- matrix(stats::rnorm(n * p), n, p)
  for (j in seq_len(p)[-1]) {
    earlier <- seq.int(max(1, j - reach), j - 1)
    from <- earlier[sample.int(length(earlier), min(length(earlier), stats::rpois(1, parents)))]
    weight <- stats::runif(length(from), 0.4, 0.9) * sample(c(-1, 1), length(from), TRUE)
    x[, j] <- x[, j] + x[, from, drop = FALSE] %*% weight
  }
  x
}

# Returns data like those of gene expression: ten factors common to all variables, with loads of standard deviation
# `global`, and modules.
expression_like <- function(p, n, global) {
  RNGversion("4.0.0")
  set.seed(1)
  x <- matrix(stats::rnorm(n * p), n, p)
  if (global > 0) {
    x <- x + matrix(stats::rnorm(n * 10), n) %*% matrix(stats::rnorm(10 * p, sd = global), 10)
  }
  modules <- matrix(stats::rnorm(n * max(2, p %/% 50)), n)
  for (round in 1:2) {
    module <- sample.int(ncol(modules), p, TRUE)
    load <- stats::runif(p, 0.3, 0.8)
    for (j in seq_len(p)) {
      x[, j] <- x[, j] + modules[, module[j]] * load[j]
    }
  }
  x
}

# A data set is a file's path or the arguments of simulate(), or of expression_like() where `global` is among them.
bench_data <- list(
  "nci60" = "expression/NCI-60.csv.gz",
  "mcc" = "expression/MCC.csv.gz",
  "dream5" = "dream5_surrogate.csv.gz",
  "saureus" = "expression/Saureus.csv.gz",
  "sim-wide" = list(p = 1000, n = 100, parents = 1.5),
  "sim-deep" = list(p = 100, n = 2000, parents = 3, reach = 12),
  # The shape of the S. cerevisiae data of the cuPC paper, for its memory.
  "sim-yeast" = list(p = 5361, n = 63, parents = 1.5),
  # Two thirds of the pairs are left after level 0: pcalg needs --m-max.
  "sim-dense-300" = list(p = 300, n = 3189, global = 0.3),
  "sim-dense-500" = list(p = 500, n = 3189, global = 0.3)
)

is_available <- function(name) {
  is.list(bench_data[[name]]) || file.exists(file.path(bench_folder(), bench_data[[name]]))
}

load_data <- function(name) {
  source <- bench_data[[name]]
  if (is.list(source)) {
    return(do.call(if ("global" %in% names(source)) expression_like else simulate, source))
  }
  # read.csv() takes seconds for thousands of columns.
  file <- file.path(bench_folder(), source)
  matrix(
    scan(file, sep = ",", quiet = TRUE),
    ncol = length(scan(file, sep = ",", nlines = 1, quiet = TRUE)),
    byrow = TRUE
  )
}

# Returns the path of a network of bnlearn's repository, see sample_network().
network_file <- function(name) file.path(bench_folder(), "bif", paste0(name, ".bif.gz"))

# Draws n samples of a discrete network in the format of bnlearn's repository (.bif.gz): codes 0, 1, ..., with a column
# for each variable.
sample_network <- function(file, n, seed = 1) {
  RNGversion("4.0.0")
  set.seed(seed)
  lines <- readLines(file)
  words <- function(text) trimws(strsplit(text, ",", fixed = TRUE)[[1]])
  at <- grep("^variable ", lines)
  names <- sub("^variable\\s+(\\S+)\\s*\\{.*", "\\1", lines[at])
  levels <- stats::setNames(lapply(sub(".*\\{(.*)\\}.*", "\\1", lines[at + 1L]), words), names)
  starts <- grep("^probability", lines)
  ends <- grep("^\\}", lines)
  tables <- lapply(starts, function(start) {
    head <- sub("^probability\\s*\\((.*)\\)\\s*\\{.*", "\\1", lines[start])
    body <- lines[seq.int(start + 1L, ends[ends > start][1L] - 1L)]
    numbers <- strsplit(gsub(".*\\)|table|;", "", body), ",", fixed = TRUE)
    list(
      name = trimws(sub("\\|.*", "", head)),
      parents = if (grepl("|", head, fixed = TRUE)) words(sub(".*\\|", "", head)),
      keys = if (grepl("(", body[1L], fixed = TRUE)) lapply(sub(".*\\((.*)\\).*", "\\1", body), words),
      rows = do.call(rbind, lapply(numbers, as.double))
    )
  })
  names(tables) <- vapply(tables, `[[`, "", "name")
  x <- matrix(NA_integer_, n, length(names), dimnames = list(NULL, names))
  left <- names
  while (length(left)) {
    for (name in left) {
      table <- tables[[name]]
      if (any(table$parents %in% left)) {
        next
      }
      row <- rep(1L, n)
      if (length(table$parents)) {
        # The parents' codes as one number.
        base <- c(1, cumprod(lengths(levels[table$parents])))[seq_along(table$parents)]
        key <- vapply(table$keys, function(key) sum((mapply(match, key, levels[table$parents]) - 1L) * base), 0)
        row <- match(drop(x[, table$parents, drop = FALSE] %*% base), key)
      }
      above <- t(apply(table$rows, 1L, cumsum))
      u <- stats::runif(n) * above[row, ncol(above)]
      x[, name] <- as.integer(pmin(rowSums(u >= above[row, , drop = FALSE]), ncol(above) - 1L))
      left <- setdiff(left, name)
    }
  }
  x
}

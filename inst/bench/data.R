# The data sets of the benchmark, each a data matrix with rows = samples.

# Real expression data may not be shipped; the files are looked for here.
bench_folder <- function() Sys.getenv("PCGPU_BENCH_DATA", file.path("..", "shared", "data"))

# A linear Gaussian model on a random graph: each variable has about `parents`
# parents among the `reach` before it. Scaled to unit noise.
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

# A data set is a file's path or the arguments of simulate().
bench_data <- list(
  "nci60" = "expression/NCI-60.csv.gz",
  "mcc" = "expression/MCC.csv.gz",
  "dream5" = "dream5_surrogate.csv.gz",
  "saureus" = "expression/Saureus.csv.gz",
  "sim-wide" = list(p = 1000, n = 100, parents = 1.5),
  "sim-deep" = list(p = 100, n = 2000, parents = 3, reach = 12),
  # The shape of the S. cerevisiae data of the cuPC paper, for its memory.
  "sim-yeast" = list(p = 5361, n = 63, parents = 1.5)
)

is_available <- function(name) {
  is.list(bench_data[[name]]) || file.exists(file.path(bench_folder(), bench_data[[name]]))
}

load_data <- function(name) {
  source <- bench_data[[name]]
  if (is.list(source)) return(do.call(simulate, source))
  # read.csv() takes seconds for thousands of columns.
  file <- file.path(bench_folder(), source)
  matrix(scan(file, sep = ",", quiet = TRUE), ncol = length(scan(file, sep = ",", nlines = 1, quiet = TRUE)), byrow = TRUE)
}

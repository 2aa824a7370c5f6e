# Runs pcgpu::pc() on a data set of benchpress. Writes the adjacency matrix, the seconds by the clock and the number of
# tests.

source("workflow/scripts/utils/helpers.R")
library(pcgpu)
# Where pcalg is installed, the result has its class: it is loaded before the clock starts.
requireNamespace("pcalg", quietly = TRUE)

# Returns a field of the JSON object, converted by `as`; `default` if the object does not have it, or if it is null.
field <- function(name, as = identity, default = NULL) {
  text <- snakemake@wildcards[[name]]
  if (is.null(text) || text == "None") default else as(text)
}

# Reads the data as the test expects them.
read_data <- function(file, test) {
  data <- read.csv(file, check.names = FALSE)
  is_discrete <- test %in% c("disCItest", "binCItest", "disCItwd")
  codes <- if (is_discrete) as.matrix(data[-1L, , drop = FALSE])
  switch(
    test,
    gaussCItest = list(C = cor(data), n = nrow(data)),
    disCItest = ,
    binCItest = ,
    # The first row of discrete data has the numbers of levels.
    disCItwd = list(dm = codes, nlev = as.numeric(data[1L, ]), adaptDF = FALSE),
    mixCItest = ,
    mixCItwd = as_levels(data),
    gaussCItwd = data
  )
}

# Makes factors of the columns that look like level codes: whole numbers with at most 50 different values. The files of
# benchpress do not say which columns of mixed data are discrete.
as_levels <- function(data) {
  is_code <- vapply(data, function(x) all(x == round(x), na.rm = TRUE) && length(unique(x[!is.na(x)])) <= 50L, NA)
  data[is_code] <- lapply(data[is_code], factor)
  data
}

# Reads the pairs with a fixed gap or a fixed edge: list(fixedGaps, fixedEdges), symmetric logical matrices. Returns an
# empty list without a file.
read_constraints <- function(file, labels) {
  if (!length(file)) {
    return(list())
  }
  pairs <- read.csv(file, colClasses = "character")
  matrix_of <- function(type) {
    fixed <- matrix(FALSE, length(labels), length(labels), dimnames = list(labels, labels))
    ends <- as.matrix(pairs[pairs$matrix_type == type, c("node1", "node2")])
    fixed[ends] <- TRUE
    fixed | t(fixed)
  }
  list(fixedGaps = matrix_of("fixedGaps"), fixedEdges = matrix_of("fixedEdges"))
}

search <- function() {
  file <- snakemake@input[["data"]]
  labels <- names(read.csv(file, check.names = FALSE, nrows = 1L))
  test <- field("indepTest", default = "gaussCItest")
  arguments <- c(
    list(
      suffStat = read_data(file, test),
      indepTest = getExportedValue("pcgpu", test),
      alpha = field("alpha", as.numeric),
      labels = labels,
      NAdelete = field("NAdelete", as.logical, TRUE),
      m.max = field("mmax", as.numeric, Inf),
      u2pd = field("u2pd", default = "relaxed"),
      skel.method = field("skelmethod", default = "stable"),
      conservative = field("conservative", as.logical, FALSE),
      maj.rule = field("majrule", as.logical, FALSE),
      solve.confl = field("solveconfl", as.logical, FALSE),
      numCores = field("numCores", as.integer, snakemake@threads),
      verbose = field("verbose", as.logical, FALSE),
      device = field("device", default = "auto"),
      result = "pcAlgo"
    ),
    read_constraints(snakemake@input[["edgeConstraints_formatted"]], labels)
  )

  # With several threads, user CPU time (proc.time()[1]) would be their sum.
  set.seed(field("seed", as.integer))
  start <- Sys.time()
  fit <- do.call(pc, arguments)
  seconds <- as.numeric(Sys.time() - start, units = "secs")

  adjacency <- as(fit@graph, "matrix")
  write.csv(adjacency, snakemake@output[["adjmat"]], row.names = FALSE, quote = FALSE)
  cat(seconds, "\n", file = snakemake@output[["time"]], sep = "")
  cat(sum(fit@n.edgetests), "\n", file = snakemake@output[["ntests"]], sep = "")
}

add_timeout(search)

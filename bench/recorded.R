# Compares pc() with recorded answers of pcalg on real data: edges, counts of tests, max.ord,
# separating sets, pMax of the edges kept, and the CPDAG. pcalg itself is not needed.
#
#   Rscript recorded.R FOLDER [DATA_FOLDER]
#
# FOLDER holds the recordings (shared/golden/real; its README has the format), DATA_FOLDER the data (default: the folder
# next to it).
suppressPackageStartupMessages(library(pcgpu))

arguments <- commandArgs(trailingOnly = TRUE)
if (!length(arguments)) {
  stop("name the folder of the recordings", call. = FALSE)
}
folder <- arguments[1]
data_folder <- if (length(arguments) > 1) arguments[2] else file.path(folder, "..", "..", "data")

correlations <- function(name) {
  file <- file.path(data_folder, c(".", "expression"), paste0(sub("[.]gz$", "", name), ".gz"))
  x <- as.matrix(utils::read.csv(gzfile(file[file.exists(file)][1]), header = FALSE))
  list(C = stats::cor(x), n = nrow(x))
}

# Returns rows of (x, y, S...) as sorted strings.
rows <- function(sets) sort(vapply(sets, function(set) paste(unlist(set), collapse = " "), "", USE.NAMES = FALSE))

sepsets_of <- function(fit) {
  listed <- lapply(seq_along(fit@sepset), function(x) {
    row <- fit@sepset[[x]]
    kept <- which(lengths(row) > 0)
    lapply(kept, function(y) c(x, y, row[[y]]))
  })
  unlist(listed, recursive = FALSE)
}

compare <- function(file) {
  recorded <- jsonlite::fromJSON(gzfile(file), simplifyVector = FALSE)
  stat <- correlations(recorded$data)
  fit <- pc(stat, gaussCItest, recorded$alpha, p = ncol(stat$C), skel.method = recorded$method)
  m <- methods::as(fit@graph, "matrix")
  pairs <- which((m != 0 | t(m) != 0) & upper.tri(m), arr.ind = TRUE)
  pairs <- pairs[order(pairs[, 1], pairs[, 2]), ]
  edges <- do.call(rbind, lapply(recorded$edges, unlist))
  p_max <- fit@pMax[edges]
  theirs <- as.double(unlist(recorded$pMax_of_edges))
  marks <- which(m != 0, arr.ind = TRUE)
  same <- c(
    edges = identical(unname(pairs), unname(edges[order(edges[, 1], edges[, 2]), ])),
    n.edgetests = all(fit@n.edgetests == unlist(recorded$n_edgetests)),
    max.ord = fit@max.ord == recorded$max_ord,
    sepset = identical(rows(sepsets_of(fit)), rows(recorded$sepset_nonempty)),
    pMax = all(abs(p_max - theirs) <= 1e-9 * pmax(theirs, 1e-300)),
    CPDAG = identical(rows(unname(Map(c, marks[, 1], marks[, 2], m[marks]))), rows(recorded$cpdag_relaxed))
  )
  cat(sprintf(
    "%s: %s, %s; %d edges, %d separating sets\n",
    basename(file),
    if (all(same)) "all equal" else paste("DIFFERENT:", paste(names(same)[!same], collapse = ", ")),
    format(sum(fit@n.edgetests), big.mark = ","),
    nrow(edges),
    length(recorded$sepset_nonempty)
  ))
  all(same)
}

files <- list.files(folder, "[.]json[.]gz$", full.names = TRUE)
if (!length(files)) {
  stop("no recordings in ", folder, call. = FALSE)
}
if (!all(vapply(files, compare, NA))) {
  quit(status = 1)
}

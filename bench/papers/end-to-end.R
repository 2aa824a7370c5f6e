# Times pc() as the thesis's tables 6.6 and 6.9 have it: Rscript end-to-end.R DATA.csv.gz gauss|chi2|counts ALPHA LAST
# [processes=5] [repeats=5] [device=cuda]. DATA is what data.R wrote, LAST the last level, inf for none. Prints lines
# `WHAT,NAME,seconds ...`; `counts` prints `counts,NAME,` and the tests of each level alone:
#
# - process: from the start of R to the graph, with packages and reading
# - first: the first call of pc() in a process, in as many processes: from the data in memory, with correlations or levels,
#   opening the GPU, search, orientation
# - warm: later calls of the same
# - orient: orient() alone, of the skeleton
# - counts: tests of skeleton(method = "stable.fast") on the CPU, of correlations by cor()
args <- commandArgs(trailingOnly = TRUE)
value <- function(name, default) {
  hit <- grep(paste0("^", name, "="), args, value = TRUE)
  if (length(hit)) sub("^[^=]*=", "", hit) else default
}
file <- args[1L]
kind <- args[2L]
alpha <- as.double(args[3L])
last <- as.double(args[4L])
processes <- as.integer(value("processes", "5"))
repeats <- as.integer(value("repeats", "5"))
device <- value("device", "cuda")
suppressPackageStartupMessages(library(pcgpu))

# Reads a table of numbers. read.csv() takes seconds for thousands of columns.
read <- function() {
  is_discrete <- kind == "chi2"
  columns <- length(scan(file, "", sep = ",", nlines = 1L, quiet = TRUE))
  matrix(
    scan(file, if (is_discrete) integer() else double(), sep = ",", skip = if (is_discrete) 1L else 0L, quiet = TRUE),
    ncol = columns,
    byrow = TRUE
  )
}
x <- read()
labels <- as.character(seq_len(ncol(x)))
name <- sub("[.]csv[.]gz$", "", basename(file))
if (kind == "counts") {
  found <- skeleton(
    list(C = stats::cor(x), n = nrow(x)),
    gaussCItest,
    alpha = alpha,
    labels = labels,
    method = "stable.fast",
    m.max = last,
    device = "cpu",
    progress = FALSE
  )
  cat("counts,", name, ",", paste(sprintf("%.0f", found@n.edgetests), collapse = " "), "\n", sep = "")
  quit()
}
test <- if (kind == "gauss") gaussCItest else chi2CItest
statistic <- function() if (kind == "gauss") suff_gauss(x) else suff_discrete(x)
search <- function(of = pc) {
  of(statistic(), test, alpha = alpha, labels = labels, m.max = last, device = device, progress = FALSE)
}

seconds_of <- function(call) {
  gc(FALSE)
  began <- Sys.time()
  call()
  as.double(Sys.time() - began, units = "secs")
}
tell <- function(what, seconds) {
  cat(what, ",", name, ",", paste(sprintf("%.6f", seconds), collapse = " "), "\n", sep = "")
}

tell("first", seconds_of(search))
tell("process", proc.time()[["elapsed"]])
for (process in seq_len(processes - 1L)) {
  program <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  system2(
    file.path(R.home("bin"), "Rscript"),
    c(program, args[1:4], "processes=1", "repeats=0", paste0("device=", device))
  )
}
if (repeats > 0L) {
  tell("warm", vapply(seq_len(repeats), function(i) seconds_of(search), 0))
  skeleton_found <- search(skeleton)
  tell("orient", vapply(seq_len(repeats), function(i) seconds_of(function() orient(skeleton_found)), 0))
}

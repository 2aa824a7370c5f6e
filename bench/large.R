# Times results besides the search: skeleton() of many variables as a compact result and as a pcAlgo, against the search
# alone, its memory, and what is done with the result. Writes a Markdown table, a row a case; each case runs in a
# process of its own.
#
#   Rscript large.R [--p=2000,5000] [--global=0.3,0] [--m-max=0,1] [--results=compact,pcAlgo] [--device=cuda] [--n=3189] [--alpha=0.01]
#                   [--method=stable.fast] [--data=expression] [--orient=no] [--keep=correlations] [--after=yes] [--repeats=2]
#                   [--seconds=1500] [--csv=FILE]
#
# --data=expression  ten factors common to all variables, with loads of standard deviation --global, and p / 50 modules: of 3,189
#                    samples, level 0 leaves some 68 % of the pairs with --global=0.3, 8 % with 0
# --data=sparse      each variable has two parents among those before it (--n=100: level 0 leaves some 2 %)
#
# --keep=data        suff_gauss(keep = "data"): correlations are made in skeleton(), on its device
#
# --after=no         nothing is done with the result: of millions of edges, a file takes longer than all before it
#
# "data to skeleton" is suff_gauss() and skeleton(); "GiB to the skeleton" is the most memory that the process had
# meanwhile, the data among it, and "peak memory" that of what follows, too. "search" is what Rust takes for the levels,
# the answer on the host (and, of data on a GPU, the correlations). Times are the least of the calls after the first. A
# case that is not begun when --seconds are over is left out.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))

values <- function(name, default) strsplit(option(name, default), ",")[[1]]
columns <- c(
  "data, p x n",
  "m.max",
  "result",
  "kept",
  "left after level 0",
  "edges",
  "data to skeleton s",
  "suff_gauss() s",
  "search s",
  "skeleton() s",
  "over the search",
  "first s",
  "GB of slots",
  "summary() s",
  "saveRDS() s",
  "readRDS() s",
  "file MB",
  "edge_table() s",
  "as_igraph() s",
  "sparse matrix s",
  "orient() s",
  "GiB to the skeleton",
  "peak memory GiB"
)

if (option("case", "no") == "no") {
  ends <- proc.time()[["elapsed"]] + as.double(option("seconds", "1500"))
  tell_origin("Rscript bench/large.R")
  cat("\n", head_text(columns), sep = "")
  for (p in values("p", "2000,5000")) {
    for (global in if (option("data", "expression") == "sparse") "0" else values("global", "0.3,0")) {
      for (m_max in values("m-max", "0,1")) {
        for (result in values("results", "compact,pcAlgo")) {
          for (keep in values("keep", "correlations")) {
            if (proc.time()[["elapsed"]] > ends) {
              next
            }
            case <- paste0(
              c("--p=", "--global=", "--m-max=", "--results=", "--keep="),
              c(p, global, m_max, result, keep)
            )
            status <- system2(
              file.path(R.home("bin"), "Rscript"),
              shQuote(c(file.path(here, "large.R"), args, "--case=yes", case))
            )
            if (status != 0) cat(row_text(paste("p =", p), m_max, result, keep, paste("ended with", status)))
          }
        }
      }
    }
  }
  quit()
}

suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})
p <- as.integer(option("p", ""))
n <- as.integer(option("n", "3189"))
m_max <- as.double(option("m-max", "1"))
result <- option("results", "compact")
keep <- option("keep", "correlations")

global <- as.double(option("global", "0"))
x <- if (option("data", "expression") == "sparse") simulate(p, n, parents = 2) else expression_like(p, n, global)
device <- option("device", "auto")
invisible(gc())
# The most memory so far is forgotten.
try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
made <- min(vapply(
  1:2,
  function(i) system.time(stat <<- suff_gauss(x, device = device, keep = keep, progress = FALSE))[["elapsed"]],
  0
))
rm(x)
invisible(gc())

seconds <- search <- double()
for (i in seq_len(1L + as.integer(option("repeats", "2")))) {
  fit <- NULL
  invisible(gc(FALSE))
  seconds[i] <- system.time(
    fit <- skeleton(
      stat,
      gaussCItest,
      alpha = as.double(option("alpha", "0.01")),
      p = p,
      method = option("method", "stable.fast"),
      m.max = m_max,
      device = device,
      progress = FALSE,
      result = result
    )
  )[["elapsed"]]
  search[i] <- getFromNamespace("session", "pcgpu")$search_seconds
}
to_skeleton <- peak()
best <- if (length(seconds) > 1) which.min(seconds[-1]) + 1L else 1L

compact <- is(fit, "pcCompact")
edges <- if (compact) length(fit@edges$to) else sum(lengths(lapply(fit@graph@edgeL, `[[`, "edges"))) / 2
left <- if (compact) (edges + getFromNamespace("count_p", "pcgpu")(fit@sets)) / (p * (p - 1) / 2) else NA
used <- option("after", "yes") == "yes"
bytes <- if (compact) as.double(object.size(fit)) else 16 * p^2
null <- file(nullfile(), "w")
sink(null)
summarised <- if (!used) {
  NA
} else {
  system.time(
    if (compact) summary(fit) else getS3method("summary", "pcAlgo", envir = asNamespace("pcgpu"))(fit, amat = FALSE)
  )[["elapsed"]]
}
sink()
close(null)
file <- tempfile(fileext = ".rds")
saved <- if (used && bytes < 4e9) system.time(saveRDS(fit, file))[["elapsed"]] else NA
size <- if (is.na(saved)) NA else file.size(file) / 1e6
read <- if (is.na(saved)) NA else system.time(readRDS(file))[["elapsed"]]
unlink(file)
taken <- function(package, f) {
  if (!used || edges > 2e7 || !requireNamespace(package, quietly = TRUE)) NA else system.time(f(fit))[["elapsed"]]
}
listed <- taken("pcgpu", pcgpu::edge_table)
converted <- taken("igraph", as_igraph)
sparse <- if (compact) taken("Matrix", function(x) as(x, "dgCMatrix")) else NA
oriented <- if (option("orient", "no") == "no") NA else system.time(orient(fit))[["elapsed"]]

# Of a search on the CPU `auto` is the CPU, too.
record(
  "large",
  sprintf(
    "%s%s %d x %d, %s, m.max %g, %s, skeleton()",
    option("data", "expression"),
    if (global > 0) paste0(" ", global) else "",
    p,
    n,
    if (keep == "data") "kept data" else keep,
    m_max,
    result
  ),
  if (length(seconds) > 1) seconds[-1] else seconds,
  p = p,
  n = n,
  alpha = as.double(option("alpha", "0.01")),
  method = option("method", "stable.fast"),
  device = if (startsWith(device, "cuda")) "cuda" else device,
  gpus = if (startsWith(device, "cuda")) 1,
  gb = signif(bytes / 1e9, 3),
  peer = "search alone",
  peer_seconds = search[best],
  note = "gb: of the result"
)
shown <- function(x) ifelse(is.na(x), "", number(x))
cat(row_text(
  sprintf("%s%s, %d x %d", option("data", "expression"), if (global > 0) paste0(" ", global) else "", p, n),
  m_max,
  result,
  keep,
  if (is.na(left)) "" else sprintf("%.2f %%", 100 * left),
  format(edges, big.mark = ",", trim = TRUE),
  shown(made + seconds[best]),
  shown(made),
  shown(search[best]),
  shown(seconds[best]),
  paste0(shown(seconds[best] / search[best]), "x"),
  shown(seconds[1]),
  shown(bytes / 1e9),
  shown(summarised),
  shown(saved),
  shown(read),
  shown(size),
  shown(listed),
  shown(converted),
  shown(sparse),
  shown(oriented),
  shown(to_skeleton),
  shown(peak())
))

# Summarises runs of benchpress (packaging/benchpress) that compared its module pcalg_pc with ours: graphs, seconds and
# numbers of tests. report.R makes a table of the file.
#
#   Rscript benchpress.R CHECKOUT [--timed=CHECKOUT] [--csv=FILE]
#
# CHECKOUT: the checkout of benchpress in which the configurations pcgpu_*.json were run. --timed: another one, with the
# seconds of some of these runs, made while the machine did nothing else; only these seconds count then. The file is
# replaced; it is benchpress.csv in this folder by default.
#
# Columns: tpr, fpr and shd are the means over seeds of benchpress's TPR_pattern, FPRn_pattern (wrong edges divided by
# true edges) and SHD_pattern; tpr_median and fpr_median are the medians, which benchpress plots, and
# tpr_skeleton_median and fpr_skeleton_median those of the skeleton. seconds: median over `timed` seeds, by the clock, of
# the call of pc() alone. busy_seconds: the same of the runs in CHECKOUT, whatever else the machine did then. tests: mean
# over seeds. equal: share of the seeds for which both modules wrote the same adjacency matrix and the same number of
# tests. published_*: the medians of pcalg's PC in benchpress's documentation, of the pattern, or of the skeleton for
# pc_vs_dualpc; published_seconds is user CPU time.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
timed_in <- option("timed", "")
csv <- option("csv", file.path(here, "benchpress.csv"))
checkout <- operands()
if (length(checkout) != 1L || !dir.exists(file.path(checkout, "results"))) {
  stop("name one checkout of benchpress that has results, not ", length(checkout), " folders")
}

# Takes a path of the workflow apart. A path has the graph, parameters and data with their seeds, then the algorithm.
parts_of <- function(path) {
  part <- function(pattern) sub(paste0(".*", pattern, ".*"), "\\1", path)
  without_seed <- function(x) gsub("/seed=[0-9]+", "", x)
  data.frame(
    adjmat = without_seed(part("/adjmat=/(.*)/parameters=/")),
    parameters = without_seed(part("/parameters=/(.*)/data=/")),
    data = without_seed(part("/data=/(.*)/algorithm=/")),
    algorithm = part("/algorithm=/([^/]*)/"),
    alpha = as.double(part("/alpha=([^/]*)/")),
    indepTest = part("/indepTest=([^/]*)/"),
    seed = as.integer(part("/seed=([0-9]+)/[a-z]+[.][a-z]+$"))
  )
}

# Reads the files `name` of a folder of results, one number or text each.
read_runs <- function(folder, kind, name, read) {
  files <- list.files(file.path(folder, "results", kind), paste0("^", name, "$"), recursive = TRUE, full.names = TRUE)
  files <- files[grepl("/algorithm=/(pcalg_pc|pcgpu_pc)/", files) & file.size(files) > 0]
  if (!length(files)) {
    stop(folder, " has no results of the two modules")
  }
  cbind(parts_of(files), value = vapply(files, read, read(files[1L]), USE.NAMES = FALSE))
}
run_key <- function(runs) do.call(paste, runs[c("adjmat", "parameters", "data", "alpha", "indepTest", "seed")])
setting_key <- function(runs) do.call(paste, runs[c("adjmat", "parameters", "data", "alpha", "indepTest", "algorithm")])

# The medians of pcalg's PC in the pictures of benchpress's documentation (docs/source/_static/study_1, 4, 5 and 6), read
# off by eye: pictures are all that is published. They are of 100 seeds, 10 for pc_vs_dualpc.
published <- utils::read.csv(
  text = "
setup,n,alpha,tpr,fpr,seconds
er_sem,320,0.001,0.52,0.195,
er_sem,320,0.01,0.58,0.21,
er_sem,320,0.05,0.63,0.24,
er_sem,320,0.1,0.64,0.30,
hepar2_sem,320,0.001,0.42,0.12,
hepar2_sem,320,0.01,0.465,0.135,
hepar2_sem,320,0.05,0.505,0.18,
hepar2_sem,320,0.1,0.525,0.245,
hepar2_bin,320,0.01,0.285,0.06,38
hepar2_bin,320,0.05,0.305,0.09,58
hepar2_bin,320,0.1,0.315,0.115,82
pc_vs_dualpc,300,0.001,0.69,0.003,0.82
pc_vs_dualpc,300,0.05,0.81,0.065,1.65
pc_vs_dualpc,300,0.1,0.84,0.115,2.23
"
)

# The summaries of all setups, a row for each run.
tables <- Sys.glob(file.path(checkout, "results", "output", "pcgpu_*", "benchmarks", "*", "joint_benchmarks.csv"))
runs <- do.call(
  rbind,
  lapply(tables, function(file) {
    table <- utils::read.csv(file, na.strings = c("None", "NA"))
    columns <- c(
      c("adjmat", "parameters", "data", "algorithm", "alpha", "indepTest", "seed", "n_nodes", "true_n_edges_skel"),
      c("TPR_pattern", "FPRn_pattern", "SHD_pattern", "TP_skel", "FP_skel", "ntests")
    )
    cbind(setup = sub("^pcgpu_", "", basename(dirname(file))), table[columns])
  })
)

# Which runs of the two modules wrote the same.
graphs <- read_runs(checkout, "adjmat_estimate", "adjmat.csv", function(file) unname(tools::md5sum(file)))
counts <- read_runs(checkout, "ntests", "ntests.txt", function(file) as.double(readLines(file)))
is_ours <- function(runs) runs$algorithm == "pcgpu_pc"
equal_runs <- function(runs) {
  ours <- runs[is_ours(runs), ]
  theirs <- runs[!is_ours(runs), ]
  stats::setNames(ours$value == theirs$value[match(run_key(ours), run_key(theirs))], run_key(ours))
}
same_graph <- equal_runs(graphs)
same_count <- equal_runs(counts)

read_seconds <- function(folder) read_runs(folder, "time", "time.txt", function(file) as.double(readLines(file)))
seconds <- read_seconds(if (nzchar(timed_in)) timed_in else checkout)
busy_seconds <- read_seconds(checkout)

rows <- lapply(split(runs, list(setting_key(runs), runs$setup), drop = TRUE), function(group) {
  first <- group[1L, ]
  key <- run_key(group)
  of_setting <- function(table) table$value[setting_key(table) == setting_key(first)]
  own_seconds <- of_setting(seconds)
  n <- as.integer(sub(".*n=([0-9]+).*", "\\1", first$data))
  at <- match(TRUE, published$setup == first$setup & published$n == n & published$alpha == first$alpha)
  is_network <- startsWith(first$adjmat, "myadjmats/")
  data.frame(
    date = format(Sys.Date()),
    commit = commit_here(),
    machine = machine_here(),
    setup = first$setup,
    network = if (is_network) sub("myadjmats/", "", first$adjmat) else "random DAGs",
    p = first$n_nodes,
    true_edges = signif(mean(group$true_n_edges_skel), 4),
    n = n,
    test = first$indepTest,
    alpha = first$alpha,
    algorithm = first$algorithm,
    version = version_of(sub("_pc$", "", first$algorithm)),
    seeds = nrow(group),
    tpr = round(mean(group$TPR_pattern), 4),
    fpr = round(mean(group$FPRn_pattern), 4),
    shd = round(mean(group$SHD_pattern), 2),
    tpr_median = round(stats::median(group$TPR_pattern), 4),
    fpr_median = round(stats::median(group$FPRn_pattern), 4),
    tpr_skeleton_median = round(stats::median(group$TP_skel / group$true_n_edges_skel), 4),
    fpr_skeleton_median = round(stats::median(group$FP_skel / group$true_n_edges_skel), 4),
    timed = length(own_seconds),
    seconds = signif(stats::median(own_seconds), 3),
    busy_seconds = signif(stats::median(of_setting(busy_seconds)), 3),
    tests = round(mean(group$ntests), 1),
    equal = mean(same_graph[key] & same_count[key]),
    published_tpr = published$tpr[at],
    published_fpr = published$fpr[at],
    published_seconds = published$seconds[at]
  )
})
rows <- do.call(rbind, rows)
rows <- rows[order(rows$setup, rows$network, rows$n, rows$alpha, rows$algorithm), ]
quoted <- transform(rows, machine = paste0("\"", machine, "\""))
utils::write.csv(quoted, csv, row.names = FALSE, quote = FALSE, na = "")

different <- union(names(same_graph)[!same_graph], names(same_count)[!same_count])
different <- different[!is.na(different)]
if (length(different)) {
  cat("These runs differ:\n", paste0("- ", different, "\n"), sep = "")
}
# A run without its counterpart is no comparison: `equal` is then NA.
setting <- do.call(paste, rows[c("setup", "network", "n", "test", "alpha")])
is_paired <- setting %in% setting[rows$algorithm == "pcalg_pc"]
quit(status = if (length(different) || anyNA(rows$equal[is_paired & rows$algorithm == "pcgpu_pc"])) 1L else 0L)

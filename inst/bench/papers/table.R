# Makes inst/bench/PAPERS.md, and inst/bench/papers/figures, of what run.sh wrote: Rscript table.R OUT > PAPERS.md. A row for each published number (published.csv).
#
# published.csv: paper, item (table or figure), data, what; hardware, value, unit; the runs theirs (their mapping on our card), ours, and base and ours_base, where the
# number says how many times as fast as those they are: PAPER/LOG#WAY, as logs.R reads them; and why a run is missing or unlike theirs. Units: s; x, times as fast as
# `base`, of which a way `edge:*` is the range over all such; `x over ...`, times as fast as something that was not run here, where seconds stand beside it;
# %:0, %:1 and %:2, per cent of the time spent at level 0, at level 1, at levels 2 to 5, and %tests:0 and so on of the tests; tests, their number; %:rows, per cent that the
# run itself tells of.
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(dirname(here), "program.R"))
source(file.path(here, "logs.R"))
out <- args[1L]
runs <- read_runs(out)
estimates <- read_estimates(out)
published <- utils::read.csv(file.path(here, "published.csv"), colClasses = "character")

run_of <- function(key) {
  found <- if (nzchar(key)) runs[runs$key == key, ] else runs[0L, ]
  if (nrow(found)) found[1L, ] else NULL
}
median_of <- function(key) if (is.null(run <- run_of(key))) NA_real_ else run$median
medians_like <- function(key) runs$median[startsWith(runs$key, sub("[*]$", "", key))]

seconds_text <- function(key) {
  run <- run_of(key)
  if (is.null(run)) "" else if (run$minimum == run$median) number(run$median) else paste(number(run$minimum), "/", number(run$median))
}
ratio_text <- function(a, b) if (is.na(a) || is.na(b)) "" else number(a / b)
# Of a ratio: the run, and what it is as fast as; of several their range.
times_text <- function(key, base) {
  base <- median_of(base)
  if (is.na(base) || !nzchar(key)) return("")
  of <- if (endsWith(key, "*")) medians_like(key) else median_of(key)
  of <- of[!is.na(of)]
  if (!length(of)) "" else paste(number(unique(range(base / of))), collapse = " to ")
}
share_text <- function(key, unit) {
  run <- run_of(key)
  if (is.null(run)) return("")
  if (unit == "%:rows") return(paste(number(run$count), "%"))
  levels <- switch(sub(".*:", "", unit), `0` = c(0L, 0L), `1` = c(1L, 1L), `2` = c(2L, 5L))
  is_of_tests <- startsWith(unit, "%tests")
  if (is.null(levels) || !nzchar(if (is_of_tests) run$tests else run$began)) return("")
  share <- if (is_of_tests) share_of_tests(run$tests, levels[1L], levels[2L]) else share_of_levels(run$began, levels[1L], levels[2L])
  paste(number(100 * share), "%")
}
count_text <- function(key) {
  run <- run_of(key)
  if (is.null(run)) "" else format(sum(as.double(strsplit(run$tests, " ", fixed = TRUE)[[1L]])), big.mark = ",")
}

# How many times as much a card of ours has as that of a row, or as those: the larger of memory bandwidth and single precision; NA where it is a CPU.
cards <- utils::read.csv(file.path(here, "cards.csv"), colClasses = "character")
figures_of <- function(pattern) {
  card <- grep(pattern, cards$card)[1L]
  as.double(gsub(",", "", c(cards$bandwidth[card], cards$single[card])))
}
machine_of <- function(paper) {
  file <- file.path(out, paper, "machine")
  if (!file.exists(file)) return("not run")
  cards <- readLines(file)
  paste0(paste(unique(cards), collapse = "; "), if (length(cards) > 1L) sprintf(" (one of %d of a host, all where a row says so)", length(cards)))
}
# How much more of what limits them our cards have than the published ones; `ours`: the run.
more_of_card <- function(hardware, paper, ours) {
  pattern <- regmatches(hardware, regexpr("GTX 1080|V100|Titan X|A40|K20m|K40c|M60", hardware))
  own <- regmatches(machine_of(paper), regexpr("H100|H200", machine_of(paper)))
  if (!length(pattern) || !length(own)) return(NA_real_)
  several <- if (grepl("^[0-9] ", hardware)) as.double(substr(hardware, 1L, 1L)) else 1
  own_cards <- if (grepl("#cards$|--cards#", ours)) 2 else 1
  max(own_cards * figures_of(own) / (several * figures_of(pattern)))
}

row_of <- function(row) {
  value <- suppressWarnings(as.double(row$value))
  shown <- if (is.na(value)) row$value else format(value, big.mark = ",", digits = 10)
  theirs <- median_of(row$theirs)
  ours <- median_of(row$ours)
  cells <- if (row$unit == "x") {
    c(if (nzchar(shown)) paste(shown, "x"), times_text(row$theirs, row$base), times_text(row$ours, row$ours_base), "", ratio_text(theirs, ours))
  } else if (startsWith(row$unit, "%")) {
    c(paste(shown, "%"), share_text(row$theirs, row$unit), share_text(row$ours, row$unit), "", "")
  } else if (row$unit == "tests") {
    c(shown, count_text(row$theirs), count_text(row$ours), "", "")
  } else {
    unit <- if (grepl("^x", row$unit)) paste0(" ", row$unit) else ""
    c(paste0(shown, unit), seconds_text(row$theirs), seconds_text(row$ours), if (row$unit == "s" && !grepl("surrogate", row$reason)) ratio_text(value, ours) else "",
      ratio_text(theirs, ours))
  }
  wanted <- unique(c(row$theirs, row$ours, row$base, row$ours_base))
  wanted <- wanted[nzchar(wanted) & !endsWith(wanted, "*")]
  batch <- if (endsWith(row$ours, ":alone")) run_of(sub("alone$", "shared", row$ours))
  later <- if (endsWith(row$ours, "#first")) run_of(sub("first$", "warm", row$ours))
  # What is oriented no card has a part in.
  on_card <- row$unit == "s" && !grepl("surrogate", row$reason) && !endsWith(row$ours, "#orient")
  more <- if (on_card) more_of_card(row$hardware, row$paper, row$ours) else NA_real_
  missing <- wanted[vapply(wanted, function(key) is.null(run_of(key)), NA)]
  would_take <- estimates[intersect(missing, names(estimates))]
  remark <- c(
    if (nzchar(row$reason)) row$reason, if (row$unit == "s" && !is.na(theirs) && !is.na(value) && theirs > value) "slower here than published",
    if (isTRUE(value / ours < more)) sprintf("ours gains less than the hardware (%s times)", number(more)),
    if (!is.null(batch)) paste("ours in a batch:", number(batch$median)),
    if (!is.null(later)) paste("later calls of a process:", number(later$minimum), "/", number(later$median)),
    if (length(would_take)) paste("not run: by the time of single tests it would take", number(max(would_take)), "s"),
    if (length(setdiff(missing, names(estimates)))) "not measured in the time given"
  )
  hardware <- if (nzchar(row$hardware)) sprintf(" (%s)", row$hardware) else ""
  row_text(row$data, row$what, paste0(if (length(cells) == 5L) cells[1L], hardware), utils::tail(cells, 4L), paste(remark, collapse = "; "))
}

cat("# The papers' experiments\n\n")
cat("Four papers and a thesis, table by table: a row for each number that they print, ours beside it; without ratios that follow from printed seconds, and tables of data and machines. `inst/bench/papers/published.csv`\n",
    "has the numbers and says which runs are beside them; `make papers` packs what repeats them. Seconds are minimum / median of the repeats after a first run, or one run.\n\n",
    "- published: as printed, in seconds where nothing else is said, with the hardware\n",
    "- theirs here: their mapping of tests to threads on our card, as a kernel of pcgpu (`strategy` of `cuda_device()`). It is **no run of the authors' programs**: it answers with pcalg's\n",
    "  separating sets and counts, of both sides of a pair, which theirs need not. Where a row says \"slower here than published\", that costs more than a newer card gains, and\n",
    "  the published number is the fairer one\n",
    "- ours: pcgpu's own kernels (`strategy = \"shared\"`), or its CPU engine where the row says so\n",
    "- published / ours is a ratio across machines; theirs here / ours one of the same card and run. Where the first is less than what the card alone has\n",
    "  more of, memory bandwidth or TFLOP/s in single precision, the remark says so\n\n",
    "Runs compare times; that all strategies give one answer is what tests/core/papers_cuda.rs and its like are for.\n\n", sep = "")

cat("## Machines\n\n", head_text("card", "memory, GB/s", "TFLOP/s, single / double", "in"), sep = "")
for (i in seq_len(nrow(cards))) cat(row_text(cards$card[i], cards$bandwidth[i], paste(cards$single[i], "/", cards$double[i]), cards$where[i]))
cat("\nMakers' figures, at the boost clock. CPUs stand in the rows. Here:\n\n")
papers <- unique(published$paper)
machines <- vapply(papers, machine_of, "")
for (machine in unique(machines)) cat("- ", paste(papers[machines == machine], collapse = ", "), ": ", machine, ", 16 CPU cores\n", sep = "")
# Of each paper the runs, as PAPERS_ONLY names them, and their commits.
for (paper in papers) {
  file <- file.path(out, paper, "version")
  if (file.exists(file)) cat("- ", paper, ": ", paste(unique(readLines(file)), collapse = "; "), "\n", sep = "")
}
cat("- command: `run.sh` of `make papers`, ", format(Sys.Date()), "\n", sep = "")

titles <- c(
  cupc = "cuPC (Zarebavani and others 2020)", gpupc = "gpuPC (Hagedorn and Huegle 2021; the thesis's tables 6.7 and 6.8)",
  dissertation = "The thesis (Hagedorn 2023), what is in no other paper", cmiknn = "GPU_CMIknn (Hagedorn and others 2022; the thesis's tables 6.10 to 6.16)",
  `cuda-jmi` = "CUDA-JMI (Gonz\u00e1lez-Dom\u00ednguez and others 2020)"
)
# What is unlike in all rows of an item.
notes <- c(
  "cupc, table 2" = paste(
    "The sweeps have ours on the same data once more (dissertation table-6.6), of another commit and time of the same day: hundredths of a second differ by up to 1.2 times there. From one run",
    "of this table to another they differed by up to two times, much of it at level 0, which copies the correlations."
  ),
  "cupc, figure 7" = "Single runs after one that opens the card; of NCI-60 medians of two.",
  "cupc, figure 8" = "Single runs after one that opens the card.",
  "cupc, figure 10" = "Ours: one graph where theirs are ten, one run after a first one, alpha 0.05 where theirs is not named; the sweeps have the other points.",
  "gpupc, table 2" = paste(
    "Theirs force numbers of tests and of edges. Ours come of data whose edges all stay at level 1, a problem of another shape, and of level 0: ratios are to be compared within a row of",
    "theirs alone. Disc-cupc's time with 8,000 variables is that of one run."
  ),
  "dissertation, table 4.2" = paste(
    "Ours are pcalg's n.edgetests, which have an edge that level 0 leaves from both sides: theirs have it once at level 0. The data may be other versions of the same sets."
  ),
  "dissertation, table 6.6, end to end" = paste(
    "Theirs are medians of ten runs, what adjacency search, orientation and, of gpucsl, compilation add up to. Ours: pc() from the data in memory, with correlations or levels, as the",
    "first call of a new R process, which opens the card; minimum and median of five processes. The sweeps have whole processes, from the start of R. So, too, table 6.9."
  ),
  "dissertation, table 6.6, orientation" = "Ours: orient() in R, of a skeleton from the same data. So, too, table 6.9.",
  "dissertation, table 6.17" = paste(
    "Theirs are levels 0 and 1 apart; ours level 0, and levels 0 and 1 together. From 50,000 variables on theirs is beyond the V100's 32 GB, so that pages go back and forth; all of ours",
    "is within the card's 80 GB: no run of ours takes more of a card than is free. Those from 50,000 on are single runs after one that opens the card."
  ),
  "dissertation, table 6.18" = "Of data of this shape: how many edges TCGA's own data leave at level 0 is not published, and decides the time.",
  "cmiknn, table 1 (6.10), by k" = paste(
    "Theirs are medians of 20 tests. So are ours, asked one after the other, and theirs here; in a batch, seconds a test of as many as take a quarter of a second. So, too, tables 2 to 4;",
    "tables 6 to 9 are percentiles of the same tests."
  ),
  "cmiknn, table 5 (6.14), searches by N and k" = "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3.",
  "cmiknn, table 6.16, searches by share of discrete variables" = "Theirs are medians of ten graphs; ours are of one, with edges of probability 0.3.",
  "cuda-jmi, table 4" = "Theirs are the seconds of the mutual information alone, which the joining of features goes beside; ours, and theirs here, of whole selections. So, too, table 5."
)
for (paper in papers) {
  cat(sprintf("\n## %s\n", titles[[paper]]))
  for (item in unique(published$item[published$paper == paper])) {
    cat(sprintf("\n### %s, %s\n\n", paper, item))
    note <- notes[paste0(paper, ", ", item)]
    if (!is.na(note)) cat(note, "\n\n", sep = "")
    cat(head_text("data", "what", "published (on)", "theirs here", "ours", "published / ours", "theirs here / ours", "remark"))
    rows <- published[published$paper == paper & published$item == item, ]
    for (i in seq_len(nrow(rows))) cat(row_of(rows[i, ]))
  }
}

cat("\n### cmiknn, figure 1 (6.5): structural Hamming distance less that of k = 7\n\n")
cat("The paper draws minimum, median and maximum: the median falls to k = 30, is as good to 75 and worse from 100 on. Ours: graphs and data of the same kind (see `knn_graphs`).\n\n")
distance <- distances_of(runs)
if (!is.null(distance)) {
  cat(head_text("k", "graphs", "mean distance", "least difference", "median", "mean", "most"))
  for (k in colnames(distance)) {
    less <- distance[, k] - distance[, "7"]
    cat(row_text(k, nrow(distance), number(mean(distance[, k])), number(min(less)), number(stats::median(less)), number(mean(less)), number(max(less))))
  }
}

cat("\n## Sweeps\n\nRuns that no published number stands beside: drawn without numbers in the papers, or ours alone.\n\n")
cat(head_text("paper, item", "problem", "way", "s", "s / ours"))
taken <- unique(unlist(published[c("theirs", "ours", "base", "ours_base")]))
# Those of figure 9 count sets.
sweeps <- runs[!runs$key %in% taken & !grepl("^quality:|:(shared|CPU|alone|parallel|single)(:5|:95)?$|^warm$", runs$way) & runs$item != "figure-9", ]
for (i in seq_len(nrow(sweeps))) {
  run <- sweeps[i, ]
  if (run$item %in% c("figure-7", "figure-8") && run$way == "shared") next
  # In sweeps ours may have been the first run of a process, which opens the card: that of the table.
  item <- if (run$item %in% c("figure-7", "figure-8")) "table-2" else run$item
  ours <- runs$median[runs$paper == run$paper & runs$item == item & runs$problem == run$problem & runs$way %in% c("shared", "resident")]
  cat(row_text(paste(run$paper, run$item), gsub("_", ":", run$problem), run$way, seconds_text(run$key), if (length(ours)) ratio_text(run$median, ours[1L]) else ""))
}

left <- file.path(out, "left-out")
if (file.exists(left)) {
  cat("\n## Ended by their time\n\nA run's first strategies are there where later ones were ended.\n\n", paste0("- ", readLines(left), "\n"), sep = "")
}
source(file.path(here, "pictures.R"))
draw_all(runs, published, out, file.path(here, "figures"))

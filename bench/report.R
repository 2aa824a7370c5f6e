# Writes RESULTS.md, four pictures and the table in README.md from results.csv, recovered.csv and gpu-runs.csv, and
# RELEASE.md from release.csv.
#
#   Rscript bench/report.R           writes RESULTS.md, speed.png, growth.png, gpus.png, memory.png, RELEASE.md and README.md's table
#   Rscript bench/report.R --check   writes nothing; fails if a page, README.md or a vignette does not say what the files say
#
# A paragraph or table of a vignette ends with a comment that names the rows behind its figures:
#
#   <!-- measured: SUITE/CASE | COLUMN=VALUE, COLUMN!=VALUE | FIELD FIELD; SUITE/CASE | | FIELD -->
#
# The second part selects among the rows of a case, and may be empty. A field is a column, or `ratio` (the peer's time
# over ours), or `gain` (one GPU's time over the row's). Each figure, with three digits, must stand in the paragraph.
# SUITE `recovered` means recovered.csv, whose cases are networks. `*` in CASE stands for the first cell of each row of
# the table. The newest row counts.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
root <- dirname(normalizePath(here))
check_only <- "--check" %in% args
# The same order on every machine.
invisible(Sys.setlocale("LC_COLLATE", "C"))

read_rows <- function(name) {
  utils::read.csv(file.path(here, name), colClasses = "character", na.strings = character(), check.names = FALSE)
}
value <- function(x) suppressWarnings(as.double(x))
results <- read_rows("results.csv")
recovered <- read_rows("recovered.csv")
gpu_runs <- read_rows("gpu-runs.csv")
for (name in c("least", "median", "peer_least", "peer_median")) {
  results[[name]] <- value(results[[name]])
}

# Returns the newest of the rows that agree in `by`.
newest <- function(rows, by = c("suite", "case", "device", "gpus", "memory", "peer")) {
  rows <- rows[order(rows$date, decreasing = TRUE), ]
  rows[!duplicated(rows[by]), ]
}
# Returns, for each case on each machine, the rows of the newest run, which are compared with each other. `id` names
# case and machine.
newest_runs <- function(rows) {
  rows$id <- paste(rows$case, rows$machine, sep = "#")
  run <- paste(rows$date, rows$commit)
  rows[run == stats::ave(run, rows$id, FUN = max), ]
}

# Returns the seconds of ours and of the peer: medians if both have them, or else the least.
ours_of <- function(rows) {
  ifelse(!is.na(rows$median) & (!is.na(rows$peer_median) | is.na(rows$least)), rows$median, rows$least)
}
peer_of <- function(rows) ifelse(!is.na(rows$median) & !is.na(rows$peer_median), rows$peer_median, rows$peer_least)
ratio_of <- function(rows) peer_of(rows) / ours_of(rows)
text <- function(x) vapply(x, function(one) if (is.na(one)) "" else number(one), "")
both <- function(rows) {
  ifelse(
    is.na(rows$least),
    text(rows$median),
    ifelse(is.na(rows$median), text(rows$least), paste(text(rows$least), "/", text(rows$median)))
  )
}
both_of_peer <- function(rows) {
  found <- ifelse(
    is.na(rows$peer_least),
    text(rows$peer_median),
    ifelse(is.na(rows$peer_median), text(rows$peer_least), paste(text(rows$peer_least), "/", text(rows$peer_median)))
  )
  ifelse(found == "" & startsWith(rows$note, "peer: not in"), sub("^peer: ", "", rows$note), found)
}
whole <- function(x) ifelse(x == "", "", format(value(x), big.mark = ",", trim = TRUE, scientific = FALSE))
shape <- function(rows) {
  ifelse(rows$p == "" | rows$n == "", whole(paste0(rows$p, rows$n)), paste(whole(rows$p), "x", whole(rows$n)))
}

# Returns the commits of rows; `+` marks a build with changes that were not committed.
commit_of <- function(rows) {
  paste0(
    ifelse(grepl(" to ", rows$commit), rows$commit, substr(rows$commit, 1L, 7L)),
    ifelse(grepl("uncommitted", rows$note) | endsWith(rows$commit, "-dirty"), "+", "")
  )
}

# Returns a table whose last column refers to a line below it: date, commit and machine.
table_text <- function(cells, rows, command) {
  runs <- paste(rows$date, commit_of(rows))
  known <- unique(data.frame(machine = rows$machine, run = runs))
  known$letter <- letters[seq_len(nrow(known))]
  cells$run <- known$letter[match(paste(rows$machine, runs), paste(known$machine, known$run))]
  of_machine <- tapply(
    paste0("(", known$letter, ") ", known$run),
    factor(known$machine, unique(known$machine)),
    paste,
    collapse = ", "
  )
  c(
    bare(row_text(names(cells))),
    paste0(strrep("|---", ncol(cells)), "|"),
    vapply(seq_len(nrow(cells)), function(i) bare(do.call(row_text, unname(as.list(cells[i, ])))), ""),
    "",
    paste0("Runs: ", paste0(names(of_machine), ": ", of_machine, collapse = "; "), ". Repeat: ", command, "."),
    ""
  )
}
bare <- function(line) gsub("|  ", "| ", sub("\n$", "", line), fixed = TRUE)
columns <- function(...) data.frame(..., check.names = FALSE)

# --- tables ---

beside_pcalg <- function() {
  rows <- newest(results[results$peer == "pcalg" & results$device == "cpu" & results$suite %in% c("headline", "pc"), ])
  # Of a data set with a headline no row of an older run: the times of one data set are of one run.
  rows <- rows[rows$suite == "headline" | !sub(",.*", "", rows$case) %in% rows$case[rows$suite == "headline"], ]
  rows <- rows[order(rows$suite, rows$case), ]
  cells <- columns(
    search = ifelse(rows$suite == "headline", paste0(rows$case, ", pc()"), rows$case),
    "p x n" = shape(rows),
    tests = whole(rows$tests),
    "pcgpu s" = both(rows),
    "pcalg s" = both_of_peer(rows),
    times = text(ratio_of(rows))
  )
  stopifnot(rows$same == "yes")
  table_text(cells, rows, "`make bench`, `make bench BENCH=--headline`, `BENCH=\"sim-dense-300 --m-max=2\"`")
}

# Returns rows of the GPU with those of the CPU of the same run.
pairs_of <- function(rows) {
  gpu <- newest(rows[rows$device == "cuda" & rows$gpus == "1", ])
  cpu <- rows[rows$device == "cpu", ]
  at <- match(paste(gpu$suite, gpu$case, gpu$commit), paste(cpu$suite, cpu$case, cpu$commit))
  list(gpu = gpu[!is.na(at), ], cpu = cpu[at[!is.na(at)], ])
}
beside_cpu <- function() {
  wanted <- with(
    results,
    suite == "headline" &
      case == "saureus" |
      suite == "gpu" & endsWith(case, ", pc()") |
      suite == "discrete" & grepl("^crossing: (andes|link|alarm, 200000 rows)$", case) |
      suite == "select" & grepl("^shape of .*, 10 features", case) |
      suite == "missing" &
        grepl("^crossing: mix[CM]Itest", case) &
        (p == "300" & n == "5000" | n %in% c("2000", "1000000")) |
      suite == "fci" & grepl("^phase.*seed [36]", case) |
      suite == "knn" & grepl("^a test, n (1000|10000), 1 .* k (7|2000),", case)
  )
  pair <- pairs_of(results[wanted, ])
  at <- order(pair$gpu$suite != "headline", pair$gpu$suite, pair$gpu$case)
  gpu <- pair$gpu[at, ]
  cpu <- pair$cpu[at, ]
  seconds <- function(rows) ifelse(is.na(gpu$least) | is.na(cpu$least), rows$median, rows$least)
  cells <- columns(
    search = paste0(
      ifelse(gpu$suite %in% c("headline", "gpu", "missing"), "", paste0(gpu$suite, ": ")),
      sub("^crossing: ", "", gpu$case)
    ),
    "p x n" = shape(gpu),
    "GPU s" = both(gpu),
    "CPU s" = both(cpu),
    threads = cpu$threads,
    times = text(seconds(cpu) / seconds(gpu))
  )
  table_text(
    cells,
    gpu,
    "`bench/gpu.R`, `bench/bench.R --headline`, `bench/missing.R crossing`; `discrete_cuda`, `selection`, `knn_cuda` and `fci` of the core's examples"
  )
}

growing <- function() {
  pair <- pairs_of(results[results$suite == "crossing" & results$case %in% paste("p", c(100, 1000, 4000)), ])
  at <- order(value(pair$gpu$p))
  of_p <- columns(
    search = "1.5 parents",
    "p x n" = shape(pair$gpu)[at],
    "tests" = whole(pair$gpu$tests)[at],
    "GPU s" = both(pair$gpu)[at],
    "CPU s" = both(pair$cpu)[at]
  )
  rows <- newest(results[
    results$suite == "growth" & grepl("skeleton\\(\\)$|^[0-9 x]+(, (kept|compact|dense).*)?$", results$case),
  ])
  rows <- rows[rows$case != "1000 x 100, 1.5 parents, skeleton()", ]
  rows <- rows[order(rows$device, value(rows$p), value(rows$n), rows$case), ]
  name <- sub("^[0-9]+ x [0-9]+(, )?", "", sub(", skeleton\\(\\)$", "", rows$case))
  more <- columns(
    search = ifelse(name == "", "skeleton()", name),
    "p x n" = shape(rows),
    tests = whole(rows$tests),
    "GPU s" = ifelse(rows$device == "cuda", both(rows), ""),
    "CPU s" = ifelse(rows$device == "cpu", both(rows), "")
  )
  table_text(
    rbind(of_p, more),
    rbind(pair$gpu[at, ], rows),
    "`bench/gpu.R --parts=crossing,growth`; on the CPU `bench/large.R`"
  )
}

by_gpus <- function() {
  rows <- newest_runs(results[results$suite == "gpus" & results$device == "cuda", ])
  # Others are in results.csv alone.
  left_out <- c(
    "selection, 200 of 3072 x 531131, steps of 2 ms told",
    "dense 4000 x 100, levels 0 to 2, search alone",
    "dense 40000 x 500, levels 0 and 1, search alone",
    "link 724 x 20000, all levels",
    "nearest neighbours, NCI-60 1190 x 47",
    "munin 1041 x 20000, all levels",
    "discrete 4000 x 200000, 2 levels of sets, search alone"
  )
  first <- rows[rows$gpus == "1" & rows$id %in% rows$id[rows$gpus == "2"] & !rows$case %in% left_out, ]
  first <- first[order(!startsWith(first$machine, "4"), first$case), ]
  of <- function(count) rows[match(paste(first$id, count), paste(rows$id, rows$gpus)), ]
  with_gain <- function(count) {
    more <- of(count)
    ifelse(is.na(more$least), "", paste0(text(more$least), " (", text(first$least / more$least), ")"))
  }
  cells <- columns(
    search = sub("levels 0 and 1", "levels 0-1", first$case),
    "1 GPU, s" = text(first$least),
    "2 (times)" = with_gain(2),
    "3" = with_gain(3),
    "4" = with_gain(4)
  )
  table_text(
    cells,
    first,
    "`bench/gpus.R run OUT --parts=gpus --gpus=1,2,4`; the search alone by `search_times ... cuda:0+1`"
  )
}

shares <- c("1/2", "1/4", "1/8", "1/16")
by_memory <- function() {
  rows <- newest_runs(results[results$suite == "memory" & !is.na(results$least), ])
  # Others are in results.csv alone.
  left_out <- c(
    paste0("sparse ", c("5000 x 200", "40000 x 100", "20000 x 200", "10000 x 200", "1000 x 100"), ", search alone"),
    "sparse 20000 x 200, all levels",
    "50000 x 200, kept data"
  )
  first <- rows[rows$memory == "" & rows$id %in% rows$id[rows$memory != ""] & !rows$case %in% left_out, ]
  first <- first[order(first$device, first$case), ]
  of <- function(share) {
    less <- rows[match(paste(first$id, share), paste(rows$id, rows$memory)), ]
    ifelse(is.na(less$least), "", paste0(text(less$least), " (", text(less$least / first$least), ")"))
  }
  bound <- rows[!rows$memory %in% c("", shares), ]
  bound <- bound[match(first$id, bound$id), ]
  cells <- columns(
    search = sub("levels 0 and 1", "levels 0-1", first$case),
    "all memory, s" = text(first$least),
    "1/2 (times)" = of("1/2"),
    "1/4" = of("1/4"),
    "1/8" = of("1/8"),
    "1/16" = of("1/16"),
    "other bound" = ifelse(
      is.na(bound$least),
      "",
      paste0(bound$memory, ": ", text(bound$least), " (", text(bound$least / first$least), ")")
    )
  )
  table_text(
    cells,
    first,
    "`bench/gpus.R run OUT --parts=memory`; the search alone by `search_times ... memory=1/8`; on the CPU `gauss_bounded`"
  )
}

beside_peers <- function() {
  # results.csv has more.
  chosen <- list(
    discrete = c("alarm, chi2", "andes, chi2", "alarm, dis, m.max 3", "alarm, dis, 2 threads", "andes, dis, 2 threads"),
    knn = paste0("one test, n ", c("1000, 1 in S, k 7", "5000, 1 in S, k 7")),
    missing = paste0(c("gaussCItwd", "mixCItest", "gaussMItest", "mixMItest"), ", 12 x 500"),
    select = paste0(c("lung_small", "leukemia"), ", 50 features"),
    fci = c("rfci, p = 200", "fciPlus, p = 100", "fci, m.max = 2, p = 100", "NCI-60, rfci"),
    effects = c("ida(method = 'local'), a pair (mean of 6)", "idaFast(), every x", "jointIda(), two x on all y, RRC"),
    stability = c("alarm, beside bnlearn", "gauss100, beside bnlearn", "gauss100, beside pcalg"),
    graphs = c("rmvDAG() / random_data()", "dag2cpdag() / cpdag_of()", "shd() and compareGraphs() / compare_graphs()"),
    knowledge = "tiers, p = 200",
    suff = paste0("suff_gauss(), ", c("30 x 10", "2000000 x 60"), ", pearson, complete"),
    search = c("nci60 (0.05)", "saureus (0.05)", "dream5 (0.05)", "alarm", "link")
  )
  wanted <- paste(rep(names(chosen), lengths(chosen)), unlist(chosen), sep = "/")
  rows <- newest(results[results$peer != "", ])
  rows <- rows[match(wanted, paste(rows$suite, rows$case, sep = "/"), nomatch = 0L), ]
  # causal_effects() answers for all pairs where ida() answers for one.
  one_pair <- startsWith(rows$case, "ida(")
  cells <- columns(
    what = paste0(rows$suite, ": ", sub(", beside .*", "", rows$case)),
    "pcgpu s" = both(rows),
    peer = trimws(paste(rows$peer, sub("github:cran/bnlearn", "", rows$peer_version))),
    "peer s" = both_of_peer(rows),
    times = ifelse(one_pair | grepl("of 100 samples", rows$note), "", text(ratio_of(rows))),
    "same" = rows$same
  )
  c(
    table_text(
      cells,
      rows,
      paste(
        "`Rscript bench/SUITE.R`, with arguments for five suites: `knn.R speed --python=PYTHON`, `missing.R peer`,",
        "`stability.R alarm gauss100 --peer=bnlearn`, `discrete.R FILE --peer=bnlearn`, `select.R FILE --peer=PYTHON`",
        "(the scripts describe FILE); suite `search` by `search_times` and `discrete_cuda`, with the authors' programs"
      )
    ),
    "`ida()`: the peer's seconds are those of one pair, ours those of all 39,800. gauss100: the peers ran 20 (bnlearn) and 5 (pcalg) of the 100 samples. `suff`: one thread of R.",
    ""
  )
}

clusters <- function() {
  rows <- newest(results[
    results$suite == "cluster" &
      !startsWith(results$case, "shapes") &
      !grepl(
        "level [2-9]|select: (20|50) of|select: 100 of 10000|select: .*, 3 levels|1 worker$|no workers$|all: (rfci|fciPlus|markov|cstar|orient.maj)|p [12]000 by",
        results$case
      ),
  ])
  rows <- rows[order(rows$case), ]
  cells <- columns(
    call = sub("^all: ", "", rows$case),
    "s" = both(rows),
    "compared with" = rows$peer,
    "its s" = both_of_peer(rows),
    times = text(ratio_of(rows))
  )
  table_text(cells, rows, "`Rscript bench/cluster.R all`, `functions 5000 10`, `data`, `levels`, `select`, `gpus`")
}

found_again <- function() {
  rows <- newest(recovered, c("network", "n", "alpha", "m_max", "method", "rule"))
  networks <- sort(unique(rows$network[rows$peer == "causal-learn, recorded"]))
  of <- function(method, alpha, column = "shd", rule = "") {
    rows[[column]][match(paste(networks, method, alpha, rule), paste(rows$network, rows$method, rows$alpha, rows$rule))]
  }
  own <- "causal-learn's test"
  cells <- columns(
    network = networks,
    variables = of(own, "0.05", "p"),
    edges = of(own, "0.05", "true_edges"),
    "causal-learn, recorded" = of(own, "0.05", "peer_shd"),
    "its test in pc()" = of(own, "0.05"),
    "chi2CItest, 0.05" = of("chi2CItest", "0.05"),
    "disCItest, 0.01" = of("disCItest", "0.01"),
    "with maj.rule" = of("disCItest", "0.01", rule = "maj.rule, solve.confl")
  )
  others <- rows[
    !rows$network %in% networks &
      !grepl("simulated", rows$network) &
      rows$alpha == "0.01" &
      !grepl("ranks|pooled|at most 16", rows$network),
  ]
  others <- others[order(others$network, value(others$n)), ]
  precision <- function(rows, what) paste(rows[[paste0(what, "precision")]], "/", rows[[paste0(what, "recall")]])
  more <- columns(
    data = others$network,
    n = whole(others$n),
    test = others$method,
    edges = paste(others$edges, "of", others$true_edges),
    "adjacencies: precision / recall" = precision(others, ""),
    "arrowheads" = precision(others, "arrow_"),
    SHD = others$shd
  )
  first <- rows[match(networks, rows$network), ]
  machine <- "AMD EPYC, 2 cores"
  c(
    "Structural Hamming distance (SHD) to the true CPDAG, 10,000 samples:",
    "",
    table_text(
      cells,
      cbind(first[, c("date", "commit")], machine = machine)[rep(1L, nrow(cells)), ],
      "`Rscript bench/recovered.R networks`"
    ),
    "Others at alpha 0.01:",
    "",
    table_text(
      more,
      cbind(others[, c("date", "commit")], machine = machine),
      "`Rscript bench/recovered.R large dream5 sachs`"
    )
  )
}

gpu_tests <- function() {
  # Of the newest date the first row of each part.
  rows <- gpu_runs[gpu_runs$date == max(gpu_runs$date), ]
  rows <- rows[!duplicated(rows$part), ]
  cells <- columns(
    part = rows$part,
    passed = rows$passed,
    failed = rows$failed,
    skipped = rows$skipped,
    note = sub(";.*", "", rows$note)
  )
  table_text(cells, rows, "`make gpu-bundle` and `gpu-check.sh`, see tools/README.md")
}

machines <- c(
  "2 cores" = "a virtual machine with two cores and 24 GiB, Debian 12; the notebook does not name its processor",
  "AMD EPYC, 2 cores" = "a virtual machine, AVX2, 24 GiB, Debian 12, R 4.2.2",
  "Intel Xeon, 2 cores" = "a virtual machine, Sapphire Rapids, AVX-512, R 4.2.2",
  "NVIDIA H100, 16 cores" = "80 GB; driver 580.159.04",
  "NVIDIA H200, 16 cores" = "140 GB; 16 cores of an Intel Xeon, 128 GiB; driver 580.159.04",
  "2 NVIDIA H100, 32 cores" = "80 GB each, NVLink",
  "2 NVIDIA H200, 32 cores" = "140 GB each, NVLink",
  "4 NVIDIA H100, 64 cores" = "80 GB each, NVLink, 504 GiB"
)

picture <- function(name, what) c(paste0("![", what, "](", name, ".png)"), "")

page <- function() {
  there <- sort(unique(results$machine))
  counts <- table(results$suite)
  c(
    "# Measured",
    "",
    "`bench/report.R` writes this page and its pictures from `results.csv`, `recovered.csv` and `gpu-runs.csv`. Each table has the newest row of each case;",
    "the files have all rows. Git has older notes.",
    "",
    "**How to read.** Times are in seconds. \"a / b\" means least / median. `times` is the peer's time divided by ours. All times of a row are of one machine and one run. Peers use one thread unless",
    "the program shares its work. An empty cell was not measured. `times` compares medians where both are there. In table 1 every answer was pcalg's in all fields. `+`: uncommitted changes.",
    "",
    "**How to repeat.** Each table names its command, for the root of the repository after `tools/install-package` and `export R_LIBS=.Rlib`. `--csv=FILE` appends the rows to a file in the format of `results.csv`. Real data are not in the repository:",
    "`PCGPU_BENCH_DATA` names their folder (`bench/data.R`). `bench/README.md` lists the scripts.",
    "",
    "## Machines",
    "",
    paste0("- ", there, ifelse(is.na(machines[there]), "", paste0(": ", machines[there]))),
    "",
    "All machines are shared or virtual. Rows whose note says \"busy machine\" are up to four times too slow.",
    "",
    "## 1. The CPU and pcalg",
    "",
    picture("speed", "Times faster than other programs"),
    beside_pcalg(),
    "The number of tests of `mcc` depends on rounding: five pairs of its columns are equal, and their correlations are 1 up to rounding. `cor()` gives 21,950,296 tests",
    "and 643 edges (this table), `suff_gauss()` 21,974,170 and 648 (suite `gpu`). From equal correlations pcgpu and pcalg count the same.",
    "",
    "## 2. A GPU and the CPU",
    "",
    beside_cpu(),
    "## 3. Growth",
    "",
    picture("growth", "Time against variables, observations and density"),
    growing(),
    "## 4. Several GPUs",
    "",
    picture("gpus", "Times as fast by number of GPUs"),
    by_gpus(),
    "## 5. Less memory",
    "",
    picture("memory", "Time within less memory"),
    by_memory(),
    "## 6. Other tests and functions, and their peers",
    "",
    beside_peers(),
    "## 7. Clusters",
    "",
    clusters(),
    "## 8. Structure recovered",
    "",
    found_again(),
    "## Tests on GPUs",
    "",
    "The newest date of `gpu-runs.csv`:",
    "",
    gpu_tests(),
    "Not run: other GPUs, MIG slices, WSL, a driver for CUDA 12.",
    "",
    "## All suites of results.csv",
    "",
    paste0(
      "Rows by suite: ",
      paste0("`", names(counts), "` ", counts, collapse = ", "),
      ". `bench/README.md` says which script writes which."
    )
  )
}

# --- README.md ---

with_headline <- function(lines) {
  rows <- newest(results[results$suite == "headline" & results$peer == "pcalg" & results$device == "cpu", ])
  rows <- rows[order(match(rows$case, c("nci60", "mcc", "dream5", "saureus"))), ]
  gpus <- newest(results[results$suite == "headline" & results$device == "cuda", ])
  gpu <- gpus[match(rows$case, gpus$case), ]
  names <- c(nci60 = "NCI-60", mcc = "MCC", dream5 = "DREAM5 surrogate", saureus = "S. aureus")
  card <- sub("^[0-9]+ ", "", sub(",.*", "", gpu$machine[1L]))
  cells <- columns(
    names[rows$case],
    paste(rows$p, "x", rows$n),
    whole(rows$tests),
    paste(text(rows$median), "s"),
    paste(text(rows$peer_median), "s"),
    text(ratio_of(rows)),
    paste(text(gpu$median), "s")
  )
  names(cells) <- c(
    "data (alpha 0.01, `stable.fast`)",
    "variables x samples",
    "tests",
    paste0("pcgpu, ", rows$threads[1L], " threads"),
    "pcalg, 1 thread",
    "ratio",
    paste0("pcgpu, one ", card)
  )
  runs <- function(rows) unique(paste0(rows$machine, " (commit ", commit_of(rows), ", ", rows$date, ")"))
  table <- c(
    head_text(names(cells)),
    vapply(seq_len(nrow(cells)), function(i) do.call(row_text, unname(as.list(cells[i, ]))), ""),
    paste0(
      "\nMedians, from correlation matrix to `pcAlgo` object. Measured on ",
      paste(runs(rows), collapse = "; "),
      " with ",
      rows$peer[1L],
      " ",
      rows$peer_version[1L],
      ", and on ",
      paste(runs(gpu), collapse = "; "),
      ".\n"
    )
  )
  begin <- match("<!-- results: headline -->", lines)
  end <- match("<!-- end of results -->", lines)
  if (is.na(begin) || is.na(end)) {
    stop("README.md lacks the lines of comment around its table", call. = FALSE)
  }
  c(lines[seq_len(begin)], strsplit(paste(table, collapse = ""), "\n")[[1L]], lines[-seq_len(end - 1L)])
}

# --- vignettes ---

# Returns the value of a field of a row.
figure_of <- function(row, field) {
  if (field == "ratio") {
    return(ratio_of(row))
  }
  if (field == "gain") {
    one <- results[
      results$suite == row$suite & results$case == row$case & results$commit == row$commit & results$gpus == "1",
    ]
    return(one$least[1L] / row$least)
  }
  if (!field %in% names(row)) {
    stop("no field ", field, call. = FALSE)
  }
  value(row[[field]])
}

# Returns what an entry of a comment claims that is not in `lines`.
faults_of_entry <- function(entry, lines) {
  parts <- trimws(strsplit(entry, "|", fixed = TRUE)[[1L]])
  if (length(parts) != 3L) {
    return(paste("not SUITE/CASE | COLUMN=VALUE | FIELD:", entry))
  }
  suite <- sub("/.*", "", parts[1L])
  case <- sub("^[^/]*/", "", parts[1L])
  rows <- if (suite == "recovered") transform(recovered, case = network, suite = "recovered") else results
  rows <- rows[rows$suite == suite, ]
  for (condition in strsplit(parts[2L], ", (?=[a-z_]+!?=)", perl = TRUE)[[1L]]) {
    is_equal <- rows[[sub("!?=.*", "", condition)]] == sub("^[^=]*=", "", condition)
    rows <- rows[if (grepl("!=", condition, fixed = TRUE)) !is_equal else is_equal, ]
  }
  cells <- lapply(lines, function(line) trimws(strsplit(line, "|", fixed = TRUE)[[1L]][-1L]))
  in_table <- startsWith(lines, "|") & !grepl("^\\|[-| ]*$", lines)
  todo <- if (grepl("*", case, fixed = TRUE)) {
    lapply(which(in_table)[-1L], function(i) {
      list(case = sub("*", cells[[i]][1L], case, fixed = TRUE), text = cells[[i]])
    })
  } else {
    list(list(case = case, text = lines))
  }
  unlist(lapply(todo, function(one) {
    of_case <- rows[rows$case == one$case, ]
    if (!nrow(of_case)) {
      return(paste("no row", suite, "/", one$case, "|", parts[2L]))
    }
    row <- of_case[order(of_case$date, decreasing = TRUE)[1L], ]
    unlist(lapply(strsplit(parts[3L], " +")[[1L]], function(field) {
      shown <- number(figure_of(row, field))
      pattern <- paste0("(?<![0-9.,])", gsub(".", "\\.", shown, fixed = TRUE), "(?![0-9]|[.,][0-9])")
      if (!any(grepl(pattern, one$text, perl = TRUE))) {
        paste0(suite, "/", one$case, " has ", field, " ", shown, ", which does not stand there")
      }
    }))
  }))
}

faults_of_vignette <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  unlist(lapply(grep("^<!-- measured:", lines), function(at) {
    end <- at - 1L + grep("-->", lines[at:length(lines)], fixed = TRUE)[1L]
    comment <- sub("-->.*", "", sub("^<!-- measured:", "", paste(lines[at:end], collapse = " ")))
    # The paragraph or table before it.
    last <- at - 1L
    while (last > 0L && !nzchar(lines[last])) {
      last <- last - 1L
    }
    first <- last
    while (first > 1L && nzchar(lines[first - 1L])) {
      first <- first - 1L
    }
    found <- unlist(lapply(
      trimws(strsplit(comment, ";", fixed = TRUE)[[1L]]),
      faults_of_entry,
      lines = lines[first:last]
    ))
    if (length(found)) paste0(file, ":", at, ": ", found)
  }))
}

# --- what is written, or compared ---

source(file.path(here, "release-page.R"))
pages <- list(RESULTS.md = page(), RELEASE.md = release_page())
readme <- file.path(root, "README.md")
readme_lines <- with_headline(readLines(readme))
vignettes <- list.files(file.path(root, "vignettes"), "[.]Rmd$", full.names = TRUE, recursive = TRUE)
faults <- unlist(lapply(vignettes, faults_of_vignette))
size <- sum(nchar(pages$RESULTS.md, "bytes") + 1)
if (size > 20480) {
  faults <- c(faults, sprintf("RESULTS.md has %d bytes, more than 20 KB", size))
}
if (check_only) {
  for (name in names(pages)) {
    file <- file.path(here, name)
    if (!file.exists(file) || !identical(readLines(file), pages[[name]])) {
      faults <- c(faults, paste(name, "is not what the files say: run Rscript bench/report.R"))
    }
  }
  if (!identical(readLines(readme), readme_lines)) {
    faults <- c(faults, "README.md's table is not what results.csv says: run Rscript bench/report.R")
  }
} else {
  for (name in names(pages)) {
    writeLines(pages[[name]], file.path(here, name))
  }
  writeLines(readme_lines, readme)
  source(file.path(here, "report-pictures.R"))
  draw_speed()
  draw_growth()
  draw_gpus()
  draw_memory()
  # They are four times as large without.
  if (nzchar(Sys.which("pngquant"))) {
    for (name in c("speed", "growth", "gpus", "memory")) {
      system2("pngquant", c("--force", "--ext=.png", "64", shQuote(file.path(here, paste0(name, ".png")))))
    }
  }
}
if (length(faults)) {
  writeLines(sub(paste0(root, "/"), "", faults, fixed = TRUE))
  quit(status = 1)
}

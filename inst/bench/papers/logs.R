# Reads what run.sh wrote: table.R and pictures.R source it.

# The runs of a folder of logs: a row each with paper, item, problem, way (strategy or the like), minimum and median of its repeats after the first in seconds, the
# number of tests, distance or per cent that it tells of (`count`), its tests by level (`tests`), and shares of time by level (`began`: milliseconds at which levels began, and at
# which all ended). key: PAPER/LOG#WAY.
read_runs <- function(out) {
  files <- list.files(out, "[.]log$", full.names = TRUE, recursive = TRUE)
  runs <- do.call(rbind, lapply(files, read_log))
  if (is.null(runs)) stop("no runs in ", out)
  runs
}

read_log <- function(file) {
  lines <- readLines(file, warn = FALSE)
  program <- sub("^# ([a-z_]+).*", "\\1", lines[1L])
  found <- switch(program, search_times = of_searches(lines), discrete_cuda = of_discrete(lines), knn_cuda = of_neighbours(lines),
                  knn_graphs = of_graphs(lines), selection = of_selections(lines), end_to_end = of_calls(lines))
  if (is.null(found)) return(NULL)
  log <- sub("[.]log$", "", basename(file))
  parts <- strsplit(log, "--", fixed = TRUE)[[1L]]
  data.frame(paper = basename(dirname(file)), item = parts[1L], problem = paste(parts[-1L], collapse = " "), found,
             key = paste0(basename(dirname(file)), "/", log, "#", found$way))
}

# The parts of ways that colons separate, `count` of each, as a matrix; of no ways without rows.
cells_of <- function(ways, count) matrix(as.character(unlist(strsplit(as.character(ways), ":", fixed = TRUE))), ncol = count, byrow = TRUE)

# Structural Hamming distances by graph and k, of graphs that have all; none where they were not run.
distances_of <- function(runs) {
  quality <- runs[grepl("^quality:", runs$way), ]
  if (!nrow(quality)) return(NULL)
  cells <- do.call(rbind, strsplit(quality$way, ":", fixed = TRUE))
  distance <- tapply(quality$count, list(cells[, 3L], as.integer(cells[, 4L])), identity)
  distance[stats::complete.cases(distance), , drop = FALSE]
}

# What knn_graphs left out: by key, the seconds that it would take by the time of single tests.
read_estimates <- function(out) {
  files <- list.files(out, "[.]log$", full.names = TRUE, recursive = TRUE)
  unlist(lapply(files, function(file) {
    cells <- strsplit(grep("^leftout,", readLines(file, warn = FALSE), value = TRUE), ",", fixed = TRUE)
    keys <- vapply(cells, function(cell) paste(cell[2:5], collapse = ":"), "")
    keys <- if (length(keys)) paste0(basename(dirname(file)), "/", sub("[.]log$", "", basename(file)), "#", keys)
    stats::setNames(vapply(cells, function(cell) as.double(cell[6L]), 0), keys)
  }))
}

run_row <- function(way, minimum, median = minimum, began = "", count = NA_real_, tests = "") {
  data.frame(way = way, minimum = minimum, median = median, began = began, count = count, tests = tests)
}
bind <- function(rows) do.call(rbind, rows)

# Milliseconds of a line of clocks: when levels began, and the end.
clock <- function(line) {
  paste(sub("^.*levels began at *", "", line), sub("^[^0-9]*([0-9.]+) ms.*", "\\1", line))
}

of_searches <- function(lines) {
  # Standard error is not buffered and standard output by line: a search's clocks come before its line.
  at <- grep("^pcgpu,", lines)
  clocks <- grep("ms, levels began at", lines)
  rows <- lapply(at, function(i) {
    cells <- strsplit(lines[i], ",", fixed = TRUE)[[1L]]
    before <- max(clocks[clocks < i], -Inf)
    tests <- gsub("[^0-9 ]", "", grep("^# tests by level", lines[-seq_len(i)], value = TRUE)[1L])
    run_row(sub("^[^ ]+ ", "", cells[4L]), as.double(cells[10L]), as.double(cells[11L]), if (is.finite(before)) clock(lines[before]) else "", tests = trimws(tests))
  })
  whole <- grep("^ratio,", lines, value = TRUE)
  whole <- lapply(whole, function(line) run_row("whole", as.double(sub("^[^ ]+ ", "", strsplit(line, ",", fixed = TRUE)[[1L]][3L]))))
  # Of the sets that several rows have: per cent that 40 at most have.
  redundant <- lapply(grep("^redundant,", lines, value = TRUE), function(line) {
    sets <- sets_by_rows(line)
    several <- sets$rows > 1L
    run_row("redundant", NA_real_, count = 100 * sum(sets$sets[several & sets$rows <= 40L]) / sum(sets$sets[several]))
  })
  # A strategy that comes twice was run once more for having opened the card.
  found <- bind(c(rows, whole, redundant))
  found[!duplicated(found$way, fromLast = TRUE), ]
}

# In how many rows sets are tested, of a line `redundant,NAME,ROWS:SETS ...`.
sets_by_rows <- function(line) {
  cells <- cells_of(strsplit(sub("^redundant,[^,]*,", "", line), " ", fixed = TRUE)[[1L]], 2L)
  data.frame(rows = as.integer(cells[, 1L]), sets = as.double(cells[, 2L]))
}

# That of a run of figure 9; NULL where it was not run.
read_sets <- function(out, problem) {
  file <- file.path(out, "cupc", paste0("figure-9--", problem, ".log"))
  line <- if (file.exists(file)) grep("^redundant,", readLines(file, warn = FALSE), value = TRUE)
  if (length(line)) sets_by_rows(line[1L])
}

of_discrete <- function(lines) {
  at <- grep("^strategy ", lines)
  rows <- lapply(seq_along(at), function(i) {
    part <- lines[at[i]:(c(at, length(lines) + 1L)[i + 1L] - 1L)]
    clocks <- grep("ms, levels began at", part, value = TRUE)
    if (!length(clocks)) return(NULL)
    seconds <- as.double(sub("^ *([0-9.]+) ms.*", "\\1", clocks)) / 1000
    # The first makes things ready, unless it is the only one.
    if (length(seconds) > 1L) seconds <- seconds[-1L]
    run_row(sub("^strategy ", "", lines[at[i]]), min(seconds), stats::median(seconds), clock(clocks[length(clocks)]))
  })
  found <- bind(rows)
  found[!duplicated(found$way, fromLast = TRUE), ]
}

of_neighbours <- function(lines) {
  tests <- grep("^n [0-9]+ [|]S[|]", lines, value = TRUE)
  rows <- lapply(tests, function(line) {
    shape <- gsub(" ", ":", sub("^n ([0-9]+) [|]S[|] ([0-9]+) k ([0-9]+) permutations ([0-9]+):.*", "\\1 \\2 \\3 \\4", line))
    hits <- regmatches(line, gregexpr("(shared|alone|parallel|single|CPU) [0-9.]+ ms( [0-9.]+ to [0-9.]+)?", line))[[1L]]
    bind(lapply(strsplit(hits, " "), function(hit) {
      # With percentiles 5 and 95 where tests are asked one by one.
      ways <- c(paste0(shape, ":", hit[1L]), if (length(hit) > 3L) paste0(shape, ":", hit[1L], c(":5", ":95")))
      bind(Map(run_row, ways, as.double(hit[c(2L, if (length(hit) > 3L) c(4L, 6L))]) / 1000))
    }))
  })
  search <- grep("permutations, alpha .*: [0-9.]+ s,", lines, value = TRUE)
  rows <- c(rows, lapply(search, function(line) run_row("search", as.double(sub(".*: ([0-9.]+) s,.*", "\\1", line)))))
  found <- bind(rows)
  found[!duplicated(found$way, fromLast = TRUE), ]
}

of_graphs <- function(lines) {
  cells <- strsplit(grep("^(knn|quality),", lines, value = TRUE), ",", fixed = TRUE)
  bind(lapply(cells, function(cell) {
    if (cell[1L] == "knn") return(run_row(paste(cell[2:5], collapse = ":"), as.double(cell[6L]), count = as.double(cell[7L])))
    run_row(paste(c("quality", cell[2:4]), collapse = ":"), NA_real_, count = as.double(cell[5L]))
  }))
}

of_calls <- function(lines) {
  cells <- strsplit(grep("^(process|first|warm|orient),", lines, value = TRUE), ",", fixed = TRUE)
  what <- vapply(cells, `[`, "", 1L)
  bind(lapply(unique(what), function(of) {
    seconds <- as.double(unlist(strsplit(vapply(cells[what == of], `[`, "", 3L), " ", fixed = TRUE)))
    run_row(of, min(seconds), stats::median(seconds))
  }))
}

of_selections <- function(lines) {
  names <- c("GPU, resident" = "resident", "GPU, joined" = "joined", "GPUs " = "cards", "CPU, " = "cpu")
  bind(lapply(grep("s [(]min / median", lines, value = TRUE), function(line) {
    seconds <- as.double(strsplit(sub("^[^:]*: ([0-9.]+) / ([0-9.]+) s.*", "\\1 \\2", line), " ")[[1L]])
    run_row(names[[which(startsWith(line, names(names)))]], seconds[1L], seconds[2L])
  }))
}

# Share of its time that a run spent at levels from `from` to `to`, of the text in `began`.
share_of_levels <- function(began, from, to) {
  at <- as.double(strsplit(began, " ", fixed = TRUE)[[1L]])
  # The last is the end.
  levels <- length(at) - 1L
  if (from >= levels) return(0)
  (at[min(to + 2L, levels + 1L)] - at[from + 1L]) / at[levels + 1L]
}

# Likewise of its tests, of the text in `tests`.
share_of_tests <- function(tests, from, to) {
  counts <- as.double(strsplit(tests, " ", fixed = TRUE)[[1L]])
  sum(counts[seq_along(counts) > from & seq_along(counts) <= to + 1L]) / sum(counts)
}

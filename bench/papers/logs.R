# Reads what run.sh wrote: table.R and pictures.R source it.

# Returns the runs of a folder of logs in the form of runs.csv (runs.R), with a row for each. It has paper, log and way
# (strategy or the like), and minimum and median of the repeats after the first in seconds. `count` is the distance, per
# cent or number of tests that the run reports. It also has tests by level (`tests`), shares of time by level
# (`began`: milliseconds at which levels began, and at which all ended), and figure 9's sets by rows (`rows`). If a run
# was left out, it has the seconds that it would take (`would_take`) and those that were allowed (`limit`). A row
# without a way describes the whole log: how it ended if its time did not suffice, and the machine that made it.
read_logs <- function(out) {
  files <- list.files(out, "[.]log$", full.names = TRUE, recursive = TRUE)
  if (!length(files)) {
    stop("no logs in ", out)
  }
  bind(lapply(files, read_log))
}

read_log <- function(file) {
  lines <- readLines(file, warn = FALSE)
  paper <- basename(dirname(file))
  log <- sub("[.]log$", "", basename(file))
  program <- sub("^# ([a-z_]+).*", "\\1", lines[1L])
  found <- switch(
    program,
    search_times = of_searches(lines),
    discrete_cuda = of_discrete(lines),
    knn_cuda = of_neighbours(lines),
    knn_graphs = bind(list(of_graphs(lines), of_left_out(lines))),
    selection = of_selections(lines),
    end_to_end = of_calls(lines),
    sm_efficiency = of_profile(lines)
  )
  # Returns a value from the lines before the program's output.
  reported <- function(what) {
    hit <- grep(paste0("^# ", what, ": "), utils::head(lines, 6L), value = TRUE)
    if (length(hit)) sub("^[^:]*: ", "", hit[1L]) else ""
  }
  whole <- run_row("", NA_real_)
  # The reason why it did not end is in a file next to it.
  left_out <- sub("[.]log$", ".left-out", file)
  whole$ended <- if (file.exists(left_out)) readLines(left_out)[1L] else ""
  for (what in c("machine", "processor", "cores", "commit", "packed")) {
    whole[[what]] <- reported(what)
  }
  data.frame(paper = paper, log = log, bind(list(whole, found)))
}

# Returns the parts of ways that colons separate, `count` of each, as a matrix; without rows if there are no ways.
cells_of <- function(ways, count) {
  matrix(as.character(unlist(strsplit(as.character(ways), ":", fixed = TRUE))), ncol = count, byrow = TRUE)
}

# Returns structural Hamming distances by graph and k, of graphs that have all; none if they were not run.
distances_of <- function(runs) {
  quality <- runs[grepl("^quality:", runs$way), ]
  if (!nrow(quality)) {
    return(NULL)
  }
  cells <- do.call(rbind, strsplit(quality$way, ":", fixed = TRUE))
  distance <- tapply(quality$count, list(cells[, 3L], as.integer(cells[, 4L])), identity)
  distance[stats::complete.cases(distance), , drop = FALSE]
}

run_row <- function(
  way,
  minimum,
  median = minimum,
  began = "",
  count = NA_real_,
  tests = "",
  rows = "",
  would_take = NA_real_,
  limit = NA_real_
) {
  data.frame(
    way = way,
    minimum = minimum,
    median = median,
    count = count,
    tests = tests,
    began = began,
    rows = rows,
    would_take = would_take,
    limit = limit,
    ended = "",
    machine = "",
    processor = "",
    cores = "",
    commit = "",
    packed = ""
  )
}
bind <- function(rows) do.call(rbind, rows)

# Returns the milliseconds of a line of clocks: when levels began, and the end. Devices, as `cuda:0+1`, have digits,
# too.
clock <- function(line) {
  paste(sub("^.*levels began at *", "", line), sub("^(.*[^0-9.])?([0-9.]+) ms, levels.*", "\\2", line))
}

of_searches <- function(lines) {
  # Standard error is not buffered and standard output by line: a search's clocks come before its line.
  at <- grep("^pcgpu,", lines)
  clocks <- grep("ms, levels began at", lines)
  rows <- lapply(at, function(i) {
    cells <- strsplit(lines[i], ",", fixed = TRUE)[[1L]]
    before <- max(clocks[clocks < i], -Inf)
    tests <- gsub("[^0-9 ]", "", grep("^# tests by level", lines[-seq_len(i)], value = TRUE)[1L])
    # For several GPUs, as cuda:0+1, the way has their number.
    device <- sub(" .*", "", cells[4L])
    several <- if (grepl("+", device, fixed = TRUE)) paste(1L + nchar(gsub("[^+]", "", device)), "cards ") else ""
    run_row(
      paste0(several, sub("^[^ ]+ ", "", cells[4L])),
      as.double(cells[10L]),
      as.double(cells[11L]),
      if (is.finite(before)) clock(lines[before]) else "",
      tests = trimws(tests)
    )
  })
  whole <- grep("^ratio,", lines, value = TRUE)
  whole <- lapply(whole, function(line) {
    run_row("whole", as.double(sub("^[^ ]+ ", "", strsplit(line, ",", fixed = TRUE)[[1L]][3L])))
  })
  # Of the sets that several rows have: per cent that 40 at most have. `rows`: how many sets one row has, 2 to 9 rows
  # have, 10 to 19, and so on; the last are 100 and more.
  redundant <- lapply(grep("^redundant,", lines, value = TRUE), function(line) {
    sets <- sets_by_rows(line)
    several <- sets$rows > 1L
    bin <- factor(ifelse(several, pmin(sets$rows %/% 10L, 10L), -1L), -1:10)
    run_row(
      "redundant",
      NA_real_,
      count = 100 * sum(sets$sets[several & sets$rows <= 40L]) / sum(sets$sets[several]),
      rows = paste(sprintf("%.0f", tapply(sets$sets, bin, sum, default = 0)), collapse = " ")
    )
  })
  # A strategy that comes twice was run again, because its first run opened the GPU.
  found <- bind(c(rows, whole, redundant))
  found[!duplicated(found$way, fromLast = TRUE), ]
}

# Returns in how many rows sets are tested, from a line `redundant,NAME,ROWS:SETS ...`.
sets_by_rows <- function(line) {
  cells <- cells_of(strsplit(sub("^redundant,[^,]*,", "", line), " ", fixed = TRUE)[[1L]], 2L)
  data.frame(rows = as.integer(cells[, 1L]), sets = as.double(cells[, 2L]))
}

of_discrete <- function(lines) {
  at <- grep("^strategy ", lines)
  rows <- lapply(seq_along(at), function(i) {
    part <- lines[at[i]:(c(at, length(lines) + 1L)[i + 1L] - 1L)]
    clocks <- grep("ms, levels began at", part, value = TRUE)
    if (!length(clocks)) {
      return(NULL)
    }
    seconds <- as.double(sub("^ *([0-9.]+) ms.*", "\\1", clocks)) / 1000
    # The first makes things ready, unless it is the only one.
    if (length(seconds) > 1L) {
      seconds <- seconds[-1L]
    }
    run_row(sub("^strategy ", "", lines[at[i]]), min(seconds), stats::median(seconds), clock(clocks[length(clocks)]))
  })
  found <- bind(rows)
  found[!duplicated(found$way, fromLast = TRUE), ]
}

of_neighbours <- function(lines) {
  tests <- grep("^n [0-9]+ [|]S[|]", lines, value = TRUE)
  rows <- lapply(tests, function(line) {
    shape <- gsub(
      " ",
      ":",
      sub("^n ([0-9]+) [|]S[|] ([0-9]+) k ([0-9]+) permutations ([0-9]+):.*", "\\1 \\2 \\3 \\4", line)
    )
    hits <- regmatches(
      line,
      gregexpr("(shared|alone|parallel|single|CPU) [0-9.]+ ms( [0-9.]+ to [0-9.]+)?( [(]of [0-9]+[)])?", line)
    )[[1L]]
    # As many tests were asked.
    tests <- as.double(ifelse(grepl("[(]of", hits), gsub("^.*[(]of |[)]$", "", hits), NA))
    hits <- strsplit(sub(" [(]of.*", "", hits), " ", fixed = TRUE)
    bind(Map(
      function(hit, tests) {
        # With percentiles 5 and 95 where tests are asked one by one.
        ways <- c(paste0(shape, ":", hit[1L]), if (length(hit) > 3L) paste0(shape, ":", hit[1L], c(":5", ":95")))
        bind(Map(
          function(way, ms) run_row(way, ms / 1000, count = tests),
          ways,
          as.double(hit[c(2L, if (length(hit) > 3L) c(4L, 6L))])
        ))
      },
      hits,
      tests
    ))
  })
  search <- grep("permutations, alpha .*: [0-9.]+ s,", lines, value = TRUE)
  rows <- c(rows, lapply(search, function(line) run_row("search", as.double(sub(".*: ([0-9.]+) s,.*", "\\1", line)))))
  found <- bind(rows)
  found[!duplicated(found$way, fromLast = TRUE), ]
}

of_graphs <- function(lines) {
  cells <- strsplit(grep("^(knn|quality),", lines, value = TRUE), ",", fixed = TRUE)
  bind(lapply(cells, function(cell) {
    if (cell[1L] == "knn") {
      return(run_row(paste(cell[2:5], collapse = ":"), as.double(cell[6L]), count = as.double(cell[7L])))
    }
    run_row(paste(c("quality", cell[2:4]), collapse = ":"), NA_real_, count = as.double(cell[5L]))
  }))
}

# Returns the value of a word NAME=VALUE of a call, or NA if it has none.
option_of <- function(call, name) {
  words <- strsplit(call, " ", fixed = TRUE)[[1L]]
  sub("^[^=]*=", "", words[startsWith(words, paste0(name, "="))])[1L]
}

# Returns the single tests that reported that they would take longer than is allowed.
of_left_out <- function(lines) {
  cells <- strsplit(grep("^leftout,", lines, value = TRUE), ",", fixed = TRUE)
  limit <- as.double(option_of(lines[1L], "limit"))
  bind(lapply(cells, function(cell) {
    run_row(paste(cell[2:5], collapse = ":"), NA_real_, would_take = as.double(cell[6L]), limit = limit)
  }))
}

of_calls <- function(lines) {
  counts <- strsplit(grep("^counts,", lines, value = TRUE), ",", fixed = TRUE)
  if (length(counts)) {
    return(run_row("cpu", NA_real_, tests = counts[[1L]][3L]))
  }
  cells <- strsplit(grep("^(process|first|warm|orient),", lines, value = TRUE), ",", fixed = TRUE)
  what <- vapply(cells, `[`, "", 1L)
  bind(lapply(unique(what), function(of) {
    seconds <- as.double(unlist(strsplit(vapply(cells[what == of], `[`, "", 3L), " ", fixed = TRUE)))
    run_row(of, min(seconds), stats::median(seconds))
  }))
}

of_selections <- function(lines) {
  names <- c("GPU, resident" = "resident", "GPU, joined" = "joined", "CPU, " = "cpu")
  bind(lapply(grep("s [(]min / median", lines, value = TRUE), function(line) {
    seconds <- as.double(strsplit(sub("^[^:]*: ([0-9.]+) / ([0-9.]+) s.*", "\\1 \\2", line), " ")[[1L]])
    # For several GPUs, as `GPUs 0,1`, the way is their number.
    is_of_cards <- startsWith(line, "GPUs ")
    way <- if (is_of_cards) {
      paste(1L + nchar(gsub("[^,]", "", sub(":.*", "", line))), "cards")
    } else {
      names[[which(startsWith(line, names(names)))]]
    }
    run_row(way, seconds[1L], seconds[2L])
  }))
}

# Returns the per cent that Nsight Compute has for the kernel of the level that the call names, launches weighted by
# their time, and all its seconds.
of_profile <- function(lines) {
  csv <- grep("^\"", lines, value = TRUE)
  if (length(csv) < 3L) {
    return(NULL)
  }
  launches <- utils::read.csv(text = csv, check.names = FALSE, colClasses = "character")[-1L, ]
  numbers <- function(name) as.double(gsub(",", "", launches[[grep(name, names(launches), fixed = TRUE)[1L]]]))
  kernel <- sub("[(].*", "", launches[["Kernel Name"]])
  # The kernels that test. Others copy lists, settle pairs and so on.
  level <- strsplit(lines[1L], " ", fixed = TRUE)[[1L]][4L]
  of_tests <- list(
    `0` = c("marginal", "gpucsl_marginal"),
    `1` = c("single", "mask_tiles", "mask_rest", "column_first", "column_second", "gpucsl_single")
  )
  these <- kernel %in% of_tests[[level]]
  nanoseconds <- numbers("gpu__time_duration.sum")
  if (!any(these)) {
    return(NULL)
  }
  per_cent <- stats::weighted.mean(numbers("sm__cycles_active")[these], nanoseconds[these])
  bind(list(run_row("busy", NA_real_, count = per_cent), run_row("kernel", sum(nanoseconds[these]) / 1e9)))
}

# Returns the milliseconds that a run spent at levels from `from` to `to`, from the text in `began`. The time of the
# transfer of results belongs to the last level.
ms_of_levels <- function(began, from, to) {
  at <- as.double(strsplit(began, " ", fixed = TRUE)[[1L]])
  # The last is the end.
  levels <- length(at) - 1L
  if (from >= levels) {
    return(0)
  }
  at[min(to + 2L, levels + 1L)] - at[from + 1L]
}

# Returns the same as a share of the run's time.
share_of_levels <- function(began, from, to) ms_of_levels(began, from, to) / as.double(sub(".* ", "", began))

# Returns the same share of its tests, from the text in `tests`.
share_of_tests <- function(tests, from, to) {
  counts <- as.double(strsplit(tests, " ", fixed = TRUE)[[1L]])
  sum(counts[seq_along(counts) > from & seq_along(counts) <= to + 1L]) / sum(counts)
}

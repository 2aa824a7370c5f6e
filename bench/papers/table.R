# Makes bench/PAPERS.md and bench/papers/figures from the runs that are kept: Rscript table.R [OUT]. OUT is the folder
# that run.sh wrote. Its logs first replace those of the same name in runs.csv, or are added. The page, which is not in
# git, has a row for each published number (published.csv).
#
# authors.csv has times of the authors' own programs, which were built outside the repository.
#
# Columns of published.csv: paper, item (table or figure), data, what; hardware, value, unit; runs; and why a run is
# missing or unlike theirs. The runs are PAPER/LOG#WAY, as logs.R reads them: theirs (their mapping on our GPU), ours,
# and, for ratios, base and ours_base. Units:
# - s;
# - x, times as fast as `base`; a way `edge:*` of it is the range over all such;
# - x:0 and x:1, times as fast as `base` at that level, from the times at which levels began;
# - `x over ...`, times as fast as something that was not run here, with seconds next to it;
# - %:0, %:1 and %:2, per cent of the time spent at level 0, at level 1, at levels 2 to 5; %tests:0 and so on, of the
#   tests;
# - tests, their number;
# - `%:told`, per cent that the run itself reports.
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(dirname(here), "program.R"))
source(file.path(here, "logs.R"))
source(file.path(here, "runs.R"))
source(file.path(here, "notes.R"))
# Names with accents are written as they are.
invisible(Sys.setlocale("LC_CTYPE", "C.UTF-8"))
page_file <- file.path(dirname(here), "PAPERS.md")
all_runs <- read_runs(file.path(here, "runs.csv"))
if (length(args)) {
  all_runs <- replaced_by(all_runs, read_logs(args[1L]))
  write_runs(all_runs, file.path(here, "runs.csv"))
}
all_runs$name <- paste(all_runs$paper, all_runs$log, sep = "/")
all_runs$key <- paste(all_runs$name, all_runs$way, sep = "#")
# Logs, runs, and what was left out of them.
logs <- all_runs[!nzchar(all_runs$way), ]
runs <- all_runs[nzchar(all_runs$way) & is.na(all_runs$would_take), ]
left_out <- all_runs[!is.na(all_runs$would_take), ]
published <- utils::read.csv(file.path(here, "published.csv"), colClasses = "character", encoding = "UTF-8")

log_of <- function(key) sub("#.*", "", key)
keys_in <- function(keys) keys[nzchar(keys)]
# Returns whether the logs of all of these runs were read. A log may lack a run that did not end.
are_read <- function(keys) {
  keys <- keys_in(keys)
  length(keys) > 0L && all(log_of(keys) %in% logs$name)
}

run_of <- function(key) {
  found <- runs[match(key, runs$key, nomatch = 0L), ]
  if (nrow(found)) found else NULL
}
median_of <- function(key) if (is.null(run <- run_of(key))) NA_real_ else run$median
medians_like <- function(key) runs$median[startsWith(runs$key, sub("[*]$", "", key))]

seconds_text <- function(key) {
  run <- run_of(key)
  if (is.null(run)) {
    ""
  } else if (run$minimum == run$median) {
    number(run$median)
  } else {
    paste(number(run$minimum), "/", number(run$median))
  }
}
ratio_text <- function(a, b) if (is.na(a) || is.na(b)) "" else number(a / b)
# Formats a ratio: the run, and what it is as fast as. Several ratios give their range.
times_text <- function(key, base) {
  base <- median_of(base)
  if (!isTRUE(base > 0) || !nzchar(key)) {
    return("")
  }
  of <- if (endsWith(key, "*")) medians_like(key) else median_of(key)
  of <- of[which(of > 0)]
  if (!length(of)) "" else paste(number(unique(range(base / of))), collapse = " to ")
}
# Formats the ratio of one level.
times_at_level_text <- function(key, base, level) {
  ms <- vapply(
    c(base, key),
    function(key) {
      if (is.null(run <- run_of(key)) || !nzchar(run$began)) NA_real_ else ms_of_levels(run$began, level, level)
    },
    0
  )
  ratio_text(ms[1L], ms[2L])
}
share_text <- function(key, unit) {
  run <- run_of(key)
  if (is.null(run)) {
    return("")
  }
  if (unit == "%:told") {
    return(paste(number(run$count), "%"))
  }
  levels <- switch(sub(".*:", "", unit), `0` = c(0L, 0L), `1` = c(1L, 1L), `2` = c(2L, 5L))
  is_of_tests <- startsWith(unit, "%tests")
  if (is.null(levels) || !nzchar(if (is_of_tests) run$tests else run$began)) {
    return("")
  }
  share <- if (is_of_tests) {
    share_of_tests(run$tests, levels[1L], levels[2L])
  } else {
    share_of_levels(run$began, levels[1L], levels[2L])
  }
  paste(number(100 * share), "%")
}
count_text <- function(key) {
  run <- run_of(key)
  if (is.null(run)) "" else format(sum(as.double(strsplit(run$tests, " ", fixed = TRUE)[[1L]])), big.mark = ",")
}
# Returns the last number of a cell, which is the median if it has two.
number_of <- function(cell) suppressWarnings(as.double(gsub(",", "", sub("^.* / ", "", cell))))

shows_seconds <- function(unit) unit == "s" | startsWith(unit, "x ")

# The ratio of a GPU of ours to that of a row, or to those: the larger of memory bandwidth and single precision; NA for
# a CPU.
cards <- utils::read.csv(file.path(here, "cards.csv"), colClasses = "character")
figures_of <- function(pattern) {
  card <- grep(pattern, cards$card)[1L]
  as.double(gsub(",", "", c(cards$bandwidth[card], cards$single[card])))
}
# Returns how much more our GPUs have than the published ones of what limits them. `ours`: the run.
more_of_card <- function(hardware, ours) {
  pattern <- regmatches(hardware, regexpr("GTX 1080|V100|Titan X|A40|K20m|K40c|M60", hardware))
  machine <- logs$machine[match(log_of(ours), logs$name)]
  own <- regmatches(machine, regexpr("H100|H200", machine))
  if (!length(pattern) || !length(own)) {
    return(NA_real_)
  }
  several <- if (grepl("^[0-9] ", hardware)) as.double(substr(hardware, 1L, 1L)) else 1
  own_cards <- if (grepl("#[2-9] cards", ours)) as.double(sub("^.*#([2-9]) cards.*$", "\\1", ours)) else 1
  max(own_cards * figures_of(own) / (several * figures_of(pattern)))
}

# Returns published seconds without the compilation that the same table lists separately. Also returns how many times
# our seconds they are, at the first call and at later ones.
without_compilation <- function(row, value, ours, later) {
  of_row <- published[
    published$paper == row$paper &
      published$item == sub("end to end", "compilation", row$item) &
      published$data == row$data &
      published$what == row$what,
  ]
  if (!grepl("end to end$", row$item) || !nrow(of_row)) {
    return(NULL)
  }
  value <- value - as.double(of_row$value)
  paste0(
    "published without compilation ",
    number(value),
    " s",
    if (!grepl("surrogate", row$reason)) {
      sprintf(", %s times ours and %s times a later call", number(value / ours), number(value / later))
    }
  )
}

row_of <- function(row) {
  value <- suppressWarnings(as.double(row$value))
  shown <- if (is.na(value)) row$value else format(value, big.mark = ",", digits = 10)
  is_of_seconds <- shows_seconds(row$unit)
  is_ratio <- row$unit %in% c("x", "x:0", "x:1")
  unit <- if (is_ratio && nzchar(shown)) {
    " x"
  } else if (startsWith(row$unit, "%")) {
    " %"
  } else if (grepl("^x ", row$unit)) {
    paste0(" ", row$unit)
  } else {
    ""
  }
  has_theirs <- are_read(c(row$theirs, if (is_ratio) row$base))
  has_ours <- are_read(c(row$ours, if (is_ratio) row$ours_base))
  cell <- function(key, base, is_read) {
    if (!is_read) {
      return("")
    }
    switch(
      sub("[ :].*", "", row$unit),
      x = if (row$unit == "x") {
        times_text(key, base)
      } else if (is_ratio) {
        times_at_level_text(key, base, as.integer(sub("x:", "", row$unit)))
      } else {
        seconds_text(key)
      },
      `%` = ,
      `%tests` = share_text(key, row$unit),
      tests = count_text(key),
      seconds_text(key)
    )
  }
  theirs <- cell(row$theirs, row$base, has_theirs)
  ours <- cell(row$ours, row$ours_base, has_ours)
  is_surrogate <- grepl("surrogate", row$reason)
  seconds <- function(key, cell) {
    if (are_read(key)) {
      median_of(key)
    } else if (is_of_seconds) {
      number_of(cell)
    } else {
      NA_real_
    }
  }
  ours_s <- seconds(row$ours, ours)
  gain <- if (row$unit != "s" || is_surrogate) "" else ratio_text(value, ours_s)
  over <- if (startsWith(row$unit, "%") || row$unit == "tests") {
    ""
  } else {
    ratio_text(seconds(row$theirs, theirs), ours_s)
  }

  # Remarks on numbers that are computed from runs.
  batch <- if (endsWith(row$ours, ":alone")) run_of(sub("alone$", "shared", row$ours))
  later <- if (endsWith(row$ours, "#first")) run_of(sub("first$", "warm", row$ours))
  # GPUs take no part in orientation.
  on_card <- row$unit == "s" && !is_surrogate && !endsWith(row$ours, "#orient")
  more <- if (on_card && has_ours) more_of_card(row$hardware, row$ours) else NA_real_
  of_theirs <- if (has_theirs && row$unit == "s" && isTRUE(median_of(row$theirs) > value)) "slower here than published"
  of_ours <- c(
    if (has_ours && isTRUE(value / ours_s < more)) {
      sprintf("ours gains less than the hardware (%s times)", number(more))
    },
    if (!is.null(batch)) sprintf("ours in a batch: %s (%.0f tests)", number(batch$median), batch$count),
    if (!is.null(later)) paste("later calls of a process:", number(later$minimum), "/", number(later$median))
  )
  later_s <- number_of(sub("^.*later calls of a process: ([^;]*).*$", "\\1", paste(of_ours, collapse = "; ")))
  # Runs without a result, or without a log.
  wanted <- unique(keys_in(c(row$theirs, row$ours, row$base, row$ours_base)))
  wanted <- wanted[!endsWith(wanted, "*")]
  missing <- wanted[log_of(wanted) %in% logs$name & !wanted %in% runs$key]
  would_take <- left_out[left_out$key %in% missing, ]
  never <- (nzchar(row$theirs) && !has_theirs && !nzchar(theirs)) || (nzchar(row$ours) && !has_ours && !nzchar(ours))
  remark <- c(
    if (nzchar(row$reason)) row$reason,
    of_theirs,
    of_ours,
    without_compilation(row, value, ours_s, later_s),
    if (nrow(would_take)) {
      sprintf(
        "left out: it would take %s s by the time of single tests, more than our limit of %s s",
        number(max(would_take$would_take)),
        number(max(would_take$limit))
      )
    },
    if (length(setdiff(missing, would_take$key))) "not measured in the time given",
    if (never && !length(missing)) "not run yet"
  )
  hardware <- if (nzchar(row$hardware)) sprintf(" (%s)", row$hardware) else ""
  row_text(row$data, row$what, paste0(shown, unit, hardware), theirs, ours, gain, over, paste(remark, collapse = "; "))
}

# Structural Hamming distances of figure 1: less that of k = 7, by k.
distances <- local({
  columns <- c("k", "graphs", "mean distance", "least difference", "median", "mean", "most")
  found <- distances_of(runs)
  if (is.null(found)) {
    return(stats::setNames(as.data.frame(matrix("", 0L, 7L)), columns))
  }
  bind(lapply(colnames(found), function(k) {
    less <- found[, k] - found[, "7"]
    cells <- c(
      k,
      nrow(found),
      number(mean(found[, k])),
      number(min(less)),
      number(stats::median(less)),
      number(mean(less)),
      number(max(less))
    )
    stats::setNames(as.data.frame(as.list(cells)), columns)
  }))
})
figure_1 <- function() {
  cat(
    "\n### cmiknn, figure 1 (6.5): structural Hamming distance less that of k = 7\n\n",
    notes[["cmiknn, figure 1"]],
    "\n\n",
    sep = ""
  )
  cat(head_text(names(distances)))
  for (i in seq_len(nrow(distances))) {
    cat(row_text(unlist(distances[i, ])))
  }
}

# Prints the times of the authors' own programs on our GPU (authors.csv). `theirs` and `ours` are the runs to compare.
programs <- function() {
  own <- utils::read.csv(file.path(here, "authors.csv"), colClasses = "character")
  cat("\n## The authors' programs\n\n", paste(authors, "\n", sep = ""), "\n", sep = "")
  cat(head_text(
    "program",
    "time of",
    "data",
    "last level",
    "edges",
    "s",
    "their mapping here",
    "ours",
    "program / ours"
  ))
  for (i in seq_len(nrow(own))) {
    row <- own[i, ]
    least <- as.double(row$minimum)
    middle <- as.double(row$median)
    cat(row_text(
      paste(row$program, row$commit),
      row$what,
      row$data,
      row$last_level,
      row$edges,
      if (least == middle) number(middle) else paste(number(least), "/", number(middle)),
      if (nzchar(row$theirs)) seconds_text(row$theirs) else "",
      if (nzchar(row$ours)) seconds_text(row$ours) else "",
      if (nzchar(row$ours)) ratio_text(middle, median_of(row$ours)) else ""
    ))
  }
}

# Runs whose seconds no row shows.
sweeps <- function() {
  taken <- unlist(published[shows_seconds(published$unit), c("theirs", "ours")])
  own <- runs[
    !runs$key %in% taken &
      !grepl("^quality:|:(shared|CPU|alone|parallel|single)(:5|:95)?$|^(warm|kernel)$", runs$way) &
      (!is.na(runs$median) | nzchar(runs$rows)),
  ]
  lines <- vapply(
    seq_len(nrow(own)),
    function(i) {
      run <- own[i, ]
      parts <- strsplit(run$log, "--", fixed = TRUE)[[1L]]
      ours <- runs$median[
        runs$name == run$name & runs$way %in% c("shared", "resident", sub("^[^ ]+", "shared", run$way))
      ]
      seconds <- if (!nzchar(run$rows)) {
        seconds_text(run$key)
      } else {
        sets <- as.double(strsplit(run$rows, " ", fixed = TRUE)[[1L]])
        sprintf(
          "no time: %s %% of the sets are in several rows, %s %% of these in 40 at most",
          number(100 * sum(sets[-1L]) / sum(sets)),
          number(run$count)
        )
      }
      row_text(
        paste(run$paper, parts[1L]),
        gsub("_", ":", paste(parts[-1L], collapse = " ")),
        run$way,
        seconds,
        if (length(ours)) ratio_text(run$median, ours[1L]) else ""
      )
    },
    ""
  )
  cat(
    "\n## Sweeps\n\nRuns whose seconds no row above has: drawn without numbers in the papers, compared there, or ours alone. `s / ours` is over ours of the same log.\n\n"
  )
  cat(head_text("paper, item", "problem", "way", "s", "s / ours"))
  cat(lines[order(own$name, method = "radix")], sep = "")
}

# Returns machines and commits of the runs of runs.csv, by paper.
made_on <- function(logs) {
  card <- ifelse(nzchar(logs$machine), logs$machine, "no card")
  processor <- ifelse(nzchar(logs$processor), paste0(logs$processor, ", "), "")
  of <- paste0(
    card,
    "; ",
    processor,
    logs$cores,
    ifelse(logs$cores == "1", " CPU core", " CPU cores"),
    "; commit ",
    logs$commit,
    ", packed ",
    logs$packed
  )
  group <- paste(logs$paper, of)
  for (one in unique(group)) {
    these <- logs$log[group == one]
    item <- sub("--.*", "", these)
    items <- vapply(
      unique(item),
      function(name) {
        problems <- sub("^-+", "", substring(these[item == name], nchar(name) + 1L))
        paste0(
          name,
          if (any(nzchar(problems))) sprintf(" (%s)", paste(gsub("_", ":", gsub("--", " ", problems)), collapse = ", "))
        )
      },
      ""
    )
    at <- match(one, group)
    cat("- ", logs$paper[at], ", ", paste(items, collapse = ", "), ": ", of[at], "\n", sep = "")
  }
}

write_page <- function() {
  cat(head_of_page, sep = "\n")
  cat("\n## Machines\n\n", head_text("card", "memory, GB/s", "TFLOP/s, single / double", "in"), sep = "")
  for (i in seq_len(nrow(cards))) {
    cat(row_text(cards$card[i], cards$bandwidth[i], paste(cards$single[i], "/", cards$double[i]), cards$where[i]))
  }
  cat(
    "\nMakers' figures, at the boost clock. CPUs of the papers, whose rows name cores alone:\n\n",
    head_text("CPU", "cores", "in"),
    sep = ""
  )
  cpus <- utils::read.csv(file.path(here, "cpus.csv"), colClasses = "character")
  for (i in seq_len(nrow(cpus))) {
    cat(row_text(cpus$cpu[i], cpus$cores[i], cpus$where[i]))
  }
  cat("\n### Runs\n\n`bench/papers/runs.csv` has what these found, by `run.sh` of `make papers`.\n\n")
  made_on(logs)
  for (paper in unique(published$paper)) {
    cat(sprintf("\n## %s\n", titles[[paper]]))
    for (item in unique(published$item[published$paper == paper])) {
      name <- paste0(paper, ", ", item)
      rows <- published[published$paper == paper & published$item == item, ]
      note <- notes[name]
      note <- note[!is.na(note)]
      cat(sprintf("\n### %s\n\n", name))
      if (length(note)) {
        cat(paste(note, collapse = " "), "\n\n", sep = "")
      }
      cat(head_text(
        "data",
        "what",
        "published (on)",
        "theirs here",
        "ours",
        "published / ours",
        "theirs here / ours",
        "remark"
      ))
      for (i in seq_len(nrow(rows))) {
        cat(row_of(rows[i, ]))
      }
    }
    if (paper == "cmiknn") figure_1()
  }
  programs()
  sweeps()
  ended <- logs[nzchar(logs$ended), ]
  ended <- stats::setNames(ended$ended, ended$name)
  if (length(ended)) {
    cat(
      "\n## Ended by their time\n\nA run's first strategies are there where later ones were ended.\n\n",
      paste0("- ", names(ended), ": ", ended, "\n"),
      sep = ""
    )
  }
}

text <- utils::capture.output(write_page())
# Blank lines come one at a time.
text <- text[!(text == "" & c("x", text[-length(text)]) == "")]
writeLines(enc2utf8(text), page_file, useBytes = TRUE)

# Returns how many times as fast as `base` the runs of a side are, for rows that report it.
times_of <- function(rows, side, base) {
  vapply(
    seq_len(nrow(rows)),
    function(i) {
      keys <- c(rows[[side]][i], rows[[base]][i])
      if (are_read(keys)) median_of(keys[2L]) / median_of(keys[1L]) else NA_real_
    },
    0
  )
}
seconds <- runs[c("key", "median", "count", "tests", "began", "rows")]
source(file.path(here, "pictures.R"))
draw_all(seconds, published, times_of, distances, file.path(here, "figures"))

# RELEASE.md, the comparison of a release with other programs, from release.csv. report.R sources this file, and has the functions that it calls.

# Returns the newest row of each cell of the newest version that was measured.
release_rows <- function() {
  rows <- read_rows("release.csv")
  rows <- rows[rows$version == rows$version[order(rows$date, decreasing = TRUE)[1L]], ]
  rows$method <- paste(rows$algorithm, rows$test, sep = "/")
  # Of rows of one date, the last one is the newest.
  rows <- rows[rev(seq_len(nrow(rows))), ]
  rows <- newest(rows, c("program", "threads", "data", "method", "p", "n", "degree"))
  rows$cell <- paste(rows$data, rows$method, rows$p, rows$n, rows$degree)
  for (name in c("seconds", "f1", "arrow_f1", "shd", "seeds", "of")) {
    rows[[name]] <- value(rows[[name]])
  }
  rows
}

method_names <- c(
  fisherz = "Fisher's z",
  gsq = "G-square",
  chisq = "chi-squared",
  rcot = "random features",
  kci = "kernels (KCI)",
  knn = "nearest neighbours",
  mixed = "conditional Gaussian",
  degenerate = "degenerate Gaussian",
  testwise = "Fisher's z, test-wise deletion",
  parcorr = "partial correlation"
)
data_names <- c(
  gaussian = "Linear Gaussian data",
  discrete = "Discrete data",
  nonlinear = "Nonlinear data",
  mixed = "Numbers and levels",
  missing = "3 % of the cells missing",
  latent = "A fifth of the variables hidden",
  lagged = "Time series",
  local = "Neighbours of one variable"
)

# Returns the row of pcgpu that a row of another program is compared with: the same data, method and threads. pcgpu has
# no degenerate Gaussian test, and pc() for PCMCI.
partner_of <- function(row, rows) {
  method <- sub("^pcmci(plus)?/", "pc/", sub("/degenerate$", "/mixed", row$method))
  found <- which(
    rows$program == "pcgpu" &
      rows$data == row$data &
      rows$method == method &
      rows$threads == row$threads &
      rows$p == row$p &
      rows$n == row$n &
      rows$degree == row$degree
  )
  if (length(found)) found[1L] else NA
}

shape_cell <- function(rows) paste0(whole(rows$p), " x ", whole(rows$n), ", ", rows$degree)
column_of <- function(rows) {
  ifelse(rows$program %in% c("pcgpu", "Andrey", "Tetrad"), paste0(rows$program, ", ", rows$threads), rows$program)
}
seconds_cell <- function(row) {
  if (!nrow(row)) {
    ""
  } else if (is.na(row$seconds)) {
    if (startsWith(row$note, "error")) "error" else row$note
  } else if (row$seeds < row$of) {
    sprintf("%s (%d of %d)", number(row$seconds), row$seeds, row$of)
  } else {
    number(row$seconds)
  }
}
accuracy_cell <- function(row) {
  shown <- function(x, digits) if (is.na(x)) "-" else sprintf("%.*f", digits, x)
  if (!nrow(row) || is.na(row$shd)) {
    ""
  } else {
    # The data sets that were done in time are the easy ones.
    if (row$seeds < row$of) {
      sprintf("%d of %d", row$seeds, row$of)
    } else {
      paste(shown(row$f1, 2L), shown(row$arrow_f1, 2L), shown(row$shd, 1L), sep = " / ")
    }
  }
}

# Returns a table of one data kind: a row for each method and shape, a column for each program.
wide <- function(rows, cell_of, columns) {
  first <- rows[!duplicated(rows$cell), ]
  first <- first[order(first$method, value(first$p), value(first$n), value(first$degree)), ]
  lines <- vapply(
    seq_len(nrow(first)),
    function(i) {
      cells <- vapply(columns, function(name) cell_of(rows[rows$cell == first$cell[i] & column_of(rows) == name, ]), "")
      bare(row_text(paste0(first$algorithm[i], ", ", method_names[first$test[i]]), shape_cell(first[i, ]), cells))
    },
    ""
  )
  c(bare(row_text("method", "p x n, degree", columns)), paste0(strrep("|---", 2 + length(columns)), "|"), lines, "")
}

of_data <- function(rows, data) {
  rows <- rows[rows$data == data, ]
  if (!nrow(rows)) {
    return(NULL)
  }
  columns <- unique(column_of(rows[order(!startsWith(rows$program, "pcgpu"), rows$program, rows$threads), ]))
  # Threads do not change an answer.
  accurate <- setdiff(columns, "pcgpu, 1")
  c(
    paste("##", data_names[[data]]),
    "",
    "Seconds:",
    "",
    wide(rows, seconds_cell, columns),
    "F1 of adjacencies / F1 of arrowheads / SHD:",
    "",
    wide(rows, accuracy_cell, accurate)
  )
}

# Returns the comparison of every other program with pcgpu, and the cells in which pcgpu is behind.
comparison <- function(rows, remarks) {
  # A remark names data whose times are of a busy machine; they are in no count here.
  busy <- sub(" data$", "", remarks$program[grepl("busy", remarks$note)])
  others <- rows[rows$data %in% setdiff(names(data_names), busy) & !startsWith(rows$program, "pcgpu"), ]
  at <- vapply(seq_len(nrow(others)), function(i) partner_of(others[i, ], rows), 1L)
  others <- others[!is.na(at), ]
  ours <- rows[at[!is.na(at)], ]
  # A cell that did not end in time takes longer than one that did. Graphs of incomplete cells are not compared.
  whole_time <- function(rows) {
    ifelse(startsWith(rows$note, "error"), NA, ifelse(rows$seeds < rows$of, Inf, rows$seconds))
  }
  ratio <- whole_time(others) / whole_time(ours)
  ours$shd[others$seeds < others$of | ours$seeds < ours$of] <- NA
  nearer <- ours$shd - others$shd
  by_data <- rows[rows$program == "pcgpu, pc(data)", ]
  nearer_by_data <- by_data$shd[match(ours$cell, by_data$cell)] - others$shd
  ratio_by_data <- whole_time(others) / whole_time(by_data)[match(ours$cell, by_data$cell)]
  signs <- function(x) paste(sum(x < 0, na.rm = TRUE), sum(x == 0, na.rm = TRUE), sum(x > 0, na.rm = TRUE), sep = " / ")
  by_program <- function(name) {
    is <- others$program == name
    timed <- is & is.finite(ratio) & ratio > 0
    bare(row_text(
      name,
      sum(is & !is.na(ratio)),
      sum(is & is.infinite(ratio)),
      sum(ratio[is] > 1, na.rm = TRUE),
      if (any(timed)) {
        c(number(stats::median(ratio[timed])), number(min(ratio[timed])), number(max(ratio[timed])))
      } else {
        rep("", 3)
      },
      signs(nearer[is]),
      sprintf("%d of %d", sum(ratio_by_data[is] > 1, na.rm = TRUE), sum(!is.na(ratio_by_data[is]))),
      signs(nearer_by_data[is])
    ))
  }
  list_of <- function(which, more) {
    vapply(
      which,
      function(i) {
        bare(row_text(
          data_names[[others$data[i]]],
          paste0(others$algorithm[i], ", ", method_names[others$test[i]]),
          shape_cell(others[i, ]),
          column_of(others[i, ]),
          more(i)
        ))
      },
      ""
    )
  }
  head <- c("data", "method", "p x n, degree", "program")
  faster <- which(ratio < 1)
  # Differences of less than a tenth and of less than half an edge are noise of a few data sets.
  better <- which(nearer > pmax(0.5, 0.1 * ours$shd))
  c(
    "## pcgpu and each other program",
    "",
    paste(
      "Cells with the same data and number of threads, and the same method; PCMCI is next to pc() of lagged data, and degenerate Gaussian next to",
      "conditional Gaussian tests. `times` is the other program's seconds divided by those of pcgpu with pcalg's settings.",
      "SHD counts the cells in which pcgpu's graph is nearer to the truth, as near, and farther."
    ),
    "",
    bare(row_text(
      "program",
      "cells",
      "its not ended",
      "pcgpu faster",
      "times: median",
      "least",
      "most",
      "SHD: nearer / equal / farther",
      "pc(data) faster",
      "SHD of pc(data)"
    )),
    paste0(strrep("|---", 10), "|"),
    vapply(sort(unique(others$program)), by_program, ""),
    "",
    "Cells in which another program took less time:",
    "",
    bare(row_text(head, "its s", "pcgpu's s")),
    paste0(strrep("|---", 6), "|"),
    list_of(faster[order(ratio[faster])], function(i) c(seconds_cell(others[i, ]), seconds_cell(ours[i, ]))),
    "",
    "Cells in which another program's SHD is smaller by more than a tenth and by half an edge:",
    "",
    bare(row_text(head, "its SHD", "pcgpu's SHD", "SHD of pc(data)")),
    paste0(strrep("|---", 7), "|"),
    list_of(better[order(-(nearer / pmax(1, ours$shd))[better])], function(i) {
      of_default <- by_data$shd[match(ours$cell[i], by_data$cell)]
      c(sprintf("%.1f", c(others$shd[i], ours$shd[i])), if (is.na(of_default)) "" else sprintf("%.1f", of_default))
    }),
    ""
  )
}

parity_table <- function(rows) {
  rows <- rows[rows$data == "parity", ]
  if (!nrow(rows)) {
    return(NULL)
  }
  rows <- rows[rev(seq_len(nrow(rows))), ]
  c(
    "## Answers equal to pcalg's",
    "",
    sprintf(
      "pcgpu and pcalg %s on the same inputs: %s of %s answers are equal in all fields. `?pc` lists known differences, which these inputs leave out.",
      rows$program_version[1L],
      whole(sum(rows$seeds)),
      whole(sum(rows$of))
    ),
    "",
    bare(row_text("function", "case", "inputs", "equal")),
    "|---|---|---|---|",
    vapply(
      seq_len(nrow(rows)),
      function(i) bare(row_text(rows$algorithm[i], rows$test[i], rows$of[i], rows$seeds[i])),
      ""
    ),
    ""
  )
}

# Returns the table of benchpress.csv: a row for each setup and level.
benchpress_table <- function() {
  rows <- read_rows("benchpress.csv")
  ours <- rows[rows$algorithm == "pcgpu_pc", ]
  setting <- function(rows) do.call(paste, rows[c("setup", "network", "n", "test", "alpha")])
  theirs <- rows[rows$algorithm == "pcalg_pc", ]
  theirs <- theirs[match(setting(ours), setting(theirs)), ]
  timed <- function(row) if (row$seconds %in% "") "" else sprintf("%s (%s)", number(value(row$seconds)), row$timed)
  two <- function(x) sprintf("%.2f", value(x))
  with_published <- function(ours, published) if (published == "") "" else paste(two(ours), published, sep = ", ")
  head <- c(
    "setup",
    "network",
    "n",
    "alpha",
    "seeds",
    "TPR",
    "FPR",
    "SHD",
    "tests",
    "pcalg_pc, s",
    "pcgpu_pc, s",
    "equal"
  )
  lines <- vapply(
    seq_len(nrow(ours)),
    function(i) {
      row <- ours[i, ]
      is_skeleton <- row$setup == "pc_vs_dualpc"
      median <- function(name) row[[paste0(name, if (is_skeleton) "_skeleton", "_median")]]
      bare(row_text(
        row$setup,
        row$network,
        whole(row$n),
        row$alpha,
        row$seeds,
        two(row$tpr),
        two(row$fpr),
        sprintf("%.1f", value(row$shd)),
        whole(round(value(row$tests))),
        if (is.na(theirs$seconds[i])) "" else timed(theirs[i, ]),
        timed(row),
        row$published_seconds,
        if (row$equal == "") "" else sprintf("%.0f %%", 100 * value(row$equal)),
        with_published(median("tpr"), row$published_tpr),
        with_published(median("fpr"), row$published_fpr)
      ))
    },
    ""
  )
  c(
    "## In benchpress",
    "",
    paste(
      "Our module and `pcalg_pc` in benchpress's own workflow (`packaging/benchpress`): means of its TPR, FPR (wrong edges divided by",
      "true ones) and SHD of the pattern. Seconds are medians by the clock, over the seeds in brackets. `equal`: share of the seeds",
      "whose graphs and numbers of tests are the same. The last columns compare medians with those that benchpress publishes as",
      "pictures, read off by eye: of the pattern, of 100 seeds; for `pc_vs_dualpc` of the skeleton, of the same 10 seeds."
    ),
    "",
    bare(row_text(head, "median TPR, published", "median FPR, published")),
    paste0(strrep("|---", length(head) + 2L), "|"),
    lines,
    ""
  )
}

release_page <- function() {
  rows <- release_rows()
  absent <- rows[startsWith(rows$note, "not run"), ]
  remarks <- rows[rows$data == "" & !startsWith(rows$note, "not run"), ]
  rows <- rows[rows$data != "", ]
  absent <- absent[!absent$program %in% rows$program, ]
  programs <- rows[rows$data != "parity" & rows$program_version != "", ]
  programs <- programs[!duplicated(programs$program) & programs$program != "pcgpu, pc(data)", ]
  programs <- programs[order(programs$program), ]
  errors <- unique(rows[startsWith(rows$note, "error"), c("program", "algorithm", "test", "note")])
  runs <- unique(paste0(rows$date, " ", commit_of(rows)))
  unname(c(
    paste0("# pcgpu and other programs: version ", rows$version[1L], ", ", max(rows$date)),
    "",
    "`bench/report.R` writes this page from `release.csv`, which `bench/release.R` writes. Graphs and data are random and the truth is known.",
    "",
    "**How to read.** Seconds are medians over the data sets of a cell, of calls in a running process from data to graph. Every cell has a process of",
    sprintf(
      "its own, which ended after a minute or less; \"2 of 5\" means that two of five data sets were done. The level of all tests is %s. A number after a program is",
      rows$alpha[rows$alpha != ""][1L]
    ),
    "its threads; others use one. SHD is the structural Hamming distance to the true CPDAG or PAG. Accuracy is a mean over the data sets.",
    "`pcgpu` has pcalg's settings, and `pcgpu, pc(data)` the defaults for data. Others have their own defaults. For time series only edges into the",
    "present count. For the neighbours of one variable, that with the most, an edge is one to it. R programs repeat a call for at least 0.1 s after two;",
    "the others make three calls after one. Java becomes faster later: Tetrad's first cell takes a seventh of its time here when it is warm.",
    "",
    paste0(
      "Runs: ",
      paste(unique(rows$machine), collapse = "; "),
      ": ",
      paste(runs, collapse = ", "),
      ". Repeat: `Rscript bench/release.R`, with its options."
    ),
    "",
    paste0("Programs: ", paste0(programs$program, " ", programs$program_version, collapse = ", "), "."),
    "",
    if (nrow(absent)) {
      c(
        paste0(
          "Not run: ",
          paste0(absent$program, " (", sub("^not run: ", "", absent$note), ")", collapse = ", "),
          "."
        ),
        ""
      )
    },
    if (nrow(remarks)) c(paste0("- ", remarks$program, ": ", remarks$note), ""),
    if (nrow(errors)) {
      c(
        "Errors:",
        "",
        paste0(
          "- ",
          errors$program,
          ", ",
          errors$algorithm,
          ", ",
          method_names[errors$test],
          ": ",
          sub("^error: ", "", errors$note)
        ),
        ""
      )
    },
    comparison(rows, remarks),
    unlist(lapply(names(data_names), of_data, rows = rows)),
    parity_table(rows),
    benchpress_table()
  ))
}

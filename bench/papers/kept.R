# What is kept of runs: table.R sources it.
#
# runs.csv has the runs whose logs were read (logs.R says what of them). The numbers of earlier runs, whose logs are not kept, stand in PAPERS.md alone: table.R takes them
# from there until a run replaces them.

# runs.csv, as it is.
read_runs <- function(file) {
  if (!file.exists(file)) return(data.frame(paper = character(), log = character(), run_row("", NA_real_)[0L, ]))
  numbers <- c("minimum", "median", "count", "would_take", "limit")
  runs <- utils::read.csv(file, colClasses = "character", na.strings = character())
  runs[numbers] <- lapply(runs[numbers], function(cells) as.double(ifelse(nzchar(cells), cells, NA)))
  runs
}

# Those of `runs`, and in their place those of logs that `read` has. A log without any result takes no other's place.
replaced_by <- function(runs, read) {
  name <- function(of) paste(of$paper, of$log, sep = "/")
  empty <- setdiff(name(read), name(read)[nzchar(read$way)])
  for (log in empty) message(log, " has no result", if (log %in% name(runs)) ": what is kept of it stays")
  read <- read[!name(read) %in% intersect(empty, name(runs)), ]
  all <- rbind(runs[!name(runs) %in% name(read), ], read)
  all[order(name(all), method = "radix"), ]
}

write_runs <- function(runs, file) {
  numbers <- vapply(runs, is.numeric, NA)
  in_full <- function(number) if (is.na(number)) "" else format(number, digits = 15L, scientific = FALSE, drop0trailing = TRUE)
  runs[numbers] <- lapply(runs[numbers], vapply, in_full, "")
  # Quotes where they are needed.
  utils::write.csv(runs, file, row.names = FALSE, quote = which(vapply(runs, function(cells) any(grepl("[,\"]", cells)), NA)))
}

# A table's cells of a line of Markdown, `count` of them.
cells_of_line <- function(line, count) {
  cells <- strsplit(sub(" \\|$", "", sub("^\\| ", "", line)), " | ", fixed = TRUE)[[1L]]
  cells <- gsub("\\|", "|", cells, fixed = TRUE)
  c(cells, character(count))[seq_len(count)]
}

# The rows of the first table in these lines, without its head.
rows_of_table <- function(lines, columns) {
  rows <- grep("^[|]", lines, value = TRUE)[-(1:2)]
  cells <- matrix(as.character(unlist(lapply(rows, cells_of_line, count = length(columns)))), ncol = length(columns), byrow = TRUE)
  stats::setNames(as.data.frame(cells), columns)
}

# What table.R works out for a row and writes behind its reason: these patterns know it in a remark.
worked_out <- c(theirs = "^slower here than published", ours = "^ours gains less|^ours in a batch|^later calls",
                missing = "^left out: it would take|^not measured in the time given")

# What is on a page that table.R wrote: `rows` by the key of a row of published.csv, of what `worked_out` knows a column each; `sweeps` by log and way; the table of
# figure 1; what ended by its time; and what is said of the runs that are not kept.
read_page <- function(file) {
  lines <- if (file.exists(file)) readLines(file, encoding = "UTF-8") else character()
  heads <- grep("^##", lines)
  parts <- Map(function(from, to) lines[seq_len(to - from - 1L) + from], heads, c(heads[-1L], length(lines) + 1L)[seq_along(heads)])
  names(parts) <- sub("^#+ ", "", lines[heads])
  items <- grep("^[a-z-]+, (table|figure|section) ", names(parts), value = TRUE)
  is_figure <- grepl("^cmiknn, figure 1", items)
  rows <- bind(lapply(c("", items[!is_figure]), function(item) {
    rows <- rows_of_table(parts[[item]], c("data", "what", "published", "theirs", "ours", "gain", "over", "remark"))
    hardware <- ifelse(grepl("\\)$", rows$published), sub("^.* ?\\(([^()]*)\\)$", "\\1", rows$published), "")
    pieces <- strsplit(rows$remark, "; ", fixed = TRUE)
    found <- lapply(worked_out, function(pattern) vapply(pieces, function(of) paste(grep(pattern, of, value = TRUE), collapse = "; "), ""))
    names(found) <- paste0("remark_", names(found))
    data.frame(key = row_key(sub(", .*", "", item), sub("^[a-z-]+, ", "", item), rows$data, rows$what, hardware), rows[c("theirs", "ours", "gain", "over")], found)
  }))
  sweeps <- rows_of_table(parts[["Sweeps"]], c("item", "problem", "way", "seconds", "over"))
  log <- paste0(sub(" ", "/", sweeps$item), ifelse(nzchar(sweeps$problem), "--", ""), gsub(" ", "--", gsub(":", "_", sweeps$problem)))
  ended <- grep("^- ", parts[["Ended by their time"]], value = TRUE)
  figure_1 <- rows_of_table(parts[[items[is_figure][1L]]], c("k", "graphs", "mean distance", "least difference", "median", "mean", "most"))
  list(rows = rows, sweeps = data.frame(sweeps, log = log), figure_1 = figure_1, ended = stats::setNames(sub("^[^:]*: ", "", ended), sub("^- ([^:]*): .*", "\\1", ended)),
       not_kept = parts[["Runs that are not kept"]])
}

# What tells a row of a table from all others.
row_key <- function(paper, item, data, what, hardware) paste(paper, item, data, what, hardware, sep = " | ", recycle0 = TRUE)

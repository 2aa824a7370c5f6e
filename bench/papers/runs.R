# Reads and writes runs.csv, the runs whose logs were read (logs.R describes its columns): table.R sources it.

read_runs <- function(file) {
  if (!file.exists(file)) {
    return(data.frame(paper = character(), log = character(), run_row("", NA_real_)[0L, ]))
  }
  numbers <- c("minimum", "median", "count", "would_take", "limit")
  runs <- utils::read.csv(file, colClasses = "character", na.strings = character())
  runs[numbers] <- lapply(runs[numbers], function(cells) as.double(ifelse(nzchar(cells), cells, NA)))
  runs
}

# Returns `runs` with the rows of `read` in place of those of the same logs. A log without any result replaces no other.
replaced_by <- function(runs, read) {
  name <- function(of) paste(of$paper, of$log, sep = "/")
  empty <- setdiff(name(read), name(read)[nzchar(read$way)])
  for (log in empty) {
    message(log, " has no result", if (log %in% name(runs)) ": what is kept of it stays")
  }
  read <- read[!name(read) %in% intersect(empty, name(runs)), ]
  all <- rbind(runs[!name(runs) %in% name(read), ], read)
  all[order(name(all), method = "radix"), ]
}

write_runs <- function(runs, file) {
  numbers <- vapply(runs, is.numeric, NA)
  in_full <- function(number) {
    if (is.na(number)) "" else format(number, digits = 15L, scientific = FALSE, drop0trailing = TRUE)
  }
  runs[numbers] <- lapply(runs[numbers], vapply, in_full, "")
  # Quotes where they are needed.
  utils::write.csv(
    runs,
    file,
    row.names = FALSE,
    quote = which(vapply(runs, function(cells) any(grepl("[,\"]", cells)), NA))
  )
}

# Reads R CMD check's log, and fails unless every check ended well.
#   Rscript check-notes.R 00check.log allowed-notes DESCRIPTION
args <- commandArgs(trailingOnly = TRUE)
if (!file.exists(args[1])) {
  stop("R CMD check left no log", call. = FALSE)
}
log <- readLines(args[1])
allowed <- grep("^(#|\\s*$)", readLines(args[2]), value = TRUE, invert = TRUE)
suggested <- trimws(strsplit(gsub("\\([^)]*\\)", "", read.dcf(args[3], "Suggests")), ",")[[1]])
allowed <- gsub(
  "{suggested}",
  sprintf("(%s)", paste(gsub(".", "\\.", suggested, fixed = TRUE), collapse = "|")),
  allowed,
  fixed = TRUE
)

# A check is the line that names it, and its output up to the next such line.
check <- split(log, cumsum(grepl("^\\* ", log)))
outcome <- vapply(
  check,
  function(lines) {
    # The outcome ends the first line, or a later one if R printed in between (examples and tests).
    hit <- regmatches(lines, regexpr("(ERROR|WARNING|NOTE|FAILED)$", lines))
    if (length(hit)) hit[1] else "OK"
  },
  ""
)
check <- check[!grepl("^\\* DONE", vapply(check, `[`, "", 1))]
outcome <- outcome[names(check)]

bad <- outcome %in% c("ERROR", "WARNING", "FAILED")
for (i in which(outcome == "NOTE")) {
  body <- grep("\\S", check[[i]][-1], value = TRUE)
  known <- vapply(
    body,
    function(line) {
      any(vapply(allowed, function(re) grepl(paste0("^(", re, ")$"), line, perl = TRUE), NA))
    },
    NA
  )
  bad[i] <- !length(body) || !all(known)
}

finished <- any(grepl("^Status:", log))
if (any(bad) || !finished) {
  cat("\nR CMD check did not end well:\n")
  for (lines in check[bad]) {
    cat(paste0("  ", lines), sep = "\n")
  }
  if (!finished) {
    cat("  it did not finish\n")
  }
  quit(status = 1)
}
notes <- sum(outcome == "NOTE")
cat(sprintf(
  "R CMD check: no error, no warning, no avoidable note (%d known note%s)\n",
  notes,
  if (notes == 1) "" else "s"
))

# Checks the rules of vignettes, without knitting them: Rscript tools/vignettes.R [FILE ...]
#
# - A chunk that runs and uses an optional package (under Suggests in DESCRIPTION) is guarded by `eval = has_x`, or by
#   an `if (has_x)` in the chunk. An earlier chunk then has `has_x <- requireNamespace("x", quietly = TRUE)`.
# - No chunk uses packages other than those of R, of DESCRIPTION and this one.
# - The index entry is the title; a vignette that runs code has vignettes/setup.R; each figure has an alternative text.
# - Code fits into 80 columns, beyond which a reader has to scroll.
suggested <- function(field) {
  text <- read.dcf("DESCRIPTION", field)[1L]
  if (is.na(text)) character() else trimws(sub("\\(.*", "", strsplit(text, ",")[[1L]]))
}
optional <- suggested("Suggests")
needed <- c("pcgpu", suggested("Imports"), "base", "datasets", "knitr", "rmarkdown")

# Returns the R chunks: label and options as written, code, and the line that each begins at.
chunks_of <- function(lines) {
  begins <- grep("^```\\{r\\b", lines)
  lapply(begins, function(begin) {
    end <- begin + grep("^```$", lines[-seq_len(begin)])[1L]
    list(
      line = begin,
      head = sub("^```\\{r(.*)\\}\\s*$", "\\1", lines[begin]),
      code = lines[seq_len(end - begin - 1L) + begin]
    )
  })
}

# Returns the packages that code names, by pkg:: or library(pkg).
packages_of <- function(code) {
  parsed <- parse(text = code, keep.source = TRUE)
  found <- utils::getParseData(parsed)
  calls <- unlist(lapply(parsed, deparse)) # without comments
  attached <- regmatches(calls, gregexpr("(library|require)\\(\\w+", calls))
  unique(c(found$text[found$token == "SYMBOL_PACKAGE"], sub(".*\\(", "", unlist(attached))))
}

faults_of <- function(file) {
  lines <- readLines(file)
  chunks <- chunks_of(lines)
  guards <- character()
  faults <- character()
  fault <- function(line, ...) faults <<- c(faults, paste0(file, ":", line, ": ", ...))
  title <- sub('^title: "(.*)"$', "\\1", grep("^title: ", lines, value = TRUE)[1L])
  entry <- sub(".*\\\\VignetteIndexEntry\\{(.*)\\}.*", "\\1", grep("VignetteIndexEntry", lines, value = TRUE)[1L])
  if (title != entry) {
    fault(2L, "the title and \\VignetteIndexEntry{} differ")
  }
  runs <- !any(grepl("opts_chunk\\$set\\(.*eval = FALSE", lines))
  if (runs && !any(lines == 'source("setup.R")')) {
    fault(1L, 'no chunk has source("setup.R")')
  } else if (runs && !file.exists(file.path(dirname(file), "setup.R"))) {
    fault(1L, "vignettes/setup.R is missing")
  }
  for (chunk in chunks) {
    wide <- which(nchar(chunk$code) > 80L & !grepl("include = FALSE", chunk$head, fixed = TRUE))
    if (length(wide)) {
      fault(chunk$line + wide[1L], "code beyond 80 columns")
    }
    if (!runs || grepl("eval = FALSE", chunk$head, fixed = TRUE)) {
      next
    }
    set <- regmatches(chunk$code, regexec('^\\s*(has_\\w+) <- requireNamespace\\("(\\w+)"', chunk$code))
    for (guard in set[lengths(set) == 3L]) {
      guards[guard[3L]] <- guard[2L]
    }
    if (any(grepl("^\\s*plot(_cpdag)?\\(", chunk$code)) && !grepl("fig.alt", chunk$head, fixed = TRUE)) {
      fault(chunk$line, "a figure without fig.alt")
    }
    for (package in packages_of(chunk$code)) {
      if (package %in% needed) {
        next
      }
      if (!package %in% optional) {
        fault(chunk$line, "the package ", package, " is not in DESCRIPTION")
        next
      }
      guard <- guards[package]
      guarded <- !is.na(guard) &&
        (grepl(paste0("eval = ", guard, "\\b"), chunk$head) || any(grepl(paste0("if \\(", guard, "\\)"), chunk$code)))
      if (!guarded) {
        fault(chunk$line, "the package ", package, " is only suggested, and the chunk is not guarded by has_", package)
      }
    }
  }
  faults
}

files <- commandArgs(TRUE)
if (!length(files)) {
  files <- list.files("vignettes", "\\.Rmd$", full.names = TRUE)
}
faults <- unlist(lapply(files, faults_of))
if (length(faults)) {
  writeLines(faults)
}
cat(sprintf("%d vignettes, %d faults\n", length(files), length(faults)))
quit(status = length(faults) > 0L)

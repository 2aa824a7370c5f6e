# Runs pcalg's own tests and the examples of its help pages twice, on pcalg alone and under use_in_pcalg(), and compares
# what they print. It needs pcalg's source, which is not part of this repository; pcalg and pcgpu must be installed.
#
#   Rscript tools/pcalg-transcripts.R SOURCE [PATTERN]
#
# SOURCE: the folder of pcalg's source package. PATTERN: a regular expression; only files whose names match it are run.
# The comparison leaves out lines of times, and our own line on graphs that are no CPDAG. If R fails, its exit status is
# the last line. Exits with 1 if any transcript differs, or ran out of time (10 minutes) on one side alone.
arguments <- commandArgs(trailingOnly = TRUE)
if (!length(arguments)) {
  stop("usage: Rscript tools/pcalg-transcripts.R SOURCE [PATTERN]", call. = FALSE)
}
source_folder <- arguments[1L]
pattern <- if (length(arguments) > 1L) arguments[2L] else ""
limit <- 600

tests <- list.files(file.path(source_folder, "tests"), "\\.R$", full.names = TRUE)
pages <- list.files(file.path(source_folder, "man"), "\\.Rd$", full.names = TRUE)
files <- grep(pattern, c(tests, pages), value = TRUE)
if (!length(files)) {
  stop("no file of ", source_folder, " matches ", pattern, call. = FALSE)
}

# Returns the lines to run; character(0) for a page without an example.
lines_of <- function(file) {
  if (grepl("\\.R$", file)) {
    return(readLines(file))
  }
  code <- tempfile(fileext = ".R")
  on.exit(unlink(code))
  tools::Rd2ex(file, code)
  if (!file.exists(code)) character() else c("suppressMessages(library(pcalg))", readLines(code))
}

# Returns what a process of its own prints, as `lines`; `seconds` is how long it took, NA if too long.
run <- function(file, lines, ours) {
  folder <- tempfile("run")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  script <- file.path(folder, "script.R")
  # The swap happens before the first line, without a trace in the output or in the random numbers. Only our package
  # warns that labels go by position.
  prelude <- c(
    if (ours) "invisible(pcgpu::use_in_pcalg())" else "invisible(loadNamespace('pcgpu'))",
    "globalCallingHandlers(pcgpu_warning_names = function(w) invokeRestart('muffleWarning'))"
  )
  writeLines(c(prelude, "options(warn = 1, digits = 6)", "set.seed(1)", lines), script)
  old <- setwd(if (grepl("/tests/", file)) dirname(file) else folder)
  on.exit(setwd(old), add = TRUE)
  began <- proc.time()[["elapsed"]]
  output <- suppressWarnings(system2(
    "Rscript",
    c("--no-save", "--no-restore", shQuote(script)),
    stdout = TRUE,
    stderr = TRUE,
    timeout = limit,
    env = "PCGPU_NUM_THREADS=1"
  ))
  status <- attr(output, "status")
  seconds <- if (identical(status, 124L)) NA else proc.time()[["elapsed"]] - began
  failed <- if (!is.null(status) && !is.na(seconds)) sprintf("exit status %d", status)
  list(lines = c(cleaned(output), failed), seconds = seconds)
}

# Removes times, addresses, the names of temporary files, and our own line on graphs that are no CPDAG.
cleaned <- function(lines) {
  left_out <- grepl("elapsed|^\\s*([0-9.]+\\s+){2,}[0-9.]+\\s*$|^Time |Time for many|^Not a valid CPDAG: ", lines)
  lines <- lines[!left_out]
  lines <- gsub("0x[0-9a-f]+", "<address>", lines)
  gsub("(/tmp/|file)[[:alnum:]/._-]+", "<file>", lines)
}

differing <- compared <- 0L
total <- c(theirs = 0, ours = 0)
for (file in files) {
  name <- sub(paste0(source_folder, "/?"), "", file, fixed = FALSE)
  lines <- lines_of(file)
  if (!length(lines)) {
    next
  }
  compared <- compared + 1L
  theirs <- run(file, lines, FALSE)
  ours <- run(file, lines, TRUE)
  total <- total + c(theirs$seconds, ours$seconds)
  same <- identical(theirs$lines, ours$lines) || (is.na(theirs$seconds) && is.na(ours$seconds))
  cat(sprintf(
    "%-9s %-40s %6.1f s, %6.1f s under use_in_pcalg()\n",
    if (same) "equal" else "DIFFERENT",
    name,
    theirs$seconds,
    ours$seconds
  ))
  if (!same) {
    differing <- differing + 1L
    before <- tempfile()
    after <- tempfile()
    writeLines(theirs$lines, before)
    writeLines(ours$lines, after)
    shown <- suppressWarnings(system2("diff", c(before, after), stdout = TRUE))
    cat(paste0("    ", utils::head(shown, 20L)), sep = "\n")
    unlink(c(before, after))
  }
}
cat(sprintf(
  "%d transcripts, %d differ; %.0f s, %.0f s under use_in_pcalg()\n",
  compared,
  differing,
  total[["theirs"]],
  total[["ours"]]
))
if (differing) {
  quit(status = 1L)
}

# Shared by the programs of this folder: command line arguments, Markdown tables, and the head of a report. They source it after setting
# `here`, their own folder.

args <- commandArgs(trailingOnly = TRUE)

# The value of --name=value, or the default.
option <- function(name, default) {
  hit <- grep(paste0("^--", name, "="), args, value = TRUE)
  if (length(hit)) sub("^[^=]*=", "", hit[length(hit)]) else default
}

# The arguments that are not options.
operands <- function() grep("^-", args, value = TRUE, invert = TRUE)

# Three digits, as a person writes them.
number <- function(x) format(signif(x, 3), big.mark = ",", scientific = FALSE, trim = TRUE, drop0trailing = TRUE)

# A row of a Markdown table, and a row with the line under it.
row_text <- function(...) paste0("| ", paste(c(...), collapse = " | "), " |\n")
head_text <- function(...) paste0(row_text(...), row_text(rep("---", length(c(...)))))

shell <- function(command) paste(suppressWarnings(system(paste(command, "2>/dev/null"), intern = TRUE)), collapse = " ")

# Machine, commit and command, as RESULTS.md wants them.
tell_origin <- function(program) {
  cat(sprintf(
    "\n- machine: %s, %s cores, %s; %s; load %s\n", sub("^Model name:\\s*", "", shell("lscpu | grep '^Model name'")),
    shell("nproc"), shell("awk '/MemTotal/ { printf \"%.0f GiB\", $2 / 1048576 }' /proc/meminfo"),
    R.version.string, shell("cut -d' ' -f1 /proc/loadavg")
  ))
  commit <- shell(paste("git -C", shQuote(here), "describe --always --dirty --abbrev=12"))
  cat(sprintf("- commit: %s, %s\n", if (nzchar(commit)) commit else "not known", format(Sys.Date())))
  cat(sprintf("- command: %s %s\n", program, paste(args, collapse = " ")))
}

# Shared by the programs of this folder: command line arguments, Markdown tables, the head of a report, and times. They
# source it after setting `here`, their own folder.

args <- commandArgs(trailingOnly = TRUE)

# Returns the value of --name=value, or the default.
option <- function(name, default) {
  hit <- grep(paste0("^--", name, "="), args, value = TRUE)
  if (length(hit)) sub("^[^=]*=", "", hit[length(hit)]) else default
}

# Returns the arguments that are not options.
operands <- function() grep("^-", args, value = TRUE, invert = TRUE)

# Makes options the program's variables: settings(threads = 2L, peer = c("none", "pcalg")) reads --threads and --peer.
# These are the defaults, or the first of the possible values, and have the type of the option; --peer-repeats is
# peer_repeats. With `all`, `parts` are those of the command line, or else these.
settings <- function(..., all = NULL) {
  defaults <- list(...)
  for (name in names(defaults)) {
    default <- defaults[[name]]
    value <- option(chartr("_", "-", name), as.character(default[[1L]]))
    assign(
      name,
      if (is.character(default)) match.arg(value, default) else methods::as(value, typeof(default)),
      globalenv()
    )
  }
  if (!is.null(all)) assign("parts", if (length(operands())) operands() else all, globalenv())
}

# Formats a number with three digits.
number <- function(x) format(signif(x, 3), big.mark = ",", scientific = FALSE, trim = TRUE, drop0trailing = TRUE)

# Formats rows and columns as "1,000 x 50".
shape_text <- function(n, p) paste(format(c(n, p), big.mark = ",", scientific = FALSE, trim = TRUE), collapse = " x ")

# Returns the number of edges of a pcAlgo object.
edge_count <- function(x) sum(lengths(graph::edges(x@graph))) / 2

# Formats minimum and median.
spread <- function(x) paste(number(min(x)), "/", number(stats::median(x)))

# Formats a row of a Markdown table, and a row with the line under it.
row_text <- function(...) paste0("| ", paste(gsub("|", "\\|", c(...), fixed = TRUE), collapse = " | "), " |\n")
head_text <- function(...) paste0(row_text(...), row_text(rep("---", length(c(...)))))

# Returns the lines that a command prints, or none if there is no such command.
lines_of <- function(command) {
  tryCatch(suppressWarnings(system(paste(command, "2>/dev/null"), intern = TRUE)), error = function(e) character())
}
shell <- function(command) paste(lines_of(command), collapse = " ")

# Returns the commit of the tree when the program first asked, or what gpu-check.sh reports for a bundle; empty if neither
# is known. The tree may change during a long run.
commit_here <- function() {
  if (is.null(of_git$commit)) {
    of_git$commit <- commit_of_tree()
  }
  of_git$commit
}
of_git <- new.env()

commit_of_tree <- function() {
  Sys.getenv("PCGPU_COMMIT", shell(paste("git -C", shQuote(here), "describe --always --dirty --abbrev=7")))
}

# Returns the machine's name in results.csv: its GPUs, or else its processor, and the number of cores.
machine_here <- function() {
  gpus <- lines_of("nvidia-smi --query-gpu=name --format=csv,noheader")
  name <- if (length(gpus)) {
    sub(" [0-9]+GB.*", "", gpus[1L])
  } else {
    sub("^Model name:\\s*", "", shell("lscpu | grep '^Model name'"))
  }
  paste0(if (length(gpus) > 1L) paste0(length(gpus), " "), name, ", ", shell("nproc"), " cores")
}

# Appends a row with these values to the file of --csv=FILE, which gets a line of `columns` first; does nothing without
# that option. Date and commit are filled in.
append_row <- function(columns, values) {
  file <- option("csv", "")
  if (!nzchar(file)) {
    return(invisible())
  }
  values <- c(list(date = format(Sys.Date()), commit = commit_here()), values)
  row <- stats::setNames(rep("", length(columns)), columns)
  given <- vapply(
    values,
    function(x) {
      if (!length(x) || is.na(x[1L])) {
        ""
      } else if (is.numeric(x)) {
        format(signif(x[1L], 15), scientific = FALSE, drop0trailing = TRUE)
      } else {
        as.character(x[1L])
      }
    },
    ""
  )
  stopifnot(names(given) %in% columns)
  row[names(given)] <- given
  is_quoted <- grepl("[\",]", row)
  row[is_quoted] <- paste0("\"", gsub("\"", "\"\"", row[is_quoted], fixed = TRUE), "\"")
  head <- if (!file.exists(file)) paste0(paste(columns, collapse = ","), "\n")
  cat(head, paste(row, collapse = ","), "\n", file = file, append = TRUE, sep = "")
}

# Returns the installed version of a package, or NULL if there is none of this name.
version_of <- function(package) {
  if (length(package) && nzchar(system.file(package = package))) as.character(utils::packageVersion(package))
}

# Appends a row of results.csv. `seconds` and `peer_seconds` are those of the repeats. `peer` is the other program; if
# it is an R package, its version is that of the installed one. `...` are other columns. Columns without a value stay
# empty.
result_columns <- c(
  "date",
  "commit",
  "suite",
  "case",
  "p",
  "n",
  "alpha",
  "method",
  "device",
  "gpus",
  "threads",
  "machine",
  "memory",
  "repeats",
  "least",
  "median",
  "tests",
  "gb",
  "peer",
  "peer_version",
  "peer_least",
  "peer_median",
  "same",
  "note"
)
record <- function(
  suite,
  case,
  seconds = NULL,
  ...,
  peer = NULL,
  peer_version = version_of(peer),
  peer_seconds = NULL
) {
  summary_of <- function(x) if (length(x)) signif(c(min(x), stats::median(x)), 3) else c(NA, NA)
  ours <- summary_of(seconds)
  theirs <- summary_of(peer_seconds)
  append_row(
    result_columns,
    c(
      list(
        suite = suite,
        case = case,
        machine = machine_here(),
        repeats = if (length(seconds)) length(seconds),
        least = ours[1L],
        median = if (length(seconds) > 1L) ours[2L],
        peer = peer,
        peer_version = peer_version,
        peer_least = theirs[1L],
        peer_median = if (length(peer_seconds) > 1L) theirs[2L]
      ),
      list(...)
    )
  )
}

# Prints machine, commit and command for a report.
tell_origin <- function(program) {
  cat(sprintf(
    "\n- machine: %s, %s cores, %s; %s; load %s\n",
    sub("^Model name:\\s*", "", shell("lscpu | grep '^Model name'")),
    shell("nproc"),
    shell("awk '/MemTotal/ { printf \"%.0f GiB\", $2 / 1048576 }' /proc/meminfo"),
    R.version.string,
    shell("cut -d' ' -f1 /proc/loadavg")
  ))
  commit <- commit_here()
  cat(sprintf("- commit: %s, %s\n", if (nzchar(commit)) commit else "not known", format(Sys.Date())))
  cat(sprintf("- command: %s %s\n", program, paste(args, collapse = " ")))
}

# Returns the most memory that this process has had, in GiB.
peak <- function() as.double(gsub("[^0-9]", "", grep("^VmHWM", readLines("/proc/self/status"), value = TRUE))) / 1048576

# Returns the seconds per call of `calls` calls, and the last value. The clock counts microseconds, while that of
# system.time() counts milliseconds.
seconds_of <- function(call, calls = 1L) {
  gc(FALSE)
  start <- Sys.time()
  for (i in seq_len(calls)) {
    value <- call()
  }
  list(seconds = as.double(Sys.time() - start, units = "secs") / calls, value = value)
}

# Returns the number of calls that take 0.1 s in total.
calls_together <- function(seconds) as.integer(max(1, min(1000, ceiling(0.1 / max(seconds, 1e-6)))))

# Returns the seconds per call of the repeats, after a first one, and the last value. Stops once `enough` seconds are
# spent. A first call that takes half of that is the only one. So is a first call of a tenth of a second if one repeat
# is asked for.
timed <- function(call, repeats, enough = Inf) {
  found <- seconds_of(call)
  if (found$seconds >= if (repeats == 1L) 0.1 else enough / 2) {
    return(found)
  }
  calls <- if (found$seconds >= 1) 1L else calls_together(seconds_of(call)$seconds)
  seconds <- double()
  while (length(seconds) < repeats && (!length(seconds) || sum(seconds) * calls < enough)) {
    found <- seconds_of(call, calls)
    seconds <- c(seconds, found$seconds)
  }
  list(seconds = seconds, value = found$value)
}

# Calls the Rust functions and the exported ones with ill-formed input, for some minutes, in separate processes:
#
#   Rscript fuzz.R [MINUTES] [FIRST CASE]
#
# Fails if a process dies, a Rust panic shows, or a call does not come back. A case is known by its number. To run it
# again:
#   Rscript tools/fuzz/child.R NUMBER NUMBER /tmp/progress /tmp/tally
args <- commandArgs(trailingOnly = TRUE)
minutes <- if (length(args)) as.double(args[1]) else 1
first <- if (length(args) > 1) as.integer(args[2]) else as.integer(as.double(Sys.time())) %% 1000000L * 1000L
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))

batch <- 500L
# Seconds that one batch, or one case alone, may take before it counts as hung. A case has at most six variables: it
# takes milliseconds, but the machine may be busy.
batch_limit <- 600
case_limit <- 30
work <- tempfile("fuzz")
dir.create(work)

# Runs a child process with 8 GiB of address space. A wild allocation must fail there, and not bring down the machine.
run_child <- function(from, to, limit) {
  progress <- file.path(work, "progress")
  tally <- file.path(work, "tally")
  output <- file.path(work, "output")
  unlink(c(progress, tally, output))
  command <- sprintf(
    "ulimit -c 0; ulimit -v 8388608; exec timeout -k 5 %d %s %s %d %d %s %s >%s 2>&1 </dev/null",
    limit,
    shQuote(file.path(R.home("bin"), "Rscript")),
    shQuote(file.path(here, "child.R")),
    from,
    to,
    shQuote(progress),
    shQuote(tally),
    shQuote(output)
  )
  status <- system2("sh", c("-c", shQuote(command)))
  list(
    status = status,
    last = if (file.exists(progress)) as.integer(c(readLines(progress), NA)[1]) else NA_integer_,
    outcomes = if (file.exists(tally)) readRDS(tally),
    output = if (file.exists(output)) readLines(output, warn = FALSE) else character()
  )
}

panic <- "panick|RUST_BACKTRACE|thread '.*' .*at src|memory allocation of .* failed|Error in protected R code"
fail <- function(what, number, text = character()) {
  cat("\nFAILED:", what, "\n  case", number, "\n")
  if (length(text)) {
    cat(paste0("  ", utils::tail(text, 15)), sep = "\n")
  }
  cat(sprintf("  again: Rscript tools/fuzz/child.R %d %d /tmp/progress /tmp/tally\n", number, number))
  quit(status = 1)
}

deadline <- Sys.time() + 60 * minutes
all <- NULL
cat(sprintf("fuzzing for %g minutes from case %d\n", minutes, first))
while (Sys.time() < deadline) {
  run <- run_child(first, first + batch - 1L, batch_limit)
  if (run$status == 124) {
    if (is.na(run$last)) {
      fail("a process that does not begin", first, run$output)
    }
    # Slow, or hung? Running the case alone shows which.
    if (run_child(run$last, run$last, case_limit)$status == 124) {
      fail("a call that does not come back", run$last)
    }
    first <- run$last + 1L
    next
  }
  if (run$status != 0) {
    fail(sprintf("the process died (exit status %d)", run$status), run$last, run$output)
  }
  shown <- grepl(panic, run$outcomes[, 3])
  if (any(shown)) {
    fail("a panic reached R", as.integer(run$outcomes[shown, 1][1]), run$outcomes[shown, 3][1])
  }
  printed <- grep(panic, run$output, value = TRUE)
  if (length(printed)) {
    fail("a panic was printed, in one of the cases from here", first, printed)
  }
  all <- rbind(all, run$outcomes)
  first <- first + batch
}

kind <- sub(":.*", "", all[, 3])
cat(sprintf("\n%d cases, no crash, no panic, no hang\n", nrow(all)))
print(table(all[, 2], kind))
cat("\nThe commonest answers that are neither a value nor a classed error:\n")
other <- all[kind %in% c("plain error", "not a case"), , drop = FALSE]
top <- utils::head(sort(table(paste(other[, 2], substr(other[, 3], 1, 140), sep = ": ")), decreasing = TRUE), 15)
cat(sprintf("  %5d  %s", as.integer(top), names(top)), sep = "\n")
# Some cases may fail to be made; if many do, nothing is tested.
if (mean(kind == "not a case") > 0.05) {
  stop("more than one case in twenty could not be made: fix tools/fuzz/cases.R", call. = FALSE)
}

# Runs the cases FIRST ... LAST and writes their outcomes to TALLY. PROGRESS holds the number of the current case, for
# the parent to read if this process dies: Rscript child.R FIRST LAST PROGRESS TALLY
args <- commandArgs(trailingOnly = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
suppressPackageStartupMessages(library(pcgpu))
source(file.path(here, "cases.R"))
options(warn = -1)
namespace <- asNamespace("pcgpu")
outcomes <- list()

for (number in seq.int(as.integer(args[1]), as.integer(args[2]))) {
  writeLines(as.character(number), args[3])
  outcome <- tryCatch(
    {
      case <- make_case(number)
      tryCatch(
        {
          value <- suppressMessages(do.call(get(case$name, namespace), case$arguments, quote = TRUE))
          failure <- if (is.list(value)) value$error
          if (is.null(failure)) {
            "answer"
          } else {
            paste0("error list: ", toString(failure$class), ": ", toString(failure$message))
          }
        },
        error = function(e) {
          paste0(if (inherits(e, "pcgpu_error")) "classed error: " else "plain error: ", conditionMessage(e))
        },
        interrupt = function(e) "interrupt"
      )
    },
    error = function(e) paste("not a case:", conditionMessage(e))
  )
  outcomes[[length(outcomes) + 1]] <- c(number, if (exists("case")) case$name else "", outcome)
}
saveRDS(do.call(rbind, outcomes), args[4])

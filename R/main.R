#' Run pcgpu from a command line
#'
#' Runs a search as a program, for pipelines that are not R. The script `exec/pcgpu` of the package calls `main()`: it
#' reads a file, runs the function that the command names, and writes files. To put it on the `PATH`:
#'
#' ```sh
#' ln -s "$(Rscript -e 'cat(system.file("exec", "pcgpu", package = "pcgpu"))')" ~/bin/pcgpu
#' ```
#'
#' # Usage
#'
#' ```sh
#' pcgpu pc expression.csv --alpha 0.01 --tiers tiers.csv --out network.graphml --edges edges.csv
#' ```
#'
#' | command | runs | formats of `--out` |
#' |:--|:--|:--|
#' | `pc` | [pc()] | graph, picture, page, table, rds |
#' | `fci` | [fci()], or the function that `--method` names | the same |
#' | `select` | [select_features()] | picture, table, rds |
#' | `stability` | [stability()] | graph, picture, table, rds |
#' | `effects` | [pc()], then [causal_effects()] | picture, table, rds |
#' | `plan` | [plan_search()] | table, rds |
#' | `convert` | nothing: it reads and writes | table, rds, `.pcgpu`; for a saved result those of `pc` |
#'
#' Graphs are `.graphml`, `.xml`, `.dot`, `.gv`, `.sif` and `.cx2` ([write_network()]); pictures `.pdf`, `.png` and
#' `.svg`; a page is `.html` ([plot_cpdag()] with `interactive = TRUE`); tables are `.csv` and `.tsv`, also with `.gz`.
#'
#' `pcgpu COMMAND --help` lists the options of a command. Most are arguments of its function, with hyphens: `--m-max` is
#' `m.max`, and `--test` is `indepTest`. A switch takes no value, or `=false`. A file named `-` is stdin or stdout;
#' stdout gets tables as CSV. At least one of `--out`, `--edges` and `--summary` is needed.
#'
#' # Input
#'
#' - **Text** (`.csv`, `.tsv`, `.txt`, also compressed): a table with a header. The most frequent of tab, semicolon and
#'   comma in the header separates columns, or else blanks do. `NA` and empty fields are missing. The first column
#'   becomes the names of rows if its header is empty, or if it is text that differs in every row.
#' - `.rds`: what `saveRDS()` wrote: any data that [pc()] accepts, or for `convert` a result.
#' - `.pcgpu` ([pcgpu_file()]) and `.bed` ([plink_bed()]).
#' - `.parquet` and `.feather`, if the package arrow is installed.
#' - `.h5ad` and `.loom`, if the Bioconductor package HDF5Array is installed: cells are rows. Cells of the same patient
#'   are not independent, see [pc()].
#'
#' `--genes-in-rows` says that rows are the variables. `--levels` names columns of numbers that are codes.
#'
#' # Output
#'
#' Messages, warnings and progress go to stderr: a bar on a terminal, and a line for each level elsewhere. Only what `-`
#' requests goes to stdout. A file appears under its name only when it is complete, also if the program is interrupted.
#'
#' The same command gives the same answer: random numbers depend on `--seed`, which is 1 if it is left out.
#'
#' `--edges` writes [edge_table()] with the strength of each edge. If strengths cannot be computed, a warning says so,
#' and the table lacks them.
#'
#' `--summary` writes a JSON object with these fields. A field that a result does not have is left out.
#' - `pcgpu`, `R`: versions; `command`, `file`, `options` and `outputs`, as given;
#' - `rows`, `columns`: the size of the data; `missing`: the number of missing values;
#' - `variables`: the number of variables of the graph; `edges`: the `total`, and the number of each kind;
#' - `test`, `alpha`, `device`; `tests`: the number of tests at each level;
#' - `valid_cpdag`, see [run_details()]; `complete`: false if the time limit stopped the search;
#' - `seconds`: `read`, `run` and `total`; `warnings`, `messages`: their texts.
#'
#' # Exit codes
#'
#' | | |
#' |--:|:--|
#' | 0 | success, or `--time-limit` stopped the search after at least one level (a warning; `complete` is false) |
#' | 1 | the search failed, or a result could not be written |
#' | 2 | an error in the command, an argument or the input; or a package is not installed |
#' | 3 | the time limit ended the search before it had a result; with `--checkpoint`, repeat the command |
#' | 130 | interrupted |
#'
#' @eval option_section()
#' @section Examples of pipelines:
#' The folder `pipelines` of the installed package has a rule of Snakemake and a module of Nextflow.
#'
#' @param args The words of the command line, a character vector.
#' @return The exit code, invisibly. Errors are printed on stderr, not raised: `main()` raises no error. Only the script
#'   ends the R process.
#' @seealso [pc()], [fci()], [select_features()], [stability()], [causal_effects()], [plan_search()], [write_network()]
#' @examples
#' file <- system.file("extdata", "sachs.csv", package = "pcgpu")
#' code <- main(c("pc", file, "--alpha", "0.01", "--threads", "2", "--quiet", "--edges", "-"))
#' code
#' main(c("plan", "--help"))
#' @export
main <- function(args = commandArgs(TRUE)) {
  session <- new.env()
  session$began <- proc.time()[["elapsed"]]
  session$command <- intersect(args[1L], names(commands))
  session$quiet <- FALSE
  say <- function(kind, prefix) {
    function(condition) {
      remedy <- unname(remedies[intersect(class(condition), names(remedies))])
      text <- paste(c(sub("\n$", "", conditionMessage(condition)), remedy), collapse = " ")
      text <- in_options(text, session$command)
      is_new <- !text %in% session[[kind]]
      session[[kind]] <- c(session[[kind]], if (is_new) text)
      if (is_new && !(session$quiet && kind == "messages")) {
        cat(prefix, text, "\n", sep = "", file = stderr())
      }
      tryInvokeRestart(if (kind == "messages") "muffleMessage" else "muffleWarning")
    }
  }
  code <- tryCatch(
    withCallingHandlers(
      run_command(args, session),
      message = say("messages", ""),
      warning = say("warnings", "Warning: ")
    ),
    interrupt = function(e) 130L,
    error = function(e) {
      say("errors", "pcgpu: ")(e)
      exit_code(e, session)
    }
  )
  invisible(code)
}

# What the command line offers where a message names a remedy in R.
remedies <- c(pcgpu_message_rows = "(--genes-in-rows)", pcgpu_message_codes = "(--levels NAMES)")

exit_code <- function(e, session) {
  if (inherits(e, "pcgpu_error_time_limit")) {
    return(3L)
  }
  is_input <- inherits(e, c("pcgpu_error_argument", "pcgpu_error_package", "pcgpu_error_checkpoint"))
  if (is_input || is.null(session$ready)) 2L else 1L
}

run_command <- function(args, session) {
  if (!length(args)) {
    cat(help_lines(), sep = "\n", file = stderr())
    return(2L)
  }
  if (args[1L] %in% c("--help", "-h", "help")) {
    cat(help_lines(), sep = "\n")
    return(0L)
  }
  if (any(c("--help", "-h") %in% args) && length(session$command)) {
    cat(help_lines(session$command), sep = "\n")
    return(0L)
  }
  if ("--version" %in% args) {
    cat("pcgpu ", package_version(), "\n", sep = "")
    return(0L)
  }
  parsed <- parse_command(args)
  given <- parsed$given
  command <- parsed$command
  session$quiet <- isTRUE(given$quiet)
  if (length(parsed$files) != 1L) {
    abort_usage("give one FILE, not ", length(parsed$files), command = command)
  }
  check_outputs(given, command, args)
  data <- read_input(parsed$files, given)
  session$read <- proc.time()[["elapsed"]] - session$began
  if (is_data(data)) {
    size <- size_of_input(data)
    tell("read", sprintf("Read %s of %s.", counted(size[1L], "row"), counted(size[2L], "column")))
  }
  if (!is.null(given$fit)) {
    given$fit <- read_input(given$fit, list())
  }
  if (command == "convert") {
    check_outputs(given, command, args, formats_of(command, data))
  }
  session$ready <- TRUE
  # The same command gives the same answer, and finds its checkpoint.
  seed <- given$seed %||% 1
  found <- with_seed(seed, function() find_result(command, data, given, session))
  session$run <- proc.time()[["elapsed"]] - session$began - session$read
  with_seed(seed, function() write_outputs(found, data, given, parsed, session))
  0L
}

is_data <- function(x) length(dim(x)) == 2L && !is_compact(x)

is_assay <- function(x) methods::is(x, "SummarizedExperiment") || methods::is(x, "ExpressionSet")

# Returns the numbers of observations and variables.
size_of_input <- function(data) if (is_assay(data)) rev(dim(data)) else dim(data)

# Runs the function of a command.
find_result <- function(command, data, given, session) {
  arguments <- r_arguments(command, given)
  method <- given$method %||% "fci"
  if (command == "fci" && !method %in% c("fci", "rfci", "fciPlus")) {
    abort_usage("--method is fci, rfci or fciPlus, not '", method, "'", command = command)
  }
  call <- function(name, first) {
    # Two functions pass further arguments on; effects gives each of its two functions what it takes.
    takes <- c(names(formals(get(name, topenv()))), if (command %in% c("stability", "plan")) names(arguments))
    asked <- c(arguments, list(progress = session_progress(session)))
    asked <- asked[names(asked) %in% takes | command != "effects" & names(asked) != "progress"]
    # Results store their call, in which names stand for data and tables.
    words <- c(first, asked)
    is_large <- vapply(words, function(value) is.object(value) || length(value) > 20L, NA)
    env <- list2env(words[is_large], parent = topenv())
    words[is_large] <- lapply(names(words)[is_large], as.name)
    eval(as.call(c(as.name(name), words)), env)
  }
  switch(
    command,
    convert = data,
    fci = call(method, list(suffStat = data)),
    # The target is a column, which a file cannot leave out.
    select = call("select_features", list(x = if (is_file(data)) as.matrix(data) else data)),
    stability = call("stability", list(data = data)),
    plan = call("plan_search", list(suffStat = data)),
    pc = call("pc", list(suffStat = data)),
    effects = {
      fit <- given$fit %||% call("pc", list(suffStat = data))
      call("causal_effects", list(fit = fit, data = data))
    }
  )
}

# Returns `progress` for a search: a bar on a terminal; elsewhere a line for each level, and every ten seconds.
session_progress <- function(session) {
  if (session$quiet || isatty(stderr())) {
    return(!session$quiet)
  }
  began <- last <- session$began
  shown <- NULL
  is_search <- session$command %in% c("pc", "fci")
  report <- function(level, done, total, edges, tests = 0) {
    now <- proc.time()[["elapsed"]]
    ends <- is_search && done >= total
    text <- if (is_search) level_text(level, edges) else "Samples"
    if (now - last >= 10 || ends && !identical(text, shown)) {
      last <<- now
      shown <<- if (ends) text
      share <- if (ends) 1 else min(1, done / total)
      cat(sprintf("%s: %.0f %% after %s s\n", text, floor(100 * share), format_seconds(now - began)), file = stderr())
    }
    invisible()
  }
  structure(list(report = report, close = function() invisible()), class = "pcgpu_watch")
}

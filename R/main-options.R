# The options of the command line: one table, from which parsing, help and error messages come.

commands <- c(
  pc = "learn a causal graph (CPDAG) by the PC algorithm",
  fci = "learn a graph (PAG) if common causes may be unmeasured",
  select = "select the columns that are most informative about one of them",
  stability = "search resampled rows, and count how often each edge is found",
  effects = "bound the causal effects that the graph of pc allows",
  plan = "estimate the time and memory that pc would take",
  convert = "write data or a saved result in another format"
)

# Returns the table, a data frame. value: what follows the option, "" for a switch. A TABLE is a file; NAMES are
# separated by commas, or @FILE has one in each line. argument: that of the R function, "" if main() itself uses the
# option. An option may have rows of other commands that differ.
option_table <- function() {
  searches <- "pc fci stability effects plan"
  graphs <- "pc stability effects plan"
  finds <- "pc fci select stability effects plan"
  any <- paste(names(commands), collapse = " ")
  # fmt: skip
  rows <- list(
    c("alpha", "NUMBER", searches, "alpha", "significance level of each test, such as 0.01 (needed)"),
    c("test", "NAME", searches, "indepTest", "test, such as gaussCItest, rcot or knn; by default the columns decide"),
    c("method", "NAME", "fci", "", "fci (the default), rfci or fciPlus"),
    c("method", "NAME", "stability", "method", "pc (the default), fci, rfci or fciPlus"),
    c("target", "NAME", "select", "y", "column about which the others inform (needed)"),
    c("k", "NUMBER", "select", "k", "number of columns to select (needed)"),
    c("criterion", "NAMES", "select", "criterion", "JMI (the default), mRMR, CMIM, ... or several"),
    c("bins", "NUMBER", "select", "bins", "number of intervals of numeric columns"),
    c("discretize", "NAME", "select", "discretize", "equal-width (the default), equal-frequency or none"),
    c("beta", "NUMBER", "select", "beta", "weight of the criteria MIFS and Betagamma"),
    c("gamma", "NUMBER", "select", "gamma", "weight of the criterion Betagamma"),
    c("ensemble", "NUMBER", "select", "ensemble", "number of bootstrap samples to select from"),
    c("fit", "FILE", "effects", "", "result of pc that --out saved as .rds, in place of a search"),
    c("x", "NAMES", "effects", "x", "variables that are set; all by default"),
    c("y", "NAMES", "effects", "y", "variables that change; all by default"),
    c("method", "NAME", "effects", "method", "local (the default), optimal or global"),
    c("type", "NAME", "effects", "type", "cpdag or pdag"),
    c("keep", "NAME", "effects", "keep", "all (the default) or smallest effects"),
    c("replicates", "NUMBER", "stability", "replicates", "number of samples, 100 by default"),
    c("how", "NAME", "stability", "how", "bootstrap (the default) or subsample"),
    c("size", "NUMBER", "stability", "size", "rows of a sample"),
    c("threshold", "NUMBER", "stability", "threshold", "share of samples from which an edge is kept"),
    c("false-edges", "NUMBER", "stability", "false_edges", "bound on the expected number of false edges"),
    c("seconds", "NUMBER", "plan", "seconds", "how long to search, 10 by default"),
    c("tiers", "TABLE", searches, "tiers", "columns variable and tier: no arrow points to an earlier tier"),
    c("forbidden", "TABLE", searches, "forbidden", "columns from and to: arrows that are impossible"),
    c("required", "TABLE", searches, "required", "columns from and to: arrows that are certain"),
    c("context-all", "NAMES", graphs, "context.all", "variables that cause all others, and have no cause"),
    c("context-tier", "NAMES", graphs, "context.tier", "the same for the variables of their own tier"),
    c("na", "NAME", searches, "na", "missing values: error (the default) or testwise"),
    c("na", "NAME", "select", "na", "missing values: error (the default), complete or level"),
    c("correlation", "NAME", "pc fci stability plan", "correlation", "pearson, npn, spearman, kendall, ..."),
    c("weights", "NAME", "pc fci stability plan", "weights", "column with the weight of each row"),
    c("adjust", "NAMES", "pc fci stability plan", "adjust", "columns to adjust for, or a formula: '~ batch + age'"),
    c("id", "NAME", "pc fci stability plan", "id", "column of groups, within which values are compared"),
    c("m-max", "NUMBER", searches, "m.max", "size of the largest conditioning sets"),
    c("conservative", "", searches, "conservative", "decide v-structures by the conservative rule"),
    c("maj-rule", "", searches, "maj.rule", "decide them by the majority rule, the default without --test"),
    c("u2pd", "NAME", graphs, "u2pd", "relaxed (the default), valid, rand or retry"),
    c("solve-confl", "", graphs, "solve.confl", "mark contradictory arrows as <->"),
    c("skel-method", "NAME", searches, "skel.method", "stable (the default), stable.fast or original"),
    c("type", "NAME", "fci", "type", "normal (the default), anytime or adaptive"),
    c("pdsep-max", "NUMBER", "fci", "pdsep.max", "size of the largest possible-d-sep sets"),
    c("selection-bias", "", "fci", "selectionBias", "allow for selected samples, the default"),
    c("jci", "NAME", "fci", "jci", "assumptions on the context: 0 (the default), 1, 12 or 123"),
    c("context-vars", "NAMES", "fci", "contextVars", "variables of the context, for --jci"),
    c("checkpoint", "FILE", "pc fci", "checkpoint", "file from which the same command resumes"),
    c("time-limit", "NUMBER", "pc fci", "time_limit", "seconds after which the search returns what it has"),
    c("result", "NAME", "pc", "result", "pcAlgo or compact; by the number of variables"),
    c("seed", "NUMBER", "stability", "seed", "seed of random numbers; 1 if it is left out"),
    c("seed", "NUMBER", "pc fci select effects plan", "", "seed of random numbers; 1 if it is left out"),
    c("device", "NAMES", finds, "device", "auto (the default), cpu, cuda, cuda:1, cuda:all, ..."),
    c("threads", "NUMBER", finds, "numCores", "number of threads; all cores by default"),
    c("columns", "NAMES", any, "", "columns to use"),
    c("drop", "NAMES", any, "", "columns to leave out"),
    c("levels", "NAMES", any, "", "columns of codes: numbers that are levels"),
    c("row-names", "NAME", any, "", "column with the names of rows; by default text that differs in every row"),
    c("genes-in-rows", "", any, "", "rows are the variables, and columns the samples"),
    c("sep", "TEXT", any, "", "separator of columns; found in the first line by default"),
    c("dec", "TEXT", any, "", "decimal mark, . by default"),
    c("na-strings", "NAMES", any, "", "what stands for a missing value; NA and nothing by default"),
    c("layer", "NAME", any, "", "layer of an .h5ad or .loom file"),
    c("out", "FILE", any, "", "the result, in the format of the extension"),
    c("edges", "FILE", "pc fci stability", "", "the edges with their strengths, .csv or .tsv"),
    c("summary", "FILE", any, "", "a summary in JSON"),
    c("quiet", "", any, "", "no progress and no messages; warnings and errors stay"),
    c("help", "", any, "", "this text"),
    c("version", "", any, "", "the version of pcgpu")
  )
  table <- as.data.frame(do.call(rbind, rows))
  stats::setNames(table, c("name", "value", "commands", "argument", "help"))
}

needed_mark <- "(needed)"

options_of <- function(command) {
  table <- option_table()
  table[vapply(strsplit(table$commands, " "), function(of) command %in% of, NA), ]
}

# Raises an error about the command line.
abort_usage <- function(..., command = NULL) {
  see <- paste(c("pcgpu", command, "--help"), collapse = " ")
  abort("argument", paste0(..., " (", see, ")"), argument = "args", call = NULL)
}

did_you_mean <- function(name, names, mark = "") {
  closest <- closest_name(name, names)
  if (is.null(closest)) "" else sprintf("; did you mean %s%s?", mark, closest)
}

# Returns list(command, files, given, said): the values by the names of options, converted, and for the summary as they
# were said: a list or table as text.
parse_command <- function(args) {
  command <- args[1L]
  if (!command %in% names(commands)) {
    abort_usage("'", command, "' is not a command of pcgpu", did_you_mean(command, names(commands)))
  }
  table <- options_of(command)
  files <- character()
  given <- said <- list()
  rest <- args[-1L]
  while (length(rest)) {
    word <- rest[1L]
    rest <- rest[-1L]
    if (word == "--") {
      files <- c(files, rest)
      break
    }
    if (!startsWith(word, "-") || word == "-") {
      files <- c(files, word)
      next
    }
    name <- sub("=.*", "", sub("^--?", "", word))
    at <- if (startsWith(word, "--")) match(name, table$name) else NA
    if (is.na(at)) {
      other <- if (name %in% option_table()$name) sprintf(" of pcgpu %s", command)
      hint <- did_you_mean(name, table$name, "--")
      abort_usage(sub("=.*", "", word), " is not an option", other %||% hint, command = command)
    }
    if (!is.null(given[[name]])) {
      abort_usage("--", name, " is given twice", command = command)
    }
    kind <- table$value[at]
    value <- if (grepl("=", word, fixed = TRUE)) {
      sub("^[^=]*=", "", word)
    } else if (kind == "") {
      "true"
    }
    if (is.null(value)) {
      if (!length(rest) || startsWith(rest[1L], "--")) {
        abort_usage("--", name, " needs a value: ", kind, command = command)
      }
      value <- rest[1L]
      rest <- rest[-1L]
    }
    given[[name]] <- option_value(name, kind, value, command)
    said[[name]] <- if (kind %in% c("NAMES", "TABLE")) value else given[[name]]
  }
  needed <- table$name[endsWith(table$help, needed_mark)]
  missing <- if (is.null(given$fit)) setdiff(needed, names(given))
  if (length(missing)) {
    abort_usage("--", missing[1L], " is needed", command = command)
  }
  list(command = command, files = files, given = given, said = said)
}

option_value <- function(name, kind, value, command) {
  if (kind == "") {
    found <- c(true = TRUE, yes = TRUE, false = FALSE, no = FALSE)[tolower(value)]
    if (is.na(found)) {
      abort_usage("--", name, " is true or false, not '", value, "'", command = command)
    }
    return(unname(found))
  }
  if (kind == "NUMBER") {
    number <- suppressWarnings(as.numeric(value))
    if (is.na(number)) {
      abort_usage("--", name, " needs a number, not '", value, "'", command = command)
    }
    return(number)
  }
  if (kind == "NAMES") {
    if (startsWith(value, "@")) {
      check_input_file(substring(value, 2L))
      return(readLines(substring(value, 2L), encoding = "UTF-8", warn = FALSE))
    }
    return(if (nzchar(value)) strsplit(value, ",", fixed = TRUE)[[1L]] else "")
  }
  if (kind == "TABLE") read_delimited(value, list()) else value
}

# Returns the arguments of the R function, by name.
r_arguments <- function(command, given) {
  table <- options_of(command)
  table <- table[nzchar(table$argument) & table$name %in% names(given), ]
  arguments <- stats::setNames(given[table$name], table$argument)
  if (any(startsWith(as.character(arguments$adjust), "~"))) {
    arguments$adjust <- stats::as.formula(paste(arguments$adjust, collapse = ","), globalenv())
  }
  arguments
}

# Turns the names of R's arguments in a message into those of options: `m.max` into `--m-max`, and na = "testwise" into
# --na testwise.
in_options <- function(text, command) {
  if (!length(command)) {
    return(text)
  }
  table <- options_of(command)
  table <- table[nzchar(table$argument), ]
  for (at in seq_len(nrow(table))) {
    name <- gsub(".", "[.]", table$argument[at], fixed = TRUE)
    option <- paste0("--", table$name[at])
    text <- gsub(sprintf("`%s`", name), sprintf("`%s`", option), text)
    # A longer name may end in this one, and an R call has arguments after a bracket or comma.
    value <- "(?<![[:alnum:]_.(\\-])%s = (\"?)([[:alnum:].]*[[:alnum:]])\\1"
    text <- gsub(sprintf(value, name), paste(option, "\\2"), text, perl = TRUE)
  }
  text
}

# Returns the lines of --help, of a command or of all.
help_lines <- function(command = NULL) {
  if (is.null(command)) {
    return(c(
      "usage: pcgpu COMMAND FILE [options]",
      "",
      sprintf("  %s  %s", format(names(commands)), commands),
      "",
      "pcgpu COMMAND --help lists the options of a command, and pcgpu --version the version.",
      "FILE: .csv, .tsv, .txt (also .gz), .rds, .pcgpu, .bed, .parquet, .feather, .h5ad, .loom, or - (stdin).",
      "Exit codes: 0 success, 1 the search failed, 2 an error in the command or its input,",
      "3 no result within the time limit, 130 interrupted. ?pcgpu::main in R has the details."
    ))
  }
  table <- options_of(command)
  option <- paste0("  --", table$name, ifelse(nzchar(table$value), " ", ""), table$value)
  needed <- table[endsWith(table$help, needed_mark), ]
  c(
    trimws(paste0(
      sprintf("usage: pcgpu %s FILE ", command),
      paste(sprintf("--%s %s ", needed$name, needed$value), collapse = ""),
      "[options]"
    )),
    paste0("Formats of --out: ", paste0(".", formats_of(command), collapse = " ")),
    "A FILE named - is stdin or stdout. NAMES: a,b,c, or @FILE with one in each line. A TABLE is a file.",
    "",
    commands[[command]],
    "",
    paste(format(option), table$help, sep = "  ")
  )
}

# Returns the section of ?main that lists the options, as lines of roxygen.
option_section <- function() {
  table <- option_table()
  of <- ifelse(table$commands == paste(names(commands), collapse = " "), "all", gsub(" ", ", ", table$commands))
  c(
    "@section Options:",
    "| option | of | |",
    "|:--|:--|:--|",
    sprintf("| `--%s` | %s | %s |", trimws(paste(table$name, table$value)), of, table$help)
  )
}

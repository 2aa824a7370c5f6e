# Every error of the package is a classed condition: c("pcgpu_error_<kind>", "pcgpu_error", "error", "condition").
# Scripts can catch one kind, all errors of the package, or any error.

# Raises such an error. `kind` may be a vector, the most specific kind first: c("device_memory", "device").
abort <- function(kind, message, ..., class = character(), call = user_call()) {
  stop(structure(
    class = c(paste0("pcgpu_error_", kind), "pcgpu_error", class, "error", "condition"),
    list(message = message, call = call, ...)
  ))
}

# Raises the error for a bad argument. The message reads "`argument` is IS: HINT", "`argument` has HAS: HINT" or
# "`argument` needs NEEDS: HINT". By default IS describes the value. `pcalg` is pcalg's own sentence for the same
# mistake. It comes first and word for word, because scripts match on it.
abort_argument <- function(argument, value, hint, is = describe(value), has = NULL, needs = NULL, pcalg = NULL) {
  wrong <- if (!is.null(needs)) {
    paste("needs", needs)
  } else if (!is.null(has)) {
    paste("has", has)
  } else {
    paste("is", is)
  }
  said <- paste0("`", argument, "` ", wrong, ": ", hint)
  abort("argument", paste(c(pcalg, said), collapse = "\n"), argument = argument, value = value, hint = hint)
}

# Returns the call that the user wrote: that of the outermost frame which runs a function of this package.
user_call <- function() {
  here <- topenv()
  for (frame in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(frame)), here)) {
      return(sys.call(frame))
    }
  }
  NULL
}

# Describes a value in a few words, for an error message.
describe <- function(value) {
  if (is.null(value)) {
    return("NULL")
  }
  if (is.function(value)) {
    return("a function")
  }
  if (inherits(value, "igraph.edge")) {
    return("an edge sequence of igraph, whose edges() masks that of pcgpu (edge_table() returns the table of edges)")
  }
  if (is_file(value)) {
    return(sprintf("a data file with %s and %s", counted(nrow(value), "row"), counted(ncol(value), "column")))
  }
  if (is_plink(value)) {
    return(sprintf("a file of %s and %s", counted(nrow(value), "sample"), counted(value$p, "marker")))
  }
  if (is.data.frame(value)) {
    return(sprintf("a data frame with %s and %s", counted(nrow(value), "row"), counted(ncol(value), "column")))
  }
  if (length(dim(value)) == 2L) {
    return(sprintf(
      "a %d x %d %s matrix",
      nrow(value),
      ncol(value),
      if (isS4(value)) class(value)[1L] else typeof(value)
    ))
  }
  if (isS4(value) || is.environment(value) || is.list(value) && is.object(value)) {
    return(paste("an object of class", class(value)[1L]))
  }
  if (is.language(value)) {
    return("a language object")
  }
  if (length(value) == 0L) {
    return(sprintf("empty (%s)", class(value)[1L]))
  }
  if (is.list(value)) {
    return(sprintf("a list of %s", enumerate(names(value) %||% rep("(no name)", length(value)))))
  }
  shown <- enumerate(if (is.character(value)) dQuote(value, FALSE) else format(value, digits = 7L, trim = TRUE))
  if (inherits(value, "integer64")) paste0(shown, " (integer64: convert it with as.numeric())") else shown
}

# Returns "a, b, c", cut after `most` words, with the number of words left out.
enumerate <- function(words, most = 6L) {
  left <- length(words) - most
  if (left > 0L) {
    words <- c(words[seq_len(most)], sprintf("... (%d more)", left))
  }
  paste(words, collapse = ", ")
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# Returns a result of Rust, or raises the error that Rust reports. Rust returns errors as list(error = list(class,
# message, ...)), because R's C-level error() treats its text as a format string, in which a "%" is undefined behaviour.
check_rust <- function(result) {
  failure <- if (is.list(result)) result$error
  if (is.null(failure)) {
    return(result)
  }
  if (failure$class == "unwind") {
    # R code that Rust called jumped out of it (an error, a caught condition). Rust has cleaned up; now the jump
    # continues.
    rust_continue_unwind(failure$token)
  }
  if (failure$class == "condition") {
    stop_r_error(
      failure$condition,
      "a vector that R kept in compact form, such as 1:n,",
      "give R more memory, or drop variables or samples"
    )
  }
  if (failure$class == "interrupt") {
    interrupt()
  }
  fields <- failure[setdiff(names(failure), c("class", "message"))]
  # `quote` prevents do.call() from evaluating the call again.
  kind <- if (is_device_failure(failure)) {
    c(failure$class, "device")
  } else if (is_file_failure(failure)) {
    c(failure$class, "file")
  } else {
    failure$class
  }
  do.call(abort, c(list(kind, failure$message), fields, list(call = user_call())), quote = TRUE)
}

is_file_failure <- function(failure) startsWith(failure$class, "file_")

# Evaluates code that makes a result of class pcAlgo. Failed allocations of R become errors of the class that ours have.
with_room_for_pcalgo <- function(make) {
  with_room(
    make,
    "a result of class pcAlgo, with its p x p matrices and lists,",
    "give R more memory, or use `result = \"compact\"`"
  )
}

# Evaluates code that reads data. Failed allocations of R become errors of the class that ours have.
with_room_for_data <- function(make) {
  with_room(
    make,
    "a copy of the data, which R makes while it reads them,",
    "give R more memory, or drop variables or samples"
  )
}

# what: the object that takes the memory. hint: the remedy. A calling handler would not do: it would lack the memory,
# too.
with_room <- function(make, what, hint) {
  call <- user_call()
  tryCatch(make, simpleError = function(e) stop_r_error(e, what, hint, call))
}

# Raises R's own error again, or an error of class `memory` if R ran out of memory.
stop_r_error <- function(e, what, hint, call = user_call()) {
  if (!is_out_of_memory(e)) {
    stop(e)
  }
  abort(
    "memory",
    sprintf("not enough memory: %s needs more than there is (%s); %s", what, conditionMessage(e), hint),
    what = what,
    hint = hint,
    call = call
  )
}

# Decides by R's message, in the session's language.
is_out_of_memory <- function(e) {
  said <- c(
    paste("cannot allocate vector of size", c("%0.1f Gb", "%0.1f Mb", "%0.f Kb")),
    "cannot allocate memory block of size %0.1f Gb",
    "memory exhausted (limit reached?)",
    "vector memory exhausted (limit reached?)",
    "vector memory limit of %0.1f Gb reached"
  )
  any(startsWith(conditionMessage(e), sub("%.*", "", c(said, gettext(said, domain = "R")))))
}

# Stops as Ctrl-C in R code does: tryCatch(interrupt = ) catches it, otherwise R returns to the top level without a
# message.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

of_bioconductor <- c("Biobase", "BiocParallel", "DelayedArray", "Rgraphviz", "SummarizedExperiment")

# Returns the value of a user's function. Its errors name the argument that holds the function; our own errors pass
# unchanged.
of_function <- function(argument, value) {
  tryCatch(value, error = function(e) {
    if (inherits(e, "pcgpu_error")) {
      stop(e)
    }
    abort(
      "argument",
      sprintf("`%s` failed with an error: %s", argument, conditionMessage(e)),
      argument = argument,
      parent = e
    )
  })
}

# Stops if a suggested package is not installed. `what` begins the message and ends with "the package X".
need_package <- function(package, what) {
  if (!requireNamespace(package, quietly = TRUE)) {
    install <- if (package %in% of_bioconductor) "BiocManager::install" else "install.packages"
    abort("package", sprintf("%s, which is not installed: %s(\"%s\").", what, install, package), package = package)
  }
}

# Raises a warning of class c("pcgpu_warning_<kind>", "pcgpu_warning", "warning", "condition").
warn <- function(kind, message, ..., call = user_call()) {
  warning(structure(
    class = c(paste0("pcgpu_warning_", kind), "pcgpu_warning", "warning", "condition"),
    list(message = message, call = call, ...)
  ))
}

# Emits a message of class c("pcgpu_message_<kind>", "pcgpu_message", "message", "condition").
tell <- function(kind, message, ...) {
  message(structure(
    class = c(paste0("pcgpu_message_", kind), "pcgpu_message", "message", "condition"),
    list(message = paste0(message, "\n"), call = NULL, ...)
  ))
}

# Evaluates `value`, and turns an error about one of the arguments `named` into one about `argument`. `again` writes its
# message again.
about <- function(
  argument,
  value,
  named = "x",
  again = function(said) sub(paste0("`", named, "`"), paste0("`", argument, "`"), said, fixed = TRUE)
) {
  tryCatch(value, pcgpu_error_argument = function(e) {
    if (!isTRUE(e$argument %in% named)) {
      stop(e)
    }
    abort("argument", again(conditionMessage(e)), argument = argument, value = e$value, hint = e$hint)
  })
}

# Stops for the first argument that was left out. `missing` says by name whether an argument was, `hint` what to pass.
check_given <- function(missing, hint) {
  for (argument in names(missing)[unlist(missing)]) {
    abort_argument(
      argument,
      NULL,
      hint[[argument]],
      is = "missing",
      pcalg = sprintf("argument \"%s\" is missing, with no default", argument)
    )
  }
}

# Counts in sentences, with thousands separators and their noun, and lines that fit the console.

in_words <- function(count) format(count, big.mark = thousands_mark(), trim = TRUE, scientific = FALSE)

# Returns a comma, or a point if the comma is the decimal mark (options(OutDec = ",")).
thousands_mark <- function() if (identical(getOption("OutDec"), ",")) "." else ","

# Returns the pronoun for the chosen columns.
it_or_them <- function(which) if (sum(which) == 1L) "it" else "them"

# Returns the words for `needs` of abort_argument() if a table lacks columns.
column_for_each <- function(p, given) sprintf("a column for each of the %d variables, not %d", p, given)

counted <- function(count, one, many = paste0(one, "s")) paste(in_words(count), if (count == 1) one else many)

# Prints lines no wider than the console, and indents continuation lines. Errors, warnings and messages stay on one
# line, because scripts match on them.
say_lines <- function(...) {
  for (line in c(...)) {
    cat(strwrap(line, getOption("width"), exdent = 2L), sep = "\n")
  }
}

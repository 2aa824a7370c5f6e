# Every error of the package is a classed condition: c("pcgpu_error_<kind>", "pcgpu_error", "error", "condition"). A kind
# may have a kind of its own: c("device_memory", "device").
# Scripts can catch one kind, all of ours, or any error.

abort <- function(kind, message, ..., class = character(), call = user_call()) {
  stop(structure(
    class = c(paste0("pcgpu_error_", kind), "pcgpu_error", class, "error", "condition"),
    list(message = message, call = call, ...)
  ))
}

# The error for a bad argument. The message says that the argument `is` this (by default its value in a few words), or
# `has` that, and the hint; `pcalg` is pcalg's own sentence for the same mistake, put first and word for word, because
# scripts match on it.
abort_argument <- function(argument, value, hint, is = describe(value), has = NULL, pcalg = NULL) {
  said <- paste0("`", argument, "` ", if (is.null(has)) paste("is", is) else paste("has", has), ": ", hint)
  abort("argument", paste(c(pcalg, said), collapse = "\n"), argument = argument, value = value, hint = hint)
}

# The call that the user wrote: the outermost frame that runs a function of this package.
user_call <- function() {
  here <- topenv()
  for (frame in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(frame)), here)) {
      return(sys.call(frame))
    }
  }
  NULL
}

# A value in a few words, for an error message.
describe <- function(value) {
  if (is.null(value)) {
    return("NULL")
  }
  if (is.function(value)) {
    return("a function")
  }
  if (inherits(value, "igraph.edge")) {
    return("made by edges() of the package igraph, which masks that of pcgpu (edge_table() returns the table of edges)")
  }
  if (is_file(value)) {
    return(sprintf("a data file of %s and %s", counted(nrow(value), "row"), counted(ncol(value), "column")))
  }
  if (is.data.frame(value)) {
    return(sprintf("a data frame of %s and %s", counted(nrow(value), "row"), counted(ncol(value), "column")))
  }
  if (length(dim(value)) == 2L) {
    return(sprintf("a %d x %d %s matrix", nrow(value), ncol(value), if (isS4(value)) class(value)[1L] else typeof(value)))
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
  if (inherits(value, "integer64")) paste0(shown, " (integer64: give as.numeric() of it)") else shown
}

# "a, b, c", cut after `most` with the number that is left out.
enumerate <- function(words, most = 6L) {
  left <- length(words) - most
  if (left > 0L) {
    words <- c(words[seq_len(most)], sprintf("... (%d more)", left))
  }
  paste(words, collapse = ", ")
}

`%||%` <- function(x, y) if (is.null(x)) y else x

# Passes a result of Rust on, or raises the error that Rust reports. Rust answers with list(error = list(class, message,
# ...)), because R's C-level error() takes its text for a format, in which a "%" is undefined behaviour.
check_rust <- function(result) {
  failure <- if (is.list(result)) result$error
  if (is.null(failure)) {
    return(result)
  }
  if (failure$class == "unwind") {
    # R code that Rust called jumped out of it (an error, a caught condition). Rust has cleaned up, and the jump goes on.
    rust_continue_unwind(failure$token)
  }
  if (failure$class == "condition") {
    stop_r_error(failure$condition, "a vector that R kept in compact form, as 1:n,", "give R more memory, or leave variables or samples out")
  }
  if (failure$class == "interrupt") {
    interrupt()
  }
  fields <- failure[setdiff(names(failure), c("class", "message"))]
  # Quoted, or the call would be run once more.
  kind <- if (is_device_failure(failure)) c(failure$class, "device") else if (is_file_failure(failure)) c(failure$class, "file") else failure$class
  do.call(abort, c(list(kind, failure$message), fields, list(call = user_call())), quote = TRUE)
}

is_file_failure <- function(failure) startsWith(failure$class, "file_")

# Runs what makes a result of class pcAlgo. Where R's own allocation fails, of a list or a string, that is an error as where ours does.
# Not by a calling handler, which would find no memory either.
with_room_for_pcalgo <- function(make) {
  with_room(make, "a result of class pcAlgo, with its p x p matrices and lists,", "give R more memory, or ask for `result = \"compact\"`")
}

# Likewise of data that are read.
with_room_for_data <- function(make) with_room(make, "a copy of the data, which R makes as it reads them,", "give R more memory, or leave variables or samples out")

# what: what takes the memory. hint: what else can be done.
with_room <- function(make, what, hint) {
  call <- user_call()
  tryCatch(make, simpleError = function(e) stop_r_error(e, what, hint, call))
}

# R's own error, of class `memory` where that is what it is of.
stop_r_error <- function(e, what, hint, call = user_call()) {
  if (!is_out_of_memory(e)) stop(e)
  abort("memory", sprintf("not enough memory: %s takes more than there is (%s); %s", what, conditionMessage(e), hint), what = what, hint = hint, call = call)
}

# By R's message, in the session's language.
is_out_of_memory <- function(e) {
  said <- c(
    paste("cannot allocate vector of size", c("%0.1f Gb", "%0.1f Mb", "%0.f Kb")), "cannot allocate memory block of size %0.1f Gb",
    "memory exhausted (limit reached?)", "vector memory exhausted (limit reached?)", "vector memory limit of %0.1f Gb reached"
  )
  any(startsWith(conditionMessage(e), sub("%.*", "", c(said, gettext(said, domain = "R")))))
}

# Stops as Ctrl-C in R code does: tryCatch(interrupt = ) sees it, otherwise R goes back to the top level without a
# message.
interrupt <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  invokeRestart("abort")
}

of_bioconductor <- c("Biobase", "BiocParallel", "DelayedArray", "Rgraphviz", "SummarizedExperiment")

# The value of a user's function, whose errors say which function it was. Our own errors pass.
of_function <- function(argument, value) {
  tryCatch(value, error = function(e) {
    if (inherits(e, "pcgpu_error")) stop(e)
    abort("argument", sprintf("`%s` ended with an error: %s", argument, conditionMessage(e)), argument = argument, parent = e)
  })
}

# For what needs a package that is only suggested. `what` says who needs it, "... of the package X".
need_package <- function(package, what) {
  if (!requireNamespace(package, quietly = TRUE)) {
    install <- if (package %in% of_bioconductor) "BiocManager::install" else "install.packages"
    abort("package", sprintf("%s, which is not installed: %s(\"%s\").", what, install, package), package = package)
  }
}

# A warning with a class, c("pcgpu_warning_<kind>", "pcgpu_warning", "warning", "condition").
warn <- function(kind, message, ..., call = user_call()) {
  warning(structure(
    class = c(paste0("pcgpu_warning_", kind), "pcgpu_warning", "warning", "condition"),
    list(message = message, call = call, ...)
  ))
}

# A message with a class, c("pcgpu_message_<kind>", "pcgpu_message", "message", "condition").
tell <- function(kind, message, ...) {
  message(structure(
    class = c(paste0("pcgpu_message_", kind), "pcgpu_message", "message", "condition"),
    list(message = paste0(message, "\n"), call = NULL, ...)
  ))
}

# Stops for the first argument that was left out: `missing` has by name whether it was, `hint` what to give.
check_given <- function(missing, hint) {
  for (argument in names(missing)[unlist(missing)]) {
    abort_argument(argument, NULL, hint[[argument]],
      is = "missing", pcalg = sprintf("argument \"%s\" is missing, with no default", argument)
    )
  }
}

# Describes a test that is an R function, and its sufficient statistic, for a checkpoint. The description has plain
# values only, and is the same in this session and the next. The file stores its digest. It includes data behind
# references: in environments, in objects of reference classes and of R6, and variables that functions and formulas take
# from the environments in which they were made. Data that R cannot read are refused, because a file could not
# distinguish them.

with_code <- function(test, limits, indepTest, suffStat) {
  if (!is.null(limits$file) && test$kind == "function") {
    test$code <- known_bytes(indepTest, "indepTest", limits$file)
    test$stat <- known_bytes(suffStat, "suffStat", limits$file)
  }
  test
}

known_bytes <- function(x, argument, file) {
  refuse <- function(has) {
    hint <- "leave out `checkpoint`, or give the data as vectors, matrices and lists"
    abort(
      "checkpoint",
      sprintf("the checkpoint %s cannot be used because `%s` %s: %s.", dQuote(file, FALSE), argument, has, hint),
      reason = "unreadable",
      file = file,
      what = has,
      hint = hint
    )
  }
  too_deep <- function(e) refuse("is nested too deeply to be compared between calls")
  # Numbers environments in the order in which they are met, and records which variables of each have been read.
  seen <- list2env(list(met = utils::hashtab("address"), refuse = refuse), parent = emptyenv())
  known <- tryCatch(
    known_value(x, seen),
    stackOverflowError = too_deep,
    expressionStackOverflowError = too_deep,
    CStackOverflowError = too_deep
  )
  # Version 2 writes 1:3 and c(1L, 2L, 3L) alike.
  serialize(known, NULL, version = 2L)
}

# Returns plain values as they are, and anything else as a list that begins with its kind. It uses no methods for the
# class of x, which may reject x.
known_value <- function(x, seen) {
  if (is.null(x) || is.atomic(x)) {
    if (all_plain(attributes(x))) {
      return(x)
    }
    bare <- x
    attributes(bare) <- NULL
    return(list("values", bare, known_attributes(x, seen)))
  }
  if (is_kept(x)) {
    return(list("kept data", known_value(unclass(x)[c("data", "n")], seen)))
  }
  if (isS4(x) && methods::is(x, "envRefClass")) {
    return(known_reference(x, seen))
  }
  switch(
    typeof(x),
    list = ,
    expression = list(typeof(x), known_each(unclass(x), seen), known_attributes(x, seen)),
    pairlist = ,
    language = known_code(x, seen),
    symbol = list("symbol", as.character(x)),
    closure = known_function(x, seen),
    environment = list("environment", known_environment(x, seen), known_attributes(x, seen)),
    S4 = list("S4", known_attributes(x, seen)),
    builtin = ,
    special = list("primitive", deparse(x)),
    seen$refuse(sprintf(
      "contains an object of type %s (class %s), whose data R cannot read",
      dQuote(typeof(x), FALSE),
      class(x)[1L]
    ))
  )
}

known_each <- function(x, seen) {
  lapply(seq_along(x), function(i) if (is_empty_symbol(x[[i]])) list("nothing") else known_value(x[[i]], seen))
}

is_empty_symbol <- function(x) is.symbol(x) && identical(x, quote(expr = ))

# Attributes that are not part of a value: R's source references, and data.table's address of a table in memory.
passing_attributes <- c("srcref", "srcfile", "wholeSrcref", ".internal.selfref")

known_attributes <- function(x, seen, without = passing_attributes) {
  about <- attributes(x)
  about <- about[!names(about) %in% without]
  if (length(about)) list(names(about), known_each(unname(about), seen))
}

# Returns whether attributes, and their own attributes, are plain values.
all_plain <- function(about) {
  for (value in about) {
    if (
      !(is.null(value) || is.atomic(value) || is.list(value) && !is.object(value) && all_plain(value)) ||
        !all_plain(attributes(value))
    ) {
      return(FALSE)
    }
  }
  TRUE
}

# Describes calls and lists of arguments. A formula has an environment, too.
known_code <- function(code, seen) {
  parts <- as.list(code)
  # The fourth part is the source reference.
  if (is.call(code) && identical(code[[1L]], quote(`function`))) {
    parts <- parts[1:3]
  }
  home <- attr(code, ".Environment", exact = TRUE)
  list(
    typeof(code),
    names(parts),
    known_each(unname(parts), seen),
    known_attributes(code, seen, c(passing_attributes, ".Environment")),
    if (is.environment(home)) known_captured(code, home, seen)
  )
}

known_function <- function(fun, seen) {
  list(
    "function",
    known_value(formals(fun), seen),
    known_value(body(fun), seen),
    known_attributes(fun, seen),
    known_captured(list(formals(fun), body(fun)), environment(fun), seen)
  )
}

# With these functions, code may read variables that it does not name. Those of `read_by_name` do so only if the name is
# not a literal text.
read_by_name <- c("get", "get0", "mget", "dynGet")
read_unnamed <- c(read_by_name, "eval", "evalq", "environment", "as.environment", "parent.env")

reads_unnamed <- function(code) {
  if (is.symbol(code)) {
    return(as.character(code) %in% read_unnamed)
  }
  if (!is_made_of_parts(code)) {
    return(FALSE)
  }
  named <- is.call(code) &&
    is.symbol(code[[1L]]) &&
    as.character(code[[1L]]) %in% read_by_name &&
    length(code) > 1L &&
    is.character(code[[2L]])
  any(unlist(each_part(if (named) code[-1L] else code, reads_unnamed)))
}

is_made_of_parts <- function(code) is.call(code) || is.pairlist(code) || is.expression(code) || is.list(code)

# Calls a function for each part of an expression. An omitted argument, as in m[1, ], is a symbol without a name, which
# cannot be passed to a function.
each_part <- function(code, walk) {
  lapply(seq_along(code), function(i) if (!is_empty_symbol(code[[i]])) walk(code[[i]]))
}

# Describes the variables that code names, as a symbol or in quotes, in the environments from `home` on. It stops at the
# workspace, a package or base R, which it describes by name. A variable that the code itself assigns with `<<-`, such
# as a counter, is state, not data: it may differ when a call is repeated.
known_captured <- function(code, home, seen) {
  words <- unique(words_of(code))
  state <- unique(assigned_outside(code))
  unnamed <- reads_unnamed(code)
  found <- list()
  while (is.null(name <- environment_name(home))) {
    there <- ls(home, all.names = TRUE, sorted = FALSE)
    named <- if (unnamed) there else intersect(words, there)
    is_state <- vapply(named, function(variable) variable %in% state && !holds_environment(variable, home), NA)
    found <- c(found, list(known_variables(named[!is_state], home, seen)))
    # Variables of these names in outer environments are hidden.
    words <- setdiff(words, there)
    home <- parent.env(home)
  }
  list(found, name)
}

words_of <- function(code) {
  if (is.symbol(code)) {
    as.character(code)
  } else if (is.character(code)) {
    code
  } else if (is_made_of_parts(code)) {
    unlist(each_part(code, words_of))
  }
}

assigned_outside <- function(code) {
  if (!is_made_of_parts(code)) {
    return(NULL)
  }
  target <- if (is.call(code) && identical(code[[1L]], quote(`<<-`))) code[[2L]]
  # As in x[[1]] <<- 2.
  while (is.call(target) && length(target) > 1L) {
    target <- target[[2L]]
  }
  c(if (is.symbol(target) || is.character(target)) as.character(target), unlist(each_part(code, assigned_outside)))
}

holds_environment <- function(name, frame) {
  !bindingIsActive(as.name(name), frame) && tryCatch(is.environment(.subset2(frame, name)), error = function(e) FALSE)
}

# Returns the name of an environment whose variables are not read, NULL for others.
environment_name <- function(frame) {
  is_named <- identical(frame, globalenv()) ||
    identical(frame, baseenv()) ||
    identical(frame, emptyenv()) ||
    isNamespace(frame) ||
    grepl("^(package|imports):", environmentName(frame))
  if (is_named) environmentName(frame)
}

known_environment <- function(frame, seen) {
  names <- ls(frame, all.names = TRUE, sorted = FALSE)
  # This method of R6 is the same in all objects and names no variables.
  if (inherits(frame, "R6")) {
    names <- setdiff(names, "clone")
  }
  environment_name(frame) %||% known_variables(names, frame, seen)
}

# Describes those of these variables that have not been read yet, in an order that is the same in all locales.
known_variables <- function(names, frame, seen) {
  met <- utils::gethash(seen$met, frame)
  if (is.null(met)) {
    met <- list2env(list(number = utils::numhash(seen$met) + 1L, read = character()), parent = emptyenv())
    utils::sethash(seen$met, frame, met)
  }
  new <- sort(setdiff(names, met$read), method = "radix")
  met$read <- c(met$read, new)
  list(met$number, new, lapply(new, known_variable, frame = frame, seen = seen))
}

known_variable <- function(name, frame, seen) {
  # Reading an active binding could have side effects. The prototype of a typed field of a reference class is an active
  # binding, too.
  if (bindingIsActive(as.name(name), frame)) {
    fun <- activeBindingFunction(as.name(name), frame)
    if (!methods::is(fun, "defaultBindingFunction")) {
      return(list("active", known_function(fun, seen)))
    }
  }
  # `frame` may hold a promise that fails.
  failed <- function(e) {
    seen$refuse(sprintf("contains %s, which cannot be evaluated (%s)", dQuote(name, FALSE), conditionMessage(e)))
  }
  value <- tryCatch(if (name == "...") eval(quote(list(...)), frame) else .subset2(frame, name), error = failed)
  if (missing(value)) list("missing") else known_value(value, seen)
}

# Describes an object of a reference class by its fields and the methods of its class, except those that all classes
# have. Its environment also has variables that appear only as they are used.
known_reference <- function(x, seen) {
  frame <- as.environment(x)
  about <- .subset2(frame, ".refClassDef")
  methods <- grep("#envRefClass$", ls(about@refMethods, all.names = TRUE), value = TRUE, invert = TRUE)
  methods <- setdiff(methods, ls(methods::getClass("envRefClass")@refMethods, all.names = TRUE))
  list(
    "reference",
    class(x),
    known_variables(names(about@fieldClasses), frame, seen),
    known_variables(methods, about@refMethods, seen)
  )
}

# What a checkpoint knows of a test that is an R function and of its sufficient statistic: structures of plain values, the same in this session and the next, whose
# digest the file has. Data behind references are read: in environments, objects of reference classes and of R6, and what functions and formulas take from the
# environments they were made in. Data that R cannot read are refused, as a file could not tell one from the other.

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
    abort("checkpoint", sprintf("the checkpoint %s cannot be used because `%s` %s: %s.", dQuote(file, FALSE), argument, has, hint),
      reason = "unreadable", file = file, what = has, hint = hint
    )
  }
  too_deep <- function(e) refuse("is nested too deeply to be compared between calls")
  # Environments by the order in which they are met, and which variables of each have been read.
  seen <- list2env(list(met = utils::hashtab("address"), refuse = refuse), parent = emptyenv())
  known <- tryCatch(known_value(x, seen), stackOverflowError = too_deep, expressionStackOverflowError = too_deep, CStackOverflowError = too_deep)
  # Version 2 writes 1:3 and c(1L, 2L, 3L) alike.
  serialize(known, NULL, version = 2L)
}

# Values as they are; anything else as a list that begins with its kind. Methods for the class of x are not asked: it may hold here what they do not allow.
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
  switch(typeof(x),
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
    seen$refuse(sprintf("contains an object of type %s (class %s), whose data R cannot read", dQuote(typeof(x), FALSE), class(x)[1L]))
  )
}

known_each <- function(x, seen) {
  lapply(seq_along(x), function(i) if (is_empty_symbol(x[[i]])) list("nothing") else known_value(x[[i]], seen))
}

is_empty_symbol <- function(x) is.symbol(x) && identical(x, quote(expr = ))

# Where R has kept the source of code, and where data.table has a table in memory: not part of a value.
passing_attributes <- c("srcref", "srcfile", "wholeSrcref", ".internal.selfref")

known_attributes <- function(x, seen, without = passing_attributes) {
  about <- attributes(x)
  about <- about[!names(about) %in% without]
  if (length(about)) list(names(about), known_each(unname(about), seen))
}

# Attributes, and theirs, of values alone.
all_plain <- function(about) {
  for (value in about) {
    if (!(is.null(value) || is.atomic(value) || is.list(value) && !is.object(value) && all_plain(value)) || !all_plain(attributes(value))) {
      return(FALSE)
    }
  }
  TRUE
}

# Calls and lists of arguments; a formula has an environment, too.
known_code <- function(code, seen) {
  parts <- as.list(code)
  # The fourth is where the source is.
  if (is.call(code) && identical(code[[1L]], quote(`function`))) parts <- parts[1:3]
  home <- attr(code, ".Environment", exact = TRUE)
  list(
    typeof(code), names(parts), known_each(unname(parts), seen), known_attributes(code, seen, c(passing_attributes, ".Environment")),
    if (is.environment(home)) known_captured(code, home, seen)
  )
}

known_function <- function(fun, seen) {
  list(
    "function", known_value(formals(fun), seen), known_value(body(fun), seen), known_attributes(fun, seen),
    known_captured(list(formals(fun), body(fun)), environment(fun), seen)
  )
}

# By these, code may read variables that it does not name: by the first ones where the name is not a text.
read_by_name <- c("get", "get0", "mget", "dynGet")
read_unnamed <- c(read_by_name, "eval", "evalq", "environment", "as.environment", "parent.env")

reads_unnamed <- function(code) {
  if (is.symbol(code)) {
    return(as.character(code) %in% read_unnamed)
  }
  if (!is_made_of_parts(code)) {
    return(FALSE)
  }
  named <- is.call(code) && is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% read_by_name && length(code) > 1L && is.character(code[[2L]])
  any(unlist(each_part(if (named) code[-1L] else code, reads_unnamed)))
}

is_made_of_parts <- function(code) is.call(code) || is.pairlist(code) || is.expression(code) || is.list(code)

# An argument that is left out, as in m[1, ], is a symbol without a name, which cannot be passed on.
each_part <- function(code, walk) {
  lapply(seq_along(code), function(i) if (!is_empty_symbol(code[[i]])) walk(code[[i]]))
}

# The variables that code names, as a symbol or in quotes, in the environments from `home` on up to the workspace, a package or the base of R, which are known by
# name. A variable that the code itself assigns with `<<-` is its state and no data, such as a counter: it may differ when a call is repeated.
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
    # Those of outer environments are hidden.
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
  while (is.call(target) && length(target) > 1L) target <- target[[2L]]
  c(if (is.symbol(target) || is.character(target)) as.character(target), unlist(each_part(code, assigned_outside)))
}

holds_environment <- function(name, frame) {
  !bindingIsActive(as.name(name), frame) && tryCatch(is.environment(.subset2(frame, name)), error = function(e) FALSE)
}

# The name of an environment that is not read; NULL for others.
environment_name <- function(frame) {
  is_named <- identical(frame, globalenv()) || identical(frame, baseenv()) || identical(frame, emptyenv()) || isNamespace(frame) ||
    grepl("^(package|imports):", environmentName(frame))
  if (is_named) environmentName(frame)
}

known_environment <- function(frame, seen) {
  names <- ls(frame, all.names = TRUE, sorted = FALSE)
  # This method of R6 is the same in all objects, and names no variable.
  if (inherits(frame, "R6")) names <- setdiff(names, "clone")
  environment_name(frame) %||% known_variables(names, frame, seen)
}

# Of these variables those that have not been read yet, in an order that is the same in all languages.
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
  # To ask an active binding could change something. The prototype of a typed field of a reference class is one, too.
  if (bindingIsActive(as.name(name), frame)) {
    fun <- activeBindingFunction(as.name(name), frame)
    if (!methods::is(fun, "defaultBindingFunction")) {
      return(list("active", known_function(fun, seen)))
    }
  }
  # A promise that fails.
  failed <- function(e) seen$refuse(sprintf("contains %s, which cannot be evaluated (%s)", dQuote(name, FALSE), conditionMessage(e)))
  value <- tryCatch(if (name == "...") eval(quote(list(...)), frame) else .subset2(frame, name), error = failed)
  if (missing(value)) list("missing") else known_value(value, seen)
}

# Its fields, and the methods of its class but for those that all classes have. The environment has more, which comes as it is used.
known_reference <- function(x, seen) {
  frame <- as.environment(x)
  about <- .subset2(frame, ".refClassDef")
  methods <- grep("#envRefClass$", ls(about@refMethods, all.names = TRUE), value = TRUE, invert = TRUE)
  methods <- setdiff(methods, ls(methods::getClass("envRefClass")@refMethods, all.names = TRUE))
  list(
    "reference", class(x), known_variables(names(about@fieldClasses), frame, seen), known_variables(methods, about@refMethods, seen)
  )
}

# Checks background knowledge: `tiers`, `forbidden`, `required`, `context.all`, `context.tier` of pc_control(). Returns
# it in the form that Rust reads (background.rs has the rules), or NULL. `pairs`: which pairs are fixed gaps, or NULL.
check_knowledge <- function(control, labels, pairs, method, u2pd) {
  given <- !vapply(control[knowledge_arguments], is.null, TRUE)
  if (!any(given)) {
    return(NULL)
  }
  argument <- knowledge_arguments[given][1L]
  tiers <- control$tiers
  if (!u2pd %in% c("relaxed", "valid")) {
    abort_argument("u2pd", u2pd, sprintf("use u2pd = \"relaxed\" or \"valid\", or leave out `%s`.", argument))
  }
  if (method == "stable.fast" && !is.null(tiers)) {
    abort_argument(
      "tiers",
      tiers,
      "use method = \"stable\", which is as fast; pcalg's \"stable.fast\" defines no order of tests for tiers.",
      is = "given with method \"stable.fast\""
    )
  }
  knowledge <- list(
    tiers = check_tiers(tiers, labels),
    tier_names = names_of_tiers(tiers),
    context_all = check_context(control$context.all, "context.all", labels),
    context_tier = check_context(control$context.tier, "context.tier", labels),
    forbidden = check_arrows(control$forbidden, "forbidden", labels),
    required = check_arrows(control$required, "required", labels)
  )
  check_contexts(knowledge, labels)
  check_required(knowledge, labels, pairs)
  knowledge
}

# Returns a tier for each variable, from a vector, by name or position, or from a list of names. knowledge-tables.R
# lists what else is accepted.
check_tiers <- function(tiers, labels) {
  if (is.null(tiers)) {
    return(NULL)
  }
  p <- length(labels)
  hint <- paste(
    "use a number for each variable, named or in their order, such as c(age = 1, diet = 2, weight = 3), or a list of",
    "the names in each tier,",
    "such as list(\"age\", c(\"diet\", \"sport\"), \"weight\")."
  )
  tiers <- tiers_as_given(tiers, labels, hint)
  if (is.list(tiers)) {
    # split() names tiers by number, but sorts the names as text.
    numbers <- suppressWarnings(as.numeric(names(tiers)))
    if (length(numbers) && !anyNA(numbers)) {
      tiers <- tiers[order(numbers)]
    }
    members <- lapply(tiers, which_variables, argument = "tiers", labels = labels, hint = hint)
    tiers <- stats::setNames(rep(seq_along(members), lengths(members)), labels[unlist(members)])
  }
  if (is.ordered(tiers)) {
    tiers <- stats::setNames(as.integer(tiers), names(tiers))
  }
  if (!is.numeric(tiers)) {
    abort_argument("tiers", tiers, hint)
  }
  if (anyNA(tiers)) {
    abort_argument(
      "tiers",
      tiers,
      "assign every variable to a tier.",
      has = paste("NA for", counted(sum(is.na(tiers)), "variable"))
    )
  }
  if (!is.null(names(tiers))) {
    repeated <- unique(names(tiers)[duplicated(names(tiers))])
    if (length(repeated)) {
      abort_argument(
        "tiers",
        tiers,
        "put each variable into one tier.",
        has = paste("duplicated names,", enumerate(dQuote(repeated, FALSE)))
      )
    }
    unknown <- setdiff(names(tiers), labels)
    if (length(unknown)) {
      abort_unknown("tiers", tiers, unknown, labels, "use the labels of the variables.")
    }
    missing <- setdiff(labels, names(tiers))
    if (length(missing)) {
      abort_argument(
        "tiers",
        tiers,
        "assign every variable to a tier.",
        has = paste("no tier for", enumerate(dQuote(missing, FALSE)))
      )
    }
    tiers <- tiers[labels]
  }
  if (length(tiers) != p) {
    abort_argument(
      "tiers",
      tiers,
      "name the values, or use the order of the labels.",
      needs = sprintf("a value for each of the %d variables, not %d", p, length(tiers))
    )
  }
  as.double(tiers)
}

# Returns the names of tiers 1, 2, ..., which are headings of pictures; NULL if they have none. tiers: as given.
names_of_tiers <- function(tiers) {
  # A list of single numbers has the names of variables.
  is_list <- is.list(tiers) && !is.data.frame(tiers) && length(tiers) > 0L
  if (is_list && all(vapply(tiers, function(of) is.numeric(of) && length(of) == 1L, NA))) {
    return(NULL)
  }
  heads <- if (is_list) {
    names(tiers)
  } else if (is.ordered(tiers)) {
    levels(tiers)
  }
  if (length(heads) && all(nzchar(heads)) && anyNA(suppressWarnings(as.numeric(heads)))) heads
}

# Returns the numbers of variables that are given by name or number.
which_variables <- function(which, argument, labels, hint) {
  if (is.factor(which)) {
    which <- as.character(which)
  }
  if (is.character(which)) {
    at <- match(which, labels)
    if (anyNA(at)) {
      abort_unknown(argument, which, unique(which[is.na(at)]), labels, "use the labels of the variables.")
    }
    return(at)
  }
  if (!is.numeric(which) || anyNA(which) || any(which != trunc(which) | which < 1 | which > length(labels))) {
    abort_argument(argument, which, hint)
  }
  as.integer(which)
}

check_context <- function(context, argument, labels) {
  if (is.null(context)) {
    return(integer(0))
  }
  unique(which_variables(
    context,
    argument,
    labels,
    sprintf("use names of variables, or numbers from 1 to %d.", length(labels))
  ))
}

# Returns arrows as numbers of variables, all `from` and then all `to`. They are given as a table (knowledge-tables.R
# determines the columns) or as an adjacency matrix.
check_arrows <- function(arrows, argument, labels) {
  # A table that a script has built from nothing may have no columns.
  if (is.null(arrows) || is.list(arrows) && (!length(arrows) || is.data.frame(arrows) && !nrow(arrows))) {
    return(integer(0))
  }
  p <- length(labels)
  hint <- sprintf(
    paste(
      "use a table with two columns, from and to, that hold names or numbers of variables, such as data.frame(from =",
      "\"a\", to = \"b\"),",
      "or a logical %d x %d matrix that is TRUE at [from, to]."
    ),
    p,
    p
  )
  if (isS4(arrows) && methods::is(arrows, "Matrix")) {
    arrows <- as.matrix(arrows)
  }
  if (is_adjacency(arrows, labels)) {
    check_matrix_names(arrows, labels, argument)
    if (anyNA(arrows)) {
      abort_argument(argument, arrows, hint, has = paste("NA in", counted(sum(is.na(arrows)), "entry", "entries")))
    }
    if (any(diag(arrows) != 0)) {
      refuse_loop(argument, arrows, labels[diag(arrows) != 0][1L])
    }
    to <- about(argument, edges_of(arrows, "use its rows of edges() with the kind \"-->\""))$edges
    from <- rep.int(seq_len(p), lengths(to))
    to <- unlist(to, use.names = FALSE)
  } else {
    refuse <- function(has = NULL) abort_argument(argument, arrows, hint, has = has)
    found <- arrows_of_kinds(arrow_columns(arrows, refuse), argument, arrows)
    from <- which_variables(found$from, argument, labels, hint)
    to <- which_variables(found$to, argument, labels, hint)
    if (any(from == to)) refuse_loop(argument, arrows, labels[from[from == to][1L]])
  }
  kept <- !duplicated(cbind(from, to))
  c(from[kept], to[kept])
}

# Returns whether this is a p x p adjacency matrix. A matrix of numbers is a table of pairs unless all are 0 or 1, or
# its attribute `type` marks it as pcalg's. A matrix whose columns are named from and to is a table of pairs, unless
# variables have these names.
is_adjacency <- function(arrows, labels) {
  p <- length(labels)
  is.matrix(arrows) &&
    identical(dim(arrows), c(p, p)) &&
    (is.logical(arrows) || is.numeric(arrows) && (!is.null(attr(arrows, "type")) || all(arrows %in% 0:1))) &&
    (is.null(ends_named(colnames(arrows))) || all(colnames(arrows) %in% labels))
}

refuse_loop <- function(argument, arrows, label) {
  abort_argument(argument, arrows, "remove it.", has = sprintf("an arrow from %s to itself", dQuote(label, FALSE)))
}

# Returns list(from, to) for arrows of check_arrows().
arrow_ends <- function(arrows) {
  count <- length(arrows) / 2L
  list(from = arrows[seq_len(count)], to = arrows[count + seq_len(count)])
}

check_contexts <- function(knowledge, labels) {
  both <- intersect(knowledge$context_all, knowledge$context_tier)
  if (length(both)) {
    abort_argument(
      "context.tier",
      labels[both],
      "remove each from one of the two.",
      has = sprintf("variables that `context.all` has too (%s)", enumerate(dQuote(labels[both], FALSE)))
    )
  }
  late <- if (!is.null(knowledge$tiers)) {
    knowledge$context_all[knowledge$tiers[knowledge$context_all] > min(knowledge$tiers)]
  }
  if (length(late)) {
    abort_argument(
      "context.all",
      labels[late],
      "put them into the first tier, because they may cause all others.",
      has = sprintf("variables that are not in the first tier (%s)", enumerate(dQuote(labels[late], FALSE)))
    )
  }
}

# Checks that required arrows are possible, and names one that is not.
check_required <- function(knowledge, labels, pairs) {
  required <- arrow_ends(knowledge$required)
  if (!length(required$from)) {
    return(invisible())
  }
  key <- function(arrows) paste(arrows$from, arrows$to)
  named <- function(at) sprintf("%s -> %s", labels[required$from[at]], labels[required$to[at]])
  refuse <- function(is_wrong, what, hint) {
    if (any(is_wrong)) abort_argument("required", NULL, hint, has = paste(named(which(is_wrong)[1L]), what, sep = ", "))
  }
  reversed <- list(from = required$to, to = required$from)
  refuse(key(required) %in% key(reversed), "and the reverse", "remove one of the two.")
  refuse(
    key(required) %in% key(arrow_ends(knowledge$forbidden)),
    "which `forbidden` has too",
    "remove it from one of the two."
  )
  if (!is.null(knowledge$tiers)) {
    refuse(
      knowledge$tiers[required$from] > knowledge$tiers[required$to],
      "from a later tier to an earlier one",
      "remove it, or change `tiers`."
    )
  }
  context <- c(knowledge$context_all, knowledge$context_tier)
  refuse(
    required$to %in% context,
    "but variables of the context have no causes",
    "remove it, or take the variable out of the context."
  )
  if (length(knowledge$context_tier) && !is.null(knowledge$tiers)) {
    refuse(
      required$from %in% knowledge$context_tier & knowledge$tiers[required$from] != knowledge$tiers[required$to],
      "but variables of `context.tier` cause only their own tier",
      "remove it, or take the variable out of `context.tier`."
    )
  }
  if (!is.null(pairs)) {
    refuse(pairs[cbind(required$from, required$to)], "which `fixedGaps` excludes", "remove it from one of the two.")
  }
  cycle <- find_cycle(required, length(labels))
  if (length(cycle)) {
    abort_argument(
      "required",
      NULL,
      "remove one of these arrows.",
      has = paste("a cycle,", paste(labels[cycle], collapse = " -> "))
    )
  }
}

# Returns the vertices of a cycle of arrows, with the first repeated at the end, or NULL if there is none.
find_cycle <- function(arrows, p) {
  children <- split(arrows$to, factor(arrows$from, levels = seq_len(p)))
  state <- integer(p)
  for (start in unique(arrows$from)) {
    path <- start
    todo <- list(children[[start]])
    state[start] <- 1L
    while (length(path)) {
      top <- length(path)
      if (!length(todo[[top]])) {
        state[path[top]] <- 2L
        path <- path[-top]
        todo <- todo[-top]
        next
      }
      child <- todo[[top]][1L]
      todo[[top]] <- todo[[top]][-1L]
      if (state[child] == 1L) {
        return(c(path[match(child, path):top], child))
      }
      if (state[child] == 0L) {
        state[child] <- 1L
        path <- c(path, child)
        todo <- c(todo, list(children[[child]]))
      }
    }
  }
  NULL
}

# Reports v-structures that the tests suggest and knowledge excludes: a column [a, b, c] is a -> b <- c.
tell_against <- function(against, labels) {
  if (!length(against$triples)) {
    return(invisible())
  }
  triples <- matrix(labels[against$triples], 3L)
  shown <- sprintf("%s -> %s <- %s", triples[1L, ], triples[2L, ], triples[3L, ])
  tell(
    "knowledge",
    sprintf(
      "%s suggested by the tests %s the background knowledge and %s ignored, such as %s.",
      counted(against$count, "v-structure"),
      if (against$count == 1) "contradicts" else "contradict",
      if (against$count == 1) "was" else "were",
      enumerate(shown, 3L)
    ),
    triples = triples,
    count = against$count
  )
}

# Reports how many v-structures are over pairs that were never tested, as in pcalg.
tell_untested <- function(count) {
  if (!is.null(count) && count > 0) {
    tell(
      "untested",
      sprintf(
        paste(
          "%s over pairs that were never tested, because of `fixedGaps` or knowledge that was not passed here.",
          "As in pcalg, every chain over such a pair becomes a v-structure.",
          "Pass the knowledge again, or set `maj.rule = TRUE` and pass the test, so that these pairs are tested."
        ),
        counted(count, "v-structure was oriented", "v-structures were oriented")
      ),
      count = count
    )
  }
}

# Reports how many triples orient() leaves without a v-structure because there was no test.
tell_undecided <- function(count) {
  if (count > 0) {
    tell(
      "untested",
      sprintf(
        paste(
          "%s over pairs that background knowledge excluded from testing. Pass `suffStat`, `indepTest` and `alpha` to",
          "let tests decide, as in pc()."
        ),
        counted(count, "triple was left without a v-structure", "triples were left without a v-structure")
      ),
      count = count
    )
  }
}

# Background knowledge on directions: `tiers`, `forbidden`, `required`, `context.all`, `context.tier` of pc_control(), as Rust wants it (background.rs has the
# rules), or NULL. `pairs`: which pairs are fixed gaps, or NULL.
check_knowledge <- function(control, labels, pairs, method, u2pd) {
  given <- !vapply(control[knowledge_arguments], is.null, TRUE)
  if (!any(given)) {
    return(NULL)
  }
  argument <- knowledge_arguments[given][1L]
  tiers <- control$tiers
  if (!u2pd %in% c("relaxed", "valid")) {
    abort_argument("u2pd", u2pd, sprintf("give u2pd = \"relaxed\" or \"valid\", or leave out `%s`.", argument))
  }
  if (method == "stable.fast" && !is.null(tiers)) {
    abort_argument("tiers", tiers, "take method \"stable\", which is as fast, or \"original\": pcalg's \"stable.fast\" has no order for tiers.",
      is = "given with method \"stable.fast\""
    )
  }
  knowledge <- list(
    tiers = check_tiers(tiers, labels),
    context_all = check_context(control$context.all, "context.all", labels),
    context_tier = check_context(control$context.tier, "context.tier", labels),
    forbidden = check_arrows(control$forbidden, "forbidden", labels),
    required = check_arrows(control$required, "required", labels)
  )
  check_contexts(knowledge, labels)
  check_required(knowledge, labels, pairs)
  knowledge
}

# A number for each variable: of a vector by name or by position, or the place in a list of names. knowledge-tables.R says what else may be given.
check_tiers <- function(tiers, labels) {
  if (is.null(tiers)) {
    return(NULL)
  }
  p <- length(labels)
  hint <- paste(
    "give a number for each variable, named or in their order, such as c(age = 1, diet = 2, weight = 3), or a list of their names,",
    "the first tier first, such as list(\"age\", c(\"diet\", \"sport\"), \"weight\")."
  )
  tiers <- tiers_as_given(tiers, labels, hint)
  if (is.list(tiers)) {
    # split() names tiers by their numbers, in the order of text.
    numbers <- suppressWarnings(as.numeric(names(tiers)))
    if (length(numbers) && !anyNA(numbers)) tiers <- tiers[order(numbers)]
    members <- lapply(tiers, which_variables, argument = "tiers", labels = labels, hint = hint)
    tiers <- stats::setNames(rep(seq_along(members), lengths(members)), labels[unlist(members)])
  }
  if (is.ordered(tiers)) tiers <- stats::setNames(as.integer(tiers), names(tiers))
  if (!is.numeric(tiers)) abort_argument("tiers", tiers, hint)
  if (anyNA(tiers)) {
    abort_argument("tiers", tiers, "give every variable a tier.", has = paste("NA at", counted(sum(is.na(tiers)), "place")))
  }
  if (!is.null(names(tiers))) {
    repeated <- unique(names(tiers)[duplicated(names(tiers))])
    if (length(repeated)) {
      abort_argument("tiers", tiers, "put each variable into one tier.",
        has = paste("more than once", enumerate(dQuote(repeated, FALSE)))
      )
    }
    unknown <- setdiff(names(tiers), labels)
    if (length(unknown)) {
      abort_argument("tiers", tiers, "use the labels of the variables.",
        has = paste("names that are no variable's,", enumerate(dQuote(unknown, FALSE)))
      )
    }
    missing <- setdiff(labels, names(tiers))
    if (length(missing)) {
      abort_argument("tiers", tiers, "give every variable a tier.", has = paste("no tier for", enumerate(dQuote(missing, FALSE))))
    }
    tiers <- tiers[labels]
  }
  if (length(tiers) != p) {
    abort_argument("tiers", tiers, sprintf("give a number for each of the %d variables.", p),
      is = sprintf("of %d numbers", length(tiers))
    )
  }
  as.double(tiers)
}

# Numbers of variables, of their names or numbers.
which_variables <- function(which, argument, labels, hint) {
  if (is.factor(which)) which <- as.character(which)
  if (is.character(which)) {
    at <- match(which, labels)
    if (anyNA(at)) {
      abort_argument(argument, which, "use the labels of the variables.",
        has = paste("names that are no variable's,", enumerate(dQuote(unique(which[is.na(at)]), FALSE)))
      )
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
  unique(which_variables(context, argument, labels, sprintf("give names of variables, or numbers from 1 to %d.", length(labels))))
}

# Two columns of variables, from and to: of a table (knowledge-tables.R says which columns), or of the edges of an adjacency matrix.
check_arrows <- function(arrows, argument, labels) {
  # A table that a script has put together of nothing has no columns, either.
  if (is.null(arrows) || is.list(arrows) && (!length(arrows) || is.data.frame(arrows) && !nrow(arrows))) {
    return(integer(0))
  }
  p <- length(labels)
  hint <- sprintf(paste(
    "give a table of two columns, from and to, of names or numbers of variables, such as data.frame(from = \"a\", to = \"b\"),",
    "or a logical %d x %d matrix that is TRUE at [from, to]."
  ), p, p)
  if (isS4(arrows) && methods::is(arrows, "Matrix")) arrows <- as.matrix(arrows)
  if (is_adjacency(arrows, labels)) {
    check_matrix_names(arrows, labels, argument)
    if (anyNA(arrows)) abort_argument(argument, arrows, hint, has = paste("NA at", counted(sum(is.na(arrows)), "place")))
    if (any(diag(arrows) != 0)) refuse_loop(argument, arrows, labels[diag(arrows) != 0][1L])
    to <- about(argument, edges_of(arrows, "its arrows are rows of edges() whose kind is \"-->\""))$edges
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

# A p x p matrix of arrows. One of numbers is a table of pairs unless all are 0 or 1, or its attribute `type` says that it is pcalg's; so is one whose columns are named
# from and to, unless variables are called so.
is_adjacency <- function(arrows, labels) {
  p <- length(labels)
  is.matrix(arrows) && identical(dim(arrows), c(p, p)) &&
    (is.logical(arrows) || is.numeric(arrows) && (!is.null(attr(arrows, "type")) || all(arrows %in% 0:1))) &&
    (is.null(ends_named(colnames(arrows))) || all(colnames(arrows) %in% labels))
}

refuse_loop <- function(argument, arrows, label) {
  abort_argument(argument, arrows, "leave out arrows from a variable to itself.", has = paste("one of", dQuote(label, FALSE)))
}

# from and to of arrows as check_arrows() returns them.
arrow_ends <- function(arrows) {
  count <- length(arrows) / 2L
  list(from = arrows[seq_len(count)], to = arrows[count + seq_len(count)])
}

check_contexts <- function(knowledge, labels) {
  both <- intersect(knowledge$context_all, knowledge$context_tier)
  if (length(both)) {
    abort_argument("context.tier", labels[both], "leave a variable out of one of them.",
      has = paste("what `context.all` has, too,", enumerate(dQuote(labels[both], FALSE)))
    )
  }
  late <- if (!is.null(knowledge$tiers)) knowledge$context_all[knowledge$tiers[knowledge$context_all] > min(knowledge$tiers)]
  if (length(late)) {
    abort_argument("context.all", labels[late], "put them into the first tier, as causes of all others.",
      has = paste("variables of a later tier,", enumerate(dQuote(labels[late], FALSE)))
    )
  }
}

# What is required must be possible, and say so by name where it is not.
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
  refuse(key(required) %in% key(reversed), "and the reverse", "leave out one of the two.")
  refuse(key(required) %in% key(arrow_ends(knowledge$forbidden)), "which `forbidden` has, too", "leave it out of one of them.")
  if (!is.null(knowledge$tiers)) {
    refuse(knowledge$tiers[required$from] > knowledge$tiers[required$to], "from a later tier to an earlier one",
      "change `tiers`, or leave it out."
    )
  }
  context <- c(knowledge$context_all, knowledge$context_tier)
  refuse(required$to %in% context, "into a variable of the context, which has no cause", "leave it out, or the variable out of the context.")
  if (length(knowledge$context_tier) && !is.null(knowledge$tiers)) {
    refuse(required$from %in% knowledge$context_tier & knowledge$tiers[required$from] != knowledge$tiers[required$to],
      "out of the tier of a `context.tier`", "leave it out, or the variable out of `context.tier`."
    )
  }
  if (!is.null(pairs)) refuse(pairs[cbind(required$from, required$to)], "which `fixedGaps` has as a gap", "leave it out of one of them.")
  cycle <- find_cycle(required, length(labels))
  if (length(cycle)) {
    abort_argument("required", NULL, "take one of these arrows out.",
      has = paste("a cycle,", paste(labels[cycle], collapse = " -> "))
    )
  }
}

# The vertices of a cycle of arrows, the first one again at the end; none: NULL.
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

# Says which v-structures the data suggest that knowledge excludes: [a, b, c] by column, a -> b <- c.
tell_against <- function(against, labels) {
  if (!length(against$triples)) {
    return(invisible())
  }
  triples <- matrix(labels[against$triples], 3L)
  shown <- sprintf("%s -> %s <- %s", triples[1L, ], triples[2L, ], triples[3L, ])
  tell("knowledge", sprintf(
    "The data speak against what is known at %s: the separating sets suggest %s, which knowledge excludes.",
    if (against$count == 1) "one place" else sprintf("%.0f places", against$count), enumerate(shown, 3L)
  ), triples = triples, count = against$count)
}

# Says how many v-structures join pairs that were never tested, as pcalg has them: `arrows` are their from and to, and untested(x, y) says which pairs are such.
tell_untested <- function(arrows, untested) {
  parents <- split(arrows$from, arrows$to)
  counts <- vapply(parents[lengths(parents) > 1L], function(of) {
    at <- which(upper.tri(diag(length(of))), arr.ind = TRUE)
    sum(untested(of[at[, 1L]], of[at[, 2L]]))
  }, 0)
  count <- sum(counts)
  if (count > 0) {
    tell("untested", sprintf(
      "%s over pairs that no test has looked at (`fixedGaps`, or knowledge that was not given here): as in pcalg, every chain over such a pair becomes one. Give the knowledge again, or `maj.rule = TRUE` with the test, which tests the pair.",
      counted(count, "v-structure")
    ), count = count)
  }
}

# Which pairs of variables are fixed gaps.
fixed_pairs <- function(options) {
  gaps <- options$fixed_gaps
  # With "stable.fast" a pair that is in both has an edge.
  if (options$method == "stable.fast" && !is.null(options$fixed_edges)) gaps <- gaps & !options$fixed_edges
  function(x, y) gaps[cbind(x, y)]
}

# Likewise of a skeleton: pairs that are apart without a separating set.
unseparated_pairs <- function(skel) {
  p <- length(if (is_compact(skel)) skel@labels else skel@sepset)
  if (is_compact(skel)) {
    gaps <- rep.int(seq_len(p), diff(as.double(skel@gaps$start))) * as.double(p) + skel@gaps$to
    return(function(x, y) (pmin(x, y) * as.double(p) + pmax(x, y)) %in% gaps)
  }
  # A p-value of -Inf or -1 says that there was no test; what has an edge has no set, either.
  tested <- skel@pMax
  if (!identical(dim(tested), c(p, p))) {
    return(function(x, y) logical(length(x)))
  }
  edges <- network_of(skel)$edges
  joined <- pmin(edges$from, edges$to) * as.double(p) + pmax(edges$from, edges$to)
  function(x, y) {
    low <- pmin(x, y)
    high <- pmax(x, y)
    is_gap <- !is.na(tested[cbind(low, high)]) & tested[cbind(low, high)] < 0 & !(low * as.double(p) + high) %in% joined
    has_none <- function(x, y) is.null(skel@sepset[[x]][[y]]) && is.null(skel@sepset[[y]][[x]])
    is_gap[is_gap] <- unlist(Map(has_none, low[is_gap], high[is_gap]))
    is_gap
  }
}

# Says how many triples orient() has left open for want of a test.
tell_undecided <- function(count) {
  if (count > 0) {
    tell("untested", sprintf(
      "%s over pairs that knowledge has kept from being tested: left without a v-structure. Give `suffStat`, `indepTest` and `alpha`, and tests decide, as in pc().",
      counted(count, "triple")
    ), count = count)
  }
}

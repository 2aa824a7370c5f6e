# Code shared by fci(), rfci() and fciPlus(): from checked arguments by one call of Rust to a result of class fciAlgo.

# The arguments of pc_control() that these functions use. Results have a p x p matrix of marks: there is no compact one.
fci_control <- c(
  "checkpoint",
  "time_limit",
  "cluster",
  "parallel_tests",
  "tiers",
  "forbidden",
  "required",
  "na",
  "correlation",
  "weights",
  "adjust",
  "id"
)

# Runs one of these functions. `given`: its arguments, see search_arguments(); `asked`: what it asks for, as rust_fci()
# expects it.
run_fci <- function(given, asked, control, call) {
  options <- search_options(
    given,
    control,
    fixedEdges = with_context_edges(given$fixedEdges, asked, length(given$labels))
  )
  asked["knowledge"] <- options["knowledge"]
  options["knowledge"] <- list(NULL)
  check_jci_knowledge(asked, given$labels, control)
  request <- search_request(given, options, control, call)
  on <- place_of_search(request)
  fit <- with_room(
    fci_on(request, asked, on),
    "a result of class fciAlgo, with its p x p matrices and lists,",
    "give R more memory, or select variables first, see select_features()"
  )
  hand_over(fit, options$limits)
}

# Adds fixed edges between context variables if jci = "123".
with_context_edges <- function(fixedEdges, asked, p) {
  if (asked$jci != "123" || !length(asked$context)) {
    return(fixedEdges)
  }
  if (is.null(fixedEdges)) {
    fixedEdges <- matrix(FALSE, p, p)
  }
  if (is.matrix(fixedEdges) && identical(dim(fixedEdges), c(p, p))) {
    fixedEdges[asked$context, asked$context] <- TRUE
  }
  fixedEdges
}

# Runs the search and builds the result. on: calls a function with the machine as Rust expects it.
fci_on <- function(request, asked, on) {
  test <- request$test
  labels <- request$labels
  options <- request$options
  verbose <- request$verbose
  bar <- progress_reporter(request$progress, fci_level_text(session))
  on.exit(bar$close())
  # pcalg's fciPlus() prints nothing about its skeleton.
  if (verbose > 0L && asked$algorithm != "fciPlus") {
    cat("Compute Skeleton\n================\n")
  }
  result <- clock <- NULL
  found <- on(function(engine) {
    result <<- empty_result("fciAlgo")
    session$fci_phase <- FALSE
    clock <<- search_clock(bar$report)
    callbacks <- c(
      list(progress = clock$report, phase = phase_teller(test$kind)),
      limit_callbacks(options$limits),
      fci_printers(verbose, options, test$kind, asked$algorithm)
    )
    rust_fci(test, options, asked, engine, callbacks, result)
  })
  bar$close()
  times <- clock$read(found)
  found <- after_search(found, test, options)
  if (!is.null(found$fallback)) {
    tell_fallback(found$fallback$error)
  }
  tell_disputed(found$disputed, labels)
  tell_against_jci(found$amat, asked, labels)
  if (asked$rule == "standard") {
    tell_untested_heads(found$amat, options)
  }
  warn_limits(found, options$limits)
  warn_phase(found, options$limits)
  call <- with_details(
    request$call,
    found$device,
    found$exact_tests,
    unlist(found$memory),
    NULL,
    NULL,
    team_by_phase(found, asked),
    found$ended,
    c(
      list(
        algorithm = asked$algorithm,
        test = test$name,
        alpha = options$alpha,
        samples = samples_of(test),
        phase = phase_details(found, asked)
      ),
      tiers_in(asked)
    ),
    times
  )
  fill_fci(result, labels, found, asked, call, options$method)
}

# Fills the slots of pcalg's class as pcalg's function of this name does.
fill_fci <- function(result, labels, found, asked, call, method) {
  amat <- found$amat
  dimnames(amat) <- list(labels, labels)
  p <- length(labels)
  slots <- list(call = call, n = integer(0), amat = amat)
  if (asked$algorithm == "fciPlus") {
    slots <- c(
      slots,
      list(
        max.ord = integer(0),
        max.ordPDSEP = integer(0),
        n.edgetests = integer(0),
        n.edgetestsPDSEP = integer(0),
        sepset = list(),
        pMax = matrix(0, 1L, 1L),
        allPdsep = list()
      )
    )
  } else {
    slots <- c(
      slots,
      list(
        max.ord = as.integer(found$max_ord),
        n.edgetests = edge_tests(found$n_edgetests, method),
        pMax = found$pMax,
        max.ordPDSEP = as.integer(found$max_ord_pdsep %||% 0L),
        n.edgetestsPDSEP = as.double(found$n_edgetests_pdsep %||% 0),
        allPdsep = possible_sets(found$all_pdsep, p)
      )
    )
  }
  check_rust(rust_fill_slots(result, slots))
}

# Returns the possible-d-sep sets of p variables in pcalg's form: NULL for an empty set, and for all variables if there
# was no phase.
possible_sets <- function(sets, p) {
  sets <- unname(sets) %||% vector("list", p)
  sets[lengths(sets) == 0L] <- list(NULL)
  sets
}

# Adds the phase to each row of the team's work. Rows of the skeleton come first.
team_by_phase <- function(found, asked) {
  team <- found$team
  if (!is.null(team) && !is.null(asked$phase)) {
    of_skeleton <- found$team_skeleton
    team$phase <- rep(c("skeleton", "possible-d-sep"), c(of_skeleton, length(team$machine) - of_skeleton))
  }
  team
}

# Returns the details of the possible-d-sep phase for run_details().
phase_details <- function(found, asked) {
  if (is.null(found$all_tests_pdsep)) {
    return(NULL)
  }
  list(tests = found$all_tests_pdsep, ended = if (!is.null(found$ended_phase)) found$ended_phase - 1L)
}

# Returns the callbacks that print, see printers(). After the skeleton, and so after the first text, pcalg prints tests
# in its R code's format, even if its C++ code ran the skeleton.
fci_printers <- function(verbose, options, kind, algorithm) {
  prints <- printers(verbose, options$method, kind, options$p, is.null(options$limits))
  if (is.null(prints$test)) {
    return(if (algorithm != "fciPlus") prints)
  }
  say <- function(text) {
    print_test <<- test_printer("stable")
    cat(text)
  }
  print_test <- prints$test
  prints$test <- function(...) print_test(...)
  c(if (algorithm != "fciPlus") prints, list(say = say))
}

# The largest possible number of tests above which a message precedes the phase, by kind of test: some tenths of a
# second on two threads.
told_phase_tests <- c(gauss = 1e7, discrete = 3e4, mixed = 1e4, features = 1e4, knn = 100, "function" = 1000)

# Returns a function that is called when the possible-d-sep phase begins.
phase_teller <- function(kind) {
  function(edges, most) {
    session$fci_phase <- TRUE
    if (most > told_phase_tests[[kind]]) {
      tell(
        "pdsep",
        sprintf(
          "The possible-d-sep phase may need %s tests for %s. Limit it with `m.max` or `pdsep.max`, or use rfci().",
          if (is.finite(most)) {
            paste("up to", format(signif(most, 3L), big.mark = thousands_mark(), trim = TRUE))
          } else {
            "more than 1e308"
          },
          counted(edges, "edge")
        ),
        tests = most,
        edges = edges
      )
    }
  }
}

# Returns the text of the progress bar. Sizes of the second search are shown with the name of the phase.
fci_level_text <- function(session) {
  function(level, edges) {
    text <- level_text(level, edges)
    if (isTRUE(session$fci_phase)) sub("Level", "Possible d-sep, sets of", text, fixed = TRUE) else text
  }
}

# Warns if the time limit stopped the possible-d-sep phase.
warn_phase <- function(found, limits) {
  if (!is.null(found$ended_phase) && is.null(found$ended)) {
    size <- found$ended_phase
    remedy <- if (is.null(limits$file)) {
      "Allow more time for larger sets"
    } else {
      "Repeat the call to continue from the checkpoint"
    }
    warn(
      "time_limit",
      sprintf(
        paste(
          "`time_limit` is %s: the possible-d-sep phase stopped at sets of size %d, so the result uses its sets up to",
          "size %d. %s."
        ),
        format(limits$seconds, digits = 7L),
        size,
        size - 1L,
        remedy
      ),
      level = size - 1L,
      seconds = limits$seconds
    )
  }
}

# Reports how many colliders there are over fixed gaps, see tell_untested().
tell_untested_heads <- function(amat, options) {
  if (any(options$fixed_gaps)) {
    # With "stable.fast" a pair that is in both has an edge.
    gaps <- options$fixed_gaps
    if (options$method == "stable.fast" && !is.null(options$fixed_edges)) {
      gaps <- gaps & !options$fixed_edges
    }
    over_gaps <- function(v) sum(gaps[v, v][upper.tri(diag(length(v)))])
    heads <- which(amat == 2, arr.ind = TRUE)
    tell_untested(sum(vapply(split(heads[, 1L], heads[, 2L]), over_gaps, 0)))
  }
}

# Reports marks that are known but that rules contradict. `disputed`: pairs (u, v) of numbers of variables.
tell_disputed <- function(disputed, labels) {
  if (!length(disputed)) {
    return(invisible())
  }
  pairs <- matrix(disputed, 2L)
  said <- enumerate(sprintf(
    "%s on the edge to %s",
    dQuote(labels[pairs[2L, ]], FALSE),
    dQuote(labels[pairs[1L, ]], FALSE)
  ))
  tell(
    "knowledge",
    sprintf("The data contradict what is known about the mark at %s. The knowledge was kept.", said),
    pairs = t(pairs)
  )
}

# Checks rules, selectionBias, jci and contextVars, with pcalg's own error messages.
check_marking <- function(rules, selectionBias, jci, contextVars, paths, labels) {
  if (!is.logical(rules) || length(rules) != 10L || anyNA(rules)) {
    abort_argument(
      "rules",
      rules,
      "give ten values TRUE or FALSE, one for each of the rules R1 to R10.",
      pcalg = "is.logical(rules) && length(rules) == 10 is not TRUE"
    )
  }
  jci <- check_choice(jci, c("0", "1", "12", "123"), "jci")
  context <- check_context_vars(contextVars, labels)
  if ((jci == "0") != (length(context) == 0L)) {
    alone <- if (jci == "0") c("contextVars", "jci") else c("jci", "contextVars")
    tell("jci", sprintf("`%s` has no effect without `%s`.", alone[1L], alone[2L]))
  }
  if (!check_flag(selectionBias, "selectionBias")) {
    rules[5:7] <- FALSE
  } else if (jci != "0") {
    abort_argument(
      "selectionBias",
      selectionBias,
      "give selectionBias = FALSE with `jci`.",
      pcalg = "The current JCI implementation does not support selection bias (use selectionBias=FALSE instead)."
    )
  }
  list(rules = rules, jci = jci, context = context, paths = check_choice(paths, c("pcalg", "all"), "paths"))
}

# Stops if required arrows contradict the assumption of `jci` about context variables.
check_jci_knowledge <- function(asked, labels, control) {
  if (asked$jci == "0" || is.null(asked$knowledge)) {
    return(invisible())
  }
  required <- arrow_ends(asked$knowledge$required)
  from <- required$from %in% asked$context
  to <- required$to %in% asked$context
  refuse <- function(which, assumed) {
    if (any(which)) {
      at <- which(which)[1L]
      abort_argument(
        "required",
        control$required,
        "leave out one of the two.",
        has = sprintf(
          "%s -> %s, but jci = \"%s\" assumes that %s",
          labels[required$from[at]],
          labels[required$to[at]],
          asked$jci,
          assumed
        )
      )
    }
  }
  refuse(!from & to, "no other variable causes a context variable")
  if (asked$jci == "123") refuse(from & to, "no context variable causes another")
}

# Reports edges of context variables that should be arrows out of them according to `jci`, but are not, because `tiers`
# or `forbidden` contradict that.
tell_against_jci <- function(amat, asked, labels) {
  if (is.null(asked$knowledge) || !asked$jci %in% c("12", "123") || !length(asked$context)) {
    return(invisible())
  }
  others <- setdiff(seq_along(labels), asked$context)
  from <- amat[asked$context, others, drop = FALSE]
  to <- t(amat[others, asked$context, drop = FALSE])
  against <- which(from != 0 & (from != 2 | to != 3), arr.ind = TRUE)
  if (nrow(against)) {
    pairs <- cbind(asked$context[against[, 1L]], others[against[, 2L]])
    said <- enumerate(sprintf("%s and %s", dQuote(labels[pairs[, 1L]], FALSE), dQuote(labels[pairs[, 2L]], FALSE)))
    tell(
      "knowledge",
      sprintf(
        "`tiers` or `forbidden` contradict jci = \"%s\" on the edge between %s. `tiers` and `forbidden` were kept.",
        asked$jci,
        said
      ),
      pairs = pairs
    )
  }
}

# Returns context variables as numbers. pcalg accepts numbers only.
check_context_vars <- function(contextVars, labels) {
  if (length(contextVars) == 0L) {
    return(integer())
  }
  variables_at(
    contextVars,
    labels,
    "contextVars",
    pcalg = "contextVars has to be a vector of integers in {1,2,..,p}, where p is the number of variables."
  )
}

# Returns the rule that decides colliders. `pcalg`: pcalg's error message for both rules at once.
check_collider_rule <- function(conservative, maj.rule, pcalg) {
  conservative <- check_flag(conservative, "conservative")
  maj.rule <- check_flag(maj.rule, "maj.rule")
  if (conservative && maj.rule) {
    abort_argument(
      "maj.rule",
      maj.rule,
      "leave out one of the two.",
      is = "TRUE, and so is `conservative`",
      pcalg = pcalg
    )
  }
  if (conservative) {
    "conservative"
  } else if (maj.rule) {
    "majority"
  } else {
    "standard"
  }
}

# Code shared by pc() and skeleton(): from checked arguments by one call of Rust to a result.

# Runs a search. orient: NULL for the skeleton alone, or the result of check_orientation(). `compact`: see
# wants_compact().
run_search <- function(request, orient, compact) {
  on <- place_of_search(request)
  searched <- function() search_on(request, orient, on, compact)
  hand_over(if (compact) searched() else with_room_for_pcalgo(searched()), request$options$limits)
}

# Runs the search and builds the result. on: calls a function with the machine as Rust expects it.
search_on <- function(request, orient, on, compact) {
  test <- request$test
  labels <- request$labels
  options <- request$options
  bar <- progress_reporter(request$progress)
  on.exit(bar$close())
  if (!is.null(bar$begin)) {
    bar$begin(labels, test)
  }
  result <- clock <- NULL
  found <- on(function(engine) {
    result <<- if (!compact) empty_result()
    session$fci_phase <- FALSE
    clock <<- search_clock(bar$report)
    callbacks <- c(
      list(progress = clock$report, permutation = function(k) sample.int(k)),
      limit_callbacks(options$limits),
      printers(request$verbose, options$method, test$kind, options$p, is.null(options$limits))
    )
    rust_search(test, options, orient, engine, callbacks, result)
  })
  bar$close()
  checked <- matrix_checked(check_rust(found), test)
  times <- clock$read(checked$found)
  found <- after_search(checked$found, checked$test, options)
  tell_against(found$against, labels)
  warn_limits(found, options$limits)
  call <- with_details(
    request$call,
    found$device,
    found$exact_tests,
    unlist(found$memory),
    found,
    orient,
    found$team,
    found$ended,
    c(list(test = test$name, alpha = options$alpha, samples = samples_of(test)), tiers_in(options)),
    times
  )
  result <- if (compact) {
    compact_result(labels, found, call, test, options, oriented = !is.null(orient))
  } else {
    fill_result(
      result,
      graph = result_graph(labels, found, oriented = !is.null(orient)),
      call = call,
      max_ord = found$max_ord,
      n_edgetests = edge_tests(found$n_edgetests, options$method),
      pMax = found$pMax
    )
  }
  tell_untested(found$untested)
  result
}

# Returns Rust's result and the test. If check_suff_gauss() has left checks of the matrix to the search
# (src/rust/src/checked.rs), their outcome is in the test.
matrix_checked <- function(found, test) {
  if (isFALSE(found$is_correlation)) {
    check_cor_values(test$C, resolve_threads())
    abort(
      "internal",
      paste(
        "the search and R disagree on whether `suffStat$C` is a correlation matrix: please report this bug, with the",
        "output of pcgpu_info()"
      )
    )
  }
  if (isTRUE(found$has_na)) {
    test$undefined <- pairs_without(test$C)
    found <- found$found
  }
  list(found = found, test = test)
}

# Returns Rust's checked result, after the warnings and messages that all searches have in common.
after_search <- function(found, test, options) {
  found <- check_rust(found)
  # The time of the search alone, for bench/large.R.
  session$search_seconds <- found$seconds
  warn_doubts(found$doubts, test, options)
  tell_lost(found$lost)
  found
}

# Returns the number of observations of a test, NA if it is not known.
samples_of <- function(test) {
  as.double(
    test$n %||%
      (if (!is.null(test$dm)) {
        nrow(test$dm)
      } else if (!is.null(test$data)) {
        nrow(test$data)
      }) %||%
      NA
  )
}

# Up to this many variables, result = "auto" is pcalg's class: see ?pc. From R 4.3 on a pcAlgo of the Gaussian test
# holds no more than a compact result (lazy slots: 20,000 variables 2.8 and 3.0 s). Yet the class shall not depend on
# the version of R or on the test, and R 4.2 and the other tests take 6.4 GB.
most_dense <- 20000L

# Returns whether the result has the class pcCompact. `caller`: the calling frame. pcalg's own functions, see
# use_in_pcalg(), cannot use this class.
wants_compact <- function(result, p, caller = NULL) {
  by_pcalg <- isNamespaceLoaded("pcalg") && !is.null(caller) && identical(topenv(caller), asNamespace("pcalg"))
  result == "compact" || result == "auto" && p > most_dense && !by_pcalg
}

# Returns counts in pcalg's types: its C++ code counts in integers, its R code in doubles.
edge_tests <- function(counts, method) {
  if (method == "stable.fast" && max(counts) <= .Machine$integer.max) as.integer(counts) else counts
}

# Returns the graph of a result. The weights of a skeleton are integers and those of an oriented graph doubles, see
# graph.R. `extendable` is FALSE if u2pd = "rand" or "retry" found no DAG with the v-structures.
result_graph <- function(labels, found, oriented) {
  if (!oriented || sum(lengths(found$edges)) == 0L) {
    return(graph_from_edges(labels, found$edges, symmetric = TRUE))
  }
  if (isFALSE(found$extendable)) {
    return(graph_without_weights(labels, found$edges))
  }
  graph_from_edges(labels, found$edges, found$marks, one = 1, symmetric = found$counts$directed == 0)
}

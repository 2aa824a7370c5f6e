# Turns the arguments of an exported function into the request that run_search() and run_fci() run.

# Returns the arguments of the calling function as a list by name, without `...`, `control` and the arguments of
# pc_control(). An argument without a default is in it only if the user gave one, directly or through functions that pass
# it on.
arguments_given <- function() {
  frame <- parent.frame()
  defaults <- formals(sys.function(sys.parent()))
  names <- names(defaults)
  is_given <- !names %in% c("...", "control", control_arguments())
  without_default <- which(is_given & vapply(defaults, is.symbol, NA))
  for (at in without_default[!nzchar(as.character(defaults[without_default]))]) {
    is_given[[at]] <- !eval(call("missing", as.name(names[[at]])), frame)
  }
  mget(names[is_given], envir = frame)
}

# Completes the arguments of a search by what follows from data, and checks the names of the variables. Then `given` has
# suffStat, indepTest, alpha and labels.
search_arguments <- function(given, control, tell = FALSE) {
  has <- function(name) name %in% names(given)
  data <- given$suffStat
  if (has("suffStat")) {
    given <- filled_from_data(given, control)
  }
  given$labels <- check_labels(given$labels, given$p, has("labels"), has("p"), tell)
  check_search_given(!has("suffStat"), !has("indepTest"), !has("alpha"))
  if (is.null(control$tiers)) {
    given$tiers <- tiers_of_lags(data, given$labels)
  }
  given
}

# Returns the options of a search as Rust expects them. `method`: the argument that names the method; u2pd: see
# check_knowledge().
search_options <- function(given, control, method = "skel.method", u2pd = "relaxed", fixedEdges = given$fixedEdges) {
  chosen <- check_choice(given[[method]], c("stable", "original", "stable.fast"), method)
  if (is.null(control$tiers)) {
    control$tiers <- given[["tiers"]]
  }
  options <- check_search(
    chosen,
    given$alpha,
    given$fixedGaps,
    fixedEdges,
    given$NAdelete,
    given$m.max,
    given$labels,
    given$suffStat
  )
  options["knowledge"] <- list(check_knowledge(control, given$labels, options$fixed_gaps, chosen, u2pd))
  options$limits <- search_limits(control)
  options
}

# Returns the request: the test as Rust expects it, and where and how it runs. `call` is the user's call. later: may the
# search complete the check of the correlations?
search_request <- function(given, options, control, call, later = FALSE) {
  threads <- resolve_threads(given$numCores)
  verbose <- check_verbose(given$verbose)
  device <- if (is.null(control$cluster)) check_device(given$device) else given$device
  test <- ci_test(
    given$indepTest,
    given$suffStat,
    given$labels,
    options$alpha,
    threads,
    later = later && is.null(control$cluster)
  )
  refuse_sets(test, options$m_max)
  test <- with_code(test, options$limits, given$indepTest, given$suffStat)
  list(
    labels = given$labels,
    test = test,
    options = options,
    threads = threads,
    device = device,
    workers = choose_workers(control, test, options$method, threads, verbose),
    verbose = verbose,
    progress = given$progress,
    call = call
  )
}

# Returns a function that calls another one with the machine on which the request runs, as Rust expects it.
place_of_search <- function(request) {
  test <- request$test
  options <- request$options
  if (!is.null(request$workers)) {
    return(function(run) on_workers(request$workers, test, options, request$device, request$threads, run))
  }
  device <- choose_device(
    request$device,
    test,
    options$p,
    order_of_tests(test, options),
    several = gpus_pay(test, options$p)
  )
  function(run) on_device(device, request$threads, run)
}

# Stops if an argument without a default is missing.
check_search_given <- function(suffStat, indepTest, alpha) {
  check_given(
    list(suffStat = suffStat, indepTest = indepTest, alpha = alpha),
    list(
      suffStat = "give the sufficient statistic, for instance suff_gauss(x).",
      indepTest = "give the test, for instance gaussCItest.",
      alpha = "give the significance level, for instance alpha = 0.01."
    )
  )
}

# Returns the arguments of a search as Rust expects them. Checks that pcalg has, too, are in its order.
check_search <- function(method, alpha, fixedGaps, fixedEdges, NAdelete, m.max, labels, suffStat) {
  # Names matter only if there are fixed pairs.
  others <- if (!is.null(fixedGaps) || !is.null(fixedEdges)) {
    list(suffStat = data_names(suffStat, length(labels)), fixedGaps = own_names(fixedGaps, length(labels)))
  }
  list(
    p = length(labels),
    method = method,
    alpha = check_alpha(alpha),
    fixed_gaps = check_pairs(fixedGaps, "fixedGaps", labels, others["suffStat"]),
    fixed_edges = check_pairs(fixedEdges, "fixedEdges", labels, others),
    na_delete = check_flag(NAdelete, "NAdelete"),
    m_max = check_m_max(m.max),
    # See check_knowledge().
    knowledge = NULL
  )
}

# Objects of every class that comes back from a user, with what is done with one, and edits of them.

# Returns, by name, functions that make an object (`make()`) and functions that use it (`uses`).
objects_in_use <- function() {
  set.seed(1)
  x <- matrix(rnorm(360), 60, 6, dimnames = list(NULL, letters[1:6]))
  x[, 2] <- x[, 1] + x[, 2]
  x[, 3] <- x[, 2] + 0.5 * x[, 3]
  x[, 5] <- x[, 4] + x[, 3] + 0.3 * x[, 5]
  suff <- suff_gauss(x)
  search <- function(...) pc(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1, ...)
  fit <- search()
  shown <- list(print, summary, as.data.frame)
  drawn <- c(shown, list(plot))
  graph <- c(
    shown,
    list(edges, as_igraph_or_not, cpdag_of, function(o) neighbours(o, 1), function(o) causal_effects(o, x))
  )
  result <- list(
    function(o) sepset(o, 1, 4),
    function(o) p_value(o, 2, 3),
    run_details,
    q_values,
    function(o) pcgpu:::tidy.pcCompact(o),
    function(o) pcgpu:::glance.pcCompact(o),
    plot
  )
  list(
    pcgpu_device = list(make = function() cpu_device(1e6), uses = list(print, function(o) search(device = o))),
    pcgpu_control = list(
      make = function() pc_control(time_limit = 60, tiers = c(1, 1, 1, 1, 1, 2)),
      uses = list(print, function(o) search(control = o))
    ),
    pcgpu_moments = list(
      make = function() gauss_moments(x),
      uses = list(print, suff_gauss, gauss_moments, c, function(o) c(o, gauss_moments(x)))
    ),
    pcgpu_file = list(
      make = function() write_pcgpu_file(x, tempfile()),
      uses = list(
        print,
        suff_gauss,
        suff_discrete,
        gauss_moments,
        as.matrix,
        dim,
        function(o) o[1:2, "a"],
        function(o) pcgpu_file(o),
        function(o) select_features(o, x[, 1] > 0, 2)
      )
    ),
    pcgpu_plink = list(
      make = function() {
        plink_bed(write_bed(random_genotypes(60, 6, 1)), data.frame(x = x[, 1], z = x[, 2]))
      },
      uses = list(
        print,
        as.matrix,
        dim,
        function(o) o[1:2, "m1"],
        suff_gauss,
        function(o) pcSelect(x[, 3], o, 0.1, numCores = 1),
        function(o) local_pc(o, "x", 0.1, numCores = 1)
      )
    ),
    pcgpu_gauss_data = list(
      make = function() suff_gauss(x, keep = "data"),
      uses = list(
        print,
        function(o) o$C,
        function(o) pc(o, gaussCItest, alpha = 0.05, p = 6, numCores = 1),
        function(o) gaussCItest(1, 2, 3, o)
      )
    ),
    pcgpu_graph = list(
      make = function() random_dag(6, seed = 1),
      uses = c(
        graph,
        list(function(o) random_data(o, 5), as.matrix, function(o) compare_graphs(o, random_dag(6, seed = 2)))
      )
    ),
    pcgpu_effects = list(
      make = function() causal_effects(fit, x),
      uses = c(drawn, list(function(o) o[1, 2], function(o) o[1, ], function(o) o["a", "b"]))
    ),
    smallest = list(make = function() causal_effects(fit, x, keep = "smallest"), uses = drawn),
    pcgpu_joint_effects = list(
      make = function() causal_effects(fit, x, x = 1:2, joint = TRUE),
      uses = list(print, as.data.frame, plot, function(o) o[1, 3], function(o) o[, 3])
    ),
    pcgpu_stability = list(
      make = function() stability(x, gaussCItest, 0.05, replicates = 4, seed = 1, numCores = 1),
      uses = list(summary, plot, edges, function(o) averaged_cpdag(o, 0.5), function(o) stability_rows(o, 2))
    ),
    pcgpu_pag_stability = list(
      make = function() stability(x, gaussCItest, 0.05, method = "rfci", replicates = 4, seed = 1, numCores = 1),
      uses = list(summary, plot, edges, function(o) averaged_pag(o, 0.5), function(o) stability_rows(o, 2))
    ),
    pcgpu_selection = list(
      make = function() select_features(x[, 2:6], x[, 1] > 0, 3, ensemble = 3, numCores = 1),
      uses = list(print, as.data.frame, plot, run_details, function(o) ensemble_rows(o, 2))
    ),
    pcgpu_ensemble = list(
      make = function() selection_ensemble(3),
      uses = list(function(o) select_features(x[, 2:6], x[, 1] > 0, 2, ensemble = o, numCores = 1))
    ),
    pcgpu_cstar = list(
      make = function() cstar(x, alpha = 0.05, y = 3, replicates = 4, seed = 1, numCores = 1),
      uses = c(drawn, list(function(o) stability_rows(o, 2)))
    ),
    pcgpu_plan = list(
      make = function() plan_search(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1),
      uses = list(print, as.data.frame)
    ),
    pcgpu_details = list(make = function() run_details(fit), uses = list(print, plot)),
    pcgpu_info = list(make = pcgpu_info, uses = list(print)),
    pcgpu_markov = list(make = function() markov_check(fit, x, gaussCItest, numCores = 1), uses = drawn),
    pcCompact = list(
      make = function() search(result = "compact"),
      uses = c(
        graph,
        result,
        list(
          function(o) methods::as(o, "amat"),
          function(o) suppressWarnings(as_pcalg(o)),
          function(o) as_pcalg(o, suff),
          function(o) p_value(o, 1, 4, suff)
        )
      )
    ),
    compact_skeleton = list(
      make = function() {
        skeleton(suff, gaussCItest, alpha = 0.05, labels = colnames(x), result = "compact", numCores = 1)
      },
      uses = list(orient)
    ),
    pcAlgo = list(make = function() fit, uses = c(graph, result, list(as_pcalg, function(o) add_knowledge(o)))),
    skeleton = list(
      make = function() skeleton(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1),
      uses = list(orient)
    ),
    fciAlgo = list(
      make = function() fci(suff, gaussCItest, alpha = 0.05, labels = colnames(x), numCores = 1),
      uses = c(shown, result, list(edges, function(o) pcgpu:::glance.fciAlgo(o)))
    ),
    suff_gauss = list(
      make = function() suff,
      uses = list(
        function(o) pc(o, gaussCItest, alpha = 0.05, p = 6, numCores = 1),
        function(o) gaussCItest(1, 2, 3, o),
        function(o) causal_effects(fit, o)
      )
    ),
    suff_discrete = list(
      make = function() suff_discrete(x > 0),
      uses = list(
        function(o) pc(o, disCItest, alpha = 0.05, p = 6, numCores = 1),
        function(o) disCItest(1, 2, 3, o),
        function(o) chi2CItest(1, 2, integer(), o)
      )
    ),
    suff_knn = list(
      make = function() suff_knn(x[, 1:3], permutations = 5, seed = 1),
      uses = list(function(o) pc(o, cmiKnnCItest, alpha = 0.05, p = 3, numCores = 1), function(o) {
        cmiKnnCItest(1, 2, 3, o)
      })
    )
  )
}

as_igraph_or_not <- function(o) if (requireNamespace("igraph", quietly = TRUE)) as_igraph(o)

# Returns the values that replace a part.
edits_of_part <- function(value) {
  longer <- tryCatch(if (is.atomic(value) || is.list(value)) c(value, value, value), error = function(e) NULL)
  shorter <- tryCatch(
    if (is.atomic(value) || is.list(value)) value[seq_len(length(value) %/% 2L)],
    error = function(e) NULL
  )
  renamed <- tryCatch(stats::setNames(value, rep("z", length(value))), error = function(e) NULL)
  list(
    NULL,
    NA,
    -1,
    "a",
    list(),
    shorter,
    longer,
    renamed,
    Inf,
    function() 1,
    new.env(),
    factor("a"),
    1e10,
    matrix(NaN, 2L, 3L),
    quote(stop("run"))
  )
}

with_part <- function(object, name, value) {
  if (isS4(object)) {
    attr(object, name) <- value
    return(object)
  }
  of <- attributes(object)
  parts <- unclass(object)
  parts[name] <- list(value)
  attributes(parts) <- of[setdiff(names(of), "names")]
  names(parts) <- names(object) %||% of$names
  parts
}

parts_by_name <- function(object) {
  if (isS4(object)) attributes(object)[setdiff(methods::slotNames(object), ".Data")] else unclass(object)
}

# Calls a function with the object after each edit: each part, and each part of a part that is a list or an S4 object,
# is replaced. Passes list(object, said).
each_edit <- function(object, visit) {
  parts <- parts_by_name(object)
  # A cluster starts processes.
  for (name in setdiff(names(parts), "cluster")) {
    for (value in edits_of_part(parts[[name]])) {
      visit(tryCatch(with_part(object, name, value), error = function(e) NULL), paste(name, "<-", deparse1(value)))
    }
    part <- parts[[name]]
    within <- if (isS4(part) || is.list(part)) parts_by_name(part)
    for (inner in names(within) %||% utils::head(seq_along(within), 1L)) {
      for (value in edits_of_part(within[[inner]])[c(1, 3, 5, 6, 7, 8, 10, 12)]) {
        visit(
          tryCatch(with_part(object, name, with_part(part, inner, value)), error = function(e) NULL),
          paste0(name, "$", inner, " <- ", deparse1(value))
        )
      }
    }
  }
}

# Uses edited objects of a class. Returns the edits that ended in an error of R's own, as text, and the number of uses.
# The uses take turns, about two for each edit; with PCGPU_TEST_ALL, each edit meets all of them.
misuses <- function(of) {
  object <- of$make()
  bad <- character()
  count <- edits <- 0
  turns <- if (nzchar(Sys.getenv("PCGPU_TEST_ALL"))) 1 else max(1, length(of$uses) %/% 2)
  grDevices::pdf(NULL)
  each_edit(object, function(edited, said) {
    if (is.null(edited)) {
      return()
    }
    edits <<- edits + 1
    for (number in which((seq_along(of$uses) + edits) %% turns == 0)) {
      count <<- count + 1
      said_by <- tryCatch(
        {
          utils::capture.output(suppressWarnings(suppressMessages(of$uses[[number]](edited))))
          NULL
        },
        pcgpu_error = function(e) NULL,
        error = function(e) conditionMessage(e)
      )
      if (!is.null(said_by)) {
        bad <<- c(bad, sprintf("use %d, %s: %s", number, substr(said, 1L, 100L), substr(said_by, 1L, 150L)))
      }
    }
  })
  list(bad = bad, count = count)
}

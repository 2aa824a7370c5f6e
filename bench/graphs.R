# Times random_dag(), random_data(), cpdag_of() and compare_graphs() and pcalg's randomDAG(), rmvDAG(), dag2cpdag(),
# shd() and compareGraphs(), in one run, and these, q_values() and markov_check() of many variables. Prints Markdown
# tables.
#
#   Rscript graphs.R [peer] [large] [markov] [--p=1000] [--large=50000] [--search=20000] [--n=500] [--neighbours=3] [--threads=2] [--repeats=5]
#                    [--csv=FILE]
#
# `peer`: answers are compared where both have the same task. `large`: of `--large` variables, and a compact search of
# `--search` ones. `markov`: markov_check() end to end from data, by shape and kind, and the search.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
settings(threads = 2L, repeats = 5L, n = 500L, neighbours = 3, all = c("peer", "large", "markov"))
options(pcgpu.threads = threads)

peer <- function(p) {
  cat(sprintf("\np = %d, n = %d, %s neighbours a variable\n\n", p, n, number(neighbours)))
  cat(head_text("what", "pcalg s (min / median)", "pcgpu s (min / median)", "times faster (by min)", "same answer"))
  tell <- function(what, theirs, ours, same) {
    record(
      "graphs",
      what,
      ours$seconds,
      p = p,
      n = n,
      device = "cpu",
      threads = threads,
      peer = "pcalg",
      peer_seconds = theirs$seconds,
      same = if (same %in% c("yes", "no")) same
    )
    cat(row_text(
      what,
      spread(theirs$seconds),
      spread(ours$seconds),
      number(min(theirs$seconds) / min(ours$seconds)),
      same
    ))
  }
  times <- function(call) timed(call, repeats, 20)
  set.seed(1)
  theirs <- times(function() pcalg::randomDAG(p, neighbours / (p - 1)))
  ours <- times(function() random_dag(p, neighbours, seed = 1))
  tell("randomDAG() / random_dag()", theirs, ours, "(random)")
  dag <- ours$value
  graph <- as(dag, "graphNEL")
  # rmvDAG() wants the variables in causal order.
  tell(
    "rmvDAG() / random_data()",
    times(function() pcalg::rmvDAG(n, theirs$value)),
    times(function() random_data(dag, n, seed = 1)),
    "(random)"
  )
  theirs <- times(function() pcalg::dag2cpdag(graph))
  ours <- times(function() cpdag_of(dag))
  same <- identical(unname(as(theirs$value, "matrix") != 0), unname(as.matrix(ours$value) != 0))
  tell("dag2cpdag() / cpdag_of()", theirs, ours, if (same) "yes" else "no")
  x <- random_data(dag, n, seed = 1)
  fit <- pc(suff_gauss(x), gaussCItest, alpha = 0.01, labels = colnames(x), u2pd = "retry")
  true <- theirs$value
  theirs <- times(function() c(pcalg::shd(fit@graph, true), pcalg::compareGraphs(fit@graph, true)))
  ours <- times(function() compare_graphs(fit, true))
  mine <- with(ours$value, c(shd, adj_recall, adj_fpr, adj_precision))
  tell(
    "shd() and compareGraphs() / compare_graphs()",
    theirs,
    ours,
    if (isTRUE(all.equal(mine, unname(theirs$value)))) "yes" else "no"
  )
  suff <- suff_gauss(x)
  found <- times(function() markov_check(fit, suffStat = suff, indepTest = gaussCItest, tests = 1e5, seed = 1))
  table <- utils::head(as.data.frame(found$value), 2000L)
  sets <- lapply(strsplit(table$given, ", ", fixed = TRUE), match, colnames(x))
  xs <- match(table$x, colnames(x))
  ys <- match(table$y, colnames(x))
  asked <- times(function() vapply(seq_along(xs), function(i) pcalg::gaussCItest(xs[i], ys[i], sets[[i]], suff), 0))
  asked$seconds <- asked$seconds * sum(found$value$summary$tests) / nrow(table)
  tell(
    sprintf(
      "gaussCItest() in a loop (of 2,000, extrapolated) / markov_check() of %s tests",
      number(sum(found$value$summary$tests))
    ),
    asked,
    found,
    if (isTRUE(all.equal(asked$value, table$p))) "yes" else "no"
  )
}

large <- function(p, search) {
  cat(sprintf("\np = %s, n = %d, %s neighbours a variable\n\n", number(p), n, number(neighbours)))
  columns <- head_text("what", "s (min / median)", "CPU s (all threads, of one call)")
  cat(columns)
  of_p <- p
  tell <- function(what, call) {
    found <- timed(call, repeats, 20)
    cpu <- system.time(call())
    record(
      "graphs",
      sprintf("p = %g: %s", of_p, gsub('"', "'", what)),
      found$seconds,
      p = of_p,
      n = n,
      device = "cpu",
      threads = threads
    )
    cat(row_text(what, spread(found$seconds), number(sum(cpu[c("user.self", "sys.self")]))))
    invisible(found$value)
  }
  for (model in c("er", "power", "layers")) {
    dag <- tell(sprintf("random_dag(model = \"%s\")", model), function() random_dag(p, neighbours, model, seed = 1))
  }
  dag <- random_dag(p, neighbours, seed = 1)
  true <- tell("cpdag_of()", function() cpdag_of(dag))
  tell("compare_graphs()", function() compare_graphs(true, dag))
  for (kind in c("gaussian", "nonlinear", "discrete", "mixed")) {
    tell(sprintf("random_data(kind = \"%s\")", kind), function() random_data(dag, n, kind, seed = 1))
    gc()
  }
  tell("random_data(kind = \"mixed\", missing = 0.1, mechanism = \"MAR\")", function() {
    random_data(dag, n, "mixed", missing = 0.1, mechanism = "MAR", seed = 1)
  })
  dag <- random_dag(search, neighbours, seed = 1)
  x <- random_data(dag, n, seed = 1)
  suff <- suff_gauss(x)
  of_p <- search
  fit <- pc(suff, gaussCItest, alpha = 1e-4, labels = colnames(x), result = "compact", u2pd = "retry")
  cat(sprintf("\np = %s, a compact result of %s edges\n\n", number(search), number(length(fit@edges$to))))
  cat(columns)
  tell("q_values()", function() q_values(fit))
  tell("compare_graphs()", function() compare_graphs(fit, dag))
  tell("markov_check(), 10,000 independences, all rows", function() {
    markov_check(fit, suffStat = suff, indepTest = gaussCItest, seed = 1)
  })
}

markov <- function() {
  cat(head_text(
    "data",
    "p x n",
    "pc() s, min / median",
    "markov_check(): tests",
    "s, min / median",
    "resamples = 0: tests",
    "s, min / median"
  ))
  for (shape in list(c(5, 50), c(10, 200), c(50, 500), c(300, 500), c(1000, 200), c(3000, 200))) {
    for (kind in c("gaussian", "discrete", "mixed")) {
      if (kind != "gaussian" && shape[1L] > 1000) {
        next
      }
      x <- as.data.frame(random_data(random_dag(shape[1L], neighbours, seed = 1), shape[2L], kind, seed = 1))
      quietly <- function(call) timed(function() suppressWarnings(suppressMessages(call())), repeats, 20)
      searched <- quietly(function() pc(x, alpha = 0.01, u2pd = "retry"))
      checked <- lapply(c(10, 0), function(resamples) {
        quietly(function() markov_check(searched$value, x, resamples = resamples, seed = 1))
      })
      record(
        "graphs",
        sprintf("markov_check(), %s %d x %d", kind, shape[1L], shape[2L]),
        checked[[1L]]$seconds,
        p = shape[1L],
        n = shape[2L],
        device = "cpu",
        threads = threads,
        tests = sum(checked[[1L]]$value$summary$tests)
      )
      of <- lapply(checked, function(found) c(number(sum(found$value$summary$tests)), spread(found$seconds)))
      cat(row_text(kind, sprintf("%d x %d", shape[1L], shape[2L]), spread(searched$seconds), of[[1L]], of[[2L]]))
    }
  }
}

if ("peer" %in% parts) {
  peer(as.integer(option("p", "1000")))
}
if ("large" %in% parts) {
  large(as.integer(option("large", "50000")), as.integer(option("search", "20000")))
}
if ("markov" %in% parts) {
  markov()
}
tell_origin("graphs.R")

# Times causal_effects() and pcalg's ida(), idaFast() and jointIda(), in one run, and all pairs of many variables.
# Prints Markdown tables.
#
#   Rscript effects.R [peer] [large] [dense] [--p=200] [--large=5000] [--n=500] [--neighbours=2.5] [--threads=2] [--repeats=5] [--csv=FILE]
#
# Data of a random DAG with so many neighbours a vertex on average, weights from 0.3 to 1; the graph is that of pc(u2pd
# = "retry"), which is valid. `dense`: complete graphs, whose every x has 2^(p - 1) sets of parents, and graphs of dense
# DAGs, whose CPDAGs have few undirected edges. `peer`: pcalg is timed once for all x (idaFast), for some pairs (ida)
# and for some joint interventions (jointIda), and its answers are compared.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
library(pcgpu)
settings(threads = 2L, repeats = 5L, n = 500L, neighbours = 2.5, all = c("peer", "large", "dense"))
options(pcgpu.threads = threads)

simulated <- function(p) {
  set.seed(1)
  pairs <- sample(p * (p - 1) / 2, round(p * neighbours / 2))
  to <- ceiling((1 + sqrt(1 + 8 * pairs)) / 2)
  from <- pairs - (to - 1) * (to - 2) / 2
  weight <- stats::runif(length(pairs), 0.3, 1)
  x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, as.character(seq_len(p))))
  for (j in unique(sort(to))) {
    x[, j] <- x[, j] + x[, from[to == j], drop = FALSE] %*% weight[to == j]
  }
  suff <- suff_gauss(x)
  fit <- pc(suff, gaussCItest, alpha = if (p > 1000) 1e-4 else 0.01, labels = colnames(x), u2pd = "retry")
  list(x = x, suff = suff, fit = fit, mcov = stats::cov(x))
}

# Returns the largest difference relative to the larger of the effect and 1e-6. The order of sets is free.
apart <- function(ours, theirs) {
  if (length(ours) != length(theirs)) {
    return(Inf)
  }
  ours <- sort(ours)
  theirs <- sort(theirs)
  max(0, abs(ours - theirs) / pmax(abs(theirs), 1e-6))
}
silently <- function(value) {
  suppressMessages({
    utils::capture.output(made <- value)
    made
  })
}

peer <- function(p) {
  of <- simulated(p)
  graph <- of$fit@graph
  fresh <- function(...) silently(causal_effects(of$fit, mcov = of$mcov, ...))
  set.seed(2)
  some <- cbind(sample(p, 6L), sample(p, 6L))
  some <- some[some[, 1L] != some[, 2L], , drop = FALSE]
  cat(sprintf("\np = %d, n = %d, %s edges\n\n", p, n, number(sum(lengths(graph::edges(graph))))))
  cat(head_text(
    "what",
    "pcalg s (1 run)",
    "causal_effects() s, min / median",
    "what it does",
    "times faster (by min), each for what it does",
    "largest relative difference"
  ))
  tell <- function(what, theirs, ours, does, factor, difference) {
    record(
      "effects",
      gsub('"', "'", what),
      ours,
      p = p,
      n = n,
      device = "cpu",
      threads = threads,
      peer = "pcalg",
      peer_seconds = theirs,
      note = if (factor > 1) sprintf("ours: all %d pairs", factor)
    )
    cat(row_text(
      what,
      number(theirs),
      spread(ours),
      does,
      number(factor * theirs / min(ours)),
      format(difference, digits = 2L)
    ))
  }
  all <- timed(function() fresh(), repeats)
  fast <- seconds_of(function() {
    lapply(seq_len(p), function(x) silently(pcalg::idaFast(x, seq_len(p)[-x], of$mcov, graph)))
  })
  difference <- max(vapply(
    seq_len(p),
    function(x) {
      max(vapply(
        seq_len(p)[-x],
        function(y) apart(all$value[x, ][as.character(y), ], fast$value[[x]][as.character(y), ]),
        0
      ))
    },
    0
  ))
  tell("idaFast(), every x", fast$seconds, all$seconds, "all pairs", 1, difference)
  for (method in c("local", "optimal")) {
    of_method <- timed(function() fresh(method = method), repeats)
    theirs <- seconds_of(function() {
      apply(
        some,
        1L,
        function(pair) silently(pcalg::ida(pair[1L], pair[2L], of$mcov, graph, method = method)),
        simplify = FALSE
      )
    })
    difference <- max(mapply(
      function(pair, value) apart(of_method$value[pair[1L], pair[2L]], unlist(value)),
      split(some, seq_len(nrow(some))),
      theirs$value
    ))
    a_pair <- theirs$seconds / nrow(some)
    tell(
      sprintf("ida(method = \"%s\"), a pair (mean of %d)", method, nrow(some)),
      a_pair,
      of_method$seconds,
      "all pairs",
      p * (p - 1),
      difference
    )
  }
  xs <- order(-lengths(graph::edges(graph)))[1:2]
  ys <- setdiff(seq_len(p), xs)
  for (technique in c("RRC", "MCD")) {
    ours <- timed(function() fresh(x = xs, y = ys, joint = TRUE, technique = technique, type = "pdag"), repeats)
    theirs <- seconds_of(function() {
      silently(pcalg::jointIda(xs, ys, of$mcov, graph, technique = technique, type = "pdag"))
    })
    difference <- max(mapply(function(y, value) apart(ours$value[, y], value), ys, theirs$value))
    tell(sprintf("jointIda(), two x on all y, %s", technique), theirs$seconds, ours$seconds, "the same", 1, difference)
  }
}

large <- function(p) {
  of <- simulated(p)
  effects <- function(...) silently(causal_effects(of$fit, of$suff, ...))
  cat(sprintf(
    "\nAll pairs, p = %s, n = %d, %s arcs\n\n",
    format(p, big.mark = ","),
    n,
    number(sum(lengths(graph::edges(of$fit@graph))))
  ))
  cat(head_text("what", "s, min / median", "MB of the result"))
  tell <- function(what, call) {
    found <- timed(call, repeats)
    record(
      "effects",
      sprintf("all pairs of %d, %s", p, gsub('"', "'", what)),
      found$seconds,
      p = p,
      n = n,
      device = "cpu",
      threads = threads
    )
    cat(row_text(what, spread(found$seconds), number(as.double(utils::object.size(found$value)) / 2^20)))
    found$value
  }
  found <- tell("local", function() effects())
  tell("local, type = \"pdag\"", function() effects(type = "pdag"))
  tell("optimal", function() effects(method = "optimal"))
  tell("local, keep = \"smallest\"", function() effects(keep = "smallest"))
  invisible(tell("as.data.frame(n = 1000) of \"local\"", function() as.data.frame(found, n = 1000)))
}

dense <- function() {
  cat(head_text(
    "graph",
    "what",
    "sets of parents",
    "s, min / median",
    "microseconds a set (by min)",
    "MB of the result"
  ))
  tell <- function(graph, what, call, more = repeats) {
    found <- tryCatch(timed(function() silently(call()), more, 20), pcgpu_error_argument = function(e) e)
    if (inherits(found, "error")) {
      cat(row_text(graph, what, "", paste("refused:", sub(":.*", "", conditionMessage(found))), "", ""))
      return(invisible())
    }
    value <- found$value
    sets <- if (is.null(value$columns)) NA else sum(value$columns)
    if (inherits(value, "pcgpu_joint_effects")) {
      sets <- dim(value$effects)[2L]
    }
    record(
      "effects",
      paste0(graph, ": ", gsub('"', "'", what)),
      found$seconds,
      p = sub("^.*p = ([0-9]+).*", "\\1", graph),
      device = "cpu",
      threads = threads
    )
    cat(row_text(
      graph,
      what,
      number(sets),
      spread(found$seconds),
      number(min(found$seconds) / sets * 1e6),
      number(as.double(utils::object.size(value)) / 2^20)
    ))
  }
  for (p in c(8L, 12L, 15L, 18L, 20L)) {
    set.seed(1)
    x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("V", seq_len(p))))
    graph <- matrix(1, p, p, dimnames = list(colnames(x), colnames(x))) - diag(p)
    name <- sprintf("complete, p = %d", p)
    some <- colnames(x)[2:4]
    tell(name, "local", function() causal_effects(graph, x))
    if (p <= 15) {
      tell(name, "optimal", function() causal_effects(graph, x, method = "optimal"))
    }
    tell(name, "optimal, one x on three y", function() causal_effects(graph, x, x = 1, y = some, method = "optimal"))
    tell(name, "global", function() causal_effects(graph, x, method = "global"))
    tell(name, "joint, two x", function() causal_effects(graph, x, x = 1:2, joint = TRUE))
    tell(name, "joint, two x, type = \"pdag\"", function() {
      causal_effects(graph, x, x = 1:2, joint = TRUE, type = "pdag")
    })
  }
  for (shape in list(c(100, 20), c(300, 100), c(1000, 100), c(1000, 999))) {
    p <- shape[1L]
    dag <- random_dag(p, shape[2L], seed = 1)
    graph <- cpdag_of(dag)
    x <- random_data(dag, p + 100L, seed = 1)
    name <- sprintf("of a DAG, p = %d, %d neighbours", p, shape[2L])
    for (method in c("local", "optimal")) {
      tell(name, method, function() causal_effects(graph, x, method = method), if (p > 500) 1L else repeats)
    }
  }
}

tell_origin("effects.R")
if ("dense" %in% parts) {
  dense()
}
if ("peer" %in% parts) {
  peer(as.integer(option("p", "200")))
}
if ("large" %in% parts) {
  large(as.integer(option("large", "5000")))
}

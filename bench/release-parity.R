# The part `parity` of release.R: how many answers of pcgpu are equal to pcalg's on the same input, in all fields. Graphs,
# separating sets and counts are compared exactly, p-values and effects to 1e-9. The inputs whose answers differ are saved
# in the folder of --differences=FOLDER, if one is given, and make the program end with 1.
source(file.path(here, "compare.R"))
settings(cases = 20L)
differing <- option("differences", "")

# Returns the fields in which two answers differ, as text.
unequal <- function(ours, theirs) {
  if (isS4(ours) && isS4(theirs)) {
    differences(ours, theirs, setdiff(union(slotNames(ours), slotNames(theirs)), "call"))
  } else if (same_field("", ours, theirs)) {
    ""
  } else {
    "value"
  }
}

quiet <- function(call) {
  utils::capture.output(value <- suppressWarnings(suppressMessages(call)))
  value
}
# Returns the value of a call, or "error": errors of both count as equal, and the note has their number.
try_both <- function(call) tryCatch(quiet(call), error = function(e) "error")

# --- inputs, by number ---

drawn <- function(seed, kind = "gaussian", ...) {
  p <- c(5, 7, 9)[seed %% 3 + 1]
  dag <- random_dag(p, neighbours = c(2, 3, 4)[seed %% 3 + 1], seed = seed)
  random_data(dag, c(30, 100, 1000, 5000)[seed %% 4 + 1], kind, seed = seed, numCores = 2, ...)
}
# Returns data whose columns have numbers as names. Some functions of pcalg take names for numbers, or stop.
numbered <- function(x) {
  colnames(x) <- seq_len(ncol(x))
  x
}
correlations <- function(seed) {
  x <- drawn(seed)
  if (seed %% 5 == 0) {
    x[, 4] <- x[, 1] + x[, 2]
  }
  list(C = stats::cor(x), n = nrow(x))
}
# Returns discrete data of six variables at most: with sets of five, pcalg's disCItest() has another p-value (`?pc`).
discrete <- function(seed) {
  x <- drawn(seed, "discrete", levels = 2:3)
  x <- x[seq_len(min(6, ncol(x)))]
  list(dm = as.matrix(coded(x)), nlev = vapply(x, nlevels, 0L), adaptDF = seed %% 2 == 0)
}
binary <- function(seed) list(dm = as.matrix(coded(drawn(seed, "discrete", levels = 2))), adaptDF = seed %% 2 == 0)
oracle <- function(seed) {
  # The weights of paths must not be negative.
  graph <- as(random_dag(6, neighbours = 3, signs = FALSE, seed = seed), "graphNEL")
  list(g = graph, jp = RBGL::johnson.all.pairs.sp(graph))
}
inputs <- list(gaussCItest = correlations, disCItest = discrete, binCItest = binary, dsepTest = oracle)
variables <- function(stat) {
  if (!is.null(stat$C)) {
    ncol(stat$C)
  } else if (!is.null(stat$dm)) {
    ncol(stat$dm)
  } else {
    6
  }
}
pairs_drawn <- function(p, share) {
  m <- matrix(stats::runif(p * p) < share, p)
  m & t(m)
}

# --- the checks: functions of a number, which return both answers ---

checks <- list()
add <- function(name, variant, both) checks[[paste(name, variant, sep = "/")]] <<- both
# Adds a search by both packages with a test. `more`: further arguments of a number and p.
add_search <- function(name, test, variant, more = function(seed, p) list()) {
  add(name, paste0(test, if (nzchar(variant)) ", ", variant), function(seed) {
    stat <- inputs[[test]](seed)
    p <- variables(stat)
    set.seed(seed)
    given <- c(list(stat, alpha = c(0.01, 0.05, 0.2)[seed %% 3 + 1], labels = as.character(seq_len(p))), more(seed, p))
    theirs <- getExportedValue("pcalg", test)
    # pcgpu has no dsepTest(): it calls pcalg's.
    ours <- if (test == "dsepTest") theirs else getExportedValue("pcgpu", test)
    call <- function(package, test) {
      set.seed(seed)
      try_both(do.call(getExportedValue(package, name), c(given, indepTest = test)))
    }
    list(ours = call("pcgpu", ours), theirs = call("pcalg", theirs), given = given)
  })
}
constant <- function(...) function(seed, p) list(...)

for (test in names(inputs)) {
  add(test, "p-values", function(seed) {
    stat <- inputs[[test]](seed)
    p <- variables(stat)
    set.seed(seed)
    questions <- lapply(1:25, function(i) {
      of <- sample(p)
      list(of[1L], of[2L], of[-(1:2)][seq_len(sample(0:min(3, p - 2), 1))])
    })
    package <- if (test == "dsepTest") "pcalg" else "pcgpu"
    ask <- function(f) quiet(vapply(questions, function(q) as.numeric(f(q[[1L]], q[[2L]], q[[3L]], stat)), 0))
    list(ours = ask(getExportedValue(package, test)), theirs = ask(getExportedValue("pcalg", test)))
  })
  # `test` is this one when the check runs.
  environment(checks[[length(checks)]]) <- list2env(list(test = test), parent = globalenv())
  for (method in c("stable", "original", "stable.fast")) {
    if (method != "stable.fast" || test == "gaussCItest") {
      local({
        method <- method
        add_search("skeleton", test, method, function(seed, p) list(method = method))
      })
    }
  }
  add_search("pc", test, "")
  add_search("pc", test, "maj.rule, solve.confl", constant(maj.rule = TRUE, solve.confl = TRUE))
  add_search("fci", test, "")
}
checks[["dsepTest/p-values"]] <- NULL
add_search("skeleton", "gaussCItest", "m.max = 1", constant(m.max = 1))
add_search("skeleton", "gaussCItest", "fixedGaps, fixedEdges", function(seed, p) {
  list(fixedGaps = pairs_drawn(p, 0.3), fixedEdges = pairs_drawn(p, 0.3))
})
add_search("pc", "gaussCItest", "u2pd = rand", constant(u2pd = "rand"))
add_search("pc", "gaussCItest", "u2pd = retry", constant(u2pd = "retry"))
add_search("pc", "gaussCItest", "solve.confl", constant(solve.confl = TRUE))
add_search("pc", "gaussCItest", "conservative", constant(conservative = TRUE))
add_search("pc", "gaussCItest", "conservative, solve.confl", constant(conservative = TRUE, solve.confl = TRUE))
add_search("pc", "gaussCItest", "maj.rule", constant(maj.rule = TRUE))
add_search("fci", "gaussCItest", "type = anytime, m.max = 1", constant(type = "anytime", m.max = 1))
add_search("fci", "gaussCItest", "type = adaptive", constant(type = "adaptive"))
add_search("fci", "gaussCItest", "conservative", constant(conservative = TRUE))
add_search("fci", "gaussCItest", "maj.rule", constant(maj.rule = TRUE))
add_search("fci", "gaussCItest", "doPdsep = FALSE", constant(doPdsep = FALSE))
add_search("fci", "gaussCItest", "biCC", constant(biCC = TRUE))
add_search("fci", "gaussCItest", "selectionBias = FALSE", constant(selectionBias = FALSE))
add_search("rfci", "gaussCItest", "")
add_search("rfci", "gaussCItest", "conservative", constant(conservative = TRUE))
add_search("rfci", "disCItest", "")
add_search("fciPlus", "gaussCItest", "")
add_search("fciPlus", "disCItest", "")

# Adds a comparison of two calls on the same input.
add_pair <- function(name, variant, input, ours, theirs) {
  add(name, variant, function(seed) {
    given <- input(seed)
    of <- function(call) {
      set.seed(seed)
      try_both(call(given))
    }
    list(ours = of(ours), theirs = of(theirs), given = given)
  })
}
select_input <- function(seed) {
  x <- drawn(seed)
  list(y = x[, 1], dm = x[, -1], alpha = 0.05)
}
for (more in list(list(), list(directed = TRUE))) {
  local({
    more <- more
    call <- function(f, ...) function(given) do.call(f, c(given, more, list(...)))
    shown <- if (length(more)) "directed" else "undirected"
    add_pair("pcSelect", shown, select_input, call(pcSelect), call(pcalg::pcSelect))
    add_pair(
      "pcSelect.presel",
      shown,
      select_input,
      call(pcSelect.presel, alphapre = 0.2),
      call(pcalg::pcSelect.presel, alphapre = 0.2)
    )
  })
}

# Returns the graph of a search, whose effects both compute.
effects_input <- function(seed) {
  x <- numbered(drawn(seed))
  fit <- quiet(pc(suff_gauss(x), gaussCItest, 0.05, labels = colnames(x), u2pd = "retry", progress = FALSE))
  list(fit = fit, mcov = stats::cov(x), p = ncol(x))
}
pairs_of_ida <- list(c(1, 2), c(2, 1), c(3, 5), c(4, 3))
for (method in c("local", "optimal", "global")) {
  local({
    method <- method
    add_pair(
      "ida",
      method,
      effects_input,
      function(given) {
        all <- causal_effects(given$fit, mcov = given$mcov, method = method)
        lapply(pairs_of_ida, function(at) sort(unname(all[at[1L], at[2L]])))
      },
      function(given) {
        lapply(pairs_of_ida, function(at) {
          sort(as.vector(pcalg::ida(at[1L], at[2L], given$mcov, given$fit@graph, method = method)))
        })
      }
    )
  })
}
sorted_columns <- function(m) m[, do.call(order, as.data.frame(round(t(m), 9))), drop = FALSE]
for (technique in c("RRC", "MCD")) {
  local({
    technique <- technique
    add_pair(
      "jointIda",
      technique,
      effects_input,
      function(given) {
        all <- causal_effects(
          given$fit,
          mcov = given$mcov,
          x = 1:2,
          y = 4,
          joint = TRUE,
          technique = technique,
          type = "pdag"
        )
        sorted_columns(matrix(all[, 4], 2))
      },
      function(given) {
        sorted_columns(matrix(
          pcalg::jointIda(1:2, 4, given$mcov, given$fit@graph, technique = technique, type = "pdag"),
          2
        ))
      }
    )
  })
}
dag_input <- function(seed) random_dag(c(5, 10, 30)[seed %% 3 + 1], neighbours = 3, signs = FALSE, seed = seed)
nel <- function(dag) as(dag, "graphNEL")
add_pair("dag2cpdag", "", dag_input, function(dag) as.matrix(cpdag_of(dag)) + 0, function(dag) {
  as(pcalg::dag2cpdag(nel(dag)), "matrix") != 0
})
add_pair(
  "shd",
  "",
  function(seed) list(dag_input(seed), random_dag(c(5, 10, 30)[seed %% 3 + 1], neighbours = 2, seed = seed + 1000)),
  function(dags) compare_graphs(dags[[1L]], dags[[2L]])$shd,
  function(dags) pcalg::shd(pcalg::dag2cpdag(nel(dags[[1L]])), pcalg::dag2cpdag(nel(dags[[2L]])))
)
add_pair("dsep", "", dag_input, function(dag) vapply(3:5, function(s) d_separated(dag, 1, 2, s), NA), function(dag) {
  named <- graph::nodes(nel(dag))
  vapply(3:5, function(s) pcalg::dsep(named[1L], named[2L], named[s], nel(dag)), NA)
})
add_pair("mcor", "standard", drawn, function(x) mcor(x), function(x) pcalg::mcor(x))
add_pair("mcor", "shrink", drawn, function(x) mcor(x, "shrink"), function(x) pcalg::mcor(x, "shrink"))

# --- runs ---

wrong <- 0
cat("\n", head_text("function", "case", "inputs", "equal in all fields"), sep = "")
for (name in grep(option("methods", ""), names(checks), value = TRUE)) {
  errors <- 0
  equal <- vapply(
    seq_len(cases),
    function(seed) {
      found <- checks[[name]](seed)
      fields <- unequal(found$ours, found$theirs)
      if (nzchar(fields) && nzchar(differing)) {
        dir.create(differing, FALSE, TRUE)
        saveRDS(found, file.path(differing, sprintf("%s-%d.rds", gsub("[^A-Za-z0-9.]+", "-", name), seed)))
      }
      if (nzchar(fields)) {
        message(name, ", input ", seed, ": ", fields)
      }
      errors <<- errors + (identical(found$theirs, "error") && identical(found$ours, "error"))
      !nzchar(fields)
    },
    NA
  )
  wrong <- wrong + sum(!equal)
  of <- c(sub("/.*", "", name), sub("^[^/]*/", "", name))
  cat(row_text(of, cases, sum(equal), if (errors) paste(errors, "errors of both")))
  keep(
    program = "pcalg",
    program_version = version_of("pcalg"),
    data = "parity",
    algorithm = of[1L],
    test = of[2L],
    seeds = sum(equal),
    of = cases,
    note = if (errors) paste(errors, "errors of both")
  )
}
if (wrong) {
  quit(status = 1)
}

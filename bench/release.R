# The comparison of a release: seconds and accuracy of searches with pcgpu and with other programs, on data whose truth is
# known, and how many of pcgpu's answers are equal to pcalg's.
#
#   Rscript release.R [PART ...] [--csv=FILE] [--limit=60] [--p-min=P] [--p-max=P] [--programs=PATTERN]
#     [--methods=PATTERN] [--python=PROGRAM] [--tetrad=JAR] [--ramble=PROGRAM]
#
# PART: gaussian, discrete, nonlinear, mixed, missing, latent, lagged, local, or parity (release-parity.R); all by default.
# Each cell is a process of its own, which ends after --limit seconds; data sets whose search had ended count. R packages
# of other programs are looked for in R_LIBS; --python has causal-learn, andrey-core, tigramite and, for Tetrad's jar,
# jpype1; JAVA_HOME is Tetrad's Java. Programs that are missing are left out, with a row that says so. --programs and
# --methods: only those whose names match. --csv appends rows to FILE in the format of release.csv, which release-page.R
# makes a page of.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})
settings(
  limit = 60,
  p_min = 0,
  p_max = Inf,
  all = c("gaussian", "discrete", "nonlinear", "mixed", "missing", "latent", "lagged", "local", "parity")
)
alpha <- 0.01
lags <- 2L

# --- data and truth ---

# Returns shapes: rows of p, n, degree and number of data sets.
shapes_of <- function(...) {
  stats::setNames(as.data.frame(matrix(c(...), ncol = 4, byrow = TRUE)), c("p", "n", "degree", "seeds"))
}
# What is drawn by part, and which methods search in it. A method is ALGORITHM/TEST.
plan <- list(
  gaussian = list(
    shapes = shapes_of(
      c(10, 100, 2, 5),
      c(10, 1000, 2, 5),
      c(50, 100, 2, 5),
      c(50, 1000, 2, 5),
      c(50, 1000, 5, 5),
      c(50, 10000, 5, 5),
      c(200, 1000, 2, 3),
      c(200, 1000, 5, 3),
      c(1000, 100, 2, 2),
      c(1000, 1000, 2, 2)
    ),
    methods = "pc/fisherz"
  ),
  discrete = list(
    shapes = shapes_of(c(10, 1000, 2, 5), c(50, 1000, 2, 5), c(50, 10000, 2, 3), c(200, 1000, 2, 3)),
    methods = c("pc/gsq", "pc/chisq")
  ),
  nonlinear = list(
    shapes = shapes_of(c(10, 200, 2, 3), c(10, 500, 2, 3), c(20, 500, 2, 2)),
    methods = c("pc/fisherz", "pc/rcot", "pc/kci", "pc/knn")
  ),
  mixed = list(
    shapes = shapes_of(c(10, 1000, 2, 5), c(20, 1000, 2, 5), c(50, 1000, 2, 5)),
    methods = c("pc/mixed", "pc/degenerate")
  ),
  missing = list(shapes = shapes_of(c(10, 500, 2, 5), c(50, 1000, 2, 5)), methods = "pc/testwise"),
  latent = list(
    shapes = shapes_of(c(10, 1000, 2, 5), c(20, 1000, 3, 5), c(50, 1000, 2, 5)),
    methods = c("fci/fisherz", "rfci/fisherz", "fciPlus/fisherz")
  ),
  lagged = list(
    shapes = shapes_of(c(5, 500, 2, 5), c(10, 500, 2, 5), c(50, 500, 2, 3)),
    methods = c("pc/parcorr", "pcmci/parcorr", "pcmciplus/parcorr")
  ),
  local = list(shapes = shapes_of(c(50, 1000, 5, 5), c(1000, 1000, 5, 5)), methods = "pcSelect/fisherz")
)

# Returns the PAG of the variables `kept` of a DAG: fci() of the true correlations, with a sample so large that every
# test is right. A hundred times as many observations must give the same: weak paths need more than some 1e20.
true_pag <- function(dag, kept) {
  weights <- as(as(dag, "graphNEL"), "matrix")
  reach <- solve(diag(nrow(weights)) - weights)
  C <- stats::cov2cor(crossprod(reach))[kept, kept]
  of_size <- function(n) {
    fci(list(C = C, n = n), gaussCItest, alpha, labels = colnames(weights)[kept], progress = FALSE)@amat
  }
  truth <- of_size(1e22)
  stopifnot(identical(truth, of_size(1e20)))
  truth
}

# Returns list(x, truth) of series with causes one step ago: the columns of `truth` are those of lagged(x).
series <- function(p, n, degree, seed) {
  effects <- t(as(as(random_dag(p, neighbours = degree, weights = c(0.2, 0.5), seed = seed), "graphNEL"), "matrix"))
  diag(effects) <- 0.4
  set.seed(seed)
  x <- matrix(stats::rnorm((n + 100) * p), p)
  for (at in seq_len(ncol(x))[-1L]) {
    x[, at] <- x[, at] + effects %*% x[, at - 1L]
  }
  truth <- matrix(0, p * (lags + 1L), p * (lags + 1L))
  truth[p * (lags - 1L) + seq_len(p), p * lags + seq_len(p)] <- t(effects) != 0
  list(x = t(x[, -(1:100)]), truth = truth)
}

# Returns list(x, truth) for a data set of a part.
draw <- function(part, p, n, degree, seed) {
  if (part == "lagged") {
    return(series(p, n, degree, seed))
  }
  all <- if (part == "latent") round(p / 0.8) else p
  dag <- random_dag(all, neighbours = degree, seed = seed)
  kind <- if (part %in% c("discrete", "nonlinear", "mixed")) part else "gaussian"
  x <- random_data(dag, n, kind, missing = 0.03 * (part == "missing"), seed = seed, numCores = 2)
  if (part == "latent") {
    set.seed(seed)
    kept <- sort(sample(all, p))
    return(list(x = x[, kept], truth = true_pag(dag, kept)))
  }
  truth <- as.matrix(cpdag_of(dag))
  if (part == "local") {
    # The target is the variable with the most neighbours, as the last column.
    target <- which.max(rowSums(truth + t(truth) > 0))
    by <- c(setdiff(seq_len(p), target), target)
    near <- (truth + t(truth))[by, by] > 0
    truth <- matrix(0, p, p)
    truth[p, ] <- truth[, p] <- near[, p]
    x <- x[, by]
  }
  list(x = x, truth = truth)
}

# Returns a data frame whose factors are codes from 0.
coded <- function(x) {
  x <- as.data.frame(x)
  x[] <- lapply(x, function(column) if (is.factor(column)) as.integer(column) - 1L else column)
  x
}

# --- the searches of R ---

labelled <- function(x) list(alpha = alpha, labels = colnames(x))
of_pcgpu <- function(search, x, stat, test, threads, ...) {
  do.call(search, c(list(stat, test), labelled(x), numCores = threads, progress = FALSE, list(...)))
}
gauss_of_pcgpu <- function(search) function(x, threads) of_pcgpu(search, x, suff_gauss(x), gaussCItest, threads)
of_pcalg <- function(search, x, stat, test, ...) {
  do.call(getExportedValue("pcalg", search), c(list(stat, test), labelled(x), list(...)))
}
gauss_of_pcalg <- function(search, ...) {
  function(x, threads) of_pcalg(search, x, list(C = stats::cor(x), n = nrow(x)), pcalg::gaussCItest, ...)
}
by_data <- function(x, threads) pc(x, alpha = alpha, numCores = threads, progress = FALSE)
of_bnlearn <- function(test) function(x, threads) bnlearn::pc.stable(as.data.frame(x), test = test, alpha = alpha)
# Returns a target's neighbours as a graph.
star <- function(is_near) {
  p <- length(is_near) + 1L
  m <- matrix(0, p, p)
  m[p, -p] <- m[-p, p] <- is_near
  m
}

searches <- list(
  pcgpu = list(
    "pc/fisherz" = gauss_of_pcgpu("pc"),
    "pc/gsq" = function(x, threads) of_pcgpu("pc", x, suff_discrete(x), disCItest, threads),
    "pc/chisq" = function(x, threads) of_pcgpu("pc", x, suff_discrete(x), chi2CItest, threads),
    "pc/rcot" = function(x, threads) of_pcgpu("pc", x, suff_kernel(x, seed = 1), rcotCItest, threads),
    "pc/kci" = function(x, threads) of_pcgpu("pc", x, suff_kernel(x, seed = 1), kciCItest, threads),
    "pc/knn" = function(x, threads) of_pcgpu("pc", x, suff_knn(x, seed = 1), cmiKnnCItest, threads),
    "pc/mixed" = function(x, threads) of_pcgpu("pc", x, x, mixCItest, threads),
    "pc/testwise" = function(x, threads) of_pcgpu("pc", x, x, gaussCItwd, threads),
    "fci/fisherz" = gauss_of_pcgpu("fci"),
    "rfci/fisherz" = gauss_of_pcgpu("rfci"),
    "fciPlus/fisherz" = gauss_of_pcgpu("fciPlus"),
    "pc/parcorr" = function(x, threads) {
      wide <- lagged(x, lags)
      of_pcgpu("pc", wide, suff_gauss(as.matrix(wide)), gaussCItest, threads, tiers = attr(wide, "tiers"))
    },
    "pcSelect/fisherz" = function(x, threads) {
      p <- ncol(x)
      star(pcSelect(x[, p], x[, -p], alpha, numCores = threads)$G)
    }
  ),
  # The call for data, whose default decides v-structures in small graphs by the majority rule.
  "pcgpu, pc(data)" = list("pc/fisherz" = by_data, "pc/gsq" = by_data, "pc/mixed" = by_data),
  pcalg = list(
    "pc/fisherz" = gauss_of_pcalg("pc", skel.method = "stable.fast"),
    "pc/gsq" = function(x, threads) {
      stat <- list(dm = as.matrix(coded(x)), nlev = vapply(x, nlevels, 0L), adaptDF = FALSE)
      of_pcalg("pc", x, stat, pcalg::disCItest)
    },
    "fci/fisherz" = gauss_of_pcalg("fci", skel.method = "stable.fast"),
    "rfci/fisherz" = gauss_of_pcalg("rfci", skel.method = "stable.fast"),
    "fciPlus/fisherz" = gauss_of_pcalg("fciPlus"),
    "pcSelect/fisherz" = function(x, threads) {
      p <- ncol(x)
      star(pcalg::pcSelect(x[, p], x[, -p], alpha)$G)
    }
  ),
  micd = list(
    "pc/mixed" = function(x, threads) of_pcalg("pc", x, x, micd::mixCItest),
    "pc/testwise" = function(x, threads) of_pcalg("pc", x, x, micd::gaussCItwd)
  ),
  bnlearn = list(
    "pc/fisherz" = of_bnlearn("zf"),
    "pc/gsq" = of_bnlearn("mi"),
    "pc/chisq" = of_bnlearn("x2"),
    "pc/mixed" = of_bnlearn("mi-cg"),
    "pc/testwise" = of_bnlearn("zf"),
    "pcSelect/fisherz" = function(x, threads) {
      data <- as.data.frame(x)
      found <- bnlearn::learn.nbr(data, names(data)[ncol(x)], method = "si.hiton.pc", test = "zf", alpha = alpha)
      star(names(data)[-ncol(x)] %in% found)
    }
  )
)
in_python <- list(
  "causal-learn" = paste0(
    c("pc/", "fci/")[c(1, 1, 1, 1, 1, 1, 2)],
    c("fisherz", "gsq", "chisq", "rcot", "kci", "testwise", "fisherz")
  ),
  Andrey = c(
    paste0("pc/", c("fisherz", "gsq", "chisq", "rcot", "kci", "knn", "mixed", "degenerate")),
    "fci/fisherz",
    "pcmci/parcorr",
    "pcmciplus/parcorr"
  ),
  tigramite = c("pc/knn", "pcmci/parcorr", "pcmciplus/parcorr"),
  Tetrad = c(
    paste0("pc/", c("fisherz", "gsq", "chisq", "kci", "mixed", "degenerate", "testwise")),
    "fci/fisherz",
    "rfci/fisherz"
  ),
  ramBLe = "pc/gsq"
)
# Programs that share their work by default have two threads here.
threads_of <- function(program) switch(program, pcgpu = 1:2, "pcgpu, pc(data)" = , Tetrad = , Andrey = 2L, 1L)

# Returns marks of a graph in pcalg's code of PAGs: [i, j] is the mark at j. A conflict has two arrowheads.
marks_of <- function(graph) {
  if (is(graph, "fciAlgo")) {
    return(graph@amat)
  }
  m <- if (is(graph, "bn")) {
    bnlearn::amat(graph)
  } else if (is.matrix(graph)) {
    graph
  } else {
    as(graph@graph, "matrix")
  }
  is_near <- m + t(m) > 0
  is_near * ifelse(m != 0 & (t(m) == 0 | m == 2), 2, 3)
}

# Runs the searches of a cell in this process: release.R --work FOLDER PROGRAM METHOD ALPHA THREADS. Prints what
# release-peer.py prints.
work <- function(folder, program, method, threads) {
  package <- sub(",.*", "", program)
  cat("version,", version_of(package), "\n", sep = "")
  search <- searches[[program]][[method]]
  for (seed in seq_along(list.files(folder, "[.]rds$"))) {
    x <- readRDS(file.path(folder, paste0(seed, ".rds")))
    found <- timed(function() suppressWarnings(suppressMessages(search(x, threads))), 3, enough = 2)
    marks <- marks_of(found$value)
    at <- which(upper.tri(marks) & marks != 0, arr.ind = TRUE)
    for (i in seq_len(nrow(at))) {
      cat(seed, 0, at[i, 1L], at[i, 2L], t(marks)[at[i, , drop = FALSE]], marks[at[i, , drop = FALSE]], sep = ",")
      cat("\n")
    }
    cat(seed, stats::median(found$seconds), "0,0,0,0\n", sep = ",")
    # Otherwise the end of the process by the limit loses it.
    flush(stdout())
  }
}

# --- cells ---

# Returns the graph of the edges of an answer, in the form of the truth.
graph_of <- function(edges, p, part) {
  marks <- matrix(0, p, p)
  marks[cbind(edges$from, edges$to)] <- edges$at_to
  marks[cbind(edges$to, edges$from)] <- edges$at_from
  if (part == "latent") {
    return(marks)
  }
  m <- (marks != 0 & !(marks == 3 & t(marks) == 2)) * 1
  m[marks == 2 & t(marks) == 2] <- 2
  if (part == "lagged") {
    # Edges within the past are not compared.
    past <- seq_len(p * lags / (lags + 1L))
    m[past, past] <- 0
  }
  m
}

columns <- c(
  c("date", "commit", "version", "machine", "threads", "program", "program_version", "data", "algorithm", "test"),
  c("p", "n", "degree", "alpha", "seeds", "of", "seconds", "precision", "recall", "f1"),
  c("arrow_precision", "arrow_recall", "arrow_f1", "shd", "note")
)
keep <- function(...) {
  append_row(columns, list(version = version_of("pcgpu"), machine = machine_here(), ...))
}

# Returns the command of a cell.
command_of <- function(program, folder, method, threads) {
  call <- if (program %in% names(searches)) {
    c(file.path(R.home("bin"), "Rscript"), file.path(here, "release.R"), "--work")
  } else {
    c(option("python", "python3"), file.path(here, "release-peer.py"))
  }
  call <- c("env", "OMP_NUM_THREADS=1", "timeout", limit, call, folder, program, method, alpha, threads)
  paste(shQuote(call), collapse = " ")
}

# Runs a cell, and keeps its row.
cell <- function(part, shape, truths, folder, program, method, threads) {
  out <- file.path(folder, "answer")
  wrong <- file.path(folder, "errors")
  status <- system(paste(command_of(program, folder, method, threads), ">", shQuote(out), "2>", shQuote(wrong)))
  lines <- readLines(out)
  is_version <- startsWith(lines, "version,")
  # The limit may cut a line short, or the edges of a data set, whose seconds are the last line.
  rows <- utils::read.csv(
    text = grep("^([^,]+,){5}[0-9]+$", lines[!is_version], value = TRUE),
    header = FALSE,
    col.names = c("seed", "seconds", "from", "to", "at_from", "at_to"),
    colClasses = "numeric"
  )
  heads <- rows[rows$from == 0, ]
  scores <- do.call(
    rbind,
    lapply(heads$seed, function(seed) {
      truth <- truths[[seed]]
      graph <- graph_of(rows[rows$seed == seed & rows$from > 0, ], ncol(truth), part)
      dimnames(graph) <- dimnames(truth) <- rep(list(paste0("x", seq_len(ncol(truth)))), 2)
      if (part == "latent") {
        class(graph) <- class(truth) <- "amat"
        attr(graph, "type") <- attr(truth, "type") <- "amat.pag"
      }
      counts <- compare_graphs(graph, truth, cpdag = part != "lagged")
      unlist(counts[c("adj_precision", "adj_recall", "adj_f1", "arrow_precision", "arrow_recall", "arrow_f1", "shd")])
    })
  )
  means <- if (length(scores)) round(colMeans(scores, na.rm = TRUE), 3) else rep(NA, 7)
  note <- if (status == 124) sprintf("over %g s", limit)
  if (status != 0 && status != 124) {
    said <- grep("Error|error|Exception", readLines(wrong, warn = FALSE), value = TRUE)
    note <- paste("error:", substr(utils::tail(c("no answer", said), 1L), 1, 150))
  }
  keep(
    threads = threads,
    program = program,
    program_version = sub("version,", "", lines[is_version]),
    data = part,
    algorithm = sub("/.*", "", method),
    test = sub(".*/", "", method),
    p = shape$p,
    n = shape$n,
    degree = shape$degree,
    alpha = alpha,
    seeds = nrow(heads),
    of = shape$seeds,
    seconds = if (nrow(heads)) signif(stats::median(heads$seconds), 3),
    precision = means[1L],
    recall = means[2L],
    f1 = means[3L],
    arrow_precision = means[4L],
    arrow_recall = means[5L],
    arrow_f1 = means[6L],
    shd = means[7L],
    note = note
  )
  cat(row_text(
    part,
    method,
    shape$p,
    shape$n,
    shape$degree,
    paste(program, threads),
    if (nrow(heads)) number(stats::median(heads$seconds)) else "",
    means[c(3L, 6L, 7L)],
    note
  ))
}

# Returns why a program is not run, or "".
missing_why <- function(program) {
  package <- sub(",.*", "", program)
  if (program %in% names(searches)) {
    return(if (is.null(version_of(package))) "no R package of this name in R_LIBS" else "")
  }
  python <- option("python", "")
  modules <- c(
    "causal-learn" = "causallearn",
    Andrey = "andrey",
    tigramite = "tigramite",
    Tetrad = "jpype",
    ramBLe = "pandas"
  )
  file <- switch(program, Tetrad = option("tetrad", ""), ramBLe = option("ramble", ""), NA)
  if (
    !nzchar(python) ||
      system(paste(shQuote(python), "-c", shQuote(paste("import", modules[[program]]))), ignore.stderr = TRUE) != 0
  ) {
    "its Python module is not in --python"
  } else if (!is.na(file) && !file.exists(file)) {
    sprintf("no --%s=FILE", tolower(program))
  } else {
    ""
  }
}

run_part <- function(part, programs) {
  of <- plan[[part]]
  for (at in which(of$shapes$p >= p_min & of$shapes$p <= p_max)) {
    shape <- of$shapes[at, ]
    folder <- tempfile(part)
    dir.create(folder)
    truths <- lapply(seq_len(shape$seeds), function(seed) {
      drawn <- draw(part, shape$p, shape$n, shape$degree, seed)
      colnames(drawn$x) <- paste0("x", seq_len(ncol(drawn$x)))
      saveRDS(drawn$x, file.path(folder, paste0(seed, ".rds")))
      utils::write.csv(
        coded(drawn$x),
        file.path(folder, paste0(seed, ".csv")),
        row.names = FALSE,
        quote = FALSE,
        na = ""
      )
      drawn$truth
    })
    for (method in grep(option("methods", ""), of$methods, value = TRUE)) {
      for (program in programs) {
        if (method %in% c(names(searches[[program]]), in_python[[program]])) {
          for (threads in threads_of(program)) {
            cell(part, shape, truths, folder, program, method, threads)
          }
        }
      }
    }
    unlink(folder, recursive = TRUE)
  }
}

if ("--work" %in% args) {
  work(operands()[1L], operands()[2L], operands()[3L], as.integer(operands()[5L]))
} else {
  Sys.setenv(TETRAD_JAR = option("tetrad", ""), RAMBLE = option("ramble", ""))
  Sys.setenv(PCGPU_COMMIT = commit_here())
  tell_origin("release.R")
  programs <- grep(option("programs", ""), c(names(searches), names(in_python)), value = TRUE)
  why <- vapply(programs, missing_why, "")
  for (program in programs[nzchar(why)]) {
    message("not run: ", program, ": ", why[[program]])
    keep(program = program, note = paste("not run:", why[[program]]))
  }
  cat(head_text("data", "method", "p", "n", "degree", "program, threads", "s", "F1", "arrow F1", "SHD", "note"))
  for (part in setdiff(parts, "parity")) {
    run_part(part, programs[!nzchar(why)])
  }
  if ("parity" %in% parts && is.null(version_of("pcalg"))) {
    message("not run: parity: pcalg is not installed")
  } else if ("parity" %in% parts) {
    source(file.path(here, "release-parity.R"))
  }
}

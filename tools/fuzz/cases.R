# Makes one ill-formed call from a number. The same number makes the same call.

# Returns a valid correlation matrix of 0, 1, 2 ... variables.
random_correlation <- function(p) {
  if (p == 0) {
    return(matrix(0, 0, 0))
  }
  x <- matrix(rnorm(p * (p + 3)), ncol = p)
  if (p > 2 && runif(1) < 0.2) {
    x[, 2] <- x[, 1]
  }
  cor(x)
}

pick <- function(x) x[[sample.int(length(x), 1)]]

# Returns a value that a call may get in place of what it expects.
odd_value <- function(p) {
  pick(list(
    NULL,
    NA,
    NA_integer_,
    NA_real_,
    NA_character_,
    NaN,
    Inf,
    -Inf,
    0,
    0L,
    -1,
    -1L,
    1e-320,
    1e300,
    -1e300,
    2^31,
    2^53,
    2^63,
    .Machine$integer.max,
    -.Machine$integer.max,
    0.5,
    1,
    2L,
    3,
    TRUE,
    FALSE,
    "",
    "stable",
    "%s%n%d",
    strrep("x", 1e4),
    "\u00e4",
    character(),
    integer(),
    double(),
    logical(),
    list(),
    list(NULL),
    list(1, "a"),
    list(error = list(class = "test")),
    raw(3),
    1i,
    factor("a"),
    quote(x),
    quote(x + y),
    as.name("stable"),
    globalenv(),
    new.env(),
    y ~ x,
    Sys.Date(),
    data.frame(a = 1:3),
    sum,
    function() NULL,
    function(...) stop("no %s"),
    function(...) "1",
    function(...) c(1, 2),
    function(...) NULL,
    function(...) NaN,
    function(...) {
      gc()
      runif(1)
    },
    function(...) list(),
    function(...) warning("%n"),
    seq_len(p),
    seq_len(p + 1),
    rep(NA_integer_, p),
    1:100000,
    matrix(0, p, p),
    matrix(NaN, p, p),
    matrix(Inf, p, p),
    matrix(1L, p, p),
    matrix("a", p, p),
    matrix(list(), 0, 0),
    matrix(TRUE, p, p),
    matrix(NA, p, p),
    matrix(0, p, p + 1),
    matrix(runif(p * p, -2, 2), p),
    matrix(1e308, p, p),
    array(0, c(p, p, 2)),
    structure(1, class = "oddity"),
    rep(list(integer()), p),
    rep(list(c(0L, -1L, 99L)), p),
    rep(list(rep(list(NULL), p)), p),
    rep(list(1e9), p)
  ))
}

# Spoils one place in a list of arguments, at any depth.
spoil <- function(x, p) {
  if (is.list(x) && length(x) && runif(1) < 0.7) {
    at <- sample.int(length(x), 1)
    inner <- if (runif(1) < 0.5) spoil(x[[at]], p) else odd_value(p)
    x[at] <- list(inner)
    return(x)
  }
  if (is.list(x) && length(x)) {
    return(switch(
      sample.int(4, 1),
      x[-sample.int(length(x), 1)],
      unname(x),
      x[sample.int(length(x))],
      stats::setNames(x, rev(names(x)))
    ))
  }
  if (is.double(x) && length(x) && runif(1) < 0.6) {
    x[sample.int(length(x), 1)] <- pick(c(NA, NaN, Inf, -Inf, 0, 2, -2, 1e300, 1e-320))
    return(x)
  }
  odd_value(p)
}

# Returns codes of levels of 0, 1, ... variables.
random_discrete <- function(p) {
  n <- pick(c(1, 5, 70, 400))
  nlev <- sample(c(1:4, 9, 300), p, TRUE)
  dm <- matrix(vapply(rep(nlev, each = n), function(k) sample.int(k, 1) - 1L, 1L), n, p)
  if (runif(1) < 0.2 && length(dm)) {
    dm[sample.int(length(dm), 1)] <- pick(c(NA, -1L, 70000L, 5L))
  }
  if (runif(1) < 0.3) {
    storage.mode(dm) <- "double"
  }
  list(dm = dm, nlev = if (runif(1) < 0.8) nlev, adaptDF = runif(1) < 0.5, na = pick(c("error", "pairwise")))
}

random_discrete_test <- function(p) {
  s <- random_discrete(p)
  list(
    kind = "discrete",
    dm = s$dm,
    p = as.integer(p),
    nlev = s$nlev,
    adapt = s$adaptDF,
    na = runif(1) < 0.5,
    statistic = pick(c("G2", "X2")),
    rule = pick(c("pcalg", "bnlearn"))
  )
}

# Returns a few samples of 0, 1, 2 ... variables, some of them codes of levels.
random_knn <- function(p) {
  n <- pick(c(3, 10, 60))
  discrete <- runif(p) < 0.4
  data <- matrix(vapply(rep(discrete, each = n), function(d) if (d) sample.int(3, 1) + 0 else rnorm(1), 0), n, p)
  if (runif(1) < 0.2 && length(data)) {
    data[sample.int(length(data), 1)] <- pick(c(NA, Inf, 1e300, 1e-320))
  }
  list(
    data = data,
    discrete = discrete,
    k = pick(c(1, 2, 9, 60)),
    k_perm = pick(c(1, 2, 59)),
    permutations = pick(c(1, 20)),
    estimator = pick(c("auto", "mesner-shalizi", "gao", "frenzel-pompe")),
    transform = pick(c("ranks", "uniform", "standardize", "none")),
    seed = pick(c(0, 1, 2^31 - 1)),
    add_one = runif(1) < 0.5,
    early_stop = if (runif(1) < 0.3) c(alpha = 0.05, error = 0.01)
  )
}

random_knn_test <- function(p) {
  s <- random_knn(p)
  c(
    list(kind = "knn", p = as.integer(p), names = seq_len(p), alpha = if (runif(1) < 0.3) 0.05, error = 0.01),
    s[c("data", "discrete", "k", "k_perm", "permutations", "transform", "seed", "add_one")],
    list(estimator = pick(c("mesner-shalizi", "gao", "frenzel-pompe")))
  )
}

# Returns numbers and levels, some of them missing or completed.
random_mixed <- function(p) {
  n <- pick(c(1, 2, 9, 60))
  x <- as.data.frame(lapply(seq_len(p), function(j) {
    if (runif(1) < 0.5) rnorm(n) else factor(sample.int(3, n, TRUE), levels = seq_len(pick(3:5)))
  }))
  names(x) <- paste0("v", seq_len(p))
  if (runif(1) < 0.5 && p > 0) {
    x[sample.int(n, 1), sample.int(p, 1)] <- NA
  }
  if (runif(1) < 0.2 && p > 0) {
    x[[1]] <- pick(list(rep(1, n), rep(1e300, n), c(1e-320, rnorm(n - 1)), rep(Inf, n)))
  }
  x
}

random_mixed_test <- function(p) {
  n <- pick(c(1, 2, 9, 60))
  base <- list(
    kind = "mixed",
    p = as.integer(p),
    n = n,
    ask_for_rows = runif(1) < 0.5,
    constant_is_missing = runif(1) < 0.5,
    adapt = runif(1) < 0.5
  )
  if (runif(1) < 0.2) {
    return(c(base, list(correlations = lapply(seq_len(pick(1:3)), function(i) random_correlation(p)))))
  }
  if (runif(1) < 0.2) {
    return(c(
      base,
      list(holes = "testwise", sets = 1, matrix = matrix(ifelse(runif(n * p) < 0.1, NA, rnorm(n * p)), n, p))
    ))
  }
  sets <- pick(1:3)
  column <- function(j) {
    versions <- pick(c(1, sets))
    if (runif(1) < 0.5) {
      list(levels = 0L, versions = lapply(seq_len(versions), function(i) rnorm(n)))
    } else {
      list(levels = pick(3:4), versions = lapply(seq_len(versions), function(i) sample.int(3, n, TRUE)))
    }
  }
  c(base, list(holes = pick(c("none", "testwise", "imputed")), sets = sets, columns = lapply(seq_len(p), column)))
}

random_test <- function(p) {
  if (runif(1) < 0.2) {
    return(random_mixed_test(p))
  }
  if (runif(1) < 0.2) {
    return(random_knn_test(p))
  }
  if (runif(1) < 0.4) {
    return(random_discrete_test(p))
  }
  if (runif(1) < 0.2) {
    list(kind = "gauss", data = matrix(rnorm(pick(c(1, 4, 30)) * p), ncol = p), n = pick(c(1, 3, 20, 100)))
  } else if (runif(1) < 0.6) {
    list(kind = "gauss", C = random_correlation(p), n = pick(c(1, 3, 20, 100)))
  } else {
    list(
      kind = "function",
      fun = pick(list(
        function(x, y, S) runif(1),
        function(x, y, S) {
          gc()
          0.2
        },
        function(x, y, S) NULL,
        function(x, y, S) stop("no %s"),
        function(x, y, S) if (length(S)) NA_real_ else 0.001
      ))
    )
  }
}

random_orient <- function(p) {
  if (runif(1) < 0.2) {
    return(NULL)
  }
  list(
    u2pd = pick(c("relaxed", "rand", "retry")),
    rule = pick(c("standard", "conservative", "majority")),
    solve_confl = runif(1) < 0.5,
    version_unf = pick(list(c(2L, 1L), c(1L, 1L), c(2L, 2L))),
    knowledge = random_knowledge(p)
  )
}

random_engine <- function() {
  if (runif(1) < 0.8) {
    return(list(kind = "cpu", threads = pick(1:4), threads_named = pick(c(TRUE, FALSE)), ordinal = NULL))
  }
  list(
    kind = "cuda",
    threads = pick(1:4),
    threads_named = FALSE,
    ordinal = pick(0:1),
    strategy = pick(c("shared", "edge", "set", "gpucsl")),
    memory = pick(list(NULL, 1, 1e6))
  )
}

random_callbacks <- function() {
  list(
    progress = pick(list(NULL, function(...) NULL, function(...) gc(), function(...) stop("no %s"))),
    level = pick(list(NULL, function(...) NULL, function(...) stop("no %s"))),
    test = pick(list(NULL, function(...) NULL)),
    permutation = pick(list(function(k) sample.int(k), function(k) rep(0L, k), function(k) integer(), function(k) {
      k + 1:k
    }))
  )
}

random_skeleton <- function(p) {
  amat <- matrix(runif(p * p) < 0.5, p, p)
  amat <- amat & t(amat)
  diag(amat) <- FALSE
  list(
    edges = lapply(seq_len(p), function(i) which(amat[i, ])),
    sepset = lapply(seq_len(p), function(i) {
      lapply(seq_len(p), function(j) {
        if (runif(1) < 0.5) NULL else sample.int(p, sample.int(p, 1) - 1)
      })
    })
  )
}

random_knowledge <- function(p) {
  if (runif(1) < 0.6) {
    return(NULL)
  }
  arrows <- function() {
    from <- sample.int(p, sample.int(4, 1) - 1, TRUE)
    c(from, from %% p + 1L)
  }
  list(
    tiers = if (runif(1) < 0.5) as.double(sample.int(3, p, TRUE)),
    context_all = if (runif(1) < 0.2) 1L else integer(0),
    context_tier = if (runif(1) < 0.2) 2L else integer(0),
    forbidden = arrows(),
    required = arrows()
  )
}

random_arrows <- function(p) {
  chosen <- which(upper.tri(diag(p)) & runif(p * p) < 0.4, arr.ind = TRUE)
  list(p = as.integer(p), from = chosen[, 1L], to = chosen[, 2L], weight = rep(0.5, nrow(chosen)))
}

random_questions <- function(p) {
  x <- sample.int(p, 3, TRUE)
  list(x = x, y = x %% p + 1L, start = c(0, 0, 1, 1), members = sample.int(p, 1))
}

# Well-formed arguments of each function that takes outside input.
targets <- list(
  rust_search = function(p) {
    list(
      test = random_test(p),
      options = list(
        p = as.integer(p),
        method = pick(c("stable", "stable.fast", "original")),
        alpha = pick(c(0.01, 0.5)),
        fixed_gaps = if (runif(1) < 0.3) matrix(FALSE, p, p),
        fixed_edges = if (runif(1) < 0.3) matrix(FALSE, p, p),
        na_delete = runif(1) < 0.5,
        m_max = pick(c(Inf, 0, 2)),
        knowledge = random_knowledge(p)
      ),
      orient = random_orient(p),
      engine = random_engine(),
      callbacks = random_callbacks(),
      object = pcgpu:::empty_result()
    )
  },
  rust_fill_slots = function(p) {
    list(object = pcgpu:::empty_result(), slots = list(pMax = diag(p), sepset = list(1L), n.edgetests = 1:2))
  },
  rust_orient = function(p) {
    list(
      skeleton = c(random_skeleton(p), p = as.integer(p)),
      orient = random_orient(p),
      test = if (runif(1) < 0.8) random_test(p),
      alpha = 0.05,
      engine = random_engine(),
      callbacks = random_callbacks()
    )
  },
  rust_add_knowledge = function(p) {
    list(edges = random_skeleton(p)$edges, marks = NULL, knowledge = random_knowledge(p), check = runif(1) < 0.5)
  },
  rust_random_dag = function(p) {
    list(
      shape = list(
        p = as.integer(p),
        model = pick(c("er", "power", "layers")),
        layers = 2,
        neighbours = 2,
        weights = c(0.3, 1),
        signs = TRUE
      ),
      seed = 1
    )
  },
  rust_random_data = function(p) {
    list(
      dag = random_arrows(p),
      sample = list(
        n = 5,
        kind = pick(c("gaussian", "nonlinear", "discrete", "mixed")),
        levels = c(2, 4),
        share = 0.5,
        strength = 1,
        standardise = FALSE,
        missing = pick(c(0, 0.3)),
        mechanism = pick(c("MCAR", "MAR"))
      ),
      seed = 1,
      engine = random_engine()
    )
  },
  rust_cpdag = function(p) list(edges = random_skeleton(p)$edges),
  rust_compare = function(p) {
    list(
      estimates = list(random_skeleton(p), random_skeleton(p)),
      truth = random_skeleton(p),
      as_cpdags = runif(1) < 0.5
    )
  },
  rust_q_values = function(p) {
    list(of = runif(3), values = matrix(runif(p * p), p, p), p = p, count = 10, by = runif(1) < 0.5)
  },
  rust_implied = function(p) {
    list(
      edges = random_skeleton(p)$edges,
      marks = NULL,
      asked = list(what = pick(c("parents", "blanket", "edges")), most = pick(c(1, 100)), seed = 1)
    )
  },
  rust_p_values = function(p) {
    list(
      test = random_test(p),
      p = as.integer(p),
      asked = random_questions(p),
      chosen = 1:3,
      alpha = 0.05,
      engine = random_engine(),
      callbacks = random_callbacks()
    )
  },
  random_dag = function(p) list(p = p, neighbours = 1, model = "er", weights = c(0.3, 1), seed = 1),
  random_data = function(p) {
    list(
      dag = pcgpu::random_dag(max(p, 1), 0, seed = 1),
      n = 5,
      kind = pick(c("gaussian", "nonlinear", "discrete", "mixed")),
      levels = c(2, 3),
      missing = 0.2,
      mechanism = pick(c("MCAR", "MAR")),
      seed = 1
    )
  },
  compare_graphs = function(p) list(estimated = diag(p), true = matrix(0, p, p)),
  markov_check = function(p) {
    list(
      fit = matrix(0, p, p),
      data = matrix(rnorm(30 * p), 30),
      indepTest = pcgpu::gaussCItest,
      given = pick(c("parents", "blanket")),
      resamples = pick(0:2)
    )
  },
  rust_gauss_p_value = function(p) {
    list(
      x = sample.int(p + 1, 1),
      y = sample.int(p + 1, 1),
      S = sample.int(p + 1, sample.int(p + 1, 1) - 1),
      C = random_correlation(p),
      n = 30
    )
  },
  rust_discrete_test = function(p) list(test = random_discrete_test(p)),
  rust_select = function(p) {
    n <- pick(c(2, 5, 70))
    x <- matrix(sample.int(9, n * p, TRUE), n, p)
    sparse <- list(
      kind = "sparse",
      p = as.integer(seq(0, by = n, length.out = p + 1)),
      i = rep(seq_len(n) - 1L, p),
      x = as.double(x)
    )
    list(
      x = pick(list(
        list(kind = "matrix", x = x),
        list(kind = "matrix", x = x + 0.5),
        sparse,
        list(kind = "columns", x = unname(lapply(as.data.frame(x), pick(c(factor, as.double)))))
      )),
      y = pick(list(factor(sample.int(2, n, TRUE)), runif(n))),
      options = list(
        n = n,
        k = pick(1:3),
        criterion = pick(c("JMI", "MIM", "CMI", "DISR", "CMIM", "mRMR", "MIFS", "FCBF")),
        beta = 0.5,
        gamma = 1,
        missing_level = pick(c(TRUE, FALSE)),
        bins = pick(c(2L, 64L)),
        discretise = pick(c("equal-width", "equal-frequency", "none")),
        ensemble = pick(list(NULL, list(replicates = 3L, size = n, replace = TRUE, seed = 1)))
      ),
      engine = random_engine(),
      progress = pick(list(NULL, function(...) NULL, function(...) stop("no %s")))
    )
  },
  select_features = function(p) {
    list(
      x = random_discrete(p)$dm,
      y = sample.int(2, 5, TRUE),
      k = pick(1:2),
      criterion = "JMI",
      bins = pick(c(2, 64)),
      discretize = "none",
      numCores = 2,
      ensemble = pick(list(NULL, 2, pcgpu::selection_ensemble(3, 0.5, seed = 1))),
      na = pick(c("error", "complete", "level"))
    )
  },
  rust_ensemble_rows = function(p) {
    list(
      n = 9,
      ensemble = list(replicates = 3L, size = 4L, replace = pick(c(TRUE, FALSE)), seed = 1),
      replicate = 2,
      draw = 0
    )
  },
  selection_ensemble = function(p) {
    list(replicates = 3, fraction = 0.5, replace = pick(c(TRUE, FALSE)), aggregate = "mean-rank", seed = 1)
  },
  rust_knn_test = function(p) {
    list(test = random_knn_test(p), x = 1, y = 2, engine = list(kind = "cpu", threads = 2L, threads_named = TRUE))
  },
  rust_mixed_test = function(p) list(test = random_mixed_test(p)),
  mixCItest = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_mixed(p)),
  mixCItwd = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_mixed(p)),
  mixMItest = function(p) {
    list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = lapply(1:3, function(i) random_mixed(p)))
  },
  gaussCItwd = function(p) {
    list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = matrix(ifelse(runif(9 * p) < 0.2, NA, rnorm(9 * p)), 9, p))
  },
  disCItwd = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_discrete(p)),
  gaussMItest = function(p) {
    list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = c(lapply(1:3, function(i) random_correlation(p)), 30))
  },
  disMItest = function(p) {
    list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = lapply(1:2, function(i) as.data.frame(random_discrete(p)$dm)))
  },
  mixedCItest = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_knn(p)),
  suff_knn = function(p) list(data = as.data.frame(random_knn(p)$data), k = 2, k_perm = 2, permutations = 3, seed = 1),
  disCItest = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_discrete(p)),
  binCItest = function(p) list(x = 1, y = 2, S = integer(), suffStat = list(dm = matrix(rbinom(9 * p, 1, 0.5), 9, p))),
  chi2CItest = function(p) list(x = 1, y = 2, S = seq_len(p)[-(1:2)], suffStat = random_discrete(p)),
  suff_discrete = function(p) list(x = as.data.frame(random_discrete(p)$dm), na = "pairwise", adaptDF = FALSE),
  pc = function(p) {
    list(
      suffStat = list(C = random_correlation(p), n = 30),
      indepTest = pcgpu::gaussCItest,
      alpha = 0.05,
      p = p,
      fixedGaps = NULL,
      fixedEdges = NULL,
      NAdelete = TRUE,
      m.max = Inf,
      u2pd = pick(c("relaxed", "rand", "retry")),
      skel.method = pick(c("stable", "stable.fast", "original")),
      conservative = FALSE,
      maj.rule = FALSE,
      solve.confl = FALSE,
      numCores = 2,
      verbose = FALSE,
      device = pick(c("auto", "cuda")),
      progress = FALSE
    )
  },
  skeleton = function(p) {
    c(
      pick(list(
        list(suffStat = list(C = random_correlation(p), n = 30), indepTest = pcgpu::gaussCItest),
        list(suffStat = random_discrete(p), indepTest = pick(list(pcgpu::disCItest, pcgpu::chi2CItest))),
        list(suffStat = random_knn(p), indepTest = pick(list(pcgpu::cmiKnnCItest, pcgpu::mixedCItest))),
        list(suffStat = random_mixed(p), indepTest = pick(list(pcgpu::mixCItest, pcgpu::mixCItwd)))
      )),
      alpha = 0.05,
      list(
        labels = paste0("v", seq_len(p)),
        method = pick(c("stable", "stable.fast", "original")),
        m.max = 2,
        numCores = 2
      )
    )
  },
  orient = function(p) {
    p <- max(p, 2)
    list(
      pcgpu::skeleton(list(C = random_correlation(p), n = 30), pcgpu::gaussCItest, alpha = 0.2, p = p),
      u2pd = pick(c("relaxed", "rand", "retry"))
    )
  },
  gaussCItest = function(p) list(x = 1, y = 2, S = integer(), suffStat = list(C = random_correlation(p), n = 30)),
  suff_gauss = function(p) {
    list(x = as.data.frame(matrix(rnorm(20 * p), ncol = p)), keep = pick(c("correlations", "data")))
  }
)

# How often each of these is tried; the others are tried once.
often <- c(
  rust_search = 6,
  rust_orient = 4,
  rust_gauss_p_value = 2,
  rust_discrete_test = 3,
  rust_knn_test = 3,
  rust_mixed_test = 4,
  pc = 2,
  skeleton = 2
)

make_case <- function(number) {
  set.seed(number)
  weights <- ifelse(names(targets) %in% names(often), often[names(targets)], 1)
  name <- names(targets)[sample.int(length(targets), 1, prob = weights)]
  p <- sample(0:6, 1, prob = c(1, 1, 2, 3, 3, 3, 3))
  arguments <- targets[[name]](p)
  internal <- startsWith(name, "rust_")
  for (i in seq_len(sample(0:3, 1, prob = c(1, 5, 3, 1)))) {
    # A missing argument never reaches Rust.
    at <- if (internal) sample.int(length(arguments), 1)
    if (internal) arguments[at] <- list(spoil(arguments[[at]], p)) else arguments <- spoil(arguments, p)
  }
  list(name = name, arguments = if (internal) unname(arguments) else as.list(arguments))
}

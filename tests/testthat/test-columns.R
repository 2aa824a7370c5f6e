# What a column is, in every function that reads tables.

quiet <- function(value) suppressMessages(suppressWarnings(value))

# Returns the edges of a call. Errors of a call inside edges() would lose their class.
edges_of_call <- function(call) {
  fit <- quiet(call)
  edges(fit)
}

# One answer of each function of data of numbers; `d` has columns a, q, b.
of_numbers <- list(
  pc = function(d) edges_of_call(pc(d, alpha = 0.05)),
  fci = function(d) edges_of_call(fci(d, alpha = 0.05)),
  suff_gauss = function(d) quiet(suff_gauss(d)),
  suff_knn = function(d) quiet(suff_knn(d, k = 3, seed = 1))[c("data", "discrete")],
  select_features = function(d) quiet(select_features(d, rep(0:1, length.out = nrow(d)), 2))[c("index", "score")],
  write_pcgpu_file = function(d) {
    file <- tempfile()
    on.exit(unlink(file))
    quiet(suff_gauss(write_pcgpu_file(d, file)))
  },
  stability = function(d) quiet(stability(d, alpha = 0.05, replicates = 3, seed = 1))$counts,
  cstar = function(d) quiet(cstar(d, alpha = 0.05, replicates = 4, seed = 1))$pairs,
  causal_effects = function(d) {
    fit <- quiet(pc(pcgpu:::plain_columns(d, "d"), alpha = 0.05))
    as.data.frame(quiet(causal_effects(fit, d)))
  },
  markov_check = function(d) {
    fit <- quiet(pc(pcgpu:::plain_columns(d, "d"), alpha = 0.05))
    quiet(markov_check(fit, d, resamples = 1, seed = 1))$summary
  },
  mixCItest = function(d) quiet(mixCItest(1, 2, 3, d)),
  gaussCItwd = function(d) quiet(gaussCItwd(1, 2, NULL, d))
)

test_that("a column with a class has the values of its as.numeric(), everywhere", {
  set.seed(1)
  n <- 60
  a <- round(rnorm(n) * 100)
  d <- data.frame(a = a, q = round(a + 50 * rnorm(n)), b = round(a - 50 * rnorm(n)))
  classed <- list(
    I = I(d$q),
    scale = scale(d$q, scale = FALSE) + mean(d$q),
    difftime = as.difftime(d$q, units = "days"),
    Date = as.Date("1970-01-01") + d$q,
    POSIXct = as.POSIXct("1970-01-01", tz = "UTC") + 86400 * d$q,
    POSIXlt = as.POSIXlt(as.POSIXct("1970-01-01", tz = "UTC") + 86400 * d$q),
    labelled = structure(d$q, label = "q", class = c("labelled", "numeric")),
    array = array(d$q),
    ts = stats::ts(d$q),
    hexmode = structure(as.integer(d$q), class = "hexmode"),
    haven = structure(d$q, labels = c(none = 0), class = c("haven_labelled", "vctrs_vctr", "double"))
  )
  if (requireNamespace("bit64", quietly = TRUE)) {
    classed$integer64 <- bit64::as.integer64(d$q)
  }
  if (requireNamespace("lubridate", quietly = TRUE)) {
    classed$Period <- lubridate::seconds_to_period(d$q)
  }
  for (name in names(of_numbers)) {
    wanted <- of_numbers[[name]](d)
    for (class in names(classed)) {
      x <- d
      x$q <- classed[[class]]
      # Averages taken off and added again: other last digits.
      expect_equal(
        of_numbers[[name]](x),
        wanted,
        tolerance = if (class == "scale") 1e-9 else 1e-15,
        info = paste(name, class)
      )
    }
  }
})

test_that("a period of hours and minutes is more than its seconds", {
  skip_if_not_installed("lubridate")
  set.seed(1)
  minutes <- round(600 + 100 * rnorm(100))
  d <- data.frame(a = minutes + rnorm(100, sd = 20))
  d$time <- lubridate::hours(minutes %/% 60) +
    lubridate::minutes(minutes %% 60) +
    lubridate::seconds(sample(0:59, 100, TRUE))
  expect_equal(suff_gauss(d)$C[1, 2], stats::cor(d$a, as.numeric(d$time)), tolerance = 1e-12)
})

test_that("values that a survey declares as missing are missing", {
  skip_if_not_installed("haven")
  set.seed(1)
  n <- 400
  a <- rnorm(n)
  q <- pmin(4, pmax(1, round(2.5 + a + rnorm(n))))
  code <- replace(q, sample(n, 40), 99)
  plain <- data.frame(a = a, b = rnorm(n) + q, q = ifelse(code == 99, NA, code))
  survey <- plain
  survey$q <- haven::labelled_spss(code, c(no = 1, all = 4), na_values = 99)
  expect_identical(
    quiet(edges(pc(survey, alpha = 0.01, na = "testwise"))),
    quiet(edges(pc(plain, alpha = 0.01, na = "testwise")))
  )
  expect_identical(gaussCItwd(2, 3, NULL, survey), gaussCItwd(2, 3, NULL, plain))
  expect_identical(suff_gauss(survey, use = "complete.obs"), suff_gauss(plain, use = "complete.obs"))
  expect_error(quiet(pc(survey, alpha = 0.01)), "missing values", class = "pcgpu_error_argument")
  expect_error(quiet(suff_knn(survey)), "missing", class = "pcgpu_error_argument")
  range <- haven::labelled_spss(code, na_range = c(90, 100))
  expect_identical(sum(is.na(pcgpu:::plain_column(range, "x"))), 40L)
})

test_that("text with a class is text, factors stay factors, and matrices in columns are columns", {
  set.seed(2)
  f <- sample(c("u", "v", "w"), 200, TRUE)
  d <- data.frame(f = f, g = ifelse(runif(200) < 0.7, f, "u"))
  wanted <- suff_discrete(d)
  x <- d
  x$f <- I(f)
  x$g <- structure(d$g, class = "noquote")
  expect_identical(suff_discrete(x), wanted)
  x$f <- I(factor(f))
  expect_identical(suff_discrete(x), wanted)
  x <- data.frame(a = rnorm(20))
  x$m <- matrix(rnorm(40), 20, dimnames = list(NULL, c("u", "v")))
  expect_identical(colnames(suff_gauss(x)$C), c("a", "m.u", "m.v"))
  expect_equal(suff_gauss(x), suff_gauss(cbind(a = x$a, m.u = x$m[, 1], m.v = x$m[, 2])))
  for (bad in list(as.list(1:20), complex(20), raw(20), data.frame(1:20, 2:21))) {
    x$m <- bad
    for (name in setdiff(names(of_numbers), c("causal_effects", "markov_check"))) {
      expect_error(
        of_numbers[[name]](x),
        "not numbers, factors, logicals or text, m",
        class = "pcgpu_error_argument",
        info = name
      )
    }
  }
})

test_that("dates are converted to numbers, with a message", {
  d <- data.frame(a = rnorm(30), day = Sys.Date() + 1:30, hour = Sys.time() + 1:30)
  m <- expect_message(suff_gauss(d), "days, or seconds for times.*\"day\", \"hour\"", class = "pcgpu_message_dates")
  expect_identical(m$columns, 2:3)
})

test_that("tables of any class are read", {
  skip_if_not_installed("Matrix")
  d <- data.frame(a = rnorm(50), b = rnorm(50))
  d$c <- d$a + rnorm(50)
  wanted <- of_numbers$pc(d)
  others <- list(Matrix = Matrix::Matrix(as.matrix(d)))
  if (requireNamespace("tibble", quietly = TRUE)) {
    others$tibble <- tibble::as_tibble(d)
  }
  if (requireNamespace("data.table", quietly = TRUE)) {
    others$data.table <- data.table::as.data.table(d)
  }
  if (requireNamespace("dplyr", quietly = TRUE)) {
    others[c("rowwise", "grouped")] <- list(dplyr::rowwise(d), dplyr::group_by(d, a))
  }
  for (name in setdiff(names(of_numbers), c("causal_effects", "markov_check"))) {
    wanted <- of_numbers[[name]](d)
    for (class in names(others)) {
      expect_equal(of_numbers[[name]](others[[class]]), wanted, info = paste(name, class))
    }
  }
})

test_that("sparse logicals equal the same matrix in memory, and their missing values count", {
  skip_if_not_installed("Matrix")
  set.seed(4)
  m <- matrix(rbinom(600, 1, 0.4), 200, dimnames = list(NULL, c("a", "b", "c")))
  m[, 3] <- ifelse(runif(200) < 0.8, m[, 1], m[, 2])
  S <- Matrix::Matrix(m, sparse = TRUE)
  expect_identical(suff_discrete(S > 0), suff_discrete(m > 0))
  expect_message(found <- pc(S > 0, alpha = 0.01), "disCItest", class = "pcgpu_message_data")
  expect_identical(edges(found), quiet(edges(pc(m > 0, alpha = 0.01))))
  y <- m[, 1] > 0
  expect_identical(select_features(S[, 2:3] > 0, y, 1)$index, select_features(m[, 2:3] > 0, y, 1)$index)
  S[3, 1] <- NA
  m[3, 1] <- NA
  expect_identical(
    quiet(edges(pc(S, alpha = 0.01, na = "testwise"))),
    quiet(edges(pc(m, alpha = 0.01, na = "testwise")))
  )
  expect_error(quiet(pc(S, alpha = 0.01)), "na = \"testwise\"", class = "pcgpu_error_argument")
})

test_that("a symmetric matrix is no data, in any function", {
  skip_if_not_installed("Matrix")
  set.seed(3)
  X <- random_data(random_dag(6, neighbours = 2, seed = 2), 100, seed = 2)
  C <- cor(X)
  like <- list(
    correlations = list(C, as.data.frame(C), Matrix::Matrix(C), replace(C, 1:2 + c(0, 0), C[1:2])),
    covariances = list(cov(X), as.data.frame(cov(X))),
    `distances or the edges of a graph` = list(
      as.matrix(dist(t(X))),
      (abs(C) > 0.3) & !diag(6) == 1,
      Matrix::Matrix((abs(C) > 0.3) * 1 - diag(6), sparse = TRUE)
    )
  )
  takers <- c(
    of_numbers[setdiff(names(of_numbers), c("causal_effects", "markov_check"))],
    list(
      suff_discrete = function(d) suff_discrete(d),
      gauss_moments = function(d) gauss_moments(d),
      plan_search = function(d) plan_search(d, alpha = 0.05),
      skeleton = function(d) skeleton(d, alpha = 0.05),
      rfci = function(d) rfci(d, alpha = 0.05),
      causal_effects = function(d) causal_effects(quiet(pc(X, alpha = 0.05)), d),
      markov_check = function(d) markov_check(quiet(pc(X, alpha = 0.05)), d)
    )
  )
  for (what in names(like)) {
    for (bad in like[[what]]) {
      for (name in names(takers)) {
        expect_error(
          quiet(takers[[name]](bad)),
          paste("looks like", what),
          fixed = TRUE,
          class = "pcgpu_error_argument",
          info = paste(name, class(bad)[1L])
        )
      }
    }
  }
  # Square data, and correlations with their number of observations, are fine.
  expect_s4_class(quiet(pc(X[1:6, ], alpha = 0.05, m.max = 0)), "pcAlgo")
  expect_s4_class(pc(list(C = C, n = 100), gaussCItest, 0.05, labels = colnames(C)), "pcAlgo")
  with_names <- data.frame(name = letters[1:12], cor(matrix(rnorm(600), 50)))
  expect_error(quiet(pc(with_names, alpha = 0.05)), "looks like correlations", class = "pcgpu_error_argument")
})

test_that("messages name text that consists of numbers, in every function that takes levels", {
  set.seed(5)
  age <- round(50 + 12 * rnorm(300))
  bp <- sprintf("%.1f", 100 + 0.8 * age + rnorm(300, sd = 10))
  texts <- list(
    points = bp,
    commas = sub(".", ",", bp, fixed = TRUE),
    unit = paste(bp, "mmHg"),
    percent = paste0(bp, "%"),
    below = sub("^1", "<1", bp),
    thousands = format(as.numeric(bp) * 1e4, big.mark = ","),
    money = paste0("$", bp),
    word = replace(as.character(age), 3, "unknown"),
    few_and_word = replace(as.character(age %/% 20), 3, "unknown"),
    whole = as.character(age),
    factor = factor(bp),
    factor_and_word = factor(replace(as.character(age), 3, "unknown"))
  )
  takers <- list(
    pc = function(d) pc(cbind(d, z = rnorm(300)), alpha = 0.01, m.max = 0),
    discrete = function(d) pc(d, alpha = 0.01, m.max = 0),
    suff_discrete = suff_discrete,
    suff_knn = function(d) suff_knn(d, k = 3, seed = 1),
    mixCItest = function(d) pc(d, mixCItest, alpha = 0.01, m.max = 0),
    select_features = function(d) select_features(d, rep(c(0, 0, 1), 100), 1),
    stability = function(d) stability(d, alpha = 0.01, replicates = 2, m.max = 0),
    holes = function(d) pc(rbind(d, NA), alpha = 0.01, na = "testwise", m.max = 0)
  )
  said <- function(call) {
    found <- list()
    withCallingHandlers(suppressMessages(call), warning = function(w) {
      if (inherits(w, "pcgpu_warning_levels")) {
        found <<- c(found, list(w))
      }
      tryInvokeRestart("muffleWarning")
    })
    found
  }
  for (name in names(takers)) {
    for (text in names(texts)) {
      info <- paste(name, text)
      d <- data.frame(sex = factor(rep(c("f", "m"), 150)), text = texts[[text]])
      found <- said(takers[[name]](d))
      expect_true(length(found) == 1L, info = info)
      expect_match(conditionMessage(found[[1L]]), "looks like numbers.*\"text\"", info = info)
      expect_identical(found[[1L]]$columns, 2L)
    }
  }
  m <- as.matrix(data.frame(age = replace(as.character(age), 3, "unknown"), bp = bp, sex = "f"))
  expect_length(said(pc(m, alpha = 0.01, m.max = 0)), 1L)
  # These are levels.
  levels <- list(
    factor(rep(1:20, 15)),
    rep(c("a1", "b2", "c"), 100),
    factor(rep(c("1p", "1q", "2p", "2q", "3p", "3q"), 50)),
    rep(c("0.5", "1.5"), 150),
    as.character(rep(1:9, length.out = 300)),
    rep(paste0("E", 10:29), 15),
    rep(paste0(1:22, rep(c("p", "q"), each = 22)), length.out = 300)
  )
  for (text in levels) {
    expect_length(said(suff_discrete(data.frame(sex = factor(rep(c("f", "m"), 150)), text = text))), 0L)
  }
})

test_that("text that differs in every row identifies the rows, and is left out of a search of data", {
  set.seed(6)
  d <- data.frame(id = sprintf("patient%d", 1:60), a = rnorm(60), b = rnorm(60))
  d$c <- d$a + rnorm(60)
  m <- expect_message(found <- pc(d, alpha = 0.01), "Leaving out column \"id\"", class = "pcgpu_message_identifier")
  expect_identical(m$columns, 1L)
  expect_identical(edges(found), quiet(edges(pc(d[-1], alpha = 0.01))))
  expect_identical(
    quiet(stability(d, alpha = 0.01, replicates = 2, seed = 1))$counts,
    quiet(stability(d[-1], alpha = 0.01, replicates = 2, seed = 1))$counts
  )
  expect_identical(as.data.frame(causal_effects(found, d)), as.data.frame(causal_effects(found, d[-1])))
  d$id <- factor(d$id)
  expect_identical(quiet(edges(pc(d, alpha = 0.01))), edges(found))
  w <- expect_warning(suff_knn(d, k = 3), "differs in every row in column \"id\"", class = "pcgpu_warning_levels")
  expect_identical(w$columns, 1L)
  # A table of genes, a row each, with their names: the message asks.
  genes <- data.frame(
    gene = c("TP53", "FOXM1", "BRCA1", "MYC", "EGFR", "KRAS", "PTEN", "AKT1", "CDK4", "RB1", "E2F1", "MDM2"),
    matrix(rnorm(36), 12)
  )
  expect_message(
    quiet_codes <- pc(genes, alpha = 0.01),
    "12 samples \\(rows\\) of 3 variables.*\"TP53\".*pass t\\(",
    class = "pcgpu_message_rows"
  )
})

test_that("a message about genes in rows shows names and shape", {
  set.seed(7)
  x <- matrix(rnorm(240), 60, 4)
  ask <- function(rows, columns = NULL) {
    dimnames(x) <- list(rows, columns)
    length(capture.output(invisible(suff_gauss(x)), type = "message")) > 0L
  }
  symbols <- c(paste0(c("TP", "FOX", "BRCA", "MY", "EGF", "KRA", "PTE", "AKT", "CDK", "RB"), 1:60), NULL)
  symbols <- paste0(
    sample(
      c(
        "TP",
        "FOXM",
        "BRCA",
        "MYB",
        "EGFR",
        "KRAS",
        "PTEN",
        "AKT",
        "CDK",
        "RB",
        "E2F",
        "MDM",
        "CCN",
        "BCL",
        "STAT",
        "JAK",
        "MAPK",
        "SOX",
        "GATA",
        "PAX"
      ),
      60,
      TRUE
    ),
    1:60
  )
  symbols <- paste0(vapply(1:60, function(i) paste(sample(LETTERS, 3), collapse = ""), ""), 1:60)
  expect_true(ask(symbols))
  expect_true(ask(sprintf("ENSG%011d", 1:60)))
  expect_true(ask(paste0(200000 + 1:60, "_at")))
  expect_true(ask(paste0("x", 1:60), paste0("GSM", 1:4)))
  expect_true(ask(paste0("x", 1:60), paste0("patient_", 1:4)))
  expect_false(ask(paste0("patient", 1:60)))
  expect_false(ask(sprintf("P%03d", 1:60)))
  expect_false(ask(sprintf("TCGA-OR-A5J%d-01", 1:60)))
  expect_false(ask(NULL, paste0("GSM", 1:4)))
  expect_silent(suff_gauss(mtcars[c("mpg", "wt", "hp")]))
})

test_that("messages name codes in labelled columns and matrices", {
  set.seed(8)
  job <- sample(1:5, 100, TRUE)
  x <- data.frame(age = rnorm(100), job = job, income = rnorm(100))
  forms <- list(
    x,
    as.matrix(x),
    transform(x, job = I(job)),
    {
      y <- x
      y$job <- structure(job, class = c("labelled", "integer"))
      y
    },
    {
      y <- x
      y$job <- structure(as.double(job), labels = c(farmer = 1), class = c("haven_labelled", "vctrs_vctr", "double"))
      y
    }
  )
  for (form in forms) {
    m <- expect_message(pc(form, alpha = 0.01), "Treated as continuous: column \"job\"", class = "pcgpu_message_codes")
    expect_identical(m$columns, 2L)
  }
  expect_message(
    pc(matrix(sample(0:2, 300, TRUE), 100), alpha = 0.01),
    "columns 1, 2, 3",
    class = "pcgpu_message_codes"
  )
  counts <- x
  counts$job <- rpois(100, 30)
  expect_no_message(pc(counts, alpha = 0.01), class = "pcgpu_message_codes")
})

test_that("messages name levels that no row has, whatever the test", {
  set.seed(9)
  d <- data.frame(
    f = factor(sample(c("u", "v"), 200, TRUE), levels = c("u", "v", "w")),
    g = factor(sample(c("u", "v"), 200, TRUE))
  )
  sets <- list(d, transform(d, g = rev(g)))
  calls <- list(
    function() pc(d, alpha = 0.01),
    function() fci(d, alpha = 0.01),
    function() stability(d, alpha = 0.01, replicates = 2),
    function() pc(cbind(d, z = rnorm(200)), alpha = 0.01),
    function() pc(rbind(d, NA), alpha = 0.01, na = "testwise"),
    function() pc(sets, alpha = 0.01)
  )
  for (call in calls) {
    suppressMessages(
      expect_message(call(), "never occur.*\"f\"; droplevels", class = "pcgpu_message_data"),
      class = "pcgpu_message"
    )
  }
  expect_no_message(
    suppressMessages(pc(droplevels(d), alpha = 0.01), class = "pcgpu_message_data"),
    message = "never occur"
  )
})

test_that("columns that follow from others are named", {
  set.seed(10)
  d <- data.frame(a = rnorm(80), b = rnorm(80), c = rnorm(80), z = rnorm(80))
  d$total <- d$a + d$b
  d$copy <- 3 * d$c - 1
  w <- expect_warning(
    suppressMessages(pc(d, alpha = 0.01)),
    "(\"a\", \"b\", \"total\"; 1 redundant), (\"c\", \"copy\"; 1 redundant)",
    fixed = TRUE,
    class = "pcgpu_warning_dependent"
  )
  expect_setequal(w$columns, list(c(1L, 2L, 5L), c(3L, 6L)))
  w <- expect_warning(
    suppressMessages(pc(data.frame(x1 = d$a, x2 = d$a, x3 = d$a, y = d$b), alpha = 0.01)),
    "(\"x1\", \"x2\", \"x3\"; 2 redundant)",
    fixed = TRUE
  )
  expect_identical(w$columns, list(1:3))
  dummies <- as.data.frame(stats::model.matrix(~ 0 + factor(sample(letters[1:4], 80, TRUE))) * 1)
  names(dummies) <- letters[1:4]
  w <- expect_warning(
    suppressMessages(pc(cbind(dummies, x = rnorm(80)), alpha = 0.01)),
    class = "pcgpu_warning_dependent"
  )
  expect_identical(w$columns, list(1:4))
  expect_no_warning(suppressMessages(pc(d[1:4], alpha = 0.01)))
  # So are numbers among levels, and in rows without missing values.
  mixed <- cbind(f = factor(sample(1:2, 80, TRUE)), d)
  for (x in list(mixed, replace(d, 1, replace(d$a, 3, NA)), replace(mixed, 2, replace(d$a, 3, NA)))) {
    w <- expect_warning(
      suppressMessages(pc(x, alpha = 0.01, na = "testwise")),
      "\"a\", \"b\", \"total\"",
      class = "pcgpu_warning_dependent"
    )
    expect_identical(lapply(w$columns, function(set) names(x)[set]), list(c("a", "b", "total"), c("c", "copy")))
  }
  # As many columns as rows always depend on each other.
  expect_no_warning(suppressMessages(pc(matrix(rnorm(200), 10), alpha = 0.01)))
})

test_that("a level of 1 or more is refused if data are given, and handled as in pcalg elsewhere", {
  d <- data.frame(a = rnorm(30), b = rnorm(30), c = rnorm(30))
  for (f in list(pc, fci, rfci, skeleton)) {
    e <- expect_error(f(d, alpha = 5), "alpha = 0.05", class = "pcgpu_error_argument")
    expect_identical(e$argument, "alpha")
    expect_error(f(d, alpha = 1), class = "pcgpu_error_argument")
  }
  expect_error(stability(d, alpha = 5, replicates = 2), "`alpha`", class = "pcgpu_error_argument")
  expect_error(cstar(d, alpha = 5, replicates = 2), "`alpha`", class = "pcgpu_error_argument")
  expect_error(plan_search(d, alpha = 5), "`alpha`", class = "pcgpu_error_argument")
  expect_warning(pc(suff_gauss(d), gaussCItest, alpha = 1), class = "pcgpu_warning_alpha")
})

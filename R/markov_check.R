#' Check a graph against data
#'
#' Tests with data the independences and dependences that a graph implies, like Tetrad's Markov checker. If the graph is right, the p-values of the
#' independences are uniform between 0 and 1. If it lacks edges or has wrong arrows, too many of them are small. The true graph need not be known.
#'
#' # What is tested
#'
#' A CPDAG stands for DAGs that imply the same independences; the check uses one of them. In this DAG, `given` selects the tests:
#'
#' - `"parents"`: whether x and y are independent given the parents of x. Pairs are each x and each y that is not a parent of x and comes before x in an order
#'   in which parents come first. This is the ordered local Markov condition, from which all independences of the graph follow.
#' - `"blanket"`: whether x and y are independent given the Markov blanket of x (its parents, its children and their parents), for each y outside the blanket.
#'   The x of a pair is the variable with the smaller blanket.
#'
#' Each pair that is not adjacent (or outside the blankets) is tested once. If there are more than `tests` pairs, this number is drawn at random. In addition,
#' the check tests a *dependence* that faithfulness implies for each edge x -> y: that of y and x given the other parents of y. Its p-values should be small. If
#' a large share of the edges is not visible in the data, the graph has too many edges, or the test has little power.
#'
#' If no DAG extends the graph, which is common with real data, the check uses a DAG with further v-structures, and a message of class `pcgpu_message_graph`
#' says so. Edges in conflict count as undirected, and so do arrows that are part of a cycle, which `u2pd = "relaxed"` may produce.
#'
#' Tests of a column that is constant in a sample of the rows are `NA` in that sample, and a message of class `pcgpu_message_constant` names the column.
#'
#' # Uniformity
#'
#' For the independences, `print()` shows the share with p below `alpha`, which should be about `alpha`. It also shows the p-values of the Kolmogorov-Smirnov
#' and the Anderson-Darling test that the p-values are uniform. Small values are evidence against the graph (or the test's assumptions). The Anderson-Darling
#' test is more sensitive at both ends.
#'
#' Both tests assume that the p-values are independent of each other. This is not the case if they are computed from the same rows. With `data`, each question
#' is therefore tested on one of `resamples` random samples of the rows, by default halves. With many questions even the smallest deviation is significant, so
#' look at the share and the plot as well. p-values of discrete tests are uniform only for large samples, and those of [disCItest()] are 1 if it has too few
#' observations to test.
#'
#' The data that the graph was learnt from make it look better than it is, because the search has tested some of these independences and kept those that passed.
#' Learn the graph on some rows, and check it on others.
#'
#' @param fit The graph: a result of [pc()] or of pcalg, of either class, or any graph that [compare_graphs()] accepts.
#' @param data The data with observations in rows: a matrix, a data frame, or anything else that [pc()] accepts instead of a sufficient statistic.
#' @param indepTest The test. By default it follows from the columns of `data`, as in [pc()].
#' @param suffStat Instead of `data`: a sufficient statistic, with which all questions are tested. Together with `data`: a function that computes one from some
#'   of the rows; by default [suff_gauss()], [suff_discrete()] or [suff_knn()], whichever `indepTest` needs.
#' @param given `"parents"` or `"blanket"`, see below.
#' @param tests The largest number of independences to test, and of dependences.
#' @param resamples Number of random samples of the rows among which the questions are divided. With 0 all questions are tested on all rows.
#' @param share The share of the rows in a sample, drawn without replacement.
#' @param alpha The level below which p-values count as dependence.
#' @param seed As in [random_dag()].
#' @param numCores,device As in [pc()].
#' @param na As in [pc()], for data with missing values if `indepTest` is left out. The default is `"testwise"` if the search used it, and `"error"` otherwise.
#' @param cluster Workers among which the samples of rows (or, for one statistic, the questions) are divided, as in [pc()]. The answer does not depend on them.
#' @param x An object of class `pcgpu_markov`.
#' @param ... Passed on to `print()` of a data frame, or graphical arguments of `plot()`.
#' @param breaks For the histogram: the number of bins from 0 to 1, or their limits.
#' @param main Title of the histogram.
#' @return An object of class `pcgpu_markov`, a list with
#'   - `summary`, a data frame with one row for independences and one for dependences: the numbers of `tests` and of those `answered`, the share `below`
#'     `alpha`, and for independences `ks` and `ad`, the p-values of the two tests of uniformity;
#'   - `available`, the total number of each;
#'   - `constants`, the number of samples with constant columns;
#'   - the arguments of the call.
#'
#'   `as.data.frame()` returns one row for each question: `x`, `y`, `given` (names, separated by commas), `implied` (`"independence"` or `"dependence"`) and
#'   `p`, which is `NA` if a test has no answer. `summary()` returns the data frame `summary`. `plot()` draws a histogram and a Q-Q plot of the p-values of
#'   independences.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. D. Ramsey, B. Andrews and P. Spirtes (2024). Choosing DAG models using Markov and minimal edge count in the absence of ground truth. *arXiv:2409.20187*.
#'
#' G. Marsaglia and J. Marsaglia (2004). Evaluating the Anderson-Darling distribution. *Journal of Statistical Software* 9(2).
#'
#' S. L. Lauritzen, A. P. Dawid, B. N. Larsen and H.-G. Leimer (1990). Independence properties of directed Markov fields. *Networks* 20, 491-505.
#' @seealso [q_values()], [compare_graphs()]
#' @examples
#' dag <- random_dag(15, neighbours = 2, seed = 4)
#' x <- random_data(dag, 2000, seed = 4, numCores = 2)
#' suff <- suff_gauss(x[1:1000, ])
#' fit <- pc(suff, gaussCItest, alpha = 0.01, labels = colnames(x), u2pd = "retry", numCores = 2)
#' markov_check(fit, x[1001:2000, ], gaussCItest, seed = 1, numCores = 2)
#'
#' # A graph without edges
#' markov_check(random_dag(15, 0), x, gaussCItest, seed = 1, numCores = 2)
#' @export
markov_check <- function(fit, data = NULL, indepTest = NULL, suffStat = NULL, given = c("parents", "blanket"), tests = 10000, resamples = 10,
                         share = 0.5, alpha = 0.05, seed = NULL, numCores, device = "auto", na = c("error", "testwise"), cluster = NULL) {
  check_given(list(fit = missing(fit)), list(fit = "give a result of pc(), or another graph."))
  graph <- about("fit", edges_of(fit, "markov_check() does not support PAGs"))
  given <- check_choice(given, c("parents", "blanket"), "given")
  tests <- check_whole(tests, "tests", 1, 1e8)
  resamples <- check_whole(resamples, "resamples", 0, 1e4)
  check_number(share, "share", "give the share of the rows in a sample, above 0 and at most 1.", most = 1, above = 0)
  check_number(alpha, "alpha", "give the level below which p-values count as dependence, above 0 and below 1.", above = 0, below = 1)
  seed <- check_seed(seed)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  workers <- if (!is.null(cluster)) worker_source(cluster)
  if (is.null(workers)) device <- check_device(device)
  na <- if (!missing(na)) check_choice(na, c("error", "testwise"), "na")
  stats <- statistics_of(data, indepTest, suffStat, graph$labels, resamples, share, seed, na, test_of_fit(fit))
  asked <- lapply(c(independence = given, dependence = "edges"), function(what) {
    check_rust(rust_implied(graph$edges, graph$weights, list(what = what, most = tests, seed = seed)))
  })
  tell_extension(asked$independence$extension)
  problem <- list(labels = graph$labels, alpha = alpha, seed = seed, asked = asked, stats = stats, pieces = if (is.null(workers)) 1 else pieces_of_questions(stats$count))
  p <- lapply(asked, function(of) rep.int(NA_real_, length(of$x)))
  constant <- list()
  enter <- function(task, found) {
    for (implied in names(asked)) p[[implied]][questions_of(problem, task, implied)] <<- found[[implied]]
    constant[[as.character((task - 1L) %% stats$count + 1L)]] <<- found$constant
  }
  tasks <- stats$count * problem$pieces
  if (is.null(workers)) {
    answer <- answerer(problem, device, threads)
    for (task in seq_len(tasks)) enter(task, answer(task))
  } else {
    problem$world <- world_of(Filter(is.function, list(indepTest, suffStat)))
    setup <- list(what = "markov", problem = problem, device = device, threads = if (isTRUE(attr(threads, "named"))) as.integer(threads))
    fits <- function(range, found) {
      # p-values may be missing.
      fits_task <- function(task, one) is.list(one) && all(vapply(names(asked), function(implied) {
        is.numeric(one[[implied]]) && length(one[[implied]]) == length(questions_of(problem, task, implied))
      }, NA))
      is.list(found) && length(found) == size_of(range) && all(mapply(fits_task, seq.int(range[1L], range[2L]), found))
    }
    tell_lost(share_out(workers(), setup, tasks, fits,
      take = function(range, found) for (at in seq_along(found)) enter(range[1L] + at - 1L, found[[at]])
    )$lost)
  }
  for (implied in names(asked)) asked[[implied]]$p <- p[[implied]]
  tell_constant(constant, graph$labels, resamples)
  structure(class = "pcgpu_markov", list(
    summary = summary_of_markov(asked, alpha), available = vapply(asked, function(of) of$all, 0), given = given, alpha = alpha,
    resamples = if (stats$is_data) resamples else 0, share = share, extension = asked$independence$extension, labels = graph$labels,
    constants = length(constant), questions = lapply(asked, function(of) of[c("x", "y", "start", "members", "p")]), call = match.call()
  ))
}

# Reports constant columns. `constant`: for each sample that has some, the numbers of its constant columns.
tell_constant <- function(constant, labels, resamples) {
  columns <- sort(unique(unlist(constant)))
  if (length(columns)) {
    where <- if (resamples > 0) c(counted(length(constant), "sample"), " there") else c("The data", "")
    tell("constant", sprintf("%s had constant columns (%s): tests of these columns are NA%s.", where[1L], enumerate(dQuote(labels[columns], FALSE)), where[2L]),
      columns = columns)
  }
}

# What is checked in place of a graph that is not a CPDAG.
extension_words <- c(
  colliders = "no DAG extends the graph: a DAG with further v-structures",
  cycles = "the graph has directed cycles: a DAG that keeps only its other arrows"
)

tell_extension <- function(extension) {
  if (extension != "none") tell("graph", paste(extension_words[[extension]], "is checked (see ?markov_check)."), type = "cpdag")
}

# Returns the number of pieces into which the questions of each statistic are divided, so that workers can share few statistics. Each piece computes its own
# correlations.
pieces_of_questions <- function(count) ceiling(20 / count)

# Returns the questions of a task: a piece of those of a statistic.
questions_of <- function(problem, task, implied) {
  count <- problem$stats$count
  number <- (task - 1L) %% count + 1L
  piece <- (task - 1L) %/% count + 1L
  all <- seq_along(problem$asked[[implied]]$x)
  of_number <- all[(all - 1L) %% count + 1L == number]
  of_number[(seq_along(of_number) - 1L) %% problem$pieces + 1L == piece]
}

# Returns a function that answers a task on this machine with p-values of its independences and dependences. It keeps the last statistic.
answerer <- function(problem, device, threads) {
  made <- NULL
  told <- FALSE
  said <- new.env()
  labels <- problem$labels
  stats <- problem$stats
  function(task) {
    restore <- random_state()
    on.exit(restore())
    number <- (task - 1L) %% stats$count + 1L
    if (!identical(made$number, number)) {
      # Random numbers of the test depend only on the seed, not on the worker.
      stream_of(problem$seed, number, 0L, 0L, integer())
      withCallingHandlers(
        {
          statistic <- stats$make(number)
          test <- ci_test(statistic$indepTest, statistic$suffStat, labels, problem$alpha, threads, said = said)
        },
        # Messages about columns were shown for all rows, or are shown once. One message reports the constant columns of all samples.
        pcgpu_message = function(m) if (told || stats$said) tryInvokeRestart("muffleMessage"),
        pcgpu_warning = function(w) if (told || stats$looked_at && inherits(w, "pcgpu_warning_constant")) tryInvokeRestart("muffleWarning")
      )
      if (test$kind == "function") test$fun <- with_stream_of(test$fun, problem$seed, number)
      told <<- TRUE
      made <<- list(number = number, test = test, constant = statistic$constant, on = choose_device(device, test, length(labels)))
    }
    found <- lapply(stats::setNames(nm = names(problem$asked)), function(implied) {
      chosen <- questions_of(problem, task, implied)
      asked <- problem$asked[[implied]]
      p <- check_rust(on_device(made$on, threads, function(engine) {
        rust_p_values(made$test, length(labels), asked, chosen, problem$alpha, engine, list())
      }))
      replace(p, asked$x[chosen] %in% made$constant | asked$y[chosen] %in% made$constant, NA)
    })
    c(found, list(constant = if (length(made$constant)) made$constant))
  }
}

# Returns the function with which a worker answers tasks range[1] to range[2].
markov_rank <- function(setup, place) {
  if (!is.null(setup$problem$world)) session$leave <- enter_world(setup$problem$world)
  answer <- NULL
  function(range) {
    gpu <- rank_gpu(check_device(setup$device), setup$device, place)
    tryCatch({
      if (is.null(answer)) answer <<- answerer(setup$problem, gpu, rank_threads(setup, place))
      lapply(seq.int(range[1L], range[2L]), answer)
    }, pcgpu_error = function(e) structure(list(condition = e), class = "pcgpu_rank_failed"))
  }
}

# Returns the statistics: `count`, their number; `is_data`, whether they are computed from data; and make(number), which returns list(suffStat, indepTest,
# constant), where `constant` are the numbers of the columns that are constant in its rows. said: whether all messages about the columns have been shown.
# looked_at: whether constant columns have been searched for.
statistics_of <- function(data, indepTest, suffStat, labels, resamples, share, seed, na, fitted) {
  makes <- is.function(suffStat)
  if (is.null(data)) {
    if (is.null(suffStat) || makes) {
      abort_argument("data", data, "give the data, or a sufficient statistic as `suffStat`.", is = "missing")
    }
    if (is.null(indepTest)) {
      abort_argument("indepTest", NULL, "give the test that uses `suffStat`.", is = "missing")
    }
    return(list(count = 1L, is_data = FALSE, said = FALSE, looked_at = FALSE, make = function(number) list(suffStat = suffStat, indepTest = indepTest)))
  }
  if (!is.null(suffStat) && !makes) {
    abort_argument("suffStat", suffStat, "together with `data`, it must be a function that computes a statistic from rows, such as suff_gauss.")
  }
  if (makes && is.null(indepTest)) {
    abort_argument("indepTest", NULL, "give the test for the statistics that `suffStat` computes.", is = "missing")
  }
  refuse_columns(data, "data")
  if (length(dim(data)) != 2L) {
    abort_argument("data", data, if (is_completed(data)) {
      "imputed data sets cannot be resampled; give them as `suffStat`, with gaussMItest, disMItest or mixMItest as `indepTest`."
    } else {
      "give observations in rows and variables in columns."
    })
  }
  data <- in_columns_of(read_data(data, "data"), labels)
  if (!makes) na <- check_holes(data, indepTest, na, fitted)
  said <- is.null(indepTest)
  if (said) indepTest <- test_of_table(data, na)
  maker <- if (makes) function(rows) of_function("suffStat", suffStat(rows)) else statistic_maker(indepTest)
  is_gauss <- !makes && is_gauss_test(indepTest)
  constant <- if (is_gauss) constant_in(data) else FALSE
  if (any(constant)) {
    abort_argument("data", data, "drop such columns from the data and from `fit`.", is = paste("constant in", column_names(data, constant)))
  }
  n <- nrow(data)
  size <- max(1, floor(share * n))
  list(count = max(1L, as.integer(resamples)), is_data = TRUE, said = said, looked_at = !makes, make = function(number) {
    at <- if (resamples > 0) check_rust(rust_ensemble_rows(n, list(size = size, seed = seed, replace = FALSE), number, 0))
    rows <- if (is.null(at)) data else data[at, , drop = FALSE]
    if (makes) {
      return(list(suffStat = maker(rows), indepTest = indepTest))
    }
    lost <- which(constant_in(rows))
    suff <- tryCatch(about("data", if (is_gauss && length(lost)) suff_with_constants(rows, lost) else maker(rows)), pcgpu_error_argument = function(e) {
      if (is.null(at)) stop(e)
      abort_argument("data", e$value, sub("[.]$", "; or use a larger `share`, or resamples = 0.", e$hint),
        is = sprintf("unsuitable in a sample of %s (%s)", counted(length(at), "row"), sub("^`data` ", "it ", sub(":.*", "", conditionMessage(e))))
      )
    })
    list(suffStat = suff, indepTest = indepTest, constant = lost)
  })
}

# Returns the test that the kinds of the columns require, as pc() chooses it.
test_of_table <- function(data, na) {
  found <- about("data", about_suff(test_of_data(data, na, keep_data = TRUE)))
  if (is.null(found)) {
    abort_argument("data", data, "give a test as `indepTest`, and as `suffStat` a function that computes its sufficient statistic.")
  }
  found$indepTest
}

# Returns suff_gauss() of rows in which some columns are constant, and correlated with nothing, like stability(). Each constant column gets two rows of its own,
# 1 and -1, in which all other columns are 0. So its mean stays 0, and so do its products with other columns, from which correlations are computed.
suff_with_constants <- function(rows, lost) {
  n <- nrow(rows)
  centred <- matrix(0, n + 2L * length(lost), ncol(rows), dimnames = list(NULL, colnames(rows)))
  centred[cbind(n + seq_len(2L * length(lost)), rep(lost, each = 2L))] <- c(1, -1)
  kept <- setdiff(seq_len(ncol(rows)), lost)
  # A single column leaves nothing to test.
  if (length(kept) > 1L) {
    centred[seq_len(n), kept] <- suff_gauss(rows[, kept, drop = FALSE], keep = "data", progress = FALSE)$data
  } else {
    centred[1:2, kept] <- c(1, -1)
  }
  new_kept(centred, n)
}

# Returns the treatment of missing values, "error" or "testwise": that of the search, unless the user chooses. fitted: the name of the search's test.
check_holes <- function(data, indepTest, na, fitted) {
  testwise <- c("gaussCItwd", "disCItwd", "mixCItwd")
  if (!is.null(indepTest) && test_name(indepTest) %in% testwise || !anyNA(data)) {
    return(na %||% "error")
  }
  if (is.null(indepTest)) {
    if (is.null(na) && fitted %in% testwise) na <- "testwise"
    if (identical(na, "testwise")) {
      return(na)
    }
  }
  hint <- if (fitted %in% c("gaussMItest", "disMItest", "mixMItest")) {
    sprintf("give the imputed data sets of the search as `suffStat`, with indepTest = %s, instead of `data`.", fitted)
  } else {
    paste0(if (is.null(indepTest)) "use" else "leave `indepTest` out, and use", " na = \"testwise\", so that each test leaves out rows that lack one of its variables.")
  }
  abort_argument("data", data, hint, has = sprintf("missing values (%s)", percent(share_missing(data))))
}

# Returns the name of the test of the search that made a graph, "" if it is not known.
test_of_fit <- function(fit) {
  if (is_compact(fit)) fit@test else if (is_result(fit)) run_details(fit)$test %||% "" else ""
}

# Returns the function that computes the statistic of a test of this package.
statistic_maker <- function(indepTest) {
  switch(if (is.function(indepTest)) test_name(indepTest) else "",
    # keep = "data" computes only the correlations that a question needs.
    gaussCItest = function(rows) suff_gauss(rows, keep = "data", progress = FALSE), disCItest = , binCItest = , chi2CItest = suff_discrete, cmiKnnCItest = , mixedCItest = suff_knn,
    gaussCItwd = , disCItwd = , mixCItwd = , mixCItest = identity,
    abort_argument("suffStat", NULL, "give a function that computes the sufficient statistic of `indepTest` from rows of `data`.", is = "missing")
  )
}

summary_of_markov <- function(asked, alpha) {
  rows <- lapply(asked, function(of) {
    p <- of$p[!is.na(of$p)]
    data.frame(tests = length(of$p), answered = length(p), below = if (length(p)) mean(p < alpha) else NA_real_)
  })
  table <- data.frame(implied = names(asked), do.call(rbind, rows), row.names = NULL, stringsAsFactors = FALSE)
  p <- asked$independence$p
  table$ks <- c(ks_uniform(p[!is.na(p)]), NA)
  table$ad <- c(ad_uniform(p[!is.na(p)]), NA)
  table
}

# Returns the p-value of the Kolmogorov-Smirnov test. Ties are expected, because some tests have few distinct p-values; so warnings are suppressed.
ks_uniform <- function(p) {
  if (length(p)) suppressWarnings(stats::ks.test(p, "punif")$p.value) else NA_real_
}

# Returns the p-value of the Anderson-Darling test, by the approximation of Marsaglia and Marsaglia (2004), with an error of about 1e-6.
ad_uniform <- function(p) {
  n <- length(p)
  if (n == 0L) {
    return(NA_real_)
  }
  # A p-value of 0 or 1 would dominate the statistic.
  p <- sort(pmin(pmax(p, 1e-300), 1 - 1e-16))
  i <- seq_len(n)
  z <- -n - sum((2 * i - 1) / n * (log(p) + log1p(-rev(p))))
  max(0, min(1, 1 - ad_cdf(z, n)))
}

ad_cdf <- function(z, n) {
  if (z <= 0) {
    return(0)
  }
  polynomial <- function(x, coefficients) Reduce(function(sum, coefficient) sum * x + coefficient, rev(coefficients))
  limit <- if (z < 2) {
    exp(-1.2337141 / z) / sqrt(z) * polynomial(z, c(2.00012, 0.247105, -0.0649821, 0.0347962, -0.0116720, 0.00168691))
  } else {
    exp(-exp(polynomial(z, c(1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146))))
  }
  crossing <- 0.01265 + 0.1757 / n
  error <- if (limit > 0.8) {
    polynomial(limit, c(-130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844)) / n
  } else if (limit < crossing) {
    t <- limit / crossing
    sqrt(t) * (1 - t) * (49 * t - 102) * (0.0037 / n^3 + 0.00078 / n^2 + 0.00006 / n)
  } else {
    t <- (limit - crossing) / (0.8 - crossing)
    polynomial(t, c(-0.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864)) * (0.04213 / n + 0.01365 / n^2)
  }
  limit + error
}

#' @exportS3Method as.data.frame pcgpu_markov
as.data.frame.pcgpu_markov <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_markov")
  check_object(x)
  rows <- lapply(names(x$questions), function(implied) {
    of <- x$questions[[implied]]
    sets <- split(x$labels[of$members], factor(rep.int(seq_along(of$x), diff(of$start)), seq_along(of$x)))
    data.frame(
      x = x$labels[of$x], y = x$labels[of$y], given = vapply(unname(sets), paste, "", collapse = ", "), implied = rep.int(implied, length(of$x)), p = of$p,
      stringsAsFactors = FALSE
    )
  })
  do.call(rbind, rows)
}

#' @rdname markov_check
#' @param object An object of class `pcgpu_markov`.
#' @exportS3Method summary pcgpu_markov
summary.pcgpu_markov <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_markov")
  check_object(object)$summary
}

#' @rdname markov_check
#' @exportS3Method print pcgpu_markov
print.pcgpu_markov <- function(x, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_markov")
  check_object(x)
  say_lines(sprintf("Markov check: independences given %s, dependences of edges given the other parents", if (x$given == "parents") "parents" else "Markov blankets"))
  if (x$resamples > 0) say_lines(sprintf("on %s random samples of %s %% of the rows", in_words(x$resamples), format(100 * x$share)))
  if (isTRUE(x$constants > 0)) say_lines(sprintf("%s had constant columns, whose tests are NA there", counted(x$constants, "sample")))
  if (x$extension != "none") say_lines(sub("^(.)", "\\U\\1", paste(extension_words[[x$extension]], "was checked."), perl = TRUE))
  shown <- data.frame(
    implied = c("independence", "dependence"), available = in_words(x$available), tests = in_words(x$summary$tests), answered = in_words(x$summary$answered),
    below = format(x$summary$below, digits = 3L), ks = format.pval(x$summary$ks, 3L, 1e-16), ad = format.pval(x$summary$ad, 3L, 1e-7), stringsAsFactors = FALSE
  )
  shown[2L, c("ks", "ad")] <- ""
  names(shown)[5:7] <- c(sprintf("p < %s", format(x$alpha)), "KS p", "AD p")
  print_frame(shown, given, row.names = FALSE)
  invisible(x)
}

#' @rdname markov_check
#' @exportS3Method plot pcgpu_markov
plot.pcgpu_markov <- function(x, ..., breaks = seq(0, 1, 0.05), main = NULL) {
  given <- check_dots(list(...), histogram_takes, "plot.pcgpu_markov")
  check_object(x)
  p <- x$questions$independence$p
  p <- sort(p[!is.na(p)])
  if (!length(p)) {
    abort_argument("x", x, "there is nothing to draw.", has = "no p-value of an independence")
  }
  given <- given[!names(given) %in% c("freq", "xlim")]
  old <- graphics::par(mfrow = c(1L, 2L))
  on.exit(graphics::par(old))
  # Bins of one width from 0 to 1, so that the line of uniform p-values is at 1.
  if (is_number(breaks) && breaks >= 1 && breaks == floor(breaks)) breaks <- seq(0, 1, length.out = breaks + 1)
  histogram <- tryCatch(graphics::hist(p, breaks = breaks, plot = FALSE), error = function(e) {
    abort_argument("breaks", breaks, "give the number of bins, or their limits from 0 to 1.")
  })
  draw_with(graphics::plot, list(
    x = histogram, freq = FALSE, xlim = c(0, 1), ylim = c(0, max(histogram$density, 1)), main = main %||% "Implied independences", xlab = "p",
    col = node_look$fill, border = node_look$border, las = 1
  ), given)
  graphics::abline(h = 1, lty = 2L, col = "#C0392B")
  # Drawing all of many points would only enlarge the file.
  at <- unique(round(seq(1, length(p), length.out = min(length(p), 2000L))))
  draw_with(graphics::plot, list(
    x = ((seq_along(p) - 0.5) / length(p))[at], y = p[at], xlim = c(0, 1), ylim = c(0, 1), pch = 20L, cex = 0.6, xlab = "uniform", ylab = "p", main = "Q-Q",
    col = node_look$border, las = 1
  ), given[!names(given) %in% c("xlab", "ylab", "ylim", "border")])
  graphics::abline(0, 1, lty = 2L, col = "#C0392B")
  invisible(x)
}

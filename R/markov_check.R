#' Check a graph against data
#'
#' Tests with data the independences and dependences that a graph implies, like Tetrad's Markov checker. If the graph is
#' right, the p-values of the independences are uniform between 0 and 1. If it lacks edges or has wrong arrows, too many
#' of them are small. The true graph need not be known.
#'
#' # What is tested
#'
#' A CPDAG stands for DAGs that imply the same independences; the check uses one of them. In this DAG, `given` selects
#' the tests:
#'
#' - `"parents"`: whether x and y are independent given the parents of x. Pairs are each x and each y that is not a
#'   parent of x and comes before x in an order in which parents come first. This is the ordered local Markov condition,
#'   from which all independences of the graph follow.
#' - `"blanket"`: whether x and y are independent given the Markov blanket of x (its parents, its children and their
#'   parents), for each y outside the blanket. The x of a pair is the variable with the smaller blanket.
#'
#' Each pair that is not adjacent (or outside the blankets) is tested once. If there are more than `tests` pairs, this
#' number is drawn at random. In addition, the check tests a *dependence* that faithfulness implies for each edge x ->
#' y: that of y and x given the other parents of y. Its p-values should be small. If a large share of the edges is not
#' visible in the data, the graph has too many edges, or the test has little power.
#'
#' If no DAG extends the graph, which is common with real data, the check uses a DAG with further v-structures, and a
#' message of class `pcgpu_message_graph` says so. Edges in conflict count as undirected, and so do arrows that are part
#' of a cycle, which `u2pd = "relaxed"` may produce.
#'
#' Tests of a column that is constant in a sample of the rows are `NA` in that sample, and a message of class
#' `pcgpu_message_constant` names the column.
#'
#' # Uniformity
#'
#' For the independences, `print()` shows the share with p below `alpha`, which should be about `alpha`. It also shows
#' the p-values of the Kolmogorov-Smirnov and the Anderson-Darling test that the p-values are uniform. Small values are
#' evidence against the graph (or the test's assumptions). The Anderson-Darling test is more sensitive at both ends.
#'
#' Both tests assume that the p-values are independent of each other. This is not the case if they are computed from the
#' same rows. With `data`, each question is therefore tested on one of `replicates` random samples of the rows, by
#' default halves. With many questions even the smallest deviation is significant, so look at the share and the plot as
#' well. p-values of discrete tests are uniform only for large samples, and those of [disCItest()] are 1 if it has too
#' few observations to test.
#'
#' The learning data flatter the graph, because the search tested some of these independences and kept those that
#' passed. Learn the graph on some rows, and check it on others.
#'
#' @param fit The graph: a result of [pc()] or of pcalg, of either class, or any graph that [compare_graphs()] accepts.
#' @param data The data with observations in rows: a matrix, a data frame, or anything else that [pc()] accepts instead
#'   of a sufficient statistic.
#' @param indepTest The test. By default it follows from the columns of `data`, as in [pc()].
#' @param suffStat Instead of `data`: a sufficient statistic, with which all questions are tested. Together with `data`:
#'   a function that computes one from some of the rows; by default [suff_gauss()], [suff_discrete()] or [suff_knn()],
#'   whichever `indepTest` needs.
#' @param given `"parents"` or `"blanket"`, see below.
#' @param tests The largest number of independences to test, and of dependences.
#' @param replicates Number of random samples of the rows among which the questions are divided. With 0 all questions are
#'   tested on all rows.
#' @param size Number of rows in a sample, drawn without replacement, or up to 1 their share of all rows.
#' @param alpha The level below which p-values count as dependence.
#' @param seed As in [random_dag()].
#' @param numCores,device As in [pc()].
#' @param na As in [pc()], for data with missing values if `indepTest` is left out. The default is `"testwise"` if the
#'   search used it, and `"error"` otherwise.
#' @param cluster Workers among which the samples of rows (or, for one statistic, the questions) are divided, as in
#'   [pc()]. The answer does not depend on them.
#' @param x An object of class `pcgpu_markov`.
#' @param ... For `print()` arguments of that of a data frame, for `plot()` graphical arguments. `markov_check()` has none.
#' @param breaks For the histogram: the number of bins from 0 to 1, or their limits.
#' @param main Title of the histogram.
#' @return An object of class `pcgpu_markov`, a list with
#'   - `summary`, a data frame with one row for independences and one for dependences: the numbers of `tests` and of
#'     those `answered`, the share `below` `alpha`, and for independences `ks` and `ad`, the p-values of the two tests
#'     of uniformity;
#'   - `available`, the total number of each;
#'   - `constants`, the number of samples with constant columns;
#'   - the arguments of the call.
#'
#'   `as.data.frame()` returns one row for each question: `x`, `y`, `given` (names, separated by commas), `implied`
#'   (`"independence"` or `"dependence"`) and `p`, which is `NA` if a test has no answer. `summary()` returns the data
#'   frame `summary`. `plot()` draws a histogram and a Q-Q plot of the p-values of independences.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' J. D. Ramsey, B. Andrews and P. Spirtes (2024). Choosing DAG models using Markov and minimal edge count in the
#' absence of ground truth. *arXiv:2409.20187*.
#'
#' G. Marsaglia and J. Marsaglia (2004). Evaluating the Anderson-Darling distribution. *Journal of Statistical Software*
#' 9(2).
#'
#' S. L. Lauritzen, A. P. Dawid, B. N. Larsen and H.-G. Leimer (1990). Independence properties of directed Markov
#' fields. *Networks* 20, 491-505.
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
markov_check <- function(
  fit,
  data = NULL,
  indepTest = NULL,
  suffStat = NULL,
  given = c("parents", "blanket"),
  tests = 10000,
  replicates = 10,
  size = 0.5,
  alpha = 0.05,
  seed = NULL,
  numCores,
  device = "auto",
  na = c("error", "testwise"),
  cluster = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "markov_check"))) {
    return(eval(taught, parent.frame()))
  }
  check_given(list(fit = missing(fit)), list(fit = "give a result of pc(), or another graph."))
  graph <- about("fit", edges_of(fit, "markov_check() does not support PAGs"))
  given <- check_choice(given, c("parents", "blanket"), "given")
  tests <- check_whole(tests, "tests", 1, 1e8)
  replicates <- check_whole(replicates, "replicates", 0, 1e4)
  size <- check_sample_size(size)
  check_number(
    alpha,
    "alpha",
    "give the level below which p-values count as dependence, above 0 and below 1.",
    above = 0,
    below = 1
  )
  seed <- check_seed(seed)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  workers <- if (!is.null(cluster)) worker_source(cluster)
  if (is.null(workers)) {
    device <- check_device(device)
  }
  na <- if (!missing(na)) check_choice(na, c("error", "testwise"), "na")
  if (!is.null(data) && !is.function(suffStat)) {
    refuse_treated(fit, data, "give indepTest = gaussCItest and suffStat = function(rows) suff_gauss(rows, %s = ).")
  }
  stats <- statistics_of(data, indepTest, suffStat, graph$labels, replicates, size, seed, na, test_of_fit(fit))
  asked <- lapply(c(independence = given, dependence = "edges"), function(what) {
    check_rust(rust_implied(graph$edges, graph$weights, list(what = what, most = tests, seed = seed)))
  })
  tell_extension(asked$independence$extension)
  problem <- list(
    labels = graph$labels,
    alpha = alpha,
    seed = seed,
    asked = asked,
    stats = stats,
    pieces = if (is.null(workers)) 1 else pieces_of_questions(stats$count)
  )
  p <- lapply(asked, function(of) rep.int(NA_real_, length(of$x)))
  constant <- list()
  enter <- function(task, found) {
    for (implied in names(asked)) {
      p[[implied]][questions_of(problem, task, implied)] <<- found[[implied]]
    }
    constant[[as.character((task - 1L) %% stats$count + 1L)]] <<- found$constant
  }
  tasks <- stats$count * problem$pieces
  if (is.null(workers)) {
    answer <- answerer(problem, device, threads)
    for (task in seq_len(tasks)) {
      enter(task, answer(task))
    }
  } else {
    problem$world <- world_of(Filter(is.function, list(indepTest, suffStat)))
    setup <- list(
      what = "markov",
      problem = problem,
      device = device,
      threads = if (isTRUE(attr(threads, "named"))) as.integer(threads)
    )
    fits <- function(range, found) {
      # p-values may be missing.
      fits_task <- function(task, one) {
        is.list(one) &&
          all(vapply(
            names(asked),
            function(implied) {
              is.numeric(one[[implied]]) && length(one[[implied]]) == length(questions_of(problem, task, implied))
            },
            NA
          ))
      }
      is.list(found) && length(found) == size_of(range) && all(mapply(fits_task, seq.int(range[1L], range[2L]), found))
    }
    tell_lost(
      share_out(workers(), setup, tasks, fits, take = function(range, found) {
        for (at in seq_along(found)) {
          enter(range[1L] + at - 1L, found[[at]])
        }
      })$lost
    )
  }
  for (implied in names(asked)) {
    asked[[implied]]$p <- p[[implied]]
  }
  tell_constant(constant, graph$labels, replicates)
  structure(
    class = "pcgpu_markov",
    list(
      summary = summary_of_markov(asked, alpha),
      available = vapply(asked, function(of) of$all, 0),
      given = given,
      alpha = alpha,
      replicates = if (stats$is_data) replicates else 0,
      size = size,
      extension = asked$independence$extension,
      labels = graph$labels,
      constants = length(constant),
      questions = lapply(asked, function(of) of[c("x", "y", "start", "members", "p")]),
      call = match.call()
    )
  )
}

# Reports constant columns. `constant`: for each sample that has some, the numbers of its constant columns.
tell_constant <- function(constant, labels, replicates) {
  columns <- sort(unique(unlist(constant)))
  if (length(columns)) {
    where <- if (replicates > 0) c(counted(length(constant), "sample"), " there") else c("The data", "")
    tell(
      "constant",
      sprintf(
        "%s had constant columns (%s): tests of these columns are NA%s.",
        where[1L],
        enumerate(dQuote(labels[columns], FALSE)),
        where[2L]
      ),
      columns = columns
    )
  }
}

# What is checked in place of a graph that is not a CPDAG.
extension_words <- c(
  colliders = "No DAG extends the graph: a DAG with further v-structures",
  cycles = "The graph has directed cycles: a DAG that keeps only its other arrows"
)

tell_extension <- function(extension) {
  if (extension != "none") {
    tell("graph", paste(extension_words[[extension]], "is checked (see ?markov_check)."), type = "cpdag")
  }
}

# Returns the number of pieces into which the questions of each statistic are divided, so that workers can share few
# statistics. Each piece computes its own correlations.
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

# Returns a function that answers a task on this machine with p-values of its independences and dependences. It keeps
# the last statistic.
answerer <- function(problem, device, threads) {
  made <- NULL
  reported <- FALSE
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
        # Messages about columns were shown for all rows, or are shown once. One message reports the constant columns of
        # all samples.
        pcgpu_message = function(m) if (reported || stats$said) tryInvokeRestart("muffleMessage"),
        pcgpu_warning = function(w) {
          if (reported || stats$looked_at && inherits(w, "pcgpu_warning_constant")) tryInvokeRestart("muffleWarning")
        }
      )
      if (test$kind == "function") {
        test$fun <- with_stream_of(test$fun, problem$seed, number)
      }
      reported <<- TRUE
      made <<- list(
        number = number,
        test = test,
        constant = statistic$constant,
        on = choose_device(device, test, length(labels))
      )
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
  if (!is.null(setup$problem$world)) {
    session$leave <- enter_world(setup$problem$world)
  }
  answer <- NULL
  function(range) {
    gpu <- rank_gpu(check_device(setup$device), setup$device, place)
    tryCatch(
      {
        if (is.null(answer)) {
          answer <<- answerer(setup$problem, gpu, rank_threads(setup, place))
        }
        lapply(seq.int(range[1L], range[2L]), answer)
      },
      pcgpu_error = function(e) structure(list(condition = e), class = "pcgpu_rank_failed")
    )
  }
}

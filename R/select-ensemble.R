#' Ensembles of feature selections
#'
#' Describes how [select_features()] repeats a selection on samples of the rows and combines the results.
#' `select_features(ensemble = 50)` is short for `select_features(ensemble = selection_ensemble(50))`.
#'
#' Greedy selections from few observations depend on the sample: a few more or fewer rows give other features. An
#' ensemble selects `k` features from each of many samples of the rows, and counts how often each feature is selected
#' (Saeys and others 2008, Abeel and others 2010). Features that are selected in most samples are more reliable than
#' those of a single selection. Stability selection (Meinshausen and Buehlmann 2010) uses the same frequencies. It draws
#' half of the rows without replacement: `selection_ensemble(100, how = "subsample")`.
#'
#' Columns and classes become discrete once, from all rows, so the levels and the default of `bins` are the same in each
#' sample. Some levels may not occur in a sample: a column can be constant there, and classes can be missing. A sample
#' with a single class allows no selection and is drawn again. [ensemble_rows()] returns the rows of a sample. They
#' depend on the seed and on the number of the sample, not on `numCores` or `device`.
#'
#' @param replicates Number of samples, from 1 to 100,000.
#' @param size Number of rows of each sample, or up to 1 their share of all rows. `NULL` means all rows with replacement
#'   and half of them without.
#' @param how `"bootstrap"` (rows drawn with replacement) or `"subsample"` (without replacement).
#' @param aggregate How to combine the selections into one order of features:
#'   - `"frequency"` (the default): by the number of samples in which a feature is selected, and if equal by its mean
#'     position among the selected;
#'   - `"mean-rank"`: by its mean position in all samples, which is k + 1 in samples that do not select it.
#' @param seed A whole number from 0 to 2147483647. `NULL` draws one from R's random numbers, so `set.seed()` makes a
#'   run reproducible.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return An object of class `pcgpu_ensemble` for the argument `ensemble` of [select_features()].
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @references
#' T. Abeel, T. Helleputte, Y. Van de Peer, P. Dupont and Y. Saeys (2010). Robust biomarker identification for cancer
#' diagnosis with ensemble feature selection methods. *Bioinformatics* 26(3), 392-398.
#'
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B*
#' 72(4), 417-473.
#'
#' Y. Saeys, T. Abeel and Y. Van de Peer (2008). Robust feature selection using ensemble feature selection techniques.
#' *Machine Learning and Knowledge Discovery in Databases (ECML PKDD)*, 313-325.
#' @seealso [select_features()], [ensemble_rows()] for the rows of a sample, [stability()] for the edges of a graph.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(200 * 100), 200)
#' y <- x[, 10] + x[, 20] + rnorm(200) > 0
#'
#' half <- selection_ensemble(30, how = "subsample")
#' select_features(x, y, 5, ensemble = half, numCores = 2)
#' @export
selection_ensemble <- function(
  replicates = 50,
  size = NULL,
  how = c("bootstrap", "subsample"),
  aggregate = c("frequency", "mean-rank"),
  seed = NULL,
  ...
) {
  if (!is.null(taught <- taught_call(of = "selection_ensemble"))) {
    return(eval(taught, parent.frame()))
  }
  replicates <- check_whole(replicates, "replicates", 1, 1e5)
  replace <- check_how(how) == "bootstrap"
  if (is.null(size)) {
    size <- if (replace) 1 else 0.5
  }
  size <- check_sample_size(size)
  if (!replace && size == 1) {
    abort_argument(
      "size",
      size,
      "use a share below 1, because without replacement all rows always give the same sample."
    )
  }
  structure(
    class = "pcgpu_ensemble",
    list(
      replicates = as.integer(replicates),
      size = size,
      replace = replace,
      aggregate = check_choice(aggregate, c("frequency", "mean-rank"), "aggregate"),
      seed = if (!is.null(seed)) check_whole(seed, "seed", 0, .Machine$integer.max)
    )
  )
}

# Checks the argument `ensemble`. Returns NULL, or the result of selection_ensemble() with a seed and `size`, the number
# of rows of a sample. Several criteria are an ensemble, whose only sample is all rows unless there are others.
check_ensemble <- function(ensemble, n, criterion) {
  if (is.null(ensemble)) {
    all_rows <- list(replicates = 1L, size = n, replace = FALSE, aggregate = "frequency", seed = 0, first = 0L)
    return(if (length(criterion) > 1L) all_rows)
  }
  if (!inherits(ensemble, "pcgpu_ensemble")) {
    hint <- paste(
      "use the number of samples, a whole number from 1 to 100000, a selection_ensemble(), or NULL to select once,",
      "from all rows."
    )
    ensemble <- selection_ensemble(check_number(ensemble, "ensemble", hint, 1, 1e5, whole = TRUE))
  }
  check_object(ensemble, "ensemble")
  rows <- max(1, round(rows_of_size(ensemble$size, n)))
  most <- if (ensemble$replace) n else n - 1L
  if (rows < 2 || rows > most) {
    abort_argument(
      "ensemble",
      ensemble,
      sprintf("use another `size`, from 2 to %d rows.", most),
      has = sprintf("size = %s, which selects %s of %d", format(ensemble$size), counted(rows, "row"), n)
    )
  }
  ensemble$size <- as.integer(rows)
  # The first replicate; workers that share the replicates start at others.
  ensemble$first <- 0L
  ensemble$seed <- as.double(ensemble$seed %||% sample.int(.Machine$integer.max, 1L))
  ensemble
}

# Turns Rust's result for an ensemble into the form of a single selection.
of_ensemble <- function(found, ensemble, p, criterion) {
  ensemble$first <- NULL
  selections <- ensemble$replicates * length(criterion)
  index <- matrix(found$index, ncol = selections)
  several <- length(criterion) > 1L
  if (several) {
    colnames(index) <- rep(criterion, ensemble$replicates)
  }
  together <- aggregate_selections(index, found$score, p, ensemble$aggregate)
  ensemble <- c(
    unclass(ensemble),
    list(
      draw = found$draw,
      index = index,
      frequency = together$all,
      stability = selection_stability(index, p, !several)
    )
  )
  list(
    index = together$index,
    # Scores of different criteria have no mean.
    score = if (several) rep(NA_real_, length(together$score)) else together$score,
    relevance = found$relevance[together$index],
    levels = found$levels[together$index],
    frequency = together$frequency,
    rank = together$rank,
    classes = found$classes,
    device = found$device,
    ensemble = ensemble
  )
}

# Combines the selections of an ensemble. `index` and `score` have a column for each selection: k of p features in
# order.
aggregate_selections <- function(index, score, p, how) {
  k <- nrow(index)
  replicates <- ncol(index)
  count <- tabulate(index, p)
  place <- sum_at(row(index), index, p)
  order <- switch(
    how,
    "frequency" = order(-count, place / count),
    "mean-rank" = order(place + (replicates - count) * (k + 1), -count)
  )
  # Features that were never selected have no position and come last.
  best <- order[seq_len(k)]
  list(
    index = best,
    score = (sum_at(score, index, p) / count)[best],
    frequency = count[best] / replicates,
    rank = (place / count)[best],
    all = count / replicates
  )
}

sum_at <- function(values, index, p) {
  sums <- numeric(p)
  found <- rowsum(as.double(values), as.integer(index))
  sums[as.integer(rownames(found))] <- found
  sums
}

# Returns how similar the selections of an ensemble are, with a confidence interval: Nogueira, Sechidis and Brown
# (2018), definition 4 and corollary 9. With k features in each selection, the estimate is Kuncheva's (2007) index.
# independent: whether the selections are from different samples, so that there is an interval.
selection_stability <- function(index, p, independent = TRUE, level = 0.95) {
  k <- nrow(index)
  replicates <- ncol(index)
  if (replicates < 2L || k == p) {
    return(c(estimate = NA_real_, lower = NA_real_, upper = NA_real_))
  }
  share <- tabulate(index, p) / replicates
  chance <- k / p * (1 - k / p)
  estimate <- 1 - mean(replicates / (replicates - 1) * share * (1 - share)) / chance
  # The part of the paper's phi_i that depends on i if each selection has k features.
  of_each <- colMeans(matrix(share[index], k)) * k / p / chance
  error <- sqrt(4 / replicates^2 * sum((of_each - mean(of_each))^2))
  z <- if (independent) stats::qnorm(1 - (1 - level) / 2) else NA
  c(estimate = estimate, lower = max(-1, estimate - z * error), upper = min(1, estimate + z * error))
}

# Returns "ensemble of 50 bootstrap samples of 500 rows; stability ...".
ensemble_text <- function(ensemble, observations) {
  stability <- ensemble$stability
  criteria <- ncol(ensemble$index) / ensemble$replicates
  parts <- c(
    if (ensemble$replace || ensemble$size < observations) {
      kind <- if (ensemble$replace) "bootstrap samples" else "samples without replacement"
      sprintf("%s %s of %s rows", in_words(ensemble$replicates), kind, in_words(ensemble$size))
    },
    if (criteria > 1) counted(criteria, "criterion", "criteria")
  )
  said <- paste("ensemble of", paste(parts, collapse = " and "))
  if (is.na(stability[["estimate"]])) {
    return(said)
  }
  said <- sprintf("%s; stability %.2f", said, stability[["estimate"]])
  if (is.na(stability[["lower"]])) {
    return(said)
  }
  sprintf("%s (95%% interval %.2f to %.2f)", said, stability[["lower"]], stability[["upper"]])
}

# Runs the replicates of an ensemble on the workers of a cluster.
select_on_workers <- function(workers, task, p, device, threads, report) {
  ensemble <- task$options$ensemble
  setup <- c(
    list(what = "selection", device = device, threads = if (isTRUE(attr(threads, "named"))) as.integer(threads)),
    task
  )
  of_sample <- task$options$k * length(task$options$criterion)
  columns <- function(value) matrix(value, of_sample, ensemble$replicates)
  of_all <- list(index = columns(0L), score = columns(0), draw = integer(ensemble$replicates))
  last <- NULL
  fits <- function(range, found) {
    count <- size_of(range)
    cells <- of_sample * count
    has_vectors(found, c(index = cells, score = cells, draw = count, relevance = p, levels = p, classes = 1L)) &&
      all(found$index %in% seq_len(p))
  }
  team <- share_out(
    workers,
    setup,
    ensemble$replicates,
    fits,
    take = function(range, found) {
      at <- seq.int(range[1L], range[2L])
      of_all$index[, at] <<- found$index
      of_all$score[, at] <<- found$score
      of_all$draw[at] <<- found$draw
      last <<- found
    },
    report = report
  )
  last[c("index", "score", "draw")] <- list(as.vector(of_all$index), as.vector(of_all$score), of_all$draw)
  last[c("device", "team", "lost")] <- team[c("device", "team", "lost")]
  last
}

# Returns the function that runs replicates range[1] to range[2] on a worker.
selection_rank <- function(setup, place) {
  function(range) {
    options <- setup$options
    options$ensemble$first <- as.integer(range[1L] - 1L)
    options$ensemble$replicates <- as.integer(range[2L] - range[1L] + 1L)
    threads <- rank_threads(setup, place)
    work <- as.double(options$n) * length(setup$x$x) / options$n * options$k
    device <- rank_gpu(choose_selection_device(check_device(setup$device), work), setup$device, place)
    check_rust(on_device(device, threads, function(engine) rust_select(setup$x, setup$y, options, engine, NULL)))
  }
}

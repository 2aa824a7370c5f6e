#' Select features by mutual information
#'
#' Chooses the `k` columns of `x` that together are most informative about `y`, one at a time. The first has the largest
#' mutual information with `y`. Each later one has the largest score by `criterion`, given those already chosen. Use it
#' on data with many thousands of columns, before running [pc()] on the columns that matter.
#'
#' # Criteria
#'
#' Let I be mutual information, H entropy, S the features selected so far and s one of them. The score of a candidate f
#' is (Brown and others 2012)
#' - `"JMI"`: I(f; y) - mean of I(f; s) - I(f; s | y), joint mutual information (Yang and Moody 1999). It orders the
#'   candidates in the same way as the sum of I(f, s; y) over s, another common form of the method. Brown and others
#'   recommend it for its accuracy and stability;
#' - `"MIM"`: I(f; y), whatever is selected;
#' - `"MIFS"`: I(f; y) - `beta` times the sum of I(f; s) (Battiti 1994);
#' - `"mRMR"`: I(f; y) - mean of I(f; s);
#' - `"CMIM"`: the least of I(f; y | s);
#' - `"DISR"`: the sum of I(f, s; y) / H(f, s, y);
#' - `"CIFE"`: I(f; y) - sum of I(f; s) - I(f; s | y);
#' - `"CONDRED"`: I(f; y) + sum of I(f; s | y);
#' - `"Betagamma"`: I(f; y) - `beta` times the sum of I(f; s) + `gamma` times the sum of I(f; s | y). MIFS,
#'   CIFE and CONDRED are special cases;
#' - `"ICAP"`: I(f; y) - sum of max(0, I(f; s) - I(f; s | y));
#' - `"CMI"`: I(f; y | S), all of S as one variable. It runs out of observations after a few features. From then on all
#'   scores are 0, and columns are chosen in their order;
#' - `"FCBF"`: the symmetrical uncertainty SU(f; y) = 2 I(f; y) / (H(f) + H(y)). This fast correlation-based filter (Yu
#'   and Liu 2004) leaves out f if SU(f; s) is at least SU(f; y) for an s that it has selected. What it leaves out comes
#'   last, with the score SU(f; y) - 1. So the filter's own selection is the columns with scores of at least 0.
#'
#' These are the criteria of the toolbox FEAST, except ReliefF: it compares distances between observations, which tables
#' of counts do not have. FEAST's FCBF leaves out f only if SU(f; s) is above SU(f; y).
#'
#' The first score is I(f; y) for all criteria but `"FCBF"`. Scores are in bits (except for `"DISR"`, a sum of ratios,
#' and `"FCBF"`). They are computed from observed frequencies without correction, and may be negative. Among columns
#' with equal scores, the first is chosen. Scores are computed in whole numbers, so copies of a column, and columns that
#' differ only in the names of their levels, have exactly equal scores. For this, `beta` and `gamma` are rounded to
#' multiples of 2^-32. The answer does not depend on `numCores` or `device`.
#'
#' # Several criteria
#'
#' With several criteria, such as `c("JMI", "mRMR", "CMIM")`, `k` features are selected by each. The result combines
#' these selections as it combines the samples of an `ensemble`: features that most criteria select come first. With an
#' `ensemble`, each sample gives a selection by each criterion. A table that several criteria need is counted once.
#'
#' # Columns
#'
#' The criteria use the mutual information of discrete variables. The levels of factors, logical and character columns
#' are those that occur. Numbers are cut, separately for each column, as `discretize` says. Some columns are special:
#' - A *constant* column has the lowest score of most criteria and is chosen last.
#' - *`y` itself, or a recoding of it*, is an error, because no other column could add anything. Such a column has the
#'   classes of `y` under other names (or its order, if `y` consists of numbers that are cut). If there are so few rows
#'   that a column may agree by chance, it is treated like any other.
#' - A column with *a different level in every row* (a row number, a name, or numbers cut into too many `bins`)
#'   determines `y` and looks perfect. If one is selected, there is a warning of class `pcgpu_warning_unique`.
#' - *Missing values* are treated as `na` says. *Infinite values* are errors.
#'
#' The criteria count tables of two features and the class. By default, `bins` is chosen so that a cell holds five
#' observations on average, the usual requirement for tests of such tables (Cochran 1954). With n observations and c
#' classes, it is
#' \eqn{\sqrt{n / (5 c)}}{sqrt(n / (5 c))}. If `y` is numeric and is cut too, it is \eqn{(n / 5)^{1/3}}{(n / 5)^(1/3)}. The value is
#' rounded down, at least 2 and at most 64. With far more bins, every observation has its own cell, and features are chosen by
#' chance or by their order. If more than nine cells in ten must be empty, there is a warning of class `pcgpu_warning_sparse`.
#'
#' With the default of `bins`, columns with few different values, all of them whole numbers, count as codes (genotypes
#' 0, 1, 2; a scale from 1 to 5) and keep their values as levels. The limit is 10 values, or n / (5 c) if that is less.
#' A cell of the table of the column and the classes then holds five observations on average. The limit is never below
#' the number of bins. If you set `bins`, every numeric column is cut.
#'
#' # On a cluster
#'
#' Without an `ensemble`, each worker of `cluster` has its own columns and reports the best of them after each choice:
#' one message each way for each of the `k` features. It receives the codes of its columns once, and those of each
#' selected column. For a [pcgpu_file()] it receives the path and reads its columns itself. If a worker dies or hangs,
#' the others take its columns; faster workers take some columns of a slow one. The call ends with an error of class
#' `pcgpu_error_cluster` if no worker is left. A worker uses one GPU at most, and not its CPU as well.
#'
#' Each choice costs some milliseconds in addition to counting. Workers are faster if rows times columns is at least
#' about 1e7, and rows times columns times `k` at least 3e8. Smaller selections run in this process unless `device`
#' names a GPU. So do those by `"MIM"`, which counts each column once. `device` of the result says where the selection
#' ran.
#'
#' @param x The features, with observations in rows. One of:
#'   - a numeric, logical or character matrix, or a data frame (numbers may be bit64's `integer64`);
#'   - a matrix of the package Matrix; sparse ones are read one column at a time;
#'   - a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose samples are the observations;
#'   - a [pcgpu_file()], which is not loaded into R;
#'   - a `DelayedMatrix` or `big.matrix`, which is converted to an ordinary matrix.
#' @param y The target: a vector with a value for each row of `x`, or the name or number of a column of `x` (not of a
#'   [pcgpu_file()]). That column is then no feature. Factors, characters and logicals are classes. So are numbers with
#'   at most `bins` different values. With the default of `bins`, whole numbers are classes if they have at most 10 (or n
#'   / 5, up to 64) different values, each of which occurs twice on average. Other numbers are cut like the columns of
#'   `x`.
#'
#'   If `y` and the rows of `x` have the same names, values are matched to rows by name, in any order. If only some
#'   names of `y` belong to other rows, this is an error. With other names, values are matched by position, with a
#'   warning.
#' @param k Number of features to select, from 1 to their number.
#' @param criterion The score, or several, see below.
#' @param bins Number of intervals, from 2 to 65535. `NULL` chooses a number that suits the number of observations, see
#'   below.
#' @param discretize How numbers become levels:
#'   - `"equal-width"` (the default): `bins` intervals of equal width from the smallest to the largest value of the
#'     column;
#'   - `"equal-frequency"`: intervals with about equally many observations; equal values stay together;
#'   - `"none"`: every value is a level. The columns of `x` must then be whole numbers.
#' @param device Where to run, as in [pc()]. `"auto"` uses a GPU if there is one and the data are large. Several
#'   devices, such as `c("cuda:0", "cuda:1")` or `c("cpu", "cuda")`, divide the features among them by their speed. A
#'   worker of a `cluster` uses only the first GPU that `device` names, unless it selects for an `ensemble`.
#' @param numCores Number of threads; all cores by default.
#' @param progress Show a progress bar? As in [pc()].
#' @param ensemble `NULL` to select once, from all rows. Otherwise features are selected from each of many samples of
#'   the rows, and the result says how often each feature was selected: a number of bootstrap samples, for instance 50,
#'   or a [selection_ensemble()].
#' @param cluster `NULL`, or workers in other processes, here or on other machines, as in [pc_control()] (see *On a
#'   cluster* there). The answer is the same. Workers share the samples of an `ensemble`, or else the columns of `x`,
#'   see *On a cluster* below.
#' @param beta,gamma Weights from 0 to 100 of the criteria `"MIFS"` (`beta`) and `"Betagamma"` (both).
#' @param na How to treat missing values:
#'   - `"error"` (the default): as an error;
#'   - `"complete"`: leave out rows with a missing value in `x` or `y` (not for a [pcgpu_file()]);
#'   - `"level"`: the missing values of a column are a level of their own, and only the others are cut. Rows without `y`
#'     are left out; `addNA()` makes them a class.
#' @param ... Must be empty; anything here is an error that suggests the intended name.
#' @return A list of class `pcgpu_selection`:
#' \describe{
#'   \item{`index`}{the selected columns, in the order of their selection;}
#'   \item{`names`}{their names, or their numbers as text if `x` has no column names;}
#'   \item{`score`}{their scores when they were selected, or `NA` for several criteria;}
#'   \item{`relevance`}{I(f; y) in bits;}
#'   \item{`levels`}{their numbers of levels;}
#'   \item{`criterion`, `bins`, `discretize`}{the arguments, and `beta` and `gamma` if the criterion has them;}
#'   \item{`features`, `observations`, `classes`}{the numbers of features, of rows used, and of classes;}
#'   \item{`target`}{the column that is `y`, if `y` names one;}
#'   \item{`left_out`}{the rows that `na` leaves out, if there are any;}
#'   \item{`device`}{where the selection ran;}
#'   \item{`call`}{the call.}
#' }
#' With an `ensemble` or several criteria, the features and their order combine all selections, see
#' [selection_ensemble()]. `score` is then the mean of the scores when a feature was selected, and `relevance` is
#' computed from all rows. Further elements are
#' \describe{
#'   \item{`frequency`}{the proportion of selections with each feature of `index`;}
#'   \item{`rank`}{its mean position in these selections;}
#'   \item{`ensemble`}{a list of the arguments of [selection_ensemble()] and further elements. `size` is the number of
#'     rows of a sample. `index` is a matrix with a column of selected features for each sample and criterion, in the
#'     order of their selection. `frequency` is the proportion for every column of `x` (`NA` for the target).
#'     `stability` says how similar the selections are, with a 95 per cent confidence interval. It is 1 if they are the
#'     same, 0 if they are as similar as by chance (Nogueira and others 2018; the estimate is Kuncheva's index), and
#'     `NA` for one selection or if `k` is the number of features. Selections by several criteria have no interval,
#'     because those from one sample depend on each other.}
#' }
#' There are `print()`, `plot()` and `as.data.frame()` methods. `x[, selected$index]` returns the selected columns.
#' The benchmark `src/rust/core/examples/selection.rs` of the package's sources also times the scheme of CUDA-JMI
#' (Gonzalez-Dominguez and others 2020), in which CPU threads join the features for the GPU. `select_features()` does not
#' use it: the answer is the same.
#' @references
#' R. Battiti (1994). Using mutual information for selecting features in supervised neural net learning. *IEEE
#' Transactions on Neural Networks* 5(4), 537-550.
#'
#' W. G. Cochran (1954). Some methods for strengthening the common chi-squared tests. *Biometrics* 10(4), 417-451.
#'
#' G. Brown, A. Pocock, M.-J. Zhao and M. Lujan (2012). Conditional likelihood maximisation: a unifying framework for
#' information theoretic feature selection. *Journal of Machine Learning Research* 13, 27-66.
#'
#' J. Gonzalez-Dominguez, R. R. Exposito and V. Bolon-Canedo (2020). CUDA-JMI: acceleration of feature selection on
#' heterogeneous systems. *Future Generation Computer Systems* 102, 426-436.
#'
#' L. I. Kuncheva (2007). A stability index for feature selection. *Artificial Intelligence and Applications (IASTED)*,
#' 390-395.
#'
#' S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection algorithms. *Journal of Machine
#' Learning Research* 18(174), 1-54.
#'
#' H. H. Yang and J. Moody (1999). Data visualization and feature selection: new algorithms for nongaussian data.
#' *Advances in Neural Information Processing Systems* 12, 687-693.
#'
#' L. Yu and H. Liu (2004). Efficient feature selection via analysis of relevance and redundancy. *Journal of Machine
#' Learning Research* 5, 1205-1224.
#' @seealso [selection_ensemble()] for selections from resampled rows, [run_details()] for where it ran, [pc()] for the
#'   graph of the selected columns.
#' @examples
#' # 2000 columns; y depends on three of them
#' set.seed(1)
#' x <- matrix(rnorm(500 * 2000), 500, dimnames = list(NULL, paste0("gene", 1:2000)))
#' y <- x[, 10] + x[, 20] + x[, 30] + rnorm(500)
#'
#' selected <- select_features(x, y, k = 10, bins = 5, discretize = "equal-frequency", numCores = 2)
#' selected
#' plot(selected)
#'
#' # The neighbours of y in the graph of the selected columns
#' around <- cbind(y, x[, selected$index])
#' fit <- pc(suff_gauss(around), gaussCItest, alpha = 0.01, labels = colnames(around), numCores = 2)
#'
#' amat <- as(fit@graph, "matrix")
#' names(which(amat["y", ] + amat[, "y"] > 0))
#'
#' # How much does this depend on the rows? 20 bootstrap samples
#' select_features(
#'   x[, 1:200], y, k = 6, bins = 5, discretize = "equal-frequency", ensemble = 20, numCores = 2
#' )
#'
#' # Columns of any kind, and classes
#' select_features(iris, "Species", k = 2, bins = 10, criterion = "mRMR", numCores = 2)
#'
#' # Missing values, and several criteria at once
#' three <- c("JMI", "mRMR", "CMIM")
#' select_features(airquality, "Ozone", k = 2, criterion = three, na = "level", numCores = 2)
#' @export
select_features <- function(
  x,
  y,
  k,
  criterion = "JMI",
  bins = NULL,
  discretize = c("equal-width", "equal-frequency", "none"),
  device = "auto",
  numCores,
  progress = NULL,
  ensemble = NULL,
  cluster = NULL,
  beta = 1,
  gamma = 1,
  na = c("error", "complete", "level"),
  ...
) {
  if (!is.null(taught <- taught_call(of = "select_features"))) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  check_given(
    list(x = missing(x), y = missing(y), k = missing(k)),
    list(
      x = "pass the features, a matrix or data frame with observations in rows.",
      y = "pass the class of each observation, or the name of its column.",
      k = "pass the number of features to select."
    )
  )
  criterion <- check_criterion(criterion)
  weights <- list(
    beta = check_weight(beta, "beta", criterion, !missing(beta)),
    gamma = check_weight(gamma, "gamma", criterion, !missing(gamma))
  )
  na <- check_choice(na, c("error", "complete", "level"), "na")
  discretize <- check_choice(discretize, c("equal-width", "equal-frequency", "none"), "discretize")
  if (!is.null(bins)) {
    bins <- as.integer(check_whole(bins, "bins", 2, 65535))
  }
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  source <- if (!is.null(cluster)) worker_source(cluster)
  if (is.null(source)) {
    device <- check_device(device)
  }
  x <- read_data(x, "x", all = FALSE)
  if (is_read_by_blocks(x)) {
    x <- read_data(x, "x")
  }
  features <- selection_features(x)
  data <- leave_out_rows(split_target(x, y), na)
  if (!is.null(c(data$target, data$left_out))) {
    x <- data$x
    features <- selection_features(x)
  }
  warn_text(x)
  n <- nrow(x)
  p <- ncol(x)
  y <- selection_classes(data$y, n, bins, discretize)
  refuse_target(x, features, y)
  kept_levels <- if (is.null(bins)) most_codes(n, if (is.factor(y)) nlevels(y)) else 0L
  bins <- bins %||% default_bins(n, if (is.factor(y)) nlevels(y))
  k <- as.integer(check_number(
    k,
    "k",
    sprintf(
      "use a whole number from 1 to %d, the number of %s.",
      p,
      if (is.null(data$target)) "columns of `x`" else "features"
    ),
    1,
    p,
    whole = TRUE
  ))
  ensemble <- check_ensemble(ensemble, n, criterion)
  if (!is.null(source) && is.null(ensemble) && !sharing_pays(device, criterion, n, p, k)) {
    source <- NULL
    device <- check_device(device)
  }
  if (is.null(source)) {
    device <- choose_selection_device(device, as.double(n) * p * k)
  }
  options <- list(
    n = n,
    k = k,
    criterion = criterion,
    beta = weights$beta,
    gamma = weights$gamma,
    discretise = discretize,
    bins = bins,
    kept_levels = kept_levels,
    missing_level = na == "level",
    ensemble = unclass(ensemble)
  )
  times <- if (!is.null(ensemble)) sprintf(" from each of %d samples", ensemble$replicates) else ""
  bar <- progress_reporter(progress, label = function(level, edges) sprintf("Selecting %d features%s", k, times))
  on.exit(bar$close())
  found <- about_part(
    data,
    if (is.null(source)) {
      check_rust(on_device(device, threads, function(engine) rust_select(features, y, options, engine, bar$report)))
    } else if (is.null(ensemble)) {
      select_on_ranks(source(), features, y, options, as.double(n) * p * k, device, threads, bar$report)
    } else {
      select_on_workers(source(), list(x = features, y = y, options = options), p, device, threads, bar$report)
    }
  )
  tell_lost(found$lost)
  attr(call, "pcgpu") <- c(
    list(device = found$device),
    work_of(found$team, found$device),
    list(version = package_version())
  )
  if (!is.null(ensemble)) {
    found <- of_ensemble(found, ensemble, p, criterion)
  }
  names <- if (is.null(colnames(x))) as.character(found$index) else colnames(x)[found$index]
  cut <- rep(discretize != "none", length(found$index))
  if (features$kind == "columns") {
    cut <- cut & !vapply(features$x[found$index], is.factor, NA)
  }
  by_row <- found$levels == n
  warn_unique(names[by_row], fewer_bins = any(cut[by_row]) && n > 2L)
  warn_sparse(found$levels, found$classes, n, cut)
  found <- of_data(found, data$target)
  structure(
    class = "pcgpu_selection",
    c(
      list(index = found$index, names = names, score = found$score, relevance = found$relevance, levels = found$levels),
      found[c("frequency", "rank")[!is.null(ensemble)]],
      list(criterion = criterion),
      weights[unique(unlist(weights_of[criterion]))],
      list(
        bins = bins,
        discretize = discretize,
        features = p,
        observations = n,
        classes = found$classes,
        device = found$device
      ),
      data[intersect(c("target", "left_out"), names(data))],
      found["ensemble"[!is.null(ensemble)]],
      list(call = call)
    )
  )
}

# Returns whether workers finish a selection from all rows sooner than this process. A named GPU is the workers': this
# machine may have none.
sharing_pays <- function(device, criterion, n, p, k) {
  here <- identical(device, "auto") ||
    identical(device, "cpu") ||
    inherits(device, "pcgpu_device") && device$kind == "cpu"
  !here || !identical(criterion, "MIM") && as.double(n) * p >= shared_cells && as.double(n) * p * k >= shared_counts
}

# Makes one selection, with a part of the features on each worker. `counts`: the amount of work.
select_on_ranks <- function(workers, features, y, options, counts, device, threads, report) {
  setup <- list(
    what = "features",
    counts = counts,
    device = device,
    threads = if (isTRUE(attr(threads, "named"))) as.integer(threads)
  )
  with_workers(workers, setup, function(names, hellos) {
    check_rust(rust_select(features, y, options, engine_of_ranks(workers, names, hellos, threads), report))
  })
}

# Returns the default of `bins`, see the section "Columns" of the help. classes: NULL if y is cut too.
default_bins <- function(n, classes) {
  bins <- if (is.null(classes)) (n / 5)^(1 / 3) else sqrt(n / (5 * classes))
  # A whole root must not fall below itself by rounding.
  as.integer(min(64, max(2, floor(bins + 1e-9))))
}

# Returns the largest number of different whole numbers that count as codes and are not cut, see the section "Columns"
# of the help.
most_codes <- function(n, classes) {
  max(default_bins(n, classes), min(10L, as.integer(n / (5 * (classes %||% default_bins(n, NULL))))))
}

choose_selection_device <- function(device, counts) {
  if (device$kind == "cuda") {
    shapes <- intersect(names(device$options), c("beta", "gamma", "theta", "delta"))
    if (length(shapes) || !(device$options$strategy %||% "shared") == "shared") {
      abort_argument(
        "device",
        device_name(device),
        paste("the strategies of cuda_device() apply to independence tests only;", "leave them out to select features.")
      )
    }
    device$automatic <- FALSE
    return(device)
  }
  if (device$kind == "auto" && counts >= auto_selection_counts) automatic_gpu() else new_device("cpu")
}

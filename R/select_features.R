#' Select features by mutual information
#'
#' Chooses the `k` columns of `x` that together tell most about `y`, one at a time: the first has the largest
#' mutual information with `y`, and each later one the largest score by `criterion`, given those already chosen. Use it on data
#' with many thousands of columns, before running [pc()] on those that matter.
#'
#' # Criteria
#'
#' With I for mutual information, H for entropy, S for the features selected so far and s for one of them, a candidate f has the
#' score (Brown and others 2012)
#' - `"JMI"`: I(f; y) - mean of I(f; s) - I(f; s | y), joint mutual information (Yang and Moody 1999). It orders the candidates
#'   as the sum of I(f, s; y) over s does, by which the method is also known, and is recommended by Brown and others for its
#'   accuracy and stability;
#' - `"MIM"`: I(f; y), whatever is selected;
#' - `"MIFS"`: I(f; y) - sum of I(f; s);
#' - `"mRMR"`: I(f; y) - mean of I(f; s);
#' - `"CMIM"`: the least of I(f; y | s);
#' - `"DISR"`: the sum of I(f, s; y) / H(f, s, y);
#' - `"CIFE"`: I(f; y) - sum of I(f; s) - I(f; s | y);
#' - `"ICAP"`: I(f; y) - sum of max(0, I(f; s) - I(f; s | y));
#' - `"CMI"`: I(f; y | S), all of S as one variable. It runs out of observations after a few features: scores of 0, in the order
#'   of the columns, are left then.
#'
#' The first score is I(f; y) for all criteria. Scores are in bits (except for `"DISR"`, a sum of ratios), are computed from observed
#' frequencies without correction, and may be negative. Among columns with equal scores the first is chosen. Scores are computed
#' in whole numbers, so copies of a column, and columns that differ only in the names of their levels, have exactly equal scores. The
#' answer does not depend on `numCores` or `device`.
#'
#' # Columns
#'
#' Mutual information is that of discrete variables. Factors, logical and character columns have the levels that occur. Numbers
#' are cut, each column by itself, by `discretize`. A constant column has the lowest score of most criteria and is taken last.
#' A column that has the classes of `y` under other names (or its order, where `y` is numbers that are cut) is `y` itself, or a recoding of it: an error, as no other
#' column could add anything. With so few rows that a column may agree by chance it is taken like any other.
#' A column with a different level in every row (a row number, a name, or numbers cut into too many `bins`) determines `y` and looks
#' perfect: if one is selected, a warning of class `pcgpu_warning_unique` says so. Missing and infinite values are errors; `addNA()`
#' turns the missing values of a factor into a level.
#'
#' The criteria count tables of two features and the class. `bins` is by default such that a cell of them holds five
#' observations on average, which is the usual demand of tests of such tables (Cochran 1954): with n observations and c classes
#' \eqn{\sqrt{n / (5 c)}}{sqrt(n / (5 c))}, and with numbers as `y`, which are then cut too, \eqn{(n / 5)^{1/3}}{(n / 5)^(1/3)},
#' rounded down, at least 2 and at most 64. With far more bins every observation has a cell of its own, and features are chosen by
#' chance or by their order: where more than nine cells in ten must be empty, a warning of class `pcgpu_warning_sparse` says so.
#'
#' Where `bins` is left to its default, columns of few different values, all of them whole numbers, are taken for codes (genotypes
#' 0, 1, 2; a scale from 1 to 5) and keep their values as levels: at most 10, as long as a cell of the table of the column and the
#' classes holds five observations on average; n / (5 c), or as many as there are bins. With a `bins` of your own every column of
#' numbers is cut.
#'
#' # On a cluster
#'
#' Without an `ensemble`, each worker of `cluster` has its own columns and reports the best of them after each choice: one message each way for each of the `k`.
#' It is sent the codes of its columns once, and those of each selected column. For a [pcgpu_file()] it is sent the path, and reads
#' its columns itself. Columns of a worker that dies or hangs go to the others, and some of a slow one to faster ones; the call ends with an error of class
#' `pcgpu_error_cluster` when none is left. A worker uses one GPU at most.
#'
#' Each choice costs some milliseconds in addition to counting. Workers are faster from about 1e7 values (rows times columns), and 3e8 times `k`; smaller
#' selections, and those by `"MIM"`, which counts each column once, run in this process unless `device` names a GPU. `device` of the result says where it ran.
#'
#' @param x The features, observations in rows: a numeric, logical or character matrix, a data frame, or a matrix of the package
#'   Matrix, of which sparse ones are read a column at a time; or a Bioconductor `ExpressionSet` or `SummarizedExperiment`, whose
#'   samples are the observations; or a [pcgpu_file()], which is read where it is; a `DelayedMatrix` or `big.matrix`, of which a matrix is made. Numbers may be
#'   bit64's `integer64`.
#' @param y The target: a vector with a value for each row of `x`. Factors, characters and logicals are classes. So are numbers with
#'   at most `bins` different values; where `bins` is left to its default, whole numbers with at most 10 (or n / 5, up to 64)
#'   different values, of which each occurs twice on average. Other numbers are cut as the columns of `x` are. If both `y` and the rows of `x` have names, values go
#'   to the rows of the same names, in whatever order they are; names of which only some are those of rows are an error, and with quite other names `y` goes by position, with a warning.
#' @param k How many features to select, from 1 to the number of columns.
#' @param criterion The score, see below.
#' @param bins Number of intervals, from 2 to 65535; `NULL` means a number that suits the number of observations, see below.
#' @param discretize How numbers become levels:
#'   - `"equal-width"` (the default): `bins` intervals of equal width from the smallest to the largest value of the column;
#'   - `"equal-frequency"`: intervals with about equally many observations; equal values stay together;
#'   - `"none"`: every value is a level. The columns of `x` must then be whole numbers.
#' @param device Where to run, as in [pc()]. `"auto"` takes a GPU where there is one and the data are large. Several, such as
#'   `c("cuda:0", "cuda:1")` or `c("cpu", "cuda")`, each count for a part of the features, by their speed.
#' @param numCores Number of threads; left out, all cores.
#' @param progress Show a progress bar? As in [pc()].
#' @param ensemble `NULL` to select once, from all rows; or select from each of many samples of the rows, and say how often each
#'   feature is selected: a number of bootstrap samples, for instance 50, or a [selection_ensemble()].
#' @param cluster `NULL`, or workers of other processes, here or on other machines, as in [pc_control()] (*On a cluster* there); the answer is the same. They share the
#'   samples of an `ensemble`, or else the columns of `x`, see *On a cluster* below.
#' @return A list of class `pcgpu_selection`:
#' \describe{
#'   \item{`index`}{the selected columns, in the order of their selection;}
#'   \item{`names`}{their names, or their numbers as text where `x` has no column names;}
#'   \item{`score`}{their scores when they were selected;}
#'   \item{`relevance`}{I(f; y) in bits;}
#'   \item{`levels`}{how many levels they have;}
#'   \item{`criterion`, `bins`, `discretize`}{the arguments;}
#'   \item{`features`, `observations`, `classes`}{how many there are;}
#'   \item{`device`}{where it ran;}
#'   \item{`call`}{the call.}
#' }
#' With an `ensemble` the features are those of its order, see [selection_ensemble()]; `score` is the mean of their scores when they were
#' selected, `relevance` that in all rows, and there are
#' \describe{
#'   \item{`frequency`}{the share of the samples in which each of `index` was selected;}
#'   \item{`rank`}{its mean place there;}
#'   \item{`ensemble`}{a list: the arguments of [selection_ensemble()]; `size`, the number of rows of a sample; `index`, a matrix with a column
#'     of selected features for each sample, in the order of their selection; `frequency`, that of all columns of `x`; `stability`, how
#'     alike the selections are, 1 if they are the same and 0 if they are as alike as those by chance, with its 95 per cent
#'     confidence interval (Nogueira and others 2018; the estimate is Kuncheva's index); `NA` for one sample, or where `k` is the
#'     number of columns.}
#' }
#' It has a `print()`, a `plot()` and an `as.data.frame()` method. `x[, selected$index]` are the columns to go on with.
#' @references
#' W. G. Cochran (1954). Some methods for strengthening the common chi-squared tests. *Biometrics* 10(4), 417-451.
#'
#' G. Brown, A. Pocock, M.-J. Zhao and M. Lujan (2012). Conditional likelihood maximisation: a unifying framework for
#' information theoretic feature selection. *Journal of Machine Learning Research* 13, 27-66.
#'
#' J. Gonzalez-Dominguez, R. R. Exposito and V. Bolon-Canedo (2020). CUDA-JMI: acceleration of feature selection on
#' heterogeneous systems. *Future Generation Computer Systems* 102, 426-436.
#'
#' L. I. Kuncheva (2007). A stability index for feature selection. *Artificial Intelligence and Applications (IASTED)*, 390-395.
#'
#' S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection algorithms. *Journal of Machine Learning
#' Research* 18(174), 1-54.
#'
#' H. H. Yang and J. Moody (1999). Data visualization and feature selection: new algorithms for nongaussian data. *Advances in
#' Neural Information Processing Systems* 12, 687-693.
#' @seealso [selection_ensemble()] for selections from resampled rows, [run_details()] for where it ran, [pc()] for the graph of what was selected.
#' @examples
#' # 2000 columns, of which y rests on three
#' set.seed(1)
#' x <- matrix(rnorm(500 * 2000), 500, dimnames = list(NULL, paste0("gene", 1:2000)))
#' y <- x[, 10] + x[, 20] + x[, 30] + rnorm(500)
#' selected <- select_features(x, y, k = 10, bins = 5, discretize = "equal-frequency", numCores = 2)
#' selected
#' plot(selected)
#'
#' # The graph around y, of the selected columns alone
#' around <- cbind(y, x[, selected$index])
#' fit <- pc(suff_gauss(around), gaussCItest, alpha = 0.01, labels = colnames(around), numCores = 2)
#' amat <- as(fit@graph, "matrix")
#' names(which(amat["y", ] + amat[, "y"] > 0))
#'
#' # How much of this rests on which rows there are: 20 bootstrap samples
#' select_features(
#'   x[, 1:200], y, k = 6, bins = 5, discretize = "equal-frequency", ensemble = 20, numCores = 2
#' )
#'
#' # Columns of any kind, and classes
#' select_features(iris[1:4], iris$Species, k = 2, bins = 10, criterion = "mRMR", numCores = 2)
#' @export
select_features <- function(x, y, k, criterion = c(
                              "JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI"
                            ), bins = NULL, discretize = c("equal-width", "equal-frequency", "none"),
                            device = "auto", numCores, progress = NULL, ensemble = NULL, cluster = NULL) {
  call <- match.call()
  check_given(list(x = missing(x), y = missing(y), k = missing(k)), list(
    x = "pass the features, a matrix or data frame with observations in rows.",
    y = "pass the class of each observation.",
    k = "pass the number of features to select."
  ))
  criteria <- c("JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI")
  criterion <- check_choice(criterion, criteria, "criterion")
  discretize <- check_choice(discretize, c("equal-width", "equal-frequency", "none"), "discretize")
  if (!is.null(bins)) {
    bins <- check_bins(bins)
  }
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  source <- if (!is.null(cluster)) worker_source(cluster)
  if (is.null(source)) device <- check_device(device)
  x <- read_data(x, "x", all = FALSE)
  if (is_read_by_blocks(x)) x <- read_data(x, "x")
  warn_text(x)
  features <- selection_features(x)
  n <- nrow(x)
  p <- ncol(x)
  y <- selection_classes(by_rows(y, x), n, bins, discretize)
  refuse_target(x, features, y)
  kept_levels <- if (is.null(bins)) most_codes(n, if (is.factor(y)) nlevels(y)) else 0L
  bins <- bins %||% default_bins(n, if (is.factor(y)) nlevels(y))
  k <- check_k(k, p)
  ensemble <- check_ensemble(ensemble, n)
  if (!is.null(source) && is.null(ensemble) && !sharing_pays(device, criterion, n, p, k)) {
    source <- NULL
    device <- check_device(device)
  }
  if (is.null(source)) device <- choose_selection_device(device, as.double(n) * p * k)
  options <- list(
    n = n, k = k, criterion = criterion, discretise = discretize, bins = bins,
    kept_levels = kept_levels, ensemble = unclass(ensemble)
  )
  times <- if (!is.null(ensemble)) sprintf(" from each of %d samples", ensemble$replicates) else ""
  bar <- progress_reporter(progress, label = function(level, edges) sprintf("Selecting %d features%s", k, times))
  on.exit(bar$close())
  found <- if (is.null(source)) {
    check_rust(on_device(device, threads, function(engine) rust_select(features, y, options, engine, bar$report)))
  } else if (is.null(ensemble)) {
    select_on_ranks(source(), features, y, options, as.double(n) * p * k, device, threads, bar$report)
  } else {
    select_on_workers(source(), list(x = features, y = y, options = options), p, device, threads, bar$report)
  }
  tell_lost(found$lost)
  attr(call, "pcgpu") <- c(list(device = found$device), work_of(found$team, found$device), list(version = package_version()))
  if (!is.null(ensemble)) {
    found <- of_ensemble(found, ensemble, p)
  }
  names <- if (is.null(colnames(x))) as.character(found$index) else colnames(x)[found$index]
  cut <- rep(discretize != "none", length(found$index))
  if (features$kind == "columns") cut <- cut & !vapply(features$x[found$index], is.factor, NA)
  by_row <- found$levels == n
  warn_unique(names[by_row], fewer_bins = any(cut[by_row]) && n > 2L)
  warn_sparse(found$levels, found$classes, n, cut)
  structure(class = "pcgpu_selection", c(
    list(index = found$index, names = names, score = found$score, relevance = found$relevance, levels = found$levels),
    found[c("frequency", "rank")[!is.null(ensemble)]],
    list(
      criterion = criterion, bins = bins, discretize = discretize,
      features = p, observations = n, classes = found$classes, device = found$device
    ),
    found["ensemble"[!is.null(ensemble)]], list(call = call)
  ))
}

# Whether workers of other processes are sooner done with a selection from all rows than this one. Where a device is named it is the workers': this machine
# may have none.
sharing_pays <- function(device, criterion, n, p, k) {
  here <- identical(device, "auto") || identical(device, "cpu") || inherits(device, "pcgpu_device") && device$kind == "cpu"
  !here || criterion != "MIM" && as.double(n) * p >= shared_cells && as.double(n) * p * k >= shared_counts
}

# One selection, each worker with a part of the features. `counts`: how much work it is.
select_on_ranks <- function(workers, features, y, options, counts, device, threads, report) {
  setup <- list(what = "features", counts = counts, device = device, threads = if (isTRUE(attr(threads, "named"))) as.integer(threads))
  with_workers(workers, setup, function(names, hellos) {
    check_rust(rust_select(features, y, options, engine_of_ranks(workers, names, hellos, threads), report))
  })
}

# What Rust says of an ensemble, as of one selection.
of_ensemble <- function(found, ensemble, p) {
  ensemble$first <- NULL
  index <- matrix(found$index, ncol = ensemble$replicates)
  together <- aggregate_selections(index, found$score, p, ensemble$aggregate)
  ensemble <- c(unclass(ensemble), list(
    draw = found$draw, index = index, frequency = together$all, stability = selection_stability(index, p)
  ))
  list(
    index = together$index, score = together$score, relevance = found$relevance[together$index],
    levels = found$levels[together$index], frequency = together$frequency, rank = together$rank,
    classes = found$classes, device = found$device, ensemble = ensemble
  )
}

check_bins <- function(bins) {
  if (!is_number(bins) || bins < 2 || bins > 65535 || bins != floor(bins)) {
    abort_argument("bins", bins, "use a whole number from 2 to 65535.")
  }
  as.integer(bins)
}

# See the section "Columns" of the help. classes: NULL where y is cut, too.
default_bins <- function(n, classes) {
  bins <- if (is.null(classes)) (n / 5)^(1 / 3) else sqrt(n / (5 * classes))
  # A whole root must not fall below itself by rounding.
  as.integer(min(64, max(2, floor(bins + 1e-9))))
}

# Likewise: up to how many different whole numbers are codes, and are not cut.
most_codes <- function(n, classes) {
  max(default_bins(n, classes), min(10L, as.integer(n / (5 * (classes %||% default_bins(n, NULL))))))
}

check_k <- function(k, p) {
  if (!is_number(k) || k < 1 || k > p || k != floor(k)) {
    abort_argument("k", k, sprintf("use a whole number from 1 to %d, the number of columns of `x`.", p))
  }
  as.integer(k)
}

choose_selection_device <- function(device, counts) {
  if (device$kind == "cuda") {
    shapes <- intersect(names(device$options), c("beta", "gamma", "theta", "delta"))
    if (length(shapes) || !(device$options$strategy %||% "shared") == "shared") {
      abort_argument("device", device_name(device), paste(
        "the strategies of cuda_device() apply to independence tests only;",
        "leave them out to select features."
      ))
    }
    device$automatic <- FALSE
    return(device)
  }
  if (device$kind == "auto" && counts >= auto_selection_counts) automatic_gpu() else new_device("cpu")
}

#' @exportS3Method print pcgpu_selection
print.pcgpu_selection <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_selection")
  check_object(x)
  say_lines(sprintf("%s of %s features by %s (%s observations, %s classes)", in_words(length(x$index)), in_words(x$features),
    x$criterion, in_words(x$observations), in_words(x$classes)))
  if (!is.null(x$ensemble)) {
    say_lines(ensemble_text(x$ensemble))
  }
  shown <- utils::head(as.data.frame(x), n)
  print_frame(shown, given, 4L)
  left <- length(x$index) - nrow(shown)
  if (left > 0L) {
    say_lines(sprintf("... and %s more", in_words(left)))
  }
  invisible(x)
}

#' @exportS3Method as.data.frame pcgpu_selection
as.data.frame.pcgpu_selection <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_selection")
  check_object(x)
  frame <- data.frame(
    index = x$index, name = x$names, score = x$score, relevance = x$relevance, levels = x$levels, stringsAsFactors = FALSE
  )
  if (is.null(x$ensemble)) frame else cbind(frame[1:2], frequency = x$frequency, rank = x$rank, frame[3:5])
}

#' @exportS3Method plot pcgpu_selection
plot.pcgpu_selection <- function(x, main = NULL, ...) {
  given <- check_dots(list(...), graphical_takes, "plot.pcgpu_selection")
  check_object(x)
  k <- length(x$index)
  few <- k <= 40L
  old <- graphics::par("mar")
  on.exit(graphics::par(mar = old))
  graphics::plot.new()
  high <- if (few) min(max(4.5, max(0, graphics::strwidth(x$names, units = "inches", cex = 0.8)) / graphics::par("csi") + 1.5), 0.4 * graphics::par("fin")[2L] / graphics::par("csi")) else 4.5
  graphics::par(mar = c(high, 4.5, if (is.null(main)) 1 else 3, 1))
  graphics::par(new = TRUE)
  unit <- if (x$criterion == "DISR") "" else " (bits)"
  single <- is.null(x$ensemble)
  height <- if (single) x$score else x$frequency
  # Above the highest there is room for the legend.
  limits <- if (single) range(0, height, x$relevance) else c(0, 1)
  if (single) limits[2L] <- limits[2L] + 0.2 * diff(limits)
  draw_with(graphics::plot, list(
    x = seq_len(k), y = height, type = "h", lwd = if (few) 4 else 1, col = node_look$border, ylim = limits, las = 1,
    xaxt = if (few) "n" else "s", xlab = if (few) "" else if (single) "Order of selection" else "Order",
    ylab = if (single) paste0(x$criterion, unit) else sprintf("Share of %d samples", x$ensemble$replicates), main = main %||% ""
  ), list(...))
  if (single) {
    graphics::points(seq_len(k), x$relevance, pch = 21, bg = "white", col = "#C0392B", cex = if (few) 1 else 0.6)
  }
  graphics::abline(h = 0, col = "#7A7A7A")
  if (few) {
    graphics::axis(1, at = seq_len(k), labels = x$names, las = 2, cex.axis = 0.8)
  }
  if (single) {
    graphics::legend("topright",
      legend = c("score when selected", "I(f; y)"), lty = c(1, NA), lwd = c(4, NA), pch = c(NA, 21),
      col = c(node_look$border, "#C0392B"), bty = "n", horiz = TRUE
    )
  }
  invisible(x)
}

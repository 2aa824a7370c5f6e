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
#' - `"MIFS"`: I(f; y) - sum of I(f; s);
#' - `"mRMR"`: I(f; y) - mean of I(f; s);
#' - `"CMIM"`: the least of I(f; y | s);
#' - `"DISR"`: the sum of I(f, s; y) / H(f, s, y);
#' - `"CIFE"`: I(f; y) - sum of I(f; s) - I(f; s | y);
#' - `"ICAP"`: I(f; y) - sum of max(0, I(f; s) - I(f; s | y));
#' - `"CMI"`: I(f; y | S), all of S as one variable. It runs out of observations after a few features. From then on all
#'   scores are 0, and columns are chosen in their order.
#'
#' The first score is I(f; y) for all criteria. Scores are in bits (except for `"DISR"`, a sum of ratios). They are
#' computed from observed frequencies without correction, and may be negative. Among columns with equal scores, the
#' first is chosen. Scores are computed in whole numbers, so copies of a column, and columns that differ only in the
#' names of their levels, have exactly equal scores. The answer does not depend on `numCores` or `device`.
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
#' - *Missing and infinite values* are errors. `addNA()` turns the missing values of a factor into a level.
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
#' @param y The target: a vector with a value for each row of `x`. Factors, characters and logicals are classes. So are
#'   numbers with at most `bins` different values. With the default of `bins`, whole numbers are classes if they have at
#'   most 10 (or n / 5, up to 64) different values, each of which occurs twice on average. Other numbers are cut like
#'   the columns of `x`.
#'
#'   If `y` and the rows of `x` have the same names, values are matched to rows by name, in any order. If only some
#'   names of `y` belong to other rows, this is an error. With other names, values are matched by position, with a
#'   warning.
#' @param k Number of features to select, from 1 to the number of columns.
#' @param criterion The score, see below.
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
#' @return A list of class `pcgpu_selection`:
#' \describe{
#'   \item{`index`}{the selected columns, in the order of their selection;}
#'   \item{`names`}{their names, or their numbers as text if `x` has no column names;}
#'   \item{`score`}{their scores when they were selected;}
#'   \item{`relevance`}{I(f; y) in bits;}
#'   \item{`levels`}{their numbers of levels;}
#'   \item{`criterion`, `bins`, `discretize`}{the arguments;}
#'   \item{`features`, `observations`, `classes`}{the numbers of columns, rows and classes;}
#'   \item{`device`}{where the selection ran;}
#'   \item{`call`}{the call.}
#' }
#' With an `ensemble`, the features and their order combine all samples, see [selection_ensemble()]. `score` is then the
#' mean of the scores when a feature was selected, and `relevance` is computed from all rows. Further elements are
#' \describe{
#'   \item{`frequency`}{the proportion of samples in which each feature of `index` was selected;}
#'   \item{`rank`}{its mean position in these samples;}
#'   \item{`ensemble`}{a list of the arguments of [selection_ensemble()] and further elements. `size` is the number of
#'     rows of a sample. `index` is a matrix with a column of selected features for each sample, in the order of their
#'     selection. `frequency` is the proportion for every column of `x`. `stability` says how similar the selections
#'     are, with a 95 per cent confidence interval. It is 1 if they are the same, 0 if they are as similar as by chance
#'     (Nogueira and others 2018; the estimate is Kuncheva's index), and `NA` for one sample or if `k` is the number of
#'     columns.}
#' }
#' There are `print()`, `plot()` and `as.data.frame()` methods. `x[, selected$index]` returns the selected columns.
#' @references
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
#' select_features(iris[1:4], iris$Species, k = 2, bins = 10, criterion = "mRMR", numCores = 2)
#' @export
select_features <- function(
  x,
  y,
  k,
  criterion = c("JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI"),
  bins = NULL,
  discretize = c("equal-width", "equal-frequency", "none"),
  device = "auto",
  numCores,
  progress = NULL,
  ensemble = NULL,
  cluster = NULL
) {
  call <- match.call()
  check_given(
    list(x = missing(x), y = missing(y), k = missing(k)),
    list(
      x = "pass the features, a matrix or data frame with observations in rows.",
      y = "pass the class of each observation.",
      k = "pass the number of features to select."
    )
  )
  criteria <- c("JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI")
  criterion <- check_choice(criterion, criteria, "criterion")
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
  warn_text(x)
  features <- selection_features(x)
  n <- nrow(x)
  p <- ncol(x)
  y <- selection_classes(by_rows(y, x), n, bins, discretize)
  refuse_target(x, features, y)
  kept_levels <- if (is.null(bins)) most_codes(n, if (is.factor(y)) nlevels(y)) else 0L
  bins <- bins %||% default_bins(n, if (is.factor(y)) nlevels(y))
  k <- as.integer(check_number(
    k,
    "k",
    sprintf("use a whole number from 1 to %d, the number of columns of `x`.", p),
    1,
    p,
    whole = TRUE
  ))
  ensemble <- check_ensemble(ensemble, n)
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
    discretise = discretize,
    bins = bins,
    kept_levels = kept_levels,
    ensemble = unclass(ensemble)
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
  attr(call, "pcgpu") <- c(
    list(device = found$device),
    work_of(found$team, found$device),
    list(version = package_version())
  )
  if (!is.null(ensemble)) {
    found <- of_ensemble(found, ensemble, p)
  }
  names <- if (is.null(colnames(x))) as.character(found$index) else colnames(x)[found$index]
  cut <- rep(discretize != "none", length(found$index))
  if (features$kind == "columns") {
    cut <- cut & !vapply(features$x[found$index], is.factor, NA)
  }
  by_row <- found$levels == n
  warn_unique(names[by_row], fewer_bins = any(cut[by_row]) && n > 2L)
  warn_sparse(found$levels, found$classes, n, cut)
  structure(
    class = "pcgpu_selection",
    c(
      list(index = found$index, names = names, score = found$score, relevance = found$relevance, levels = found$levels),
      found[c("frequency", "rank")[!is.null(ensemble)]],
      list(
        criterion = criterion,
        bins = bins,
        discretize = discretize,
        features = p,
        observations = n,
        classes = found$classes,
        device = found$device
      ),
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
  !here || criterion != "MIM" && as.double(n) * p >= shared_cells && as.double(n) * p * k >= shared_counts
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

# Turns Rust's result for an ensemble into the form of a single selection.
of_ensemble <- function(found, ensemble, p) {
  ensemble$first <- NULL
  index <- matrix(found$index, ncol = ensemble$replicates)
  together <- aggregate_selections(index, found$score, p, ensemble$aggregate)
  ensemble <- c(
    unclass(ensemble),
    list(draw = found$draw, index = index, frequency = together$all, stability = selection_stability(index, p))
  )
  list(
    index = together$index,
    score = together$score,
    relevance = found$relevance[together$index],
    levels = found$levels[together$index],
    frequency = together$frequency,
    rank = together$rank,
    classes = found$classes,
    device = found$device,
    ensemble = ensemble
  )
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

#' @exportS3Method print pcgpu_selection
print.pcgpu_selection <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_selection")
  check_object(x)
  say_lines(sprintf(
    "%s of %s features by %s (%s observations, %s classes)",
    in_words(length(x$index)),
    in_words(x$features),
    x$criterion,
    in_words(x$observations),
    in_words(x$classes)
  ))
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
    index = x$index,
    name = x$names,
    score = x$score,
    relevance = x$relevance,
    levels = x$levels,
    stringsAsFactors = FALSE
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
  high <- if (few) {
    min(
      max(4.5, max(0, graphics::strwidth(x$names, units = "inches", cex = 0.8)) / graphics::par("csi") + 1.5),
      0.4 * graphics::par("fin")[2L] / graphics::par("csi")
    )
  } else {
    4.5
  }
  graphics::par(mar = c(high, 4.5, if (is.null(main)) 1 else 3, 1))
  graphics::par(new = TRUE)
  unit <- if (x$criterion == "DISR") "" else " (bits)"
  single <- is.null(x$ensemble)
  height <- if (single) x$score else x$frequency
  # Leave room for the legend above the highest bar.
  limits <- if (single) range(0, height, x$relevance) else c(0, 1)
  if (single) {
    limits[2L] <- limits[2L] + 0.2 * diff(limits)
  }
  draw_with(
    graphics::plot,
    list(
      x = seq_len(k),
      y = height,
      type = "h",
      lwd = if (few) 4 else 1,
      col = node_look$border,
      ylim = limits,
      las = 1,
      xaxt = if (few) "n" else "s",
      xlab = if (few) {
        ""
      } else if (single) {
        "Order of selection"
      } else {
        "Order"
      },
      ylab = if (single) paste0(x$criterion, unit) else sprintf("Share of %d samples", x$ensemble$replicates),
      main = main %||% ""
    ),
    list(...)
  )
  if (single) {
    graphics::points(seq_len(k), x$relevance, pch = 21, bg = "white", col = "#C0392B", cex = if (few) 1 else 0.6)
  }
  graphics::abline(h = 0, col = "#7A7A7A")
  if (few) {
    graphics::axis(1, at = seq_len(k), labels = x$names, las = 2, cex.axis = 0.8)
  }
  if (single) {
    graphics::legend(
      "topright",
      legend = c("score when selected", "I(f; y)"),
      lty = c(1, NA),
      lwd = c(4, NA),
      pch = c(NA, 21),
      col = c(node_look$border, "#C0392B"),
      bty = "n",
      horiz = TRUE
    )
  }
  invisible(x)
}

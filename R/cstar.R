#' Causal stability ranking
#'
#' Ranks pairs of variables by how stable a strong causal effect of one on the other is (CStaR; Stekhoven and others
#' 2012). It computes the lower bounds of [causal_effects()] (IDA) in many samples of half of the rows, and ranks pairs
#' by how often they are among the top ones. The ranking helps to choose experiments among many candidates: a cause that
#' is strong in most samples is a better choice than one that is strong only in the graph of all rows.
#'
#' In each sample [pc()] learns a CPDAG, and the smallest absolute value of a pair's possible effects is its lower bound. For a number q, a pair is selected
#' in a sample if its bound is above 0 and among the q largest. The share of samples in which it is selected is \eqn{\Pi(q)}. For each q, pairs are ranked by
#' this share, with mean ranks for ties; the *summary rank* is the median of these ranks.
#'
#' By Meinshausen and Buehlmann (2010), among the pairs whose share reaches \eqn{\Pi > 1/2}, out of all P pairs, the expected number of false ones is at most
#' \eqn{q^2 / ((2 \Pi - 1) P)}. Divided by P, this bounds the per-comparison error rate (PCER); the largest bound over all q is reported. A pair whose share is
#' at most one half for some q has no bound (1).
#'
#' Samples are those of [stability()] with `how = "subsample"`. They depend on the seed alone, and a column that is
#' constant in a sample has no effect there. One number is kept for each pair and sample, 8 bytes each.
#'
#' @param data The data: a matrix or data frame with observations in rows, anything else that [suff_gauss()] reads, or
#'   the result of `suff_gauss(keep = "data")`. In a data frame, factors, text and logicals with two levels count as 0
#'   and 1, in the tests and in the effects; see *Factors* in [causal_effects()]. Other factors are an error, because
#'   effects of different units cannot be ranked.
#' @param alpha As in [pc()]; the test is [gaussCItest()].
#' @param x,y Names or numbers of the possible causes (`x`) and of the variables that they may affect (`y`); all by
#'   default. A variable paired with itself is left out.
#' @param ... Further arguments of [pc()], as in [stability()].
#' @param q Numbers of pairs that are selected in each sample: whole numbers from 1 to the number of pairs. `NULL` means
#'   1, 2, 5 and 10 % of the pairs.
#' @param standardize Measure effects in standard deviations, so that variables with different units can be compared?
#'   Otherwise an effect is the change in y per unit of x.
#' @param replicates,size,seed,cluster,tiers,forbidden,required,context.all,context.tier,device,numCores,progress,control
#'   As in [stability()]. The error bounds hold for samples
#'   of half of the rows and are `NA` for any other `size`.
#' @return An object of class `pcgpu_cstar`. It has methods for
#'   - `print()`;
#'   - `summary()`: for each q, the number of pairs with a share above one half, equal to 1, and equal to 0;
#'   - `plot()`: the shares of the top pairs for each q;
#'   - `as.data.frame(x, n = Inf)`: one row for each pair, or for the first `n`, by summary rank and then by median
#'     effect, with these columns:
#'
#' \describe{
#'   \item{`x`, `y`}{names of the variables;}
#'   \item{`rank`}{the summary rank;}
#'   \item{`frequency`}{the median of the shares over q;}
#'   \item{`effect`}{the median of the lower bounds over the samples;}
#'   \item{`all_rows`}{the lower bound in the graph of all rows;}
#'   \item{`pcer`}{the largest bound on the per-comparison error rate.}
#' }
#' The object is a list. Its elements are:
#' - `pairs`: a data frame as above, with numbers of variables instead of names, in the order of `x`, then `y`;
#' - `frequency`: the shares, with a row for each pair and a column for each q;
#' - `fit`: the result of `pc()` on all rows;
#' - `q`, `labels`, `replicates`, `how`, `size`, `n`, `seed`, `alpha`, `standardize`, `device` and `call`.
#'
#' Errors are those of [stability()].
#' @seealso [causal_effects()] for the effects themselves, [stability()] for the edges.
#' @references
#' D. J. Stekhoven, I. Moraes, G. Sveinbjoernsson, L. Hennig, M. H. Maathuis and P. Buehlmann (2012). Causal stability
#' ranking. *Bioinformatics* 28(21), 2819-2823.
#'
#' N. Meinshausen and P. Buehlmann (2010). Stability selection. *Journal of the Royal Statistical Society, Series B*
#' 72(4), 417-473.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(100 * 20), 100, dimnames = list(NULL, paste0("gene", 1:20)))
#' growth <- x[, 3] - 0.8 * x[, 7] + rnorm(100)
#' ranked <- cstar(cbind(x, growth), alpha = 0.05, y = "growth", replicates = 50, numCores = 2)
#' ranked
#' plot(ranked)
#' @export
cstar <- function(
  data,
  alpha,
  x = NULL,
  y = NULL,
  ...,
  q = NULL,
  standardize = FALSE,
  replicates = 100,
  size = NULL,
  seed = NULL,
  cluster = NULL,
  tiers = NULL,
  forbidden = NULL,
  required = NULL,
  context.all = NULL,
  context.tier = NULL,
  device = "auto",
  numCores,
  progress = NULL,
  control = pc_control()
) {
  if (!is.null(taught <- taught_call(arguments_of_search("pc")))) {
    return(eval(taught, parent.frame()))
  }
  call <- match.call()
  check_given(
    list(data = missing(data), alpha = missing(alpha)),
    list(data = "give the observations, in rows.", alpha = "give the significance level, for instance alpha = 0.01.")
  )
  passed <- check_passed(list(...), control, "cstar", c("cluster", knowledge_arguments))
  given <- passed$given
  control <- passed$control
  replicates <- check_whole(replicates, "replicates", 1, 1e5)
  standardize <- check_flag(standardize, "standardize")
  if (is_completed(data)) {
    abort_argument(
      "data",
      data,
      "give one of them.",
      is = "a list of imputed data sets, but samples are drawn from the rows of one"
    )
  }
  if (have_order(data)) {
    abort_argument(
      "data",
      data,
      "make them numbers, with as.integer().",
      has = "ordered factors, whose effects have no unit"
    )
  }
  check_level(alpha)
  numbers <- if (is.data.frame(data)) {
    levels_as_numbers(read_data(data, "data"), FALSE, "merge the levels to two, or leave the column out.")
  } else {
    data
  }
  source <- resampling_source(numbers, gaussCItest, NULL)
  control <- with_tiers_of_lags(control, data, given, source)
  resampled <- check_resampling("subsample", size, seed, source, replicates)
  threads <- resolve_threads(if (!missing(numCores)) numCores)
  workers <- if (!is.null(control$cluster)) worker_source(control$cluster)
  if (is.null(workers)) {
    device <- check_device(device)
  }
  fit <- fit_all_rows(source, alpha, given, control, if (is.null(workers)) device else "auto", threads, resampled$seed)
  problem <- resampling_problem(source, alpha, given, control, fit, threads)
  labels <- problem$labels
  x <- check_variables(x, labels, "x")
  y <- check_variables(y, labels, "y")
  pairs <- data.frame(x = rep(x, each = length(y)), y = rep(y, length(x)))
  others <- pairs$x != pairs$y
  if (!any(others)) {
    abort_argument("y", labels[y], "give a variable other than `x`.")
  }
  q <- check_tops(q, sum(others))
  problem$effects <- list(
    method = "local",
    type = if (is.null(problem$options$knowledge)) "cpdag" else "pdag",
    x = x,
    y = y,
    y_notparent = FALSE,
    standardised = standardize
  )
  bar <- progress_reporter(progress, label = function(level, edges) sprintf("Searching %.0f samples", replicates))
  on.exit(bar$close())
  found <- if (is.null(workers)) {
    bound_effects(problem, resampled, device, threads, bar$report)
  } else {
    opened <- workers()
    bounds_on_workers(opened, problem, resampled, device, threads, bar$report)
  }
  bar$close()
  tell_lost(found$lost)
  attr(call, "pcgpu") <- c(
    list(device = found$device),
    work_of(found$team, found$device),
    list(version = package_version())
  )
  shares <- top_shares(found$bounds, others, q)
  pairs <- pairs[others, ]
  rownames(pairs) <- NULL
  ranks <- apply(-shares, 2L, rank)
  pairs$rank <- apply(matrix(ranks, nrow(pairs)), 1L, stats::median)
  pairs$frequency <- apply(shares, 1L, stats::median)
  pairs$effect <- apply(found$bounds, 1L, stats::median)[others]
  pairs$all_rows <- bounds_of_all(source, fit, problem$effects, standardize, threads)[others]
  pairs$pcer <- if (resampled$halves) largest_error(shares, q) else NA_real_
  structure(
    class = "pcgpu_cstar",
    list(
      pairs = pairs,
      frequency = shares,
      q = q,
      labels = labels,
      fit = fit,
      replicates = resampled$replicates,
      how = "subsample",
      size = resampled$size,
      n = source$n,
      seed = resampled$seed,
      alpha = problem$options$alpha,
      standardize = standardize,
      device = found$device,
      call = call
    )
  )
}

# Checks `q`, the numbers of pairs that are selected in each sample.
check_tops <- function(q, pairs) {
  if (is.null(q)) {
    return(unique(pmax(1, round(c(0.01, 0.02, 0.05, 0.1) * pairs))))
  }
  if (!is.numeric(q) || !length(q) || anyNA(q) || any(q < 1 | q > pairs | q != floor(q)) || anyDuplicated(q)) {
    abort_argument("q", q, sprintf("give distinct whole numbers from 1 to %s, the number of pairs.", in_words(pairs)))
  }
  sort(as.double(q))
}

# Computes the lower bounds on this machine: list(bounds, device), with a row of `bounds` for each pair and a column for
# each sample.
bound_effects <- function(problem, resampled, device, threads, report = NULL, gpu = identity) {
  test <- problem$test
  p <- problem$options$p
  device <- choose_device(device, test, p, order_of_tests(test, problem$options), several = gpus_pay(test, p))
  check_rust(on_device(gpu(device), threads, function(engine) {
    rust_stable_effects(
      test,
      problem$options,
      problem$orient,
      resampled,
      problem$effects,
      engine,
      list(progress = report)
    )
  }))
}

# Returns the lower bounds in the graph of all rows, in the order of bound_effects().
bounds_of_all <- function(source, fit, asked, standardize, threads) {
  data <- source$suffStat
  C <- unname(data$C)
  if (!standardize) {
    centred <- check_kept_data(data$data)
    s <- vapply(seq_len(ncol(centred)), function(j) sqrt(sum(centred[, j]^2) / (data$n - 1)), 0)
    C <- C * s * rep(s, each = length(s))
  }
  asked <- c(asked, list(smallest = TRUE))
  found <- check_rust(rust_effects(edges_of(fit)$edges, asked, C, engine_list(new_device("cpu"), threads), list()))
  bounds <- as.vector(found$smallest)
  bounds[is.na(bounds)] <- 0
  bounds
}

# Returns for each pair and q the share of samples in which the pair's bound is above 0 and among the q largest. Among
# equal bounds the first pairs win.
top_shares <- function(bounds, others, q) {
  of_pair <- which(others)
  counts <- matrix(0, length(of_pair), length(q))
  for (b in seq_len(ncol(bounds))) {
    column <- bounds[of_pair, b]
    top <- utils::head(order(-column), max(q))
    top <- top[column[top] > 0]
    for (k in seq_along(q)) {
      at <- utils::head(top, q[k])
      counts[at, k] <- counts[at, k] + 1
    }
  }
  counts / ncol(bounds)
}

# Returns Meinshausen and Buehlmann's bound on the share of false pairs, the largest over q; 1 if there is no bound.
largest_error <- function(shares, q) {
  P <- nrow(shares)
  of_q <- vapply(
    seq_along(q),
    function(k) {
      share <- shares[, k]
      ifelse(share > 0.5, pmin(1, q[k]^2 / ((2 * share - 1) * P^2)), 1)
    },
    numeric(P)
  )
  apply(matrix(of_q, P), 1L, max)
}

#' @exportS3Method as.data.frame pcgpu_cstar
as.data.frame.pcgpu_cstar <- function(x, row.names = NULL, optional = FALSE, ..., n = Inf) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_cstar")
  check_object(x)
  check_rows_shown(n)
  frame <- x$pairs[utils::head(order(x$pairs$rank, -x$pairs$effect), n), ]
  frame$x <- x$labels[frame$x]
  frame$y <- x$labels[frame$y]
  rownames(frame) <- NULL
  frame
}

#' @exportS3Method print pcgpu_cstar
print.pcgpu_cstar <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_cstar")
  check_object(x)
  say_lines(sprintf(
    "Causal stability ranking of %s: %s (each %s of %s rows), %s variables, alpha = %s; top q = %s",
    counted(nrow(x$pairs), "pair"),
    counted(x$replicates, "sample"),
    in_words(x$size),
    in_words(x$n),
    in_words(length(x$labels)),
    format(x$alpha),
    paste(in_words(x$q), collapse = ", ")
  ))
  say_lines(sprintf("Effects are in %s", if (x$standardize) "standard deviations" else "units of the data"))
  print_frame(as.data.frame(x, n = n), given, 3L, row.names = FALSE)
  if (nrow(x$pairs) > n) {
    say_lines(sprintf("... and %s", counted(nrow(x$pairs) - n, "more pair")))
  }
  invisible(x)
}

#' @exportS3Method summary pcgpu_cstar
summary.pcgpu_cstar <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_cstar")
  check_object(object)
  data.frame(
    q = object$q,
    above_half = colSums(object$frequency > 0.5),
    always = colSums(object$frequency == 1),
    never = colSums(object$frequency == 0),
    row.names = NULL
  )
}

#' @exportS3Method plot pcgpu_cstar
plot.pcgpu_cstar <- function(x, n = 20L, main = NULL, ...) {
  given <- check_dots(list(...), graphical_takes, "plot.pcgpu_cstar")
  check_object(x)
  check_rows_shown(n)
  n <- min(n, nrow(x$pairs))
  if (n < 1) {
    draw_nothing(main, "No pairs to show")
    return(invisible(x))
  }
  top <- utils::head(order(x$pairs$rank, -x$pairs$effect), n)
  several <- length(unique(x$pairs$y)) > 1L
  names <- x$labels[x$pairs$x[top]]
  if (several) {
    names <- paste(names, x$labels[x$pairs$y[top]], sep = " on ")
  }
  old <- graphics::par("mar")
  on.exit(graphics::par(mar = old))
  graphics::plot.new()
  label_margins(names, main)
  graphics::par(new = TRUE)
  colours <- grDevices::hcl.colors(max(2L, length(x$q)), "Blues 3")[seq_along(x$q)]
  draw_with(
    graphics::plot,
    list(
      x = 0,
      y = 0,
      type = "n",
      xlim = c(0, 1),
      ylim = c(n + 0.5, 0.5),
      yaxt = "n",
      xlab = sprintf("Share of %s samples", in_words(x$replicates)),
      ylab = "",
      main = main %||% ""
    ),
    list(...)
  )
  graphics::abline(v = 0.5, lty = 2, col = "#C0392B")
  graphics::segments(0, seq_len(n), 1, seq_len(n), col = "#E4E4E4")
  for (k in rev(seq_along(x$q))) {
    graphics::points(x$frequency[top, k], seq_len(n), pch = 21, bg = colours[k], col = node_look$border)
  }
  graphics::axis(2, at = seq_len(n), labels = names, las = 1, cex.axis = 0.8, tick = FALSE)
  legend_above(
    legend = c(paste("among the top", in_words(x$q)), "half of the samples"),
    pch = c(rep(21, length(x$q)), NA),
    pt.bg = c(colours, NA),
    col = c(rep(node_look$border, length(x$q)), "#C0392B"),
    lty = c(rep(NA, length(x$q)), 2)
  )
  invisible(x)
}

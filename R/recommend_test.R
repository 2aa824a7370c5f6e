#' Which test suits the data
#'
#' Looks at the columns of a table and recommends a conditional independence test for [pc()] and its relatives, with the
#' reason. Other tests that take such columns follow, with what speaks for and against them.
#'
#' Numbers call for [gaussCItest()] unless they are related in curves that no monotone scale makes straight, such as
#' squares and sines. Up to 50 pairs of numbers are looked at, in up to 500 rows spread over the table. Normal scores of
#' each variable are regressed on those of the other. A pair is curved if the square and the cube improve the fit at
#' level 0.01, divided by the number of regressions. A linear test then finds edges that a common cause explains, and
#' a kernel test is recommended: [kciCItest()] for up to 500 rows and 50 variables, [rcotCItest()] for more. With fewer
#' than 50 rows, curves are not looked for, because no test here could use them.
#'
#' @param data Observations in rows, variables in columns: what [pc()] takes as data.
#' @param alpha The level for `seconds`.
#' @param seconds How long to try each test, in seconds, by [plan_search()]. With 0, nothing is tried.
#' @param ... Further arguments of [plan_search()], such as `numCores`, `device` or `m.max`.
#' @return A data frame of class `pcgpu_tests` with a row for each test, the recommended one first:
#'   - `test`: its name, as `indepTest` of [pc()] takes it;
#'   - `recommended`: `TRUE` in the first row;
#'   - `reason`;
#'   - `seconds`: the estimated seconds of the levels that [plan_search()] began, or `NA`.
#'
#'   Its attribute `about` is a list: `samples`, `variables`, `numeric` (how many are numbers), `missing` (their share of
#'   the values), and `curved`, a data frame of the pairs that are curved: `x`, `y` and `p`.
#'
#'   Errors have the class `pcgpu_error_argument`.
#' @seealso [pc()], whose `indepTest` may be one of these names; [plan_search()].
#' @examples
#' set.seed(1)
#' cause <- rnorm(300)
#' x <- data.frame(a = cause, b = cause^2 + rnorm(300) / 2, c = cause^2 + rnorm(300) / 2)
#' recommend_test(x)
#' pc(x, "kci", alpha = 0.01, numCores = 2)
#' @export
recommend_test <- function(data, alpha = 0.01, seconds = 0, ...) {
  of_search <- setdiff(c(search_arguments_of(pc), search_arguments_of(skeleton)), c("suffStat", "indepTest", "alpha"))
  of_search <- c(of_search, "control", control_arguments())
  if (!is.null(taught <- taught_call(of_search))) {
    return(eval(taught, parent.frame()))
  }
  check_number(seconds, "seconds", "give a number of seconds, or 0.", least = 0)
  check_level(alpha)
  check_dots(list(...), of_search, "recommend_test")
  refuse_columns(data, "data")
  x <- read_table(data, "data", counts = TRUE)
  if (!is.data.frame(x) && !(is.matrix(x) && is.atomic(x))) {
    abort_argument("data", data, "use a data frame or matrix with observations in rows.")
  }
  if (is.data.frame(x)) {
    x <- without_identifiers(x)
  }
  if (ncol(x) < 2L || nrow(x) < 2L) {
    abort_argument("data", data, "use at least two observations in rows and two variables in columns.")
  }
  about <- about_columns(x)
  found <- tests_for(about)
  found <- data.frame(
    test = names(found),
    recommended = seq_along(found) == 1L,
    reason = unname(found),
    seconds = if (seconds > 0) {
      vapply(names(found), function(name) seconds_of(x, name, alpha, seconds, ...), 0, USE.NAMES = FALSE)
    } else {
      NA_real_
    }
  )
  structure(found, class = c("pcgpu_tests", "data.frame"), about = about)
}

# Most pairs, and most rows, that are looked at for curves; with fewer rows than the last number, none are.
curves <- c(pairs = 50L, rows = 500L, least = 50L)

# Returns what determines the choice of a test; see the value of recommend_test().
about_columns <- function(x) {
  numeric <- rep_len(numeric_columns(x), ncol(x))
  list(
    samples = nrow(x),
    variables = ncol(x),
    numeric = sum(numeric),
    missing = share_missing(x),
    ordered = have_order(x),
    binary = !any(numeric) && all(vapply(seq_len(ncol(x)), function(j) length(unique(column_of(x, j))) <= 2L, NA)),
    curved = curved_pairs(x, which(numeric))
  )
}

# Returns the pairs of these numeric columns that are curved: a data frame of x, y and p.
curved_pairs <- function(x, columns) {
  none <- data.frame(x = character(), y = character(), p = double())
  if (nrow(x) < curves[["least"]] || length(columns) < 2L) {
    return(none)
  }
  rows <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), curves[["rows"]]))))
  # Spread over the columns, the same at each call; in large tables each with one of the next ten columns.
  count <- length(columns)
  pairs <- if (choose(count, 2) <= curves[["pairs"]]) {
    t(utils::combn(count, 2L))
  } else {
    first <- round(seq(1, count, length.out = curves[["pairs"]] + 1L))[-1L]
    cbind(first, (first + (seq_along(first) - 1L) %% min(10L, count - 1L)) %% count + 1)
  }
  used <- sort(unique(c(pairs)))
  scores <- lapply(used, function(at) normal_scores(as.double(x[rows, columns[at], drop = TRUE])))
  scores_of <- function(at) scores[[match(at, used)]]
  p <- apply(pairs, 1L, function(pair) {
    min(p_of_curve(scores_of(pair[1L]), scores_of(pair[2L])), p_of_curve(scores_of(pair[2L]), scores_of(pair[1L])))
  })
  curved <- !is.na(p) & p < 0.01 / (2 * nrow(pairs))
  names <- colnames(x) %||% as.character(seq_len(ncol(x)))
  found <- data.frame(x = names[columns[pairs[, 1L]]], y = names[columns[pairs[, 2L]]], p = p)[curved, ]
  found <- found[order(found$p), ]
  rownames(found) <- NULL
  found
}

# Returns a sentence for the message about numeric data if some pairs are curved, else NULL.
advice_on_curves <- function(x) {
  found <- curved_pairs(x, seq_len(ncol(x)))
  if (nrow(found)) {
    sprintf(
      " Some pairs are curved, such as %s and %s: consider indepTest = \"%s\" (see recommend_test()).",
      found$x[1L],
      found$y[1L],
      sub("CItest$", "", test_of_curves(nrow(x), ncol(x)))
    )
  }
}

# Returns the name of the test for curves. KCI finds them in the fewest rows (bench/tests.R), and within these limits a
# search with it takes seconds. RCIT finds more than RCoT in some single tests, but fewer edges in graphs (the vignette
# on tests).
test_of_curves <- function(samples, variables) {
  if (samples <= 500 && variables <= 50) "kciCItest" else "rcotCItest"
}

normal_scores <- function(x) {
  stats::qnorm((rank(x, na.last = "keep") - 0.5) / sum(!is.na(x)))
}

# Returns p for the square and the cube of x in a regression of y on x; NA if x has too few values.
p_of_curve <- function(x, y) {
  has <- !is.na(x) & !is.na(y)
  x <- x[has]
  y <- y[has]
  degrees <- length(y) - 4L
  if (degrees < 10L) {
    return(NA_real_)
  }
  fit <- stats::.lm.fit(cbind(1, x, x^2, x^3), y)
  left <- sum(fit$effects[-(1:4)]^2)
  if (fit$rank < 4L || left <= 0) {
    return(NA_real_)
  }
  stats::pf(sum(fit$effects[3:4]^2) / 2 / (left / degrees), 2, degrees, lower.tail = FALSE)
}

# Returns the reasons by test, the recommended test first.
tests_for <- function(about) {
  curved <- nrow(about$curved) > 0L
  shape <- if (curved) {
    sprintf(
      "%s curved, such as %s and %s: a linear test would find edges that a common cause explains",
      if (nrow(about$curved) == 1L) "a pair is" else sprintf("%d pairs are", nrow(about$curved)),
      about$curved$x[1L],
      about$curved$y[1L]
    )
  } else if (about$samples < curves[["least"]]) {
    "too few rows to look for curves"
  } else if (about$numeric < 2L) {
    "no pair of numbers"
  } else {
    "no pair that was looked at is curved"
  }
  only <- about$variables == about$numeric
  nearest <- "finds any dependence, by permutations: slower by orders of magnitude"
  holes <- about$missing > 0
  found <- if (about$numeric == 0L) {
    c(
      stats::setNames("all variables are discrete: G-squared", if (holes) "disCItwd" else "disCItest"),
      if (!holes) c(chi2CItest = "Pearson's chi-squared: closer to its level where cells are few"),
      if (about$binary && !holes) {
        c(binCItest = "the same as disCItest() for two levels, with pcalg's limits on small samples")
      }
    )
  } else {
    linear <- name_by_kinds(
      rep(c(TRUE, FALSE), c(about$numeric, about$variables - about$numeric)),
      if (holes) "gaussCItwd" else "gaussCItest",
      "",
      if (holes) "mixCItwd" else "mixCItest"
    )
    said <- c(
      stats::setNames(
        if (only) "partial correlations: the quickest" else "numbers and levels: likelihood ratio",
        linear
      ),
      kciCItest = if (about$samples <= 2000) "whole kernels: finds curves in the fewest rows",
      rcotCItest = "random features: finds curves, too",
      if (!holes) stats::setNames(nearest, if (only) "cmiKnnCItest" else "mixedCItest")
    )
    first <- if (curved) test_of_curves(about$samples, about$variables) else linear
    said[first] <- paste0(shape, "; ", said[[first]])
    said[c(first, setdiff(names(said), first))]
  }
  if (about$ordered && !holes) {
    said <- "ordered factors as parts of normal variables: polychoric correlations"
    return(c(gaussCItest = said, found[names(found) != "gaussCItest"]))
  }
  if (holes) {
    found[1L] <- sprintf("%s; each test omits the rows that lack one of its variables", found[[1L]])
  }
  found
}

# Returns the estimated seconds of the levels that a search by this test begins within `seconds`.
seconds_of <- function(x, name, alpha, seconds, ...) {
  plan <- suppressMessages(plan_search(x, name, alpha, ..., seconds = seconds))
  sum(plan$levels$seconds, na.rm = TRUE)
}

#' @export
print.pcgpu_tests <- function(x, ...) {
  check_dots(list(...), character(), "print.pcgpu_tests")
  about <- attr(x, "about")
  if (is.null(about)) {
    # Some of the columns or rows, chosen by `[`.
    return(invisible(NextMethod()))
  }
  cat(sprintf(
    "%s, %s, %d of them numeric\n",
    counted(about$samples, "sample"),
    counted(about$variables, "variable"),
    about$numeric
  ))
  time <- ifelse(is.na(x$seconds), "", sprintf(" (about %s s)", format(x$seconds, digits = 2L)))
  said <- strwrap(sprintf("%s%s: %s", x$test, time, x$reason), indent = 2L, exdent = 4L, simplify = FALSE)
  for (at in which(x$recommended)) {
    substr(said[[at]][1L], 1L, 1L) <- "*"
  }
  cat(unlist(said), sep = "\n")
  invisible(x)
}

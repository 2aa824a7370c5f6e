# stability() of fci() and its relatives: counts of the marks of edges, and the averaged PAG.

# The kinds of edges as seen from the first variable of a pair: by the mark there (circle, arrowhead, tail), then by the
# mark at the other end.
kinds_of_pair <- paste0(rep(c("o", "<", "-"), each = 3L), "-", rep(c("o", ">", "-"), 3L))
first_mark <- rep(1:3, each = 3L)
second_mark <- rep(1:3, 3L)

searches <- c("pc", "fci", "rfci", "fciPlus")

# Refuses arguments of stability() that only other searches have.
refuse_of_others <- function(method, given, control, cluster, false_edges) {
  own <- c(arguments_of_search(method), if (method == "pc") knowledge_arguments else fci_control)
  others <- setdiff(c(unlist(lapply(searches, arguments_of_search)), knowledge_arguments), own)
  asked <- c(given, control_given(control), cluster = list(cluster), false_edges = list(false_edges))
  asked <- asked[!vapply(asked, is.null, NA)]
  bad <- intersect(names(asked), c(others, if (method != "pc") c("cluster", "false_edges")))
  if (length(bad)) {
    hint <- if (bad[1L] == "cluster") "leave it out; each search uses all threads." else "leave it out."
    is <- sprintf("not available with method = %s", dQuote(method, FALSE))
    abort_argument(bad[1L], asked[[bad[1L]]], hint, is = is)
  }
}

# Returns how often each pair has an edge of each kind: a data frame of x < y and `kinds_of_pair`. search: a function that
# searches a sample, given its statistic and its number.
count_marks <- function(source, resampled, search, report) {
  restore <- random_state()
  on.exit(restore())
  p <- NULL
  pairs <- numeric()
  counts <- matrix(0L, 0L, 9L)
  for (replicate in seq_len(resampled$replicates)) {
    if (!is.null(report)) {
      report(0, replicate - 1, resampled$replicates, 0)
    }
    rows <- check_rust(rust_ensemble_rows(resampled$n, resampled, replicate, 0L))
    # The random numbers that `make` draws depend on the sample alone, too.
    stream_of(resampled$seed, replicate, 0L, 0L, integer())
    # The search of all rows has given these messages and warnings.
    fit <- suppressMessages(
      suppressWarnings(
        search(suffStat = suff_of_sample(source, rows), replicate = replicate),
        classes = "pcgpu_warning"
      ),
      classes = "pcgpu_message"
    )
    amat <- attr(fit, "amat")
    p <- nrow(amat)
    at <- which(amat != 0 & upper.tri(amat))
    new <- setdiff(at, pairs)
    pairs <- c(pairs, new)
    counts <- rbind(counts, matrix(0L, length(new), 9L))
    cell <- cbind(match(at, pairs), (t(amat)[at] - 1) * 3 + amat[at])
    counts[cell] <- counts[cell] + 1L
  }
  x <- as.integer((pairs - 1) %% p + 1)
  y <- as.integer((pairs - 1) %/% p + 1)
  by <- order(x, y)
  colnames(counts) <- kinds_of_pair
  data.frame(x = x[by], y = y[by], counts[by, , drop = FALSE], check.names = FALSE)
}

# Returns the statistic of some rows.
suff_of_sample <- function(source, rows) {
  if (!is.null(source$rows)) {
    return(source$rows(rows))
  }
  suff <- source$suffStat
  if (is_kept(suff)) {
    return(treated_of_sample(check_kept_data(suff$data)[rows, , drop = FALSE], "pearson", NULL, list()))
  }
  if (is_completed(suff)) {
    suff <- mixed_sets(suff, mixed_test(source$indepTest))$sets
  }
  resampled_suff(suff, rows, source$n)
}

new_pag_stability <- function(counts, common, method, alpha, call) {
  attr(call, "pcgpu") <- list(device = run_details(common$fit)$device, version = package_version())
  structure(
    class = "pcgpu_pag_stability",
    c(
      list(counts = counts, labels = labels_of_pag(attr(common$fit, "amat")), method = method),
      common,
      list(alpha = alpha, threshold = NULL, kept = NULL, device = run_details(common$fit)$device, call = call)
    )
  )
}

with_average_pag <- function(x, wanted) {
  x <- with_threshold(x, wanted, TRUE)
  x$kept <- is_kept_edge(x)
  x
}

# Returns the most frequent kind of each pair's edge: its marks at x and y, and its share of the samples with the edge.
# Where the most frequent kinds have different marks at an end, the mark is a circle.
voted_marks <- function(x) {
  counts <- as.matrix(x$counts[-(1:2)])
  most <- do.call(pmax, unname(x$counts[-(1:2)]))
  tied <- counts == most
  one <- function(marks) {
    has <- vapply(1:3, function(mark) rowSums(tied[, marks == mark, drop = FALSE]) > 0, logical(nrow(tied)))
    has <- matrix(has, ncol = 3L)
    ifelse(rowSums(has) == 1, max.col(has, "first"), 1L)
  }
  list(x = one(first_mark), y = one(second_mark), share = most / rowSums(counts))
}

# Returns all pairs that are adjacent in at least one sample, in the form of table_by_marks(), with `turned` (whether x is
# `to`), strength and share.
pag_pairs <- function(x) {
  voted <- voted_marks(x)
  table <- table_by_marks(x$counts$x, x$counts$y, voted$x, voted$y)
  c(table, list(turned = table$from != x$counts$x, strength = strengths(x), share = voted$share))
}

# Returns the edges of the averaged PAG by strength, in the form of network_of().
network_of_stability <- function(x) {
  edges <- list2DF(pag_pairs(x)[c("from", "to", "kind", "strength", "share")])[x$kept, ]
  edges <- edges[order(-edges$strength), ]
  rownames(edges) <- NULL
  list(labels = x$labels, edges = edges, pag = TRUE)
}

# Returns the matrix of marks of the averaged PAG.
averaged_marks <- function(x) {
  voted <- voted_marks(x)
  at <- as.matrix(x$counts[c("x", "y")])[x$kept, , drop = FALSE]
  amat <- matrix(0, length(x$labels), length(x$labels), dimnames = list(x$labels, x$labels))
  amat[at] <- voted$y[x$kept]
  amat[at[, 2:1, drop = FALSE]] <- voted$x[x$kept]
  amat
}

#' @rdname averaged_cpdag
#' @export
averaged_pag <- function(x, threshold = NULL) {
  check_object(x)
  if (!inherits(x, "pcgpu_pag_stability")) {
    hint <- if (inherits(x, "pcgpu_stability")) {
      "averaged_cpdag() returns its graph."
    } else {
      "give a result of stability()."
    }
    abort_argument("x", x, hint)
  }
  if (!is.null(threshold)) {
    x <- with_average_pag(x, check_wanted(threshold, NULL, NULL))
  }
  call <- match.call()
  attr(call, "pcgpu") <- c(attr(x$call, "pcgpu"), list(algorithm = x$method))
  found <- list(amat = averaged_marks(x))
  fill_fci(empty_result("fciAlgo"), x$labels, found, list(algorithm = "fciPlus"), call, "stable")
}

methods::setOldClass("pcgpu_pag_stability")
methods::setMethod("edges", "pcgpu_pag_stability", edges_of_object)

#' @exportS3Method as.data.frame pcgpu_pag_stability
as.data.frame.pcgpu_pag_stability <- function(x, row.names = NULL, optional = FALSE, ..., n = Inf) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_pag_stability")
  check_object(x)
  check_rows_shown(n)
  pairs <- pag_pairs(x)
  counts <- as.matrix(x$counts[-(1:2)])
  # As seen from `from`.
  counts[pairs$turned, ] <- counts[pairs$turned, match(paste(second_mark, first_mark), paste(first_mark, second_mark))]
  marks <- lapply(list(from = first_mark, to = second_mark), function(marks) {
    of <- lapply(1:3, function(mark) as.integer(rowSums(counts[, marks == mark, drop = FALSE])))
    stats::setNames(of, c("circle", "arrow", "tail"))
  })
  by <- utils::head(order(-pairs$strength, x$counts$x, x$counts$y), n)
  frame <- data.frame(
    from = x$labels[pairs$from],
    to = x$labels[pairs$to],
    strength = pairs$strength,
    kind = pairs$kind,
    share = pairs$share,
    counts,
    from = marks$from,
    to = marks$to,
    fit = kinds_in_pag(attr(x$fit, "amat"), pairs$from, pairs$to),
    kept = x$kept,
    check.names = FALSE,
    stringsAsFactors = FALSE
  )
  frame <- frame[by, ]
  rownames(frame) <- NULL
  frame
}

# Returns the kind of the edge of each pair in a matrix of marks, as seen from `from`; "" for none.
kinds_in_pag <- function(amat, from, to) {
  at_from <- amat[cbind(to, from)]
  kind <- kinds_of_pair[(pmax(at_from, 1) - 1) * 3 + pmax(amat[cbind(from, to)], 1)]
  ifelse(at_from == 0, "", kind)
}

#' @exportS3Method print pcgpu_pag_stability
print.pcgpu_pag_stability <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_pag_stability")
  check_object(x)
  say_lines(pag_stability_lines(x))
  print_pairs(x, as.data.frame(x, n = n), c("from", "to", "strength", "kind", "share", "fit", "kept"), given)
  invisible(x)
}

pag_stability_lines <- function(x) {
  kinds <- table(factor(network_of_stability(x)$edges$kind, kinds_of_pag))
  kinds <- kinds[kinds > 0]
  c(
    stability_heads(x, sum(attr(x$fit, "amat") != 0) / 2, sprintf("Stability of edges of %s()", x$method)),
    paste0(threshold_text(x), sprintf(": %s kept", counted(sum(x$kept), "edge is", "edges are"))),
    if (length(kinds)) paste("Kinds of these edges:", paste(names(kinds), kinds, collapse = ", "))
  )
}

#' @exportS3Method summary pcgpu_pag_stability
summary.pcgpu_pag_stability <- function(object, ...) {
  check_dots(list(...), character(), "summary.pcgpu_pag_stability")
  check_object(object)
  in_fit <- kinds_in_pag(attr(object$fit, "amat"), object$counts$x, object$counts$y) != ""
  summary_of_strengths(object, pag_stability_lines(object), in_fit, sum(attr(object$fit, "amat") != 0) / 2)
}

#' @exportS3Method plot pcgpu_pag_stability
plot.pcgpu_pag_stability <- function(x, which = c("strength", "graph"), main = NULL, ...) {
  plot.pcgpu_stability(x, which, main, ...)
}

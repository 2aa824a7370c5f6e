# Methods for results of causal_effects().

one_effect <- function(chosen, of, labels, argument) {
  at <- match(check_variables(chosen, labels, argument), of)
  if (length(at) != 1L || is.na(at)) {
    abort_argument(
      argument,
      chosen,
      sprintf("give one of the variables in `%s` of the call of causal_effects().", argument)
    )
  }
  at
}

#' @export
`[.pcgpu_effects` <- function(x, i, j) {
  check_object(x)
  if (!is.null(x$smallest)) {
    abort_argument(
      "x",
      NULL,
      "call causal_effects() with keep = \"all\".",
      is = "a result of keep = \"smallest\", which does not store single effects"
    )
  }
  if (missing(i)) {
    abort_argument("i", NULL, "give one x: `effects[x, y]` or `effects[x, ]`.", is = "missing")
  }
  at <- one_effect(i, x$x, x$labels, "x")
  rows <- length(x$y)
  start <- rows * sum(as.double(x$columns[seq_len(at - 1L)]))
  if (missing(j)) {
    values <- x$values[start + seq_len(rows * x$columns[at])]
    return(matrix(values, rows, dimnames = list(x$labels[x$y], NULL)))
  }
  row <- one_effect(j, x$y, x$labels, "y")
  own <- which(x$own$x == at & x$own$y == row)
  if (length(own)) {
    return(x$own$values[sum(x$own$count[seq_len(own - 1L)]) + seq_len(x$own$count[own])])
  }
  x$values[start + row + rows * (seq_len(x$columns[at]) - 1)]
}

# Returns the number of pairs of different variables.
count_pairs <- function(x) as.double(length(x$x)) * length(x$y) - length(intersect(x$x, x$y))

# Checks the number of pairs that a table shows.
check_rows_shown <- function(n) check_number(n, "n", "give a number of rows, or Inf for all pairs.", 0)

#' @exportS3Method as.data.frame pcgpu_effects
as.data.frame.pcgpu_effects <- function(x, row.names = NULL, optional = FALSE, ..., n = Inf) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_effects")
  check_object(x)
  check_rows_shown(n)
  rows <- length(x$y)
  table <- if (is.null(x$smallest)) {
    check_rust(rust_effects_table(unclass(x), rows))
  } else {
    list(smallest = as.vector(x$smallest))
  }
  chosen <- ranked_pairs(table$smallest, x$x, x$y, n)
  frame <- data.frame(
    x = x$labels[x$x[(chosen - 1) %/% rows + 1]],
    y = x$labels[x$y[(chosen - 1) %% rows + 1]],
    smallest = table$smallest[chosen],
    stringsAsFactors = FALSE
  )
  if (is.null(x$smallest)) {
    ends <- extreme_effects(x, (chosen - 1) %/% rows + 1, (chosen - 1) %% rows + 1)
    frame$min <- ends$min
    frame$median <- table$median[chosen]
    frame$max <- ends$max
    frame$number <- as.integer(table$count[chosen])
  }
  frame
}

# Returns the least and the largest effect of each pair: list(min, max), NA if an effect is NA. at_x, at_y: places of
# the pairs' variables in x$x and x$y.
extreme_effects <- function(x, at_x, at_y) {
  rows <- length(x$y)
  start <- rows * cumsum(c(0, x$columns))
  found <- list(min = numeric(length(at_x)), max = numeric(length(at_x)))
  for (of in split(seq_along(at_x), at_x)) {
    at <- at_x[of[1L]]
    columns <- x$columns[at]
    values <- matrix(x$values[start[at] + seq_len(rows * columns)], rows)[at_y[of], , drop = FALSE]
    found$min[of] <- extreme_of_rows(values, pmin, min)
    found$max[of] <- extreme_of_rows(values, pmax, max)
  }
  own <- split(x$own$values, rep(seq_along(x$own$count), x$own$count))
  key <- function(at_x, at_y) at_x * (rows + 1) + at_y
  at <- match(key(at_x, at_y), key(x$own$x, x$own$y))
  is_own <- !is.na(at)
  found$min[is_own] <- vapply(own[at[is_own]], min, 0)
  found$max[is_own] <- vapply(own[at[is_own]], max, 0)
  found
}

# Returns the extreme of each row. A matrix may have millions of columns and few rows, or the other way round.
extreme_of_rows <- function(values, of_two, of_all) {
  if (ncol(values) > nrow(values)) {
    return(apply(values, 1L, of_all))
  }
  Reduce(function(found, column) of_two(found, values[, column]), seq_len(ncol(values))[-1L], values[, 1L])
}

# Returns a table of effects as it is printed: the bars say that `smallest` has no sign, unlike the columns after it.
printed_effects <- function(frame) {
  names(frame)[names(frame) == "smallest"] <- "|smallest|"
  frame
}

# Returns the places of the n largest values, without pairs of a variable with itself, NA last.
ranked_pairs <- function(smallest, x, y, n) {
  self <- match(x, y)
  self <- (seq_along(x) - 1) * length(y) + self
  self <- self[!is.na(self)]
  pairs <- length(smallest) - length(self)
  smallest[self] <- -Inf
  if (n < pairs) {
    # Sorts only values that reach the n-th largest.
    known <- smallest[!is.na(smallest)]
    if (n < length(known)) {
      least <- if (n < 1) Inf else -sort(-known, partial = n)[n]
      chosen <- which(smallest >= least)
      return(utils::head(chosen[order(-smallest[chosen])], n))
    }
  }
  # Pairs of a variable with itself come after all values except NA.
  ranked <- order(-smallest, na.last = TRUE)
  utils::head(ranked[!ranked %in% self], n)
}

#' @exportS3Method print pcgpu_effects
print.pcgpu_effects <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_effects")
  check_object(x)
  say_lines(sprintf(
    "Possible effects of %s on %s, method \"%s\"%s",
    counted(length(x$x), "variable"),
    counted(length(x$y), "variable"),
    x$method,
    if (x$valid) "" else sprintf(" (the graph is not a valid %s)", toupper(x$type))
  ))
  shown <- as.data.frame(x, n = n)
  print_frame(printed_effects(shown), given, 4L)
  left <- count_pairs(x) - nrow(shown)
  if (left > 0) {
    say_lines(sprintf("... and %s, in the order of their smallest absolute effect", counted(left, "more pair")))
  }
  invisible(x)
}

#' @exportS3Method summary pcgpu_effects
summary.pcgpu_effects <- function(object, n = 20L, ...) {
  check_dots(list(...), character(), "summary.pcgpu_effects")
  check_object(object)
  table <- as.data.frame(object)
  structure(
    class = "summary.pcgpu_effects",
    list(
      pairs = nrow(table),
      effects = if (!is.null(table$number)) sum(as.double(table$number)),
      several = sum(table$number > 1),
      zero = sum(table$smallest == 0, na.rm = TRUE),
      missing = sum(is.na(table$smallest)),
      quantiles = stats::quantile(table$smallest, c(0.5, 0.9, 0.99, 1), na.rm = TRUE),
      largest = utils::head(table, n),
      method = object$method,
      type = object$type,
      valid = object$valid
    )
  )
}

#' @exportS3Method print summary.pcgpu_effects
print.summary.pcgpu_effects <- function(x, ...) {
  given <- check_dots(list(...), frame_takes, "print.summary.pcgpu_effects")
  say_lines(sprintf("Method \"%s\" on a %s%s", x$method, toupper(x$type), if (x$valid) "" else " that is not valid"))
  effects <- if (!is.null(x$effects)) {
    sprintf(", %s in total; pairs with several effects: %s", counted(x$effects, "effect"), in_words(x$several))
  }
  say_lines(paste0(counted(x$pairs, "pair"), effects))
  say_lines(sprintf(
    "Smallest absolute effect: 0 for %s, NA for %s; quantiles:",
    counted(x$zero, "pair"),
    in_words(x$missing)
  ))
  print(x$quantiles, digits = given$digits %||% 4L)
  print_frame(printed_effects(x$largest), given, 4L)
  invisible(x)
}

#' @export
`[.pcgpu_joint_effects` <- function(x, i, j) {
  check_object(x)
  if (missing(j)) {
    abort_argument("j", NULL, "give one y: `effects[, y]` or `effects[x, y]`.", is = "missing")
  }
  of_y <- x$effects[,, one_effect(j, x$y, x$labels, "y")]
  of_y <- matrix(of_y, length(x$x), dimnames = list(x$labels[x$x], NULL))
  if (missing(i)) of_y else unname(of_y[one_effect(i, x$x, x$labels, "x"), ])
}

#' @exportS3Method as.data.frame pcgpu_joint_effects
as.data.frame.pcgpu_joint_effects <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots(list(...), "stringsAsFactors", "as.data.frame.pcgpu_joint_effects")
  check_object(x)
  words <- function(effects) c(min(abs(effects)), min(effects), stats::median(effects), max(effects))
  extremes <- apply(x$effects, c(1L, 3L), words)
  frame <- data.frame(
    x = rep(x$labels[x$x], length(x$y)),
    y = rep(x$labels[x$y], each = length(x$x)),
    smallest = as.vector(extremes[1L, , ]),
    min = as.vector(extremes[2L, , ]),
    median = as.vector(extremes[3L, , ]),
    max = as.vector(extremes[4L, , ]),
    number = dim(x$effects)[2L],
    stringsAsFactors = FALSE
  )
  frame <- frame[frame$x != frame$y, ]
  frame <- frame[order(-frame$smallest), ]
  rownames(frame) <- NULL
  frame
}

#' @exportS3Method print pcgpu_joint_effects
print.pcgpu_joint_effects <- function(x, n = 10L, ...) {
  given <- check_dots(list(...), frame_takes, "print.pcgpu_joint_effects")
  check_object(x)
  say_lines(sprintf(
    "Joint effects of %s, %d joint sets of parents, %s",
    enumerate(x$labels[x$x]),
    dim(x$effects)[2L],
    if (is.null(x$technique)) "method \"optimal\"" else x$technique
  ))
  table <- as.data.frame(x)
  print_frame(printed_effects(utils::head(table, n)), given, 4L)
  if (nrow(table) > n) {
    say_lines(sprintf(
      "... and %s, in the order of their smallest absolute effect",
      counted(nrow(table) - n, "more pair")
    ))
  }
  invisible(x)
}

# Checks that an answer of a worker has the form that our own workers give it. A worker that sends anything else counts as lost, like one whose connection ends:
# another process may have taken its place, or its message may be damaged. (Rust checks raw messages by their checksums.)

unreadable <- "its answer cannot be read"

is_whole_number <- function(x) is_number(x) && x == floor(x)

# Checks an answer of rank_about().
is_about <- function(about) is.list(about) && is_text(about$host) && is_text(about$version)

# Checks an answer of rank_answer() in a task that Rust leads: raw, text if the worker is gone, or the condition of a test that failed.
is_answer <- function(answer) {
  if (inherits(answer, "pcgpu_rank_condition")) {
    is_place <- is_whole_number(answer$x) && is_whole_number(answer$y) && (is.null(answer$S) || is.numeric(answer$S))
    return(is_text(answer$message) && "pcgpu_error_test" %in% answer$class && is_place && (is.null(answer$parent) || is_condition(answer$parent)))
  }
  is_text(answer) || is.raw(answer) && is_said(attr(answer, "said"))
}

# Checks the attribute that with_said() adds.
is_said <- function(said) {
  is.null(said) || is.list(said) && (is.null(said$conditions) || is.list(said$conditions)) && all(vapply(said$conditions, function(one) {
    is.list(one) && is_condition(one$condition) && is_number(one$count)
  }, NA))
}

is_condition <- function(x) inherits(x, "condition") && is.list(x) && is_text(x$message)

# Checks whether a worker reports that its task ended with an error.
is_failure <- function(answer) inherits(answer, "pcgpu_rank_failed") && is.list(answer) && inherits(answer$condition, "pcgpu_error") && is_condition(answer$condition)

# Returns whether a list has these vectors, of these lengths, without missing values.
has_vectors <- function(x, lengths, is = is.numeric) {
  is.list(x) && all(vapply(names(lengths), function(name) is(x[[name]]) && length(x[[name]]) == lengths[[name]] && !anyNA(x[[name]]), NA))
}

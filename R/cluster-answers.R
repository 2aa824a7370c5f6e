# Whether an answer of a worker has the form that our own workers give it. Whoever sends another is lost, like one whose connection ends: its
# process may have been changed, or what it wrote damaged. (Rust checks what is raw by its sums.)

unreadable <- "its answer cannot be read"

is_whole_number <- function(x) is_number(x) && x == floor(x)

# rank_about()'s.
is_about <- function(about) is.list(about) && is_text(about$host) && is_text(about$version)

# rank_answer()'s in a task that Rust leads: raw, text where the worker is gone, or the condition of a test that failed.
is_answer <- function(answer) {
  if (inherits(answer, "pcgpu_rank_condition")) {
    is_place <- is_whole_number(answer$x) && is_whole_number(answer$y) && (is.null(answer$S) || is.numeric(answer$S))
    return(is_text(answer$message) && "pcgpu_error_test" %in% answer$class && is_place && (is.null(answer$parent) || is_condition(answer$parent)))
  }
  is_text(answer) || is.raw(answer) && is_said(attr(answer, "said"))
}

# with_said()'s.
is_said <- function(said) {
  is.null(said) || is.list(said) && (is.null(said$conditions) || is.list(said$conditions)) && all(vapply(said$conditions, function(one) {
    is.list(one) && is_condition(one$condition) && is_number(one$count)
  }, NA))
}

is_condition <- function(x) inherits(x, "condition") && is.list(x) && is_text(x$message)

# What a worker says where its task ended with an error.
is_failure <- function(answer) inherits(answer, "pcgpu_rank_failed") && is.list(answer) && inherits(answer$condition, "pcgpu_error") && is_condition(answer$condition)

# Whether a list has these vectors, of these lengths, without missing values.
has_vectors <- function(x, lengths, is = is.numeric) {
  is.list(x) && all(vapply(names(lengths), function(name) is(x[[name]]) && length(x[[name]]) == lengths[[name]] && !anyNA(x[[name]]), NA))
}

# Checks of the arguments that are one number, one flag or one of a few words.

is_number <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x) && !inherits(x, "integer64")

# Checks one number and returns it as a double. `least` and `most` belong to the range, `above` and `below` do not; NULL
# means no limit. A whole number may be Inf. `hint` and `...` go to abort_argument().
check_number <- function(x, argument, hint, least = NULL, most = NULL, whole = FALSE, above = NULL, below = NULL, ...) {
  if (!is_number(x) || any(x < least, x > most, x <= above, x >= below) || whole && x != floor(x)) {
    abort_argument(argument, x, hint, ...)
  }
  as.double(x)
}

# Checks a whole number in a range.
check_whole <- function(x, argument, least, most) {
  check_number(x, argument, sprintf("use a whole number from %.0f to %.0f.", least, most), least, most, whole = TRUE)
}

check_seed <- function(seed) {
  if (is.null(seed)) sample.int(.Machine$integer.max, 1L) else check_whole(seed, "seed", 0, .Machine$integer.max)
}

# Checks how rows are drawn: a word, or whether with replacement.
check_how <- function(how) {
  if (is.logical(how) && !anyNA(how) && length(how) == 1L) {
    how <- if (how) "bootstrap" else "subsample"
  }
  check_choice(how, c("bootstrap", "subsample"), "how")
}

# Checks the size of a sample: a number of rows, or their share of all rows.
check_sample_size <- function(size) {
  hint <- "use a whole number of rows, or a share of the rows above 0 and at most 1."
  check_number(size, "size", hint, above = 0, whole = is_number(size) && size > 1)
}

# Returns a number of rows that may not be whole: functions round it in their own way.
rows_of_size <- function(size, n) if (size <= 1) size * n else size

# Checks `alpha`. pcalg takes any number, and scripts that sweep unique(fit@pMax) come to 1.
check_alpha <- function(alpha) {
  check_number(alpha, "alpha", "use one significance level between 0 and 1, for instance 0.01.")
  if (alpha <= 0 || alpha >= 1) {
    warn(
      "alpha",
      paste0(
        "`alpha` is ",
        format(alpha, digits = 15L),
        ": ",
        if (alpha <= 0) {
          "every test then counts as independence, so no edge remains"
        } else if (alpha > 1) {
          "no test then counts as independence, so every edge remains"
        } else {
          "only a test with p = 1 then counts as independence"
        }
      ),
      alpha = alpha
    )
  }
  as.double(alpha)
}

check_m_max <- function(m.max) {
  check_number(m.max, "m.max", "use one number, the largest size of a separating set, or Inf for no limit.")
}

check_flag <- function(flag, argument) {
  if (length(flag) != 1L || !(is.logical(flag) || is.numeric(flag)) || is.na(flag)) {
    abort_argument(argument, flag, "use TRUE or FALSE.")
  }
  as.logical(flag)
}

check_verbose <- function(verbose) {
  if (length(verbose) != 1L || !(is.logical(verbose) || is.numeric(verbose)) || is.na(verbose)) {
    abort_argument("verbose", verbose, "use TRUE, FALSE or a number (0 = silent).")
  }
  # Values above 2 print nothing more, and an integer cannot hold every number.
  as.integer(max(0, min(verbose, 2)))
}

# Calls match.arg(), whose own message becomes part of ours.
check_choice <- function(arg, choices, argument) {
  # In American or British spelling.
  if (is_text(arg) && !arg %in% choices && british(arg) %in% british(choices)) {
    arg <- choices[match(british(arg), british(choices))]
  }
  tryCatch(match.arg(arg, choices), error = function(e) {
    abort_argument(
      argument,
      arg,
      paste0("use one of ", enumerate(dQuote(choices, FALSE)), "."),
      pcalg = conditionMessage(e)
    )
  })
}

# Checks the arguments of the orientation phase, with pcalg's own error messages.
check_orientation <- function(u2pd, conservative, maj.rule, solve.confl) {
  u2pd <- check_choice(u2pd, c("relaxed", "rand", "retry", "valid"), "u2pd")
  conservative <- check_flag(conservative, "conservative")
  if_few <- isTRUE(attr(maj.rule, "if_few"))
  maj.rule <- check_flag(maj.rule, "maj.rule")
  solve.confl <- check_flag(solve.confl, "solve.confl")
  if (!u2pd %in% c("relaxed", "valid") && (conservative || maj.rule)) {
    abort_argument(
      "u2pd",
      u2pd,
      "use u2pd = \"relaxed\" or \"valid\", or leave out `conservative` and `maj.rule`.",
      pcalg = "Conservative PC and majority rule PC can only be run with 'u2pd = relaxed'"
    )
  }
  if (u2pd == "valid" && solve.confl) {
    abort_argument("u2pd", u2pd, "leave out `solve.confl`, because a valid CPDAG has no conflicting edges to mark.")
  }
  if (u2pd != "relaxed" && solve.confl) {
    abort_argument(
      "u2pd",
      u2pd,
      "use u2pd = \"relaxed\", or leave out `solve.confl`.",
      pcalg = paste0(
        "Versions of PC using lists for the orientation rules (and possibly bi-directed edges)\n",
        " can only be run with 'u2pd = relaxed'"
      )
    )
  }
  if (conservative && maj.rule) {
    abort_argument(
      "maj.rule",
      maj.rule,
      "leave out `conservative` or `maj.rule`.",
      pcalg = "Choose either conservative PC or majority rule PC!"
    )
  }
  list(
    u2pd = u2pd,
    rule = if (conservative) {
      "conservative"
    } else if (maj.rule) {
      "majority"
    } else {
      "standard"
    },
    solve_confl = solve.confl,
    # See R/pc.R; the test determines the bound.
    if_few = if_few,
    bound = NULL,
    # pcalg's pc() counts ambiguous triples in this way and has no argument for it.
    version_unf = c(2L, 1L),
    # The largest conditioning set for tests of pairs that knowledge excluded from the search; a search sets its own.
    largest_set = Inf,
    # See check_knowledge().
    knowledge = NULL
  )
}

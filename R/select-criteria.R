# The criteria of select_features().

criteria <- c("JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI", "CONDRED", "Betagamma", "FCBF")

# The weights in the definition of a criterion that are arguments.
weights_of <- list(MIFS = "beta", Betagamma = c("beta", "gamma"))

check_criterion <- function(criterion) {
  if (is.character(criterion)) {
    known <- match(tolower(criterion), tolower(criteria))
    criterion <- ifelse(is.na(known), criterion, criteria[known])
  }
  if (length(criterion) < 2L) {
    return(check_choice(criterion, criteria, "criterion"))
  }
  unique(vapply(as.list(criterion), check_choice, "", criteria, "criterion"))
}

# Checks a weight. given: whether the user gave it, so that a criterion must have it.
check_weight <- function(weight, name, criterion, given) {
  having <- names(weights_of)[vapply(weights_of, function(weights) name %in% weights, NA)]
  if (given && !any(criterion %in% having)) {
    abort_argument(
      name,
      weight,
      sprintf("leave it out, or use criterion = %s.", dQuote(having[1L], FALSE)),
      has = sprintf("no place in the criterion %s", enumerate(dQuote(criterion, FALSE)))
    )
  }
  check_number(weight, name, "use a number from 0 to 100.", 0, 100)
}

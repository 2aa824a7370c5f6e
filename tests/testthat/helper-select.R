# Returns features that depend on the class, on each other, or on nothing.
simulate_features <- function(n = 60, p = 12, seed = 1) {
  set.seed(seed)
  y <- sample(0:2, n, TRUE)
  x <- matrix(sample(0:3, n * p, TRUE), n, p, dimnames = list(NULL, paste0("f", seq_len(p))))
  x[, 3] <- ifelse(stats::runif(n) < 0.5, y, x[, 3])
  x[, 5] <- ifelse(stats::runif(n) < 0.7, x[, 3], x[, 5])
  x[, 8] <- (y * 2 + x[, 8]) %% 4
  list(x = x, y = y)
}

entropy_bits <- function(...) {
  cell <- paste(...)
  share <- tabulate(match(cell, unique(cell))) / length(cell)
  -sum(share * log2(share))
}

information <- function(a, b) entropy_bits(a) + entropy_bits(b) - entropy_bits(a, b)
information_given <- function(a, b, c) entropy_bits(a, c) + entropy_bits(b, c) - entropy_bits(c) - entropy_bits(a, b, c)

uncertainty <- function(a, b) 2 * information(a, b) / max(entropy_bits(a) + entropy_bits(b), 1e-300)

# Returns whether FCBF leaves out feature f if these are selected before it.
left_out_by_fcbf <- function(x, y, f, before) {
  any(vapply(
    seq_along(before),
    function(at) {
      s <- before[at]
      uncertainty(x[, f], x[, s]) >= uncertainty(x[, f], y) - 1e-13 &&
        !left_out_by_fcbf(x, y, s, before[seq_len(at - 1)])
    },
    NA
  ))
}

# Computes the scores of all features by the definitions in ?select_features.
scores_by_definition <- function(x, y, selected, criterion, beta = 1, gamma = 1) {
  vapply(
    seq_len(ncol(x)),
    function(f) {
      relevance <- information(x[, f], y)
      if (criterion == "FCBF") {
        return(uncertainty(x[, f], y) - left_out_by_fcbf(x, y, f, selected))
      }
      if (!length(selected)) {
        return(relevance)
      }
      of <- function(term) vapply(selected, function(s) term(x[, f], x[, s]), 0)
      redundancy <- of(information)
      conditional <- of(function(a, b) information_given(a, b, y))
      switch(
        criterion,
        MIM = relevance,
        MIFS = relevance - beta * sum(redundancy),
        CONDRED = relevance + sum(conditional),
        Betagamma = relevance - beta * sum(redundancy) + gamma * sum(conditional),
        mRMR = relevance - mean(redundancy),
        JMI = relevance - mean(redundancy - conditional),
        CMIM = min(of(function(a, b) information_given(a, y, b))),
        DISR = sum(of(function(a, b) information(paste(a, b), y) / entropy_bits(a, b, y))),
        CIFE = relevance - sum(redundancy - conditional),
        ICAP = relevance - sum(pmax(0, redundancy - conditional)),
        CMI = information_given(x[, f], y, do.call(paste, as.data.frame(x[, selected])))
      )
    },
    0
  )
}

every_criterion <- c(
  "JMI",
  "MIM",
  "MIFS",
  "mRMR",
  "CMIM",
  "DISR",
  "CIFE",
  "ICAP",
  "CMI",
  "CONDRED",
  "Betagamma",
  "FCBF"
)

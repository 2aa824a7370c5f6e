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

# Computes the scores of all features by the definitions in ?select_features.
scores_by_definition <- function(x, y, selected, criterion) {
  vapply(
    seq_len(ncol(x)),
    function(f) {
      relevance <- information(x[, f], y)
      if (!length(selected)) {
        return(relevance)
      }
      of <- function(term) vapply(selected, function(s) term(x[, f], x[, s]), 0)
      redundancy <- of(information)
      conditional <- of(function(a, b) information_given(a, b, y))
      switch(
        criterion,
        MIM = relevance,
        MIFS = relevance - sum(redundancy),
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

every_criterion <- c("JMI", "MIM", "MIFS", "mRMR", "CMIM", "DISR", "CIFE", "ICAP", "CMI")

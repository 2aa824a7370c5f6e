# Twins of suff_gauss(correlation = ), by their definitions.
cor_of <- function(x, kind, use = "everything") {
  switch(
    kind,
    pearson = cor(x, use = use),
    spearman = 2 * sin(pi / 6 * cor(x, use = use, method = "spearman")),
    kendall = sin(pi / 2 * cor(x, use = use, method = "kendall")),
    npn = cor_of_scores(x, use)
  )
}

cor_of_scores <- function(x, use) {
  scores <- function(values) stats::qnorm(rank(values) / (length(values) + 1))
  if (use != "pairwise.complete.obs") {
    x <- x[stats::complete.cases(x), , drop = FALSE]
    return(cor(apply(x, 2, scores)))
  }
  C <- diag(ncol(x))
  dimnames(C) <- list(colnames(x), colnames(x))
  for (i in seq_len(ncol(x))) {
    for (j in seq_len(i - 1)) {
      both <- !is.na(x[, i]) & !is.na(x[, j])
      C[i, j] <- C[j, i] <- cor(scores(x[both, i]), scores(x[both, j]))
    }
  }
  C
}

part_of_n <- function(kind) if (kind %in% c("spearman", "kendall")) 9 / pi^2 else 1

recorded_correlations <- function(name) {
  jsonlite::fromJSON(gzfile(test_path("golden", paste0(name, ".json.gz"))), simplifyVector = FALSE)
}

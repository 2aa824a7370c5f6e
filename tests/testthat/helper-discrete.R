# Returns discrete data of a random network: each column is a noisy function of up to two earlier ones. Codes are from
# 0.
simulate_codes <- function(p, n, levels = 2:4, noise = 0.4, seed = 1) {
  set.seed(seed)
  nlev <- sample(rep_len(levels, max(p, length(levels))), p)
  dm <- matrix(0L, n, p, dimnames = list(NULL, paste0("v", seq_len(p))))
  for (v in seq_len(p)) {
    parents <- sample(seq_len(v - 1L), min(v - 1L, sample(0:2, 1)))
    value <- sample.int(nlev[v], n, TRUE) - 1L
    copied <- length(parents) > 0 & stats::runif(n) > noise
    value[copied] <- (rowSums(dm[, parents, drop = FALSE]) %% nlev[v])[copied]
    dm[, v] <- as.integer(value)
  }
  list(dm = dm, nlev = nlev, adaptDF = FALSE)
}

# Computes statistic and degrees of freedom by the definition, from the strata that occur.
statistic_by_definition <- function(x, y, S, suff, kind) {
  dm <- suff$dm
  complete <- stats::complete.cases(dm[, c(x, y, S)])
  dm <- dm[complete, , drop = FALSE]
  strata <- if (length(S)) interaction(as.data.frame(dm[, S]), drop = TRUE) else factor(rep(1, nrow(dm)))
  total <- adjusted <- zeros <- 0
  for (stratum in levels(strata)) {
    rows <- strata == stratum
    N <- table(factor(dm[rows, x], seq_len(suff$nlev[x]) - 1), factor(dm[rows, y], seq_len(suff$nlev[y]) - 1))
    E <- outer(rowSums(N), colSums(N)) / sum(N)
    zeros <- zeros + sum(N == 0)
    adjusted <- adjusted + (sum(rowSums(N) > 0) - 1) * (sum(colSums(N) > 0) - 1)
    total <- total +
      if (kind == "G2") {
        2 * sum((N * log(N / E))[N > 0])
      } else {
        sum(((N - E)^2 / E)[E > 0])
      }
  }
  domain <- prod(suff$nlev[S])
  list(
    statistic = total,
    df = (suff$nlev[x] - 1) * (suff$nlev[y] - 1) * domain,
    adjusted = adjusted,
    n = nrow(dm),
    zeros = zeros + suff$nlev[x] * suff$nlev[y] * (domain - nlevels(strata)),
    domain = domain
  )
}

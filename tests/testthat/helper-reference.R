# Computes the skeleton of PC-stable by its definition: a plain loop over levels, ordered pairs and subsets in
# lexicographic order, with adjacency frozen within a level. Slow, with no shortcut.
reference_skeleton <- function(
  test,
  p,
  alpha,
  m.max = Inf,
  gaps = matrix(FALSE, p, p),
  edges = matrix(FALSE, p, p),
  na_delete = TRUE
) {
  adjacent <- !gaps
  diag(adjacent) <- FALSE
  sepset <- lapply(seq_len(p), function(i) vector("list", p))
  pMax <- matrix(-Inf, p, p)
  diag(pMax) <- 1
  counts <- 0
  level <- 0
  more <- TRUE
  while (more && any(adjacent) && level <= m.max) {
    counts[level + 1] <- 0
    more <- FALSE
    frozen <- adjacent
    for (x in seq_len(p)) {
      for (y in which(frozen[x, ])) {
        around <- setdiff(which(frozen[x, ]), y)
        if (!adjacent[x, y] || edges[x, y] || length(around) < level) {
          next
        }
        if (length(around) > level) {
          more <- TRUE
        }
        sets <- list(integer(0))
        if (level > 0) {
          sets <- utils::combn(length(around), level, function(at) around[at], simplify = FALSE)
        }
        for (S in sets) {
          counts[level + 1] <- counts[level + 1] + 1
          value <- test(x, y, S)
          if (is.na(value)) {
            value <- as.numeric(na_delete)
          }
          pMax[x, y] <- max(pMax[x, y], value)
          if (value >= alpha) {
            adjacent[x, y] <- adjacent[y, x] <- FALSE
            sepset[[x]][[y]] <- S
            break
          }
        }
      }
    }
    level <- level + 1
  }
  list(adjacent = adjacent, sepset = sepset, pMax = pmax(pMax, t(pMax)), counts = counts, max_ord = level - 1)
}

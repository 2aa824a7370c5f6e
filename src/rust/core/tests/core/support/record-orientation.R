# Records tests/golden/orient-random.json.gz: pcalg's orientation of random skeletons with random separating sets.
# Run in its folder: Rscript record-orientation.R out.json [library with pcalg [first last]], then gzip. Without first and last it records cases 1 to
# 240, and the given DAGs as cases 100001 to 100006.
args <- commandArgs(TRUE)
suppressMessages(library(pcalg, lib.loc = if (length(args) > 1) args[2]))
stopifnot(packageVersion("pcalg") == "2.7.12")

# DAGs on which rule 3 of udag2pdag() directs an edge that the CPDAG leaves undirected: c1 -> c2 counts as not connected.
dags <- jsonlite::fromJSON("orientation-dags.json", simplifyDataFrame = FALSE)

# Converts as(graph, "matrix") to from, to, mark, from, to, mark, ...
marks <- function(graph) {
  m <- as(graph, "matrix")
  at <- which(m != 0, arr.ind = TRUE)
  at <- at[order(at[, 1], at[, 2]), , drop = FALSE]
  as.integer(rbind(at[, 1], at[, 2], m[at]))
}

# Returns the entries of sepset that are not NULL, each x, y, S...
entries <- function(sepset) {
  out <- list()
  for (x in seq_along(sepset)) for (y in seq_along(sepset[[x]]))
    if (!is.null(sepset[[x]][[y]])) out[[length(out) + 1]] <- as.integer(c(x, y, sepset[[x]][[y]]))
  out
}

# Draws separating sets. Styles 1 to 3 put an arbitrary set on the smaller side, on either, on both or none; 4 and 5
# make colliders rare.
random_sepsets <- function(A, style) {
  p <- nrow(A)
  arbitrary <- function(x, y) {
    others <- setdiff(seq_len(p), c(x, y))
    if (!length(others)) return(integer(0))
    if (style >= 4) return(others[runif(length(others)) < c(.8, .95)[style - 3]])
    if (runif(1) < .25) integer(0) else others[runif(length(others)) < sample(c(.1, .3, .6), 1)]
  }
  sepset <- lapply(seq_len(p), function(.) vector("list", p))
  for (x in seq_len(p)) for (y in seq_len(p)) if (x < y && A[x, y] == 0) {
    if (style %in% c(1, 4, 5)) {
      sepset[[x]][[y]] <- arbitrary(x, y)
    } else if (style == 2) {
      if (runif(1) < .5) sepset[[x]][[y]] <- arbitrary(x, y) else sepset[[y]][[x]] <- arbitrary(x, y)
    } else {
      if (runif(1) < .6) sepset[[x]][[y]] <- arbitrary(x, y)
      if (runif(1) < .6) sepset[[y]][[x]] <- rev(arbitrary(x, y))
    }
  }
  sepset
}

# Returns separating sets that give exactly the colliders of the DAG D.
dag_sepsets <- function(D) {
  A <- D + t(D)
  p <- nrow(D)
  sepset <- lapply(seq_len(p), function(.) vector("list", p))
  for (x in seq_len(p)) for (y in seq_len(p)) if (x < y && A[x, y] == 0)
    sepset[[x]][[y]] <- unname(which(A[x, ] == 1 & A[y, ] == 1 & !(D[x, ] == 1 & D[y, ] == 1)))
  sepset
}

record <- function(k) {
  set.seed(1000 + k)
  if (k > 100000) {
    p <- dags[[k - 100000]][[1]]
    D <- matrix(0, p, p)
    D[dags[[k - 100000]][[2]]] <- 1
    A <- D + t(D)
    sepset <- dag_sepsets(D)
  } else {
    p <- if (k %% 20 == 0) 40 else sample(2:15, 1)
    density <- if (p == 40) .08 else sample(c(.1, .2, .3, .45, .6, .9), 1)
    style <- sample(1:5, 1)
    A <- matrix(0, p, p)
    for (x in seq_len(p - 1)) for (y in (x + 1):p) if (runif(1) < density) A[x, y] <- A[y, x] <- 1
    sepset <- random_sepsets(A, style)
  }
  dimnames(A) <- list(paste0("v", 1:p), paste0("v", 1:p))
  sk <- new("pcAlgo", graph = as(A, "graphNEL"), sepset = sepset, call = quote(pc()), n = 0L, max.ord = 0L,
            n.edgetests = 0, pMax = matrix(0, 1, 1), zMin = matrix(0, 1, 1))

  ambiguous <- list()
  for (b in 1:p) for (a in which(A[b, ] == 1)) for (c in which(A[b, ] == 1))
    if (a < c && A[a, c] == 0 && runif(1) < .35)
      ambiguous[[length(ambiguous) + 1]] <- as.integer(if (runif(1) < .5) c(a, b, c) else c(c, b, a))
  unf <- vapply(ambiguous, function(t) pcalg:::triple2numb(p, t[1], t[2], t[3]), 0)
  if (!length(unf)) unf <- NULL
  rules <- sample(c(TRUE, FALSE), 3, replace = TRUE)

  relaxed <- function(...) marks(udag2pdagRelaxed(sk, ...)@graph)
  # next_unif shows how many random numbers were drawn.
  seeded <- function(orient) { set.seed(k); list(amat = marks(orient()), next_unif = sample.int(1000000L, 1)) }
  res <- list(relaxed = relaxed(), relaxed_confl = relaxed(solve.confl = TRUE), relaxed_unf = relaxed(unfVect = unf),
              relaxed_confl_unf = relaxed(unfVect = unf, solve.confl = TRUE), rules = relaxed(rules = rules),
              rules_confl_unf = relaxed(rules = rules, solve.confl = TRUE, unfVect = unf),
              no_collider = relaxed(orientCollider = FALSE), rand = seeded(function() udag2pdag(sk)@graph))
  res$retry <- seeded(function() { special <<- udag2pdagSpecial(sk); special$pcObj@graph })
  res$retry$status <- special$status
  res$retry$counter <- special$counter
  out <- list(k = k, p = p, edges = as.integer(t(which(A == 1 & upper.tri(A), arr.ind = TRUE))), sepset = entries(sepset),
              unf = ambiguous, rules = rules, res = res)

  questions <- 0
  for (b in 1:p) for (a in which(A[b, ] == 1)) for (c in which(A[b, ] == 1))
    if (a < c && A[a, c] == 0) questions <- questions + 2^sum(A[a, ]) + 2^sum(A[c, ])
  if (questions > 0 && questions < 3000) {
    out$alpha <- sample(c(.05, .5, .8, .95, .99, 1.1), 1)
    test <- function(x, y, S, suffStat) {
      h <- k %% 65521
      for (v in c(x, y, S)) h <- (h * 1103 + v * 7919 + 13) %% 65521
      asked <<- asked + 1
      hash <<- (hash * 31 + h) %% 65521
      h / 65521
    }
    for (maj in c(FALSE, TRUE)) for (v1 in 1:2) for (v2 in 1:2) {
      asked <- 0
      hash <- k %% 65521
      judged <- pcalg:::pc.cons.intern(sk, NULL, test, out$alpha, version.unf = c(v1, v2), maj.rule = maj)
      out$cons[[length(out$cons) + 1]] <- list(
        maj = maj, v = c(v1, v2), nq = asked, hash = hash, sepset = entries(judged$sk@sepset),
        plain = marks(udag2pdagRelaxed(judged$sk, unfVect = judged$unfTripl)@graph),
        confl = marks(udag2pdagRelaxed(judged$sk, unfVect = judged$unfTripl, solve.confl = TRUE)@graph))
    }
  }
  out
}

special <- NULL
numbers <- if (length(args) > 3) as.integer(args[3]):as.integer(args[4]) else c(1:240, 100000 + seq_along(dags))
writeLines(jsonlite::toJSON(lapply(numbers, record), digits = 12), args[1])

# Random graphs with random knowledge, right and wrong, against a plain reference: all DAGs of the equivalence class, of
# which those that agree with what is known are kept.

# Returns the DAGs with the edges and v-structures of `dag` ([i, j] = 1: i -> j), as matrices.
members <- function(dag) {
  edges <- which(dag + t(dag) > 0 & upper.tri(dag), arr.ind = TRUE)
  if (!nrow(edges)) {
    return(list(dag))
  }
  forward <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), nrow(edges))))
  kept <- rep(TRUE, nrow(forward))
  for (v in seq_len(nrow(dag))) {
    at <- which(edges[, 1] == v | edges[, 2] == v)
    for (pair in if (length(at) > 1) utils::combn(at, 2, simplify = FALSE)) {
      others <- rowSums(edges[pair, , drop = FALSE]) - v
      if (dag[others[1], others[2]] + dag[others[2], others[1]] == 0) {
        both_into <- forward[, pair[1]] == (edges[pair[1], 2] == v) & forward[, pair[2]] == (edges[pair[2], 2] == v)
        kept <- kept & both_into == (dag[others[1], v] + dag[others[2], v] == 2)
      }
    }
  }
  made <- lapply(which(kept), function(row) {
    m <- 0 * dag
    m[
      ifelse(forward[row, ], edges[, 1], edges[, 2]) + nrow(dag) * (ifelse(forward[row, ], edges[, 2], edges[, 1]) - 1)
    ] <- 1
    m
  })
  Filter(is_acyclic, made)
}

is_acyclic <- function(m) {
  while (nrow(m)) {
    is_source <- colSums(m) == 0
    if (!any(is_source)) {
      return(FALSE)
    }
    m <- m[!is_source, !is_source, drop = FALSE]
  }
  TRUE
}

agrees <- function(dag, known) {
  has <- function(arrows) dag[cbind(match(arrows$from, rownames(dag)), match(arrows$to, rownames(dag)))] == 1
  late <- if (!is.null(known$tiers)) outer(known$tiers, known$tiers, ">") else FALSE
  all(has(known$required)) && !any(has(known$forbidden)) && !any(dag == 1 & late)
}

# Returns the union of their edges, directed if all agree.
union_of <- function(dags) 1 * (Reduce(`+`, dags) > 0)

random_case <- function(p) {
  order <- sample(p)
  dag <- matrix(0, p, p, dimnames = rep(list(letters[seq_len(p)]), 2))
  dag[order, order][upper.tri(dag)] <- stats::rbinom(p * (p - 1) / 2, 1, stats::runif(1, 0.2, 0.8))
  dag
}

# Draws arrows and tiers that are true of the DAG, or any.
random_knowledge <- function(dag, right) {
  p <- nrow(dag)
  arrows <- function(is_choice, most) {
    at <- which(is_choice, arr.ind = TRUE)
    at <- at[sample(nrow(at), min(nrow(at), sample(0:most, 1))), , drop = FALSE]
    data.frame(to = rownames(dag)[at[, 2]], from = rownames(dag)[at[, 1]])
  }
  distinct <- diag(p) == 0
  joined <- dag + t(dag) > 0
  apart <- which(!joined & upper.tri(dag), arr.ind = TRUE)
  apart <- apart[stats::runif(nrow(apart)) < sample(c(0, 0.5, 1), 1), , drop = FALSE]
  both <- data.frame(from = rownames(dag)[c(apart)], to = rownames(dag)[c(apart[, 2:1])])
  known <- list(
    required = arrows(if (right) dag == 1 else joined | distinct & stats::runif(1) < 0.2, 2),
    forbidden = rbind(arrows(if (right) distinct & dag == 0 else distinct, 3), if (right) both[2:1])
  )
  if (stats::runif(1) < 0.5) {
    # How many ancestors a variable has is an order of the DAG.
    depth <- if (right) colSums(solve(diag(p) - dag) > 0) else sample(p)
    known$tiers <- stats::setNames(findInterval(depth, sort(sample(p, 2))), rownames(dag))
  }
  known
}

test_that("graphs with knowledge are the union of the DAGs that agree with it, on 928 random graphs", {
  set.seed(928)
  seen <- c(refused = 0, added = 0, untested = 0, wrong = 0)
  for (case in 1:928) {
    dag <- random_case(sample(3:5, 1))
    class <- members(dag)
    known <- random_knowledge(dag, right = case %% 2 == 0)
    possible <- Filter(function(dag) agrees(dag, known), class)
    added <- tryCatch(do.call(add_knowledge, c(list(union_of(class)), known)), pcgpu_error = identity)
    if (length(possible)) {
      if (!identical(added, union_of(possible))) {
        fail(paste("add_knowledge(), case", case))
      }
      seen["added"] <- seen["added"] + 1
    } else {
      if (!inherits(added, c("pcgpu_error_knowledge", "pcgpu_error_argument"))) {
        fail(paste("not refused, case", case))
      }
      seen["refused"] <- seen["refused"] + 1
    }
    search <- function(what = pc, ...) {
      suppressMessages(
        do.call(what, c(list(...), list(indepTest = dsep_oracle, suffStat = dag, alpha = 0.5, numCores = 1), known)),
        "pcgpu_message"
      )
    }
    fit <- tryCatch(search(labels = rownames(dag)), pcgpu_error_argument = identity)
    if (case %% 2 == 0) {
      if (!identical(as(fit@graph, "matrix"), union_of(possible))) {
        fail(paste("pc(), case", case))
      }
      seen["untested"] <- seen["untested"] +
        any(paste(known$forbidden$from, known$forbidden$to) %in% paste(known$forbidden$to, known$forbidden$from))
    } else if (is(fit, "pcAlgo")) {
      # Wrong knowledge: there is no right graph, but what is known is in it.
      found <- as(fit@graph, "matrix")
      directed <- found - t(found) == 1
      at <- function(arrows) cbind(match(arrows$from, rownames(dag)), match(arrows$to, rownames(dag)))
      late <- if (!is.null(known$tiers)) outer(known$tiers, known$tiers, ">") else FALSE
      if (!all(directed[at(known$required)]) || any(found[at(known$forbidden)] == 1) || any(found == 1 & late)) {
        fail(paste("knowledge is not kept, case", case))
      }
      seen["wrong"] <- seen["wrong"] + 1
    } else if (length(possible)) {
      fail(paste("refused without reason, case", case))
    }
    if (case %% 8 == 0) {
      skel <- do.call(skeleton, c(list(dag, dsep_oracle, 0.5, labels = rownames(dag), numCores = 1), known))
      if (!identical(search(orient, skel = skel)@graph, fit@graph)) fail(paste("orient(), case", case))
    }
  }
  expect_true(all(seen > 50))
})

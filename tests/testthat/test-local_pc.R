# Returns exact correlations of a random DAG with weights that no path cancels, as a sufficient statistic.
exact_suff <- function(dag, seed) {
  p <- length(dag$labels)
  set.seed(seed)
  B <- matrix(0, p, p)
  B[cbind(dag$from, dag$to)] <- runif(length(dag$from), 0.4, 1) * sample(c(-1, 1), length(dag$from), TRUE)
  inverse <- solve(diag(p) - B)
  C <- cov2cor(t(inverse) %*% inverse)
  C <- (C + t(C)) / 2
  dimnames(C) <- list(dag$labels, dag$labels)
  list(C = C, n = 1e8)
}

arrows_of <- function(fit) {
  edges <- edge_table(fit)
  edges[edges$kind == "-->", c("from", "to")]
}

pairs <- function(edges) sort(paste(pmin(edges$from, edges$to), pmax(edges$from, edges$to)))

# Returns the CPDAG of the part of a DAG that some variables span, as sorted text.
cpdag_of_part <- function(dag, labels) {
  amat <- matrix(0, length(dag$labels), length(dag$labels), dimnames = list(dag$labels, dag$labels))
  amat[cbind(dag$from, dag$to)] <- 1
  if (length(labels) < 2L || !any(amat[labels, labels] > 0)) {
    return(character())
  }
  edges <- edge_table(cpdag_of(methods::as(amat[labels, labels], "matrix")))
  as_text(edges)
}

as_text <- function(edges) {
  if (nrow(edges) == 0L) {
    return(character())
  }
  undirected <- edges$kind == "---"
  sort(ifelse(
    undirected,
    paste(pmin(edges$from, edges$to), "---", pmax(edges$from, edges$to)),
    paste(edges$from, edges$kind, edges$to)
  ))
}

test_that("with exact correlations the result is the part of pc()'s graph around the target", {
  compared <- 0
  for (seed in 1:25) {
    dag <- random_dag(c(8, 15, 30)[seed %% 3 + 1], neighbours = c(1.5, 2.5)[seed %% 2 + 1], seed = seed)
    suff <- exact_suff(dag, seed)
    alpha <- 1e-4
    labels <- dag$labels
    whole <- pc(suff, gaussCItest, alpha, labels = labels, numCores = 1)
    # Near-cancelling paths may mislead both; then pc() does not find the CPDAG either.
    if (!identical(as_text(edge_table(whole)), as_text(edge_table(cpdag_of(dag))))) {
      next
    }
    compared <- compared + 1
    target <- labels[seed %% length(labels) + 1]
    near <- neighbours(whole, target, order = Inf)
    for (order in c(0, 1, 2, Inf)) {
      fit <- local_pc(suff, target, alpha, order = order, numCores = 1)
      found <- fit@graph@nodes
      expect_setequal(found, c(target, near$name[near$distance <= order + 1]))
      expect_identical(found, labels[labels %in% found])
      of <- edge_table(whole)
      expect_identical(pairs(edge_table(fit)), pairs(of[of$from %in% found & of$to %in% found, ]))
      expect_identical(as_text(edge_table(fit)), cpdag_of_part(dag, found))
      # Its arrows are arrows of the whole graph.
      expect_true(all(do.call(paste, arrows_of(fit)) %in% do.call(paste, arrows_of(whole))))
      local <- run_details(fit)$local
      expect_identical(local$target, target)
      distance <- local$distance[near$name]
      expect_identical(unname(distance[near$distance <= order + 1]), near$distance[near$distance <= order + 1])
      if (order >= 1) {
        expect_identical(markov_blanket(fit, target)$name, markov_blanket(dag, target)$name)
      }
      if (order == Inf) {
        expect_identical(as_text(edge_table(fit)), as_text(of[of$from %in% found, ]))
      }
    }
  }
  expect_gt(compared, 15)
})

test_that("data, files, sparse matrices and blocks give one result on any threads", {
  dag <- random_dag(40, neighbours = 2, seed = 5)
  x <- round(random_data(dag, 300, seed = 5, numCores = 1), 1)
  plain <- function(fit) list(edge_table(fit), fit@n.edgetests, fit@sepset, run_details(fit)$local)
  expected <- plain(local_pc(x, "x20", 0.01, numCores = 1))
  same <- function(data, ...) expect_equal(plain(local_pc(data, "x20", 0.01, ...)), expected, tolerance = 1e-9)
  expect_identical(plain(local_pc(x, "x20", 0.01, numCores = 3)), expected)
  same(write_pcgpu_file(x, tempfile()))
  same(as.data.frame(x))
  same(suff_gauss(x))
  same(suff_gauss(x, keep = "data"))
  by <- sample(40)
  other <- edge_table(local_pc(x[, by], "x20", 0.01))
  expect_identical(pairs(other), pairs(expected[[1]]))
  if (requireNamespace("Matrix", quietly = TRUE)) {
    same(Matrix::Matrix(x, sparse = TRUE))
  }
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    same(bigmemory::as.big.matrix(x))
  }
  if (requireNamespace("DelayedArray", quietly = TRUE)) {
    old <- DelayedArray::getAutoBlockSize()
    suppressMessages(DelayedArray::setAutoBlockSize(8 * 300 * 7))
    same(DelayedArray::DelayedArray(x))
    suppressMessages(DelayedArray::setAutoBlockSize(old))
  }
})

test_that("a phenotype has markers as its neighbours", {
  g <- random_genotypes(200, 300, 8, 0.02)
  set.seed(8)
  BMI <- rowSums(g[, c(20, 30)], na.rm = TRUE) + rnorm(200) / 2
  age <- BMI + rnorm(200)
  x <- plink_bed(write_bed(g), data.frame(BMI, age))
  fit <- local_pc(x, "BMI", 1e-4)
  expect_setequal(neighbours(fit, "BMI")$name, c("m20", "m30", "age"))
  expect_identical(neighbours(fit, "BMI", follow = "parents")$name, c("m20", "m30"))
  colnames(g)[c(20, 30, 40)] <- "."
  x <- plink_bed(write_bed(g), data.frame(BMI, age))
  expect_setequal(neighbours(local_pc(x, "BMI", 1e-4), "BMI")$name, c(".", "..1", "age"))
  x <- plink_bed(write_bed(random_genotypes(200, 300, 8, 0.02)))
  # A marker and its copies hide each other, as in pcalg.
  expect_identical(nrow(edge_table(local_pc(x, "m1", 1e-4, order = 0))), 0L)
})

test_that("a result prints, and other functions accept it", {
  dag <- random_dag(40, neighbours = 2, seed = 5)
  x <- random_data(dag, 300, seed = 5, numCores = 1)
  fit <- local_pc(x, "x20", 0.01)
  expect_output(print(fit), "Around x20: [0-9]+ of 40 variables, [0-9]+ scanned")
  expect_s3_class(edge_table(fit), "data.frame")
  nodes <- fit@graph@nodes
  expect_true(validObject(fit))
  expect_identical(sort(unique(unlist(edge_table(fit)[1:2]))), sort(intersect(nodes, unlist(edge_table(fit)[1:2]))))
  q <- q_values(fit)
  local <- run_details(fit)$local
  K <- sum(local$distance <= 1)
  expect_identical(attr(q, "tests"), K * 39 - K * (K - 1) / 2)
  far <- names(local$distance)[local$distance == 2]
  expect_identical(is.na(q$q), q$from %in% far & q$to %in% far)
  shown <- q[!is.na(q$q), ]
  # Pairs of complete variables that are not in the graph have p >= alpha, so they do not change smaller q-values.
  others <- rep(1, attr(q, "tests") - nrow(shown))
  expect_equal(shown$q, p.adjust(c(shown$p, others), "BH")[seq_len(nrow(shown))], tolerance = 0.5)
  expect_true(all(shown$p < 0.01))
  expect_equal(p_value(fit, nodes[1], nodes[2]), fit@pMax[1, 2])
  expect_silent(pdf(NULL))
  plot_cpdag(fit)
  dev.off()
  if (requireNamespace("igraph", quietly = TRUE)) {
    expect_identical(igraph::vcount(as_igraph(fit)), length(nodes))
  }
  expect_identical(neighbours(fit, "x20")$name, neighbours(local_pc(x, 20, 0.01, order = 0), "x20")$name)
})

test_that("small problems have small results", {
  set.seed(1)
  x <- matrix(rnorm(100), 50, dimnames = list(NULL, c("a", "b")))
  x[, 2] <- x[, 1] + rnorm(50)
  expect_identical(edge_table(local_pc(x, "a", 0.01))$kind, "---")
  one <- local_pc(x[, 1, drop = FALSE], "a", 0.01)
  expect_identical(one@graph@nodes, "a")
  expect_identical(nrow(markov_blanket(one, "a")), 0L)
  alone <- local_pc(cbind(a = rnorm(50), b = rnorm(50)), 1, 1e-6, order = Inf)
  expect_identical(alone@graph@nodes, "a")
  expect_identical(local_pc(unname(x), 2, 0.01)@graph@nodes, c("1", "2"))
  for (n in c(1, 3, 3.5)) {
    few <- local_pc(list(C = cor(x), n = n), "a", 0.01)
    expect_identical(few@graph@nodes, "a")
  }
  # Numbers of 100,000 and more are names of scans.
  wide <- matrix(rnorm(20 * 100002), 20)
  wide[, 100000] <- wide[, 100002]
  expect_identical(local_pc(wide, 100000, 1e-9)@graph@nodes, c("100000", "100002"))
  expect_identical(sum(local_pc(x, "a", 0.01, m.max = 0)@n.edgetests), 2)
})

test_that("mistakes are named", {
  x <- matrix(rnorm(60), 10, dimnames = list(NULL, letters[1:6]))
  refused <- function(message, ...) expect_error(local_pc(...), message, class = "pcgpu_error_argument")
  refused("`data` is missing", target = 1, alpha = 0.1)
  refused("`target` is missing", x, alpha = 0.1)
  refused("`alpha` is missing", x, 1)
  refused("unknown variable, \"BMI\"", x, "BMI", 0.1)
  refused("`target` has an unknown variable, 7", x, 7, 0.1)
  refused("use one variable", x, c("a", "b"), 0.1)
  refused("`alpha` is 1", x, 1, 1)
  refused("`order` is -1", x, 1, 0.1, -1)
  refused("`data` has missing values in column \"c\"", replace(x, 21, NA), 1, 0.1)
  refused("`data` has infinite values in column \"c\"", replace(x, 21, Inf), 1, 0.1)
  refused("`data` has 3 rows", x[1:3, ], 1, 0.1)
  refused("`data\\$C` is 2", list(C = 2, n = 5), 1, 0.1)
  refused("`data\\$C` .*not square", list(C = x, n = 5), 1, 0.1)
  refused("`data\\$n` is missing: pass the number", list(C = diag(3)), 1, 0.1)
  refused("missing values", list(C = replace(diag(3), c(2, 4), NA), n = 9), 1, 0.1)
  expect_warning(local_pc(replace(x, 11:20, 1), 1, 0.1), "constant in column \"b\"", class = "pcgpu_warning_constant")
  expect_error(
    suppressWarnings(local_pc(replace(x, 11:20, 1), "b", 0.1)),
    "`target` is constant",
    class = "pcgpu_error_argument"
  )
})

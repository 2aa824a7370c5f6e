study <- function(n = 150, seed = 1) {
  set.seed(seed)
  batch <- factor(rep_len(c("a", "b", "c"), n))
  age <- rnorm(n)
  x <- simulate(5, n, seed) + 2 * as.integer(batch) + age
  data.frame(x, batch = batch, age = age, w = runif(n), patient = paste0("p", rep_len(1:30, n)))
}
kinds <- paste0("v", 1:5)

test_that("adjusted tests are those with the covariates in every conditioning set", {
  data <- study()
  covariates <- model.matrix(~ batch + age, data)[, -1]
  for (kind in c("pearson", "npn", "spearman")) {
    s <- suff_gauss(data[c(kinds, "batch", "age")], adjust = ~ batch + age, correlation = kind)
    full <- suff_gauss(cbind(data[kinds], covariates), correlation = kind)
    expect_equal(
      s$n,
      147 * part_of_n(kind) + (if (kind == "spearman") 3 * (part_of_n(kind) - 1) else 0),
      tolerance = 0.02
    )
    with_all <- function(x, y, S, suffStat) gaussCItest(x, y, c(S, 6:8), suffStat)
    full$n <- s$n + 3
    fit <- pc(s, gaussCItest, 0.01, labels = kinds)
    theirs <- pc(full, with_all, 0.01, labels = kinds)
    expect_same_answer(fit, theirs)
    expect_equal(fit@pMax, theirs@pMax, tolerance = 1e-8)
  }
  s <- suff_gauss(data[c(kinds, "batch", "age")], adjust = ~ batch + age)
  same <- list(
    suff_gauss(data[kinds], adjust = ~ data$batch + data$age),
    suff_gauss(data[kinds], adjust = data[c("batch", "age")]),
    lapply(suff_gauss(unname(as.matrix(data[kinds])), adjust = ~ data$batch + data$age), function(part) {
      if (is.matrix(part)) structure(part, dimnames = list(kinds, kinds)) else part
    }),
    suff_gauss(data[kinds], adjust = cbind(covariates, again = covariates[, 1])),
    suff_gauss(data[c(kinds, "batch", "age")], adjust = c("batch", "age")),
    suff_gauss(as.matrix(data[kinds]), adjust = cbind(covariates, 7)),
    suff_gauss(data[c(kinds, "batch", "age")], adjust = ~ batch + age, keep = "data")
  )
  for (other in same) {
    expect_equal(other$C, s$C, tolerance = 1e-12)
    expect_equal(other$n, 147)
  }
  fit <- suppressMessages(pc(data[c(kinds, "batch", "age")], alpha = 0.01, adjust = ~ batch + age, maj.rule = FALSE))
  expect_same_answer(fit, pc(s, gaussCItest, 0.01, labels = kinds))
})

test_that("missing values, files and other kinds can be adjusted, too", {
  data <- study()
  covariates <- model.matrix(~ batch + age, data)[, -1]
  holed <- data[c(kinds, "batch", "age")]
  holed[1:6, 2] <- NA
  holed[5:9, "age"] <- NA
  expect_error(
    suff_gauss(holed[c(kinds, "batch")], adjust = ~batch),
    "missing values in",
    class = "pcgpu_error_argument"
  )
  e <- expect_error(
    suff_gauss(data.frame(holed[c(1, 3)], age = holed$age), adjust = ~age),
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "adjust")
  s <- suff_gauss(holed, use = "complete.obs", adjust = ~ batch + age)
  expect_equal(s, suff_gauss(holed[-(1:9), ], adjust = ~ batch + age), tolerance = 1e-12)
  by_pair <- suff_gauss(holed, use = "pairwise.complete.obs", adjust = ~ batch + age)
  all <- cor(cbind(holed[kinds], covariates[, 1:2], age = holed$age), use = "pairwise.complete.obs")
  expect_equal(cov2cor(solve(solve(all)[1:5, 1:5])), by_pair$C, tolerance = 1e-10)
  file <- write_pcgpu_file(data[kinds], path_for_test())
  s <- suff_gauss(data[kinds], adjust = covariates)
  expect_equal(suff_gauss(file, adjust = covariates), s, tolerance = 1e-12)
  kept <- suff_gauss(file, adjust = covariates, keep = "data", file = path_for_test())
  expect_equal(kept$C, s$C, tolerance = 1e-12)
  expect_equal(kept$n, 147)
  for (kind in c("kendall", "Qn", "ogkScaleTau2")) {
    C <- suff_gauss(cbind(data[kinds], age = data$age), correlation = kind)$C
    found <- suff_gauss(data[kinds], adjust = data$age, correlation = kind)
    expect_equal(found$C, cov2cor(C[1:5, 1:5] - tcrossprod(C[1:5, 6])), tolerance = 1e-10)
  }
})

test_that("weighted correlations are those of cov.wt(), with Kish's number", {
  data <- study()
  w <- data$w
  s <- suff_gauss(data[kinds], weights = w)
  expect_equal(s$C, cov.wt(data[kinds], w, cor = TRUE)$cor, tolerance = 1e-12)
  expect_equal(s$n, sum(w)^2 / sum(w^2))
  expect_identical(suff_gauss(data[c(kinds, "w")], weights = "w"), s)
  expect_equal(suff_gauss(data[kinds], weights = rep(3, 150))[c("C", "n")], suff_gauss(data[kinds]), tolerance = 1e-12)
  adjusted <- suff_gauss(data[c(kinds, "age")], weights = w, adjust = ~age)
  residuals <- residuals(lm(as.matrix(data[kinds]) ~ data$age, weights = w))
  expect_equal(adjusted$C, cov.wt(residuals, w, cor = TRUE)$cor, tolerance = 1e-12)
  expect_equal(adjusted$n, s$n - 1)
  kept <- suff_gauss(data[kinds], weights = w, keep = "data")
  expect_equal(kept$C, s$C, tolerance = 1e-12)
  expect_lt(max(abs(colMeans(kept$data))), 1e-12)
  expect_same_answer(pc(kept, gaussCItest, 0.01, labels = kinds), pc(s, gaussCItest, 0.01, labels = kinds))
  holed <- data[kinds]
  holed[3:7, 1] <- NA
  expect_equal(
    suff_gauss(holed, use = "complete.obs", weights = w),
    suff_gauss(data[-(3:7), kinds], weights = w[-(3:7)]),
    tolerance = 1e-12
  )
})

test_that("groups are fixed effects", {
  data <- study()
  s <- suff_gauss(data[c(kinds, "patient")], id = "patient")
  indicators <- model.matrix(~patient, data)[, -1]
  expect_equal(s$C, suff_gauss(data[kinds], adjust = indicators)$C, tolerance = 1e-10)
  expect_equal(s$n, 150 - 29)
  both <- suff_gauss(data[c(kinds, "age", "w")], id = data$patient, adjust = ~age, weights = "w")
  fit <- lm(as.matrix(data[kinds]) ~ data$patient + data$age, weights = data$w)
  expect_equal(both$C, cov2cor(crossprod(residuals(fit) * sqrt(data$w))), tolerance = 1e-10)
  e <- expect_error(
    suff_gauss(data.frame(data[kinds], sex = as.integer(factor(data$patient)) %% 2), id = data$patient),
    "no variation.*\"sex\"",
    class = "pcgpu_error_argument"
  )
  expect_equal(suff_gauss(data[kinds], id = rep(1, 150)), suff_gauss(data[kinds]), tolerance = 1e-12)
})

test_that("weights, adjust and id are refused by name", {
  data <- study()
  x <- as.matrix(data[kinds])
  refused <- function(..., argument, says) {
    e <- expect_error(suff_gauss(x, ...), says, class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused(weights = 1:3, argument = "weights", says = "150 rows")
  refused(weights = c(-1, 1:149), argument = "weights", says = "-1")
  refused(weights = c(NA, 1:149), argument = "weights", says = "missing")
  refused(weights = rep(0, 150), argument = "weights", says = "zeros")
  refused(weights = data$batch, argument = "weights", says = "number")
  refused(weights = "v9", argument = "weights", says = "did you mean")
  refused(weights = data$w, correlation = "kendall", argument = "weights", says = "Kendall")
  refused(id = 1:150, argument = "id", says = "every row")
  refused(id = data$patient, correlation = "Qn", argument = "id", says = "npn")
  refused(adjust = v1 ~ v2, argument = "adjust", says = "left side")
  refused(adjust = ~nothing, argument = "adjust", says = "unknown")
  refused(adjust = list(1), argument = "adjust", says = "rows")
  refused(adjust = x[, 1], argument = "x", says = "no variation")
  refused(weights = c(1, 1, rep(0, 148)), argument = "x", says = "worth 2")
  expect_error(suff_gauss(function() NULL, weights = 1:4), "file", class = "pcgpu_error_argument")
  s <- suff_gauss(x)
  expect_error(pc(s, gaussCItest, 0.01, p = 5, weights = data$w), "without data", class = "pcgpu_error_argument")
  expect_error(pc(x, rcotCItest, 0.01, weights = data$w), "`weights`", class = "pcgpu_error_argument")
  expect_error(pc(data, alpha = 0.01, weights = "w", na = "testwise"), class = "pcgpu_error_argument")
  expect_error(stability(x, rcotCItest, 0.01, weights = data$w), "`weights`", class = "pcgpu_error_argument")
})

test_that("adjusting for levels removes what they cause, for ordered factors, too", {
  set.seed(18)
  n <- 500
  sex <- factor(sample(c("f", "m"), n, TRUE))
  batch <- factor(sample(letters[1:3], n, TRUE))
  answer <- function(effect) {
    cut(effect * (sex == "m") + effect * as.integer(batch) / 2 + rnorm(n), 4, ordered_result = TRUE)
  }
  rejected <- replicate(60, {
    data <- data.frame(a = answer(1), b = answer(1), c = rnorm(n))
    gaussCItest(1, 2, NULL, suff_gauss(data, adjust = ~ sex + batch, correlation = "polychoric")) < 0.05
  })
  expect_lt(mean(rejected), 0.2)
  data <- data.frame(a = answer(1), b = answer(1), c = answer(0), sex, batch)
  expect_message(
    fit <- pc(data, alpha = 0.001, adjust = ~ sex + batch),
    "polychoric.*adjusted",
    class = "pcgpu_message_data"
  )
  expect_identical(colnames(as(fit, "amat")), c("a", "b", "c"))
  # Covariates do not choose the correlation.
  numbers <- data.frame(a = rnorm(n), b = rnorm(n), stage = ordered(batch))
  expect_message(pc(numbers, alpha = 0.01, adjust = ~stage), "correlations, adjusted", class = "pcgpu_message_data")
  for (kind in c("kendall", "Qn", "ogkQn")) {
    e <- expect_error(suff_gauss(numbers[1:2], adjust = sex, correlation = kind), "npn", class = "pcgpu_error_argument")
    expect_identical(e$argument, "adjust")
  }
  e <- expect_error(pc(data[c("a", "b", "c", "sex")], alpha = 0.01, id = "sex"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "id")
})

test_that("covariates count for pairs, and missing ones are never left out silently", {
  data <- study()
  holed <- data[kinds]
  holed[1:6, 1] <- NA
  holed[5:9, 3] <- NA
  each <- suff_gauss(holed, use = "pairwise.complete.obs", adjust = data$age, sizes = "each")$n
  expect_equal(unname(each[1, 3]), 141 - 1)
  expect_equal(unname(each[2, 4]), 150 - 1)
  for (covariate in list(rep(NA_real_, 150), c(1, NA, rep(1, 148)), factor(c("a", NA, rep("a", 148))))) {
    expect_error(suff_gauss(data[kinds], adjust = covariate), "missing values", class = "pcgpu_error_argument")
  }
  for (bad in list(mean, character(), 1i * (1:150))) {
    expect_error(suff_gauss(data[kinds], adjust = bad), "formula", class = "pcgpu_error_argument")
  }
  for (scale in c(1e300, 1e-300)) {
    expect_equal(suff_gauss(data[kinds], weights = data$w * scale)$n, sum(data$w)^2 / sum(data$w^2))
  }
})

test_that("what follows a search does not forget how its data were treated", {
  data <- study()
  fit <- suppressMessages(pc(data[c(kinds, "age")], alpha = 0.01, adjust = ~age))
  expect_error(markov_check(fit, data[kinds]), "adjust", class = "pcgpu_error_argument")
  answers <- as.data.frame(lapply(data[kinds], function(v) ordered(findInterval(v, c(2, 5)))))
  expect_error(cstar(answers, alpha = 0.05), "ordered factors", class = "pcgpu_error_argument")
  answers$v1 <- ordered(c("b", "b", rep("a", 148)))
  found <- suppressMessages(stability(
    answers,
    alpha = 0.01,
    replicates = 10,
    how = "subsample",
    seed = 1,
    numCores = 2
  ))
  expect_s3_class(found, "pcgpu_stability")
})

test_that("a table of samples has covariates, weights and groups by name", {
  skip_if_not_installed("SummarizedExperiment")
  data <- study()
  samples <- data[c("batch", "age", "w", "patient")]
  counts <- list(t(as.matrix(data[kinds])))
  se <- SummarizedExperiment::SummarizedExperiment(counts, colData = samples)
  wanted <- suff_gauss(data[kinds], adjust = ~ data$batch + log(data$age^2))
  expect_equal(suff_gauss(se, adjust = ~ batch + log(age^2))$C, wanted$C, tolerance = 1e-12)
  expect_identical(suff_gauss(se, weights = "w")$n, suff_gauss(data[kinds], weights = data$w)$n)
  expect_equal(suff_gauss(se, adjust = c("batch", "age"))$C, suff_gauss(data[kinds], adjust = samples[1:2])$C)
  fit <- suppressMessages(pc(se, alpha = 0.01, id = "patient"))
  expect_same_answer(fit, suppressMessages(pc(data[kinds], alpha = 0.01, id = data$patient)))
  found <- suppressMessages(stability(se, alpha = 0.01, adjust = ~batch, replicates = 3, seed = 1))
  same <- suppressMessages(stability(data[c(kinds, "batch")], alpha = 0.01, adjust = ~batch, replicates = 3, seed = 1))
  expect_identical(found$counts, same$counts)
  expect_error(suff_gauss(se, id = "no"), "id", class = "pcgpu_error_argument")
})

test_that("effects need the covariances that the search had", {
  data <- study()[c(kinds, "batch")]
  fit <- suppressMessages(pc(data, alpha = 0.01, adjust = ~batch))
  expect_error(causal_effects(fit, data), "without `adjust`", class = "pcgpu_error_argument")
  found <- causal_effects(fit, suff_gauss(data, adjust = ~batch), "v1", "v2")
  expect_s3_class(found, "pcgpu_effects")
})

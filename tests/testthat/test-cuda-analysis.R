# Missing values, imputed data, mixed data, background knowledge and samples on a GPU: the answer of the CPU.

data_with_holes <- function(kind, share = 0.03, n = 400) {
  x <- random_data(random_dag(14, 3, seed = 5), n, kind = kind, seed = 6)
  x <- as.data.frame(x)
  set.seed(7)
  for (j in seq_along(x)[-1L]) {
    x[[j]][sample(n, share * n)] <- NA
  }
  x
}

# Imputes as mice() would, by draws from the column.
filled <- function(x) {
  set.seed(8)
  lapply(1:3, function(i) {
    x[] <- lapply(x, function(column) {
      column[is.na(column)] <- sample(column[!is.na(column)], sum(is.na(column)), TRUE)
      column
    })
    x
  })
}

both <- function(search, ...) {
  searched <- function(device) {
    suppressMessages(suppressWarnings(
      search(..., device = device),
      classes = c("pcgpu_warning_no_answer", "pcgpu_warning_too_few")
    ))
  }
  list(cpu = searched("cpu"), cuda = searched("cuda"))
}

test_that("missing values are tested as on the CPU, of numbers, levels and both", {
  skip_without_gpu()
  for (kind in c("gaussian", "discrete", "mixed")) {
    x <- data_with_holes(kind)
    for (method in c("stable", "stable.fast")) {
      deleted <- both(pc, x, alpha = 0.02, na = "testwise", skel.method = method)
      expect_same_answer(deleted$cuda, deleted$cpu, paste(kind, method, "deletion"))
      if (kind == "gaussian") {
        expect_error(
          suppressMessages(pc(filled(x), alpha = 0.02, device = "cuda")),
          class = "pcgpu_error_argument",
          "which a GPU cannot speed up"
        )
        next
      }
      imputed <- both(pc, filled(x), alpha = 0.02, skel.method = method)
      expect_same_answer(imputed$cuda, imputed$cpu, paste(kind, method, "imputation"))
    }
    expect_gt(sum(deleted$cpu@n.edgetests[-1L]), 0)
  }
})

test_that("knowledge holds as on the CPU", {
  skip_without_gpu()
  x <- as.data.frame(random_data(random_dag(20, 3, seed = 1), 500, seed = 2))
  tiers <- rep(1:3, c(6, 7, 7))
  known <- list(
    list(tiers = tiers),
    list(forbidden = cbind(names(x)[1:5], names(x)[6:10])),
    list(required = cbind(names(x)[1:3], names(x)[8:10]), tiers = tiers)
  )
  for (arguments in known) {
    for (data in list(x, as.data.frame(lapply(x, function(column) factor(column > 0))))) {
      found <- do.call(both, c(list(pc, data, alpha = 0.05), arguments))
      expect_same_answer(found$cuda, found$cpu, toString(names(arguments)))
    }
  }
})

test_that("counts of samples are those of the CPU", {
  skip_without_gpu()
  for (kind in c("gaussian", "discrete", "mixed")) {
    for (how in c("bootstrap", "subsample")) {
      x <- stats::na.omit(data_with_holes(kind, 0.005))
      found <- both(stability, x, alpha = 0.05, replicates = 20, how = how, seed = 3)
      expect_identical(found$cuda$counts, found$cpu$counts, info = paste(kind, how))
      expect_identical(as.data.frame(found$cuda), as.data.frame(found$cpu), info = paste(kind, how))
    }
    if (kind != "mixed") {
      found <- both(stability, data_with_holes(kind), alpha = 0.05, replicates = 10, na = "testwise", seed = 4)
      expect_identical(as.data.frame(found$cuda), as.data.frame(found$cpu), info = paste(kind, "with holes"))
    }
  }
})

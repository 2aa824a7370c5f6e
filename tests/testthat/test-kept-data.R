kept <- function(x, ...) suff_gauss(x, keep = "data", ...)

# Returns whether C has been made.
has_made <- function(s) !is.null(s$made$C)

test_that("C and n are those of suff_gauss(), names and all, and C is made once", {
  set.seed(2)
  for (size in list(c(4, 2), c(60, 9), c(5000, 12), c(300, 270))) {
    x <- matrix(rnorm(size[1] * size[2]), size[1], dimnames = list(NULL, paste0("v", seq_len(size[2]))))
    x[, 2] <- x[, 1] + x[, 2] * 1e-3 + 1e6
    for (data in list(x, as.data.frame(x), round(100 * x), unname(x))) {
      storage.mode(data[[1]]) <- "integer"
      for (kind in c("pearson", "npn")) {
        s <- kept(data, correlation = kind)
        whole <- suff_gauss(data, correlation = kind, device = "cpu")
        expect_s3_class(s, "pcgpu_gauss_data")
        expect_false(has_made(s))
        expect_identical(s$C, whole$C)
        expect_lte(max(abs(s[["C"]] - cor_of(data, kind))), 1e-12)
        expect_identical(s$n, whole$n)
        expect_lte(max(abs(colMeans(s$data)) / apply(s$data, 2, sd)), 1e-9)
        expect_identical(dimnames(s$data), if (!is.null(colnames(data))) list(NULL, colnames(data)))
        expect_true(has_made(s))
        # In place, not in a new copy.
        made <- s$made
        made$C[1, 2] <- 0.25
        expect_identical(s$C[1, 2], 0.25)
      }
    }
  }
})

test_that("rows with missing values are left out, and data that cannot be kept are refused", {
  x <- simulate(4, 60)
  x[1:5, 2] <- NA
  s <- kept(x, use = "complete.obs")
  expect_identical(s$n, 55L)
  expect_identical(nrow(s$data), 55L)
  expect_identical(s$C, suff_gauss(x, use = "complete.obs", device = "cpu")$C)
  expect_identical(kept(x[6:60, ], use = "pairwise.complete.obs")$C, s$C)
  expect_error(kept(x), "missing values in column \"v2\"", class = "pcgpu_error_argument")
  for (refused in list(
    tryCatch(kept(x, use = "pairwise.complete.obs"), error = identity),
    tryCatch(kept(x, correlation = "kendall"), error = identity)
  )) {
    expect_s3_class(refused, "pcgpu_error_argument")
    expect_identical(refused$argument, "keep")
    expect_match(conditionMessage(refused), "keep = \"correlations\"", fixed = TRUE)
  }
  expect_error(suff_gauss(x, keep = "everything"), class = "pcgpu_error_argument")
  x <- simulate(4, 60)
  x[, 3] <- 7
  expect_error(kept(x), "constant in column \"v3\"", class = "pcgpu_error_argument")
  expect_error(kept(x[1:3, ]), "at least 4", class = "pcgpu_error_argument")
  x[2, 3] <- Inf
  expect_error(kept(x), "infinite values in column \"v3\"", class = "pcgpu_error_argument")
  expect_error(
    pcgpu:::without_correlation(unname(x), 1:4 == 3),
    "no correlation for column 3:",
    class = "pcgpu_error_argument"
  )
})

test_that("searches are those of the correlations, by every method and rule, and make no C in R", {
  x <- simulate(12, 300, degree = 4)
  x <- cbind(x, x[, 3], -x[, 4])
  colnames(x) <- paste0("v", 1:14)
  s <- kept(x)
  whole <- suff_gauss(x, device = "cpu")
  for (method in c("stable", "stable.fast", "original")) {
    for (result in c("pcAlgo", "compact")) {
      run <- function(stat, fun = skeleton, ...) {
        fit <- fun(stat, gaussCItest, 0.05, labels = colnames(x), device = "cpu", result = result, ...)
        fit@call <- quote(f())
        fit
      }
      expect_identical(run(s, method = method), run(whole, method = method))
      for (rule in list(list(), list(conservative = TRUE), list(maj.rule = TRUE))) {
        by_rule <- function(stat) do.call(run, c(list(stat, pc, skel.method = method, m.max = 3), rule))
        expect_identical(by_rule(s), by_rule(whole))
      }
    }
  }
  skel <- skeleton(s, gaussCItest, 0.05, p = 14)
  expect_identical(
    orient(skel, maj.rule = TRUE, suffStat = s, indepTest = gaussCItest, alpha = 0.05)@graph,
    orient(skel, maj.rule = TRUE, suffStat = whole, indepTest = gaussCItest, alpha = 0.05)@graph
  )
  said <- function(stat) capture.output(skeleton(stat, gaussCItest, 0.05, p = 14, m.max = 1, verbose = TRUE))
  expect_identical(said(s), said(whole))
  expect_false(has_made(s))
  # Two variables; and a number of observations that is another.
  two <- kept(x[, 1:2])
  expect_identical(
    skeleton(two, gaussCItest, 0.05, p = 2)@pMax,
    skeleton(suff_gauss(x[, 1:2]), gaussCItest, 0.05, p = 2)@pMax
  )
  two$n <- 5
  expect_identical(
    skeleton(two, gaussCItest, 0.05, p = 2)@pMax,
    skeleton(list(C = whole$C[1:2, 1:2], n = 5), gaussCItest, 0.05, p = 2)@pMax
  )
  two$n <- 2
  expect_error(skeleton(two, gaussCItest, 0.05, p = 2, method = "stable.fast"), class = "pcgpu_error_numeric")
})

test_that("single tests, p-values of level 0 and conversions accept kept data", {
  x <- simulate(9, 200)
  s <- kept(x)
  whole <- suff_gauss(x, device = "cpu")
  fit <- pc(s, gaussCItest, 0.01, labels = colnames(x), result = "compact")
  pairs <- utils::combn(9, 2)
  expect_equal(
    p_value(fit, pairs[1, ], pairs[2, ], suffStat = s),
    p_value(fit, pairs[1, ], pairs[2, ], suffStat = whole),
    tolerance = 1e-9
  )
  expect_equal(p_value(fit, "v1", "v9", suffStat = s), p_value(fit, "v1", "v9", suffStat = whole), tolerance = 1e-9)
  expect_identical(as_pcalg(fit, suffStat = s)@pMax, as_pcalg(fit, suffStat = whole)@pMax)
  expect_false(has_made(s))
  expect_error(
    p_value(fit, 1:2, 3:4, suffStat = kept(x[, 1:8])),
    "for each of the 9 variables, not 8",
    class = "pcgpu_error_argument"
  )
  expect_identical(gaussCItest(1, 2, 3:4, s), gaussCItest(1, 2, 3:4, whole))
  expect_identical(gaussCItest("v1", "v2", NULL, s), gaussCItest("v1", "v2", NULL, whole))
  # A function of R gets a list, as always.
  by_hand <- function(x, y, S, suffStat) gaussCItest(x, y, S, suffStat)
  expect_identical(skeleton(s, by_hand, 0.01, p = 9)@pMax, skeleton(whole, by_hand, 0.01, p = 9)@pMax)
  expect_true(has_made(s))
})

test_that("pcalg's functions accept kept data", {
  skip_without_pcalg()
  x <- simulate(6, 200)
  s <- kept(x)
  whole <- suff_gauss(x, device = "cpu")
  expect_identical(pcalg::gaussCItest(1, 2, 3:4, s), pcalg::gaussCItest(1, 2, 3:4, whole))
  theirs <- function(stat, ...) pcalg::skeleton(stat, pcalg::gaussCItest, 0.05, p = 6, ...)@pMax
  expect_identical(theirs(kept(x)), theirs(whole))
  expect_identical(theirs(list(C = s$C, n = s$n), method = "stable.fast"), theirs(whole, method = "stable.fast"))
})

test_that("names are found, and compared with labels", {
  x <- simulate(4, 50)
  s <- kept(x)
  expect_error(
    skeleton(s, gaussCItest, 0.05, labels = rev(colnames(x))),
    "`suffStat$data`",
    fixed = TRUE,
    class = "pcgpu_error_argument"
  )
  w <- expect_warning(
    skeleton(s, gaussCItest, 0.05, labels = letters[1:4]),
    "by position",
    class = "pcgpu_warning_names"
  )
  expect_identical(w$argument, "suffStat$data")
  gaps <- matrix(FALSE, 4, 4, dimnames = list(rev(colnames(x)), rev(colnames(x))))
  expect_error(skeleton(s, gaussCItest, 0.05, p = 4, fixedGaps = gaps), class = "pcgpu_error_argument")
  expect_error(
    skeleton(s, gaussCItest, 0.05, p = 5),
    "for each of the 5 variables, not 4",
    class = "pcgpu_error_argument"
  )
  expect_false(has_made(s))
})

test_that("kept data are printed, saved and read, and only n can be changed", {
  x <- simulate(4, 50)
  s <- kept(x)
  expect_output(print(s), "50 observations of 4 variables, centred (1.6 kB)", fixed = TRUE)
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(s, file)
  again <- readRDS(file)
  expect_identical(again$data, s$data)
  expect_identical(again$C, suff_gauss(x, device = "cpu")$C)
  printed <- in_new_session(c(
    sprintf("s <- readRDS(%s)", deparse(file)),
    "fit <- pcgpu::pc(s, pcgpu::gaussCItest, 0.05, p = 4)",
    "cat(format(c(s$C[1, 2], sum(fit@pMax)), digits = 17))"
  ))
  fit <- pc(s, gaussCItest, 0.05, p = 4)
  expect_identical(printed[length(printed)], paste(format(c(s$C[1, 2], sum(fit@pMax)), digits = 17), collapse = " "))
  for (change in list(function(s) s$C <- diag(4), function(s) s[["data"]] <- x, function(s) s$more <- 1, function(s) {
    s["data"] <- list(x)
  })) {
    expect_error(change(s), "cannot be replaced", class = "pcgpu_error_argument")
  }
  s[["n"]] <- 49
  expect_identical(s$n, 49)
  expect_s3_class(s, "pcgpu_gauss_data")
  expect_null(s$more)
  C <- s$C
  expect_identical(s["C"], list(C = C))
  expect_identical(s[c("C", "n")], list(C = C, n = 49))
  expect_identical(s["n"]["n"], list(n = 49))
  expect_identical(s[], s)
  expect_identical(names(s[1:2]), c("data", "n"))
  expect_false(has_made(kept(x)["data"]))
  expect_output(utils::str(s), "data")
})

test_that("damaged data are an error, and not a crash", {
  s <- unclass(kept(simulate(4, 50)))
  for (data in list(
    NULL,
    "a",
    1:8,
    matrix("a", 2, 4),
    matrix(1L, 2, 4),
    matrix(0, 0, 4),
    data.frame(a = 1, b = 2, c = 3, d = 4)
  )) {
    s["data"] <- list(data)
    for (use in list(function(s) skeleton(s, gaussCItest, 0.05, p = 4), function(s) s$C)) {
      expect_error(
        use(structure(s, class = "pcgpu_gauss_data")),
        "keep = \"data\"",
        fixed = TRUE,
        class = "pcgpu_error_argument"
      )
    }
  }
  s$n <- "many"
  s$data <- matrix(c(1, NaN, Inf, -Inf), 5, 4)
  s <- structure(s, class = "pcgpu_gauss_data")
  expect_error(skeleton(s, gaussCItest, 0.05, p = 4), class = "pcgpu_error_argument")
  s$n <- 5
  expect_equal(sum(amat(skeleton(s, gaussCItest, 0.05, p = 4))), 0)
})

test_that("a bar is shown only while correlations take long", {
  # What Rust reports: level, share.
  reported <- function(x, rows, method) {
    seen <- list()
    bar <- list(report = function(level, done, total, ...) seen[[length(seen) + 1]] <<- c(level, done / total))
    pcgpu:::correlate(x, rows, method, pcgpu:::new_device("cpu"), 1L, bar = bar)
    do.call(rbind, seen)
  }
  set.seed(4)
  x <- matrix(rnorm(3e4), 300)
  expect_null(reported(x, "all", "pearson"))
  # Ranks of each pair of columns take seconds.
  x <- matrix(rnorm(1e4 * 130), 1e4)
  x[sample(length(x), 4000)] <- NA
  seen <- reported(x, "pairwise", "spearman")
  expect_identical(unique(seen[, 1]), -1)
  expect_false(is.unsorted(seen[, 2]))
  expect_true(seen[1, 2] < 1 && seen[nrow(seen), 2] == 1)
  expect_identical(capture.output(s <- kept(simulate(5, 40), progress = TRUE), type = "message"), character())
  expect_identical(
    grep("Correlations", capture.output(fit <- pc(s, gaussCItest, 0.05, p = 5, progress = TRUE), type = "message")),
    integer()
  )
  bar <- pcgpu:::text_bar()
  said <- capture.output(type = "message", {
    report <- pcgpu:::progress_reporter(TRUE, draw = bar)$report
    report(-1, 0.25, 1, 45)
    report(-1, 1, 1, 45)
    report(0, 45, 45, 45)
  })
  expect_match(paste(said, collapse = "\n"), "Correlations:  25%.*Correlations: 100%.*\n.*Level 0, 45 edges: 100%")
})

test_that("Ctrl-C stops correlations of kept data", {
  skip_on_cran()
  x <- matrix(sin(seq_len(3e3 * 4e3)^1.5), 3e3)
  s <- kept(x)
  stopped <- press_in_time(function() {
    for (i in 1:20) {
      skeleton(s, gaussCItest, 0.05, p = 4e3, m.max = 0, device = "cpu", result = "compact")
    }
  })
  expect_identical(stopped$outcome, "stopped")
  expect_lt(stopped$took, 1)
})

test_that("on a GPU, searches of data are those of correlations that were made there", {
  skip_without_gpu()
  for (size in list(c(4, 2), c(90, 65), c(3001, 130))) {
    x <- simulate(size[2], size[1])
    for (data in list(x * rep(c(1e-150, rep(1, size[2] - 1)), each = size[1]), round(x * 100))) {
      whole <- suff_gauss(data, device = "cuda")
      s <- kept(data)
      for (method in c("stable", "stable.fast", "original")) {
        for (rule in list(list(), list(maj.rule = TRUE))) {
          run <- function(stat) {
            args <- list(
              stat,
              gaussCItest,
              0.01,
              p = size[2],
              skel.method = method,
              m.max = 1,
              device = "cuda",
              result = "compact"
            )
            fit <- do.call(pc, c(args, rule), quote = TRUE)
            fit@call <- quote(f())
            fit
          }
          expect_identical(run(s), run(whole))
        }
      }
      expect_false(has_made(s))
    }
  }
  e <- expect_error(
    skeleton(s, gaussCItest, 0.01, p = 130, device = cuda_device(memory = 1e5)),
    class = "pcgpu_error_device_out_of_memory"
  )
  expect_match(conditionMessage(e), "GPU memory")
  # Data are freed once the correlations exist; both took 3.1 MB at first.
  plan <- run_details(skeleton(s, gaussCItest, 1e-10, p = 130, m.max = 0, device = cuda_device(memory = 3.3e6)))$memory
  expect_lte(sum(plan), 3.3e6)
})

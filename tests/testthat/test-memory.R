# Calls under limits of the address space (`ulimit -v`), each in a process of its own: from limits that leave next to
# nothing to limits under which all works, a call ends in its answer or in an error, never in a signal. A call that has
# its answer under a low limit is not tried under higher ones, except where the test asks for the answer.
# PCGPU_TEST_MEMORY=long tries many limits.
#
# The limit is set once packages are loaded and the input is made: R itself does not survive all limits while it loads
# packages.

# What a child runs, by name: `make` makes the input, `run` is the call, `mib` are what the limits leave.
memory_cases <- list(
  skeleton = list(
    make = quote(list(C = cor(matrix(rnorm(2500 * 30), 30)), n = 30)),
    run = quote(skeleton(input, gaussCItest, alpha = 0.05, p = 2500, m.max = 1, numCores = threads)),
    mib = c(2, 20, 60, 700)
  ),
  # Here R itself makes vectors of the arcs.
  expanded = list(
    make = quote(skeleton(
      list(C = matrix(0.5, 1200, 1200) + diag(0.5, 1200), n = 1000),
      gaussCItest,
      alpha = 0.01,
      p = 1200,
      m.max = 0,
      result = "compact"
    )),
    run = quote(as_pcalg(input)),
    mib = c(20, 700)
  ),
  compact = list(
    make = quote(list(C = cor(matrix(rnorm(2500 * 30), 30)), n = 30)),
    run = quote(
      edges(skeleton(input, gaussCItest, alpha = 0.05, p = 2500, m.max = 1, numCores = threads, result = "compact"))$p
    ),
    mib = c(2, 700)
  ),
  original = list(
    make = quote(list(C = cor(matrix(rnorm(600 * 30), 30)), n = 30)),
    run = quote(skeleton(
      input,
      gaussCItest,
      alpha = 0.01,
      p = 600,
      m.max = 1,
      method = "original",
      numCores = threads
    )),
    mib = c(5, 400)
  ),
  orient = list(
    make = quote(skeleton(
      list(C = cor(matrix(rnorm(800 * 30), 30)), n = 30),
      gaussCItest,
      alpha = 0.1,
      p = 800,
      m.max = 0
    )),
    run = quote(orient(input)),
    mib = 6
  ),
  discrete = list(
    make = quote(list(dm = matrix(sample(0:2, 12 * 50000, TRUE), ncol = 12), nlev = rep(3L, 12), adaptDF = FALSE)),
    run = quote(skeleton(input, disCItest, alpha = 0.01, p = 12, m.max = 1, numCores = threads)),
    mib = 0.1
  ),
  neighbours = list(
    make = quote(suff_knn(matrix(rnorm(6e5), 2e5), k_perm = 199999, permutations = 1, seed = 1)),
    run = quote(cmiKnnCItest(1, 2, 3, input)),
    mib = 3000
  ),
  continuous = list(
    make = quote(suff_knn(matrix(rnorm(1500), ncol = 3), k_perm = 400, permutations = 9, seed = 1)),
    run = quote(skeleton(input, cmiKnnCItest, alpha = 0.1, p = 3, numCores = threads)),
    mib = 0.1
  ),
  mixed = list(
    make = quote(suff_knn(data.frame(a = rnorm(200), b = gl(2, 100), c = rnorm(200)), permutations = 9, seed = 1)),
    run = quote(skeleton(input, mixedCItest, alpha = 0.1, p = 3, numCores = threads)),
    mib = 0.1
  ),
  sparse = list(
    make = quote(Matrix::sparseMatrix(i = 1, j = 1, x = 1, dims = c(1e5, 5e4))),
    run = quote(unclass(select_features(input, rep(1:2, 5e4), 1, numCores = threads))),
    mib = c(12, 3000),
    package = "Matrix"
  ),
  features = list(
    make = quote(matrix(rnorm(2e6), ncol = 40)),
    run = quote(unclass(select_features(input, rep(1:2, 25000), 2, numCores = threads))),
    mib = 1
  ),
  suff_gauss = list(make = quote(matrix(rnorm(2e6), ncol = 100)), run = quote(suff_gauss(input)), mib = 10),
  moments = list(
    make = quote(matrix(rnorm(3e6), ncol = 1000)),
    run = quote(suff_gauss(c(gauss_moments(input), gauss_moments(input[1:500, ])))),
    mib = c(30, 400)
  ),
  narrow_moments = list(
    make = quote(matrix(rnorm(2e6), ncol = 50)),
    run = quote(suff_gauss(function() {
      if (mib > 0) {
        mib <<- -1
        input
      }
    })),
    mib = c(2, 10)
  ),
  sparse_gauss = list(
    make = quote(Matrix::rsparsematrix(3000, 2000, 0.05)),
    run = quote(suff_gauss(input)),
    mib = c(30, 400),
    package = "Matrix"
  ),
  file = list(
    make = quote(matrix(rnorm(3e6), ncol = 1000)),
    run = quote({
      path <- tempfile()
      suff_gauss(write_pcgpu_file(input, path))
    }),
    mib = c(2, 400)
  ),
  suff_discrete = list(
    make = quote(matrix(sample(1:3, 2e6, TRUE), ncol = 40)),
    run = quote(suff_discrete(input)),
    mib = 10
  ),
  # A column in compact form, which R expands when its values are read.
  compact_column = list(
    make = quote(list2DF(list(a = rep_len(1:3, 2^24), b = seq_len(2^24)))),
    run = quote(suff_discrete(input)),
    mib = 40
  ),
  # R's own copies of data.
  copied_knn = list(
    make = quote(matrix(runif(4e6), ncol = 2)),
    run = quote(suff_knn(input, permutations = 1)),
    mib = 40
  ),
  copied_features = list(
    make = quote(list2DF(list(a = runif(4e6), b = runif(4e6)))),
    run = quote(select_features(as.matrix(input), input$a > 0, 1)),
    mib = 30
  ),
  copied_file = list(
    make = quote(list2DF(list(a = runif(4e6), b = runif(4e6)))),
    run = quote(write_pcgpu_file(input, tempfile())),
    mib = 30
  ),
  made_data = list(make = quote(random_dag(100, seed = 1)), run = quote(random_data(input, 50000)), mib = 20),
  effects = list(
    make = quote(pc(list(C = diag(1200), n = 100), gaussCItest, 0.01, p = 1200, result = "compact")),
    run = quote(causal_effects(input, mcov = diag(1200))),
    mib = 15
  )
)

# Runs `make`, sets a limit of memory, and runs `run`. Writes "answer" with a sum of it, or "error" with its class, to a
# file that it opened before the limit, because there may be no room afterwards.
in_little_memory <- function(case, mib, threads, report) {
  # What a call loads when it is first made, an error's text among it.
  small <- skeleton(list(C = diag(3), n = 20), gaussCItest, alpha = 0.1, p = 3)
  try(skeleton(list(C = diag(3), n = 20), gaussCItest, alpha = "a", p = 3), silent = TRUE)
  set.seed(1)
  input <- NULL
  # `run` may change `mib`.
  here <- environment()
  input <- eval(case$make, here)
  # Returns one number from the parts that do not depend on the time.
  sum_of <- function(found) {
    if (isS4(found)) {
      found <- list(found@n.edgetests, found@max.ord, found@graph@edgeL, lengths(found@sepset))
    }
    share <- function(x) {
      if (is.list(x)) {
        sum(vapply(x, share, 0))
      } else if (is.numeric(x)) {
        sum(x)
      } else {
        0
      }
    }
    format(share(found), digits = 12)
  }
  invisible(sum_of(small))
  # The code that reports the end is read while there is still room for it.
  for (used in list(cat, paste, class, conditionMessage, conditionMessage.condition)) {
    NULL
  }
  report <- file(report, "w")
  # Without the limit, this process can report its end to R. This does not test whether R can do so within the limit.
  before <- system2("prlimit", c("--pid", Sys.getpid(), "--as", "--noheadings", "--output", "SOFT"), stdout = TRUE)
  lift <- sprintf("prlimit --pid %d --as=%s:", Sys.getpid(), trimws(before))
  system("true")
  if (is.finite(mib)) {
    status <- readLines("/proc/self/status")
    kib <- as.numeric(gsub("[^0-9]", "", grep("^VmSize:", status, value = TRUE)))
    set <- system2("prlimit", c("--pid", Sys.getpid(), sprintf("--as=%.0f:", 1024 * kib + 1048576 * mib)))
    stopifnot(set == 0L)
  }
  said <- tryCatch(
    {
      # Where there is a GPU whose driver finds no memory, a message says that the CPU takes over.
      found <- suppressMessages(eval(case$run, here))
      paste("answer", sum_of(found))
    },
    error = function(e) paste("error", class(e)[1], conditionMessage(e))
  )
  cat(said, "\n", file = report)
  close(report)
  if (is.finite(mib)) {
    try(system(lift), silent = TRUE)
  }
  TRUE
}

# Runs each of `calls`, list(case, mib, threads), in a process of its own and returns a data frame(ended, said). The
# processes are forks of one that has loaded the packages and called nothing yet. It runs without R's compiler, which
# crashes if a regular expression finds no memory (R 4.2).
all_in_little_memory <- function(calls) {
  files <- tempfile(c("script", "calls", "found"))
  on.exit(unlink(files))
  saveRDS(list(run = `environment<-`(in_little_memory, globalenv()), calls = calls), files[2])
  writeLines(
    c(
      "library(pcgpu)",
      "given <- readRDS(commandArgs(TRUE)[1])",
      "for (call in given$calls) if (!is.null(call$case$package)) loadNamespace(call$case$package)",
      "found <- lapply(given$calls, function(call) {",
      # Not in its own folder, which a process that crashes removes.
      "  report <- tempfile(tmpdir = dirname(commandArgs(TRUE)[1]))",
      "  child <- parallel::mcparallel(do.call(given$run, c(call, report = report)), mc.set.seed = FALSE)",
      # A process that ends by a signal, or by glibc, brings nothing.
      "  ended <- isTRUE(suppressWarnings(parallel::mccollect(child))[[1]])",
      "  said <- if (file.exists(report)) readLines(report)",
      "  unlink(report)",
      "  data.frame(ended, said = paste(said, collapse = \"\\n\"))",
      "})",
      "saveRDS(do.call(rbind, found), commandArgs(TRUE)[2])"
    ),
    files[1]
  )
  command <- sprintf(
    "ulimit -c 0; R_ENABLE_JIT=0 R_LIBS=%s exec %s --vanilla %s",
    shQuote(paste(.libPaths(), collapse = .Platform$path.sep)),
    shQuote(file.path(R.home("bin"), "Rscript")),
    paste(shQuote(files), collapse = " ")
  )
  log <- system2("/bin/sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE)
  if (!file.exists(files[3])) {
    stop(paste(log, collapse = "\n"))
  }
  readRDS(files[3])
}

test_that("a call under a limit of memory ends in its answer or in an error", {
  skip_on_cran()
  skip_if_not(Sys.info()[["sysname"]] == "Linux", "limits of memory are tested on Linux")
  skip_if_not(nzchar(Sys.which("prlimit")), "prlimit is not installed")
  long <- identical(Sys.getenv("PCGPU_TEST_MEMORY"), "long")
  wanted <- Sys.getenv("PCGPU_TEST_MEMORY_CASES", paste(names(memory_cases), collapse = " "))
  calls <- list()
  for (name in strsplit(wanted, " ", fixed = TRUE)[[1L]]) {
    case <- memory_cases[[name]]
    if (!requireNamespace(if (is.null(case$package)) "stats" else case$package, quietly = TRUE)) {
      next
    }
    limits <- if (long) c(Inf, seq(0, 8, 0.5), seq(10, 60, 2), seq(70, 300, 10), 400, 600, 1000) else case$mib
    for (threads in if (long) c(1, 2, 8) else 2) {
      for (mib in limits) {
        calls[[sprintf("%s %g, %d threads", name, mib, threads)]] <- list(case = case, mib = mib, threads = threads)
      }
    }
  }
  found <- all_in_little_memory(calls)
  labels <- names(calls)
  for (i in seq_along(calls)) {
    said <- found$said[i]
    info <- sprintf("%s: %s", labels[i], said)
    expect_true(found$ended[i], info = info)
    # Our error, or R's own if it has no room to load more of our code.
    expect_match(
      said,
      "answer|error pcgpu_error_memory|error simpleError .*(alloc|memory|lazy-load)|error .*C stack",
      info = info
    )
    if (long && grepl("^answer", said)) {
      all_memory <- sub(" [^ ]+, .*", " Inf, 2 threads", labels[i])
      expect_identical(said, found$said[labels == all_memory], info = info)
    }
  }
  seen <- stats::setNames(found$said, sub(",.*", "", labels))
  skip_if(long)
  expect_match(seen["neighbours 3000"], "error pcgpu_error_memory .*`k_perm`")
  enough <- intersect(
    c(
      "sparse 3000",
      "skeleton 700",
      "compact 700",
      "expanded 700",
      "original 400",
      "moments 400",
      "sparse_gauss 400",
      "file 400"
    ),
    names(seen)
  )
  expect_gte(length(enough), 3L)
  expect_match(seen[enough], "^answer")
  # From R 4.3 on the p x p slots are made cell by cell.
  if (getRversion() < "4.3") {
    expect_match(seen["skeleton 20"], "error pcgpu_error_memory .*result = \"compact\"")
  }
  expect_match(
    seen[c("compact_column 40", "copied_knn 40", "copied_features 30", "copied_file 30", "made_data 20", "effects 15")],
    "error pcgpu_error_memory"
  )
  expect_match(seen["compact_column 40"], "compact form|a copy of the data")
  # Our own check, or R's allocation.
  expect_match(
    seen["expanded 20"],
    "error pcgpu_error_memory .*(cannot allocate vector|can get only).*result = \"compact\""
  )
})

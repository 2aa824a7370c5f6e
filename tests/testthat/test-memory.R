# Calls under limits of the address space (`ulimit -v`), each in a process of its own: from limits that leave next to nothing to
# limits under which all works, a call ends in its answer or in an error, never in a signal. PCGPU_TEST_MEMORY=long tries many.
#
# The limit is set once packages are loaded and the input is made: R itself does not survive all limits while it loads packages.

# What a child runs, by name: `make` makes the input, `run` is the call, `mib` are what the limits leave.
memory_cases <- list(
  skeleton = list(
    make = quote(list(C = cor(matrix(rnorm(2500 * 30), 30)), n = 30)),
    run = quote(skeleton(input, gaussCItest, alpha = 0.05, p = 2500, m.max = 1, numCores = threads)),
    mib = c(2, 20, 60, 130, 700)
  ),
  # Here R itself makes vectors of the arcs.
  expanded = list(
    make = quote(skeleton(list(C = matrix(0.5, 2000, 2000) + diag(0.5, 2000), n = 1000), gaussCItest,
      alpha = 0.01, p = 2000, m.max = 0, result = "compact"
    )),
    run = quote(as_pcalg(input)),
    mib = c(60, 700)
  ),
  compact = list(
    make = quote(list(C = cor(matrix(rnorm(2500 * 30), 30)), n = 30)),
    run = quote(edges(skeleton(input, gaussCItest, alpha = 0.05, p = 2500, m.max = 1, numCores = threads, result = "compact"))$p),
    mib = c(2, 20, 700)
  ),
  original = list(
    make = quote(list(C = cor(matrix(rnorm(600 * 30), 30)), n = 30)),
    run = quote(skeleton(input, gaussCItest, alpha = 0.01, p = 600, m.max = 1, method = "original", numCores = threads)),
    mib = c(5, 400)
  ),
  orient = list(
    make = quote(skeleton(list(C = cor(matrix(rnorm(800 * 30), 30)), n = 30), gaussCItest, alpha = 0.1, p = 800, m.max = 0)),
    run = quote(orient(input)),
    mib = c(3, 30)
  ),
  discrete = list(
    make = quote(list(dm = matrix(sample(0:2, 12 * 50000, TRUE), ncol = 12), nlev = rep(3L, 12), adaptDF = FALSE)),
    run = quote(skeleton(input, disCItest, alpha = 0.01, p = 12, m.max = 1, numCores = threads)),
    mib = c(0.1, 3)
  ),
  neighbours = list(
    make = quote(suff_knn(matrix(rnorm(6e5), 2e5), k_perm = 199999, permutations = 1, seed = 1)),
    run = quote(cmiKnnCItest(1, 2, 3, input)),
    mib = 3000
  ),
  continuous = list(
    make = quote(suff_knn(matrix(rnorm(1500), ncol = 3), k_perm = 400, permutations = 9, seed = 1)),
    run = quote(skeleton(input, cmiKnnCItest, alpha = 0.1, p = 3, numCores = threads)),
    mib = c(0.1, 1)
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
    mib = c(1, 400)
  ),
  suff_gauss = list(
    make = quote(matrix(rnorm(2e6), ncol = 100)),
    run = quote(suff_gauss(input)),
    mib = 10
  ),
  moments = list(
    make = quote(matrix(rnorm(3e6), ncol = 1000)),
    run = quote(suff_gauss(c(gauss_moments(input), gauss_moments(input[1:500, ])))),
    mib = c(2, 30, 400)
  ),
  narrow_moments = list(
    make = quote(matrix(rnorm(2e6), ncol = 50)),
    run = quote(suff_gauss(function() if (mib > 0) {
      mib <<- -1
      input
    })),
    mib = c(2, 10)
  ),
  sparse_gauss = list(
    make = quote(Matrix::rsparsematrix(3000, 2000, 0.05)),
    run = quote(suff_gauss(input)),
    mib = c(2, 30, 400),
    package = "Matrix"
  ),
  file = list(
    make = quote(matrix(rnorm(3e6), ncol = 1000)),
    run = quote({
      path <- tempfile()
      suff_gauss(write_pcgpu_file(input, path))
    }),
    mib = c(2, 60, 400)
  ),
  suff_discrete = list(
    make = quote(matrix(sample(1:3, 2e6, TRUE), ncol = 40)),
    run = quote(suff_discrete(input)),
    mib = 10
  )
)

# A child says "answer" with a sum of it, or "error" with its class.
memory_script <- function(case, mib, threads) {
  limit <- quote({
    status <- readLines("/proc/self/status")
    kib <- as.numeric(gsub("[^0-9]", "", grep("^VmSize:", status, value = TRUE)))
    set <- system2("prlimit", c("--pid", Sys.getpid(), sprintf("--as=%.0f", 1024 * kib + 1048576 * mib)))
    stopifnot(set == 0L)
  })
  c(
    "library(pcgpu)",
    # What a call loads when it is first made, an error's text among it.
    "small <- skeleton(list(C = diag(3), n = 20), gaussCItest, alpha = 0.1, p = 3)",
    "try(skeleton(list(C = diag(3), n = 20), gaussCItest, alpha = \"a\", p = 3), silent = TRUE)",
    "set.seed(1)",
    paste("threads <-", threads),
    paste("mib <-", mib),
    "input <-", deparse(case$make),
    # What does not depend on the time, as one number.
    "sum_of <- function(found) {",
    "  if (isS4(found)) found <- list(found@n.edgetests, found@max.ord, found@graph@edgeL, lengths(found@sepset))",
    "  share <- function(x) if (is.list(x)) sum(vapply(x, share, 0)) else if (is.numeric(x)) sum(x) else 0",
    "  format(share(found), digits = 12)",
    "}",
    "invisible(sum_of(small))",
    # What tells of the end is read before there is no room for it.
    "for (used in list(cat, paste, class, conditionMessage, conditionMessage.condition)) NULL",
    if (is.finite(mib)) deparse(limit),
    "said <- tryCatch({",
    # Where there is a GPU whose driver finds no memory, a message says that the CPU takes over.
    "found <- suppressMessages(", deparse(case$run), ")",
    "paste(\"answer\", sum_of(found))",
    "}, error = function(e) paste(\"error\", class(e)[1], conditionMessage(e)))",
    "cat(said, \"\\n\")"
  )
}

in_little_memory <- function(case, mib, threads) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(memory_script(case, mib, threads), script)
  # Without R's compiler, which crashes where a regular expression finds no memory (R 4.2).
  command <- sprintf(
    "ulimit -c 0; R_ENABLE_JIT=0 R_LIBS=%s exec %s --vanilla %s 2>&1",
    shQuote(paste(.libPaths(), collapse = .Platform$path.sep)),
    shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script)
  )
  # The status is printed too: R takes 127, with which glibc ends a process, for a command that there is not.
  said <- system2("/bin/sh", c("-c", shQuote(paste0("(", command, "); echo status $?"))), stdout = TRUE)
  list(status = as.integer(sub("status ", "", said[length(said)])), said = paste(said[-length(said)], collapse = "\n"))
}

test_that("a call under a limit of memory ends in its answer or in an error", {
  skip_on_cran()
  skip_if_not(Sys.info()[["sysname"]] == "Linux", "limits of memory are tested on Linux")
  skip_if_not(nzchar(Sys.which("prlimit")), "prlimit is not installed")
  long <- identical(Sys.getenv("PCGPU_TEST_MEMORY"), "long")
  wanted <- Sys.getenv("PCGPU_TEST_MEMORY_CASES", paste(names(memory_cases), collapse = " "))
  seen <- character()
  for (name in strsplit(wanted, " ", fixed = TRUE)[[1L]]) {
    case <- memory_cases[[name]]
    if (!requireNamespace(case$package %||% "stats", quietly = TRUE)) next
    limits <- if (long) c(seq(0, 8, 0.5), seq(10, 60, 2), seq(70, 300, 10), 400, 600, 1000) else case$mib
    answer <- if (long) in_little_memory(case, Inf, 2)$said
    for (threads in if (long) c(1, 2, 8) else 2) {
      for (mib in limits) {
        child <- in_little_memory(case, mib, threads)
        info <- sprintf("%s, %g MiB, %d threads: %s", name, mib, threads, child$said)
        expect_identical(child$status, 0L, info = info)
        # Ours, or R's own: also where it has no room for code of ours that it has not read yet.
        expect_match(child$said, "answer|error pcgpu_error_memory|error simpleError .*(alloc|memory|lazy-load)|error .*C stack", info = info)
        if (long && grepl("^answer", child$said)) {
          expect_identical(child$said, answer, info = info)
        }
        seen[paste(name, mib)] <- child$said
      }
    }
  }
  skip_if(long)
  expect_match(seen["neighbours 3000"], "error pcgpu_error_memory .*`k_perm`")
  enough <- intersect(c("sparse 3000", "skeleton 700", "compact 700", "expanded 700", "original 400", "features 400", "moments 400", "sparse_gauss 400", "file 400"), names(seen))
  expect_gte(length(enough), 3L)
  expect_match(seen[enough], "^answer")
  expect_match(seen[c("skeleton 20", "skeleton 60")], "error pcgpu_error_memory")
  expect_match(seen["skeleton 20"], "result = \"compact\"", fixed = TRUE)
  # R's own allocation.
  expect_match(seen["expanded 60"], "error pcgpu_error_memory .*cannot allocate vector.*result = \"compact\"")
})

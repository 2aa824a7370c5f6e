# Calls under limits of the address space, each in a process of its own: from limits under which R just starts to limits under
# which all works, a call ends in its answer or in an error, never in a signal. PCGPU_TEST_MEMORY=long tries many limits.

# What a child runs, by name: `make` the input without a limit's pressure, `run` the call.
memory_cases <- list(
  skeleton = list(
    make = quote(list(C = cor(matrix(rnorm(2500 * 30), 30)), n = 30)),
    run = quote(skeleton(input, gaussCItest, alpha = 0.05, p = 2500, m.max = 1, numCores = threads)),
    mib = c(200, 260, 330, 450, 900)
  ),
  original = list(
    make = quote(list(C = cor(matrix(rnorm(600 * 30), 30)), n = 30)),
    run = quote(skeleton(input, gaussCItest, alpha = 0.01, p = 600, m.max = 1, method = "original", numCores = threads)),
    mib = c(165, 600)
  ),
  orient = list(
    make = quote(skeleton(list(C = cor(matrix(rnorm(800 * 30), 30)), n = 30), gaussCItest, alpha = 0.1, p = 800, m.max = 0)),
    run = quote(orient(input)),
    mib = c(185, 600)
  ),
  discrete = list(
    make = quote(list(dm = matrix(sample(0:2, 12 * 50000, TRUE), ncol = 12), nlev = rep(3L, 12), adaptDF = FALSE)),
    run = quote(skeleton(input, disCItest, alpha = 0.01, p = 12, m.max = 1, numCores = threads)),
    mib = c(160, 175, 600)
  ),
  neighbours = list(
    make = quote(suff_knn(matrix(rnorm(6e5), 2e5), k_perm = 199999, permutations = 1, seed = 1)),
    run = quote(cmiKnnCItest(1, 2, 3, input)),
    mib = c(200, 3000)
  ),
  continuous = list(
    make = quote(suff_knn(matrix(rnorm(1500), ncol = 3), k_perm = 400, permutations = 9, seed = 1)),
    run = quote(skeleton(input, cmiKnnCItest, alpha = 0.1, p = 3, numCores = threads)),
    mib = c(152, 600)
  ),
  mixed = list(
    make = quote(suff_knn(data.frame(a = rnorm(200), b = gl(2, 100), c = rnorm(200)), permutations = 9, seed = 1)),
    run = quote(skeleton(input, mixedCItest, alpha = 0.1, p = 3, numCores = threads)),
    mib = c(152, 600)
  ),
  sparse = list(
    make = quote(Matrix::sparseMatrix(i = 1, j = 1, x = 1, dims = c(1e5, 5e4))),
    run = quote(unclass(select_features(input, rep(1:2, 5e4), 1, numCores = threads))),
    mib = c(240, 3000),
    package = "Matrix"
  ),
  features = list(
    make = quote(matrix(rnorm(2e6), ncol = 40)),
    run = quote(unclass(select_features(input, rep(1:2, 25000), 2, numCores = threads))),
    mib = c(185, 600)
  ),
  suff_gauss = list(
    make = quote(matrix(rnorm(2e6), ncol = 100)),
    run = quote(suff_gauss(input)),
    mib = c(185, 600)
  ),
  suff_discrete = list(
    make = quote(matrix(sample(1:3, 2e6, TRUE), ncol = 40)),
    run = quote(suff_discrete(input)),
    mib = c(170, 600)
  )
)

# A child under a limit says "answer" with a sum of it, or "error" with its class.
memory_script <- function(case, threads) {
  c(
    "said <- tryCatch({",
    "library(pcgpu)",
    "set.seed(1)",
    paste("threads <-", threads),
    "input <-", deparse(case$make),
    "found <- ", deparse(case$run),
    # What does not depend on the time, without a copy: each part's share.
    "if (isS4(found)) found <- list(found@n.edgetests, found@max.ord, found@graph@edgeL, sum(lengths(found@sepset)))",
    "share <- function(x) if (is.list(x)) sum(vapply(x, share, 0)) else if (is.numeric(x)) sum(x) else 0",
    "paste(\"answer\", format(share(found), digits = 12))",
    "}, error = function(e) paste(\"error\", class(e)[1], conditionMessage(e)))",
    "cat(said, \"\\n\")"
  )
}

in_little_memory <- function(case, kib, threads) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(memory_script(case, threads), script)
  command <- sprintf(
    "ulimit -c 0; %s R_LIBS=%s exec %s --vanilla %s 2>&1",
    if (is.na(kib)) "" else sprintf("ulimit -v %d || exit 99;", kib),
    shQuote(paste(.libPaths(), collapse = .Platform$path.sep)),
    shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script)
  )
  said <- suppressWarnings(system2("/bin/sh", c("-c", shQuote(command)), stdout = TRUE))
  list(status = attr(said, "status") %||% 0L, said = paste(said, collapse = "\n"))
}

test_that("a call under a limit of memory ends in its answer or in an error", {
  skip_on_cran()
  skip_if_not(Sys.info()[["sysname"]] == "Linux", "limits of memory are tested on Linux")
  skip_if_not(system2("/bin/sh", c("-c", shQuote("ulimit -v 4000000"))) == 0L, "no ulimit -v")
  long <- identical(Sys.getenv("PCGPU_TEST_MEMORY"), "long")
  seen <- character()
  for (name in names(memory_cases)) {
    case <- memory_cases[[name]]
    if (!requireNamespace(case$package %||% "stats", quietly = TRUE)) next
    limits <- if (long) c(seq(146, 400, 4), seq(420, 1000, 40)) else case$mib
    wanted <- if (long) in_little_memory(case, NA, 2)$said
    for (threads in if (long) c(1, 2, 8) else 2) {
      for (mib in limits) {
        child <- in_little_memory(case, as.integer(mib * 1024), threads)
        info <- sprintf("%s, %g MiB, %d threads: %s", name, mib, threads, child$said)
        # 1 is R's own end where it cannot even start.
        expect_true(child$status == 0L || (mib < 200 && child$status == 1L), info = info)
        expect_match(child$said, "^answer|error pcgpu_error_memory|cannot allocate|unable to load|failed to map|startup|memory exhausted", info = info)
        if (long && startsWith(child$said, "answer")) {
          expect_identical(child$said, wanted, info = info)
        }
        seen[paste(name, mib)] <- child$said
      }
    }
  }
  # What limits cannot make fail on any machine.
  expect_match(seen["neighbours 3000"], "error pcgpu_error_memory .*`k_perm`")
  skip_if(long)
  expect_match(seen["sparse 3000"], "^answer")
  expect_match(seen["skeleton 900"], "^answer")
  expect_match(seen["skeleton 260"], "error pcgpu_error_memory")
})

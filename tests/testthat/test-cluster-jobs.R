# Workers that other packages describe or start: BiocParallel, future and batchtools.

# Expects workers to give the answers of this process. `test`: for a second search, by an R function.
expect_answers_of_workers <- function(cluster, test = slow_test) {
  s <- suff(p = 8, n = 300, degree = 3)
  fit <- pc(s, gaussCItest, 0.05, p = 8, cluster = cluster)
  expect_match(run_details(fit)$device, "^worker [12] ")
  expect_identical_answer(fit, pc(s, gaussCItest, 0.05, p = 8))
  if (!is.null(test)) expect_identical_answer(pc(s, test, 0.05, p = 8, cluster = cluster), pc(s, test, 0.05, p = 8))
}

# Sets this empty folder as that of jobs until the calling frame ends.
folder_of_jobs <- function(env = parent.frame()) {
  within <- tempfile()
  dir.create(within)
  before <- options(pcgpu.cluster_folder = within, pcgpu.cluster_wait = 120)
  do.call(
    on.exit,
    list(
      bquote({
        options(.(before))
        unlink(.(within), recursive = TRUE)
      }),
      add = TRUE
    ),
    envir = env
  )
  within
}

test_that("workers of a SnowParam and of a MulticoreParam give the same answers", {
  skip_if_not_installed("BiocParallel")
  expect_answers_of_workers(BiocParallel::SnowParam(2))
  expect_answers_of_workers(BiocParallel::MulticoreParam(2))
})

test_that("params without a second worker, of MPI or of an unknown batch system are refused", {
  skip_if_not_installed("BiocParallel")
  search <- function(param) pc(suff(), gaussCItest, 0.05, p = 8, cluster = param)
  expect_error(search(BiocParallel::SerialParam()), "a single worker: leave it out", class = "pcgpu_error_argument")
  expect_error(search(BiocParallel::SnowParam(2, type = "MPI")), "makeMPIcluster", class = "pcgpu_error_argument")
  skip_if_not_installed("batchtools")
  param <- BiocParallel::BatchtoolsParam(1, cluster = "interactive")
  expect_error(search(param), "give a BatchtoolsParam for slurm", class = "pcgpu_error_argument")
})

test_that("jobs of a BatchtoolsParam give the same answers, and leave nothing behind", {
  skip_on_cran()
  skip_if_not_installed("BiocParallel")
  skip_if_not_installed("batchtools")
  within <- folder_of_jobs()
  expect_answers_of_workers(BiocParallel::BatchtoolsParam(2, cluster = "socket"), test = NULL)
  expect_length(list.files(within), 0L)
})

test_that("workers of a plan give the same answers, and are free afterwards", {
  skip_on_cran()
  skip_if_not_installed("future")
  within <- folder_of_jobs()
  before <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(before), add = TRUE)
  expect_answers_of_workers("future")
  expect_length(list.files(within), 0L)
  # A third job would wait for one that has not ended.
  jobs <- lapply(1:2, function(i) future::future(1, seed = NULL))
  expect_identical(lapply(jobs, future::value), list(1, 1))
  future::plan(future::sequential)
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, cluster = "future"),
    "plan has no worker processes",
    class = "pcgpu_error_argument"
  )
})

test_that("a plan whose workers cannot load pcgpu gives an error with this reason", {
  skip_on_cran()
  skip_if_not_installed("future")
  within <- folder_of_jobs()
  empty <- tempfile()
  dir.create(empty)
  before <- future::plan(future::multisession, workers = 2, rscript_libs = empty)
  on.exit(future::plan(before), add = TRUE)
  expect_error(
    pc(suff(), gaussCItest, 0.05, p = 8, cluster = "future"),
    "no package called .*pcgpu.*installed in the jobs' library",
    class = "pcgpu_error_cluster"
  )
  expect_length(list.files(within), 0L)
})

# Part of tools/cluster-check: runs searches through one driver of workers, and compares each with the same search
# without workers.
#   Rscript tools/cluster-check.R PART FOLDER TABLE
arguments <- commandArgs(trailingOnly = TRUE)
part <- arguments[1]
folder <- arguments[2]
table <- arguments[3]
suppressMessages(library(pcgpu))
options(pcgpu.cluster_folder = folder, pcgpu.cluster_wait = 60, pcgpu.progress = FALSE)
root <- getwd()
test_path <- function(...) file.path(root, "tests/testthat", ...)
skip_if_not_installed <- function(...) NULL
for (helper in c("data", "golden", "discrete", "knn")) {
  source(test_path(sprintf("helper-%s.R", helper)))
}

note <- function(what, passed, seconds, why = "") {
  line <- sprintf("%s  %-13s %-34s %6.1f s  %s", if (passed) "passed" else "FAILED", part, what, seconds, why)
  cat(line, "\n")
  cat(line, "\n", file = table, append = TRUE, sep = "")
}

# Returns whether two results are the same, except for the machines that made them.
same <- function(found, wanted) {
  if (inherits(found, "pcgpu_selection")) {
    parts <- c("index", "score", "relevance", "levels")
    return(identical(found[parts], wanted[parts]))
  }
  if (is.list(found)) {
    parts <- setdiff(names(found), c("call", "device", "team", "seconds", "details"))
    return(identical(unclass(found)[parts], unclass(wanted)[parts]))
  }
  found@call <- wanted@call <- quote(pc())
  identical(found, wanted)
}

# Runs a check; an error fails it, and is reported.
check <- function(what, code) {
  began <- proc.time()[["elapsed"]]
  outcome <- tryCatch(code, error = conditionMessage)
  note(what, isTRUE(outcome), proc.time()[["elapsed"]] - began, if (is.character(outcome)) outcome else "")
}

slow_test <- function(x, y, S, suffStat) {
  Sys.sleep(0.002)
  gaussCItest(x, y, S, suffStat)
}

# Returns functions that search, by name; they take further arguments for pc().
problems <- function() {
  recorded <- c(
    "gauss-p100",
    "gauss-p20-fixedEdges",
    "gauss-p12-NA-keep",
    "gauss-p40-n60",
    "dis-p20-n3000",
    "bin-p15-n1000"
  )
  golden <- lapply(recorded, function(name) golden_arguments(read_golden(name)))
  dense <- suff(p = 150, n = 300, degree = 30)
  codes <- simulate_codes(20, 1000)
  set.seed(1)
  near <- suff_knn(simulate_nonlinear(150, 4), permutations = 50)
  small <- suff(p = 10, n = 300, degree = 4)
  data <- as.data.frame(simulate(12, 200, degree = 3))
  dag <- random_dag(10, 2, seed = 1)
  of_dag <- random_data(dag, 200, seed = 1)
  # So many that they go by a file, see R/cluster-data.R.
  many <- suff(p = 1100, n = 200, degree = 2)
  # The largest that workers are given.
  features <- matrix(sample(0:2, 1e7, TRUE), 1000)
  list(
    "recorded answers" = function(...) {
      suppressWarnings(lapply(golden, function(case) do.call(skeleton, c(case, list(...)))))
    },
    "Gaussian, dense" = function(...) {
      list(pc(dense, gaussCItest, 0.05, p = 150, m.max = 3, skel.method = "stable.fast", ...))
    },
    "Gaussian, data in a file" = function(...) {
      list(skeleton(many, gaussCItest, 0.001, p = 1100, m.max = 1, method = "stable.fast", ...))
    },
    "discrete" = function(...) list(pc(codes, disCItest, 0.05, p = 20, ...)),
    "nearest neighbours" = function(...) list(pc(near, cmiKnnCItest, 0.05, p = 6, ...)),
    "a feature selection" = function(...) list(select_features(features, rep(0:1, 500), 30, discretize = "none", ...)),
    "FCI, RFCI and FCI+" = function(...) {
      # One test of the package, and one in R.
      each <- list(gaussCItest, slow_test)
      quiet <- function(code) suppressMessages(code, classes = "pcgpu_message_pdsep")
      c(
        lapply(each, function(test) quiet(fci(small, test, 0.05, p = 10, m.max = 1, ...))),
        lapply(each, function(test) rfci(small, test, 0.05, p = 10, m.max = 1, maj.rule = TRUE, ...)),
        list(fciPlus(small, slow_test, 0.05, p = 10, ...))
      )
    },
    "stability, cstar, markov_check" = function(...) {
      list(
        stability(data, gaussCItest, 0.05, replicates = 20, seed = 4, ...),
        cstar(data, 0.1, y = "v3", replicates = 10, seed = 4, ...),
        markov_check(dag, of_dag, gaussCItest, seed = 1, ...)
      )
    },
    "an R function, conservative" = function(...) list(pc(small, slow_test, 0.05, p = 10, conservative = TRUE, ...))
  )
}

# Runs each problem on these workers; fewer problems if each call starts jobs.
check_answers <- function(cluster, words = "", which = setdiff(names(all), but), but = NULL) {
  all <- problems()
  for (name in which) {
    wanted <- all[[name]]()
    check(paste0(name, words), {
      found <- all[[name]](cluster = cluster)
      first <- found[[1]]
      workers <- if (inherits(first, "pcgpu_stability")) first$device else run_details(first)$device
      if (!any(grepl("^worker", workers))) {
        stop("not on workers, but on ", toString(workers))
      }
      all(mapply(same, found, wanted))
    })
  }
}

# Takes a worker away in the middle of a search, by a shell command that uses its process id and job number. The
# worker's test writes these down.
check_loss <- function(cluster, what, command, message = "pcgpu_message_lost", seconds = 0.01) {
  s <- suff(p = 10, n = 300, degree = 4)
  file <- tempfile(tmpdir = folder)
  test <- function(x, y, S, suffStat) {
    if (length(S) > 0 && !file.exists(file)) {
      writeLines(paste(Sys.getpid(), Sys.getenv("SLURM_JOB_ID", "0")), paste0(file, ".part"))
      file.rename(paste0(file, ".part"), file)
    }
    Sys.sleep(seconds)
    gaussCItest(x, y, S, suffStat)
  }
  environment(test) <- list2env(list(file = file, seconds = seconds), parent = globalenv())
  wanted <- pc(s, slow_test, 0.05, p = 10)
  system(sprintf(
    "(for i in $(seq 1200); do [ -e %s ] && break; sleep 0.05; done; read pid job <%s && %s) >/dev/null 2>&1 &",
    file,
    file,
    command
  ))
  received <- character()
  check(
    what,
    withCallingHandlers(
      {
        found <- pc(s, test, 0.05, p = 10, cluster = cluster)
        if (!message %in% received) {
          stop("no message of class ", message)
        }
        same(found, wanted)
      },
      message = function(m) {
        received <<- c(received, class(m))
        if (!inherits(m, "pcgpu_message")) {
          cat(conditionMessage(m))
        }
        tryInvokeRestart("muffleMessage")
      }
    )
  )
}

# Starts workers of parallel, runs `code` on them, and ends them whatever became of them.
with_workers <- function(make, count, code) {
  cluster <- make(count)
  pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))
  on.exit({
    for (node in cluster) {
      try(close(node$con), silent = TRUE)
    }
    tools::pskill(pids, tools::SIGKILL)
  })
  code(cluster)
}

# A cluster's usual template, for BiocParallel and for future.batchtools alike.
template <- file.path(folder, "slurm.tmpl")
writeLines(
  c(
    "#!/bin/bash",
    "#SBATCH --job-name=<%= job.name %>",
    "#SBATCH --output=<%= log.file %>",
    "#SBATCH --error=<%= log.file %>",
    "#SBATCH --ntasks=1",
    "Rscript -e 'batchtools::doJobCollection(\"<%= uri %>\")'"
  ),
  template
)

of_plan <- c("Gaussian, dense", "Gaussian, data in a file", "a feature selection", "an R function, conservative")
switch(
  part,
  psock = {
    for (count in c(1, 2, 4)) {
      with_workers(parallel::makePSOCKcluster, count, function(cluster) check_answers(cluster, sprintf(" (%d)", count)))
    }
    with_workers(parallel::makePSOCKcluster, 2, function(cluster) {
      check_loss(cluster, "a worker killed", "kill -9 $pid")
    })
    with_workers(parallel::makePSOCKcluster, 2, function(cluster) {
      check_loss(cluster, "a worker that hangs", "kill -STOP $pid", "pcgpu_message_cluster")
    })
  },
  fork = {
    with_workers(parallel::makeForkCluster, 2, check_answers)
    with_workers(parallel::makeForkCluster, 2, function(cluster) check_loss(cluster, "a worker killed", "kill -9 $pid"))
  },
  mirai = {
    cluster <- mirai::make_cluster(2)
    check_answers(cluster, but = "recorded answers")
    check("usable afterwards", identical(unlist(parallel::clusterCall(cluster, function() 1)), c(1, 1)))
    check_loss(cluster, "a worker killed", "kill -9 $pid", seconds = 0.03)
    parallel::stopCluster(cluster)
  },
  mpi = {
    cluster <- snow::makeMPIcluster(2)
    check_answers(cluster)
    check("usable afterwards", identical(unlist(snow::clusterCall(cluster, function() 1)), c(1, 1)))
    # Open MPI 4.1 does not come back from snow::stopCluster().
    check("nothing left behind", length(list.files(folder, "^pcgpu-")) == 0)
    Rmpi::mpi.abort(0)
  },
  snow = check_answers(BiocParallel::SnowParam(2), but = "recorded answers"),
  multicore = check_answers(BiocParallel::MulticoreParam(2)),
  batchtools = {
    param <- BiocParallel::BatchtoolsParam(2, cluster = "slurm", template = template)
    check_answers(param, but = "recorded answers")
    check_loss(param, "a job cancelled", "scancel $job", seconds = 0.03)
    check_loss(param, "a worker killed", "kill -9 $pid", seconds = 0.03)
  },
  multisession = {
    future::plan(future::multisession, workers = 2)
    check_answers("future", which = of_plan)
    check_loss("future", "a worker killed", "kill -9 $pid", seconds = 0.03)
    future::plan(future::sequential)
  },
  slurm = {
    setwd(folder)
    future::plan(future.batchtools::batchtools_slurm, workers = 2, template = template)
    check_answers("future", which = of_plan)
    check_loss("future", "a job cancelled", "scancel $job", seconds = 0.03)
    future::plan(future::sequential)
  },
  vignette = source("tools/cluster-vignette.R"),
  stop("no such part: ", part)
)
if (part != "vignette") {
  check("nothing left behind", length(list.files(folder, "^pcgpu-")) == 0)
}

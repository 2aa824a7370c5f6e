# Workers that are jobs of another system: a plan of the package future, mirai, BiocParallel, batchtools. See
# cluster-jobs.R.

# Returns the workers of the current plan of the package future.
workers_of_plan <- function() {
  need_package("future", "`cluster = \"future\"` needs the package future")
  count <- getOption("pcgpu.cluster_workers", future::nbrOfWorkers())
  if (inherits(future::plan(), "sequential") || !is.finite(count)) {
    abort_argument(
      "cluster",
      "future",
      paste(
        "set a plan such as plan(multisession, workers = 4) or plan(batchtools_slurm),",
        "and options(pcgpu.cluster_workers = ) if the plan has no number of workers."
      ),
      is = "\"future\", but the current plan has no worker processes, or no number of them"
    )
  }
  jobs <- list()
  launch <- function(folder) {
    # Limits the wait for workers of the plan that are busy with something else.
    before <- options(future.wait.timeout = job_patience())
    on.exit(options(before))
    for (i in seq_len(count)) {
      # Ctrl-C in a terminal also reaches jobs of this machine. They end, and the plan gets its workers back.
      serve <- bquote(tryCatch(
        get("rank_serve", envir = asNamespace("pcgpu"))(.(folder), .(i)),
        interrupt = function(e) NULL
      ))
      jobs[[i]] <<- tryCatch(
        future::future(serve, substitute = FALSE, globals = FALSE, packages = "pcgpu", seed = NULL),
        error = function(e) {
          abort_cluster(
            sprintf("job %d of the plan cannot be started (%s)", i, conditionMessage(e)),
            "check that the plan's workers are alive and free, or set the plan again with future::plan()"
          )
        }
      )
    }
    function(which) !vapply(jobs[which], is_over, NA)
  }
  # A worker of the plan is free once the value of its future is read.
  end <- function() {
    for (job in jobs) {
      if (is_over(job)) tryCatch(future::value(job), error = function(e) NULL)
    }
  }
  why <- function(folder, which) {
    said <- lapply(jobs[which], function(job) {
      tryCatch(
        {
          future::value(job)
          NULL
        },
        error = conditionMessage
      )
    })
    toString(unique(unlist(said)))
  }
  job_workers(as.integer(count), launch, end, why)
}

# Returns whether a future has ended, with or without success. One whose process was killed may raise an error.
is_over <- function(job) tryCatch(suppressWarnings(future::resolved(job)), error = function(e) TRUE)

# Returns the workers of a cluster of mirai. Its nodes are not processes: successive calls of a node may run on
# different daemons, and a node runs one call at a time. So each node starts one job, which occupies a daemon until the
# call ends.
workers_of_mirai <- function(cluster) {
  unresolved <- getExportedValue("mirai", "unresolved")
  send <- node_function("sendCall", cluster)
  jobs <- list()
  launch <- function(folder) {
    for (i in seq_along(cluster)) {
      tryCatch(send(cluster[[i]], call_by_name, list("rank_serve", folder, i)), error = function(e) {
        abort_cluster(
          sprintf("worker %d of the cluster cannot be reached (%s)", i, conditionMessage(e)),
          "restart the cluster"
        )
      })
      jobs[[i]] <<- .subset2(cluster[[i]], "mirai")
    }
    function(which) vapply(jobs[which], unresolved, NA)
  }
  why <- function(folder, which) {
    toString(unique(unlist(lapply(jobs[which], function(job) if (!unresolved(job)) text_of(job$data)))))
  }
  job_workers(length(cluster), launch, why = why)
}

# Returns the workers that a BiocParallelParam describes.
workers_of_param <- function(param) {
  need_package("BiocParallel", "this `cluster` needs the package BiocParallel")
  count <- BiocParallel::bpnworkers(param)
  if (methods::is(param, "BatchtoolsParam")) {
    return(workers_of_batchtools(param, count))
  }
  if (methods::is(param, "SnowParam")) {
    if (identical(param$.clusterargs$type, "MPI")) {
      abort_argument(
        "cluster",
        class(param)[1L],
        "give a cluster made by snow::makeMPIcluster().",
        is = "a SnowParam of type \"MPI\", but MPI processes cannot be started for a single call"
      )
    }
    hosts <- BiocParallel::bpworkers(param)
    return(if (is.character(hosts)) workers_on_hosts(hosts) else own_workers(count))
  }
  if (count <= 1L && !methods::is(param, "MulticoreParam") || methods::is(param, "SerialParam")) {
    abort_argument("cluster", class(param)[1L], "leave it out.", is = "a BiocParallelParam with a single worker")
  }
  own_workers(count, fork = methods::is(param, "MulticoreParam"))
}

# Returns jobs of a batch system as workers, with the template and resources of the param.
workers_of_batchtools <- function(param, count) {
  need_package("batchtools", "a BatchtoolsParam needs the package batchtools")
  registry <- NULL
  of_system <- switch(
    param$cluster,
    slurm = batchtools::makeClusterFunctionsSlurm,
    sge = batchtools::makeClusterFunctionsSGE,
    lsf = batchtools::makeClusterFunctionsLSF,
    torque = batchtools::makeClusterFunctionsTORQUE,
    openlava = batchtools::makeClusterFunctionsOpenLava,
    multicore = ,
    socket = function(template) batchtools::makeClusterFunctionsSocket(count),
    abort_argument(
      "cluster",
      param$cluster,
      "give a BatchtoolsParam for slurm, sge, lsf, torque, openlava, multicore or socket.",
      is = sprintf("a BatchtoolsParam for \"%s\"", param$cluster)
    )
  )
  launch <- function(folder) {
    registry <<- suppressMessages(batchtools::makeRegistry(
      file.path(folder, "registry"),
      conf.file = NA,
      packages = "pcgpu",
      make.default = FALSE
    ))
    registry$cluster.functions <<- of_system(template = param$template)
    serve <- function(i, folder) get("rank_serve", envir = asNamespace("pcgpu"))(folder, i)
    environment(serve) <- baseenv()
    suppressMessages({
      batchtools::batchMap(serve, i = seq_len(count), more.args = list(folder = folder), reg = registry)
      with_own_libraries(batchtools::submitJobs(resources = as.list(param$resources), reg = registry))
    })
    function(which) suppressMessages(which %in% batchtools::findOnSystem(reg = registry)$job.id)
  }
  end <- function() {
    if (!is.null(registry)) {
      running <- suppressMessages(batchtools::findOnSystem(reg = registry))
      if (nrow(running)) suppressMessages(batchtools::killJobs(running, reg = registry))
    }
  }
  # Returns the last lines of a log.
  why <- function(folder, which) {
    logs <- list.files(file.path(folder, "registry", "logs"), full.names = TRUE)
    if (!length(logs)) {
      return("")
    }
    paste(trimws(utils::tail(readLines(logs[1L], warn = FALSE), 3L)), collapse = " ")
  }
  job_workers(as.integer(count), launch, end, why)
}

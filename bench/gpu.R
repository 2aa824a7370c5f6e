# Times pcgpu on a GPU and on the CPU of one machine, from a correlation matrix to a pcAlgo object. Compares the two
# answers field by field, and writes Markdown tables.
#
#   Rscript gpu.R [--out=FOLDER] [--seconds=150] [--repeats=5] [--device=cuda] [--parts=data,strategies,crossing,growth]
#                 [--csv=FILE]
#
# data        real data sets (data.R), GPU against all cores of the CPU
# strategies  "shared", "edge", "set" and "gpucsl", see ?cuda_device
# crossing    the number of variables from which the GPU is quicker: `auto_variables` in R/device.R
# growth      how the time on the GPU grows with variables, observations and density
#
# A case that is not begun when --seconds are over is left out, and the report says so. Ends with 1 where two answers
# differ.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))
source(file.path(here, "compare.R"))
suppressPackageStartupMessages({
  library(methods)
  library(graph)
  library(pcgpu)
})

out <- option("out", ".")
ends <- proc.time()[["elapsed"]] + as.double(option("seconds", "150"))
repeats <- as.integer(option("repeats", "5"))
gpu <- option("device", "cuda")
parts <- strsplit(option("parts", "data,strategies,crossing,growth"), ",")[[1]]
report <- file.path(out, "bench.md")
cat("", file = report)
wrong <- FALSE

tell <- function(...) {
  text <- paste0(..., "\n")
  cat(text)
  cat(text, file = report, append = TRUE)
}
row <- function(...) tell(sub("\n$", "", row_text(...)))
heading <- function(...) tell(sub("\n$", "", head_text(...)))
time_left <- function(what) {
  if (proc.time()[["elapsed"]] < ends) {
    return(TRUE)
  }
  tell("no time left for: ", what)
  FALSE
}

# Returns the seconds of the first call and of the repeats after it, and the last value.
timed <- function(call, times = repeats) {
  seconds <- double()
  for (i in seq_len(times + 1L)) {
    gc(FALSE)
    seconds[i] <- system.time(value <- call())[["elapsed"]]
    # A long case is repeated less often; the table says how often.
    if (i > 1L && sum(seconds[-1L]) > 15) break
  }
  list(first = seconds[1L], seconds = seconds[-1L], value = value)
}

search <- function(stat, alpha, device, method = "stable.fast", ...) {
  skeleton(stat, gaussCItest, alpha = alpha, p = ncol(stat$C), method = method, device = device, progress = FALSE, ...)
}
whole <- function(stat, alpha, device, method = "stable.fast") {
  pc(stat, gaussCItest, alpha = alpha, p = ncol(stat$C), skel.method = method, device = device, progress = FALSE)
}

# Returns the seconds of the first call of a fresh R process, which on a GPU opens the device and loads the kernels.
first_call <- function(stat, alpha, device) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(stat, file, compress = FALSE)
  code <- sprintf(
    paste(
      "suppressPackageStartupMessages(library(pcgpu)); stat <- readRDS('%s'); cat(system.time(skeleton(stat, gaussCItest,",
      "alpha = %g, p = ncol(stat$C), method = 'stable.fast', device = '%s', progress = FALSE))[['elapsed']])"
    ),
    file,
    alpha,
    device
  )
  said <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)), stdout = TRUE)
  as.numeric(said[length(said)])
}
same <- function(ours, theirs) {
  apart <- differences(ours, theirs)
  if (nzchar(apart)) {
    wrong <<- TRUE
  }
  if (nzchar(apart)) paste("NO:", apart) else "yes"
}

# Adds a row of results.csv. `stat` or `shape` has p and n.
keep <- function(suite, case, seconds, device, stat = NULL, shape = c(ncol(stat$C), stat$n), ...) {
  on_gpu <- device != "cpu"
  record(
    suite,
    case,
    seconds,
    p = shape[1L],
    n = shape[2L],
    device = if (on_gpu) "cuda" else "cpu",
    gpus = if (on_gpu) 1,
    threads = getOption("pcgpu.threads", parallel::detectCores()),
    ...
  )
}

tell(
  "Seconds as R sees them, minimum / median of up to ",
  repeats,
  " calls after a first one; `stable.fast`; ",
  "the CPU uses all ",
  parallel::detectCores(),
  " cores.\n"
)

real <- Filter(
  function(case) is_available(case[[1]]),
  list(
    list("nci60", 0.05),
    list("nci60", 0.01),
    list("mcc", 0.01),
    list("saureus", 0.05),
    list("dream5", 0.05),
    list("dream5", 0.01)
  )
)
if (!length(real)) {
  tell("The real data are not in ", bench_folder(), ": not timed.\n")
}
statistics <- new.env()
statistic <- function(name) {
  if (is.null(statistics[[name]])) {
    statistics[[name]] <- suff_gauss(load_data(name), device = "cpu")
  }
  statistics[[name]]
}

if ("data" %in% parts && length(real)) {
  tell("### Real data\n")
  heading(
    "data (alpha)",
    "p x n",
    "CI tests",
    "edges",
    "first pc() on the GPU",
    "pc() GPU",
    "pc() CPU",
    "skeleton() GPU",
    "skeleton() CPU",
    "orient()",
    "M tests/s GPU (skeleton)",
    "same answer",
    "repeats"
  )
  for (case in real) {
    name <- sprintf("%s (%g)", case[[1]], case[[2]])
    if (!time_left(name)) {
      next
    }
    stat <- statistic(case[[1]])
    fit <- timed(function() whole(stat, case[[2]], gpu))
    skel <- timed(function() search(stat, case[[2]], gpu))
    fit_cpu <- timed(function() whole(stat, case[[2]], "cpu"))
    skel_cpu <- timed(function() search(stat, case[[2]], "cpu"))
    orientation <- timed(function() orient(skel$value))
    tests <- sum(skel$value@n.edgetests)
    agree <- if (nzchar(differences(fit$value, fit_cpu$value))) "no" else "yes"
    own <- function(what, seconds, device, tests) {
      keep(
        "gpu",
        paste0(name, ", ", what),
        seconds,
        device,
        stat,
        alpha = case[[2]],
        method = "stable.fast",
        tests = tests,
        same = agree
      )
    }
    own("pc(), first call", fit$first, gpu, tests)
    own("pc()", fit$seconds, gpu, tests)
    own("pc()", fit_cpu$seconds, "cpu", tests)
    own("skeleton()", skel$seconds, gpu, tests)
    own("skeleton()", skel_cpu$seconds, "cpu", tests)
    own("orient()", orientation$seconds, "cpu", NULL)
    row(
      name,
      sprintf("%d x %d", ncol(stat$C), stat$n),
      format(tests, big.mark = ",", trim = TRUE),
      edge_count(skel$value),
      number(fit$first),
      spread(fit$seconds),
      spread(fit_cpu$seconds),
      spread(skel$seconds),
      spread(skel_cpu$seconds),
      spread(orientation$seconds),
      number(tests / min(skel$seconds) / 1e6),
      same(fit$value, fit_cpu$value),
      length(skel$seconds)
    )
  }
  tell("")
}

if ("strategies" %in% parts && length(real)) {
  tell("### Strategies, skeleton() on the GPU\n")
  heading("data (alpha)", "shared", "edge (cuPC-E: 2, 32)", "set (cuPC-S: 64, 2)", "gpucsl (64)", "same answer")
  for (case in Filter(function(case) case[[1]] %in% c("nci60", "saureus", "dream5"), real)) {
    name <- sprintf("%s (%g)", case[[1]], case[[2]])
    if (!time_left(paste("strategies,", name))) {
      next
    }
    stat <- statistic(case[[1]])
    runs <- lapply(c("shared", "edge", "set", "gpucsl"), function(strategy) {
      run <- timed(function() search(stat, case[[2]], cuda_device(gpu, strategy = strategy)))
      keep(
        "strategies",
        paste0(name, ", ", strategy),
        run$seconds,
        gpu,
        stat,
        alpha = case[[2]],
        method = "stable.fast"
      )
      run
    })
    row(
      name,
      vapply(runs, function(run) spread(run$seconds), ""),
      paste(vapply(runs[-1], function(run) same(run$value, runs[[1]]$value), ""), collapse = ", ")
    )
  }
  tell("")
}

if ("crossing" %in% parts) {
  tell("### Where the GPU overtakes the CPU: skeleton(), simulated data, 100 observations, alpha 0.01\n")
  heading("p", "CI tests", "GPU", "CPU", "CPU / GPU (medians)", "first call of a process, GPU", "CPU", "same answer")
  for (p in c(50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 4000)) {
    if (!time_left(paste("crossing, p =", p))) {
      next
    }
    stat <- suff_gauss(simulate(p, 100, parents = 1.5))
    ours <- timed(function() search(stat, 0.01, gpu))
    theirs <- timed(function() search(stat, 0.01, "cpu"))
    first <- if (p >= 500) c(first_call(stat, 0.01, gpu), first_call(stat, 0.01, "cpu")) else c(NA, NA)
    for (device in c(gpu, "cpu")) {
      of <- function(case, seconds) {
        keep(
          "crossing",
          case,
          seconds,
          device,
          stat,
          alpha = 0.01,
          method = "stable.fast",
          tests = sum(ours$value@n.edgetests)
        )
      }
      of(paste("p", p), if (device == "cpu") theirs$seconds else ours$seconds)
      if (p >= 500) of(paste0("p ", p, ", first call of a process"), first[if (device == "cpu") 2L else 1L])
    }
    row(
      p,
      format(sum(ours$value@n.edgetests), big.mark = ","),
      spread(ours$seconds),
      spread(theirs$seconds),
      number(stats::median(theirs$seconds) / stats::median(ours$seconds)),
      number(first),
      same(ours$value, theirs$value)
    )
  }
  tell("\n### Where the GPU overtakes cor(): suff_gauss()\n")
  heading("p x n", "million products", "GPU", "cor()", "cor() / GPU (medians)", "largest difference")
  for (size in list(c(200, 500), c(500, 100), c(500, 500), c(1000, 100), c(1000, 500), c(2000, 500))) {
    if (!time_left(paste("cor(), p =", size[1]))) {
      next
    }
    x <- simulate(size[1], size[2], parents = 1.5)
    ours <- timed(function() suff_gauss(x, device = gpu))
    theirs <- timed(function() suff_gauss(x, device = "cpu"))
    for (device in c(gpu, "cpu")) {
      keep(
        "crossing",
        sprintf("suff_gauss(), %d x %d", size[1], size[2]),
        (if (device == "cpu") theirs else ours)$seconds,
        device,
        shape = size
      )
    }
    row(
      sprintf("%d x %d", size[1], size[2]),
      number(size[2] * size[1] * (size[1] - 1) / 2e6),
      spread(ours$seconds),
      spread(theirs$seconds),
      number(stats::median(theirs$seconds) / stats::median(ours$seconds)),
      format(max(abs(ours$value$C - theirs$value$C)), digits = 2)
    )
  }
  tell("")
}

if ("growth" %in% parts) {
  tell("### How the time grows: simulated data, skeleton() on the GPU, alpha 0.01, correlations made on the GPU\n")
  heading(
    "p",
    "n",
    "parents a variable",
    "CI tests",
    "levels",
    "edges",
    "suff_gauss() s",
    "skeleton() s",
    "M tests/s",
    "repeats"
  )
  for (size in list(
    c(1000, 500, 1.5),
    c(2000, 500, 1.5),
    c(4000, 500, 1.5),
    c(8000, 500, 1.5),
    c(1000, 100, 1.5),
    c(1000, 2000, 1.5),
    c(1000, 8000, 1.5),
    c(1000, 500, 3),
    c(1000, 500, 5),
    c(1000, 500, 7),
    c(20000, 500, 1.5)
  )) {
    if (!time_left(sprintf("p = %g, n = %g", size[1], size[2]))) {
      next
    }
    x <- simulate(size[1], size[2], parents = size[3])
    made <- timed(function() suff_gauss(x, device = gpu), 1L)
    rm(x)
    large <- size[1] > 8000
    found <- timed(function() search(made$value, 0.01, gpu), if (large) 1L else 3L)
    tests <- sum(found$value@n.edgetests)
    name <- sprintf("%g x %g, %g parents, ", size[1], size[2], size[3])
    keep(
      "growth",
      paste0(name, "skeleton()"),
      found$seconds,
      gpu,
      shape = size[1:2],
      alpha = 0.01,
      method = "stable.fast",
      tests = tests
    )
    keep("growth", paste0(name, "suff_gauss()"), made$seconds, gpu, shape = size[1:2])
    row(
      size,
      format(tests, big.mark = ","),
      found$value@max.ord,
      edge_count(found$value),
      number(min(made$seconds)),
      spread(found$seconds),
      number(tests / min(found$seconds) / 1e6),
      length(found$seconds)
    )
    rm(made, found)
  }
  tell("")
}

if (wrong) {
  tell("**Answers differ.**")
  quit(status = 1)
}

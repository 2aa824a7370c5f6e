# Times two installed libraries of pcgpu on the same problems in turn, and prints a Markdown table with their ratios.
#
#   Rscript versus.R LIB_A LIB_B [PART ...] [--device=cpu|cuda:0] [--threads=0] [--processes=3] [--repeats=5] [--seconds=Inf]
#                    [--row-seconds=60] [--limit=1.03] [--rows=WORD] [--csv=FILE]
#
# LIB_A, LIB_B: folders with pcgpu in them (tools/install-package with PCGPU_LIB; or tar -xf pcgpu.tar.xz ./lib of a
# bundle for GPUs). LIB_A twice shows the noise of the machine. PART: gauss, discrete, neighbours, mixed, fci, selection; without
# any, all. --rows=WORD: only rows whose name has it. Real data and networks are those in PCGPU_BENCH_DATA (see data.R),
# as far as they are there.
#
# On a GPU machine gpu-check.sh --only versus runs this; once it has unpacked its bundle, so does
#   cd /opt/pcgpu-check && LD_LIBRARY_PATH=/opt/r-libs R_LIBS=$PWD/lib PCGPU_BENCH_DATA=$PWD/data \
#     Rscript bench/versus.R $PWD/before/lib $PWD/lib --device=cpu
#
# Each problem gets --processes pairs of R processes, a process a library. After a first call of each, one measures and
# then the other, --repeats times, with A and B first by turns; a measurement is as many calls as take A a tenth of a
# second. A row is left after --row-seconds of this, and rows are not begun when --seconds are over. B / A is the ratio
# of two measurements that stand together: its median over all pairs, and the ratio of the minima. Noise makes one of
# them large; a row whose both are above --limit counts as slower, and the program then ends with 1, as where answers
# differ. Times are those of whole calls: the results say nothing of the search alone (the core's example search_times
# does).
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
source(file.path(here, "data.R"))
source(file.path(here, "compare.R"))
libraries <- normalizePath(utils::head(operands(), 2), mustWork = TRUE)
if (length(libraries) != 2) {
  stop("give two libraries", call. = FALSE)
}
suppressPackageStartupMessages({
  library(methods)
  library(graph)
  # Answers come from both: the newer library reads those of the older.
  library(pcgpu, lib.loc = libraries[2])
})
parts <- operands()[-(1:2)]
if (!length(parts)) {
  parts <- c("gauss", "discrete", "neighbours", "mixed", "fci", "selection")
}
device <- option("device", "cpu")
threads <- as.integer(option("threads", "0"))
if (threads > 0) {
  options(pcgpu.threads = threads)
}
processes <- as.integer(option("processes", "3"))
repeats <- as.integer(option("repeats", "5"))
ends <- proc.time()[["elapsed"]] + as.double(option("seconds", "Inf"))
row_seconds <- as.double(option("row-seconds", "60"))
limit <- as.double(option("limit", "1.03"))
only <- option("rows", "")

# Returns a problem: its part and name, a function that makes its data, and the function that is timed, of the data and
# the device. That runs in a process that has one of the libraries. `gib` is the memory that it takes.
problem <- function(part, name, data, call, gib = 2) {
  environment(call) <- globalenv()
  list(part = part, name = name, data = data, call = call, gib = gib)
}
searching <- function(part, name, data, test, alpha, method = "stable.fast", m_max = Inf, result = "auto", ...) {
  settings <- list(test = test, alpha = alpha, method = method, m_max = m_max, result = result)
  problem(
    part,
    name,
    function() c(list(stat = data()), settings),
    function(d, device) {
      p <- ncol(
        if (is.null(d$stat$C)) {
          if (is.null(d$stat$dm)) d$stat$data else d$stat$dm
        } else {
          d$stat$C
        }
      )
      pcgpu::skeleton(
        d$stat,
        getExportedValue("pcgpu", d$test),
        alpha = d$alpha,
        p = p,
        method = d$method,
        m.max = d$m_max,
        device = device,
        progress = FALSE,
        result = d$result
      )
    },
    ...
  )
}
gauss <- function(name, data, alpha, ...) {
  searching("gauss", name, function() suff_gauss(data(), device = "cpu"), "gaussCItest", alpha, ...)
}

binary <- function(n, p) {
  set.seed(1)
  gaps <- matrix(TRUE, p, p)
  diag(gaps) <- gaps[1, 2] <- gaps[2, 1] <- FALSE
  list(stat = list(dm = matrix(sample(0:1, n * p, TRUE), n), nlev = rep(2, p), adaptDF = FALSE), gaps = gaps)
}
# Returns a function that runs skeleton() with fixed gaps for all pairs but one.
one_pair <- function(test) {
  eval(substitute(
    function(d, device) {
      pcgpu::skeleton(
        d$stat,
        pcgpu::test,
        alpha = 0.01,
        p = ncol(d$gaps),
        fixedGaps = d$gaps,
        device = device,
        progress = FALSE,
        result = "compact"
      )
    },
    list(test = as.name(test))
  ))
}

neighbours <- if (device == "cpu") 20L else 300L
problems <- c(
  lapply(
    Filter(
      function(case) is_available(case[[1]]),
      list(
        list("nci60", 0.05),
        list("nci60", 0.01),
        list("mcc", 0.01),
        list("saureus", 0.05),
        list("dream5", 0.05),
        list("dream5", 0.01)
      )
    ),
    function(case) gauss(sprintf("%s (%g)", case[[1]], case[[2]]), function() load_data(case[[1]]), case[[2]])
  ),
  list(
    problem("gauss", "pc() of 10 x 30", function() suff_gauss(simulate(10, 30, parents = 1.5)), function(stat, device) {
      pcgpu::pc(stat, pcgpu::gaussCItest, alpha = 0.01, p = 10, device = device, progress = FALSE)
    }),
    gauss("simulated 100 x 2,000, deep (0.01)", function() load_data("sim-deep"), 0.01),
    gauss(
      "simulated 120 x 3,000, dense, to level 3 (0.01)",
      function() {
        set.seed(1)
        matrix(stats::rnorm(3000 * 40), 3000) %*% matrix(stats::rnorm(40 * 120), 40) + stats::rnorm(3000 * 120)
      },
      0.01,
      m_max = 3
    ),
    gauss(
      "simulated 1,500 x 100, stable (0.01)",
      function() simulate(1500, 100, parents = 1.5),
      0.01,
      method = "stable"
    ),
    gauss("simulated 3,000 x 100 (0.001)", function() simulate(3000, 100, parents = 1.5), 0.001),
    # Large matrices, of which the copies and the check take as long as the search; the CPU's two cores have no time for
    # the dense one.
    gauss(
      "simulated 12,000 x 30, compact (1e-5)",
      function() simulate(12000, 30, parents = 1.5),
      1e-5,
      result = "compact",
      gib = 8
    )
  ),
  if (device != "cpu") {
    list(
      gauss(
        "simulated 20,000 x 200, compact (1e-4)",
        function() simulate(20000, 200, parents = 1.5),
        1e-4,
        result = "compact",
        gib = 20
      ),
      gauss(
        "expression-like 20,000 x 500, levels 0 and 1, compact (0.01)",
        function() expression_like(20000, 500, 0.3),
        0.01,
        m_max = 1,
        result = "compact",
        gib = 30
      )
    )
  },
  # Earlier packages have it on the CPU alone, which is quicker.
  if (device == "cpu") {
    list(gauss(
      "simulated 300 x 400, original (0.01)",
      function() simulate(300, 400, parents = 1.5),
      0.01,
      method = "original"
    ))
  },
  lapply(
    Filter(
      function(name) file.exists(network_file(name)),
      c("alarm", "insurance", "andes", "link", if (device != "cpu") "munin")
    ),
    function(name) {
      searching(
        "discrete",
        paste0(name, ", chi-squared (0.01)"),
        function() suff_discrete(sample_network(network_file(name), 20000)),
        "chi2CItest",
        0.01,
        method = "stable"
      )
    }
  ),
  list(
    searching(
      "discrete",
      "simulated 1,000 x 2,000, 3 levels, chi-squared (0.01)",
      function() {
        x <- simulate(1000, 2000, parents = 1.5)
        suff_discrete(apply(x, 2, function(column) findInterval(column, stats::quantile(column, 1:2 / 3))))
      },
      "chi2CItest",
      0.01,
      method = "stable"
    ),
    # Of many codes, which are looked at, taken over and left: the time before a search.
    problem("discrete", "binary 10 x 30, one pair", function() binary(30, 10), one_pair("binCItest")),
    problem("discrete", "binary 10 x 1,000,000, one pair", function() binary(1e6, 10), one_pair("binCItest")),
    problem(
      "discrete",
      "binary 1,000 x 200,000, one pair",
      function() binary(200000, 1000),
      one_pair("binCItest"),
      gib = 6
    ),
    problem(
      "discrete",
      "binary 1,000 x 200,000, one pair, chi-squared",
      function() binary(200000, 1000),
      one_pair("chi2CItest"),
      gib = 6
    ),
    # 300 variables take two cores minutes.
    searching(
      "neighbours",
      sprintf("simulated %d x 400 (0.01)", neighbours),
      function() suff_knn(simulate(neighbours, 400, parents = 1.5)),
      "cmiKnnCItest",
      0.01
    ),
    problem(
      "mixed",
      sprintf("numbers and levels, simulated %d x 2,000", 2L * neighbours),
      function() {
        x <- as.data.frame(simulate(2 * neighbours, 2000, parents = 1.5))
        levels <- function(column) cut(column, stats::quantile(column, 0:3 / 3), include.lowest = TRUE)
        x[seq(1, ncol(x), 3)] <- lapply(x[seq(1, ncol(x), 3)], levels)
        x
      },
      function(stat, device) {
        pcgpu::skeleton(
          stat,
          pcgpu::mixCItest,
          alpha = 0.01,
          p = ncol(stat),
          method = "stable",
          device = device,
          progress = FALSE
        )
      }
    ),
    problem(
      "fci",
      "fci() of 200 x 300, levels 0-2",
      function() suff_gauss(simulate(200, 300, parents = 1.5)),
      function(stat, device) {
        pcgpu::fci(
          stat,
          pcgpu::gaussCItest,
          alpha = 0.01,
          p = 200,
          m.max = 2,
          pdsep.max = 8,
          device = device,
          progress = FALSE
        )
      }
    ),
    problem(
      "selection",
      "100 of 5,000 features x 500, 16 levels",
      function() {
        set.seed(1)
        x <- matrix(sample.int(16L, 5000 * 500, TRUE), 500)
        list(x = x, y = as.integer(rowSums(x[, 1:10]) > 85))
      },
      function(d, device) pcgpu::select_features(d$x, d$y, 100, discretize = "none", device = device, progress = FALSE)
    ),
    problem(
      "selection",
      "20 of 5,000 features x 100, numbers",
      function() {
        x <- simulate(5000, 100, parents = 1.5)
        list(x = x, y = as.integer(x[, 1] + x[, 2] > 0))
      },
      function(d, device) pcgpu::select_features(d$x, d$y, 20, device = device, progress = FALSE)
    ),
    # R's lists of p x p, twice, and the correlations three times.
    gauss("simulated 20,000 x 200 (1e-4)", function() simulate(20000, 200, parents = 1.5), 1e-4, gib = 60)
  )
)

free_gib <- function() as.double(shell("awk '/MemAvailable/ { print $2 / 1048576 }' /proc/meminfo"))

# Starts a process that waits for functions to call. It is asked by files, because the R of a bundle has no sockets.
start_process <- function() {
  folder <- tempfile("process-")
  dir.create(folder)
  serve <- function(folder) {
    for (number in seq_len(1e9)) {
      asked <- file.path(folder, paste0("ask-", number))
      while (!file.exists(asked)) {
        Sys.sleep(0.002)
      }
      work <- readRDS(asked)
      if (is.null(work)) {
        break
      }
      answer <- tryCatch(list(value = do.call(work$call, work$arguments)), error = function(e) {
        list(error = conditionMessage(e))
      })
      saveRDS(answer, file.path(folder, "new"), compress = FALSE)
      file.rename(file.path(folder, "new"), file.path(folder, paste0("answer-", number)))
    }
  }
  program <- file.path(folder, "serve.R")
  dump("serve", program, envir = environment())
  cat(sprintf("serve(%s)\n", deparse(folder)), file = program, append = TRUE)
  system2(file.path(R.home("bin"), "Rscript"), shQuote(program), wait = FALSE)
  process <- new.env()
  process$folder <- folder
  process$asked <- 0
  process
}

# Calls a function there, and waits for its value; NULL ends the process.
ask <- function(process, call, ...) {
  process$asked <- process$asked + 1
  saveRDS(
    if (!is.null(call)) list(call = call, arguments = list(...)),
    file.path(process$folder, "next"),
    compress = FALSE
  )
  file.rename(file.path(process$folder, "next"), file.path(process$folder, paste0("ask-", process$asked)))
  if (is.null(call)) {
    return(invisible())
  }
  at <- file.path(process$folder, paste0("answer-", process$asked))
  while (!file.exists(at)) {
    Sys.sleep(0.002)
  }
  answer <- readRDS(at)
  unlink(at)
  if (!is.null(answer$error)) {
    stop(answer$error, call. = FALSE)
  }
  answer$value
}

# Starts two of them, one with library A and one with B.
start_processes <- function(file) {
  lapply(libraries, function(library) {
    process <- start_process()
    ask(
      process,
      function(library, program, file, threads) {
        library("pcgpu", lib.loc = library, character.only = TRUE)
        if (!is.null(threads)) {
          options(pcgpu.threads = threads)
        }
        source(program, globalenv())
        assign("data", readRDS(file), globalenv())
        NULL
      },
      library,
      normalizePath(file.path(here, "program.R")),
      file,
      getOption("pcgpu.threads")
    )
    process
  })
}

# Measures in one of the two processes: seconds a call; and the answer, or for a large one a summary.
measure <- function(process, call, calls, answer = FALSE) {
  ask(
    process,
    function(call, device, calls, answer) {
      found <- seconds_of(function() suppressWarnings(call(get("data", globalenv()), device)), calls)
      value <- found$value
      if (answer && is(value, "pcCompact")) {
        value <- list(value@edges, value@n.edgetests)
      } else if (answer && isS4(value) && length(value@sepset) > 5000) {
        value <- list(graph::numEdges(value@graph), value@n.edgetests)
      }
      c(found["seconds"], if (answer) list(value = value))
    },
    call,
    device,
    calls,
    answer
  )
}

same <- function(a, b) {
  apart <- if (isS4(a)) {
    differences(a, b)
  } else if (!isTRUE(all.equal(a, b))) {
    "answer"
  }
  if (length(apart) && nzchar(apart)) paste("NO:", apart) else "yes"
}

# Returns the cells of a problem's row, and whether B is slower, or answers differ.
row_of <- function(problem) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(problem$data(), file, compress = FALSE)
  seconds <- matrix(0, 0, 2)
  agree <- ""
  for (process in seq_len(processes)) {
    pair_of <- start_processes(file)
    # The process that starts first changes, too.
    first <- lapply(if (process %% 2) 1:2 else 2:1, function(at) {
      measure(pair_of[[at]], problem$call, 1L, answer = process == 1L)
    })
    if (process == 1L) {
      agree <- same(first[[1]]$value, first[[2]]$value)
    }
    warm <- measure(pair_of[[1]], problem$call, 1L)$seconds
    measure(pair_of[[2]], problem$call, 1L)
    begun <- proc.time()[["elapsed"]]
    for (turn in seq_len(repeats)) {
      pair <- double(2)
      for (at in if ((turn + process) %% 2) 1:2 else 2:1) {
        pair[at] <- measure(pair_of[[at]], problem$call, calls_together(warm))$seconds
      }
      seconds <- rbind(seconds, pair)
      # A long problem is measured less often; the table says how often.
      if (proc.time()[["elapsed"]] - begun > row_seconds / processes) break
    }
    for (process_of in pair_of) {
      ask(process_of, NULL)
    }
  }
  record(
    "versus",
    paste0(problem$part, ": ", problem$name),
    seconds[, 2],
    device = sub(":.*", "", device),
    gpus = if (device != "cpu") 1,
    threads = getOption("pcgpu.threads"),
    peer = "pcgpu",
    peer_version = versions[1],
    peer_seconds = seconds[, 1],
    same = if (agree == "yes") "yes" else "no"
  )
  by_pair <- stats::median(seconds[, 2] / seconds[, 1])
  by_min <- min(seconds[, 2]) / min(seconds[, 1])
  list(
    cells = c(
      problem$part,
      problem$name,
      spread(seconds[, 1]),
      spread(seconds[, 2]),
      sprintf("%.3f", c(by_pair, by_min)),
      nrow(seconds),
      agree
    ),
    slower = by_pair > limit && by_min > limit,
    differs = agree != "yes"
  )
}

versions <- vapply(libraries, function(library) as.character(utils::packageVersion("pcgpu", lib.loc = library)), "")
tell_origin("versus.R")
cat(sprintf(
  "- A: %s (%s); B: %s (%s)\n- device %s; %d pairs of processes\n\n",
  libraries[1],
  versions[1],
  libraries[2],
  versions[2],
  device,
  processes
))
cat(head_text(
  "part",
  "data (alpha)",
  "A s, min / median",
  "B s, min / median",
  "B / A, median of pairs",
  "B / A, minima",
  "pairs",
  "same answer"
))
slower <- differs <- left_out <- character()
for (problem in Filter(
  function(problem) problem$part %in% parts && grepl(only, problem$name, fixed = TRUE),
  problems
)) {
  name <- paste(problem$part, problem$name, sep = ": ")
  if (proc.time()[["elapsed"]] > ends || free_gib() < problem$gib) {
    left_out <- c(left_out, name)
    next
  }
  row <- row_of(problem)
  cat(row_text(row$cells))
  if (row$slower) {
    slower <- c(slower, name)
  }
  if (row$differs) differs <- c(differs, name)
}
some <- function(names) if (length(names)) paste(names, collapse = "; ") else "none"
cat(sprintf(
  "\n- slower than %g times by both: %s\n- other answers: %s\n- left out, for want of time or memory: %s\n",
  limit,
  some(slower),
  some(differs),
  some(left_out)
))
if (length(slower) || length(differs)) {
  quit(status = 1)
}

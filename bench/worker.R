# One data set, one program, in a process of its own: its peak memory is then its
# own too. Run by bench.R:
#   Rscript worker.R ours|peer|cpu|cuda|pcalg DATA OPTIONS.rds ANSWER.rds
# The first two time the steps of a search; the others only pc(), end to end.
args <- commandArgs(trailingOnly = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "data.R"))
options_of_run <- readRDS(args[3])

suffstat <- function(x) list(C = stats::cor(x), n = nrow(x))

# Returns the elapsed seconds of each of several calls, and the last value. Stops early once `enough` seconds are spent,
# for the slow peer.
timed <- function(call, repeats, enough = Inf) {
  seconds <- double()
  repeat {
    gc(FALSE)
    seconds <- c(seconds, system.time(value <- call())[["elapsed"]])
    if (length(seconds) >= repeats || sum(seconds) >= enough) break
  }
  list(seconds = seconds, value = value)
}

# Returns the most memory this process ever held, in GiB; Linux only.
peak_memory <- function() {
  status <- tryCatch(readLines("/proc/self/status"), error = function(e) character(), warning = function(e) character())
  kib <- sub("^VmHWM:\\s*(\\d+) kB$", "\\1", grep("^VmHWM", status, value = TRUE))
  if (length(kib)) as.double(kib) / 2^20 else NA_real_
}

ours <- function(stat, labels, run) {
  library(pcgpu)
  skel <- timed(
    function() {
      skeleton(
        stat,
        gaussCItest,
        alpha = run$alpha,
        labels = labels,
        method = run$method,
        m.max = run$m_max,
        numCores = run$threads,
        progress = FALSE
      )
    },
    run$repeats
  )
  cpdag <- timed(function() orient(skel$value), run$repeats)
  both <- timed(
    function() {
      pc(
        stat,
        gaussCItest,
        alpha = run$alpha,
        labels = labels,
        skel.method = run$method,
        m.max = run$m_max,
        numCores = run$threads,
        progress = FALSE
      )
    },
    run$repeats
  )
  list(
    skeleton = skel$seconds,
    orient = cpdag$seconds,
    pc = both$seconds,
    memory = peak_memory(),
    skel = skel$value,
    fit = both$value,
    program = paste("pcgpu", utils::packageVersion("pcgpu"))
  )
}

# Times pcalg. Its pc() is its skeleton() and then udag2pdagRelaxed(), so its time from end to end is the sum of the
# two.
peer <- function(stat, labels, run) {
  suppressPackageStartupMessages(library(pcalg))
  skel <- timed(
    function() {
      pcalg::skeleton(
        stat,
        pcalg::gaussCItest,
        alpha = run$alpha,
        labels = labels,
        method = run$method,
        m.max = run$m_max,
        numCores = run$peer_threads
      )
    },
    run$repeats,
    enough = 5
  )
  cpdag <- timed(function() pcalg::udag2pdagRelaxed(skel$value), run$repeats, enough = 5)
  list(
    skeleton = skel$seconds,
    orient = cpdag$seconds,
    pc = min(skel$seconds) + min(cpdag$seconds),
    memory = peak_memory(),
    skel = skel$value,
    fit = cpdag$value,
    program = paste("pcalg", utils::packageVersion("pcalg")),
    when = Sys.time()
  )
}

# Returns a function that times pc() as a user calls it, on the CPU or the first GPU, or pcalg's. The first call of a
# session is not counted, except for pcalg's: it loads code and opens the GPU.
whole <- function(program) {
  function(stat, labels, run) {
    call <- if (program == "pcalg") {
      suppressPackageStartupMessages(library(pcalg))
      function() {
        pcalg::pc(
          stat,
          pcalg::gaussCItest,
          alpha = run$alpha,
          labels = labels,
          skel.method = run$method,
          m.max = run$m_max,
          numCores = run$peer_threads
        )
      }
    } else {
      library(pcgpu)
      function() {
        pc(
          stat,
          gaussCItest,
          alpha = run$alpha,
          labels = labels,
          skel.method = run$method,
          m.max = run$m_max,
          numCores = run$threads,
          device = program,
          progress = FALSE
        )
      }
    }
    if (program != "pcalg") {
      call()
    }
    both <- timed(call, run$repeats, enough = if (program == "pcalg") run$peer_seconds else Inf)
    list(pc = both$seconds, fit = both$value)
  }
}

x <- load_data(args[2])
stat <- suffstat(x)
shape <- dim(x)
rm(x)
labels <- as.character(seq_len(shape[2]))
answer <- switch(args[1], ours = ours, peer = peer, whole(args[1]))(stat, labels, options_of_run)
answer$n <- shape[1]
answer$p <- shape[2]
saveRDS(answer, args[4], compress = FALSE)

# Times select_features() on files of level codes, and scikit-feature's JMI where a Python with it is named, compares
# the answers, and prints a Markdown table.
#
#   Rscript select.R FILE.csv[.gz] [...] [--k=50] [--threads=2] [--repeats=7] [--peer=PYTHON] [--csv=FILE]
#
# FILE: a header, then a row of integers a sample: the class, then the features. PYTHON: an interpreter that can import
# skfeature (github.com/jundongl/scikit-feature; not PyPI's skfeature-chappers, whose JMI is another). The peer runs
# once; its seconds are those of its process (user and system), which other work on the machine hardly changes.
# scikit-feature takes rounding for a difference where scores are equal, so that the order of ties may differ: "same
# answer" then says up to which feature the two agree, and whether the scores are equal.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
files <- operands()
if (!length(files)) {
  stop("give at least one file of codes", call. = FALSE)
}
k <- as.integer(option("k", "50"))
threads <- as.integer(option("threads", "2"))
repeats <- as.integer(option("repeats", "7"))
python <- option("peer", "")

peer <- function(file) {
  script <- tempfile(fileext = ".py")
  writeLines(
    c(
      "import sys, time, numpy as np",
      "from skfeature.function.information_theoretical_based import JMI",
      "a = np.loadtxt(sys.argv[1], delimiter=',', skiprows=1, dtype=int)",
      "start = time.process_time()",
      "index, score, mi = JMI.jmi(a[:, 1:], a[:, 0], n_selected_features=int(sys.argv[2]))",
      "print(time.process_time() - start)",
      "print(*[i + 1 for i in index]); print(*score)"
    ),
    script
  )
  lines <- system2(python, c(script, file, k), stdout = TRUE)
  numbers <- lapply(strsplit(utils::tail(lines, 3), " "), as.numeric)
  list(seconds = numbers[[1]], index = numbers[[2]], score = numbers[[3]])
}

row_of <- function(file) {
  data <- as.matrix(utils::read.csv(file))
  storage.mode(data) <- "integer"
  x <- data[, -1]
  y <- data[, 1]
  chosen <- NULL
  mine <- vapply(
    seq_len(repeats),
    function(i) {
      gc(FALSE)
      system.time(chosen <<- pcgpu::select_features(x, y, k, discretize = "none", device = "cpu", numCores = threads))[[
        "elapsed"
      ]]
    },
    0
  )
  cells <- c(
    basename(file),
    sprintf("%d x %d", ncol(x), nrow(x)),
    k,
    paste(number(min(mine)), "/", number(stats::median(mine)))
  )
  keep <- function(...) {
    record(
      "select",
      sprintf("%s, %d features", sub("[.].*", "", basename(file)), k),
      mine,
      p = ncol(x),
      n = nrow(x),
      method = "JMI",
      device = "cpu",
      threads = threads,
      ...
    )
  }
  if (!nzchar(python)) {
    keep()
    return(cells)
  }
  theirs <- peer(file)
  agree <- which(chosen$index != theirs$index)[1] - 1
  scores <- max(abs(chosen$score - theirs$score))
  same <- if (is.na(agree)) "all" else sprintf("first %d, scores to %s", agree, number(scores))
  keep(peer = "scikit-feature", peer_seconds = theirs$seconds, same = if (is.na(agree)) "yes" else "no")
  c(
    cells,
    number(theirs$seconds),
    number(theirs$seconds / min(mine)),
    number(theirs$seconds / stats::median(mine)),
    same
  )
}

tell_origin("select.R")
cat("\n")
columns <- c(
  "data",
  "p x n",
  "features selected",
  sprintf("select_features() s, %d threads, min / median", threads),
  if (nzchar(python)) c("scikit-feature s (1 run)", "times faster (by min)", "(by median)", "same answer")
)
cat(head_text(columns))
for (file in files) {
  cat(row_text(row_of(file)))
}

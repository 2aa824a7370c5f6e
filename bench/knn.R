# Speed, calibration, power and graphs of the nearest-neighbour tests, compared with tigramite's CMIknn and CMIknnMixed;
# and what the defaults of suff_knn() rest on: transforms and numbers of neighbours.
#
#   Rscript knn.R PART [...] [--python=PROGRAM] [--threads=2] [--repeats=7] [--runs=1000] [--graphs=3] [--n=100,200,500,1000] [--csv=FILE]
#
# PART: speed, calibration, power, graphs, transforms, neighbours, neighbours-mixed, neighbours-graphs. PROGRAM: a
# Python that has tigramite 5.2.10.1, numba and scikit-learn; without it ours are measured alone. --n: the sample sizes
# of the last three parts.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "program.R"))
suppressPackageStartupMessages({
  library(methods)
  library(pcgpu)
})
parts <- operands()
python <- option("python", "")
threads <- as.integer(option("threads", "2"))
repeats <- as.integer(option("repeats", "7"))
runs <- as.integer(option("runs", "1000"))
graphs <- as.integer(option("graphs", "3"))
sizes <- as.integer(strsplit(option("n", "100,200,500,1000"), ",", fixed = TRUE)[[1]])
options(pcgpu.threads = threads)

row <- function(...) cat(row_text(...))
head_of <- function(...) cat(head_text(...))

# Starts tigramite and returns a function(x, y, S) -> c(p, seconds), with close().
peer_on <- function(data, discrete, kind, k, permutations, transform) {
  folder <- tempfile()
  dir.create(folder)
  file <- file.path(folder, c("data.csv", "questions", "answers"))
  write.table(rbind(data.matrix(data), as.integer(discrete)), file[1], sep = ",", row.names = FALSE, col.names = FALSE)
  system2("mkfifo", file[2:3])
  system(paste(
    shQuote(python),
    shQuote(file.path(here, "knn-peer.py")),
    shQuote(file[1]),
    kind,
    k,
    permutations,
    transform,
    "<",
    shQuote(file[2]),
    ">",
    shQuote(file[3]),
    "2>/dev/null &"
  ))
  questions <- fifo(file[2], "w", blocking = TRUE)
  answers <- fifo(file[3], "r", blocking = TRUE)
  list(
    ask = function(x, y, S) {
      writeLines(paste(c(x, y, S), collapse = " "), questions)
      flush(questions)
      as.double(strsplit(readLines(answers, 1), " ")[[1]])
    },
    close = function() {
      close(questions)
      close(answers)
      unlink(folder, recursive = TRUE)
    }
  )
}

# Returns x and y given variables that both depend on; `link` makes y depend on x, too.
simulate <- function(n, size, link = 0) {
  z <- matrix(rnorm(n * max(size, 1)), n)
  both <- if (size > 0) rowMeans(z) * sqrt(size) else 0
  x <- tanh(both) + rnorm(n)
  y <- both^2 / 2 + link * x^2 + rnorm(n)
  if (size > 0) cbind(x, y, z) else cbind(x, y)
}
given <- function(x) seq_len(ncol(x))[-(1:2)]

speed <- function() {
  cat("\nOne test, 100 permutations, rank transform; medians of", repeats, "in seconds\n\n")
  head_of("n", "|S|", "k", "ours", "tigramite", "times faster", "p, ours", "p, tigramite")
  for (case in list(c(1000, 1, 7), c(1000, 1, 200), c(1000, 0, 7), c(1000, 3, 7), c(250, 1, 7), c(5000, 1, 7))) {
    set.seed(1)
    x <- simulate(case[1], case[2])
    s <- suff_knn(x, k = case[3], add_one = TRUE)
    ours <- function() cmiKnnCItest(1, 2, given(x), s)
    mine <- vapply(seq_len(repeats), function(i) system.time(ours())[["elapsed"]], 0)
    took <- median(mine)
    keep <- function(...) {
      record(
        "knn",
        sprintf("one test, n %g, %g in S, k %g", case[1], case[2], case[3]),
        mine,
        n = case[1],
        device = "cpu",
        threads = threads,
        ...
      )
    }
    if (!nzchar(python)) {
      keep()
      row(case[1], case[2], case[3], number(took), "", "", number(ours()), "")
      next
    }
    peer <- peer_on(x, rep(FALSE, ncol(x)), "continuous", case[3], 100, "ranks")
    theirs <- vapply(seq_len(if (case[1] > 1000) 3 else repeats), function(i) peer$ask(1, 2, given(x)), double(2))
    peer$close()
    keep(peer = "tigramite", peer_version = "5.2.10.1", peer_seconds = theirs[2, ])
    row(
      case[1],
      case[2],
      case[3],
      number(took),
      number(median(theirs[2, ])),
      number(median(theirs[2, ]) / took),
      number(ours()),
      number(theirs[1, 1])
    )
  }
}

# Returns the p-values of many data sets.
p_values <- function(n, size, link, mixed, ...) {
  vapply(
    seq_len(runs),
    function(i) {
      x <- as.data.frame(simulate(n, size, link))
      if (mixed && size > 0) {
        x[[3]] <- cut(x[[3]], 4)
      }
      if (mixed && size == 0) {
        x[[1]] <- cut(x[[1]], 4)
      }
      test <- if (mixed) mixedCItest else cmiKnnCItest
      test(1, 2, given(x), suff_knn(x, add_one = TRUE, ...))
    },
    0
  )
}

calibration <- function() {
  cat(
    "\nIndependence given S, n = 200, 100 permutations,",
    runs,
    "data sets: Kolmogorov-Smirnov test that p is uniform\n\n"
  )
  head_of("test", "k", "|S|", "KS distance", "p of KS", "share of p <= 0.05", "of p <= 0.1")
  for (mixed in c(FALSE, TRUE)) {
    for (k in c(7, 20)) {
      for (size in 0:3) {
        set.seed(100 + size)
        p <- p_values(200, size, 0, mixed, k = k, transform = if (mixed) "uniform" else "ranks")
        # p has steps of 1 / 101: spread evenly within its step it is uniform when the ranks are.
        ks <- suppressWarnings(ks.test(p - runif(runs) / 101, "punif"))
        row(
          if (mixed) "mixedCItest" else "cmiKnnCItest",
          k,
          size,
          number(ks$statistic),
          number(ks$p.value),
          number(mean(p <= 0.05)),
          number(mean(p <= 0.1))
        )
      }
    }
  }
}

power <- function() {
  count <- max(20, runs %/% 10)
  cat("\nDependence given S, n = 200, 100 permutations, k = 20,", count, "data sets: share of p <= 0.05\n\n")
  head_of("|S|", "strength", "ours", "tigramite")
  for (size in 0:3) {
    for (link in c(0.15, 0.3)) {
      set.seed(size)
      sets <- lapply(seq_len(count), function(i) simulate(200, size, link))
      ours <- vapply(sets, function(x) cmiKnnCItest(1, 2, given(x), suff_knn(x, k = 20, add_one = TRUE)), 0)
      theirs <- rep(NA, count)
      if (nzchar(python)) {
        # Side by side: a process for each would take seconds to start.
        all <- do.call(cbind, sets)
        peer <- peer_on(all, rep(FALSE, ncol(all)), "continuous", 20, 100, "ranks")
        width <- size + 2
        theirs <- vapply(
          seq_len(count),
          function(i) {
            peer$ask((i - 1) * width + 1, (i - 1) * width + 2, (i - 1) * width + seq_len(size) + 2)[1]
          },
          0
        )
        peer$close()
      }
      row(size, link, number(mean(ours <= 0.05)), number(mean(theirs <= 0.05)))
    }
  }
}

# Returns a random graph of p variables, in the order of their numbers, and its data: edges are linear, quadratic or
# tanh, and a share of the variables is cut into three levels.
random_model <- function(p, n, share) {
  dag <- matrix(0, p, p)
  dag[upper.tri(dag)] <- runif(p * (p - 1) / 2) < 1.5 / (p - 1)
  discrete <- seq_len(p) %in% sample.int(p, round(share * p))
  values <- matrix(0, n, p)
  data <- vector("list", p)
  for (j in seq_len(p)) {
    value <- rnorm(n)
    for (i in which(dag[, j] == 1)) {
      part <- switch(sample.int(3, 1), values[, i], values[, i]^2, tanh(2 * values[, i]))
      value <- value + 1.5 * part / max(sd(part), 0.1)
    }
    value <- (value - mean(value)) / sd(value)
    if (discrete[j]) {
      level <- findInterval(value, quantile(value, c(1, 2) / 3))
      data[[j]] <- factor(level)
      value <- (level - mean(level)) / sd(level)
    } else {
      data[[j]] <- value
    }
    values[, j] <- value
  }
  list(dag = dag, data = stats::setNames(as.data.frame(data), paste0("v", seq_len(p))), discrete = discrete)
}

# Returns whether x and y are separated by S in the graph: in the moral graph of their ancestors, every path meets S
# (Lauritzen et al. 1990).
separated <- function(dag, x, y, S) {
  kept <- unique(c(x, y, S))
  repeat {
    parents <- which(rowSums(dag[, kept, drop = FALSE]) > 0)
    if (all(parents %in% kept)) {
      break
    }
    kept <- union(kept, parents)
  }
  part <- matrix(0, nrow(dag), nrow(dag))
  part[kept, kept] <- dag[kept, kept]
  moral <- part + t(part) + part %*% t(part) > 0
  reached <- x
  repeat {
    further <- setdiff(which(colSums(moral[reached, , drop = FALSE]) > 0), c(S, reached))
    if (y %in% further) {
      return(FALSE)
    }
    if (!length(further)) {
      return(TRUE)
    }
    reached <- c(reached, further)
  }
}

# Counts the pairs whose edge is missing, false or of another direction.
distance <- function(fit, truth) {
  a <- as(fit@graph, "matrix")
  b <- as(truth@graph, "matrix")
  different <- a != b
  sum((different | t(different))[upper.tri(a)])
}

compare_graphs <- function() {
  p <- 7
  n <- 300
  alpha <- 0.05
  cat(
    "\nStructural Hamming distance to the CPDAG of the truth:",
    p,
    "variables, n =",
    n,
    "alpha = 0.05,",
    graphs,
    "graphs each, k = 20, 100 permutations; mean (seconds a graph)\n\n"
  )
  head_of("data", "edges", "cmiKnnCItest / mixedCItest", "tigramite's test in the same pc()", "gaussCItest")
  for (share in c(NA, 0, 0.2, 0.4, 0.6, 0.8, 1)) {
    set.seed(if (is.na(share)) 50 else round(100 * share))
    mixed <- !is.na(share)
    found <- vapply(
      seq_len(graphs),
      function(i) {
        model <- random_model(p, n, if (mixed) share else 0)
        oracle <- function(x, y, S, suffStat) as.double(separated(model$dag, x, y, S))
        labels <- names(model$data)
        truth <- pc(NULL, oracle, 0.5, labels = labels)
        fit <- NULL
        transform <- if (mixed) "standardize" else "ranks"
        suff <- suff_knn(model$data, k = 20, add_one = TRUE, transform = transform)
        test <- if (mixed) mixedCItest else cmiKnnCItest
        ours <- system.time(fit <- pc(suff, test, alpha, labels = labels, progress = FALSE))[["elapsed"]]
        gauss <- pc(suppressWarnings(suff_gauss(data.matrix(model$data))), gaussCItest, alpha, labels = labels)
        theirs <- c(NA, NA)
        if (nzchar(python)) {
          codes <- data.matrix(model$data)
          peer <- peer_on(codes, model$discrete, if (mixed) "mixed" else "continuous", 20, 100, transform)
          ask <- function(x, y, S, suffStat) peer$ask(x, y, S)[1]
          took <- system.time(by_peer <- pc(NULL, ask, alpha, labels = labels, progress = FALSE))[["elapsed"]]
          peer$close()
          theirs <- c(distance(by_peer, truth), took)
        }
        c(sum(model$dag), distance(fit, truth), ours, theirs, distance(gauss, truth))
      },
      double(6)
    )
    mean_of <- function(i) number(mean(found[i, ]))
    row(
      if (mixed) paste("mixed, discrete share", share) else "continuous",
      mean_of(1),
      paste0(mean_of(2), " (", mean_of(3), ")"),
      paste0(mean_of(4), " (", mean_of(5), ")"),
      mean_of(6)
    )
  }
}

# Draws x, y and members of S, of these kinds ("number", or "level": three equally frequent ones). x and y depend on all
# of S; `link` makes y depend on x, too, by x's value or by its square.
draw_kinds <- function(n, kinds, link, curved = FALSE) {
  as_kind <- function(value, kind) {
    if (kind == "number") value else factor(findInterval(value, quantile(value, c(1, 2) / 3)))
  }
  score <- function(values) drop(scale(as.numeric(values)))
  S <- lapply(kinds[-(1:2)], function(kind) as_kind(rnorm(n), kind))
  both <- if (length(S)) rowSums(vapply(S, score, double(n))) / sqrt(length(S)) else 0
  x <- as_kind(both + rnorm(n), kinds[1])
  of_x <- if (curved) score(score(x)^2) else score(x)
  y <- as_kind(both + link * of_x + rnorm(n), kinds[2])
  data <- as.data.frame(c(list(x, y), S), col.names = seq_along(kinds))
  list(data = data, test = if (any(kinds == "level")) mixedCItest else cmiKnnCItest)
}

# Returns the share of data sets that are found dependent at 0.05, with 100 permutations; the early stop changes no
# decision.
rejected <- function(sets, ...) {
  mean(vapply(
    sets,
    function(set) {
      set$test(
        1,
        2,
        given(set$data),
        suff_knn(set$data, add_one = TRUE, early_stop = c(alpha = 0.05, error = 0), ...)
      ) <=
        0.05
    },
    NA
  ))
}
sets_of <- function(...) lapply(seq_len(runs), function(i) draw_kinds(...))
kinds_text <- function(kinds) {
  paste0(kinds[1], ", ", kinds[2], if (length(kinds) > 2) paste(" given", paste(kinds[-(1:2)], collapse = ", ")))
}

transforms <- function() {
  ways <- c("ranks", "uniform", "standardize")
  cat(
    "\nmixedCItest, n = 200, k = 20, 100 permutations,",
    runs,
    "data sets: share of p <= 0.05 where y does not depend on x, and where it does\n\n"
  )
  head_of("x, y, S", paste(rep(ways, each = 2), c("size", "power")))
  for (S in list(NULL, "number", "level")) {
    for (pair in list(c("number", "number"), c("number", "level"), c("level", "level"))) {
      set.seed(1)
      of_links <- lapply(c(0, 0.4), function(link) sets_of(200, c(pair, S), link))
      of_links <- lapply(of_links, lapply, utils::modifyList, list(test = mixedCItest))
      found <- vapply(ways, function(way) vapply(of_links, rejected, 0, k = 20, transform = way), double(2))
      do.call(row, as.list(c(kinds_text(c(pair, S)), number(found))))
    }
  }
}

rules <- list(
  "7" = function(n) 7,
  "sqrt n" = function(n) round(sqrt(n)),
  "0.05 n" = function(n) 0.05 * n,
  "0.1 n" = function(n) 0.1 * n,
  "0.2 n" = function(n) 0.2 * n,
  "0.3 n" = function(n) 0.3 * n
)

# Compares rules. Effects shrink with the root of n, so that power does not reach 1.
by_rule <- function(title, all_kinds, shapes) {
  cat(
    "\n",
    title,
    ", 100 permutations, ",
    runs,
    " data sets: share of p <= 0.05 by k; effects are 5 / sqrt(n)\n\n",
    sep = ""
  )
  head_of("n", "x, y, S", "y on x", names(rules))
  for (n in sizes) {
    for (kinds in all_kinds) {
      for (shape in shapes) {
        set.seed(n)
        sets <- sets_of(n, kinds, if (shape == "none") 0 else 5 / sqrt(n), shape == "squared")
        do.call(
          row,
          as.list(c(
            n,
            kinds_text(kinds),
            shape,
            number(vapply(rules, function(rule) rejected(sets, k = rule(n), transform = "uniform"), 0))
          ))
        )
      }
    }
  }
}
neighbours <- function() by_rule("cmiKnnCItest", lapply(2:5, rep, x = "number"), c("none", "linear", "squared"))
neighbours_mixed <- function() {
  level <- "level"
  num <- "number"
  by_rule(
    "mixedCItest",
    list(
      c(num, level),
      c(num, level, num),
      c(num, num, level),
      c(num, level, level),
      c(level, level, num),
      c(num, num, level, num),
      c(level, level, level),
      c(num, level, level, level),
      c(num, num, level, level)
    ),
    c("none", "linear")
  )
}

neighbours_graphs <- function() {
  cat(
    "\nStructural Hamming distance to the true CPDAG by k: 7 variables, alpha = 0.05, 100 permutations,",
    graphs,
    "graphs; means\n\n"
  )
  head_of("n", "discrete share", "edges", names(rules))
  for (n in sizes) {
    for (share in c(0, 0.5)) {
      set.seed(n)
      found <- vapply(
        seq_len(graphs),
        function(i) {
          model <- random_model(7, n, share)
          labels <- names(model$data)
          truth <- pc(NULL, function(x, y, S, suffStat) as.double(separated(model$dag, x, y, S)), 0.5, labels = labels)
          test <- if (share > 0) mixedCItest else cmiKnnCItest
          c(
            sum(model$dag),
            vapply(
              rules,
              function(rule) {
                suff <- suff_knn(
                  model$data,
                  k = rule(n),
                  transform = "uniform",
                  add_one = TRUE,
                  early_stop = c(alpha = 0.05, error = 0),
                  seed = i
                )
                distance(pc(suff, test, 0.05, labels = labels, progress = FALSE), truth)
              },
              0
            )
          )
        },
        double(1 + length(rules))
      )
      do.call(row, as.list(c(n, share, number(rowMeans(found)))))
    }
  }
}

tell_origin("knn.R")
for (part in parts) {
  switch(
    part,
    speed = speed(),
    calibration = calibration(),
    power = power(),
    graphs = compare_graphs(),
    transforms = transforms(),
    neighbours = neighbours(),
    `neighbours-mixed` = neighbours_mixed(),
    `neighbours-graphs` = neighbours_graphs(),
    stop("no part ", part, call. = FALSE)
  )
}

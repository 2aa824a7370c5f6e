# Two workers for the tests that leave them as they were.
two <- parallel::makePSOCKcluster(2)

test_that("workers give the answer of this process, whatever the method", {
  s <- suff(p = 25, n = 300, degree = 5)
  for (method in c("stable", "stable.fast", "original")) {
    wanted <- pc(s, gaussCItest, 0.05, p = 25, skel.method = method)
    expect_identical_answer(
      pc(s, gaussCItest, 0.05, p = 25, skel.method = method, cluster = two),
      wanted,
      info = method
    )
    expect_identical_answer(
      pc(s, gaussCItest, 0.05, p = 25, skel.method = method, cluster = two[1]),
      wanted,
      info = method
    )
  }
  arguments <- list(s, gaussCItest, 0.05, p = 25, m.max = 2, fixedEdges = diag(25)[25:1, ] == 1)
  expect_identical_answer(do.call(skeleton, c(arguments, cluster = list(two))), do.call(skeleton, arguments))
})

test_that("pcalg's recorded answers come from workers, too", {
  for (name in c("gauss-p100", "gauss-p20-fixedEdges", "gauss-p12-NA-keep", "dis-p12-n5000", "bin-p10-n3000-adaptDF")) {
    golden <- read_golden(name)
    searched <- function() do.call(skeleton, c(golden_arguments(golden), method = "stable.fast", cluster = list(two)))
    fit <- suppressWarnings(searched(), classes = "pcgpu_warning_no_answer")
    expect_skeleton(fit, golden, "stable.fast", name)
  }
})

test_that("kept data, discrete data and nearest neighbours go to workers", {
  x <- simulate(15, 400, degree = 3)
  kept <- suff_gauss(x, keep = "data")
  expect_identical_answer(
    pc(kept, gaussCItest, 0.05, p = 15, cluster = two),
    pc(kept, gaussCItest, 0.05, p = 15, device = "cpu")
  )
  # Workers that make few correlations at a time, of the columns that they are asked for.
  kept <- suff_gauss(simulate(150, 60, degree = 1), keep = "data")
  search <- function(device, ...) skeleton(kept, gaussCItest, 1e-4, p = 150, device = device, ...)
  expect_identical_answer(search(cpu_device(memory = 3e4), cluster = two), search("cpu"))
  # Pieces of level 1 that are decided in parts, or have no pair in some.
  dense <- suff_gauss(simulate(10, 300, degree = 8), keep = "data")
  search <- function(device, ...) skeleton(dense, gaussCItest, 0.05, p = 10, m.max = 1, device = device, ...)
  expect_identical_answer(search(cpu_device(memory = 400), cluster = two), search("cpu"))
  codes <- simulate_codes(12, 2000)
  expect_identical_answer(pc(codes, disCItest, 0.05, p = 12, cluster = two), pc(codes, disCItest, 0.05, p = 12))
  set.seed(1)
  near <- suff_knn(simulate_nonlinear(120, 3), permutations = 50)
  expect_identical_answer(pc(near, cmiKnnCItest, 0.05, p = 5, cluster = two), pc(near, cmiKnnCItest, 0.05, p = 5))
})

test_that("workers that can read a file get the data by one file, once, and others in a message", {
  s <- suff(p = 25, n = 300, degree = 5)
  kept <- suff_gauss(simulate(15, 400, degree = 3), keep = "data")
  codes <- simulate_codes(12, 2000)
  set.seed(1)
  near <- suff_knn(simulate_nonlinear(120, 3), permutations = 20)
  searches <- list(
    list(s, gaussCItest, p = 25),
    list(kept, gaussCItest, p = 15),
    list(codes, disCItest, p = 12),
    list(near, cmiKnnCItest, p = 5),
    list(s, slow_test, p = 10)
  )
  search <- function(i, ...) do.call(skeleton, c(searches[[i]], alpha = 0.05, m.max = 2, list(...)))
  wanted <- lapply(seq_along(searches), search)

  # Bytes that each worker is sent before it begins.
  sent <- NULL
  sender <- node_sender
  counted <- function(cluster) {
    send <- sender(cluster)
    function(i, name, arguments, tag) {
      if (name == "rank_open") {
        sent[i] <<- sent[i] + length(serialize(arguments, NULL))
      }
      send(i, name, arguments, tag)
    }
  }
  in_package(node_sender = counted)
  same <- function(i) {
    sent <<- c(0, 0)
    expect_identical_answer(search(i, cluster = two), wanted[[i]], info = i)
    sent
  }
  whole <- lapply(seq_along(searches), same)
  expect_true(all(unlist(whole) > 2500))

  in_package(least_by_file = 1000)
  by_file <- lapply(seq_along(searches), same)
  expect_true(all(unlist(by_file) < 1000))
  expect_identical(list.files(tempdir(), "^pcgpu-.*-"), character())

  # Of the user's folder, which workers may not see, or see too late, or find damaged.
  within <- tempfile()
  dir.create(within)
  before <- options(pcgpu.cluster_folder = within)
  on.exit(options(before), add = TRUE)
  expect_true(all(same(1) < 1000))
  expect_identical(list.files(within), character())
  write <- put
  for (lose in list(
    function(folder) unlink(folder, recursive = TRUE),
    function(folder) saveRDS(list(key = "another"), file.path(folder, "setup")),
    function(folder) writeLines("no setup", file.path(folder, "setup")),
    function(folder) {
      file <- file.path(folder, "correlations")
      bytes <- readBin(file, "raw", file.size(file))
      bytes[5000] <- xor(bytes[5000], as.raw(1))
      writeBin(bytes, file)
    }
  )) {
    in_package(put = function(object, file) {
      write(object, file)
      lose(dirname(file))
    })
    expect_true(all(same(1) > whole[[1]]))
    expect_identical(list.files(within), character())
  }
  in_package(put = function(object, file) abort_cluster("there is no room on the disk", "make some"))
  # (Keys of two searches need not be equally long.)
  expect_message(
    expect_true(all(abs(same(1) - whole[[1]]) < 16)),
    "sent to each worker.*no room on the disk",
    class = "pcgpu_message_cluster"
  )
  expect_identical(list.files(within), character())
  options(pcgpu.cluster_folder = file.path(within, "none"))
  expect_error(same(1), "set it to an existing folder", class = "pcgpu_error_argument")
})

test_that("compact results and orientations that test are the same", {
  s <- suff(p = 25, n = 300, degree = 4)
  compact <- function(...) pc(s, gaussCItest, 0.05, p = 25, result = "compact", ...)
  expect_identical_answer(compact(cluster = two), compact())
  skel <- skeleton(s, gaussCItest, 0.05, p = 25)
  for (rule in c("conservative", "maj.rule")) {
    oriented <- function(...) {
      do.call(
        orient,
        c(list(skel, suffStat = s, indepTest = gaussCItest, alpha = 0.05, ...), stats::setNames(TRUE, rule))
      )
    }
    expect_identical_answer(oriented(cluster = two), oriented(), info = rule)
    whole <- function(...) do.call(pc, c(list(s, gaussCItest, 0.05, p = 25, ...), stats::setNames(TRUE, rule)))
    expect_identical_answer(whole(cluster = two), whole(), info = rule)
  }
})

test_that("a test that is an R function runs on workers, with the variables that it uses", {
  s <- suff(p = 10, n = 300, degree = 3)
  wanted <- pc(s, slow_test, 0.05, p = 10)
  expect_identical_answer(pc(s, slow_test, 0.05, p = 10, cluster = two), wanted)
  expect_identical_answer(pc(s, slow_test, 0.05, p = 10, parallel_tests = TRUE, numCores = 2), wanted)
  cautious <- function(...) pc(s, slow_test, 0.05, p = 10, conservative = TRUE, ...)
  expect_identical_answer(cautious(cluster = two), cautious())
  expect_identical_answer(cautious(skel.method = "stable.fast", cluster = two), cautious(skel.method = "stable.fast"))

  assign("pcgpu_half", 0.5, envir = globalenv())
  assign("pcgpu_halved", eval(quote(function(x) pcgpu_half * x), globalenv()), envir = globalenv())
  on.exit(rm("pcgpu_half", "pcgpu_halved", envir = globalenv()))
  test <- function(x, y, S, suffStat) pcgpu_halved(gaussCItest(x, y, S, suffStat))
  environment(test) <- globalenv()
  before <- search()
  parallel::clusterCall(two, function() if ("package:pcgpu" %in% search()) detach("package:pcgpu"))
  expect_identical_answer(pc(s, test, 0.05, p = 10, cluster = two), pc(s, test, 0.05, p = 10))
  expect_identical(search(), before)
})

test_that("an R function that fails on a worker fails here as it would have", {
  failing <- function(x, y, S, suffStat) {
    if (x == 2 && length(S) == 1) {
      stop(structure(class = c("of_the_user", "error", "condition"), list(message = "no!", call = NULL)))
    }
    0
  }
  here <- tryCatch(pc(NULL, failing, 0.05, p = 4), error = identity)
  there <- tryCatch(pc(NULL, failing, 0.05, p = 4, cluster = two), error = identity)
  expect_s3_class(there, "pcgpu_error_test")
  expect_s3_class(there, "of_the_user")
  expect_match(conditionMessage(there), "no!", fixed = TRUE)
  expect_identical(class(there), class(here))
  expect_identical(there$x, here$x)
  expect_s3_class(there$parent, "of_the_user")
  expect_length(there$S, 1L)
  expect_true(all(c(there$y, there$S) %in% c(1L, 3L, 4L)))
  expect_identical(unlist(parallel::clusterEvalQ(two, 1 + 1)), c(2, 2))
})

test_that("random numbers of a test depend on the seed alone", {
  tossing <- function(x, y, S, suffStat) stats::runif(1)
  toss <- function(seed, ...) {
    set.seed(seed)
    skeleton(NULL, tossing, 0.6, p = 12, ...)
  }
  wanted <- toss(1, cluster = two)
  expect_gt(sum(wanted@n.edgetests), 66)
  expect_identical_answer(toss(1, cluster = two), wanted)
  expect_identical_answer(toss(1, cluster = two[1]), wanted)
  expect_identical_answer(toss(1, parallel_tests = TRUE, numCores = 2), wanted)
  expect_false(identical(toss(2, cluster = two)@pMax, wanted@pMax))
})

test_that("workers and the session are left as they were", {
  s <- suff()
  assign("pcgpu_helper", 1, envir = globalenv())
  on.exit(rm("pcgpu_helper", envir = globalenv()))
  test <- eval(quote(function(x, y, S, suffStat) pcgpu_helper * pcgpu::gaussCItest(x, y, S, suffStat)), globalenv())
  parallel::clusterCall(two, eval, quote(pcgpu_helper <- 99), globalenv())
  state <- function() {
    parallel::clusterCall(two, eval, quote(list(search(), .Random.seed, pcgpu_helper, RNGkind())), globalenv())
  }
  parallel::clusterSetRNGStream(two, 1)
  before <- state()
  set.seed(5)
  seed <- .Random.seed
  pc(s, test, 0.05, p = 8, cluster = two)
  expect_identical(state(), before)
  expect_identical(.Random.seed, seed)
  # A test that draws advances the session's random numbers.
  tossing <- function(x, y, S, suffStat) stats::runif(1)
  skeleton(NULL, tossing, 0.6, p = 4, cluster = two)
  expect_false(identical(.Random.seed, seed))
  expect_identical(state(), before)
  parallel::clusterCall(two, rm, list = c(".Random.seed", "pcgpu_helper"), envir = globalenv())
  pc(s, test, 0.05, p = 8, cluster = two)
  left <- parallel::clusterCall(two, function() c(ls(globalenv(), all.names = TRUE), RNGkind()[1]))
  for (one in left) {
    expect_false(any(c(".Random.seed", "pcgpu_helper") %in% one))
  }
})

test_that("warnings and messages of a test come from workers, each once with its count", {
  s <- suff()
  speaking <- function(x, y, S, suffStat) {
    if (length(S) == 0) {
      warning(structure(
        class = c("of_the_user", "warning", "condition"),
        list(message = "careful: 5% left", call = NULL)
      ))
      message("hello")
    }
    gaussCItest(x, y, S, suffStat)
  }
  heard <- list()
  fit <- withCallingHandlers(pc(s, speaking, 0.05, p = 8, cluster = two), condition = function(c) {
    if (inherits(c, c("warning", "message"))) {
      heard[[length(heard) + 1L]] <<- c
      tryInvokeRestart(if (inherits(c, "warning")) "muffleWarning" else "muffleMessage")
    }
  })
  expect_length(heard, 2L)
  for (one in heard) {
    expect_gte(one$count, 28)
  }
  expect_match(conditionMessage(heard[[1]]), "careful: 5% left (`indepTest` on workers, ", fixed = TRUE)
  expect_s3_class(heard[[1]], c("pcgpu_warning_test", "pcgpu_warning", "of_the_user", "warning"), exact = FALSE)
  expect_s3_class(heard[[2]], "pcgpu_message_test")
})

test_that("processes that are started for a call find the packages of this process", {
  with_own_libraries(libs <- Sys.getenv("R_LIBS"))
  expect_identical(strsplit(libs, .Platform$path.sep)[[1]], .libPaths())
  telling <- function(x, y, S, suffStat) stop(paste(.libPaths(), collapse = "|"))
  said <- expect_error(pc(NULL, telling, 0.05, p = 3, cluster = 1), class = "pcgpu_error_test")
  expect_match(conditionMessage(said), paste(.libPaths(), collapse = "|"), fixed = TRUE)
})

test_that("nodes of mirai's cluster, which are no processes, take jobs", {
  skip_if_not_installed("mirai")
  within <- tempfile()
  dir.create(within)
  before <- options(pcgpu.cluster_folder = within)
  on.exit(options(before))
  with_own_libraries(cluster <- mirai::make_cluster(2))
  on.exit(parallel::stopCluster(cluster), add = TRUE)
  s <- suff(p = 10, n = 300, degree = 3)
  fit <- pc(s, gaussCItest, 0.05, p = 10, cluster = cluster)
  expect_match(run_details(fit)$device, "^worker [12] ")
  expect_identical_answer(fit, pc(s, gaussCItest, 0.05, p = 10))
  expect_identical_answer(pc(s, slow_test, 0.05, p = 10, cluster = cluster), pc(s, slow_test, 0.05, p = 10))
  expect_identical(unlist(parallel::clusterCall(cluster, function() 1)), c(1, 1))
  expect_length(list.files(within), 0L)
  parallel::stopCluster(cluster)
  expect_error(pc(s, gaussCItest, 0.05, p = 10, cluster = cluster), "cannot be reached", class = "pcgpu_error_cluster")
})

test_that("a folder of jobs that cannot be used or written is an error, and is removed", {
  one <- function(launch, ...) job_workers(1L, launch, ...)
  set <- function(...) {
    before <- options(...)
    do.call(on.exit, list(bquote(options(.(before))), add = TRUE), envir = parent.frame())
  }
  set(pcgpu.cluster_folder = 5)
  expect_error(one(NULL)$start("a"), "cluster_folder = \\)` is 5: set it", class = "pcgpu_error_argument")
  options(pcgpu.cluster_folder = tempfile())
  expect_no_warning(expect_error(one(NULL)$start("a"), "set it to an existing folder", class = "pcgpu_error_argument"))
  within <- tempfile()
  dir.create(within)
  options(pcgpu.cluster_folder = within)
  set(pcgpu.cluster_wait = "a")
  expect_error(one(NULL)$start("a"), "cluster_wait.*seconds", class = "pcgpu_error_argument")
  options(pcgpu.cluster_wait = 60)
  gone <- one(function(folder) function(which) logical(length(which)), why = function(folder, jobs) "no pcgpu here")
  # At the second look.
  e <- expect_error(
    gone$start("a"),
    "1 of 1 jobs ended before they had begun (no pcgpu here)",
    fixed = TRUE,
    class = "pcgpu_error_cluster"
  )
  gone$end()
  expect_length(list.files(within), 0L)
  expect_no_warning(expect_error(
    put(1, file.path(within, "none", "file")),
    "cannot be written .*cluster_folder",
    class = "pcgpu_error_cluster"
  ))
})

test_that("only this user can read the folder of jobs, and the rest of a killed driver is removed", {
  within <- tempfile()
  dir.create(within)
  mode <- function(file) format(file.info(file)$mode)
  before <- Sys.umask("000")
  on.exit(Sys.umask(before))
  live <- job_folder("host-1-live", within)
  on.exit(remove_folder(live), add = TRUE)
  put(1, file.path(live, "setup"))
  expect_identical(mode(live), "700")
  expect_identical(unique(mode(list.files(live, full.names = TRUE))), "600")
  expect_identical(format(Sys.umask()), "0")
  in_package(least_by_file = 10)
  setup <- with_files(list(test = list(C = diag(2))), live)
  expect_identical(mode(file.path(live, "correlations")), "400")

  skip_on_os("windows")
  killed <- function(key) {
    job <- parallel::mcparallel({
      put(1, file.path(job_folder(key, within), "setup"))
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    })
    suppressWarnings(parallel::mccollect(job))
    file.path(within, paste0("pcgpu-", key))
  }
  left <- killed("host-2-left")
  expect_true(file.exists(file.path(left, "setup")))
  # Neither is another's: of another host, without a note, behind a link.
  elsewhere <- killed("host-3-elsewhere")
  writeLines("another host", file.path(elsewhere, "driver"))
  nobodys <- file.path(within, "pcgpu-host-4-nobodys")
  dir.create(nobodys)
  behind <- file.path(within, "kept")
  file.rename(killed("host-5-link"), behind)
  link <- file.path(within, "pcgpu-host-5-link")
  file.symlink(behind, link)
  own <- job_folder("host-6-next", within)
  expect_false(dir.exists(left))
  expect_true(all(dir.exists(c(live, elsewhere, nobodys, behind, own))))
  remove_folder(own)
  expect_false(dir.exists(own))
  # In a folder that cannot be locked nothing is found, and the jobs continue.
  in_package(rust_lock = function(path) NULL)
  own <- job_folder("host-7-nolock", within)
  expect_true(dir.exists(own))
  remove_folder(own)
})

test_that("the details name the workers, and two searches go one after the other", {
  s <- suff(p = 25, n = 300, degree = 4)
  fit <- pc(s, gaussCItest, 0.05, p = 25, cluster = two)
  details <- run_details(fit)
  expect_match(details$device, "^worker [12] \\(.+\\)$")
  expect_setequal(details$team$device, details$device)
  expect_true(all(details$team$bytes_to[details$team$level %in% 0L] > 0))
  expect_match(paste(capture.output(print(details)), collapse = " "), "worker 1 .* \\+ worker 2 ")
  expect_identical_answer(pc(s, gaussCItest, 0.05, p = 25, cluster = two), fit)
  alone <- run_details(pc(s, gaussCItest, 0.05, p = 25, cluster = two[1]))
  expect_identical(unique(alone$team$device), alone$device)
  expect_null(alone$levels)
  expect_identical(unlist(parallel::clusterEvalQ(two, length(pcgpu:::session$ranks))), c(0L, 0L))
})

test_that("Ctrl-C in the middle leaves the cluster usable", {
  napping <- function(x, y, S, suffStat) {
    Sys.sleep(0.02)
    0
  }
  stopped <- press(function() pc(NULL, napping, 0.05, p = 20, cluster = two))
  expect_identical(stopped$outcome, "stopped")
  # Pieces that are under way end before: some tenths of a second each.
  expect_lt(stopped$took, 5)
  expect_identical(unlist(parallel::clusterEvalQ(two, 1 + 1)), c(2, 2))
  s <- suff()
  expect_identical_answer(pc(s, gaussCItest, 0.05, p = 8, cluster = two), pc(s, gaussCItest, 0.05, p = 8))
})

test_that("late answers are nobody else's, and an interrupted worker answers", {
  s <- suff()
  wanted <- pc(s, gaussCItest, 0.05, p = 8)
  late <- parallel::makePSOCKcluster(1)
  on.exit(parallel::stopCluster(late))
  # Somebody went away without his answers.
  send <- utils::getFromNamespace("sendCall", "parallel")
  send(late[[1]], identity, list("not ours"), tag = NULL)
  send(late[[1]], call_by_name, list("rank_about"), tag = "pcgpu 0")
  expect_identical_answer(pc(s, gaussCItest, 0.05, p = 8, cluster = late), wanted)
  expect_identical(parallel::clusterEvalQ(late, 42), list(42))
  skip_on_os("windows")
  # Workers are started in the background, and from R 4.5 on they stay deaf.
  deaf <- is_deaf_to_interrupts
  environment(deaf) <- baseenv()
  skip_if(parallel::clusterCall(late, deaf)[[1]], "the worker was started deaf to Ctrl-C")
  once <- tempfile()
  presses <- function(x, y, S, suffStat) {
    if (dir.create(once, showWarnings = FALSE)) {
      tools::pskill(Sys.getpid(), tools::SIGINT)
    }
    Sys.sleep(0.01)
    gaussCItest(x, y, S, suffStat)
  }
  expect_error(
    pc(s, presses, 0.05, p = 8, cluster = late),
    "no worker .* left: it was interrupted",
    class = "pcgpu_error_cluster"
  )
  expect_identical(parallel::clusterEvalQ(late, 42), list(42))
})

test_that("arguments that are no cluster, or do not go with one, are refused", {
  s <- suff()
  refused <- function(..., argument, says) {
    e <- expect_error(pc(s, p = 8, alpha = 0.05, ...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
    expect_match(conditionMessage(e), says)
  }
  for (cluster in list("no cluster", list(), 0, 1.5, NA, Inf, c(1, 2))) {
    refused(gaussCItest, cluster = cluster, argument = "cluster", says = "makeCluster")
  }
  refused(gaussCItest, cluster = two[0], argument = "cluster", says = "without workers: give")
  for (twice in list(two[c(1, 1)], two[c(1, 2, 1)], structure(c(two, two), class = class(two)))) {
    refused(gaussCItest, cluster = twice, argument = "cluster", says = "twice .*: give each worker once")
  }
  refused(slow_test, cluster = two, skel.method = "original", argument = "cluster", says = "method")
  refused(slow_test, cluster = two, verbose = TRUE, argument = "verbose", says = "verbose = FALSE")
  refused(slow_test, parallel_tests = NA, argument = "parallel_tests", says = "TRUE or FALSE")
  refused(
    slow_test,
    parallel_tests = TRUE,
    numCores = 2,
    skel.method = "original",
    argument = "parallel_tests",
    says = "method"
  )
})

test_that("workers with GPUs have the answer of this process at the Gaussian test", {
  skip_without_gpu()
  s <- suff(p = 150, n = 100, degree = 20)
  for (method in c("stable", "stable.fast")) {
    wanted <- skeleton(s, gaussCItest, 0.2, p = 150, m.max = 2, method = method, device = "cpu")
    # By pairs; by a strategy that decides none.
    for (device in list("cuda", cuda_device(strategy = "edge"))) {
      found <- skeleton(s, gaussCItest, 0.2, p = 150, m.max = 2, method = method, device = device, cluster = two)
      expect_same_answer(found, wanted, method)
    }
  }
})

test_that("workers share one selection, with the answer of this process", {
  share_always()
  set.seed(2)
  x <- matrix(rnorm(120 * 60), 120, dimnames = list(NULL, paste0("v", 1:60)))
  y <- x[, 3] + x[, 40] > rnorm(120)
  sparse <- x * (abs(x) > 1.8)
  frame <- data.frame(x[, 1:20], f = factor(sample(letters[1:3], 120, TRUE)))
  file <- write_pcgpu_file(x, tempfile())
  parts <- c("index", "names", "score", "relevance", "levels", "classes", "bins")
  for (data in c(
    list(x, frame, file),
    if (requireNamespace("Matrix", quietly = TRUE)) list(Matrix::Matrix(sparse, sparse = TRUE))
  )) {
    for (criterion in c("JMI", "CMI", "DISR", "Betagamma", "FCBF")) {
      weight <- if (criterion == "Betagamma") list(beta = 0.3)
      select <- function(...) {
        do.call(select_features, c(list(data, y, 15, criterion, discretize = "equal-frequency", ...), weight))
      }
      for (cluster in list(two, two[1])) {
        found <- select(cluster = cluster)
        expect_identical(found[parts], select()[parts], info = paste(class(data)[1], criterion))
      }
    }
  }
  details <- run_details(select_features(x, y, 15, cluster = two))
  expect_match(details$device, "^worker [12] \\(.+\\)$")
  # The codes of half of the columns, and those that were selected.
  expect_true(all(details$team$bytes_to > 0 & details$team$bytes_to < 120 * 60))
  x[7, 50] <- x[9, 20] <- NA
  refused <- function(...) {
    conditionMessage(expect_error(select_features(..., y = y, k = 3), class = "pcgpu_error_argument"))
  }
  for (data in list(x, write_pcgpu_file(x, tempfile()))) {
    expect_identical(refused(data, cluster = two), refused(data))
    found <- select_features(data, y, 3, na = "level", cluster = two)
    expect_match(found$device, "^worker")
    expect_identical(found[parts], select_features(data, y, 3, na = "level")[parts])
  }
  ensemble <- function(...) {
    select_features(frame, y, 4, c("JMI", "FCBF"), ensemble = selection_ensemble(5, seed = 1), ...)
  }
  expect_identical(ensemble(cluster = two)$ensemble, ensemble()$ensemble)
  expect_identical(unlist(parallel::clusterEvalQ(two, length(pcgpu:::session$ranks))), c(0L, 0L))
})

test_that("a selection that is sooner done than sent is made here, and no cluster is none", {
  data <- list(x = matrix(rnorm(3000), 100), y = rep(0:1, 50))
  # Of a number no process is started.
  found <- select_features(data$x, data$y, 5, cluster = 1000)
  expect_identical(found$device, "cpu")
  expect_identical(found$index, select_features(data$x, data$y, 5)$index)
  expect_true(sharing_pays("auto", "JMI", 1000, 1e5, 100))
  expect_false(sharing_pays("cpu", "MIM", 1000, 1e5, 100))
  # What the workers have this machine may lack.
  expect_true(sharing_pays("cuda", "JMI", 10, 10, 10))
  e <- expect_error(select_features(data$x, data$y, 5, cluster = "none"), class = "pcgpu_error_argument")
  expect_identical(e$argument, "cluster")
})

test_that("a worker of another version, or without the package, is refused by name", {
  s <- suff()
  parallel::clusterEvalQ(two[2], {
    utils::assignInNamespace("rank_about", function() list(version = "0.0.9", host = "elsewhere", cores = 1L), "pcgpu")
    NULL
  })
  e <- expect_error(pc(s, gaussCItest, 0.05, p = 8, cluster = two), class = "pcgpu_error_cluster")
  expect_match(conditionMessage(e), "worker 2 (elsewhere) runs pcgpu 0.0.9", fixed = TRUE)
  parallel::clusterEvalQ(two[2], {
    utils::assignInNamespace("rank_about", function() stop("there is no package called 'pcgpu'"), "pcgpu")
    NULL
  })
  e <- expect_error(pc(s, gaussCItest, 0.05, p = 8, cluster = two), class = "pcgpu_error_cluster")
  expect_match(conditionMessage(e), "worker 2 .*no package called 'pcgpu'")
  expect_identical(unlist(parallel::clusterEvalQ(two, 1 + 1)), c(2, 2))
})

test_that("the sockets of a cluster of the user's send small messages at once", {
  skip_on_os("windows")
  cluster <- parallel::makePSOCKcluster(1)
  on.exit(if (!is.null(cluster)) parallel::stopCluster(cluster))
  port <- as.integer(sub(".*:", "", summary(cluster[[1]]$con)$description))
  # All clusters of a session meet at one port, and a worker inherits open sockets: others may be there.
  of_session <- pcgpu:::rust_no_delay(port)
  expect_gte(parallel::clusterCall(cluster, function(port) asNamespace("pcgpu")$rust_no_delay(port), port)[[1]], 1L)
  parallel::stopCluster(cluster)
  cluster <- NULL
  expect_identical(of_session - pcgpu:::rust_no_delay(port), 1L)
  expect_identical(pcgpu:::rust_no_delay(1L), 0L)
})

parallel::stopCluster(two)

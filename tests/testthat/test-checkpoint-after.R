# Calls that end after their search: in the warnings, in the orientation or in the tests after it.

# Calls of each function that takes a checkpoint, with tests for colliders where it has some.
kept_calls <- function(s, test) {
  list(
    skeleton = function(...) skeleton(s, test, 0.2, p = 9, ...),
    "pc, standard" = function(...) pc(s, test, 0.2, p = 9, ...),
    "pc, majority" = function(...) pc(s, test, 0.2, p = 9, maj.rule = TRUE, result = "pcAlgo", ...),
    "pc, compact" = function(...) pc(s, test, 0.2, p = 9, conservative = TRUE, result = "compact", ...),
    "pc, fast" = function(...) pc(s, test, 0.2, p = 9, maj.rule = TRUE, skel.method = "stable.fast", ...),
    fci = function(...) {
      suppressMessages(fci(s, test, 0.2, p = 9, maj.rule = TRUE, ...), classes = "pcgpu_message_pdsep")
    },
    rfci = function(...) rfci(s, test, 0.2, p = 9, conservative = TRUE, ...),
    fciPlus = function(...) fciPlus(s, test, 0.2, p = 9, ...)
  )
}

files_of <- function(file) list.files(dirname(file), basename(file))

test_that("a call that ends after its search leaves the files, and the next call gets its answer at once", {
  asked <- 0
  test <- function(x, y, S, suffStat) {
    asked <<- asked + 1
    gaussCItest(x, y, S, suffStat)
  }
  s <- small()
  # The details are made after all that is said of a search.
  details <- pcgpu:::with_details
  put <- function(value) utils::assignInNamespace("with_details", value, "pcgpu")
  on.exit(put(details))
  both <- list(of_r = kept_calls(s, test), native = kept_calls(s, gaussCItest))
  for (calls in both) {
    for (name in names(calls)) {
      call <- calls[[name]]
      wanted <- parts(call())
      file <- no_file()
      put(function(...) stop("the caller left"))
      expect_error(call(checkpoint = file), "the caller left")
      put(details)
      expect_true(file.exists(file), info = name)
      asked <- 0
      found <- while_resumed(call(checkpoint = file))
      expect_s3_class(found$resumed_from, "pcgpu_message_resumed")
      expect_identical(asked, 0, info = name)
      expect_identical(parts(found$value), wanted, info = name)
      expect_identical(files_of(file), character(), info = name)
    }
  }
})

test_that("a warning that is an error does not cost the search", {
  set.seed(1)
  d <- as.data.frame(lapply(1:12, function(i) factor(sample(3, 60, TRUE))))
  names(d) <- paste0("V", 1:12)
  d$V2 <- d$V1
  d$V3[1:40] <- d$V1[1:40]
  s <- suff_discrete(d)
  test <- function(x, y, S, suffStat) if (length(S) > 0 && x == 1) NA_real_ else disCItest(x, y, S, suffStat)
  for (each in list(disCItest, test)) {
    file <- no_file()
    run <- function(...) pc(s, each, 0.3, labels = names(d), ...)
    wanted <- parts(suppressWarnings(run()))
    before <- options(warn = 2)
    expect_error(run(checkpoint = list(file = file, every = 0)), "converted from warning")
    options(before)
    # A handler that leaves, and Ctrl-C that comes with the warning.
    left <- tryCatch(suppressMessages(run(checkpoint = file)), warning = function(w) "left")
    expect_identical(left, "left")
    interrupt <- structure(class = c("interrupt", "condition"), list())
    left <- tryCatch(
      withCallingHandlers(suppressMessages(run(checkpoint = file)), warning = function(w) signalCondition(interrupt)),
      interrupt = function(i) "left"
    )
    expect_identical(left, "left")
    expect_true(file.exists(file))
    found <- while_resumed(suppressWarnings(run(checkpoint = file)))
    expect_s3_class(found$resumed_from, "pcgpu_message_resumed")
    expect_identical(parts(found$value), wanted)
    expect_identical(files_of(file), character())
  }
})

test_that("tests after the search are not repeated", {
  s <- small()
  asked <- 0
  on.exit(options(pcgpu_test_limit = NULL))
  test <- function(x, y, S, suffStat) {
    asked <<- asked + 1
    if (asked > getOption("pcgpu_test_limit")) {
      stop("the machine is gone")
    }
    gaussCItest(x, y, S, suffStat)
  }
  calls <- kept_calls(s, test)
  for (name in setdiff(names(calls), c("skeleton", "pc, standard"))) {
    call <- calls[[name]]
    options(pcgpu_test_limit = Inf)
    asked <- 0
    wanted <- parts(call())
    all <- asked
    # After the possible-d-sep phase of fci().
    limit <- all - 10
    file <- no_file()
    options(pcgpu_test_limit = limit)
    asked <- 0
    expect_error(call(checkpoint = file), class = "pcgpu_error_test")
    expect_true(file.exists(paste0(file, ".later")))
    options(pcgpu_test_limit = Inf)
    asked <- 0
    found <- while_resumed(call(checkpoint = file))
    # fciPlus() asks about all neighbours of a pair together.
    expect_lte(asked, 10)
    expect_identical(parts(found$value), wanted, info = name)
    expect_identical(files_of(file), character(), info = name)
  }
})

test_that("a call that is killed during orientation continues there", {
  skip_on_os("windows")
  skip_on_cran()
  s <- small()
  tally <- tempfile()
  on.exit(unlink(tally))
  asked <- function() if (file.exists(tally)) file.size(tally) else 0
  test <- function(x, y, S, suffStat) {
    cat("x", file = tally, append = TRUE)
    if (asked() > getOption("pcgpu_test_limit")) {
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }
    gaussCItest(x, y, S, suffStat)
  }
  on.exit(options(pcgpu_test_limit = NULL), add = TRUE)
  options(pcgpu_test_limit = Inf)
  skeleton(s, test, 0.2, p = 9)
  searched <- asked()
  unlink(tally)
  wanted <- parts(pc(s, test, 0.2, p = 9, maj.rule = TRUE))
  all <- asked()
  for (method in c("maj.rule", "conservative")) {
    file <- no_file()
    run <- function() {
      do.call(
        pc,
        c(list(s, test, 0.2, p = 9, checkpoint = list(file = file, every = 0)), stats::setNames(TRUE, method))
      )
    }
    limit <- searched + round(0.9 * (all - searched))
    options(pcgpu_test_limit = limit)
    unlink(tally)
    suppressWarnings(parallel::mccollect(parallel::mcparallel(run(), silent = TRUE)))
    expect_identical(asked(), limit + 1)
    options(pcgpu_test_limit = Inf)
    unlink(tally)
    found <- while_resumed(run())
    expect_lte(asked(), all - limit)
    if (method == "maj.rule") expect_identical(parts(found$value), wanted)
  }
})

test_that("another rule or other knowledge has tests of its own, and the search continues", {
  s <- small()
  on.exit(options(pcgpu_test_limit = NULL))
  asked <- 0
  test <- function(x, y, S, suffStat) {
    asked <<- asked + 1
    if (asked > getOption("pcgpu_test_limit")) {
      stop("the machine is gone")
    }
    gaussCItest(x, y, S, suffStat)
  }
  options(pcgpu_test_limit = Inf)
  run <- function(...) pc(s, test, 0.2, p = 9, ...)
  run(maj.rule = TRUE)
  all <- asked
  for (other in list(list(conservative = TRUE), list(maj.rule = TRUE, forbidden = data.frame(from = 1, to = 2)))) {
    file <- no_file()
    asked <- 0
    options(pcgpu_test_limit = all - 5)
    expect_error(run(maj.rule = TRUE, checkpoint = file), class = "pcgpu_error_test")
    options(pcgpu_test_limit = Inf)
    found <- while_resumed(do.call(run, c(other, checkpoint = file)))
    expect_s3_class(found$resumed_from, "pcgpu_message_resumed")
    expect_identical(parts(found$value), parts(do.call(run, other)))
  }
})

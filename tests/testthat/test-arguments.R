# One way in: what arguments all functions share, and what they are called.

numbers <- function(n = 120) {
  set.seed(7)
  x <- data.frame(FOXM1 = rnorm(n), TOP2A = rnorm(n))
  x$KIF2C <- x$FOXM1 + x$TOP2A + rnorm(n)
  x
}

levels_of <- function(x) data.frame(lapply(x, function(column) factor(column > 0)))

searches <- list(pc = pc, skeleton = skeleton, fci = fci, rfci = rfci, fciPlus = fciPlus)

quiet <- function(value) suppressWarnings(suppressMessages(value))

test_that("a sufficient statistic knows its test, in every search", {
  x <- numbers()
  statistics <- list(
    list(suff_gauss(x), "gaussCItest", gaussCItest),
    list(suff_gauss(x, keep = "data"), "gaussCItest", gaussCItest),
    list(suff_discrete(levels_of(x)), "disCItest", disCItest),
    list(suff_knn(x, permutations = 20, seed = 1), "cmiKnnCItest", cmiKnnCItest),
    list(quiet(suff_kernel(x, seed = 1)), "kciCItest", kciCItest)
  )
  for (statistic in statistics) {
    for (name in names(searches)) {
      search <- searches[[name]]
      rule <- if (name == "pc") list(maj.rule = TRUE)
      found <- quiet(search(statistic[[1]], alpha = 0.05))
      wanted <- quiet(do.call(search, c(list(statistic[[1]], statistic[[3]], 0.05), rule)))
      expect_identical(edges(found), edges(wanted), info = paste(name, statistic[[2]]))
      expect_identical(labels_of_result(found), c("FOXM1", "TOP2A", "KIF2C"))
      expect_identical(run_details(found)$test, statistic[[2]])
    }
    expect_identical(quiet(plan_search(statistic[[1]], alpha = 0.05))$test, statistic[[2]])
  }
  for (statistic in statistics[-1]) {
    how <- if (statistic[[2]] == "cmiKnnCItest") "subsample" else "bootstrap"
    again <- function(...) quiet(stability(statistic[[1]], ..., alpha = 0.05, replicates = 3, how = how, seed = 1))
    expect_identical(again()$counts, again(statistic[[3]], maj.rule = TRUE)$counts)
  }
  expect_error(stability(suff_gauss(x), alpha = 0.05), "keep = \"data\"", class = "pcgpu_error_argument")
})

test_that("a message names the test if several read the statistic", {
  x <- numbers()
  said <- function(code) {
    tryCatch(suppressWarnings(code), pcgpu_message_data = function(m) list(conditionMessage(m), m$indepTest))
  }
  d <- suff_discrete(levels_of(x))
  wanted <- "120 samples (rows), 3 variables (columns), all discrete: using disCItest(), G-squared.\n"
  expect_identical(said(pc(d, alpha = 0.05)), list(wanted, "disCItest"))
  expect_identical(said(pc(suff_knn(cbind(x, d = x$FOXM1 > 0)), alpha = 0.05))[[2]], "mixedCItest")
  large <- data.frame(a = rnorm(600), b = rnorm(600))
  expect_identical(said(pc(suff_kernel(large), alpha = 0.05))[[2]], "rcotCItest")
  expect_silent(pc(suff_gauss(x), alpha = 0.05))
  # The statistic is still a plain list, for pcalg.
  expect_identical(attributes(suff_gauss(x)), list(names = c("C", "n")))
  expect_null(attr(d, "class"))
})

test_that("a statistic has no use for arguments about data", {
  s <- suff_gauss(numbers())
  refused <- function(argument, ...) {
    e <- expect_error(pc(s, alpha = 0.05, ...), class = "pcgpu_error_argument")
    expect_identical(e$argument, argument)
  }
  refused("na", na = "testwise")
  refused("correlation", correlation = "npn")
  expect_error(pc(s, alpha = 5), "`alpha` is 5", class = "pcgpu_error_argument")
  for (other in list(list(C = 1), list(data = 1), list(x = s$C, y = 3), new.env())) {
    expect_error(pc(other, alpha = 0.05, p = 3), "indepTest", class = "pcgpu_error_argument")
  }
})

test_that("\"knn\" is the nearest-neighbour test", {
  x <- numbers(60)
  s <- suff_knn(x, permutations = 20, seed = 1)
  expect_identical(run_details(pc(s, "knn", 0.05))$test, "cmiKnnCItest")
  expect_error(pc(s, "kn", 0.05), "cmiKnnCItest", class = "pcgpu_error_argument")
})

test_that("the arguments of pc_control() are arguments of each function that uses them", {
  all <- pcgpu:::control_arguments()
  known <- pcgpu:::knowledge_arguments
  of_fci <- setdiff(all, c("result", "context.all", "context.tier"))
  takes <- list(
    pc = all,
    skeleton = all,
    fci = of_fci,
    rfci = of_fci,
    fciPlus = of_fci,
    orient = c("cluster", "parallel_tests", known),
    plan_search = setdiff(all, c("result", "checkpoint", "time_limit")),
    stability = c("cluster", known, "na", "correlation", "weights", "adjust", "id"),
    cstar = c("cluster", known)
  )
  for (name in names(takes)) {
    of <- formals(getExportedValue("pcgpu", name))
    expect_identical(intersect(names(of), all), takes[[name]], info = name)
    expect_true(all(vapply(of[takes[[name]]], is.null, NA)), info = name)
    # They follow `...`, so that abbreviations of pcalg's arguments are not ambiguous.
    expect_true(all(match(takes[[name]], names(of)) > match("...", names(of))), info = name)
  }
})

test_that("NULL is an argument that is not given", {
  x <- numbers()
  tiers <- list(c("FOXM1", "TOP2A"), "KIF2C")
  # As a user's own function hands its arguments on.
  mine <- function(data, tiers = NULL, na = NULL, result = NULL, time_limit = NULL, ...) {
    quiet(pc(data, alpha = 0.05, tiers = tiers, na = na, result = result, time_limit = time_limit, ...))
  }
  expect_identical(edges(mine(x)), edges(quiet(pc(x, alpha = 0.05))))
  wanted <- quiet(pc(x, alpha = 0.05, control = pc_control(tiers = tiers, result = "compact")))
  expect_identical_answer(mine(x, tiers, result = "compact"), wanted)
  expect_identical_answer(mine(x, control = pc_control(tiers = tiers, result = "compact")), wanted)
  expect_error(mine(x, tiers, control = pc_control(tiers = tiers)), "given twice", class = "pcgpu_error_argument")
  fit <- quiet(pc(x, alpha = 0.05, tiers = tiers))
  expect_identical(names(fit@call), c("", "suffStat", "alpha", "tiers"))
  expect_identical(edges(quiet(update(fit, tiers = NULL))), edges(mine(x)))
  # Abbreviations of pcalg's arguments.
  expect_identical(
    edges(pc(suff_gauss(x), i = gaussCItest, a = 0.05, cons = TRUE)),
    edges(mine(x, conservative = TRUE))
  )
})

test_that("both names of an argument are taken, and results store the taught one", {
  x <- numbers()
  fit <- quiet(pc(x, alpha = 0.05, threads = 1))
  expect_identical(names(fit@call), c("", "suffStat", "alpha", "numCores"))
  expect_identical(edges(fit), edges(quiet(update(fit, numCores = 2))))
  mine <- function(...) pc(x, alpha = 0.05, ...)
  expect_identical(edges(quiet(mine(threads = 1))), edges(fit))
  for (search in searches) {
    expect_error(search(x, alpha = 0.05, threads = 0), "`numCores` is 0", class = "pcgpu_error_argument")
  }
  skel <- quiet(skeleton(x, alpha = 0.05))
  bad <- list(
    quote(orient(skel, threads = 0)),
    quote(plan_search(x, alpha = 0.05, threads = 0)),
    quote(recommend_test(x, seconds = 1, threads = 0)),
    quote(stability(x, alpha = 0.05, threads = 0)),
    quote(cstar(x, alpha = 0.05, threads = 0)),
    quote(causal_effects(fit, x, threads = 0)),
    quote(local_pc(x, 1, 0.05, threads = 0)),
    quote(markov_blanket(x, 1, 0.05, threads = 0)),
    quote(markov_check(fit, x, threads = 0)),
    quote(pcSelect(x[[1]], x[-1], 0.05, threads = 0)),
    quote(pcSelect.presel(x[[1]], x[-1], 0.05, 0.1, threads = 0)),
    quote(random_data(random_dag(3), 10, threads = 0)),
    quote(select_features(x, x[[1]], 2, threads = 0))
  )
  for (call in bad) {
    expect_error(quiet(eval(call)), "`numCores` is 0", class = "pcgpu_error_argument", info = deparse(call))
  }
  e <- expect_error(pc(x, alpha = 0.05, threads = 1, numCores = 1), "another name of `numCores`, which is also given")
  expect_identical(e$argument, "threads")
})

test_that("British and American spelling are the same", {
  dag <- random_dag(6, neighbors = 3, seed = 1)
  expect_identical(dag, random_dag(6, neighbours = 3, seed = 1))
  wanted <- random_data(dag, 50, standardise = TRUE, seed = 1)
  expect_identical(random_data(dag, 50, standardize = TRUE, seed = 1), wanted)
  x <- numbers()
  ranked <- function(...) cstar(x, alpha = 0.2, replicates = 3, seed = 1, ...)$pairs
  expect_identical(ranked(standardise = TRUE), ranked(standardize = TRUE))
  y <- x$KIF2C > 0
  expect_identical(
    select_features(x, y, 2, discretise = "equal-frequency")$index,
    select_features(x, y, 2, discretize = "equal-frequency")$index
  )
  expect_error(random_dag(6, neighbors = 3, neighbours = 2), "`neighbors`", class = "pcgpu_error_argument")
  fit <- quiet(pc(x, alpha = 0.05))
  picture <- function(...) {
    file <- tempfile(fileext = ".svg")
    on.exit(unlink(file))
    grDevices::svg(file)
    tryCatch(plot(fit, ...), finally = grDevices::dev.off())
    # Cairo counts the surfaces of a session.
    gsub("surface[0-9]+", "surface", readLines(file))
  }
  expect_identical(picture(color = 1:3), picture(colour = 1:3))
  expect_identical(picture(edge_color = "red"), picture(edge_colour = "red"))
  expect_false(identical(picture(color = 1:3), picture()))
  found <- quiet(stability(x, alpha = 0.05, replicates = 3, seed = 1))
  on_no_page(expect_silent(plot(found, "graph", color = 1:3)))
})

test_that("functions that resample have the same words, and take others'", {
  x <- numbers()
  half <- quiet(stability(x, alpha = 0.05, replicates = 4, how = "subsample", size = 60, seed = 1))
  others <- quiet(stability(x, alpha = 0.05, resamples = 4, replace = FALSE, fraction = 0.5, seed = 1))
  expect_identical(others$counts, half$counts)
  expect_identical(others$size, 60L)
  expect_identical(names(others$call), c("", "data", "alpha", "replicates", "how", "size", "seed"))
  ranked <- function(...) cstar(x, alpha = 0.2, seed = 1, ...)$pairs
  expect_identical(ranked(resamples = 3, share = 0.25), ranked(replicates = 3, size = 30))
  fit <- quiet(pc(x, alpha = 0.05))
  checked <- function(...) as.data.frame(quiet(markov_check(fit, x, seed = 1, ...)))
  expect_identical(checked(resamples = 5, share = 0.25), checked(replicates = 5, size = 0.25))
  expect_identical(checked(replicates = 5, size = 30), checked(replicates = 5, size = 0.25))
  expect_identical(
    unclass(selection_ensemble(9, fraction = 0.5, replace = FALSE, seed = 1)),
    unclass(selection_ensemble(replicates = 9, how = "subsample", size = 0.5, seed = 1))
  )
  y <- x$KIF2C > 0
  rows <- function(size) {
    ensemble <- selection_ensemble(3, size = size, how = "subsample", seed = 1)
    ensemble_rows(select_features(x, y, 1, ensemble = ensemble), 2)
  }
  expect_length(rows(30), 30L)
  expect_identical(rows(30), rows(0.25))
  expect_error(rows(120), "selects 120 rows of 120", class = "pcgpu_error_argument")
  for (bad in list(0, -1, 1.5, NA, "a", c(0.5, 0.5))) {
    expect_error(selection_ensemble(3, size = bad), "`size` is", class = "pcgpu_error_argument")
    expect_error(stability(x, gaussCItest, 0.05, size = bad), "`size` is", class = "pcgpu_error_argument")
    expect_error(markov_check(fit, x, size = bad), "`size` is", class = "pcgpu_error_argument")
  }
  expect_error(stability(x, alpha = 0.05, how = NA), "`how` is NA", class = "pcgpu_error_argument")
  # Only functions that resample know these words.
  expect_error(plot(fit, share = 1), "`share` is not an argument", class = "pcgpu_error_argument")
})

test_that("files are `file`, or `path`", {
  x <- numbers()
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  write_pcgpu_file(x, path = at("x"))
  expect_identical(dim(pcgpu_file(path = at("x"))), dim(pcgpu_file(at("x"))))
  fit <- quiet(pc(x, alpha = 0.05))
  write_network(fit, path = at("a.gv"))
  write_network(fit, file = at("b.gv"))
  expect_identical(readLines(at("a.gv")), readLines(at("b.gv")))
  bed <- system.file("extdata", "genotypes.bed", package = "pcgpu")
  expect_identical(dim(plink_bed(path = bed)), dim(plink_bed(bed)))
  expect_identical(suff_gauss(x, keep = "data", path = at("suff"))$n, 120L)
  expect_error(write_pcgpu_file(x, at("x")), "overwrite = TRUE", class = "pcgpu_error_argument")
  e <- expect_error(
    suff_gauss(x, keep = "data", file = at("suff")),
    "use another path[.]$",
    class = "pcgpu_error_argument"
  )
  expect_identical(e$argument, "file")
})

test_that("`na` of suff_gauss() is called `use`", {
  e <- expect_error(suff_gauss(numbers(), na = "testwise"), "did you mean `use`", class = "pcgpu_error_argument")
  expect_identical(e$argument, "na")
})

test_that("a misspelt variable has a suggestion, wherever variables are named", {
  x <- numbers()
  fit <- quiet(pc(x, alpha = 0.05))
  asks <- list(
    quote(neighbours(fit, "foxm1")),
    quote(sepset(fit, "foxm1", "TOP2A")),
    quote(p_value(fit, "TOP2A", "foxm1")),
    quote(plot(fit, around = "foxm1")),
    quote(causal_effects(fit, x, x = "foxm1")),
    quote(markov_blanket(fit, "foxm1")),
    quote(local_pc(x, "foxm1", 0.05)),
    quote(cstar(x, 0.05, y = "foxm1")),
    quote(pc(x, alpha = 0.05, tiers = list("foxm1", c("TOP2A", "KIF2C")))),
    quote(pc(x, alpha = 0.05, forbidden = c("foxm1", "TOP2A"))),
    quote(pc(x, alpha = 0.05, required = data.frame(from = "foxm1", to = "TOP2A"))),
    quote(pc(x, alpha = 0.05, context.all = "foxm1")),
    quote(pc(x, alpha = 0.05, adjust = "foxm1")),
    quote(pc(x, alpha = 0.05, weights = "foxm1")),
    quote(pc(x, alpha = 0.05, id = "foxm1")),
    quote(fci(x, alpha = 0.05, selectionBias = FALSE, jci = "1", contextVars = "foxm1")),
    quote(add_knowledge(fit, required = c("foxm1", "TOP2A"))),
    quote(select_features(x, "foxm1", 1)),
    quote(lagged(x, id = "foxm1"))
  )
  for (call in asks) {
    expect_error(
      quiet(eval(call)),
      "unknown variable, \"foxm1\": did you mean \"FOXM1\"?",
      fixed = TRUE,
      class = "pcgpu_error_argument",
      info = deparse(call)
    )
  }
})

test_that("dates are days, whether dates, times or text", {
  x <- numbers()
  day <- as.Date("2020-01-01") + rev(seq_len(120)) %% 60
  x$day <- day
  wanted <- as.numeric(day)
  wanted[3] <- NA
  forms <- list(day, as.POSIXct(format(day), tz = "UTC"), as.POSIXlt(format(day), tz = "UTC"), format(day))
  for (form in forms) {
    x$day <- form
    x$day[3] <- NA
    expect_message(found <- pcgpu:::plain_columns(x, "x"), "numbers [(]days.*\"day\"", class = "pcgpu_message_dates")
    expect_equal(found$day, wanted, tolerance = 1e-12)
  }
  expect_message(suppressMessages(pc(x, alpha = 0.05, na = "testwise"), "pcgpu_message_data"), "factor[(][)]")
  fit <- quiet(pc(x, alpha = 0.05, na = "testwise"))
  expect_identical(run_details(fit)$test, "gaussCItwd")
  # Not all of it are dates, or it is a factor, or nothing.
  for (other in list(replace(format(day), 5, "2020-02-30"), replace(format(day), 5, "none"), factor(format(day)))) {
    x$day <- other
    expect_silent(found <- pcgpu:::plain_columns(x, "x"))
    expect_identical(found$day, other)
  }
  x$day <- NA_character_
  expect_silent(found <- pcgpu:::plain_columns(x, "x"))
  expect_identical(found$day, rep(NA_character_, 120))
})

test_that("print() of a large pcAlgo and of a plan give its size", {
  p <- 3000
  set.seed(1)
  codes <- matrix(sample(0:1, 8 * p, TRUE), 8)
  suff <- list(dm = codes, nlev = rep(2, p), adaptDF = FALSE)
  fit <- quiet(skeleton(suff, disCItest, 0.01, p = p, m.max = 0))
  said <- "This object takes 144 MB or more. With result = \"compact\", the same edges take much less memory"
  expect_match(gsub("\\s+", " ", paste(capture.output(print(fit)), collapse = " ")), said, fixed = TRUE)
  plan <- quiet(plan_search(suff, disCItest, 0.01, p = p, m.max = 0))
  shown <- gsub("\\s+", " ", paste(capture.output(print(plan)), collapse = " "))
  expect_match(shown, "With result = \"compact\", the same edges take [0-9.]+ [kM]B instead of 144 MB")
  small <- quiet(skeleton(list(dm = codes[, 1:9], nlev = rep(2, 9), adaptDF = FALSE), disCItest, 0.01, p = 9))
  expect_false(any(grepl("compact", capture.output(print(small)))))
  expect_identical(pcgpu:::bytes_of_slots(3000, "disCItest"), 144e6)
  lists <- getRversion() < "4.3"
  expect_identical(pcgpu:::bytes_of_slots(3000, "gaussCItest"), if (lists) 144e6 else 0)
  expect_identical(pcgpu:::bytes_of_slots(5000, "gaussCItest"), if (lists) 200e6 else 0)
})

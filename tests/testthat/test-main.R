test_that("pc writes the graph in each format, and the edges with their strengths", {
  fit <- fit_of_sachs()
  folder <- tempfile()
  dir.create(folder)
  path <- function(end) file.path(folder, paste0("net.", end))
  for (end in c(
    "graphml",
    "xml",
    "gv",
    "dot",
    "sif",
    "cx2",
    "html",
    "pdf",
    "png",
    "svg",
    "csv",
    "tsv",
    "rds",
    "csv.gz"
  )) {
    expect_ran("pc", sachs, "--alpha", "0.01", "--out", path(end), "--threads", "2", "--quiet")
    expect_gt(file.size(path(end)), 0)
  }
  other <- tempfile(fileext = ".graphml")
  write_network(fit, other)
  expect_identical(readLines(path("graphml")), readLines(other))
  expect_identical(readLines(path("xml")), readLines(other))
  expect_match(readLines(path("html"), 1), "<!DOCTYPE html>", fixed = TRUE)
  expect_identical(readBin(path("png"), "raw", 4), as.raw(c(0x89, 0x50, 0x4e, 0x47)))
  expect_match(readLines(path("pdf"), 1, warn = FALSE), "%PDF", fixed = TRUE)
  expect_match(paste(readLines(path("svg")), collapse = ""), "<svg", fixed = TRUE)
  expect_identical(edge_table(readRDS(path("rds"))), edge_table(fit))
  expect_equal(utils::read.csv(path("csv")), edge_table(fit), tolerance = 1e-12)
  expect_identical(readLines(path("csv.gz")), readLines(path("csv")))
  expect_identical(gsub("\t", ",", readLines(path("tsv"))), readLines(path("csv")))
  # The table of SIF is next to it, and nothing else.
  expect_identical(
    sort(list.files(folder, all.files = TRUE, no.. = TRUE)),
    sort(c(
      paste0("net.", c("graphml", "xml", "gv", "dot", "sif", "cx2", "html", "pdf", "png", "svg", "csv", "tsv", "rds")),
      "net.csv.gz",
      "net.edges.tsv"
    ))
  )
  edges <- path("edges.csv")
  expect_ran("pc", sachs, "--alpha=0.01", "--edges", edges, "--threads=2")
  found <- utils::read.csv(edges)
  expect_identical(setdiff(c("from", "to", "kind", "p", "estimate", "log10_p", "given"), names(found)), character())
  expect_equal(found$estimate, quiet(edge_table(fit, utils::read.csv(sachs), numCores = 2))$estimate, tolerance = 1e-12)
})

test_that("- writes to stdout what it asks for, and nothing else does", {
  result <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-")
  expect_match(result$out[1], "^\"from\",\"to\",\"kind\",\"p\",.*\"given\"")
  expect_length(result$out, 9)
  expect_match(result$err, "Read 853 rows of 11 columns.\n853 samples (rows), 11 variables", fixed = TRUE)
  expect_match(
    result$err,
    "consider --test rcot (see recommend_test()).\nLevel 0, 55 edges: 100 % after ",
    fixed = TRUE
  )
  result <- ran("pc", sachs, "--alpha", "0.01", "--out", "-", "--quiet")
  expect_identical(result$out[1], "\"from\",\"to\",\"kind\",\"p\"")
  expect_identical(result$err, "")
  expect_refused("each output needs a file of its own", "pc", sachs, "--alpha", "0.01", "--out", "-", "--edges", "-")
})

test_that("the summary is JSON with the fields of the help page", {
  skip_if_not_installed("jsonlite")
  summary <- function(...) jsonlite::fromJSON(ran(..., "--summary", "-")$out)
  s <- summary("pc", sachs, "--alpha", "0.01", "--m-max", "3", "--columns", "raf,mek,pip2,pip3")
  # fmt: skip
  fields <- c(
    "pcgpu", "R", "command", "file", "options", "rows", "columns", "missing", "variables", "edges", "test", "alpha",
    "tests", "device", "valid_cpdag", "complete", "seconds", "outputs", "warnings", "messages"
  )
  expect_identical(names(s), fields)
  expect_identical(s$command, "pc")
  expect_identical(s$options, list(alpha = 0.01, `m-max` = 3L, columns = "raf,mek,pip2,pip3", summary = "-"))
  expect_identical(
    s[c("rows", "columns", "missing", "variables")],
    list(rows = 853L, columns = 4L, missing = 0L, variables = 4L)
  )
  expect_identical(s$edges, list(total = 2L, `---` = 2L))
  expect_identical(s[c("test", "alpha", "device")], list(test = "gaussCItest", alpha = 0.01, device = "cpu"))
  four <- utils::read.csv(sachs)[c("raf", "mek", "pip2", "pip3")]
  expect_equal(s$tests, quiet(pc(four, alpha = 0.01, m.max = 3, numCores = 2))@n.edgetests)
  expect_true(s$valid_cpdag && s$complete)
  expect_named(s$seconds, c("read", "run", "total"))
  expect_length(s$warnings, 0)
  expect_match(s$messages[1], "Read 853 rows of 4 columns.", fixed = TRUE)
  # A file with a name that JSON escapes.
  odd <- file.path(tempdir(), "a \"b\" \u00e9.csv")
  file.copy(sachs, odd, overwrite = TRUE)
  s <- summary("stability", odd, "--alpha", "0.01", "--replicates", "3", "--seed", "1")
  expect_identical(s$file, odd)
  expect_identical(s[c("test", "device", "variables")], list(test = "gaussCItest", device = "cpu", variables = 11L))
  s <- summary("select", sachs, "--target", "raf", "--k", "2")
  expect_identical(s$device, "cpu")
  expect_null(s$edges)
  s <- summary("plan", sachs, "--alpha", "0.01")
  expect_identical(s$test, "gaussCItest")
})

test_that("a search that the time limit stopped is not complete", {
  fit <- fit_of_sachs()
  attr(fit@call, "pcgpu")$ended <- "time limit"
  s <- pcgpu:::summary_of(fit, utils::read.csv(sachs), list(), list(command = "pc"), list(read = 0, run = 0, total = 0))
  expect_false(s$complete)
  expect_refused(
    "`--time-limit` is 1e-09: level 0 did not finish",
    "pc",
    sachs,
    "--alpha",
    "0.01",
    "--time-limit",
    "1e-9",
    "--edges",
    "-",
    "--quiet",
    code = 3L
  )
})

test_that("each command gives the answer of its function", {
  x <- utils::read.csv(sachs)
  out <- tempfile(fileext = ".rds")
  answer <- function(...) {
    expect_ran(..., "--out", out, "--threads", "2")
    readRDS(out)
  }
  fit <- answer("fci", sachs, "--alpha", "0.01")
  expect_identical(fit@amat, quiet(fci(x, alpha = 0.01, numCores = 2))@amat)
  fit <- answer("fci", sachs, "--alpha", "0.01", "--method", "rfci", "--m-max", "1")
  expect_identical(fit@amat, quiet(rfci(x, alpha = 0.01, m.max = 1, numCores = 2))@amat)
  found <- answer("select", sachs, "--target", "raf", "--k", "3", "--criterion", "JMI,mRMR", "--bins", "4")
  expect_identical(found$names, quiet(select_features(x, "raf", 3, c("JMI", "mRMR"), 4, numCores = 2))$names)
  found <- answer("stability", sachs, "--alpha", "0.01", "--replicates", "5", "--seed", "7", "--how", "subsample")
  expected <- quiet(stability(x, alpha = 0.01, replicates = 5, seed = 7, how = "subsample", numCores = 2))
  expect_identical(as.data.frame(found), as.data.frame(expected))
  found <- answer("effects", sachs, "--alpha", "0.01", "--x", "pka,akt", "--y", "erk", "--method", "optimal")
  expected <- quiet(causal_effects(fit_of_sachs(), x, c("pka", "akt"), "erk", "optimal", numCores = 2))
  expect_equal(as.data.frame(found), as.data.frame(expected))
  found <- answer("plan", sachs, "--alpha", "0.01", "--seconds", "5")
  expect_identical(found$levels$tests, fit_of_sachs()@n.edgetests)
  fit <- answer("pc", sachs, "--alpha", "0.05", "--maj-rule=false", "--u2pd", "valid", "--result", "compact")
  expect_s4_class(fit, "pcCompact")
  expect_identical(
    edge_table(fit),
    edge_table(quiet(pc(x, alpha = 0.05, maj.rule = FALSE, u2pd = "valid", numCores = 2)))
  )
  gv <- tempfile(fileext = ".gv")
  expect_ran("convert", out, "--out", gv)
  expect_match(readLines(gv, 1), "digraph", fixed = TRUE)
  # A saved result, and one that is converted.
  saved <- tempfile(fileext = ".rds")
  expect_ran("pc", sachs, "--alpha", "0.01", "--out", saved)
  expect_lt(file.size(saved), 5000)
  again <- answer("effects", sachs, "--fit", saved, "--x", "pka,akt", "--y", "erk", "--method", "optimal")
  expect_equal(as.data.frame(again), as.data.frame(expected))
  gv <- tempfile(fileext = ".gv")
  expect_ran("convert", saved, "--out", gv)
  expect_match(readLines(gv, 1), "digraph", fixed = TRUE)
})

test_that("the same command gives the same answer, and leaves the random numbers of the session", {
  edges <- function(...) {
    ran("pc", sachs, "--alpha", "0.2", "--test", "rcot", "--columns", "raf,pka,pkc,jnk,p38", ..., "--edges", "-")$out
  }
  set.seed(5)
  before <- .Random.seed
  expect_identical(edges(), edges("--seed", "1"))
  expect_identical(.Random.seed, before)
  expect_false(identical(edges(), edges("--seed", "2")))
  # Tests that draw random numbers find their checkpoint.
  x <- tempfile(fileext = ".csv")
  utils::write.csv(
    random_data(random_dag(30, neighbours = 4, seed = 1), 150, seed = 1, numCores = 2),
    x,
    row.names = FALSE
  )
  file <- tempfile()
  rcot <- c("pc", x, "--alpha", "0.3", "--test", "rcot", "--edges", "-", "--quiet")
  whole <- ran(rcot)$out
  part <- ran(rcot, "--checkpoint", file, "--time-limit", "0.02")
  # A fast machine may finish.
  expect_true(part$code %in% c(0L, 3L))
  expect_identical(ran(rcot, "--checkpoint", file)$out, whole)
  expect_false(file.exists(file))
})

test_that("the table of options agrees with the functions, and --help lists it", {
  functions <- list(
    pc = "pc",
    fci = "fci",
    select = "select_features",
    stability = c("stability", "pc"),
    effects = c("pc", "causal_effects"),
    plan = c("plan_search", "pc"),
    convert = character()
  )
  expect_identical(names(functions), names(pcgpu:::commands))
  for (command in names(functions)) {
    table <- pcgpu:::options_of(command)
    expect_false(anyDuplicated(table$name) > 0, info = command)
    takes <- unlist(lapply(functions[[command]], function(name) names(formals(name))))
    expect_identical(setdiff(table$argument, c("", takes)), character(), info = command)
    result <- ran(command, "--help")
    expect_identical(result$code, 0L)
    for (name in table$name) {
      expect_match(result$out, paste0("^  --", name, " "), all = FALSE)
    }
    expect_lte(max(nchar(result$out)), 110)
  }
  result <- ran("--help")
  expect_identical(result$code, 0L)
  for (command in names(functions)) {
    expect_match(result$out, paste0("^  ", command, " "), all = FALSE)
  }
  expect_identical(ran("--version")$out, paste("pcgpu", packageVersion("pcgpu")))
  expect_refused("usage: pcgpu COMMAND FILE [options]")
})

test_that("mistakes in the command are refused with a hint", {
  out <- c("--out", "-")
  pc <- c("pc", sachs, "--alpha", "0.01")
  expect_refused("'pcc' is not a command of pcgpu; did you mean pc?", "pcc", sachs)
  expect_refused(
    "--alhpa is not an option; did you mean --alpha? (pcgpu pc --help)",
    "pc",
    sachs,
    "--alhpa",
    "0.01",
    out
  )
  expect_refused("-o is not an option", pc, "-o", "x.gv")
  expect_refused("--target is not an option of pcgpu pc", pc, "--target", "raf", out)
  expect_refused("--alpha is needed", "pc", sachs, out)
  expect_refused("--alpha needs a value: NUMBER", "pc", sachs, "--alpha", out)
  expect_refused("--alpha needs a value: NUMBER", "pc", sachs, out, "--alpha")
  expect_refused("--alpha needs a number, not 'x'", "pc", sachs, "--alpha", "x", out)
  expect_refused(
    "`--alpha` is 2: use a level between 0 and 1, for instance --alpha 0.02",
    "pc",
    sachs,
    "--alpha=2",
    out
  )
  expect_refused("--alpha is given twice", pc, "--alpha", "0.01", out)
  expect_refused("--quiet is true or false, not 'perhaps'", pc, "--quiet=perhaps", out)
  expect_refused("give one FILE, not 2", pc, sachs, out)
  expect_refused("give one FILE, not 0", "pc", "--alpha", "0.01", out)
  expect_refused("give --out, --edges or --summary", pc)
  expect_refused("`--test` is \"nosuch\"", pc, "--test", "nosuch", out)
  expect_refused(
    "--method is fci, rfci or fciPlus, not 'gies'",
    "fci",
    sachs,
    "--alpha",
    "0.01",
    "--method",
    "gies",
    out
  )
  expect_refused(
    "`--target` has an unknown variable, \"rav\": did you mean \"raf\"?",
    "select",
    sachs,
    "--target",
    "rav",
    "--k",
    "2",
    out
  )
  expect_refused("`--device` is \"gpu\"", pc, "--device", "gpu", out)
})

test_that("mistakes in files are refused before any search", {
  out <- c("--alpha", "0.01", "--out", "-", "--quiet")
  expect_refused("`FILE` is \"nofile.csv\", which is not there", "pc", "nofile.csv", out)
  expect_refused("`FILE` is \"nofile.csv\", which is not there", "pc", sachs, "--tiers", "nofile.csv", out)
  expect_refused("`FILE` is \"list.txt\", which is not there", "pc", sachs, "--columns", "@list.txt", out)
  expect_refused("whose extension stands for no format that is read", "pc", lines_in("a", ".doc"), out)
  expect_refused("unknown input format", "effects", sachs, "--fit", lines_in("a", ".rds"), "--out", "-")
  expect_refused("`fit` is", "effects", sachs, "--fit", sachs, "--out", "-")
  expect_refused("(no rows): give a table with a header", "pc", lines_in("a,b"), out)
  expect_refused("which cannot be read (", "pc", lines_in(c("a,b", "1,2", "3,4,5,6,7", "1")), out)
  pc <- c("pc", sachs, "--alpha", "0.01")
  expect_refused(
    "net.xyz\", a format that pcgpu pc does not write: use the extension .graphml, ",
    pc,
    "--out",
    "net.xyz"
  )
  expect_refused(
    "edges.gv\", a format that pcgpu pc does not write: use the extension .csv, .tsv.",
    pc,
    "--edges",
    "edges.gv"
  )
  expect_refused("in a folder that does not exist", pc, "--summary", "nofolder/s.json")
  expect_refused("a format that pcgpu convert does not write", "convert", sachs, "--out", tempfile(fileext = ".svg"))
  expect_refused("a format that pcgpu plan does not write", "plan", sachs, "--alpha", "0.01", "--out", "x.pdf")
  expect_refused(
    "`--columns` has names that the data do not have, \"raff\": did you mean \"raf\"?",
    pc,
    "--columns",
    "raff",
    out[3:4]
  )
  skip_if(requireNamespace("arrow", quietly = TRUE))
  expect_refused(".parquet\" needs the package arrow, which is not installed", "pc", lines_in("a", ".parquet"), out)
})

test_that("a failed write leaves the old file, and no other", {
  folder <- tempfile()
  dir.create(folder)
  file <- file.path(folder, "old.csv")
  writeLines("old", file)
  failing <- function(part) {
    writeLines("half", part)
    stop("no space")
  }
  expect_error(pcgpu:::write_complete(file, failing), "no space")
  expect_identical(readLines(file), "old")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "old.csv")
  # A search that fails leaves it, too.
  expect_identical(ran("pc", patients, "--alpha", "0.01", "--edges", file)$code, 2L)
  expect_identical(readLines(file), "old")
})

test_that("errors that are neither arguments nor input have the exit code 1", {
  session <- list2env(list(ready = TRUE))
  code <- function(class) pcgpu:::exit_code(structure(class = c(class, "error", "condition"), list()), session)
  expect_identical(code("simpleError"), 1L)
  expect_identical(code(c("pcgpu_error_device_memory", "pcgpu_error")), 1L)
  expect_identical(code(c("pcgpu_error_argument", "pcgpu_error")), 2L)
  expect_identical(code(c("pcgpu_error_checkpoint", "pcgpu_error")), 2L)
  expect_identical(pcgpu:::exit_code(simpleError("x"), new.env()), 2L)
})

test_that("knowledge comes from tables, and names from lists", {
  tiers <- lines_in(c("variable\ttier", "raf\t1", "mek\t2", "erk\t3"), ".tsv")
  arrow <- lines_in(c("to,from", "akt,pka"))
  pc <- c("pc", sachs, "--alpha", "0.01", "--out", "-", "--quiet")
  lines <- ran(pc, "--columns", "erk,mek,raf", "--tiers", tiers)$out
  expect_match(lines[2], "^\"raf\",\"mek\",\"-->\"")
  columns <- lines_in(c("erk", "akt", "pka"), ".txt")
  lines <- ran(pc, "--columns", paste0("@", columns), "--required", arrow)$out
  expect_match(lines, "^\"pka\",\"akt\",\"-->\"", all = FALSE)
  expect_refused("`--tiers` has no tier for \"pka\"", pc, "--columns", "raf,mek,erk,pka", "--tiers", tiers)
  # Covariates are no variables of the graph.
  lines <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-", "--weights", "jnk", "--adjust", "pkc,p38")$out
  expect_no_match(lines, "jnk|pkc|p38")
  expect_match(lines[1], "estimate", fixed = TRUE)
  formula <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-", "--weights", "jnk", "--adjust", "~ pkc + p38")$out
  expect_identical(formula, lines)
})

test_that("missing values are refused, or tested as --na says", {
  expect_refused("use --na testwise (each test omits", "pc", patients, "--alpha", "0.01", "--out", "-", "--quiet")
  result <- ran("pc", patients, "--alpha", "0.01", "--na", "testwise", "--out", "-", "--levels", "stage")
  expect_identical(result$code, 0L)
  expect_match(result$err, "using mixCItwd()", fixed = TRUE)
  expect_match(
    ran("pc", patients, "--alpha", "0.01", "--na", "testwise", "--out", "-")$err,
    "(--levels NAMES)",
    fixed = TRUE
  )
})

test_that("small and odd data end with a result or an error that helps", {
  set.seed(1)
  x <- data.frame(a = rnorm(50), b = rnorm(50))
  file <- tempfile(fileext = ".csv")
  utils::write.csv(x, file, row.names = FALSE)
  edges <- ran("pc", file, "--alpha", "1e-6", "--edges", "-", "--quiet")
  expect_identical(c(edges$code, length(edges$out)), c(0L, 1L))
  for (end in c("graphml", "png", "html", "csv", "sif")) {
    expect_ran("pc", file, "--alpha", "1e-6", "--out", tempfile(fileext = paste0(".", end)))
  }
  expect_refused(
    "use observations in rows and at least two variables",
    "pc",
    file,
    "--columns",
    "a",
    "--alpha",
    "0.1",
    "--out",
    "-"
  )
  utils::write.table(x, file, col.names = c("a", "a"), row.names = FALSE, sep = ",")
  result <- ran("pc", file, "--alpha", "0.1", "--summary", "-")
  expect_identical(result$code, 0L)
  expect_match(result$err, "Warning: The result names variables by column number", fixed = TRUE)
  expect_match(result$out, "\"warnings\": [\"The result names variables", fixed = TRUE, all = FALSE)
})

test_that("no output replaces an input, and rows need names of their own", {
  folder <- tempfile("io")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- file.path(folder, "x.csv")
  tiers <- file.path(folder, "t.csv")
  x <- as.data.frame(simulate(4, 60))
  utils::write.csv(x, data, row.names = FALSE)
  utils::write.csv(data.frame(variable = names(x), tier = c(1, 1, 2, 2)), tiers, row.names = FALSE)
  before <- readLines(data)
  again <- file.path(folder, ".", "x.csv")
  quiet <- function(...) {
    code <- NULL
    said <- utils::capture.output(code <- main(c(...)), type = "message")
    list(code = code, said = paste(said, collapse = " "))
  }
  for (options in list(c("--edges", data), c("--edges", again), c("--tiers", tiers, "--edges", tiers))) {
    found <- quiet("pc", data, "--alpha", "0.1", options)
    expect_identical(found$code, 2L)
    expect_match(found$said, "would replace", fixed = TRUE)
  }
  expect_identical(
    quiet("pc", data, "--alpha", "0.1", "--edges", tiers, "--summary", file.path(folder, ".", "t.csv"))$code,
    2L
  )
  expect_identical(readLines(data), before)
  genes <- data.frame(gene = c("A", "B", "A", "C"), t(as.matrix(x[1:20, ])))
  utils::write.csv(genes, data, row.names = FALSE)
  found <- quiet("pc", data, "--genes-in-rows", "--alpha", "0.1", "--edges", file.path(folder, "e.csv"))
  expect_identical(found$code, 2L)
  expect_match(found$said, "several rows with the same name: \"A\"", fixed = TRUE)
})

# Runs the script in a process of its own: list(code, out, err).
in_process <- function(command, path = system.file("exec", "pcgpu", package = "pcgpu"), ...) {
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file.symlink(path, file.path(folder, "pcgpu"))
  err <- tempfile()
  script <- tempfile(fileext = ".sh")
  writeLines(c(sprintf("PATH=%s:$PATH:%s", shQuote(folder), shQuote(R.home("bin"))), command), script)
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  out <- suppressWarnings(system2("bash", script, stdout = TRUE, stderr = err, env = c(libraries, "R_TESTS="), ...))
  list(code = attr(out, "status") %||% 0L, out = c(out), err = readLines(err))
}

test_that("the script runs as a program, with stdin and exit codes", {
  result <- in_process(sprintf("pcgpu pc - --alpha 0.01 --edges - --quiet < %s", shQuote(sachs)))
  expect_identical(
    result,
    list(code = 0L, out = ran("pc", sachs, "--alpha", "0.01", "--edges", "-")$out, err = character())
  )
  # Names in a locale that is not UTF-8.
  named <- tempfile(fileext = ".csv")
  writeLines(enc2utf8(sub("raf", "r\u00e9f", readLines(sachs))), named, useBytes = TRUE)
  result <- in_process(sprintf("LC_ALL=C pcgpu convert %s --columns r\u00e9f --out - --quiet", named))
  expect_identical(result$out[1], "\"r\u00e9f\"")
  result <- in_process("pcgpu pc nofile.csv --alpha 0.01 --edges -")
  expect_identical(result[c("code", "out")], list(code = 2L, out = character()))
  expect_match(result$err, "nofile.csv", fixed = TRUE)
})

test_that("an interrupted search ends with 130 and leaves no file", {
  skip_if(is_deaf_to_interrupts(), "this process was started deaf to Ctrl-C")
  set.seed(1)
  folder <- tempfile()
  dir.create(folder)
  data <- file.path(folder, "x.csv")
  utils::write.csv(matrix(rnorm(400 * 60), 400) + rnorm(400), data, row.names = FALSE)
  # The shell gives a process in the background its own group (set -m), or it would ignore Ctrl-C.
  search <- sprintf(
    "pcgpu pc x.csv --test kci --alpha 0.5 --out net.gv --summary s.json 2> %s &",
    tempfile(fileext = ".log")
  )
  log <- sub(" &$", "", sub(".*2> ", "", search))
  for (signal in c("INT", "TERM")) {
    result <- in_process(c(
      "set -m",
      paste("cd", folder),
      search,
      sprintf("for i in $(seq 300); do grep -q Read %s && break; sleep 0.1; done; sleep 0.5", log),
      sprintf("kill -%s $!; wait $!", signal)
    ))
    expect_identical(result$code, c(INT = 130L, TERM = 143L)[[signal]])
    expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), "x.csv")
    unlink(log)
  }
})

pipelines <- system.file("pipelines", package = "pcgpu")

test_that("the example for Snakemake runs", {
  skip_if(!nzchar(Sys.which("snakemake")), "Snakemake is not installed")
  folder <- tempfile()
  snakefile <- file.path(pipelines, "snakemake", "Snakefile")
  result <- in_process(sprintf("snakemake --snakefile %s --directory %s --cores 2", snakefile, folder))
  expect_identical(result$code, 0L, info = result$err)
  expect_setequal(list.files(file.path(folder, "results")), paste0("sachs.", c("graphml", "edges.csv", "json")))
  expect_identical(
    readLines(file.path(folder, "results", "sachs.edges.csv")),
    ran("pc", sachs, "--alpha", "0.01", "--edges", "-")$out
  )
})

test_that("the commands in Nextflow's module run", {
  lines <- readLines(file.path(pipelines, "nextflow", "modules", "local", "pcgpu", "pc", "main.nf"))
  # Returns the text between three quotes, with Nextflow's variables replaced and its indentation and escapes removed.
  block <- function(section) {
    at <- grep("\"\"\"", lines)
    at <- at[at > grep(paste0("^    ", section, ":"), lines)][1:2]
    text <- sub("^    ", "", lines[(at[1] + 1):(at[2] - 1)])
    values <- c(data = sachs, args = "--alpha 0.01", prefix = "s1", task.cpus = "2", task.process = "PCGPU_PC")
    for (name in names(values)) {
      text <- gsub(sprintf("${%s}", name), values[[name]], text, fixed = TRUE)
    }
    gsub("\\\\", "\\", gsub("\\$", "$", text, fixed = TRUE), fixed = TRUE)
  }
  versions <- c("\"PCGPU_PC\":", paste("    pcgpu:", packageVersion("pcgpu")))
  for (section in c("script", "stub")) {
    folder <- tempfile()
    dir.create(folder)
    result <- in_process(c("set -euo pipefail", paste("cd", folder), block(section)))
    expect_identical(result$code, 0L, info = result$err)
    expect_setequal(list.files(folder), c("s1.graphml", "s1.edges.csv", "s1.json", "versions.yml"))
    expect_identical(readLines(file.path(folder, "versions.yml")), versions)
    expect_identical(file.size(file.path(folder, "s1.graphml")) > 0, section == "script")
  }
})

# Runs the job scripts of the vignette "On a cluster" on Slurm, as they are printed. Part of tools/cluster-check.R,
# which has check(), same() and `folder`.

# Writes chunks whose label is a file name to files of that name.
write_chunks <- function(vignette, into) {
  lines <- readLines(vignette)
  for (begin in grep("^```\\{(r|bash) [^ ,}]*\\.(R|sh|tmpl)\\}$", lines)) {
    end <- begin + grep("^```$", lines[-seq_len(begin)])[1]
    name <- sub("^```\\{(r|bash) (.*)\\}$", "\\2", lines[begin])
    writeLines(lines[seq(begin + 1, end - 1)], file.path(into, name))
  }
}

# Submits a script with arguments, waits until it ends, and returns what it saved.
submitted <- function(script) {
  here <- setwd(scripts)
  on.exit(setwd(here))
  unlink("fit.rds")
  job <- system(paste("sbatch --parsable", script), intern = TRUE)
  until <- Sys.time() + 90
  while (
    length(suppressWarnings(system(
      paste("squeue --noheader --states=all --Format=State --jobs", job, "| grep -E 'PENDING|RUNNING|COMPLETING'"),
      intern = TRUE,
      ignore.stderr = TRUE
    ))) >
      0
  ) {
    if (Sys.time() > until) {
      stop("job ", job, " does not end")
    }
    Sys.sleep(0.5)
  }
  if (!file.exists("fit.rds")) {
    stop(paste(unlist(lapply(list.files(pattern = "\\.log$"), readLines)), collapse = " | "))
  }
  readRDS("fit.rds")
}

scripts <- file.path(folder, "vignette")
dir.create(scripts)
write_chunks("vignettes/on-a-cluster.Rmd", scripts)
cells <- log(read.csv(system.file("extdata", "sachs.csv", package = "pcgpu")))
wanted <- pc(suff_gauss(cells), gaussCItest, alpha = 0.01, labels = names(cells))
rank_test <- function(x, y, S, suffStat) {
  rest <- function(v) if (length(S)) residuals(lm(suffStat[, v] ~ suffStat[, S])) else suffStat[, v]
  cor.test(rest(x), rest(y), method = "spearman", exact = FALSE)$p.value
}
check("sockets.sh, by srun on two nodes", {
  fit <- submitted("sockets.sh")
  length(run_details(fit)$device) == 2L &&
    same(fit, pc(as.matrix(cells), rank_test, alpha = 0.01, labels = names(cells)))
})
check("jobs.R, jobs of BiocParallel", same(submitted("driver.sh jobs.R"), wanted))
check("future.R, jobs of future", same(submitted("driver.sh future.R"), wanted))

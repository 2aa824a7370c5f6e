# Writes what the programs of this folder read: Rscript data.R FOLDER. Expression data as CSV without header; samples of
# networks as level codes with one. Both gzipped. Data sets that are not in $PCGPU_BENCH_DATA are left out, with a
# message.
here <- dirname(dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))))
source(file.path(here, "data.R"))
out <- commandArgs(trailingOnly = TRUE)[1L]
dir.create(out, showWarnings = FALSE, recursive = TRUE)

for (name in c("nci60", "mcc", "saureus", "dream5")) {
  if (!is_available(name)) {
    message(name, " is not in ", bench_folder())
    next
  }
  file.copy(file.path(bench_folder(), bench_data[[name]]), file.path(out, paste0(name, ".csv.gz")), overwrite = TRUE)
}

# The shapes of data that cannot be had, filled as `expression_like()` does.
for (shape in list(list("br51", 1592, 50), list("scerevisiae", 5361, 63))) {
  x <- signif(expression_like(shape[[2L]], shape[[3L]], 0.3), 6)
  to <- gzfile(file.path(out, paste0(shape[[1L]], ".csv.gz")), "w", compression = 9L)
  utils::write.table(x, to, sep = ",", row.names = FALSE, col.names = FALSE)
  close(to)
}

for (case in list(
  list("alarm", 10000),
  list("alarm", 200000),
  list("andes", 20000),
  list("link", 20000),
  list("munin", 20000)
)) {
  network <- network_file(case[[1L]])
  if (!file.exists(network)) {
    message(case[[1L]], " is not in ", bench_folder())
    next
  }
  x <- sample_network(network, case[[2L]])
  # Codes without gaps, as levels are counted from 0 to the largest.
  x <- apply(x, 2L, function(codes) match(codes, sort(unique(codes))) - 1L)
  to <- gzfile(file.path(out, sprintf("%s-%.0f.csv.gz", case[[1L]], case[[2L]])), "w", compression = 9L)
  writeLines(paste(colnames(x), collapse = ","), to)
  writeLines(do.call(paste, c(as.data.frame(x), sep = ",")), to)
  close(to)
}

# Makes an index of CRAN and Bioconductor for R CMD check --as-cran without a network: all packages that are installed
# here, and those that DESCRIPTION names.
#
#   Rscript tools/fake-cran.R FOLDER      then set the variables that it prints
arguments <- commandArgs(trailingOnly = TRUE)
folder <- normalizePath(arguments[1L], mustWork = FALSE)
wanted <- trimws(gsub(
  "\\([^)]*\\)",
  "",
  unlist(strsplit(read.dcf("DESCRIPTION", c("Depends", "Imports", "Suggests")), ","))
))

fields <- c("Package", "Version", "Depends", "Imports", "LinkingTo", "Suggests", "License", "NeedsCompilation")
here <- installed.packages(fields = fields)
here <- here[!duplicated(here[, "Package"]) & here[, "Package"] != "pcgpu", ]
# Bioconductor's packages have the field biocViews.
with_views <- vapply(here[, "Package"], function(package) !is.na(packageDescription(package, fields = "biocViews")), NA)
from_bioconductor <- c(
  here[with_views, "Package"],
  "graph",
  "Biobase",
  "BiocParallel",
  "DelayedArray",
  "HDF5Array",
  "RBGL",
  "Rgraphviz",
  "SingleCellExperiment",
  "SummarizedExperiment"
)
index <- here[, fields]
missing <- setdiff(wanted, c(index[, "Package"], "R"))
index <- rbind(
  index,
  matrix(
    c(missing, rep("99.0", length(missing)), rep(NA, length(missing) * (length(fields) - 2L))),
    ncol = length(fields)
  )
)
base <- rownames(installed.packages(priority = "base"))
index <- index[!index[, "Package"] %in% base, , drop = FALSE]

write_index <- function(name, rows) {
  place <- file.path(folder, name, "src", "contrib")
  dir.create(place, recursive = TRUE, showWarnings = FALSE)
  write.dcf(rows, file.path(place, "PACKAGES"))
  file <- gzfile(file.path(place, "PACKAGES.gz"), "w")
  write.dcf(rows, file)
  close(file)
  saveRDS(rows, file.path(place, "PACKAGES.rds"))
  # The packages with a history there; an empty file cannot be read.
  writeLines("Package: none", file.path(place, "PACKAGES.in"))
}
of_bioconductor <- index[, "Package"] %in% from_bioconductor
write_index("CRAN", index[!of_bioconductor, , drop = FALSE])
write_index("BioCsoft", index[of_bioconductor, , drop = FALSE])
# An empty index cannot be read.
none <- index[1L, , drop = FALSE]
none[, "Package"] <- "none"
for (name in c("BioCann", "BioCexp")) {
  write_index(name, none)
}

# The files that tools:::CRAN_archive_db() and similar functions read.
meta <- file.path(folder, "CRAN", "src", "contrib", "Meta")
web <- file.path(folder, "CRAN", "web", "packages")
invisible(lapply(c(meta, web), dir.create, recursive = TRUE, showWarnings = FALSE))
write_object <- function(object, path) {
  file <- gzfile(path, "wb")
  saveRDS(object, file)
  close(file)
}
write_object(list(), file.path(meta, "archive.rds"))
write_object(data.frame(size = numeric(), mtime = as.POSIXct(character())), file.path(meta, "current.rds"))
write_object(list(), file.path(meta, "aliases.rds"))
write_object(list(), file.path(meta, "rdxrefs.rds"))
write_object(
  cbind(index[!of_bioconductor, , drop = FALSE], Maintainer = NA, "Reverse depends" = NA),
  file.path(web, "packages.rds")
)

urls <- paste0("file://", folder, "/", c("CRAN", "BioCsoft", "BioCann", "BioCexp"))
repositories <- file.path(folder, "repositories")
writeLines(
  c(
    "menu_name\tURL\tdefault\tsource\twin.binary\tmac.binary",
    sprintf(
      "%s\t%s\t%s\t%s\tFALSE\tFALSE\tFALSE",
      c("CRAN", "BioCsoft", "BioCann", "BioCexp"),
      c("CRAN", "BioC software", "BioC annotation", "BioC experiment"),
      urls,
      "TRUE"
    )
  ),
  repositories
)
cat(sprintf("R_REPOSITORIES=%s\nR_CRAN_WEB=%s\nR_CRAN_SRC=%s\n", repositories, urls[1L], urls[1L]))

# Writes the correlation matrix of a data set (data.R) for the core's programs: p and n as 32-bit integers, then p x p
# doubles.
#   Rscript matrix.R DATA FILE.bin
args <- commandArgs(trailingOnly = TRUE)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(here, "data.R"))
x <- load_data(args[1])
file <- file(args[2], "wb")
writeBin(c(ncol(x), nrow(x)), file, endian = "little")
writeBin(as.double(pcgpu::suff_gauss(x)$C), file, endian = "little")
close(file)

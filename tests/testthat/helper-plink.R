# Files of PLINK for tests.

# Writes genotypes (0, 1, 2 or NA; samples in rows) as path.bed, path.bim and path.fam, and returns the path of the
# first.
write_bed <- function(genotypes, path = tempfile()) {
  n <- nrow(genotypes)
  # Two bits: 2 copies 0, missing 1, one copy 2, none 3.
  code <- matrix(c(3L, 2L, 0L)[genotypes + 1L], n)
  code[is.na(code)] <- 1L
  code <- rbind(code, matrix(0L, -n %% 4L, ncol(code)))
  four <- matrix(code, 4L)
  bytes <- as.raw(colSums(four * c(1L, 4L, 16L, 64L)))
  writeBin(c(as.raw(c(0x6c, 0x1b, 0x01)), bytes), paste0(path, ".bed"))
  samples <- rownames(genotypes) %||% paste0("s", seq_len(n))
  writeLines(paste("f", samples, "0 0 0 -9"), paste0(path, ".fam"))
  markers <- colnames(genotypes) %||% paste0("m", seq_len(ncol(genotypes)))
  writeLines(paste(1, markers, 0, seq_along(markers), "A", "G", sep = "\t"), paste0(path, ".bim"))
  paste0(path, ".bed")
}

# Returns random genotypes, with copies of some markers, monomorphic ones and missing values.
random_genotypes <- function(n, p, seed, missing = 0) {
  set.seed(seed)
  share <- runif(p, 0.05, 0.5)
  genotypes <- matrix(rbinom(n * p, 2L, rep(share, each = n)), n)
  if (p >= 8L) {
    genotypes[, 3L] <- genotypes[, 1L]
    genotypes[, 5L] <- 2L - genotypes[, 1L]
    genotypes[, 7L] <- 1L
  }
  genotypes[runif(n * p) < missing] <- NA
  dimnames(genotypes) <- list(paste0("s", seq_len(n)), paste0("m", seq_len(p)))
  genotypes
}

`%||%` <- function(x, y) if (is.null(x)) y else x

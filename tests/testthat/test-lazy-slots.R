# Large results of the Gaussian test have the slots pMax and sepset from their flat form, cell by cell: src/lazy.c.

p <- 510
set.seed(2)
x <- matrix(rnorm(100 * p), 100)
for (j in 2:p) {
  k <- sample(j - 1, min(j - 1, 3))
  x[, j] <- x[, j] + x[, k, drop = FALSE] %*% rep(0.5, length(k))
}
x[, 7] <- x[, 3]
s <- suff_gauss(x, device = "cpu")
some <- cbind(c(1, 5, 77, 300, 509, 7, 3, 9), c(510, 3, 20, 300, 100, 3, 7, 1))
search <- function(..., of = skeleton, stat = s) {
  suppressWarnings(of(stat, gaussCItest, 0.01, p = p, device = "cpu", ...))
}

# Returns the slots as lists and matrices that R made itself.
whole <- function(fit) list(pMax = fit@pMax + 0, sepset = lapply(fit@sepset, function(row) row[seq_along(row)]))

test_that("cells, rows and whole slots are those that level 0 and a compact result give", {
  marked <- function(at) {
    m <- matrix(FALSE, p, p)
    m[at] <- m[at[, 2:1]] <- TRUE
    m
  }
  edges <- marked(rbind(1:2, c(500, 20)))
  gaps <- marked(rbind(3:4, c(510, 20)))
  kept <- suff_gauss(x, keep = "data", device = "cpu")
  holes <- s
  holes$C[10, 11] <- holes$C[11, 10] <- NA
  for (method in c("stable", "stable.fast", "original")) {
    for (stat in list(s, kept, holes)) {
      found <- search(stat = stat, method = method, fixedEdges = edges, fixedGaps = gaps)
      compact <- search(stat = stat, method = method, fixedEdges = edges, fixedGaps = gaps, result = "compact")
      wanted <- suppressWarnings(as_pcalg(compact, stat, gaussCItest))
      expect_identical(found@pMax[some], wanted@pMax[some])
      expect_identical(found@sepset[[1]][[510]], wanted@sepset[[1]][[510]])
      expect_identical(
        lapply(some[, 1], function(i) found@sepset[[i]]),
        lapply(some[, 1], function(i) wanted@sepset[[i]])
      )
      expect_identical(found@sepset, wanted@sepset)
      expect_identical(found@pMax, wanted@pMax)
      expect_identical(found@graph, wanted@graph)
    }
  }
  oriented <- search(of = pc, conservative = TRUE)
  expect_identical(
    oriented@sepset,
    suppressWarnings(as_pcalg(search(of = pc, conservative = TRUE, result = "compact"), s, gaussCItest))@sepset
  )
})

test_that("changes, copies, files and other processes have their own cells", {
  fit <- search()
  of <- whole(fit)
  changed <- fit
  changed@pMax[1, 2] <- 7
  changed@sepset[[3]][[4]] <- 9L
  expect_identical(changed@pMax[1:2, 2], c(7, of$pMax[2, 2]))
  expect_identical(changed@sepset[[3]][[4]], 9L)
  expect_identical(whole(fit), of)

  file <- tempfile()
  on.exit(unlink(file))
  fresh <- search()
  saveRDS(fresh, file)
  read <- readRDS(file)
  expect_identical(read@pMax[some], of$pMax[some])
  expect_identical(whole(read), of)
  # What was changed is saved.
  expect_identical(whole(unserialize(serialize(changed, NULL))), whole(changed))
  # A part by itself, and in an older format.
  expect_identical(unserialize(serialize(fresh@sepset[[2]], NULL)), of$sepset[[2]])
  expect_identical(whole(unserialize(serialize(search(), NULL, version = 2))), of)
  expect_identical(whole(as_pcalg(search())), of)
  skip_on_os("windows")
  expect_identical(
    parallel::mclapply(1:2, function(k) fresh@sepset[[k]][[100]], mc.cores = 2),
    lapply(1:2, function(k) of$sepset[[k]][[100]])
  )
})

test_that("R's functions accept the slots", {
  fit <- search()
  of <- whole(fit)
  sets <- search()@sepset
  expect_identical(rapply(sets, sum, how = "unlist"), rapply(of$sepset, sum, how = "unlist"))
  expect_identical(lapply(sets, lengths), lapply(of$sepset, lengths))
  expect_identical(unlist(sets), unlist(of$sepset))
  expect_identical(rev(sets)[1:2], rev(of$sepset)[1:2])
  expect_identical(c(sets, 1)[p + 1], list(1))
  expect_identical(sets[[2]][10:14], of$sepset[[2]][10:14])
  expect_identical(which(search()@pMax > 0.01), which(of$pMax > 0.01))
  expect_identical(t(search()@pMax), t(of$pMax))
  expect_identical(dim(fit@pMax), c(510L, 510L))
  expect_identical(range(search()@pMax), range(of$pMax))
  fit@sepset <- of$sepset
  fit@pMax <- of$pMax
  expect_identical(orient(search()), orient(fit))
  expect_identical(sepset(search(), 1, 100), sepset(fit, 1, 100))
  expect_identical(q_values(search()), q_values(fit))
  expect_output(print(search()), "pcAlgo")
  expect_true(methods::validObject(search()))
})

test_that("cells stay valid when R collects at every allocation", {
  fit <- search()
  of <- whole(search())
  gctorture(TRUE)
  on.exit(gctorture(FALSE))
  sets <- lapply(1:3, function(k) fit@sepset[[k]][[510]])
  rows <- fit@sepset[[3]][10:14]
  cells <- fit@pMax[some]
  gctorture(FALSE)
  expect_identical(sets, lapply(1:3, function(k) of$sepset[[k]][[510]]))
  expect_identical(rows, of$sepset[[3]][10:14])
  expect_identical(cells, of$pMax[some])
})

test_that("a damaged file is an error", {
  skip_if(getRversion() < "4.3")
  bytes <- serialize(search()@sepset, NULL, xdr = FALSE)
  # The number of variables: an integer vector of length 1.
  at <- grepRaw(as.raw(c(13, 0, 0, 0, 1, 0, 0, 0, p %% 256, p %/% 256, 0, 0)), bytes, fixed = TRUE)
  bytes[at + 8] <- as.raw(3)
  expect_error(unserialize(bytes), "damaged")
})

test_that("cells are those of the correlations at the time of the search, whatever R does with a copy", {
  p <- if (getRversion() < "4.3") 4010 else 510
  set.seed(3)
  z <- matrix(rnorm(40 * p), 40)
  named <- function(C) {
    dimnames(C) <- list(seq_len(p), seq_len(p))
    C
  }
  stat <- list(C = cor(z), n = 40)
  # R wraps the matrix, and exchanges what is wrapped when a copy is changed.
  stat$C <- named(stat$C)
  search <- function() {
    skeleton(stat, gaussCItest, 1e-6, p = p, device = "cpu", result = "pcAlgo", m.max = 0, progress = FALSE)
  }
  fit <- search()
  of <- fit@pMax[1:4, 200]
  plain <- unname(stat$C)
  again <- search()
  rm(plain)
  gc()
  expect_identical(fit@pMax[1:4, 200], of)
  expect_identical(again@pMax[1:4, 200], of)
  stat$C[] <- 0
  expect_identical(fit@pMax[1:4, 200], of)
  expect_identical(max(fit@pMax), max(fit@pMax + 0))
})

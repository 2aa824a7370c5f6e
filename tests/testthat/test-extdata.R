# Returns the path of an example file. These tests check what vignettes, examples and inst/extdata/README.md say of the
# data.
extdata <- function(...) system.file("extdata", ..., package = "pcgpu", mustWork = TRUE)
table_of <- function(file) as.matrix(utils::read.csv(extdata(file), row.names = 1, check.names = FALSE))

test_that("the tumours are 438 genes and microRNAs of 79 patients, copy numbers of 197 genes of 77, and patient data", {
  expression <- table_of("acc-expression.csv.gz")
  copies <- table_of("acc-copies.csv.gz")
  patients <- utils::read.csv(extdata("acc-patients.csv"))
  expect_identical(dim(expression), c(438L, 79L))
  expect_identical(dim(copies), c(197L, 77L))
  expect_identical(patients$patient, colnames(expression))
  expect_true(all(colnames(copies) %in% colnames(expression)))
  expect_identical(rownames(copies), setdiff(rownames(expression)[1:198], "PECAM1"))
  expect_match(rownames(expression)[-(1:198)], "^(mir|let)-")
  expect_true(all(is.finite(expression)) && all(expression >= 0))
  expect_true(all(copies %in% -2:2))
  expect_identical(names(patients), c("patient", "age", "sex", "stage", "subtype", "purity", "died", "days"))
  expect_identical(unname(colSums(is.na(patients))), c(0, 0, 0, 2, 1, 7, 0, 0))
  expect_true(all(patients$stage %in% c(1:4, NA)) && all(patients$subtype %in% c("C1A", "C1B", NA)))
})

test_that("the cells of Sachs and others are 853 of 11 molecules, and their consensus has 20 arrows", {
  cells <- utils::read.csv(extdata("sachs.csv"))
  arrows <- utils::read.csv(extdata("sachs-consensus.csv"))
  expect_identical(dim(cells), c(853L, 11L))
  expect_true(all(cells > 0))
  expect_identical(dim(arrows), c(20L, 2L))
  expect_true(all(unlist(arrows) %in% names(cells)))
})

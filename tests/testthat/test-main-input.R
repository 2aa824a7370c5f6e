test_that("text is read as read.csv() reads it, whatever its separator", {
  read <- function(lines, ..., end = ".csv") pcgpu:::read_input(lines_in(lines, end), list(...))
  plain <- c("a,b,c", "1,x,2.5", "2,y,NA", "3,x,-1e3", "4,,7")
  expected <- data.frame(a = c(1, 2, 3, 4), b = c("x", "y", "x", NA), c = c(2.5, NA, -1000, 7))
  expect_identical(read(plain), expected)
  expect_identical(read(gsub(",", "\t", plain), end = ".tsv"), expected)
  expect_identical(read(gsub(",", ";", plain)), expected)
  expect_identical(read(gsub(",", "|", plain), sep = "|"), expected)
  expect_identical(read(gsub(".5", ",5", gsub(",", ";", plain), fixed = TRUE), dec = ","), expected)
  expect_identical(read(c(paste0("\ufeff", plain[1]), plain[-1])), expected)
  expect_identical(read(sub("NA", ".", plain), `na-strings` = c(".", "")), expected)
  expect_identical(read(c("a b c", "1 x 2.5", "2 y NA", "3 x -1e3", "4 NA 7"), end = ".txt"), expected)
  gz <- tempfile(fileext = ".csv.gz")
  con <- gzfile(gz, "w")
  writeLines(plain, con)
  close(con)
  expect_identical(pcgpu:::read_input(gz, list()), expected)
  # Text after a number, quotes, logical values, names that are no names in R.
  expect_identical(
    read(c("a-b,\"c, \"\"d\"\"\",e,e", "1,\"p, q\",TRUE,2020-01-01", "x,\"r\"\"s\",FALSE,2020-01-02", "x,,,")),
    data.frame(
      `a-b` = c("1", "x", "x"),
      `c, "d"` = c("p, q", "r\"s", NA),
      e = c(TRUE, FALSE, NA),
      e = c("2020-01-01", "2020-01-02", NA),
      check.names = FALSE
    )
  )
  # The same numbers as those of read.csv(), to the last bit.
  set.seed(1)
  x <- as.data.frame(matrix(rnorm(200) * 10^runif(200, -30, 30), 20))
  file <- tempfile(fileext = ".csv")
  utils::write.csv(x, file, row.names = FALSE)
  expect_identical(pcgpu:::read_input(file, list()), utils::read.csv(file))
})

test_that("names of rows are found or given", {
  read <- function(lines, ...) pcgpu:::read_input(lines_in(lines), list(...))
  expected <- data.frame(a = c(1, 3), b = c(2, 4), row.names = c("s1", "s2"))
  expect_identical(read(c(",a,b", "s1,1,2", "s2,3,4")), expected)
  expect_identical(read(c("a,b", "s1,1,2", "s2,3,4")), expected)
  expect_identical(read(c("id,a,b", "s1,1,2", "s2,3,4")), expected)
  expect_identical(read(c("a,id,b", "1,s1,2", "3,s2,4"), `row-names` = "id"), expected)
  expect_identical(row.names(read(c(",a", "11,1", "12,2"))), c("11", "12"))
  expect_identical(names(read(c("NA,a", "1,1", "1,2"))), c("NA", "a"))
  expect_identical(row.names(read(c("id,a", "11,1", "12,2"), `row-names` = "id")), c("11", "12"))
  # Neither dates nor repeated text are names.
  expect_identical(names(read(c("day,a", "2020-01-01,1", "2020-01-02,2"))), c("day", "a"))
  expect_identical(names(read(c("id,a", "s,1", "s,2"))), c("id", "a"))
  expect_identical(names(read(c("id,a", "s1,1", "s2,2"), columns = c("id", "a"))), c("id", "a"))
})

test_that("genes may be rows", {
  expression <- system.file("extdata", "acc-expression.csv.gz", package = "pcgpu")
  x <- pcgpu:::read_input(expression, list(`genes-in-rows` = TRUE, columns = c("MAPK14", "DIRAS3")))
  table <- utils::read.csv(expression, row.names = 1, check.names = FALSE)
  expect_identical(x, t(as.matrix(table[c("MAPK14", "DIRAS3"), ])))
  expect_match(ran("pc", expression, "--alpha", "0.01", "--out", "-")$err, "pass t(x). (--genes-in-rows)", fixed = TRUE)
  annotated <- lines_in(c("symbol,chromosome,s1,s2,s3", "A,x,1,2,3", "B,y,4,5,7"))
  expect_refused(
    "`--genes-in-rows` has columns that are not numbers, \"chromosome\"",
    "convert",
    annotated,
    "--genes-in-rows",
    "--out",
    "-"
  )
  result <- ran("convert", annotated, "--genes-in-rows", "--drop", "chromosome", "--out", "-", "--quiet")
  expect_identical(result$out, c("\"row\",\"A\",\"B\"", "\"s1\",1,4", "\"s2\",2,5", "\"s3\",3,7"))
})

test_that("files of R, pcgpu and PLINK are read", {
  pcgpu <- tempfile(fileext = ".pcgpu")
  expect_ran("convert", sachs, "--out", pcgpu)
  edges <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-")$out
  expect_identical(ran("pc", pcgpu, "--alpha", "0.01", "--edges", "-")$out, edges)
  select <- c("--target", "raf", "--k", "2", "--out", "-")
  expect_identical(ran("select", pcgpu, select)$out, ran("select", sachs, select)$out)
  expect_identical(ran("convert", pcgpu, "--columns", "raf", "--out", "-")$out[1:2], c("\"raf\"", "26.4"))
  rds <- tempfile(fileext = ".rds")
  saveRDS(utils::read.csv(sachs), rds)
  expect_identical(ran("pc", rds, "--alpha", "0.01", "--edges", "-")$out, edges)
  genotypes <- system.file("extdata", "genotypes.bed", package = "pcgpu")
  result <- ran("convert", genotypes, "--columns", "rs1001,rs1002", "--out", "-")
  expect_match(result$out[1], "\"rs1001\",\"rs1002\"", fixed = TRUE)
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(t(as.matrix(utils::read.csv(sachs))))
  saveRDS(se, rds)
  result <- ran("pc", rds, "--alpha", "0.01", "--edges", "-")
  expect_identical(result$out, edges)
  expect_match(result$err, "Read 853 rows of 11 columns.", fixed = TRUE)
  expect_identical(ran("convert", rds, "--columns", "raf", "--out", "-")$out[1:2], c("\"raf\"", "26.4"))
})

test_that("h5ad and loom files are read", {
  skip_if_not_installed("rhdf5")
  skip_if_not_installed("HDF5Array")
  x <- unclass(as.matrix(utils::read.csv(sachs)))
  # HDF5 counts dimensions from the other end.
  write <- function(end, genes, names, layer) {
    file <- tempfile(fileext = end)
    rhdf5::h5createFile(file)
    for (group in unique(c(dirname(names), "layers"))) {
      rhdf5::h5createGroup(file, group)
    }
    rhdf5::h5write(genes, file, if (end == ".loom") "matrix" else "X")
    rhdf5::h5write(2 * genes, file, "layers/double")
    rhdf5::h5write(paste0("cell", seq_len(nrow(x))), file, names[1])
    rhdf5::h5write(colnames(x), file, names[2])
    rhdf5::h5closeAll()
    file
  }
  edges <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-")$out
  for (file in c(
    write(".h5ad", t(x), c("obs/_index", "var/_index")),
    write(".loom", x, c("col_attrs/CellID", "row_attrs/Gene"))
  )) {
    expect_identical(ran("pc", file, "--alpha", "0.01", "--edges", "-")$out, edges)
    lines <- ran("convert", file, "--layer", "double", "--columns", "mek,raf", "--out", "-", "--quiet")$out
    expect_identical(lines[1:2], c("\"row\",\"mek\",\"raf\"", "\"cell1\",26.4,52.8"))
  }
})

test_that("parquet and feather files are read", {
  skip_if_not_installed("arrow")
  edges <- ran("pc", sachs, "--alpha", "0.01", "--edges", "-")$out
  for (end in c("parquet", "feather")) {
    file <- tempfile(fileext = paste0(".", end))
    getExportedValue("arrow", paste0("write_", end))(utils::read.csv(sachs), file)
    expect_identical(ran("pc", file, "--alpha", "0.01", "--edges", "-")$out, edges)
  }
})

# Makes the picture of README.md from data in the package: . tools/common.sh; Rscript tools/readme-picture.R
suppressPackageStartupMessages(library(pcgpu))
extdata <- system.file("extdata", package = "pcgpu")
expression <- t(as.matrix(utils::read.csv(
  file.path(extdata, "acc-expression.csv.gz"),
  row.names = 1,
  check.names = FALSE
)))
patients <- utils::read.csv(file.path(extdata, "acc-patients.csv"))
# As in the vignette "Knowledge, missing values, mixed data", with more genes.
genes <- c(
  "FOXM1",
  "CDK1",
  "RAD51",
  "STMN1",
  "TP53",
  "IGF1R",
  "CDKN2A",
  "ANLN",
  "CCNB1",
  "EZH2",
  "TYMS",
  "PCNA",
  "E2F1",
  "CHEK1",
  "BRCA2",
  "MSH2",
  "PARP1",
  "PTEN",
  "RB1",
  "CTNNB1",
  "mir-106b",
  "mir-25",
  "mir-93"
)
study <- data.frame(
  sex = factor(patients$sex),
  age = patients$age,
  stage = patients$stage,
  subtype = factor(patients$subtype),
  purity = patients$purity,
  died = factor(patients$died),
  expression[patients$patient, genes],
  check.names = FALSE
)
tiers <- list(patient = c("sex", "age"), tumour = c("subtype", "purity", genes), stage = "stage", outcome = "died")
file <- "man/figures/README-network.png"
grDevices::png(file, width = 760, height = 500, res = 100)
# The lines of README.md.
fit <- pc(study, alpha = 0.02, na = "testwise", tiers = tiers)
plot(fit, isolated = FALSE)
invisible(grDevices::dev.off())
cat(file, file.size(file), "bytes; a graph that knowledge and data allow:", run_details(fit)$valid_cpdag, "\n")

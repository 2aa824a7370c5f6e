# Writes inst/extdata/acc-*.csv[.gz] from the data set miniACC of the Bioconductor package MultiAssayExperiment, which
# must be installed:
#
#   Rscript tools/acc-data.R
#
# inst/extdata/README.md says what is taken and changed.
suppressPackageStartupMessages(library(MultiAssayExperiment))
utils::data("miniACC", package = "MultiAssayExperiment", envir = environment())

# Keeps one sample per patient: a sample's barcode begins with the patient's.
by_patient <- function(assay_name) {
  m <- assay(miniACC[[assay_name]])
  colnames(m) <- substr(colnames(m), 1, 12)
  stopifnot(!anyDuplicated(colnames(m)), !anyDuplicated(rownames(m)))
  m
}
genes <- by_patient("RNASeq2GeneNorm")
micro <- by_patient("miRNASeqGene")
copies <- by_patient("gistict")
patients <- colnames(genes)
stopifnot(patients %in% colnames(micro))

micro <- micro[apply(micro, 1, stats::median) >= 50, ]
micro <- t(t(micro) / colSums(by_patient("miRNASeqGene"))[colnames(micro)]) * 1e6
expression <- round(log2(1 + rbind(genes, micro[, patients])), 3)
rownames(expression) <- sub("^hsa-", "", rownames(expression))

clinical <- as.data.frame(colData(miniACC))
clinical <- clinical[match(patients, clinical$patientID), ]
table <- data.frame(
  patient = patients,
  age = clinical$years_to_birth,
  sex = clinical$gender,
  stage = match(clinical$pathologic_stage, paste("stage", c("i", "ii", "iii", "iv"))),
  subtype = clinical$C1A.C1B,
  purity = clinical$purity,
  died = ifelse(clinical$vital_status == 1, "yes", "no"),
  days = ifelse(clinical$vital_status == 1, clinical$days_to_death, clinical$days_to_last_followup)
)

write_table <- function(x, file) {
  connection <- gzfile(file, "wb", compression = 9)
  on.exit(close(connection))
  utils::write.csv(x, connection, quote = FALSE, na = "NA")
}
write_table(expression, "inst/extdata/acc-expression.csv.gz")
write_table(
  copies[intersect(rownames(genes), rownames(copies)), intersect(patients, colnames(copies))],
  "inst/extdata/acc-copies.csv.gz"
)
utils::write.csv(table, "inst/extdata/acc-patients.csv", quote = FALSE, row.names = FALSE, na = "NA")

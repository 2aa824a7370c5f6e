# Fails if help pages, README, NEWS, vignettes, DESCRIPTION, ARCHITECTURE or CONTRIBUTING have words that are neither in
# a dictionary of British English nor in inst/WORDLIST.
#
#   Rscript tools/spelling.R            lists them, and where they are
#   Rscript tools/spelling.R --write    writes them all into inst/WORDLIST, which must then be read
ignored <- function() if (file.exists("inst/WORDLIST")) readLines("inst/WORDLIST", encoding = "UTF-8")
found <- rbind(
  spelling::spell_check_package(".", vignettes = TRUE, use_wordlist = FALSE),
  spelling::spell_check_files(c("ARCHITECTURE.md", "CONTRIBUTING.md"), lang = "en_GB")
)
# Pieces of commit names are not words.
found <- found[!grepl("^[a-f]{2,8}$", found$word), ]
words <- unique(found$word)
if (identical(commandArgs(trailingOnly = TRUE), "--write")) {
  writeLines(sort(words, method = "radix"), "inst/WORDLIST")
} else {
  unknown <- !found$word %in% ignored()
  if (any(unknown)) {
    print(found[unknown, ])
    cat("fix these words, or add names and terms of the field to inst/WORDLIST\n")
    quit(status = 1L)
  }
}

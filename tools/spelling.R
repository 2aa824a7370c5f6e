# Fails for words that are in no dictionary of British English and not in inst/WORDLIST, in the help pages, README, NEWS, vignettes, DESCRIPTION, ARCHITECTURE and CONTRIBUTING.
#
#   Rscript tools/spelling.R            names them, with where they are
#   Rscript tools/spelling.R --write    writes them all into inst/WORDLIST, which then has to be read
ignored <- function() if (file.exists("inst/WORDLIST")) readLines("inst/WORDLIST", encoding = "UTF-8")
found <- rbind(
  spelling::spell_check_package(".", vignettes = TRUE, use_wordlist = FALSE),
  spelling::spell_check_files(c("ARCHITECTURE.md", "CONTRIBUTING.md"), lang = "en_GB")
)
# Pieces of commits' names are no words.
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

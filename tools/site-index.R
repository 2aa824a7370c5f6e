# Fails if the reference index of _pkgdown.yml lacks a help page of man/, or names one that does not exist. Checks the
# articles against vignettes/, too.
listed <- function(block) {
  lines <- readLines("_pkgdown.yml")
  begin <- grep(paste0("^", block, ":"), lines)
  end <- c(grep("^[a-z]", lines), length(lines) + 1L)
  part <- lines[seq(begin + 1L, min(end[end > begin]) - 1L)]
  contents <- sub(".*\\[(.*)\\].*", "\\1", grep("^ *contents: \\[", part, value = TRUE))
  trimws(unlist(strsplit(contents, ",", fixed = TRUE)))
}
compare <- function(block, there) {
  named <- listed(block)
  said <- c(
    sprintf("_pkgdown.yml, %s: %s is missing", block, setdiff(there, named)),
    sprintf("_pkgdown.yml, %s: there is no %s", block, setdiff(named, there)),
    sprintf("_pkgdown.yml, %s: %s stands there twice", block, named[duplicated(named)])
  )
  said[nzchar(said)]
}
topics <- sub("\\.Rd$", "", list.files("man", "\\.Rd$"))
faults <- c(
  compare("reference", topics),
  compare("articles", sub("\\.Rmd$", "", list.files("vignettes", "\\.Rmd$", recursive = TRUE)))
)
if (length(faults)) {
  writeLines(faults)
}
quit(status = length(faults) > 0L)

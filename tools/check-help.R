# Fails if an exported function has no help page, or if its help lacks value, examples or see-also, or does not say
# which class its errors have. Also fails if a function has no stage on the page pcgpu-lifecycle, or if code in man/ is
# too wide for R CMD check or for a page.
#
#   Rscript tools/check-help.R
widest <- c("\\usage" = 90L, "\\examples" = 100L)
problems <- character()
problem <- function(...) problems <<- c(problems, sprintf(...))

pages <- sapply(list.files("man", "\\.Rd$", full.names = TRUE), tools::parse_Rd, simplify = FALSE)
tags <- function(page) vapply(page, attr, "", "Rd_tag")
aliases <- lapply(pages, function(page) {
  vapply(page[tags(page) == "\\alias"], function(alias) trimws(as.character(alias[[1L]])), "")
})

exported <- sub("^export\\((.*)\\)$", "\\1", grep("^export\\(", readLines("NAMESPACE"), value = TRUE))
for (name in exported) {
  of_name <- names(pages)[vapply(aliases, function(of_page) name %in% of_page, NA)]
  if (!length(of_name)) {
    problem("%s() has no help page", name)
    next
  }
  lacks <- setdiff(c("\\value", "\\examples", "\\seealso"), tags(pages[[of_name]]))
  if (length(lacks)) {
    problem("%s lacks %s", of_name, paste(lacks, collapse = ", "))
  }
  text <- paste(unlist(pages[[of_name]]), collapse = "")
  if (!grepl("pcgpu_error|Errors are (those )?of|no error", text)) {
    problem("%s does not say of what class its errors are", of_name)
  }
}
# Everything that is exported is stable or experimental.
staged <- paste(unlist(pages[["man/pcgpu-lifecycle.Rd"]]), collapse = "")
for (name in exported) {
  if (!grepl(paste0("\\b", name, "\\b"), staged)) problem("man/pcgpu-lifecycle.Rd says nothing of %s()", name)
}
for (file in names(pages)) {
  for (section in pages[[file]][tags(pages[[file]]) %in% names(widest)]) {
    limit <- widest[[attr(section, "Rd_tag")]]
    code <- unlist(strsplit(paste(unlist(section), collapse = ""), "\n", fixed = TRUE))
    # The line that roxygen2 writes for @examplesIf is not shown.
    wide <- code[nchar(code) > limit & !endsWith(code, "# examplesIf")]
    if (length(wide)) {
      problem(
        "%s, %s: more than %d characters in\n    %s",
        file,
        attr(section, "Rd_tag"),
        limit,
        paste(wide, collapse = "\n    ")
      )
    }
  }
}
if (length(problems)) {
  cat(unique(problems), sep = "\n")
  quit(status = 1L)
}

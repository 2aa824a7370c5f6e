# Fails if a link within the site leads nowhere: Rscript tools/site-links.R FOLDER. Links to other sites are counted,
# not followed.
folder <- commandArgs(TRUE)[1L]
pages <- list.files(folder, "\\.html$", recursive = TRUE)
read <- function(page) xml2::read_html(file.path(folder, page))
documents <- stats::setNames(lapply(pages, read), pages)
anchors <- lapply(documents, function(page) xml2::xml_text(xml2::xml_find_all(page, "//@id | //a/@name")))
links_of <- function(page) {
  unique(xml2::xml_text(xml2::xml_find_all(page, "//a/@href | //img/@src | //link/@href | //script/@src")))
}
outside <- 0L
dead <- character()
for (page in pages) {
  for (link in links_of(documents[[page]])) {
    if (startsWith(link, "file:")) {
      dead <- c(dead, sprintf("%s: %s is on this machine alone", page, link))
    }
    if (grepl("^[a-z]+:|^//", link)) {
      outside <- outside + 1L
      next
    }
    path <- utils::URLdecode(sub("[#?].*", "", link))
    anchor <- if (grepl("#", link, fixed = TRUE)) utils::URLdecode(sub("^[^#]*#", "", link)) else ""
    target <- if (path == "") {
      page
    } else if (startsWith(path, "/")) {
      sub("^/+", "", path)
    } else {
      file.path(dirname(page), path)
    }
    # a/../b is b, and so is ./b.
    parts <- character()
    for (part in strsplit(target, "/", fixed = TRUE)[[1L]]) {
      if (part == "..") {
        parts <- utils::head(parts, -1L)
      } else if (!part %in% c("", ".")) {
        parts <- c(parts, part)
      }
    }
    target <- paste(parts, collapse = "/")
    if (target == "" || dir.exists(file.path(folder, target))) {
      target <- sub("^/", "", paste0(target, "/index.html"))
    }
    if (!file.exists(file.path(folder, target))) {
      dead <- c(dead, sprintf("%s: no %s", page, link))
    } else if (nzchar(anchor) && !is.null(anchors[[target]]) && !anchor %in% anchors[[target]]) {
      dead <- c(dead, sprintf("%s: no place %s", page, link))
    }
  }
}
if (length(dead)) {
  writeLines(dead)
}
cat(sprintf("%d pages, %d dead links within the site, %d links to elsewhere\n", length(pages), length(dead), outside))
quit(status = length(dead) > 0L)

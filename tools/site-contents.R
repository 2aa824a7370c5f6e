# Writes its table of contents into each page of the site. pkgdown leaves this to scripts from other servers, and the
# page must work without them. Takes out the address of MathJax on this machine, which Debian's pkgdown adds. Rscript
# tools/site-contents.R FOLDER
folder <- commandArgs(TRUE)[1L]

# Returns the headings of levels two and three as lists; those of level three are in a list below their heading of level
# two.
contents_of <- function(page) {
  headings <- xml2::xml_find_all(page, "//main//*[(self::h2 or self::h3) and not(@data-toc-skip)]")
  place <- xml2::xml_attr(headings, "id")
  place <- ifelse(is.na(place), xml2::xml_attr(xml2::xml_parent(headings), "id"), place)
  text <- trimws(gsub("\\s+", " ", vapply(headings, function(heading) xml2::xml_text(heading), "")))
  keep <- !is.na(place) & nzchar(text)
  text <- gsub("<", "&lt;", gsub("&", "&amp;", text[keep], fixed = TRUE), fixed = TRUE)
  entry <- sprintf('<a class="nav-link" href="#%s">%s</a>', place[keep], text)
  below <- xml2::xml_name(headings)[keep] == "h3"
  under <- cumsum(!below)
  items <- vapply(
    split(seq_along(entry), under),
    function(of) {
      sub <- of[below[of]]
      paste0(
        "<li>",
        entry[setdiff(of, sub)],
        if (length(sub)) {
          paste0('<ul class="nav navbar-nav">', paste0("<li>", entry[sub], "</li>", collapse = ""), "</ul>")
        },
        "</li>"
      )
    },
    ""
  )
  if (length(items)) paste0('<ul class="nav navbar-nav">', paste(items, collapse = "\n"), "</ul>") else ""
}

for (file in list.files(folder, "\\.html$", recursive = TRUE, full.names = TRUE)) {
  lines <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  lines <- gsub('<script src="file:[^"]*"[^>]*></script>', "", lines)
  contents <- contents_of(xml2::read_html(file))
  found <- regmatches(lines, regexpr('<nav id="toc">(<h2>[^<]*</h2>)?\\s*</nav>', lines))
  # A single entry says nothing that its heading does not.
  if (length(found)) {
    filled <- if (lengths(regmatches(contents, gregexpr("<a ", contents))) > 1L) {
      sub("</nav>", paste0(gsub("\\", "\\\\", contents, fixed = TRUE), "</nav>"), found)
    } else {
      ""
    }
    lines <- sub(found, filled, lines, fixed = TRUE)
  }
  writeLines(enc2utf8(lines), file, useBytes = TRUE)
}

# The page's own script made the contents. It stops where the first of the missing scripts would be called.
script <- file.path(folder, "pkgdown.js")
code <- paste(readLines(script), collapse = "\n")
shorter <- sub("\\$\\('nav\\.navbar'\\)\\.headroom\\(\\);\\s*Toc\\.init\\(\\{[^}]*\\}\\);", "", code)
if (identical(shorter, code)) {
  stop("pkgdown.js is not what this script knows: read it again.")
}
writeLines(shorter, script)

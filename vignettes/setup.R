# What all vignettes have in common: sharp figures as wide as the page, two threads, and output that fits a narrow page.
knitr::opts_chunk$set(
  collapse = TRUE,
  comment = "#>",
  fig.width = 7,
  fig.height = 5,
  dpi = 120,
  # The style has a margin and a frame around pictures.
  out.width = "96%"
)
options(pcgpu.threads = 2, width = 77)

# Messages are one line, however long.
local({
  wrapped <- function(hook) {
    function(x, options) {
      lines <- strsplit(sub("\n$", "", x), "\n", fixed = TRUE)[[1L]]
      lines <- unlist(lapply(sub("^#> ?", "", lines), strwrap, width = 77, exdent = 2))
      hook(paste0(paste0("#> ", lines, collapse = "\n"), "\n"), options)
    }
  }
  hooks <- knitr::knit_hooks$get(c("message", "warning"))
  knitr::knit_hooks$set(message = wrapped(hooks$message), warning = wrapped(hooks$warning))
})

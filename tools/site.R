# Makes the pages of the site from the sources in the working folder: Rscript site.R EXAMPLES (TRUE: help pages show the
# output of their examples). Part of tools/site.
examples <- as.logical(commandArgs(TRUE)[1L])
options(pkgdown.internet = FALSE)
# pkgdown would look up packages that are not installed on CRAN, and the build would fail without a network.
utils::assignInNamespace("CRAN_package_db", function() data.frame(Package = character(), URL = character()), "tools")
pkgdown::build_site(examples = examples, devel = FALSE, preview = FALSE, install = FALSE, new_process = FALSE)

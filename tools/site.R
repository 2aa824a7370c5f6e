# The pages of the site, of the sources in the working folder: Rscript site.R EXAMPLES (TRUE: help pages show what their examples print). Part of tools/site.
examples <- as.logical(commandArgs(TRUE)[1L])
options(pkgdown.internet = FALSE)
# Links of packages that are not installed would be looked up on CRAN, and the build end where there is no network.
utils::assignInNamespace("CRAN_package_db", function() data.frame(Package = character(), URL = character()), "tools")
pkgdown::build_site(examples = examples, devel = FALSE, preview = FALSE, install = FALSE, new_process = FALSE)

test_that("without pcalg an error says so", {
  skip_with_pcalg()
  expect_error(use_in_pcalg(), "not installed", class = "pcgpu_error_no_pcalg")
})

test_that("pcalg runs on pcgpu's functions, and returns to its own", {
  skip_without_pcalgs_class()
  on.exit(use_in_pcalg(FALSE))
  own <- pcalg::pc
  s <- suff(p = 6)
  expect_false(use_in_pcalg())
  expect_true(use_in_pcalg())
  for (name in pcgpu:::replaced_in_pcalg) {
    expect_identical(getExportedValue("pcalg", name), getExportedValue("pcgpu", name))
    expect_true(bindingIsLocked(name, asNamespace("pcalg")))
  }
  for (search in list(pcalg::pc, pcalg::fci)) {
    expect_identical(run_details(search(s, pcalg::gaussCItest, 0.05, p = 6))$device, "cpu")
  }
  # pcalg's functions get a pcAlgo for any number of variables.
  expect_false(pcgpu:::wants_compact("auto", 20001, asNamespace("pcalg")))
  # pcalg's own functions are known as such while they are put aside.
  expect_true(pcgpu:::is_gauss_test(pcgpu:::session$pcalg$gaussCItest))
  expect_false(pcgpu:::is_gauss_test(own))
  expect_true(use_in_pcalg(FALSE))
  expect_false(use_in_pcalg(FALSE))
  expect_identical(pcalg::pc, own)
  expect_true(pcgpu:::is_gauss_test(pcalg::gaussCItest))
})

test_that("pcalg's answers stay the same on pcgpu's functions", {
  skip_without_pcalg()
  on.exit(use_in_pcalg(FALSE))
  s <- suff(p = 6)
  plain <- pcalg::fci(s, pcalg::gaussCItest, 0.05, p = 6)
  use_in_pcalg()
  ours <- pcalg::fci(s, pcalg::gaussCItest, 0.05, p = 6)
  expect_identical(ours@amat, plain@amat)
  expect_identical(ours@sepset, plain@sepset)
})

test_that("packages that import from pcalg, and the search path, follow", {
  skip_without_pcalgs_class()
  folder <- tempfile()
  dir.create(file.path(folder, "importer", "R"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  writeLines(
    c("Package: importer", "Version: 0.1", "Title: Imports", "Description: Imports.", "License: MIT", "Imports: pcalg"),
    file.path(folder, "importer", "DESCRIPTION")
  )
  writeLines(c("importFrom(pcalg, pc, gaussCItest)", "export(which_pc)"), file.path(folder, "importer", "NAMESPACE"))
  writeLines(
    "which_pc <- function() environmentName(environment(pc))",
    file.path(folder, "importer", "R", "importer.R")
  )
  library_folder <- file.path(folder, "lib")
  dir.create(library_folder)
  made <- suppressWarnings(system2(
    file.path(R.home("bin"), "R"),
    c("CMD", "INSTALL", "--no-docs", "-l", shQuote(library_folder), shQuote(file.path(folder, "importer"))),
    stdout = TRUE,
    stderr = TRUE,
    env = c(paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep)), "R_TESTS=")
  ))
  expect_null(attr(made, "status"), info = paste(made, collapse = "\n"))
  where <- "cat(importer::which_pc(), environmentName(environment(pcalg::pc)), environmentName(environment(pc)), '\\n')"
  output <- in_new_session(
    c(
      "suppressMessages(library(pcalg))",
      "loadNamespace('importer')",
      "cat('start\\n')",
      where,
      "pcgpu::use_in_pcalg()",
      where,
      "pcgpu::use_in_pcalg(FALSE)",
      where
    ),
    c(library_folder, .libPaths())
  )
  expect_identical(
    output[-seq_len(which(output == "start"))],
    c("pcalg pcalg pcalg ", "pcgpu pcgpu pcgpu ", "pcalg pcalg pcalg ")
  )
  output <- in_new_session(
    c(
      "pcgpu::use_in_pcalg()",
      "loadNamespace('importer')",
      "suppressMessages(library(pcalg))",
      "cat('start\\n')",
      where,
      "unloadNamespace('pcgpu')",
      where
    ),
    c(library_folder, .libPaths())
  )
  expect_identical(output[-seq_len(which(output == "start"))], c("pcgpu pcgpu pcgpu ", "pcalg pcalg pcalg "))
})
